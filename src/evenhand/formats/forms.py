"""Google Forms: one response per row, as its sheet or CSV has them.

A grid has a column "Question [Item]" for each item. Without a grid, a response is about
one item, which a column names. The last response of a person about an item counts.
"""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl

from evenhand.columns import ALIASES, ID, cut_alike
from evenhand.errors import listing, refuse_option
from evenhand.formats import PLATFORMS, layouts, roles, scale, surveys
from evenhand.formats.scale import are_scores, may_be_scores
from evenhand.formats.surveys import GRID
from evenhand.formats.tables import Table, plain

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
ITEM = re.compile(
    r".*\b(?:" + "|".join(sorted(ALIASES["item"])) + r"|team|group|student|talk|poster|"
    r"presentation|presenter|speaker|pitch|essay|film|projekt|vortrag|gruppe)s?\b.*|"
    + surveys.ITEM_QUESTION.pattern
)
OWN = re.compile("id|start time|last modified time|language")
"""Other columns that a form adds by itself."""
ANONYMOUS = ("", "anonymous", "anonym")
LONGEST_ITEM = 60


class _Form:
    """The columns of a form.

    Attributes:
        time: When a response came in.
        email: Who wrote it; empty if no column says so.
        name: The writer's name; empty if no column says so.
        items: Columns that may name the item that a response is about.
        grid: The item or criterion and the question of each column of a grid.
        own: The item of the writer's own, among those of the grid.
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
        self.email = next(emails, "")
        self.name = next((name for name in names if NAME.fullmatch(plain(name))), "")
        matches = {column: GRID.fullmatch(column) for column in names}
        self.grid = {
            column: (name[2].strip(), name[1])
            for column, name in matches.items()
            if name
        } or {
            column: (item, question)
            for question, columns in surveys.questions_of(table).items()
            for column, item in columns.items()
        }
        items = [
            column
            for column in names
            if column not in (self.time, self.email, self.name, *self.grid)
            and ITEM.fullmatch(plain(column))
            and _names_items(table, column)
        ]
        # "Which team is yours?" has answers that are among the items of a grid.
        inside = {plain(item) for item, _ in self.grid.values()} | {""}
        own = {name for name in items if {*map(plain, table.texts(name))} <= inside}
        self.items = [name for name in items if name not in own]
        self.own = next(iter(own), "")


def recognise(table: Table, options: layouts.ReadOptions) -> str:
    """Say why a table holds responses to a form: a time first, and a grid or an item.

    Examples:
        >>> from evenhand.columns import Source
        >>> columns = {"Timestamp": ["2026/05/01 9:30:00"], "How good? [Tea]": ["4"]}
        >>> recognise(Table.of(columns, Source()), layouts.ReadOptions())
        "columns 'Timestamp' and 'How good? [Tea]'"
    """
    declared = options.columns
    other_kind = declared.winner or declared.rank or options.rows == "items"
    if not time_of(table) or other_kind:
        return ""
    form = _Form(table)
    if form.grid and not form.items:
        return table.why(form.time, next(iter(form.grid)))
    person = form.email or form.name
    if person and len(form.items) == 1:
        return table.why(form.time, person, *form.items)
    return table.why(form.time) if declared.item or options.rows else ""


def read(table: Table, options: layouts.ReadOptions) -> layouts.LongForm:
    """Take the last score that each person gave to each item.

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
    signature = form.email or form.name
    if declared.reviewer:
        signature = table.column_for("reviewer", declared.reviewer)
    if not signature:
        table = table.warn("pseudonyms", case="form")
    people = (
        table.cells(signature) if signature else "response " + table.cells(form.time)
    )
    one_each = declared.item or (form.items and not options.rows)
    taken = _take_column if one_each else _take_grid
    where, score, items = taken(table, options, form)
    parts = [
        pl.DataFrame({"reviewer": people, "item": item, "score": table.cells(name)})
        for name, item in items.items()
    ]
    rows = pl.concat([part.with_row_index("row") for part in parts])
    kept = rows = rows.filter(pl.col("score") != "")
    if not rows.height:
        raise table.source.whole("There is no rating: every cell is empty.")
    if form.time:
        kept = rows.unique(["reviewer", "item"], keep="last", maintain_order=True)
    reviews = table.keep(kept["row"].to_list())
    if kept.height < rows.height:
        earlier = rows.height - kept.height
        case = {} if form.email else {"case": "by_name"}
        reviews = reviews.warn("earlier_responses", scores=earlier, **case)

    def choose(name: str) -> roles.Place:
        if name == declared.score:
            return score, kept["score"]
        return name, reviews.cells(reviews.column_for("weight", name))

    writers = (repr(signature or form.time), kept["reviewer"]), reviews
    place = where, kept["item"]
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
    return next((name for name in names if plain(name) in PLATFORMS["forms"][1]), "")


def _names_items(table: Table, name: str) -> bool:
    """Return whether answers may be names of items, not scores or remarks."""
    cells = table.cells(name)
    answers = scale.filled_cells(cells)
    scores = len(answers) > 0 and are_scores(answers).all() and not ID.search(name)
    longest = max(map(len, cells), default=0)
    return not scores and 0 < longest <= LONGEST_ITEM


def _fields(table: Table, form: _Form, item: str = "") -> list[str]:
    """Return the questions that may hold scores: words only if none has numbers."""
    used = (form.time, form.email, form.name, form.own, item)
    free = [
        name
        for name, values in table.columns.items()
        if name not in used and not OWN.fullmatch(plain(name)) and may_be_scores(values)
    ]
    if not free:
        raise table.source.whole("No field holds scores.")
    return [name for name in free if are_scores(table.cells(name)).any()] or free


Taken = tuple[str, str, dict[str, pl.Series | str]]
"""Where items were found, what the score is called, and each column's item or items."""


def _take_column(table: Table, options: layouts.ReadOptions, form: _Form) -> Taken:
    """Take one score from each response, about the item that a column names."""
    declared = options.columns
    if len(form.items) > 1 and not declared.item:
        raise table.source.whole(
            f"Several columns may be the item: {listing(cut_alike(form.items))}. Say "
            "which with item= or --item."
        )
    item = table.column_for("item", declared.item or form.items[0])
    # A criterion of a grid goes without its question.
    by_criterion = {
        form.grid.get(field, [field])[0]: field for field in _fields(table, form, item)
    }
    wanted = form.grid.get(declared.score, [declared.score])[0]
    if wanted or len(by_criterion) != 1:
        wanted = roles.choose_score(wanted, list(by_criterion), table.source)
    score = by_criterion[wanted or next(iter(by_criterion))]
    return repr(item), score, {score: table.cells(item)}


def _take_grid(table: Table, options: layouts.ReadOptions, form: _Form) -> Taken:
    """Take a score from each cell of a grid, or of each question about an item."""
    refuse_option("weight", options.columns.weight, "where a row has several scores")
    if options.rows == "reviewers":
        columns = _fields(table, form)
        return (
            "the questions",
            "score",
            dict(zip(columns, roles.drop_prefix(columns), strict=True)),
        )
    questions = list(dict.fromkeys(item for _, item in form.grid.values()))
    if not questions:
        raise table.no_column("item")
    if not all(map(GRID.fullmatch, form.grid)):
        grids = surveys.questions_of(table)
        question, grid = surveys.choose_question(table, options, grids)
        return f"the columns of {question!r}", question, {**grid}
    question, wanted = questions[0], options.columns.score
    if len(questions) > 1 or wanted:
        question = roles.choose_score(wanted, questions, table.source)
    items = {name: item for name, (item, of) in form.grid.items() if of == question}
    surveys.require_order(table, options, question, items)
    return "the text in [...]", question or "score", {**items}


FORMS = layouts.Layout(
    "forms", "responses to a form", recognise, read, only_scores=False
)
