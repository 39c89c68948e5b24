"""Additive offsets from counts of pairs, as from ratings.

REML needs no more of the reviewers of one load than sums of products: of who scored
what, and of their totals. A few rows with the same sums of products stand for all of
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.arrays import frozen
from evenhand.errors import RatingsError
from evenhand.models.additive import (
    Equations,
    Links,
    Sums,
    bound_notices,
    confounding_notices,
)
from evenhand.models.bradley_terry import pair_notices
from evenhand.models.design import Fit, fit_notices, round_to_resolution, totals
from evenhand.models.solver import TABLE
from evenhand.posets.graph import connected_groups

if TYPE_CHECKING:
    from evenhand.arrays import Scores, Table
    from evenhand.engines.pairs import PairCounts

# Share of the largest eigenvalue below which one is rounding.
ROUNDING = 1e-14


def additive_of_pairs(pairs: PairCounts) -> Fit:
    """Fit what `additive` does, from counts of pairs; without reviewers' offsets.

    Raises:
        RatingsError: If there are more items than a table holds.

    Examples:
        >>> import polars as pl
        >>> from evenhand.engines.pairs import count_pairs
        >>> rows = {"reviewer": list("aabbcc"), "item": list("xyyzzx"),
        ...         "score": [9, 7, 5, 2, 6, 10]}
        >>> fit = additive_of_pairs(count_pairs(pl.LazyFrame(rows)))
        >>> fit.estimates.round(3).tolist()
        [1.986, 0.301, -2.287]
    """
    if pairs.n_items > TABLE:
        raise RatingsError(
            f"items must be at most {TABLE:,} for method 'additive' from counts, got "
            f"{pairs.n_items:,}. Use bradley-terry, or the ratings."
        )
    equations = PairEquations(pairs)
    mixed = equations.fit(pairs.totals)
    groups = connected_groups(pairs.n_items, pairs.first, pairs.second)
    apart = [*confounding_notices(equations.free), *bound_notices(mixed)]
    warnings = pair_notices(pairs)
    return Fit(
        method="additive",
        estimates=round_to_resolution(mixed.items),
        groups=groups,
        errors=frozen(equations.errors(mixed.variances)[1]),
        variances=mixed.variances,
        converged=mixed.converged,
        notices=fit_notices(warnings, groups, *apart, converged=mixed.converged),
    )


class PairEquations(Equations):
    """Equations of the ratings that were counted."""

    def __init__(self, pairs: PairCounts) -> None:
        """Take rows that stand for all reviewers."""
        self.links, self.kept_items, self.whole = PairLinks(pairs), True, True
        many = pairs.n_reviewers > 1, pairs.n_items > 1
        most = np.array([pairs.loads[-1], pairs.reviews.max()])
        self.free = np.array(many) & (most > 1)
        self._answers, self.turned, self.ratios = {}, {}, np.full(2, np.nan)


class PairLinks(Links):
    """Links of a few rows that stand for all reviewers."""

    def __init__(self, pairs: PairCounts) -> None:
        """Find rows with the same sums of products, load by load."""
        parts = [_rows(pairs, place) for place in range(len(pairs.loads))]
        sizes, rows = [len(part) for part in parts], np.concatenate(parts)
        self.loads = np.repeat(pairs.loads.astype(np.float64), sizes)
        self.counts = pairs.reviews.astype(np.float64)
        self.matrix, self.back = rows[:, :-1], rows[:, :-1].T
        self.times = np.repeat(pairs.reviewers / np.maximum(sizes, 1), sizes)
        self.level = rows[:, 0] / self.loads
        self.size = float(self.times @ self.loads)
        kept = np.append([pairs.totals.sum()], pairs.totals)
        self._sums = Sums(pairs.squares.sum(), rows[:, -1], kept)

    def add_up(self, scores: Table) -> Sums:  # noqa: ARG002 - those that were counted
        """Return the sums of the scores that were counted."""
        return self._sums


def _rows(pairs: PairCounts, place: int) -> Table:
    """Return rows (load, who scored what, total) of the reviewers of one load."""
    size, load = pairs.n_items, int(pairs.loads[place])
    here = np.flatnonzero(pairs.load == place)
    first, second, count = pairs.first[here], pairs.second[here], pairs.count[here]
    own, sums = _by_load(pairs, place)
    # A reviewer's total is that of the item's scores, and of all others'.
    met = totals(first, pairs.second_total[here], size)
    met += totals(second, pairs.first_total[here], size)
    products = np.zeros((size + 2, size + 2))
    inner = products[1:-1, 1:-1]
    inner[first, second] = inner[second, first] = count
    inner[np.diag_indices(size)] = own
    products[1:-1, -1] = sums + met
    products[0, 0] = load**2 * int(pairs.reviewers[place])
    products[0, 1:-1] = load * own
    products[0, -1] = load * sums.sum()
    products[-1, -1] = pairs.load_squares[place]
    values, vectors = np.linalg.eigh(products, UPLO="U")
    kept = values > ROUNDING * values[-1]
    return np.asarray((vectors[:, kept] * np.sqrt(values[kept])).T)


def _by_load(pairs: PairCounts, place: int) -> tuple[Scores, Scores]:
    """Return how many scores items have from reviewers of one load, and their sums."""
    size, others = pairs.n_items, int(pairs.loads[place]) - 1
    if others == 0:
        # What is left of all scores comes from reviewers of one item.
        parts = [_by_load(pairs, at) for at in range(1, len(pairs.loads))]
        remaining = np.array([pairs.reviews, pairs.totals]) - sum(map(np.array, parts))
        return np.round(remaining[0]), remaining[1]
    here = np.flatnonzero(pairs.load == place)
    ends = pairs.first[here], pairs.second[here]
    number = pairs.count[here].astype(np.float64)
    counts = totals(ends[0], number, size) + totals(ends[1], number, size)
    sums = totals(ends[0], pairs.first_total[here], size)
    sums += totals(ends[1], pairs.second_total[here], size)
    return counts / others, sums / others
