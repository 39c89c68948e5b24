"""Surveys: a row for each respondent, a column for each item that a question is about.

SurveyMonkey, Qualtrics, LimeSurvey and others call such a column "Question [item]",
"Question | item", "Question - item" or "item - Question". Other questions are left out.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evenhand.claims import few
from evenhand.columns import ALIASES, Columns, candidates, cut_alike, is_alias
from evenhand.errors import (
    RatingsError,
    listing,
    plural,
    quote,
    refuse_option,
    shell_word,
)
from evenhand.formats import layouts, roles
from evenhand.formats.scale import are_scores, filled_cells, may_be_scores
from evenhand.formats.tables import Table, plain

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

GRID = re.compile(r"(.*?)\s*\[(.+)\]", re.DOTALL)
SIGNS = (" | ", " - ", " \u2013 ")
RESPONDENT = (
    *("prolific pid", "email address", "email", "recipient email", "respondentid"),
    *("respondent id", "responseid", "response id", "internal id", "id", "timestamp"),
)
"""Columns of respondents; people come before responses."""
ITEM_QUESTION = re.compile(
    r"(?:who|whom|whose|which|what)\b.*\b"
    r"(?:grad|rat|review|evaluat|assess|scor|judg)ing\b.*"
)
"""What asks for the item that a response is about."""
RANK = re.compile(r"\brank(?:ing|ed)?\b", re.IGNORECASE)
MOSTLY = 0.95
LEAST_ROWS = 3

Grid = dict[str, str]
"""The item of each column of a question."""


def respondent_of(table: Table) -> str:
    """Return the column that names each respondent, or an empty text.

    Examples:
        >>> from evenhand.columns import Source
        >>> table = Table.of({"RespondentID": ["1", "2"], "Age": [3, 4]}, Source())
        >>> respondent_of(table)
        'RespondentID'
    """
    columns = filter(None, map(table.find, RESPONDENT))
    return next((name for name in columns if "" not in table.cells(name)), "")


def questions_of(table: Table) -> dict[str, Grid]:
    """Return the questions that have scores for several items, with their columns.

    Examples:
        >>> from evenhand.columns import Source
        >>> columns = {"Good? | Tea": ["4"], "Good? | Milk": ["3"], "Age": ["9"]}
        >>> questions_of(Table.of(columns, Source()))
        {'Good?': {'Good? | Tea': 'Tea', 'Good? | Milk': 'Milk'}}
    """
    grids: dict[str, Grid] = {}
    for column in table.columns:
        if grid := GRID.fullmatch(column):
            pairs = [(grid[1], grid[2])]
        else:
            sign = next((sign for sign in SIGNS if sign in column), "")
            before, _, after = column.partition(sign) if sign else (column, "", "")
            item, _, question = column.rpartition(sign) if sign else ("", "", "")
            pairs = [(before, after), (question, item)] if sign else []
        for question, item in pairs:
            grids.setdefault(question.strip(), {})[column] = item.strip()
    return {
        question: items
        for question, items in grids.items()
        if len({*items.values()}) == len(items) > 1 and _has_scores(table, items)
    }


def _has_scores(table: Table, items: Grid) -> bool:
    """Return whether columns hold scores, and no boxes that were ticked or not."""
    cells = {column: filled_cells(table.columns[column]) for column in items}
    pooled = pl.concat(list(cells.values()))
    if not may_be_scores(pooled):
        return False
    usual = {
        column: values.mode().sort()[0]
        for column, values in cells.items()
        if len(values)
    }
    ticked = sum(int((cells[column] == usual[column]).sum()) for column in usual)
    named = all(plain(text) == plain(items[column]) for column, text in usual.items())
    is_tick = len({*usual.values()}) == 1 or named
    return not (is_tick and ticked >= MOSTLY * len(pooled))


def recognise(table: Table, options: layouts.ReadOptions) -> str:
    """Say why a table holds responses to a survey: a respondent, and a grid or item."""
    declared = options.columns
    person = respondent_of(table)
    # Programs of surveys write tables; a document is a platform's.
    if declared.winner or options.rows or not person or table.document is not None:
        return ""
    grids = [cut_alike(grid)[0] for grid in questions_of(table).values()]
    if grids and not declared.item:
        return f"columns {person!r} and {grids[0]!r}"
    # A table with a column of reviewers is in long form.
    if declared.reviewer or candidates("reviewer", list(table.columns), Columns()):
        return ""
    item = declared.item or item_question(table)
    return table.why(person, item) if item else ""


def item_question(table: Table) -> str:
    """Return the question that asks what a response is about, or an empty text.

    Examples:
        >>> from evenhand.columns import Source
        >>> columns = {"Whose work are you grading?": ["Bo", "Cy", "Di"]}
        >>> item_question(Table.of(columns, Source()))
        'Whose work are you grading?'
    """
    questions = (
        name
        for name in table.columns
        if ITEM_QUESTION.fullmatch(plain(name)) or is_alias(name, ALIASES["item"])
    )
    return next((name for name in questions if table.columns[name].n_unique() > 1), "")


def read(table: Table, options: layouts.ReadOptions) -> layouts.LongForm:
    """Take a score or a rank from each answer to one question.

    Examples:
        >>> from evenhand.columns import Source
        >>> columns = {"Response ID": [7], "Good? [Tea]": [4], "Good? [Milk]": [3]}
        >>> long = read(Table.of(columns, Source()), layouts.ReadOptions())
        >>> [long.table.texts(name) for name in ("reviewer", "item", "Good?")]
        [['7', '7'], ['Tea', 'Milk'], ['4', '3']]
    """
    declared = options.columns
    refuse_option("weight", declared.weight, "where a row has several scores")
    person = table.column_for("reviewer", declared.reviewer or respondent_of(table))
    item, grids = declared.item or item_question(table), questions_of(table)
    if item and (declared.item or not grids):
        return _read_single(table, options, person, table.column_for("item", item))
    if item:
        shown = shell_word(item)
        raise table.source.whole(
            f"Responses may be about what {quote(item)} names, or about the items of "
            f"{listing(cut_alike(grids))}. For the first say item= or --item {shown} "
            f"and which is the score, for the second exclude= or --exclude {shown}."
        )
    question, items = choose_question(table, options, grids)
    name = "rank" if declared.rank else cut_alike([question])[0] or "score"
    answers = pl.concat(
        pl.DataFrame(
            {"reviewer": table.cells(person), "item": item, name: table.cells(column)}
        ).with_row_index("row")
        for column, item in items.items()
    ).filter(pl.col(name) != "")
    if not answers.height:
        raise table.source.whole("There is no rating: every cell is empty.")
    rows = answers["row"].to_list()
    others = [name for name in table.columns if name not in (person, *items)]
    warned = _say_others(table, others)
    if idle := table.height - answers["row"].n_unique():
        warned = warned.warn("idle_reviewers", reviewers=idle)
    columns = {column: answers[column] for column in ("reviewer", "item", name)}
    long = Table(columns, table.source.keep(rows), notices=warned.notices)
    kind = {"rank" if declared.rank else "score": name}
    origin = f"item from the {len(items)} columns of {quote(question)}, reviewer from "
    names = Columns("reviewer", "item", **kind)
    return layouts.LongForm(long, names, f"{origin}{person!r}")


def _read_single(
    table: Table, options: layouts.ReadOptions, person: str, item: str
) -> layouts.LongForm:
    """Take one score from each response, about the item that a question names."""
    fields = {
        name: values
        for name, values in table.columns.items()
        if name not in (person, item)
        and may_be_scores(values)
        and are_scores(filled_cells(values)).any()
    }
    choose = roles.among(fields, table.source)
    return roles.long_form(table, options, choose, item, person)


def _say_others(table: Table, others: list[str]) -> Table:
    """Say which columns are left out; a question with several is named once."""
    matches = {name: GRID.fullmatch(name) for name in others}
    questions = dict.fromkeys(
        grid[1] if grid else name for name, grid in matches.items()
    )
    if not others:
        return table
    names = few(cut_alike(questions))
    return table.warn("other_columns", columns=len(others), names=names)


def choose_question(
    table: Table, options: layouts.ReadOptions, questions: Mapping[str, Grid]
) -> tuple[str, Grid]:
    """Choose the question that the ratings answer, which the user may have named.

    Raises:
        RatingsError: If several are possible, or if its answers are ranks or words and
            nothing says which is best; the option to type is in the sentence.
    """
    wanted = options.columns.rank or options.columns.score
    start = plain(wanted).rstrip(".")
    matches = [name for name in questions if plain(name).startswith(start)]
    if not questions:
        raise table.source.whole("No question has scores for several items.")
    if len(matches) == 1:
        question = matches[0]
    elif wanted:
        question = roles.choose_score(wanted, list(questions), table.source)
    else:
        question = ""
        with contextlib.suppress(RatingsError):
            question = roles.choose_score("", list(questions), table.source)
    if not question:
        texts = dict(zip(questions, cut_alike(questions), strict=True))
        choices = (
            f"{_option_for(table, questions[name], text, name)} "
            f"({plural(len(questions[name]), 'item')})"
            for name, text in texts.items()
        )
        raise table.source.whole(
            f"Several questions are about items. Choose one: {', or '.join(choices)}."
        )
    require_order(table, options, question, questions[question])
    return question, questions[question]


def _option_for(table: Table, items: Grid, text: str, question: str) -> str:
    shown = shell_word(text)
    return (
        f"--column rank={shown}"
        if _are_ranks(table, items, question)
        else f"--score {shown}"
    )


def require_order(
    table: Table, options: layouts.ReadOptions, question: str, items: Iterable[str]
) -> None:
    """Refuse answers of which nothing says which is best.

    Args:
        table: The responses.
        options: What the user said.
        question: What is asked.
        items: A column for each item.

    Raises:
        RatingsError: If they look like ranks, or are words, and no option says more.
    """
    items = list(items)
    if options.scale or options.columns.rank:
        return
    pooled = pl.concat([filled_cells(table.columns[column]) for column in items])
    shown = cut_alike([question])[0]
    if options.lower_is_better is None and _are_ranks(table, items, question):
        raise table.source.whole(
            f"Answers to {quote(shown)} look like ranks. If 1 is best, say rank= or "
            f"--column rank={shell_word(shown)}; if the highest is best, say "
            "lower_is_better=False or --higher-is-better."
        )
    words = pooled.unique().sort()
    if not are_scores(pooled).any():
        raise table.source.whole(
            f"Answers to {quote(shown)} are words: {listing(words)}. Say their order, "
            "from worst to best, with scale= or --scale: put these words in the right "
            f"order, --scale {shell_word('<'.join(words))}."
        )


def _are_ranks(table: Table, items: Collection[str], question: str) -> bool:
    """Tell ranks: numbers up to the number of items, each once in a row."""
    cells = [table.cells(column).cast(pl.Float64, strict=False) for column in items]
    numbers = np.column_stack([cell.fill_null(np.nan).to_numpy() for cell in cells])
    numbers = np.sort(numbers[np.isfinite(numbers).sum(axis=1) > 1], axis=1)
    whole = np.isnan(numbers) | np.isin(numbers, np.arange(1, len(items) + 1))
    once = (np.diff(numbers, axis=1) != 0).all(axis=1) & whole.all(axis=1)
    alike = len(once) and once.mean() >= MOSTLY
    enough = len(items) > 2 and len(once) >= LEAST_ROWS
    return bool(alike and (enough or RANK.search(question)))


SURVEYS = layouts.Layout(
    "surveys", "responses to a survey", recognise, read, only_scores=False
)
