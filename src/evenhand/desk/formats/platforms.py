"""Which platform a table came from."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from evenhand.desk.formats import (
    canvas,
    cmt,
    easychair,
    gavel,
    hotcrp,
    long,
    moodle,
    openreview,
    wide,
)
from evenhand.errors import OptionError, RatingsError, listing

if TYPE_CHECKING:
    from evenhand.desk.formats.layouts import Asked, Layout, Long
    from evenhand.desk.formats.tables import Table

PLATFORMS: dict[str, Layout] = {
    one.LAYOUT.name: one.LAYOUT
    for one in (
        hotcrp,
        openreview,
        cmt,
        easychair,
        moodle,
        canvas,
        gavel,
        wide,
        long,
    )
}
"""Every layout by its name, in the order in which they are tried."""
MARKS = tuple(mark for one in PLATFORMS.values() for mark in one.header_marks)


def recognised(
    table: Table, asked: Asked, layout: Layout | None = None
) -> tuple[Layout, str]:
    """Tell a table's layout, and why.

    Args:
        table: The table.
        asked: What the user said; columns for reviewer and item make it long.
        layout: The one that the user named.

    Returns:
        The layout and the reason, empty if the user named it.

    Raises:
        RatingsError: If it may be one of several.

    Examples:
        >>> from evenhand._labels import Source
        >>> from evenhand.desk.formats.layouts import Asked
        >>> from evenhand.desk.formats.tables import Table
        >>> table = Table({"judge": ["a"], "entry": ["x"], "mark": ["1"]}, Source())
        >>> recognised(table, Asked())[1]
        "columns 'judge', 'entry' and 'mark'"
    """
    if asked.rows and layout not in (None, wide.LAYOUT):
        raise OptionError(
            "rows must be left out: it says which way round a wide table is."
        )
    if layout is not None and layout not in (wide.LAYOUT, long.LAYOUT):
        return replace(layout, take=partial(_take_named, layout)), ""
    if layout is not None or asked.rows:
        return layout or wide.LAYOUT, ""
    columns = asked.columns
    if (columns.reviewer and columns.item) or columns.winner or columns.rank:
        return long.LAYOUT, ""
    reasons = {
        name: reason
        for name, one in PLATFORMS.items()
        if name not in ("wide", "long") and (reason := one.recognise(table))
    }
    if len(reasons) > 1:
        raise table.source.whole(
            f"The file may come from {listing(reasons)}. Say which with format= or "
            "--format."
        )
    for name, reason in reasons.items():
        return PLATFORMS[name], reason
    for last in (long.LAYOUT, wide.LAYOUT):
        reason = last.recognise(table)
        if reason:
            return last, reason
    return long.LAYOUT, ""


def _take_named(layout: Layout, table: Table, asked: Asked) -> Long:
    """Take what the user named; if that fails, say what the file looks like."""
    try:
        return layout.take(table, asked)
    except RatingsError:
        if layout.recognise(table):
            raise
        for other in PLATFORMS.values():
            if reason := other.recognise(table):
                raise table.source.whole(
                    f"The file does not look like {layout.title}, but like "
                    f"{other.title}, by {reason}. Leave format= or --format out."
                ) from None
        raise
