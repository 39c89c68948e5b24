"""Ratings: who gave what to which item, validated, coded and free of row order."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl

from evenhand._columns import Columns, Kind, find_columns
from evenhand._labels import (
    LONG,
    Labels,
    Source,
    code_labels,
    coded,
    column_values,
    label_series,
    listed,
    require_text,
    settled,
    shown,
)
from evenhand._parts import (
    Codes,
    Parts,
    Scores,
    alike_notices,
    comparison_parts,
    count_tied,
    group_rows,
    missing_notices,
    one_type,
    rating_parts,
    sorted_rows,
    sorted_values,
    unrated,
)
from evenhand.errors import RatingsError, counted, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from narwhals.typing import IntoDataFrame, IntoLazyFrame
    from numpy.typing import NDArray

    from evenhand._results import Json, Label, Notice


class Ratings:
    """Ratings of items by reviewers.

    Rows are held in sorted order of reviewer and item labels, so the order in which
    they came never matters. A label column in which every value is a canonical decimal
    integer holds integers; any other holds text.

    Args:
        reviewers: Reviewer label of each rating.
        items: Item label of each rating.
        scores: Score of each rating, finite.
        pairs: Label of the pair that the rating's reviewer belongs to, for two items
            given to matched pairs of reviewers.
        all_items: Every item there is, if some have no rating.

    Attributes:
        kind: "scores", "ranks" or "comparisons".
        reviewer_labels: Distinct reviewers, sorted; codes that stand for names are in
            the order of the names.
        item_labels: Distinct items, sorted.
        reviewer_codes: Index into reviewer_labels of each rating.
        item_codes: Index into item_labels of each rating.
        preference: A number for each rating that is higher for a better-liked item of
            the same reviewer. Only its order within one reviewer has a meaning.
        pair_codes: Pair of each rating, or None.
        unrated_labels: Items that were named, but without any score; left out.
        notices: What was left out while reading, and why.
        titles: What people call an item, for those that have more than a label.
        read_as: What a file was taken for, and why; empty for data in memory, and where
            columns are called what they are.
        public: The same ratings as outputs list them, in the order of the labels.

    Raises:
        RatingsError: If a label is missing, a score is not finite, lengths differ, or
            a reviewer rated an item twice.

    Examples:
        >>> ratings = Ratings(["Bo", "Anna", "Bo"], [10, 10, 9], [3, 8.5, 1])
        >>> ratings
        Ratings(3 scores by 2 reviewers of 2 items)
        >>> ratings.item_labels, ratings.scores.tolist()
        ((9, 10), [8.5, 1.0, 3.0])
    """

    __slots__ = (
        "_by_item",
        "_codes",
        "_digest",
        "_public",
        "_tied",
        "item_codes",
        "item_labels",
        "kind",
        "notices",
        "pair_codes",
        "pair_labels",
        "preference",
        "read_as",
        "reviewer_codes",
        "reviewer_labels",
        "titles",
        "unrated_labels",
    )

    kind: Kind
    reviewer_labels: Labels
    item_labels: Labels
    pair_labels: Labels
    unrated_labels: Labels
    reviewer_codes: Codes
    item_codes: Codes
    preference: Scores
    pair_codes: Codes | None
    notices: tuple[Notice, ...]
    titles: Mapping[Label, str]
    read_as: str
    _by_item: Future[tuple[Codes, Codes]] | tuple[Codes, Codes] | None
    _codes: dict[Label, int] | None
    _digest: Future[str] | str | None
    _public: Ratings | None
    _tied: int | None

    def __init__(
        self,
        reviewers: Sequence[Label] | NDArray[np.generic],
        items: Sequence[Label] | NDArray[np.generic],
        scores: Sequence[float] | NDArray[np.generic],
        *,
        pairs: Sequence[Label] | NDArray[np.generic] | None = None,
        all_items: Sequence[Label] | None = None,
    ) -> None:
        """Validate and sort the ratings."""
        columns: dict[str, object] = {
            "reviewer": reviewers,
            "item": items,
            "score": scores,
        }
        if pairs is not None:
            columns["pair"] = pairs
        names = Columns(
            reviewer="reviewer",
            item="item",
            score="score",
            pair="" if pairs is None else "pair",
        )
        self._fill(columns, names, Source(), all_items, missing_allowed=False)

    @classmethod
    def from_frame(
        cls,
        frame: IntoDataFrame | IntoLazyFrame,
        *,
        reviewer: str = "",
        item: str = "",
        score: str = "",
        rank: str = "",
        winner: str = "",
        loser: str = "",
        pair: str = "",
        all_items: Sequence[Label] | None = None,
    ) -> Ratings:
        """Take ratings from a dataframe of any kind that narwhals knows.

        Columns are found by name ("reviewer", "item", "score") or by a well-known other
        name ("judge", "paper", "mark"); options override that. Rows without a score are
        left out and named in `notices`.

        Args:
            frame: pandas, polars, PyArrow, DuckDB, ... dataframe, one row per rating.
            reviewer: Column of the reviewer.
            item: Column of the item.
            score: Column of the score, higher is better.
            rank: Column of the rank, 1 is best; used when there is no score.
            winner: Column of the better item, for plain comparisons.
            loser: Column of the worse item.
            pair: Column of the pair of reviewers.
            all_items: Every item there is, if some have no rating.

        Returns:
            The ratings.

        Raises:
            RatingsError: If a column is missing or ambiguous or a value is bad.

        Examples:
            >>> import polars
            >>> frame = polars.DataFrame({"judge": ["a", "b"], "entry": [1, 1],
            ...                           "mark": [7, None]})
            >>> ratings = Ratings.from_frame(frame)
            >>> ratings
            Ratings(1 score by 1 reviewer of 1 item)
            >>> ratings.notices[0].code
            'missing_scores'
        """
        names = (reviewer, item, score, rank, winner, loser, pair)
        require_text(
            "the name of a column", **dict(zip(Columns.__slots__, names, strict=True))
        )
        table = eager_frame(frame)
        known = {str(name): name for name in table.columns}
        if len(known) < len(table.columns):
            raise RatingsError("Column names must differ as text. Rename one.")
        given = Columns(*names)
        found = find_columns(list(known), given, Source())
        # Columns that are not used may be of types that nothing can read.
        columns: dict[str, object] = {
            name: column_values(table.get_column(known[name]))
            for name in astuple(found)
            if name
        }
        return cls.from_columns(columns, found, Source(), all_items=all_items)

    @classmethod
    def from_columns(
        cls,
        columns: dict[str, object],
        given: Columns,
        source: Source,
        *,
        all_items: Sequence[Label] | None = None,
        titles: Mapping[str, str] | None = None,
        notices: Sequence[Notice] = (),
        read_as: str = "",
    ) -> Ratings:
        """Take ratings from named columns; the way in for every file reader.

        Args:
            columns: Values of each column.
            given: Which column holds what; the others are found by name.
            source: Where the columns came from, for messages.
            all_items: Every item there is, if some have no rating.
            titles: What people call an item, by its label as text.
            notices: What was left out before, and why.
            read_as: What the file was taken for.

        Returns:
            The ratings.

        Raises:
            RatingsError: If a column is missing or ambiguous or a value is bad.

        Examples:
            >>> columns = {"winner": ["x", "y"], "loser": ["y", "z"]}
            >>> Ratings.from_columns(columns, Columns(), Source())
            Ratings(2 comparisons of 3 items)
        """
        names = find_columns(list(columns), given, source)
        ratings = cls.__new__(cls)
        ratings._fill(columns, names, source, all_items, missing_allowed=True)  # noqa: SLF001 - our own
        ratings.notices = (*notices, *ratings.notices)
        named = titles or {}
        ratings.titles = {
            item: named[str(item)]
            for item in (ratings.item_labels if named else ())
            if named.get(str(item), str(item)) != str(item)
        }
        ratings.read_as = read_as
        return ratings

    @classmethod
    def from_ranks(
        cls,
        reviewers: Sequence[Label],
        items: Sequence[Label],
        ranks: Sequence[float],
        *,
        all_items: Sequence[Label] | None = None,
    ) -> Ratings:
        """Take each reviewer's ranking, 1 for the best; equal ranks are ties.

        Examples:
            >>> Ratings.from_ranks(["a", "a"], ["x", "y"], [1, 2])
            Ratings(2 ranks by 1 reviewer of 2 items)
        """
        columns: dict[str, object] = {
            "reviewer": reviewers,
            "item": items,
            "rank": ranks,
        }
        return cls.from_columns(columns, Columns(), Source(), all_items=all_items)

    @classmethod
    def from_comparisons(
        cls,
        winners: Sequence[Label],
        losers: Sequence[Label],
        *,
        reviewers: Sequence[Label] | None = None,
        all_items: Sequence[Label] | None = None,
    ) -> Ratings:
        """Take plain comparisons: each winner was put above its loser.

        Every comparison counts as a reviewer of its own, because one person's several
        comparisons may contradict each other; "anna#1", "anna#2" keep the person.

        Examples:
            >>> ratings = Ratings.from_comparisons(["x"], ["y"], reviewers=["anna"])
            >>> ratings.reviewer_labels
            ('anna#1',)
        """
        columns: dict[str, object] = {"winner": winners, "loser": losers}
        if reviewers is not None:
            columns["reviewer"] = reviewers
        return cls.from_columns(columns, Columns(), Source(), all_items=all_items)

    def under_codes(
        self, coded: Ratings, people: Mapping[str, str], pairs: Mapping[str, str]
    ) -> Ratings:
        """Show other labels, and keep the order in which these draw and decide.

        Args:
            coded: The same ratings under the other labels; for outputs.
            people: The other label of each reviewer.
            pairs: The other label of each pair.

        Examples:
            >>> named = Ratings(["Anna", "Bo"], ["x", "x"], [1, 2])
            >>> coded = Ratings(["R2", "R1"], ["x", "x"], [1, 2])
            >>> found = named.under_codes(coded, {"Anna": "R2", "Bo": "R1"}, {})
            >>> found.reviewer_labels, found.public.reviewer_labels
            (('R2', 'R1'), ('R1', 'R2'))
        """
        ratings = copy.copy(self)
        names = [str(label) for label in self.reviewer_labels]
        if self.kind == "comparisons":
            # Each is a reviewer of its own: "anna#1", "anna#2".
            parts = [name.rpartition("#") for name in names]
            others = [f"{people[name]}#{number}" for name, _, number in parts]
        else:
            others = [people[name] for name in names]
        ratings.reviewer_labels = tuple(others)
        ratings.pair_labels = tuple(pairs[str(label)] for label in self.pair_labels)
        ratings.notices = coded.notices
        ratings._public = coded  # noqa: SLF001 - our own
        return ratings

    @property
    def public(self) -> Ratings:
        """The same ratings as outputs list them, in the order of the labels."""
        return self if self._public is None else self._public

    @property
    def n_reviewers(self) -> int:
        """Number of reviewers."""
        return len(self.reviewer_labels)

    @property
    def n_items(self) -> int:
        """Number of items, rated or not."""
        return len(self.item_labels)

    @property
    def n_ratings(self) -> int:
        """Number of ratings."""
        return len(self.preference)

    @property
    def scores(self) -> Scores:
        """Scores, in the order of reviewer_codes and item_codes.

        Raises:
            RatingsError: If there are only ranks or comparisons.
        """
        if self.kind != "scores":
            raise RatingsError(
                f"This method needs scores, but the data holds only {self.kind}, and a "
                "rank is never used as a score. Choose 'adaptive', 'bradley-terry' or "
                "another method that looks at orders only."
            )
        return self.preference

    @property
    def sha256(self) -> str:
        """Hash of the set of ratings, the same for any source and row order."""
        if self._public is not None:
            return self._public.sha256
        found = self._digest
        if found is None:
            found = self._digest = _digest(self)
        if isinstance(found, Future):
            found = self._digest = found.result()
        return found

    def hash_ahead(self) -> None:
        """Begin to work out the hash of many ratings beside what comes next.

        Examples:
            >>> Ratings(["a"], ["x"], [1]).hash_ahead()
        """
        if self._public is not None:
            self._public.hash_ahead()
        elif self._digest is None and self.n_ratings >= LONG:
            thread = ThreadPoolExecutor(1)
            self._digest = thread.submit(_digest, self)
            thread.shutdown(wait=False)

    @property
    def tied_reviewers(self) -> int:
        """Number of reviewers who gave equal scores, or ranks, to several items."""
        if self._tied is None:
            self._tied = count_tied(self.reviewer_codes, self.preference)
        return self._tied

    def summary(self) -> dict[str, Json]:
        """Return the sizes and the hash, the `data` field of every result.

        Examples:
            >>> Ratings(["a"], ["x"], [1]).summary()["ratings"]
            1
        """
        return {
            "reviewers": self.n_reviewers,
            "items": self.n_items,
            "ratings": self.n_ratings,
            "sha256": self.sha256,
        }

    def item_code(self, label: Label) -> int:
        """Return the code of an item.

        Raises:
            RatingsError: If there is no such item.

        Examples:
            >>> Ratings(["a", "a"], ["x", "y"], [1, 2]).item_code("y")
            1
        """
        if self._codes is None:
            codes: dict[Label, int] = {}
            for code, known in enumerate(self.item_labels):
                # On a command line every label is text, so "7" also finds the item 7.
                codes.setdefault(known, code)
                codes.setdefault(str(known), code)
            # Whole at once, for other threads.
            self._codes = codes
        keys: list[Label] = [str(label)]
        with contextlib.suppress(TypeError):
            hash(label)
            keys.append(label)
        found = [self._codes[key] for key in keys if key in self._codes]
        if not found:
            raise RatingsError(unknown("item", label, self.item_labels))
        return min(found)

    def by_item(self) -> tuple[Codes, Codes]:
        """Group the ratings by item.

        Returns:
            `start` of length n_items + 1, and `rows`: the ratings of item i are
            rows[start[i]:start[i + 1]], by reviewer.

        Examples:
            >>> start, rows = Ratings(["a", "a", "b"], [1, 2, 1], [5, 4, 3]).by_item()
            >>> start.tolist(), rows.tolist()
            ([0, 2, 3], [0, 2, 1])
        """
        found = self._by_item
        # Another thread may settle it at the same time.
        if found is None:
            found = self._by_item = _grouped(self)
        if isinstance(found, Future):
            found = self._by_item = found.result()
        return found

    def group_ahead(self) -> None:
        """Begin to group many ratings by item beside what comes next.

        Examples:
            >>> Ratings(["a"], ["x"], [1]).group_ahead()
        """
        if self._by_item is None and self.n_ratings >= LONG:
            thread = ThreadPoolExecutor(1)
            self._by_item = thread.submit(_grouped, self)
            thread.shutdown(wait=False)

    def rows(self) -> list[dict[str, Json]]:
        """Return the ratings as plain rows, sorted by reviewer and item.

        Examples:
            >>> Ratings(["a"], ["x"], [1]).rows()
            [{'reviewer': 'a', 'item': 'x', 'score': 1.0}]
        """
        if self._public is not None:
            return self._public.rows()
        name = "score" if self.kind == "scores" else "preference"
        return [
            {
                "reviewer": self.reviewer_labels[reviewer],
                "item": self.item_labels[item],
                name: value,
            }
            for reviewer, item, value in zip(
                self.reviewer_codes.tolist(),
                self.item_codes.tolist(),
                self.preference.tolist(),
                strict=True,
            )
        ]

    def to_frame(self) -> pl.DataFrame:
        """Return the ratings as a polars dataframe.

        Examples:
            >>> Ratings(["a"], ["x"], [1]).to_frame().columns
            ['reviewer', 'item', 'score']
        """
        if self._public is not None:
            return self._public.to_frame()
        value = "score" if self.kind == "scores" else "preference"
        return pl.DataFrame(
            [
                _label_column("reviewer", self.reviewer_labels, self.reviewer_codes),
                _label_column("item", self.item_labels, self.item_codes),
                pl.Series(value, self.preference),
            ]
        )

    def __getstate__(self) -> object:
        """Return what is copied: all but what is still being worked out."""
        state: Any = super().__getstate__()
        # Of a class with slots there are two parts.
        named, held = state
        waiting = {name for name, value in held.items() if isinstance(value, Future)}
        return named, {**held, **dict.fromkeys(waiting)}

    def __repr__(self) -> str:
        items = counted(self.n_items, "item")
        if self.kind == "comparisons":
            return f"Ratings({counted(self.n_reviewers, 'comparison')} of {items})"
        ratings = counted(self.n_ratings, self.kind[:-1])
        return (
            f"Ratings({ratings} by {counted(self.n_reviewers, 'reviewer')} of {items})"
        )

    def _fill(
        self,
        columns: dict[str, object],
        names: Columns,
        source: Source,
        all_items: Sequence[Label] | None,
        *,
        missing_allowed: bool,
    ) -> None:
        self.unrated_labels = ()
        self.titles = {}
        self.read_as = ""
        extra = None
        if all_items is not None:
            extra = label_series(all_items, "item", Source())
        notices: list[Notice] = []
        if names.kind == "comparisons":
            parts = comparison_parts(columns, names, source)
        else:
            parts = rating_parts(columns, names, source)
        kept = None
        if parts.missing.any():
            if not missing_allowed:
                row = int(np.flatnonzero(parts.missing)[0])
                raise source.at(row, f"{names.score} must be a number, got None")
            notices = missing_notices(parts, names.kind[:-1], extra)
            self.unrated_labels = unrated(parts, extra)
            kept = np.flatnonzero(~parts.missing)
            parts = parts.at(kept)
        if len(parts.preference) == 0:
            raise source.whole(
                "There is no rating. Give at least one row with a score."
            )
        self.kind = names.kind
        self._by_item = None
        self._codes = None
        self._digest = None
        self._public = None
        self._tied = None
        order, alikes = self._code(parts, extra)
        self.notices = (*notices, *alikes)
        if order is not None:
            self._check_duplicates(order if kept is None else kept[order], source)

    def _code(
        self, parts: Parts, extra: pl.Series | None
    ) -> tuple[Codes | None, list[Notice]]:
        """Code the labels and sort the rows.

        Returns:
            The order of the rows, None if nobody needs it; and which labels are alike.
        """
        n_rows = len(parts.preference)
        known = parts.items
        if extra is not None:
            known = coded(one_type(parts.items.series(), extra))
        items, item_codes = settled(known)
        reviewers, reviewer_codes = settled(parts.reviewers)
        item_codes = item_codes[:n_rows]
        with ThreadPoolExecutor(1) as thread:
            # To list many labels takes Python as long as to sort takes the kernels.
            sorting = (
                thread.submit(
                    sorted_values,
                    reviewer_codes,
                    item_codes,
                    parts.preference,
                    len(reviewers),
                )
                if parts.pairs is None and n_rows >= LONG
                else None
            )
            self.reviewer_labels, self.item_labels = listed(reviewers), listed(items)
            alikes = alike_notices("reviewer", self.reviewer_labels)
            alikes += alike_notices("item", self.item_labels)
            found = None if sorting is None else sorting.result()
        order = None
        if found is None:
            ones, others, order = sorted_rows(
                reviewer_codes, item_codes, len(reviewers)
            )
            found = ones, others
            parts = parts._replace(preference=parts.preference[order])
        self.reviewer_codes, self.item_codes = _frozen(found[0]), _frozen(found[1])
        self.preference = _frozen_scores(parts.preference)
        self.pair_codes = None
        self.pair_labels = ()
        if parts.pairs is not None and order is not None:
            self.pair_labels, pair_codes = code_labels(parts.pairs)
            self.pair_codes = _frozen(pair_codes[order].astype(np.int64))
        return order, alikes

    def _check_duplicates(self, rows: Codes, source: Source) -> None:
        reviewers, items = self.reviewer_codes, self.item_codes
        same = (reviewers[1:] == reviewers[:-1]) & (items[1:] == items[:-1])
        if not same.any():
            return
        position = int(np.flatnonzero(same)[0])
        first, second = sorted(rows[position : position + 2].tolist())
        reviewer = self.reviewer_labels[self.reviewer_codes[position]]
        item = self.item_labels[self.item_codes[position]]
        raise source.at(
            second,
            f"reviewer {shown(reviewer)} must rate item {shown(item)} once, "
            f"got a second rating after {source.place(first)}",
        )


def require_ratings(ratings: object) -> None:
    """Refuse anything but a Ratings.

    Examples:
        >>> require_ratings([1, 2])
        Traceback (most recent call last):
        ...
        evenhand.errors.RatingsError: ratings must be a Ratings, got list. Make one of a
        dataframe with Ratings.from_frame, or of a file with read_ratings.
    """
    if not isinstance(ratings, Ratings):
        raise RatingsError(
            f"ratings must be a Ratings, got {type(ratings).__name__}. Make one of a "
            "dataframe with Ratings.from_frame, or of a file with read_ratings."
        )


def eager_frame(frame: IntoDataFrame | IntoLazyFrame) -> nw.DataFrame[Any]:
    """Take a dataframe of any kind, computed if it was lazy."""
    try:
        table = nw.from_native(frame)
    except TypeError:
        raise RatingsError(
            f"frame must be a dataframe, got {shown(frame)}. Give three sequences to "
            "Ratings, or a file to read_ratings."
        ) from None
    except nw.exceptions.DuplicateError:
        raise RatingsError(
            "Column names must differ, got one twice. Rename one."
        ) from None
    return table.collect() if isinstance(table, nw.LazyFrame) else table


def _label_column(name: str, labels: Labels, codes: Codes) -> pl.Series:
    try:
        distinct = pl.Series(name, labels)
    except (OverflowError, TypeError):
        # No integer type of polars holds them all.
        distinct = pl.Series(name, [str(label) for label in labels])
    return distinct.gather(codes)


def _digest(ratings: Ratings) -> str:
    head = {
        "schema": "evenhand.ratings/1",
        "kind": ratings.kind,
        "reviewers": ratings.reviewer_labels,
        "items": ratings.item_labels,
        "pairs": ratings.pair_labels,
    }
    hashed = hashlib.sha256(json.dumps(head, ensure_ascii=True).encode())
    codes = [ratings.reviewer_codes, ratings.item_codes]
    if ratings.pair_codes is not None:
        codes.append(ratings.pair_codes)
    for column in codes:
        hashed.update(column.astype("<i8", copy=False).data)
    hashed.update(ratings.preference.astype("<f8", copy=False).data)
    return hashed.hexdigest()


def _grouped(ratings: Ratings) -> tuple[Codes, Codes]:
    start, rows = group_rows(ratings.item_codes, ratings.n_items)
    return _frozen(start), _frozen(rows)


def _frozen(codes: Codes) -> Codes:
    codes.flags.writeable = False
    return codes


def _frozen_scores(scores: Scores) -> Scores:
    scores.flags.writeable = False
    return scores
