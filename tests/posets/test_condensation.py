import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.posets.comparisons import (
    Comparisons,
    closure,
    comparisons,
    find_contradiction,
    from_edges,
)
from evenhand.posets.condensation import condense
from evenhand.ratings import Ratings

edge = st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda e: e[0] != e[1])
graphs = st.lists(edge, max_size=14).map(
    lambda pairs: from_edges(7, [a for a, _ in pairs], [b for _, b in pairs])
)


@settings(max_examples=50)
@given(graphs)
def test_two_items_share_a_group_if_each_is_above_the_other(c: Comparisons) -> None:
    found = condense(c)
    above = closure(c)
    for one, other in itertools.combinations(range(7), 2):
        both = bool(above[one, other] and above[other, one])
        assert (found.group[one] == found.group[other]) == both
    between = closure(found.graph)
    for one, other in itertools.permutations(range(7), 2):
        if found.group[one] != found.group[other]:
            assert between[found.group[one], found.group[other]] == above[one, other]
    assert find_contradiction(found.graph) is None


@settings(max_examples=50)
@given(graphs)
def test_groups_are_numbered_by_their_smallest_item(c: Comparisons) -> None:
    found = condense(c)
    members = found.members()
    firsts = [group[0] for group in members]
    assert firsts == sorted(firsts)
    assert sorted(itertools.chain(*members)) == list(range(7))
    for number, group in enumerate(members):
        assert group == np.flatnonzero(found.group == number).tolist()


def test_consistent_comparisons_stay_as_they_are() -> None:
    c = from_edges(4, [2, 0], [0, 1])
    found = condense(c)
    assert found.group.tolist() == [0, 1, 2, 3]
    assert np.array_equal(closure(found.graph), closure(c))


def test_ties_within_a_reviewer_join_nothing() -> None:
    ratings = Ratings(["a"] * 3 + ["b"] * 2, [0, 1, 2, 1, 0], [5, 5, 1, 3, 2])
    assert condense(comparisons(ratings)).group.tolist() == [0, 1, 2]


def test_two_reviewers_of_opposite_order_leave_one_group() -> None:
    ratings = Ratings(["a"] * 4 + ["b"] * 4, [*range(4)] * 2, [1, 2, 3, 4, 4, 3, 2, 1])
    found = condense(comparisons(ratings))
    assert (found.n_groups, found.group.tolist()) == (1, [0] * 4)
