"""Uniformly random orderings that respect the comparisons, without approximation.

A poset is taken apart first. What is left is drawn by counting while its order ideals
are few, and otherwise by coupling from the past.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.errors import require_whole
from evenhand.posets.contradictions import consistent
from evenhand.posets.coupling import Sweep, settle, too_slow
from evenhand.posets.orderings import Ideals, Pieces, order_ideals, take_apart
from evenhand.randomness import RNGLike, Stream, as_stream, below, permutation

if TYPE_CHECKING:
    from evenhand.arrays import Codes
    from evenhand.posets.graph import Comparisons
    from evenhand.ratings import Ratings

# Listing this many takes a quarter of a second, for nothing if there are more.
DEFAULT_IDEALS = 50_000
# How long a draw may take, as estimated.
MOST_SECONDS = 60.0
MOST_ORDERINGS = 10**7


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
        sweep: How they are redrawn; None if that would look at too many pairs.
    """

    items: Codes
    sweep: Sweep | None

    def seconds(self, samples: int = 1) -> float:
        """Estimate the time that so many draws take."""
        return math.inf if self.sweep is None else self.sweep.seconds(samples)

    def require_quick(self, samples: int = 1) -> Sweep:
        """Return the sweep.

        Raises:
            ConvergenceError: If so many draws would take minutes.
        """
        if self.sweep is None or self.seconds(samples) > MOST_SECONDS:
            raise too_slow(len(self.items))
        return self.sweep


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
        ConvergenceError: At once, if coupling from the past would take minutes.

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


def sample(data: Ratings | Comparisons, n: int, *, rng: RNGLike = None) -> Codes:
    """Draw independent orderings, exactly uniformly among all that are possible.

    Args:
        data: Ratings, or comparisons taken from them.
        n: How many to draw.
        rng: Seed, generator or None.

    Returns:
        Item codes, best first; a row for each ordering.

    Raises:
        RatingsError: If the comparisons contradict each other.
        ConvergenceError: At once, if a draw would take minutes.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> sample(from_edges(3, [0, 1], [1, 2]), 2, rng=7).tolist()
        [[0, 1, 2], [0, 1, 2]]
    """
    require_whole("n", n, 1, MOST_ORDERINGS)
    plan = plan_orders(consistent(data, method="sample"))
    source = as_stream(rng, "orders")
    return np.stack([draw_order(plan, source) for _ in range(n)])


def plan_orders(c: Comparisons, *, ideals: int = DEFAULT_IDEALS) -> Plan:
    """Prepare for any number of draws with `draw_order`.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> len(plan_orders(from_edges(4, [0, 0, 1], [2, 3, 3])).parts)
        1
    """
    pieces = take_apart(c, whole=ideals == 0)
    parts: list[Counted | Swept] = []
    for piece in pieces.pieces:
        listed = order_ideals(piece, limit=ideals)
        if listed is None:
            sweep = None if piece.below is None else Sweep(piece.below)
            parts.append(Swept(piece.items, sweep))
        else:
            parts.append(Counted(piece.items, listed, listed.completions()))
    return Plan(pieces, tuple(parts))


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
            order = settle(part.require_quick(), source)
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
    while ideals.free[ideal]:
        step = 0
        while left >= ways[ideals.to[ideal][step]]:
            left -= ways[ideals.to[ideal][step]]
            step += 1
        order.append(ideals.free[ideal][step])
        ideal = ideals.to[ideal][step]
    return np.array(order, dtype=np.int64)
