"""The equations of two crossed effects as a table, or by passes over the ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels.calibration import crossed_inverse, crossed_links
from evenhand.calibration._design import totals
from evenhand.calibration._reml import (
    DONE,
    DONE_PROBED,
    Effects,
    Sums,
    Traces,
)
from evenhand.calibration._solver import (
    conjugate_gradients,
    inverse_diagonal,
    signs,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

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
    """Who rated what, as a sparse matrix of dropped by kept levels.

    Attributes:
        loads: Ratings of each dropped and each kept level.
        start: Slices of `kept`, one for each dropped level.
        kept: Kept level of each rating, by dropped level.
        forward: The matrix, by rows; empty until a pass over the ratings needs it.
        backward: Its transpose, by rows.
    """

    __slots__ = ("backward", "dropped", "forward", "kept", "loads", "start")

    def __init__(self, dropped: Codes, kept: Codes, sizes: tuple[int, int]) -> None:
        """Sort and count the ratings."""
        order = np.lexsort((kept, dropped))
        self.kept = kept[order]
        self.dropped = dropped[order]
        self.start = np.searchsorted(self.dropped, np.arange(sizes[0] + 1))
        self.loads = (
            np.bincount(dropped, minlength=sizes[0]).astype(np.float64),
            np.bincount(kept, minlength=sizes[1]).astype(np.float64),
        )
        self.forward: csr_array | None = None
        self.backward: csr_array | None = None

    def matrices(self) -> tuple[csr_array, csr_array]:
        """Return the matrix and its transpose."""
        if self.forward is None or self.backward is None:
            from scipy.sparse import csr_array  # noqa: PLC0415 - slow to load

            sizes = (len(self.loads[0]), len(self.loads[1]))
            ones = np.ones(len(self.kept))
            self.forward = csr_array((ones, self.kept, self.start), sizes)
            self.backward = self.forward.T.tocsr()
        return self.forward, self.backward

    def across(self, kept: Table) -> Table:
        """Add up a kept effect over the ratings of each dropped level."""
        if kept.ndim == 1:
            size = len(self.loads[0])
            return totals(self.dropped, kept[self.kept], size)
        return np.asarray(self.matrices()[0] @ kept)

    def back(self, dropped: Table) -> Table:
        """Add up a dropped effect over the ratings of each kept level."""
        if dropped.ndim == 1:
            size = len(self.loads[1])
            return totals(self.kept, dropped[self.dropped], size)
        return np.asarray(self.matrices()[1] @ dropped)


class TableSystem:
    """Equations that are inverted as a table."""

    __slots__ = (
        "_carried",
        "_determinant",
        "_inverse",
        "_ratios",
        "links",
        "loads",
        "tolerance",
    )

    def __init__(self, links: Links) -> None:
        """Take the links."""
        self.links = links
        self.loads = links.loads
        self.tolerance = DONE
        self.at(np.ones(2))

    def at(self, ratios: Table) -> None:
        """Invert the equations at new ratios."""
        start, kept = self.links.start, self.links.kept
        size = len(self.loads[1])
        first, second = float(ratios[0]), float(ratios[1])
        self._ratios = ratios
        self._inverse, self._determinant = crossed_inverse(
            start, kept, size, first, second
        )
        self._carried = crossed_links(start, kept, self._inverse, first, second)

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
        dropped = 1 / spread + self._ratios[0] * self._carried[0] / spread**2
        return dropped, np.diag(self._inverse)[1:]

    def traces(self) -> Traces:
        """Return the exact traces."""
        first = np.array([(1 - one).sum() for one in self._inner()]) / self._ratios
        return Traces(first, self._second(), self._determinant)

    def _second(self) -> Table:
        """Return tr(P K P K) for all pairs of effects."""
        ratio, inverse = float(self._ratios[0]), self._inverse
        squares, product = self._carried
        spread = 1 + ratio * self.loads[0]
        away = 1 - 1 / spread
        dropped = (
            float(away @ away)
            - 2 * ratio * float(away @ (squares / spread**2))
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
        "_diagonal",
        "_ratios",
        "_spread",
        "links",
        "loads",
        "tolerance",
    )

    def __init__(self, links: Links) -> None:
        """Take the links."""
        self.links = links
        self.loads = links.loads
        self.tolerance = DONE_PROBED
        self._answers: dict[str, Table] = {}
        self.at(np.ones(2))

    def at(self, ratios: Table) -> None:
        """Move to new ratios."""
        first, second = self.loads
        spread = 1 + ratios[0] * first
        self._ratios, self._spread = ratios, spread
        shared = self.links.back(ratios[0] / spread)
        diagonal = np.empty(len(second) + 1)
        diagonal[0] = float((first / spread).sum())
        diagonal[1:] = 1 + ratios[1] * (second - shared)
        self._diagonal = diagonal

    def product(self, columns: Table) -> Table:
        """Multiply columns by the matrix of the equations."""
        first, second = self.loads
        root = float(np.sqrt(self._ratios[1]))
        top, rest = columns[:1], columns[1:]
        inner = first[:, None] * top + root * (self.links.across(rest))
        inner *= (self._ratios[0] / self._spread)[:, None]
        found = np.empty_like(columns)
        found[0] = first.sum() * top[0] + root * (second @ rest) - first @ inner
        found[1:] = root * second[:, None] * top - root * self.links.back(inner)
        found[1:] += (1 + self._ratios[1] * second)[:, None] * rest
        return found

    def _solve(self, right: Table, key: str, tolerance: float) -> Table:
        start = self._answers.get(key)
        found, _ = conjugate_gradients(
            self.product, self._diagonal, right, start, tolerance=tolerance
        )
        self._answers[key] = found
        return found

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
        probes = max(TRACE_PROBES, TRACE_SIGNS // min(sizes))
        kept = np.zeros((sizes[1] + 1, probes))
        kept[1:] = signs("kept", sizes[1], probes)
        thrown = signs("dropped", sizes[0], probes)
        root = float(np.sqrt(ratios[0]))
        mapped = root * self._down(thrown / spread[:, None])
        right = np.concatenate([kept, mapped], axis=1)
        found = self._solve(right, "traces", ROUGH)
        inner = np.einsum("ij,ij->j", right, found).reshape(2, probes).mean(axis=1)
        first = np.array(
            [sizes[0] - float((1 / spread).sum()) - inner[1], sizes[1] - inner[0]]
        )
        return Traces(first / ratios, None, None)

    def _down(self, dropped: Table) -> Table:
        """Multiply columns over dropped levels by M'."""
        root = float(np.sqrt(self._ratios[1]))
        found = np.empty((len(self.loads[1]) + 1, dropped.shape[1]))
        found[0] = self.loads[0] @ dropped
        found[1:] = root * self.links.back(dropped)
        return found

    def errors(self) -> Table:
        """Estimate the kept effect's squared errors of prediction by probes."""
        size = len(self.loads[1])
        number = error_probes(size)
        probes = np.zeros((size + 1, number))
        probes[1:] = signs("errors", size, number)
        probes[0] = signs("mean", 1, number)
        solved = self._solve(probes, "errors", ROUGH)
        found = inverse_diagonal(self.product, self._diagonal, probes, solved)
        return np.asarray(self._ratios[1] * np.minimum(found[1:], 1.0))


AnySystem = TableSystem | PassSystem


def _right(system: AnySystem, ratios: Table, sums: Sums) -> Table:
    weight = ratios[0] / (1 + ratios[0] * system.loads[0])
    weighted = weight * sums.dropped
    right = np.empty(len(system.loads[1]) + 1)
    right[0] = sums.total - system.loads[0] @ weighted
    right[1:] = np.sqrt(ratios[1]) * (sums.kept - system.links.back(weighted))
    return right


def _effects(system: AnySystem, ratios: Table, sums: Sums, found: Table) -> Effects:
    mean = float(found[0])
    kept = np.sqrt(ratios[1]) * found[1:]
    loads = system.loads[0]
    left = sums.dropped - loads * mean - system.links.across(kept)
    return Effects(mean, ratios[0] * left / (1 + ratios[0] * loads), kept)
