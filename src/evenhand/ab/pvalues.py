"""Randomisation p-values that are valid whatever increasing scales reviewers use.

Let T not fall when a score of the first item rises and not rise when one of the second
does. If the first item is no better, a reviewer's score of it is at most what the same
reviewer would have given to the second. So, on the scores as they are, T of a redrawn
assignment is at least what it would have been had that assignment been drawn, and the
share of redraws that reach the observed T is at least T's own tail probability. This
holds for every law of the assignment, every number of scores, and with ties.

Scores are compared exactly: a float counts as the shortest decimal that stands for it.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from evenhand._labels import shown
from evenhand._randomness import RNGLike, seed_from, stream
from evenhand.ab._problems import STATISTICS, How, Problem, Statistic, problem
from evenhand.ab._redraws import GIVEN, GIVEN_PANELS
from evenhand.ab.rules import TRIM
from evenhand.errors import ConvergenceError, OptionError

if TYPE_CHECKING:
    from evenhand.ab._numbers import Numbers

__all__ = ["LIMIT", "STATISTICS", "PValues", "exact_p_values", "p_values"]

LIMIT = 200_000
_REDRAWN = {
    "halves": "half of the reviewers to each item",
    "coins": "each reviewer to an item by a fair coin",
    "matched": "one of each pair to each item by a fair coin",
    "panels": "half of the panels to each item",
    GIVEN: "any choice of as many reviewers for each item as there are",
    GIVEN_PANELS: "any choice of as many panels for each item as there are",
}


@dataclass(frozen=True, slots=True)
class PValues:
    """Randomisation p-values of two items, valid under any increasing scales.

    Attributes:
        p_value: Two-sided: twice the smaller of the other two, at most 1.
        p_value_first: Against "the first item is no better".
        p_value_second: Against "the second item is no better".
        exact: Whether every assignment was counted, up to the rounding of floats; with
            very many scores, 1e-20 is added for assignments that were left out.
        samples: Number of sampled assignments, 0 if exact.
        se: Standard error of the one-sided values, the larger of the two; 0 if exact.
        how: "counting" (by a recursion), "enumeration" or "sampling".
        statistic: Name of the statistic; "callable" for a function.
        design: What was redrawn: a design, "given counts" or "given panel counts".
        seed: The seed that repeats the sampling, None if exact.

    Examples:
        >>> p_values([5, 6, 7, 9], [1, 2, 3, 4]).p_value_first == 1 / 70
        True
    """

    p_value: float
    p_value_first: float
    p_value_second: float
    exact: bool
    samples: int
    se: float
    how: How
    statistic: str
    design: str
    seed: int | None = None

    def to_dict(self) -> dict[str, str | float | int | bool | None]:
        """Return all fields.

        Examples:
            >>> p_values([3], [1]).to_dict()["p_value"]
            1.0
        """
        return asdict(self)

    def explanation(self) -> str:
        """Say in one paragraph what the numbers are, and what they are not.

        Examples:
            >>> print(p_values([3], [1]).explanation()[:65])
            The one-sided p-value of an item is the share of the assignments
        """
        sampling = ""
        if not self.exact:
            sampling = (
                f" It is estimated from {self.samples} redraws (standard error at most "
                f"{self.se:.1g}) with the observed assignment counted in, which keeps "
                "it valid."
            )
        return (
            "The one-sided p-value of an item is the share of the assignments that "
            f"could have been drawn ({_REDRAWN[self.design]}) in which the statistic "
            f"({self.statistic}) would have been at least as much in favour of that "
            f"item, with these scores.{sampling} If the assignment was drawn in this "
            "way, a p-value of at most alpha comes up with probability at most alpha "
            "when the item is no better, whatever increasing scales reviewers use. "
            "The two-sided p-value is twice the smaller one-sided one. None of them is "
            "the probability that an item is better. There are scales under which even "
            "a better item gets a p-value of at most alpha with probability at most "
            "alpha: a large p-value does not show that the items are equal."
        )


def p_values(
    first: Numbers,
    second: Numbers,
    *,
    statistic: str | Statistic = "mean",
    design: str | None = None,
    groups: object = None,
    trim: float = TRIM,
    median: str = "upper",
    samples: int | None = None,
    limit: int = LIMIT,
    rng: RNGLike = None,
) -> PValues:
    """Test whether one of two items is better, whatever the reviewers' scales.

    Args:
        first: Scores of the first item.
        second: Scores of the second item.
        statistic: Difference of "mean", "median" or "trimmed" means; "midrank", the
            share of pairs of scores won by the first item, ties half; "pairs", the sum
            of differences within matched pairs; or a function of the two sides, in
            increasing order, which does not fall when a score of the first rises or
            one of the second falls: the caller vouches for that.
        design: How the items were assigned: "halves", "coins", "matched" or "panels";
            None redraws who scored what, given the numbers of scores.
        groups: For "matched" and "panels": label of the pair or panel of each
            reviewer of the first item, then of the second, or the two as a tuple. For
            "matched" None pairs the scores in the order given.
        trim: For "trimmed": share cut at each end.
        median: For "median": "upper", "lower" or "middle".
        samples: Redraws where not all can be counted; None for as many as take about
            a second, 20,000 to 1,000,000.
        limit: Up to so many assignments are enumerated.
        rng: Seed for sampled redraws; not used where the result is exact.

    Returns:
        The p-values. They are 1 if an item has no score, since then there is nothing
        to compare. "halves" with numbers of scores that it cannot give, as after
        dropouts, becomes "given counts"; "panels" likewise; and whoever is left of a
        matched pair counts as sent by a coin. All this supposes that dropping out had
        nothing to do with the item.

    Raises:
        RatingsError: If a score is not finite, a side is not one list, or both are
            empty.
        OptionError: If an option is unknown, out of range or does not fit.
        DesignError: If the groups cannot come from the design.

    References:
        Fisher (1935), The Design of Experiments, chapter 2. Phipson and Smyth (2010),
        for counting the observed assignment among the sampled.

    Examples:
        >>> tested = p_values([7, 9, 4], [6, 3, 5], design="halves")
        >>> tested.p_value_first, tested.how
        (0.2, 'counting')
    """
    test = problem(
        first,
        second,
        statistic=statistic,
        design=design,
        groups=groups,
        trim=trim,
        median=median,
    )
    redrawn = _as_whole("samples", test.n_samples() if samples is None else samples, 1)
    seed = seed_from(rng)
    found = test.shares(_as_whole("limit", limit, 0))
    if found is not None:
        return _result(test, *found)
    tails = test.sampled_tails(redrawn, stream(seed, "redraws"))
    # With the observed assignment counted in, validity does not rest on the sample.
    above, below = ((1 + count) / (1 + redrawn) for count in tails)
    return _result(test, (above, below), "sampling", redrawn, seed)


def exact_p_values(
    first: Numbers,
    second: Numbers,
    *,
    statistic: str | Statistic = "mean",
    design: str | None = None,
    groups: object = None,
    trim: float = TRIM,
    median: str = "upper",
    limit: int = LIMIT,
) -> tuple[Fraction, Fraction]:
    """Return the two one-sided p-values as Fractions.

    Args:
        first: Scores of the first item.
        second: Scores of the second item.
        statistic: As in `p_values`, and so are the other options.
        design: How the items were assigned.
        groups: Labels of pairs or panels.
        trim: For "trimmed".
        median: For "median".
        limit: Up to so many assignments are enumerated.

    Returns:
        The values against "the first item is no better" and "the second is no better".

    Raises:
        ConvergenceError: If there are too many assignments to count.

    Examples:
        >>> exact_p_values([3, 4], [1], design="halves")
        (Fraction(1, 6), Fraction(1, 1))
    """
    test = problem(
        first,
        second,
        statistic=statistic,
        design=design,
        groups=groups,
        trim=trim,
        median=median,
    )
    found = test.exact_tails(_as_whole("limit", limit, 0))
    if found is None:
        raise ConvergenceError(
            f"limit must be larger to go through every assignment, got {limit}. Use "
            "p_values, which samples them."
        )
    one, two = (Fraction(count, test.redraws.total) for count in found[0])
    return (two, one) if test.swapped else (one, two)


def _result(
    test: Problem,
    shares: tuple[float, float],
    how: How,
    samples: int = 0,
    seed: int | None = None,
) -> PValues:
    first, second = shares[::-1] if test.swapped else shares
    spread = max(p * (1 - p) for p in shares)
    return PValues(
        p_value=min(1.0, 2 * min(shares)),
        p_value_first=first,
        p_value_second=second,
        exact=samples == 0,
        samples=samples,
        se=math.sqrt(spread / samples) if samples else 0.0,
        how=how,
        statistic=test.statistic,
        design=test.redraws.name,
        seed=seed,
    )


def _as_whole(name: str, value: object, least: int) -> int:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least:  # type: ignore[operator]  # an integer here
        raise OptionError(
            f"{name} must be an integer of at least {least}, got {shown(value)}."
        )
    return int(value)  # type: ignore[call-overload,no-any-return]  # an integer here
