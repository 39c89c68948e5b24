"""The paper's ranking simulation, many samples at a time.

Each sample names the items at random, gives each reviewer a pair of them, no pair
twice, and ranks by the comparisons: in the topological ordering with the smallest names
first, by Algorithm 1 from there, and by mean rank over all orderings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

# Mean ranks that differ less differ by rounding only.
DIGITS = 9


class Samples(NamedTuple):
    """Samples of names and pairs.

    Attributes:
        values: Value of each item by its name, shape (samples, items).
        reviewers: Who has a pair of items, -1 for nobody; shape (samples, items,
            items).
        above: Whether the first item was put above the second, of the same shape.
    """

    values: Floats
    reviewers: Codes
    above: Flags


def draw_samples(
    values: Floats, n_reviewers: int, count: int, rng: Generator
) -> Samples:
    """Name items at random and draw distinct pairs of them.

    Examples:
        >>> rng = np.random.default_rng(7)
        >>> draw_samples(np.array([1.0, 2.0, 4.0]), 2, 5, rng).above.sum(axis=(1, 2))
        array([2, 2, 2, 2, 2])
    """
    n = len(values)
    named = rng.permuted(np.tile(values, (count, 1)), axis=1)
    first, second = np.triu_indices(n, 1)
    everybody = np.full(len(first), -1)
    everybody[:n_reviewers] = np.arange(n_reviewers)
    who = rng.permuted(np.tile(everybody, (count, 1)), axis=1)
    reviewers = np.full((count, n, n), -1)
    reviewers[:, first, second] = reviewers[:, second, first] = who
    above = (reviewers >= 0) & (named[:, :, None] > named[:, None, :])
    return Samples(named, reviewers, above)


def first_orderings(above: Flags) -> Codes:
    """Return the topological ordering with the smallest items first of each sample.

    Examples:
        >>> first_orderings(np.array([[[0, 0, 0], [0, 0, 0], [1, 0, 0]]], dtype=bool))
        array([[1, 2, 0]])
    """
    count, n, _ = above.shape
    rows, order = np.arange(count), np.empty((count, n), dtype=np.int64)
    waiting = above.sum(axis=1)
    for place in range(n):
        item = (waiting == 0).argmax(axis=1)
        order[:, place] = item
        waiting -= above[rows, item]
        waiting[rows, item] = -1
    return order


def wrong_pairs(order: Codes, values: Floats) -> Codes:
    """Count in each sample the pairs of an order that the values put the other way.

    Examples:
        >>> wrong_pairs(np.array([[0, 1, 2]]), np.array([[1.0, 3.0, 2.0]]))
        array([2])
    """
    placed = np.take_along_axis(values, order, axis=1)
    wrong = np.triu(placed[:, :, None] < placed[:, None, :])
    return np.asarray(wrong.sum(axis=(1, 2)))


def flip_gains(
    samples: Samples, order: Codes, slopes: Floats, shifts: Floats, rng: Generator
) -> tuple[Floats, Floats]:
    """Settle the free neighbours of orders by Algorithm 1, its coins averaged out.

    A coin on neighbours changes Kendall tau by one and no other pair.

    Args:
        samples: The samples.
        order: The ordering to begin with in each, shape (samples, items).
        slopes: Slope of each reviewer's scale.
        shifts: Shift of each reviewer's scale.
        rng: Where chance comes from that chooses reviewers.

    Returns:
        By how much Kendall tau grows on average in each sample, by coins on scores and
        by fair coins on the same neighbours.

    References:
        Wang and Shah (2019), Algorithm 1.

    Examples:
        >>> rng = np.random.default_rng(7)
        >>> samples = draw_samples(np.array([1.0, 2.0, 4.0]), 1, 5, rng)
        >>> order = first_orderings(samples.above)
        >>> flip_gains(samples, order, np.ones(1), np.zeros(1), rng)[1].tolist()
        [0.0, 0.0, 0.0, 0.0, 0.0]
    """
    count, n = order.shape
    by_scores, by_lot = np.zeros(count), np.zeros(count)
    compared = samples.reviewers >= 0
    # Pairs whose reviewer has not been used yet.
    fresh = compared.copy()
    free = np.ones(count, dtype=np.bool_)
    for place in range(n - 1):
        here, one, two = np.arange(count), order[:, place], order[:, place + 1]
        scored = fresh[here, one].any(axis=1) & fresh[here, two].any(axis=1)
        free &= scored & ~compared[here, one, two]
        here, one, two = here[free], one[free], two[free]
        scores = []
        for item in (one, two):
            rows = fresh[here, item]
            other = (rows * rng.random(rows.shape)).argmax(axis=1)
            fresh[here, item, other] = fresh[here, other, item] = False
            who = samples.reviewers[here, item, other]
            scores.append(slopes[who] * samples.values[here, item] + shifts[who])
        gap = scores[0] - scores[1]
        worse = np.sign(samples.values[here, one] - samples.values[here, two]) / 2
        by_scores[here] += worse * (1 - gap / (1 + np.abs(gap)))
        by_lot[here] += worse
        # Who was settled is not looked at again.
        free = ~free
    return by_scores, by_lot


def mean_ranks(above: Flags) -> Floats:
    """Average the rank of each item over all orderings that respect the comparisons.

    Orderings are paths through the order ideals: the sets of items that may come first,
    here as bits, those of one size in all samples after those of the size before. Ways
    to reach an ideal times ways to go on from it count the orderings.

    Args:
        above: Who was put above whom, shape (samples, items, items), at most 64 items.

    Returns:
        Mean ranks from 1, shape (samples, items).

    Examples:
        >>> mean_ranks(np.array([[[0, 1, 0], [0, 0, 0], [0, 0, 0]]], dtype=bool))
        array([[1.33333333, 2.66666667, 2.        ]])
    """
    count, n, _ = above.shape
    bits = np.uint64(1) << np.arange(n, dtype=np.uint64)
    needed = (above * bits[:, None]).sum(axis=1)
    sample, ideal = np.arange(count), np.zeros(count, dtype=np.uint64)
    ways = np.ones(count)
    steps = []
    for _ in range(n):
        missing = ~ideal[:, None]
        may_follow = (missing & bits != 0) & (missing & needed[sample] == 0)
        before, item = np.nonzero(may_follow)
        longer, owner = ideal[before] | bits[item], sample[before]
        order = np.lexsort((longer, owner))
        starts = np.append(
            True, (np.diff(longer[order]) != 0) | (np.diff(owner[order]) != 0)
        )
        after = np.empty(len(order), dtype=np.int64)
        after[order] = np.cumsum(starts) - 1
        steps.append((before, owner * n + item, after, ways))
        ways = _sums(after, ways[before], int(starts.sum()))
        sample, ideal = owner[order][starts], longer[order][starts]
    rest, ranks = np.ones(count), np.zeros(count * n)
    for size in range(n, 0, -1):
        before, cell, after, ways = steps[size - 1]
        onward = rest[after]
        ranks += size * _sums(cell, ways[before] * onward, count * n)
        rest = _sums(before, onward, len(ways))
    return ranks.reshape(count, n) / rest[:, None]


def _sums(places: Codes, weights: Floats, count: int) -> Floats:
    return np.asarray(np.bincount(places, weights, count), dtype=np.float64)


def kendall_samples(
    values: Floats, slopes: Floats, shifts: Floats, count: int, rng: Generator
) -> Floats:
    """Return Kendall tau of four ways to rank in each sample, coins averaged out.

    Args:
        values: Values of the items.
        slopes: Slope of each reviewer's scale.
        shifts: Shift of each reviewer's scale.
        count: Number of samples.
        rng: Where chance comes from.

    Returns:
        Of the start, of Algorithm 1, of fair coins on the same neighbours, and of the
        order by mean rank; shape (samples, 4).

    Examples:
        >>> rng = np.random.default_rng(7)
        >>> kendall_samples(np.arange(3.0), np.ones(1), np.zeros(1), 5, rng).shape
        (5, 4)
    """
    samples = draw_samples(values, len(slopes), count, rng)
    order = first_orderings(samples.above)
    start = wrong_pairs(order, samples.values)
    by_scores, by_lot = flip_gains(samples, order, slopes, shifts, rng)
    # Equal mean ranks are put in order by their names, which are drawn.
    ranked = np.argsort(mean_ranks(samples.above).round(DIGITS), axis=1, kind="stable")
    return np.stack(
        [start, start + by_scores, start + by_lot, wrong_pairs(ranked, samples.values)],
        axis=1,
    )
