"""Two items without simulation: the exact chance that a rule of Figure 1 is right.

Values are uniform on [0, 1] and reviewers add fixed biases, so that only the gap
between the two values matters. The assignment of the reviewers, the pairing of their
scores, the rule's own coins and the gap are all integrated out.

A random assignment of two items followed by a random pairing of their scores is a
uniformly random perfect matching of the reviewers, with a fair coin in each pair for
who gets the better item. Sign and votes are averaged over such matchings, mean and
median over random halves. Reviewers of one bias are exchangeable, so matchings are
counted by levels: the distinct biases and how many reviewers have each.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.integrate import cubature

from evenhand.ab.law import majority_probability
from evenhand.ab.weights import GapWeight, as_weight, odd
from evenhand.errors import DesignError
from evenhand.lab.scales import scales
from evenhand.randomness import RNGLike, seed_from, stream, uniforms

if TYPE_CHECKING:
    from evenhand.arrays import Floats

Weight: TypeAlias = GapWeight | Callable[[float], float] | str | None
Law: TypeAlias = dict[Fraction, Fraction]

METHODS = ("votes", "sign", "mean", "median")
SAMPLES = 100_000
CHUNK = 10_000
# Up to so many cells, 20 reviewers with a bias each, all matchings are gone through.
CELLS = 25_000_000
TOLERANCE = 1e-11


@dataclass(frozen=True, slots=True)
class Success:
    """The chance that a rule is right.

    Attributes:
        probability: Of naming the better item; a Fraction where it is one.
        se: Standard error, 0 if it is exact.
        exact: Whether nothing was sampled.

    Examples:
        >>> Success(Fraction(3, 4)).improvement
        50.0
    """

    probability: float | Fraction
    se: float = 0.0
    exact: bool = True

    @property
    def improvement(self) -> float:
        """Relative improvement over a fair coin, in per cent."""
        return float(100 * (2 * self.probability - 1))


def biases(spec: str, n_reviewers: int) -> tuple[Fraction, ...]:
    """Return what each reviewer adds to the value, for scales that only add.

    Examples:
        >>> [int(bias) for bias in biases("incremental-one-biased", 4)]
        [0, 1, 2, 6]
    """
    zeros = np.full((n_reviewers, 1), Fraction(0), dtype=object)
    return tuple(scales(spec).apply(zeros, np.empty((n_reviewers, 0)))[:, 0].tolist())


def uniform_success(
    method: str,
    shifts: Sequence[Fraction | int],
    *,
    weight: Weight = None,
    samples: int = SAMPLES,
    rng: RNGLike = None,
) -> Success:
    """Chance that a rule is right, for values uniform on [0, 1] and scales that add.

    Reviewer j scores x + shifts[j]; half of the reviewers get each item. Only the gap
    between the two values matters, and it is integrated out with everything else.

    Args:
        method: "votes", "sign", "mean" or "median", the upper one.
        shifts: What each reviewer adds, an even number of reviewers.
        weight: For "votes", how a gap in scores weighs.
        samples: How many pairings of votes are sampled where there are too many.
        rng: Seed for these samples.

    Returns:
        The chance; always exact but for votes of more than 20 reviewers that differ.

    Raises:
        DesignError: If there is an odd number of reviewers.

    References:
        Wang and Shah (2019), Section 4.1.

    Examples:
        >>> uniform_success("mean", biases("incremental", 4)).probability
        Fraction(2, 3)
        >>> round(uniform_success("votes", biases("one-biased", 100)).improvement, 3)
        75.309
    """
    if len(shifts) % 2:
        raise DesignError(
            f"reviewers must be even in number for two equal halves, got {len(shifts)}."
        )
    numbers = sorted(Fraction(shift) for shift in shifts)
    levels = sorted(set(numbers))
    sizes = [numbers.count(level) for level in levels]
    if method == "votes":
        cells = math.prod(size + 1 for size in sizes) * (len(numbers) // 2 + 1)
        if cells > CELLS:
            return _sampled_votes(as_weight(weight), numbers, samples, rng)
        return _votes(as_weight(weight), levels, sizes)
    if method == "sign":
        return Success(_signs(levels, sizes))
    law = {"mean": _mean_law, "median": _median_law}[method](numbers)
    return Success(sum((p * _exceeds(-gap) for gap, p in law.items()), Fraction(0)))


def _exceeds(threshold: Fraction) -> Fraction:
    """P(gap > threshold) for the gap between two values uniform on [0, 1]."""
    return (1 - min(max(threshold, Fraction(0)), Fraction(1))) ** 2


def _edges(levels: Sequence[Fraction]) -> list[Fraction]:
    """Return 0, 1 and between them the gaps at which a reviewer catches another up."""
    apart = {high - low for low, high in itertools.combinations(levels, 2)}
    return sorted({Fraction(0), Fraction(1), *(gap for gap in apart if gap < 1)})


def _signs(levels: Sequence[Fraction], sizes: Sequence[int]) -> Fraction:
    """Signs change at the edges only, so each piece between has one law."""
    places = np.array(levels, dtype=object)
    right = Fraction(1, 2)
    for low, high in itertools.pairwise(_edges(levels)):
        ahead = places[:, None] - places + (low + high) / 2 > 0
        margin = _majority_margins(Fraction(1) * ahead[None].astype(object), sizes)[0]
        right += (_exceeds(low) - _exceeds(high)) * Fraction(margin) / 2
    return right


def _votes(
    weight: GapWeight, levels: Sequence[Fraction], sizes: Sequence[int]
) -> Success:
    added = np.array([float(level) for level in levels])

    def margins(points: Floats) -> Floats:
        gaps = points[:, 0]
        chance = np.asarray(odd(weight, added[:, None] - added + gaps[:, None, None]))
        # The larger of two uniform values minus the smaller has density 2 (1 - gap).
        return 2 * (1 - gaps) * _majority_margins(chance, sizes)

    bends = [[float(edge)] for edge in _edges(levels)[1:-1]]
    found = cubature(margins, [0.0], [1.0], points=bends, rtol=0, atol=TOLERANCE)
    return Success(float(1 + found.estimate) / 2)


def _sampled_votes(
    weight: GapWeight, numbers: Sequence[Fraction], samples: int, rng: RNGLike
) -> Success:
    """Sample matchings, each with a gap from its own of equally likely strata."""
    source = stream(seed_from(rng), "matchings")
    added = np.array([float(number) for number in numbers])
    count = samples + samples % 2
    found = []
    for start in range(0, count, CHUNK):
        some = min(CHUNK, count - start)
        places = (start + np.arange(some) + uniforms(source, some)) / count
        gaps = 1 - np.sqrt(1 - places)[:, None]
        orders = np.argsort(uniforms(source, (some, len(added))), axis=1)
        apart = added[orders[:, ::2]] - added[orders[:, 1::2]]
        chances = [odd(weight, gaps + side * apart) for side in (1, -1)]
        found.append(majority_probability((chances[0] + chances[1]) / 2))
    # Neighbouring strata have nearly the same mean: their difference shows the spread.
    pairs = np.concatenate(found).reshape(-1, 2)
    se = math.sqrt(float((np.diff(pairs) ** 2).sum())) / count
    return Success(float(pairs.mean()), se, exact=False)


def _majority_margins(chance: Floats, sizes: Sequence[int]) -> Floats:
    """Return P(most votes are right) - P(most are wrong) over random perfect matchings.

    The first one left is matched next, with any other. A state says how many of each
    level are left. All terms are positive, so nothing cancels.

    Args:
        chance: That a vote is right if the first of two levels has the better item,
            shape (gaps, levels, levels); Fractions give Fractions.
        sizes: How many each level holds; even in sum.

    Returns:
        Margins, shape (gaps,).
    """
    # A fair coin says which of a pair has the better item.
    right = chance + chance.swapaxes(1, 2)
    gaps, levels, _ = right.shape
    votes = sum(sizes) // 2
    start = np.zeros((gaps, votes + 1), dtype=right.dtype)
    # Where every pair that can occur helps as often as it harms nothing is to be done.
    alone = np.diag([size == 1 for size in sizes])
    if ((right == 1) | alone).all():
        return start[:, 0]
    start[:, 0] += 1
    states: dict[tuple[int, ...], Floats] = {tuple(sizes): start}
    for _ in range(votes):
        reached: dict[tuple[int, ...], Floats] = {}
        for left, law in states.items():
            first = next(level for level in range(levels) if left[level])
            others = _less(left, first)
            for second in range(first, levels):
                if others[second]:
                    hit = others[second] * right[:, first, second, None]
                    after = (2 * others[second] - hit) * law
                    after[:, 1:] += hit * law[:, :-1]
                    state = _less(others, second)
                    reached[state] = (
                        reached[state] + after if state in reached else after
                    )
        states = reached
    (law,) = states.values()
    above, below = law[:, votes // 2 + 1 :], law[:, : (votes + 1) // 2]
    return np.asarray((above.sum(axis=1) - below.sum(axis=1)) / law.sum(axis=1))


def _less(left: tuple[int, ...], level: int) -> tuple[int, ...]:
    return (*left[:level], left[level] - 1, *left[level + 1 :])


def _mean_law(numbers: Sequence[Fraction]) -> Law:
    """Return the law of the mean of a random half minus that of the other half.

    Halves are counted by their sums. All counts of one size are digits of one large
    integer, so that adding a number to every sum is one shift.
    """
    half, bits = len(numbers) // 2, len(numbers)
    unit = math.lcm(*(number.denominator for number in numbers))
    steps = [int((number - numbers[0]) * unit) for number in numbers]
    rows = [1] + [0] * half
    for step, size in itertools.product(steps, range(half, 0, -1)):
        rows[size] += rows[size - 1] << (bits * step)
    total, law = math.comb(len(numbers), half), {}
    for place in range(sum(steps) + 1):
        if count := rows[half] >> (bits * place) & (2**bits - 1):
            gap = Fraction(2 * place - sum(steps), half * unit)
            law[gap] = Fraction(count, total)
    return law


def _median_law(numbers: Sequence[Fraction]) -> Law:
    """Return the law of a half's upper median minus that of the other half.

    If a half has its place-th largest at position p from the top and the other half
    at q > p, then p - place of the others lie above p, and the rest is counted.
    """
    many = len(numbers)
    half = many // 2
    place = (half + 1) // 2
    law: Law = {}
    for p, q in itertools.combinations(range(1, many + 1), 2):
        between, below = 2 * place - 1 - p, half + place - q
        if p < place or between < 0 or below < 0:
            continue
        ways = math.comb(p - 1, place - 1) * math.comb(q - p - 1, between)
        share = Fraction(ways * math.comb(many - q, below), math.comb(many, half))
        gap = numbers[-p] - numbers[-q]
        for signed in (gap, -gap):
            law[signed] = law.get(signed, Fraction(0)) + share
    return law
