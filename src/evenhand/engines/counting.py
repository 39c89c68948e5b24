"""count_ratings: how many scores of each value, counted where the ratings are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import polars as pl

from evenhand.columns import Source, require_no_thousands
from evenhand.engines import queries
from evenhand.engines.counts import MOST_LEVELS, Counts, Once
from evenhand.errors import OptionError, RatingsError, plural, quote
from evenhand.progress import say, working

if TYPE_CHECKING:
    from collections.abc import Sequence

    from narwhals.typing import IntoDataFrame, IntoLazyFrame

    from evenhand.claims import Label
    from evenhand.engines.queries import Rows
    from evenhand.ratings import Names

# Items times different scores; beyond, it is no summary.
MOST_CELLS = 1_000_000
COMMA_NUMBER, THOUSANDS = r"^\s*[+-]?\d*,\d+\s*$", r",\d{3}\s*$"


@working("Counting")
def count_ratings(
    frame: IntoDataFrame | IntoLazyFrame,
    *,
    reviewer: Names | None = None,
    item: Names | None = None,
    score: str | None = None,
    by: str | None = None,
    items: Sequence[Label] | None = None,
    once: Literal["checked", "declared"] = "checked",
) -> Counts:
    """Count scores by item and value in the engine that holds them.

    Args:
        frame: A lazy frame of polars, a relation of DuckDB, a dataframe of Spark, or a
            table of Ibis, one row per rating.
        reviewer: Column of the reviewer, or several that name one together; by default
            found by its name, as in files.
        item: Column of the item, or several.
        score: Column of the score.
        by: Column of the day of assignment, for a comparison that is watched.
        items: The two items to be compared, if there are more.
        once: "checked" asks the engine whether anybody scored twice or scored both
            items, which takes about 20 times as long as to count; "declared" leaves
            that to you.

    Returns:
        The counts, for `compare`. Rows without a score are counted in `missing`.

    Raises:
        RatingsError: If a column is missing, a score is not finite, a row has no item
            or no reviewer, or somebody scored twice.
        OptionError: If an option is unknown.

    Examples:
        >>> rows = {"reviewer": [1, 2, 3], "item": ["x", "x", "y"], "score": [5, 5, 4]}
        >>> count_ratings(pl.LazyFrame(rows)).to_frame().rows()
        [('x', 5.0, 2), ('y', 4.0, 1)]
    """
    if once not in ("checked", "declared"):
        raise OptionError(f"once must be 'checked' or 'declared', got {quote(once)}.")
    rows = queries.take_rows(
        frame,
        reviewer=reviewer,
        item=item,
        score=score,
        by=by,
        nameless=once == "declared",
    )
    return count_rows(rows, items, once)


def count_rows(
    rows: Rows,
    items: Sequence[Label] | None,
    once: Literal["checked", "declared"],
    *,
    commas: bool = False,
) -> Counts:
    """Count scores of chosen rows; see `count_ratings`.

    Args:
        rows: The ratings.
        items: The two items to be compared, if there are more.
        once: "checked" or "declared".
        commas: Whether commas in numbers may be decimal points.
    """
    if items is not None:
        rows = queries.only_items(rows, items)
    cells = queries.fetch(
        queries.histogram(rows), most=MOST_CELLS, what="different items and scores"
    )
    queries.require_names(cells, queries.ITEM, "count")
    queries.require_finite(cells[queries.SCORE], cells["count"])
    if not cells.height and items is None:
        raise RatingsError("There is no rating. Give at least one row with a score.")
    distinct = cells.group_by(queries.ITEM).agg(pl.col(queries.SCORE).n_unique())
    levels = distinct[queries.SCORE].max()
    if isinstance(levels, int) and levels > MOST_LEVELS:
        raise RatingsError(
            f"scores must have at most {MOST_LEVELS:,} different values to be counted, "
            f"got {levels:,}. Take the ratings themselves, or round the scores in the "
            "query."
        )
    if items is not None:
        _require_items(cells[queries.ITEM], items)
    try:
        cells = _with_points(cells) if commas else cells
        names = {"item": queries.ITEM, "score": queries.SCORE, "count": "count"}
        by_day = {"order": queries.DAY} if queries.DAY in cells.columns else {}
        columns = cells.select(**names | by_day)
        counts = Counts.from_frame(columns, order=(*by_day, "")[0])
    except RatingsError as error:
        if not error.problems:
            raise
        # The rows of the answer are none that the user knows.
        raise RatingsError(f"{error.problems[0][1]}.") from error
    if once == "declared":
        return counts
    say("Counting reviewers")
    standing = _integrity(rows, counts.n_items)
    return Counts.from_frame(columns, order=(*by_day, "")[0], once=standing)


def _with_points(cells: pl.DataFrame) -> pl.DataFrame:
    """Read commas in scores as decimal points, unless all may set off thousands."""
    scores = cells[queries.SCORE]
    if scores.dtype != pl.String:
        return cells
    number = scores.str.contains(COMMA_NUMBER).fill_null(value=False)
    if scores.filter(number).str.contains(THOUSANDS).all():
        return cells
    require_no_thousands(scores, "score", Source())
    points = scores.str.replace(",", ".", literal=True)
    return cells.with_columns(points.zip_with(number, scores).alias(queries.SCORE))


def _require_items(names: pl.Series, items: Sequence[Label]) -> None:
    """Refuse chosen items that no row names."""
    rated = {*names.cast(pl.String).str.strip_chars().to_list()}
    for label, text in zip(items, queries.as_items(items), strict=True):
        if not rated & {text, text.lstrip("+"), f"{text}.0"}:
            raise RatingsError(f"There is no rating of the item {label!r}.")


def _integrity(rows: Rows, n_items: int) -> Once:
    """Say whether each reviewer gave one score; refuse whoever scored an item twice."""
    loads = queries.require_reviewers(queries.fetch(queries.loads(rows)))
    several = loads.filter(pl.col(queries.LOAD) > 1)["reviewers"].sum()
    if not several:
        return "checked"
    people = plural(int(several), "reviewer")
    if n_items in (1, 2):
        raise RatingsError(
            f"reviewers must score one of two items, once, got {people} with more "
            "than one score. Leave them out."
        )
    queries.require_once(rows)
    return "per item"
