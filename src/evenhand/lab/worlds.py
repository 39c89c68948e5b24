"""Many items: the exact margin of a ranking method over an ordinal one, at any scales.

A world is a number of items and of reviewers, each with one of the distinct random
pairs, or comparisons that are given. For every true ranking the margin is the risk of
the baseline minus the risk of the method, over pairs, reviewers and coins.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from evenhand import designs, losses
from evenhand.errors import DesignError, OptionError, shown, unknown
from evenhand.lab.estimators import Edges, Ordinal, as_law, graph
from evenhand.lab.polynomial import (
    CoinLaw,
    Estimator,
    First,
    Order,
    Pair,
    Polynomial,
    Scores,
    Table,
    coin_law,
    combined,
    risk,
)
from evenhand.posets.graph import Comparisons
from evenhand.posets.orderings import all_orderings, topological_order
from evenhand.randomness import HALF, Chance, outcomes

if TYPE_CHECKING:
    from evenhand.ab.weights import GapWeight
    from evenhand.designs.balancing import Bundles

Loss = Callable[[Order, Order], int]
Procedure = Callable[[Comparisons, Scores, Chance], Sequence[int]]
Margin = Callable[[Order, Table], Fraction]

LOSSES = ("zero-one", "kendall", "footrule")
FEWEST_ITEMS = 3
MOST_ITEMS = 4
PAIR = 2


@functools.cache
def loss_named(name: str) -> Loss:
    """Return a loss by name, as a whole number.

    Raises:
        OptionError: If there is no such loss here.

    Examples:
        >>> loss_named("kendall")((0, 1, 2), (2, 1, 0))
        3
    """
    if name not in LOSSES:
        raise OptionError(unknown("loss", name, LOSSES))

    def loss(order: Order, truth: Order) -> int:
        return int(losses.loss(name)(truth, order))

    return functools.cache(loss)


def exact_first(weight: GapWeight) -> First:
    """Return W for Fractions, without the overhead of arrays.

    Raises:
        OptionError: If the weight has no exact form for all gaps.

    Examples:
        >>> from evenhand.ab.weights import rational
        >>> exact_first(rational())(Fraction(-1))
        Fraction(1, 4)
    """
    if weight.exact is None or weight.limit is not None:
        raise OptionError(
            f"weight must be exact on Fractions and for every gap, got {weight}. Use "
            "rational."
        )
    values = weight.exact

    def first(gap: Fraction) -> Fraction:
        if gap == 0:
            return HALF
        value = values(abs(gap)) / 2
        return HALF + value if gap > 0 else HALF - value

    return functools.lru_cache(maxsize=100_000)(first)


@dataclass(frozen=True, slots=True)
class World:
    """Items, reviewers and the comparisons that may arise.

    Attributes:
        n_items: Number of items.
        n_reviewers: Number of reviewers, one pair of items each.
        given: The comparisons, (above, below), if they are fixed; otherwise the pairs
            are distinct and random.
    """

    n_items: int
    n_reviewers: int
    given: Edges | None = None

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


def world(
    n_items: int, n_reviewers: int | None, given: Sequence[Pair] | None = None
) -> World:
    """Check and return a world.

    Raises:
        OptionError: If there are too many items to enumerate, or a given comparison is
            not one.
        RatingsError: If given comparisons contradict each other.
        DesignError: If the theorems ask for another number of reviewers.

    Examples:
        >>> len(world(4, None, [(0, 1), (2, 3)]).truths())
        6
    """
    if not isinstance(n_items, int) or not FEWEST_ITEMS <= n_items <= MOST_ITEMS:
        raise OptionError(
            f"n_items must be 2, 3 or {MOST_ITEMS} for an exact answer, got "
            f"{n_items!r}. Use simulate for more."
        )
    if given is not None:
        edges = _as_edges(given, n_items)
        if n_reviewers not in (None, len(edges)):
            raise DesignError(
                f"n_reviewers must be the number of given comparisons, {len(edges)}, "
                f"got {n_reviewers}."
            )
        topological_order(graph(n_items, edges))
        return World(n_items, len(edges), edges)
    most = math.comb(n_items, 2)
    count = max(2, most // 2) if n_reviewers is None else n_reviewers
    if not isinstance(count, int) or not 1 < count < most:
        raise DesignError(
            f"n_reviewers must be above 1 and below {most}, the number of pairs of "
            f"{n_items} items, got {count!r}."
        )
    return World(n_items, count)


def _as_edges(given: Sequence[Pair], n_items: int) -> Edges:
    items = set(range(n_items))
    for entry in given:
        if len(entry) != PAIR or len(items.intersection(entry)) != PAIR:
            raise OptionError(
                f"given must hold comparisons (above, below) of items 0 to "
                f"{n_items - 1}, got {shown(entry)}."
            )
    if not given:
        raise OptionError("given must hold a comparison at least, got none.")
    return tuple((int(above), int(below)) for above, below in given)


def risk_polynomials(
    where: World,
    method: Estimator,
    loss: Loss,
    *,
    laws: dict[Edges, CoinLaw] | None = None,
) -> dict[Order, Polynomial]:
    """Return the risk at every true ranking as a polynomial in coins.

    Args:
        where: The world.
        method: A ranking method.
        loss: Of a ranking and the true one.
        laws: What is known of the method's laws already; what is worked out is added.

    Returns:
        From each true ranking to the expected loss.

    Examples:
        >>> from evenhand.lab.estimators import flips
        >>> miss = lambda order, truth: int(order != truth)
        >>> risk_polynomials(world(3, 2), flips, miss)[0, 1, 2]
        {(): Fraction(2, 3), ((0, 1, 1, 2),): Fraction(-1, 3),
         ((0, 0, 1, 1),): Fraction(-1, 3)}
    """
    laws = {} if laws is None else laws
    risks = {}
    for truth in where.truths():
        arising = where.comparisons(truth)
        for edges in arising:
            if edges not in laws:
                laws[edges] = coin_law(method, graph(where.n_items, edges), edges)
        share = Fraction(1, len(arising))
        risks[truth] = combined(
            [(share, risk(laws[edges], truth, loss)) for edges in arising]
        )
    return risks


def ordinal_risk(method: Ordinal, where: World, loss: Loss, truth: Order) -> Fraction:
    """Return the expected loss of an ordinal method at a true ranking.

    Examples:
        >>> from evenhand.lab.estimators import uniform
        >>> miss = lambda order, truth: int(order != truth)
        >>> ordinal_risk(uniform, world(3, None, [(0, 1)]), miss, (0, 1, 2))
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
        >>> from evenhand.lab.estimators import index_order
        >>> margin = enumerated(world(3, 2), lambda known, scores, chance:
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
