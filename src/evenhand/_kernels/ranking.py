"""Loops of the ranking room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
    while i < one[1] or j < other[1]:
        if j == other[1] or (i < one[1] and reviewers[i] < reviewers[j]):
            ones += not retired[reviewers[i]]
            i += 1
        elif i == one[1] or reviewers[j] < reviewers[i]:
            others += not retired[reviewers[j]]
            j += 1
        else:
            if preference[i] != preference[j]:
                return 0
            if not retired[reviewers[i]]:
                ones += 1
                others += 1
                shared += 1
            i += 1
            j += 1
    return ones * others - shared


@kernel
def _partner(
    number: int,
    reviewer: int,
    other: tuple[int, int],
    reviewers: NDArray[np.int64],
    retired: NDArray[np.bool_],
) -> int:
    # The row of this number among the other item's, by reviewers but for one.
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
    one: tuple[int, int],
    other: tuple[int, int],
    reviewers: NDArray[np.int64],
    retired: NDArray[np.bool_],
) -> tuple[int, int]:
    # The rows of the pair with this number, by the first reviewer, then the second.
    others = 0
    for j in range(other[0], other[1]):
        others += not retired[reviewers[j]]
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

    Args:
        order: Item codes, best first.
        scan: Position of the first two neighbours, and how far to go on from two that
            are not free.
        reviews: Where each item's ratings begin, and the end; then, by item, the
            reviewer of each rating, increasing, and the preference.
        n_reviewers: Number of reviewers.
        units: One uniform for each position.

    Returns:
        Positions of the first of each two neighbours, and the ratings to be used for
        the first and for the second.
    """
    starts, reviewers, preference = reviews
    position, step = scan
    retired = np.zeros(n_reviewers, dtype=np.bool_)
    positions = np.empty(len(order) // 2, dtype=np.int64)
    ones = np.empty(len(order) // 2, dtype=np.int64)
    others = np.empty(len(order) // 2, dtype=np.int64)
    found = 0
    while position + 1 < len(order):
        a, b = order[position], order[position + 1]
        one, other = (starts[a], starts[a + 1]), (starts[b], starts[b + 1])
        pairs = _free_pairs(one, other, reviewers, preference, retired)
        if pairs == 0:
            position += step
            continue
        number = int(units[position] * pairs)
        i, j = _pair_number(number, one, other, reviewers, retired)
        retired[reviewers[i]] = True
        retired[reviewers[j]] = True
        positions[found], ones[found], others[found] = position, i, j
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
        pair = _pair_number(number, one, other, reviewers, retired)
        firsts[index], seconds[index] = pair
    return firsts, seconds
