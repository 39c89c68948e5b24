"""The adversary: a search for the scales on which a method does worst.

Hill climbing with random restarts over tables of whole numbers, a thousandth each, so
that gaps from tiny to huge are in reach. The margin is evaluated exactly at every step;
only which step is tried next is random.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from evenhand.lab.polynomial import Table
from evenhand.lab.scales import scales
from evenhand.randomness import Stream, below

Rows = tuple[tuple[int, ...], ...]
Margin = Callable[[Table], Fraction]

UNIT = 1000
DIGITS = 9
LARGEST_POWER = 7
FARTHEST = 10**9
PATIENCE = 40
CLIMBS = 5
# Small budgets see the first of them only.
FAMILIES = (
    "incremental-one-biased",
    "adversary:spread",
    "disjoint",
    "one-biased",
    "identity",
    "incremental",
    "adversary",
)


def worst(
    margin: Margin,
    shape: tuple[int, int],
    source: Stream,
    *,
    budget: int,
    families: bool = True,
) -> tuple[Fraction, Table]:
    """Search for the scales with the smallest margin.

    Args:
        margin: From scales to an exact margin.
        shape: Number of reviewers and of items.
        source: Where chance comes from.
        budget: How often the margin may be evaluated; it is evaluated once at least.
        families: Whether the paper's families are among the starting points.

    Returns:
        The smallest margin found, and its scales.

    Examples:
        >>> from evenhand.randomness import stream
        >>> found, table = worst(lambda table: abs(table[0][0] - 5), (1, 2),
        ...                      stream(7, "search"), budget=400)
        >>> found < Fraction(1, 10), table[0][0] < table[0][1]
        (True, True)
    """
    starts = family_rows(shape) if families else (random_rows(shape, source),)
    looked = [(margin(as_table(rows)), rows) for rows in starts[: max(1, budget)]]
    spent = len(looked)
    here, rows = best = min(looked, key=lambda one: one[0])
    while spent < budget:
        # Margins can shrink towards nothing for ever, so no climb gets more than its
        # share.
        last = min(budget, spent + max(PATIENCE, budget // CLIMBS))
        idle = 0
        while idle < PATIENCE and spent < last:
            changed = _moved(rows, source)
            there, spent = margin(as_table(changed)), spent + 1
            idle = 0 if there < here else idle + 1
            # Steps on level ground lead out of the plateaus that fixed rules have.
            if there <= here:
                rows, here = changed, there
        best = min(best, (here, rows), key=lambda one: one[0])
        if spent < budget:
            rows = random_rows(shape, source)
            here, spent = margin(as_table(rows)), spent + 1
            best = min(best, (here, rows), key=lambda one: one[0])
    return best[0], as_table(best[1])


@functools.cache
def family_rows(shape: tuple[int, int]) -> tuple[Rows, ...]:
    """Return the paper's families, with values one apart and very close together.

    Examples:
        >>> family_rows((2, 2))[:2]
        (((333, 666), (1333, 1666)), ((500, 501), (1500, 1501)))
    """
    n_reviewers, n_items = shape
    spread = [(place + 1) * UNIT // (n_items + 1) for place in range(n_items)]
    close = [UNIT // 2 + place for place in range(n_items)]
    nothing = np.empty((n_reviewers, 0))
    found = []
    for name in FAMILIES:
        for thousandths in (spread, close):
            row = [Fraction(value, UNIT) for value in thousandths]
            values = np.array([row] * n_reviewers, dtype=object)
            table = scales(name).apply(values, nothing) * UNIT
            found.append(tuple(tuple(map(int, row)) for row in table.tolist()))
    return tuple(found)


def random_rows(shape: tuple[int, int], source: Stream) -> Rows:
    """Draw a table: any base and any gaps for each reviewer, of any magnitude.

    Examples:
        >>> from evenhand.randomness import stream
        >>> [len(row) for row in random_rows((3, 2), stream(7, "tables"))]
        [2, 2, 2]
    """
    n_reviewers, n_items = shape
    rows = []
    for _ in range(n_reviewers):
        row = [_size(source) * (1 - 2 * below(source, 2))]
        for _ in range(n_items - 1):
            row.append(row[-1] + _size(source))
        rows.append(tuple(row))
    return tuple(rows)


def as_table(rows: Rows) -> Table:
    """Turn thousandths into scores.

    Examples:
        >>> as_table(((500, 2000),))
        ((Fraction(1, 2), Fraction(2, 1)),)
    """
    return tuple(tuple(Fraction(value, UNIT) for value in row) for row in rows)


def _moved(rows: Rows, source: Stream) -> Rows:
    """Change the scale of one reviewer."""
    while True:
        chosen = below(source, len(rows))
        move = MOVES[below(source, len(MOVES))]
        row = move(rows, chosen, source)
        kept = all(one < other for one, other in itertools.pairwise(row))
        if kept and row != rows[chosen] and max(map(abs, row)) <= FARTHEST:
            return (*rows[:chosen], row, *rows[chosen + 1 :])


Row = tuple[int, ...]


def _shift(rows: Rows, chosen: int, source: Stream) -> Row:
    step = _size(source) * (1 - 2 * below(source, 2))
    return tuple(value + step for value in rows[chosen])


def _widen(rows: Rows, chosen: int, source: Stream) -> Row:
    """Give one gap a new size; all that is above moves along."""
    row = rows[chosen]
    place = below(source, len(row) - 1) + 1 if len(row) > 1 else 0
    change = row[place - 1] + _size(source) - row[place] if place else 0
    return row[:place] + tuple(value + change for value in row[place:])


def _stretch(rows: Rows, chosen: int, source: Stream) -> Row:
    row = rows[chosen]
    top, bottom = ((2, 1), (1, 2), (10, 1), (1, 10))[below(source, 4)]
    fixed = row[below(source, len(row))]
    return tuple(fixed + (value - fixed) * top // bottom for value in row)


def _copy(rows: Rows, chosen: int, source: Stream) -> Row:
    return rows[below(source, len(rows))] if len(rows) > 1 else rows[chosen]


def _meet(rows: Rows, chosen: int, source: Stream) -> Row:
    """Shift until one score nearly meets, or just passes, a score of another."""
    row, other = rows[chosen], rows[below(source, len(rows))]
    target = other[below(source, len(other))] + below(source, 3) - 1
    step = target - row[below(source, len(row))]
    return tuple(value + step for value in row)


MOVES = (_shift, _shift, _widen, _widen, _stretch, _copy, _meet)


def _size(source: Stream) -> int:
    digit = 1 + below(source, DIGITS)
    return int(digit * 10 ** below(source, LARGEST_POWER + 1))
