"""From columns of anything to sorted labels, integer codes and finite numbers.

A label column whose every value is a canonical decimal integer is a column of integers,
whatever the source; any other is text, sorted by code point. White space around a label
is not part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evenhand.errors import RatingsError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand._results import Label

CANONICAL_INTEGER = r"^(?:0|-?[1-9][0-9]*)$"
NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
DECIMAL_COMMA = r"^[+-]?[0-9]+,[0-9]+$"
MISSING_WORDS = frozenset({"na", "n/a", "nan", "null", "none", "-", "?"})
INT64_DIGITS = 18


@dataclass(frozen=True, slots=True)
class Source:
    """Where a table came from, so that an error can point at the place.

    Attributes:
        name: File name, or None for data that was given in memory.
        line: From a row's index to its line in the file.
    """

    name: str | None = None
    line: Callable[[int], int] = int

    def at(self, row: int, text: str) -> RatingsError:
        """Return the error for one row; `text` ends without a full stop."""
        if self.name is None:
            return RatingsError(f"{text} at index {row}.")
        return RatingsError(f"{self.name}:{self.line(row)}: {text}.")

    def whole(self, text: str) -> RatingsError:
        """Return the error for the whole table; `text` is a sentence."""
        return RatingsError(text if self.name is None else f"{self.name}: {text}")

    def rows(self, rows: Iterable[int]) -> str:
        """List a few rows for a notice, as lines of the file where there is one."""
        places = [row if self.name is None else self.line(row) for row in rows]
        word = "index" if self.name is None else "line"
        shown = ", ".join(str(place) for place in places[:5])
        more = f" and {len(places) - 5} more" if len(places) > 5 else ""  # noqa: PLR2004 - five fit a line
        return f"{word} {shown}{more}"


def shown(value: object) -> str:
    """Show a bad value in a message, on one line and cut to a readable length."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."  # noqa: PLR2004 - one line


def label_series(values: object, what: str, source: Source) -> pl.Series:
    """Return labels as a series of Int64 or of stripped, non-empty text."""
    series = _series(values, what, source, _label)
    if series.dtype.is_integer():
        if series.null_count() == 0 and series.dtype != pl.UInt64:
            return series.cast(pl.Int64)
        series = series.cast(pl.String)
    if series.dtype.is_float():
        series = _integral(series, what, source)
    elif series.dtype in (pl.Categorical, pl.Enum, pl.Null):
        series = series.cast(pl.String)
    elif series.dtype != pl.String and not series.dtype.is_integer():
        raise source.at(0, f"{what} must be text or an integer, got {series.dtype}")
    if series.dtype == pl.String:
        series = series.str.strip_chars()
        empty = (series.is_null() | (series == "")).fill_null(value=True)
    else:
        empty = series.is_null()
    if empty.any():
        raise source.at(int(empty.arg_true()[0]), f"{what} must be given, got nothing")
    return series


def code_labels(series: pl.Series) -> tuple[tuple[Label, ...], NDArray[np.int64]]:
    """Return the distinct labels in sorted order and each value's code.

    Examples:
        >>> labels, codes = code_labels(pl.Series(["10", "9", "10"]))
        >>> labels, codes.tolist()
        ((9, 10), [1, 0, 1])
    """
    if series.dtype == pl.String:
        distinct = series.unique()
        numeric = len(distinct) > 0 and bool(
            distinct.str.contains(CANONICAL_INTEGER).all()
        )
        if not numeric:
            return _code_sorted(series, distinct.sort().to_list())
        if int(distinct.str.len_bytes().max() or 0) > INT64_DIGITS:  # type: ignore[arg-type]  # an int here
            ordered = sorted(distinct.to_list(), key=int)
            _, codes = _code_sorted(series, ordered)
            return tuple(int(label) for label in ordered), codes
        series = series.cast(pl.Int64)
    values, codes = np.unique(series.to_numpy(), return_inverse=True)
    return tuple(values.tolist()), codes.astype(np.int64)


def number_series(
    values: object, what: str, source: Source
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return finite numbers, and a mask of the rows that have none.

    An empty cell or null is missing; any other value that is not a finite number is an
    error.
    """
    series = _series(values, what, source, _number)
    if series.dtype == pl.String:
        series = _parsed(series.str.strip_chars(), what, source)
    elif series.dtype == pl.Null:
        series = series.cast(pl.Float64)
    elif not series.dtype.is_numeric():
        raise source.at(0, f"{what} must be a number, got {series.dtype}")
    missing = series.is_null().to_numpy()
    # Adding zero turns -0.0 into 0.0, so that equal scores have equal bytes.
    numbers = series.cast(pl.Float64).fill_null(0.0).to_numpy() + 0.0
    bad = np.flatnonzero(~np.isfinite(numbers))
    if len(bad):
        row = int(bad[0])
        raise source.at(row, f"{what} must be finite, got {shown(numbers[row].item())}")
    return numbers, missing


def _series(
    values: object,
    what: str,
    source: Source,
    convert: Callable[[object], Label | float | None],
) -> pl.Series:
    if isinstance(values, pl.Series):
        return values
    if (
        isinstance(values, np.ndarray)
        and values.ndim == 1
        and values.dtype.kind in "iu"
    ):
        return pl.Series(values)
    if not isinstance(values, Iterable) or isinstance(values, str | bytes):
        raise RatingsError(f"{what}s must be a sequence, got {shown(values)}.")
    converted: list[Label | float | None] = []
    for row, value in enumerate(values):
        try:
            converted.append(convert(value))
        except (ValueError, OverflowError) as error:
            raise source.at(row, f"{what} {error}, got {shown(value)}") from None
    if any(isinstance(value, str) for value in converted):
        return _text(converted, what, source)
    try:
        return pl.Series(converted, dtype=None if converted else pl.String)
    except (OverflowError, TypeError, pl.exceptions.PolarsError):
        return _text(converted, what, source)


def _text(values: list[Label | float | None], what: str, source: Source) -> pl.Series:
    texts = [None if value is None else str(value) for value in values]
    try:
        return pl.Series(texts, dtype=pl.String)
    except UnicodeEncodeError:
        row = next(row for row, text in enumerate(texts) if text and _unpaired(text))
        raise source.at(row, f"{what} must be valid Unicode text") from None


def _unpaired(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def _label(value: object) -> Label | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, float | np.floating):
        if np.isnan(value):
            return None
        if float(value).is_integer():
            return int(value)
    raise ValueError("must be text or an integer")


def _number(value: object) -> float | str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_) or not isinstance(
        value, int | float | Fraction | Decimal | np.integer | np.floating
    ):
        raise ValueError("must be a number")
    try:
        return float(value)
    except OverflowError:
        raise ValueError("must be finite") from None


def _integral(series: pl.Series, what: str, source: Source) -> pl.Series:
    numbers = series.fill_nan(None)
    whole = (numbers.round() == numbers) & (numbers.abs() < 2.0**53)
    bad = (~whole).fill_null(value=False).arg_true()
    if len(bad):
        row = int(bad[0])
        raise source.at(
            row, f"{what} must be text or an integer, got {shown(series[row])}"
        )
    return numbers.cast(pl.Int64)


def _code_sorted(
    series: pl.Series, ordered: list[str]
) -> tuple[tuple[Label, ...], NDArray[np.int64]]:
    codes = series.cast(pl.Enum(ordered)).to_physical().to_numpy()
    return tuple(ordered), codes.astype(np.int64)


def _parsed(series: pl.Series, what: str, source: Source) -> pl.Series:
    given = series.set(series == "", None)
    bad = (~given.str.contains(NUMBER)).fill_null(value=False).arg_true()
    if len(bad):
        row = int(bad[0])
        value = str(given[row])
        error = source.at(row, f"{what} must be a number, got {shown(value)}")
        raise RatingsError(f"{error}{_hint(value)}") from None
    return given.cast(pl.Float64)


def _hint(value: str) -> str:
    if value.casefold() in MISSING_WORDS:
        return " Leave the cell empty where there is no score."
    if pl.Series([value]).str.contains(DECIMAL_COMMA).any():
        return " Write decimals with a point."
    return ""
