"""Figures of a check: reviewers' scales, the ladder and the load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from evenhand._charts import BLUE, RED
from evenhand.desk.report.contradiction_figures import contradictions_figure
from evenhand.desk.report.figures import (
    LONG,
    MIDDLE,
    ROW,
    Figure,
    Point,
    layered,
    marks,
    names_axis,
    rounded,
    series,
    short,
    tips,
    told,
    unique,
)
from evenhand.desk.report.ladder_figures import ladder_figure
from evenhand.desk.report.scale_figures import LOOKS as STRICT
from evenhand.desk.report.scale_figures import scales_figure
from evenhand.errors import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.lab._check_counts import Distribution
    from evenhand.lab._check_reviewers import Reviewer
    from evenhand.lab.check import Check
    from evenhand.ratings import Ratings

REVIEWERS = 40
# What is called clear is so many standard errors from the middle.
SURE = 2.0
UNKNOWN = "not enough ratings to say"
WIDE = {
    "narrow": (BLUE, "square"),
    "wide": (RED, "diamond"),
    "typical": (MIDDLE, "circle"),
    UNKNOWN: (MIDDLE, "cross"),
}


def check_figures(ratings: Ratings, check: Check) -> list[Figure]:
    """Draw what a check found.

    Args:
        ratings: What was checked.
        check: What was found.

    Returns:
        "scales", "strictness", "spread", "contradictions", "ladder", "load" and
        "reviews", those that there are numbers for and something to see in.

    Examples:
        >>> from evenhand.lab.check import check
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 2, 5, 4])
        >>> [one.name for one in check_figures(ratings, check(ratings, rng=7))]
        ['scales', 'strictness', 'contradictions', 'ladder']
    """
    found = [
        scales_figure(ratings.public, check),
        _strictness(check.reviewers),
        _spread(check.reviewers),
        contradictions_figure(ratings, check),
        None if check.ladder is None else ladder_figure(check.ladder),
        _load(check),
        _reviews(check),
    ]
    return [figure for figure in found if figure is not None]


def _strictness(reviewers: Sequence[Reviewer]) -> Figure | None:
    known = sorted(
        (one for one in reviewers if one.offset is not None),
        key=lambda one: (one.offset or 0.0, str(one.reviewer)),
    )
    if not known or not any(one.offset for one in known):
        return None
    effects = [_Effect(one, one.offset, one.offset_se, one.strictness) for one in known]
    words = [one.strictness for one in known]
    lowest, highest = known[0], known[-1]
    return Figure(
        name="strictness",
        title="How strict each reviewer is",
        caption=(
            "How much lower or higher than others a reviewer scores the same items, "
            "in points of the score, with two standard errors each way. It is drawn "
            "towards 0 where ratings are few. It says nothing on who is right."
            + _part(known, effects)
        ),
        alt=(
            f"Of {counted(len(known), 'reviewer')}, {words.count('strict')} clearly "
            f"strict and {words.count('lenient')} clearly lenient. Offsets run from "
            f"{lowest.offset:+.3g} ({short(lowest.reviewer)}) to "
            f"{highest.offset:+.3g} ({short(highest.reviewer)})."
        ),
        chart=_effects_chart(
            _telling(effects, 0.0),
            STRICT,
            "points above or below others",
            middle=0.0,
        ),
        header=("reviewer", "ratings", "offset", "standard error", "in words"),
        rows=tuple(
            (one.reviewer, one.ratings, one.offset, one.offset_se, one.strictness)
            for one in known
        ),
    )


def _spread(reviewers: Sequence[Reviewer]) -> Figure | None:
    known = sorted(
        (one for one in reviewers if one.slope is not None),
        key=lambda one: (one.slope or 0.0, str(one.reviewer)),
    )
    if all(one.spread == UNKNOWN for one in known):
        return None
    effects = [_Effect(one, one.slope, one.slope_se, one.spread) for one in known]
    words = [one.spread for one in known]
    lowest, highest = known[0], known[-1]
    return Figure(
        name="spread",
        title="How widely each reviewer spreads scores",
        caption=(
            "1 is the usual spread of scores for the same items, 2 twice as wide, with "
            "two standard errors each way. It is drawn towards 1 where ratings are "
            "few. A wide scale is not a better one." + _part(known, effects)
        ),
        alt=(
            f"Of {counted(len(known), 'reviewer')}, {words.count('wide')} clearly "
            f"wide and {words.count('narrow')} clearly narrow. Spreads run from "
            f"{told(lowest.slope)} ({short(lowest.reviewer)}) to {told(highest.slope)} "
            f"({short(highest.reviewer)})."
        ),
        chart=_effects_chart(
            _telling(effects, 1.0), WIDE, "spread of scores, 1 is usual", middle=1.0
        ),
        header=("reviewer", "ratings", "spread", "standard error", "in words"),
        rows=tuple(
            (one.reviewer, one.ratings, one.slope, one.slope_se, one.spread)
            for one in known
        ),
    )


class _Effect:
    """What a chart shows of one reviewer."""

    __slots__ = ("error", "reviewer", "value", "word")

    def __init__(
        self, reviewer: Reviewer, value: float | None, error: float | None, word: str
    ) -> None:
        self.reviewer = reviewer
        self.value = value or 0.0
        self.error = error or 0.0
        self.word = word


def _telling(effects: Sequence[_Effect], middle: float) -> list[_Effect]:
    """Keep those that are furthest out beyond doubt."""

    def clear(place: int) -> float:
        one = effects[place]
        return SURE * one.error - abs(one.value - middle)

    chosen = sorted(range(len(effects)), key=lambda place: (clear(place), place))
    return [effects[place] for place in sorted(chosen[:REVIEWERS])]


def _part(known: Sequence[Reviewer], effects: Sequence[_Effect]) -> str:
    if len(effects) <= REVIEWERS:
        return ""
    return f" The {REVIEWERS} of {len(known):,} reviewers who stand out most are shown."


def _effects_chart(
    effects: Sequence[_Effect],
    looks: dict[str, tuple[str, str]],
    title: str,
    *,
    middle: float,
) -> alt.LayerChart:
    names = unique([one.reviewer.reviewer for one in effects])
    points: list[Point] = [
        {
            "name": name,
            "who": short(one.reviewer.reviewer, LONG),
            "value": rounded(one.value),
            "low": rounded(one.value - SURE * one.error),
            "high": rounded(one.value + SURE * one.error),
            "told": f"{told(one.value)} ± {told(one.error)}",
            "word": one.word,
            "ratings": one.reviewer.ratings,
        }
        for name, one in zip(names, effects, strict=True)
    ]
    y = names_axis()
    x = alt.X("low:Q", title=title, scale=alt.Scale(zero=False), axis=few_ticks())
    colour, shape = series("word", looks, [one.word for one in effects])
    hover = tips(
        who="reviewer", told="estimate ± se", word="in words", ratings="ratings"
    )
    base = marks("reviewers")
    layers = [
        marks("middle").mark_rule(color=MIDDLE, strokeWidth=1).encode(alt.X("at:Q")),
        base.mark_rule(strokeWidth=2, opacity=0.55)
        .encode(y, x, alt.X2("high:Q"), colour)
        .encode(tooltip=hover),
        base.mark_point(filled=True, size=80, opacity=1).encode(
            y, alt.X("value:Q"), colour, shape, tooltip=hover
        ),
    ]
    data: dict[str, list[Point]] = {"reviewers": points, "middle": [{"at": middle}]}
    return layered(layers, data, height=ROW * len(points))


def few_ticks() -> alt.Axis:
    """Keep numbers on an axis apart on a phone, too.

    Examples:
        >>> few_ticks().tickCount
        5
    """
    return alt.Axis(tickCount=5, labelOverlap=True)


def _load(check: Check) -> Figure | None:
    # Every comparison counts as a reviewer of two items.
    if check.kind == "comparisons":
        return None
    return _histogram(
        "load",
        "Items per reviewer",
        "The number on a bar is how many reviewers rated so many items. Who rated one "
        "item compares nothing.",
        check.load,
        ("reviewer", "items rated by a reviewer"),
    )


def _reviews(check: Check) -> Figure | None:
    return _histogram(
        "reviews",
        "Reviews per item",
        "The number on a bar is how many items have so many reviews. The fewer, the "
        "more an item's place hangs on who happened to review it.",
        check.reviews,
        ("item", "reviews of an item"),
    )


def _histogram(
    name: str, title: str, caption: str, counts: Distribution, words: tuple[str, str]
) -> Figure | None:
    if len(counts.histogram) == 1:
        return None
    noun, axis = words
    points: list[Point] = [
        {
            "name": str(low) if low == high else f"{low}-{high}",
            "count": number,
            "told": counted(number, noun),
        }
        for low, high, number in counts.histogram
    ]
    x = alt.X(
        "name:N",
        sort=None,
        title=axis,
        axis=alt.Axis(labelAngle=0),
        scale=alt.Scale(paddingInner=0.35, paddingOuter=0.3),
    )
    top = 1.15 * max(number for *_, number in counts.histogram)
    y = alt.Y("count:Q", axis=None, scale=alt.Scale(domain=[0, top], nice=False))
    base = marks("counts")
    hover = tips(name=axis, told="how many")
    layers = [
        base.mark_bar(color=BLUE).encode(x, y, tooltip=hover),
        base.mark_text(dy=-7, fontSize=11).encode(x, y, alt.Text("count:Q")),
    ]
    return Figure(
        name=name,
        title=title,
        caption=caption,
        alt=(
            f"{axis.capitalize()}: from {counts.least} to {counts.most}, median "
            f"{counts.median:g}."
        ),
        chart=layered(layers, {"counts": points}, height=150),
        header=(f"{axis}, from", "to", f"{noun}s"),
        rows=counts.histogram,
    )
