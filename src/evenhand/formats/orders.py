"""Orders: what each reviewer put first, second and so on.

They stand in columns, a reviewer each with the best item on top; in rows with columns
such as "Rank 1" and "2nd choice"; or as lists in cells, such as "A > B = C".
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from evenhand.columns import ALIASES, NUMBER, Columns, candidates, is_alias
from evenhand.errors import listing, plural
from evenhand.formats import layouts
from evenhand.formats.tables import Table, plain, strings

if TYPE_CHECKING:
    from collections.abc import Sequence

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")
NOUN = "(?:rank|place|choice|position|preference|pick)"
PLACE = re.compile(
    rf"{NOUN} ?#? ?(\d+)|(\d+)(?:st|nd|rd|th)(?: {NOUN})?|({'|'.join(ORDINALS)}) {NOUN}"
)
"""How the column of a place in the order is called."""
LIST = re.compile(
    r"(?:your |my )?(?:ranking|rank|order|ordering|ballot|preference|vote|list)s?"
)
"""How a column of lists is called."""
NUMBERING = re.compile(rf"{NOUN}|#|no|nr|number")
ROLES = frozenset().union(*ALIASES.values())


class OrderLists(NamedTuple):
    """Orders in a table.

    Attributes:
        reason: By what they were recognised.
        rows: Row, reviewer, item and rank.
        doubt: Why the table may hold something else; empty if it does not.
    """

    reason: str
    rows: pl.DataFrame
    doubt: str = ""


def recognise(table: Table, options: layouts.ReadOptions) -> str:
    """Say why a table holds orders.

    Raises:
        RatingsError: If it may hold something else.

    Examples:
        >>> from evenhand.columns import Source
        >>> columns = {"Name": ["Bo"], "Rank 1": ["tea"], "Rank 2": ["milk"]}
        >>> recognise(Table.of(columns, Source()), layouts.ReadOptions())
        "columns 'Rank 1' and 'Rank 2'"
    """
    declared = options.columns
    other_kind = declared.item or declared.score or declared.weight
    orders = None if other_kind else find_orders(table, declared.reviewer)
    if orders and orders.doubt:
        raise table.source.whole(
            f"By {orders.reason} this may hold orders, best first, but {orders.doubt}. "
            "If it does, say --format orders."
        )
    return orders.reason if orders else ""


def read(table: Table, options: layouts.ReadOptions) -> layouts.LongForm:
    """Take a rank from each place in each order.

    Examples:
        >>> from evenhand.columns import Source
        >>> columns = {"voter": ["Bo"], "ranking": ["tea > milk = soup"]}
        >>> read(Table.of(columns, Source()), layouts.ReadOptions()).table.texts("rank")
        ['1', '2', '2']
    """
    orders = find_orders(table, options.columns.reviewer, forced=options.format != "")
    if not orders or not orders.rows.height:
        raise table.source.whole(
            f"No orders among columns {listing(table.columns)}. Give a column for each "
            "reviewer, best item first; or columns Rank 1, Rank 2; or A > B = C."
        )
    rows, source = orders.rows, table.source.keep(orders.rows["row"].to_list())
    people, items = (rows[part].n_unique() for part in ("reviewer", "item"))
    columns = {part: rows[part] for part in ("reviewer", "item", "rank")}
    long = replace(table, columns=columns, source=source, corner=None)
    origin = f"{plural(people, 'order')} of {plural(items, 'item')}, best first"
    return layouts.LongForm(long, Columns("reviewer", "item", rank="rank"), origin)


def find_orders(
    table: Table, reviewer: str, *, forced: bool = False
) -> OrderLists | None:
    """Return the orders that a table holds, or None if there are none."""
    called = {place: name for name in table.columns if (place := _place(name))}
    places = [called[place] for place in sorted(called)]
    if len(places) > 1 and max(called) == len(places):
        people = _people(table, reviewer, places)
        columns = [(people, table.cells(name)) for name in places]
        rows = _stack([(*column, place + 1) for place, column in enumerate(columns)])
        numbers = rows["item"].str.contains(NUMBER).all()
        doubt = "their cells are numbers, as ranks and scores are" if numbers else ""
        return OrderLists(table.why(places[0], places[-1]), rows, doubt)
    lists = (_in_cells(table, reviewer, name) for name in table.columns)
    orders = next(filter(None, lists), None)
    return orders if orders or reviewer else _in_columns(table, forced=forced)


def _place(name: str) -> int:
    """Return the place that a column is called by, or 0.

    Examples:
        >>> [_place(name) for name in ("Rank 1", "2nd choice", "third_place", "q 1")]
        [1, 2, 3, 0]
    """
    match = PLACE.fullmatch(plain(name))
    if match is None:
        return 0
    return ORDINALS.index(match[3]) + 1 if match[3] else int(match[1] or match[2])


def _in_columns(table: Table, *, forced: bool) -> OrderLists | None:
    """Take a column for the order of a reviewer, if columns hold the same items."""
    ranks = pl.Series(range(1, table.height + 1))
    columns = {name: table.cells(name) for name in table.columns}
    for name, cells in [*columns.items()]:
        if NUMBERING.fullmatch(plain(name)) and cells.equals(ranks.cast(pl.String)):
            del columns[name]
    named = any(is_alias(name, ROLES) for name in columns)
    filled = [cells.filter(cells != "") for cells in columns.values()]
    repeated = any(cells.n_unique() < len(cells) for cells in filled)
    if len(columns) < 2 or (not forced and (repeated or named)):
        return None
    counts = pl.concat(filled).value_counts()["count"]
    numbers = any(cells.str.contains(NUMBER).all() for cells in filled)
    if 2 * int((counts > 1).sum()) < len(counts) or (numbers and not forced):
        return None
    rows = _stack([(name, cells, ranks) for name, cells in columns.items()])
    numbered = len(columns) < len(table.columns)
    enough = len(counts) > 2 and (len(columns) > 2 or numbered)
    complete = enough and (counts == len(columns)).all()
    doubt = "" if complete else "not three columns hold every item"
    return OrderLists(
        f"{plural(len(columns), 'column')} of the same items", rows, doubt
    )


def _in_cells(table: Table, reviewer: str, name: str) -> OrderLists | None:
    """Take the order in each cell of a column of lists."""
    cells, is_list = table.cells(name), LIST.fullmatch(plain(name)) is not None
    signs = [sign for sign in ">,;|/" if cells.str.contains(sign, literal=True).any()]
    pointed = 2 * int(cells.str.count_matches(">").clip(0, 1).sum()) > len(cells)
    signs = [">"] if pointed else signs
    if not signs or not (pointed or is_list):
        return None
    if len(signs) > 1:
        raise table.source.whole(
            f"Column {name!r} holds lists with {listing(signs)} in them. Write > "
            "between items, best first, and = between equal ones."
        )
    rows = pl.DataFrame({"reviewer": _people(table, reviewer, [name]), "tier": cells})
    rows = rows.with_row_index("row").with_columns(pl.col("tier").str.split(signs[0]))
    rows = rows.explode("tier").filter(pl.col("tier").str.strip_chars() != "")
    rows = rows.with_columns(rank=pl.int_range(1, pl.len() + 1).over("row"))
    items = pl.col("tier").str.split("=").alias("item")
    rows = rows.with_columns(items).explode("item")
    rows = rows.with_columns(pl.col("item").str.strip_chars())
    rows = rows.filter(pl.col("item") != "")
    sure = (pointed and is_list) or rows["item"].n_unique() < rows.height
    doubt = "" if is_list else "its cells may be paths"
    return OrderLists(table.why(name), rows, doubt) if sure else None


def _people(table: Table, reviewer: str, used: Sequence[str]) -> pl.Series:
    """Return who ordered in each row: a column that names them, or else a number."""
    others = [name for name in table.columns if name not in used]
    names = candidates("reviewer", others, Columns(reviewer))
    names += [name for name in others if len(others) == 1]
    if names and (reviewer or table.cells(names[0]).n_unique() == table.height):
        return table.cells(table.column_for("reviewer", names[0]))
    if table.corner is not None:
        return strings(table.corner)
    return pl.Series(range(1, table.height + 1)).cast(pl.String)


def _stack(
    columns: Sequence[tuple[pl.Series | str, pl.Series, pl.Series | int]],
) -> pl.DataFrame:
    """Stack columns of items, each with its reviewers and ranks."""
    names = ("reviewer", "item", "rank")
    frames = [pl.DataFrame(dict(zip(names, column, strict=True))) for column in columns]
    rows = pl.concat([frame.with_row_index("row") for frame in frames])
    return rows.filter(pl.col("item") != "")


ORDERS = layouts.Layout("orders", "orders", recognise, read, only_scores=False)
