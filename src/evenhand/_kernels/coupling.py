"""Sweeps of the order polytope, for coupling from the past."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._kernels import kernel

Codes = NDArray[np.int64]
Words = NDArray[np.uint64]

ONE = 2**62


@kernel
def _high_half(first: np.uint64, second: np.uint64) -> np.uint64:
    """Return the upper 64 of the 128 bits of a product."""
    half = np.uint64(32)
    mask = np.uint64(0xFFFFFFFF)
    a, b = first >> half, first & mask
    c, d = second >> half, second & mask
    middle = a * d + ((b * d) >> half)
    other = b * c + (middle & mask)
    return a * c + (middle >> half) + (other >> half)


class Neighbours(NamedTuple):
    """Where each item looks for the values around it, and which items feed a joint.

    A joint has two places after the items': the lowest value of its upper items, which
    its lower items look at, and the highest value of its lower items.
    """

    down_start: Codes
    down: Codes
    up_start: Codes
    up: Codes
    first_upper: Codes
    first_lower: Codes


@kernel
def _pass_on(around: Neighbours, n_items: int, values: Codes, item: int) -> None:
    """Bring the joints next to an item up to date.

    All upper items of a joint are redrawn before all its lower ones, so the first of
    each starts its value anew.
    """
    for slot in range(around.down_start[item], around.down_start[item + 1]):
        place = around.down[slot] - 1
        if place < n_items:
            continue
        anew = around.first_upper[(place - n_items) >> 1] == item
        for chain in range(2):
            if anew or values[item, chain] < values[place, chain]:
                values[place, chain] = values[item, chain]
    for slot in range(around.up_start[item], around.up_start[item + 1]):
        place = around.up[slot] + 1
        if place <= n_items:
            continue
        anew = around.first_lower[(place - n_items) >> 1] == item
        for chain in range(2):
            if anew or values[item, chain] > values[place, chain]:
                values[place, chain] = values[item, chain]


@kernel
def sweep(around: Neighbours, values: Codes, words: Words) -> None:
    """Redraw every item between its neighbours, once for each row of words.

    Column 0 of values is the bottom chain and column 1 the top chain, in units of
    2**-62. The uniform of a word w is in [w, w + 1) / 2**64, so a new value is rounded
    down from w for the bottom and up from w + 1 for the top: with a gap of at most
    2**62, gap * (w + 1) / 2**64 is less than the upper half of gap * w plus 2.
    """
    n_items = words.shape[1]
    for row in range(len(words)):
        for item in range(n_items):
            low_bottom, low_top = np.int64(0), np.int64(0)
            high_bottom, high_top = np.int64(ONE), np.int64(ONE)
            for slot in range(around.up_start[item], around.up_start[item + 1]):
                high_bottom = min(high_bottom, values[around.up[slot], 0])
                high_top = min(high_top, values[around.up[slot], 1])
            for slot in range(around.down_start[item], around.down_start[item + 1]):
                low_bottom = max(low_bottom, values[around.down[slot], 0])
                low_top = max(low_top, values[around.down[slot], 1])
            gap = high_bottom - low_bottom
            part = np.int64(_high_half(np.uint64(gap), words[row, item]))
            values[item, 0] = low_bottom + part
            gap = high_top - low_top
            part = np.int64(_high_half(np.uint64(gap), words[row, item]))
            values[item, 1] = low_top + min(gap, part + 2)
            if len(values) > n_items:
                _pass_on(around, n_items, values, item)
