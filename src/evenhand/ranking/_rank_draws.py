"""Rankings drawn to see how sure one is: from a model's errors, or from reviewers anew.

Draws come one row of values at a time, so that memory holds their ranks only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand._randomness import Stream, below, permutation, stream, uniforms
from evenhand.ratings import Ratings

if TYPE_CHECKING:
    Codes = NDArray[np.int64]
    Table = NDArray[np.float64]

Ranks: TypeAlias = NDArray[np.int32]
Refit: TypeAlias = Callable[[Ratings], ArrayLike]

# Middles of the steps of the grid of uniforms: 0 itself has no quantile.
HALF_STEP = 2.0**-54
# Shares of draws are rounded.
ROUNDING = 1e-9


def normal_draws(
    values: Table, errors: Table, draws: int, seed: int
) -> Iterator[Table]:
    """Yield values with independent normal errors, row by row."""
    from scipy.special import ndtri  # noqa: PLC0415 - slow to load

    source = stream(seed, "model draws")
    for _ in range(draws):
        units = uniforms(source, len(values))
        yield values + errors * ndtri(units + HALF_STEP)


def refits(ratings: Ratings, refit: Refit, draws: int, seed: int) -> Iterator[Table]:
    """Yield what a method makes of reviewers drawn with replacement, row by row.

    Values are by item code; an item that no drawn reviewer rated gets that of another,
    by lot. An item of k ratings varies by (k - 1) / k of what it should when its
    reviewers are drawn from themselves, so deviations are stretched to make up for it.
    """
    # Eighths, as a stretched difference of large values would leave the floats.
    whole = np.asarray(refit(ratings), dtype=np.float64) / 8
    counts = np.bincount(ratings.item_codes, minlength=ratings.n_items)
    stretch = np.sqrt(np.maximum(counts, 1) / np.maximum(counts - 1, 1))
    source = stream(seed, "bootstrap")
    starts = np.searchsorted(ratings.reviewer_codes, np.arange(ratings.n_reviewers + 1))
    for _ in range(draws):
        units = uniforms(source, ratings.n_reviewers)
        chosen = (units * ratings.n_reviewers).astype(np.int64)
        sizes = starts[chosen + 1] - starts[chosen]
        first = np.repeat(starts[chosen] - np.cumsum(sizes) + sizes, sizes)
        rows = first + np.arange(len(first))
        seen, items = np.unique(ratings.item_codes[rows], return_inverse=True)
        people = np.repeat(np.arange(len(chosen)), sizes)
        values = np.empty(ratings.n_items)
        again = _again(ratings, people, items, ratings.preference[rows])
        moved = np.asarray(refit(again), dtype=np.float64) / 8 - whole[seen]
        values[seen] = whole[seen] + stretch[seen] * moved
        # By lot among the others: the value of one of them.
        bare = np.setdiff1d(np.arange(ratings.n_items), seen)
        values[bare] = values[seen[[below(source, len(seen)) for _ in bare]]]
        yield values


def _again(ratings: Ratings, people: Codes, items: Codes, scores: Table) -> Ratings:
    if ratings.kind == "scores":
        return Ratings(people, items, scores)
    # Ranks count from the best.
    return Ratings.from_ranks(people.tolist(), items.tolist(), (-scores).tolist())


def drawn_ranks(draws: Iterator[Table], number: int, seed: int) -> Ranks:
    """Rank each row of values, 1 for the highest; equal values by lot.

    Examples:
        >>> drawn_ranks(iter([np.array([1.0, 5.0, 3.0])]), 1, 7)
        array([[3, 1, 2]], dtype=int32)
    """
    source = stream(seed, "equal draws")
    ranks: Ranks | None = None
    for row, values in enumerate(draws):
        if ranks is None:
            ranks = np.empty((number, len(values)), dtype=np.int32)
        ranks[row, _by_value(values, source)] = np.arange(1, len(values) + 1)
    return np.empty((0, 0), dtype=np.int32) if ranks is None else ranks


def _by_value(values: Table, source: Stream) -> Codes:
    order = np.argsort(-values)
    ordered = values[order]
    if (ordered[1:] == ordered[:-1]).any():
        order = np.lexsort((permutation(source, len(values)), -values))
    return order.astype(np.int64)


def drawn_intervals(ranks: Ranks, tail: float) -> tuple[Codes, Codes]:
    """Leave out a share of the draws at either end.

    Examples:
        >>> ranks = np.array([[1, 2], [1, 2], [1, 2], [2, 1]], dtype=np.int32)
        >>> [side.tolist() for side in drawn_intervals(ranks, 0.25)]
        [[1, 2], [1, 2]]
    """
    ordered = np.sort(ranks, axis=0)
    out = math.floor(tail * len(ranks) + ROUNDING)
    low, high = ordered[out], ordered[len(ranks) - 1 - out]
    return low.astype(np.int64), high.astype(np.int64)


def scaled(values: Table, errors: Table) -> tuple[Table, Table]:
    """Divide by the largest number, so that no sum leaves the floats.

    Examples:
        >>> scaled(np.array([1e308, 0.0]), np.array([5e307, 0.0]))
        (array([1., 0.]), array([0.5, 0. ]))
    """
    largest = max(float(np.abs(values).max()), float(np.abs(errors).max()))
    if not 0 < largest < math.inf:
        return np.zeros_like(values), np.zeros_like(errors)
    return values / largest, errors / largest


def shrunk(values: Table, errors: Table) -> tuple[Table, Table]:
    """Draw plain estimates to their mean: empirical Bayes with a normal prior.

    Examples:
        >>> shrunk(np.array([-1.0, 1.0]), np.array([0.5, 0.5]))
        (array([-0.75,  0.75]), array([0.4330127, 0.4330127]))
    """
    prior = max(float(np.var(values)) - float(np.mean(errors**2)), 0.0)
    total = prior + errors**2
    kept = np.divide(prior, total, out=np.ones_like(total), where=total > 0)
    centre = float(values.mean())
    return centre + kept * (values - centre), np.sqrt(kept) * errors
