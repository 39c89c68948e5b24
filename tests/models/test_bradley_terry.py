"""Bradley-Terry values of items from each reviewer's comparisons."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize

from evenhand.models import bradley_terry as room
from evenhand.models import solver
from evenhand.models.bradley_terry import bradley_terry
from evenhand.ratings import Ratings
from tests.strategies import any_ratings

GOLDEN = Path(__file__).parent.parent / "golden"

Table = NDArray[np.float64]


def pairs(ratings: Ratings) -> list[tuple[int, int, float, float]]:
    """List (one, other, weight, share won by one) for every pair of every reviewer."""
    found = []
    for reviewer in range(ratings.n_reviewers):
        rows = np.flatnonzero(ratings.reviewer_codes == reviewer)
        for first, second in itertools.combinations(rows.tolist(), 2):
            gap = ratings.preference[first] - ratings.preference[second]
            share = 0.5 + 0.5 * float(np.sign(gap))
            items = ratings.item_codes
            weight = 2 / len(rows)
            found.append((int(items[first]), int(items[second]), weight, share))
    return found


def minus_log(values: Table, ratings: Ratings, precision: float) -> float:
    total = precision / 2 * float(values @ values)
    for one, other, weight, share in pairs(ratings):
        gap = float(values[one] - values[other])
        total += weight * (math.log1p(math.exp(-gap)) + (1 - share) * gap)
    return total


@settings(max_examples=30)
@given(any_ratings(max_items=5, max_reviewers=4))
def test_no_other_values_are_likelier(ratings: Ratings) -> None:
    fit, precision = bradley_terry(ratings), 0.4
    best = minimize(
        minus_log,
        np.zeros(ratings.n_items),
        (ratings, precision),
        method="BFGS",
        options={"gtol": 1e-7},
    )
    found = minus_log(fit.estimates, ratings, precision)
    assert fit.converged
    assert found <= float(best.fun) + 1e-10
    assert np.allclose(fit.estimates, best.x, atol=1e-5)


def test_two_items_solve_the_equation_that_a_hand_writes_down() -> None:
    # x won 3 of 4 comparisons with y, so 3 - 4 / (1 + exp(-2 a)) = 0.4 a, x = -y = a.
    wins = ["x", "x", "x", "y"]
    fit = bradley_terry(Ratings.from_comparisons(wins, ["y", "y", "y", "x"]))
    half = brentq(lambda a: 3 - 4 / (1 + math.exp(-2 * a)) - 0.4 * a, 0, 3, xtol=1e-14)
    assert fit.estimates == pytest.approx([half, -half], abs=1e-9)
    # Curvature: 0.4 + c on the diagonal, -c off it, with c = 4 p (1 - p).
    chance = 1 / (1 + math.exp(-2 * half))
    c = 4 * chance * (1 - chance)
    # Half the difference has the error: the common level does not count.
    squared = 1 / (0.4 + 2 * c) / 2
    assert fit.errors == pytest.approx([math.sqrt(squared)] * 2, rel=1e-9)


def test_values_exist_where_items_never_lost_or_were_never_compared() -> None:
    ratings = Ratings(
        ["a", "a", "b"], ["x", "y", "z"], [2, 1, 5], all_items=["x", "y", "z", "w"]
    )
    fit = bradley_terry(ratings)
    assert np.isfinite(fit.estimates).all()
    assert fit.estimates[ratings.item_code("z")] == 0
    assert fit.estimates[ratings.item_code("w")] == 0
    codes = {notice.code for notice in fit.notices}
    assert {"unlinked_groups", "unrated_items", "one_rating_reviewers"} <= codes


def test_passes_agree_with_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    source = np.random.default_rng(3)
    reviewers = np.repeat(np.arange(150), 4)
    items = np.concatenate([source.permutation(60)[:4] for _ in range(150)])
    scores = source.normal(size=60)[items] + source.normal(size=600)
    ratings = Ratings(reviewers, items, scores)
    by_table = bradley_terry(ratings)
    monkeypatch.setattr(room, "SMALL", 1)
    monkeypatch.setattr(solver, "TABLE", 1)
    by_passes = bradley_terry(ratings)
    assert np.allclose(by_passes.estimates, by_table.estimates, atol=1e-8)
    assert by_passes.errors is not None
    assert by_table.errors is not None
    # The probes are fixed, so this is what they reach, not a chance bound.
    assert np.abs(by_passes.errors / by_table.errors - 1).max() < 0.1


def test_reviewers_of_many_items_are_summed_up_as_pair_by_pair(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = np.random.default_rng(5)
    reviewers = np.repeat(np.arange(6), 40)
    items = np.concatenate([source.permutation(150)[:40] for _ in range(6)])
    scores = np.round(source.normal(size=150)[items] + source.normal(size=240), 1)
    ratings = Ratings(reviewers, items, scores, all_items=range(150))
    pair_by_pair = bradley_terry(ratings)
    monkeypatch.setattr(room, "MOST_PAIRS", 1)
    summed = bradley_terry(ratings)
    assert np.allclose(summed.estimates, pair_by_pair.estimates, atol=1e-9)


def test_values_are_those_of_choix() -> None:
    golden = json.loads((GOLDEN / "bradley_terry.json").read_text())
    ratings = Ratings.from_comparisons(golden["winners"], golden["losers"])
    found = bradley_terry(ratings).estimates
    # Eight digits; choix stops its search at about nine.
    expected = np.array(golden["values"])
    assert found - found.mean() == pytest.approx(expected - expected.mean(), abs=1e-8)
