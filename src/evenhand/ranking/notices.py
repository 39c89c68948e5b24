"""What the reader of a ranking must know about its data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._results import Notice
from evenhand.ab.weights import resolved
from evenhand.errors import counted
from evenhand.posets.comparisons import components

if TYPE_CHECKING:
    from evenhand.ab.weights import GapWeight
    from evenhand.posets.comparisons import Comparisons
    from evenhand.ranking.flips import Coin
    from evenhand.ratings import Ratings


def flip_notices(
    ratings: Ratings, coins: tuple[Coin, ...], weight: GapWeight
) -> tuple[Notice, ...]:
    """Say what stands in the way of the guarantees of rankings by coins.

    Examples:
        >>> from evenhand.ab.weights import rational
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b"], ["x", "y", "x"], [1, 1, 2])
        >>> [notice.code for notice in flip_notices(ratings, (), rational())]
        ['ties_within_reviewers', 'unequal_loads', 'no_free_pairs']
    """
    notices = []
    tied = _reviewers_with_ties(ratings)
    if tied:
        text = (
            f"{counted(tied, 'reviewer')} gave equal scores to several items; ties "
            "within a reviewer void the paper's ranking guarantees."
        )
        notices.append(Notice("ties_within_reviewers", text))
    loads = np.bincount(ratings.reviewer_codes)
    if loads.min() < loads.max():
        most = counted(int(loads.max()), "item")
        text = (
            f"Reviewers scored from {loads.min()} to {most} each; the ranking "
            "guarantees need equal loads."
        )
        notices.append(Notice("unequal_loads", text))
    if coins and not np.all(resolved(weight, [coin.gap for coin in coins])):
        text = (
            "Some gaps in scores are too large for floating point to tell from larger "
            "ones under this weight; there a coin is never worse than a fair one, but "
            "no longer strictly better."
        )
        notices.append(Notice("gap_beyond_floats", text))
    if not coins:
        text = (
            "No pair of items was free to be settled by a coin on its scores, so the "
            "ranking is its start."
        )
        notices.append(Notice("no_free_pairs", text))
    return tuple(notices)


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


def _reviewers_with_ties(ratings: Ratings) -> int:
    rows = np.lexsort((ratings.scores, ratings.reviewer_codes))
    reviewers, scores = ratings.reviewer_codes[rows], ratings.scores[rows]
    equal = (reviewers[1:] == reviewers[:-1]) & (scores[1:] == scores[:-1])
    return len(np.unique(reviewers[1:][equal]))
