"""Where reviewers contradict each other, and who most often."""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.posets.contradictions import strong_groups
from evenhand.randomness import Stream, uniforms

if TYPE_CHECKING:
    from evenhand.arrays import Codes, Scores
    from evenhand.claims import Label
    from evenhand.posets.graph import Comparisons
    from evenhand.ratings import Ratings


WORST = 5
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
        >>> from evenhand.randomness import stream
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "a", "b"], ["x", "y", "z", "x"], [1, 2, 2, 5])
        >>> found = pairs_within(ratings, stream(7, "pairs"))
        >>> found.first.tolist(), found.second.tolist(), found.signs.tolist()
        ([0, 0, 1], [1, 2, 2], [-1, -1, 0])
    """
    who = ratings.reviewer_codes
    loads = np.bincount(who, minlength=ratings.n_reviewers)
    total = count_pairs(loads)
    rows, place = np.arange(ratings.n_ratings), _place_within(loads)
    if total > most:
        # Each busy reviewer keeps so many items, chosen by lot.
        every = range(3, int(loads.max()) + 1)
        load = 2 + bisect.bisect_right(
            every, most, key=lambda load: count_pairs(np.minimum(loads, load))
        )
        order = np.lexsort((uniforms(source, ratings.n_ratings), who))
        rows = np.sort(order[place < load])
        loads = np.minimum(loads, load)
        place = _place_within(loads)
    # Each rating is paired with those of the same reviewer that come after it.
    later = np.repeat(loads, loads) - place - 1
    one = np.repeat(np.arange(len(rows)), later)
    other = one + 1 + _place_within(later)
    first, second = rows[one], rows[other]
    values = ratings.preference
    above, below = values[first] > values[second], values[first] < values[second]
    return Pairs(
        reviewers=who[first],
        first=ratings.item_codes[first],
        second=ratings.item_codes[second],
        signs=above.astype(np.int64) - below,
        weights=2 / loads[who[first]].astype(np.float64),
        total=total,
        sampled=total > most,
    )


def count_pairs(sizes: Codes) -> int:
    """Count the pairs within groups of these sizes.

    Examples:
        >>> count_pairs(np.array([3, 1, 2]))
        4
    """
    return int((sizes * (sizes - 1) // 2).sum())


def _place_within(sizes: Codes) -> Codes:
    """Return 0, 1, 2, ... for each of some groups that stand one after the other."""
    starts = np.cumsum(sizes) - sizes
    return np.asarray(np.arange(sizes.sum()) - np.repeat(starts, sizes))


@dataclass(frozen=True, slots=True)
class Contested:
    """Two items that are put in both orders.

    Attributes:
        items: The two.
        votes: How many reviewers put the first above the second, and the reverse.
    """

    items: tuple[Label, Label]
    votes: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Contradictions:
    """Where reviewers' orders contradict each other.

    Attributes:
        compared: Pairs of items that at least one reviewer put in order.
        repeated: Those that several reviewers did.
        both_orders: Those that are put in both orders.
        in_cycles: Items that are above themselves through others.
        cycles: Groups of such items.
        worst: Pairs put in both orders with the most votes for the rarer one.
        sampled: Whether pairs of busy reviewers were sampled.
    """

    compared: int
    repeated: int
    both_orders: int
    in_cycles: int
    cycles: int
    worst: tuple[Contested, ...]
    sampled: bool


def find_contradictions(
    ratings: Ratings, graph: Comparisons, pairs: Pairs
) -> Contradictions:
    """Count contradictions, pair by pair and around cycles.

    Args:
        ratings: The ratings.
        graph: Who was put above whom by them.
        pairs: Pairs of ratings by one reviewer.

    Examples:
        >>> from evenhand.posets.graph import comparisons
        >>> from evenhand.randomness import stream
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 2, 5, 4])
        >>> pairs = pairs_within(ratings, stream(7, "pairs"))
        >>> find_contradictions(ratings, comparisons(ratings), pairs).both_orders
        1
    """
    decided, n_items = np.flatnonzero(pairs.signs), ratings.n_items
    keys = pairs.first[decided] * n_items + pairs.second[decided]
    distinct, place = np.unique(keys, return_inverse=True)
    up = pairs.signs[decided] > 0
    wins = np.bincount(place[up], minlength=len(distinct))
    votes = np.bincount(place, minlength=len(distinct))
    fewer = np.minimum(wins, votes - wins)
    both = np.flatnonzero(fewer)
    worst = both[np.lexsort((-votes[both], -fewer[both]))][:WORST].tolist()
    labels, cyclic = ratings.item_labels, strong_groups(graph)
    return Contradictions(
        compared=len(distinct),
        repeated=int((votes > 1).sum()),
        both_orders=len(both),
        in_cycles=int((cyclic >= 0).sum()),
        cycles=len(np.unique(cyclic[cyclic >= 0])),
        worst=tuple(
            Contested(
                (labels[distinct[row] // n_items], labels[distinct[row] % n_items]),
                (int(wins[row]), int(votes[row] - wins[row])),
            )
            for row in worst
        ),
        sampled=pairs.sampled,
    )
