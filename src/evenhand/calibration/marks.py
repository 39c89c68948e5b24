"""Each item's mean score, less what is known of its reviewers' strictness.

The model is score = value + offset + rest. Values are taken as they come, so nobody's
is drawn to the middle; offsets are normal with a times the variance of the rest, so
they are taken out only as far as the ratings show that reviewers differ. At a = 0
the values are plain means, at a = infinity those of least squares with offsets. Up to
100 items a is drawn from all that the ratings allow: every share a / (1 + a) is equally
likely beforehand. Beyond, the fitted one is taken.

With offsets eliminated (see `crossed`) values have the covariance A^-1, in units of the
rest's variance. Ratings say nothing about a shift of all offsets against all values; it
has variance a / R for R reviewers, the same for each two items. So values plus the mean
offset, which are what these reviewers would give on average, have A^-1 - a / R.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.calibration import _solver
from evenhand.calibration._solver import (
    conjugate_gradients,
    inverse_diagonal,
    inverse_root,
    one_thread,
)
from evenhand.calibration.crossed import MOST, Equations, with_items
from evenhand.calibration.design import Design, design, require_rated
from evenhand.errors import RatingsError

if TYPE_CHECKING:
    from evenhand.arrays import Codes, Scores, Table
    from evenhand.calibration.crossed import Links, Sums
    from evenhand.ratings import Ratings

# Items up to which a is looked at on a grid, and the grid, as logarithms.
INTEGRATED, RATIOS = 100, np.linspace(-7.0, 7.0, 29)
TOLERANCE = 1e-12


class Means(NamedTuple):
    """Values of items on the scale of the scores.

    Attributes:
        values: What these reviewers would give each item on average.
        squares: Squared standard errors.
        shared: Covariances of each item's error with those of chosen items.
        freedom: Degrees of freedom of the errors, for Student's t.
    """

    values: Scores
    squares: Scores
    shared: Table
    freedom: float


def adjusted_means(
    ratings: Ratings, chosen: Codes | None = None, *, offsets: bool = True
) -> Means:
    """Return each item's mean score, less what is known of its reviewers' strictness.

    Args:
        ratings: Scores.
        chosen: Items with which covariances are wanted.
        offsets: Whether reviewers differ at all; if not, these are plain means.

    Raises:
        RatingsError: If there are no scores, an item has none, or none has two.

    References:
        Henderson (1975), Best linear unbiased estimation and prediction.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(list("aabbcc"), list("xyyzzx"), [9, 7, 3, 2, 6, 9])
        >>> adjusted_means(ratings, offsets=False).values.tolist()
        [9.0, 5.0, 4.0]
        >>> adjusted_means(ratings).values.round(1).tolist()
        [8.0, 5.5, 4.5]
    """
    made = design(ratings)
    require_rated(ratings, "grade")
    freedom = len(made.scores) - made.n_items
    if freedom == 0:
        raise RatingsError(
            "items must have two scores or more, got one each, which does not show how "
            "large errors are. Take the scores as marks, or collect more."
        )
    links, sums = with_items(made)
    columns = np.array([], dtype=np.int64) if chosen is None else chosen
    ratios = _ratios(made) if offsets else np.zeros(1)
    with one_thread(made.n_items):
        found = [_solve(links, sums, ratio, columns, freedom) for ratio in ratios]
    fits = np.array([one.fit for one in found])
    if len(fits) > 1:
        fits += np.log(ratios) - 2 * np.log1p(ratios)
    share = np.exp(fits - fits.max())
    share /= share.sum()
    every = np.stack([one.values for one in found])
    values = share @ every
    away = every - values
    squares = share @ np.stack([one.squares for one in found]) + share @ away**2
    shared = np.tensordot(share, np.stack([one.shared for one in found]), 1)
    shared += (share * away.T) @ away[:, columns]
    unit = made.unit
    return Means(
        (values + made.centre) * unit, squares * unit**2, shared * unit**2, freedom
    )


def _ratios(made: Design) -> Table:
    if made.n_items <= INTEGRATED:
        return np.exp(RATIOS)
    parts = Equations(made).fit(made.scores).variances
    return np.array([min(parts.reviewer / max(parts.rest, 1e-300), MOST)])


class _At(NamedTuple):
    """Values and their errors at one a, and its log likelihood."""

    values: Table
    squares: Table
    shared: Table
    fit: float


def _solve(links: Links, sums: Sums, ratio: float, columns: Codes, freedom: int) -> _At:
    weights = ratio / (1 + ratio * links.loads)
    right = links.pull(sums, ratio)[1:]
    wanted = np.zeros((len(right), len(columns)))
    wanted[columns, np.arange(len(columns))] = 1.0
    size = 0.0
    if len(right) <= _solver.TABLE:
        root = inverse_root(np.diag(links.counts) - links.gram(weights)[1:, 1:])
        values = root.T @ (root @ right)
        squares, shared = (root**2).sum(axis=0), root.T @ (root @ wanted)
        size = -2 * float(np.log(np.diag(root)).sum())
    else:
        values, squares, shared = _by_passes(links, weights, right, wanted)
    left = sums.squares - float(weights @ sums.dropped**2) - float(right @ values)
    # Rounding leaves about this much of the squares however well the model fits.
    left = max(left, 1e-15 * sums.squares)
    size += float(np.log1p(ratio * links.loads).sum())
    rest, level = left / freedom, ratio / len(links.loads)
    fit = -(freedom * np.log(rest or 1.0) + size) / 2
    return _At(
        values, rest * np.maximum(squares - level, 0), rest * (shared - level), fit
    )


def _by_passes(
    links: Links, weights: Table, right: Table, wanted: Table
) -> tuple[Table, Table, Table]:
    matrix, back = links.matrix[:, 1:], links.back[1:]

    def product(columns: Table) -> Table:
        moved = back @ (weights[:, None] * (matrix @ columns))
        return np.asarray(links.counts[:, None] * columns - moved)

    diagonal = links.diagonal(weights)
    columns = np.column_stack([right, wanted])
    found = conjugate_gradients(product, diagonal, columns, tolerance=TOLERANCE)
    return found[:, 0], inverse_diagonal(product, diagonal), found[:, 1:]
