"""Seeds of many streams at once: what NumPy's SeedSequence makes of its spawn keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]
    Halves = NDArray[np.uint32]

POOL = 4
# Constants of SeedSequence, by their names there.
INIT_A, MULT_A = 0x43B0D7E5, 0x931E8875
INIT_B, MULT_B = 0x8B51F9DD, 0x58F38DED
MIX_MULT_L, MIX_MULT_R = 0xCA01F9DD, 0x4973F715
MASK = 0xFFFFFFFF
SHIFT = 16
HALF = 32


@kernel
def spawned_states(pool: Halves, constant: int, keys: Halves) -> Words:
    """Return the state that SeedSequence generates for each spawn key.

    Args:
        pool: The pool once the seed has been mixed in, 4 words of 32 bits.
        constant: The constant of its hash after that.
        keys: Spawn keys, shape (streams, words).

    Returns:
        Four words of 64 bits for each stream, shape (streams, 4).

    References:
        O'Neill (2015), Developing a seed_seq alternative.
    """
    streams, words = keys.shape
    states = np.empty((streams, POOL), dtype=np.uint64)
    mixed = np.empty(POOL, dtype=np.uint64)
    mask, shift = np.uint64(MASK), np.uint64(SHIFT)
    for stream in range(streams):
        const = np.uint64(constant)
        for place in range(POOL):
            mixed[place] = pool[place]
        for word in range(words):
            for place in range(POOL):
                value = np.uint64(keys[stream, word]) ^ const
                const = (const * np.uint64(MULT_A)) & mask
                value = (value * const) & mask
                value ^= value >> shift
                value = (
                    np.uint64(MIX_MULT_L) * mixed[place] - np.uint64(MIX_MULT_R) * value
                ) & mask
                mixed[place] = value ^ (value >> shift)
        const = np.uint64(INIT_B)
        for place in range(2 * POOL):
            value = mixed[place % POOL] ^ const
            const = (const * np.uint64(MULT_B)) & mask
            value = (value * const) & mask
            value ^= value >> shift
            # The lower half of a word comes first.
            if place % 2 == 0:
                states[stream, place // 2] = value
            else:
                states[stream, place // 2] |= value << np.uint64(HALF)
    return states
