"""Pairings, choices and coins drawn from counts: exact laws, and any size."""

import itertools
import math
from collections import Counter

import numpy as np

from evenhand._randomness import stream
from evenhand.ab.pairings import (
    draw_coins,
    draw_pairing,
    draw_subsets,
    sample_subsets,
    sample_tables,
)

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
        pairing = draw_pairing(np.array(first), np.array(second), source)
        table = np.zeros((3, 2), np.int64)
        table[pairing.first, pairing.second] = pairing.counts
        drawn[tuple(table.ravel().tolist())] += 1
    tables = sample_tables(
        np.array(first), np.array(second), DRAWS, np.random.default_rng(1)
    )
    counts = tables.astype(np.int64).reshape(DRAWS, 6)
    sampled = Counter(tuple(row) for row in counts.tolist())
    rng = np.random.default_rng(2)
    single: Counter[tuple[int, ...]] = Counter()
    for _ in range(DRAWS):
        row = sample_tables(np.array(first), np.array(second), 1, rng).astype(int)
        single[tuple(row.ravel().tolist())] += 1
    for found in (drawn, sampled, single):
        assert set(found) <= set(law)
        for table_, ways in law.items():
            assert abs(found[table_] / DRAWS - ways / total) < FAR


def test_coins_are_binomial() -> None:
    for chance in (0.3, 0.5, 1 / 3):
        tosses = np.full(DRAWS, 5)
        won = draw_coins(tosses, np.full(DRAWS, chance), stream(2019, "votes"))
        for number, count in enumerate(np.bincount(won, minlength=6).tolist()):
            wanted = (
                math.comb(5, number) * chance**number * (1 - chance) ** (5 - number)
            )
            assert abs(count / DRAWS - wanted) < FAR


def test_choices_of_thousands_of_millions_are_near_their_mean() -> None:
    """Within six standard deviations, which fails for one seed in a hundred million."""
    pool = np.array([3, 1, 6]) * 10**8
    wanted = 4 * 10**8
    spread = 6 * math.sqrt(wanted)
    chosen = draw_subsets(
        pool, np.zeros(3, np.int64), np.array([wanted]), stream(1, "a")
    )
    many = sample_subsets(2 * pool, 2 * wanted, 3, np.random.default_rng(1))
    assert chosen.sum() == wanted
    assert (many.sum(axis=1) == 2 * wanted).all()
    assert (np.abs(chosen - 0.4 * pool) < spread).all()
    assert (np.abs(many - 0.8 * pool) < 2 * spread).all()
