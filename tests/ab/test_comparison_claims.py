"""Each thing in the data or the design that matters changes the certificate."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.ab import weights
from evenhand.ab.claims import EVERYONE, SOMEONE
from evenhand.ab.comparison import compare
from evenhand.ab.methods import Guarded, Votes
from evenhand.ab.weights import GapWeight, odd
from evenhand.claims import Certificate, Label
from evenhand.designs.drawing import assign, fresh_secret, seal_of, verify
from evenhand.errors import DesignError, OptionError
from evenhand.method import methods
from evenhand.ratings import Ratings

BEST = {method.name: method.best for method in methods("compare")}

FIRST, SECOND = [7, 9, 4, 8], [6, 3, 5, 1]
GIVEN = "given how many scored each item"
DESIGNS = ("halves", "coins", "matched", "panels")


def certificate(
    first: object = FIRST, second: object = SECOND, **options: object
) -> Certificate:
    chosen = {"design": "halves", "rng": 7, **options}
    found = compare(first, second, **chosen).certificate  # type: ignore[arg-type]  # as given
    assert found is not None
    return found


@pytest.mark.parametrize("design", DESIGNS)
def test_guarded_may_claim_theorem_g_strictly(design: str) -> None:
    found = certificate(design=design)
    assert (found.theorem, found.loss, found.baseline) == ("G", "zero-one", "fair coin")
    assert (found.prior, found.conditional) == ("any values", GIVEN)
    assert found.strict
    assert f"random assignment ({design}): declared" in found.declared
    assert "equal counts: 4 scores of each item" in found.checked


@pytest.mark.parametrize("name", ["guarded", "votes"])
def test_strictness_asks_for_one_reviewer_who_distinguishes_the_items(
    name: str,
) -> None:
    """Proved by enumeration in test_theorem_g; certain votes ask it of everyone."""
    one = (
        "at least one reviewer would score the better item higher (if none would, it "
        "is exactly a fair coin)"
    )
    assert one in certificate([5, 4, 5], [3, 4, 4], method=name).declared
    linear = certificate([5, 4, 5], [3, 4, 4], method=f"{name}(weight=linear(4))")
    assert "no reviewer would give both items the same score" in linear.declared


def test_votes_are_the_papers_theorem_where_it_has_one() -> None:
    assert certificate(method="votes").theorem == "paper 4"
    assert certificate(method="votes", design="panels").theorem == "G"


@pytest.mark.parametrize("name", ["sign", "mean", "median", "trimmed"])
def test_rules_without_coins_are_never_worse_but_not_strict(name: str) -> None:
    found = certificate(method=name)
    assert found.theorem == "G"
    assert not found.strict
    assert found.sentence.startswith("No less often right than a fair coin")


@pytest.mark.parametrize("name", [name for name in BEST if name != "coin"])
def test_an_undeclared_design_leaves_nothing(name: str) -> None:
    found = certificate(method=name, design=None)
    assert found.theorem == "none"
    assert "nobody declared how reviewers were assigned" in found.sentence


def test_a_coin_claims_to_be_the_baseline() -> None:
    assert certificate(method="coin").sentence.startswith("Right half of the time")


@pytest.mark.parametrize("name", ["mean", "median", "trimmed", "guarded"])
def test_unequal_counts_leave_the_average_over_the_design(name: str) -> None:
    found = certificate(FIRST, SECOND[:3], method=name, design="coins")
    assert found.theorem == "G"
    assert found.conditional is not None
    assert found.conditional.startswith("on average over the assignment")
    assert "counts are unequal (4 and 3)" in found.sentence


def test_votes_pair_equal_numbers_whatever_the_counts() -> None:
    found = certificate(FIRST, SECOND[:3], method="votes", design="coins")
    assert found.conditional == GIVEN
    assert "equal counts in the votes: 3 scores of each item" in found.checked


@pytest.mark.parametrize("name", ["votes", "sign", "guarded", "mean"])
@pytest.mark.parametrize("design", ["matched", "panels"])
def test_a_missing_partner_leaves_votes_the_average_over_the_design(
    name: str, design: str
) -> None:
    # Given these counts votes are right with probability .267, on average above 1/2.
    ratings = Ratings(["r1", "r2", "r3"], ["a", "b", "a"], [1, 3, -999])
    found = certificate(ratings, None, method=name, design=design)
    assert found.theorem == "G"
    assert found.strict == (name in ("votes", "guarded"))
    assert found.conditional is not None
    assert found.conditional.startswith("on average over the assignment")
    assert "counts are unequal (2 and 1)" in found.sentence
    assert not any("equal counts in the votes" in text for text in found.checked)


def test_two_half_pairs_on_opposite_sides_are_equal_counts() -> None:
    pairs = {"r1": 1, "r2": 1, "r3": 2, "r4": 2, "r5": 3, "r6": 3}
    drawn = assign(["a", "b"], list(pairs), design="matched", groups=pairs, rng=7)
    item = dict(drawn.rows)
    lone = [("r3", "r5"), ("r3", "r6"), ("r4", "r5"), ("r4", "r6")]
    one, other = next(two for two in lone if item[two[0]] != item[two[1]])
    people = ["r1", "r2", one, other]
    ratings = Ratings(people, [item[person] for person in people], [1, 3, -999, 500])
    found = certificate(ratings, None, method="votes", design=None, assignment=drawn)
    assert found.conditional == GIVEN
    assert any("scores missing for reasons" in text for text in found.declared)


BLIND = "scores were paired blindly, without a look at them"
PEOPLE, ITEMS = ["r1", "r2", "r3", "r4"], ["a", "b", "a", "b"]


def paired(pairs: list[int]) -> Ratings:
    columns = {"reviewer": PEOPLE, "item": ITEMS, "score": FIRST, "pair": pairs}
    return Ratings.from_frame(pl.DataFrame(columns))


@pytest.mark.parametrize("name", ["votes", "sign", "guarded", "own"])
def test_pairs_that_the_data_name_are_declared_blind_unless_they_are_the_design(
    name: str,
) -> None:
    # Pairs made with a look at the scores: right with probability .426 (halves).
    method = highest if name == "own" else name
    for design in ("halves", "coins"):
        assert (
            BLIND
            in certificate(
                paired([1, 1, 2, 2]), None, method=method, design=design
            ).declared
        )
    matched = certificate(paired([1, 1, 2, 2]), None, method=method, design="matched")
    assert BLIND not in matched.declared
    assert BLIND in certificate(method=method).declared


def test_means_do_not_look_at_pairs() -> None:
    for name in ("mean", "median", "trimmed"):
        assert (
            BLIND not in certificate(paired([1, 1, 2, 2]), None, method=name).declared
        )
        assert BLIND not in certificate(method=name).declared


def test_a_pair_column_that_is_not_the_assignments_is_declared_blind() -> None:
    groups = dict(zip(PEOPLE, [1, 1, 2, 2], strict=True))
    for seed in range(20):
        drawn = assign(["a", "b"], PEOPLE, design="matched", groups=groups, rng=seed)
        if [item for _, item in drawn.rows] == ITEMS:
            break
    assert dict(drawn.rows) == dict(zip(PEOPLE, ITEMS, strict=True))
    told = {"method": "votes", "design": None, "assignment": drawn}
    assert BLIND not in certificate(paired([1, 1, 2, 2]), None, **told).declared
    assert BLIND in certificate(paired([1, 2, 2, 1]), None, **told).declared


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("name", [name for name in BEST if name != "coin"])
def test_every_claim_on_two_items_declares_noise_that_ignores_the_item(
    name: str, design: str
) -> None:
    # Noise on the better item only: right with probability .0149 (Theorem 6 needs it).
    declared = certificate(method=name, design=design).declared
    assert "noise in scores does not depend on the item" in declared


def test_counts_that_halves_cannot_give_mean_that_scores_are_missing() -> None:
    missing = "scores missing for reasons that have nothing to do with items"
    assert missing in certificate(FIRST, SECOND[:2]).declared
    assert missing not in certificate(FIRST, SECOND[:3]).declared
    assert missing not in certificate(FIRST, SECOND[:2], design="coins").declared


def test_an_empty_side_leaves_nothing() -> None:
    found = certificate(FIRST, [])
    assert found.theorem == "none"
    assert found.sentence == "No guarantee: 'B' has no score, so a fair coin decided."


@pytest.mark.parametrize("name", ["votes", "guarded"])
def test_a_gap_beyond_float_resolution_leaves_no_strictness(name: str) -> None:
    found = certificate([7, 9e17], [6, 3], method=name)
    assert found.theorem != "none"
    assert not found.strict
    assert found.sentence.startswith("No less often right")
    assert "floating point" in found.sentence


def right(weight: GapWeight, scales: Sequence[tuple[float, float]]) -> Fraction:
    """Return P(right) of a coin on two scores as floats have it, in exact arithmetic.

    Each reviewer's score of the better item comes first.
    """
    (high, low), (up, down) = scales
    chances = odd(weight, [high - down, up - low]).tolist()
    return sum(map(Fraction, chances), Fraction(0)) / 2


def claims_strictly(found: Certificate, scales: Sequence[tuple[float, float]]) -> bool:
    """Say whether a certificate is strict and its reviewers are as it declares."""
    said = [text for text in found.declared if text.startswith((EVERYONE, SOMEONE))]
    if not found.strict:
        assert not said
        return False
    _, _, least = said[0].partition("differences below ")
    wanted = float(least.split()[0]) if least else 1e-9
    enough = all if said[0].startswith(EVERYONE) else any
    return enough(high - low >= wanted for high, low in scales)


def step(at: float, mix: float) -> GapWeight:
    """Return a step made strict by a share of another weight."""
    return GapWeight(
        f"step at {at}",
        {},
        lambda gaps: (1 - mix) * (gaps >= at) + mix * weights.rational()(gaps),
    )


FLAT = step(0, 1e-15)


@pytest.mark.parametrize("method", [Votes, Guarded])
@pytest.mark.parametrize(
    ("weight", "scales"),
    [
        (weights.rational(), ((2e-6, 1e-6), (1e6 + 1e-6, 1e6))),
        (weights.rational(2.5), ((1e-6, 0.0), (1e6, 1e6 - 1e-6))),
        (step(5, 0.01), ((2e-6, 1e-6), (1e5 + 1e-6, 1e5))),
        (FLAT, ((4.0, 3.0), (30.0, 29.0))),
        (weights.exponential(), ((1.0, 0.0), (41.0, 40.0))),
    ],
    ids=repr,
)
def test_strict_is_not_said_where_the_computed_chances_are_equal(
    method: type[Votes | Guarded],
    weight: GapWeight,
    scales: Sequence[tuple[float, float]],
) -> None:
    assert right(weight, scales) == Fraction(1, 2)
    (high, low), (up, down) = scales
    for first, second in (([high], [down]), ([up], [low])):
        found = certificate(first, second, method=method(weight=weight))
        assert not claims_strictly(found, scales)


score = st.builds(
    lambda digits, power: float(f"{digits}e{power}"),
    st.integers(-99, 99),
    st.integers(-7, 7),
)
scale = st.tuples(score, score).filter(lambda two: two[0] > two[1])


@settings(max_examples=150)
@given(
    scales=st.tuples(scale, scale),
    weight=st.sampled_from(
        [
            weights.rational(),
            weights.rational(1e-3),
            weights.sigmoid(5),
            weights.exponential(100),
            weights.offset(0.3),
            step(2, 0.3),
            FLAT,
        ]
    ),
)
def test_where_strict_is_said_the_computed_chances_are_above_one_half(
    scales: tuple[tuple[float, float], tuple[float, float]], weight: GapWeight
) -> None:
    (high, _), (_, down) = scales
    found = certificate([high], [down], method=Votes(weight=weight))
    assert right(weight, scales) >= Fraction(1, 2)
    if claims_strictly(found, scales):
        assert right(weight, scales) > Fraction(1, 2)


@pytest.mark.parametrize("name", ["votes", "guarded"])
def test_scores_of_very_different_sizes_leave_no_strictness(name: str) -> None:
    found = certificate([1e-6], [1e6], method=name)
    assert not found.strict
    assert "floating point" in found.sentence


def test_rounded_averages_and_large_whole_numbers_stay_strict() -> None:
    rounded = certificate([0.1 + 0.2, 10 / 3], [0.3, 10 / 3 - 4e-16, 2.1])
    assert rounded.strict
    assert SOMEONE in rounded.declared
    large = certificate([1, 10**6], [2, 3])
    assert large.strict
    assert f"{SOMEONE}; differences below 0.01 do not count" in large.declared


def test_a_callable_weight_is_only_checked_on_a_grid() -> None:
    weight = weights.as_weight(lambda gap: gap / (3 + gap))
    found = certificate(method=Guarded(weight=weight))
    assert any("checked on a grid" in text for text in found.declared)
    assert not any("by its form" in text for text in found.checked)
    assert any("by its form" in text for text in certificate().checked)


def highest(one: np.ndarray, two: np.ndarray) -> float:
    return (1 + float(np.sign(one.max() - two.max()))) / 2


def test_a_rule_of_ones_own_is_vouched_for_by_its_user_and_a_check() -> None:
    own = certificate(method=highest)
    assert own.theorem == "G"
    assert not own.strict
    assert any("highest" in text for text in own.declared)


def scaled_by_spread(one: np.ndarray, two: np.ndarray) -> float:
    every = np.concatenate([one, two])
    spread = float(np.median(np.abs(every - np.median(every)))) or 1.0
    gaps = (one - two) / spread
    return float(np.mean((1 + gaps / (1 + np.abs(gaps))) / 2))


def without_outliers(one: np.ndarray, two: np.ndarray) -> float:
    every = np.concatenate([one, two])
    middle = np.median(every)
    spread = float(np.median(np.abs(every - middle))) or 1.0
    kept = [side[np.abs(side - middle) <= 2 * spread] for side in (one, two)]
    means = [float(side.mean()) if len(side) else float(middle) for side in kept]
    return (1 + float(np.sign(means[0] - means[1]))) / 2


@pytest.mark.parametrize("rule", [scaled_by_spread, without_outliers])
def test_rules_that_break_the_guarantee_are_refused(
    rule: Callable[[np.ndarray, np.ndarray], float],
) -> None:
    with pytest.raises(OptionError, match="no guarantee holds"):
        certificate([7, 9, 4, 8, 30], [6, 3, 5, 1, 2], method=rule)


def test_reviewers_of_both_items_change_what_is_declared() -> None:
    ratings = Ratings(
        ["a", "b", "c", "d", "e", "e"],
        ["x", "y", "x", "y", "x", "y"],
        [5, 4, 6, 3, 9, 1],
    )
    dropped = certificate(ratings, None, both="drop")
    assert any("who scored both items" in text for text in dropped.declared)
    decided = certificate(ratings, None, both="decide")
    assert decided.theorem == "none"
    assert "no theorem is needed" in decided.sentence.lower()


def test_missing_scores_are_declared_to_mean_nothing() -> None:
    frame = pl.DataFrame(
        {
            "reviewer": ["a", "b", "c", "d"],
            "item": ["x", "y", "x", "y"],
            "score": [5, 4, None, 3],
        }
    )
    ratings = Ratings.from_frame(frame)
    found = certificate(ratings, None, design="coins")
    assert any("scores missing for reasons" in text for text in found.declared)


def drawn() -> tuple[list[tuple[Label, Label]], object, object]:
    secret = fresh_secret()
    people = [f"r{number}" for number in range(6)]
    made = assign(["x", "y"], people, design="halves", secret=secret)
    sealed = made.sealed()
    return list(made.rows), sealed, verify(sealed, secret, seal_of(secret))


def rated(rows: list[tuple[Label, Label]]) -> Ratings:
    people, items = zip(*rows, strict=True)
    return Ratings(people, items, range(len(rows)), all_items=["x", "y"])


def test_a_sealed_assignment_is_verified_instead_of_declared() -> None:
    rows, sealed, verified = drawn()
    before = certificate(rated(rows), None, design=None, assignment=sealed)
    after = certificate(rated(rows), None, design=None, assignment=verified)
    assert "random assignment (halves): declared" in before.declared
    assert "random assignment (halves): verified" in after.checked
    assert not any("random assignment" in text for text in after.declared)
    assert after.strict


def test_a_rating_that_was_never_assigned_is_refused() -> None:
    rows, _, verified = drawn()
    person, item = rows[0]
    rows[0] = (person, "y" if item == "x" else "x")
    with pytest.raises(DesignError, match="who was not given it"):
        certificate(rated(rows), None, design=None, assignment=verified)


def test_an_assigned_review_that_is_missing_is_declared() -> None:
    rows, _, verified = drawn()
    found = certificate(rated(rows[1:]), None, design=None, assignment=verified)
    assert any("scores missing for reasons" in text for text in found.declared)


@pytest.mark.parametrize("name", BEST)
def test_no_certificate_claims_more_than_its_method_does_at_best(name: str) -> None:
    best = BEST[name]
    for design in DESIGNS:
        found = certificate(method=name, design=design)
        assert found.theorem in (best.theorem, "none", "G")
        assert found.strict <= best.strict
