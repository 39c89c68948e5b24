"""The tables of terminals, notebooks and reports."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from markupsafe import Markup

from evenhand.errors import counted
from evenhand.ranking.results import OPEN
from evenhand.words.text import figure, joined, name, share, shortened, span

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.ab.comparison import Comparison
    from evenhand.claims import Label
    from evenhand.diagnosis.check import Distribution
    from evenhand.diagnosis.contradictions import Contradictions
    from evenhand.diagnosis.ladder import Ladder
    from evenhand.diagnosis.needed import Needed
    from evenhand.diagnosis.reviewers import Reviewer
    from evenhand.ranking.results import Draw, RankedItem, Ranking
    from evenhand.ratings import Ratings

    Codes = NDArray[np.int64]
    Titles = Mapping[Label, str]

# Draws on a page, and coins in a cell.
MOST_DRAWS, COINS = 2000, 3
# Width of a bar in text, and rows of a ranking that are shown without --all.
BAR, WINDOW = 30, 40
LONG_CELL = 200
NONE = (None,) * 3
ALWAYS = ("rank", "item", "reviews")
ASSUMED = {
    "none": "All reviewers use one scale",
    "offset": "Some reviewers are stricter than others",
    "offset and slope": "Some are stricter, and some spread their scores more widely",
    "monotone": "Each reviewer has an increasing scale of their own",
    "order only": "Only each reviewer's own order counts",
}


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        title: Its heading.
        hint: What it means, a sentence; shown when the heading is pointed at.
        number: Whether it holds numbers.
        one_line: Whether a terminal cuts what does not fit, as titles.
    """

    title: str
    hint: str = ""
    number: bool = False
    one_line: bool = False


Number = partial(Column, number=True)


Columns: TypeAlias = "Mapping[Column, Iterable[object]]"


class Cell(NamedTuple):
    """A cell of a table: what is shown, and what it is sorted by if not by that."""

    text: str
    key: float | None = None


class Row(NamedTuple):
    """A row of a table, and the line above it: "cut", "edge" or none."""

    cells: tuple[Cell, ...]
    line: str = ""


class Table(NamedTuple):
    """A table.

    Attributes:
        name: Element id.
        caption: What it shows.
        columns: Its columns; the one named by `header` heads the rows.
        rows: Its rows.
        header: Which column heads the rows.
        cut: What stands on the line across the table, if it has one.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    header: int = 0
    cut: str = ""

    def plain(self) -> tuple[list[str], list[list[str]]]:
        """Return headings and cells as text, without groups, which lines show."""
        kept = [place for place, one in enumerate(self.columns) if one.title != "group"]
        cells = [[_plain(row.cells[place].text) for place in kept] for row in self.rows]
        return [self.columns[place].title for place in kept], cells


def table(element: str, caption: str, columns: Columns) -> Table:
    """Make a table of its columns.

    Examples:
        >>> table("t", "Items", {Column("item"): ["x", "y"]}).rows[1].cells[0].text
        'y'
    """
    rows = zip(*(map(cell, column) for column in columns.values()), strict=True)
    return Table(element, caption, tuple(columns), tuple(map(Row, rows)))


def cell(value: object, key: float | None = None) -> Cell:
    """Make a cell of anything; numbers are shown with three digits.

    Examples:
        >>> cell(0.12345), cell(None), cell(1200)
        (Cell(text='0.123', key=0.12345), Cell(text='', key=None),
        Cell(text='1,200', key=1200))
    """
    if isinstance(value, Cell):
        return value
    if isinstance(value, Markup):
        return Cell(value, key)
    if isinstance(value, int | float):
        text = figure(value) if isinstance(value, float) else f"{value:,}"
        return Cell(text, value if key is None else key)
    return Cell("" if value is None else shortened(value, LONG_CELL), key)


def _plain(text: str) -> str:
    return text.striptags() if isinstance(text, Markup) else text


def window(result: Ranking) -> range:
    """Return the rows to show where not all are: what is open, and its neighbours.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a"] * 90, range(90), range(90))
        >>> window(rank(ratings, method="mean-rank", top=50, rng=7))
        range(30, 70)
    """
    total, top = len(result.items), result.top
    if total <= WINDOW or top is None:
        return range(min(total, WINDOW))
    crossing = [row.rank for row in result.items if row.side == OPEN]
    low, high = (min(crossing) - 1, max(crossing)) if crossing else (top.k, top.k)
    middle = (low + high) // 2 if high - low <= WINDOW else top.k
    begin = min(max(middle - WINDOW // 2, 0), total - WINDOW)
    return range(begin, begin + WINDOW)


def ranking(result: Ranking, places: range | None = None) -> Table:
    """Lay out the order as a table that can be sorted and searched.

    Args:
        result: The ranking.
        places: Rows to show, from 0; all if not given.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> [one.title for one in ranking(rank(ratings, rng=7)).columns[:2]]
        ['rank', 'item']
    """
    every, top = result.items, result.top
    places = places or range(len(every))
    rows = every[places.start : places.stop]
    given = {field: [getattr(row, field) for row in rows] for field in rows[0]._fields}
    coins = settled_by_chance(result)
    drawn = result.uncertainty is not None and result.uncertainty.draws > 0
    known = [row for row in rows if row.rank_low is not None]
    columns: dict[Column, list[object]] = {
        Number("rank"): given["rank"],
        Column("item", one_line=bool(result.titles)): [
            name(row.item, result.titles.get(row.item)) for row in rows
        ],
        Number("ranks", "Places that it could have, from and to."): [
            cell(f"{row.rank_low}\u2013{row.rank_high}", row.rank_low) for row in known
        ]
        or [None] * len(rows),
        Number("group", "The ratings do not distinguish the items of a group."): given[
            "bucket"
        ],
        Number("mean rank"): given["mean_rank"],
        Number("reviews"): given["reviews"],
        Number("mean score"): given["mean_score"],
        Number("spread", "Standard deviation of its scores."): given["spread"],
        Number(
            f"share in top {0 if top is None else top.k:,}",
            "A share under the method's assumption, not a chance of being right.",
        ): [cell(share(row.p_top, certain=not drawn), row.p_top) for row in rows],
        Column("settled by chance"): [coins.get(row.item) for row in rows],
    }
    shown = {
        column: cells
        for column, cells in columns.items()
        if column.title in ALWAYS or any(cell(one).text for one in cells)
    }
    caption = (
        f"Items, best first ({counted(len(every), 'item')}{_left(result, places)})"
    )
    made = table("ranking-table", caption, shown)
    lined = tuple(
        one._replace(line=_line(result, row, before))
        for one, row, before in zip(made.rows, rows, (None, *rows), strict=False)
    )
    cut = "" if top is None else f"cut after {top.k:,}"
    return made._replace(rows=lined, header=1, cut=cut)


def _left(result: Ranking, places: range) -> str:
    """Say how many rows are not shown."""
    parts = {"above": places.start, "below": len(result.items) - places.stop}
    said = [f"{number:,} {side}" for side, number in parts.items() if number]
    return f"; {' and '.join(said)} not shown" if said else ""


def settled_by_chance(result: Ranking) -> dict[Label, Markup]:
    """Say for each item which coins it was in, and with what probability.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 2])
        >>> settled_by_chance(rank(ratings, method="mean", rng=7))
        {}
    """
    coins: dict[Label, list[Markup]] = {}
    for draw in result.draws:
        one, other = draw.items
        sides = ((one, other, draw.p_first), (other, one, 1 - draw.p_first))
        for above, below, p in sides:
            said = Markup("{} to be above {}")
            said = said.format(share(p, certain=False), name(below))
            coins.setdefault(above, []).append(said)
    return {item: joined(said, COINS) for item, said in coins.items()}


def _line(result: Ranking, row: RankedItem, before: RankedItem | None) -> str:
    """Say which line is above a row: the cut, or the edge of a group."""
    if result.top is not None and row.rank == result.top.k + 1:
        return "cut"
    new = before is not None and before.bucket != row.bucket
    return "edge" if new else ""


def came_out(draw: Draw) -> tuple[Label, float]:
    """Return the item that a coin put second, and the probability of that order."""
    other = draw.items[0] != draw.first
    return draw.items[not other], (draw.p_first, 1 - draw.p_first)[other]


def draws(result: Ranking) -> list[tuple[Label, Label, float, list[Markup]]]:
    """List the coins: who came first and second, with what probability, by whom.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 2])
        >>> draws(rank(ratings, method="mean", rng=7))
        []
    """
    return [
        (draw.first, *came_out(draw), [*map(name, dict.fromkeys(draw.reviewers))])
        for draw in result.draws[:MOST_DRAWS]
    ]


def _brief(word: str) -> str:
    return "too few" if word.startswith("not enough") else word


def reviewers(rows: Sequence[Reviewer]) -> Table:
    """List how strict each reviewer is and how widely they score."""
    columns: Columns = {
        Column("reviewer"): [name(one.reviewer) for one in rows],
        Number("ratings"): [one.ratings for one in rows],
        Column("strictness"): [_brief(one.strictness) for one in rows],
        Number(
            "above or below others",
            "Points above (+) or below (-) what others give to the same items, with "
            "its standard error.",
        ): [_with_error(one.offset, one.offset_se, "+") for one in rows],
        Column("spread"): [_brief(one.spread) for one in rows],
        Number(
            "times as wide", "How much wider than others they spread their scores."
        ): [_with_error(one.slope, one.slope_se, "") for one in rows],
        Column("agreement", "With the mean of the others' scores of the same items."): [
            _brief(one.agreement) for one in rows
        ],
    }
    caption = "Reviewers, how strict they are and how widely they score"
    return table("reviewer-table", caption, columns)


def _with_error(value: float | None, error: float | None, sign: str) -> Cell:
    if value is None or error is None:
        return Cell("", value)
    # Two digits of the error, and as many decimals of the value.
    places = 2 if error <= 0 else min(6, max(0, 1 - math.floor(math.log10(error))))
    return cell(f"{value:{sign}.{places}f} ± {error:.{places}f}", value)


def contested(found: Contradictions) -> Table:
    """List the pairs of items with the most votes each way."""
    worst = found.worst
    columns: Columns = {
        Column("one item"): [name(pair.items[0]) for pair in worst],
        Column("the other item"): [name(pair.items[1]) for pair in worst],
        Number("put the one above"): [pair.votes[0] for pair in worst],
        Number("put the other above"): [pair.votes[1] for pair in worst],
    }
    return table("contested", "Pairs of items with the most votes each way", columns)


def rungs(ladder: Ladder) -> Table:
    """List how often each assumption predicts rightly."""
    rows, verdict = ladder.rungs, {ladder.verdict: " (the verdict)"}
    columns: Columns = {
        Column("what is assumed"): [ASSUMED[one.assumption] for one in rows],
        Column("method that assumes it"): [
            f"{one.method}{verdict.get(one.assumption, '')}" for one in rows
        ],
        Number("predicts rightly"): [
            cell(f"{100 * one.accuracy:.1f} %", one.accuracy) for one in rows
        ],
        Number("behind the best (points ± standard error)"): [
            cell(f"{100 * one.behind:.1f} ± {100 * one.behind_se:.1f}", one.behind)
            for one in rows
        ],
    }
    return table("rungs", "How often each assumption predicts rightly", columns)


def targets(needed: Needed) -> Table:
    """List how many more reviews reach what."""
    from evenhand.diagnosis.check import PAIR, SIDE, more_reviews  # noqa: PLC0415 - much

    columns: Columns = {
        Number("to reach"): [
            cell(f"{100 * one.probability:g} %", one.probability) for one in needed.pair
        ],
        Number(PAIR): map(more_reviews, needed.pair),
        Number(SIDE.format(needed.near)): map(more_reviews, needed.side),
    }
    return table("targets", "Additional reviews needed per item", columns)


def spread(title: str, found: Distribution) -> Table:
    """Draw how many have which count, in text.

    Examples:
        >>> from evenhand import Ratings, check
        >>> found = check(Ratings(["a", "a"], ["x", "y"], [1, 2]), rng=7).load
        >>> [cell.text for cell in spread("items", found).rows[0].cells][:2]
        ['2', '1']
    """
    counts = [count for *_, count in found.histogram]
    columns: Columns = {
        Column(title): [span(low, high) for low, high, _ in found.histogram],
        Number("how many"): counts,
        Column(""): [
            "█" * max(1, round(BAR * count / max(counts))) for count in counts
        ],
    }
    return table("spread", title, columns)


def used(ratings: Ratings, result: Comparison) -> tuple[Codes, Codes]:
    """Return the ratings of the two items that the comparison used.

    Examples:
        >>> from evenhand import Ratings, compare
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 2])
        >>> [rows.tolist() for rows in used(ratings, compare(ratings, rng=7))]
        [[0], [1]]
    """
    codes = [ratings.item_code(item) for item in result.items]
    first, second = (np.flatnonzero(ratings.item_codes == code) for code in codes)
    if result.parameters.get("both") == "drop":
        people = ratings.reviewer_codes
        both = np.intersect1d(people[first], people[second])
        first, second = (rows[~np.isin(people[rows], both)] for rows in (first, second))
    return first, second


def scores(ratings: Ratings, result: Comparison) -> Table:
    """Sum up the scores of the two items that the comparison used."""
    given = [ratings.preference[rows] for rows in used(ratings, result)]
    middle = [
        np.quantile(one, (0.5, 0, 1)).tolist() if len(one) else NONE for one in given
    ]
    median, low, high = zip(*middle, strict=True)
    columns: Columns = {
        Column("item"): [name(it, ratings.titles.get(it)) for it in result.items],
        Number("scores"): map(len, given),
        Number("mean"): [float(np.mean(one)) if len(one) else None for one in given],
        Number("median"): median,
        Number("lowest"): low,
        Number("highest"): high,
        **_shares(result),
    }
    return table("score-table", "Scores of the two items", columns)


def _shares(result: Comparison) -> dict[Column, list[Cell]]:
    """Return a column for each score, if there are few, with its share."""
    scores = result.scores
    if scores is None or scores.levels is None or scores.shares is None:
        return {}
    return {
        Number(f"share of {level:g}"): [cell(share(one), one) for one in ones]
        for level, *ones in zip(scores.levels, *scores.shares, strict=True)
    }


def outputs(result: Comparison, titles: Titles) -> Table:
    """List the scores of each item, and with what probability it was the output."""
    about = "about " if result.p_first_se else ""
    chances, scores = (result.p_first, 1 - result.p_first), result.scores
    counted_: Columns = {}
    if scores is not None:
        counted_ = {Number("scores"): scores.n, Number("mean"): scores.means}
    columns: Columns = {
        Column("item"): [name(item, titles.get(item)) for item in result.items],
        **counted_,
        **_shares(result),
        Column("output with probability"): [f"{about}{share(p)}" for p in chances],
    }
    return table(
        "outputs", f"Comparison by {result.method}, seed {result.seed}", columns
    )


def p_values(result: Comparison) -> Table:
    """List the p-values with what they are held against."""
    declared = result.parameters.get("design") is not None
    unless = "" if declared else ", if the assignment was random"
    claims = [Markup("{} is no better").format(name(item)) for item in result.items]
    claims.append(Markup("neither is better (two-sided)"))
    found = [result.p_value_first, result.p_value_second, result.p_value]
    columns: Columns = {
        Column("held against the claim that"): claims,
        Number("p-value"): found,
    }
    caption = f"p-values, whatever increasing scales the reviewers use{unless}"
    return table("p-table", caption, columns)
