"""The paper's ranking simulation against plain lists, and against exact risks."""

import itertools
import math
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenhand.ab.weights import rational
from evenhand.arrays import Floats
from evenhand.lab.figures import (
    draw_samples,
    first_orderings,
    flip_gains,
    kendall_samples,
    wrong_pairs,
)
from evenhand.lab.worlds import (
    World,
    evaluate,
    exact_first,
    flips,
    graph,
    index_order,
    loss_by_name,
    margin_polynomial,
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


def put_above(named: Floats, reviewers: NDArray[np.int64]) -> Flags:
    above: Flags = (reviewers >= 0) & (named[:, :, None] > named[:, None, :])
    return above


def pairs_of(table: Flags) -> set[Pair]:
    return {(int(a), int(b)) for a, b in np.argwhere(table)}


@given(st.integers(2, 6), st.data())
@settings(max_examples=40)
def test_samples_agree_with_plain_lists(n: int, data: st.DataObject) -> None:
    m = data.draw(st.integers(1, math.comb(n, 2)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    named, reviewers = draw_samples(np.arange(0.0, 1.5 * n, 1.5), m, 4, rng)
    put = put_above(named, reviewers)
    orders = first_orderings(put)
    wrong = wrong_pairs(orders, named)
    for sample in range(4):
        values, above = named[sample], pairs_of(put[sample])
        assert sorted(values.tolist()) == [1.5 * item for item in range(n)]
        assert len(above) == m
        assert all(values[a] > values[b] for a, b in above)
        who = [int(reviewers[sample, a, b]) for a, b in above]
        assert sorted(who) == list(range(m))
        order = plain_order(n, above)
        assert orders[sample].tolist() == order
        assert wrong[sample] == sum(
            values[a] < values[b] for a, b in itertools.combinations(order, 2)
        )


def test_only_free_neighbours_with_fresh_reviewers_are_settled() -> None:
    rng = np.random.default_rng(7)
    named, reviewers = draw_samples(np.arange(4.0), 4, 500, rng)
    order = first_orderings(put_above(named, reviewers))
    _, by_lot = flip_gains(named, reviewers, order, np.ones((2, 4)), rng)
    for sample in range(500):
        compared = reviewers[sample] >= 0
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

    where, kendall = World(4, 3), loss_by_name("kendall")
    truths = where.truths()
    start = [
        Fraction(kendall(index_order(graph(4, edges)), truth))
        for truth in truths
        for edges in where.comparisons(truth)
    ]
    gained = [
        margin_polynomial(where, flips, index_order, kendall, truth) for truth in truths
    ]
    table = tuple(
        tuple(slope * value + shift for value in values)
        for slope, shift in zip(slopes, shifts, strict=True)
    )
    known = [sum(start, Fraction(0)) / len(start)] * 3
    for column, coin in ((1, exact_first(rational())), (2, lambda _: Fraction(1, 2))):
        total = sum((evaluate(one, table, coin) for one in gained), Fraction(0))
        known[column] -= total / len(gained)
    count = 40_000
    numbers, scales = np.array(values, float), np.array([slopes, shifts], float)
    found = kendall_samples(numbers, scales, count, np.random.default_rng(7))
    for column, risk in enumerate(known):
        se = found[:, column].std() / math.sqrt(count)
        assert abs(found[:, column].mean() - float(risk)) < 5 * se
    # The coins' share of the loss has a much smaller spread.
    gains = found[:, 1] - found[:, 2]
    gap = float(known[1] - known[2])
    assert abs(gains.mean() - gap) < 5 * gains.std() / math.sqrt(count)
