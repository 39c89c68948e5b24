"""Many items: the exact margin of a ranking method over an ordinal one, at any scales.

An ordinal method sees comparisons only and gives a ranking, or several with their
probabilities. A cardinal one is a procedure that asks for its random choices; all are
the library's own algorithms.

Which coins a procedure flips depends on the comparisons and on chance; a score enters
only through the gap that biases a coin. So its law given the comparisons is worked out
once, with a stand-in for every score, and its risk is a polynomial in coins that is
evaluated at any scales. Reviewers are assigned to bundles uniformly at random, so a
term says only which of its coins share a reviewer, and its value is the average over
all ways to fill in distinct reviewers.

A world is a number of items and of reviewers, each with one of the distinct random
pairs, or comparisons that are given. For every true ranking the margin is the risk of
the baseline minus the risk of the method, over pairs, reviewers and coins.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np

from evenhand import designs, losses
from evenhand.posets.graph import Comparisons, from_edges
from evenhand.posets.orderings import all_orderings, topological_order
from evenhand.randomness import HALF, Chance, outcomes
from evenhand.ranking.flips import flips_program
from evenhand.ranking.twins import twins_program

if TYPE_CHECKING:
    from evenhand.ab.weights import GapWeight
    from evenhand.designs.balancing import Bundles

Order = tuple[int, ...]
Pair = tuple[int, int]
Scores = Mapping[tuple[int, int], Fraction]
First = Callable[[Fraction], Fraction]
Table = tuple[tuple[Fraction, ...], ...]
"""Scores by reviewer: for the worst item, the next, ..., the best."""

Drawn = Callable[[Chance], Order]
Estimator = Callable[[Comparisons, Scores, First], Drawn]
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
    people = dict.fromkeys(who for r, _, s, _ in coins for who in (r, s))
    number = dict(zip(people, itertools.count(), strict=False))
    return tuple((number[r], a, number[s], b) for r, a, s, b in coins)


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


def weighed(law: Mapping[Order, Fraction], chance: Chance) -> Order:
    """Draw a ranking from a law with finitely many rankings.

    Examples:
        >>> half = Fraction(1, 2)
        >>> outcomes(lambda chance: weighed({(0, 1): half, (1, 0): half}, chance))
        {(0, 1): Fraction(1, 2), (1, 0): Fraction(1, 2)}
    """
    left, rankings = Fraction(1), list(law)
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


Edges = tuple[Pair, ...]
Ranked = Sequence[int] | Mapping[Order, Fraction]
Ordinal = Callable[[Comparisons], Ranked]
"""From comparisons to a ranking, or to rankings with their probabilities."""
Program = Callable[[Comparisons, Scores, Order, First], Drawn]


@functools.lru_cache(maxsize=10_000)
def graph(n_items: int, edges: Edges) -> Comparisons:
    """Return comparisons as a graph.

    Examples:
        >>> graph(3, ((0, 1),)).n_items
        3
    """
    above, below = zip(*edges, strict=True) if edges else ((), ())
    return from_edges(n_items, above, below)


def index_order(comparisons: Comparisons) -> Order:
    """Return the topological ordering with ties broken by index.

    Examples:
        >>> index_order(graph(3, ((2, 0),)))
        (1, 2, 0)
    """
    return tuple(topological_order(comparisons).tolist())


def uniform(comparisons: Comparisons) -> dict[Order, Fraction]:
    """Return the uniform law over all topological orderings.

    Examples:
        >>> len(uniform(graph(4, ((0, 1), (2, 3)))))
        6
    """
    orderings = list(all_orderings(comparisons))
    return dict.fromkeys(orderings, Fraction(1, len(orderings)))


def mean_rank_buckets(comparisons: Comparisons) -> list[tuple[int, ...]]:
    """Return the items by exact mean rank, those of equal mean rank together.

    Examples:
        >>> mean_rank_buckets(graph(4, ((0, 1), (2, 3))))
        [(0, 2), (1, 3)]
    """
    places = np.argsort(list(all_orderings(comparisons)), axis=1).sum(axis=0).tolist()
    order = sorted(range(len(places)), key=places.__getitem__)
    groups = itertools.groupby(order, places.__getitem__)
    return [tuple(bucket) for _, bucket in groups]


def as_law(ranked: Ranked) -> dict[Order, Fraction]:
    """Turn one ranking, or several with probabilities, into a law.

    Examples:
        >>> as_law([1, 0])
        {(1, 0): Fraction(1, 1)}
    """
    if isinstance(ranked, Mapping):
        return dict(ranked)
    return {tuple(int(item) for item in ranked): Fraction(1)}


def started(start: Ordinal, program: Program) -> Estimator:
    """Return a method that goes on from the ranking of an ordinal one.

    Args:
        start: The ordinal method.
        program: From comparisons, scores, a ranking and W to a procedure.

    Examples:
        >>> from evenhand.randomness import outcomes
        >>> method = started(index_order, flips_program)
        >>> scores = {(0, 0): Fraction(1), (1, 1): Fraction(3)}
        >>> outcomes(method(graph(2, ()), scores, lambda gap: (3 + gap) / 6))
        {(0, 1): Fraction(1, 6), (1, 0): Fraction(5, 6)}
    """

    def estimator(comparisons: Comparisons, scores: Scores, first: First) -> Drawn:
        law = as_law(start(comparisons))
        programs = {order: program(comparisons, scores, order, first) for order in law}
        return lambda chance: programs[weighed(law, chance)](chance)

    return estimator


flips = started(index_order, flips_program)
"""Algorithm 1, from the index order."""


def flips_from_uniform(scan: str) -> Estimator:
    """Return Appendix C's method: flips from a uniform topological ordering."""
    return started(uniform, functools.partial(flips_program, scan=scan))


def twins_from(start: Ordinal, *, printed: bool = False) -> Estimator:
    """Return Algorithm 3 on top of an ordinal method.

    Args:
        start: The ordinal method.
        printed: As the paper prints it: one pair of twins, by direct comparisons.
            Otherwise all disjoint pairs, by their closure.
    """
    if not printed:
        return started(start, twins_program)
    return started(start, functools.partial(twins_program, pairs="one", by="direct"))


Loss = Callable[[Order, Order], int]
Procedure = Callable[[Comparisons, Scores, Chance], Sequence[int]]
Margin = Callable[[Order, Table], Fraction]


@functools.cache
def loss_named(name: str) -> Loss:
    """Return a loss by name, as a whole number.

    Examples:
        >>> loss_named("kendall")((0, 1, 2), (2, 1, 0))
        3
    """

    def loss(order: Order, truth: Order) -> int:
        return int(losses.loss(name)(truth, order))

    return functools.cache(loss)


def exact_first(weight: GapWeight) -> First:
    """Return W for Fractions, without the overhead of arrays.

    Examples:
        >>> from evenhand.ab.weights import rational
        >>> exact_first(rational())(Fraction(-1))
        Fraction(1, 4)
    """
    exact = cast("First", weight.exact)

    def first(gap: Fraction) -> Fraction:
        if gap == 0:
            return HALF
        value = exact(abs(gap)) / 2
        return HALF + value if gap > 0 else HALF - value

    return functools.lru_cache(maxsize=100_000)(first)


@dataclass(frozen=True, slots=True)
class World:
    """Items, reviewers and the comparisons that may arise.

    Attributes:
        n_items: Number of items.
        pairs: How many distinct pairs there are, random and one for each reviewer; or
            the comparisons, (above, below), if they are given.

    Examples:
        >>> len(World(4, 2).truths()), len(World(4, ((0, 1), (2, 3))).truths())
        (24, 6)
    """

    n_items: int
    pairs: int | Edges

    @property
    def given(self) -> Edges | None:
        """The comparisons, if they are given."""
        return None if isinstance(self.pairs, int) else self.pairs

    @property
    def n_reviewers(self) -> int:
        """Number of reviewers."""
        return self.pairs if isinstance(self.pairs, int) else len(self.pairs)

    def truths(self) -> tuple[Order, ...]:
        """List the true rankings that may be, best item first."""
        if self.given is not None:
            return tuple(all_orderings(graph(self.n_items, self.given)))
        return tuple(itertools.permutations(range(self.n_items)))

    def comparisons(self, truth: Order) -> list[Edges]:
        """List the comparisons that may arise, all equally likely."""
        if self.given is not None:
            return [self.given]
        place = {item: rank for rank, item in enumerate(truth)}
        pairs = itertools.combinations(range(self.n_items), 2)
        put = [(a, b) if place[a] < place[b] else (b, a) for a, b in pairs]
        return list(itertools.combinations(put, self.n_reviewers))

    def assignments(self) -> dict[Bundles, Fraction]:
        """Return every assignment of pairs to reviewers with its probability."""
        if self.given is None:
            return designs.enumerate_pairs(self.n_items, self.n_reviewers)
        ways = list(itertools.permutations(self.given))
        return dict.fromkeys(ways, Fraction(1, len(ways)))


@functools.lru_cache(maxsize=4096)
def _known_law(method: Estimator, n_items: int, edges: Edges) -> CoinLaw:
    """Return a method's law given comparisons; all losses share it."""
    return coin_law(method, graph(n_items, edges), edges)


def risk_polynomials(
    where: World, method: Estimator, loss: Loss
) -> dict[Order, Polynomial]:
    """Return the risk at every true ranking as a polynomial in coins.

    Args:
        where: The world.
        method: A ranking method.
        loss: Of a ranking and the true one.

    Returns:
        From each true ranking to the expected loss.

    Examples:
        >>> miss = lambda order, truth: int(order != truth)
        >>> risk_polynomials(World(3, 2), flips, miss)[0, 1, 2]
        {(): Fraction(2, 3), ((0, 1, 1, 2),): Fraction(-1, 3),
         ((0, 0, 1, 1),): Fraction(-1, 3)}
    """
    risks = {}
    for truth in where.truths():
        arising = where.comparisons(truth)
        laws = [_known_law(method, where.n_items, edges) for edges in arising]
        share = Fraction(1, len(arising))
        risks[truth] = combined([(share, risk(law, truth, loss)) for law in laws])
    return risks


def ordinal_risk(method: Ordinal, where: World, loss: Loss, truth: Order) -> Fraction:
    """Return the expected loss of an ordinal method at a true ranking.

    Examples:
        >>> miss = lambda order, truth: int(order != truth)
        >>> ordinal_risk(uniform, World(3, ((0, 1),)), miss, (0, 1, 2))
        Fraction(2, 3)
    """
    arising = where.comparisons(truth)
    known = (graph(where.n_items, edges) for edges in arising)
    found = [_expected(as_law(method(one)), truth, loss) for one in known]
    return sum(found, Fraction(0)) / len(found)


def _expected(law: dict[Order, Fraction], truth: Order, loss: Loss) -> Fraction:
    return sum((mass * loss(order, truth) for order, mass in law.items()), Fraction(0))


def enumerated(
    where: World, method: Procedure, baseline: Ordinal, loss: Loss
) -> Margin:
    """Return the margin of a procedure of one's own, by plain enumeration.

    Args:
        where: The world.
        method: From comparisons, scores by (reviewer, item) and a Chance, which makes
            its random choices, to a ranking.
        baseline: The ordinal method that it is compared with.
        loss: Of a ranking and the true one.

    Returns:
        A function of the true ranking and the scales.

    Examples:
        >>> margin = enumerated(World(3, 2), lambda known, scores, chance:
        ...     index_order(known), index_order, lambda order, truth: order != truth)
        >>> margin((0, 1, 2), ((Fraction(0), Fraction(1), Fraction(2)),) * 2)
        Fraction(0, 1)
    """
    assigned = where.assignments()

    def margin(truth: Order, table: Table) -> Fraction:
        place = {item: rank for rank, item in enumerate(truth)}
        total = Fraction(0)
        for bundles, probability in assigned.items():
            put = tuple((a, b) if place[a] < place[b] else (b, a) for a, b in bundles)
            known = graph(where.n_items, put)
            scores = {
                (reviewer, item): table[reviewer][-1 - place[item]]
                for reviewer, pair in enumerate(bundles)
                for item in pair
            }
            law = outcomes(functools.partial(_ranked, method, known, scores))
            lost = _expected(as_law(baseline(known)), truth, loss)
            total += probability * (lost - _expected(law, truth, loss))
        return total

    return margin


def _ranked(
    method: Procedure, known: Comparisons, scores: Scores, chance: Chance
) -> Order:
    return tuple(int(item) for item in method(known, scores, chance))
