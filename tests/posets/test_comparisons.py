from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import ContradictionError, OptionError, RatingsError
from evenhand.posets.comparisons import (
    Comparisons,
    chain_edges,
    closure,
    compared,
    comparisons,
    components,
    edges,
    find_contradiction,
    from_edges,
    is_ordering,
    levels,
    require_consistent,
    twins,
)
from evenhand.ratings import Ratings
from tests.strategies import Poset, any_ratings, consistent_ratings, posets

if TYPE_CHECKING:
    from numpy.typing import NDArray

Pairs = set[tuple[int, int]]

# Making ratings takes longer than checking them.
few = settings(max_examples=40)


def plain_edges(ratings: Ratings) -> Pairs:
    """All pairs that one reviewer scored differently, the better one first."""
    rows = list(
        zip(
            ratings.reviewer_codes.tolist(),
            ratings.item_codes.tolist(),
            ratings.preference.tolist(),
            strict=True,
        )
    )
    return {
        (item, other)
        for (reviewer, item, score), (second, other, lower) in itertools.product(
            rows, rows
        )
        if reviewer == second and score > lower
    }


def plain_closure(n_items: int, pairs: Pairs) -> NDArray[np.bool_]:
    """Warshall's algorithm."""
    reach = np.zeros((n_items, n_items), dtype=np.bool_)
    for above, below in pairs:
        reach[above, below] = True
    for via, above, below in itertools.product(range(n_items), repeat=3):
        reach[above, below] |= reach[above, via] and reach[via, below]
    return reach


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
    assert levels(c).item_start.tolist() == [0, 2, 3, 4, 6]
    assert levels(c).item_levels.tolist() == [2, 3, 0, 2, 1, 3]
    assert levels(c) is levels(c)
    assert listed(edges(c)) == [(1, 0), (1, 2), (1, 3), (3, 0), (3, 2)]
    assert listed(chain_edges(c)) == [(1, 3), (3, 0), (3, 2)]


@few
@given(any_ratings())
def test_edges_are_the_pairs_that_one_reviewer_scored_differently(
    ratings: Ratings,
) -> None:
    assert listed(edges(comparisons(ratings))) == sorted(plain_edges(ratings))


@few
@given(any_ratings())
def test_compared_tells_every_direct_edge_and_no_other(ratings: Ratings) -> None:
    c = comparisons(ratings)
    pairs = plain_edges(ratings)
    for first, second in itertools.product(range(c.n_items), repeat=2):
        expected = (first, second) in pairs or (second, first) in pairs
        assert compared(c, first, second) == expected


@few
@given(any_ratings())
def test_chain_edges_are_edges_with_the_same_closure(ratings: Ratings) -> None:
    c = comparisons(ratings)
    few = set(listed(chain_edges(c)))
    pairs = plain_edges(ratings)
    assert few <= pairs
    assert (plain_closure(c.n_items, few) == plain_closure(c.n_items, pairs)).all()


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


def plain_girth(n_items: int, pairs: Pairs) -> int:
    """Length of a shortest cycle, by shortest paths between all pairs; 0 if none."""
    far = n_items + 1
    length = [[far] * n_items for _ in range(n_items)]
    for above, below in pairs:
        length[above][below] = 1
    for via, above, below in itertools.product(range(n_items), repeat=3):
        length[above][below] = min(
            length[above][below], length[above][via] + length[via][below]
        )
    girth = min(length[item][item] for item in range(n_items))
    return 0 if girth == far else girth


def check_cycle(ratings: Ratings, c: Comparisons) -> int:
    found = find_contradiction(c)
    if found is None:
        return 0
    items, reviewers = found
    scores = {
        (reviewer, item): score
        for reviewer, item, score in zip(
            ratings.reviewer_codes.tolist(),
            ratings.item_codes.tolist(),
            ratings.preference.tolist(),
            strict=True,
        )
    }
    assert len(set(items)) == len(items) == len(reviewers)
    assert items[0] == min(items)
    for above, below, reviewer in zip(
        items, items[1:] + items[:1], reviewers, strict=True
    ):
        assert scores[reviewer, above] > scores[reviewer, below]
    return len(items)


@few
@given(any_ratings(max_items=7, max_reviewers=5))
def test_the_contradiction_found_is_real_and_shortest(ratings: Ratings) -> None:
    c = comparisons(ratings)
    expected = plain_girth(c.n_items, plain_edges(ratings))
    assert check_cycle(ratings, c) == expected


@given(
    st.integers(2, 12).flatmap(
        lambda n: st.lists(
            st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(
                lambda pair: pair[0] != pair[1]
            ),
            max_size=24,
        ).map(lambda pairs: (n, pairs))
    )
)
def test_the_shortest_cycle_of_any_length_is_found(
    graph: tuple[int, list[tuple[int, int]]],
) -> None:
    n_items, pairs = graph
    above, below = [a for a, _ in pairs], [b for _, b in pairs]
    found = find_contradiction(from_edges(n_items, above, below))
    assert (0 if found is None else len(found[0])) == plain_girth(n_items, {*pairs})
    for at, (item, reviewer) in enumerate(zip(*(found or ([], [])), strict=True)):
        following = (found or ([], []))[0][(at + 1) % len((found or ([], []))[0])]
        assert pairs[reviewer] == (item, following)


@pytest.mark.parametrize("length", [2, 3, 7, 100])
def test_a_single_cycle_is_found_whole(length: int) -> None:
    around = np.random.Generator(np.random.PCG64(length)).permutation(length)
    c = from_edges(length + 2, around, np.roll(around, -1))
    found = find_contradiction(c)
    assert found is not None
    assert sorted(found[0]) == list(range(length))


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ((3, 4), [0, 1, 2]),
        ((4, 3), [4, 5, 6]),
        ((3, 3), [0, 1, 2]),
        ((2, 3), [0, 1]),
        ((5, 2, 4), [5, 6]),
    ],
)
def test_of_several_cycles_the_first_shortest_is_shown(
    lengths: tuple[int, ...], expected: list[int]
) -> None:
    above = np.arange(sum(lengths))
    starts = np.cumsum((0, *lengths))
    below = np.concatenate(
        [np.roll(above[a:b], -1) for a, b in itertools.pairwise(starts.tolist())]
    )
    assert find_contradiction(from_edges(len(above), above, below)) == (
        expected,
        expected,
    )


@given(posets(max_items=7))
def test_consistent_comparisons_have_no_contradiction(poset: Poset) -> None:
    assert find_contradiction(poset.comparisons()) is None


def test_the_error_shows_the_cycle_with_labels_and_reviewers() -> None:
    ratings = Ratings(
        ["r1", "r1", "s", "s", "s"], ["a", "b", "a", "b", "c"], [2, 1, 1, 2, 0]
    )
    message = (
        "Method 'flips' needs comparisons that are consistent, got 'a' above 'b' "
        "(reviewer 'r1'), 'b' above 'a' (reviewer 's'). "
        "Methods 'adaptive' and 'safe' cope with contradictions."
    )
    with pytest.raises(ContradictionError, match=f"^{re.escape(message)}$") as caught:
        require_consistent(ratings, comparisons(ratings), method="flips")
    assert caught.value.cycle == ("a", "b")
    assert caught.value.reviewers == ("r1", "s")


def test_consistent_ratings_pass() -> None:
    ratings = Ratings(["r", "r"], ["a", "b"], [2, 1])
    require_consistent(ratings, comparisons(ratings), method="flips")


@few
@given(consistent_ratings())
def test_ranks_and_plain_comparisons_say_the_same_as_scores(ratings: Ratings) -> None:
    expected = listed(edges(comparisons(ratings)))
    reviewers, items = ratings.reviewer_codes.tolist(), ratings.item_codes.tolist()
    everything = range(ratings.n_items)
    ranks = Ratings.from_ranks(
        reviewers, items, (100 - ratings.scores).tolist(), all_items=everything
    )
    assert listed(edges(comparisons(ranks))) == expected
    if expected:
        winners, losers = [a for a, _ in expected], [b for _, b in expected]
        plain = Ratings.from_comparisons(winners, losers, all_items=everything)
        assert listed(edges(comparisons(plain))) == expected


def test_only_the_order_within_a_reviewer_counts() -> None:
    one = Ratings(["r", "r", "s", "s"], ["a", "b", "b", "c"], [1, 2, 3, 4])
    other = Ratings(["r", "r", "s", "s"], ["a", "b", "b", "c"], [-9, 5e6, 0.1, 0.2])
    assert listed(edges(comparisons(one))) == listed(edges(comparisons(other)))


def test_one_reviewer_of_many_items_costs_no_pairs() -> None:
    n_items = 20_000
    ratings = Ratings(["r"] * n_items, np.arange(n_items), np.arange(n_items) // 5000)
    c = comparisons(ratings)
    assert len(c.level_reviewer) == 4
    assert not compared(c, 0, 4999)
    assert compared(c, 0, 5000)
    assert is_ordering(c, np.arange(n_items)[::-1])
    assert not is_ordering(c, np.arange(n_items))
    assert [len(members) for members in twins(c)] == [5000] * 4
    assert (components(c) == 0).all()


@pytest.mark.parametrize(
    ("above", "below", "message"),
    [
        ([0], [0], r"got \(0, 0\) at index 0"),
        ([0, 1], [1, 3], r"among 0\.\.2, got \(1, 3\) at index 1"),
        ([-1], [1], r"got \(-1, 1\) at index 0"),
        ([0, 1], [1], "must be of one length, got 2 and 1"),
    ],
)
def test_bad_edges_are_refused(
    above: list[int], below: list[int], message: str
) -> None:
    with pytest.raises(RatingsError, match=message):
        from_edges(3, above, below)


def test_the_closure_of_too_many_items_is_refused_in_words() -> None:
    with pytest.raises(OptionError, match="at most 20,000 items, got 20,001"):
        closure(from_edges(20_001, [], []))
