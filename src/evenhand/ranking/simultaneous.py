"""Which items are surely above which, all statements at once.

Where a model draws values of all items together, the clearest differences are taken, as
many as hold at once in 95% of the draws.

Else there are two hypotheses for each pair of items, that either is no better than the
other. They are rejected step by step (Romano and Wolf 2005): the largest statistics
against the law of the largest of all that are left. With a probability of 95% all that
is rejected is false, so that ranks counted from it hold for all items at once
(Mogstad, Romano, Shaikh and Wilhelm 2024). A hypothesis that is far from being in doubt
has no part in that law: a tenth of the 5% goes into a bound on how far (Romano, Shaikh
and Wolf 2014).

That law comes from clusters of reviewers that were drawn again, or from signs. If
nearly every reviewer rated every item, a pair's statistic is the sum over clusters of
how often the first was rated above the second less the reverse, over the root of the
sum of its squares; its law comes from turning all signs of a cluster around, by a coin.
Only reviewers' own orders count, so it is valid for any increasing scale of each
reviewer. It assumes that clusters are independent and that, in each, equally good items
win as often as they lose, in all pairs together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, stdtrit

from evenhand.claims import CONFIDENCE
from evenhand.randomness import standard_normal, stream, uniforms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.arrays import Codes, Flags, Table
    from evenhand.ratings import Ratings

    Statistics = NDArray[np.float32]

# Signs or values that are drawn; order statistics of one less than 2,000 are exact.
DRAWS = 1999
# What may be wrong, and what of it goes into the bound.
ALPHA = round(1 - CONFIDENCE, 12)
BOUND = ALPHA / 10
# Share of all reviewers' ratings of all items from which signs are compared.
NEARLY = 0.9


def surely_above(statistics: Statistics, draws: Statistics, n_items: int) -> Flags:
    """Say which items are above which; all of it holds with a probability of 95%.

    Args:
        statistics: Of each pair of items in the order of `numpy.triu_indices`, the
            difference over its standard error.
        draws: The same if no two items differed, a row for each draw.
        n_items: How many items there are.

    Returns:
        Whether item a is above item b, by a and b.

    Examples:
        >>> normal = np.random.default_rng(7).normal(size=(1999, 1)).astype("f")
        >>> surely_above(np.array([-2.5], "f"), normal, 2).tolist()
        [[False, False], [True, False]]
    """
    sides = np.stack([statistics, -statistics])
    reach = _quantile(np.abs(draws).max(axis=1), 1 - BOUND)
    slack = np.minimum(sides + reach, 0)
    rejected = np.zeros(sides.shape, dtype=np.bool_)
    while True:
        slack[rejected] = -np.inf
        largest = np.maximum(draws + slack[0], slack[1] - draws).max(axis=1)
        more = sides > _quantile(largest, 1 - ALPHA + BOUND)
        if not (more & ~rejected).any():
            break
        rejected |= more
    above = np.zeros((n_items, n_items), dtype=np.bool_)
    first, second = np.triu_indices(n_items, 1)
    above[first, second], above[second, first] = rejected
    return above


def _quantile(values: Statistics, level: float) -> np.float32:
    """Return what a further draw exceeds with a probability of 1 - level at most."""
    place = int(np.ceil(round(level * (len(values) + 1), 6)))
    return np.float32(np.sort(np.append(values, np.float32(np.inf)))[place - 1])


def from_values(draws: Table) -> Flags:
    """Take the clearest differences, as many as hold together in 95% of the draws.

    Args:
        draws: Values of all items as a model leaves them, a row for each draw.

    Examples:
        >>> draws = np.random.default_rng(7).normal(size=(1999, 2))
        >>> from_values(draws + [9, 0]).tolist()
        [[False, True], [False, False]]
    """
    first, second = np.triu_indices(draws.shape[1], 1)
    gaps = draws[:, first] - draws[:, second]
    means, spread = gaps.mean(axis=0), gaps.std(axis=0)
    spread[spread == 0] = np.inf
    clearest = np.argsort(-np.abs(means / spread), kind="stable")
    wrong = (gaps * np.sign(means) <= 0)[:, clearest]
    number = np.where(wrong.any(axis=1), wrong.argmax(axis=1), wrong.shape[1])
    kept = clearest[: np.sort(number)[int(ALPHA * len(draws))]]
    above = np.zeros((draws.shape[1], draws.shape[1]), dtype=np.bool_)
    up = means[kept] > 0
    above[first[kept], second[kept]], above[second[kept], first[kept]] = up, ~up
    return above


def from_redraws(estimates: Table, redraws: Table, clusters: int, seed: int) -> Flags:
    """Compare items by values of clusters that were drawn again a few hundred times.

    Values are normal with the covariance of the redraws, and standard errors are as
    uncertain as so many clusters and redraws make them.

    Examples:
        >>> redraws = np.random.default_rng(7).normal(size=(200, 2))
        >>> from_redraws(np.array([9.0, 0.0]), redraws, 50, 7).tolist()
        [[False, True], [False, False]]
    """
    away = redraws - redraws.mean(axis=0)
    units = standard_normal(uniforms(stream(seed, "at once"), (DRAWS, len(away))))
    first, second = np.triu_indices(len(estimates), 1)
    parts = away[:, first] - away[:, second]
    spread = np.sqrt((parts**2).sum(axis=0) / (len(away) - 1))
    spread[spread == 0] = np.inf
    normal = units @ (parts / spread) / np.sqrt(len(away) - 1)
    freedom = 1 / (1 / (clusters - 1) + 1 / (len(away) - 1))
    below = stdtrit(freedom, ndtr(-np.abs(normal)))
    draws = np.copysign(below, normal).astype(np.float32)
    statistics = ((estimates[first] - estimates[second]) / spread).astype(np.float32)
    return surely_above(statistics, draws, len(estimates))


def nearly_complete(ratings: Ratings) -> bool:
    """Return whether nearly every reviewer rated every item, and ratings count alike.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> nearly_complete(Ratings(["a", "a", "b"], ["x", "y", "x"], [1, 2, 3]))
        False
    """
    cells = ratings.n_reviewers * ratings.n_items
    return ratings.weights is None and ratings.n_ratings >= NEARLY * cells


def from_signs(ratings: Ratings, clusters: Codes | None, seed: int) -> Flags:
    """Compare items by who was rated above whom in each cluster of reviewers.

    Args:
        ratings: The ratings.
        clusters: Cluster of each rating; by default each reviewer is one.
        seed: Where the coins come from.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> people, items = np.divmod(np.arange(40), 2)
        >>> from_signs(Ratings(people, items, items), None, 7).tolist()
        [[False, False], [True, False]]
    """
    people, n_items = ratings.reviewer_codes, ratings.n_items
    scores = np.full((ratings.n_reviewers, n_items), np.nan)
    scores[people, ratings.item_codes] = ratings.preference
    first, second = np.triu_indices(n_items, 1)
    signs = np.nan_to_num(np.sign(scores[:, first] - scores[:, second]))
    if clusters is not None:
        of_reviewer = clusters[np.unique(people, return_index=True)[1]]
        order = np.argsort(of_reviewer, kind="stable")
        starts = np.unique(of_reviewer[order], return_index=True)[1]
        signs = np.add.reduceat(signs[order], starts)
    # Sums of few whole numbers, and so exact.
    signs = signs.astype(np.float32)
    roots = np.sqrt((signs**2).sum(axis=0))
    roots[roots == 0] = np.inf
    coins = uniforms(stream(seed, "signs"), (DRAWS, len(signs)))
    draws = np.where(coins < 0.5, 1, -1).astype(np.float32) @ signs
    return surely_above(signs.sum(axis=0) / roots, draws / roots, n_items)
