"""Where values and noise of a scenario come from, by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from evenhand._labels import shown
from evenhand.ab._numbers import Floats
from evenhand.errors import OptionError, unknown

FAR = 4
TOTAL = 1e-9
# Uniforms lie on a grid of 2**-53 from 0, where the normal quantile is infinite.
HALF_STEP = 2.0**-54

VALUES = ("uniform", "normal", "given")
NOISES = ("none", "normal", "discrete", "per-reviewer")


@dataclass(frozen=True, slots=True)
class ValueLaw:
    """How values are drawn.

    Attributes:
        given: Whether they are fixed, so that only their order over items is drawn.
        span: Between which numbers they lie, or most of them.
        quantile: From uniforms, shape (..., items), to values.
    """

    given: bool
    span: tuple[float, float]
    quantile: Callable[[Floats], Floats]


Noise: TypeAlias = Callable[[Floats, Floats], Floats]


def value_law(spec: str, items: int) -> ValueLaw:
    """Return the law that a text such as "uniform:0:1" names.

    Raises:
        OptionError: If it names none.

    Examples:
        >>> value_law("uniform:2:4", 3).quantile(np.array([0.0, 0.5, 0.75]))
        array([2. , 3. , 3.5])
    """
    name, _, rest = spec.partition(":")
    if name not in VALUES:
        raise OptionError(unknown("value law", name, VALUES))
    if name == "given":
        return _given(_numbers("values", spec, rest.split(",")), items)
    numbers = _numbers("values", spec, rest.split(":") if rest else [])
    one, two = _exactly_two("values", spec, numbers or [0.0, 1.0])
    if name == "uniform":
        _require("values", "a lower end before the higher one", spec, holds=one < two)
        return ValueLaw(False, (one, two), lambda units: one + (two - one) * units)  # noqa: FBT003 - a field
    _require("values", "an SD above 0", spec, holds=two > 0)
    span = (one - FAR * two, one + FAR * two)
    return ValueLaw(False, span, lambda units: one + two * standard_normal(units))  # noqa: FBT003 - a field


def noise_law(spec: str) -> Noise | None:
    """Return noise from two sets of uniforms, or None for none.

    The first uniforms, shape (..., reviewers, ratings), are for the ratings; the second
    ones, shape (..., reviewers, 1), for the reviewers.

    Raises:
        OptionError: If the text names none.

    Examples:
        >>> noise = noise_law("discrete:-1,1:0.25,0.75")
        >>> noise(np.array([[0.2, 0.3]]), np.zeros((1, 1)))
        array([[-1.,  1.]])
    """
    name, _, rest = spec.partition(":")
    if name not in NOISES:
        raise OptionError(unknown("noise", name, NOISES))
    if name == "none":
        _require("noise", "nothing after 'none'", spec, holds=not rest)
        return None
    if name == "discrete":
        return _discrete(spec, rest)
    numbers = _numbers("noise", spec, rest.split(":") if rest else [])
    if name == "normal":
        _require("noise", "one SD", spec, holds=len(numbers) == 1)
        sd = numbers[0]
        _require("noise", "an SD of at least 0", spec, holds=sd >= 0)
        return lambda units, _: sd * standard_normal(units)
    low, high = _exactly_two("noise", spec, numbers)
    _require(
        "noise", "SDs of at least 0, the lower first", spec, holds=0 <= low <= high
    )
    return lambda units, own: (low + (high - low) * own) * standard_normal(units)


def standard_normal(units: Floats) -> Floats:
    """Turn uniforms into standard normal numbers.

    Examples:
        >>> standard_normal(np.array([0.0, 0.5])).round(3)
        array([-8.292,  0.   ])
    """
    # Imported here because few scenarios need it.
    from scipy.special import ndtri  # noqa: PLC0415 - slow to load

    return np.asarray(ndtri(np.maximum(units, HALF_STEP)), dtype=np.float64)


def _given(numbers: list[float], items: int) -> ValueLaw:
    if len(numbers) != items:
        raise OptionError(
            f"values must give one number for each of the {items} items, got "
            f"{len(numbers)}."
        )
    if len(set(numbers)) < items:
        raise OptionError(
            f"values must be different from each other, got {shown(numbers)}. Of two "
            "equal items none is better."
        )
    fixed = np.array(numbers)
    return ValueLaw(
        True,  # noqa: FBT003 - a field
        (min(numbers), max(numbers)),
        lambda units: np.broadcast_to(fixed, units.shape),
    )


def _discrete(spec: str, rest: str) -> Noise:
    points, _, shares = rest.partition(":")
    places = np.array(_numbers("noise", spec, points.split(",")))
    count = len(places)
    chances = (
        _numbers("noise", spec, shares.split(",")) if shares else [1 / count] * count
    )
    _require(
        "noise", "a probability for each number", spec, holds=len(chances) == count
    )
    holds = min(chances) >= 0 and abs(math.fsum(chances) - 1) < TOTAL
    _require("noise", "probabilities that add up to 1", spec, holds=holds)
    steps = np.cumsum(chances)[:-1]
    return lambda units, _: places[np.searchsorted(steps, units, side="right")]


def _numbers(what: str, spec: str, parts: Sequence[str]) -> list[float]:
    numbers = []
    for part in parts:
        try:
            number = float(part)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise OptionError(
                f"{what} must have finite numbers, got {part!r} in {spec!r}."
            )
        numbers.append(number)
    return numbers


def _exactly_two(what: str, spec: str, numbers: list[float]) -> tuple[float, float]:
    _require(what, "two numbers", spec, holds=len(numbers) == 2)  # noqa: PLR2004 - two
    return numbers[0], numbers[1]


def _require(what: str, rule: str, spec: str, *, holds: bool) -> None:
    if not holds:
        raise OptionError(f"{what} must have {rule}, got {spec!r}.")
