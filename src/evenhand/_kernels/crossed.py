"""Passes over ratings: two crossed effects, several columns side by side."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._kernels import kernel
from evenhand._kernels.memory import prefetch, prefetch_row

Codes = NDArray[np.int64]
# Unsigned, as signed indices would be checked for counting from the end.
Levels = NDArray[np.uint32]
Table = NDArray[np.float64]
Tables = tuple[Table, Table, Table, Table]

STEPS = 1000
# How far ahead of their use numbers, and rows of them, are fetched.
AHEAD, ROWS_AHEAD = 32, 12


class Ways(NamedTuple):
    """Who rated what, by the levels of either effect.

    Dropped level j was rated together with kept[start[j]:start[j + 1]], ascending, and
    kept level i with dropped[back_start[i]:back_start[i + 1]], ascending.
    """

    start: Codes
    kept: Levels
    back_start: Codes
    dropped: Levels


class Equations(NamedTuple):
    """Equations of two crossed effects, one eliminated, over the mean and the other.

    With g the ratio of the dropped effect, `weights` are g / (1 + g load) of each of
    its levels; `ratio` is that of the kept effect.
    """

    ways: Ways
    weights: Table
    ratio: float
    diagonal: Table


@kernel
def _starts(codes: Codes, size: int) -> Codes:
    starts = np.zeros(size + 1, dtype=np.int64)
    for code in codes:
        starts[code + 1] += 1
    for code in range(size):
        starts[code + 1] += starts[code]
    return starts


@kernel
def both_ways(dropped: Codes, kept: Codes, n_dropped: int, n_kept: int) -> Ways:
    """Sort ratings by either effect: two counting sorts one way, one more back."""
    start, back_start = _starts(dropped, n_dropped), _starts(kept, n_kept)
    first = np.empty(len(kept), dtype=np.int64)
    at = back_start.copy()
    for row in range(len(kept)):
        first[at[kept[row]]] = row
        at[kept[row]] += 1
    sorted_kept = np.empty(len(kept), dtype=np.uint32)
    at = start.copy()
    for rating in first:
        sorted_kept[at[dropped[rating]]] = kept[rating]
        at[dropped[rating]] += 1
    sorted_dropped = np.empty(len(kept), dtype=np.uint32)
    at = back_start.copy()
    for level in range(n_dropped):
        for place in range(start[level], start[level + 1]):
            other = sorted_kept[place]
            sorted_dropped[at[other]] = level
            at[other] += 1
    return Ways(start, sorted_kept, back_start, sorted_dropped)


@kernel
def row_sums(start: Codes, rows: Levels, table: Table, found: Table) -> None:
    """Add up the rows of a table that belong to each level.

    Level j has the rows that rows[start[j]:start[j + 1]] names.
    """
    if table.shape[1] == 1:
        _number_sums(start, rows, table, found)
        return
    for level in range(len(start) - 1):
        line, place, last = found[level], start[level], start[level + 1]
        for later in range(place + ROWS_AHEAD, min(last + ROWS_AHEAD, len(rows))):
            prefetch_row(table, rows[later])
        line[:] = 0.0
        # Two rows at a time, as a line is as slow to fetch as a row.
        while place + 1 < last:
            one, other = table[rows[place]], table[rows[place + 1]]
            for column in range(len(line)):
                line[column] = line[column] + one[column] + other[column]
            place += 2
        if place < last:
            one = table[rows[place]]
            for column in range(len(line)):
                line[column] += one[column]


@kernel
def _number_sums(start: Codes, rows: Levels, table: Table, found: Table) -> None:
    """Do the work of `row_sums` for one column."""
    for level in range(len(start) - 1):
        total = 0.0
        for place in range(start[level], start[level + 1]):
            if place + AHEAD < len(rows):
                prefetch(table, rows[place + AHEAD])
            total += table[rows[place], 0]
        found[level, 0] = total


@kernel
def crossed_product(
    equations: Equations, columns: Table, inner: Table, found: Table
) -> Table:
    """Multiply columns by the equations of two crossed effects.

    Args:
        equations: The equations.
        columns: A row for the mean, then one for each kept level.
        inner: Room for a row for each dropped level.
        found: The product.

    Returns:
        The products of each column with its own product.
    """
    ways, weights = equations.ways, equations.weights
    root = np.sqrt(equations.ratio)
    width = columns.shape[1]
    mean, rest = columns[0].copy(), columns[1:]
    top, curvature = np.zeros(width), np.zeros(width)
    row_sums(ways.start, ways.kept, rest, inner)
    for level in range(len(inner)):
        load = float(ways.start[level + 1] - ways.start[level])
        line = inner[level]
        for column in range(width):
            value = weights[level] * (load * mean[column] + root * line[column])
            line[column] = value
            top[column] -= load * value
    row_sums(ways.back_start, ways.dropped, inner, found[1:])
    for level in range(len(rest)):
        line, own = found[level + 1], rest[level]
        load = float(ways.back_start[level + 1] - ways.back_start[level])
        across, along = root * load, 1.0 + equations.ratio * load
        for column in range(width):
            value = across * mean[column] - root * line[column] + along * own[column]
            line[column] = value
            top[column] += across * own[column]
            curvature[column] += own[column] * value
    for column in range(width):
        found[0, column] = top[column] + len(ways.kept) * mean[column]
        curvature[column] += mean[column] * found[0, column]
    return curvature


@kernel
def crossed_down(
    ways: Ways, weights: Table, ratio: float, columns: Table, found: Table
) -> None:
    """Carry weighted columns over dropped levels to the mean and the kept levels."""
    root = np.sqrt(ratio)
    found[:] = 0.0
    for level in range(len(columns)):
        load = float(ways.start[level + 1] - ways.start[level])
        for column in range(columns.shape[1]):
            found[0, column] += load * (weights[level] * columns[level, column])
    for level in range(len(found) - 1):
        line = found[level + 1]
        for place in range(ways.back_start[level], ways.back_start[level + 1]):
            other = ways.dropped[place]
            for column in range(len(line)):
                line[column] += weights[other] * columns[other, column]
        for column in range(len(line)):
            line[column] *= root


@kernel
def laplacian_product(
    ways: Ways, loads: tuple[Table, Table], columns: Table, inner: Table, found: Table
) -> None:
    """Multiply columns by what is left for items once reviewers are eliminated.

    A reviewer of k items links each two of them with weight 1 / k.
    """
    row_sums(ways.start, ways.kept, columns, inner)
    for level in range(len(inner)):
        line, load = inner[level], loads[0][level]
        for column in range(len(line)):
            line[column] /= load
    row_sums(ways.back_start, ways.dropped, inner, found)
    for level in range(len(found)):
        line, own, load = found[level], columns[level], loads[1][level]
        for column in range(len(line)):
            line[column] = load * own[column] - line[column]


@kernel
def dots(scale: Table, first: Table, second: Table) -> Table:
    """Return the products of columns of two tables, with a scale for each row."""
    found = np.zeros(first.shape[1])
    for row in range(len(first)):
        one, other, own = first[row], second[row], scale[row]
        for column in range(len(found)):
            found[column] += one[column] * (own * other[column])
    return found


@kernel
def begin(
    right: Table, moved: Table, scale: Table, left: Table, ahead: Table
) -> tuple[Table, Table]:
    """Set what is left of the right-hand sides and the first direction.

    Returns:
        The scaled squares of the right-hand sides, and of what is left.
    """
    width = right.shape[1]
    whole, size = np.zeros(width), np.zeros(width)
    for row in range(len(right)):
        own, target, change = scale[row], right[row], moved[row]
        rest, step = left[row], ahead[row]
        for column in range(width):
            value = target[column] - change[column]
            whole[column] += target[column] * (own * target[column])
            size[column] += value * (own * value)
            rest[column] = value
            step[column] = own * value
    return whole, size


@kernel
def advance(
    x: Table, left: Table, ahead: Table, moved: Table, length: Table, scale: Table
) -> Table:
    """Take one step of conjugate gradients; return the new scaled squares of `left`."""
    size = np.zeros(len(length))
    for row in range(len(x)):
        own = scale[row]
        answer, rest, step, change = x[row], left[row], ahead[row], moved[row]
        for column in range(len(length)):
            answer[column] += length[column] * step[column]
            value = rest[column] - length[column] * change[column]
            rest[column] = value
            size[column] += value * (own * value)
    return size


@kernel
def turn(ahead: Table, left: Table, share: Table, scale: Table) -> None:
    """Set the next direction of conjugate gradients."""
    for row in range(len(ahead)):
        own = scale[row]
        step, rest = ahead[row], left[row]
        for column in range(len(share)):
            step[column] = share[column] * step[column] + own * rest[column]


@kernel
def stride(
    size: Table, bound: Table, curvature: Table
) -> tuple[NDArray[np.bool_], Table]:
    """Say which columns move on, and how far.

    One that is done, or that has met the null space, stays where it is.
    """
    going = (size > bound) & (curvature > 0)
    length = np.zeros(len(size))
    for column in range(len(size)):
        if going[column]:
            length[column] = size[column] / curvature[column]
    return going, length


@kernel
def share(fresh: Table, size: Table, going: NDArray[np.bool_]) -> Table:
    """Return how much of the last direction goes into the next; update the sizes."""
    found = np.zeros(len(size))
    for column in range(len(size)):
        if going[column]:
            found[column] = fresh[column] / size[column]
            size[column] = fresh[column]
    return found


@kernel
def crossed_gradients(
    equations: Equations, right: Table, x: Table, room: Tables, tolerance: float
) -> None:
    """Solve the equations of two crossed effects by conjugate gradients.

    Args:
        equations: The equations.
        right: Right-hand sides, as columns.
        x: Where to start from; the answers.
        room: Three tables like x, and one with a row for each dropped level.
        tolerance: Size of the residual at which a column is done, relative to its
            right-hand side.
    """
    left, ahead, moved, inner = room
    scale = 1.0 / equations.diagonal
    crossed_product(equations, x, inner, moved)
    bound, size = begin(right, moved, scale, left, ahead)
    bound *= tolerance**2
    for _ in range(STEPS):
        if not np.any(size > bound):
            break
        curvature = crossed_product(equations, ahead, inner, moved)
        going, length = stride(size, bound, curvature)
        fresh = advance(x, left, ahead, moved, length, scale)
        turn(ahead, left, share(fresh, size, going), scale)
