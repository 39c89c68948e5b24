"""From a path, standard input or an open stream to bytes; from CSV to cells.

The bytes say how a file is stored, whatever it is called.

Text with separators is read the way spreadsheets write it. Python's csv module names
the line that is wrong. A file without quotes whose lines all have as many fields is
read by polars, which is faster.
"""

from __future__ import annotations

import csv
import difflib
import io
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

import polars as pl

from evenhand.errors import RatingsError, must_be, plural
from evenhand.unpacking import ZIP, unpack

if TYPE_CHECKING:
    from collections.abc import Callable

Readable = str | os.PathLike[str] | IO[bytes] | IO[str]

JSON_START = re.compile(rb'\[\s*[\[{\]]|\{\s*["}]')
JSON_LINES = re.compile(rb"\{.*\}[ \r]*\n\s*\{")
MARKUP = re.compile(rb"(?i)<(?:\?xml|!--|!doctype|html|head|body|table|div|meta)")
OLE, PARQUET = b"\xd0\xcf\x11\xe0", b"PAR1"
UTF8_MARK = b"\xef\xbb\xbf"
NETWORK = "Nothing is fetched from the network. Download the file and give its name."
STDIN = "<stdin>"
STREAM = "<stream>"
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


@dataclass(frozen=True, slots=True)
class File:
    """A file that was read.

    Attributes:
        name: What messages call it.
        data: Its bytes, decompressed and without byte order mark.
        format: "csv", "json", "jsonl", "parquet" or "excel".
    """

    name: str
    data: bytes
    format: str


def fetch(source: Readable, most: int | None = None) -> File:
    """Read a file, standard input for "-", or an open stream to its end.

    Args:
        source: Path, "-", or stream of bytes or text.
        most: How many bytes a compressed file may hold; by default the memory says.

    Returns:
        The bytes, with the name and the format.

    Raises:
        RatingsError: If there is nothing to read, no table in it, or too much.
        OptionError: If the source is neither a name nor a stream.

    Examples:
        >>> import io
        >>> fetch(io.StringIO("reviewer,item,score"))
        File(name='<stream>', data=b'reviewer,item,score', format='csv')
    """
    if isinstance(source, str | os.PathLike):
        name = os.fsdecode(source)
        if name == "-":
            name, data = STDIN, _standard_input()
        else:
            data = _file(name)
    else:
        name, data = _stream_name(source), _stream(source)
    data = unpack(name, data, most).removeprefix(UTF8_MARK)
    if not data or data.isspace():
        raise RatingsError(f"{name}: The file is empty.")
    return File(name, data, _format_of(name, data))


def _file(name: str) -> bytes:
    if not name or "\0" in name:
        raise must_be("source", "the name of a file", name)
    path = Path(name)
    try:
        return path.read_bytes()
    except FileNotFoundError:
        reason = NETWORK if "://" in name else _why_not_there(path)
    except IsADirectoryError:
        reason = "This is a folder. Give a file in it."
    except OSError as error:
        reason = f"The file cannot be read: {error.strerror or error}."
    raise RatingsError(f"{name}: {reason}")


def _why_not_there(path: Path) -> str:
    if not path.parent.is_dir():
        return f"There is no folder {str(path.parent)!r}."
    names = [there.name for there in path.parent.glob("*")]
    near = difflib.get_close_matches(path.name, names, n=1)
    hint = f", did you mean {str(path.with_name(near[0]))!r}?" if near else "."
    return f"There is no such file{hint}"


def _standard_input() -> bytes:
    stream = sys.stdin
    if stream is None or stream.closed or stream.isatty():
        raise RatingsError(
            f"{STDIN}: Nothing was sent to standard input. Give a file name, or send a "
            "file with < ratings.csv."
        )
    return _stream(getattr(stream, "buffer", stream))


def _stream(stream: IO[bytes] | IO[str]) -> bytes:
    name = _stream_name(stream)
    read = getattr(stream, "read", None)
    if not callable(read):
        rule = "a file name, '-', an open file or a dataframe"
        raise must_be("source", rule, stream)
    try:
        data = read()
    except (OSError, ValueError) as error:
        raise RatingsError(f"{name}: The stream cannot be read: {error}.") from None
    if isinstance(data, str):
        # Half a surrogate pair becomes bytes that are refused later, with their line.
        return data.encode("utf-8", "surrogatepass")
    if not isinstance(data, bytes | bytearray | memoryview):
        raise RatingsError(f"{name}: The stream must give bytes or text.")
    return bytes(data)


def _stream_name(stream: object) -> str:
    name = getattr(stream, "name", None)
    return name if isinstance(name, str) and name else STREAM


def _format_of(name: str, data: bytes) -> str:
    if data.startswith(PARQUET):
        return "parquet"
    if data.startswith((OLE, ZIP)):
        return "excel"
    start = data[:4096].lstrip()
    if MARKUP.match(start):
        raise RatingsError(
            f"{name}: The file is a web page or XML, not a table. Export the table as "
            "CSV or Excel; open a workbook of 2003 in Excel and save it as .xlsx."
        )
    if not JSON_START.match(start):
        return "csv"
    return "jsonl" if JSON_LINES.match(data.lstrip()) else "json"


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
