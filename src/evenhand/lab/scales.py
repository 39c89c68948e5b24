"""Scales: how each reviewer turns the value of an item into a score.

A family is named by a short text. "affine" gives each reviewer a random slope and
shift; "affine > levels:5" rounds the result to a form with five marks. All families
increase, and those that draw nothing at random are exact on Fractions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from evenhand.ab.numbers import Floats, is_exact, map_exact
from evenhand.ab.weights import on_floats
from evenhand.errors import OptionError, name_of, shown, unknown
from evenhand.randomness import standard_normal

if TYPE_CHECKING:
    from numpy.typing import NDArray

Apply: TypeAlias = Callable[[Floats, Floats], Floats]
OwnScale: TypeAlias = Callable[[int, Floats], object]
Number: TypeAlias = int | float | Fraction
Span: TypeAlias = tuple[Number, Number]

UNIT: Span = (0, 1)
THEN = ">"
LARGEST_POWER = 500


@dataclass(frozen=True, slots=True)
class Scales:
    """A family of increasing scales, one for each reviewer.

    Attributes:
        name: The text that gives it again.
        draws: How many uniforms each reviewer needs.
        apply: From values, shape (..., reviewers, items), and uniforms, shape
            (..., reviewers, draws), to scores, shape (..., reviewers, items).
        strict: Whether unequal values always get unequal scores.
    """

    name: str
    draws: int
    apply: Apply
    strict: bool


def scales(spec: str | Scales | OwnScale, *, span: Span = UNIT) -> Scales:
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
    - "exponential:1:3": exponential in u at a random rate; concave at a negative one.
    - "threshold:0:1:10": logistic in u about a random point, with this steepness.
    - "piecewise:4": linear on so many pieces of u, with random slopes.
    - "levels:K:LOW:HIGH": the nearest of K evenly spaced marks from LOW to HIGH, by
      default the ends of the span.
    - "adversary": sees the true ranking, and makes every comparison of two reviewers'
      scores, and of their means, say who scored, not what was scored: each reviewer's
      range is four times as high as the one's before, and only ranks count in it.
      "adversary:spread": stretched about the middle of the true ranking instead, so
      that who scores higher at the top scores lower at the bottom; that is what
      re-using reviewers stumbles over.

    "A > B" applies A, then B. A function of the reviewer's index and an array of
    values is a family too.

    Args:
        spec: A text, a function, or Scales, which are returned as they are.
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
    if isinstance(spec, Scales):
        return spec
    if callable(spec):
        return _own(spec)
    if not isinstance(spec, str):
        raise OptionError(
            f"scales must be a text such as 'affine' or a function, got {shown(spec)}."
        )
    steps = [_family(step, span) for step in spec.split(THEN)]
    return steps[0] if len(steps) == 1 else _composed(steps)


def _own(function: OwnScale) -> Scales:
    name = name_of(function)

    def apply(values: Floats, _: Floats) -> Floats:
        columns = []
        for reviewer in range(values.shape[-2]):
            scale = functools.partial(function, reviewer)
            column = values[..., reviewer, :]
            if is_exact(column):
                columns.append(map_exact(scale, column))
            else:
                columns.append(on_floats(scale, column, f"scale {name}"))
        return np.stack(columns, axis=-2)

    return Scales(name, 0, apply, strict=True)


def _composed(steps: Sequence[Scales]) -> Scales:
    def apply(values: Floats, uniforms: Floats) -> Floats:
        used = 0
        for step in steps:
            values = step.apply(values, uniforms[..., used : used + step.draws])
            used += step.draws
        return values

    name = f" {THEN} ".join(step.name for step in steps)
    draws = sum(step.draws for step in steps)
    return Scales(name, draws, apply, strict=all(step.strict for step in steps))


def _family(text: str, span: Span) -> Scales:
    name, *rest = (part.strip() for part in text.split(":"))
    if name not in FAMILIES:
        raise OptionError(unknown("scale", name, FAMILIES))
    return FAMILIES[name](":".join([name, *rest]), rest, span)


def numbers(what: str, spec: str, given: Sequence[str]) -> list[Fraction]:
    """Read the numbers of a text such as "affine:0:1".

    Raises:
        OptionError: If one is not a finite number.

    Examples:
        >>> numbers("values", "uniform:0:0.5", ["0", "0.5"])
        [Fraction(0, 1), Fraction(1, 2)]
    """
    found = []
    for text in given:
        try:
            found.append(Fraction(text))
            float(found[-1])
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


def _numbers(spec: str, given: Sequence[str], usual: Sequence[Number]) -> list[Number]:
    if len(given) > len(usual):
        raise OptionError(
            f"scales must have at most {len(usual)} numbers after "
            f"{spec.partition(':')[0]!r}, got {spec!r}."
        )
    return [*numbers("scales", spec, given), *usual[len(given) :]]


def _like(number: Number, values: Floats) -> Floats:
    """Return a number that mixes with an array: Fraction or float."""
    return np.asarray(Fraction(number) if is_exact(values) else float(number))


def _shifting(shifts: Callable[[int, Span], Sequence[Number]]) -> Builder:
    """Build a family in which reviewer j of m adds a fixed number."""

    def build(spec: str, given: Sequence[str], span: Span) -> Scales:
        _numbers(spec, given, ())

        def apply(values: Floats, _: Floats) -> Floats:
            number = Fraction if is_exact(values) else float
            added = [number(shift) for shift in shifts(values.shape[-2], span)]
            return np.asarray(values + np.array(added)[:, None])

        return Scales(spec, 0, apply, strict=True)

    return build


def _bias(spec: str, given: Sequence[str], _span: Span) -> Scales:
    (sd,) = (float(number) for number in _numbers(spec, given, (Fraction(1, 2),)))
    _require("an SD of at least 0", spec, holds=sd >= 0)

    def apply(values: Floats, uniforms: Floats) -> Floats:
        return np.asarray(values + sd * standard_normal(uniforms))

    return Scales(spec, 1, _floats_only(spec, apply), strict=True)


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
        slope = _like(most, values) - uniforms[..., :1] * _like(most - least, values)
        shift = _like(low, values) + uniforms[..., 1:] * _like(high - low, values)
        return np.asarray(slope * values + shift)

    return Scales(spec, 2, apply, strict=True)


def _on_unit(function: Apply, span: Span) -> Apply:
    """Apply a function of u, which runs from 0 to 1 over the span."""
    low, width = span[0], span[1] - span[0]

    def apply(values: Floats, uniforms: Floats) -> Floats:
        unit = (values - _like(low, values)) / _like(width, values)
        with np.errstate(over="ignore"):
            scores = function(unit, uniforms)
            return np.asarray(scores * _like(width, values) + _like(low, values))

    return apply


def _power(spec: str, given: Sequence[str], span: Span) -> Scales:
    least, most = _numbers(spec, given, (Fraction(1, 4), 4))
    _require("powers above 0, the lower first", spec, holds=0 < least <= most)

    def power(unit: Floats, uniforms: Floats) -> Floats:
        exponent = float(least) * float(most / least) ** uniforms
        return np.asarray(np.sign(unit) * np.abs(unit) ** exponent)

    return Scales(spec, 1, _floats_only(spec, _on_unit(power, span)), strict=True)


def _exponential(spec: str, given: Sequence[str], span: Span) -> Scales:
    least, most = (float(rate) for rate in _numbers(spec, given, (1, 3)))
    _require("rates with the lower first", spec, holds=least <= most)
    _require("rates other than 0", spec, holds=least > 0 or most < 0)

    def exponential(unit: Floats, uniforms: Floats) -> Floats:
        rate = least + (most - least) * uniforms
        return np.asarray(np.expm1(rate * unit) / np.expm1(rate))

    return Scales(spec, 1, _floats_only(spec, _on_unit(exponential, span)), strict=True)


def _threshold(spec: str, given: Sequence[str], span: Span) -> Scales:
    low, high, steepness = (float(x) for x in _numbers(spec, given, (0, 1, 10)))
    _require("a lower point before the higher one", spec, holds=low <= high)
    _require("a steepness above 0", spec, holds=steepness > 0)

    def logistic(unit: Floats, uniforms: Floats) -> Floats:
        point = low + (high - low) * uniforms
        return np.asarray(1 / (1 + np.exp(-steepness * (unit - point))))

    return Scales(spec, 1, _floats_only(spec, _on_unit(logistic, span)), strict=True)


def _piecewise(spec: str, given: Sequence[str], span: Span) -> Scales:
    pieces = _whole(spec, _numbers(spec, given, (4,))[0], 1, "pieces")

    def piecewise(unit: Floats, uniforms: Floats) -> Floats:
        slopes = 1 - uniforms
        total = slopes.sum(axis=-1, keepdims=True)
        score = np.zeros_like(unit)
        for piece in range(pieces):
            # The first piece goes on below the span, and the last one above it.
            part = unit * pieces - piece
            part = part if piece == 0 else np.maximum(part, 0)
            part = part if piece == pieces - 1 else np.minimum(part, 1)
            score = score + part * slopes[..., piece : piece + 1]
        return np.asarray(score / total)

    return Scales(spec, pieces, _on_unit(piecewise, span), strict=True)


def _levels(spec: str, given: Sequence[str], span: Span) -> Scales:
    _require("a number of levels, as in 'levels:5'", spec, holds=bool(given))
    number, low, high = _numbers(spec, given, (0, *span))
    last = _whole(spec, number, 2, "levels") - 1
    _require("a lower end before the higher one", spec, holds=low < high)

    def apply(values: Floats, _: Floats) -> Floats:
        step = _like(Fraction(high - low) / last, values)
        half = _like(Fraction(1, 2), values)
        mark = ((values - _like(low, values)) / step + half) // _like(1, values)
        mark = np.minimum(np.maximum(mark, _like(0, values)), _like(last, values))
        return np.asarray(_like(low, values) + mark * step)

    return Scales(spec, 0, apply, strict=False)


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
        size = np.array([_like(power, values) for power in powers])[:, None]
        place = ranks(values).astype(values.dtype)
        if kind == "offset":
            return np.asarray(size * (place + _like(2 * n, values)))
        return np.asarray(size * (2 * place - _like(n - 1, values)))

    return Scales(spec, 0, apply, strict=True)


def _whole(spec: str, number: Number, least: int, what: str) -> int:
    holds = number == int(number) and number >= least
    _require(f"a whole number of at least {least} {what}", spec, holds=holds)
    return int(number)


def _floats_only(spec: str, apply: Apply) -> Apply:
    def checked(values: Floats, uniforms: Floats) -> Floats:
        if is_exact(values):
            raise OptionError(
                f"scales must be rational to be exact on Fractions, got {spec!r}."
            )
        return apply(values, uniforms)

    return checked


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
    "exponential": _exponential,
    "threshold": _threshold,
    "piecewise": _piecewise,
    "levels": _levels,
    "adversary": _adversary,
}


def check_increasing(values: Floats, scores: Floats, *, strict: bool = True) -> None:
    """Refuse scores that do not increase with the values they were given for.

    Args:
        values: Shape (..., reviewers, items).
        scores: Of the same shape.
        strict: Whether unequal values must get unequal scores.

    Raises:
        OptionError: If a reviewer scores a lower value higher, or equal values
            unequally, or, if strict, unequal values equally.

    Examples:
        >>> check_increasing(np.array([[1.0, 2.0]]), np.array([[7.0, 7.0]]))
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: scales must be increasing on the values used, got
        scores 7 and 7 for values 1 and 2 by reviewer 0.
    """
    if not is_exact(scores) and not np.isfinite(scores).all():
        place = tuple(np.argwhere(~np.isfinite(scores))[0].tolist())
        raise OptionError(
            f"scales must give finite scores on the values used, got {scores[place]:g} "
            f"for value {_brief(values[place])} by reviewer {place[-2]}."
        )
    order = np.argsort(values, axis=-1, kind="stable")
    low = np.take_along_axis(values, order, axis=-1)
    high = np.take_along_axis(scores, order, axis=-1)
    apart = low[..., 1:] > low[..., :-1]
    rises = high[..., 1:] > high[..., :-1]
    level = high[..., 1:] == high[..., :-1]
    wrong = np.where(apart, ~rises & (True if strict else ~level), ~level)
    if wrong.any():
        *leading, reviewer, item = np.argwhere(wrong)[0].tolist()
        one, two = (*leading, reviewer, item), (*leading, reviewer, item + 1)
        raise OptionError(
            "scales must be increasing on the values used, got scores "
            f"{_brief(high[one])} and {_brief(high[two])} for values "
            f"{_brief(low[one])} and {_brief(low[two])} by reviewer {reviewer}."
        )


def ranks(values: Floats) -> NDArray[np.int64]:
    """Count for each value how many of the same reviewer's are lower.

    Examples:
        >>> ranks(np.array([[2.5, 0.0, 9.0, 2.5]]))
        array([[1, 0, 3, 1]])
    """
    rows = values.reshape(-1, values.shape[-1])
    found = [np.searchsorted(np.sort(row), row) for row in rows]
    return np.array(found, dtype=np.int64).reshape(values.shape)


def _brief(number: object) -> str:
    return f"{number:.6g}" if isinstance(number, float) else str(number)
