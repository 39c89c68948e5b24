"""Each reviewer adds an offset: score = mean + reviewer + item + rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.arrays import frozen
from evenhand.calibration import _solver
from evenhand.calibration._solver import (
    conjugate_gradients,
    inverse_diagonal,
    inverse_root,
    one_thread,
)
from evenhand.calibration.crossed import Equations, Links
from evenhand.calibration.design import (
    design,
    linked_groups,
    model_notices,
    require_rated,
)
from evenhand.calibration.results import Fit, settled
from evenhand.claims import Notice

if TYPE_CHECKING:
    from evenhand.arrays import Codes, Scores
    from evenhand.ratings import Ratings


STEPS, TOLERANCE = 2000, 1e-12
UNLINKED = 1e-9
# Beyond so many pairs of items a direct solution would not fit.
DIRECT_PAIRS = 50_000_000


def additive(ratings: Ratings, *, shrink: bool = False) -> Fit:
    """Fit an offset for each reviewer and a value for each item.

    Args:
        ratings: Scores.
        shrink: False for least squares, which takes offsets and values as they come:
            items are compared within linked groups only, and values of each group have
            mean 0. True for normal offsets and values, whose variances are estimated by
            restricted maximum likelihood (REML): predictions are drawn to the middle
            as far as the ratings are few or noisy.

    Returns:
        The fit. Standard errors are exact up to 1,000 items or reviewers, whichever are
        fewer (least squares: items), and estimated by probes beyond.

    Raises:
        RatingsError: If there are no scores; for least squares, if an item has none.

    References:
        Patterson and Thompson (1971), Recovery of inter-block information.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 3, 2])
        >>> additive(ratings).estimates.round(6).tolist()
        [1.666667, -0.333333, -1.333333]
        >>> additive(ratings).offsets.round(6).tolist()
        [2.0, -2.0]
    """
    return _shrunk(ratings) if shrink else _plain(ratings)


def _plain(ratings: Ratings) -> Fit:
    """Fit offsets and values, by a table for few items and by passes for many.

    Reviewers are eliminated: what is left for items is the Laplacian of the graph in
    which a reviewer of k items links each two of them with weight 1 / k. There are no
    standard errors if there are no more ratings than offsets and values.
    """
    made = design(ratings)
    require_rated(ratings, "additive")
    groups = linked_groups(ratings)
    sizes = made.n_reviewers, made.n_items
    links = Links(made.reviewers, made.items, sizes, made.weights)
    means = made.by_reviewer(made.scores) / links.loads
    right = made.by_item(made.scores - means[made.reviewers])
    freedom = len(made.scores) - made.n_items - made.n_reviewers + int(groups.max()) + 1
    few, known = made.n_items <= _solver.TABLE, freedom > 0
    solve = _by_table if few else _by_passes
    items, squared, converged = solve(links, right, groups, errors=known)
    items = _centred(items, groups)
    reviewers = means - made.by_reviewer(items[made.items]) / links.loads
    left = made.scores - items[made.items] - reviewers[made.reviewers]
    rest = float(made.weighted(left) @ left) / max(freedom, 1)
    # A reviewer belongs to the group of any of their items.
    own = np.empty(made.n_reviewers, dtype=np.int64)
    own[made.reviewers] = groups[made.items]
    what = "each group's values have mean 0, and groups are not compared"
    return Fit(
        method="additive",
        estimates=settled(made.in_units(items)),
        groups=groups,
        errors=frozen(made.in_units(np.sqrt(squared * rest))) if known else None,
        error_method=("exact" if few else "probes") if known else "none",
        offsets=frozen(made.in_units(_centred(reviewers, own))),
        converged=converged,
        notices=model_notices(
            ratings, groups, what=what, prior=False, converged=converged
        ),
    )


def _centred(values: Scores, groups: Codes) -> Scores:
    """Take the mean of its group from each value, or from those of each column."""
    sums = np.zeros((int(groups.max()) + 1, *values.shape[1:]))
    np.add.at(sums, groups, values)
    return values - (sums.T / np.bincount(groups)).T[groups]


def _by_table(
    links: Links, right: Scores, groups: Codes, *, errors: bool
) -> tuple[Scores, Scores, bool]:
    """Return values, their errors' squares in units of the rest, and success."""
    del errors  # they come with the table
    table = np.diag(links.counts) - links.gram(1 / links.loads)[1:, 1:]
    # Each group's constant is the null space; giving it weight 1 leaves a table that
    # can be inverted, with the wanted inverse once that weight is taken out again.
    same = (groups[:, None] == groups) / np.bincount(groups)[groups]
    with one_thread(len(table)):
        root = inverse_root(table + same)
        inverse = root.T @ root - same
    return inverse @ right, np.maximum(np.diag(inverse), 0), True


def _by_passes(
    links: Links, right: Scores, groups: Codes, *, errors: bool
) -> tuple[Scores, Scores, bool]:
    matrix, back = links.matrix[:, 1:], links.back[1:]
    weights = 1 / links.loads[:, None]

    def product(columns: Scores) -> Scores:
        moved = back @ (weights * (matrix @ columns))
        return np.asarray(links.counts[:, None] * columns - moved)

    # An item that nobody links with another has a row of zeros.
    diagonal = links.diagonal(weights[:, 0])
    diagonal = np.where(diagonal > UNLINKED, diagonal, 1.0)
    found, done = conjugate_gradients(
        product, diagonal, right[:, None], tolerance=TOLERANCE, steps=STEPS
    )
    if not done and float((links.loads**2).sum()) <= DIRECT_PAIRS:
        # Long chains of items need many passes, but have few links to eliminate.
        found, done = _direct(links, right, groups)[:, None], True
    squared = np.zeros(len(groups))
    if errors:
        squared = inverse_diagonal(
            product, diagonal, centred=lambda columns: _centred(columns, groups)
        )
    return found[:, 0], np.where(np.bincount(groups)[groups] > 1, squared, 0.0), done


def _direct(links: Links, right: Scores, groups: Codes) -> Scores:
    from scipy.sparse import csr_array, diags_array  # noqa: PLC0415 - slow to load
    from scipy.sparse.linalg import splu  # noqa: PLC0415 - slow to load

    matrix = csr_array(links.matrix[:, 1:])
    pinned = np.zeros(len(groups))
    pinned[np.unique(groups, return_index=True)[1]] = 1.0
    shared = matrix.T @ (matrix / links.loads[:, None])
    table = diags_array(links.counts + pinned) - shared
    return np.asarray(splu(table.tocsc(), permc_spec="MMD_AT_PLUS_A").solve(right))


def _shrunk(ratings: Ratings) -> Fit:
    made = design(ratings)
    equations = Equations(made)
    mixed = equations.fit(made.scores)
    _, errors, how = equations.errors(mixed)
    groups = linked_groups(ratings)
    told = _confounded(equations)
    return Fit(
        method="additive",
        estimates=settled(made.in_units(mixed.items)),
        groups=groups,
        errors=frozen(made.in_units(errors)),
        error_method=how,
        offsets=frozen(made.in_units(mixed.reviewers)),
        variances=made.squared(mixed.variances),
        iterations=mixed.steps,
        converged=mixed.converged,
        notices=model_notices(ratings, groups, *told, converged=mixed.converged),
    )


def _confounded(equations: Equations) -> list[Notice]:
    texts = (
        "Reviewers' offsets cannot be told from the rest here; they count as rest.",
        "Items' values cannot be told from the rest here; half of it counts as value.",
    )
    return [
        Notice("confounded", text)
        for text, free in zip(texts, equations.free.tolist(), strict=True)
        if not free
    ]
