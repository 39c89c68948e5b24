"""Each thing in the data or the design that matters changes the certificate."""

import io
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.ab import weights
from evenhand.ab.comparison import compare
from evenhand.ab.methods import Guarded, Votes
from evenhand.ab.weights import GapWeight, odd
from evenhand.claims import Certificate, Label
from evenhand.designs.drawing import assign, fresh_secret, seal_of, verify
from evenhand.engines.counts import Counts
from evenhand.errors import DesignError, OptionError
from evenhand.formats.reading import read_ratings
from evenhand.method import methods
from evenhand.ratings import Ratings
from evenhand.words.claims import COUNTED_BLINDLY, LEFT_OUT
from evenhand.words.claims import EITHER_SCORED as ANSWERED

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
    assert f"random assignment ({design}): declared" in found.texts("declared")
    assert "equal counts: 4 scores of each item" in found.texts("checked")


@pytest.mark.parametrize("name", ["guarded", "votes"])
def test_strictness_asks_for_one_reviewer_who_distinguishes_the_items(
    name: str,
) -> None:
    """Proved by enumeration in test_theorem_g; certain votes ask it of everyone."""
    one = (
        "at least one reviewer would score the better item higher (if none would, it "
        "is exactly a fair coin)"
    )
    assert one in certificate([5, 4, 5], [3, 4, 4], method=name).texts("declared")
    linear = certificate([5, 4, 5], [3, 4, 4], method=f"{name}(weight=linear(4))")
    assert "no reviewer would give both items the same score" in linear.texts(
        "declared"
    )


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
    assert "equal counts in the votes: 3 scores of each item" in found.texts("checked")


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
    assert not any(
        "equal counts in the votes" in text for text in found.texts("checked")
    )


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
    assert f"{ANSWERED} (2 assigned scores missing)" in found.texts("declared")


BLIND = "scores were paired without looking at them"
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
        assert BLIND in certificate(
            paired([1, 1, 2, 2]), None, method=method, design=design
        ).texts("declared")
    matched = certificate(paired([1, 1, 2, 2]), None, method=method, design="matched")
    assert BLIND not in matched.texts("declared")
    assert BLIND in certificate(method=method).texts("declared")


def test_means_do_not_look_at_pairs() -> None:
    for name in ("mean", "median", "trimmed"):
        assert BLIND not in certificate(paired([1, 1, 2, 2]), None, method=name).texts(
            "declared"
        )
        assert BLIND not in certificate(method=name).texts("declared")


def test_a_pair_column_that_is_not_the_assignments_is_declared_blind() -> None:
    groups = dict(zip(PEOPLE, [1, 1, 2, 2], strict=True))
    for seed in range(20):
        drawn = assign(["a", "b"], PEOPLE, design="matched", groups=groups, rng=seed)
        if [item for _, item in drawn.rows] == ITEMS:
            break
    assert dict(drawn.rows) == dict(zip(PEOPLE, ITEMS, strict=True))
    told = {"method": "votes", "design": None, "assignment": drawn}
    assert BLIND not in certificate(paired([1, 1, 2, 2]), None, **told).texts(
        "declared"
    )
    assert BLIND in certificate(paired([1, 2, 2, 1]), None, **told).texts("declared")


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("name", [name for name in BEST if name != "coin"])
def test_every_claim_on_two_items_declares_noise_that_ignores_the_item(
    name: str, design: str
) -> None:
    # Noise on the better item only: right with probability .0149 (Theorem 6 needs it).
    declared = certificate(method=name, design=design).texts("declared")
    assert "score noise is independent of the item" in declared


def test_counts_that_halves_cannot_give_mean_that_scores_are_missing() -> None:
    missing = f"{ANSWERED} (some scores are missing)"
    assert missing in certificate(FIRST, SECOND[:2]).texts("declared")
    assert missing not in certificate(FIRST, SECOND[:3]).texts("declared")
    assert missing not in certificate(FIRST, SECOND[:2], design="coins").texts(
        "declared"
    )


def right(weight: GapWeight, scales: Sequence[tuple[Fraction, Fraction]]) -> Fraction:
    """Return P(right) of a coin on two scores, exact where the weight is.

    Each reviewer's score of the better item comes first.
    """
    (high, low), (up, down) = scales
    chances = odd(weight, np.array([high - down, up - low], dtype=object))
    return sum(map(Fraction, chances), Fraction(0)) / 2


EXACT = [
    weights.rational(),
    weights.rational(1e-3),
    weights.rational(2.5),
    weights.offset(0.3),
    weights.linear(4 * 10**9),
]
score = st.builds(
    lambda digits, power: float(f"{digits}e{power}"),
    st.integers(-99, 99),
    st.integers(-7, 7),
)
scale = st.tuples(score, score).filter(lambda two: two[0] > two[1])


@settings(max_examples=150)
@given(scales=st.tuples(scale, scale), weight=st.sampled_from(EXACT))
def test_where_strict_is_said_the_coins_are_right_more_often_than_not(
    scales: tuple[tuple[float, float], tuple[float, float]], weight: GapWeight
) -> None:
    """Under both assignments the same is said, and together they are above a half."""
    (high, low), (up, down) = scales
    for first, second in (([high], [down]), ([up], [low])):
        assert certificate(first, second, method=Votes(weight=weight)).strict
    exact = [(Fraction(one), Fraction(two)) for one, two in scales]
    assert right(weight, exact) > Fraction(1, 2)


@pytest.mark.parametrize("method", ["votes", "guarded"])
def test_strictness_does_not_depend_on_the_gaps_at_hand(method: str) -> None:
    """r1 gives (1, 0) and r2 (1e18, 1e6): the flag may not say which one got A."""
    one = certificate([1.0], [1e6], method=method)
    two = certificate([1e18], [0.0], method=method)
    assert (one.strict, one.texts("declared")) == (two.strict, two.texts("declared"))
    assert one.strict


@pytest.mark.parametrize("weight", ["sigmoid", "exponential", "offset(0.3, sigmoid)"])
def test_a_weight_that_is_rounded_is_never_strict(weight: str) -> None:
    for first in ([1.0], [1e18]):
        found = certificate(first, [0.0], method=f"votes(weight={weight})")
        assert not found.strict
        assert found.sentence.startswith("No less often right")
        assert "is rounded, and cannot tell large gaps apart" in found.sentence


def test_a_callable_weight_is_only_checked_on_a_grid() -> None:
    weight = weights.as_weight(lambda gap: gap / (3 + gap))
    found = certificate(method=Guarded(weight=weight))
    assert any("checked on a grid" in text for text in found.texts("declared"))
    assert not any("by its form" in text for text in found.texts("checked"))
    assert any("by its form" in text for text in certificate().texts("checked"))


def highest(one: np.ndarray, two: np.ndarray) -> float:
    return (1 + float(np.sign(one.max() - two.max()))) / 2


def test_a_rule_of_ones_own_is_vouched_for_by_its_user_and_a_check() -> None:
    own = certificate(method=highest)
    assert own.theorem == "G"
    assert not own.strict
    assert any("highest" in text for text in own.texts("declared"))


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
    assert any("who scored both items" in text for text in dropped.texts("declared"))
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
    assert f"{ANSWERED} (some scores are missing)" in found.texts("declared")


def drawn() -> tuple[list[tuple[Label, Label]], object, object]:
    secret = fresh_secret()
    people = [f"r{number}" for number in range(6)]
    made = assign(["x", "y"], people, design="halves", secret=secret)
    sealed = made.without_secret()
    return list(made.rows), sealed, verify(sealed, secret, seal_of(secret))


def rated(rows: list[tuple[Label, Label]]) -> Ratings:
    people, items = zip(*rows, strict=True)
    return Ratings(people, items, range(len(rows)), all_items=["x", "y"])


def test_a_sealed_assignment_is_verified_instead_of_declared() -> None:
    rows, sealed, verified = drawn()
    before = certificate(rated(rows), None, design=None, assignment=sealed)
    after = certificate(rated(rows), None, design=None, assignment=verified)
    assert "random assignment (halves): declared" in before.texts("declared")
    assert "random assignment (halves): verified" in after.texts("checked")
    assert not any("random assignment" in text for text in after.texts("declared"))
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
    assert f"{ANSWERED} (1 assigned score missing)" in found.texts("declared")


@pytest.mark.parametrize("name", BEST)
def test_no_certificate_claims_more_than_its_method_does_at_best(name: str) -> None:
    best = BEST[name]
    for design in DESIGNS:
        found = certificate(method=name, design=design)
        assert found.theorem in (best.theorem, "none", "G")
        assert found.strict <= best.strict


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("name", [name for name in BEST if name != "coin"])
def test_every_claim_declares_that_whoever_scored_would_have_scored_the_other(
    name: str, design: str
) -> None:
    # r1 silent if sent to B, and harsh: right with probability .005 (votes).
    assert ANSWERED in certificate(method=name, design=design).texts("declared")


def test_a_verified_record_does_not_show_who_would_have_answered() -> None:
    rows, _, verified = drawn()
    found = certificate(rated(rows), None, design=None, assignment=verified)
    assert "random assignment (halves): verified" in found.texts("checked")
    assert ANSWERED in found.texts("declared")


def test_counts_declare_what_they_cannot_show() -> None:
    counts = Counts(["x", "x", "y"], [5, 4, 4], [9, 3, 12])
    found = compare(counts, design="coins", rng=1)
    assert found.certificate is not None
    assert {ANSWERED, COUNTED_BLINDLY} <= {*found.certificate.texts("declared")}
    assert found.test is not None
    assert {ANSWERED, COUNTED_BLINDLY} <= {one.text for one in found.test.assumes}


@pytest.mark.parametrize("method", ["guarded", "coin"])
@pytest.mark.parametrize("design", [None, "halves"])
def test_every_p_value_comes_with_what_it_assumes(
    method: str, design: str | None
) -> None:
    found = compare([7, 9, 4], [6, 3, 5], test="mean", design=design, method=method)
    assert found.test is not None
    texts = [finding.text for finding in found.test.assumes]
    assert ANSWERED in texts
    assert found.to_dict()["test"]["assumes"] == texts  # type: ignore[index,call-overload]  # a dict
    assert "that nobody's decision to answer depended on the item they got" in repr(
        found
    ).replace("and all", "if all")


UNEVEN = "counts_contradict_design"


@pytest.mark.parametrize("design", ["halves", "coins"])
@pytest.mark.parametrize("counted", [False, True])
def test_counts_that_the_design_makes_nearly_impossible_take_the_claim_away(
    design: str, *, counted: bool
) -> None:
    """40 against 4 have probability 1.7e-8 under fair coins."""
    data: tuple[object, ...] = ([5.0] * 20 + [6.0] * 20, [4.0] * 2 + [5.0] * 2)
    if counted:
        data = (Counts([*"AABB"], [5, 6, 4, 5], [20, 20, 2, 2]),)
    found = compare(*data, design=design, rng=1)  # type: ignore[arg-type]  # as given
    assert found.certificate is not None
    assert found.certificate.theorem == "none"
    text = f"40 scores of 'A' and 4 of 'B' have probability 1.7e-08 under {design}"
    assert text in found.certificate.sentence
    assert found.notices[0].code == UNEVEN
    assert text in found.notices[0].message
    assert "does not hold: the counts contradict the design" in repr(found)


def test_counts_that_chance_gives_stay_as_they_are() -> None:
    """33 against 11 have probability .0013, 34 against 10 .0004; panels say nothing."""
    for one, two, design in ((33, 11, "coins"), (40, 4, "panels"), (40, 4, None)):
        found = compare([5.0] * one, [4.0] * two, design=design, rng=1)
        assert UNEVEN not in [notice.code for notice in found.notices]
    found = compare([5.0] * 34, [4.0] * 10, design="coins", rng=1)
    assert found.notices[0].code == UNEVEN


def silent(design: str, given: int, answered: tuple[int, int]) -> list[str]:
    """Let only so many answer of those who were given each item."""
    people = [f"r{number:02}" for number in range(2 * given)]
    groups = {who: place // 2 for place, who in enumerate(people)}
    more = {"groups": groups} if design == "matched" else {}
    made = assign(["x", "y"], people, design=design, rng=7, **more)  # type: ignore[arg-type]  # by name
    sides = ([row for row in made.rows if row[1] == item] for item in ("x", "y"))
    kept = [side[:some] for side, some in zip(sides, answered, strict=True)]
    ratings = rated([row for side in kept for row in side])
    found = compare(ratings, assignment=made, rng=1)
    return [notice.message for notice in found.notices if notice.code == UNEVEN]


def test_an_assignment_says_whose_answers_are_missing() -> None:
    """Of 20 each, 20 and 9: probability .0002. Of pairs only the lone answers count."""
    assert silent("halves", 20, (20, 14)) == []
    (text,) = silent("halves", 20, (20, 9))
    assert "20 of 20 scores of 'x' and 9 of 20 of 'y' have probability" in text
    assert silent("matched", 20, (20, 14)) == []
    (text,) = silent("matched", 20, (20, 5))
    assert "15 scores without their partner's of 'x' and 0 of 'y'" in text


def test_items_chosen_out_of_several_are_declared_to_be_chosen_blindly() -> None:
    """Best against worst of six equal arms: p <= .05 in 28% of files."""
    items = [*"abcdef"] * 4
    ratings = Ratings(range(24), items, [*range(24)])
    found = compare(ratings, items=("a", "f"), design="halves", rng=1)
    text = "the two items, out of 6, were chosen without a look at the scores"
    assert found.certificate is not None
    assert text in found.certificate.texts("declared")
    assert found.test is not None
    assert text in [one.text for one in found.test.assumes]
    assert "nobody chose by the scores what to compare" in repr(found)
    two = compare(ratings_of_two := Ratings(range(8), [*"ab"] * 4, [*range(8)]), rng=1)
    assert two.test is not None
    assert not any("chosen" in text for text in (one.text for one in two.test.assumes))
    same = compare(ratings_of_two, items=("a", "b"), rng=1)
    assert same.certificate == two.certificate


def test_what_was_left_out_is_declared_to_be_left_out_blindly() -> None:
    marks = [9, 1, 2, 8, 8, 2, 1, 9, 7, 3]
    rows = "".join(f"r{j},{'AB'[j % 2]},{mark}\n" for j, mark in enumerate(marks))
    text = f"reviewer,item,score\n{rows}"
    whole = read_ratings(io.StringIO(text))
    part = read_ratings(io.StringIO(text), exclude=["r2", "r3", "r6", "r7"])
    assert LEFT_OUT not in certificate(whole, None).texts("declared")
    assert LEFT_OUT in certificate(part, None).texts("declared")
    found = compare(part, design="halves", rng=1).test
    assert found is not None
    assert LEFT_OUT in [one.text for one in found.assumes]


def test_that_nobody_saw_their_items_is_declared_whoever_says_so() -> None:
    rows, _, _ = drawn()
    secret = "5" * 64
    made = assign(["x", "y"], [who for who, _ in rows], design="halves", secret=secret)
    gone = made.rows[0][0]
    for unseen in (False, True):
        left = made.amend([gone], leave_open=True, unseen=unseen, secret=secret)
        left = verify(left, secret, seal_of(secret))
        found = certificate(rated([*left.rows]), None, design=None, assignment=left)
        assert not any("left" in text for text in found.texts("checked"))
        (text,) = (
            text for text in found.texts("declared") if "1 reviewer left" in text
        )
        assert ("as the organiser declares" in text) is unseen
