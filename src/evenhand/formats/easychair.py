"""EasyChair: review.csv, with submission.csv for titles.

The person who wrote a review is its reviewer: the subreviewer where one is named, else
the member of the committee. Of a review that was changed the newest version counts.
"""

from __future__ import annotations

import re
from functools import partial

import polars as pl

from evenhand.claims import Notice
from evenhand.errors import counted, shown
from evenhand.formats import layouts
from evenhand.formats.scale import is_number, may_be_scores
from evenhand.formats.tables import Reasons, Table, plain

EXPORTS = {
    "review.csv": ("submission #", "member #", "scores"),
    "review.csv, no members": ("#", "submission #", "scores"),
}
"""The columns that mark each file."""
TOTAL = "total score"
FIELD = re.compile(
    r"(.+?)\s*:\s*([+-]?[0-9]+(?:\.[0-9]+)?)\s*(?:\([^()]*\)|[:-]\s*[^\W\d][^:]*)?"
)
"""A field and its number, which words may explain: "-1: weak reject"."""
VERSION = "^[0-9]{0,9}$"
NOBODY = (
    "No reviewer is named: each review counts as a reviewer of its own, so no two "
    "scores can be compared as one person's."
)


def take(table: Table, asked: layouts.Asked) -> layouts.Long:
    """Take one rating from each review.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import Asked
        >>> columns = {"submission #": [5], "member #": [1], "scores": ["Score: -1"]}
        >>> take(Table.of(columns, Source()), Asked()).table.columns["Score"].to_list()
        ['-1']
    """
    own = ("submission #", "submission", "paper #")
    item = table.named("item", asked.columns.item, *own)
    titles, gone = _submissions(table.companion)
    table, notices = table.leave_out("review", _left_out(table, item, gone))
    if not table.height:
        raise table.source.whole("Every review is of a deleted submission.")
    return layouts.rated(
        table,
        asked,
        partial(_field, table),
        item=item,
        reviewer=_writers,
        titles=titles,
        notices=notices,
    )


def _submissions(table: Table | None) -> tuple[dict[str, str], set[str]]:
    """Return titles of submissions, and which were deleted."""
    if table is None:
        return {}, set()
    if not table.why("#", "title"):
        raise table.source.whole(
            "This is not submission.csv of EasyChair: it has no columns '#' and "
            "'title'. Give review.csv, with submission.csv as its companion."
        )
    deleted = table.cells("deleted?").str.to_lowercase().is_in(("yes", "true", "1"))
    titles = layouts.titled(table.texts("#"), table.texts("title"))
    return titles, {*table.cells("#").filter(deleted)}


def _left_out(table: Table, item: str, gone: set[str]) -> Reasons:
    """Return the reviews that do not count, by the reason."""
    versions = table.cells("version")
    for row in (~versions.str.contains(VERSION)).arg_true():
        text = f"version must be a whole number, got {shown(versions[row])}"
        raise table.source.at(row, text)
    # Without numbers, a subreviewer's review is not a version of the member's.
    number = table.find("number", "reviewer email")
    names = (item, "member #", "member name", number)
    reviews = {str(place): table.cells(name) for place, name in enumerate(names)}
    ages = versions.cast(pl.Int64, strict=False).fill_null(0).alias("age")
    newest = pl.DataFrame({**reviews, "age": ages}).select(
        pl.col("age").max().over(list(reviews))
    )
    deleted = table.cells(item).is_in(list(gone))
    return {
        "older_versions": ("of an older version left out", ages < newest["age"]),
        "deleted_submissions": ("of deleted submissions left out", deleted),
    }


def _writers(table: Table) -> layouts.Writers:
    """Return where and who wrote each review, and what the reader must know."""
    parts = map(table.texts, ("reviewer first name", "reviewer last name"))
    written = [" ".join(filter(None, both)) for both in zip(*parts, strict=True)]
    emails, members, numbers = map(
        table.texts, ("reviewer email", "member name", "member #")
    )
    if not any((*emails, *written, *members, *numbers)):
        column = table.find("#")
        if not column:
            raise table.no_column("reviewer")
        return (repr(column), table.cells(column)), [Notice("pseudonyms", NOBODY)]
    # Two members of one name are distinguished by their numbers.
    pairs = set(zip(members, numbers, strict=True))
    named = [member for member, _ in pairs]
    labels = {
        (member, number): f"{member} (member {number})"
        if member and named.count(member) > 1
        else member or number
        for member, number in pairs
    }
    names, subreviews = [], 0
    for email, name, member, number in zip(
        emails, written, members, numbers, strict=True
    ):
        another = bool(name) and name.casefold() != member.casefold()
        # An e-mail without a name may be the subreviewer's.
        own = "" if email and not name else labels[member, number]
        names.append(name if another else own)
        subreviews += another and bool(member)
    text = f"{counted(subreviews, 'review')} written by a subreviewer: the reviewer is "
    notice = Notice("subreviews", f"{text}who wrote it, not the member.")
    column = table.find("member name", "member #", "reviewer email") or "reviewer"
    own = " (or who wrote it, where that is said)" if any((*emails, *written)) else ""
    people = layouts.identify(emails, names, table.source)
    return (f"{column!r}{own}", people), [notice] if subreviews else []


def _field(table: Table, given: str) -> layouts.Place:
    """Choose a field of the column of scores, or the total beside it."""
    total, totals = table.find(TOTAL), table.texts(TOTAL)
    if total and plain(given) == TOTAL:
        return total, totals
    column = table.find("scores")
    cells = [
        _parsed(cell, column, row, table) if cell else {}
        for row, cell in enumerate(table.texts("scores"))
    ]
    names = dict.fromkeys(name for cell in cells for name in cell)
    fields: dict[str, layouts.Values] = {
        name: values
        for name in names
        if may_be_scores(values := [cell.get(name) for cell in cells])
    }
    if any(totals) and all(map(is_number, {*totals} - {""})):
        fields.setdefault(total, totals)
    if not fields and not column:
        raise table.source.whole(
            "The reviews have no column 'scores'. Download the conference's data again."
        )
    return layouts.among(fields, table.source)(given)


def _parsed(cell: str, column: str, row: int, table: Table) -> dict[str, str]:
    """Read the lines of one cell: a field and its value on each."""
    found: dict[str, str] = {}
    for line in cell.splitlines():
        match = FIELD.fullmatch(line.strip())
        parts = (match[1], match[2]) if match else line.rpartition(":")[::2]
        name, value = (part.strip() for part in parts)
        if name in found:
            raise table.source.at(
                row, f"{column} must name each field once, got {shown(name)} twice"
            )
        if name:
            found[name] = value
    if not found:
        raise table.source.at(
            row, f"{column} must be lines such as 'Score: 2', got {shown(cell)}"
        )
    return found


EASYCHAIR = layouts.Layout(
    "easychair", "reviews of EasyChair", take, EXPORTS, one_file=False
)
