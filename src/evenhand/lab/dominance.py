"""Definition 1 as software: does a method beat a baseline whatever the scales?

The adversary names increasing scales for every true ranking. The answer is the smallest
exact margin that a search found, and the scales that give it. A margin of zero or below
is a proof that the method does not dominate; a positive one is not a proof that it
does.

The search climbs hills from random starts, over tables of whole numbers, a thousandth
each, so that gaps from tiny to huge are in reach. The margin is evaluated exactly at
every step; only which step is tried next is random.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from evenhand.ab.weights import rational
from evenhand.lab import worlds
from evenhand.lab.scales import scales
from evenhand.lab.worlds import Table, evaluate
from evenhand.randomness import Stream, below, stream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.lab.worlds import Estimator, Margin, Order, Ordinal

Rows = tuple[tuple[int, ...], ...]

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


@dataclass(frozen=True, slots=True)
class Witness:
    """Scales that the adversary names for one true ranking.

    Attributes:
        truth: The true ranking, best item first.
        scales: Scores of each reviewer, from the worst item to the best.
        margin: Risk of the baseline minus risk of the method.
    """

    truth: Order
    scales: Table
    margin: Fraction

    def __str__(self) -> str:
        ranking = " > ".join(map(str, self.truth))
        return f"true ranking {ranking}, scales {scales_text(self.scales)}"


def scales_text(scales: Table) -> str:
    """Write scales for people, a reviewer after the other, worst item first.

    Examples:
        >>> scales_text(((Fraction(1, 4), Fraction(3)), (Fraction(0), Fraction(9000))))
        '0.25, 3; 0, 9000'
    """
    return "; ".join(
        ", ".join(f"{float(score):.10g}" for score in row) for row in scales
    )


@dataclass(frozen=True, slots=True)
class Contest:
    """A method against a baseline, ready for the adversary.

    Attributes:
        margin: Exact margin, of a true ranking and scales.
        truths: True rankings that count; one if no names are known to either side.
        shape: Number of reviewers and of items.
        asks: Whether the method is known to look at scores somewhere.
    """

    margin: Margin
    truths: tuple[Order, ...]
    shape: tuple[int, int]
    asks: bool = True

    def searched(
        self, budget: int, seed: int, *, families: bool = True
    ) -> tuple[Witness, ...]:
        """Search for the worst scales at each true ranking.

        Margins at different true rankings have nothing in common, since the scales may
        depend on the true ranking, so each is searched by itself.
        """
        found = []
        for truth in self.truths:
            margin, table = worst(
                functools.partial(self.margin, truth),
                self.shape,
                stream(seed, f"adversary {truth}"),
                budget=budget,
                families=families,
            )
            found.append(Witness(truth, table, margin))
        return tuple(found)


def average(witnesses: Sequence[Witness]) -> Fraction:
    """Return the margin at a uniform true ranking.

    Examples:
        >>> one = Witness((0, 1), (), Fraction(1))
        >>> average([one, Witness((1, 0), (), Fraction(0))])
        Fraction(1, 2)
    """
    total = sum((witness.margin for witness in witnesses), Fraction(0))
    return total / len(witnesses)


def contest(
    method: Estimator,
    baseline: Ordinal,
    where: worlds.World,
    loss: str = "zero-one",
) -> Contest:
    """Set a ranking method against an ordinal one.

    Args:
        method: What is to be better.
        baseline: The ordinal method that it is compared with.
        where: The world.
        loss: Name of the loss.

    Examples:
        >>> contest(worlds.flips, worlds.uniform, worlds.World(3, 2)).shape
        (2, 3)
    """
    lost = worlds.loss_named(loss)
    risks = worlds.risk_polynomials(where, method, lost)
    first = worlds.exact_first(rational())
    risk_of = functools.partial(worlds.ordinal_risk, baseline, where, lost)
    baseline_risk = functools.cache(risk_of)

    def margin(truth: Order, table: Table) -> Fraction:
        return baseline_risk(truth) - evaluate(risks[truth], table, first)

    # Where a question is asked the risk is not the same for all scales.
    asks = any(set(polynomial) - {()} for polynomial in risks.values())
    shape = (where.n_reviewers, where.n_items)
    return Contest(margin, where.truths(), shape, asks)


def worst(
    margin: Callable[[Table], Fraction],
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
    unused = np.random.default_rng(0)
    found = []
    for name in FAMILIES:
        for thousandths in (spread, close):
            row = [Fraction(value, UNIT) for value in thousandths]
            values = np.array([row] * n_reviewers, dtype=object)
            table = scales(name).apply(values, unused) * UNIT
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
