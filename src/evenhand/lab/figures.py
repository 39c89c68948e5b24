"""Reproduce the paper's figures: tables and charts, each written whole."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from evenhand import _charts as charts
from evenhand._charts import Axis, Style
from evenhand._outputs import Output, write_all
from evenhand.errors import OptionError, unknown
from evenhand.lab import curves
from evenhand.lab.curves import FULL, QUICK, Figure, Size
from evenhand.randomness import RNGLike, seed_from

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evenhand._charts import Chart
    from evenhand.lab.curves import Row

__all__ = ["FIGURES", "FULL", "QUICK", "Figure", "Size", "reproduce"]

ALL = "all"
BAR = 2
ROOM = 0.08
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
    "fair-coin": Style(
        "fair coins (no scores)", charts.GREY, "square", dash=(4, 3), filled=False
    ),
    "flips": Style("flips (paper)", charts.BLUE, "circle"),
}
CURVE = {"curve": Style("", charts.BLUE, "")}
POINTS = {"curve": Style("", charts.BLUE, "circle", (0, 1), size=34)}


def reproduce(
    names: Iterable[str] = (ALL,),
    out_dir: str | Path | None = None,
    *,
    size: Size = FULL,
    rng: RNGLike = None,
) -> tuple[Figure, ...]:
    """Work out the paper's figures, and write them if there is somewhere to write to.

    Figure 1 has three panels, which are written one by one and together. Each figure
    gives a JSON and a CSV file with the numbers and a PNG and an SVG file with the
    chart, as fig1a.json and so on.

    Args:
        names: "fig1", "fig2", "fig3" or "all".
        out_dir: Directory for the files, made if it is not there; None writes nothing.
        size: How large the run is; as large as the paper's by default.
        rng: Seed, generator or None. A figure does not depend on which others are made.

    Returns:
        The figures, panel by panel.

    Raises:
        OptionError: If a name is unknown or the directory cannot be written to.

    References:
        Wang and Shah (2019), Section 4.

    Examples:
        >>> figure, = reproduce(["fig3"], rng=7)
        >>> len(figure.rows)
        21
    """
    wanted = [names] if isinstance(names, str) else list(names)
    for name in wanted:
        if name not in (*FIGURES, ALL):
            raise OptionError(unknown("figure", name, (*FIGURES, ALL)))
    folder = None if out_dir is None else _made(Path(out_dir))
    seed = seed_from(rng)
    figures: list[Figure] = []
    for name, (panels, work_out, draw) in FIGURES.items():
        if name not in wanted and ALL not in wanted:
            continue
        found = [work_out(panel, seed, size=size) for panel in panels]
        figures += found
        if folder is not None:
            drawn = [(figure, draw(figure)) for figure in found]
            if len(found) > 1:
                joined = charts.beside([chart for _, chart in drawn])
                drawn.append((_joined(found), joined))
            write_all([file for pair in drawn for file in _files(*pair, folder)])
    return tuple(figures)


def _joined(panels: list[Figure]) -> Figure:
    """Join the panels of Figure 1; each row says which one it is from."""
    rows = [{"figure": panel.name, **row} for panel in panels for row in panel.rows]
    scales = {panel.name: panel.parameters["scales"] for panel in panels}
    parameters = {**panels[0].parameters, "scales": scales}
    return Figure("fig1", "Two items", tuple(rows), panels[0].seed, parameters)


def _files(figure: Figure, chart: Chart, folder: Path) -> list[Output]:
    picture = charts.svg(chart)
    contents: dict[str, str | bytes] = {
        "json": json.dumps(figure.to_dict(), indent=2) + "\n",
        "csv": pl.DataFrame(figure.rows).write_csv(),
        "png": charts.png_from(picture),
        "svg": picture,
    }
    return [
        Output(str(folder / f"{figure.name}.{ending}"), content)
        for ending, content in contents.items()
    ]


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(
            f"output must be a directory that can be written to, got {str(folder)!r}: "
            f"{error.strerror}."
        ) from error
    return folder


def two_items_chart(figure: Figure) -> Chart:
    """Draw one panel of Figure 1.

    Examples:
        >>> from evenhand.lab.curves import Size, two_items
        >>> figure = two_items("fig1a", 7, size=Size(rounds=10, reviewers=(2, 4)))
        >>> two_items_chart(figure)["title"]["text"]
        '(a) one biased reviewer'
    """
    rows = [_with_bar(row) for row in figure.rows]
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
        [_with_bar(row) for row in figure.rows],
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
    """Draw Figure 3.

    Examples:
        >>> from evenhand.lab.curves import trade
        >>> len(trade_chart(trade("fig3", 7))["layer"])
        4
    """
    x = Axis("perfect", "improvement under perfect calibration (%)", (0, 100))
    y = Axis("biased", "improvement under bias (%)", (0, 10.5), (0, 2, 4, 6, 8, 10))
    exponents = [int(row["k"]) for row in figure.rows]
    dense = range(STEPS * min(exponents), STEPS * max(exponents) + 1)
    curve: list[Row] = [
        {**curves.tradeoff(2 ** (step / STEPS))._asdict(), "method": "curve"}
        for step in dense
    ]
    title = "The paper's weights, \u03b3 gap / (1 + \u03b3 gap)"
    points: list[Row] = [
        {**row, "method": "curve", "label": GAMMAS.get(int(row["k"]), "")}
        for row in figure.rows
    ]
    low = [point for point in points if int(point["k"]) < 1]
    high = [point for point in points if int(point["k"]) >= 1]
    labelled = functools.partial(charts.labelled_points, x=x, y=y, colour=charts.BLUE)
    return charts.over(
        charts.lines(curve, CURVE, x=x, y=y, title=title),
        charts.lines(points, POINTS, x=x, y=y),
        labelled(low, offset=(-8, 0), align="right"),
        labelled(high, offset=(8, -4)),
    )


def _with_bar(row: Row) -> Row:
    middle, reach = float(row["improvement"]), BAR * float(row["se"])
    return {**row, "low": middle - reach, "high": middle + reach}


def _domain(rows: Sequence[Row]) -> tuple[float, float]:
    """Return the range of the bars, with room above and below."""
    ends = [float(row[end]) for row in rows for end in ("low", "high")]
    room = ROOM * (max(ends) - min(ends))
    return min(ends) - room, max(ends) + room


FIGURES = {
    "fig1": (tuple(curves.PANELS), curves.two_items, two_items_chart),
    "fig2": (("fig2",), curves.many_items, many_items_chart),
    "fig3": (("fig3",), curves.trade, trade_chart),
}
"""Each figure's panels, what works one out and what draws it."""
