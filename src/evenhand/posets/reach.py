"""Who is above whom through others: closure, twins, and counts above and below.

A whole number has a bit for each of some items. Joined along the comparisons, such
numbers tell which of these items are below each item; for many items they are joined
several times, for some of the items at a time, so that memory stays small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from evenhand.errors import OptionError, unknown
from evenhand.posets.contradictions import strong_groups
from evenhand.posets.graph import neighbours, node_keys
from evenhand.posets.orderings import topological_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evenhand.arrays import Codes, Flags
    from evenhand.posets.graph import Comparisons

    Bits = list[int]
    Join = Callable[[Bits], Bits]

Relation = Literal["direct", "closure"]
RELATIONS: tuple[Relation, ...] = ("direct", "closure")
CLOSURE_ITEMS = 20_000
# Bits of all items together, in one go.
MOST_BITS = 2**31
# Fewest bits that are worth a go of their own.
FEW = 512


def closure(c: Comparisons) -> Flags:
    """Tell for all pairs who is above whom, directly or through others.

    An item on a contradiction is above itself.

    Returns:
        An n x n table, True at [a, b] if a is above b.

    Raises:
        OptionError: If there are more than 20,000 items (a table of 400 MB).

    Examples:
        >>> from evenhand.posets import from_edges
        >>> closure(from_edges(3, [0, 1], [1, 2]))[0].tolist()
        [False, True, True]
    """
    if c.n_items > CLOSURE_ITEMS:
        raise OptionError(
            f"The closure is a table of all pairs, for at most {CLOSURE_ITEMS:,} "
            f"items, got {c.n_items:,}. Choose a method that does not need it."
        )
    size = -(-c.n_items // 8)
    rows = _chained(c, up=False)([1 << item for item in range(c.n_items)])
    packed = b"".join(row.to_bytes(size, "little") for row in rows)
    table = np.frombuffer(packed, dtype=np.uint8).reshape(c.n_items, size)
    bits = np.unpackbits(table, axis=1, count=c.n_items, bitorder="little")
    return bits.view(np.bool_)


def closure_counts(c: Comparisons) -> tuple[Codes, Codes]:
    """Count the items above each item, and those below it, by any chain.

    Time grows with the number of comparisons times the number of items over 64: some
    seconds for 100,000 items.

    Returns:
        The number of items above each item, and the number below it.

    Raises:
        RatingsError: If the comparisons contradict each other.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> above, below = closure_counts(from_edges(4, [3, 3, 0], [1, 2, 3]))
        >>> above.tolist(), below.tolist()
        ([0, 2, 2, 1], [3, 0, 0, 2])
    """
    topological_order(c)
    above, below = np.zeros((2, c.n_items), dtype=np.int64)
    for up, counts in ((True, above), (False, below)):
        join = _chained(c, up=up)
        for marks in _in_blocks(c):
            counts += [row.bit_count() for row in join(marks)]
    return above, below


def rank_sums(c: Comparisons) -> Codes:
    """Return for each item the sum of the least and the greatest rank it may have.

    An item with a others above it and b below it has a rank between a + 1 and n - b.
    The middle of that range is a proxy for the mean rank: no mean over orderings, but
    it respects every comparison, and is quick however many orderings there are.

    Raises:
        RatingsError: If the comparisons contradict each other.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> rank_sums(from_edges(4, [3, 3, 0], [1, 2, 3])).tolist()
        [2, 7, 7, 4]
    """
    above, below = closure_counts(c)
    return c.n_items + 1 + above - below


def twins(c: Comparisons, *, by: Relation = "closure") -> list[tuple[int, ...]]:
    """Find the items that the comparisons cannot tell apart.

    Two items are twins if they are not compared and have the same items above and the
    same items below. Having them is an equivalence, and it rules a comparison out: if a
    is above b, then b is below a, but never below itself. So every two items of a class
    are twins.

    Args:
        c: The comparisons.
        by: "direct" for the paper's twins, who have been compared with the same items
            with the same results; "closure" to count items above and below through
            others. Items on a contradiction have no closure twins.

    Returns:
        The classes of two items or more, sorted.

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
    classes = [list(range(c.n_items))]
    if by == "closure" and len(c.order) < c.n_items:
        classes = [np.flatnonzero(strong_groups(c) < 0).tolist()]
    joins = [
        (_chained if by == "closure" else _direct)(c, up=up) for up in (True, False)
    ]
    for join in joins:
        for marks in _in_blocks(c):
            classes = _split(classes, join(marks)) if classes else []
    return sorted(tuple(items) for items in classes if len(items) > 1)


def _split(classes: list[list[int]], rows: Bits) -> list[list[int]]:
    """Split classes by the items' numbers, and leave out items that are alone."""
    found: list[list[int]] = []
    for items in classes:
        alike: dict[int, list[int]] = {}
        for item in items:
            alike.setdefault(rows[item], []).append(item)
        found += [items for items in alike.values() if len(items) > 1]
    return found


def _in_blocks(c: Comparisons) -> Iterator[Bits]:
    """Give some items a bit each, and then others."""
    width = max(MOST_BITS // max(c.links[0], 1), FEW)
    for first in range(0, c.n_items, width):
        within = range(first, min(first + width, c.n_items))
        bits = [1 << bit for bit in range(len(within))]
        yield [0] * first + bits + [0] * (c.n_items - within.stop)


def _direct(c: Comparisons, *, up: bool) -> Join:
    """Return the function that joins what is directly below (above) each item."""
    parts = np.split(c.level_items, c.level_start[1:-1])
    levels = list(zip(c.level_reviewer.tolist(), parts, strict=True))

    def join(marks: Bits) -> Bits:
        rows = [0] * c.n_items
        last, beyond = -1, 0
        for reviewer, items in levels if up else reversed(levels):
            beyond = beyond if reviewer == last else 0
            last, here = reviewer, beyond
            for item in items.tolist():
                rows[item] |= beyond
                here |= marks[item]
            beyond = here
        return rows

    return join


def _chained(c: Comparisons, *, up: bool) -> Join:
    """Return the function that joins what is below (above) each item by any chain."""
    n_nodes, tails, heads = c.links
    # Items are numbered by their place in the ordering, those of contradictions after
    # it, and joints stay as they are.
    items = np.append(c.order, np.setdiff1d(np.arange(c.n_items), c.order))
    place = np.concatenate([np.argsort(items), np.arange(c.n_items, n_nodes)])
    tails, heads = place[tails], place[heads]
    nodes = np.argsort(node_keys(c.n_items, n_nodes, tails, heads)).tolist()
    steps = neighbours(n_nodes, *((heads, tails) if up else (tails, heads)))
    places, along = place[: c.n_items].tolist(), nodes if up else nodes[::-1]

    def join(marks: Bits) -> Bits:
        own = [marks[item] for item in items.tolist()] + [0] * (n_nodes - c.n_items)
        rows, before = [0] * n_nodes, [1]
        # Once along an ordering; around contradictions until nothing is new.
        while rows != before:
            before = list(rows) if len(c.order) < c.n_items else rows
            for node in along:
                row = 0
                for other in steps[node]:
                    row |= rows[other] | own[other]
                rows[node] = row
        return [rows[at] for at in places]

    return join
