"""One trial of a ranking, with what several methods need of it worked out once."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from evenhand._randomness import SEED_BITS, WORD_BITS, Stream, permutation, stream
from evenhand.lab._losses import Arranged, Group
from evenhand.posets.comparisons import closure, comparisons, find_contradiction
from evenhand.posets.orderings import topological_order
from evenhand.posets.sampling import uniform_order
from evenhand.ranking.flips import Coin
from evenhand.ranking.mean_rank import mean_rank_order
from evenhand.ranking.sorter import COUNTED_IDEALS, pair_counts
from evenhand.ranking.ties import TIED, before, twin_buckets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from evenhand.posets.comparisons import Comparisons
    from evenhand.ranking.ties import Buckets, TieBreak
    from evenhand.ratings import Ratings

    Codes = NDArray[np.int64]
    Floats = NDArray[np.float64]

# Sums of whole numbers are exact in floats up to here.
EXACT = 2.0**53
FAIR = 0.5


@dataclass(frozen=True, slots=True)
class MeanRanks:
    """Items by mean rank.

    Attributes:
        order: Item codes, best first, equal ones by lot.
        ties: The groups of two or more with equal mean ranks, by place.
        exact: Whether all orderings were counted.
        above: above[a, b] is the share of orderings with a above b; None if they were
            not counted here.
    """

    order: Codes
    ties: Buckets
    exact: bool
    above: Floats | None


class Trial:
    """One trial: ratings, and what several methods need of them."""

    def __init__(
        self, ratings: Ratings, source: Stream, lots: Stream | None = None
    ) -> None:
        """Keep the ratings, and where chance comes from if it is needed.

        Args:
            ratings: The ratings; labels are codes.
            source: For a uniform ordering.
            lots: For lots among equal mean ranks; a stream of their own, so that what
                one method draws is the same whatever others are tried.
        """
        self.ratings = ratings
        self._source = source
        self._lots = source if lots is None else lots

    @functools.cached_property
    def graph(self) -> Comparisons:
        """Who was put above whom."""
        return comparisons(self.ratings)

    @functools.cached_property
    def consistent(self) -> bool:
        """Whether no comparisons contradict each other."""
        return find_contradiction(self.graph) is None

    @functools.cached_property
    def smallest(self) -> Codes:
        """The ordering that respects every comparison, smallest codes first."""
        return topological_order(self.graph)

    @functools.cached_property
    def drawn(self) -> Codes:
        """An ordering that respects every comparison, uniformly at random."""
        return uniform_order(self.graph, self._source)

    @functools.cached_property
    def lot(self) -> int:
        """The seed of lots."""
        return draw_seed(self._lots)

    @functools.cached_property
    def mean_ranks(self) -> MeanRanks:
        """Items by mean rank."""
        # Refuses contradictions.
        self.smallest  # noqa: B018 - asked for that alone
        return _counted(self.graph, self.lot) or ranked(self.graph, self.lot)

    @property
    def equals(self) -> Buckets:
        """The groups that are held for equal by mean rank, as in `equal_mean_ranks`."""
        found = self.mean_ranks
        return found.ties if found.exact else twin_buckets(found.order, self.graph)


def draw_seed(source: Stream) -> int:
    """Draw a seed.

    Examples:
        >>> draw_seed(stream(7, "lots")) < 2**SEED_BITS
        True
    """
    return int(source.random_raw()) >> (WORD_BITS - SEED_BITS)


def ranked(graph: Comparisons, seed: int, how: str = "auto") -> MeanRanks:
    """Order items by mean rank as `rank` does.

    Examples:
        >>> from evenhand.posets.comparisons import from_edges
        >>> ranked(from_edges(3, [0], [1]), 7, "proxy").order.tolist()
        [0, 2, 1]
    """
    found = mean_rank_order(graph, seed, how)
    groups: dict[int, list[int]] = {}
    for bucket, item in zip(found.buckets, found.order.tolist(), strict=True):
        groups.setdefault(bucket, []).append(item)
    return MeanRanks(found.order, _tied(groups.values()), found.averages.exact, None)


def by_values(values: Floats, lots: Stream) -> Arranged:
    """Sort items by values, the highest first, and average over lots among equal ones.

    Examples:
        >>> by_values(np.array([1.0, 3.0, 1.0]), stream(7, "lots")).coins[0].p_first
        0.5
    """
    order = np.lexsort((permutation(lots, len(values)), -values))
    groups = itertools.groupby(order.tolist(), key=values.__getitem__)
    return by_lot(order, _tied(list(tied) for _, tied in groups))


def _counted(graph: Comparisons, seed: int) -> MeanRanks | None:
    """Count in how many orderings each item is above each other one, if they are few.

    It takes a tenth of the time of `mean_rank_order`, which counts places too.
    """
    n_items = graph.n_items
    if n_items < TIED:
        return None
    counts = pair_counts(closure(graph), COUNTED_IDEALS)
    if counts is None or (counts[0, 1] + counts[1, 0]) * n_items > EXACT:
        return None
    # Mean rank, less 1, times the number of orderings.
    above = counts.sum(axis=0)
    lot = permutation(stream(seed, "mean-rank"), n_items)
    order = np.lexsort((lot, above))
    groups = itertools.groupby(order.tolist(), key=above.__getitem__)
    ties = _tied(list(tied) for _, tied in groups)
    return MeanRanks(
        order, ties, exact=True, above=counts / (counts[0, 1] + counts[1, 0])
    )


def _tied(groups: Iterable[Sequence[int]]) -> Buckets:
    return tuple(tuple(group) for group in groups if len(group) >= TIED)


def by_lot(order: Codes, ties: Buckets) -> Arranged:
    """Average over the lots among tied items.

    Args:
        order: Item codes, best first.
        ties: Groups of items that were ordered by lot.

    Examples:
        >>> by_lot(np.array([2, 0, 1]), ((0, 1),)).coins[0].p_first
        0.5
    """
    return _arranged(order, order, ties, lambda *_: FAIR)


def by_scores(
    order: Codes, buckets: Buckets, found: TieBreak, lots: Buckets = ()
) -> Arranged:
    """Average over the noise that ties were broken with.

    Args:
        order: Item codes, best first, before that.
        buckets: The groups of tied items that were sorted by scores.
        found: How they came out.
        lots: Other groups of items, which were ordered by lot.

    Examples:
        >>> from evenhand.ranking.ties import break_ties
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 1.2])
        >>> order, buckets = np.array([0, 1]), ((0, 1),)
        >>> found = break_ties(ratings, order, buckets, stream(7, "ties"))
        >>> by_scores(order, buckets, found).coins[0].p_first.__round__(3)
        0.319
    """
    means = {
        item: Fraction(mean)
        for draw in found.draws
        for item, mean in zip(draw.items, draw.means, strict=True)
    }

    def first(one: int, other: int) -> float:
        if one not in means or other not in means:
            return FAIR
        return before(means[one] - means[other], found.noise)

    return _arranged(order, found.order, (*buckets, *lots), first)


def _arranged(
    order: Codes,
    drawn: Codes,
    buckets: Buckets,
    first: Callable[[int, int], float],
) -> Arranged:
    """Make a coin of each bucket of two, and a group of each whose items are together.

    Items without scores, and those of different lots, come first with probability 1/2.
    Larger buckets with other items between stay as they were drawn.
    """
    place = np.argsort(order)
    kept = drawn.copy()
    coins, groups = [], []
    for bucket in buckets:
        items = sorted(bucket, key=place.__getitem__)
        if len(items) == TIED:
            one, other = items
            kept[place[items]] = items
            p_first = first(one, other)
            coins.append(Coin((one, other), 0.0, p_first, kept=True, reviewers=()))
        elif place[items[-1]] - place[items[0]] == len(items) - 1:
            table = [[first(one, other) for other in items] for one in items]
            groups.append(Group(tuple(items), table))
    return Arranged(kept, coins, groups)
