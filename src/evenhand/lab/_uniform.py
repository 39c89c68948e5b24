"""Rules for two items when values are uniform and reviewers add fixed biases.

Only the gap between the two values matters then. Rules that vote by pairs are averaged
over random matchings of the reviewers, rules that compare one number of each item over
random halves, and a mixture of two rules is the mixture of their averages.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from evenhand._cores import cores
from evenhand._kernels.matchings import matched_margins
from evenhand._outcomes import HALF
from evenhand._randomness import RNGLike, seed_from, stream, uniforms
from evenhand.ab import rules
from evenhand.ab._numbers import Floats, constant
from evenhand.ab.comparison import METHODS
from evenhand.ab.law import sign_over_pairings, votes_over_pairings
from evenhand.ab.weights import GapWeight, as_weight, odd
from evenhand.errors import OptionError, unknown
from evenhand.lab import _matchings as matchings
from evenhand.lab._fixed_scores import Trials, as_orders, random_words
from evenhand.lab._memory import keep_freed_memory
from evenhand.lab._quadrature import gap_nodes, over_gap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

Weight: TypeAlias = GapWeight | Callable[[float], float] | str | None

CHUNK = 10_000
PIECE = 1250
# Up to so many bends of the gap are ends of panels in sampled averages.
PANELS = 16
# A share such as 0.29 of 100 is 28.999999999999996 in floats.
ROUNDING = 1e-9


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


@dataclass(frozen=True, slots=True)
class Rule:
    """A method with its options, checked.

    Attributes:
        method: Name of the rule.
        weight: For votes and guarded.
        median: For median.
        trim: For trimmed and guarded.
        eps: For guarded.
    """

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

    def over_pairings(self, first: Floats, second: Floats) -> float | Fraction:
        """Probability for the first item over random pairings, where it has any."""
        if self.method == "guarded":
            return self.mixed(*(r.over_pairings(first, second) for r in self.parts))
        if self.method == "votes":
            return votes_over_pairings(first, second, weight=self.weight).probability
        if self.method == "sign":
            return sign_over_pairings(first, second).probability
        return np.asarray(self.given(first, second)).item()

    def pair_terms(self, better: Floats, worse: Floats) -> Floats:
        """Law of the points of each pair of reviewers, a fair coin assigning them."""
        gaps = better[:, None] - worse[None, :]
        half = constant(HALF, gaps)
        if self.method == "votes":
            chance = np.asarray(odd(self.weight, gaps))
            right = (chance + chance.T) * constant(HALF, chance)
            return np.stack([1 - right, right], axis=-1)
        signs = [gaps < 0, gaps == 0, gaps > 0]
        return np.stack([(1 * sign + 1 * sign.T) * half for sign in signs], axis=-1)

    @property
    def parts(self) -> tuple[Rule, Rule]:
        """What guarded is a mixture of."""
        return replace(self, method="trimmed"), replace(self, method="votes")

    def mixed(
        self, followed: float | Fraction, voted: float | Fraction
    ) -> float | Fraction:
        """Mix the probabilities of the two parts."""
        both = (followed, voted)
        if all(isinstance(chance, Fraction) for chance in both):
            return (1 - self.eps) * followed + self.eps * voted
        one, other = map(float, both)
        return float(1 - self.eps) * one + float(self.eps) * other

    @property
    def points(self) -> int:
        """Most points that a pair can give."""
        return 1 if self.method == "votes" else 2


def as_rule(
    method: str,
    *,
    weight: Weight = None,
    median: str = "upper",
    trim: float = rules.TRIM,
    eps: float | Fraction = rules.EPS,
) -> Rule:
    """Check a method and its options.

    Raises:
        OptionError: If a name is unknown or a number is out of range.

    Examples:
        >>> as_rule("median").median
        'upper'
    """
    if method not in METHODS:
        raise OptionError(unknown("method", method, METHODS))
    if median not in rules.MEDIANS:
        raise OptionError(unknown("median", median, rules.MEDIANS))
    share, probability = rules.as_share(trim), rules.as_eps(eps)
    return Rule(method, as_weight(weight), median, share, probability)


def averaged(
    rule: Rule, numbers: Sequence[Fraction], samples: int, rng: RNGLike
) -> Success:
    """Average over everything, by samples where there is no other way.

    Args:
        rule: The rule.
        numbers: What the reviewers add, an even number of them.
        samples: How many matchings or assignments to sample if there are too many.
        rng: Seed for these.

    Returns:
        The chance that the rule is right.

    Examples:
        >>> averaged(as_rule("mean"), [Fraction(0)] * 2, 0, 7).probability
        Fraction(1, 1)
    """
    if rule.method == "guarded":
        one, two = (averaged(part, numbers, samples, rng) for part in rule.parts)
        # The two parts sample from streams of their own.
        spread = math.hypot(float(1 - rule.eps) * one.se, float(rule.eps) * two.se)
        chance = rule.mixed(one.probability, two.probability)
        return Success(chance, spread, exact=one.exact and two.exact)
    ordered = sorted(numbers)
    levels = sorted(set(ordered))
    sizes = [ordered.count(level) for level in levels]
    if rule.method == "coin":
        found: Success | None = Success(HALF)
    elif rule.method == "sign":
        found = _signs(rule, levels, sizes)
    elif rule.method == "votes":
        found = _votes(rule, levels, sizes)
        found = found or _sampled_votes(rule, ordered, samples, rng)
    else:
        law = _law_of_halves(rule, ordered, levels, sizes)
        terms = None if law is None else (p * _exceeds(-gap) for gap, p in law.items())
        found = None if terms is None else Success(sum(terms, Fraction(0)))
    return found or sampled(rule, numbers, samples, rng)


def sampled(
    rule: Rule, numbers: Sequence[Fraction], trials: int, rng: RNGLike
) -> Success:
    """Estimate the chance by plain trials, with the rule's coins integrated out.

    Examples:
        >>> sampled(as_rule("mean"), [Fraction(0)] * 4, 100, 7).probability
        1.0
    """
    return sampled_together([rule], numbers, trials, rng)[0]


def sampled_together(
    tried: Sequence[Rule], numbers: Sequence[Fraction], trials: int, rng: RNGLike
) -> list[Success]:
    """Estimate the chances of several rules by the same trials.

    Each rule gets what `sampled` gives for the same seed. Words are drawn one after
    another, and pieces of the trials judged beside that, on as many threads as there
    are cores; every trial stands alone, so that their number changes nothing.

    Examples:
        >>> both = [as_rule("mean"), as_rule("sign")]
        >>> found = sampled_together(both, [Fraction(0)] * 4, 100, 7)
        >>> [rule.probability for rule in found]
        [1.0, 1.0]
    """
    source = stream(seed_from(rng), "trials")
    added = np.array([float(number) for number in numbers])
    keep_freed_memory()

    def judged(words: Words, values: Floats) -> list[Floats]:
        some = Trials(as_orders(words), values, added)
        return [some.chances(rule) for rule in tried]

    def drawn() -> Iterator[tuple[Words, Floats]]:
        for start in range(0, trials, CHUNK):
            one, two = uniforms(source, (min(CHUNK, trials - start), 2)).T
            values = np.stack([np.minimum(one, two), np.maximum(one, two)], axis=1)
            for first in range(0, len(values), PIECE):
                some = values[first : first + PIECE]
                yield random_words(source, (len(some), len(added))), some

    # A user's function may not be one that runs beside itself.
    own = any(rule.weight.checked_on_grid for rule in tried)
    found = zip(*_beside(judged, drawn(), 1 if own else cores()), strict=True)
    return [_estimated(np.concatenate(chances)) for chances in found]


def _beside(
    judged: Callable[[Words, Floats], list[Floats]],
    drawn: Iterable[tuple[Words, Floats]],
    threads: int,
) -> Iterator[list[Floats]]:
    """Judge pieces, some on other threads while the next are drawn."""
    if threads == 1:
        yield from itertools.starmap(judged, drawn)
        return
    waiting: deque[Future[list[Floats]]] = deque()
    with ThreadPoolExecutor(threads - 1) as pool:
        for piece in drawn:
            # One that waits for each that is judged; this thread judges the others.
            if sum(not ahead.done() for ahead in waiting) < 2 * threads - 2:
                waiting.append(pool.submit(judged, *piece))
            else:
                here: Future[list[Floats]] = Future()
                here.set_result(judged(*piece))
                waiting.append(here)
            while waiting and waiting[0].done():
                yield waiting.popleft().result()
        for left in waiting:
            yield left.result()


def _bends(levels: Sequence[Fraction]) -> list[Fraction]:
    """Gaps at which a reviewer catches up with another."""
    apart = {high - low for low, high in itertools.combinations(levels, 2)}
    return sorted(gap for gap in apart if gap < 1)


def _signs(
    rule: Rule, levels: Sequence[Fraction], sizes: Sequence[int]
) -> Success | None:
    """Signs change at the bends only, so each piece between has one law."""
    fits = matchings.matchings_fit(sizes, rule.points, fractions=True)
    added = np.array(levels, dtype=object)
    margin = Fraction(0)
    for low, high in itertools.pairwise([Fraction(0), *_bends(levels), Fraction(1)]):
        terms = rule.pair_terms(added + (low + high) / 2, added)
        if not fits and not matchings.is_fair(terms, sizes):
            return None
        share = _exceeds(low) - _exceeds(high)
        margin += share * Fraction(matchings.majority_margin(terms, sizes))
    return Success((1 + margin) / 2)


def _votes(
    rule: Rule, levels: Sequence[Fraction], sizes: Sequence[int]
) -> Success | None:
    if not matchings.matchings_fit(sizes, rule.points, fractions=False):
        return None
    added = np.array([float(level) for level in levels])

    def margins(gaps: Floats) -> Floats:
        found = [
            matchings.majority_margin(rule.pair_terms(added + gap, added), sizes)
            for gap in gaps.tolist()
        ]
        return np.array(found, dtype=np.float64)

    return Success((1 + over_gap(margins, map(float, _bends(levels)))) / 2)


def _sampled_votes(
    rule: Rule, numbers: Sequence[Fraction], samples: int, rng: RNGLike
) -> Success:
    """Sample matchings; given each, the chance is exact."""
    edges = [0.0, *map(float, _bends(sorted(set(numbers)))), 1.0]
    if len(edges) > PANELS:
        edges = np.linspace(0, 1, PANELS).tolist()
    gaps, weights = gap_nodes(edges)
    added = np.array([float(number) for number in numbers])
    chances = np.stack(
        [rule.pair_terms(added + gap, added)[..., 1] for gap in gaps.tolist()]
    )
    source = stream(seed_from(rng), "matchings")
    found = []
    for start in range(0, samples, CHUNK):
        drawn = uniforms(source, (min(CHUNK, samples - start), len(added)))
        orders = matchings.random_orders(drawn)
        found.append(matched_margins(chances, weights, orders))
    return _estimated((1 + np.concatenate(found)) / 2)


def _law_of_halves(
    rule: Rule,
    numbers: Sequence[Fraction],
    levels: Sequence[Fraction],
    sizes: Sequence[int],
) -> dict[Fraction, Fraction] | None:
    """Return the law of one half's statistic minus the other's; None if too long."""
    half = len(numbers) // 2
    if rule.method == "mean":
        counted = matchings.mean_law(numbers)
        if counted is not None:
            return counted
    if rule.method == "median" and rule.median != "middle":
        place = (half + 1) // 2 if rule.median == "upper" else (half + 2) // 2
        return matchings.order_statistic_law(numbers, place)
    if not matchings.halves_fit(sizes):
        return None
    cut = 0
    if rule.method == "trimmed":
        cut = math.floor(rule.trim * half + ROUNDING)
    elif rule.method == "median":
        cut = (half - 1) // 2

    def statistic(ordered: Sequence[Fraction]) -> Fraction:
        kept = ordered[cut : half - cut]
        return sum(kept, Fraction(0)) / len(kept)

    return matchings.difference_law(levels, sizes, statistic)


def _exceeds(threshold: Fraction) -> Fraction:
    """P(gap > threshold) for the gap between two values uniform on [0, 1]."""
    return (1 - min(max(threshold, Fraction(0)), Fraction(1))) ** 2


def _estimated(chances: Floats) -> Success:
    se = float(chances.std(ddof=1)) / math.sqrt(len(chances))
    return Success(float(chances.mean()), se, exact=False)
