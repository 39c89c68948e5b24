"""Rows of the report's pictures: a name, a bar on a shared axis, numbers in columns.

Items, reviewers and marks are drawn by the same rows. Places on the axis are in per
cent of its width, so that a page needs no script to draw them.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

from evenhand.diagnosis.check import share_text
from evenhand.diagnosis.reviewers import NOT_ENOUGH, SURE
from evenhand.words.text import figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evenhand.claims import Label
    from evenhand.diagnosis.check import Check
    from evenhand.diagnosis.reviewers import Reviewer, Shares
    from evenhand.diagnosis.warp import Warp, WarpedItem
    from evenhand.ranking.results import Ranking

# Digits of the largest number of a column, decimals at most, and numbers that are
# written with an exponent.
DIGITS, DECIMALS, HUGE = 3, 4, 1e6
TICKS = 5
LONG_KEY = 40
LEAVING = 8
# Characters of a name that a column makes room for.
LONG_NAME = 60
# Colours of reviewers, and what is worth saying of them.
KINDS = {"strict": "in", "lenient": "open"}
TELLING = ("strict", "lenient", "wide", "narrow")


class Head(NamedTuple):
    """The head of a column of numbers, and what it means."""

    title: str
    hint: str = ""


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

    @property
    def name(self) -> str:
        """Return all that stands in the column of names."""
        return f"{self.label} {self.title}"


class Rows(NamedTuple):
    """A picture made of rows.

    Attributes:
        kind: What rows are: "item" or "reviewer".
        place: Head of what stands first.
        heads: Heads of the numbers.
        rows: The rows.
        ticks: Places on the axis and what is written there.
        axis: What the axis shows.
        line: Where a line goes through all bars, as the cut or zero.
        cut: After how many rows a line goes through the list, and what it says.
        words: Head of the words; empty if there are none.
    """

    kind: str
    place: str
    heads: tuple[Head, ...]
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
            _wide([head.title, *column])
            for head, column in zip(self.heads, cells, strict=True)
        ]
        first = _wide([row.place for row in self.rows])
        last = _wide([self.words, *{row.word for row in self.rows}])
        name = f"{min(max(len(row.name) for row in self.rows), LONG_NAME) + 2}ch"
        return (
            f"--first:{first};--name:{name};--numbers:{' '.join(numbers)};--last:{last}"
        )


def _wide(texts: Iterable[str]) -> str:
    return f"{max(map(len, texts), default=0) + 1}ch"


def anchors(labels: Iterable[Label]) -> dict[Label, str]:
    """Name elements by labels: letters, digits and dashes, each name once.

    Examples:
        >>> anchors(["P 1", "P-1", "<b>", 7])
        {'P 1': 'P-1', 'P-1': 'P-1-2', '<b>': 'b', 7: '7'}
    """
    found: dict[Label, str] = {}
    taken: set[str] = set()
    for place, label in enumerate(labels, start=1):
        text = re.sub(r"[^A-Za-z0-9]+", "-", str(label)).strip("-")[:LONG_KEY]
        stem = key = text or f"no-{place}"
        number = 1
        while key in taken:
            number += 1
            key = f"{stem}-{number}"
        taken.add(key)
        found[label] = key
    return found


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
        if value is None:
            return ""
        if certain and value in (0, 1):
            return f"{100 * value:.0f}"
        rounded = f"{100 * value:.0f}"
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
    return tuple((_middle(rank, total), str(rank)) for rank in ranks)


def _middle(rank: int, total: int) -> float:
    return round(100 * (rank - 0.5) / total, 3)


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
    sure = result.uncertainty
    certain = sure is not None and sure.draws == 0
    columns: dict[Head, list[str]] = {
        Head("ranks", "Places that it could have, from and to."): [
            "" if row.rank_low is None else _span(row.rank_low, row.rank_high)
            for row in items
        ],
        Head(
            f"top {k:,}, %",
            "How often it is among them under the method's assumption; not a chance "
            "of being right.",
        ): per_cent([row.p_top for row in items], certain=certain),
        Head("mean", "Plain mean of its scores."): one_precision(
            [row.mean_score for row in items]
        ),
        Head("reviews"): [f"{row.reviews:,}" for row in items],
    }
    shown = {head: cells for head, cells in columns.items() if any(cells)}
    before = [None, *(row.bucket for row in items)]
    rows = tuple(
        Row(
            row.item,
            result.titles.get(row.item, ""),
            f"{row.rank:,}",
            None
            if row.rank_low is None
            else round(100 * (row.rank_low - 1) / total, 3),
            None if row.rank_high is None else round(100 * row.rank_high / total, 3),
            _middle(row.rank, total),
            tuple(cells),
            row.side or "",
            row.side or "in",
            edge=earlier not in (None, row.bucket),
        )
        for row, earlier, *cells in zip(items, before, *shown.values(), strict=False)
    )
    inner = k < total
    return Rows(
        "item",
        "rank",
        tuple(shown),
        rows,
        ticks(total),
        "rank, 1 is best",
        line=100 * k / total if inner else None,
        cut=(k, f"cut after {k:,}") if inner else None,
        words="side" if rows[0].word else "",
    )


def _span(low: int, high: int | None) -> str:
    return f"{low}" if low == high else f"{low}\N{EN DASH}{high}"


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
    ends = [
        (one.offset - far, one.offset + far)
        for one, far in zip(known, reach, strict=True)
        if one.offset is not None
    ]
    most = max((abs(end) for pair in ends for end in pair), default=0.0) or 1.0

    def place(value: float) -> float:
        return round(50 + 50 * value / most, 2)

    columns: dict[Head, list[str]] = {
        Head("points", "Above (+) or below (-) what others give to the same items."): (
            one_precision([one.offset for one in known], "+")
        ),
        Head("spread", "1 is the usual spread of scores, 2 twice as wide."): (
            one_precision([one.slope for one in known])
        ),
        Head("items"): [f"{one.ratings:,}" for one in known],
    }
    shown = {head: cells for head, cells in columns.items() if any(cells)}
    rows = tuple(
        Row(
            one.reviewer,
            "",
            "",
            None if one.offset is None else place(one.offset - far),
            None if one.offset is None else place(one.offset + far),
            None if one.offset is None else place(one.offset),
            tuple(cells),
            _manner(one),
            kind=KINDS.get(one.strictness, "out"),
        )
        for one, far, *cells in zip(known, reach, *shown.values(), strict=True)
    )
    steps = one_precision([-most, -most / 2, 0, most / 2, most], "+")
    return Rows(
        "reviewer",
        "",
        tuple(shown),
        rows,
        tuple(zip((0.0, 25.0, 50.0, 75.0, 100.0), steps, strict=True))[1:-1],
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


def leaving(warp: Warp) -> list[WarpedItem]:
    """Return chosen items that leave when scales change, most often first.

    Examples:
        >>> from evenhand import Ratings, warp
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> leaving(warp(ratings, top=1, draws=5, rng=7))
        []
    """
    mild = next(one for one in warp.survivals if one.method == warp.method)
    gone = [row for row in mild.items[: warp.top] if row.p_top < 1]
    return sorted(gone, key=lambda row: row.p_top)[:LEAVING]


def variance_parts(shares: Shares) -> list[tuple[float, str, str]]:
    """Return what is known of where scores differ: share, words and colour.

    Examples:
        >>> from evenhand.diagnosis.reviewers import Share, Shares
        >>> rest = Share(0.64, 0.553, 0.71)
        >>> variance_parts(Shares(None, None, rest, "parametric bootstrap"))
        [(0.64, 'the rest 64 % (55 to 71)', 'out')]
    """
    parts = (
        (shares.item, "items", "in"),
        (shares.reviewer, "reviewers' strictness", "open"),
        (shares.rest, "the rest", "out"),
    )
    return [
        (part.share, f"{words} {share_text(part)}", kind)
        for part, words, kind in parts
        if part is not None
    ]
