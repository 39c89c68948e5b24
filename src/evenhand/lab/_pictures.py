"""Charts of simulations: a dot for each method, or a line over numbers of levels."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from evenhand import _charts as charts
from evenhand._charts import Axis, Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand._results import Json
    from evenhand.lab.results import Row, Simulation

COLOURS = {
    "votes": charts.BLUE,
    "flips": charts.BLUE,
    "mean": charts.RED,
    "median": charts.GREEN,
    "sign": charts.ORANGE,
    "mean-rank": charts.PURPLE,
    "coin": charts.GREY,
    "topological": charts.GREY,
}
OTHERS = (charts.SKY, charts.PURPLE, charts.BLACK, charts.GREEN, charts.ORANGE)
MARKERS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross")
BAR = 2
STEP = 30
ROOM = 0.06


def simulation_chart(result: Simulation) -> charts.Chart:
    """Draw a simulation, one panel for each loss, with error bars of two errors.

    Examples:
        >>> from evenhand.lab.scenario import Scenario
        >>> from evenhand.lab.simulation import simulate
        >>> result = simulate(Scenario(), ["mean", "sign"], trials=64, rng=7)
        >>> len(simulation_chart(result)["hconcat"])
        1
    """
    names = list(dict.fromkeys(row.loss for row in result.rows))
    draw = _lines if any(row.levels for row in result.rows) else _dots
    panels = [draw([row for row in result.rows if row.loss == name]) for name in names]
    return charts.beside(panels)


def _points(rows: Sequence[Row]) -> tuple[list[dict[str, Json]], str]:
    """Return what is drawn of each row, and what it is called."""
    improving = any(row.improvement is not None for row in rows)
    points: list[dict[str, Json]] = []
    for row in rows:
        middle, error = row.risk, row.se
        if improving:
            middle, error = row.improvement or 0.0, row.improvement_se or 0.0
        points.append(
            {
                "method": row.method,
                "levels": row.levels,
                "middle": middle,
                "low": middle - BAR * error,
                "high": middle + BAR * error,
            }
        )
    what = "improvement (%)" if improving else "risk"
    return points, f"{what}, {rows[0].loss}, ± {BAR} se"


def _styles(points: Sequence[dict[str, Json]]) -> dict[str, Style]:
    left = itertools.cycle(OTHERS)
    markers = itertools.cycle(MARKERS)
    names = dict.fromkeys(str(point["method"]) for point in points)
    return {
        name: Style(name, COLOURS.get(name) or next(left), next(markers))
        for name in names
    }


def _domain(points: Sequence[dict[str, Json]]) -> tuple[float, float]:
    ends = [0.0, *(float(str(p[end])) for p in points for end in ("low", "high"))]
    room = ROOM * (max(ends) - min(ends) or 1.0)
    return min(ends) - room, max(ends) + room


def _lines(rows: Sequence[Row]) -> charts.Chart:
    points, title = _points(rows)
    levels = sorted({row.levels or 0 for row in rows})
    return charts.lines(
        points,
        _styles(points),
        x=Axis(
            "levels",
            "number of levels",
            (levels[0] / 1.1, levels[-1] * 1.1),
            tuple(map(float, levels)),
            "log",
        ),
        y=Axis("middle", title, _domain(points)),
    )


def _dots(rows: Sequence[Row]) -> charts.Chart:
    points, title = _points(rows)
    styles = _styles(points)
    looks = {
        "domain": list(styles),
        "range": [style.colour for style in styles.values()],
    }
    scale = {"domain": [*_domain(points)]}
    low = charts.quantity("low", title=title)
    side = {
        "y": charts.word("method", title=None, sort=list(styles)),
        "color": charts.word("method", legend=None, scale=looks),
    }
    bar = {"x": low, "x2": {"field": "high"}, **side}
    dot = {"x": charts.quantity("middle", title=title, scale=scale), **side}
    zero = {"x": charts.quantity("zero", title=title)}
    shown, nought = {"values": points}, {"values": [{"zero": 0.0}]}
    layers = [
        charts.marks(nought, "rule", zero, color=charts.GREY),
        charts.marks(shown, "rule", bar, strokeWidth=5, opacity=0.35),
        charts.marks(shown, "point", dot, filled=True, size=70, opacity=1),
    ]
    return {"layer": layers, "width": charts.WIDTH, "height": STEP * len(styles)}
