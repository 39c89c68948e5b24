"""Offset and slope for each reviewer."""

import numpy as np
import pytest
from numpy.typing import NDArray

from evenhand.models import affine as room
from evenhand.models.additive import additive
from evenhand.models.affine import affine
from evenhand.models.design import RatingMatrix, build_matrix
from evenhand.ratings import Ratings

Table = NDArray[np.float64]


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


def bound(made: RatingMatrix, state: room.State) -> float:
    """Return the lower bound of the log posterior that the updates raise."""
    total = float(room.residual_squares(made, state).sum()) / state.rest
    value = -0.5 * (total + len(made.scores) * np.log(2 * np.pi * state.rest))
    value += gain(state.values, state.value_variances, state.value_variance)
    determinant = state.offset_variances * state.slope_variances - state.covariances**2
    prior = state.offset_variance * state.spread
    offsets = (state.offsets**2 + state.offset_variances) / state.offset_variance
    slopes = ((state.slopes - 1) ** 2 + state.slope_variances) / state.spread
    value -= 0.5 * float((offsets + slopes - 2 - np.log(determinant / prior)).sum())
    usual = room.USUAL_SPREAD / state.spread + np.log(state.spread)
    return float(value - 0.5 * room.USUAL_REVIEWERS * usual)


def gain(means: Table, variances: Table, prior: float) -> float:
    """Return minus the divergence of normals from their prior of mean 0."""
    ratio = variances / prior
    return -0.5 * float((means**2 / prior + ratio - 1 - np.log(ratio)).sum())


@pytest.mark.parametrize("seed", range(3))
def test_every_update_raises_the_bound(seed: int) -> None:
    made = build_matrix(sloped(seed, noise=1.0))
    state = room.start(made)
    state.value_variances[:] = state.value_variance
    room.update_reviewers(made, state)
    room.update_values(made, state)
    last = bound(made, state)
    first = last
    updates = (room.update_reviewers, room.update_values, room.update_variances)
    for _ in range(25):
        for update in updates:
            update(made, state)
            value = bound(made, state)
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
    fit, wanted = affine(ratings), additive(ratings)
    scale = float(np.std(wanted.estimates))
    first, second = fit.estimates / np.std(fit.estimates), wanted.estimates / scale
    assert np.abs(first - second).max() < 0.05
    assert fit.slopes is not None
    assert np.abs(fit.slopes - fit.slopes.mean()).max() < 0.15


def test_one_score_from_each_reviewer_leaves_errors() -> None:
    fit = affine(Ratings(["a", "b", "c", "d"], ["v", "w", "x", "y"], [1, 2, 2, 3]))
    assert fit.errors is not None
    assert (fit.errors > 0.1).all()
