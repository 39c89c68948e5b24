"""Several ratings of one item by one reviewer: which count, as the user says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from evenhand.columns import number_series
from evenhand.errors import must_be, refuse_option
from evenhand.formats.tables import strings

if TYPE_CHECKING:
    from evenhand.formats.layouts import LongForm
    from evenhand.formats.tables import Table

WAYS = ("last", "mean", "all")


def settle_repeats(long: LongForm, way: str) -> LongForm:
    """Keep the last of several ratings, their mean, or all of them.

    All are kept apart: the second of anna's ratings of an item is that of a reviewer
    "anna#2", with a strictness of its own. Rows without a score are left as they are.

    Args:
        long: The ratings.
        way: "last", "mean" or "all"; empty if the user did not say.

    Raises:
        OptionError: If the way is unknown, or cannot be used for these ratings.

    Examples:
        >>> from evenhand.columns import Columns, Source
        >>> from evenhand.formats.layouts import LongForm
        >>> from evenhand.formats.tables import Table
        >>> columns = {"reviewer": ["a", "a"], "item": ["x", "x"], "score": [1, 4]}
        >>> names = Columns("reviewer", "item", "score")
        >>> long = LongForm(Table.of(columns, Source()), names, "")
        >>> settle_repeats(long, "mean").table.columns["score"].to_list()
        [2.5]
    """
    if not way:
        return long
    if way not in WAYS:
        raise must_be("repeats", "'last', 'mean' or 'all'", way)
    names, table = long.names, long.table
    why = f"for {names.kind}"
    refuse_option("repeats", names.kind == "comparisons", f"{why}: all of them count")
    refuse_option("repeats='mean'", way == "mean" and names.rank, why)
    refuse_option("repeats='mean'", way == "mean" and names.weight, "with weights")
    confident = way == "mean" and names.confidence
    refuse_option("repeats='mean'", confident, "with confidence")
    column = names.score or names.rank
    numbers, missing = number_series(table.columns[column], column, table.source)
    pair = ["reviewer", "item"]
    rows = pl.DataFrame(
        {
            "reviewer": strings(table.columns[names.reviewer]),
            "item": strings(table.columns[names.item]),
            "score": numbers,
            "missing": missing,
        }
    ).with_row_index("row")
    scored = rows.filter(~pl.col("missing")).with_columns(
        place=pl.int_range(1, pl.len() + 1).over(pair),
        number=pl.len().over(pair),
        mean=pl.col("score").mean().over(pair),
    )
    repeated = scored.filter(pl.col("number") > 1)
    if not repeated.height:
        return long
    further = repeated.height - repeated.n_unique(pair)
    table = table.warn("repeats", case=way, ratings=further)
    if way == "all":
        again = repeated.filter(pl.col("place") > 1)
        mark = "#"
        while rows["reviewer"].str.contains(mark, literal=True).any():
            mark += "#"
        labels = again.select(pl.format(f"{{}}{mark}{{}}", "reviewer", "place"))
        people = rows["reviewer"].scatter(again["row"], labels.to_series())
        return _with_column(long, table, names.reviewer, people)
    if way == "mean":
        means = rows["score"].scatter(repeated["row"], repeated["mean"])
        scores = means.set(pl.Series(missing), None)
        long = _with_column(long, table, column, scores)
        table = long.table
    earlier = repeated.filter(pl.col("place") < pl.col("number"))["row"]
    kept = rows["row"].filter(~rows["row"].is_in(earlier.implode()))
    return replace(long, table=table.keep(kept.to_list()))


def _with_column(
    long: LongForm, table: Table, name: str, values: pl.Series
) -> LongForm:
    """Return the ratings with other values in one column."""
    columns = {**table.columns, name: values}
    return replace(long, table=replace(table, columns=columns))
