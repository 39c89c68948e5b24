"""The tables of terminals, notebooks and reports."""

from __future__ import annotations

import math
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from markupsafe import Markup

from evenhand.claims import CONFIDENCE, LEVEL
from evenhand.errors import plural
from evenhand.lazy import lazy
from evenhand.ranking.results import OPEN
from evenhand.words.check_sentences import ASSUMPTIONS, more_reviews
from evenhand.words.lines import score_shares
from evenhand.words.text import (
    figure,
    join_names,
    name,
    one_precision,
    share,
    shorten,
    span,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evenhand.ab.comparison import Comparison
    from evenhand.claims import Label
    from evenhand.diagnosis import check as checks
    from evenhand.diagnosis import reviewers as reviewer_checks
    from evenhand.diagnosis.check import Contradictions, Distribution
    from evenhand.diagnosis.criteria import CriteriaUse
    from evenhand.diagnosis.ladder import Ladder
    from evenhand.diagnosis.reviewers import Needed, Reviewer
    from evenhand.grading import Grades
    from evenhand.models.people import GroupMeans
    from evenhand.ranking.results import Ranking
else:
    checks = lazy("evenhand.diagnosis.check")
    reviewer_checks = lazy("evenhand.diagnosis.reviewers")

# Draws on a page, and coins in a cell.
MOST_DRAWS, COINS = 2000, 3
# Width of a bar in text, and rows of a ranking that are shown without --all.
BAR, WINDOW = 30, 40
LONG_CELL = 200
ALWAYS = ("rank", "item", "reviews")

# Where a mark stands at the pass mark, in words.
STANDINGS = {"open": "too close to call"}


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        title: Its heading.
        number: Whether it holds numbers.
        one_line: Whether a terminal cuts what does not fit, as titles.
    """

    title: str
    number: bool = False
    one_line: bool = False


Number = partial(Column, number=True)
Columns: TypeAlias = "Mapping[Column, Iterable[object]]"


class TextRow(NamedTuple):
    """A row of a table, and the line above it: "cut", "edge" or none."""

    cells: tuple[str, ...]
    line: str = ""


class TextTable(NamedTuple):
    """A table.

    Attributes:
        caption: What it shows.
        columns: Its columns.
        rows: Its rows.
        cut: What stands on the line across the table, if it has one.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[TextRow, ...]
    cut: str = ""

    def plain(self) -> tuple[list[str], list[list[str]]]:
        """Return headings and cells as text."""
        cells = [
            [
                text.striptags() if isinstance(text, Markup) else text
                for text in row.cells
            ]
            for row in self.rows
        ]
        return [column.title for column in self.columns], cells


def table(caption: str, columns: Columns) -> TextTable:
    """Make a table of its columns.

    Examples:
        >>> table("Items", {Column("item"): ["x", "y"]}).rows[1].cells
        ('y',)
    """
    rows = zip(*(map(cell, column) for column in columns.values()), strict=True)
    return TextTable(caption, tuple(columns), tuple(map(TextRow, rows)))


def _telling(columns: dict[Column, list[object]]) -> Columns:
    """Leave out columns that say nothing, but for those that are always there."""
    filled = {column for column, cells in columns.items() if any(map(cell, cells))}
    kept = [column for column in columns if column.title in ALWAYS or column in filled]
    return {column: columns[column] for column in kept}


def cell(value: object) -> str:
    """Make a cell of anything; numbers are shown with three digits.

    Examples:
        >>> cell(0.12345), cell(None), cell(1200)
        ('0.123', '', '1,200')
    """
    if value is None or isinstance(value, Markup):
        return value or ""
    if isinstance(value, float):
        return figure(value)
    return f"{value:,}" if isinstance(value, int) else shorten(value, LONG_CELL)


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


def ranking(result: Ranking, places: range | None = None) -> TextTable:
    """Lay out the order, with lines where groups end and at the cut.

    Args:
        result: The ranking.
        places: Rows to show, from 0; all if not given.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> [one.title for one in ranking(rank(ratings, rng=7)).columns[:2]]
        ['rank', 'item']
    """
    every, k = result.items, 0 if result.top is None else result.top.k
    places = places or range(len(every))
    rows = every[places.start : places.stop]
    certain = result.uncertainty is None or result.uncertainty.draws == 0
    titles, own = result.titles, [row.item for row in rows]
    coins = settled_by_chance(result, own)
    low_high = [(row.rank_low, row.rank_high) for row in rows]
    together = [(row.rank_low_all, row.rank_high_all) for row in rows]
    columns: dict[Column, list[object]] = {
        Number("rank"): [row.rank for row in rows],
        Column("item", one_line=bool(titles)): _names(titles, own),
        Number("ranks"): [low and f"{low}\u2013{high}" for low, high in low_high],
        Number("all at once"): [low and f"{low}\u2013{high}" for low, high in together],
        Number("mean rank"): [row.mean_rank for row in rows],
        Number("reviews"): [row.reviews for row in rows],
        Number("mean score"): [row.mean_score for row in rows],
        Number("spread"): [row.spread for row in rows],
        Number(f"share in top {k:,}"): [
            share(row.p_top, certain=certain) for row in rows
        ],
        Column("settled by chance"): [*map(coins.get, own)],
        **_criteria_columns(result, own),
    }
    caption = f"Items, best first ({plural(len(every), 'item')}"
    layout = table(f"{caption}{_left(result, places)})", _telling(columns))
    lined = []
    for text_row, row, before in zip(layout.rows, rows, rows[:1] + rows, strict=False):
        edge = "edge" if before.bucket != row.bucket else ""
        lined.append(text_row._replace(line="cut" if k and row.rank == k + 1 else edge))
    return layout._replace(rows=tuple(lined), cut=f"cut after {k:,}" if k else "")


def criterion_places(
    result: Ranking,
) -> dict[Label, list[tuple[str, float, str]]]:
    """Say of each item where it stands in the field by each criterion.

    Returns:
        By item the criterion, the share of the other items below it, and its rank.
    """
    places: dict[Label, list[tuple[str, float, str]]] = {
        row.item: [] for row in result.items
    }
    for criterion, ranked in result.criteria.items():
        total = len(ranked.items)
        for row in ranked.items:
            below = (total - row.rank) / max(total - 1, 1)
            ends = f" ({row.rank_low}\u2013{row.rank_high})" if row.rank_low else ""
            text = f"rank {row.rank}{ends} of {total}"
            places.setdefault(row.item, []).append((criterion, below, text))
    return places


def _criteria_columns(
    result: Ranking, items: list[Label]
) -> dict[Column, list[object]]:
    """Lay out what is known of items by each criterion: estimates, or else ranks."""
    columns: dict[Column, list[object]] = {}
    for criterion, ranked in result.criteria.items():
        rows = {row.item: row for row in ranked.items}
        values = {row.item: (row.criteria or {}).get(criterion) for row in result.items}
        if any(value is not None for value in values.values()):
            estimates = one_precision([values[item] for item in items])
            columns[Number(criterion)] = [*estimates]
        else:
            ranks: list[object] = [
                rows[item].rank if item in rows else None for item in items
            ]
            columns[Number(f"rank by {criterion}")] = ranks
    return columns


def _names(titles: Mapping[Label, str], items: Iterable[Label]) -> list[object]:
    return [name(item, titles.get(item)) for item in items]


def _left(result: Ranking, places: range) -> str:
    """Say how many rows are not shown."""
    parts = {"above": places.start, "below": len(result.items) - places.stop}
    counts = [f"{number:,} {side}" for side, number in parts.items() if number]
    return f"; {' and '.join(counts)} not shown" if counts else ""


def settled_by_chance(result: Ranking, items: list[Label]) -> dict[Label, Markup]:
    """Say for these items which coins each was in, and with what probability.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 2])
        >>> settled_by_chance(rank(ratings, method="mean", rng=7), ["x", "y"])
        {}
    """
    coins: dict[Label, list[Markup]] = {item: [] for item in items}
    for draw in result.draws:
        first, second = draw.items
        sides = ((first, second, draw.p_first), (second, first, 1 - draw.p_first))
        for above, below, p in (side for side in sides if side[0] in coins):
            chance = share(p, certain=False)
            coins[above].append(Markup("{} to be above {}").format(chance, name(below)))
    return {
        item: join_names(chances, COINS) for item, chances in coins.items() if chances
    }


def draws(result: Ranking) -> list[tuple[Label, Label, float, list[Markup]]]:
    """List the coins: who came first and second, with what probability, by whom.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 2])
        >>> draws(rank(ratings, method="mean", rng=7))
        []
    """
    coins = []
    for draw in result.draws[:MOST_DRAWS]:
        turned = draw.items[0] != draw.first
        chance = 1 - draw.p_first if turned else draw.p_first
        names = [*map(name, dict.fromkeys(draw.reviewers))]
        coins.append((draw.first, draw.items[not turned], chance, names))
    return coins


def grades(result: Grades) -> TextTable:
    """Lay the marks out.

    Examples:
        >>> from evenhand import Ratings, grade
        >>> ratings = Ratings(list("aabb"), list("xyxy"), [5, 1, 5, 1.1])
        >>> [one.title for one in grades(grade(ratings, rng=7)).columns]
        ['item', 'mark', '90% interval', 'error', 'scores', 'mean score']
    """
    rows = result.items
    rounded = result.parameters["rounding"] is not None
    digits = 1 if max(abs(row.mark) for row in rows) >= 10 else 2
    form = "g" if rounded else f".{digits}f"
    span = f"{{:.{digits}f}}\u2013{{:.{digits}f}}".format
    columns: dict[Column, list[object]] = {
        Column("item"): _names(result.titles, (row.item for row in rows)),
        Number("mark"): [f"{row.mark:{form}}" for row in rows],
        Number(f"{100 * LEVEL:g}% interval"): [
            "given" if row.anchor else span(row.low, row.high) for row in rows
        ],
        Number("error"): [f"{row.error:.{digits}f}" for row in rows],
        Column("at the pass mark"): [
            STANDINGS.get(str(row.standing), row.standing) for row in rows
        ],
        Number("scores"): [row.reviews for row in rows],
        Number("mean score"): [row.mean_score for row in rows],
    }
    if result.criteria:
        # Their marks say more, and a terminal has room for one of both.
        del columns[Number("mean score")], columns[Number("error")]
    for criterion, by in result.criteria.items():
        marks = {row.item: row for row in by.items}
        columns[Number(criterion)] = [
            f"{mark.mark:{form}} \u00b1{mark.error:.{digits}f}" if mark else ""
            for mark in (marks.get(row.item) for row in rows)
        ]
    return table(f"Marks ({plural(len(rows), 'item')})", _telling(columns))


def group_means(means: GroupMeans) -> TextTable:
    """Lay out the mean mark of each group, three ways.

    Examples:
        >>> from evenhand.models.people import Estimate, GroupMean, GroupMeans
        >>> rows = (GroupMean("m", 300, 40, *[Estimate(6.0, 5.5, 6.5)] * 3),)
        >>> means = GroupMeans(rows, "drawn", 0.8, 0.3, "difference", None, None)
        >>> group_means(means).rows[0][0]
        ('m', '6.00', '5.50\u20136.50', '5.50\u20136.50', '5.50\u20136.50', '40', '300')
    """
    percent, rows = f"{100 * CONFIDENCE:g}% interval", means.rows
    digits = 1 if max(abs(row.difference.mean) for row in rows) >= 10 else 2
    span = f"{{:.{digits}f}}\u2013{{:.{digits}f}}".format
    columns: dict[Column, list[object]] = {
        Column("group"): [row.group for row in rows],
        Number("mean mark"): [f"{row.difference.mean:.{digits}f}" for row in rows],
        Number(percent): [span(*row.difference[1:]) for row in rows],
        Number("people only"): [span(*row.people[1:]) for row in rows],
        Number("judges only"): [span(*row.judges[1:]) for row in rows],
        Number("marked"): [row.labels for row in rows],
        Number("items"): [row.items for row in rows],
    }
    title = f"Mean marks that people would give ({plural(len(rows), 'group')})"
    return table(title, columns)


def _brief(word: str) -> str:
    return {"not enough ratings to say": "too few"}.get(word, word)


def _agreement(reviewer: Reviewer) -> str:
    """Say how a reviewer agrees, by the correlation if ratings are many, others few."""
    agreement = _brief(reviewer.agreement)
    if (
        agreement == reviewer.agreement
        or reviewer.correlation is None
        or reviewer.ratings < reviewer_checks.MANY_ITEMS
    ):
        return agreement
    return f"correlation {reviewer.correlation:.2f}"


def reviewers(rows: Sequence[Reviewer]) -> TextTable:
    """List how strict each reviewer is and how widely they score."""
    columns: Columns = {
        Column("reviewer"): [name(row.reviewer) for row in rows],
        Number("ratings"): [row.ratings for row in rows],
        Column("strictness"): [_brief(row.strictness) for row in rows],
        Number("above or below others"): [
            _with_error(row.offset, row.offset_se, "+") for row in rows
        ],
        Column("spread"): [_brief(row.spread) for row in rows],
        Number("times as wide"): [_with_error(row.slope, row.slope_se) for row in rows],
        Column("agreement"): [_agreement(row) for row in rows],
    }
    return table("Reviewers, how strict they are and how widely they score", columns)


def _with_error(value: float | None, error: float | None, sign: str = "") -> str:
    if value is None or error is None:
        return ""
    # Two digits of the error, and as many decimals of the value.
    places = 2 if error <= 0 else min(6, max(0, 1 - math.floor(math.log10(error))))
    return f"{value:{sign}.{places}f} ± {error:.{places}f}"


def contested_pairs(contradictions: Contradictions) -> TextTable:
    """List the pairs of items with the most votes each way."""
    columns: Columns = {
        Column("one item"): [name(pair.items[0]) for pair in contradictions.worst],
        Column("the other item"): [
            name(pair.items[1]) for pair in contradictions.worst
        ],
        Number("put the one above"): [pair.votes[0] for pair in contradictions.worst],
        Number("put the other above"): [pair.votes[1] for pair in contradictions.worst],
    }
    return table("Pairs of items with the most votes each way", columns)


def criteria_use(use: CriteriaUse) -> tuple[TextTable, TextTable]:
    """Lay out how criteria are used, and how far every two say the same."""
    strict = [
        min(
            (
                (offset, reviewer)
                for reviewer, offset in each.strictness.items()
                if offset
            ),
            default=(0.0, ""),
            key=lambda pair: pair[0],
        )
        for each in use.criteria
    ]
    parts = [each.variance for each in use.criteria]
    columns: dict[Column, list[object]] = {
        Column("criterion"): [each.name for each in use.criteria],
        Number("items"): [
            part and part.item and f"{part.item.share:.0%}" for part in parts
        ],
        Number("reviewers"): [
            part and part.reviewer and f"{part.reviewer.share:.0%}" for part in parts
        ],
        Number("the rest"): [part and f"{part.rest.share:.0%}" for part in parts],
        Column("strictest reviewer"): [
            f"{reviewer} ({offset:+.2f} points)" if reviewer else ""
            for offset, reviewer in strict
        ],
    }
    by_pair: dict[Column, list[object]] = {
        Column("criteria"): [f"{pair.first}, {pair.second}" for pair in use.pairs],
        Number("correlation of items"): [pair.items for pair in use.pairs],
        Number("within reviewers (halo)"): [pair.halo for pair in use.pairs],
    }
    return table("Shares of the variance", columns), table("Pairs", by_pair)


def rungs(ladder: Ladder) -> TextTable:
    """List how often each assumption predicts rightly."""
    rows, verdict = ladder.rungs, {ladder.verdict: " (the verdict)"}
    columns: Columns = {
        Column("what is assumed"): [ASSUMPTIONS[rung.assumption] for rung in rows],
        Column("method that assumes it"): [
            f"{rung.method}{verdict.get(rung.assumption, '')}" for rung in rows
        ],
        Number("predicts rightly"): [f"{100 * rung.accuracy:.1f}%" for rung in rows],
        Number("behind the best (points ± standard error)"): [
            f"{100 * rung.behind:.1f} ± {100 * rung.behind_se:.1f}" for rung in rows
        ],
    }
    return table("How often each assumption predicts rightly", columns)


def confidence(levels: Sequence[Mapping[str, Any]]) -> TextTable:
    """List what levels of confidence are worth, the highest first."""
    rows = [*reversed(levels)]
    columns: Columns = {
        Column("confidence"): [row["level"] for row in rows],
        Number("ratings"): [row["ratings"] for row in rows],
        Number("scores vary, times the lowest's"): [
            f"{row['spread']:.2f}" for row in rows
        ],
        Number("each counts, times the lowest's"): [
            f"{row['weight']:.3g}" for row in rows
        ],
    }
    return table("What confidence is worth, estimated from the scores", columns)


def targets(needed: Needed) -> TextTable:
    """List how many more reviews reach what."""
    columns: Columns = {
        Number("to reach"): [
            f"{100 * target.probability:g}%" for target in needed.pair
        ],
        Number(checks.PAIR): [more_reviews(asdict(target)) for target in needed.pair],
        Number(checks.SIDE.format(needed.near)): [
            more_reviews(asdict(target)) for target in needed.side
        ],
    }
    return table("Additional reviews needed per item", columns)


def spread(title: str, distribution: Distribution) -> TextTable:
    """Draw how many have which count, in text.

    Examples:
        >>> from evenhand import Ratings, check
        >>> loads = check(Ratings(["a", "a"], ["x", "y"], [1, 2]), rng=7).load
        >>> spread("items", loads).rows[0].cells[:2]
        ('2', '1')
    """
    counts = [bar["count"] for bar in distribution.histogram]
    columns: Columns = {
        Column(title): [span(bar["from"], bar["to"]) for bar in distribution.histogram],
        Number("how many"): counts,
        Column(""): [
            "█" * max(1, round(BAR * count / max(counts))) for count in counts
        ],
    }
    return table(title, columns)


def scores(result: Comparison, titles: Mapping[Label, str]) -> TextTable:
    """Sum up the scores of the items, and with what probability each was picked.

    Examples:
        >>> from evenhand import compare
        >>> made = scores(compare([3, 4], [1, 2, 2], method="mean", rng=7), {})
        >>> [column.title for column in made.columns][:3]
        ['item', 'scores', 'mean']
    """
    about = "about " if result.p_first_se else ""
    columns: dict[Column, Iterable[object]] = {}
    columns[Column("item")] = _names(titles, result.items)
    summary = result.scores
    if summary is not None:
        columns |= {Number("scores"): summary.n, Number("mean"): summary.means}
    for score, shares in score_shares(result):
        columns[Number(f"share of {score}")] = [share(portion) for portion in shares]
    chances = result.chances or (result.p_first, 1 - result.p_first)
    columns[Column("picked with probability")] = [f"{about}{share(p)}" for p in chances]
    return table("Scores of the items", columns)
