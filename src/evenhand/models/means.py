"""Means of scores, as most people do: plain, centred, and in standard deviations.

The plain mean takes every reviewer's scale for the same one; the others take scores
relative to the reviewer's own. They are here to be compared with.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand.arrays import frozen, mean
from evenhand.claims import DataWarning
from evenhand.models.design import (
    ROUNDING,
    RatingMatrix,
    build_matrix,
    fit_of,
    precisions,
    require_ratings,
    totals,
)

if TYPE_CHECKING:
    from evenhand.arrays import Scores
    from evenhand.models.design import Fit
    from evenhand.ratings import Ratings


# Spreads below this share of the reviewer's scores are rounding.
FLAT = 1e-12


def item_means(ratings: Ratings, scores: Scores | None = None) -> Scores:
    """Return the mean score of each item, by item code.

    Args:
        ratings: Scores, at least one for each item.
        scores: Other scores to take in place of theirs, one for each rating.

    Raises:
        RatingsError: If there are no scores, or an item has none.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> item_means(Ratings(["a", "b", "a"], ["x", "x", "y"], [1, 4, 3])).tolist()
        [2.5, 3.0]
    """
    require_ratings(ratings, "mean")
    starts, rows = ratings.by_item()
    values, weights = ratings.scores if scores is None else scores, precisions(ratings)
    once = np.ones(len(rows)) if weights is None else weights
    tops, below = (once * values)[rows].tolist(), once[rows].tolist()
    parts = [slice(*bounds) for bounds in itertools.pairwise(starts.tolist())]
    return np.array([mean(tops[part]) / mean(below[part]) for part in parts])


def centred_means(ratings: Ratings) -> Fit:
    """Take each reviewer's mean from their scores, then average by item.

    It takes all reviewers to have met equally good items. A reviewer of one item says
    nothing and is left out; an item that only such reviewers rated has 0.

    Args:
        ratings: Scores.

    Returns:
        The fit, without standard errors.

    Raises:
        RatingsError: If there are no scores, or an item has none.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 3, 1])
        >>> centred_means(ratings).estimates.tolist()
        [1.0, 0.0, -1.0]
    """
    matrix = build_matrix(ratings)
    require_ratings(ratings, "centred")
    means, away = _deviations(matrix)
    values = matrix.in_units(_averages(matrix, away))
    return _fit(ratings, "centred", values, matrix.in_units(means))


def z(ratings: Ratings) -> Fit:
    """Take scores in their reviewer's standard deviations, then average by item.

    It takes all reviewers to have met items of equal mean and spread. A reviewer of one
    item says nothing and is left out; one who gave all items the same score counts as
    0 for each. The deviation is that of a sample (divided by k - 1).

    Args:
        ratings: Scores.

    Returns:
        The fit, without standard errors; `slopes` are the deviations.

    Raises:
        RatingsError: If there are no scores, or an item has none.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 3, 1])
        >>> z(ratings).estimates.round(3).tolist()
        [0.707, 0.0, -0.707]
    """
    matrix = build_matrix(ratings)
    require_ratings(ratings, "z")
    means, away = _deviations(matrix)
    # Squares are taken of shares, as those of tiny spreads would vanish.
    largest = np.zeros(matrix.n_reviewers)
    np.maximum.at(largest, matrix.reviewers, np.abs(away))
    # Zeros are as flat as other equal scores, though nothing is a share of them.
    flat = largest <= np.maximum(FLAT * np.abs(means + matrix.centre), ROUNDING)
    scale = np.where(flat, 1.0, largest)
    squares = matrix.by_reviewer((away / scale[matrix.reviewers]) ** 2)
    freedom = matrix.load_weights / matrix.loads * np.maximum(matrix.loads - 1, 1)
    spread = scale * np.sqrt(squares / freedom)
    ones = np.where(flat, 1.0, spread)[matrix.reviewers]
    standard = np.where(flat[matrix.reviewers], 0.0, away / ones)
    unspread = int((flat & (matrix.loads > 1)).sum())
    warnings = [DataWarning("no_spread", {"reviewers": unspread})] if unspread else []
    fit = _fit(
        ratings, "z", _averages(matrix, standard), matrix.in_units(means), *warnings
    )
    slopes = frozen(matrix.in_units(np.where(flat, 0.0, spread)))
    return replace(fit, slopes=slopes)


def _deviations(matrix: RatingMatrix) -> tuple[Scores, Scores]:
    """Return reviewers' means, and each score's distance from its reviewer's."""
    means = matrix.by_reviewer(matrix.scores) / matrix.load_weights
    away = matrix.scores - means[matrix.reviewers]
    away[matrix.loads[matrix.reviewers] == 1] = 0.0
    return means, away


def _averages(matrix: RatingMatrix, deviations: Scores) -> Scores:
    """Average what ratings say of each item; a reviewer's only one says nothing."""
    weights = matrix.weigh((matrix.loads[matrix.reviewers] > 1).astype(np.float64))
    counts = totals(matrix.items, weights, matrix.n_items)
    sums = totals(matrix.items, weights * deviations, matrix.n_items)
    return np.divide(sums, counts, out=np.zeros(matrix.n_items), where=counts > 0)


def _fit(
    ratings: Ratings,
    method: str,
    values: Scores,
    offsets: Scores,
    *warnings: DataWarning,
) -> Fit:
    fit = fit_of(ratings, method, values, *warnings, across="equal", prior=False)
    return replace(fit, offsets=frozen(offsets))
