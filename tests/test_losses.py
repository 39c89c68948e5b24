from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import OptionError, RatingsError
from evenhand.losses import (
    FEW,
    LOSSES,
    footrule,
    inversions,
    kendall_tau,
    loss,
    top_k_overlap,
    zero_one,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.claims import Label
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


@given(st.lists(st.integers(0, 30), max_size=120))
def test_inversions_are_counted_as_by_two_loops(values: list[int]) -> None:
    expected = sum(a > b for a, b in itertools.combinations(values, 2))
    assert inversions(np.array(values, dtype=np.int64)) == expected


@given(st.integers(1, 2**20), st.integers(0, 2**32))
def test_inversions_of_many_values_are_counted_as_one_by_one(
    largest: int, seed: int
) -> None:
    values = np.random.default_rng(seed).integers(0, largest, FEW + 50)
    expected = sum(a > b for a, b in itertools.combinations(values.tolist(), 2))
    assert inversions(values) == expected


def test_kendall_beyond_a_million_items_is_exact() -> None:
    size = 1_100_000
    worst = np.arange(size)[::-1]
    assert inversions(worst) == size * (size - 1) // 2
    swapped = np.arange(size)
    swapped[[0, -1]] = swapped[[-1, 0]]
    assert inversions(swapped) == 2 * size - 3


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
