from __future__ import annotations

import itertools
import tracemalloc
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import _cores
from evenhand._kernels import kendall
from evenhand._kernels.kendall import (
    BLOCKS,
    MOST_LEVELS,
    crossings,
    deal_codes,
    deal_places,
    deal_places_back,
    deal_values,
    disagreements,
    level_starts,
    look_up,
    ones,
    places_of,
)
from evenhand._kernels.losses import inversions
from evenhand.errors import OptionError, RatingsError
from evenhand.losses import (
    LOSSES,
    footrule,
    kendall_tau,
    loss,
    top_k_overlap,
    zero_one,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from evenhand._results import Label
    from evenhand.losses import Ranking

orders = st.integers(0, 9).flatmap(
    lambda n: st.tuples(st.permutations(range(n)), st.permutations(range(n)))
)
rank_maps = st.integers(1, 8).flatmap(
    lambda n: st.tuples(
        *[
            st.lists(st.integers(1, 5), min_size=n, max_size=n).map(
                lambda ranks: dict(enumerate(ranks))
            )
            for _ in range(2)
        ]
    )
)


def plain_kendall(first: Mapping[int, int], second: Mapping[int, int]) -> Fraction:
    """The sum over pairs, a tie in exactly one ranking counting one half."""
    total = Fraction(0)
    for one, other in itertools.combinations(first, 2):
        here = first[one] - first[other]
        there = second[one] - second[other]
        if here * there < 0:
            total += 1
        elif (here == 0) != (there == 0):
            total += Fraction(1, 2)
    return total


def ranks(order: list[int]) -> dict[int, int]:
    return {item: place + 1 for place, item in enumerate(order)}


@given(orders)
def test_kendall_counts_the_pairs_in_different_order(
    pair: tuple[list[int], list[int]],
) -> None:
    truth, estimate = pair
    expected = plain_kendall(ranks(truth), ranks(estimate))
    assert kendall_tau(truth, estimate) == expected
    assert kendall_tau(ranks(truth), ranks(estimate)) == expected
    assert kendall_tau(truth, ranks(estimate)) == expected
    assert kendall_tau(np.array(truth, int), np.array(estimate, int)) == expected
    assert (
        kendall_tau([f"x{i}" for i in truth], [f"x{i}" for i in estimate]) == expected
    )


@given(rank_maps)
def test_kendall_of_rank_maps_counts_ties_one_half(
    pair: tuple[dict[int, int], dict[int, int]],
) -> None:
    assert kendall_tau(*pair) == plain_kendall(*pair)


@given(rank_maps)
def test_kendall_with_ties_is_the_mean_over_broken_ties(
    pair: tuple[dict[int, int], dict[int, int]],
) -> None:
    """Breaking the ties of one strict map's partner by fair coins, exactly."""
    truth = {item: place for place, item in enumerate(pair[0])}
    tied = pair[1]
    broken = [
        order
        for order in itertools.permutations(list(tied)[:6])
        if all(tied[a] <= tied[b] for a, b in itertools.pairwise(order))
    ]
    truth = {item: truth[item] for item in list(tied)[:6]}
    tied = {item: tied[item] for item in list(tied)[:6]}
    mean = Fraction(
        sum(int(kendall_tau(truth, list(order))) for order in broken), len(broken)
    )
    assert kendall_tau(truth, tied) == mean


@given(st.lists(st.integers(-3, 30), max_size=120))
def test_inversions_are_counted_as_by_two_loops(values: list[int]) -> None:
    expected = sum(a > b for a, b in itertools.combinations(values, 2))
    assert inversions(np.array(values, dtype=np.int64)) == expected


@given(st.integers(0, 2**32), st.integers(1, 700))
def test_crossings_of_permutations_are_counted_as_by_merging(
    seed: int, size: int
) -> None:
    values = np.random.default_rng(seed).permutation(size)
    assert crossings(values.astype(np.int32)) == inversions(values)


@given(st.permutations(range(70)))
def test_crossings_are_counted_as_by_two_loops(values: list[int]) -> None:
    expected = sum(a > b for a, b in itertools.combinations(values, 2))
    assert crossings(np.array(values, dtype=np.int32)) == expected


@given(st.integers(0, 2**32), st.integers(2, 400), st.data())
def test_a_value_that_comes_twice_is_no_permutation(
    seed: int, size: int, data: st.DataObject
) -> None:
    values = np.random.default_rng(seed).permutation(size).astype(np.int32)
    one = data.draw(st.integers(0, size - 1))
    other = data.draw(st.integers(0, size - 1).filter(lambda place: place != one))
    values[one] = values[other]
    assert crossings(values) == -1


@given(st.lists(st.integers(-2, 8), max_size=7))
def test_places_are_found_for_orders_of_codes_alone(order: list[int]) -> None:
    codes = np.array(order, dtype=np.int64)
    found = places_of(codes).tolist()
    known = sorted(order) == list(range(len(order)))
    assert found == ([order.index(code) for code in range(len(order))] if known else [])


@contextmanager
def small_blocks(bits: int, number: int = 1) -> Iterator[None]:
    """Deal orders out as if they were of more than a million codes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kendall, "BLOCK", bits)
        patch.setattr(_cores, "cores", lambda: number)
        yield


@given(st.integers(0, 2**32), st.integers(1, 700), st.integers(6, 8), st.integers(1, 3))
def test_two_orders_are_compared_by_blocks_as_by_merging(
    seed: int, size: int, bits: int, number: int
) -> None:
    source = np.random.default_rng(seed)
    one, other = source.permutation(size), source.permutation(size)
    expected = inversions(np.argsort(other)[one])
    assert disagreements(one, other) == expected
    with small_blocks(bits, number):
        assert disagreements(one, other) == expected


@given(st.integers(0, 2**32), st.integers(65, 300), st.data())
def test_what_is_not_two_orders_is_seen(
    seed: int, size: int, data: st.DataObject
) -> None:
    source = np.random.default_rng(seed)
    pair = [source.permutation(size) for _ in range(2)]
    codes = st.integers(-2, size + 1) | st.sampled_from([-(2**63), 2**63 - 1])
    places = st.integers(0, size - 1)
    for side, place, code in data.draw(
        st.lists(st.tuples(st.integers(0, 1), places, codes), max_size=4)
    ):
        pair[side][place] = code
    known = all(sorted(order.tolist()) == list(range(size)) for order in pair)
    found = disagreements(*pair)
    assert (found >= 0) == known
    with small_blocks(6):
        assert disagreements(*pair) == found


def test_the_same_item_twice_in_both_orders_is_seen() -> None:
    order = np.arange(100)
    order[3] = 4
    with small_blocks(6):
        assert disagreements(order, order[::-1].copy()) == -1


@given(st.permutations(range(99)), st.permutations(range(99)), st.integers(3, 7))
def test_orders_are_dealt_out_to_blocks_and_back(
    one: list[int], other: list[int], bits: int
) -> None:
    size = len(one)
    starts = np.append(np.arange(0, size, 1 << bits), size)
    codes, pairs = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.uint32)
    firsts = np.empty(len(starts) - 1, dtype=np.int64)
    assert deal_codes(np.array(one), bits, starts, codes)
    widest = deal_places(np.array(other), bits, starts, (pairs, firsts))
    blocks = list(range(0, size, 1 << bits))
    by_block = [[code for code in one if code >> bits == b >> bits] for b in blocks]
    assert codes.tolist() == list(itertools.chain(*by_block))
    stable = sorted(range(size), key=lambda place: other[place] >> bits)
    apart = [
        place - before if begin not in starts[:-1] else 0
        for begin, (before, place) in enumerate(itertools.pairwise([0, *stable]))
    ]
    assert widest.bit_length() == max(apart).bit_length()
    assert pairs.tolist() == [
        gap << bits | other[place] % (1 << bits)
        for gap, place in zip(apart, stable, strict=True)
    ]
    assert firsts.tolist() == [stable[begin] for begin in blocks]
    for begin, end in itertools.pairwise(starts.tolist()):
        part, first = slice(begin, end), stable[begin]
        assert look_up(pairs[part], (begin, first, bits), codes[part])
    places = [other.index(code) for code in one]
    assert codes.tolist() == [other.index(code) for b in by_block for code in b]
    dealt = np.empty_like(codes)
    count = deal_places_back(np.array(one), bits, starts, codes, dealt)
    assert dealt.tolist() == sorted(places, key=lambda place: place >> bits)
    both = itertools.combinations(places, 2)
    assert count == sum(a >> bits > b >> bits for a, b in both)


def test_each_code_is_looked_up_and_counted_once_in_eight_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    size = 2**20 + 2**18
    seen: list[int] = []

    def counted(work: Callable[..., int]) -> Callable[..., int]:
        def count(first: NDArray[np.integer], *rest: object) -> int:
            seen.append(len(first))
            return work(first, *rest)

        return count

    for name in ("look_up", "_inside"):
        monkeypatch.setattr(kendall, name, counted(getattr(kendall, name)))
    monkeypatch.setattr(_cores, "cores", lambda: 1)
    identity, order = np.arange(size), np.random.default_rng(7).permutation(size)
    expected = inversions(order)
    tracemalloc.start()
    try:
        assert disagreements(order, identity) == expected
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert seen == [2**20, 2**18] * 2
    # And the table of one block.
    assert most < 8 * size + 4 * 2**20 + 100_000


def test_places_far_apart_are_compared_too(monkeypatch: pytest.MonkeyPatch) -> None:
    size = 2**20 + 2**13
    order, far = np.random.default_rng(7).permutation(size), np.arange(size)
    far[0], far[1:] = size - 1, np.arange(size - 1)
    found: list[int | None] = []
    by_blocks = kendall._by_blocks  # noqa: SLF001 - to see what it is asked

    def noted(one: NDArray[np.int64], other: NDArray[np.int64]) -> int | None:
        found.append(by_blocks(one, other))
        return found[-1]

    monkeypatch.setattr(kendall, "_by_blocks", noted)
    for one, other in ((order, far), (far, order), (far, far)):
        expected = inversions(np.argsort(other)[one])
        assert disagreements(one, other) == expected
    assert found == [None, inversions(np.argsort(order)[far]), None]


@given(st.integers(0, 2**64 - 1))
def test_ones_are_the_bits_that_are_set(word: int) -> None:
    assert ones(np.uint64(word)) == word.bit_count()


@given(st.permutations(range(150)), st.integers(4, 8), st.integers(0, 9))
def test_values_are_dealt_out_to_blocks_in_their_order(
    order: list[int], bits: int, low: int
) -> None:
    values = np.array(order, dtype=np.int32) + np.int32(low)
    dealt = np.empty_like(values)
    count, starts = deal_values(values, low, bits, dealt)
    both = itertools.combinations(order, 2)
    assert count == sum(a >> bits > b >> bits for a, b in both)
    blocks = [dealt[a:b].tolist() for a, b in itertools.pairwise(starts)]
    assert blocks == [
        [low + value for value in order if value >> bits == block]
        for block in range(BLOCKS)
    ]


@given(st.integers(0, 2**32), st.integers(1, 700), st.integers(6, 8))
def test_blocks_of_blocks_are_counted_as_one(seed: int, size: int, block: int) -> None:
    values = np.random.default_rng(seed).permutation(size).astype(np.int32)
    expected = crossings(values)
    twice = values.copy()
    twice[0] = twice[-1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kendall, "BLOCK", block)
        patch.setattr(kendall, "BLOCK_BITS", 1)
        assert crossings(values) == expected
        assert size == 1 or crossings(twice) == -1


@pytest.mark.parametrize(
    ("size", "levels"), [(64, 0), (65, 1), (2**18 + 1, MOST_LEVELS), (2**20, 7)]
)
def test_kendall_looks_at_few_nodes_for_each_item(size: int, levels: int) -> None:
    """Work is one word and one node a level; room is an eighth of a byte and less."""
    _, found, nodes = level_starts(size)
    assert found == levels
    assert 8 * nodes <= size / 20 + 8 * levels


def test_kendall_beyond_a_million_items_is_exact() -> None:
    size = 2_200_000
    worst = np.arange(size, dtype=np.int32)[::-1].copy()
    assert crossings(worst) == size * (size - 1) // 2
    mixed = np.random.default_rng(7).permutation(size)
    assert crossings(mixed.astype(np.int32)) == inversions(mixed)
    mixed[5] = mixed[-5]
    assert crossings(mixed.astype(np.int32)) == -1
    swapped = np.arange(size, dtype=np.int32)
    swapped[[0, -1]] = swapped[[-1, 0]]
    assert crossings(swapped) == 2 * size - 3


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.uint64])
def test_kendall_takes_orders_of_any_integers(dtype: type[np.integer]) -> None:
    truth, estimate = np.array([2, 0, 1], dtype=dtype), np.array([0, 9, 1, 9, 2, 9])
    estimate.flags.writeable = False
    assert kendall_tau(truth, estimate[::2]) == 2
    huge = np.array([2**63, 0], dtype=np.uint64)
    assert kendall_tau(huge, huge[::-1]) == 1


def test_kendall_of_many_items_is_exact() -> None:
    size = 100_000
    identity = np.arange(size)
    assert kendall_tau(identity, identity[::-1]) == size * (size - 1) // 2
    assert kendall_tau(identity, np.roll(identity, 1)) == size - 1


@given(orders)
def test_footrule_sums_the_differences_of_ranks(
    pair: tuple[list[int], list[int]],
) -> None:
    truth, estimate = pair
    expected = sum(abs(truth.index(item) - estimate.index(item)) for item in truth)
    assert footrule(truth, estimate) == expected
    assert footrule(ranks(truth), estimate) == expected


@given(orders)
def test_footrule_is_between_kendall_and_twice_kendall(
    pair: tuple[list[int], list[int]],
) -> None:
    """Diaconis and Graham (1977)."""
    assert kendall_tau(*pair) <= footrule(*pair) <= 2 * kendall_tau(*pair)


def test_footrule_takes_ranks_as_they_are() -> None:
    halves = {"a": Fraction(1), "b": Fraction(7, 2)}
    assert footrule(halves, {"a": 1.5, "b": 3}) == 1.0


@given(orders)
def test_zero_one_is_zero_for_equal_orders_only(
    pair: tuple[list[int], list[int]],
) -> None:
    truth, estimate = pair
    assert zero_one(truth, estimate) == int(truth != estimate)
    assert zero_one(truth, ranks(estimate)) == int(truth != estimate)
    assert zero_one(truth, truth) == 0


def test_zero_one_of_rank_maps_sees_ties_but_not_numbers() -> None:
    assert zero_one({"a": 1, "b": 1, "c": 9}, {"c": 3, "b": 2, "a": 2}) == 0
    assert zero_one({"a": 1, "b": 1}, {"a": 1, "b": 2}) == 1


@given(orders.filter(lambda pair: len(pair[0]) > 0), st.data())
def test_top_k_counts_those_of_the_true_best_that_are_missing(
    pair: tuple[list[int], list[int]], data: st.DataObject
) -> None:
    truth, estimate = pair
    k = data.draw(st.integers(1, len(truth)))
    missing = set(truth[:k]) - set(estimate[:k])
    assert top_k_overlap(truth, estimate, k=k) == len(missing)
    assert top_k_overlap(ranks(truth), ranks(estimate), k=k) == len(missing)


def test_ties_within_the_best_k_do_not_matter() -> None:
    tied = {"a": 1, "b": 1, "c": 2}
    assert top_k_overlap(tied, ["b", "c", "a"], k=2) == 1
    assert top_k_overlap(["a", "b", "c"], tied, k=3) == 0
    with pytest.raises(RatingsError, match="'a' and 'b' tied there"):
        top_k_overlap(tied, ["a", "b", "c"], k=1)
    with pytest.raises(RatingsError, match="estimate must say which"):
        top_k_overlap(["a", "b", "c"], tied, k=1)


@given(orders.filter(lambda pair: len(pair[0]) > 0))
def test_losses_by_name_are_the_functions(pair: tuple[list[int], list[int]]) -> None:
    assert list(LOSSES) == ["zero-one", "kendall", "footrule", "top-1"]
    assert loss("zero-one")(*pair) == zero_one(*pair)
    assert loss("kendall")(*pair) == kendall_tau(*pair)
    assert loss("footrule")(*pair) == footrule(*pair)
    assert loss("top-1")(*pair) == int(pair[0][0] != pair[1][0])
    size = len(pair[0])
    assert loss(f"top-{size}")(*pair) == 0


@pytest.mark.parametrize("name", ["kendal", "top-0", "top-", "top-k", ""])
def test_unknown_losses_are_refused(name: str) -> None:
    with pytest.raises(OptionError, match=f"unknown loss function '{name}'"):
        loss(name)


@pytest.mark.parametrize(
    ("truth", "estimate", "message"),
    [
        (["a", "b"], ["a"], "the same items, got 'b' not in estimate"),
        (["a"], {"a": 1, "b": 2}, "the same items, got 'b' not in truth"),
        (["a", "a"], ["a", "b"], "truth must name every item once, got 'a' again at"),
        (["a", "b"], ["b", "b"], "estimate must name every item once, got 'b' again"),
        (
            {"a": float("nan")},
            ["a"],
            "truth must give every item a finite rank, got nan",
        ),
        (["a"], {"a": "1"}, "estimate must give every item a finite rank, got '1'"),
        (["a"], {"a": 10**400}, "must give every item a finite rank"),
        (["a"], {"a": True}, "must give every item a finite rank, got True"),
        ("ab", ["a", "b"], "truth must be a sequence of items or a map"),
        ([["a"]], ["a"], r"truth must hold labels, got \['a'\] at index 0"),
        (np.array([0, 1]), np.array([0, 0]), "estimate must name every item once"),
        (np.array([0, 1]), np.array([0, 2]), "got 1 not in estimate"),
        (np.array([0, 1]), np.array([0]), "got 1 not in estimate"),
    ],
)
@pytest.mark.parametrize("name", list(LOSSES))
def test_rankings_of_other_items_are_refused(
    name: str, truth: Ranking, estimate: Ranking, message: str
) -> None:
    with pytest.raises(RatingsError, match=message):
        loss(name)(truth, estimate)


@pytest.mark.parametrize("k", [0, 3, -1, True, 1.0])
def test_k_out_of_range_is_refused(k: int) -> None:
    with pytest.raises(OptionError, match="from 1 to the number of items, 2, got"):
        top_k_overlap(["a", "b"], ["a", "b"], k=k)


def test_labels_of_any_kind_are_matched_by_value() -> None:
    truth: list[Label] = ["a", 3, "c"]
    estimate: list[Label] = [3, "a", "c"]
    assert kendall_tau(truth, estimate) == 1
    assert kendall_tau(np.array([7, 5]), [5, 7]) == 1
