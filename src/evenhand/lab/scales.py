"""Scales: how each reviewer turns the value of an item into a score.

A family is named by a short text. "affine" gives each reviewer a random slope and
shift; "affine > levels:5" rounds the result to a form with five marks. All families
increase, and those that the adversary starts from are exact on Fractions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np

from evenhand.arrays import Floats
from evenhand.errors import OptionError, unknown

Apply: TypeAlias = Callable[[Floats, np.random.Generator], Floats]
Span: TypeAlias = tuple[float, float]

UNIT: Span = (0, 1)
THEN = ">"
LARGEST_POWER = 500
FEWEST_LEVELS = 2


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
    steps = [_family(step, span) for step in spec.split(THEN)]

    def apply(values: Floats, rng: np.random.Generator) -> Floats:
        for step in steps:
            values = step.apply(values, rng)
        return values

    return Scales(f" {THEN} ".join(step.name for step in steps), apply)


def _family(text: str, span: Span) -> Scales:
    name, *given = (part.strip() for part in text.split(":"))
    if name not in FAMILIES:
        raise OptionError(unknown("scale", name, FAMILIES))
    spec = ":".join([name, *given])
    return Scales(spec, FAMILIES[name](spec, given, span))


def numbers(what: str, spec: str, given: Sequence[str]) -> list[float]:
    """Read the numbers of a text such as "affine:0:1".

    Raises:
        OptionError: If one is not a finite number.

    Examples:
        >>> numbers("values", "uniform:0:0.5", ["0", "0.5"])
        [0.0, 0.5]
    """
    found = []
    for text in given:
        try:
            # A fraction, so that "1/3" is a number and "inf" is none.
            found.append(float(Fraction(text)))
        except (ValueError, ZeroDivisionError, OverflowError):
            raise OptionError(
                f"{what} must have finite numbers, got {text!r} in {spec!r}."
            ) from None
    return found


def require(what: str, rule: str, spec: str, *, holds: bool) -> None:
    """Refuse a text that breaks a rule.

    Examples:
        >>> require("noise", "one SD", "normal:1:2", holds=False)
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: noise must have one SD, got 'normal:1:2'.
    """
    if not holds:
        raise OptionError(f"{what} must have {rule}, got {spec!r}.")


_require = functools.partial(require, "scales")


def _numbers(spec: str, given: Sequence[str], usual: Sequence[float]) -> list[float]:
    if len(given) > len(usual):
        raise OptionError(
            f"scales must have at most {len(usual)} numbers after "
            f"{spec.partition(':')[0]!r}, got {spec!r}."
        )
    return [*numbers("scales", spec, given), *usual[len(given) :]]


def _shifting(shifts: Callable[[int, Span], Sequence[float]]) -> Builder:
    """Build a family in which reviewer j of m adds a fixed number."""

    def build(spec: str, given: Sequence[str], span: Span) -> Apply:
        _numbers(spec, given, ())

        def apply(values: Floats, _: np.random.Generator) -> Floats:
            added = np.array(shifts(values.shape[-2], span), dtype=values.dtype)
            return np.asarray(values + added[:, None])

        return apply

    return build


def _bias(spec: str, given: Sequence[str], _span: Span) -> Apply:
    (sd,) = _numbers(spec, given, (0.5,))
    _require("an SD of at least 0", spec, holds=sd >= 0)
    return lambda values, rng: values + sd * rng.standard_normal(_each(values))


def _each(values: Floats) -> tuple[int, ...]:
    """Return the shape of one number for each reviewer."""
    return (*values.shape[:-1], 1)


def _affine(spec: str, given: Sequence[str], _span: Span) -> Apply:
    least, most, low, high = _numbers(spec, given, (0, 1, 0, 1))
    positive = 0 <= least <= most and most > 0
    _require("slopes of at least 0 and not all 0", spec, holds=positive)
    _require("a lower shift before the higher one", spec, holds=low <= high)

    def apply(values: Floats, rng: np.random.Generator) -> Floats:
        # Counted from the upper end, a slope between 0 and 1 is never 0.
        slope = most - rng.random(_each(values)) * (most - least)
        shift = low + rng.random(_each(values)) * (high - low)
        return np.asarray(slope * values + shift)

    return apply


def _power(spec: str, given: Sequence[str], span: Span) -> Apply:
    least, most = _numbers(spec, given, (0.25, 4))
    _require("powers above 0, the lower first", spec, holds=0 < least <= most)
    start, width = span[0], span[1] - span[0]

    def apply(values: Floats, rng: np.random.Generator) -> Floats:
        unit = (values - start) / width
        exponent = least * (most / least) ** rng.random(_each(values))
        with np.errstate(over="ignore"):
            return start + width * np.sign(unit) * np.abs(unit) ** exponent

    return apply


def _levels(spec: str, given: Sequence[str], span: Span) -> Apply:
    _require("a number of levels, as in 'levels:5'", spec, holds=bool(given))
    number, low, high = _numbers(spec, given, (0, *span))
    holds = number == int(number) and number >= FEWEST_LEVELS
    _require(f"a whole number of at least {FEWEST_LEVELS} levels", spec, holds=holds)
    _require("a lower end before the higher one", spec, holds=low < high)
    step = (high - low) / (number - 1)
    return lambda values, _: (
        low + step * (np.clip((values - low) / step + 0.5, 0, number - 1) // 1)
    )


def _adversary(spec: str, given: Sequence[str], _span: Span) -> Apply:
    del spec
    known = ("offset", "spread")
    kind = given[0] if given else known[0]
    if kind not in known or len(given) > 1:
        raise OptionError(unknown("adversary", ":".join(given), known))

    def apply(values: Floats, _: np.random.Generator) -> Floats:
        m, n = values.shape[-2:]
        # Four times as high, so that all lower ones together never make up for one;
        # among too many reviewers for the floats, some share a range.
        powers = [4 ** (j * min(m, LARGEST_POWER) // m) for j in range(m)]
        size = np.array(powers, dtype=values.dtype)[:, None]
        # How many of the same reviewer's values are lower.
        lower = [np.searchsorted(np.sort(row), row) for row in values.reshape(-1, n)]
        place = np.array(lower).reshape(values.shape).astype(values.dtype)
        return np.asarray(
            size * (place + 2 * n if kind == "offset" else 2 * place - (n - 1))
        )

    return apply


Builder: TypeAlias = Callable[[str, Sequence[str], Span], Apply]
FAMILIES: dict[str, Builder] = {
    "identity": _shifting(lambda m, _: [0] * m),
    "one-biased": _shifting(lambda m, _: [0] * (m - 1) + [m]),
    "incremental": _shifting(lambda m, _: range(1, m + 1)),
    "incremental-one-biased": _shifting(lambda m, _: [*range(m - 1), m * (m - 1) // 2]),
    # Twice the width, so that values somewhat beyond the span stay apart as well.
    "disjoint": _shifting(
        lambda m, span: [2 * reviewer * (span[1] - span[0]) for reviewer in range(m)]
    ),
    "bias": _bias,
    "affine": _affine,
    "power": _power,
    "levels": _levels,
    "adversary": _adversary,
}
