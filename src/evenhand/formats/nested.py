"""Lists within records: the reviews of a paper, the votes of a country.

Each record of the list that is meant becomes a row with the fields of its parents. A
file that can be read without is read without.
"""

from __future__ import annotations

from dataclasses import astuple, replace
from typing import TYPE_CHECKING

from evenhand.columns import Columns, candidates, find_columns
from evenhand.errors import RatingsError, listing
from evenhand.formats.documents import LISTS, flat_fields, flatten, top_records
from evenhand.formats.layouts import layout_of
from evenhand.formats.tables import Table
from evenhand.ratings import NAMING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.formats.layouts import ReadOptions

Fields = dict[str, object]
Path = tuple[str, ...]
"""The keys of lists, from the outermost to that which is meant."""
READ_WHOLE = ("openreview", "hotcrp", "evaluation")
"""Layouts that take documents apart themselves."""
PARENT = "parent."
FILE = "file"


def unfold(table: Table, options: ReadOptions) -> tuple[Table, ReadOptions]:
    """Make a row of each record of the nested list that holds the ratings.

    Args:
        table: What a file holds.
        options: What the user said; `sheet` names the list.

    Returns:
        The table, the same if there is no such list or its rows are ratings already;
        and the options, with the file as the item if each file is one.

    Raises:
        RatingsError: If several lists may be meant.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import ReadOptions
        >>> votes = [{"judge": "Bo", "score": 12}, {"judge": "Cy", "score": 10}]
        >>> document = [{"entry": "Malta", "votes": votes}]
        >>> table = Table.of({"entry": ["Malta"]}, Source())
        >>> table, _ = unfold(replace(table, document=document), ReadOptions())
        >>> table.columns["entry"].to_list(), table.columns["score"].to_list()
        (['Malta', 'Malta'], [12, 10])
    """
    parents = top_records(table.document)
    lists = dict.fromkeys(path for parent in parents for path in _lists(parent))
    if options.format in READ_WHOLE[:2] or not lists:
        return _require_no_sheet(table, options), options
    if not options.sheet and _is_readable(table, options):
        return table, options
    tables = {path: _rows(table, parents, path) for path in lists}
    path = _choose(table, tables, options)
    if not path:
        return table, options
    table = tables[path]
    if FILE in table.columns and not candidates(
        "item", list(table.columns), options.columns
    ):
        options = replace(options, columns=replace(options.columns, item=FILE))
    return table, replace(options, sheet="")


def _require_no_sheet(table: Table, options: ReadOptions) -> Table:
    if options.sheet and table.document is not None:
        raise table.source.whole(
            f"There is no list {options.sheet!r} of records within records. Leave out "
            "sheet= or --sheet."
        )
    return table


def _lists(record: Fields, prefix: str = "") -> Iterator[Path]:
    """Yield the path of every list of records within a record."""
    for key, value in record.items():
        name = f"{prefix}{key.strip()}"
        if isinstance(value, dict):
            yield from _lists(value, f"{name}.")
        elif isinstance(value, list):
            inner = [entry for entry in value if isinstance(entry, dict)]
            if inner:
                yield (name,)
            for entry in inner:
                yield from ((name, *path) for path in _lists(entry))


def _is_readable(table: Table, options: ReadOptions) -> bool:
    """Return whether rows are ratings, by their columns or those the user named."""
    if any(layout_of(name).recognise(table, options) for name in READ_WHOLE):
        return True
    named = {part for name in astuple(options.columns) for part in name.split("+")}
    named -= {"", *NAMING}
    if named:
        return named <= table.columns.keys()
    try:
        find_columns(list(table.columns), Columns(), table.source)
    except RatingsError:
        return False
    return True


def _rows(table: Table, parents: list[Fields], path: Path) -> Table:
    rows: list[Fields] = []
    places: list[int] = []
    empty = 0
    for place, parent in enumerate(parents):
        for row in _unfold(parent, path):
            empty += not row
            if row:
                rows.append(row)
                places.append(place)
    source = table.source.keep(places)
    unfolded_table = Table.of(flatten(rows, source), source)
    if empty:
        unfolded_table = unfolded_table.warn("empty_lists", rows=empty, list=path[-1])
    return replace(unfolded_table, notices=table.notices + unfolded_table.notices)


def _unfold(record: Fields, path: Path) -> Iterator[Fields]:
    """Yield the fields of each record at the end of a path, with its parents'.

    A parent without any record yields an empty one.
    """
    if not path:
        yield flat_fields(record)
        return
    fields, inner = flat_fields(record), record.get(path[0])
    if inner is None:
        inner = record
        for key in path[0].split("."):
            inner = inner.get(key) if isinstance(inner, dict) else None
    records = top_records(inner) if isinstance(inner, list) else []
    if not records:
        yield {}
    for entry in records:
        for own in _unfold(entry, path[1:]):
            twice = fields.keys() & own.keys()
            shared = {PARENT + name: fields[name] for name in sorted(twice)}
            yield {**fields, **own, **shared} if own else {}


def _choose(table: Table, tables: dict[Path, Table], options: ReadOptions) -> Path:
    """Return the list that holds ratings, or nothing if the table is wide as it is."""
    names = {".".join(path): path for path in tables}
    if options.sheet:
        if options.sheet not in names:
            raise table.source.unknown("list", options.sheet, names)
        return names[options.sheet]
    sure = [path for path, rows in tables.items() if _is_readable(rows, options)]
    # What is inside a list of ratings has all the ratings' fields, too.
    sure = [
        path for path in sure if not any(path[:n] in sure for n in range(len(path)))
    ]
    if not sure and table.columns and layout_of("wide").recognise(table, options):
        return ()
    usual = [path for path in tables if path[-1] in LISTS]
    likely = sure or (usual if len(usual) == 1 else [*tables])
    if len(likely) > 1:
        several = [".".join(path) for path in likely]
        raise table.source.whole(
            f"Several lists of records may be meant: {listing(several)}. Say which "
            f"with sheet= or --sheet, as in --sheet {several[0]}."
        )
    return likely[0]
