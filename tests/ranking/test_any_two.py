"""Theorem M: monotone rankings under a draw that favours no item, and what it needs."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

from evenhand.claims import Certificate, Label
from evenhand.designs.assignment import Assignment
from evenhand.designs.design import Balanced, Pairs
from evenhand.designs.drawing import assign, fresh_secret, seal_of, verify
from evenhand.errors import OptionError
from evenhand.lab import draws
from evenhand.method import as_method
from evenhand.models.adaptive import adaptive, adaptive_by_shares
from evenhand.models.additive import additive
from evenhand.ranking.methods import Adaptive, RankMethod, Task
from evenhand.ranking.ranking import rank
from evenhand.ratings import Ratings

HALF = Fraction(1, 2)
COVERED = (
    "mean",
    "centred",
    "bradley-terry",
    "borda",
    "additive(shares=(0.1, 0.5))",
    "adaptive(shares=(0.3, 0.4), sd=2)",
)
ITEMS, PEOPLE = [f"i{code}" for code in range(6)], [f"r{code}" for code in range(6)]


def rated(
    rows: Sequence[tuple[Label, Label]], scores: list[float] | None = None
) -> Ratings:
    reviewers, items = map(list, zip(*rows, strict=True))
    numbers = scores or [hash_free(*row) for row in rows]
    return Ratings(reviewers, items, numbers)


def hash_free(reviewer: Label, item: Label) -> float:
    """A score that differs within a reviewer."""
    return 7.0 * int(str(item)[1:]) % 11 + int(str(reviewer)[1:]) / 8


def drawn(**options: Any) -> Assignment:  # noqa: ANN401 - options of assign
    return assign(ITEMS, PEOPLE, design="balanced", per_reviewer=3, rng=7, **options)


def claimed(method: str, **options: Any) -> Certificate:  # noqa: ANN401 - options of rank
    assignment = options.pop("assignment", None) or drawn()
    ratings = rated(assignment.rows)
    found = rank(ratings, method=method, assignment=assignment, rng=7, **options)
    assert found.certificate is not None
    return found.certificate


@pytest.mark.parametrize("name", COVERED)
def test_a_random_draw_gives_ordinary_rankings_a_guarantee(name: str) -> None:
    found = claimed(name)
    assert (found.theorem, found.strict) == ("M", False)
    assert found.sentence.startswith(
        "The better of any two items stands first no less often than in a random order"
    )
    assert "on average over the assignment" in found.sentence
    conditions = " ".join(found.texts("declared"))
    for condition in (
        "random assignment (balanced)",
        "scale was fixed before the draw and does not depend on their other items",
        "missing has nothing to do with which item",
        "noise is independent of the item",
    ):
        assert condition in conditions
    assert "no item is a reference" in found.texts("checked")[0]
    assert ("shares, sd and noise" in conditions) == ("shares" in name)


@pytest.mark.parametrize(
    "name",
    ["additive", "adaptive", "z", "affine", "isotonic", "adaptive(reliabilities)"],
)
def test_what_estimates_its_constants_from_the_same_scores_has_none(name: str) -> None:
    assert claimed(name).theorem == "none"


def test_without_a_design_nothing_changes() -> None:
    ratings = rated(drawn().rows)
    for name in COVERED[:4]:
        found = rank(ratings, method=name, rng=7).certificate
        assert found is not None
        assert found.theorem == "none"
        assert "nobody declared" not in found.sentence
    found = rank(ratings, method=COVERED[-1], rng=7).certificate
    assert "adaptive has no guarantee" in str(found).lower()


def test_a_declared_design_declares_that_the_draw_was_free() -> None:
    found = rank(rated(drawn().rows), method="mean", design="balanced").certificate
    assert found is not None
    assert any(
        "no conflict, bid or expertise" in text for text in found.texts("declared")
    )
    assert not any(
        "no conflict, bid" in text for text in claimed("mean").texts("declared")
    )


def test_a_verified_draw_is_checked() -> None:
    secret = fresh_secret()
    first = assign(ITEMS, PEOPLE, design="pairs", secret=secret)
    sealed = verify(first.without_secret(), secret, seal_of(secret))
    found = claimed("borda", assignment=sealed)
    assert "random assignment (pairs): verified" in found.texts("checked")


def test_pairs_that_nobody_can_have_drawn_void_it() -> None:
    rows = [("r1", "i1"), ("r1", "i2"), ("r2", "i1"), ("r2", "i2")]
    found = rank(rated(rows), method="mean", design="pairs", rng=7).certificate
    assert found is not None
    assert found.theorem == "none"
    assert "no two the same" in found.sentence


def test_conflicts_keep_it_for_items_of_the_same_conflicts() -> None:
    found = claimed("mean", assignment=drawn(conflicts=[("r1", "i1"), ("r2", "i2")]))
    assert found.theorem == "M"
    assert found.loss == "pairs"
    assert "Kendall" not in found.sentence
    assert "6 of 15 pairs of items have the same conflicts" in found.sentence
    assert found.brief.startswith(
        "The better of two items with the same conflicts of interest stands first"
    )


def test_conflicts_of_a_walk_and_of_pools_leave_nothing() -> None:
    people = [f"r{code}" for code in range(60)]
    items = [f"i{code}" for code in range(60)]
    walked = assign(
        items,
        people,
        design="balanced",
        per_reviewer=4,
        conflicts=[
            (f"r{code}", f"i{(7 * code + place) % 60}")
            for code in range(60)
            for place in (1, 5, 22)
        ],
        rng=7,
    )
    assert not walked.uniform
    found = claimed("mean", assignment=walked)
    assert found.theorem == "none"
    assert "not every feasible assignment was exactly as likely" in found.sentence
    own = dict(zip(PEOPLE, ITEMS, strict=True))
    pools = assign(
        ITEMS, PEOPLE, design="two-pools", per_reviewer=1, own_items=own, rng=7
    )
    assert claimed("mean", assignment=pools).theorem == "none"


def test_conflicts_that_are_not_on_record_leave_nothing() -> None:
    hidden = drawn(conflicts=[("r1", "i1")])
    bare = replace(hidden, conflicts=(), conflicts_hidden=True)
    assert bare.alike_items() == (0, 15)
    assert claimed("mean", assignment=bare).theorem == "none"


def test_weights_that_are_estimated_from_the_scores_are_not_covered() -> None:
    plan = drawn()
    reviewers, items = map(list, zip(*plan.rows, strict=True))
    columns = {
        "reviewer": reviewers,
        "item": items,
        "score": [hash_free(*row) for row in plan.rows],
        "sure": [1 + place % 3 for place in range(len(items))],
    }
    by: dict[str, Any] = {"method": "mean", "assignment": plan, "rng": 7}
    found, fixed = (
        rank(pl.DataFrame(columns), **by | {role: "sure"}).certificate
        for role in ("confidence", "weight")
    )
    assert found is not None
    assert fixed is not None
    assert (found.theorem, fixed.theorem) == ("none", "M")
    assert "estimated from the scores" in found.sentence


def test_places_by_share_are_not_covered() -> None:
    assert claimed("mean", top="share=2").theorem == "none"
    assert claimed("mean", top=2).theorem == "M"


def test_common_items_are_set_apart_and_said() -> None:
    shared = drawn(common=["i0"])
    scores = [1.0 + place for place in range(len(shared.rows))]
    found = rank(rated(shared.rows, scores), method="mean", assignment=shared, rng=7)
    assert "i0" not in found.order
    assert found.certificate is not None
    assert found.certificate.theorem == "M"
    assert shared.alike_items()[1] == 10


def test_noise_makes_it_strict_where_nobody_ties_two_items() -> None:
    noisy = "adaptive(shares=(0.1, 0.4), noise=0.1)"
    strict = claimed(noisy, distinct=True)
    assert strict.strict
    assert "stands first more often" in strict.sentence
    assert "better than a random one in expected Kendall tau" in strict.sentence
    weak = claimed(noisy)
    assert (weak.theorem, weak.strict) == ("M", False)
    assert "nobody declared that no reviewer would give two items" in weak.sentence


def test_what_only_declared_shares_have_a_use_for_is_refused() -> None:
    for text in ("adaptive(noise=0.1)", "adaptive(sd=2)"):
        with pytest.raises(OptionError, match="shares must be declared"):
            as_method(text, RankMethod)
    with pytest.raises(OptionError, match="reliabilities must be left out with shares"):
        Adaptive(shares=(0.1, 0.4), reliabilities=True)
    for bad in ("(0.5, 0.5)", "(0.1, 0)", "0.1", "(0.1,)", "(-1, 0.2)", "'a'"):
        with pytest.raises(OptionError, match="shares must be two numbers"):
            as_method(f"additive(shares={bad})", RankMethod)
    assert str(Adaptive(shares=(0.1, 0.4))) == "adaptive(shares=(0.1, 0.4))"
    assert Adaptive().parameters() == {}


def ridge(ratings: Ratings, shares: tuple[float, float]) -> np.ndarray:
    """Solve the penalised normal equations as a whole."""
    offsets, values = (share / (1 - sum(shares)) for share in shares)
    n, m, size = ratings.n_items, ratings.n_reviewers, ratings.n_ratings
    design = np.zeros((size, 1 + m + n))
    design[:, 0] = 1
    design[np.arange(size), 1 + ratings.reviewer_codes] = 1
    design[np.arange(size), 1 + m + ratings.item_codes] = 1
    prior = np.diag([0.0] + [1 / offsets] * m + [1 / values] * n)
    return np.linalg.solve(
        design.T @ design + prior, design.T @ np.asarray(ratings.scores)
    )[1 + m :]


@pytest.mark.parametrize("people", [3, 9])
def test_declared_shares_are_a_ridge(people: int) -> None:
    first = assign(ITEMS, range(people), design="balanced", per_reviewer=3, rng=7)
    rng = np.random.default_rng(7)
    scores = rng.integers(1, 9, len(first.rows)).tolist()
    ratings = rated(first.rows, scores)
    shares = (0.2, 0.5)
    values = ridge(ratings, shares)
    assert additive(ratings, shares).estimates == pytest.approx(values)
    mixed = adaptive_by_shares(ratings, shares, 2.0)
    assert mixed.rho == 0.2
    # Almost all of it is the ridge: rho squared is .04.
    assert np.corrcoef(mixed.estimates, values)[0, 1] > 0.99
    assert adaptive(ratings).estimates != pytest.approx(values)


LIBRARY = {
    "mean": "mean",
    "centred": "centred",
    "borda": "borda",
    "bradley-terry": "bradley-terry",
    # Precisions 3 and 1/2 are ratios 1/3 and 2 to the rest.
    "least squares with a ridge": "additive(shares=(0.1, 0.6))",
}


@pytest.mark.parametrize("name", LIBRARY)
def test_the_rules_that_are_enumerated_are_those_of_the_library(name: str) -> None:
    """Same order of all rated items, in every draw of 4 items, on random scores."""
    method, rng = as_method(LIBRARY[name], RankMethod), np.random.default_rng(11)
    for bundles in Balanced().law(4, 3, 2):
        rows = [(code, item) for code, own in enumerate(bundles) for item in own]
        reviewers, items = map(list, zip(*rows, strict=True))
        scores = rng.integers(0, 4, len(rows))
        ours = draws.MONOTONE[name](draws.Sheet(reviewers, items, 4), scores[None])[0]
        present = sorted(set(items))
        ratings = Ratings(reviewers, items, scores.astype(float))
        seeds = range(3)
        for seed in seeds:
            order = method.answer(Task(ratings, seed, intervals=False)).order
            values = [ours[present[code]] for code in order.tolist()]
            assert all(high >= low for high, low in itertools.pairwise(values)), rows


def weight(gap: float) -> Fraction:
    return HALF + Fraction(gap) / (2 * (1 + abs(Fraction(gap)))) if gap else HALF


def test_noise_of_full_support_is_strict_on_strictly_increasing_scales() -> None:
    """The mixture with noise: every pair of items, on all scales tried, above 1/2."""
    law, rng = Pairs().law(3, 2), np.random.default_rng(7)
    for _ in range(20):
        steps = rng.integers(1, 50, size=(2, 3))
        tables = np.cumsum(steps, axis=1) + rng.integers(0, 1000, size=(2, 1))
        right = dict.fromkeys([(1, 0), (2, 0), (2, 1)], Fraction(0))
        for bundles, chance in law.items():
            rows = [(code, item) for code, own in enumerate(bundles) for item in own]
            labels = sorted({item for _, item in rows})
            assert labels == [0, 1, 2]
            scores = [float(tables[row]) for row in rows]
            reviewers, items = map(list, zip(*rows, strict=True))
            ratings = Ratings(reviewers, items, scores)
            values = adaptive_by_shares(ratings, (0.1, 0.5), 3.0).estimates
            for better, worse in right:
                right[better, worse] += chance * weight(values[better] - values[worse])
        assert min(right.values()) > HALF


def test_noise_is_drawn_from_the_seed_and_can_turn_an_order() -> None:
    ratings = rated(drawn().rows)
    method = Adaptive(shares=(0.1, 0.4), noise=2.0)
    orders = {tuple(rank(ratings, method=method, rng=seed).order) for seed in range(9)}
    assert len(orders) > 1
    again = [rank(ratings, method=method, rng=3).order for _ in range(2)]
    assert again[0] == again[1]


def test_ranks_without_each_rating_are_those_of_a_fit_without_it() -> None:
    ratings = rated(drawn().rows)
    method = Adaptive(shares=(0.1, 0.4), sd=3.0)
    held = method.without_each(ratings)
    for row in range(ratings.n_ratings):
        own = method.fit(ratings.without(row)).estimates
        gaps = held[row] - held[row].mean()
        assert gaps == pytest.approx(own - own.mean(), abs=0.05)
