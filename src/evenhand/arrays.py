"""What arrays hold, by name; arrays of floats, or of Fractions where a result is exact.

A float array is computed with as it is. An array of dtype object holds Fractions and
nothing else, and the same formulas then give exact results. Both are typed as arrays of
floats, because NumPy has no type for the other kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.errors import RatingsError, quote

Codes = NDArray[np.int64]
"""Codes of items or reviewers, or counts."""
Scores = NDArray[np.float64]
"""A number for each rating, item or reviewer."""
Table = NDArray[np.float64]
"""Numbers in rows and columns."""
Flags = NDArray[np.bool_]
"""What holds."""
Floats = NDArray[np.float64]
"""Floats, or Fractions."""
Numbers: TypeAlias = (
    ArrayLike | Fraction | Sequence[Fraction] | Sequence[Sequence[Fraction]]
)
"""What can be computed with: floats, or Fractions and integers for exact results."""
Array = TypeVar("Array", bound=NDArray[np.generic])


def frozen(array: Array) -> Array:
    """Forbid changes to an array.

    Examples:
        >>> frozen(np.zeros(2)).flags.writeable
        False
    """
    array.flags.writeable = False
    return array


def sorted_places(codes: Codes) -> Codes:
    """Return the places of codes in increasing order, equal ones as they stand.

    Examples:
        >>> sorted_places(np.array([1, 0, 1, 0])).tolist()
        [1, 3, 0, 2]
    """
    # Each code with its place in one number: a quarter of the time of a stable argsort.
    return np.sort(codes * len(codes) + np.arange(len(codes))) % max(len(codes), 1)


def as_numbers(values: Numbers, what: str, *, infinite: bool = False) -> Floats:
    """Return an array of floats, or an object array in which all are Fractions.

    Args:
        values: Numbers; Fractions, alone or among integers, stay exact.
        what: What one of them is called in a message.
        infinite: Whether an infinite value is allowed.

    Returns:
        The array, of the shape of values.

    Raises:
        RatingsError: If a value is not a number, or not finite.

    Examples:
        >>> as_numbers([1, 2.5], "score"), as_numbers([Fraction(1, 2), 1], "score")
        (array([1. , 2.5]), array([Fraction(1, 2), Fraction(1, 1)], dtype=object))
    """
    try:
        array = np.asarray(values)
    except ValueError:
        text = f"{what}s must form a full table, got rows of unequal length."
        raise RatingsError(text) from None
    if array.dtype == object:
        array = _from_objects(array, what)
    elif array.dtype.kind in "iuf":
        array = array.astype(np.float64)
    else:
        raise RatingsError(f"{what} must be a number, got {quote(values)}.")
    if not is_exact(array):
        bad = np.isnan(array) if infinite else ~np.isfinite(array)
        if bad.any():
            value = array[bad].flat[0].item()
            raise RatingsError(f"{what} must be finite, got {value}{_place(bad)}.")
    return array


def as_lists(first: Numbers, second: Numbers) -> tuple[Floats, Floats]:
    """Return the scores of two items, each of them one list.

    Raises:
        RatingsError: If a score is not finite or a side is not one list.

    Examples:
        >>> as_lists([3, 4], [1])
        (array([3., 4.]), array([1.]))
    """
    first_scores, second_scores = (
        as_numbers(first, "first score"),
        as_numbers(second, "second score"),
    )
    for name, side in (("first", first_scores), ("second", second_scores)):
        if side.ndim != 1:
            text = f"{name} scores must be one list, got shape {side.shape}."
            raise RatingsError(text)
    return first_scores, second_scores


def is_exact(array: NDArray[np.generic]) -> bool:
    """Say whether an array holds Fractions.

    Examples:
        >>> is_exact(np.array([Fraction(1, 2)])), is_exact(np.array([0.5]))
        (True, False)
    """
    return array.dtype == object


def map_exact(function: Callable[[Fraction], object], array: Floats) -> Floats:
    """Apply a function to each Fraction of an array.

    Examples:
        >>> map_exact(lambda part: part / 2, np.array([Fraction(1, 2)])).tolist()
        [Fraction(1, 4)]
    """
    mapped = np.empty(array.shape, dtype=object)
    values: list[Fraction] = array.reshape(-1).tolist()  # type: ignore[assignment]  # of dtype object
    mapped.reshape(-1)[:] = [function(value) for value in values]
    return mapped


def constant(value: Fraction, like: Floats) -> Floats:
    """Return a number as an array that mixes with another: Fraction or float.

    Examples:
        >>> constant(Fraction(1, 2), np.array([0.0])).item()
        0.5
    """
    return np.asarray(value if is_exact(like) else float(value))


def magnitude(array: Floats) -> Floats:
    """Return absolute values as an array, also of a single Fraction.

    Examples:
        >>> magnitude(np.array([-2.0, 1.0])).tolist()
        [2.0, 1.0]
    """
    return np.asarray(np.abs(array))


def difference(first: Floats, second: Floats) -> Floats:
    """Subtract scores; a difference beyond the floats is infinite, without a warning.

    Examples:
        >>> difference(np.array([1e308]), np.array([-1e308]))
        array([inf])
    """
    with np.errstate(over="ignore"):
        return np.asarray(first - second)


def _from_objects(array: Floats, what: str) -> Floats:
    values = array.reshape(-1).tolist()
    if set(map(type, values)) == {Fraction}:
        return array.copy()
    for place, value in zip(np.ndindex(array.shape), values, strict=True):
        if isinstance(value, bool) or not isinstance(
            value, int | float | Fraction | Decimal
        ):
            where = f" at index {place}" if place else ""
            raise RatingsError(f"{what} must be a number, got {quote(value)}{where}.")
    if all(isinstance(value, int | Fraction) for value in values):
        return map_exact(Fraction, array)
    try:
        return array.astype(np.float64)
    except OverflowError:
        raise RatingsError(f"{what} must be finite, got one beyond floats.") from None


def _place(bad: NDArray[np.bool_]) -> str:
    if bad.ndim == 0:
        return ""
    return f" at index {tuple(int(axis[0]) for axis in np.nonzero(bad))}"


def mean(scores: Sequence[float]) -> float:
    """Return the mean, whatever the order of the scores.

    Args:
        scores: At least one finite score.

    Returns:
        The exact sum, rounded once, over the number of scores.

    Examples:
        >>> mean([0.1, 0.2, 0.3]) == mean([0.3, 0.2, 0.1])
        True
    """
    try:
        return math.fsum(scores) / len(scores)
    except OverflowError:
        return float(sum(map(Fraction, scores)) / len(scores))


def spread(scores: Sequence[float]) -> float | None:
    """Return the sample standard deviation.

    Args:
        scores: Finite scores.

    Returns:
        The deviation; None for fewer than two scores, or if it is beyond any float.

    Examples:
        >>> spread([1.0, 2.0, 3.0]), spread([4.0])
        (1.0, None)
    """
    if len(scores) <= 1:
        return None
    result = math.hypot(*map(mean(scores).__sub__, scores)) / math.sqrt(len(scores) - 1)
    return result if math.isfinite(result) else None
