"""Figures: charts with a caption, a text alternative and the numbers behind them.

Charts are plain Vega-Lite. Labels that come from data are values of fixed fields and
nothing else: never part of an expression, of a field name or of an address. The page
adds colours of text for light and dark; static pictures are light.
"""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from evenhand import _charts as charts
from evenhand._cards import share
from evenhand._charts import Spec, quantity, word
from evenhand._outputs import Output
from evenhand.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evenhand._results import Label

__all__ = ["Figure", "pictures", "share", "spec"]

Cell: TypeAlias = str | int | float | None
Point: TypeAlias = dict[str, Cell]

# A grey that can be seen on white and on black.
MIDDLE = "#858585"
WIDTH, ROW = 640, 20
# Characters of a label beside a chart, and in the text that hovers.
SHORT, LONG = 28, 200
# Pixels for labels, and what is left of them on a phone. Only the browser knows the
# width of the page; a picture has no container.
ROOM = "containerSize()[0] < 500 ? 120 : 200"
# Where an axis of shares ends, so that there is room for a number after 100 %.
END = "containerSize()[0] < 500 ? 1.5 : 1.18"
CAPTION_WIDTH = 105
DIGITS = 4
QUARTERS = (0, 0.25, 0.5, 0.75, 1)
FEW_TICKS = {"tickCount": 5, "labelOverlap": True}
"""Keeps numbers on an axis apart on a phone, too."""
PERCENT = {"format": "%", "values": [*QUARTERS]}


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart and what goes with it.

    Attributes:
        name: Element id and stem of file names; a word of ours, never from data.
        title: A few words.
        caption: How to read it, and what it must not be read as.
        alt: The main message with its numbers, for who does not see the chart.
        chart: The chart as Vega-Lite, without title.
        header: Names of the columns of `rows`.
        rows: The numbers behind the chart, not rounded.
    """

    name: str
    title: str
    caption: str
    alt: str
    chart: Spec
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def spec(figure: Figure) -> Spec:
    """Write a figure out as Vega-Lite for a page, as wide as its container.

    There is no background, no colour of text and no address in it; the page gives the
    first two as `config`. The text alternative is its description.

    Examples:
        >>> chart = layered([], {"rows": []}, height=40)
        >>> written = spec(Figure("x", "X", "How.", "What.", chart, (), ()))
        >>> written["width"], written["description"], "config" in written
        ('container', 'What.', False)
    """
    return {
        **figure.chart,
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
        >>> chart = layered([marks("rows", "point", {})], {"rows": []}, height=40)
        >>> figure = Figure("dots", "Dots", "How.", "What.", chart, (), ())
        >>> [output.path for output in pictures([figure], "charts")]
        ['charts/dots.svg', 'charts/dots.png']
    """
    files: list[Output] = []
    for figure in figures:
        drawn = _svg(figure)
        stem = str(Path(folder) / figure.name)
        files.append(Output(f"{stem}.svg", drawn, makes_folder=True))
        files.append(Output(f"{stem}.png", charts.png_from(drawn), makes_folder=True))
    return files


def _svg(figure: Figure) -> str:
    import vl_convert  # noqa: PLC0415 - only for those who want a picture

    heading = {**charts.TITLE, "frame": "bounds", "subtitleLineHeight": 14}
    caption = textwrap.wrap(figure.caption, CAPTION_WIDTH)
    written = {
        **figure.chart,
        "description": figure.alt,
        "title": {"text": figure.title, "subtitle": caption},
        "config": {**charts.CONFIG, "title": heading},
    }
    return str(vl_convert.vegalite_to_svg(written))


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
    """Keep the points for which an expression of ours holds; all if it is empty.

    Examples:
        >>> filtered(marks("rows", "point", {}), "datum.x > 0")["transform"]
        [{'filter': 'datum.x > 0'}]
    """
    return {**layer, "transform": [{"filter": where}]} if where else layer


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


def tips(**fields: str) -> list[Spec]:
    """Say what hovers: names of fields with their titles.

    Examples:
        >>> [tip["title"] for tip in tips(item="item", place="rank")]
        ['item', 'rank']
    """
    return [word(name, title=title) for name, title in fields.items()]


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


def percent_axis(field: str, title: str) -> Spec:
    """Show a share from 0 to 100 %, with room for a number at its end.

    Examples:
        >>> percent_axis("p", "share")["title"]
        'share'
    """
    scale = {"domainMin": -0.03, "domainMax": {"expr": END}, "nice": False}
    return quantity(field, title=title, scale=scale, axis=PERCENT)


def series(
    field: str,
    looks: Mapping[str, tuple[str, str]],
    used: Iterable[str],
    *,
    legend: bool = True,
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
