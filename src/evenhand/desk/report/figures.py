"""Figures: charts with a caption, a text alternative and the numbers behind them.

Labels that come from data are values of fixed fields and nothing else: never part of an
expression, of a field name or of an address. The page adds colours of text for light
and dark; static pictures are light.
"""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import altair as alt
import vl_convert

from evenhand._charts import CONFIG, png_from
from evenhand._outputs import Output
from evenhand.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evenhand._results import Label

Cell: TypeAlias = str | int | float | None
Point: TypeAlias = dict[str, Cell]
Rows: TypeAlias = tuple[tuple[Cell, ...], ...]
Layers: TypeAlias = alt.LayerChart

# A grey that can be seen on white and on black.
MIDDLE = "#858585"
WIDTH, ROW = 640, 20
# Characters of a label beside a chart, and in the text that hovers.
SHORT, LONG = 28, 200
# Pixels for labels, and what is left of them on a phone. Only the browser knows the
# width of the page; a picture has no container.
ROOM, NARROW_ROOM, NARROW = 200, 120, 500
CAPTION_WIDTH = 105
# Where an axis of shares ends, so that there is room for a number after 100 %.
END = f"containerSize()[0] < {NARROW} ? 1.5 : 1.18"
DIGITS = 4
SMALL = 0.001


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart and what goes with it.

    Attributes:
        name: Element id and stem of file names; a word of ours, never from data.
        title: A few words.
        caption: How to read it, and what it must not be read as.
        alt: The main message with its numbers, for who does not see the chart.
        chart: The chart, without title.
        header: Names of the columns of `rows`.
        rows: The numbers behind the chart, not rounded.
    """

    name: str
    title: str
    caption: str
    alt: str
    chart: Layers
    header: tuple[str, ...]
    rows: Rows


def spec(figure: Figure) -> dict[str, object]:
    """Write a figure out as Vega-Lite for a page, as wide as its container.

    There is no background, no colour of text and no address in it; the page gives the
    first two as `config`. The text alternative is its description.

    Examples:
        >>> chart = layered([marks("rows").mark_point()], {"rows": []}, height=40)
        >>> written = spec(Figure("x", "X", "How.", "What.", chart, (), ()))
        >>> written["width"], written["description"], "config" in written
        ('container', 'What.', False)
    """
    written = _written(figure.chart)
    return {
        **written,
        "description": figure.alt,
        "width": "container",
        "autosize": {"type": "fit-x", "contains": "padding"},
    }


def pictures(figures: Sequence[Figure], folder: str) -> list[Output]:
    """Draw each figure as SVG and PNG, with title and caption, on white.

    Args:
        figures: The figures.
        folder: Where they are to be written.

    Returns:
        The files to write, NAME.svg and NAME.png of each figure.

    Examples:
        >>> chart = layered([marks("rows").mark_point()], {"rows": []}, height=40)
        >>> figure = Figure("dots", "Dots", "How.", "What.", chart, (), ())
        >>> [output.path for output in pictures([figure], "charts")]
        ['charts/dots.svg', 'charts/dots.png']
    """
    files: list[Output] = []
    for figure in figures:
        drawn = svg(figure)
        stem = str(Path(folder) / figure.name)
        files.append(Output(f"{stem}.svg", drawn, makes_folder=True))
        files.append(Output(f"{stem}.png", png_from(drawn), makes_folder=True))
    return files


def svg(figure: Figure) -> str:
    """Render a figure with its title and caption.

    Examples:
        >>> chart = layered([marks("rows").mark_point()], {"rows": []}, height=40)
        >>> svg(Figure("x", "X", "How.", "What.", chart, (), ())).startswith("<svg")
        True
    """
    heading = CONFIG["title"]
    title = {
        **(heading if isinstance(heading, dict) else {}),
        "frame": "bounds",
        "subtitleLineHeight": 14,
    }
    written = {
        **_written(figure.chart),
        "description": figure.alt,
        "title": {
            "text": figure.title,
            "subtitle": textwrap.wrap(figure.caption, CAPTION_WIDTH),
        },
        "config": {**CONFIG, "title": title},
    }
    return str(vl_convert.vegalite_to_svg(written))


def marks(data: str) -> alt.Chart:
    """Begin a layer that shows one of the chart's data sets.

    Examples:
        >>> marks("rows").mark_point().to_dict(validate=False)["data"]
        {'name': 'rows'}
    """
    return alt.Chart(alt.NamedData(name=data))


def layered(
    layers: Sequence[alt.Chart],
    data: Mapping[str, Sequence[Point]],
    *,
    height: int,
    params: Sequence[alt.Parameter] = (),
) -> alt.LayerChart:
    """Lay marks over each other, on data sets that they share.

    Args:
        layers: What to draw, from below.
        data: Points of each data set.
        height: Of the plot, in pixels.
        params: What the reader of a page can set.

    Returns:
        The chart.

    Examples:
        >>> layered([marks("rows").mark_point()], {"rows": [{"x": 1}]}, height=40).width
        640
    """
    chart = alt.LayerChart(layer=list(layers), width=WIDTH, height=height)
    chart.datasets = {name: list(points) for name, points in data.items()}
    return chart.add_params(*params) if params else chart


def tips(**fields: str) -> list[alt.Tooltip]:
    """Say what hovers: names of fields with their titles.

    Examples:
        >>> [tip["title"] for tip in tips(item="item", place="rank")]
        ['item', 'rank']
    """
    return [
        alt.Tooltip(field=name, type="nominal", title=title)
        for name, title in fields.items()
    ]


def names_axis(field: str = "name") -> alt.Y:
    """Put labels beside rows, in the order of the data.

    Examples:
        >>> names_axis()["field"]
        'name'
    """
    room = f"containerSize()[0] < {NARROW} ? {NARROW_ROOM} : {ROOM}"
    axis = alt.Axis(
        title=None,
        labelLimit=alt.ExprRef(room),
        ticks=False,
        domain=False,
        labelPadding=6,
        labelOverlap=False,
    )
    scale = alt.Scale(paddingInner=0, paddingOuter=0)
    return alt.Y(field=field, type="nominal", sort=None, axis=axis, scale=scale)


def percent_axis(field: str, title: str) -> alt.X:
    """Show a share from 0 to 100 %, with room for a number at its end.

    Examples:
        >>> percent_axis("p", "share")["title"]
        'share'
    """
    return alt.X(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(domainMin=-0.03, domainMax=alt.ExprRef(END), nice=False),
        axis=alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]),
    )


def series(
    field: str,
    looks: Mapping[str, tuple[str, str]],
    used: Iterable[str],
    *,
    legend: bool = True,
) -> tuple[alt.Color, alt.Shape]:
    """Tell words apart by colour and by shape, in one legend.

    Args:
        field: Field that holds the words.
        looks: Colour and shape of each word, in order.
        used: The words that there are.
        legend: Whether to explain them above the chart.

    Returns:
        The two channels.

    Examples:
        >>> colour, shape = series("kind", {"in": ("#000000", "circle")}, ["in"])
        >>> colour["scale"]["domain"], shape["scale"]["range"]
        (['in'], ['circle'])
    """
    present = set(used)
    words = [word for word in looks if word in present]
    shown = key() if legend else None
    colours = alt.Scale(domain=words, range=[looks[word][0] for word in words])
    shapes = alt.Scale(domain=words, range=[looks[word][1] for word in words])
    return (
        alt.Color(field=field, type="nominal", legend=shown, scale=colours),
        alt.Shape(field=field, type="nominal", legend=shown, scale=shapes),
    )


def key() -> alt.Legend:
    """Explain colours and shapes above a chart, in two columns for a phone.

    Examples:
        >>> key().columns
        2
    """
    return alt.Legend(
        title=None, orient="top", columns=2, labelLimit=0, symbolOpacity=1
    )


def short(label: object, size: int = SHORT) -> str:
    """Cut a label for an axis, with control characters made visible.

    Examples:
        >>> short("a" * 40, 8), short(7)
        ('aaaaaaa…', '7')
    """
    text = printable(label)
    return text if len(text) <= size else f"{text[: size - 1]}…"


def placed(rank: int, item: Label, titles: Mapping[Label, str]) -> str:
    """Name an item on an axis, after its rank.

    Examples:
        >>> placed(1, "P5", {}), placed(2, 5, {}), placed(3, 7, {7: "On tea"})
        ('1. P5', '2. item 5', '3. 7 On tea')
    """
    if item in titles:
        return f"{rank}. {short(f'{item} {titles[item]}')}"
    # A bare number after a rank would be taken for part of it.
    return f"{rank}. {f'item {item}' if isinstance(item, int) else short(item)}"


def unique(labels: Sequence[Label]) -> list[str]:
    """Cut labels so that they stay different: rows of the same name would be one row.

    Examples:
        >>> unique(["a" * 30 + "x", "a" * 30 + "y"])[1][-6:]
        'a… (2)'
    """
    seen: set[str] = set()
    found = []
    for label in labels:
        name, number = short(label), 1
        while name in seen:
            number += 1
            name = f"{short(label)} ({number})"
        seen.add(name)
        found.append(name)
    return found


def rounded(value: float | None) -> float | None:
    """Keep four significant digits; None for what is not a finite number.

    Examples:
        >>> rounded(3.14159), rounded(float("inf"))
        (3.142, None)
    """
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{DIGITS}g}")


def told(value: float | None) -> str:
    """Show a number to people, three digits.

    Examples:
        >>> told(0.12345), told(None)
        ('0.123', '')
    """
    return "" if value is None else f"{value:.3g}"


def share(value: float, *, certain: bool = True) -> str:
    """Show a probability without calling it certain because it is rounded, or drawn.

    Examples:
        >>> share(0.835), share(0.99999), share(1.0), share(1.0, certain=False)
        ('83.5 %', 'over 99.9 %', '100 %', 'over 99.9 %')
        >>> share(0.0001)
        'under 0.1 %'
    """
    if certain and value in (0, 1):
        return f"{100 * value:g} %"
    if value < SMALL:
        return f"under {100 * SMALL:g} %"
    if value > 1 - SMALL:
        return f"over {100 * (1 - SMALL):g} %"
    return f"{100 * value:.3g} %"


def _written(chart: alt.LayerChart) -> dict[str, object]:
    # Checking against the schema takes longer than drawing; the tests do it.
    found = chart.to_dict(validate=False)
    return {
        key: value for key, value in found.items() if key not in ("$schema", "config")
    }
