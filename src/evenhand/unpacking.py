"""How much a compressed file may hold, so that a small one cannot fill the memory.

A kilobyte of gzip may unpack to a megabyte, and a table takes up to 60 times the room
of its text. What is unpacked is therefore counted, and limited by the memory that is
free and by the size of the file: a table of ratings shrinks to a tenth or less, rarely
to a hundredth.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
import zipfile
import zlib
from pathlib import Path

from evenhand.errors import RatingsError

GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"
SMALL = 16 * 2**20
"""What any file may unpack to."""
TEXT, PARQUET = (32, 100), (4, 1000)
"""The part of the memory that text and Parquet may unpack to, and how much either
shrinks at best."""
UNKNOWN = 4 * 2**30
CHUNK, DEFLATE = 2**20, 1032
"""What is looked at at once; how much gzip shrinks a file at best."""
DAMAGED = (OSError, EOFError, ValueError, RuntimeError, zlib.error, zipfile.BadZipFile)


def available_memory() -> int:
    """Return how many bytes of memory are free; of the machine's, if nothing tells.

    Examples:
        >>> available_memory() > 0
        True
    """
    sizes = []
    with contextlib.suppress(OSError):
        text = Path("/proc/meminfo").read_text(encoding="utf-8")
        sizes += [
            1024 * int(kilobytes)
            for kilobytes in re.findall(r"MemAvailable:\s*(\d+)", text)
        ]
    with contextlib.suppress(OSError, ValueError):
        text = Path("/sys/fs/cgroup/memory.max").read_text(encoding="utf-8")
        sizes.append(int(text))
    with contextlib.suppress(AttributeError, ValueError, OSError):
        sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(sizes, default=UNKNOWN)


def unpacking_limit(packed: int, kind: tuple[int, int] = TEXT) -> int:
    """Return how many bytes a file of this size may unpack to.

    Examples:
        >>> unpacking_limit(1000) <= SMALL
        True
    """
    share, shrinks = kind
    return min(max(shrinks * packed, SMALL), available_memory() // share)


def refusal(name: str, packed: int, unpacked: int, most: int) -> RatingsError:
    """Return the error for a file that holds too much.

    Examples:
        >>> print(refusal("r.csv.gz", 204_000, 210_000_000, 20_400_000))
        r.csv.gz: The file of 0.2 MB unpacks to at least 210.0 MB, and at most 20.4 MB
        are read from it, so that it cannot fill the memory. Take a part of it, or
        unpack it yourself if you trust it.
    """
    size, content, limit = (
        f"{n_bytes / 1e6:,.1f} MB" for n_bytes in (packed, unpacked, most)
    )
    return RatingsError(
        f"{name}: The file of {size} unpacks to at least {content}, and at most "
        f"{limit} are read from it, so that it cannot fill the memory. Take a part "
        "of it, or unpack it yourself if you trust it."
    )


def unpack(name: str, data: bytes, most: int | None = None) -> bytes:
    """Unpack gzip; return other files as they are, archives if they hold little enough.

    Args:
        name: What messages call the file.
        data: Its bytes.
        most: How many bytes it may hold, if less than `unpacking_limit` says.

    Raises:
        RatingsError: If it holds more, or begins like gzip but is damaged.

    Examples:
        >>> unpack("r.csv.gz", gzip.compress(b"item,score"))
        b'item,score'
    """
    limits = [UNKNOWN if most is None else most]
    if data.startswith(GZIP):
        most = min(unpacking_limit(len(data)), *limits)
        # The last four bytes say how much the file holds; they may be wrong.
        stated = int.from_bytes(data[-4:], "little")
        if most < stated < DEFLATE * len(data):
            raise refusal(name, len(data), stated, most)
        unpacked = io.BytesIO()
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
                while unpacked.tell() <= most and (chunk := file.read(CHUNK)):
                    unpacked.write(chunk)
        except DAMAGED:
            text = f"{name}: The file begins like gzip but cannot be decompressed."
            raise RatingsError(text) from None
        if unpacked.tell() > most:
            raise refusal(name, len(data), unpacked.tell(), most)
        data = unpacked.getvalue()
    if data.startswith(ZIP):
        _check_archive(name, data, min(unpacking_limit(len(data)), *limits))
    return data


def check_file(path: str) -> None:
    """Refuse a file of gzip that holds too much, without keeping what it holds.

    Raises:
        RatingsError: If it does. A damaged file is left to what reads it.
    """
    packed = Path(path).stat().st_size
    most, unpacked = unpacking_limit(packed), 0
    with contextlib.suppress(*DAMAGED), gzip.open(path) as file:
        while unpacked <= most and (chunk := file.read(CHUNK)):
            unpacked += len(chunk)
    if unpacked > most:
        raise refusal(path, packed, unpacked, most)


def _check_archive(name: str, data: bytes, most: int) -> None:
    """Refuse an archive, such as a workbook, that holds too much.

    Raises:
        RatingsError: If it does. A damaged archive is left to what reads it.
    """
    unpacked = 0
    with contextlib.suppress(*DAMAGED), zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        unpacked = sum(entry.file_size for entry in entries)
        for entry in entries if unpacked <= most else ():
            # What an entry says of itself may be wrong, so it is read to its end.
            unpacked -= entry.file_size
            entry.file_size = most + CHUNK
            del entry.CRC
            with contextlib.suppress(*DAMAGED), archive.open(entry) as part:
                while unpacked <= most and (chunk := part.read(CHUNK)):
                    unpacked += len(chunk)
    if unpacked > most:
        raise refusal(name, len(data), unpacked, most)
