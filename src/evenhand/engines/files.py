"""Files of ratings that need not fit into memory: Parquet and CSV, read in streams."""

from __future__ import annotations

import csv
import glob
import gzip
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import narwhals as nw
import polars as pl

from evenhand.engines import queries
from evenhand.engines.counting import count_rows
from evenhand.errors import RatingsError, listing, plural, require_sequence
from evenhand.progress import working
from evenhand.unpacking import check_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.claims import Label
    from evenhand.engines.counts import Counts
    from evenhand.ratings import Names

PARQUET = (".parquet", ".pq")
# Bytes of lines looked at at once.
CHUNK = 1 << 24
TEXT = (".csv", ".tsv", ".txt", ".gz")


@working("Counting")
def count_files(
    files: Sequence[str],
    *,
    reviewer: Names | None = None,
    item: Names | None = None,
    score: str | None = None,
    by: str | None = None,
    items: Sequence[Label] | None = None,
    once: Literal["checked", "declared"] = "checked",
) -> Counts:
    """Count scores by item and value in files, as `count_ratings` does.

    Args:
        files: Paths, or patterns such as "ratings/*.parquet"; all Parquet or all CSV.
        reviewer: Column of the reviewer, or several.
        item: Column of the item, or several.
        score: Column of the score.
        by: Column of the day of assignment, as in `count_ratings`.
        items: The two items to be compared, if there are more.
        once: "checked" or "declared", as in `count_ratings`.

    Raises:
        RatingsError: If there is no such file, it cannot be read, or as for
            `count_ratings`.
    """
    require_sequence("paths", files=files)
    try:
        frame, commas = scan(files)
        rows = queries.take_rows(
            frame,
            reviewer=reviewer,
            item=item,
            score=score,
            by=by,
            nameless=once == "declared",
            text=True,
        )
        return count_rows(rows, items, once, commas=commas)
    except (pl.exceptions.PolarsError, nw.exceptions.NarwhalsError, OSError) as error:
        first = str(error).strip().partition("\n")[0].rstrip(".")
        raise RatingsError(f"{listing(files)} cannot be read: {first}.") from error


def scan(files: Sequence[str]) -> tuple[pl.LazyFrame, bool]:
    """Open files as one lazy frame; cells of CSV are text.

    Returns:
        The frame, and whether commas do not separate its cells.

    Raises:
        RatingsError: If there is no such file, they are of several kinds, or a row has
            fewer or more fields than the header.
    """
    paths: list[str] = []
    for name in files:
        matches = [name] if Path(name).is_file() else sorted(glob.glob(name))  # noqa: PTH207 - a pattern may be absolute
        if not matches:
            raise RatingsError(f"There is no file {name!r}.")
        paths += matches
    kinds = {Path(path).suffix.lower() for path in paths}
    if kinds <= set(PARQUET):
        return pl.scan_parquet(paths), False
    if not kinds <= set(TEXT):
        raise RatingsError(
            f"files must be all Parquet or all CSV, got {listing(sorted(kinds))}."
        )
    separator = _separator(paths[0])
    for path in paths:
        if path.lower().endswith(".gz"):
            check_file(path)
        try:
            _require_even(path, separator)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            text = "The compressed file is cut off or damaged. Pack it again."
            raise RatingsError(f"{path}: {text}") from None
    frame = pl.scan_csv(paths, infer_schema=False, separator=separator)
    return frame, separator != ","


def _require_even(path: str, separator: str) -> None:
    """Refuse rows of another width than the header, which polars fills with nothing."""
    opened = gzip.open if path.lower().endswith(".gz") else open
    sign, due, first = separator.encode(), None, 1
    with opened(path, "rb") as file:
        while lines := file.readlines(CHUNK):
            if any(b'"' in line for line in lines):
                break
            for line, text in enumerate(lines, start=first):
                width = text.count(sign) + 1
                due = due or width
                if width != due and text.strip():
                    raise _uneven(path, line, due, width)
            first += len(lines)
        else:
            return
    with opened(path, "rt", encoding="utf-8", errors="replace", newline="") as file:
        reader = csv.reader(file, delimiter=separator)
        header = next(reader)
        line = reader.line_num + 1
        for row in reader:
            if len(row) != len(header) and "".join(row).strip():
                raise _uneven(path, line, len(header), len(row))
            line = reader.line_num + 1


def _uneven(path: str, line: int, due: int, width: int) -> RatingsError:
    return RatingsError(
        f"{path}:{line}: the line has {plural(width, 'field')}, the header {due}."
    )


def _separator(path: str) -> str:
    """Tell the separator by the first line; compressed files have commas."""
    if path.lower().endswith(".gz"):
        return ","
    with Path(path).open(encoding="utf-8", errors="replace") as text:
        head = text.readline()
    return max(",;\t", key=head.count)
