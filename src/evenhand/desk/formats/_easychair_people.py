"""Who wrote each of EasyChair's reviews, and which version of it counts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evenhand._labels import CANONICAL_INTEGER, shown
from evenhand._results import Notice
from evenhand.desk.formats._people import identified
from evenhand.desk.formats.layouts import (
    cells_of,
    find,
    no_column,
    texts,
)
from evenhand.errors import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.desk.formats.tables import Table


def writers(
    table: Table, standing: list[int], notices: list[Notice]
) -> tuple[str, str, list[str]]:
    """Return the writer of each review: e-mail, name, or member, the first there is.

    Args:
        table: The reviews.
        standing: Rows that count; only these are told of in notices.
        notices: Where to add what the reader must know.

    Returns:
        A column's name, where writers were taken from in words, and each row's writer.

    Examples:
        >>> from evenhand._labels import Source
        >>> from evenhand.desk.formats.tables import Table
        >>> columns = {"member #": [7, 8], "reviewer email": ["", "bo@example.org"]}
        >>> writers(Table({**columns}, Source()), [0, 1], [])[2]
        ['7', 'bo@example.org']
    """
    first, last = (
        cells_of(table, f"reviewer {part} name") for part in ("first", "last")
    )
    names = [f"{one} {two}".strip() for one, two in zip(first, last, strict=True)]
    emails, members, numbers = (
        cells_of(table, name) for name in ("reviewer email", "member name", "member #")
    )
    rows = list(zip(emails, names, members, numbers, strict=True))
    if not any(any(row) for row in rows):
        return _unnamed(table, notices)
    people = identified(*_known(rows), table.source)
    others = sum(_is_other(rows[row][1], rows[row][2]) for row in standing)
    if others:
        text = f"{counted(others, 'review')} written by a subreviewer: the reviewer is "
        notices.append(Notice("subreviews", f"{text}who wrote it, not the member."))
    column = find(table, "member name", "member #", "reviewer email") or "reviewer"
    own = " (or who wrote it, where that is said)" if any(emails) or any(names) else ""
    return column, f"{column!r}{own}", people


def _known(
    rows: Sequence[tuple[str, str, str, str]],
) -> tuple[list[str], list[str]]:
    """Return what is known for sure of each row's writer, and the writer's name."""
    labels = _member_labels(rows)
    sure, names = [], []
    for email, name, member, number in rows:
        label = labels[member, number]
        in_person = not name or name.casefold() == member.casefold()
        # A label other than the name is an e-mail or a number, and good by itself.
        told = in_person and label != member
        sure.append(email or (label if told else ""))
        names.append(name if email else "" if told else name or member)
    return sure, names


def _is_other(name: str, member: str) -> bool:
    return bool(name and member) and name.casefold() != member.casefold()


def _unnamed(table: Table, notices: list[Notice]) -> tuple[str, str, list[str]]:
    """Call each review by its own number where nobody is named."""
    column = find(table, "#")
    if not column:
        raise no_column(table.source, "reviewer", list(table.columns))
    text = (
        "No reviewer is named: each review counts as a reviewer of its own, so no two "
        "scores can be compared as one person's."
    )
    notices.append(Notice("pseudonyms", text))
    return column, repr(column), texts(table.columns[column])


def _member_labels(
    rows: Sequence[tuple[str, str, str, str]],
) -> dict[tuple[str, str], str]:
    """Return what to call each member, by name and number.

    The e-mail is taken from a review that the member wrote in person, if one shows it;
    two members of one name are told apart by their numbers.
    """
    emails = {
        (member, number): email
        for email, name, member, number in rows
        if email and name.casefold() == member.casefold()
    }
    numbers: dict[str, set[str]] = {}
    for _, _, member, number in rows:
        numbers.setdefault(member, set()).add(number)
    labels = {}
    for _, _, member, number in rows:
        shared = bool(number) and len(numbers[member]) > 1
        name = f"{member} (member {number})" if member and shared else member or number
        labels[member, number] = emails.get((member, number), name)
    return labels


def newest(table: Table, items: list[str], notices: list[Notice]) -> list[int]:
    """Return the rows of the newest version of each review.

    Examples:
        >>> from evenhand._labels import Source
        >>> from evenhand.desk.formats.tables import Table
        >>> newest(Table({"version": [9, 10]}, Source()), ["5", "5"], [])
        [1]
    """
    name = find(table, "version")
    if not name:
        return list(range(len(items)))
    versions = texts(table.columns[name])
    for version in dict.fromkeys(versions):
        if version and not re.fullmatch(CANONICAL_INTEGER, version):
            raise table.source.at(
                versions.index(version),
                f"{name} must be a whole number, got {shown(version)}",
            )
    keys = list(
        zip(
            items,
            cells_of(table, "member #"),
            cells_of(table, "member name"),
            # Without numbers, a subreviewer's review is not a version of the member's.
            cells_of(table, "number" if find(table, "number") else "reviewer email"),
            strict=True,
        )
    )
    # Compared as numbers of digits and digits, since a version may have many.
    ages = [(len(version), version) for version in versions]
    best: dict[tuple[str, ...], tuple[int, str]] = {}
    for key, age in zip(keys, ages, strict=True):
        best[key] = max(best.get(key, age), age)
    rows = [
        row
        for row, (key, age) in enumerate(zip(keys, ages, strict=True))
        if age == best[key]
    ]
    if len(rows) < len(items):
        older = counted(len(items) - len(rows), "older version")
        notices.append(Notice("older_versions", f"{older} of reviews left out."))
    return rows
