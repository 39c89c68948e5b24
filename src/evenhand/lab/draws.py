"""Many items under every draw: how often the better of two stands first, exactly.

Scores are whole numbers, and the rules of Theorem M are matrices of Fractions, so that
no value is rounded but Bradley-Terry's, which settles to 1e-10 and ties at 1e-7.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from evenhand.models import bradley_terry
from evenhand.models.design import standardise
from evenhand.posets.graph import connected_groups
from evenhand.randomness import HALF

if TYPE_CHECKING:
    from numpy.typing import NDArray

Bundles: TypeAlias = tuple[tuple[int, ...], ...]
Law: TypeAlias = Mapping[Bundles, Fraction]
Exact: TypeAlias = "NDArray[Any]"
# Below all that an item with scores can have.
LAST = -(10**12)
TIE_DIGITS = 7


class Sheet(NamedTuple):
    """Who was given what.

    Attributes:
        reviewers: Reviewer of each rating.
        items: Item of each rating.
        n_items: Number of items.
    """

    reviewers: list[int]
    items: list[int]
    n_items: int

    @property
    def item_marks(self) -> Exact:
        """1 for each item at its ratings, shape (items, ratings)."""
        return _marks(self.items, self.n_items)

    @property
    def of_reviewer(self) -> Exact:
        """1 for each two ratings of one reviewer, shape (ratings, ratings)."""
        own = _marks(self.reviewers, max(self.reviewers) + 1)
        return own.T @ own


Rule: TypeAlias = Callable[[Sheet, Exact], Exact]


def _marks(codes: list[int], size: int) -> Exact:
    return np.array([[Fraction(code == row) for code in codes] for row in range(size)])


def before(law: Law, tables: Exact, rule: Rule) -> Exact:
    """Return how often the item of a row stands before that of a column.

    Args:
        law: All draws, a bundle of items for each reviewer, with their probabilities.
        tables: Whole scores that each reviewer would give, shape (cases, reviewers,
            items).
        rule: From a draw and its scores, shape (cases, ratings), to values, shape
            (cases, items). Equal ones are ordered at random.

    Returns:
        Fractions, shape (cases, items, items).

    Examples:
        >>> law = {((0, 1), (1, 2)): Fraction(1, 2), ((1, 2), (0, 1)): Fraction(1, 2)}
        >>> before(law, np.array([[[0, 1, 2], [5, 6, 7]]]), mean)[0, 1, 0]
        Fraction(1, 2)
    """
    unit = math.lcm(*(chance.denominator for chance in law.values()))
    ahead: Any = 0
    for bundles, chance in law.items():
        rows = [(code, item) for code, own in enumerate(bundles) for item in own]
        reviewers, items = map(list, zip(*rows, strict=True))
        sheet = Sheet(reviewers, items, tables.shape[-1])
        values = rule(sheet, tables[:, sheet.reviewers, sheet.items])
        signs = np.sign(values[:, :, None] - values[:, None, :]).astype(np.int64)
        ahead = ahead + int(chance * unit) * signs
    levels, places = np.unique(ahead, return_inverse=True)
    chances = [HALF + Fraction(level, 2 * unit) for level in levels.tolist()]
    return np.array(chances)[places].reshape(ahead.shape)


def increasing(n_reviewers: int, n_items: int, scores: tuple[int, ...]) -> Exact:
    """List all scales with some scores, equal ones included; the last item is best.

    Examples:
        >>> increasing(2, 2, (0, 1)).shape
        (9, 2, 2)
    """
    scales = itertools.combinations_with_replacement(scores, n_items)
    return np.array([*itertools.product(scales, repeat=n_reviewers)])


def silent(law: Law) -> Law:
    """Let the first reviewer be silent about a random one of several items.

    Examples:
        >>> len(silent({((0, 1), (1, 2)): Fraction(1)}))
        2
    """
    drawn: dict[Bundles, Fraction] = defaultdict(Fraction)
    for (first, *others), chance in law.items():
        for item in first:
            kept = tuple(own for own in first if own != item)
            drawn[kept, *others] += chance / len(first)
    return drawn


def _multiply(matrix: Exact, scores: Exact) -> Exact:
    """Return values by a matrix of Fractions, times their common denominator."""
    unit = math.lcm(*(part.denominator for part in matrix.ravel()))
    whole = np.array([[int(part * unit) for part in row] for row in matrix])
    return np.asarray(scores @ whole.T)


def _mean_matrix(sheet: Sheet) -> Exact:
    counts = np.maximum(sheet.item_marks.sum(axis=1), 1)
    return np.asarray(sheet.item_marks / counts[:, None])


def _centred_matrix(sheet: Sheet) -> Exact:
    own = sheet.of_reviewer
    loads = own.sum(axis=1)
    seen = sheet.item_marks * [int(load > 1) for load in loads]
    away = _marks([*range(len(loads))], len(loads)) - own / loads[:, None]
    return np.asarray(seen / np.maximum(seen.sum(axis=1), 1)[:, None] @ away)


def _unrated_last(sheet: Sheet, values: Exact) -> Exact:
    bare = [item not in sheet.items for item in range(sheet.n_items)]
    return np.where(bare, LAST, values)


def mean(sheet: Sheet, scores: Exact) -> Exact:
    """Return mean scores; items without a score are last."""
    return _unrated_last(sheet, _multiply(_mean_matrix(sheet), scores))


def centred_mean(sheet: Sheet, scores: Exact) -> Exact:
    """Return means of scores less their reviewer's mean."""
    return _multiply(_centred_matrix(sheet), scores)


def mixture(sheet: Sheet, scores: Exact) -> Exact:
    """Return the mean and twice the centred mean, added up as they are."""
    matrix = _mean_matrix(sheet) + 2 * _centred_matrix(sheet)
    return _unrated_last(sheet, _multiply(matrix, scores))


def least_squares(
    sheet: Sheet,
    scores: Exact,
    *,
    ridges: tuple[Fraction, Fraction] | None = None,
) -> Exact:
    """Return item values of an additive model.

    Args:
        sheet: Who was given what.
        scores: The scores.
        ridges: Precisions of reviewers' offsets and of items' values; without, the
            first item of each connected group is its reference, with value 0.

    Examples:
        >>> sheet = Sheet([0, 0], [0, 1], 2)
        >>> least_squares(sheet, np.array([[4, 1]])).tolist()
        [[0, -3]]
    """
    size, n = max(sheet.reviewers) + 1, sheet.n_items
    own, kept = _marks(sheet.reviewers, size), [*range(n)]
    if ridges is None:
        ends = np.array(sheet.items), n + np.array(sheet.reviewers)
        groups = connected_groups(n + size, *ends)[:n].tolist()
        kept = [item for item in kept if groups.index(groups[item]) < item]
    design = np.concatenate([own, sheet.item_marks[kept]])
    prior = [Fraction(0)] * len(design)
    if ridges is not None:
        design = np.concatenate([[[Fraction(1)] * len(sheet.items)], design])
        prior = [Fraction(0), *[ridges[0]] * size, *[ridges[1]] * n]
    solved = solve(design @ design.T + np.diag(np.array(prior)), design)
    matrix = np.array([[Fraction(0)] * len(sheet.items)] * n)
    matrix[kept] = solved[len(solved) - len(kept) :]
    return _multiply(matrix, scores)


def solve(table: Exact, right: Exact) -> Exact:
    """Solve equations on Fractions, by elimination.

    Examples:
        >>> two, one = Fraction(2), Fraction(1)
        >>> solve(np.array([[two, one], [one, one]]), np.array([[one], [one]])).tolist()
        [[Fraction(0, 1)], [Fraction(1, 1)]]
    """
    size, rows = len(table), np.concatenate([table, right], axis=1)
    for place in range(size):
        pivot = next(row for row in range(place, size) if rows[row, place])
        rows[[place, pivot]] = rows[[pivot, place]]
        rows[place] = rows[place] / rows[place, place]
        for row in range(size):
            if row != place and rows[row, place]:
                rows[row] = rows[row] - rows[row, place] * rows[place]
    return np.asarray(rows[:, size:])


def _wins(sheet: Sheet, scores: Exact) -> Exact:
    """Return twice the wins of each rating within its reviewer, ties half."""
    own = sheet.of_reviewer.astype(np.int64) - np.eye(len(sheet.items), dtype=np.int64)
    above = np.sign(scores[:, :, None] - scores[:, None, :]) + 1
    return np.asarray((above * own).sum(axis=2))


def borda(sheet: Sheet, scores: Exact) -> Exact:
    """Return shares of comparisons won; an item that met no other has one half."""
    others = sheet.of_reviewer.sum(axis=1) - 1
    met = sheet.item_marks @ others
    won = _multiply(sheet.item_marks, _wins(sheet, scores))
    unit = math.lcm(*map(int, np.maximum(met, 1)))
    shares = [unit // max(int(number), 1) for number in met]
    return np.where(met == 0, unit, won * shares)


def bradley_terry_values(sheet: Sheet, scores: Exact) -> Exact:
    """Return the values of `bradley-terry`, which wins and pairs decide."""
    loads = np.bincount(sheet.reviewers)
    weights = 2 / loads[sheet.reviewers]
    own = sheet.of_reviewer.astype(np.float64) - np.eye(len(sheet.items))
    marks = sheet.item_marks.astype(np.float64)
    pairs = marks @ (own * weights) @ marks.T
    won = (_wins(sheet, scores) / 2 * weights) @ marks.T
    kinds, place = np.unique(won, axis=0, return_inverse=True)
    key = tuple(map(tuple, pairs.tolist()))
    fits = [_peak(key, tuple(wins)) for wins in kinds.tolist()]
    return np.array(fits)[place]


@functools.cache
def _peak(pairs: tuple[tuple[float, ...], ...], won: tuple[float, ...]) -> Exact:
    listed = bradley_terry.ListedPairs(csr_array(np.array(pairs)))
    precision = bradley_terry.PRIOR_PRECISION
    values, _ = bradley_terry.maximise(listed, np.array(won), precision)
    return np.round(values, TIE_DIGITS)


def standardised_mixture(sheet: Sheet, scores: Exact) -> Exact:
    """Return half the standardised mean and half the standardised centred mean."""
    parts = [_multiply(make(sheet), scores) for make in (_mean_matrix, _centred_matrix)]
    rows = [
        sum(map(standardise, map(np.array, pair)))
        for pair in zip(*(part.astype(np.float64) for part in parts), strict=True)
    ]
    return np.round(np.array(rows), TIE_DIGITS)


RIDGES = Fraction(3), Fraction(1, 2)
MONOTONE: Mapping[str, Rule] = {
    "mean": mean,
    "centred": centred_mean,
    "borda": borda,
    "bradley-terry": bradley_terry_values,
    "least squares with a ridge": functools.partial(least_squares, ridges=RIDGES),
    "mixture of raw values": mixture,
}
