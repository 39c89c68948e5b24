"""Charts of the paper's figures, and of simulations."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from evenhand import _charts as charts
from evenhand._charts import Axis, Style
from evenhand.lab.tradeoff import best_tradeoff, known_bias_frontier, tradeoff

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand._charts import Chart
    from evenhand._results import Json
    from evenhand.lab import results
    from evenhand.lab.curves import Figure, Row

BAR = 2
ROOM = 0.08
IMPROVEMENT = "improvement over a fair coin (%)"
LETTERS = {"fig1a": "(a)", "fig1b": "(b)", "fig1c": "(c)"}
LABELLED = {
    -2: "\u00bc",
    -1: "\u00bd",
    0: "\u03b3 = 1",
    1: "2",
    2: "4",
    3: "8",
    4: "16",
}
STEPS = 8

RULES = {
    "sign": Style("sign", charts.ORANGE, "square", filled=False, size=80),
    "mean": Style("mean", charts.RED, "triangle-up", size=60),
    "median": Style("median", charts.GREEN, "diamond", size=34),
    "votes": Style("votes (paper)", charts.BLUE, "circle", size=44),
}
RANKINGS = {
    "mean-rank": Style("mean rank (no scores)", charts.PURPLE, "diamond"),
    "fair-coin": Style(
        "fair coins (no scores)", charts.GREY, "square", dash=(4, 3), filled=False
    ),
    "flips": Style("flips (paper)", charts.BLUE, "circle"),
}
CURVES = {
    "frontier": Style("", charts.BLACK, "", dash=(5, 3)),
    "curve": Style("", charts.BLUE, ""),
}
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
STEP = 30
POINTS = {"curve": Style("", charts.BLUE, "circle", (0, 1), size=34)}


def two_items_chart(figure: Figure) -> Chart:
    """Draw one panel of Figure 1.

    Examples:
        >>> from evenhand.lab.curves import Size, two_items
        >>> figure = two_items("fig1a", 7, size=Size(rounds=10, reviewers=(2, 4)))
        >>> two_items_chart(figure)["title"]["text"]
        '(a) one biased reviewer'
    """
    rows = [_with_bar(row) for row in figure.rows]
    ends = [float(row[end]) for row in rows for end in ("low", "high")]
    room = ROOM * (max(ends) - min(ends))
    trials = figure.parameters["trials"]
    return charts.lines(
        rows,
        RULES,
        x=Axis(
            "m", "number of reviewers", (1.8, 110), (2, 4, 6, 10, 20, 40, 100), "log"
        ),
        y=Axis("improvement", IMPROVEMENT, (min(ends) - room, max(ends) + room)),
        title=f"{LETTERS[figure.name]} {figure.title.partition(': ')[2]}",
        subtitle=[f"bars: {trials:,} simulated trials, \u00b1 {BAR} s.e."],
    )


def many_items_chart(figure: Figure) -> Chart:
    """Draw Figure 2.

    Examples:
        >>> from evenhand.lab.curves import Size, many_items
        >>> figure = many_items(7, size=Size(trials=2, samples=10, items=(3, 4)))
        >>> many_items_chart(figure)["title"]["subtitle"]
        ['2 trials of 10 samples; bars: \u00b1 2 s.e.']
    """
    rows = [_with_bar(row) for row in figure.rows]
    trials, samples = figure.parameters["trials"], figure.parameters["samples"]
    x = Axis("n", "number of items", (2.8, 55), (3, 4, 5, 7, 10, 15, 20, 30, 50), "log")
    y = Axis("improvement", "improvement in Kendall tau (%)", (-4, 38))
    chart = charts.lines(
        rows,
        RANKINGS,
        x=x,
        y=y,
        title="Ranking, against the index order",
        subtitle=[f"{trials} trials of {samples} samples; bars: \u00b1 {BAR} s.e."],
    )
    note: list[Row] = [
        {"n": 3, "improvement": 0.0, "label": "n = 3: no theorem applies"}
    ]
    place = (-2, 13)
    return charts.over(
        chart, charts.labelled_points(note, x=x, y=y, colour=charts.GREY, offset=place)
    )


def trade_chart(figure: Figure) -> Chart:
    """Draw Figure 3: the paper's curve, and how far it is from the frontier.

    Examples:
        >>> from evenhand.lab.curves import Size, trade
        >>> len(trade_chart(trade(7, size=Size(coins=10)))["hconcat"])
        2
    """
    x = Axis("perfect", "improvement under perfect calibration (%)", (0, 100))
    near = Axis("biased", "improvement under bias (%)", (0, 10.5), (0, 2, 4, 6, 8, 10))
    far = Axis("biased", "improvement under bias (%)", (0, 52), (0, 10, 20, 30, 40, 50))
    exponents = [int(row["k"]) for row in figure.rows]
    dense = range(STEPS * min(exponents), STEPS * max(exponents) + 1)
    curve: list[Row] = [
        {**tradeoff(2 ** (step / STEPS))._asdict(), "method": "curve"} for step in dense
    ]
    limit: list[Row] = [
        {
            "perfect": perfect,
            "biased": known_bias_frontier(perfect),
            "method": "frontier",
        }
        for perfect in (0.0, 100.0)
    ]
    trials = figure.parameters["trials"]
    bars = f"exact; bars: {trials:,} simulated trials, \u00b1 {BAR} s.e."
    read = "the paper's maximum, (25, 9), was read off a plot"
    title = "The paper's weights, \u03b3 gap / (1 + \u03b3 gap)"
    known = ["if one reviewer is known to add 1", " "]
    close = charts.lines(curve, CURVES, x=x, y=near, title=title, subtitle=[bars, read])
    wide = charts.lines(
        [*curve, *limit], CURVES, x=x, y=far, title="All weights", subtitle=known
    )
    edge: list[Row] = [{"perfect": 50.0, "biased": 25.0, "label": "Pareto frontier"}]
    ours: list[Row] = [{"perfect": 30.0, "biased": 9.0, "label": "the paper's weights"}]
    blue = charts.BLUE
    named = [
        charts.labelled_points(edge, x=x, y=far, offset=(10, -6)),
        charts.labelled_points(ours, x=x, y=far, colour=blue, offset=(0, -12)),
    ]
    return charts.beside(
        [charts.over(close, *_marked(figure, x, near)), charts.over(wide, *named)],
        spacing=90,
    )


def _marked(figure: Figure, x: Axis, y: Axis) -> list[Chart]:
    points: list[Row] = []
    for row in figure.rows:
        middle = float(row["simulated_biased"])
        reach = BAR * float(row["simulated_biased_se"])
        ends: Row = {"low": middle - reach, "high": middle + reach, "method": "curve"}
        points.append({**row, **ends, "label": LABELLED.get(int(row["k"]), "")})
    left = [row for row in points if int(row["k"]) < 1]
    right = [row for row in points if int(row["k"]) >= 1]
    best = best_tradeoff()
    text = (
        f"maximum ({best.perfect:.1f}, {best.biased:.1f}) at \u03b3 = {best.gamma:.2f}"
    )
    top: list[Row] = [{**best._asdict(), "label": text}]
    blue = charts.BLUE
    return [
        charts.lines(points, POINTS, x=x, y=y),
        charts.labelled_points(
            left, x=x, y=y, colour=blue, offset=(-8, 0), align="right"
        ),
        charts.labelled_points(right, x=x, y=y, colour=blue, offset=(8, -4)),
        charts.labelled_points(top, x=x, y=y, offset=(6, -14), ring=True),
    ]


def _with_bar(row: Row) -> Row:
    middle, se = float(row["simulated"]), float(row["simulated_se"])
    return {**row, "low": middle - BAR * se, "high": middle + BAR * se}


def simulation_chart(result: results.Simulation) -> Chart:
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


def _points(rows: Sequence[results.Row]) -> tuple[list[dict[str, Json]], str]:
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


def _lines(rows: Sequence[results.Row]) -> Chart:
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


def _dots(rows: Sequence[results.Row]) -> Chart:
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
