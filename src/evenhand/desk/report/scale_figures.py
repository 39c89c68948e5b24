"""The figure of reviewers' scales: their scores against those of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import numpy as np

from evenhand._charts import BLUE, RED
from evenhand.desk.report.figures import (
    LONG,
    MIDDLE,
    Figure,
    Point,
    layered,
    marks,
    rounded,
    series,
    short,
    tips,
    told,
    unique,
)
from evenhand.errors import counted
from evenhand.lab._check_reviewers import DISAGREES, NOT_ENOUGH

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.lab.check import Check
    from evenhand.ratings import Ratings

    Scores = NDArray[np.float64]
    Codes = NDArray[np.int64]

REVIEWERS, POINTS, HEIGHT = 40, 2000, 330
SELECTED = "reviewer"
LARGEST = float(np.finfo(np.float64).max)
LOOKS = {
    "strict": (BLUE, "triangle-down"),
    "lenient": (RED, "triangle-up"),
    "typical": (MIDDLE, "circle"),
    NOT_ENOUGH: (MIDDLE, "cross"),
    DISAGREES: (MIDDLE, "diamond"),
}


def scales_figure(ratings: Ratings, check: Check) -> Figure | None:
    """Draw each reviewer's scores against those of the others for the same items.

    Args:
        ratings: The scores.
        check: What was found about the reviewers.

    Returns:
        The figure; None without scores, or if no two reviewers share an item.

    Examples:
        >>> from evenhand.lab.check import check
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 2, 5, 4])
        >>> scales_figure(ratings, check(ratings, rng=7)).rows[0][:3]
        ('a', 2, 1.5)
    """
    if ratings.kind != "scores" or ratings.n_reviewers == 1:
        return None
    others = consensus(ratings, check)
    usable = np.flatnonzero(np.isfinite(others))
    if len(usable) == 0 or ratings.scores.min() == ratings.scores.max():
        return None
    people = _chosen(ratings, check, usable)
    rows = _rows(ratings, check, others, usable)
    part = (
        ""
        if len(people) == len(rows)
        else f" The {len(people)} of {len(rows):,} reviewers who stand out most are "
        "shown."
    )
    apart = [abs(float(row[2] or 0) - float(row[3] or 0)) for row in rows]
    most = rows[int(np.argmax(apart))]
    return Figure(
        name="scales",
        title="Each reviewer's scale",
        caption=(
            "A dot is a score, against the mean of the other reviewers' scores of the "
            "same item with their strictness taken out. A reviewer's line lies below "
            "the dotted one if they are strict, above it if lenient, and is steep if "
            "they spread scores widely. It shows how scales differ, not who is right."
            + part
        ),
        alt=(
            f"Scores of {counted(len(rows), 'reviewer')} against the others'. Furthest "
            f"from the others is {short(most[0])}, who gave {told(_number(most[2]))} "
            f"on average to items that others gave {told(_number(most[3]))}."
        ),
        chart=_chart(ratings, check, others, people),
        header=("reviewer", "shared items", "mean score", "others' mean", "spread"),
        rows=rows,
    )


def consensus(ratings: Ratings, check: Check) -> Scores:
    """Return for each rating what the other reviewers say of the item.

    That is the mean of their scores, less their offsets; NaN if there are no others.
    Reviewers without an offset, whose order does not agree, are no others.

    Examples:
        >>> from evenhand.lab.check import check
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "b", "b"], ["x", "x", "y"], [1.0, 2.0, 5.0])
        >>> consensus(ratings, check(ratings, rng=7)).tolist()[2]
        nan
    """
    # In a unit in which sums cannot leave the floats.
    unit = float(np.abs(ratings.scores).max()) or 1.0
    offsets = np.array([one.offset or 0.0 for one in check.reviewers]) / unit
    heard = np.array([one.strictness != DISAGREES for one in check.reviewers])
    counted = heard[ratings.reviewer_codes].astype(np.float64)
    level = counted * (ratings.scores / unit - offsets[ratings.reviewer_codes])
    sums = np.bincount(ratings.item_codes, level, ratings.n_items)
    counts = np.bincount(ratings.item_codes, counted, ratings.n_items)
    left = counts[ratings.item_codes] - counted
    found = np.full(ratings.n_ratings, np.nan)
    seen = left > 0
    found[seen] = (sums[ratings.item_codes] - level)[seen] / left[seen]
    with np.errstate(over="ignore"):
        return np.clip(found * unit, -LARGEST, LARGEST)


def _chosen(ratings: Ratings, check: Check, usable: Codes) -> Codes:
    """Choose the reviewers to show: those whose offset is surest to be far from 0."""
    present = np.unique(ratings.reviewer_codes[usable])
    clear = np.array(
        [
            abs(check.reviewers[code].offset or 0.0)
            - 2 * (check.reviewers[code].offset_se or 0.0)
            for code in present.tolist()
        ]
    )
    return np.asarray(np.sort(present[np.lexsort((present, -clear))][:REVIEWERS]))


def _rows(
    ratings: Ratings, check: Check, others: Scores, usable: Codes
) -> tuple[tuple[str | int | float | None, ...], ...]:
    found = []
    for code, rows in _by_reviewer(ratings, usable):
        found.append(
            (
                ratings.reviewer_labels[code],
                len(rows),
                _mean(ratings.scores[rows]),
                _mean(others[rows]),
                check.reviewers[code].slope,
            )
        )
    return tuple(found)


def _by_reviewer(ratings: Ratings, usable: Codes) -> list[tuple[int, Codes]]:
    people, starts = np.unique(ratings.reviewer_codes[usable], return_index=True)
    return list(zip(people.tolist(), np.split(usable, starts[1:]), strict=True))


def _mean(values: Scores) -> float:
    return float((values / len(values)).sum())


def _number(value: str | float | None) -> float | None:
    return None if isinstance(value, str) else value


def _chart(
    ratings: Ratings, check: Check, others: Scores, people: Codes
) -> alt.LayerChart:
    usable = np.flatnonzero(
        np.isfinite(others) & np.isin(ratings.reviewer_codes, people)
    )
    # Every so-many-th rating, so that no reviewer is left out.
    kept = usable[:: -(-len(usable) // POINTS)]
    names = dict(
        zip(
            people.tolist(),
            unique([ratings.reviewer_labels[code] for code in people.tolist()]),
            strict=True,
        )
    )
    points: list[Point] = [
        {
            "code": int(code),
            "who": short(ratings.reviewer_labels[code], LONG),
            "item": short(ratings.item_labels[item], LONG),
            "x": rounded(float(others[row])),
            "y": rounded(float(ratings.scores[row])),
            "word": check.reviewers[code].strictness,
        }
        for row, code, item in zip(
            kept.tolist(),
            ratings.reviewer_codes[kept].tolist(),
            ratings.item_codes[kept].tolist(),
            strict=True,
        )
    ]
    ends = [
        end
        for code, rows in _by_reviewer(ratings, usable)
        if check.reviewers[code].strictness != DISAGREES
        for end in _line(ratings, check, code, others[rows], ratings.scores[rows])
    ]
    data = {"points": points, "lines": ends, "same": _diagonal(others, ratings.scores)}
    return _layers(data, names)


def _line(
    ratings: Ratings, check: Check, code: int, x: Scores, y: Scores
) -> list[Point]:
    """Return the ends of a reviewer's line, through the mean with their slope."""
    one = check.reviewers[code]
    slope = 1.0 if one.slope is None else one.slope
    centre, height = _mean(x), _mean(y)
    return [
        {
            "code": code,
            "who": short(ratings.reviewer_labels[code], LONG),
            "word": one.strictness,
            "x": rounded(end),
            "y": rounded(height + slope * (end - centre)),
        }
        for end in (float(x.min()), float(x.max()))
    ]


def _diagonal(x: Scores, y: Scores) -> list[Point]:
    seen = x[np.isfinite(x)]
    low, high = max(seen.min(), y.min()), min(seen.max(), y.max())
    return [{"x": rounded(float(end)), "y": rounded(float(end))} for end in (low, high)]


def _layers(data: dict[str, list[Point]], names: dict[int, str]) -> alt.LayerChart:
    chosen = alt.selection_point(
        name=SELECTED,
        fields=["code"],
        bind=alt.binding_select(
            options=[None, *names], labels=["all", *names.values()], name="Reviewer "
        ),
    )
    scale = alt.Scale(zero=False)
    ticks = alt.Axis(tickCount=5, labelOverlap=True)
    x = alt.X("x:Q", title="score by the others", scale=scale, axis=ticks)
    y = alt.Y("y:Q", title="score by the reviewer", scale=scale, axis=ticks)
    colour, shape = series("word", LOOKS, [str(one["word"]) for one in data["points"]])
    dash = alt.StrokeDash(
        field="word",
        type="nominal",
        legend=None,
        scale=alt.Scale(
            domain=list(LOOKS), range=[[1, 0], [8, 3]] + [[1, 0]] * (len(LOOKS) - 2)
        ),
    )
    hover = tips(who="reviewer", item="item", y="score", x="by the others")
    layers = [
        marks("same").mark_line(color=MIDDLE, strokeDash=[2, 3]).encode(x, y),
        marks("lines")
        .mark_line(strokeWidth=1.6)
        .encode(x, y, colour, dash, alt.Detail("code:N"))
        .encode(tooltip=tips(who="reviewer", word="in words"))
        .encode(opacity=alt.condition(chosen, alt.value(0.65), alt.value(0.07))),
        marks("points")
        .mark_point(filled=True, size=30)
        .encode(x, y, colour, shape, tooltip=hover)
        .encode(opacity=alt.condition(chosen, alt.value(0.75), alt.value(0.06)))
        .properties(name="scores")
        .add_params(chosen),
    ]
    return layered(layers, data, height=HEIGHT)
