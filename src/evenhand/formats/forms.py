"""Forms and surveys: a row for each response, a column for each question.

A column is about one item of a question: "Question [item]", "Question | item",
"Question - item" or "item - Question"; or a response is about one item, which a column
names. Google Forms, which writes a time first, lets people answer again: the last
response of a person about an item counts. SurveyMonkey, Qualtrics, LimeSurvey and
others name respondents. Other questions are left out.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evenhand.claims import few
from evenhand.columns import ALIASES, ID, Columns, candidates, cut_alike, is_alias
from evenhand.errors import (
    RatingsError,
    listing,
    plural,
    quote,
    refuse_option,
    shell_word,
)
from evenhand.formats import TIMES, layouts, roles
from evenhand.formats.scale import (
    are_scores,
    filled_cells,
    may_be_scores,
    usual_scale,
)
from evenhand.formats.tables import Table, plain

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

GRID = re.compile(r"(.*?)\s*\[(.+)\]", re.DOTALL)
SIGNS = (" | ", " - ", " \u2013 ")
RESPONDENT = (
    *("prolific pid", "email address", "email", "recipient email", "respondentid"),
    *("respondent id", "responseid", "response id", "internal id", "id", "timestamp"),
)
"""Columns of respondents; people come before responses."""
EMAIL = re.compile(
    r"(?:\w+ )?(?:e ?mail|correo|username|user name|nutzername|nom d'utilisateur)"
    r"(?: \w+)?"
)
NAME = re.compile(
    r"(?:(?:what is )?(?:your|my|dein|ihr|votre|tu|il tuo) )?(?:full |first )?"
    r"(?:name|nom|nombre|nome)\??|(?:"
    + "|".join(sorted(ALIASES["reviewer"]))
    + r")(?: name)?"
)
ITEM_QUESTION = re.compile(
    r"(?:who|whom|whose|which|what)\b.*\b"
    r"(?:grad|rat|review|evaluat|assess|scor|judg)ing\b.*"
)
"""What asks for the item that a response is about."""
ITEM = re.compile(
    r".*\b(?:" + "|".join(sorted(ALIASES["item"])) + r"|team|group|student|talk|poster|"
    r"presentation|presenter|speaker|pitch|essay|film|projekt|vortrag|gruppe)s?\b.*|"
    + ITEM_QUESTION.pattern
)
OWN = re.compile("id|start time|last modified time|language")
"""Other columns that a form adds by itself."""
ANONYMOUS = ("", "anonymous", "anonym")
LONGEST_ITEM = 60
RANK = re.compile(r"\brank(?:ing|ed)?\b", re.IGNORECASE)
MOSTLY = 0.95
LEAST_ROWS = 3

Grid = dict[str, str]
"""The item of each column of a question."""


class _Form:
    """The columns of a form.

    Attributes:
        time: When a response came in, if the form writes it first.
        email: Who wrote it; empty if no column says so.
        person: Who wrote it, by e-mail, name or number.
        name: The writer's name; empty if no column says so.
        grids: The questions that have scores for several items.
        items: Columns that may name the item that a response is about.
        own: The item of the writer's own, among those of a grid.
    """

    def __init__(self, table: Table) -> None:
        """Tell the columns by their names, and items by their answers."""
        names = list(table.columns)
        self.time = time_of(table)
        emails = (
            column
            for column in names
            if EMAIL.fullmatch(plain(column))
            and not table.cells(column).str.to_lowercase().is_in(ANONYMOUS).all()
        )
        self.email = next(emails, "") if self.time else ""
        self.name = next((name for name in names if NAME.fullmatch(plain(name))), "")
        respondents = filter(None, map(table.find, RESPONDENT))
        complete = (name for name in respondents if "" not in table.cells(name))
        self.person = self.email or self.name if self.time else next(complete, "")
        self.grids = questions_of(table, alone=self.time != "")
        inside = {column for grid in self.grids.values() for column in grid}
        used = (self.time, self.person, self.name)
        free = [name for name in names if name not in inside and name not in used]
        items = [name for name in free if self._names_items(table, name)]
        # "Which team is yours?" has answers that are among the items of a grid.
        every = {plain(item) for grid in self.grids.values() for item in grid.values()}
        own = {
            name for name in items if {*map(plain, table.texts(name))} <= every | {""}
        }
        self.items = [name for name in items if name not in own]
        self.own = next(iter(own), "")

    def _names_items(self, table: Table, name: str) -> bool:
        """Return whether answers may be names of items, not scores or remarks."""
        cells, question = table.cells(name), plain(name)
        if not self.time:
            names_item = ITEM_QUESTION.fullmatch(question) is not None
            names_item |= is_alias(name, ALIASES["item"])
            return names_item and cells.n_unique() > 1
        answers = filled_cells(cells)
        scores = len(answers) > 0 and are_scores(answers).all() and not ID.search(name)
        longest = max(map(len, cells), default=0)
        is_item = ITEM.fullmatch(question) is not None
        return is_item and not scores and 0 < longest <= LONGEST_ITEM


def questions_of(table: Table, *, alone: bool = False) -> dict[str, Grid]:
    """Return the questions that have scores for several items, with their columns.

    Args:
        table: The responses.
        alone: Whether a question in brackets may be about one item.

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
        if len({*items.values()}) == len(items)
        and (len(items) > 1 or (alone and all(map(GRID.fullmatch, items))))
        and _has_scores(table, items)
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
    # A box that was ticked holds 1 or a word.
    single = {*usual.values()} == {"1"} or not are_scores(pooled).any()
    is_tick = named or (len({*usual.values()}) == 1 < len(items) and single)
    return not (is_tick and ticked >= MOSTLY * len(pooled))


def recognise(table: Table, options: layouts.ReadOptions) -> str:
    """Say why a table holds responses: a time or a respondent, and a grid or an item.

    Examples:
        >>> from evenhand.columns import Source
        >>> columns = {"Timestamp": ["2026/05/01 9:30:00"], "How good? [Tea]": ["4"]}
        >>> recognise(Table.of(columns, Source()), layouts.ReadOptions())
        "columns 'Timestamp' and 'How good? [Tea]'"
    """
    declared = options.columns
    if declared.winner or options.rows == "items":
        return ""
    form = _Form(table)
    # Programs of surveys write tables; a document is a platform's.
    is_survey = not options.rows and table.document is None
    first = form.time or (form.person if is_survey else "")
    if first and form.grids and not (form.items if form.time else declared.item):
        return (
            f"columns {first!r} and {cut_alike(next(iter(form.grids.values())))[0]!r}"
        )
    if form.time and not declared.rank:
        if form.person and len(form.items) == 1:
            return table.why(form.time, form.person, *form.items)
        return table.why(form.time) if declared.item or options.rows else ""
    # A table with a column of reviewers is in long form.
    long = declared.reviewer or candidates("reviewer", list(table.columns), Columns())
    items = [declared.item] if declared.item else form.items[:1]
    return table.why(first, *items) if first and items and not long else ""


def read(table: Table, options: layouts.ReadOptions) -> layouts.LongForm:
    """Take the last score, or the rank, that each person gave to each item.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import ReadOptions
        >>> columns = {"Timestamp": ["2026/05/01 9:30:00"], "Name": ["Bo"],
        ...            "How good? [Tea]": ["4"], "How good? [Milk]": [""]}
        >>> long = read(Table.of(columns, Source()), ReadOptions())
        >>> [long.table.texts(name) for name in ("reviewer", "item", "How good?")]
        [['Bo'], ['Tea'], ['4']]
    """
    form, declared = _Form(table), options.columns
    person = form.person
    if declared.reviewer:
        person = table.column_for("reviewer", declared.reviewer)
    if not person:
        table = table.warn("pseudonyms", case="form")
    people = table.cells(person) if person else "response " + table.cells(form.time)
    score, items = _take_items(table, options, form)
    parts = [
        pl.DataFrame({"reviewer": people, "item": item, "score": table.cells(name)})
        for name, item in items.items()
    ]
    rows = pl.concat([part.with_row_index("row") for part in parts])
    rows = rows.filter(pl.col("score") != "")
    if not rows.height:
        raise table.source.whole("There is no rating: every cell is empty.")
    used = (person, *items, *options.criteria)
    table = table if form.time else _say_others(table, used, rows["row"])
    kept = rows
    if form.time:
        kept = rows.unique(["reviewer", "item"], keep="last", maintain_order=True)
    reviews = table.keep(kept["row"].to_list())
    if kept.height < rows.height:
        earlier = rows.height - kept.height
        case = {} if form.email else {"case": "by_name"}
        reviews = reviews.warn("earlier_responses", scores=earlier, **case)

    def choose(name: str) -> roles.Place:
        if name == declared.score:
            return cut_alike([score])[0] or "score", kept["score"]
        return name, reviews.cells(reviews.column_for("weight", name))

    writers = (repr(person or form.time), kept["reviewer"]), reviews
    place = _place_of(items), kept["item"]
    long = roles.long_form(reviews, options, choose, place, lambda _: writers)
    more = [form.name if form.email else "", form.own]
    called = [table.texts(name) for name in more if name]
    names = {
        person: ";".join(them) for person, *them in zip(people, *called, strict=True)
    }
    return replace(long, people=names)


def time_of(table: Table) -> str:
    """Return the column of times that a form puts first, or an empty text.

    Examples:
        >>> from evenhand.columns import Source
        >>> time_of(Table.of({"Timestamp": ["1"], "Name": ["Bo"]}, Source()))
        'Timestamp'
    """
    # A form writes it with a capital letter, people most often do not.
    names = (name for name in [*table.columns][:3] if name[0].isupper())
    return next((name for name in names if plain(name) in TIMES), "")


def _place_of(items: Mapping[str, pl.Series | str]) -> str:
    """Say where items were found."""
    if all(isinstance(item, str) for item in items.values()):
        in_brackets = all(map(GRID.fullmatch, items))
        return "the text in [...]" if in_brackets else plural(len(items), "column")
    (cells,) = items.values()
    return repr(cells.name)  # type: ignore[union-attr]  # a column


def _say_others(table: Table, used: Collection[str], rows: pl.Series) -> Table:
    """Say which columns are left out, a question with several once, and who is idle."""
    others = [name for name in table.columns if name not in used]
    matches = {name: GRID.fullmatch(name) for name in others}
    questions = dict.fromkeys(
        grid[1] if grid else name for name, grid in matches.items()
    )
    if others:
        names = few(cut_alike(questions))
        table = table.warn("other_columns", columns=len(others), names=names)
    idle = table.height - rows.n_unique()
    return table.warn("idle_reviewers", reviewers=idle) if idle else table


def _take_items(
    table: Table, options: layouts.ReadOptions, form: _Form
) -> tuple[str, dict[str, pl.Series | str]]:
    """Return what the score is called, and the item or items of each column of it."""
    declared = options.columns
    if not (form.time or declared.item) and form.items and form.grids:
        shown = shell_word(form.items[0])
        raise table.source.whole(
            f"Responses may be about what {quote(form.items[0])} names, or about the "
            f"items of {listing(cut_alike(form.grids))}. For the first say item= or "
            f"--item {shown} and which is the score, for the second exclude= or "
            f"--exclude {shown}."
        )
    if declared.item or (form.items and not options.rows):
        return _take_column(table, options, form)
    refuse_option("weight", declared.weight, "where a row has several scores")
    if options.rows == "reviewers":
        columns = _fields(table, form)
        return "score", dict(zip(columns, roles.drop_prefix(columns), strict=True))
    if not form.grids:
        raise table.no_column("item")
    question, grid = choose_question(table, options, form.grids)
    return question, {**grid}


def _fields(table: Table, form: _Form, item: str = "") -> list[str]:
    """Return the questions that may hold scores: words only if none has numbers."""
    used = (form.time, form.person, form.name, form.own, item)
    free = [
        name
        for name, values in table.columns.items()
        if name not in used and not OWN.fullmatch(plain(name)) and may_be_scores(values)
    ]
    if not free:
        raise table.source.whole("No field holds scores.")
    return [name for name in free if are_scores(table.cells(name)).any()] or free


def _take_column(
    table: Table, options: layouts.ReadOptions, form: _Form
) -> tuple[str, dict[str, pl.Series | str]]:
    """Take one score from each response, about the item that a column names."""
    declared = options.columns
    if len(form.items) > 1 and not declared.item:
        raise table.source.whole(
            f"Several columns may be the item: {listing(cut_alike(form.items))}. Say "
            "which with item= or --item."
        )
    item = table.column_for("item", declared.item or form.items[0])

    def criterion(name: str) -> str:
        # A criterion of a grid goes without its question.
        grid = GRID.fullmatch(name)
        return grid[2].strip() if grid else name

    by_criterion = {criterion(field): field for field in _fields(table, form, item)}
    wanted = criterion(declared.score)
    if wanted or len(by_criterion) != 1:
        wanted = roles.choose_score(wanted, list(by_criterion), table.source)
    score = by_criterion[wanted or next(iter(by_criterion))]
    return score, {score: table.cells(item).alias(item)}


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
    question = matches[0] if len(matches) == 1 else ""
    if wanted and not question:
        question = roles.choose_score(wanted, list(questions), table.source)
    with contextlib.suppress(RatingsError):
        question = question or roles.choose_score("", list(questions), table.source)
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
    _require_order(table, options, question, questions[question])
    return question, questions[question]


def _option_for(table: Table, items: Grid, text: str, question: str) -> str:
    ranks = _are_ranks(table, items, question)
    return f"{'--column rank=' if ranks else '--score '}{shell_word(text)}"


def _require_order(
    table: Table, options: layouts.ReadOptions, question: str, items: Grid
) -> None:
    """Refuse answers of which nothing says which is best: ranks and words.

    Raises:
        RatingsError: If they look like ranks, or are words, and no option says more.
    """
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
    if not are_scores(pooled).any() and not usual_scale(words):
        raise table.source.whole(
            f"Answers to {quote(shown)} are words: {listing(words)}. Say their order, "
            "from worst to best, with scale= or --scale 'worst<...<best'."
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


FORMS = layouts.Layout(
    "forms", "responses to a form", recognise, read, only_scores=False
)
