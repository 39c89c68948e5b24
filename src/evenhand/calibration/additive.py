"""Each reviewer adds an offset: score = mean + reviewer + item + rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.arrays import frozen
from evenhand.calibration.crossed import Equations
from evenhand.calibration.design import design, linked_groups, model_notices
from evenhand.calibration.results import Fit, settled
from evenhand.claims import Notice

if TYPE_CHECKING:
    from evenhand.arrays import Flags
    from evenhand.ratings import Ratings


def additive(ratings: Ratings) -> Fit:
    """Fit an offset for each reviewer and a value for each item.

    Offsets and values are normal, and their variances are estimated by restricted
    maximum likelihood (REML): predictions are drawn to the middle to the extent that
    the ratings are few or noisy.

    Args:
        ratings: Scores.

    Returns:
        The fit. Standard errors are exact up to 1,000 items or reviewers, whichever are
        fewer, and estimated by probes beyond.

    Raises:
        RatingsError: If there are no scores.

    References:
        Patterson and Thompson (1971), Recovery of inter-block information.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 3, 2])
        >>> fit = additive(ratings)
        >>> fit.estimates.round(3).tolist(), fit.offsets.round(3).tolist()
        ([1.666, -0.333, -1.333], [2.0, -2.0])
    """
    made = design(ratings)
    equations = Equations(made)
    mixed = equations.fit(made.scores)
    _, errors = equations.errors(mixed)
    groups = linked_groups(ratings)
    told = confounded(equations.free)
    return Fit(
        method="additive",
        estimates=settled(made.in_units(mixed.items)),
        groups=groups,
        errors=frozen(made.in_units(errors)),
        offsets=frozen(made.in_units(mixed.reviewers)),
        variances=made.squared(mixed.variances),
        converged=mixed.converged,
        notices=model_notices(ratings, groups, *told, converged=mixed.converged),
    )


def confounded(known: Flags) -> list[Notice]:
    """Say whether the variances of reviewers and of items can be told from the rest.

    Examples:
        >>> import numpy as np
        >>> confounded(np.array([True, False]))[0].code
        'confounded'
    """
    texts = (
        "Reviewers' offsets cannot be told from the rest here; they count as rest.",
        "Items' values cannot be told from the rest here; half of it counts as value.",
    )
    return [
        Notice("confounded", text)
        for text, free in zip(texts, known.tolist(), strict=True)
        if not free
    ]
