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

import functools
import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaincinv

from evenhand.lazy import lazy
from evenhand.models.additive import Equations, Links, additive
from evenhand.models.design import INTEGRATED, build_matrix, normal_scores, standardise
from evenhand.models.nodes import Node, node_at
from evenhand.models.reliability import reliable_matrix
from evenhand.models.solver import one_thread
from evenhand.randomness import pick_places, standard_normal, stream, uniforms

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.arrays import Table
    from evenhand.models import bradley_terry
    from evenhand.models.additive import Sums
    from evenhand.models.design import Fit, RatingMatrix, Variances
    from evenhand.ratings import Ratings

    # From two uniforms a draw, and normal units for each item, to means and deviations.
    Spread = Callable[[Table, Table], tuple[Table, Table]]
else:
    bradley_terry = lazy("evenhand.models.bradley_terry")

# Logarithms of the ratios of offsets, looked at closer where needed, and of values.
OFFSETS, CLOSER, ENOUGH, ZOOMS = np.linspace(-9.0, 9.0, 9), 9, 4, 5
VALUES = np.arange(-9.0, 14.0, 0.25)
# A difference in log probability beyond which nothing is drawn.
NEGLIGIBLE = 8.0
# A part of `adaptive` with less weight than this does not show.
SLIGHT = 0.02
# An error beside which no difference counts.
UNKNOWN = 1e6
# Middles of the steps of the grid of uniforms: 0 itself has no quantile.
HALF_STEP = 2.0**-54


def draw_from_scores(
    ratings: Ratings, parts: Variances | None, number: int, seed: int
) -> Table:
    """Draw the values of all items together by scores with an offset for each reviewer.

    Args:
        ratings: The ratings.
        parts: Fitted variances, for many items.
        number: How many draws.
        seed: Where they come from.

    Returns:
        A row of values for each draw; each row has mean 0.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 8, 2])
        >>> draw_from_scores(ratings, None, 5, 7).shape
        (5, 3)
    """
    data = _sums(ratings, ratings.scores)
    return _draw(ratings, functools.partial(_of_scores, *data, parts), number, seed)


def draw_from_means(ratings: Ratings, number: int, seed: int) -> Table:
    """Draw values by the plain means of the items' scores; see `draw_from_scores`."""
    many = ratings.n_items > INTEGRATED
    parts = additive(ratings).variances if many else None
    data = _sums(ratings, ratings.scores)
    spread = functools.partial(_of_scores, *data, parts, means=True)
    return _draw(ratings, spread, number, seed)


def draw_from_orders(ratings: Ratings, number: int, seed: int) -> Table:
    """Draw values by each reviewer's order; see `draw_from_scores`."""
    return _draw(
        ratings, functools.partial(bradley_terry.draw_by_orders, ratings), number, seed
    )


def draw_from_both(
    ratings: Ratings, fit: Fit, number: int, seed: int, *, reliabilities: bool = False
) -> Table:
    """Draw values by scores and orders, as `adaptive` weighs them in its fit."""
    if fit.rho == 1 or ratings.kind != "scores":
        return draw_from_orders(ratings, number, seed)
    data = _sums(ratings, normal_scores(ratings.scores))
    if reliabilities:
        data = _sums_of(reliable_matrix(ratings, ratings.scores)[0])
    spread = functools.partial(_of_adaptive, ratings, fit, data)
    return _draw(ratings, spread, number, seed)


def _draw(ratings: Ratings, spread: Spread, number: int, seed: int) -> Table:
    shape = number, ratings.n_items + 2
    chance = uniforms(stream(seed, "model draws"), shape) + HALF_STEP
    with one_thread(ratings.n_items):
        values = np.add(*spread(chance[:, :2], standard_normal(chance[:, 2:])))
    return np.asarray(values - values.mean(axis=1, keepdims=True))


def _sums(ratings: Ratings, scores: Table) -> tuple[Links, Sums]:
    return _sums_of(build_matrix(ratings, scores))


def _sums_of(matrix: RatingMatrix) -> tuple[Links, Sums]:
    links = Links(matrix)
    return links, links.add_up(matrix.scores[:, None])


def _of_scores(
    links: Links,
    sums: Sums,
    parts: Variances | None,
    lots: Table,
    units: Table,
    *,
    means: bool = False,
) -> tuple[Table, Table]:
    """Return means and deviations at ratios drawn from their posterior, or fitted.

    Args:
        links: Who rated what; items are kept.
        sums: Sums of the scores, as one column.
        parts: Fitted variances, for many items.
        lots: Two uniforms for each draw.
        units: Normal units for each draw and item.
        means: Whether plain means are what is known.
    """
    freedom, many = max(round(links.size) - 1, 1), len(links.counts) > INTEGRATED
    # Rounding leaves about this much of the squares however well the model fits.
    least = 1e-12 * np.where(sums.squares > 0, sums.squares, 1.0)
    offsets, values = OFFSETS, VALUES
    if many and parts is not None:
        ratios = np.array([[parts.reviewer], [parts.item]]) / max(parts.rest, 1e-300)
        offsets, values = np.log(np.clip(ratios, 1e-6, 1e6))
    for zoom in range(ZOOMS + 1):
        nodes = [node_at(links, sums, math.exp(log)) for log in offsets]
        profiles = [node.profile(np.exp(values), freedom, least) for node in nodes]
        squares, likely = np.moveaxis(np.array(profiles)[..., 0], 1, 0)
        ratios = 1 + np.exp(values) + np.exp(offsets)[:, None]
        fits = values + offsets[:, None] - 3 * np.log(ratios) - likely / 2
        best = fits.max(axis=1)
        near = np.flatnonzero(best > best.max() - NEGLIGIBLE)
        if many or len(near) >= ENOUGH or zoom == ZOOMS:
            break
        ends = max(near[0] - 1, 0), min(near[-1] + 1, len(offsets) - 1)
        offsets = np.linspace(offsets[ends[0]], offsets[ends[1]], CLOSER)
    place = pick_places(fits.ravel(), lots[:, 0])
    drawn = float(freedom) if many else 2 * gammaincinv(freedom / 2, lots[:, 1])
    noise = np.sqrt(squares.ravel()[place] / drawn)
    at, value = np.divmod(place, len(values))
    middle, away = np.empty_like(units), np.empty_like(units)
    for number in np.unique(at).tolist():
        rows, node = at == number, nodes[number]
        if means:
            node = node_of_means(links, sums, node, math.exp(offsets[number]))
        # Units times a symmetric root of the covariance, which does not depend on the
        # signs of the axes.
        variances = 1 / (node.known + np.exp(-values[value[rows], None]))
        spread = (units[rows] @ node.axes) * np.sqrt(variances) * noise[rows, None]
        middle[rows] = (node.pull[:, 0] * variances) @ node.axes.T
        away[rows] = spread @ node.axes.T
    return middle, away


def node_of_means(links: Links, sums: Sums, node: Node, ratio: float) -> Node:
    """Return what the means of the items' scores say in place of all ratings."""
    counts = links.counts
    rated = np.where(counts > 0, counts, 1.0)
    table = links.gram(np.full_like(links.loads, ratio))[1:, 1:]
    table /= np.outer(rated, rated)
    # Of an item without ratings nothing is known.
    table[np.diag_indices(len(rated))] += np.where(counts > 0, 1 / rated, 1e9)
    table = np.asarray(np.linalg.inv(table), dtype=np.float64)
    level = table.sum(axis=1)
    table -= np.outer(level, level) / level.sum()
    information, axes = np.linalg.eigh((table + table.T) / 2)
    pull = axes.T @ (table @ (sums.kept[1:] / rated[:, None]))
    return node._replace(axes=axes, known=np.maximum(information, 0), pull=pull)


def _of_adaptive(
    ratings: Ratings, fit: Fit, data: tuple[Links, Sums], lots: Table, units: Table
) -> tuple[Table, Table]:
    """Spread draws about the estimates as those of the two parts are."""
    weight = (fit.rho or 0.0) ** 2
    middle, away = _of_scores(*data, fit.variances, lots, units)
    spread = middle.std(axis=1, keepdims=True)
    estimates = standardise(fit.estimates)
    if weight < SLIGHT:
        return spread * estimates, away
    ordinal, ordinal_away = bradley_terry.draw_by_orders(ratings, lots, units)
    ordinal_spread = ordinal.std(axis=1, keepdims=True)
    # The same units move both parts, as the same ratings made both. Each counts in its
    # own spread, which may be 0: the other's multiplies where its own would divide.
    away = (1 - weight) * ordinal_spread * away + weight * spread * ordinal_away
    return spread * ordinal_spread * estimates, away


def adaptive_errors(
    ratings: Ratings, fit: Fit, *, reliabilities: bool = False
) -> Table:
    """Return a standard error for each estimate of `adaptive`, by itself.

    Those of the additive part and of Bradley-Terry come from the same ratings, so they
    are added as if they went together.

    Args:
        ratings: The ratings that the fit was made of.
        fit: What `adaptive` made of them.
        reliabilities: As of `adaptive`.

    Returns:
        Errors by item code, in the unit of the estimates.

    Examples:
        >>> from evenhand.models.adaptive import adaptive
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 8, 2])
        >>> errors = adaptive_errors(ratings, adaptive(ratings))
        >>> bool((errors > 0).all())
        True
    """
    weight, errors = (fit.rho or 0.0) ** 2, np.zeros(ratings.n_items)
    if fit.variances is not None and weight < 1 - SLIGHT:
        matrix = build_matrix(ratings)
        if reliabilities:
            matrix, _ = reliable_matrix(ratings, ratings.scores)
        errors += (1 - weight) * _additive_errors(matrix, fit.variances)
    if weight > SLIGHT:
        ordinal = bradley_terry.bradley_terry(ratings)
        spread = float(np.std(ordinal.estimates))
        errors += weight * (np.asarray(ordinal.errors) / spread if spread > 0 else 1.0)
    return errors


def _additive_errors(matrix: RatingMatrix, parts: Variances) -> Table:
    """Return errors of predicted values in units of the spread of the predictions."""
    errors = Equations(matrix).errors(parts)[1]
    explained = float(np.mean(parts.item - errors**2))
    if not explained > 0:
        # The model tells no two items apart: every order is as good as another.
        return np.full(matrix.n_items, UNKNOWN)
    return errors / math.sqrt(explained)
