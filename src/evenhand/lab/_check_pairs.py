"""Every pair of items that one reviewer rated, within bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand._randomness import Stream, uniforms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.ratings import Ratings

    Codes = NDArray[np.int64]
    Scores = NDArray[np.float64]

# Pairs are held as rows of a table: some 200 MB.
MOST_PAIRS = 5_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of ratings by one reviewer.

    Attributes:
        reviewers: Reviewer code of each pair.
        first: Item code of the one rating, the smaller of the two.
        second: Item code of the other.
        signs: 1 if the first item was put above the second, -1 if below, 0 if tied.
        weights: 2 / k for a reviewer of k items, so that a reviewer without ties counts
            as k - 1 comparisons.
        total: How many pairs there are in all.
        sampled: Whether these are only some of them.
    """

    reviewers: Codes
    first: Codes
    second: Codes
    signs: Codes
    weights: Scores
    total: int
    sampled: bool


def pairs_within(ratings: Ratings, source: Stream, *, most: int = MOST_PAIRS) -> Pairs:
    """List the pairs; where they are too many, take some items of busy reviewers.

    Args:
        ratings: The ratings.
        source: Where the choice of items comes from.
        most: About how many pairs to list; one pair of each reviewer is listed at
            least.

    Returns:
        The pairs.

    Examples:
        >>> from evenhand._randomness import stream
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "a", "b"], ["x", "y", "z", "x"], [1, 2, 2, 5])
        >>> found = pairs_within(ratings, stream(7, "pairs"))
        >>> found.first.tolist(), found.second.tolist(), found.signs.tolist()
        ([0, 0, 1], [1, 2, 2], [-1, -1, 0])
    """
    loads = np.bincount(ratings.reviewer_codes, minlength=ratings.n_reviewers)
    total = _pairs_of(loads)
    rows = np.arange(ratings.n_ratings, dtype=np.int64)
    if total > most:
        rows = _thinned(ratings, _largest_load(loads, most), source)
        loads = np.minimum(loads, _largest_load(loads, most))
    starts = np.concatenate([[0], np.cumsum(loads)])[:-1]
    ones, others = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for load in np.unique(loads[loads > 1]).tolist():
        upper, lower = np.triu_indices(load, 1)
        begins = starts[loads == load][:, None]
        ones.append((begins + upper).ravel())
        others.append((begins + lower).ravel())
    first, second = rows[np.concatenate(ones)], rows[np.concatenate(others)]
    reviewers = ratings.reviewer_codes[first]
    values = ratings.preference
    above = (values[first] > values[second]).astype(np.int64)
    below = (values[first] < values[second]).astype(np.int64)
    return Pairs(
        reviewers=reviewers,
        first=ratings.item_codes[first],
        second=ratings.item_codes[second],
        signs=above - below,
        weights=2 / loads[reviewers].astype(np.float64),
        total=total,
        sampled=total > most,
    )


def _pairs_of(loads: Codes) -> int:
    # Python's integers, as a reviewer of very many items has more pairs than 2**63.
    return sum(
        int(number) * int(load) * (int(load) - 1) // 2
        for load, number in zip(*np.unique(loads, return_counts=True), strict=True)
    )


def _largest_load(loads: Codes, most: int) -> int:
    """Return the largest load, 2 at least, to which all can be cut for few pairs."""
    low, high = 2, int(loads.max())
    while low < high:
        middle = (low + high + 1) // 2
        if _pairs_of(np.minimum(loads, middle)) <= most:
            low = middle
        else:
            high = middle - 1
    return low


def _thinned(ratings: Ratings, load: int, source: Stream) -> Codes:
    """Keep so many ratings of each reviewer, chosen by lot."""
    who = ratings.reviewer_codes
    order = np.lexsort((uniforms(source, ratings.n_ratings), who))
    starts = np.searchsorted(who, np.arange(ratings.n_reviewers))
    place = np.arange(ratings.n_ratings) - starts[who]
    return np.sort(order[place < load]).astype(np.int64)
