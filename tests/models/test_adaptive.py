"""Scores as far as reviewers share a scale, orders as far as they do not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

from evenhand.models.adaptive import adaptive, adaptive_again
from evenhand.models.bradley_terry import bradley_terry
from evenhand.ratings import Ratings
from tests.models.test_additive import Dense, noisy

Table = NDArray[np.float64]


def standard(values: Table) -> Table:
    return np.asarray((values - values.mean()) / values.std())


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_is_what_the_formula_says(seed: int) -> None:
    # Written anew from the formula: dense REML, scipy's ranks and quantiles.
    ratings = noisy(7, 12, 3, seed, offset=1.5)
    scores = ratings.scores.copy()
    scores[3] = 60.0
    ratings = Ratings(ratings.reviewer_codes, ratings.item_codes, scores)
    shares = (rankdata(scores) - 0.5) / len(scores)
    low, high = np.quantile(scores, [0.25, 0.75])
    fence = 2 * (high - low)
    views = (
        np.clip(scores, low - fence, high + fence),
        norm.ppf(shares),
        12**0.5 * shares,
    )
    total, rho = np.zeros(7), 0.0
    for view in views:
        dense = Dense(Ratings(ratings.reviewer_codes, ratings.item_codes, view))
        parts = dense.best()
        items = parts[1] * dense.items.T @ dense.parts(parts)[0] @ view
        total += standard(items)
        rho = float(parts[0] / parts.sum())
    ordinal = standard(bradley_terry(ratings).estimates)
    wanted = (1 - rho**2) * standard(total) + rho**2 * ordinal
    fit = adaptive(ratings)
    assert fit.rho == pytest.approx(rho, abs=2e-4)
    assert 0.05 < rho < 0.95
    assert np.allclose(fit.estimates, wanted, atol=2e-3)


def test_wild_offsets_leave_bradley_terry() -> None:
    ratings = noisy(10, 30, 4, seed=3)
    wild = ratings.scores + 1000 * (ratings.reviewer_codes**2 % 31)
    fit = adaptive(Ratings(ratings.reviewer_codes, ratings.item_codes, wild))
    assert fit.rho is not None
    assert fit.rho > 0.97
    ordinal = standard(bradley_terry(ratings).estimates)
    assert np.abs(fit.estimates - ordinal).max() < 0.02


def test_one_outlier_does_not_matter() -> None:
    ratings = noisy(10, 30, 4, seed=3)
    first, second = ratings.scores.copy(), ratings.scores.copy()
    best = int(np.argmax(first))
    first[best], second[best] = first[best] + 50, 1e300
    far, farther = (
        adaptive(Ratings(ratings.reviewer_codes, ratings.item_codes, scores))
        for scores in (first, second)
    )
    assert np.allclose(far.estimates, farther.estimates, atol=1e-9)
    assert [notice.code for notice in farther.notices] == ["extreme_score"]


def test_ranks_alone_leave_bradley_terry() -> None:
    ranked = Ratings.from_ranks(["a"] * 3 + ["b"] * 2, [1, 2, 3, 2, 3], [1, 2, 3, 1, 2])
    fit = adaptive(ranked)
    assert fit.rho == 1.0
    assert np.allclose(fit.estimates, standard(bradley_terry(ranked).estimates))
    assert [notice.code for notice in fit.notices] == ["orders_only"]


def test_groups_that_wild_scales_part_are_named() -> None:
    source = np.random.default_rng(8)
    reviewers = np.repeat(np.arange(40), 3)
    half = np.concatenate([source.permutation(5)[:3] for _ in range(40)])
    items = half + 5 * (reviewers % 2)
    scores = 100.0 * source.permutation(40)[reviewers] + half
    fit = adaptive(Ratings(reviewers, items, scores))
    assert fit.groups.tolist() == [0] * 5 + [1] * 5
    notice, bound = fit.notices
    assert bound.code == "no_noise"
    assert notice.code == "unlinked_groups"
    assert "groups are not comparable" in notice.message


@pytest.mark.parametrize(("scale", "base"), [(1, 0), (5e-324, 0), (0.3, 7), (1e9, -3)])
def test_rounding_does_not_decide_whether_an_exact_half_is_wild(
    scale: float, base: float
) -> None:
    scores = [base + scale * score for score in (-1, 0, -1, -1, 0, 0)]
    fit = adaptive(Ratings(list("aabbcc"), list("wzyzxz"), scores))
    # Items that do not vary have a millionth of the rest's variance.
    assert fit.rho == pytest.approx(0.5, abs=1e-6)
    assert len(set(fit.groups.tolist())) == 3
    assert [notice.code for notice in fit.notices] == ["unlinked_groups"]


@pytest.mark.parametrize("table", [2, 400])
def test_other_scores_with_the_same_orders_are_fitted_as_if_alone(
    monkeypatch: pytest.MonkeyPatch, table: int
) -> None:
    # With a table of 2 levels at most, equations are solved by passes.
    monkeypatch.setattr("evenhand.models.solver.TABLE", table)
    monkeypatch.setattr("evenhand.models.additive.TRACE_SIGNS", 100)
    ratings = noisy(9, 12, 4, seed=5)
    slopes = np.random.default_rng(1).uniform(0.3, 3, 12)
    others = [
        ratings.scores**3 + slopes[ratings.reviewer_codes] * ratings.scores,
        ratings.scores,
        slopes[ratings.reviewer_codes] + ratings.scores,
    ]
    sets = [*others, others[0]]
    for scores, found in zip(sets, adaptive_again(ratings, sets), strict=True):
        made = Ratings(ratings.reviewer_codes, ratings.item_codes, scores)
        assert found == pytest.approx(adaptive(made).estimates, abs=1e-9)
