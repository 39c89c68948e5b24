"""How many assignments put a statistic at or beyond its observed value.

A statistic is the difference of two central means: of all scores of a side (the mean),
of those left when both ends are cut (the trimmed mean), or of the one or two in the
middle (the median). Scores are natural numbers here, so that no rounding can break a
tie. A sum of scores or a difference of two sums is a power in a polynomial whose
coefficients count assignments: where the powers are small all its coefficients are
packed into one long integer; else those that are not 0 are listed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import numpy as np

from evenhand.errors import ConvergenceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.ab._redraws import Counts, Redraws

Kept = Callable[[int], tuple[int, int]]
Poly = TypeVar("Poly")

# Bits moved, about a second of work; and bits held at a time.
PACKED_WORK = 20_000_000_000
QUICK_WORK = 6_000_000_000
PACKED_BITS = 800_000_000
# Coefficients touched one at a time, about a second of work.
SPARSE_WORK = 1_000_000
# With more units it is too much work in any case.
MOST_UNITS = 2_000
# A median is of so many scores at most, and has few values.
FEW = 2
FLOAT_BITS = 53


class Tails(NamedTuple):
    """Numbers of assignments.

    Attributes:
        above: With the statistic at its observed value or above.
        below: With the statistic at its observed value or below.
    """

    above: int
    below: int


class Edge(NamedTuple):
    """The observed value, for redraws with a certain number of the first item's scores.

    With weights w1, w2 and sums K1, K2 of the scores that count, a redraw is at or
    above the observed value if and only if w1 K1 - w2 K2 >= low, and at or below it if
    and only if w1 K1 - w2 K2 <= high.
    """

    weights: tuple[int, int]
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Centres:
    """The difference of two central means, and its observed value.

    Attributes:
        kept: From a number of scores to the places, from and to, of those that count
            when they are in increasing order; never none of one or more scores.
        observed: The observed value.
        whole: Whether all scores count.
    """

    kept: Kept
    observed: Fraction
    whole: bool

    def edge(self, ahead: int, others: int) -> Edge:
        """Return the observed value for so many scores of each item, none of them 0."""
        sizes = [stop - start for start, stop in map(self.kept, (ahead, others))]
        common = math.lcm(*sizes)
        scaled = self.observed * common
        weights = common // sizes[0], common // sizes[1]
        return Edge(weights, math.ceil(scaled), math.floor(scaled))

    def sum_edge(self, redraws: Redraws, ahead: int) -> tuple[int, int]:
        """Return the observed value as a sum of the first item's scores, from and to.

        Only where all scores count: the second item has the rest of the total.
        """
        edge = self.edge(ahead, redraws.size - ahead)
        sizes = redraws.sizes.tolist()
        one, two = edge.weights
        rest = two * sum(map(int.__mul__, redraws.values, sizes))
        return -((-edge.low - rest) // (one + two)), (edge.high + rest) // (one + two)

    def empty_side(self, ways: int) -> Tails:
        """Count assignments that give one item to nobody.

        There the statistic is 0. The proof asks that, for each assignment by itself,
        it does not fall when a score of the first item rises and does not rise when
        one of the second does; a constant does neither. And 0 is its own opposite when
        the items swap names.
        """
        above = ways if self.observed <= 0 else 0
        return Tails(above, ways if self.observed >= 0 else 0)


def central_mean(values: Sequence[int], counts: Counts, kept: Kept) -> Fraction:
    """Return the mean of the scores that count, out of a table of scores.

    Examples:
        >>> central_mean([1, 2, 9], np.array([1, 3, 1]), lambda n: (1, n - 1))
        Fraction(2, 1)
    """
    start, stop = kept(int(counts.sum()))
    seen = np.clip(np.cumsum(counts), start, stop)
    numbers = np.diff(seen, prepend=start).tolist()
    return Fraction(sum(map(int.__mul__, values, numbers)), stop - start)


def tally(tables: Iterable[Counts], redraws: Redraws, centres: Centres) -> Tails:
    """Count given assignments, with exact comparisons.

    Args:
        tables: Rows with how many scores of each level the first item has.
        redraws: The levels of scores, and how many scores of each both items have.
        centres: The statistic.
    """
    size = redraws.size
    # Pieces of natural numbers whose sums are exact in floats.
    width = FLOAT_BITS - size.bit_length()
    places = range(0, max(max(redraws.values).bit_length(), 1), width)
    mask = (1 << width) - 1
    pieces = [[value >> place & mask for place in places] for value in redraws.values]
    limbs = np.array(pieces, dtype=np.float64)
    scale = np.array([1 << place for place in places], dtype=object)

    def sums(rows: Counts) -> NDArray[np.object_]:
        added = (rows.astype(np.float64) @ limbs).astype(np.int64).astype(object)
        return np.asarray(added @ scale)

    def central(rows: Counts, count: int) -> Counts:
        start, stop = centres.kept(count)
        seen = np.clip(rows.cumsum(axis=1, dtype=np.int64), start, stop)
        return np.asarray(np.diff(seen, prepend=start))

    everything = sums(redraws.sizes[None, :])[0]
    tails = [Tails(0, 0)]
    for table in tables:
        ahead = table.sum(axis=1)
        for count in np.unique(ahead).tolist():
            rows = table[ahead == count]
            if count in (0, size):
                tails.append(centres.empty_side(len(rows)))
                continue
            weights, low, high = centres.edge(count, size - count)
            if centres.whole:
                one = sums(rows)
                two = everything - one
            else:
                one = sums(central(rows, count))
                two = sums(central(redraws.sizes - rows, size - count))
            gaps = weights[0] * one - weights[1] * two
            tails.append(Tails(int((gaps >= low).sum()), int((gaps <= high).sum())))
    return _total(tails)


def counted_tails(
    redraws: Redraws, centres: Centres, *, quick: bool = False
) -> Tails | None:
    """Count all assignments by a recursion, or None if that is too much work.

    Args:
        redraws: The assignments.
        centres: The statistic.
        quick: Whether half a second is too much.
    """
    grouped = redraws.unit is not None
    if redraws.n_units > MOST_UNITS or (grouped and not centres.whole):
        return None
    counter = _Sums(redraws, centres) if centres.whole else _Orders(redraws, centres)
    bits = redraws.n_units + 1
    work, held = counter.cost()
    most = QUICK_WORK if quick else PACKED_WORK
    if work * bits <= most and held * bits <= PACKED_BITS:
        return counter.tails(_Packed(bits))
    if quick or min(counter.terms(), held) > SPARSE_WORK:
        return None
    try:
        # Coefficients of very many bits take longer.
        return counter.tails(_Sparse(SPARSE_WORK // (1 + redraws.n_units // 512)))
    except ConvergenceError:
        return None


def _total(parts: Iterable[Tails]) -> Tails:
    found = list(parts)
    return Tails(sum(part.above for part in found), sum(part.below for part in found))


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
        self._redraws, self._centres = redraws, centres
        # How many scores, and their sum, a unit that is on gives to the first item;
        # and one that is off.
        if redraws.unit is None or redraws.when_on is None:
            sizes = redraws.sizes.tolist()
            every = zip(redraws.values, sizes, strict=True)
            on = [(1, value) for value, size in every for _ in range(size)]
            self._ways = [(one, (0, 0)) for one in on]
            return
        parts = [[(0, 0), (0, 0)] for _ in range(redraws.n_units)]
        units = zip(redraws.unit.tolist(), redraws.when_on.tolist(), strict=True)
        for value, (unit, when_on) in zip(redraws.values, units, strict=True):
            size, added = parts[unit][not when_on]
            parts[unit][not when_on] = size + 1, added + value
        self._ways = [(on_, off) for on_, off in parts]

    def cost(self) -> tuple[float, float]:
        """Return coefficients moved and held, for packed polynomials."""
        counts, units = self._redraws.counts, len(self._ways)
        gaps = [abs(on[1] - off[1]) for on, off in self._ways]
        most = units if counts is None else counts[-1]
        span = sum(sorted(gaps)[units - most :]) + 1
        sizes = {(on[0], off[0]) for on, off in self._ways}
        states = 1 if counts is None else most + 1
        fixed = len(sizes) == 1 and (counts is not None or sizes == {(1, 1)})
        states *= 1 if fixed else self._redraws.size + 1
        return states * units * span, states * span

    def terms(self) -> float:
        """Return how many different sums there may be, for sparse polynomials."""
        kinds = Counter(self._ways)
        return math.prod(float(number + 1) for number in kinds.values())

    def tails(self, polynomials: _Polynomials[Poly]) -> Tails:
        counts = self._redraws.counts
        states = {(0, 0): polynomials.one()}
        # Each unit adds at least the smaller of its two sums.
        least = sum(min(on[1], off[1]) for on, off in self._ways)
        for index, ways in enumerate(self._ways):
            left = len(self._ways) - index - 1
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
        return _total(
            self._compare(ahead, held, least, polynomials)
            for (_, ahead), held in states.items()
        )

    def _compare(
        self, ahead: int, held: Poly, least: int, polynomials: _Polynomials[Poly]
    ) -> Tails:
        if ahead in (0, self._redraws.size):
            return self._centres.empty_side(polynomials.tails(held, 0, 0).above)
        low, high = self._centres.sum_edge(self._redraws, ahead)
        return polynomials.tails(held, low - least, high - least)


class _Orders:
    """Where some scores count: by scores of the first item among the lowest, and sums.

    Every reviewer is a unit. Levels of scores are gone through in increasing order, so
    that it is known which of a side's scores count.
    """

    def __init__(self, redraws: Redraws, centres: Centres) -> None:
        self._centres, self._size = centres, redraws.size
        self._levels = list(zip(redraws.values, redraws.sizes.tolist(), strict=True))
        counts = redraws.counts
        self._counts = range(self._size + 1) if counts is None else counts

    def cost(self) -> tuple[float, float]:
        """Return coefficients moved and held, for packed polynomials."""
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
        """Return how many different sums there may be, for sparse polynomials."""
        start, stop = self._centres.kept(self._size)
        if stop - start <= FEW:
            return float(len(self._counts) * self._size**2)
        return math.prod(float(size + 1) for _, size in self._levels)

    def tails(self, polynomials: _Polynomials[Poly]) -> Tails:
        return _total(
            self._centres.empty_side(1)
            if ahead in (0, self._size)
            else self._of_count(ahead, polynomials)
            for ahead in self._counts
        )

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
        return _total(parts)


def _overlap(start: int, stop: int, kept: tuple[int, int]) -> int:
    return max(0, min(stop, kept[1]) - max(start, kept[0]))
