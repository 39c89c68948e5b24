"""Pictures of the report: rows with bars on a shared axis, and two sets of scores.

Items, reviewers and marks are drawn by the same rows: a name, a bar on the axis, and
numbers in columns. Places on an axis are in per cent of its width, so that a page needs
no script to draw them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.diagnosis.reviewers import NOT_ENOUGH, SURE
from evenhand.words.lines import ahead, pass_mark
from evenhand.words.text import distinct, figure, one_precision, shorten, span

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evenhand.ab.comparison import Comparison
    from evenhand.ab.evidence import Sequential
    from evenhand.arrays import Codes
    from evenhand.claims import Label
    from evenhand.diagnosis.check import Check
    from evenhand.diagnosis.reviewers import Reviewer
    from evenhand.grading import Grades
    from evenhand.ranking.results import Ranking
    from evenhand.ratings import Ratings

    # By head what it means, and cells.
    Columns = Mapping[str, tuple[str, Sequence[str]]]
    Ticks = tuple[tuple[float, str], ...]

LONG_KEY = 40
# Room that a column has at least on a phone.
NARROWEST = "000000"
# Characters of a name that a column makes room for.
LONG_NAME = 90
# Steps between ticks that are easy to read, times a power of ten.
STEPS, TICKS = (1.0, 2.0, 2.5, 5.0, 10.0), 5
# Free space at either end of an axis, as a share of it: of dots and of bars.
MARGIN, NARROW = 0.06, 0.02
# Dots of one item; the golden section spreads them across, whatever their number.
DOTS, GOLDEN = 240, 0.6180339887498949
# Colours of reviewers and of marks, and what is worth saying of reviewers.
KINDS = {"strict": "in", "lenient": "open"}
# Groups of a cut as a cell names them, and above their rows.
GROUPS = {"in": "in", "open": "too close", "out": "out"}
HEADINGS = {"in": "In", "open": "Too close to call", "out": "Out"}
STANDINGS = {None: "in", "above": "in", "open": "open", "below": "out"}
# What columns mean, where their heads do not say it.
MEAN = "Plain mean of its scores."
BY_CRITERION = "Its rank by this criterion alone."
SHARE = "How often it is among them under the method's assumption; "
SHARE += "not a chance of being right."
POINTS = "Above (+) or below (-) what others give to the same items."
SPREAD = "1 is the usual spread of scores, 2 twice as wide."
TELLING = ("strict", "lenient", "wide", "narrow")


class Axis(NamedTuple):
    """A stretch of numbers.

    Attributes:
        low: Its lower end, in its unit.
        high: Its upper end.
        unit: Largest number on it, so that nothing leaves the floats.
        ticks: Places and what is written there.
    """

    low: float
    high: float
    unit: float
    ticks: Ticks = ()

    def place(self, value: float) -> float:
        """Return where a number stands, in per cent."""
        share = (value / self.unit - self.low) / (self.high - self.low)
        return round(100 * share, 2)


def axis(values: Iterable[float], margin: float = MARGIN) -> Axis:
    """Span an axis over some numbers, with ticks at round ones.

    Examples:
        >>> line = axis([0, 10])
        >>> [text for _, text in line.ticks], line.place(5)
        (['0', '2', '4', '6', '8', '10'], 50.0)
    """
    numbers: list[float] = np.nan_to_num([*values]).tolist()
    unit = max(map(abs, numbers)) or 1.0
    low, high = min(numbers) / unit, max(numbers) / unit
    away = (high - low) * margin if high > low else 0.5
    line = Axis(low - away, high + away, unit)
    rough = (high - low) / TICKS or 0.5
    power = 10.0 ** math.floor(math.log10(rough * unit))
    least = rough * unit * 0.999
    step = power * next(size for size in STEPS if size * power >= least)
    first = math.ceil(low * unit / step - 1e-9)
    last = math.floor(high * unit / step + 1e-9)
    steps = [number * step for number in range(first, last + 1)] or numbers[:1]
    # No sign of a zero.
    ticks = ((line.place(value), f"{value + 0.0:.10g}") for value in steps)
    return line._replace(ticks=tuple(ticks))


class BarRow(NamedTuple):
    """An item or a reviewer with a bar.

    Attributes:
        label: Of the item or reviewer.
        title: What people call it; empty if it has only a label.
        ends: Where the bar begins and ends on the axis; None without a bar.
        dot: Where the dot is; None without one.
        word: Says in a word what the colour says.
        kind: The colour: "in", "open" or "out".
        place: Its rank; 0 for reviewers, which have none.
        edge: Whether a new group begins with it.
    """

    label: Label
    title: str
    ends: tuple[float, float] | None
    dot: float | None
    word: str
    kind: str
    place: int = 0
    edge: bool = False


class BarList(NamedTuple):
    """A picture made of rows.

    Attributes:
        kind: What rows are: "item" or "reviewer".
        rows: The rows.
        columns: By head what a number means, and the numbers as text.
        axis: The axis of the bars.
        caption: What the axis shows.
        line: Where a line goes through all bars, as the cut or zero.
        cut: After how many rows a line goes through the list, and what it says.
        words: Head of the words; empty if there are none.
        headings: What stands above the rows of each colour, if anything does.
    """

    kind: str
    rows: Sequence[BarRow]
    columns: Columns
    axis: Axis
    caption: str
    line: float | None = None
    cut: tuple[int, str] | None = None
    words: str = ""
    headings: Mapping[str, str] = {}

    @property
    def widths(self) -> str:
        """Widths of the columns as CSS: what they hold, and the rest for the name."""
        columns = self.columns.items()
        numbers = [_width([head, *cells]) for head, (_, cells) in columns]
        narrow = [
            _width([*head.split(), NARROWEST, *cells]) for head, (_, cells) in columns
        ]
        last = _width([self.words, *{row.word for row in self.rows}])
        longest = max(len(f"{row.label} {row.title}") for row in self.rows)
        widths = {
            "first": _width(
                [f"{len(self.rows):,}", "rank"] if self.rows[0].place else []
            ),
            "name": f"{min(longest, LONG_NAME) + 2}ch",
            "numbers": " ".join(numbers),
            "deciding": " ".join(narrow[: self.deciding]),
            "last": last,
        }
        return ";".join(f"--{name}:{width}" for name, width in widths.items())

    @property
    def deciding(self) -> int:
        """How many columns a phone has room for: those that decide come first."""
        return 2 if self.kind == "item" else 1

    @property
    def groups(self) -> dict[int, tuple[str, str]]:
        """By the row before which a group begins, its colour and its heading."""
        sizes = Counter(row.kind for row in self.rows)
        starts = {row.kind: at for at, row in reversed([*enumerate(self.rows)])}
        return {
            starts[side]: (side, f"{head} ({sizes[side]:,})")
            for side, head in self.headings.items()
            if side in starts
        }


def drop_empty(columns: Columns) -> Columns:
    """Leave out columns that say nothing."""
    return {head: column for head, column in columns.items() if any(column[1])}


def _width(texts: Iterable[str]) -> str:
    return f"{max(map(len, texts), default=0) + 1}ch"


def anchors(labels: Sequence[Label]) -> dict[Label, str]:
    """Name elements by labels: letters, digits and dashes, each name once.

    Examples:
        >>> anchors(["P 1", "P-1", "<b>", 7])
        {'P 1': 'P-1', 'P-1': 'P-1-2', '<b>': 'b', 7: '7'}
    """
    keys = (
        re.sub(r"[^A-Za-z0-9]+", "-", str(label)).strip("-")[:LONG_KEY] or f"no-{place}"
        for place, label in enumerate(labels, start=1)
    )
    return dict(zip(labels, distinct(keys, "{}-{}"), strict=True))


def per_cent(values: Sequence[float | None], *, certain: bool) -> list[str]:
    """Show a column of shares in whole per cent; none is certain if it was drawn.

    Examples:
        >>> per_cent([1.0, 0.996, 0.25, 0.0001], certain=False)
        ['>99', '>99', '25', '<1']
        >>> per_cent([1.0, 0.0], certain=True)
        ['100', '0']
    """

    def cell(value: float | None) -> str:
        rounded = "" if value is None else f"{100 * value:.0f}"
        if certain and value in (0, 1):
            return rounded
        return {"0": "<1", "100": ">99"}.get(rounded, rounded)

    return [cell(value) for value in values]


def ticks(total: int) -> Ticks:
    """Place some ranks on an axis, the first and the last among them.

    Examples:
        >>> ticks(4)
        ((12.5, '1'), (37.5, '2'), (62.5, '3'), (87.5, '4'))
        >>> [text for _, text in ticks(119)]
        ['1', '30', '60', '90', '119']
    """
    step = max(1, round(total / (TICKS - 1)))
    if step > TICKS:
        step = round(step, 1 - len(str(step))) or step
    inner = range(step, total - step // 2, step) if step > 1 else range(2, total)
    ranks = dict.fromkeys((1, *inner, total))
    return tuple((100 * (rank - 0.5) / total, str(rank)) for rank in ranks)


def ranking_rows(result: Ranking) -> BarList:
    """Lay out a ranking: each item with its interval of ranks, and the cut.

    What is in comes first, then what is too close to call, then what is out. The first
    are all above the cut and the last all below, so the cut stays where it is.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> bars = ranking_rows(rank(ratings, method="mean-rank", top=1, rng=7))
        >>> [(row.label, row.ends, row.word) for row in bars.rows]
        [('y', (0.5, 1.5), 'in'), ('x', (1.5, 2.5), 'out')]
    """
    top, total, sides = result.top, len(result.items), [*GROUPS]
    items = [*result.items]
    if items[0].side:
        items.sort(key=lambda row: (sides.index(row.side or ""), row.rank))
    k = total if top is None else top.k
    certain = result.uncertainty is not None and result.uncertainty.draws == 0
    spans, rows, before = [], [], items[0].bucket
    for row in items:
        low, high, ends = row.rank_low, row.rank_high, None
        if low is not None and high is not None:
            ends = (low - 0.5, high + 0.5)
        spans.append(span(low or 0, high or 0) if ends else "")
        title, side = result.titles.get(row.item, ""), row.side or "in"
        word = GROUPS[side] if row.side else ""
        edge, before = row.bucket != before, row.bucket
        rank = row.rank
        rows.append(BarRow(row.item, title, ends, rank, word, side, rank, edge))
    shares = per_cent([row.p_top for row in items], certain=certain)
    together = [
        span(row.rank_low_all, row.rank_high_all or 0) if row.rank_low_all else ""
        for row in items
    ]
    columns = {
        "ranks": ("Places that it could have, from and to.", spans),
        "all at once": ("The same for all items together (95%).", together),
        f"top {k:,}, %": (SHARE, shares),
        "mean": (MEAN, one_precision([row.mean_score for row in items])),
        "reviews": ("", [f"{row.reviews:,}" for row in items]),
    }
    for criterion, ranked in result.criteria.items():
        by = {row.item: f"{row.rank:,}" for row in ranked.items}
        columns[criterion] = (BY_CRITERION, [by.get(row.item, "") for row in items])
    line, cut = (k + 0.5, (k, f"cut after {k:,}")) if k < total else (None, None)
    scale = Axis(0.5, total + 0.5, 1.0, ticks(total))
    named = ("side", HEADINGS) if rows[0].word else ("", {})
    ranks, shown = "rank, 1 is best", drop_empty(columns)
    return BarList("item", rows, shown, scale, ranks, line, cut, *named)


def reviewer_rows(check: Check) -> BarList:
    """Lay out reviewers: strictness with two standard errors, strictest first.

    Examples:
        >>> from evenhand import Ratings, check
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 2, 5, 4])
        >>> [row.label for row in reviewer_rows(check(ratings, rng=7)).rows]
        ['a', 'b']
    """
    strictest_first = sorted(
        check.reviewers,
        key=lambda row: (row.offset is None, row.offset or 0.0, str(row.reviewer)),
    )
    rows, most = [], 0.0
    for row in strictest_first:
        ends = None
        if row.offset is not None:
            far = SURE * (row.offset_se or 0.0)
            ends = (row.offset - far, row.offset + far)
            most = max(most, abs(row.offset) + far)
        kind = KINDS.get(row.strictness, "out")
        rows.append(BarRow(row.reviewer, "", ends, row.offset, _manner(row), kind))
    offsets = one_precision([row.offset for row in strictest_first], "+")
    columns = {
        "points": (POINTS, offsets),
        "spread": (SPREAD, one_precision([row.slope for row in strictest_first])),
        "items": ("", [f"{row.ratings:,}" for row in strictest_first]),
    }
    scale, caption = axis([-most, most], NARROW), "points above or below others"
    shown = drop_empty(columns)
    return BarList("reviewer", rows, shown, scale, caption, 0.0, None, "in words")


def _manner(reviewer: Reviewer) -> str:
    """Say in a word or two what stands out about a reviewer."""
    strictness = reviewer.strictness
    if strictness == NOT_ENOUGH:
        return "too few to say"
    if reviewer.offset is None and reviewer.slope is None:
        return strictness
    words = [word for word in (strictness, reviewer.spread) if word in TELLING]
    return ", ".join(words) or strictness


def grade_rows(result: Grades) -> BarList:
    """Lay out marks: each item with its interval of marks, and the pass mark.

    Examples:
        >>> from evenhand import Ratings, grade
        >>> ratings = Ratings(list("aabb"), list("xyxy"), [5, 1, 5, 1.1])
        >>> [row.word for row in grade_rows(grade(ratings, passing=3, rng=7)).rows]
        ['above', 'below']
    """
    items, mark, rows = result.items, pass_mark(result), []
    for place, row in enumerate(items, start=1):
        standing = "too close" if row.standing == "open" else row.standing
        word = " ".join(filter(None, [standing, "given" if row.anchor else ""]))
        kind, title = STANDINGS[row.standing], result.titles.get(row.item, "")
        ends = (row.low, row.high)
        rows.append(BarRow(row.item, title, ends, row.mark, word, kind, place))
    errors = one_precision([row.error for row in items])
    rounded = result.parameters["rounding"] is not None

    def mark_cells(numbers: Sequence[float | None]) -> list[str]:
        return [*map(figure, numbers)] if rounded else one_precision(numbers)

    columns = {
        "mark": ("", mark_cells([row.mark for row in items])),
        "error": ("Standard error of the mark.", errors),
        "mean": (MEAN, one_precision([row.mean_score for row in items])),
        "scores": ("", [f"{row.reviews:,}" for row in items]),
    }
    for criterion, marked in result.criteria.items():
        alone = {row.item: row.mark for row in marked.items}
        cells = mark_cells([alone.get(row.item) for row in items])
        columns[criterion] = ("Its mark by this criterion alone.", cells)
    marks = [end for row in items for end in (row.low, row.mark, row.high)]
    scale = axis([*marks, *([] if mark is None else [mark])], NARROW)
    passed = None if mark is None else sum(row.mark >= mark for row in items)
    cut = (passed, f"pass mark {mark:g}") if passed else None
    words = "mark is" if any(row.word for row in rows) else ""
    return BarList("item", rows, drop_empty(columns), scale, "mark", mark, cut, words)


def compared_rows(ratings: Ratings, result: Comparison) -> tuple[Codes, Codes]:
    """Return the ratings of the two items that the comparison used.

    Examples:
        >>> from evenhand import Ratings, compare
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 2])
        >>> result = compare(ratings, rng=7)
        >>> [rows.tolist() for rows in compared_rows(ratings, result)]
        [[0], [1]]
    """
    codes = [ratings.item_code(item) for item in result.items]
    first, second = (np.flatnonzero(ratings.item_codes == code) for code in codes)
    if result.parameters.get("both") == "drop":
        people = ratings.reviewer_codes
        twice = np.intersect1d(people[first], people[second])
        sides = (first, second)
        first, second = (rows[~np.isin(people[rows], twice)] for rows in sides)
    return first, second


class Strip(NamedTuple):
    """The scores of one item as dots.

    Attributes:
        dots: Scores, and their places across the strip in per cent.
        mean: The mean of all scores.
        each: How many scores a dot stands for, about.
    """

    dots: list[tuple[float, int]]
    mean: float
    each: int


def score_strips(
    ratings: Ratings, result: Comparison
) -> tuple[Axis, list[Strip]] | None:
    """Take the scores of both items, for one axis; None without scores of both.

    Examples:
        >>> from evenhand import Ratings, compare
        >>> ratings = Ratings(["a", "b", "c"], ["x", "y", "y"], [3, 8, 4])
        >>> line, strips = score_strips(ratings, compare(ratings, rng=7))
        >>> [len(strip.dots) for strip in strips]
        [1, 2]
    """
    ratings = ratings.public
    sides = compared_rows(ratings, result)
    if ratings.kind != "scores" or min(map(len, sides)) == 0:
        return None
    sorted_scores = [np.sort(ratings.scores[rows]) for rows in sides]
    strips = []
    for scores in sorted_scores:
        each = -(-len(scores) // DOTS)
        # Evenly spaced in the order of the scores, so that shares stay as they are.
        shown = enumerate(scores[each // 2 :: each].tolist())
        dots = [(score, round(10 + 80 * (at * GOLDEN % 1))) for at, score in shown]
        # Shares, so that large scores do not leave the floats.
        strips.append(Strip(dots, float((scores / len(scores)).sum()), each))
    return axis(np.concatenate(sorted_scores).tolist()), strips


def gap(result: Comparison) -> tuple[Axis, list[float]] | None:
    """Return the difference of means with its ends, and an axis that also holds zero.

    It is that of the item that came out less the other; ends only if they are known.

    Examples:
        >>> from evenhand import compare
        >>> gap(compare([3, 4, 5, 6], [1, 2, 2, 3], design="halves", rng=7))[1]
        [2.5, 0.0, 5.0]
    """
    numbers = ahead(result)
    return (axis([0.0, *numbers]), numbers) if numbers else None


def pair_bars(result: Comparison) -> BarList:
    """Draw the difference and interval of each pair of several items, and zero.

    Examples:
        >>> from evenhand import Ratings, compare
        >>> ratings = Ratings([*"abc"], [*"xyz"], [1, 7, 3])
        >>> pair_bars(compare(ratings, method="mean", rng=1)).rows[0].dot
        -6.0
    """
    rows, numbers = [], [0.0]
    for pair in result.pairs:
        ends = None
        if pair.low is not None and pair.high is not None:
            ends = pair.low, pair.high
        label = f"{shorten(pair.first)} against {shorten(pair.second)}"
        kind = "out" if pair.better is None else "in"
        rows.append(BarRow(label, "", ends, pair.difference, "", kind))
        numbers += [*(ends or ()), pair.difference or 0.0]
    return BarList("pair", rows, {}, axis(numbers), "difference of means", line=0.0)


def evidence_line(watch: Sequential) -> tuple[str, float]:
    """Return the points of the evidence over scores, and the height where it settles.

    Both are on a square of 100, by the logarithm of the e-value.

    Examples:
        >>> from evenhand.ab.evidence import Look, Sequential
        >>> looks = (Look(1, 1, 1, 1), Look(2, 20, 20, 20))
        >>> evidence_line(Sequential(*[20] * 3, *[0.05] * 3, "A", 2, None, 0.05, looks))
        ('50,69.86 100,5.36', 5.36)
    """
    powers = [math.log10(max(look.e_value, 1e-300)) for look in watch.looks]
    settled, last = -math.log10(watch.alpha), watch.looks[-1].n
    line = axis([*powers, settled, -0.5])
    points = (
        f"{100 * look.n / last:.4g},{100 - line.place(power):.4g}"
        for look, power in zip(watch.looks, powers, strict=True)
    )
    return " ".join(points), round(100 - line.place(settled), 2)
