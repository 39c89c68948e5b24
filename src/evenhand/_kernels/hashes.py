"""Codes for values known by their hashes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand._kernels import kernel

Words = NDArray[np.uint64]
Codes = NDArray[np.int64]

SMALLEST = 16
MIXED = np.uint64(0x9E3779B97F4A7C15)


@kernel
def _slot(table: Words, bits: int, word: np.uint64) -> np.int64:
    # Where the word is, or would be put. A table holds words and, beside each, one more
    # than its code; 0 where there is none.
    mask = len(table) // 2 - 1
    slot = np.int64((word * MIXED) >> np.uint64(64 - bits))
    while table[2 * slot + 1] != 0 and table[2 * slot] != word:
        slot = (slot + 1) & mask
    return slot


@kernel
def code_hashes(words: Words) -> tuple[Codes, Codes]:
    """Number words in the order in which they first appear.

    Returns:
        The number of each word, and for each number the place where it first appears.
    """
    bits = SMALLEST
    table = np.zeros(2 << bits, dtype=np.uint64)
    codes = np.empty(len(words), dtype=np.int64)
    first = np.empty(len(words), dtype=np.int64)
    count = np.int64(0)
    for place in range(len(words)):
        slot = _slot(table, bits, words[place])
        code = np.int64(table[2 * slot + 1]) - 1
        if code < 0:
            code = count
            first[count] = place
            count += 1
            table[2 * slot] = words[place]
            table[2 * slot + 1] = np.uint64(count)
            if 2 * count > 1 << bits:
                bits += 1
                table = np.zeros(2 << bits, dtype=np.uint64)
                for known in range(count):
                    word = words[first[known]]
                    slot = _slot(table, bits, word)
                    table[2 * slot] = word
                    table[2 * slot + 1] = np.uint64(known + 1)
        codes[place] = code
    return codes, first[:count].copy()
