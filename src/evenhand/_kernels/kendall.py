"""Counting the pairs that two orders of the same items put differently.

The place in one order of each item, taken along the other order, is a permutation; its
inversions are counted without sorting anything. Values are split bit by bit from the
bottom: 64 neighbouring values are the bits of a word, and four neighbouring words (or
nodes) have a node that counts, for each of the four, how many values came by in those
after it. A value is out of order with those that came by before it and are larger.

Of more than a million values, those of each million, 2**20, are first dealt out to a
block of their own, in their order, so that all that is looked up stays in a near cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import kernel
from evenhand._kernels.memory import prefetch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
    Places = NDArray[np.int32]
    Words = NDArray[np.uint64]

NONE, ONE = np.uint64(0), np.uint64(1)
WORD = 6
# Three counts fit into a word up to 2**20 values in a node: seven levels of four.
FIELD = 21
FIELDS = np.uint64(1 << 42 | 1 << 21 | 1)
COUNT = np.uint64((1 << FIELD) - 1)
BLOCK = 20
MOST_LEVELS = 7
# Blocks at a time, and what a byte can count.
BLOCK_BITS = 4
BLOCKS = 1 << BLOCK_BITS
WORD_BYTES, FULL = 8, 255
# How far ahead of its use a place is fetched.
AHEAD = 32

# The classic count of bits, which the compiler knows as one instruction.
ODD = np.uint64(0x5555555555555555)
PAIRS = np.uint64(0x3333333333333333)
NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
BYTES = np.uint64(0x0101010101010101)


def places_of(order: Codes) -> Places:
    """Return the place of each code, or nothing if the order is not one of 0..n-1.

    NumPy hands out large pages, which compiled code does not; look-ups all over the
    arrays are quicker in them.
    """
    places = np.full(len(order), -1, dtype=np.int32)
    return places if _put_places(order, places) else places[:0]


@kernel
def _put_places(order: Codes, places: Places) -> bool:
    size = len(order)
    for at in range(size):
        if at + AHEAD < size:
            prefetch(places, order[at + AHEAD])
        code = order[at]
        if code < 0 or code >= size or places[code] >= 0:
            return False
        places[code] = at
    return True


def lined_up(order: Codes, places: Places) -> Places:
    """Return the places of the codes of an order; nothing if a code has none."""
    along = np.empty(len(places), dtype=np.int32)
    return along if _line_up(order, places, along) else along[:0]


@kernel
def _line_up(order: Codes, places: Places, along: Places) -> bool:
    size = len(places)
    for at in range(size):
        code = order[at]
        if code < 0 or code >= size:
            return False
        along[at] = places[code]
    return True


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


def crossings(values: Places) -> int:
    """Count the inversions of a permutation of 0..n-1; -1 if a value comes twice.

    Takes n / 8 bytes for the words and n / 24 for the nodes, up to a million values;
    beyond, four bytes a value for the blocks, and again for every factor of 16.

    Examples:
        >>> crossings(np.array([2, 0, 1], dtype=np.int32))
        2
    """
    return _crossings(values, 0, len(values))


def _crossings(values: Places, low: int, span: int) -> int:
    if span <= 1 << BLOCK:
        return int(_inside(values, low, span))
    bits = max(BLOCK, (span - 1).bit_length() - BLOCK_BITS)
    dealt = np.empty_like(values)
    count, starts = deal_values(values, low, bits, dealt)
    for block in range(((span - 1) >> bits) + 1):
        first = block << bits
        part = dealt[starts[block] : starts[block + 1]]
        found = _crossings(part, low + first, min(span - first, 1 << bits))
        if found < 0:
            return -1
        count += found
    return int(count)


@kernel
def deal_values(
    values: Places, low: int, bits: int, dealt: Places
) -> tuple[int, NDArray[np.int64]]:
    """Deal values out to at most 16 blocks that have all but the last bits.

    Args:
        values: The values, from `low` on.
        low: The lowest value that there may be.
        bits: How many bits differ within a block.
        dealt: Overwritten with the values by block, in their order.

    Returns:
        The number of inversions between values of different blocks; where blocks begin,
        and the end.
    """
    sizes = np.zeros(BLOCKS + 1, dtype=np.int64)
    for value in values:
        sizes[((value - low) >> bits) + 1] += 1
    starts = np.cumsum(sizes)
    ends = starts.copy()
    # How many values of later blocks came by: up to 255 in the bytes of two words,
    # then in the counts.
    lower, upper = _marks(0), _marks(WORD_BYTES)
    counts = np.zeros(BLOCKS, dtype=np.int64)
    found = 0
    for first in range(0, len(values), FULL):
        here, there = NONE, NONE
        for at in range(first, min(len(values), first + FULL)):
            block = int(values[at] - low) >> bits
            dealt[ends[block]] = values[at]
            ends[block] += 1
            word = here if block < WORD_BYTES else there
            found += counts[block] + _byte(word, block % WORD_BYTES)
            here += lower[block]
            there += upper[block]
        for place in range(WORD_BYTES):
            counts[place] += _byte(here, place)
            counts[place + WORD_BYTES] += _byte(there, place)
    return found, starts


@kernel
def _marks(first: int) -> Words:
    # For each block a one in the bytes of the earlier ones among eight.
    marks = np.zeros(BLOCKS, dtype=np.uint64)
    for block in range(BLOCKS):
        for earlier in range(first, min(block, first + WORD_BYTES)):
            marks[block] |= ONE << np.uint64(8 * (earlier - first))
    return marks


@kernel
def _byte(word: np.uint64, place: int) -> int:
    return int((word >> np.uint64(8 * place)) & np.uint64(FULL))


@kernel
def _inside(values: Places, low: int, span: int) -> int:
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
