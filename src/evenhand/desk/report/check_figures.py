"""Figures of a check: scales, strictness, contradictions, the ladder and the load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._charts import BLUE, RED, quantity, word
from evenhand._randomness import stream
from evenhand.desk.report.figures import (
    FEW_TICKS,
    LONG,
    MIDDLE,
    ROW,
    Figure,
    Point,
    filtered,
    layered,
    marks,
    names_axis,
    rounded,
    series,
    short,
    tips,
    told,
    unique,
)
from evenhand.errors import counted
from evenhand.lab.contradictions import pairs_within
from evenhand.lab.ladder import CANNOT_TELL, MEANINGS
from evenhand.lab.reviewers import DISAGREES, NOT_ENOUGH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand._charts import Spec
    from evenhand.lab.check import Check, Distribution
    from evenhand.lab.ladder import Ladder, Rung
    from evenhand.lab.reviewers import Reviewer
    from evenhand.ratings import Ratings

    Scores = NDArray[np.float64]
    Codes = NDArray[np.int64]
    Table = NDArray[np.float64]
    Edge = tuple[int, int, int, int]

REVIEWERS, POINTS = 40, 2000
# What is called clear is so many standard errors from the middle.
SURE = 2.0
LARGEST = float(np.finfo(np.float64).max)
STRICT = {
    "strict": (BLUE, "triangle-down"),
    "lenient": (RED, "triangle-up"),
    "typical": (MIDDLE, "circle"),
    NOT_ENOUGH: (MIDDLE, "cross"),
    DISAGREES: (MIDDLE, "diamond"),
}
WIDE = {
    "narrow": (BLUE, "square"),
    "wide": (RED, "diamond"),
    "typical": (MIDDLE, "circle"),
    NOT_ENOUGH: (MIDDLE, "cross"),
}
# Of the graph of contradictions: its size, and steps to lay it out.
NODES, EDGES, STEPS, TINY = 18, 30, 300, 1e-6
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
        >>> from evenhand.lab.check import check
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 2, 5, 4])
        >>> [one.name for one in check_figures(ratings, check(ratings, rng=7))]
        ['scales', 'strictness', 'contradictions', 'ladder']
    """
    found = [
        _scales(ratings.public, check),
        _strictness(check.reviewers),
        _spread(check.reviewers),
        _contradictions(ratings, check),
        None if check.ladder is None else ladder_figure(check.ladder),
        _load(check),
        _reviews(check),
    ]
    return [figure for figure in found if figure is not None]


def _scales(ratings: Ratings, check: Check) -> Figure | None:
    """Draw each reviewer's scores against those of the others for the same items."""
    if ratings.kind != "scores" or ratings.n_reviewers == 1:
        return None
    others = consensus(ratings, check)
    usable = np.flatnonzero(np.isfinite(others))
    if len(usable) == 0 or ratings.scores.min() == ratings.scores.max():
        return None
    groups = _by_reviewer(ratings, usable)
    means = {
        code: (_mean(ratings.scores[rows]), _mean(others[rows]))
        for code, rows in groups.items()
    }
    # Those are shown whose offset is surest to be far from 0.
    people = sorted(sorted(groups, key=lambda code: -_clear(check, code))[:REVIEWERS])
    part = (
        ""
        if len(people) == len(groups)
        else f" The {len(people)} of {len(groups):,} reviewers who stand out most are "
        "shown."
    )
    most = max(means, key=lambda code: abs(means[code][0] - means[code][1]))
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
            f"Scores of {counted(len(groups), 'reviewer')} against the others'. "
            f"Furthest from the others is {short(ratings.reviewer_labels[most])}, who "
            f"gave {told(means[most][0])} on average to items that others gave "
            f"{told(means[most][1])}."
        ),
        chart=_scales_chart(ratings, check, others, people),
        header=("reviewer", "shared items", "mean score", "others' mean", "spread"),
        rows=tuple(
            (
                ratings.reviewer_labels[code],
                len(rows),
                *means[code],
                check.reviewers[code].slope,
            )
            for code, rows in groups.items()
        ),
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
    counts = heard[ratings.reviewer_codes].astype(np.float64)
    level = counts * (ratings.scores / unit - offsets[ratings.reviewer_codes])

    def of_others(values: Scores) -> Scores:
        sums = np.bincount(ratings.item_codes, values, ratings.n_items)
        return np.asarray(sums[ratings.item_codes] - values)

    left, sums = of_others(counts), of_others(level)
    found = np.divide(sums, left, where=left > 0, out=np.full(len(left), np.nan))
    with np.errstate(over="ignore"):
        return np.asarray(np.clip(found * unit, -LARGEST, LARGEST))


def _clear(check: Check, code: int) -> float:
    one = check.reviewers[code]
    return abs(one.offset or 0.0) - SURE * (one.offset_se or 0.0)


def _by_reviewer(ratings: Ratings, usable: Codes) -> dict[int, Codes]:
    people, starts = np.unique(ratings.reviewer_codes[usable], return_index=True)
    return dict(zip(people.tolist(), np.split(usable, starts[1:]), strict=True))


def _mean(values: Scores) -> float:
    # Shares, so that large scores do not leave the floats.
    return float((values / len(values)).sum())


def _scales_chart(
    ratings: Ratings, check: Check, others: Scores, people: Sequence[int]
) -> Spec:
    shown = np.isfinite(others) & np.isin(ratings.reviewer_codes, people)
    usable = np.flatnonzero(shown)
    labels = [ratings.reviewer_labels[code] for code in people]
    points: list[Point] = []
    # Every so-many-th rating, so that no reviewer is left out.
    for row in usable[:: -(-len(usable) // POINTS)].tolist():
        code = int(ratings.reviewer_codes[row])
        points.append(
            {
                "code": code,
                "who": short(ratings.reviewer_labels[code], LONG),
                "item": short(ratings.item_labels[ratings.item_codes[row]], LONG),
                "x": rounded(float(others[row])),
                "y": rounded(float(ratings.scores[row])),
                "word": check.reviewers[code].strictness,
            }
        )
    # A reviewer's line goes through their mean with their slope.
    lines: list[Point] = []
    for code, rows in _by_reviewer(ratings, usable).items():
        one, x = check.reviewers[code], others[rows]
        slope = 1.0 if one.slope is None else one.slope
        centre, height = _mean(x), _mean(ratings.scores[rows])
        who = short(ratings.reviewer_labels[code], LONG)
        for end in (
            () if one.strictness == DISAGREES else (float(x.min()), float(x.max()))
        ):
            y = rounded(height + slope * (end - centre))
            place: Point = {"x": rounded(end), "y": y}
            lines.append({"code": code, "who": who, "word": one.strictness, **place})
    seen, scores = others[np.isfinite(others)], ratings.scores
    ends = max(seen.min(), scores.min()), min(seen.max(), scores.max())
    same: list[Point] = [dict.fromkeys("xy", rounded(float(end))) for end in ends]
    data = {"points": points, "lines": lines, "same": same}
    chart = layered(_scale_layers(points), data, height=330)
    bind = {"input": "select", "name": "Reviewer ", "options": [None, *people]}
    choice = {
        "name": "reviewer",
        "select": {"type": "point", "fields": ["code"]},
        "bind": {**bind, "labels": ["all", *unique(labels)]},
        "views": ["scores"],
    }
    return {**chart, "params": [choice]}


def _scale_layers(points: Sequence[Point]) -> list[Spec]:
    axis = {"scale": {"zero": False}, "axis": FEW_TICKS}
    place = {
        "x": quantity("x", title="score by the others", **axis),
        "y": quantity("y", title="score by the reviewer", **axis),
    }
    looks = series("word", STRICT, [str(one["word"]) for one in points])
    dashes = [[1, 0], [8, 3]] + [[1, 0]] * (len(STRICT) - 2)
    line = {
        "color": looks["color"],
        "strokeDash": word(
            "word", legend=None, scale={"domain": list(STRICT), "range": dashes}
        ),
        "detail": word("code"),
        "tooltip": tips(who="reviewer", word="in words"),
        "opacity": _if_chosen(0.65, 0.07),
    }
    dot = {
        **looks,
        "tooltip": tips(who="reviewer", item="item", y="score", x="by the others"),
        "opacity": _if_chosen(0.75, 0.06),
    }
    return [
        marks("same", "line", place, color=MIDDLE, strokeDash=[2, 3]),
        marks("lines", "line", {**place, **line}, strokeWidth=1.6),
        {
            **marks("points", "point", {**place, **dot}, filled=True, size=30),
            "name": "scores",
        },
    ]


def _if_chosen(then: float, otherwise: float) -> Spec:
    return {"condition": {"param": "reviewer", "value": then}, "value": otherwise}


def _strictness(reviewers: Sequence[Reviewer]) -> Figure | None:
    known = sorted(
        (one for one in reviewers if one.offset is not None),
        key=lambda one: (one.offset or 0.0, str(one.reviewer)),
    )
    if not any(one.offset for one in known):
        return None
    words = [one.strictness for one in known]
    lowest, highest = known[0], known[-1]
    return Figure(
        name="strictness",
        title="How strict each reviewer is",
        caption=(
            "How much lower or higher than others a reviewer scores the same items, "
            "in points of the score, with two standard errors each way. It is drawn "
            "towards 0 where ratings are few. It says nothing on who is right."
            + _part(known)
        ),
        alt=(
            f"Of {counted(len(known), 'reviewer')}, {words.count('strict')} clearly "
            f"strict and {words.count('lenient')} clearly lenient. Offsets run from "
            f"{lowest.offset:+.3g} ({short(lowest.reviewer)}) to "
            f"{highest.offset:+.3g} ({short(highest.reviewer)})."
        ),
        chart=_effects_chart(
            known, ("offset", "strictness"), STRICT, "points above or below others", 0.0
        ),
        header=("reviewer", "ratings", "offset", "standard error", "in words"),
        rows=tuple(
            (one.reviewer, one.ratings, one.offset, one.offset_se, one.strictness)
            for one in known
        ),
    )


def _spread(reviewers: Sequence[Reviewer]) -> Figure | None:
    known = sorted(
        (one for one in reviewers if one.slope is not None),
        key=lambda one: (one.slope or 0.0, str(one.reviewer)),
    )
    if all(one.spread == NOT_ENOUGH for one in known):
        return None
    words = [one.spread for one in known]
    lowest, highest = known[0], known[-1]
    return Figure(
        name="spread",
        title="How widely each reviewer spreads scores",
        caption=(
            "1 is the usual spread of scores for the same items, 2 twice as wide, with "
            "two standard errors each way. It is drawn towards 1 where ratings are "
            "few. A wide scale is not a better one." + _part(known)
        ),
        alt=(
            f"Of {counted(len(known), 'reviewer')}, {words.count('wide')} clearly "
            f"wide and {words.count('narrow')} clearly narrow. Spreads run from "
            f"{told(lowest.slope)} ({short(lowest.reviewer)}) to {told(highest.slope)} "
            f"({short(highest.reviewer)})."
        ),
        chart=_effects_chart(
            known, ("slope", "spread"), WIDE, "spread of scores, 1 is usual", 1.0
        ),
        header=("reviewer", "ratings", "spread", "standard error", "in words"),
        rows=tuple(
            (one.reviewer, one.ratings, one.slope, one.slope_se, one.spread)
            for one in known
        ),
    )


def _part(known: Sequence[Reviewer]) -> str:
    if len(known) <= REVIEWERS:
        return ""
    return f" The {REVIEWERS} of {len(known):,} reviewers who stand out most are shown."


def _effects_chart(
    known: Sequence[Reviewer],
    fields: tuple[str, str],
    looks: Mapping[str, tuple[str, str]],
    title: str,
    middle: float,
) -> Spec:
    """Draw an effect of each reviewer, of those who are furthest out beyond doubt."""
    size, say = fields
    values = np.array([getattr(one, size) for one in known])
    reach = SURE * np.array([getattr(one, f"{size}_se") or 0.0 for one in known])
    order = np.argsort(reach - np.abs(values - middle), kind="stable")
    chosen = np.sort(order[:REVIEWERS]).tolist()
    names = unique([known[place].reviewer for place in chosen])
    points: list[Point] = [
        {
            "name": name,
            "who": short(known[place].reviewer, LONG),
            "value": rounded(values[place]),
            "low": rounded(values[place] - reach[place]),
            "high": rounded(values[place] + reach[place]),
            "told": f"{told(values[place])} ± {told(reach[place] / SURE)}",
            "word": getattr(known[place], say),
            "ratings": known[place].ratings,
        }
        for name, place in zip(names, chosen, strict=True)
    ]
    telling = series("word", looks, [str(point["word"]) for point in points])
    hover = tips(
        who="reviewer", told="estimate ± se", word="in words", ratings="ratings"
    )
    base = {"y": names_axis(), "color": telling["color"], "tooltip": hover}
    x = quantity("low", title=title, scale={"zero": False}, axis=FEW_TICKS)
    rule = {**base, "x": x, "x2": {"field": "high"}}
    dot = {**base, "x": quantity("value"), "shape": telling["shape"]}
    layers = [
        marks("middle", "rule", {"x": quantity("at")}, color=MIDDLE, strokeWidth=1),
        marks("reviewers", "rule", rule, strokeWidth=2, opacity=0.55),
        marks("reviewers", "point", dot, filled=True, size=80, opacity=1),
    ]
    data: dict[str, list[Point]] = {"reviewers": points, "middle": [{"at": middle}]}
    return layered(layers, data, height=ROW * len(points))


def _contradictions(ratings: Ratings, check: Check) -> Figure | None:
    """Draw a small graph of the items that reviewers contradict each other on most."""
    found = check.contradictions
    if found.both_orders == 0:
        return None
    edges = _contested(ratings, check.seed)
    labels = ratings.item_labels
    first, second, wins, losses = edges[0]
    part = (
        ""
        if len(edges) == found.both_orders
        else f" The {len(edges)} of {found.both_orders:,} pairs with the most votes "
        "each way are shown."
    )
    return Figure(
        name="contradictions",
        title="Where reviewers contradict each other",
        caption=(
            "Two items are joined if reviewers put them in both orders; the thicker "
            "the line, the more votes the smaller side has. Where items stand means "
            f"nothing. Reviewers who differ need not be careless.{part}"
        ),
        alt=(
            f"{found.both_orders} of {found.repeated} pairs that several reviewers "
            f"ordered are put in both orders. Most contested: {short(labels[first])} "
            f"above {short(labels[second])} by {wins}, below by {losses}."
        ),
        chart=_graph_chart(ratings, edges),
        header=("first", "second", "first above second", "second above first"),
        rows=tuple(
            (labels[one], labels[other], up, down) for one, other, up, down in edges
        ),
    )


def _contested(ratings: Ratings, seed: int) -> list[Edge]:
    """List the pairs with the most votes each way, as many as a chart can hold."""
    votes = pairs_within(ratings, stream(seed, "check: pairs")).votes(ratings.n_items)
    found: list[Edge] = []
    nodes: set[int] = set()
    for one, other, up, down in votes.contested(EDGES):
        if len(nodes | {one, other}) <= NODES:
            nodes |= {one, other}
            found.append((one, other, up, down))
    return found


def _graph_chart(ratings: Ratings, edges: Sequence[Edge]) -> Spec:
    codes = sorted({code for edge in edges for code in edge[:2]})
    index = {code: place for place, code in enumerate(codes)}
    joined = [(index[one], index[other]) for one, other, *_ in edges]
    places = layout(joined, len(codes)).round(3)
    labels = ratings.item_labels
    lines: list[Point] = [
        {
            **dict(zip("xy", places[index[one]].tolist(), strict=True)),
            **dict(zip(("x2", "y2"), places[index[other]].tolist(), strict=True)),
            "one": short(labels[one], LONG),
            "other": short(labels[other], LONG),
            "up": up,
            "down": down,
            "fewer": min(up, down),
        }
        for one, other, up, down in edges
    ]
    # A name goes above its node or below, away from most of its lines.
    pull = np.zeros(len(codes))
    for here, there in joined:
        way = np.sign(places[there, 1] - places[here, 1])
        pull[[here, there]] += way, -way
    nodes: list[Point] = [
        {
            **dict(zip("xy", place, strict=True)),
            "name": short(labels[code], 14),
            "item": short(labels[code], LONG),
            "pairs": sum(code in edge[:2] for edge in edges),
            "side": -1 if pull[index[code]] > 0 else 1,
        }
        for code, place in zip(codes, places.tolist(), strict=True)
    ]
    layers = _graph_layers(max(min(up, down) for *_, up, down in edges))
    return layered(layers, {"lines": lines, "nodes": nodes}, height=340)


def _graph_layers(most: int) -> list[Spec]:
    place = {
        name: quantity(name, axis=None, scale={"domain": domain, "nice": False})
        for name, domain in (("x", [-0.12, 1.12]), ("y", [-0.08, 1.08]))
    }
    width = {"domain": [0, max(most, 4)], "range": [0.5, 7]}
    line = {
        **place,
        "x2": {"field": "x2"},
        "y2": {"field": "y2"},
        "strokeWidth": quantity("fewer", legend=None, scale=width),
        "tooltip": tips(
            one="first",
            other="second",
            up="first above second",
            down="second above first",
        ),
    }
    dot = {**place, "tooltip": tips(item="item", pairs="contested pairs shown")}
    name = {**place, "text": word("name")}
    return [
        marks("lines", "rule", line, color=RED, opacity=0.5, strokeCap="round"),
        marks("nodes", "point", dot, filled=True, color=BLUE, size=90, opacity=1),
        *(
            filtered(
                marks("nodes", "text", name, dy=-13 * side, fontSize=11),
                f"datum.side == {side}",
            )
            for side in (1, -1)
        ),
    ]


def layout(edges: Sequence[tuple[int, int]], size: int) -> Table:
    """Place the nodes of a graph: joined ones near each other, all others apart.

    Nodes start on a circle and move by springs that cool down, so the same graph has
    the same places.

    Args:
        edges: Pairs of nodes.
        size: Number of nodes.

    Returns:
        Places within the unit square, shape (size, 2).

    Examples:
        >>> layout([(0, 1)], 2).shape
        (2, 2)
    """
    turn = 2 * np.pi * np.arange(size) / size
    places = np.column_stack([np.cos(turn), np.sin(turn)])
    joined = np.zeros((size, size))
    for one, other in edges:
        joined[one, other] = joined[other, one] = 1.0
    apart = 1.6 / np.sqrt(size)
    for step in range(STEPS):
        gaps = places[:, None] - places[None]
        far = np.maximum(np.hypot(gaps[..., 0], gaps[..., 1]), 1e-3)
        push = (apart / far) ** 2 - joined * far / apart
        np.fill_diagonal(push, 0.0)
        move = (gaps * push[..., None]).sum(axis=1) - 0.9 * places
        length = np.maximum(np.hypot(move[:, 0], move[:, 1]), 1e-9)
        most = 0.12 * (1 - step / STEPS)
        places = places + move * (np.minimum(length, most) / length)[:, None]
    low, high = places.min(axis=0), places.max(axis=0)
    square = (places - low) / np.maximum(high - low, TINY)
    # Half way to even steps, so that one node far out does not squeeze the others.
    even = np.argsort(np.argsort(square, axis=0), axis=0) / max(size - 1, 1)
    return np.asarray((square + even) / 2)


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
    verdict = f"The verdict is “{ladder.verdict}”. {MEANINGS[ladder.verdict]}"
    reads = "The verdict is the first that no other clearly beats."
    if ladder.verdict == CANNOT_TELL:
        verdict = "Which assumption holds cannot be told."
        reads = "Here the differences are too small or too unsure for a verdict."
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
            f"{verdict} Best is “{best.assumption}” with "
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


def _ladder_chart(ladder: Ladder, best: Rung) -> Spec:
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
    x = quantity(
        "low",
        title="comparisons predicted rightly",
        axis={"format": "%", **FEW_TICKS},
        scale={"zero": False, "padding": 10},
    )
    colours = {"verdict": (BLUE, "diamond"), "other": (MIDDLE, "circle")}
    looks = series("word", colours, colours, legend=ladder.verdict != CANNOT_TELL)
    hover = tips(
        assumes="assumes",
        method="method",
        told="predicts rightly",
        behind="behind best",
    )
    base = {"y": names_axis(), "color": looks["color"], "tooltip": hover}
    right = quantity("right")
    text = {"y": names_axis(), "x": right, "text": word("told")}
    dashed = {"strokeDash": [5, 4], "strokeWidth": 1.5, "opacity": 0.6}
    rule, dot = {"x": x, "x2": {"field": "high"}}, {"x": right, "shape": looks["shape"]}
    layers = [
        marks("best", "rule", {"x": right}, color=MIDDLE, **dashed),
        marks("ladder", "rule", {**base, **rule}, strokeWidth=2, opacity=0.6),
        marks("ladder", "point", {**base, **dot}, filled=True, size=90, opacity=1),
        marks("ladder", "text", text, dy=-11, fontSize=11),
    ]
    line: list[Point] = [{"right": rounded(best.accuracy)}]
    return layered(layers, {"ladder": points, "best": line}, height=38 * len(points))


def _load(check: Check) -> Figure | None:
    # Every comparison counts as a reviewer of two items.
    if check.kind == "comparisons":
        return None
    return _histogram(
        "load",
        "Items per reviewer",
        "The number on a bar is how many reviewers rated so many items. Who rated one "
        "item compares nothing.",
        check.load,
        ("reviewer", "items rated by a reviewer"),
    )


def _reviews(check: Check) -> Figure | None:
    return _histogram(
        "reviews",
        "Reviews per item",
        "The number on a bar is how many items have so many reviews. The fewer, the "
        "more an item's place hangs on who happened to review it.",
        check.reviews,
        ("item", "reviews of an item"),
    )


def _histogram(
    name: str, title: str, caption: str, counts: Distribution, words: tuple[str, str]
) -> Figure | None:
    if len(counts.histogram) == 1:
        return None
    noun, axis = words
    points: list[Point] = [
        {
            "name": str(low) if low == high else f"{low}-{high}",
            "count": number,
            "told": counted(number, noun),
        }
        for low, high, number in counts.histogram
    ]
    top = 1.15 * max(number for *_, number in counts.histogram)
    space = {"paddingInner": 0.35, "paddingOuter": 0.3}
    upright = {"labelAngle": 0}
    place = {
        "x": word("name", sort=None, title=axis, axis=upright, scale=space),
        "y": quantity("count", axis=None, scale={"domain": [0, top], "nice": False}),
    }
    bar = {**place, "tooltip": tips(name=axis, told="how many")}
    text = {**place, "text": quantity("count")}
    layers = [
        marks("counts", "bar", bar, color=BLUE),
        marks("counts", "text", text, dy=-7, fontSize=11),
    ]
    return Figure(
        name=name,
        title=title,
        caption=caption,
        alt=(
            f"{axis.capitalize()}: from {counts.least} to {counts.most}, median "
            f"{counts.median:g}."
        ),
        chart=layered(layers, {"counts": points}, height=150),
        header=(f"{axis}, from", "to", f"{noun}s"),
        rows=counts.histogram,
    )
