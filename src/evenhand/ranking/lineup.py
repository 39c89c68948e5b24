"""The draw of a lottery: items in a line, under marks one apart from a random start.

Items of the lottery lie end to end, each as long as its chance, and who is under a mark
is chosen. So each is drawn with exactly its chance, whatever their order, and as many
as the chances add up to. The order is random but for two things. Items of a quota stay
side by side, so that the draw keeps it. Items of equal cost stay side by side, too:
then the marks of each cost, and so what a draw costs, follow from the start alone. It
changes where a mark passes from one cost to the next, so that the least and the most
that a draw can cost are found exactly. They are close together, since every second cost
comes from the dearest down, and the others from the cheapest up.
"""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

from evenhand import randomness

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.ranking.lotteries import Field

STREAMS = ORDER, LOTTERY = "lottery order", "lottery"
"""Of the draw: the order of the items, and the one uniform number."""


def number_blocks(quotas: Sequence[int], costs: Sequence[Fraction]) -> list[int]:
    """Return the place, in the line, of the items that each item stays with.

    Args:
        quotas: Number of each item's quota; the same if there are none.
        costs: Cost of each item; the same if there are none.

    Examples:
        >>> number_blocks([0] * 5, [Fraction(cost) for cost in (9, 7, 5, 3, 9)])
        [0, 3, 1, 2, 0]
    """
    items, order = list(zip(quotas, costs, strict=True)), list[tuple[int, Fraction]]()
    for quota in sorted(set(quotas)):
        dearest_first = sorted({item for item in items if item[0] == quota})[::-1]
        order += [*dearest_first[::2], *dearest_first[1::2][::-1]]
    places = {block: place for place, block in enumerate(order)}
    return [places[item] for item in items]


def _lottery_blocks(chances: Sequence[Fraction], field: Field) -> dict[int, int]:
    """Return the block of each item of the lottery, by item code."""
    lottery = [code for code, chance in enumerate(chances) if 0 < chance < 1]
    members = np.array([quota.members for quota in field.quotas]).reshape(
        -1, len(chances)
    )
    # Who belongs to no quota comes last.
    quotas = np.vstack([members, np.ones(len(chances), bool)]).argmax(axis=0)[lottery]
    costs = [field.costs[code] if field.costs else Fraction(0) for code in lottery]
    return dict(zip(lottery, number_blocks(quotas.tolist(), costs), strict=True))


def cost_range(chances: Sequence[Fraction], field: Field) -> tuple[Fraction, Fraction]:
    """Return the least and the most that a draw can cost, wherever the marks start.

    Examples:
        >>> from evenhand.ranking.lotteries import Field
        >>> costs = tuple(map(Fraction, (9, 7, 5, 4)))
        >>> field = Field(*np.zeros((4, 4)), 2, costs=costs)
        >>> [int(cost) for cost in cost_range([Fraction(1, 2)] * 4, field)]
        [12, 13]
    """
    lengths, prices = defaultdict[int, Fraction](Fraction), dict[int, Fraction]()
    for code, block in _lottery_blocks(chances, field).items():
        lengths[block] += chances[code]
        prices[block] = field.costs[code]
    pairs = zip(chances, field.costs, strict=True)
    total = sum((cost for chance, cost in pairs if chance == 1), Fraction(0))
    # So many marks stand before an end: its whole part, and one more if the marks start
    # before what is left of it.
    steps = defaultdict[Fraction, Fraction](Fraction)
    ends = accumulate(lengths[block] for block in sorted(lengths))
    costs = [*(prices[block] for block in sorted(prices)), Fraction(0)]
    for end, (cost, after) in zip(ends, pairwise(costs), strict=True):
        total += (cost - after) * math.floor(end)
        steps[end % 1] += cost - after
    steps[Fraction(0)] = Fraction(0)
    sums = [*accumulate((steps[end] for end in sorted(steps)[::-1]), initial=total)]
    return min(sums), max(sums)


def draw_items(chances: Sequence[Fraction], field: Field, seed: int) -> list[bool]:
    """Draw items, each with its chance.

    Args:
        chances: Exact chances, by item code.
        field: Estimates, quotas and costs.
        seed: Where the draw comes from.

    Examples:
        >>> from evenhand.ranking.lotteries import Field
        >>> even = Field(*np.zeros((4, 4)), 2)
        >>> sum(draw_items([Fraction(1, 2)] * 4, even, 7))
        2
    """
    blocks = _lottery_blocks(chances, field)
    order = np.argsort(-field.estimate, kind="stable").tolist()
    lottery = [code for code in order if code in blocks]
    mixed = randomness.permutation(randomness.stream(seed, ORDER), len(lottery))
    lottery = sorted(
        (lottery[place] for place in mixed.tolist()), key=blocks.__getitem__
    )
    source = randomness.stream(seed, LOTTERY)
    drawn = [chance == 1 for chance in chances]
    steps = math.lcm(*(chances[code].denominator for code in lottery))
    end = -Fraction(randomness.below(source, steps), steps)
    for code in lottery:
        begin, end = end, end + chances[code]
        drawn[code] = math.ceil(end) > math.ceil(begin)
    return drawn
