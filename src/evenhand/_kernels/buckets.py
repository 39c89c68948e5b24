"""Loops that cut an order into buckets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand._kernels import kernel

Codes = NDArray[np.int64]
Table = NDArray[np.float64]

# Relative difference under which a comparison may hang on rounding.
CLOSE = 1e-12


@kernel
def _left_behind(
    values: Table, errors: Table, reach: float, leaders: Codes, item: int
) -> tuple[bool, bool]:
    """Say whether a leader leaves an item behind, and whether that is sure."""
    sure = True
    for one in leaders:
        gap = values[one] - values[item]
        bound = reach * np.sqrt(errors[one] ** 2 + errors[item] ** 2)
        if abs(gap - bound) <= CLOSE * (abs(gap) + abs(bound)):
            sure = False
        if gap > bound:
            return True, sure
    return False, sure


@kernel
def _lead(values: Table, errors: Table, leaders: Codes, size: int, item: int) -> int:
    """Make an item a leader unless another beats it; return the number of leaders."""
    for one in leaders[:size]:
        if values[one] >= values[item] and errors[one] <= errors[item]:
            return size
    kept = 0
    for one in leaders[:size]:
        if values[one] > values[item] or errors[one] < errors[item]:
            leaders[kept] = one
            kept += 1
    leaders[kept] = item
    return kept + 1


@kernel
def normal_cuts(values: Table, errors: Table, reach: float) -> tuple[Codes, bool]:
    """Number buckets in which no value leaves a later one behind.

    One leaves another behind if the gap is more than `reach` times the length of both
    errors. Only items that no other of the bucket beats in both value and error are
    looked at: its leaders.

    Returns:
        The bucket of each item, from 1, and whether no comparison was so close that
        rounding may have decided it.
    """
    numbers = np.empty(len(values), dtype=np.int64)
    leaders = np.empty(len(values), dtype=np.int64)
    size, number, all_sure = 0, 1, True
    for item in range(len(values)):
        behind, sure = _left_behind(values, errors, reach, leaders[:size], item)
        all_sure = all_sure and sure
        if behind:
            number += 1
            size = 0
        size = _lead(values, errors, leaders, size, item)
        numbers[item] = number
    return numbers, all_sure
