from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand._kernels.heights import count_below
from evenhand.errors import RatingsError
from evenhand.posets.comparisons import (
    Comparisons,
    closure,
    comparisons,
    edges,
    from_edges,
)
from evenhand.posets.proxy import closure_counts, rank_sums
from evenhand.ratings import Ratings
from tests.strategies import Poset, consistent_ratings, posets


def reached(lower: list[list[int]], node: int) -> set[int]:
    return set(lower[node]).union(*(reached(lower, other) for other in lower[node]))


@given(st.data())
def test_the_kernel_counts_what_a_plain_search_finds(data: st.DataObject) -> None:
    n_nodes = data.draw(st.integers(1, 9))
    pairs = list(itertools.combinations(range(n_nodes), 2))
    chosen = data.draw(st.sets(st.sampled_from(pairs))) if pairs else set()
    is_item = data.draw(st.lists(st.booleans(), min_size=n_nodes, max_size=n_nodes))
    lower = [sorted(b for a, b in chosen if a == node) for node in range(n_nodes)]
    number = np.where(is_item, np.cumsum(is_item) - 1, -1)
    counts = count_below(
        np.cumsum([0, *map(len, lower)]),
        np.array([node for found in lower for node in found], dtype=np.int64),
        number,
        sum(is_item),
    )
    assert counts.tolist() == [
        sum(is_item[other] for other in reached(lower, node)) for node in range(n_nodes)
    ]


def counted_by_search(c: Comparisons) -> tuple[list[int], list[int]]:
    pairs = list(zip(*(codes.tolist() for codes in edges(c)), strict=True))
    below, above = (
        [[to for start, to in directed if start == item] for item in range(c.n_items)]
        for directed in (pairs, [pair[::-1] for pair in pairs])
    )
    return (
        [len(reached(above, item)) for item in range(c.n_items)],
        [len(reached(below, item)) for item in range(c.n_items)],
    )


@given(posets(max_items=8))
def test_counts_of_pairs_are_those_of_a_plain_search(poset: Poset) -> None:
    c = poset.comparisons()
    above, below = closure_counts(c)
    assert (above.tolist(), below.tolist()) == counted_by_search(c)


@given(consistent_ratings(max_items=8))
def test_counts_of_tied_levels_are_those_of_a_plain_search(ratings: Ratings) -> None:
    c = comparisons(ratings)
    above, below = closure_counts(c)
    assert (above.tolist(), below.tolist()) == counted_by_search(c)


def many(n_items: int, seed: int, *, levels: int) -> Comparisons:
    """Ratings of more items than fit in one block, by three wide, tied reviewers."""
    source = np.random.default_rng(seed)
    truth = source.permutation(n_items)
    rows = [
        (reviewer, item, int(truth[item] * levels // n_items) + reviewer)
        for reviewer in range(3)
        for item in source.choice(n_items, n_items // 2, replace=False).tolist()
    ]
    reviewers, items, scores = zip(*rows, strict=True)
    return comparisons(Ratings(reviewers, items, scores, all_items=range(n_items)))


@pytest.mark.parametrize(("n_items", "levels"), [(513, 7), (1100, 40), (1024, 1024)])
def test_counts_add_up_over_blocks_of_items(n_items: int, levels: int) -> None:
    c = many(n_items, 7, levels=levels)
    table = closure(c)
    above, below = closure_counts(c)
    assert above.tolist() == table.sum(axis=0).tolist()
    assert below.tolist() == table.sum(axis=1).tolist()


@settings(max_examples=50)
@given(posets(max_items=8))
def test_an_item_above_another_has_a_smaller_sum(poset: Poset) -> None:
    sums = rank_sums(poset.comparisons())
    for above, below in zip(poset.above, poset.below, strict=True):
        # Two at least: the upper item has one more below and one less above.
        assert sums[above] + 2 <= sums[below]


def test_sums_are_of_the_least_and_the_greatest_rank_in_any_ordering() -> None:
    c = from_edges(5, [0, 0, 3], [1, 2, 2])
    ranks = [
        [order.index(item) + 1 for item in range(5)]
        for order in itertools.permutations(range(5))
        if all(order.index(a) < order.index(b) for a, b in ((0, 1), (0, 2), (3, 2)))
    ]
    extremes = [min(found) + max(found) for found in zip(*ranks, strict=True)]
    assert rank_sums(c).tolist() == extremes


def test_no_comparisons_leave_all_items_in_the_middle() -> None:
    assert rank_sums(from_edges(3, [], [])).tolist() == [4, 4, 4]


def test_contradictions_are_refused() -> None:
    with pytest.raises(RatingsError, match="must be consistent"):
        rank_sums(from_edges(2, [0, 1], [1, 0]))
