"""How precise scores of each level of confidence are, from the ratings themselves.

Scores follow the additive model, and what is left of them varies by level. Variances by
level are fitted by restricted maximum likelihood: with residuals e and leverages h of a
fit, the sum of e^2 over a level is its variance times the sum of 1 - h. Each level also
counts one rating of the usual variance, so that no variance is 0. No level may be less
precise than a less confident one; such levels are pooled.

What chance makes of levels that are equal is taken off. With D, twice the logarithm by
which they are likelier apart, and k steps between them, logarithms of variances are
drawn together by the factor 1 - k / D, wholly if D is at most k. Weights have three
digits, far more than the search leaves open: they are the same on every machine, and
those that are shown are those that count.

References:
    MacKay, Kenna, Low and Parker (2017), Calibration with confidence: a principled
    method for panel assessment.
    Patterson and Thompson (1971), Recovery of inter-block information.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import optimize

from evenhand.models.additive import START, Equations, leverages
from evenhand.models.design import build_matrix, totals

if TYPE_CHECKING:
    from evenhand.arrays import Codes, Scores
    from evenhand.ratings import Ratings

# Items, or reviewers, up to which all ratings are looked at; of more, those of so many
# items.
ITEMS = 500
# Steps of the search, and changes of a logarithm at which it ends.
STEPS, DONE = 300, 1e-7
# Share of the squares that is rounding.
NOISE = 1e-12


def level_weights(ratings: Ratings, levels: Codes) -> Scores:
    """Return how much a rating of each level counts, 1 for the least confident.

    Args:
        ratings: Scores, without weights.
        levels: Level of confidence of each rating, from 0 for the least.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(list("aabbcc"), list("xyyzzx"), [9, 7, 5, 2, 6, 8])
        >>> level_weights(ratings, np.array([0, 1, 0, 1, 0, 1])).tolist()
        [1.0, 1.0]
    """
    count = int(levels.max()) + 1
    if min(ratings.n_items, ratings.n_reviewers) > ITEMS:
        chosen = np.linspace(0, ratings.n_items - 1, ITEMS).astype(np.int64)
        rows = np.flatnonzero(np.isin(ratings.item_codes, chosen))
        codes, scores = (ratings.reviewer_codes, ratings.item_codes), ratings.scores
        sampled = (column[rows] for column in (*codes, scores))
        ratings, levels = type(ratings)(*sampled, people=True), levels[rows]
    logs = np.zeros(count)
    equal, squares, freedom, start = _fit(ratings, levels, logs)
    usual = squares.sum() / max(freedom.sum(), 1.0)
    if usual <= NOISE * float(build_matrix(ratings).scores.var()):
        return np.ones(count)
    deviance = equal
    for _ in range(STEPS):
        variances = (squares + usual) / (freedom + 1) / usual
        pooled = optimize.isotonic_regression(
            variances, weights=freedom + 1, increasing=False
        )
        change, logs = float(np.abs(np.log(pooled.x) - logs).max()), np.log(pooled.x)
        if change <= DONE:
            break
        deviance, squares, freedom, start = _fit(ratings, levels, logs, start)
    steps = np.count_nonzero(np.diff(logs))
    kept = 1 - steps / (equal - deviance) if equal - deviance > steps else 0.0
    weights = np.exp(kept * (logs[0] - logs)).tolist()
    return np.array([float(f"{weight:.3g}") for weight in weights])


def _fit(
    ratings: Ratings,
    levels: Codes,
    logs: Scores,
    start: tuple[float, float] | None = None,
) -> tuple[float, Scores, Scores, tuple[float, float]]:
    """Fit the additive model with variances by level.

    Args:
        ratings: Scores.
        levels: Level of each rating.
        logs: Logarithms of the levels' variances.
        start: Ratios of variances to start from; None to look for the highest peak.

    Returns:
        Minus twice the log likelihood; by level the squares of residuals, and the sum
        of 1 - h; and the ratios.
    """
    matrix = build_matrix(ratings.with_weights(np.exp(-logs)[levels]))
    equations, number = Equations(matrix), len(logs)
    mixed = equations.fit(matrix.scores, start or START, near=start is not None)
    if mixed.ratios is None:
        return 0.0, np.zeros(number), np.zeros(number), START
    sums = equations.links.add_up(matrix.scores)
    deviance = float(equations.likelihood(sums, mixed.ratios).value[0])
    if matrix.weights is not None:
        deviance -= float(np.log(matrix.weights).sum())
    fitted = mixed.mean + mixed.reviewers[matrix.reviewers] + mixed.items[matrix.items]
    squares = totals(levels, (matrix.scores - fitted) ** 2, number)
    freedom = totals(levels, 1 - leverages(equations, matrix, mixed), number)
    ratios = equations.in_order(*mixed.ratios.tolist())
    return deviance, squares, freedom, ratios
