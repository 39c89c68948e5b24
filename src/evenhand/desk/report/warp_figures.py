"""The figure of the warp test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from evenhand._charts import BLUE, ORANGE
from evenhand.desk.report.figures import (
    LONG,
    Figure,
    Point,
    layered,
    marks,
    names_axis,
    placed,
    series,
    share,
    short,
    tips,
)
from evenhand.errors import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand._results import Label
    from evenhand.lab.warp import Survival, Warp, WarpedItem

# Items shown on each side of the cut.
NEAR, ROW = 10, 30
LOOKS = ((BLUE, "circle"), (ORANGE, "square"))


def warp_figure(warp: Warp, titles: Mapping[Label, str] | None = None) -> Figure | None:
    """Draw how often the decision on each item near the cut survives other scales.

    Examples:
        >>> from evenhand.lab.warp import Survival, Warp, WarpedItem
        >>> item = WarpedItem("x", 1, 1.0, 1.0, 1, 1)
        >>> kept = Survival("mean", "mild", 1.0, 1.0, 1.0, 1.0, (item,))
        >>> warp_figure(Warp((kept,), 1, 9, "mean", 7, {})).rows
        (('x', 1, 'mean', 'mild', 1.0),)
    """
    ours = [found for found in warp.survivals if found.method == warp.method]
    if not ours:
        return None
    shown = [
        row for row in ours[0].items if warp.top - NEAR < row.rank <= warp.top + NEAR
    ]
    kept = {row.item for row in shown}
    strengths = list(dict.fromkeys(found.strength for found in warp.survivals))
    part = "" if len(shown) == len(ours[0].items) else " Items near the cut are shown."
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
        chart=_chart(warp, titles or {}, shown, strengths),
        header=("item", "rank", "method", "scales", "stays on its side"),
        rows=tuple(
            (row.item, row.rank, found.method, found.strength, row.kept)
            for found in warp.survivals
            for row in found.items
            if row.item in kept
        ),
    )


def _chart(
    warp: Warp,
    titles: Mapping[Label, str],
    shown: Sequence[WarpedItem],
    strengths: Sequence[str],
) -> alt.LayerChart:
    methods = list(dict.fromkeys(found.method for found in warp.survivals))
    lanes = [_lane(method, warp) for method in methods]
    points = [
        point
        for found in warp.survivals
        for point in _points(found, shown, _lane(found.method, warp), strengths, titles)
    ]
    y = names_axis()
    x = alt.X(
        "kept:Q",
        title=f"stays on its side of the cut after {warp.top}",
        scale=alt.Scale(domain=[-0.02, 1.02], nice=False),
        axis=alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]),
    )
    offset = alt.YOffset(
        field="lane",
        type="nominal",
        sort=None,
        scale=alt.Scale(domain=lanes, padding=0.9),
    )
    looks = dict(zip(lanes, LOOKS, strict=False))
    colour, shape = series("lane", looks, lanes)
    fill = alt.FillOpacity(field="solid", type="quantitative", scale=None, legend=None)
    hover = tips(item="item", lane="method", strength="scales", share="stays")
    base = marks("warp")
    layers = [
        base.mark_line(strokeWidth=1.5, opacity=0.5).encode(
            y, x, offset, colour, alt.Detail("name:N")
        ),
        base.mark_point(filled=False, size=48, opacity=1, strokeWidth=1.8)
        .encode(y, x, offset, colour, shape, tooltip=hover)
        .encode(fill=colour, fillOpacity=fill),
    ]
    return layered(layers, {"warp": points}, height=ROW * len(shown))


def _lane(method: str, warp: Warp) -> str:
    return f"{method} (this ranking)" if method == warp.method else f"plain {method}"


def _points(
    found: Survival,
    shown: Sequence[WarpedItem],
    lane: str,
    strengths: Sequence[str],
    titles: Mapping[Label, str],
) -> list[Point]:
    kept = {row.item: row.kept for row in found.items}
    return [
        {
            "name": placed(row.rank, row.item, titles),
            "item": short(row.item, LONG),
            "lane": lane,
            "strength": found.strength,
            "solid": int(found.strength == strengths[0]),
            "kept": round(kept[row.item], 4),
            "share": share(kept[row.item], certain=False),
        }
        for row in shown
    ]
