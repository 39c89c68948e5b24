"""Values of all items without one rating, for each rating in turn.

Fitting a model again for each rating takes long. But given the ratios of variances the
predictions are linear in the scores, so that a rating is taken out exactly by an update
of rank one: without rating r, with residual e and leverage h, the solution of C x = p
is x - C^-1 w e / (1 - h), where w has a 1 at the mean, the reviewer and the item of r.
Orders take one Newton step from the values of all. What is held is what all ratings
decide together: the ratios of variances, rho, and where a score stands among all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.calibration.adaptive import fit_views, views_of
from evenhand.calibration.bradley_terry import (
    PRIOR_PRECISION,
    information_root,
    order_values,
    pairs_of,
)
from evenhand.calibration.crossed import Equations
from evenhand.calibration.design import design
from evenhand.calibration.results import ROUNDING

if TYPE_CHECKING:
    from evenhand.arrays import Scores, Table
    from evenhand.calibration.crossed import Mixed
    from evenhand.ratings import Ratings


# Items of a reviewer up to which the curvature is taken without the rating as well.
CURVED = 60
# A part of `adaptive` with less weight than this changes no rank.
SLIGHT = 1e-6


def adaptive_without_each(ratings: Ratings) -> Table:
    """Return what `adaptive` makes of the other ratings, a row for each left out.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 8, 2])
        >>> adaptive_without_each(ratings).argmax(axis=1).tolist()
        [1, 0, 0, 0]
    """
    if ratings.kind != "scores":
        return orders_without_each(ratings)
    equations = Equations(design(ratings))
    views = views_of(design(ratings), ratings.scores, ratings)
    fits = fit_views(views, equations)
    total = np.zeros((ratings.n_ratings, ratings.n_items))
    for view, mixed in zip(views, fits, strict=False):
        total += _standardised(_without_each(equations, view - view.mean(), mixed))
    share = fits[-1].variances.reviewer_share ** 2 if fits else 0.0
    if share < SLIGHT:
        return total
    orders = _standardised(orders_without_each(ratings))
    return np.asarray((1 - share) * _standardised(total) + share * orders)


def additive_without_each(ratings: Ratings) -> Table:
    """Return what `additive`, with drawn-in values, makes of the other ratings.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 8, 2])
        >>> additive_without_each(ratings).argmax(axis=1).tolist()
        [1, 0, 0, 0]
    """
    made = design(ratings)
    equations = Equations(made)
    return _without_each(equations, made.scores, equations.fit(made.scores))


def _without_each(equations: Equations, scores: Scores, mixed: Mixed) -> Table:
    made, links, system = equations.made, equations.system.links, equations.system
    rows = np.arange(len(scores))
    if mixed.ratios is None:
        return np.tile(mixed.items, (len(rows), 1))
    dropped, kept = equations.ordered(made.reviewers, made.items)
    weights = mixed.ratios[0] / (1 + mixed.ratios[0] * links.loads)
    right = links.matrix[dropped] * -weights[dropped, None]
    right = right if isinstance(right, np.ndarray) else right.toarray()
    right[:, 0] += 1
    right[rows, kept + 1] += 1
    system.at(mixed.ratios)
    kept_moves = system.solve(right.T, "without").T
    moves = -weights * (links.matrix @ kept_moves.T).T
    moves[rows, dropped] += weights[dropped]
    leverage = kept_moves[:, 0] + kept_moves[rows, kept + 1] + moves[rows, dropped]
    fitted = mixed.mean + mixed.reviewers[made.reviewers] + mixed.items[made.items]
    left = made.weighted(scores - fitted)
    times = left / np.maximum(1 - made.weighted(leverage), ROUNDING)
    _, items = equations.ordered(moves, kept_moves[:, 1:])
    return np.asarray(mixed.items - times[:, None] * items)


def orders_without_each(ratings: Ratings) -> Table:
    """Return what Bradley-Terry makes of the other ratings, by one Newton step.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "x", "y"], [2, 1, 5, 4])
        >>> orders_without_each(ratings).argmax(axis=1).tolist()
        [0, 0, 0, 0]
    """
    values = order_values(ratings)
    pairs = pairs_of(ratings, 2 / np.bincount(ratings.reviewer_codes))
    root = information_root(pairs.at(values), PRIOR_PRECISION)
    inverse = root.T @ root
    found = np.tile(values, (ratings.n_ratings, 1))
    firsts = np.flatnonzero(np.diff(ratings.reviewer_codes)) + 1
    for rows in np.split(np.arange(ratings.n_ratings), firsts):
        items = ratings.item_codes[rows]
        slopes, curves = _changes(values[items], ratings.preference[rows])
        if len(rows) <= CURVED:
            inner = np.eye(len(rows)) + curves @ inverse[np.ix_(items, items)]
            slopes = np.asarray(
                np.linalg.solve(inner, slopes[:, :, None])[:, :, 0], float
            )
        found[rows] += slopes @ inverse[items]
    return found


def _changes(values: Scores, preference: Scores) -> tuple[Table, Table]:
    """Return how slope and curvature change, a row for each of a reviewer's ratings."""
    number = len(values)
    expected = (1 + np.tanh((values[:, None] - values) / 2)) / 2
    won = (np.sign(preference[:, None] - preference) + 1) / 2
    more = won - expected
    even = expected * (1 - expected)
    np.fill_diagonal(even, 0.0)
    before, after = 2 / number, 2 / max(number - 1, 1)
    others = 1 - np.eye(number)
    slopes = after * others * (more.sum(axis=1) - more.T) - before * more.sum(axis=1)
    if number > CURVED:
        return slopes, even[None]
    rest = even * others[:, :, None] * others[:, None, :]
    laplacian = np.eye(number) * rest.sum(axis=2)[:, :, None] - rest
    whole = np.diag(even.sum(axis=1)) - even
    return slopes, after * laplacian - before * whole


def _standardised(values: Table) -> Table:
    """Shift and scale rows to mean 0 and standard deviation 1, but for flat ones."""
    centred = values - values.mean(axis=1, keepdims=True)
    size = np.abs(centred).max(axis=1, keepdims=True)
    flat = size <= ROUNDING * np.abs(values).max(axis=1, keepdims=True)
    centred /= np.where(flat, 1.0, size)
    spread = centred.std(axis=1, keepdims=True)
    return np.asarray(np.where(flat, 0.0, centred / np.where(flat, 1.0, spread)))
