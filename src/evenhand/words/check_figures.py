"""Figures of a check: scales, strictness, contradictions, the ladder and the load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._charts import BLUE, ORANGE, RED, quantity, word
from evenhand.diagnosis.contradictions import find_contradictions, pairs_within
from evenhand.diagnosis.ladder import CANNOT_TELL, MEANINGS
from evenhand.diagnosis.reviewers import AGAINST, NOT_ENOUGH, UNRELATED
from evenhand.posets.graph import comparisons
from evenhand.randomness import stream
from evenhand.words.figures import (
    FEW_TICKS,
    MIDDLE,
    ROW,
    Figure,
    fields,
    histogram,
    intervals,
    layered,
    marks,
    names_axis,
    points,
    series,
    taken,
    tips,
    unique,
    worded,
)
from evenhand.words.text import figure, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand._charts import Spec
    from evenhand.diagnosis.check import Check
    from evenhand.diagnosis.ladder import Ladder
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
WIDE = {
    "narrow": (BLUE, "square"),
    "wide": (RED, "diamond"),
    "typical": (MIDDLE, "circle"),
    NOT_ENOUGH: (MIDDLE, "cross"),
}
PAIRS = 30
OWN = {
    "none": "scores as they are",
    "offset": "own strictness",
    "offset and slope": "own spread",
    "monotone": "own curve",
    "order only": "no scores",
}


def check_figures(ratings: Ratings, check: Check) -> list[Figure]:
    """Draw what a check found.

    Args:
        ratings: What was checked.
        check: What was found.

    Returns:
        "scales", "strictness", "spread", "contradictions", "ladder", "load" and
        "reviews", those that there are numbers for and something to see in.

    Examples:
        >>> from evenhand.diagnosis.check import check
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 2, 5, 4])
        >>> [one.name for one in check_figures(ratings, check(ratings, rng=7))]
        ['scales', 'strictness', 'contradictions', 'ladder']
    """
    offset = ("offset", "strictness", STRICT, "points above or below others", 0.0)
    slope = ("slope", "spread", WIDE, "spread of scores, 1 is usual", 1.0)
    found = [
        _scales(ratings.public, check),
        _effects(check, *offset),
        _effects(check, *slope),
        _contradictions(ratings, check),
        None if check.ladder is None else ladder_figure(check.ladder),
        # Every comparison counts as a reviewer of two items.
        None if check.kind == "comparisons" else _spread(check, "load", "reviewer"),
        _spread(check, "reviews", "item"),
    ]
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
        {
            **fields(known, reviewer="reviewer"),
            "shared items": sizes.tolist(),
            "mean score": given.tolist(),
            "others' mean": heard.tolist(),
            **fields(known, slope="spread"),
        },
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
    chart = layered(_scale_layers(words), data, height=330)
    labels = unique([ratings.reviewer_labels[code] for code in lines])
    bind = {"input": "select", "name": "Reviewer ", "options": [None, *lines]}
    choice = {
        "name": "reviewer",
        "select": {"type": "point", "fields": ["code"]},
        "bind": {**bind, "labels": ["all", *labels]},
        "views": ["scores"],
    }
    return {**chart, "params": [choice]}


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
        "opacity": _if_chosen(0.65, 0.07),
    }
    hover = tips("reviewer", "item", "score", "by the others")
    dot = {**place, **looks, "tooltip": hover, "opacity": _if_chosen(0.75, 0.06)}
    scores = marks("points", "point", dot, filled=True, size=30)
    return [
        marks("same", "line", place, color=MIDDLE, strokeDash=[2, 3]),
        marks("lines", "line", line, strokeWidth=1.6),
        {**scores, "name": "scores"},
    ]


def _if_chosen(then: float, otherwise: float) -> Spec:
    return {"condition": {"param": "reviewer", "value": then}, "value": otherwise}


def _effects(
    check: Check,
    field: str,
    name: str,
    looks: Mapping[str, tuple[str, str]],
    title: str,
    middle: float,
) -> Figure | None:
    """Draw an effect of each reviewer, of those who are furthest out beyond doubt."""
    known = sorted(
        (one for one in check.reviewers if getattr(one, field) is not None),
        key=lambda one: (getattr(one, field), str(one.reviewer)),
    )
    values = np.array([getattr(one, field) for one in known])
    words = [getattr(one, name) for one in known]
    # Slopes are given as 1, not left out, where there is not enough to say.
    if {*words} <= {NOT_ENOUGH} if middle else not values.any():
        return None
    reach = SURE * np.array([getattr(one, f"{field}_se") or 0.0 for one in known])
    order = np.argsort(reach - np.abs(values - middle), kind="stable")
    chosen = np.sort(order[:REVIEWERS])
    low, value, high = ((values + way * reach)[chosen] for way in (-1, 0, 1))
    numbers = fields(known, reviewer="reviewer", ratings="ratings")
    numbers |= fields(known, **{field: "spread" if middle else "offset"})
    numbers |= fields(known, **{f"{field}_se": "standard error", name: WORD})
    shown = taken(numbers, chosen)
    told = [
        f"{figure(one)} ± {figure(error)}"
        for one, error in zip(value, reach[chosen] / SURE, strict=True)
    ]
    ends: Shown = {"value": value, "low": low, "high": high, "estimate ± se": told}
    data = points(
        {"name": unique([known[place].reviewer for place in chosen]), **shown, **ends}
    )
    hover = ("reviewer", "estimate ± se", WORD, "ratings")
    x = quantity("low", title=title, scale={"zero": False}, axis=FEW_TICKS)
    telling = series(WORD, looks, shown[WORD])
    layers = [
        marks("middle", "rule", {"x": quantity("at")}, color=MIDDLE, strokeWidth=1),
        *intervals("reviewers", "value", x, "high", hover, telling),
    ]
    sets = {"reviewers": data, "middle": points({"at": [middle]})}
    return worded(
        name,
        layered(layers, sets, height=ROW * len(data)),
        numbers,
        known=known,
        words=words,
        part=_part(len(known)),
    )


def _contradictions(ratings: Ratings, check: Check) -> Figure | None:
    """Draw the votes each way on the pairs of items that are contested most."""
    found = check.contradictions
    if found.both_orders == 0:
        return None
    pairs = pairs_within(ratings, stream(check.seed, "check: pairs"))
    graph = comparisons(ratings)
    worst = find_contradictions(ratings, graph, pairs, most=PAIRS).worst
    first, second = zip(*(pair.items for pair in worst), strict=True)
    up, down = zip(*(pair.votes for pair in worst), strict=True)
    numbers = {
        "first": first,
        "second": second,
        "first above second": up,
        "second above first": down,
    }
    pairs_of = [
        f"{shortened(one, 12)} / {shortened(other, 12)}"
        for one, other in zip(first, second, strict=True)
    ]
    data = points({"name": unique(pairs_of), **numbers, "left": np.negative(down)})
    whole = {"labelExpr": "datum.value % 1 ? '' : abs(datum.value)", **FEW_TICKS}
    title = "votes for the second ← → for the first"
    x = quantity("first above second", title=title, axis=whole)
    place = {"y": names_axis(), "tooltip": tips(*numbers)}
    layers = [
        marks("pairs", "bar", {**place, "x": x}, height=9, color=BLUE),
        marks("pairs", "bar", {**place, "x": quantity("left")}, height=9, color=ORANGE),
    ]
    return worded(
        "contradictions",
        layered(layers, {"pairs": data}, height=ROW * len(data)),
        numbers,
        found=found,
        shown=len(data),
        first=first[0],
        second=second[0],
        wins=up[0],
        losses=down[0],
    )


def ladder_figure(ladder: Ladder) -> Figure:
    """Draw how rightly each assumption predicts, and how far behind the best it is.

    Examples:
        >>> from evenhand.diagnosis.check import check
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 2, 5, 4])
        >>> ladder_figure(check(ratings, rng=7).ladder).numbers["method"][0]
        'mean'
    """
    rungs, told = ladder.rungs, ladder.verdict != CANNOT_TELL
    best = max(rungs, key=lambda rung: rung.accuracy)
    numbers = {
        **fields(rungs, assumption="assumption", method="method"),
        **fields(rungs, accuracy="rightly", se="se"),
        **fields(rungs, behind="behind best", behind_se="paired se"),
    }
    verdict = [rung.assumption == ladder.verdict for rung in rungs]
    shown: Shown = {
        "name": [f"{rung.assumption}: {OWN[rung.assumption]}" for rung in rungs],
        "low": [max(rung.accuracy - rung.behind_se, 0.0) for rung in rungs],
        "high": [min(rung.accuracy + rung.behind_se, 1.0) for rung in rungs],
        "predicts rightly": [f"{100 * rung.accuracy:.1f} %" for rung in rungs],
        "behind the best": [
            f"{100 * rung.behind:.1f} ± {100 * rung.behind_se:.1f} points"
            for rung in rungs
        ],
        "word": ["verdict" if own else "other" for own in verdict],
    }
    data = points({**numbers, **shown})
    x = quantity(
        "low",
        title="comparisons predicted rightly",
        axis={"format": "%", **FEW_TICKS},
        scale={"zero": False, "nice": False, "padding": 10},
    )
    colours = {"verdict": (BLUE, "diamond"), "other": (MIDDLE, "circle")}
    hover = ("assumption", "method", "predicts rightly", "behind the best")
    right, looks = quantity("rightly"), series("word", colours, colours, legend=told)
    text = {"y": names_axis(), "x": right, "text": word("predicts rightly")}
    dashed = {"strokeDash": [5, 4], "strokeWidth": 1.5, "opacity": 0.6}
    layers = [
        marks("best", "rule", {"x": right}, color=MIDDLE, **dashed),
        *intervals("ladder", "rightly", x, "high", hover, looks),
        marks("ladder", "text", text, dy=-11, fontSize=11),
    ]
    sets = {"ladder": data, "best": points({"rightly": [best.accuracy]})}
    return worded(
        "ladder",
        layered(layers, sets, height=38 * len(data)),
        numbers,
        ladder=ladder,
        best=best,
        told=told,
        meaning=MEANINGS[ladder.verdict],
    )


def _spread(check: Check, name: str, noun: str) -> Figure | None:
    """Draw how the ratings are spread over reviewers, or over items."""
    spread = check.load if name == "load" else check.reviews
    if len(spread.histogram) == 1:
        return None
    title = "items rated by a reviewer" if name == "load" else "reviews of an item"
    low, high, number = (list(one) for one in zip(*spread.histogram, strict=True))
    numbers = {f"{title}, from": low, "to": high, f"{noun}s": number}
    return worded(name, histogram(spread.histogram, title), numbers, spread=spread)
