"""Laws over random halves and random perfect matchings of reviewers.

A random assignment of two items followed by a random pairing of their scores is a
uniformly random perfect matching of the reviewers, with a fair coin in each pair for
who gets the better item. Reviewers of one scale are exchangeable, so all laws here are
over levels: groups of such reviewers and their sizes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels.matchings import matching_law
from evenhand.ab._numbers import Floats, is_exact

if TYPE_CHECKING:
    from numpy.typing import NDArray

# 200 MB: 20 reviewers, each of a scale of its own.
CELLS = 25_000_000
# A few seconds on Fractions: 18 reviewers, each of a scale of its own.
EXACT_CELLS = 3_000_000
# Beyond so many different halves, or so long a table of sums, we sample.
HALVES = 20_000
SUM_BITS = 20_000_000

Half = tuple[int, ...]
Statistic = Callable[[Sequence[Fraction]], Fraction]


def matchings_fit(sizes: Sequence[int], points: int, *, fractions: bool) -> bool:
    """Say whether the law over all matchings takes seconds and not hours.

    Examples:
        >>> [matchings_fit([1] * m, 1, fractions=False) for m in (20, 22)]
        [True, False]
        >>> [matchings_fit([1] * m, 1, fractions=True) for m in (18, 20)]
        [True, False]
    """
    states = math.prod(size + 1 for size in sizes)
    cells = states * (points * (sum(sizes) // 2) + 1)
    return cells <= (EXACT_CELLS if fractions else CELLS)


def is_fair(terms: Floats, sizes: Sequence[int]) -> bool:
    """Say whether every pair that can occur is as likely to help as to harm.

    Examples:
        >>> fair, sure = [0.5, 0.5], [0.0, 1.0]
        >>> terms = np.array([[sure, fair], [fair, sure]])
        >>> is_fair(terms, [1, 1]), is_fair(terms, [3, 1])
        (True, False)
    """
    turned = (terms == terms[..., ::-1]).all(axis=-1)
    alone = np.diag([size == 1 for size in sizes])
    return bool((turned | alone).all())


def majority_margin(terms: Floats, sizes: Sequence[int]) -> float | Fraction:
    """Return P(more points than half) - P(fewer) over a random perfect matching.

    Args:
        terms: Shape (levels, levels, points + 1): chance that a pair from two levels
            adds 0, 1, ... points; Fractions give a Fraction.
        sizes: How many each level holds; even in sum.

    Returns:
        The margin, exactly 0 if every pair is as likely to help as to harm.

    Examples:
        >>> fair, sure = [0.5, 0.5], [0.0, 1.0]
        >>> majority_margin(np.array([[sure, fair], [fair, sure]]), [3, 1])
        0.5
    """
    if is_fair(terms, sizes):
        return Fraction(0) if is_exact(terms) else 0.0
    if is_exact(terms):
        law: Sequence[Fraction | float] = _exact_law(terms, tuple(sizes))
    else:
        law = matching_law(terms, np.array(sizes, dtype=np.int64)).tolist()
    most = len(law) - 1
    above, below = law[most // 2 + 1 :], law[: (most + 1) // 2]
    if is_exact(terms):
        return Fraction(sum(above) - sum(below))
    return math.fsum(above) - math.fsum(below)


def _exact_law(terms: Floats, sizes: Half) -> list[Fraction]:
    """The loop of the kernel on Fractions."""
    levels, _, degrees = terms.shape
    width = (degrees - 1) * (sum(sizes) // 2) + 1
    states = {sizes: [Fraction(1)] + [Fraction(0)] * (width - 1)}
    for rest in range(sum(sizes), 0, -2):
        reached: dict[Half, list[Fraction]] = {}
        for left, law in states.items():
            first = next(level for level in range(levels) if left[level])
            others = _less(left, first)
            for second in range(first, levels):
                if others[second] == 0:
                    continue
                target = reached.setdefault(
                    _less(others, second), [Fraction(0)] * width
                )
                share = Fraction(others[second], rest - 1)
                for point, term in enumerate(terms[first, second].tolist()):
                    chance = share * term
                    if chance:
                        for place in range(width - point):
                            if law[place]:
                                target[place + point] += chance * law[place]
        states = reached
    return states[(0,) * levels]


def _less(left: Half, level: int) -> Half:
    return (*left[:level], left[level] - 1, *left[level + 1 :])


def halves(sizes: Sequence[int]) -> Iterator[tuple[Half, int]]:
    """Yield how many of each level may be in one half, with the number of ways.

    Examples:
        >>> list(halves([3, 1]))
        [((1, 1), 3), ((2, 0), 3)]
    """
    half = sum(sizes) // 2
    for taken in itertools.product(*(range(size + 1) for size in sizes[:-1])):
        last = half - sum(taken)
        if 0 <= last <= sizes[-1]:
            chosen = (*taken, last)
            yield chosen, math.prod(map(math.comb, sizes, chosen))


def halves_fit(sizes: Sequence[int]) -> bool:
    """Say whether the different halves are few enough to be listed.

    Examples:
        >>> halves_fit([99, 1]), halves_fit([1] * 100)
        (True, False)
    """
    return math.prod(size + 1 for size in sizes[:-1]) <= HALVES


def difference_law(
    levels: Sequence[Fraction], sizes: Sequence[int], statistic: Statistic
) -> dict[Fraction, Fraction]:
    """Return the law of a statistic of a random half minus that of the other half.

    Args:
        levels: Numbers, increasing.
        sizes: How often each occurs; even in sum.
        statistic: From an increasing list to a number.

    Returns:
        From each difference to its probability.

    Examples:
        >>> difference_law([Fraction(0), Fraction(1)], [3, 1], statistic=max)
        {Fraction(1, 1): Fraction(1, 2), Fraction(-1, 1): Fraction(1, 2)}
    """
    total = math.comb(sum(sizes), sum(sizes) // 2)
    law: dict[Fraction, Fraction] = {}
    for taken, ways in halves(sizes):
        rest = [size - count for size, count in zip(sizes, taken, strict=True)]
        gap = statistic(_spread_out(levels, taken)) - statistic(
            _spread_out(levels, rest)
        )
        law[gap] = law.get(gap, Fraction(0)) + Fraction(ways, total)
    return law


def _spread_out(
    levels: Sequence[Fraction], counts: Sequence[int]
) -> Sequence[Fraction]:
    return [
        level for level, count in zip(levels, counts, strict=True) for _ in range(count)
    ]


def mean_law(numbers: Sequence[Fraction]) -> dict[Fraction, Fraction] | None:
    """Return the law of the mean of a random half minus that of the other half.

    Halves are counted by their sums. All counts of one size are digits of one large
    integer, so that adding a number to every sum is one shift.

    Args:
        numbers: An even number of them.

    Returns:
        From each difference to its probability; None if the sums are too many.

    Examples:
        >>> mean_law([Fraction(1), Fraction(2)])
        {Fraction(-1, 1): Fraction(1, 2), Fraction(1, 1): Fraction(1, 2)}
    """
    half = len(numbers) // 2
    unit = math.lcm(*(number.denominator for number in numbers))
    steps = [int((number - min(numbers)) * unit) for number in numbers]
    digit = len(numbers) // 8 + 1
    if 8 * digit * sum(steps) > SUM_BITS:
        return None
    rows = [1] + [0] * half
    for step in steps:
        for size in range(half, 0, -1):
            rows[size] += rows[size - 1] << (8 * digit * step)
    coded = rows[half].to_bytes((sum(steps) + 1) * digit, "little")
    total = math.comb(len(numbers), half)
    law: dict[Fraction, Fraction] = {}
    for place in range(sum(steps) + 1):
        count = int.from_bytes(coded[place * digit : (place + 1) * digit], "little")
        if count:
            gap = Fraction(2 * place - sum(steps), half * unit)
            law[gap] = Fraction(count, total)
    return law


def order_statistic_law(
    numbers: Sequence[Fraction], place: int
) -> dict[Fraction, Fraction]:
    """Return the law of a half's place-th largest minus that of the other half.

    If a half has its place-th largest at position p from the top and the other half
    at q > p, then p - place of the others lie above p, and the rest is counted.

    Args:
        numbers: An even number of them.
        place: From 1, the largest, to half of their number.

    Returns:
        From each difference to its probability.

    Examples:
        >>> order_statistic_law([Fraction(1), Fraction(2)], 1)
        {Fraction(1, 1): Fraction(1, 2), Fraction(-1, 1): Fraction(1, 2)}
    """
    ordered = sorted(numbers, reverse=True)
    many = len(ordered)
    half = many // 2
    total = math.comb(many, half)
    law: dict[Fraction, Fraction] = {}
    for p, q in itertools.combinations(range(1, many + 1), 2):
        between = 2 * place - 1 - p
        below = half + place - q
        if p < place or between < 0 or below < 0:
            continue
        ways = (
            math.comb(p - 1, place - 1)
            * math.comb(q - p - 1, between)
            * math.comb(many - q, below)
        )
        gap = ordered[p - 1] - ordered[q - 1]
        for sign in (1, -1):
            if ways:
                law[sign * gap] = law.get(sign * gap, Fraction(0)) + Fraction(
                    ways, total
                )
    return law


def random_orders(uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
    """Turn each row of uniforms into a random order.

    Examples:
        >>> random_orders(np.array([[0.9, 0.1, 0.5]]))
        array([[1, 2, 0]])
    """
    return np.argsort(uniforms, axis=-1, kind="stable").astype(np.int64)
