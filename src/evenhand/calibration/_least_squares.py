"""Two-way least squares on any graph, group by group."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand._kernels.calibration import symmetric_inverse
from evenhand._kernels.crossed import laplacian_product
from evenhand.calibration._reml import dot
from evenhand.calibration._solver import (
    Room,
    conjugate_gradients,
    inverse_diagonal,
    signs,
)
from evenhand.calibration._tables import TABLE, Links, error_probes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.calibration._design import Design
    from evenhand.calibration._solver import Product

    Codes = NDArray[np.int64]
    Table = NDArray[np.float64]

STEPS = 2000
TOLERANCE = 1e-12
UNLINKED = 1e-9
# Beyond so many pairs of items a direct solution would not fit.
DIRECT_PAIRS = 50_000_000


class TwoWay(NamedTuple):
    """Least squares offsets and values, in the design's unit.

    Attributes:
        items: Values, of mean 0 in each group.
        reviewers: Offsets, of mean 0 in each group.
        errors: Standard errors of the values against their group's mean, or None if
            there are no more ratings than offsets and values.
        error_method: "exact", "probes" or "none".
        converged: Whether the solution settled.
    """

    items: Table
    reviewers: Table
    errors: Table | None
    error_method: str
    converged: bool


def two_way(made: Design, groups: Codes) -> TwoWay:
    """Fit offsets and values, by a table for few items and by passes for many.

    Reviewers are eliminated: what is left for items is the Laplacian of the graph in
    which a reviewer of k items links each two of them with weight 1 / k.
    """
    links = Links(made.reviewers, made.items, (made.n_reviewers, made.n_items))
    means = made.by_reviewer(made.scores) / made.loads
    right = made.by_item(made.scores - means[made.reviewers])
    freedom = len(made.scores) - made.n_items - made.n_reviewers + int(groups.max()) + 1
    squared: Table | None
    if made.n_items <= TABLE:
        items, squared, how = _by_table(links, right, groups)
        done = True
    else:
        items, done = _by_passes(links, right, groups)
        squared, how = _probed(links, groups) if freedom > 0 else (None, "none")
    items = _centred(items, groups)
    reviewers = means - made.by_reviewer(items[made.items]) / made.loads
    errors = None
    if freedom > 0 and squared is not None:
        left = made.scores - items[made.items] - reviewers[made.reviewers]
        errors = np.sqrt(np.maximum(squared, 0) * dot(left, left) / freedom)
    # A reviewer belongs to the group of any of their items.
    own = np.empty(made.n_reviewers, dtype=np.int64)
    own[made.reviewers] = groups[made.items]
    reviewers = _centred(reviewers, own)
    return TwoWay(items, reviewers, errors, how if errors is not None else "none", done)


def _centred(values: Table, groups: Codes) -> Table:
    """Take the mean of its group from each value."""
    sizes = np.bincount(groups)
    columns = values if values.ndim > 1 else values[:, None]
    found = np.empty_like(columns)
    for place in range(columns.shape[1]):
        means = np.bincount(groups, columns[:, place]) / sizes
        found[:, place] = columns[:, place] - means[groups]
    return found if values.ndim > 1 else found[:, 0]


def _by_table(links: Links, right: Table, groups: Codes) -> tuple[Table, Table, str]:
    loads, counts = links.loads
    forward = links.matrix()
    shared = (forward.T @ (forward / loads[:, None])).toarray()
    table = np.diag(counts) - shared
    # Each group's constant is the null space; giving it weight 1 leaves a table that
    # can be inverted, with the wanted inverse once that weight is taken out again.
    same = (groups[:, None] == groups) / np.bincount(groups)[groups]
    inverse = symmetric_inverse(table + same)[0] - same
    return inverse @ right, np.diag(inverse), "exact"


def _by_passes(links: Links, right: Table, groups: Codes) -> tuple[Table, bool]:
    product, diagonal = _laplacian(links)
    found, done = conjugate_gradients(
        product, diagonal, right[:, None], tolerance=TOLERANCE, steps=STEPS
    )
    loads = links.loads[0]
    if not done and float((loads * loads).sum()) <= DIRECT_PAIRS:
        # Long chains of items need many passes, but have few links to eliminate.
        return _direct(links, right, groups), True
    return found[:, 0], done


def _direct(links: Links, right: Table, groups: Codes) -> Table:
    from scipy.sparse import diags_array  # noqa: PLC0415 - slow to load
    from scipy.sparse.linalg import splu  # noqa: PLC0415 - slow to load

    loads, counts = links.loads
    forward = links.matrix()
    pinned = np.zeros(len(counts))
    pinned[np.unique(groups, return_index=True)[1]] = 1.0
    table = diags_array(counts + pinned) - forward.T @ (forward / loads[:, None])
    return np.asarray(splu(table.tocsc(), permc_spec="MMD_AT_PLUS_A").solve(right))


def _laplacian(links: Links) -> tuple[Product, Table]:
    loads, counts = links.loads

    room = Room()

    def product(columns: Table) -> Table:
        width = columns.shape[1]
        inner = room.table("inner", len(loads), width)
        found = room.table("product", len(counts), width)
        laplacian_product(links.ways, links.loads, columns, inner, found)
        return found

    diagonal = counts - links.back(1 / loads)
    # An item that nobody links with another has a row of zeros.
    return product, np.where(diagonal > UNLINKED, diagonal, 1.0)


def _probed(links: Links, groups: Codes) -> tuple[Table, str]:
    product, diagonal = _laplacian(links)
    sizes = np.bincount(groups)[groups]
    probes = signs("errors", len(groups), error_probes(len(groups)))
    solved, _ = conjugate_gradients(
        product, diagonal, _centred(probes, groups), tolerance=1e-4, steps=STEPS
    )
    found = inverse_diagonal(product, diagonal, probes, _centred(solved, groups))
    return np.where(sizes > 1, found, 0.0), "probes"
