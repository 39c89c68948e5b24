"""Linear systems: inverted as a table while they fit, beyond solved by passes.

A pass over the ratings multiplies several columns at once. Conjugate gradients solve
systems from such products, and random signs tell the diagonal of the inverse.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial.chebyshev import chebder, chebpts1, chebvander

from evenhand.lazy import lazy
from evenhand.randomness import stream

if TYPE_CHECKING:
    from collections.abc import Callable

    import threadpoolctl
    from scipy.linalg import lapack

    from evenhand.arrays import Table

    Product = Callable[[Table], Table]
else:
    lapack, threadpoolctl = lazy("scipy.linalg.lapack"), lazy("threadpoolctl")

# Levels up to which equations are solved as a table, and from which it is worth loading
# libraries for tables, and BLAS would share the work among threads.
TABLE, SHARED = 1000, 50
PROBE_SEED, WORD = 0, 64
# Signs over all estimates and probes together, and fewest and most probes.
ERROR_SIGNS, ERROR_PROBES, MOST_PROBES = 200_000, 24, 200
# Residual at which equations of probes are solved well enough.
ROUGH = 1e-4
STEPS = 1000
# Nodes beside those that a bound asks for, as the bound leaves a factor open.
SPARE_NODES = 2


def conjugate_gradients(
    product: Product,
    diagonal: Table,
    right: Table,
    start: Table | None = None,
    *,
    tolerance: float = 1e-10,
) -> Table:
    """Solve A x = b for several columns b; A is symmetric and positive semidefinite.

    Args:
        product: Multiplies a table of columns by A.
        diagonal: Diagonal of A, positive, by which the system is scaled.
        right: Columns b, shape (n, m), each in the range of A.
        start: Where to start from; zero if None.
        tolerance: Size of the residual at which a column is done, relative to b.

    Returns:
        The columns x, after 1,000 steps if some are not done by then.

    Examples:
        >>> a = np.array([[2.0, 1.0], [1.0, 3.0]])
        >>> x = conjugate_gradients(lambda v: a @ v, np.diag(a), np.ones((2, 1)))
        >>> x.round(6).ravel().tolist()
        [0.4, 0.2]
    """
    scale = 1 / diagonal[:, None]
    x = np.zeros_like(right) if start is None else start.copy()
    residuals = right.copy() if start is None else right - product(x)
    ahead = scale * residuals
    size = np.einsum("ij,ij->j", residuals, ahead)
    bound = tolerance**2 * np.einsum("ij,ij->j", right, scale * right)
    for _ in range(STEPS):
        if not (size > bound).any():
            break
        moved = product(ahead)
        curvature = np.einsum("ij,ij->j", ahead, moved)
        # A column that is done, or that has met the null space, stays where it is.
        going = (size > bound) & (curvature > 0)
        length = np.divide(size, curvature, out=np.zeros_like(size), where=going)
        x += length * ahead
        residuals -= length * moved
        scaled = scale * residuals
        fresh = np.einsum("ij,ij->j", residuals, scaled)
        ahead *= np.divide(fresh, size, out=np.zeros_like(size), where=going)
        ahead += scaled
        size = np.where(going, fresh, size)
    return x


def one_thread(size: int) -> contextlib.AbstractContextManager[object]:
    """Keep BLAS to one thread while tables of so many rows are worked on.

    Its threads wait for each other busily. Where tables fit they save little time and
    take several times the work, on busy cores forty times.

    Examples:
        >>> with one_thread(1000):
        ...     inverse_root(np.eye(1)).tolist()
        [[1.0]]
    """
    if size < SHARED:
        return contextlib.nullcontext()
    limits: contextlib.AbstractContextManager[object]
    limits = threadpoolctl.threadpool_limits(limits=1, user_api="blas")
    return limits


def signs(purpose: str, rows: int, columns: int) -> Table:
    """Draw a table of fixed random signs, the same in every run.

    Examples:
        >>> np.unique(signs("trace", 100, 2)).tolist()
        [-1.0, 1.0]
    """
    words = stream(PROBE_SEED, purpose).random_raw(-(-rows * columns // WORD))
    bits = np.unpackbits(words.astype("<u8").view(np.uint8))[: rows * columns]
    return np.asarray(2.0 * bits.reshape(rows, columns) - 1.0)


def inverse_root(table: Table) -> Table:
    """Return the lower triangle R of a positive definite table with inverse R' R.

    Examples:
        >>> root = inverse_root(np.array([[2.0, 1.0], [1.0, 3.0]]))
        >>> (root.T @ root).round(6).tolist()
        [[0.6, -0.2], [-0.2, 0.4]]
    """
    return np.asarray(np.linalg.inv(np.linalg.cholesky(table)))


class Chebyshev:
    """A function of a range by its values at a few nodes.

    It is to be analytic up to pi off the real line, as what is logistic or made of
    ratios exp(x) / (1 + exp(x)) is; then so many nodes hold it to the precision.

    Attributes:
        nodes: Where its values are taken.
    """

    def __init__(self, low: float, high: float, precision: float) -> None:
        """Place the nodes; one if the range is nothing.

        Examples:
            >>> held = Chebyshev(0.0, 1.0, 1e-14)
            >>> found = held.shares(np.array([0.3])) @ np.exp(held.nodes)
            >>> bool(abs(found - np.exp(0.3)) < 1e-13)
            True
        """
        self._middle, self._half = (low + high) / 2, max((high - low) / 2, 1e-9)
        reach = np.pi / self._half
        rate = np.log(reach + np.sqrt(1 + reach**2))
        number = 1 if low == high else SPARE_NODES + int(-np.log(precision) / rate)
        places = chebpts1(number)
        self._inverse = np.linalg.inv(chebvander(places, number - 1))
        self.nodes = self._middle + self._half * places

    def shares(self, values: Table, order: int = 0) -> Table:
        """Return the share of each node in a derivative at each of some values."""
        table = chebder(self._inverse, order)
        places = (values - self._middle) / self._half
        derivatives = chebvander(places, len(table) - 1) @ table
        return np.asarray(derivatives / self._half**order)


class Definite:
    """A positive definite system A.

    Attributes:
        inverse: Its inverse, if it was given as a table.
        determinant: The logarithm of its determinant, NaN without a table.
    """

    def __init__(
        self, product: Product, diagonal: Table, table: Table | None = None
    ) -> None:
        """Take A as what multiplies columns by it, its diagonal and, if it fits, all.

        Examples:
            >>> a = np.array([[2.0, 1.0], [1.0, 3.0]])
            >>> for table in (a, None):
            ...     found = Definite(lambda v: a @ v, np.diag(a), table)
            ...     print(found.solve(np.ones((2, 1))).round(6).ravel().tolist())
            ...     print(found.inverse_diagonal().round(1).tolist())
            [0.4, 0.2]
            [0.6, 0.4]
            [0.4, 0.2]
            [0.6, 0.4]
        """
        self._product, self._diagonal = product, diagonal
        self.inverse, self.determinant = None, np.nan
        if table is not None:
            self.inverse, self.determinant = _inverse(table)

    def solve(
        self, right: Table, start: Table | None = None, *, tolerance: float = 1e-12
    ) -> Table:
        """Solve for several columns; without a table from a start, up to a residual."""
        if self.inverse is not None:
            return np.asarray(self.inverse @ right)
        return conjugate_gradients(
            self._product, self._diagonal, right, start, tolerance=tolerance
        )

    def inverse_diagonal(self) -> Table:
        """Return the diagonal of the inverse, without a table from random signs.

        The mean of z * (A^-1 z) over random signs z is the diagonal. The first two
        terms of the series A^-1 = D^-1 - D^-1 O D^-1 + ..., with D the diagonal of A
        and O the rest, have the diagonals 1 / D and 0, so they are taken out of the
        noise; 1 / D is a lower bound.

        References:
            Bekas, Kokiopoulou and Saad (2007), An estimator for the diagonal of a
            matrix.
        """
        if self.inverse is not None:
            return np.diag(self.inverse).copy()
        size = len(self._diagonal)
        number = min(max(ERROR_PROBES, ERROR_SIGNS // size), MOST_PROBES)
        probes = signs("errors", size, number)
        scale = 1 / self._diagonal[:, None]
        first = scale * probes
        second = scale * (self._product(first) - probes)
        solved = self.solve(probes, tolerance=ROUGH)
        noisy = (probes * (solved - first + second)).mean(axis=1)
        return np.asarray(np.maximum(noisy, 0) + scale[:, 0])


def _inverse(table: Table) -> tuple[Table, float]:
    """Return the inverse of a positive definite table and its log determinant."""
    if len(table) < SHARED:
        root = inverse_root(table)
        return np.asarray(root.T @ root), -2 * float(np.log(np.diag(root)).sum())
    factor, failed = lapack.dpotrf(table.T)
    if failed:
        raise np.linalg.LinAlgError("The table is not positive definite.")
    size = 2 * float(np.log(np.diag(factor)).sum())
    # One triangle; the other is 0.
    half = lapack.dpotri(factor, overwrite_c=True)[0].T
    half[np.diag_indices(len(half))] /= 2
    return half + half.T, size
