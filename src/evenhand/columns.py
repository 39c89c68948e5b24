"""Columns of anything: found by name, turned into labels, codes and finite numbers.

A label column whose every value is a canonical decimal integer is a column of integers,
whatever the source; any other is text, sorted by code point. White space around a label
is not part of it.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import asdict, astuple, dataclass, replace
from decimal import Decimal
from fractions import Fraction
from os.path import commonprefix
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from evenhand.claims import Label
from evenhand.errors import RatingsError, listing, quote, require_text, unknown
from evenhand.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw
    from narwhals.typing import IntoSeries

    from evenhand.arrays import Codes, Flags, Scores
else:
    nw = lazy("narwhals")


Labels = tuple[Label, ...]

FORMULA_START = "[\ufeff\u200b-\u200f\u2060]*[=+\\-@\t\r\uff1d\uff0b\uff0d\uff20]"
"""What a spreadsheet runs as a formula, also after marks that nobody sees."""
CANONICAL_INTEGER = r"^(?:0|-?[1-9][0-9]*)$"
NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
COMMAS = r"^[+-]?[0-9]+(?:,[0-9]+)+(?:\.[0-9]+)?$"
POINT_THOUSANDS = r"^\s*[+-]?[1-9][0-9]{0,2}\.[0-9]{3}\s*$"
MISSING_WORDS = frozenset(
    {"no entry", "na", "n/a", "n.a.", "nan", "null", "none", "\\n", "x", "?"}
    | {"-", "--", "\u2013", "\u2014"}
)
"""What people write where there is no score."""
WORD = re.compile(r"[^\W\d_][^\n]*")
INFINITE = re.compile(r"(?i)[+-]?inf(inity)?")
LISTED = 20
"""How many problems of one file an error lists."""
NAMED = 5
"""How many rows or pairs of labels a notice names."""
# Of more levels of confidence groups are made, about equally large.
MOST_LEVELS, GROUPS = 10, 5
EXACT_BELOW = 2.0**53
MISSING_TYPES = frozenset({"NAType", "NaTType"})
"""How pandas names the types of its missing values, without importing it."""
PLAIN: dict[type, type[pl.DataType]]
PLAIN = {str: pl.String, int: pl.Int64, float: pl.Float64, bool: pl.Boolean}
TEXTUAL = (pl.String, pl.Categorical, pl.Enum, pl.Null)
INT64 = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32)


@dataclass(frozen=True, slots=True)
class Source:
    """Where a table came from, so that an error can point at the place.

    Attributes:
        name: File name, or None for data that was given in memory.
        line: From a row's index to its line in the file.
        unit: What `line` counts: "line" of a text, or "row" of a sheet or table.
        orders: Whether the user could declare an order of score words.
    """

    name: str | None = None
    line: Callable[[int], int] = int
    unit: str = "line"
    orders: bool = False

    def at(self, row: int, text: str, advice: str = "") -> RatingsError:
        """Return the error for one row; `text` ends without a full stop."""
        return self.each([(row, text, advice)])

    def each(self, reported: Iterable[tuple[int, str, str]]) -> RatingsError:
        """Return the error for several rows, each with a rule and an advice.

        Examples:
            >>> print(Source("r.csv").each([(3, "score must be 1", ""),
            ...                             (2, "item must be given", "Name it.")]))
            r.csv: 2 problems:
              line 2: item must be given.
              line 3: score must be 1.
              Name it.
        """
        # A line that holds several ratings has each of its problems once.
        by_line = {
            (self.line(problem[0]), *problem[1:]): problem for problem in reported
        }
        problems = [by_line[key] for key in sorted(by_line)]
        row, text, advice = problems[0]
        if len(problems) > 1:
            lines = [
                f"{self.place(row)}: {text}." for row, text, _ in problems[:LISTED]
            ]
            extra = len(problems) - LISTED
            more = [f"and {extra} more."] if extra > 0 else []
            hints = dict.fromkeys(advice for *_, advice in problems if advice)
            head = self.whole(f"{len(problems)} problems:")
            error = RatingsError("\n  ".join([str(head), *lines, *more, *hints]))
        else:
            end = f". {advice}" if advice else "."
            colon = ":" if self.unit == "line" else f": {self.unit} "
            error = RatingsError(
                f"{text} at index {row}{end}"
                if self.name is None
                else f"{self.name}{colon}{self.line(row)}: {text}{end}"
            )
        error.problems = tuple(problems)
        return error

    def whole(self, text: str) -> RatingsError:
        """Return the error for the whole table; `text` is a sentence."""
        return RatingsError(text if self.name is None else f"{self.name}: {text}")

    def unknown(self, what: str, name: str, choices: Iterable[str]) -> RatingsError:
        """Return the error for a name that is not there, with the nearest one."""
        text = unknown(what, name, choices)
        return self.whole(text[:1].upper() + text[1:])

    def keep(self, rows: Sequence[int]) -> Source:
        """Return the source of these rows only, so that messages name their lines."""
        return replace(self, line=lambda row: self.line(int(rows[row])))

    def place(self, row: int) -> str:
        """Name one row in the middle of a sentence."""
        if self.name is None:
            return f"index {row}"
        return f"{self.unit} {self.line(row)}"


def label_series(values: object, what: str, source: Source) -> pl.Series:
    """Return labels as a series of Int64 or of stripped, non-empty text."""
    series = _series(values, what, source, as_label)
    if series.dtype in INT64 and series.null_count() == 0:
        return series.cast(pl.Int64)
    series = series.cast(pl.String).str.strip_chars()
    if series.null_count() or (series == "").any():
        text, empty = f"{what} must be given, got nothing", series.fill_null("") == ""
        raise source.each((row, text, "") for row in empty.arg_true())
    return series


def code_labels(series: pl.Series) -> tuple[Labels, Codes]:
    """Return the distinct labels in sorted order and each value's code.

    Args:
        series: What `label_series` returns.

    Examples:
        >>> labels, codes = code_labels(pl.Series(["10", "9", "10"]))
        >>> labels, codes.tolist()
        ((9, 10), [1, 0, 1])
    """
    series = typed_labels(series)
    if series.dtype == pl.Int64:
        labels, codes = np.unique(series.to_numpy(), return_inverse=True)
        return tuple(labels.tolist()), codes.astype(np.int64)
    texts = series.unique().sort()
    places = series.cast(pl.Enum(texts)).to_physical()
    return tuple(texts.to_list()), places.to_numpy().astype(np.int64)


def typed_labels(series: pl.Series) -> pl.Series:
    """Return labels as integers if all are canonical ones, as `code_labels` does.

    Examples:
        >>> typed_labels(pl.Series(["10", "9"])).to_list()
        [10, 9]
    """
    # 7 and 07 are two labels, so zeros in front keep a column text.
    whole = series.dtype == pl.String and series.str.contains(CANONICAL_INTEGER).all()
    numbers = series.cast(pl.Int64, strict=False) if whole else series
    return series if numbers.null_count() else numbers


def place_of(label: Label) -> tuple[bool, Label]:
    """Return what to sort labels of one kind by.

    Reviewers' codes are not sorted as other labels are: they come in the order of the
    names behind them, which a list that is shown must not tell.

    Examples:
        >>> sorted(["b", "a"], key=place_of), sorted([10, 9], key=place_of)
        (['a', 'b'], [9, 10])
    """
    return isinstance(label, str), label


def and_more(count: int) -> str:
    """Say how many more there are than a notice names.

    Examples:
        >>> and_more(7), and_more(5)
        (' and 2 more', '')
    """
    return f" and {count - NAMED} more" if count > NAMED else ""


def number_series(values: object, what: str, source: Source) -> tuple[Scores, Flags]:
    """Return finite numbers, and a mask of the rows that have none.

    An empty cell, null, NaN or a word such as "n/a" is missing; any other value that is
    not a finite number is an error. Booleans are 0 and 1, and words whose categories
    have an order are its places from 1.
    """
    series = _series(values, what, source, _number)
    if words := ordered_words(series):
        places = pl.Series(range(1, len(words) + 1), dtype=pl.Float64)
        texts = series.cast(pl.String).str.strip_chars()
        numeric = texts.replace_strict(words, places, default=None)
    elif series.dtype in TEXTUAL or series.dtype.is_decimal():
        # A decimal goes by its digits, so that it is rounded once, as text is.
        numeric = _parse_numbers(series.cast(pl.String), what, source)
    else:
        numeric = series.cast(pl.Float64).fill_nan(None)
    # Adding zero turns -0.0 into 0.0, so that equal scores have equal bytes.
    numbers = numeric.fill_null(0.0).to_numpy() + 0.0
    bad = []
    for row in np.flatnonzero(~(np.abs(numbers) < EXACT_BELOW)).tolist():
        finite = math.isfinite(numbers[row])
        digits = str(series[row]).strip().lstrip("+-").lstrip("0")
        # An integer that a double would change might tie with others.
        if not finite or (digits.isdecimal() and int(digits) != abs(int(numbers[row]))):
            rule = "fit 53 bits exactly" if finite else "be finite"
            bad.append((row, f"{what} must {rule}, got {quote(series[row])}", ""))
    if bad:
        raise source.each(bad)
    return numbers, numeric.is_null().to_numpy()


def level_series(values: object, what: str, source: Source) -> pl.Series:
    """Return confidences as ordered levels, null where there is none.

    Examples:
        >>> level_series([4, 2, None, 4], "confidence", Source()).to_list()
        ['4', '2', None, '4']
        >>> level_series(range(100), "sure", Source()).dtype.categories.to_list()
        ['0 to 19', '20 to 39', '40 to 59', '60 to 79', '80 to 99']
    """
    words, places = ordered_words(values, numbers=True), values
    if words and isinstance(values, pl.Series):
        steps = pl.Series(range(1, len(words) + 1), dtype=pl.Float64)
        texts = values.cast(pl.String).str.strip_chars()
        places = texts.replace_strict(words, steps, default=None)
    numbers, missing = number_series(places, what, source)
    answers = numbers[~missing]
    if len(answers) == 0:
        raise source.whole(f"{what} holds no confidence. Name another column.")
    highest = np.unique(answers)
    if len(highest) > MOST_LEVELS:
        shares = np.arange(1, GROUPS + 1) / GROUPS
        highest = np.unique(np.quantile(answers, shares, method="inverted_cdf"))
        lowest = [answers[answers > end].min() for end in (-np.inf, *highest[:-1])]
        pairs = zip(lowest, highest, strict=True)
        labels = [f"{low:g} to {high:g}" for low, high in pairs]
    else:
        labels = [words[int(end) - 1] if words else f"{end:.15g}" for end in highest]
    codes = pl.Series(np.searchsorted(highest, numbers).astype(np.int64))
    named = codes.replace_strict(dict(enumerate(labels)), return_dtype=pl.Enum(labels))
    return named.set(pl.Series(missing), None) if missing.any() else named


def time_series(
    values: object, what: str, source: Source, *, gaps: bool = False
) -> pl.Series:
    """Return times as numbers that grow with them; numbers stay as they are.

    Times are in microseconds. Empty cells are refused, or with gaps infinite.

    Examples:
        >>> time_series(["2026-05-01", "2026-05-03"], "day", Source()).diff().to_list()
        [None, 172800000000.0]
    """
    native = nw.from_native(values, allow_series=True, pass_through=True)
    listed = column_values(native) if isinstance(native, nw.Series) else list(native)  # type: ignore[call-overload]  # a column
    series = as_series(listed)
    if series.dtype in (pl.Date, pl.Datetime):
        series = series.cast(pl.Datetime("us"))
    if series.dtype.is_temporal():
        numbers = series.to_physical().cast(pl.Float64)
    else:
        numbers = series.cast(pl.Float64, strict=False)
        if numbers.null_count() and series.dtype in TEXTUAL:
            times = series.cast(pl.String).str.strip_chars()
            with contextlib.suppress(pl.exceptions.ComputeError):
                times = times.str.to_datetime(time_unit="us", strict=False)
                numbers = times.to_physical().cast(pl.Float64)
    rule = f"{what} must be a number, or a time such as 2026-11-18 09:30, got"
    unread = (~numbers.is_finite()).fill_null(value=True)
    if gaps:
        unread &= series.cast(pl.String).str.strip_chars().fill_null("") != ""
        numbers = numbers.fill_nan(None).fill_null(math.inf)
    if len(empty := unread.arg_true()):
        raise source.each((row, f"{rule} {quote(series[row])}", "") for row in empty)
    return numbers


def ordered_words(values: object, *, numbers: bool = False) -> list[str]:
    """Return the words of a column whose categories have an order, the lowest first.

    Args:
        values: The column.
        numbers: Whether numbers are words, too.

    Examples:
        >>> ordered_words(pl.Series(["fair"], dtype=pl.Enum(["poor", "fair", "n/a"])))
        ['poor', 'fair']
        >>> ordered_words(pl.Series(["1"], dtype=pl.Enum(["1", "2"])))
        []
    """
    kind = values.dtype if isinstance(values, pl.Series) else None
    if not isinstance(kind, pl.Enum):
        return []
    texts = kind.categories.str.strip_chars()
    words = texts.filter(~texts.str.to_lowercase().is_in(["", *MISSING_WORDS]))
    numeric = words.str.contains(NUMBER).all() and not numbers
    return [] if numeric else words.to_list()


def column_values(column: nw.Series[IntoSeries]) -> pl.Series | list[object]:
    """Return a dataframe's column as polars, or value by value where it is mixed."""
    if column.dtype not in (nw.Object, nw.Unknown):
        try:
            values = column.to_polars()
            if isinstance(column.dtype, nw.Enum):
                # A category of pandas may be a number, which stands as text here.
                order = pl.Enum([*map(str, column.dtype.categories)])
                values = values.cast(pl.String).cast(order)
        except (ImportError, TypeError, ValueError, NotImplementedError):
            # pandas without PyArrow, or a value of another kind than it looked like.
            pass
        else:
            return values
    return [None if _is_missing(value) else value for value in column.to_list()]


def _native_column(values: object) -> object:
    """Return a column of any dataframe as polars or a list, anything else as it is."""
    polars = isinstance(values, pl.Series) and values.dtype not in (pl.Object, pl.Null)
    if polars or isinstance(values, list):
        return values
    native = nw.from_native(values, allow_series=True, pass_through=True)
    if isinstance(native, nw.Series):
        return column_values(native)
    return None if isinstance(native, nw.DataFrame | nw.LazyFrame) else native


def as_valid(text: str) -> str:
    """Return a text in which half a character, as JSON may hold, is a question mark."""
    return text.encode(errors="replace").decode()


def column_texts(values: object) -> pl.Series:
    """Return a column of anything as texts, as they are, null where there is none.

    Examples:
        >>> column_texts([1, "a ", None]).to_list()
        ['1', 'a ', None]
    """
    native = _native_column(values)
    if native is None:
        raise RatingsError(f"A column must be a sequence, got {quote(values)}.")
    series = as_series(native if isinstance(native, pl.Series) else list(native))  # type: ignore[call-overload]  # a column
    if series.dtype == pl.Object or series.dtype.is_nested():
        texts = [None if value is None else as_valid(str(value)) for value in series]
        return pl.Series(texts, dtype=pl.String)
    return series.cast(pl.String)


def _is_missing(value: object) -> bool:
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in MISSING_TYPES


def as_series(values: pl.Series | Sequence[object]) -> pl.Series:
    """Return a column as a series: of one plain kind, or else of Python's objects.

    Examples:
        >>> as_series(["x", None]).dtype, as_series([1, "x"]).dtype
        (String, Object)
    """
    if isinstance(values, pl.Series):
        return values
    kinds = {*map(type, values)} - {type(None)} or {str}
    # Half a character and a very large integer are named later, with their place.
    if kinds == {int} and any(abs(value or 0) >= 2**63 for value in values):  # type: ignore[arg-type]  # integers
        kinds.add(object)
    with contextlib.suppress(UnicodeEncodeError):
        kind = PLAIN.get(kinds.pop()) if len(kinds) == 1 else None
        return pl.Series(values, dtype=kind or pl.Object)
    return pl.Series(values, dtype=pl.Object)


def _series(
    values: object,
    what: str,
    source: Source,
    convert: Callable[[object], Label | float | None],
) -> pl.Series:
    if isinstance(values, np.ndarray):
        # A masked array hands its hidden values to a reader that does not ask for them.
        values = values.tolist()
    native = _native_column(values)
    unordered = isinstance(native, str | bytes | Mapping | Set)
    if unordered or not isinstance(native, Iterable):
        raise RatingsError(f"{what}s must be a sequence, got {quote(values)}.")
    series = as_series(native if isinstance(native, pl.Series) else list(native))
    numeric = series.dtype.is_numeric() or series.dtype == pl.Boolean
    number = convert is _number and numeric
    if number or series.dtype.is_integer() or series.dtype in TEXTUAL:
        return series
    converted: list[Label | float | None] = []
    for row, value in enumerate(series.to_list()):
        try:
            converted.append(convert(value))
        except (ValueError, OverflowError) as error:
            raise source.at(row, f"{what} {error}, got {quote(value)}") from None
    if not any(isinstance(value, str) for value in converted):
        return pl.Series(converted)
    texts = [None if value is None else str(value) for value in converted]
    return pl.Series(texts, dtype=pl.String)


def as_label(value: object) -> Label | None:
    """Return one value as a label, None if it is missing.

    Raises:
        ValueError: If it cannot be one.

    Examples:
        >>> as_label(7.0), as_label(" x"), as_label(None)
        (7, ' x', None)
    """
    if value is None:
        return None
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        if abs(int(value)) >= 2**64:
            raise ValueError("must be text or an integer of at most 64 bits")
        return int(value) if -(2**63) <= value < 2**63 else str(value)
    if isinstance(value, float | np.floating):
        number = float(value)
        if math.isnan(number):
            return None
        if number.is_integer() and abs(number) < EXACT_BELOW:
            return int(number)
    raise ValueError("must be text or an integer")


def _text(value: str) -> str:
    # A member of a string Enum prints as its name but is its value.
    text = str.__str__(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must be valid Unicode text") from None
    return text


def _number(value: object) -> float | str | None:
    if value is None:
        return None
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool | np.bool_) or not isinstance(
        value, int | float | Fraction | Decimal | np.integer | np.floating
    ):
        raise ValueError("must be a number")
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise ValueError("must be finite") from None
    if math.isinf(number):
        raise ValueError("must be finite")
    return None if math.isnan(number) else number


def _parse_numbers(series: pl.Series, what: str, source: Source) -> pl.Series:
    numeric = series.cast(pl.Float64, strict=False)
    # Of finite numbers polars reads those that NUMBER describes, and no others.
    if numeric.null_count() == series.null_count() and numeric.is_finite().all():
        return numeric
    texts = series.str.strip_chars()
    texts = texts.set(texts.str.to_lowercase().is_in(["", *MISSING_WORDS]), None)
    bad = (~texts.str.contains(NUMBER)).fill_null(value=False).arg_true()
    if len(bad):
        # Where most are bad, they are of another kind, and one tells of all.
        most = 2 * len(bad) > len(texts) - texts.null_count()
        rule = f"{what} must be a number, got "
        named = bad[: 1 if most else None]
        hints = ((row, quote(texts[row]), _hint(texts[row], source)) for row in named)
        raise source.each((row, rule + value, hint) for row, value, hint in hints)
    return texts.cast(pl.Float64)


def require_no_thousands(cells: pl.Series, what: str, source: Source) -> None:
    """Refuse 1.250 where commas are decimal points: it may be a thousand.

    Raises:
        RatingsError: If there is such a cell; each line is named.

    Examples:
        >>> require_no_thousands(pl.Series(["7,5", "1.250"]), "score", Source("r.csv"))
        Traceback (most recent call last):
        ...
        evenhand.errors.RatingsError: r.csv:1: score has decimal commas, so '1.250' may
        be a thousand. Write thousands without a point, and decimals with one sign.
    """
    doubtful = cells.str.contains(POINT_THOUSANDS).fill_null(value=False).arg_true()
    if len(doubtful):
        rule = f"{what} has decimal commas, so {{}} may be a thousand"
        advice = "Write thousands without a point, and decimals with one sign."
        raise source.each(
            (row, rule.format(quote(cells[row].strip())), advice) for row in doubtful
        )


def _hint(value: str, source: Source) -> str:
    """Say what to write instead of a text that is no number."""
    if re.fullmatch(COMMAS, value):
        option = "; or, if commas are decimal points, say so with --decimal ','"
        more = "" if source.name is None else option
        return f"Write decimals with a point, and thousands without a comma{more}."
    if not source.orders or INFINITE.fullmatch(value):
        return ""
    order = "give their order with scale= or --scale 'worst<...<best'"
    if WORD.fullmatch(value):
        best = "or the best letter with --scale best=A"
        return f"If these scores are words, {order}, {best}."
    return f"Write a plain number; or, if these scores are words, {order}."


Kind = Literal["scores", "ranks", "comparisons"]

NAME_SHOWN = 60
LONG_PREFIX = 20
"""Names that share so many letters are told apart by what comes after them."""
ID = re.compile(r"(?i:(?:\b|_)(?:id|number|nr|no)\b)|#|[a-z]I[dD]$")
"""How a column of ids is called."""

COUNT = "count"
ALIASES: dict[str, frozenset[str]] = {
    part: frozenset([part, *names.split()])
    for part, names in {
        "reviewer": "judge rater user worker annotator assessor grader evaluator "
        "referee participant reviewername",
        "item": "paper submission entry project task candidate product proposal "
        "application variant assessee",
        "score": "rating grade mark label points overallrating overallscore "
        "overallmerit overallevaluation",
        "rank": "ranking position place",
        "winner": "preferred better",
        "loser": "rejected worse",
        "pair": "",
        "weight": "",
        "tie": "tied istie",
    }.items()
}
"""Names under which each column is found, in lower case without blanks and id."""
WIDER: dict[str, frozenset[str]] = {
    part: frozenset(names.split())
    for part, names in {
        "reviewer": "member respondent responder voter critic examiner listener "
        "viewer taster panelist panellist juror jury scorer marker coder labeler "
        "labeller turker customer guest observer tester username useremail "
        "reviewedby ratedby scoredby submittedby completedby revieweremail judgeemail "
        "raterid prolificpid prolific",
        "item": "movie film restaurant aspect wavpath wav wavfile stimulus stimuli "
        "clip video audio song image photo picture recipe dish wine beer book essay "
        "article document system model talk abstract poster pitch startup company idea "
        "team contestant applicant nominee player athlete contender prototype "
        "alternative filename utterance story poem course teacher website brand "
        "manuscript summary translation",
        "score": "star mos numgrade numericgrade numscore numericscore gradenum point "
        "overall overallgrade finalscore finalgrade finalrating totalscore totalpoints "
        "total evaluation assessment recommendation merit starrating userrating "
        "userscore judgescore humanscore reviewscore opinionscore ratingvalue likert "
        "liking rate",
    }.items()
}
"""Names that people use beside these; they count where no column has one of these."""
WATCHED = ("order", "answered", "probability")
"""What a comparison that is watched may need besides."""
UNSAID = frozenset({"id", "name", "number", "no", "nr", "uid", "input", "answer"})
"""Words that do not say what a column holds."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Column names as found or given; empty where there is no such column."""

    reviewer: str = ""
    item: str = ""
    score: str = ""
    rank: str = ""
    winner: str = ""
    loser: str = ""
    pair: str = ""
    weight: str = ""
    tie: str = ""
    cluster: str = ""
    order: str = ""
    answered: str = ""
    probability: str = ""
    confidence: str = ""

    @property
    def kind(self) -> Kind:
        """What the table holds: "scores", "ranks" or "comparisons"."""
        if self.winner:
            return "comparisons"
        return "scores" if self.score else "ranks"


def given_columns(*names: str | None, **more: str | None) -> Columns:
    """Take columns that a user named, None or empty where none was.

    Args:
        names: Columns in the order of the fields of Columns.
        more: Columns by their field.

    Raises:
        OptionError: If a name is not text.

    Examples:
        >>> given_columns("judge", item=None).reviewer
        'judge'
    """
    declared = dict(zip(Columns.__slots__, names, strict=False)) | more
    require_text("the name of a column", **declared)
    return Columns(**{part: name or "" for part, name in declared.items()})


def find_columns(names: Sequence[str], declared: Columns, source: Source) -> Columns:
    """Choose the columns of a table.

    Args:
        names: The table's column names.
        declared: Columns that the user named; these must exist.
        source: Where the table came from, for messages.

    Returns:
        The columns to read, complete for one kind of data.

    Raises:
        RatingsError: If a column is missing, unknown or ambiguous.

    Examples:
        >>> from evenhand.columns import Source
        >>> find_columns(["Judge", "paper_id", "mark"], Columns(), Source()).score
        'mark'
    """
    declared = Columns(
        *(_existing_column(name, names, source) for name in astuple(declared))
    )
    wanted = _needed_parts(names, declared)
    votes = "winner" in wanted
    optional = ("reviewer", "tie") if votes else ("pair",)
    scored = ("weight", *WATCHED, *(("confidence",) if "score" in wanted else ()))
    more = (*optional, "cluster", *(() if votes else scored))
    for part in Columns.__slots__:
        if getattr(declared, part) and part not in (*wanted, *more):
            raise source.whole(
                f"Columns for {wanted[-1]} and for {part} were both named. Name those "
                "of one kind of data."
            )
    columns = {part: _choose(part, names, declared, source) for part in wanted}
    columns |= {
        part: _choose(part, names, declared, source)
        for part in optional
        if candidates(part, names, declared)
    }
    if declared.weight:
        columns["weight"] = declared.weight
        if declared.confidence:
            raise source.whole("Name weight or confidence, not both.")
    used = list(columns.values())
    if len(set(used)) < len(used):
        twice = next(name for name in used if used.count(name) > 1)
        text = f"Column {quote(twice)} is named for two things. Name two columns."
        raise source.whole(text)
    for part in ("cluster", "confidence", *WATCHED):
        columns[part] = getattr(declared, part)
    return Columns(**columns)


def _existing_column(name: str, names: Sequence[str], source: Source) -> str:
    """Return a column that the user named, which must exist."""
    if not name or name in names:
        return name
    near = matching_names(name, names)
    if len(near) == 1:
        return near[0]
    raise source.unknown("column", name, cut_alike(names))


def _needed_parts(names: Sequence[str], declared: Columns) -> tuple[str, ...]:
    def there(*parts: str) -> bool:
        return all(candidates(kind, names, declared) for kind in parts)

    if not (declared.winner or declared.loser):
        for kind in sorted(
            ("score", "rank"), key=lambda part: not getattr(declared, part)
        ):
            if getattr(declared, kind) or there("item", kind):
                return "reviewer", "item", kind
        if not there("winner", "loser"):
            scored = any(likely_columns("score", names, declared))
            ranked = there("rank") and any(likely_columns("item", names, declared))
            return "reviewer", "item", "rank" if ranked and not scored else "score"
    return "winner", "loser"


def likely_columns(part: str, names: Sequence[str], declared: Columns) -> list[str]:
    """Return the columns that may hold a part, also by names that are less usual.

    Examples:
        >>> likely_columns("item", ["userId", "movieId", "tag"], Columns())
        ['movieId']
    """
    usual = candidates(part, names, declared)
    return usual or candidates(part, names, declared, wider=True)


def candidates(
    part: str, names: Sequence[str], declared: Columns, *, wider: bool = False
) -> list[str]:
    """Return the columns that may hold a part, by their names.

    Args:
        part: Which part.
        names: The table's column names.
        declared: Columns that the user named.
        wider: Whether less usual names count, and plurals.

    Examples:
        >>> candidates("reviewer", ["judge", "paper", "mark"], Columns())
        ['judge']
    """
    chosen = getattr(declared, part)
    if chosen:
        return [chosen]
    taken = astuple(declared)
    free = [name for name in names if name not in taken]
    exact = [name for name in free if name.strip().casefold() == part]
    alike = [name for name in free if is_alias(name, ALIASES[part])]
    if wider:
        usual = ALIASES[part] | WIDER.get(part, frozenset())
        alike = [name for name in free if _may_mean(name, usual)]
        if len({_bare_word(name) for name in alike}) > 1:
            return alike
    # Beside one column of ids the others are names, such as an item's title.
    ids = [name for name in alike if ID.search(name)]
    return exact or (ids if len(ids) == 1 else alike)


def _choose(part: str, names: Sequence[str], declared: Columns, source: Source) -> str:
    matches = likely_columns(part, names, declared)
    if len(matches) == 1:
        return matches[0]
    option = option_for(part)
    if matches:
        raise source.whole(
            f"Several columns may be the {part}: {listing(cut_alike(matches))}. "
            f"Say which with {option}."
        )
    if source.name is not None and any(re.fullmatch(NUMBER, name) for name in names):
        columns = listing(cut_alike(names))
        raise source.whole(
            f"The first line must hold the column names, got {columns}. If it holds "
            "scores, say header=False or --no-header; if its numbers name reviewers or "
            "items, say which its rows are with rows= or --rows."
        )
    free = Columns(**{part: getattr(declared, part)})
    for name in likely_columns(part, names, free):
        role = next(role for role, taken in asdict(declared).items() if taken == name)
        raise source.whole(
            f"{name!r} is already the {role}. Say which column is the {part} with "
            f"{option}."
        )
    raise source.whole(
        f"No column for the {part} among {listing(cut_alike(names)) or 'none at all'}. "
        f"Say which it is with {option}."
    )


def option_for(part: str) -> str:
    """Say how a column is named, in Python and on the command line.

    Examples:
        >>> option_for("item"), option_for("loser")
        ('item= or --item', 'loser= or --column loser=COLUMN')
    """
    own = part in ("reviewer", "item", "score")
    return f"{part}= or --{part}" if own else f"{part}= or --column {part}=COLUMN"


def is_alias(name: str, aliases: frozenset[str]) -> bool:
    """Return whether a column's name is one of these, but for case, blanks and id.

    Examples:
        >>> is_alias("Paper_ID", ALIASES["item"]), is_alias("mark", ALIASES["item"])
        (True, False)
    """
    words = re.sub(r"[_-]", " ", name.casefold()).split()
    plain = "".join(word for word in words if word not in ("id", "name", "number", "#"))
    return plain in aliases or plain.removesuffix("id") in aliases


def name_words(name: str) -> list[str]:
    """Return the words of a column's name, in lower case.

    Examples:
        >>> name_words("movieId"), name_words("WAV_PATH"), name_words("Overall score")
        (['movie', 'id'], ['wav', 'path'], ['overall', 'score'])
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return re.sub(r"[\W_]+", " ", spaced).casefold().split()


def _bare_word(name: str) -> str:
    """Join the words of a column's name that say what it holds."""
    return "".join(word for word in name_words(name) if word not in UNSAID)


def _may_mean(name: str, usual: frozenset[str]) -> bool:
    """Return whether a column's name is one of these, or its plural."""
    word = _bare_word(name)
    return not usual.isdisjoint({word, word.removesuffix("id"), word.removesuffix("s")})


def matching_names(name: str, names: Sequence[str]) -> list[str]:
    """Return the names that a text means: one of them, as it is or as it is shown."""
    cut = dict(zip(names, cut_alike(names), strict=True))
    bare = name.strip().strip(".")
    return [
        column
        for column in names
        if bare in (column.strip().strip("."), cut[column].strip("."))
    ]


def cut_alike(names: Iterable[str]) -> list[str]:
    """Cut names so that one sees where they differ, for a list of them.

    Examples:
        >>> cut_alike(["How do you rate the talk of Anna?", "score",
        ...            "How do you rate the talk of Bo?"])
        ['...Anna?', 'score', '...Bo?']
    """
    listed = list(names)
    ordered = sorted(listed)
    shared = dict.fromkeys(listed, 0)
    for name, following in itertools.pairwise(ordered):
        length = len(commonprefix([name, following]))  # noqa: RUF071 - names, not paths
        shared[name], shared[following] = max(shared[name], length), length
    cuts = []
    for label in listed:
        start = label.rfind(" ", 0, shared[label]) + 1
        text = f"...{label[start:]}" if start >= LONG_PREFIX else label
        cuts.append(text if len(text) <= NAME_SHOWN else text[: NAME_SHOWN - 3] + "...")
    return cuts


def first_repeat(names: Iterable[str]) -> str:
    """Return the first name that stands twice, or an empty text.

    Examples:
        >>> first_repeat(["item", "score", "item"])
        'item'
    """
    counts = Counter(names)
    return next((name for name, count in counts.items() if name and count > 1), "")


def are_counts(names: Iterable[str], declared: Columns | None = None) -> bool:
    """Say whether a table holds counts: a column `count`, and none for the reviewer.

    Examples:
        >>> are_counts(["item", "score", "count"])
        True
        >>> are_counts(["judge", "item", "score", "count"])
        False
    """
    listed, declared = list(names), declared or Columns()
    return (
        COUNT in listed
        and all(candidates(part, listed, declared) for part in ("item", "score"))
        and not candidates("reviewer", listed, declared)
        and COUNT not in (declared.item, declared.score)
    )
