"""The long form: one row per rating, columns found by name."""

from __future__ import annotations

import re
from dataclasses import astuple
from typing import TYPE_CHECKING

from evenhand.claims import Notice
from evenhand.columns import ALIASES, ID, Columns, find_columns, is_alias
from evenhand.errors import RatingsError
from evenhand.formats import layouts
from evenhand.formats.tables import plain, texts

if TYPE_CHECKING:
    from evenhand.formats.layouts import Asked, Long
    from evenhand.formats.tables import Table

TITLE = re.compile(r"(?:(?:item|paper|submission|project) )?title")
NAMES = ALIASES["item"] - {"item"} | {""}
"""An item's other name: "project" beside "project id", or a bare "name"."""
EMAIL = re.compile(
    f"(?:(?:{'|'.join(sorted(ALIASES['reviewer']))}) )?e ?mail(?: address)?"
)


def tell(table: Table) -> str:
    """Say why a table is in long form: its columns are named for what they hold."""
    try:
        names = find_columns(list(table.columns), Columns(), table.source)
    except RatingsError:
        return ""
    return table.why(*filter(None, astuple(names)))


def take(table: Table, asked: Asked) -> Long:
    r"""Take ratings, ranks or comparisons from a table in long form.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import Asked
        >>> from evenhand.formats.tables import Table
        >>> table = Table({"winner": ["tea"], "loser": ["milk"]}, Source())
        >>> take(table, Asked()).names.winner
        'winner'
    """
    names = _columns(table, asked)
    columns = {name: table.columns[name] for name in astuple(names) if name}
    notices: tuple[Notice, ...] = ()
    if names.reviewer and not asked.columns.reviewer:
        notices = _namesakes(table, texts(columns[names.reviewer]))
    titles = _titles(table, names) if names.item else {}
    if names.reviewer and names.item:
        notices += layouts.numbered_anew(
            names.reviewer, columns[names.reviewer], columns[names.item]
        )
    said = layouts.say_columns(names, **{part: part for part in names.__slots__})
    items = texts(columns[names.item]) if names.item else []
    whose = table.texts(*layouts.AUTHORS) if items else []
    authors = layouts.titled(items, whose)
    return layouts.Long(columns, names, table.source, said, titles, notices, authors)


def _columns(table: Table, asked: Asked) -> Columns:
    try:
        return find_columns(list(table.columns), asked.columns, table.source)
    except RatingsError as error:
        from evenhand.formats.wide import may_be_wide  # noqa: PLC0415 - few fail

        headless = any(layouts.is_number(name) for name in table.columns)
        if asked.columns != Columns() or headless or not may_be_wide(table):
            raise
        raise RatingsError(
            f"{error} If there is a column for each reviewer or for each item, say "
            "what the rows are with rows= or --rows."
        ) from None


def _titles(table: Table, names: Columns) -> dict[str, str]:
    """Return items' titles: a column called so, or one name for each item's id."""
    items = texts(table.columns[names.item])
    free = [name for name in table.columns if name not in astuple(names)]
    called = [name for name in free if TITLE.fullmatch(plain(name))]
    called += [name for name in free if is_alias(name, NAMES) and not ID.search(name)]
    for name in called:
        cells = texts(table.columns[name])
        found = layouts.titled(items, cells)
        pairs = zip(items, cells, strict=True)
        if all(found.get(item, "") == cell for item, cell in pairs if item and cell):
            return found
    return {}


def _namesakes(table: Table, people: list[str]) -> tuple[Notice, ...]:
    """Tell of a name that stands beside several e-mails: it may be two people's."""
    column = next((name for name in table.columns if EMAIL.fullmatch(plain(name))), "")
    emails: dict[str, set[str]] = {}
    for person, email in zip(people, table.texts(column), strict=True):
        emails.setdefault(person, set()).update(filter(None, [email]))
    shared = [person for person, them in emails.items() if len(them) > 1]
    text = (
        f"Column {column!r} has several e-mails beside one name. If they are the "
        f"reviewers', say --reviewer {column!r}: two people of one name count as one."
    )
    return (Notice("shared_names", text),) if shared else ()


LAYOUT = layouts.Layout("long", "the long form", take, tell=tell)
