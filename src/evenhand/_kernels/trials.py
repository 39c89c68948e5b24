"""Loops over many trials with two items and few votes each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.int64]

# Rows whose laws stay in the nearest cache together.
ABREAST = 64
# Places that are kept of a law beyond its last count.
PADDED = 6


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
    rows = len(chances)
    margins = np.zeros(rows)
    whole = rows // ABREAST * ABREAST
    _add_margins(chances[:whole], margins[:whole], ABREAST)
    _add_margins(chances[whole:], margins[whole:], rows - whole)
    return margins


@kernel
def _add_margins(chances: Floats, margins: Floats, wide: int) -> None:
    """Add to zeros the margins of rows, so many of them side by side."""
    rows, votes = chances.shape
    half, rest = votes // 2, votes - votes // 2
    ones, others = np.empty((half + PADDED, wide)), np.empty((rest + PADDED, wide))
    # Of the rest: at least so many votes, and fewer.
    least, fewer = np.zeros((rest + 2, wide)), np.zeros((rest + 2, wide))
    for first in range(0, rows, max(1, wide)):
        some = chances[first : first + wide]
        if wide == ABREAST:
            _multiply_abreast(some[:, :half], ones.reshape(-1))
            _multiply_abreast(some[:, half:], others.reshape(-1))
        else:
            _multiply_out(some[:, :half], ones)
            _multiply_out(some[:, half:], others)
        for count in range(rest + 1):
            _add(fewer[count], others[rest - count], fewer[count + 1])
            _add(least[rest - count + 1], others[count], least[rest - count])
        for count in range(half + 1):
            needed = min(max(half - count + 1, 0), rest + 1)
            short = min(max(rest - count, 0), rest + 1)
            here, more, less = ones[half - count], least[needed], fewer[short]
            for row in range(wide):
                margins[first + row] += here[row] * (more[row] - less[row])


@kernel
def _multiply_abreast(chances: Floats, laws: Floats) -> None:
    """Do what `_multiply_out` does, to the last bit, on ABREAST rows.

    Two votes are taken at a time, and four places of the law: numbers are read less
    often, and the same ones computed. Beyond the law there are zeros.

    Args:
        chances: Chance of each vote, shape (ABREAST, votes).
        laws: The laws, one place of all rows after another, PADDED places too many.
    """
    votes, wide = chances.shape[1], ABREAST
    given = np.zeros(4 * wide)
    laws[:] = 0.0
    laws[votes * wide : (votes + 1) * wide] = 1.0
    for vote in range(0, votes, 2):
        for row in range(wide):
            # A vote too many is one that is never given.
            second = chances[row, vote + 1] if vote + 1 < votes else 0.0
            given[row], given[wide + row] = chances[row, vote], second
            given[2 * wide + row] = 1.0 - chances[row, vote]
            given[3 * wide + row] = 1.0 - second
        for place in range(max(0, votes - vote - 2), votes + 1, 4):
            some = laws[place * wide : (place + 6) * wide]
            for row in range(wide):
                one, two = given[row], given[wide + row]
                not_one, not_two = given[2 * wide + row], given[3 * wide + row]
                a, b, c = some[row], some[wide + row], some[2 * wide + row]
                d, e = some[3 * wide + row], some[4 * wide + row]
                f = some[5 * wide + row]
                a = a * not_one + b * one
                b = b * not_one + c * one
                c = c * not_one + d * one
                d = d * not_one + e * one
                e = e * not_one + f * one
                some[row] = a * not_two + b * two
                some[wide + row] = b * not_two + c * two
                some[2 * wide + row] = c * not_two + d * two
                some[3 * wide + row] = d * not_two + e * two


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
