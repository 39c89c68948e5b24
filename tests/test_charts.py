"""Charts: what is in them, that nothing overlaps, that they render offline."""

import itertools
import re
import struct

import altair as alt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import _charts as charts
from evenhand._charts import ChartAxis, Style
from evenhand.lab import figures
from evenhand.lab.figures import FigureRow

X = ChartAxis("m", "number of reviewers", (1, 100), (1, 10, 100), "log")
Y = ChartAxis("gain", "improvement (%)", (-10, 110))
STYLES = {
    "votes": Style("the paper's votes", charts.BLUE),
    "sign": Style("sign", charts.ORANGE, "square", (4, 2), filled=False),
}
ROWS: list[FigureRow] = [
    {"m": 2, "gain": 10.0, "method": "votes", "low": 8.0, "high": 12.0},
    {"m": 50, "gain": 80.0, "method": "votes", "low": 79.0, "high": 81.0},
    {"m": 2, "gain": 0.0, "method": "sign"},
    {"m": 50, "gain": 80.5, "method": "sign"},
]


def drawn() -> str:
    return charts.svg(
        charts.lines(ROWS, STYLES, x=X, y=Y, title="Two items", subtitle=["in small"])
    )


def test_the_chart_is_valid_vega_lite() -> None:
    chart = charts.lines(ROWS, STYLES, x=X, y=Y, title="Two items")
    point: list[FigureRow] = [{"m": 10, "gain": 50.0, "label": "look here"}]
    layer = charts.labelled_points(point, x=X, y=Y)
    whole = charts.beside([charts.over(chart, layer), chart])
    assert alt.HConcatChart.from_dict(whole).to_dict()["$schema"].endswith(".json")


def test_axes_title_and_lines_are_named() -> None:
    texts = re.findall(r">([^<>]+)</text>", drawn())
    for text in (X.title, Y.title, "Two items", "in small", "sign", "100"):
        assert text in texts
    assert any("votes" in text for text in texts)
    for style in STYLES.values():
        assert style.colour.lower() in drawn().lower()


def test_an_error_bar_is_drawn_for_rows_that_have_one() -> None:
    bare: list[FigureRow] = [
        {k: v for k, v in row.items() if k not in ("low", "high")} for row in ROWS
    ]
    without = charts.svg(charts.lines(bare, STYLES, x=X, y=Y))
    bars = 'aria-roledescription="rule mark"'
    assert drawn().count(bars) == 2
    assert bars not in without


def test_a_picture_has_two_pixels_to_the_unit() -> None:
    picture = charts.png_from(charts.svg(charts.lines(ROWS, STYLES, x=X, y=Y)))
    width, height = struct.unpack(">II", picture[16:24])
    assert width > charts.SCALE * charts.WIDTH
    assert height > charts.SCALE * charts.HEIGHT


def test_charts_side_by_side_are_as_wide_as_all_of_them() -> None:
    one = charts.lines(ROWS, STYLES, x=X, y=Y)
    pictures = map(charts.svg, (one, charts.beside([one, one])))
    single, double = map(charts.png_from, pictures)
    widths = [struct.unpack(">I", picture[16:20])[0] for picture in (single, double)]
    assert widths[1] > 1.5 * widths[0]


def test_labels_lie_over_a_chart() -> None:
    point: list[FigureRow] = [{"m": 10, "gain": 50.0, "label": "look here"}]
    layer = charts.labelled_points(point, x=X, y=Y)
    chart = charts.lines(ROWS, STYLES, x=X, y=Y, title="Two items")
    picture = charts.svg(charts.over(chart, layer))
    assert "look here" in picture
    assert "Two items" in picture
    assert "Two items" in charts.svg(chart)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=6))
def test_names_keep_apart_and_in_order(heights: list[float]) -> None:
    axis = ChartAxis("y", "y", (0, 100))
    moved = charts.apart(heights, axis)
    least = charts.APART * 100
    pairs = sorted(zip(heights, moved, strict=True), reverse=True)
    for (high, above), (low, below) in itertools.pairwise(pairs):
        if high > low:
            assert above > below
    for one, other in itertools.combinations(moved, 2):
        assert abs(one - other) > least - 1e-9
    assert sum(moved) == pytest.approx(sum(heights))


@pytest.mark.parametrize("styles", [figures.RULES, figures.RANKINGS])
def test_methods_differ_in_colour_and_in_marker(styles: dict[str, Style]) -> None:
    assert len({style.colour for style in styles.values()}) == len(styles)
    assert len({style.marker for style in styles.values()}) == len(styles)


def test_the_papers_method_has_one_colour_in_all_figures() -> None:
    ours = (figures.RULES["votes"], figures.RANKINGS["flips"], figures.CURVE["curve"])
    assert {style.colour for style in ours} == {charts.BLUE}
