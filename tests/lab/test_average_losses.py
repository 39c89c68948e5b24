"""Losses averaged over coins: the kernel against flipping every coin both ways."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand import losses
from evenhand.errors import OptionError
from evenhand.lab._losses import Arranged, Group, Questioned, average_losses, loss
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


@st.composite
def groups(draw: st.DrawFn) -> tuple[list[int], list[int], int, list[float]]:
    """An ordering, a true one, where a group of three starts, and its law."""
    n = draw(st.integers(5, 7))
    order = draw(st.permutations(range(n)))
    truth = draw(st.permutations(range(n)))
    start = draw(st.integers(0, n - 3))
    weights = draw(st.lists(st.integers(1, 9), min_size=6, max_size=6))
    return order, truth, start, [weight / sum(weights) for weight in weights]


@given(groups(), st.floats(0, 1))
@settings(max_examples=80)
def test_kendall_of_a_group_is_that_of_every_way_to_order_it(
    case: tuple[list[int], list[int], int, list[float]], p: float
) -> None:
    order, truth, start, law = case
    tied = order[start : start + 3]
    pair = [item for item in order if item not in tied][:2]
    ways = list(itertools.permutations(tied))
    first = [
        [
            sum(q for way, q in zip(ways, law, strict=True) if _before(way, a, b))
            for b in tied
        ]
        for a in tied
    ]
    names = ["kendall", "zero-one", "footrule", "top-2"]
    found = Arranged(
        np.array(order, dtype=np.int64),
        [Coin((pair[0], pair[1]), 0.0, p, kept=True, reviewers=())],
        [Group(tuple(tied), first)],
    ).average(
        np.argsort(np.array(truth)).astype(np.int64),
        [loss(name, len(order)) for name in names],
    )
    plain = flipped((order, truth, [(pair[0], pair[1])], [p]), names)
    expected = 0.0
    for way, q in zip(ways, law, strict=True):
        after = [*order[:start], *way, *order[start + 3 :]]
        expected += q * flipped((after, truth, [(pair[0], pair[1])], [p]), names)[0]
    # Other losses are those of the ordering that was drawn.
    assert found == pytest.approx([expected, *plain[1:]], abs=1e-12)


def _before(way: Sequence[int], a: int, b: int) -> bool:
    return way.index(a) < way.index(b)


def test_questions_are_followed_for_zero_one_and_drawn_for_the_rest() -> None:
    asked = []

    def right(truth: np.ndarray) -> float:
        asked.append("right")
        return 0.25 if truth.tolist() == [1, 0, 2] else 0.0

    def drawn() -> np.ndarray:
        asked.append("drawn")
        return np.array([2, 1, 0])

    found = Questioned(right, drawn)
    truth = np.array([1, 0, 2])
    zero_one, kendall = loss("zero-one", 3), loss("kendall", 3)
    assert found.average(truth, [zero_one]) == [0.75]
    assert asked == ["right"]
    assert found.average(truth, [kendall]) == [2.0]
    assert asked == ["right", "drawn"]
    assert found.average(truth, [kendall, zero_one]) == [2.0, 0.75]


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
