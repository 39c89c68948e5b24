"""The lab's compiled loops against plain Python, and against exact risks."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenhand._kernels.lab import (
    empty_ideals,
    flip_samples,
    mean_rank_samples,
    mean_ranks,
    order_by,
)
from evenhand._kernels.pair_draws import (
    compared,
    draw_pairs,
    empty_draw,
    first_ordering,
    value_ranks,
    wrong_pairs,
)
from evenhand._randomness import stream, uniforms
from evenhand.lab.exact_ranking import ranking_risk

Pair = tuple[int, int]
Floats = NDArray[np.float64]


def plain_comparisons(
    values: list[float], m: int, units: list[float]
) -> tuple[list[float], list[Pair], set[Pair]]:
    """Names, pairs and comparisons, by shuffling lists."""
    n = len(values)
    named = list(values)
    for place in range(n - 1):
        other = place + int(units[place] * (n - place))
        named[place], named[other] = named[other], named[place]
    cards = [(low, high) for high in range(n) for low in range(high)]
    for place in range(m):
        other = place + int(units[n - 1 + place] * (len(cards) - place))
        cards[place], cards[other] = cards[other], cards[place]
    pairs = cards[:m]
    above = {(a, b) if named[a] > named[b] else (b, a) for a, b in pairs}
    return named, pairs, above


def plain_order(n: int, above: set[Pair]) -> list[int]:
    order: list[int] = []
    while len(order) < n:
        order.append(
            min(
                item
                for item in range(n)
                if item not in order and all(a in order for a, b in above if b == item)
            )
        )
    return order


def plain_kendall(order: list[int], named: list[float]) -> int:
    return sum(named[a] < named[b] for a, b in itertools.combinations(order, 2))


def plain_flips(
    values: list[float], slopes: list[float], shifts: list[float], units: list[float]
) -> list[float]:
    n, m = len(values), len(slopes)
    named, pairs, above = plain_comparisons(values, m, units)
    order = plain_order(n, above)
    base = plain_kendall(order, named)
    expected, fair, coins = float(base), float(base), 0
    lists = {
        item: [j for j, pair in enumerate(pairs) if item in pair] for item in order
    }
    position = 0
    while position < n - 1:
        a, b = order[position], order[position + 1]
        if (a, b) in above or not lists[a] or not lists[b]:
            position += 1
            continue
        choice = units[n - 1 + m + 2 * position :]
        one = lists[a][int(choice[0] * len(lists[a]))]
        other = lists[b][int(choice[1] * len(lists[b]))]
        gap = (
            slopes[one] * named[a]
            + shifts[one]
            - (slopes[other] * named[b] + shifts[other])
        )
        keep = (1 + math.copysign(abs(gap) / (1 + abs(gap)), gap)) / 2
        harm = 1 if named[a] > named[b] else -1
        expected += harm * (1 - keep)
        fair += harm / 2
        coins += 1
        for gone in (one, other):
            for item in pairs[gone]:
                # The last takes the slot, as in the loop that is checked.
                slot = lists[item].index(gone)
                lists[item][slot] = lists[item][-1]
                lists[item].pop()
        position += 2
    return [float(base), expected, fair, float(coins)]


@given(st.integers(2, 8), st.data())
@settings(max_examples=60)
def test_samples_of_flips_agree_with_plain_lists(n: int, data: st.DataObject) -> None:
    m = data.draw(st.integers(1, math.comb(n, 2)))
    source = stream(data.draw(st.integers(0, 2**32)), "samples")
    values, slopes, shifts = (uniforms(source, size) for size in (n, m, m))
    units = uniforms(source, (3, 3 * (n - 1) + m))
    found = flip_samples(values, slopes, shifts, units)
    given_lists = (values.tolist(), slopes.tolist(), shifts.tolist())
    known = [plain_flips(*given_lists, row) for row in units.tolist()]
    assert found == pytest.approx(np.array(known), abs=1e-12)


@pytest.mark.parametrize("m", [1, 60, 1200])
def test_samples_of_more_items_than_a_word_has_bits_agree_too(m: int) -> None:
    n = 70
    source = stream(m, "samples")
    # Some values are equal; then the name decides who is above.
    values = np.floor(20 * uniforms(source, n))
    slopes, shifts = uniforms(source, m), uniforms(source, m)
    units = uniforms(source, (2, 3 * (n - 1) + m))
    found = flip_samples(values, slopes, shifts, units)
    given_lists = (values.tolist(), slopes.tolist(), shifts.tolist())
    known = [plain_flips(*given_lists, row) for row in units.tolist()]
    assert found == pytest.approx(np.array(known), abs=1e-11)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=8), st.data())
def test_draws_are_those_of_plain_lists(
    numbers: list[int], data: st.DataObject
) -> None:
    """Ranks, comparisons, ordering and wrong pairs, values equal or not."""
    n = len(numbers)
    m = data.draw(st.integers(0, math.comb(n, 2)))
    units = uniforms(stream(data.draw(st.integers(0, 2**32)), "draw"), n - 1 + m)
    values = np.array(numbers, dtype=np.float64)
    draw = empty_draw(n, m)
    draw_pairs(values, value_ranks(values), units, draw)
    named, pairs, above = plain_comparisons(values.tolist(), m, units.tolist())
    assert draw.named.tolist() == named
    assert draw.pairs.tolist() == [list(pair) for pair in pairs]
    by_value = sorted(range(n), key=lambda item: (named[item], item))
    assert draw.items.tolist() == by_value
    assert [by_value[rank] for rank in draw.ranks] == list(range(n))
    assert draw.floors.tolist() == [sum(x < y for x in named) for y in named]
    for a, b in itertools.combinations(range(n), 2):
        assert compared(a, b, draw) == ((a, b) in above or (b, a) in above)
    order = np.empty(n, dtype=np.int64)
    first_ordering(draw, order)
    assert order.tolist() == plain_order(n, above)
    assert wrong_pairs(order, draw) == plain_kendall(order.tolist(), named)


def plain_mean_ranks(n: int, above: set[Pair]) -> list[Fraction]:
    totals, count = [0] * n, 0
    for order in itertools.permutations(range(n)):
        if all(order.index(a) < order.index(b) for a, b in above):
            count += 1
            for place, item in enumerate(order, start=1):
                totals[item] += place
    return [Fraction(total, count) for total in totals]


@given(st.integers(2, 6), st.data())
@settings(max_examples=40)
def test_samples_by_mean_rank_agree_with_all_orderings(
    n: int, data: st.DataObject
) -> None:
    m = data.draw(st.integers(1, math.comb(n, 2)))
    source = stream(data.draw(st.integers(0, 2**32)), "samples")
    values = uniforms(source, n)
    units = uniforms(source, (1, 3 * (n - 1) + m))
    found = mean_rank_samples(values, m, units, empty_ideals(128))[0]
    named, _, above = plain_comparisons(values.tolist(), m, units[0].tolist())
    ranks = plain_mean_ranks(n, above)
    order = sorted(range(n), key=ranks.__getitem__)
    assert found[0] == plain_kendall(plain_order(n, above), named)
    assert found[1] == plain_kendall(order, named)
    bits = np.zeros(n, dtype=np.uint64)
    for upper, lower in above:
        bits[lower] |= np.uint64(1 << upper)
    exact, ideals = mean_ranks(bits, empty_ideals(128))
    assert exact == pytest.approx([float(rank) for rank in ranks], abs=1e-12)
    assert ideals == found[2]


def test_an_antichain_has_all_sets_as_ideals() -> None:
    table = empty_ideals(1024)
    ranks, ideals = mean_ranks(np.zeros(10, dtype=np.uint64), table)
    assert ideals == 1024
    assert ranks == pytest.approx([5.5] * 10)
    assert (table.slots == -1).all()


def test_too_many_ideals_are_reported_and_leave_an_empty_table() -> None:
    table = empty_ideals(512)
    _, ideals = mean_ranks(np.zeros(10, dtype=np.uint64), table)
    assert ideals == -1
    assert (table.slots == -1).all()
    again, few = mean_ranks(np.zeros(3, dtype=np.uint64), table)
    assert few == 8
    assert again == pytest.approx([2.0] * 3)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8))
def test_ordering_by_mean_rank_is_a_stable_sort(ranks: list[int]) -> None:
    order = np.empty(len(ranks), dtype=np.int64)
    order_by(np.array(ranks) / 3, order)
    assert order.tolist() == sorted(range(len(ranks)), key=ranks.__getitem__)


def test_samples_have_the_law_of_algorithm_1() -> None:
    # Within five standard errors: a correct build fails once in 1.7 million.
    values = [Fraction(0), Fraction(1, 2), Fraction(2), Fraction(7, 2)]
    slopes = [Fraction(1, 4), Fraction(1), Fraction(2, 3)]
    shifts = [Fraction(2), Fraction(0), Fraction(1, 3)]

    def scale(reviewer: int, value: object) -> object:
        return slopes[reviewer] * Fraction(str(value)) + shifts[reviewer]

    start = ranking_risk(4, 3)
    known = {
        0: start,
        1: ranking_risk(4, 3, method="flips", values=values, spec=scale),
        2: ranking_risk(4, 3, method="fair-coins"),
    }
    count = 40_000
    units = uniforms(stream(7, "law"), (count, 3 * 3 + 3))
    arrays = [np.array([float(x) for x in row]) for row in (values, slopes, shifts)]
    found = flip_samples(arrays[0], arrays[1], arrays[2], units)
    for column, risk in known.items():
        se = found[:, column].std() / math.sqrt(count)
        assert abs(found[:, column].mean() - float(risk)) < 5 * se
    # The coins' share of the loss has a much smaller spread.
    gains = found[:, 1] - found[:, 2]
    gap = float(known[1] - known[2])
    assert abs(gains.mean() - gap) < 5 * gains.std() / math.sqrt(count)
    ranked = mean_rank_samples(arrays[0], 3, units, empty_ideals(16))
    mean = float(ranking_risk(4, 3, method="mean-rank"))
    assert abs(ranked[:, 1].mean() - mean) < 5 * ranked[:, 1].std() / math.sqrt(count)
