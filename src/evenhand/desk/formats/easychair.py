"""EasyChair: review.csv, and in older exports review_score.csv beside it.

The person who wrote a review is its reviewer: the subreviewer where one is named, else
the member of the committee. Of a review that was changed the newest version counts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from evenhand._columns import Columns, find_columns
from evenhand._labels import shown
from evenhand._results import Notice
from evenhand.desk.formats._easychair_people import newest, writers
from evenhand.desk.formats.layouts import (
    Asked,
    Layout,
    Long,
    cells_of,
    check_options,
    choose_score,
    find,
    lined,
    looks_graded,
    looks_numeric,
    no_column,
    plain,
    texts,
    titled,
    why,
)
from evenhand.errors import RatingsError, counted, listing

if TYPE_CHECKING:
    from evenhand.desk.formats.tables import Table

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


def recognise(table: Table) -> str:
    """Say why a table is one of EasyChair's."""
    return next(
        (text for marks in EXPORTS.values() if (text := why(table, *marks))), ""
    )


def take(table: Table, asked: Asked) -> Long:
    """Take one rating from each review.

    Examples:
        >>> from evenhand._labels import Source
        >>> from evenhand.desk.formats.tables import Table
        >>> columns = {"submission #": [5], "member #": [1], "scores": ["Score: -1"]}
        >>> take(Table({**columns}, Source()), Asked()).columns["Score"]
        ['-1']
    """
    check_options(asked, "EasyChair", one_file=False)
    files = _sorted(table, asked.companion)
    reviews = _reviews(files, asked)
    given = asked.columns.score
    if files.scores is None:
        score, values = _written(reviews, given)
        rows, source = reviews.rows, lined(reviews.table.source, reviews.rows)
        notices = reviews.notices
    else:
        found = _joined(reviews, files.scores, given)
        score, values, rows = found.field, found.values, found.reviews
        source = lined(files.scores.source, found.rows)
        notices = (*reviews.notices, *found.notices)
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
        notices,
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
    notices: tuple[Notice, ...]


def _sorted(table: Table, companion: Table | None) -> _Files:
    """Tell the files apart; they may come in either order."""
    places: dict[str, list[Table]] = {"reviews": [], "scores": [], "submissions": []}
    for one in (table, companion):
        if one is not None:
            places[_place(one, is_first=one is table)].append(one)
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
    scores, submissions = places["scores"], places["submissions"]
    return _Files(
        places["reviews"][0],
        scores[0] if scores else None,
        submissions[0] if submissions else None,
    )


def _place(table: Table, *, is_first: bool) -> str:
    if why(table, *EXPORTS["review_score.csv"]):
        return "scores"
    titles = why(table, "#", "title") and not find(table, "submission #")
    return "submissions" if titles and not is_first else "reviews"


def _reviews(files: _Files, asked: Asked) -> _Reviews:
    table = files.reviews
    columns = list(table.columns)
    given = asked.columns
    item = given.item or find(table, "submission #", "submission", "paper #")
    if not item:
        raise no_column(table.source, "item", columns)
    _check_there(table, given.reviewer, given.item)
    items = texts(table.columns[item])
    notices: list[Notice] = []
    rows = _standing(files.submissions, items, newest(table, items, notices), notices)
    if given.reviewer:
        writer, people = given.reviewer, texts(table.columns[given.reviewer])
        who = repr(writer)
    else:
        writer, who, people = writers(table, rows, notices)
    return _Reviews(table, item, writer, who, items, people, rows, tuple(notices))


def _check_there(table: Table, *given: str) -> None:
    for name in filter(None, given):
        if name not in table.columns:
            # The sentence, with the nearest name, is the one that long tables get.
            find_columns(list(table.columns), Columns(item=name), table.source)


def _standing(
    submissions: Table | None,
    items: list[str],
    rows: list[int],
    notices: list[Notice],
) -> list[int]:
    """Leave out reviews of submissions that were deleted."""
    mark = find(submissions, "deleted?") if submissions else ""
    if submissions is None or not mark:
        return rows
    numbers = cells_of(submissions, "#")
    gone = {
        number
        for number, deleted in zip(numbers, cells_of(submissions, mark), strict=True)
        if deleted.casefold() in ("yes", "true", "1")
    }
    left = [row for row in rows if items[row] not in gone]
    if len(left) < len(rows):
        text = f"{counted(len(rows) - len(left), 'review')} of deleted submissions"
        notices.append(Notice("deleted_submissions", f"{text} left out."))
    return left


def _titles(files: _Files, reviews: _Reviews) -> dict[str, str]:
    if files.submissions is not None:
        table = files.submissions
        return titled(cells_of(table, "#"), cells_of(table, "title"))
    return titled(reviews.items, cells_of(reviews.table, "submission title"))


def _written(reviews: _Reviews, given: str) -> tuple[str, list[object]]:
    """Choose a field of the column of scores, or the total beside it."""
    table = reviews.table
    total = find(table, TOTAL)
    beside = cells_of(table, TOTAL)
    totals: list[object] = [beside[row] for row in reviews.rows]
    if total and plain(given) == TOTAL:
        return total, totals
    fields = _cell_fields(reviews)
    choices = {name: values for name, values in fields.items() if looks_graded(values)}
    if total and looks_numeric([*set(totals)]):
        choices.setdefault(total, totals)
    if not choices and not find(table, "scores"):
        raise table.source.whole(
            "The reviews are here without their scores. Give review_score.csv of the "
            "same export too, with companion= or --with."
        )
    name = choose_score(given, list(choices), table.source)
    return name, choices[name]


def _cell_fields(reviews: _Reviews) -> dict[str, list[object]]:
    """Return the value of each field for the rows that count."""
    column = find(reviews.table, "scores")
    if not column:
        return {}
    cells = texts(reviews.table.columns[column])
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


class _Joined(NamedTuple):
    """One field of review_score.csv: its values, their rows and their reviews."""

    field: str
    values: list[object]
    rows: list[int]
    reviews: list[int]
    notices: tuple[Notice, ...]


def _joined(reviews: _Reviews, scores: Table, given: str) -> _Joined:
    """Choose a field of the other file, and find the review of each of its scores."""
    fields, unmatched = _score_fields(reviews, scores)
    value = cells_of(scores, "value")
    choices = [
        name
        for name, known in fields.items()
        if looks_graded([*{value[row] for row in known.values()}])
    ]
    name = choose_score(given, sorted(choices, key=_by_size), scores.source)
    place_of = {row: place for place, row in fields[name].items()}
    rows = sorted(place_of)
    notices = []
    if unmatched:
        text = (
            f"{counted(unmatched, 'score')} of reviews that are not in the other file"
        )
        notices.append(Notice("unmatched_scores", f"{text} left out."))
    if len(rows) < len(reviews.rows):
        text = counted(len(reviews.rows) - len(rows), "review")
        text = f"{text} without a score in field {name!r} left out."
        notices.append(Notice("missing_scores", text))
    return _Joined(
        name,
        [value[row] for row in rows],
        rows,
        [place_of[row] for row in rows],
        tuple(notices),
    )


def _score_fields(
    reviews: _Reviews, scores: Table
) -> tuple[dict[str, dict[int, int]], int]:
    """Return the row of each review's score by field, and how many have no review."""
    numbers = _numbers(reviews)
    standing = set(reviews.rows)
    fields: dict[str, dict[int, int]] = {}
    unmatched = 0
    cells = (cells_of(scores, name) for name in EXPORTS["review_score.csv"])
    for row, (number, name, value) in enumerate(zip(*cells, strict=True)):
        place = numbers.get(number)
        if place is None:
            unmatched += bool(value)
        elif place in standing and value:
            known = fields.setdefault(name, {})
            if place in known:
                text = f"review {shown(number)} must have one score in field {name}"
                error = scores.source.at(row, f"{text}, got {shown(value)}")
                first = scores.source.place(known[place])
                raise RatingsError(f"{error} Another is at {first}.")
            known[place] = row
    return fields, unmatched


def _by_size(name: str) -> tuple[int, str]:
    return len(name), name


def _numbers(reviews: _Reviews) -> dict[str, int]:
    """Return the row of each review's number; older versions give way."""
    table = reviews.table
    column = find(table, "#", "review #")
    if not column:
        raise table.source.whole(
            "The reviews have no column '#' that scores could be joined by, only "
            f"{listing(table.columns)}."
        )
    values = texts(table.columns[column])
    numbers = {values[row]: row for row in range(len(values))}
    seen: dict[str, int] = {}
    for row in reviews.rows:
        if values[row] in seen:
            raise table.source.at(
                row, f"{column} must be given once, got {shown(values[row])} twice"
            )
        seen[values[row]] = row
    return {**numbers, **seen}


LAYOUT = Layout("easychair", "reviews of EasyChair", recognise, take)
