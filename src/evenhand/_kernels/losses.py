"""Loops of the losses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def inversions(ranks: NDArray[np.int64]) -> int:
    """Count the pairs in which an earlier rank is larger than a later one.

    Args:
        ranks: Numbers from 0 to len(ranks) - 1, repeats allowed.

    Returns:
        The number of such pairs.
    """
    # A Fenwick tree holds how many ranks of each size were seen.
    seen = np.zeros(len(ranks) + 1, dtype=np.int64)
    total = 0
    for count in range(len(ranks)):
        place = ranks[count] + 1
        total += count
        while place > 0:
            total -= seen[place]
            place -= place & -place
        place = ranks[count] + 1
        while place <= len(ranks):
            seen[place] += 1
            place += place & -place
    return total
