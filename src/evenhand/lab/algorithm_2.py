"""Algorithm 2, as printed: the order of choices in which the paper proves Theorem 5.

Pairs of items first, reviewers last. Nothing else in the library uses it; it is here to
be compared with Algorithm 1.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING

from evenhand._outcomes import HALF, Chance
from evenhand.lab.estimators import Edges, index_order
from evenhand.posets.comparisons import Comparisons, is_ordering

if TYPE_CHECKING:
    from evenhand.lab.polynomial import CoinLaw, Drawn, Estimator, First, Order, Scores


def over_reviewers(law: CoinLaw, m: int) -> CoinLaw:
    """Average a law over all assignments of m reviewers to their bundles.

    Examples:
        >>> law = {((0, 1), ((0, 0, 1, 1),)): Fraction(1)}
        >>> over_reviewers(law, 2)
        {((0, 1), ((0, 0, 1, 1),)): Fraction(1, 2),
         ((0, 1), ((1, 0, 0, 1),)): Fraction(1, 2)}
    """
    ways = list(itertools.permutations(range(m)))
    total: CoinLaw = defaultdict(Fraction)
    for ((order, coins), mass), way in itertools.product(law.items(), ways):
        renamed = tuple((way[r], a, way[s], b) for r, a, s, b in coins)
        total[order, renamed] += mass / len(ways)
    return dict(total)


def printed_algorithm_2(pairs: Edges, m: int) -> Estimator:
    """Return Algorithm 2 given the pairs of items that are compared.

    It fixes the flips and their pairs of items first, then a crew of two reviewers for
    each flip, and only then who of a crew has which pair. So its scores must be those
    that every one of the m reviewers would give to every item.

    References:
        Wang and Shah (2019), Algorithm 2.

    Examples:
        >>> from evenhand._outcomes import outcomes
        >>> from evenhand.lab.estimators import graph
        >>> pairs = ((0, 2), (1, 2))
        >>> scores = {(r, item): Fraction(-item) for r in (0, 1) for item in range(3)}
        >>> method = printed_algorithm_2(pairs, 2)
        >>> outcomes(method(graph(3, pairs), scores, lambda gap: (3 + gap) / 6))
        {(0, 1, 2): Fraction(2, 3), (1, 0, 2): Fraction(1, 3)}
    """

    def estimator(comparisons: Comparisons, scores: Scores, first: First) -> Drawn:
        start = index_order(comparisons)

        def procedure(chance: Chance) -> Order:
            positions = _settled(comparisons, start, pairs, chance)
            people = list(range(m))
            crews = []
            for _ in positions:
                choices = list(itertools.combinations(people, 2))
                crews.append(choices[chance.pick(len(choices))])
                people = [person for person in people if person not in crews[-1]]
            after = list(start)
            for position, crew in zip(positions, crews, strict=True):
                a, b = start[position : position + 2]
                one, other = crew if chance.coin(HALF) else crew[::-1]
                if not chance.coin(first(scores[one, a] - scores[other, b])):
                    after[position : position + 2] = [b, a]
            return tuple(after)

        return procedure

    return estimator


def _settled(
    comparisons: Comparisons, start: Order, pairs: Edges, chance: Chance
) -> list[int]:
    """Choose positions to flip and use up a pair of items for each of the two."""
    left = list(pairs)
    positions = []
    position = 0
    while position + 1 < len(start):
        a, b = start[position : position + 2]
        flipped = (*start[:position], b, a, *start[position + 2 :])
        holding = [[pair for pair in left if item in pair] for item in (a, b)]
        if not is_ordering(comparisons, flipped) or not all(holding):
            position += 1
            continue
        used = [choices[chance.pick(len(choices))] for choices in holding]
        left = [pair for pair in left if pair not in used]
        positions.append(position)
        position += 2
    return positions
