"""Figures of a comparison of two items: the scores and the coin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._charts import BLUE, ORANGE, RED, quantity, word
from evenhand.desk.report.figures import (
    LONG,
    MIDDLE,
    PERCENT,
    Figure,
    Point,
    filtered,
    layered,
    marks,
    rounded,
    share,
    short,
    tips,
    told,
    unique,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand._charts import Spec
    from evenhand.ab.comparison import Comparison
    from evenhand.ratings import Ratings

    Codes = NDArray[np.int64]
    Scores = NDArray[np.float64]

POINTS = 1000
# The golden section spreads dots evenly, whatever their number.
GOLDEN = 0.6180339887498949
SIDES = ("first", "second")
COLOUR = word("side", legend=None, scale={"domain": [*SIDES], "range": [BLUE, ORANGE]})


def comparison_figures(ratings: Ratings, result: Comparison) -> list[Figure]:
    """Draw a comparison of two items.

    Args:
        ratings: The scores, of these two items and perhaps of others.
        result: The comparison.

    Returns:
        "scores", if there are scores, and "coin".

    Examples:
        >>> from evenhand import Ratings, compare
        >>> ratings = Ratings(["a", "b", "c", "d"], ["x", "y"] * 2, [3, 8, 4, 5])
        >>> result = compare(ratings, method="votes", rng=7)
        >>> [one.name for one in comparison_figures(ratings, result)]
        ['scores', 'coin']
    """
    found = [_scores(ratings.public, result), _coin(result)]
    return [figure for figure in found if figure is not None]


def used(ratings: Ratings, result: Comparison) -> tuple[Codes, Codes]:
    """Return the ratings of the two items that the comparison used.

    Examples:
        >>> from evenhand import Ratings, compare
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 2])
        >>> [rows.tolist() for rows in used(ratings, compare(ratings, rng=7))]
        [[0], [1]]
    """
    codes = [ratings.item_code(item) for item in result.items]
    first, second = (np.flatnonzero(ratings.item_codes == code) for code in codes)
    if result.parameters.get("both") == "drop":
        people = ratings.reviewer_codes
        both = np.intersect1d(people[first], people[second])
        first, second = (rows[~np.isin(people[rows], both)] for rows in (first, second))
    return first, second


def _scores(ratings: Ratings, result: Comparison) -> Figure | None:
    if ratings.kind != "scores":
        return None
    sides = used(ratings, result)
    if min(map(len, sides)) == 0:
        return None
    pairs = _pairs(ratings, *sides)
    centres = [_centre(ratings.scores[rows]) for rows in sides]
    names = [short(item) for item in result.items]
    part = "" if max(map(len, sides)) <= POINTS else f" At most {POINTS:,} are shown."
    linked = " Lines join the two scores of a pair." if pairs else ""
    return Figure(
        name="scores",
        title="The scores of the two items",
        caption=(
            "A dot is one reviewer's score; the bar is the median, the diamond the "
            f"mean.{linked} Reviewers may use different scales, so a higher mean is "
            f"not by itself a better item.{part}"
        ),
        alt=" ".join(
            f"{name}: {len(rows)} scores, mean {told(mean)}, median {told(median)}."
            for name, rows, (mean, median) in zip(names, sides, centres, strict=True)
        ),
        chart=_scores_chart(ratings, result, sides, pairs),
        header=("item", "reviewer", "score"),
        rows=tuple(
            (item, ratings.reviewer_labels[who], value)
            for item, rows in zip(result.items, sides, strict=True)
            for who, value in zip(
                ratings.reviewer_codes[rows].tolist(),
                ratings.scores[rows].tolist(),
                strict=True,
            )
        ),
    )


def _centre(values: Scores) -> tuple[float, float]:
    # Halves, so that large scores do not leave the floats.
    return float((values / len(values)).sum()), float(2 * np.median(values / 2))


def _pairs(ratings: Ratings, first: Codes, second: Codes) -> list[tuple[int, int]]:
    """Match ratings of one pair, or of one reviewer, if all are matched."""
    by = ratings.reviewer_codes if ratings.pair_codes is None else ratings.pair_codes
    ones = {int(by[row]): int(row) for row in first}
    others = {int(by[row]): int(row) for row in second}
    if len(ones) < len(first) or len(others) < len(second):
        return []
    return [(row, others[key]) for key, row in ones.items() if key in others]


def _scores_chart(
    ratings: Ratings,
    result: Comparison,
    sides: tuple[Codes, Codes],
    pairs: Sequence[tuple[int, int]],
) -> Spec:
    names = unique([short(item, 16) for item in result.items])
    points: list[Point] = []
    middles: list[Point] = []
    for name, rows, side in zip(names, sides, SIDES, strict=True):
        mean, median = _centre(ratings.scores[rows])
        middles.append({"name": name, "mean": rounded(mean), "median": rounded(median)})
        for place, row in enumerate(rows[:: -(-len(rows) // POINTS)].tolist()):
            who = ratings.reviewer_labels[ratings.reviewer_codes[row]]
            points.append(
                {
                    "name": name,
                    "side": side,
                    "who": short(who, LONG),
                    "score": rounded(float(ratings.scores[row])),
                    "jitter": 0.0 if pairs else round((place * GOLDEN) % 1 - 0.5, 3),
                }
            )
    lines: list[Point] = [
        {"pair": number, "name": name, "score": rounded(float(ratings.scores[row]))}
        for number, pair in enumerate(pairs[:POINTS])
        for name, row in zip(names, pair, strict=True)
    ]
    data = {"scores": points, "middles": middles, "pairs": lines}
    layers = _score_layers()
    return layered(layers if lines else layers[1:], data, height=270)


def _score_layers() -> list[Spec]:
    labels = {"labelAngle": 0, "labelFontSize": 12, "labelLimit": 150}
    x = word("name", sort=None, title=None, axis=labels)
    scale = {"zero": False, "nice": False, "padding": 12}
    place = {"x": x, "y": quantity("score", title="score", scale=scale)}
    dot = {
        **place,
        "xOffset": quantity("jitter", scale={"domain": [-1.2, 1.2]}),
        "color": COLOUR,
        "tooltip": tips(who="reviewer", score="score"),
    }
    centre = {"x": x, "tooltip": tips(name="item", median="median", mean="mean")}
    median, mean = ({**centre, "y": quantity(name)} for name in ("median", "mean"))
    stroke = {"shape": "stroke", "size": 6000, "strokeWidth": 3, "color": MIDDLE}
    diamond = {"shape": "diamond", "size": 130, "color": RED, "fill": RED}
    line = {**place, "detail": word("pair")}
    return [
        marks("pairs", "line", line, color=MIDDLE, opacity=0.6, strokeWidth=1),
        marks("scores", "point", dot, filled=True, size=55, opacity=0.75),
        marks("middles", "point", median, opacity=1, **stroke),
        marks("middles", "point", mean, opacity=1, fillOpacity=0.25, **diamond),
    ]


def _coin(result: Comparison) -> Figure:
    first, second = (short(item) for item in result.items)
    chances = (result.p_first, 1 - result.p_first)
    ours, theirs = (share(one, certain=result.p_first_se == 0) for one in chances)
    return Figure(
        name="coin",
        title="The coin behind the decision",
        caption=(
            "On these scores the rule outputs one item or the other with these "
            "probabilities. They are the coin's bias, not a chance of being right."
        ),
        alt=(
            f"The rule outputs {first} with probability {ours} and {second} with "
            f"{theirs}; {short(result.winner)} came out."
        ),
        chart=_coin_chart(result, (ours, theirs)),
        header=("item", "output probability", "came out"),
        rows=tuple(
            (item, chance, "yes" if item == result.winner else "no")
            for item, chance in zip(result.items, chances, strict=True)
        ),
    )


def _coin_chart(result: Comparison, chances: tuple[str, str]) -> Spec:
    ends = (0.0, result.p_first, 1.0)
    points: list[Point] = [
        {
            "item": short(item, LONG),
            "told": f"{short(item, 22)}: {chances[place]}"
            + (" (came out)" if item == result.winner else ""),
            "chance": chances[place],
            "side": SIDES[place],
            "low": rounded(ends[place]),
            "high": rounded(ends[place + 1]),
            "at": place,
        }
        for place, item in enumerate(result.items)
    ]
    bar = {
        "x": quantity(
            "low",
            title="output probability",
            scale={"domain": [0, 1], "nice": False},
            axis={**PERCENT, "grid": False},
        ),
        "x2": {"field": "high"},
        "y": {"value": 45},
        "color": COLOUR,
        "tooltip": tips(item="item", chance="output probability"),
    }
    layers = [marks("coin", "bar", bar, height=26)]
    for side, align, height in zip(SIDES, ("left", "right"), (16, 74), strict=True):
        text = {"x": quantity("at"), "y": {"value": height}, "text": word("told")}
        named = marks("coin", "text", text, align=align, fontSize=12)
        layers.append(filtered(named, f"datum.side == '{side}'"))
    return layered(layers, {"coin": points}, height=90)
