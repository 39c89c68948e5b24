"""Counting the pairs that two orders of the same items put differently.

The place in one order of each item, taken along the other order, is a permutation; its
inversions are counted without sorting anything. Values are split bit by bit from the
bottom: 64 neighbouring values are the bits of a word, and four neighbouring words (or
nodes) have a node that counts, for each of the four, how many values came by in those
after it. A value is out of order with those that came by before it and are larger.

Of more than a million values, those of each million are first dealt out to a block of
their own, in their order, so that all that is looked up stays in a near cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
    Words = NDArray[np.uint64]

ONE = np.uint64(1)
WORD = 6
# Three counts fit into a word up to 2**20 values in a node: seven levels of four.
FIELD = 21
FIELDS = np.uint64(1 << 42 | 1 << 21 | 1)
COUNT = np.uint64((1 << FIELD) - 1)
BLOCK = 20
MOST_LEVELS = 7

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

    At most 2**20 values.
    """
    starts = np.zeros(MOST_LEVELS, dtype=np.int64)
    levels, nodes = 0, 0
    width = (size - 1) >> WORD
    while width > 0:
        width >>= 2
        starts[levels] = nodes
        nodes += width + 1
        levels += 1
    return starts, levels, nodes


@kernel
def crossings(values: NDArray[np.int32]) -> int:
    """Count the inversions of a permutation of 0..n-1; -1 if a value comes twice.

    Takes n / 8 bytes for the words and n / 24 for the nodes, up to a million values;
    beyond, four bytes a value for the blocks.
    """
    size = len(values)
    if size <= 1 << BLOCK:
        return _inside(values, 0, size)
    count, starts, dealt = deal_values(values, BLOCK)
    for block in range(len(starts) - 1):
        low = block << BLOCK
        span = min(size - low, 1 << BLOCK)
        found = _inside(dealt[starts[block] : starts[block + 1]], low, span)
        if found < 0:
            return -1
        count += found
    return count


@kernel
def deal_values(
    values: NDArray[np.int32], bits: int
) -> tuple[int, NDArray[np.int64], NDArray[np.int32]]:
    """Deal values below their number out to blocks that have all but the last bits.

    Returns:
        The number of inversions between values of different blocks; where blocks begin,
        and the end; and the values by block, in their order.
    """
    size = len(values)
    blocks = ((size - 1) >> bits) + 1
    sizes = np.zeros(blocks, dtype=np.int64)
    for value in values:
        sizes[value >> bits] += 1
    starts = np.zeros(blocks + 1, dtype=np.int64)
    starts[1:] = np.cumsum(sizes)
    firsts, levels, nodes = level_starts(blocks << WORD)
    counts = np.empty(nodes, dtype=np.uint64)
    dealt, ends = np.empty_like(values), starts[:-1].copy()
    count = 0
    # Counts of a million values fit into the nodes, so they begin again after each.
    for first in range(0, size, 1 << BLOCK):
        before = ends.copy()
        counts[:] = 0
        for at in range(first, min(size, first + (1 << BLOCK))):
            block = int(values[at]) >> bits
            dealt[ends[block]] = values[at]
            ends[block] += 1
            count += _climb(counts, firsts, levels, block)
        larger = 0
        for block in range(blocks - 1, -1, -1):
            count += (ends[block] - before[block]) * larger
            larger += before[block] - starts[block]
    return count, starts, dealt


@kernel
def _climb(counts: Words, starts: Codes, levels: int, node: int) -> int:
    # Let a value come by on every level; count those after it that came by before.
    count = 0
    for level in range(levels):
        shift = np.uint64((node & 3) * FIELD)
        node >>= 2
        place = starts[level] + node
        before = counts[place]
        counts[place] = before + (FIELDS & ((ONE << shift) - ONE))
        count += int((before >> shift) & COUNT)
    return count


@kernel
def _inside(values: NDArray[np.int32], low: int, span: int) -> int:
    # Count the inversions of the values from `low` on, each of which comes once.
    starts, levels, nodes = level_starts(span)
    counts = np.zeros(nodes, dtype=np.uint64)
    words = np.zeros(((span - 1) >> WORD) + 1, dtype=np.uint64)
    twice = np.uint64(0)
    count = 0
    for at in range(len(values)):
        value = np.int64(values[at]) - low
        node = value >> WORD
        word = words[node]
        bit = ONE << np.uint64(value & 63)
        # An early return would have every step wait for this look-up.
        twice |= word & bit
        words[node] = word | bit
        count += ones(word & ~(bit - ONE))
        # Written out here: a call would take half as long again.
        for level in range(levels):
            shift = np.uint64((node & 3) * FIELD)
            node >>= 2
            place = starts[level] + node
            before = counts[place]
            counts[place] = before + (FIELDS & ((ONE << shift) - ONE))
            count += int((before >> shift) & COUNT)
    return count if twice == 0 else -1


@kernel
def ones(word: np.uint64) -> int:
    """Count the bits that are set."""
    word -= (word >> ONE) & ODD
    word = (word & PAIRS) + ((word >> np.uint64(2)) & PAIRS)
    word = (word + (word >> np.uint64(4))) & NIBBLES
    return int((word * BYTES) >> np.uint64(56))
