"""The risk of a ranking estimator as a polynomial in its coins, for all scales at once.

Which coins an estimator flips depends on the comparisons and on chance; a score enters
only through the gap that biases a coin. So its law given the comparisons is worked out
once, with a stand-in for every score, and then evaluated at any scales. Reviewers are
assigned to bundles uniformly at random, so a term says only which of its coins share a
reviewer, and its value is the average over all ways to fill in distinct reviewers.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from evenhand.errors import OptionError
from evenhand.randomness import HALF, Chance, outcomes

if TYPE_CHECKING:
    from evenhand.posets.graph import Comparisons

Order = tuple[int, ...]
Pair = tuple[int, int]
Scores = Mapping[tuple[int, int], Fraction]
First = Callable[[Fraction], Fraction]
Table = tuple[tuple[Fraction, ...], ...]
"""Scores by reviewer: for the worst item, the next, ..., the best."""

Drawn = Callable[[Chance], Order]
Estimator = Callable[["Comparisons", Scores, First], Drawn]
"""From comparisons, scores and W to a procedure that draws a ranking."""

Coin = tuple[int, int, int, int]
"""Reviewer and item put above, reviewer and item put below."""
CoinLaw = dict[tuple[Order, tuple[Coin, ...]], Fraction]
Polynomial = dict[tuple[Coin, ...], Fraction]

BASE = 3
# Bits of a fraction that is written out in full, some sixty digits.
LONGEST = 200
SHORTEST = 1000


class _Watched:
    """A Chance that notes every coin on scores and goes both ways."""

    def __init__(self, chance: Chance, gaps: Mapping[Fraction, Coin]) -> None:
        self._chance = chance
        self._gaps = gaps
        self.coins: list[Coin] = []

    def pick(self, count: int) -> int:
        return self._chance.pick(count)

    def coin(self, p: Fraction) -> bool:
        if p not in self._gaps:
            return self._chance.coin(p)
        one, a, other, b = self._gaps[p]
        kept = self._chance.coin(HALF)
        self.coins.append((one, a, other, b) if kept else (other, b, one, a))
        return kept


def coin_law(
    estimator: Estimator, comparisons: Comparisons, bundles: Sequence[Sequence[int]]
) -> CoinLaw:
    """Work out which rankings an estimator gives by which coins.

    Args:
        estimator: What uses a score in no other way than in a gap for its W.
        comparisons: Who was put above whom.
        bundles: Items of each reviewer.

    Returns:
        From a ranking and the coins that led to it to the probability of the choices
        that were no such coins.

    Raises:
        OptionError: If the estimator uses scores in another way.

    Examples:
        >>> from evenhand.posets.graph import from_edges
        >>> from evenhand.ranking.flips import flips_program
        >>> law = coin_law(lambda c, scores, first: flips_program(
        ...     c, scores, [0, 1], first), from_edges(2, [], []), [[0], [1]])
        >>> law
        {((0, 1), ((0, 0, 1, 1),)): Fraction(1, 1),
         ((1, 0), ((1, 1, 0, 0),)): Fraction(1, 1)}
    """
    seen = [(r, item) for r, bundle in enumerate(bundles) for item in bundle]
    # Differences of distinct powers of three are distinct, and no probability.
    scores = {who: Fraction(BASE**place) for place, who in enumerate(seen)}
    gaps = {
        scores[one] - scores[other]: (*one, *other)
        for one, other in itertools.permutations(seen, 2)
    }
    procedure = estimator(comparisons, scores, lambda gap: gap)

    def traced(chance: Chance) -> tuple[Order, tuple[Coin, ...]]:
        watched = _Watched(chance, gaps)
        order = procedure(watched)
        return order, tuple(watched.coins)

    return {
        (order, coins): mass * 2 ** len(coins)
        for (order, coins), mass in outcomes(traced).items()
    }


def risk(law: CoinLaw, truth: Order, loss: Callable[[Order, Order], int]) -> Polynomial:
    """Return the expected loss at a true ranking as a polynomial in coins.

    Items are replaced by their places in the true ranking, 0 the best, and reviewers
    by numbers that only say which coins share one.

    Args:
        law: What `coin_law` returns.
        truth: The true ranking, best first.
        loss: Of a ranking and the true one.

    Returns:
        From coins to the coefficient of their product.

    Examples:
        >>> law = {((0, 1), ((5, 0, 7, 1),)): Fraction(1),
        ...        ((1, 0), ((7, 1, 5, 0),)): Fraction(1)}
        >>> risk(law, (1, 0), lambda order, truth: int(order != truth))
        {(): Fraction(1, 1), ((0, 0, 1, 1),): Fraction(-1, 1)}
    """
    place = {item: rank for rank, item in enumerate(truth)}
    losses = {order: loss(order, truth) for order, _ in law}
    # All probabilities add up to one, so terms of the largest loss need not be kept.
    most = max(losses.values())
    total: Polynomial = defaultdict(Fraction)
    total[()] += most
    for (order, coins), mass in law.items():
        if losses[order] < most:
            placed = [(r, place[a], s, place[b]) for r, a, s, b in coins]
            total[nameless(placed)] += mass * (losses[order] - most)
    return dict(total)


def nameless(coins: Sequence[Coin]) -> tuple[Coin, ...]:
    """Number the reviewers of some coins so that only who is the same counts.

    Examples:
        >>> nameless([(8, 0, 2, 1)]) == nameless([(1, 0, 9, 1)])
        True
    """
    return min(map(_numbered, itertools.permutations(coins)))


def combined(parts: Sequence[tuple[Fraction, Polynomial]]) -> Polynomial:
    """Add up polynomials, each times a number.

    Examples:
        >>> combined([(Fraction(2), {(): Fraction(1)}), (Fraction(-1), {})])
        {(): Fraction(2, 1)}
    """
    total: Polynomial = defaultdict(Fraction)
    for factor, polynomial in parts:
        for coins, coefficient in polynomial.items():
            total[coins] += factor * coefficient
    return {coins: value for coins, value in total.items() if value}


def evaluate(polynomial: Polynomial, table: Table, first: First) -> Fraction:
    """Evaluate a polynomial in coins at given scales.

    Args:
        polynomial: What `risk` returns, or a sum of such.
        table: Scores by reviewer, increasing from the worst place to the best.
        first: W, from a gap to the probability of the higher place.

    Returns:
        The value, averaged over all assignments of reviewers.

    Examples:
        >>> table = ((Fraction(0), Fraction(1)), (Fraction(2), Fraction(5)))
        >>> evaluate({((0, 0, 1, 1),): Fraction(1)}, table, lambda gap: (9 + gap) / 18)
        Fraction(11, 18)
    """

    @functools.cache
    def chance(one: int, a: int, other: int, b: int) -> Fraction:
        return first(table[one][-1 - a] - table[other][-1 - b])

    total = Fraction(0)
    for coins, coefficient in polynomial.items():
        people = 1 + max((max(r, s) for r, _, s, _ in coins), default=-1)
        summed = Fraction(0)
        for w in itertools.permutations(range(len(table)), people):
            flipped = [chance(w[r], a, w[s], b) for r, a, s, b in coins]
            summed += math.prod(flipped, start=ONE)
        total += coefficient * summed / math.perm(len(table), people)
    return total


ONE = Fraction(1)


def _numbered(coins: Sequence[Coin]) -> tuple[Coin, ...]:
    people = dict.fromkeys(who for r, _, s, _ in coins for who in (r, s))
    number = dict(zip(people, itertools.count(), strict=False))
    return tuple((number[r], a, number[s], b) for r, a, s, b in coins)


def weighed(law: Mapping[Order, Fraction], chance: Chance) -> Order:
    """Draw a ranking from a law with finitely many rankings.

    Examples:
        >>> half = Fraction(1, 2)
        >>> outcomes(lambda chance: weighed({(0, 1): half, (1, 0): half}, chance))
        {(0, 1): Fraction(1, 2), (1, 0): Fraction(1, 2)}
    """
    left = sum(law.values())
    if left != 1:
        raise OptionError(f"probabilities of rankings must add up to 1, got {left}.")
    rankings = list(law)
    if len(set(law.values())) == 1:
        return rankings[chance.pick(len(rankings))]
    for ranking in rankings[:-1]:
        if chance.coin(law[ranking] / left):
            return ranking
        left -= law[ranking]
    return rankings[-1]


def brief(value: Fraction) -> Fraction:
    """Return a fraction that can be written out: itself, or cut to four digits.

    Exact averages over many scales can have thousands of digits. What is cut is cut
    towards zero, so the sign stays and the true value is at least as far from zero.

    Examples:
        >>> brief(Fraction(-1, 3)), brief(Fraction(-1, 3) + Fraction(1, 10**99))
        (Fraction(-1, 3), Fraction(-3333, 10000))
    """
    if value.numerator.bit_length() + value.denominator.bit_length() <= LONGEST:
        return value
    scale = 1
    while abs(value) * scale < SHORTEST:
        scale *= 10
    return Fraction(int(value * scale), scale)
