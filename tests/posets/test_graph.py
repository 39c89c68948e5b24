from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from evenhand.columns import Columns, Source
from evenhand.errors import RatingsError
from evenhand.posets.graph import (
    comparisons,
    components,
    connected_groups,
    edges,
    from_edges,
    is_ordering,
    levels_of_both,
)
from evenhand.posets.orderings import twins
from evenhand.ratings import Ratings
from tests.posets.plain import plain_edges
from tests.strategies import any_ratings, consistent_ratings

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Making ratings takes longer than checking them.
few = settings(max_examples=40)


def listed(codes: tuple[NDArray[np.int64], NDArray[np.int64]]) -> list[tuple[int, int]]:
    return list(zip(codes[0].tolist(), codes[1].tolist(), strict=True))


def test_levels_run_from_best_to_worst_and_hold_ties_together() -> None:
    ratings = Ratings(
        ["r", "r", "r", "r", "s", "s"],
        ["a", "b", "c", "d", "a", "d"],
        [1, 7, 1, 4, 2, 2],
    )
    c = comparisons(ratings)
    assert c.level_items.tolist() == [1, 3, 0, 2, 0, 3]
    assert c.level_start.tolist() == [0, 1, 2, 4, 6]
    assert c.level_reviewer.tolist() == [0, 0, 0, 1]
    assert c.item_levels == [[2, 3], [0], [2], [1, 3]]
    assert listed(edges(c)) == [(1, 0), (1, 2), (1, 3), (3, 0), (3, 2)]


@few
@given(any_ratings())
def test_edges_are_the_pairs_that_one_reviewer_scored_differently(
    ratings: Ratings,
) -> None:
    assert listed(edges(comparisons(ratings))) == sorted(plain_edges(ratings))


@few
@given(any_ratings())
def test_levels_tell_every_direct_edge_and_no_other(ratings: Ratings) -> None:
    c = comparisons(ratings)
    pairs = plain_edges(ratings)
    for first, second in itertools.product(range(c.n_items), repeat=2):
        expected = (first, second) in pairs or (second, first) in pairs
        met = levels_of_both(c, first, second)
        assert any(one != other for _, one, other in met) == expected


def test_groups_are_those_that_scipy_finds() -> None:
    rng = np.random.default_rng(64)
    graphs = [
        (n, *rng.integers(n, size=(2, n_edges)))
        for n in (1, 2, 3, 5, 17, 64, 1000)
        for n_edges in (0, n // 2, n, 2 * n)
    ]
    # A path is the longest way from one node to another.
    paths = [rng.permutation(n) for n in (33, 1000)]
    graphs += [(len(path), path[:-1], path[1:]) for path in paths]
    for n, tails, heads in graphs:
        found = connected_groups(n, tails, heads)
        edges = coo_array((np.ones(len(tails)), (tails, heads)), (n, n))
        number, labels = connected_components(edges, directed=False)
        assert found.max() + 1 == number == len({*zip(found, labels, strict=True)})


@few
@given(any_ratings())
def test_components_are_the_groups_that_edges_connect(ratings: Ratings) -> None:
    c = comparisons(ratings)
    label = list(range(c.n_items))
    for _ in range(c.n_items):
        for above, below in plain_edges(ratings):
            label[above] = label[below] = min(label[above], label[below])
    numbers = {smallest: number for number, smallest in enumerate(sorted({*label}))}
    assert components(c).tolist() == [numbers[smallest] for smallest in label]


@few
@given(consistent_ratings(max_items=5), st.permutations(range(5)))
def test_is_ordering_checks_every_edge(ratings: Ratings, order: list[int]) -> None:
    c = comparisons(ratings)
    order = [item for item in order if item < c.n_items]
    expected = all(
        order.index(above) < order.index(below) for above, below in plain_edges(ratings)
    )
    assert is_ordering(c, order) == expected


def test_an_ordering_holds_every_item_once() -> None:
    c = from_edges(3, [0], [1])
    assert is_ordering(c, [0, 1, 2])
    assert not is_ordering(c, [0, 1])
    assert not is_ordering(c, [0, 1, 1])
    assert not is_ordering(c, [0, 1, 2, 3])


@few
@given(consistent_ratings())
def test_ranks_and_plain_comparisons_say_the_same_as_scores(ratings: Ratings) -> None:
    expected = listed(edges(comparisons(ratings)))
    reviewers, items = ratings.reviewer_codes.tolist(), ratings.item_codes.tolist()
    everything = range(ratings.n_items)
    columns = {"reviewer": reviewers, "item": items, "rank": 100 - ratings.scores}
    ranks = Ratings.from_columns(columns, Columns(), Source(), all_items=everything)
    assert listed(edges(comparisons(ranks))) == expected
    if expected:
        winners, losers = [a for a, _ in expected], [b for _, b in expected]
        plain = Ratings.from_comparisons(winners, losers, all_items=everything)
        assert listed(edges(comparisons(plain))) == expected


def test_only_the_order_within_a_reviewer_counts() -> None:
    one = Ratings(["r", "r", "s", "s"], ["a", "b", "b", "c"], [1, 2, 3, 4])
    other = Ratings(["r", "r", "s", "s"], ["a", "b", "b", "c"], [-9, 5e6, 0.1, 0.2])
    assert listed(edges(comparisons(one))) == listed(edges(comparisons(other)))


def test_scores_farther_apart_than_floats_reach_compare_as_any_others() -> None:
    far = comparisons(Ratings(["a"] * 3, ["x", "y", "z"], [1e308, -1e308, -1e308]))
    near = comparisons(Ratings(["a"] * 3, ["x", "y", "z"], [1, -1, -1]))
    assert far.level_start.tolist() == near.level_start.tolist() == [0, 1, 3]


def test_one_reviewer_of_many_items_costs_no_pairs() -> None:
    n_items = 4_000
    ratings = Ratings(["r"] * n_items, np.arange(n_items), np.arange(n_items) // 1000)
    c = comparisons(ratings)
    assert len(c.level_reviewer) == 4
    assert levels_of_both(c, 0, 999) == [(0, 3, 3)]
    assert levels_of_both(c, 0, 1000) == [(0, 3, 2)]
    assert is_ordering(c, np.arange(n_items)[::-1])
    assert not is_ordering(c, np.arange(n_items))
    assert [len(members) for members in twins(c)] == [1000] * 4
    assert (components(c) == 0).all()


@pytest.mark.parametrize(
    ("above", "below", "message"),
    [
        ([0], [0], r"got \(0, 0\) at index 0"),
        ([0, 1], [1, 3], r"among 0\.\.2, got \(1, 3\) at index 1"),
        ([-1], [1], r"got \(-1, 1\) at index 0"),
    ],
)
def test_bad_edges_are_refused(
    above: list[int], below: list[int], message: str
) -> None:
    with pytest.raises(RatingsError, match=message):
        from_edges(3, above, below)
