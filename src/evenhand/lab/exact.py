"""Two items without simulation: the exact chance that a rule is right.

Values are uniform on [0, 1] and reviewers add fixed biases, so that only the gap
between the two values matters. The assignment of the reviewers, the pairing of their
scores, the rule's own coins and the gap are all integrated out.

A random assignment of two items followed by a random pairing of their scores is a
uniformly random perfect matching of the reviewers, with a fair coin in each pair for
who gets the better item. Rules that vote by pairs are averaged over such matchings,
rules that compare one number of each item over random halves, and a mixture of two
rules is the mixture of their averages. Reviewers of one bias are exchangeable, so all
laws are over levels: the distinct biases and how many reviewers have each.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from scipy.integrate import cubature

from evenhand._outcomes import HALF
from evenhand._randomness import RNGLike, seed_from, stream, uniforms
from evenhand.ab import rules
from evenhand.ab._numbers import Floats, constant
from evenhand.ab.comparison import METHODS
from evenhand.ab.law import majority_probability
from evenhand.ab.weights import GapWeight, as_weight, odd
from evenhand.errors import ConvergenceError, DesignError, OptionError, unknown
from evenhand.lab.scales import scales

__all__ = ["Success", "Weight", "biases", "sampled_success", "uniform_success"]

Weight: TypeAlias = GapWeight | Callable[[float], float] | str | None
Law: TypeAlias = dict[Fraction, Fraction]
Half: TypeAlias = tuple[int, ...]

SHIFTS = (
    "identity",
    "one-biased",
    "incremental",
    "incremental-one-biased",
    "disjoint",
)
SAMPLES = 100_000
FEWEST = 2
CHUNK = 10_000
# Up to so many cells, 20 reviewers with a bias each, all matchings are gone through;
# on Fractions up to so many, 18 reviewers.
CELLS = 25_000_000
EXACT_CELLS = 3_000_000
# Beyond so many different halves, or so long a table of sums, we sample.
HALVES = 20_000
SUM_BITS = 20_000_000
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

    @property
    def improvement_se(self) -> float:
        """Standard error of the improvement, in per cent."""
        return 200 * self.se


def biases(spec: str, n_reviewers: int) -> tuple[Fraction, ...]:
    """Return what each reviewer adds to the value, for scales that only add.

    Args:
        spec: "identity", one of the paper's three families "one-biased",
            "incremental" and "incremental-one-biased", or "disjoint".
        n_reviewers: Number of reviewers.

    Returns:
        The biases.

    Raises:
        OptionError: If the scales are unknown or do not merely add.

    Examples:
        >>> [int(bias) for bias in biases("incremental-one-biased", 4)]
        [0, 1, 2, 6]
    """
    if spec not in SHIFTS:
        raise OptionError(unknown("shifting scale", spec, SHIFTS))
    zeros = np.full((n_reviewers, 1), Fraction(0), dtype=object)
    return tuple(scales(spec).apply(zeros, np.empty((n_reviewers, 0)))[:, 0].tolist())


def uniform_success(
    method: str,
    shifts: Sequence[Fraction | int],
    *,
    weight: Weight = None,
    median: str = "upper",
    trim: float = rules.TRIM,
    eps: float | Fraction = rules.EPS,
    samples: int = SAMPLES,
    rng: RNGLike = None,
) -> Success:
    """Chance that a rule is right, for values uniform on [0, 1] and scales that add.

    Reviewer j scores x + shifts[j]; half of the reviewers get each item. Only the gap
    between the two values matters, and it is integrated out with everything else.

    Args:
        method: One of the rules of `compare`.
        shifts: What each reviewer adds, an even number of reviewers.
        weight: For "votes" and "guarded", how a gap in scores weighs.
        median: For "median", which one.
        trim: For "trimmed" and "guarded", the share cut at each end.
        eps: For "guarded", the probability of the votes.
        samples: How many pairings or assignments are sampled where there are too many.
        rng: Seed for these samples.

    Returns:
        The chance; exact for every rule if few reviewers differ or there are at most
        14 of them, for votes up to 20, for mean (of biases on a grid) and the upper and
        lower median always.

    Raises:
        DesignError: If there is an odd number of reviewers.
        OptionError: If an option is bad.
        ConvergenceError: If the weight is too rough to be averaged.

    References:
        Wang and Shah (2019), Section 4.1.

    Examples:
        >>> uniform_success("mean", biases("incremental", 4)).probability
        Fraction(2, 3)
        >>> round(uniform_success("votes", biases("one-biased", 100)).improvement, 3)
        75.309
    """
    rule = _as_rule(method, weight, median, trim, eps)
    _require_even(len(shifts))
    _require_trials("samples", samples)
    return _averaged(rule, [Fraction(shift) for shift in shifts], samples, rng)


def sampled_success(
    method: str,
    shifts: Sequence[Fraction | int],
    *,
    weight: Weight = None,
    median: str = "upper",
    trim: float = rules.TRIM,
    eps: float | Fraction = rules.EPS,
    trials: int,
    rng: RNGLike = None,
) -> Success:
    """Estimate `uniform_success` by plain trials, with the rule's coins integrated out.

    Args:
        method: One of the rules of `compare`.
        shifts: What each reviewer adds, an even number of reviewers.
        weight: For "votes" and "guarded", how a gap in scores weighs.
        median: For "median", which one.
        trim: For "trimmed" and "guarded", the share cut at each end.
        eps: For "guarded", the probability of the votes.
        trials: Number of trials, at least 2.
        rng: Seed, generator or None. A seed gives every method the same trials.

    Returns:
        The estimate with its standard error.

    Raises:
        DesignError: If there is an odd number of reviewers.
        OptionError: If an option is bad.

    Examples:
        >>> found = sampled_success("mean", biases("identity", 4), trials=100, rng=7)
        >>> found.probability
        1.0
    """
    rule = _as_rule(method, weight, median, trim, eps)
    _require_even(len(shifts))
    _require_trials("trials", trials)
    return _sampled(rule, [Fraction(shift) for shift in shifts], trials, rng)


@dataclass(frozen=True, slots=True)
class _Rule:
    """A method with its options, checked."""

    method: str
    weight: GapWeight
    median: str
    trim: float
    eps: Fraction

    def given(self, first: Floats, second: Floats) -> Floats:
        """Probability for the first item, scores paired in the order given."""
        functions: dict[str, Callable[[Floats, Floats], Floats]] = {
            "coin": rules.coin,
            "sign": rules.sign,
            "mean": rules.mean,
            "median": functools.partial(rules.median, median=self.median),
            "trimmed": functools.partial(rules.trimmed, trim=self.trim),
            "votes": functools.partial(rules.votes, weight=self.weight),
            "guarded": functools.partial(
                rules.guarded, eps=self.eps, trim=self.trim, weight=self.weight
            ),
        }
        return functions[self.method](first, second)

    def terms(self, levels: Floats, gaps: Floats) -> Floats:
        """Law of the points of each pair of levels, a fair coin assigning them.

        Returns:
            Shape (gaps, levels, levels, points + 1), not normalised; whole numbers for
            signs.
        """
        apart = levels[:, None] - levels + gaps[:, None, None]
        if self.method == "votes":
            chance = np.asarray(odd(self.weight, apart))
            return _both_ways([1 - chance, chance])
        signs = [apart < 0, apart == 0, apart > 0]
        return _both_ways([sign.astype(object) * 1 for sign in signs])


def _both_ways(points: Sequence[Floats]) -> Floats:
    return np.stack([point + point.swapaxes(1, 2) for point in points], axis=-1)


def _as_rule(
    method: str, weight: Weight, median: str, trim: float, eps: float | Fraction
) -> _Rule:
    if method not in METHODS:
        raise OptionError(unknown("method", method, METHODS))
    if median not in rules.MEDIANS:
        raise OptionError(unknown("median", median, rules.MEDIANS))
    share, probability = rules.as_share(trim), rules.as_eps(eps)
    return _Rule(method, as_weight(weight), median, share, probability)


def _averaged(
    rule: _Rule, numbers: Sequence[Fraction], samples: int, rng: RNGLike
) -> Success:
    """Average over everything, by samples where there is no other way."""
    if rule.method == "guarded":
        return _mixed(rule, numbers, samples, rng)
    levels = sorted(set(numbers))
    sizes = [numbers.count(level) for level in levels]
    if rule.method == "coin":
        return Success(HALF)
    if rule.method == "votes":
        if _matchings_fit(sizes, points=1, most=CELLS):
            return _votes(rule, levels, sizes)
        return _sampled_votes(rule, sorted(numbers), samples, rng)
    if rule.method == "sign":
        chance = _signs(rule, levels, sizes)
    else:
        chance = _halves_chance(rule, sorted(numbers), levels, sizes)
    if chance is None:
        return _sampled(rule, numbers, samples, rng)
    return Success(chance)


def _mixed(
    rule: _Rule, numbers: Sequence[Fraction], samples: int, rng: RNGLike
) -> Success:
    one, two = (
        _averaged(replace(rule, method=part), numbers, samples, rng)
        for part in ("trimmed", "votes")
    )
    # The two parts sample from streams of their own.
    spread = math.hypot(float(1 - rule.eps) * one.se, float(rule.eps) * two.se)
    chance = float(1 - rule.eps) * one.probability + float(rule.eps) * two.probability
    return Success(float(chance), spread, exact=one.exact and two.exact)


def _sampled(
    rule: _Rule, numbers: Sequence[Fraction], trials: int, rng: RNGLike
) -> Success:
    source = stream(seed_from(rng), "trials")
    added = np.array([float(number) for number in numbers])
    half = len(added) // 2
    found = []
    for start in range(0, trials, CHUNK):
        count = min(CHUNK, trials - start)
        values = np.sort(uniforms(source, (count, 2)), axis=1)
        orders = np.argsort(uniforms(source, (count, len(added))), axis=1)
        better = added[orders[:, :half]] + values[:, 1:]
        worse = added[orders[:, half:]] + values[:, :1]
        found.append(rule.given(better, worse))
    chances = np.concatenate(found)
    se = float(chances.std(ddof=1)) / math.sqrt(trials)
    return Success(float(chances.mean()), se, exact=False)


def _bends(levels: Sequence[Fraction]) -> list[Fraction]:
    """Gaps at which a reviewer catches up with another."""
    apart = {high - low for low, high in itertools.combinations(levels, 2)}
    return sorted(gap for gap in apart if gap < 1)


def _exceeds(threshold: Fraction) -> Fraction:
    """P(gap > threshold) for the gap between two values uniform on [0, 1]."""
    return (1 - min(max(threshold, Fraction(0)), Fraction(1))) ** 2


def _signs(
    rule: _Rule, levels: Sequence[Fraction], sizes: Sequence[int]
) -> Fraction | None:
    """Signs change at the bends only, so each piece between has one law."""
    edges = [Fraction(0), *_bends(levels), Fraction(1)]
    middles = [(low + high) / 2 for low, high in itertools.pairwise(edges)]
    terms = rule.terms(np.array(levels, dtype=object), np.array(middles, dtype=object))
    fits = _matchings_fit(sizes, points=2, most=EXACT_CELLS)
    if not (fits or _is_fair(terms, sizes)):
        return None
    shares = [_exceeds(low) - _exceeds(high) for low, high in itertools.pairwise(edges)]
    margins: list[Fraction] = _majority_margins(terms, sizes).tolist()
    return (1 + sum(map(operator.mul, shares, margins), Fraction(0))) / 2


def _votes(rule: _Rule, levels: Sequence[Fraction], sizes: Sequence[int]) -> Success:
    added = np.array([float(level) for level in levels])

    def margins(points: Floats) -> Floats:
        gaps = points[:, 0]
        # The larger of two uniform values minus the smaller has density 2 (1 - gap).
        return 2 * (1 - gaps) * _majority_margins(rule.terms(added, gaps), sizes)

    bends = [[float(bend)] for bend in _bends(levels)]
    found = cubature(margins, [0.0], [1.0], points=bends, rtol=0, atol=TOLERANCE)
    if found.status != "converged":
        raise ConvergenceError(
            "the average over the gap must settle, got a weight too rough for that. "
            "Use simulate."
        )
    return Success(float(1 + found.estimate) / 2)


def _sampled_votes(
    rule: _Rule, numbers: Sequence[Fraction], samples: int, rng: RNGLike
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
        chances = [odd(rule.weight, gaps + side * apart) for side in (1, -1)]
        found.append(majority_probability((chances[0] + chances[1]) / 2))
    # Neighbouring strata have nearly the same mean: their difference shows the spread.
    pairs = np.concatenate(found).reshape(-1, 2)
    se = math.sqrt(float((np.diff(pairs) ** 2).sum())) / count
    return Success(float(pairs.mean()), se, exact=False)


def _matchings_fit(sizes: Sequence[int], *, points: int, most: int) -> bool:
    states = math.prod(size + 1 for size in sizes)
    return states * (points * (sum(sizes) // 2) + 1) <= most


def _is_fair(terms: Floats, sizes: Sequence[int]) -> bool:
    """Say whether every pair that can occur is as likely to help as to harm."""
    turned = (terms == terms[..., ::-1]).all(axis=-1)
    alone = np.diag([size == 1 for size in sizes])
    return bool((turned | alone).all())


def _majority_margins(terms: Floats, sizes: Sequence[int]) -> Floats:
    """Return P(more points than half) - P(fewer) over a random perfect matching.

    The first one left is matched next, with any other. A state says how many of each
    level are left. All terms are positive, so nothing cancels.

    Args:
        terms: Shape (gaps, levels, levels, points + 1): chance that a pair from two
            levels adds 0, 1, ... points, up to a factor; integers give Fractions.
        sizes: How many each level holds; even in sum.

    Returns:
        Margins, shape (gaps,).
    """
    gaps, levels, _, degrees = terms.shape
    most = (degrees - 1) * (sum(sizes) // 2)
    nothing = np.zeros((gaps, most + 1), dtype=terms.dtype)
    if _is_fair(terms, sizes):
        return nothing[:, 0]
    start = nothing.copy()
    start[:, 0] += 1
    states = {tuple(sizes): start}
    for _ in range(sum(sizes) // 2):
        reached: dict[Half, Floats] = {}
        for left, law in states.items():
            first = next(level for level in range(levels) if left[level])
            others = _less(left, first)
            for second in range(first, levels):
                if others[second] == 0:
                    continue
                target = reached.setdefault(_less(others, second), nothing.copy())
                for point, chance in enumerate(
                    others[second] * terms[:, first, second].T
                ):
                    target[:, point:] += chance[:, None] * law[:, : most + 1 - point]
        states = reached
    (law,) = states.values()
    above, below = law[:, most // 2 + 1 :], law[:, : (most + 1) // 2]
    margins = above.sum(axis=1) - below.sum(axis=1)
    return np.asarray(constant(Fraction(1), law) * margins / law.sum(axis=1))


def _less(left: Half, level: int) -> Half:
    return (*left[:level], left[level] - 1, *left[level + 1 :])


def _halves_chance(
    rule: _Rule,
    numbers: Sequence[Fraction],
    levels: Sequence[Fraction],
    sizes: Sequence[int],
) -> Fraction | None:
    law = _law_of_halves(rule, numbers, levels, sizes)
    if law is None:
        return None
    return sum((p * _exceeds(-gap) for gap, p in law.items()), Fraction(0))


def _law_of_halves(
    rule: _Rule,
    numbers: Sequence[Fraction],
    levels: Sequence[Fraction],
    sizes: Sequence[int],
) -> Law | None:
    """Return the law of one half's statistic minus the other's; None if too long."""
    half = len(numbers) // 2
    if rule.method == "mean" and (counted := _mean_law(numbers)) is not None:
        return counted
    if rule.method == "median" and rule.median != "middle":
        place = (half + 1) // 2 if rule.median == "upper" else (half + 2) // 2
        return _order_statistic_law(numbers, place)
    if math.prod(size + 1 for size in sizes[:-1]) > HALVES:
        return None
    cut = 0
    if rule.method == "trimmed":
        # As it is written: 0.29 of 100 is 29, though less in floats.
        cut = math.floor(Fraction(str(rule.trim)) * half)
    elif rule.method == "median":
        cut = (half - 1) // 2
    total = math.comb(2 * half, half)
    law: Law = {}
    for taken, ways in _halves(sizes):
        rest = [size - count for size, count in zip(sizes, taken, strict=True)]
        gap = _middle(levels, taken, cut) - _middle(levels, rest, cut)
        law[gap] = law.get(gap, Fraction(0)) + Fraction(ways, total)
    return law


def _halves(sizes: Sequence[int]) -> Iterator[tuple[Half, int]]:
    """Yield how many of each level may be in one half, with the number of ways."""
    half = sum(sizes) // 2
    for taken in itertools.product(*(range(size + 1) for size in sizes[:-1])):
        last = half - sum(taken)
        if 0 <= last <= sizes[-1]:
            chosen = (*taken, last)
            yield chosen, math.prod(map(math.comb, sizes, chosen))


def _middle(levels: Sequence[Fraction], counts: Sequence[int], cut: int) -> Fraction:
    """Mean of what is left of a half after its ends are cut."""
    every = [[level] * count for level, count in zip(levels, counts, strict=True)]
    kept = list(itertools.chain(*every))[cut : sum(counts) - cut]
    return sum(kept, Fraction(0)) / len(kept)


def _mean_law(numbers: Sequence[Fraction]) -> Law | None:
    """Return the law of the mean of a random half minus that of the other half.

    Halves are counted by their sums. All counts of one size are digits of one large
    integer, so that adding a number to every sum is one shift.
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
    law: Law = {}
    for place in range(sum(steps) + 1):
        count = int.from_bytes(coded[place * digit : (place + 1) * digit], "little")
        if count:
            gap = Fraction(2 * place - sum(steps), half * unit)
            law[gap] = Fraction(count, total)
    return law


def _order_statistic_law(numbers: Sequence[Fraction], place: int) -> Law:
    """Return the law of a half's place-th largest minus that of the other half.

    If a half has its place-th largest at position p from the top and the other half
    at q > p, then p - place of the others lie above p, and the rest is counted.
    """
    ordered = sorted(numbers, reverse=True)
    many = len(ordered)
    half = many // 2
    total = math.comb(many, half)
    law: Law = {}
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
        for signed in (gap, -gap):
            law[signed] = law.get(signed, Fraction(0)) + Fraction(ways, total)
    return law


def _require_even(count: int) -> None:
    if count == 0 or count % 2:
        raise DesignError(
            f"reviewers must be even in number for two equal halves, got {count}."
        )


def _require_trials(name: str, count: int) -> None:
    if count < FEWEST:
        raise OptionError(
            f"{name} must be at least {FEWEST} for a standard error, got {count!r}."
        )
