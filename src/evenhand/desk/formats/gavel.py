"""Gavel: decisions.csv, one row for each choice between two projects.

Each decision is a reviewer of its own that saw two items, because one annotator's
decisions may contradict each other; the annotator stays in its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand._columns import Columns, find_columns
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
from evenhand.errors import counted

if TYPE_CHECKING:
    from evenhand.desk.formats.tables import Table

EXPORTS = {
    "decisions.csv": ("annotator id", "winner id", "loser id"),
    "items.csv": ("id", "name"),
}
"""The columns that mark each file; the second gives titles only."""


def recognise(table: Table) -> str:
    """Say why a table holds Gavel's decisions."""
    return why(table, *EXPORTS["decisions.csv"])


def take(table: Table, asked: Asked) -> Long:
    """Take one comparison from each decision.

    Examples:
        >>> from evenhand._labels import Source
        >>> from evenhand.desk.formats.tables import Table
        >>> columns = {"Annotator ID": ["7"], "Winner ID": ["2"], "Loser ID": ["5"]}
        >>> take(Table({**columns}, Source()), Asked()).said
        "winner from 'Winner ID', loser from 'Loser ID', annotator from 'Annotator ID'"
    """
    annotator, winner, loser = (find(table, name) for name in EXPORTS["decisions.csv"])
    wanted = Columns(
        reviewer=asked.columns.reviewer or annotator,
        winner=asked.columns.winner or winner,
        loser=asked.columns.loser or loser,
        item=asked.columns.item,
        score=asked.columns.score,
        rank=asked.columns.rank,
        pair=asked.columns.pair,
    )
    for part in ("winner", "loser"):
        if not getattr(wanted, part):
            raise no_column(table.source, part, table.columns)
    names = find_columns(list(table.columns), wanted, table.source)
    used = [name for name in (names.winner, names.loser, names.reviewer) if name]
    columns = {name: table.columns[name] for name in used}
    rows, notices = _made(
        table, texts(columns[names.winner]), texts(columns[names.loser])
    )
    said = f"winner from {names.winner!r}, loser from {names.loser!r}"
    if names.reviewer:
        said += f", annotator from {names.reviewer!r}"
    return Long(
        kept(columns, rows),
        names,
        lined(table.source, rows),
        said,
        _titles(asked.companion),
        notices,
    )


def _made(
    table: Table, winners: list[str], losers: list[str]
) -> tuple[list[int], tuple[Notice, ...]]:
    """Return the rows of decisions that were made, and say how many were not."""
    pairs = zip(winners, losers, strict=True)
    rows = [row for row, pair in enumerate(pairs) if all(pair)]
    if not rows:
        raise table.source.whole(
            "There is no decision: every winner or loser is empty."
        )
    if len(rows) == len(winners):
        return rows, ()
    skipped = counted(len(winners) - len(rows), "decision")
    text = f"{skipped} without a winner or a loser left out."
    return rows, (Notice("skipped_decisions", text),)


def _titles(items: Table | None) -> dict[str, str]:
    if items is None:
        return {}
    number, name = (find(items, mark) for mark in EXPORTS["items.csv"])
    if not number or not name:
        raise items.source.whole(
            "Titles need the columns 'ID' and 'Name'. Gavel's own items.csv has no "
            "IDs: add them, or leave this file out."
        )
    return titled(texts(items.columns[number]), texts(items.columns[name]))


LAYOUT = Layout("gavel", "decisions of Gavel", recognise, take)
