"""Small files that unpack to much are refused in words, before they fill the memory."""

from __future__ import annotations

import gzip
import io
import re
import struct
import subprocess
import sys
import zipfile
import zlib
from typing import TYPE_CHECKING

import polars as pl
import pytest

from evenhand import unpacking
from evenhand.engines.files import count_files
from evenhand.errors import RatingsError
from evenhand.web.lists import lines_from_file
from tests.formats.reader import Reader

if TYPE_CHECKING:
    from pathlib import Path

FILE = Reader("r.csv.gz")
read, refused = FILE.read, FILE.refused
GOOD = b"reviewer,item,score\nanna,x,7\nbo,x,6.5\n"
ADVICE = (
    "are read from it, so that it cannot fill the memory. Take a part of it, or unpack "
    "it yourself if you trust it."
)
# A process of its own reads the file and says how much memory it took, in kB. What it
# took before is that of polars and others.
PROGRAM = """
import resource, sys
import polars
import evenhand
from evenhand.formats import reading
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    evenhand.read_ratings(sys.argv[1])
except evenhand.EvenhandError as error:
    print(error)
children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(max(after - before, children))
"""


def bomb(size: int) -> bytes:
    """Return a table of equal rows that unpacks to so many bytes."""
    return gzip.compress(GOOD[:20] + b"a,x,5\n" * (size // 6), 6)


def workbook(held: int, says: int | None = None) -> bytes:
    """Return an archive with an entry of so many bytes, which may say another size."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * held)
    data = file.getvalue()
    if says is None:
        return data
    crc = struct.pack("<I", zlib.crc32(b"0" * held))
    other = struct.pack("<I", zlib.crc32(b"0" * says))
    sizes = struct.pack("<I", held), struct.pack("<I", says)
    return data.replace(crc, other).replace(*sizes)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let any file unpack to 1000 bytes, and to no more than ten times its size."""
    monkeypatch.setattr(unpacking, "SMALL", 1000)
    monkeypatch.setattr(unpacking.unpacking_limit, "__defaults__", ((32, 10),))


@pytest.mark.usefixtures("small")
def test_a_file_that_unpacks_to_too_much_is_refused() -> None:
    data = bomb(300_000)
    most = 10 * len(data)
    sizes = (len(data), 300_020 - 300_000 % 6, most)
    packed, held, limit = (f"{it / 1e6:,.1f} MB" for it in sizes)
    assert refused(data) == (
        f"r.csv.gz: The file of {packed} unpacks to at least {held}, and at most "
        f"{limit} {ADVICE}"
    )
    assert read(gzip.compress(GOOD)).n_ratings == 2
    assert "unpacks to" in refused(gzip.compress(GOOD + b"\n" * 2000))


@pytest.mark.usefixtures("small")
def test_what_a_file_says_of_its_size_is_not_believed() -> None:
    lies = bomb(3_000_000)[:-4] + struct.pack("<I", 7)
    assert "unpacks to at least 1.0 MB" in refused(lies)
    parts = gzip.compress(GOOD) * 3 + bomb(3_000_000) + gzip.compress(b"")
    assert "unpacks to at least 1.0 MB" in refused(parts)


@pytest.mark.usefixtures("small")
def test_a_workbook_that_unpacks_to_too_much_is_refused() -> None:
    for data in (workbook(300_000), workbook(3_000_000, says=900)):
        said = refused(data, "r.xlsx")
        assert said.startswith("r.xlsx: The file of 0.0 MB unpacks to at least ")
        assert said.endswith(ADVICE)
    packed = gzip.compress(workbook(300_000))
    assert "unpacks to at least 0.3 MB" in refused(packed, "r.xlsx.gz")


def test_a_parquet_file_of_too_many_rows_is_refused() -> None:
    file = io.BytesIO()
    rows = pl.select(pl.repeat(1, 6_000_000, dtype=pl.Int8).alias("score"))
    rows.write_parquet(file)
    assert len(file.getvalue()) < 40_000
    said = refused(file.getvalue(), "r.parquet", reviewer="score")
    assert "unpacks to at least 48.0 MB, and at most " in said


def test_the_memory_that_is_free_limits_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "available_memory", lambda: 32 * 100)
    assert read(gzip.compress(GOOD)).n_ratings == 2
    assert "at most 0.0 MB are read" in refused(gzip.compress(GOOD + b"c,x,1\n" * 20))


@pytest.mark.usefixtures("small")
def test_files_that_are_counted_are_limited_too(tmp_path: Path) -> None:
    path = tmp_path / "r.csv.gz"
    path.write_bytes(bomb(300_000))
    with pytest.raises(RatingsError, match=r"r\.csv\.gz: The file of 0\.0 MB unpacks"):
        count_files([str(path)])
    path.write_bytes(gzip.compress(GOOD))
    assert count_files([str(path)], items=["x"]).n_items == 1


def test_an_upload_of_a_list_is_limited_too() -> None:
    with pytest.raises(ValueError, match=r"list\.gz: The file of 0\.0 MB unpacks to"):
        lines_from_file("items.csv.gz", bomb(20_000_000))


@pytest.mark.parametrize("kind", ["honest", "lying", "workbook"])
def test_a_bomb_of_a_megabyte_takes_little_memory(kind: str, tmp_path: Path) -> None:
    if kind == "workbook":
        path = tmp_path / "r.xlsx"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/worksheets/sheet1.xml", b"0" * 60_000_000)
    else:
        path = tmp_path / "r.csv.gz"
        piece = gzip.compress(b"a,x,5\n" * 4_000_000)
        count = 1 if kind == "honest" else 40
        path.write_bytes(piece * count + (b"" if kind == "honest" else bomb(12)))
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", PROGRAM, str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    said, memory = done.stdout.splitlines()
    assert "unpacks to at least" in said
    assert re.fullmatch("[0-9]+", memory)
    # 40 pieces of 35 kB are 1.4 MB, of which 140 MB are unpacked before it is too much.
    assert int(memory) < (400_000 if kind == "lying" else 60_000)
