"""Exports: what a result holds, as tables for a spreadsheet or another program.

Each command names its tables. The table "ratings" is what was read, in the long form
and with codes instead of names if those were asked for. Read again, it has the same
hash; without codes, whoever gets it can repeat the result.

Names in a table come from strangers, so no format may run them. In CSV and TSV a cell
that a spreadsheet would take for a formula begins with an apostrophe, and every text is
quoted, as LibreOffice splits at several separators. In Excel every text is stored as
text, never as a formula or a link, and marked so that it stays text when its cell is
edited. Parquet and JSON hold names as they are.

CSV and TSV are UTF-8. They begin with a byte order mark if they hold anything but
ASCII, as Excel takes them for another coding otherwise and spoils names in silence;
plain files stay plain for scripts.
"""

from __future__ import annotations

import functools
import io
import json
from datetime import datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from polars import selectors

from evenhand._outputs import Output
from evenhand.ab.comparison import Comparison
from evenhand.claims import version
from evenhand.designs.assignment import ESCAPED
from evenhand.diagnosis.check import Check
from evenhand.errors import OptionError, listing, must_be, quote, unknown
from evenhand.formats.files import UTF8_MARK
from evenhand.formats.lists import safe_cell
from evenhand.grading import Grades
from evenhand.lazy import lazy
from evenhand.ranking.results import Ranking
from evenhand.ranking.selection import Intervals, Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import xlsxwriter
    from xlsxwriter import Workbook
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

    from evenhand.ratings import Ratings

    Result = Ranking | Comparison | Check | Grades | Selection
    Maker = Callable[..., pl.DataFrame]
    About = Mapping[str, str | int]
else:
    xlsxwriter = lazy("xlsxwriter")

COMMANDS = {Ranking: "rank", Comparison: "compare", Check: "check", Grades: "grade"}
COMMANDS |= {Selection: "select"}
"""The command that gives such a result."""
ALL = "all"
"""Every table of a command, for a format that holds several."""
SUFFIXES = (".csv", ".tsv", ".xlsx", ".parquet", ".json", ".jsonl")
SEVERAL = (".xlsx", ".json")
"""Formats of which one file holds several tables."""
SCHEMA = "evenhand.tables/1"
EXACT_WHOLE = 2.0**53
NUMBERS = selectors.float()
# Excel shows longer integers than these with zeros at their ends.
EXCEL_ROWS, EXCEL_TEXT, EXCEL_DIGITS = 1_048_576, 32_767, 10**15
# What is not read again from CSV, or from Excel, whose escapes not everyone undoes.
NOT_KEPT = "[\0\ufffe\uffff]|_x[0-9A-Fa-f]{4}_x[0-9A-Fa-f]{4}_"
WIDEST = 400
# Columns of reviewers and of draws.
REVIEWER = ["strictness", "offset", "offset_se", "spread", "slope", "slope_se"]
REVIEWER += ["agreement", "correlation"]
DRAW = ["first_item", "second_item", "p_first", "put_first", "reviewers", "anchors"]


def parse_export(text: str, command: str) -> tuple[str, str]:
    """Take apart what was given to --export: [TABLE=]PATH.

    What stands before the first "=" is a table if it is a plain word; anything else, as
    in "./a=b.csv", is part of the path. "ranking=a=b.csv" writes to "a=b.csv".

    Args:
        text: What was given.
        command: "rank", "compare" or "check".

    Returns:
        The table, or "all", and the path.

    Raises:
        OptionError: If there is no such table, no path, or the suffix is unknown.

    Examples:
        >>> parse_export("out.xlsx", "rank"), parse_export("draws=coins.csv", "rank")
        (('ranking', 'out.xlsx'), ('draws', 'coins.csv'))
        >>> parse_export("draws=coins.csv", "compare")
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: unknown table 'draws'. Known tables: 'comparison',
        'ratings', 'all'.
    """
    choices = TABLES[command]
    head, sign, tail = text.partition("=")
    named = bool(sign) and head.isalpha()
    table, path = (head.casefold(), tail) if named else (choices[0], text)
    if table not in (*choices, ALL):
        raise OptionError(unknown("table", head, (*choices, ALL)))
    _suffix(path, several=table == ALL)
    return table, path


def _suffix(path: str, *, several: bool = False) -> str:
    """Return the suffix that says how to write a file."""
    suffix = PurePath(path).suffix.casefold()
    suffixes = SEVERAL if several else SUFFIXES
    if suffix not in suffixes:
        content = "tables together" if several else "a table"
        raise must_be(
            f"export of {content}", f"a file ending in {listing(suffixes)}", path
        )
    return suffix


def export_outputs(
    exports: Iterable[tuple[str, str]],
    ratings: Ratings,
    result: Result,
    check: Check | None = None,
) -> list[Output]:
    """Return the files to write; tables for one path go into one file.

    Args:
        exports: Table and path of each, as `parse_export` gives them.
        ratings: What was rated.
        result: The ranking, comparison, check or marks.
        check: The check of the same ratings, for the reviewers of a ranking.

    Returns:
        A file for each path.

    Raises:
        OptionError: If a format cannot hold what it is asked to.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> found = rank(ratings, method="mean", rng=7)
        >>> wanted = [("ranking", "a.xlsx"), ("draws", "a.xlsx"), ("ratings", "b.csv")]
        >>> [output.path for output in export_outputs(wanted, ratings, found)]
        ['a.xlsx', 'b.csv']
    """
    wanted: dict[Path, tuple[str, dict[str, pl.DataFrame]]] = {}
    for what, path in exports:
        _, tables = wanted.setdefault(Path(path).resolve(), (path, {}))
        for name in TABLES[COMMANDS[type(result)]] if what == ALL else (what,):
            tables[name] = table_of(name, ratings, result, check)
    facts = about(ratings, result)
    files = wanted.values()
    return [Output(path, export_tables(tables, path, facts)) for path, tables in files]


def about(ratings: Ratings, result: Result) -> dict[str, str | int]:
    """Say where tables came from, and what they may claim.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> about(ratings, rank(ratings, method="mean", rng=7))["seed"]
        '7'
    """
    options = {
        name: value for name, value in result.parameters.items() if value is not None
    }
    certificate = getattr(result, "certificate", None)
    facts: dict[str, str | int] = {
        "made by": f"evenhand {version()}",
        "method": getattr(result, "method", "check"),
        "options": json.dumps(options, ensure_ascii=False, default=str)
        if options
        else "",
        "seed": str(result.seed),
        "read as": ratings.read_as,
        **({} if isinstance(ratings, Intervals) else _about_ratings(ratings)),
        "what this may claim": "" if certificate is None else certificate.sentence,
    }
    notes = enumerate(result.notices, start=1)
    facts |= {f"note {number}": notice.message for number, notice in notes}
    return {name: fact for name, fact in facts.items() if fact != ""}


def _about_ratings(ratings: Ratings) -> dict[str, str | int]:
    return {
        "reviewers": ratings.n_reviewers,
        "items": ratings.n_items,
        "kind of ratings": ratings.kind,
        "ratings": ratings.n_ratings,
        "hash of the ratings": ratings.sha256,
    }


def table_of(
    what: str, ratings: Ratings, result: Result, check: Check | None = None
) -> pl.DataFrame:
    """Return one table of a result.

    Args:
        what: Name of the table.
        ratings: What was rated.
        result: The ranking, comparison, check or marks.
        check: The check of the same ratings, for the reviewers of a ranking.

    Returns:
        The table. A number that is not known is null.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> table_of("ranking", ratings, rank(ratings, rng=7))["item"].to_list()
        ['y', 'x']
    """
    of_check = what == "reviewers" and check is not None
    return MAKERS[what](ratings.public, check if of_check else result)


def _rows(rows: Iterable[Sequence[object]], names: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame([*rows], names, orient="row", infer_schema_length=None)


def _add_titles(frame: pl.DataFrame, ratings: Ratings, *items: str) -> pl.DataFrame:
    """Put items' titles, if any item has one, beside their labels."""
    titles = {str(item): title for item, title in ratings.titles.items()}
    for name in items if titles else ():
        called = [titles.get(str(item), "") for item in frame[name]]
        column = pl.Series("title" if name == "item" else f"{name}_title", called)
        frame = frame.insert_column(frame.get_column_index(name) + 1, column)
    return frame


def _ranking(_: Ratings, result: Ranking) -> pl.DataFrame:
    drawn = {item for draw in result.draws for item in draw.items}
    settled = pl.Series("settled_by_chance", [item in drawn for item in result.order])
    frame = result.to_frame().select("rank", pl.exclude("rank"), settled)
    return frame.drop("p_top", "side") if result.top is None else frame


def _reviewers(ratings: Ratings, check: Check) -> pl.DataFrame:
    loads = np.bincount(ratings.reviewer_codes)
    means = np.bincount(ratings.reviewer_codes, ratings.preference) / loads
    scored = ratings.kind == "scores"
    columns: dict[str, object] = {
        "reviewer": ratings.reviewer_labels,
        "ratings": loads,
        "mean_score": means if scored else [None] * len(loads),
    }
    people = check.reviewers or [None] * len(loads)
    for name in REVIEWER:
        values = [getattr(person, name, None) for person in people]
        columns[name.replace("_se", "_error")] = values
    return pl.DataFrame(columns, infer_schema_length=None)


def _draws(_: Ratings, result: Ranking) -> pl.DataFrame:
    rows = (
        (*draw.items, draw.p_first, draw.first, [*draw.reviewers], [*draw.anchors])
        for draw in result.draws
    )
    return _rows(rows, DRAW)


def _comparison(ratings: Ratings, result: Comparison) -> pl.DataFrame:
    claim = None if result.certificate is None else result.certificate.sentence
    frame = result.to_frame().rename({"p_first_se": "p_first_error"})
    frame = frame.with_columns(may_claim=pl.lit(claim, pl.String))
    return _add_titles(frame, ratings, "first", "second")


def _contradictions(ratings: Ratings, check: Check) -> pl.DataFrame:
    names = ["first", "second", "first_above", "second_above"]
    rows = ((*pair.items, *pair.votes) for pair in check.contradictions.worst)
    return _add_titles(_rows(rows, names), ratings, "first", "second")


def ratings_table(ratings: Ratings, _: object = None) -> pl.DataFrame:
    """Return what was read, so that reading it again gives the same ratings.

    Examples:
        >>> from evenhand import Ratings
        >>> ratings_table(Ratings(["a"], ["x"], [1])).rows()
        [('a', 'x', 1)]
    """
    if ratings.kind == "comparisons":
        return _pairs(ratings)
    frame = ratings.to_frame()
    if ratings.kind == "ranks":
        rank = (0.0 - pl.col("preference")).alias("rank")
        frame = frame.select("reviewer", "item", rank, pl.exclude(frame.columns[:3]))
    if ratings.pair_codes is not None:
        pairs = pl.Series(ratings.pair_labels).gather(ratings.pair_codes)
        frame = frame.with_columns(pair=pairs)
    for column in frame.select(NUMBERS):
        if (column.round() == column).all() and (column.abs() < EXACT_WHOLE).all():
            frame = frame.with_columns(column.cast(pl.Int64))
    return frame


def _pairs(ratings: Ratings) -> pl.DataFrame:
    # Each comparison is a reviewer with two rows, and rows go by reviewer.
    items = ratings.item_codes.reshape(-1, 2)
    above = ratings.preference.reshape(-1, 2).argmax(axis=1)[:, None]
    labels, people = pl.Series(ratings.item_labels), ratings.reviewer_labels
    columns: dict[str, Sequence[str] | pl.Series] = {}
    if isinstance(people[0], str):
        columns["reviewer"] = [str(label).rpartition("#")[0] for label in people]
    for name, side in (("winner", above), ("loser", 1 - above)):
        columns[name] = labels.gather(np.take_along_axis(items, side, axis=1)[:, 0])
    if ratings.tied_reviewers:
        columns["tie"] = pl.Series(
            np.ptp(ratings.preference.reshape(-1, 2), axis=1) == 0
        )
    return pl.DataFrame(columns)


TABLES = {
    "rank": ("ranking", "reviewers", "draws", "ratings"),
    "grade": ("grades", "ratings"),
    "compare": ("comparison", "ratings"),
    "select": ("selection", "rules", "ratings"),
    "check": ("reviewers", "contradictions", "ratings"),
}
"""Tables of each command; the first is the default."""
# What makes each table, of ratings and a result.
MAKERS: dict[str, Maker] = {
    "ranking": _ranking,
    "reviewers": _reviewers,
    "draws": _draws,
    "grades": lambda ratings, it: _add_titles(it.to_frame(), ratings, "item"),
    "selection": lambda ratings, it: _add_titles(it.to_frame(), ratings, "item"),
    "rules": lambda _, it: pl.DataFrame(it.rules),
    "comparison": _comparison,
    "contradictions": _contradictions,
    "ratings": ratings_table,
}


def export_tables(
    tables: Mapping[str, pl.DataFrame], path: str, about: About | None = None
) -> bytes:
    r"""Write tables as one file.

    Args:
        tables: Tables by name; the names are ours, never from data.
        path: The file; its suffix says how to write it.
        about: What the tables came from. Excel has a sheet for it, except beside
            ratings alone, which are to be read again, and JSON with several tables has
            it as a field.

    Returns:
        The bytes of the file.

    Raises:
        OptionError: If the suffix is unknown, the format holds one table only, or
            cannot hold a value.

    Examples:
        >>> table = pl.DataFrame({"item": ["=1+1", "tea"], "rank": [1, 2]})
        >>> export_tables({"ranking": table}, "out.csv")
        b'"item","rank"\n"\'=1+1",1\n"tea",2\n'
        >>> export_tables({"ranking": table}, "out.doc")
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: export of a table must be a file ending in
        '.csv', '.tsv', '.xlsx', '.parquet', '.json', '.jsonl', got 'out.doc'.
    """
    suffix = _suffix(path, several=len(tables) > 1)
    # What is not finite is not known.
    finite = pl.when(NUMBERS.is_finite()).then(NUMBERS)
    tables = {name: frame.with_columns(finite) for name, frame in tables.items()}
    ((name, table), *_) = tables.items()
    if suffix == ".parquet":
        file = io.BytesIO()
        table.write_parquet(file)
        return file.getvalue()
    if suffix == ".jsonl":
        return table.write_ndjson().encode()
    if suffix == ".json":
        return _json(tables, about).encode()
    tables = {name: _plain(table, path) for name, table in tables.items()}
    if suffix != ".xlsx":
        return _delimited_text(tables[name], "\t" if suffix == ".tsv" else ",").encode()
    if about is not None and [*tables] != ["ratings"]:
        facts = [(fact, str(value)) for fact, value in about.items()]
        tables["about"] = _rows(facts, ["about", "value"])
    return _workbook(tables)


def _plain(table: pl.DataFrame, path: str) -> pl.DataFrame:
    """Return lists as JSON, as a name may hold any character that would join them.

    Raises:
        OptionError: If a text, or so many rows, would not be read again as they are.
    """
    as_text = functools.partial(json.dumps, ensure_ascii=False, default=list)
    table = table.with_columns(pl.col(pl.List).map_elements(as_text, pl.String))
    for texts in table.select(pl.col(pl.String)):
        odd = texts.str.contains(NOT_KEPT) | (texts.str.len_bytes() > EXCEL_TEXT)
        if odd.any():
            raise OptionError(
                f"{path}: This file cannot hold {quote(texts.filter(odd)[0])} as it is."
                " Write it as .parquet or .jsonl."
            )
    if _suffix(path) == ".xlsx" and table.height >= EXCEL_ROWS:
        rows = f"a sheet of Excel with at most {EXCEL_ROWS:,} rows"
        raise must_be(path, rows, table.height + 1)
    return table


def _delimited_text(table: pl.DataFrame, separator: str) -> str:
    """Write a table as text with separators, safe to open in a spreadsheet."""
    # White space before a formula does not keep everyone from running it.
    texts = pl.col(pl.String).str.strip_chars()
    safe = table.with_columns(texts.map_elements(safe_cell, pl.String))
    text = safe.write_csv(separator=separator, quote_style="non_numeric")
    return text if text.isascii() else UTF8_MARK.decode() + text


def _json(tables: Mapping[str, pl.DataFrame], about: About | None) -> str:
    rows = {name: frame.to_dicts() for name, frame in tables.items()}
    whole = {"schema": SCHEMA, "about": about or {}, **rows}
    content = whole if len(rows) > 1 else next(iter(rows.values()))
    return f"{json.dumps(content, indent=2, ensure_ascii=False)}\n"


class _Exact(float):
    """A number that is written with all its digits; the writer keeps sixteen."""

    __slots__ = ()

    def __format__(self, _: str) -> str:
        return repr(float(self))


def new_workbook() -> tuple[Workbook, io.BytesIO, Format, Format]:
    """Begin a workbook in which no text runs.

    Returns:
        The workbook, its file, and formats of bold text and of text that stays text.
    """
    file = io.BytesIO()
    plain = {"strings_to_formulas": False, "strings_to_urls": False}
    book = xlsxwriter.Workbook(file, {"in_memory": True, **plain})
    # The time of writing would make two files of one result differ.
    book.set_properties({"created": datetime(2000, 1, 1)})
    formats = ({"bold": True}, {"quote_prefix": True})
    return book, file, *map(book.add_format, formats)


def _workbook(tables: Mapping[str, pl.DataFrame]) -> bytes:
    book, file, bold, text = new_workbook()
    for name, frame in tables.items():
        sheet = book.add_worksheet(name)
        sheet.write_row(0, 0, frame.columns, bold)
        for place, column in enumerate(frame):
            _fill(sheet, place, column.to_list(), text)
        sheet.freeze_panes(1, 0)
        sheet.autofilter(0, 0, frame.height, frame.width - 1)
        sheet.autofit(WIDEST)
    book.close()
    return file.getvalue()


def _fill(sheet: Worksheet, place: int, values: list[object], form: Format) -> None:
    for row, value in enumerate(values, start=1):
        if isinstance(value, int) and abs(value) < EXCEL_DIGITS:
            sheet.write(row, place, value)
        elif isinstance(value, float):
            sheet.write_number(row, place, _Exact(value))
        elif value is not None:
            # Our reader takes off the apostrophe of a label that looks escaped.
            mark = "'" if ESCAPED.match(str(value)) else ""
            sheet.write_string(row, place, f"{mark}{value}", form)
