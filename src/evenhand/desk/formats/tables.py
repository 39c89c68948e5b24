"""From a file of any format to named columns and line numbers."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evenhand._labels import FORMULA_START, NUMBER, Source, shown
from evenhand.desk.formats.delimited import read_cells
from evenhand.desk.formats.documents import EXAMPLE, flattened, one_object, parsed
from evenhand.errors import OptionError, RatingsError, listing, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from evenhand.desk.formats.files import File

SIGNATURES = {
    b"PAR1": ("parquet", "Parquet"),
    b"PK\x03\x04": ("excel", "an Excel workbook"),
    b"\xd0\xcf\x11\xe0": ("excel", "an Excel workbook"),
    b"<?xml": ("excel", "an Excel workbook"),
    b"\xef\xbb\xbf<?xml": ("excel", "an Excel workbook"),
}
ZIP = b"PK\x03\x04"
WORKBOOKS = (b"xl/", b"opendocument.spreadsheet")
SHEETS = b"urn:schemas-microsoft-com:office:spreadsheet"
MARKUP_SHOWN = 4096
HTML = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)?"
    rb"<(?:!doctype\s+html|html|head|body|table|div|meta)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
JSON_START = re.compile(rb'\s*(?:\[\s*[\[{]|\{\s*")')
JSON_LINES = re.compile(rb"\s*\{.*\}[ \r]*\n\s*\{")
OTHERS = {",", ";"}
UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
MOST_KEYS = 1000
PREAMBLE = 10
SAVE_AS = "Save the file as UTF-8."
JSON = json.JSONDecoder(object_pairs_hook=one_object)
DECODER = Path(__file__).with_name("decoder.py")


@dataclass(frozen=True, slots=True)
class Table:
    """What a file holds.

    Attributes:
        columns: Each column's values by its name, without white space around it.
        source: The file and the line of each row, for messages.
        corner: The first column if it has no name, as in wide tables.
        document: What a JSON file holds, as plain values.
        nameless: How many other columns hold something but have no name.
    """

    columns: dict[str, pl.Series | list[object]]
    source: Source
    corner: pl.Series | None = None
    document: object = None
    nameless: int = 0


def read_table(file: File, sheet: str = "", marks: Sequence[str] = ()) -> Table:
    r"""Read a file as a table.

    Args:
        file: The file.
        sheet: Sheet of a workbook; by default the only one that holds anything.
        marks: First names of headers that may stand below other lines.

    Returns:
        Its columns. Rows in which every cell is empty are not part of it.

    Raises:
        RatingsError: If the file is damaged or not of its format.
        OptionError: If a sheet is named for a file that has none.

    Examples:
        >>> from evenhand.desk.formats.files import File
        >>> file = File("ratings.csv", b"judge, mark\nanna,7\n", "csv")
        >>> list(read_table(file).columns)
        ['judge', 'mark']
    """
    if sheet and file.format != "excel":
        raise OptionError(f"sheet must be left out for {file.format}, got {sheet!r}.")
    _check_signature(file)
    if file.format == "parquet":
        return _parquet(file)
    if file.format == "excel":
        return _excel(file, sheet, marks)
    data = _checked_text(file)
    if file.format == "json":
        return json_table(file.name, data)
    if file.format == "jsonl":
        with uncollected():
            return _json_lines(file.name, data)
    separators = "\t" if file.format == "tsv" else ",;\t"
    _check_markup(file.name, file.format, data)
    cells = read_cells(file.name, data, separators, marks)
    if file.format == "tsv":
        _check_tabs(file.name, cells.header)
    return _text_table(cells.header, cells.rows, Source(file.name, cells.line))


def _check_signature(file: File) -> None:
    found = next(
        (kind for mark, kind in SIGNATURES.items() if file.data.startswith(mark)), None
    )
    binary = file.format in ("parquet", "excel")
    if found and found[0] != file.format:
        _check_container(file)
        raise RatingsError(
            f"{file.name}: The file looks like {found[1]}, not {file.format}. "
            f"Say so with format={found[0]!r} or --format {found[0]}."
        )
    if binary and not found:
        _check_markup(file.name, file.format, file.data)
        known = "Parquet" if file.format == "parquet" else "an Excel workbook"
        raise RatingsError(f"{file.name}: The file is not {known}.")


def _check_container(file: File) -> None:
    """Refuse archives and XML that are not workbooks, though some are both."""
    if file.data.startswith(ZIP) and not any(mark in file.data for mark in WORKBOOKS):
        raise RatingsError(
            f"{file.name}: This is an archive. Unpack it and give the file in it."
        )
    start = file.data[:MARKUP_SHOWN]
    if b"<?xml" in start[:8] and SHEETS not in start:
        _check_markup(file.name, file.format, file.data)
        raise RatingsError(
            f"{file.name}: The file is XML, but not a workbook. Export the table as "
            "CSV or Excel."
        )


def _check_markup(name: str, format_name: str, data: bytes) -> None:
    """Refuse web pages and JSON under another name, by how they begin."""
    start = data[:MARKUP_SHOWN].removeprefix(UTF8_MARK)
    if HTML.match(start):
        raise RatingsError(
            f"{name}: The file is a web page (HTML), not {format_name}. Download or "
            "export the table itself."
        )
    if JSON_START.match(start):
        kind = "jsonl" if JSON_LINES.match(start) else "json"
        raise RatingsError(
            f"{name}: The file looks like JSON, not {format_name}. Say so with "
            f"format={kind!r} or --format {kind}."
        )


def _check_tabs(name: str, header: Sequence[str]) -> None:
    if len(header) == 1 and OTHERS & {*header[0]}:
        raise RatingsError(
            f"{name}: Fields must be separated by tabs, got {shown(header[0])}. If "
            "they are separated by commas or semicolons, say so with format='csv' or "
            "--format csv."
        )


def _checked_text(file: File) -> bytes:
    data = file.data.removeprefix(UTF8_MARK)
    if data.startswith(UTF16_MARKS):
        raise RatingsError(f"{file.name}: text must be UTF-8, got UTF-16. {SAVE_AS}")
    place = data.find(b"\0")
    try:
        if not data.isascii():
            data.decode("utf-8")
    except UnicodeDecodeError as error:
        if place < 0 or error.start < place:
            place = error.start
    if place >= 0:
        line = data.count(b"\n", 0, place) + 1
        raise RatingsError(
            f"{file.name}:{line}: text must be UTF-8, got byte {data[place]:#04x}. "
            f"{SAVE_AS}"
        )
    if not data or data.isspace():
        raise RatingsError(f"{file.name}: The file is empty.")
    return data


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Put off the search for garbage while many objects are made that all stay.

    Examples:
        >>> with uncollected():
        ...     rows = [{"row": row} for row in range(3)]
        >>> len(rows)
        3
    """
    paused = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if paused:
            gc.enable()


def _json_lines(name: str, data: bytes) -> Table:
    columns: dict[str, list[object]] = {}
    lines: list[int] = []
    known: tuple[str, ...] = ()
    targets: list[list[object]] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        found = _json_object(line, name, number)
        if not found:
            continue
        keys = tuple(found)
        if keys != known:
            _check_names([key.strip() for key in keys], Source(f"{name}:{number}"))
            known = keys
            targets = [columns.setdefault(key.strip(), []) for key in keys]
            for target in targets:
                target.extend([None] * (len(lines) - len(target)))
            if len(columns) > MOST_KEYS:
                raise RatingsError(
                    f"{name}:{number}: lines must share their keys, got more than "
                    f"{MOST_KEYS} different ones."
                )
        for target, value in zip(targets, found.values(), strict=True):
            target.append(value)
        lines.append(number)
    if not lines:
        raise RatingsError(f"{name}: There is no row.")
    for target in columns.values():
        target.extend([None] * (len(lines) - len(target)))
    named = {key: values for key, values in columns.items() if key}
    return Table({**named}, Source(name, lines.__getitem__))


def _json_object(line: bytes, name: str, number: int) -> dict[str, object]:
    text = line.decode().strip()
    if not text:
        return {}
    found: object = None
    try:
        found = JSON.decode(text)
    except (json.JSONDecodeError, RecursionError):
        pass
    except ValueError as error:
        _check_keys(text, f"{name}:{number}", error)
    if not isinstance(found, dict):
        raise RatingsError(
            f"{name}:{number}: line must be one JSON object, got {shown(text)}."
        )
    return found


def _check_keys(text: str, place: str, error: ValueError) -> None:
    """Refuse a key that stands twice, in the line's object or inside it."""
    if "twice" in str(error):
        names = [key for key, _ in json.loads(text, object_pairs_hook=list)]
        _check_names(names, Source(place))
        raise RatingsError(f"{place}: {error}. Rename one.") from None


def json_table(name: str, data: bytes) -> Table:
    r"""Read a JSON document as a table: a row for each object of its list.

    Examples:
        >>> json_table("r.json", b'[{"paper": 1, "content": {"rating": 7}}]').columns
        {'paper': [1], 'content.rating': [7]}
    """
    document = parsed(name, data)
    source = Source(name, lambda row: row + 1, "entry")
    columns = flattened(document, source)
    if not columns:
        raise source.whole(f"There is no row. {EXAMPLE}")
    if len(columns) > MOST_KEYS:
        raise RatingsError(
            f"{name}: entries must share their keys, got more than {MOST_KEYS} "
            "different ones."
        )
    return Table({**columns}, source, None, document)


def _parquet(file: File) -> Table:
    _, frame = _decoded(file, "", "Parquet; it may be damaged")
    names = [name.strip() for name in frame.columns]
    source = Source(file.name, lambda row: row + 1, "row")
    _check_names(names, source)
    return Table(dict(zip(names, frame, strict=True)), source)


def _excel(file: File, sheet: str, marks: Sequence[str]) -> Table:
    answer, frame = _decoded(
        file, sheet, "Excel; it may be damaged, or a cell may lie far outside its table"
    )
    meant = answer["meant"]
    if sheet and not meant:
        text = unknown("sheet", sheet, answer["sheets"])
        raise RatingsError(f"{file.name}: {text[:1].upper()}{text[1:]}")
    if len(meant) > 1:
        raise RatingsError(
            f"{file.name}: Several sheets hold something: {listing(meant)}. "
            "Say which with sheet= or --sheet."
        )
    filled = _filled_rows(frame)
    if len(filled) == 0:
        raise RatingsError(f"{file.name}: There is no row.")
    head = _header_row(frame, filled.tolist(), marks)
    header = [cell or "" for cell in frame.row(head)]
    source = Source(file.name, lambda row: head + row + 2, "row")
    return _text_table(header, frame[head + 1 :], source)


def _header_row(frame: pl.DataFrame, filled: list[int], marks: Sequence[str]) -> int:
    for row in filled[:PREAMBLE]:
        if any((cell or "").strip() in marks for cell in frame.row(row)):
            return row
    return filled[0]


def _decoded(
    file: File, sheet: str, fault: str
) -> tuple[dict[str, list[str]], pl.DataFrame]:
    question = json.dumps([file.format, sheet]).encode() + b"\n"
    try:
        done = subprocess.run(  # noqa: S603 - our own program, no shell
            [sys.executable, "-P", str(DECODER)],
            input=question + file.data,
            capture_output=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        text = f"{file.name}: The file cannot be read as {fault}."
        raise RatingsError(text) from None
    answer, _, table = done.stdout.partition(b"\n")
    frame = pl.read_ipc(io.BytesIO(table)) if table else pl.DataFrame()
    return json.loads(answer), frame


def _text_table(header: Sequence[str], rows: pl.DataFrame, source: Source) -> Table:
    names = [name.strip() for name in header]
    _check_names(names, source)
    if not _all_filled(rows):
        filled = _filled_rows(rows)
        if len(filled) == 0:
            raise source.whole("There is a header but no row below it.")
        rows = rows[filled]
        line = source.line
        source = Source(source.name, lambda row: line(int(filled[row])), source.unit)
    columns = {
        name: _unquoted(column)
        for name, column in zip(names, rows, strict=True)
        if name
    }
    corner = None if names[0] else _unquoted(rows.to_series(0))
    others = [place for place, name in enumerate(names) if place and not name]
    nameless = sum(len(_filled_rows(rows[:, [place]])) > 0 for place in others)
    return Table({**columns}, source, corner, nameless=nameless)


def _all_filled(rows: pl.DataFrame) -> bool:
    # A column that is filled to the last row answers for all the others.
    return rows.height > 0 and any(map(_is_filled, rows))


def _is_filled(column: pl.Series) -> bool:
    if column.null_count():
        return False
    # Between these two every text begins with a visible character of ASCII.
    low, high = column.min(), column.max()
    if isinstance(low, str) and isinstance(high, str) and "!" <= low <= high < "\x7f":
        return True
    return bool((column.str.strip_chars() != "").all())


def _filled_rows(rows: pl.DataFrame) -> NDArray[np.int64]:
    if rows.width == 0:
        return np.empty(0, dtype=np.int64)
    filled = rows.select(pl.any_horizontal(pl.all().str.strip_chars() != ""))
    return np.flatnonzero(filled.to_series().fill_null(value=False).to_numpy())


def _check_names(names: Sequence[str], source: Source) -> None:
    seen: set[str] = set()
    for name in names:
        # Columns without a name, as spreadsheets and indices leave them, are not read.
        if name and name in seen:
            raise source.whole(
                f"Column names must differ, got {shown(name)} twice. Rename one."
            )
        seen.add(name)


def _unquoted(column: pl.Series) -> pl.Series:
    """Take off the apostrophe that keeps a label from running as a formula."""
    if column.dtype != pl.String:
        return column
    if not column.str.starts_with("'").any():
        return column
    kept = column.str.contains(f"^'+{FORMULA_START}").fill_null(value=False)
    if not kept.any():
        return column
    # A file of ours holds no label both with and without it. In one that does, it is
    # part of the label; a number that a spreadsheet keeps as text is no label.
    plain = column.str.slice(1)
    there = column.filter(~kept & ~column.str.contains(NUMBER).fill_null(value=False))
    if plain.filter(kept).is_in(there.implode()).any():
        return column
    return plain.zip_with(kept, column)
