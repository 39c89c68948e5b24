"""Each reviewer's own order of items: what ordinal models are fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.calibration._design import totals
from evenhand.posets.comparisons import Comparisons, comparisons

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.ratings import Ratings

    Codes = NDArray[np.int64]
    Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Orders:
    """Reviewers' orders, row by row.

    Attributes:
        graph: The comparisons.
        start: Slices of the rows, one for each reviewer.
        items: Item of each row, from each reviewer's best to worst.
        wins: Share of comparisons won by each row's item, times k - 1 for a reviewer of
            k items; a tie is half a win.
        loads: Items of each reviewer.
        reviewers: Reviewer of each row.
        n_items: Number of items.
    """

    graph: Comparisons
    start: Codes
    items: Codes
    wins: Scores
    loads: Codes
    reviewers: Codes
    n_items: int

    def by_item(self, values: Scores) -> Scores:
        """Add up values of rows by item."""
        return totals(self.items, values, self.n_items)


def orders(ratings: Ratings) -> Orders:
    """Sort each reviewer's items and count their wins.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> found = orders(Ratings(["a", "a", "a"], ["x", "y", "z"], [1, 5, 5]))
        >>> found.items.tolist(), found.wins.tolist()
        ([1, 2, 0], [1.5, 1.5, 0.0])
    """
    graph = comparisons(ratings)
    loads = np.bincount(ratings.reviewer_codes, minlength=ratings.n_reviewers)
    start = np.concatenate([[0], np.cumsum(loads)]).astype(np.int64)
    sizes = np.diff(graph.level_start)
    reviewers = np.repeat(graph.level_reviewer, sizes)
    worse = start[graph.level_reviewer + 1] - graph.level_start[1:]
    wins = np.repeat(worse + (sizes - 1) / 2, sizes)
    return Orders(
        graph=graph,
        start=start,
        items=graph.level_items,
        wins=wins,
        loads=loads.astype(np.int64),
        reviewers=reviewers,
        n_items=ratings.n_items,
    )
