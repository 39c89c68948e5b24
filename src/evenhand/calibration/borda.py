"""Borda: the share of comparisons that an item won."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.calibration.bradley_terry import rating_wins
from evenhand.calibration.design import model_notices
from evenhand.calibration.results import Fit, PerRating, settled
from evenhand.posets.graph import comparisons, components

if TYPE_CHECKING:
    from evenhand.ratings import Ratings


def borda(ratings: Ratings) -> Fit:
    """Score items by the share of within-reviewer comparisons won; ties count half.

    It uses orders only, so no reviewer's scale matters, but an item that met strong
    company looks weak. Reviewers of one item compare nothing, and an item that was
    never compared has 1/2.

    Args:
        ratings: Scores, ranks or comparisons.

    Returns:
        The fit, without standard errors.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 3, 2])
        >>> borda(ratings).estimates.tolist()
        [1.0, 0.5, 0.0]
    """
    loads = np.bincount(ratings.reviewer_codes).astype(np.float64)
    others = loads[ratings.reviewer_codes] - 1
    shares = rating_wins(ratings) / np.maximum(others, 1)
    said = PerRating(shares, others, missing=0.5)
    once = np.ones(len(shares))
    estimates = settled(said.averages(ratings.item_codes, ratings.n_items, once))
    groups = components(comparisons(ratings))
    what = "shares won in different groups say nothing about each other"
    notices = model_notices(ratings, groups, what=what)
    return Fit("borda", estimates, groups, notices=notices, said=said)
