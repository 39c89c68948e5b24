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
from evenhand.models.additive import BOUND, MOST, Equations, Mixed
from evenhand.models.design import RatingMatrix, Variances, build_matrix, fit_of

if TYPE_CHECKING:
    from evenhand.arrays import Scores
    from evenhand.models.design import Fit
    from evenhand.ratings import Ratings


# Rounds, by how many ratings all of them may go through.
LEAST_STEPS, MOST_STEPS, WORK = 200, 5000, 200_000_000
TOLERANCE, ROUGH = 1e-13, 1e-4
# Rounds before any are guessed, how many guesses go by, which of them say the same, and
# how far down rounding may lead.
PLAIN, MEMORY, RANK, SLACK = 10, 5, 1e-10, 1e-12
LEAST_VARIANCE = 1e-300
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
    matrix = build_matrix(ratings)
    state = fit_affine(matrix)
    parts = Variances(state.offset_variance, state.value_variance, state.rest)
    values = matrix.in_units(state.values)
    warnings = [BOUND] if 0 < state.rest <= least_rest(state) else []
    return replace(
        fit_of(ratings, "affine", values, *warnings, converged=state.converged),
        errors=frozen(matrix.in_units(np.sqrt(state.value_variances))),
        offsets=frozen(matrix.in_units(state.offsets)),
        slopes=frozen(state.slopes),
        variances=matrix.square_units(parts),
    )


@dataclass(slots=True)
class State:
    """Means and variances of everything, in the unit of the matrix.

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
    matrix: RatingMatrix,
    state: State | None = None,
    *,
    spread: float | None = None,
    quick: bool = False,
) -> State:
    """Update everything in turn until nothing moves.

    Args:
        matrix: The ratings.
        state: Where to start from, and what is changed; the additive model if None.
        spread: Prior variance of slopes, if it is not to be fitted.
        quick: Whether a few digits of the values will do.

    Returns:
        The state; as it was, with 0 steps, if nothing shows a slope.
    """
    state = state or start(matrix)
    least = NEGLIGIBLE * state.rest
    if state.value_variance <= least or state.rest == 0:
        return state
    most = min(max(WORK // len(matrix.scores), LEAST_STEPS), MOST_STEPS)
    tolerance, most = (ROUGH, LEAST_STEPS) if quick else (TOLERANCE, most)
    state.converged, guess = False, _Guess()
    for state.steps in range(1, most + 1):
        state.spread = state.spread if spread is None else spread
        before = _moving(state)
        update_reviewers(matrix, state)
        update_values(matrix, state)
        update_variances(matrix, state)
        after = _moving(state)
        away = float(np.abs(after - before)[: matrix.n_items].max())
        if away <= tolerance:
            state.converged = True
            break
        if state.steps > PLAIN and not quick:
            _move(state, guess.after(before, after, lower_bound(matrix, state)))
    return state


def _moving(state: State) -> Scores:
    """Return what a round starts from as one row: values in units of their spread."""
    positive = np.append(state.value_variances, [state.spread, state.rest])
    values = state.values / np.sqrt(state.value_variance)
    return np.append(values, np.log(np.maximum(positive, LEAST_VARIANCE)))


def _move(state: State, row: Scores) -> None:
    """Start the next round from such a row."""
    size = len(state.values)
    state.values, positive = row[:size], np.exp(row[size:])
    state.values *= np.sqrt(state.value_variance)
    state.value_variances = positive[:size]
    state.spread, state.rest = map(float, positive[size:])


class _Guess:
    """Where rounds lead to, from where the last ones began and ended.

    References:
        Anderson (1965), Iterative procedures for nonlinear integral equations.
    """

    def __init__(self) -> None:
        """Start without rounds."""
        self._pairs: list[tuple[Scores, Scores]] = []
        self._best = -np.inf

    def after(self, before: Scores, after: Scores, height: float) -> Scores:
        """Return where to go on from; if a guess led down, where the last round did."""
        if height < self._best - SLACK * abs(self._best) and self._pairs:
            last, self._pairs = self._pairs[-1], []
            return last[1]
        self._pairs, self._best = [*self._pairs[-MEMORY:], (before, after)], height
        ends = np.array([after for _, after in self._pairs])
        gaps = ends - np.array([before for before, _ in self._pairs])
        steps = np.diff(gaps, axis=0)
        shares = np.linalg.lstsq(steps.T, gaps[-1], rcond=RANK)[0]
        return np.asarray(after - np.clip(shares @ np.diff(ends, axis=0), -1, 1))


def lower_bound(matrix: RatingMatrix, state: State) -> float:
    """Return twice the lower bound of the log likelihood, but for a constant."""
    away = (state.slopes - 1) ** 2 + state.slope_variances
    usual, spread = USUAL_REVIEWERS, state.spread
    total = (away.sum() + usual * USUAL_SPREAD) / spread
    total += (len(away) + usual) * np.log(spread)
    total += (state.offsets**2 + state.offset_variances).sum() / state.offset_variance
    total += (state.values**2 + state.value_variances).sum() / state.value_variance
    squares = matrix.weigh(residual_squares(matrix, state)).sum()
    total += squares / state.rest + len(matrix.scores) * np.log(state.rest)
    determinants = state.offset_variances * state.slope_variances - state.covariances**2
    total -= np.log(state.value_variances).sum() + np.log(determinants).sum()
    return -float(total)


def start(matrix: RatingMatrix, mixed: Mixed | None = None) -> State:
    """Start from the additive model, fitted here if not given, with all slopes 1."""
    mixed = mixed or Equations(matrix).fit(matrix.scores)
    parts = mixed.variances
    size = matrix.n_reviewers
    residual = parts.rest
    return State(
        mean=mixed.mean,
        values=mixed.items,
        value_variances=np.zeros(matrix.n_items),
        offsets=mixed.reviewers,
        slopes=np.ones(size),
        offset_variances=np.zeros(size),
        slope_variances=np.zeros(size),
        covariances=np.zeros(size),
        offset_variance=max(parts.reviewer, NEGLIGIBLE * residual),
        value_variance=parts.item,
        spread=USUAL_SPREAD,
        rest=residual,
    )


def update_reviewers(matrix: RatingMatrix, state: State) -> None:
    """Set offsets and slopes to their best, given the values."""
    values = state.values[matrix.items]
    squares = values**2 + state.value_variances[matrix.items]
    centred = matrix.scores - state.mean
    residual = state.rest
    first = matrix.load_weights / residual + 1 / state.offset_variance
    cross = matrix.by_reviewer(values) / residual
    second = matrix.by_reviewer(squares) / residual + 1 / state.spread
    level = matrix.by_reviewer(centred) / residual
    slope = matrix.by_reviewer(centred * values) / residual + 1 / state.spread
    determinant = first * second - cross**2
    slopes = (first * slope - cross * level) / determinant
    # Under the bound, the best offset is the one that goes with the slope at it.
    state.slopes = np.maximum(slopes, LEAST_SLOPE)
    state.offsets = (level - cross * state.slopes) / first
    state.offset_variances = second / determinant
    state.slope_variances = first / determinant
    state.covariances = -cross / determinant


def update_values(matrix: RatingMatrix, state: State) -> None:
    """Set the values to their best, given offsets and slopes."""
    slopes = state.slopes
    squared = slopes**2 + state.slope_variances
    product = state.offsets * slopes + state.covariances
    scaled = slopes[matrix.reviewers] * (matrix.scores - state.mean)
    right = matrix.by_item(scaled - product[matrix.reviewers]) / state.rest
    precision = matrix.by_item(squared[matrix.reviewers]) / state.rest
    precision += 1 / state.value_variance
    state.values = right / precision
    state.value_variances = 1 / precision


def update_variances(matrix: RatingMatrix, state: State) -> None:
    """Set the spread of slopes and the rest to their best."""
    away = (state.slopes - 1) ** 2 + state.slope_variances
    total = float(away.sum()) + USUAL_REVIEWERS * USUAL_SPREAD
    state.spread = min(total / (len(away) + USUAL_REVIEWERS), MOST_SPREAD)
    total = float(matrix.weigh(residual_squares(matrix, state)).sum())
    state.rest = max(total / len(matrix.scores), least_rest(state))


def least_rest(state: State) -> float:
    """Return the least variance of the rest beside the others."""
    return max(state.value_variance, state.offset_variance) / MOST


def residual_squares(matrix: RatingMatrix, state: State) -> Scores:
    """Return the expected square of what is left of each score."""
    reviewers, items = matrix.reviewers, matrix.items
    values, slopes = state.values[items], state.slopes[reviewers]
    residuals = matrix.scores - state.mean - state.offsets[reviewers] - slopes * values
    spread = (
        state.offset_variances[reviewers]
        + 2 * values * state.covariances[reviewers]
        + values**2 * state.slope_variances[reviewers]
    )
    fuzzy = state.value_variances[items] * (
        slopes**2 + state.slope_variances[reviewers]
    )
    return np.asarray(residuals**2 + spread + fuzzy)
