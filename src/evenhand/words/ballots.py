"""An assignment to hand out: a workbook to fill in, and ballots to print."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evenhand.words.exports import new_workbook
from evenhand.words.text import distinct, templates

if TYPE_CHECKING:
    from evenhand.claims import Label
    from evenhand.designs.assignment import Assignment

ALL = "all"
# What Excel allows in the name of a sheet.
LONGEST_TAB, NOT_IN_TAB = 31, re.compile(r"[\[\]:*?/\\\x00-\x1f]|^'|'$")


def sheets(assignment: Assignment) -> bytes:
    """Write a workbook with a tab for each reviewer, and one that collects all scores.

    A tab has a row for each item and a column for the score. The tab "all" has a row
    for each item and a column for each reviewer, and shows what the other tabs hold;
    `read_ratings(..., sheet="all", rows="items")` reads it.

    Examples:
        >>> from evenhand.designs.drawing import assign
        >>> sheets(assign([1, 2], ["a"], design="coins", rng=7))[:2]
        b'PK'
    """
    book, file, bold, text = new_workbook()
    to_fill = book.add_format({"border": 1, "bg_color": "#FFF8DC"})
    everything = book.add_worksheet(ALL)
    everything.write_string(0, 0, "item", bold)
    place = {item: row for row, item in enumerate(assignment.items, start=1)}
    for item, row in place.items():
        everything.write_string(row, 0, str(item), text)
    tabs = _tabs(assignment.reviewers)
    for column, (reviewer, items) in enumerate(assignment.bundles().items(), start=1):
        everything.write_string(0, column, str(reviewer), bold)
        tab = book.add_worksheet(tabs[reviewer])
        tab.write_row(0, 0, ("reviewer", "item", "score"), bold)
        tab.set_column(0, 1, 30)
        quoted = tabs[reviewer].replace("'", "''")
        for row, item in enumerate(items, start=1):
            tab.write_string(row, 0, str(reviewer), text)
            tab.write_string(row, 1, str(item), text)
            tab.write_blank(row, 2, None, to_fill)
            cell = f"'{quoted}'!C{row + 1}"
            shown = f'=IF({cell}="","",{cell})'
            everything.write_formula(place[item], column, shown, to_fill, "")
    everything.set_column(0, 0, 30)
    everything.freeze_panes(1, 1)
    book.close()
    return file.getvalue()


def _tabs(reviewers: tuple[Label, ...]) -> dict[Label, str]:
    """Name a tab for each reviewer, as Excel allows it, and no two the same."""
    plain = [
        NOT_IN_TAB.sub("_", str(reviewer))[:LONGEST_TAB] or "_"
        for reviewer in reviewers
    ]
    names = distinct(plain, "{:.24} ({})", taken=[ALL, "history"])
    return dict(zip(reviewers, names, strict=True))


def ballots(assignment: Assignment) -> str:
    """Write a page for each reviewer to print: their items, and room for scores.

    Examples:
        >>> from evenhand.designs.drawing import assign
        >>> "<h1>a</h1>" in ballots(assign([1, 2], ["a"], design="coins", rng=7))
        True
    """
    page = templates().get_template("ballots.html.j2")
    return page.render(bundles=assignment.bundles(), seal=assignment.seal)
