"""Charts for slides and notebooks: ranks, strictness, the scores of two items.

The report draws its own pictures. Labels that come from data are values of fixed fields
and nothing else: never part of an expression, of a field name or of an address.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from evenhand._charts import BLUE, GREY, NO_RENDERER, ORANGE, png_from, svg
from evenhand._outputs import Output
from evenhand.ab.comparison import Comparison
from evenhand.diagnosis.check import Check
from evenhand.errors import OptionError
from evenhand.grading import Grades
from evenhand.ranking.results import Ranking
from evenhand.ranking.selection import Selection
from evenhand.words.lines import score_shares
from evenhand.words.pictures import (
    grade_rows,
    pair_bars,
    ranking_rows,
    reviewer_rows,
    score_strips,
)
from evenhand.words.selections import KINDS, facts
from evenhand.words.tables import window
from evenhand.words.text import distinct, sentences, shorten

try:
    import altair as alt
except ModuleNotFoundError as error:
    raise OptionError(NO_RENDERER) from error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.ratings import Ratings
    from evenhand.words.pictures import BarList, BarRow

Figure: TypeAlias = alt.LayerChart
WIDTH, ROW = 640, 20
# Characters of a line of a caption.
CAPTION = 105
# The least e-value of a chart, whose scale is logarithmic.
LEAST_EVIDENCE = 1e-6
# Strictest and most lenient reviewers that are drawn.
STRICTEST = 20
# Highest marks that are drawn.
MARKS = 60
UP = alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelLimit=200))
ACROSS = alt.Scale(zero=False, nice=False, padding=12)
# Colours of what is in, open and out, and of two items.
SIDES = alt.Scale(domain=["in", "open", "out"], range=[BLUE, ORANGE, GREY])


def figures_of(
    ratings: Ratings,
    result: Ranking | Comparison | Check | Grades | Selection,
    check: Check | None = None,
) -> dict[str, Figure]:
    """Draw a result.

    Args:
        ratings: The ratings.
        result: What was found from them.
        check: Of a ranking, what the ratings can support, if that was found out.

    Returns:
        Charts by name, those for which there are numbers: "ranks" of a ranking,
        "shares" of a comparison if there are few different scores, else "scores",
        "evidence" of one that was watched, "pairs" of one of several items,
        "strictness" of a check, and "marks".

    Examples:
        >>> from evenhand import Ratings, compare
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 2])
        >>> [*figures_of(ratings, compare(ratings, rng=7))]
        ['scores']
    """
    if isinstance(result, Selection):
        return _chances(result)
    if isinstance(result, Grades):
        return _marks(result)
    if isinstance(result, Comparison) and result.pairs:
        return _pairs(result)
    if isinstance(result, Comparison):
        scores = _shares(result) or _scores(ratings, result)
        return scores if result.sequential is None else _evidence(result) | scores
    charts = _ranks(result) if isinstance(result, Ranking) else {}
    check = result if isinstance(result, Check) else check
    return charts if check is None else charts | _strictness(check)


def pictures(figures: Mapping[str, Figure], folder: str) -> list[Output]:
    """Draw each chart as SVG and PNG: the files NAME.svg and NAME.png of a folder."""
    files = []
    for name, chart in figures.items():
        vector = svg(chart.to_dict())
        for suffix, content in ((".svg", vector), (".png", png_from(vector))):
            path = str(Path(folder) / f"{name}{suffix}")
            files.append(Output(path, content, makes_folder=True))
    return files


def add_title(
    name: str, layers: Sequence[alt.Chart], height: int, **facts: object
) -> dict[str, Figure]:
    """Put the words of a chart, which are in a template, to its layers."""
    title, caption, description = sentences("figures", name, facts, html=False)
    lines = textwrap.wrap(caption, CAPTION)
    heading = alt.TitleParams(title, subtitle=lines, anchor="start", frame="bounds")
    chart = alt.LayerChart(layer=[*layers], title=heading, description=description)
    return {name: chart.properties(width=WIDTH, height=height)}


def chart_of(rows: Sequence[Sequence[object]], *fields: str) -> alt.Chart:
    """Begin a chart of rows, each with the same fields."""
    return alt.Chart(pl.DataFrame(rows, fields, orient="row", strict=False))


def _intervals(
    bars: BarList, rows: Sequence[BarRow], names: Sequence[str]
) -> list[alt.Chart]:
    """Draw rows as the report does: a dot and a line from low to high beside a name."""
    # Rows of one name would be one row.
    pairs = zip(distinct(map(shorten, names)), rows, strict=True)
    points = [(name, *(row.ends or ()), row.dot, row.kind) for name, row in pairs]
    base = chart_of(points, "name", "low", "high", "value", "kind").encode(
        y=UP,
        color=alt.Color("kind:N", scale=SIDES, legend=None),
        tooltip=["name:N", "value:Q", "low:Q", "high:Q"],
    )
    across = alt.X(
        "low:Q", title=bars.caption, scale=ACROSS, axis=alt.Axis(tickMinStep=1)
    )
    lines = base.mark_rule(strokeWidth=3, opacity=0.6, strokeCap="round")
    dots = base.mark_point(filled=True, size=75, opacity=1)
    layers = [lines.encode(x=across, x2="high:Q"), dots.encode(x="value:Q")]
    if bars.line is not None:
        line = chart_of([(bars.line,)], "at").mark_rule(strokeDash=[6, 4], color=GREY)
        layers.append(line.encode(x="at:Q"))
    return layers


def _evidence(result: Comparison) -> dict[str, Figure]:
    """Draw the evidence after each look, and the line at which it settles."""
    watch = result.sequential
    if watch is None:
        return {}
    rows = [(look.n, max(look.e_value, LEAST_EVIDENCE)) for look in watch.looks]
    up = alt.Scale(type="log")
    line = chart_of(rows, "scores", "e_value").mark_line(color=BLUE)
    level = chart_of([(1 / watch.alpha,)], "e_value")
    layers = [
        line.encode(
            x=alt.X("scores:Q", title="scores"),
            y=alt.Y("e_value:Q", title="e-value", scale=up),
        ),
        level.mark_rule(strokeDash=[6, 4], color=GREY).encode(y="e_value:Q"),
    ]
    return add_title("evidence", layers, 240, watch=watch)


def _pairs(result: Comparison) -> dict[str, Figure]:
    """Draw the difference of each pair with its interval, and where there is none."""
    bars = pair_bars(result)
    layers = _intervals(bars, bars.rows, [str(row.label) for row in bars.rows])
    return add_title("pairs", layers, ROW * len(bars.rows), result=result)


def _ranks(result: Ranking) -> dict[str, Figure]:
    bars, places = ranking_rows(result), window(result)
    by_rank = sorted(bars.rows, key=lambda row: row.place)
    rows = by_rank[places.start : places.stop]
    if not all(row.ends for row in by_rank):
        return {}
    layers, height = _intervals(bars, rows, _places(rows)), ROW * len(rows)
    return add_title(
        "ranks", layers, height, result=result, cut=bars.cut, shown=len(rows)
    )


def _places(rows: Sequence[BarRow]) -> list[str]:
    """Name items behind their ranks."""
    names = []
    for row in rows:
        # A bare number after a rank would be taken for part of it.
        prefix = "item " if isinstance(row.label, int) and not row.title else ""
        names.append(f"{row.place}. {prefix}{row.label} {row.title}".strip())
    return names


def _marks(result: Grades) -> dict[str, Figure]:
    bars = grade_rows(result)
    rows = bars.rows[:MARKS]
    layers = _intervals(bars, rows, _places(rows))
    return add_title("marks", layers, ROW * len(rows), result=result, shown=len(rows))


def _chances(result: Selection) -> dict[str, Figure]:
    """Draw the chance of each item against its rank; what was not drawn is pale."""
    rows = [
        (row.rank, float(row.chance), row.group, 0.35 if row.drawn is False else 1.0)
        for row in result.rows
    ]
    groups = alt.Scale(domain=[*KINDS], range=[BLUE, ORANGE, GREY])
    across = alt.Scale(domain=[0.5, len(rows) + 0.5], nice=False)
    bars = chart_of(rows, "rank", "chance", "group", "strength").encode(
        x=alt.X("rank:Q", scale=across, axis=alt.Axis(tickMinStep=1)),
        y=alt.Y("chance:Q", axis=alt.Axis(format="%")),
        color=alt.Color("group:N", scale=groups, title=None),
        opacity=alt.Opacity("strength:Q", scale=None, legend=None),
    )
    width = max(0.8 * WIDTH / len(rows), 1)
    layer = bars.mark_bar(width=width)
    return add_title("chances", [layer], 240, result=result, **facts(result))


def _strictness(check: Check) -> dict[str, Figure]:
    bars = reviewer_rows(check)
    measured = [row for row in bars.rows if row.ends]
    if not any(row.dot for row in measured):
        return {}
    rows = measured[:STRICTEST] + measured[STRICTEST:][-STRICTEST:]
    layers = _intervals(bars, rows, [str(row.label) for row in rows])
    return add_title(
        "strictness", layers, ROW * len(rows), known=measured, shown=len(rows)
    )


def _shares(result: Comparison) -> dict[str, Figure]:
    """Draw how often each item has each score, side by side, if few scores differ."""
    levels = score_shares(result, repeated=True)
    names = distinct(map(shorten, result.items))
    rows = [
        (name, score, share, f"{100 * share:.0f}%")
        for score, shares in levels
        for name, share in zip(names, shares, strict=True)
    ]
    if not rows:
        return {}
    key = alt.Legend(title=None, orient="top", labelLimit=0)
    base = chart_of(rows, "name", "score", "share", "label").encode(
        x=alt.X("score:O", sort=None, axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("name:N", sort=None),
        y=alt.Y("share:Q", title="share of its scores", axis=alt.Axis(format="%")),
    )
    bars = base.mark_bar().encode(color=_of_two(names, key))
    layers = [bars, base.mark_text(dy=-7).encode(text="label:N")]
    return add_title("shares", layers, 220, levels=levels, items=result.items)


def _of_two(names: Sequence[str], legend: alt.Legend | None = None) -> alt.Color:
    scale = alt.Scale(domain=names, range=[BLUE, ORANGE])
    return alt.Color("name:N", scale=scale, legend=legend)


def _scores(ratings: Ratings, result: Comparison) -> dict[str, Figure]:
    """Draw each score of the two items as a dot, and their means as lines."""
    drawing = score_strips(ratings, result)
    names = distinct(map(shorten, result.items))
    if drawing is None or result.scores is None:
        return {}
    sides = [*zip(names, drawing[1], strict=True)]
    points = [(name, *dot) for name, strip in sides for dot in strip.dots]
    dots = chart_of(points, "name", "score", "turn").encode(
        x=alt.X("score:Q", scale=ACROSS),
        y=UP,
        yOffset=alt.YOffset("turn:Q", scale=alt.Scale(domain=[-50, 150])),
        color=_of_two(names),
        tooltip="score:Q",
    )
    means = chart_of([(name, strip.mean) for name, strip in sides], "name", "mean")
    lines = means.mark_tick(thickness=3, height=50, color=GREY)
    layers = [
        dots.mark_point(filled=True, size=55, opacity=0.75),
        lines.encode(x=alt.X("mean:Q", title="score"), y=UP),
    ]
    return add_title("scores", layers, 160, result=result, strips=drawing[1])
