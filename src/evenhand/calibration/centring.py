"""Scores relative to the reviewer's own: centred, and in standard deviations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.arrays import frozen
from evenhand.calibration.design import (
    Design,
    design,
    linked_groups,
    model_notices,
    require_rated,
    totals,
)
from evenhand.calibration.results import ROUNDING, Fit, settled
from evenhand.claims import Notice
from evenhand.errors import counted

if TYPE_CHECKING:
    from evenhand.arrays import Scores
    from evenhand.ratings import Ratings


# Spreads below this share of the reviewer's scores are rounding.
FLAT = 1e-12


def centred(ratings: Ratings) -> Fit:
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
        >>> centred(ratings).estimates.tolist()
        [1.0, 0.0, -1.0]
    """
    made = design(ratings)
    require_rated(ratings, "centred")
    means, away = _deviations(made)
    values = made.in_units(_averages(made, away))
    return _fit(ratings, "centred", values, frozen(made.in_units(means)))


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
    made = design(ratings)
    require_rated(ratings, "z")
    means, away = _deviations(made)
    # Squares are taken of shares, as those of tiny spreads would vanish.
    largest = np.zeros(made.n_reviewers)
    np.maximum.at(largest, made.reviewers, np.abs(away))
    # Zeros are as flat as other equal scores, though nothing is a share of them.
    flat = largest <= np.maximum(FLAT * np.abs(means + made.centre), ROUNDING)
    scale = np.where(flat, 1.0, largest)
    squares = made.by_reviewer((away / scale[made.reviewers]) ** 2)
    freedom = made.load_weights / made.loads * np.maximum(made.loads - 1, 1)
    spread = scale * np.sqrt(squares / freedom)
    ones = np.where(flat, 1.0, spread)[made.reviewers]
    standard = np.where(flat[made.reviewers], 0.0, away / ones)
    notices = []
    unspread = int((flat & (made.loads > 1)).sum())
    if unspread:
        text = (
            f"{counted(unspread, 'reviewer')} gave all their items the same score; "
            "each counts as 0."
        )
        notices.append(Notice("no_spread", text))
    return _fit(
        ratings,
        "z",
        _averages(made, standard),
        frozen(made.in_units(means)),
        *notices,
        slopes=frozen(made.in_units(np.where(flat, 0.0, spread))),
    )


def _deviations(made: Design) -> tuple[Scores, Scores]:
    """Return reviewers' means, and each score's distance from its reviewer's."""
    means = made.by_reviewer(made.scores) / made.load_weights
    away = made.scores - means[made.reviewers]
    away[made.loads[made.reviewers] == 1] = 0.0
    return means, away


def _averages(made: Design, said: Scores) -> Scores:
    """Average what ratings say of each item; a reviewer's only one says nothing."""
    weights = made.weighted((made.loads[made.reviewers] > 1).astype(np.float64))
    counts = totals(made.items, weights, made.n_items)
    sums = totals(made.items, weights * said, made.n_items)
    return np.divide(sums, counts, out=np.zeros(made.n_items), where=counts > 0)


def _fit(
    ratings: Ratings,
    method: str,
    values: Scores,
    offsets: Scores,
    *notices: Notice,
    slopes: Scores | None = None,
) -> Fit:
    groups = linked_groups(ratings)
    what = "they are compared as if all groups were equally good"
    return Fit(
        method=method,
        estimates=settled(values),
        groups=groups,
        offsets=offsets,
        slopes=slopes,
        notices=model_notices(ratings, groups, *notices, what=what, prior=False),
    )
