"""Linear systems too large for a table: conjugate gradients and probes.

Several right-hand sides are solved side by side, so that each pass over the ratings
serves them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import crossed as kernels
from evenhand._randomness import stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Table = NDArray[np.float64]
    Product = Callable[[Table], Table]

PROBE_SEED = 0
WORD = 64


class Room:
    """Tables that are used again and again.

    Fresh memory has to be handed out by the system page by page, which takes longer
    than the arithmetic on it.
    """

    __slots__ = ("_tables",)

    def __init__(self) -> None:
        """Start empty."""
        self._tables: dict[str, Table] = {}

    def table(self, name: str, rows: int, columns: int) -> Table:
        """Return a table of this size; its last contents, or anything, are in it.

        Examples:
            >>> room = Room()
            >>> room.table("x", 2, 3) is room.table("x", 2, 3)
            True
        """
        found = self._tables.get(name)
        if found is None or found.shape != (rows, columns):
            found = self._tables[name] = np.empty((rows, columns))
        return found


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
        product: Multiplies a table of columns by A. Its answer is used up before it is
            called again.
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
    scale = 1 / diagonal
    x = np.zeros_like(right) if start is None else start.copy()
    left, ahead = np.empty_like(right), np.empty_like(right)
    moved = x if start is None else product(x)
    bound, size = kernels.begin(right, moved, scale, left, ahead)
    bound *= tolerance**2
    for _ in range(steps):
        if not (size > bound).any():
            return x, True
        moved = product(ahead)
        curvature = kernels.dots(np.ones_like(scale), ahead, moved)
        going, length = kernels.stride(size, bound, curvature)
        fresh = kernels.advance(x, left, ahead, moved, length, scale)
        kernels.turn(ahead, left, kernels.share(fresh, size, going), scale)
    return x, bool((size <= bound).all())


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
