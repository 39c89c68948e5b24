"""How many assignments put a statistic at or beyond its observed value, by recursion.

Scores are natural numbers, so a sum of scores or a difference of two sums is a power in
a polynomial whose coefficients count assignments. Where the powers are small all its
coefficients are packed into one long integer; else those that are not 0 are listed.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from evenhand._kernels.redraws import sum_law
from evenhand.ab._centres import SAFE_BITS, Centres, Tails, total
from evenhand.errors import ConvergenceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.ab._centres import Levels
    from evenhand.ab._redraws import Redraws

    Law = tuple[NDArray[np.int64], NDArray[np.float64]]

Poly = TypeVar("Poly")

# Bits moved, about a second of work; and bits held at a time.
PACKED_WORK = 20_000_000_000
QUICK_WORK = 2_000_000_000
PACKED_BITS = 800_000_000
# Coefficients touched one at a time, about a second of work.
SPARSE_WORK = 1_000_000
# Steps of the compiled recursion, about a second of work; and numbers held at a time.
FLOAT_WORK = 10_000_000_000
FLOAT_CELLS = 25_000_000
# Tables gone through, about a second of work; and the largest share left out.
TABLE_CELLS = 60_000_000
LEFT_OUT = 1e-20
PAIR = 2
# A median is of so many scores at most, and has few values.
FEW = 2


def packed_tails(
    redraws: Redraws, centres: Centres, limit: int = PACKED_WORK
) -> Tails | None:
    """Count with polynomials packed into integers, or None if that is too much work."""
    counter = _Sums(redraws, centres) if centres.whole else _Orders(redraws, centres)
    bits = redraws.n_units + 1
    work, held = counter.cost()
    if work * bits > limit or held * bits > PACKED_BITS:
        return None
    return counter.tails(_Packed(bits))


def sparse_tails(redraws: Redraws, centres: Centres) -> Tails | None:
    """Count with polynomials of few terms, or None if that is too much work."""
    counter = _Sums(redraws, centres) if centres.whole else _Orders(redraws, centres)
    if min(counter.terms(), counter.cost()[1]) > SPARSE_WORK:
        return None
    try:
        # Coefficients of very many bits take longer.
        return counter.tails(_Sparse(SPARSE_WORK // (1 + redraws.n_units // 512)))
    except ConvergenceError:
        return None


def sum_chances(redraws: Redraws, centres: Centres) -> tuple[float, float] | None:
    """Return the shares of both tails in floats, or None if that is too much work.

    They are positive sums of positive terms, so all but some four digits of a float
    are right, however small they are. Only where all scores count, and reviewers are
    exchangeable.
    """
    if not centres.whole or not redraws.exchangeable:
        return None
    size = len(redraws.values)
    coins = redraws.counts is None
    counts = (size,) if redraws.counts is None else redraws.counts
    span = sum(redraws.values[size - counts[-1] :]) + 1
    cells = (counts[-1] + 1) * span
    if cells > FLOAT_CELLS or cells * size * len(counts) > FLOAT_WORK:
        return None
    values = np.array(redraws.values, dtype=np.int64)
    above = below = 0.0
    for count in counts:
        law = sum_law(values, -1 if coins else count, count)
        for ahead in range(size + 1) if coins else (count,):
            tails = _float_tails(law[ahead], redraws, centres, ahead)
            above += tails[0] / len(counts)
            below += tails[1] / len(counts)
    # No share is 0, for the observed assignment is in both tails.
    least = sys.float_info.min
    return min(max(above, least), 1.0), min(max(below, least), 1.0)


def table_chances(
    redraws: Redraws, centres: Centres, levels: Levels
) -> tuple[float, float] | None:
    """Return the shares of both tails from counts by level, or None if too much work.

    For very many scores on few levels. The first item's numbers of scores of each level
    are binomial, given their sum. Tables with a number too far from its mean are left
    out; their share is at most LEFT_OUT, which is added, so that no value is too low.
    Only where all scores count, and the number of the first item's is fixed.
    """
    if not centres.whole or redraws.counts is None or len(levels.sizes) < PAIR:
        return None
    above = below = LEFT_OUT
    for count in redraws.counts:
        edge = _sum_edge(redraws, centres, count)
        found = _table_tails(levels, count, edge)
        if found is None:
            return None
        above += found[0] / len(redraws.counts)
        below += found[1] / len(redraws.counts)
    return min(above, 1.0), min(below, 1.0)


def _table_tails(
    levels: Levels, ahead: int, edge: tuple[int, int]
) -> tuple[float, float] | None:
    """Go through the tables of all levels but the two largest, which have a law."""
    size = sum(levels.sizes)
    if max(levels.values).bit_length() + size.bit_length() > SAFE_BITS:
        return None
    by_size = sorted(zip(levels.sizes, levels.values, strict=True), reverse=True)
    laws = [
        (value, _binomial(count, ahead / size, len(by_size)))
        for count, value in by_size
    ]
    (low, one), (high, two) = sorted(laws[:PAIR], key=lambda law: law[0])
    *firsts, last = laws[PAIR:] or [(0, (np.zeros(1, np.int64), np.ones(1)))]
    # How many scores are left to the two largest levels.
    fewest, most = (
        ahead - sum(int(law[0][end]) for _, law in laws[PAIR:]) for end in (-1, 0)
    )
    work = math.prod(float(len(law[0])) for _, law in laws[PAIR:])
    if max(work, (most - fewest + 1) * len(two[0])) > TABLE_CELLS:
        return None
    beyond, up_to = _two_levels(one, two, np.arange(fewest, most + 1))
    held, added, weights = np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1)
    for value, (numbers, chances) in firsts:
        held = np.add.outer(numbers, held).ravel()
        added = np.add.outer(value * numbers, added).ravel()
        weights = np.multiply.outer(chances, weights).ravel()
    tails = np.zeros(3)
    start, step, width = two[0][0], high - low, len(two[0])
    for number, chance in zip(*map(np.ndarray.tolist, last[1]), strict=True):
        left = ahead - number - held
        rest = added + last[0] * number + low * left
        least = np.clip(-((rest - edge[0]) // step) - start, 0, width)
        ended = np.clip((edge[1] - rest) // step + 1 - start, 0, width)
        row = left - fewest
        shares = beyond[row, least], up_to[row, ended], beyond[row, 0]
        # Without BLAS, whose threads would take longer than these sums.
        tails += [chance * np.einsum("i,i", weights, share) for share in shares]
    return float(tails[0] / tails[2]), float(tails[1] / tails[2])


def _two_levels(
    one: Law, two: Law, left: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return, by how many scores two levels have, tails of how many are of the second.

    In column i: i or more of the numbers in `two`, by place; and fewer than i.
    """
    places = left[:, None] - two[0] - one[0][0]
    within = (places >= 0) & (places < len(one[0]))
    law = np.where(within, one[1][np.where(within, places, 0)], 0.0) * two[1]
    edge = np.zeros((len(left), 1))
    up_to = np.hstack([edge, np.cumsum(law, axis=1)])
    return np.hstack([np.cumsum(law[:, ::-1], axis=1)[:, ::-1], edge]), up_to


def _binomial(size: int, share: float, levels: int) -> Law:
    """Return numbers from the middle of a binomial law, and what is proportional to it.

    Hoeffding (1963), sections 2 and 6: numbers farther from the mean, given the sum of
    all levels, have a probability of at most LEFT_OUT over the number of levels.
    """
    reach = math.sqrt(size * math.log(2 * levels / LEFT_OUT) / 2)
    start = max(0, math.ceil(size * share - reach))
    stop = min(size, math.floor(size * share + reach))
    numbers = np.arange(start, stop + 1)
    steps = (size - numbers[:-1]) / numbers[1:] * (share / (1 - share))
    logs = np.concatenate([[0.0], np.cumsum(np.log(steps))])
    return numbers, np.exp(logs - logs.max())


def _float_tails(
    row: NDArray[np.float64], redraws: Redraws, centres: Centres, ahead: int
) -> tuple[float, float]:
    if ahead in (0, len(redraws.values)):
        tails = centres.empty_side(1)
        everything = float(row.sum())
        return tails.above * everything, tails.below * everything
    low, high = _sum_edge(redraws, centres, ahead)
    return float(row[max(low, 0) :].sum()), float(row[: max(high + 1, 0)].sum())


def _sum_edge(redraws: Redraws, centres: Centres, ahead: int) -> tuple[int, int]:
    """Return the observed value as a sum of the first item's scores, from and to."""
    edge = centres.edge(ahead, len(redraws.values) - ahead)
    # The second item has the rest of the total.
    one, two = edge.weights
    rest = two * sum(redraws.values)
    return -((-edge.low - rest) // (one + two)), (edge.high + rest) // (one + two)


class _Polynomials(Protocol[Poly]):
    """Polynomials with natural coefficients that add up to at most 2**n_units."""

    def one(self) -> Poly: ...

    def plus_moved(self, held: Poly | None, added: Poly, by: int, ways: int) -> Poly:
        """Return held + ways * z**by * added."""

    def tails(self, held: Poly, low: int, high: int) -> Tails:
        """Add up coefficients from the power low on, and up to the power high."""


class _Packed:
    """All coefficients in one integer, of so many bits each."""

    def __init__(self, bits: int) -> None:
        self._bits = bits
        # An integer is, modulo this, the sum of its digits in base 2**bits.
        self._digits = (1 << bits) - 1

    def one(self) -> int:
        return 1

    def plus_moved(self, held: int | None, added: int, by: int, ways: int) -> int:
        return (held or 0) + (added * ways << by * self._bits)

    def tails(self, held: int, low: int, high: int) -> Tails:
        powers = held.bit_length() // self._bits + 1
        above = held >> min(max(low, 0), powers) * self._bits
        up_to = min(max(high + 1, 0), powers) * self._bits
        below = held & ((1 << up_to) - 1)
        return Tails(above % self._digits, below % self._digits)


class _Sparse:
    """Coefficients by power."""

    def __init__(self, work: int) -> None:
        self._left = work

    def one(self) -> dict[int, int]:
        return {0: 1}

    def plus_moved(
        self, held: dict[int, int] | None, added: dict[int, int], by: int, ways: int
    ) -> dict[int, int]:
        self._left -= len(added)
        if self._left < 0:
            raise ConvergenceError("There are too many different sums to count.")
        together = {} if held is None else held
        for power, coefficient in added.items():
            place = power + by
            together[place] = together.get(place, 0) + coefficient * ways
        return together

    def tails(self, held: dict[int, int], low: int, high: int) -> Tails:
        above = sum(ways for power, ways in held.items() if power >= low)
        return Tails(above, sum(ways for power, ways in held.items() if power <= high))


class _Sums:
    """Where all scores count: by units on, scores of the first item and their sum."""

    def __init__(self, redraws: Redraws, centres: Centres) -> None:
        self._redraws = redraws
        self._centres = centres
        on = [(0, 0)] * redraws.n_units
        off = on.copy()
        for value, unit, when_on in zip(
            redraws.values, redraws.unit, redraws.when_on, strict=True
        ):
            side = on if when_on else off
            size, added = side[unit]
            side[unit] = size + 1, added + value
        self._on, self._off = on, off

    def cost(self) -> tuple[float, float]:
        """Return coefficients moved and held, for packed polynomials."""
        counts = self._redraws.counts
        gaps = [abs(a[1] - b[1]) for a, b in zip(self._on, self._off, strict=True)]
        most = self._redraws.n_units if counts is None else counts[-1]
        span = sum(sorted(gaps)[len(gaps) - most :]) + 1
        sizes = {(a[0], b[0]) for a, b in zip(self._on, self._off, strict=True)}
        states = 1 if counts is None else most + 1
        fixed = len(sizes) == 1 and (counts is not None or sizes == {(1, 1)})
        states *= 1 if fixed else len(self._redraws.values) + 1
        return states * len(gaps) * span, states * span

    def terms(self) -> float:
        """Return how many different sums there may be, for sparse polynomials."""
        units = Counter(zip(self._on, self._off, strict=True))
        return math.prod(float(number + 1) for number in units.values())

    def tails(self, polynomials: _Polynomials[Poly]) -> Tails:
        redraws, counts = self._redraws, self._redraws.counts
        states = {(0, 0): polynomials.one()}
        # Each unit adds at least the smaller of its two sums.
        least = sum(min(a[1], b[1]) for a, b in zip(self._on, self._off, strict=True))
        for index, ways in enumerate(zip(self._on, self._off, strict=True)):
            left = redraws.n_units - index - 1
            floor = min(ways[0][1], ways[1][1])
            reached: dict[tuple[int, int], Poly] = {}
            for (on, ahead), held in states.items():
                for step, (size, added) in zip((1, 0), ways, strict=True):
                    after = on + (0 if counts is None else step)
                    if counts and not counts[0] - left <= after <= counts[-1]:
                        continue
                    key = after, ahead + size
                    reached[key] = polynomials.plus_moved(
                        reached.get(key), held, added - floor, 1
                    )
            states = reached
        parts = (
            self._compare(ahead, held, least, polynomials)
            for (_, ahead), held in states.items()
        )
        return total(parts)

    def _compare(
        self, ahead: int, held: Poly, least: int, polynomials: _Polynomials[Poly]
    ) -> Tails:
        size = len(self._redraws.values)
        if ahead in (0, size):
            return self._centres.empty_side(polynomials.tails(held, 0, 0).above)
        low, high = _sum_edge(self._redraws, self._centres, ahead)
        return polynomials.tails(held, low - least, high - least)


class _Orders:
    """Where some scores count: by scores of the first item among the lowest, and sums.

    Reviewers must be exchangeable. Levels of scores are gone through in increasing
    order, so that it is known which of a side's scores count.
    """

    def __init__(self, redraws: Redraws, centres: Centres) -> None:
        self._centres = centres
        self._exchangeable = redraws.exchangeable
        levels, sizes = np.unique(_plain(redraws.values), return_counts=True)
        self._levels: list[tuple[int, int]] = list(
            zip(levels.tolist(), sizes.tolist(), strict=True)
        )
        self._size = len(redraws.values)
        counts = redraws.counts
        self._counts = range(self._size + 1) if counts is None else counts

    def cost(self) -> tuple[float, float]:
        """Return coefficients moved and held, infinite where it cannot be done."""
        if not self._exchangeable:
            return math.inf, math.inf
        work = held = 0
        for ahead in self._counts:
            if 0 < ahead < self._size:
                weights = self._centres.edge(ahead, self._size - ahead).weights
                start, stop = self._centres.kept(ahead)
                span = 2 * self._levels[-1][0] * weights[0] * (stop - start) + 1
                fewer = min(ahead, self._size - ahead) + 1
                work += fewer * (self._size + len(self._levels)) * span
                held = max(held, fewer * span)
        return work, held

    def terms(self) -> float:
        """Return how many different sums there may be, infinite as for the cost."""
        if not self._exchangeable:
            return math.inf
        start, stop = self._centres.kept(self._size)
        if stop - start <= FEW:
            return 0.0
        return math.prod(float(size + 1) for _, size in self._levels)

    def tails(self, polynomials: _Polynomials[Poly]) -> Tails:
        parts = []
        for ahead in self._counts:
            if ahead in (0, self._size):
                parts.append(self._centres.empty_side(1))
            else:
                parts.append(self._of_count(ahead, polynomials))
        return total(parts)

    def _of_count(self, ahead: int, polynomials: _Polynomials[Poly]) -> Tails:
        edge = self._centres.edge(ahead, self._size - ahead)
        kept = [self._centres.kept(count) for count in (ahead, self._size - ahead)]
        top = self._levels[-1][0]
        # The second item's scores count by what they lack, so that powers only rise.
        most = edge.weights[1] * top * (kept[1][1] - kept[1][0])
        states, seen, parts = {0: polynomials.one()}, 0, []
        for value, size in self._levels:
            gains = edge.weights[0] * value, edge.weights[1] * (top - value)
            seen += size
            ways = [math.comb(size, taken) for taken in range(size + 1)]
            reached: dict[int, Poly] = {}
            for held, poly in states.items():
                others = seen - size - held
                for taken in range(size + 1):
                    after = held + taken
                    if after > ahead or seen - after > self._size - ahead:
                        continue
                    by = gains[0] * _overlap(held, after, kept[0])
                    by += gains[1] * _overlap(others, seen - after, kept[1])
                    reached[after] = polynomials.plus_moved(
                        reached.get(after), poly, by, ways[taken]
                    )
            states = {}
            for after, poly in reached.items():
                if after < kept[0][1] or seen - after < kept[1][1]:
                    states[after] = poly
                    continue
                # Nothing further counts, and the rest may go anywhere.
                rest = math.comb(self._size - seen, ahead - after)
                found = polynomials.tails(poly, edge.low + most, edge.high + most)
                parts.append(Tails(found.above * rest, found.below * rest))
        return total(parts)


def _overlap(start: int, stop: int, kept: tuple[int, int]) -> int:
    return max(0, min(stop, kept[1]) - max(start, kept[0]))


def _plain(values: tuple[int, ...]) -> NDArray[np.generic]:
    wide = max(values).bit_length() > SAFE_BITS
    return np.array(values, dtype=object if wide else np.int64)
