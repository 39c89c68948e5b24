"""Whatever a file holds, reading it gives ratings or one of our sentences."""

from __future__ import annotations

import gzip
import io
import zipfile
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evenhand.errors import EvenhandError
from evenhand.formats.reading import read_ratings

if TYPE_CHECKING:
    from collections.abc import Callable

FRAME = pl.DataFrame(
    {
        "reviewer": ["anna", "bo, b", 'c"y', "é"],
        "item": [1, 2, 10, 2],
        "score": [1.5, None, -2.0, 0.0],
    }
)


def written(write: Callable[[io.BytesIO], object]) -> bytes:
    file = io.BytesIO()
    write(file)
    return file.getvalue()


CSV = FRAME.write_csv().encode()
TEXTS = [
    CSV,
    FRAME.write_csv(separator=";", quote_style="always").encode(),
    b"\xef\xbb\xbf" + CSV.replace(b"\n", b"\r\n"),
    b'winner,loser\n"a\nb",c\nc,d\n',
    gzip.compress(CSV, mtime=0),
    FRAME.write_csv(separator="\t").encode(),
    FRAME.write_ndjson().encode(),
    FRAME.write_json().encode(),
]
PARQUETS = [
    written(lambda file: FRAME.write_parquet(file, compression="uncompressed")),
    written(lambda file: FRAME.write_parquet(file, compression="snappy")),
    written(lambda file: FRAME.write_parquet(file, compression="zstd")),
]
WORKBOOK = written(FRAME.write_excel)
PARTS = {
    name: zipfile.ZipFile(io.BytesIO(WORKBOOK)).read(name)
    for name in zipfile.ZipFile(io.BytesIO(WORKBOOK)).namelist()
}
SHEET = "xl/worksheets/sheet1.xml"
TOKENS = [
    *(b'"', b",", b";", b"\t", b"\n", b"\r", b"\r\n", b"\0", b"\xff", b" ", b"'"),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"{", b"}", b"[", b":", b"null", b"true", b"NaN"),
    *(b"nan", b"inf", b"1e999", b"-0", b"007", b"9" * 400, b"sep=;\n", b"\\ud800"),
    *(b"score", b"item", b"rank", b"<", b">", b"&", b"A1048576", b'r="XFD9"', b't="s"'),
    *(b"9999999999", b"-1", b"PK\x03\x04", b"PAR1", b"\x1f\x8b", b"\x7f\xff\xff\xff"),
]
Edit = tuple[str, int, bytes]
edits = st.lists(
    st.tuples(
        st.sampled_from(["insert", "replace", "delete", "cut", "repeat"]),
        st.integers(0, 10_000),
        st.sampled_from(TOKENS) | st.binary(min_size=1, max_size=3),
    ),
    min_size=1,
    max_size=6,
)


def edited(data: bytes, changes: list[Edit]) -> bytes:
    for kind, place, token in changes:
        at = place % (len(data) + 1)
        if kind == "insert":
            data = data[:at] + token + data[at:]
        elif kind == "replace":
            data = data[:at] + token + data[at + len(token) :]
        elif kind == "delete":
            data = data[:at] + data[at + len(token) :]
        elif kind == "cut":
            data = data[: max(at, 1)]
        else:
            data = data[:at] + data[at : at + 40] + data[at:]
    return data


def attempt(data: bytes) -> None:
    try:
        ratings = read_ratings(io.BytesIO(data))
    except EvenhandError as error:
        message = str(error)
    else:
        assert ratings.n_ratings > 0
        assert np.isfinite(ratings.preference).all()
        assert len(ratings.sha256) == 64
        return
    assert message.startswith("<stream>")
    assert message.endswith((".", "?"))
    assert message.count("\n") == message.count("\n  ")


@settings(max_examples=100)
@given(st.binary(max_size=60))
@example(b"")
@example(b'"' * 200_001)
@example(b"x" * 200_000)
@example(b"," * 200_000)
@example(b'{"a":' * 200_000)
def test_any_bytes(data: bytes) -> None:
    attempt(data)


@settings(max_examples=100)
@given(st.sampled_from(TEXTS), edits)
def test_edited_text(data: bytes, changes: list[Edit]) -> None:
    attempt(edited(data, changes))


cells = st.one_of(
    st.text(max_size=4),
    st.sampled_from(["7", "7.5", "", " ", "NA", "1e999", "٣", "anna", '"', "x\ny"]),
    st.integers().map(str),
    st.floats().map(str),
)
headers = st.sampled_from(["reviewer", "item", "score", "rank", "winner", "loser", "x"])


@settings(max_examples=100)
@given(
    st.lists(headers | cells, min_size=2, max_size=4),
    st.lists(st.lists(cells, min_size=2, max_size=4), max_size=4),
    st.sampled_from([",", ";", "\t"]),
    st.booleans(),
)
def test_any_table_of_text(
    header: list[str],
    rows: list[list[str]],
    separator: str,
    quoted: bool,  # noqa: FBT001 - drawn
) -> None:
    def line(row: list[str]) -> str:
        if quoted:
            row = ['"' + cell.replace('"', '""') + '"' for cell in row]
        return separator.join(row)

    text = "\n".join(line(row[: len(header)]) for row in [header, *rows])
    attempt(text.encode("utf-8", "surrogatepass"))


@settings(max_examples=5)
@given(st.sampled_from(PARQUETS), edits)
def test_edited_parquet(data: bytes, changes: list[Edit]) -> None:
    attempt(edited(data, changes))


@settings(max_examples=2)
@given(edits)
def test_edited_workbook(changes: list[Edit]) -> None:
    attempt(edited(WORKBOOK, changes))


@settings(max_examples=4)
@given(st.sampled_from([SHEET, SHEET, *PARTS]), edits)
def test_a_workbook_with_an_edited_part(part: str, changes: list[Edit]) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in PARTS.items():
            content = edited(data, changes) if name == part else data
            archive.writestr(name, content)
    attempt(file.getvalue())
