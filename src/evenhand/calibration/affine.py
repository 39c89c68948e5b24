"""Each reviewer has an offset and a slope: mean + offset + slope * value + rest.

Values, offsets and slopes are normal, slopes around 1. The fit is variational: values
on one side, offsets and slopes on the other are updated in turn, each to its best
distribution given the other's. Every update, and every one of the variances, raises one
lower bound of the likelihood, so the fit settles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand.arrays import frozen
from evenhand.calibration.additive import Equations, Mixed
from evenhand.calibration.design import Design, Variances, design, fit_of

if TYPE_CHECKING:
    from evenhand.arrays import Scores
    from evenhand.calibration.design import Fit
    from evenhand.ratings import Ratings


# Rounds, by how many ratings all of them may go through.
LEAST_STEPS, MOST_STEPS, WORK = 200, 5000, 200_000_000
TOLERANCE, ROUGH = 1e-9, 1e-4
# No reviewer is taken to score better items lower.
LEAST_SLOPE = 0.05
# Slopes vary by about a third, as if so many reviewers had shown it.
USUAL_SPREAD, USUAL_REVIEWERS = 0.3**2, 4
MOST_SPREAD = 1.0
# Variances this far below the rest's say that there is nothing.
NEGLIGIBLE = 1e-9


def affine(ratings: Ratings) -> Fit:
    """Fit an offset and a slope for each reviewer and a value for each item.

    The variances of offsets and values are those of the additive model (REML); those of
    slopes and of the rest are estimated along. Slopes are drawn to 1 as far as a
    reviewer's ratings are few or noisy, and are kept positive.

    Args:
        ratings: Scores.

    Returns:
        The fit. Standard errors are those of the values given everyone's offset and
        slope, so they are too small where reviewers rated little.

    Raises:
        RatingsError: If there are no scores.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a"] * 4 + ["b"] * 4, [1, 2, 3, 4] * 2,
        ...                   [1, 2, 3, 4, 2, 4, 6, 8])
        >>> fit = affine(ratings)
        >>> bool((np.diff(fit.estimates) > 0).all()), fit.slopes.round(1).tolist()
        (True, [0.7, 1.2])
    """
    made = design(ratings)
    state = fit_affine(made)
    parts = Variances(state.offset_variance, state.value_variance, state.rest)
    values = made.in_units(state.values)
    return replace(
        fit_of(ratings, "affine", values, converged=state.converged),
        errors=frozen(made.in_units(np.sqrt(state.value_variances))),
        offsets=frozen(made.in_units(state.offsets)),
        slopes=frozen(state.slopes),
        variances=made.squared(parts),
    )


@dataclass(slots=True)
class State:
    """Means and variances of everything, in the design's unit.

    Attributes:
        mean: Overall mean.
        values: Means of the items' values.
        value_variances: Their variances.
        offsets: Means of the reviewers' offsets.
        slopes: Means of the reviewers' slopes.
        offset_variances: Variances of the offsets.
        slope_variances: Variances of the slopes.
        covariances: Of offset and slope.
        offset_variance: Prior variance of offsets.
        value_variance: Prior variance of values.
        spread: Prior variance of slopes.
        rest: Variance of the rest.
        steps: Rounds taken.
        converged: Whether the last one changed nothing that matters.
    """

    mean: float
    values: Scores
    value_variances: Scores
    offsets: Scores
    slopes: Scores
    offset_variances: Scores
    slope_variances: Scores
    covariances: Scores
    offset_variance: float
    value_variance: float
    spread: float
    rest: float
    steps: int = 0
    converged: bool = True


def fit_affine(
    made: Design,
    state: State | None = None,
    *,
    spread: float | None = None,
    quick: bool = False,
) -> State:
    """Update everything in turn until nothing moves.

    Args:
        made: The ratings.
        state: Where to start from, and what is changed; the additive model if None.
        spread: Prior variance of slopes, if it is not to be fitted.
        quick: Whether a few digits of the values will do.

    Returns:
        The state; as it was, with 0 steps, if nothing shows a slope.
    """
    state = state or start(made)
    least = NEGLIGIBLE * state.rest
    if state.value_variance <= least or state.rest == 0:
        return state
    most = min(max(WORK // len(made.scores), LEAST_STEPS), MOST_STEPS)
    tolerance, most = (ROUGH, LEAST_STEPS) if quick else (TOLERANCE, most)
    scale = tolerance * float(np.sqrt(state.value_variance))
    state.converged = False
    for state.steps in range(1, most + 1):
        before = state.values
        state.spread = state.spread if spread is None else spread
        update_reviewers(made, state)
        update_values(made, state)
        update_variances(made, state)
        if float(np.abs(state.values - before).max()) <= scale:
            state.converged = True
            break
    return state


def start(made: Design, mixed: Mixed | None = None) -> State:
    """Start from the additive model, fitted here if not given, with all slopes 1."""
    mixed = mixed or Equations(made).fit(made.scores)
    parts = mixed.variances
    size = made.n_reviewers
    # Something is left for the rest even if the additive model fits without error.
    rest = max(parts.rest, NEGLIGIBLE * (parts.item + parts.reviewer))
    return State(
        mean=mixed.mean,
        values=mixed.items,
        value_variances=np.zeros(made.n_items),
        offsets=mixed.reviewers,
        slopes=np.ones(size),
        offset_variances=np.zeros(size),
        slope_variances=np.zeros(size),
        covariances=np.zeros(size),
        offset_variance=max(parts.reviewer, NEGLIGIBLE * rest),
        value_variance=parts.item,
        spread=USUAL_SPREAD,
        rest=rest,
    )


def update_reviewers(made: Design, state: State) -> None:
    """Set offsets and slopes to their best, given the values."""
    values = state.values[made.items]
    squares = values**2 + state.value_variances[made.items]
    left = made.scores - state.mean
    rest = state.rest
    first = made.load_weights / rest + 1 / state.offset_variance
    cross = made.by_reviewer(values) / rest
    second = made.by_reviewer(squares) / rest + 1 / state.spread
    level = made.by_reviewer(left) / rest
    slope = made.by_reviewer(left * values) / rest + 1 / state.spread
    determinant = first * second - cross**2
    slopes = (first * slope - cross * level) / determinant
    # Under the bound, the best offset is the one that goes with the slope at it.
    state.slopes = np.maximum(slopes, LEAST_SLOPE)
    state.offsets = (level - cross * state.slopes) / first
    state.offset_variances = second / determinant
    state.slope_variances = first / determinant
    state.covariances = -cross / determinant


def update_values(made: Design, state: State) -> None:
    """Set the values to their best, given offsets and slopes."""
    slopes = state.slopes
    squared = slopes**2 + state.slope_variances
    product = state.offsets * slopes + state.covariances
    left = slopes[made.reviewers] * (made.scores - state.mean)
    right = made.by_item(left - product[made.reviewers]) / state.rest
    precision = made.by_item(squared[made.reviewers]) / state.rest
    precision += 1 / state.value_variance
    state.values = right / precision
    state.value_variances = 1 / precision


def update_variances(made: Design, state: State) -> None:
    """Set the spread of slopes and the rest to their best."""
    away = (state.slopes - 1) ** 2 + state.slope_variances
    total = float(away.sum()) + USUAL_REVIEWERS * USUAL_SPREAD
    state.spread = min(total / (len(away) + USUAL_REVIEWERS), MOST_SPREAD)
    total = float(made.weighted(residual_squares(made, state)).sum())
    least = NEGLIGIBLE * (state.value_variance + state.offset_variance)
    state.rest = max(total / len(made.scores), least)


def residual_squares(made: Design, state: State) -> Scores:
    """Return the expected square of what is left of each score."""
    who, what = made.reviewers, made.items
    values, slopes = state.values[what], state.slopes[who]
    left = made.scores - state.mean - state.offsets[who] - slopes * values
    spread = (
        state.offset_variances[who]
        + 2 * values * state.covariances[who]
        + values**2 * state.slope_variances[who]
    )
    fuzzy = state.value_variances[what] * (slopes**2 + state.slope_variances[who])
    return np.asarray(left**2 + spread + fuzzy)
