"""Who is above whom through others, in memory that grows with the ratings only.

Kernels join marks along the comparisons, 512 bits an item at a time. One bit for each
of 512 items gives columns of the closure; random bits tell most different sets apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np

from evenhand._kernels import posets as kernels
from evenhand._randomness import stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand._kernels.posets import Chains, Codes, Levels, Words

Relation = Literal["direct", "closure"]
Reach = Callable[["Words", int], "Words"]

WORDS = 8
BLOCK = 64 * WORDS
DOWN, UP = 1, -1


def closure_table(levels: Levels) -> NDArray[np.bool_]:
    """Return the n x n table of who is above whom.

    Examples:
        >>> from evenhand.posets.comparisons import from_edges, levels
        >>> closure_table(levels(from_edges(2, [1], [0]))).tolist()
        [[False, False], [True, False]]
    """
    n_items = len(levels.item_start) - 1
    reach = _reach(levels, by="closure")
    table = np.empty((n_items, n_items), dtype=np.bool_)
    for first in range(0, n_items, BLOCK):
        block = np.arange(first, min(first + BLOCK, n_items))
        rows = reach(_bits(n_items, block), DOWN).astype("<u8")
        bits = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")
        table[:, block] = bits[:, : len(block)]
    return table


def twin_classes(levels: Levels, classes: Codes, *, by: Relation) -> Codes:
    """Split classes until every two items of one have the same sets above and below.

    Args:
        levels: The comparisons.
        classes: A label for each item; items labelled -1 are left out.
        by: What counts as above and below.

    Returns:
        A label for each item, -1 for items that are alone.

    Examples:
        >>> from evenhand.posets.comparisons import from_edges, levels
        >>> three = levels(from_edges(3, [0, 0], [1, 2]))
        >>> twin_classes(three, np.zeros(3, dtype=np.int64), by="closure").tolist()
        [-1, 1, 1]
    """
    reach = _reach(levels, by=by)
    classes = _thinned(_extremes(levels, classes), reach)
    for step in (DOWN, UP):
        columns = _next_to(levels, classes >= 0, step, by=by)
        for first in range(0, len(columns), BLOCK):
            marks = _bits(len(classes), columns[first : first + BLOCK])
            classes = kernels.refine(classes, reach(marks, step))
    return classes


def _reach(levels: Levels, *, by: Relation) -> Reach:
    """Return the function that joins marks downwards or upwards."""
    if by == "direct":
        return lambda marks, step: kernels.direct_reach(levels, marks, step)
    order, _ = kernels.smallest_order(_chains(levels))
    passes = 1
    n_items = len(levels.item_start) - 1
    if len(order) < n_items:
        order, passes = np.arange(n_items, dtype=np.int64), n_items + 1
    orders = {DOWN: order[::-1].copy(), UP: order}
    return lambda marks, step: kernels.chained_reach(
        levels, marks, orders[step], step, passes
    )


def _chains(levels: Levels) -> Chains:
    return kernels.Chains(*levels[:3], len(levels.item_start) - 1)


def _extremes(levels: Levels, classes: Codes) -> Codes:
    """Split classes by the last item above and the first item below, in one ordering.

    In a consistent ordering, both are on a level next to one's own, so they are quick
    to find, and few items share both.
    """
    order, _ = kernels.smallest_order(_chains(levels))
    n_items = len(classes)
    keys = np.zeros((n_items, 2), dtype=np.int64)
    if len(order) == n_items and len(levels.level_reviewer) > 0:
        place = np.empty(n_items, dtype=np.int64)
        place[order] = np.arange(n_items)
        places = place[levels.level_items]
        last = np.maximum.reduceat(places, levels.level_start[:-1])
        first = np.minimum.reduceat(places, levels.level_start[:-1])
        same = levels.level_reviewer[1:] == levels.level_reviewer[:-1]
        above = np.append([-1], np.where(same, last[:-1], -1))
        below = np.append(np.where(same, first[1:], n_items), [n_items])
        sizes = np.diff(levels.level_start)
        keys[:] = [-1, n_items]
        np.maximum.at(keys[:, 0], levels.level_items, np.repeat(above, sizes))
        np.minimum.at(keys[:, 1], levels.level_items, np.repeat(below, sizes))
    return kernels.refine(classes, keys.view(np.uint64))


def _thinned(classes: Codes, reach: Reach) -> Codes:
    """Split large classes by random marks while that still tells many items apart."""
    n_items = len(classes)
    source = stream(0, "marks of twins")
    before = 2 * n_items
    left = int((classes >= 0).sum())
    while n_items > BLOCK and 0 < left < 0.75 * before:
        # Word w is set with chance 2**-(2w + 1), so that for a set of any size some
        # word is neither empty nor full.
        marks = np.full((n_items, WORDS), ~np.uint64(0), dtype=np.uint64)
        for word in range(WORDS):
            for _ in range(2 * word + 1):
                marks[:, word] &= source.random_raw(n_items)
        for step in (DOWN, UP):
            classes = kernels.refine(classes, reach(marks, step))
        before, left = left, int((classes >= 0).sum())
    return classes


def _next_to(
    levels: Levels, chosen: NDArray[np.bool_], step: int, *, by: Relation
) -> Codes:
    """List items that decide whether chosen items have the same set below (above).

    All that is below an item is on the next level of one of its reviewers or below an
    item there, so sets that agree on those levels agree.
    """
    if not chosen.any() or len(levels.level_reviewer) == 0:
        return np.empty(0, dtype=np.int64)
    reviewer = levels.level_reviewer
    holds = np.logical_or.reduceat(chosen[levels.level_items], levels.level_start[:-1])
    if by == "direct":
        taken = np.isin(reviewer, reviewer[holds])
    elif step == DOWN:
        taken = np.append([False], holds[:-1] & (reviewer[1:] == reviewer[:-1]))
    else:
        taken = np.append(holds[1:] & (reviewer[1:] == reviewer[:-1]), [False])
    rows = np.repeat(taken, np.diff(levels.level_start))
    return np.unique(levels.level_items[rows])


def _bits(n_items: int, columns: Codes) -> Words:
    marks = np.zeros((n_items, WORDS), dtype=np.uint64)
    place = np.arange(len(columns), dtype=np.uint64)
    marks[columns, place >> np.uint64(6)] = np.uint64(1) << (place & np.uint64(63))
    return marks
