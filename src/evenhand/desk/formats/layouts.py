"""What every platform's module offers, and the words and look-ups that they share.

A layout knows one platform's export: it says from a table's columns whether the table
is one, and takes reviewer, item and score from it. Everything after that (score words,
missing scores, labels) is the same for all.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from evenhand._columns import Columns
from evenhand._labels import NUMBER
from evenhand.errors import OptionError, RatingsError, listing, unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evenhand._labels import Source
    from evenhand._results import Notice
    from evenhand.desk.formats.tables import Table

Values = pl.Series | list[object]

MOST_WORDS = 12
LONGEST_WORD = 40
ABOUT_REVIEWERS = re.compile(
    r"confiden|expert|certain|familiar|knowledge|\bknow\b|qualif|\b(?:exp|con|kno|fam)\b"
)
MERIT = re.compile(
    r"\b(?:overall|merits?|ratings?|scores?|recommendations?|evaluations?|grades?|marks?|"
    r"ove|mer|rat|sco|rec|eva|gra)\b"
)
"""What a score is called; the short ones are HotCRP's, as in OveMer."""
ONLY_SCORES = ("rank", "winner", "loser", "pair")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user said beyond the file.

    Attributes:
        columns: Columns that were named by option; empty where none was.
        rows: What the rows of a wide table are: "items", "reviewers" or "".
        companion: A second table of the same export, if one was given.
    """

    columns: Columns = field(default_factory=Columns)
    rows: str = ""
    companion: Table | None = None


@dataclass(frozen=True, slots=True)
class Long:
    """Ratings in long form, not yet checked.

    Attributes:
        columns: Values by name, all of one length.
        names: Which of them is the reviewer, the item, the score and so on.
        source: The file and the line of each row, for messages.
        said: Where each part was taken from, to follow "Read as ...".
        titles: What people call an item, by its label as text.
        notices: What was left out, and what the reader must know.
    """

    columns: Mapping[str, Values]
    names: Columns
    source: Source
    said: str
    titles: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """One platform's export.

    Attributes:
        name: What --format calls it.
        title: What people call it.
        recognise: From a table to the reason why it is this layout, such as "columns
            paper, review and email"; empty if it is not.
        take: From a table and the user's wishes to the long form.
        header_marks: First names of headers that other lines may come before.
    """

    name: str
    title: str
    recognise: Callable[[Table], str]
    take: Callable[[Table, Asked], Long]
    header_marks: tuple[str, ...] = ()


def plain(name: str) -> str:
    """Reduce a column name to what people mean by it.

    Examples:
        >>> plain(" Reviewer_Name "), plain("Paper-ID")
        ('reviewer name', 'paper id')
    """
    return " ".join(re.sub(r"[_\s-]+", " ", name).casefold().split())


def find(table: Table, *names: str) -> str:
    """Return the table's column that has one of these names, or an empty text.

    Examples:
        >>> from evenhand._labels import Source
        >>> from evenhand.desk.formats.tables import Table
        >>> table = Table({"Paper ID": ["1"]}, Source())
        >>> find(table, "pid", "paper id"), find(table, "email")
        ('Paper ID', '')
    """
    known = {plain(name): name for name in reversed(list(table.columns))}
    return next((known[plain(name)] for name in names if plain(name) in known), "")


def why(table: Table, *names: str) -> str:
    """Return the reason for a layout: that the table has all these columns.

    Examples:
        >>> from evenhand._labels import Source
        >>> from evenhand.desk.formats.tables import Table
        >>> table = Table({"Winner ID": ["1"], "Loser ID": ["2"]}, Source())
        >>> why(table, "winner id", "loser id"), why(table, "winner id", "time")
        ("columns 'Winner ID' and 'Loser ID'", '')
    """
    found = [find(table, name) for name in names]
    if not all(found):
        return ""
    *first, last = (repr(name) for name in found)
    return f"columns {', '.join(first)} and {last}" if first else f"column {last}"


def texts(values: Values) -> list[str]:
    """Return a column as stripped text, empty where there is none.

    Examples:
        >>> texts([" a ", None, 3, 2.0])
        ['a', '', '3', '2']
    """
    if isinstance(values, pl.Series) and values.dtype == pl.String:
        return values.str.strip_chars().fill_null("").to_list()
    return [as_text(value) for value in values]


def as_text(value: object) -> str:
    """Return one value as `texts` does.

    Examples:
        >>> as_text(2.0), as_text(None)
        ('2', '')
    """
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def choose_score(given: str, fields: Sequence[str], source: Source) -> str:
    """Choose the field that holds the score.

    Args:
        given: What the user named, or empty.
        fields: Those that may be meant.
        source: The file, for messages.

    Returns:
        The named field, or the only one if it is called what scores are called.

    Raises:
        RatingsError: If it is unknown, or there is no such field; the fields are
            listed.

    Examples:
        >>> from evenhand._labels import Source
        >>> choose_score("overall merit", ["Overall merit", "Expertise"], Source())
        'Overall merit'
        >>> choose_score("", ["Overall merit", "Expertise"], Source("r.csv"))
        Traceback (most recent call last):
        ...
        evenhand.errors.RatingsError: r.csv: Several fields may be the score: 'Overall
        merit', 'Expertise'. Say which with score= or --score.
    """
    if given:
        if given in fields:
            return given
        near = [name for name in fields if plain(name) == plain(given)]
        if len(near) == 1:
            return near[0]
        text = unknown("score field", given, fields)
        raise source.whole(text[:1].upper() + text[1:])
    if len(fields) == 1:
        words = plain(re.sub("(?<=[a-z])(?=[A-Z])", " ", fields[0]))
        if ABOUT_REVIEWERS.search(words):
            raise source.whole(
                f"The only field is {fields[0]!r}, which seems to be about the "
                "reviewer. If it is the score, say so with score= or --score."
            )
        if not MERIT.search(words):
            raise source.whole(
                f"The only field that may be the score is {fields[0]!r}. If it is, say "
                "so with score= or --score."
            )
        return fields[0]
    if fields:
        raise source.whole(
            f"Several fields may be the score: {listing(fields)}. Say which with "
            "score= or --score."
        )
    raise source.whole("No field holds scores.")


def looks_numeric(values: Values) -> bool:
    """Return whether a column holds numbers, of which some may be missing.

    Examples:
        >>> looks_numeric(["1", "", "2.5"]), looks_numeric(["a", "1"])
        (True, False)
        >>> looks_numeric(["", None])
        False
    """
    given = [text for text in texts(values) if text]
    return bool(given) and all(re.fullmatch(NUMBER, text) for text in given)


def may_be_scores(values: Values, least: int = 1) -> bool:
    """Return whether most of a column are numbers or few short words, at least so many.

    One bad cell must not hide the field: another would then be taken for the score.

    Examples:
        >>> may_be_scores(["3", "B", "4", "5"]), may_be_scores(["A long remark."])
        (True, False)
    """
    counts = Counter(texts(values))
    del counts[""]
    few = {
        text: n
        for text, n in counts.items()
        if len(text) <= LONGEST_WORD and not text.endswith(".")
    }
    numbers = sum(n for text, n in few.items() if re.fullmatch(NUMBER, text))
    words = sum(few.values()) if len(few) <= MOST_WORDS else 0
    return len(counts) >= least and 2 * max(numbers, words) >= counts.total()


def named(table: Table, given: str, *names: str) -> str:
    """Return the column that the user named, or else the platform's own.

    Raises:
        RatingsError: If there is no column of the name that the user gave.

    Examples:
        >>> from evenhand._labels import Source
        >>> from evenhand.desk.formats.tables import Table
        >>> table = Table({"Paper ID": ["1"], "track": ["2"]}, Source())
        >>> named(table, "", "pid", "paper id"), named(table, "Track", "pid")
        ('Paper ID', 'track')
    """
    if not given:
        return find(table, *names)
    found = given if given in table.columns else find(table, given)
    if not found:
        text = unknown("column", given, table.columns)
        raise table.source.whole(text[:1].upper() + text[1:])
    return found


def looks_graded(values: Values) -> bool:
    """Return whether a column may hold scores: numbers, or few short words again.

    Examples:
        >>> looks_graded(["A", "B", "A"]), looks_graded(["A long and only remark."])
        (True, False)
    """
    given = [text for text in texts(values) if text]
    if not given:
        return False
    if all(re.fullmatch(NUMBER, text) for text in given):
        return True
    return len(set(given)) <= MOST_WORDS and all(
        len(text) <= LONGEST_WORD and not text.endswith(".") for text in given
    )


def kept(columns: Mapping[str, Values], rows: Sequence[int]) -> dict[str, Values]:
    """Return these rows of every column.

    Examples:
        >>> kept({"a": ["x", "y", "z"]}, [0, 2])
        {'a': ['x', 'z']}
    """
    return {
        name: values.gather(list(rows))
        if isinstance(values, pl.Series)
        else [values[row] for row in rows]
        for name, values in columns.items()
    }


def lined(source: Source, rows: Sequence[int]) -> Source:
    """Return the source of these rows, so that messages name the right lines.

    Examples:
        >>> from evenhand._labels import Source
        >>> lined(Source("r.csv", lambda row: row + 2), [0, 4]).line(1)
        6
    """
    line = source.line
    kept_rows = list(rows)
    return type(source)(source.name, lambda row: line(kept_rows[row]), source.unit)


def titled(items: Iterable[str], titles: Iterable[str]) -> dict[str, str]:
    """Return the title of each item: the first that is given.

    Examples:
        >>> titled(["1", "1", "2"], ["", "On tea", ""])
        {'1': 'On tea'}
    """
    found: dict[str, str] = {}
    for item, title in zip(items, titles, strict=True):
        if item and title:
            found.setdefault(item, title)
    return found


def cells_of(table: Table, name: str) -> list[str]:
    """Return a column as text, empty where there is no such column.

    Examples:
        >>> from evenhand._labels import Source
        >>> from evenhand.desk.formats.tables import Table
        >>> cells_of(Table({"#": [1, 2]}, Source()), "version")
        ['', '']
    """
    found = find(table, name)
    if found:
        return texts(table.columns[found])
    return [""] * len(next(iter(table.columns.values())))


def check_options(
    asked: Asked,
    title: str,
    parts: Sequence[str] = ONLY_SCORES,
    *,
    one_file: bool = True,
) -> None:
    """Refuse options that a platform's export has no use for.

    Raises:
        OptionError: If one was given.

    Examples:
        >>> check_options(Asked(Columns(pair="team")), "CMT")
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: pair must be left out for CMT: it has scores.
    """
    for part in parts:
        if getattr(asked.columns, part):
            raise OptionError(f"{part} must be left out for {title}: it has scores.")
    if one_file and asked.companion is not None:
        raise OptionError(f"companion must be left out for {title}: one file is all.")


def no_column(source: Source, what: str, names: Iterable[str]) -> RatingsError:
    """Say that a column of the platform's is not there.

    Examples:
        >>> from evenhand._labels import Source
        >>> no_column(Source("r.csv"), "item", ["a", "b"])
        RatingsError("r.csv: No column for the item among 'a', 'b'. Say which it is with
        item= or --item.")
    """
    return source.whole(
        f"No column for the {what} among {listing(names)}. Say which it is with "
        f"{what}= or --{what}."
    )
