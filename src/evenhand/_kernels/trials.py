"""Loops over many trials with two items: few votes each, and scores fixed by reviewer.

What is computed here is what the rules compute on arrays, to the last bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import kernel
from evenhand._kernels.kendall import ones

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.int64]

# NumPy adds up to 128 numbers in eight columns.
COLUMNS = 8
# Rows whose laws stay in the nearest cache together.
ABREAST = 64
# A mean that is nearer to another than this many roundings is compared exactly.
ROUNDINGS = 4 * 2.0**-52
NONE, ONE, ALL = np.uint64(0), np.uint64(1), np.uint64(2**64 - 1)


@kernel
def turn_rows(chances: Floats) -> Codes:
    """Turn each row, in increasing order, to the same one of its two ways round.

    The other way round is the chances against, in increasing order.

    Args:
        chances: Chance of each vote, shape (rows, votes); overwritten.

    Returns:
        1 where a row is as it was, -1 where it was turned round, 0 where that changes
        nothing.
    """
    rows, votes = chances.shape
    sides = np.zeros(rows, dtype=np.int64)
    for row in range(rows):
        for vote in range(votes):
            gap = chances[row, vote] - (1.0 - chances[row, votes - 1 - vote])
            if gap != 0.0:
                sides[row] = 1 if gap > 0.0 else -1
                break
        if sides[row] < 0:
            for vote in range((votes + 1) // 2):
                other = 1.0 - chances[row, votes - 1 - vote]
                chances[row, votes - 1 - vote] = 1.0 - chances[row, vote]
                chances[row, vote] = other
    return sides


@kernel
def few_margins(chances: Floats) -> Floats:
    """Return P(more votes for than against) - P(fewer), by multiplying votes out.

    Rows are taken side by side, so that each step is one of vectors.

    Args:
        chances: Chance of each vote, shape (rows, votes).

    Returns:
        Margins, shape (rows,).
    """
    rows, votes = chances.shape
    margins = np.empty(rows)
    wide = max(1, min(rows, ABREAST))
    # From the highest count of votes to none: each place needs the one after it.
    laws = np.empty((votes + 1, wide))
    chance, other = np.zeros(wide), np.ones(wide)
    law, columns = np.empty(votes + 1), np.empty(COLUMNS)
    for first in range(0, rows, wide):
        some = min(wide, rows - first)
        laws[:votes] = 0.0
        laws[votes] = 1.0
        for vote in range(votes):
            for row in range(some):
                chance[row] = chances[first + row, vote]
                other[row] = 1.0 - chance[row]
            for place in range(votes - vote - 1, votes):
                here, after = laws[place], laws[place + 1]
                for row in range(wide):
                    here[row] = here[row] * other[row] + after[row] * chance[row]
            none = laws[votes]
            for row in range(wide):
                none[row] *= other[row]
        for row in range(some):
            for count in range(votes + 1):
                law[count] = laws[votes - count, row]
            above = _sum(law, votes // 2 + 1, votes + 1, columns)
            margins[first + row] = above - _sum(law, 0, (votes + 1) // 2, columns)
    return margins


@kernel
def _sum(numbers: Floats, start: int, stop: int, columns: Floats) -> float:
    """Add up in the order in which NumPy does; the columns are overwritten."""
    total = 0.0
    place = start
    if stop - start >= COLUMNS:
        columns[:] = 0.0
        while place + COLUMNS <= stop:
            for column in range(COLUMNS):
                columns[column] += numbers[place + column]
            place += COLUMNS
        total = (columns[0] + columns[1]) + (columns[2] + columns[3])
        total += (columns[4] + columns[5]) + (columns[6] + columns[7])
    for rest in range(place, stop):
        total += numbers[rest]
    return total


@kernel
def rational_chances(
    orders: Codes, values: Floats, added: Floats, slope: float
) -> Floats:
    """Return the chance of each vote, slope gap / (1 + slope gap) as the weight.

    Args:
        orders: Reviewers in random order, shape (trials, 2 k): the first half has the
            better item, the second half the other, in pairs.
        values: Value of the worse item and of the better one, shape (trials, 2).
        added: What each reviewer adds.
        slope: Of the weight.

    Returns:
        Chances for the better item, shape (trials, k).
    """
    trials, half = len(orders), orders.shape[1] // 2
    chances = np.empty((trials, half))
    for trial in range(trials):
        for pair in range(half):
            gap = (added[orders[trial, pair]] + values[trial, 1]) - (
                added[orders[trial, half + pair]] + values[trial, 0]
            )
            scaled = slope * abs(gap)
            share = 1.0 if np.isinf(scaled) else scaled / (1 + scaled)
            upper = (1 + share) / 2
            chances[trial, pair] = 1 - upper if gap < 0 else upper
    return chances


@kernel
def sign_sides(orders: Codes, values: Floats, added: Floats) -> Codes:
    """Return which side has more pairwise wins, 1 the better item, 0 if neither."""
    trials, half = len(orders), orders.shape[1] // 2
    sides = np.empty(trials, dtype=np.int64)
    for trial in range(trials):
        wins = 0
        for pair in range(half):
            one = added[orders[trial, pair]] + values[trial, 1]
            two = added[orders[trial, half + pair]] + values[trial, 0]
            wins += (one > two) - (one < two)
        sides[trial] = (wins > 0) - (wins < 0)
    return sides


@kernel
def mean_sides(
    orders: Codes, values: Floats, added: Floats
) -> tuple[Codes, NDArray[np.bool_]]:
    """Return which side has the higher mean, and whether rounding cannot matter."""
    trials, half = len(orders), orders.shape[1] // 2
    sides = np.empty(trials, dtype=np.int64)
    clear = np.empty(trials, dtype=np.bool_)
    for trial in range(trials):
        one, two, size = 0.0, 0.0, 0.0
        for pair in range(half):
            upper = added[orders[trial, pair]] + values[trial, 1]
            lower = added[orders[trial, half + pair]] + values[trial, 0]
            one += upper
            two += lower
            size += abs(upper) + abs(lower)
        gap = one - two
        clear[trial] = abs(gap) > 2 * half * ROUNDINGS * size
        sides[trial] = (gap > 0) - (gap < 0)
    return sides, clear


@kernel
def central_sides(
    orders: Codes, values: Floats, added: Floats, ranks: Codes, place: int
) -> Codes:
    """Return which side has the higher score at a place of its increasing order.

    Scores of a side are in the order of what its reviewers add, so a mark at the rank
    of each reviewer of the better item, and none at the others, takes the place of
    sorting.

    Args:
        orders: As for `rational_chances`.
        values: As for `rational_chances`.
        added: What each reviewer adds, in increasing order.
        ranks: Rank of each reviewer in that order.
        place: The place, from 0.

    Returns:
        1, 0 or -1, shape (trials,).
    """
    trials, size = orders.shape
    half = size // 2
    sides = np.empty(trials, dtype=np.int64)
    marks = np.empty((size + 63) // 64, dtype=np.uint64)
    for trial in range(trials):
        marks[:] = NONE
        for reviewer in range(half):
            rank = ranks[orders[trial, reviewer]]
            marks[rank >> 6] |= ONE << np.uint64(rank & 63)
        upper = added[_find(marks, NONE, place)] + values[trial, 1]
        lower = added[_find(marks, ALL, place)] + values[trial, 0]
        sides[trial] = (upper > lower) - (upper < lower)
    return sides


@kernel
def _find(marks: NDArray[np.uint64], turn: np.uint64, place: int) -> int:
    """Return where a mark is found for the time numbered by the place, from 0.

    With `turn` all ones, it is where a mark is missing.
    """
    left, at = place, 0
    word = marks[0] ^ turn
    count = ones(word)
    while left >= count:
        left -= count
        at += 1
        word = marks[at] ^ turn
        count = ones(word)
    for _ in range(left):
        word &= word - ONE
    # Below the lowest mark, nothing but missing ones.
    return at * 64 + ones((word & (~word + ONE)) - ONE)
