"""How many items are above and below each: a cheap stand-in for mean ranks.

An item with a others above it and b below it, by any chain of comparisons, has a rank
between a + 1 and n - b. The middle of that range is no mean over orderings, but it
respects every comparison, and counting is quick however many orderings there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels.diagrams import merged_edges
from evenhand._kernels.heights import count_below
from evenhand._kernels.posets import down_lists
from evenhand.posets.comparisons import chains
from evenhand.posets.orderings import topological_order

if TYPE_CHECKING:
    from evenhand.posets.comparisons import Codes, Comparisons


def closure_counts(c: Comparisons) -> tuple[Codes, Codes]:
    """Count the items above each item, and those below it, by any chain.

    Time grows with the number of comparisons times the number of items over 64: some
    seconds for 100,000 items. Memory grows with the ratings only.

    Returns:
        The number of items above each item, and the number below it.

    Raises:
        RatingsError: If the comparisons contradict each other.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> above, below = closure_counts(from_edges(4, [3, 3, 0], [1, 2, 3]))
        >>> above.tolist(), below.tolist()
        ([0, 2, 2, 1], [3, 0, 0, 2])
    """
    order = topological_order(c)
    starts, down = down_lists(chains(c))
    n_nodes = len(starts) - 1
    upper = np.repeat(np.arange(n_nodes), np.diff(starts))
    # A joint comes right after the last item above it.
    key = np.zeros(n_nodes, dtype=np.int64)
    key[order] = 2 * np.arange(c.n_items)
    joint = down >= c.n_items
    np.maximum.at(key, down[joint], key[upper[joint]] + 1)
    place = np.empty(n_nodes, dtype=np.int64)
    place[np.argsort(key, kind="stable")] = np.arange(n_nodes)
    upper, lower = place[upper], place[down]
    items = np.sort(place[: c.n_items])
    below = _counts(n_nodes, upper, lower, items)
    above = _counts(n_nodes, *(n_nodes - 1 - end for end in (lower, upper, items)))
    return above[::-1][place[: c.n_items]], below[place[: c.n_items]]


def _counts(n_nodes: int, upper: Codes, lower: Codes, items: Codes) -> Codes:
    upper, lower = merged_edges(n_nodes, upper, lower)
    sizes = np.bincount(upper, minlength=n_nodes)
    number = np.full(n_nodes, -1, dtype=np.int64)
    number[np.sort(items)] = np.arange(len(items))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return count_below(starts, lower, number, len(items))


def rank_sums(c: Comparisons) -> Codes:
    """Return for each item the sum of the least and the greatest rank it may have.

    Half of it is the proxy for the mean rank: (n + 1 + above - below) / 2.

    Raises:
        RatingsError: If the comparisons contradict each other.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> rank_sums(from_edges(4, [3, 3, 0], [1, 2, 3])).tolist()
        [2, 7, 7, 4]
    """
    above, below = closure_counts(c)
    return c.n_items + 1 + above - below
