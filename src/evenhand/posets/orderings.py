"""The orderings that respect the comparisons: the smallest, all of them, how many.

Orderings are counted along order ideals: sets that hold, with an item, every item above
it. Building an ordering from the best item down passes through ideals of sizes 0, 1,
2, ..., so the ways to reach an ideal and the ways to go on from it are sums over steps.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import diagrams as diagram_kernels
from evenhand._kernels import graphs as graph_kernels
from evenhand._kernels import ideals as ideal_kernels
from evenhand.errors import ConvergenceError, RatingsError
from evenhand.posets.comparisons import (
    CLOSURE_ITEMS,
    Comparisons,
    SmallestOrder,
    comparisons,
    edges,
    find_contradiction,
    from_edges,
    require_consistent,
    smallest_order,
)
from evenhand.posets.pieces import irreducible, take_apart

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from evenhand._kernels.diagrams import Diagram
    from evenhand.posets.comparisons import Codes
    from evenhand.ratings import Ratings

# A step from ideal to ideal takes 16 bytes, and there are some ten to an ideal.
COUNTED_IDEALS = 1_000_000
BLOCK = 4096


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
    order = smallest_order(c).order
    if len(order) < c.n_items:
        raise _contradiction(c)
    return order.copy()


def order_edges(n_items: int, above: ArrayLike, below: ArrayLike) -> SmallestOrder:
    """Order items from pairs of codes, without anything else of Comparisons.

    Time grows with the number of pairs. Memory beyond the arguments is some 8 bytes a
    pair and 20 bytes an item.

    Args:
        n_items: Number of items, compared or not.
        above: Upper item of each pair, from 0 on; int64 or int32.
        below: Lower item of each pair, another one.

    Returns:
        The lexicographically smallest ordering, and whether its neighbours are free.

    Raises:
        RatingsError: If a code is out of range, or pairs contradict each other.

    Examples:
        >>> found = order_edges(4, [3, 2], [0, 1])
        >>> found.order.tolist(), found.free.tolist()
        ([2, 1, 3, 0], [False, True, False])
    """
    upper, lower = (_as_nodes(codes, n_items) for codes in (above, below))
    if len(upper) != len(lower):
        raise RatingsError(
            f"above and below must be of one length, got {len(upper)} and {len(lower)}."
        )
    graph = graph_kernels.edge_lists(upper, lower, n_items)
    found = SmallestOrder(*graph_kernels.pop_smallest(graph, n_items))
    if len(found.order) < n_items:
        raise _contradiction(from_edges(n_items, above, below))
    return found


def _as_nodes(codes: ArrayLike, n_items: int) -> NDArray[np.int64]:
    nodes = np.ascontiguousarray(codes).ravel()
    if nodes.dtype != np.int32:
        nodes = nodes.astype(np.int64, copy=False)
    if not graph_kernels.all_within(nodes, n_items):
        raise RatingsError(
            f"items must be among 0..{n_items - 1}, got {nodes.min()} to {nodes.max()}."
        )
    return nodes


def _contradiction(c: Comparisons) -> RatingsError:
    found = find_contradiction(c)
    cycle = [] if found is None else found[0]
    shown = " above ".join(str(code) for code in [*cycle, *cycle[:1]])
    return RatingsError(
        f"comparisons must be consistent, got items {shown}. No ordering respects "
        "them all."
    )


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
class Ideals:
    """The order ideals of one piece and the steps between them.

    Ideals are numbered by size, from the empty one to the whole piece.

    Attributes:
        first: Slices of item and to, one more than there are ideals.
        item: Items that can be added to an ideal.
        to: The ideal that adding the item leads to.
    """

    first: Codes
    item: Codes
    to: Codes

    def __len__(self) -> int:
        return len(self.first) - 1


def order_ideals(diagram: Diagram, *, limit: int) -> Ideals | None:
    """List the ideals of a piece, or None if there are more than `limit`.

    Examples:
        >>> from evenhand.posets.pieces import as_diagram
        >>> nothing = np.array([], dtype=np.int64)
        >>> antichain = as_diagram(2, 2, nothing, nothing)
        >>> ideals = order_ideals(antichain, limit=4)
        >>> len(ideals), ideals.item.tolist(), ideals.to.tolist()
        (4, [0, 1, 1, 0], [1, 2, 3, 3])
        >>> order_ideals(antichain, limit=3) is None
        True
    """
    if diagram.n_items > CLOSURE_ITEMS:
        return None
    # Items of equal depth are incomparable, so all their subsets make ideals.
    sizes = np.bincount(diagram_kernels.depths(diagram))
    if sum(2 ** int(size) - 1 for size in sizes) + 1 > limit:
        return None
    below, next_below = ideal_kernels.below_bits(diagram)
    first, item, to = ideal_kernels.order_ideals(
        below, ideal_kernels.bit_lists(next_below), limit
    )
    return None if len(first) == 0 else Ideals(first, item, to)


def completions(ideals: Ideals) -> list[int]:
    """Count the ways to go on from each ideal to the whole piece.

    Examples:
        >>> steps = [0, 2, 3, 4, 4], [0, 1, 1, 0], [1, 2, 3, 3]
        >>> completions(Ideals(*(np.array(part) for part in steps)))
        [2, 1, 1, 1]
    """
    ways = [1] * len(ideals)
    for start in reversed(range(0, len(ideals) - 1, BLOCK)):
        first, to = _block(ideals, start, min(start + BLOCK, len(ideals) - 1))
        for place in range(len(first) - 2, -1, -1):
            steps = to[first[place] : first[place + 1]]
            ways[start + place] = sum([ways[step] for step in steps])
    return ways


def arrivals(ideals: Ideals) -> list[int]:
    """Count the ways to reach each ideal from the empty one.

    Examples:
        >>> steps = [0, 2, 3, 4, 4], [0, 1, 1, 0], [1, 2, 3, 3]
        >>> arrivals(Ideals(*(np.array(part) for part in steps)))
        [1, 1, 1, 2]
    """
    ways = [1] + [0] * (len(ideals) - 1)
    for start in range(0, len(ideals), BLOCK):
        first, to = _block(ideals, start, min(start + BLOCK, len(ideals)))
        for place in range(len(first) - 1):
            for step in to[first[place] : first[place + 1]]:
                ways[step] += ways[start + place]
    return ways


def _block(ideals: Ideals, start: int, end: int) -> tuple[list[int], list[int]]:
    """Return the steps from some ideals as lists, which are quicker to go through."""
    first = ideals.first[start : end + 1]
    return (first - first[0]).tolist(), ideals.to[first[0] : first[-1]].tolist()


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
    if isinstance(data, Comparisons):
        c = data
    else:
        c = comparisons(data)
        require_consistent(data, c, method="count_orderings")
    pieces = take_apart(c, topological_order(c))
    number = 1
    for split in pieces.rounds:
        sizes = Counter(split.parent.tolist()).values()
        number *= math.prod(math.factorial(size) for size in sizes)
        sizes = Counter(split.group.tolist()).values()
        number //= math.prod(math.factorial(size) for size in sizes)
    for items, diagram in irreducible(pieces):
        ideals = order_ideals(diagram, limit=COUNTED_IDEALS)
        if ideals is None:
            raise ConvergenceError(
                f"The orderings of {len(items):,} items that cannot be taken apart "
                f"were not counted within {COUNTED_IDEALS:,} order ideals. Draw from "
                "them with uniform_order instead."
            )
        number *= completions(ideals)[0]
    return number
