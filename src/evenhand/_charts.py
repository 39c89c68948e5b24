"""The few charts that figures and reports share.

Colours are Okabe and Ito's, which people tell apart whatever their colour vision; each
line has its own marker as well, and its name at its end, so that no legend has to be
matched. Rendering works offline.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import altair as alt
import vl_convert

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand._results import Json

    Row = Mapping[str, Json]
    Point = dict[str, Json]
    Chart = alt.LayerChart | alt.HConcatChart

BLACK = "#000000"
GREY = "#666666"
PALE = "#e4e4e4"
ORANGE = "#E69F00"
SKY = "#56B4E9"
GREEN = "#009E73"
BLUE = "#0072B2"
RED = "#D55E00"
PURPLE = "#CC79A7"

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
WIDTH, HEIGHT = 270, 220
SCALE = 2
# Names at the ends of lines keep this share of the height apart.
APART = 0.062
# Error bars of neighbouring methods stand so many pixels apart.
BAR_STEP = 2.6


CONFIG: dict[str, object] = {
    "font": FONT,
    "background": "white",
    "padding": 8,
    "view": {"stroke": None},
    "title": {
        "fontSize": 13,
        "fontWeight": "bold",
        "anchor": "start",
        "frame": "group",
        "offset": 12,
        "subtitleFontSize": 11,
        "subtitleColor": GREY,
        "subtitlePadding": 4,
    },
    "axis": {
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "gridColor": PALE,
        "domainColor": GREY,
        "tickColor": GREY,
        "tickSize": 4,
        "labelPadding": 4,
        "labelFlush": False,
    },
}


@dataclass(frozen=True, slots=True)
class Style:
    """How one line looks.

    Attributes:
        label: Its name in the chart.
        colour: Of line, markers and name.
        marker: Shape of the markers, none if empty.
        dash: Lengths of strokes and gaps, for a line that is not solid.
        filled: Whether markers are filled.
        size: Size of the markers.
    """

    label: str
    colour: str
    marker: str = "circle"
    dash: tuple[int, ...] = (1, 0)
    filled: bool = True
    size: int = 42


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis.

    Attributes:
        field: Field of the rows that it shows.
        title: What it is, with its unit.
        domain: First and last value.
        ticks: Where to put marks; evenly if none are given.
        kind: "linear" or "log".
    """

    field: str
    title: str
    domain: tuple[float, float]
    ticks: tuple[float, ...] = ()
    kind: Literal["linear", "log"] = "linear"


def lines(
    rows: Sequence[Row],
    styles: Mapping[str, Style],
    *,
    x: Axis,
    y: Axis,
    title: str = "",
    subtitle: Sequence[str] = (),
    name: str = "method",
) -> alt.LayerChart:
    """Draw one line for each method, on a zero line.

    Args:
        rows: What to draw; a row with fields "low" and "high" has an error bar. Bars of
            different methods stand a little apart.
        styles: From each method, in the order of drawing, to its looks.
        x: Horizontal axis.
        y: Vertical axis.
        title: Title above the chart.
        subtitle: Lines in small type below it.
        name: Field of the rows that holds the method.

    Returns:
        The chart.

    Examples:
        >>> rows = [{"m": 2, "gain": 1.0, "method": "votes"}]
        >>> chart = lines(rows, {"votes": Style("votes", BLUE)},
        ...               x=Axis("m", "reviewers", (1, 3)), y=Axis("gain", "%", (0, 2)))
        >>> svg(chart).startswith("<svg")
        True
    """
    drawn = {
        method: [_used(row, x, y) for row in rows if row[name] == method]
        for method in styles
    }
    layers = [_zero_line(x, y)]
    for place, (method, style) in enumerate(styles.items()):
        bars = [row for row in drawn[method] if "low" in row]
        shift = BAR_STEP * (place - (len(styles) - 1) / 2)
        if bars:
            layers.append(_bars(bars, style.colour, x, shift))
    for method, style in styles.items():
        layers += _line(drawn[method], style, x, y)
    ends = {
        method: own[-1] for method, own in drawn.items() if own and styles[method].label
    }
    heights = apart([_number(end[y.field]) for end in ends.values()], y)
    for (method, end), height in zip(ends.items(), heights, strict=True):
        label = {**end, "label": styles[method].label, y.field: height}
        layers.append(_text([label], styles[method].colour, x, y))
    return _finished(layers, title, subtitle)


def labelled_points(
    rows: Sequence[Row],
    *,
    x: Axis,
    y: Axis,
    colour: str = BLACK,
    offset: tuple[int, int] = (7, 0),
    align: Literal["left", "center", "right"] = "left",
    ring: bool = False,
) -> alt.LayerChart:
    """Write the field "label" beside points; lay it over another chart.

    Args:
        rows: The points.
        x: Horizontal axis.
        y: Vertical axis.
        colour: Of text and rings.
        offset: Of the text, in pixels to the right and down.
        align: Which way the text runs from there.
        ring: Whether to draw a ring around each point.

    Returns:
        The layers.

    Examples:
        >>> axis = Axis("x", "x", (0, 1))
        >>> len(labelled_points([{"x": 0, "label": "here"}], x=axis, y=axis).layer)
        1
    """
    used = [_used(row, x, y) for row in rows]
    layers = [_text(used, colour, x, y, offset=offset, align=align)]
    if ring:
        mark = _data(used).mark_point(size=130, color=colour, strokeWidth=1.4)
        layers.append(_placed(mark, _x(x), _y(y)))
    return alt.LayerChart(layer=layers)


def over(chart: alt.LayerChart, *layers: alt.LayerChart) -> alt.LayerChart:
    """Lay further layers over a chart.

    Examples:
        >>> axis = Axis("x", "x", (0, 1))
        >>> points = labelled_points([{"x": 0, "label": "here"}], x=axis, y=axis)
        >>> len(over(lines([], {}, x=axis, y=axis), points).layer)
        2
    """
    bare = chart.copy(deep=True)
    heading, bare.title = bare.title, alt.Undefined
    joined = alt.LayerChart(layer=[bare, *layers], width=WIDTH, height=HEIGHT)
    joined.title = heading
    return joined


def beside(charts: Sequence[alt.LayerChart], *, spacing: int = 150) -> alt.HConcatChart:
    """Put charts side by side, their plots in line.

    Args:
        charts: The charts.
        spacing: Between the plots, with room for axes and names.

    Returns:
        The charts as one.

    Examples:
        >>> axis = Axis("x", "x", (0, 1))
        >>> len(beside([lines([], {}, x=axis, y=axis)] * 2).hconcat)
        2
    """
    return alt.HConcatChart(hconcat=list(charts), spacing=spacing, bounds="flush")


def svg(chart: Chart) -> str:
    """Render a chart as SVG.

    Examples:
        >>> axis = Axis("x", "x", (0, 1))
        >>> svg(lines([], {}, x=axis, y=axis)).startswith("<svg")
        True
    """
    return str(vl_convert.vegalite_to_svg(specification(chart)))


def png(chart: Chart) -> bytes:
    """Render a chart as PNG, two pixels to the unit.

    Examples:
        >>> axis = Axis("x", "x", (0, 1))
        >>> png(lines([], {}, x=axis, y=axis))[1:4]
        b'PNG'
    """
    return png_from(svg(chart))


def png_from(picture: str) -> bytes:
    """Turn SVG into PNG, two pixels to the unit.

    Examples:
        >>> axis = Axis("x", "x", (0, 1))
        >>> png_from(svg(lines([], {}, x=axis, y=axis)))[1:4]
        b'PNG'
    """
    return bytes(vl_convert.svg_to_png(picture, scale=SCALE))


def apart(heights: Sequence[float], y: Axis) -> list[float]:
    """Move names that would overlap up and down until they do not.

    Args:
        heights: Where names want to be.
        y: Vertical axis.

    Returns:
        Where they go; names at the same height keep their order, from above.

    Examples:
        >>> apart([5.0, 100.0, 5.0], Axis("y", "y", (0, 100)))
        [8.1, 100.0, 1.9]
    """
    least = APART * (y.domain[1] - y.domain[0])
    order = sorted(range(len(heights)), key=lambda index: (-heights[index], index))
    groups: list[list[int]] = []
    centres: list[float] = []
    for index in order:
        groups.append([index])
        centres.append(heights[index])
        while len(groups) > 1 and _touch(groups[-2:], centres[-2:], least):
            joined = groups[-2] + groups[-1]
            centre = sum(heights[member] for member in joined) / len(joined)
            groups[-2:], centres[-2:] = [joined], [centre]
    moved = list(heights)
    for group, centre in zip(groups, centres, strict=True):
        for place, index in enumerate(group):
            moved[index] = centre + least * ((len(group) - 1) / 2 - place)
    return moved


def specification(chart: Chart) -> dict[str, object]:
    """Write a chart out as Vega-Lite, with the house's fonts, sizes and greys.

    Examples:
        >>> axis = Axis("x", "x", (0, 1))
        >>> specification(lines([], {}, x=axis, y=axis))["width"]
        270
    """
    # Checking against the schema takes longer than drawing; the tests do it.
    return {**chart.to_dict(validate=False), "config": CONFIG}


def _finished(
    layers: Sequence[alt.Chart], title: str, subtitle: Sequence[str]
) -> alt.LayerChart:
    chart = alt.LayerChart(layer=list(layers), width=WIDTH, height=HEIGHT)
    if title:
        chart.title = alt.TitleParams(text=title, subtitle=list(subtitle))
    return chart


def _used(row: Row, x: Axis, y: Axis) -> Point:
    """Keep what is drawn; a bar ends where the chart does."""
    bottom, top = y.domain
    point: Point = {axis.field: row[axis.field] for axis in (x, y)}
    if "label" in row:
        point["label"] = row["label"]
    if "low" in row:
        point["low"] = min(max(_number(row["low"]), bottom), top)
        point["high"] = min(max(_number(row["high"]), bottom), top)
    return point


def _number(value: Json) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _data(points: Sequence[Point]) -> alt.Chart:
    # As text: altair copies lists of points again and again with every layer.
    text, kind = json.dumps(points), alt.JsonDataFormat(type="json")
    return alt.Chart(alt.InlineData(text, format=kind))


def _placed(mark: alt.Chart, x: alt.X, y: alt.Y, *more: alt.Y2 | alt.Text) -> alt.Chart:
    placed: alt.Chart = mark.encode(x, y, *more)
    return placed


def _x(axis: Axis) -> alt.X:
    return alt.X(
        f"{axis.field}:Q", title=axis.title, scale=_scale(axis), axis=_marks(axis)
    )


def _y(axis: Axis) -> alt.Y:
    return alt.Y(
        f"{axis.field}:Q", title=axis.title, scale=_scale(axis), axis=_marks(axis)
    )


def _scale(axis: Axis) -> alt.Scale:
    return alt.Scale(type=axis.kind, domain=list(axis.domain), nice=False)


def _marks(axis: Axis) -> alt.Axis:
    # A log axis would otherwise label every tick, one over the other.
    if axis.ticks:
        return alt.Axis(values=list(axis.ticks), format="~f", labelOverlap=False)
    return alt.Axis(tickCount=6)


def _zero_line(x: Axis, y: Axis) -> alt.Chart:
    ends: list[Point] = [{x.field: end, y.field: 0.0} for end in x.domain]
    line = _data(ends).mark_line(color=GREY, strokeWidth=1.2)
    return _placed(line, _x(x), _y(y))


def _bars(rows: Sequence[Point], colour: str, x: Axis, shift: float) -> alt.Chart:
    bars = _data(rows).mark_rule(
        color=colour, strokeWidth=2, opacity=0.55, xOffset=shift
    )
    return _placed(bars, _x(x), alt.Y("low:Q"), alt.Y2("high:Q"))


def _line(rows: Sequence[Point], style: Style, x: Axis, y: Axis) -> list[alt.Chart]:
    across, up = _x(x), _y(y)
    line = _data(rows).mark_line(
        color=style.colour, strokeWidth=1.8, strokeDash=list(style.dash)
    )
    layers = [_placed(line, across, up)]
    if style.marker:
        marks = _data(rows).mark_point(
            shape=style.marker,
            size=style.size,
            color=style.colour,
            fill=style.colour if style.filled else "white",
            opacity=1,
            strokeWidth=1.4,
        )
        layers.append(_placed(marks, across, up))
    return layers


def _text(
    rows: Sequence[Point],
    colour: str,
    x: Axis,
    y: Axis,
    *,
    offset: tuple[int, int] = (9, 0),
    align: Literal["left", "center", "right"] = "left",
) -> alt.Chart:
    mark = _data(rows).mark_text(
        color=colour,
        align=align,
        baseline="middle",
        dx=offset[0],
        dy=offset[1],
        fontSize=11.5,
    )
    return _placed(mark, _x(x), _y(y), alt.Text("label:N"))


def _touch(groups: Sequence[list[int]], centres: Sequence[float], least: float) -> bool:
    room = least * (len(groups[0]) + len(groups[1])) / 2
    return centres[0] - centres[1] < room
