"""Loops for redrawn assignments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def subsets(
    uniforms: NDArray[np.float64], counts: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Choose so many of the columns in each row, every choice being as likely.

    Args:
        uniforms: One for each cell, shape (rows, columns).
        counts: How many columns to choose in each row.

    Returns:
        The choices, shape (rows, columns).
    """
    rows, columns = uniforms.shape
    chosen = np.zeros((rows, columns), np.bool_)
    for row in range(rows):
        wanted = counts[row]
        for column in range(columns):
            # Taken with probability wanted over left; certain when all are wanted.
            if uniforms[row, column] * (columns - column) < wanted:
                chosen[row, column] = True
                wanted -= 1
    return chosen


@kernel
def sum_law(values: NDArray[np.int64], ahead: int, most: int) -> NDArray[np.float64]:
    """Return the law of how many scores are chosen, and of their sum.

    Only products and sums of positive numbers, so every entry is off by a share of at
    most some 4 * len(values) roundings.

    Args:
        values: Natural numbers in increasing order.
        ahead: How many are chosen, every choice being as likely; -1 to choose each by a
            fair coin.
        most: The largest number that may be chosen.

    Returns:
        Probabilities, shape (most + 1, largest sum + 1).
    """
    size = len(values)
    # The sum of the lowest of each number; the highest of the first i from there too.
    lowest = np.zeros(size + 1, np.int64)
    for i in range(size):
        lowest[i + 1] = lowest[i] + values[i]
    law = np.zeros((most + 1, lowest[size] - lowest[size - most] + 1))
    law[0, 0] = 1.0
    for i in range(size):
        left = size - i
        for chosen in range(min(i + 1, most), max(-1, ahead - left), -1):
            stay = 0.5 if ahead < 0 else (left - ahead + chosen) / left
            join = 0.5 if ahead < 0 else (ahead - chosen + 1) / left
            if chosen <= i:
                for total in range(lowest[chosen], lowest[i] - lowest[i - chosen] + 1):
                    law[chosen, total] *= stay
            if chosen > 0:
                others = chosen - 1
                for total in range(lowest[others], lowest[i] - lowest[i - others] + 1):
                    law[chosen, total + values[i]] += law[others, total] * join
    # Too few were left to get from these to the number wanted.
    law[: max(ahead, 0)] = 0.0
    return law
