from __future__ import annotations

import itertools
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
    kendall_tau,
    loss,
    top_k_overlap,
    zero_one,
)

if TYPE_CHECKING:
    from evenhand.claims import Label
    from evenhand.losses import Ranking

orders = st.integers(0, 9).flatmap(
    lambda n: st.tuples(st.permutations(range(n)), st.permutations(range(n)))
)


@given(orders)
def test_losses_are_as_defined(pair: tuple[list[int], list[int]]) -> None:
    truth, estimate = pair
    pairs = itertools.combinations(truth, 2)
    kendall = sum(estimate.index(one) > estimate.index(two) for one, two in pairs)
    assert kendall_tau(truth, estimate) == loss("kendall")(*pair) == kendall
    assert kendall_tau(np.array(truth, int), np.array(estimate, int)) == kendall
    labels = ([f"x{code}" for code in order] for order in pair)
    assert kendall_tau(*labels) == kendall
    moves = sum(abs(truth.index(item) - estimate.index(item)) for item in truth)
    assert footrule(truth, estimate) == loss("footrule")(*pair) == moves
    # Diaconis and Graham (1977).
    assert kendall <= moves <= 2 * kendall
    assert zero_one(*pair) == loss("zero-one")(*pair) == int(truth != estimate)
    assert list(LOSSES) == ["zero-one", "kendall", "footrule", "top-1"]
    for k in range(1, len(truth) + 1):
        missing = len(set(truth[:k]) - set(estimate[:k]))
        assert top_k_overlap(truth, estimate, k=k) == loss(f"top-{k}")(*pair) == missing


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.uint64])
def test_kendall_takes_orders_of_any_integers(dtype: type[np.integer]) -> None:
    truth, estimate = np.array([2, 0, 1], dtype=dtype), np.array([0, 9, 1, 9, 2, 9])
    estimate.flags.writeable = False
    assert kendall_tau(truth, estimate[::2]) == 2
    huge = np.array([2**63, 0], dtype=np.uint64)
    assert kendall_tau(huge, huge[::-1]) == 1


def test_kendall_of_many_items_is_exact() -> None:
    source = np.random.default_rng(3)
    for size in (FEW + 1, FEW + 50):
        order = source.permutation(size)
        pairs = itertools.combinations(order.tolist(), 2)
        expected = sum(one > two for one, two in pairs)
        assert kendall_tau(np.arange(size), order) == expected
    size = 1_100_000
    identity = np.arange(size)
    assert kendall_tau(identity, identity[::-1]) == size * (size - 1) // 2
    assert kendall_tau(identity, np.roll(identity, 1)) == size - 1


@pytest.mark.parametrize("name", ["kendal", "top-0", "top-", "top-k", ""])
def test_unknown_losses_are_refused(name: str) -> None:
    with pytest.raises(OptionError, match=f"unknown loss function '{name}'"):
        loss(name)


@pytest.mark.parametrize(
    ("truth", "estimate", "message"),
    [
        (["a", "b"], ["a"], "the same items, got 'b' in one of them only"),
        (["a"], ["a", "b"], "the same items, got 'b' in one of them only"),
        (["a", "a"], ["a", "b"], "truth must be a sequence of different items"),
        (["a", "b"], ["b", "b"], "estimate must be a sequence of different items"),
        ("ab", ["a", "b"], "truth must be a sequence of different items"),
        ([["a"]], ["a"], r"truth must be a sequence of different items, got \[\['a'"),
        (np.array([0, 1]), np.array([0, 0]), "estimate must be a sequence of"),
        (np.array([0, 1]), np.array([0]), "got 1 in one of them only"),
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
    with pytest.raises(OptionError, match="from 1 to 2, the number of items, got"):
        top_k_overlap(["a", "b"], ["a", "b"], k=k)


def test_labels_of_any_kind_are_matched_by_value() -> None:
    truth: list[Label] = ["a", 3, "c"]
    estimate: list[Label] = [3, "a", "c"]
    assert kendall_tau(truth, estimate) == 1
    assert kendall_tau(np.array([7, 5]), [5, 7]) == 1
