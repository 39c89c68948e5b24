"""How often a rule is right at least, on scores in a range: for planning.

The bounds are functions of what nobody knows, by how much each reviewer would score the
better item higher. They are no confidence in an answer, and no certificate has them.

Reviewers are split into halves of k. `mean`: Serfling (1974), with the mean effect.
Trimmed means, g scores cut at each end: the difference is at least t more than that of
the scores of the worse item alone, which is symmetric about 0. One exchange between the
halves moves the latter by at most b = 2 R / (k - 2 g), the i-th draw without
replacement its conditional mean by at most b k / (2 k - i), and Azuma's inequality adds
up their squares. Votes: each of k pairs is right with a probability of at least
(W(R) + W(2 t - R)) / 2, since the two gaps of a pair add up to 2 t at least, none is
beyond R, and weights are concave; the votes of different pairs are independent.

References:
    Serfling (1974), Probability inequalities for the sum in sampling without
    replacement. Azuma (1967), Weighted sums of certain dependent random variables.
    Wang and Shah (2019), Theorem 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.ab.weights import GapWeight, odd
from evenhand.errors import as_positive, as_whole, must_be
from evenhand.lazy import lazy
from evenhand.method import as_method

if TYPE_CHECKING:
    from scipy import special

    from evenhand.ab import methods
    from evenhand.ab.methods import Rule
    from evenhand.arrays import Floats
else:
    methods = lazy("evenhand.ab.methods")
    special = lazy("scipy.special")


class Scope(NamedTuple):
    """What a bound is for; numbers, or an array of each.

    Attributes:
        per_item: k, the scores of each item, and the pairs of votes.
        score_range: R, the largest score less the smallest that anybody would give.
        least_effect: t, the least by which a reviewer scores the better item higher.
        mean_effect: The mean of that over all reviewers.
    """

    per_item: int
    score_range: float | Floats
    least_effect: float | Floats
    mean_effect: float | Floats


def right_at_least(
    method: str | Rule,
    per_item: int,
    *,
    score_range: float,
    effect: float,
    mean_effect: float | None = None,
) -> float:
    """Bound the probability that a rule outputs the better of two items, from below.

    Reviewers are assigned in halves; for "votes" also in matched pairs or by coins,
    with `per_item` pairs formed. Not in panels.

    Args:
        method: A rule of `compare`; those without a bound of their own have one half.
        per_item: Scores of each item.
        score_range: Largest minus smallest score that anybody would give.
        effect: By how much every reviewer would score the better item higher, at least.
        mean_effect: By how much on average, for rules that follow the mean; `effect` if
            left out.

    Returns:
        The probability, at least one half. Plan with it; it is no confidence.

    Raises:
        OptionError: If a number is out of range.

    Examples:
        >>> round(right_at_least("mean", 40, score_range=4, effect=1), 3)
        0.913
        >>> round(right_at_least("guarded", 160, score_range=4, effect=1), 3)
        0.955
    """
    k = as_whole("per_item", per_item, 1)
    width = float(as_positive("score_range", score_range))
    average = effect if mean_effect is None else mean_effect
    if not 0 <= effect <= average <= width:
        order = "from 0 to mean_effect, and both at most score_range"
        raise must_be("effect", order, effect)
    rule = as_method(method, methods.Rule)
    return float(rule.right_at_least(Scope(k, width, effect, average)))


def of_means(scope: Scope) -> Floats:
    """Bound the mean, by the mean effect.

    Examples:
        >>> of_means(Scope(40, 1.0, 0.0, 0.5)).round(5)
        np.float64(0.99994)
    """
    k, share = scope.per_item, np.divide(scope.mean_effect, scope.score_range)
    return np.asarray(np.maximum(0.5, 1 - np.exp(-(k**2) / (k + 1) * share**2)))[()]


def of_trimmed_means(scope: Scope, cut: int) -> Floats:
    """Bound the trimmed mean, by the least effect, or the mean if nothing is cut.

    The mean's own bound is false where scores are cut: of 80 reviewers let 12 go from 0
    to R and the others give R / 2 to both; the error is .4426, not at most .4156.

    Examples:
        >>> of_trimmed_means(Scope(40, 1.0, 0.5, 0.5), 8).round(4)
        np.float64(0.9702)
    """
    if not cut:
        return of_means(scope)
    k, share = scope.per_item, np.divide(scope.least_effect, scope.score_range)
    exponent = (k - 2 * cut) ** 2 / (k + 1) * share**2
    return np.asarray(np.maximum(0.5, 1 - np.exp(-exponent)))[()]


def of_votes(scope: Scope, weight: GapWeight) -> Floats:
    """Bound the majority of votes, by the least effect.

    Examples:
        >>> from evenhand.ab.weights import linear
        >>> of_votes(Scope(1, 4.0, 1.0, 1.0), linear(4))
        np.float64(0.625)
    """
    if weight.checked_on_grid or "points" in repr(weight):
        # It may not be concave. Theorem 4 leaves a half.
        return np.full_like(np.asarray(scope.least_effect, dtype=np.float64), 0.5)
    k, lean = scope.per_item, least_lean(scope, weight)
    tails = [special.bdtrc(wins, k, lean) for wins in ((k - 1) // 2, k // 2)]
    return np.asarray(sum(tails) / 2)[()]


def least_lean(scope: Scope, weight: GapWeight) -> Floats:
    """Return how often one vote is right at least; exact on Fractions.

    Examples:
        >>> from fractions import Fraction
        >>> from evenhand.ab.weights import rational
        >>> quarter, one = np.array([Fraction(1, 4), Fraction(1)])
        >>> least_lean(Scope(1, one, quarter, quarter), rational())
        Fraction(13, 24)
    """
    width, twice = scope.score_range, 2 * np.asarray(scope.least_effect)
    sides = odd(weight, width), odd(weight, twice - width)
    return np.asarray((sides[0] + sides[1]) / 2)[()]
