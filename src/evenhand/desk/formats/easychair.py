"""EasyChair: review.csv, and in older exports review_score.csv beside it.

The person who wrote a review is its reviewer: the subreviewer where one is named, else
the member of the committee. Of a review that was changed the newest version counts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from evenhand._columns import Columns, find_columns
from evenhand._labels import CANONICAL_INTEGER, shown
from evenhand._results import Notice
from evenhand.desk.formats.layouts import (
    Asked,
    Layout,
    Long,
    check_options,
    choose_score,
    first_reason,
    identify,
    is_number,
    looks_graded,
    no_column,
    titled,
)
from evenhand.desk.formats.tables import plain, texts
from evenhand.errors import RatingsError, counted, listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.desk.formats.tables import Table, Values

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


def recognise(table: Table) -> str:
    """Say why a table is one of EasyChair's."""
    return first_reason(table, EXPORTS)


def take(table: Table, asked: Asked) -> Long:
    """Take one rating from each review.

    Examples:
        >>> from evenhand._labels import Source
        >>> from evenhand.desk.formats.tables import Table
        >>> columns = {"submission #": [5], "member #": [1], "scores": ["Score: -1"]}
        >>> take(Table(columns, Source()), Asked()).columns["Score"]
        ['-1']
    """
    check_options(asked, "EasyChair", one_file=False)
    files = _sort_out(table, asked.companion)
    reviews = _reviews(files, asked.columns)
    if files.scores is None:
        score, values = _written(reviews, asked.columns.score)
        rows, source = reviews.rows, reviews.table.source.keep(reviews.rows)
    else:
        score, found = _scored(reviews, files.scores, asked.columns.score)
        rows, lines = list(found.values()), list(found)
        source = files.scores.source.keep(lines)
        cells = files.scores.texts("value")
        values = [cells[line] for line in lines]
    names = Columns(reviewer=reviews.writer, item=reviews.item, score=score)
    return Long(
        {
            names.reviewer: [reviews.people[row] for row in rows],
            names.item: [reviews.items[row] for row in rows],
            names.score: values,
        },
        names,
        source,
        f"item from {names.item!r}, reviewer from {reviews.who}, score from {score!r}",
        _titles(files, reviews),
        reviews.notices,
    )


class _Files(NamedTuple):
    """The tables that were given, each in its place."""

    reviews: Table
    scores: Table | None
    submissions: Table | None


class _Reviews(NamedTuple):
    """The reviews that count.

    Attributes:
        table: The file.
        item: Column of the submission.
        writer: Column of the reviewer.
        who: Where reviewers were taken from.
        items: Submission of each row.
        people: Reviewer of each row.
        rows: Rows that count.
        notices: What was left out.
    """

    table: Table
    item: str
    writer: str
    who: str
    items: list[str]
    people: list[str]
    rows: list[int]
    notices: list[Notice]


def _sort_out(table: Table, companion: Table | None) -> _Files:
    """Tell the files apart; they may come in either order."""
    places: dict[str, list[Table]] = {"reviews": [], "scores": [], "submissions": []}
    for one in filter(None, (table, companion)):
        titles = one.why("#", "title") and not one.find("submission #")
        if one.why(*EXPORTS["review_score.csv"]):
            places["scores"].append(one)
        else:
            kind = "submissions" if titles and one is companion else "reviews"
            places[kind].append(one)
    if not places["reviews"]:
        raise table.source.whole(
            "The scores are here without their reviews. Give review.csv of the same "
            "export too, with companion= or --with."
        )
    if len(places["reviews"]) > 1:
        raise places["reviews"][1].source.whole(
            "This is not a second file of EasyChair's. Give review.csv, with "
            "review_score.csv or submission.csv as its companion."
        )
    reviews, scores, submissions = (next(iter(one), None) for one in places.values())
    return _Files(reviews or table, scores, submissions)


def _reviews(files: _Files, given: Columns) -> _Reviews:
    table = files.reviews
    item = given.item or table.find("submission #", "submission", "paper #")
    if not item:
        raise no_column(table, "item")
    for name in (given.reviewer, given.item):
        if name and name not in table.columns:
            # The sentence, with the nearest name, is the one that long tables get.
            find_columns(list(table.columns), Columns(item=name), table.source)
    items = texts(table.columns[item])
    notices: list[Notice] = []
    rows = _newest(table, items, notices)
    rows = _standing(files.submissions, items, rows, notices)
    if given.reviewer:
        writer, who = given.reviewer, repr(given.reviewer)
        people = texts(table.columns[writer])
    else:
        writer, who, people = _writers(table, rows, notices)
    return _Reviews(table, item, writer, who, items, people, rows, notices)


def _newest(table: Table, items: list[str], notices: list[Notice]) -> list[int]:
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
    rows = [row for row, key in enumerate(keys) if ages[row] == best[key]]
    if len(rows) < len(items):
        older = counted(len(items) - len(rows), "older version")
        notices.append(Notice("older_versions", f"{older} of reviews left out."))
    return rows


def _standing(
    submissions: Table | None,
    items: list[str],
    rows: list[int],
    notices: list[Notice],
) -> list[int]:
    """Leave out reviews of submissions that were deleted."""
    if submissions is None:
        return rows
    marks = zip(submissions.texts("#"), submissions.texts("deleted?"), strict=True)
    gone = {one for one, mark in marks if mark.casefold() in ("yes", "true", "1")}
    left = [row for row in rows if items[row] not in gone]
    if len(left) < len(rows):
        text = f"{counted(len(rows) - len(left), 'review')} of deleted submissions"
        notices.append(Notice("deleted_submissions", f"{text} left out."))
    return left


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
            raise no_column(table, "reviewer")
        notices.append(Notice("pseudonyms", NOBODY))
        return column, repr(column), table.texts(column)
    people = identify(*_known(rows), table.source)
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


def _titles(files: _Files, reviews: _Reviews) -> dict[str, str]:
    if files.submissions is not None:
        table = files.submissions
        return titled(table.texts("#"), table.texts("title"))
    return titled(reviews.items, reviews.table.texts("submission title"))


def _written(reviews: _Reviews, given: str) -> tuple[str, Values]:
    """Choose a field of the column of scores, or the total beside it."""
    table = reviews.table
    total = table.find(TOTAL)
    beside = table.texts(TOTAL)
    totals: Values = [beside[row] for row in reviews.rows]
    if total and plain(given) == TOTAL:
        return total, totals
    fields = _cell_fields(reviews)
    choices = {name: values for name, values in fields.items() if looks_graded(values)}
    if any(totals) and all(is_number(text) for text in {*totals} - {""}):
        choices.setdefault(total, totals)
    if not choices and not table.find("scores"):
        raise table.source.whole(
            "The reviews are here without their scores. Give review_score.csv of the "
            "same export too, with companion= or --with."
        )
    name = choose_score(given, list(choices), table.source)
    return name, choices[name]


def _cell_fields(reviews: _Reviews) -> dict[str, Values]:
    """Return the value of each field for the rows that count."""
    column = reviews.table.find("scores")
    cells = reviews.table.texts("scores")
    known: dict[str, dict[str, str]] = {"": {}}
    for row in reviews.rows:
        if cells[row] not in known:
            known[cells[row]] = _parsed(cells[row], column, row, reviews.table)
    names = dict.fromkeys(name for row in reviews.rows for name in known[cells[row]])
    for name in names:
        field, _, rest = (part.strip() for part in name.partition(":"))
        if field in names and re.match(r"[+-]?[0-9]", rest):
            row = next(row for row in reviews.rows if name in known[cells[row]])
            raise reviews.table.source.at(
                row, f"{field} must be a number and at most words, got {shown(name)}"
            )
    return {
        name: [known[cells[row]].get(name) for row in reviews.rows] for name in names
    }


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


def _scored(reviews: _Reviews, scores: Table, given: str) -> tuple[str, dict[int, int]]:
    """Choose a field of the other file, and find the review of each of its scores."""
    fields, unmatched = _score_fields(reviews, scores)
    value = scores.texts("value")
    choices = [
        name
        for name, found in fields.items()
        if looks_graded(value[row] for row in found)
    ]
    choices.sort(key=lambda name: (len(name), name))
    name = choose_score(given, choices, scores.source)
    found = fields[name]
    if unmatched:
        text = f"{counted(unmatched, 'score')} of reviews that are not in the other "
        reviews.notices.append(Notice("unmatched_scores", f"{text}file left out."))
    if len(found) < len(reviews.rows):
        text = counted(len(reviews.rows) - len(found), "review")
        text = f"{text} without a score in field {name!r} left out."
        reviews.notices.append(Notice("missing_scores", text))
    return name, found


def _score_fields(
    reviews: _Reviews, scores: Table
) -> tuple[dict[str, dict[int, int]], int]:
    """Return the review of each row of scores by field, and how many have none."""
    numbers = _numbers(reviews)
    standing = set(reviews.rows)
    fields: dict[str, dict[int, int]] = {}
    firsts: dict[tuple[str, int], int] = {}
    unmatched = 0
    cells = map(scores.texts, EXPORTS["review_score.csv"])
    for row, (number, name, value) in enumerate(zip(*cells, strict=True)):
        place = numbers.get(number)
        if place is None:
            unmatched += bool(value)
        elif place in standing and value:
            first = firsts.setdefault((name, place), row)
            if first != row:
                text = f"review {shown(number)} must have one score in field {name}"
                error = scores.source.at(row, f"{text}, got {shown(value)}")
                raise RatingsError(
                    f"{error} Another is at {scores.source.place(first)}."
                )
            fields.setdefault(name, {})[row] = place
    return fields, unmatched


def _numbers(reviews: _Reviews) -> dict[str, int]:
    """Return the row of each review's number; older versions give way."""
    table = reviews.table
    column = table.find("#", "review #")
    if not column:
        raise table.source.whole(
            "The reviews have no column '#' that scores could be joined by, only "
            f"{listing(table.columns)}."
        )
    values = table.texts(column)
    seen: dict[str, int] = {}
    for row in reviews.rows:
        if values[row] in seen:
            raise table.source.at(
                row, f"{column} must be given once, got {shown(values[row])} twice"
            )
        seen[values[row]] = row
    return {**{value: row for row, value in enumerate(values)}, **seen}


LAYOUT = Layout("easychair", "reviews of EasyChair", recognise, take)
