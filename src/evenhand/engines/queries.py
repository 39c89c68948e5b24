"""Queries over ratings, as one set of lazy expressions for every engine.

narwhals turns them into polars, DuckDB, Spark or Ibis, and through Ibis into the SQL of
PostgreSQL, BigQuery, Snowflake and others. Nothing but their small answers travels.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

import narwhals as nw
import polars as pl

from evenhand.columns import (
    MISSING_WORDS,
    Source,
    candidates,
    code_labels,
    find_columns,
    given_columns,
    label_series,
)
from evenhand.errors import OptionError, RatingsError, plural, quote, require_sequence
from evenhand.ratings import BETWEEN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from narwhals.typing import IntoDataFrame, IntoLazyFrame

    from evenhand.arrays import Codes
    from evenhand.claims import Label
    from evenhand.columns import Labels
    from evenhand.ratings import Names

Frame: TypeAlias = "nw.LazyFrame[Any]"
# An answer of more rows is no summary.
MOST_ROWS = 5_000_000
INTEGER = re.compile(r"[+-]?[0-9]+")
ITEM, SCORE, REVIEWER, LOAD = "item", "score", "reviewer", "load"
DAY = "day"


@dataclass(frozen=True, slots=True)
class Rows:
    """Ratings that stay where they are.

    Attributes:
        frame: Columns reviewer (if there is one), item and score, and maybe the day,
            one row per rating.
        scored: The same without rows that have no score.
        text: Whether reviewers are known to be text, which may be empty.
        typed: Whether the columns are of the types that they say.
    """

    frame: Frame
    scored: Frame
    text: bool = False
    typed: bool = True

    @property
    def nobody(self) -> nw.Expr:
        """Whether a row has no reviewer."""
        lacking = nw.col(REVIEWER).is_null()
        if self.text:
            lacking = lacking | (nw.col(REVIEWER).str.strip_chars() == "")
        return lacking.alias("nobody")


def take_rows(
    data: IntoDataFrame | IntoLazyFrame,
    *,
    reviewer: Names | None = None,
    item: Names | None = None,
    score: str | None = None,
    by: str | None = None,
    nameless: bool = False,
    text: bool = False,
    typed: bool = True,
) -> Rows:
    """Choose the columns of a frame, without reading a row.

    Args:
        data: A lazy frame or a table that narwhals knows.
        reviewer: Column of the reviewer, or several; by default found by its name.
        item: Column of the item, or several.
        score: Column of the score.
        by: Column of the day of assignment, if counts are to be by day.
        nameless: Whether there may be no column for the reviewer.
        text: Whether scores may be text, to be read when they are counted.
        typed: Whether the columns are of the types that they say.

    Raises:
        RatingsError: If it is no frame, a column is missing, or scores are no numbers.
    """
    try:
        native = nw.from_native(data)
    except TypeError:
        raise RatingsError(
            f"frame must be a dataframe or a table of an engine, got {quote(data)}."
        ) from None
    frame = native.lazy() if isinstance(native, nw.DataFrame) else native
    frame, people = _join_columns(frame, REVIEWER, reviewer)
    frame, things = _join_columns(frame, ITEM, item)
    schema = frame.collect_schema()
    declared = given_columns(reviewer=people, item=things, score=score)
    listed = list(schema.names())
    if nameless and not candidates(REVIEWER, listed, declared):
        frame = frame.with_columns(nw.lit(0).alias(REVIEWER))
        listed = [*listed, REVIEWER]
    names = find_columns(listed, declared, Source())
    if names.kind != "scores":
        raise RatingsError(f"ratings must hold scores to be counted, got {names.kind}.")
    kind = schema[names.score]
    if not (kind.is_numeric() or (text and kind == nw.String)):
        raise RatingsError(
            f"{names.score} must be a column of numbers, got {kind}. Cast it in the "
            "query."
        )
    columns = {REVIEWER: names.reviewer, ITEM: names.item, SCORE: names.score}
    if by is not None:
        if by not in listed:
            raise Source().unknown("column", by, listed)
        columns[DAY] = by
    chosen = frame.select(**{part: nw.col(name) for part, name in columns.items()})
    lacking = nw.col(SCORE).is_null()
    if kind == nw.String:
        words = nw.col(SCORE).str.strip_chars().str.to_lowercase()
        lacking = lacking | words.is_in(["", *MISSING_WORDS])
    named = typed and chosen.collect_schema()[REVIEWER] == nw.String
    return Rows(chosen, chosen.filter(~lacking), named, typed)


def _join_columns(
    frame: Frame, part: str, names: Names | None
) -> tuple[Frame, str | None]:
    """Join several columns that name one thing together, as `Ratings` does."""
    if names is None or isinstance(names, str):
        return frame, names
    if not names or not all(isinstance(name, str) for name in names):
        raise OptionError(
            f"{part} must be the name of a column or a list of names, got "
            f"{quote(names)}."
        )
    available = frame.collect_schema().names()
    for name in names:
        if name not in available:
            raise Source().unknown("column", name, available)
    texts = [nw.col(name).cast(nw.String) for name in names]
    joined = BETWEEN.join(names)
    text = nw.concat_str(texts, separator=BETWEEN)
    return frame.with_columns(text.alias(joined)), joined


def only_items(rows: Rows, items: Sequence[Label]) -> Rows:
    """Keep the ratings of these items, whose labels are compared without blanks.

    Raises:
        OptionError: If they are no labels, or one is named twice.
    """
    wanted = as_items(items)
    kind = rows.frame.collect_schema()[ITEM]
    column = nw.col(ITEM)
    if not kind.is_numeric():
        text = column if kind == nw.String else column.cast(nw.String)
        column = text.str.strip_chars() if rows.typed else text
    elif not all(INTEGER.fullmatch(label) for label in wanted):
        raise OptionError(
            f"items must be labels such as the column's integers, got {quote(items)}."
        )
    labels = [int(label) for label in wanted] if kind.is_numeric() else wanted
    chosen = nw.any_horizontal(
        *(column == label for label in labels), ignore_nulls=True
    )
    return replace(
        rows, frame=rows.frame.filter(chosen), scored=rows.scored.filter(chosen)
    )


def as_items(items: Sequence[Label]) -> list[str]:
    """Return the labels of chosen items as text without blanks around it.

    Raises:
        OptionError: If they are no labels, or one is named twice.

    Examples:
        >>> as_items([7, " x"])
        ['7', 'x']
    """
    if isinstance(items, str):
        raise OptionError(f"items must be a sequence of labels, got {quote(items)}.")
    require_sequence("labels", items=items)
    for label in items:
        whole = isinstance(label, Integral) and not isinstance(label, bool)
        if not whole and not (isinstance(label, str) and label.strip()):
            raise OptionError(
                f"items must be labels, text or whole numbers, got {quote(label)}."
            )
    wanted = [str(label).strip() for label in items]
    if not wanted:
        raise OptionError("items must name at least one item, got none.")
    for label in wanted:
        if wanted.count(label) > 1:
            raise OptionError(f"items must be different, got {label!r} twice.")
    return wanted


def histogram(rows: Rows) -> Frame:
    """Count ratings by item and score; those without either are counted, too."""
    by = [name for name in rows.frame.collect_schema().names() if name == DAY]
    return rows.frame.group_by(ITEM, SCORE, *by).agg(nw.len().alias("count"))


def loads(rows: Rows) -> Frame:
    """Count reviewers by how many scores they gave; those without a name apart."""
    people = rows.scored.group_by(REVIEWER).agg(nw.len().alias(LOAD))
    return (
        people.with_columns(rows.nobody)
        .group_by(LOAD, "nobody")
        .agg(nw.len().alias("reviewers"))
    )


def repeats(rows: Rows) -> Frame:
    """Count the times that a reviewer scored an item more than once, in one row."""
    times = rows.scored.group_by(REVIEWER, ITEM).agg(nw.len().alias("times"))
    return times.filter(nw.col("times") > 1).select(nw.len().alias("repeated"))


def facts(rows: Rows) -> Frame:
    """Count rows and scores, and find the range and sum of scores, in one row."""
    score = nw.col(SCORE)
    return rows.frame.select(score.cast(nw.Float64)).select(
        nw.len().alias("ratings"),
        score.count().alias("scores"),
        score.min().alias("lowest"),
        score.max().alias("highest"),
        score.sum().alias("total"),
    )


def _centre_scores(rows: Rows, centre: float) -> Frame:
    score = nw.col(SCORE).cast(nw.Float64)
    return rows.scored.with_columns(score - centre if centre else score)


def item_sums(rows: Rows, centre: float = 0.0) -> Frame:
    """Add up scores and their squares by item."""
    score = nw.col(SCORE)
    return (
        _centre_scores(rows, centre)
        .with_columns((score * score).alias("squares"))
        .group_by(ITEM)
        .agg(
            nw.len().alias("reviews"),
            score.sum().alias("total"),
            nw.col("squares").sum(),
        )
    )


def reviewer_sums(rows: Rows, centre: float = 0.0) -> Frame:
    """Add up squares of reviewers' sums of scores, by how many scores they gave."""
    score, total = nw.col(SCORE), nw.col("total")
    people = (
        _centre_scores(rows, centre)
        .group_by(REVIEWER)
        .agg(nw.len().alias(LOAD), score.sum().alias("total"))
    )
    return (
        people.with_columns(rows.nobody, (total * total).alias("squares"))
        .group_by(LOAD, "nobody")
        .agg(nw.len().alias("reviewers"), nw.col("squares").sum())
    )


def pairs(rows: Rows, centre: float = 0.0) -> Frame:
    """Count how each two items were scored by one reviewer, by the reviewer's load.

    Which item of a pair comes first follows the engine's own order of labels.
    """
    score = nw.col(SCORE)
    ratings = _centre_scores(rows, centre)
    several = (
        ratings.group_by(REVIEWER).agg(nw.len().alias(LOAD)).filter(nw.col(LOAD) > 1)
    )
    others = ratings.rename({ITEM: "other", SCORE: "other_score"})
    met = ratings.join(several, on=REVIEWER).join(others, on=REVIEWER)
    other_score = nw.col("other_score")
    return (
        met.filter(nw.col(ITEM) < nw.col("other"))
        .with_columns(
            above=nw.when(score > other_score).then(1).otherwise(0),
            below=nw.when(score < other_score).then(1).otherwise(0),
        )
        .group_by(ITEM, "other", LOAD)
        .agg(
            nw.len().alias("count"),
            nw.col("above").sum(),
            nw.col("below").sum(),
            score.sum().alias("total"),
            other_score.sum().alias("other_total"),
        )
    )


def reviews(rows: Rows) -> Frame:
    """Count scores by item."""
    return rows.scored.group_by(ITEM).agg(nw.len().alias("reviews"))


def unrated_items(rows: Rows) -> Frame:
    """List items that have no score."""
    number = rows.frame.group_by(ITEM).agg(nw.col(SCORE).count().alias("reviews"))
    lost = (nw.col("reviews") == 0) & ~nw.col(ITEM).is_null()
    return number.filter(lost).select(ITEM)


def ties(rows: Rows) -> Frame:
    """Count pairs of equal scores by one reviewer, and who has any, in one row."""
    times = nw.col("times")
    return (
        rows.scored.group_by(REVIEWER, SCORE)
        .agg(nw.len().alias("times"))
        .filter(times > 1)
        .with_columns((times * (times - 1)).cast(nw.Int64).alias("twice"))
        .group_by(REVIEWER)
        .agg(nw.col("twice").sum())
        .select(nw.len().alias("reviewers"), nw.col("twice").sum())
    )


def links(rows: Rows) -> Frame:
    """List each item beside the least items of its reviewers.

    A reviewer of k items so links them by k - 1 pairs instead of k (k - 1) / 2.
    """
    least = rows.scored.group_by(REVIEWER).agg(nw.col(ITEM).min().alias("other"))
    met = rows.scored.join(least, on=REVIEWER).filter(nw.col(ITEM) != nw.col("other"))
    return met.group_by(ITEM, "other").agg(nw.len().alias("reviewers"))


def fetch(frame: Frame, *, most: int = MOST_ROWS, what: str = "rows") -> pl.DataFrame:
    """Run a query and return its answer.

    Args:
        frame: The query.
        most: How many rows at most.
        what: What its rows are, for a message.

    Raises:
        RatingsError: If there are more rows, or the engine needs PyArrow to hand over.
    """
    few = frame.head(most + 1)
    if frame.implementation.is_polars():
        answer = few.collect(engine="streaming").to_polars()
    else:
        try:
            answer = few.collect(backend="polars").to_polars()
        except ModuleNotFoundError as error:
            raise RatingsError(
                f"This engine hands over its answers by {error.name}. Install it: pip "
                f"install {error.name}."
            ) from error
    if answer.height > most:
        raise RatingsError(
            f"the answer must be small, got more than {most:,} {what}. Take the "
            "ratings themselves."
        )
    return answer


def fetch_facts(rows: Rows) -> tuple[int, int, float, float, float]:
    """Fetch the facts: how many rows and scores, the range and sum of scores.

    Raises:
        RatingsError: If there is no score, or one is not finite.
    """
    number, scores, lowest, highest, total = fetch(facts(rows)).row(0)
    if not scores:
        raise RatingsError("There is no rating. Give at least one row with a score.")
    if not math.isfinite(total):
        raise RatingsError(
            "scores must be finite, got NaN or infinity among them. Make them NULL or "
            "leave them out in the query."
        )
    return int(number), int(scores), lowest, highest, total


def require_once(rows: Rows) -> None:
    """Refuse reviewers who scored an item more than once.

    Raises:
        RatingsError: If there are any; it says how many.
    """
    if twice := fetch(repeats(rows))["repeated"].item():
        raise RatingsError(
            f"reviewers must score an item once, got {plural(int(twice), 'pair')} of "
            "reviewer and item with more scores. Keep one of them."
        )


def code_items(names: pl.Series) -> tuple[Labels, Codes]:
    """Return the sorted labels of an engine's items, and the code of each.

    Raises:
        RatingsError: If two differ by white space only.

    Examples:
        >>> code_items(pl.Series(["y", "x"]))[0]
        ('x', 'y')
    """
    labels, codes = code_labels(label_series(names, ITEM, Source()))
    if len(labels) < len(names):
        raise RatingsError(
            "items must differ by more than white space around their names. Trim them."
        )
    return labels, codes


def require_names(answer: pl.DataFrame, column: str, number: str) -> None:
    """Refuse rows without a reviewer or an item.

    Raises:
        RatingsError: If there are any; it says how many.

    Examples:
        >>> require_names(pl.DataFrame({"item": ["x"], "count": [2]}), "item", "count")
    """
    names = answer[column]
    empty = names.is_null()
    if names.dtype == pl.String:
        empty |= (names.str.strip_chars() == "").fill_null(value=False)
    lacking = answer.filter(empty)[number].sum()
    if lacking:
        raise RatingsError(
            f"{column} must be given in every row, got {plural(int(lacking), 'row')} "
            "without one. Leave them out."
        )


def require_reviewers(answer: pl.DataFrame) -> pl.DataFrame:
    """Return loads of reviewers as they are, and refuse rows without a reviewer.

    Raises:
        RatingsError: If there are any; it says how many.

    Examples:
        >>> require_reviewers(pl.DataFrame({"load": [2], "nobody": [False]})).height
        1
    """
    lacking = answer.filter("nobody")[LOAD].sum()
    if lacking:
        raise RatingsError(
            f"reviewer must be given in every row, got {plural(int(lacking), 'row')} "
            "without one. Leave them out, or, to count for compare, "
            "declare that nobody scored twice with once='declared' (--once declared)."
        )
    return answer


def require_finite(scores: pl.Series, counts: pl.Series) -> None:
    """Refuse scores that are not numbers.

    Raises:
        RatingsError: If there are any; it says how many.

    Examples:
        >>> require_finite(pl.Series([1.0, None]), pl.Series([2, 2]))
    """
    if not scores.dtype.is_float():
        return
    bad = (~scores.is_finite()).fill_null(value=False)
    if bad.any():
        text = plural(int(counts.filter(bad).sum()), "row")
        raise RatingsError(
            f"scores must be finite, got {scores.filter(bad)[0]} in {text}. Leave them "
            "out, or make them empty (NULL)."
        )
