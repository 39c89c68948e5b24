"""Figures of a ranking: ranks, who is chosen, the warp test and the draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand._charts import BLUE, ORANGE, RED, quantity, word
from evenhand.desk.report.check_figures import check_figures
from evenhand.desk.report.figures import (
    LONG,
    MIDDLE,
    PERCENT,
    ROW,
    Figure,
    Point,
    filtered,
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
from evenhand.errors import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand._charts import Spec
    from evenhand._results import Label
    from evenhand.lab.check import Check
    from evenhand.lab.warp import Warp
    from evenhand.ranking.results import Draw, RankedItem, Ranking
    from evenhand.ratings import Ratings

    Titles = Mapping[Label, str]

# Rows that a chart shows without scrolling, with it, and of which it knows at all.
WHOLE, WINDOW, MOST = 60, 40, 2000
# Items shown on each side of the cut, at least and at most, and with a warp test.
NEAR, NEAR_MOST, NEAR_WARPED = 4, 20, 10
DRAWS = 40
BAND = 0.16
EVEN, SMALL = 0.5, 0.001
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
LANES = ((BLUE, "circle"), (ORANGE, "square"))


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
        None if warp is None else _warp(warp, ratings.titles),
        _draws(result),
    ]
    kept = [figure for figure in found if figure is not None]
    return kept if check is None else [*kept, *check_figures(ratings, check)]


def _ranks(ratings: Ratings, result: Ranking) -> Figure | None:
    sure, rows = result.uncertainty, result.items
    if sure is None or any(row.rank_low is None for row in rows):
        return None
    where = SOURCES.get(sure.source, sure.source).format(
        level=f"{100 * sure.level:g} %"
    )
    cut = None if result.top is None else result.top.k
    if cut is not None and cut >= len(rows):
        cut = None
    caption = (
        f"The dot is an item's rank; the line spans {where}. Items on the same band "
        "cannot be told apart; overlapping lines do not mean that items are equally "
        "good."
    )
    if cut is not None:
        caption += (
            f" The dashed line is the cut after rank {cut}; lines that cross it are "
            "open."
        )
    if len(rows) > WHOLE:
        caption += (
            f" The chart shows {WINDOW} of {len(rows):,} items; on the page a slider "
            "moves along."
        )
    if len(rows) > MOST:
        caption += (
            f" Only {MOST:,} items can be reached in the chart; all are in the table."
        )
    columns = ("rank", "item", "rank_low", "rank_high", "bucket", "reviews")
    return Figure(
        name="ranks",
        title="Ranks and how far they are settled",
        caption=caption,
        alt=_ranks_alt(rows, cut),
        chart=_ranks_chart(rows, cut, ratings.titles),
        header=("rank", "item", "from", "to", "group", "reviews", "mean score"),
        rows=tuple(
            tuple(getattr(row, name) for name in (*columns, "mean_score"))
            for row in rows
        ),
    )


def _ranks_alt(rows: Sequence[RankedItem], cut: int | None) -> str:
    first, last = rows[0], rows[-1]
    groups = len({row.bucket for row in rows})
    text = (
        f"{counted(len(rows), 'item')} in {counted(groups, 'group')}. First is "
        f"{short(first.item)}, rank interval {first.rank_low} to {first.rank_high}; "
        f"last is {short(last.item)}, {last.rank_low} to {last.rank_high}."
    )
    if cut is None:
        return text
    number = sum((row.rank_low or 0) <= cut < (row.rank_high or 0) for row in rows)
    have = "item has" if number == 1 else "items have"
    return f"{text} {number} {have} an interval that crosses the cut after {cut}."


def _ranks_chart(rows: Sequence[RankedItem], cut: int | None, titles: Titles) -> Spec:
    total = len(rows)
    long = total > WHOLE
    begin = max(0, min(total - WINDOW, (cut or 0) - WINDOW // 2)) if long else 0
    low = max(0, min(begin - MOST // 2, total - MOST))
    held = rows[low : low + MOST]
    layers = _rank_layers(titles, scored=held[0].mean_score is not None, long=long)
    data: dict[str, list[Point]] = {"ranks": [_rank_point(row, titles) for row in held]}
    if cut is not None:
        # Far from the cut the line would squeeze everything else.
        near = f"datum.cut > first - 1 && datum.cut < first + {WINDOW}" if long else ""
        look = {"color": RED, "strokeDash": [6, 4], "strokeWidth": 1.6}
        rule = marks("cut", "rule", {"x": quantity("cut")}, **look)
        layers.append(filtered(rule, near))
        data["cut"] = [{"cut": cut + 0.5}]
    chart = layered(layers, data, height=ROW * (WINDOW if long else total))
    if long:
        slider = {"input": "range", "name": "Show from rank ", "step": 1}
        ends = {"min": low + 1, "max": low + len(held) - WINDOW + 1}
        bind = {**slider, **ends}
        chart["params"] = [{"name": "first", "value": begin + 1, "bind": bind}]
    return chart


def _rank_layers(titles: Titles, *, scored: bool, long: bool) -> list[Spec]:
    y = names_axis()
    x = quantity(
        "low",
        title="rank, 1 is best",
        axis={"orient": "top", "tickMinStep": 1, "format": "d"},
        scale={"zero": False, "nice": False, "padding": 12},
    )
    seen = f"datum.rank >= first && datum.rank < first + {WINDOW}" if long else ""
    shown = tips(
        item="item",
        **({"title": "title"} if titles else {}),
        rank="rank",
        span="rank interval",
        group="group",
        reviews="reviews",
        **({"mean": "mean score"} if scored else {}),
    )
    # All layers have the same rows: the axis takes its order from the first.
    band = {"y": y, "opacity": quantity("band", scale=None, legend=None)}
    span = {"y": y, "x": x, "x2": {"field": "high"}, "tooltip": shown}
    dot = {"y": y, "x": quantity("rank"), "tooltip": shown}
    line = {"strokeWidth": 4, "opacity": 0.6, "strokeCap": "round"}
    layers = [
        marks("ranks", "rect", band, color=MIDDLE),
        marks("ranks", "rule", span, color=BLUE, **line),
        marks("ranks", "point", dot, color=BLUE, fill=BLUE, size=55, opacity=1),
    ]
    return [filtered(layer, seen) for layer in layers]


def _rank_point(row: RankedItem, titles: Titles) -> Point:
    point: Point = {
        **_named(row, titles),
        "low": row.rank_low,
        "high": row.rank_high,
        "span": f"{row.rank_low} to {row.rank_high}",
        "group": row.bucket,
        "band": BAND if row.bucket is not None and row.bucket % 2 else 0,
        "reviews": row.reviews,
    }
    if row.mean_score is not None:
        point["mean"] = told(row.mean_score)
    return point


def _named(row: RankedItem, titles: Titles) -> Point:
    title: Point = {"title": short(titles.get(row.item, ""), LONG)} if titles else {}
    name = placed(row.rank, row.item, titles)
    return {"name": name, "item": short(row.item, LONG), "rank": row.rank, **title}


def _top(ratings: Ratings, result: Ranking) -> Figure | None:
    top, sure = result.top, result.uncertainty
    known = [row for row in result.items if row.p_top is not None]
    if top is None or sure is None or not known or top.k >= len(result.items):
        return None
    certain = sure.draws == 0
    shown = _near(result.items, top.k)
    what = CHANCES.get(sure.source, sure.source).format(k=top.k)
    unit = UNITS.get(sure.source, "probability")
    part = "" if len(shown) == len(known) else " Only items near the cut are shown."
    inside, outside = (
        f"{short(row.item)} with {share(row.p_top or 0.0, certain=certain)}"
        for row in result.items[top.k - 1 : top.k + 1]
    )
    points: list[Point] = [
        {
            **_named(row, ratings.titles),
            "p": round(row.p_top or 0.0, 4),
            "share": share(row.p_top or 0.0, certain=certain),
            "side": "chosen" if row.rank <= top.k else "not chosen",
        }
        for row in shown
    ]
    return Figure(
        name="top",
        title=f"Among the best {top.k}?",
        caption=f"The bar is {what}. It is no guarantee, and not a grade of the item."
        + part,
        alt=f"Last of the chosen is {inside}; first of the others is {outside}.",
        chart=_top_chart(points, unit, titled=bool(ratings.titles)),
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
        for row in rows[max(0, k - NEAR_MOST) : k + NEAR_MOST]
        if k - NEAR < row.rank <= k + NEAR or SMALL <= (row.p_top or 0.0) <= 1 - SMALL
    ]


def _top_chart(points: Sequence[Point], unit: str, *, titled: bool) -> Spec:
    place = {"y": names_axis(), "x": percent_axis("p", unit)}
    looks = series("side", CHOSEN, CHOSEN)
    title = {"title": "title"} if titled else {}
    shown = tips(item="item", **title, rank="rank", side="decision", share=unit)
    bar = {**place, "color": looks["color"], "tooltip": shown}
    text = {**place, "text": word("share")}
    layers = [
        marks("top", "bar", bar, height=5, opacity=0.6),
        marks("top", "point", {**bar, **looks}, filled=True, size=75, opacity=1),
        marks("top", "text", text, align="left", dx=9, fontSize=11),
    ]
    return layered(layers, {"top": points}, height=ROW * len(points))


def _warp(warp: Warp, titles: Titles) -> Figure | None:
    """Draw how often the decision on each item near the cut survives other scales."""
    ours = [found for found in warp.survivals if found.method == warp.method]
    if not ours:
        return None
    near = range(warp.top - NEAR_WARPED + 1, warp.top + NEAR_WARPED + 1)
    names = {
        row.item: placed(row.rank, row.item, titles)
        for row in ours[0].items
        if row.rank in near
    }
    part = "" if len(names) == len(ours[0].items) else " Items near the cut are shown."
    points: list[Point] = []
    for found in warp.survivals:
        kept = {row.item: row.kept for row in found.items}
        points += [
            {
                "name": name,
                "item": short(item, LONG),
                "lane": _lane(found.method, warp),
                "strength": found.strength,
                "solid": int(found.strength == ours[0].strength),
                "kept": round(kept[item], 4),
                "share": share(kept[item], certain=False),
            }
            for item, name in names.items()
        ]
    return Figure(
        name="warp",
        title="What survives if reviewers had used other scales",
        caption=(
            "Every reviewer's scale was redrawn "
            f"{counted(warp.draws, 'time')}, each reviewer's own order kept. A mark is "
            "the share of redraws in which an item stays on its side of the cut after "
            f"{warp.top}: filled for mild changes of scale, hollow for extreme ones. "
            "It shows how far the decision leans on scores being comparable, not "
            f"whether it is right.{part}"
        ),
        alt=" ".join(warp.sentences()),
        chart=_warp_chart(warp, points, height=30 * len(names)),
        header=("item", "rank", "method", "scales", "stays on its side"),
        rows=tuple(
            (row.item, row.rank, found.method, found.strength, row.kept)
            for found in warp.survivals
            for row in found.items
            if row.item in names
        ),
    )


def _lane(method: str, warp: Warp) -> str:
    return f"{method} (this ranking)" if method == warp.method else f"plain {method}"


def _warp_chart(warp: Warp, points: Sequence[Point], *, height: int) -> Spec:
    lanes = list(dict.fromkeys(_lane(one.method, warp) for one in warp.survivals))
    x = quantity(
        "kept",
        title=f"stays on its side of the cut after {warp.top}",
        scale={"domain": [-0.02, 1.02], "nice": False},
        axis=PERCENT,
    )
    offset = word("lane", sort=None, scale={"domain": lanes, "padding": 0.9})
    looks = series("lane", dict(zip(lanes, LANES, strict=False)), lanes)
    place = {"y": names_axis(), "x": x, "yOffset": offset, "color": looks["color"]}
    hover = tips(item="item", lane="method", strength="scales", share="stays")
    fill = {
        "fill": looks["color"],
        "fillOpacity": quantity("solid", scale=None, legend=None),
    }
    dot = {**place, **looks, **fill, "tooltip": hover}
    layers = [
        marks(
            "warp",
            "line",
            {**place, "detail": word("name")},
            strokeWidth=1.5,
            opacity=0.5,
        ),
        marks("warp", "point", dot, filled=False, size=48, opacity=1, strokeWidth=1.8),
    ]
    return layered(layers, {"warp": points}, height=height)


def _draws(result: Ranking) -> Figure | None:
    """Draw the coins of a ranking: what came out, and with what probability."""
    if not result.draws:
        return None
    places = {row.item: row.rank for row in result.items}
    ordered = sorted(
        result.draws, key=lambda draw: sorted(places[item] for item in draw.items)
    )
    closest = sorted(ordered, key=lambda draw: abs(draw.p_first - EVEN))[:DRAWS]
    kept = {id(draw) for draw in closest}
    shown = [draw for draw in ordered if id(draw) in kept]
    part = (
        ""
        if len(shown) == len(ordered)
        else f" Of {len(ordered):,} draws, the {DRAWS} nearest to even are shown."
    )
    chances = [_drawn(draw) for draw in ordered]
    least, most = (share(p, certain=False) for p in (min(chances), max(chances)))
    return Figure(
        name="draws",
        title="Pairs settled by a draw",
        caption=(
            "Each bar is a pair of items in the order that was drawn, with the "
            "probability that the draw had for this order; the rest is the "
            "probability of the reverse. These are probabilities of the draw, not "
            f"chances of being right.{part}"
        ),
        alt=(
            f"{counted(len(ordered), 'pair')} settled by a draw, with probabilities of "
            f"the drawn order from {least} to {most}; "
            f"{sum(chance < EVEN for chance in chances)} came out against the odds."
        ),
        chart=_draws_chart(shown),
        header=("first", "second", "p first above second", "drawn above"),
        rows=tuple((*draw.items, draw.p_first, draw.first) for draw in ordered),
    )


def _drawn(draw: Draw) -> float:
    return draw.p_first if draw.first == draw.items[0] else 1 - draw.p_first


def _draws_chart(draws: Sequence[Draw]) -> Spec:
    points: list[Point] = []
    for place, draw in enumerate(draws, start=1):
        other = draw.items[1] if draw.first == draw.items[0] else draw.items[0]
        points.append(
            {
                "name": f"{place}. {short(draw.first, 11)} above {short(other, 11)}",
                "above": short(draw.first, LONG),
                "below": short(other, LONG),
                "p": round(_drawn(draw), 4),
                "one": 1,
                "share": share(_drawn(draw), certain=False),
                "reverse": share(1 - _drawn(draw), certain=False),
            }
        )
    shown = tips(
        above="drawn above",
        below="drawn below",
        share="probability of this order",
        reverse="probability of the reverse",
    )
    whole = {"y": names_axis(), "x": quantity("one")}
    bar = {**whole, "x": percent_axis("p", "probability of the drawn order")}
    text = {**whole, "text": word("share")}
    layers = [
        marks(
            "draws",
            "bar",
            {**whole, "tooltip": shown},
            height=9,
            color=MIDDLE,
            opacity=0.3,
        ),
        marks("draws", "bar", {**bar, "tooltip": shown}, height=9, color=BLUE),
        marks("draws", "text", text, align="left", dx=6, fontSize=11),
    ]
    return layered(layers, {"draws": points}, height=ROW * len(points))
