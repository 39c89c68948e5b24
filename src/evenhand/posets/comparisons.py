"""Who was put above whom: graph, contradictions, closure, twins and groups.

Every strictly ordered pair of one reviewer is a comparison; equal scores give none, and
repeats merge. A reviewer of k items has up to k(k-1)/2 of them, so they are held as the
reviewer's levels (items of equal score) from best to worst and listed only on request.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._kernels import posets as kernels
from evenhand._kernels.cycles import shortest_cycle
from evenhand._kernels.diagrams import merged_edges
from evenhand.errors import ContradictionError, OptionError, RatingsError, unknown
from evenhand.posets._reach import Relation, closure_table, twin_classes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from evenhand.ratings import Ratings

Codes = NDArray[np.int64]

RELATIONS: tuple[Relation, ...] = ("direct", "closure")
CLOSURE_ITEMS = 20_000
# How many steps of a contradiction a message shows.
STEPS_SHOWN = 8


class SmallestOrder(NamedTuple):
    """The lexicographically smallest ordering.

    Attributes:
        order: Item codes, best first; fewer than there are if some contradict others.
        free: For each two neighbours whether nobody put them in order.
    """

    order: Codes
    free: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Comparisons:
    """Who was put above whom, without materialising pairs.

    Attributes:
        n_items: Number of items, compared or not.
        level_start: Slices of level_items, n_levels + 1.
        level_items: Item codes by reviewer, then level from best to worst, then code.
        level_reviewer: Reviewer code of each level.
        kept: The smallest order, once it was asked for.
        listed: The levels of each item, once they were asked for.
    """

    n_items: int
    level_start: Codes
    level_items: Codes
    level_reviewer: Codes
    kept: list[SmallestOrder] = field(default_factory=list, init=False)
    listed: list[kernels.Levels] = field(default_factory=list, init=False)

    def __repr__(self) -> str:
        return f"Comparisons({self.n_items} items, {len(self.level_reviewer)} levels)"


def comparisons(ratings: Ratings) -> Comparisons:
    """Take the comparisons out of ratings; only each reviewer's order is used.

    Examples:
        >>> from evenhand import Ratings
        >>> c = comparisons(Ratings(["a", "a", "a"], ["x", "y", "z"], [1, 5, 5]))
        >>> [above.tolist() for above in edges(c)]
        [[1, 2], [0, 0]]
    """
    starts, items, reviewers = kernels.sort_levels(
        ratings.reviewer_codes, ratings.item_codes, ratings.preference
    )
    return Comparisons(ratings.n_items, starts, items, reviewers)


def from_edges(n_items: int, above: ArrayLike, below: ArrayLike) -> Comparisons:
    """Make comparisons from pairs of item codes; each pair is a reviewer of its own.

    Raises:
        RatingsError: If the lists differ in length, a code is out of range, or an item
            is put above itself.

    Examples:
        >>> from_edges(3, [0], [2])
        Comparisons(3 items, 2 levels)
    """
    pairs = [np.asarray(codes, dtype=np.int64).ravel() for codes in (above, below)]
    if len(pairs[0]) != len(pairs[1]):
        raise RatingsError(
            f"above and below must be of one length, got {len(pairs[0])} and "
            f"{len(pairs[1])}."
        )
    items = np.stack(pairs, axis=1)
    bad = np.flatnonzero(
        (items < 0).any(axis=1)
        | (items >= n_items).any(axis=1)
        | (items[:, 0] == items[:, 1])
    )
    if len(bad):
        row = int(bad[0])
        raise RatingsError(
            f"an edge must join two different items among 0..{n_items - 1}, got "
            f"{tuple(items[row].tolist())} at index {row}."
        )
    reviewers = np.repeat(np.arange(len(items), dtype=np.int64), 2)
    starts = np.arange(items.size + 1, dtype=np.int64)
    return Comparisons(int(n_items), starts, items.ravel(), reviewers)


def chains(c: Comparisons) -> kernels.Chains:
    """Hand the arrays over to kernels.

    Examples:
        >>> chains(from_edges(2, [1], [0])).level_items.tolist()
        [1, 0]
    """
    return kernels.Chains(c.level_start, c.level_items, c.level_reviewer, c.n_items)


def levels(c: Comparisons) -> kernels.Levels:
    """Hand the arrays over with the levels of each item, which are listed once.

    Examples:
        >>> found = levels(from_edges(3, [0, 2], [1, 0]))
        >>> found.item_start.tolist(), found.item_levels.tolist()
        ([0, 2, 3, 4], [0, 3, 1, 2])
    """
    if not c.listed:
        of_items = kernels.levels_of_items(c.level_start, c.level_items, c.n_items)
        c.listed.append(kernels.Levels(*chains(c)[:3], *of_items))
    return c.listed[0]


def compared(c: Comparisons, first: int, second: int) -> bool:
    """Say whether some reviewer strictly ordered the two items.

    Neighbours of a topological ordering may be exchanged exactly if nobody did.

    Examples:
        >>> c = from_edges(3, [0, 1], [1, 2])
        >>> compared(c, 2, 1), compared(c, 0, 2)
        (True, False)
    """
    return bool(kernels.share_comparison(levels(c), first, second))


def edges(c: Comparisons) -> tuple[Codes, Codes]:
    """List all strictly ordered pairs, merged and sorted.

    A reviewer of k items has up to k(k-1)/2 pairs; prefer `chain_edges`.

    Returns:
        The upper items and the lower items.

    Examples:
        >>> from evenhand import Ratings
        >>> above, below = edges(comparisons(Ratings([1, 1, 1], [0, 1, 2], [9, 8, 7])))
        >>> above.tolist(), below.tolist()
        ([0, 0, 1], [1, 2, 2])
    """
    return _merged(c, len(c.level_reviewer))


def chain_edges(c: Comparisons) -> tuple[Codes, Codes]:
    """List the pairs between consecutive levels: few, with the same closure.

    Examples:
        >>> from evenhand import Ratings
        >>> c = comparisons(Ratings([1, 1, 1], [0, 1, 2], [9, 8, 7]))
        >>> [codes.tolist() for codes in chain_edges(c)]
        [[0, 1], [1, 2]]
    """
    return _merged(c, 1)


def _merged(c: Comparisons, farthest: int) -> tuple[Codes, Codes]:
    above, below = kernels.level_pairs(chains(c), farthest)
    return merged_edges(c.n_items, above, below)


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
    place = np.empty(c.n_items, dtype=np.int64)
    place[codes] = np.arange(c.n_items)
    places = place[c.level_items]
    last = np.maximum.reduceat(places, c.level_start[:-1])
    first = np.minimum.reduceat(places, c.level_start[:-1])
    same = c.level_reviewer[1:] == c.level_reviewer[:-1]
    return bool((last[:-1] < first[1:])[same].all())


def find_contradiction(c: Comparisons) -> tuple[list[int], list[int]] | None:
    """Find one shortest cycle of items that are each put above the next.

    Returns:
        None if the comparisons are consistent. Otherwise the items of the cycle, from
        its smallest code, and for each item a reviewer who put it above the next (the
        last item is put above the first).

    Examples:
        >>> find_contradiction(from_edges(4, [0, 1, 2, 3], [1, 2, 3, 1]))
        ([1, 2, 3], [1, 2, 3])
    """
    if _consistent(c):
        return None
    cycle = shortest_cycle(levels(c), strong_groups(c)).tolist()
    following = cycle[1:] + cycle[:1]
    steps = zip(cycle, following, strict=True)
    return cycle, [_reviewer_of(c, above, below) for above, below in steps]


def smallest_order(c: Comparisons) -> SmallestOrder:
    """Order items as comparisons allow, smallest codes first; worked out once.

    Examples:
        >>> found = smallest_order(from_edges(3, [2, 2], [0, 1]))
        >>> found.order.tolist(), found.free.tolist()
        ([2, 0, 1], [False, True])
    """
    if not c.kept:
        found = SmallestOrder(*kernels.smallest_order(chains(c)))
        for part in found:
            part.flags.writeable = False
        c.kept.append(found)
    return c.kept[0]


def _consistent(c: Comparisons) -> bool:
    return len(smallest_order(c).order) == c.n_items


def strong_groups(c: Comparisons) -> Codes:
    """Label the items that are above and below one another; -1 for all others.

    Examples:
        >>> strong_groups(from_edges(3, [0, 1], [1, 0])).tolist()[2]
        -1
    """
    if len(c.level_reviewer) == 0:
        return np.full(c.n_items, -1, dtype=np.int64)
    # Imported here because only contradictory data needs it.
    from scipy.sparse import coo_array  # noqa: PLC0415 - slow to load
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 - slow to load

    n_levels = len(c.level_reviewer)
    gates = c.n_items + np.repeat(np.arange(n_levels), np.diff(c.level_start))
    lower = np.append(c.level_reviewer[1:] == c.level_reviewer[:-1], [False])
    down = np.repeat(lower, np.diff(c.level_start))
    # An item leads to the gate of its reviewer's next level, and a gate to its items.
    tails = np.concatenate([c.level_items[down], gates])
    heads = np.concatenate([gates[down] + 1, c.level_items])
    size = c.n_items + n_levels
    graph = coo_array((np.ones(len(tails), np.int8), (tails, heads)), (size, size))
    _, found = connected_components(graph, connection="strong")
    labels: Codes = found[: c.n_items].astype(np.int64)
    labels[np.bincount(labels)[labels] == 1] = -1
    return labels


def _reviewer_of(c: Comparisons, above: int, below: int) -> int:
    known = levels(c)
    upper, lower = (
        known.item_levels[known.item_start[item] : known.item_start[item + 1]]
        for item in (above, below)
    )
    common, first, second = np.intersect1d(
        c.level_reviewer[upper], c.level_reviewer[lower], return_indices=True
    )
    return int(common[upper[first] < lower[second]][0])


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
        >>> ratings = Ratings.from_comparisons(["x", "y"], ["y", "z"])
        >>> require_consistent(ratings, comparisons(ratings), method="flips")
    """
    found = find_contradiction(c)
    if found is None:
        return
    items = [ratings.item_labels[code] for code in found[0]]
    reviewers = [ratings.reviewer_labels[code] for code in found[1]]
    steps = [
        f"{above!r} above {below!r} (reviewer {reviewer!r})"
        for above, below, reviewer in zip(
            items, items[1:] + items[:1], reviewers, strict=True
        )
    ]
    if len(steps) > STEPS_SHOWN:
        left = len(steps) - STEPS_SHOWN
        steps[STEPS_SHOWN - 1 : -1] = [f"and so on over {left + 1} more"]
    advice = "Method 'adaptive' copes with contradictions."
    if ratings.kind == "scores":
        advice = "Methods 'adaptive' and 'safe' cope with contradictions."
    raise ContradictionError(
        f"Method {method!r} needs comparisons that are consistent, got "
        f"{', '.join(steps)}. {advice}",
        cycle=items,
        reviewers=reviewers,
    )


def closure(c: Comparisons) -> NDArray[np.bool_]:
    """Tell for all pairs who is above whom, directly or through others.

    An item on a contradiction is above itself.

    Returns:
        An n x n table, True at [a, b] if a is above b.

    Raises:
        OptionError: If there are more than 20,000 items (a table of 400 MB).

    Examples:
        >>> closure(from_edges(3, [0, 1], [1, 2]))[0].tolist()
        [False, True, True]
    """
    if c.n_items > CLOSURE_ITEMS:
        raise OptionError(
            f"The closure is a table of all pairs, for at most {CLOSURE_ITEMS:,} "
            f"items, got {c.n_items:,}. Choose a method that does not need it."
        )
    return closure_table(levels(c))


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
        >>> c = from_edges(4, [0, 0, 1], [1, 2, 3])
        >>> twins(c), twins(from_edges(4, [0, 0, 1, 2], [1, 2, 3, 3]), by="direct")
        ([], [(1, 2)])
    """
    if by not in RELATIONS:
        raise OptionError(unknown("relation", by, RELATIONS))
    classes = np.zeros(c.n_items, dtype=np.int64)
    if by == "closure" and not _consistent(c):
        classes[strong_groups(c) >= 0] = -1
    classes = twin_classes(levels(c), classes, by=by)
    members: dict[int, list[int]] = {}
    for item in np.flatnonzero(classes >= 0).tolist():
        members.setdefault(int(classes[item]), []).append(item)
    return sorted(tuple(items) for items in members.values())


def components(c: Comparisons) -> Codes:
    """Label the groups of items that comparisons connect, by their smallest code.

    Equal scores connect nothing: groups are told apart only if no comparison, however
    indirect, says anything about them together.

    Examples:
        >>> components(from_edges(5, [3, 1], [0, 4])).tolist()
        [0, 1, 2, 0, 1]
    """
    smallest = kernels.connected(chains(c))
    return np.searchsorted(np.unique(smallest), smallest).astype(np.int64)
