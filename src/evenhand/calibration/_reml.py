"""Two crossed random effects by restricted maximum likelihood.

The model is y = mu + u + v + e with independent normal effects. With s = sqrt(gamma)
for the ratio gamma of an effect's variance to that of e, and u = s w, the equations for
(mu, w) stay well posed down to gamma = 0. One effect is "dropped": its block of
the equations is diagonal, so it is eliminated, and what is left is a system over the
"kept" effect and mu. While that fits a table the likelihood is exact; beyond, traces
come from fixed random probes, whose error shrinks with the number of levels.

References:
    Patterson and Thompson (1971), Recovery of inter-block information.
    Gilmour, Thompson and Cullis (1995), Average information REML.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.calibration._tables import Links

    Table = NDArray[np.float64]

# Ratios of variances; beyond these an effect is nothing, or all there is.
LEAST, MOST = 1e-6, 1e4
STEPS = 60
HALVINGS = 30
# Squared length of a step, in standard errors of the ratios, that no longer matters.
DONE = 1e-9
DONE_PROBED = 1e-6
# Where traces are probed, steps this short that do not get much shorter follow the
# rounding of the solutions, whose share grows with the number of ratings.
WANDERING = 1e-4
FARTHEST = 2.0
# Under this a step that does not raise the likelihood is rounding.
ROUNDING = 1e-6
TINY = 1e-300
MANY = 10_000


class Sums(NamedTuple):
    """What the equations need of one vector of values, one for each rating.

    Attributes:
        total: Its sum.
        dropped: Its sums over the dropped effect's levels.
        kept: Its sums over the kept effect's levels.
    """

    total: float
    dropped: Table
    kept: Table


class Effects(NamedTuple):
    """A solution: the mean and both effects, in the unit of the values."""

    mean: float
    dropped: Table
    kept: Table


class Traces(NamedTuple):
    """Derivatives of the likelihood's determinant.

    Attributes:
        first: tr(P K) of the dropped and the kept effect.
        second: tr(P K P K) of all pairs, 2 x 2, or None if unknown.
    """

    first: Table
    second: Table | None


class System(Protocol):
    """The equations of one set of ratings, at any ratios.

    Attributes:
        links: Who rated what.
        loads: Ratings of each dropped and each kept level.
        tolerance: Squared length of a step that ends the search.
        learns: Whether answers depend on what was asked before.
    """

    links: Links
    loads: tuple[Table, Table]
    tolerance: float
    learns: bool

    def at(self, ratios: Table) -> None:
        """Move to new ratios of the dropped and the kept effect."""

    def solve(self, sums: list[Sums], key: str) -> list[Effects]:
        """Solve for several vectors."""

    def determinant(self) -> float | None:
        """Return the log det of the equations, or None if unknown."""

    def traces(self) -> Traces:
        """Return the traces."""


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """Estimated components of variance.

    Attributes:
        ratios: Variance of the dropped and the kept effect over that of the rest.
        rest: Variance of the rest.
        effects: Predictions at these ratios.
        steps: Steps taken.
        converged: Whether the last one changed nothing that matters.
    """

    ratios: Table
    rest: float
    effects: Effects
    steps: int
    converged: bool


class _Point(NamedTuple):
    ratios: Table
    rest: float
    effects: Effects
    value: float | None
    slope: Table
    curvature: Table


def maximise(
    system: System,
    sums: Sums,
    squares: float,
    start: Table,
    free: NDArray[np.bool_],
    *,
    last: bool = True,
) -> Components:
    """Find the ratios of largest restricted likelihood.

    Args:
        system: The equations.
        sums: Of the values.
        squares: Their sum of squares, positive.
        start: Ratios to start from; those that are not free stay.
        free: Which of the two ratios to estimate.
        last: Whether no other values follow that the system should learn for.

    Returns:
        The components.
    """
    point = _evaluate(system, sums, squares, np.clip(start, LEAST, MOST) * 1.0)
    if not free.all():
        held = np.where(free, point.ratios, start)
        point = _evaluate(system, sums, squares, held)
    before = np.inf
    for step in range(1, STEPS + 1):
        active = free & ~_stuck(point)
        move, decrement = _move(point, active)
        if decrement <= system.tolerance:
            # Newton's last step squares the error. More would follow rounding alone
            # where the likelihood is flat.
            plain = last or not system.learns
            after = _search(system, sums, squares, point, move, active, plain=plain)
            return _components(after or point, step, converged=True)
        if point.value is None and before / 2 < decrement < WANDERING:
            return _components(point, step, converged=True)
        if point.value is None and decrement > before:
            move = move / 2
        before = decrement
        after = _search(system, sums, squares, point, move, active)
        if after is None:
            return _components(point, step, converged=decrement < ROUNDING)
        point = after
    return _components(point, STEPS, converged=False)


def _components(point: _Point, steps: int, *, converged: bool) -> Components:
    return Components(point.ratios, point.rest, point.effects, steps, converged)


def _stuck(point: _Point) -> NDArray[np.bool_]:
    """Say which ratios stand at a bound that the likelihood pushes against."""
    low = (point.ratios <= LEAST) & (point.slope >= 0)
    high = (point.ratios >= MOST) & (point.slope <= 0)
    return np.asarray(low | high)


def _move(point: _Point, active: NDArray[np.bool_]) -> tuple[Table, float]:
    """Return Newton's step in the ratios and its length in standard errors."""
    move = np.zeros(2)
    where = np.flatnonzero(active)
    if len(where) == 0:
        return move, 0.0
    slope = point.slope[where]
    curvature = point.curvature[np.ix_(where, where)].copy()
    # Where values say nothing about a ratio its curvature is 0 but not its slope.
    least = np.abs(slope) / (2 * FARTHEST * point.ratios[where]) + TINY
    diagonal = np.maximum(np.diag(curvature), least)
    curvature[np.diag_indices(len(where))] = diagonal
    scale = 1 / np.sqrt(diagonal)
    table = curvature * scale * scale[:, None] + 1e-12 * np.eye(len(where))
    solved = scale * np.linalg.solve(table, scale * slope)
    move[where] = -solved
    return move, float(solved @ slope)


def _search(
    system: System,
    sums: Sums,
    squares: float,
    point: _Point,
    move: Table,
    active: NDArray[np.bool_],
    *,
    plain: bool = False,
) -> _Point | None:
    """Take the step, shortened until the likelihood does not fall; None if it must."""
    for _ in range(HALVINGS):
        # Downwards as it is, so that 0 is met; upwards by factors, so that a
        # ratio without bound gets there in few steps.
        share = np.clip(move / point.ratios, -0.98, FARTHEST)
        factor = np.where(share < 0, 1 + share, np.exp(np.maximum(share, 0)))
        ratios = np.where(active, point.ratios * factor, point.ratios)
        ratios = np.where(active, np.clip(ratios, LEAST, MOST), ratios)
        # So near to nothing it is nothing, whatever rounding says.
        ratios = np.where(active & (ratios < 2 * LEAST), LEAST, ratios)
        if np.array_equal(ratios, point.ratios):
            return None
        after = _evaluate(system, sums, squares, ratios, plain=plain)
        if after.value is None or point.value is None or after.value <= point.value:
            return after
        move = move / 2
    return None


def _evaluate(
    system: System, sums: Sums, squares: float, ratios: Table, *, plain: bool = False
) -> _Point:
    """Compute minus twice the profile likelihood, with its derivatives unless plain."""
    system.at(ratios)
    (effects,) = system.solve([sums], "values")
    spent = effects.mean * sums.total + dot(effects.dropped, sums.dropped)
    spent += dot(effects.kept, sums.kept)
    # Rounding leaves about this much of the squares however well the model fits.
    squared = max(squares - spent, 1e-15 * squares)
    freedom = float(system.loads[0].sum()) - 1
    determinant = system.determinant()
    value = None
    if determinant is not None:
        value = freedom * float(np.log(squared)) + determinant
    slope, curvature = np.zeros(2), np.zeros((2, 2))
    if not plain:
        left = _residual(system, sums, effects)
        slope, curvature = _derivatives(system, left, freedom, squared)
    return _Point(ratios, squared / freedom, effects, value, slope, curvature)


def _derivatives(
    system: System, left: Sums, freedom: float, squared: float
) -> tuple[Table, Table]:
    own = [system.loads[0] * left.dropped, system.loads[1] * left.kept]
    over = [system.links.back(left.dropped), system.links.across(left.kept)]
    targets = [
        Sums(float(own[0].sum()), own[0], over[0]),
        Sums(float(own[1].sum()), over[1], own[1]),
    ]
    crossed = dot(left.dropped, over[1])
    products = np.array(
        [[dot(own[0], left.dropped), crossed], [crossed, dot(own[1], left.kept)]]
    )
    solutions = system.solve(targets, "residuals")
    for row, target in enumerate(targets):
        for column, found in enumerate(solutions):
            products[row, column] -= (
                found.mean * target.total
                + dot(found.dropped, target.dropped)
                + dot(found.kept, target.kept)
            )
    lengths = np.array([dot(left.dropped, left.dropped), dot(left.kept, left.kept)])
    traces = system.traces()
    share = freedom / squared
    return (
        traces.first - share * lengths,
        _curvature(share, squared, products, lengths, traces.second),
    )


def dot(first: Table, second: Table) -> float:
    """Add up products; many on one thread, the same on any number of cores.

    A library would split them over its threads, whose number decides how sums are
    rounded, and which wait for one another.

    Examples:
        >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
        11.0
    """
    if len(first) < MANY:
        return float(first @ second)
    return float(np.einsum("i,i->", first, second))


def _curvature(
    share: float,
    squared: float,
    products: Table,
    lengths: Table,
    second: Table | None,
) -> Table:
    """Return the second derivatives, or their average information if those fail."""
    outer = share / squared * np.outer(lengths, lengths)
    if second is not None:
        exact = 2 * share * products - outer - second
        if exact[0, 0] > 0 and np.linalg.det(exact) > 1e-9 * exact[0, 0] * exact[1, 1]:
            return np.asarray(exact)
    return np.asarray(share * (products + products.T) / 2 - outer)


def _residual(system: System, sums: Sums, effects: Effects) -> Sums:
    """Return the sums of what the effects leave of the values."""
    first, second = system.loads
    dropped = sums.dropped - first * (effects.mean + effects.dropped)
    kept = sums.kept - second * (effects.mean + effects.kept)
    dropped = dropped - system.links.across(effects.kept)
    kept = kept - system.links.back(effects.dropped)
    return Sums(float(dropped.sum()), dropped, kept)
