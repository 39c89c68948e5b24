"""The figure of the ladder: which assumption about scales predicts best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from evenhand._charts import BLUE
from evenhand.desk.report.figures import (
    MIDDLE,
    Figure,
    Point,
    layered,
    marks,
    names_axis,
    rounded,
    series,
    tips,
)
from evenhand.lab.ladder import CANNOT_TELL, MEANINGS

if TYPE_CHECKING:
    from evenhand.lab.ladder import Ladder, Rung

OWN = {
    "none": "scores as they are",
    "offset": "own strictness",
    "offset and slope": "own spread",
    "monotone": "own curve",
    "order only": "no scores",
}


def ladder_figure(ladder: Ladder) -> Figure:
    """Draw how rightly each assumption predicts, and how far behind the best it is.

    Examples:
        >>> from evenhand.lab.check import check
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 2, 5, 4])
        >>> ladder_figure(check(ratings, rng=7).ladder).rows[0][:2]
        ('none', 'mean')
    """
    best = max(ladder.rungs, key=lambda rung: rung.accuracy)
    verdict = (
        "Which assumption holds cannot be told."
        if ladder.verdict == CANNOT_TELL
        else f"The verdict is “{ladder.verdict}”."
    )
    reads = (
        "Here the differences are too small or too unsure for a verdict."
        if ladder.verdict == CANNOT_TELL
        else "The verdict is the first that no other clearly beats."
    )
    meaning = "" if ladder.verdict == CANNOT_TELL else f" {MEANINGS[ladder.verdict]}"
    return Figure(
        name="ladder",
        title="Which assumption about scales predicts best",
        caption=(
            "From above, each row assumes less about how reviewers use their scale, "
            "and predicts which of two items a left-out reviewer put higher; 50 % is "
            "guessing. The line is one standard error of the distance to the best "
            f"(dashed). {reads} It describes these ratings and does not prove an "
            "assumption."
        ),
        alt=(
            f"{verdict}{meaning} Best is “{best.assumption}” with "
            f"{100 * best.accuracy:.1f} % predicted rightly."
        ),
        chart=_ladder_chart(ladder, best),
        header=("assumption", "method", "rightly", "se", "behind best", "paired se"),
        rows=tuple(
            (
                rung.assumption,
                rung.method,
                rung.accuracy,
                rung.se,
                rung.behind,
                rung.behind_se,
            )
            for rung in ladder.rungs
        ),
    )


def _ladder_chart(ladder: Ladder, best: Rung) -> alt.LayerChart:
    points: list[Point] = [
        {
            "name": f"{rung.assumption}: {OWN[rung.assumption]}",
            "assumes": rung.assumption,
            "method": rung.method,
            "right": rounded(rung.accuracy),
            "low": rounded(max(rung.accuracy - rung.behind_se, 0.0)),
            "high": rounded(min(rung.accuracy + rung.behind_se, 1.0)),
            "told": f"{100 * rung.accuracy:.1f} %",
            "behind": f"{100 * rung.behind:.1f} ± {100 * rung.behind_se:.1f} points",
            "word": "verdict" if rung.assumption == ladder.verdict else "other",
        }
        for rung in ladder.rungs
    ]
    layers = _layers(verdict=ladder.verdict != CANNOT_TELL)
    data: dict[str, list[Point]] = {
        "ladder": points,
        "best": [{"right": rounded(best.accuracy)}],
    }
    return layered(layers, data, height=38 * len(points))


def _layers(*, verdict: bool) -> list[alt.Chart]:
    y = names_axis()
    x = alt.X(
        "low:Q",
        title="comparisons predicted rightly",
        axis=alt.Axis(format="%", tickCount=5, labelOverlap=True),
        scale=alt.Scale(zero=False, padding=10),
    )
    looks = {"verdict": (BLUE, "diamond"), "other": (MIDDLE, "circle")}
    colour, shape = series("word", looks, looks, legend=verdict)
    hover = tips(
        assumes="assumes",
        method="method",
        told="predicts rightly",
        behind="behind best",
    )
    base = marks("ladder")
    return [
        marks("best")
        .mark_rule(color=MIDDLE, strokeDash=[5, 4], strokeWidth=1.5, opacity=0.6)
        .encode(alt.X("right:Q")),
        base.mark_rule(strokeWidth=2, opacity=0.6)
        .encode(y, x, alt.X2("high:Q"), colour)
        .encode(tooltip=hover),
        base.mark_point(filled=True, size=90, opacity=1).encode(
            y, alt.X("right:Q"), colour, shape, tooltip=hover
        ),
        base.mark_text(dy=-11, fontSize=11).encode(
            y, alt.X("right:Q"), alt.Text("told:N")
        ),
    ]
