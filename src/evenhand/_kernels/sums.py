"""Exact sums: what math.fsum returns, for many groups at once."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from evenhand._kernels import kernel

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# Parts of a sum do not overlap, and 53 bits each cover the range of doubles with 40.
PARTS = 48


@kernel
def exact_sum(values: Floats, parts: Floats) -> float:
    """Add numbers up without rounding, then round once; not finite if a part overflows.

    Args:
        values: Finite numbers.
        parts: Room for PARTS numbers.

    References:
        Shewchuk (1997), Adaptive precision floating-point arithmetic.
    """
    count = 0
    for value in values:
        high, kept = value, 0
        for place in range(count):
            other = parts[place]
            if abs(high) < abs(other):
                high, other = other, high
            total = high + other
            low = other - (total - high)
            if low != 0:
                parts[kept] = low
                kept += 1
            high = total
        if not math.isfinite(high):
            return float(high)
        parts[kept] = high
        count = kept + 1
    return _rounded(parts, count)


@kernel
def _rounded(parts: Floats, count: int) -> float:
    if count == 0:
        return 0.0
    count -= 1
    high, low = parts[count], 0.0
    while count > 0 and low == 0:
        count -= 1
        total = high + parts[count]
        low = parts[count] - (total - high)
        high = total
    # Halfway cases go by the sign of what is left below.
    if count > 0 and (
        (low < 0 and parts[count - 1] < 0) or (low > 0 and parts[count - 1] > 0)
    ):
        twice = low * 2
        total = high + twice
        if twice == total - high:
            high = total
    return float(high)


@kernel
def centres_and_spreads(
    start: Codes, values: Floats, power: float
) -> tuple[Floats, Floats]:
    """Return the mean and the sample standard deviation of each group.

    Args:
        start: Where each group begins, and the end.
        values: Finite numbers, group by group.
        power: 2. The library's power of two may round otherwise than a product, and a
            power that is known beforehand would be compiled to a product.

    Returns:
        The means, and the deviations; nan where there is none, or where a sum is beyond
        any float.
    """
    n_groups = len(start) - 1
    means, spreads = np.full(n_groups, np.nan), np.full(n_groups, np.nan)
    most = 0
    for group in range(n_groups):
        most = max(most, start[group + 1] - start[group])
    shares, parts = np.empty(most), np.empty(PARTS)
    for group in range(n_groups):
        first, size = start[group], start[group + 1] - start[group]
        total = exact_sum(values[first : first + size], parts)
        if size == 0 or not math.isfinite(total):
            continue
        means[group] = total / size
        largest = 0.0
        for place in range(size):
            shares[place] = abs(values[first + place] - means[group])
            largest = max(largest, shares[place])
        if size == 1 or not math.isfinite(largest):
            continue
        if largest == 0:
            largest = 1.0
        for place in range(size):
            shares[place] = math.pow(shares[place] / largest, power)
        squares = exact_sum(shares[:size], parts)
        away = largest * math.sqrt(squares / (size - 1))
        if math.isfinite(away):
            spreads[group] = away
    return means, spreads
