"""From a path, standard input or an open stream to bytes.

The bytes say how a file is stored, whatever it is called.
"""

from __future__ import annotations

import difflib
import glob
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from evenhand.errors import RatingsError, must_be
from evenhand.unpacking import GZIP, ZIP, unpack

if TYPE_CHECKING:
    from collections.abc import Sequence

Readable = str | os.PathLike[str] | IO[bytes] | IO[str]

JSON_START = re.compile(rb'\[\s*[\[{\]]|\{\s*["}]')
JSON_LINES = re.compile(rb"\{.*\}[ \r]*\n\s*\{")
MARKUP = re.compile(rb"(?i)<(?:\?xml|!--|!doctype|html|head|body|table|div|meta)")
OLE, PARQUET = b"\xd0\xcf\x11\xe0", b"PAR1"
UTF8_MARK = b"\xef\xbb\xbf"
PATTERN = re.compile(r"[*?\[]")
NETWORK = "Nothing is fetched from the network. Download the file and give its name."
STDIN = "<stdin>"
STREAM = "<stream>"


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
    if data.startswith((GZIP, ZIP)):
        data = unpack(name, data, most)
    data = data.removeprefix(UTF8_MARK)
    if not data or data.isspace():
        raise RatingsError(f"{name}: The file is empty.")
    return File(name, data, format_of(name, data))


def paths_of(source: Readable | Sequence[Readable]) -> list[Readable]:
    """Return the files that are meant by a list, a folder or a pattern such as *.json.

    Raises:
        RatingsError: If a folder is empty, or nothing matches a pattern.

    Examples:
        >>> paths_of(["a.csv", "b.csv"]), paths_of("-")
        (['a.csv', 'b.csv'], ['-'])
    """
    if isinstance(source, list | tuple) and source:
        return [path for part in source for path in paths_of(part)]
    if not isinstance(source, str | os.PathLike):
        return [source]  # type: ignore[list-item]  # a stream
    name = os.fsdecode(source)
    # A name that is too long is no folder; Path.is_dir would raise.
    if os.path.isdir(name):  # noqa: PTH112
        paths = sorted(glob.glob(os.path.join(glob.escape(name), "*")))  # noqa: PTH118, PTH207
        files = [path for path in paths if not Path(path).is_dir()]
        if not files:
            raise RatingsError(f"{name}: The folder holds no file that can be read.")
        return [*files]
    if not PATTERN.search(name) or os.path.exists(name):  # noqa: PTH110
        return [source]
    return [*sorted(glob.glob(name))] or [source]  # noqa: PTH207


def _file(name: str) -> bytes:
    if not name or "\0" in name:
        raise must_be("source", "the name of a file", name)
    path = Path(name)
    try:
        return path.read_bytes()
    except FileNotFoundError:
        reason = NETWORK if "://" in name else _why_not_there(path)
    except IsADirectoryError:
        reason = "This is a folder."
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


def format_of(name: str, data: bytes) -> str:
    """Tell how bytes are stored.

    Raises:
        RatingsError: If they are a web page.

    Examples:
        >>> format_of("r.txt", b'[{"item": "x"}]')
        'json'
    """
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
