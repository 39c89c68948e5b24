from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import ContradictionError
from evenhand.posets.contradictions import (
    find_contradiction,
    require_consistent,
    strong_groups,
)
from evenhand.posets.graph import Comparisons, comparisons, from_edges
from evenhand.ratings import Ratings
from tests.posets.plain import Pairs, plain_closure, plain_edges
from tests.strategies import Poset, any_ratings, posets

few = settings(max_examples=40)


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
@given(any_ratings(max_items=7, max_reviewers=5))
def test_items_share_a_strong_group_if_each_is_above_the_other(
    ratings: Ratings,
) -> None:
    c = comparisons(ratings)
    above = plain_closure(c.n_items, plain_edges(ratings))
    label = strong_groups(c)
    assert ((label >= 0) == above.diagonal()).all()
    for one, other in itertools.combinations(range(c.n_items), 2):
        both = bool(above[one, other] and above[other, one])
        assert (label[one] == label[other] >= 0) == both
