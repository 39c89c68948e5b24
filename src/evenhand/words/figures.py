"""Figures: charts with a caption and a text alternative, for slides and notebooks.

Charts are plain Vega-Lite, made of a few kinds of marks over named rows of data. Labels
that come from data are values of fixed fields and nothing else: never part of an
expression, of a field name or of an address.
"""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from evenhand import _charts as charts
from evenhand._charts import Spec, quantity, word
from evenhand._outputs import Output
from evenhand.words.text import sentences, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evenhand.claims import Label

    Looks = Mapping[str, tuple[str, str]]
    Looking = Mapping[str, Spec]
    Columns = Mapping[str, Sequence["Cell"]]
    Shown = Mapping[str, Iterable[object]]

Cell: TypeAlias = str | int | float | None
Point: TypeAlias = dict[str, Cell]

# A grey that can be seen on white and on black.
MIDDLE = "#858585"
WIDTH, ROW = 640, 20
# Characters in the text that hovers.
LONG = 200
# Pixels for labels, and what is left of them on a phone. Only the browser knows the
# width of the page; a picture has no container.
ROOM = "containerSize()[0] < 500 ? 120 : 200"
# Where an axis of shares ends, so that there is room for a number after 100 %.
END = "containerSize()[0] < 500 ? 1.5 : 1.18"
CAPTION_WIDTH = 105
FEW_TICKS = {"tickCount": 5, "labelOverlap": True}
"""Keeps numbers on an axis apart on a phone, too."""
DOT: Spec = {"filled": True, "size": 75, "opacity": 1}
PERCENT = {"format": "%", "values": [0, 0.25, 0.5, 0.75, 1]}


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart and what goes with it.

    Attributes:
        name: Element id and stem of file names; a word of ours, never from data.
        title: A few words.
        caption: How to read it, and what it must not be read as.
        alt: The main message with its numbers, for who does not see the chart.
        chart: The chart as Vega-Lite, without title.
    """

    name: str
    title: str
    caption: str
    alt: str
    chart: Spec

    def titled(self) -> Spec:
        """Write it out as Vega-Lite with title and caption, on white."""
        heading = {**charts.TITLE, "frame": "bounds", "subtitleLineHeight": 14}
        caption = textwrap.wrap(self.caption, CAPTION_WIDTH)
        return {
            **self.chart,
            "description": self.alt,
            "title": {"text": self.title, "subtitle": caption},
            "config": {**charts.CONFIG, "title": heading},
        }

    def svg(self) -> str:
        """Draw it as a picture with title and caption, on white."""
        import vl_convert  # noqa: PLC0415 - only for those who want a picture

        return str(vl_convert.vegalite_to_svg(self.titled()))


def worded(name: str, chart: Spec, **facts: object) -> Figure:
    """Put the words of a figure, which are in a template, to its chart."""
    title, caption, alt = sentences("figures", name, facts, html=False)
    return Figure(name, title, caption, alt, chart)


def pictures(figures: Sequence[Figure], folder: str) -> list[Output]:
    """Draw each figure as SVG and PNG, with title and caption, on white.

    Args:
        figures: The figures.
        folder: Where they are to be written.

    Returns:
        The files to write, NAME.svg and NAME.png of each figure.

    Examples:
        >>> chart = layered([marks("rows", "point", {})], {"rows": []}, height=40)
        >>> figure = Figure("dots", "Dots", "How.", "What.", chart)
        >>> [output.path for output in pictures([figure], "charts")]
        ['charts/dots.svg', 'charts/dots.png']
    """
    files: list[Output] = []
    for figure in figures:
        drawn = figure.svg()
        stem = str(Path(folder) / figure.name)
        files.append(Output(f"{stem}.svg", drawn, makes_folder=True))
        files.append(Output(f"{stem}.png", charts.png_from(drawn), makes_folder=True))
    return files


def points(columns: Shown) -> list[Point]:
    """Make the rows of a data set: numbers of four digits, texts cut.

    Examples:
        >>> points({"name": ["x", "y"], "value": [3.14159, float("inf")]})
        [{'name': 'x', 'value': 3.142}, {'name': 'y', 'value': None}]
    """
    rows = zip(*(map(_plain, column) for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _plain(value: object) -> Cell:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.4g}") if math.isfinite(value) else None
    return value if isinstance(value, int | None) else shortened(value, LONG)


def fields(rows: Sequence[object], **titles: str) -> dict[str, list[Cell]]:
    """Return fields of all rows as columns, under other titles.

    Examples:
        >>> fields([1 + 2j, 3 + 4j], real="value", imag="rest")
        {'value': [1.0, 3.0], 'rest': [2.0, 4.0]}
    """
    return {
        title: [getattr(row, field) for row in rows] for field, title in titles.items()
    }


def marks(data: str, kind: str, encoding: Mapping[str, object], **look: object) -> Spec:
    """Show one of the chart's data sets by one kind of mark.

    Args:
        data: Name of the data set.
        kind: "point", "rule" and so on.
        encoding: Which field is shown by which channel.
        look: What is the same for all points.

    Examples:
        >>> marks("rows", "point", {}, size=40)["data"]
        {'name': 'rows'}
    """
    return charts.marks({"name": data}, kind, encoding, **look)


def filtered(layer: Spec, where: str) -> Spec:
    """Keep the points for which an expression of ours holds.

    Examples:
        >>> filtered(marks("rows", "point", {}), "datum.x > 0")["transform"]
        [{'filter': 'datum.x > 0'}]
    """
    return {**layer, "transform": [{"filter": where}]}


def layered(
    layers: Sequence[Spec], data: Mapping[str, Sequence[Point]], *, height: int
) -> Spec:
    """Lay marks over each other, from below, on data sets that they share.

    Examples:
        >>> layered([], {"rows": [{"x": 1}]}, height=40)["width"]
        640
    """
    sets = {name: list(points) for name, points in data.items()}
    size = {"width": WIDTH, "height": height}
    return {"layer": list(layers), "datasets": sets, **size}


def intervals(
    data: str, value: str, x: Spec, end: str, hover: Sequence[str], looks: Looking
) -> list[Spec]:
    """Draw a dot, and a line from where x says to a field's value, beside each name.

    Examples:
        >>> low, looks = quantity("low"), {"color": {"value": "blue"}}
        >>> drawn = intervals("rows", "at", low, "high", [], looks)
        >>> [one["mark"]["type"] for one in drawn]
        ['rule', 'point']
    """
    base = {"y": names_axis(), "color": looks["color"], "tooltip": tips(*hover)}
    line = {**base, "x": x, "x2": {"field": end}}
    dot = {**base, **looks, "x": quantity(value)}
    return [
        marks(data, "rule", line, strokeWidth=3, opacity=0.6, strokeCap="round"),
        marks(data, "point", dot, **DOT),
    ]


def tips(*fields: str) -> list[Spec]:
    """Say what hovers: fields, which have the names that people read.

    Examples:
        >>> [tip["field"] for tip in tips("item", "rank")]
        ['item', 'rank']
    """
    return [*map(word, fields)]


def names_axis() -> Spec:
    """Put the field "name" beside rows, in the order of the data.

    Examples:
        >>> names_axis()["field"]
        'name'
    """
    axis = {
        "title": None,
        "labelLimit": {"expr": ROOM},
        "ticks": False,
        "domain": False,
        "labelPadding": 6,
        "labelOverlap": False,
    }
    scale = {"paddingInner": 0, "paddingOuter": 0}
    return word("name", sort=None, axis=axis, scale=scale)


def series(
    field: str, looks: Looks, used: Iterable[object], *, legend: bool = True
) -> dict[str, Spec]:
    """Tell words apart by colour and by shape, in one legend.

    Args:
        field: Field that holds the words.
        looks: Colour and shape of each word, in order.
        used: The words that there are.
        legend: Whether to explain them above the chart, in two columns for a phone.

    Returns:
        The channels "color" and "shape".

    Examples:
        >>> found = series("kind", {"in": ("#000000", "circle")}, ["in"])
        >>> found["color"]["scale"]
        {'domain': ['in'], 'range': ['#000000']}
    """
    present = set(used)
    words = [one for one in looks if one in present]
    key = {"title": None, "orient": "top", "columns": 2, "labelLimit": 0}
    shown = {**key, "symbolOpacity": 1} if legend else None
    return {
        channel: word(
            field,
            legend=shown,
            scale={"domain": words, "range": [looks[one][place] for one in words]},
        )
        for place, channel in enumerate(("color", "shape"))
    }


def placed(rank: int, item: Label, titles: Mapping[Label, str]) -> str:
    """Name an item on an axis, after its rank.

    Examples:
        >>> placed(1, "P5", {}), placed(2, 5, {}), placed(3, 7, {7: "On tea"})
        ('1. P5', '2. item 5', '3. 7 On tea')
    """
    if item in titles:
        return f"{rank}. {shortened(f'{item} {titles[item]}')}"
    # A bare number after a rank would be taken for part of it.
    return f"{rank}. {f'item {item}' if isinstance(item, int) else shortened(item)}"


def unique(labels: Sequence[Label]) -> list[str]:
    """Cut labels so that they stay different: rows of the same name would be one row.

    Examples:
        >>> unique(["a" * 30 + "x", "a" * 30 + "y"])[1][-6:]
        'a… (2)'
    """
    found: dict[str, None] = {}
    for label in labels:
        name, number = shortened(label), 1
        while name in found:
            number += 1
            name = f"{shortened(label)} ({number})"
        found[name] = None
    return list(found)
