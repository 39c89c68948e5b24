"""Two items without simulation: the exact chance that a rule is right.

Everything random is integrated out: the assignment of the reviewers, the pairing of
their scores, the rule's own coins, and the values of the items where they are uniform.
Fractions go in and out wherever the answer is a fraction.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from evenhand._labels import shown
from evenhand._outcomes import HALF
from evenhand.ab import rules
from evenhand.ab._numbers import Floats, Numbers, as_numbers, is_exact
from evenhand.errors import DesignError, OptionError, RatingsError, unknown
from evenhand.lab import _matchings as matchings
from evenhand.lab._uniform import Rule, Success, Weight, as_rule, averaged, sampled
from evenhand.lab.scales import scales

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand._randomness import RNGLike
    from evenhand.designs import Sides

__all__ = ["Success", "biases", "sampled_success", "success", "uniform_success"]

SHIFTS = (
    "identity",
    "one-biased",
    "incremental",
    "incremental-one-biased",
    "disjoint",
)
SAMPLES = 100_000
FEWEST = 2
PAIRED = ("votes", "sign")


def success(
    method: str,
    better: Numbers,
    worse: Numbers,
    *,
    weight: Weight = None,
    median: str = "upper",
    trim: float = rules.TRIM,
    eps: float | Fraction = rules.EPS,
    design: Mapping[Sides, Fraction] | None = None,
) -> float | Fraction:
    """Exact chance that a rule names the better of two items of given values.

    Args:
        method: One of the rules of `compare`.
        better: Score that each reviewer would give to the better item.
        worse: Score that each reviewer would give to the worse item.
        weight: For "votes" and "guarded", how a gap in scores weighs.
        median: For "median", which one.
        trim: For "trimmed" and "guarded", the share cut at each end.
        eps: For "guarded", the probability of the votes.
        design: Law of the assignment, as the `enumerate_` functions of
            `evenhand.designs` return it, with the better item as item 0. Without it,
            half of the reviewers get each item.

    Returns:
        The probability; a Fraction for Fractions, if the weight has an exact form.

    Raises:
        RatingsError: If a reviewer would score the worse item higher.
        DesignError: If there is an odd number of reviewers, or the design is for
            another number.
        OptionError: If an option is bad, or there are too many assignments.

    References:
        Wang and Shah (2019), Theorems 2, 3 and 4.

    Examples:
        >>> success("votes", [Fraction(2), Fraction(9)], [Fraction(1), Fraction(6)])
        Fraction(47, 90)
        >>> success("mean", [2, 9], [1, 6])
        0.5
    """
    rule = as_rule(method, weight=weight, median=median, trim=trim, eps=eps)
    upper, lower = _as_scores(better, worse)
    if design is not None:
        return _over_design(rule, upper, lower, design)
    _require_even(len(upper))
    return _over_everything(rule, upper, lower)


def _over_everything(rule: Rule, upper: Floats, lower: Floats) -> float | Fraction:
    if rule.method == "guarded":
        return rule.mixed(*(_over_everything(r, upper, lower) for r in rule.parts))
    if rule.method == "coin":
        return HALF if is_exact(upper) else float(HALF)
    if rule.method in PAIRED:
        pairs = list(zip(upper.tolist(), lower.tolist(), strict=True))
        kinds = sorted(set(pairs))
        sizes = [pairs.count(kind) for kind in kinds]
        table = np.array(kinds, dtype=upper.dtype)
        terms = rule.pair_terms(table[:, 0], table[:, 1])
        if matchings.matchings_fit(sizes, rule.points, fractions=is_exact(terms)):
            return (1 + matchings.majority_margin(terms, sizes)) / 2
    elif matchings.halves_fit([1] * len(upper)):
        return _over_halves(rule, upper, lower)
    raise OptionError(
        f"reviewers must be few for an exact answer, got {len(upper)}. Use floats for "
        "up to 20 of them, or simulate."
    )


def biases(spec: str, n_reviewers: int) -> tuple[Fraction, ...]:
    """Return what each reviewer adds to the value, for scales that only add.

    Args:
        spec: "identity", one of the paper's three families "one-biased",
            "incremental" and "incremental-one-biased", or "disjoint".
        n_reviewers: Number of reviewers.

    Returns:
        The biases.

    Raises:
        OptionError: If the scales are unknown or do not merely add.

    Examples:
        >>> [int(bias) for bias in biases("incremental-one-biased", 4)]
        [0, 1, 2, 6]
    """
    if spec not in SHIFTS:
        raise OptionError(unknown("shifting scale", spec, SHIFTS))
    zeros = np.full((n_reviewers, 1), Fraction(0), dtype=object)
    return tuple(scales(spec).apply(zeros, np.empty((n_reviewers, 0)))[:, 0].tolist())


def uniform_success(
    method: str,
    shifts: Sequence[Fraction | int],
    *,
    weight: Weight = None,
    median: str = "upper",
    trim: float = rules.TRIM,
    eps: float | Fraction = rules.EPS,
    samples: int = SAMPLES,
    rng: RNGLike = None,
) -> Success:
    """Chance that a rule is right, for values uniform on [0, 1] and scales that add.

    Reviewer j scores x + shifts[j]; half of the reviewers get each item. Only the gap
    between the two values matters, and it is integrated out with everything else.

    Args:
        method: One of the rules of `compare`.
        shifts: What each reviewer adds, an even number of reviewers.
        weight: For "votes" and "guarded", how a gap in scores weighs.
        median: For "median", which one.
        trim: For "trimmed" and "guarded", the share cut at each end.
        eps: For "guarded", the probability of the votes.
        samples: How many pairings or assignments are sampled where there are too many.
        rng: Seed for these samples.

    Returns:
        The chance; exact for every rule if few reviewers differ or there are at most
        14 of them, for votes up to 20, for mean (of biases on a grid) and the upper and
        lower median always.

    Raises:
        DesignError: If there is an odd number of reviewers.
        OptionError: If an option is bad.

    References:
        Wang and Shah (2019), Section 4.1.

    Examples:
        >>> uniform_success("mean", biases("incremental", 4)).probability
        Fraction(2, 3)
        >>> round(uniform_success("votes", biases("one-biased", 100)).improvement, 3)
        75.309
    """
    rule = as_rule(method, weight=weight, median=median, trim=trim, eps=eps)
    _require_even(len(shifts))
    _require_trials("samples", samples)
    return averaged(rule, [Fraction(shift) for shift in shifts], samples, rng)


def sampled_success(
    method: str,
    shifts: Sequence[Fraction | int],
    *,
    weight: Weight = None,
    median: str = "upper",
    trim: float = rules.TRIM,
    eps: float | Fraction = rules.EPS,
    trials: int,
    rng: RNGLike = None,
) -> Success:
    """Estimate `uniform_success` by plain trials, with the rule's coins integrated out.

    Args:
        method: One of the rules of `compare`.
        shifts: What each reviewer adds, an even number of reviewers.
        weight: For "votes" and "guarded", how a gap in scores weighs.
        median: For "median", which one.
        trim: For "trimmed" and "guarded", the share cut at each end.
        eps: For "guarded", the probability of the votes.
        trials: Number of trials, at least 2.
        rng: Seed, generator or None. A seed gives every method the same trials.

    Returns:
        The estimate with its standard error.

    Raises:
        DesignError: If there is an odd number of reviewers.
        OptionError: If an option is bad.

    Examples:
        >>> found = sampled_success("mean", biases("identity", 4), trials=100, rng=7)
        >>> found.probability
        1.0
    """
    rule = as_rule(method, weight=weight, median=median, trim=trim, eps=eps)
    _require_even(len(shifts))
    _require_trials("trials", trials)
    return sampled(rule, [Fraction(shift) for shift in shifts], trials, rng)


def _over_design(
    rule: Rule, better: Floats, worse: Floats, design: Mapping[Sides, Fraction]
) -> float | Fraction:
    total: float | Fraction = Fraction(0)
    for sides, share in design.items():
        if len(sides) != len(better):
            raise DesignError(
                f"design must be for {len(better)} reviewers, got one for {len(sides)}."
            )
        got = np.array(sides)
        chance = rule.over_pairings(better[got == 0], worse[got == 1])
        exact = isinstance(chance, Fraction)
        total += chance * (share if exact else float(share))
    return total


def _over_halves(rule: Rule, better: Floats, worse: Floats) -> float | Fraction:
    everyone = set(range(len(better)))
    chosen = list(itertools.combinations(range(len(better)), len(better) // 2))
    firsts = np.array(chosen)
    seconds = np.array([sorted(everyone - set(half)) for half in chosen])
    chances = np.asarray(rule.given(better[firsts], worse[seconds]))
    if is_exact(chances):
        return Fraction(sum(chances.tolist()), len(chosen))
    return math.fsum(chances.tolist()) / len(chosen)


def _as_scores(better: Numbers, worse: Numbers) -> tuple[Floats, Floats]:
    upper, lower = as_numbers(better, "score"), as_numbers(worse, "score")
    if upper.ndim != 1 or upper.shape != lower.shape or len(upper) == 0:
        raise RatingsError(
            "better and worse must have one score of each reviewer, got shapes "
            f"{upper.shape} and {lower.shape}."
        )
    if is_exact(upper) != is_exact(lower):
        upper, lower = upper.astype(np.float64), lower.astype(np.float64)
    wrong = np.flatnonzero(upper < lower)
    if len(wrong):
        reviewer = int(wrong[0])
        raise RatingsError(
            f"better must be scored at least as high as worse, got "
            f"{shown(upper[reviewer])} and {shown(lower[reviewer])} by reviewer "
            f"{reviewer}."
        )
    return upper, lower


def _require_even(count: int) -> None:
    if count == 0 or count % 2:
        raise DesignError(
            f"reviewers must be even in number for two equal halves, got {count}."
        )


def _require_trials(name: str, count: int) -> None:
    if count < FEWEST:
        raise OptionError(
            f"{name} must be at least {FEWEST} for a standard error, got {count!r}."
        )
