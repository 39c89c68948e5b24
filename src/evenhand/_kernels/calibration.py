"""Loops of the calibration room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import kernel
from evenhand._kernels.memory import prefetch, prefetch_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
    Table = NDArray[np.float64]

# How far ahead of its use a number is fetched.
AHEAD = 24


@kernel
def symmetric_inverse(table: Table) -> tuple[Table, float]:
    """Invert a positive definite table, given by its upper half; also the log det.

    The upper half is used up. Loops run along rows, so that they are vectorised; a
    library's threads would cost more than they save at these sizes.
    """
    determinant = _factor(table)
    _invert_factor(table)
    size = len(table)
    inverse = np.zeros((size, size))
    for last in range(size):
        ends = table[: last + 1, last].copy()
        for row in range(last + 1):
            factor = ends[row]
            for column in range(row, last + 1):
                inverse[row, column] += factor * ends[column]
    for row in range(size):
        for column in range(row):
            inverse[row, column] = inverse[column, row]
    return inverse, determinant


@kernel
def _factor(table: Table) -> float:
    """Factor the upper half in place (Cholesky); return the log determinant."""
    size = len(table)
    determinant = 0.0
    for pivot in range(size):
        # Rounding may leave nothing of a pivot that is tiny but positive.
        root = np.sqrt(max(table[pivot, pivot], 1e-300))
        determinant += 2.0 * np.log(root)
        for column in range(pivot, size):
            table[pivot, column] /= root
        table[pivot, pivot] = root
        for row in range(pivot + 1, size):
            factor = table[pivot, row]
            if factor != 0.0:
                for column in range(row, size):
                    table[row, column] -= factor * table[pivot, column]
    return determinant


@kernel
def _invert_factor(upper: Table) -> None:
    """Invert an upper triangle in place."""
    size = len(upper)
    for row in range(size - 1, -1, -1):
        head = 1.0 / upper[row, row]
        sums = np.zeros(size)
        for inner in range(row + 1, size):
            factor = upper[row, inner]
            if factor != 0.0:
                for column in range(inner, size):
                    sums[column] += factor * upper[inner, column]
        upper[row, row] = head
        for column in range(row + 1, size):
            upper[row, column] = -head * sums[column]


@kernel
def crossed_inverse(
    start: Codes, kept: Codes, n_kept: int, dropped_ratio: float, kept_ratio: float
) -> tuple[Table, float]:
    """Invert the equations of two crossed effects, one of them eliminated.

    Level j of the dropped effect was rated together with the kept levels
    kept[start[j]:start[j + 1]], ascending. Returns the inverse over the mean and the
    kept effect, and the log determinant of all equations.
    """
    root = np.sqrt(kept_ratio)
    table = np.zeros((n_kept + 1, n_kept + 1))
    determinant = 0.0
    for level in range(len(start) - 1):
        load = start[level + 1] - start[level]
        spread = 1.0 + dropped_ratio * load
        determinant += np.log(spread)
        table[0, 0] += load / spread
        weight = kept_ratio * dropped_ratio / spread
        for first in range(start[level], start[level + 1]):
            row = kept[first] + 1
            table[0, row] += root / spread
            table[row, row] += kept_ratio
            for second in range(first, start[level + 1]):
                table[row, kept[second] + 1] -= weight
    for row in range(1, n_kept + 1):
        table[row, row] += 1.0
    inverse, own = symmetric_inverse(table)
    return inverse, determinant + own


@kernel
def crossed_links(
    start: Codes, kept: Codes, inverse: Table, dropped_ratio: float, kept_ratio: float
) -> tuple[Table, Table]:
    """Carry the dropped levels' links through the inverse T of the equations.

    With M the links of dropped levels to (mean, kept effect) and D = 1 + ratio * load,
    returns the diagonal of M T M' and the table M' D^-2 M T.
    """
    root = np.sqrt(kept_ratio)
    size = len(inverse)
    squares = np.empty(len(start) - 1)
    table = np.zeros((size, size))
    carried = np.empty(size)
    for level in range(len(start) - 1):
        load = start[level + 1] - start[level]
        for column in range(size):
            carried[column] = load * inverse[0, column]
        for place in range(start[level], start[level + 1]):
            row = kept[place] + 1
            for column in range(size):
                carried[column] += root * inverse[row, column]
        total = load * carried[0]
        weight = (1.0 + dropped_ratio * load) ** -2.0
        for column in range(size):
            table[0, column] += weight * load * carried[column]
        for place in range(start[level], start[level + 1]):
            row = kept[place] + 1
            total += root * carried[row]
            for column in range(size):
                table[row, column] += weight * root * carried[column]
        squares[level] = total
    return squares, table


@kernel
def isotonic_runs(start: Codes, targets: Table, weights: Table) -> Table:
    """Fit the nearest nondecreasing sequence to each run of targets (PAVA).

    Run j is targets[start[j]:start[j + 1]], with positive weights. Neighbours that fall
    are pooled into their weighted mean until none do.
    """
    fitted = np.empty(len(targets))
    means = np.empty(len(targets))
    masses = np.empty(len(targets))
    sizes = np.empty(len(targets), dtype=np.int64)
    for run in range(len(start) - 1):
        top = -1
        for place in range(start[run], start[run + 1]):
            top += 1
            means[top] = targets[place]
            masses[top] = weights[place]
            sizes[top] = 1
            while top > 0 and means[top - 1] >= means[top]:
                mass = masses[top - 1] + masses[top]
                share = masses[top] / mass
                means[top - 1] += share * (means[top] - means[top - 1])
                masses[top - 1] = mass
                sizes[top - 1] += sizes[top]
                top -= 1
        place = start[run]
        for block in range(top + 1):
            for _ in range(sizes[block]):
                fitted[place] = means[block]
                place += 1
    return fitted


@kernel
def _longest(start: Codes) -> int:
    longest = 0
    for run in range(len(start) - 1):
        longest = max(longest, start[run + 1] - start[run])
    return longest


@kernel
def pair_slopes(
    start: Codes, items: Codes, weights: Table, strength: Table
) -> tuple[Table, Table]:
    """Expected wins of each item, and their derivative, under Bradley-Terry.

    Reviewer j compares each two of items[start[j]:start[j + 1]], each pair with weight
    weights[j]; an item of strength a beats one of strength b with probability
    a / (a + b).

    Here and below, what belongs to a reviewer's items is brought together first, so
    that pairs find it at hand, and what later ones need is fetched meanwhile.
    """
    sums = np.zeros((len(strength), 2))
    longest = _longest(start)
    near, won, slope = np.empty(longest), np.empty(longest), np.empty(longest)
    for reviewer in range(len(start) - 1):
        weight, begin = weights[reviewer], start[reviewer]
        load = start[reviewer + 1] - begin
        for place in range(load):
            if begin + place + AHEAD < len(items):
                later = items[begin + place + AHEAD]
                prefetch(strength, later)
                prefetch_row(sums, later)
            near[place] = strength[items[begin + place]]
            won[place], slope[place] = 0.0, 0.0
        for first in range(load):
            own = near[first]
            for second in range(first):
                share = own / (own + near[second])
                even = weight * share * (1.0 - share)
                won[first] += share
                slope[first] += even
                won[second] += 1.0 - share
                slope[second] += even
        for place in range(load):
            sums[items[begin + place], 0] += weight * won[place]
            sums[items[begin + place], 1] += slope[place]
    return sums[:, 0].copy(), sums[:, 1].copy()


@kernel
def _add_flows(
    items: Codes,
    rows: tuple[int, int],
    evens: Table,
    tables: tuple[Table, Table],
    room: tuple[Table, Table],
) -> None:
    # Add what flows between the rows of one reviewer's items; `evens` says how easily.
    columns, found = tables
    near, flows = room
    width = columns.shape[1]
    first, last = rows
    for place in range(last - first):
        if last + place < len(items):
            prefetch_row(columns, items[last + place])
            prefetch_row(found, items[last + place])
        item = items[first + place]
        for column in range(width):
            near[place, column] = columns[item, column]
            flows[place, column] = 0.0
    pair = 0
    for one in range(last - first):
        for other in range(one):
            even = evens[pair]
            pair += 1
            for column in range(width):
                flow = even * (near[one, column] - near[other, column])
                flows[one, column] += flow
                flows[other, column] -= flow
    for place in range(last - first):
        item = items[first + place]
        for column in range(width):
            found[item, column] += flows[place, column]


@kernel
def _pair_flows(
    start: Codes,
    items: Codes,
    weights: Table,
    arrays: tuple[Table, Table, Table],
    longest: int,
) -> None:
    # Do the work of `pair_product` for one column.
    strength, values, found = arrays
    power, near, flows = np.empty(longest), np.empty(longest), np.empty(longest)
    for reviewer in range(len(start) - 1):
        weight, begin = weights[reviewer], start[reviewer]
        load = start[reviewer + 1] - begin
        for place in range(load):
            if begin + place + AHEAD < len(items):
                later = items[begin + place + AHEAD]
                prefetch(strength, later)
                prefetch(values, later)
                prefetch(found, later)
            item = items[begin + place]
            power[place], near[place], flows[place] = strength[item], values[item], 0.0
        for one in range(load):
            own, at, into = power[one], near[one], 0.0
            for other in range(one):
                share = own / (own + power[other])
                flow = weight * share * (1.0 - share) * (at - near[other])
                into += flow
                flows[other] -= flow
            flows[one] += into
        for place in range(load):
            found[items[begin + place]] += flows[place]


@kernel
def pair_product(
    start: Codes,
    items: Codes,
    weights: Table,
    strength: Table,
    columns: Table,
    found: Table,
) -> None:
    """Add columns times the Bradley-Terry information (a weighted Laplacian)."""
    longest, width = _longest(start), columns.shape[1]
    if width == 1:
        arrays = (strength, columns[:, 0], found[:, 0])
        _pair_flows(start, items, weights, arrays, longest)
        return
    room = (np.empty((longest, width)), np.empty((longest, width)))
    near, evens = np.empty(longest), np.empty(longest * (longest - 1) // 2)
    for reviewer in range(len(start) - 1):
        first, last = start[reviewer], start[reviewer + 1]
        pair = 0
        for place in range(last - first):
            if first + place + AHEAD < len(items):
                prefetch(strength, items[first + place + AHEAD])
            own = near[place] = strength[items[first + place]]
            for other in range(place):
                share = own / (own + near[other])
                evens[pair + other] = weights[reviewer] * share * (1.0 - share)
            pair += place
        _add_flows(items, (first, last), evens, (columns, found), room)


@kernel
def pair_table(start: Codes, items: Codes, weights: Table, strength: Table) -> Table:
    """Write the Bradley-Terry information out as a table."""
    table = np.zeros((len(strength), len(strength)))
    for reviewer in range(len(start) - 1):
        weight = weights[reviewer]
        for first in range(start[reviewer], start[reviewer + 1]):
            one = items[first]
            own = strength[one]
            for second in range(start[reviewer], first):
                other = items[second]
                share = own / (own + strength[other])
                even = weight * share * (1.0 - share)
                table[one, one] += even
                table[other, other] += even
                table[one, other] -= even
                table[other, one] -= even
    return table


@kernel
def _node_count(half: float) -> int:
    """Return how many nodes a logistic sum needs on an interval of this half width.

    The logistic function is analytic up to pi from the real line, so the error falls by
    the factor `rate` with every node (Bernstein's ellipse); it stops at 1e-14.
    """
    reach = np.pi / max(half, 1e-3)
    rate = reach + np.sqrt(1.0 + reach * reach)
    return int(32.3 / np.log(rate)) + 8


@kernel
def _basis(at: float, nodes: Table, shares: Table) -> None:
    """Fill in the share of each node in the interpolation at a point."""
    last = len(nodes) - 1
    total = 0.0
    sign = 1.0
    for node in range(last + 1):
        gap = at - nodes[node]
        if gap == 0.0:
            shares[:] = 0.0
            shares[node] = 1.0
            return
        share = sign / gap
        if node in {0, last}:
            share *= 0.5
        shares[node] = share
        total += share
        sign = -sign
    for node in range(last + 1):
        shares[node] /= total


@kernel
def _nodes(values: Table) -> Table:
    """Place Chebyshev nodes over the range of values."""
    low, high = values.min(), values.max()
    half = 0.5 * (high - low)
    count = _node_count(half)
    turns = np.arange(count) * (np.pi / (count - 1))
    # A range of nothing still needs nodes that differ.
    return np.asarray(0.5 * (low + high) + max(half, 1e-3) * np.cos(turns))


@kernel
def smooth_slopes(
    start: Codes, items: Codes, weights: Table, values: Table
) -> tuple[Table, Table]:
    """Do what `pair_slopes` does, for reviewers of many items, from log strengths.

    Expected wins are a smooth function of an item's value; it is summed over the other
    items at a few nodes and interpolated, so that time grows with the number of items
    and not with that of pairs.
    """
    strength = np.exp(values)
    wins = np.zeros(len(values))
    slopes = np.zeros(len(values))
    for reviewer in range(len(start) - 1):
        own = items[start[reviewer] : start[reviewer + 1]]
        nodes = _nodes(values[own])
        sums = np.zeros((len(nodes), 2))
        for node in range(len(nodes)):
            level = np.exp(nodes[node])
            for item in own:
                share = level / (level + strength[item])
                sums[node, 0] += share
                sums[node, 1] += share * (1.0 - share)
        shares = np.empty(len(nodes))
        for item in own:
            _basis(values[item], nodes, shares)
            won, slope = -0.5, -0.25
            for node in range(len(nodes)):
                won += shares[node] * sums[node, 0]
                slope += shares[node] * sums[node, 1]
            wins[item] += weights[reviewer] * won
            slopes[item] += weights[reviewer] * slope
    return wins, slopes


@kernel
def smooth_product(
    start: Codes, items: Codes, weights: Table, values: Table, columns: Table
) -> Table:
    """Do what `pair_product` does, for reviewers of many items, from log strengths."""
    strength = np.exp(values)
    width = columns.shape[1]
    found = np.zeros(columns.shape)
    for reviewer in range(len(start) - 1):
        own = items[start[reviewer] : start[reviewer + 1]]
        nodes = _nodes(values[own])
        sums = np.zeros((len(nodes), width + 1))
        for node in range(len(nodes)):
            level = np.exp(nodes[node])
            for item in own:
                share = level / (level + strength[item])
                even = share * (1.0 - share)
                sums[node, width] += even
                for column in range(width):
                    sums[node, column] += even * columns[item, column]
        shares = np.empty(len(nodes))
        for item in own:
            _basis(values[item], nodes, shares)
            for node in range(len(nodes)):
                part = weights[reviewer] * shares[node]
                for column in range(width):
                    own_part = columns[item, column] * sums[node, width]
                    found[item, column] += part * (own_part - sums[node, column])
    return found
