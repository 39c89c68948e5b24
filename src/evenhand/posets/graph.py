"""Who was put above whom: each reviewer's levels, the graph of them, and its groups.

Every strictly ordered pair of one reviewer is a comparison; equal scores give none, and
repeats merge. A reviewer of k items has up to k(k-1)/2 of them, so they are held as the
reviewer's levels (items of equal score) from best to worst and listed only on request.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from evenhand.arrays import Codes, frozen, sorted_places
from evenhand.errors import RatingsError
from evenhand.ratings import as_ratings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from evenhand.ratings import Ratings

Edges = tuple[Codes, Codes]


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Who was put above whom, without materialising pairs.

    Attributes:
        n_items: Number of items, compared or not.
        level_start: Slices of level_items, n_levels + 1.
        level_items: Item codes by reviewer, then level from best to worst, then code.
        level_reviewer: Reviewer code of each level.
    """

    n_items: int
    level_start: Codes
    level_items: Codes
    level_reviewer: Codes

    def __repr__(self) -> str:
        return f"Comparisons({self.n_items} items, {len(self.level_reviewer)} levels)"

    @cached_property
    def steps(self) -> Codes:
        """The levels that have a next one of the same reviewer."""
        return np.flatnonzero(self.level_reviewer[1:] == self.level_reviewer[:-1])

    @cached_property
    def links(self) -> tuple[int, Codes, Codes]:
        """A graph with the same closure and at most two edges a rating.

        Nodes are the items and, after them, joints. A joint stands between two levels,
        below all items of the one and above all items of the other, unless both have
        one item only.

        Returns:
            The number of nodes, and the upper and the lower end of each edge.
        """
        start, sizes = self.level_start, np.diff(self.level_start)
        alone = sizes[self.steps] * sizes[self.steps + 1] == 1
        single, wide = self.steps[alone], self.steps[~alone]
        upper, lower = (self.level_items[start[at]] for at in (single, single + 1))
        joints = self.n_items + np.arange(len(wide))
        above, below = (
            (self.level_items[spans(start[level], sizes[level])], sizes[level])
            for level in (wide, wide + 1)
        )
        return (
            self.n_items + len(wide),
            np.concatenate([upper, above[0], np.repeat(joints, below[1])]),
            np.concatenate([lower, np.repeat(joints, above[1]), below[0]]),
        )

    @cached_property
    def walk(self) -> list[int]:
        """All nodes of the links, each after those above it; cut short by a cycle.

        Items come in lexicographic order, joints as soon as they can.
        """
        n_nodes, tails, heads = self.links
        below = neighbours(n_nodes, tails, heads)
        waits = np.bincount(heads, minlength=n_nodes).tolist()
        free = [item for item in range(self.n_items) if waits[item] == 0]
        nodes: list[int] = []
        while free:
            # Joints are on the heap as negative numbers, before all items.
            nodes.append(heapq.heappop(free) % n_nodes)
            for node in below[nodes[-1]]:
                waits[node] -= 1
                if waits[node] == 0:
                    joint = node >= self.n_items
                    heapq.heappush(free, node - n_nodes if joint else node)
        return nodes

    @cached_property
    def order(self) -> Codes:
        """The lexicographically smallest ordering; cut short by a contradiction."""
        nodes = np.array(self.walk, dtype=np.int64)
        return frozen(nodes[nodes < self.n_items])

    @cached_property
    def item_levels(self) -> list[list[int]]:
        """The levels that each item is on."""
        level = np.repeat(
            np.arange(len(self.level_reviewer)), np.diff(self.level_start)
        )
        return neighbours(self.n_items, self.level_items, level)


def spans(starts: Codes, sizes: Codes) -> Codes:
    """List the places of slices, one slice after the other.

    Examples:
        >>> spans(np.array([5, 0]), np.array([2, 3])).tolist()
        [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(sizes)
    return np.arange(sizes.sum()) + np.repeat(starts - ends + sizes, sizes)


def neighbours(n_nodes: int, tails: Codes, heads: Codes) -> list[list[int]]:
    """List for each node the nodes that edges lead to, in the order of the edges.

    Examples:
        >>> neighbours(3, np.array([1, 0, 1]), np.array([0, 2, 2]))
        [[2], [0, 2], []]
    """
    ends = np.cumsum(np.bincount(tails, minlength=n_nodes)).tolist()
    flat = heads[sorted_places(tails)].tolist()
    return [flat[start:end] for start, end in pairwise([0, *ends])]


def comparisons(ratings: Ratings) -> Comparisons:
    """Take the comparisons out of ratings; only each reviewer's order is used.

    Examples:
        >>> from evenhand import Ratings
        >>> c = comparisons(Ratings(["a", "a", "a"], ["x", "y", "z"], [1, 5, 5]))
        >>> [above.tolist() for above in edges(c)]
        [[1, 2], [0, 0]]
    """
    ratings = as_ratings(ratings)
    # Complex numbers sort by their real part first. Rows come sorted by reviewer and
    # item, so one stable sort is nearly done, and six times as quick as lexsort.
    keys = np.empty(len(ratings.preference), dtype=np.complex128)
    keys.real, keys.imag = ratings.reviewer_codes, -ratings.preference
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.append(keys[:1] == keys[:1], keys[1:] != keys[:-1]))
    ends, items = np.append(starts, len(keys)), ratings.item_codes[order]
    return Comparisons(ratings.n_items, ends, items, ratings.reviewer_codes[starts])


def from_edges(n_items: int, above: ArrayLike, below: ArrayLike) -> Comparisons:
    """Make comparisons from pairs of item codes; each pair is a reviewer of its own.

    Raises:
        RatingsError: If a code is out of range, or an item is put above itself.
        ValueError: If the lists differ in length.

    Examples:
        >>> from_edges(3, [0], [2])
        Comparisons(3 items, 2 levels)
    """
    items = np.stack([np.asarray(codes, np.int64) for codes in (above, below)], axis=1)
    bad = ((items < 0) | (items >= n_items)).any(axis=1) | (items[:, 0] == items[:, 1])
    if bad.any():
        row = int(bad.argmax())
        raise RatingsError(
            f"an edge must join two different items among 0..{n_items - 1}, got "
            f"{tuple(items[row].tolist())} at index {row}."
        )
    reviewers = np.repeat(np.arange(len(items)), 2)
    return Comparisons(n_items, np.arange(items.size + 1), items.ravel(), reviewers)


def levels_of_both(c: Comparisons, first: int, second: int) -> list[tuple[int, ...]]:
    """List the reviewers of both items, each with the levels of the one and the other.

    Examples:
        >>> levels_of_both(from_edges(2, [0], [1]), 0, 1)
        [(0, 0, 1)]
    """
    levels = c.item_levels[first], c.item_levels[second]
    first_levels, second_levels = (
        dict(zip(c.level_reviewer[on].tolist(), on, strict=True)) for on in levels
    )
    return [
        (by, first_levels[by], second_levels[by])
        for by in first_levels
        if by in second_levels
    ]


def edges(c: Comparisons) -> Edges:
    """List all strictly ordered pairs, merged and sorted.

    A reviewer of k items has up to k(k-1)/2 pairs.

    Returns:
        The upper items and the lower items.

    Examples:
        >>> from evenhand import Ratings
        >>> above, below = edges(comparisons(Ratings([1, 1, 1], [0, 1, 2], [9, 8, 7])))
        >>> above.tolist(), below.tolist()
        ([0, 0, 1], [1, 2, 2])
    """
    last = np.searchsorted(c.level_reviewer, c.level_reviewer, side="right")
    level = np.repeat(np.arange(len(c.level_reviewer)), np.diff(c.level_start))
    begin, end = c.level_start[level + 1], c.level_start[last[level]]
    above = np.repeat(c.level_items, end - begin)
    return merge_edges(c.n_items, above, c.level_items[spans(begin, end - begin)])


def merge_edges(n_nodes: int, tails: Codes, heads: Codes) -> Edges:
    """Sort edges by both ends, and drop repeats.

    Examples:
        >>> tails, heads = merge_edges(3, np.array([2, 0, 2]), np.array([1, 1, 1]))
        >>> tails.tolist(), heads.tolist()
        ([0, 2], [1, 1])
    """
    # Sorted, as np.unique takes five times as long for a million different keys.
    keys = np.sort(tails * max(n_nodes, 1) + heads)
    keys = keys[np.diff(keys, prepend=-1) != 0]
    return keys // max(n_nodes, 1), keys % max(n_nodes, 1)


def is_ordering(c: Comparisons, order: Sequence[int] | Codes) -> bool:
    """Say whether an order, best first, holds each item once and obeys all comparisons.

    Examples:
        >>> c = from_edges(3, [2], [0])
        >>> is_ordering(c, [2, 1, 0]), is_ordering(c, [0, 1, 2]), is_ordering(c, [2, 0])
        (True, False, False)
    """
    codes = np.asarray(order, dtype=np.int64)
    if not np.array_equal(np.sort(codes), np.arange(c.n_items)):
        return False
    if len(c.level_reviewer) == 0:
        return True
    places = np.argsort(codes)[c.level_items]
    last = np.maximum.reduceat(places, c.level_start[:-1])
    first = np.minimum.reduceat(places, c.level_start[:-1])
    return bool((last[c.steps] < first[c.steps + 1]).all())


def components(c: Comparisons) -> Codes:
    """Label the groups of items that comparisons connect, by their smallest code.

    Equal scores connect nothing: groups are told apart only if no comparison, however
    indirect, says anything about them together.

    Examples:
        >>> components(from_edges(5, [3, 1], [0, 4])).tolist()
        [0, 1, 2, 0, 1]
    """
    return connected_groups(*c.links)[: c.n_items]


def connected_groups(n_nodes: int, tails: Codes, heads: Codes) -> Codes:
    """Label nodes that edges connect, by their smallest node.

    Examples:
        >>> connected_groups(4, np.array([3, 1]), np.array([1, 0])).tolist()
        [0, 0, 1, 0]
    """
    # Groups are known by a node that stands for itself; those that an edge connects
    # take the smaller one, until none changes.
    previous, group = np.empty(0, dtype=np.int64), np.arange(n_nodes)
    while not np.array_equal(group, previous):
        previous = group.copy()
        least = np.minimum(previous[tails], previous[heads])
        for ends in (tails, heads):
            np.minimum.at(group, previous[ends], least)
        group = group[group]
    return np.unique(group, return_inverse=True)[1]
