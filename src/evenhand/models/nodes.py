"""The likelihood of crossed effects at one ratio a, for every ratio b at once.

Offsets and level are eliminated (see `additive`) and the table S that is left is turned
to its axes, S = Q L Q'. The likelihood at every ratio b is then a sum over the axes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.arrays import Codes, Table
    from evenhand.models.additive import Equations, Links, Sums

# Newton's steps; slopes and steps by logarithms of ratios that are rounding, and steps
# that do not lead to another peak.
STEPS, LEVEL, SHORT, ROUGH = 100, 1e-12, 1e-10, 1e-3
# Twice log likelihoods that are equal but for rounding, and those that steps of the
# grid may part.
EQUAL, NEAR = 1e-9, 1.0


class Node(NamedTuple):
    """What scores say at one ratio a of the dropped effect, a column for each.

    Attributes:
        axes: Q.
        known: L.
        pull: Of the scores, by axis.
        mean: What gives the mean: its own pull, and the kept effect's by level.
        squares: What is left of the squares if the kept effect is 0.
        determinant: log det A, less that of the kept effect.
    """

    axes: Table
    known: Table
    pull: Table
    mean: tuple[Table, Table]
    squares: Table
    determinant: float

    def profile(self, b: Table, freedom: float, least: Table) -> tuple[Table, Table]:
        """Return squares left and minus twice the log likelihood, a row for each b.

        Args:
            b: Ratios of the kept effect.
            freedom: Number of ratings, less the mean.
            least: What rounding leaves of the squares however well the model fits.
        """
        variances = 1 / (self.known + 1 / b[:, None])
        squared = np.maximum(self.squares - variances @ self.pull**2, least)
        sizes = np.log1p(self.known * b[:, None]).sum(axis=1)
        value = freedom * np.log(squared) + (self.determinant + sizes)[:, None]
        return squared, value

    def slopes(self, b: float, freedom: float, least: Table) -> tuple[float, float]:
        """Return first and second derivatives by log b of one set's log likelihood."""
        shrinkage = 1 / (1 + b * self.known)
        spent = b * shrinkage * self.pull[:, 0] ** 2
        first, second = shrinkage @ spent, (shrinkage * (2 * shrinkage - 1)) @ spent
        squared = max(float(self.squares[0] - spent.sum()), float(least[0]))
        kept = 1 - shrinkage
        share = freedom / squared
        slope = kept.sum() - share * first
        return float(slope), float(
            kept @ shrinkage - share * (second + share / freedom * first**2)
        )


class Turned(NamedTuple):
    """What who rated what says at one ratio: S, turned to its axes, and the mean's row.

    Attributes:
        axes: Q.
        known: L.
        size: The mean's own weight.
        level: What the mean's row has of the kept effect, over that.
        determinant: As in Node.
    """

    axes: Table
    known: Table
    size: float
    level: Table
    determinant: float


def turned_at(links: Links, ratio: float) -> Turned:
    """Eliminate offsets and level, and turn what is left to its axes."""
    whole = links.table(ratio)
    level, size = whole[0, 1:], float(whole[0, 0])
    information, axes = np.linalg.eigh(whole[1:, 1:] - np.outer(level, level) / size)
    spread = (links.times * np.log1p(ratio * links.loads)).sum()
    determinant = float(spread + np.log(size))
    return Turned(axes, np.maximum(information, 0), size, level / size, determinant)


def node_at(
    links: Links, sums: Sums, ratio: float, turned: Turned | None = None
) -> Node:
    """Say what scores say at one ratio; who rated what may be turned already."""
    axes, information, size, level, determinant = turned or turned_at(links, ratio)
    pull = links.pull(sums, ratio)
    spent = links.weights(ratio) @ sums.dropped**2 + pull[0] ** 2 / size
    own = axes.T @ (pull[1:] - np.outer(level, pull[0]))
    mean = pull[0] / size, level
    return Node(axes, information, own, mean, sums.squares - spent, determinant)


def lowest(
    at: Callable[[float], tuple[float, float]], grid: Table, values: Table
) -> list[float]:
    """Return where a function has its lowest places, as a grid shows them.

    Newton's steps lead to them; those that would leave the grid's two steps around a
    place halve what is left of these.

    Args:
        at: Slope and curvature of the function.
        grid: Ascending places; the first and the last are the ends of the range.
        values: The function there.

    Examples:
        >>> grid = np.arange(5.0)
        >>> lowest(lambda x: (2 * x - 3, 2.0), grid, grid**2 - 3 * grid)
        [1.5]
        >>> lowest(lambda x: (-1.0, 0.0), grid, -grid)
        [4.0]
    """
    places = hollows(values)
    logs = [*grid[:1].tolist(), *grid.tolist(), *grid[-1:].tolist()]
    return [_bottom(at, logs[i + 1], logs[i], logs[i + 2]) for i in places.tolist()]


def hollows(values: Table) -> Codes:
    """Return the places of values whose neighbours are higher.

    Examples:
        >>> hollows(np.array([1.0, 2.0, 0.5, 0.5])).tolist()
        [0, 2]
    """
    falls, rises = values[1:] < values[:-1], values[1:] >= values[:-1]
    return np.flatnonzero(np.append([True], falls) & np.append(rises, [True]))


def _bottom(
    at: Callable[[float], tuple[float, float]], place: float, low: float, high: float
) -> float:
    for _ in range(STEPS):
        slope, bend = at(place)
        # At an end of the range nothing need lead further.
        if abs(slope) <= LEVEL or (place == low and slope > 0):
            return place
        if place == high and slope < 0:
            return place
        low, high = (low, place) if slope > 0 else (place, high)
        after = place - slope / bend if bend > 0 else np.inf
        after = after if low < after < high else (low + high) / 2
        if abs(after - place) <= SHORT:
            return after
        place = after
    return place


class Peaks:
    """The likelihood of one set of scores, over all ratios within bounds.

    At each a the best b is found exactly, so what is left is a function of a.
    """

    def __init__(self, equations: Equations, sums: Sums, grids: list[Table]) -> None:
        """Take logarithms of the ratios a and b that are looked at first."""
        self._equations, self._sums, self._grids = equations, sums, grids
        self._columns = type(sums)(*(np.asarray(table)[..., None] for table in sums))
        self._freedom = equations.links.size - 1
        self._least = 1e-15 * self._columns.squares
        self._known: dict[float, tuple[float, float]] = {}

    def alone(self, ratios: Table) -> bool:
        """Return whether there is no other peak than one, as far as the grid shows."""
        log, log_b = np.log(ratios[:, 0]).tolist()
        values = np.array([self._about(place) for place in self._grids[0].tolist()])
        places = self._grids[0][hollows(values)]
        near = float(np.ptp(self._grids[0])) / max(len(values) - 1, 1) + SHORT
        best = abs(self.along(log)[1] - log_b) <= ROUGH
        return len(places) == 1 and abs(float(places[0]) - log) <= near and best

    def along(self, log: float) -> tuple[float, float]:
        """Return the least of minus twice the log likelihood at log a, and log b."""
        if log not in self._known:
            self._known[log] = self._along(log)
        return self._known[log]

    def _node(self, log: float) -> Node:
        turned, links = self._equations.turned, self._equations.links
        ratio = math.exp(log)
        # Those of the grid are looked at for other scores as well.
        if log in self._grids[0] and log not in turned:
            turned[log] = turned_at(links, ratio)
        return node_at(links, self._columns, ratio, turned.get(log))

    def _profile(self, node: Node, logs: Table) -> Table:
        return node.profile(np.exp(logs), self._freedom, self._least)[1][:, 0]

    def _about(self, log: float) -> float:
        """Return about what is least at log a, by a parabola through three places."""
        values = self._profile(self._node(log), self._grids[1])
        place = int(values.argmin())
        if not 0 < place < len(values) - 1:
            return float(values[place])
        low, middle, high = map(float, values[place - 1 : place + 2])
        bend = low - 2 * middle + high
        return middle - (high - low) ** 2 / (8 * bend) if bend > 0 else middle

    def _along(self, log: float) -> tuple[float, float]:
        node, grid = self._node(log), self._grids[1]

        def at(log: float) -> tuple[float, float]:
            return node.slopes(math.exp(log), self._freedom, self._least)

        places = np.array(lowest(at, grid, self._profile(node, grid)))
        values = self._profile(node, places)
        first = int(np.flatnonzero(values <= values.min() + EQUAL)[0])
        return float(values[first]), float(places[first])

    def slopes(self, log: float) -> tuple[float, float]:
        """Return slope and curvature along the best b by log a."""
        log_b = self.along(log)[1]
        ratios = np.exp([log, log_b])
        here = self._equations.likelihood(self._sums, ratios)
        slope = here.slope[:, 0] * ratios
        bends = here.curvature[..., 0] * np.outer(ratios, ratios) + np.diag(slope)
        curvature = bends[0, 0]
        if self._grids[1][0] < log_b < self._grids[1][-1]:
            curvature -= bends[0, 1] ** 2 / bends[1, 1]
        return float(slope[0]), float(curvature)

    def list(self, most: float = math.inf) -> list[tuple[float, float, float]]:
        """Return minus twice the log likelihood, log a and log b of each peak.

        Args:
            most: A value that peaks are to come near to, or they are left out.
        """
        grid = self._grids[0]
        values = np.array([self.along(log)[0] for log in grid.tolist()])
        if values.min() > most + NEAR:
            return []
        places = lowest(self.slopes, grid, values) if len(grid) > 1 else grid.tolist()
        peaks = [(self.along(log), log) for log in places]
        return [(value, log, log_b) for (value, log_b), log in peaks]
