"""Bradley-Terry and additive offsets from counts of pairs, as from ratings.

REML needs no more of the reviewers of one load than sums of products: of who scored
what, and of their totals. A few rows with the same sums of products stand for all of
them.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from evenhand.arrays import frozen
from evenhand.calibration.additive import Equations, Links, Sums, confounded
from evenhand.calibration.bradley_terry import Pairs, fit_orders
from evenhand.calibration.design import (
    EQUAL_SCORES,
    fit_notices,
    one_rating_notices,
    totals,
)
from evenhand.calibration.posterior import draw, values_of_sums
from evenhand.calibration.results import Fit, settled
from evenhand.calibration.solver import TABLE
from evenhand.errors import RatingsError
from evenhand.posets.graph import connected

if TYPE_CHECKING:
    from evenhand.arrays import Codes, Scores, Table
    from evenhand.claims import Notice
    from evenhand.engines.pairs import PairCounts

# Items whose equations fit into one table.
MOST_ITEMS = TABLE

# Share of the largest eigenvalue below which one is rounding.
ROUNDING = 1e-14


def bradley_terry_of_pairs(pairs: PairCounts) -> Fit:
    """Fit what `bradley_terry` does, from counts of pairs.

    Examples:
        >>> import polars as pl
        >>> from evenhand.engines.pairs import count_pairs
        >>> rows = {"reviewer": [1, 1], "item": ["x", "y"], "score": [1, 2]}
        >>> fit = bradley_terry_of_pairs(count_pairs(pl.LazyFrame(rows)))
        >>> fit.estimates.round(3).tolist()
        [-0.589, 0.589]
    """
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to load

    size = pairs.n_items
    weights = 2 / pairs.loads[pairs.load]
    ties = (pairs.count - pairs.above - pairs.below) / 2
    won = totals(pairs.first, weights * (pairs.above + ties), size)
    won += totals(pairs.second, weights * (pairs.below + ties), size)
    ends = np.append(pairs.first, pairs.second), np.append(pairs.second, pairs.first)
    matrix = csr_array((np.tile(weights * pairs.count, 2), ends), (size, size))
    matrix.sum_duplicates()
    return fit_orders(Pairs(matrix), won, ordered_groups(pairs), _notices(pairs))


def ordered_groups(pairs: PairCounts) -> Codes:
    """Return the group of each item, linked by reviewers who put one above another.

    Examples:
        >>> import polars as pl
        >>> from evenhand.engines.pairs import count_pairs
        >>> rows = {"reviewer": [1, 1], "item": ["x", "y"], "score": [2, 2]}
        >>> ordered_groups(count_pairs(pl.LazyFrame(rows))).tolist()
        [0, 1]
    """
    ordered = pairs.above + pairs.below > 0
    return connected(pairs.n_items, pairs.first[ordered], pairs.second[ordered])


class PairLinks(Links):
    """Links of a few rows that stand for all reviewers, and sums of their scores.

    Attributes:
        sums: What the equations need of the scores.
    """

    def __init__(self, pairs: PairCounts) -> None:
        """Find rows with the same sums of products, load by load."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - slow to load

        known = zip(*_by_load(pairs), strict=True)
        parts = [_rows(pairs, place, *one) for place, one in enumerate(known)]
        sizes, rows = [len(part) for part in parts], np.concatenate(parts)
        self.loads = np.repeat(pairs.loads.astype(np.float64), sizes)
        self.counts = pairs.reviews.astype(np.float64)
        times = np.repeat(pairs.reviewers / np.maximum(sizes, 1), sizes)
        self.take(csr_array(rows[:, :-1]), times, rows[:, 0] / self.loads)
        kept = np.append([pairs.totals.sum()], pairs.totals)
        self.sums = Sums(pairs.squares.sum(), rows[:, -1], kept)


def _rows(pairs: PairCounts, place: int, own: Scores, sums: Scores) -> Table:
    """Return rows (load, who scored what, total) of the reviewers of one load."""
    size, load = pairs.n_items, int(pairs.loads[place])
    here = np.flatnonzero(pairs.load == place)
    first, second, count = pairs.first[here], pairs.second[here], pairs.count[here]
    products = np.zeros((size + 2, size + 2))
    inner = products[1:-1, 1:-1]
    inner[first, second] = inner[second, first] = count
    inner[np.diag_indices(size)] = own
    # A reviewer's total is that of the item's scores, and of all others'.
    met = totals(first, pairs.second_total[here], size)
    met += totals(second, pairs.first_total[here], size)
    products[1:-1, -1] = sums + met
    products[0, 0] = load**2 * int(pairs.reviewers[place])
    products[0, 1:-1] = load * own
    products[0, -1] = load * sums.sum()
    products[-1, -1] = pairs.load_squares[place]
    full = np.triu(products) + np.triu(products, 1).T
    values, vectors = np.linalg.eigh(full)
    kept = values > ROUNDING * values[-1]
    return np.asarray((vectors[:, kept] * np.sqrt(values[kept])).T)


def _by_load(pairs: PairCounts) -> tuple[Table, Table]:
    """Return how many scores items have from reviewers of each load, and their sums."""
    found = np.zeros((2, len(pairs.loads), pairs.n_items))
    ends = (pairs.first, pairs.first_total), (pairs.second, pairs.second_total)
    for item, total in ends:
        np.add.at(found[0], (pairs.load, item), pairs.count)
        np.add.at(found[1], (pairs.load, item), total)
    found /= np.maximum(pairs.loads - 1, 1)[:, None]
    if pairs.loads[0] == 1:
        # What is left of all scores comes from reviewers of one item.
        found[:, 0] = np.stack([pairs.reviews, pairs.totals]) - found.sum(axis=1)
    return np.round(found[0]), found[1]


def drawn_of_pairs(pairs: PairCounts, fit: Fit, number: int, seed: int) -> Table:
    """Draw values of all items together, as `drawn_values` does from ratings.

    Args:
        pairs: The counts.
        fit: What `additive_of_pairs` made of them; method "mean" stands for means.
        number: How many draws.
        seed: Where they come from.
    """
    links = PairLinks(pairs)
    sums = Sums(*(part[..., None] for part in links.sums))
    means, parts = fit.method == "mean", fit.variances
    how = functools.partial(values_of_sums, links, sums, parts, means=means)
    return draw(how, pairs.n_items, number, seed)


def additive_of_pairs(pairs: PairCounts) -> Fit:
    """Fit what `additive` does, from counts of pairs; without reviewers' offsets.

    Raises:
        RatingsError: If there are more items than a table holds.

    Examples:
        >>> import polars as pl
        >>> from evenhand.engines.pairs import count_pairs
        >>> rows = {"reviewer": ["a", "a", "b", "b"], "item": ["x", "y", "y", "z"],
        ...         "score": [9, 7, 3, 2]}
        >>> fit = additive_of_pairs(count_pairs(pl.LazyFrame(rows)))
        >>> fit.estimates.round(3).tolist()
        [1.666, -0.333, -1.333]
    """
    if pairs.n_items > MOST_ITEMS:
        raise RatingsError(
            f"items must be at most {MOST_ITEMS:,} for method 'additive' from "
            f"counts, got {pairs.n_items:,}. Use bradley-terry, or the ratings."
        )
    groups = connected(pairs.n_items, pairs.first, pairs.second)
    free = np.array(
        [
            pairs.loads[-1] > 1 and pairs.n_reviewers > 1,
            pairs.reviews.max() > 1 and pairs.n_items > 1,
        ]
    )
    links = PairLinks(pairs)
    equations = Equations(links, free)
    mixed = equations.fit_sums(links.sums)
    told = fit_notices(
        _notices(pairs), groups, *confounded(free), converged=mixed.converged
    )
    return Fit(
        method="additive",
        estimates=settled(mixed.items),
        groups=groups,
        errors=frozen(equations.errors(mixed.variances)[1]),
        variances=mixed.variances,
        converged=mixed.converged,
        notices=told,
    )


def _notices(pairs: PairCounts) -> tuple[Notice, ...]:
    """Say what in the data a model cannot make up for."""
    equal = () if pairs.squares.any() else (EQUAL_SCORES,)
    single = int(pairs.reviewers[pairs.loads == 1].sum())
    return *one_rating_notices(single), *equal
