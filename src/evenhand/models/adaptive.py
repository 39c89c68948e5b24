"""Scores as far as reviewers share a scale, orders as far as they do not.

The share rho of the variance of pooled ranks that reviewers' own offsets take says how
much levels mean across reviewers: near 0 scores are compared as they are, near 1 only
within each reviewer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand.claims import DataWarning
from evenhand.lazy import lazy
from evenhand.models.additive import (
    START,
    Equations,
    Mixed,
    additive_without_each,
    bound_notices,
    without_each,
)
from evenhand.models.bradley_terry import (
    PRIOR_PRECISION,
    order_values,
    orders_without_each,
)
from evenhand.models.design import (
    Variances,
    build_matrix,
    fit_of,
    fixed_sums,
    normal_scores,
    rank_shares,
    round_to_resolution,
    standardise,
)
from evenhand.models.reliability import reliable_matrix
from evenhand.posets.graph import comparisons, components

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evenhand.arrays import Scores, Table
    from evenhand.models import redraws
    from evenhand.models.additive import Shares
    from evenhand.models.design import Fit, RatingMatrix
    from evenhand.ratings import Ratings
else:
    redraws = lazy("evenhand.models.redraws")

# Scores further from the middle half than so many of its widths are pulled in.
FENCE = 2.0
# Where offsets take half of the variance, levels no longer link groups of items. The
# edge is below an exact half, which a few scores can have, so that rounding decides
# nothing.
WILD = 0.5 - 1e-6
LOW, HIGH = 0.2, 0.8
LEAST_START = 0.01
ORDERS_ONLY = DataWarning("orders_only")


def adaptive(ratings: Ratings, *, reliabilities: bool = False) -> Fit:
    """Combine random-effects models of the scores with Bradley-Terry on the orders.

    Scores (with outliers pulled in), normal scores and pooled ranks are each fitted by
    an additive model with REML; `card` is the sum of the three standardised
    predictions. With rho the reviewers' share of variance in the fit of ranks, the
    estimate is (1 - rho^2) card + rho^2 ord, where `ord` is Bradley-Terry. Where the
    form fixes what each reviewer's scores add up to, as in votes, rho is 1.

    Args:
        ratings: Scores; with ranks or comparisons only the orders count, and rho is 1.
        reliabilities: Whether scores are divided by reviewers' slopes and weighed by
            how little they err; orders count alike.

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
    ordinal = standardise(order_values(ratings))
    warnings, parts, converged = list[DataWarning](), None, True
    if ratings.kind == "scores":
        matrix, views = weighed_views(
            ratings, ratings.scores, reliabilities=reliabilities
        )
        fits = fit_views(views, Equations(matrix))
        parts, converged = fits[-1].variances, all(mixed.converged for mixed in fits)
        estimates, rho = _combine(fits, ordinal, fixed=fixed_sums(ratings) is not None)
        warnings = bound_notices(*fits)
    else:
        estimates, rho, warnings = ordinal, 1.0, [ORDERS_ONLY]
    wild = rho > WILD
    fit = fit_of(
        ratings,
        "adaptive",
        estimates,
        *warnings,
        groups=components(comparisons(ratings)) if wild else None,
        across="orders" if wild else "levels",
    )
    return replace(fit, variances=parts, rho=rho, converged=converged)


def adaptive_by_shares(ratings: Ratings, shares: Shares, sd: float) -> Fit:
    """Combine scores and orders by constants that no score at hand decides on.

    Item values by an additive model of the scores themselves, with a ridge, and by
    Bradley-Terry, each in standard deviations of its prior: (1 - rho^2) and rho^2 of
    them, where rho is the reviewers' share. Neither ranks among all ratings nor fences
    come in, since with these an item's score moves what others count. No value falls
    against another's when its own scores rise, so Theorem M holds.

    Args:
        ratings: Scores.
        shares: Reviewers' and items' shares of the variance of a score.
        sd: Standard deviation of a score.

    Returns:
        The fit.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 8, 2])
        >>> fit = adaptive_by_shares(ratings, (0.1, 0.5), 3)
        >>> fit.estimates.round(2).tolist(), fit.rho
        ([0.66, 0.41, -1.07], 0.1)
    """
    matrix, (reviewers, items) = build_matrix(ratings), shares
    mixed = Equations(matrix).fit(matrix.scores, shares=shares)
    values = _by_priors(matrix.in_units(mixed.items), order_values(ratings), shares, sd)
    parts = Variances(reviewers, items, 1 - reviewers - items)
    fit = fit_of(ratings, "adaptive", values)
    return replace(fit, variances=parts, rho=reviewers)


def _by_priors(card: Table, ordinal: Table, shares: Shares, sd: float) -> Table:
    """Add up values by scores and by orders, in standard deviations of their priors."""
    weight = shares[0] ** 2
    card = card / (sd * np.sqrt(shares[1]))
    return np.asarray((1 - weight) * card + weight * np.sqrt(PRIOR_PRECISION) * ordinal)


def adaptive_again(
    ratings: Ratings, sets: Sequence[Scores], *, reliabilities: bool = False
) -> list[Scores]:
    """Estimate from other scores that keep each reviewer's order and ties.

    Who rated what and the orders stay, so that they are looked at only once, and many
    scores are fitted at once.

    Args:
        ratings: Scores.
        sets: Sets of other scores, one for each rating.
        reliabilities: As of `adaptive`.

    Returns:
        The estimates that `adaptive` would make of each set. Where the likelihood has
        several peaks, another one may be found. Where the form of the ratings fixes
        reviewers' sums, levels of the others mean nothing either.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 8, 2])
        >>> adaptive_again(ratings, [ratings.scores])[0].round(2).tolist()
        [1.14, 0.15, -1.29]
    """
    ordinal = standardise(order_values(ratings))
    if fixed_sums(ratings):
        return [round_to_resolution(ordinal) for _ in sets]
    if reliabilities:
        weighed = (
            weighed_views(ratings, scores, reliabilities=reliabilities)
            for scores in sets
        )
        again = (fit_views(views, Equations(matrix)) for matrix, views in weighed)
        return [round_to_resolution(_combine(fits, ordinal)[0]) for fits in again]
    equations = Equations(build_matrix(ratings))
    views = [views_of(ratings, scores) for scores in sets]
    if not equations.whole:
        fits = [fit_views(set_views, equations) for set_views in views]
        return [
            round_to_resolution(_combine(set_fits, ordinal)[0]) for set_fits in fits
        ]
    columns = np.stack(
        [_centre(view) for set_views in views for view in set_views], axis=1
    )
    items, parts = redraws.fit_many(equations, columns)
    values = items.T.reshape(len(sets), len(views[0]), -1)
    # Of the last view, the ranks.
    shares = parts[0].reshape(len(sets), -1)[:, -1].tolist()
    rows = zip(values, shares, strict=True)
    return [
        round_to_resolution(_weigh(predictions, rho, ordinal))
        for predictions, rho in rows
    ]


def adaptive_without_each(ratings: Ratings, *, reliabilities: bool = False) -> Table:
    """Return what `adaptive` makes of the other ratings, a row for each left out.

    What all ratings decide together is held: the ratios of variances, rho, where a
    score stands among all, and how reliable each reviewer is.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 8, 2])
        >>> adaptive_without_each(ratings).argmax(axis=1).tolist()
        [1, 0, 0, 0]
    """
    if ratings.kind != "scores" or fixed_sums(ratings):
        return orders_without_each(ratings)
    matrix, views = weighed_views(ratings, ratings.scores, reliabilities=reliabilities)
    equations = Equations(matrix)
    fits = fit_views(views, equations)
    rows = zip(views, fits, strict=True)
    values = [without_each(equations, matrix, _centre(view), fit) for view, fit in rows]
    rho = fits[-1].variances.shares[0]
    orders = standardise(orders_without_each(ratings))
    return _weigh(values, rho, orders)


def declared_without_each(ratings: Ratings, shares: Shares, sd: float) -> Table:
    """Return the same of `adaptive_by_shares`.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 8, 2])
        >>> declared_without_each(ratings, (0.1, 0.5), 3).argmax(axis=1).tolist()
        [1, 0, 0, 0]
    """
    card = build_matrix(ratings).in_units(additive_without_each(ratings, shares))
    return _by_priors(card, orders_without_each(ratings), shares, sd)


def weighed_views(
    ratings: Ratings, scores: Scores, *, reliabilities: bool
) -> tuple[RatingMatrix, Sequence[Scores]]:
    """Return the views, by reviewers' slopes and weights if these are wanted.

    Both are found in the normal quantiles of the scores.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> len(weighed_views(ratings, ratings.scores, reliabilities=True)[1])
        3
    """
    views = views_of(ratings, scores)
    if not reliabilities:
        return build_matrix(ratings, scores), views
    matrix, slopes = reliable_matrix(ratings, scores)
    return matrix, [_centre(view) / slopes for view in views]


def fit_views(views: Sequence[Scores], equations: Equations) -> list[Mixed]:
    """Fit each view of the scores.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> made = build_matrix(Ratings(["a", "a"], ["x", "y"], [1, 1]))
        >>> fit_views([made.scores], Equations(made))[0].items.tolist()
        [0.0, 0.0]
    """
    start, fits = START, list[Mixed]()
    for scores in views:
        fits.append(equations.fit(_centre(scores), start))
        if (ratios := fits[-1].ratios) is not None:
            # The next view is much like this one, so its search starts from here.
            start = equations.in_order(*np.maximum(ratios, LEAST_START).tolist())
    return fits


def _centre(scores: Scores) -> Scores:
    # The rounding errors of a mean are no scores.
    return scores - (scores.mean() if np.ptp(scores) else scores)


def _combine(
    fits: Sequence[Mixed], ordinal: Scores, *, fixed: bool = False
) -> tuple[Scores, float]:
    """Return the estimates, and rho: 1 if the form fixes reviewers' sums."""
    rho = 1.0 if fixed else fits[-1].variances.shares[0]
    return _weigh([mixed.items for mixed in fits], rho, ordinal), rho


def _weigh(values: Iterable[Table], rho: float, ordinal: Table) -> Table:
    """Add up the predictions, and weigh them against the orders."""
    total = sum(
        (standardise(prediction) for prediction in values), np.zeros_like(ordinal)
    )
    return np.asarray((1 - rho**2) * standardise(total) + rho**2 * ordinal)


def views_of(ratings: Ratings, scores: Scores) -> Sequence[Scores]:
    """Return the scores with outliers pulled in, as normal quantiles and as ranks.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> len(views_of(ratings, ratings.scores))
        3
    """
    # In sixteenths, so that the fence is a float for all scores.
    parts = scores / 16
    low, high = np.quantile(parts, [0.25, 0.75])
    width = FENCE * (high - low)
    fenced = np.clip(parts, low - width, high + width) if width > 0 else scores
    shares = np.sqrt(12) * rank_shares(scores)
    return build_matrix(ratings, fenced).scores, normal_scores(scores), shares


def rho_case(rho: float) -> str:
    """Return what counts by the share of reviewers' offsets, a case of the warning.

    Examples:
        >>> rho_case(0.08), rho_case(0.4), rho_case(0.99)
        ('across', 'in_part', 'orders')
    """
    return "across" if rho < LOW else "in_part" if rho < HIGH else "orders"
