"""Loops of the ranking room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import kernel
from evenhand._kernels.ideals import bit_lists, order_ideals

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def _count_fresh(
    rows: tuple[int, int], reviewers: NDArray[np.int64], retired: NDArray[np.bool_]
) -> int:
    count = 0
    for row in range(rows[0], rows[1]):
        count += not retired[reviewers[row]]
    return count


@kernel
def _free_pairs(
    one: tuple[int, int],
    other: tuple[int, int],
    reviewers: NDArray[np.int64],
    preference: NDArray[np.float64],
    retired: NDArray[np.bool_],
) -> int:
    # Number of pairs of different reviewers, neither retired, of two items; 0 if some
    # reviewer, retired or not, put one item above the other.
    i, j = one[0], other[0]
    ones, others, shared = 0, 0, 0
    # Few branches, as whose number is smaller cannot be foreseen.
    while i < one[1] and j < other[1]:
        left, right = reviewers[i], reviewers[j]
        first, second = left <= right, right <= left
        fresh, other_fresh = not retired[left], not retired[right]
        ones += first & fresh
        others += second & other_fresh
        if first & second:
            if preference[i] != preference[j]:
                return 0
            shared += fresh
        i += first
        j += second
    ones += _count_fresh((i, one[1]), reviewers, retired)
    others += _count_fresh((j, other[1]), reviewers, retired)
    return ones * others - shared


@kernel
def _partner(
    number: int,
    reviewer: int,
    other: tuple[int, int],
    reviewers: NDArray[np.int64],
    retired: NDArray[np.bool_],
) -> int:
    # The row of this number among an item's, by fresh reviewers but for one.
    for j in range(other[0], other[1]):
        if retired[reviewers[j]] or reviewers[j] == reviewer:
            continue
        if number == 0:
            return j
        number -= 1
    return -1


@kernel
def _pair_number(
    number: int,
    pairs: int,
    one: tuple[int, int],
    other: tuple[int, int],
    reviewers: NDArray[np.int64],
    retired: NDArray[np.bool_],
) -> tuple[int, int]:
    # The rows of the pair with this number, by the first reviewer, then the second; of
    # so many pairs.
    others = _count_fresh(other, reviewers, retired)
    if 0 < pairs == others * _count_fresh(one, reviewers, retired):
        # Nobody is a reviewer of both.
        first = _partner(number // others, -1, one, reviewers, retired)
        return first, _partner(number % others, -1, other, reviewers, retired)
    same = other[0]
    for i in range(one[0], one[1]):
        if retired[reviewers[i]]:
            continue
        while same < other[1] and reviewers[same] < reviewers[i]:
            same += 1
        partners = others
        if same < other[1] and reviewers[same] == reviewers[i]:
            partners -= 1
        if number < partners:
            return i, _partner(number, reviewers[i], other, reviewers, retired)
        number -= partners
    return -1, -1


@kernel
def choose_flips(
    order: NDArray[np.int64],
    scan: tuple[int, int],
    reviews: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]],
    n_reviewers: int,
    units: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Choose the neighbours that a coin will settle, and whose scores it uses.

    Score pairs are drawn one after the other, and an even number of them loses the
    last.

    Args:
        order: Item codes, best first.
        scan: Position of the first two neighbours, and how far to go on from two that
            are not free.
        reviews: Where each item's ratings begin, and the end; then, by item, the
            reviewer of each rating, increasing, and the preference.
        n_reviewers: Number of reviewers.
        units: A row of uniforms for each position, one for each score pair wanted.

    Returns:
        Positions of the first of each two neighbours, and rows of the ratings to be
        used for the first and for the second; -1 where a score pair is missing.
    """
    starts, reviewers, preference = reviews
    position, step = scan
    retired = np.zeros(n_reviewers, dtype=np.bool_)
    positions = np.empty(len(order) // 2, dtype=np.int64)
    ones = np.full((len(order) // 2, units.shape[1]), -1, dtype=np.int64)
    others = ones.copy()
    found = 0
    while position + 1 < len(order):
        a, b = order[position], order[position + 1]
        one, other = (starts[a], starts[a + 1]), (starts[b], starts[b + 1])
        drawn = 0
        while drawn < units.shape[1]:
            pairs = _free_pairs(one, other, reviewers, preference, retired)
            if pairs == 0:
                break
            number = int(units[position, drawn] * pairs)
            i, j = _pair_number(number, pairs, one, other, reviewers, retired)
            retired[reviewers[i]] = True
            retired[reviewers[j]] = True
            ones[found, drawn], others[found, drawn] = i, j
            drawn += 1
        if drawn == 0:
            position += step
            continue
        if drawn % 2 == 0:
            for rows in (ones, others):
                retired[reviewers[rows[found, drawn - 1]]] = False
                rows[found, drawn - 1] = -1
        positions[found] = position
        found += 1
        position += 2
    return positions[:found], ones[:found], others[:found]


@kernel
def choose_reviewers(
    ones: NDArray[np.int64],
    others: NDArray[np.int64],
    reviews: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]],
    n_reviewers: int,
    units: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Choose whose scores of two items a coin uses, for each of several pairs of items.

    Args:
        ones: First item of each pair.
        others: Second item of each pair; two different reviewers scored the two.
        reviews: Where each item's ratings begin, and the end; then, by item, the
            reviewer of each rating, increasing, and the preference.
        n_reviewers: Number of reviewers.
        units: One uniform for each pair.

    Returns:
        The ratings to be used for the first and for the second items.
    """
    starts, reviewers, preference = reviews
    retired = np.zeros(n_reviewers, dtype=np.bool_)
    firsts = np.empty(len(ones), dtype=np.int64)
    seconds = np.empty(len(ones), dtype=np.int64)
    for index in range(len(ones)):
        a, b = ones[index], others[index]
        one, other = (starts[a], starts[a + 1]), (starts[b], starts[b + 1])
        pairs = _free_pairs(one, other, reviewers, preference, retired)
        number = int(units[index] * pairs)
        pair = _pair_number(number, pairs, one, other, reviewers, retired)
        firsts[index], seconds[index] = pair
    return firsts, seconds


@kernel
def add_answer(
    reach: NDArray[np.bool_], heights: NDArray[np.int64], upper: int, lower: int
) -> None:
    """Put one free item above another, with all that follows from it.

    Args:
        reach: Who is above whom, closed; changed in place.
        heights: Number of items below each item less those above; changed in place.
        upper: The one item.
        lower: The other.
    """
    for one in range(len(reach)):
        if one != upper and not reach[one, upper]:
            continue
        for other in range(len(reach)):
            if other != lower and not reach[lower, other]:
                continue
            if not reach[one, other]:
                reach[one, other] = True
                heights[one] += 1
                heights[other] -= 1


@kernel
def _ideal_ways(
    first: NDArray[np.int64], to: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    # The number of ways into each ideal from the empty one, and on to the full one.
    size = len(first) - 1
    into, onward = np.zeros(size), np.zeros(size)
    into[0] = 1
    onward[size - 1] = 1
    for ideal in range(size):
        for step in range(first[ideal], first[ideal + 1]):
            into[to[step]] += into[ideal]
    for ideal in range(size - 2, -1, -1):
        for step in range(first[ideal], first[ideal + 1]):
            onward[ideal] += onward[to[step]]
    return into, onward


@kernel
def _below_bits(
    reach: NDArray[np.bool_], order: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    # Bits of the items below each, and of those with no third item between, numbered
    # and listed by their places in an ordering.
    n_items = len(reach)
    below = np.zeros((n_items, (n_items + 63) >> 6), dtype=np.uint64)
    for one in range(n_items):
        for other in range(one + 1, n_items):
            if reach[order[one], order[other]]:
                below[one, other >> 6] |= np.uint64(1) << np.uint64(other & 63)
    next_below = below.copy()
    for one in range(n_items):
        for other in range(one + 1, n_items):
            if reach[order[one], order[other]]:
                next_below[one] &= ~below[other]
    return below, next_below


@kernel
def pair_counts(
    reach: NDArray[np.bool_], heights: NDArray[np.int64], limit: int
) -> NDArray[np.float64]:
    """Count the orderings in which one item is above another, for all pairs.

    Counts are sums of whole numbers, exact up to 2**53. There must be at most 170
    items, so that no count is too large for a float.

    Args:
        reach: Who is above whom, closed.
        heights: Number of items below each item less those above.
        limit: Most order ideals to list.

    Returns:
        The counts at [a, b], or a table without rows if there are more ideals.
    """
    n_items = len(reach)
    # An item above another has more below it and less above it.
    order = np.argsort(-heights, kind="mergesort")
    below, next_below = _below_bits(reach, order)
    first, item, to = order_ideals(below, bit_lists(next_below), limit)
    if len(first) == 0:
        return np.empty((0, n_items))
    into, onward = _ideal_ways(first, to)
    counts = np.zeros((n_items, n_items))
    holds = np.zeros((len(first) - 1, n_items), dtype=np.bool_)
    for ideal in range(len(first) - 1):
        for step in range(first[ideal], first[ideal + 1]):
            ways = into[ideal] * onward[to[step]]
            one = order[item[step]]
            holds[to[step]] = holds[ideal]
            holds[to[step], one] = True
            for other in range(n_items):
                if other != one and not holds[ideal, other]:
                    counts[one, other] += ways
    return counts


@kernel
def most_open_pair(
    reach: NDArray[np.bool_],
    counts: NDArray[np.float64],
    reviews: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]],
    retired: NDArray[np.bool_],
    fresh: NDArray[np.int64],
) -> tuple[int, int]:
    """Find the free pair with fresh reviewers that is above and below most equally.

    Args:
        reach: Who is above whom, closed.
        counts: Orderings in which one item is above another.
        reviews: Where each item's ratings begin, and the end; then, by item, the
            reviewer of each rating, increasing, and the preference.
        retired: Which reviewers are not fresh.
        fresh: Number of fresh reviewers of each item.

    Returns:
        The codes of the two items, the smallest among equals, or -1 for none.
    """
    starts, reviewers, preference = reviews
    found, best = (-1, -1), np.inf
    for a in range(len(reach)):
        one = (starts[a], starts[a + 1])
        for b in range(a + 1, len(reach)):
            if reach[a, b] or reach[b, a] or fresh[a] == 0 or fresh[b] == 0:
                continue
            odds = abs(counts[a, b] - counts[b, a])
            other = (starts[b], starts[b + 1])
            if odds < best and _free_pairs(one, other, reviewers, preference, retired):
                found, best = (a, b), odds
    return found


@kernel
def nearest_pair(
    reach: NDArray[np.bool_],
    heights: NDArray[np.int64],
    reviews: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]],
    retired: NDArray[np.bool_],
    fresh: NDArray[np.int64],
) -> tuple[int, int]:
    """Find the free pair with fresh reviewers that is nearest in height.

    Args:
        reach: Who is above whom, closed.
        heights: Number of items below each item less those above.
        reviews: Where each item's ratings begin, and the end; then, by item, the
            reviewer of each rating, increasing, and the preference.
        retired: Which reviewers are not fresh.
        fresh: Number of fresh reviewers of each item.

    Returns:
        The codes of the two items, the smaller one first, or -1 for none. Among equals
        the highest, then those with the smallest codes.
    """
    starts, reviewers, preference = reviews
    order = np.argsort(-heights, kind="mergesort")
    order = order[fresh[order] > 0]
    found, best = (-1, -1), len(reach) * 2
    for place in range(len(order)):
        a = order[place]
        one = (starts[a], starts[a + 1])
        for later in range(place + 1, len(order)):
            b = order[later]
            if heights[a] - heights[b] >= best:
                break
            other = (starts[b], starts[b + 1])
            if not reach[a, b] and _free_pairs(
                one, other, reviewers, preference, retired
            ):
                found, best = (min(a, b), max(a, b)), heights[a] - heights[b]
                break
    return found
