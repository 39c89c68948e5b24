"""Borda: the share of comparisons that an item won."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.calibration._design import data_notices, group_notices
from evenhand.calibration._orders import orders
from evenhand.calibration.results import Fit, settled
from evenhand.posets.comparisons import components

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
    found = orders(ratings)
    won = found.by_item(found.wins)
    met = found.by_item((found.loads[found.reviewers] - 1).astype(np.float64))
    shares = np.divide(won, met, out=np.full(len(won), 0.5), where=met > 0)
    groups = components(found.graph)
    notices = data_notices(ratings, prior=True) + group_notices(
        groups, "shares won in different groups say nothing about each other"
    )
    return Fit("borda", settled(shares), groups, notices=tuple(notices))
