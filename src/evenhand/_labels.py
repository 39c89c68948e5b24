"""From columns of anything to sorted labels, integer codes and finite numbers.

A label column whose every value is a canonical decimal integer is a column of integers,
whatever the source; any other is text, sorted by code point. White space around a label
is not part of it.
"""

from __future__ import annotations

import inspect
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import filterfalse
from typing import TYPE_CHECKING, NamedTuple

import narwhals as nw
import numpy as np
import polars as pl

from evenhand._cores import beside
from evenhand._results import Label
from evenhand.errors import OptionError, RatingsError, counted

if TYPE_CHECKING:
    from narwhals.typing import IntoSeries
    from numpy.typing import NDArray

    Codes = NDArray[np.int64] | NDArray[np.int32]

Labels = tuple[Label, ...]

FORMULA_START = "[\ufeff\u200b-\u200f\u2060]*[=+\\-@\t\r\uff1d\uff0b\uff0d\uff20]"
"""What a spreadsheet runs as a formula, also after marks that nobody sees."""
QUOTED = re.compile(f"^'+({FORMULA_START})")
CANONICAL_INTEGER = r"^(?:0|-?[1-9][0-9]*)$"
NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
COMMAS = r"^[+-]?[0-9]+(?:,[0-9]+)+(?:\.[0-9]+)?$"
ZEROS = re.compile(r"^\+?0*([0-9]+)(?:\.0*)?$")
HIDDEN = "\u034f\u115f\u1160\u17b4\u17b5\u3164" + "".join(
    map(chr, range(0xFE00, 0xFE10))
)
"""Characters that nobody sees, beside those that Unicode calls marks of format."""
UNEVEN = ("  ", "\n ", " \n")
FIRST_ASCII, LAST_ASCII = ord(" "), ord("~")
MISSING_WORDS = frozenset({"na", "n/a", "nan", "null", "none", "-", "?"})
EXACT_INTEGERS = 2.0**53 - 1
MAX_DIGITS = 640
"""Python may refuse to print a longer integer; longer text of digits stays text."""
EXACT_BELOW = 2.0**53
LONG = 100_000
"""From so many rows on, compiled code and threads are worth their start."""
MISSING_TYPES = frozenset({"NAType", "NaTType"})
"""How pandas names the types of its missing values, without importing it."""
PLAIN: dict[type, type[pl.DataType]] = {
    str: pl.String,
    int: pl.Int64,
    float: pl.Float64,
}
TEXTUAL = (pl.String, pl.Categorical, pl.Enum, pl.Null)
INT64 = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32)


@dataclass(frozen=True, slots=True)
class Source:
    """Where a table came from, so that an error can point at the place.

    Attributes:
        name: File name, or None for data that was given in memory.
        line: From a row's index to its line in the file.
        unit: What `line` counts: "line" of a text, or "row" of a sheet or table.
    """

    name: str | None = None
    line: Callable[[int], int] = int
    unit: str = "line"

    def at(self, row: int, text: str) -> RatingsError:
        """Return the error for one row; `text` ends without a full stop."""
        if self.name is None:
            return RatingsError(f"{text} at index {row}.")
        colon = ":" if self.unit == "line" else f": {self.unit} "
        return RatingsError(f"{self.name}{colon}{self.line(row)}: {text}.")

    def whole(self, text: str) -> RatingsError:
        """Return the error for the whole table; `text` is a sentence."""
        return RatingsError(text if self.name is None else f"{self.name}: {text}")

    def place(self, row: int) -> str:
        """Name one row in the middle of a sentence."""
        if self.name is None:
            return f"index {row}"
        return f"{self.unit} {self.line(row)}"


def shown(value: object) -> str:
    """Show a bad value in a message, on one line and cut to a readable length.

    Examples:
        >>> shown("x" * 200) == repr("x" * 76)[:-1] + "..."
        True
        >>> shown(10**5000)
        'a very large int'
    """
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return f"a very large {type(value).__name__}"
    text = re.sub(r"\s*\n\s*", " ", text)
    return text if len(text) <= 80 else text[:77] + "..."  # noqa: PLR2004 - one line


def require_text(rule: str = "text", /, **given: object) -> None:
    """Refuse options that are neither None nor text.

    Examples:
        >>> require_text("the name of a column", reviewer=["judge", "prompt"])
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: reviewer must be the name of a column, got
        ['judge', 'prompt'].
    """
    for name, value in given.items():
        if value is not None and not isinstance(value, str):
            raise OptionError(f"{name} must be {rule}, got {shown(value)}.")


def require_sequence(rule: str, /, **given: object) -> None:
    """Refuse options that cannot be gone through one by one.

    Examples:
        >>> require_sequence("integers", levels=3)
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: levels must be a sequence of integers, got 3.
    """
    for name, value in given.items():
        if not isinstance(value, Iterable):
            raise OptionError(
                f"{name} must be a sequence of {rule}, got {shown(value)}."
            )


def require_function(name: str, value: object, *arguments: str) -> None:
    """Refuse what cannot be called with these arguments.

    Examples:
        >>> require_function("start", len, "the comparisons", "a Generator")
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: start must be a function of 2 arguments, the
        comparisons and a Generator, got <built-in function len>.
    """
    try:
        inspect.signature(value).bind(*arguments)  # type: ignore[arg-type]  # or else
    except TypeError:
        number = counted(len(arguments), "argument")
        raise OptionError(
            f"{name} must be a function of {number}, {' and '.join(arguments)}, got "
            f"{shown(value)}."
        ) from None
    except ValueError:
        pass  # a function in C that does not say what it takes


def label_series(values: object, what: str, source: Source) -> pl.Series:
    """Return labels as a series of Int64 or of stripped, non-empty text."""
    series = _label_values(values, what, source)
    return series if series.dtype == pl.Int64 else _stripped(series, what, source)


class Coded(NamedTuple):
    """A column of labels: the distinct ones, sorted, and each row's place among them.

    Attributes:
        distinct: Int64, or text by code point.
        codes: Place of each row's label.
        whole: Whether every distinct label is that of a row.
    """

    distinct: pl.Series
    codes: Codes
    whole: bool = True

    def at(self, rows: NDArray[np.int64]) -> Coded:
        """Return these rows only."""
        return Coded(self.distinct, self.codes[rows], whole=False)

    def series(self) -> pl.Series:
        """Return the labels row by row."""
        return self.distinct.gather(self.codes)


def coded_series(values: object, what: str, source: Source) -> Coded:
    """Return labels as `label_series` does, but coded.

    All that is asked of labels is asked of the distinct ones.

    Examples:
        >>> coded_series(["b", " a"], "item", Source()).codes.tolist()
        [1, 0]
    """
    series = _label_values(values, what, source)
    if series.null_count():
        series = _stripped(series, what, source)
    found = coded(series)
    if series.dtype == pl.Int64 or _is_plain(found.distinct):
        return found
    return coded(_stripped(series, what, source))


def _label_values(values: object, what: str, source: Source) -> pl.Series:
    """Return labels as Int64, or as text that is not yet looked at."""
    series = _series(values, what, source, _label)
    if series.dtype.is_float():
        series = _integral(series, what, source)
    if series.dtype in INT64 and series.null_count() == 0:
        return series.cast(pl.Int64)
    if not (series.dtype.is_integer() or series.dtype in TEXTUAL):
        raise _wrong_type(series, f"{what} must be text or an integer", source)
    return series.cast(pl.String)


def _is_plain(texts: pl.Series) -> bool:
    return bool(((texts.str.strip_chars() == texts) & (texts != "")).all())


def _stripped(series: pl.Series, what: str, source: Source) -> pl.Series:
    series = series.str.strip_chars()
    empty = (series.is_null() | (series == "")).fill_null(value=True)
    if empty.any():
        raise source.at(int(empty.arg_true()[0]), f"{what} must be given, got nothing")
    return series


def code_labels(series: pl.Series | Coded) -> tuple[Labels, Codes]:
    """Return the distinct labels in sorted order and each value's code.

    Examples:
        >>> labels, codes = code_labels(pl.Series(["10", "9", "10"]))
        >>> labels, codes.tolist()
        ((9, 10), [1, 0, 1])
    """
    distinct, codes = settled(series)
    return listed(distinct), codes


def place_of(label: Label) -> tuple[bool, Label]:
    """Return what to sort labels of one kind by.

    Reviewers' codes are not sorted as other labels are: they come in the order of the
    names behind them, which a list that is shown must not tell.

    Examples:
        >>> sorted(["b", "a"], key=place_of), sorted([10, 9], key=place_of)
        (['a', 'b'], [9, 10])
    """
    return isinstance(label, str), label


def settled(series: pl.Series | Coded) -> tuple[pl.Series | Labels, Codes]:
    """Return what `code_labels` does, but labels as a series where that will do.

    Then codes are there before labels are; `listed` makes these of it.
    """
    distinct, codes, whole = coded(series) if isinstance(series, pl.Series) else series
    if not whole:
        used = np.zeros(len(distinct), dtype=np.bool_)
        used[codes] = True
        if not used.all():
            distinct = distinct.filter(pl.Series(used))
            codes = (np.cumsum(used) - 1)[codes]
    if distinct.dtype == pl.Int64 or not _are_integers(distinct):
        return distinct, codes
    numbers = [int(label) for label in distinct.to_list()]
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return tuple(numbers[number] for number in order), place[codes]


def listed(distinct: pl.Series | Labels) -> Labels:
    """Return labels as plain values.

    Examples:
        >>> listed(pl.Series(["a", "b"]))
        ('a', 'b')
    """
    return tuple(distinct.to_list()) if isinstance(distinct, pl.Series) else distinct


def coded(series: pl.Series) -> Coded:
    """Code a series of Int64 or of text.

    Examples:
        >>> coded(pl.Series(["b", "a", "b"])).codes.tolist()
        [1, 0, 1]
    """
    if series.dtype == pl.Int64:
        return _coded_integers(series.to_numpy())
    if len(series) >= LONG:
        found = _coded_by_hash(series)
        if found is not None:
            return found
    distinct = series.unique().sort()
    codes = series.cast(pl.Enum(distinct)).to_physical().to_numpy()
    return Coded(distinct, codes.astype(np.int64))


def _coded_by_hash(series: pl.Series) -> Coded | None:
    """Code text by hashes, which is quicker; None if two texts share one."""
    from evenhand._kernels import hashes  # noqa: PLC0415 - slow to load

    codes, first, table = hashes.code_hashes(series.hash().to_numpy())
    met = series.gather(first)

    def are_same(begin: int, end: int) -> bool:
        for start in range(begin, end, LONG):
            rows = slice(start, min(start + LONG, end))
            if not (series[rows] == met.gather(codes[rows])).all():
                return False
        return True

    half = len(series) // 2
    if not all(
        beside([lambda: are_same(0, half), lambda: are_same(half, len(series))])
    ):
        return None
    distinct = met.sort()
    place = np.empty(len(distinct), dtype=np.uint32)
    place[hashes.codes_of(table, distinct.hash().to_numpy())] = np.arange(len(place))
    hashes.renumber(codes, place)
    return Coded(distinct, codes.view(np.int32))


def _are_integers(distinct: pl.Series) -> bool:
    if len(distinct) == 0 or not re.match(CANONICAL_INTEGER, distinct[0]):
        return False
    longest = distinct.str.strip_prefix("-").str.len_bytes().max()
    return (
        isinstance(longest, int)
        and 0 < longest <= MAX_DIGITS
        and bool(distinct.str.contains(CANONICAL_INTEGER).all())
    )


def _coded_integers(values: NDArray[np.int64]) -> Coded:
    lowest = int(values.min(initial=0))
    span = int(values.max(initial=0)) - lowest + 1
    if span > 2 * len(values):
        distinct, codes = np.unique(values, return_inverse=True)
        return Coded(pl.Series(distinct), codes.astype(np.int64))
    # As many places as values, or not many more: no need to sort.
    there = np.zeros(span, dtype=np.bool_)
    there[values - lowest] = True
    places = np.cumsum(there) - 1
    return Coded(pl.Series(np.flatnonzero(there) + lowest), places[values - lowest])


def alike(labels: Iterable[Label]) -> list[tuple[str, str]]:
    """Return pairs of labels that differ in ways that people overlook.

    These are case, coding, white space, characters that nobody sees, zeros around a
    whole number, and apostrophes before a formula.

    Examples:
        >>> alike(["Anna", "Bo", "anna", "1", "01"])
        [('Anna', 'anna'), ('1', '01')]
    """
    texts = [label for label in labels if isinstance(label, str)]
    if _all_differ(texts):
        return []
    first: dict[str, str] = {}
    pairs = []
    for label in texts:
        plain = unicodedata.normalize("NFKC", label).casefold()
        if not plain.isascii():
            plain = "".join(filterfalse(_is_hidden, plain))
        plain = ZEROS.sub(r"\1", QUOTED.sub(r"\1", " ".join(plain.split())))
        known = first.setdefault(plain, label)
        if known != label:
            pairs.append((known, label))
    return pairs


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) == "Cf" or character in HIDDEN


def _all_differ(texts: list[str]) -> bool:
    """Say that no two labels look alike; for plain ASCII, which is quick to tell."""
    lines = "\n".join(["", *texts, ""])
    if not lines.isascii() or any(blanks in lines for blanks in UNEVEN):
        return False
    codes = np.frombuffer(lines.encode(), dtype=np.uint8)
    # All but the line ends between labels must be visible, or a blank.
    if np.count_nonzero((codes < FIRST_ASCII) | (codes > LAST_ASCII)) > len(texts) + 1:
        return False
    small = lines.lower()
    if any(mark in small for mark in ("\n0", "\n+", "\n'", ".0\n", ".\n")):
        plain = pl.Series(small.split("\n")[1:-1])
        plain = plain.str.replace(QUOTED.pattern, "$1").str.replace(ZEROS.pattern, "$1")
        return plain.n_unique() == len(texts)
    return small == lines or len(set(small.split("\n")[1:-1])) == len(texts)


def number_series(
    values: object, what: str, source: Source
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return finite numbers, and a mask of the rows that have none.

    An empty cell or null is missing; any other value that is not a finite number is an
    error.
    """
    series = _series(values, what, source, _number)
    if series.dtype in TEXTUAL or series.dtype.is_decimal():
        # A decimal goes by its digits, so that it is rounded once, as text is.
        series = series.cast(pl.String)
        numeric = series.cast(pl.Float64, strict=False)
        # Of finite numbers polars reads those that NUMBER describes, and no others.
        if numeric.null_count() > series.null_count() or not numeric.is_finite().all():
            series = series.str.strip_chars()
            numeric = _parsed(series, what, source)
    elif series.dtype.is_numeric():
        numeric = series.cast(pl.Float64)
    else:
        raise _wrong_type(series, f"{what} must be a number", source)
    if numeric.null_count():
        missing = numeric.is_null().to_numpy()
        numeric = numeric.fill_null(0.0)
    else:
        missing = np.zeros(len(numeric), dtype=np.bool_)
    # Adding zero turns -0.0 into 0.0, so that equal scores have equal bytes.
    numbers = numeric.to_numpy() + 0.0
    if not _are_small(numbers):
        bad = np.flatnonzero(~np.isfinite(numbers))
        if len(bad):
            row = int(bad[0])
            raise source.at(row, f"{what} must be finite, got {shown(series[row])}")
        _check_whole(series, numbers, what, source)
    return numbers, missing


def plain_numbers(series: pl.Series) -> pl.Series | None:
    """Return a column of text as finite numbers, None if one of them needs a look.

    Examples:
        >>> plain_numbers(pl.Series(["1", None])).to_list()
        [1.0, None]
        >>> plain_numbers(pl.Series(["1", "B"]))
    """
    half = len(series) // 2 if len(series) >= LONG else 0
    parts = [series[:half], series[half:]] if half else [series]
    cast = beside([partial(_finite, part) for part in parts])
    found = [part for part in cast if part is not None]
    return pl.concat(found) if len(found) == len(parts) else None


def _finite(series: pl.Series) -> pl.Series | None:
    numeric = series.cast(pl.Float64, strict=False)
    if numeric.null_count() > series.null_count():
        return None
    return numeric if _are_small(numeric.drop_nulls().to_numpy()) else None


def _are_small(numbers: NDArray[np.float64]) -> bool:
    """Say that numbers are finite and, if they were whole, still are what they were."""
    # A value that is no number is passed on by both, and is not in between.
    least, most = numbers.min(initial=0.0), numbers.max(initial=0.0)
    return bool(least >= -EXACT_INTEGERS and most <= EXACT_INTEGERS)


def _check_whole(
    series: pl.Series, numbers: NDArray[np.float64], what: str, source: Source
) -> None:
    """Refuse integers that a double would change, and so might tie with others."""
    for row in np.flatnonzero(np.abs(numbers) > EXACT_INTEGERS).tolist():
        value = shown(series[row])
        digits = str(series[row]).lstrip("+-").lstrip("0")
        if digits.isdecimal() and int(digits) != abs(int(numbers[row])):
            raise source.at(row, f"{what} must fit 53 bits exactly, got {value}")


def column_values(column: nw.Series[IntoSeries]) -> pl.Series | list[object]:
    """Return a dataframe's column as polars, or value by value where it is mixed."""
    if column.dtype not in (nw.Object, nw.Unknown):
        try:
            return column.to_polars()
        except (ImportError, TypeError, ValueError, NotImplementedError):
            # pandas without PyArrow, or a value of another kind than it looked like.
            pass
    return [None if _is_missing(value) else value for value in column.to_list()]


def _is_missing(value: object) -> bool:
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in MISSING_TYPES


def _series(
    values: object,
    what: str,
    source: Source,
    convert: Callable[[object], Label | float | None],
) -> pl.Series:
    values = _column(values)
    if isinstance(values, pl.Series):
        return values
    if not isinstance(values, Iterable) or isinstance(
        values, str | bytes | Mapping | Set
    ):
        raise RatingsError(f"{what}s must be a sequence, got {shown(values)}.")
    plain = _plain(values)
    if plain is not None:
        return plain
    converted: list[Label | float | None] = []
    for row, value in enumerate(values):
        try:
            converted.append(convert(value))
        except (ValueError, OverflowError) as error:
            raise source.at(row, f"{what} {error}, got {shown(value)}") from None
    if any(isinstance(value, str) or not _fits(value) for value in converted):
        return _text(converted, what, source)
    return pl.Series(converted, dtype=None if converted else pl.String)


def _plain(values: Iterable[object]) -> pl.Series | None:
    """Take a list whose values are all of one plain type without a look at each."""
    if not isinstance(values, list | tuple):
        return None
    kinds = set(map(type, values)) - {type(None)}
    kind = kinds.pop() if len(kinds) == 1 else object
    if kind not in PLAIN or not all(map(_fits, values)):
        return None
    try:
        return pl.Series(values, dtype=PLAIN[kind])
    except UnicodeEncodeError:
        return None


def _fits(value: object) -> bool:
    return not isinstance(value, int) or -(2**63) <= value < 2**63


def _column(values: object) -> object:
    if isinstance(values, np.ndarray):
        return _array(values)
    if isinstance(values, pl.Series):
        return values if values.dtype != pl.Object else values.to_list()
    if isinstance(values, list | tuple):
        return values
    native = nw.from_native(values, allow_series=True, pass_through=True)
    if isinstance(native, nw.Series):
        return column_values(native)
    # A dataframe would be iterated by its column names.
    return None if isinstance(native, nw.DataFrame | nw.LazyFrame) else values


def _array(values: NDArray[np.generic]) -> object:
    # A masked array hands its hidden values to a reader that does not ask for them.
    if isinstance(values, np.ma.MaskedArray) or values.ndim != 1:
        return values.tolist()
    if values.dtype.kind in "iu":
        return pl.Series(values.astype(values.dtype.newbyteorder("=")))
    if values.dtype.kind == "f":
        return pl.Series(values.astype(np.float64))
    return values


def _text(values: list[Label | float | None], what: str, source: Source) -> pl.Series:
    texts = [None if value is None else str(value) for value in values]
    try:
        return pl.Series(texts, dtype=pl.String)
    except UnicodeEncodeError:
        row = next(row for row, text in enumerate(texts) if text and _unpaired(text))
        raise source.at(
            row, f"{what} must be valid Unicode text, got {shown(texts[row])}"
        ) from None


def _unpaired(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def _label(value: object) -> Label | None:
    if value is None:
        return None
    if isinstance(value, str):
        # A member of a string Enum prints as its name but is its value.
        return str.__str__(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        if abs(int(value)) >= 10**MAX_DIGITS:
            raise ValueError(f"must have at most {MAX_DIGITS} digits")
        return int(value)
    if isinstance(value, float | np.floating):
        number = float(value)
        if math.isnan(number):
            return None
        if number.is_integer() and abs(number) < EXACT_BELOW:
            return int(number)
    raise ValueError("must be text or an integer")


def _number(value: object) -> float | str | None:
    if value is None:
        return None
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bool | np.bool_) or not isinstance(
        value, int | float | Fraction | Decimal | np.integer | np.floating
    ):
        raise ValueError("must be a number")
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise ValueError("must be finite") from None
    if not math.isfinite(number):
        raise ValueError("must be finite")
    return number


def _integral(series: pl.Series, what: str, source: Source) -> pl.Series:
    numbers = series.cast(pl.Float64).fill_nan(None)
    whole = (numbers.round() == numbers) & (numbers.abs() < EXACT_BELOW)
    bad = (~whole).fill_null(value=False).arg_true()
    if len(bad):
        row = int(bad[0])
        raise source.at(
            row, f"{what} must be text or an integer, got {shown(series[row])}"
        )
    return numbers.cast(pl.Int64)


def _wrong_type(series: pl.Series, rule: str, source: Source) -> RatingsError:
    given = series.is_not_null().arg_true()
    row = int(given[0]) if len(given) else 0
    value = series[row] if len(given) else series.dtype
    return source.at(row, f"{rule}, got {shown(value)}")


def _parsed(series: pl.Series, what: str, source: Source) -> pl.Series:
    given = series.set(series == "", None)
    bad = (~given.str.contains(NUMBER)).fill_null(value=False).arg_true()
    if len(bad):
        row = int(bad[0])
        value = str(given[row])
        error = source.at(row, f"{what} must be a number, got {shown(value)}")
        raise RatingsError(f"{error}{_hint(value)}")
    return given.cast(pl.Float64)


def _hint(value: str) -> str:
    if value.casefold() in MISSING_WORDS:
        return " Leave the cell empty where there is no score."
    if re.fullmatch(COMMAS, value):
        return " Write decimals with a point, and thousands without a comma."
    return ""
