from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from evenhand.errors import OptionError
from evenhand.randomness import (
    SEED_BITS,
    RNGLike,
    Stream,
    below,
    is_below,
    permutation,
    seed_from,
    standard_normal,
    stream,
    uniforms,
)

# Changing any of these numbers changes every result that was ever published.
GOLDEN_WORDS = [17899991837346860294, 18401069070545957195, 6897231171091563603]


class Scripted:
    """A stream that gives the words it was told to."""

    def __init__(self, words: list[int]) -> None:
        self.words = words

    def random_raw(self, size: int | None = None) -> object:
        if size is None:
            return self.words.pop(0)
        taken, self.words = self.words[:size], self.words[size:]
        return np.array(taken, dtype=np.uint64)


def scripted(*words: int) -> Stream:
    return cast("Stream", Scripted(list(words)))


def test_a_seed_and_a_purpose_give_the_words_that_they_always_gave() -> None:
    assert stream(7, "pairing").random_raw(3).tolist() == GOLDEN_WORDS


def test_what_is_made_of_the_words_is_what_it_always_was() -> None:
    assert below(stream(7, "pairing"), 10**30) == 473974117004640740802910063903
    assert permutation(stream(7, "pairing"), 6).tolist() == [5, 2, 3, 4, 0, 1]
    expected = [word // 2**11 / 2**53 for word in GOLDEN_WORDS]
    assert uniforms(stream(7, "pairing"), 3).tolist() == expected


def test_every_purpose_and_every_seed_has_a_stream_of_its_own() -> None:
    purposes = ["pairing", "pairing ", "coins", "Coins", "", "é"]
    seeds = [0, 1, 7, 2**32, 2**53 - 1, 2**256 - 1]
    words = {int(stream(s, p).random_raw()) for s in seeds for p in purposes}
    assert len(words) == len(seeds) * len(purposes)


def test_draws_for_one_purpose_do_not_shift_another() -> None:
    before = stream(7, "coins")
    other = stream(7, "pairing")
    other.random_raw(1000)
    assert stream(7, "coins").random_raw(5).tolist() == before.random_raw(5).tolist()


def test_streams_of_two_purposes_are_uncorrelated() -> None:
    # A mean of n products has standard deviation 1/(12 sqrt(n)); five of them are
    # exceeded for one seed in 1.7 million.
    n = 100_000
    first = uniforms(stream(7, "coins"), n) - 0.5
    second = uniforms(stream(7, "pairing"), n) - 0.5
    assert abs((first * second).mean()) < 5 / (12 * math.sqrt(n))


@pytest.mark.parametrize("bound", range(1, 34))
def test_below_takes_every_value_from_equally_many_words(bound: int) -> None:
    bits = (bound - 1).bit_length()
    # Only the leading bits of a word count, so one word for each settles all of them.
    results: Counter[int] = Counter()
    for lead in range(2**bits):
        word = lead << (64 - bits) if bits else 0
        rejected = lead >= bound
        value = below(scripted(word, 0), bound)
        if rejected:
            assert value == 0
        else:
            results[value] += 1
    assert results == Counter(dict.fromkeys(range(bound), 1))


def test_below_reaches_both_ends_of_a_bound_of_several_words() -> None:
    assert below(scripted(0, 0), 2**64 + 1) == 0
    assert below(scripted(2**63, 0), 2**64 + 1) == 2**64
    # 2**64 + 1 is out of range, so the words after it are taken.
    assert below(scripted(2**63, 2**63, 1, 2**63), 2**64 + 1) == 3


@given(st.integers(1, 2**200), st.integers(0, 2**64))
def test_below_stays_below(bound: int, seed: int) -> None:
    assert 0 <= below(stream(seed, "choice"), bound) < bound


def test_permutations_are_uniform() -> None:
    # The 1e-6 point of chi-square: one seed in a million fails.
    source = stream(7, "pairing")
    n, kinds = 24_000, 24
    counts = Counter(tuple(permutation(source, 4).tolist()) for _ in range(n))
    assert len(counts) == kinds
    expected = n / kinds
    statistic = sum((count - expected) ** 2 / expected for count in counts.values())
    assert statistic < chi2.isf(1e-6, kinds - 1)


def test_a_permutation_is_the_order_of_its_words() -> None:
    assert permutation(scripted(5, 3, 9), 3).tolist() == [1, 0, 2]


def test_a_permutation_draws_again_when_two_words_are_equal() -> None:
    assert permutation(scripted(5, 5, 9, 3, 2, 1), 3).tolist() == [2, 1, 0]


@pytest.mark.parametrize("size", [0, 1, 2, 100])
def test_a_permutation_holds_each_index_once(size: int) -> None:
    assert sorted(permutation(stream(7, "p"), size).tolist()) == list(range(size))


def test_uniforms_fill_a_shape_in_the_order_of_the_stream() -> None:
    flat = uniforms(stream(7, "coins"), 6)
    assert uniforms(stream(7, "coins"), (2, 3)).tolist() == flat.reshape(2, 3).tolist()
    assert uniforms(stream(7, "coins"), 0).shape == (0,)


def test_uniforms_lie_on_the_grid_from_zero_to_just_below_one() -> None:
    lowest, highest = uniforms(scripted(0, 2**64 - 1), 2).tolist()
    assert lowest == 0
    assert Fraction(highest) == 1 - Fraction(1, 2**SEED_BITS)


@pytest.mark.parametrize("seed", [0, 7, np.int64(7), np.uint8(7), 2**300])
def test_an_integer_is_its_own_seed(seed: int) -> None:
    assert seed_from(seed) == seed
    assert type(seed_from(seed)) is int


def test_a_seed_sequence_gives_the_same_seed_each_time() -> None:
    sequence = np.random.SeedSequence(7)
    assert seed_from(sequence) == seed_from(sequence) == 8261862981338701
    assert seed_from(np.random.SeedSequence(8)) != seed_from(sequence)


def test_a_generator_gives_one_seed_after_another() -> None:
    generator = np.random.default_rng(7)
    first, second = seed_from(generator), seed_from(generator)
    assert first == seed_from(np.random.default_rng(7))
    assert first != second
    assert max(first, second) < 2**SEED_BITS


def test_without_anything_each_seed_is_fresh() -> None:
    seeds = {seed_from(None) for _ in range(10)}
    assert len(seeds) == 10
    assert all(0 <= seed < 2**SEED_BITS for seed in seeds)


@pytest.mark.parametrize(
    "wrong", [-1, np.int64(-1), True, False, 1.0, "7", [7], np.float64(7), b"7"]
)
def test_anything_else_is_refused_in_words(wrong: object) -> None:
    with pytest.raises(OptionError, match=r"^rng must be a Generator, .*, got .*\.$"):
        seed_from(cast("RNGLike", wrong))


def test_an_integer_below_nothing_is_refused() -> None:
    with pytest.raises(OptionError, match="bound must be at least 1, got 0"):
        below(stream(7, "choice"), 0)


def test_normal_numbers_are_finite_and_ordered() -> None:
    ends = standard_normal(np.array([0.0, 2.0**-53, 0.5, 1 - 2.0**-53]))
    assert np.isfinite(ends).all()
    assert (np.diff(ends) > 0).all()


@pytest.mark.parametrize("word", [0, 1, 2**63 - 1, 2**63, 2**64 - 1])
@pytest.mark.parametrize("unit", [0, 1, 2**52, 2**53 - 1])
def test_a_coin_whose_first_bits_do_not_decide_is_decided_by_the_next(
    unit: int, word: int
) -> None:
    """The chance is in the same cell of 2**-53, in its middle."""
    chance = Fraction(2 * unit + 1, 2**54)
    assert is_below(unit / 2**53, chance, scripted(word)) is (word < 2**63)


def test_bits_are_drawn_only_as_far_as_they_matter() -> None:
    none = scripted()
    assert is_below(0.5, Fraction(3, 4), none)
    assert not is_below(0.5, Fraction(1, 2), none)
    assert is_below(1 - 2.0**-53, Fraction(1), none)
    tiny = Fraction(1, 2**117)
    assert not is_below(0.0, tiny, scripted(1))
    assert is_below(0.0, tiny, scripted(0))
