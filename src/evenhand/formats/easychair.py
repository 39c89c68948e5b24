"""EasyChair: review.csv, and in older exports review_score.csv beside it.

The person who wrote a review is its reviewer: the subreviewer where one is named, else
the member of the committee. Of a review that was changed the newest version counts.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.claims import Notice
from evenhand.columns import CANONICAL_INTEGER
from evenhand.errors import counted, listing, shown
from evenhand.formats import layouts
from evenhand.formats.tables import plain, texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.formats.layouts import Asked, Long
    from evenhand.formats.tables import Table, Values

EXPORTS = {
    "review.csv": ("submission #", "member #", "scores"),
    "review.csv, older": ("submission #", "member #", "version"),
    "review.csv, no members": ("#", "submission #", "scores"),
    "review_score.csv": ("review #", "field #", "value"),
}
"""The columns that mark each file. submission.csv (#, title) may go with either."""
TOTAL = "total score"
FIELD = re.compile(
    r"(.+?)\s*:\s*([+-]?[0-9]+(?:\.[0-9]+)?)\s*(?:\([^()]*\)|[:-]\s*[^\W\d][^:]*)?"
)
"""A field and its number, which words may explain: "-1: weak reject"."""
NOBODY = (
    "No reviewer is named: each review counts as a reviewer of its own, so no two "
    "scores can be compared as one person's."
)


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
    table, scores, submissions = _sort_out(table, table.companion)
    given = asked.columns
    item = table.named("item", given.item, "submission #", "submission", "paper #")
    items = texts(table.columns[item])
    rows, notices = _standing(table, items, submissions)
    if given.reviewer:
        writer = table.named("reviewer", given.reviewer)
        place, people = repr(writer), texts(table.columns[writer])
    else:
        writer, place, people = _writers(table, rows, notices)
    known: dict[str, Values] = {item: [*items], writer: [*people]}
    reviews = replace(table, columns={**table.columns, **known}).keep(rows)
    if scores is None:
        score, values = _written(reviews, given.score)
    else:
        every = {*table.texts("#", "review #")}
        score, found = _scored(reviews, scores, given.score, every, notices)
        values = scores.keep(list(found)).texts("value")
        source = scores.source.keep(list(found))
        reviews = replace(reviews.keep(list(found.values())), source=source)
    titles = layouts.titled(items, table.texts("submission title"))
    authors = {}
    if submissions is not None:
        numbers = submissions.texts("#")
        titles = layouts.titled(numbers, submissions.texts("title"))
        authors = layouts.titled(numbers, submissions.texts(*layouts.AUTHORS))
    return layouts.rated(
        reviews.source,
        item=(repr(item), reviews.columns[item]),
        reviewer=(place, reviews.columns[writer]),
        score=(score, [*values]),
        weight=[*_written(reviews, given.weight)[1]] if given.weight else None,
        titles=titles,
        authors=authors,
        notices=notices,
    )


def _sort_out(
    table: Table, companion: Table | None
) -> tuple[Table, Table | None, Table | None]:
    """Tell reviews, scores and submissions apart; they may come in either order."""
    reviews, scores, submissions = [], None, None
    for one in filter(None, (table, companion)):
        titles = one.why("#", "title") and not one.find("submission #")
        if one.why(*EXPORTS["review_score.csv"]):
            scores = scores or one
        elif titles and one is companion:
            submissions = one
        else:
            reviews.append(one)
    if not reviews:
        raise table.source.whole(
            "The scores are here without their reviews. Give review.csv of the same "
            "export too, with companion= or --with."
        )
    if len(reviews) > 1:
        raise reviews[1].source.whole(
            "This is not a second file of EasyChair's. Give review.csv, with "
            "review_score.csv or submission.csv as its companion."
        )
    return reviews[0], scores, submissions


def _standing(
    table: Table, items: list[str], submissions: Table | None
) -> tuple[list[int], list[Notice]]:
    """Leave out older versions of reviews, and reviews of deleted submissions."""
    notices = []
    rows = _newest(table, items)
    if len(rows) < len(items):
        older = counted(len(items) - len(rows), "older version")
        notices.append(Notice("older_versions", f"{older} of reviews left out."))
    if submissions is not None:
        marks = zip(submissions.texts("#"), submissions.texts("deleted?"), strict=True)
        gone = {one for one, mark in marks if mark.casefold() in ("yes", "true", "1")}
        left = [row for row in rows if items[row] not in gone]
        if len(left) < len(rows):
            text = f"{counted(len(rows) - len(left), 'review')} of deleted submissions"
            notices.append(Notice("deleted_submissions", f"{text} left out."))
        rows = left
    return rows, notices


def _newest(table: Table, items: list[str]) -> list[int]:
    """Return the rows of the newest version of each review."""
    name = table.find("version")
    if not name:
        return list(range(len(items)))
    versions = table.texts(name)
    for row, version in enumerate(versions):
        if version and not re.fullmatch(CANONICAL_INTEGER, version):
            raise table.source.at(
                row, f"{name} must be a whole number, got {shown(version)}"
            )
    # Without numbers, a subreviewer's review is not a version of the member's.
    number = table.find("number", "reviewer email")
    members = map(table.texts, ("member #", "member name", number))
    keys = list(zip(items, *members, strict=True))
    # Compared as numbers of digits and digits, since a version may have many.
    ages = [(len(version), version) for version in versions]
    best: dict[tuple[str, ...], tuple[int, str]] = {}
    for key, age in zip(keys, ages, strict=True):
        best[key] = max(best.get(key, age), age)
    return [row for row, key in enumerate(keys) if ages[row] == best[key]]


def _writers(
    table: Table, standing: list[int], notices: list[Notice]
) -> tuple[str, str, list[str]]:
    """Return the writer of each review: e-mail, name, or member, the first there is.

    Args:
        table: The reviews.
        standing: Rows that count; only these are told of in notices.
        notices: Where to add what the reader must know.

    Returns:
        A column's name, where writers were taken from in words, and each row's writer.
    """
    parts = map(table.texts, ("reviewer first name", "reviewer last name"))
    names = [" ".join(filter(None, both)) for both in zip(*parts, strict=True)]
    emails, members, numbers = map(
        table.texts, ("reviewer email", "member name", "member #")
    )
    rows = list(zip(emails, names, members, numbers, strict=True))
    if not any(any(row) for row in rows):
        column = table.find("#")
        if not column:
            raise table.no_column("reviewer")
        notices.append(Notice("pseudonyms", NOBODY))
        return column, repr(column), table.texts(column)
    people = layouts.identify(*_known(rows), table.source)
    others = sum(
        bool(names[row] and members[row]) and not _same(names[row], members[row])
        for row in standing
    )
    if others:
        text = f"{counted(others, 'review')} written by a subreviewer: the reviewer is "
        notices.append(Notice("subreviews", f"{text}who wrote it, not the member."))
    column = table.find("member name", "member #", "reviewer email") or "reviewer"
    own = " (or who wrote it, where that is said)" if any(emails) or any(names) else ""
    return column, f"{column!r}{own}", people


def _same(name: str, member: str) -> bool:
    return name.casefold() == member.casefold()


def _known(
    rows: Sequence[tuple[str, str, str, str]],
) -> tuple[list[str], list[str]]:
    """Return what is known for sure of each row's writer, and the writer's name.

    A member's e-mail is taken from a review that the member wrote in person, if one
    shows it; two members of one name are told apart by their numbers.
    """
    own_emails = {
        (member, number): email
        for email, name, member, number in rows
        if email and _same(name, member)
    }
    namesakes: dict[str, set[str]] = {}
    for _, _, member, number in rows:
        namesakes.setdefault(member, set()).add(number)
    sure, names = [], []
    for email, name, member, number in rows:
        shared = member and number and len(namesakes[member]) > 1
        label = f"{member} (member {number})" if shared else member or number
        label = own_emails.get((member, number), label)
        # A label other than the name is an e-mail or a number, and good by itself.
        told = (not name or _same(name, member)) and label != member
        sure.append(email or (label if told else ""))
        names.append(name if email else "" if told else name or member)
    return sure, names


def _written(reviews: Table, given: str) -> tuple[str, Sequence[object]]:
    """Choose a field of the column of scores, or the total beside it."""
    total, totals = reviews.find(TOTAL), reviews.texts(TOTAL)
    if total and plain(given) == TOTAL:
        return total, totals
    choices: dict[str, Sequence[object]] = {
        name: values
        for name, values in _cell_fields(reviews).items()
        if layouts.may_be_scores([*values])
    }
    if any(totals) and all(map(layouts.is_number, {*totals} - {""})):
        choices.setdefault(total, totals)
    if not choices and not reviews.find("scores"):
        raise reviews.source.whole(
            "The reviews are here without their scores. Give review_score.csv of the "
            "same export too, with companion= or --with."
        )
    name = layouts.choose_score(given, list(choices), reviews.source)
    return name, choices[name]


def _cell_fields(reviews: Table) -> dict[str, list[str | None]]:
    """Return the value of each field in each review."""
    column = reviews.find("scores")
    cells = [
        _parsed(cell, column, row, reviews) if cell else {}
        for row, cell in enumerate(reviews.texts("scores"))
    ]
    names = dict.fromkeys(name for cell in cells for name in cell)
    for name in names:
        field, _, rest = (part.strip() for part in name.partition(":"))
        if field in names and re.match(r"[+-]?[0-9]", rest):
            row = next(row for row, cell in enumerate(cells) if name in cell)
            raise reviews.source.at(
                row, f"{field} must be a number and at most words, got {shown(name)}"
            )
    return {name: [cell.get(name) for cell in cells] for name in names}


def _parsed(cell: str, column: str, row: int, table: Table) -> dict[str, str]:
    """Read the lines of one cell: a field and its value on each."""
    found: dict[str, str] = {}
    for line in cell.splitlines():
        if match := FIELD.fullmatch(line.strip()):
            name, value = match[1], match[2]
        else:
            name, colon, value = (part.strip() for part in line.rpartition(":"))
            if not colon or not name:
                continue
        if name in found:
            raise table.source.at(
                row, f"{column} must name each field once, got {shown(name)} twice"
            )
        found[name] = value
    if not found:
        raise table.source.at(
            row, f"{column} must be lines such as 'Score: 2', got {shown(cell)}"
        )
    return found


def _scored(
    reviews: Table, scores: Table, given: str, known: set[str], notices: list[Notice]
) -> tuple[str, dict[int, int]]:
    """Choose a field of the other file, and find the review of each of its scores.

    Args:
        reviews: The reviews that count.
        scores: The other file.
        given: The field that the user named.
        known: Numbers of all reviews, also of older versions.
        notices: Where to add what the reader must know.
    """
    numbers = _numbers(reviews)
    fields: dict[str, dict[int, int]] = {}
    firsts: dict[tuple[str, str], int] = {}
    cells = list(zip(*map(scores.texts, EXPORTS["review_score.csv"]), strict=True))
    for row, (number, name, value) in enumerate(cells):
        if number in numbers and value:
            first = firsts.setdefault((name, number), row)
            if first != row:
                raise scores.source.at(
                    row,
                    f"review {shown(number)} must have one score in field {name}, got "
                    f"{shown(value)}",
                    f"Another is at {scores.source.place(first)}.",
                )
            fields.setdefault(name, {})[row] = numbers[number]
    choices = [
        name
        for name, found in fields.items()
        if layouts.may_be_scores([cells[row][2] for row in found])
    ]
    choices.sort(key=lambda name: (len(name), name))
    name = layouts.choose_score(given, choices, scores.source)
    unmatched = sum(bool(value) and number not in known for number, _, value in cells)
    if unmatched:
        text = f"{counted(unmatched, 'score')} of reviews that are not in the other "
        notices.append(Notice("unmatched_scores", f"{text}file left out."))
    missing = reviews.height - len(fields[name])
    if missing:
        text = f"{counted(missing, 'review')} without a score in field {name!r}"
        notices.append(Notice("missing_scores", f"{text} left out."))
    return name, fields[name]


def _numbers(reviews: Table) -> dict[str, int]:
    """Return the row of each review's number."""
    column = reviews.find("#", "review #")
    if not column:
        raise reviews.source.whole(
            "The reviews have no column '#' that scores could be joined by, only "
            f"{listing(reviews.columns)}."
        )
    seen: dict[str, int] = {}
    for row, value in enumerate(reviews.texts(column)):
        if seen.setdefault(value, row) != row:
            raise reviews.source.at(
                row, f"{column} must be given once, got {shown(value)} twice"
            )
    return seen


LAYOUT = layouts.Layout(
    "easychair",
    "reviews of EasyChair",
    take,
    EXPORTS,
    only_scores=True,
    one_file=False,
)
