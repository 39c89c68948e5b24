"""Contradictions: items above and below one another, and a shortest cycle of them."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from evenhand.errors import ContradictionError
from evenhand.lazy import lazy
from evenhand.posets.graph import Comparisons, comparisons, levels_of_both

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scipy import sparse
    from scipy.sparse import csgraph

    from evenhand.arrays import Codes
    from evenhand.ratings import Ratings
else:
    sparse = lazy("scipy.sparse")
    csgraph = lazy("scipy.sparse.csgraph")

# How many steps of a contradiction a message shows.
STEPS_SHOWN = 8
# No cycle is shorter.
LEAST = 2


def strong_groups(c: Comparisons) -> Codes:
    """Label items above and below one another by the least of them; others by -1.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> strong_groups(from_edges(3, [0, 1], [1, 0])).tolist()
        [0, 0, -1]
    """
    if len(c.order) == c.n_items:
        return np.full(c.n_items, -1)
    n_nodes, *ends = c.links
    graph = sparse.coo_array((np.ones(len(ends[0])), ends), (n_nodes, n_nodes))
    labels = csgraph.connected_components(graph, connection="strong")[1][: c.n_items]
    _, first, group = np.unique(labels, return_index=True, return_inverse=True)
    return np.where(np.bincount(group)[group] == 1, -1, first[group])


def find_contradiction(c: Comparisons) -> tuple[list[int], list[int]] | None:
    """Find one shortest cycle of items that are each put above the next.

    Returns:
        None if the comparisons are consistent. Otherwise the items of the cycle, from
        its smallest code, and for each item a reviewer who put it above the next (the
        last item is put above the first).

    Examples:
        >>> from evenhand.posets import from_edges
        >>> find_contradiction(from_edges(4, [0, 1, 2, 3], [1, 2, 3, 1]))
        ([1, 2, 3], [1, 2, 3])
    """
    if len(c.order) == c.n_items:
        return None
    group = strong_groups(c)
    cycle: list[int] = []
    for item in np.flatnonzero(group >= 0).tolist():
        longest = len(cycle) - 1 if cycle else c.n_items
        if longest < LEAST:
            break
        cycle = _cycle_through(c, item, group, longest) or cycle
        # An item that has been searched from is taken out.
        group[item] = -1
    pairs = zip(cycle, cycle[1:] + cycle[:1], strict=True)
    levels = (levels_of_both(c, *pair) for pair in pairs)
    return cycle, [next(by for by, up, low in rows if up < low) for rows in levels]


def _cycle_through(
    c: Comparisons, item: int, group: Codes, longest: int
) -> list[int] | None:
    """Return a shortest cycle through an item if it has at most `longest` items."""
    lower, edge = {item: item}, [item]
    covered: set[int] = set()
    for _ in range(longest):
        grown, edge = edge, []
        for lower_item, upper in chain.from_iterable(
            _above(c, node, covered) for node in grown
        ):
            if upper == item:
                way = [item, lower_item]
                while lower[way[-1]] != item:
                    way.append(lower[way[-1]])
                return way
            if group[upper] == group[item] and upper not in lower:
                lower[upper] = lower_item
                edge.append(upper)
    return None


def _above(c: Comparisons, item: int, covered: set[int]) -> Iterator[tuple[int, int]]:
    """Yield the item with each item that somebody put above it and that may be new.

    Of each reviewer only levels that this search has not yet covered are looked at, so
    a whole search takes each rating once.
    """
    for own in c.item_levels[item]:
        level = own - 1
        while (
            level >= 0
            and c.level_reviewer[level] == c.level_reviewer[own]
            and level not in covered
        ):
            covered.add(level)
            items = c.level_items[c.level_start[level] : c.level_start[level + 1]]
            yield from ((item, upper) for upper in items.tolist())
            level -= 1


def require_consistent(ratings: Ratings, c: Comparisons, *, method: str) -> None:
    """Refuse contradictory comparisons in words.

    Args:
        ratings: Where the comparisons came from, for the labels.
        c: The comparisons.
        method: The method that needs them consistent, as the user named it.

    Raises:
        ContradictionError: If there is a cycle; the message shows a shortest one.

    Examples:
        >>> from evenhand import Ratings
        >>> from evenhand.posets import comparisons
        >>> ratings = Ratings.from_comparisons(["x", "y"], ["y", "z"])
        >>> require_consistent(ratings, comparisons(ratings), method="flips")
    """
    cycle = find_contradiction(c)
    if cycle is None:
        return
    items = [ratings.item_labels[code] for code in cycle[0]]
    reviewers = [ratings.reviewer_labels[code] for code in cycle[1]]
    rows = zip(items, items[1:] + items[:1], reviewers, strict=True)
    steps = [
        f"{upper!r} above {lower!r} (reviewer {reviewer!r})"
        for upper, lower, reviewer in rows
    ]
    if len(steps) > STEPS_SHOWN:
        more = len(steps) - STEPS_SHOWN + 1
        steps[STEPS_SHOWN - 1 : -1] = [f"and so on over {more} more"]
    scored = ratings.kind == "scores"
    cope = "Methods 'adaptive' and 'safe' cope" if scored else "Method 'adaptive' copes"
    raise ContradictionError(
        f"Method {method!r} needs comparisons that are consistent, got "
        f"{', '.join(steps)}. {cope} with contradictions.",
        cycle=items,
        reviewers=reviewers,
    )


def consistent(data: Ratings | Comparisons, *, method: str) -> Comparisons:
    """Take comparisons as they are, and those of ratings if they are consistent.

    Raises:
        ContradictionError: If there is a cycle; the message shows a shortest one.

    Examples:
        >>> from evenhand import Ratings
        >>> consistent(Ratings(["a", "a"], ["x", "y"], [1, 2]), method="averages")
        Comparisons(2 items, 2 levels)
    """
    if isinstance(data, Comparisons):
        return data
    graph = comparisons(data)
    require_consistent(data, graph, method=method)
    return graph
