"""CMT: sheets of reviews, current and older.

A question of the review form has a column with the answer's words and, where the form
gives answers a number, a second one with that number. The sheet may begin with the
conference's name, two rows above its header.
"""

from __future__ import annotations

import re
from functools import partial

from evenhand.formats import layouts, roles
from evenhand.formats.scale import may_be_scores
from evenhand.formats.tables import Table, plain

EXPORTS = layouts.has_columns(
    *(("paper id", f"reviewer {part}") for part in ("email", "name", "number")),
    ("submissionid", "email"),
)
"""What is recognised: these columns, and a question of the form beside them."""
QUESTION = re.compile(
    r"(Q[0-9]+)\s*\((.*?)(\s*-\s*Value)?\)|()(.*?)\s*(\(Numeric\))", re.DOTALL
)
EMAILS = ("reviewer email", "revieweremail", "email")
PEOPLE = ("reviewer name", "reviewername", "reviewer")
NUMBERS = ("reviewer number", "reviewernumber")
TITLES = ("paper title", "submission title", "title")


def recognise(table: Table, options: layouts.ReadOptions) -> str:
    """Say why a table is a sheet of CMT: its columns, and its questions.

    Examples:
        >>> from evenhand.columns import Source
        >>> columns = {"Paper ID": ["1"], "Reviewer Email": ["a@example.org"]}
        >>> table = Table.of({**columns, "Q1 (Overall - Value)": ["4"]}, Source())
        >>> recognise(table, layouts.ReadOptions())
        "columns 'Paper ID' and 'Reviewer Email'"
    """
    return EXPORTS(table, options) if _questions(table) else ""


def read(table: Table, options: layouts.ReadOptions) -> layouts.LongForm:
    """Take the answers to one question.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import ReadOptions
        >>> columns = {"Paper ID": ["1"], "Reviewer Email": ["a@example.org"]}
        >>> table = Table.of({**columns, "Q1 (Overall - Value)": ["4"]}, Source())
        >>> read(table, ReadOptions()).origin
        "item from 'Paper ID', reviewer from 'Reviewer Email', score from 'Overall'"
    """
    item = table.column_for("item", options.columns.item, "paper id", "submissionid")
    items = table.texts(item)
    titles = roles.titles_by_item(items, table.texts(*TITLES))
    choose, writers = partial(_answers, table), partial(_reviewers, items)
    return roles.long_form(table, options, choose, item, writers, titles)


def _reviewers(items: list[str], table: Table) -> roles.Writers:
    """Return where and who wrote each review, and a notice if some do not say."""
    table.column_for("reviewer", "", *EMAILS, *PEOPLE, *NUMBERS)
    # The number counts the reviewers of one paper only.
    own = [
        f"{item} reviewer {count}" if count else ""
        for item, count in zip(items, table.texts(*NUMBERS), strict=True)
    ]
    places, numbers = (EMAILS, PEOPLE), table.find(*NUMBERS)
    return roles.who_wrote(table, places, (numbers, own), "cmt")


def _questions(table: Table) -> dict[tuple[str, str], str]:
    """Return the column of each question by its number and words.

    Of two columns that with the answers' numbers counts; the number is empty in older
    sheets.
    """
    columns: dict[tuple[str, str], str] = {}
    for name in table.columns:
        if match := QUESTION.fullmatch(name):
            words = " ".join((match[2] or match[5] or "").split())
            question = match[1] or "", words
            if match[3] or match[6] or question not in columns:
                columns[question] = name
    return columns


def _answers(table: Table, wanted: str) -> roles.Place:
    """Choose the question by its words, its number or its column."""
    fields = {
        question: name
        for question, name in _questions(table).items()
        if may_be_scores(table.columns[name], least=2)
    }
    near = [question for question in fields if plain(wanted) in map(plain, question)]
    if wanted and len(near) == 1:
        return near[0][1], table.columns[fields[near[0]]]
    if not near and wanted in table.columns:
        return wanted, table.columns[wanted]
    every = [words for _, words in fields]
    by_words = {
        words if every.count(words) == 1 and words else f"{number}: {words}": column
        for (number, words), column in fields.items()
    }
    name = roles.choose_score(wanted, list(by_words), table.source)
    return name, table.columns[by_words[name]]


CMT = layouts.Layout("cmt", "CMT", recognise, read)
