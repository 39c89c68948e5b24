"""Exact risks at any scales: of a rule for two items, and of rankings of many.

Two items: a rule is a name or a function of the scores of the two items. It is
evaluated for all assignments and all pairings in one call.

Many items: an ordinal method sees comparisons only and gives a ranking, or several with
their probabilities. A cardinal one is a procedure that asks for its random choices; all
are the library's own algorithms. Which coins a procedure flips depends on the
comparisons and on chance; a score enters only through the gap that biases a coin. So
its law given the comparisons is worked out once, with a stand-in for every score, and
its risk is a polynomial in coins that is evaluated at any scales. Reviewers are
assigned to bundles uniformly at random, so a term says only which of its coins share a
reviewer, and its value is the average over all ways to fill in distinct reviewers.

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

from evenhand import losses
from evenhand.ab import rules
from evenhand.ab.methods import Rule
from evenhand.designs.design import TwoItemDesign, as_design
from evenhand.method import as_method
from evenhand.posets.graph import Comparisons, from_edges
from evenhand.posets.orderings import all_orderings, topological_order
from evenhand.randomness import HALF, Chance, outcomes
from evenhand.ranking.flips import flips_program, twins_program

if TYPE_CHECKING:
    from evenhand.ab.weights import GapWeight
    from evenhand.arrays import Floats

Order = tuple[int, ...]
Pair = tuple[int, int]
Edges = tuple[Pair, ...]
Scores = Mapping[tuple[int, int], Fraction]
First = Callable[[Fraction], Fraction]
Table = tuple[tuple[Fraction, ...], ...]
"""Scores by reviewer: for the worst item, the next, ..., the best."""
Margin = Callable[[Order, Table], Fraction]
Loss = Callable[[Order, Order], int]

Sides = tuple[int, ...]
Chances = Callable[["Floats", "Floats"], "Floats"]
OwnRule = Callable[[Sequence[Fraction], Sequence[Fraction]], Fraction]

Drawn = Callable[[Chance], Order]
Estimator = Callable[[Comparisons, Scores, First], Drawn]
"""From comparisons, scores and W to a procedure that draws a ranking."""
Program = Callable[[Comparisons, Scores, Order, First], Drawn]
Ranked = Sequence[int] | Mapping[Order, Fraction]
Ordinal = Callable[[Comparisons], Ranked]
"""From comparisons to a ranking, or to rankings with their probabilities."""

Coin = tuple[int, int, int, int]
"""Reviewer and item put above, reviewer and item put below."""
CoinLaw = dict[tuple[Order, tuple[Coin, ...]], Fraction]
Polynomial = dict[tuple[Coin, ...], Fraction]

TRUTHS: tuple[Order, ...] = ((0, 1), (1, 0))
BASE = 3


def assignments(design: str, n_reviewers: int) -> dict[Sides, Fraction]:
    """Return every assignment of a design with its exact probability.

    Args:
        design: A design for two items; neighbours are a pair or panel.
        n_reviewers: Number of reviewers.

    Returns:
        From the item, 0 or 1, of each reviewer to the probability.

    Examples:
        >>> assignments("matched", 2)
        {(0, 1): Fraction(1, 2), (1, 0): Fraction(1, 2)}
    """
    chosen = as_design(design, TwoItemDesign)
    return chosen.law(chosen.usual_people(n_reviewers))


def own_rule(rule: OwnRule) -> Chances:
    """Return a rule for one set of scores of each item as one for many.

    Examples:
        >>> own_rule(lambda one, two: Fraction(one[0] > two[0]))([[1]], [[2]])
        array([Fraction(0, 1)], dtype=object)
    """
    return lambda first, second: np.array(list(map(rule, first, second)), dtype=object)


def duel(
    rule: str | Chances, design: str, n_reviewers: int, pairs: str = "none"
) -> Margin:
    """Lay out a rule under a design, to be evaluated at any scales.

    Args:
        rule: A rule of `compare` or "midrank"; or a function from scores of item 0 and
            of item 1, a row each, to probabilities.
        design: What `assignments` takes.
        n_reviewers: Number of reviewers.
        pairs: How a function takes its scores, as in `pairings`.

    Returns:
        A function of the truth (the better item and the worse one) and a table (two
        scores by reviewer, for the worse item and for the better one) that gives the
        probability of the right output, over assignments, pairings and coins; of an
        array of tables, an array of them.

    Examples:
        >>> apart = ((Fraction(0), Fraction(1)), (Fraction(5), Fraction(6)))
        >>> duel("sign", "halves", 2)((0, 1), apart)
        Fraction(1, 2)
    """
    if rule == "midrank":
        rule = functools.partial(rules.follow_statistic, "midrank")
    if isinstance(rule, str):
        chosen = as_method(rule, Rule, "rule")
        rule, pairs = chosen.chance, chosen.pairs
    chances: Chances = rule
    # Assignments and pairings with the same numbers of scores are asked together.
    ways: dict[int, list[tuple[Sides, Sides, Fraction]]] = defaultdict(list)
    paired = as_design(design, TwoItemDesign).symmetry == "partners"
    for sides, probability in assignments(design, n_reviewers).items():
        taken = pairings(sides, "none" if paired else pairs)
        for first_side, second_side in taken:
            ways[len(first_side)].append(
                (first_side, second_side, probability / len(taken))
            )
    batches = [list(zip(*several, strict=True)) for several in ways.values()]

    def success(truth: Order, table: Table) -> Fraction:
        scores, p_first = np.array(table, dtype=object), Fraction(0)
        for first, second, shares in batches:
            first_scores = scores[..., np.array(first, int), int(truth[0] == 0)]
            second_scores = scores[..., np.array(second, int), int(truth[0] == 1)]
            p_first = p_first + np.dot(
                np.atleast_1d(chances(first_scores, second_scores)), shares
            )
        return p_first if truth[0] == 0 else 1 - p_first

    return success


def pairings(sides: Sides, pairs: str) -> list[tuple[Sides, Sides]]:
    """List the ways in which a rule may take the scores of an assignment.

    Args:
        sides: The item of each reviewer.
        pairs: "none" if the rule takes all scores in one way; "only" if it takes equal
            numbers, any of the larger side with the smaller one, in any order; "some"
            if those that are left over follow.

    Returns:
        Reviewers of item 0 and of item 1, in pairs, for each way.

    Examples:
        >>> pairings((0, 1, 1), "only")
        [((0,), (1,)), ((0,), (2,))]
    """
    first, second = (
        tuple(r for r, side in enumerate(sides) if side == item) for item in (0, 1)
    )
    if pairs == "none":
        return [(first, second)]
    if len(first) > len(second):
        turned = pairings(tuple(1 - side for side in sides), pairs)
        return [(first_side, second_side) for second_side, first_side in turned]
    return [
        (first, (*way, *(r for r in second if pairs == "some" and r not in way)))
        for way in itertools.permutations(second, len(first))
    ]


class _Watched:
    """A Chance that notes every coin on scores and goes both ways."""

    def __init__(self, chance: Chance, gaps: Mapping[Fraction, Coin]) -> None:
        self._chance, self._gaps, self.pick = chance, gaps, chance.pick
        self.coins: list[Coin] = []

    def coin(self, p: Fraction) -> bool:
        if p not in self._gaps:
            return self._chance.coin(p)
        reviewer, a, other_reviewer, b = self._gaps[p]
        kept = self._chance.coin(HALF)
        self.coins.append(
            (reviewer, a, other_reviewer, b)
            if kept
            else (other_reviewer, b, reviewer, a)
        )
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
        >>> law = coin_law(flips, graph(2, ()), [[0], [1]])
        >>> law
        {((0, 1), ((0, 0, 1, 1),)): Fraction(1, 1),
         ((1, 0), ((1, 1, 0, 0),)): Fraction(1, 1)}
    """
    seen = [(r, item) for r, bundle in enumerate(bundles) for item in bundle]
    # Differences of distinct powers of three are distinct, and no probability.
    scores = {pair: Fraction(BASE**place) for place, pair in enumerate(seen)}
    gaps = {
        scores[first_pair] - scores[second_pair]: (*first_pair, *second_pair)
        for first_pair, second_pair in itertools.permutations(seen, 2)
    }
    procedure = estimator(comparisons, scores, lambda gap: gap)

    def trace(chance: Chance) -> tuple[Order, tuple[Coin, ...]]:
        watched = _Watched(chance, gaps)
        order = procedure(watched)
        return order, tuple(watched.coins)

    return {
        (order, coins): mass * 2 ** len(coins)
        for (order, coins), mass in outcomes(trace).items()
    }


@functools.lru_cache(maxsize=4096)
def _known_law(method: Estimator, n_items: int, edges: Edges) -> CoinLaw:
    """Return a method's law given comparisons; all losses share it."""
    return coin_law(method, graph(n_items, edges), edges)


def margin_polynomial(
    where: World, method: Estimator, baseline: Ordinal, loss: Loss, truth: Order
) -> Polynomial:
    """Return a method's margin over a baseline as a polynomial in coins.

    Items are replaced by their places in the true ranking, 0 the best, and reviewers
    by numbers that only say which coins share one.

    Args:
        where: The world.
        method: A ranking method.
        baseline: The ordinal method that it is compared with.
        loss: Of a ranking and the true one.
        truth: The true ranking, best first.

    Returns:
        From coins to the coefficient of their product.

    Examples:
        >>> miss = lambda order, truth: int(order != truth)
        >>> margin_polynomial(World(3, 2), flips, uniform, miss, (0, 1, 2))
        {(): Fraction(-1, 3), ((0, 1, 1, 2),): Fraction(1, 3),
         ((0, 0, 1, 1),): Fraction(1, 3)}
    """
    arising = where.comparisons(truth)
    total: Polynomial = defaultdict(Fraction)
    for edges in arising:
        for order, mass in as_law(baseline(graph(where.n_items, edges))).items():
            total[()] += mass * loss(order, truth)
        law = _known_law(method, where.n_items, edges)
        # All probabilities add up to one, so terms of the largest loss need not be
        # kept.
        most = max(loss(order, truth) for order, _ in law)
        total[()] -= most
        for (order, coins), mass in law.items():
            if loss(order, truth) < most:
                total[_name_places(coins, truth)] += mass * (most - loss(order, truth))
    return {coins: value / len(arising) for coins, value in total.items() if value}


def _name_places(coins: Sequence[Coin], truth: Order) -> tuple[Coin, ...]:
    """Put places for items, and number the reviewers as they come."""
    reviewers = dict.fromkeys(reviewer for r, _, s, _ in coins for reviewer in (r, s))
    number = {reviewer: place for place, reviewer in enumerate(reviewers)}
    return tuple(
        (number[r], truth.index(a), number[s], truth.index(b)) for r, a, s, b in coins
    )


def evaluate(polynomial: Polynomial, table: Table, first: First) -> Fraction:
    """Evaluate a polynomial in coins at given scales.

    Args:
        polynomial: What `margin_polynomial` returns.
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
    def chance(reviewer: int, a: int, other_reviewer: int, b: int) -> Fraction:
        return first(table[reviewer][-1 - a] - table[other_reviewer][-1 - b])

    total, sure = Fraction(0), [Fraction(1)]
    for coins, coefficient in polynomial.items():
        people = 1 + max((max(r, s) for r, _, s, _ in coins), default=-1)
        summed = Fraction(0)
        for w in itertools.permutations(range(len(table)), people):
            head, *tail = [chance(w[r], a, w[s], b) for r, a, s, b in coins] or sure
            summed += math.prod(tail, start=head)
        total += coefficient * summed / math.perm(len(table), people)
    return total


def draw_ranking(law: Mapping[Order, Fraction], chance: Chance) -> Order:
    """Draw a ranking from a law with finitely many rankings.

    Examples:
        >>> half = Fraction(1, 2)
        >>> outcomes(lambda chance: draw_ranking({(0, 1): half, (1, 0): half}, chance))
        {(0, 1): Fraction(1, 2), (1, 0): Fraction(1, 2)}
    """
    remaining, rankings = Fraction(1), list(law)
    for ranking in rankings[:-1]:
        if chance.coin(law[ranking] / remaining):
            return ranking
        remaining -= law[ranking]
    return rankings[-1]


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


@functools.lru_cache(maxsize=10_000)
def uniform(comparisons: Comparisons) -> dict[Order, Fraction]:
    """Return the uniform law over all topological orderings.

    Examples:
        >>> len(uniform(graph(4, ((0, 1), (2, 3)))))
        6
    """
    orderings = list(all_orderings(comparisons))
    return dict.fromkeys(orderings, Fraction(1, len(orderings)))


def as_law(ranked: Ranked) -> dict[Order, Fraction]:
    """Turn one ranking, or several with probabilities, into a law.

    Examples:
        >>> as_law([1, 0])
        {(1, 0): Fraction(1, 1)}
    """
    if isinstance(ranked, Mapping):
        return dict(ranked)
    return {tuple(int(item) for item in ranked): Fraction(1)}


def start_from(start: Ordinal, program: Program) -> Estimator:
    """Return a method that goes on from the ranking of an ordinal one.

    Args:
        start: The ordinal method.
        program: From comparisons, scores, a ranking and W to a procedure.

    Examples:
        >>> from evenhand.randomness import outcomes
        >>> method = start_from(index_order, flips_program)
        >>> scores = {(0, 0): Fraction(1), (1, 1): Fraction(3)}
        >>> outcomes(method(graph(2, ()), scores, lambda gap: (3 + gap) / 6))
        {(0, 1): Fraction(1, 6), (1, 0): Fraction(5, 6)}
    """

    def estimator(comparisons: Comparisons, scores: Scores, first: First) -> Drawn:
        law = as_law(start(comparisons))
        programs = {order: program(comparisons, scores, order, first) for order in law}
        return lambda chance: programs[draw_ranking(law, chance)](chance)

    return estimator


flips = start_from(index_order, flips_program)
"""Algorithm 1, from the index order."""


def flips_from_uniform(scan: str) -> Estimator:
    """Return Appendix C's method: flips from a uniform topological ordering."""
    return start_from(uniform, functools.partial(flips_program, scan=scan))


@functools.cache
def twins_from(start: Ordinal, *, printed: bool = False) -> Estimator:
    """Return Algorithm 3 on top of an ordinal method.

    Args:
        start: The ordinal method.
        printed: As the paper prints it: one pair of twins, by direct comparisons.
            Otherwise all disjoint pairs, by their closure.
    """
    as_printed = functools.partial(twins_program, pairs="one", by="direct")
    return start_from(start, as_printed if printed else twins_program)


@functools.cache
def loss_by_name(name: str) -> Loss:
    """Return a loss by name, as a whole number.

    Examples:
        >>> loss_by_name("kendall")((0, 1, 2), (2, 1, 0))
        3
    """
    return functools.cache(lambda order, truth: int(losses.loss(name)(truth, order)))


def exact_first(weight: GapWeight) -> First:
    """Return W for Fractions, without the overhead of arrays.

    Examples:
        >>> from evenhand.ab.weights import rational
        >>> exact_first(rational())(Fraction(-1))
        Fraction(1, 4)
    """
    exact = cast("First", weight.exact)

    @functools.lru_cache(maxsize=100_000)
    def first(gap: Fraction) -> Fraction:
        return (1 + exact(abs(gap)) * ((gap > 0) - (gap < 0))) / 2

    return first


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
    def n_reviewers(self) -> int:
        """Number of reviewers."""
        return self.pairs if isinstance(self.pairs, int) else len(self.pairs)

    def truths(self) -> tuple[Order, ...]:
        """List the true rankings that may be, best item first."""
        edges = () if isinstance(self.pairs, int) else self.pairs
        return tuple(all_orderings(graph(self.n_items, edges)))

    def comparisons(self, truth: Order) -> list[Edges]:
        """List the comparisons that may arise, all equally likely."""
        if not isinstance(self.pairs, int):
            return [self.pairs]
        every = sorted(itertools.combinations(truth, 2), key=sorted)
        return list(itertools.combinations(every, self.pairs))
