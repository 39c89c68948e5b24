"""Canvas: the table of peer reviews that scripts for its API write.

Canvas itself has no export of peer reviews. The scripts in use write one row for each
assigned review: state, assessor, assessee, total score, and the points for each
criterion with the most there are in brackets, as in "Criteria #1 (10.0)".
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.claims import Notice
from evenhand.errors import counted
from evenhand.formats import layouts
from evenhand.formats.tables import plain, texts

if TYPE_CHECKING:
    from evenhand.columns import Columns
    from evenhand.formats.layouts import Asked, Long
    from evenhand.formats.tables import Table

TOTAL = "total score"
POINTS = re.compile(r"\s*\([0-9]+(?:\.[0-9]+)?\)\s*$")
NOT_DONE = "assigned"
LEFT_OUT = {
    "not_done": "assigned but not done left out",
    "self_assessments": "of the reviewer's own work left out",
    "empty_reviews": "with a total of 0 but no points at all left out",
}


def tell(table: Table) -> str:
    """Say why a table holds Canvas's peer reviews."""
    total = _total(table)
    return table.why("assessor", "assessee", total) if total else ""


def take(table: Table, asked: Asked) -> Long:
    """Take one rating from each review that was done.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import Asked
        >>> from evenhand.formats.tables import Table
        >>> columns = {"Assessor": ["Bo"], "Assessee": ["Cy"], "Total Score (9)": [7]}
        >>> take(Table(columns, Source()), Asked()).said
        "item from 'Assessee', reviewer from 'Assessor', score from 'Total Score (9)'"
    """
    given = replace(asked.columns, score=_score(table, asked.columns.score))
    names = layouts.choose_columns(table, given, reviewer="assessor", item="assessee")
    done, notices = layouts.leave_out(table, _reasons(table, names), "review", LEFT_OUT)
    if not done.height:
        raise table.source.whole("There is no review that was done by somebody else.")
    early = sum(plain(state) == NOT_DONE for state in done.texts("state"))
    if early:
        text = f"{counted(early, 'review')} scored but not marked as completed: kept."
        notices.append(Notice("unfinished_reviews", text))
    said = layouts.say_columns(names, item="item", reviewer="reviewer", score="score")
    return layouts.Long(done.columns, names, done.source, said, notices=notices)


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
    fields = [
        name
        for name, values in table.columns.items()
        if _bare(name) == TOTAL
        or (POINTS.search(name) and layouts.may_be_scores(values))
    ]
    near = [name for name in fields if _bare(name) == plain(given)]
    if len(near) == 1:
        return near[0]
    return layouts.choose_score(given, fields, table.source)


def _reasons(table: Table, names: Columns) -> list[str]:
    """Return why each review is left out, empty where it is not."""
    points = [
        texts(values)
        for name, values in table.columns.items()
        if POINTS.search(name) and _bare(name) != TOTAL
    ]
    is_total = _bare(names.score) == TOTAL and bool(points)
    people, items, scores = (
        texts(table.columns[name]) for name in (names.reviewer, names.item, names.score)
    )
    reasons = []
    for row, state in enumerate(table.texts("state")):
        nothing = not any(column[row] for column in points)
        reason = ""
        if plain(state) == NOT_DONE and not scores[row]:
            reason = "not_done"
        elif people[row] and people[row] == items[row]:
            reason = "self_assessments"
        elif is_total and nothing and re.fullmatch(r"0+(?:\.0*)?", scores[row]):
            reason = "empty_reviews"
        reasons.append(reason)
    return reasons


LAYOUT = layouts.Layout("canvas", "peer reviews of Canvas", take, tell=tell)
