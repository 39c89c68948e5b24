"""Gavel: decisions.csv, one row for each choice between two projects.

Each decision is a reviewer of its own that saw two items, because one annotator's
decisions may contradict each other; the annotator stays in its name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.desk.formats.layouts import (
    Asked,
    Layout,
    Long,
    choose_columns,
    standing_rows,
    titled,
)
from evenhand.desk.formats.tables import texts

if TYPE_CHECKING:
    from evenhand.desk.formats.tables import Table

DECISIONS = ("annotator id", "winner id", "loser id")
"""The columns that mark decisions.csv; items.csv (id, name) gives titles only."""
LEFT_OUT = {"skipped_decisions": "without a winner or a loser left out"}


def recognise(table: Table) -> str:
    """Say why a table holds Gavel's decisions."""
    return table.why(*DECISIONS)


def take(table: Table, asked: Asked) -> Long:
    """Take one comparison from each decision.

    Examples:
        >>> from evenhand._labels import Source
        >>> from evenhand.desk.formats.tables import Table
        >>> columns = {"Annotator ID": ["7"], "Winner ID": ["2"], "Loser ID": ["5"]}
        >>> take(Table(columns, Source()), Asked()).said
        "winner from 'Winner ID', loser from 'Loser ID', annotator from 'Annotator ID'"
    """
    annotator, winner, loser = map(table.find, DECISIONS)
    given = asked.columns
    wanted = replace(
        given,
        reviewer=given.reviewer or annotator,
        winner=given.winner or winner,
        loser=given.loser or loser,
    )
    names = choose_columns(table, wanted, ("winner", "loser"))
    pairs = zip(
        texts(table.columns[names.winner]),
        texts(table.columns[names.loser]),
        strict=True,
    )
    reasons = ["" if all(pair) else "skipped_decisions" for pair in pairs]
    rows, notices = standing_rows(reasons, "decision", LEFT_OUT)
    if not rows:
        raise table.source.whole(
            "There is no decision: every winner or loser is empty."
        )
    said = f"winner from {names.winner!r}, loser from {names.loser!r}"
    if names.reviewer:
        said += f", annotator from {names.reviewer!r}"
    made = table.keep(rows)
    titles = _titles(asked.companion)
    return Long(made.columns, names, made.source, said, titles, notices)


def _titles(items: Table | None) -> dict[str, str]:
    if items is None:
        return {}
    if not items.why("id", "name"):
        raise items.source.whole(
            "Titles need the columns 'ID' and 'Name'. Gavel's own items.csv has no "
            "IDs: add them, or leave this file out."
        )
    return titled(items.texts("id"), items.texts("name"))


LAYOUT = Layout("gavel", "decisions of Gavel", recognise, take)
