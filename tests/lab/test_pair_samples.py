"""The paper's ranking simulation against plain lists, and against exact risks."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenhand.ab.weights import rational
from evenhand.lab.curves import (
    draw_samples,
    fair_coins,
    first_orderings,
    flip_gains,
    kendall_risk,
    kendall_samples,
    mean_rank,
    mean_ranks,
    wrong_pairs,
)
from evenhand.lab.worlds import (
    World,
    combined,
    evaluate,
    exact_first,
    flips,
    index_order,
    loss_named,
    risk_polynomials,
)

Pair = tuple[int, int]
Flags = NDArray[np.bool_]


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


def plain_mean_ranks(n: int, above: set[Pair]) -> list[float]:
    totals, count = [0] * n, 0
    for order in itertools.permutations(range(n)):
        if all(order.index(a) < order.index(b) for a, b in above):
            count += 1
            for place, item in enumerate(order, start=1):
                totals[item] += place
    return [total / count for total in totals]


def pairs_of(table: Flags) -> set[Pair]:
    return {(int(a), int(b)) for a, b in np.argwhere(table)}


@given(st.integers(2, 6), st.data())
@settings(max_examples=40)
def test_samples_agree_with_plain_lists(n: int, data: st.DataObject) -> None:
    m = data.draw(st.integers(1, math.comb(n, 2)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    samples = draw_samples(np.arange(0.0, 1.5 * n, 1.5), m, 4, rng)
    orders = first_orderings(samples.above)
    wrong = wrong_pairs(orders, samples.values)
    ranks = mean_ranks(samples.above)
    for sample in range(4):
        values, above = samples.values[sample], pairs_of(samples.above[sample])
        assert sorted(values.tolist()) == [1.5 * item for item in range(n)]
        assert len(above) == m
        assert all(values[a] > values[b] for a, b in above)
        who = [int(samples.reviewers[sample, a, b]) for a, b in above]
        assert sorted(who) == list(range(m))
        order = plain_order(n, above)
        assert orders[sample].tolist() == order
        assert wrong[sample] == sum(
            values[a] < values[b] for a, b in itertools.combinations(order, 2)
        )
        known = plain_mean_ranks(n, above)
        assert ranks[sample] == pytest.approx(known, abs=1e-12)


def test_every_item_of_an_antichain_has_the_middle_rank() -> None:
    ranks = mean_ranks(np.zeros((2, 10, 10), dtype=np.bool_))
    assert ranks == pytest.approx(np.full((2, 10), 5.5))


def test_only_free_neighbours_with_fresh_reviewers_are_settled() -> None:
    rng = np.random.default_rng(7)
    samples = draw_samples(np.arange(4.0), 4, 500, rng)
    order = first_orderings(samples.above)
    _, by_lot = flip_gains(samples, order, np.ones(4), np.zeros(4), rng)
    for sample in range(500):
        compared = samples.reviewers[sample] >= 0
        free = [not compared[a, b] for a, b in itertools.pairwise(order[sample])]
        # A fair coin on a neighbour changes Kendall tau by a half on average.
        coins = 2 * abs(by_lot[sample])
        if not any(free):
            assert coins == 0
        if free == [True, False, False]:
            assert coins == 1
        if free == [True, True, False]:
            assert coins <= 1


def test_samples_have_the_law_of_algorithm_1() -> None:
    # Within five standard errors: a correct build fails once in 1.7 million.
    values = [Fraction(0), Fraction(1, 2), Fraction(2), Fraction(7, 2)]
    slopes = [Fraction(1, 4), Fraction(1), Fraction(2, 3)]
    shifts = [Fraction(2), Fraction(0), Fraction(1, 3)]

    risks = risk_polynomials(World(4, 3), flips, loss_named("kendall")).values()
    table = tuple(
        tuple(slope * value + shift for value in values)
        for slope, shift in zip(slopes, shifts, strict=True)
    )
    average = combined([(Fraction(1, len(risks)), one) for one in risks])
    known = [
        kendall_risk(index_order, 4, 3),
        evaluate(average, table, exact_first(rational())),
        kendall_risk(fair_coins, 4, 3),
        kendall_risk(mean_rank, 4, 3),
    ]
    count = 40_000
    numbers, slope, shift = (
        np.array([float(x) for x in row]) for row in (values, slopes, shifts)
    )
    found = kendall_samples(numbers, slope, shift, count, np.random.default_rng(7))
    for column, risk in enumerate(known):
        se = found[:, column].std() / math.sqrt(count)
        assert abs(found[:, column].mean() - float(risk)) < 5 * se
    # The coins' share of the loss has a much smaller spread.
    gains = found[:, 1] - found[:, 2]
    gap = float(known[1] - known[2])
    assert abs(gains.mean() - gap) < 5 * gains.std() / math.sqrt(count)
