"""Ratings: who gave what to which item, validated, coded and free of row order."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import inspect
import json
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, Unpack

import numpy as np
import polars as pl

from evenhand.arrays import frozen, sorted_places
from evenhand.claims import DataWarning, Json, few
from evenhand.columns import (
    LISTED,
    NAMED,
    WATCHED,
    Columns,
    Labels,
    Source,
    candidates,
    code_labels,
    column_texts,
    find_columns,
    given_columns,
    label_series,
    level_series,
    number_series,
    ordered_words,
    time_series,
    typed_labels,
)
from evenhand.criteria import (
    CODES,
    TOTAL,
    Criteria,
    number_columns,
    read_weights,
    weigh,
)
from evenhand.errors import (
    OptionError,
    RatingsError,
    listing,
    must_be,
    plural,
    quote,
    require_sequence,
    unknown,
)
from evenhand.labels import alike, alike_notices, blank_notices
from evenhand.lazy import lazy
from evenhand.progress import announce
from evenhand.votes import require_items

if TYPE_CHECKING:
    from collections.abc import Callable

    import narwhals as nw
    from narwhals.typing import IntoDataFrame, IntoLazyFrame
    from numpy.typing import NDArray

    from evenhand.arrays import Codes, Flags, Scores
    from evenhand.claims import Json, Label
    from evenhand.criteria import Scored
    from evenhand.formats import reading as readers
    from evenhand.formats.files import Readable
    from evenhand.models import confidence as confidences
else:
    nw = lazy("narwhals")
    readers = lazy("evenhand.formats.reading")
    confidences = lazy("evenhand.models.confidence")

Names: TypeAlias = "str | Sequence[str]"
Data: TypeAlias = "Readable | Ratings | IntoDataFrame | IntoLazyFrame"
# Between the labels of several columns that name one reviewer or item together.
BETWEEN = " / "
UNRATED_ITEMS = "unrated_items"
TOGETHER = (
    "If several columns name the reviewer together, name them all, as in reviewer= or "
    "--reviewer judge+prompt."
)
WATCHES = ("order", "answered", "probabilities")
BY_ROW = (
    "item_codes",
    "preference",
    "pair_codes",
    "weights",
    "level_codes",
    "cluster_codes",
    *WATCHES,
)
"""What a Ratings holds for each rating, beside the reviewer."""
COUNTS = "It says how much the rating counts."
REPEATS = "Say which count with repeats= or --repeats last, mean or all."
NAMING = {"people": True, "seats": False}
"""What may stand behind the columns of the reviewer: whether a label is one person."""
# Labels that were made for one item are equal now and then. They are recognised among
# so many reviewers and items, if at most this share has several ratings, and so many.
PSEUDONYMS, ITEMS, EQUAL_SHARE, EQUAL_LABELS = 100, 10, 0.02, 3
YES, NO = ("true", "1", "yes", "tie"), ("false", "0", "no", "")
"""What a column says of a comparison that is a tie, and of one that is none."""
# Of fewer clusters none can say how much they differ.
FEWEST_CLUSTERS = 6


class ReadingOptions(TypedDict, total=False):
    """How to read a file or a dataframe: the options of `read_ratings`.

    Every function that takes ratings takes these; None stands for the default.
    """

    format: str | None
    reviewer: Names | None
    item: Names | None
    score: Scored | None
    rank: str | None
    winner: str | None
    loser: str | None
    pair: Names | None
    weight: str | None
    confidence: str | None
    scale: str | None
    decimal: str | None
    exclude: Sequence[Label] | Label | None
    only: Sequence[Label] | Label | None
    rows: str | None
    companion: Readable | IntoDataFrame | None
    sheet: str | None
    encoding: str | None
    delimiter: str | None
    header: bool | None
    repeats: str | None
    missing_criteria: str | None
    lower_is_better: bool | None
    merge: Names | None
    anonymise: str | None
    all_items: Sequence[Label] | None


class WatchOptions(ReadingOptions, total=False):
    """What a comparison that is watched reads besides."""

    order: str | None
    answered: str | None
    probability: str | None


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
        weights: How much each rating counts in models, positive; by default all alike.
        confidence: How confident the reviewer was of each rating, higher for more; how
            much it counts is then estimated.
        all_items: Every item there is, if some have no rating.
        people: Whether a label is one person (True), or somebody else at each item, as
            pseudonyms and seats are (False): then each score counts as a reviewer of
            its own. By default pseudonyms are recognised: nearly all rated one item.

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
        weights: How much each rating counts, in the order of scores, or None.
        level_codes: Level of confidence of each rating, from 0 for the least, or None.
        level_labels: What the levels are called.
        cluster_codes: Of each rating, what its reviewer shares with others, or None.
        order: When each item was assigned, a number that grows with time, or None.
        criteria: Names, weights and scores of the criteria whose total `scores` are, or
            None.
        answered: When each score came in, likewise, or None.
        probabilities: With which the first of two items was to be assigned, or None.
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

    def __init__(
        self,
        reviewers: Sequence[Label] | NDArray[np.generic],
        items: Sequence[Label] | NDArray[np.generic],
        scores: Sequence[float] | NDArray[np.generic],
        *,
        pairs: Sequence[Label] | NDArray[np.generic] | None = None,
        weights: Sequence[float] | NDArray[np.generic] | None = None,
        confidence: Sequence[float] | NDArray[np.generic] | None = None,
        all_items: Sequence[Label] | None = None,
        people: bool | None = None,
    ) -> None:
        """Validate and sort the ratings."""
        if people is not None and not isinstance(people, bool):
            raise must_be("people", "True, False or None", people)
        columns: dict[str, object]
        columns = {"reviewer": reviewers, "item": items, "score": scores}
        more = {"pair": pairs, "weight": weights, "confidence": confidence}
        columns |= {name: values for name, values in more.items() if values is not None}
        names = Columns(**{name: name for name in columns})
        self._fill(columns, names, Source(), all_items, people=people)

    @classmethod
    def from_frame(
        cls,
        frame: IntoDataFrame | IntoLazyFrame,
        *,
        reviewer: Names = "",
        item: Names = "",
        score: Scored = "",
        rank: str = "",
        winner: str = "",
        loser: str = "",
        pair: Names = "",
        weight: str = "",
        missing_criteria: str = "",
        confidence: str = "",
        all_items: Sequence[Label] | None = None,
    ) -> Ratings:
        """Take ratings from a dataframe of any kind that narwhals knows.

        Columns are found by name ("reviewer", "item", "score") or by a well-known other
        name ("judge", "paper", "mark"); options override that. Rows without a score are
        left out and named in `notices`.

        Args:
            frame: pandas, polars, PyArrow, DuckDB, ... dataframe, one row per rating.
            reviewer: Column of the reviewer, or several that name one together; behind
                them "people" or "seats" may say whether a label is one person.
            item: Column of the item, or several.
            score: Column of the score, higher is better; or several criteria in a list,
                or with their weights, {"novelty": 2, "soundness": 1}.
            rank: Column of the rank, 1 is best; used when there is no score.
            winner: Column of the better item, for plain comparisons.
            loser: Column of the worse item.
            pair: Column of the pair of reviewers, or several.
            weight: Column of how much each rating counts.
            confidence: Column of reviewers' confidence, from which that is estimated.
            missing_criteria: What becomes of a rating without a score for a criterion:
                "leave-out", or "rescale" for the mean of those it has.
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
            >>> frame = frame.with_columns(prompt=polars.Series(["p", "q"]))
            >>> Ratings.from_frame(frame, reviewer=["judge", "prompt"]).reviewer_labels
            ('a / p',)
        """
        columns = frame_columns(frame)
        reviewer, people = take_naming(reviewer, columns)
        persons, items, pairs = (
            _join_columns(columns, part, names)
            for part, names in (("reviewer", reviewer), ("item", item), ("pair", pair))
        )
        score, weights = read_weights(score)
        more: Any = {"all_items": all_items, "people": people}
        if weights:
            numbers, score = number_columns(columns, [*weights], Source()), TOTAL
            more["criteria"], columns[TOTAL], more["notices"] = weigh(
                numbers, weights, Source(), missing_criteria
            )
        declared = given_columns(
            persons,
            items,
            *(score, rank, winner, loser, pairs, weight),
            confidence=confidence,
        )
        return cls.from_columns(columns, declared, Source(), **more)

    @classmethod
    def from_columns(
        cls,
        columns: Mapping[str, object],
        declared: Columns,
        source: Source,
        *,
        all_items: Sequence[Label] | None = None,
        people: bool | None = None,
        titles: Mapping[str, str] | None = None,
        notices: Sequence[DataWarning] = (),
        read_as: str = "",
        criteria: Criteria | None = None,
    ) -> Ratings:
        """Take ratings from named columns; the way in for every file reader.

        Args:
            columns: Values of each column.
            declared: Which column holds what; the others are found by name.
            source: Where the columns came from, for messages.
            all_items: Every item there is, if some have no rating.
            people: Whether a label is one person; by default pseudonyms are recognised.
            titles: What people call an item, by its label as text.
            notices: What was left out before, and why.
            read_as: What the file was taken for.
            criteria: What the score is the total of, if it is one.

        Returns:
            The ratings.

        Raises:
            RatingsError: If a column is missing or ambiguous or a value is bad.

        Examples:
            >>> columns = {"winner": ["x", "y"], "loser": ["y", "z"]}
            >>> Ratings.from_columns(columns, Columns(), Source())
            Ratings(2 comparisons of 3 items)
        """
        names = find_columns(list(columns), declared, source)
        ratings = cls.__new__(cls)
        data = columns, names, source, all_items
        ratings._fill(*data, people=people, criteria=criteria)  # noqa: SLF001 - our own
        # A reader may have said already what labels say again.
        ratings.notices = tuple(dict.fromkeys((*notices, *ratings.notices)))
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
        cls, reviewers: Sequence[Label], items: Sequence[Label], ranks: Sequence[float]
    ) -> Ratings:
        """Take each reviewer's ranking, 1 for the best; equal ranks are ties.

        Examples:
            >>> Ratings.from_ranks(["a", "a"], ["x", "y"], [1, 2])
            Ratings(2 ranks by 1 reviewer of 2 items)
        """
        columns = {"reviewer": reviewers, "item": items, "rank": ranks}
        return cls.from_columns(columns, Columns(), Source())

    @classmethod
    def from_comparisons(
        cls,
        winners: Sequence[Label],
        losers: Sequence[Label],
        *,
        ties: Sequence[bool] | None = None,
        reviewers: Sequence[Label] | None = None,
        all_items: Sequence[Label] | None = None,
    ) -> Ratings:
        """Take plain comparisons: each winner was put above its loser, or tied with it.

        Every comparison counts as a reviewer of its own, because one person's several
        comparisons may contradict each other; "anna#1", "anna#2" keep the person.

        Args:
            winners: The better item of each comparison.
            losers: The worse item.
            ties: Whether neither was better, for each comparison; by default none.
            reviewers: Who compared.
            all_items: Every item there is, if some were never compared.

        Examples:
            >>> ratings = Ratings.from_comparisons(["x"], ["y"], reviewers=["anna"])
            >>> ratings.reviewer_labels
            ('anna#1',)
            >>> Ratings.from_comparisons(["x", "y"], ["y", "z"], ties=[False, True])
            Ratings(2 comparisons of 3 items, 1 of them a tie)
        """
        require_sequence("True and False", ties=() if ties is None else ties)
        columns: dict[str, Sequence[Label]] = {"winner": winners, "loser": losers}
        more = {"tie": ties, "reviewer": reviewers}
        columns |= {name: values for name, values in more.items() if values is not None}
        return cls.from_columns(columns, Columns(), Source(), all_items=all_items)

    def in_order_of(self, names: Mapping[str, str]) -> Ratings:
        """Return the same ratings, with reviewers in the order of the names behind.

        Draws and decisions follow the order of reviewers; outputs list `public`, in the
        order of the labels.

        Args:
            names: The name behind each reviewer's label.

        Examples:
            >>> coded = Ratings(["R2", "R1"], ["x", "x"], [1, 2])
            >>> found = coded.in_order_of({"R2": "Anna", "R1": "Bo"})
            >>> found.reviewer_labels, found.public.reviewer_labels
            (('R2', 'R1'), ('R1', 'R2'))
        """
        # Each comparison is a reviewer of its own: "R1#1", "R1#2".
        parts = (str(label).partition("#") for label in self.reviewer_labels)
        behind = [f"{names[code]}{sign}{number}" for code, sign, number in parts]
        _, places = code_labels(pl.Series(behind))
        order = np.lexsort((self.item_codes, places[self.reviewer_codes]))
        labels = [self.reviewer_labels[code] for code in np.argsort(places)]
        ratings = self._take_rows(order, tuple(labels), places[self.reviewer_codes])
        ratings._public = self  # noqa: SLF001 - our own
        return ratings

    def _take_rows(self, rows: Codes, labels: Labels, reviewers: Codes) -> Ratings:
        """Return some rows, with other labels and codes of reviewers."""
        taken = copy.copy(self)
        # Weights by confidence are those of all ratings.
        weights = self.weights
        for name in ("_digest", "tied_reviewers"):
            taken.__dict__.pop(name, None)
        for name in BY_ROW:
            column = weights if name == "weights" else getattr(self, name)
            if column is not None:
                setattr(taken, name, frozen(column[rows]))
        taken.criteria = self.criteria and self.criteria.take(rows)
        taken.reviewer_labels, taken.reviewer_codes = labels, frozen(reviewers[rows])
        taken._public = None  # noqa: SLF001 - our own
        return taken

    def without(self, row: int | Codes) -> Ratings:
        """Return the same ratings but one or some; all items stay.

        Examples:
            >>> ratings = Ratings(["a", "b", "b"], ["x", "x", "y"], [1, 2, 3])
            >>> ratings.without(0)
            Ratings(2 scores by 1 reviewer of 2 items)
        """
        rows = np.delete(np.arange(self.n_ratings), row)
        kept = np.unique(self.reviewer_codes[rows])
        labels = tuple(self.reviewer_labels[code] for code in kept.tolist())
        return self._take_rows(rows, labels, np.searchsorted(kept, self.reviewer_codes))

    def only(self, rows: Flags) -> Ratings:
        """Return some of the ratings, with their reviewers and items and no others.

        Examples:
            >>> ratings = Ratings(["a", "b", "b"], ["x", "x", "y"], [1, 2, 3])
            >>> ratings.only(np.array([True, True, False]))
            Ratings(2 scores by 2 reviewers of 1 item)
        """
        taken = self.without(np.flatnonzero(~rows))
        codes = np.unique(taken.item_codes)
        taken.item_labels = tuple(self.item_labels[code] for code in codes.tolist())
        taken.item_codes = frozen(np.searchsorted(codes, taken.item_codes))
        taken.__dict__.pop("_item_code_of", None)
        return taken

    def with_scores(self, scores: Scores) -> Ratings:
        """Return the same ratings with other scores; codes stand for labels.

        Examples:
            >>> Ratings(["a"], ["x"], [1]).with_scores(np.array([2.0])).scores.tolist()
            [2.0]
        """
        codes, weights = (self.reviewer_codes, self.item_codes), self.weights
        more: Any = {"all_items": range(self.n_items), "people": True}
        return type(self)(*codes, scores, weights=weights, **more)

    def with_weights(self, weights: Scores | None) -> Ratings:
        """Return the same ratings, each of which counts as much as said.

        Examples:
            >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
            >>> ratings.with_weights(np.array([1.0, 2.0])).weights.tolist()
            [1.0, 2.0]
        """
        taken = copy.copy(self)
        taken.__dict__.pop("_digest", None)
        taken.weights, taken._public = weights, None  # noqa: SLF001 - our own
        taken.level_codes, taken.level_labels = None, ()
        return taken

    def with_criteria(self, score: Scored, missing: str = "") -> Ratings:
        """Return the ratings by one of their criteria, or with other weights.

        Args:
            score: A criterion; or several in a list, or with weights.
            missing: What becomes of a rating without one of them, as in `from_frame`.

        Raises:
            OptionError: If there is no such criterion.

        Examples:
            >>> frame = pl.DataFrame({"judge": ["a", "a"], "item": ["x", "y"],
            ...                       "taste": [1, 4], "looks": [3, 2]})
            >>> ratings = Ratings.from_frame(frame, score=["taste", "looks"])
            >>> ratings.scores.tolist(), ratings.with_criteria("looks").scores.tolist()
            ([2.0, 3.0], [3.0, 2.0])
            >>> ratings.with_criteria({"taste": 3, "looks": 1}).scores.tolist()
            [1.5, 3.5]
        """
        if self.criteria is None:
            raise OptionError("score must be left out: the Ratings has no criteria.")
        name, weights = read_weights(score)
        places = {each: self.criteria.column(each) for each in weights or [name]}
        columns = {name: self.criteria.scores[:, at] for name, at in places.items()}
        warnings = tuple[DataWarning, ...]()
        if weights:
            numbers = {name: (col, np.isnan(col)) for name, col in columns.items()}
            criteria, total, warnings = weigh(numbers, weights, Source(), missing)
            scores = total.fill_null(np.nan).to_numpy()
        else:
            criteria, scores = None, columns[name]
        kept = np.isfinite(scores)
        if not kept.any():
            raise RatingsError("There is no rating with a score for all criteria.")
        # Weights by confidence are those of the whole form.
        self.weights  # noqa: B018 - kept by the copy
        taken = copy.copy(self)
        taken.preference, taken.criteria = frozen(scores), criteria
        kept_notices = (each for each in self.notices if each.code not in CODES)
        taken.notices = (*kept_notices, *warnings)
        taken.__dict__.pop("_digest", None)
        # The public order is that of the labels.
        taken = taken.without(np.flatnonzero(~kept))
        if self._public is not None:
            taken._public = self._public.with_criteria(score, missing)  # noqa: SLF001
        return taken

    @cached_property
    def weights(self) -> Scores | None:
        """How much each rating counts: as given, or by its level of confidence."""
        weights = self._level_weights
        return None if weights is None else frozen(weights[self.level_codes])

    @cached_property
    def _level_weights(self) -> Scores | None:
        if self.level_codes is None:
            return None
        return confidences.level_weights(self.with_weights(None), self.level_codes)

    @property
    def confidence(self) -> list[dict[str, Json]]:
        """What levels of confidence are worth, from the least, if there are any.

        `ratings` have a level; its scores vary `spread` times as much as the least
        confident ones, so that each counts `weight` times.
        """
        if self._level_weights is None or self.level_codes is None:
            return []
        counts = np.bincount(self.level_codes, None, len(self.level_labels))
        rows = zip(
            self.level_labels,
            counts.tolist(),
            self._level_weights.tolist(),
            strict=True,
        )
        return [
            {"level": level, "ratings": count, "weight": weight}
            | {"spread": float(f"{weight**-0.5:.3g}")}
            for level, count, weight in rows
        ]

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
        return self.public._digest  # noqa: SLF001 - our own

    @cached_property
    def _digest(self) -> str:
        head: dict[str, object] = {
            "schema": "evenhand.ratings/1",
            "kind": self.kind,
            "reviewers": self.reviewer_labels,
            "items": self.item_labels,
            "pairs": self.pair_labels,
        }
        if self.level_labels:
            head["confidence"] = self.level_labels
        weights = self.weights if self.level_codes is None else None
        numbers = [self.preference, weights]
        if self.criteria is not None:
            head["criteria"] = self.criteria.to_dict()
            numbers.append(self.criteria.scores)
        hashed = hashlib.sha256(json.dumps(head, ensure_ascii=True).encode())
        coded = (self.reviewer_codes, self.item_codes, self.pair_codes)
        for codes in (*coded, self.level_codes):
            if codes is not None:
                hashed.update(codes.astype("<i8", copy=False).data)
        for column in numbers:
            if column is not None:
                floats = np.ascontiguousarray(column, dtype="<f8")
                hashed.update(floats.data)
        return hashed.hexdigest()

    @cached_property
    def tied_reviewers(self) -> int:
        """Number of reviewers who gave equal scores, or ranks, to several items."""
        # Not with polars, which starts slower than a small simulated trial takes.
        order = np.lexsort((self.preference, self.reviewer_codes))
        reviewers, scores = self.reviewer_codes[order], self.preference[order]
        equal = (reviewers[1:] == reviewers[:-1]) & (scores[1:] == scores[:-1])
        return len(np.unique(reviewers[1:][equal]))

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
            **({"confidence": levels} if (levels := self.confidence) else {}),
        }

    def weighing(self, method: str, *, used: bool) -> tuple[DataWarning, ...]:
        """Say whether a method uses weights, if there are any.

        Examples:
            >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2], weights=[1, 2])
            >>> ratings.weighing("safe", used=False)[0].message
            "Method 'safe' does not use weights: every rating counts once."
        """
        if self.weights is None:
            return ()
        if not used:
            return (DataWarning("weights_unused", {"method": method}),)
        if not (levels := self.confidence):
            return (DataWarning("weights_used"),)
        lowest, *_, highest = levels if len(levels) > 1 else levels * 2
        facts = {"lowest": lowest["level"], "highest": highest["level"]}
        facts |= {"spread": highest["spread"], "weight": highest["weight"]}
        case = {"case": "alike"} if highest["weight"] == 1 else {}
        return (DataWarning("confidence", {**case, **facts}),)

    def with_unrated_items(self, labels: Sequence[Label], total: int) -> Ratings:
        """Return the same ratings, which know of items that nobody rated.

        Args:
            labels: Those items.
            total: How many items were to be rated.

        Examples:
            >>> ratings = Ratings(["a"], ["x"], [1]).with_unrated_items(["y"], 2)
            >>> ratings.unrated_labels, ratings.notices[0].message
            (('y',), "1 of 2 items was not judged and is not in the result: 'y'.")
        """
        if not labels:
            return self
        facts: dict[str, Json] = {"case": "not_judged", "unrated": len(labels)}
        facts |= {"total": total, "items": few(labels)}
        others = (notice for notice in self.notices if notice.code != UNRATED_ITEMS)
        taken = copy.copy(self)
        taken.unrated_labels = tuple(labels)
        taken.notices = (DataWarning(UNRATED_ITEMS, facts), *others)
        return taken

    def item_code(self, label: Label) -> int:
        """Return the code of an item.

        Raises:
            RatingsError: If there is no such item.

        Examples:
            >>> Ratings(["a", "a"], ["x", "y"], [1, 2]).item_code("y")
            1
        """
        code = self._item_code_of.get(str(label))
        if code is None:
            raise RatingsError(unknown("item", label, self.item_labels))
        return code

    @cached_property
    def _item_code_of(self) -> dict[str, int]:
        # On a command line every label is text, so "7" also finds the item 7.
        return {str(label): code for code, label in enumerate(self.item_labels)}

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
        counts = np.bincount(self.item_codes, minlength=self.n_items)
        start = frozen(np.append(0, np.cumsum(counts)))
        return start, frozen(sorted_places(self.item_codes))

    def rows(self) -> list[dict[str, Json]]:
        """Return the ratings as plain rows, sorted by reviewer and item.

        Examples:
            >>> Ratings(["a"], ["x"], [1]).rows()
            [{'reviewer': 'a', 'item': 'x', 'score': 1.0}]
        """
        return self.to_frame().to_dicts()

    def to_frame(self) -> pl.DataFrame:
        """Return the ratings as a polars dataframe.

        Examples:
            >>> Ratings(["a"], ["x"], [1]).to_frame().columns
            ['reviewer', 'item', 'score']
        """
        public = self.public
        columns = {
            "reviewer": pl.Series(public.reviewer_labels).gather(public.reviewer_codes),
            "item": pl.Series(public.item_labels).gather(public.item_codes),
            "score" if self.kind == "scores" else "preference": public.preference,
        }
        if public.weights is not None:
            columns["weight"] = public.weights
        if public.level_codes is not None:
            levels = pl.Series(public.level_labels, dtype=pl.String)
            columns["confidence"] = levels.gather(public.level_codes)
        if public.criteria is not None:
            for name, scores in zip(
                public.criteria.names, public.criteria.scores.T, strict=True
            ):
                place = f"{name} (criterion)" if name in columns else name
                columns[place] = pl.Series(scores).fill_nan(None)
        return pl.DataFrame(columns)

    def __repr__(self) -> str:
        items, people = plural(self.n_items, "item"), self.n_reviewers
        if self.criteria is not None:
            items += f" by {len(self.criteria.names)} criteria"
        if self.kind == "comparisons":
            tied = self.tied_reviewers
            ties = f", {tied:,} of them {'a tie' if tied == 1 else 'ties'}" * (tied > 0)
            return f"Ratings({plural(people, 'comparison')} of {items}{ties})"
        by = f"{plural(self.n_ratings, self.kind[:-1])} by"
        return f"Ratings({by} {plural(people, 'reviewer')} of {items})"

    def _fill(
        self,
        columns: Mapping[str, object],
        names: Columns,
        source: Source,
        all_items: Sequence[Label] | None,
        *,
        people: bool | None,
        criteria: Criteria | None = None,
    ) -> None:
        self.titles: Mapping[Label, str] = {}
        self.read_as, self.kind = "", names.kind
        self._public: Ratings | None = None
        extra = None
        if all_items is not None:
            extra = label_series(all_items, "item", Source())
        taken = _compared_rows if names.kind == "comparisons" else _rated_rows
        rows = taken(columns, names, source)
        blanks = (*_order_notices(columns, names), *_blank_notices(columns, names))
        self.unrated_labels: Labels = ()
        notices: list[DataWarning] = []
        if rows["value"].null_count() > 0:
            self.unrated_labels = _unrated_items(rows, extra)
            notices = _missing_notices(rows, names.kind[:-1], self.unrated_labels)
            rows = rows.filter(pl.col("value").is_not_null())
        if rows.height == 0:
            text = "There is no rating. Give at least one row with a score."
            raise source.whole(text)
        self._code(rows, extra, source, criteria)
        similar = alike_notices("reviewer", alike(self.reviewer_labels))
        if people is None and (pseudonyms := self._pseudonym_notices()):
            # Labels of no person are not misspelt.
            similar, people = pseudonyms, False
        self.notices: tuple[DataWarning, ...] = (
            *notices,
            *self._unknown_confidence,
            *blanks,
            *similar,
            *alike_notices("item", alike(self.item_labels)),
        )
        if people is False:
            self._split_reviewers()

    def _code(
        self,
        rows: pl.DataFrame,
        extra: pl.Series | None,
        source: Source,
        criteria: Criteria | None = None,
    ) -> None:
        """Code the labels and sort the rows, of which no two may be of one rating."""
        named = rows["item"] if extra is None else _join_labels(rows["item"], extra)
        self.item_labels, item_codes = code_labels(named)
        self.reviewer_labels, reviewer_codes = code_labels(rows["reviewer"])
        keys = reviewer_codes * self.n_items + item_codes[: rows.height]
        order = np.argsort(keys)
        if (np.diff(keys[order]) == 0).any():
            raise source.each(_repeats(rows, source))
        reviewers, items = np.divmod(keys[order], self.n_items)
        self.reviewer_codes: Codes = frozen(reviewers)
        self.item_codes: Codes = frozen(items)
        self.preference: Scores = frozen(rows["value"].to_numpy()[order])
        self.criteria = criteria and criteria.take(rows["row"].to_numpy()[order])
        self.pair_labels: Labels = ()
        self.pair_codes: Codes | None = None
        if "pair" in rows.columns:
            self.pair_labels, pair_codes = code_labels(rows["pair"])
            self.pair_codes = frozen(pair_codes[order])
        self.level_labels: tuple[str, ...] = ()
        self.level_codes: Codes | None = None
        self._unknown_confidence: tuple[DataWarning, ...] = ()
        if "weight" in rows.columns:
            self.weights = frozen(rows["weight"].to_numpy()[order])
        elif "confidence" in rows.columns:
            self._code_levels(rows["confidence"], order)
        self.cluster_codes: Codes | None = None
        if "cluster" in rows.columns:
            self.cluster_codes = frozen(code_labels(rows["cluster"])[1][order])
        self.order: Scores | None = None
        self.answered: Scores | None = None
        self.probabilities: Scores | None = None
        for name in ("order", "answered"):
            if name in rows.columns:
                setattr(self, name, frozen(rows[name].to_numpy()[order]))
        if "probability" in rows.columns:
            self.probabilities = frozen(rows["probability"].to_numpy()[order])

    def _code_levels(self, levels: pl.Series, order: Codes) -> None:
        """Code levels of confidence; of a rating without one, as of the middle one."""
        answers = levels.drop_nulls().sort()
        labels, middle = answers.unique().sort().to_list(), answers[len(answers) // 2]
        unknown = levels.null_count()
        codes = levels.fill_null(middle).cast(pl.String).cast(pl.Enum(labels))
        self.level_labels = tuple(labels)
        self.level_codes = frozen(
            codes.to_physical().to_numpy().astype(np.int64)[order]
        )
        if unknown:
            facts: dict[str, Json] = {"rows": unknown, "level": middle}
            self._unknown_confidence = (DataWarning("missing_confidence", facts),)

    def _pseudonym_notices(self) -> tuple[DataWarning, ...]:
        """Say that reviewers look like pseudonyms for one item, if they do.

        They rated one item each, but for a few labels that are equal by chance.
        """
        loads = np.bincount(self.reviewer_codes)
        several = int((loads > 1).sum())
        many = self.n_reviewers >= PSEUDONYMS and self.n_items >= ITEMS
        if self.kind != "scores" or not many or loads.max() > EQUAL_LABELS:
            return ()
        if not 0 < several <= EQUAL_SHARE * self.n_reviewers:
            return ()
        facts: dict[str, Json] = {"case": "one_item", "several": several}
        return (DataWarning("pseudonyms", {**facts, "reviewers": self.n_reviewers}),)

    def _split_reviewers(self) -> None:
        """Make each score that of a reviewer of its own: "anna#1", "anna#2"."""
        if self.kind != "scores":
            rule = f"left out for {self.kind}: one alone orders nothing"
            raise must_be("reviewer", rule, "seats")
        codes = self.reviewer_codes
        texts = pl.Series(self.reviewer_labels).cast(pl.String).gather(codes)
        mark = "#"
        while texts.str.contains(mark, literal=True).any():
            mark += "#"
        number = np.arange(self.n_ratings) - np.searchsorted(codes, codes) + 1
        rows = pl.DataFrame({"label": texts, "number": number})
        rows = rows.with_columns(several=np.bincount(codes)[codes] > 1)
        numbered = pl.format(f"{{}}{mark}{{}}", "label", "number")
        label = pl.when("several").then(numbered).otherwise("label")
        self.reviewer_labels, codes = code_labels(rows.select(label).to_series())
        order = np.argsort(codes, kind="stable")
        self.reviewer_codes = frozen(codes[order])
        for name in BY_ROW:
            # Weights by confidence are not known yet.
            if (column := self.__dict__.get(name)) is not None:
                setattr(self, name, frozen(column[order]))
        self.criteria = self.criteria and self.criteria.take(order)


def as_ratings(
    data: Data,
    call: Callable[..., object] | None = None,
    *,
    cluster: Names | Mapping[Label, Label] | None = None,
    **reading: Unpack[ReadingOptions],
) -> Ratings:
    """Take a Ratings as it is, or read a file or a dataframe.

    Args:
        data: The ratings: a path, "-", a stream, a dataframe or a Ratings.
        call: The function that was given them, to name its options.
        cluster: Column of clusters, or several; for a Ratings, those of reviewers.
        reading: How to read them, as for `read_ratings`; None if not given.

    Raises:
        RatingsError: If it is none of these, or cannot be read.
        OptionError: If an option is unknown, or given for a Ratings.

    Examples:
        >>> as_ratings([1, 2])
        Traceback (most recent call last):
        ...
        evenhand.errors.RatingsError: ratings must be a path, a Ratings or a dataframe,
        got list. Give three sequences to Ratings.
    """
    declared = declared_options(reading, call)
    if isinstance(data, Ratings):
        if data.criteria is not None and "score" in declared:
            score, missing = declared.pop("score"), declared.pop("missing_criteria", "")
            data = data.with_criteria(score, missing)
        if declared:
            raise OptionError(
                f"{next(iter(declared))} must be left out for a Ratings: it says how "
                "to read a file or a dataframe."
            )
        if cluster is not None and not isinstance(cluster, Mapping):
            rule = "the name of a column, or for a Ratings a mapping from reviewer to"
            raise must_be("cluster", f"{rule} cluster", cluster)
        return data
    if not (is_frame(data) or is_readable(data)):
        raise RatingsError(
            "ratings must be a path, a Ratings or a dataframe, got "
            f"{type(data).__name__}. Give three sequences to Ratings."
        )
    if cluster is not None and not isinstance(cluster, Mapping):
        declared["cluster"] = cluster
    return readers.read_ratings(data, **declared)


def declared_options(
    reading: Mapping[str, object], call: Callable[..., object] | None = None
) -> dict[str, Any]:
    """Return the options that were given, all of which must be known.

    Examples:
        >>> declared_options({"scale": None, "rows": "items"})
        {'rows': 'items'}
        >>> declared_options({"row": "items"})
        Traceback (most recent call last):
        ...
        evenhand.errors.OptionError: unknown option 'row', did you mean 'rows'? Known
        options: 'format', 'reviewer', 'item', 'score', 'rank', 'winner', 'loser',
        'pair' and 18 more.
    """
    names = [*ReadingOptions.__annotations__]
    own = [] if call is None else [*inspect.signature(call).parameters]
    if "sequential" in own:
        names += WATCHED
    for name in reading:
        if name not in names:
            raise OptionError(unknown("option", name, [*own[1:-1], *names]))
    return {name: value for name, value in reading.items() if value is not None}


def is_readable(data: object) -> bool:
    """Return whether this is a path or a stream.

    Examples:
        >>> is_readable("ratings.csv"), is_readable([1])
        (True, False)
    """
    return isinstance(data, str | os.PathLike) or hasattr(data, "read")


def number_rows(
    data: IntoDataFrame | IntoLazyFrame, **reading: Unpack[WatchOptions]
) -> Ratings | None:
    """Take a dataframe without a reviewer, each row as one's; None if it has one.

    Examples:
        >>> number_rows(pl.DataFrame({"item": ["x", "y"], "score": [1, 2]}))
        Ratings(2 scores by 2 reviewers of 2 items)
    """
    if reading.keys() - {"item", "score", "missing_criteria", *WATCHED}:
        return None
    columns, item = frame_columns(data), reading.get("item") or ""
    watched: Any = {part: reading.get(part) or "" for part in WATCHED}
    score, weights = read_weights(reading.get("score"))
    named = Columns("", str(item), score, **watched)
    if candidates("reviewer", list(columns), named):
        return None
    numbers, criteria, notices = {}, None, tuple[DataWarning, ...]()
    if weights:
        numbers = number_columns(columns, [*weights], Source())
        more = weights, Source(), reading.get("missing_criteria") or ""
        criteria, columns[TOTAL], notices = weigh(numbers, *more)
        named = dataclasses.replace(named, score=TOTAL)
    columns["row"] = next(iter(columns.values()))
    joined = _join_columns(columns, "item", item)
    declared = dataclasses.replace(named, reviewer="row", item=joined)
    names = find_columns(list(columns), declared, Source())
    # Numbered in the order of items and scores, so that the rows' own is no matter.
    items = label_series(columns[names.item], names.item, Source()).cast(pl.String)
    values, _ = number_series(columns[names.score], names.score, Source())
    keys = (*(scores for scores, _ in numbers.values()), values, items.to_numpy())
    columns["row"] = np.argsort(np.lexsort(keys)) + 1
    notices = (*notices, DataWarning("rows_are_reviewers"))
    by: Any = {"notices": notices, "criteria": criteria}
    return Ratings.from_columns(columns, names, Source(), **by)


def cluster_codes(
    ratings: Ratings, cluster: Names | Mapping[Label, Label] | None
) -> Codes | None:
    """Return the cluster of each rating, from 0; None if there are none.

    Args:
        ratings: The ratings, which may hold clusters that were read with them.
        cluster: The cluster of each reviewer, or the columns that were read.

    Raises:
        OptionError: If clusters are too few, or a reviewer has none or several.
        RatingsError: If a cluster is no label.

    Examples:
        >>> ratings = Ratings(list("abcdef"), list("xyxyxy"), [1, 2, 3, 4, 5, 6])
        >>> cluster_codes(ratings, dict(zip("abcdef", "uqrstp"))).tolist()
        [5, 1, 2, 3, 4, 0]
    """
    codes = ratings.cluster_codes
    if isinstance(cluster, Mapping):
        named = [cluster.get(reviewer) for reviewer in ratings.reviewer_labels]
        _, of_reviewer = code_labels(label_series(named, "cluster", Source()))
        codes = of_reviewer[ratings.reviewer_codes]
    if codes is None:
        return None
    same = ratings.reviewer_codes[1:] == ratings.reviewer_codes[:-1]
    torn = np.flatnonzero(same & (codes[1:] != codes[:-1]))
    if len(torn):
        reviewer = ratings.reviewer_labels[ratings.reviewer_codes[torn[0]]]
        raise OptionError(
            f"cluster must be one for each reviewer, got several of {quote(reviewer)}. "
            "Name the reviewer by both columns, such as reviewer=['judge', 'prompt']."
        )
    if codes.max() + 1 < FEWEST_CLUSTERS:
        rule = f"of at least {FEWEST_CLUSTERS} kinds, to show how much they differ"
        raise must_be("cluster", rule, int(codes.max()) + 1)
    return codes


def is_frame(data: object) -> bool:
    """Return whether this is a dataframe that narwhals knows.

    Examples:
        >>> is_frame(pl.DataFrame({"x": [1]})), is_frame([1])
        (True, False)
    """
    if isinstance(data, Ratings | str | os.PathLike):
        return False
    try:
        native = nw.from_native(data, pass_through=True)
    except nw.exceptions.DuplicateError:
        return True
    return isinstance(native, nw.DataFrame | nw.LazyFrame)


def take_naming(
    names: Names, columns: Mapping[str, object]
) -> tuple[Names, bool | None]:
    """Take "people" or "seats" from behind the columns that name the reviewer.

    Returns:
        The columns without it, and whether a label is one person; None if not said.

    Examples:
        >>> take_naming(["judge", "people"], {"judge": []})
        (['judge'], True)
        >>> take_naming("seats", {"seats": []})
        ('seats', None)
    """
    parts = [names] if isinstance(names, str) else names
    last = parts[-1] if isinstance(parts, Sequence) and len(parts) else ""
    if not isinstance(last, str) or last not in NAMING or last in columns:
        return names, None
    return parts[:-1] or "", NAMING[last]


def _join_columns(columns: dict[str, Any], part: str, names: Names | None) -> str:
    """Return a column's name; of several, join the labels to a new column."""
    if isinstance(names, str) or names is None:
        return names or ""
    listed = isinstance(names, Sequence) and len(names) > 0
    if not listed or not all(isinstance(name, str) for name in names):
        raise must_be(part, "the name of a column or a list of names", names)
    joined = BETWEEN.join(names)
    columns[joined] = join_labels(names, columns, Source())
    return joined


def join_labels(
    names: Sequence[str], columns: Mapping[str, object], source: Source
) -> pl.Series:
    """Join the labels of several columns that name one thing together.

    Examples:
        >>> columns = {"judge": ["a", "a"], "prompt": [1, 2]}
        >>> join_labels(["judge", "prompt"], columns, Source()).to_list()
        ['a / 1', 'a / 2']
    """
    for name in names:
        if name not in columns:
            raise source.unknown("column", name, columns)
    labelled = [label_series(columns[name], name, source) for name in names]
    parts = pl.DataFrame({str(place): labels for place, labels in enumerate(labelled)})
    joined = parts.select(pl.concat_str(pl.all(), separator=BETWEEN)).to_series()
    if joined.n_unique() < parts.n_unique():
        raise RatingsError(
            f"{listing(names)} cannot be joined: some of their values hold "
            f"{BETWEEN!r}. Rename these."
        )
    return joined


def frame_columns(frame: IntoDataFrame | IntoLazyFrame) -> dict[str, Any]:
    """Take the columns of a dataframe of any kind by their names as text."""
    try:
        table = nw.from_native(frame)
    except TypeError:
        raise RatingsError(
            f"ratings must be a Ratings or a dataframe, got {type(frame).__name__}. "
            "Give three sequences to Ratings, or a file to read_ratings."
        ) from None
    except nw.exceptions.DuplicateError:
        text = "Column names must differ, got one twice. Rename one."
        raise RatingsError(text) from None
    if isinstance(table, nw.LazyFrame) and not table.implementation.is_polars():
        rows = plural(int(table.select(nw.len()).collect().item()), "row")
        announce(
            f"Downloading {rows} from {table.implementation.name.lower()}; "
            "count_ratings and count_pairs count them there."
        )
    eager = table.collect() if isinstance(table, nw.LazyFrame) else table
    columns = {str(name).strip(): eager.get_column(name) for name in eager.columns}
    if len(columns) < len(eager.columns):
        raise RatingsError("Column names must differ as text. Rename one.")
    return columns


def _rated_rows(
    columns: Mapping[str, object], names: Columns, source: Source
) -> pl.DataFrame:
    """Take scores or ranks from their columns, null where there is none."""
    parts = ("reviewer", "item", "pair", "cluster")
    called = {part: getattr(names, part) for part in parts}
    series = {
        part: label_series(columns[name], name, source)
        for part, name in called.items()
        if name
    }
    if names.confidence:
        levels = level_series(columns[names.confidence], names.confidence, source)
        series["confidence"], called["confidence"] = levels, names.confidence
    for part in ("order", "answered"):
        if name := getattr(names, part):
            times = time_series(columns[name], name, source, gaps=part == "answered")
            series[part], called[part] = times, name
    numeric = {"value": names.score or names.rank, "weight": names.weight}
    for part, name in (numeric | {"probability": names.probability}).items():
        if name:
            numbers, missing = number_series(columns[name], name, source)
            # A rank counts downwards; higher is better everywhere else.
            turned = pl.Series(0.0 - numbers if name == names.rank else numbers)
            values = turned.set(pl.Series(missing), None) if missing.any() else turned
            series[part], called[part] = values, name
    _check_lengths(
        {called[part]: len(values) for part, values in series.items()}, source
    )
    if names.probability:
        inside = series["probability"].is_between(0, 1, closed="none")
        bad = (~inside.fill_null(value=False)).arg_true()
        rule = f"{names.probability} must be between 0 and 1, got"
        if len(bad):
            raise source.each(
                (row, f"{rule} {series['probability'][row]}", "") for row in bad
            )
    if names.weight:
        # A row without a score needs no weight.
        good = (series["weight"] > 0).fill_null(value=False)
        bad = (~good & series["value"].is_not_null()).arg_true()
        if len(bad):
            rule, weights = f"{names.weight} must be above 0", series["weight"]
            raise source.each(
                (row, f"{rule}, got {weights[row]}", COUNTS) for row in bad
            )
    return pl.DataFrame(series).with_row_index("row")


def _repeats(rows: pl.DataFrame, source: Source) -> list[tuple[int, str, str]]:
    """Return the rows in which a reviewer rates an item again."""
    pair = [typed_labels(rows[part]) for part in ("reviewer", "item")]
    first = pl.col("row").first().over("reviewer", "item").alias("first")
    again = rows.select("row", *pair).with_columns(first)
    again = again.filter(pl.col("row") > pl.col("first"))
    many = again.height > LISTED
    # Of many the first tells enough; a sentence for each would fill the memory.
    advice = "" if source.name is None else REPEATS
    problems = [
        (
            row,
            f"reviewer {quote(reviewer)} rated item {quote(item)} twice (first: "
            f"{source.place(before)})",
            advice,
        )
        for row, reviewer, item, before in again.head(1 if many else LISTED).rows()
    ]
    if not many:
        return problems
    row, text, _ = problems[0]
    text += f"; {again.height - 1:,} more rows repeat a rating"
    return [(row, text, f"{TOGETHER} {advice}".strip())]


def _compared_rows(
    columns: Mapping[str, object], names: Columns, source: Source
) -> pl.DataFrame:
    """Take comparisons from their columns, each as a reviewer of two items."""
    used = names.winner, names.loser, names.reviewer, names.cluster
    series = {name: label_series(columns[name], name, source) for name in used if name}
    _check_lengths({name: len(labels) for name, labels in series.items()}, source)
    require_items(columns, names, source)
    winners = series[names.winner]
    items = _join_labels(winners, series[names.loser])
    # Comparisons are numbered in the order of labels, where 9 comes before 10.
    _, codes = code_labels(items)
    winner, loser = np.split(codes, 2)
    itself = np.flatnonzero(winner == loser)
    if len(itself):
        row = int(itself[0])
        text = f"{names.winner} and {names.loser} must differ"
        raise source.at(row, f"{text}, got {quote(winners[row])} twice")
    tied = _tied_rows(columns, names, len(winners), source)
    # Which side of a tie came first says nothing.
    first, second = np.minimum(winner, loser), np.maximum(winner, loser)
    sides = {"winner": np.where(tied, first, winner)}
    sides |= {"loser": np.where(tied, second, loser), "tied": tied}
    rows = pl.DataFrame(sides).with_row_index("row")
    person = series.get(names.reviewer)
    rows = rows.with_columns(person=pl.lit("") if person is None else person)
    rows = rows.sort("winner", "loser", "tied", maintain_order=True)
    number = pl.int_range(1, pl.len() + 1).over("person")
    reviewer = number if person is None else pl.format("{}#{}", "person", number)
    reviewers = rows.with_columns(reviewer.alias("reviewer")).sort("row")["reviewer"]
    value = np.concatenate([np.where(tied, 0.5, 1.0), np.where(tied, 0.5, 0.0)])
    twice = {"reviewer": pl.concat([reviewers] * 2), "item": items, "value": value}
    if names.cluster:
        twice["cluster"] = pl.concat([series[names.cluster]] * 2)
    return pl.DataFrame(twice).with_row_index("row")


def _tied_rows(
    columns: Mapping[str, object], names: Columns, height: int, source: Source
) -> Flags:
    """Return which comparisons are ties."""
    if not names.tie:
        return np.zeros(height, dtype=np.bool_)
    words = column_texts(columns[names.tie]).str.strip_chars().str.to_lowercase()
    words = words.fill_null("")
    _check_lengths({names.winner: height, names.tie: len(words)}, source)
    bad = (~words.is_in([*YES, *NO])).arg_true()
    if len(bad):
        rule = f"{names.tie} must be true or false"
        raise source.each((row, f"{rule}, got {quote(words[row])}", "") for row in bad)
    return words.is_in(YES).to_numpy()


def _order_notices(
    columns: Mapping[str, object], names: Columns
) -> tuple[DataWarning, ...]:
    """Say the order of score words that came as categories."""
    words = ordered_words(columns.get(names.score))
    steps: list[Json] = [[word, step] for step, word in enumerate(words, start=1)]
    facts: dict[str, Json] = {"column": names.score, "steps": steps}
    return (DataWarning("words_as_steps", facts),) if words else ()


def _blank_notices(
    columns: Mapping[str, object], names: Columns
) -> tuple[DataWarning, ...]:
    """Say which labels were one but for blanks around them."""
    items = [names.item, names.winner, names.loser]
    parts = {"reviewer": [names.reviewer], "item": items}
    return tuple(
        notice
        for part, used in parts.items()
        for notice in blank_notices(part, [columns[name] for name in used if name])
    )


def _join_labels(first: pl.Series, second: pl.Series) -> pl.Series:
    """Join two label columns into one of a single type."""
    if first.dtype != second.dtype:
        first, second = first.cast(pl.String), second.cast(pl.String)
    return pl.concat([first.alias("item"), second.alias("item")])


def _check_lengths(n_rows: dict[str, int], source: Source) -> None:
    if len(set(n_rows.values())) > 1:
        lengths = ", ".join(f"{count} of {name}" for name, count in n_rows.items())
        raise source.whole(f"Columns must be of one length, got {lengths}.")


def _unrated_items(rows: pl.DataFrame, extra: pl.Series | None) -> Labels:
    """Return the items of which every row lacks a value, unless named in `extra`."""
    rated = rows.filter(pl.col("value").is_not_null())["item"].cast(pl.String)
    present = rated if extra is None else pl.concat([rated, extra.cast(pl.String)])
    items = typed_labels(rows["item"]).unique().sort()
    return tuple(items.filter(~items.cast(pl.String).is_in(present.implode())))


def _missing_notices(rows: pl.DataFrame, noun: str, lost: Labels) -> list[DataWarning]:
    """Say which rows have no value, and which items are lost with them."""
    labels = [typed_labels(rows[part]) for part in ("item", "reviewer")]
    # Rows are named by their labels: a line would change with the order of rows.
    lacking = rows.with_columns(labels).filter(pl.col("value").is_null())
    named = lacking.sort("reviewer", "item").head(NAMED)
    places = [list(row) for row in named.select("item", "reviewer").rows()]
    examples: Json = {"first": places, "number": lacking.height}
    facts: dict[str, Json] = {"rows": lacking.height, "examples": examples}
    notices = [DataWarning(f"missing_{noun}s", facts)]
    if lost:
        notices.append(DataWarning(UNRATED_ITEMS, {"noun": noun, "items": few(lost)}))
    return notices
