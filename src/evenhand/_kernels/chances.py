"""Loops over tables of trials with two items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Words = NDArray[np.uint64]


@kernel
def rational_votes(first: Floats, second: Floats, slope: float) -> Floats:
    """Return the chance of each vote, slope gap / (1 + slope gap) as the weight.

    Args:
        first: Finite scores of the first item, shape (rows, pairs).
        second: Those of the second, of the same shape.
        slope: Of the weight.

    Returns:
        Chances for the first item, shape (rows, pairs).
    """
    rows, pairs = first.shape
    chances = np.empty((rows, pairs))
    for row in range(rows):
        for pair in range(pairs):
            gap = first[row, pair] - second[row, pair]
            # These divisions look for no zero, so that many are done at a time; and
            # rounding never makes their result fall as the gap grows.
            share = np.divide(1.0, 1.0 + np.divide(1.0, slope * abs(gap)))
            upper = (1.0 + share) * 0.5
            chances[row, pair] = 1.0 - upper if gap < 0.0 else upper
    return chances


@kernel
def scores_of_sides(sides: Codes, first: Floats, second: Floats) -> Floats:
    """Return first where the side is 0, else second; all of shape (rows, columns)."""
    rows, columns = sides.shape
    scores = np.empty((rows, columns))
    for row in range(rows):
        for column in range(columns):
            # Both are read, so that nothing hangs on a side that cannot be foreseen.
            one, two = first[row, column], second[row, column]
            scores[row, column] = two if sides[row, column] else one
    return scores


@kernel
def packed_words(sides: Codes, keys: Words, bits: int) -> Words:
    """Put the side, the upper bits of the key and the column into one word.

    Args:
        sides: 0 or 1, shape (rows, columns).
        keys: Random words, of the same shape.
        bits: How many bits the number of a column takes.

    Returns:
        The words: one bit for the side, the key, and the column last.
    """
    rows, columns = sides.shape
    words = np.empty((rows, columns), dtype=np.uint64)
    top, one, room = np.uint64(63), np.uint64(1), np.uint64(bits)
    for row in range(rows):
        for column in range(columns):
            key = ((keys[row, column] >> one) >> room) << room
            words[row, column] = (
                (np.uint64(sides[row, column]) << top) | key | np.uint64(column)
            )
    return words


@kernel
def unpacked_scores(
    words: Words, scores: Floats, bits: int
) -> tuple[Floats, NDArray[np.bool_]]:
    """Put scores into the order of packed words.

    Args:
        words: What `packed_words` made, in increasing order in each row.
        scores: Score of each column, of the same shape.
        bits: How many bits the number of a column takes.

    Returns:
        The scores in that order, and in which rows two words differ in their columns
        only, so that the order is not that of the whole keys.
    """
    rows, columns = words.shape
    ordered, close = np.empty((rows, columns)), np.zeros(rows, dtype=np.bool_)
    room = np.uint64(bits)
    low = (np.uint64(1) << room) - np.uint64(1)
    for row in range(rows):
        same = False
        for place in range(columns):
            word = words[row, place]
            ordered[row, place] = scores[row, np.int64(word & low)]
            if place > 0:
                same |= (word >> room) == (words[row, place - 1] >> room)
        close[row] = same
    return ordered, close
