"""The figure of draws: pairs of items that a coin put in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from evenhand._charts import BLUE
from evenhand.desk.report.figures import (
    LONG,
    MIDDLE,
    ROW,
    Figure,
    Point,
    layered,
    marks,
    names_axis,
    percent_axis,
    share,
    short,
    tips,
)
from evenhand.errors import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.ranking.results import Draw, Ranking

DRAWS = 40


def draws_figure(result: Ranking) -> Figure | None:
    """Draw the coins of a ranking: what came out, and with what probability.

    Args:
        result: The ranking.

    Returns:
        The figure; None if nothing was drawn.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 2])
        >>> draws_figure(rank(ratings, method="flips", rng=7)).header[0]
        'first'
    """
    if not result.draws:
        return None
    places = {row.item: row.rank for row in result.items}
    ordered = sorted(
        result.draws, key=lambda draw: sorted(places[item] for item in draw.items)
    )
    shown = ordered
    if len(ordered) > DRAWS:
        closest = sorted(ordered, key=lambda draw: abs(draw.p_first - 0.5))[:DRAWS]
        kept = {id(draw) for draw in closest}
        shown = [draw for draw in ordered if id(draw) in kept]
    part = (
        ""
        if len(shown) == len(ordered)
        else f" Of {len(ordered):,} draws, the {DRAWS} nearest to even are shown."
    )
    against = sum(_drawn(draw) < 0.5 for draw in ordered)  # noqa: PLR2004 - even
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
            f"the drawn order from {least} to {most}; {against} came out against the "
            "odds."
        ),
        chart=_draws_chart(shown),
        header=("first", "second", "p first above second", "drawn above"),
        rows=tuple((*draw.items, draw.p_first, draw.first) for draw in ordered),
    )


def _drawn(draw: Draw) -> float:
    return draw.p_first if draw.first == draw.items[0] else 1 - draw.p_first


def _draws_chart(draws: Sequence[Draw]) -> alt.LayerChart:
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
    y, x = names_axis(), percent_axis("p", "probability of the drawn order")
    shown = tips(
        above="drawn above",
        below="drawn below",
        share="probability of this order",
        reverse="probability of the reverse",
    )
    base = marks("draws")
    layers = [
        base.mark_bar(height=9, color=MIDDLE, opacity=0.3).encode(
            y, alt.X("one:Q"), tooltip=shown
        ),
        base.mark_bar(height=9, color=BLUE).encode(y, x, tooltip=shown),
        base.mark_text(align="left", dx=6, fontSize=11).encode(
            y, alt.X("one:Q"), alt.Text("share:N")
        ),
    ]
    return layered(layers, {"draws": points}, height=ROW * len(points))
