"""Pictures of the report: rows with bars on a shared axis, and two sets of scores.

Items, reviewers and marks are drawn by the same rows: a name, a bar on the axis, and
numbers in columns. Places on an axis are in per cent of its width, so that a page needs
no script to draw them.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.diagnosis.reviewers import NOT_ENOUGH, SURE
from evenhand.words.lines import pass_mark
from evenhand.words.text import distinct, figure, span

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evenhand.ab.comparison import Comparison
    from evenhand.arrays import Codes
    from evenhand.claims import Label
    from evenhand.diagnosis.check import Check
    from evenhand.diagnosis.reviewers import Reviewer
    from evenhand.grading import Grades
    from evenhand.ranking.results import Ranking
    from evenhand.ratings import Ratings

    # By head what it means, and cells.
    Columns = Mapping[str, tuple[str, Sequence[str]]]

# Digits of the largest number of a column, decimals at most, and numbers that are
# written with an exponent.
DIGITS, DECIMALS, HUGE = 3, 4, 1e6
LONG_KEY = 40
# Characters of a name that a column makes room for.
LONG_NAME = 60
# Steps between ticks that are easy to read, times a power of ten.
STEPS, TICKS = (1.0, 2.0, 2.5, 5.0, 10.0), 5
# Free space at either end of an axis, as a share of it: of dots and of bars.
MARGIN, NARROW = 0.06, 0.02
# Dots of one item; the golden section spreads them across, whatever their number.
DOTS, GOLDEN = 240, 0.6180339887498949
# Colours of reviewers and of marks, and what is worth saying of reviewers.
KINDS = {"strict": "in", "lenient": "open"}
STANDINGS = {"above": "in", "open": "open", "below": "out"}
# What columns mean, where their heads do not say it.
MEAN = "Plain mean of its scores."
SHARE = (
    "How often it is among them under the method's assumption; not a chance of being "
)
SHARE += "right."
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
    ticks: tuple[tuple[float, str], ...] = ()

    def place(self, value: float) -> float:
        """Return where a number stands, in per cent."""
        share = (value / self.unit - self.low) / (self.high - self.low)
        return round(100 * share, 2)


def axis(values: Iterable[float], margin: float = MARGIN) -> Axis:
    """Span an axis over some numbers, with ticks at round ones.

    Examples:
        >>> found = axis([0, 10])
        >>> [text for _, text in found.ticks], found.place(5)
        (['0', '2', '4', '6', '8', '10'], 50.0)
    """
    known: list[float] = np.nan_to_num([*values]).tolist()
    unit = max(map(abs, known)) or 1.0
    low, high = min(known) / unit, max(known) / unit
    away = (high - low) * margin if high > low else 0.5
    found = Axis(low - away, high + away, unit)
    rough = (high - low) / TICKS or 0.5
    power = 10.0 ** math.floor(math.log10(rough * unit))
    step = power * next(one for one in STEPS if one * power >= rough * unit * 0.999)
    first = math.ceil(low * unit / step - 1e-9)
    last = math.floor(high * unit / step + 1e-9)
    steps = [number * step for number in range(first, last + 1)] or known[:1]
    # No sign of a zero.
    ticks = ((found.place(one), f"{one + 0.0:.10g}") for one in steps)
    return found._replace(ticks=tuple(ticks))


class Row(NamedTuple):
    """One row.

    Attributes:
        label: Of the item or reviewer.
        title: What people call it; empty if it has only a label.
        place: What stands first, such as a rank.
        low: Where the bar begins, in per cent of the axis; None without a bar.
        high: Where it ends.
        dot: Where the dot is; None without one.
        cells: Numbers as text, one for each head.
        word: Says in a word what the colour says.
        kind: The colour: "in", "open" or "out".
        edge: Whether a new group begins with it.
    """

    label: Label
    title: str
    place: str
    low: float | None
    high: float | None
    dot: float | None
    cells: tuple[str, ...]
    word: str = ""
    kind: str = "in"
    edge: bool = False


class Rows(NamedTuple):
    """A picture made of rows.

    Attributes:
        kind: What rows are: "item" or "reviewer".
        place: Head of what stands first.
        heads: Heads of the numbers, and what they mean.
        rows: The rows.
        ticks: Places on the axis and what is written there.
        axis: What the axis shows.
        line: Where a line goes through all bars, as the cut or zero.
        cut: After how many rows a line goes through the list, and what it says.
        words: Head of the words; empty if there are none.
    """

    kind: str
    place: str
    heads: dict[str, str]
    rows: tuple[Row, ...]
    ticks: tuple[tuple[float, str], ...]
    axis: str
    line: float | None = None
    cut: tuple[int, str] | None = None
    words: str = ""

    @property
    def widths(self) -> str:
        """Widths of the columns as CSS: what they hold, and the rest for the name."""
        cells = zip(*(row.cells for row in self.rows), strict=True)
        numbers = [
            _wide([head, *column])
            for head, column in zip(self.heads, cells, strict=True)
        ]
        first = _wide([self.place, *(row.place for row in self.rows)])
        last = _wide([self.words, *{row.word for row in self.rows}])
        longest = max(len(f"{row.label} {row.title}") for row in self.rows)
        name = f"{min(longest, LONG_NAME) + 2}ch"
        return (
            f"--first:{first};--name:{name};--numbers:{' '.join(numbers)};--last:{last}"
        )


def _wide(texts: Iterable[str]) -> str:
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


def one_precision(values: Sequence[float | None], sign: str = "") -> list[str]:
    """Show a column of numbers with as many decimals each, so that points align.

    Examples:
        >>> one_precision([8.0, 6.333, None]), one_precision([71, 8.5], "+")
        (['8.00', '6.33', ''], ['+71.0', '+8.5'])
    """
    largest = max((abs(one) for one in values if one is not None), default=0.0)
    if not 1 / HUGE < largest < HUGE:
        return [figure(one) for one in values]
    places = min(max(DIGITS - 1 - math.floor(math.log10(largest)), 0), DECIMALS)
    # No sign of a zero.
    told = (None if one is None else round(one, places) + 0.0 for one in values)
    return ["" if one is None else f"{one:{sign}.{places}f}" for one in told]


def per_cent(values: Sequence[float | None], *, certain: bool) -> list[str]:
    """Show a column of shares in whole per cent; none is certain if it was drawn.

    Examples:
        >>> per_cent([1.0, 0.996, 0.25, 0.0001], certain=False)
        ['>99', '>99', '25', '<1']
        >>> per_cent([1.0, 0.0], certain=True)
        ['100', '0']
    """

    def told(value: float | None) -> str:
        rounded = "" if value is None else f"{100 * value:.0f}"
        if certain and value in (0, 1):
            return rounded
        return {"0": "<1", "100": ">99"}.get(rounded, rounded)

    return [told(value) for value in values]


def ticks(total: int) -> tuple[tuple[float, str], ...]:
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


def _at(rank: float | None, total: int) -> float | None:
    return None if rank is None else round(100 * rank / total, 3)


def ranking_rows(result: Ranking) -> Rows:
    """Lay out a ranking: each item with its interval of ranks, and the cut.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> made = ranking_rows(rank(ratings, method="mean-rank", top=1, rng=7))
        >>> [(row.label, row.cells, row.word) for row in made.rows]
        [('y', ('1', '100', '2.00', '1'), 'in'), ('x', ('2', '0', '1.00', '1'), 'out')]
    """
    items, top, total = result.items, result.top, len(result.items)
    k = total if top is None else top.k
    certain = result.uncertainty is not None and result.uncertainty.draws == 0
    spans = [
        "" if row.rank_low is None else span(row.rank_low, row.rank_high or 0)
        for row in items
    ]
    shares = per_cent([row.p_top for row in items], certain=certain)
    columns = {
        "ranks": ("Places that it could have, from and to.", spans),
        f"top {k:,}, %": (SHARE, shares),
        "mean": (MEAN, one_precision([row.mean_score for row in items])),
        "reviews": ("", [f"{row.reviews:,}" for row in items]),
    }
    heads, cells = _shown(columns)
    before = [None, *(row.bucket for row in items)]
    rows = tuple(
        Row(
            row.item,
            result.titles.get(row.item, ""),
            f"{row.rank:,}",
            _at(row.rank_low and row.rank_low - 1, total),
            _at(row.rank_high, total),
            _at(row.rank - 0.5, total),
            own,
            row.side or "",
            row.side or "in",
            edge=earlier not in (None, row.bucket),
        )
        for row, earlier, own in zip(items, before, cells, strict=False)
    )
    inner = k < total
    return Rows(
        "item",
        "rank",
        heads,
        rows,
        ticks(total),
        "rank, 1 is best",
        line=100 * k / total if inner else None,
        cut=(k, f"cut after {k:,}") if inner else None,
        words="side" if rows[0].word else "",
    )


def _shown(columns: Columns) -> tuple[dict[str, str], list[tuple[str, ...]]]:
    """Return heads with their hints, and rows, of the columns that are not empty."""
    kept = {head: cells for head, (_, cells) in columns.items() if any(cells)}
    hints = {head: columns[head][0] for head in kept}
    return hints, [*zip(*kept.values(), strict=True)]


def reviewer_rows(check: Check) -> Rows:
    """Lay out reviewers: strictness with two standard errors, strictest first.

    Examples:
        >>> from evenhand import Ratings, check
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 2, 5, 4])
        >>> [row.label for row in reviewer_rows(check(ratings, rng=7)).rows]
        ['a', 'b']
    """
    known = sorted(check.reviewers, key=_strictest_first)
    reach = [SURE * (one.offset_se or 0.0) for one in known]
    ends = [abs(one.offset or 0.0) + far for one, far in zip(known, reach, strict=True)]
    shared = axis([-max(ends), max(ends)], NARROW)
    columns = {
        "points": (POINTS, one_precision([one.offset for one in known], "+")),
        "spread": (SPREAD, one_precision([one.slope for one in known])),
        "items": ("", [f"{one.ratings:,}" for one in known]),
    }
    heads, cells = _shown(columns)
    rows = []
    for one, far, own in zip(known, reach, cells, strict=True):
        low = high = dot = None
        if one.offset is not None:
            low, high = shared.place(one.offset - far), shared.place(one.offset + far)
            dot = shared.place(one.offset)
        kind = KINDS.get(one.strictness, "out")
        rows.append(Row(one.reviewer, "", "", low, high, dot, own, _manner(one), kind))
    return Rows(
        "reviewer",
        "",
        heads,
        tuple(rows),
        shared.ticks,
        "points above or below others",
        line=50.0,
        words="in words",
    )


def _strictest_first(one: Reviewer) -> tuple[bool, float, str]:
    return one.offset is None, one.offset or 0.0, str(one.reviewer)


def _manner(one: Reviewer) -> str:
    """Say in a word or two what stands out about a reviewer."""
    if one.strictness == NOT_ENOUGH:
        return "too few to say"
    if one.offset is None and one.slope is None:
        return one.strictness
    said = [word for word in (one.strictness, one.spread) if word in TELLING]
    return ", ".join(said) or one.strictness


def grade_rows(result: Grades) -> Rows:
    """Lay out marks: each item with its interval of marks, and the pass mark.

    Examples:
        >>> from evenhand import Ratings, grade
        >>> ratings = Ratings(list("aabb"), list("xyxy"), [5, 1, 5, 1.1])
        >>> [row.word for row in grade_rows(grade(ratings, passing=3, rng=7)).rows]
        ['above', 'below']
    """
    items, mark = result.items, pass_mark(result)
    ends = [end for row in items for end in (row.low, row.mark, row.high)]
    shared = axis([*ends, *([] if mark is None else [mark])], NARROW)
    errors = one_precision([row.error for row in items])
    columns = {
        "mark": ("", one_precision([row.mark for row in items])),
        "error": ("Standard error of the mark.", errors),
        "mean": (MEAN, one_precision([row.mean_score for row in items])),
        "scores": ("", [f"{row.reviews:,}" for row in items]),
    }
    heads, cells = _shown(columns)
    rows = tuple(
        Row(
            row.item,
            result.titles.get(row.item, ""),
            f"{place:,}",
            shared.place(row.low),
            shared.place(row.high),
            shared.place(row.mark),
            own,
            " ".join(filter(None, [row.standing, "given" if row.anchor else ""])),
            STANDINGS.get(row.standing or "", "in"),
        )
        for place, (row, own) in enumerate(zip(items, cells, strict=True), start=1)
    )
    passed = None if mark is None else sum(row.mark >= mark for row in items)
    return Rows(
        "item",
        "rank",
        heads,
        rows,
        shared.ticks,
        "mark",
        line=None if mark is None else shared.place(mark),
        cut=(passed, f"pass mark {mark:g}") if passed else None,
        words="mark is" if any(row.word for row in rows) else "",
    )


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


class Strip(NamedTuple):
    """The scores of one item as dots.

    Attributes:
        dots: Places along and across the strip, in per cent.
        mean: Place of the mean.
        each: How many scores a dot stands for, about.
    """

    dots: tuple[tuple[float, float], ...]
    mean: float
    each: int


def score_strips(
    ratings: Ratings, result: Comparison
) -> tuple[Axis, tuple[Strip, ...]] | None:
    """Place the scores of both items on one axis; None without scores of both.

    Examples:
        >>> from evenhand import Ratings, compare
        >>> ratings = Ratings(["a", "b", "c"], ["x", "y", "y"], [3, 8, 4])
        >>> found = score_strips(ratings, compare(ratings, rng=7))
        >>> [len(strip.dots) for strip in found[1]]
        [1, 2]
    """
    ratings = ratings.public
    sides = used(ratings, result)
    if ratings.kind != "scores" or min(map(len, sides)) == 0:
        return None
    given = [np.sort(ratings.scores[rows]) for rows in sides]
    shared = axis(np.concatenate(given).tolist())
    strips = []
    for scores in given:
        each = -(-len(scores) // DOTS)
        # Evenly spaced in the order of the scores, so that shares stay as they are.
        shown = scores[each // 2 :: each].tolist()
        across = [round(10 + 80 * (place * GOLDEN % 1)) for place in range(len(shown))]
        # Shares, so that large scores do not leave the floats.
        mean = float((scores / len(scores)).sum())
        dots = zip(map(shared.place, shown), across, strict=True)
        strips.append(Strip(tuple(dots), shared.place(mean), each))
    return shared, tuple(strips)


def gap(result: Comparison) -> tuple[Axis, list[float]] | None:
    """Return the difference of means with its ends, and an axis that also holds zero.

    It is that of the item that came out less the other; ends only if they are known.

    Examples:
        >>> from evenhand import compare
        >>> found = gap(compare([3, 4, 5, 6], [1, 2, 2, 3], design="halves", rng=7))
        >>> found[1]
        [2.5, 0.0, 5.0]
    """
    found = result.difference
    if found is None:
        return None
    way = 1 if result.winner == result.items[0] else -1
    ends = [way * one for one in (found.low, found.high) if one is not None]
    numbers = [way * found.estimate, *sorted(ends)]
    return axis([0.0, *numbers]), numbers
