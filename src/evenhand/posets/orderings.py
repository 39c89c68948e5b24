"""The orderings that respect the comparisons: the smallest, all of them, how many.

A poset is taken apart first. Items that no comparison connects are side by side; a set
of items all of which are above all others of its group is a segment of its own. Work is
left only inside the pieces that can be taken apart no further.

There, orderings are counted along order ideals: sets that hold, with an item, every
item above it. Building an ordering from the best item down passes through ideals of
sizes 0, 1, 2, ..., so the ways to reach an ideal and the ways to go on from it are sums
over steps.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.errors import ConvergenceError, RatingsError
from evenhand.posets.contradictions import consistent, find_contradiction
from evenhand.posets.graph import (
    connected,
    edges,
    merged,
    neighbours,
    node_keys,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.arrays import Codes
    from evenhand.posets.graph import Comparisons
    from evenhand.ratings import Ratings

# A step from ideal to ideal takes some 16 bytes, and there are some ten to an ideal.
COUNTED_IDEALS = 1_000_000
# Nested series and parallel splits deeper than this are left to the general methods.
MOST_ROUNDS = 64
# Pairs on neighbouring levels of a piece that are listed: a second or two.
MOST_PAIRS = 5_000_000
# Pairs that others imply are dropped in pieces of up to so many items, by as many bits
# for each.
REDUCED_ITEMS = 20_000


def topological_order(c: Comparisons) -> Codes:
    """Return the lexicographically smallest ordering, best first.

    This is the paper's "ties broken in order of the indices".

    Raises:
        RatingsError: If the comparisons contradict each other.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> topological_order(from_edges(4, [3, 2], [0, 1])).tolist()
        [2, 1, 3, 0]
    """
    found = find_contradiction(c)
    if found is not None:
        shown = " above ".join(str(code) for code in [*found[0], found[0][0]])
        raise RatingsError(
            f"comparisons must be consistent, got items {shown}. No ordering respects "
            "them all."
        )
    return c.order.copy()


def all_orderings(c: Comparisons) -> Iterator[tuple[int, ...]]:
    """Yield every ordering, best first, in lexicographic order; for a few items.

    Raises:
        RatingsError: If the comparisons contradict each other.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> list(all_orderings(from_edges(3, [2], [0])))
        [(1, 2, 0), (2, 0, 1), (2, 1, 0)]
    """
    topological_order(c)
    above = [0] * c.n_items
    for upper, lower in zip(*(codes.tolist() for codes in edges(c)), strict=True):
        above[lower] |= 1 << upper
    return _completed((), 0, above)


def _completed(
    start: tuple[int, ...], taken: int, above: list[int]
) -> Iterator[tuple[int, ...]]:
    if len(start) == len(above):
        yield start
    for item, needed in enumerate(above):
        if not taken >> item & 1 and needed & ~taken == 0:
            yield from _completed((*start, item), taken | 1 << item, above)


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """One splitting of all pieces, first side by side, then one above the other.

    Attributes:
        parent: The piece that each item was in.
        group: The connected group of the piece that each item is in.
        segment: The segment of the group, numbered from best to worst.
    """

    parent: Codes
    group: Codes
    segment: Codes


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Items that cannot be taken apart, numbered from 0 along an ordering.

    Attributes:
        items: Their places in the ordering of all items.
        below: The items next below each: no third one is between, or they are more
            than 20,000 items. None if there are more than 5 million pairs to look at.
    """

    items: Codes
    below: list[list[int]] | None

    def __len__(self) -> int:
        return len(self.items)


def depths(below: list[list[int]]) -> list[int]:
    """Return the length of the longest chain above each item.

    Examples:
        >>> depths([[1, 2], [2], []])
        [0, 1, 2]
    """
    found = [0] * len(below)
    for item, lower in enumerate(below):
        for other in lower:
            found[other] = max(found[other], found[item] + 1)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """A poset taken apart.

    Attributes:
        order: Item code of each place of an ordering.
        rounds: The splittings, outermost first; items are numbered by their places.
        pieces: What cannot be taken apart, of two items or more each.
    """

    order: Codes
    rounds: tuple[Round, ...]
    pieces: tuple[Piece, ...]


def take_apart(c: Comparisons, *, whole: bool = False) -> Pieces:
    """Take a poset apart as far as series and parallel splits go.

    Args:
        c: The comparisons.
        whole: Leave everything in one piece.

    Raises:
        RatingsError: If the comparisons contradict each other.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> len(take_apart(from_edges(4, [0, 0, 1], [1, 2, 3])).pieces)
        0
        >>> (piece,) = take_apart(from_edges(4, [0, 0, 1], [2, 3, 3])).pieces
        >>> piece.below
        [[2, 3], [3], [], []]
    """
    order, n_items = topological_order(c), c.n_items
    n_nodes, *ends = c.links
    place = np.concatenate([np.argsort(order), np.arange(n_items, n_nodes)])
    above, below = merged(n_nodes, *(place[nodes] for nodes in ends))
    piece = np.zeros(n_nodes, dtype=np.int64)
    rounds: list[Round] = []
    n_pieces = min(n_items, 1)
    while not whole and len(rounds) < MOST_ROUNDS:
        group = connected(n_nodes, above, below)
        segment = _segments(n_items, group, above, below)
        found = len(np.unique(segment[:n_items]))
        if found == n_pieces:
            break
        rounds.append(Round(piece[:n_items], group[:n_items], segment[:n_items]))
        piece, n_pieces = segment, found
        inside = piece[above] == piece[below]
        above, below = above[inside], below[inside]
        # Joints that have lost all items on one side say nothing.
        live = np.bincount(above, minlength=n_nodes) * np.bincount(
            below, minlength=n_nodes
        )
        live[:n_items] = 1
        kept = (live[above] > 0) & (live[below] > 0)
        above, below = above[kept], below[kept]
    found_pieces = _pieces(n_items, piece, above, below)
    return Pieces(order, tuple(rounds), tuple(found_pieces))


def _segments(n_items: int, group: Codes, above: Codes, below: Codes) -> Codes:
    """Number the segments of each connected group, best first.

    Nodes are put in order, group by group. What comes before a cut is above all the
    rest of its group exactly if every low node before it, which has nothing below it
    before the cut, has an edge to every high node after it, which has nothing above it
    after the cut. A node is low, a node is high and an edge leads from low to high for
    a stretch of cuts each, so three sums over stretches tell all cuts.
    """
    n_nodes = len(group)
    nodes = np.lexsort((node_keys(n_items, n_nodes, above, below), group))
    place = np.argsort(nodes)
    groups = group[nodes]
    first = np.searchsorted(groups, groups)
    next_below = np.searchsorted(groups, groups, side="right")
    last_above = first - 1
    upper, lower = place[above], place[below]
    np.minimum.at(next_below, upper, lower)
    np.maximum.at(last_above, lower, upper)
    here = np.arange(n_nodes)
    lows = _stretches(here, next_below, n_nodes)
    highs = _stretches(last_above, here, n_nodes)
    begin, end = last_above[lower], next_below[upper]
    links = _stretches(begin, np.maximum(begin, end), n_nodes)
    cuts = (first == here) | ((highs > 0) & (links == lows * highs))
    segment = np.empty(n_nodes, dtype=np.int64)
    segment[nodes] = np.cumsum(cuts) - 1
    return segment


def _stretches(begin: Codes, end: Codes, size: int) -> Codes:
    """Count for each place the stretches from after `begin` to `end` that hold it."""
    starts = np.bincount(begin + 1, minlength=size + 2)
    stops = np.bincount(end + 1, minlength=size + 2)
    counts: Codes = np.cumsum(starts - stops)[:size]
    return counts


def _pieces(n_items: int, piece: Codes, above: Codes, below: Codes) -> Iterator[Piece]:
    """Yield the pieces of two items or more."""
    lists = neighbours(len(piece), above, below)
    # Pairs that a piece has if joints are looked through.
    pairs = np.bincount(below, minlength=len(piece)) * [len(nodes) for nodes in lists]
    pairs[:n_items] = np.bincount(above[below < n_items], minlength=n_items)[:n_items]
    pairs_of = np.bincount(piece, pairs)
    items = np.argsort(piece[:n_items], kind="stable")
    starts = np.flatnonzero(np.diff(piece[items], prepend=-1))
    ends = np.append(starts, n_items)[1:]
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        inside = items[start:end]
        if end - start > 1 and pairs_of[piece[inside[0]]] > MOST_PAIRS:
            yield Piece(inside, None)
        elif end - start > 1:
            yield Piece(inside, _next_below(n_items, inside.tolist(), lists))


def _next_below(
    n_items: int, items: list[int], lists: list[list[int]]
) -> list[list[int]]:
    """List the items next below each item of a piece, joints looked through.

    Items below are gone through from the best down: whatever is between an item and one
    below it comes earlier, and has the lower one in its row.
    """
    number = {item: at for at, item in enumerate(items)}
    reduced = len(items) <= REDUCED_ITEMS
    rows = [0] * len(items)
    found: list[list[int]] = [[] for _ in items]
    for at in range(len(items) - 1, -1, -1):
        lower: set[int] = set()
        for node in lists[items[at]]:
            lower.update([node] if node < n_items else lists[node])
        row = 0
        for other in sorted(number[node] for node in lower):
            if not row >> other & 1:
                found[at].append(other)
                row |= rows[other]
        rows[at] = row | 1 << at if reduced else 0
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Ideals:
    """The order ideals of one piece and the steps between them.

    Ideals are numbered by size, from the empty one to the whole piece.

    Attributes:
        held: The items of each ideal, as bits.
        free: The items that can be added to it, increasing.
        to: The ideals that adding them leads to.
    """

    held: list[int]
    free: list[list[int]]
    to: list[list[int]]

    def __len__(self) -> int:
        return len(self.held)

    def completions(self) -> list[int]:
        """Count the ways to go on from each ideal to the whole piece."""
        ways = [1] * len(self)
        for ideal in range(len(self) - 2, -1, -1):
            ways[ideal] = sum([ways[after] for after in self.to[ideal]])
        return ways

    def arrivals(self) -> list[int]:
        """Count the ways to reach each ideal from the empty one."""
        ways = [1] + [0] * (len(self) - 1)
        for ideal, number in enumerate(ways):
            for after in self.to[ideal]:
                ways[after] += number
        return ways


def order_ideals(piece: Piece, *, limit: int) -> Ideals | None:
    """List the ideals of a piece, or None if there are more than `limit`.

    Examples:
        >>> antichain = Piece(np.arange(2), [[], []])
        >>> ideals = order_ideals(antichain, limit=4)
        >>> ideals.free, ideals.to, ideals.completions()
        ([[0, 1], [1], [0], []], [[1, 2], [3], [3], []], [2, 1, 1, 1])
        >>> order_ideals(antichain, limit=3) is None
        True
    """
    if piece.below is None:
        return None
    # Items of equal depth are incomparable, so all their subsets make ideals.
    sizes = Counter(depths(piece.below))
    if sum(2**size - 1 for size in sizes.values()) + 1 > limit:
        return None
    above = [0] * len(piece)
    for item, lower in enumerate(piece.below):
        for other in lower:
            above[other] |= 1 << item
    known: dict[int, int] = {0: 0}
    held: list[int] = [0]
    to: list[list[int]] = []
    free = [[item for item, needed in enumerate(above) if not needed]]
    for ideal in held:
        steps = []
        if len(held) > limit or 2 ** len(free[len(to)]) > limit:
            return None
        for item in free[len(to)]:
            after = ideal | 1 << item
            if after not in known:
                known[after] = len(held)
                held.append(after)
                gained = [
                    lower for lower in piece.below[item] if not above[lower] & ~after
                ]
                rest = [other for other in free[len(to)] if other != item]
                free.append(sorted(rest + gained))
            steps.append(known[after])
        to.append(steps)
    return Ideals(held, free, to)


def count_orderings(data: Ratings | Comparisons) -> int:
    """Count the orderings that respect all comparisons, exactly.

    Given the comparisons, and no more, each of them is as likely as any other if all
    rankings were beforehand; so no ordinal method finds the true ranking with a
    probability of more than one over this number.

    Args:
        data: Ratings, or comparisons taken from them.

    Raises:
        RatingsError: If the comparisons contradict each other.
        ConvergenceError: If a piece that cannot be taken apart has more than a million
            order ideals.

    References:
        Wang and Shah (2019), Lemma 1.

    Examples:
        >>> from evenhand import Ratings
        >>> count_orderings(Ratings.from_comparisons([1, 3], [2, 4]))
        6
    """
    apart = take_apart(consistent(data, method="count_orderings"))
    number = 1
    for split in apart.rounds:
        sizes = Counter(split.parent.tolist()).values()
        number *= math.prod(math.factorial(size) for size in sizes)
        sizes = Counter(split.group.tolist()).values()
        number //= math.prod(math.factorial(size) for size in sizes)
    for piece in apart.pieces:
        ideals = order_ideals(piece, limit=COUNTED_IDEALS)
        if ideals is None:
            raise ConvergenceError(
                f"The orderings of {len(piece):,} items that cannot be taken apart "
                f"were not counted within {COUNTED_IDEALS:,} order ideals. Draw from "
                "them with uniform_order instead."
            )
        number *= ideals.completions()[0]
    return number
