from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import OptionError, RatingsError
from evenhand.posets.graph import Comparisons, comparisons, edges, from_edges
from evenhand.posets.reach import closure, closure_counts, rank_sums, twins
from evenhand.ratings import Ratings
from tests.posets.plain import Pairs, plain_closure, plain_edges
from tests.strategies import Poset, any_ratings, consistent_ratings, posets

if TYPE_CHECKING:
    from numpy.typing import NDArray

few = settings(max_examples=40)


def reached(lower: list[list[int]], node: int) -> set[int]:
    return set(lower[node]).union(*(reached(lower, other) for other in lower[node]))


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


def plain_twins(relation: NDArray[np.bool_]) -> Pairs:
    """All pairs that are not related and have the same items above and below."""
    return {
        (one, other)
        for one, other in itertools.combinations(range(len(relation)), 2)
        if not relation[one, other]
        and not relation[other, one]
        and (relation[one] == relation[other]).all()
        and (relation[:, one] == relation[:, other]).all()
    }


@few
@given(any_ratings())
def test_closure_is_warshalls_with_and_without_contradictions(ratings: Ratings) -> None:
    c = comparisons(ratings)
    assert (closure(c) == plain_closure(c.n_items, plain_edges(ratings))).all()


@settings(max_examples=5)
@given(st.integers(0, 2**32))
def test_closure_of_more_items_than_one_block_is_warshalls(seed: int) -> None:
    bits = np.random.Generator(np.random.PCG64(seed))
    above, below = np.sort(bits.choice(600, (500, 2), replace=True), axis=1).T
    above, below = above[above < below], below[above < below]
    reach = np.zeros((600, 600), dtype=np.bool_)
    reach[above, below] = True
    for via in range(600):
        reach |= np.outer(reach[:, via], reach[via])
    c = from_edges(600, above, below)
    assert (closure(c) == reach).all()
    found = {p for t in twins(c) for p in itertools.combinations(t, 2)}
    rows = np.hstack([reach, reach.T])
    _, classes = np.unique(rows, axis=0, return_inverse=True)
    same = classes[:, None] == classes[None, :]
    assert found == set(
        zip(*(x.tolist() for x in np.triu(same, 1).nonzero()), strict=True)
    )


@few
@given(any_ratings(max_items=7))
def test_twins_are_twins_by_definition(ratings: Ratings) -> None:
    c = comparisons(ratings)
    pairs = plain_edges(ratings)
    direct = np.zeros((c.n_items, c.n_items), dtype=np.bool_)
    for above, below in pairs:
        direct[above, below] = True
    for by, relation in (
        ("direct", direct),
        ("closure", plain_closure(c.n_items, pairs)),
    ):
        classes = twins(c, by=by)  # type: ignore[arg-type]  # both are relations
        assert classes == sorted(classes)
        found = {p for t in classes for p in itertools.combinations(t, 2)}
        assert found == plain_twins(relation)


def test_items_that_nobody_compared_are_twins_of_each_other() -> None:
    ratings = Ratings(
        ["r", "r", "s"], ["a", "b", "c"], [2, 1, 9], all_items=list("abcd")
    )
    assert twins(comparisons(ratings)) == [(2, 3)]


def test_closure_twins_need_not_be_direct_twins() -> None:
    # 1 and 2 are both above 3 and so above 4, but only 1 was compared with 4.
    c = from_edges(5, [0, 0, 1, 2, 3, 1], [1, 2, 3, 3, 4, 4])
    assert twins(c) == [(1, 2)]
    assert twins(c, by="direct") == []


def test_twins_by_an_unknown_relation_are_refused() -> None:
    with pytest.raises(OptionError, match="unknown relation 'closed', did you mean"):
        twins(from_edges(2, [0], [1]), by="closed")  # type: ignore[arg-type]  # on purpose


def test_the_closure_of_too_many_items_is_refused_in_words() -> None:
    with pytest.raises(OptionError, match="at most 20,000 items, got 20,001"):
        closure(from_edges(20_001, [], []))
