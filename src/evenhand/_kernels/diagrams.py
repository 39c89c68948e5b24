"""Loops over diagrams: edges, groups, segments, depths.

A diagram has the items 0..n-1, numbered so that an item comes after all items above it,
and joints n, n+1, ...: a joint stands between two tied levels, below each item of the
one and above each item of the other, in place of all the pairs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._kernels import kernel

if TYPE_CHECKING:
    from evenhand._kernels.posets import Levels

Codes = NDArray[np.int64]


class Diagram(NamedTuple):
    """Edges of a diagram by their upper and by their lower end.

    Below node x are down[down_start[x]:down_start[x + 1]], sorted; above it, likewise.
    """

    n_items: int
    down_start: Codes
    down: Codes
    up_start: Codes
    up: Codes


@kernel
def diagram_edges(levels: Levels, place: Codes) -> tuple[Codes, Codes]:
    """List the edges between neighbouring levels, repeats included.

    Two levels of a and b items get a joint where a + b edges are fewer than a * b.
    """
    start, reviewer = levels.level_start, levels.level_reviewer
    count = 0
    for level in range(1, len(reviewer)):
        if reviewer[level] == reviewer[level - 1]:
            upper = start[level] - start[level - 1]
            lower = start[level + 1] - start[level]
            count += min(upper * lower, upper + lower)
    above = np.empty(count, dtype=np.int64)
    below = np.empty(count, dtype=np.int64)
    joint = len(place)
    count = 0
    for level in range(1, len(reviewer)):
        if reviewer[level] != reviewer[level - 1]:
            continue
        upper = start[level] - start[level - 1]
        lower = start[level + 1] - start[level]
        for first in range(start[level - 1], start[level]):
            if upper * lower > upper + lower:
                above[count] = place[levels.level_items[first]]
                below[count] = joint
                count += 1
                continue
            for second in range(start[level], start[level + 1]):
                above[count] = place[levels.level_items[first]]
                below[count] = place[levels.level_items[second]]
                count += 1
        if upper * lower > upper + lower:
            for second in range(start[level], start[level + 1]):
                above[count] = joint
                below[count] = place[levels.level_items[second]]
                count += 1
            joint += 1
    return above, below


@kernel
def merged_edges(n_nodes: int, above: Codes, below: Codes) -> tuple[Codes, Codes]:
    """Sort edges by upper end, then lower end, and drop repeats.

    Two counting sorts, the less significant end first.
    """
    for _ in range(2):
        starts = np.zeros(n_nodes + 1, dtype=np.int64)
        for node in below:
            starts[node + 1] += 1
        starts = np.cumsum(starts)
        moved_above, moved_below = np.empty_like(above), np.empty_like(below)
        for edge in range(len(below)):
            place = starts[below[edge]]
            starts[below[edge]] += 1
            moved_above[place] = above[edge]
            moved_below[place] = below[edge]
        above, below = moved_below, moved_above
    count = 0
    for edge in range(len(above)):
        if edge > 0 and above[edge] == above[count - 1]:
            if below[edge] == below[count - 1]:
                continue
        above[count] = above[edge]
        below[count] = below[edge]
        count += 1
    return above[:count].copy(), below[:count].copy()


@kernel
def edge_groups(n_nodes: int, above: Codes, below: Codes) -> Codes:
    """Return for each node the smallest node that edges connect it with."""
    parent = np.arange(n_nodes)
    for edge in range(len(above)):
        one, other = above[edge], below[edge]
        while parent[one] != one:
            parent[one] = parent[parent[one]]
            one = parent[one]
        while parent[other] != other:
            parent[other] = parent[parent[other]]
            other = parent[other]
        parent[max(one, other)] = min(one, other)
    # A parent is never larger than its child, so one pass upwards settles all.
    for node in range(n_nodes):
        parent[node] = parent[parent[node]]
    return parent


@kernel
def segments(diagram: Diagram, items: Codes, group: Codes) -> Codes:
    """Number the segments of each connected group, best first.

    All nodes of a segment are above all nodes of the group's later segments.
    Nodes are placed one by one. What is placed is above all the rest exactly if every
    placed node with nothing placed below it (a low one) has an edge to every node of
    the rest with nothing of the rest above it (a high one); so it is enough to count
    the edges from low to high.

    Args:
        diagram: The diagram.
        items: The items sorted by group, then number.
        group: The group of each node.
    """
    n_nodes = len(group)
    waits = diagram.up_start[1:] - diagram.up_start[:-1]
    high_below = np.zeros(n_nodes, dtype=np.int64)
    placed_below = np.zeros(n_nodes, dtype=np.int64)
    segment = np.zeros(n_nodes, dtype=np.int64)
    highs_of_group = np.zeros(n_nodes, dtype=np.int64)
    for node in items:
        if waits[node] == 0:
            highs_of_group[group[node]] += 1
    stack = np.empty(n_nodes, dtype=np.int64)
    number = -1
    lows, highs, joined = 0, 0, 0
    for at in range(len(items)):
        if at == 0 or group[items[at]] != group[items[at - 1]]:
            number += 1
            lows, highs, joined = 0, highs_of_group[group[items[at]]], 0
        # Joints go as early as they can, so that they never hide the end of a segment.
        stack[0] = items[at]
        waiting = 1
        while waiting > 0:
            waiting -= 1
            node = stack[waiting]
            segment[node] = number
            highs -= 1
            for slot in range(diagram.up_start[node], diagram.up_start[node + 1]):
                upper = diagram.up[slot]
                if placed_below[upper] == 0:
                    lows -= 1
                    joined -= high_below[upper]
                placed_below[upper] += 1
                high_below[upper] -= 1
            lows += 1
            for slot in range(diagram.down_start[node], diagram.down_start[node + 1]):
                lower = diagram.down[slot]
                waits[lower] -= 1
                if waits[lower] > 0:
                    continue
                highs += 1
                for place in range(
                    diagram.up_start[lower], diagram.up_start[lower + 1]
                ):
                    upper = diagram.up[place]
                    high_below[upper] += 1
                    joined += placed_below[upper] == 0
                if lower >= diagram.n_items:
                    stack[waiting] = lower
                    waiting += 1
            if highs > 0 and joined == lows * highs:
                number += 1
    return segment


@kernel
def depths(diagram: Diagram) -> Codes:
    """Return the length of the longest chain above each item."""
    depth = np.zeros(len(diagram.up_start) - 1, dtype=np.int64)
    for item in range(diagram.n_items):
        for slot in range(diagram.up_start[item], diagram.up_start[item + 1]):
            depth[item] = max(depth[item], depth[diagram.up[slot]] + 1)
        for slot in range(diagram.down_start[item], diagram.down_start[item + 1]):
            joint = diagram.down[slot]
            if joint >= diagram.n_items:
                depth[joint] = max(depth[joint], depth[item])
    return depth[: diagram.n_items]
