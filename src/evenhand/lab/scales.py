"""Scales: how each reviewer turns the value of an item into a score.

A family is named by a short text. "affine" gives each reviewer a random slope and
shift; "affine > levels:5" rounds the result to a form with five marks. All families
increase, and those that the adversary starts from are exact on Fractions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from evenhand.arrays import Floats
from evenhand.errors import OptionError, unknown

Apply: TypeAlias = Callable[[Floats, np.random.Generator], Floats]
Span: TypeAlias = tuple[float, float]
Known: TypeAlias = Mapping[str, tuple[tuple[float | None, ...], Callable[..., Any]]]

UNIT: Span = (0, 1)
THEN = ">"
LARGEST_POWER = 500
FEWEST_LEVELS = 2


class RuleError(Exception):
    """A rule that is broken, in words."""


def require(rule: str, *, holds: bool) -> None:
    """Refuse numbers that break a rule.

    Raises:
        RuleError: If it does not hold.
    """
    if not holds:
        raise RuleError(rule)


def read(what: str, text: str, makers: Known) -> Any:  # noqa: ANN401 - what it names
    """Read a text such as "affine:0:1": a name, and numbers after colons.

    Args:
        what: What it is, for messages.
        text: The text.
        makers: From names to the numbers if they are left out, None for those that must
            not be, and to what turns numbers into what the text names.

    Raises:
        OptionError: If the name is unknown or a number is out of range.

    Examples:
        >>> read("noise", "normal:1/4", {"normal": ((None, 2), max)})
        2
    """
    name, *numbers = [text] if text in makers else text.split(":")
    if name not in makers:
        raise OptionError(unknown(what.removesuffix("s"), name, makers))
    usual, maker = makers[name]
    few, many = usual.count(None), len(usual)
    try:
        count = f"at least {few} and at most {many} numbers after {name!r}"
        require(count, holds=few <= len(numbers) <= many)
        return maker(*map(_number, numbers), *usual[len(numbers) :])
    except RuleError as rule:
        raise OptionError(f"{what} must have {rule}, got {text!r}.") from None


def _number(text: str) -> float:
    try:
        # A fraction, so that "1/3" is a number and "inf" is none.
        return float(Fraction(text))
    except (ValueError, ZeroDivisionError, OverflowError):
        raise RuleError(f"finite numbers, not {text!r}") from None


class Scales(NamedTuple):
    """A family of increasing scales, one for each reviewer.

    All but "levels" give unequal scores to unequal values.

    Attributes:
        name: The text that gives it again.
        apply: From values, shape (..., reviewers, items), and where chance comes from,
            to scores of the same shape.
    """

    name: str
    apply: Apply


def scales(spec: str, *, span: Span = UNIT) -> Scales:
    """Return the scales that a text names.

    Values in the span are what `u` below runs over from 0 to 1; beyond it the scales go
    on increasing. Numbers after a colon may be left out.

    - "identity": the value itself.
    - "one-biased": the last of m reviewers adds m (the paper's Figure 1a).
    - "incremental": reviewer j = 1, ..., m adds j (Figure 1b).
    - "incremental-one-biased": reviewer j adds j - 1, the last m (m - 1) / 2
      (Figure 1c).
    - "disjoint": reviewer j adds so much that no two share a range.
    - "bias:0.5": a normal shift of mean 0 with this SD, drawn for each reviewer.
    - "affine:0:1:0:1": a random slope and a random shift, each between two numbers.
    - "power:0.25:4": u to a random power; its logarithm is uniform.
    - "levels:K:LOW:HIGH": the nearest of K evenly spaced marks from LOW to HIGH, by
      default the ends of the span.
    - "adversary": sees the true ranking, and makes every comparison of two reviewers'
      scores, and of their means, say who scored, not what was scored: each reviewer's
      range is four times as high as the one's before, and only ranks count in it.
      "adversary:spread": stretched about the middle of the true ranking instead, so
      that who scores higher at the top scores lower at the bottom; that is what
      re-using reviewers stumbles over.

    "A > B" applies A, then B.

    Args:
        spec: The text.
        span: Between which numbers the values lie, or most of them.

    Returns:
        The scales.

    Raises:
        OptionError: If a name is unknown or a number is out of range.

    Examples:
        >>> rng = np.random.default_rng(7)
        >>> scales("incremental").apply(np.array([[1.0, 2.0]] * 2), rng)
        array([[2., 3.],
               [3., 4.]])
        >>> scales("affine > levels:5").name
        'affine > levels:5'
    """
    steps = [
        ":".join(part.strip() for part in step.split(":")) for step in spec.split(THEN)
    ]
    makers = families(span)
    applied: list[Apply] = [read("scales", step, makers) for step in steps]

    def apply(values: Floats, rng: np.random.Generator) -> Floats:
        for transform in applied:
            values = transform(values, rng)
        return values

    return Scales(f" {THEN} ".join(steps), apply)


def families(span: Span = UNIT) -> Known:
    """Return what a text may name, laid out over the range of the values.

    Examples:
        >>> families()["power"][0]
        (0.25, 4)
    """
    fixed: dict[str, Callable[[int], Sequence[float]]] = {
        "identity": lambda m: [0] * m,
        "one-biased": lambda m: [0] * (m - 1) + [m],
        "incremental": lambda m: range(1, m + 1),
        "incremental-one-biased": lambda m: [*range(m - 1), m * (m - 1) // 2],
        # Twice the width, so that values somewhat beyond the span stay apart as well.
        "disjoint": lambda m: [2 * j * (span[1] - span[0]) for j in range(m)],
    }
    return {
        **{
            name: ((), functools.partial(_add, offsets))
            for name, offsets in fixed.items()
        },
        "bias": ((0.5,), _bias),
        "affine": ((0, 1, 0, 1), _affine),
        "power": ((0.25, 4), functools.partial(_power, span)),
        "levels": ((None, *span), _levels),
        "adversary": ((), lambda: _adversary),
        "adversary:spread": ((), lambda: functools.partial(_adversary, spread=True)),
    }


def _add(shifts: Callable[[int], Sequence[float]]) -> Apply:
    """Let reviewer j of m add a fixed number."""
    return lambda values, _: (
        values + np.array([shifts(values.shape[-2])], dtype=values.dtype).T
    )


def _each(values: Floats) -> tuple[int, ...]:
    """Return the shape of one number for each reviewer."""
    return (*values.shape[:-1], 1)


def _bias(sd: float) -> Apply:
    require("an SD of at least 0", holds=sd >= 0)
    return lambda values, rng: values + sd * rng.standard_normal(_each(values))


def _affine(least: float, most: float, low: float, high: float) -> Apply:
    positive = 0 <= least <= most and most > 0
    require("slopes of at least 0 and not all 0", holds=positive)
    require("a lower shift before the higher one", holds=low <= high)

    def apply(values: Floats, rng: np.random.Generator) -> Floats:
        # Counted from the upper end, a slope between 0 and 1 is never 0.
        slope = most - rng.random(_each(values)) * (most - least)
        shift = low + rng.random(_each(values)) * (high - low)
        return np.asarray(slope * values + shift)

    return apply


def _power(span: Span, least: float, most: float) -> Apply:
    require("powers above 0, the lower first", holds=0 < least <= most)
    start, width = span[0], span[1] - span[0]

    def apply(values: Floats, rng: np.random.Generator) -> Floats:
        unit = (values - start) / width
        exponent = least * (most / least) ** rng.random(_each(values))
        with np.errstate(over="ignore"):
            return start + width * np.sign(unit) * np.abs(unit) ** exponent

    return apply


def _levels(number: float, low: float, high: float) -> Apply:
    whole = number % 1 == 0 and number >= FEWEST_LEVELS
    require(f"a whole number of at least {FEWEST_LEVELS} levels", holds=whole)
    require("a lower end before the higher one", holds=low < high)
    step = (high - low) / (number - 1)
    return lambda values, _: (
        low + step * (np.clip((values - low) / step + 0.5, 0, number - 1) // 1)
    )


def _adversary(
    values: Floats, _: np.random.Generator, *, spread: bool = False
) -> Floats:
    m, n = values.shape[-2:]
    # Four times as high, so that all lower ones together never make up for one; among
    # too many reviewers for the floats, some share a range.
    powers = [4 ** (j * min(m, LARGEST_POWER) // m) for j in range(m)]
    size = np.array(powers, dtype=values.dtype)[:, None]
    # How many of the same reviewer's values are lower.
    lower = [np.searchsorted(np.sort(row), row) for row in values.reshape(-1, n)]
    place = np.array(lower).reshape(values.shape).astype(values.dtype)
    return np.asarray(size * (2 * place - (n - 1) if spread else place + 2 * n))
