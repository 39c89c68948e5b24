"""Figures of a ranking: ranks, who is chosen, and the draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from evenhand._charts import BLUE, RED
from evenhand.desk.report.draw_figures import draws_figure
from evenhand.desk.report.figures import (
    LONG,
    MIDDLE,
    ROW,
    SMALL,
    Figure,
    Point,
    layered,
    marks,
    names_axis,
    percent_axis,
    placed,
    series,
    share,
    short,
    tips,
    told,
)
from evenhand.desk.report.reviewer_figures import check_figures
from evenhand.desk.report.warp_figures import warp_figure
from evenhand.errors import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.lab.check import Check
    from evenhand.lab.warp import Warp
    from evenhand.ranking.results import RankedItem, Ranking
    from evenhand.ratings import Ratings

# Rows that a chart shows without scrolling, with it, and of which it knows at all.
WHOLE, WINDOW, MOST = 60, 40, 2000
# Items shown on each side of the cut, at least and at most.
NEAR, NEAR_MOST = 4, 20
BAND = 0.16
SOURCES = {
    "posterior over orderings": "its ranks in {level} of all orderings that respect "
    "the comparisons",
    "model": "its ranks with probability {level} or more if the fitted model is right",
    "bootstrap over reviewers": "its ranks in {level} of repeats with reviewers drawn "
    "again",
    "ranks that the comparisons allow": "all ranks that the comparisons allow",
}
CHANCES = {
    "posterior over orderings": "the share of all orderings that respect the "
    "comparisons in which the item is among the best {k}",
    "model": "the probability to be among the best {k} if the fitted model is right",
    "bootstrap over reviewers": "the share of repeats, with reviewers drawn again, in "
    "which the item is among the best {k}",
}
UNITS = {
    "posterior over orderings": "share of orderings",
    "model": "probability if the model is right",
    "bootstrap over reviewers": "share of repeats",
}
CHOSEN = {"chosen": (BLUE, "circle"), "not chosen": (RED, "diamond")}


def ranking_figures(
    ratings: Ratings, result: Ranking, check: Check | None, warp: Warp | None
) -> list[Figure]:
    """Draw a ranking, with what was checked and tested about it.

    Args:
        ratings: What was ranked.
        result: The ranking.
        check: What the ratings can support, if it was asked.
        warp: What survives other scales, if it was tried.

    Returns:
        "ranks", "top", "warp" and "draws", those that there are numbers for, and the
        figures of the check.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 2, 3, 5])
        >>> result = rank(ratings, method="mean-rank", top=1, rng=7)
        >>> [one.name for one in ranking_figures(ratings, result, None, None)]
        ['ranks', 'top']
    """
    found = [
        _ranks(ratings, result),
        _top(ratings, result),
        None if warp is None else warp_figure(warp, ratings.titles),
        draws_figure(result),
    ]
    kept = [figure for figure in found if figure is not None]
    return kept if check is None else [*kept, *check_figures(ratings, check)]


def _ranks(ratings: Ratings, result: Ranking) -> Figure | None:
    sure = result.uncertainty
    rows = result.items
    if sure is None or any(row.rank_low is None for row in rows):
        return None
    where = SOURCES.get(sure.source, sure.source)
    level = f"{100 * sure.level:g} %"
    cut = None if result.top is None else result.top.k
    if cut is not None and cut >= len(rows):
        cut = None
    open_items = 0 if cut is None else sum(_crosses(row, cut) for row in rows)
    return Figure(
        name="ranks",
        title="Ranks and how far they are settled",
        caption=(
            "The dot is an item's rank; the line spans "
            f"{where.format(level=level)}. Items on the same band cannot be told "
            "apart; overlapping lines do not mean that items are equally good."
            + _cut_words(cut)
            + _shown_words(rows)
        ),
        alt=_ranks_alt(rows, cut, open_items),
        chart=_ranks_chart(ratings, rows, cut),
        header=("rank", "item", "from", "to", "group", "reviews", "mean score"),
        rows=tuple(
            (
                row.rank,
                row.item,
                row.rank_low,
                row.rank_high,
                row.bucket,
                row.reviews,
                row.mean_score,
            )
            for row in rows
        ),
    )


def _crosses(row: RankedItem, cut: int) -> bool:
    return (row.rank_low or 0) <= cut < (row.rank_high or 0)


def _cut_words(cut: int | None) -> str:
    if cut is None:
        return ""
    return (
        f" The dashed line is the cut after rank {cut}; lines that cross it are open."
    )


def _shown_words(rows: Sequence[RankedItem]) -> str:
    if len(rows) <= WHOLE:
        return ""
    shown = (
        ""
        if len(rows) <= MOST
        else f" Only {MOST:,} items can be reached in the chart; all are in the table."
    )
    return (
        f" The chart shows {WINDOW} of {len(rows):,} items; on the page a slider "
        f"moves along.{shown}"
    )


def _ranks_alt(rows: Sequence[RankedItem], cut: int | None, open_items: int) -> str:
    first, last = rows[0], rows[-1]
    groups = len({row.bucket for row in rows})
    text = (
        f"{counted(len(rows), 'item')} in {counted(groups, 'group')}. First is "
        f"{short(first.item)}, rank interval {first.rank_low} to {first.rank_high}; "
        f"last is {short(last.item)}, {last.rank_low} to {last.rank_high}."
    )
    if cut is None:
        return text
    crossing = "item has" if open_items == 1 else "items have"
    return (
        f"{text} {open_items} {crossing} an interval that crosses the cut after {cut}."
    )


def _ranks_chart(
    ratings: Ratings, rows: Sequence[RankedItem], cut: int | None
) -> alt.LayerChart:
    total = len(rows)
    long = total > WHOLE
    begin = max(0, min(total - WINDOW, (cut or 0) - WINDOW // 2)) if long else 0
    low = max(0, min(begin - MOST // 2, total - MOST))
    held = rows[low : low + MOST]
    layers = _rank_layers(ratings, held, long=long)
    data: dict[str, list[Point]] = {
        "ranks": [_rank_point(ratings, row) for row in held]
    }
    if cut is not None and cut < total:
        layers.append(_cut_rule(long=long))
        data["cut"] = [{"cut": cut + 0.5}]
    slider = alt.binding_range(
        min=low + 1,
        max=low + len(held) - WINDOW + 1,
        step=1,
        name="Show from rank ",
    )
    params = [alt.param(name="first", value=begin + 1, bind=slider)] if long else []
    height = ROW * (WINDOW if long else total)
    return layered(layers, data, height=height, params=params)


def _rank_layers(
    ratings: Ratings, held: Sequence[RankedItem], *, long: bool
) -> list[alt.Chart]:
    y = names_axis()
    x = alt.X(
        "low:Q",
        title="rank, 1 is best",
        axis=alt.Axis(orient="top", tickMinStep=1, format="d"),
        scale=alt.Scale(zero=False, nice=False, padding=12),
    )
    base = marks("ranks")
    if long:
        base = base.transform_filter(
            f"datum.rank >= first && datum.rank < first + {WINDOW}"
        )
    shown = tips(
        item="item",
        **({"title": "title"} if ratings.titles else {}),
        rank="rank",
        span="rank interval",
        group="group",
        reviews="reviews",
        **({"mean": "mean score"} if held[0].mean_score is not None else {}),
    )
    # All layers have the same rows: the axis takes its order from the first.
    band = alt.Opacity("band:Q", scale=None, legend=None)
    return [
        base.mark_rect(color=MIDDLE).encode(y, band),
        base.mark_rule(color=BLUE, strokeWidth=4, opacity=0.6, strokeCap="round")
        .encode(y, x, alt.X2("high:Q"))
        .encode(tooltip=shown),
        base.mark_point(color=BLUE, fill=BLUE, size=55, opacity=1)
        .encode(y, alt.X("rank:Q"))
        .encode(tooltip=shown),
    ]


def _cut_rule(*, long: bool) -> alt.Chart:
    rule = marks("cut").mark_rule(color=RED, strokeDash=[6, 4], strokeWidth=1.6)
    if long:
        # Far from the cut the line would squeeze everything else.
        rule = rule.transform_filter(
            f"datum.cut > first - 1 && datum.cut < first + {WINDOW}"
        )
    drawn: alt.Chart = rule.encode(alt.X("cut:Q"))
    return drawn


def _rank_point(ratings: Ratings, row: RankedItem) -> Point:
    point: Point = {
        "name": placed(row.rank, row.item, ratings.titles),
        "item": short(row.item, LONG),
        "rank": row.rank,
        "low": row.rank_low,
        "high": row.rank_high,
        "span": f"{row.rank_low} to {row.rank_high}",
        "group": row.bucket,
        "band": BAND if row.bucket is not None and row.bucket % 2 else 0,
        "reviews": row.reviews,
    }
    if row.mean_score is not None:
        point["mean"] = told(row.mean_score)
    if ratings.titles:
        point["title"] = short(ratings.titles.get(row.item, ""), LONG)
    return point


def _top(ratings: Ratings, result: Ranking) -> Figure | None:
    top, sure = result.top, result.uncertainty
    known = [row for row in result.items if row.p_top is not None]
    if top is None or sure is None or not known or top.k >= len(result.items):
        return None
    certain = sure.draws == 0
    shown = _near(result.items, top.k)
    what = CHANCES.get(sure.source, sure.source).format(k=top.k)
    unit = UNITS.get(sure.source, "probability")
    inside, outside = result.items[top.k - 1], result.items[top.k]
    return Figure(
        name="top",
        title=f"Among the best {top.k}?",
        caption=(
            f"The bar is {what}. It is no guarantee, and not a grade of the item."
            + (
                ""
                if len(shown) == len(known)
                else " Only items near the cut are shown."
            )
        ),
        alt=(
            f"Last of the chosen is {short(inside.item)} with "
            f"{share(inside.p_top or 0.0, certain=certain)}; first of the others is "
            f"{short(outside.item)} with "
            f"{share(outside.p_top or 0.0, certain=certain)}."
        ),
        chart=_top_chart(ratings, shown, top.k, unit, certain=certain),
        header=("rank", "item", "chosen", f"{unit}, best {top.k}"),
        rows=tuple(
            (row.rank, row.item, "yes" if row.rank <= top.k else "no", row.p_top)
            for row in shown
        ),
    )


def _near(rows: Sequence[RankedItem], k: int) -> list[RankedItem]:
    """Keep items that may fall on either side of the cut, and some neighbours."""
    if len(rows) <= NEAR_MOST:
        return list(rows)
    return [
        row
        for row in rows
        if k - NEAR_MOST < row.rank <= k + NEAR_MOST
        and (
            k - NEAR < row.rank <= k + NEAR or SMALL <= (row.p_top or 0.0) <= 1 - SMALL
        )
    ]


def _top_chart(
    ratings: Ratings, rows: Sequence[RankedItem], k: int, unit: str, *, certain: bool
) -> alt.LayerChart:
    points: list[Point] = []
    for row in rows:
        chance = row.p_top or 0.0
        point: Point = {
            "name": placed(row.rank, row.item, ratings.titles),
            "item": short(row.item, LONG),
            "rank": row.rank,
            "p": round(chance, 4),
            "share": share(chance, certain=certain),
            "side": "chosen" if row.rank <= k else "not chosen",
        }
        if ratings.titles:
            point["title"] = short(ratings.titles.get(row.item, ""), LONG)
        points.append(point)
    y, x = names_axis(), percent_axis("p", unit)
    colour, shape = series("side", CHOSEN, ["chosen", "not chosen"])
    shown = tips(
        item="item",
        **({"title": "title"} if ratings.titles else {}),
        rank="rank",
        side="decision",
        share=unit,
    )
    base = marks("top")
    layers = [
        base.mark_bar(height=5, opacity=0.6).encode(y, x, colour, tooltip=shown),
        base.mark_point(filled=True, size=75, opacity=1).encode(
            y, x, colour, shape, tooltip=shown
        ),
        base.mark_text(align="left", dx=9, fontSize=11).encode(
            y, x, alt.Text("share:N")
        ),
    ]
    return layered(layers, {"top": points}, height=ROW * len(points))
