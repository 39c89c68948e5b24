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

from evenhand.calibration import solver
from evenhand.calibration.additive import MOST, Links, equations_of
from evenhand.calibration.design import Design, design, require_rated
from evenhand.calibration.solver import Definite, one_thread
from evenhand.errors import RatingsError

if TYPE_CHECKING:
    from evenhand.arrays import Codes, Scores, Table
    from evenhand.calibration.additive import Sums
    from evenhand.ratings import Ratings

# Items up to which a is looked at on a grid, and the grid, as logarithms.
INTEGRATED, RATIOS = 100, np.linspace(-7.0, 7.0, 29)


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
    links = Links(made)
    sums = links.add_up(made.scores)
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
    parts = equations_of(made).fit(made.scores).variances
    return np.array([min(parts.reviewer / max(parts.rest, 1e-300), MOST)])


class _At(NamedTuple):
    """Values and their errors at one a, and its log likelihood."""

    values: Table
    squares: Table
    shared: Table
    fit: float


def _solve(links: Links, sums: Sums, ratio: float, columns: Codes, freedom: int) -> _At:
    weights, n_items = ratio / (1 + ratio * links.loads), len(links.counts)
    matrix, back = links.matrix[:, 1:], links.back[1:]

    def product(columns: Table) -> Table:
        moved = back @ (weights[:, None] * (matrix @ columns))
        return np.asarray(links.counts[:, None] * columns - moved)

    table = links.table(ratio)[1:, 1:] if n_items <= solver.TABLE else None
    inside = Definite(product, links.diagonal(ratio)[1:], table)
    right = np.zeros((n_items, 1 + len(columns)))
    right[:, 0] = links.pull(sums, ratio)[1:]
    right[columns, np.arange(len(columns)) + 1] = 1.0
    found = inside.solve(right)
    left = sums.squares - weights @ sums.dropped**2 - right[:, 0] @ found[:, 0]
    # Rounding leaves about this much of the squares however well the model fits.
    rest = float(np.maximum(left, 1e-15 * sums.squares)) / freedom
    # Beyond a table there is one ratio alone, so its likelihood does not matter.
    size = np.nan_to_num(inside.determinant) + np.log1p(ratio * links.loads).sum()
    fit = -(freedom * np.log(rest or 1.0) + size) / 2
    level = ratio / len(links.loads)
    squares = np.maximum(inside.inverse_diagonal() - level, 0)
    return _At(found[:, 0], rest * squares, rest * (found[:, 1:] - level), fit)
