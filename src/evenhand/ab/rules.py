"""Rules for two items with many scores each, as probabilities for one given pairing.

Every rule takes the scores of the first item, shape (..., k1), and of the second, shape
(..., k2), and returns the probability that the first is output as better: 0, 1/2 or 1
for a rule without coins of its own. Means are compared exactly, a float counting as the
shortest decimal that stands for it, so that rounding never breaks a tie (0.1 and 0.2
have the mean of 0.3 and 0) and the order of the scores never matters.

First comes the canonical problem: two items, two reviewers, one random assignment. No
fixed rule on the two scores beats a fair coin everywhere; a coin biased by the gap of
the scores does. Cover's two-envelope form says the same with a random threshold Z: the
first reviewer's item is output iff the difference of the scores exceeds Z. With Z of
distribution function W the two are one estimator: `threshold_probability` says it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from evenhand.ab.law import from_margin, majority_probability
from evenhand.ab.weights import GapWeight, as_weight, odd, on_floats
from evenhand.arrays import (
    Floats,
    Numbers,
    as_numbers,
    constant,
    difference,
    is_exact,
    map_exact,
)
from evenhand.errors import (
    OptionError,
    RatingsError,
    as_finite,
    must_be,
    quote,
    require_function,
    unknown,
)
from evenhand.method import number

if TYPE_CHECKING:
    from numpy.typing import NDArray

Kept = Callable[[int], tuple[int, int]]
Weight = GapWeight | Callable[[float], float] | str | None
Cdf = Callable[..., float | Fraction]
MEDIANS = ("upper", "lower", "middle")
EACH_MEDIAN = (f"median:{which}" for which in MEDIANS)
STATISTICS = ("trimmed", "mean", "median", *EACH_MEDIAN, "midrank", "sign")
TRIM = 0.2
# With fewer votes p_first, of 16 digits, would hardly show them.
LEAST_EPS = 1e-6
ROUNDING = float(np.finfo(np.float64).eps)
_CHANCES = np.array([Fraction(0), Fraction(1, 2), Fraction(1)], dtype=object)


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
    if isinstance(distribution, GapWeight):
        # W jumps at 0 at most, where the two limits are on either side of 1/2.
        return odd(distribution, gap)
    require_function("distribution", distribution, "a difference of scores")
    if is_exact(gap):
        below = at = as_numbers(map_exact(distribution, gap), "distribution")
    else:
        points = np.nextafter(gap, -np.inf), gap
        below, at = (on_floats(distribution, point, "distribution") for point in points)
    wrong = ~((below >= 0) & (below <= at) & (at <= 1))
    if wrong.any():
        example = f"{at[wrong].flat[0]} at {gap[wrong].flat[0]}"
        raise must_be("distribution", "a distribution function", example)
    return np.asarray((below + at) / 2)[()]


def coin(first: Numbers, second: Numbers) -> Floats:
    """Fair coin, the baseline that looks at nothing.

    Args:
        first: Scores of the first item, shape (..., k1).
        second: Scores of the second item, shape (..., k2).

    Returns:
        1/2, shape (...).

    Raises:
        RatingsError: If a score is not finite.

    Examples:
        >>> coin([9, 9], [1])
        np.float64(0.5)
    """
    first_scores = _as_sides(first, second)[0]
    return _chance(np.zeros(first_scores.shape[:-1], np.int64), first_scores)


def votes(first: Numbers, second: Numbers, *, weight: Weight = None) -> Floats:
    """Majority of canonical votes, one per given pair: the paper's rule.

    Args:
        first: Scores of the first item, shape (..., k1).
        second: Scores of the second item, shape (..., k2); the first min(k1, k2) of
            each are the pairs.
        weight: Increasing map from a gap to [0, 1), rational(1) if None.

    Returns:
        Probabilities, shape (...); exact for Fractions if the weight is.

    Raises:
        RatingsError: If a score is not finite.
        OptionError: If the weight is not one, or a gap is beyond its range.

    References:
        Wang and Shah (2019), Theorem 4.

    Examples:
        >>> votes([3, 2], [2, 2])
        np.float64(0.625)
    """
    first_scores, second_scores = _in_pairs(first, second)
    return majority_probability(
        odd(as_weight(weight), difference(first_scores, second_scores))
    )


def mix(main: Numbers, vote: Numbers, eps: Fraction) -> Floats:
    """Return (1 - eps) main + eps vote; turning both round turns the result round.

    Args:
        main: Probabilities.
        vote: Probabilities.
        eps: Probability of the vote.

    Returns:
        Probabilities, exact if all are; 1 - p for 1 - p, to the last bit.

    Examples:
        >>> mix(1.0, 0.25, Fraction(1, 10))
        np.float64(0.925)
    """
    sides = [as_numbers(side, "probability") for side in (main, vote)]
    if not all(is_exact(side) for side in sides):
        sides = [side.astype(np.float64) for side in sides]
    vote_share, main_share = constant(eps, sides[0]), constant(1 - eps, sides[0])
    leads = [2 * side - 1 for side in sides]
    return from_margin(np.asarray(main_share * leads[0] + vote_share * leads[1]))[()]


def follow_statistic(
    statistic: str, first: Numbers, second: Numbers, *, trim: float = TRIM
) -> Floats:
    """Follow the sign of a statistic.

    Args:
        statistic: "mean"; "trimmed", the mean of the scores that are left when each end
            is cut by a share, rounded down to a number of scores; "median", the upper
            one of an even number, "median:lower" or "median:middle", the mean of the
            two; "midrank", wins over all pairs of a first and a second score; or
            "sign", wins over pairs in the order of the scores.
        first: Scores of the first item, shape (..., k1).
        second: Scores of the second item, shape (..., k2); for "sign" the first
            min(k1, k2) of each are pairs.
        trim: For "trimmed": share cut at each end.

    Returns:
        0, 1/2 (a tie, or a side without scores) or 1, shape (...).

    Raises:
        RatingsError: If a score is not finite.
        OptionError: If there is no such statistic.

    Examples:
        >>> follow_statistic("midrank", [3, 9], [2, 4, 1])
        np.float64(1.0)
    """
    chosen = as_statistic(statistic)
    first_scores, second_scores = _as_sides(first, second)
    if chosen == "sign":
        first_part, second_part = _in_pairs(first_scores, second_scores)
    elif chosen == "midrank":
        first_part, second_part = (
            first_scores[..., :, None],
            second_scores[..., None, :],
        )
    else:
        kept = central_places(chosen, trim)
        first_part, second_part = (
            np.sort(side, axis=-1)[..., slice(*kept(side.shape[-1]))]
            for side in (first_scores, second_scores)
        )
        return _chance(_mean_order(first_part, second_part), first_scores)
    pairs = tuple(range(first_scores.ndim - 1, first_part.ndim))
    wins = (first_part > second_part).sum(axis=pairs) - (first_part < second_part).sum(
        axis=pairs
    )
    return _chance(np.asarray(np.sign(wins)), first_scores)


def central_places(statistic: str, trim: float = TRIM) -> Kept:
    """Return which of an item's scores count, by their number, from and to which place.

    Raises:
        OptionError: If trim is out of range, or there is no such median.

    Examples:
        >>> central_places("trimmed", 0.29)(94_000_000), central_places("mean")(7)
        ((27260000, 66740000), (0, 7))
        >>> central_places("median")(4), central_places("median:middle")(4)
        ((2, 3), (1, 3))
    """
    name, _, median = statistic.partition(":")
    if median and median not in MEDIANS:
        raise OptionError(unknown("median", median, MEDIANS))
    # 0.29 of 100 is 29, though it is 28.999999999999996 in floats.
    share = Fraction(repr(as_share(trim)))

    def places(count: int) -> tuple[int, int]:
        if name == "trimmed":
            return math.floor(share * count), count - math.floor(share * count)
        if name != "median":
            return 0, count
        lower, upper = max(count - 1, 0) // 2, count // 2
        start = lower if median in ("lower", "middle") else upper
        return start, min((lower if median == "lower" else upper) + 1, count)

    return places


def _chance(order: NDArray[np.int64], like: Floats) -> Floats:
    if is_exact(like):
        exact: Floats = _CHANCES[order + 1]
        return exact
    return np.asarray((1 + order) / 2)[()]


def _mean_order(first: Floats, second: Floats) -> NDArray[np.int64]:
    """Say which mean is higher, 1 or -1, or 0 if they are equal; always exactly."""
    counts = first.shape[-1], second.shape[-1]
    if 0 in counts:
        return np.zeros(first.shape[:-1], np.int64)
    if is_exact(first) or counts == (1, 1):
        # As most medians are: two scores are in the order of their shortest decimals.
        first_sum, second_sum = (
            first.sum(axis=-1) * counts[1],
            second.sum(axis=-1) * counts[0],
        )
        above, below = (
            np.asarray(first_sum > second_sum),
            np.asarray(first_sum < second_sum),
        )
        return np.asarray(above.astype(np.int64) - below)
    with np.errstate(over="ignore", invalid="ignore"):
        gap = first.mean(axis=-1) - second.mean(axis=-1)
        size = np.abs(first).mean(axis=-1) + np.abs(second).mean(axis=-1)
        # Farther apart than all rounding of the two sums together; else add decimals.
        clear = np.abs(gap) > 4 * sum(counts) * ROUNDING * size
        order = np.asarray(np.sign(np.where(clear, gap, 0.0)).astype(np.int64))
    for place in map(tuple, np.argwhere(~clear)):
        sides = first[place].tolist(), second[place].tolist()
        first_sum, second_sum = (
            sum(Fraction(repr(score)) for score in side) for side in sides
        )
        order[place] = np.sign(first_sum * counts[1] - second_sum * counts[0])
    return order


as_share = number(
    "trim", "at least 0 and below 0.5", lambda share: 0 <= share < Fraction(1, 2)
)
"""Return the share to cut at each end, checked."""


def as_eps(eps: object) -> Fraction:
    """Return the probability of the votes, checked; a float is its shortest decimal.

    Raises:
        OptionError: If it is not a number from 1e-06 to 1.

    Examples:
        >>> as_eps(0.1)
        Fraction(1, 10)
    """
    value = as_finite("eps", eps)
    if not LEAST_EPS <= value <= 1:
        raise OptionError(
            f"eps must be at least {LEAST_EPS:g} and at most 1, got {quote(eps)}. "
            "Without votes the statistic is on some scales no better than a coin; if "
            "that will do, use its own method."
        )
    return Fraction(repr(float(eps))) if isinstance(eps, float) else value


def as_statistic(statistic: object) -> str:
    """Return the name of a statistic, checked.

    Raises:
        OptionError: If there is none of this name.

    Examples:
        >>> as_statistic("median(lower)")
        'median:lower'
    """
    name = re.sub(r"^median\((?:median=)?(\w+)\)$", r"median:\1", str(statistic))
    if name not in STATISTICS:
        raise OptionError(unknown("statistic", statistic, STATISTICS))
    return name


def _as_sides(first: Numbers, second: Numbers) -> tuple[Floats, Floats]:
    """Return the scores of both items, with the same leading axes."""
    first_scores = np.atleast_1d(as_numbers(first, "first score"))
    second_scores = np.atleast_1d(as_numbers(second, "second score"))
    if is_exact(first_scores) != is_exact(second_scores):
        first_scores, second_scores = (
            first_scores.astype(np.float64),
            second_scores.astype(np.float64),
        )
    shape = np.broadcast_shapes(first_scores.shape[:-1], second_scores.shape[:-1])
    first_scores = np.broadcast_to(first_scores, (*shape, first_scores.shape[-1]))
    return first_scores, np.broadcast_to(
        second_scores, (*shape, second_scores.shape[-1])
    )


def _in_pairs(first: Numbers, second: Numbers) -> tuple[Floats, Floats]:
    """Return the first scores of each item, as many as both have."""
    first_scores, second_scores = _as_sides(first, second)
    pairs = min(first_scores.shape[-1], second_scores.shape[-1])
    return first_scores[..., :pairs], second_scores[..., :pairs]


def _gap(scores: Numbers) -> Floats:
    pairs = as_numbers(scores, "score")
    if pairs.shape[-1:] != (2,):
        raise RatingsError(
            f"scores must have two numbers in the last axis, got shape {pairs.shape}."
        )
    return difference(pairs[..., 0], pairs[..., 1])
