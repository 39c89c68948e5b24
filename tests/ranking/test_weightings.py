"""Rankings by several criteria: each by itself, the total, and what weights decide."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.ranking.weightings import WEIGHTINGS, top_ranges, weigh_criteria

heights = st.integers(-6, 6).map(Fraction)
lines = st.lists(st.tuples(heights, heights), min_size=1, max_size=7)


def frame(seed: int = 3, n_items: int = 9, n_reviewers: int = 12) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    worth = draw.normal(size=(n_items, 2))
    rows = [
        (f"R{reviewer}", f"P{item}", *np.round(worth[item] + draw.normal(size=2), 2))
        for reviewer in range(n_reviewers)
        for item in draw.choice(n_items, 5, replace=False).tolist()
    ]
    schema = ["reviewer", "item", "novelty", "soundness"]
    return pl.DataFrame(rows, schema=schema, orient="row")


@given(lines, st.data())
def test_top_ranges_are_those_of_enumeration(
    ends: list[tuple[Fraction, Fraction]], data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(ends)))
    start, end = (np.array(column, dtype=object) for column in zip(*ends, strict=True))
    stretches = top_ranges(start, end, k)
    assert stretches[0][0] == 0
    assert all(a[1] == b[0] for a, b in itertools.pairwise(stretches))
    assert stretches[-1][1] == 1
    # Between two crossings the k highest do not change, so the middle tells.
    crossings = {Fraction(0), Fraction(1)}
    for (a, b), (c, d) in itertools.combinations(ends, 2):
        if (b - a) != (d - c) and 0 < (at := (c - a) / ((b - a) - (d - c))) < 1:
            crossings.add(at)
    for low, high in itertools.pairwise(sorted(crossings)):
        middle = (low + high) / 2
        values = [(1 - middle) * a + middle * b for a, b in ends]
        inside = next(who for first, last, who in stretches if first <= low < last)
        outside = {*range(len(ends))} - inside
        assert len(inside) == k
        assert all(values[i] >= values[o] for i in inside for o in outside)


def test_each_criterion_is_ranked_as_if_it_were_alone() -> None:
    ratings = frame()
    both = eh.rank(ratings, score=["novelty", "soundness"], rng=7)
    alone = eh.rank(ratings, score="soundness", rng=7)
    assert both.criteria["soundness"].items == alone.items
    estimates = {row.item: row.estimate for row in alone.items}
    for row in both.items:
        assert row.criteria is not None
        assert row.criteria["soundness"] == estimates[row.item]
    table = both.to_frame()
    assert table["soundness estimate"].to_list() == [
        estimates[item] for item in both.order
    ]
    document = both.to_dict()
    assert [each["name"] for each in document["criteria"]] == ["novelty", "soundness"]  # type: ignore[index,union-attr,call-overload]  # a list
    assert "criteria" not in alone.to_dict()
    assert "criteria" not in alone.rows()[0]


def test_means_of_the_total_are_weighted_means_of_criteria() -> None:
    found = eh.rank(
        frame(), score={"novelty": 3, "soundness": 1}, method="mean", top=4, rng=7
    )
    for row in found.items:
        assert row.criteria is not None
        mean = (3 * row.criteria["novelty"] + row.criteria["soundness"]) / 4  # type: ignore[operator]  # numbers
        assert row.mean_score == pytest.approx(mean)
    assert found.weightings is not None
    assert (found.weightings.linear, found.weightings.agree) == (True, 4)
    # At the present weights those that are in are the best four.
    now = [item for item in found.order if found.weightings.now("novelty", item)]
    assert now == list(found.order[:4])


def test_the_share_of_all_weightings_fits_the_exact_one() -> None:
    # Of two criteria one dimension is all there is: its length is the exact share.
    # Five standard errors: a correct build fails for one seed in 1.7 million.
    values = np.array([[3.0, 0.0], [0.0, 1.0], [2.0, 0.4]])
    names, items = ["a", "b"], ["x", "y", "z"]
    found = weigh_criteria(values, np.ones(2), names, items, 1, 7, linear=True)
    for item in items:
        ends = found.ranges["a"].get(item, ())
        exact = sum(high - low for low, high in ends)
        error = (exact * (1 - exact) / WEIGHTINGS) ** 0.5
        assert abs(found.portion.get(item, 0.0) - exact) <= 5 * error + 1e-12


def test_an_item_best_by_all_is_always_in() -> None:
    values = np.array([[3.0, 2.0, 3.0], [2.0, 1.0, 2.0], [1.0, 1.5, 0.0]])
    found = weigh_criteria(
        values,
        np.array([1.0, 2, 1]),
        ["a", "b", "c"],
        ["x", "y", "z"],
        2,
        7,
        linear=True,
    )
    assert found.always == ("x",)
    # z beats y where (1 - t) * 1.5 < t / 2 does not hold: b must count for more.
    assert found.ranges["b"]["z"][0][0] == pytest.approx(3 / 4)


def test_claims_of_a_total_need_dominance_and_weights_fixed_beforehand() -> None:
    ratings = pl.DataFrame(
        {
            "reviewer": list("aabbcc"),
            "item": list("xyzwxz"),
            "novelty": [5, 2, 4, 2, 3, 1],
            "soundness": [4, 3, 3, 2, 5, 2],
        }
    )
    by = {"method": "safe", "design": "pairs", "distinct": True, "rng": 7}
    score = ["novelty", "soundness"]
    found = eh.rank(ratings, score=score, **by)  # type: ignore[arg-type]  # any
    assert found.certificate is not None
    declared = str(found.certificate.to_dict())
    assert "one is at least as good on every criterion" in declared
    assert "weights of the criteria fixed before the scores were seen" in declared
    holes = ratings.with_columns(novelty=pl.Series([None, 2, 4, 2, 3, 1]))
    more = {**by, "missing_criteria": "rescale"}
    void = eh.rank(holes, score=score, **more).certificate  # type: ignore[arg-type]  # any
    assert void is not None
    assert void.theorem == "none"
    alone = eh.rank(ratings, score="novelty", **by).certificate  # type: ignore[arg-type]  # any
    assert "criterion" not in str(alone.to_dict())  # type: ignore[union-attr]  # there is


def test_a_criterion_that_cannot_be_ranked_is_said() -> None:
    ratings = pl.DataFrame(
        {
            "reviewer": list("aabb"),
            "item": list("xyxy"),
            "novelty": [3, 2, 2, 3],
            "soundness": [5, 2, 5, 2],
        }
    )
    by = {"score": ["novelty", "soundness"], "method": "topological", "rng": 7}
    found = eh.rank(ratings, top=1, **by)  # type: ignore[arg-type]  # any
    assert (found.order, [*found.criteria]) == (("x", "y"), ["soundness"])
    assert "criterion_unranked" in [warning.code for warning in found.notices]
    assert found.weightings is None


def test_lines_that_all_cross_in_one_place_come_to_an_end() -> None:
    # Rounding puts the crossings of many lines with one point in common at several.
    draw = np.random.default_rng(1)
    for size in range(3, 40):
        slopes = draw.normal(size=size)
        start, end = 3 - 0.4 * slopes, 3 + 0.6 * slopes
        stretches = top_ranges(start, end, size // 2)
        steepest = frozenset(np.argsort(-slopes)[: size // 2].tolist())
        assert stretches[-1][2] == steepest


def test_a_criterion_that_hardly_counts_leaves_the_others_their_part() -> None:
    values = np.array([[3.0, 1.0], [1.0, 2.0]])
    weights = np.array([1.0, 1e-18])
    by_weight = weigh_criteria(values, weights, ["a", "b"], "xy", 1, 7, linear=True)
    assert by_weight.ranges["b"] == {
        "x": ((0.0, pytest.approx(2 / 3)),),
        "y": ((pytest.approx(2 / 3), 1.0),),
    }
