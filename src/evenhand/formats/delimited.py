"""From text with separators to cells.

Text is read the way spreadsheets write it. Python's csv module names the line that is
wrong. A file without quotes whose lines all have as many fields is read by polars,
which is faster.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from evenhand.claims import DataWarning
from evenhand.errors import RatingsError, must_be, plural
from evenhand.formats.files import format_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.claims import Json
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
WORDS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
TAB = ("tab", "\\t", "\t")
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
HIGH = re.compile(rb"[\x80-\xff]+")
LONG_RUN = 3
"""Letters of Western languages stand alone or in twos between others."""
WESTERN = bytes({*range(0xE0, 0xFD)} - {0xF0, 0xF7}).decode("latin-1") + "\u0153"
IN_WORD = re.compile(
    rf"(?<=[A-Za-z])[{WESTERN}\u00df\u2019]|(?<=[A-Z])[{WESTERN.upper()}]|"
    rf"(?<![A-Za-z])[{WESTERN}{WESTERN.upper()}](?=[a-z])"
)
"""Letters with accents where words have them."""
MAC_ROMAN, WINDOWS = "mac_roman", "cp1252"
ENCODINGS = {MAC_ROMAN: "Mac Roman", WINDOWS: "Windows-1252"}


def check_text(file: File) -> None:
    """Check that a text is UTF-8.

    Raises:
        RatingsError: If it is not; the line is named.
    """
    place = _bad_byte(file.data)
    if place >= 0:
        raise RatingsError(
            f"{_complain(file, place, 'UTF-8')}. Save the file as UTF-8."
        )


def decode_text(file: File, encoding: str = "") -> tuple[File, list[DataWarning]]:
    r"""Turn a text in another encoding into UTF-8.

    Args:
        file: The file.
        encoding: What the user named; by default UTF-8, UTF-16, Windows-1252 and Mac
            Roman are told apart.

    Returns:
        The file, and what it was read as if that is not UTF-8.

    Raises:
        OptionError: If there is no such encoding.
        RatingsError: If the text is in none of these, or not in that; the line is
            named.

    Examples:
        >>> from evenhand.formats.files import File
        >>> decode_text(File("r.csv", b"item\nCaf\xe9\n", "csv"))[1][0].message
        'The file is not UTF-8 (byte 0xe9 on line 2); read as Windows-1252. If names
        look wrong, say encoding= or --encoding.'
    """
    data, place = file.data, _bad_byte(file.data)
    if place < 0 and not encoding:
        return file, []
    codec = {"mac": MAC_ROMAN}.get(encoding.casefold(), encoding) or _guess_codec(data)
    try:
        text = data.decode(codec) if codec else "\0"
    except LookupError:
        rule = "an encoding, such as utf-8, utf-16, windows-1252 or mac"
        raise must_be("encoding", rule, encoding) from None
    except UnicodeError as error:
        text, place = "\0", getattr(error, "start", 0)
    if "\0" in text:
        advice = "Save the file as UTF-8, or name its encoding with encoding= or"
        raise RatingsError(
            f"{_complain(file, max(place, 0), encoding or 'UTF-8')}. {advice} "
            "--encoding."
        )
    utf8 = text.removeprefix("\ufeff").encode()
    recoded = replace(file, data=utf8, format=format_of(file.name, utf8))
    if encoding:
        return recoded, []
    line = data.count(b"\n", 0, place) + 1
    title = ENCODINGS.get(codec, "UTF-16")
    facts: dict[str, Json] = {"byte": f"{data[place]:#04x}", "line": line}
    return recoded, [DataWarning("encoding", {**facts, "encoding": title})]


def _bad_byte(data: bytes) -> int:
    """Return where a text stops being UTF-8, or -1."""
    zero = data.find(b"\0")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return min(error.start, zero) if zero >= 0 else error.start
    return zero


def _complain(file: File, place: int, encoding: str) -> str:
    line = file.data.count(b"\n", 0, place) + 1
    byte = f"{file.data[place]:#04x}"
    return f"{file.name}:{line}: text must be {encoding}, got byte {byte}"


def _guess_codec(data: bytes) -> str:
    """Tell the encoding of a text that is not UTF-8; empty if it is none of ours."""
    if data.startswith(UTF16_MARKS):
        return "utf-16"
    zeros = [data[start::2].count(0) for start in (0, 1)]
    if 4 * max(zeros) > len(data) and min(zeros) == 0:
        return "utf-16-be" if zeros[0] else "utf-16-le"
    runs = [len(run) for run in HIGH.findall(data)]
    rubbish = len(data) - len(data.decode("utf-8", "ignore").encode())
    foreign = 2 * sum(run for run in runs if run >= LONG_RUN) >= sum(runs)
    # A text that is UTF-8 but for a few bytes is damaged.
    if foreign or 2 * rubbish < sum(runs) or CONTROL.search(data):
        return ""
    likely = {
        codec: len(IN_WORD.findall(data.decode(codec, "replace")))
        for codec in (WINDOWS, MAC_ROMAN)
    }
    codec = MAC_ROMAN if likely[MAC_ROMAN] > likely[WINDOWS] else WINDOWS
    undefined = codec == WINDOWS and "\ufffd" in data.decode(WINDOWS, "replace")
    return "" if undefined else codec


class Cells(NamedTuple):
    """A header, the text below it, each row's line in the file, and what separates.

    The header is row -1.
    """

    header: list[str]
    rows: pl.DataFrame
    line: Callable[[int], int]
    separator: str


def read_cells(name: str, data: bytes, delimiter: str = "") -> Cells:
    r"""Read text with separators: a tab, or what the header holds most often.

    If lines do not have as many fields as the header, but have with one other sign,
    that sign separates them.

    Args:
        name: What messages call the file.
        data: The file, valid UTF-8 without byte order mark.
        delimiter: What separates fields, if the user said so.

    Returns:
        Every cell as text; a cell without text may be null.

    Raises:
        RatingsError: If a row has fewer or more fields than the header, or a quote is
            not closed.
        OptionError: If the delimiter is not one sign.

    Examples:
        >>> read_cells("ratings.csv", b"a;b\n1;2\n").header
        ['a', 'b']
        >>> read_cells("ratings.csv", b"a,b\tb\n1,2\n").header
        ['a', 'b\tb']
    """
    blank = BLANK_LINES.match(data)
    start = blank.end() if blank else 0
    body = data[start:]
    first = data.count(b"\n", 0, start) + 1
    if delimiter:
        sign = "\t" if delimiter in TAB else delimiter
        if len(sign) != 1 or not sign.isascii() or sign.isalnum() or sign in '"\r\n':
            raise must_be("delimiter", "one sign, such as ; or tab", delimiter)
        return _split_fields(name, body, sign, first)
    likely = _likely_sign(body)
    try:
        return _split_fields(name, body, likely, first)
    except RatingsError:
        fitting = []
        for sign in WORDS:
            with contextlib.suppress(RatingsError):
                fitting += (
                    [_split_fields(name, body, sign, first)] if sign != likely else []
                )
        fitting = [cells for cells in fitting if len(cells.header) > 1]
        if len(fitting) != 1 or not fitting[0].rows.height:
            raise
        return fitting[0]


def _likely_sign(body: bytes) -> str:
    header = HEADER.match(body)
    plain = (
        QUOTED.sub(b"", header[0]) if header else body.partition(b"\n")[0]
    ).decode()
    if "\t" in plain:
        return "\t"
    usual = max(",;", key=plain.count)
    return "|" if "|" in plain and usual not in plain else usual


def _split_fields(name: str, body: bytes, separator: str, first: int) -> Cells:
    if cells := _by_polars(body, separator, first):
        return cells
    try:
        return _by_csv(name, body, separator, first)
    except RatingsError as error:
        # Programs that write tabs often leave quotes as they are.
        odd_quote = str(error).endswith((UNCLOSED, UNENDED))
        with contextlib.suppress(RatingsError):
            if separator == "\t" and odd_quote:
                return _by_csv(name, body, separator, first, quotes=False)
        raise


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


def _by_csv(
    name: str, body: bytes, separator: str, first: int, *, quotes: bool = True
) -> Cells:
    lines = io.TextIOWrapper(io.BytesIO(body), encoding="utf-8", newline="")
    reader = csv.reader(
        lines,
        delimiter=separator,
        strict=True,
        skipinitialspace=separator != " ",
        quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
    )
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
    records = records or [(first, [""])]
    (_, header), *rows = records
    for line, row in rows:
        if len(row) != len(header):
            raise RatingsError(
                f"{name}:{line}: the line has {plural(len(row), 'field')}, the header "
                f"{len(header)}. Read with {WORDS.get(separator, repr(separator))}; "
                "if the file uses another sign, name it with delimiter= or --delimiter."
            )
    schema = {str(place): pl.String for place in range(len(header))}
    frame = pl.DataFrame([row for _, row in rows], schema, orient="row")
    return Cells(header, frame, lambda row: records[row + 1][0], separator)
