"""CMT: sheets of reviews, current and older.

A question of the review form has a column with the answer's words and, where the form
gives answers a number, a second one with that number. The sheet may begin with the
conference's name, two rows above its header.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from evenhand.formats import layouts
from evenhand.formats.tables import plain, texts

if TYPE_CHECKING:
    from evenhand.claims import Notice
    from evenhand.formats.layouts import Asked, Long
    from evenhand.formats.tables import Table, Values

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
NUMBERS = ("reviewer number", "reviewernumber")
TITLES = ("paper title", "submission title", "title")
LONGEST = 60
ANEW = (
    "Reviewers are numbered anew for each paper. Each of these counts as a reviewer of "
    "its own, so no person's scores of several items are compared."
)


class _Question(NamedTuple):
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

    @property
    def short(self) -> str:
        """The words, cut to a readable length."""
        if len(self.words) <= LONGEST:
            return self.words
        return self.words[: LONGEST - 3].rstrip() + "..."


def tell(table: Table) -> str:
    """Say why a table is a sheet of CMT: its columns, and its questions.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.tables import Table
        >>> columns = {"Paper ID": ["1"], "Reviewer Email": ["a@example.org"]}
        >>> tell(Table({**columns, "Q1 (Overall - Value)": ["4"]}, Source()))
        "columns 'Paper ID', 'Reviewer Email' and 'Q1 (Overall - Value)'"
    """
    questions = _questions(table)
    if not questions:
        return ""
    reasons = (table.why(*names, questions[0].column) for names in EXPORTS.values())
    return next(filter(None, reasons), "")


def take(table: Table, asked: Asked) -> Long:
    """Take the answers to one question.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import Asked
        >>> from evenhand.formats.tables import Table
        >>> columns = {"Paper ID": ["1"], "Reviewer Email": ["a@example.org"]}
        >>> table = Table({**columns, "Q1 (Overall - Value)": ["4"]}, Source())
        >>> take(table, Asked()).said
        "item from 'Paper ID', reviewer from 'Reviewer Email', score from 'Overall'"
    """
    item = table.named("item", asked.columns.item, "paper id", "submissionid")
    items = texts(table.columns[item])
    reviewer, notices = _reviewers(table, asked.columns.reviewer, items)
    question = _chosen(table, asked.columns.score)
    weight = asked.columns.weight
    return layouts.rated(
        table.source,
        item=(repr(item), table.columns[item]),
        reviewer=reviewer,
        score=(question.short, table.columns[question.column]),
        weight=table.columns[_chosen(table, weight).column] if weight else None,
        titles=layouts.titled(items, table.texts(*TITLES)),
        notices=notices,
    )


def _questions(table: Table) -> list[_Question]:
    """Return the questions, those with numbers first, in the order of the sheet."""
    found = [one for name in table.columns if (one := _question(name))]
    numeric = [one for one in found if one.numeric]
    known = {(one.number, plain(one.words)) for one in numeric}
    rest = [one for one in found if (one.number, plain(one.words)) not in known]
    return numeric + rest


def _question(column: str) -> _Question | None:
    if match := QUESTION.fullmatch(column):
        value = VALUE.fullmatch(match[2])
        words = " ".join((value[1] if value else match[2]).split())
        return _Question(column, match[1], words, value is not None)
    if match := NUMERIC.fullmatch(column):
        return _Question(column, "", " ".join(match[1].split()), numeric=True)
    return None


def _chosen(table: Table, given: str) -> _Question:
    """Choose the question by its words, its number or its column."""
    questions = [
        one
        for one in _questions(table)
        if one.numeric or layouts.may_be_scores(table.columns[one.column], least=2)
    ]
    for name in ("number", "words"):
        near = [one for one in questions if plain(getattr(one, name)) == plain(given)]
        if given and len(near) == 1:
            return near[0]
    if given in table.columns:
        column = _question(given) or _Question(given, "", given, numeric=False)
        if column.numeric or layouts.may_be_scores(table.columns[given]):
            return column
    shorts = [one.short for one in questions]
    known = [
        name if shorts.count(name) == 1 and name else f"{one.number}: {name}"
        for name, one in zip(shorts, questions, strict=True)
    ]
    return questions[known.index(layouts.choose_score(given, known, table.source))]


def _reviewers(
    table: Table, given: str, items: list[str]
) -> tuple[tuple[str, Values], list[Notice]]:
    """Return where and who wrote each review, and a notice if some do not say."""
    if not given:
        table.named("reviewer", "", *EMAILS, *PEOPLE, *NUMBERS)
    # The number counts the reviewers of one paper only.
    own = [
        f"{item} reviewer {count}" if count else ""
        for item, count in zip(items, table.texts(*NUMBERS), strict=True)
    ]
    numbers = table.find(*NUMBERS), own
    return layouts.who_wrote(table, given, (EMAILS, PEOPLE), numbers, ANEW)


LAYOUT = layouts.Layout("cmt", "CMT", take, tell=tell, only_scores=True)
