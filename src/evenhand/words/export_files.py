"""Tables as files: CSV, TSV, Excel, Parquet, JSON, JSON lines, Markdown.

Names in a table come from strangers, so no format may run them. In CSV and TSV a cell
that a spreadsheet would take for a formula begins with an apostrophe, and a cell that
holds any usual separator is quoted, as LibreOffice splits at several of them. In Excel
every text is stored as text, never as a formula or a link, and marked so that it stays
text when its cell is edited. In Markdown whatever could end a cell, begin a tag or a
link is written as an entity. Parquet and JSON hold names as they are.

CSV and TSV are UTF-8. They begin with a byte order mark if they hold anything but
ASCII, as Excel takes them for another coding otherwise and spoils names in silence;
plain files stay plain for scripts.
"""

from __future__ import annotations

import io
import json
import math
import re
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING

import polars as pl

from evenhand.designs.assignment import ESCAPED
from evenhand.errors import OptionError, listing, printable, shown
from evenhand.formats.files import UTF8_MARK
from evenhand.formats.lists import safe_cell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

    from evenhand.claims import Json

    About = Mapping[str, str | int]

SUFFIXES = (".csv", ".tsv", ".xlsx", ".parquet", ".json", ".jsonl", ".md")
SEVERAL = (".xlsx", ".json", ".md")
"""Formats of which one file holds several tables."""
EXACT = "ratings"
"""The table that is read again, so nothing in it may be changed to fit a format."""
SCHEMA = "evenhand.tables/1"
SPECIAL = re.compile(r"""[,;|\t\r\n"]""")
# Excel shows longer integers than these with zeros at their ends.
EXCEL_ROWS, EXCEL_TEXT, EXCEL_DIGITS = 1_048_576, 32_767, 10**15
# The writer's escapes for these are not undone by everyone who reads them.
NOT_IN_EXCEL = re.compile("_x[0-9A-Fa-f]{4}_x[0-9A-Fa-f]{4}_|[\ufffe\uffff]")
WIDEST, NARROWEST, SAMPLED = 60, 8, 1000
ENTITIES = str.maketrans(
    {character: f"&#{ord(character)};" for character in "|\\`<>&[]$"}
    | {character: f"\\{character}" for character in "*_~"}
)


def suffix_of(path: str) -> str:
    """Return the suffix that says how to write a file.

    Raises:
        OptionError: If the suffix is not known.

    Examples:
        >>> suffix_of("out/Ranking.CSV")
        '.csv'
    """
    suffix = PurePath(path).suffix.casefold()
    if suffix not in SUFFIXES:
        raise OptionError(
            f"export must end in a known suffix, got {path!r}. Known suffixes: "
            f"{listing(SUFFIXES)}."
        )
    return suffix


def exported(
    tables: Mapping[str, pl.DataFrame], path: str, about: About | None = None
) -> bytes:
    r"""Write tables as one file.

    Args:
        tables: Tables by name; the names are ours, never from data.
        path: The file; its suffix says how to write it.
        about: What the tables came from. Excel has a sheet for it, except beside
            ratings alone, which are to be read again; Markdown says it below, and JSON
            with several tables has it as a field.

    Returns:
        The bytes of the file.

    Raises:
        OptionError: If the suffix is unknown, the format holds one table only, or
            cannot hold a value of the ratings.

    Examples:
        >>> table = pl.DataFrame({"item": ["=1+1", "tea"], "rank": [1, 2]})
        >>> exported({"ranking": table}, "out.csv")
        b"item,rank\n'=1+1,1\ntea,2\n"
        >>> exported({"ranking": table}, "out.doc")
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: export must end in a known suffix, got 'out.doc'.
        Known suffixes: '.csv', '.tsv', '.xlsx', '.parquet', '.json', '.jsonl', '.md'.
    """
    suffix = suffix_of(path)
    if len(tables) != 1 and suffix not in SEVERAL:
        raise OptionError(
            f"{path}: A {suffix} file holds one table, got {listing(tables)}. Give a "
            f"file for each, or one that ends in {listing(SEVERAL)}."
        )
    alone = next(iter(tables))
    if suffix == ".xlsx":
        return _workbook(tables, path, None if [*tables] == [EXACT] else about)
    if suffix == ".json":
        return _json(tables, about)
    if suffix == ".md":
        return _markdown(tables, about)
    if suffix == ".parquet":
        file = io.BytesIO()
        tables[alone].write_parquet(file)
        return file.getvalue()
    if suffix == ".jsonl":
        return _json_lines(tables[alone])
    table, exact = tables[alone], alone == EXACT
    if exact and (bad := _with_nul(table)) is not None:
        raise _does_not_fit(path, bad)
    return delimited(table, "\t" if suffix == ".tsv" else ",", exact=exact)


def delimited(
    table: pl.DataFrame, separator: str = ",", *, exact: bool = True
) -> bytes:
    r"""Write a table as text with separators, safe to open in a spreadsheet.

    Args:
        table: The table.
        separator: What stands between cells.
        exact: Whether text is to be read again as it is; if not, white space around it
            and NUL characters, which no reader takes, are left out.

    Returns:
        The text as UTF-8.

    Examples:
        >>> delimited(pl.DataFrame({"item": ["a;b", "-c"], "score": [1.0, 0.5]}))
        b'item,score\n"a;b",1.0\n\'-c,0.5\n'
    """

    def cell(text: str) -> str:
        # White space before a formula does not keep everyone from running it.
        safe = safe_cell(text if exact else text.replace("\0", "").strip())
        quoted = '"' + safe.replace('"', '""') + '"'
        return quoted if SPECIAL.search(safe) else safe

    columns = [_texts(column, cell, repr) for column in table]
    rows = [table.columns, *zip(*columns, strict=True)]
    text = "".join(f"{separator.join(row)}\n" for row in rows)
    return (b"" if text.isascii() else UTF8_MARK) + text.encode()


def _with_nul(table: pl.DataFrame) -> str | None:
    texts = (column for column in table if column.dtype == pl.String)
    return next((it for text in texts for it in text.unique() if "\0" in it), None)


def _texts(
    column: pl.Series, text: Callable[[str], str], number: Callable[[float], str]
) -> list[str]:
    """Return a column's cells; labels repeat, so each is looked at once."""
    if column.dtype == pl.String:
        found = {
            value: "" if value is None else text(value) for value in column.unique()
        }
        return [found[value] for value in column]
    if column.dtype == pl.List:
        return ["" if value is None else text(value) for value in _joined(column)]
    if column.dtype == pl.Boolean:
        return ["" if value is None else str(value).lower() for value in column]
    if column.dtype.is_float():
        return ["" if not _is_number(value) else number(value) for value in column]
    return ["" if value is None else str(value) for value in column]


def _joined(column: pl.Series) -> list[str | None]:
    """Return lists as JSON, as a name may hold any character that would join them."""
    return [
        None if value is None else json.dumps(value, ensure_ascii=False)
        for value in column.to_list()
    ]


def _is_number(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _does_not_fit(path: str, text: str) -> OptionError:
    return OptionError(
        f"{path}: A {suffix_of(path)} file cannot hold the label {shown(text)} as it "
        "is. Write ratings as .parquet or .jsonl."
    )


def _json(tables: Mapping[str, pl.DataFrame], about: About | None) -> bytes:
    rows = {name: _plain_rows(frame) for name, frame in tables.items()}
    found: Json = {"schema": SCHEMA, "about": about or {}, **rows}
    if len(rows) == 1:
        (found,) = rows.values()
    return f"{json.dumps(found, indent=2, ensure_ascii=False)}\n".encode()


def _json_lines(table: pl.DataFrame) -> bytes:
    lines = (json.dumps(row, ensure_ascii=False) for row in _plain_rows(table))
    return "".join(f"{line}\n" for line in lines).encode()


def _plain_rows(frame: pl.DataFrame) -> list[dict[str, Json]]:
    """Return rows as JSON holds them: what is not finite is not known."""
    return [
        {
            name: None if isinstance(it, float) and not math.isfinite(it) else it
            for name, it in row.items()
        }
        for row in frame.iter_rows(named=True)
    ]


def _markdown(tables: Mapping[str, pl.DataFrame], about: About | None) -> bytes:
    parts = []
    for name, frame in tables.items():
        head = [f"## {name.capitalize()}", ""] if len(tables) > 1 else []
        parts.append("\n".join([*head, *_markdown_table(frame)]))
    if about:
        parts.append(
            "\n".join(f"- {name}: {_marked(str(it))}" for name, it in about.items())
        )
    return ("\n\n".join(parts) + "\n").encode()


def _markdown_table(frame: pl.DataFrame) -> Iterable[str]:
    # People need no column that says nothing; programs read other formats.
    told = [it.name for it in frame if it.null_count() < frame.height or it.is_empty()]
    frame = frame.select(told)
    names = [name.replace("_", " ") for name in frame.columns]
    rules = ["---:" if column.dtype.is_numeric() else "---" for column in frame]
    cells = [_texts(column, _marked, _rounded) for column in frame]
    for row in (names, rules, *zip(*cells, strict=True)):
        yield f"| {' | '.join(row)} |"


def _marked(text: str) -> str:
    shown = printable(text.strip()).translate(ENTITIES)
    # Viewers make links of bare addresses.
    return re.sub(
        r"(?i)(?<=\bwww)\.|:(?=//)", lambda found: f"&#{ord(found[0])};", shown
    )


def _rounded(number: float) -> str:
    """Show four digits, but never a probability short of 1 as 1."""
    text = f"{number:.4g}"
    return repr(number) if float(text) == 1 != number else text


class _Exact(float):
    """A number that is written with all its digits; the writer keeps sixteen."""

    __slots__ = ()

    def __format__(self, _: str) -> str:
        return repr(float(self))


def _workbook(
    tables: Mapping[str, pl.DataFrame], path: str, about: About | None
) -> bytes:
    import xlsxwriter  # noqa: PLC0415 - only for those who want a workbook

    file = io.BytesIO()
    options = {
        "in_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
    }
    book = xlsxwriter.Workbook(file, options)
    # The time of writing would make two files of one result differ.
    book.set_properties({"created": datetime(2000, 1, 1)})
    formats = {
        "bold": book.add_format({"bold": True}),
        "text": book.add_format({"quote_prefix": True}),
    }
    sheets = dict(tables)
    if about is not None:
        names, values = [*about], [str(value) for value in about.values()]
        sheets["about"] = pl.DataFrame({"about": names, "value": values})
    for name, frame in sheets.items():
        if frame.height >= EXCEL_ROWS:
            raise OptionError(
                f"{path}: A sheet of Excel holds {EXCEL_ROWS:,} rows, got "
                f"{frame.height + 1:,}. Use another format, such as .csv or .parquet."
            )
        _fill(book.add_worksheet(name), frame, formats, path, exact=name == EXACT)
    book.close()
    return file.getvalue()


def _fill(
    sheet: Worksheet,
    frame: pl.DataFrame,
    formats: Mapping[str, Format],
    path: str,
    *,
    exact: bool,
) -> None:
    for place, column in enumerate(frame):
        sheet.write_string(0, place, column.name, formats["bold"])
        values = _joined(column) if column.dtype == pl.List else column.to_list()
        for row, value in enumerate(values, start=1):
            if isinstance(value, bool):
                sheet.write_boolean(row, place, value)
            elif isinstance(value, int) and abs(value) < EXCEL_DIGITS:
                sheet.write_number(row, place, value)
            elif isinstance(value, float):
                if math.isfinite(value):
                    sheet.write_number(row, place, _Exact(value))
            elif value is not None:
                text = _excel_text(str(value), path, exact=exact)
                sheet.write_string(row, place, text, formats["text"])
        sample = [column.name, *map(str, values[:SAMPLED])]
        widest = max(len(line) for text in sample for line in text.split("\n"))
        sheet.set_column(place, place, min(max(widest + 2, NARROWEST), WIDEST))
    sheet.freeze_panes(1, 0)
    sheet.autofilter(0, 0, frame.height, frame.width - 1)


def _excel_text(text: str, path: str, *, exact: bool) -> str:
    # Our reader takes off the apostrophe of a label that looks escaped.
    text = f"'{text}" if ESCAPED.match(text) else text
    too_long = len(text.encode("utf-16-le")) > 2 * EXCEL_TEXT
    if not too_long and not NOT_IN_EXCEL.search(text):
        return text
    if exact:
        raise _does_not_fit(path, text)
    return f"{text[: EXCEL_TEXT // 2]}..." if too_long else text
