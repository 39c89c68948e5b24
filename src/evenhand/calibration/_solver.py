"""Linear systems too large for a table: conjugate gradients, and probes.

Several right-hand sides are solved side by side, so that each pass over the ratings
serves them all.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np

from evenhand.randomness import stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.arrays import Table

    Product = Callable[[Table], Table]

# Levels up to which equations are solved as a table, and from which it is worth loading
# libraries for tables, and BLAS would share the work among threads.
TABLE, SHARED = 1000, 50
PROBE_SEED, WORD = 0, 64
# Signs over all estimates and probes together, and fewest and most probes.
ERROR_SIGNS, ERROR_PROBES, MOST_PROBES = 200_000, 24, 200
# Residual at which equations of probes are solved well enough.
ROUGH = 1e-4
STEPS = 1000


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
    left = right.copy() if start is None else right - product(x)
    ahead = scale * left
    size = np.einsum("ij,ij->j", left, ahead)
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
        left -= length * moved
        scaled = scale * left
        fresh = np.einsum("ij,ij->j", left, scaled)
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
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - for large tables

    limits: contextlib.AbstractContextManager[object]
    limits = threadpool_limits(limits=1, user_api="blas")
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


def inverse_diagonal(
    product: Product, diagonal: Table, *, most: int = MOST_PROBES
) -> Table:
    """Estimate the diagonal of the inverse of A from products with random signs.

    The mean of z * (A^-1 z) over random signs z is the diagonal. The first two terms of
    the series A^-1 = D^-1 - D^-1 O D^-1 + ... have the diagonals 1 / D and 0, so they
    are taken out of the noise.

    Args:
        product: Multiplies a table of columns by A = D + O.
        diagonal: D.
        most: Columns of signs; fewer for many estimates.

    Returns:
        The diagonal, never below 1 / D, which bounds it.

    References:
        Bekas, Kokiopoulou and Saad (2007), An estimator for the diagonal of a matrix.

    Examples:
        >>> a = np.array([[2.0, 1.0], [1.0, 3.0]])
        >>> inverse_diagonal(lambda v: a @ v, np.diag(a)).round(1).tolist()
        [0.6, 0.4]
    """
    size = len(diagonal)
    number = min(max(ERROR_PROBES, ERROR_SIGNS // size), most)
    probes = signs("errors", size, number)
    solved = conjugate_gradients(product, diagonal, probes, tolerance=ROUGH)
    scale = 1 / diagonal[:, None]
    first = scale * probes
    second = scale * (product(first) - probes)
    noisy = (probes * (solved - first + second)).mean(axis=1)
    return np.asarray(np.maximum(noisy, 0) + 1 / diagonal)


def inverse_root(table: Table) -> Table:
    """Return the lower triangle R of a positive definite table with inverse R' R.

    Examples:
        >>> root = inverse_root(np.array([[2.0, 1.0], [1.0, 3.0]]))
        >>> (root.T @ root).round(6).tolist()
        [[0.6, -0.2], [-0.2, 0.4]]
    """
    factor = np.linalg.cholesky(table)
    if len(factor) < SHARED:
        return np.asarray(np.linalg.inv(factor))
    from scipy.linalg.lapack import dtrtri  # noqa: PLC0415 - slow to load

    # The transpose has the columns one after another, as the library wants them.
    return np.asarray(dtrtri(factor.T, lower=0)[0].T)
