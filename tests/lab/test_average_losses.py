"""Losses averaged over coins: the kernel against flipping every coin both ways."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand import losses
from evenhand.errors import OptionError
from evenhand.lab._losses import average_losses, loss
from evenhand.ranking.flips import Coin

Case = tuple[list[int], list[int], list[tuple[int, int]], list[float]]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    n = draw(st.integers(2, 6))
    order = draw(st.permutations(range(n)))
    truth = draw(st.permutations(range(n)))
    shuffled = draw(st.permutations(range(n)))
    n_pairs = draw(st.integers(0, n // 2))
    pairs = []
    for number in range(n_pairs):
        pair = shuffled[2 * number : 2 * number + 2]
        one, other = sorted(pair, key=order.index)
        pairs.append((one, other))
    chances = [draw(st.floats(0, 1)) for _ in pairs]
    return order, truth, pairs, chances


def flipped(case: Case, names: list[str]) -> list[float]:
    """Flip every coin both ways, and average the losses of what comes out."""
    order, truth, pairs, chances = case
    totals = [0.0] * len(names)
    for kept in itertools.product([True, False], repeat=len(pairs)):
        after = list(order)
        mass = 1.0
        for (one, other), keep, p in zip(pairs, kept, chances, strict=True):
            mass *= p if keep else 1 - p
            if not keep:
                i, j = order.index(one), order.index(other)
                after[i], after[j] = other, one
        for place, name in enumerate(names):
            totals[place] += mass * losses.loss(name)(truth, after)
    return totals


@given(cases())
@settings(max_examples=150)
def test_averages_are_those_of_flipping_every_coin_both_ways(case: Case) -> None:
    order, truth, pairs, chances = case
    names = ["zero-one", "kendall", "footrule", "top-1", f"top-{len(order)}", "top-2"]
    places = np.argsort(np.array(truth)).astype(np.int64)
    coins = [
        Coin(pair, 0.0, p, kept=True, reviewers=(0, 1))
        for pair, p in zip(pairs, chances, strict=True)
    ]
    found = average_losses(
        np.array(order, dtype=np.int64),
        coins,
        places,
        [loss(name, len(order)) for name in names],
    )
    assert found == pytest.approx(flipped(case, names), abs=1e-12)


@pytest.mark.parametrize("name", ["zero-one", "kendall", "footrule", "top-1", "top-2"])
def test_two_items_in_the_wrong_order_lose_what_the_losses_say(name: str) -> None:
    assert loss(name, 2).of_two() == losses.loss(name)(["a", "b"], ["b", "a"])


def test_every_loss_can_be_averaged() -> None:
    assert [loss(name, 2).name for name in losses.LOSSES] == list(losses.LOSSES)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("kendal", "'kendal', did you mean 'kendall'?"),
        ("top-0", "'top-0'"),
        ("top-5", "loss must be at most 'top-4' for 4 items, got 'top-5'."),
        (3, "loss must be a name, got 3."),
    ],
)
def test_unknown_losses_are_refused(name: str, words: str) -> None:
    with pytest.raises(OptionError) as refusal:
        loss(name, 4)
    assert words in str(refusal.value)
