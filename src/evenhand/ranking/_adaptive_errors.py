"""Standard errors of `adaptive`, which has none of its own.

Its estimate is a mixture of an additive model and of Bradley-Terry. The error of the
first is worked out from its components of variance: what is known of an item's value is
the prior and its ratings, each as uncertain as the rest and the reviewer's offset
together; what is known of an offset is the prior and the reviewer's other ratings, each
as uncertain as the rest and the item's value together. Passing these back and forth is
exact where reviewers and items form no cycle, and close elsewhere. The errors of the
two parts come from the same ratings, so they are added as if they went together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.calibration.bradley_terry import bradley_terry

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.calibration.results import Fit, Variances
    from evenhand.ratings import Ratings

    Table = NDArray[np.float64]

ROUNDS = 20
# A part with less weight than this does not show in the errors.
SLIGHT = 0.02


def adaptive_errors(ratings: Ratings, fit: Fit) -> Table:
    """Return a standard error for each estimate of `adaptive`.

    Args:
        ratings: The ratings that the fit was made of.
        fit: What `adaptive` made of them.

    Returns:
        Errors by item code, in the unit of the estimates.

    Examples:
        >>> from evenhand.calibration.adaptive import adaptive
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 8, 2])
        >>> errors = adaptive_errors(ratings, adaptive(ratings))
        >>> bool((errors > 0).all())
        True
    """
    rho = 1.0 if fit.rho is None else fit.rho
    weight = rho**2 if fit.variances is not None else 1.0
    errors = np.zeros(ratings.n_items)
    if fit.variances is not None and weight < 1 - SLIGHT:
        errors += (1 - weight) * _additive_errors(ratings, fit.variances)
    if weight > SLIGHT:
        ordinal = bradley_terry(ratings)
        spread = float(np.std(ordinal.estimates))
        given = np.ones(ratings.n_items) if ordinal.errors is None else ordinal.errors
        errors += weight * (given / spread if spread > 0 else np.ones_like(given))
    return errors


# Spreads of the predictions; beside it no difference of two of them counts.
UNKNOWN = 1e6


def _additive_errors(ratings: Ratings, parts: Variances) -> Table:
    """Return errors of predicted values in units of the spread of the predictions."""
    squared = value_variances(ratings, parts)
    explained = float(np.mean(parts.item - squared))
    if not explained > 0:
        # The model tells no two items apart: every order is as good as another.
        return np.full(ratings.n_items, UNKNOWN)
    return np.asarray(np.sqrt(squared / explained))


def value_variances(ratings: Ratings, parts: Variances) -> Table:
    """Return how uncertain the additive model leaves each item's value.

    Args:
        ratings: Who rated what.
        parts: Variances of reviewers' offsets, items' values and the rest.

    Examples:
        >>> from evenhand.calibration.results import Variances
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "b", "a"], ["x", "x", "y"], [1, 2, 3])
        >>> value_variances(ratings, Variances(0.0, 1.0, 1.0)).round(3).tolist()
        [0.333, 0.5]
    """
    reviewers, items = ratings.reviewer_codes, ratings.item_codes
    if parts.item <= 0 or parts.rest <= 0:
        return np.zeros(ratings.n_items)
    # Numbers relative to the rest, which may be large or small.
    offset, value = parts.reviewer / parts.rest, parts.item / parts.rest
    # What one rating says about its item, and about its reviewer.
    to_item = np.full(len(items), 1 / (1 + offset))
    to_reviewer = np.full(len(items), 1 / (1 + value))
    for _ in range(ROUNDS):
        known = np.bincount(reviewers, to_reviewer, minlength=ratings.n_reviewers)
        others = np.maximum(known[reviewers] - to_reviewer, 0)
        to_item = 1 / (1 + offset / (1 + offset * others))
        known = np.bincount(items, to_item, minlength=ratings.n_items)
        others = np.maximum(known[items] - to_item, 0)
        to_reviewer = 1 / (1 + value / (1 + value * others))
    known = np.bincount(items, to_item, minlength=ratings.n_items)
    return np.asarray(parts.item / (1 + value * known))
