"""From a path, standard input or an open stream to bytes of a known format."""

from __future__ import annotations

import difflib
import gzip
import io
import os
import re
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import IO

from evenhand.errors import OptionError, RatingsError, listing, shown
from evenhand.formats import FORMATS

Readable = str | os.PathLike[str] | IO[bytes] | IO[str]

SUFFIXES = {
    suffix: name
    for name, suffixes in {
        # An archive is recognised by its bytes, and refused.
        "csv": ".csv .txt .zip",
        "tsv": ".tsv .tab",
        "parquet": ".parquet .pq",
        "json": ".json",
        "jsonl": ".jsonl .ndjson",
        "excel": ".xlsx .xlsm .xlsb .xls .ods",
    }.items()
    for suffix in suffixes.split()
}
ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
JSON_LINES = re.compile(rb"\s*\{.*\}[ \r]*\n\s*\{")
GZIP = b"\x1f\x8b"
MOST_BYTES = 2 * 2**30
"""Of a compressed file, which may hold far more than it seems."""
STDIN = "<stdin>"
STREAM = "<stream>"


@dataclass(frozen=True, slots=True)
class File:
    """A file that was read.

    Attributes:
        name: What messages call it.
        data: Its bytes, decompressed.
        format: One of FORMATS.
    """

    name: str
    data: bytes
    format: str


def fetch(source: Readable, format_name: str = "", *, guess: bool = False) -> File:
    """Read a file, standard input for "-", or an open stream to its end.

    Args:
        source: Path, "-", or stream of bytes or text.
        format_name: One of FORMATS; by default the suffix of the name tells it.
        guess: Look at the bytes where the suffix is unknown, instead of refusing it.

    Returns:
        The bytes, with the name and the format.

    Raises:
        RatingsError: If there is nothing to read or the suffix is not known.
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
    data = _decompressed(name, data)
    if not data or data.isspace():
        raise RatingsError(f"{name}: The file is empty.")
    return File(name, data, format_name or _format_of(name, data, guess=guess))


def _file(name: str) -> bytes:
    if not name:
        raise OptionError("source must be the name of a file, got ''.")
    if ADDRESS.match(name):
        raise OptionError(
            f"source must be the name of a file, got {shown(name)}. Nothing is fetched "
            "from the network: download the file and give its name."
        )
    path = Path(name)
    try:
        return path.read_bytes()
    except FileNotFoundError:
        reason = _not_found(path)
    except IsADirectoryError:
        reason = "This is a folder. Give a file in it."
    except PermissionError:
        reason = "The file may not be read by you. Ask for permission to read it."
    except OSError as error:
        reason = f"The file cannot be read: {error.strerror or error}."
    except ValueError:
        text = f"source must be the name of a file, got {shown(name)}."
        raise RatingsError(text) from None
    raise RatingsError(f"{name}: {reason}")


def _not_found(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f"There is no folder {str(folder)!r}."
    known = {there.name.casefold(): there.name for there in folder.glob("*")}
    near = difflib.get_close_matches(path.name.casefold(), list(known), n=1)
    if near:
        return f"There is no such file, did you mean {str(folder / known[near[0]])!r}?"
    return "There is no such file."


def _standard_input() -> bytes:
    stream = sys.stdin
    if stream is None or stream.closed:
        raise RatingsError(f"{STDIN}: Standard input is closed. Give a file name.")
    if stream.isatty():
        raise RatingsError(
            f"{STDIN}: Standard input is a terminal. Give a file name, or send a file "
            "with < ratings.csv."
        )
    return _stream(getattr(stream, "buffer", stream))


def _stream(stream: IO[bytes] | IO[str]) -> bytes:
    name = _stream_name(stream)
    read = getattr(stream, "read", None)
    if not callable(read):
        raise OptionError(
            "source must be a file name, '-', an open file or a dataframe, got "
            f"{shown(stream)}."
        )
    try:
        data = read()
    except UnicodeDecodeError as error:
        text = f"{name}: text must be UTF-8, got byte {error.object[error.start]:#04x}."
        raise RatingsError(f"{text} Open the file in binary mode.") from None
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


def _decompressed(name: str, data: bytes) -> bytes:
    if not data.startswith(GZIP):
        return data
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            found = file.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        text = f"{name}: The file begins like gzip but cannot be decompressed."
        raise RatingsError(text) from None
    if len(found) > MOST_BYTES:
        raise RatingsError(
            f"{name}: The file must have at most {MOST_BYTES / 1e6:,.1f} MB once it is "
            "decompressed. Take a part of the ratings, or decompress the file yourself "
            "to read it anyway."
        )
    return found


def _format_of(name: str, data: bytes, *, guess: bool) -> str:
    suffix = PurePath(name.casefold().removesuffix(".gz")).suffix
    if name not in (STDIN, STREAM):
        if suffix in SUFFIXES:
            return SUFFIXES[suffix]
        if not guess:
            raise RatingsError(
                f"{name}: The format is not known from the suffix {suffix!r}. "
                f"Say which with format= or --format: {listing(FORMATS)}."
            )
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"["):
        return "json"
    if not start.startswith(b"{"):
        return "csv"
    return "jsonl" if JSON_LINES.match(start) else "json"
