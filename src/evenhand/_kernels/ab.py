"""Loops for two items: the law of the votes over all pairings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def pairing_counts(
    terms: NDArray[np.float64], sizes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the law of the summed points over a uniformly random pairing.

    One side of the pairing is taken one score after the other. The other side is held
    as levels of equal scores, and a state says how many of each level are used. The
    smaller side is paired completely. Every state holds the law of the points so far,
    in a sum of positive terms only, so nothing cancels.

    Args:
        terms: Shape (taken, levels, points + 1): chance that the pair of a taken score
            and one of a level adds 0, 1, ... points.
        sizes: How many scores each level holds.

    Returns:
        Chance of each sum of points, from 0 to points times the number of pairs.
    """
    taken, _, degrees = terms.shape
    held = sizes.sum()
    states = (sizes + 1).prod()
    pairs = min(taken, held)
    table = np.zeros((states, (degrees - 1) * pairs + 1))
    table[0, 0] = 1.0
    used = np.empty_like(sizes)
    for step in range(taken):
        left = taken - step
        most = min(step + 1, held)
        least = step + 1 if taken <= held else max(0, held - left + 1)
        used[:] = sizes
        total = held
        # Downwards, so that a state reads only states that this step has not written.
        for state in range(states - 1, -1, -1):
            if least <= total <= most:
                _absorb(table, state, used, sizes, terms[step], left)
            total += _count_down(used, sizes)
    used[:] = sizes
    total = held
    counts = np.zeros(table.shape[1])
    for state in range(states - 1, -1, -1):
        if total == pairs:
            counts += table[state]
        total += _count_down(used, sizes)
    return counts


@kernel
def _absorb(
    table: NDArray[np.float64],
    state: int,
    used: NDArray[np.int64],
    sizes: NDArray[np.int64],
    terms: NDArray[np.float64],
    left: int,
) -> None:
    """Take one score into a state's law; `left` are left, this one among them."""
    levels, degrees = terms.shape
    width = (degrees - 1) * used.sum() + 1
    free = sizes.sum() - used.sum()
    stay = 1.0 - free / max(left, free)
    for place in range(width):
        table[state, place] *= stay
    stride = 1
    for level in range(levels):
        if used[level] > 0:
            origin = state - stride
            chance = (sizes[level] - used[level] + 1) / max(left, free + 1)
            for point in range(degrees):
                factor = chance * terms[level, point]
                if factor > 0.0:
                    for place in range(width - degrees + 1):
                        table[state, place + point] += factor * table[origin, place]
        stride *= sizes[level] + 1


@kernel
def _count_down(used: NDArray[np.int64], sizes: NDArray[np.int64]) -> int:
    """Go to the state before in mixed radix; return the change of the digits' sum."""
    change = 0
    for level in range(len(used)):
        if used[level] > 0:
            used[level] -= 1
            return change - 1
        used[level] = sizes[level]
        change += sizes[level]
    return change
