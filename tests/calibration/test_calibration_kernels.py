"""Compiled loops of the calibration room against plain twins."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenhand._kernels import calibration as kernels

Table = NDArray[np.float64]
Codes = NDArray[np.int64]

ratio = st.floats(1e-6, 1e3)
bundles = st.lists(
    st.lists(st.integers(0, 4), min_size=1, unique=True).map(sorted),
    min_size=1,
    max_size=6,
)


def flat(lists: list[list[int]]) -> tuple[Codes, Codes]:
    start = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return start, np.array([code for one in lists for code in one], dtype=np.int64)


def all_equations(lists: list[list[int]], first: float, second: float) -> Table:
    """Write out the equations for (mean, kept, dropped), nothing eliminated."""
    columns = [
        [1.0]
        + [np.sqrt(second) * (code == kept) for kept in range(5)]
        + [np.sqrt(first) * (level == other) for other in range(len(lists))]
        for level, codes in enumerate(lists)
        for code in codes
    ]
    table: Table = np.array(columns)
    return np.asarray(table.T @ table + np.diag([0.0] + [1.0] * (5 + len(lists))))


@given(st.integers(1, 6), st.integers(0, 2**32))
def test_symmetric_inverse_inverts_from_the_upper_half(size: int, seed: int) -> None:
    square = np.random.default_rng(seed).normal(size=(size, size))
    table = square @ square.T + np.eye(size)
    inverse, determinant = kernels.symmetric_inverse(np.triu(table))
    assert np.allclose(inverse, np.linalg.inv(table), rtol=1e-9, atol=1e-12)
    assert np.isclose(determinant, np.linalg.slogdet(table)[1], rtol=1e-9, atol=1e-12)


@given(bundles, ratio, ratio)
def test_crossed_inverse_is_a_block_of_the_whole_inverse(
    lists: list[list[int]], first: float, second: float
) -> None:
    start, kept = flat(lists)
    whole = all_equations(lists, first, second)
    inverse, determinant = kernels.crossed_inverse(start, kept, 5, first, second)
    assert np.allclose(inverse, np.linalg.inv(whole)[:6, :6], rtol=1e-6, atol=1e-9)
    assert np.isclose(determinant, np.linalg.slogdet(whole)[1], rtol=1e-8, atol=1e-8)


@given(bundles, ratio, ratio)
def test_crossed_links_carries_links_through_the_inverse(
    lists: list[list[int]], first: float, second: float
) -> None:
    start, kept = flat(lists)
    inverse, _ = kernels.crossed_inverse(start, kept, 5, first, second)
    squares, table = kernels.crossed_links(start, kept, inverse, first, second)
    links = np.zeros((len(lists), 6))
    for level, codes in enumerate(lists):
        links[level, 0] = len(codes)
        links[level, [code + 1 for code in codes]] = np.sqrt(second)
    weights = (1 + first * links[:, 0]) ** -2.0
    assert np.allclose(squares, np.diag(links @ inverse @ links.T), rtol=1e-8)
    wanted = links.T @ np.diag(weights) @ links @ inverse
    assert np.allclose(table, wanted, rtol=1e-8, atol=1e-12)


@given(
    st.lists(
        st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 4)), min_size=1),
        min_size=1,
        max_size=4,
    )
)
def test_isotonic_runs_are_the_min_max_of_means(
    runs: list[list[tuple[int, int]]],
) -> None:
    # The level at i is the least over ends v >= i of the greatest over beginnings
    # u <= i of the weighted mean of u..v (Barlow and others, 1972).
    def average(part: list[tuple[int, int]]) -> float:
        mass = sum(weight for _, weight in part)
        return sum(target * weight for target, weight in part) / mass

    wanted = [
        min(
            max(average(run[begin : end + 1]) for begin in range(place + 1))
            for end in range(place, len(run))
        )
        for run in runs
        for place in range(len(run))
    ]
    start = np.cumsum([0, *map(len, runs)]).astype(np.int64)
    flat_runs = np.array([pair for run in runs for pair in run], dtype=np.float64)
    targets, weights = flat_runs[:, 0].copy(), flat_runs[:, 1].copy()
    found = kernels.isotonic_runs(start, targets, weights)
    assert np.allclose(found, wanted, rtol=0, atol=1e-12)


@given(bundles, st.integers(0, 2**32))
def test_pair_loops_agree_with_a_plain_sum_over_pairs(
    lists: list[list[int]], seed: int
) -> None:
    source = np.random.default_rng(seed)
    strength = np.exp(source.normal(size=5))
    weights = source.uniform(0.1, 2, len(lists))
    columns = source.normal(size=(5, 2))
    wins, slopes, table = np.zeros(5), np.zeros(5), np.zeros((5, 5))
    for codes, weight in zip(lists, weights.tolist(), strict=True):
        for one, other in itertools.permutations(codes, 2):
            share = strength[one] / (strength[one] + strength[other])
            wins[one] += weight * share
            slopes[one] += weight * share * (1 - share)
            table[one, one] += weight * share * (1 - share)
            table[one, other] -= weight * share * (1 - share)
    start, items = flat(lists)
    given_arrays = (start, items, weights, strength)
    found = kernels.pair_slopes(*given_arrays)
    assert np.allclose(found[0], wins)
    assert np.allclose(found[1], slopes)
    assert np.allclose(kernels.pair_table(*given_arrays), table)
    for some in (columns, columns[:, :1].copy()):
        product = 0.5 * some
        kernels.pair_product(*given_arrays, some, product)
        assert np.allclose(product, table @ some + 0.5 * some)


@given(bundles, st.integers(0, 2**32), st.sampled_from([0.0, 1e-5, 1.0, 8.0]))
def test_smooth_sums_agree_with_pair_by_pair_ones(
    lists: list[list[int]], seed: int, spread: float
) -> None:
    source = np.random.default_rng(seed)
    values = spread * source.normal(size=5)
    weights = source.uniform(0.1, 2, len(lists))
    columns = source.normal(size=(5, 2))
    start, items = flat(lists)
    wanted = kernels.pair_slopes(start, items, weights, np.exp(values))
    found = kernels.smooth_slopes(start, items, weights, values)
    assert np.allclose(found[0], wanted[0], rtol=0, atol=1e-10)
    assert np.allclose(found[1], wanted[1], rtol=0, atol=1e-10)
    product = np.zeros_like(columns)
    kernels.pair_product(start, items, weights, np.exp(values), columns, product)
    smooth = kernels.smooth_product(start, items, weights, values, columns)
    assert np.allclose(smooth, product, rtol=0, atol=1e-10)
