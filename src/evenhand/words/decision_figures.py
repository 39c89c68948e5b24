"""Figures of a ranking and of a comparison: places, other scales, scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._charts import BLUE, ORANGE, RED, quantity, word
from evenhand.words.check_figures import check_figures
from evenhand.words.figures import (
    MIDDLE,
    PERCENT,
    ROW,
    Figure,
    Point,
    fields,
    filtered,
    intervals,
    layered,
    marks,
    names_axis,
    placed,
    points,
    series,
    tips,
    unique,
    worded,
)
from evenhand.words.tables import used
from evenhand.words.text import share, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand._charts import Spec
    from evenhand.ab.comparison import Comparison
    from evenhand.claims import Label
    from evenhand.diagnosis.check import Check
    from evenhand.diagnosis.warp import Warp
    from evenhand.ranking.results import RankedItem, Ranking
    from evenhand.ratings import Ratings
    from evenhand.words.figures import Cell, Shown

    Titles = Mapping[Label, str]
    Codes = NDArray[np.int64]

# Rows that a chart shows without scrolling, with it, and of which it knows at all.
WHOLE, WINDOW, MOST = 60, 40, 2000
# Items shown on each side of the cut, at least and at most, and with a warp test.
NEAR, NEAR_MOST, NEAR_WARPED = 4, 20, 10
DRAWS, POINTS = 40, 1000
BAND = 0.16
EVEN, SMALL = 0.5, 0.001
# A share that there is room for in a bar.
TOLD = 0.05
CHOSEN = {"chosen": (BLUE, "circle"), "not chosen": (RED, "diamond")}
LANES = ((BLUE, "circle"), (ORANGE, "square"))
# The golden section spreads dots evenly, whatever their number.
GOLDEN = 0.6180339887498949
SIDES = ("first", "second")
COLOUR = word("side", legend=None, scale={"domain": [*SIDES], "range": [BLUE, ORANGE]})


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
        "ranks" and "warp", if there are numbers for them, and the figures of the check.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 2, 3, 5])
        >>> result = rank(ratings, method="mean-rank", top=1, rng=7)
        >>> [one.name for one in ranking_figures(ratings, result, None, None)]
        ['ranks']
    """
    found = [
        _ranks(ratings, result),
        None if warp is None else _warp(warp, ratings.titles),
    ]
    kept = [figure for figure in found if figure is not None]
    return kept if check is None else [*kept, *check_figures(ratings, check)]


def _ranks(ratings: Ratings, result: Ranking) -> Figure | None:
    sure, rows = result.uncertainty, result.items
    if sure is None or any(row.rank_low is None for row in rows):
        return None
    cut = None if result.top is None else result.top.k
    cut = cut if cut is not None and cut < len(rows) else None
    return worded(
        "ranks",
        _ranks_chart(rows, cut, ratings.titles),
        sure=sure,
        rows=rows,
        cut=cut,
        groups=len({row.bucket for row in rows}),
        crossing=0 if result.top is None else len(result.top.open),
        whole=WHOLE,
        window=WINDOW,
    )


def _ranks_chart(rows: Sequence[RankedItem], cut: int | None, titles: Titles) -> Spec:
    total, held = len(rows), rows
    if total > WHOLE:
        begin = max(0, min(total - WINDOW, (cut or 0) - WINDOW // 2))
        held = rows[begin : begin + WINDOW]
    shown: dict[str, list[Cell]] = fields(
        held, rank="rank", item="item", rank_low="from", rank_high="to", bucket="group"
    )
    spans: Shown = {
        "rank interval": [f"{row.rank_low} to {row.rank_high}" for row in held],
        "band": [BAND if (row.bucket or 0) % 2 else 0 for row in held],
        "reviews": [row.reviews for row in held],
    }
    data = points({**shown, **_named(held, titles), **spans})
    hidden = {"name", "from", "to", "band"}
    hover = [column for column in data[0] if column not in hidden]
    x = quantity(
        "from",
        title="rank, 1 is best",
        axis={
            "orient": "top",
            "tickMinStep": 1,
            "labelExpr": "datum.value % 1 ? '' : datum.value",
        },
        scale={"zero": False, "nice": False, "padding": 12},
    )
    # All layers have the same rows: the axis takes its order from the first.
    band = {"y": names_axis(), "opacity": quantity("band", scale=None, legend=None)}
    layers = [
        marks("ranks", "rect", band, color=MIDDLE),
        *intervals("ranks", "rank", x, "to", hover, {"color": {"value": BLUE}}),
    ]
    sets = {"ranks": data}
    if cut is not None:
        look = {"color": RED, "strokeDash": [6, 4], "strokeWidth": 1.6}
        layers.append(marks("cut", "rule", {"x": quantity("rank")}, **look))
        sets["cut"] = points({"rank": [cut + 0.5]})
    return layered(layers, sets, height=ROW * len(held))


def _named(rows: Sequence[RankedItem], titles: Titles) -> dict[str, list[Cell]]:
    named: dict[str, list[Cell]] = {
        "name": [placed(row.rank, row.item, titles) for row in rows]
    }
    if titles:
        named["title"] = [titles.get(row.item, "") for row in rows]
    return named


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
    shown = [
        (found, row)
        for found in warp.survivals
        for row in found.items
        if row.item in names
    ]
    tests, rows = ([*column] for column in zip(*shown, strict=True))
    numbers = {
        **fields(rows, item="item", rank="rank"),
        **fields(tests, method="method", strength="scales"),
        **fields(rows, kept="stays on its side"),
    }
    lanes = {
        method: f"{method} (this ranking)"
        if method == warp.method
        else f"plain {method}"
        for method in dict.fromkeys(found.method for found in warp.survivals)
    }
    told: Shown = {
        "name": [names[row.item] for row in rows],
        "lane": [lanes[found.method] for found in tests],
        "solid": [int(found.strength == ours[0].strength) for found in tests],
        "stays": [share(row.kept, certain=False) for row in rows],
    }
    data = points({**numbers, **told})
    chart = _warp_chart(data, [*lanes.values()], warp.top, height=30 * len(names))
    whole = len(names) == len(ours[0].items)
    return worded("warp", chart, warp=warp, whole=whole)


def _warp_chart(
    data: Sequence[Point], lanes: Sequence[str], top: int, *, height: int
) -> Spec:
    x = quantity(
        "stays on its side",
        title=f"stays on its side of the cut after {top}",
        scale={"domain": [-0.02, 1.02], "nice": False},
        axis=PERCENT,
    )
    offset = word("lane", sort=None, scale={"domain": [*lanes], "padding": 0.9})
    looks = series("lane", dict(zip(lanes, LANES, strict=False)), lanes)
    place = {"y": names_axis(), "x": x, "yOffset": offset, "color": looks["color"]}
    solid = quantity("solid", scale=None, legend=None)
    hover = tips("item", "method", "scales", "stays")
    fill = {"fill": looks["color"], "fillOpacity": solid, "tooltip": hover}
    line = {**place, "detail": word("name")}
    look = {"filled": False, "size": 48, "opacity": 1, "strokeWidth": 1.8}
    layers = [
        marks("warp", "line", line, strokeWidth=1.5, opacity=0.5),
        marks("warp", "point", {**place, **looks, **fill}, **look),
    ]
    return layered(layers, {"warp": data}, height=height)


def comparison_figures(ratings: Ratings, result: Comparison) -> list[Figure]:
    """Draw a comparison of two items.

    Args:
        ratings: The scores, of these two items and perhaps of others.
        result: The comparison.

    Returns:
        "shares" if there are more scores than different ones, which are few, or else
        "scores" if there are any.

    Examples:
        >>> from evenhand import Ratings, compare
        >>> ratings = Ratings(["a", "b", "c", "d"], ["x", "y"] * 2, [3, 8, 4, 5])
        >>> result = compare(ratings, method="votes", rng=7)
        >>> [one.name for one in comparison_figures(ratings, result)]
        ['scores']
    """
    scores = share_figure(result) or _scores(ratings.public, result)
    return [] if scores is None else [scores]


def share_figure(result: Comparison) -> Figure | None:
    """Draw the share of each score as a stacked bar for each item.

    Returns:
        The figure; None if there are too many different scores, or hardly more scores.

    Examples:
        >>> from evenhand import compare
        >>> share_figure(compare([3, 4, 4, 4], [3, 3, 4], rng=7)).alt
        'A: 3 25 %, 4 75 %. B: 3 66.7 %, 4 33.3 %.'
    """
    scores = result.scores
    if scores is None or scores.levels is None or scores.shares is None:
        return None
    levels, sides = [f"{level:g}" for level in scores.levels], np.array(scores.shares)
    if min(scores.n) <= len(levels):
        return None
    ends = np.cumsum(sides, axis=1)
    shown = [share(one) for one in sides.ravel()]
    data: Shown = {
        "name": np.repeat(unique(result.items), len(levels)),
        "score": levels * 2,
        "share": shown,
        "low": (ends - sides).ravel(),
        "high": ends.ravel(),
        "middle": (ends - sides / 2).ravel(),
        "told": [f"{100 * one:.0f} %" if one >= TOLD else "" for one in sides.ravel()],
        "pale": [place < len(levels) / 2 for place in range(len(levels))] * 2,
    }
    ramp = {"domain": levels, "scheme": {"name": "blues", "extent": [0.05, 1]}}
    key = {"title": "score", "orient": "top", "columns": 5, "titleOrient": "left"}
    x = quantity("low", title="share of its scores", axis={**PERCENT, "grid": False})
    bar = {"x": x, "x2": {"field": "high"}, "y": names_axis()}
    bar |= {"color": word("score", sort=None, scale=ramp, legend=key)}
    text = {"x": quantity("middle"), "y": names_axis(), "text": word("told")}
    layers = [
        marks(
            "shares",
            "bar",
            {**bar, "tooltip": tips("name", "score", "share")},
            height=26,
        )
    ]
    for where, ink in (("datum.pale", "#000000"), ("!datum.pale", "#ffffff")):
        layers.append(filtered(marks("shares", "text", text, color=ink), where))
    chart = layered(layers, {"shares": points(data)}, height=90)
    told = [*zip(result.items, np.split(np.array(shown), 2), strict=True)]
    return worded("shares", chart, levels=levels, sides=told)


def _scores(ratings: Ratings, result: Comparison) -> Figure | None:
    sides = used(ratings, result)
    if ratings.kind != "scores" or min(map(len, sides)) == 0:
        return None
    given = [ratings.scores[rows] for rows in sides]
    # Shares and halves, so that large scores do not leave the floats.
    means = [float((one / len(one)).sum()) for one in given]
    medians = [float(2 * np.median(one / 2)) for one in given]
    counts = [*map(len, sides)]
    pairs = _pairs(ratings, *sides)
    names = unique([shortened(item, 16) for item in result.items])
    rows = np.concatenate([one[:: -(-len(one) // POINTS)] for one in sides])
    side = (ratings.item_codes[rows] != ratings.item_code(result.items[0])).astype(int)
    turn = np.arange(len(rows)) * GOLDEN % 1 - 0.5
    people = [ratings.reviewer_labels[code] for code in ratings.reviewer_codes]
    joined = pairs[:POINTS].ravel()
    dots: Shown = {
        "name": [names[end] for end in side],
        "side": [SIDES[end] for end in side],
        "reviewer": [people[row] for row in rows],
        "score": ratings.scores[rows],
        "jitter": turn.round(3) * (len(pairs) == 0),
    }
    ends: Shown = {
        "pair": np.arange(len(joined)) // 2,
        "name": names * (len(joined) // 2),
        "score": ratings.scores[joined],
    }
    sets = {
        "scores": points(dots),
        "middles": points({"item": names, "median": medians, "mean": means}),
        "pairs": points(ends),
    }
    layers = _score_layers()
    return worded(
        "scores",
        layered(layers if len(pairs) else layers[1:], sets, height=270),
        paired=len(pairs) > 0,
        part=POINTS if max(counts) > POINTS else 0,
        sides=[*zip(result.items, counts, means, medians, strict=True)],
    )


def _pairs(ratings: Ratings, first: Codes, second: Codes) -> Codes:
    """Match ratings of one pair, or of one reviewer, if all are told apart."""
    by = ratings.reviewer_codes if ratings.pair_codes is None else ratings.pair_codes
    if any(len(np.unique(by[rows])) < len(rows) for rows in (first, second)):
        return np.empty((0, 2), dtype=np.int64)
    _, ones, others = np.intersect1d(by[first], by[second], return_indices=True)
    return np.column_stack([first[ones], second[others]])


def _score_layers() -> list[Spec]:
    labels = {"labelAngle": 0, "labelFontSize": 12, "labelLimit": 150}
    x = word("name", sort=None, title=None, axis=labels)
    scale = {"zero": False, "nice": False, "padding": 12}
    place = {"x": x, "y": quantity("score", title="score", scale=scale)}
    dot = {
        **place,
        "xOffset": quantity("jitter", scale={"domain": [-1.2, 1.2]}),
        "color": COLOUR,
        "tooltip": tips("reviewer", "score"),
    }
    hover = tips("item", "median", "mean")
    centre = {"x": {**x, "field": "item"}, "tooltip": hover}
    median, mean = ({**centre, "y": quantity(name)} for name in ("median", "mean"))
    stroke = {"shape": "stroke", "size": 6000, "strokeWidth": 3, "color": MIDDLE}
    diamond = {"shape": "diamond", "size": 130, "color": RED, "fill": RED}
    line = {**place, "detail": word("pair")}
    return [
        marks("pairs", "line", line, color=MIDDLE, opacity=0.6, strokeWidth=1),
        marks("scores", "point", dot, filled=True, size=55, opacity=0.75),
        marks("middles", "point", median, opacity=1, **stroke),
        marks("middles", "point", mean, opacity=1, fillOpacity=0.25, **diamond),
    ]
