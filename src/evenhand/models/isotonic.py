"""Each reviewer has an increasing scale of their own, drawn to a straight line.

Item i has a value v_i, and reviewer j's scores of items stand for levels h_ij that
increase with the score (equal scores, equal levels). The fit minimises

    sum (v_i - h_ij)^2 + stiffness * sum (h_ij - l_ij)^2 + ridge * sum v_i^2

over values and increasing levels, where l_ij is what the reviewer's score stands for
under the affine model of the scores' pooled ranks (as normal quantiles: what all
reviewers' scales have in common should not matter either). The sum is strictly convex,
so there is one answer; averaging by item and pooling by reviewer in turn lead to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.lazy import lazy
from evenhand.models.affine import State, fit_affine
from evenhand.models.design import (
    RatingMatrix,
    build_matrix,
    fit_of,
    normal_scores,
    steps,
)

if TYPE_CHECKING:
    from scipy import optimize

    from evenhand.arrays import Scores
    from evenhand.models.design import Fit, Steps
    from evenhand.ratings import Ratings
else:
    optimize = lazy("scipy.optimize")


STIFFNESS = 0.5
STEPS = 5000
TOLERANCE = 1e-13


def isotonic(ratings: Ratings, *, stiffness: float = STIFFNESS) -> Fit:
    """Fit an increasing scale for each reviewer and a value for each item.

    Args:
        ratings: Scores.
        stiffness: How strongly scales are drawn to straight lines, positive. Near 0
            only the reviewers' orders count; large, it is the affine model.

    Returns:
        The fit, without standard errors, in normal quantiles of pooled ranks.

    Raises:
        OptionError: If the stiffness is not positive.
        RatingsError: If there are no scores.

    References:
        Barlow, Bartholomew, Bremner and Brunk (1972), Statistical inference under order
        restrictions, for the pooling of adjacent violators.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a"] * 3 + ["b"] * 3, ["x", "y", "z"] * 2,
        ...                   [1, 2, 3, 10, 40, 90])
        >>> bool((np.diff(isotonic(ratings).estimates) > 0).all())
        True
    """
    matrix = build_matrix(ratings, normal_scores(ratings.scores))
    state = fit_affine(matrix)
    values, converged = _alternate(matrix, state, stiffness)
    return fit_of(ratings, "isotonic", matrix.in_units(values), converged=converged)


def _alternate(
    matrix: RatingMatrix, state: State, stiffness: float
) -> tuple[Scores, bool]:
    lines = line_levels(matrix, state)
    scale = float(np.abs(lines).max())
    if scale == 0 or state.value_variance == 0:
        return np.zeros(matrix.n_items), True
    ridge = state.rest / state.value_variance
    tiers, values = steps(matrix.reviewers, matrix.scores), state.values
    for _ in range(STEPS):
        before = values
        wanted = (values[matrix.items] + stiffness * lines) / (1 + stiffness)
        levels = pool_levels(matrix, tiers, wanted)
        values = matrix.by_item(levels) / (matrix.count_weights + ridge)
        if float(np.abs(values - before).max()) <= TOLERANCE * scale:
            return values, True
    return values, False


def line_levels(matrix: RatingMatrix, state: State) -> Scores:
    """Return what each score stands for under the affine model."""
    reviewers = matrix.reviewers
    residuals = matrix.scores - state.mean - state.offsets[reviewers]
    squared = state.slopes**2 + state.slope_variances
    return np.asarray(residuals * (state.slopes / squared)[reviewers])


def pool_levels(matrix: RatingMatrix, tiers: Steps, wanted: Scores) -> Scores:
    """Return the best level of each rating that increases with a reviewer's scores."""
    weights = matrix.weigh(np.ones(len(wanted)))
    sums, sizes = (
        np.bincount(tiers.rows, amounts) for amounts in (weights * wanted, weights)
    )
    means = sums / sizes
    # All reviewers at once: each so far above the last that none are pooled. The levels
    # themselves are taken of the numbers as they are.
    apart = tiers.reviewers * (2 * float(np.ptp(means)) + 1.0)
    blocks = optimize.isotonic_regression(means + apart, weights=sizes).blocks
    levels = np.add.reduceat(sums, blocks[:-1]) / np.add.reduceat(sizes, blocks[:-1])
    return np.asarray(np.repeat(levels, np.diff(blocks))[tiers.rows])
