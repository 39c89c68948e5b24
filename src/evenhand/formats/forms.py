"""Google Forms: one response per row, as its sheet or CSV has them.

A grid has a column "Question [Item]" for each item. Without a grid, a response is about
one item, which a column names. The last response of a person about an item counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import polars as pl

from evenhand.claims import Notice
from evenhand.columns import ALIASES, ID, cut_alike
from evenhand.errors import OptionError, counted, listing
from evenhand.formats import PLATFORMS, layouts, scale
from evenhand.formats.scale import may_be_scores, scored
from evenhand.formats.tables import Table, plain

GRID = re.compile(r"(.*?)\s*\[(.+)\]", re.DOTALL)
EMAIL = re.compile(
    r"(?:your )?(?:e ?mail|username|user name|nutzername|nom d'utilisateur|"
    r"adresse e ?mail|e ?mail adresse|correo|correo electronico|indirizzo e ?mail)"
    r"(?: address)?"
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
TIME = (
    r"^(?<a>\d{1,4})[./-](?<b>\d{1,2})[./-](?<c>\d{1,4}),?[T ]+(?<hour>\d{1,2})"
    r"[:.](?<minute>\d\d)(?:[:.](?<second>\d\d))?\S*\s*(?<half>[aApP])?"
)
DATES, LAST_DAY = ("abc", "cab", "cba"), 31
"""Where year, month and day stand in a date."""
ANONYMOUS = ("", "anonymous", "anonym")
LONGEST_ITEM = 60
UNSIGNED = "Responses do not say who wrote them. Each counts as a reviewer of its own."
NAMESAKES = " If two people share a name, give them labels of their own first."


@dataclass(frozen=True, slots=True)
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

    time: str
    email: str
    name: str
    items: list[str]
    grid: dict[str, tuple[str, str]]
    own: str


def tell(table: Table) -> str:
    """Say why a table holds responses to a form: a time first, and a grid or an item.

    Examples:
        >>> from evenhand.columns import Source
        >>> columns = {"Timestamp": ["2026/05/01 9:30:00"], "How good? [Tea]": ["4"]}
        >>> tell(Table.of(columns, Source()))
        "columns 'Timestamp' and 'How good? [Tea]'"
    """
    form = _form(table)
    if not form.time:
        return ""
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
    form = _form(table)
    given = asked.columns
    person = form.email or form.name
    if given.reviewer:
        person = table.named("reviewer", given.reviewer)
    notices = [] if person else [Notice("pseudonyms", UNSIGNED)]
    people = table.cells(person) if person else "response " + table.cells(form.time)
    used = {form.time, form.email, form.name, form.own, person}
    taken = _gridded
    if given.item or (form.items and not asked.rows):
        taken = _one_each
    where, score, rows = taken(table, asked, form, people, used)
    kept = _last(table, form.time, rows)
    if kept.height < rows.height:
        replaced = counted(rows.height - kept.height, "earlier score")
        text = f"{replaced} of the same person for the same item left out: the last "
        hint = "" if form.email else NAMESAKES
        notices.append(Notice("earlier_responses", f"{text}counts.{hint}"))
    notices += _unused(table, used)
    reviews = table.keep(kept["row"].to_list())

    def choose(name: str) -> layouts.Place:
        if name == given.score:
            return score, kept["score"]
        return name, reviews.cells(reviews.named("weight", name))

    found = layouts.rated(
        reviews,
        asked,
        choose,
        item=(where, kept["item"]),
        reviewer=lambda _: ((repr(person or form.time), kept["reviewer"]), ()),
        notices=notices,
    )
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
    first = [*table.columns][:3]
    # A form writes it with a capital letter, people most often do not.
    named = [it for it in first if plain(it) in PLATFORMS["forms"] and it[0].isupper()]
    return next(iter(named), "")


def _form(table: Table) -> _Form:
    names = list(table.columns)
    time = time_of(table)
    emails = (name for name in names if EMAIL.fullmatch(plain(name)))
    signed = (
        it
        for it in emails
        if not table.cells(it).str.to_lowercase().is_in(ANONYMOUS).all()
    )
    email = next(signed, "")
    person = next((name for name in names if NAME.fullmatch(plain(name))), "")
    found = {name: GRID.fullmatch(name) for name in names}
    grid = {name: (it[2].strip(), it[1]) for name, it in found.items() if it}
    items = [
        name
        for name in names
        if name not in (time, email, person, *grid)
        and ITEM.fullmatch(plain(name))
        and _names_items(table, name)
    ]
    # "Which team is yours?" has answers that are among the items of a grid.
    inside = {plain(item) for item, _ in grid.values()} | {""}
    own = [it for it in items if grid and {*map(plain, table.texts(it))} <= inside]
    items = [one for one in items if one not in own]
    return _Form(time, email, person, items, grid, next(iter(own), ""))


def _names_items(table: Table, name: str) -> bool:
    """Return whether answers may be names of items, not scores or remarks."""
    cells = table.cells(name)
    known = scale.given(cells)
    scores = len(known) > 0 and scored(known).all() and not ID.search(name)
    long = bool((cells.str.len_chars() > LONGEST_ITEM).any())
    return bool((cells != "").any()) and not scores and not long


def _fields(table: Table, used: set[str]) -> list[str]:
    """Return the questions that may hold scores: words only if none has numbers."""
    free = [name for name in _free(table, used) if may_be_scores(table.columns[name])]
    return [name for name in free if scored(table.cells(name)).any()] or free


def _free(table: Table, used: set[str]) -> list[str]:
    """Return the columns of answers that are not used yet."""
    names = [name for name in table.columns if name not in used]
    return [name for name in names if not OWN.fullmatch(plain(name))]


Taken = tuple[str, str, pl.DataFrame]
"""Where items were found, what the score is called, and the scores of each row."""


def _one_each(
    table: Table, asked: layouts.Asked, form: _Form, people: pl.Series, used: set[str]
) -> Taken:
    """Take one score from each response, about the item that a column names."""
    given = asked.columns
    if len(form.items) > 1 and not given.item:
        raise table.source.whole(
            f"Several columns may be the item: {listing(cut_alike(form.items))}. Say "
            "which with item= or --item."
        )
    item = table.named("item", given.item or form.items[0])
    used |= {item}
    fields = _fields(table, used)
    # A criterion of a grid goes without its question.
    short = {it: grid[2].strip() for it in fields if (grid := GRID.fullmatch(it))}
    known = {short.get(it, it): it for it in fields}
    wanted = short.get(given.score, given.score)
    alone = len(known) == 1 and not layouts.ABOUT_REVIEWERS.search(plain(fields[0]))
    if not alone or wanted:
        wanted = layouts.choose_score(wanted, list(known), table.source)
    score = known[wanted] if wanted else fields[0]
    used |= {score}
    rows = _rows(people, table.cells(item), table.cells(score))
    return repr(item), score, rows


def _gridded(
    table: Table, asked: layouts.Asked, form: _Form, people: pl.Series, used: set[str]
) -> Taken:
    """Take a score from each cell of a grid, or of each question about an item."""
    if asked.columns.weight:
        raise OptionError("weight must be left out where a row has several scores.")
    if asked.rows == "reviewers":
        columns = _fields(table, used)
        items = dict(zip(columns, layouts.cut(columns), strict=True))
        where, question = "the questions", "score"
    else:
        questions = list(dict.fromkeys(it for _, it in form.grid.values()))
        if not questions:
            raise table.no_column("item")
        where, question = "the text in [...]", questions[0]
        if len(questions) > 1 or asked.columns.score:
            question = layouts.choose_score(
                asked.columns.score, questions, table.source
            )
        items = {name: it for name, (it, of) in form.grid.items() if of == question}
    used |= {*items}
    parts = [_rows(people, it, table.cells(name)) for name, it in items.items()]
    filled = [part.filter(pl.col("score") != "") for part in parts]
    if not any(part.height for part in filled):
        raise table.source.whole("There is no rating: every cell is empty.")
    return where, question or "score", pl.concat(filled)


def _rows(people: pl.Series, item: pl.Series | str, score: pl.Series) -> pl.DataFrame:
    rows = pl.DataFrame({"reviewer": people, "item": item, "score": score})
    return rows.with_row_index("row")


def _last(table: Table, column: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Keep the last score of each person for each item."""
    whole = rows.with_row_index("place").filter(
        pl.all_horizontal(pl.col("reviewer", "item", "score") != "")
    )
    last = whole.unique(["reviewer", "item"], keep="last")
    if not column or last.height == whole.height:
        return rows
    if not _in_order(table.cells(column)):
        raise table.source.whole(
            f"Somebody responded twice, and the last response counts, but {column} is "
            "not in the order of time. Sort the rows by it, with dates such as "
            "2026-05-01 9:30:00."
        )
    earlier = {*whole["place"]} - {*last["place"]}
    return rows[[place for place in range(rows.height) if place not in earlier]]


def _in_order(times: pl.Series) -> bool:
    """Return whether times go up, in one of the ways to read their dates."""
    cells = times.str.extract_groups(TIME).struct.unnest()
    half = pl.col("half").str.to_lowercase()
    cells = cells.with_columns(pl.exclude("half").cast(pl.Int64)).with_columns(
        pl.col("hour") % pl.when(half.is_null()).then(24).otherwise(12)
        + pl.when(half == "p").then(12).otherwise(0),
        pl.col("second").fill_null(0),
    )
    ages = [cells.select(*it, "hour", "minute", "second").rows() for it in DATES]
    return cells["a"].null_count() == 0 and any(
        age == sorted(age) and age[0][0] > LAST_DAY for age in ages
    )


def _unused(table: Table, used: set[str]) -> list[Notice]:
    """Say which columns of answers were not used."""
    rest = [
        name for name in _free(table, used) if len(scale.given(table.columns[name]))
    ]
    were = "was" if len(rest) == 1 else "were"
    text = f"{counted(len(rest), 'column')} {were} not used: "
    listed = listing(cut_alike(rest))
    return [Notice("unused_columns", f"{text}{listed}.")] if rest else []


FORMS = layouts.Layout(
    "forms", "responses to a Google form", take, tell=tell, only_scores=False
)
