"""Each reviewer adds an offset: score = mean + reviewer + item + rest.

Two crossed random effects u and v, independent and normal, are fitted by restricted
maximum likelihood; a and b are the ratios of their variances to that of the rest. The
"dropped" effect u has a diagonal block in the equations, so it is eliminated: with l
ratings of each of its levels, M their links to (mu, v) and W = a / (1 + a l), what is
left for x = (mu, v) is A x = p, with

    A = X'X - M' W M + J / b,   p = X'y - M' W s,   q = y'y - s' W s - p' x,

where s are the sums of y by dropped level and J leaves mu out. Minus twice the profile
likelihood is (N - 1) log q + log det A + sum log(1 + a l) + n log b. While v has few
levels, A is inverted as a table and Newton's steps are exact; beyond, equations are
solved by conjugate gradients and traces come from fixed random probes, whose error
shrinks with the number of levels.

Ratings say nothing about a shift of mu against all of v. The predicted v add up to 0,
so t / n for each two levels is added to A: x stays, log det A grows by log(1 + t b),
and what b leaves open about the shift, which may be much, drowns no other digits.

The estimate is the highest peak within bounds of the ratios, and of peaks equally high
that with the least reviewers' variance. Of few levels all peaks are looked for.

References:
    Patterson and Thompson (1971), Recovery of inter-block information.
    Gilmour, Thompson and Cullis (1995), Average information REML.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from scipy.sparse import csr_array

from evenhand.arrays import frozen
from evenhand.claims import DataWarning
from evenhand.models import solver
from evenhand.models.design import (
    ROUNDING,
    RatingMatrix,
    Variances,
    build_matrix,
    fit_of,
)
from evenhand.models.nodes import EQUAL, Peaks
from evenhand.models.solver import ROUGH, Definite, one_thread, signs

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.arrays import Flags, Table
    from evenhand.models.design import Fit
    from evenhand.models.nodes import Turned
    from evenhand.ratings import Ratings

    Bounds = tuple[Table | float, Table | float]
    Shares = tuple[float, float]

BOUND = DataWarning("no_noise")
T = TypeVar("T")

START = (0.3, 1.0)
# Ratios of variances; beyond these an effect is nothing, or all there is.
LEAST, MOST = 1e-6, 1e3
STEPS, SHORTEST = 100, 2.0**-30
# Kept levels up to which other peaks are looked for, and up to which first of all; and
# logarithms of ratios that are looked at.
SCANNED, FEW, GRID = 60, 12, np.linspace(math.log(LEAST), math.log(MOST), 23)
# Share of the scores' size below which an effect is rounding.
NOISE = 1e-13
# Squared length of a step, in standard errors of the ratios, that no longer matters;
# beyond a table, and under which steps that get no shorter follow rounding alone; and
# slope by the logarithm of a ratio that does not lead away from a bound.
DONE, DONE_PROBED, WANDERING, FLAT = 1e-12, 1e-6, 1e-4, 1e-10
FARTHEST, TINY = 2.0, 1e-300
# Residuals at which conjugate gradients stop: searching, and at the end.
SOLVED, FINE = 1e-7, 1e-12
TRACE_SIGNS, TRACE_PROBES = 50_000, 4
# Levels looked at at once, and cells of links up to which they are not sparse.
BLOCK, DENSE = 4096, 20_000


def additive(ratings: Ratings, shares: Shares | None = None) -> Fit:
    """Fit an offset for each reviewer and a value for each item.

    Offsets and values are normal, and their variances are estimated by restricted
    maximum likelihood (REML): predictions are drawn to the middle to the extent that
    the ratings are few or noisy.

    Args:
        ratings: Scores.
        shares: Offsets' and values' shares of the variance, if they were fixed
            beforehand: least squares with a ridge, of which Theorem M holds.

    Returns:
        The fit. Standard errors are exact up to 1,000 items or reviewers, whichever are
        fewer, and estimated by probes beyond.

    Raises:
        RatingsError: If there are no scores.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(list("aabbcc"), list("xyyzzx"), [9, 7, 5, 2, 6, 10])
        >>> fit = additive(ratings)
        >>> fit.estimates.round(3).tolist(), fit.offsets.round(3).tolist()
        ([1.986, 0.301, -2.287], [0.348, -1.96, 1.612])
    """
    matrix = build_matrix(ratings)
    equations = Equations(matrix)
    mixed = equations.fit(matrix.scores, shares=shares)
    warnings = [] if shares else confounding_notices(equations.free)
    warnings += bound_notices(mixed)
    values = matrix.in_units(mixed.items)
    fit = fit_of(ratings, "additive", values, *warnings, converged=mixed.converged)
    return replace(
        fit,
        errors=frozen(matrix.in_units(equations.errors(mixed.variances)[1])),
        offsets=frozen(matrix.in_units(mixed.reviewers)),
        variances=matrix.square_units(mixed.variances),
    )


def confounding_notices(free: Flags) -> list[DataWarning]:
    """Say whether the variances of reviewers and of items can be told from the rest.

    Examples:
        >>> confounding_notices(np.array([True, False]))[0].code
        'confounded'
    """
    effects = zip(("reviewers", "items"), free, strict=True)
    return [
        DataWarning("confounded", {"case": part})
        for part, is_free in effects
        if not is_free
    ]


def bound_notices(*fits: Mixed) -> list[DataWarning]:
    """Say whether the rest of a fit was held at its bound.

    Examples:
        >>> bound_notices(Mixed(np.zeros(1), np.zeros(1), Variances(0.0, 0.0, 0.0)))
        []
    """
    ratios = [mixed.ratios.max() for mixed in fits if mixed.ratios is not None]
    return [BOUND] if max(ratios, default=0.0) >= MOST else []


class Sums(NamedTuple):
    """What the equations need of the scores, or of many, a column for each.

    Attributes:
        squares: y'y.
        dropped: s, their sums by dropped level.
        kept: X'y, their sum and their sums by kept level.
    """

    squares: Table
    dropped: Table
    kept: Table


class Links:
    """Who rated what, by dropped and by kept levels.

    Attributes:
        loads: Ratings of each dropped level, or the sum of their weights.
        counts: Likewise of each kept level.
        matrix: M, a row for each dropped level; its first column holds the loads.
        back: Its transpose.
        times: How many dropped levels a row stands for.
        level: What of a load the mean's row of the equations takes.
        size: Number of ratings, or the sum of their weights.
    """

    times: Table | float = 1.0
    level: Table | float = 1.0

    @property
    def shift(self) -> float:
        """t, which holds the sum of the kept effect at 0: a level's usual weight."""
        return self.size / len(self.counts)

    def __init__(self, matrix: RatingMatrix, *, kept_items: bool = True) -> None:
        """Count the ratings, each as much as it weighs; items or reviewers are kept."""
        ends = (matrix.n_reviewers, matrix.reviewers), (matrix.n_items, matrix.items)
        (above, dropped), (below, kept) = ends if kept_items else ends[::-1]
        rows, once = np.arange(len(kept)), matrix.weigh(np.ones(len(kept)))
        self._dropped = csr_array((once, (dropped, rows)), (above, len(rows)))
        self._kept = csr_array((once, (kept, rows)), (below, len(rows)))
        self.loads, self.counts = self._dropped.sum(axis=1), self._kept.sum(axis=1)
        places = np.append(dropped, np.arange(above)), np.append(kept + 1, [0] * above)
        filled = np.append(once, self.loads)
        self.matrix = csr_array((filled, places), (above, below + 1))
        self.back = self.matrix.T.tocsr()
        # Of few, sparse tables take more time to make than to use.
        if math.prod(self.matrix.shape) <= DENSE:
            self.matrix, self.back = self.matrix.toarray(), self.back.toarray()
        self.size = float(self.loads.sum())

    def add_up(self, scores: Table) -> Sums:
        """Add up scores, or a column for each of many, by level."""
        dropped, kept = self._dropped @ scores, self._kept @ scores
        squares = (self._kept @ scores**2).sum(axis=0)
        return Sums(squares, dropped, np.concatenate([[kept.sum(axis=0)], kept]))

    def weights(self, ratio: float) -> Table:
        """Return W."""
        return np.asarray(ratio / (1 + ratio * self.loads))

    def gram(self, weights: Table) -> Table:
        """Return M' diag(weights) M as a table."""
        return dense(self.back @ (self.matrix * weights[:, None]))

    def diagonal(self, ratio: float) -> Table:
        """Return that of X'X - M' W M."""
        entries = np.append([0.0], self.counts) - self.back**2 @ self.weights(ratio)
        entries[0] = self.loads @ (self.level / (1 + ratio * self.loads))
        return np.asarray(entries)

    def table(self, ratio: float, prior: Table | float = 0.0) -> Table:
        """Return X'X - M' W M as a table, with a prior's precisions."""
        entries = self.gram(-self.weights(ratio))
        entries[np.diag_indices(len(entries))] += np.append([0.0], self.counts)
        entries[np.diag_indices(len(entries))] += prior
        # What is left of the counts may be little, so it is not taken as a difference.
        entries[0] = entries[:, 0] = self.back @ (self.level / (1 + ratio * self.loads))
        return entries

    def pull(self, sums: Sums, ratio: float) -> Table:
        """Return p."""
        return np.asarray(
            sums.kept - self.back @ (self.weights(ratio) * sums.dropped.T).T
        )


def dense(table: Table | csr_array) -> Table:
    """Return a table as an array.

    Examples:
        >>> dense(np.eye(1)).tolist()
        [[1.0]]
    """
    return table if isinstance(table, np.ndarray) else np.asarray(table.toarray())


class Equations:
    """Equations of one set of ratings, for any scores on them, at two ratios.

    Attributes:
        links: Who rated what.
        free: Whether the variances of reviewers and of items can be told from the rest.
        kept_items: Whether items are the kept effect.
        whole: Whether they are inverted as a table.
        ratios: Where they are.
        turned: Who rated what at ratios of the dropped effect, by their logarithms.
    """

    def __init__(self, matrix: RatingMatrix) -> None:
        """Keep the smaller effect, so that a table fits if it can.

        Beyond a table, probes over both effects' levels are drawn.

        Examples:
            >>> from evenhand.ratings import Ratings
            >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
            >>> Equations(build_matrix(ratings)).kept_items
            False
        """
        least = min(matrix.n_items, matrix.n_reviewers)
        self.kept_items = least > solver.TABLE or matrix.n_items == least
        # An effect with one rating a level is the rest by another name, and one with
        # one level is the mean.
        loads = matrix.loads, matrix.counts
        self.free = np.array(
            [counts.max() > 1 and (counts > 0).sum() > 1 for counts in loads]
        )
        self.links = links = Links(matrix, kept_items=self.kept_items)
        # The last answer to each question, from which passes start.
        self._answers: dict[str, Table] = {}
        self.turned: dict[float, Turned] = {}
        self.ratios = np.full(2, np.nan)
        sizes = len(links.loads), len(links.counts)
        self.whole = sizes[1] <= solver.TABLE
        if not self.whole:
            number = max(TRACE_PROBES, TRACE_SIGNS // min(sizes))
            self._thrown = signs("dropped", sizes[0], number)
            self._kept = np.zeros((sizes[1] + 1, number))
            self._kept[1:] = signs("kept", sizes[1], number)

    def in_order(self, reviewers: T, items: T) -> tuple[T, T]:
        """Put the dropped effect's first, or the reviewers' first again."""
        return (reviewers, items) if self.kept_items else (items, reviewers)

    def start(self, ratios: tuple[float, float] = START) -> tuple[Table, Flags]:
        """Return ratios to start from and which are free, the dropped effect's first.

        What cannot be told from the rest counts as rest for reviewers, and half for
        items, whose order is what is asked for.
        """
        begin = np.where(self.free, np.clip(ratios, LEAST, MOST), (LEAST, 1.0))
        order = slice(None) if self.kept_items else slice(None, None, -1)
        return begin[order], self.free[order]

    def at(self, ratios: Table) -> None:
        """Move to new ratios."""
        if np.array_equal(ratios, self.ratios):
            return
        self.ratios, (a, b) = ratios, ratios.tolist()
        prior = np.append([0.0], np.full(len(self.links.counts), 1 / b))
        table, shift = None, self.links.shift / len(self.links.counts)
        if self.whole:
            table = self.links.table(a, prior)
            table[1:, 1:] += shift
        prior[1:] += shift
        self.inside = Definite(self.product, self.links.diagonal(a) + prior, table)

    def product(self, columns: Table) -> Table:
        """Multiply columns by A."""
        links, (a, b) = self.links, self.ratios.tolist()
        moved = links.weights(a)[:, None] * (links.matrix @ columns)
        products = -(links.back @ moved)
        mean, kept = columns[0], columns[1:]
        products[0] += links.counts.sum() * mean + links.counts @ kept
        products[1:] += links.counts[:, None] * (mean + kept) + kept / b
        products[1:] += links.shift * kept.mean(axis=0)
        return np.asarray(products)

    def solve(self, right: Table, key: str, tolerance: float = SOLVED) -> Table:
        """Solve; passes start from the last answer to the same question."""
        solution = self.inside.solve(right, self._answers.get(key), tolerance=tolerance)
        if not self.whole:
            self._answers[key] = solution
        return solution

    def predict(self, sums: Sums, tolerance: float = SOLVED) -> tuple[Table, float]:
        """Return x and q."""
        a = float(self.ratios[0])
        pull = self.links.pull(sums, a)
        x = self.solve(pull[:, None], "values", tolerance)[:, 0]
        spent = self.links.weights(a) @ sums.dropped**2 + pull @ x
        # Rounding leaves about this much of the squares however well the model fits.
        return x, float(np.maximum(sums.squares - spent, 1e-15 * sums.squares))

    def traces(self) -> tuple[Table, Table]:
        """Return the first and second derivatives of log det A by a and b, with t.

        With T for the inverse of A, they are tr(T A') and tr(T A'') - tr(T A' T A').
        Without a table the first are estimated by probes, the second unknown.
        """
        links, (a, b) = self.links, self.ratios.tolist()
        spread, table = 1 + a * links.loads, self.inside.inverse
        if table is None:
            mapped = links.back @ (self._thrown / spread[:, None])
            right = np.hstack([mapped, self._kept])
            forms = (right * self.solve(right, "traces", ROUGH)).sum(axis=0)
            means = forms.reshape(2, -1).mean(axis=1)
            return -means / [1, b**2], np.full((2, 2), np.nan)
        # By a, A' is -M' spread^-2 M and A'' is 2 M' load spread^-3 M.
        mapped, kept = links.matrix @ table, table[1:, 1:]
        # The diagonal of M T M'.
        diagonal, inner = (links.matrix * mapped).sum(axis=1), np.trace(kept)
        product = links.back @ np.multiply(mapped, spread[:, None] ** -2, out=mapped)
        cross = -np.einsum("ij,ij->", product[:, 1:], table[:, 1:]) / b**2
        twice = 2 * diagonal @ (links.loads * spread**-3)
        by_a = twice - np.einsum("ij,ji->", product, product)
        by_b = 2 * inner / b**3 - np.einsum("ij,ij->", kept, kept) / b**4
        first = -np.array([diagonal @ spread**-2, inner / b**2])
        return first, np.array([[by_a, cross], [cross, by_b]])

    def likelihood(self, sums: Sums, ratios: Table) -> Likelihood:
        """Return the likelihood of one set of scores."""
        self.at(ratios)
        links, (a, b) = self.links, ratios.tolist()
        loads, spread, size = links.loads, 1 + a * links.loads, len(links.counts)
        x, squared = self.predict(sums)
        residuals, inner = sums.dropped - links.matrix @ x, np.append([0.0], x[1:])
        # Of q.
        targets = np.stack(
            [links.back @ (residuals / spread**2), -inner / b**2], axis=1
        )
        first = -np.array([(residuals**2 / spread**2).sum(), inner @ inner / b**2])
        second = -2 * targets.T @ self.solve(targets, "targets")
        bends = (loads * residuals**2 / spread**3).sum(), inner @ inner / b**3
        second += 2 * np.diag(bends)
        # Of the determinants.
        slope, trace_bends = self.traces()
        shares, shift = loads / spread, links.shift / (1 + links.shift * b)
        slope += [(links.times * shares).sum(), size / b - shift]
        trace_bends -= np.diag(
            [(links.times * shares**2).sum(), size / b**2 - shift**2]
        )
        share = (links.size - 1) / squared
        outer = share / squared * np.outer(first, first)
        # The average of the observed and the expected, in which second traces cancel.
        average = share * second / 2 - outer
        curvature = share * second - outer + trace_bends if self.whole else average
        value = (links.size - 1) * np.log(squared) + self.inside.determinant
        value += (links.times * np.log(spread)).sum() + size * np.log(b)
        value -= np.log1p(links.shift * b)
        slope += share * first
        tables = np.array(value), slope, curvature, average
        return Likelihood(*(table[..., None] for table in tables))

    def fit(
        self,
        scores: Table,
        start: tuple[float, float] = START,
        shares: Shares | None = None,
        *,
        near: bool = False,
    ) -> Mixed:
        """Fit random effects to scores with mean 0.

        Args:
            scores: One for each rating.
            start: Variances of reviewers and items over that of the rest.
            shares: Their shares of the variance, if these are not estimated.
            near: Whether to look for no other peak than that which leads up from there.
        """
        links, sums = self.links, self.links.add_up(scores)
        if sums.squares == 0.0:
            reviewers, items = self.in_order(0.0 * links.loads, 0.0 * links.counts)
            return Mixed(items, reviewers, Variances(0.0, 0.0, 0.0))
        self._answers.clear()
        with one_thread(len(links.counts)):
            if shares is None:
                ratios, converged = self.best(sums, start, near=near)
            else:
                parts = np.maximum(np.array(shares) / (1 - sum(shares)), LEAST)
                ratios, converged = np.array(self.in_order(*parts)), True
            self.at(ratios)
            x, squared = self.predict(sums, FINE)
        residual = squared / (links.size - 1)
        dropped = links.weights(ratios[0]) * (sums.dropped - links.matrix @ x)
        # What is left of nothing is rounding.
        noise = NOISE * np.sqrt(sums.squares) * ratios / (1 + ratios)
        pairs = zip((dropped, x[1:]), noise, strict=True)
        effects = [
            np.where(np.abs(effect) > least, effect, 0.0) for effect, least in pairs
        ]
        reviewers, items = self.in_order(*effects)
        varying = np.where(ratios <= LEAST, 0.0, ratios * residual).tolist()
        variances = Variances(*self.in_order(*varying), residual)
        return Mixed(items, reviewers, variances, float(x[0]), ratios, converged)

    def best(
        self, sums: Sums, start: tuple[float, float], *, near: bool = False
    ) -> tuple[Table, bool]:
        """Return the ratios of the highest peak, and whether they are exact."""
        begin, free = self.start(start)
        each = zip(begin, free, strict=True)
        grids = [GRID if varies else np.log([ratio]) for ratio, varies in each]
        levels, converged = len(self.links.counts), False
        if levels > FEW or near:
            point, converged = maximise(
                lambda ratios: self.likelihood(sums, ratios[:, 0]),
                begin[:, None],
                free,
                done=DONE if self.whole else DONE_PROBED,
            )
            if not self.whole or (converged and (near or levels > SCANNED)):
                return point[:, 0], converged
        if converged and Peaks(self, sums, [grid[::2] for grid in grids]).alone(point):
            return point[:, 0], True
        peaks = Peaks(self, sums, grids).list()
        reviewers, highest = (0 if self.kept_items else 1), min(peaks)[0]
        if free[reviewers]:
            # A ridge may lead to where reviewers do not vary.
            grids[reviewers] = GRID[:1]
            peaks += Peaks(self, sums, grids).list(highest)
        equal = (peak[1:] for peak in peaks if peak[0] <= highest + EQUAL)
        chosen = min(equal, key=lambda peak: peak[reviewers])
        return _round_to_bounds(np.exp(chosen)), True

    def errors(self, parts: Variances, least: float = LEAST) -> tuple[Table, Table]:
        """Return the errors of offsets, NaN beyond a table, and of values.

        They are held against the mean of the reviewers, and of the items, at hand.

        Args:
            parts: Variances of offsets, values and the rest.
            least: Ratio to the rest's of what does not vary.
        """
        links, variances = self.links, np.array([parts.reviewer, parts.item])
        ratios = np.maximum(variances / (parts.rest or 1.0), least)
        with one_thread(len(links.counts)):
            self.at(np.array(self.in_order(*ratios)))
            squares = self.in_order(self._dropped_squares(), self._kept_squares())
        offsets, values = (
            np.sqrt(parts.rest * np.maximum(effect, 0)) for effect in squares
        )
        return offsets, values

    def _kept_squares(self) -> Table:
        b, size = float(self.ratios[1]), len(self.links.counts)
        level = b / (1 + self.links.shift * b) / size
        squares = self.inside.inverse_diagonal()[1:] - level
        return np.asarray(np.minimum(squares, b * (1 - 1 / size)))

    def _dropped_squares(self) -> Table:
        """Return W + W M T M' W, less a / n, without differences of large numbers."""
        links, a, table = self.links, float(self.ratios[0]), self.inside.inverse
        squares = np.full(len(links.loads), np.nan)
        if table is None:
            return squares
        weights, unspent = links.weights(a), 1 / (1 + a * links.loads)
        row = links.back @ (links.level * unspent)
        for begin in range(0, len(squares), BLOCK):
            rows = dense(links.matrix[begin : begin + BLOCK])
            rows = rows[:, 1:] - rows[:, :1] * (row[1:] / row[0])
            squares[begin : begin + BLOCK] = ((rows @ table[1:, 1:]) * rows).sum(axis=1)
        spent = weights * links.loads
        small, away = spent.mean() < unspent.mean(), spent - spent.mean()
        away = (away if small else unspent.mean() - unspent) - spent * unspent
        return np.asarray(
            weights + weights**2 * squares + a * away / (len(squares) * spent.mean())
        )


class Likelihood(NamedTuple):
    """Minus twice the log likelihood by both ratios, a column for each set of scores.

    Attributes:
        value: NaN if it is unknown.
        slope: By the ratio of the dropped effect and of the kept one.
        curvature: Second derivatives, or about as much.
        otherwise: What to take instead where that is not a minimum's.
    """

    value: Table
    slope: Table
    curvature: Table
    otherwise: Table


def maximise(
    at: Callable[[Table], Likelihood],
    ratios: Table,
    free: Flags,
    *,
    bounds: Bounds = (LEAST, MOST),
    done: float = DONE,
) -> tuple[Table, bool]:
    """Find the ratios of largest likelihood, for each set of scores.

    Args:
        at: The likelihood of each set of scores at ratios of its own.
        ratios: Where to start from, a column for each set.
        free: Which of the two ratios to estimate; the other stays.
        bounds: The least and the largest ratios.
        done: Squared length of a step that is the last.

    Returns:
        The ratios, and whether all searches settled.
    """
    here, share = at(ratios), np.ones(ratios.shape[1])
    going, before = share > 0, np.full_like(share, np.inf)
    for _ in range(STEPS):
        # A ratio at a bound that the likelihood pushes against stays there.
        slope = here.slope * ratios
        pushed = (ratios <= bounds[0]) & (slope >= -FLAT)
        pushed |= (ratios >= bounds[1]) & (slope <= FLAT)
        active = free[:, None] & ~pushed & going
        after, decrement = _step(ratios, here, active, share, bounds)
        # Where only slopes are known, steps that grow are too long or rounding.
        blind = np.isnan(here.value)
        going &= ~(blind & (before / 2 < decrement) & (decrement < WANDERING))
        if (wild := blind & (decrement > before)).any():
            share[wild] = 0.5
            after, _ = _step(ratios, here, active, share, bounds)
        after = np.where(active & going, after, ratios)
        stuck = (after == ratios).all(axis=0) | (share < SHORTEST)
        last, before = decrement <= done, decrement
        # Newton's last step squares the error. More would follow rounding alone where
        # the likelihood is flat.
        ratios = np.where(last, after, ratios)
        going &= ~last & ~stuck
        if not going.any():
            break
        there = at(np.where(going, after, ratios))
        # Rounding may hide how much better a short step is.
        better = going & ~((there.value > here.value) & (decrement > WANDERING))
        ratios = np.where(better, after, ratios)
        pairs = zip(there, here, strict=True)
        here = Likelihood(*(np.where(better, *pair) for pair in pairs))
        share = np.where(better, 1.0, share / 2)
    return ratios, bool((decrement < WANDERING).all())


def _step(
    ratios: Table, here: Likelihood, active: Flags, share: Table, bounds: Bounds
) -> tuple[Table, Table]:
    """Return ratios after shares of Newton's steps, and how long the steps are.

    Lengths are squared, in standard errors.
    """
    slope = np.where(active, here.slope, 0.0)
    sizes, cross = _curvature(ratios, here, active, slope)
    move = (cross * slope[::-1] - sizes[::-1] * slope) / (sizes.prod(axis=0) - cross**2)
    decrement, after = -(slope * move).sum(axis=0), _move(ratios, share * move, bounds)
    stopped = active & ((after <= bounds[0]) | (after >= bounds[1]))
    alone = active & ~stopped & stopped[::-1]
    if not alone.any():
        return after, decrement
    # Where one ratio stops at a bound, the other one's step is the best along it.
    away = (after - ratios)[::-1]
    move = -(slope + cross * away) / sizes
    after = np.where(alone, _move(ratios, share * move, bounds), after)
    there = (alone & (away == 0)).any(axis=0)
    lengths = np.where(alone, sizes * move**2, 0.0).sum(axis=0)
    return after, np.where(there, lengths, decrement)


def _curvature(
    ratios: Table, here: Likelihood, active: Flags, slope: Table
) -> tuple[Table, Table]:
    """Return a positive definite table's diagonal, and what is off it."""
    fixed = np.where(active, 0.0, 1.0) * np.eye(2)[:, :, None]
    tables = [fixed + table * active * active[:, None] for table in here[2:]]
    (first, cross), (_, second) = tables[0]
    rises = (first > 0) & (first * second - cross**2 > 1e-9 * first * second)
    (first, cross), (_, second) = np.where(rises, *tables)
    # Where scores say nothing about a ratio its curvature is 0 but not its slope.
    least = np.abs(slope) / (2 * FARTHEST * ratios) + TINY
    sizes = np.maximum([first, second], least)
    return sizes, np.where(cross**2 < sizes.prod(axis=0), cross, 0.0)


def _move(ratios: Table, move: Table, bounds: Bounds) -> Table:
    """Take steps downwards as they are, so that 0 is met, and upwards by factors.

    A ratio without bound then gets there in few steps.
    """
    share = np.clip(move / ratios, -0.98, FARTHEST)
    factor = np.where(share < 0, 1 + share, np.exp(np.maximum(share, 0)))
    return _round_to_bounds(np.clip(ratios * factor, *bounds))


def _round_to_bounds(ratios: Table) -> Table:
    """Take what is so near to a bound for the bound, whatever rounding says."""
    raised = np.where(ratios < 2 * LEAST, LEAST, ratios)
    return np.where(raised > (1 - 1e-9) * MOST, MOST, raised)


class Mixed(NamedTuple):
    """Random offsets and values, in the unit of the matrix.

    Attributes:
        items: Predicted values.
        reviewers: Predicted offsets.
        variances: Of reviewers, items and the rest.
        mean: Overall mean, from the centre of the matrix.
        ratios: Of the dropped and the kept effect; None if nothing varies.
        converged: Whether the last one changed nothing that matters.
    """

    items: Table
    reviewers: Table
    variances: Variances
    mean: float = 0.0
    ratios: Table | None = None
    converged: bool = True


def leverages(equations: Equations, matrix: RatingMatrix, mixed: Mixed) -> Table:
    """Return how much each score moves its own fitted value, of a fit by a table.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> matrix = build_matrix(Ratings(list("aabb"), list("xyxy"), [9, 7, 8, 2]))
        >>> equations = Equations(matrix)
        >>> mixed = equations.fit(matrix.scores)
        >>> bool((leverages(equations, matrix, mixed) < 1).all())
        True
    """
    links, ratios = equations.links, np.asarray(mixed.ratios)
    dropped, kept = equations.in_order(matrix.reviewers, matrix.items)
    equations.at(ratios)
    table, weights = np.asarray(equations.inside.inverse), links.weights(ratios[0])
    mapped, place = links.matrix @ table, kept + 1
    own = np.asarray((links.matrix * mapped).sum(axis=1))
    shares = table[0, 0] + 2 * table[0, place] + table[place, place]
    across = mapped[dropped, 0] + mapped[dropped, place]
    spent = weights[dropped]
    return matrix.weigh(shares + spent * (1 - 2 * across + spent * own[dropped]))


def additive_without_each(ratings: Ratings, shares: Shares | None = None) -> Table:
    """Return what `additive` makes of the other ratings, a row for each left out.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 8, 2])
        >>> additive_without_each(ratings).argmax(axis=1).tolist()
        [1, 0, 0, 0]
    """
    matrix = build_matrix(ratings)
    equations = Equations(matrix)
    mixed = equations.fit(matrix.scores, shares=shares)
    return without_each(equations, matrix, matrix.scores, mixed)


def without_each(
    equations: Equations, matrix: RatingMatrix, scores: Table, mixed: Mixed
) -> Table:
    """Return predicted values without one rating, a row for each left out.

    Given the ratios of variances predictions are linear in the scores, so a rating is
    taken out exactly by an update of rank one: without rating r, with residual e and
    leverage h, the solution of C x = p is x - C^-1 w e / (1 - h), where w has a 1 at
    the mean, the reviewer and the item of r. The ratios are held.
    """
    links, rows = equations.links, np.arange(len(scores))
    if mixed.ratios is None:
        return np.tile(mixed.items, (len(rows), 1))
    dropped, kept = equations.in_order(matrix.reviewers, matrix.items)
    weights = links.weights(mixed.ratios[0])
    right = dense(links.matrix[dropped] * -weights[dropped, None])
    right[:, 0] += 1
    right[rows, kept + 1] += 1
    equations.at(mixed.ratios)
    kept_moves = equations.solve(right.T, "without").T
    moves = -weights * (links.matrix @ kept_moves.T).T
    moves[rows, dropped] += weights[dropped]
    leverage = kept_moves[:, 0] + kept_moves[rows, kept + 1] + moves[rows, dropped]
    fitted = mixed.mean + mixed.reviewers[matrix.reviewers] + mixed.items[matrix.items]
    residuals = matrix.weigh(scores - fitted)
    times = residuals / np.maximum(1 - matrix.weigh(leverage), ROUNDING)
    _, items = equations.in_order(moves, kept_moves[:, 1:])
    return np.asarray(mixed.items - times[:, None] * items)
