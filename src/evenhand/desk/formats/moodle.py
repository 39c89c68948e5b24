"""Moodle's workshop: the tables of assessments and of submissions.

Both are exports of tables of Moodle's database. The assessments alone can be read; the
submissions give titles, and tell which assessments are not a peer's: those of example
submissions and of one's own work.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand._labels import shown
from evenhand._results import Notice
from evenhand.desk.formats.layouts import (
    Asked,
    Layout,
    Long,
    choose_columns,
    first_reason,
    is_number,
    standing_rows,
    titled,
)
from evenhand.desk.formats.tables import texts
from evenhand.errors import RatingsError, listing

if TYPE_CHECKING:
    from evenhand._columns import Columns
    from evenhand.desk.formats.tables import Table, Values

EXPORTS = {
    "workshop_assessments": ("submissionid", "reviewerid", "weight", "grade"),
    "workshop_submissions": ("id", "authorid", "title", "example"),
}
"""The columns that mark each table; prefixes of table names do not matter."""
NULLS = frozenset({"null", "\\n"})
"""How databases write that there is no value; the second is MySQL's."""
MOST = 100.0
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


def recognise(table: Table) -> str:
    """Say why a table is one of Moodle's workshop."""
    return first_reason(table, EXPORTS)


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
    table, submissions = _sort_out(table, asked.companion)
    item, reviewer, _, grade = map(table.find, EXPORTS["workshop_assessments"])
    given = asked.columns
    wanted = replace(
        given,
        reviewer=given.reviewer or reviewer,
        item=given.item or item,
        score=given.score or grade,
    )
    names = choose_columns(table, wanted, ("reviewer", "item", "score"))
    grades: Values = [
        None if not text or text.casefold() in NULLS else text
        for text in texts(table.columns[names.score])
    ]
    if names.score == grade:
        _check_range(grades, names.score, table)
    reasons = _reasons(table, names, submissions)
    rows, notices = standing_rows(reasons, "assessment", LEFT_OUT)
    if not rows:
        raise table.source.whole(
            "There is no assessment by a peer: each is of an example, of one's own "
            "work, without weight, or of a submission that is not in the other file."
        )
    peers = replace(table, columns={**table.columns, names.score: grades}).keep(rows)
    if submissions is None:
        notices.append(Notice("submissions_unknown", NO_SUBMISSIONS))
    elif not submissions.find("example"):
        notices.append(Notice("submissions_unknown", NO_EXAMPLES))
    if len({float(text) for text in peers.texts("weight") if is_number(text)}) > 1:
        notices.append(Notice("weights_unused", UNUSED))
    said = (
        f"item from {names.item!r}, reviewer from {names.reviewer!r}, score from "
        f"{names.score!r}"
    )
    titles = {}
    if submissions is not None:
        titles = titled(submissions.texts("id"), submissions.texts("title"))
    return Long(peers.columns, names, peers.source, said, titles, notices)


def _sort_out(table: Table, companion: Table | None) -> tuple[Table, Table | None]:
    """Tell assessments from submissions; the two may come in either order."""
    is_second = bool(table.find("authorid")) and not table.find("reviewerid")
    if companion is None:
        if is_second:
            raise table.source.whole(
                "These are submissions without their assessments. Give the table "
                "workshop_assessments, and this one with companion= or --with."
            )
        return table, None
    if is_second:
        table, companion = companion, table
    if not companion.why("id", "authorid"):
        raise companion.source.whole(
            "This is not the table workshop_submissions: it has no columns 'id' and "
            f"'authorid', only {listing(companion.columns)}."
        )
    workshops = sorted({*companion.texts("workshopid")} - {""})
    if len(workshops) > 1:
        raise companion.source.whole(
            f"The submissions are of {len(workshops)} workshops: {listing(workshops)}. "
            "Keep those of one."
        )
    return table, companion


def _check_range(grades: Values, name: str, table: Table) -> None:
    for row, grade in enumerate(grades):
        text = str(grade or "")
        if is_number(text) and not 0 <= float(text) <= MOST:
            error = table.source.at(
                row, f"{name} must be from 0 to 100, got {shown(text)}"
            )
            raise RatingsError(f"{error} Leave it empty where there is no grade.")


def _reasons(table: Table, names: Columns, submissions: Table | None) -> list[str]:
    """Return why each assessment is left out, empty where it is a peer's."""
    authors: dict[str, str] = {}
    examples: set[str] = set()
    if submissions is not None:
        ids, marks = submissions.texts("id"), submissions.texts("example")
        authors = dict(zip(ids, submissions.texts("authorid"), strict=True))
        set_marks = ("1", "true", "yes", "t")
        pairs = zip(ids, marks, strict=True)
        examples = {one for one, mark in pairs if mark.casefold() in set_marks}
    cells = zip(
        texts(table.columns[names.item]),
        texts(table.columns[names.reviewer]),
        table.texts("weight"),
        strict=True,
    )
    reasons = []
    for item, reviewer, weight in cells:
        known = submissions is not None and item
        reason = ""
        if known and item in examples:
            reason = "example_submissions"
        elif known and item not in authors:
            reason = "unlisted_submissions"
        elif known and authors[item] == reviewer:
            reason = "self_assessments"
        elif is_number(weight) and float(weight) == 0:
            reason = "zero_weights"
        reasons.append(reason)
    return reasons


LAYOUT = Layout("moodle", "a workshop of Moodle", recognise, take)
