"""Moodle's workshop: the tables of assessments and of submissions.

Both are exports of tables of Moodle's database. The assessments alone can be read; the
submissions give titles, and tell which assessments are not a peer's: those of example
submissions and of one's own work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.claims import Notice
from evenhand.errors import listing, shown
from evenhand.formats import layouts
from evenhand.formats.layouts import is_number
from evenhand.formats.tables import texts

if TYPE_CHECKING:
    from evenhand.columns import Columns
    from evenhand.formats.layouts import Asked, Long
    from evenhand.formats.tables import Table

EXPORTS = {
    "workshop_assessments": ("submissionid", "reviewerid", "weight", "grade"),
    "workshop_submissions": ("id", "authorid", "title", "example"),
}
"""The columns that mark each table; prefixes of table names do not matter."""
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


def take(table: Table, asked: Asked) -> Long:
    """Take one rating from each assessment by a peer.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import Asked
        >>> from evenhand.formats.tables import Table
        >>> names = ("submissionid", "reviewerid", "weight", "grade")
        >>> table = Table({name: ["1"] for name in names}, Source())
        >>> take(table, Asked()).notices[0].code
        'submissions_unknown'
    """
    table, submissions = _sort_out(table, table.companion)
    names = layouts.choose_columns(
        table, asked.columns, reviewer="reviewerid", item="submissionid", score="grade"
    )
    if names.score == table.find("grade"):
        for row, text in enumerate(table.texts("grade")):
            if is_number(text) and not 0 <= float(text) <= MOST:
                rule = f"{names.score} must be from 0 to 100, got {shown(text)}"
                advice = "Leave it empty where there is no grade."
                raise table.source.at(row, rule, advice)
    reasons = _reasons(table, names, submissions)
    peers, notices = layouts.leave_out(table, reasons, "assessment", LEFT_OUT)
    if not peers.height:
        raise table.source.whole(
            "There is no assessment by a peer: each is of an example, of one's own "
            "work, without weight, or of a submission that is not in the other file."
        )
    titles = {}
    if submissions is None:
        notices.append(Notice("submissions_unknown", NO_SUBMISSIONS))
    else:
        titles = layouts.titled(submissions.texts("id"), submissions.texts("title"))
        if not submissions.find("example"):
            notices.append(Notice("submissions_unknown", NO_EXAMPLES))
    weights = {float(text) for text in peers.texts("weight") if is_number(text)}
    if len(weights) > 1 and not names.weight:
        notices.append(Notice("weights_unused", UNUSED))
    said = layouts.say_columns(names, item="item", reviewer="reviewer", score="score")
    return layouts.Long(peers.columns, names, peers.source, said, titles, notices)


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
    return table, companion


def _reasons(table: Table, names: Columns, submissions: Table | None) -> list[str]:
    """Return why each assessment is left out, empty where it is a peer's."""
    authors: dict[str, tuple[str, str]] = {}
    if submissions is not None:
        cells = map(submissions.texts, ("id", "authorid", "example"))
        authors = {one: (who, mark) for one, who, mark in zip(*cells, strict=True)}
        authors.pop("", None)
    reasons = []
    for item, reviewer, weight in zip(
        texts(table.columns[names.item]),
        texts(table.columns[names.reviewer]),
        table.texts("weight"),
        strict=True,
    ):
        author, mark = authors.get(item, ("", ""))
        reason = ""
        if mark.casefold() in ("1", "true", "yes", "t"):
            reason = "example_submissions"
        elif submissions is not None and item and item not in authors:
            reason = "unlisted_submissions"
        elif item in authors and author == reviewer:
            reason = "self_assessments"
        elif is_number(weight) and float(weight) == 0:
            reason = "zero_weights"
        reasons.append(reason)
    return reasons


LAYOUT = layouts.Layout("moodle", "a workshop of Moodle", take, EXPORTS, one_file=False)
