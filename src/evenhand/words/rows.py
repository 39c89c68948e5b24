"""Rows of the report's pictures: a name, a bar on a shared axis, numbers in columns.

Items, reviewers and marks are drawn by the same rows. Places on the axis are in per
cent of its width, so that a page needs no script to draw them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.diagnosis.check import share_text
from evenhand.diagnosis.ladder import CANNOT_TELL
from evenhand.diagnosis.reviewers import AGAINST, NOT_ENOUGH, SURE, UNRELATED
from evenhand.errors import counted
from evenhand.words.text import figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evenhand.claims import Label
    from evenhand.diagnosis.check import Check
    from evenhand.diagnosis.reviewers import Reviewer, Shares
    from evenhand.diagnosis.warp import Warp, WarpedItem
    from evenhand.ranking.results import Ranking
    from evenhand.ratings import Ratings
    from evenhand.words.details import ReviewerRow, ReviewRow

    Pairs = Sequence[tuple[float, float]]

# Digits of the largest number of a column, decimals at most, and numbers that are
# written with an exponent.
DIGITS, DECIMALS, HUGE = 3, 4, 1e6
TICKS = 5
LONG_KEY = 40
LEAVING = 8
# Scores up to which each is drawn, shares of scores below and above a band, and scores
# of a reviewer that make a line.
DRAWN, BAND, FEWEST = 3_000, (0.1, 0.9), 3
# Characters of a name that a column makes room for.
LONG_NAME = 60
# The ladder's verdicts in a line.
VERDICTS = {
    "none": "scores can be compared as they are",
    "offset": "reviewers differ in how strict they are",
    "offset and slope": "reviewers differ in how strict they are and in their spread",
    "monotone": "each reviewer has an increasing scale of their own",
    "order only": "reviewers' own orders predict better than their scores",
    CANNOT_TELL: "these ratings do not tell whether scores can be compared",
}
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
        first = _wide([self.place, *(row.place for row in self.rows)])
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
    half = one_precision([-most / 2, most / 2], "+")
    return Rows(
        "reviewer",
        "",
        tuple(shown),
        rows,
        ((25.0, half[0]), (50.0, "0"), (75.0, half[1])),
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


class Dots(NamedTuple):
    """Where scores are on an axis from the lowest to the highest, in per cent."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Return where a value is.

        Examples:
            >>> Dots(0.0, 4.0).place(1.0)
            25.0
        """
        wide = self.high - self.low
        return round(100 * (value - self.low) / wide, 1) if wide else 50.0


class Scale(NamedTuple):
    """One reviewer's scores against the others' of the same items, in a square.

    Attributes:
        dots: Across and up, in per cent.
        line: Both ends of the reviewer's line; empty if there is none.
        band: Corners of where most scores of all reviewers are.
    """

    dots: tuple[tuple[float, float], ...]
    line: tuple[tuple[float, float], ...]
    band: tuple[tuple[float, float], ...]


def scales(people: Mapping[Label, ReviewerRow]) -> dict[Label, Scale]:
    """Draw each reviewer's scale over that of all; none without scores to compare.

    Examples:
        >>> from evenhand import Ratings
        >>> from evenhand.words.details import reviewer_details
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 2, 5, 4])
        >>> len(scales(reviewer_details(ratings))["a"].dots)
        2
    """
    pairs = {
        who: [
            (point.others, point.score)
            for point in one.points
            if point.others is not None and point.score is not None
        ]
        for who, one in people.items()
    }
    every = np.array([pair for own in pairs.values() for pair in own])
    if not 0 < len(every) <= DRAWN:
        return {}
    axis = Dots(float(every.min()), float(every.max()))
    least, most = np.quantile(every[:, 1] - every[:, 0], BAND).tolist()
    ends = (axis.low, axis.high)
    band = [(end, end + least) for end in ends]
    band += [(end, end + most) for end in ends[::-1]]
    return {
        who: Scale(
            _placed(axis, own),
            _placed(axis, _line(people[who], own)),
            _placed(axis, band),
        )
        for who, own in pairs.items()
        if own
    }


def _line(one: ReviewerRow, own: Pairs) -> Pairs:
    """Return the ends of a reviewer's line: through their means, with their slope."""
    heard, given = np.mean(own, axis=0).tolist()
    if one.slope is None or len(own) < FEWEST:
        return []
    across = [pair[0] for pair in own]
    return [
        (end, given + one.slope * (end - heard)) for end in (min(across), max(across))
    ]


def _placed(axis: Dots, points: Pairs) -> tuple[tuple[float, float], ...]:
    return tuple(
        (axis.place(one), round(100 - axis.place(two), 1)) for one, two in points
    )


def score_axis(reviews: Mapping[Label, Sequence[ReviewRow]]) -> Dots | None:
    """Return the axis of all scores, as given and as the method takes them.

    None if there are no scores, or too many to be drawn one by one.

    Examples:
        >>> score_axis({}) is None
        True
    """
    every = [
        value
        for rows in reviews.values()
        for row in rows
        for value in (row.score, row.corrected)
        if value is not None
    ]
    return Dots(min(every), max(every)) if 0 < len(every) <= 2 * DRAWN else None


class Places(NamedTuple):
    """How many decimals scores have on the page, and what is made of them.

    Attributes:
        given: Decimals of scores as they were given.
        made: Decimals of offsets and corrected scores.
        scored: Whether there are scores.
    """

    given: int
    made: int
    scored: bool = True

    def score(self, value: float) -> str:
        """Show a score as it was given."""
        return f"{value:.{self.given}f}"

    def taken(self, value: float) -> str:
        """Show a score as a method takes it."""
        return f"{value:.{self.made}f}"

    def offset(self, value: float) -> str:
        """Show how far a reviewer is above or below others."""
        return f"{value:+.{self.made}f}"


def decimals(ratings: Ratings) -> Places:
    """Return how many decimals scores need, and one more for what is made of them.

    Examples:
        >>> from evenhand import Ratings
        >>> decimals(Ratings(["a", "a"], ["x", "y"], [1, 2.5]))
        Places(given=1, made=2, scored=True)
    """
    if ratings.kind != "scores":
        return Places(0, 1, scored=False)
    values = np.unique(ratings.preference)
    needed = next(
        (
            number
            for number in range(DECIMALS)
            if np.array_equal(np.round(values, number), values)
        ),
        DECIMALS - 1,
    )
    return Places(needed, min(needed + 1, DECIMALS))


def people_answer(check: Check) -> str:
    """Say in a line what stands out about the reviewers.

    Examples:
        >>> from evenhand import Ratings, check
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 2, 5, 4])
        >>> people_answer(check(ratings, rng=7))
        '2 reviewers, 1 clearly strict, 1 clearly lenient'
    """
    words = Counter(one.strictness for one in check.reviewers)
    agreeing = Counter(one.agreement for one in check.reviewers)
    said = [
        f"{words[one]:,} clearly {one}" for one in ("strict", "lenient") if words[one]
    ]
    said = said or ["none clearly strict or lenient"]
    told = {AGAINST: "against the others", UNRELATED: "unrelated to the others"}
    said += [f"{agreeing[one]:,} {text}" for one, text in told.items() if agreeing[one]]
    return ", ".join([counted(len(check.reviewers), "reviewer"), *said])


def assumption_answer(check: Check | None, warp: Warp | None) -> str:
    """Say in a line what a decision owes to scales, or what was found of them.

    Examples:
        >>> assumption_answer(None, None)
        'not tested for this report'
    """
    if warp is not None:
        found = next(one for one in warp.survivals if one.method == warp.method)
        stay = f"{found.stay:.0f} of the {warp.top:,} would stay on average"
        if warp.top == 1:
            stay = f"the best one would stay in {100 * found.stay:.0f} % of draws"
        return f"{stay} if every reviewer had used another scale ({found.strength})"
    if check is None or check.ladder is None:
        return "not tested for this report"
    return VERDICTS[check.ladder.verdict]
