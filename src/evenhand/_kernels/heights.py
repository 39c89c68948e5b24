"""Loops that count how many items are above and below each item."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand._kernels import kernel

Codes = NDArray[np.int64]
Words = NDArray[np.uint64]

# Eight words, or 512 columns at a time, fill one cache line for each node.
WORDS = 8


@kernel
def _ones(word: np.uint64) -> np.uint64:
    # Number of set bits, by adding up halves of ever longer fields.
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@kernel
def count_below(starts: Codes, down: Codes, number: Codes, n_items: int) -> Codes:
    """Count the items that each node leads down to, by any chain.

    Nodes are numbered so that every edge leads to a higher number. A block of 512 items
    has a bit for each in a row for each node; only nodes numbered before the last of
    them can lead there.

    Args:
        starts: Where each node's edges begin, and the end.
        down: The nodes that edges lead to, increasing for each node.
        number: For each node its number among the items, increasing, or -1.
        n_items: Number of items.

    Returns:
        The count for each node.
    """
    n_nodes = len(number)
    counts = np.zeros(n_nodes, dtype=np.int64)
    rows = np.zeros((n_nodes, WORDS), dtype=np.uint64)
    nodes = np.flatnonzero(number >= 0)
    for first in range(0, n_items, 64 * WORDS):
        last = nodes[min(first + 64 * WORDS, n_items) - 1]
        for node in range(last, -1, -1):
            rows[node] = 0
            for slot in range(starts[node], starts[node + 1]):
                lower = down[slot]
                if lower > last:
                    break
                for word in range(WORDS):
                    rows[node, word] |= rows[lower, word]
                bit = number[lower] - first
                if number[lower] >= 0 and bit >= 0:
                    rows[node, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
            for word in range(WORDS):
                counts[node] += np.int64(_ones(rows[node, word]))
    return counts
