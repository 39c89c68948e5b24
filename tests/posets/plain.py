"""What comparisons say, worked out by plain loops."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from evenhand.posets.graph import edges
from evenhand.posets.orderings import Piece, topological_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.posets.graph import Comparisons
    from evenhand.ratings import Ratings

Pairs = set[tuple[int, int]]


def plain_edges(ratings: Ratings) -> Pairs:
    """All pairs that one reviewer scored differently, the better one first."""
    rows = list(
        zip(
            ratings.reviewer_codes.tolist(),
            ratings.item_codes.tolist(),
            ratings.preference.tolist(),
            strict=True,
        )
    )
    return {
        (item, other)
        for (reviewer, item, score), (second, other, lower) in itertools.product(
            rows, rows
        )
        if reviewer == second and score > lower
    }


def plain_closure(n_items: int, pairs: Pairs) -> NDArray[np.bool_]:
    """Warshall's algorithm."""
    reach = np.zeros((n_items, n_items), dtype=np.bool_)
    for above, below in pairs:
        reach[above, below] = True
    for via, above, below in itertools.product(range(n_items), repeat=3):
        reach[above, below] |= reach[above, via] and reach[via, below]
    return reach


def whole_piece(c: Comparisons) -> Piece:
    """All items in one piece, along the ordering, each with those next below it."""
    place = np.argsort(topological_order(c))
    pairs = {
        (int(place[above]), int(place[below]))
        for above, below in zip(*edges(c), strict=True)
    }
    reach = plain_closure(c.n_items, pairs)
    next_below = reach & ~((reach.astype(np.int64) @ reach) > 0)
    return Piece(
        np.arange(c.n_items), [np.flatnonzero(row).tolist() for row in next_below]
    )
