"""Loops over diagrams: edges, groups, segments, depths.

A diagram has the items 0..n-1, numbered so that an item comes after all items above it,
and joints n, n+1, ...: a joint stands between two tied levels, below each item of the
one and above each item of the other, in place of all the pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._kernels import kernel

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
        if (
            count > 0
            and above[edge] == above[count - 1]
            and below[edge] == below[count - 1]
        ):
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


class Placing(NamedTuple):
    """What is known while the nodes of a group are placed from best to worst.

    A placed node is low if nothing placed is below it; a node that is not placed is
    high if everything above it is placed. `waits` counts the nodes above that are not
    placed, `placed_below` and `high_below` the neighbours below of each kind. `counts`
    holds the numbers of low nodes, of high nodes and of edges from low to high, and the
    size of the stack.
    """

    waits: Codes
    placed_below: Codes
    high_below: Codes
    stack: Codes
    counts: Codes


@kernel
def _place(diagram: Diagram, placing: Placing, node: int) -> None:
    """Place one node; put joints that this makes high on the stack."""
    counts = placing.counts
    counts[1] -= 1
    for slot in range(diagram.up_start[node], diagram.up_start[node + 1]):
        upper = diagram.up[slot]
        if placing.placed_below[upper] == 0:
            counts[0] -= 1
            counts[2] -= placing.high_below[upper]
        placing.placed_below[upper] += 1
        placing.high_below[upper] -= 1
    counts[0] += 1
    for slot in range(diagram.down_start[node], diagram.down_start[node + 1]):
        lower = diagram.down[slot]
        placing.waits[lower] -= 1
        if placing.waits[lower] > 0:
            continue
        counts[1] += 1
        for at in range(diagram.up_start[lower], diagram.up_start[lower + 1]):
            upper = diagram.up[at]
            placing.high_below[upper] += 1
            counts[2] += placing.placed_below[upper] == 0
        if lower >= diagram.n_items:
            placing.stack[counts[3]] = lower
            counts[3] += 1


@kernel
def segments(diagram: Diagram, items: Codes, group: Codes) -> Codes:
    """Number the segments of each connected group, best first.

    All nodes of a segment are above all nodes of the group's later segments. What is
    placed is above all the rest exactly if every low node has an edge to every high
    node, so it is enough to count the edges from low to high.

    Args:
        diagram: The diagram.
        items: The items sorted by group, then number.
        group: The group of each node.
    """
    n_nodes = len(group)
    placing = Placing(
        diagram.up_start[1:] - diagram.up_start[:-1],
        np.zeros(n_nodes, dtype=np.int64),
        np.zeros(n_nodes, dtype=np.int64),
        np.empty(n_nodes, dtype=np.int64),
        np.zeros(4, dtype=np.int64),
    )
    counts = placing.counts
    first_highs = np.zeros(n_nodes, dtype=np.int64)
    for item in items:
        first_highs[group[item]] += placing.waits[item] == 0
    segment = np.zeros(n_nodes, dtype=np.int64)
    number = -1
    for at in range(len(items)):
        if at == 0 or group[items[at]] != group[items[at - 1]]:
            number += 1
            counts[0], counts[1], counts[2] = 0, first_highs[group[items[at]]], 0
        # Joints go as early as they can, so that they seldom hide the end of a segment.
        placing.stack[0] = items[at]
        counts[3] = 1
        while counts[3] > 0:
            counts[3] -= 1
            node = placing.stack[counts[3]]
            segment[node] = number
            _place(diagram, placing, node)
            if counts[1] > 0 and counts[2] == counts[0] * counts[1]:
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
