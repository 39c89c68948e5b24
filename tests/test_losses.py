"""Losses against their definitions."""

import itertools
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import losses
from evenhand._kernels.losses import inversions
from evenhand.errors import OptionError, RatingsError

orders = st.integers(0, 9).flatmap(
    lambda n: st.tuples(st.permutations(range(n)), st.permutations(range(n)))
)
rank_maps = st.integers(1, 8).flatmap(
    lambda n: st.tuples(
        *[
            st.fixed_dictionaries({item: st.integers(1, 4) for item in range(n)})
            for _ in range(2)
        ]
    )
)


def kendall_by_definition(true: Mapping[int, float], guess: Mapping[int, float]) -> int:
    return sum(
        true[a] < true[b] and guess[a] > guess[b]
        for a, b in itertools.permutations(true, 2)
    )


@given(rank_maps)
def test_kendall_tau_is_the_papers_sum_ties_not_counted(
    maps: tuple[dict[int, int], dict[int, int]],
) -> None:
    true, guess = maps
    assert losses.kendall_tau(true, guess) == kendall_by_definition(true, guess)


@given(orders)
def test_orders_and_rank_maps_agree(both: tuple[list[int], list[int]]) -> None:
    true, guess = both
    maps = [{item: order.index(item) + 1 for item in order} for order in both]
    for loss in (losses.kendall_tau, losses.footrule, losses.zero_one):
        assert loss(true, guess) == loss(*maps)
        assert loss(true, guess) == loss(guess, true)
        assert loss(np.array(true), np.array(guess)) == loss(true, guess)


@given(orders)
def test_footrule_and_zero_one_are_their_definitions(
    both: tuple[list[int], list[int]],
) -> None:
    true, guess = both
    away = sum(abs(true.index(item) - guess.index(item)) for item in true)
    assert losses.footrule(true, guess) == away
    assert losses.zero_one(true, guess) == (true != guess)
    # Diaconis and Graham (1977): the footrule is between one and two Kendall taus.
    tau = losses.kendall_tau(true, guess)
    assert tau <= away <= 2 * tau


def test_hand_counted_cases() -> None:
    assert losses.kendall_tau("abcd", "dcba") == 6
    assert losses.kendall_tau("abcd", "abdc") == 1
    assert losses.footrule("abcd", "dcba") == 8
    assert losses.footrule({"a": 1, "b": 2.5, "c": 2.5}, "abc") == 1
    assert losses.kendall_tau({"a": 1, "b": 1, "c": 2}, "cba") == 2
    assert losses.top_k_overlap("abcd", "bacd", k=2) == 0
    assert losses.top_k_overlap("abcd", "cdab", k=2) == 1
    assert losses.top_k_overlap("abcd", "cabd", k=3) == 0
    assert losses.top_k_overlap("abc", "bca", k=1) == 1


@given(st.lists(st.integers(0, 11), max_size=12))
def test_the_kernel_counts_inversions_as_its_twin(ranks: list[int]) -> None:
    dense = [sorted(set(ranks)).index(rank) for rank in ranks]
    plain = sum(a > b for a, b in itertools.combinations(dense, 2))
    assert inversions(np.array(dense, dtype=np.int64)) == plain


def test_a_long_reversed_ranking_is_all_wrong() -> None:
    n = 100_000
    assert losses.kendall_tau(range(n), range(n)[::-1]) == n * (n - 1) // 2


def test_losses_have_names() -> None:
    assert losses.loss("kendall") is losses.kendall_tau
    with pytest.raises(OptionError, match="did you mean 'kendall'"):
        losses.loss("kendal")


@pytest.mark.parametrize(
    ("true", "guess", "message"),
    [
        ("abc", "ab", "got 'c' in truth only"),
        ("ab", "abc", "got 'c' in estimate only"),
        ("aba", "ab", "truth must rank each item once, got 'a' twice"),
        ({"a": float("nan")}, "a", "finite ranks, got nan for 'a'"),
    ],
)
def test_bad_rankings_are_named(
    true: losses.Order, guess: losses.Order, message: str
) -> None:
    with pytest.raises(RatingsError, match=message):
        losses.kendall_tau(true, guess)


def test_top_k_refuses_ties_and_sizes() -> None:
    with pytest.raises(OptionError, match="k must be from 1 to 2, got 3"):
        losses.top_k_overlap("ab", "ba", k=3)
    with pytest.raises(RatingsError, match="top 1 must be 1 items, got 2"):
        losses.top_k_overlap({"a": 1, "b": 1}, "ab", k=1)
