"""What a calibration model returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.arrays import frozen

if TYPE_CHECKING:
    from evenhand.arrays import Codes, Scores
    from evenhand.claims import Notice


# Estimates closer than this share of their spread are equal but for rounding.
SAME = 1e-9
ROUNDING = 1e-14
LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, slots=True)
class Variances:
    """Where the variance of scores comes from.

    Attributes:
        reviewer: Variance of the reviewers' offsets.
        item: Variance of the items' values.
        rest: Variance of what is left.
    """

    reviewer: float
    item: float
    rest: float

    @property
    def shares(self) -> tuple[float, float, float]:
        """Shares of the three; 0 if nothing varies."""
        three = self.reviewer, self.item, self.rest
        # Divided first, as a sum of large variances would overflow.
        largest = max(three) or 1.0
        parts = [one / largest for one in three]
        total = sum(parts) or 1.0
        return parts[0] / total, parts[1] / total, parts[2] / total


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Items on one common scale, as a model sees them.

    Attributes:
        method: Name of the model.
        estimates: Value of each item, by item code; higher is better. Values that are
            equal but for rounding are made equal.
        errors: Standard error of each estimate, or None.
        offsets: How much higher than others each reviewer scores, or None.
        slopes: How much wider than others each reviewer scores, or None.
        variances: Components of variance, or None.
        groups: Group of each item; estimates of different groups rest on no link
            between them but the model's prior.
        rho: For adaptive, the share of reviewers' offsets in the variance of ranks.
        converged: Whether the last step changed nothing that matters.
        notices: What the reader must know.
    """

    method: str
    estimates: Scores
    groups: Codes
    errors: Scores | None = None
    offsets: Scores | None = None
    slopes: Scores | None = None
    variances: Variances | None = None
    rho: float | None = None
    converged: bool = True
    notices: tuple[Notice, ...] = ()


def settled(estimates: Scores, *, noise: float = ROUNDING) -> Scores:
    """Make values equal that differ only by rounding, and freeze them.

    Args:
        estimates: Finite values.
        noise: Rounding error of the computation, as a share of the largest value.

    Returns:
        The values; neighbours closer than a billionth of the middle half's width, or
        than the noise, take the lowest of their run.

    Examples:
        >>> settled(np.array([1.0, 2.0, 1.0 + 1e-15])).tolist()
        [1.0, 2.0, 1.0]
    """
    order = np.argsort(estimates, kind="stable")
    values = estimates[order]
    low, high = np.quantile(values, [0.25, 0.75])
    largest = float(np.abs(values).max())
    least = max(SAME * float(min(high - low, largest)), noise * largest)
    begins = np.append([True], values[1:] - values[:-1] > least)
    found = np.empty_like(values)
    found[order] = values[np.flatnonzero(begins)][np.cumsum(begins) - 1]
    # A negative zero is a zero.
    return frozen(found + 0.0)


def standardised(values: Scores) -> Scores:
    """Shift and scale rows to mean 0 and standard deviation 1; equal values become 0.

    Examples:
        >>> standardised(np.array([1.0, 3.0])).tolist()
        [-1.0, 1.0]
        >>> standardised(np.array([5.0, 5.0])).tolist()
        [0.0, 0.0]
    """
    centred = values - values.mean(axis=-1, keepdims=True)
    size = np.abs(centred).max(axis=-1, keepdims=True)
    flat = size <= ROUNDING * np.abs(values).max(axis=-1, keepdims=True)
    centred = np.where(flat, 0.0, centred / np.where(flat, 1.0, size))
    spread = centred.std(axis=-1, keepdims=True)
    return np.asarray(centred / np.where(flat, 1.0, spread))
