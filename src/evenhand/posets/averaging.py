"""Averages over all orderings that respect the comparisons.

Given the comparisons, and no more, all these orderings are equally likely if all
rankings were beforehand, so the averages are posterior: mean rank, chance of each
place, chance that one item is above another. Pieces that cannot be taken apart are
counted along their order ideals, or sampled where those are too many; what holds inside
the pieces is then put together exactly.

Where even sampling takes long, a proxy takes the place of the mean rank: the middle of
the ranks that an item may have, by the items above and below it.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from evenhand.arrays import frozen
from evenhand.posets.contradictions import consistent
from evenhand.posets.orderings import Ideals, Piece, bits, order_ideals, rank_sums
from evenhand.posets.sampling import DEFAULT_IDEALS, plan_counts, plan_orders
from evenhand.randomness import RNGLike, permutation, seed_from, stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.arrays import Codes, Flags, Table
    from evenhand.posets.graph import Comparisons
    from evenhand.posets.orderings import Round
    from evenhand.posets.sampling import Decomposition
    from evenhand.ratings import Ratings


# Each of the two tables takes 72 megabytes for this many items.
TABLE_ITEMS = 3000
DEFAULT_SAMPLES = 200
# How long sampling may take, as estimated: within a factor of 3 or so.
SAMPLING_SECONDS = 20.0


@dataclass(frozen=True, slots=True, eq=False)
class Averages:
    """Averages over all orderings; ranks and places count from the best.

    Attributes:
        mean_rank: Mean rank of each item, 1 is best.
        mean_rank_se: Standard errors of the mean ranks, 0 where nothing was sampled.
        fractions: The same mean ranks without rounding; of the sample, if sampled.
        samples: Orderings drawn of each piece that was not counted; 0 if none was.
        places: places[i, t] is the probability that t items are above item i; None for
            more than 3,000 items.
        above: above[a, b] is the probability that item a is above item b; None for more
            than 3,000 items, if not asked for, or if anything was sampled.
    """

    mean_rank: Table
    mean_rank_se: Table
    fractions: tuple[Fraction, ...]
    samples: int
    places: Table | None
    above: Table | None

    @property
    def exact(self) -> bool:
        """Whether nothing was sampled."""
        return self.samples == 0


def averages(
    data: Ratings | Comparisons,
    *,
    samples: int = DEFAULT_SAMPLES,
    ideals: int = DEFAULT_IDEALS,
    pairs: bool = True,
    rng: RNGLike = None,
) -> Averages:
    """Average over all orderings that respect the comparisons.

    Sorting by mean rank has the least expected squared distance of ranks among all
    rankings, if all orderings are equally likely: E sum (r - R)^2 is sum (r - E R)^2
    and a constant, and by rearrangement the sum is least when r and E R are sorted
    alike.

    Args:
        data: Ratings, or comparisons taken from them.
        samples: Orderings to draw of each piece that is not counted.
        ideals: Count along order ideals while there are at most this many in a piece.
        pairs: Work out the probability that one item is above another, too.
        rng: Seed, generator or None; of no effect if everything is counted.

    Raises:
        RatingsError: If the comparisons contradict each other.
        ConvergenceError: At once, if sampling would take minutes.

    Examples:
        >>> from evenhand import Ratings
        >>> found = averages(Ratings.from_comparisons(["x", "x"], ["y", "z"]))
        >>> found.mean_rank.tolist(), found.exact
        ([1.0, 2.5, 2.5], True)
        >>> found.above.tolist()
        [[0.0, 1.0, 1.0], [0.0, 0.0, 0.5], [0.0, 0.5, 0.0]]
    """
    plan = plan_orders(consistent(data, method="averages"), ideals=ideals)
    return _averages(plan, samples, seed_from(rng), pairs=pairs)


def _averages(plan: Decomposition, samples: int, seed: int, *, pairs: bool) -> Averages:
    """Put together what holds inside the pieces, from the innermost splits out."""
    n_items, source = len(plan.order), stream(seed, "averages")
    counted = all(isinstance(part, Ideals) for part in plan.parts)
    tables = n_items <= TABLE_ITEMS
    averages = _Known(n_items, tables=tables, pairs=pairs and tables and counted)
    for part in plan.parts:
        if isinstance(part, Ideals):
            averages.count(part)
        else:
            part.require_quick(samples)
            averages.sample(part.piece, part.draw(source, samples))
    for split in reversed(plan.rounds):
        averages.compose(split)
    # Items were numbered along the topological ordering.
    code = np.argsort(plan.order)
    ranks, places, above = averages.ranks[code], averages.places, averages.above
    return Averages(
        mean_rank=frozen(ranks.astype(np.float64)),
        mean_rank_se=frozen(averages.errors[code]),
        fractions=tuple(ranks.tolist()),
        samples=0 if counted else samples,
        places=None if places is None else frozen(places[code]),
        above=None if above is None else frozen(above[np.ix_(code, code)]),
    )


class _Known:
    """What holds inside the pieces so far, items numbered along an ordering."""

    def __init__(self, n_items: int, *, tables: bool, pairs: bool) -> None:
        self.ranks: NDArray[np.object_] = np.full(n_items, Fraction(1), dtype=object)
        self.errors = np.zeros(n_items)
        self.places = np.zeros((n_items, n_items)) if tables else None
        self.above = np.zeros((n_items, n_items)) if pairs else None
        if self.places is not None:
            self.places[:, :1] = 1

    def count(self, ideals: Ideals) -> None:
        """Average over a piece by the ways into and out of each step between ideals."""
        items, into, ways = ideals.items, ideals.arrivals(), ideals.completions
        counts: Counter[tuple[int, int]] = Counter()
        for ideal, members in enumerate(ideals.held):
            place = members.bit_count()
            for item, after in zip(ideals.free[ideal], ideals.to[ideal], strict=True):
                counts[item, place] += into[ideal] * ways[after]
        sums, places = [0] * len(items), np.zeros((len(items), len(items)))
        for (item, place), number in counts.items():
            sums[item] += (place + 1) * number
            places[item, place] = number / ways[0]
        if self.places is not None:
            self.places[items, : len(items)] = places
        self.ranks[items] = [Fraction(number, ways[0]) for number in sums]
        if self.above is not None:
            self.above[np.ix_(items, items)] = _shares_above(ideals)

    def sample(self, items: Codes, orders: Codes) -> None:
        """Average over independent orderings of a piece, a row each."""
        places, samples, size = np.argsort(orders, axis=1).T, len(orders), len(items)
        self.errors[items] = places.std(axis=1, ddof=1) / math.sqrt(samples)
        sums = places.sum(axis=1).tolist()
        self.ranks[items] = [1 + Fraction(number, samples) for number in sums]
        if self.places is not None:
            counts = [np.bincount(row, minlength=size) for row in places]
            self.places[items, :size] = np.array(counts) / samples

    def compose(self, split: Round) -> None:
        """Put segments one above the other, and groups of a piece side by side.

        Between the items of a group, above the first and below the last, each item from
        elsewhere is equally likely to fall into each of the gaps; so mean ranks scale.
        """
        for piece in _classes(split.parent, np.arange(len(self.ranks))):
            groups = _classes(split.group, piece)
            for group in groups:
                self._stack(_classes(split.segment, group))
                if len(groups) > 1:
                    spread = Fraction(len(piece) + 1, len(group) + 1)
                    self.ranks[group] *= spread
                    self.errors[group] *= float(spread)
            if self.places is not None and len(groups) > 1:
                _interleave(groups, self.places, self.above)

    def _stack(self, segments: list[Codes]) -> None:
        """Put the segments of a group one above the other."""
        group, start = np.concatenate(segments), len(segments[0])
        for items in segments[1:]:
            end = start + len(items)
            self.ranks[items] += start
            if self.places is not None:
                self.places[items, start:end] = self.places[items, : len(items)]
                self.places[items, :start] = 0
            if self.above is not None:
                self.above[np.ix_(group[:start], items)] = 1
            start = end


def _shares_above(ideals: Ideals) -> Table:
    """Return the share of orderings with one item of a piece above another."""
    n_items, into, ways = len(ideals.items), ideals.arrivals(), ideals.completions
    above = np.zeros((n_items, n_items))
    for ideal, members in enumerate(ideals.held):
        shares = [into[ideal] * ways[after] / ways[0] for after in ideals.to[ideal]]
        # Each item that a step adds is above all that its ideal has not yet.
        above[ideals.free[ideal]] += np.outer(shares, ~bits(members, n_items))
    np.fill_diagonal(above, 0)
    above[(above.T == 0) & ~np.eye(n_items, dtype=np.bool_)] = 1
    return above


def pair_shares(reach: Flags, limit: int) -> Table | None:
    """Return the share of orderings with one item above another, for all pairs.

    Args:
        reach: Who is above whom, closed.
        limit: Most order ideals to go through.

    Returns:
        The shares at [a, b]; None if there are more ideals.

    Examples:
        >>> pair_shares(np.array([[False, True], [False, False]]), 10).tolist()
        [[0.0, 1.0], [0.0, 0.0]]
    """
    # The more items are below an item, and the fewer above, the earlier it may come.
    order = np.argsort(reach.sum(axis=0) - reach.sum(axis=1), kind="stable")
    lower = [np.flatnonzero(row).tolist() for row in reach[np.ix_(order, order)]]
    ideals = order_ideals(Piece(order, lower), limit=limit)
    if ideals is None:
        return None
    place = np.argsort(order)
    return _shares_above(ideals)[np.ix_(place, place)]


def _classes(labels: Codes, items: Codes) -> list[Codes]:
    """Put items with equal labels together, smaller labels first."""
    items = items[np.argsort(labels[items], kind="stable")]
    return np.split(items, np.flatnonzero(np.diff(labels[items])) + 1)


def _interleave(groups: list[Codes], places: Table, above: Table | None) -> None:
    """Put the groups of a piece side by side, all interleavings equally likely."""
    among = sum(map(len, groups))
    groups = sorted(groups, key=len)
    # Groups of one size are treated alike, so that many small ones cost little.
    alike = [
        list(groups_of_size) for _, groups_of_size in itertools.groupby(groups, key=len)
    ]
    if above is not None:
        for ones, others in itertools.combinations_with_replacement(alike[::-1], 2):
            _mix(ones, others, places, above)
    for groups_of_size in alike:
        items, size = np.concatenate(groups_of_size), len(groups_of_size[0])
        places[items, :among] = places[items, :size] @ _moves(size, among)


def _mix(ones: list[Codes], others: list[Codes], places: Table, above: Table) -> None:
    """Compare items of groups of one size with items of groups of another."""
    first, second = np.concatenate(ones), np.concatenate(others)
    size, size_other = len(ones[0]), len(others[0])
    earlier = np.cumsum(_between(size, size_other), axis=1)[:, :-1]
    shares = places[first, :size] @ earlier @ places[second, :size_other].T
    group = np.arange(len(ones)).repeat(size)
    same = (group[:, None] == group) if ones is others else np.zeros(shares.shape, bool)
    block = np.ix_(first, second)
    above[block] = np.where(same, above[block], shares)
    if size != size_other:
        above[np.ix_(second, first)] = 1 - shares.T


def _between(size: int, others: int) -> Table:
    """Return the law of how many others come before the r-th item of a group.

    A row for each r; with j others, C(r-1+j, j) C(size-r+others-j, others-j) of the
    C(size+others, others) interleavings, the negative hypergeometric law.
    """
    logs = np.array([math.lgamma(k + 1) for k in range(size + others)])
    before, j = np.ogrid[:size, : others + 1]
    after, later = size - 1 - before, others - j
    ways = logs[before + j] - logs[before] - logs[j]
    ways = ways + logs[after + later] - logs[after] - logs[later]
    law: Table = np.exp(ways - ways.max(axis=1, keepdims=True))
    law /= law.sum(axis=1, keepdims=True)
    return law


def _moves(size: int, among: int) -> Table:
    """Return the law of the place in a piece of each place in one of its groups."""
    moves = np.zeros((size, among))
    row, j = np.ogrid[:size, : among - size + 1]
    moves[row, row + j] = _between(size, among - size)
    return moves


@dataclass(frozen=True, slots=True, eq=False)
class MeanRankOrder:
    """Items sorted by mean rank.

    Attributes:
        order: Item codes, best first.
        buckets: For each place of the order the number of its group of items with equal
            mean ranks, from 1.
        averages: The mean ranks and the law of places, by item code; of a proxy its
            values, without errors and places.
        proxy: Whether it is a proxy.
    """

    order: Codes
    buckets: tuple[int, ...]
    averages: Averages
    proxy: bool = False

    @property
    def ties(self) -> tuple[tuple[int, ...], ...]:
        """The groups of two items or more, by place."""
        cuts = np.flatnonzero(np.diff(self.buckets)) + 1
        groups = (tuple(tie.tolist()) for tie in np.split(self.order, cuts))
        return tuple(tie for tie in groups if len(tie) > 1)


def mean_rank_order(
    c: Comparisons, seed: int, how: str = "auto", *, pairs: bool = False
) -> MeanRankOrder:
    """Sort items by mean rank, equal ones by lot.

    Args:
        c: The comparisons.
        seed: Where the lot and, if need be, the sampled orderings come from.
        how: "exact" counts all orderings. "sampled" counts what it can and samples the
            rest, however long that takes. "proxy" takes the middle of the ranks that
            an item may have, (n + 1 + items above - items below) / 2, instead. "auto"
            is sampled if that takes 20 seconds at most, as estimated, otherwise proxy.
        pairs: As for `averages`.

    Raises:
        RatingsError: If the comparisons contradict each other.
        ConvergenceError: If counting all orderings takes more than a million order
            ideals, or sampling too many sweeps.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> found = mean_rank_order(from_edges(4, [3, 3, 0], [1, 2, 3]), 7)
        >>> found.order[:2].tolist(), found.buckets
        ([0, 3], (1, 2, 3, 3))
        >>> c = from_edges(4, [0], [1])
        >>> mean_rank_order(c, 7, "proxy").averages.mean_rank.tolist()
        [2.0, 3.0, 2.5, 2.5]
    """
    plan = None
    if how != "proxy":
        plan = plan_counts(c) if how == "exact" else plan_orders(c)
        swept = [part for part in plan.parts if not isinstance(part, Ideals)]
        seconds = sum(part.seconds(DEFAULT_SAMPLES) for part in swept)
        if how == "auto" and seconds > SAMPLING_SECONDS:
            plan = None
    taken = plan and _averages(plan, DEFAULT_SAMPLES, seed, pairs=pairs)
    averages = taken or _proxy(c)
    exact, rounded = averages.fractions, averages.mean_rank.tolist()
    lot = permutation(stream(seed, "mean-rank"), c.n_items).tolist()
    # The lot never breaks a comparison: an item above another is so in each ordering,
    # drawn or counted, so its mean rank is less by 1 at least, and so is the proxy.
    # Rounding keeps the order, so fractions are compared only where floats are equal.
    keys = [*zip(rounded, exact, lot, strict=True)]
    order = sorted(range(c.n_items), key=keys.__getitem__)
    ties = itertools.groupby(order, key=exact.__getitem__)
    buckets = [number for number, (_, tie) in enumerate(ties, start=1) for _ in tie]
    codes = frozen(np.array(order, dtype=np.int64))
    return MeanRankOrder(codes, tuple(buckets), averages, plan is None)


def _proxy(c: Comparisons) -> Averages:
    sums = rank_sums(c)
    values, errors = frozen(sums / 2), frozen(np.zeros(c.n_items))
    fractions = tuple(Fraction(number, 2) for number in sums.tolist())
    return Averages(values, errors, fractions, 0, None, None)
