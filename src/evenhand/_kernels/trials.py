"""Loops over many trials with two items: few votes each, and scores fixed by reviewer.

What is computed here is what the rules compute on arrays, to the last bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.int64]

# NumPy adds up to 128 numbers in eight columns.
COLUMNS = 8
# A mean that is nearer to another than this many roundings is compared exactly.
ROUNDINGS = 4 * 2.0**-52


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

    Args:
        chances: Chance of each vote, shape (rows, votes).

    Returns:
        Margins, shape (rows,).
    """
    rows, votes = chances.shape
    margins = np.empty(rows)
    # Shifted by one, with a zero in front; zeros after the end do no harm.
    laws = np.empty((2, votes + 2 + COLUMNS))
    for row in range(rows):
        laws[:] = 0.0
        laws[0, 1] = 1.0
        for vote in range(votes):
            chance = chances[row, vote]
            other = 1.0 - chance
            law, after = laws[vote % 2], laws[(vote + 1) % 2]
            # Whole columns, which the compiler turns into vectors.
            for first in range(1, vote + 3, COLUMNS):
                for column in range(COLUMNS):
                    place = first + column
                    after[place] = law[place] * other + law[place - 1] * chance
        law = laws[votes % 2]
        above = _sum(law, votes // 2 + 2, votes + 2)
        margins[row] = above - _sum(law, 1, (votes + 1) // 2 + 1)
    return margins


@kernel
def _sum(numbers: Floats, start: int, stop: int) -> float:
    """Add up in the order in which NumPy does."""
    total = 0.0
    place = start
    if stop - start >= COLUMNS:
        columns = np.zeros(COLUMNS)
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
    marks = np.zeros(size, dtype=np.int8)
    for trial in range(trials):
        for reviewer in range(half):
            marks[ranks[orders[trial, reviewer]]] = 1
        for reviewer in range(half, size):
            marks[ranks[orders[trial, reviewer]]] = 0
        upper = added[_find(marks, 1, place)] + values[trial, 1]
        lower = added[_find(marks, 0, place)] + values[trial, 0]
        sides[trial] = (upper > lower) - (upper < lower)
    return sides


@kernel
def _find(marks: NDArray[np.int8], mark: int, place: int) -> int:
    """Return where a mark is found for the time numbered by the place, from 0."""
    left = place
    rank = 0
    while left > 0 or marks[rank] != mark:
        left -= marks[rank] == mark
        rank += 1
    return rank
