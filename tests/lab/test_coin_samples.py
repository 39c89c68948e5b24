"""Samples of Kendall tau against flipping the order and counting anew."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenhand._kernels.simulation import coin_losses
from evenhand._randomness import Stream, stream
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


def flipped(chances: list[float], samples: int, source: Stream) -> list[list[bool]]:
    """Flip coins for each sample, one bit of a uniform after the other."""
    flips: list[list[bool]] = []
    while len(flips) < samples:
        coins = [flip_64(Fraction(chance), source) for chance in chances]
        flips += [[coin[lane] for coin in coins] for lane in range(64)]
    return flips[:samples]


def flip_64(chance: Fraction, source: Stream) -> list[bool]:
    """Say which of 64 uniforms are at least a chance."""
    low, high = [Fraction(0)] * 64, [Fraction(1)] * 64
    while any(a < chance < b for a, b in zip(low, high, strict=True)):
        word = int(source.random_raw())
        for lane in range(64):
            if low[lane] < chance < high[lane]:
                middle = (low[lane] + high[lane]) / 2
                side = low if word >> lane & 1 else high
                side[lane] = middle
    return [a >= chance for a in low]


def counted(
    order: list[int], pairs: list[list[int]], flips: list[bool], best_first: list[int]
) -> float:
    after = list(order)
    for (one, other), turned in zip(pairs, flips, strict=True):
        if turned:
            place = order.index(one)
            after[place : place + 2] = [other, one]
    return kendall_tau(best_first, after)


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
        67,
        stream(seed, "coins"),
    )
    flips = flipped(chances, 67, stream(seed, "coins"))
    assert found.tolist() == [
        counted(order, items.tolist(), row, best_first) for row in flips
    ]


@given(consistent_ratings(max_items=6), st.integers(0, 2**32))
def test_whole_samples_are_those_of_the_rankings_themselves(
    ratings: Ratings, seed: int
) -> None:
    truth = np.random.default_rng(seed).permutation(ratings.n_items)
    sources = stream(seed, "flips"), stream(seed, "coins")
    found = kendall_samples(ratings, truth, rational(), 4, sources)
    order = topological_order(comparisons(ratings))
    _, coins = flip_neighbours(ratings, order, rational(), stream(seed, "flips"))
    flips = flipped([coin.p_first for coin in coins], 4, stream(seed, "coins"))
    pairs, best_first = [list(coin.items) for coin in coins], np.argsort(truth).tolist()
    assert found.tolist() == [
        counted(order.tolist(), pairs, row, best_first) for row in flips
    ]


@pytest.mark.parametrize("eighths", range(9))
def test_every_uniform_of_three_bits_falls_on_its_side(eighths: int) -> None:
    # Lane u has the bits of u, so all uniforms come eight times among 64.
    uniforms = [lane % 8 for lane in range(64)]
    words = [
        sum((u >> bit & 1) << lane for lane, u in enumerate(uniforms))
        for bit in (2, 1, 0)
    ]
    found = np.empty(64, dtype=np.int64)
    one, kept = np.ones(1, dtype=np.int64), np.array([eighths << 50])
    drawn = np.array(words + [0] * 50, dtype=np.uint64)
    samples, used = coin_losses(0, one, kept, drawn, found)
    assert found.tolist() == [u >= eighths for u in uniforms]
    # As many bits as the chance has: none of 0 and 1, one of a half, two of quarters.
    assert (samples, used) == (64, (0, 3, 2, 3, 1, 3, 2, 3, 0)[eighths])


def test_samples_take_far_fewer_words_than_coins() -> None:
    coins = 40
    kept = np.random.default_rng(7).integers(0, 2**53, coins)
    words, found = stream(7, "coins").random_raw(20_000), np.empty(640, dtype=np.int64)
    samples, used = coin_losses(0, np.ones(coins, dtype=np.int64), kept, words, found)
    assert samples == 640
    assert used < coins * 640 / 7


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
    found, words = np.empty(2, dtype=np.int64), np.empty(0, dtype=np.uint64)
    assert coin_losses(3, nothing, nothing, words, found) == (2, 0)
    assert found.tolist() == [3, 3]
