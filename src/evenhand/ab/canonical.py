"""The canonical problem: two items, two reviewers, one random assignment.

Each reviewer scores one item on a private increasing scale. No fixed rule on the two
scores beats a fair coin everywhere; a coin biased by the gap of the scores does.
Cover's two-envelope form says the same with a random threshold Z: the first reviewer's
item is output iff the difference of the scores exceeds Z. With Z of distribution
function W the two are one estimator: `threshold_probability` says it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from evenhand.ab.numbers import (
    Floats,
    Numbers,
    as_numbers,
    difference,
    is_exact,
    magnitude,
    map_exact,
)
from evenhand.ab.weights import GapWeight, as_weight, odd, on_floats
from evenhand.errors import OptionError, RatingsError, shown
from evenhand.randomness import RNGLike, seed_from, stream, uniforms

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

PAIR = 2


@runtime_checkable
class Distribution(Protocol):
    """A distribution of the threshold, such as a frozen one of scipy.stats."""

    def cdf(self, x: Floats) -> ArrayLike:
        """Return P(Z <= x)."""
        ...


Weight = GapWeight | Callable[[float], float] | str | None
Cdf = Callable[..., float | Fraction]
Threshold = GapWeight | Distribution | Cdf


@dataclass(frozen=True, slots=True, repr=False)
class Decision:
    """Which of two items was output as better.

    Attributes:
        winner: 0 for the first item, 1 for the second.
        p_first: Probability, given the scores, that the first is output.
        gap: First score minus second.
    """

    winner: int
    p_first: float
    gap: float

    def to_dict(self) -> dict[str, int | float]:
        """Return the fields as plain numbers."""
        return asdict(self)

    def __repr__(self) -> str:
        return f"item {self.winner} (p_first={self.p_first:.3f}, gap={self.gap:+.3g})"


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


def decide(scores: Numbers, *, weight: Weight = None, rng: RNGLike = None) -> Decision:
    """Decide between two items by one coin.

    Args:
        scores: Scores of the two items.
        weight: Increasing map from a gap to [0, 1), rational(1) if None.
        rng: Seed, Generator or SeedSequence.

    Returns:
        The decision.

    Raises:
        RatingsError: If there are not exactly two finite scores.

    References:
        Wang and Shah (2019), Theorem 2.

    Examples:
        >>> decide([3.0, 2.0], rng=2)
        item 0 (p_first=0.750, gap=+1)
    """
    probability, gap = first_probability(scores, weight=weight), _gap(scores)
    if gap.ndim:
        raise RatingsError(
            f"scores must be two numbers to decide once, got shape {(*gap.shape, 2)}. "
            "Use first_probability for many pairs."
        )
    coin = uniforms(stream(seed_from(rng), "canonical"), 1)[0]
    return Decision(int(coin >= probability), float(probability), float(gap))


def threshold_probability(
    scores: Numbers,
    distribution: Threshold,
    *,
    left: Cdf | None = None,
) -> Floats:
    """Probability that the first REVIEWER's item is output, by a random threshold Z.

    It is output iff the difference of the scores exceeds Z, by a fair coin if they are
    equal: (F(d-) + F(d)) / 2. Any Z whose distribution function F is strictly
    increasing beats a fair coin on all increasing scales, symmetric or not. If F is not
    symmetric about 0, the scores must be in the order of the reviewers, an order fixed
    before the items are assigned; in the order of the items the guarantee is lost.

    Args:
        scores: Score by the first reviewer and by the second, shape (..., 2).
        distribution: Distribution of Z: a distribution function, an object with a `cdf`
            (and a `pmf`, if discrete) such as scipy.stats has, or a GapWeight, which
            stands for its W.
        left: For a distribution function, its limits from the left, F(d-). Without
            it, the next float below d is asked; for Fractions, F is taken as having no
            jumps.

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
        >>> threshold_probability([3.0, 2.0], scipy.stats.norm()).round(4)
        np.float64(0.8413)
    """
    gap = _gap(scores)
    below, at = _limits(distribution, gap, left)
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


def _limits(
    distribution: Threshold, gap: Floats, left: Cdf | None
) -> tuple[Floats, Floats]:
    if isinstance(distribution, GapWeight):
        upper = np.asarray((1 + distribution.values(magnitude(gap))) / 2)
        lower = 1 - upper
        return np.where(gap > 0, upper, lower), np.where(gap >= 0, upper, lower)
    if isinstance(distribution, Distribution):
        points = gap.astype(np.float64)
        at = on_floats(distribution.cdf, points, "cdf")
        mass = getattr(distribution, "pmf", None)
        if mass is None:
            return at, at
        return np.maximum(at - on_floats(mass, points, "pmf"), 0.0), at
    if not callable(distribution):
        raise OptionError(
            "distribution must be a distribution function, a scipy.stats distribution "
            f"or a gap weight, got {shown(distribution)}."
        )
    if is_exact(gap):
        at = _on_fractions(distribution, gap)
        return (at if left is None else _on_fractions(left, gap)), at
    at = on_floats(distribution, gap, "distribution")
    if left is None:
        below = np.nextafter(gap, -np.inf)
        return on_floats(distribution, below, "distribution"), at
    return on_floats(left, gap, "left"), at


def _on_fractions(function: Callable[..., object], gap: Floats) -> Floats:
    return as_numbers(map_exact(function, gap), "distribution")
