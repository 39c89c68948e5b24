"""Contradictions folded away: items above and below one another become one group.

Two items are in one group if each is above the other, directly or through others. The
groups are never above and below one another, so between them the comparisons are
consistent, and all that is known of consistent comparisons holds of the groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.posets.comparisons import chain_edges, from_edges, strong_groups

if TYPE_CHECKING:
    from evenhand.posets.comparisons import Codes, Comparisons


@dataclass(frozen=True, slots=True, eq=False)
class Condensation:
    """Comparisons of groups of items.

    Attributes:
        group: Group of each item. Groups are numbered by their smallest item.
        graph: The comparisons between groups, without a contradiction.
    """

    group: Codes
    graph: Comparisons

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return self.graph.n_items

    def members(self) -> list[list[int]]:
        """Return the items of each group, increasing.

        Examples:
            >>> condense(from_edges(4, [0, 1, 2, 3], [1, 2, 1, 0])).members()
            [[0], [1, 2], [3]]
        """
        order = np.argsort(self.group, kind="stable")
        sizes = np.bincount(self.group, minlength=self.n_groups)
        parts = np.split(order, np.cumsum(sizes)[:-1]) if len(sizes) else []
        return [part.tolist() for part in parts]


def condense(c: Comparisons) -> Condensation:
    """Fold every contradiction into a group.

    Args:
        c: The comparisons, consistent or not.

    Returns:
        The groups, and what the comparisons say between them. An item that is on no
        contradiction is a group of its own.

    References:
        Tarjan (1972), Depth-first search and linear graph algorithms.

    Examples:
        >>> found = condense(from_edges(4, [0, 1, 2, 3], [1, 2, 1, 0]))
        >>> found.group.tolist(), found.n_groups
        ([0, 1, 1, 2], 3)
    """
    first = np.arange(c.n_items, dtype=np.int64)
    strong = strong_groups(c)
    tied = np.flatnonzero(strong >= 0)
    _, start, place = np.unique(strong[tied], return_index=True, return_inverse=True)
    first[tied] = tied[start][place]
    group = np.searchsorted(np.unique(first), first).astype(np.int64)
    above, below = (group[codes] for codes in chain_edges(c))
    between = above != below
    graph = from_edges(len(np.unique(first)), above[between], below[between])
    return Condensation(_frozen(group), graph)


def _frozen(codes: Codes) -> Codes:
    codes.flags.writeable = False
    return codes
