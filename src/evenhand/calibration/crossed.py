"""Two crossed random effects by restricted maximum likelihood.

The model is y = mu + u + v + e with independent normal effects; a and b are the ratios
of the variances of u and v to that of e. The "dropped" effect u has a diagonal block in
the equations, so it is eliminated: with l ratings of each of its levels, M their links
to (mu, v) and W = a / (1 + a l), what is left for x = (mu, v) is A x = p, with

    A = X'X - M' W M + J / b,   p = X'y - M' W s,   q = y'y - s' W s - p' x,

where s are the sums of y by dropped level and J leaves mu out. Minus twice the profile
likelihood is (N - 1) log q + log det A + sum log(1 + a l) + n log b. While v has few
levels, A is inverted as a table and Newton's steps are exact; beyond, equations are
solved by conjugate gradients and traces come from fixed random probes, whose error
shrinks with the number of levels.

References:
    Patterson and Thompson (1971), Recovery of inter-block information.
    Gilmour, Thompson and Cullis (1995), Average information REML.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from evenhand.calibration import _solver
from evenhand.calibration._solver import (
    ROUGH,
    conjugate_gradients,
    inverse_diagonal,
    inverse_root,
    one_thread,
    signs,
)
from evenhand.calibration.design import Design, totals
from evenhand.calibration.results import Variances

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from evenhand.arrays import Codes, Flags, Table


T = TypeVar("T")

START = (0.3, 1.0)
# Ratios of variances; beyond these an effect is nothing, or all there is.
LEAST, MOST = 1e-6, 1e4
STEPS, HALVINGS = 60, 30
# Squared length of a step, in standard errors of the ratios, that no longer matters;
# beyond a table, and under which steps that get no shorter follow rounding alone.
DONE, DONE_PROBED, WANDERING = 1e-9, 1e-6, 1e-4
FARTHEST, TINY = 2.0, 1e-300
# Residuals at which conjugate gradients stop: searching, and at the end.
SOLVED, FINE = 1e-7, 1e-12
TRACE_SIGNS, TRACE_PROBES = 50_000, 4
# Share of filled cells from which links are multiplied as a full table, and levels
# looked at at once.
FULL, BLOCK = 0.2, 4096


class Links:
    """Who rated what, by dropped and by kept levels.

    Attributes:
        loads: Ratings of each dropped level, or the sum of their weights.
        counts: Likewise of each kept level.
        matrix: M, a row for each dropped level; its first column holds the loads.
        back: Its transpose.
        times: How many dropped levels each row stands for.
    """

    __slots__ = ("back", "counts", "loads", "matrix", "times")

    def __init__(
        self,
        dropped: Codes,
        kept: Codes,
        sizes: tuple[int, int],
        weights: Table | None = None,
    ) -> None:
        """Count the ratings, each as much as it weighs."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - slow to load

        self.times: Table | float = 1.0
        once = np.ones(len(kept)) if weights is None else weights
        self.loads, self.counts = map(totals, (dropped, kept), (once, once), sizes)
        ones = np.concatenate([once, self.loads])
        rows = np.concatenate([dropped, np.arange(sizes[0])])
        columns = np.concatenate([kept + 1, np.zeros(sizes[0], dtype=np.int64)])
        self.matrix: csr_array | Table
        self.matrix = csr_array((ones, (rows, columns)), (sizes[0], sizes[1] + 1))
        if len(kept) > FULL * sizes[0] * sizes[1]:
            self.matrix = self.matrix.toarray()
            self.back = self.matrix.T
        else:
            self.back = self.matrix.T.tocsr()

    @property
    def size(self) -> float:
        """Number of ratings, or the sum of their weights."""
        return float((self.times * self.loads).sum())

    def gram(self, weights: Table) -> Table:
        """Return M' diag(weights) M as a table."""
        found = self.back @ (self.matrix * weights[:, None])
        return np.asarray(found if isinstance(found, np.ndarray) else found.toarray())

    def diagonal(self, weights: Table) -> Table:
        """Return that of X'X - M' diag(weights) M, less the mean's."""
        return np.asarray(self.counts - (self.back**2)[1:] @ weights)

    def table(self, ratio: float) -> Table:
        """Return X'X - M' W M as a table."""
        spread = 1 + ratio * self.loads
        found = -self.gram(ratio / spread)
        found[np.diag_indices(len(found))] += np.append([0.0], self.counts)
        # What is left of the counts may be little, so it is not taken as a difference.
        found[0] = found[:, 0] = self.back @ self.shares(spread)
        return found

    def shares(self, spread: Table) -> Table:
        """Return what the mean's row of the equations takes of each row of M."""
        return 1 / spread

    def pull(self, sums: Sums, ratio: float) -> Table:
        """Return p."""
        weights = ratio / (1 + ratio * self.loads)
        return np.asarray(sums.kept - self.back @ (weights * sums.dropped))


class Sums(NamedTuple):
    """What the equations need of the scores.

    Attributes:
        squares: y'y, positive.
        dropped: s, their sums by dropped level.
        kept: X'y, their sum and their sums by kept level.
    """

    squares: float
    dropped: Table
    kept: Table


def with_items(made: Design) -> tuple[Links, Sums]:
    """Return the links of reviewers, who are eliminated, with items, and the sums."""
    sizes = made.n_reviewers, made.n_items
    links = Links(made.reviewers, made.items, sizes, made.weights)
    heavy = made.weighted(made.scores)
    kept = np.concatenate([[heavy.sum()], made.by_item(made.scores)])
    dropped = made.by_reviewer(made.scores)
    return links, Sums(float(heavy @ made.scores), dropped, kept)


class TableSystem:
    """Equations that are inverted as a table.

    Attributes:
        links: Who rated what.
        done: Squared length of a step that ends the search.
        determinant: log det A.
    """

    def __init__(self, links: Links) -> None:
        """Take the links."""
        self.links, self.done = links, DONE

    def at(self, ratios: Table) -> None:
        """Invert the equations at new ratios."""
        self._ratios = ratios
        table = self.links.table(float(ratios[0]))
        table[np.arange(1, len(table)), np.arange(1, len(table))] += 1 / ratios[1]
        self._root = inverse_root(table)
        self.determinant = -2 * float(np.log(np.diag(self._root)).sum())

    def solve(self, right: Table, key: str) -> Table:  # noqa: ARG002 - for systems that start from their last answer
        """Solve for several columns."""
        return np.asarray(self._root.T @ (self._root @ right))

    def traces(self) -> tuple[Table, Table | None]:
        """Return the first and second derivatives of log det A by (a, 1 / b).

        With T for the inverse of A, they are tr(T A') and tr(T A'') - tr(T A' T A').
        """
        table, loads = self._root.T @ self._root, self.links.loads
        spread = 1 + self._ratios[0] * loads
        # By a, A' is -M' spread^-2 M and A'' is 2 M' load spread^-3 M.
        product = ((table @ self.links.back) * spread**-2) @ self.links.matrix
        twice = 2 * self.links.gram(loads * spread**-3)
        cross = float((product[1:] * table[1:]).sum())
        second = np.array([[0.0, cross], [cross, -float((table[1:, 1:] ** 2).sum())]])
        second[0, 0] = float((table * twice).sum()) - float((product * product.T).sum())
        return np.array([-product.trace(), table[1:, 1:].trace()]), second

    def item_errors(self) -> Table:
        """Return the kept effect's squared errors of prediction alone."""
        return np.asarray((self._root**2).sum(axis=0)[1:])

    def errors(self) -> tuple[Table, Table]:
        """Return both effects' squared errors of prediction, in units of the rest."""
        weights = self._ratios[0] / (1 + self._ratios[0] * self.links.loads)
        table = self._root.T @ self._root
        squares = np.empty_like(weights)
        for begin in range(0, len(weights), BLOCK):
            rows = self.links.matrix[begin : begin + BLOCK]
            full = rows if isinstance(rows, np.ndarray) else rows.toarray()
            squares[begin : begin + BLOCK] = ((full @ table) * full).sum(axis=1)
        return weights + weights**2 * squares, np.diag(table)[1:].copy()


class PassSystem:
    """Equations that are solved by passes over the ratings; attributes likewise."""

    determinant = None

    def __init__(self, links: Links) -> None:
        """Take the links, and draw probes over both effects' levels."""
        self.links, self.done = links, DONE_PROBED
        sizes = len(links.loads), len(links.counts)
        number = max(TRACE_PROBES, TRACE_SIGNS // min(sizes))
        self._thrown = signs("dropped", sizes[0], number)
        self._kept = np.zeros((sizes[1] + 1, number))
        self._kept[1:] = signs("kept", sizes[1], number)
        self.answers: dict[str, Table] = {}

    def at(self, ratios: Table) -> None:
        """Move to new ratios."""
        links, self._ratios = self.links, ratios
        self._weights = ratios[0] / (1 + ratios[0] * links.loads)
        diagonal = links.diagonal(self._weights) + 1 / ratios[1]
        level = float((links.loads / (1 + ratios[0] * links.loads)).sum())
        self._diagonal = np.concatenate([[level], diagonal])

    def product(self, columns: Table) -> Table:
        """Multiply columns by A."""
        links = self.links
        found = -(links.back @ (self._weights[:, None] * (links.matrix @ columns)))
        mean, kept = columns[0], columns[1:]
        found[0] += links.counts.sum() * mean + links.counts @ kept
        found[1:] += links.counts[:, None] * (mean + kept) + kept / self._ratios[1]
        return np.asarray(found)

    def solve(self, right: Table, key: str, tolerance: float = SOLVED) -> Table:
        """Solve, starting from the last answer to the same question."""
        start = self.answers.get(key)
        found = conjugate_gradients(
            self.product, self._diagonal, right, start, tolerance=tolerance
        )
        self.answers[key] = found
        return found

    def traces(self) -> tuple[Table, Table | None]:
        """Estimate the first derivatives by probes."""
        spread = 1 + self._ratios[0] * self.links.loads
        mapped = self.links.back @ (self._thrown / spread[:, None])
        right = np.hstack([mapped, self._kept])
        found = self.solve(right, "traces", ROUGH)
        inner = np.einsum("ij,ij->j", right, found).reshape(2, -1).mean(axis=1)
        return np.array([-inner[0], inner[1]]), None

    def errors(self) -> Table:
        """Estimate the kept effect's squared errors of prediction by probes."""
        found = inverse_diagonal(self.product, self._diagonal)
        return np.asarray(np.minimum(found[1:], self._ratios[1]))


System = TableSystem | PassSystem


class Point(NamedTuple):
    """The likelihood at two ratios.

    Attributes:
        ratios: Of the dropped and the kept effect.
        squared: q.
        solution: x.
        value: Minus twice the log likelihood, None if it is unknown.
    """

    ratios: Table
    squared: float
    solution: Table
    value: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Mixed:
    """Random offsets and values, in the design's unit.

    Attributes:
        items: Predicted values.
        reviewers: Predicted offsets.
        variances: Of reviewers, items and the rest.
        mean: Overall mean, from the design's centre.
        ratios: Of the dropped and the kept effect; None if nothing varies.
        converged: Whether the last one changed nothing that matters.
    """

    items: Table
    reviewers: Table
    variances: Variances
    mean: float = 0.0
    ratios: Table | None = None
    converged: bool = True


class Equations:
    """Equations of one set of ratings, for any scores on them.

    Attributes:
        kept_items: Whether items are the kept effect.
        free: Whether the variances of reviewers and of items can be told from the rest.
        system: The equations.
        made: The ratings.
    """

    __slots__ = ("_codes", "_sizes", "free", "kept_items", "made", "system")

    def __init__(self, made: Design) -> None:
        """Choose the smaller effect to keep, and a table if it fits."""
        least = min(made.n_items, made.n_reviewers)
        self.kept_items = least > _solver.TABLE or made.n_items == least
        self._codes = self.ordered(made.reviewers, made.items)
        self._sizes = self.ordered(made.n_reviewers, made.n_items)
        self.made = made
        links = Links(*self._codes, self._sizes, made.weights)
        self.system: System
        self.system = (PassSystem if least > _solver.TABLE else TableSystem)(links)
        # An effect with one rating a level is the rest by another name, and one with
        # one level is the mean.
        self.free = np.array(
            [
                int(load.max()) > 1 and int((load > 0).sum()) > 1
                for load in (made.loads, made.counts)
            ]
        )

    def ordered(self, reviewers: T, items: T) -> tuple[T, T]:
        """Put the dropped effect's first, or the reviewers' first again."""
        return (reviewers, items) if self.kept_items else (items, reviewers)

    def start(self, ratios: tuple[float, float] = START) -> tuple[Table, Flags]:
        """Return ratios to start from and which are free, the dropped effect's first.

        What cannot be told from the rest counts as rest for reviewers, and half for
        items, whose order is what is asked for.
        """
        held = np.where(self.free, np.clip(ratios, LEAST, MOST), (LEAST, 1.0))
        order = slice(None) if self.kept_items else slice(None, None, -1)
        return held[order], self.free[order]

    def sums(self, scores: Table) -> Sums:
        """Add up scores by level, each times its weight."""
        heavy = self.made.weighted(scores)
        dropped, kept = (
            totals(codes, heavy, size)
            for codes, size in zip(self._codes, self._sizes, strict=True)
        )
        kept = np.concatenate([[heavy.sum()], kept])
        return Sums(float(heavy @ scores), dropped, kept)

    def fit(self, scores: Table, start: tuple[float, float] = START) -> Mixed:
        """Fit random effects to scores with mean 0.

        Args:
            scores: One for each rating.
            start: Variances of reviewers and items over that of the rest.
        """
        sums = self.sums(scores)
        if sums.squares == 0.0:
            reviewers, items = (np.zeros(size) for size in self.ordered(*self._sizes))
            return Mixed(items, reviewers, Variances(0.0, 0.0, 0.0))
        if isinstance(self.system, PassSystem):
            self.system.answers.clear()
        ratios, free = self.start(start)
        with one_thread(min(self._sizes)):
            point, converged = maximise(self.system, sums, ratios, free)
            return self._mixed(sums, point, converged=converged)

    def _mixed(self, sums: Sums, point: Point, *, converged: bool) -> Mixed:
        links, x = self.system.links, point.solution
        if isinstance(self.system, PassSystem):
            self.system.at(point.ratios)
            pull = links.pull(sums, float(point.ratios[0]))
            x = self.system.solve(pull[:, None], "values", FINE)[:, 0]
        weights = point.ratios[0] / (1 + point.ratios[0] * links.loads)
        effects = weights * (sums.dropped - links.matrix @ x), x[1:]
        rest = point.squared / (links.size - 1)
        parts = np.where(point.ratios <= LEAST, 0.0, point.ratios * rest).tolist()
        reviewers, items = self.ordered(*effects)
        reviewer, item = self.ordered(*parts)
        variances = Variances(reviewer, item, rest)
        mean = float(x[0])
        return Mixed(items, reviewers, variances, mean, point.ratios, converged)

    def errors(self, mixed: Mixed) -> tuple[Table | None, Table]:
        """Return the errors of offsets, if known, and of values.

        Values are held against the mean of the items.
        """
        if mixed.ratios is None:
            return np.zeros_like(mixed.reviewers), np.zeros_like(mixed.items)
        rest = mixed.variances.rest
        reviewers = None
        if isinstance(self.system, PassSystem):
            self.system.at(mixed.ratios)
            items = self.system.errors()
        else:
            with one_thread(min(self._sizes)):
                self.system.at(mixed.ratios)
                offsets, items = self.ordered(*self.system.errors())
            reviewers = np.sqrt(rest * np.maximum(offsets, 0))
        # Ratings say nothing about the common level, which keeps the prior's variance.
        level = mixed.variances.item / len(items)
        return reviewers, np.sqrt(np.maximum(rest * items - level, 0))


def maximise(
    system: System, sums: Sums, start: Table, free: Flags
) -> tuple[Point, bool]:
    """Find the ratios of largest restricted likelihood.

    Args:
        system: The equations.
        sums: Of the scores.
        start: Ratios to start from; those that are not free stay.
        free: Which of the two ratios to estimate.

    Returns:
        Where the search ended, and whether it settled.
    """
    point = evaluate(system, sums, start)
    before = np.inf
    for _ in range(STEPS):
        slope, curvatures = derivatives(system, sums, point)
        # A ratio at a bound that the likelihood pushes against stays there.
        low = (point.ratios <= LEAST) & (slope >= 0)
        high = (point.ratios >= MOST) & (slope <= 0)
        active = free & ~low & ~high
        move, decrement = _newton(point.ratios, slope, curvatures, active)
        if point.value is None and before / 2 < decrement < WANDERING:
            return point, True
        if point.value is None and decrement > before:
            move = move / 2
        before = decrement
        last = decrement <= system.done
        after = _search(system, sums, point, move, active, trust=last)
        if last:
            # Newton's last step squares the error. More would follow rounding alone
            # where the likelihood is flat.
            return after or point, True
        if after is None:
            return point, decrement < DONE_PROBED
        point = after
    return point, False


def _newton(
    ratios: Table, slope: Table, curvatures: list[Table], active: Flags
) -> tuple[Table, float]:
    """Return Newton's step in the ratios and its length in standard errors.

    It uses the first of the curvatures that is a minimum's, or the last.
    """
    move = np.zeros(2)
    where = np.flatnonzero(active)
    if len(where) == 0:
        return move, 0.0
    slope, tables = slope[where], [one[np.ix_(where, where)] for one in curvatures]
    table = next((one for one in tables if _rises(one)), tables[-1]).copy()
    # Where scores say nothing about a ratio its curvature is 0 but not its slope.
    least = np.abs(slope) / (2 * FARTHEST * ratios[where]) + TINY
    table[np.diag_indices(len(where))] = np.maximum(np.diag(table), least)
    scale = 1 / np.sqrt(np.diag(table))
    table = table * np.outer(scale, scale) + 1e-12 * np.eye(len(where))
    solved = scale * np.linalg.solve(table, scale * slope)
    move[where] = -solved
    return move, float(solved @ slope)


def _rises(table: Table) -> bool:
    sizes = np.diag(table)
    return bool(sizes[0] > 0 and np.linalg.det(table) > 1e-9 * sizes.prod())


def _search(
    system: System,
    sums: Sums,
    point: Point,
    move: Table,
    active: Flags,
    *,
    trust: bool,
) -> Point | None:
    """Take the step, shortened until the likelihood does not fall; None if it must.

    The difference that a step to trust makes is less than the likelihood's rounding.
    """
    for _ in range(HALVINGS):
        # Downwards as it is, so that 0 is met; upwards by factors, so that a
        # ratio without bound gets there in few steps.
        share = np.clip(move / point.ratios, -0.98, FARTHEST)
        factor = np.where(share < 0, 1 + share, np.exp(np.maximum(share, 0)))
        ratios = np.clip(point.ratios * factor, LEAST, MOST)
        # So near to nothing it is nothing, whatever rounding says.
        ratios = np.where(ratios < 2 * LEAST, LEAST, ratios)
        ratios = np.where(active, ratios, point.ratios)
        if np.array_equal(ratios, point.ratios):
            return None
        after = evaluate(system, sums, ratios)
        if trust or after.value is None or point.value is None:
            return after
        if after.value <= point.value:
            return after
        move = move / 2
    return None


def evaluate(system: System, sums: Sums, ratios: Table) -> Point:
    """Compute minus twice the profile likelihood."""
    system.at(ratios)
    links, spread = system.links, 1 + ratios[0] * system.links.loads
    pull = links.pull(sums, float(ratios[0]))
    x = system.solve(pull[:, None], "values")[:, 0]
    spent = float(ratios[0] * (sums.dropped**2 / spread).sum()) + float(pull @ x)
    # Rounding leaves about this much of the squares however well the model fits.
    squared = max(sums.squares - spent, 1e-15 * sums.squares)
    value = None
    if system.determinant is not None:
        value = (links.size - 1) * float(np.log(squared))
        value += system.determinant + float((links.times * np.log(spread)).sum())
        value += len(links.counts) * float(np.log(ratios[1]))
    return Point(ratios, squared, x, value)


def derivatives(system: System, sums: Sums, point: Point) -> tuple[Table, list[Table]]:
    """Return the slope and curvatures of the likelihood at the system's ratios.

    The first curvature is exact, if traces are; the last is the average of the observed
    and the expected one, in which the second traces cancel.
    """
    links, (a, b) = system.links, point.ratios.tolist()
    loads, spread = links.loads, 1 + a * links.loads
    left = sums.dropped - links.matrix @ point.solution
    inner = np.concatenate([[0.0], point.solution[1:]])
    # Of q by a and 1 / b.
    targets = np.stack([links.back @ (left / spread**2), inner], axis=1)
    first = np.array([-float((left**2 / spread**2).sum()), float(inner @ inner)])
    second = -2 * targets.T @ system.solve(targets, "targets")
    second[0, 0] += 2 * float((loads * left**2 / spread**3).sum())
    # Of the determinants.
    slope, exactly = system.traces()
    size = len(links.counts)
    shares = loads / spread
    slope = slope + np.array([float((links.times * shares).sum()), -size * b])
    own = np.diag([-float((links.times * shares**2).sum()), size * b**2])
    known = np.zeros((2, 2)) if exactly is None else exactly + own
    slope, known = _by_ratios(slope, known, b)
    first, second = _by_ratios(first, second, b)
    share = (links.size - 1) / point.squared
    outer = share / point.squared * np.outer(first, first)
    average = share * second / 2 - outer
    exact = [] if exactly is None else [share * second - outer + known]
    return share * first + slope, [*exact, average]


def _by_ratios(slope: Table, curvature: Table, b: float) -> tuple[Table, Table]:
    """Take derivatives by (a, 1 / b) to derivatives by (a, b)."""
    scale = np.array([1.0, -(b**-2)])
    found = curvature * np.outer(scale, scale)
    found[1, 1] += 2 * b**-3 * slope[1]
    return scale * slope, found
