"""The few charts that figures and reports share, as plain Vega-Lite.

Colours are Okabe and Ito's, which people tell apart whatever their colour vision; each
line has its own marker as well, and its name at its end, so that no legend has to be
matched. Rendering works offline.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.claims import Json

    Row = Mapping[str, Json]
    Part = Mapping[str, object]

Spec: TypeAlias = dict[str, object]
"""A chart, or a part of one, as its Vega-Lite."""
Chart = Spec

BLACK = "#000000"
GREY = "#666666"
PALE = "#e4e4e4"
ORANGE = "#E69F00"
GREEN = "#009E73"
BLUE = "#0072B2"
RED = "#D55E00"

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
WIDTH, HEIGHT = 270, 220
SCALE = 2
# Names at the ends of lines keep this share of the height apart.
APART = 0.062
# Error bars of neighbouring methods stand so many pixels apart.
BAR_STEP = 2.6
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

TITLE: Spec = {
    "fontSize": 13,
    "fontWeight": "bold",
    "anchor": "start",
    "frame": "group",
    "offset": 12,
    "subtitleFontSize": 11,
    "subtitleColor": GREY,
    "subtitlePadding": 4,
}
CONFIG: Spec = {
    "font": FONT,
    "background": "white",
    "padding": 8,
    "view": {"stroke": None},
    "title": TITLE,
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

    @property
    def channel(self) -> Spec:
        """Return the axis as a channel of marks."""
        # A log axis would otherwise label every tick, one over the other.
        ticks: Spec = {"tickCount": 6}
        if self.ticks:
            ticks = {"values": [*self.ticks], "format": "~f", "labelOverlap": False}
        scale = {"type": self.kind, "domain": [*self.domain], "nice": False}
        return quantity(self.field, title=self.title, scale=scale, axis=ticks)


def quantity(field: str, **options: object) -> Spec:
    """Show a field that holds numbers.

    Examples:
        >>> quantity("p", title="share")
        {'field': 'p', 'type': 'quantitative', 'title': 'share'}
    """
    return {"field": field, "type": "quantitative", **options}


def word(field: str, **options: object) -> Spec:
    """Show a field that holds names.

    Examples:
        >>> word("name")
        {'field': 'name', 'type': 'nominal'}
    """
    return {"field": field, "type": "nominal", **options}


def marks(data: Part, kind: str, encoding: Part, **look: object) -> Spec:
    """Draw data by one kind of mark.

    Examples:
        >>> marks({"name": "rows"}, "point", {}, size=40)["mark"]
        {'type': 'point', 'size': 40}
    """
    return {"data": data, "mark": {"type": kind, **look}, "encoding": encoding}


def lines(
    rows: Sequence[Row],
    styles: Mapping[str, Style],
    *,
    x: Axis,
    y: Axis,
    title: str = "",
    subtitle: Sequence[str] = (),
    name: str = "method",
) -> Chart:
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
    place = {"x": x.channel, "y": y.channel}
    ends: list[dict[str, Json]] = [{x.field: end, y.field: 0.0} for end in x.domain]
    layers = [marks({"values": ends}, "line", place, color=GREY, strokeWidth=1.2)]
    bar = {"x": x.channel, "y": quantity("low"), "y2": {"field": "high"}}
    for number, (method, style) in enumerate(styles.items()):
        bars = [row for row in drawn[method] if "low" in row]
        shift = BAR_STEP * (number - (len(styles) - 1) / 2)
        look = {"color": style.colour, "strokeWidth": 2, "opacity": 0.55}
        if bars:
            layers.append(marks({"values": bars}, "rule", bar, xOffset=shift, **look))
    for method, style in styles.items():
        layers += _line(drawn[method], style, place)
    named = {own: rows[-1] for own, rows in drawn.items() if rows and styles[own].label}
    heights = apart([_number(end[y.field]) for end in named.values()], y)
    for (method, end), height in zip(named.items(), heights, strict=True):
        label = {**end, "label": styles[method].label, y.field: height}
        layers.append(_text([label], styles[method].colour, place))
    chart: Chart = {"layer": layers, "width": WIDTH, "height": HEIGHT}
    if title:
        chart["title"] = {"text": title, "subtitle": list(subtitle)}
    return chart


def labelled_points(
    rows: Sequence[Row],
    *,
    x: Axis,
    y: Axis,
    colour: str = BLACK,
    offset: tuple[int, int] = (7, 0),
    align: Literal["left", "center", "right"] = "left",
) -> Chart:
    """Write the field "label" beside points; lay it over another chart.

    Args:
        rows: The points.
        x: Horizontal axis.
        y: Vertical axis.
        colour: Of the text.
        offset: Of the text, in pixels to the right and down.
        align: Which way the text runs from there.

    Returns:
        The layers.

    Examples:
        >>> axis = Axis("x", "x", (0, 1))
        >>> len(labelled_points([{"x": 0, "label": "here"}], x=axis, y=axis)["layer"])
        1
    """
    used = [_used(row, x, y) for row in rows]
    place = {"x": x.channel, "y": y.channel}
    return {"layer": [_text(used, colour, place, offset=offset, align=align)]}


def over(chart: Chart, *layers: Chart) -> Chart:
    """Lay further layers over a chart.

    Examples:
        >>> axis = Axis("x", "x", (0, 1))
        >>> points = labelled_points([{"x": 0, "label": "here"}], x=axis, y=axis)
        >>> len(over(lines([], {}, x=axis, y=axis), points)["layer"])
        2
    """
    bare = {part: value for part, value in chart.items() if part == "layer"}
    return {**chart, "layer": [bare, *layers]}


def beside(charts: Sequence[Chart], *, spacing: int = 150) -> Chart:
    """Put charts side by side, their plots in line.

    Args:
        charts: The charts.
        spacing: Between the plots, with room for axes and names.

    Returns:
        The charts as one.

    Examples:
        >>> axis = Axis("x", "x", (0, 1))
        >>> len(beside([lines([], {}, x=axis, y=axis)] * 2)["hconcat"])
        2
    """
    return {"hconcat": list(charts), "spacing": spacing, "bounds": "flush"}


def svg(chart: Chart) -> str:
    """Render a chart as SVG.

    Examples:
        >>> axis = Axis("x", "x", (0, 1))
        >>> svg(lines([], {}, x=axis, y=axis)).startswith("<svg")
        True
    """
    import vl_convert  # noqa: PLC0415 - only for those who want a picture

    return str(vl_convert.vegalite_to_svg(specification(chart)))


def png_from(picture: str) -> bytes:
    """Turn SVG into PNG, two pixels to the unit.

    Examples:
        >>> axis = Axis("x", "x", (0, 1))
        >>> png_from(svg(lines([], {}, x=axis, y=axis)))[1:4]
        b'PNG'
    """
    import vl_convert  # noqa: PLC0415 - only for those who want a picture

    return bytes(vl_convert.svg_to_png(picture, scale=SCALE))


def apart(heights: Sequence[float], y: Axis) -> list[float]:
    """Move names that would overlap up and down until they do not.

    Args:
        heights: Where names want to be.
        y: Vertical axis.

    Returns:
        Where they go; names at the same height keep their order, from above.

    Examples:
        >>> found = apart([5.0, 100.0, 5.0], Axis("y", "y", (0, 100)))
        >>> [round(height, 6) for height in found]
        [8.1, 100.0, 1.9]
    """
    if len(heights) == 0:
        return []
    from scipy.optimize import isotonic_regression  # noqa: PLC0415 - only for charts

    order = np.argsort(np.negative(heights), kind="stable")
    # With these steps added, heights that are far enough apart just do not rise.
    steps = APART * (y.domain[1] - y.domain[0]) * np.arange(len(heights))
    fitted = isotonic_regression(np.take(heights, order) + steps, increasing=False)
    moved: list[float] = (fitted.x - steps)[np.argsort(order)].tolist()
    return moved


def specification(chart: Chart) -> Spec:
    """Write a chart out as whole Vega-Lite, with the house's fonts, sizes and greys.

    Examples:
        >>> axis = Axis("x", "x", (0, 1))
        >>> specification(lines([], {}, x=axis, y=axis))["width"]
        270
    """
    return {"$schema": SCHEMA, **chart, "config": CONFIG}


def _used(row: Row, x: Axis, y: Axis) -> dict[str, Json]:
    """Keep what is drawn; a bar ends where the chart does."""
    bottom, top = y.domain
    kept = (x.field, y.field, "label")
    point = {field: row[field] for field in kept if field in row}
    for end in ("low", "high"):
        if end in row:
            point[end] = min(max(_number(row[end]), bottom), top)
    return point


def _number(value: Json) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _line(rows: Sequence[Row], style: Style, place: Part) -> list[Spec]:
    colour, data = style.colour, {"values": rows}
    look = {"color": colour, "strokeWidth": 1.8, "strokeDash": [*style.dash]}
    layers = [marks(data, "line", place, **look)]
    if style.marker:
        fill = colour if style.filled else "white"
        look = {"color": colour, "fill": fill, "opacity": 1, "strokeWidth": 1.4}
        look |= {"shape": style.marker, "size": style.size}
        layers.append(marks(data, "point", place, **look))
    return layers


def _text(
    rows: Sequence[Row],
    colour: str,
    place: Part,
    *,
    offset: tuple[int, int] = (9, 0),
    align: str = "left",
) -> Spec:
    look = {"color": colour, "align": align, "baseline": "middle", "fontSize": 11.5}
    look |= {"dx": offset[0], "dy": offset[1]}
    return marks({"values": rows}, "text", {**place, "text": word("label")}, **look)
