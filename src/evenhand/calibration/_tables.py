"""The equations of two crossed effects as a table, or by passes over the ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels.calibration import crossed_inverse, crossed_links
from evenhand._kernels.crossed import (
    Equations,
    both_ways,
    crossed_down,
    crossed_gradients,
    crossed_product,
    row_sums,
)
from evenhand.calibration._reml import (
    DONE,
    DONE_PROBED,
    Effects,
    Sums,
    Traces,
    dot,
)
from evenhand.calibration._solver import (
    Room,
    inverse_diagonal,
    signs,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from evenhand._kernels.crossed import Levels

    Table = NDArray[np.float64]
    Codes = NDArray[np.int64]

# Kept levels up to which the equations are inverted as a table.
TABLE = 400
# Residuals at which passes stop: for probes, while searching, and at the end.
ROUGH, SOLVED, FINE = 1e-4, 1e-7, 1e-12
# Signs over all levels and probes together, and fewest probes.
TRACE_SIGNS, TRACE_PROBES = 50_000, 4
ERROR_SIGNS, ERROR_PROBES, MOST_PROBES = 200_000, 24, 200


def error_probes(size: int) -> int:
    """Return how many probes errors of so many estimates are worth.

    Examples:
        >>> error_probes(1000), error_probes(100_000)
        (200, 24)
    """
    return min(max(ERROR_PROBES, ERROR_SIGNS // size), MOST_PROBES)


class Links:
    """Who rated what, by dropped and by kept levels.

    Attributes:
        ways: Levels of the one effect by those of the other.
        kept: Kept level of each rating, by dropped level.
        loads: Ratings of each dropped and each kept level.
    """

    __slots__ = ("kept", "loads", "ways")

    def __init__(self, dropped: Codes, kept: Codes, sizes: tuple[int, int]) -> None:
        """Sort and count the ratings."""
        self.ways = both_ways(dropped, kept, *sizes)
        self.kept = self.ways.kept.astype(np.int64)
        self.loads = (
            np.diff(self.ways.start).astype(np.float64),
            np.diff(self.ways.back_start).astype(np.float64),
        )

    def matrix(self) -> csr_array:
        """Return a sparse matrix of dropped by kept levels."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - slow to load

        sizes = (len(self.loads[0]), len(self.loads[1]))
        ones = np.ones(len(self.ways.kept))
        return csr_array((ones, self.kept, self.ways.start), sizes)

    def across(self, kept: Table) -> Table:
        """Add up a kept effect over the ratings of each dropped level."""
        return _sums(self.ways.start, self.ways.kept, kept)

    def back(self, dropped: Table) -> Table:
        """Add up a dropped effect over the ratings of each kept level."""
        return _sums(self.ways.back_start, self.ways.dropped, dropped)


def _sums(start: Codes, rows: Levels, values: Table) -> Table:
    found = np.empty((len(start) - 1, 1))
    row_sums(start, rows, np.ascontiguousarray(values)[:, None], found)
    return found[:, 0]


class TableSystem:
    """Equations that are inverted as a table."""

    __slots__ = (
        "_determinant",
        "_inverse",
        "_links_carried",
        "_ratios",
        "learns",
        "links",
        "loads",
        "tolerance",
    )

    def __init__(self, links: Links) -> None:
        """Take the links."""
        self.links = links
        self.loads = links.loads
        self.tolerance = DONE
        self.learns = False
        self._links_carried: tuple[Table, Table] | None = None
        self.at(np.ones(2))

    def at(self, ratios: Table) -> None:
        """Invert the equations at new ratios."""
        start, kept = self.links.ways.start, self.links.kept
        size = len(self.loads[1])
        first, second = float(ratios[0]), float(ratios[1])
        self._ratios = ratios
        self._inverse, self._determinant = crossed_inverse(
            start, kept, size, first, second
        )
        self._links_carried = None

    def _carried(self) -> tuple[Table, Table]:
        """Return what only derivatives and errors need."""
        if self._links_carried is None:
            start, kept = self.links.ways.start, self.links.kept
            first, second = float(self._ratios[0]), float(self._ratios[1])
            self._links_carried = crossed_links(
                start, kept, self._inverse, first, second
            )
        return self._links_carried

    def solve(self, sums: list[Sums], key: str) -> list[Effects]:  # noqa: ARG002 - for systems that start from their last answer
        """Solve by the inverse."""
        # Not by the library: its threads would cost more than they save here.
        found = [
            np.einsum("ij,j->i", self._inverse, _right(self, self._ratios, one))
            for one in sums
        ]
        return [
            _effects(self, self._ratios, one, answer)
            for one, answer in zip(sums, found, strict=True)
        ]

    def _inner(self) -> tuple[Table, Table]:
        """Return the diagonals of both effects' blocks of the whole inverse."""
        spread = 1 + self._ratios[0] * self.loads[0]
        dropped = 1 / spread + self._ratios[0] * self._carried()[0] / spread**2
        return dropped, np.diag(self._inverse)[1:]

    def determinant(self) -> float | None:
        """Return the log det of the equations."""
        return self._determinant

    def traces(self) -> Traces:
        """Return the exact traces."""
        first = np.array([(1 - one).sum() for one in self._inner()]) / self._ratios
        return Traces(first, self._second())

    def _second(self) -> Table:
        """Return tr(P K P K) for all pairs of effects."""
        ratio, inverse = float(self._ratios[0]), self._inverse
        squares, product = self._carried()
        spread = 1 + ratio * self.loads[0]
        away = 1 - 1 / spread
        dropped = (
            dot(away, away)
            - 2 * ratio * dot(away, squares / spread**2)
            + ratio**2 * float((product * product.T).sum())
        )
        cross = ratio * float((product[:, 1:] * inverse[:, 1:]).sum())
        size = len(inverse) - 1
        kept = size - 2 * np.trace(inverse[1:, 1:]) + (inverse[1:, 1:] ** 2).sum()
        both = np.array([[dropped, cross], [cross, float(kept)]])
        return np.asarray(both / np.outer(self._ratios, self._ratios))

    def errors(self) -> tuple[Table, Table]:
        """Return each effect's squared errors of prediction, in units of the rest."""
        dropped, kept = self._inner()
        return self._ratios[0] * dropped, self._ratios[1] * kept


class PassSystem:
    """Equations that are solved by passes over the ratings."""

    __slots__ = (
        "_answers",
        "_equations",
        "_probes",
        "_ratios",
        "_rooms",
        "_spread",
        "learns",
        "links",
        "loads",
        "tolerance",
    )

    def __init__(self, links: Links) -> None:
        """Take the links."""
        self.links = links
        self.loads = links.loads
        self.tolerance = DONE_PROBED
        self.learns = True
        self._rooms: dict[str, Room] = {}
        self._probes = _trace_probes(len(self.loads[0]), len(self.loads[1]))
        self.forget()

    def forget(self) -> None:
        """Start from nothing, as if no question had been asked before."""
        self._answers: set[str] = set()
        self.at(np.ones(2))

    def at(self, ratios: Table) -> None:
        """Move to new ratios."""
        first, second = self.loads
        spread = 1 + ratios[0] * first
        self._ratios, self._spread = ratios, spread
        weights = ratios[0] / spread
        shared = self.links.back(weights)
        diagonal = np.empty(len(second) + 1)
        diagonal[0] = float((first / spread).sum())
        diagonal[1:] = 1 + ratios[1] * (second - shared)
        ways = self.links.ways
        self._equations = Equations(ways, weights, float(ratios[1]), diagonal)

    def product(self, columns: Table) -> Table:
        """Multiply columns by the matrix of the equations."""
        inner = np.empty((len(self.loads[0]), columns.shape[1]))
        found = np.empty_like(columns)
        crossed_product(self._equations, columns, inner, found)
        return found

    def _solve(self, right: Table, key: str, tolerance: float) -> Table:
        """Solve, starting from the last answer to the same question."""
        room = self._room(key)
        x = room.table("x", *right.shape)
        if key not in self._answers:
            x[:] = 0.0
            self._answers.add(key)
        left, ahead, moved = (
            room.table(name, *right.shape) for name in ("left", "ahead", "moved")
        )
        inner = room.table("inner", len(self.loads[0]), right.shape[1])
        tables = (left, ahead, moved, inner)
        crossed_gradients(self._equations, right, x, tables, tolerance)
        return x

    def _room(self, key: str) -> Room:
        return self._rooms.setdefault(key, Room())

    def solve(self, sums: list[Sums], key: str) -> list[Effects]:
        """Solve by conjugate gradients, from the last answer to the same question."""
        right = np.stack([_right(self, self._ratios, one) for one in sums], axis=1)
        found = self._solve(right, key, SOLVED)
        return [
            _effects(self, self._ratios, one, found[:, place])
            for place, one in enumerate(sums)
        ]

    def refined(self, sums: Sums, ratios: Table) -> Effects:
        """Solve once more, to the last digits."""
        self.at(ratios)
        right = _right(self, ratios, sums)[:, None]
        found = self._solve(right, "values", FINE)
        return _effects(self, ratios, sums, found[:, 0])

    def traces(self) -> Traces:
        """Estimate the traces by probes."""
        ratios, spread = self._ratios, self._spread
        sizes = [len(load) for load in self.loads]
        thrown, kept = self._probes
        probes = kept.shape[1]
        room = self._room("traces")
        mapped = room.table("mapped", sizes[1] + 1, probes)
        weights = np.sqrt(ratios[0]) / spread
        crossed_down(self.links.ways, weights, float(ratios[1]), thrown, mapped)
        right = room.table("right", sizes[1] + 1, 2 * probes)
        right[:, :probes] = kept
        right[:, probes:] = mapped
        found = self._solve(right, "traces", ROUGH)
        inner = np.einsum("ij,ij->j", right, found).reshape(2, probes).mean(axis=1)
        first = np.array(
            [sizes[0] - float((1 / spread).sum()) - inner[1], sizes[1] - inner[0]]
        )
        return Traces(first / ratios, None)

    def determinant(self) -> float | None:
        """Return None: nobody knows."""
        return None

    def errors(self) -> Table:
        """Estimate the kept effect's squared errors of prediction by probes."""
        size = len(self.loads[1])
        number = error_probes(size)
        probes = np.zeros((size + 1, number))
        probes[1:] = signs("errors", size, number)
        probes[0] = signs("mean", 1, number)
        solved = self._solve(probes, "errors", ROUGH)
        diagonal = self._equations.diagonal
        found = inverse_diagonal(self.product, diagonal, probes, solved)
        return np.asarray(self._ratios[1] * np.minimum(found[1:], 1.0))


def _trace_probes(n_dropped: int, n_kept: int) -> tuple[Table, Table]:
    """Return signs over the dropped levels, and over the mean (0) and the kept ones."""
    number = max(TRACE_PROBES, TRACE_SIGNS // min(n_dropped, n_kept))
    kept = np.zeros((n_kept + 1, number))
    kept[1:] = signs("kept", n_kept, number)
    return signs("dropped", n_dropped, number), kept


AnySystem = TableSystem | PassSystem


def _right(system: AnySystem, ratios: Table, sums: Sums) -> Table:
    weight = ratios[0] / (1 + ratios[0] * system.loads[0])
    weighted = weight * sums.dropped
    right = np.empty(len(system.loads[1]) + 1)
    right[0] = sums.total - dot(system.loads[0], weighted)
    right[1:] = np.sqrt(ratios[1]) * (sums.kept - system.links.back(weighted))
    return right


def _effects(system: AnySystem, ratios: Table, sums: Sums, found: Table) -> Effects:
    mean = float(found[0])
    kept = np.sqrt(ratios[1]) * found[1:]
    loads = system.loads[0]
    left = sums.dropped - loads * mean - system.links.across(kept)
    return Effects(mean, ratios[0] * left / (1 + ratios[0] * loads), kept)
