"""Loops over reviewers' levels: pairs, orders, reach, groups."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._kernels import kernel
from evenhand._kernels.graphs import Nodes, edge_lists, group_rows, pop_smallest

Codes = NDArray[np.int64]
Scores = NDArray[np.float64]
Flags = NDArray[np.bool_]
Words = NDArray[np.uint64]

# Up to so many items are sorted by insertion.
FEW = 24
PAIR = 2


class Chains(NamedTuple):
    """The arrays of Comparisons, as kernels take them."""

    level_start: Codes
    level_items: Codes
    level_reviewer: Codes
    n_items: int


class Levels(NamedTuple):
    """The same, and the levels of each item."""

    level_start: Codes
    level_items: Codes
    level_reviewer: Codes
    item_start: Codes
    item_levels: Codes


@kernel
def _sort_down(items: Codes, values: Scores, first: int, last: int) -> None:
    # Sort some rows by value from high to low; equal values stay in their order.
    if last - first > FEW:
        some, theirs = items[first:last], values[first:last]
        order = np.argsort(-theirs, kind="mergesort")
        some[:], theirs[:] = some[order], theirs[order]
        return
    for place in range(first + 1, last):
        item, value = items[place], values[place]
        while place > first and values[place - 1] < value:
            items[place], values[place] = items[place - 1], values[place - 1]
            place -= 1  # noqa: PLW2901 - the place that is free now
        items[place], values[place] = item, value


@kernel
def sort_levels(
    reviewer_codes: Codes, item_codes: Codes, preference: Scores
) -> tuple[Codes, Codes, Codes]:
    """Sort each reviewer's items from best to worst, ties by code.

    Rows come sorted by reviewer and item code. Returns where levels begin, and the end;
    the items in their new order; and the reviewer of each level.
    """
    n_rows = len(item_codes)
    items, values = item_codes.copy(), preference.copy()
    starts = np.empty(n_rows + 1, dtype=np.int64)
    reviewers = np.empty(n_rows, dtype=np.int64)
    n_levels, first = 0, 0
    while first < n_rows:
        last = first + 1
        while last < n_rows and reviewer_codes[last] == reviewer_codes[first]:
            last += 1
        if last - first == PAIR:
            # Without a branch, as which one is better cannot be foreseen.
            one, two = items[first], items[first + 1]
            turned = values[first] < values[first + 1]
            items[first] = two if turned else one
            items[first + 1] = one if turned else two
        else:
            _sort_down(items, values, first, last)
        for place in range(first, last):
            # What is noted stands only if the level is a new one.
            starts[n_levels] = place
            reviewers[n_levels] = reviewer_codes[first]
            n_levels += place == first or values[place] != values[place - 1]
        first = last
    starts[n_levels] = n_rows
    return starts[: n_levels + 1], items, reviewers[:n_levels]


@kernel
def count_tied(reviewer_codes: Codes, preference: Scores) -> int:
    """Count the reviewers who put several items on one level; rows by reviewer."""
    tied, first = 0, 0
    for row in range(1, len(preference) + 1):
        if row < len(preference) and reviewer_codes[row] == reviewer_codes[first]:
            continue
        tied += _has_equal(preference[first:row])
        first = row
    return tied


@kernel
def _has_equal(values: Scores) -> bool:
    if len(values) > FEW:
        ordered = np.sort(values)
        return bool((ordered[1:] == ordered[:-1]).any())
    for one in range(len(values)):
        for other in range(one):
            if values[one] == values[other]:
                return True
    return False


@kernel
def levels_of_items(
    level_start: Codes, level_items: Codes, n_items: int
) -> tuple[Codes, Codes]:
    """Turn levels with their items into items with their levels, by level."""
    start, rows = group_rows(level_items, n_items)
    levels = np.empty(len(rows), dtype=np.int32)
    for level in range(len(level_start) - 1):
        levels[level_start[level] : level_start[level + 1]] = level
    for at in range(len(rows)):
        rows[at] = levels[rows[at]]
    return start, rows


@kernel
def level_pairs(chains: Chains, farthest: int) -> tuple[Codes, Codes]:
    """List the pairs between levels of one reviewer at most `farthest` levels apart."""
    start, reviewer = chains.level_start, chains.level_reviewer
    n_levels = len(reviewer)
    above = np.empty(0, dtype=np.int64)
    below = np.empty(0, dtype=np.int64)
    for fill in (False, True):
        count = 0
        for upper in range(n_levels):
            for lower in range(upper + 1, min(upper + farthest + 1, n_levels)):
                if reviewer[lower] != reviewer[upper]:
                    break
                if not fill:
                    size = start[upper + 1] - start[upper]
                    count += size * (start[lower + 1] - start[lower])
                    continue
                for first in range(start[upper], start[upper + 1]):
                    for second in range(start[lower], start[lower + 1]):
                        above[count] = chains.level_items[first]
                        below[count] = chains.level_items[second]
                        count += 1
        if not fill:
            above = np.empty(count, dtype=np.int64)
            below = np.empty(count, dtype=np.int64)
    return above, below


@kernel
def share_comparison(levels: Levels, first: int, second: int) -> bool:
    """Say whether one reviewer put the two items on different levels."""
    at = levels.item_start[first]
    other = levels.item_start[second]
    while at < levels.item_start[first + 1] and other < levels.item_start[second + 1]:
        here = levels.item_levels[at]
        there = levels.item_levels[other]
        left = levels.level_reviewer[here]
        right = levels.level_reviewer[there]
        if left == right and here != there:
            return True
        if left <= right:
            at += 1
        if right <= left:
            other += 1
    return False


@kernel
def _joined(start: Codes, upper: int) -> bool:
    """Say whether a level and the next are joined: a + b edges are fewer than a * b."""
    first, middle, last = start[upper], start[upper + 1], start[upper + 2]
    return bool((middle - first) * (last - middle) > last - first)


@kernel
def _down_starts(chains: Chains) -> Codes:
    start, reviewer = chains.level_start, chains.level_reviewer
    n_items = chains.n_items
    counts = np.zeros(n_items + len(reviewer) + 1, dtype=np.int64)
    node = n_items
    for level in range(len(reviewer) - 1):
        if reviewer[level + 1] != reviewer[level]:
            continue
        joined = _joined(start, level)
        size = start[level + 2] - start[level + 1]
        for at in range(start[level], start[level + 1]):
            counts[chains.level_items[at] + 1] += 1 if joined else size
        if joined:
            node += 1
            counts[node] = size
    return np.cumsum(counts[: node + 1])


@kernel
def down_lists(chains: Chains) -> tuple[Codes, Codes]:
    """List what is next below each node: starts, and nodes, repeats included.

    Nodes are the items and, after them, joints. A joint stands between two tied levels,
    below each item of the one and above each item of the other, in place of all pairs.
    """
    start, reviewer = chains.level_start, chains.level_reviewer
    n_items = chains.n_items
    starts = _down_starts(chains)
    down = np.empty(starts[-1], dtype=np.int64)
    end = starts[:-1].copy()
    joint = n_items
    for level in range(len(reviewer) - 1):
        if reviewer[level + 1] != reviewer[level]:
            continue
        if _joined(start, level):
            for at in range(start[level], start[level + 1]):
                item = chains.level_items[at]
                down[end[item]] = joint
                end[item] += 1
            for at in range(start[level + 1], start[level + 2]):
                down[end[joint]] = chains.level_items[at]
                end[joint] += 1
            joint += 1
            continue
        for at in range(start[level], start[level + 1]):
            item = chains.level_items[at]
            for lower in range(start[level + 1], start[level + 2]):
                down[end[item]] = chains.level_items[lower]
                end[item] += 1
    return starts, down


@kernel
def _count_edges(chains: Chains) -> int:
    start, reviewer = chains.level_start, chains.level_reviewer
    count = 0
    for level in range(len(reviewer) - 1):
        if reviewer[level + 1] == reviewer[level]:
            first, middle, last = start[level], start[level + 1], start[level + 2]
            # As many as the items of both, if they are joined.
            count += min((middle - first) * (last - middle), last - first)
    return count


@kernel
def level_edges(chains: Chains) -> tuple[Nodes, Nodes, int]:
    """List the edges of `down_lists` one by one: upper nodes, lower nodes, all nodes.

    There are at most as many as ratings, times three, whatever reviewers' loads.
    """
    start, reviewer, items = (
        chains.level_start,
        chains.level_reviewer,
        chains.level_items,
    )
    size = _count_edges(chains)
    above, below = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
    count, node = 0, chains.n_items
    for level in range(len(reviewer) - 1):
        if reviewer[level + 1] != reviewer[level]:
            continue
        first, middle, last = start[level], start[level + 1], start[level + 2]
        if last - first == PAIR:
            above[count], below[count] = items[first], items[middle]
            count += 1
        elif _joined(start, level):
            for at in range(first, last):
                above[count] = items[at] if at < middle else node
                below[count] = node if at < middle else items[at]
                count += 1
            node += 1
        else:
            for upper in range(first, middle):
                for lower in range(middle, last):
                    above[count], below[count] = items[upper], items[lower]
                    count += 1
    return above, below, node


def smallest_order(chains: Chains) -> tuple[Codes, Flags]:
    """Order items, smallest codes first; fewer of them if there is a cycle.

    Neighbours of an ordering that a reviewer put in order are on levels next to each
    other, as items of a level between would stand between them. So edges and joints
    between such levels tell all neighbours that are compared.

    Returns:
        The items, and for each two neighbours whether nobody put them in order.
    """
    n_items = chains.n_items
    above, below, n_nodes = level_edges(chains)
    return pop_smallest(edge_lists(above, below, n_nodes), n_items)


@kernel
def direct_reach(levels: Levels, marks: Words, step: int) -> Words:
    """Join the marks of all items directly below (step 1) or above (step -1) each item.

    A gate joins the marks of one level and of all beyond it.
    """
    start, reviewer = levels.level_start, levels.level_reviewer
    n_levels = len(reviewer)
    rows = np.zeros_like(marks)
    gates = np.zeros((n_levels, marks.shape[1]), dtype=np.uint64)
    for count in range(n_levels):
        level = n_levels - 1 - count if step == 1 else count
        for at in range(start[level], start[level + 1]):
            for word in range(marks.shape[1]):
                gates[level, word] |= marks[levels.level_items[at], word]
        if count == 0 or reviewer[level + step] != reviewer[level]:
            continue
        for word in range(marks.shape[1]):
            gates[level, word] |= gates[level + step, word]
        for at in range(start[level], start[level + 1]):
            for word in range(marks.shape[1]):
                rows[levels.level_items[at], word] |= gates[level + step, word]
    return rows


@kernel
def _join(levels: Levels, rows: Words, gates: Words, item: int, step: int) -> bool:
    """Join to an item's row the gates next to it, and the row to its own gates."""
    reviewer = levels.level_reviewer
    changed = False
    for slot in range(levels.item_start[item], levels.item_start[item + 1]):
        level = levels.item_levels[slot]
        other = level + step
        if 0 <= other < len(reviewer) and reviewer[other] == reviewer[level]:
            for word in range(rows.shape[1]):
                joined = rows[item, word] | gates[other, word]
                changed |= joined != rows[item, word]
                rows[item, word] = joined
    for slot in range(levels.item_start[item], levels.item_start[item + 1]):
        level = levels.item_levels[slot]
        for word in range(rows.shape[1]):
            gates[level, word] |= rows[item, word]
    return changed


@kernel
def chained_reach(
    levels: Levels, marks: Words, order: Codes, step: int, passes: int
) -> Words:
    """Join the marks of all items below (step 1) or above (step -1), by any chain.

    A gate joins the marks of one level's items and what those reach. One pass is enough
    if the order takes each item after all that it reaches. With contradictions there is
    no such order; passes end when nothing changes.
    """
    rows = np.zeros_like(marks)
    gates = np.zeros((len(levels.level_reviewer), marks.shape[1]), dtype=np.uint64)
    for item in order:
        for slot in range(levels.item_start[item], levels.item_start[item + 1]):
            for word in range(marks.shape[1]):
                gates[levels.item_levels[slot], word] |= marks[item, word]
    for _ in range(passes):
        changed = False
        for item in order:
            changed |= _join(levels, rows, gates, item, step)
        if not changed:
            break
    return rows


@kernel
def refine(classes: Codes, rows: Words) -> Codes:
    """Split classes of items by their bits; -1 marks items that are alone.

    Items meet in a hash table and are compared in full, so that no two are ever put
    together by chance.
    """
    n_items = len(classes)
    size = 16
    while size < 2 * n_items:
        size *= 2
    table = np.full(size, -1, dtype=np.int64)
    head = np.full(n_items, -1, dtype=np.int64)
    members = np.zeros(n_items, dtype=np.int64)
    for item in range(n_items):
        if classes[item] < 0:
            continue
        mixed = np.uint64(classes[item]) * np.uint64(0x9E3779B97F4A7C15)
        for word in range(rows.shape[1]):
            mixed = (mixed ^ rows[item, word]) * np.uint64(0xBF58476D1CE4E5B9)
            mixed ^= mixed >> np.uint64(29)
        slot = np.int64(mixed & np.uint64(size - 1))
        while table[slot] >= 0:
            other = table[slot]
            if classes[other] == classes[item] and (rows[other] == rows[item]).all():
                break
            slot = (slot + 1) & (size - 1)
        if table[slot] < 0:
            table[slot] = item
        head[item] = table[slot]
        members[head[item]] += 1
    for item in range(n_items):
        if head[item] >= 0 and members[head[item]] == 1:
            head[item] = -1
    return head


@kernel
def _root(parent: Codes, item: int) -> int:
    while parent[item] != item:
        parent[item] = parent[parent[item]]
        item = parent[item]
    return item


@kernel
def connected(chains: Chains) -> Codes:
    """Return for each item the smallest item that comparisons connect it with."""
    start, reviewer = chains.level_start, chains.level_reviewer
    n_items = chains.n_items
    parent = np.arange(n_items)
    for level in range(1, len(reviewer)):
        if reviewer[level] != reviewer[level - 1]:
            continue
        # Each item of the two levels is compared with some item of the other one.
        for at in range(start[level - 1], start[level + 1]):
            one = _root(parent, chains.level_items[start[level]])
            other = _root(parent, chains.level_items[at])
            parent[max(one, other)] = min(one, other)
    for item in range(n_items):
        parent[item] = _root(parent, item)
    return parent
