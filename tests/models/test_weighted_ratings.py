"""Weights of ratings: a score of weight 2 has half the error variance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.sparse import csr_array

import evenhand as eh
from evenhand.diagnosis.reviewers import effect_errors, fit_model
from evenhand.grading import adjusted_means
from evenhand.models.adaptive import adaptive
from evenhand.models.additive import additive
from evenhand.models.affine import affine
from evenhand.models.bradley_terry import (
    ManyPairs,
    bradley_terry,
    draw_by_orders,
    listed_pairs,
    order_values,
    orders_without_each,
    wins,
)
from evenhand.models.isotonic import isotonic
from evenhand.models.means import centred_means, item_means, z

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

MODELS: dict[str, Callable[[eh.Ratings], ArrayLike]] = {
    "mean": item_means,
    "centred": lambda ratings: centred_means(ratings).estimates,
    "z": lambda ratings: z(ratings).estimates,
    "additive": lambda ratings: additive(ratings).estimates,
    "affine": lambda ratings: affine(ratings).estimates,
    "isotonic": lambda ratings: isotonic(ratings).estimates,
    "adaptive": lambda ratings: adaptive(ratings).estimates,
    "bradley-terry": lambda ratings: bradley_terry(ratings).estimates,
    "marks": lambda ratings: adjusted_means(ratings).values,
}


def data(weights: object = None, seed: int = 11) -> eh.Ratings:
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(12), 5)
    what = np.concatenate([rng.permutation(10)[:5] for _ in range(12)])
    scores = rng.normal(size=10)[what] + rng.normal(size=12)[who] + rng.normal(size=60)
    if callable(weights):
        weights = weights(rng, who)
    return eh.Ratings(who, what, scores, weights=weights)  # type: ignore[arg-type]  # floats


def expertise(rng: np.random.Generator, who: Floats) -> Floats:
    return rng.integers(1, 4, len(who)).astype(float)


@pytest.mark.parametrize("model", MODELS)
def test_equal_weights_change_nothing(model: str) -> None:
    plain, heavy = MODELS[model](data()), MODELS[model](data(np.full(60, 3.7)))
    assert np.abs(np.subtract(plain, heavy)).max() <= 1e-9


@pytest.mark.parametrize("model", MODELS)
def test_weights_count(model: str) -> None:
    plain, heavy = MODELS[model](data()), MODELS[model](data(expertise))
    assert np.abs(np.subtract(plain, heavy)).max() > 1e-3


@pytest.mark.parametrize("model", MODELS)
def test_only_ratios_of_weights_count(model: str) -> None:
    given = data(expertise)
    again = data(lambda rng, who: 1e200 * expertise(rng, who))
    found = np.subtract(MODELS[model](given), MODELS[model](again))
    assert np.abs(found).max() <= 1e-8


def test_a_weight_of_two_is_two_equal_scores_of_a_mean() -> None:
    ratings = eh.Ratings(list("abc"), list("xxx"), [1, 2, 6], weights=[1, 2, 1])
    twice = eh.Ratings(list("abcd"), list("xxxx"), [1, 2, 2, 6])
    found, expected = (item_means(one) for one in (ratings, twice))
    assert found == pytest.approx(expected, abs=1e-12)


def test_errors_of_offsets_and_values_know_weights() -> None:
    """Errors by the contrast table, against the same without weights repeated."""
    given = data(lambda _, who: np.where(who < 6, 4.0, 1.0))
    offsets, _ = effect_errors(fit_model(given))
    assert offsets[:6].max() < offsets[6:].min()


@pytest.mark.parametrize("method", ["safe", "flips(start=bradley-terry)", "borda"])
def test_a_method_that_does_not_use_weights_says_so(method: str) -> None:
    given = eh.Ratings(list("aabb"), list("xyyz"), [9, 7, 3, 2], weights=[1, 2, 1, 2])
    found = eh.rank(given, method=method, rng=7)
    plain = eh.Ratings(list("aabb"), list("xyyz"), [9, 7, 3, 2])
    assert found.order == eh.rank(plain, method=method, rng=7).order
    assert "weights_unused" in [notice.code for notice in found.notices]


@pytest.mark.parametrize(
    "method", ["adaptive", "mean", "additive", "affine", "bradley-terry"]
)
def test_intervals_go_with_weights(method: str) -> None:
    found = eh.rank(data(expertise), method=method, rng=7)
    assert "weights_unused" not in [notice.code for notice in found.notices]
    assert found.items[0].rank_low == 1


def test_results_with_weights_say_which_columns_do_not_use_them() -> None:
    ratings = eh.Ratings(list("aabb"), list("xyxy"), [1, 2, 3, 1], weights=[1, 9, 1, 1])
    for found in (eh.rank(ratings, method="mean", rng=1), eh.grade(ratings, rng=1)):
        assert "weights_used" in [notice.code for notice in found.notices]


def test_a_pair_counts_as_in_least_squares_with_an_offset() -> None:
    """Pairs of weight 2 w w' / W, one by one, against both ways to add them up."""
    ratings = data(expertise)
    weights = np.asarray(ratings.weights) / np.mean(np.asarray(ratings.weights))
    pairs, won = np.zeros((10, 10)), np.zeros(10)
    codes, items, liked = (
        ratings.reviewer_codes,
        ratings.item_codes,
        ratings.preference,
    )
    for first, second in np.argwhere(codes[:, None] == codes).tolist():
        if first != second:
            total = weights[codes == codes[first]].sum()
            share = 2 * weights[first] * weights[second] / total
            pairs[items[first], items[second]] += share
            won[items[first]] += share * (liked[first] > liked[second])
    factors = 2 / np.bincount(codes, weights)
    listed = listed_pairs(ratings, factors)
    assert np.abs(listed.matrix.toarray() - pairs).max() < 1e-12
    assert np.abs(wins(ratings, factors) - won).max() < 1e-12
    values = np.linspace(-1, 1, 10)
    links = csr_array((weights, (codes, items)), (12, 10))
    summed, expected = ManyPairs(links, factors).at(values), listed.at(values)
    assert np.abs(summed.wins - expected.wins).max() < 1e-12
    assert np.abs(summed.diagonal - expected.diagonal).max() < 1e-12


def test_orders_without_a_rating_know_weights() -> None:
    """One step from the whole against a new fit, whose weights have the old unit."""
    ratings = data(expertise)
    without, whole = orders_without_each(ratings), order_values(ratings)
    for row in range(0, 60, 7):
        again = order_values(ratings.without(row))
        assert np.corrcoef(without[row] - whole, again - whole)[0, 1] > 0.95
        assert np.abs(without[row] - again).max() < 0.3


def test_draws_by_orders_widen_where_weights_are_unequal() -> None:
    """Of the same pairs fewer count, so that less is known."""
    chance = np.random.default_rng(3)
    lots, units = chance.random((4000, 2)), chance.normal(size=(4000, 10))
    uneven = data(lambda rng, who: np.where(rng.random(len(who)) < 0.5, 9.0, 1.0))
    plain, heavy = (
        draw_by_orders(ratings, lots, units)[1].std() for ratings in (data(), uneven)
    )
    assert heavy > plain
