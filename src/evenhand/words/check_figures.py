"""Figures of a check: reviewers' scales and strictness."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._charts import BLUE, RED, quantity, word
from evenhand.diagnosis.reviewers import AGAINST, NOT_ENOUGH, UNRELATED
from evenhand.words.figures import (
    FEW_TICKS,
    MIDDLE,
    ROW,
    Figure,
    fields,
    intervals,
    layered,
    marks,
    points,
    series,
    tips,
    unique,
    worded,
)
from evenhand.words.text import figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand._charts import Spec
    from evenhand.diagnosis.check import Check
    from evenhand.diagnosis.reviewers import Reviewer
    from evenhand.ratings import Ratings
    from evenhand.words.figures import Shown

    Scores = NDArray[np.float64]

REVIEWERS, POINTS = 40, 2000
WORD = "in words"
# What is called clear is so many standard errors from the middle.
SURE = 2.0
LARGEST = float(np.finfo(np.float64).max)
STRICT = {
    "strict": (BLUE, "triangle-down"),
    "lenient": (RED, "triangle-up"),
    "typical": (MIDDLE, "circle"),
    NOT_ENOUGH: (MIDDLE, "cross"),
    AGAINST: (MIDDLE, "diamond"),
    UNRELATED: (MIDDLE, "diamond"),
}


def check_figures(ratings: Ratings, check: Check) -> list[Figure]:
    """Draw what a check found.

    Args:
        ratings: What was checked.
        check: What was found.

    Returns:
        "scales" and "strictness", if there are numbers for them and something to see.

    Examples:
        >>> from evenhand.diagnosis.check import check
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 2, 5, 4])
        >>> [one.name for one in check_figures(ratings, check(ratings, rng=7))]
        ['scales', 'strictness']
    """
    found = [_scales(ratings.public, check), _strictness(check)]
    return [one for one in found if one is not None]


def _part(known: int) -> str:
    if known <= REVIEWERS:
        return ""
    return f" The {REVIEWERS} of {known:,} reviewers who stand out most are shown."


def _scales(ratings: Ratings, check: Check) -> Figure | None:
    """Draw each reviewer's scores against those of the others for the same items."""
    if ratings.kind != "scores" or ratings.n_reviewers == 1:
        return None
    others = consensus(ratings, check.reviewers)
    usable = np.flatnonzero(np.isfinite(others))
    if len(usable) == 0 or ratings.scores.min() == ratings.scores.max():
        return None
    people, starts, sizes = np.unique(
        ratings.reviewer_codes[usable], return_index=True, return_counts=True
    )
    known = [check.reviewers[code] for code in people]

    def means(values: Scores) -> Scores:
        # Shares, so that large scores do not leave the floats.
        return np.add.reduceat(values[usable] / np.repeat(sizes, sizes), starts)

    given, heard = means(ratings.scores), means(others)
    # Those are shown whose offset is surest to be far from 0.
    clear = [abs(one.offset or 0.0) - SURE * (one.offset_se or 0.0) for one in known]
    shown = np.sort(np.argsort(np.negative(clear), kind="stable")[:REVIEWERS])
    most = int(np.argmax(np.abs(given / 2 - heard / 2)))
    own = np.split(usable, starts[1:])
    lines = {
        int(people[place]): (own[place], given[place], heard[place]) for place in shown
    }
    return worded(
        "scales",
        _scales_chart(ratings, check, others, lines),
        number=len(people),
        part=_part(len(people)),
        who=known[most].reviewer,
        gave=given[most],
        others=heard[most],
    )


def consensus(ratings: Ratings, people: Sequence[Reviewer]) -> Scores:
    """Return for each rating what the other reviewers say of the item.

    That is the mean of their scores, less their offsets; NaN if there are no others.
    Reviewers without an offset, whose order does not agree, are no others.

    Examples:
        >>> from evenhand.diagnosis.reviewers import describe, fit_model
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "b", "b"], ["x", "x", "y"], [1.0, 2.0, 5.0])
        >>> people = describe(ratings, fit_model(ratings))
        >>> consensus(ratings, people).tolist()[2]
        nan
    """
    # In a unit in which sums cannot leave the floats.
    unit = float(np.abs(ratings.scores).max()) or 1.0
    offsets = np.array([one.offset or 0.0 for one in people]) / unit
    heard = np.array([one.agreement not in (AGAINST, UNRELATED) for one in people])
    counts = heard[ratings.reviewer_codes].astype(np.float64)
    level = counts * (ratings.scores / unit - offsets[ratings.reviewer_codes])

    def of_others(values: Scores) -> Scores:
        sums = np.bincount(ratings.item_codes, values, ratings.n_items)
        return np.asarray(sums[ratings.item_codes] - values)

    left, sums = of_others(counts), of_others(level)
    found = np.divide(sums, left, where=left > 0, out=np.full(len(left), np.nan))
    with np.errstate(over="ignore"):
        return np.asarray(np.clip(found * unit, -LARGEST, LARGEST))


def _scales_chart(
    ratings: Ratings,
    check: Check,
    others: Scores,
    lines: Mapping[int, tuple[NDArray[np.int64], float, float]],
) -> Spec:
    rows = np.sort(np.concatenate([own for own, *_ in lines.values()]))
    # Every so-many-th rating, so that no reviewer is left out.
    rows = rows[:: -(-len(rows) // POINTS)]
    codes = ratings.reviewer_codes[rows].tolist()
    # A reviewer's line goes through their mean with their slope.
    ends = [
        (code, end, given + (1.0 if slope is None else slope) * (end - heard))
        for code, (own, given, heard) in lines.items()
        for slope in [check.reviewers[code].slope]
        if check.reviewers[code].agreement not in (AGAINST, UNRELATED)
        for end in (others[own].min(), others[own].max())
    ]
    seen, scores = others[np.isfinite(others)], ratings.scores
    same = [max(seen.min(), scores.min()), min(seen.max(), scores.max())]
    items = [ratings.item_labels[item] for item in ratings.item_codes[rows]]
    places = {"item": items, "by the others": others[rows], "score": scores[rows]}
    people, first, second = zip(*ends, strict=True) if ends else ((), (), ())
    line = {"by the others": first, "score": second}
    data = {
        "points": points({**_people(check, codes), **places}),
        "lines": points({**_people(check, people), **line}),
        "same": points({"by the others": same, "score": same}),
    }
    words = {check.reviewers[code].strictness for code in codes}
    return layered(_scale_layers(words), data, height=330)


def _people(check: Check, codes: Sequence[int]) -> dict[str, Sequence[object]]:
    who = [check.reviewers[code] for code in codes]
    return {"code": codes, **fields(who, reviewer="reviewer", strictness=WORD)}


def _scale_layers(words: set[str]) -> list[Spec]:
    axis = {"scale": {"zero": False}, "axis": FEW_TICKS}
    place = {
        "x": quantity("by the others", title="score by the others", **axis),
        "y": quantity("score", title="score by the reviewer", **axis),
    }
    looks = series(WORD, STRICT, words)
    dashes = {"domain": list(STRICT), "range": [[1, 0], [8, 3]] + [[1, 0]] * 3}
    line = {
        **place,
        "color": looks["color"],
        "strokeDash": word(WORD, legend=None, scale=dashes),
        "detail": word("code"),
        "tooltip": tips("reviewer", WORD),
        "opacity": {"value": 0.65},
    }
    hover = tips("reviewer", "item", "score", "by the others")
    dot = {**place, **looks, "tooltip": hover}
    return [
        marks("same", "line", place, color=MIDDLE, strokeDash=[2, 3]),
        marks("lines", "line", line, strokeWidth=1.6),
        marks("points", "point", dot, filled=True, size=30, opacity=0.75),
    ]


def _strictness(check: Check) -> Figure | None:
    """Draw the strictness of reviewers, of those who are furthest out beyond doubt."""
    known = sorted(
        (one for one in check.reviewers if one.offset is not None),
        key=lambda one: (one.offset or 0.0, str(one.reviewer)),
    )
    values = np.array([one.offset for one in known], dtype=np.float64)
    if not values.any():
        return None
    reach = SURE * np.array([one.offset_se or 0.0 for one in known])
    order = np.argsort(reach - np.abs(values), kind="stable")
    chosen = np.sort(order[:REVIEWERS])
    low, value, high = ((values + way * reach)[chosen] for way in (-1, 0, 1))
    rows = [known[place] for place in chosen]
    shown = fields(rows, reviewer="reviewer", ratings="ratings", strictness=WORD)
    told = [
        f"{figure(one)} ± {figure(error)}"
        for one, error in zip(value, reach[chosen] / SURE, strict=True)
    ]
    ends: Shown = {"value": value, "low": low, "high": high, "estimate ± se": told}
    data = points({"name": unique([one.reviewer for one in rows]), **shown, **ends})
    hover = ("reviewer", "estimate ± se", WORD, "ratings")
    title = "points above or below others"
    x = quantity("low", title=title, scale={"zero": False}, axis=FEW_TICKS)
    telling = series(WORD, STRICT, shown[WORD])
    layers = [
        marks("middle", "rule", {"x": quantity("at")}, color=MIDDLE, strokeWidth=1),
        *intervals("reviewers", "value", x, "high", hover, telling),
    ]
    sets = {"reviewers": data, "middle": points({"at": [0.0]})}
    return worded(
        "strictness",
        layered(layers, sets, height=ROW * len(data)),
        known=known,
        words=[one.strictness for one in known],
        part=_part(len(known)),
    )
