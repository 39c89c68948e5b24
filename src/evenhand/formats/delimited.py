"""From text with separators to cells.

Text is read the way spreadsheets write it. Python's csv module names the line that is
wrong. A file without quotes whose lines all have as many fields is read by polars,
which is faster.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from evenhand.errors import RatingsError, plural

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.formats.files import File

BLANK_LINES = re.compile(rb"(?:[ \r]*\n)*")
HEADER = re.compile(rb'(?:[^"\n]++|"[^"]*+")*+(?=\n|\Z)')
QUOTED = re.compile(rb'"[^"]*+"')
LONGEST_FIELD = 2**31 - 1
UNCLOSED = "a quote is opened here and never closed."
UNENDED = (
    "a closing quote must end its field, got more text after it. Write a quote inside "
    "a quoted field twice."
)
WORDS = {",": "commas", ";": "semicolons", "\t": "tabs"}


def check_text(file: File) -> None:
    """Check that a text is UTF-8.

    Raises:
        RatingsError: If it is not; the line is named.
    """
    place = file.data.find(b"\0")
    try:
        file.data.decode("utf-8")
    except UnicodeDecodeError as error:
        place = error.start
    if place >= 0:
        line = file.data.count(b"\n", 0, place) + 1
        raise RatingsError(
            f"{file.name}:{line}: text must be UTF-8, got byte "
            f"{file.data[place]:#04x}. Save the file as UTF-8."
        )


class Cells(NamedTuple):
    """A header, the text below it, each row's line in the file, and what separates."""

    header: list[str]
    rows: pl.DataFrame
    line: Callable[[int], int]
    separator: str


def read_cells(name: str, data: bytes) -> Cells:
    r"""Read text with separators: a tab, or what the header holds most often.

    Args:
        name: What messages call the file.
        data: The file, valid UTF-8 without byte order mark.

    Returns:
        Every cell as text; a cell without text may be null.

    Raises:
        RatingsError: If a row has fewer or more fields than the header, or a quote is
            not closed.

    Examples:
        >>> read_cells("ratings.csv", b"a;b\n1;2\n").header
        ['a', 'b']
    """
    blank = BLANK_LINES.match(data)
    start = blank.end() if blank else 0
    body = data[start:]
    header = HEADER.match(body)
    plain = QUOTED.sub(b"", header[0]) if header else body.partition(b"\n")[0]
    separator = "\t" if b"\t" in plain else max(",;", key=plain.decode().count)
    first = data.count(b"\n", 0, start) + 1
    return _by_polars(body, separator, first) or _by_csv(name, body, separator, first)


def _by_polars(body: bytes, separator: str, first: int) -> Cells | None:
    """Read a file without quotes in which every line is as wide as the header."""
    sign, lines = separator.encode(), body.count(b"\n") + (body[-1:] != b"\n")
    head = body[: body.index(b"\n")] if lines > 1 else body
    odd = b'"' in body or body.count(b"\r") != body.count(b"\r\n")
    ragged = body.count(sign) != lines * head.count(sign)
    if odd or ragged or not head.strip(b" \r\n" + sign):
        return None
    schema = dict.fromkeys(map(str, range(head.count(sign) + 1)), pl.String())
    try:
        # It refuses a long row, and so finds a short one that makes up for it; the
        # other reader names the line.
        rows = pl.read_csv(
            body, has_header=False, schema=schema, separator=separator, quote_char=None
        )
    except pl.exceptions.ComputeError:
        return None
    if rows.height != lines:
        return None
    header = [name or "" for name in rows.row(0)]
    return Cells(header, rows[1:], lambda row: first + row + 1, separator)


def _by_csv(name: str, body: bytes, separator: str, first: int) -> Cells:
    lines = io.TextIOWrapper(io.BytesIO(body), encoding="utf-8", newline="")
    reader = csv.reader(lines, delimiter=separator, strict=True, skipinitialspace=True)
    usual = csv.field_size_limit(LONGEST_FIELD)
    records, line = [], first
    try:
        for row in reader:
            records += [(line, row)] if "".join(row).strip() else []
            line = first + reader.line_num
    except csv.Error as error:
        reason = UNCLOSED if "end of data" in str(error) else UNENDED
        raise RatingsError(f"{name}:{line}: {reason}") from None
    finally:
        csv.field_size_limit(usual)
    (_, header), *rows = records or [(first, [""])]
    for line, row in rows:
        if len(row) != len(header):
            raise RatingsError(
                f"{name}:{line}: row must have {plural(len(header), 'field')} like "
                f"the header, got {len(row)}. Fields are separated by "
                f"{WORDS[separator]}."
            )
    schema = {str(place): pl.String for place in range(len(header))}
    frame = pl.DataFrame([row for _, row in rows], schema, orient="row")
    return Cells(header, frame, lambda row: rows[row][0], separator)
