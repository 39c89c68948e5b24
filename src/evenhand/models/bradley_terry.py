"""Bradley-Terry and Borda on each reviewer's own comparisons: orders, no scales."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.arrays import frozen
from evenhand.lazy import lazy
from evenhand.models import solver
from evenhand.models.design import (
    EQUAL_SCORES,
    INTEGRATED,
    Fit,
    data_notices,
    fit_notices,
    fit_of,
    one_rating_notices,
    precisions,
    round_to_resolution,
    steps,
    totals,
)
from evenhand.models.solver import Chebyshev, Definite, one_thread
from evenhand.posets.graph import comparisons, components, connected_groups
from evenhand.randomness import pick_places

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scipy import sparse, special

    from evenhand.arrays import Codes, Scores, Table
    from evenhand.claims import DataWarning
    from evenhand.engines.pairs import PairCounts
    from evenhand.models.solver import Product
    from evenhand.ratings import Ratings
else:
    sparse, special = lazy("scipy.sparse"), lazy("scipy.special")


PRIOR_PRECISION = 0.4
# Items up to which Newton's steps come from a table.
SMALL = 128
STEPS, HALVINGS, TOLERANCE = 100, 40, 1e-10
# Pairs up to which they are listed; of those who rated much, so many to a rating.
MOST_PAIRS = 20_000_000
FEW_PAIRS, PAIRS_A_RATING = 1_000_000, 100
# Variances of values that are drawn, in logarithms of squared logits.
ORDINAL = np.arange(-4.0, 4.5, 0.5)
# A logistic comparison is as uncertain as that of two ratings of this variance.
LOGISTIC = math.pi**2 / 6
# Variance of values before it is fitted, and fits.
PRIOR, FITS = 2.5, 2
# Comparisons that a priori say that wins vary as expected.
FEW = 5.0


def bradley_terry(ratings: Ratings) -> Fit:
    """Fit the values under which the reviewers' comparisons are most likely.

    Item a is put above b with probability 1 / (1 + exp(b - a)). A tie is half a win for
    both. Values have independent normal priors of mean 0, so that they exist and are
    finite on any graph, and items that were never compared have 0. Each pair of a
    reviewer of k items has the weight 2 / k: a reviewer counts as k - 1 comparisons.

    Args:
        ratings: Scores, ranks or comparisons; only each reviewer's order is used.

    Returns:
        The fit. Standard errors, against the mean of all items, come from the curvature
        of the posterior, exactly up to 1,000 items and by probes beyond; they take the
        pairs for independent. With weights a pair counts 2 w w' / W, where W is the sum
        of its reviewer's weights, which are 1 on average: as in least squares of scores
        with an offset for each reviewer. More than 20 million pairs, or a million by
        few who rated much, are summed up by interpolation, to 1e-12, so that time and
        memory grow with the number of ratings.

    References:
        Bradley and Terry (1952), Rank analysis of incomplete block designs.
        Caron and Doucet (2012), Efficient Bayesian inference for generalized
        Bradley-Terry models.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> fit = bradley_terry(Ratings.from_comparisons(["x", "y"], ["y", "z"]))
        >>> (fit.estimates.round(3) + 0).tolist()
        [0.784, 0.0, -0.784]
    """
    groups = components(comparisons(ratings))
    return fit_orders(*_usual(ratings), groups, data_notices(ratings))


def fit_orders(
    pairs: AnyPairs, won: Table, groups: Codes, warnings: Iterable[DataWarning]
) -> Fit:
    """Fit values to pairs and wins; say what was told of the data as well."""
    values, converged = maximise(pairs, won, PRIOR_PRECISION)
    return Fit(
        method="bradley-terry",
        estimates=round_to_resolution(values),
        groups=groups,
        errors=frozen(np.sqrt(squared_errors(pairs, values))),
        converged=converged,
        notices=fit_notices(
            warnings, groups, across="around_zero", converged=converged
        ),
    )


def order_values(ratings: Ratings) -> Table:
    """Return the values alone, with the usual prior and weights.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> order_values(Ratings(["a", "a"], ["x", "y"], [1, 2])).round(3).tolist()
        [-0.589, 0.589]
    """
    return maximise(*_usual(ratings), PRIOR_PRECISION)[0]


def _usual(ratings: Ratings) -> tuple[AnyPairs, Table]:
    """Return the pairs and each item's wins with the usual weights."""
    weights = 2 / np.bincount(ratings.reviewer_codes, precisions(ratings))
    return pairs_of(ratings, weights), wins(ratings, weights)


def wins(ratings: Ratings, weights: Table | None = None) -> Table:
    """Count each item's wins within reviewers, ties half.

    Args:
        ratings: Scores, ranks or comparisons.
        weights: What a win counts, by reviewer, beside the ratings' own weights; None
            if all count 1.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> wins(Ratings(["a", "a", "a"], ["x", "y", "z"], [1, 5, 5])).tolist()
        [0.0, 1.5, 1.5]
    """
    if weights is None:
        won = rating_wins(ratings)
    else:
        own = weights[ratings.reviewer_codes]
        won = rating_wins(ratings, precisions(ratings)) * own
    return totals(ratings.item_codes, won, ratings.n_items)


def rating_wins(ratings: Ratings, precision: Scores | None = None) -> Table:
    """Count the items that the reviewer of each rating put below it, ties half.

    Args:
        ratings: Scores, ranks or comparisons.
        precision: Weights of ratings, by whose product a win counts; None for 1.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "a"], ["x", "y", "z"], [1, 5, 5])
        >>> rating_wins(ratings).tolist()
        [0.0, 1.5, 1.5]
    """
    tiers, own = steps(ratings.reviewer_codes, ratings.preference), precision
    sizes = np.bincount(tiers.rows, own)
    before = np.append(0, np.cumsum(sizes))
    first = np.searchsorted(tiers.reviewers, tiers.reviewers)
    below = (before[:-1] - before[first] + sizes / 2)[tiers.rows]
    return np.asarray(below - 1 / 2 if own is None else own * (below - own / 2))


class Expected(NamedTuple):
    """What values say about the comparisons.

    Attributes:
        wins: Expected wins of each item.
        diagonal: Diagonal of the information, the wins' derivatives by the values.
        product: Multiplies columns by the information.
    """

    wins: Table
    diagonal: Table
    product: Product


class ListedPairs:
    """Pairs of items that reviewers compared.

    Attributes:
        matrix: Weights of the pairs, both ways round; nothing on the diagonal.
    """

    def __init__(self, matrix: sparse.csr_array) -> None:
        """List the pairs."""
        self.matrix = matrix
        self._rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))

    def at(self, values: Table) -> Expected:
        """Return what values say."""
        rows, columns, size = self._rows, self.matrix.indices, len(values)
        # The logistic function, without the library that has it, which is slow to load.
        share = (1 + np.tanh((values[rows] - values[columns]) / 2)) / 2
        won = self.matrix.data * share
        even = won * (1 - share)
        diagonal = totals(rows, even, size)
        graph = sparse.csr_array((even, columns, self.matrix.indptr), (size, size))

        def product(table: Table) -> Table:
            return np.asarray(diagonal[:, None] * table - graph @ table)

        return Expected(totals(rows, won, size), diagonal, product)

    def log_sum(self, values: Table) -> float:
        """Return the sum of log(exp(a) + exp(b)) over pairs, by weight."""
        ends = values[self._rows], values[self.matrix.indices]
        return float(self.matrix.data @ np.logaddexp(*ends)) / 2


class ManyPairs:
    """Pairs that are too many to list.

    Expected wins against a given item are a smooth function of one's own value, so they
    are summed over each reviewer's items at a few nodes and interpolated in between.
    """

    def __init__(self, links: sparse.csr_array, weights: Table) -> None:
        """Take who rated what with which weight, and weights of reviewers' pairs."""
        self._links, self._weights = links, weights[:, None]
        self._back = links.T.tocsr()
        self._own = self._back.power(2) @ weights

    def at(self, values: Table) -> Expected:
        """Return what values say."""
        chebyshev = Chebyshev(float(values.min()), float(values.max()), 1e-16)
        basis = chebyshev.shares(values)

        def sum_over_opponents(table: Table) -> Table:
            # Add up over all that each item met, and itself.
            sums = self._weights * (self._links @ table)
            return np.asarray(np.einsum("ij,ij->i", basis, self._back @ sums))

        share = special.expit(chebyshev.nodes - values[:, None])
        even = share * (1 - share)
        whole = sum_over_opponents(even)

        def product(table: Table) -> Table:
            flows = [
                whole * column - sum_over_opponents(even * column[:, None])
                for column in table.T
            ]
            return np.stack(flows, axis=1)

        # An item meets itself with share 1/2, which is no win.
        won = sum_over_opponents(share) - self._own / 2
        return Expected(won, whole - self._own / 4, product)


AnyPairs = ListedPairs | ManyPairs


def pairs_of(ratings: Ratings, weights: Table) -> AnyPairs:
    """Collect the pairs of all reviewers, each with its reviewer's weight.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> found = pairs_of(Ratings(["a", "a"], ["x", "y"], [1, 2]), np.array([2.0]))
        >>> found.at(np.zeros(2)).wins.tolist()
        [1.0, 1.0]
    """
    loads = np.bincount(ratings.reviewer_codes).astype(np.float64)
    number = min(float((loads**2).sum()), ratings.n_items**2)
    # Interpolation takes time by ratings, a list by pairs.
    most = min(MOST_PAIRS, max(FEW_PAIRS, PAIRS_A_RATING * ratings.n_ratings))
    if number > most:
        return ManyPairs(_links(ratings), weights)
    return listed_pairs(ratings, weights)


def listed_pairs(ratings: Ratings, weights: Table) -> ListedPairs:
    """List the pairs of all reviewers."""
    links = _links(ratings)
    matrix = (links.T @ (links * weights[:, None])).tocsr()
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    return ListedPairs(matrix)


def _links(ratings: Ratings) -> sparse.csr_array:
    ends = (ratings.reviewer_codes, ratings.item_codes)
    sizes = (ratings.n_reviewers, ratings.n_items)
    once, weights = np.ones(ratings.n_ratings), precisions(ratings)
    return sparse.csr_array((once if weights is None else weights, ends), sizes)


def maximise(
    pairs: AnyPairs, won: Table, precision: float, start: Table | None = None
) -> tuple[Table, bool]:
    """Climb by Newton's steps, shortened where they overshoot.

    The log posterior is strictly concave, so there is one peak.

    Args:
        pairs: The pairs.
        won: Wins of each item.
        precision: One over the prior's variance.
        start: Where to start from; zero if None.

    Returns:
        The values, and whether they settled.
    """
    values = np.zeros(len(won)) if start is None else start
    expected = pairs.at(values)
    slope = won - expected.wins - precision * values
    for _ in range(STEPS):
        inside = _information(expected, precision, SMALL)
        move = inside.solve(slope[:, None], tolerance=1e-4)[:, 0]
        rise = float(slope @ move)
        if rise <= TOLERANCE**2 * len(values):
            return values, True
        for _ in range(HALVINGS):
            after = values + move
            expected = pairs.at(after)
            slope = won - expected.wins - precision * after
            # Past the peak the slope along the step is negative; far past it is steep.
            if float(slope @ move) >= -rise / 2:
                break
            move, rise = move / 2, rise / 2
        values = after
    return values, False


def information_table(expected: Expected, precision: float) -> Table:
    """Return the information with the prior's as a table."""
    unit = np.eye(len(expected.wins))
    return expected.product(unit) + precision * unit


def _information(expected: Expected, precision: float, most: int) -> Definite:
    """Return the information with the prior's, as a table of up to so many items."""

    def product(columns: Table) -> Table:
        return expected.product(columns) + precision * columns

    table = (
        information_table(expected, precision) if len(expected.wins) <= most else None
    )
    return Definite(product, expected.diagonal + precision, table)


def squared_errors(pairs: AnyPairs, values: Table) -> Table:
    """Return squared standard errors of values against their mean.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> found = pairs_of(Ratings(["a", "a"], ["x", "y"], [1, 2]), np.array([2.0]))
        >>> squared_errors(found, np.zeros(2)).round(3).tolist()
        [0.357, 0.357]
    """
    with one_thread(len(values)):
        inside = _information(pairs.at(values), PRIOR_PRECISION, solver.TABLE)
        squared = np.minimum(inside.inverse_diagonal(), 1 / PRIOR_PRECISION)
    # Comparisons say nothing about the common level, which keeps the prior's variance.
    return np.maximum(squared - 1 / (PRIOR_PRECISION * len(values)), 0)


def orders_without_each(ratings: Ratings) -> Table:
    """Return what Bradley-Terry makes of the other ratings, by one Newton step.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "x", "y"], [2, 1, 5, 4])
        >>> orders_without_each(ratings).argmax(axis=1).tolist()
        [0, 0, 0, 0]
    """
    pairs, won = _usual(ratings)
    values, _ = maximise(pairs, won, PRIOR_PRECISION)
    inverse = np.linalg.inv(information_table(pairs.at(values), PRIOR_PRECISION))
    estimates = np.tile(values, (ratings.n_ratings, 1))
    weights = precisions(ratings)
    once = np.ones(ratings.n_ratings) if weights is None else weights
    for rows in rows_by_reviewer(ratings):
        items, preference = ratings.item_codes[rows], ratings.preference[rows]
        weight, shares = once[rows], win_shares(values[items])
        more = (np.sign(preference[:, None] - preference) + 1) / 2 - shares
        more *= np.outer(weight, weight)
        own, others = more.sum(axis=1), 1 - np.eye(len(rows))
        total = weight.sum()
        # Of a reviewer's only rating nothing is left to weigh.
        after = 2 / np.where(len(rows) > 1, total - weight, 1.0)
        slopes = after[:, None] * others * (own - more.T) - 2 / total * own
        estimates[rows] += slopes @ inverse[items]
    return estimates


def rows_by_reviewer(ratings: Ratings) -> list[Codes]:
    """Return the rows of each reviewer's ratings."""
    firsts = np.flatnonzero(np.diff(ratings.reviewer_codes)) + 1
    return np.split(np.arange(ratings.n_ratings), firsts)


def win_shares(values: Scores) -> Table:
    """Return the probability that the item of a row is put above that of a column."""
    return np.asarray((1 + np.tanh((values[:, None] - values) / 2)) / 2)


def draw_by_orders(ratings: Ratings, lots: Table, units: Table) -> tuple[Table, Table]:
    """Return means and deviations by the reviewers' orders alone.

    Pairs of an order of k items count 3 / (k + 1) each. They are not independent: wins
    of equal items vary (k + 1) / 3 times as much as in independent pairs. Ties and
    unequal items make wins vary less; how much less is measured. With weights of
    ratings, pairs count so that the variance of all wins is right likewise.
    """
    weights = 3 / (np.bincount(ratings.reviewer_codes) + 1.0)
    if (once := precisions(ratings)) is not None:
        own, codes = np.stack([once, once**2]), ratings.reviewer_codes
        others = np.array([np.bincount(codes, row) for row in own])[:, codes] - own
        spread = np.bincount(codes, own[1] * (others[0] ** 2 + 2 * others[1]))
        paired = spread > 0
        product = 3 * np.bincount(codes, own[0] * others[0])
        np.divide(product, spread, out=weights, where=paired)
    pairs, won = listed_pairs(ratings, weights), wins(ratings, weights)
    law = _law(pairs, won, PRIOR, np.zeros(len(won)))
    due = float(pairs.at(law.values).diagonal.sum())
    excess = _excess(ratings, weights, law, due)
    pairs, won = ListedPairs(pairs.matrix / excess), won / excess
    if len(won) > INTEGRATED:
        for _ in range(FITS):
            # MacKay's: squares over the number of values that the orders determine.
            variance = float(law.values @ law.values) / max(law.kept, 1e-9)
            law = _law(pairs, won, max(variance, 1e-3), law.values)
        return np.broadcast_to(law.values, units.shape), units @ law.root.T
    laws, fits = [], []
    for log in ORDINAL:
        law = _law(pairs, won, math.exp(log), law.values)
        laws.append(law)
        fits.append(law.fit + log - 2 * math.log1p(math.exp(log) / LOGISTIC))
    place = pick_places(np.array(fits), lots[:, 0])
    middle = np.stack([law.values for law in laws])[place]
    away = np.empty_like(units)
    for at in np.unique(place).tolist():
        away[place == at] = units[place == at] @ laws[at].root.T
    return middle, away


class _Law(NamedTuple):
    """Values by order at one prior variance.

    `root` is that of the covariance, `fit` the log probability of the orders, and
    `kept` the number of values that the orders determine.
    """

    values: Table
    root: Table
    fit: float
    kept: float


def _law(pairs: ListedPairs, won: Table, variance: float, start: Table) -> _Law:
    values, _ = maximise(pairs, won, 1 / variance, start)
    root = solver.inverse_root(information_table(pairs.at(values), 1 / variance))
    likely = float(won @ values) - pairs.log_sum(values)
    likely -= (float(values @ values) / variance + len(won) * math.log(variance)) / 2
    likely += float(np.log(np.diag(root)).sum())
    kept = len(won) - float((root**2).sum()) / variance
    return _Law(values, root.T, likely, kept)


def _excess(ratings: Ratings, weights: Table, law: _Law, due: float) -> float:
    """Return how much wins vary, where 1 is what the weights are made for."""
    precision = precisions(ratings)
    seen, won = 0.0, rating_wins(ratings, precision)
    once = np.ones(ratings.n_ratings) if precision is None else precision
    for rows, weight in zip(rows_by_reviewer(ratings), weights, strict=True):
        own = once[rows]
        # An item meets itself with share 1/2, which is no win.
        met = own * (win_shares(law.values[ratings.item_codes[rows]]) @ own - own / 2)
        seen += weight**2 * float(((won[rows] - met) ** 2).sum())
    total = max(float(ratings.n_ratings - len(weights)), 1.0 + law.kept)
    if due == 0:
        return 1.0
    return (seen / due * total + FEW) / (total - law.kept + FEW)


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
    size = pairs.n_items
    weights = 2 / pairs.loads[pairs.load]
    ties = (pairs.count - pairs.above - pairs.below) / 2
    won = totals(pairs.first, weights * (pairs.above + ties), size)
    won += totals(pairs.second, weights * (pairs.below + ties), size)
    ends = np.append(pairs.first, pairs.second), np.append(pairs.second, pairs.first)
    matrix = sparse.csr_array((np.tile(weights * pairs.count, 2), ends), (size, size))
    matrix.sum_duplicates()
    return fit_orders(
        ListedPairs(matrix), won, ordered_groups(pairs), pair_notices(pairs)
    )


def pair_notices(pairs: PairCounts) -> list[DataWarning]:
    """Say what in counts of pairs a model cannot make up for.

    Examples:
        >>> import polars as pl
        >>> from evenhand.engines.pairs import count_pairs
        >>> rows = {"reviewer": [1, 1], "item": ["x", "y"], "score": [2, 2]}
        >>> pair_notices(count_pairs(pl.LazyFrame(rows)))[0].code
        'equal_scores'
    """
    single = int(pairs.reviewers[pairs.loads == 1].sum())
    equal = [] if pairs.squares.any() else [EQUAL_SCORES]
    return [*one_rating_notices(single), *equal]


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
    return connected_groups(pairs.n_items, pairs.first[ordered], pairs.second[ordered])


def borda(ratings: Ratings) -> Fit:
    """Score items by the share of within-reviewer comparisons won; ties count half.

    It uses orders only, so no reviewer's scale matters, but an item that met strong
    company looks weak. Reviewers of one item compare nothing, and an item that was
    never compared has 1/2.

    Args:
        ratings: Scores, ranks or comparisons.

    Returns:
        The fit, without standard errors.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 3, 2])
        >>> borda(ratings).estimates.tolist()
        [1.0, 0.5, 0.0]
    """
    loads = np.bincount(ratings.reviewer_codes).astype(np.float64)
    others = loads[ratings.reviewer_codes] - 1
    met = totals(ratings.item_codes, others, ratings.n_items)
    half = np.full(ratings.n_items, 0.5)
    shares = np.divide(wins(ratings), met, out=half, where=met > 0)
    groups = components(comparisons(ratings))
    return fit_of(ratings, "borda", shares, groups=groups, across="shares")
