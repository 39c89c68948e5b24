"""The figure of contradictions: a small graph of items that are put in both orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import numpy as np

from evenhand._charts import BLUE, RED
from evenhand._randomness import stream
from evenhand.desk.report.figures import (
    LONG,
    Figure,
    Point,
    layered,
    marks,
    short,
    tips,
)
from evenhand.lab._check_pairs import pairs_within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.lab.check import Check
    from evenhand.ratings import Ratings

    Table = NDArray[np.float64]
    Edge = tuple[int, int, int, int]

NODES, EDGES, HEIGHT = 18, 30, 340
STEPS, TINY = 300, 1e-6


def contradictions_figure(ratings: Ratings, check: Check) -> Figure | None:
    """Draw the items that reviewers contradict each other on most.

    Args:
        ratings: Who said what.
        check: What was found.

    Returns:
        The figure; None if no pair of items is put in both orders.

    Examples:
        >>> from evenhand.lab.check import check
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings.from_comparisons(["x", "x", "y"], ["y", "y", "x"])
        >>> contradictions_figure(ratings, check(ratings, rng=7)).rows
        (('x', 'y', 2, 1),)
    """
    told = check.contradictions
    if told.both_orders == 0:
        return None
    edges = contested(ratings, check.seed)
    labels = ratings.item_labels
    first, second, wins, losses = edges[0]
    part = (
        ""
        if len(edges) == told.both_orders
        else f" The {len(edges)} of {told.both_orders:,} pairs with the most votes "
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
            f"{told.both_orders} of {told.repeated} pairs that several reviewers "
            f"ordered are put in both orders. Most contested: {short(labels[first])} "
            f"above {short(labels[second])} by {wins}, below by {losses}."
        ),
        chart=_chart(ratings, edges),
        header=("first", "second", "first above second", "second above first"),
        rows=tuple(
            (labels[one], labels[other], up, down) for one, other, up, down in edges
        ),
    )


def contested(ratings: Ratings, seed: int) -> list[Edge]:
    """List the pairs with the most votes each way, as many as a chart can hold.

    Args:
        ratings: Who said what.
        seed: The seed of the check, for the same pairs where there are too many.

    Returns:
        Two item codes and the votes for the one and the other order, worst first.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> contested(Ratings.from_comparisons(["x", "y"], ["y", "x"]), 7)
        [(0, 1, 1, 1)]
    """
    pairs = pairs_within(ratings, stream(seed, "check: pairs"))
    decided = np.flatnonzero(pairs.signs)
    up = pairs.signs[decided] > 0
    keys = pairs.first[decided] * ratings.n_items + pairs.second[decided]
    distinct, place = np.unique(keys, return_inverse=True)
    wins = np.bincount(place[up], minlength=len(distinct))
    losses = np.bincount(place[~up], minlength=len(distinct))
    fewer = np.minimum(wins, losses)
    worst = np.lexsort((distinct, -(wins + losses), -fewer))[:EDGES]
    found: list[Edge] = []
    nodes: set[int] = set()
    for where in worst[fewer[worst] > 0].tolist():
        one, other = divmod(int(distinct[where]), ratings.n_items)
        if len(nodes | {one, other}) <= NODES:
            nodes |= {one, other}
            found.append((one, other, int(wins[where]), int(losses[where])))
    return found


def _chart(ratings: Ratings, edges: Sequence[Edge]) -> alt.LayerChart:
    codes = sorted({code for edge in edges for code in edge[:2]})
    index = {code: place for place, code in enumerate(codes)}
    places = layout([(index[edge[0]], index[edge[1]]) for edge in edges], len(codes))
    sides = _sides(places, [(index[edge[0]], index[edge[1]]) for edge in edges])
    labels = ratings.item_labels
    lines: list[Point] = []
    for one, other, up, down in edges:
        (x, y), (x2, y2) = places[index[one]].tolist(), places[index[other]].tolist()
        lines.append(
            {
                "x": round(x, 3),
                "y": round(y, 3),
                "x2": round(x2, 3),
                "y2": round(y2, 3),
                "one": short(labels[one], LONG),
                "other": short(labels[other], LONG),
                "up": up,
                "down": down,
                "fewer": min(up, down),
            }
        )
    nodes: list[Point] = [
        {
            "x": round(float(places[index[code], 0]), 3),
            "y": round(float(places[index[code], 1]), 3),
            "name": short(labels[code], 14),
            "item": short(labels[code], LONG),
            "pairs": sum(code in edge[:2] for edge in edges),
            "side": sides[index[code]],
        }
        for code in codes
    ]
    return _layers(lines, nodes)


def _sides(places: Table, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Put the name of each node above it or below, away from most of its lines."""
    pull = np.zeros(len(places))
    for one, other in edges:
        way = np.sign(places[other, 1] - places[one, 1])
        pull[one] += way
        pull[other] -= way
    return [-1 if one > 0 else 1 for one in pull.tolist()]


def _layers(lines: list[Point], nodes: list[Point]) -> alt.LayerChart:
    scale = alt.Scale(domain=[-0.12, 1.12], nice=False)
    x = alt.X("x:Q", axis=None, scale=scale)
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[-0.08, 1.08], nice=False))
    most = max(int(line["fewer"] or 0) for line in lines)
    width = alt.StrokeWidth(
        field="fewer",
        type="quantitative",
        legend=None,
        scale=alt.Scale(domain=[0, max(most, 4)], range=[0.5, 7]),
    )
    hover = tips(
        one="first", other="second", up="first above second", down="second above first"
    )
    base = marks("nodes")
    layers = [
        marks("lines")
        .mark_rule(color=RED, opacity=0.5, strokeCap="round")
        .encode(x, y, alt.X2("x2:Q"), alt.Y2("y2:Q"), width, tooltip=hover),
        base.mark_point(filled=True, color=BLUE, size=90, opacity=1).encode(
            x, y, tooltip=tips(item="item", pairs="contested pairs shown")
        ),
        *(
            base.transform_filter(f"datum.side == {side}")
            .mark_text(dy=-13 * side, fontSize=11)
            .encode(x, y, alt.Text("name:N"))
            for side in (1, -1)
        ),
    ]
    return layered(layers, {"lines": lines, "nodes": nodes}, height=HEIGHT)


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
