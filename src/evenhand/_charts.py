"""The house's charts as plain Vega-Lite, and how any chart becomes a picture.

Colours are Okabe and Ito's, which people tell apart whatever their colour vision; each
line has its own marker as well, and its name at its end, so that no legend has to be
matched. Rendering works offline.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from evenhand.errors import OptionError
from evenhand.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scipy import optimize

    from evenhand.claims import Json

    Row = Mapping[str, Json]
else:
    optimize = lazy("scipy.optimize")

Chart: TypeAlias = dict[str, Any]
"""A chart, or a part of one, as its Vega-Lite."""

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
NO_RENDERER = (
    "Charts for notebooks, PNG and SVG need more packages: "
    "pip install 'evenhand[charts]'."
)
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
TITLE: Chart = {"fontSize": 13, "anchor": "start", "frame": "group", "offset": 12}
TITLE |= {"subtitleFontSize": 11, "subtitleColor": GREY}
AXIS: Chart = {"labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal"}
AXIS |= {"titlePadding": 8, "gridColor": PALE, "domainColor": GREY, "tickColor": GREY}
CONFIG: Chart = {"font": FONT, "background": "white", "padding": 8, "title": TITLE}
CONFIG |= {"axis": {**AXIS, "labelFlush": False}, "view": {"stroke": None}}


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
class ChartAxis:
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
    def channel(self) -> Chart:
        """Return the axis as a channel of marks."""
        # A log axis would otherwise label every tick, one over the other.
        ticks: Chart = {"tickCount": 6}
        if self.ticks:
            ticks = {"values": [*self.ticks], "format": "~f", "labelOverlap": False}
        scale = {"type": self.kind, "domain": [*self.domain], "nice": False}
        shown = {"title": self.title, "scale": scale, "axis": ticks}
        return {"field": self.field, "type": "quantitative", **shown}


def lines(
    rows: Sequence[Row],
    styles: Mapping[str, Style],
    *,
    x: ChartAxis,
    y: ChartAxis,
    title: str = "",
    subtitle: Sequence[str] = (),
) -> Chart:
    """Draw one line for each method, on a zero line.

    Args:
        rows: What to draw, each of a "method"; a row with fields "low" and "high" has
            an error bar. Bars of different methods stand a little apart.
        styles: From each method, in the order of drawing, to its looks.
        x: Horizontal axis.
        y: Vertical axis.
        title: Title above the chart.
        subtitle: Lines in small type below it.

    Returns:
        The chart.

    Examples:
        >>> rows = [{"m": 2, "gain": 1.0, "method": "votes"}]
        >>> x, y = ChartAxis("m", "reviewers", (1, 3)), ChartAxis("gain", "%", (0, 2))
        >>> chart = lines(rows, {"votes": Style("votes", BLUE)}, x=x, y=y)
        >>> svg(chart).startswith("<svg")
        True
    """
    drawn = {
        method: [row for row in rows if row["method"] == method] for method in styles
    }
    place = {"x": x.channel, "y": y.channel}
    ends = [{x.field: end, y.field: 0.0} for end in x.domain]
    layers = [_marks(ends, "line", place, color=GREY, strokeWidth=1.2)]
    bar = {**place, "y": {**y.channel, "field": "low"}, "y2": {"field": "high"}}
    for number, (method, style) in enumerate(styles.items()):
        bars = [row for row in drawn[method] if "low" in row]
        shift = BAR_STEP * (number - (len(styles) - 1) / 2)
        # A bar ends where the chart does.
        look = {"color": style.colour, "strokeWidth": 2, "opacity": 0.55, "clip": True}
        layers += [_marks(bars, "rule", bar, xOffset=shift, **look)] if bars else []
    for method, style in styles.items():
        layers += _line(drawn[method], style, place)
    named = {own: rows[-1] for own, rows in drawn.items() if rows and styles[own].label}
    heights = apart([float(str(end[y.field])) for end in named.values()], y)
    for (method, end), height in zip(named.items(), heights, strict=True):
        label = {**end, "label": styles[method].label, y.field: height}
        colour = styles[method].colour
        layers.append(labelled_points([label], x=x, y=y, colour=colour, offset=(9, 0)))
    chart: Chart = {"layer": layers, "width": WIDTH, "height": HEIGHT}
    heading = {"title": {"text": title, "subtitle": list(subtitle)}} if title else {}
    return chart | heading


def labelled_points(
    rows: Sequence[Row],
    *,
    x: ChartAxis,
    y: ChartAxis,
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
        The layer.

    Examples:
        >>> axis = ChartAxis("x", "x", (0, 1))
        >>> labelled_points([{"x": 0, "label": "here"}], x=axis, y=axis)["mark"]["type"]
        'text'
    """
    text = {"field": "label", "type": "nominal"}
    look = {"color": colour, "align": align, "baseline": "middle", "fontSize": 11.5}
    place = {"x": x.channel, "y": y.channel, "text": text}
    return _marks(rows, "text", place, **look, dx=offset[0], dy=offset[1])


def over(chart: Chart, *layers: Chart) -> Chart:
    """Lay further layers over a chart.

    Examples:
        >>> axis = ChartAxis("x", "x", (0, 1))
        >>> points = labelled_points([{"x": 0, "label": "here"}], x=axis, y=axis)
        >>> len(over(lines([], {}, x=axis, y=axis), points)["layer"])
        2
    """
    return {**chart, "layer": [{"layer": chart["layer"]}, *layers]}


def beside(charts: Sequence[Chart]) -> Chart:
    """Put charts side by side, their plots in line, with room for axes and names.

    Examples:
        >>> axis = ChartAxis("x", "x", (0, 1))
        >>> len(beside([lines([], {}, x=axis, y=axis)] * 2)["hconcat"])
        2
    """
    return {"hconcat": list(charts), "spacing": 150, "bounds": "flush"}


def renderer() -> Any:  # noqa: ANN401 - a module without types
    """Return what draws pictures; few want them, and it is large.

    Raises:
        OptionError: If it is not installed.
    """
    try:
        import vl_convert  # noqa: PLC0415 - an extra
    except ModuleNotFoundError:
        raise OptionError(NO_RENDERER) from None
    return vl_convert


def can_render() -> bool:
    """Return whether charts can be written as PNG and SVG."""
    try:
        renderer()
    except OptionError:
        return False
    return True


def svg(chart: Chart) -> str:
    """Render a chart as SVG, with the house's fonts, sizes and greys.

    Examples:
        >>> axis = ChartAxis("x", "x", (0, 1))
        >>> svg(lines([], {}, x=axis, y=axis)).startswith("<svg")
        True
    """
    whole = {**chart, "$schema": SCHEMA, "config": CONFIG}
    return str(renderer().vegalite_to_svg(whole))


def png_from(picture: str) -> bytes:
    """Turn SVG into PNG, two pixels to the unit.

    Examples:
        >>> axis = ChartAxis("x", "x", (0, 1))
        >>> png_from(svg(lines([], {}, x=axis, y=axis)))[1:4]
        b'PNG'
    """
    return bytes(renderer().svg_to_png(picture, scale=SCALE))


def apart(heights: Sequence[float], y: ChartAxis) -> list[float]:
    """Move names that would overlap up and down until they do not.

    Args:
        heights: Where names want to be.
        y: Vertical axis.

    Returns:
        Where they go; names at the same height keep their order, from above.

    Examples:
        >>> found = apart([5.0, 100.0, 5.0], ChartAxis("y", "y", (0, 100)))
        >>> [round(height, 6) for height in found]
        [8.1, 100.0, 1.9]
    """
    order = np.argsort(np.negative(heights), kind="stable")
    # With these steps added, heights that are far enough apart just do not rise.
    steps = APART * (y.domain[1] - y.domain[0]) * np.arange(len(heights))
    fitted = optimize.isotonic_regression(
        np.take(heights, order) + steps, increasing=False
    )
    moved: list[float] = (fitted.x - steps)[np.argsort(order)].tolist()
    return moved


def _marks(rows: Sequence[Row], kind: str, place: Chart, **look: object) -> Chart:
    return {"data": {"values": rows}, "mark": {"type": kind, **look}, "encoding": place}


def _line(rows: Sequence[Row], style: Style, place: Chart) -> list[Chart]:
    colour = style.colour
    stroke = {"color": colour, "strokeWidth": 1.8, "strokeDash": [*style.dash]}
    fill = colour if style.filled else "white"
    point = {"color": colour, "fill": fill, "opacity": 1, "strokeWidth": 1.4}
    point |= {"shape": style.marker, "size": style.size}
    marks = [_marks(rows, "point", place, **point)] if style.marker else []
    return [_marks(rows, "line", place, **stroke), *marks]
