"""EasyChair: review.csv, with submission.csv for titles.

The person who wrote a review is its reviewer: the subreviewer where one is named, else
the member of the committee. Of a review that was changed the newest version counts.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from evenhand.errors import quote
from evenhand.formats import layouts, roles
from evenhand.formats.scale import may_be_scores

if TYPE_CHECKING:
    from evenhand.formats.tables import Reasons, Table

EXPORTS = layouts.has_columns(
    ("submission #", "member #", "scores"), ("#", "submission #", "scores")
)
"""The columns that mark review.csv, with and without members."""
TOTAL = "total score"
FIELD = re.compile(
    r"(.+?)\s*:\s*([+-]?[0-9]+(?:\.[0-9]+)?)\s*(?:\([^()]*\)|[:-]\s*[^\W\d][^:]*)?"
)
"""A field and its number, which words may explain: "-1: weak reject"."""
WRITERS = (
    *("member name", "member #", "reviewer email"),
    *("reviewer first name", "reviewer last name"),
)


def read(table: Table, options: layouts.ReadOptions) -> layouts.LongForm:
    """Take one rating from each review.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import ReadOptions
        >>> from evenhand.formats.tables import Table
        >>> columns = {"submission #": [5], "member #": [1], "scores": ["Score: -1"]}
        >>> read(Table.of(columns, Source()), ReadOptions()).table.texts("Score")
        ['-1']
    """
    own = ("submission #", "submission", "paper #")
    item = table.column_for("item", options.columns.item, *own)
    submissions = roles.companion(table, "#", "title")
    titles, gone = {}, pl.Series(dtype=pl.String)
    if submissions is not None:
        numbers, marks = submissions.cells("#"), submissions.cells("deleted?")
        titles = roles.titles_by_item(numbers, submissions.texts("title"))
        gone = numbers.filter(marks.str.to_lowercase().is_in(("yes", "true", "1")))
    table = table.leave_out("review", _left_out(table, item, gone))
    return roles.long_form(
        table, options, partial(_field, table), item, _writers, titles
    )


def _left_out(table: Table, item: str, gone: pl.Series) -> Reasons:
    """Return the reviews that do not count, by the reason."""
    # Without numbers, a subreviewer's review is not a version of the member's.
    number = table.find("number", "reviewer email")
    names = (item, "member #", "member name", number)
    reviews = {str(place): table.cells(name) for place, name in enumerate(names)}
    versions = table.cells("version")
    for row in versions.str.contains(r"\D").arg_true():
        text = f"version must be a whole number, got {quote(versions[row])}"
        raise table.source.at(row, text)
    ages = versions.cast(pl.Int64, strict=False).fill_null(0)
    rows = pl.DataFrame({**reviews, "age": ages})
    newest = rows.select(pl.max("age").over(*reviews))["age"]
    deleted = table.cells(item).is_in(gone.implode())
    return {
        "older_versions": ages < newest,
        "deleted_submissions": deleted,
    }


def _writers(table: Table) -> roles.Writers:
    """Return where and who wrote each review, and what the reader must know."""
    columns = [table.texts(name) for name in WRITERS]
    if not any(map(any, columns)):
        column = table.column_for("reviewer", "", "#")
        return (repr(column), table.cells(column)), table.warn(
            "pseudonyms", case="easychair"
        )
    rows = list(zip(*columns, strict=True))
    members = Counter(name for name, _ in {row[:2] for row in rows})
    names, subreviews = [], 0
    for member, number, email, *parts in rows:
        written = " ".join(filter(None, parts))
        another = bool(written) and written.casefold() != member.casefold()
        # Two members of one name are distinguished by their numbers.
        shared = member and members[member] > 1
        own = f"{member} (member {number})" if shared else member or number
        # An e-mail without a name may be the subreviewer's.
        own = "" if email and not written else own
        names.append(written if another else own)
        subreviews += another and bool(member)
    if subreviews:
        table = table.warn("subreviews", reviews=subreviews)
    column = table.find(*WRITERS)
    own = " (or who wrote it, where that is said)" if any(map(any, columns[2:])) else ""
    people = roles.identify(columns[2], names, table.source)
    return (f"{column!r}{own}", people), table


def _field(table: Table, wanted: str) -> roles.Place:
    """Choose a field of the column of scores, or the total beside it."""
    cells = []
    for row, cell in enumerate(table.texts("scores")):
        lines = [_parse_field(line) for line in cell.splitlines()]
        cells.append(dict(lines))
        named = [name for name, _ in lines if name]
        if cell and len({*named}) < max(len(named), 1):
            rule = "scores must be lines such as 'Score: 2', each field once"
            raise table.source.at(row, f"{rule}, got {quote(cell)}")
    names = dict.fromkeys(name for cell in cells for name in cell if name)
    fields: dict[str, roles.Values] = {table.find(TOTAL): table.cells(TOTAL)}
    fields |= {name: [cell.get(name) for cell in cells] for name in names}
    scores = {
        name: values
        for name, values in fields.items()
        if name and may_be_scores(values)
    }
    return roles.among(scores, table.source)(wanted)


def _parse_field(line: str) -> tuple[str, str]:
    """Read a line of a cell: a field and its value."""
    match = FIELD.fullmatch(line.strip())
    name, value = (match[1], match[2]) if match else line.rpartition(":")[::2]
    return name.strip(), value.strip()


EASYCHAIR = layouts.Layout(
    "easychair", "reviews of EasyChair", EXPORTS, read, one_file=False
)
