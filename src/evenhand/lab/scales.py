"""Scales: how each reviewer turns the value of an item into a score.

A family is named by a short text. "affine" gives each reviewer a random slope and
shift; "affine > levels:5" rounds the result to a form with five marks. All families
increase, and those that the adversary starts from are exact on Fractions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from evenhand.arrays import Floats
from evenhand.errors import OptionError, unknown
from evenhand.randomness import standard_normal

if TYPE_CHECKING:
    from numpy.typing import NDArray

Apply: TypeAlias = Callable[[Floats, Floats], Floats]
Span: TypeAlias = tuple[float, float]

UNIT: Span = (0, 1)
THEN = ">"
LARGEST_POWER = 500
FEWEST_LEVELS = 2


@dataclass(frozen=True, slots=True)
class Scales:
    """A family of increasing scales, one for each reviewer.

    All but "levels" give unequal scores to unequal values.

    Attributes:
        name: The text that gives it again.
        draws: How many uniforms each reviewer needs.
        apply: From values, shape (..., reviewers, items), and uniforms, shape
            (..., reviewers, draws), to scores, shape (..., reviewers, items).
    """

    name: str
    draws: int
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
        >>> scales("incremental").apply(np.array([[1.0, 2.0]] * 2), np.empty((2, 0)))
        array([[2., 3.],
               [3., 4.]])
        >>> scales("affine > levels:5").name
        'affine > levels:5'
    """
    steps = [_family(step, span) for step in spec.split(THEN)]
    return steps[0] if len(steps) == 1 else _composed(steps)


def _composed(steps: Sequence[Scales]) -> Scales:
    def apply(values: Floats, uniforms: Floats) -> Floats:
        used = 0
        for step in steps:
            values = step.apply(values, uniforms[..., used : used + step.draws])
            used += step.draws
        return values

    name = f" {THEN} ".join(step.name for step in steps)
    draws = sum(step.draws for step in steps)
    return Scales(name, draws, apply)


def _family(text: str, span: Span) -> Scales:
    name, *rest = (part.strip() for part in text.split(":"))
    if name not in FAMILIES:
        raise OptionError(unknown("scale", name, FAMILIES))
    return FAMILIES[name](":".join([name, *rest]), rest, span)


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

    def build(spec: str, given: Sequence[str], span: Span) -> Scales:
        _numbers(spec, given, ())

        def apply(values: Floats, _: Floats) -> Floats:
            added = np.array(shifts(values.shape[-2], span), dtype=values.dtype)
            return np.asarray(values + added[:, None])

        return Scales(spec, 0, apply)

    return build


def _bias(spec: str, given: Sequence[str], _span: Span) -> Scales:
    (sd,) = _numbers(spec, given, (0.5,))
    _require("an SD of at least 0", spec, holds=sd >= 0)

    def apply(values: Floats, uniforms: Floats) -> Floats:
        return np.asarray(values + sd * standard_normal(uniforms))

    return Scales(spec, 1, apply)


def _affine(spec: str, given: Sequence[str], _span: Span) -> Scales:
    least, most, low, high = _numbers(spec, given, (0, 1, 0, 1))
    _require(
        "slopes of at least 0 and not all 0",
        spec,
        holds=0 <= least <= most and most > 0,
    )
    _require("a lower shift before the higher one", spec, holds=low <= high)

    def apply(values: Floats, uniforms: Floats) -> Floats:
        # Counted from the upper end, a slope between 0 and 1 is never 0.
        slope = most - uniforms[..., :1] * (most - least)
        shift = low + uniforms[..., 1:] * (high - low)
        return np.asarray(slope * values + shift)

    return Scales(spec, 2, apply)


def _on_unit(function: Apply, span: Span) -> Apply:
    """Apply a function of u, which runs from 0 to 1 over the span."""
    low, width = span[0], span[1] - span[0]

    def apply(values: Floats, uniforms: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.asarray(function((values - low) / width, uniforms) * width + low)

    return apply


def _power(spec: str, given: Sequence[str], span: Span) -> Scales:
    least, most = _numbers(spec, given, (0.25, 4))
    _require("powers above 0, the lower first", spec, holds=0 < least <= most)

    def power(unit: Floats, uniforms: Floats) -> Floats:
        exponent = least * (most / least) ** uniforms
        return np.asarray(np.sign(unit) * np.abs(unit) ** exponent)

    return Scales(spec, 1, _on_unit(power, span))


def _levels(spec: str, given: Sequence[str], span: Span) -> Scales:
    _require("a number of levels, as in 'levels:5'", spec, holds=bool(given))
    number, low, high = _numbers(spec, given, (0, *span))
    holds = number == int(number) and number >= FEWEST_LEVELS
    _require(f"a whole number of at least {FEWEST_LEVELS} levels", spec, holds=holds)
    last = int(number) - 1
    _require("a lower end before the higher one", spec, holds=low < high)

    def apply(values: Floats, _: Floats) -> Floats:
        step = (high - low) / last
        mark = np.clip((values - low) / step + 0.5, 0, last) // 1
        return np.asarray(low + mark * step)

    return Scales(spec, 0, apply)


def _adversary(spec: str, given: Sequence[str], _span: Span) -> Scales:
    known = ("offset", "spread")
    kind = given[0] if given else known[0]
    if kind not in known or len(given) > 1:
        raise OptionError(unknown("adversary", ":".join(given), known))

    def apply(values: Floats, _: Floats) -> Floats:
        m, n = values.shape[-2:]
        # Four times as high, so that all lower ones together never make up for one;
        # among too many reviewers for the floats, some share a range.
        powers = [4 ** (j * min(m, LARGEST_POWER) // m) for j in range(m)]
        size = np.array(powers, dtype=values.dtype)[:, None]
        place = ranks(values).astype(values.dtype)
        return np.asarray(
            size * (place + 2 * n if kind == "offset" else 2 * place - (n - 1))
        )

    return Scales(spec, 0, apply)


Builder: TypeAlias = Callable[[str, Sequence[str], Span], Scales]
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


def ranks(values: Floats) -> NDArray[np.int64]:
    """Count for each value how many of the same reviewer's are lower.

    Examples:
        >>> ranks(np.array([[2.5, 0.0, 9.0, 2.5]]))
        array([[1, 0, 3, 1]])
    """
    rows = values.reshape(-1, values.shape[-1])
    found = [np.searchsorted(np.sort(row), row) for row in rows]
    return np.array(found, dtype=np.int64).reshape(values.shape)
