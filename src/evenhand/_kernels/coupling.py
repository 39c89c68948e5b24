"""Sweeps of the order polytope, for coupling from the past."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._kernels import kernel

Codes = NDArray[np.int64]
Words = NDArray[np.uint64]
Places = NDArray[np.uint32]
Halves = NDArray[np.uint32]

ONE = 2**62
HALF_ONE = 2**31


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
    """Where each item looks for the values around it, and which joints it feeds.

    A joint has two places after the items': the lowest value of its upper items, which
    its lower items look at, and the highest value of its lower items. An entry of
    `feed` is four times the place, plus 2 for a highest value, plus 1 for the first
    item of a sweep that feeds it. Indices are unsigned, as signed ones would be checked
    for counting from the end.
    """

    n_places: int
    down_start: Places
    down: Places
    up_start: Places
    up: Places
    feed_start: Places
    feed: Places


@kernel
def _pass_on(around: Neighbours, values: Codes, item: int) -> None:
    """Bring the joints next to an item up to date.

    All upper items of a joint are redrawn before all its lower ones, so the first of
    each starts its value anew.
    """
    bottom, top = values[item, 0], values[item, 1]
    for slot in range(around.feed_start[item], around.feed_start[item + 1]):
        entry = around.feed[slot]
        place = entry >> np.uint32(2)
        if entry & np.uint32(1):
            values[place, 0], values[place, 1] = bottom, top
        elif entry & np.uint32(2):
            values[place, 0] = max(values[place, 0], bottom)
            values[place, 1] = max(values[place, 1], top)
        else:
            values[place, 0] = min(values[place, 0], bottom)
            values[place, 1] = min(values[place, 1], top)


@kernel
def sweep(around: Neighbours, values: Codes, words: Words) -> None:
    """Redraw every item between its neighbours, once for each row of words.

    Column 0 of values is the bottom chain and column 1 the top chain, in units of
    2**-62. The uniform of a word w is in [w, w + 1) / 2**64, so a new value is rounded
    down from w for the bottom and up from w + 1 for the top: with a gap of at most
    2**62, gap * (w + 1) / 2**64 is less than the upper half of gap * w plus 2.
    """
    for row in range(len(words)):
        for item in range(words.shape[1]):
            low_bottom, low_top = np.int64(0), np.int64(0)
            high_bottom, high_top = np.int64(ONE), np.int64(ONE)
            for slot in range(around.up_start[item], around.up_start[item + 1]):
                upper = around.up[slot]
                high_bottom = min(high_bottom, values[upper, 0])
                high_top = min(high_top, values[upper, 1])
            for slot in range(around.down_start[item], around.down_start[item + 1]):
                lower = around.down[slot]
                low_bottom = max(low_bottom, values[lower, 0])
                low_top = max(low_top, values[lower, 1])
            word = words[row, item]
            part = np.int64(_high_half(np.uint64(high_bottom - low_bottom), word))
            values[item, 0] = low_bottom + part
            gap = high_top - low_top
            part = np.int64(_high_half(np.uint64(gap), word))
            values[item, 1] = low_top + min(gap, part + 2)
            _pass_on(around, values, item)


@kernel
def _lower(limits: Halves, values: Halves) -> None:
    for lane in range(len(limits)):
        limits[lane] = min(limits[lane], values[lane])


@kernel
def _raise(limits: Halves, values: Halves) -> None:
    for lane in range(len(limits)):
        limits[lane] = max(limits[lane], values[lane])


@kernel
def _pass_on_lanes(around: Neighbours, values: Halves, item: int) -> None:
    """Do for every lane what `_pass_on` does for one sample."""
    for slot in range(around.feed_start[item], around.feed_start[item + 1]):
        entry = around.feed[slot]
        place = entry >> np.uint32(2)
        for chain in range(2):
            if entry & np.uint32(1):
                values[place, chain] = values[item, chain]
            elif entry & np.uint32(2):
                _raise(values[place, chain], values[item, chain])
            else:
                _lower(values[place, chain], values[item, chain])


@kernel
def sweep_lanes(around: Neighbours, values: Halves, words: Halves) -> None:
    """Redraw every item of many samples, each in a lane of its own.

    Axis 1 of values is the bottom and the top chain, axis 2 the lane; values are in
    units of 2**-31. The uniform of a word w is in [w, w + 1) / 2**32, so a new value is
    rounded down from gap * w for the bottom and up from gap * (w + 1) for the top. Each
    loop over lanes does one thing, so that it is compiled to one of vectors.
    """
    lows = np.empty(values.shape[1:], dtype=np.uint32)
    highs = np.empty(values.shape[1:], dtype=np.uint32)
    half, rest = np.uint64(32), np.uint64(0xFFFFFFFF)
    for row in range(len(words)):
        for item in range(words.shape[1]):
            lows[:], highs[:] = 0, HALF_ONE
            for slot in range(around.up_start[item], around.up_start[item + 1]):
                _lower(highs[0], values[around.up[slot], 0])
                _lower(highs[1], values[around.up[slot], 1])
            for slot in range(around.down_start[item], around.down_start[item + 1]):
                _raise(lows[0], values[around.down[slot], 0])
                _raise(lows[1], values[around.down[slot], 1])
            word = words[row, item]
            low, high, new = lows[0], highs[0], values[item, 0]
            for lane in range(len(word)):
                gap = np.uint64(high[lane] - low[lane])
                new[lane] = low[lane] + (gap * np.uint64(word[lane]) >> half)
            low, high, new = lows[1], highs[1], values[item, 1]
            for lane in range(len(word)):
                gap = np.uint64(high[lane] - low[lane])
                part = gap * np.uint64(word[lane]) + gap + rest >> half
                new[lane] = low[lane] + part
            # Most diagrams have no joints, and a call for nothing takes as long.
            if around.feed_start[item] < around.feed_start[item + 1]:
                _pass_on_lanes(around, values, item)
