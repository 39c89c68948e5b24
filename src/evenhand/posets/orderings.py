"""The orderings that respect the comparisons: what holds in all of them, how many.

Who is above whom through others is held in whole numbers with a bit for each item.

To count orderings a poset is taken apart first. Items that no comparison connects are
side by side; a set of items all of which are above all others of its group is a segment
of its own. Work is left only inside the pieces that can be taken apart no further.

There, orderings are counted along order ideals: sets that hold, with an item, every
item above it. Building an ordering from the best item down passes through ideals of
sizes 0, 1, 2, ..., so the ways to reach an ideal and the ways to go on from it are sums
over steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.errors import OptionError, RatingsError, unknown
from evenhand.posets.contradictions import find_contradiction
from evenhand.posets.graph import (
    components,
    connected_groups,
    edges,
    merge_edges,
    neighbours,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.arrays import Codes, Flags
    from evenhand.posets.graph import Comparisons

RELATIONS = ("direct", "closure")
# Items of a table of all pairs (400 MB), and of rows of bits (some 600 MB).
CLOSURE_ITEMS, MOST_ITEMS = 20_000, 100_000
# Nested series and parallel splits deeper than this are left to the general methods.
MOST_ROUNDS = 64
# Pairs with nothing between them that a piece may have: they take some seconds.
MOST_PAIRS = 5_000_000


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
    cycle = find_contradiction(c)
    if cycle is not None:
        shown = " above ".join(str(code) for code in [*cycle[0], cycle[0][0]])
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
    above = lower_items(c, np.arange(c.n_items), up=True)
    return _complete((), 0, above)


def _complete(
    start: tuple[int, ...], taken: int, above: list[int]
) -> Iterator[tuple[int, ...]]:
    if len(start) == len(above):
        yield start
    for item, needed in enumerate(above):
        if not taken >> item & 1 and needed & ~taken == 0:
            yield from _complete((*start, item), taken | 1 << item, above)


def lower_items(c: Comparisons, number: Codes, *, up: bool = False) -> list[int]:
    """Return whole numbers with a bit for each item below an item (above it, if up).

    Args:
        c: The comparisons.
        number: Which bit stands for each item; items that no comparison connects may
            share one.
        up: Whether to look above.

    Raises:
        RatingsError: If the comparisons contradict each other.
        OptionError: If there are more than 100,000 bits.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> lower_items(from_edges(3, [0, 1], [1, 2]), np.arange(3))
        [6, 4, 0]
    """
    topological_order(c)
    _require_few("Chains of comparisons are", number.max(initial=0) + 1, MOST_ITEMS)
    n_nodes, tails, heads = c.links
    others = neighbours(n_nodes, *((heads, tails) if up else (tails, heads)))
    own = [1 << bit for bit in number.tolist()]
    rows = own + [0] * (n_nodes - c.n_items)
    for node in c.walk if up else reversed(c.walk):
        row = rows[node]
        for neighbour in others[node]:
            row |= rows[neighbour]
        rows[node] = row
    return [row ^ bit for row, bit in zip(rows, own, strict=False)]


def _require_few(what: str, size: int, most: int) -> None:
    if size > most:
        raise OptionError(
            f"{what} looked at for at most {most:,} items, got {size:,}. Choose a "
            "method that does not need it."
        )


def closure(c: Comparisons) -> Flags:
    """Tell for all pairs who is above whom, directly or through others.

    Returns:
        An n x n table, True at [a, b] if a is above b.

    Raises:
        RatingsError: If the comparisons contradict each other.
        OptionError: If there are more than 20,000 items (a table of 400 MB).

    Examples:
        >>> from evenhand.posets import from_edges
        >>> closure(from_edges(3, [0, 1], [1, 2]))[0].tolist()
        [False, True, True]
    """
    _require_few("The closure, a table of all pairs, is", c.n_items, CLOSURE_ITEMS)
    rows = lower_items(c, np.arange(c.n_items))
    return np.stack([bits(row, c.n_items) for row in rows]) if rows else np.eye(0) > 0


def bits(row: int, size: int) -> Flags:
    """Return the bits of a whole number, the lowest first.

    Examples:
        >>> bits(5, 4).tolist()
        [True, False, True, False]
    """
    packed = np.frombuffer(row.to_bytes(-(-size // 8), "little"), dtype=np.uint8)
    return np.unpackbits(packed, count=size, bitorder="little").view(np.bool_)


def rank_sums(c: Comparisons) -> Codes:
    """Return for each item the sum of the least and the greatest rank it may have.

    An item with a others above it and b below it has a rank between a + 1 and n - b.
    The middle of that range is a proxy for the mean rank: no mean over orderings, but
    it respects every comparison, and is quick however many orderings there are.

    Raises:
        RatingsError: If the comparisons contradict each other.
        OptionError: If comparisons connect more than 100,000 items.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> rank_sums(from_edges(4, [3, 3, 0], [1, 2, 3])).tolist()
        [2, 7, 7, 4]
    """
    _, above, below = _chains(c)
    return c.n_items + 1 + _sizes(above) - _sizes(below)


def _chains(c: Comparisons) -> tuple[Codes, list[int], list[int]]:
    """Return the bit of each item, and the items above and below each.

    Each connected group has bits of its own, so that small groups have small numbers.
    """
    order, group = topological_order(c), components(c)
    number = np.empty_like(order)
    number[order] = places_within(group[order])
    return number, lower_items(c, number, up=True), lower_items(c, number)


def _sizes(rows: list[int]) -> Codes:
    return np.array([row.bit_count() for row in rows], dtype=np.int64)


def places_within(group: Codes) -> Codes:
    """Number the items of each group from 0.

    Examples:
        >>> places_within(np.array([3, 5, 3, 3])).tolist()
        [0, 0, 1, 2]
    """
    items = np.argsort(group, kind="stable")
    place = np.empty_like(items)
    place[items] = np.arange(len(items)) - np.searchsorted(group[items], group[items])
    return place


def twins(c: Comparisons, *, by: str = "closure") -> list[tuple[int, ...]]:
    """Find the items that the comparisons cannot tell apart.

    Two items are twins if they are not compared and have the same items above and the
    same items below. Having them is an equivalence, and it rules a comparison out: if a
    is above b, then b is below a, but never below itself. So every two items of a class
    are twins.

    Args:
        c: The comparisons.
        by: "direct" for the paper's twins, who have been compared with the same items
            with the same results; "closure" to count items above and below through
            others.

    Returns:
        The classes of two items or more, sorted.

    Raises:
        RatingsError: If the comparisons contradict each other, by "closure".

    References:
        Wang and Shah (2019), Appendix B, Algorithm 3.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> c = from_edges(4, [0, 0, 1], [1, 2, 3])
        >>> twins(c), twins(from_edges(4, [0, 0, 1, 2], [1, 2, 3, 3]), by="direct")
        ([], [(1, 2)])
    """
    if by not in RELATIONS:
        raise OptionError(unknown("relation", by, RELATIONS))
    sides: list[Sequence[object]]
    if by == "closure":
        codes = np.arange(c.n_items)
        sides = [lower_items(c, codes, up=up) for up in (True, False)]
    else:
        upper, lower = edges(c)
        lists = (
            neighbours(c.n_items, *ends) for ends in ((upper, lower), (lower, upper))
        )
        sides = [[tuple(others) for others in side] for side in lists]
    alike: dict[object, list[int]] = {}
    for item, key in enumerate(zip(*sides, strict=True)):
        alike.setdefault(key, []).append(item)
    return [tuple(items) for items in alike.values() if len(items) > 1]


class Round(NamedTuple):
    """One splitting of all pieces, first side by side, then one above the other.

    Attributes:
        parent: The piece that each item was in.
        group: The connected group of the piece that each item is in.
        segment: The segment of the group, numbered from best to worst.
    """

    parent: Codes
    group: Codes
    segment: Codes


class Piece(NamedTuple):
    """Items that cannot be taken apart, numbered from 0 along an ordering.

    Attributes:
        items: Their places in the ordering of all items.
        below: The items next below each, with no third one between; None if there are
            more than 5 million such pairs.
    """

    items: Codes
    below: list[list[int]] | None


def take_apart(c: Comparisons) -> tuple[Codes, list[Round], list[Piece]]:
    """Take a poset apart as far as series and parallel splits go.

    Returns:
        The item code of each place of an ordering; the splittings, outermost first, of
        items that are numbered by their places; and what cannot be taken apart, of two
        items or more each.

    Raises:
        RatingsError: If the comparisons contradict each other.
        OptionError: If comparisons connect more than 100,000 items.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> order, rounds, pieces = take_apart(from_edges(4, [0, 0, 1], [2, 3, 3]))
        >>> len(rounds), pieces[0].below
        (0, [[2, 3], [3], [], []])
    """
    order, n_items = topological_order(c), c.n_items
    number, upper, lower = _chains(c)
    # Items below less items above, in the same piece.
    lead = (_sizes(lower) - _sizes(upper))[order]
    n_nodes, *ends = c.links
    place = np.concatenate([np.argsort(order), np.arange(n_items, n_nodes)])
    above, below = merge_edges(n_nodes, *(place[nodes] for nodes in ends))
    rounds: list[Round] = []
    piece = np.zeros(n_items, dtype=np.int64)
    while len(rounds) < MOST_ROUNDS:
        group = connected_groups(n_nodes, above, below)[:n_items]
        segment, gained = _segments(group, lead)
        if len(np.unique(segment)) == len(np.unique(piece)):
            break
        rounds.append(Round(piece, group, segment))
        piece, lead = segment, lead + gained
        above, below = _inside(piece, n_nodes, above, below)
    items = np.argsort(piece, kind="stable")
    parts = np.split(items, np.flatnonzero(np.diff(piece[items])) + 1)
    pieces = [
        Piece(part, _next_below(order[part].tolist(), lower, number[order[part]]))
        for part in parts
        if len(part) > 1
    ]
    return order, rounds, pieces


def _segments(group: Codes, lead: Codes) -> tuple[Codes, Codes]:
    """Number the segments of each connected group, best first.

    The first k of m items are above all others exactly if all k (m - k) pairs across
    are comparisons. So many there are as the first k have items below, less the pairs
    among themselves, which are as many as they have items above.

    Returns:
        The segments, and what an item has more below than above in its segment, less
        the same in its group.
    """
    items = np.argsort(group, kind="stable")
    size, k = np.bincount(group)[group[items]], places_within(group)[items]
    # Over a whole group leads add up to 0.
    across = np.cumsum(lead[items]) - lead[items]
    segment, gained = np.empty((2, len(items)), dtype=np.int64)
    segment[items] = np.cumsum(across == k * (size - k)) - 1
    within, sizes = places_within(segment)[items], np.bincount(segment)[segment[items]]
    before = k - within
    gained[items] = before - (size - before - sizes)
    return segment, gained


def _inside(
    piece: Codes, n_nodes: int, above: Codes, below: Codes
) -> tuple[Codes, Codes]:
    """Leave out the edges between pieces."""
    n_items = len(piece)
    # A joint goes with the last items above it.
    home = np.append(piece, np.full(n_nodes - n_items, -1))
    np.maximum.at(home, below[below >= n_items], piece[above[below >= n_items]])
    inside = home[above] == home[below]
    above, below = above[inside], below[inside]
    # Joints that have lost all items on one side say nothing.
    live = np.isin(np.arange(n_nodes), above) & np.isin(np.arange(n_nodes), below)
    live[:n_items] = True
    kept = live[above] & live[below]
    return above[kept], below[kept]


def _next_below(
    items: list[int], rows: list[int], number: Codes
) -> list[list[int]] | None:
    """List the items next below each item of a piece; None if they are too many.

    The best item below another has none between, and all below it are not next.

    Args:
        items: The items along an ordering.
        rows: The items below each item, as bits.
        number: The bit of each item of the piece.
    """
    place = {bit: at for at, bit in enumerate(number.tolist())}
    inside = sum(1 << bit for bit in place)
    below: list[list[int]] = []
    budget = MOST_PAIRS
    for item in items:
        row, lower = rows[item] & inside, list[int]()
        while row and len(lower) <= budget:
            best = (row & -row).bit_length() - 1
            lower.append(place[best])
            row &= ~(rows[items[place[best]]] | 1 << best)
        below.append(lower)
        budget -= len(lower)
        if budget < 0:
            return None
    return below


@dataclass(frozen=True, eq=False)
class Ideals:
    """The order ideals of one piece and the steps between them.

    Ideals are numbered by size, from the empty one to the whole piece.

    Attributes:
        items: The items of the piece, by their places in an ordering of all.
        held: The items of each ideal, as bits.
        free: The items that can be added to it, increasing.
        to: The ideals that adding them leads to.
    """

    items: Codes
    held: list[int]
    free: list[list[int]]
    to: list[list[int]]

    @cached_property
    def completions(self) -> list[int]:
        """The number of ways to go on from each ideal to the whole piece."""
        ways = [1] * len(self.held)
        for ideal in range(len(ways) - 2, -1, -1):
            ways[ideal] = sum([ways[after] for after in self.to[ideal]])
        return ways

    def arrivals(self) -> list[int]:
        """Count the ways to reach each ideal from the empty one."""
        ways = [1] + [0] * (len(self.held) - 1)
        for ideal, number in enumerate(ways):
            for after in self.to[ideal]:
                ways[after] += number
        return ways


def order_ideals(piece: Piece, *, limit: int) -> Ideals | None:
    """List the ideals of a piece, or None if there are more than `limit`.

    Examples:
        >>> antichain = Piece(np.arange(2), [[], []])
        >>> ideals = order_ideals(antichain, limit=4)
        >>> ideals.free, ideals.to, ideals.completions
        ([[0, 1], [1], [0], []], [[1, 2], [3], [3], []], [2, 1, 1, 1])
        >>> order_ideals(antichain, limit=3) is None
        True
    """
    if piece.below is None:
        return None
    above = [0] * len(piece.items)
    for item, lower in enumerate(piece.below):
        for lower_item in lower:
            above[lower_item] |= 1 << item
    numbers: dict[int, int] = {0: 0}
    members: list[int] = [0]
    to: list[list[int]] = []
    free = [[item for item, needed in enumerate(above) if not needed]]
    for ideal in members:
        steps = []
        if len(members) > limit or 2 ** len(free[len(to)]) > limit:
            return None
        for item in free[len(to)]:
            after = ideal | 1 << item
            if after not in numbers:
                numbers[after] = len(members)
                members.append(after)
                gained = [
                    lower for lower in piece.below[item] if not above[lower] & ~after
                ]
                remaining = [
                    lower_item for lower_item in free[len(to)] if lower_item != item
                ]
                free.append(sorted(remaining + gained))
            steps.append(numbers[after])
        to.append(steps)
    return Ideals(piece.items, members, free, to)
