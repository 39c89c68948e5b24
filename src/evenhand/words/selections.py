"""A selection for people: who is in, who takes part in the draw, and how it went.

The sentences stand in the template "selection"; the page can replay the draw itself.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from evenhand.designs.drawing import SEAL_PREFIX
from evenhand.errors import align_columns, plural
from evenhand.method import as_method
from evenhand.ranking.lineup import number_blocks
from evenhand.ranking.lotteries import SelectionRule
from evenhand.words import cards, pictures, tables
from evenhand.words.pictures import BarList, BarRow
from evenhand.words.text import join_names, name, one_precision, sentences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.ranking.selection import Selection

# Colours of the groups, what stands above their rows, and what became of an item.
KINDS = {"in": "in", "lottery": "open", "out": "out"}
HEADINGS = {"in": "In", "open": "Lottery", "out": "Out"}
OUTCOMES = {True: "drawn", False: "not drawn", None: "lottery"}
CHANCE = "Its chance of a place. It says nothing about how good an item is."


def facts(result: Selection) -> dict[str, Any]:
    """Return what the sentences of a selection need."""
    drawn = [row.drawn for row in result.rows if row.group == "lottery"]
    taken = None if None in drawn else sum(map(bool, drawn))
    return {"sizes": Counter(row.group for row in result.rows), "drawn": taken}


def statements(result: Selection, block: str, **more: object) -> tuple[str, ...]:
    """Fill in a block of the sentences of a selection, in plain text."""
    summary = as_method(result.rule, SelectionRule).summary()
    more |= {**facts(result), "result": result, "summary": summary}
    more |= {"money": "{:,.12g}".format}
    return sentences("selection", block, more, html=False)


def selection_headline(
    rows: Sequence[Mapping[str, Any]], places: int, titles: Mapping[str, str]
) -> tuple[str, list[str]]:
    """Say what a selection that was kept as JSON decided, for a page.

    Args:
        rows: Its items.
        places: How many places there are.
        titles: Titles of items.

    Returns:
        The sentence above a decision, and those that follow it.

    Examples:
        >>> row = {"group": "in", "drawn": True, "item": "x", "chance_exact": "1"}
        >>> selection_headline([row], 1, {})[1]
        [Markup('In without a draw (1): <bdi>x</bdi>.')]
    """
    lottery = [row for row in rows if row["group"] == "lottery"]
    groups = {
        "In without a draw": [row for row in rows if row["group"] == "in"],
        "Drawn": [row for row in lottery if row["drawn"]],
        "Not drawn": [row for row in lottery if not row["drawn"]],
    }
    lines: list[str] = []
    for heading, members in groups.items():
        words = [
            Markup("{} ({})").format(
                name(row["item"], titles.get(str(row["item"]))),
                f"chance {row['chance_exact']}",
            )
            if row["group"] == "lottery"
            else name(row["item"], titles.get(str(row["item"])))
            for row in members
        ]
        if words:
            all_of_them = join_names(words, len(words))
            lines.append(
                Markup("{} ({}): {}.").format(heading, len(words), all_of_them)
            )
    certain, drawn = len(groups["In without a draw"]), len(groups["Drawn"])
    sentence = f"{plural(places, 'place')}: {certain} without a draw"
    lot = f", {drawn} drawn by lot from {len(lottery)}" if lottery else ""
    return f"{sentence}{lot}.", lines


def item_rows(result: Selection) -> BarList:
    """Lay out what is in, the lottery and what is out: intervals and chances."""
    items = sorted(result.rows, key=lambda row: ([*KINDS].index(row.group), row.rank))
    rows, chances = [], [float(row.chance) for row in items]
    for row in items:
        title, ends = result.titles.get(row.item, ""), (row.low, row.high)
        word = OUTCOMES[row.drawn] if row.group == "lottery" else row.group
        kind, dot = KINDS[row.group], row.estimate
        rows.append(BarRow(row.item, title, ends, dot, word, kind, row.rank))
    axis = pictures.axis([end for row in items for end in (row.low, row.high)])
    columns = {"chance, %": (CHANCE, pictures.per_cent(chances, certain=True))}
    named = "interval", None, None, "result", HEADINGS
    return BarList("item", rows, columns, axis, *named)


def table(result: Selection, most: int = tables.WINDOW) -> tables.TextTable:
    """Lay out the items: all if there are few, else the chosen or those near them."""
    bars, total = item_rows(result), len(result.rows)
    first = max(min(facts(result)["sizes"]["in"] - 2, total - most), 0)
    shown = [*range(total)][first : first + most]
    if result.draw and total > most:
        chosen = {row.item for row in result.rows if row.drawn}
        by_fate = sorted(range(total), key=lambda at: bars.rows[at].label not in chosen)
        shown = by_fate[:most]
    rows = [bars.rows[at] for at in shown]
    ends = one_precision([end for row in rows for end in row.ends or ()])
    columns: tables.Columns = {
        tables.Number("rank"): [row.place for row in rows],
        tables.Column("item", one_line=bool(result.titles)): [
            name(row.label, row.title or None) for row in rows
        ],
        tables.Number("interval"): [*map("{} to {}".format, ends[::2], ends[1::2])],
        tables.Number("chance, %"): [bars.columns["chance, %"][1][at] for at in shown],
        tables.Column("result"): [row.word for row in rows],
    }
    hidden = total - len(rows)
    return tables.table(f"{hidden:,} rows are not shown" if hidden else "", columns)


def parts(
    result: Selection, command: str = "", *, explained: bool = False
) -> list[str | tables.TextTable]:
    """Say what was selected, for a terminal: decision, table, rule, claim, and draw.

    Args:
        result: The selection.
        command: The command that draws, if nothing was drawn.
        explained: Whether all rows, all rules and the whole claim are to be shown.
    """
    layout = table(result, len(result.rows) if explained else tables.WINDOW)
    more = {"command": command, "explained": explained, "hidden": layout.caption}
    whole = card(result, html=False).lines()[1:] if explained else []
    first, costs, claim, last = (
        statements(result, part, **more)
        for part in ("decision", "cost", "guarantee", "next")
    )
    return [*first, layout, *costs, *claim, *whole, *last]


def text(result: Selection) -> str:
    """Show a selection as plain text, as `repr` does."""
    first, layout, *more = parts(result)
    heads, rows = layout.plain()  # type: ignore[union-attr]  # the table
    return "\n".join([str(first), *align_columns([heads, *rows]), *map(str, more)])


def card(result: Selection, *, html: bool = True) -> cards.Card:
    """Say what was selected, for its page and for notebooks."""
    numbers = {**facts(result), "table": table(result)}
    return cards.build_card("selection", result, html=html, **numbers)


def lottery_blocks(result: Selection) -> list[int]:
    """Return which items of the lottery stay side by side, for the page to draw."""
    options: Any = result.parameters
    quotas, costs = options["quotas"] or {}, options["costs"] or {}
    groups = [{*map(str, members)} for members, *_ in quotas.values()]
    prices = {str(label): Fraction(str(float(cost))) for label, cost in costs.items()}
    lottery = [str(row.item) for row in result.rows if row.group == "lottery"]
    numbers = [
        [*(item in group for group in groups), True].index(True) for item in lottery
    ]
    return number_blocks(numbers, [prices.get(item, Fraction(0)) for item in lottery])


def page_facts(result: Selection) -> dict[str, Any]:
    """Return what the page of a selection shows, and what it draws again from."""
    return facts(result) | {
        "result": result,
        "card": card(result),
        "bars": item_rows(result),
        "rows": {row.item: row for row in result.rows},
        "item_ids": pictures.anchors([row.item for row in result.rows]),
        "statements": statements,
        "blocks": lottery_blocks(result),
        "SEAL_PREFIX": SEAL_PREFIX,
    }
