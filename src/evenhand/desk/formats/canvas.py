"""Canvas: the table of peer reviews that scripts for its API write.

Canvas itself has no export of peer reviews. The scripts in use write one row for each
assigned review: state, assessor, assessee, total score, and the points for each
criterion with the most there are in brackets, as in "Criteria #1 (10.0)".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from evenhand._columns import Columns, find_columns
from evenhand._results import Notice
from evenhand.desk.formats.layouts import (
    Asked,
    Layout,
    Long,
    check_options,
    choose_score,
    find,
    kept,
    lined,
    looks_graded,
    no_column,
    plain,
    texts,
    why,
)
from evenhand.errors import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from evenhand.desk.formats.tables import Table

MARKS = ("assessor", "assessee")
OVERVIEW = ("num assigned peer reviews", "num completed peer reviews")
"""Columns that mark the second file of such scripts, which has no assessors."""
TOTAL = "total score"
POINTS = re.compile(r"\s*\([0-9]+(?:\.[0-9]+)?\)\s*$")
NOT_DONE = "assigned"


def recognise(table: Table) -> str:
    """Say why a table holds Canvas's peer reviews."""
    total = _total(table)
    return (why(table, *MARKS, total) if total else "") or why(table, *OVERVIEW)


def take(table: Table, asked: Asked) -> Long:
    """Take one rating from each review that was done.

    Examples:
        >>> from evenhand._labels import Source
        >>> from evenhand.desk.formats.tables import Table
        >>> columns = {"Assessor": ["Bo"], "Assessee": ["Cy"], "Total Score (9)": [7]}
        >>> take(Table({**columns}, Source()), Asked()).said
        "item from 'Assessee', reviewer from 'Assessor', score from 'Total Score (9)'"
    """
    if why(table, *OVERVIEW):
        raise table.source.whole(
            "This overview does not say who gave which score. Give the table that has "
            "the columns 'Assessor' and 'Assessee'."
        )
    check_options(asked, "Canvas", ())
    columns = asked.columns
    wanted = Columns(
        reviewer=columns.reviewer or find(table, "assessor"),
        item=columns.item or find(table, "assessee"),
        score=_score(table, columns.score),
        rank=columns.rank,
        winner=columns.winner,
        loser=columns.loser,
        pair=columns.pair,
    )
    for part in ("reviewer", "item"):
        if not getattr(wanted, part):
            raise no_column(table.source, part, table.columns)
    names = find_columns(list(table.columns), wanted, table.source)
    rows, notices = _done(_Reviews(table, names))
    if not rows:
        raise table.source.whole("There is no review that was done by somebody else.")
    used = (names.reviewer, names.item, names.score, names.pair)
    said = (
        f"item from {names.item!r}, reviewer from {names.reviewer!r}, score from "
        f"{names.score!r}"
    )
    return Long(
        kept({name: table.columns[name] for name in used if name}, rows),
        names,
        lined(table.source, rows),
        said,
        notices=notices,
    )


def _total(table: Table) -> str:
    return next((name for name in table.columns if _bare(name) == TOTAL), "")


def _bare(name: str) -> str:
    """Return a column's name without the points in brackets."""
    return plain(POINTS.sub("", name))


def _score(table: Table, given: str) -> str:
    """Choose the total, or the criterion that was named with or without its points."""
    total = _total(table)
    if not given and total:
        return total
    fields = [name for name in table.columns if _is_field(table, name)]
    near = [name for name in fields if _bare(name) == plain(given)]
    if len(near) == 1:
        return near[0]
    return choose_score(given, fields, table.source)


def _is_field(table: Table, name: str) -> bool:
    if _bare(name) == TOTAL:
        return True
    return POINTS.search(name) is not None and looks_graded(
        [*set(texts(table.columns[name]))]
    )


class _Reviews(NamedTuple):
    table: Table
    names: Columns

    def text(self, name: str) -> list[str]:
        return texts(self.table.columns[name])

    def states(self) -> list[str]:
        name = find(self.table, "state")
        return [plain(state) for state in self.text(name)] if name else []

    def without_points(self) -> set[int]:
        """Return the rows that have a total of zero, but no points that add up."""
        parts = [
            name
            for name in self.table.columns
            if POINTS.search(name) and _bare(name) != TOTAL
        ]
        if _bare(self.names.score) != TOTAL or not parts:
            return set()
        cells = [self.text(name) for name in parts]
        totals = self.text(self.names.score)
        return {
            row
            for row, total in enumerate(totals)
            if re.fullmatch(r"0+(?:\.0*)?", total)
            and not any(column[row] for column in cells)
        }


def _done(reviews: _Reviews) -> tuple[list[int], tuple[Notice, ...]]:
    """Return the rows to read, and say what was left out."""
    scores = reviews.text(reviews.names.score)
    states = reviews.states()
    waiting = {
        row for row, state in enumerate(states) if state == NOT_DONE and not scores[row]
    }
    people = zip(
        reviews.text(reviews.names.reviewer),
        reviews.text(reviews.names.item),
        strict=True,
    )
    own = {row for row, (one, two) in enumerate(people) if one and one == two}
    own -= waiting
    bare = reviews.without_points() - waiting - own
    left_out = waiting | own | bare
    rows = [row for row in range(len(scores)) if row not in left_out]
    early = sum(bool(states) and states[row] == NOT_DONE for row in rows)
    texts_of: dict[str, tuple[Collection[int], str]] = {
        "not_done": (waiting, "assigned but not done left out"),
        "self_assessments": (own, "of the reviewer's own work left out"),
        "empty_reviews": (bare, "with a total of 0 but no points at all left out"),
        "unfinished_reviews": (
            range(early),
            "scored but not marked as completed: kept",
        ),
    }
    return rows, tuple(_notices(texts_of))


def _notices(found: dict[str, tuple[Collection[int], str]]) -> Iterable[Notice]:
    for code, (rows, text) in found.items():
        if rows:
            yield Notice(code, f"{counted(len(rows), 'review')} {text}.")


LAYOUT = Layout("canvas", "peer reviews of Canvas", recognise, take)
