"""What the ranking theorems give beyond their rows in `evenhand theorems`, exactly."""

import hashlib
import itertools
from collections.abc import Callable
from fractions import Fraction

import pytest

from evenhand.lab.dominance import contest
from evenhand.lab.worlds import (
    Order,
    Table,
    World,
    twins_from,
)

# Adversaries: increasing scales that may look at the truth.


def offsets(_: Order, n: int, m: int) -> Table:
    return tuple(
        tuple(Fraction(1000 * reviewer + value) for value in range(n))
        for reviewer in range(m)
    )


def stretched(truth: Order, n: int, m: int) -> Table:
    wide = sum(a * b for a, b in enumerate(truth)) % m
    factors = [100 if reviewer == wide else Fraction(1, 9) for reviewer in range(m)]
    return tuple(
        tuple(Fraction(2 * value + 1 - n) * factor for value in range(n))
        for factor in factors
    )


def tailored(truth: Order, n: int, m: int) -> Table:
    digest = hashlib.sha256(repr((truth, n, m)).encode()).digest()
    scales = []
    for reviewer in range(m):
        steps = digest[reviewer * n : (reviewer + 1) * n]
        jumps = [1 + 10 ** (step % 4) for step in steps]
        base = (-1) ** (steps[0] % 2) * 10 ** (steps[1] % 5)
        scales.append(tuple(Fraction(base + j) for j in itertools.accumulate(jumps)))
    return tuple(scales)


Adversary = Callable[[Order, int, int], Table]
ADVERSARIES = [offsets, stretched, tailored]


@pytest.mark.parametrize("adversary", ADVERSARIES)
@pytest.mark.parametrize("start", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)])
def test_twins_that_share_reviewers_with_other_twins_gain_without_retiring(
    start: Order, adversary: Adversary
) -> None:
    # Both of 0, 1 stand above both of 2, 3; every reviewer scored one of each.
    edges = ((0, 2), (0, 3), (1, 2), (1, 3))
    arranged = tuple(sorted(start, key=lambda item: item > 1))
    duel = contest(
        twins_from(lambda _: start),
        lambda _: arranged,
        World(4, edges),
        "kendall",
    )
    assert sum(duel.margin(truth, adversary(truth, 4, 4)) for truth in duel.truths) > 0
