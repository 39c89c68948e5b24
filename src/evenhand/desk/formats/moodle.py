"""Moodle's workshop: the tables of assessments and of submissions.

Both are exports of tables of Moodle's database. The assessments alone can be read; the
submissions give titles, and tell which assessments are not a peer's: those of example
submissions and of one's own work.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from evenhand._columns import Columns, find_columns
from evenhand._labels import NUMBER, shown
from evenhand._results import Notice
from evenhand.desk.formats.layouts import (
    Asked,
    Layout,
    Long,
    find,
    kept,
    lined,
    no_column,
    texts,
    titled,
    why,
)
from evenhand.errors import RatingsError, counted, listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.desk.formats.layouts import Values
    from evenhand.desk.formats.tables import Table

EXPORTS = {
    "workshop_assessments": ("submissionid", "reviewerid", "weight", "grade"),
    "workshop_submissions": ("id", "authorid", "title", "example"),
}
"""The columns that mark each table; prefixes of table names do not matter."""
NULLS = frozenset({"null", "\\n"})
"""How databases write that there is no value; the second is MySQL's."""
MOST = 100.0


def recognise(table: Table) -> str:
    """Say why a table is one of Moodle's workshop."""
    return next(
        (text for marks in EXPORTS.values() if (text := why(table, *marks))), ""
    )


def take(table: Table, asked: Asked) -> Long:
    """Take one rating from each assessment by a peer.

    Examples:
        >>> from evenhand._labels import Source
        >>> from evenhand.desk.formats.tables import Table
        >>> names = ("submissionid", "reviewerid", "weight", "grade")
        >>> table = Table({name: ["1"] for name in names}, Source())
        >>> take(table, Asked()).notices[0].code
        'submissions_unknown'
    """
    table, submissions = _sorted(table, asked.companion)
    own = dict(zip(EXPORTS["workshop_assessments"], _found(table), strict=True))
    columns = asked.columns
    wanted = Columns(
        reviewer=columns.reviewer or own["reviewerid"],
        item=columns.item or own["submissionid"],
        score=columns.score or own["grade"],
        rank=columns.rank,
        winner=columns.winner,
        loser=columns.loser,
        pair=columns.pair,
    )
    for part in ("reviewer", "item", "score"):
        if not getattr(wanted, part):
            raise no_column(table.source, part, table.columns)
    names = find_columns(list(table.columns), wanted, table.source)
    grades = _grades(table.columns[names.score])
    if names.score == own["grade"]:
        _check_range(grades, names.score, table)
    rows, notices = _peers(table, names, own["weight"], submissions)
    used = [name for name in (names.reviewer, names.item, names.pair) if name]
    values: dict[str, Values] = {name: table.columns[name] for name in used}
    said = (
        f"item from {names.item!r}, reviewer from {names.reviewer!r}, score from "
        f"{names.score!r}"
    )
    return Long(
        kept({**values, names.score: grades}, rows),
        names,
        lined(table.source, rows),
        said,
        {} if submissions is None else submissions.titles(),
        notices,
    )


class _Submissions(NamedTuple):
    """What the second table says of each submission."""

    table: Table
    ids: list[str]
    authors: dict[str, str]
    examples: set[str]

    def titles(self) -> dict[str, str]:
        name = find(self.table, "title")
        return titled(self.ids, texts(self.table.columns[name])) if name else {}


def _found(table: Table) -> list[str]:
    return [find(table, name) for name in EXPORTS["workshop_assessments"]]


def _sorted(table: Table, companion: Table | None) -> tuple[Table, _Submissions | None]:
    """Tell assessments from submissions; the two may come in either order."""
    is_second = bool(find(table, "authorid")) and not find(table, "reviewerid")
    if companion is None:
        if is_second:
            raise table.source.whole(
                "These are submissions without their assessments. Give the table "
                "workshop_assessments, and this one with companion= or --with."
            )
        return table, None
    if is_second:
        table, companion = companion, table
    return table, _submissions(companion)


def _submissions(table: Table) -> _Submissions:
    number, author = find(table, "id"), find(table, "authorid")
    if not number or not author:
        raise table.source.whole(
            "This is not the table workshop_submissions: it has no columns 'id' and "
            f"'authorid', only {listing(table.columns)}."
        )
    workshop = find(table, "workshopid")
    workshops = sorted(set(texts(table.columns[workshop])) - {""}) if workshop else []
    if len(workshops) > 1:
        raise table.source.whole(
            f"The submissions are of {len(workshops)} workshops: {listing(workshops)}. "
            "Keep those of one."
        )
    ids = texts(table.columns[number])
    example = find(table, "example")
    marks = texts(table.columns[example]) if example else []
    return _Submissions(
        table,
        ids,
        dict(zip(ids, texts(table.columns[author]), strict=True)),
        {one for one, mark in zip(ids, marks, strict=False) if _is_set(mark)},
    )


def _is_set(mark: str) -> bool:
    return mark.casefold() in ("1", "true", "yes", "t")


def _grades(values: Values) -> list[object]:
    return [
        None if not text or text.casefold() in NULLS else text for text in texts(values)
    ]


def _check_range(grades: Sequence[object], name: str, table: Table) -> None:
    for row, grade in enumerate(grades):
        if (
            isinstance(grade, str)
            and re.fullmatch(NUMBER, grade)
            and not 0 <= float(grade) <= MOST
        ):
            error = table.source.at(
                row, f"{name} must be from 0 to 100, got {shown(grade)}"
            )
            raise RatingsError(f"{error} Leave it empty where there is no grade.")


def _peers(
    table: Table, names: Columns, weight: str, submissions: _Submissions | None
) -> tuple[list[int], tuple[Notice, ...]]:
    """Return the rows of peers' assessments, and say what was left out."""
    items = texts(table.columns[names.item])
    reviewers = texts(table.columns[names.reviewer])
    weights = texts(table.columns[weight]) if weight else []
    reasons = [
        _reason(item, reviewer, weights[row] if weights else "", submissions)
        for row, (item, reviewer) in enumerate(zip(items, reviewers, strict=True))
    ]
    rows = [row for row, reason in enumerate(reasons) if not reason]
    if not rows:
        raise table.source.whole(
            "There is no assessment by a peer: each is of an example, of one's own "
            "work, without weight, or of a submission that is not in the other file."
        )
    notices = [
        Notice(code, f"{counted(reasons.count(code), 'assessment')} {text}.")
        for code, text in LEFT_OUT.items()
        if code in reasons
    ]
    if submissions is None:
        notices.append(Notice("submissions_unknown", NO_SUBMISSIONS))
    elif not find(submissions.table, "example"):
        notices.append(Notice("submissions_unknown", NO_EXAMPLES))
    if (
        len(
            {
                float(weights[row])
                for row in rows
                if weights and _is_number(weights[row])
            }
        )
        > 1
    ):
        notices.append(Notice("weights_unused", UNUSED))
    return rows, tuple(notices)


LEFT_OUT = {
    "example_submissions": "of example submissions left out",
    "self_assessments": "of the reviewer's own work left out",
    "unlisted_submissions": "of submissions that are not in the other file left out",
    "zero_weights": "of weight 0 left out, as Moodle does",
}
NO_SUBMISSIONS = (
    "Without the table of submissions, assessments of example submissions and of one's "
    "own work cannot be told from the others. Give it with companion= or --with."
)
NO_EXAMPLES = (
    "The table of submissions has no column 'example', so assessments of example "
    "submissions cannot be told from the others."
)
UNUSED = "Weights of assessments differ, but are not used: each counts once."


def _reason(
    item: str, reviewer: str, weight: str, submissions: _Submissions | None
) -> str:
    """Return why an assessment is left out, or an empty text."""
    if submissions is not None and item:
        if item in submissions.examples:
            return "example_submissions"
        author = submissions.authors.get(item)
        if author is None:
            return "unlisted_submissions"
        if author == reviewer:
            return "self_assessments"
    return "zero_weights" if _is_number(weight) and float(weight) == 0 else ""


def _is_number(text: str) -> bool:
    return re.fullmatch(NUMBER, text) is not None


LAYOUT = Layout("moodle", "a workshop of Moodle", recognise, take)
