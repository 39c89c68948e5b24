"""What comparisons say, worked out by plain loops."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
