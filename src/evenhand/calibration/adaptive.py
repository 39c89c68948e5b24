"""Scores as far as reviewers share a scale, orders as far as they do not.

The share rho of the variance of pooled ranks that reviewers' own offsets take says how
much levels mean across reviewers: near 0 scores are compared as they are, near 1 only
within each reviewer.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from evenhand.calibration.bradley_terry import order_values
from evenhand.calibration.crossed import START, Equations, Mixed, PassSystem
from evenhand.calibration.design import (
    Design,
    design,
    linked_groups,
    model_notices,
    normal_scores,
    rank_shares,
)
from evenhand.calibration.redraws import fit_many
from evenhand.calibration.results import Fit, Variances, settled, standardised
from evenhand.claims import Notice
from evenhand.posets.graph import comparisons, components

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evenhand.arrays import Codes, Scores
    from evenhand.ratings import Ratings


# Scores further from the middle half than so many of its widths are pulled in.
FENCE = 2.0
# Where offsets take half of the variance, levels no longer link groups of items. The
# edge is below an exact half, which a few scores can have, so that rounding decides
# nothing.
WILD = 0.5 - 1e-6
LOW, HIGH = 0.2, 0.8
LEAST_START = 0.01


def adaptive(ratings: Ratings) -> Fit:
    """Combine random-effects models of the scores with Bradley-Terry on the orders.

    Scores (with outliers pulled in), normal scores and pooled ranks are each fitted by
    an additive model with REML; `card` is the sum of the three standardised
    predictions. With rho the reviewers' share of variance in the fit of ranks, the
    estimate is (1 - rho^2) card + rho^2 ord, where `ord` is Bradley-Terry.

    Args:
        ratings: Scores; with ranks or comparisons only the orders count, and rho is 1.

    Returns:
        The fit, without standard errors; `rho` and, of the fit of ranks, `variances`.
        There is no guarantee under arbitrary scales.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 8, 2])
        >>> fit = adaptive(ratings)
        >>> fit.estimates.round(2).tolist(), round(fit.rho, 3)
        ([1.14, 0.15, -1.29], 0.0)
    """
    ordinal = standardised(order_values(ratings))
    if ratings.kind != "scores":
        text = "There are no scores, so only the order of each reviewer counts."
        groups = components(comparisons(ratings))
        return _fit(ratings, ordinal, groups, 1.0, None, Notice("orders_only", text))
    made = design(ratings)
    fits = fit_views(views_of(made, ratings.scores, ratings), Equations(made))
    parts = fits[-1].variances if fits else Variances(0.0, 0.0, 0.0)
    values, rho = _values(fits)
    estimates = _combined(values, rho, ordinal)
    wild = rho > WILD
    groups = components(comparisons(ratings)) if wild else linked_groups(ratings)
    converged = all(one.converged for one in fits)
    return _fit(ratings, estimates, groups, rho, parts, converged=converged)


def adaptive_again(ratings: Ratings) -> Callable[[Sequence[Scores]], list[Scores]]:
    """Prepare for other scores that keep each reviewer's order and ties.

    Who rated what and the orders stay, so that they are looked at only once, and many
    scores are fitted at once.

    Args:
        ratings: Scores.

    Returns:
        A function from sets of other scores, one for each rating, to the estimates that
        `adaptive` would make of them. Where the likelihood has several peaks, it is
        more likely to find the highest.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 8, 2])
        >>> adaptive_again(ratings)([ratings.scores])[0].round(2).tolist()
        [1.14, 0.15, -1.29]
    """
    ordinal = standardised(order_values(ratings))
    equations = Equations(design(ratings))

    def estimates(sets: Sequence[Scores]) -> list[Scores]:
        views = [views_of(design(ratings, one), one, ratings) for one in sets]
        found: Iterable[tuple[Sequence[Scores], float]]
        if isinstance(equations.system, PassSystem):
            found = [_values(fit_views(some, equations)) for some in views]
        else:
            columns = [
                # The rounding errors of a mean are no scores.
                view - (view.mean() if np.ptp(view) else view)
                for view in itertools.chain.from_iterable(views)
            ]
            items, parts = fit_many(equations, np.stack(columns, axis=1))
            values = items.T.reshape(len(sets), len(views[0]), -1)
            # Of the last view, the ranks.
            shares = parts[0, len(views[0]) - 1 :: len(views[0])]
            found = zip(values, shares.tolist(), strict=True)
        return [settled(_combined(values, rho, ordinal)) for values, rho in found]

    return estimates


def fit_views(views: Sequence[Scores], equations: Equations) -> list[Mixed]:
    """Fit each view of the scores; none if all scores are equal.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> made = design(Ratings(["a", "a"], ["x", "y"], [1, 1]))
        >>> fit_views([made.scores], Equations(made))
        []
    """
    start, found = START, list[Mixed]()
    if all(scores.min() == scores.max() for scores in views):
        # The rounding errors of a mean are no scores.
        return []
    for scores in views:
        mixed = equations.fit(scores - scores.mean(), start)
        found.append(mixed)
        if mixed.ratios is not None:
            # The next view is much like this one, so its search starts from here.
            parts = mixed.variances
            ratios = (parts.reviewer / parts.rest, parts.item / parts.rest)
            start = (max(ratios[0], LEAST_START), max(ratios[1], LEAST_START))
    return found


def _values(fits: Sequence[Mixed]) -> tuple[Sequence[Scores], float]:
    """Return the predictions, and the reviewers' share of variance in the last fit."""
    share = fits[-1].variances.reviewer_share if fits else 0.0
    return [one.items for one in fits], share


def _combined(values: Iterable[Scores], rho: float, ordinal: Scores) -> Scores:
    """Add up the predictions, and weigh them against the orders."""
    total = sum((standardised(one) for one in values), np.zeros_like(ordinal))
    return np.asarray((1 - rho**2) * standardised(total) + rho**2 * ordinal)


def views_of(made: Design, scores: Scores, ratings: Ratings) -> Sequence[Scores]:
    """Return the scores with outliers pulled in, as normal quantiles and as ranks.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> len(views_of(design(ratings), ratings.scores, ratings))
        3
    """
    # In sixteenths, so that the fence is a float for all scores.
    parts = scores / 16
    low, high = np.quantile(parts, [0.25, 0.75])
    width = FENCE * (high - low)
    fenced = made.scores
    if width > 0:
        fenced = design(ratings, np.clip(parts, low - width, high + width)).scores
    return fenced, normal_scores(scores), np.sqrt(12) * rank_shares(scores)


def rho_sentence(rho: float) -> str:
    """Say in words what the share of reviewers' offsets means.

    Examples:
        >>> rho_sentence(0.08)
        'Reviewer offsets explain 8 % of the variance, so scores are compared across
        reviewers.'
    """
    share = f"Reviewer offsets explain {100 * rho:.0f} % of the variance, so"
    if rho < LOW:
        return f"{share} scores are compared across reviewers."
    if rho < HIGH:
        return f"{share} scores count across reviewers in part, and orders in part."
    return f"{share} mostly each reviewer's own order counts."


def _fit(
    ratings: Ratings,
    estimates: Scores,
    groups: Codes,
    rho: float,
    parts: Variances | None,
    *notices: Notice,
    converged: bool = True,
) -> Fit:
    what = (
        "across groups only the level of scores compares items, which stricter or more "
        "lenient reviewers would explain as well"
    )
    if rho > WILD:
        what = "levels mean little across reviewers here, so groups are not comparable"
    return Fit(
        method="adaptive",
        estimates=settled(estimates),
        groups=groups,
        variances=parts,
        rho=rho,
        converged=converged,
        notices=model_notices(ratings, groups, *notices, what=what),
    )
