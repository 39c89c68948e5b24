"""Codes for values known by their hashes.

A table holds words and, beside each, one more than its code; 0 where there is none. It
has a power of two of places, at most half of them taken. A word's place is anywhere in
memory, so it is fetched some words ahead.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand._kernels import kernel
from evenhand._kernels.memory import prefetch

Words = NDArray[np.uint64]
Codes = NDArray[np.uint32]

SMALLEST = 16
GROWTH = 2
"""Bits by which a table grows: the fewer times, the fewer words are moved."""
AHEAD = 24
MIXED = np.uint64(0x9E3779B97F4A7C15)


@kernel
def _bits(table: Words) -> int:
    bits = 0
    while 2 << bits < len(table):
        bits += 1
    return bits


@kernel
def _home(bits: int, word: np.uint64) -> int:
    # Unsigned, it could not be added to other integers.
    return np.int64((word * MIXED) >> np.uint64(64 - bits))  # type: ignore[return-value]


@kernel
def _slot(table: Words, bits: int, word: np.uint64) -> int:
    # Where the word is, or would be put.
    mask = (1 << bits) - 1
    slot = _home(bits, word)
    while table[2 * slot + 1] != 0 and table[2 * slot] != word:
        slot = (slot + 1) & mask
    return slot


@kernel
def _number(
    words: Words, table: Words, codes: Codes, first: Codes, done: tuple[int, int]
) -> tuple[int, int]:
    # Go on until the table is half full. `done` and what is returned: how many words
    # have a code, and how many codes there are.
    bits = _bits(table)
    begin, count = done
    for place in range(begin, len(words)):
        if place + AHEAD < len(words):
            prefetch(table, 2 * _home(bits, words[place + AHEAD]))
        slot = _slot(table, bits, words[place])
        code = np.int64(table[2 * slot + 1])
        if code == 0:
            if 2 * count >= 1 << bits:
                return place, count
            first[count] = place
            count += 1
            code = np.int64(count)
            table[2 * slot] = words[place]
            table[2 * slot + 1] = np.uint64(code)
        codes[place] = code - 1
    return len(words), count


@kernel
def _move(old: Words, table: Words) -> None:
    bits = _bits(table)
    for place in range(0, len(old), 2):
        if old[place + 1] != 0:
            slot = _slot(table, bits, old[place])
            table[2 * slot] = old[place]
            table[2 * slot + 1] = old[place + 1]


def code_hashes(words: Words) -> tuple[Codes, Codes, Words]:
    """Number words in the order in which they first appear.

    Arrays are made here and not by the kernels, since NumPy asks for large pages.

    Returns:
        The number of each word; for each number the place where it first appears; and
        the table, for `codes_of`.

    Examples:
        >>> codes, first, _ = code_hashes(np.array([7, 5, 7], dtype=np.uint64))
        >>> codes.tolist(), first.tolist()
        ([0, 1, 0], [0, 1])
    """
    words = _fixed(words)
    bits = SMALLEST
    table = np.zeros(2 << bits, dtype=np.uint64)
    codes = np.empty(len(words), dtype=np.uint32)
    first = np.empty(len(words), dtype=np.uint32)
    done = _number(words, table, codes, first, (0, 0))
    while done[0] < len(words):
        bits += GROWTH
        larger = np.zeros(2 << bits, dtype=np.uint64)
        _move(table, larger)
        table = larger
        done = _number(words, table, codes, first, done)
    return codes, first[: done[1]].copy(), table


def codes_of(table: Words, words: Words) -> Codes:
    """Return the numbers of words that are all in a table of `code_hashes`.

    Examples:
        >>> words = np.array([7, 5], dtype=np.uint64)
        >>> codes_of(code_hashes(words)[2], words[::-1].copy()).tolist()
        [1, 0]
    """
    return _look_up(table, _fixed(words))


def _fixed(words: Words) -> Words:
    # Some come from where they may not be written to, and all are to be of one type.
    words = words.view()
    words.flags.writeable = False
    return words


@kernel
def _look_up(table: Words, words: Words) -> Codes:
    bits = _bits(table)
    codes = np.empty(len(words), dtype=np.uint32)
    for place in range(len(words)):
        if place + AHEAD < len(words):
            prefetch(table, 2 * _home(bits, words[place + AHEAD]))
        slot = _slot(table, bits, words[place])
        codes[place] = table[2 * slot + 1] - np.uint64(1)
    return codes


@kernel
def renumber(codes: Codes, place: Codes) -> None:
    """Replace each code by its place, where it stands."""
    for row in range(len(codes)):
        codes[row] = place[codes[row]]
