"""Counts: how many scores of each value each item has, whoever gave them."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Literal, Unpack

import narwhals as nw
import numpy as np
import polars as pl

from evenhand.arrays import frozen
from evenhand.claims import DataWarning, Json, few
from evenhand.columns import (
    COUNT,
    Columns,
    Labels,
    Source,
    are_counts,
    as_series,
    candidates,
    code_labels,
    column_values,
    given_columns,
    label_series,
    number_series,
    time_series,
)
from evenhand.errors import OptionError, RatingsError, listing, plural, quote, unknown
from evenhand.lazy import lazy
from evenhand.ratings import (
    Ratings,
    as_ratings,
    declared_options,
    frame_columns,
    is_frame,
    is_readable,
    number_rows,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from narwhals.typing import IntoDataFrame, IntoLazyFrame
    from numpy.typing import NDArray

    from evenhand.arrays import Codes, Scores
    from evenhand.claims import Json, Label
    from evenhand.formats import reading as readers
    from evenhand.ratings import WatchOptions

    Values = Sequence[object] | NDArray[np.generic] | pl.Series
else:
    readers = lazy("evenhand.formats.reading")

Once = Literal["checked", "declared", "per item"]
ONCE = "once"
STANDINGS: tuple[Once, ...] = ("checked", "declared", "per item")
MOST = 2**53
# Beyond so many different scores, counts are no shorter than scores.
MOST_LEVELS = 1_000
# Reports and exports list every score.
MOST_LISTED = 100_000


class Counts:
    """How many scores of each value each item has.

    `compare` decides from them as from the ratings themselves. Rows of the same item
    and score are added up.

    Args:
        items: Item of each row.
        scores: Score of each row, finite.
        counts: How many reviewers gave that score to that item.
        once: How it is known that nobody gave two of the scores: "checked" or
            "declared"; "per item" if reviewers scored several items, but each once.

    Attributes:
        item_labels: Distinct items, sorted, as in Ratings.
        item_codes: Index into item_labels of each row; rows are sorted by it.
        scores: Score of each row, increasing within an item.
        counts: How many scores each row stands for, at least 1.
        once: How it is known that nobody gave two of the scores.
        by_time: How many scores of each value each item has at each time, if it is
            known.
        missing: How many rows without a score each item has, for those that have any.
        unrated_labels: Items that were named, but without any score.
        notices: What the reader of a result must know.
        read_as: What a file was taken for.

    Raises:
        RatingsError: If a label is missing, a score is not finite, or a count is not a
            natural number.

    Examples:
        >>> counts = Counts(["x", "x", "y"], [5, 4, 4], [10**9, 3, 7])
        >>> counts
        Counts(1,000,000,010 scores of 2 items)
        >>> counts.scores.tolist(), counts.counts.tolist()
        ([4.0, 5.0, 4.0], [3, 1000000000, 7])
    """

    item_labels: Labels
    unrated_labels: Labels
    item_codes: Codes
    scores: Scores
    counts: Codes
    missing: Mapping[Label, int]
    once: Once
    notices: tuple[DataWarning, ...]
    read_as: str

    def __init__(
        self, items: Values, scores: Values, counts: Values, *, once: Once = "declared"
    ) -> None:
        """Validate, add up and sort the rows."""
        columns = {"item": items, "score": scores, COUNT: counts}
        self._fill(columns, Columns(item="item", score="score"), COUNT, Source(), once)

    @classmethod
    def from_frame(
        cls,
        frame: IntoDataFrame | IntoLazyFrame,
        *,
        item: str = "",
        score: str = "",
        order: str = "",
        count: str = COUNT,
        once: Once = "declared",
    ) -> Counts:
        """Take counts from a dataframe of any kind that narwhals knows.

        Args:
            frame: One row for each item and score.
            item: Column of the item, by default found by its name.
            score: Column of the score, likewise.
            order: Column of the day of assignment, for a comparison that is watched.
            count: Column of how many there are.
            once: As for Counts.

        Examples:
            >>> frame = pl.DataFrame({"paper": [1, 2], "mark": [5, 4], "count": [8, 9]})
            >>> Counts.from_frame(frame)
            Counts(17 scores of 2 items)
        """
        table = frame_columns(frame)
        declared = Columns(item=item, score=score, order=order)
        names = count_columns(table, declared, Source(), count)
        used = (names.item, names.score, count, names.order)
        columns = {name: column_values(table[name]) for name in used if name}
        return cls.from_columns(columns, names, Source(), count=count, once=once)

    @classmethod
    def from_columns(
        cls,
        columns: Mapping[str, object],
        names: Columns,
        source: Source,
        *,
        count: str = COUNT,
        once: Once = "declared",
        read_as: str = "",
    ) -> Counts:
        """Take counts from named columns.

        Args:
            columns: Values of each column.
            names: Which column holds the item and which the score.
            source: Where they came from, for messages.
            count: Column of how many there are.
            once: As for Counts.
            read_as: What a file was taken for.

        Examples:
            >>> columns = {"item": ["x"], "score": [3], "count": [2]}
            >>> names = Columns(item="item", score="score")
            >>> Counts.from_columns(columns, names, Source()).n_ratings
            2
        """
        counts = cls.__new__(cls)
        counts._fill(columns, names, count, source, once)  # noqa: SLF001 - our own
        counts.read_as = read_as
        return counts

    def _fill(
        self,
        columns: Mapping[str, object],
        names: Columns,
        count: str,
        source: Source,
        once: Once,
    ) -> None:
        if once not in STANDINGS:
            raise OptionError(
                f"once must be 'checked', 'declared' or 'per item', got {quote(once)}."
            )
        self.once, self.read_as = once, ""
        items = label_series(columns[names.item], names.item, source)
        scores, missing = number_series(columns[names.score], names.score, source)
        numbers = _whole_numbers(columns[count], count, source)
        sizes = {names.item: len(items), names.score: len(scores), count: len(numbers)}
        if len(set(sizes.values())) > 1:
            lengths = ", ".join(f"{size} of {name}" for name, size in sizes.items())
            raise source.whole(f"Columns must be of one length, got {lengths}.")
        labels, codes = code_labels(items)
        rows = pl.DataFrame({"item": codes, "score": scores, "count": numbers})
        if names.order:
            times = time_series(columns[names.order], names.order, source)
            days = as_series(columns[names.order]).cast(pl.String)  # type: ignore[arg-type]  # a column
            rows = rows.with_columns(time=times, day=days)
        scored = rows.filter(~pl.Series(missing) & (pl.col("count") > 0))
        rated = set(scored["item"].to_list())
        self.unrated_labels = tuple(
            label for code, label in enumerate(labels) if code not in rated
        )
        self.item_labels = tuple(
            label for code, label in enumerate(labels) if code in rated
        )
        place = np.cumsum(np.isin(np.arange(len(labels)), [*rated])) - 1
        added = scored.group_by("item", "score").agg(pl.col("count").sum())
        added = added.sort("item", "score")
        self.by_time: pl.DataFrame | None = None
        if names.order:
            cells = scored.group_by("time", "day", "item", "score").agg(
                pl.col("count").sum()
            )
            cells = cells.with_columns(item=pl.Series(place[cells["item"].to_numpy()]))
            self.by_time = cells.sort("time", "item", "score")
        self.item_codes = frozen(place[added["item"].to_numpy()])
        self.scores = frozen(added["score"].to_numpy())
        self.counts = frozen(added["count"].to_numpy())
        n_missing = np.bincount(codes[missing], numbers[missing], len(labels)).tolist()
        self.missing = {
            label: int(size)
            for label, size in zip(labels, n_missing, strict=True)
            if size
        }
        notices = missing_notices(sum(self.missing.values()), self.unrated_labels)
        self.notices = (*notices, self._once_notice())

    def _once_notice(self) -> DataWarning:
        return DataWarning("from_counts", {"case": self.once.replace(" ", "_")})

    @property
    def n_items(self) -> int:
        """Number of items with a score."""
        return len(self.item_labels)

    @property
    def n_ratings(self) -> int:
        """Number of scores."""
        return int(self.counts.sum())

    @property
    def sha256(self) -> str:
        """Hash of the counts, the same for any source and order of rows."""
        head = {"schema": "evenhand.counts/1", "items": self.item_labels}
        hashed = hashlib.sha256(json.dumps(head, ensure_ascii=True).encode())
        for part, kind in (
            (self.item_codes, "<i8"),
            (self.scores, "<f8"),
            (self.counts, "<i8"),
        ):
            hashed.update(part.astype(kind, copy=False).tobytes())
        return hashed.hexdigest()

    def summary(self) -> dict[str, Json]:
        """Return the sizes and the hash, the `data` field of a result.

        Examples:
            >>> Counts(["x"], [1], [5]).summary()["ratings"]
            5
        """
        return {
            # Nobody gave two, so that there are as many reviewers as scores.
            "reviewers": None if self.once == "per item" else self.n_ratings,
            "items": self.n_items,
            "ratings": self.n_ratings,
            "sha256": self.sha256,
        }

    def item_code(self, label: Label) -> int:
        """Return the code of an item.

        Raises:
            RatingsError: If there is no such item.

        Examples:
            >>> Counts(["x", "y"], [1, 2], [5, 5]).item_code("y")
            1
        """
        # On a command line every label is text, so "7" also finds the item 7.
        for code, candidate in enumerate(self.item_labels):
            if candidate == label or str(candidate) == str(label):
                return code
        raise RatingsError(unknown("item", label, self.item_labels))

    def scores_of(self, code: int) -> tuple[Scores, Codes]:
        """Return the different scores of an item, and how many there are of each.

        Examples:
            >>> Counts(["x", "x"], [4, 2], [5, 6]).scores_of(0)
            (array([2., 4.]), array([6, 5]))
        """
        rows = self.item_codes == code
        return self.scores[rows], self.counts[rows]

    def to_frame(self) -> pl.DataFrame:
        """Return the counts as a polars dataframe; missing scores are null.

        Counts by day have a column of it, and no rows for missing scores.

        Examples:
            >>> Counts(["x", "x"], [1, None], [5, 2]).to_frame().rows()
            [('x', 1.0, 5), ('x', None, 2)]
        """
        if self.by_time is not None:
            names = pl.Series([*map(str, self.item_labels)])
            whole = self.by_time.with_columns(item=names.gather(self.by_time["item"]))
            return whole.select("item", "score", "day", COUNT)
        labels = [self.item_labels[code] for code in self.item_codes.tolist()]
        labels += self.missing
        small = all(isinstance(label, int) and abs(label) < 2**63 for label in labels)
        items = labels if small else [str(label) for label in labels]
        kind = pl.Int64 if small else pl.String
        return pl.DataFrame(
            {
                "item": pl.Series(items, dtype=kind),
                "score": [*self.scores.tolist(), *[None] * len(self.missing)],
                COUNT: [*self.counts.tolist(), *self.missing.values()],
            }
        )

    def __repr__(self) -> str:
        scores, items = plural(self.n_ratings, "score"), plural(self.n_items, "item")
        return f"Counts({scores} of {items})"


def count_columns(
    names: Iterable[str], declared: Columns, source: Source, count: str = COUNT
) -> Columns:
    """Choose the columns of a table of counts.

    Raises:
        RatingsError: If one is missing or ambiguous.

    Examples:
        >>> count_columns(["paper", "mark", "count"], Columns(), Source()).score
        'mark'
    """
    listed = list(names)
    for name in (declared.item, declared.score, declared.order, count):
        if name and name not in listed:
            raise source.unknown("column", name, listed)
    chosen: dict[str, str] = {}
    for part in ("item", "score"):
        free = [name for name in listed if name not in (count, declared.order)]
        several = candidates(part, free, declared)
        if len(several) != 1:
            what = "Several columns may be" if several else "No column for"
            raise source.whole(
                f"{what} the {part} among {listing(several or listed)}. Say which with "
                f"{part}= or --{part}."
            )
        chosen[part] = several[0]
    return Columns(**chosen, order=declared.order)


def counts_or_ratings(
    data: object,
    call: Callable[..., object] | None = None,
    **reading: Unpack[WatchOptions],
) -> Counts | Ratings:
    """Take a file or a dataframe that compare was given, of ratings or of counts.

    Args:
        data: The file or dataframe. Each row is a reviewer's if none names them.
        call: The function that was given it.
        reading: How to read it, as for `as_ratings`.

    Examples:
        >>> frame = pl.DataFrame({"item": ["x"], "score": [3], "count": [2]})
        >>> counts_or_ratings(frame, item=None)
        Counts(2 scores of 1 item)
    """
    declared = declared_options(reading, call)
    if is_readable(data):
        data_read: Counts | Ratings = readers.read_data(data, counts=True, **declared)  # type: ignore[arg-type]  # a path
        return data_read
    if not is_frame(data):
        return as_ratings(data, call, **declared)  # type: ignore[arg-type]  # or it is refused
    names = nw.from_native(data).collect_schema().names()  # type: ignore[call-overload]  # a frame
    plain = {
        part: name
        for part, name in declared.items()
        if part in ("item", "score", "order") and isinstance(name, str)
    }
    if plain == declared and are_counts(map(str, names), given_columns(**plain)):
        return Counts.from_frame(data, **plain)  # type: ignore[arg-type]  # a frame
    return number_rows(data, **declared) or as_ratings(data, call, **declared)  # type: ignore[arg-type]  # a frame


def one_by_one(data: Ratings | Counts) -> Ratings:
    """Return ratings as they are; of counts, every score by a reviewer of its own.

    Raises:
        RatingsError: If there are too many scores to list.

    Examples:
        >>> one_by_one(Counts(["x", "y"], [4, 2], [5, 6]))
        Ratings(11 scores by 11 reviewers of 2 items)
    """
    if isinstance(data, Ratings):
        return data
    if data.n_ratings > MOST_LISTED:
        raise RatingsError(
            f"a report, a chart or a table must have at most {MOST_LISTED:,} scores "
            f"from counts, got {data.n_ratings:,}. Use --json, or leave it out."
        )
    rows = np.repeat(np.arange(len(data.counts)), data.counts)
    items = [data.item_labels[code] for code in data.item_codes[rows].tolist()]
    ratings = Ratings(range(1, len(rows) + 1), items, data.scores[rows])
    ratings.read_as = data.read_as
    return ratings


def _whole_numbers(values: object, what: str, source: Source) -> Codes:
    numbers, missing = number_series(values, what, source)
    bad = missing | (numbers < 0) | (numbers >= MOST) | (numbers != np.floor(numbers))
    rows = np.flatnonzero(bad).tolist()
    if rows:
        rule = f"{what} must be a whole number of at least 0 and below 2**53"
        texts = ["nothing" if missing[row] else f"{numbers[row]:.17g}" for row in rows]
        problems = zip(rows, texts, strict=True)
        raise source.each((row, f"{rule}, got {text}", "") for row, text in problems)
    if numbers.sum() >= MOST:
        raise source.whole(f"{what} must add up to less than 2**53.")
    return numbers.astype(np.int64)


def missing_notices(n_rows: int, lost: Labels) -> list[DataWarning]:
    """Say how many rows have no score, and which items have none at all.

    Examples:
        >>> [notice.code for notice in missing_notices(2, ("x",))]
        ['missing_scores', 'unrated_items']
    """
    notices = []
    if n_rows:
        facts: dict[str, Json] = {"rows": n_rows, "examples": few(())}
        notices.append(DataWarning("missing_scores", facts))
    if lost:
        facts = {"noun": "score", "items": few(lost)}
        notices.append(DataWarning("unrated_items", facts))
    return notices
