"""Where reviewers contradict each other, and who most often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.posets.comparisons import (
    strong_groups,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand._results import Json, Label
    from evenhand.lab._check_pairs import Pairs
    from evenhand.posets.comparisons import Comparisons
    from evenhand.ratings import Ratings

    Codes = NDArray[np.int64]

WORST = 5
# How often anybody at all is named by chance alone.
CHANCE = 0.05


@dataclass(frozen=True, slots=True)
class Contested:
    """Two items that are put in both orders.

    Attributes:
        items: The two.
        votes: How many reviewers put the first above the second, and the reverse.
    """

    items: tuple[Label, Label]
    votes: tuple[int, int]

    def to_dict(self) -> dict[str, Json]:
        """Return the fields."""
        return {"items": list(self.items), "votes": list(self.votes)}


@dataclass(frozen=True, slots=True)
class Dissenter:
    """A reviewer who is in the minority more often than others.

    Attributes:
        reviewer: Who.
        minority: Comparisons in which most others put the items the other way round.
        shared: Comparisons in which there was another reviewer.
    """

    reviewer: Label
    minority: int
    shared: int

    def to_dict(self) -> dict[str, Json]:
        """Return the fields and the share."""
        return {
            "reviewer": self.reviewer,
            "minority": self.minority,
            "shared": self.shared,
            "share": self.minority / self.shared,
        }


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
        return {
            "compared": self.compared,
            "repeated": self.repeated,
            "both_orders": self.both_orders,
            "in_cycles": self.in_cycles,
            "cycles": self.cycles,
            "worst": [pair.to_dict() for pair in self.worst],
            "minority_share": self.minority_share,
            "reviewers": [one.to_dict() for one in self.dissenters],
            "sampled": self.sampled,
        }


def find_contradictions(
    ratings: Ratings, graph: Comparisons, pairs: Pairs
) -> Contradictions:
    """Count the contradictions.

    Examples:
        >>> from evenhand._randomness import stream
        >>> from evenhand.lab._check_pairs import pairs_within
        >>> from evenhand.posets.comparisons import comparisons
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings.from_comparisons(["x", "x", "y"], ["y", "y", "x"])
        >>> pairs = pairs_within(ratings, stream(7, "pairs"))
        >>> found = find_contradictions(ratings, comparisons(ratings), pairs)
        >>> found.both_orders, found.in_cycles, found.worst[0].votes
        (1, 2, (2, 1))
    """
    decided = np.flatnonzero(pairs.signs)
    up = pairs.signs[decided] > 0
    keys = pairs.first[decided] * ratings.n_items + pairs.second[decided]
    distinct, place = np.unique(keys, return_inverse=True)
    wins = np.bincount(place[up], minlength=len(distinct))
    losses = np.bincount(place[~up], minlength=len(distinct))
    both = np.flatnonzero((wins > 0) & (losses > 0))
    fewer = np.minimum(wins, losses)[both]
    worst = both[np.lexsort((distinct[both], -(wins + losses)[both], -fewer))][:WORST]
    labels = ratings.item_labels
    found = [
        Contested(
            (labels[key // ratings.n_items], labels[key % ratings.n_items]),
            (int(wins[where]), int(losses[where])),
        )
        for where, key in zip(worst.tolist(), distinct[worst].tolist(), strict=True)
    ]
    against = np.where(up, losses[place] > wins[place], wins[place] > losses[place])
    several = (wins + losses)[place] > 1
    share, dissenters = _dissenters(
        ratings, pairs.reviewers[decided], against & several, several
    )
    cyclic = strong_groups(graph)
    return Contradictions(
        compared=len(distinct),
        repeated=int((wins + losses > 1).sum()),
        both_orders=len(both),
        in_cycles=int((cyclic >= 0).sum()),
        cycles=len(np.unique(cyclic[cyclic >= 0])),
        worst=tuple(found),
        dissenters=dissenters,
        minority_share=share,
        sampled=pairs.sampled,
    )


def _dissenters(
    ratings: Ratings,
    reviewers: Codes,
    against: NDArray[np.bool_],
    several: NDArray[np.bool_],
) -> tuple[float, tuple[Dissenter, ...]]:
    """Find who is in the minority more often than chance would have it.

    By the exact binomial at the rate of all, corrected for the number of reviewers.
    """
    from scipy.special import bdtrc  # noqa: PLC0415 - slow to load

    number = ratings.n_reviewers
    minority = np.bincount(reviewers[against], minlength=number)
    shared = np.bincount(reviewers[several], minlength=number)
    whole = int(shared.sum())
    share = float(minority.sum()) / whole if whole else 0.0
    if share in (0.0, 1.0):
        return share, ()
    # A reviewer of k items who has two of them wrong is against most in many pairs at
    # once, so a reviewer counts as k - 1 comparisons at most.
    loads = np.bincount(ratings.reviewer_codes, minlength=number)
    size = np.minimum(shared, np.maximum(loads - 1, 0))
    known = np.flatnonzero(size)
    size, often = size[known], minority[known] * size[known] // shared[known]
    tail = np.where(often > 0, bdtrc(often - 1, size, share), 1.0)
    order = np.lexsort((known, tail))[:WORST].tolist()
    # Each of the reviewers had the same chance to stand out by chance alone.
    return share, tuple(
        Dissenter(ratings.reviewer_labels[one], int(minority[one]), int(shared[one]))
        for one in known[[one for one in order if len(known) * tail[one] <= CHANCE]]
    )
