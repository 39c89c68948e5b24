"""Samples of Kendall tau against flipping the order and counting anew."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand._kernels.simulation import coin_losses
from evenhand._randomness import stream, uniforms
from evenhand.lab import _coin_samples
from evenhand.lab._coin_samples import kendall_samples
from evenhand.lab._losses import average_losses, loss
from evenhand.losses import kendall_tau
from evenhand.ranking.flips import Coin


def coins_on(order: list[int], chances: list[float]) -> list[Coin]:
    """Coins on the first and second item, the third and fourth, and so on."""
    pairs = zip(order[::2], order[1::2], strict=False)
    return [
        Coin(pair, 0.0, chance, kept=True, reviewers=(0, 1))
        for pair, chance in zip(pairs, chances, strict=False)
    ]


@given(
    st.permutations(range(9)),
    st.permutations(range(9)),
    st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), max_size=4),
    st.integers(0, 2**32),
)
def test_samples_are_those_of_orders_that_are_flipped_and_counted(
    order: list[int], best_first: list[int], chances: list[float], seed: int
) -> None:
    coins = coins_on(order, chances)
    truth = np.argsort(best_first).astype(np.int64)
    found = kendall_samples(
        np.array(order), coins, truth, 5, stream(seed, "coins")
    ).tolist()
    units = uniforms(stream(seed, "coins"), (5, len(coins))).tolist()
    for sample, row in zip(found, units, strict=True):
        after = list(order)
        for place, (coin, unit) in enumerate(zip(coins, row, strict=True)):
            if unit >= coin.p_first:
                after[2 * place : 2 * place + 2] = coin.items[::-1]
        assert sample == kendall_tau(best_first, after)


def test_samples_average_to_the_expected_loss() -> None:
    # Five standard errors: a correct build fails for one seed in 1.7 million.
    order = np.random.default_rng(5).permutation(30)
    coins = coins_on(order.tolist(), np.linspace(0.05, 0.95, 15).tolist())
    truth = np.arange(30)
    samples = kendall_samples(order, coins, truth, 20_000, stream(7, "coins"))
    expected = average_losses(order, coins, truth, [loss("kendall", 30)])[0]
    error = samples.std() / math.sqrt(len(samples))
    assert error > 0
    assert abs(samples.mean() - expected) < 5 * error


def test_room_does_not_change_the_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    order = np.arange(8)
    coins = coins_on(order.tolist(), [0.5] * 4)
    whole = kendall_samples(order, coins, order, 50, stream(7, "coins"))
    monkeypatch.setattr(_coin_samples, "CELLS", 9)
    parts = kendall_samples(order, coins, order, 50, stream(7, "coins"))
    np.testing.assert_array_equal(whole, parts)


def test_a_ranking_without_coins_has_one_loss() -> None:
    found = coin_losses(3, np.empty(0, int), np.empty(0), np.empty((2, 0)))
    assert found.tolist() == [3, 3]
