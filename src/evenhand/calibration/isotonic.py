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

from evenhand.calibration.affine import State, fit_affine
from evenhand.calibration.design import (
    Design,
    design,
    linked_groups,
    model_notices,
    normal_scores,
    steps,
)
from evenhand.calibration.results import Fit, settled

if TYPE_CHECKING:
    from evenhand.arrays import Scores
    from evenhand.ratings import Ratings


STIFFNESS = 0.5
STEPS = 5000
TOLERANCE = 1e-10


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
    made = design(ratings, normal_scores(ratings.scores))
    state = fit_affine(made)
    values, converged = _alternate(made, state, stiffness)
    groups = linked_groups(ratings)
    return Fit(
        method="isotonic",
        estimates=settled(made.in_units(values)),
        groups=groups,
        converged=converged,
        notices=model_notices(ratings, groups, converged=converged),
    )


def _alternate(made: Design, state: State, stiffness: float) -> tuple[Scores, bool]:
    lines = line_levels(made, state)
    scale = float(np.abs(lines).max())
    if scale == 0 or state.value_variance == 0:
        return np.zeros(made.n_items), True
    ridge = state.rest / state.value_variance
    scales = Scales(made)
    values = state.values
    for _ in range(STEPS):
        before = values
        levels = scales.pooled(values[made.items], lines, stiffness)
        values = made.by_item(levels) / (made.count_weights + ridge)
        if float(np.abs(values - before).max()) <= TOLERANCE * scale:
            return values, True
    return values, False


def line_levels(made: Design, state: State) -> Scores:
    """Return what each score stands for under the affine model."""
    who = made.reviewers
    left = made.scores - state.mean - state.offsets[who]
    squared = state.slopes**2 + state.slope_variances
    return np.asarray(left * (state.slopes / squared)[who])


class Scales:
    """Each reviewer's distinct scores in order, on which levels must increase."""

    def __init__(self, made: Design) -> None:
        """Sort each reviewer's scores."""
        self._made, self._steps = made, steps(made.reviewers, made.scores)
        self._sizes = np.bincount(self._steps.rows, made.weights)

    def pooled(self, values: Scores, lines: Scores, stiffness: float) -> Scores:
        """Return the best increasing level of each rating.

        Args:
            values: The rated item's value, for each rating.
            lines: What the score stands for on a straight scale.
            stiffness: Weight of the latter.
        """
        from scipy.optimize import isotonic_regression  # noqa: PLC0415 - slow to load

        rows, sizes = self._steps.rows, self._sizes
        wanted = (values + stiffness * lines) / (1 + stiffness)
        sums = np.bincount(rows, self._made.weighted(wanted))
        means = sums / sizes
        # All reviewers at once: each so far above the last that none are pooled. The
        # levels themselves are taken of the numbers as they are.
        apart = self._steps.reviewers * (2 * float(np.ptp(means)) + 1.0)
        found = isotonic_regression(means + apart, weights=sizes)
        begins = found.blocks[:-1]
        levels = np.add.reduceat(sums, begins) / np.add.reduceat(sizes, begins)
        return np.asarray(np.repeat(levels, np.diff(found.blocks))[rows])
