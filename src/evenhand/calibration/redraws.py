"""Random effects for many scores on the same ratings, all at once.

Who rated what does not change, so at one ratio a of the dropped effect (see `crossed`)
the table S that is left once offsets and level are eliminated is the same for all
scores. With S = Q L Q' the likelihood at every ratio b is then a sum over the axes. In
log a it is analytic up to pi from the real line, so a few Chebyshev nodes hold all of a
window of log a to 1e-10, and Newton's steps of all scores are taken on these nodes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.polynomial.chebyshev import chebder, chebpts1, chebvander

from evenhand.calibration._solver import one_thread
from evenhand.calibration.crossed import DONE, LEAST, MOST, Equations
from evenhand.calibration.posterior import Columns, node_at

if TYPE_CHECKING:
    from evenhand.arrays import Flags, Table
    from evenhand.calibration.crossed import Links


LOW, HIGH = math.log(LEAST), math.log(MOST)
# Half the width of a window, the precision of its nodes and more to be sure.
HALF, PRECISION, SPARE = 1.0, 1e-10, 2
WINDOWS, STEPS, FARTHEST, TINY = 60, 60, 1.0, 1e-9
# Values of log b from which the search starts.
GRID = 24


def fit_many(equations: Equations, scores: Table) -> tuple[Table, Table]:
    """Fit random effects to many scores, as `Equations.fit` does to one.

    Args:
        equations: Of the ratings, as a table.
        scores: A column for each set of scores, with mean 0.

    Returns:
        Predicted values of items, a column for each; and the shares of reviewers'
        offsets and of items' values in the variance, two rows. Like those of
        `Equations.fit` they are good to about 1e-9.

    Examples:
        >>> from evenhand.calibration.design import design
        >>> from evenhand.ratings import Ratings
        >>> made = design(Ratings([0, 0, 1, 1], ["x", "y", "y", "z"], [9, 7, 8, 2]))
        >>> equations = Equations(made)
        >>> found = fit_many(equations, made.scores[:, None])[0][:, 0]
        >>> bool(np.allclose(found, equations.fit(made.scores).items, atol=1e-8))
        True
    """
    links = equations.system.links
    every = [equations.sums(column) for column in scores.T]
    sums = Columns(
        np.array([one.squares or 1.0 for one in every]),
        np.stack([one.dropped for one in every], axis=1),
        np.stack([one.kept for one in every], axis=1),
    )
    start, free = equations.start()
    first = equations.fit(scores[:, 0]).ratios
    with one_thread(len(links.counts)):
        logs, kept = _fit(links, sums, np.log(start if first is None else first), free)
    ratios = np.exp(logs)
    weights = ratios[0] / (1 + ratios[0] * links.loads[:, None])
    dropped = weights * (sums.dropped - links.matrix @ kept)
    _, items = equations.ordered(dropped, kept[1:])
    parts = np.stack(equations.ordered(*np.where(logs <= LOW, 0.0, ratios)))
    return items, parts / (1 + parts.sum(axis=0))


def _fit(links: Links, sums: Columns, start: Table, free: Flags) -> tuple[Table, Table]:
    """Return the logarithms of both ratios, and the solutions there."""
    point = np.tile(start[:, None], len(sums.squares))
    solutions = np.empty_like(sums.kept)
    left = np.ones(len(sums.squares), dtype=bool)
    for _ in range(WINDOWS):
        centre = point[0, left.argmax()]
        where = left & (np.abs(point[0] - centre) <= HALF)
        span = np.clip([centre - HALF, centre + HALF], LOW, HIGH)
        window = Window(links, sums.only(where), span if free[0] else start[:1])
        found, ahead = _maximise(window, start[1], free)
        solutions[:, where] = window.solution(found)
        # Those that want to leave the window go on in the next one.
        point[0, where] = np.clip(found[0] + 0.9 * HALF * ahead, LOW, HIGH)
        point[1, where] = found[1]
        left[where] = ahead != 0
        if not left.any():
            break
    return point, solutions


class Window:
    """The likelihood of each column's scores over a window of log a.

    Attributes:
        span: The window, or the one log a.
        nodes: Chebyshev's.
    """

    def __init__(self, links: Links, sums: Columns, span: Table) -> None:
        """Look at the nodes."""
        self.span = span[[0, -1]]
        self._middle, self._half = span.mean(), max(np.ptp(span) / 2, TINY)
        reach = np.pi / self._half
        rate = np.log(reach + np.sqrt(1 + reach**2))
        number = 1 if len(span) == 1 else SPARE + int(-np.log(PRECISION) / rate)
        places = chebpts1(number)
        self._inverse = np.linalg.inv(chebvander(places, number - 1))
        self._logs = self._middle + self._half * places
        self.nodes = [node_at(links, sums, float(np.exp(log))) for log in self._logs]
        self._freedom = float(links.loads.sum()) - 1
        self._least = 1e-15 * sums.squares

    def _shares(self, logs: Table, order: int = 0) -> Table:
        """Return the share of each node in a derivative at each log a."""
        table = chebder(self._inverse, order)
        places = (logs - self._middle) / self._half
        return np.asarray(
            chebvander(places, len(table) - 1) @ table / self._half**order
        )

    def start(self, logs: Table) -> Table:
        """Return the best of the nodes and of some log b, for each column."""
        table = np.stack(
            [node.profile(logs, self._freedom, self._least)[1] for node in self.nodes]
        )
        best = table.reshape(-1, table.shape[-1]).argmin(axis=0)
        place = np.divmod(best, len(logs))
        return np.stack([self._logs[place[0]], logs[place[1]]])

    def at(self, point: Table) -> Likelihood:
        """Return the likelihood and its derivatives."""
        inverse = np.exp(-point[1])
        table = []
        for node in self.nodes:
            left = 1 / (node.known[:, None] + inverse)
            spent = node.pull**2 * left
            twice = inverse * np.einsum("ij,ij->j", spent, left)
            thrice = inverse**2 * np.einsum("ij,ij,ij->j", spent, left, left)
            gains = node.known @ left, inverse * (node.known @ left**2)
            squares = node.squares - spent.sum(axis=0), -twice, twice - 2 * thrice
            # The sum of log(1 + b L).
            sizes = len(left) * point[1] - np.log(left).sum(axis=0)
            table.append([*squares, node.determinant + sizes, *gains])
        values = np.array(table)
        plain, first, second = (
            np.einsum("jk,kfj->fj", self._shares(point[0], order), values)
            for order in range(3)
        )
        squared = np.maximum(plain[0], self._least)
        share = self._freedom / squared
        slopes = np.stack([first[0], plain[1]])
        curved = np.array([[second[0], first[1]], [first[1], plain[2]]])
        known = np.array([[second[3], first[4]], [first[4], plain[5]]])
        outer = slopes[:, None] * slopes * (share / squared)
        return Likelihood(
            self._freedom * np.log(squared) + plain[3],
            share * slopes + np.stack([first[3], plain[4]]),
            share * curved - outer + known,
        )

    def solution(self, point: Table) -> Table:
        """Return the mean and the kept effect."""
        shares = self._shares(point[0])
        found = np.zeros((len(self.nodes[0].known) + 1, point.shape[1]))
        for node, share in zip(self.nodes, shares.T, strict=True):
            solved = node.axes @ (node.pull / (node.known[:, None] + np.exp(-point[1])))
            found[0] += share * (node.mean[0] - node.mean[1] @ solved)
            found[1:] += share * solved
        return found


class Likelihood(NamedTuple):
    """Minus twice the log likelihood by log a and log b, a column for each scores."""

    value: Table
    slope: Table
    curvature: Table


def _maximise(window: Window, held: float, free: Flags) -> tuple[Table, Table]:
    """Return where the likelihood is largest, and on which side it goes on to rise."""
    low = np.array([[window.span[0]], [LOW]])
    high = np.array([[window.span[1]], [HIGH]])
    point = window.start(np.linspace(LOW, HIGH, GRID) if free[1] else np.array([held]))
    at, radius = window.at(point), np.full(point.shape[1], FARTHEST)
    for _ in range(STEPS):
        pushed = ((point <= low) & (at.slope >= 0)) | (
            (point >= high) & (at.slope <= 0)
        )
        move, decrement = _newton(at, free[:, None] & ~pushed)
        last = decrement <= DONE
        share = np.minimum(1, radius / (np.abs(move).max(axis=0) + TINY))
        after = np.clip(point + share * move, low, high)
        there = window.at(after)
        better = (radius > 0) & (last | (there.value <= at.value))
        point = np.where(better, after, point)
        at = Likelihood(
            *(np.where(better, *both) for both in zip(there, at, strict=True))
        )
        radius = np.where(better, np.minimum(2 * radius, FARTHEST), radius / 4)
        radius[last | (radius < TINY)] = 0.0
        if not radius.any():
            break
    inner = window.span[0] > LOW, window.span[1] < HIGH
    ahead = (point[0] >= high[0]) & (at.slope[0] < 0) & inner[1] & free[0]
    behind = (point[0] <= low[0]) & (at.slope[0] > 0) & inner[0] & free[0]
    return point, ahead.astype(np.float64) - behind


def _newton(at: Likelihood, active: Flags) -> tuple[Table, Table]:
    """Return Newton's steps and their squared lengths in standard errors."""
    slope = np.where(active, at.slope, 0.0)
    (first, cross), (_, second) = at.curvature
    cross = np.where(active.all(axis=0), cross, 0.0)
    first, second = np.where(active, [first, second], 1.0)
    rises = (first > 0) & (first * second - cross**2 > 1e-9 * first * second)
    # Where there is no minimum ahead, the step goes downhill.
    downhill = np.abs([first, second]) + np.abs(slope) / FARTHEST + TINY
    first, second = np.where(rises, [first, second], downhill)
    cross = np.where(rises, cross, 0.0)
    size = first * second - cross**2
    move = np.stack(
        [second * slope[0] - cross * slope[1], first * slope[1] - cross * slope[0]]
    )
    move = -move / size
    return move, -(slope * move).sum(axis=0)
