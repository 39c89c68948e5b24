"""Samples of Kendall tau against flipping the order and counting anew."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenhand._kernels.simulation import coin_losses
from evenhand._randomness import stream, uniforms
from evenhand.ab.weights import rational
from evenhand.lab import _coin_samples
from evenhand.lab._coin_samples import flipped_losses, kendall_samples
from evenhand.lab._losses import average_losses, loss
from evenhand.losses import kendall_tau
from evenhand.posets import comparisons, topological_order
from evenhand.ranking.flips import Coin, flip_neighbours
from evenhand.ratings import Ratings
from tests.strategies import consistent_ratings

Codes = NDArray[np.int64]


def neighbours(order: list[int], coins: int) -> Codes:
    """Return the first and second item, the third and fourth, and so on."""
    return np.array(order[: 2 * coins], dtype=np.int64).reshape(-1, 2)


@given(
    st.permutations(range(9)),
    st.permutations(range(9)),
    st.lists(st.sampled_from([0.0, 2.0**-53, 0.1, 0.25, 0.5, 1.0]), max_size=4),
    st.integers(0, 2**32),
)
def test_samples_are_those_of_orders_that_are_flipped_and_counted(
    order: list[int], best_first: list[int], chances: list[float], seed: int
) -> None:
    items = neighbours(order, len(chances))
    found = flipped_losses(
        np.array(order),
        items,
        np.array(chances),
        np.argsort(best_first).astype(np.int64),
        5,
        stream(seed, "coins"),
    )
    units = uniforms(stream(seed, "coins"), (5, len(chances))).tolist()
    for sample, row in zip(found.tolist(), units, strict=True):
        after = list(order)
        for place, (chance, unit) in enumerate(zip(chances, row, strict=True)):
            if unit >= chance:
                after[2 * place : 2 * place + 2] = items[place, ::-1].tolist()
        assert sample == kendall_tau(best_first, after)


@given(consistent_ratings(max_items=6), st.integers(0, 2**32))
def test_whole_samples_are_those_of_the_rankings_themselves(
    ratings: Ratings, seed: int
) -> None:
    truth = np.random.default_rng(seed).permutation(ratings.n_items)
    sources = stream(seed, "flips"), stream(seed, "coins")
    found = kendall_samples(ratings, truth, rational(), 4, sources)
    order = topological_order(comparisons(ratings))
    _, coins = flip_neighbours(ratings, order, rational(), stream(seed, "flips"))
    units = uniforms(stream(seed, "coins"), (4, len(coins)))
    for sample, row in zip(found.tolist(), units.tolist(), strict=True):
        after = order.copy()
        for coin, unit in zip(coins, row, strict=True):
            if unit >= coin.p_first:
                after[np.isin(order, coin.items)] = coin.items[::-1]
        assert sample == kendall_tau(np.argsort(truth).tolist(), after.tolist())


def test_samples_average_to_the_expected_loss() -> None:
    # Five standard errors: a correct build fails for one seed in 1.7 million.
    order = np.random.default_rng(5).permutation(30)
    items, chances = neighbours(order.tolist(), 15), np.linspace(0.05, 0.95, 15)
    coins = [
        Coin((one, other), 0.0, chance, kept=True, reviewers=(0, 1))
        for (one, other), chance in zip(items.tolist(), chances.tolist(), strict=True)
    ]
    truth = np.arange(30)
    source = stream(7, "coins")
    samples = flipped_losses(order, items, chances, truth, 20_000, source)
    expected = average_losses(order, coins, truth, [loss("kendall", 30)])[0]
    error = samples.std() / math.sqrt(len(samples))
    assert error > 0
    assert abs(samples.mean() - expected) < 5 * error


def test_room_does_not_change_the_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    order, items = np.arange(8), np.arange(8).reshape(4, 2)

    def samples() -> Codes:
        source = stream(7, "coins")
        return flipped_losses(order, items, np.full(4, 0.5), order, 50, source)

    whole = samples()
    monkeypatch.setattr(_coin_samples, "CELLS", 9)
    np.testing.assert_array_equal(whole, samples())


def test_a_ranking_without_coins_has_one_loss() -> None:
    nothing = np.empty(0, dtype=np.int64)
    found = coin_losses(3, nothing, nothing, np.empty((2, 0), dtype=np.uint64))
    assert found.tolist() == [3, 3]
