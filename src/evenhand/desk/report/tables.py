"""The tables of a report, and the facts that stand in lists."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from evenhand._cards import (
    SOURCES,
    Html,
    counts,
    escaped,
    figure,
    joined,
    name,
    said,
    share,
    shortened,
)
from evenhand._results import version
from evenhand.desk.report.comparison_figures import used
from evenhand.errors import printable
from evenhand.lab.check import PAIR, SIDE, more_reviews, share_text
from evenhand.ranking._card import is_drawn, settled_by_chance

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evenhand._results import Json, Label
    from evenhand.ab.comparison import Comparison
    from evenhand.desk.report.figures import Figure
    from evenhand.lab.check import Check
    from evenhand.lab.contradictions import Contradictions
    from evenhand.lab.ladder import Ladder
    from evenhand.lab.needed import Needed
    from evenhand.lab.reviewers import Shares
    from evenhand.ranking.results import RankedItem, Ranking
    from evenhand.ratings import Ratings

    Facts: TypeAlias = list[tuple[str, object]]

__all__ = ["SOURCES"]

# Rows of the numbers behind a chart, draws, coins in a cell, and reviewers of a draw.
MOST_NUMBERS, MOST_DRAWS, COINS, WHO = 1000, 2000, 3, 8
LONG_CELL, LONG_OPTIONS = 200, 2000
ALWAYS = ("rank", "item", "reviews")
SHARES = {
    "posterior over orderings": "in all orders that agree with the comparisons",
    "model": "if the model that was fitted for it is right",
    "bootstrap over reviewers": "in repeats with reviewers drawn again",
}
ASSUMED = {
    "none": "All reviewers use one scale",
    "offset": "Some reviewers are stricter than others",
    "offset and slope": "Some are stricter, and some spread their scores more widely",
    "monotone": "Each reviewer has an increasing scale of their own",
    "order only": "Only each reviewer's own order counts",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        title: Its heading.
        number: Whether it holds numbers.
        hint: What it means, a sentence; shown when the heading is pointed at.
        largest_first: Whether the first click puts large values on top.
    """

    title: str
    number: bool = False
    hint: str = ""
    largest_first: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: what is shown, and what it is sorted by if not by that."""

    text: str
    key: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table, with the attributes of its element."""

    cells: tuple[Cell, ...]
    attributes: Html = field(default=Html(""))


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        name: Element id.
        caption: What it shows.
        columns: Its columns; the one named by `header` heads the rows.
        rows: Its rows.
        header: Which column heads the rows.
        sortable: Whether the reader may sort it.
        noun: What rows are, for a box that searches them; empty for no box.
        left: Rows that are left out.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    header: int = 0
    sortable: bool = False
    noun: str = ""
    left: int = 0


def cell(value: object, key: float | None = None) -> Cell:
    """Make a cell of anything; numbers are shown with three digits.

    Examples:
        >>> cell(0.12345), cell(None), cell(1200)
        (Cell(text='0.123', key=0.12345), Cell(text='', key=None),
        Cell(text='1,200', key=1200))
    """
    if isinstance(value, Cell):
        return value
    if isinstance(value, Html):
        return Cell(value, key)
    if isinstance(value, int | float):
        text = figure(value) if isinstance(value, float) else f"{value:,}"
        return Cell(text, value if key is None else key)
    return Cell("" if value is None else shortened(printable(value), LONG_CELL), key)


def rows_of(rows: Iterable[Sequence[object]]) -> tuple[Row, ...]:
    """Make rows of values.

    Examples:
        >>> rows_of([["x", 1]])[0].cells[1].text
        '1'
    """
    return tuple(Row(tuple(map(cell, row))) for row in rows)


def numbers(shown: Figure) -> Table:
    """Lay out the numbers behind a chart.

    Examples:
        >>> from evenhand.desk.report.figures import Figure
        >>> made = numbers(Figure("x", "X", "How.", "What.", {}, ("a",), ((1.5,),)))
        >>> made.name, made.columns[0].number
        ('numbers-x', True)
    """
    rows = shown.rows[:MOST_NUMBERS]
    values = zip(*rows, strict=True) if rows else [["none"]] * len(shown.header)
    return Table(
        f"numbers-{shown.name}",
        f"Numbers behind “{shown.title}”",
        tuple(
            Column(title, number=all(map(_is_number, column)))
            for title, column in zip(shown.header, values, strict=True)
        ),
        rows_of(rows),
        left=len(shown.rows) - len(rows),
    )


def _is_number(value: object) -> bool:
    return value is None or isinstance(value, int | float)


def ranking(ratings: Ratings, result: Ranking) -> Table:
    """Lay out the order as a table that can be sorted and searched.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> [one.title for one in ranking(ratings, rank(ratings, rng=7)).columns[:2]]
        ['rank', 'item']
    """
    coins = settled_by_chance(result)
    columns = _ranking_columns(0 if result.top is None else result.top.k)
    made = [_ranking_cells(ratings, result, row, coins) for row in result.items]
    kept = [
        place
        for place, column in enumerate(columns)
        if column.title in ALWAYS or any(cells[place].text for cells in made)
    ]
    above = (None, *result.items)
    rows = tuple(
        Row(tuple(cells[place] for place in kept), _attributes(result, row, before))
        for row, before, cells in zip(result.items, above, made, strict=False)
    )
    return Table(
        "ranking-table",
        f"Items, best first ({counts(len(rows), 'item')})",
        tuple(columns[place] for place in kept),
        rows,
        header=1,
        sortable=True,
        noun="item",
    )


def _attributes(result: Ranking, row: RankedItem, before: RankedItem | None) -> Html:
    """Draw a line above a new group, and the cut; name the group for sorting."""
    k = None if result.top is None else result.top.k
    marks = {
        "edge ": before is not None and before.bucket != row.bucket,
        "cut ": k is not None and row.rank == k + 1,
        "in": k is not None and row.rank <= k,
    }
    classes = "".join(mark for mark, there in marks.items() if there)
    group = "" if row.bucket is None else f' data-g="{row.bucket}"'
    return Html((f' class="{classes}"' if classes else "") + group)


def _ranking_columns(k: int) -> tuple[Column, ...]:
    hint = "A share under the method's assumption, not a chance of being right."
    spread = "Standard deviation of its scores."
    return (
        Column("rank", number=True),
        Column("item"),
        Column("ranks from and to", number=True, hint="Places that it could have."),
        Column("group", number=True, hint="Items of a group are not told apart."),
        Column("mean rank", number=True),
        Column("reviews", number=True, largest_first=True),
        Column("mean score", number=True, largest_first=True),
        Column("spread", number=True, hint=spread, largest_first=True),
        Column(f"share in top {k:,}", number=True, hint=hint, largest_first=True),
        Column("settled by chance"),
    )


def _ranking_cells(
    ratings: Ratings, result: Ranking, row: RankedItem, coins: dict[Label, list[Html]]
) -> list[Cell]:
    places = "" if row.rank_low is None else f"{row.rank_low} to {row.rank_high}"
    told = coins.get(row.item, [])
    more = [f"and {len(told) - COINS} more"] if len(told) > COINS else []
    mark = ""
    if result.top is not None and row.item in result.top.only_here:
        mark = f"{result.top.other} leaves it out"
    elif result.top is not None and row.item in result.top.only_there:
        mark = f"{result.top.other} has it in"
    item = name(row.item, ratings.titles.get(row.item))
    if mark:
        item = Html(f'{item} <span class="mark">{escaped(mark)}</span>')
    values = (
        row.rank,
        item,
        cell(places, row.rank_low),
        row.bucket,
        row.mean_rank,
        row.reviews,
        row.mean_score,
        row.spread,
        cell(share(row.p_top, certain=not is_drawn(result)), row.p_top),
        Html("; ".join([*told[:COINS], *more])),
    )
    return list(map(cell, values))


def ranking_facts(result: Ranking) -> Facts:
    """List what else is known of a ranking."""
    facts: Facts = []
    unknown = any(
        one.code in ("confounded", "one_rating_reviewers") for one in result.notices
    )
    if result.rho is not None and not unknown:
        title = "Share of reviewers' offsets in the variance"
        facts.append((title, f"{100 * result.rho:.0f} %"))
    if result.eta_price is not None:
        title = "Price of neighbours put at risk (Kendall tau)"
        facts.append((title, figure(result.eta_price)))
    return facts


def draws(result: Ranking) -> Table:
    """List the coins with their probabilities."""
    rows = []
    for draw in result.draws[:MOST_DRAWS]:
        one, two = draw.items
        swapped = draw.first != one
        chance = 1 - draw.p_first if swapped else draw.p_first
        who = [name(reviewer) for reviewer in dict.fromkeys(draw.reviewers)]
        row = (
            name(draw.first),
            name(one if swapped else two),
            cell(share(chance, certain=False), chance),
            joined(who, WHO) if who else "",
        )
        rows.append(row)
    hint = "Of the coin, not of being right."
    return Table(
        "draw-table",
        "Pairs that a coin settled",
        (
            Column("put first"),
            Column("put second"),
            Column("probability of that draw", True, hint, largest_first=True),  # noqa: FBT003 - a number
            Column("scores of"),
        ),
        rows_of(rows),
        sortable=True,
        left=max(0, len(result.draws) - MOST_DRAWS),
    )


def reviewers(check: Check) -> Table:
    """List how strict each reviewer is and how widely they score."""
    columns = (
        Column("reviewer"),
        Column("ratings", number=True, largest_first=True),
        Column("strictness"),
        Column(
            "above or below others",
            number=True,
            hint="Points above (+) or below (-) what others give to the same items, "
            "with its standard error.",
        ),
        Column("spread"),
        Column(
            "times as wide",
            number=True,
            hint="How much wider than others they spread their scores.",
            largest_first=True,
        ),
    )
    rows = [
        (
            name(one.reviewer),
            one.ratings,
            one.strictness,
            cell(_with_error(one.offset, one.offset_se, "+"), one.offset),
            one.spread,
            cell(_with_error(one.slope, one.slope_se, ""), one.slope),
        )
        for one in check.reviewers
    ]
    return Table(
        "reviewer-table",
        "Reviewers, how strict they are and how widely they score",
        columns,
        rows_of(rows),
        sortable=True,
        noun="reviewer",
    )


def _with_error(value: float | None, error: float | None, sign: str) -> str:
    if value is None or error is None:
        return ""
    # Two digits of the error, and as many decimals of the value.
    places = 2 if error <= 0 else min(6, max(0, 1 - math.floor(math.log10(error))))
    return f"{value:{sign}.{places}f} ± {error:.{places}f}"


def shares(found: Shares) -> Facts:
    """List the shares of the variance."""
    parts = (
        ("Items' values", found.item),
        ("Reviewers' strictness", found.reviewer),
        ("The rest", found.rest),
    )
    unknown = "cannot be told from the rest"
    return [(title, share_text(one) if one else unknown) for title, one in parts]


def contested(found: Contradictions) -> Table:
    """List the pairs of items with the most votes each way."""
    columns = (
        Column("one item"),
        Column("the other item"),
        Column("put the one above", number=True),
        Column("put the other above", number=True),
    )
    caption = "Pairs of items with the most votes each way"
    rows = [(*map(name, pair.items), *pair.votes) for pair in found.worst]
    return Table("contested", caption, columns, rows_of(rows))


def dissenters(found: Contradictions) -> Table:
    """List the reviewers who are unusually often in the minority."""
    columns = (
        Column("reviewer"),
        Column("against most others", number=True),
        Column("of comparisons", number=True),
    )
    caption = "Reviewers who are unusually often against most others"
    rows = [(name(one.reviewer), one.minority, one.shared) for one in found.dissenters]
    return Table("dissenters", caption, columns, rows_of(rows))


def rungs(ladder: Ladder) -> Table:
    """List how often each assumption predicts rightly."""
    columns = (
        Column("what is assumed"),
        Column("method that assumes it"),
        Column("predicts rightly", number=True),
        Column("behind the best (points ± standard error)", number=True),
    )
    rows = []
    for rung in ladder.rungs:
        chosen = " (the verdict)" if rung.assumption == ladder.verdict else ""
        behind = f"{100 * rung.behind:.1f} ± {100 * rung.behind_se:.1f}"
        rightly = cell(f"{100 * rung.accuracy:.1f} %", rung.accuracy)
        method = f"{rung.method}{chosen}"
        rows.append(
            (ASSUMED[rung.assumption], method, rightly, cell(behind, rung.behind))
        )
    caption = "How often each assumption predicts rightly"
    return Table("rungs", caption, columns, rows_of(rows))


def targets(needed: Needed) -> Table:
    """List how many more reviews reach what."""
    titles = ("to reach", PAIR, SIDE.format(needed.near))
    rows = [
        (
            cell(f"{100 * pair.probability:g} %", pair.probability),
            more_reviews(pair),
            more_reviews(side),
        )
        for pair, side in zip(needed.pair, needed.side, strict=True)
    ]
    columns = tuple(Column(title, number=True) for title in titles)
    return Table(
        "targets", "Additional reviews needed per item", columns, rows_of(rows)
    )


def scores(ratings: Ratings, result: Comparison) -> Table:
    """Sum up the scores of the two items that the comparison used."""
    rows: list[list[object]] = []
    for item, where in zip(result.items, used(ratings, result), strict=True):
        given = ratings.preference[where]
        sums = (np.mean, np.median, np.min, np.max)
        centre = [float(one(given)) for one in sums] if len(given) else [None] * 4
        rows.append([name(item, ratings.titles.get(item)), len(given), *centre])
    titles = ("scores", "mean", "median", "lowest", "highest")
    columns = (Column("item"), *(Column(title, number=True) for title in titles))
    return Table("score-table", "Scores of the two items", columns, rows_of(rows))


def p_values(result: Comparison) -> Table:
    """List the p-values with what they are held against."""
    declared = result.parameters.get("design") is not None
    unless = "" if declared else ", if the assignment was by lot"
    first, second = map(name, result.items)
    rows = [
        (said("{} is no better", first), result.p_value_first),
        (said("{} is no better", second), result.p_value_second),
        ("neither is better (two-sided)", result.p_value),
    ]
    return Table(
        "p-table",
        f"p-values, whatever increasing scales the reviewers use{unless}",
        (Column("held against the claim that"), Column("p-value", number=True)),
        rows_of(rows),
    )


def repeated(
    method: str,
    parameters: Mapping[str, Json],
    seed: int,
    data: Mapping[str, Json],
    read_as: str,
) -> Facts:
    """List what repeats a result.

    Examples:
        >>> [term for term, _ in repeated("mean", {"top": 3}, 7, {}, "")]
        ['Method', 'Parameters', 'Seed', 'Version']
    """
    options = "; ".join(
        f"{option} = {json.dumps(value, ensure_ascii=False)}"
        for option, value in parameters.items()
        if value is not None
    )
    facts: Facts = [
        ("Method", method),
        ("Parameters", shortened(options, LONG_OPTIONS) or "none"),
        ("Seed", seed),
        ("Version", f"evenhand {version()}"),
    ]
    if "sha256" in data:
        hashed = Html(f"<code>sha256 {escaped(data['sha256'])}</code>")
        facts.append(("Hash of the ratings", hashed))
    if read_as:
        facts.append(("File read as", shortened(read_as, LONG_OPTIONS)))
    return facts
