"""What the reader of a ranking must know about its data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._results import Notice
from evenhand.ab.weights import finest, resolved
from evenhand.errors import counted
from evenhand.posets.comparisons import components

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.ab.weights import GapWeight
    from evenhand.posets.comparisons import Comparisons
    from evenhand.ranking.flips import Coin
    from evenhand.ranking.ties import TieBreak
    from evenhand.ratings import Ratings


def coin_notices(
    ratings: Ratings, coins: tuple[Coin, ...], weight: GapWeight
) -> tuple[Notice, ...]:
    """Say what stands in the way of the guarantees of rankings by coins.

    Examples:
        >>> from evenhand.ab.weights import rational
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b"], ["x", "y", "x"], [1, 1, 2])
        >>> [notice.code for notice in coin_notices(ratings, (), rational())]
        ['ties_within_reviewers', 'unequal_loads', 'no_free_pairs']
    """
    notices = list(_load_notices(ratings))
    if not coins_resolved(ratings, coins, weight):
        text = (
            "Some gaps in scores are too large for floating point to distinguish from "
            "slightly larger ones under this weight; there a coin is never worse than "
            "a fair one, but no longer strictly better."
        )
        notices.append(Notice("gap_beyond_floats", text))
    if not coins:
        text = (
            "No pair of items was free to be settled by a coin on its scores, so the "
            "ranking is an ordinal one."
        )
        notices.append(Notice("no_free_pairs", text))
    return tuple(notices)


def coins_resolved(
    ratings: Ratings, coins: tuple[Coin, ...], weight: GapWeight
) -> bool:
    """Say whether floats distinguish every coin from one on a slightly larger gap."""
    if not coins:
        return True
    step = finest(ratings.preference)
    return bool(np.all(resolved(weight, [coin.gap for coin in coins], step=step)))


def tie_notices(
    ratings: Ratings, found: TieBreak, *, split: bool = False
) -> tuple[Notice, ...]:
    """Say what stands in the way of the guarantee of ties broken by scores.

    Examples:
        >>> from evenhand._randomness import stream
        >>> from evenhand.ranking.ties import break_ties
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 1e30])
        >>> found = break_ties(ratings, [0, 1], [(0, 1)], stream(7, "ties"))
        >>> [notice.code for notice in tie_notices(ratings, found)]
        ['gap_beyond_floats']
    """
    notices = list(_load_notices(ratings, split=split))
    if found.noise > 0 and not found.resolved:
        text = (
            "Some differences of means are too large for noise that floating point can "
            "draw to overturn; there the order is never worse than one by lot, but no "
            "longer strictly better. A larger noise, chosen before scores are seen, "
            "would mend that."
        )
        notices.append(Notice("gap_beyond_floats", text))
    if not found.settled:
        text = (
            "No items that the comparisons hold for equal had scores to settle them, "
            "so the ranking is an ordinal one."
        )
        notices.append(Notice("no_free_pairs", text))
    return tuple(notices)


def _load_notices(ratings: Ratings, *, split: bool = False) -> Iterator[Notice]:
    tied = ratings.tied_reviewers
    if tied:
        rest = (
            "the claim is no longer strict."
            if split
            else "ties within a reviewer void every ranking guarantee."
        )
        text = f"{counted(tied, 'reviewer')} gave equal scores to several items; {rest}"
        yield Notice("ties_within_reviewers", text)
    loads = np.bincount(ratings.reviewer_codes)
    if loads.min() < loads.max():
        most = counted(int(loads.max()), "item")
        text = (
            f"Reviewers scored from {loads.min()} to {most} each; the ranking "
            "guarantees need equal loads."
        )
        yield Notice("unequal_loads", text)


def group_notices(graph: Comparisons) -> tuple[Notice, ...]:
    """Say that some items are connected by no comparison.

    Examples:
        >>> from evenhand.posets.comparisons import from_edges
        >>> [notice.code for notice in group_notices(from_edges(3, [0], [1]))]
        ['separate_groups']
    """
    groups = len(np.unique(components(graph)))
    if groups == 1:
        return ()
    return (
        Notice(
            "separate_groups",
            f"The comparisons leave {groups} separate groups of items; items of "
            "different groups cannot be ordered by comparisons.",
        ),
    )
