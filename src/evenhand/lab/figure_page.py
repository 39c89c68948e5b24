"""The paper's figures on one HTML page that needs nothing else.

Its charts are those of the PNG and SVG files, drawn from the same Vega-Lite without the
package that renders those. Of Vega-Lite it knows what `_charts` writes: lines, points,
rules and texts on two axes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup

from evenhand._charts import FONT, GREY, PALE
from evenhand.claims import version

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evenhand._charts import Chart
    from evenhand.lab.figures import Figure, FigureRow

# Room around the plot for the axis, the names of lines, the title and the other axis.
LEFT, RIGHT, TOP, BOTTOM = 58, 140, 52, 48
TICKS = 6
ANCHORS = {"left": "start", "center": "middle", "right": "end"}
CIRCLE = "M{r:.1f},0A{r:.1f},{r:.1f} 0 1 1 -{r:.1f},0A{r:.1f},{r:.1f} 0 1 1 {r:.1f},0"
# Paths around 0, with r half of a square's side for the marker's size.
SHAPES = {
    "circle": CIRCLE,
    "square": "M-{r:.1f},-{r:.1f}H{r:.1f}V{r:.1f}H-{r:.1f}Z",
    "diamond": "M0,-{w:.1f}L{w:.1f},0L0,{w:.1f}L-{w:.1f},0Z",
    "triangle-up": "M0,-{w:.1f}L{w:.1f},{r:.1f}H-{w:.1f}Z",
}
PAGE = Markup("""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'">
<title>The paper's figures</title>
<style>
body {{ font: 16px/1.5 {font}; margin: 2rem auto; max-width: 84rem; padding: 0 1rem }}
.charts {{ display: flex; flex-wrap: wrap }}
svg {{ max-width: 100% }}
table {{ border-collapse: collapse; font-size: 14px; margin: .5rem 0 }}
th, td {{ border-bottom: 1px solid {pale}; padding: .1rem .6rem; text-align: right }}
p {{ max-width: 50rem }}
</style></head><body>
<h1>The figures of Wang and Shah (2019), reproduced</h1>
<p>evenhand {version}, seed {seed}. Improvements in per cent.</p>
{sections}
</body></html>
""")
SECTION = Markup("""<section><h2>{title}</h2>
<div class="charts">{charts}</div>
{notes}{tables}</section>""")
TABLE = Markup("""<details><summary>Numbers of {name}</summary>
<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></details>""")


class AxisScale(NamedTuple):
    """From values to pixels along one axis.

    Attributes:
        low: First value, its logarithm on a log axis.
        high: Last value, likewise.
        start: Pixel of the first value.
        end: Pixel of the last.
        is_log: Whether the axis is logarithmic.
    """

    low: float
    high: float
    start: float
    end: float
    is_log: bool

    def place(self, value: float) -> float:
        """Return the pixel of a value."""
        level = math.log(value) if self.is_log else value
        share = (level - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def figure_page(sections: Sequence[Sequence[tuple[Figure, Chart]]], seed: int) -> str:
    """Write the page.

    Args:
        sections: Figures, each with its panels and their charts.
        seed: The seed that repeats them.

    Examples:
        >>> from evenhand.lab.figures import trade, trade_chart
        >>> figure = trade("fig3", 7)
        >>> figure_page([[(figure, trade_chart(figure))]], 7).count("<svg")
        1
    """
    return PAGE.format(
        font=FONT,
        pale=PALE,
        version=version(),
        seed=seed,
        sections=Markup("\n").join(map(_section, sections)),
    )


def _section(panels: Sequence[tuple[Figure, Chart]]) -> Markup:
    first = panels[0][0]
    number = first.name.removeprefix("fig")[:1]
    title = first.title.partition(":")[0] if len(panels) > 1 else first.title
    notes = (Markup("<p>{}</p>").format(notice.message) for notice in first.notices)
    return SECTION.format(
        title=f"Figure {number}: {title}",
        charts=Markup("").join(
            draw_chart(chart, figure.title) for figure, chart in panels
        ),
        notes=Markup("").join(notes),
        tables=Markup("").join(_table(figure) for figure, _ in panels),
    )


def _table(figure: Figure) -> Markup:
    def cells(cell: Markup, values: Sequence[object]) -> Markup:
        shown = (
            f"{value:.4g}" if isinstance(value, float) else value for value in values
        )
        return Markup("").join(map(cell.format, shown))

    rows = (cells(Markup("<td>{}</td>"), [*row.values()]) for row in figure.rows)
    return TABLE.format(
        name=figure.name,
        head=cells(Markup("<th>{}</th>"), [*figure.rows[0]]),
        rows=Markup("").join(map(Markup("<tr>{}</tr>").format, rows)),
    )


def draw_chart(chart: Chart, label: str) -> Markup:
    """Draw a chart as SVG inside a page.

    Args:
        chart: Layers on two axes, as `evenhand._charts` makes them.
        label: What it shows, for those who do not see it.

    Examples:
        >>> from evenhand._charts import ChartAxis, lines
        >>> axis = ChartAxis("x", "x", (0, 1))
        >>> draw_chart(lines([], {}, x=axis, y=axis), "Nothing")[:39]
        Markup('<svg xmlns="http://www.w3.org/2000/svg"')
    """
    layers = [*_flatten(chart)]
    width, height = LEFT + chart["width"] + RIGHT, TOP + chart["height"] + BOTTOM
    place = layers[0]["encoding"]
    x = _scale(place["x"], LEFT, LEFT + chart["width"])
    y = _scale(place["y"], TOP + chart["height"], TOP)
    parts = [*_title(chart), *_axes(place, x, y)]
    for layer in layers:
        parts += MARKS[layer["mark"]["type"]](layer, x, y)
    head = Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{}" width="{}" '
        'height="{}" viewBox="0 0 {} {}" font-size="11">{}</svg>'
    )
    size = (width, height)
    return head.format(label, *size, *size, Markup("").join(parts))


def _flatten(chart: Chart) -> Iterator[Chart]:
    for layer in chart["layer"]:
        yield from _flatten(layer) if "layer" in layer else [layer]


def _scale(channel: Mapping[str, Any], start: float, end: float) -> AxisScale:
    is_log = channel["scale"]["type"] == "log"
    low, high = channel["scale"]["domain"]
    if is_log:
        low, high = math.log(low), math.log(high)
    return AxisScale(low, high, start, end, is_log)


def ticks(channel: Mapping[str, Any]) -> list[float]:
    """Return the values that an axis marks: those given, or round ones.

    Examples:
        >>> ticks({"axis": {"tickCount": 6}, "scale": {"domain": [-4, 38]}})
        [0.0, 10.0, 20.0, 30.0]
    """
    if "values" in channel["axis"]:
        return [*channel["axis"]["values"]]
    low, high = channel["scale"]["domain"]
    rough = (high - low) / TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    first = math.ceil(low / step)
    return [step * number for number in range(first, math.floor(high / step) + 1)]


def _attributes(look: Mapping[str, object]) -> Markup:
    return Markup("").join(
        Markup(' {}="{}"').format(*attribute) for attribute in look.items()
    )


def _text(
    x: float, y: float, content: object, anchor: str = "start", **look: object
) -> Markup:
    more = _attributes(look)
    template = Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}"{}>{}</text>')
    return template.format(x, y, anchor, more, content)


def _line(ends: Sequence[float], colour: str, width: float, **look: object) -> Markup:
    more = _attributes(look)
    template = Markup(
        '<path d="M{:.1f},{:.1f}L{:.1f},{:.1f}" stroke="{}" stroke-width="{}"{}/>'
    )
    return template.format(*ends, colour, width, more)


def _title(chart: Chart) -> Iterator[Markup]:
    words = chart.get("title", {"text": "", "subtitle": []})
    look: Any = {"font-size": 13, "font-weight": "bold"}
    yield _text(LEFT, 16, words["text"], **look)
    for row, line in enumerate(words["subtitle"]):
        yield _text(LEFT, 32 + 13 * row, line, fill=GREY)


def _axes(place: Mapping[str, Any], x: AxisScale, y: AxisScale) -> Iterator[Markup]:
    """Draw a pale grid, its numbers and the titles of both axes."""
    for value in ticks(place["x"]):
        at = x.place(value)
        yield _line((at, y.start, at, y.end), PALE, 1)
        yield _text(at, y.start + 16, f"{value:g}", "middle")
    for value in ticks(place["y"]):
        at = y.place(value)
        yield _line((x.start, at, x.end, at), PALE, 1)
        yield _text(x.start - 7, at + 4, f"{value:g}", "end")
    middle = (x.start + x.end) / 2
    yield _text(
        middle, y.start + 36, place["x"]["title"], "middle", **{"font-size": 12}
    )
    middle = (y.start + y.end) / 2
    turn: Any = {"font-size": 12, "transform": f"rotate(-90 16 {middle:.1f})"}
    yield _text(16, middle, place["y"]["title"], "middle", **turn)


def _points(
    layer: Chart, x: AxisScale, y: AxisScale
) -> list[tuple[float, float, FigureRow]]:
    fields = [layer["encoding"][name]["field"] for name in ("x", "y")]
    rows: list[FigureRow] = layer["data"]["values"]
    return [(x.place(row[fields[0]]), y.place(row[fields[1]]), row) for row in rows]  # type: ignore[arg-type]  # numbers


def _draw_line(layer: Chart, x: AxisScale, y: AxisScale) -> Iterator[Markup]:
    look, points = layer["mark"], _points(layer, x, y)
    path = "L".join(f"{across:.1f},{down:.1f}" for across, down, _ in points)
    dash = look.get("strokeDash", (1, 0))
    template = Markup(
        '<path d="M{}" fill="none" stroke="{}" stroke-width="{}" '
        'stroke-dasharray="{}"/>'
    )
    # A line of gaps only, between points, is not drawn.
    if path and dash[0]:
        solid = "none" if 0 in dash else " ".join(map(str, dash))
        yield template.format(path, look["color"], look["strokeWidth"], solid)


def _draw_points(layer: Chart, x: AxisScale, y: AxisScale) -> Iterator[Markup]:
    look = layer["mark"]
    half = math.sqrt(look["size"]) / 2
    path = SHAPES[look["shape"]].format(r=half, w=math.sqrt(2) * half)
    template = Markup(
        '<path transform="translate({:.1f} {:.1f})" d="{}" fill="{}" stroke="{}" '
        'stroke-width="{}"/>'
    )
    for across, down, _ in _points(layer, x, y):
        shown = look["fill"], look["color"], look["strokeWidth"]
        yield template.format(across, down, path, *shown)


def _draw_rules(layer: Chart, x: AxisScale, y: AxisScale) -> Iterator[Markup]:
    look, high = layer["mark"], layer["encoding"]["y2"]["field"]
    for across, low, row in _points(layer, x, y):
        # A bar ends where the chart does; pixels count from above.
        ends = (min(low, y.start), max(y.place(float(row[high])), y.end))
        at = across + look["xOffset"]
        line = (at, ends[0], at, ends[1])
        if ends[0] > ends[1]:
            yield _line(
                line, look["color"], look["strokeWidth"], opacity=look["opacity"]
            )


def _draw_texts(layer: Chart, x: AxisScale, y: AxisScale) -> Iterator[Markup]:
    look = layer["mark"]
    anchor, fill = ANCHORS[look["align"]], look["color"]
    for across, down, row in _points(layer, x, y):
        at = across + look["dx"], down + look["dy"] + 4
        yield _text(*at, row["label"], anchor, fill=fill)


MARKS = {
    "line": _draw_line,
    "point": _draw_points,
    "rule": _draw_rules,
    "text": _draw_texts,
}
