"""Text with separators: CSV and TSV, the way spreadsheets write them.

polars reads them. It fills up short rows in silence, so a first pass finds every
separator and line end outside quotes, and with them the fields of each row and where it
begins. What leaves doubt, such as text after a closing quote, Python's csv module
reads, which names the line that is wrong.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evenhand.errors import RatingsError, counted

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
FAULTS = {
    "end of data": "a quote is opened here and never closed.",
    "limit": f"a field is longer than {csv.field_size_limit()} characters. Is a quote "
    "not closed?",
    "": "a closing quote must end its field, got more text after it. Write a quote "
    "inside a quoted field twice.",
}
"""What is wrong, by words in the error of Python's csv module."""
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
    return _by_polars(text) or _by_csv(text)


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


def _by_polars(text: _Text) -> Cells | None:
    """Read a file in which every row that holds anything is as wide as the header."""
    layout = _layout(text)
    if layout is None:
        return None
    starts, stops, counts = layout
    width = int(counts[0])
    nothing = f' "\r\n{text.separator}'.encode()
    odd = np.flatnonzero(counts != width).tolist()
    # polars fills up short rows in silence; the other reader names the line.
    if not text.body[: stops[0]].strip(nothing) or any(
        text.body[starts[row] : stops[row]].strip() for row in odd
    ):
        return None
    try:
        rows = pl.read_csv(
            text.body,
            has_header=False,
            schema={str(column): pl.String() for column in range(width)},
            separator=text.separator,
            quote_char='"' if QUOTE in text.body else None,
        )
    except pl.exceptions.PolarsError:
        return None
    if rows.height != len(starts):
        return None
    header = [name or "" for name in rows.row(0)]
    return Cells(header, rows[1:], lambda row: text.line_at(int(starts[row + 1])))


def _layout(text: _Text) -> tuple[NDArray[np.int64], ...] | None:
    """Return where rows start and stop and their fields, or None if in doubt."""
    if text.body.count(b"\r") != text.body.count(b"\r\n"):
        return None
    buffer = np.frombuffer(text.body, dtype=np.uint8)
    ends = buffer == NEWLINE
    marks = buffer == ord(text.separator)
    if QUOTE in text.body:
        quotes = buffer == QUOTE
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
    return starts, stops, np.diff(before, prepend=0) + 1


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
        if not "".join(row).strip():
            continue
        header = header or row
        if header is row:
            continue
        if len(row) != len(header):
            raise RatingsError(
                f"{text.name}:{line}: row must have {counted(len(header), 'field')} "
                f"like the header, got {len(row)}. Fields are separated by "
                f"{WORDS[text.separator]}."
            )
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
            reason = next(why for mark, why in FAULTS.items() if mark in str(error))
            raise RatingsError(f"{text.name}:{line}: {reason}") from None
        if row is None:
            return
        yield line, row


def _end(match: re.Match[bytes] | None) -> int:
    return match.end() if match else 0
