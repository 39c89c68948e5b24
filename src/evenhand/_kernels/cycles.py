"""The search for a shortest contradiction."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._kernels import kernel

if TYPE_CHECKING:
    from evenhand._kernels.posets import Levels

Codes = NDArray[np.int64]


class Search(NamedTuple):
    """Two searches from one item: side 0 goes down, side 1 goes up.

    Marks hold the number of the search that set them, so that none needs clearing.
    """

    seen: Codes
    parent: Codes
    queue: Codes
    tail: Codes
    covered: Codes


@kernel
def _spread(
    levels: Levels, search: Search, label: Codes, item: int, mark: int, side: int
) -> int:
    """Queue what is directly below (above) one item; return where sides meet, or -1.

    Of each reviewer, only levels that this search has not yet covered are looked at, so
    a whole search takes each rating at most twice.
    """
    n_levels = len(levels.level_reviewer)
    step = 1 - 2 * side
    for slot in range(levels.item_start[item], levels.item_start[item + 1]):
        own = levels.item_levels[slot]
        reviewer = levels.level_reviewer[own]
        level = own + step
        while 0 <= level < n_levels and levels.level_reviewer[level] == reviewer:
            if search.covered[side, level] == mark:
                break
            search.covered[side, level] = mark
            for at in range(levels.level_start[level], levels.level_start[level + 1]):
                other = levels.level_items[at]
                if label[other] != label[item] or search.seen[side, other] == mark:
                    continue
                search.seen[side, other] = mark
                search.parent[side, other] = item
                search.queue[side, search.tail[side]] = other
                search.tail[side] += 1
                if search.seen[1 - side, other] == mark:
                    return int(other)
            level += step
    return -1


@kernel
def _shortest_through(
    levels: Levels, search: Search, label: Codes, item: int, mark: int, longest: int
) -> Codes:
    """Return the shortest cycle through an item if it has at most `longest` items.

    Both sides grow by whole steps; after f steps down and b steps up, both at least 1,
    they have met if and only if there is a cycle of at most f + b items.
    """
    head = np.zeros(2, dtype=np.int64)
    tail = search.tail
    tail[:] = 1
    depth = np.zeros(2, dtype=np.int64)
    search.seen[:, item] = mark
    search.queue[:, 0] = item
    meet = -1
    while meet < 0 and depth[0] + depth[1] < longest:
        side = 0 if tail[0] - head[0] <= tail[1] - head[1] else 1
        if depth[side] > 0 and depth[1 - side] == 0:
            side = 1 - side
        end = tail[side]
        if head[side] == end:
            break
        while head[side] < end and meet < 0:
            grown = search.queue[side, head[side]]
            head[side] += 1
            meet = _spread(levels, search, label, grown, mark, side)
        depth[side] += 1
    if meet < 0:
        return np.empty(0, dtype=np.int64)
    cycle = np.empty(depth[0] + depth[1], dtype=np.int64)
    at = meet
    for place in range(depth[0], -1, -1):
        cycle[place] = at
        at = search.parent[0, at]
    at = meet
    for place in range(depth[0], len(cycle)):
        cycle[place] = at
        at = search.parent[1, at]
    return cycle


@kernel
def shortest_cycle(levels: Levels, label: Codes) -> Codes:
    """Return one shortest cycle among items of one label, from its smallest code.

    Items labelled -1 are on no cycle. An item that has been searched from is taken out.
    """
    n_items = len(label)
    n_levels = len(levels.level_reviewer)
    search = Search(
        np.zeros((2, n_items), dtype=np.int64),
        np.zeros((2, n_items), dtype=np.int64),
        np.zeros((2, n_items), dtype=np.int64),
        np.ones(2, dtype=np.int64),
        np.zeros((2, n_levels), dtype=np.int64),
    )
    label = label.copy()
    best = np.empty(0, dtype=np.int64)
    longest = n_items
    for item in range(n_items):
        if label[item] < 0:
            continue
        cycle = _shortest_through(levels, search, label, item, item + 1, longest)
        if len(cycle) > 0:
            best = cycle
            longest = len(cycle) - 1
        if longest < 2:  # noqa: PLR2004 - no cycle is shorter than two
            break
        label[item] = -1
    return best
