"""Random effects for many scores on the same ratings, all at once.

Who rated what does not change, so at one ratio a of the dropped effect (see `additive`)
the table S that is left once offsets and level are eliminated is the same for all
scores. With S = Q L Q' the likelihood at every ratio b is then a sum over the axes. In
log a it is analytic up to pi from the real line, so a few Chebyshev nodes hold all of a
window of log a to 1e-10, and Newton's steps of all scores are taken on these nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.models.additive import LEAST, MOST, Likelihood, Sums, maximise
from evenhand.models.nodes import node_at
from evenhand.models.solver import Chebyshev, one_thread

if TYPE_CHECKING:
    from evenhand.arrays import Flags, Table
    from evenhand.models.additive import Equations, Links


# Half the width of a window of log a, and the precision of its nodes.
HALF, PRECISION = 1.0, 1e-10


def fit_many(equations: Equations, scores: Table) -> tuple[Table, Table]:
    """Fit random effects to many scores, as `Equations.fit` does to one.

    Args:
        equations: Of the ratings, as a table.
        scores: A column for each set of scores, with mean 0.

    Returns:
        Predicted values of items, a column for each; and the shares of reviewers'
        offsets and of items' values in the variance, two rows. Like those of
        `Equations.fit` they are good to about 1e-9.

    Examples:
        >>> from evenhand.models.additive import Equations
        >>> from evenhand.models.design import build_matrix
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings([0, 0, 1, 1], ["x", "y", "y", "z"], [9, 7, 8, 2])
        >>> scores = build_matrix(ratings).scores
        >>> equations = Equations(build_matrix(ratings))
        >>> items = fit_many(equations, scores[:, None])[0][:, 0]
        >>> bool(np.allclose(items, equations.fit(scores).items, atol=1e-8))
        True
    """
    links, (start, free) = equations.links, equations.start()
    sums, first = links.add_up(scores), equations.fit(scores[:, 0]).ratios
    sums.squares[sums.squares == 0] = 1.0
    ratios = np.tile((start if first is None else first)[:, None], scores.shape[1])
    kept, way = np.empty_like(sums.kept), np.full(scores.shape[1], np.nan)
    with one_thread(len(links.counts)):
        while (going := way != 0).any():
            centre = ratios[0, going.argmax()]
            where = going & (np.abs(np.log(ratios[0] / centre)) <= HALF)
            span = np.clip(centre * np.exp([-HALF, HALF]), LEAST, MOST)
            chosen = Sums(*(table[..., where] for table in sums))
            window = Window(links, chosen, span if free[0] else ratios[0, :1])
            best, ahead = window.maximise(ratios[:, where], free)
            kept[:, where] = window.solution(best)
            # Those that want to leave the window go on in the next one, but not to and
            # fro between two windows, where the likelihood is flat.
            ahead[ahead == -way[where]] = 0
            further = best[0] * np.exp(0.9 * HALF * ahead)
            ratios[:, where] = np.clip(further, LEAST, MOST), best[1]
            way[where] = ahead
    weights = ratios[0] / (1 + ratios[0] * links.loads[:, None])
    dropped = weights * (sums.dropped - links.matrix @ kept)
    _, items = equations.in_order(dropped, kept[1:])
    parts = np.stack(equations.in_order(*np.where(ratios <= LEAST, 0.0, ratios)))
    return items, parts / (1 + parts.sum(axis=0))


class Window:
    """The likelihood of each column's scores over a window of a, or at one a."""

    def __init__(self, links: Links, sums: Sums, span: Table) -> None:
        """Look at the nodes."""
        self._span = span[0], span[-1]
        ends = np.log(self._span)
        self._held = Chebyshev(float(ends[0]), float(ends[1]), PRECISION)
        nodes = np.exp(self._held.nodes).tolist()
        self._nodes = [node_at(links, sums, ratio) for ratio in nodes]
        self._freedom = links.size - 1
        self._least = 1e-15 * sums.squares

    def maximise(self, begin: Table, free: Flags) -> tuple[Table, Table]:
        """Return where the likelihood is largest, and which way it rises further."""
        low, high = self._span
        bounds = np.array([[low], [LEAST]]), np.array([[high], [MOST]])
        point, _ = maximise(self.at, np.clip(begin, *bounds), free, bounds=bounds)
        slope = self.at(point).slope[0] * free[0]
        ahead = (point[0] >= high) & (slope < 0) & (high < MOST)
        behind = (point[0] <= low) & (slope > 0) & (low > LEAST)
        return point, ahead.astype(np.float64) - behind

    def at(self, point: Table) -> Likelihood:
        """Return the likelihood and its derivatives."""
        inverse, table = 1 / point[1], []
        for node in self._nodes:
            variances = 1 / (node.known[:, None] + inverse)
            spent = node.pull**2 * variances
            twice = inverse * np.einsum("ij,ij->j", spent, variances)
            thrice = inverse**2 * np.einsum("ij,ij,ij->j", spent, variances, variances)
            gains = node.known @ variances, inverse * (node.known @ variances**2)
            squares = node.squares - spent.sum(axis=0), -twice, twice - 2 * thrice
            # The sum of log(1 + b L).
            sizes = -len(variances) * np.log(inverse) - np.log(variances).sum(axis=0)
            table.append([*squares, node.determinant + sizes, *gains])
        shares = [self._held.shares(np.log(point[0]), order) for order in range(3)]
        plain, first, second = np.einsum("ojk,kfj->ofj", shares, np.array(table))
        squared = np.maximum(plain[0], self._least)
        share = self._freedom / squared
        slopes = np.stack([first[0], plain[1]])
        curved = np.array([[second[0], first[1]], [first[1], plain[2]]])
        bends = np.array([[second[3], first[4]], [first[4], plain[5]]])
        outer = slopes[:, None] * slopes * (share / squared)
        value = self._freedom * np.log(squared) + plain[3]
        # By log a and log b so far.
        slope = share * slopes + np.stack([first[3], plain[4]])
        curvature = share * curved - outer + bends
        curvature[[0, 1], [0, 1]] -= slope
        curvature /= point[:, None] * point
        downhill = np.abs(curvature) * np.eye(2)[:, :, None]
        return Likelihood(value, slope / point, curvature, downhill)

    def solution(self, point: Table) -> Table:
        """Return the mean and the kept effect."""
        effects = np.zeros((len(self._nodes[0].known) + 1, point.shape[1]))
        shares = self._held.shares(np.log(point[0]))
        for node, share in zip(self._nodes, shares.T, strict=True):
            solved = node.axes @ (node.pull / (node.known[:, None] + 1 / point[1]))
            effects[0] += share * (node.mean[0] - node.mean[1] @ solved)
            effects[1:] += share * solved
        return effects
