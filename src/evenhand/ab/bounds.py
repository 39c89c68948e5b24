"""How often the mean can err when all scores lie in a declared range.

Half of 2k reviewers score each item, drawn at random, and every score lies in a range
of width R. Let t > 0 be the mean over reviewers of how much higher each of them would
score the better item. Then the mean of the better item is not the higher one with
probability at most exp(-(k**2 / (k + 1)) (t / R)**2), whatever the scales are: the
difference of means is t plus what the reviewers of one item, drawn without replacement,
are off the average of all in the sum of the two scores that each would give.
"""

from __future__ import annotations

import math

from evenhand.ab.numbers import as_finite, as_positive, as_whole
from evenhand.errors import OptionError, shown

ERROR = 0.05


def mean_error_bound(per_item: int, *, score_range: float, effect: float) -> float:
    """Bound the probability that the mean prefers the worse item.

    Args:
        per_item: Number of reviewers k of each item, drawn as halves of 2k.
        score_range: Width R of the range of all scores.
        effect: How much higher reviewers would score the better item, on average over
            all 2k; at most score_range.

    Returns:
        A probability that is not exceeded under any increasing scales; 1 says nothing.

    Raises:
        OptionError: If a value is out of range.

    References:
        Wang and Shah (2019) leave such bounds open. Serfling (1974), Corollary 1.1, for
        sums in sampling without replacement.

    Examples:
        >>> round(mean_error_bound(20, score_range=4, effect=1), 3)
        0.304
    """
    count = as_whole("per_item", per_item, 1)
    width = float(as_positive("score_range", score_range))
    if not 0 <= as_finite("effect", effect) <= width:
        raise OptionError(
            f"effect must be a number from 0 to score_range = {score_range}, got "
            f"{shown(effect)}."
        )
    return _bound(count, float(effect) / width)


def effect_for_error(
    per_item: int, *, score_range: float, error: float = ERROR
) -> float:
    """Return the smallest mean effect at which the mean rule is bound to err rarely.

    Args:
        per_item: Number of reviewers k of each item, drawn as halves of 2k.
        score_range: Width R of the range of all scores.
        error: Probability of an error that is allowed, above 0 and below 1.

    Returns:
        The effect from which on `mean_error_bound` is at most `error`. A value above
        score_range says that the bound is empty, since no effect is that large: so few
        reviewers cannot have this bound.

    Raises:
        OptionError: If a value is out of range.

    Examples:
        >>> round(effect_for_error(20, score_range=4), 2)
        1.59
        >>> effect_for_error(2, score_range=4) > 4
        True
    """
    count = as_whole("per_item", per_item, 1)
    width = float(as_positive("score_range", score_range))
    if not 0 < as_finite("error", error) < 1:
        raise OptionError(f"error must be above 0 and below 1, got {error!r}.")
    share = math.sqrt(-math.log(error) * (count + 1)) / count
    effect = share * width
    # Rounding may leave the last bit on the wrong side.
    while _bound(count, effect / width) > error:
        effect = math.nextafter(effect, math.inf)
    return effect


def _bound(count: int, share: float) -> float:
    return math.exp(-(count * count / (count + 1)) * share * share)
