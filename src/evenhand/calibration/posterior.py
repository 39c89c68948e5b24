"""Values of items drawn together, as the ratings leave them.

Ranks depend on differences between items alone, so the joint law of all values counts,
not each item's error. Given the ratios a and b of the variances of offsets and values
to that of the rest, a normal model leaves values with precision (S + I / b) / rest. S
is what the ratings say about differences: offsets and the common level are eliminated,
so its rows add up to 0. With S = Q L Q' another b costs a vector and not a table.

Few ratings leave the ratios uncertain. Up to 40 items they are drawn from their
posterior, where beforehand every division of the variance among offsets, values and
rest is equally likely. Beyond, the fitted ones are taken.

References:
    Gelman et al. (2013), Bayesian Data Analysis, sections 5.4 and 5.7.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand._randomness import stream, uniforms
from evenhand.calibration._orders import orders
from evenhand.calibration._ranks import normal_scores
from evenhand.calibration.additive import additive
from evenhand.calibration.results import standardised

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from evenhand.calibration._orders import Orders
    from evenhand.calibration.results import Fit, Variances
    from evenhand.ratings import Ratings

    Table = NDArray[np.float64]
    Codes = NDArray[np.int64]

# Items up to which ratios of variances are drawn rather than fitted.
INTEGRATED = 40
# Logarithms of the ratios of offsets, looked at closer where needed, and of values.
OFFSETS, CLOSER, ENOUGH, ZOOMS = np.linspace(-9.0, 9.0, 9), 9, 4, 5
VALUES = np.arange(-9.0, 14.0, 0.25)
# Of values by order alone, in squared logits.
ORDINAL = np.arange(-4.0, 4.5, 0.5)
# A difference in log probability beyond which nothing is drawn.
NEGLIGIBLE = 8.0
# Offsets that may be anything.
ANY_OFFSET = 1e6
# A logistic comparison is as uncertain as that of two ratings of this variance.
LOGISTIC = math.pi**2 / 6
# Variance of values before it is fitted, fits, and Newton's steps in each.
PRIOR, FITS, STEPS, DONE = 2.5, 2, 50, 1e-6
# Comparisons that a priori say that wins vary as expected, and pairs looked at at once.
FEW, PAIRS = 5.0, 2_000_000
# The ordinal part of `adaptive` with less weight than this does not show.
SLIGHT = 0.02
# Cells up to which who rated what is a full table.
DENSE = 2_000_000
# Middles of the steps of the grid of uniforms: 0 itself has no quantile.
HALF_STEP = 2.0**-54


class Said(NamedTuple):
    """What ratings say about differences.

    Attributes:
        table: S.
        pull: S t for the plain estimates t.
    """

    table: Table
    pull: Table


class Known(NamedTuple):
    """What is known of differences, by the axes of S.

    Attributes:
        axes: Q, a column for each axis.
        information: L, how much is known along each.
        pull: Q' S t for the plain estimates t.
    """

    axes: Table
    information: Table
    pull: Table


class Crossed:
    """Scores by reviewer and item, from which offsets and level are eliminated."""

    def __init__(self, ratings: Ratings, scores: Table) -> None:
        """Add up the scores."""
        sizes = (ratings.n_reviewers, ratings.n_items)
        who, what = ratings.reviewer_codes, ratings.item_codes
        self.loads = np.bincount(who, minlength=sizes[0]).astype(np.float64)
        self.counts = np.bincount(what, minlength=sizes[1]).astype(np.float64)
        unit = scores / (float(np.abs(scores).max()) or 1.0)
        unit = unit - unit.mean()
        self.squares = float(unit @ unit)
        self.by_reviewer = np.bincount(who, unit, sizes[0])
        self.by_item = np.bincount(what, unit, sizes[1])
        self.links = _links(who, what, sizes)

    def shared(self, weights: Table) -> Table:
        """Add up reviewers' weights over the pairs of items that they rated."""
        if isinstance(self.links, np.ndarray):
            return np.asarray(self.links.T @ (self.links * weights[:, None]))
        found = self.links.T @ (self.links * weights[:, None]).tocsr()
        return np.asarray(found.toarray())

    def of_ratings(self, ratio: float) -> tuple[Said, float, float]:
        """Return what all ratings say, the squares left and the log determinant."""
        weights = ratio / (1 + ratio * self.loads)
        level = self.counts - self.links.T @ (weights * self.loads)
        total = self.by_item - self.links.T @ (weights * self.by_reviewer)
        size = float((self.loads / (1 + ratio * self.loads)).sum())
        away = float((self.by_reviewer / (1 + ratio * self.loads)).sum())
        table = np.diag(self.counts) - self.shared(weights)
        table -= np.outer(level, level) / size
        squares = self.squares - float(weights @ self.by_reviewer**2) - away**2 / size
        determinant = float(np.log1p(ratio * self.loads).sum() + np.log(size))
        return Said(table, total - level * away / size), squares, determinant

    def of_means(self, ratio: float) -> Said:
        """Return what the means of the items' scores say."""
        rated = np.maximum(self.counts, 1)
        table = self.shared(np.full_like(self.loads, ratio)) / np.outer(rated, rated)
        # Of an item without ratings nothing is known.
        table[np.diag_indices(len(rated))] += np.where(self.counts > 0, 1 / rated, 1e9)
        table = np.linalg.inv(table)
        level = table.sum(axis=1)
        table -= np.outer(level, level) / level.sum()
        return Said(table, table @ (self.by_item / rated))


def _links(who: Codes, what: Codes, sizes: tuple[int, int]) -> Table | csr_array:
    if sizes[0] * sizes[1] <= DENSE:
        found = np.zeros(sizes)
        found[who, what] = 1.0
        return found
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to load

    return csr_array((np.ones(len(who)), (who, what)), sizes)


def _known(said: Said) -> Known:
    information, axes = np.linalg.eigh((said.table + said.table.T) / 2)
    return Known(axes, np.maximum(information, 0), axes.T @ said.pull)


def drawn_values(ratings: Ratings, fit: Fit, number: int, seed: int) -> Table:
    """Draw the values of all items together.

    Args:
        ratings: The ratings.
        fit: What `adaptive`, `additive` or `bradley_terry` made of them, or plain means
            as method "mean".
        number: How many draws.
        seed: Where they come from.

    Returns:
        A row of values for each draw; each row has mean 0.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 8, 2])
        >>> drawn_values(ratings, additive(ratings), 5, 7).shape
        (5, 3)
    """
    from scipy.special import ndtri  # noqa: PLC0415 - slow to load

    source = stream(seed, "model draws")
    chance = uniforms(source, (number, ratings.n_items + 2)) + HALF_STEP
    lots, units = chance[:, :2], ndtri(chance[:, 2:])
    if fit.method == "bradley-terry" or ratings.kind != "scores":
        middle, away = _of_orders(ratings, lots, units)
    elif fit.method == "adaptive":
        middle, away = _of_adaptive(ratings, fit, lots, units)
    else:
        middle, away = _of_scores(ratings, fit, lots, units)
    values = middle + away
    return np.asarray(values - values.mean(axis=1, keepdims=True))


def _of_scores(
    ratings: Ratings, fit: Fit, lots: Table, units: Table
) -> tuple[Table, Table]:
    crossed = Crossed(ratings, ratings.scores)
    means = fit.method == "mean"
    if ratings.n_items > INTEGRATED:
        fixed = (additive(ratings, shrink=True) if means else fit).variances
        return _fitted(crossed, fixed, units, means=means)
    # Least squares has no components of variance, as offsets may be anything.
    any_offset = not means and fit.variances is None
    logs = np.log([ANY_OFFSET]) if any_offset else OFFSETS
    return _integrated(crossed, logs, lots, units, means=means)


def _of_adaptive(
    ratings: Ratings, fit: Fit, lots: Table, units: Table
) -> tuple[Table, Table]:
    """Spread draws about the estimates as those of the two parts are."""
    weight = 1.0 if fit.rho is None else fit.rho**2
    crossed = Crossed(ratings, normal_scores(ratings.scores))
    if ratings.n_items > INTEGRATED:
        middle, away = _fitted(crossed, fit.variances, units)
    else:
        middle, away = _integrated(crossed, OFFSETS, lots, units)
    spread = middle.std(axis=1, keepdims=True)
    estimates = standardised(fit.estimates)
    if weight < SLIGHT:
        return spread * estimates, away
    ordinal, ordinal_away = _of_orders(ratings, lots, units)
    ordinal_spread = ordinal.std(axis=1, keepdims=True)
    # The same units move both parts, as the same ratings made both. Each counts in its
    # own spread, which may be 0: the other's multiplies where its own would divide.
    away = (1 - weight) * ordinal_spread * away + weight * spread * ordinal_away
    return spread * ordinal_spread * estimates, away


def _fitted(
    crossed: Crossed, parts: Variances | None, units: Table, *, means: bool = False
) -> tuple[Table, Table]:
    """Return the mean and the deviations at fitted ratios."""
    offset, value = ANY_OFFSET, 1.0
    if parts is not None:
        rest = max(parts.rest, 1e-300)
        offset, value = (
            min(max(part / rest, 1e-6), 1e6) for part in (parts.reviewer, parts.item)
        )
    said, squares, _ = crossed.of_ratings(offset)
    middle, root, _ = _solved(said, 1 / value)
    left = max(squares - float(said.pull @ middle), 1e-12 * crossed.squares)
    if means:
        middle, root, _ = _solved(crossed.of_means(offset), 1 / value)
    away = math.sqrt(left / max(crossed.loads.sum() - 1, 1)) * units @ root.T
    return np.broadcast_to(middle, away.shape), away


def _solved(said: Said, precision: float) -> tuple[Table, Table, float]:
    """Return mean, root of the covariance, and log determinant of the precision."""
    from scipy.linalg.lapack import dtrtri  # noqa: PLC0415 - slow to load

    table = said.table + precision * np.eye(len(said.pull))
    inverse, _ = dtrtri(np.linalg.cholesky(table), lower=1)
    determinant = -2 * float(np.log(np.diag(inverse)).sum())
    return inverse.T @ (inverse @ said.pull), inverse.T, determinant


def _of_orders(ratings: Ratings, lots: Table, units: Table) -> tuple[Table, Table]:
    """Return means and deviations by the reviewers' orders alone.

    Pairs of an order of k items count 3 / (k + 1) each. They are not independent: wins
    of equal items vary (k + 1) / 3 times as much as in independent pairs. Ties and
    unequal items make wins vary less; how much less is measured.
    """
    found = orders(ratings)
    weights = 3 / (found.loads + 1.0)
    wins = found.by_item(found.wins * weights[found.reviewers])
    pairs = Crossed(ratings, np.zeros(ratings.n_ratings)).shared(weights)
    np.fill_diagonal(pairs, 0)
    values, root, _ = _climbed(pairs, wins, PRIOR, np.zeros(len(wins)))
    kept = len(wins) - float((root**2).sum()) / PRIOR
    excess = _excess(found, weights, values, kept)
    pairs, wins = pairs / excess, wins / excess
    if len(wins) > INTEGRATED:
        variance = PRIOR
        for _ in range(FITS):
            # MacKay's: squares over the number of values that the orders determine.
            variance = max(float(values @ values) / max(kept, 1e-9), 1e-3)
            values, root, _ = _climbed(pairs, wins, variance, values)
            kept = len(wins) - float((root**2).sum()) / variance
        return np.broadcast_to(values, units.shape), units @ root.T
    fits, laws = [], []
    for log in ORDINAL:
        values, root, fit = _climbed(pairs, wins, math.exp(log), values)
        laws.append((values, root))
        fits.append(fit + log - 2 * math.log1p(math.exp(log) / LOGISTIC))
    place = _picked(np.array(fits), lots[:, 0])
    middle = np.stack([values for values, _ in laws])[place]
    away = np.empty_like(units)
    for at in np.unique(place).tolist():
        away[place == at] = units[place == at] @ laws[at][1].T
    return middle, away


def _excess(found: Orders, weights: Table, values: Table, kept: float) -> float:
    """Return how much wins vary, where 1 is what the weights are made for."""
    seen, due = 0.0, 0.0
    for load in np.unique(found.loads[found.loads > 1]).tolist():
        who = np.flatnonzero(found.loads == load)
        step = max(PAIRS // load**2, 1)
        for part in np.split(who, range(step, len(who), step)):
            rows = found.start[part][:, None] + np.arange(load)
            level = values[found.items[rows]]
            share = 1 / (1 + np.exp(level[:, None, :] - level[:, :, None]))
            # An item meets itself with share 1/2, which is no win.
            away = found.wins[rows] - share.sum(axis=2) + 0.5
            seen += weights[part[0]] ** 2 * float((away**2).sum())
            even = float((share * (1 - share)).sum()) - rows.size / 4
            due += weights[part[0]] * even
    freedom = max(float((found.loads - 1).sum()) - kept, 1.0)
    total = freedom + kept
    if due == 0:
        return 1.0
    return (seen / due * total + FEW) / (freedom + FEW)


def _climbed(
    pairs: Table, wins: Table, variance: float, values: Table
) -> tuple[Table, Table, float]:
    """Fit Bradley-Terry to pairs; return values, root of covariance, and fit of it."""
    for _ in range(STEPS):
        gaps = values[:, None] - values
        share = 1 / (1 + np.exp(-gaps))
        slope = wins - (pairs * share).sum(axis=1) - values / variance
        table = -pairs * share * (1 - share)
        table[np.diag_indices(len(wins))] -= table.sum(axis=1)
        move, root, determinant = _solved(Said(table, slope), 1 / variance)
        size = float(np.abs(move).max())
        if size < DONE:
            break
        # A longer step may overshoot where shares are near 0 or 1.
        values = values + move * min(1, 2 / size)
    likely = float(wins @ values) - float((pairs * np.logaddexp(gaps, 0)).sum()) / 2
    likely -= float((pairs.sum(axis=1) * values).sum()) / 2
    likely -= (float(values @ values) / variance + determinant) / 2
    return values, root, likely - len(wins) * math.log(variance) / 2


def _integrated(
    crossed: Crossed, logs: Table, lots: Table, units: Table, *, means: bool = False
) -> tuple[Table, Table]:
    """Return means and deviations at ratios drawn from their posterior.

    Deviations are units times a symmetric root of the covariance, which does not depend
    on the signs of the axes.
    """
    from scipy.special import gammaincinv  # noqa: PLC0415 - slow to load

    freedom = max(crossed.loads.sum() - 1, 1)
    for zoom in range(ZOOMS + 1):
        cells = [_cell(crossed, log, freedom) for log in logs]
        fits = np.stack([cell.fits for cell in cells])
        best = fits.max(axis=1)
        near = np.flatnonzero(best > best.max() - NEGLIGIBLE)
        if len(near) >= ENOUGH or len(logs) == 1 or zoom == ZOOMS:
            break
        ends = max(near[0] - 1, 0), min(near[-1] + 1, len(logs) - 1)
        logs = np.linspace(logs[ends[0]], logs[ends[1]], CLOSER)
    place = _picked(fits.ravel(), lots[:, 0])
    squares = np.concatenate([cell.squares for cell in cells])[place]
    rest = np.sqrt(squares / (2 * gammaincinv(freedom / 2, lots[:, 1])))
    at, value = np.divmod(place, len(VALUES))
    middle, away = np.empty_like(units), np.empty_like(units)
    for one in np.unique(at).tolist():
        rows = np.flatnonzero(at == one)
        law = cells[one].law
        if means:
            law = _known(crossed.of_means(math.exp(logs[one])))
        left = 1 / (law.information + np.exp(-VALUES[value[rows], None]))
        middle[rows] = (law.pull * left) @ law.axes.T
        moved = (units[rows] @ law.axes) * np.sqrt(left) * rest[rows, None]
        away[rows] = moved @ law.axes.T
    return middle, away


class _Cell(NamedTuple):
    """One ratio of offsets: what is known, squares left and log posteriors by value."""

    law: Known
    squares: Table
    fits: Table


def _cell(crossed: Crossed, log: float, freedom: float) -> _Cell:
    said, squares, determinant = crossed.of_ratings(math.exp(log))
    law = _known(said)
    spent = (law.pull**2 / (law.information + np.exp(-VALUES)[:, None])).sum(axis=1)
    # Rounding leaves about this much however well the model fits.
    left = np.maximum(squares - spent, 1e-12 * (crossed.squares or 1.0))
    found = np.log1p(np.exp(VALUES)[:, None] * law.information).sum(axis=1)
    fits = -(determinant + found + freedom * np.log(left)) / 2
    fits += VALUES + log - 3 * np.log(1 + np.exp(VALUES) + math.exp(log))
    return _Cell(law, left, fits)


def _picked(fits: Table, lots: Table) -> Codes:
    shares = np.cumsum(np.exp(fits - fits.max()))
    place = np.searchsorted(shares, lots * shares[-1])
    return np.asarray(np.minimum(place, len(fits) - 1), dtype=np.int64)
