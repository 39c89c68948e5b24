"""The long form: one row per rating, columns found by name."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING

from evenhand._columns import find_columns
from evenhand.desk.formats.layouts import Asked, Layout, Long, find, texts, titled
from evenhand.errors import OptionError, RatingsError

if TYPE_CHECKING:
    from evenhand.desk.formats.tables import Table


def recognise(table: Table) -> str:
    """Say why a table is in long form: its columns are named for what they hold."""
    try:
        names = find_columns(list(table.columns), Asked().columns, table.source)
    except RatingsError:
        return ""
    *first, last = (repr(name) for name in astuple(names) if name)
    return f"columns {', '.join(first)} and {last}"


def take(table: Table, asked: Asked) -> Long:
    r"""Take ratings, ranks or comparisons from a table in long form.

    Examples:
        >>> from evenhand.desk.formats.files import File
        >>> from evenhand.desk.formats.tables import read_table
        >>> file = File("taste.tsv", b"winner\tloser\ntea\tmilk\n", "tsv")
        >>> take(read_table(file), Asked()).names.winner
        'winner'
    """
    if asked.companion is not None:
        raise OptionError(
            "companion must be left out for the long form: one file is all there is. "
            "If this is a platform's export, say which with format= or --format."
        )
    names = find_columns(list(table.columns), asked.columns, table.source)
    used = {
        part: column
        for part, column in zip(names.__slots__, astuple(names), strict=True)
        if column
    }
    said = ", ".join(f"{part} from {column!r}" for part, column in used.items())
    titles = {}
    title = find(table, "title", "item title", "paper title")
    if title and names.item and title not in used.values():
        titles = titled(texts(table.columns[names.item]), texts(table.columns[title]))
    columns = {column: table.columns[column] for column in used.values()}
    return Long(columns, names, table.source, said, titles)


LAYOUT = Layout("long", "the long form", recognise, take)
