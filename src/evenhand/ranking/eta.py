"""eta: near ties are settled by scores too, at a price that is known beforehand.

Neighbours a, b of the order by mean rank may be all but tied: given the comparisons, a
is the better one with probability q, and q is at most 1/2 + eta. If they are thrown
into one bucket and sorted as ties are, then by Theorem T either of them, whichever is
better, comes out first with probability 1/2 at least. So the expected loss of the pair
is 1/2 at most, where it was 1 - q: the step costs q - 1/2 at worst, and gains whatever
the scores know. The price is the sum of q - 1/2 over all pairs of items that were
thrown together and had different mean ranks. It bounds the expected Kendall tau lost
against mean rank, for a uniform prior and all scales, given the comparisons.

Which buckets are merged depends on the comparisons alone, so Theorem T applies to the
merged ones. Neighbours are merged before any tie is broken: broken ties tell of scores.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.errors import OptionError
from evenhand.posets.averaging import TABLE_ITEMS, averages
from evenhand.posets.orderings import COUNTED_IDEALS
from evenhand.posets.sampling import DEFAULT_IDEALS
from evenhand.ranking.ties import equal_mean_ranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.arrays import Codes, Flags, Table
    from evenhand.posets.graph import Comparisons
    from evenhand.ranking.mean_rank import MeanRankOrder
    from evenhand.ratings import Ratings

    Buckets = tuple[tuple[int, ...], ...]

HALF = 0.5
NEIGHBOURS = 2
# Probabilities are sums of rounded shares; one that is 0.6 may come out just above.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class NearTies:
    """Buckets of equal or nearly equal items.

    Attributes:
        buckets: The buckets of two items or more, by place.
        merged: Pairs of items of different mean rank in one bucket, the upper first.
        price: Sum over these of the probability that the upper is better, less 1/2:
            the most Kendall tau that settling them by scores can lose on average.
    """

    buckets: Buckets
    merged: tuple[tuple[int, int], ...]
    price: float


def near_ties(
    order: Sequence[int] | Codes,
    buckets: Sequence[Sequence[int]],
    above: Table,
    eta: float,
    *,
    scored: Sequence[bool] | Flags | None = None,
) -> NearTies:
    """Join neighbours of an order that are all but tied, each in a bucket of its own.

    As many disjoint pairs as possible are joined; among the ways to do so, the one with
    the least price is taken.

    Args:
        order: Item codes, best first.
        buckets: Groups of tied items, each in neighbouring places of the order; all
            other items are buckets of their own.
        above: above[a, b] is the probability that a is better than b.
        eta: Neighbours are joined if the upper one is better with a probability of
            1/2 + eta at most.
        scored: Whether each item has a score, by code; without one, it is never joined.

    Returns:
        The buckets and their price.

    Examples:
        >>> from evenhand.posets import averages, from_edges
        >>> found = averages(from_edges(5, [0, 0, 1], [1, 2, 3]))
        >>> near = near_ties([0, 1, 4, 2, 3], [], found.above, 0.1)
        >>> near.buckets, round(near.price, 3)
        (((1, 4),), 0.033)
    """
    runs = _runs(order, buckets)
    # For the first so many runs: pairs, less their price, and the pairs themselves.
    best: list[tuple[int, float, tuple[tuple[int, int], ...]]] = [(0, 0.0, ())]
    for end, run in enumerate(runs, start=1):
        best.append(best[-1])
        joined = runs[end - 2] + run if end > 1 else run
        bare = scored is not None and not all(scored[item] for item in joined)
        if len(joined) != NEIGHBOURS or len(run) > 1 or bare:
            continue
        chance = float(above[joined[0], joined[1]])
        number, saved, pairs = best[end - 2]
        found = (number + 1, saved - (chance - HALF))
        if chance <= HALF + eta + ROUNDING and found > best[-1][:2]:
            best[-1] = (*found, (*pairs, (joined[0], joined[1])))
    merged = best[-1][2]
    place = {item: number for number, item in enumerate(itertools.chain(*runs))}
    tied = [tuple(run) for run in runs if len(run) > 1]
    return NearTies(
        buckets=tuple(sorted([*tied, *merged], key=lambda bucket: place[bucket[0]])),
        merged=merged,
        price=math.fsum(float(above[a, b]) - HALF for a, b in merged),
    )


def safe_buckets(
    ratings: Ratings,
    c: Comparisons,
    found: MeanRankOrder,
    eta: float,
    seed: int,
    *,
    exact: bool = False,
) -> tuple[Buckets, float | None]:
    """Return what scores settle in an order by mean rank, and what that may cost.

    Args:
        ratings: Scores; items without one are not put at risk.
        c: Who was put above whom by them.
        found: The order by mean rank.
        eta: How far from 1/2 the chance of two neighbours may be.
        seed: What repeats orderings that are sampled.
        exact: Whether orderings must be counted, however many ideals that takes.

    Returns:
        The buckets; and the bound of the expected Kendall tau that near ties may lose,
        None for eta = 0.

    Raises:
        OptionError: If there is no law of pairs to price it by.

    Examples:
        >>> from evenhand.posets.graph import comparisons
        >>> from evenhand.ranking.mean_rank import mean_rank_order
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b"], ["x", "y", "z"], [9, 7, 8])
        >>> c = comparisons(ratings)
        >>> safe_buckets(ratings, c, mean_rank_order(c, 7), 0.2, 7)[0]
        ((0, 2),)
    """
    buckets = equal_mean_ranks(found, c)
    if eta == 0:
        return buckets, None
    above = None
    if not found.proxy and c.n_items <= TABLE_ITEMS:
        ideals = COUNTED_IDEALS if exact else DEFAULT_IDEALS
        above = averages(c, ideals=ideals, pairs=True, rng=seed).above
    if above is None:
        raise OptionError(
            f"eta must be 0 for more than {TABLE_ITEMS:,} items, and where mean ranks "
            f"are a proxy, got {eta!r}."
        )
    # Twins with sampled mean ranks need not be neighbours.
    runs = buckets if found.averages.exact else ()
    scored = np.diff(ratings.by_item()[0]) > 0
    near = near_ties(found.order, runs, above, eta, scored=scored)
    return near.buckets, near.price


def _runs(
    order: Sequence[int] | Codes, buckets: Sequence[Sequence[int]]
) -> list[list[int]]:
    """Cut an order into its buckets."""
    number = {item: index for index, tied in enumerate(buckets) for item in tied}
    items = np.asarray(order, dtype=np.int64).tolist()
    keys = itertools.groupby(items, key=lambda item: number.get(item, -1 - item))
    runs = [list(run) for _, run in keys]
    if len(runs) > len(items) - len(number) + len(buckets):
        raise OptionError(
            "buckets must be of neighbouring places, got one that is not."
        )
    return runs
