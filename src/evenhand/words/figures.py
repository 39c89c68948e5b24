"""Charts for slides and notebooks: ranks, strictness, the scores of two items.

The report draws its own pictures. Labels that come from data are values of fixed fields
and nothing else: never part of an expression, of a field name or of an address.
"""

from __future__ import annotations

import math
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import altair as alt
import numpy as np

from evenhand._charts import BLUE, GREY, ORANGE, RED, png_from, svg
from evenhand._outputs import Output
from evenhand.ab.comparison import Comparison
from evenhand.diagnosis.check import Check
from evenhand.diagnosis.reviewers import SURE
from evenhand.ranking.results import Ranking
from evenhand.words.lines import score_shares
from evenhand.words.pictures import GOLDEN, used
from evenhand.words.tables import window
from evenhand.words.text import distinct, sentences, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evenhand.claims import Label
    from evenhand.grading import Grades
    from evenhand.ranking.results import RankedItem
    from evenhand.ratings import Ratings

    Cell = str | float | None
    # Name, low end, value, high end and a word.
    Interval = tuple[str, float | None, float | None, float | None, str | None]

Figure: TypeAlias = alt.LayerChart
WIDTH, ROW = 640, 20
# Characters of a line of a caption.
CAPTION = 105
REVIEWERS, POINTS = 40, 1000
UP = alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelLimit=200))
# Colour and shape of what is told apart; the rest is grey and round.
LOOKS = {
    "in": (BLUE, "circle"),
    "open": (ORANGE, "diamond"),
    "out": (GREY, "square"),
    "strict": (BLUE, "triangle-down"),
    "lenient": (RED, "triangle-up"),
}


def figures_of(
    ratings: Ratings,
    result: Ranking | Comparison | Check | Grades,
    check: Check | None = None,
) -> dict[str, Figure]:
    """Draw a ranking, a comparison or a check.

    Args:
        ratings: The ratings.
        result: What was found from them.
        check: Of a ranking, what the ratings can support, if that was found out.

    Returns:
        Charts by name, those for which there are numbers: "ranks" of a ranking,
        "shares" of a comparison if there are few different scores, else "scores", and
        "strictness" of a check.

    Examples:
        >>> from evenhand import Ratings, compare
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 2])
        >>> [*figures_of(ratings, compare(ratings, rng=7))]
        ['scores']
    """
    if isinstance(result, Comparison):
        return _shares(result) or _scores(ratings.public, result)
    found = {}
    if isinstance(result, Ranking):
        found = _ranks(result)
    elif isinstance(result, Check):
        check = result
    return found if check is None else found | _strictness(check)


def pictures(figures: Mapping[str, Figure], folder: str) -> list[Output]:
    """Draw each chart as SVG and PNG: the files NAME.svg and NAME.png of a folder."""
    files = []
    for name, chart in figures.items():
        drawn = svg(chart.to_dict())
        for suffix, content in ((".svg", drawn), (".png", png_from(drawn))):
            path = str(Path(folder) / f"{name}{suffix}")
            files.append(Output(path, content, makes_folder=True))
    return files


def _titled(
    name: str, layers: Sequence[alt.Chart], height: int, **facts: object
) -> dict[str, Figure]:
    """Put the words of a chart, which are in a template, to its layers."""
    title, caption, description = sentences("figures", name, facts, html=False)
    lines = textwrap.wrap(caption, CAPTION)
    heading = alt.TitleParams(title, subtitle=lines, anchor="start", frame="bounds")
    return {
        name: alt.LayerChart(layer=[*layers]).properties(
            title=heading, description=description, width=WIDTH, height=height
        )
    }


def _drawn(rows: Iterable[Sequence[Cell]], *fields: str) -> alt.Chart:
    """Begin a chart of rows, each with the same fields; what is not finite is null."""
    plain = (
        [None if isinstance(it, float) and not math.isfinite(it) else it for it in row]
        for row in rows
    )
    points = [dict(zip(fields, row, strict=True)) for row in plain]
    return alt.Chart(alt.InlineData(values=points))


def _intervals(rows: Sequence[Interval], title: str, line: float) -> list[alt.Chart]:
    """Draw a dot and a line from low to high beside each name, coloured by a word."""
    words = [*dict.fromkeys(word or "" for *_, word in rows)]
    looks = [LOOKS.get(word, (GREY, "circle")) for word in words]
    key = alt.Legend(title=None, orient="top", columns=4, labelLimit=0)
    legend = None if words == [""] else key
    colours = alt.Scale(domain=words, range=[colour for colour, _ in looks])
    shapes = alt.Scale(domain=words, range=[shape for _, shape in looks])
    scale = alt.Scale(zero=False, nice=False, padding=12)
    across = alt.X("low:Q", title=title, scale=scale, axis=alt.Axis(tickMinStep=1))
    # Rows of one name would be one row, and a word that is null has no colour.
    names = distinct(shortened(name) for name, *_ in rows)
    given = zip(names, rows, strict=True)
    named = [(name, *ends, word or "") for name, (_, *ends, word) in given]
    base = _drawn(named, "name", "low", "value", "high", "word").encode(
        y=UP,
        color=alt.Color("word:N", scale=colours, legend=legend),
        tooltip=["name:N", "value:Q", "low:Q", "high:Q"],
    )
    bars = base.mark_rule(strokeWidth=3, opacity=0.6, strokeCap="round")
    dots = base.mark_point(filled=True, size=75, opacity=1)
    cut = _drawn([(line,)], "at").mark_rule(strokeDash=[6, 4], color=GREY)
    shape = alt.Shape("word:N", scale=shapes, legend=legend)
    return [
        bars.encode(x=across, x2="high:Q"),
        dots.encode(x="value:Q", shape=shape),
        cut.encode(x="at:Q"),
    ]


def _ranks(result: Ranking) -> dict[str, Figure]:
    sure, rows, top = result.uncertainty, result.items, result.top
    shown = rows[window(result).start : window(result).stop]
    drawn = [
        (_placed(row, result.titles), row.rank_low, row.rank, row.rank_high, row.side)
        for row in shown
    ]
    if sure is None or any(row.rank_low is None for row in rows):
        return {}
    cut = None if top is None or top.k >= len(rows) else top.k
    layers = _intervals(drawn, "rank, 1 is best", (cut or 0) + 0.5)
    return _titled(
        "ranks",
        layers if cut else layers[:2],
        ROW * len(shown),
        sure=sure,
        rows=rows,
        cut=cut,
        groups=len({row.bucket for row in rows}),
        crossing=0 if top is None else len(top.open),
        shown=len(shown),
    )


def _placed(row: RankedItem, titles: Mapping[Label, str]) -> str:
    """Name an item on an axis, after its rank."""
    if row.item in titles:
        return f"{row.rank}. {row.item} {titles[row.item]}"
    # A bare number after a rank would be taken for part of it.
    return f"{row.rank}. {'item ' if isinstance(row.item, int) else ''}{row.item}"


def _strictness(check: Check) -> dict[str, Figure]:
    """Draw the strictness of reviewers, of those who are furthest out beyond doubt."""
    known = sorted(
        (one for one in check.reviewers if one.offset is not None),
        key=lambda one: (one.offset or 0.0, str(one.reviewer)),
    )
    offsets = np.array([one.offset for one in known], dtype=np.float64)
    if not offsets.any():
        return {}
    reach = SURE * np.array([one.offset_se or 0.0 for one in known])
    chosen = np.sort(np.argsort(reach - abs(offsets), kind="stable")[:REVIEWERS])
    ends = ((offsets + way * reach)[chosen].tolist() for way in (-1, 0, 1))
    names = [str(known[place].reviewer) for place in chosen]
    words = [one.strictness for one in known]
    drawn = [*zip(names, *ends, (words[place] for place in chosen), strict=True)]
    return _titled(
        "strictness",
        _intervals(drawn, "points above or below others", 0.0),
        ROW * len(drawn),
        known=known,
        words=words,
        shown=len(drawn),
    )


def _shares(result: Comparison) -> dict[str, Figure]:
    """Draw how often each item has each score, side by side."""
    levels, names = (
        score_shares(result, repeated=True),
        distinct(map(shortened, result.items)),
    )
    if not levels:
        return {}
    rows = [
        (name, score, share, f"{100 * share:.0f} %")
        for score, shares in levels
        for name, share in zip(names, shares, strict=True)
    ]
    base = _drawn(rows, "name", "score", "share", "told").encode(
        x=alt.X("score:O", sort=None, axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("name:N", sort=None),
        y=alt.Y("share:Q", title="share of its scores", axis=alt.Axis(format="%")),
    )
    key = alt.Legend(title=None, orient="top", labelLimit=0)
    scale = alt.Scale(domain=names, range=[BLUE, ORANGE])
    bars = base.mark_bar().encode(color=alt.Color("name:N", scale=scale, legend=key))
    texts = base.mark_text(dy=-7).encode(text="told:N")
    return _titled("shares", [bars, texts], 220, levels=levels, items=result.items)


def _scores(ratings: Ratings, result: Comparison) -> dict[str, Figure]:
    """Draw each score of the two items as a dot, and their means as lines."""
    sides = used(ratings, result)
    if ratings.kind != "scores" or result.scores is None or min(map(len, sides)) == 0:
        return {}
    names, means, n = (
        distinct(map(shortened, result.items)),
        result.scores.means,
        result.scores.n,
    )
    dots = [
        (name, score, place * GOLDEN % 1)
        for name, rows in zip(names, sides, strict=True)
        for place, score in enumerate(
            ratings.scores[rows[:: -(-len(rows) // POINTS)]].tolist()
        )
    ]
    scale = alt.Scale(domain=names, range=[BLUE, ORANGE])
    drawn = _drawn(dots, "name", "score", "turn").encode(
        x=alt.X("score:Q", scale=alt.Scale(zero=False, nice=False, padding=12)),
        y=UP,
        yOffset=alt.YOffset("turn:Q", scale=alt.Scale(domain=[-0.5, 1.5])),
        color=alt.Color("name:N", scale=scale, legend=None),
        tooltip="score:Q",
    )
    lines = _drawn(zip(names, means, strict=True), "name", "mean")
    layers = [
        drawn.mark_point(filled=True, size=55, opacity=0.75),
        lines.mark_tick(thickness=3, height=50, color=GREY).encode(
            x=alt.X("mean:Q", title="score"), y=UP
        ),
    ]
    told = [*zip(result.items, n, means, strict=True)]
    part = POINTS if max(n) > POINTS else 0
    return _titled("scores", layers, 160, sides=told, part=part)
