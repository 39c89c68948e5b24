"""Offset and slope for each reviewer."""

import numpy as np
import pytest

from evenhand.calibration import affine as room
from evenhand.calibration.additive import additive
from evenhand.calibration.affine import affine
from evenhand.calibration.design import design
from evenhand.ratings import Ratings


def sloped(seed: int, *, spread: float = 0.4, noise: float = 0.3) -> Ratings:
    source = np.random.default_rng(seed)
    reviewers, items = np.divmod(np.arange(20 * 10), 10)
    slopes = np.exp(spread * source.normal(size=20))
    scores = (
        slopes[reviewers] * np.linspace(-2, 2, 10)[items]
        + source.normal(size=20)[reviewers]
        + noise * source.normal(size=200)
    )
    return Ratings(reviewers, items, scores)


@pytest.mark.parametrize("seed", range(3))
def test_every_update_raises_the_bound(seed: int) -> None:
    made = design(sloped(seed, noise=1.0))
    state = room.start(made)
    state.value_variances[:] = state.value_variance
    room.update_reviewers(made, state)
    room.update_values(made, state)
    last = room.bound(made, state)
    first = last
    updates = (room.update_reviewers, room.update_values, room.update_variances)
    for _ in range(25):
        for update in updates:
            update(made, state)
            value = room.bound(made, state)
            assert value >= last - 1e-9
            last = value
    assert last > first + 1e-3


def test_slopes_are_found_where_reviewers_stretch_the_scale() -> None:
    ratings = sloped(4)
    fit = affine(ratings)
    assert fit.slopes is not None
    ends = ratings.scores.reshape(20, 10)
    width = ends[:, -3:].mean(axis=1) - ends[:, :3].mean(axis=1)
    assert np.corrcoef(fit.slopes, width)[0, 1] > 0.99
    assert fit.converged
    assert np.array_equal(np.argsort(fit.estimates), np.arange(10))


def test_slopes_stay_positive_for_a_reviewer_who_turns_the_scale_round() -> None:
    ratings = sloped(5)
    scores = ratings.scores.copy()
    scores[:10] = -3 * scores[10:20]
    fit = affine(Ratings(ratings.reviewer_codes, ratings.item_codes, scores))
    assert fit.slopes is not None
    assert fit.slopes.min() == fit.slopes[0] == room.LEAST_SLOPE


def test_equal_slopes_give_nearly_the_additive_model() -> None:
    ratings = sloped(6, spread=0.0)
    fit, wanted = affine(ratings), additive(ratings, shrink=True)
    scale = float(np.std(wanted.estimates))
    first, second = fit.estimates / np.std(fit.estimates), wanted.estimates / scale
    assert np.abs(first - second).max() < 0.05
    assert fit.slopes is not None
    assert np.abs(fit.slopes - fit.slopes.mean()).max() < 0.15
