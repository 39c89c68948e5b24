"""Scores as far as reviewers share a scale, orders as far as they do not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

from evenhand.models.adaptive import adaptive, adaptive_again, adaptive_without_each
from evenhand.models.additive import Equations
from evenhand.models.bradley_terry import bradley_terry
from evenhand.models.design import build_matrix
from evenhand.models.reliability import (
    find_reliability,
    find_unreliable,
    reliability_of,
)
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


def judged(noises: list[float], slopes: list[float], items: int = 300) -> Ratings:
    source = np.random.default_rng(7)
    values = source.normal(size=items)
    scores = [
        slope * values + noise * source.normal(size=items) + source.normal() / 2
        for noise, slope in zip(noises, slopes, strict=True)
    ]
    people = np.repeat(np.arange(len(noises)), items)
    return Ratings(
        people, np.tile(np.arange(items), len(noises)), np.concatenate(scores)
    )


def test_slopes_and_noises_of_reviewers_are_found() -> None:
    # Errors of 12% in the ratio of noises and .05 in slopes are two standard errors.
    ratings = judged([1.0, 1.0, 2.0, 0.6], [1.0, 1.5, 1.0, 0.7])
    matrix = build_matrix(ratings)
    found = find_reliability(matrix, Equations(matrix).fit(matrix.scores))
    assert found is not None
    assert np.allclose(found.slopes / found.slopes[0], [1, 1.5, 1, 0.7], atol=0.25)
    ratios = found.noises / found.noises[0]
    assert np.allclose(ratios, [1, 1, 4, 0.36], rtol=0.4)


def test_reviewers_who_differ_by_chance_alone_count_alike() -> None:
    ratings = judged([1.0] * 6, [1.0] * 6)
    plain, weighed = adaptive(ratings), adaptive(ratings, reliabilities=True)
    assert np.abs(plain.estimates - weighed.estimates).max() < 0.1


def test_who_answers_at_random_hardly_counts() -> None:
    ratings = judged([0.5, 0.5, 0.5, 30.0], [1.0] * 4)
    kept = np.flatnonzero(ratings.reviewer_codes < 3)
    alone = adaptive(
        Ratings(
            ratings.reviewer_codes[kept], ratings.item_codes[kept], ratings.scores[kept]
        )
    ).estimates
    gaps = [
        float(np.abs(adaptive(ratings, reliabilities=on).estimates - alone).mean())
        for on in (False, True)
    ]
    assert gaps[1] < 0.1
    assert gaps[0] > 0.3


def test_a_rating_is_left_out_with_reliabilities_nearly_as_if_it_were_new() -> None:
    ratings = judged([0.5, 0.5, 1.0, 3.0], [1.0] * 4, items=12)
    rows = adaptive_without_each(ratings, reliabilities=True)
    for row in (0, 17, 40):
        again = adaptive(ratings.without(row), reliabilities=True).estimates
        assert np.corrcoef(rows[row], again)[0, 1] > 0.99


def test_other_scores_are_weighed_anew() -> None:
    ratings = judged([0.5, 0.5, 1.0, 3.0], [1.0] * 4, items=12)
    sets = [ratings.scores**3, ratings.scores]
    again = adaptive_again(ratings, sets, reliabilities=True)
    for scores, estimates in zip(sets, again, strict=True):
        fit = adaptive(ratings.with_scores(scores), reliabilities=True)
        assert np.allclose(fit.estimates, estimates, atol=1e-9)


@pytest.mark.parametrize(
    ("noises", "slopes", "named"),
    [
        ([1.0, 1.0, 9.0], [1.0, 1.0, 1.0], [2]),
        ([1.0, 1.0, 1.5], [1.0, 1.0, 0.0], [2]),
        ([1.0, 1.2, 0.8, 6.0, 6.0], [1.0, 1.2, 0.9, 1.0, 1.0], [3, 4]),
        ([1.0, 1.2, 0.8], [1.0, 1.2, 0.8], []),
    ],
)
def test_who_errs_far_more_than_others_is_named(
    noises: list[float], slopes: list[float], named: list[int]
) -> None:
    reliable = reliability_of(judged(noises, slopes))
    assert reliable is not None
    assert find_unreliable(reliable).tolist() == named


def test_ordinary_reviewers_are_hardly_ever_named() -> None:
    """1,200 reviewers; 12 would be 1 in 100."""
    source, named = np.random.default_rng(3), 0
    for _ in range(60):
        values = source.normal(size=40)
        scores = values + source.normal(size=(20, 1)) / 2 + source.normal(size=(20, 40))
        people, items = np.divmod(np.arange(800), 40)
        keep = source.permutation(800)[:400]
        ratings = Ratings(people[keep], items[keep], scores.ravel()[keep])
        reliable = reliability_of(ratings)
        named += 0 if reliable is None else len(find_unreliable(reliable))
    assert named <= 12
