"""Charts of the paper's figures, and of simulations."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from evenhand import _charts as charts
from evenhand._charts import Axis, Style
from evenhand.lab.curves import best_tradeoff, known_bias_frontier, tradeoff

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand._charts import Chart
    from evenhand.claims import Json
    from evenhand.lab import simulation
    from evenhand.lab.curves import Figure, Row

BAR = 2
ROOM = 0.08
STEP = 30
STEPS = 8
LETTERS = {"fig1a": "(a)", "fig1b": "(b)", "fig1c": "(c)"}
GAMMAS = dict(
    enumerate(("\u00bc", "\u00bd", "\u03b3 = 1", "2", "4", "8", "16"), start=-2)
)

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
POINTS = {"curve": Style("", charts.BLUE, "circle", (0, 1), size=34)}
COLOURS = {name: style.colour for name, style in (RULES | RANKINGS).items()}
COLOURS |= {"coin": charts.GREY, "topological": charts.GREY}
OTHERS = (charts.SKY, charts.PURPLE, charts.BLACK, charts.GREEN, charts.ORANGE)
MARKERS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross")


def two_items_chart(figure: Figure) -> Chart:
    """Draw one panel of Figure 1.

    Examples:
        >>> from evenhand.lab.curves import Size, two_items
        >>> figure = two_items("fig1a", 7, size=Size(rounds=10, reviewers=(2, 4)))
        >>> two_items_chart(figure)["title"]["text"]
        '(a) one biased reviewer'
    """
    rows = [_with_bar(row, "simulated") for row in figure.rows]
    ticks = (2, 4, 6, 10, 20, 40, 100)
    title = "improvement over a fair coin (%)"
    trials = figure.parameters["trials"]
    return charts.lines(
        rows,
        RULES,
        x=Axis("m", "number of reviewers", (1.8, 110), ticks, "log"),
        y=Axis("improvement", title, _domain(rows)),
        title=f"{LETTERS[figure.name]} {figure.title.partition(': ')[2]}",
        subtitle=[f"bars: {trials:,} simulated trials, \u00b1 {BAR} s.e."],
    )


def many_items_chart(figure: Figure) -> Chart:
    """Draw Figure 2.

    Examples:
        >>> from evenhand.lab.curves import Size, many_items
        >>> size = Size(trials=2, samples=10, items=(3, 4))
        >>> many_items_chart(many_items("fig2", 7, size=size))["title"]["subtitle"]
        ['2 trials of 10 samples; bars: \u00b1 2 s.e.']
    """
    trials, samples = figure.parameters["trials"], figure.parameters["samples"]
    x = Axis("n", "number of items", (2.8, 55), (3, 4, 5, 7, 10, 15, 20, 30, 50), "log")
    y = Axis("improvement", "improvement in Kendall tau (%)", (-4, 38))
    chart = charts.lines(
        [_with_bar(row, "simulated") for row in figure.rows],
        RANKINGS,
        x=x,
        y=y,
        title="Ranking, against the index order",
        subtitle=[f"{trials} trials of {samples} samples; bars: \u00b1 {BAR} s.e."],
    )
    note: Row = {"n": 3, "improvement": 0.0, "label": "n = 3: no theorem applies"}
    return charts.over(
        chart,
        charts.labelled_points([note], x=x, y=y, colour=charts.GREY, offset=(-2, 13)),
    )


def trade_chart(figure: Figure) -> Chart:
    """Draw Figure 3: the paper's curve, and how far it is from the frontier.

    Examples:
        >>> from evenhand.lab.curves import Size, trade
        >>> len(trade_chart(trade("fig3", 7, size=Size(coins=10)))["hconcat"])
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
        {"perfect": p, "biased": known_bias_frontier(p), "method": "frontier"}
        for p in (0.0, 100.0)
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
    points = [
        {**_with_bar(row, "simulated_biased"), "method": "curve"} for row in figure.rows
    ]
    for point in points:
        point["label"] = GAMMAS.get(int(point["k"]), "")
    best = best_tradeoff()
    top = (
        f"maximum ({best.perfect:.1f}, {best.biased:.1f}) at \u03b3 = {best.gamma:.2f}"
    )
    edge: Row = {"perfect": 50.0, "biased": 25.0, "label": "Pareto frontier"}
    ours: Row = {"perfect": 30.0, "biased": 9.0, "label": "the paper's weights"}
    blue, labelled = charts.BLUE, charts.labelled_points
    low = [point for point in points if int(point["k"]) < 1]
    high = [point for point in points if int(point["k"]) >= 1]
    close = charts.over(
        close,
        charts.lines(points, POINTS, x=x, y=near),
        labelled(low, x=x, y=near, colour=blue, offset=(-8, 0), align="right"),
        labelled(high, x=x, y=near, colour=blue, offset=(8, -4)),
        labelled(
            [{**best._asdict(), "label": top}], x=x, y=near, offset=(6, -14), ring=True
        ),
    )
    wide = charts.over(
        wide,
        labelled([edge], x=x, y=far, offset=(10, -6)),
        labelled([ours], x=x, y=far, colour=blue, offset=(0, -12)),
    )
    return charts.beside([close, wide], spacing=90)


def _with_bar(row: Row, field: str) -> Row:
    middle, reach = float(row[field]), BAR * float(row[f"{field}_se"])
    return {**row, "low": middle - reach, "high": middle + reach}


def _domain(points: Sequence[Mapping[str, Json]], *zero: float) -> tuple[float, float]:
    """Return the range of the bars, with room above and below."""
    ends = [*zero, *(float(str(p[end])) for p in points for end in ("low", "high"))]
    room = ROOM * (max(ends) - min(ends) or 1.0)
    return min(ends) - room, max(ends) + room


def simulation_chart(result: simulation.Simulation) -> Chart:
    """Draw a simulation, one panel for each loss, with error bars of two errors.

    Examples:
        >>> from evenhand.lab.scenario import Scenario
        >>> from evenhand.lab.simulation import simulate
        >>> result = simulate(Scenario(), ["mean", "sign"], trials=64, rng=7)
        >>> len(simulation_chart(result)["hconcat"])
        1
    """
    names = dict.fromkeys(row.loss for row in result.rows)
    draw = _lines if any(row.levels for row in result.rows) else _dots
    panels = [
        draw(*_points([row for row in result.rows if row.loss == name]))
        for name in names
    ]
    return charts.beside(panels)


def _points(rows: Sequence[simulation.Row]) -> tuple[list[dict[str, Json]], str]:
    """Return what is drawn of each row, and what it is called."""
    improving = any(row.improvement is not None for row in rows)
    points: list[dict[str, Json]] = []
    for row in rows:
        middle, error = row.risk, row.se
        if improving:
            middle, error = row.improvement or 0.0, row.improvement_se or 0.0
        bar = {"low": middle - BAR * error, "high": middle + BAR * error}
        point = {"method": row.method, "levels": row.levels, "middle": middle}
        points.append({**point, **bar})
    what = "improvement (%)" if improving else "risk"
    return points, f"{what}, {rows[0].loss}, ± {BAR} se"


def _styles(points: Sequence[dict[str, Json]]) -> dict[str, Style]:
    left, markers = itertools.cycle(OTHERS), itertools.cycle(MARKERS)
    names = dict.fromkeys(str(point["method"]) for point in points)
    return {
        name: Style(name, COLOURS.get(name) or next(left), next(markers))
        for name in names
    }


def _lines(points: Sequence[dict[str, Json]], title: str) -> Chart:
    levels = sorted({float(str(point["levels"] or 0)) for point in points})
    ends = (levels[0] / 1.1, levels[-1] * 1.1)
    x = Axis("levels", "number of levels", ends, tuple(levels), "log")
    y = Axis("middle", title, _domain(points, 0.0))
    return charts.lines(points, _styles(points), x=x, y=y)


def _dots(points: Sequence[dict[str, Json]], title: str) -> Chart:
    styles = _styles(points)
    looks = {
        "domain": list(styles),
        "range": [style.colour for style in styles.values()],
    }
    scale = {"domain": [*_domain(points, 0.0)]}
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
