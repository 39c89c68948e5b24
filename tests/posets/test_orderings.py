from __future__ import annotations

import heapq
import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import (
    ContradictionError,
    ConvergenceError,
    OptionError,
    RatingsError,
)
from evenhand.losses import kendall_tau
from evenhand.posets import orderings, sampling
from evenhand.posets.averaging import averages
from evenhand.posets.graph import (
    Comparisons,
    comparisons,
    edges,
    from_edges,
    is_ordering,
)
from evenhand.posets.orderings import (
    all_orderings,
    closure,
    order_ideals,
    rank_sums,
    take_apart,
    topological_order,
    twins,
)
from evenhand.posets.sampling import count_orderings, uniform_order
from evenhand.ratings import Ratings
from tests.posets.plain import Pairs, plain_closure, plain_edges, whole_piece
from tests.strategies import Poset, any_ratings, consistent_ratings, posets

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

Table = np.ndarray[tuple[int, int], np.dtype[np.bool_]]

few = settings(max_examples=40)


def plain_orderings(c: Comparisons) -> list[tuple[int, ...]]:
    """Every permutation that respects every edge, in lexicographic order."""
    pairs = list(zip(*(codes.tolist() for codes in edges(c)), strict=True))
    return [
        order
        for order in itertools.permutations(range(c.n_items))
        if all(order.index(above) < order.index(below) for above, below in pairs)
    ]


def heap_order(c: Comparisons) -> list[int]:
    """Kahn's algorithm with a heap, on all edges."""
    above = {item: set[int]() for item in range(c.n_items)}
    for upper, lower in zip(*(codes.tolist() for codes in edges(c)), strict=True):
        above[lower].add(upper)
    free = [item for item in above if not above[item]]
    order: list[int] = []
    while free:
        item = heapq.heappop(free)
        order.append(item)
        for other, uppers in above.items():
            if item in uppers:
                uppers.remove(item)
                if not uppers:
                    heapq.heappush(free, other)
    return order


def two_chains(first: int, second: int) -> Comparisons:
    """0 > 1 > ... and first > first + 1 > ..., not compared with each other."""
    above = [item for item in range(first + second - 1) if item != first - 1]
    return from_edges(first + second, above, [item + 1 for item in above])


@settings(max_examples=30)
@given(consistent_ratings(max_items=30, max_reviewers=12))
def test_the_topological_order_is_a_plain_heaps(ratings: Ratings) -> None:
    c = comparisons(ratings)
    assert topological_order(c).tolist() == heap_order(c)


@few
@given(any_ratings())
def test_a_topological_order_exists_unless_there_is_a_contradiction(
    ratings: Ratings,
) -> None:
    c = comparisons(ratings)
    if len(heap_order(c)) == c.n_items:
        assert is_ordering(c, topological_order(c))
    else:
        with pytest.raises(RatingsError, match="No ordering respects them all"):
            topological_order(c)


def test_the_error_names_the_items_around_the_cycle() -> None:
    with pytest.raises(RatingsError, match="got items 1 above 3 above 1"):
        topological_order(from_edges(4, [0, 1, 3], [1, 3, 1]))


def test_one_reviewer_of_2000_items_decides_their_order() -> None:
    scores = np.random.Generator(np.random.PCG64(3)).permutation(2000)
    ratings = Ratings(["r"] * 2000, np.arange(2000), scores)
    assert (topological_order(comparisons(ratings)) == np.argsort(-scores)).all()
    assert count_orderings(ratings) == 1


@given(posets(max_items=6))
def test_all_orderings_are_all_in_lexicographic_order(poset: Poset) -> None:
    c = poset.comparisons()
    assert list(all_orderings(c)) == plain_orderings(c)


@pytest.mark.parametrize("n_items", [0, 1, 2, 5, 20, 200])
def test_an_antichain_has_n_factorial_orderings(n_items: int) -> None:
    assert count_orderings(from_edges(n_items, [], [])) == math.factorial(n_items)


@pytest.mark.parametrize("n_items", [1, 2, 50, 3000])
def test_a_chain_has_one_ordering(n_items: int) -> None:
    c = from_edges(n_items, range(n_items - 1), range(1, n_items))
    assert count_orderings(c) == 1


@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 2), (5, 3), (400, 300)])
def test_two_chains_interleave_in_binomially_many_ways(first: int, second: int) -> None:
    expected = math.comb(first + second, first)
    assert count_orderings(two_chains(first, second)) == expected


@pytest.mark.parametrize(
    ("poset", "count"),
    [
        (Poset(4, [0, 2], [1, 3]), 6),
        (Poset(4, [0, 0, 1], [2, 3, 3]), 5),  # the letter N
        (Poset(5, [0, 2, 2, 4], [1, 1, 3, 3]), 16),  # a fence: 1, 1, 2, 5, 16, 61, ...
        (Poset(6, [0, 2, 2, 4, 4], [1, 1, 3, 3, 5]), 61),
        (Poset(6, [0, 0, 1, 1, 2, 2], [4, 5, 3, 5, 3, 4]), 48),  # a crown
        # The Boolean lattice of three elements.
        (
            Poset(
                8,
                [0, 0, 0, 1, 1, 2, 2, 4, 4, 3, 5, 6],
                [1, 2, 4, 3, 5, 3, 6, 5, 6] + [7] * 3,
            ),
            48,
        ),
    ],
)
def test_known_counts(poset: Poset, count: int) -> None:
    c = poset.comparisons()
    assert count_orderings(c) == count
    assert len(list(all_orderings(c))) == count


@few
@given(consistent_ratings(max_items=7))
def test_counts_agree_with_brute_force(ratings: Ratings) -> None:
    assert count_orderings(ratings) == len(plain_orderings(comparisons(ratings)))


@given(posets(max_items=7))
def test_counts_of_posets_agree_with_brute_force(poset: Poset) -> None:
    c = poset.comparisons()
    assert count_orderings(c) == len(plain_orderings(c))


def test_ties_multiply_the_count() -> None:
    scores = [1] * 1000 + [0] * 1000
    ratings = Ratings(["r"] * 2000, range(2000), scores)
    assert count_orderings(ratings) == math.factorial(1000) ** 2


def test_contradictory_ratings_have_no_count() -> None:
    ratings = Ratings.from_comparisons(["x", "y"], ["y", "x"])
    with pytest.raises(ContradictionError, match="'x' above 'y'"):
        count_orderings(ratings)


def test_counting_stops_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    crown = from_edges(6, [0, 0, 1, 1, 2, 2], [4, 5, 3, 5, 3, 4])
    monkeypatch.setattr(sampling, "COUNTED_IDEALS", 17)
    with pytest.raises(ConvergenceError, match=r"6 items .* within 17 order ideals"):
        count_orderings(crown)
    monkeypatch.setattr(sampling, "COUNTED_IDEALS", 18)
    assert count_orderings(crown) == 48


def test_an_uncountable_poset_is_refused_at_once() -> None:
    above = [*range(40), *range(39)]
    below = [*range(40, 80), *range(41, 80)]
    with pytest.raises(ConvergenceError, match="Draw from them with uniform_order"):
        count_orderings(from_edges(80, above, below))


@few
@given(consistent_ratings(max_items=7))
def test_ideals_are_all_sets_closed_upwards_and_the_limit_is_sharp(
    ratings: Ratings,
) -> None:
    c = comparisons(ratings)
    if c.n_items < 2:
        return
    pairs = list(zip(*(codes.tolist() for codes in edges(c)), strict=True))
    closed = sum(
        all(above in chosen or below not in chosen for above, below in pairs)
        for size in range(c.n_items + 1)
        for chosen in itertools.combinations(range(c.n_items), size)
    )
    ideals = order_ideals(whole_piece(c), limit=closed)
    assert ideals is not None
    assert len(ideals.held) == closed
    assert order_ideals(whole_piece(c), limit=closed - 1) is None
    count = len(plain_orderings(c))
    assert ideals.arrivals()[-1] == ideals.completions[0] == count


@few
@given(posets(min_items=2, max_items=6))
def test_ways_in_times_ways_out_give_the_law_of_every_place(poset: Poset) -> None:
    c = poset.comparisons()
    ideals = order_ideals(whole_piece(c), limit=1000)
    assert ideals is not None
    ways_in, ways_out = ideals.arrivals(), ideals.completions
    # Ideals are numbered by size, and a step from size k fills place k.
    size = [held.bit_count() for held in ideals.held]
    at_place = np.zeros((c.n_items, c.n_items), dtype=np.int64)
    for ideal in range(len(ideals.held)):
        for item, to in zip(ideals.free[ideal], ideals.to[ideal], strict=True):
            ways = ways_in[ideal] * ways_out[to]
            at_place[topological_order(c)[item], size[ideal]] += ways
    assert size == sorted(size)
    expected = np.zeros_like(at_place)
    for order in plain_orderings(c):
        expected[list(order), range(c.n_items)] += 1
    assert (at_place == expected).all()


def test_ways_of_two_long_chains_are_binomial() -> None:
    ideals = order_ideals(whole_piece(two_chains(30, 30)), limit=31**2)
    assert ideals is not None
    assert len(ideals.held) == 31**2
    assert ideals.completions[0] == math.comb(60, 30)
    assert ideals.arrivals()[-1] == math.comb(60, 30)


Observed = tuple[tuple[int, int], ...]


def observations(n_items: int, m: int) -> dict[Observed, list[tuple[int, ...]]]:
    """Each set of observed comparisons with the true rankings that give rise to it.

    True rankings and sets of m distinct pairs are equally likely, so a list holds one
    entry for each of the equally likely cases.
    """
    cases: dict[Observed, list[tuple[int, ...]]] = {}
    for truth in itertools.permutations(range(n_items)):
        # Pairs of a ranking come out with the better item first.
        pairs = sorted(itertools.combinations(truth, 2), key=sorted)
        for observed in itertools.combinations(pairs, m):
            cases.setdefault(observed, []).append(truth)
    return cases


@pytest.mark.parametrize(("n_items", "m"), [(3, 1), (3, 2), (4, 2), (4, 3), (4, 5)])
def test_given_the_comparisons_all_orderings_are_equally_likely(
    n_items: int, m: int
) -> None:
    """Lemma 1(a), exactly, for a uniform prior."""
    for observed, truths in observations(n_items, m).items():
        c = from_edges(n_items, [a for a, _ in observed], [b for _, b in observed])
        assert sorted(truths) == list(all_orderings(c))
        assert Fraction(1, len(truths)) == Fraction(1, count_orderings(c))


@pytest.mark.parametrize(
    ("n_items", "expected"),
    # Five items: tests/lab/test_figures.py.
    [(3, Fraction(17, 18)), (4, Fraction(529, 480))],
)
def test_expected_kendall_of_the_index_order_is_exact(
    n_items: int, expected: Fraction
) -> None:
    """The values under fig2_exact_expected_kendall_of_the_index_order in the oracle.

    Distinct random pairs, half of all of them rounded down; uniform true ranking.
    """
    total, count = 0, 0
    rankings = {
        truth: np.array(truth) for truth in itertools.permutations(range(n_items))
    }
    for observed, truths in observations(n_items, math.comb(n_items, 2) // 2).items():
        c = from_edges(n_items, [a for a, _ in observed], [b for _, b in observed])
        order = topological_order(c)
        total += sum(int(kendall_tau(rankings[truth], order)) for truth in truths)
        count += len(truths)
    assert Fraction(total, count) == expected


@given(st.integers(0, 10), st.integers(0, 10))
def test_items_without_a_comparison_only_multiply(first: int, free: int) -> None:
    c = from_edges(first + 2 + free, [0], [1])
    n_items = first + 2 + free
    assert count_orderings(c) == math.factorial(n_items) // 2


def linked(items: list[int], relation: Table) -> list[list[int]]:
    """Groups of items that a symmetric relation connects, plainly."""
    groups: list[list[int]] = []
    for item in items:
        near = [group for group in groups if any(relation[item, o] for o in group)]
        rest = [group for group in groups if group not in near]
        groups = [*rest, sorted([item, *itertools.chain.from_iterable(near)])]
    return groups


def plain_pieces(items: list[int], above: Table) -> list[list[int]]:
    """Split by what comparisons connect, then by what no comparison separates."""
    related = above | above.T
    for relation in (related, ~related):
        groups = linked(items, relation)
        if len(groups) > 1:
            return [piece for group in groups for piece in plain_pieces(group, above)]
    return [items]


@given(posets(max_items=8))
def test_pieces_cannot_be_split_further_and_are_split_everywhere(poset: Poset) -> None:
    c = poset.comparisons()
    order, _, pieces = take_apart(c)
    found = [sorted(order[piece.items].tolist()) for piece in pieces]
    expected = plain_pieces(list(range(c.n_items)), closure(c))
    assert sorted(found) == sorted(piece for piece in expected if len(piece) > 1)


@given(posets(max_items=8))
def test_segments_are_numbered_from_best_to_worst(poset: Poset) -> None:
    c = poset.comparisons()
    order, rounds, _ = take_apart(c)
    above = closure(c)[np.ix_(order, order)]
    for split in rounds:
        for one, other in itertools.permutations(range(c.n_items), 2):
            if split.group[one] == split.group[other]:
                if split.segment[one] < split.segment[other]:
                    assert above[one, other]
            elif split.parent[one] == split.parent[other]:
                assert not above[one, other]


@few
@given(consistent_ratings(max_items=8, max_reviewers=4))
def test_pieces_hold_the_pairs_that_no_others_imply(ratings: Ratings) -> None:
    c = comparisons(ratings)
    order, _, pieces = take_apart(c)
    above = closure(c)[np.ix_(order, order)]
    for piece in pieces:
        inside = above[np.ix_(piece.items, piece.items)]
        next_below = inside & ~((inside.astype(np.int64) @ inside) > 0)
        assert piece.below == [np.flatnonzero(row).tolist() for row in next_below]


def test_large_tied_levels_are_taken_apart_without_their_pairs() -> None:
    # Two levels of 2,000 items, and one pair inside each.
    n_items = 4_000
    items = [*range(n_items), 0, 1, 2_001, 2_000]
    scores = [*np.repeat([5, 1], 2_000).tolist(), 2, 1, 2, 1]
    ratings = Ratings([*["r"] * n_items, "s", "s", "t", "t"], items, scores)
    c = comparisons(ratings)
    assert len(c.links[1]) == n_items + 2
    assert take_apart(c)[2] == []


def test_pieces_of_too_many_pairs_are_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(orderings, "MOST_PAIRS", 2)
    c = from_edges(4, [0, 0, 1], [2, 3, 3])
    _, _, (piece,) = take_apart(c)
    assert piece.below is None
    assert order_ideals(piece, limit=10**6) is None
    with pytest.raises(ConvergenceError, match="of 4 items that cannot be taken apart"):
        count_orderings(c)


def test_the_order_is_handed_out_as_a_copy() -> None:
    c = from_edges(4, [2, 1], [1, 0])
    topological_order(c)[:] = -1
    assert topological_order(c).tolist() == [2, 1, 0, 3]


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


@pytest.mark.parametrize(
    "asked", [rank_sums, closure, twins, all_orderings, uniform_order, averages]
)
def test_contradictions_are_refused(asked: Callable[[Comparisons], object]) -> None:
    with pytest.raises(RatingsError, match="must be consistent"):
        asked(from_edges(2, [0, 1], [1, 0]))


def test_the_papers_twins_may_contradict_each_other() -> None:
    assert twins(from_edges(4, [0, 1], [1, 0]), by="direct") == [(2, 3)]


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
@given(consistent_ratings())
def test_closure_is_warshalls(ratings: Ratings) -> None:
    c = comparisons(ratings)
    assert (closure(c) == plain_closure(c.n_items, plain_edges(ratings))).all()


@few
@given(consistent_ratings(max_items=7))
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
        classes = twins(c, by=by)
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
        twins(from_edges(2, [0], [1]), by="closed")


def test_the_closure_of_too_many_items_is_refused_in_words() -> None:
    with pytest.raises(OptionError, match="at most 20,000 items, got 20,001"):
        closure(from_edges(20_001, [], []))
    with pytest.raises(OptionError, match="at most 100,000 items, got 100,001"):
        twins(from_edges(100_001, [], []))


def test_many_small_groups_share_their_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.posets.orderings.MOST_ITEMS", 1_000)
    above = np.arange(0, 1_002, 2)
    sums = rank_sums(from_edges(1_002, above, above + 1))
    assert sums.tolist() == [1_002, 1_004] * 501
