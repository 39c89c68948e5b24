from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenhand._kernels import diagrams as kernels
from evenhand._kernels.ideals import below_bits, bit_lists
from evenhand.posets.comparisons import chain_edges, closure, comparisons
from evenhand.posets.orderings import topological_order
from evenhand.posets.pieces import as_diagram, irreducible, reduced, take_apart, thinned
from evenhand.ratings import Ratings
from tests.strategies import Poset, consistent_ratings, posets

if TYPE_CHECKING:
    from evenhand.posets.comparisons import Comparisons

Table = NDArray[np.bool_]


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


def diagram_of(c: Comparisons) -> kernels.Diagram:
    """The whole poset as one diagram, items numbered in topological order."""
    place = np.argsort(topological_order(c))
    above, below = chain_edges(c)
    return as_diagram(c.n_items, c.n_items, place[above], place[below])


@given(posets(max_items=8))
def test_pieces_cannot_be_split_further_and_are_split_everywhere(poset: Poset) -> None:
    c = poset.comparisons()
    pieces = take_apart(c, topological_order(c))
    found: dict[int, list[int]] = {}
    for item, piece in zip(pieces.order.tolist(), pieces.piece.tolist(), strict=True):
        found.setdefault(piece, []).append(item)
    expected = plain_pieces(list(range(c.n_items)), closure(c))
    assert sorted(sorted(piece) for piece in found.values()) == sorted(expected)


@given(posets(max_items=8))
def test_segments_are_numbered_from_best_to_worst(poset: Poset) -> None:
    c = poset.comparisons()
    pieces = take_apart(c, topological_order(c))
    above = closure(c)[np.ix_(pieces.order, pieces.order)]
    for split in pieces.rounds:
        for one, other in itertools.permutations(range(c.n_items), 2):
            if split.group[one] == split.group[other]:
                if split.segment[one] < split.segment[other]:
                    assert above[one, other]
            elif split.parent[one] == split.parent[other]:
                assert not above[one, other]


@settings(max_examples=60)
@given(consistent_ratings(max_items=8, max_reviewers=3))
def test_pieces_keep_what_the_comparisons_say_inside_them(ratings: Ratings) -> None:
    c = comparisons(ratings)
    pieces = take_apart(c, topological_order(c))
    above = closure(c)[np.ix_(pieces.order, pieces.order)]
    for items, diagram in irreducible(pieces):
        table = np.zeros((len(items), len(items)), dtype=np.uint64)
        starts, below = bit_lists(below_bits(diagram)[0])
        for item in range(len(items)):
            table[item, below[starts[item] : starts[item + 1]]] = 1
        assert (table == above[np.ix_(items, items)]).all()


def test_one_piece_is_left_whole_on_request() -> None:
    c = Poset(4, [0, 2], [1, 3]).comparisons()
    pieces = take_apart(c, topological_order(c), whole=True)
    assert pieces.rounds == ()
    assert len(list(irreducible(pieces))) == 1


def test_two_large_tied_levels_make_few_edges() -> None:
    # 0 and 1 are above 2..1001, and 1001 is above 1000: nothing like 2 * 1000 pairs.
    items = [*range(1002), 1001, 1000]
    scores = [9, 9] + [1] * 1000 + [2, 1]
    ratings = Ratings(["r"] * 1002 + ["s"] * 2, items, scores)
    c = comparisons(ratings)
    pieces = take_apart(c, topological_order(c), whole=True)
    assert len(pieces.above) == 2 + 1000 + 1
    assert take_apart(c, topological_order(c)).above.tolist() == []


@given(posets(max_items=7))
def test_reduced_edges_have_no_item_between(poset: Poset) -> None:
    c = poset.comparisons()
    order = topological_order(c)
    above = closure(c)[np.ix_(order, order)]
    small = reduced(diagram_of(c))
    found = [
        (upper, lower)
        for upper in range(c.n_items)
        for lower in small.down[small.down_start[upper] : small.down_start[upper + 1]]
    ]
    assert found == [
        (upper, lower)
        for upper, lower in itertools.product(range(c.n_items), repeat=2)
        if above[upper, lower] and not (above[upper] & above[:, lower]).any()
    ]


@given(posets(max_items=7))
def test_depth_is_the_longest_chain_above(poset: Poset) -> None:
    c = poset.comparisons()
    diagram = diagram_of(c)
    above = closure(c)[np.ix_(topological_order(c), topological_order(c))]
    expected: list[int] = []
    for item in range(c.n_items):
        uppers = [expected[other] + 1 for other in range(item) if above[other, item]]
        expected.append(max(uppers, default=0))
    assert kernels.depths(diagram).tolist() == expected


def test_depth_passes_through_joints() -> None:
    ratings = Ratings([0] * 7, range(7), [3, 2, 2, 2, 1, 1, 1])
    c = comparisons(ratings)
    pieces = take_apart(c, np.arange(7), whole=True)
    (_, diagram), *_ = irreducible(pieces)
    assert len(diagram.down_start) - 1 == 8
    assert kernels.depths(diagram).tolist() == [0, 1, 1, 1, 2, 2, 2]


edge_lists = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30)


@given(edge_lists)
def test_merged_edges_are_sorted_and_distinct(pairs: list[tuple[int, int]]) -> None:
    above = np.array([a for a, _ in pairs], dtype=np.int64)
    below = np.array([b for _, b in pairs], dtype=np.int64)
    merged = kernels.merged_edges(7, above, below)
    assert list(zip(*(x.tolist() for x in merged), strict=True)) == sorted({*pairs})


@given(edge_lists)
def test_edge_groups_name_their_smallest_node(pairs: list[tuple[int, int]]) -> None:
    relation = np.zeros((7, 7), dtype=np.bool_)
    for one, other in pairs:
        relation[one, other] = relation[other, one] = True
    above = np.array([a for a, _ in pairs], dtype=np.int64)
    below = np.array([b for _, b in pairs], dtype=np.int64)
    found = kernels.edge_groups(7, above, below)
    for group in linked(list(range(7)), relation):
        assert {int(found[item]) for item in group} == {min(group)}


@given(st.lists(st.sets(st.integers(0, 191)), max_size=4))
def test_bit_lists_list_the_bits(rows: list[set[int]]) -> None:
    bits = np.zeros((len(rows), 3), dtype=np.uint64)
    for row, places in enumerate(rows):
        for place in places:
            bits[row, place // 64] |= np.uint64(1) << np.uint64(place % 64)
    starts, found = bit_lists(bits)
    ends = itertools.pairwise(starts.tolist())
    assert [found[first:last].tolist() for first, last in ends] == [
        sorted(places) for places in rows
    ]


def reach(diagram: kernels.Diagram) -> Table:
    """Who is above whom by any path of edges, joints included, plainly."""
    n_nodes = len(diagram.down_start) - 1
    above = np.zeros((n_nodes, n_nodes), dtype=np.bool_)
    ends = np.repeat(np.arange(n_nodes), np.diff(diagram.down_start))
    above[ends, diagram.down] = True
    for middle in range(n_nodes):
        above |= above[:, middle : middle + 1] & above[middle]
    return above


@given(consistent_ratings(max_items=8, max_reviewers=4))
def test_thinned_diagrams_say_the_same_with_no_edge_too_many(ratings: Ratings) -> None:
    c = comparisons(ratings)
    for items, diagram in irreducible(take_apart(c, topological_order(c), whole=True)):
        few = thinned(diagram)
        size = len(items)
        before, after = reach(diagram), reach(few)
        assert np.array_equal(before[:size, :size], after[:size, :size])
        ends = np.repeat(np.arange(len(after)), np.diff(few.down_start))
        for upper, lower in zip(ends.tolist(), few.down.tolist(), strict=True):
            between = after[upper] & after[:, lower]
            if upper >= size or lower >= size:
                assert not between.any()
            else:
                assert not between[:size].any()


def test_thinned_levels_keep_a_fraction_of_their_edges() -> None:
    source = np.random.default_rng(3)
    values = source.random(300)
    rows = []
    for reviewer in range(20):
        cuts = np.sort(source.random(9))
        items = source.choice(300, 150, replace=False)
        levels = np.searchsorted(cuts, values[items])
        rows += [
            (reviewer, item, level) for item, level in zip(items, levels, strict=True)
        ]
    c = comparisons(Ratings(*zip(*rows, strict=True)))
    ((_, diagram),) = irreducible(take_apart(c, topological_order(c), whole=True))
    # Every sweep looks at each edge twice, so this is what a draw costs.
    assert len(thinned(diagram).down) < len(diagram.down) / 3
