"""Jobs on orders: graphs, rankings, linear extensions, Kendall tau."""

from __future__ import annotations

import itertools
import math
from importlib import import_module
from types import SimpleNamespace as Data
from typing import Any

import numpy as np
from numpy.typing import NDArray

import evenhand as eh
from bench.measure import Job, Side, agreed
from evenhand._randomness import stream
from evenhand.losses import kendall_tau
from evenhand.posets import (
    comparisons,
    from_edges,
    is_ordering,
    mean_ranks_exact,
    uniform_order,
)
from evenhand.posets.orderings import order_edges

Codes = NDArray[np.int64]
DECADES = (10_000, 100_000, 1_000_000, 10_000_000)
SMALL = (1_000, 2_000, 4_000, 8_000)
ARGSORT = Side("np.argsort of as many doubles", lambda data: np.argsort(data.doubles))
SORT_PAIRS = Side("np.argsort of a double a pair", ARGSORT.run)
SORT_SCORES = Side("np.argsort of a double a score", ARGSORT.run)
TAU = 1e-12


def distinct(
    rng: np.random.Generator, reviewers: int, load: int, items: int
) -> NDArray[np.int64]:
    """Draw different items for each reviewer, one from each stretch of a circle."""
    stretch = (items - 1) // (load - 1)
    steps = (
        1
        + stretch * np.arange(load - 1)
        + rng.integers(stretch, size=(reviewers, load - 1))
    )
    start = rng.integers(items, size=(reviewers, 1))
    return np.hstack([start, (start + steps) % items])


def pairs(items: int, number: int) -> tuple[Codes, Codes]:
    """Draw pairs, upper and lower item, that all agree with one hidden ranking."""
    rng = np.random.default_rng(1)
    truth = rng.permutation(items)
    if number > items * items // 8:
        first, second = np.triu_indices(items, 1)
        chosen = rng.choice(len(first), number, replace=False)
        first, second = first[chosen], second[chosen]
    else:
        first = rng.integers(items, size=number)
        second = (first + rng.integers(1, items, size=number)) % items
    return truth[np.minimum(first, second)], truth[np.maximum(first, second)]


def _graph(size: int) -> Data:
    above, below = pairs(size // 10, size)
    doubles = np.random.default_rng(2).random(size)
    return Data(items=size // 10, above=above, below=below, doubles=doubles)


def _rustworkx(data: Data) -> tuple[Any, list[bool]]:
    rx = import_module("rustworkx")
    graph = rx.PyDiGraph()
    graph.add_nodes_from(range(data.items))
    edges = zip(data.above.tolist(), data.below.tolist(), strict=True)
    graph.add_edges_from_no_data(list(edges))
    order = rx.lexicographical_topological_sort(graph, key=lambda item: f"{item:09d}")
    return order, _free(graph, order)


def _networkx(data: Data) -> tuple[Any, list[bool]]:
    nx = import_module("networkx")
    graph = nx.DiGraph()
    graph.add_nodes_from(range(data.items))
    edges = zip(data.above.tolist(), data.below.tolist(), strict=True)
    graph.add_edges_from(edges)
    order = list(nx.lexicographical_topological_sort(graph))
    return order, _free(graph, order)


def _free(graph: Any, order: Any) -> list[bool]:  # noqa: ANN401 - either library's.
    ends = itertools.pairwise(order)
    return [not graph.has_edge(upper, lower) for upper, lower in ends]


def _igraph(data: Data) -> tuple[Any, list[bool]]:
    ig = import_module("igraph")
    edges = np.column_stack([data.above, data.below])
    graph = ig.Graph(n=data.items, edges=edges, directed=True)
    order = graph.topological_sorting()
    ends = list(itertools.pairwise(order))
    return order, [edge < 0 for edge in graph.get_eids(ends, error=False)]


def _same_order(_: Data, ours: Any, theirs: Any) -> str:  # noqa: ANN401 - two kinds.
    same = [np.array_equal(one, two) for one, two in zip(ours, theirs, strict=True)]
    return agreed("the same order and free pairs, exactly", right=all(same))


def _any_order(data: Data, _: Any, theirs: Any) -> str:  # noqa: ANN401 - two kinds.
    return agreed(
        "an order of the same pairs, not the smallest", right=_fits(data, theirs[0])
    )


def _fits(data: Data, order: Any) -> bool:  # noqa: ANN401 - an array or a list.
    """Whether an order has all items, each above those it was put above."""
    place = np.full(data.items, -1)
    place[np.asarray(order)] = np.arange(len(order))
    complete = len(order) == data.items and place.min() >= 0
    return bool(complete and (place[data.above] < place[data.below]).all())


def _respected(data: Data, order: Any) -> str:  # noqa: ANN401 - an array or a list.
    return agreed("every pair is respected", right=_fits(data, order))


def _reviews(size: int) -> Data:
    """Three reviews of each item by reviewers of three items, with text labels."""
    rng = np.random.default_rng(3)
    circle, value = rng.permutation(size), rng.permutation(size)
    places = np.arange(size)[:, None] + [0, 1, size // 3]
    items = circle[places % size]
    labels = [f"paper {item:07d}" for item in items.ravel().tolist()]
    people = [f"reviewer {place // 3:07d}" for place in range(3 * size)]
    ratings = eh.Ratings(people, labels, value[items].ravel().astype(float))
    return Data(ratings=ratings, doubles=rng.random(3 * size))


def _ranked(data: Data, found: eh.Ranking) -> str:
    codes = [data.ratings.item_code(label) for label in found.order]
    right = is_ordering(comparisons(data.ratings), codes)
    return agreed("every comparison is respected", right=right)


def _poset(items: int, number: int) -> Data:
    above, below = pairs(items, number)
    doubles = np.random.default_rng(2).random(number)
    return Data(items=items, above=above, below=below, doubles=doubles)


def _drawn(data: Data) -> Codes:
    found = from_edges(data.items, data.above, data.below)
    return uniform_order(found, stream(1, "order"))


def _mean_ranks(data: Data) -> list[Any]:
    return list(mean_ranks_exact(from_edges(data.items, data.above, data.below)))


def _add_up(data: Data, ranks: list[Any]) -> str:
    numbers = np.array([float(rank) for rank in ranks])
    right = sum(ranks) == data.items * (data.items + 1) // 2
    right &= bool((numbers[data.above] < numbers[data.below]).all())
    return agreed("ranks add up exactly and respect every pair", right=right)


def _orders(size: int) -> Data:
    rng = np.random.default_rng(1)
    one, two = rng.permutation(size), rng.permutation(size)
    ranks = np.argsort(one), np.argsort(two)
    return Data(one=one, two=two, ranks=ranks, doubles=rng.random(size))


def _scipy_tau(data: Data) -> float:
    return float(import_module("scipy.stats").kendalltau(*data.ranks).statistic)


def _same_tau(data: Data, ours: float, theirs: float) -> str:
    apart = abs(1 - 2 * ours / math.comb(len(data.one), 2) - theirs)
    return agreed(f"tau differs by {apart:.0e}, at most {TAU:.0e}", right=apart < TAU)


def _extension(name: str, much: str, sizes: tuple[int, ...], number: Any) -> Job:  # noqa: ANN401 - a function of the size.
    return Job(
        name,
        f"uniform linear extension, first draw, {much}",
        "items",
        sizes,
        sizes[-1:],
        (50, 100, 200, 400),
        lambda size: _poset(size, number(size)),
        _drawn,
        _respected,
        SORT_PAIRS,
        note="From pairs to an ordering; no peer draws exactly at this size.",
    )


JOBS = [
    Job(
        "order",
        "graph, smallest order and free pairs",
        "pairs",
        DECADES,
        DECADES[2:],
        SMALL,
        _graph,
        lambda data: order_edges(data.items, data.above, data.below),
        lambda data, found: _respected(data, found.order),
        ARGSORT,
        (
            Side("rustworkx", _rustworkx, _same_order, "rustworkx"),
            Side("networkx", _networkx, _same_order, "networkx", most=1_000_000),
            Side("igraph", _igraph, _any_order, "igraph"),
        ),
        note="A tenth as many items as pairs; pairs are random, of one hidden ranking.",
    ),
    Job(
        "rank",
        'whole `rank(ratings, method="flips")`, 3 reviews each',
        "items",
        (1_000, 10_000, 100_000, 1_000_000),
        (1_000,),
        (200, 400, 800, 1_600),
        _reviews,
        lambda data: eh.rank(data.ratings, method="flips", rng=1),
        _ranked,
        SORT_SCORES,
        note="No peer can be installed; the public code took 281 s elsewhere (not run "
        "here). Work changes with size: up to 100 items `rank` also counts or samples "
        "orderings for its intervals, and beyond 5,000 it leaves them out.",
    ),
    Job(
        "kendall",
        "Kendall tau",
        "items",
        DECADES,
        (1_000_000,),
        SMALL,
        _orders,
        lambda data: kendall_tau(data.one, data.two),
        lambda _, found: agreed("a whole number", right=found == int(found)),
        ARGSORT,
        (Side("scipy", _scipy_tau, _same_tau, "scipy"),),
        note="Ours gets two orders, scipy two lists of ranks, worked out beforehand.",
    ),
    _extension(
        "extension-dense",
        "half of all pairs compared",
        (250, 500, 1_000, 2_000),
        lambda size: math.comb(size, 2) // 2,
    ),
    _extension(
        "extension-2n",
        "twice as many pairs as items",
        (1_250, 2_500, 5_000, 10_000),
        lambda size: 2 * size,
    ),
    _extension(
        "extension-n",
        "as many pairs as items",
        (12_500, 25_000, 50_000, 100_000),
        lambda size: size,
    ),
    Job(
        "mean-ranks",
        "posterior mean ranks, exact, half of all pairs compared",
        "items",
        (250, 500, 1_000, 2_000),
        (2_000,),
        (50, 100, 200, 400),
        lambda size: _poset(size, math.comb(size, 2) // 2),
        _mean_ranks,
        _add_up,
        SORT_PAIRS,
        note="Fractions, without rounding; no peer does this.",
    ),
]
