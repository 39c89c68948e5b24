"""Items by their mean rank over all orderings that respect the comparisons.

Mean ranks are exact while order ideals are few, and from sampled orderings while these
are quick to draw. Beyond that a proxy takes their place: the middle of the ranks that
an item may have, by the items above and below it.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from evenhand.arrays import frozen
from evenhand.claims import Label, Notice
from evenhand.posets.averaging import (
    DEFAULT_SAMPLES,
    Averages,
    averages,
    exact_averages,
)
from evenhand.posets.reach import rank_sums
from evenhand.posets.sampling import Swept, plan_orders
from evenhand.randomness import permutation, stream
from evenhand.ranking.notices import by_lot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.arrays import Codes
    from evenhand.posets.graph import Comparisons

# How long sampling may take, as estimated: within a factor of 3 or so.
SAMPLING_SECONDS = 20.0
# Any orderings of so few items are sampled within that.
FEW_ITEMS = 24
PROXY_TEXT = (
    "Mean ranks are not averages over orderings here but a proxy, the middle of the "
    "ranks that the comparisons allow: (n + 1 + items above - items below) / 2. It "
    "respects every comparison and in our experiments its Kendall tau was within a few "
    "per cent of that of mean ranks."
)


@dataclass(frozen=True, slots=True, eq=False)
class MeanRankOrder:
    """Items sorted by mean rank.

    Attributes:
        order: Item codes, best first.
        buckets: For each place of the order the number of its group of items with equal
            mean ranks, from 1.
        averages: The mean ranks and the law of places, by item code; of a proxy its
            values, without errors and places.
        proxy: Whether it is a proxy.
    """

    order: Codes
    buckets: tuple[int, ...]
    averages: Averages
    proxy: bool = False

    @property
    def ties(self) -> tuple[tuple[int, ...], ...]:
        """The groups of two items or more, by place."""
        cuts = np.flatnonzero(np.diff(self.buckets)) + 1
        groups = (tuple(tie.tolist()) for tie in np.split(self.order, cuts))
        return tuple(tie for tie in groups if len(tie) > 1)

    def notices(self, labels: Sequence[Label]) -> tuple[Notice, ...]:
        """Say what was left to chance."""
        notices = []
        if self.ties:
            what = "proxies of mean ranks" if self.proxy else "mean ranks"
            ties = [sorted(tie) for tie in self.ties]
            notices.append(Notice("tied_mean_ranks", by_lot(what, ties, labels)))
        if self.proxy:
            notices.append(Notice("closure_proxy", PROXY_TEXT))
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


def mean_rank_order(c: Comparisons, seed: int, how: str = "auto") -> MeanRankOrder:
    """Sort items by mean rank, equal ones by lot.

    Args:
        c: The comparisons.
        seed: Where the lot and, if need be, the sampled orderings come from.
        how: "exact" counts all orderings. "sampled" counts what it can and samples the
            rest, however long that takes. "proxy" takes the middle of the ranks that
            an item may have, (n + 1 + items above - items below) / 2, instead. "auto"
            is sampled if `sampling_seconds` is at most 20, otherwise proxy.

    Raises:
        RatingsError: If the comparisons contradict each other.
        ConvergenceError: If counting all orderings takes more than a million order
            ideals, or sampling too many sweeps.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> found = mean_rank_order(from_edges(4, [3, 3, 0], [1, 2, 3]), 7)
        >>> found.order[:2].tolist(), found.buckets
        ([0, 3], (1, 2, 3, 3))
        >>> c = from_edges(4, [0], [1])
        >>> mean_rank_order(c, 7, "proxy").averages.mean_rank.tolist()
        [2.0, 3.0, 2.5, 2.5]
    """
    slow = c.n_items > FEW_ITEMS and how == "auto"
    proxy = how == "proxy" or (slow and sampling_seconds(c) > SAMPLING_SECONDS)
    if proxy:
        found = _proxy(c, seed)
    elif how == "exact":
        found = exact_averages(c, seed)
    else:
        found = averages(c, pairs=False, rng=seed)
    exact, rounded = found.fractions, found.mean_rank.tolist()
    lot = permutation(stream(seed, "mean-rank"), c.n_items).tolist()
    # The lot never breaks a comparison: an item above another is so in each ordering,
    # drawn or counted, so its mean rank is less by 1 at least, and so is the proxy.
    # Rounding keeps the order, so fractions are compared only where floats are equal.
    order = sorted(
        range(c.n_items), key=lambda item: (rounded[item], exact[item], lot[item])
    )
    ties = itertools.groupby(order, key=exact.__getitem__)
    buckets = [number for number, (_, tie) in enumerate(ties, start=1) for _ in tie]
    codes = frozen(np.array(order, dtype=np.int64))
    return MeanRankOrder(codes, tuple(buckets), found, proxy)


def _proxy(c: Comparisons, seed: int) -> Averages:
    sums = rank_sums(c)
    values, errors = frozen(sums / 2), frozen(np.zeros(c.n_items))
    fractions = tuple(Fraction(number, 2) for number in sums.tolist())
    return Averages(values, errors, fractions, 0, None, None, seed)


def sampling_seconds(c: Comparisons, samples: int = DEFAULT_SAMPLES) -> float:
    """Estimate how long sampling mean ranks takes, in seconds of an ordinary machine.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> sampling_seconds(from_edges(3, [0], [1]))
        0.0
    """
    parts = [part for part in plan_orders(c).parts if isinstance(part, Swept)]
    return sum((part.seconds(samples) for part in parts), 0.0)
