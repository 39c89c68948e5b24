"""Columns on their way into Ratings: checked, of one length, not yet coded."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand._labels import (
    LONG,
    Coded,
    Labels,
    Source,
    alike,
    code_labels,
    coded,
    coded_series,
    label_series,
    number_series,
    shown,
)
from evenhand._results import Notice
from evenhand.errors import counted, listing

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand._columns import Columns

Codes = NDArray[np.int64]
AnyCodes = NDArray[np.int64] | NDArray[np.int32]
Scores = NDArray[np.float64]

SHORT = 2**16
PLACES = 5
"""How many rows or pairs of labels a notice names."""


def group_starts(codes: AnyCodes, n_groups: int) -> Codes:
    """Return where each group begins once rows are sorted by code, and the end.

    Examples:
        >>> group_starts(np.array([0, 2, 2]), 3).tolist()
        [0, 1, 1, 3]
    """
    counts = np.bincount(codes, minlength=n_groups)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def group_rows(codes: Codes, n_groups: int) -> tuple[Codes, Codes]:
    """Return where each group of rows begins, and the rows by code, then by number.

    Examples:
        >>> [part.tolist() for part in group_rows(np.array([1, 0, 1]), 2)]
        [[0, 1, 3], [1, 0, 2]]
    """
    if len(codes) < LONG:
        # Short integers are sorted in time that grows with their number.
        short = codes.astype(np.uint16) if n_groups <= SHORT else codes
        rows = np.argsort(short, kind="stable").astype(np.int64)
        return group_starts(codes, n_groups), rows
    from evenhand._kernels import graphs  # noqa: PLC0415 - slow to load

    return graphs.group_rows(codes, n_groups)


def sorted_rows(
    first: AnyCodes, second: AnyCodes, n_first: int
) -> tuple[Codes, Codes, Codes]:
    """Sort rows by two codes.

    Args:
        first: Codes below `n_first`.
        second: Codes, by which rows of equal first codes are sorted.
        n_first: How many codes there may be.

    Returns:
        Both codes, sorted, and the number of each row.

    Examples:
        >>> found = sorted_rows(np.array([1, 0, 1]), np.array([1, 1, 0]), 2)
        >>> [column.tolist() for column in found]
        [[0, 1, 1], [1, 0, 1], [1, 2, 0]]
    """
    if len(first) < LONG:
        rows = np.lexsort((second, first)).astype(np.int64)
        return _wide(first[rows]), _wide(second[rows]), rows
    from evenhand._kernels import graphs  # noqa: PLC0415 - slow to load

    return graphs.sort_rows(_wide(first), _wide(second), n_first)


def sorted_values(
    first: AnyCodes, second: AnyCodes, values: Scores, n_first: int
) -> tuple[Codes, Codes] | None:
    """Sort many rows by two codes, and their values with them, where they are.

    Returns:
        Both codes, sorted. None if rows are few; and if two have both codes in common:
        then values are in no order, but `sorted_rows` says which rows these are.

    Examples:
        >>> sorted_values(np.array([1, 0]), np.array([0, 0]), np.array([7.0, 8.0]), 2)
    """
    if len(first) < LONG:
        return None
    from evenhand._kernels import graphs  # noqa: PLC0415 - slow to load

    ones, others, repeated = graphs.sort_values(first, second, values, n_first)
    return None if repeated else (ones, others)


def _wide(codes: AnyCodes) -> Codes:
    return codes.astype(np.int64, copy=False)


def load_kernels() -> None:
    """Load what many rows need, beside something else that takes time.

    Examples:
        >>> load_kernels()
    """
    from evenhand._kernels import graphs, hashes  # noqa: PLC0415 - slow to load

    words = np.zeros(1, dtype=np.uint64)
    codes, _, table = hashes.code_hashes(words)
    hashes.renumber(codes, hashes.codes_of(table, words))
    graphs.sort_values(codes.view(np.int32), codes.view(np.int32), np.zeros(1), 1)


def count_tied(reviewers: Codes, preference: Scores) -> int:
    """Count the reviewers with equal preferences; rows are sorted by reviewer.

    Examples:
        >>> count_tied(np.array([0, 0, 1]), np.array([5.0, 5.0, 5.0]))
        1
    """
    if len(reviewers) < LONG:
        rows = np.lexsort((preference, reviewers))
        people, values = reviewers[rows], preference[rows]
        equal = (people[1:] == people[:-1]) & (values[1:] == values[:-1])
        return len(np.unique(people[1:][equal]))
    from evenhand._kernels import posets  # noqa: PLC0415 - slow to load

    return int(posets.count_tied(reviewers, preference))


class Parts(NamedTuple):
    """Columns on their way into Ratings."""

    reviewers: Coded
    items: Coded
    preference: Scores
    missing: NDArray[np.bool_]
    pairs: Coded | None = None

    def at(self, rows: Codes) -> Parts:
        """Return these rows only."""
        return Parts(
            self.reviewers.at(rows),
            self.items.at(rows),
            self.preference[rows],
            self.missing[rows],
            None if self.pairs is None else self.pairs.at(rows),
        )


def rating_parts(columns: dict[str, object], names: Columns, source: Source) -> Parts:
    """Take scores or ranks from their columns; a rank is turned into a preference."""
    value_name = names.score if names.kind == "scores" else names.rank
    (values, missing), reviewers, items = _taken(columns, names, value_name, source)
    lengths = {
        names.reviewer: len(reviewers.codes),
        names.item: len(items.codes),
        value_name: len(values),
    }
    pairs = None
    if names.pair:
        pairs = coded_series(columns[names.pair], names.pair, source)
        lengths[names.pair] = len(pairs.codes)
    _same_lengths(lengths, source)
    # A rank counts downwards; its sign is turned so that higher is better everywhere.
    preference = values if names.kind == "scores" else 0.0 - values
    return Parts(reviewers, items, preference, missing, pairs)


def _taken(
    columns: dict[str, object], names: Columns, value_name: str, source: Source
) -> tuple[tuple[Scores, NDArray[np.bool_]], Coded, Coded]:
    """Take numbers, reviewers and items, of long columns at the same time."""
    items = columns[names.item]
    work: tuple[Callable[[], Any], ...] = (
        lambda: number_series(columns[value_name], value_name, source),
        lambda: coded_series(columns[names.reviewer], names.reviewer, source),
        lambda: coded_series(items, names.item, source),
    )
    if isinstance(items, pl.Series) and len(items) >= LONG:
        # Reviewers are often many and take longest, so they are begun first; whatever
        # is wrong with the numbers is still said first.
        with ThreadPoolExecutor(2) as threads:
            later = [threads.submit(work[place]) for place in (1, 2, 0)]
            return later[2].result(), later[0].result(), later[1].result()
    return work[0](), work[1](), work[2]()


def missing_notices(parts: Parts, noun: str, extra: pl.Series | None) -> list[Notice]:
    """Say which rows have no value, and which items are lost with them."""
    reviewers, reviewer_codes = code_labels(parts.reviewers)
    items, item_codes = code_labels(parts.items)
    rows = np.flatnonzero(parts.missing)
    # Rows are named by their labels: a line would change with the order of rows.
    order = rows[np.lexsort((item_codes[rows], reviewer_codes[rows]))]
    places = [
        f"item {shown(items[item_codes[row]])} by reviewer "
        f"{shown(reviewers[reviewer_codes[row]])}"
        for row in order[:PLACES]
    ]
    more = f" and {len(rows) - PLACES} more" if len(rows) > PLACES else ""
    lost_rows = f"{counted(len(rows), 'row')} without a {noun} left out"
    notices = [Notice(f"missing_{noun}s", f"{lost_rows}: {', '.join(places)}{more}.")]
    lost = unrated(parts, extra)
    if lost:
        text = f"Items without any {noun} are not in the result: {listing(lost)}."
        notices.append(Notice("unrated_items", text))
    return notices


def unrated(parts: Parts, extra: pl.Series | None) -> Labels:
    """Return the items of which every row lacks a value, unless named in `extra`."""
    items, item_codes = code_labels(parts.items)
    present = set() if extra is None else set(extra.cast(pl.String).to_list())
    rated = set(item_codes[~parts.missing].tolist())
    return tuple(
        item
        for code, item in enumerate(items)
        if code not in rated and str(item) not in present
    )


def alike_notices(what: str, labels: Labels) -> list[Notice]:
    """Say which labels differ only in ways that people overlook."""
    pairs = alike(labels)
    if not pairs:
        return []
    named = ", ".join(f"{shown(one)} and {shown(two)}" for one, two in pairs[:PLACES])
    more = f" and {len(pairs) - PLACES} more" if len(pairs) > PLACES else ""
    text = f"Labels that look alike are taken for different {what}s: {named}{more}."
    return [Notice(f"similar_{what}s", text)]


def comparison_parts(
    columns: dict[str, object], names: Columns, source: Source
) -> Parts:
    """Take comparisons from their columns, each as a reviewer of its own."""
    winners = label_series(columns[names.winner], names.winner, source)
    losers = label_series(columns[names.loser], names.loser, source)
    lengths = {names.winner: len(winners), names.loser: len(losers)}
    people = None
    if names.reviewer:
        people = label_series(columns[names.reviewer], names.reviewer, source)
        lengths[names.reviewer] = len(people)
    _same_lengths(lengths, source)
    items = coded(one_type(winners, losers))
    # Comparisons are numbered in the order of labels, where 9 comes before 10.
    _, codes = code_labels(items)
    half = len(winners)
    itself = np.flatnonzero(codes[:half] == codes[half:])
    if len(itself):
        row = int(itself[0])
        raise source.at(
            row,
            f"{names.winner} and {names.loser} must differ, "
            f"got {shown(winners[row])} twice",
        )
    person_codes: AnyCodes = np.zeros(half, dtype=np.int64)
    person_labels: Labels = ()
    if people is not None:
        person_labels, person_codes = code_labels(people)
    order = np.lexsort((codes[half:], codes[:half], person_codes))
    number = np.empty(half, dtype=np.int64)
    first = group_starts(person_codes, int(person_codes.max(initial=0)) + 1)
    number[order] = np.arange(half) - first[person_codes[order]] + 1
    if people is None:
        reviewers = pl.Series(number)
    else:
        reviewers = pl.Series(
            [
                f"{person_labels[person]}#{count}"
                for person, count in zip(
                    person_codes.tolist(), number.tolist(), strict=True
                )
            ],
            dtype=pl.String,
        )
    preference = np.concatenate([np.ones(half), np.zeros(half)])
    missing = np.zeros(2 * half, dtype=np.bool_)
    people_twice = coded(pl.concat([reviewers, reviewers]))
    return Parts(people_twice, items, preference, missing)


def one_type(first: pl.Series, second: pl.Series) -> pl.Series:
    """Join two label columns into one of a single type."""
    if first.dtype != second.dtype:
        first, second = first.cast(pl.String), second.cast(pl.String)
    return pl.concat([first.alias("item"), second.alias("item")])


def _same_lengths(lengths: dict[str, int], source: Source) -> None:
    if len(set(lengths.values())) > 1:
        got = ", ".join(f"{count} of {name}" for name, count in lengths.items())
        raise source.whole(f"Columns must be of one length, got {got}.")
