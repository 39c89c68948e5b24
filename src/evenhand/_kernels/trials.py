"""Loops over many trials with two items: few votes each, and scores fixed by reviewer.

What is computed of fixed scores is what the rules compute on arrays, to the last bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import kernel
from evenhand._kernels.chances import rational_vote
from evenhand._kernels.kendall import ones

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.int64]

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

    Each half of the votes is multiplied out by itself, which takes half as long. Rows
    are taken side by side, so that each step is one of vectors.

    Args:
        chances: Chance of each vote, shape (rows, votes).

    Returns:
        Margins, shape (rows,).
    """
    rows, votes = chances.shape
    half, rest = votes // 2, votes - votes // 2
    margins = np.zeros(rows)
    wide = max(1, min(rows, ABREAST))
    ones, others = np.empty((half + 1, wide)), np.empty((rest + 1, wide))
    # Of the rest: at least so many votes, and fewer.
    least, fewer = np.zeros((rest + 2, wide)), np.zeros((rest + 2, wide))
    for first in range(0, rows, wide):
        some = chances[first : first + wide]
        _multiply_out(some[:, :half], ones)
        _multiply_out(some[:, half:], others)
        for count in range(rest + 1):
            _add(fewer[count], others[rest - count], fewer[count + 1])
            _add(least[rest - count + 1], others[count], least[rest - count])
        for count in range(half + 1):
            needed = min(max(half - count + 1, 0), rest + 1)
            short = min(max(rest - count, 0), rest + 1)
            here, more, less = ones[half - count], least[needed], fewer[short]
            for row in range(len(some)):
                margins[first + row] += here[row] * (more[row] - less[row])
    return margins


@kernel
def _multiply_out(chances: Floats, laws: Floats) -> None:
    # Set the law of each row's number of votes, from all of them to none.
    rows, votes = chances.shape
    wide = laws.shape[1]
    chance, other = np.zeros(wide), np.ones(wide)
    laws[:votes] = 0.0
    laws[votes] = 1.0
    for vote in range(votes):
        for row in range(rows):
            chance[row] = chances[row, vote]
            other[row] = 1.0 - chance[row]
        for place in range(votes - vote - 1, votes):
            here, after = laws[place], laws[place + 1]
            for row in range(wide):
                here[row] = here[row] * other[row] + after[row] * chance[row]
        none = laws[votes]
        for row in range(wide):
            none[row] *= other[row]


@kernel
def _add(one: Floats, two: Floats, into: Floats) -> None:
    for row in range(len(one)):
        into[row] = one[row] + two[row]


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
            chances[trial, pair] = rational_vote(gap, slope)
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
