"""Text with separators: CSV and TSV, the way spreadsheets write them.

A first pass finds every separator and line end outside quotes, for the whole file at
once. It settles the number of fields of each row, which polars fills up in silence,
and where each row begins. Where quotes are used in a way that leaves doubt, Python's
csv module reads the file instead.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evenhand.errors import RatingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

QUOTE = ord('"')
NEWLINE = ord("\n")
RETURN = ord("\r")
BLANK_LINES = re.compile(rb"(?:[ \r]*\n)*")
SEPARATOR_LINE = re.compile(rb'"?sep=([,;\t])"?[ \r]*\n', re.IGNORECASE)
HEADER = re.compile(rb'(?:[^"\n]++|"[^"]*+")*+(?=\n|\Z)')
QUOTED = re.compile(rb'"[^"]*+"')
PREAMBLE = 10
# Bytes that stay in a near cache from one look to the next.
PAGE = 2**18
WORDS = {",": "commas", ";": "semicolons", "\t": "tabs"}


@dataclass(frozen=True, slots=True)
class Cells:
    """A header, the text below it, and each row's line in the file."""

    header: list[str]
    rows: pl.DataFrame
    line: Callable[[int], int]


def read_cells(
    name: str, data: bytes, separators: str, marks: Sequence[str] = ()
) -> Cells:
    r"""Read text with separators.

    Args:
        name: What messages call the file.
        data: The file, valid UTF-8 without byte order mark.
        separators: Those that the file may use; the one that the header holds most
            often is taken.
        marks: First names of headers that may stand below other lines, which are
            skipped.

    Returns:
        Every cell as text; a cell without text may be null.

    Raises:
        RatingsError: If a row has fewer or more fields than the header, or a quote is
            not closed.

    Examples:
        >>> read_cells("ratings.csv", b"a;b\n1;2\n", ",;").header
        ['a', 'b']
    """
    start = _end(BLANK_LINES.match(data))
    stated = SEPARATOR_LINE.match(data, start)
    if stated and stated[1].decode() in separators:
        separators = stated[1].decode()
        start = _end(BLANK_LINES.match(data, stated.end()))
    start = _marked(data, start, marks)
    first = data.count(b"\n", 0, start) + 1
    body = data[start:] if start else data
    if not body:
        raise RatingsError(f"{name}: The file is empty.")
    text = _Text(name, body, _separator(body, separators), first)
    return _plainly(text) or _by_polars(text) or _by_csv(text)


def _marked(data: bytes, start: int, marks: Sequence[str]) -> int:
    """Return where the line begins that a mark names as the header."""
    place = start
    for _ in range(PREAMBLE):
        end = data.find(b"\n", place)
        line = data[place : end if end >= 0 else len(data)]
        cell = re.split(rb"[,;\t]", line, maxsplit=1)[0]
        if cell.strip(b' "\r').decode() in marks:
            return place
        place += len(line) + 1
    return start


def _separator(body: bytes, separators: str) -> str:
    header = HEADER.match(body)
    plain = QUOTED.sub(b"", header[0]) if header else body.partition(b"\n")[0]
    return max(separators, key=lambda mark: plain.count(mark.encode()))


@dataclass(frozen=True, slots=True)
class _Text:
    name: str
    body: bytes
    separator: str
    first_line: int

    def line_at(self, offset: int) -> int:
        return self.first_line + self.body.count(b"\n", 0, offset)

    def row(self, starts: NDArray[np.int64], row: int) -> bytes:
        end = starts[row + 1] if row + 1 < len(starts) else len(self.body)
        return self.body[starts[row] : end]

    def is_empty(self, starts: NDArray[np.int64], row: int) -> bool:
        return not self.row(starts, row).strip(f' "\r\n{self.separator}'.encode())

    def ragged(self, line: int, width: int, count: int) -> RatingsError:
        fields = "1 field" if width == 1 else f"{width} fields"
        return RatingsError(
            f"{self.name}:{line}: row must have {fields} like the header, got {count}. "
            f"Fields are separated by {WORDS[self.separator]}."
        )


def _plainly(text: _Text) -> Cells | None:
    """Read a file without quotes in which nothing is missing at the end of a row.

    Then a row is a line. One with fewer fields than the header has nothing in its last
    column; if there is none, no row has more fields if there are not more in all.
    """
    body, separator = text.body, text.separator.encode()
    if QUOTE in body or (RETURN in body and body.count(b"\r") != body.count(b"\r\n")):
        return None
    end = body.find(b"\n") if NEWLINE in body else len(body)
    between = body.count(separator, 0, end)
    rows = _parsed(text, between + 1)
    if rows is None or rows.to_series(-1).null_count():
        return None
    lines = _count(body, b"\n") + (not body.endswith(b"\n"))
    if rows.height != lines or _count(body, separator) != lines * between:
        return None
    header = [name or "" for name in rows.row(0)]
    return Cells(header, rows[1:], lambda row: text.first_line + row + 1)


def _count(body: bytes, mark: bytes) -> int:
    """Count a byte that is found every few bytes."""
    codes = np.frombuffer(body, dtype=np.uint8)
    return sum(
        int(np.count_nonzero(codes[start : start + PAGE] == mark[0]))
        for start in range(0, len(codes), PAGE)
    )


def _by_polars(text: _Text) -> Cells | None:
    layout = _layout(text)
    if layout is None:
        return None
    starts, counts = layout
    width = int(counts[0])
    if text.is_empty(starts, 0) or not _is_even(text, starts, counts, width):
        return None
    rows = _parsed(text, width)
    if rows is None or rows.height != len(starts):
        return None
    header = [name or "" for name in rows.row(0)]
    return Cells(header, rows[1:], lambda row: text.line_at(int(starts[row + 1])))


def _is_even(
    text: _Text, starts: NDArray[np.int64], counts: NDArray[np.int64], width: int
) -> bool:
    """Refuse a row of another width; return whether polars may see the others."""
    for row in np.flatnonzero(counts != width).tolist():
        if not text.is_empty(starts, row):
            line = text.line_at(int(starts[row]))
            raise text.ragged(line, width, int(counts[row]))
        if text.row(starts, row).strip():
            return False
    return True


def _parsed(text: _Text, width: int) -> pl.DataFrame | None:
    try:
        return pl.read_csv(
            text.body,
            has_header=False,
            schema={str(column): pl.String() for column in range(width)},
            separator=text.separator,
            quote_char='"' if QUOTE in text.body else None,
        )
    except pl.exceptions.PolarsError:
        return None


def _layout(text: _Text) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return where rows start and how many fields they have, or None if in doubt."""
    if text.body.count(b"\r") != text.body.count(b"\r\n"):
        return None
    buffer = np.frombuffer(text.body, dtype=np.uint8)
    ends = buffer == NEWLINE
    marks = buffer == ord(text.separator)
    quotes = buffer == QUOTE
    if quotes.any():
        if not _quotes_whole_fields(buffer, np.flatnonzero(quotes), text.separator):
            return None
        # A doubled quote closes and opens, so the parity of quotes tells inside from
        # outside.
        outside = np.cumsum(quotes, dtype=np.uint8) % 2 == 0
        ends &= outside
        marks &= outside
    stops = np.flatnonzero(ends)
    if buffer[-1] != NEWLINE:
        stops = np.append(stops, len(buffer))
    starts = np.concatenate([[0], stops[:-1] + 1])
    before = np.searchsorted(np.flatnonzero(marks), stops)
    return starts, np.diff(before, prepend=0) + 1


def _quotes_whole_fields(
    buffer: NDArray[np.uint8], quotes: NDArray[np.int64], separator: str
) -> bool:
    if len(quotes) % 2:
        return False
    edges = np.array([ord(separator), NEWLINE, QUOTE], dtype=np.uint8)
    padded = np.concatenate([edges[1:2], buffer, edges[1:2]])
    opened, closed = quotes[::2], quotes[1::2]
    after = padded[closed + 2]
    return bool(
        np.isin(padded[opened], edges).all()
        and (np.isin(after, edges) | (after == RETURN)).all()
    )


def _by_csv(text: _Text) -> Cells:
    header: list[str] = []
    rows: list[list[str]] = []
    lines: list[int] = []
    for line, row in _csv_rows(text):
        if not any(cell.strip() for cell in row):
            continue
        if not header:
            header = row
            continue
        if len(row) != len(header):
            raise text.ragged(line, len(header), len(row))
        rows.append(row)
        lines.append(line)
    schema = {str(column): pl.String() for column in range(len(header))}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return Cells(header, frame, lines.__getitem__)


def _csv_rows(text: _Text) -> Iterator[tuple[int, list[str]]]:
    lines = io.TextIOWrapper(io.BytesIO(text.body), encoding="utf-8", newline="")
    reader = csv.reader(
        lines, delimiter=text.separator, strict=True, skipinitialspace=True
    )
    while True:
        line = text.first_line + reader.line_num
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise RatingsError(f"{text.name}:{line}: {_quoting(error)}") from None
        if row is None:
            return
        yield line, row


def _quoting(error: csv.Error) -> str:
    if "end of data" in str(error):
        return "a quote is opened here and never closed."
    if "limit" in str(error):
        limit = csv.field_size_limit()
        return f"a field is longer than {limit} characters. Is a quote not closed?"
    return (
        "a closing quote must end its field, got more text after it. Write a quote "
        "inside a quoted field twice."
    )


def _end(match: re.Match[bytes] | None) -> int:
    return match.end() if match else 0
