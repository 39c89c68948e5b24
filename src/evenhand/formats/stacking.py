"""Several files of one kind: put below each other, with the name of the file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evenhand.columns import Source
from evenhand.errors import listing
from evenhand.formats.documents import flatten, top_records
from evenhand.formats.tables import Table, strings

if TYPE_CHECKING:
    from collections.abc import Sequence

FILE = "file"
"""Column of the file's name."""


class FileLine(int):
    """A row's number among those of all files, shown as its file and its line there."""

    text = ""

    @classmethod
    def at(cls, row: int, text: str) -> FileLine:
        """Return the place of a row."""
        place = cls(row)
        place.text = text
        return place

    def __format__(self, _: str) -> str:
        """Return the file and the line."""
        return self.text


def stack_tables(tables: Sequence[Table]) -> Table:
    """Put tables of one kind below each other, with a column of the file's name.

    Raises:
        RatingsError: If they are not of one kind.

    Examples:
        >>> files = [Table.of({"item": [name]}, Source(f"{name}.csv")) for name in "xy"]
        >>> stack_tables(files).columns["file"].to_list()
        ['x', 'y']
    """
    first = tables[0]
    for table in tables[1:]:
        _require_alike(first, table)
    names = [str(table.source.name) for table in tables]
    stems = [PurePath(name).stem for name in names]
    # Files of several folders may be told apart by these.
    folders = {PurePath(name).parent for name in names}
    if len({*stems}) < len(stems) or len(folders) > 1:
        stems = names
    if first.document is not None:
        records = [
            {FILE: stem, **record}
            for table, stem in zip(tables, stems, strict=True)
            for record in top_records(table.document)
        ]
        source = _shared_source(tables, [len(top_records(t.document)) for t in tables])
        table = Table.of(flatten(records, source), source)
        return replace(table, document=records)
    heights = [table.height for table in tables]
    files = [
        stem for stem, height in zip(stems, heights, strict=True) for _ in range(height)
    ]
    columns = {FILE: pl.Series(files)}
    for name in first.columns:
        columns[name] = _below([table.columns[name] for table in tables])
    corners = [table.corner for table in tables if table.corner is not None]
    notices = dict.fromkeys(notice for table in tables for notice in table.notices)
    return replace(
        first,
        columns=columns,
        source=_shared_source(tables, heights),
        corner=_below(corners) if corners else None,
        nameless=any(table.nameless for table in tables),
        commas=any(table.commas for table in tables),
        notices=tuple(notices),
    )


def _below(columns: Sequence[pl.Series]) -> pl.Series:
    alike = len({column.dtype for column in columns}) == 1
    return pl.concat(columns if alike else [*map(strings, columns)])


def _shared_source(tables: Sequence[Table], heights: Sequence[int]) -> Source:
    """Return the source of all rows, of which each names its file."""
    ends = np.cumsum(heights)

    def line(row: int) -> FileLine:
        place = int(np.searchsorted(ends, row, side="right"))
        source, inside = tables[place].source, row - int(ends[place]) + heights[place]
        text = f"{source.name}, {source.place(inside)}"
        return FileLine.at(row, text)

    return Source(f"{len(tables)} files", line, "file")


def _require_alike(first: Table, table: Table) -> None:
    """Refuse a file that is of another kind than the first."""
    keys, own = (
        {*file.columns, *(key for part in top_records(file.document) for key in part)}
        for file in (first, table)
    )
    kinds = [(file.document is None, file.corner is None) for file in (first, table)]
    # Records may leave out what is not known.
    enough = min(len(keys), len(own)) / 2 if first.document else len(keys | own)
    if kinds[0] != kinds[1] or len(keys & own) < enough:
        raise table.source.whole(
            f"Its columns differ from {first.source.name}: "
            f"{listing(sorted(keys ^ own))}. Give files of one kind, or one file at a "
            "time."
        )
