import itertools
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.lab.dominance import (
    FAMILIES,
    FARTHEST,
    MOVES,
    UNIT,
    family_rows,
    random_rows,
    worst,
)
from evenhand.lab.worlds import Table
from evenhand.randomness import stream

SHAPES = [(1, 2), (2, 2), (3, 4), (5, 3)]


def increases(row: Sequence[int | Fraction]) -> bool:
    return all(other - one > 0 for one, other in itertools.pairwise(row))


@pytest.mark.parametrize("shape", SHAPES)
def test_all_starting_points_increase_strictly(shape: tuple[int, int]) -> None:
    drawn = [random_rows(shape, stream(seed, "rows")) for seed in range(50)]
    for rows in (*family_rows(shape), *drawn):
        assert len(rows) == shape[0]
        assert all(len(row) == shape[1] and increases(row) for row in rows)
        assert max(abs(value) for row in rows for value in row) <= FARTHEST


def test_the_papers_families_are_what_it_says() -> None:
    # Reviewer j adds j - 1, the last m (m - 1) / 2: 0, 1, 2 and 6.
    place = 2 * FAMILIES.index("incremental-one-biased")
    low, high = UNIT // 3, 2 * UNIT // 3
    assert family_rows((4, 2))[place] == tuple(
        (low + UNIT * bias, high + UNIT * bias) for bias in (0, 1, 2, 6)
    )


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_every_table_that_is_looked_at_is_permissible(seed: int) -> None:
    seen: list[Table] = []

    def margin(table: Table) -> Fraction:
        seen.append(table)
        return table[0][0] - table[1][1]

    found, table = worst(margin, (3, 3), stream(seed, "search"), budget=60)
    assert len(seen) == 60
    assert all(increases(row) for table in seen for row in table)
    assert all(abs(x) * UNIT <= FARTHEST for t in seen for row in t for x in row)
    assert found == min(one[0][0] - one[1][1] for one in seen)
    assert found == table[0][0] - table[1][1]


def test_every_kind_of_move_is_tried() -> None:
    rows = ((0, 10, 30), (5, 40, 45))
    source = stream(7, "moves")
    for move in MOVES:
        made = {move(*rows, source) for _ in range(50)}
        assert made - {rows[0]}


def test_a_needle_is_found_without_being_told() -> None:
    def margin(table: Table) -> Fraction:
        # Only scores of two reviewers that nearly meet, between wide gaps, are bad.
        near = abs(table[0][1] - table[1][0]) <= Fraction(1, UNIT)
        wide = table[0][1] - table[0][0] > 50 and table[1][1] - table[1][0] > 50
        return Fraction(-1 if near and wide else 1 - near)

    found, _ = worst(margin, (3, 2), stream(7, "x"), budget=500, families=False)
    assert found == -1


@pytest.mark.parametrize("budget", [0, 1, 30])
def test_the_search_keeps_to_its_budget(budget: int) -> None:
    looked = 0

    def margin(table: Table) -> Fraction:
        nonlocal looked
        looked += 1
        return Fraction(table[0][0])

    worst(margin, (1, 2), stream(7, "x"), budget=budget)
    assert looked == max(1, budget)
