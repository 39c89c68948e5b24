"""Pairings, choices and coins drawn from counts: exact laws, and any size."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from evenhand.ab.law import (
    LISTED,
    draw_coins,
    draw_pairing,
    sample_subsets,
    sample_tables,
)
from evenhand.randomness import stream

DRAWS = 4000
# Hoeffding: no one of 20 shares of 4,000 draws is this far off, but once in a million.
FAR = math.sqrt(math.log(2 * 20 * 1e6) / (2 * DRAWS))


def pairings(first: list[int], second: list[int]) -> Counter[tuple[int, ...]]:
    """The law of the table of a random pairing, by going through all of them."""
    one = [level for level, count in enumerate(first) for _ in range(count)]
    two = [level for level, count in enumerate(second) for _ in range(count)]
    found: Counter[tuple[int, ...]] = Counter()
    for order in itertools.permutations(two, len(one)):
        table = np.zeros((len(first), len(second)), np.int64)
        np.add.at(table, (one, list(order)), 1)
        found[tuple(table.ravel().tolist())] += 1
    return found


def test_pairings_have_the_law_of_all_permutations() -> None:
    first, second = [1, 2, 1], [3, 2]
    law = pairings(first, second)
    total = sum(law.values())
    source = stream(2019, "pairing")
    drawn: Counter[tuple[int, ...]] = Counter()
    for _ in range(DRAWS):
        one, two, counts = draw_pairing(np.array(first), np.array(second), source)
        table = np.zeros((3, 2), np.int64)
        table[one, two] = counts
        drawn[tuple(table.ravel().tolist())] += 1
    tables = sample_tables(
        np.array(first), np.array(second), DRAWS, np.random.default_rng(1)
    )
    counts = tables.astype(np.int64).reshape(DRAWS, 6)
    sampled = Counter(tuple(row) for row in counts.tolist())
    for found in (drawn, sampled):
        assert set(found) <= set(law)
        for table_, ways in law.items():
            assert abs(found[table_] / DRAWS - ways / total) < FAR


def test_crowds_are_paired_by_levels_and_follow_their_means() -> None:
    """Within six standard deviations, which fails for one seed in a hundred million."""
    first, second = np.array([3, 1, 6]) * 10**8, np.array([5, 15]) * 10**8
    one, two, counts = draw_pairing(first, second, stream(1, "pairing"))
    assert counts.sum() == 10**9
    for level, wanted in enumerate(first.tolist()):
        assert counts[one == level].sum() == wanted
    spread = 6 * math.sqrt(10**9)
    means = first[one] * (second / second.sum())[two]
    assert (np.abs(counts - means) < spread).all()


@pytest.mark.parametrize("times", [1, LISTED])
def test_coins_are_binomial(times: int) -> None:
    """Of both ways to toss them; FAR as above, or six standard deviations."""
    for chance in (0.3, 0.5, 1 / 3):
        tosses = np.array([5 * times])
        source = stream(2019, "votes")
        if times > 1:
            won = draw_coins(tosses, np.array([chance]), source)
            assert abs(won - tosses[0] * chance) < 3 * math.sqrt(tosses[0])
            continue
        drawn = Counter(
            draw_coins(tosses, np.array([chance]), source) for _ in range(DRAWS)
        )
        for number in range(6):
            wanted = (
                math.comb(5, number) * chance**number * (1 - chance) ** (5 - number)
            )
            assert abs(drawn[number] / DRAWS - wanted) < FAR


def test_choices_of_thousands_of_millions_are_near_their_mean() -> None:
    """Within six standard deviations, which fails for one seed in a hundred million."""
    pool = np.array([3, 1, 6]) * 10**8
    wanted = 4 * 10**8
    spread = 6 * math.sqrt(wanted)
    many = sample_subsets(2 * pool, 2 * wanted, 3, np.random.default_rng(1))
    assert (many.sum(axis=1) == 2 * wanted).all()
    assert (np.abs(many - 0.8 * pool) < 2 * spread).all()
