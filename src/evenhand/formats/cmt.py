"""CMT: sheets of reviews, current and older.

A question of the review form has a column with the answer's words and, where the form
gives answers a number, a second one with that number. The sheet may begin with the
conference's name, two rows above its header.
"""

from __future__ import annotations

import re
from functools import partial
from typing import NamedTuple

from evenhand.formats import layouts
from evenhand.formats.scale import may_be_scores
from evenhand.formats.tables import Table, plain

EXPORTS: dict[str, tuple[str, ...]] = {
    "current sheet": ("paper id", "reviewer email"),
    "current sheet, e-mail hidden": ("paper id", "reviewer name"),
    "current sheet, names hidden": ("paper id", "reviewer number"),
    "older sheet": ("submissionid", "email"),
}
"""What is recognised: these columns, and a question of the form beside them."""
QUESTION = re.compile(
    r"(Q[0-9]+)\s*\((.*?)(\s*-\s*Value)?\)|()(.*?)\s*(\(Numeric\))", re.DOTALL
)
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
        >>> columns = {"Paper ID": ["1"], "Reviewer Email": ["a@example.org"]}
        >>> tell(Table.of({**columns, "Q1 (Overall - Value)": ["4"]}, Source()))
        "columns 'Paper ID', 'Reviewer Email' and 'Q1 (Overall - Value)'"
    """
    first = [one.column for one in _questions(table)[:1]]
    reasons = (table.why(*names, *first) for names in EXPORTS.values() if first)
    return next(filter(None, reasons), "")


def take(table: Table, asked: layouts.Asked) -> layouts.Long:
    """Take the answers to one question.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import Asked
        >>> columns = {"Paper ID": ["1"], "Reviewer Email": ["a@example.org"]}
        >>> table = Table.of({**columns, "Q1 (Overall - Value)": ["4"]}, Source())
        >>> take(table, Asked()).said
        "item from 'Paper ID', reviewer from 'Reviewer Email', score from 'Overall'"
    """
    item = table.named("item", asked.columns.item, "paper id", "submissionid")
    items = table.texts(item)
    return layouts.rated(
        table,
        asked,
        partial(_answers, table),
        item=item,
        reviewer=partial(_reviewers, items),
        titles=layouts.titled(items, table.texts(*TITLES)),
    )


def _reviewers(items: list[str], table: Table) -> layouts.Writers:
    """Return where and who wrote each review, and a notice if some do not say."""
    table.named("reviewer", "", *EMAILS, *PEOPLE, *NUMBERS)
    # The number counts the reviewers of one paper only.
    own = [
        f"{item} reviewer {count}" if count else ""
        for item, count in zip(items, table.texts(*NUMBERS), strict=True)
    ]
    places, numbers = (EMAILS, PEOPLE), table.find(*NUMBERS)
    return layouts.who_wrote(table, places, (numbers, own), ANEW)


def _questions(table: Table) -> list[_Question]:
    """Return the questions, those with numbers first, in the order of the sheet."""
    found = [one for name in table.columns if (one := _question(name))]
    numeric = [one for one in found if one.numeric]
    known = {(one.number, plain(one.words)) for one in numeric}
    rest = [one for one in found if (one.number, plain(one.words)) not in known]
    return numeric + rest


def _question(column: str) -> _Question | None:
    match = QUESTION.fullmatch(column)
    if match is None:
        return None
    words = " ".join((match[2] or match[5] or "").split())
    return _Question(column, match[1] or "", words, bool(match[3] or match[6]))


def _answers(table: Table, given: str) -> layouts.Place:
    """Choose the question by its words, its number or its column."""
    questions = [
        one
        for one in _questions(table)
        if one.numeric or may_be_scores(table.columns[one.column], least=2)
    ]
    near = [
        one for one in questions if plain(given) in map(plain, (one.number, one.words))
    ]
    if not near and given in table.columns and may_be_scores(table.columns[given]):
        near = [_question(given) or _Question(given, "", given, numeric=False)]
    if given and len(near) == 1:
        return near[0].short, table.columns[near[0].column]
    shorts = [one.short for one in questions]
    known = {
        name if shorts.count(name) == 1 and name else f"{one.number}: {name}": one
        for name, one in zip(shorts, questions, strict=True)
    }
    chosen = known[layouts.choose_score(given, list(known), table.source)]
    return chosen.short, table.columns[chosen.column]


CMT = layouts.Layout("cmt", "CMT", take, tell=tell)
