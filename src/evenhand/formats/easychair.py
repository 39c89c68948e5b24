"""EasyChair: review.csv, with submission.csv for titles.

The person who wrote a review is its reviewer: the subreviewer where one is named, else
the member of the committee. Of a review that was changed the newest version counts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evenhand.claims import Notice
from evenhand.errors import counted, shown
from evenhand.formats import layouts
from evenhand.formats.tables import plain, texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.formats.layouts import Asked, Long
    from evenhand.formats.tables import Table, Values

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
VERSION = re.compile("[0-9]{1,9}")
NOBODY = (
    "No reviewer is named: each review counts as a reviewer of its own, so no two "
    "scores can be compared as one person's."
)
LEFT_OUT = {
    "older_versions": "of an older version left out",
    "deleted_submissions": "of deleted submissions left out",
}


def take(table: Table, asked: Asked) -> Long:
    """Take one rating from each review.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import Asked
        >>> from evenhand.formats.tables import Table
        >>> columns = {"submission #": [5], "member #": [1], "scores": ["Score: -1"]}
        >>> take(Table(columns, Source()), Asked()).columns["Score"]
        ['-1']
    """
    given, submissions = asked.columns, table.companion
    item = table.named("item", given.item, "submission #", "submission", "paper #")
    titles, gone = _submissions(submissions)
    reasons = _reasons(table, texts(table.columns[item]), gone)
    table, notices = layouts.leave_out(table, reasons, "review", LEFT_OUT)
    if not table.height:
        raise table.source.whole("Every review is of a deleted submission.")
    if given.reviewer:
        writer = table.named("reviewer", given.reviewer)
        reviewer: tuple[str, Values] = repr(writer), table.columns[writer]
    else:
        place, people, more = _writers(table)
        reviewer, notices = (place, [*people]), notices + more
    score, values = _field(table, given.score)
    return layouts.rated(
        table.source,
        item=(repr(item), table.columns[item]),
        reviewer=reviewer,
        score=(score, [*values]),
        weight=[*_field(table, given.weight)[1]] if given.weight else None,
        titles=titles,
        notices=notices,
    )


def _submissions(
    table: Table | None,
) -> tuple[dict[str, str], set[str]]:
    """Return titles of submissions, and which were deleted."""
    if table is None:
        return {}, set()
    if not table.why("#", "title"):
        raise table.source.whole(
            "This is not submission.csv of EasyChair: it has no columns '#' and "
            "'title'. Give review.csv, with submission.csv as its companion."
        )
    numbers, marks = table.texts("#"), table.texts("deleted?")
    gone = {
        number
        for number, mark in zip(numbers, marks, strict=True)
        if mark.casefold() in ("yes", "true", "1")
    }
    return layouts.titled(numbers, table.texts("title")), gone


def _reasons(table: Table, items: list[str], gone: set[str]) -> list[str]:
    """Return why each review is left out, empty where it counts."""
    ages = []
    for row, version in enumerate(table.texts("version")):
        if version and not VERSION.fullmatch(version):
            raise table.source.at(
                row, f"version must be a whole number, got {shown(version)}"
            )
        ages.append(int(version or 0))
    # Without numbers, a subreviewer's review is not a version of the member's.
    number = table.find("number", "reviewer email")
    members = map(table.texts, ("member #", "member name", number))
    reviews = list(zip(items, *members, strict=True))
    newest: dict[tuple[str, ...], int] = {}
    for review, age in zip(reviews, ages, strict=True):
        newest[review] = max(newest.get(review, 0), age)
    return [
        "older_versions"
        if age < newest[review]
        else "deleted_submissions"
        if review[0] in gone
        else ""
        for review, age in zip(reviews, ages, strict=True)
    ]


def _writers(table: Table) -> tuple[str, list[str], list[Notice]]:
    """Return where writers were found, each review's, and what the reader must know."""
    parts = map(table.texts, ("reviewer first name", "reviewer last name"))
    written = [" ".join(filter(None, both)) for both in zip(*parts, strict=True)]
    emails, members, numbers = map(
        table.texts, ("reviewer email", "member name", "member #")
    )
    if not any((*emails, *written, *members, *numbers)):
        column = table.find("#")
        if not column:
            raise table.no_column("reviewer")
        return repr(column), table.texts(column), [Notice("pseudonyms", NOBODY)]
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
    return f"{column!r}{own}", people, [notice] if subreviews else []


def _field(table: Table, given: str) -> tuple[str, Sequence[object]]:
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
    fields: dict[str, Values] = {
        name: [cell.get(name) for cell in cells] for name in names
    }
    choices: dict[str, Sequence[object]] = {
        name: [*values]
        for name, values in fields.items()
        if layouts.may_be_scores(values)
    }
    if any(totals) and all(map(layouts.is_number, {*totals} - {""})):
        choices.setdefault(total, totals)
    if not choices and not column:
        raise table.source.whole(
            "The reviews have no column 'scores'. Download the conference's data again."
        )
    name = layouts.choose_score(given, list(choices), table.source)
    return name, choices[name]


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


LAYOUT = layouts.Layout(
    "easychair",
    "reviews of EasyChair",
    take,
    EXPORTS,
    only_scores=True,
    one_file=False,
)
