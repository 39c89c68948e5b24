"""Uniformly random orderings that respect the comparisons, without approximation.

A poset is taken apart first. What is left is drawn by counting while its order ideals
are few, and otherwise by coupling from the past.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand._randomness import RNGLike, Stream, as_stream, below, permutation
from evenhand.posets.comparisons import CLOSURE_ITEMS
from evenhand.posets.coupling import settle
from evenhand.posets.orderings import (
    Ideals,
    completions,
    order_ideals,
    topological_order,
)
from evenhand.posets.pieces import Pieces, irreducible, reduced, take_apart, thinned

if TYPE_CHECKING:
    from evenhand._kernels.diagrams import Diagram
    from evenhand.posets.comparisons import Codes, Comparisons

# Listing this many takes a tenth of a second, for nothing if there are more.
DEFAULT_IDEALS = 50_000
# Edges to an item from which it pays to find those that others imply.
DENSE = 4


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """A piece that is drawn by counting.

    Attributes:
        items: Its items.
        ideals: Its order ideals.
        ways: The ways to go on from each ideal.
    """

    items: Codes
    ideals: Ideals
    ways: list[int]


@dataclass(frozen=True, slots=True, eq=False)
class Swept:
    """A piece that is drawn by coupling from the past.

    Attributes:
        items: Its items.
        diagram: Its diagram, with few edges.
        given: Its diagram as it came, by which the work is estimated.
    """

    items: Codes
    diagram: Diagram
    given: Diagram


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """All that drawing needs and that does not change from draw to draw.

    Attributes:
        pieces: The poset taken apart.
        parts: The pieces that cannot be taken apart further.
    """

    pieces: Pieces
    parts: tuple[Counted | Swept, ...]


def uniform_order(
    c: Comparisons, source: Stream | RNGLike = None, *, ideals: int = DEFAULT_IDEALS
) -> Codes:
    """Draw an ordering, best first, exactly uniformly among all that respect `c`.

    Picking a random free item at every step is not uniform: it would prefer orderings
    that run through narrow places.

    Args:
        c: The comparisons.
        source: Seed, generator, a stream of random bits, or None.
        ideals: Count along order ideals while there are at most this many in a piece;
            0 leaves the whole poset to coupling from the past.

    Raises:
        RatingsError: If the comparisons contradict each other.
        ConvergenceError: If coupling from the past takes too many sweeps.

    References:
        Propp and Wilson (1996), coupling from the past; Stanley (1986), the order
        polytope.

    Examples:
        >>> from evenhand.posets import from_edges, is_ordering
        >>> c = from_edges(4, [0, 2], [1, 3])
        >>> is_ordering(c, uniform_order(c, 7))
        True
    """
    return draw_order(plan_orders(c, ideals=ideals), source)


def plan_orders(c: Comparisons, *, ideals: int = DEFAULT_IDEALS) -> Plan:
    """Prepare for any number of draws with `draw_order`.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> len(plan_orders(from_edges(4, [0, 0, 1], [2, 3, 3])).parts)
        1
    """
    pieces = take_apart(c, topological_order(c), whole=ideals == 0)
    parts: list[Counted | Swept] = []
    for items, diagram in irreducible(pieces):
        listed = order_ideals(diagram, limit=ideals)
        if listed is None:
            given = _sparse(diagram)
            parts.append(Swept(items, _thinned(given), given))
        else:
            parts.append(Counted(items, listed, completions(listed)))
    return Plan(pieces, tuple(parts))


def _sparse(diagram: Diagram) -> Diagram:
    """Drop edges that others imply where there are many, since each sweep looks at all.

    Without joints only, because those stand for more pairs than may fit in memory.
    """
    n_items, n_edges = diagram.n_items, len(diagram.down)
    joints = len(diagram.down_start) - 1 - n_items
    if joints > 0 or n_edges < DENSE * n_items or n_items > CLOSURE_ITEMS:
        return diagram
    return reduced(diagram)


def _thinned(diagram: Diagram) -> Diagram:
    """Drop what others imply around joints.

    Values always respect every edge, so one that others imply never decides one: the
    draws stay the same, and a sweep looks at a fraction of the neighbours.
    """
    n_items = diagram.n_items
    if len(diagram.down_start) - 1 == n_items or n_items > CLOSURE_ITEMS:
        return diagram
    return thinned(diagram)


def draw_order(plan: Plan, source: Stream | RNGLike = None) -> Codes:
    """Draw one ordering, best first, exactly uniformly.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> draw_order(plan_orders(from_edges(2, [1], [0])), 7).tolist()
        [1, 0]
    """
    source = as_stream(source, "order")
    pieces = plan.pieces
    rank = np.zeros(len(pieces.order), dtype=np.int64)
    for part in plan.parts:
        if isinstance(part, Counted):
            order = _counted(part, source)
        else:
            order = settle(part.diagram, source)
        rank[part.items[order]] = np.arange(len(order))
    for split in reversed(pieces.rounds):
        rank = _ranks(split.group, split.segment, rank)
        if (split.group != split.group[0]).any():
            rank = _ranks(split.parent, _interleaved(split.group, rank, source))
    return pieces.order[np.argsort(rank)]


def _ranks(within: Codes, *keys: Codes) -> Codes:
    """Rank items by the keys, the first most significant, within each class."""
    order = np.lexsort((*reversed(keys), within))
    first = np.searchsorted(within[order], within[order])
    rank = np.empty(len(within), dtype=np.int64)
    rank[order] = np.arange(len(within)) - first
    return rank


def _interleaved(group: Codes, rank: Codes, source: Stream) -> Codes:
    """Give random keys to items, increasing along each group's ranking.

    Every way to interleave the groups is equally likely, because the set of keys that a
    group gets does not depend on how its items are ranked.
    """
    keys = permutation(source, len(group))
    dealt = np.empty_like(keys)
    dealt[np.lexsort((rank, group))] = keys[np.lexsort((keys, group))]
    return dealt


def _counted(part: Counted, source: Stream) -> Codes:
    """Number all orderings along the steps and walk to a random one."""
    ideals, ways = part.ideals, part.ways
    left = below(source, ways[0])
    ideal = 0
    order: list[int] = []
    while len(order) < len(part.items):
        step = int(ideals.first[ideal])
        while left >= ways[ideals.to[step]]:
            left -= ways[ideals.to[step]]
            step += 1
        order.append(int(ideals.item[step]))
        ideal = int(ideals.to[step])
    return np.array(order, dtype=np.int64)
