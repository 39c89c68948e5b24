"""Gavel: decisions.csv, one row for each choice between two projects.

Each decision is a reviewer of its own that saw two items, because one annotator's
decisions may contradict each other; the annotator stays in its name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.formats import layouts
from evenhand.formats.tables import texts

if TYPE_CHECKING:
    from evenhand.formats.layouts import Asked, Long
    from evenhand.formats.tables import Table

EXPORTS = {"decisions.csv": ("annotator id", "winner id", "loser id")}
"""The columns that mark each file."""
LEFT_OUT = {"skipped_decisions": "without a winner or a loser left out"}


def take(table: Table, asked: Asked) -> Long:
    """Take one comparison from each decision.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import Asked
        >>> from evenhand.formats.tables import Table
        >>> columns = {"Annotator ID": ["7"], "Winner ID": ["2"], "Loser ID": ["5"]}
        >>> take(Table(columns, Source()), Asked()).said
        "winner from 'Winner ID', loser from 'Loser ID', annotator from 'Annotator ID'"
    """
    reviewer = asked.columns.reviewer or table.find("annotator id")
    given = replace(asked.columns, reviewer=reviewer)
    names = layouts.choose_columns(table, given, winner="winner id", loser="loser id")
    both = (texts(table.columns[name]) for name in (names.winner, names.loser))
    reasons = [
        "" if all(pair) else "skipped_decisions" for pair in zip(*both, strict=True)
    ]
    made, notices = layouts.leave_out(table, reasons, "decision", LEFT_OUT)
    if not made.height:
        raise table.source.whole(
            "There is no decision: every winner or loser is empty."
        )
    said = layouts.say_columns(
        names, winner="winner", loser="loser", reviewer="annotator"
    )
    return layouts.Long(made.columns, names, made.source, said, notices=notices)


LAYOUT = layouts.Layout("gavel", "decisions of Gavel", take, EXPORTS)
