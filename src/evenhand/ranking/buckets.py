"""Runs of an order in which no item is told apart from a later one.

Going down the order, a test says whether an item is surely below some item of the
bucket so far; if so, it begins the next bucket.
"""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from evenhand.ranking.uncertainty import Ranks

    Codes = NDArray[np.int64]
    Table = NDArray[np.float64]
    Test = Callable[[list[int], int], bool]

# Probabilities are sums of rounded shares.
ROUNDING = 1e-9
# Items of a bucket, from its first, that drawn rankings are counted for.
LOOKED_AT = 200


def cut(order: Codes, separated: Test) -> tuple[int, ...]:
    """Number the bucket of each place, from 1.

    Examples:
        >>> cut(np.array([3, 2, 1, 0]), lambda bucket, item: bucket[0] - item >= 2)
        (1, 1, 2, 2)
    """
    bucket: list[int] = []
    number = 1
    numbers = []
    for item in order.tolist():
        if bucket and separated(bucket, item):
            number += 1
            bucket = []
        bucket.append(item)
        numbers.append(number)
    return tuple(numbers)


def any_above(above: Table, least: float) -> Test:
    """Test by the probability that one item is above another.

    Examples:
        >>> any_above(np.array([[0, 0.97], [0.03, 0]]), 0.95)([0], 1)
        True
    """

    def separated(bucket: list[int], item: int) -> bool:
        return bool(above[bucket, item].max() >= least - ROUNDING)

    return separated


def first_by_places(places: Table, earlier: Table, least: float) -> Test:
    """Test the first item of a bucket, as if places were independent.

    Args:
        places: places[i, t] is the probability that t items are above item i.
        earlier: The probability of fewer than t, likewise.
        least: Probability that tells two items apart.

    Examples:
        >>> places = np.array([[0.97, 0.03], [0.03, 0.97]])
        >>> first_by_places(places, np.cumsum(places, axis=1) - places, 0.95)([0], 1)
        True
    """

    def separated(bucket: list[int], item: int) -> bool:
        # The first is above if its place is before the other's; equal places cannot be.
        first = bucket[0]
        wins = float(places[item] @ earlier[first])
        same = float(places[item] @ places[first])
        return wins >= (least - ROUNDING) * max(1 - same, ROUNDING)

    return separated


def any_drawn_above(ranks: Ranks, least: float) -> Test:
    """Test by the share of drawn rankings that put one item above another.

    In a long bucket the first 200 items are looked at; those after them are lower.

    Examples:
        >>> any_drawn_above(np.array([[1, 2]] * 3, dtype=np.int32), 0.95)([0], 1)
        True
    """
    by_item = np.ascontiguousarray(ranks.T)

    def separated(bucket: list[int], item: int) -> bool:
        ahead = by_item[bucket[:LOOKED_AT]] < by_item[item]
        wins = np.count_nonzero(ahead, axis=1)
        return bool(wins.max() >= (least - ROUNDING) * len(ranks))

    return separated


def normal_buckets(
    order: Codes, values: Table, errors: Table, least: float
) -> tuple[int, ...]:
    """Cut by the probability that one value is above another, with normal errors.

    Examples:
        >>> values, errors = np.array([2.0, 1.9, 0.0]), np.array([0.5, 0.5, 0.5])
        >>> normal_buckets(np.arange(3), values, errors, 0.95)
        (1, 1, 2)
    """
    reach = statistics.NormalDist().inv_cdf(least)
    value, error = values.tolist(), errors.tolist()
    # Only items that no other of the bucket beats in both value and error can be the
    # first to leave an item behind; there are few of them.
    leaders: list[int] = []
    number = 1
    numbers = []
    for item in order.tolist():
        if any(
            value[one] - value[item] > reach * math.hypot(error[one], error[item])
            for one in leaders
        ):
            number += 1
            leaders = []
        if not any(
            value[one] >= value[item] and error[one] <= error[item] for one in leaders
        ):
            leaders = [
                one
                for one in leaders
                if value[one] > value[item] or error[one] < error[item]
            ]
            leaders.append(item)
        numbers.append(number)
    return tuple(numbers)
