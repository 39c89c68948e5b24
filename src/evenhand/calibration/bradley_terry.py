"""Bradley-Terry on each reviewer's own comparisons: orders only, no scales."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand._kernels import calibration as kernels
from evenhand._results import Notice
from evenhand.calibration._design import data_notices, group_notices
from evenhand.calibration._orders import Orders, orders
from evenhand.calibration._reml import dot
from evenhand.calibration._solver import (
    Room,
    conjugate_gradients,
    inverse_diagonal,
    signs,
)
from evenhand.calibration._tables import ERROR_PROBES, TABLE, error_probes
from evenhand.calibration.results import Fit, frozen, settled
from evenhand.errors import OptionError, unknown
from evenhand.posets.comparisons import components

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.calibration._solver import Product
    from evenhand.ratings import Ratings

    Codes = NDArray[np.int64]
    Table = NDArray[np.float64]

PRIOR_PRECISION = 0.4
PAIR_WEIGHTS = ("2/k", "1")
# Items up to which Newton's steps come from a table.
SMALL = 128
STEPS = 100
HALVINGS = 40
TOLERANCE = 1e-10
# Beyond so many items a reviewer's pairs are summed up as a smooth function.
LONG = 256


def bradley_terry(
    ratings: Ratings,
    *,
    prior_precision: float = PRIOR_PRECISION,
    pair_weight: str = "2/k",
) -> Fit:
    """Fit the values under which the reviewers' comparisons are most likely.

    Item a is put above b with probability 1 / (1 + exp(b - a)). A tie is half a win for
    both. Values have independent normal priors of mean 0, so that they exist and are
    finite on any graph, and items that were never compared have 0.

    Args:
        ratings: Scores, ranks or comparisons; only each reviewer's order is used.
        prior_precision: One over the prior's variance, positive.
        pair_weight: "2/k" gives each pair of a reviewer of k items the weight 2 / k, so
            that a reviewer counts as k - 1 comparisons; "1" counts every pair fully.

    Returns:
        The fit. Standard errors, against the mean of all items, come from the curvature
        of the posterior, exactly up to 400 items and by probes beyond; they take the
        pairs for independent. Pairs of
        reviewers of more than 256 items are summed up by interpolation, to 1e-12, so
        that time and memory grow with the number of ratings.

    Raises:
        OptionError: If an option is out of range.

    References:
        Bradley and Terry (1952), Rank analysis of incomplete block designs.
        Caron and Doucet (2012), Efficient Bayesian inference for generalized
        Bradley-Terry models.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> fit = bradley_terry(Ratings.from_comparisons(["x", "y"], ["y", "z"]))
        >>> (fit.estimates.round(3) + 0).tolist()
        [0.784, 0.0, -0.784]
    """
    _check(prior_precision, pair_weight)
    found = orders(ratings)
    task = _task(found, prior_precision, pair_weight)
    values, steps, converged = _maximise(task)
    groups = components(found.graph)
    notices = data_notices(ratings, prior=True) + group_notices(
        groups, "each group's values lie around 0, and groups are not compared"
    )
    if not converged:
        text = "The fit stopped before it had settled; estimates are approximate."
        notices.append(Notice("not_converged", text))
    squared, how = _squared_errors(task, values)
    # Comparisons say nothing about the common level, which keeps the prior's variance.
    squared = np.maximum(squared - 1 / (prior_precision * len(values)), 0)
    return Fit(
        method="bradley-terry",
        estimates=settled(values),
        groups=groups,
        errors=frozen(np.sqrt(squared)),
        error_method=how,
        iterations=steps,
        converged=converged,
        notices=tuple(notices),
    )


def order_values(found: Orders) -> Table:
    """Return the values alone, with the usual prior and weights."""
    return _maximise(_task(found, PRIOR_PRECISION, "2/k"))[0]


class _Bundles(NamedTuple):
    """Reviewers' items and the weights of their pairs."""

    start: Codes
    items: Codes
    weights: Table


class _Task(NamedTuple):
    """What the values are fitted to."""

    every: _Bundles
    short: _Bundles
    long: _Bundles
    wins: Table
    precision: float


def _check(prior_precision: float, pair_weight: str) -> None:
    if not 0 < prior_precision < np.inf:
        raise OptionError(
            f"prior_precision must be a positive number, got {prior_precision!r}."
        )
    if pair_weight not in PAIR_WEIGHTS:
        raise OptionError(unknown("pair_weight", pair_weight, PAIR_WEIGHTS))


def _task(found: Orders, precision: float, pair_weight: str) -> _Task:
    loads = found.loads.astype(np.float64)
    weights = 2 / loads if pair_weight == "2/k" else np.ones_like(loads)
    wins = found.by_item(found.wins * weights[found.reviewers])
    return _Task(
        every=_Bundles(found.start, found.items, weights),
        short=_bundles(found, weights, found.loads <= LONG),
        long=_bundles(found, weights, found.loads > LONG),
        wins=wins,
        precision=precision,
    )


def _bundles(found: Orders, weights: Table, chosen: NDArray[np.bool_]) -> _Bundles:
    start = np.concatenate([[0], np.cumsum(found.loads[chosen])]).astype(np.int64)
    return _Bundles(start, found.items[chosen[found.reviewers]], weights[chosen])


def _maximise(task: _Task) -> tuple[Table, int, bool]:
    """Climb by Newton's steps, shortened where they overshoot.

    The log posterior is strictly concave, so there is one peak.
    """
    values = np.zeros(len(task.wins))
    slope, curvature = _slope(task, values)
    for step in range(1, STEPS + 1):
        move = _move(task, values, slope, curvature)
        rise = dot(slope, move)
        if rise <= TOLERANCE**2 * len(values):
            return values, step, True
        for _ in range(HALVINGS):
            after = values + move
            slope, curvature = _slope(task, after)
            # Past the peak the slope along the step is negative; far past it is steep.
            if dot(slope, move) >= -rise / 2:
                break
            move, rise = move / 2, rise / 2
        values = after
    return values, STEPS, False


def _slope(task: _Task, values: Table) -> tuple[Table, Table]:
    wins, curvature = kernels.pair_slopes(*task.short, np.exp(values))
    if len(task.long.weights):
        more_wins, more_curvature = kernels.smooth_slopes(*task.long, values)
        wins, curvature = wins + more_wins, curvature + more_curvature
    return task.wins - wins - task.precision * values, curvature + task.precision


def _move(task: _Task, values: Table, slope: Table, curvature: Table) -> Table:
    if len(values) <= SMALL:
        return np.asarray((_inverse(task, values) * slope).sum(axis=1))
    found, _ = conjugate_gradients(
        _product(task, values), curvature, slope[:, None], tolerance=1e-4
    )
    return found[:, 0]


def _product(task: _Task, values: Table) -> Product:
    """Return the product with the information."""
    strength = np.exp(values)
    room = Room()

    def product(columns: Table) -> Table:
        found = room.table("product", *columns.shape)
        np.multiply(columns, task.precision, out=found)
        kernels.pair_product(*task.short, strength, columns, found)
        if len(task.long.weights):
            found += kernels.smooth_product(*task.long, values, columns)
        return found

    return product


def _inverse(task: _Task, values: Table) -> Table:
    table = kernels.pair_table(*task.every, np.exp(values))
    table[np.diag_indices(len(values))] += task.precision
    return kernels.symmetric_inverse(table)[0]


def _squared_errors(task: _Task, values: Table) -> tuple[Table, str]:
    if len(values) <= TABLE:
        return np.diag(_inverse(task, values)).copy(), "exact"
    number = error_probes(len(values))
    if len(task.long.weights):
        # Items that met many others hardly move together, so few probes will do.
        number = ERROR_PROBES
    probes = signs("errors", len(values), number)
    _, diagonal = _slope(task, values)
    product = _product(task, values)
    solved, _ = conjugate_gradients(product, diagonal, probes, tolerance=1e-4)
    squared = inverse_diagonal(product, diagonal, probes, solved)
    return np.minimum(squared, 1 / task.precision), "probes"
