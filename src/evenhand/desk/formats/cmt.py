"""CMT: sheets of reviews, current and older.

A question of the review form has a column with the answer's words and, where the form
gives answers a number, a second one with that number. The sheet may begin with the
conference's name, two rows above its header.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand._columns import Columns
from evenhand._results import Notice
from evenhand.desk.formats._people import identified
from evenhand.desk.formats.layouts import (
    Asked,
    Layout,
    Long,
    cells_of,
    check_options,
    choose_score,
    find,
    may_be_scores,
    named,
    no_column,
    plain,
    texts,
    titled,
    why,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.desk.formats.tables import Table

EXPORTS: dict[str, tuple[str, ...]] = {
    "current sheet": ("paper id", "reviewer email"),
    "current sheet, e-mail hidden": ("paper id", "reviewer name"),
    "current sheet, names hidden": ("paper id", "reviewer number"),
    "older sheet": ("submissionid", "email"),
}
"""What is recognised: these columns, and a question of the form beside them."""
QUESTION = re.compile(r"(Q[0-9]+)\s*\((.*)\)", re.DOTALL)
VALUE = re.compile(r"(.*?)\s*-\s*Value", re.DOTALL)
NUMERIC = re.compile(r"(.*?)\s*\(Numeric\)", re.DOTALL)
EMAILS = ("reviewer email", "revieweremail", "email")
PEOPLE = ("reviewer name", "reviewername", "reviewer")
TITLES = ("paper title", "submission title", "title")
LONGEST = 60


@dataclass(frozen=True, slots=True)
class _Question:
    """A question of the form.

    Attributes:
        column: Its column in the sheet.
        number: Such as "Q3"; empty in older sheets.
        words: What it asks.
        numeric: Whether the column holds the answers' numbers, not their words.
    """

    column: str
    number: str
    words: str
    numeric: bool


def recognise(table: Table) -> str:
    """Say why a table is a sheet of CMT: its columns, and its questions.

    Examples:
        >>> from evenhand._labels import Source
        >>> from evenhand.desk.formats.tables import Table
        >>> columns = {"Paper ID": ["1"], "Reviewer Email": ["a@example.org"]}
        >>> recognise(Table({**columns, "Q1 (Overall - Value)": ["4"]}, Source()))
        "columns 'Paper ID', 'Reviewer Email' and 'Q1 (Overall - Value)'"
    """
    questions = _questions(table)
    if not questions:
        return ""
    numeric = [one.column for one in questions if one.numeric]
    column = (numeric or [questions[0].column])[0]
    reasons = (why(table, *names, column) for names in EXPORTS.values())
    return next(filter(None, reasons), "")


def take(table: Table, asked: Asked) -> Long:
    """Take the answers to one question.

    Examples:
        >>> from evenhand._labels import Source
        >>> from evenhand.desk.formats.tables import Table
        >>> columns = {"Paper ID": ["1"], "Reviewer Email": ["a@example.org"]}
        >>> table = Table({**columns, "Q1 (Overall - Value)": ["4"]}, Source())
        >>> take(table, Asked()).said
        "item from 'Paper ID', reviewer from 'Reviewer Email', score from 'Overall'"
    """
    check_options(asked, "CMT")
    item = named(table, asked.columns.item, "paper id", "submissionid")
    if not item:
        raise no_column(table.source, "item", table.columns)
    items = texts(table.columns[item])
    reviewers, origin, hidden = _reviewers(table, asked.columns.reviewer, items)
    question = _chosen(table, asked.columns.score)
    title = find(table, *TITLES)
    name = _short(question.words)
    name = name if name not in ("reviewer", "item") else "score"
    return Long(
        {
            "reviewer": reviewers,
            "item": table.columns[item],
            name: table.columns[question.column],
        },
        Columns(reviewer="reviewer", item="item", score=name),
        table.source,
        f"item from {item!r}, reviewer from {origin}, score from {name!r}",
        titled(items, texts(table.columns[title])) if title else {},
        tuple(_pseudonyms(hidden, len(items))),
    )


def _questions(table: Table) -> list[_Question]:
    """Return the questions, those with numbers first, in the order of the sheet."""
    found = [_question(name) for name in table.columns]
    numeric = [one for one in found if one is not None and one.numeric]
    counted = {(one.number, plain(one.words)) for one in numeric}
    words = [
        one
        for one in found
        if one is not None
        and not one.numeric
        and (one.number, plain(one.words)) not in counted
    ]
    return [*numeric, *words]


def _question(column: str) -> _Question | None:
    if match := QUESTION.fullmatch(column):
        number, text = match[1], match[2]
        value = VALUE.fullmatch(text)
        words = value[1] if value else text
        return _Question(column, number, _line(words), value is not None)
    if match := NUMERIC.fullmatch(column):
        return _Question(column, "", _line(match[1]), numeric=True)
    return None


def _chosen(table: Table, given: str) -> _Question:
    """Choose the question by its words, its number or its column."""
    questions = [
        one
        for one in _questions(table)
        if one.numeric or may_be_scores(table.columns[one.column], least=2)
    ]
    wanted = plain(given)
    for name in ("number", "words"):
        near = [
            one for one in questions if given and plain(getattr(one, name)) == wanted
        ]
        if len(near) == 1:
            return near[0]
    if given in table.columns:
        named = _question(given) or _Question(given, "", given, numeric=False)
        if named.numeric or may_be_scores(table.columns[given]):
            return named
    shown = _shown(questions)
    return questions[shown.index(choose_score(given, shown, table.source))]


def _shown(questions: Sequence[_Question]) -> list[str]:
    """Return a short and distinct name for each question."""
    names = [_short(one.words) for one in questions]
    return [
        name if names.count(name) == 1 and name else f"{one.number}: {name}"
        for name, one in zip(names, questions, strict=True)
    ]


def _line(words: str) -> str:
    return " ".join(words.split())


def _short(words: str) -> str:
    return words if len(words) <= LONGEST else words[: LONGEST - 3].rstrip() + "..."


def _reviewers(
    table: Table, given: str, items: list[str]
) -> tuple[list[object], str, int]:
    """Return who wrote each review, where that was found, and how many do not say."""
    if given:
        name = named(table, given)
        return list(texts(table.columns[name])), repr(name), 0
    email, person = find(table, *EMAILS), find(table, *PEOPLE)
    number = find(table, "reviewer number", "reviewernumber")
    emails, names, numbers = (cells_of(table, name) for name in (email, person, number))
    if not (email or person or number):
        raise no_column(table.source, "reviewer", table.columns)
    reviewers: list[object] = []
    hidden = 0
    people = identified(emails, names, table.source)
    for person_or_none, item, count in zip(people, items, numbers, strict=True):
        # The number counts the reviewers of one paper only.
        hidden += not person_or_none and bool(count)
        numbered = f"{item} reviewer {count}" if count else ""
        reviewers.append(person_or_none or numbered)
    parts = [repr(name) for name in (email, person) if name][:1]
    if hidden:
        parts = [*parts, repr(number)] if hidden < len(items) else [repr(number)]
    return reviewers, " or ".join(parts), hidden


def _pseudonyms(hidden: int, total: int) -> list[Notice]:
    if not hidden:
        return []
    which = "Reviewers are" if hidden == total else f"{hidden} of {total} reviewers are"
    return [
        Notice(
            "pseudonyms",
            f"{which} numbered anew for each paper. Each of these counts as a "
            "reviewer of its own, so no person's scores of several items are compared.",
        )
    ]


LAYOUT = Layout(
    "cmt", "CMT", recognise, take, header_marks=("SubmissionId", "Paper ID")
)
