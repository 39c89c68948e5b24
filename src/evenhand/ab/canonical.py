"""The canonical problem: two items, two reviewers, one random assignment.

Each reviewer scores one item on a private increasing scale. No fixed rule on the two
scores beats a fair coin everywhere; a coin biased by the gap of the scores does.
Cover's two-envelope form says the same with a random threshold Z: the first reviewer's
item is output iff the difference of the scores exceeds Z. With Z of distribution
function W the two are one estimator: `threshold_probability` says it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from evenhand.ab.weights import GapWeight, as_weight, odd, on_floats
from evenhand.arrays import (
    Floats,
    Numbers,
    as_numbers,
    difference,
    is_exact,
    magnitude,
    map_exact,
)
from evenhand.errors import OptionError, RatingsError, require_function, shown

PAIR = 2
Weight = GapWeight | Callable[[float], float] | str | None
Cdf = Callable[..., float | Fraction]


def first_probability(scores: Numbers, *, weight: Weight = None) -> Floats:
    """Probability that the first item is output as better.

    The item with the higher score is output with probability (1 + weight(gap)) / 2.

    Args:
        scores: Scores of the two items, shape (..., 2).
        weight: Increasing map from a gap to [0, 1), rational(1) if None.

    Returns:
        Probabilities, shape (...). Fractions give Fractions if the weight is exact.

    Raises:
        RatingsError: If a score is not finite or the last axis is not of length 2.
        OptionError: If the weight is not one, or a gap is beyond its range.

    References:
        Wang and Shah (2019), Equation 2 and Theorem 2.

    Examples:
        >>> first_probability([[3.0, 2.0], [5.0, 5.0]])
        array([0.75, 0.5 ])
        >>> from fractions import Fraction
        >>> first_probability([Fraction(1, 2), Fraction(3, 2)])
        Fraction(1, 4)
    """
    return odd(as_weight(weight), _gap(scores))


def threshold_probability(scores: Numbers, distribution: GapWeight | Cdf) -> Floats:
    """Probability that the first REVIEWER's item is output, by a random threshold Z.

    It is output iff the difference of the scores exceeds Z, by a fair coin if they are
    equal: (F(d-) + F(d)) / 2. Any Z whose distribution function F is strictly
    increasing beats a fair coin on all increasing scales, symmetric or not. If F is not
    symmetric about 0, the scores must be in the order of the reviewers, an order fixed
    before the items are assigned; in the order of the items the guarantee is lost.

    Args:
        scores: Score by the first reviewer and by the second, shape (..., 2).
        distribution: Distribution function of Z, such as the `cdf` of a distribution
            of scipy.stats, or a GapWeight, which stands for its W. F(d-) is asked of
            the next float below d; for Fractions, F is taken as having no jumps.

    Returns:
        Probabilities, shape (...).

    Raises:
        RatingsError: If a score is not finite or the last axis is not of length 2.
        OptionError: If F is not a distribution function at the scores.

    References:
        Cover (1987), "Pick the largest number"; Wang and Shah (2019), Section 3.1.1.

    Examples:
        >>> from evenhand.ab.weights import rational
        >>> threshold_probability([[3.0, 2.0], [5.0, 5.0]], rational())
        array([0.75, 0.5 ])
        >>> import scipy.stats
        >>> threshold_probability([3.0, 2.0], scipy.stats.norm.cdf).round(4)
        np.float64(0.8413)
    """
    gap = _gap(scores)
    below, at = _limits(distribution, gap)
    wrong = ~((below >= 0) & (below <= at) & (at <= 1))
    if wrong.any():
        raise OptionError(
            f"distribution must be a distribution function, got "
            f"{shown(at[wrong].flat[0])} at {gap[wrong].flat[0]} and "
            f"{shown(below[wrong].flat[0])} just before it."
        )
    return np.asarray((below + at) / 2)[()]


def _gap(scores: Numbers) -> Floats:
    pairs = as_numbers(scores, "score")
    if pairs.ndim == 0 or pairs.shape[-1] != PAIR:
        raise RatingsError(
            f"scores must have two numbers in the last axis, got shape {pairs.shape}."
        )
    return difference(pairs[..., 0], pairs[..., 1])


def _limits(distribution: GapWeight | Cdf, gap: Floats) -> tuple[Floats, Floats]:
    if isinstance(distribution, GapWeight):
        upper = np.asarray((1 + distribution.values(magnitude(gap))) / 2)
        lower = 1 - upper
        return np.where(gap > 0, upper, lower), np.where(gap >= 0, upper, lower)
    require_function("distribution", distribution, "a difference of scores")
    if is_exact(gap):
        at = as_numbers(map_exact(distribution, gap), "distribution")
        return at, at
    below = on_floats(distribution, np.nextafter(gap, -np.inf), "distribution")
    return below, on_floats(distribution, gap, "distribution")
