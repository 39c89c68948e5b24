"""Google Forms: one response per row, as its sheet or CSV has them.

A grid has a column "Question [Item]" for each item. Without a grid, a response is about
one item, which a column names. The last response of a person about an item counts.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from evenhand.claims import Notice
from evenhand.columns import ALIASES, ID, cut_alike
from evenhand.errors import OptionError, counted, listing
from evenhand.formats import layouts
from evenhand.formats.tables import plain, strings, texts

if TYPE_CHECKING:
    from evenhand.formats.layouts import Asked, Long
    from evenhand.formats.tables import Table

TIMES = (
    *("Timestamp", "Zeitstempel", "Horodateur", "Marca temporal", "Tijdstempel"),
    *("Informazioni cronologiche", "Carimbo de data/hora", "Completion time"),
)
"""The first column of a form's responses, in several languages; the last is of
Microsoft Forms."""
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
TIME = re.compile(
    r"(\d{1,4})[./-](\d{1,2})[./-](\d{1,4}),?[T ]+(\d{1,2})[:.](\d\d)"
    r"(?:[:.](\d\d))?\S*\s*([aApP])?.*"
)
DATES, LAST_DAY = ((0, 1, 2), (2, 0, 1), (2, 1, 0)), 31
"""Where year, month and day stand in a date."""
ANONYMOUS = frozenset({"", "anonymous", "anonym"})
LONGEST_ITEM = 60
UNSIGNED = "Responses do not say who wrote them. Each counts as a reviewer of its own."
NAMESAKES = " If two people share a name, give them labels of their own first."

Row = tuple[int, str, str, str]
"""A row of the table, and its reviewer, item and score."""


class _Form(NamedTuple):
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

    @property
    def person(self) -> str:
        """The column that tells reviewers apart."""
        return self.email or self.name


def tell(table: Table) -> str:
    """Say why a table holds responses to a form: a time first, and a grid or an item.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.tables import Table
        >>> columns = {"Timestamp": ["2026/05/01 9:30:00"], "How good? [Tea]": ["4"]}
        >>> tell(Table({**columns}, Source()))
        "columns 'Timestamp' and 'How good? [Tea]'"
    """
    form = _form(table)
    if not form.time:
        return ""
    if form.grid and not form.items:
        return table.why(form.time, next(iter(form.grid)))
    sure = form.person and len(form.items) == 1
    return table.why(form.time, form.person, *form.items) if sure else ""


def take(table: Table, asked: Asked) -> Long:
    """Take the last score that each person gave to each item.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import Asked
        >>> from evenhand.formats.tables import Table
        >>> columns = {"Timestamp": ["2026/05/01 9:30:00"], "Name": ["Bo"],
        ...            "How good? [Tea]": ["4"], "How good? [Milk]": [""]}
        >>> long = take(Table({**columns}, Source()), Asked())
        >>> [long.columns[name] for name in ("reviewer", "item", "How good?")]
        [['Bo'], ['Tea'], ['4']]
    """
    form = _form(table)
    given = asked.columns
    person = table.named("reviewer", given.reviewer) if given.reviewer else form.person
    notices = [] if person else [Notice("pseudonyms", UNSIGNED)]
    people = texts(table.columns[person]) if person else []
    if not person:
        people = [f"response {time}" for time in table.texts(form.time)]
    used = {form.time, form.email, form.name, form.own, person}
    if given.item or (form.items and not asked.rows):
        asked_item = given.item or _only(table, form.items)
        where, rows, score = _one_each(table, asked, asked_item, people, used)
    else:
        where, rows, score = _gridded(table, asked, form, people, used)
    rows, replaced = _last(table, form.time, rows)
    if replaced:
        text = f"{counted(replaced, 'earlier score')} of the same person for the same "
        hint = "" if form.email else NAMESAKES
        notices.append(
            Notice("earlier_responses", f"{text}item left out: the last counts.{hint}")
        )
    notices += _unused(table, used)
    weight = given.weight and table.named("weight", given.weight)
    called = table.texts(form.name) if form.email and form.name else []
    own = table.texts(form.own) if form.own else []
    return replace(
        layouts.rated(
            table.source.keep([row for row, *_ in rows]),
            item=(where, [item for _, _, item, _ in rows]),
            reviewer=(repr(person or form.time), [who for _, who, _, _ in rows]),
            score=(score, [cell for *_, cell in rows]),
            weight=[texts(table.columns[weight])[row] for row, *_ in rows]
            if weight
            else None,
            titles={},
            notices=notices,
        ),
        people={
            who: ";".join(filter(None, names))
            for who, *names in zip(people, *filter(None, (called, own)), strict=True)
        },
    )


def time_of(table: Table) -> str:
    """Return the column of times that a form puts first, or an empty text.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.tables import Table
        >>> time_of(Table({"Timestamp": ["1"], "Name": ["Bo"]}, Source()))
        'Timestamp'
    """
    return next((name for name in [*table.columns][:3] if name in TIMES), "")


def _form(table: Table) -> _Form:
    names = list(table.columns)
    time = time_of(table)
    emails = [
        name
        for name in names
        if EMAIL.fullmatch(plain(name))
        and not {text.casefold() for text in table.texts(name)} <= ANONYMOUS
    ]
    people = [name for name in names if NAME.fullmatch(plain(name))]
    grid = {
        name: (it[2].strip(), it[1]) for name in names if (it := GRID.fullmatch(name))
    }
    items = [
        name
        for name in names
        if name not in (time, *emails[:1], *people[:1], *grid)
        and ITEM.fullmatch(plain(name))
        and _names_items(table, name)
    ]
    # "Which team is yours?" has answers that are among the items of a grid.
    inside = {plain(item) for item, _ in grid.values()}
    own = [one for one in items if {*map(plain, table.texts(one))} - {""} <= inside]
    if grid and own:
        items = [one for one in items if one not in own]
    return _Form(
        time,
        next(iter(emails), ""),
        next(iter(people), ""),
        items,
        grid,
        own[0] if grid and own else "",
    )


def _names_items(table: Table, name: str) -> bool:
    """Return whether answers may be names of items, not scores or remarks."""
    cells = strings(table.columns[name])
    cells = cells.filter(cells != "")
    given = layouts.given(cells)
    scores = len(given) > 0 and layouts.scored(given).all() and not ID.search(name)
    long = bool((cells.str.len_chars() > LONGEST_ITEM).any())
    return len(cells) > 0 and not scores and not long


def _only(table: Table, items: list[str]) -> str:
    if len(items) > 1:
        raise table.source.whole(
            f"Several columns may be the item: {listing(cut_alike(items))}. Say which "
            "with item= or --item."
        )
    return items[0]


def _fields(table: Table, used: set[str]) -> list[str]:
    """Return the questions that may hold scores: words only if none has numbers."""
    free = [
        name
        for name, values in table.columns.items()
        if name not in used
        and not OWN.fullmatch(plain(name))
        and layouts.may_be_scores(values)
    ]
    numbers = [it for it in free if layouts.scored(strings(table.columns[it])).any()]
    return numbers or free


def _one_each(
    table: Table, asked: Asked, item: str, people: list[str], used: set[str]
) -> tuple[str, list[Row], str]:
    """Take one score from each response, about the item that a column names."""
    item = table.named("item", item)
    used |= {item}
    fields = _fields(table, used)
    # A criterion of a grid goes without its question.
    short = {it: grid[2].strip() for it in fields if (grid := GRID.fullmatch(it))}
    known = {short.get(it, it): it for it in fields}
    wanted = short.get(asked.columns.score, asked.columns.score)
    alone = len(known) == 1 and not layouts.ABOUT_REVIEWERS.search(plain(fields[0]))
    if not alone or wanted:
        wanted = layouts.choose_score(wanted, list(known), table.source)
    score = known[wanted] if wanted else fields[0]
    used |= {score}
    cells = zip(people, texts(table.columns[item]), table.texts(score), strict=True)
    return repr(item), [(row, *cell) for row, cell in enumerate(cells)], score


def _gridded(
    table: Table, asked: Asked, form: _Form, people: list[str], used: set[str]
) -> tuple[str, list[Row], str]:
    """Take a score from each cell of a grid, or of each question about an item."""
    if asked.rows == "reviewers":
        columns = _fields(table, used)
        items = dict(zip(columns, layouts.cut(columns), strict=True))
        question = "score"
    else:
        questions = list(dict.fromkeys(it for _, it in form.grid.values()))
        if not questions:
            raise table.no_column("item")
        question = questions[0]
        if len(questions) > 1 or asked.columns.score:
            question = layouts.choose_score(
                asked.columns.score, questions, table.source
            )
        items = {name: it for name, (it, of) in form.grid.items() if of == question}
    used |= {*items}
    if asked.columns.weight:
        raise OptionError("weight must be left out where a row has several scores.")
    rows = [
        (row, who, item, cell)
        for column, item in items.items()
        for row, (who, cell) in enumerate(
            zip(people, texts(table.columns[column]), strict=True)
        )
        if cell
    ]
    if not rows:
        raise table.source.whole("There is no rating: every cell is empty.")
    where = "the text in [...]" if asked.rows != "reviewers" else "the questions"
    return where, rows, question or "score"


def _last(table: Table, column: str, rows: list[Row]) -> tuple[list[Row], int]:
    """Keep the last score of each person for each item, and count the others."""
    last = {
        (who, item): place
        for place, (_, who, item, cell) in enumerate(rows)
        if who and item and cell
    }
    kept = [
        row
        for place, row in enumerate(rows)
        if not all(row[1:]) or last[row[1], row[2]] == place
    ]
    if not column or len(kept) == len(rows):
        return rows, 0
    if not _in_order(table.texts(column)):
        raise table.source.whole(
            f"Somebody responded twice, and the last response counts, but {column} is "
            "not in the order of time. Sort the rows by it, with dates such as "
            "2026-05-01 9:30:00."
        )
    return kept, len(rows) - len(kept)


def _in_order(times: list[str]) -> bool:
    """Return whether times go up, in one of the ways to read their dates."""
    matches = [match for text in times if (match := TIME.fullmatch(text))]
    ages: dict[tuple[int, ...], list[list[int]]] = {order: [] for order in DATES}
    for match in matches:
        date = [int(match[part]) for part in (1, 2, 3)]
        hour, half = int(match[4]), (match[7] or "").casefold()
        hour = hour % 12 + 12 * (half == "p") if half else hour
        for order, found in ages.items():
            clock = [hour, int(match[5]), int(match[6] or 0)]
            found.append([*(date[part] for part in order), *clock])
    return len(matches) == len(times) and any(
        found == sorted(found) and all(year > LAST_DAY for year, *_ in found)
        for found in ages.values()
    )


def _unused(table: Table, used: set[str]) -> list[Notice]:
    """Say which columns of answers were not used."""
    rest = [
        name
        for name, values in table.columns.items()
        if name not in used
        and not OWN.fullmatch(plain(name))
        and len(layouts.given(values))
    ]
    were = "was" if len(rest) == 1 else "were"
    text = f"{counted(len(rest), 'column')} {were} not used: "
    listed = listing(cut_alike(rest))
    return [Notice("unused_columns", f"{text}{listed}.")] if rest else []


LAYOUT = layouts.Layout("forms", "responses to a Google form", take, tell=tell)
