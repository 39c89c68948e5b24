"""Text with separators: CSV and TSV, the way spreadsheets write them.

Python's csv module reads them; it names the line that is wrong. A file without quotes
whose lines all have as many fields is read by polars, which is faster.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from evenhand.errors import RatingsError, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
    if b'"' in body or body.count(b"\r") != body.count(b"\r\n"):
        return None
    buffer = np.frombuffer(body, dtype=np.uint8)
    stops = np.append(np.flatnonzero(buffer == ord("\n")), len(buffer))
    stops = stops[:-1] if body.endswith(b"\n") else stops
    marks = np.searchsorted(np.flatnonzero(buffer == ord(separator)), stops)
    # polars fills up short rows in silence; the other reader names the line.
    if np.ptp(np.diff(marks, prepend=0)) or not body[: stops[0]].strip(
        f" \r{separator}".encode()
    ):
        return None
    rows = pl.read_csv(
        body,
        has_header=False,
        schema={str(column): pl.String() for column in range(int(marks[0]) + 1)},
        separator=separator,
        quote_char=None,
    )
    if rows.height != len(stops):
        return None
    header = [name or "" for name in rows.row(0)]
    return Cells(header, rows[1:], lambda row: first + row + 1, separator)


def _by_csv(name: str, body: bytes, separator: str, first: int) -> Cells:
    found = [
        (line, row)
        for line, row in _csv_rows(name, body, separator, first)
        if "".join(row).strip()
    ]
    (_, header), *rows = found or [(first, [""])]
    for line, row in rows:
        if len(row) != len(header):
            raise RatingsError(
                f"{name}:{line}: row must have {counted(len(header), 'field')} like "
                f"the header, got {len(row)}. Fields are separated by "
                f"{WORDS[separator]}."
            )
    columns = (
        zip(*(row for _, row in rows), strict=True) if rows else [()] * len(header)
    )
    frame = pl.DataFrame(
        [
            pl.Series(str(place), column, dtype=pl.String)
            for place, column in enumerate(columns)
        ]
    )
    return Cells(header, frame, lambda row: rows[row][0], separator)


def _csv_rows(
    name: str, body: bytes, separator: str, first: int
) -> Iterator[tuple[int, list[str]]]:
    lines = io.TextIOWrapper(io.BytesIO(body), encoding="utf-8", newline="")
    reader = csv.reader(lines, delimiter=separator, strict=True, skipinitialspace=True)
    usual = csv.field_size_limit(LONGEST_FIELD)
    line = first
    try:
        for row in reader:
            yield line, row
            line = first + reader.line_num
    except csv.Error as error:
        reason = UNCLOSED if "end of data" in str(error) else UNENDED
        raise RatingsError(f"{name}:{line}: {reason}") from None
    finally:
        csv.field_size_limit(usual)
