"""Loops over random perfect matchings of reviewers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def matching_law(
    terms: NDArray[np.float64], sizes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the law of the summed points over a uniformly random perfect matching.

    Those to be matched come in levels of exchangeable ones. A state says how many of
    each level are matched; the first one left is matched next, with any other. All
    terms are positive, so nothing cancels.

    Args:
        terms: Shape (levels, levels, points + 1): chance that a pair from two levels
            adds 0, 1, ... points.
        sizes: How many each level holds; even in sum.

    Returns:
        Chance of each sum of points, from 0 to points times the number of pairs.
    """
    levels = len(sizes)
    degrees = terms.shape[2]
    total = sizes.sum()
    strides = np.ones(levels, dtype=np.int64)
    for level in range(1, levels):
        strides[level] = strides[level - 1] * (sizes[level - 1] + 1)
    states = strides[levels - 1] * (sizes[levels - 1] + 1)
    table = np.zeros((states, (degrees - 1) * (total // 2) + 1))
    table[0, 0] = 1.0
    left = sizes.copy()
    rest = total
    for state in range(states - 1):
        width = (degrees - 1) * ((total - rest) // 2) + 1
        if (total - rest) % 2 == 0 and table[state, :width].any():
            first = 0
            while left[first] == 0:
                first += 1
            for second in range(first, levels):
                others = left[second] - (first == second)
                target = state + strides[first] + strides[second]
                for point in range(degrees if others > 0 else 0):
                    chance = terms[first, second, point] * others / (rest - 1)
                    for place in range(width):
                        table[target, place + point] += chance * table[state, place]
        rest += count_on(left, sizes)
    law: NDArray[np.float64] = table[states - 1]
    return law


@kernel
def count_on(left: NDArray[np.int64], sizes: NDArray[np.int64]) -> int:
    """Go to the next state in mixed radix; return the change of the sum of `left`."""
    change = 0
    for level in range(len(left)):
        if left[level] > 0:
            left[level] -= 1
            return change - 1
        left[level] = sizes[level]
        change += sizes[level]
    return change


@kernel
def matched_margins(
    chances: NDArray[np.float64],
    nodes: NDArray[np.float64],
    orders: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return P(more right votes than wrong) - P(fewer), averaged over nodes.

    Args:
        chances: Chance that the pair of two reviewers votes right at each node, shape
            (nodes, reviewers, reviewers).
        nodes: Weight of each node.
        orders: Orders of the reviewers, shape (rows, reviewers); the first two of a row
            are a pair, the next two as well, and so on.

    Returns:
        Margins, shape (rows,).
    """
    rows, reviewers = orders.shape
    pairs = reviewers // 2
    margins = np.zeros(rows)
    law = np.empty(pairs + 1)
    for row in range(rows):
        for node in range(len(nodes)):
            law[:] = 0.0
            law[0] = 1.0
            for pair in range(pairs):
                one, other = orders[row, 2 * pair], orders[row, 2 * pair + 1]
                chance = chances[node, one, other]
                for count in range(pair + 1, 0, -1):
                    law[count] += chance * (law[count - 1] - law[count])
                law[0] *= 1.0 - chance
            margin = 0.0
            for count in range(pairs // 2 + 1, pairs + 1):
                margin += law[count]
            for count in range((pairs + 1) // 2):
                margin -= law[count]
            margins[row] += nodes[node] * margin
    return margins
