"""Increasing scales for each reviewer."""

import numpy as np
import pytest
from numpy.typing import NDArray

from evenhand.models import isotonic as room
from evenhand.models.affine import fit_affine
from evenhand.models.design import build_matrix, normal_scores, steps
from evenhand.models.isotonic import isotonic
from evenhand.ratings import Ratings

Table = NDArray[np.float64]


def bent(seed: int) -> Ratings:
    source = np.random.default_rng(seed)
    reviewers = np.repeat(np.arange(30), 4)
    items = np.concatenate([source.permutation(12)[:4] for _ in range(30)])
    values = np.linspace(0, 1, 12)[items] + 0.1 * source.normal(size=120)
    powers = np.exp(source.normal(size=30))[reviewers]
    scores = np.round(5 * np.clip(values, 0, 1) ** powers)
    return Ratings(reviewers, items, scores)


@pytest.mark.parametrize("seed", range(3))
def test_no_other_values_and_increasing_levels_cost_less(seed: int) -> None:
    ratings = bent(seed)
    made = build_matrix(ratings, normal_scores(ratings.scores))
    state = fit_affine(made)
    lines = room.line_levels(made, state)
    found = steps(made.reviewers, made.scores)
    ridge = state.rest / state.value_variance

    def mixed(values: Table) -> Table:
        return (values + room.STIFFNESS * lines) / (1 + room.STIFFNESS)

    def cost(values: Table, levels: Table) -> float:
        total = ((values[made.items] - levels) ** 2).sum()
        total += room.STIFFNESS * ((levels - lines) ** 2).sum()
        return float(total + ridge * (values**2).sum())

    fit = isotonic(ratings)
    values = fit.estimates / made.unit
    levels = room.pool_levels(made, found, mixed(values[made.items]))
    best = cost(values, levels)
    source = np.random.default_rng(seed)
    for _ in range(200):
        # Any other values, and any mix of levels that increase, stays allowed.
        share = source.uniform(0, 0.3)
        other = room.pool_levels(made, found, mixed(source.normal(size=120)))
        moved = values + 0.1 * source.normal(size=12)
        assert cost(moved, (1 - share) * levels + share * other) > best
        assert cost(values, (1 - share) * levels + share * other) >= best - 1e-12
        assert cost(moved, levels) > best
    assert fit.converged


def test_levels_increase_with_scores_and_are_equal_for_equal_ones() -> None:
    ratings = bent(1)
    made = build_matrix(ratings)
    found = steps(made.reviewers, made.scores)
    source = np.random.default_rng(0)
    levels = room.pool_levels(made, found, source.normal(size=120))
    for reviewer in range(30):
        own = ratings.reviewer_codes == reviewer
        order = np.argsort(ratings.scores[own], kind="stable")
        scores, given = ratings.scores[own][order], levels[own][order]
        assert (np.diff(given) >= 0).all()
        assert (np.diff(given)[np.diff(scores) == 0] == 0).all()


def test_a_common_increasing_function_changes_nothing() -> None:
    ratings = bent(2)
    scores = np.exp(3 * ratings.scores)
    other = Ratings(ratings.reviewer_codes, ratings.item_codes, scores)
    assert np.array_equal(isotonic(ratings).estimates, isotonic(other).estimates)
