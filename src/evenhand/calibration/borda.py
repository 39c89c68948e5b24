"""Borda: the share of comparisons that an item won."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.calibration.bradley_terry import wins
from evenhand.calibration.design import model_notices, totals
from evenhand.calibration.results import Fit, settled
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
    met = totals(ratings.item_codes, others, ratings.n_items)
    half = np.full(ratings.n_items, 0.5)
    estimates = settled(np.divide(wins(ratings), met, out=half, where=met > 0))
    groups = components(comparisons(ratings))
    what = "shares won in different groups say nothing about each other"
    notices = model_notices(ratings, groups, what=what)
    return Fit("borda", estimates, groups, notices=notices)
