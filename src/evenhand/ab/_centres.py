"""Differences of central means, compared exactly with their observed value.

A central mean is that of all scores of a side (the mean), of those left when both ends
are cut (the trimmed mean), or of the one or two in the middle (the median). Scores are
natural numbers here, so that no rounding can break a tie.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.ab._redraws import Choices

Kept = Callable[[int], tuple[int, int]]

SAFE_BITS = 62
FLOAT_BITS = 53
# Millions of pieces of so many bits still add up exactly in a float.
LIMB_BITS = 31


class Tails(NamedTuple):
    """Numbers of assignments.

    Attributes:
        above: With the statistic at its observed value or above.
        below: With the statistic at its observed value or below.
    """

    above: int
    below: int


class Levels(NamedTuple):
    """Scores as a table.

    Attributes:
        values: Different scores, natural numbers in increasing order; or each score by
            itself.
        sizes: How many scores of each both items have.
    """

    values: tuple[int, ...]
    sizes: tuple[int, ...]


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

    def empty_side(self, ways: int) -> Tails:
        """Count assignments that give one item to nobody.

        There the statistic is 0. The proof asks that, for each assignment by itself,
        it does not fall when a score of the first item rises and does not rise when
        one of the second does; a constant does neither. And 0 is its own opposite when
        the items swap names.
        """
        above = ways if self.observed <= 0 else 0
        return Tails(above, ways if self.observed >= 0 else 0)


def central_difference(one: list[int], two: list[int], kept: Kept) -> Fraction:
    """Return the observed difference of central means, 0 if a side is empty.

    Examples:
        >>> central_difference([1, 2, 9], [4, 3], lambda count: (0, count))
        Fraction(1, 2)
    """
    if not one or not two:
        return Fraction(0)
    means = []
    for side in (one, two):
        start, stop = kept(len(side))
        means.append(Fraction(sum(sorted(side)[start:stop]), stop - start))
    return means[0] - means[1]


def tally(blocks: Iterable[Choices], levels: Levels, centres: Centres) -> Tails:
    """Count given assignments, with exact comparisons.

    Args:
        blocks: Rows with how many scores of each level the first item has.
        levels: The levels of scores, and how many scores of each both items have.
        centres: The statistic.

    Examples:
        >>> centres = Centres(lambda count: (0, count), Fraction(1), whole=True)
        >>> tally([np.array([[0, 2], [1, 1]])], Levels((3, 4), (2, 2)), centres)
        Tails(above=1, below=2)
    """
    sizes, size = np.array(levels.sizes, dtype=np.int64), sum(levels.sizes)
    limbs = _limbs(levels.values, size)
    tails = []
    for block in blocks:
        ahead = block.sum(axis=1)
        for count in np.unique(ahead).tolist():
            rows = block[ahead == count]
            if count in (0, size):
                tails.append(centres.empty_side(len(rows)))
                continue
            edge = centres.edge(count, size - count)
            one = _central_sums(rows, centres, count, limbs)
            two = _central_sums(sizes - rows, centres, size - count, limbs)
            gaps = edge.weights[0] * one - edge.weights[1] * two
            above, below = gaps >= edge.low, gaps <= edge.high
            tails.append(Tails(int(above.sum()), int(below.sum())))
    return total(tails)


def total(parts: Iterable[Tails]) -> Tails:
    """Add up numbers of assignments."""
    found = list(parts)
    return Tails(sum(part.above for part in found), sum(part.below for part in found))


class _Limbs(NamedTuple):
    """Natural numbers cut into pieces whose sums are exact in floats."""

    pieces: NDArray[np.float64]
    shifts: NDArray[np.int64]


def _limbs(values: tuple[int, ...], count: int) -> _Limbs:
    size, growth = max(values).bit_length(), count.bit_length()
    width = max(size, 1) if size + growth <= FLOAT_BITS else LIMB_BITS
    places, mask = range(0, max(size, 1), width), (1 << width) - 1
    cut = [[value >> place & mask for place in places] for value in values]
    # Weights are at most products of two counts.
    dtype = np.int64 if size + 2 * growth <= SAFE_BITS else object
    shifts = np.array([1 << place for place in places], dtype=dtype)
    return _Limbs(np.array(cut, dtype=np.float64), shifts)


def _central_sums(
    rows: Choices, centres: Centres, count: int, limbs: _Limbs
) -> NDArray[np.int64]:
    """Add up the scores that count; an array of Python integers where they are long."""
    kept = rows
    if not centres.whole:
        seen = np.clip(rows.cumsum(axis=1, dtype=np.int64), *centres.kept(count))
        kept = np.diff(seen, prepend=centres.kept(count)[0])
    sums = (kept.astype(np.float64) @ limbs.pieces).astype(np.int64)
    return np.asarray((sums.astype(limbs.shifts.dtype) * limbs.shifts).sum(axis=1))
