"""Counting the pairs that two orders of the same items put differently.

The place in one order of each item, taken along the other order, is a permutation; its
inversions are counted without moving anything. Values are split bit by bit from the
bottom: 64 neighbouring values are the bits of a word, and four neighbouring words (or
nodes) have a node that counts, for each of the four, how many values came by in those
after it. A value is out of order with those that came by before it and are larger.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

ONE = np.uint64(1)
WORD = 6
# Three counts fit into a word up to 2**20 values in a node: seven levels of four.
FIELD = 21
FIELDS = np.uint64(1 << 42 | 1 << 21 | 1)
COUNT = np.uint64((1 << FIELD) - 1)
PACKED = 7
MOST_LEVELS = 32

# The classic count of bits, which the compiler knows as one instruction.
ODD = np.uint64(0x5555555555555555)
PAIRS = np.uint64(0x3333333333333333)
NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
BYTES = np.uint64(0x0101010101010101)


@kernel
def places_of(order: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the place of each code, or nothing if the order is not one of 0..n-1."""
    size = len(order)
    places = np.full(size, -1, dtype=np.int32)
    for at in range(size):
        code = order[at]
        if code < 0 or code >= size or places[code] >= 0:
            return places[:0]
        places[code] = at
    return places


@kernel
def lined_up(order: NDArray[np.int64], places: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the places of the codes of an order; nothing if a code has none."""
    size = len(places)
    along = np.empty(size, dtype=np.int32)
    for at in range(size):
        code = order[at]
        if code < 0 or code >= size:
            return along[:0]
        along[at] = places[code]
    return along


@kernel
def level_starts(size: int) -> tuple[NDArray[np.int64], int, int]:
    """Return where the nodes of each level begin, the number of levels, and of nodes.

    The first levels are of four, those above them of two.
    """
    starts = np.zeros(MOST_LEVELS, dtype=np.int64)
    levels, nodes = 0, 0
    width = (size - 1) >> WORD
    while width > 0:
        width >>= 2 if levels < PACKED else 1
        starts[levels] = nodes
        nodes += width + 1
        levels += 1
    return starts, levels, nodes


@kernel
def crossings(values: NDArray[np.int32]) -> int:
    """Count the inversions of a permutation of 0..n-1; -1 if a value comes twice.

    Takes n / 8 bytes for the words and n / 24 for the nodes.
    """
    size = len(values)
    starts, levels, nodes = level_starts(size)
    packed = min(levels, PACKED)
    counts = np.zeros(nodes, dtype=np.uint64)
    words = np.zeros(((size - 1) >> WORD) + 1, dtype=np.uint64)
    twice = np.uint64(0)
    count = 0
    for at in range(size):
        value = np.int64(values[at])
        node = value >> WORD
        word = words[node]
        bit = ONE << np.uint64(value & 63)
        # An early return would have every step wait for this look-up.
        twice |= word & bit
        words[node] = word | bit
        count += ones(word & ~(bit - ONE))
        for level in range(packed):
            shift = np.uint64((node & 3) * FIELD)
            node >>= 2
            place = starts[level] + node
            before = counts[place]
            counts[place] = before + (FIELDS & ((ONE << shift) - ONE))
            count += int((before >> shift) & COUNT)
        for level in range(packed, levels):
            upper = node & 1
            node >>= 1
            place = starts[level] + node
            before = counts[place]
            counts[place] = before + np.uint64(upper)
            count += int(before) & int(upper - 1)
    return count if twice == 0 else -1


@kernel
def ones(word: np.uint64) -> int:
    """Count the bits that are set."""
    word -= (word >> ONE) & ODD
    word = (word & PAIRS) + ((word >> np.uint64(2)) & PAIRS)
    word = (word + (word >> np.uint64(4))) & NIBBLES
    return int((word * BYTES) >> np.uint64(56))
