"""Google Forms: one response per row, as its sheet or CSV has them.

A grid has a column "Question [Item]" for each item. Without a grid, a response is about
one item, which a column names. The last response of a person about an item counts.
"""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl

from evenhand.columns import ALIASES, ID, cut_alike
from evenhand.errors import counted, listing, require_unused
from evenhand.formats import PLATFORMS, layouts, scale
from evenhand.formats.scale import may_be_scores, scored
from evenhand.formats.tables import Table, plain

GRID = re.compile(r"(.*?)\s*\[(.+)\]", re.DOTALL)
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
    r"presentation|presenter|speaker|pitch|essay|film|projekt|vortrag|gruppe)s?\b.*"
)
OWN = re.compile("id|start time|last modified time|language")
"""Other columns that a form adds by itself."""
ANONYMOUS = ("", "anonymous", "anonym")
LONGEST_ITEM = 60
UNSIGNED = "Responses do not say who wrote them. Each counts as a reviewer of its own."
NAMESAKES = " If two people share a name, give them labels of their own first."


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
            name
            for name in names
            if EMAIL.fullmatch(plain(name))
            and not table.cells(name).str.to_lowercase().is_in(ANONYMOUS).all()
        )
        self.email = next(emails, "")
        self.name = next((it for it in names if NAME.fullmatch(plain(it))), "")
        found = {name: GRID.fullmatch(name) for name in names}
        self.grid = {name: (it[2].strip(), it[1]) for name, it in found.items() if it}
        items = [
            name
            for name in names
            if name not in (self.time, self.email, self.name, *self.grid)
            and ITEM.fullmatch(plain(name))
            and _names_items(table, name)
        ]
        # "Which team is yours?" has answers that are among the items of a grid.
        inside = {plain(item) for item, _ in self.grid.values()} | {""}
        own = {it for it in items if {*map(plain, table.texts(it))} <= inside}
        self.items = [one for one in items if one not in own]
        self.own = next(iter(own), "")


def tell(table: Table) -> str:
    """Say why a table holds responses to a form: a time first, and a grid or an item.

    Examples:
        >>> from evenhand.columns import Source
        >>> columns = {"Timestamp": ["2026/05/01 9:30:00"], "How good? [Tea]": ["4"]}
        >>> tell(Table.of(columns, Source()))
        "columns 'Timestamp' and 'How good? [Tea]'"
    """
    if not time_of(table):
        return ""
    form = _Form(table)
    if form.grid and not form.items:
        return table.why(form.time, next(iter(form.grid)))
    person = form.email or form.name
    sure = person and len(form.items) == 1
    return table.why(form.time, person, *form.items) if sure else ""


def take(table: Table, asked: layouts.Asked) -> layouts.Long:
    """Take the last score that each person gave to each item.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import Asked
        >>> columns = {"Timestamp": ["2026/05/01 9:30:00"], "Name": ["Bo"],
        ...            "How good? [Tea]": ["4"], "How good? [Milk]": [""]}
        >>> long = take(Table.of(columns, Source()), Asked())
        >>> [long.table.texts(name) for name in ("reviewer", "item", "How good?")]
        [['Bo'], ['Tea'], ['4']]
    """
    form, given = _Form(table), asked.columns
    person = form.email or form.name
    if given.reviewer:
        person = table.named("reviewer", given.reviewer)
    if not person:
        table = table.noted("pseudonyms", UNSIGNED)
    people = table.cells(person) if person else "response " + table.cells(form.time)
    one_each = given.item or (form.items and not asked.rows)
    taken = _one_each if one_each else _gridded
    where, score, items = taken(table, asked, form)
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
        earlier = counted(rows.height - kept.height, "earlier score")
        text = f"{earlier} of the same person for the same item left out: the last in "
        hint = "" if form.email else NAMESAKES
        reviews = reviews.noted("earlier_responses", f"{text}the file counts.{hint}")

    def choose(name: str) -> layouts.Place:
        if name == given.score:
            return score, kept["score"]
        return name, reviews.cells(reviews.named("weight", name))

    writers = (repr(person or form.time), kept["reviewer"]), reviews
    place = where, kept["item"]
    found = layouts.rated(reviews, asked, choose, place, lambda _: writers)
    more = [form.name if form.email else "", form.own]
    called = [table.texts(name) for name in more if name]
    names = {who: ";".join(them) for who, *them in zip(people, *called, strict=True)}
    return replace(found, people=names)


def time_of(table: Table) -> str:
    """Return the column of times that a form puts first, or an empty text.

    Examples:
        >>> from evenhand.columns import Source
        >>> time_of(Table.of({"Timestamp": ["1"], "Name": ["Bo"]}, Source()))
        'Timestamp'
    """
    # A form writes it with a capital letter, people most often do not.
    names = (it for it in [*table.columns][:3] if it[0].isupper())
    return next((it for it in names if plain(it) in PLATFORMS["forms"]), "")


def _names_items(table: Table, name: str) -> bool:
    """Return whether answers may be names of items, not scores or remarks."""
    cells = table.cells(name)
    known = scale.given(cells)
    scores = len(known) > 0 and scored(known).all() and not ID.search(name)
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
    return [name for name in free if scored(table.cells(name)).any()] or free


Taken = tuple[str, str, dict[str, pl.Series | str]]
"""Where items were found, what the score is called, and each column's item or items."""


def _one_each(table: Table, asked: layouts.Asked, form: _Form) -> Taken:
    """Take one score from each response, about the item that a column names."""
    given = asked.columns
    if len(form.items) > 1 and not given.item:
        raise table.source.whole(
            f"Several columns may be the item: {listing(cut_alike(form.items))}. Say "
            "which with item= or --item."
        )
    item = table.named("item", given.item or form.items[0])
    # A criterion of a grid goes without its question.
    known = {form.grid.get(it, [it])[0]: it for it in _fields(table, form, item)}
    wanted = form.grid.get(given.score, [given.score])[0]
    if wanted or len(known) != 1:
        wanted = layouts.choose_score(wanted, list(known), table.source)
    score = known[wanted or next(iter(known))]
    return repr(item), score, {score: table.cells(item)}


def _gridded(table: Table, asked: layouts.Asked, form: _Form) -> Taken:
    """Take a score from each cell of a grid, or of each question about an item."""
    require_unused("weight", asked.columns.weight, "where a row has several scores")
    if asked.rows == "reviewers":
        columns = _fields(table, form)
        return (
            "the questions",
            "score",
            dict(zip(columns, layouts.cut(columns), strict=True)),
        )
    questions = list(dict.fromkeys(it for _, it in form.grid.values()))
    if not questions:
        raise table.no_column("item")
    question, given = questions[0], asked.columns.score
    if len(questions) > 1 or given:
        question = layouts.choose_score(given, questions, table.source)
    pairs = ((name, it) for name, (it, of) in form.grid.items() if of == question)
    return "the text in [...]", question or "score", dict(pairs)


FORMS = layouts.Layout(
    "forms", "responses to a Google form", take, tell=tell, only_scores=False
)
