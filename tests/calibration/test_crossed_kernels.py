"""Passes over ratings against plain twins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenhand._kernels import crossed as kernels
from evenhand.calibration._solver import conjugate_gradients

Table = NDArray[np.float64]
Codes = NDArray[np.int64]

KEPT = 5
ratio = st.floats(1e-4, 1e2)
seeds = st.integers(0, 2**32)
widths = st.integers(1, 5)
pairs = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, KEPT - 1)), min_size=1, unique=True
)


class Rated(NamedTuple):
    """Who rated what, in a table of ones and in both ways."""

    table: Table
    ways: kernels.Ways

    @property
    def loads(self) -> tuple[Table, Table]:
        return self.table.sum(axis=1), self.table.sum(axis=0)


def rated(given_pairs: list[tuple[int, int]]) -> Rated:
    dropped, kept = (np.array(codes, dtype=np.int64) for codes in zip(*given_pairs))  # noqa: B905 - pairs are of one length
    size = int(dropped.max()) + 1
    table = np.zeros((size, KEPT))
    table[dropped, kept] = 1.0
    return Rated(table, kernels.both_ways(dropped, kept, size, KEPT))


def eliminated(data: Rated, first: float, second: float) -> Table:
    """Write out the equations of the mean and the kept effect, the other eliminated."""
    own = np.sqrt(second) * data.table
    links = np.column_stack([data.table.sum(axis=1), own])
    rest = np.diag([data.table.sum(), *(1 + second * data.loads[1])])
    rest[0, 1:] = rest[1:, 0] = np.sqrt(second) * data.loads[1]
    weights = first / (1 + first * data.loads[0])
    return np.asarray(rest - links.T @ (weights[:, None] * links))


def equations(data: Rated, first: float, second: float) -> kernels.Equations:
    weights = first / (1 + first * data.loads[0])
    diagonal = np.diag(eliminated(data, first, second)).copy()
    return kernels.Equations(data.ways, weights, second, diagonal)


@given(pairs)
def test_both_ways_lists_each_level_in_order(
    given_pairs: list[tuple[int, int]],
) -> None:
    data = rated(given_pairs)
    ways = data.ways
    for level, row in enumerate(data.table):
        found = ways.kept[ways.start[level] : ways.start[level + 1]]
        assert found.tolist() == np.flatnonzero(row).tolist()
    for level, column in enumerate(data.table.T):
        found = ways.dropped[ways.back_start[level] : ways.back_start[level + 1]]
        assert found.tolist() == np.flatnonzero(column).tolist()


@given(pairs, seeds, widths)
def test_rows_are_added_up_by_level(
    given_pairs: list[tuple[int, int]], seed: int, width: int
) -> None:
    data = rated(given_pairs)
    columns = np.random.default_rng(seed).normal(size=(KEPT, width))
    found = np.empty((len(data.table), width))
    kernels.row_sums(data.ways.start, data.ways.kept, columns, found)
    assert np.allclose(found, data.table @ columns)


@given(pairs, seeds, widths, ratio, ratio)
def test_the_product_is_that_of_the_equations_written_out(
    given_pairs: list[tuple[int, int]],
    seed: int,
    width: int,
    first: float,
    second: float,
) -> None:
    data = rated(given_pairs)
    columns = np.random.default_rng(seed).normal(size=(KEPT + 1, width))
    found = np.empty_like(columns)
    inner = np.empty((len(data.table), width))
    given_equations = equations(data, first, second)
    curvature = kernels.crossed_product(given_equations, columns, inner, found)
    wanted = eliminated(data, first, second) @ columns
    scale = np.abs(wanted).max() + np.abs(given_equations.diagonal).max()
    assert np.allclose(found, wanted, rtol=1e-9, atol=1e-12 * scale)
    assert np.allclose(curvature, (columns * found).sum(axis=0), atol=1e-12 * scale)


@given(pairs, seeds, widths, ratio)
def test_columns_are_carried_down_through_the_links(
    given_pairs: list[tuple[int, int]], seed: int, width: int, second: float
) -> None:
    data = rated(given_pairs)
    source = np.random.default_rng(seed)
    columns = source.normal(size=(len(data.table), width))
    weights = source.uniform(0.1, 2, len(columns))
    found = np.empty((KEPT + 1, width))
    kernels.crossed_down(data.ways, weights, second, columns, found)
    weighted = weights[:, None] * columns
    assert np.allclose(found[0], data.loads[0] @ weighted)
    assert np.allclose(found[1:], np.sqrt(second) * data.table.T @ weighted)


@given(pairs, seeds, widths)
def test_the_laplacian_is_the_one_written_out(
    given_pairs: list[tuple[int, int]], seed: int, width: int
) -> None:
    # Everybody has rated something, and so has every item been.
    extra = [(0, kept) for kept in range(KEPT)] + [(who, 0) for who in range(6)]
    data = rated(sorted({*given_pairs, *extra}))
    loads = data.loads
    columns = np.random.default_rng(seed).normal(size=(KEPT, width))
    inner, found = np.empty((len(data.table), width)), np.empty((KEPT, width))
    kernels.laplacian_product(data.ways, loads, columns, inner, found)
    table = np.diag(loads[1]) - data.table.T @ (data.table / loads[0][:, None])
    assert np.allclose(found, table @ columns)


@given(seeds, widths)
def test_a_step_of_conjugate_gradients_is_the_textbook_one(
    seed: int, width: int
) -> None:
    source = np.random.default_rng(seed)
    right, moved, x = source.normal(size=(3, 4, width))
    scale = source.uniform(0.5, 2, 4)
    left, ahead = np.empty_like(right), np.empty_like(right)
    whole, size = kernels.begin(right, moved, scale, left, ahead)
    assert np.allclose(left, right - moved)
    assert np.allclose(ahead, scale[:, None] * left)
    assert np.allclose(whole, (scale[:, None] * right**2).sum(axis=0))
    assert np.allclose(size, (scale[:, None] * left**2).sum(axis=0))
    assert np.allclose(
        kernels.dots(scale, right, moved), (scale[:, None] * right * moved).sum(axis=0)
    )
    curvature = source.normal(size=width)
    bound = size * source.choice([0.5, 1.5], width)
    going, length = kernels.stride(size, bound, curvature)
    wanted = (size > bound) & (curvature > 0)
    assert going.tolist() == wanted.tolist()
    assert np.allclose(length, np.where(wanted, size / curvature, 0.0))
    before, rest, step = x.copy(), left.copy(), ahead.copy()
    fresh = kernels.advance(x, left, ahead, moved, length, scale)
    assert np.allclose(x, before + length * step)
    assert np.allclose(left, rest - length * moved)
    assert np.allclose(fresh, (scale[:, None] * left**2).sum(axis=0))
    old = size.copy()
    part = kernels.share(fresh, size, going)
    assert np.allclose(part, np.where(wanted, fresh / old, 0.0))
    assert np.allclose(size, np.where(wanted, fresh, old))
    kernels.turn(ahead, left, part, scale)
    assert np.allclose(ahead, part * step + scale[:, None] * left)


@given(pairs, seeds, widths, ratio, ratio)
def test_conjugate_gradients_solve_the_equations_from_anywhere(
    given_pairs: list[tuple[int, int]],
    seed: int,
    width: int,
    first: float,
    second: float,
) -> None:
    data = rated(given_pairs)
    source = np.random.default_rng(seed)
    right, start = source.normal(size=(2, KEPT + 1, width))
    table = eliminated(data, first, second)
    wanted = np.linalg.solve(table, right)
    x = start.copy()
    inner = np.empty((len(data.table), width))
    left, ahead, moved = np.empty((3, KEPT + 1, width))
    made = equations(data, first, second)
    kernels.crossed_gradients(made, right, x, (left, ahead, moved, inner), 1e-12)
    assert np.allclose(x, wanted, rtol=1e-6, atol=1e-8 * np.abs(wanted).max())
    plain, _ = conjugate_gradients(
        lambda columns: table @ columns, made.diagonal, right, start, tolerance=1e-12
    )
    assert np.allclose(x, plain, rtol=1e-6, atol=1e-8 * np.abs(wanted).max())


def test_a_column_that_is_done_stays_where_it_is() -> None:
    data = rated([(0, 0), (0, 1), (1, 1), (1, 2), (2, 3), (2, 4), (3, 0), (3, 4)])
    table = eliminated(data, 0.5, 2.0)
    right = table @ np.arange(12.0).reshape(6, 2)
    x = np.zeros((6, 2))
    x[:, 0] = np.arange(0.0, 12.0, 2.0)
    room = (*np.empty((3, 6, 2)), np.empty((4, 2)))
    kernels.crossed_gradients(equations(data, 0.5, 2.0), right, x, room, 1e-9)
    assert x[:, 0].tolist() == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    assert x[:, 1] == pytest.approx(np.arange(1.0, 12.0, 2.0))
