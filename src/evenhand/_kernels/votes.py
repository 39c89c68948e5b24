"""The majority of many independent votes, from the characteristic function.

A vote of chance p is worth 1/2 or -1/2, and its image is cos h + i d sin h with d =
2 p - 1 and h half the angle. With y = 4 p (1 - p) the logarithm of the image's size is
-1/2 sum over a of (y sin(h)**2)**a / a, and its angle is d times the sum over a of y**a
times the integral of sin**(2 a) from 0 to h. So a few sums over all votes give every
frequency, and no rounding piles up as it does in a product of a million factors. Only
votes for which the sums converge slowly are multiplied out; there are few of them,
because large angles are needed only where all y together are small.

Sums are of whole numbers: each number is rounded to a multiple of UNIT, and what is
left, if it counts, to one of UNIT**2. So they are the same in any order, and nothing is
sorted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import kernel
from evenhand._kernels.trials import turn_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
    Floats = NDArray[np.float64]

# Minus the logarithm of what may be left out of a sum of probabilities.
SPARE = 40.0
# Up to so many votes are all multiplied out.
FEW = 256
# Votes of a larger ratio y sin(h)**2 are multiplied out, at most 16 SPARE of them.
STRONG = 0.125
MOST_TERMS = 24
# Votes summed at a time: they stay in the nearest cache, and their sum in one word.
WIDE = 512
# Between 2 and 4 floats are whole multiples of the unit, and their bits count these. A
# number of at most 1 plus this one is such a float.
MIDDLE = 3.0
UNIT = 2.0**-51
START = int(np.float64(MIDDLE).view(np.int64))
# A sum is held in two halves, of this many bits and of the rest.
HALF_BITS = 32
HALF = 1 << HALF_BITS
# As many halves in 1.
UPPER = 1 << 51 - HALF_BITS
# Rounding to units may add up to this many of them.
ROUNDED = 2.0**-6


@kernel
def count_outside(chances: Floats) -> int:
    """Return how many chances are not between 0 and 1, or not numbers."""
    inside = 0
    for vote in range(len(chances)):
        chance = chances[vote]
        inside += int(chance >= 0.0) & int(chance <= 1.0)
    return len(chances) - inside


@kernel
def majority_margins(chances: Floats) -> Floats:
    """Return P(more votes for than against) - P(fewer) of many independent votes.

    All but exp(-SPARE) of the law of the number of votes lies within Bernstein's bound
    of the mean, so few frequencies are needed: about 30, however many votes there are.

    Args:
        chances: Chance of each vote, shape (rows, votes). Up to FEW are multiplied out
            as they come; the order of more does not change a bit, and the other way
            round the margin is the same but for its sign.

    Returns:
        Margins, shape (rows,); the error is below 1e-14.
    """
    rows, votes = chances.shape
    margins = np.empty(rows)
    for row in range(rows):
        many = votes > FEW
        margins[row] = _of_many(chances[row]) if many else _of_some(chances[row])
    return margins


@kernel
def _of_some(chances: Floats) -> float:
    total, scatter = 0.0, 0.0
    for chance in chances:
        total += chance
        scatter += 4 * chance * (1 - chance)
    low, period, waves, _ = _window(total, scatter)
    real, imaginary = np.ones(waves), np.zeros(waves)
    _multiply(chances, period, real, imaginary)
    return _margin(real, imaginary, low, period, len(chances))


@kernel
def _of_many(chances: Floats) -> float:
    votes = len(chances)
    total, scatter = _first_sums(chances, 1)
    # Of the two ways round, always the same one is computed.
    side = _sign(_lean(total, votes))
    way = -1 if side < 0 else 1
    if way < 0:
        total, scatter = _first_sums(chances, way)
    low, period, waves, steepest = _window(_as_float(total), scatter)
    terms, exact = _terms(min(STRONG, steepest)), _exact_terms(votes, steepest)
    bound = STRONG / steepest
    evens, odds = _power_sums(chances, way, bound, terms, exact)
    strong = strong_votes(chances, way, bound)
    for term in range(terms + 1):
        side = side if side != 0 else _sign(odds[term])
    # Where the votes do not lean, the first sums are the same both ways round.
    if side < 0 < way:
        evens, odds = _power_sums(chances, side, bound, terms, exact)
        strong = strong_votes(chances, side, bound)
    if side == 0:
        side = turn_rows(strong.reshape(1, len(strong)))[0]
    total -= _first_sums(strong, 1)[0]
    odds[0] = _lean(total, votes - len(strong))
    real, imaginary = np.ones(waves), np.zeros(waves)
    for wave in range(1, waves):
        size, angle = _series(np.pi * wave / period, evens, odds)
        real[wave] = np.exp(size) * np.cos(angle)
        imaginary[wave] = np.exp(size) * np.sin(angle)
    _multiply(strong, period, real, imaginary)
    return side * _margin(real, imaginary, low, period, votes)


@kernel
def _window(total: float, scatter: float) -> tuple[int, int, int, float]:
    """Return where the law begins, its length, how many frequencies are needed of it.

    And the largest square of the sine of half an angle.
    """
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
    return low, period, waves, steepest


@kernel
def _margin(
    real: Floats, imaginary: Floats, low: int, period: int, votes: int
) -> float:
    """Turn the images of a law into its margin."""
    margin = 0.0
    for wave in range(len(real)):
        win = _swing(wave, max(low, votes // 2 + 1), low + period, period, votes)
        end = min((votes + 1) // 2, low + period)
        loss = _swing(wave, low, end, period, votes)
        share = real[wave] * (win[0] - loss[0])
        share += imaginary[wave] * (win[1] - loss[1])
        margin += share if wave == 0 or 2 * wave == period else 2 * share
    return margin / period


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
def _multiply(chances: Floats, period: int, real: Floats, imaginary: Floats) -> None:
    """Multiply images by those of some votes, one after another."""
    waves = len(real)
    half = np.pi * np.arange(waves) / period
    sines, cosines = np.sin(half), np.cos(half)
    for chance in chances:
        lean = 2 * chance - 1
        for wave in range(waves):
            across = lean * sines[wave]
            before = real[wave]
            real[wave] = before * cosines[wave] - imaginary[wave] * across
            imaginary[wave] = before * across + imaginary[wave] * cosines[wave]


@kernel
def strong_votes(chances: Floats, way: int, bound: float) -> Floats:
    """Return the votes that must be multiplied out, in increasing order.

    Args:
        chances: Chance of each vote.
        way: 1, or -1 to turn them round.
        bound: Votes of a larger y are strong.
    """
    if bound >= 1:
        return np.empty(0)
    count = 0
    for vote in range(len(chances)):
        here = chances[vote] if way > 0 else 1 - chances[vote]
        count += int(4 * here * (1 - here) > bound)
    strong = np.empty(count)
    held = 0
    for vote in range(len(chances)):
        here = chances[vote] if way > 0 else 1 - chances[vote]
        if 4 * here * (1 - here) > bound:
            place = held
            while place > 0 and strong[place - 1] > here:
                strong[place] = strong[place - 1]
                place -= 1
            strong[place] = here
            held += 1
    return strong


@kernel
def _terms(ratio: float) -> int:
    """Return how many terms of a series leave out nothing that counts."""
    return min(MOST_TERMS, int((SPARE + np.log(2 * SPARE)) / -np.log(ratio)) + 2)


@kernel
def _exact_terms(votes: int, steepest: float) -> int:
    """Return of how many terms rounding to whole units would count."""
    terms, weight = 0, votes * steepest
    while terms < MOST_TERMS and weight >= ROUNDED:
        terms += 1
        weight *= steepest
    return terms


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
def _first_sums(chances: Floats, way: int) -> tuple[Codes, float]:
    """Return the sums of p, still in parts, and of 4 p (1 - p)."""
    votes = len(chances)
    total, scatter = np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64)
    for first in range(0, votes, WIDE):
        some = chances[first : first + WIDE]
        upper, lower, across = 0, 0, 0
        for lane in range(len(some)):
            here = some[lane] if way > 0 else 1 - some[lane]
            above = here + MIDDLE
            below = (here - (above - MIDDLE)) / UNIT + MIDDLE
            upper += _bits(above)
            lower += _bits(below)
            across += _bits(4 * here * (1 - here) + MIDDLE)
        _carry(total, upper, lower, len(some))
        _carry(scatter, across, 0, len(some))
    return total, _as_float(scatter)


@kernel
def _lean(total: Codes, votes: int) -> float:
    """Return the sum of 2 p - 1 of so many votes, from the sum of p in parts."""
    lean = 2 * total
    lean[0] -= votes * UPPER
    return _as_float(lean)


@kernel
def _power_sums(
    chances: Floats, way: int, bound: float, terms: int, exact: int
) -> tuple[Floats, Floats]:
    """Return the sums of y**a and d y**a, a = 1, 2, ..., of votes that are not strong.

    Args:
        chances: Chance of each vote.
        way: 1, or -1 to turn them round.
        bound: Votes of a larger y are strong.
        terms: How many powers.
        exact: Of how many of them the rest below a unit is summed too.
    """
    evens, odds = np.zeros(terms + 1), np.zeros(terms + 1)
    even = np.zeros((terms, 4), dtype=np.int64)
    odd = np.zeros((terms, 4), dtype=np.int64)
    y, d, power = np.empty(WIDE), np.empty(WIDE), np.empty(WIDE)
    for first in range(0, len(chances), WIDE):
        some = chances[first : first + WIDE]
        width = len(some)
        for lane in range(width):
            here = some[lane] if way > 0 else 1 - some[lane]
            spread = 4 * here * (1 - here)
            y[lane] = spread if spread <= bound else 0.0
            d[lane] = 2 * here - 1
            power[lane] = 1.0
        for term in range(terms):
            if term < exact:
                _add_exactly(y[:width], d, power, even[term], odd[term])
            else:
                _add_units(y[:width], d, power, even[term], odd[term])
    for term in range(terms):
        evens[term + 1], odds[term + 1] = _as_float(even[term]), _as_float(odd[term])
    return evens, odds


@kernel
def _add_units(y: Floats, d: Floats, power: Floats, even: Codes, odd: Codes) -> None:
    """Multiply powers by y, and add them, and d times them, to two sums of units."""
    one, two = 0, 0
    for lane in range(len(y)):
        here = power[lane] * y[lane]
        power[lane] = here
        one += _bits(here + MIDDLE)
        two += _bits(here * d[lane] + MIDDLE)
    _carry(even, one, 0, len(y))
    _carry(odd, two, 0, len(y))


@kernel
def _add_exactly(y: Floats, d: Floats, power: Floats, even: Codes, odd: Codes) -> None:
    """Do the same, and add up what is left below a unit."""
    one, two, less, least = 0, 0, 0, 0
    for lane in range(len(y)):
        here = power[lane] * y[lane]
        power[lane] = here
        above = here + MIDDLE
        one += _bits(above)
        less += _bits((here - (above - MIDDLE)) / UNIT + MIDDLE)
        there = here * d[lane]
        above = there + MIDDLE
        two += _bits(above)
        least += _bits((there - (above - MIDDLE)) / UNIT + MIDDLE)
    _carry(even, one, less, len(y))
    _carry(odd, two, least, len(y))


@kernel
def _bits(number: float) -> int:
    return int(np.float64(number).view(np.int64))


@kernel
def _carry(sums: Codes, upper: int, lower: int, count: int) -> None:
    """Add the bits of so many floats to a sum: of units, and of what is left if any."""
    above = upper - count * START
    sums[0] += above >> HALF_BITS
    sums[1] += above & (HALF - 1)
    if lower != 0:
        below = lower - count * START
        sums[2] += below >> HALF_BITS
        sums[3] += below & (HALF - 1)


@kernel
def _as_float(sums: Codes) -> float:
    # Each half is exact, so that only the last additions round.
    above = float(sums[0]) * HALF + float(sums[1])
    below = float(sums[2]) * HALF + float(sums[3])
    return (above + below * UNIT) * UNIT


@kernel
def _sign(number: float) -> int:
    return int(number > 0) - int(number < 0)
