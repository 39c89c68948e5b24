"""The long form: one row per rating, columns found by name."""

from __future__ import annotations

import re
from dataclasses import astuple, replace
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
SHARED = "A name has several e-mails, so reviewers are known by their e-mails."
AUTHORS = ("authors", "author", "author names", "author name", "author emails")
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
    names = find_columns(list(table.columns), asked.columns, table.source)
    email = ""
    if names.reviewer and not asked.columns.reviewer:
        email = _namesakes(table, names)
    columns = {name: table.columns[name] for name in astuple(names) if name}
    notices: tuple[Notice, ...] = ()
    if email:
        people = texts(columns.pop(names.reviewer))
        columns[email] = [*layouts.identify(table.texts(email), people, table.source)]
        names = replace(names, reviewer=email)
        notices = (Notice("shared_names", SHARED),)
    titles = _titles(table, names) if names.item else {}
    if names.reviewer and names.item:
        notices += layouts.numbered_anew(
            names.reviewer, columns[names.reviewer], columns[names.item]
        )
    said = layouts.say_columns(names, **{part: part for part in names.__slots__})
    items = texts(columns[names.item]) if names.item else []
    whose = table.texts(*AUTHORS) if items else []
    authors = layouts.titled(items, whose)
    return layouts.Long(columns, names, table.source, said, titles, notices, authors)


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


def _namesakes(table: Table, names: Columns) -> str:
    """Return the column of e-mails if one name goes with several: it is no person's."""
    column = next((name for name in table.columns if EMAIL.fullmatch(plain(name))), "")
    if column in ("", names.reviewer):
        return ""
    people, emails = texts(table.columns[names.reviewer]), texts(table.columns[column])
    items = texts(table.columns[names.item]) if names.item else [""] * len(people)
    rows = [row for row in zip(people, emails, items, strict=True) if row[1]]
    pairs = {(person, email) for person, email, _ in rows}
    shared = len(pairs) > len({person for person, _ in pairs})
    # An author's e-mail is the same in every row of an item, whoever rates it.
    one_each = len({row[1:] for row in rows}) == len({item for *_, item in rows})
    authors = one_each and len(pairs) > len({email for _, email in pairs})
    return column if shared and not authors else ""


LAYOUT = layouts.Layout("long", "the long form", take, tell=tell)
