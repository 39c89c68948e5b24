"""The long form: one row per rating or comparison, columns found by name; Gavel.

Gavel's decisions.csv has one row for each choice between two projects. Each is a
reviewer of its own that saw two items, because one annotator's decisions may contradict
each other; the annotator stays in its name.
"""

from __future__ import annotations

import re
from dataclasses import asdict, astuple, replace

import polars as pl

from evenhand.columns import ALIASES, ID, NUMBER, Columns, find_columns, is_alias
from evenhand.errors import RatingsError
from evenhand.formats import layouts, roles
from evenhand.formats.tables import Table, plain, strings

NAMES = ALIASES["item"] - {"item"} | {""}
"""An item's other name: "project" beside "project id", or a bare "name"."""
AUTHORS = ("authors", "author", "author names", "author name", "author emails")
EMAIL = re.compile(r"(?:reviewer |judge )?e ?mail(?: address)?")
FIRST = 1000
DECISIONS = layouts.has_columns(("annotator id", "winner id", "loser id"))
"""The columns that mark Gavel's file."""


def recognise(table: Table, _: layouts.ReadOptions) -> str:
    """Say why a table is in long form: its columns are named for what they hold."""
    try:
        declared = roles.guess_columns(table, Columns())
        names = find_columns(list(table.columns), declared, table.source)
    except RatingsError:
        return ""
    return table.why(*filter(None, astuple(names)))


def read(table: Table, options: layouts.ReadOptions) -> layouts.LongForm:
    r"""Take ratings, ranks or comparisons from a table in long form.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import ReadOptions
        >>> table = Table.of({"winner": ["tea"], "loser": ["milk"]}, Source())
        >>> read(table, ReadOptions()).origin
        "winner from 'winner', loser from 'loser'"
    """
    declared = roles.guess_columns(table, options.columns)
    names = find_columns(list(table.columns), declared, table.source)
    email = "" if options.columns.reviewer else _namesakes(table, names)
    if email:
        people = table.texts(names.reviewer)
        emails = roles.identify(table.texts(email), people, table.source)
        table = replace(table, columns={**table.columns, email: pl.Series(emails)})
        table, names = (
            table.warn("shared_names"),
            replace(names, reviewer=email),
        )
    if names.score and not (options.columns.score or options.scale):
        table, names = roles.prefer_numbers(table, names, options)
        table = roles.name_other_scores(table, names)
    used = {part: name for part, name in asdict(names).items() if name}
    origin = ", ".join(f"{part} from {name!r}" for part, name in used.items())
    if names.score and not (names.confidence or names.weight):
        free = {name: values for name, values in table.columns.items() if name}
        origin += roles.offer_confidence(roles.among(free, table.source))
    if not names.item:
        return layouts.LongForm(table, names, origin)
    seats = False
    if names.reviewer and names.score and options.people is None:
        named = bool(options.columns.reviewer)
        table = roles.check_sections(table, names, named=named)
        table, seats = roles.find_seats(table, names.reviewer, names.item)
    whose = table.texts(*AUTHORS) if table.find(*AUTHORS) else ()
    authors = roles.titles_by_item(table.texts(names.item), whose) if whose else {}
    titles = _titles(table, names)
    return layouts.LongForm(table, names, origin, titles, authors, seats=seats)


def _titles(table: Table, names: Columns) -> dict[str, str]:
    """Return items' titles: a column called so, or one name for each item's id."""
    free = [name for name in table.columns if name not in astuple(names)]
    called = [name for name in free if roles.TITLE.fullmatch(plain(name))]
    called += [name for name in free if is_alias(name, NAMES) and not ID.search(name)]
    for name in called:
        items, cells = table.texts(names.item), table.texts(name)
        titles = roles.titles_by_item(items, cells)
        pairs = zip(items, cells, strict=True)
        if all(titles.get(item, "") == cell for item, cell in pairs if item and cell):
            return titles
    texts = (name for name in free if table.columns[name].dtype == pl.String)
    texts = (name for name in texts if plain(name) not in AUTHORS and not called)
    return next(
        filter(None, (_one_to_one(table, names.item, name) for name in texts)), {}
    )


def _one_to_one(table: Table, item: str, name: str) -> dict[str, str]:
    """Return the texts of a column that goes with the item, and empty of another."""
    pairs = pl.DataFrame()
    # The first rows tell of most columns that they are none.
    for rows in (FIRST, table.height):
        columns = (strings(table.columns[column].head(rows)) for column in (item, name))
        pairs = pl.DataFrame(
            dict(zip(("item", "title"), columns, strict=True))
        ).unique()
        alike = pairs["item"].n_unique() == pairs["title"].n_unique() == pairs.height
        if not alike or pairs.height == 1 or 2 * pairs.height > min(rows, table.height):
            return {}
    words = not pairs["title"].str.contains(NUMBER).any()
    return dict(pairs.select("item", "title").rows()) if words else {}


def _namesakes(table: Table, names: Columns) -> str:
    """Return the column of e-mails if one name goes with several: it is no person's."""
    column = next((name for name in table.columns if EMAIL.fullmatch(plain(name))), "")
    if not column:
        return ""
    columns = map(table.texts, (names.reviewer, column, names.item))
    rows = {row for row in zip(*columns, strict=True) if row[1]}
    pairs = {(person, email) for person, email, _ in rows}
    shared = len(pairs) > len({person for person, _ in pairs})
    # An author's e-mail is the same in every row of an item, whoever rates it.
    one_each = len({row[1:] for row in rows}) == len({item for *_, item in rows})
    authors = one_each and len(pairs) > len({email for _, email in pairs})
    return column if shared and not authors else ""


def read_gavel(table: Table, options: layouts.ReadOptions) -> layouts.LongForm:
    """Take one comparison from each decision.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import ReadOptions
        >>> columns = {"Annotator ID": ["7"], "Winner ID": ["2"], "Loser ID": ["5"]}
        >>> read_gavel(Table.of(columns, Source()), ReadOptions()).origin
        "reviewer from 'Annotator ID', winner from 'Winner ID', loser from 'Loser ID'"
    """
    sides = {
        part: table.column_for(part, getattr(options.columns, part), f"{part} id")
        for part in ("winner", "loser")
    }
    options = replace(options, columns=replace(options.columns, **sides))
    skipped = (table.cells(sides["winner"]) == "") | (table.cells(sides["loser"]) == "")
    reasons = {"skipped_decisions": skipped}
    return read(table.leave_out("decision", reasons), options)


LONG = layouts.Layout("long", "the long form", recognise, read, only_scores=False)
GAVEL = layouts.Layout(
    "gavel", "decisions of Gavel", DECISIONS, read_gavel, only_scores=False
)
