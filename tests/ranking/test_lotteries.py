"""Chances of lotteries against every possible set and an independent solver."""

import dataclasses
import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from evenhand import errors
from evenhand.method import as_method
from evenhand.ranking import lotteries
from evenhand.ranking.lotteries import Field, Quota, SelectionRule

RULES = ["maximin", "cut", "smooth", "smooth(slope=0.2)", "shares", "top"]


def chances_of(rule: str, field: Field) -> tuple[Fraction, ...]:
    return as_method(rule, SelectionRule, "rule").chances(field)


def field_of(
    ends: list[tuple[float, float]], places: int, shares: list[float] | None = None
) -> Field:
    low, high = np.array(ends, dtype=np.float64).T
    evenly = [places / len(ends)] * len(ends)
    return Field(low, high, (low + high) / 2, np.array(shares or evenly), places)


def random_field(size: int, places: int, seed: int) -> Field:
    rng = np.random.default_rng(seed)
    values, half = rng.normal(size=size), rng.uniform(0.2, 0.9, size)
    shares = 1 / (1 + np.exp(-4 * (values - np.quantile(values, 1 - places / size))))
    shares *= places / shares.sum()
    return Field(values - half, values + half, values, shares, places)


@st.composite
def fields(draw: st.DrawFn, most: int = 7) -> Field:
    size = draw(st.integers(2, most))
    end = st.integers(0, 12)
    ends = [
        (float(min(pair)), float(max(pair)))
        for pair in draw(st.lists(st.tuples(end, end), min_size=size, max_size=size))
    ]
    numbers = st.integers(0, 8)
    shares = draw(st.lists(numbers, min_size=size, max_size=size))
    return field_of(ends, draw(st.integers(1, size - 1)), [s / 8 for s in shares])


def possible_sets(field: Field) -> list[tuple[int, ...]]:
    """All sets of items of which none outside certainly beats one inside."""
    size = len(field.low)
    return [
        inside
        for inside in itertools.combinations(range(size), field.places)
        if not any(
            field.low[j] > field.high[i]
            for i in inside
            for j in set(range(size)) - set(inside)
        )
    ]


def best_by_sets(field: Field) -> float:
    """The best worst case: one linear program with all possible sets."""
    sets, size = possible_sets(field), len(field.low)
    rows = np.array([[-float(i in s) for i in range(size)] + [1.0] for s in sets])
    solution = optimize.linprog(
        [0.0] * size + [-1.0],
        A_ub=rows,
        b_ub=np.zeros(len(sets)),
        A_eq=[[1.0] * size + [0.0]],
        b_eq=[field.places],
        bounds=[(0, 1)] * size + [(0, size)],
    )
    return float(-solution.fun)


def worst_set(field: Field, chances: np.ndarray) -> np.ndarray:
    """A possible set with the least sum of chances, by going through cuts."""
    best, flags = np.inf, np.zeros(0)
    for cut in np.unique(field.low):
        forced = field.low > cut
        may = (field.high >= cut) & ~forced
        spare = field.places - int(forced.sum())
        if not 0 <= spare <= may.sum():
            continue
        order = np.flatnonzero(may)[np.argsort(chances[may], kind="stable")][:spare]
        chosen = forced.copy()
        chosen[order] = True
        if chances[chosen].sum() < best:
            best, flags = chances[chosen].sum(), chosen
    return flags


def best_by_cuts(field: Field) -> float:
    """The best worst case by cutting planes: add the worst set until none is new."""
    size, rows = len(field.low), [np.zeros(len(field.low))]
    chances, bound = np.full(size, field.places / size), np.inf
    while True:
        flags = worst_set(field, chances)
        if chances[flags].sum() >= bound - 1e-8:
            return float(bound)
        rows.append(flags.astype(np.float64))
        table = np.column_stack([-np.array(rows[1:]), np.ones(len(rows) - 1)])
        solution = optimize.linprog(
            [0.0] * size + [-1.0],
            A_ub=table,
            b_ub=np.zeros(len(table)),
            A_eq=[[1.0] * size + [0.0]],
            b_eq=[field.places],
            bounds=[(0, 1)] * size + [(0, field.places)],
        )
        chances, bound = solution.x[:-1], -solution.fun


@settings(max_examples=15)
@given(fields())
def test_chances_of_every_rule_and_their_worst_case(field: Field) -> None:
    sets, size, best = possible_sets(field), len(field.low), best_by_sets(field)
    intervals = field.low, field.high, field.places
    for rule in RULES:
        chances = chances_of(rule, field)
        assert sum(chances) == field.places
        assert all(0 <= chance <= 1 for chance in chances)
        worst = lotteries.worst_case(chances, *intervals)
        assert worst == min(sum(chances[i] for i in inside) for inside in sets)
        assert worst <= best + 1e-7
        if rule == "maximin":
            assert worst >= best - 1e-7
            for i, j in itertools.permutations(range(size), 2):
                certain = field.low[j] > field.high[i]
                assert not certain or chances[i] == 0 or chances[j] == 1


@settings(max_examples=15)
@given(fields(), st.randoms(use_true_random=False))
def test_rules_are_anonymous(field: Field, random: object) -> None:
    order = list(range(len(field.low)))
    random.shuffle(order)  # type: ignore[attr-defined]
    moved = Field(
        field.low[order],
        field.high[order],
        field.estimate[order],
        field.shares[order],
        field.places,
    )
    for rule in RULES:
        chances = chances_of(rule, field)
        assert chances_of(rule, moved) == tuple(chances[i] for i in order)


@settings(max_examples=15)
@given(fields(), st.data())
def test_what_moves_up_never_loses_chances(field: Field, data: st.DataObject) -> None:
    item = data.draw(st.integers(0, len(field.low) - 1))
    estimate, shares = field.estimate.copy(), field.shares.copy()
    estimate[item] += data.draw(st.integers(1, 8)) / 4
    shares[item] += data.draw(st.integers(1, 8)) / 8
    moved = dataclasses.replace(field, estimate=estimate, shares=shares)
    for rule in ("smooth(slope=0.2)", "shares", "top"):
        before, after = chances_of(rule, field)[item], chances_of(rule, moved)[item]
        assert after >= before - Fraction(1, 10**8)


def test_a_draw_never_takes_what_is_certainly_beaten_first() -> None:
    field = field_of([(7, 8), (5, 6), (1, 9), (0, 9)], 2)
    half = Fraction(1, 2)
    assert list(chances_of("maximin", field)) == [1, 0, half, half]
    assert chances_of("cut", field) == (half, half, half, half)


@pytest.mark.parametrize(("size", "places"), [(40, 12), (50, 30)])
def test_best_worst_case_is_that_of_an_independent_solver(
    size: int, places: int
) -> None:
    field = random_field(size, places, seed=size)
    intervals = field.low, field.high, places
    chances = chances_of("maximin", field)
    worst = lotteries.worst_case(chances, *intervals)
    assert worst == pytest.approx(best_by_cuts(field), abs=1e-6)
    for rule in RULES:
        assert lotteries.worst_case(chances_of(rule, field), *intervals) <= worst


@pytest.mark.parametrize("rule", RULES)
def test_quotas_and_fixed_items_are_kept(rule: str) -> None:
    field = random_field(12, 5, seed=3)
    first, odd = np.arange(12) < 6, np.arange(12) % 2 == 1
    quotas = (Quota("first", first, 2, 2), Quota("odd", odd, 3, 4))
    fixed = np.zeros(12, np.int64)
    fixed[[0, 11]] = 1, -1
    field = dataclasses.replace(field, quotas=quotas, fixed=fixed)
    chances = np.array(chances_of(rule, field))
    assert chances.sum() == 5
    assert chances[first].sum() == 2
    assert 3 <= chances[odd].sum() <= 4
    assert (chances[0], chances[11]) == (1, 0)
    assert all(0 <= chance <= 1 for chance in chances)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"quotas": (Quota("art", np.arange(4) < 2, 3, 4),)}, "got 'art' with 2 inst"),
        ({"fixed": np.array([1, 1, 1, 0])}, "got the items with 3 instead of 2"),
    ],
)
def test_limits_that_cannot_be_met_are_named(
    changes: dict[str, object], message: str
) -> None:
    field = field_of([(0, 1), (0, 1), (0, 1), (0, 1)], 2)
    with pytest.raises(errors.OptionError, match=message):
        chances_of("top", dataclasses.replace(field, **changes))  # type: ignore[arg-type]


def test_equal_items_have_equal_chances() -> None:
    field = field_of([(3, 5), (3, 5), (3, 5), (0, 1)], 2, [0.9, 0.6, 0.3, 0.2])
    third = Fraction(2, 3)
    assert list(chances_of("maximin", field)) == [third, third, third, 0]
