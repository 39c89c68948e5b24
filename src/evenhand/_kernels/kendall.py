"""Counting the pairs that two orders of the same items put differently.

The place in one order of each item, taken along the other order, is a permutation; its
inversions are counted without sorting anything. Values are split bit by bit from the
bottom: 64 neighbouring values are the bits of a word, and four neighbouring words (or
nodes) have a node that counts, for each of the four, how many values came by in those
after it. A value is out of order with those that came by before it and are larger.

Of more than a million values, those of each million, 2**20, are first dealt out to a
block of their own, in their order, so that all that is looked up stays in a near cache.
So are the codes of two orders, to look up the places of one in the other. Blocks do not
need each other: all cores work on them.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from evenhand._cores import beside
from evenhand._kernels import kernel
from evenhand._kernels.memory import prefetch

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
    Places = NDArray[np.int32]
    Halves = NDArray[np.uint32]
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
# For each block a one in the byte of each earlier one, in two words.
MARKS = [sum(1 << 8 * earlier for earlier in range(block)) for block in range(BLOCKS)]
LOWER_MARKS = np.array([mark & (1 << 64) - 1 for mark in MARKS], dtype=np.uint64)
UPPER_MARKS = np.array([mark >> 64 for mark in MARKS], dtype=np.uint64)
# How far ahead of its use a place is fetched.
AHEAD = 32
# A code and its place share half a word.
HALF = 32
LOWER = (1 << HALF) - 1

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


def disagreements(order: Codes, other: Codes) -> int:
    """Count the pairs that two orders put differently.

    Takes 8 bytes a code.

    Args:
        order: Codes.
        other: As many.

    Returns:
        The number; -1 if one of the orders is not one of 0..n-1.

    Examples:
        >>> disagreements(np.array([0, 1, 2]), np.array([2, 0, 1]))
        2
    """
    if len(order) > 1 << BLOCK:
        found = _by_blocks(order, other)
        if found is not None:
            return found
    places = places_of(other)
    along = np.empty(len(order), dtype=np.int32)
    if len(places) == 0 or not _line_up(order, places, along):
        return -1 if len(order) else 0
    return crossings(along)


@kernel
def _line_up(order: Codes, places: Places, along: Places) -> bool:
    size = len(places)
    for at in range(size):
        code = order[at]
        if code < 0 or code >= size:
            return False
        along[at] = places[code]
    return True


def _by_blocks(order: Codes, other: Codes) -> int | None:
    """Count them block by block; None if places of a block are too far apart."""
    size, bits = len(order), _bits(len(order))
    starts = np.append(np.arange(0, size, 1 << bits), size)
    codes, pairs = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.uint32)
    firsts = np.zeros(len(starts) - 1, dtype=np.int64)
    deals: list[Callable[[], int]] = [
        partial(deal_codes, order, bits, starts, codes),
        partial(deal_places, other, bits, starts, (pairs, firsts)),
    ]
    dealt_out, widest = beside(deals)
    if not dealt_out or widest < 0:
        return -1
    if widest >> HALF - bits:
        return None
    looks = [
        partial(look_up, pairs[begin:end], (begin, first, bits), codes[begin:end])
        for (begin, end), first in zip(
            pairwise(starts.tolist()), firsts.tolist(), strict=True
        )
    ]
    if not all(beside(looks)):
        return -1
    # What was looked up is a permutation, and fills the blocks as the codes did.
    dealt = pairs.view(np.int32)
    count = deal_places_back(order, bits, starts, codes, dealt)
    return int(count) + _inside_blocks(dealt, starts, 0, size)


@kernel
def deal_codes(order: Codes, bits: int, starts: Codes, dealt: Places) -> bool:
    """Deal codes out to blocks that have all but the last bits, in their order.

    Args:
        order: Some codes.
        bits: How many bits differ within a block.
        starts: Where each block must begin, and the end: the number of codes.
        dealt: Overwritten with the codes.

    Returns:
        Whether the blocks are filled, and nothing is left over.
    """
    ends = starts[:-1].copy()
    for code in order:
        if code < 0 or code >= len(order):
            return False
        block = code >> bits
        at = ends[block]
        if at == starts[block + 1]:
            return False
        dealt[at] = code
        ends[block] = at + 1
    return True


@kernel
def deal_places(
    order: Codes, bits: int, starts: Codes, into: tuple[Halves, Codes]
) -> int:
    """Deal codes out as `deal_codes` does, each with its place.

    Places of a block increase, so a word of 32 bits will do: the last bits of a code,
    and how far its place is from that of the code before it, unless that is too far.

    Args:
        order: As for `deal_codes`.
        bits: As for `deal_codes`.
        starts: As for `deal_codes`.
        into: Overwritten with the words, and with the first place of each block.

    Returns:
        A number with as many bits as the largest distance of two such places has; -1
        if the blocks are not filled, or something is left over.
    """
    dealt, firsts = into
    ends, last = starts[:-1].copy(), np.zeros(len(firsts), dtype=np.int64)
    low, widest = (1 << bits) - 1, 0
    for place in range(len(order)):
        code = order[place]
        if code < 0 or code >= len(order):
            return -1
        block = code >> bits
        at = ends[block]
        if at == starts[block + 1]:
            return -1
        if at == starts[block]:
            firsts[block] = last[block] = place
        apart = place - last[block]
        last[block] = place
        widest |= apart
        dealt[at] = (apart << bits | code & low) & LOWER
        ends[block] = at + 1
    return widest


def look_up(pairs: Halves, block: tuple[int, int, int], codes: Places) -> bool:
    """Replace the codes of one block by their places.

    Args:
        pairs: Codes of the block and their places, as `deal_places` puts them.
        block: The lowest code of the block, its first place, and how many bits of the
            codes differ.
        codes: As many codes of the block; overwritten.

    Returns:
        Whether both have every code once.
    """
    places = np.full(len(pairs), -1, dtype=np.int32)
    return bool(_look_up(pairs, block, places, codes))


@kernel
def _look_up(
    pairs: Halves, block: tuple[int, int, int], places: Places, codes: Places
) -> bool:
    low, place, bits = block
    for pair in pairs:
        place += int(pair) >> bits
        places[int(pair) & ((1 << bits) - 1)] = place
    every_bit = np.int32(0)
    for at in range(len(codes)):
        code = codes[at] - low
        found = places[code]
        # A second time there is none; nor if the pairs have another code twice.
        places[code] = -1
        codes[at] = found
        every_bit |= found
    return bool(every_bit >= 0)


@kernel
def deal_places_back(
    order: Codes, bits: int, starts: Codes, places: Places, dealt: Places
) -> int:
    """Deal places out to blocks, in the order of their codes.

    Args:
        order: The codes in order, as they were dealt out to blocks.
        bits: How many bits differ within a block, of codes and of places.
        starts: Where each block begins, and the end.
        places: The place that stands for each code, by block of the codes.
        dealt: Overwritten with the places by block of their own.

    Returns:
        The number of inversions between places of different blocks.
    """
    begins, ends = starts[:-1].copy(), starts[:-1].copy()
    counts = np.zeros(BLOCKS, dtype=np.int64)
    some = np.empty(FULL, dtype=np.int32)
    found = 0
    for first in range(0, len(order), FULL):
        size = min(len(order) - first, FULL)
        for at in range(size):
            block = order[first + at] >> bits
            some[at] = places[begins[block]]
            begins[block] += 1
        found += _deal_some(some[:size], 0, bits, ends, (counts, dealt))
    return found


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


def _bits(span: int) -> int:
    """Return how many bits differ within a block of so many values or codes."""
    return max(BLOCK, (span - 1).bit_length() - BLOCK_BITS)


def _crossings(values: Places, low: int, span: int) -> int:
    if span <= 1 << BLOCK:
        return int(_inside(values, low, span))
    bits = _bits(span)
    dealt = np.empty_like(values)
    count, starts = deal_values(values, low, bits, dealt)
    found = _inside_blocks(dealt, starts, low, span)
    return -1 if found < 0 else int(count) + found


def _inside_blocks(dealt: Places, starts: Codes, low: int, span: int) -> int:
    """Count the inversions within each block; -1 if a value comes twice."""
    bits = _bits(span)
    parts = []
    for block, first in enumerate(range(0, span, 1 << bits)):
        part = dealt[starts[block] : starts[block + 1]]
        size = min(span - first, 1 << bits)
        parts.append(partial(_crossings, part, low + first, size))
    # Blocks that are dealt out again are spread over the cores then.
    found = beside(parts) if bits == BLOCK else [part() for part in parts]
    return -1 if min(found) < 0 else sum(found)


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
    counts = np.zeros(BLOCKS, dtype=np.int64)
    found = 0
    for first in range(0, len(values), FULL):
        some = values[first : first + FULL]
        found += _deal_some(some, low, bits, ends, (counts, dealt))
    return found, starts


@kernel
def _deal_some(
    values: Places, low: int, bits: int, ends: Codes, into: tuple[Codes, Places]
) -> int:
    # Deal out at most 255 values, and count those of later blocks that came by before
    # each: among these values in the bytes of two words, earlier ones in the counts.
    counts, dealt = into
    found = 0
    here, there = NONE, NONE
    for at in range(len(values)):
        block = int(values[at] - low) >> bits
        dealt[ends[block]] = values[at]
        ends[block] += 1
        word = here if block < WORD_BYTES else there
        found += counts[block] + _byte(word, block % WORD_BYTES)
        here += LOWER_MARKS[block]
        there += UPPER_MARKS[block]
    for place in range(WORD_BYTES):
        counts[place] += _byte(here, place)
        counts[place + WORD_BYTES] += _byte(there, place)
    return found


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
