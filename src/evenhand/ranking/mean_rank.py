"""Items by their mean rank over all orderings that respect the comparisons."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand._randomness import permutation, stream
from evenhand._results import Label, Notice
from evenhand.errors import listing
from evenhand.posets.averages import Averages, averages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.posets.comparisons import Codes, Comparisons

GROUPS_SHOWN = 3


@dataclass(frozen=True, slots=True, eq=False)
class MeanRankOrder:
    """Items sorted by mean rank.

    Attributes:
        order: Item codes, best first.
        buckets: For each place of the order the number of its group of items with equal
            mean ranks, from 1.
        averages: The mean ranks and the law of places, by item code.
    """

    order: Codes
    buckets: tuple[int, ...]
    averages: Averages

    @property
    def ties(self) -> tuple[tuple[int, ...], ...]:
        """The groups of two items or more, each sorted by code."""
        groups: dict[int, list[int]] = {}
        for bucket, item in zip(self.buckets, self.order.tolist(), strict=True):
            groups.setdefault(bucket, []).append(item)
        return tuple(tuple(sorted(tie)) for tie in groups.values() if len(tie) > 1)

    @property
    def places(self) -> NDArray[np.float64] | None:
        """The law of places with rows in the order, None for too many items."""
        places = self.averages.places
        if places is None:
            return None
        rows = places[self.order]
        rows.flags.writeable = False
        return rows

    def notices(self, labels: Sequence[Label]) -> tuple[Notice, ...]:
        """Say what was left to chance."""
        notices = []
        if self.ties:
            notices.append(
                Notice("tied_mean_ranks", by_lot("mean ranks", self.ties, labels))
            )
        if not self.averages.exact:
            notices.append(
                Notice(
                    "sampled_orderings",
                    f"Mean ranks are from {self.averages.samples:,} random orderings; "
                    "their largest standard error is "
                    f"{self.averages.mean_rank_se.max():.2g}.",
                )
            )
        return tuple(notices)


def mean_rank_order(c: Comparisons, seed: int) -> MeanRankOrder:
    """Sort items by mean rank, equal ones by lot.

    Args:
        c: The comparisons.
        seed: Where the lot and, if need be, the sampled orderings come from.

    Raises:
        RatingsError: If the comparisons contradict each other.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> found = mean_rank_order(from_edges(4, [3, 3, 0], [1, 2, 3]), 7)
        >>> found.order[:2].tolist(), found.buckets, found.ties
        ([0, 3], (1, 2, 3, 3), ((1, 2),))
    """
    found = averages(c, pairs=False, rng=seed)
    exact, rounded = found.fractions, found.mean_rank.tolist()
    lot = permutation(stream(seed, "mean-rank"), c.n_items).tolist()
    # The lot never breaks a comparison: an item above another is so in each ordering,
    # drawn or counted, so its mean rank is less by 1 at least. Rounding keeps the
    # order, so fractions are compared only where floats are equal.
    order = sorted(
        range(c.n_items), key=lambda item: (rounded[item], exact[item], lot[item])
    )
    ties = itertools.groupby(order, key=exact.__getitem__)
    buckets = [number for number, (_, tie) in enumerate(ties, start=1) for _ in tie]
    return MeanRankOrder(np.array(order, dtype=np.int64), tuple(buckets), found)


def by_lot(what: str, groups: Sequence[Sequence[int]], labels: Sequence[Label]) -> str:
    """Say which items were ordered by lot.

    Examples:
        >>> by_lot("means", [(0, 2)], ["x", "y", "z"])
        "Items with equal means are ordered by lot: 'x', 'z'."
    """
    told = [listing(labels[item] for item in group) for group in groups[:GROUPS_SHOWN]]
    more = len(groups) - GROUPS_SHOWN
    if more > 0:
        told.append(f"and {more} group{'s' if more > 1 else ''} more")
    return f"Items with equal {what} are ordered by lot: {'; '.join(told)}."
