"""Where reviewers contradict each other, and who most often."""

from __future__ import annotations

import bisect
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.posets.contradictions import strong_groups
from evenhand.randomness import Stream, uniforms

if TYPE_CHECKING:
    from evenhand.arrays import Codes, Flags, Scores
    from evenhand.claims import Json, Label
    from evenhand.posets.graph import Comparisons
    from evenhand.ratings import Ratings


WORST = 5
# How often anybody at all is named by chance alone.
CHANCE = 0.05
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

    def votes(self, n_items: int) -> Votes:
        """Count how many reviewers put two items in which order; ties are left out."""
        decided = np.flatnonzero(self.signs)
        keys = self.first[decided] * n_items + self.second[decided]
        distinct, place = np.unique(keys, return_inverse=True)
        up = self.signs[decided] > 0
        wins = np.bincount(place[up], minlength=len(distinct))
        losses = np.bincount(place[~up], minlength=len(distinct))
        first, second = np.divmod(distinct, n_items)
        return Votes(first, second, wins, losses, decided, place)


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """How many reviewers put two items in which order, one row for each two items.

    Attributes:
        first: Item code of the one.
        second: Item code of the other.
        wins: How many put the first above the second.
        losses: How many put it below.
        decided: Which of the pairs these are, those without a tie.
        row: The row of each of them.
    """

    first: Codes
    second: Codes
    wins: Codes
    losses: Codes
    decided: Codes
    row: Codes

    def contested(self, most: int) -> list[tuple[int, int, int, int]]:
        """List rows with votes each way, those with the most first."""
        fewer = np.minimum(self.wins, self.losses)
        both = np.flatnonzero(fewer)
        # Rows go by their items, and equal ones stay in this order.
        worst = both[np.lexsort((-(self.wins + self.losses)[both], -fewer[both]))]
        columns = (self.first, self.second, self.wins, self.losses)
        found = np.stack([column[worst[:most]] for column in columns], axis=1)
        return [(one, two, up, down) for one, two, up, down in found.tolist()]


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
class Dissenter:
    """A reviewer who is in the minority more often than others.

    Attributes:
        reviewer: Who.
        minority: Comparisons in which most others put the items the other way round.
        shared: Comparisons in which there was another reviewer.
        share: The one over the other.
    """

    reviewer: Label
    minority: int
    shared: int
    share: float


@dataclass(frozen=True, slots=True)
class Contradictions:
    """How reviewers' orders disagree.

    Attributes:
        compared: Pairs of items that somebody ordered.
        repeated: Pairs of items that several reviewers ordered.
        both_orders: Pairs of items that are put in both orders.
        in_cycles: Items that are, through others, both above and below another.
        cycles: How many groups these items form.
        worst: The pairs with the most votes each way.
        dissenters: Reviewers who are unusually often in the minority.
        minority_share: How often reviewers are in the minority, over all.
        sampled: Whether only some pairs of busy reviewers were counted; cycles are
            found among all.
    """

    compared: int
    repeated: int
    both_orders: int
    in_cycles: int
    cycles: int
    worst: tuple[Contested, ...]
    dissenters: tuple[Dissenter, ...]
    minority_share: float
    sampled: bool

    def to_dict(self) -> dict[str, Json]:
        """Return the fields."""
        fields: dict[str, Json] = asdict(self)
        named = fields.pop("dissenters")
        return {**fields, "reviewers": named}


def find_contradictions(
    ratings: Ratings, graph: Comparisons, pairs: Pairs
) -> Contradictions:
    """Count the contradictions.

    Examples:
        >>> from evenhand.randomness import stream
        >>> from evenhand.posets.graph import comparisons
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings.from_comparisons(["x", "x", "y"], ["y", "y", "x"])
        >>> pairs = pairs_within(ratings, stream(7, "pairs"))
        >>> found = find_contradictions(ratings, comparisons(ratings), pairs)
        >>> found.both_orders, found.in_cycles, found.worst[0].votes
        (1, 2, (2, 1))
    """
    votes = pairs.votes(ratings.n_items)
    wins, losses, row = votes.wins, votes.losses, votes.row
    up = pairs.signs[votes.decided] > 0
    against = np.where(up, losses[row] > wins[row], wins[row] > losses[row])
    several = (wins + losses)[row] > 1
    share, dissenters = _dissenters(
        ratings, pairs.reviewers[votes.decided], against & several, several
    )
    labels = ratings.item_labels
    cyclic = strong_groups(graph)
    return Contradictions(
        compared=len(wins),
        repeated=int((wins + losses > 1).sum()),
        both_orders=int(np.count_nonzero(np.minimum(wins, losses))),
        in_cycles=int((cyclic >= 0).sum()),
        cycles=len(np.unique(cyclic[cyclic >= 0])),
        worst=tuple(
            Contested((labels[one], labels[two]), (ours, theirs))
            for one, two, ours, theirs in votes.contested(WORST)
        ),
        dissenters=dissenters,
        minority_share=share,
        sampled=pairs.sampled,
    )


def _dissenters(
    ratings: Ratings,
    reviewers: Codes,
    against: Flags,
    several: Flags,
) -> tuple[float, tuple[Dissenter, ...]]:
    """Find who is in the minority more often than chance would have it.

    By the exact binomial at the rate of all, corrected for the number of reviewers.
    """
    from scipy.special import bdtrc  # noqa: PLC0415 - slow to load

    number = ratings.n_reviewers
    minority = np.bincount(reviewers[against], minlength=number)
    shared = np.bincount(reviewers[several], minlength=number)
    share = float(minority.sum()) / max(1, int(shared.sum()))
    if share in (0.0, 1.0):
        return share, ()
    # A reviewer of k items who has two of them wrong is against most in many pairs at
    # once, so a reviewer counts as k - 1 comparisons at most.
    loads = np.bincount(ratings.reviewer_codes, minlength=number)
    size = np.minimum(shared, np.maximum(loads - 1, 0))
    often = minority * size // np.maximum(shared, 1)
    tail = np.where(often > 0, bdtrc(often - 1, size, share), 1.0)
    # Each of the reviewers had the same chance to stand out by chance alone.
    unusual = np.count_nonzero(size) * tail <= CHANCE
    order = np.argsort(tail, kind="stable")[: min(WORST, int(unusual.sum()))].tolist()
    facts = [minority, shared, minority / np.maximum(shared, 1)]
    return share, tuple(
        Dissenter(ratings.reviewer_labels[one], *(fact[one].item() for fact in facts))
        for one in order
    )
