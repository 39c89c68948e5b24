"""Linear systems too large for a table: conjugate gradients and probes.

Several right-hand sides are solved side by side, so that each pass over the ratings
serves them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._randomness import stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Table = NDArray[np.float64]
    Product = Callable[[Table], Table]

PROBE_SEED = 0
WORD = 64


def conjugate_gradients(
    product: Product,
    diagonal: Table,
    right: Table,
    start: Table | None = None,
    *,
    tolerance: float = 1e-10,
    steps: int = 1000,
) -> tuple[Table, bool]:
    """Solve A x = b for several columns b; A is symmetric and positive semidefinite.

    Args:
        product: Multiplies a table of columns by A.
        diagonal: Diagonal of A, positive, by which the system is scaled.
        right: Columns b, shape (n, m), each in the range of A.
        start: Where to start from; zero if None.
        tolerance: Size of the residual at which a column is done, relative to b.
        steps: Most steps.

    Returns:
        The columns x, and whether all are done.

    Examples:
        >>> a = np.array([[2.0, 1.0], [1.0, 3.0]])
        >>> x, done = conjugate_gradients(lambda v: a @ v, np.diag(a), np.ones((2, 1)))
        >>> x.round(6).ravel().tolist(), done
        ([0.4, 0.2], True)
    """
    scale = 1 / diagonal[:, None]
    x = np.zeros_like(right) if start is None else start.copy()
    left = right.copy() if start is None else right - product(x)
    bound = tolerance**2 * _dots(right, scale * right)
    ahead = scale * left
    size = _dots(left, ahead)
    for _ in range(steps):
        going = size > bound
        if not going.any():
            return x, True
        moved = product(ahead)
        curvature = _dots(ahead, moved)
        # A column that is done, or that has met the null space, stays where it is.
        going &= curvature > 0
        length = np.divide(size, curvature, out=np.zeros_like(size), where=going)
        x += length * ahead
        left -= length * moved
        scaled = scale * left
        fresh = _dots(left, scaled)
        turn = np.divide(fresh, size, out=np.zeros_like(size), where=going)
        ahead *= turn
        ahead += scaled
        size = np.where(going, fresh, size)
    return x, bool((size <= bound).all())


def _dots(first: Table, second: Table) -> Table:
    return np.asarray(np.einsum("ij,ij->j", first, second))


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
    product: Product, diagonal: Table, probes: Table, solved: Table
) -> Table:
    """Estimate the diagonal of the inverse of A from products with random signs.

    The mean of z * (A^-1 z) over random signs z is the diagonal. The first two terms of
    the series A^-1 = D^-1 - D^-1 O D^-1 + ... have the diagonals 1 / D and 0, so they
    are taken out of the noise.

    Args:
        product: Multiplies a table of columns by A = D + O.
        diagonal: D.
        probes: Columns of random signs.
        solved: A^-1 of each column.

    Returns:
        The diagonal, never below 1 / D, which bounds it.

    References:
        Bekas, Kokiopoulou and Saad (2007), An estimator for the diagonal of a matrix.

    Examples:
        >>> a = np.array([[2.0, 1.0], [1.0, 3.0]])
        >>> z = np.array([[1.0, 1.0], [1.0, -1.0]])
        >>> inverse_diagonal(lambda v: a @ v, np.diag(a), z, np.linalg.solve(a, z)
        ...                  ).round(6).tolist()
        [0.6, 0.4]
    """
    scale = 1 / diagonal[:, None]
    first = scale * probes
    second = scale * (product(first) - probes)
    noisy = (probes * (solved - first + second)).mean(axis=1)
    return np.asarray(np.maximum(noisy, 0) + 1 / diagonal)
