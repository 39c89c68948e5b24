"""The majority of many independent votes, from the characteristic function.

A vote of chance p is worth 1/2 or -1/2, and its image is cos h + i d sin h with d =
2 p - 1 and h half the angle. With y = 4 p (1 - p) the logarithm of the image's size is
-1/2 sum over a of (y sin(h)**2)**a / a, and its angle is d times the sum over a of y**a
times the integral of sin**(2 a) from 0 to h. So a few sums over all votes give every
frequency, and no rounding piles up as it does in a product of a million factors. Only
votes for which the sums converge slowly are multiplied out; there are few of them,
because large angles are needed only where all y together are small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Minus the logarithm of what may be left out of a sum of probabilities.
SPARE = 40.0
# Up to so many votes are all multiplied out.
FEW = 256
# Votes of a larger ratio y sin(h)**2 are multiplied out, at most 16 SPARE of them.
STRONG = 0.125
MOST_TERMS = 24
# Additions to one sum before it is added up with others: a bound on rounding.
LANES = 256
ROUNDS = 16


@kernel
def majority_margins(chances: Floats) -> Floats:
    """Return P(more votes for than against) - P(fewer) of many independent votes.

    All but exp(-SPARE) of the law of the number of votes lies within Bernstein's bound
    of the mean, so few frequencies are needed: about 30, however many votes there are.

    Args:
        chances: Chance of each vote, shape (rows, votes); in increasing order fewer of
            them are multiplied out.

    Returns:
        Margins, shape (rows,); the error is below 1e-14.
    """
    rows, votes = chances.shape
    margins = np.empty(rows)
    for row in range(rows):
        total, scatter = _first_sums(chances[row])
        variance = scatter / 4
        reach = SPARE / 3 + np.sqrt(SPARE * SPARE / 9 + 2 * SPARE * variance)
        low = int(np.floor(total - reach))
        period = int(np.ceil(total + reach)) - low + 1
        # The image is at most exp(-variance (1 - cos angle)) in size.
        waves, steepest = period // 2 + 1, 1.0
        if 2 * variance > SPARE:
            furthest = np.arccos(1 - SPARE / variance)
            waves = min(waves, int(furthest * period / (2 * np.pi)) + 2)
            steepest = np.sin(np.pi * min(0.5, (waves - 1) / period)) ** 2
        real, imaginary = _images(chances[row], waves, period, steepest)
        margin = 0.0
        for wave in range(waves):
            win = _swing(wave, max(low, votes // 2 + 1), low + period, period, votes)
            end = min((votes + 1) // 2, low + period)
            loss = _swing(wave, low, end, period, votes)
            share = real[wave] * (win[0] - loss[0])
            share += imaginary[wave] * (win[1] - loss[1])
            margin += share if wave == 0 or 2 * wave == period else 2 * share
        margins[row] = margin / period
    return margins


@kernel
def _swing(
    wave: int, start: int, stop: int, period: int, votes: int
) -> tuple[float, float]:
    """Sum cos and sin of 2 pi wave (count - votes / 2) / period over counts."""
    number = max(0, stop - start)
    if wave == 0:
        return float(number), 0.0
    # A geometric sum; its angles are reduced in integers, where that is exact.
    unit = np.pi / period
    middle = unit * ((wave * (start + stop - 1 - votes)) % (2 * period))
    length = np.sin(unit * ((wave * number) % (2 * period))) / np.sin(unit * wave)
    return length * np.cos(middle), length * np.sin(middle)


@kernel
def _images(
    chances: Floats, waves: int, period: int, steepest: float
) -> tuple[Floats, Floats]:
    """Return the image of all votes at each frequency."""
    votes = len(chances)
    half = np.pi * np.arange(waves) / period
    sines, cosines = np.sin(half), np.cos(half)
    real, imaginary = np.ones(waves), np.zeros(waves)
    start, stop = 0, votes
    if votes > FEW:
        start, stop = strong_votes(chances, steepest)
        terms = _terms(min(STRONG, steepest))
        evens, odds = np.zeros(terms + 1), np.zeros(terms + 1)
        _add_powers(chances[:start], evens, odds)
        _add_powers(chances[stop:], evens, odds)
        odds[0] = _lean(chances[:start], chances[stop:])
        for wave in range(1, waves):
            size, angle = _series(half[wave], evens, odds)
            real[wave] = np.exp(size) * np.cos(angle)
            imaginary[wave] = np.exp(size) * np.sin(angle)
    for vote in range(start, stop):
        lean = 2 * chances[vote] - 1
        for wave in range(waves):
            across = lean * sines[wave]
            before = real[wave]
            real[wave] = before * cosines[wave] - imaginary[wave] * across
            imaginary[wave] = before * across + imaginary[wave] * cosines[wave]
    return real, imaginary


@kernel
def strong_votes(chances: Floats, steepest: float) -> tuple[int, int]:
    """Return where the votes begin, and end, that must be multiplied out.

    In increasing order they are together, as theirs are the middling chances.

    Args:
        chances: Chance of each vote.
        steepest: Largest square of the sine of half an angle.
    """
    start, stop = 0, len(chances)
    bound = STRONG / steepest
    while start < stop and 4 * chances[start] * (1 - chances[start]) <= bound:
        start += 1
    while stop > start and 4 * chances[stop - 1] * (1 - chances[stop - 1]) <= bound:
        stop -= 1
    return start, stop


@kernel
def _terms(ratio: float) -> int:
    """Return how many terms of a series leave out nothing that counts."""
    return min(MOST_TERMS, int((SPARE + np.log(2 * SPARE)) / -np.log(ratio)) + 2)


@kernel
def _series(half: float, evens: Floats, odds: Floats) -> tuple[float, float]:
    """Return the logarithm of the size, and the angle, of the image of all votes."""
    terms = len(evens) - 1
    sine, cosine = np.sin(half), np.cos(half)
    square = sine * sine
    size, power = 0.0, 1.0
    for term in range(1, terms + 1):
        power *= square
        size -= power * evens[term] / (2 * term)
    angle = 0.0
    if square > 0.5:  # noqa: PLR2004 - the sine of 45 degrees
        # Upwards: what is lost is absolute, and the sums are small at such angles.
        integral, power = half, sine * cosine
        for term in range(terms + 1):
            angle += integral * odds[term]
            integral = ((2 * term + 1) * integral - power) / (2 * term + 2)
            power *= square
        return size, angle
    # Downwards: the start is forgotten by a factor of the square in each step. Here
    # the integral is divided by sine**(2 term + 1), so that it never underflows.
    integral = 0.0
    for term in range(terms + int(SPARE / -np.log(square)) + 1, 0, -1):
        integral = (2 * term * square * integral + cosine) / (2 * term - 1)
        if term - 1 <= terms:
            angle = angle * square + integral * odds[term - 1]
    return size, angle * sine


@kernel
def _add_powers(chances: Floats, evens: Floats, odds: Floats) -> None:
    """Add y**a and d y**a of all votes to the sums, a = 1, 2, ..."""
    terms = len(evens) - 1
    votes = len(chances)
    even, odd = np.zeros((terms, LANES)), np.zeros((terms, LANES))
    y, d, power = np.zeros(LANES), np.zeros(LANES), np.zeros(LANES)
    carried = np.zeros((2, terms + 1))
    for block in range(0, votes, LANES * ROUNDS):
        even[:], odd[:] = 0.0, 0.0
        for first in range(block, min(votes, block + LANES * ROUNDS), LANES):
            width = min(LANES, votes - first)
            y[:] = 0.0
            for lane in range(width):
                chance = chances[first + lane]
                y[lane] = 4 * chance * (1 - chance)
                d[lane] = 2 * chance - 1
            power[:] = 1.0
            for term in range(terms):
                for lane in range(LANES):
                    power[lane] *= y[lane]
                    even[term, lane] += power[lane]
                    odd[term, lane] += power[lane] * d[lane]
        for term in range(terms):
            _carry(evens, carried[0], term + 1, _pairwise(even[term]))
            _carry(odds, carried[1], term + 1, _pairwise(odd[term]))
    evens += carried[0]
    odds += carried[1]


@kernel
def _lean(low: Floats, high: Floats) -> float:
    """Return the sum of 2 p - 1; small numbers are not lost beside large ones."""
    sums, lost = np.zeros(1), np.zeros(1)
    for part in (low, high):
        total, rest = _exact_sum(part)
        _carry(sums, lost, 0, total)
        lost[0] += rest
    return float((2 * sums[0] - (len(low) + len(high))) + 2 * lost[0])


@kernel
def _first_sums(chances: Floats) -> tuple[float, float]:
    """Return the sums of p and of 4 p (1 - p)."""
    total, rest = _exact_sum(chances)
    lanes = np.zeros(LANES)
    for first in range(0, len(chances), LANES):
        for lane in range(min(LANES, len(chances) - first)):
            chance = chances[first + lane]
            lanes[lane] += 4 * chance * (1 - chance)
    return total + rest, _pairwise(lanes)


@kernel
def _exact_sum(numbers: Floats) -> tuple[float, float]:
    """Add numbers up, and what the additions lost."""
    sums, lost = np.zeros(LANES), np.zeros(LANES)
    for first in range(0, len(numbers), LANES):
        for lane in range(min(LANES, len(numbers) - first)):
            number = numbers[first + lane]
            after = sums[lane] + number
            back = after - sums[lane]
            lost[lane] += (sums[lane] - (after - back)) + (number - back)
            sums[lane] = after
    kept, rest = np.zeros(1), np.zeros(1)
    for lane in range(LANES):
        _carry(kept, rest, 0, sums[lane])
    for lane in range(LANES):
        rest[0] += lost[lane]
    return float(kept[0]), float(rest[0])


@kernel
def _carry(sums: Floats, lost: Floats, place: int, number: float) -> None:
    """Add a number to a sum, and what that lost to another."""
    before = sums[place]
    after = before + number
    back = after - before
    lost[place] += (before - (after - back)) + (number - back)
    sums[place] = after


@kernel
def _pairwise(lanes: Floats) -> float:
    """Add up in pairs, overwriting; the length is a power of two."""
    width = len(lanes) // 2
    while width > 0:
        for lane in range(width):
            lanes[lane] += lanes[lane + width]
        width //= 2
    return float(lanes[0])
