"""Files of ratings that need not fit into memory: Parquet and CSV, read in streams."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import narwhals as nw
import polars as pl

from evenhand.engines import queries
from evenhand.engines.counting import count_rows
from evenhand.errors import RatingsError, listing, require_sequence
from evenhand.progress import working

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.claims import Label
    from evenhand.engines.counts import Counts
    from evenhand.ratings import Names

PARQUET = (".parquet", ".pq")
TEXT = (".csv", ".tsv", ".txt", ".gz")


@working("Counting")
def count_files(
    files: Sequence[str],
    *,
    reviewer: Names | None = None,
    item: Names | None = None,
    score: str | None = None,
    items: Sequence[Label] | None = None,
    once: Literal["checked", "declared"] = "checked",
) -> Counts:
    """Count scores by item and value in files, as `count_ratings` does.

    Args:
        files: Paths, or patterns such as "ratings/*.parquet"; all Parquet or all CSV.
        reviewer: Column of the reviewer, or several.
        item: Column of the item, or several.
        score: Column of the score.
        items: The two items to be compared, if there are more.
        once: "checked" or "declared", as in `count_ratings`.

    Raises:
        RatingsError: If there is no such file, it cannot be read, or as for
            `count_ratings`.
    """
    require_sequence("paths", files=files)
    try:
        rows = queries.take_rows(
            scan(files),
            reviewer=reviewer,
            item=item,
            score=score,
            nameless=once == "declared",
            text=True,
        )
        return count_rows(rows, items, once)
    except (pl.exceptions.PolarsError, nw.exceptions.NarwhalsError, OSError) as error:
        first = str(error).strip().partition("\n")[0].rstrip(".")
        raise RatingsError(f"{listing(files)} cannot be read: {first}.") from error


def scan(files: Sequence[str]) -> pl.LazyFrame:
    """Open files as one lazy frame; cells of CSV are text.

    Raises:
        RatingsError: If there is no such file, or they are of several kinds.
    """
    paths: list[str] = []
    for name in files:
        found = [name] if Path(name).is_file() else sorted(glob.glob(name))  # noqa: PTH207 - a pattern may be absolute
        if not found:
            raise RatingsError(f"There is no file {name!r}.")
        paths += found
    kinds = {Path(path).suffix.lower() for path in paths}
    if kinds <= set(PARQUET):
        return pl.scan_parquet(paths)
    if not kinds <= set(TEXT):
        raise RatingsError(
            f"files must be all Parquet or all CSV, got {listing(sorted(kinds))}."
        )
    return pl.scan_csv(paths, infer_schema=False, separator=_separator(paths[0]))


def _separator(path: str) -> str:
    """Tell the separator by the first line; compressed files have commas."""
    if path.lower().endswith(".gz"):
        return ","
    with Path(path).open(encoding="utf-8", errors="replace") as text:
        head = text.readline()
    return max(",;\t", key=head.count)
