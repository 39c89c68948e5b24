"""Counting sorts and the smallest order, against plain versions."""

from __future__ import annotations

import heapq
import itertools
import tracemalloc
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand import _cores
from evenhand._kernels import graphs
from evenhand._kernels import posets as kernels
from evenhand.errors import RatingsError
from evenhand.posets.comparisons import (
    chains,
    compared,
    comparisons,
    from_edges,
    smallest_order,
)
from evenhand.posets.orderings import order_edges, topological_order
from tests.strategies import any_ratings, consistent_ratings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.ratings import Ratings

    Codes = NDArray[np.int64]

# More codes than one block, or two, of the counting sorts take in.
MANY_CODES = 3 << graphs.LEAST_SHIFT
seeds = st.integers(0, 2**32)


def plain_order(
    n_items: int, above: list[int], below: list[int]
) -> tuple[list[int], list[bool]]:
    lower: list[list[int]] = [[] for _ in range(n_items)]
    waits = [0] * n_items
    for one, other in zip(above, below, strict=True):
        lower[one].append(other)
        waits[other] += 1
    free = [item for item in range(n_items) if waits[item] == 0]
    order: list[int] = []
    while free:
        item = heapq.heappop(free)
        order.append(item)
        for other in lower[item]:
            waits[other] -= 1
            if waits[other] == 0:
                heapq.heappush(free, other)
    pairs = itertools.pairwise(order)
    return order, [other not in lower[one] for one, other in pairs]


def random_edges(seed: int, n_items: int, n_edges: int) -> tuple[Codes, Codes]:
    source = np.random.default_rng(seed)
    place = source.permutation(n_items)
    one = source.integers(0, n_items, n_edges)
    other = (one + source.integers(1, n_items, n_edges)) % n_items
    first = place[one] < place[other]
    return np.where(first, one, other), np.where(first, other, one)


@given(seeds, st.integers(0, 300), st.sampled_from([1, 7, 5000, MANY_CODES]))
def test_rows_are_grouped_as_a_stable_sort_groups_them(
    seed: int, n_rows: int, n_codes: int
) -> None:
    codes = np.random.default_rng(seed).integers(0, n_codes, n_rows)
    start, rows = graphs.group_rows(codes, n_codes)
    assert rows.tolist() == np.argsort(codes, kind="stable").tolist()
    assert start.tolist() == np.searchsorted(codes[rows], range(n_codes + 1)).tolist()


@given(
    seeds, st.integers(0, 300), st.sampled_from([1, 7, MANY_CODES]), st.integers(1, 9)
)
def test_rows_are_sorted_by_two_codes_as_lexsort_does(
    seed: int, n_rows: int, n_codes: int, n_second: int
) -> None:
    source = np.random.default_rng(seed)
    first = source.integers(0, n_codes, n_rows)
    second = source.integers(0, n_second, n_rows)
    order = np.lexsort((second, first))
    ones, others, rows = graphs.sort_rows(first, second, n_codes)
    assert rows.tolist() == order.tolist()
    assert ones.tolist() == first[order].tolist()
    assert others.tolist() == second[order].tolist()


@given(st.lists(st.integers(-3, 9)), st.integers(0, 8), st.sampled_from(["i4", "i8"]))
def test_codes_out_of_range_are_seen(
    codes: list[int], n_codes: int, dtype: str
) -> None:
    expected = all(0 <= code < n_codes for code in codes)
    assert graphs.all_within(np.array(codes, dtype=dtype), n_codes) == expected


def test_the_smallest_and_largest_integers_are_out_of_range() -> None:
    for code in (-(2**63), 2**63 - 1):
        assert not graphs.all_within(np.array([0, code]), 2)


@settings(max_examples=50)
@given(
    seeds,
    st.integers(0, 900),
    st.sampled_from([3, 40, MANY_CODES]),
    st.integers(0, 999),
)
def test_edges_are_listed_by_tail_in_their_order(
    seed: int, n_edges: int, n_nodes: int, many: int
) -> None:
    source = np.random.default_rng(seed)
    above, below = source.integers(0, n_nodes, (2, n_edges))
    below[: n_edges // 2] = 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graphs, "MANY", many)
        patch.setattr(graphs, "AT_ONCE", 1)
        patch.setattr(_cores, "cores", lambda: 2)
        found = graphs.edge_lists(above, below, n_nodes)
    order = np.argsort(above, kind="stable")
    expected = np.searchsorted(above[order], range(n_nodes + 1))
    assert found.start.tolist() == expected.tolist()
    assert found.down.tolist() == below[order].tolist()
    counts = np.bincount(below, minlength=n_nodes)
    assert (found.waits + 255 * found.more.astype(int)).tolist() == counts.tolist()
    assert found.heavy == (counts.max() > 255)
    assert np.array_equal(found.waits == 0, counts == 0)


def test_edges_take_eight_bytes_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_cores, "cores", lambda: 1)
    n_nodes, n_edges = 20_000, 300_000
    above, below = random_edges(3, n_nodes, n_edges)
    graphs.edge_lists(above, below, n_nodes)
    tracemalloc.start()
    try:
        graphs.edge_lists(above, below, n_nodes)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    block = int(np.bincount(above >> graphs.LEAST_SHIFT).max())
    assert (
        most < 8 * n_edges + 9 * n_nodes + 4 * block + (4 << graphs.LEAST_SHIFT) + 9999
    )


@given(
    seeds,
    st.integers(0, 300),
    st.sampled_from([1, 7, MANY_CODES]),
    st.sampled_from([9, MANY_CODES]),
    st.sampled_from(["i4", "i8"]),
)
def test_values_are_sorted_by_two_codes_where_they_are(
    seed: int, n_rows: int, n_codes: int, n_second: int, dtype: str
) -> None:
    source = np.random.default_rng(seed)
    first = source.integers(0, n_codes, n_rows).astype(dtype)
    second = source.integers(0, n_second, n_rows).astype(dtype)
    values = source.random(n_rows)
    order = np.lexsort((second, first))
    expected = values[order].tolist()
    ones, others, repeated = graphs.sort_values(first, second, values, n_codes)
    assert ones.dtype == others.dtype == np.int64
    assert ones.tolist() == first[order].tolist()
    assert others.tolist() == second[order].tolist()
    assert values.tolist() == expected
    pairs = set(zip(first.tolist(), second.tolist(), strict=True))
    assert repeated == (len(pairs) < n_rows)


@given(seeds, st.integers(2, 40), st.integers(0, 120), st.sampled_from(["i4", "i8"]))
def test_edges_are_ordered_as_a_heap_orders_them(
    seed: int, n_items: int, n_edges: int, dtype: str
) -> None:
    above, below = random_edges(seed, n_items, n_edges)
    found = order_edges(n_items, above.astype(dtype), below.astype(dtype))
    order, free = plain_order(n_items, above.tolist(), below.tolist())
    assert found.order.tolist() == order
    assert found.free.tolist() == free


def test_a_queue_of_several_pages_is_still_in_order() -> None:
    n_items = 64**3 + 9
    above, below = random_edges(5, n_items, 50_000)
    found = order_edges(n_items, above, below)
    order, free = plain_order(n_items, above.tolist(), below.tolist())
    assert found.order.tolist() == order
    assert found.free.tolist() == free


@pytest.mark.parametrize("above", [254, 255, 256, 510, 511, 900])
def test_an_item_may_wait_for_more_than_a_byte_counts(above: int) -> None:
    below = [above] * (above + 1) + [0]
    uppers = [*range(above), 0, above + 1]
    found = order_edges(above + 2, uppers, below)
    assert found.order.tolist() == [*range(1, above), above + 1, 0, above]


@given(any_ratings(max_items=7, max_reviewers=5))
def test_the_order_of_ratings_is_a_heaps_and_its_free_neighbours_are_uncompared(
    ratings: Ratings,
) -> None:
    c = comparisons(ratings)
    pairs = [
        (one, other)
        for one, other in itertools.permutations(range(c.n_items), 2)
        if is_above(ratings, one, other)
    ]
    above, below = ([pair[side] for pair in pairs] for side in (0, 1))
    found = smallest_order(c)
    order, free = plain_order(c.n_items, above, below)
    assert found.order.tolist() == order
    assert found.free.tolist() == free
    assert free == [not compared(c, *two) for two in itertools.pairwise(order)]


def is_above(ratings: Ratings, one: int, other: int) -> bool:
    rows = zip(
        ratings.reviewer_codes.tolist(),
        ratings.item_codes.tolist(),
        ratings.preference.tolist(),
        strict=True,
    )
    given = {(reviewer, item): score for reviewer, item, score in rows}
    return any(
        given.get((who, one), -np.inf) > given.get((who, other), np.inf)
        for who in range(ratings.n_reviewers)
    )


@given(consistent_ratings(max_items=6))
def test_the_order_is_worked_out_once_and_handed_out_as_a_copy(
    ratings: Ratings,
) -> None:
    c = comparisons(ratings)
    first = topological_order(c)
    first[:] = -1
    assert smallest_order(c) is smallest_order(c)
    assert sorted(topological_order(c).tolist()) == list(range(c.n_items))


@given(any_ratings(max_items=6, max_reviewers=4))
def test_edges_one_by_one_are_those_of_the_lists(ratings: Ratings) -> None:
    known = chains(comparisons(ratings))
    starts, down = kernels.down_lists(known)
    above, below, n_nodes = kernels.level_edges(known)
    listed = np.repeat(np.arange(n_nodes), np.diff(starts))
    assert n_nodes == len(starts) - 1
    assert sorted(zip(above.tolist(), below.tolist(), strict=True)) == sorted(
        zip(listed.tolist(), down.tolist(), strict=True)
    )


@settings(max_examples=20)
@given(seeds, st.sampled_from([3, 40]))
def test_many_levels_are_sorted_like_few(seed: int, load: int) -> None:
    source = np.random.default_rng(seed)
    scores = source.integers(0, 5, load).astype(float)
    starts, items, reviewers = kernels.sort_levels(
        np.zeros(load, dtype=np.int64), np.arange(load), scores
    )
    order = sorted(range(load), key=lambda item: (-scores[item], item))
    assert items.tolist() == order
    assert len(reviewers) == len(set(scores.tolist()))
    assert starts.tolist() == [
        *(
            at
            for at in range(load)
            if at == 0 or scores[order[at]] != scores[order[at - 1]]
        ),
        load,
    ]
    assert kernels.count_tied(np.zeros(load, dtype=np.int64), scores) == int(
        len(reviewers) < load
    )


def test_the_work_for_one_reviewer_grows_with_the_load_not_with_its_square() -> None:
    load = 2000
    people = np.zeros(load, dtype=np.int64)
    for scores, most in (
        (np.arange(load, dtype=float), load - 1),
        (np.arange(load) // (load // 2) * 1.0, load),
        (np.arange(load) // 2 * 1.0, 2 * load),
    ):
        values = np.array(scores, dtype=np.float64)
        starts, items, reviewers = kernels.sort_levels(people, np.arange(load), values)
        known = kernels.Chains(starts, items, reviewers, load)
        above, below, _ = kernels.level_edges(known)
        assert len(above) == len(below) <= most
        assert above.nbytes + below.nbytes <= 8 * most


def test_contradicting_edges_are_refused_and_so_are_unknown_items() -> None:
    with pytest.raises(RatingsError, match="got items 0 above 1 above 0"):
        order_edges(2, [0, 1], [1, 0])
    with pytest.raises(RatingsError, match=r"among 0\.\.1, got 2 to 2"):
        order_edges(2, [2], [0])
    with pytest.raises(RatingsError, match="of one length, got 1 and 0"):
        order_edges(2, [1], [])
    with pytest.raises(RatingsError, match="two different items"):
        order_edges(2, [1], [1])


def test_nothing_is_in_order_and_one_item_has_no_neighbours() -> None:
    assert [part.tolist() for part in order_edges(0, [], [])] == [[], []]
    assert [part.tolist() for part in order_edges(1, [], [])] == [[0], []]
    assert smallest_order(from_edges(0, [], [])).order.tolist() == []
