"""Loops over rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Runs this short are sorted by insertion before merging starts.
RUN = 16


@kernel
def _sort_run(values: NDArray[np.int64], start: int, end: int) -> int:
    """Sort a short run in place; return how many pairs were out of order."""
    count = 0
    for at in range(start + 1, end):
        value = values[at]
        place = at
        while place > start and values[place - 1] > value:
            values[place] = values[place - 1]
            place -= 1
        values[place] = value
        count += at - place
    return count


@kernel
def inversions(values: NDArray[np.int64]) -> int:
    """Count the pairs of which the earlier value is the larger, by merging runs."""
    size = len(values)
    source = values.copy()
    target = np.empty_like(source)
    count = 0
    for start in range(0, size, RUN):
        count += _sort_run(source, start, min(start + RUN, size))
    width = RUN
    while width < size:
        for start in range(0, size, 2 * width):
            middle = min(start + width, size)
            end = min(start + 2 * width, size)
            left, right = start, middle
            for place in range(start, end):
                if right == end or (left < middle and source[left] <= source[right]):
                    target[place] = source[left]
                    left += 1
                else:
                    # Everything left over in the first run is larger than this.
                    count += middle - left
                    target[place] = source[right]
                    right += 1
        source, target = target, source
        width *= 2
    return count
