"""Chances of a lottery for places, from intervals of the items' values.

An item certainly beats another if its interval lies wholly above. The true best items
may be any set of so many that holds with each item all that certainly beat it. In the
worst case over these sets a lottery chooses the least sum of its chances over one of
them: so many of the true best, on average. `maximin` makes that as much as it can be.

Go down the items by the lower ends of their intervals and let the first that the set
leaves out be the one after the first r. The others of the set are then any later items
whose upper ends reach its lower end. So the worst case is the least, over r, of the
first r chances plus the least ones among those. A threshold for each r, and for each
item its distance below, make that linear.

Every rule takes the chances nearest to a target that keep quotas and fixed items: they
are unique, and equal items have equal chances. In the target of `maximin` an item that
certainly beats another is at least 1 higher, so that nobody can be drawn before an item
that certainly beats them.

References:
    Goldberg, Fanti and Shah (2025), arXiv 2506.19083. Mehrotra (1992), On the
    implementation of a primal-dual interior point method.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from scipy import linalg, optimize, sparse

from evenhand.arrays import is_exact, map_exact
from evenhand.claims import NONE, Claim
from evenhand.errors import ConvergenceError, OptionError
from evenhand.method import Method, number, option
from evenhand.models.solver import one_thread

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evenhand.arrays import Codes, Flags, Floats, Table

# A worst case within this share of the places is the best; how many constraints join at
# once; steps at most, and how many may bring nothing; the highest price of a place.
CLOSE, JOINING, STEPS, PATIENCE, DEAREST = 1e-9, 10, 200, 6, 1e12
# Errors at which a search ends, and with which it may end; the share of the way to the
# edge; what keeps equations regular, and how often their solution is refined.
DONE, ENOUGH, EDGE, TINY, REFINED = 1e-13, 1e-6, 0.99, 1e-13, 2
# Chances that near are equal, sums that near are at their limits.
NEAR = 1e-6
# Chances are whole billionths, or fractions with a small denominator if that near.
UNIT, SIMPLE, SAME = 10**9, 1000, 1e-11


class Quota(NamedTuple):
    """Places of a group.

    Attributes:
        name: What it is called in a message.
        members: Whether each item is in the group.
        least: Places that its items get at least.
        most: Places that they get at most.
    """

    name: str
    members: Flags
    least: int
    most: int


@dataclasses.dataclass(frozen=True, slots=True)
class Field:
    """What a rule sees.

    Attributes:
        low: Lower end of the interval of each item's value.
        high: Upper end.
        estimate: Estimate of its value.
        shares: Chance that it is one of the best, if values are drawn at random.
        places: How many are chosen.
        quotas: Groups that get at least or at most so many places.
        fixed: 1 for an item that is in, -1 for one that is out, 0 for the others.
        costs: Cost of each item; none without a budget.
        budget: What the chosen may cost, whatever is drawn. It has no part in chances.
    """

    low: Table
    high: Table
    estimate: Table
    shares: Table
    places: int
    quotas: tuple[Quota, ...] = ()
    fixed: Codes | None = None
    costs: tuple[Fraction, ...] = ()
    budget: Fraction | None = None


def _read_slope(value: object) -> float | None:
    rule = number("slope", "a number above 0", lambda slope: slope > 0)
    return None if value is None else rule(value)


class SelectionRule(Method):
    """A way to give items chances of a place.

    Attributes:
        worst_first: Whether the worst case is made as good as can be, before the
            chances come near to a target.
    """

    job = "select"
    best = Claim(NONE)
    worst_first: ClassVar[bool] = False

    def target(self, field: Field) -> Table:
        """Return what the chances come as near to as they can."""
        raise NotImplementedError

    def chances(self, field: Field) -> tuple[Fraction, ...]:
        """Return the chance of each item, adding up to the number of places.

        Raises:
            OptionError: If quotas and fixed items cannot be met at once.
        """
        _check_feasible(field)
        target = self.target(field)
        with one_thread(len(target)):
            chances = _search(field, target, worst_first=self.worst_first)
        # Equal items have equal chances, also where the search is inexact.
        kinds: list[Any] = [target, *(quota.members for quota in field.quotas)]
        kinds += [field.low, field.high] if self.worst_first else []
        kinds += [] if field.fixed is None else [field.fixed]
        return _as_fractions(field, group_means(chances, *kinds))


def group_means(values: Table, *kinds: Table) -> Table:
    """Return the mean of the items that are alike in all of some columns.

    Examples:
        >>> group_means(np.array([0.2, 0.4, 1]), np.array([3, 3, 5])).round(9).tolist()
        [0.3, 0.3, 1.0]
    """
    columns = np.column_stack(kinds)
    groups = np.unique(columns, axis=0, return_inverse=True)[1].reshape(-1)
    means = np.bincount(groups, values) / np.bincount(groups)
    return np.asarray(np.clip(means[groups], values.min(), values.max()))


class MaximinRule(SelectionRule):
    """Choose the most of the true best in the worst case that intervals allow."""

    name = "maximin"
    default = True
    worst_first = True
    reference = "Goldberg, Fanti and Shah (2025), arXiv 2506.19083"

    def target(self, field: Field) -> Table:
        """Return shares, the mean for equal intervals, plus twice what an item beats.

        Twice: 1 higher than what it beats whatever the shares, which are up to 1.
        """
        means = group_means(field.shares, field.low, field.high)
        return np.asarray(means + 2 * count_certain(field.low, field.high)[0])


class CutRule(SelectionRule):
    """Choose the certain ones; the same chance for all that are too close to call."""

    name = "cut"
    reference = "Swiss National Science Foundation (2021)"

    def target(self, field: Field) -> Table:
        """Return 1 for what is certainly in, -1 for what is certainly out."""
        inside, outside = split_certain(field.low, field.high, field.places)
        return np.asarray(inside * 1.0 - outside)


class SmoothRule(SelectionRule):
    """Chances that grow by so much for each point of the estimate, from 0 to 1."""

    name = "smooth"
    reference = "arXiv 2605.20069"
    slope: float | None = option(
        None,
        "By how much a chance grows for each point of the estimate. None: from 0 to 1 "
        "over the median width of an interval.",
        _read_slope,
    )

    def target(self, field: Field) -> Table:
        """Return the slope times the estimate."""
        width = float(np.median(field.high - field.low))
        if self.slope is None and width == 0:
            return TopRule().target(field)
        return (1 / width if self.slope is None else self.slope) * field.estimate


class SharesRule(SelectionRule):
    """Chances as near as can be to each item's chance of being one of the best."""

    name = "shares"

    def target(self, field: Field) -> Table:
        """Return the shares."""
        return field.shares


class TopRule(SelectionRule):
    """Choose the highest estimates; the same chance for equal ones. No lottery."""

    name = "top"

    def target(self, field: Field) -> Table:
        """Return twice the rank of each estimate from below, equal ones together."""
        ranks = np.unique(field.estimate, return_inverse=True)[1]
        return (2 * ranks).astype(np.float64)


def count_certain(low: Table, high: Table) -> tuple[Codes, Codes]:
    """Count the items that each certainly beats, and those that certainly beat it.

    Examples:
        >>> beats, beaten = count_certain(np.array([3.0, 1, 0]), np.array([4, 2, 1.5]))
        >>> beats.tolist(), beaten.tolist()
        ([2, 0, 0], [0, 1, 1])
    """
    beats = np.searchsorted(np.sort(high), low, side="left")
    beaten = len(low) - np.searchsorted(np.sort(low), high, side="right")
    return beats, beaten


def split_certain(low: Table, high: Table, places: int) -> tuple[Flags, Flags]:
    """Return which items are in, and which are out, wherever the values are.

    Examples:
        >>> low, high = np.array([5.0, 1, 0, -3]), np.array([6.0, 3, 2, -1])
        >>> [flags.tolist() for flags in split_certain(low, high, 2)]
        [[True, False, False, False], [False, False, False, True]]
    """
    beats, beaten = count_certain(low, high)
    return beats >= len(low) - places, beaten >= places


def worst_case(
    chances: Floats | Sequence[Fraction], low: Table, high: Table, places: int
) -> float:
    """Return the least expected number of true best items that a lottery chooses.

    Args:
        chances: Chance of each item; Fractions give an exact result.
        low: Lower ends of the intervals of the items' values.
        high: Upper ends; values may be anywhere in their intervals.
        places: How many are chosen.

    Examples:
        >>> low, high = np.array([5.0, 1, 0]), np.array([6.0, 3, 2])
        >>> float(worst_case(np.array([1, 0.5, 0.5]), low, high, 2))
        1.5
    """
    return min(_least_sums(np.asarray(chances), low, high, places).values())


def _reach(
    low: Table, high: Table, places: int
) -> Iterable[tuple[int, Codes, Codes, int]]:
    """Yield the sets in which so many are first, for each number that is possible.

    Yields:
        The number; who is in for certain; of whom some are; how many of them.
    """
    order = np.argsort(-low, kind="stable")
    tops = high[order]
    for first in range(min(places + 1, len(low))):
        later = order[first + 1 :][tops[first + 1 :] >= low[order[first]]]
        inside, count = order[:first], places - first
        if count in (0, len(later)):
            inside, later, count = np.append(inside, later[:count]), later[:0], 0
        if count <= len(later):
            yield first, inside, later, count


def _least_sums(
    chances: Floats, low: Table, high: Table, places: int
) -> dict[int, float]:
    """Return the least sum over possible sets for each number of first items."""
    sums: dict[int, float] = {}
    for first, inside, later, count in _reach(low, high, places):
        least = np.sort(chances[later]) if is_exact(chances) else chances[later]
        least = least if is_exact(chances) or not count else np.partition(least, count)
        sums[first] = chances[inside].sum() + least[:count].sum()
    return sums


def _intervals(field: Field) -> tuple[Table, Table, int]:
    return field.low, field.high, field.places


def _fixed_codes(field: Field) -> Codes:
    return np.zeros(len(field.low), np.int64) if field.fixed is None else field.fixed


def _limits(field: Field) -> tuple[list[str], Table, Table, Table]:
    """Return names, weights of items, least and most of sums that have limits."""
    places = float(field.places)
    rows: list[tuple[str, Floats, float, float]]
    rows = [("the items", np.ones(len(field.low)), places, places)]
    rows += [
        (repr(q.name), q.members.astype(np.float64), q.least, q.most)
        for q in field.quotas
    ]
    names, *numbers = zip(*rows, strict=True)
    weights, least, most = (np.array(column, np.float64) for column in numbers)
    return list(names), weights, least, most


def _check_feasible(field: Field) -> None:
    """Refuse limits that cannot be met, and say which."""
    names, weights, least, most = _limits(field)
    count, size = weights.shape
    fixed = _fixed_codes(field)
    excess = np.hstack([np.eye(count), -np.eye(count)])
    result = optimize.milp(
        # The places come first, so that a quota is to blame.
        np.append(np.zeros(size), np.where(np.arange(2 * count) % count, 1.0, 1e6)),
        constraints=[(np.hstack([weights, excess]), least, most)],
        bounds=optimize.Bounds(
            np.append(fixed > 0, np.zeros(2 * count)),
            np.append(fixed >= 0, np.full(2 * count, np.inf)),
        ),
    )
    sums = weights @ result.x[:size]
    for name, total, *ends in zip(names, sums, least, most, strict=True):
        if not ends[0] - NEAR <= total <= ends[1] + NEAR:
            rule = " to ".join(f"{end:g}" for end in sorted({*ends} - {-np.inf}))
            raise OptionError(
                f"quotas and fixed items must leave room for {field.places} "
                f"places, got {name} with {total:g} instead of {rule}. Change one."
            )


class _Program(NamedTuple):
    """Least of half the curvature times squares, less gain times unknowns.

    The unknowns are distances below a threshold, chances of items that are not fixed,
    thresholds, the worst case.

    Attributes:
        curvature: Of each unknown.
        gain: Of each unknown.
        rows: Sums of unknowns: first those of few, then those of many.
        least: What the sums are at least.
        within: Whether they may be more.
        row: Threshold of each distance.
        column: Its chance; the last for fixed ones.
        dense: The rows of many without distances.
        n_rows: How many thresholds there are.
    """

    curvature: Table
    gain: Table
    rows: sparse.csr_array
    least: Table
    within: Flags
    row: Codes
    column: Codes
    dense: Table
    n_rows: int

    def add_up(self, values: Table) -> Table:
        """Add up values of distances for each threshold."""
        return np.bincount(self.row, values, self.n_rows).astype(np.float64)


def _program(
    field: Field, firsts: set[int], target: Table, curvature: float, price: float
) -> _Program:
    free = _fixed_codes(field) == 0
    sets = [part for part in _reach(*_intervals(field)) if part[0] in firsts]
    surely, counts = np.zeros((len(sets), len(free))), [part[3] for part in sets]
    for certain, (_, inside, _, _) in zip(surely, sets, strict=True):
        certain[inside] = 1
    row = np.repeat(np.arange(len(sets)), [len(part[2]) for part in sets])
    item = np.concatenate([np.zeros(0, np.int64), *(part[2] for part in sets)])
    sizes = np.array([len(row), len(free), len(sets), 1])
    unknowns = sparse.eye_array(sizes.sum(), format="csr")
    ends = [0, *np.cumsum(sizes)]
    distance, chance, threshold, worst = (unknowns[a:b] for a, b in pairwise(ends))
    taken = sparse.csr_array(
        (np.ones(len(row)), (row, np.arange(len(row)))), sizes[[2, 0]]
    )
    lots = sparse.csr_array(surely) @ chance - taken @ distance
    lots += sparse.diags_array(np.array(counts, np.float64)) @ threshold
    lots -= sparse.csr_array(np.ones((len(sets), 1))) @ worst
    _, weights, least, most = _limits(field)
    sums, is_equal = sparse.csr_array(weights) @ chance, least == most
    below, above = np.isfinite([least, most]) & ~is_equal
    short = (
        chance[free],
        -chance[free],
        distance,
        distance + chance[item] - threshold[row],
    )
    long = sums[is_equal], sums[below], -sums[above], lots
    rows, n_short = (
        sparse.vstack([*short, *long], "csr"),
        2 * int(free.sum() + len(row)),
    )
    limits = least[is_equal], least[below], -most[above], np.zeros(len(sets))
    floor = np.concatenate([np.zeros(n_short), *limits])
    floor[free.sum() : 2 * free.sum()] = -1
    kept = np.repeat([True, False, True, True], sizes)
    kept[ends[1] : ends[2]] = free
    within = np.ones(len(floor), dtype=bool)
    within[n_short : n_short + is_equal.sum()] = False
    gain = np.repeat([0.0, curvature, 0, price], sizes)
    gain[ends[1] : ends[2]] *= target
    scale = max(1.0, float(np.abs(gain).max()))
    return _Program(
        curvature=np.repeat([0, curvature, 0, 0], sizes)[kept] / scale,
        gain=gain[kept] / scale,
        rows=rows[:, kept],
        least=floor - rows @ (chance.T @ (_fixed_codes(field) > 0)),
        within=within,
        row=row,
        column=np.where(free, np.cumsum(free) - 1, free.sum())[item],
        dense=rows[n_short:, kept][:, len(row) :].toarray(),
        n_rows=len(sets),
    )


class _Point(NamedTuple):
    """Where a search is, or a step of it.

    Attributes:
        unknowns: The unknowns that are not settled.
        room: By how much each row is above its least; 0 if it is equal to it.
        prices: Multiplier of each row.
    """

    unknowns: Table
    room: Table
    prices: Table

    def move(self, step: _Point, length: float) -> _Point:
        """Go a part of the way."""
        return _Point(*(a + length * b for a, b in zip(self, step, strict=True)))

    def longest(self, step: _Point, within: Flags) -> float:
        """Return the share of a step, up to 1, at which something reaches zero."""
        rooms = -step.room[within] / self.room[within]
        prices = -step.prices[within] / self.prices[within]
        return 1 / max(1.0, float(rooms.max()), float(prices.max()))


def _solve(program: _Program, start: float) -> Table:
    """Follow the middle of the limits to the optimum (Mehrotra)."""
    unknowns = np.full(len(program.gain), start)
    room = np.maximum(program.rows @ unknowns - program.least, 0.1) * program.within
    point = _Point(unknowns, room, np.where(program.within, 0.1, 0.0))
    best, best_error, waits = point, np.inf, 0
    for _ in range(STEPS):
        newton = _Newton(program, point)
        waits = 0 if newton.error < 0.95 * best_error else waits + 1
        if newton.error < best_error:
            best, best_error = point, newton.error
        if waits > PATIENCE or best_error < DONE:
            break
        # Near the end rows may be the same but for rounding.
        with np.errstate(all="ignore"):
            if not newton.factor():
                break
            point = newton.step()
    if best_error > ENOUGH:
        raise ConvergenceError(
            "The chances of the lottery did not converge. Try another rule: cut."
        )
    return best.unknowns


class _Newton:
    """The equations of one step."""

    def __init__(self, program: _Program, point: _Point) -> None:
        self.program, self.point = program, point
        self.n_short = len(program.least) - len(program.dense)
        unknowns, room, prices = point
        self.off_rows = program.rows @ unknowns - program.least - room
        self.off_gain = program.curvature * unknowns - program.gain
        self.off_gain -= program.rows.T @ prices
        self.gap = float(room @ prices) / program.within.sum()
        offs = self.gap, np.abs(self.off_rows).max(), np.abs(self.off_gain).max()
        self.error = float(max(offs))

    def factor(self) -> bool:
        """Eliminate distances and chances, and factor what is over.

        These are the equations of long rows, thresholds and the worst case. False if
        rounding makes them singular.
        """
        program, (_, room, prices) = self.program, self.point
        n_pairs, n_rows = len(program.row), program.n_rows
        n_short = self.n_short
        stiffness, n_free = prices[:n_short] / room[:n_short], n_short // 2 - n_pairs
        self.stiffness, ends = stiffness, n_short - np.array([2, 1, 0]) * n_pairs
        slack, reach = (stiffness[a:b] for a, b in pairwise(ends))
        self.give, self.bend = 1 / (slack + reach), reach / (slack + reach)
        hold, n_long = slack * self.bend, program.dense.shape[0]
        self.ends = room[n_short:] / np.where(program.within, prices, 1.0)[n_short:]
        # The last place is for items that are fixed.
        holds, bends = np.zeros((2, n_rows, n_free + 1))
        holds[program.row, program.column] = hold
        bends[program.row, program.column] = self.bend
        weight = program.curvature[n_pairs:][:n_free] + holds.sum(axis=0)[:-1]
        self.weight = weight + stiffness[: 2 * n_free].reshape(2, -1).sum(axis=0)
        self.side = np.vstack([program.dense[:, :n_free], holds[:, :-1]])
        sets = slice(n_long - n_rows, n_long)
        self.side[sets] += bends[:, :-1]
        tail = program.dense[:, n_free:].copy()
        tail[sets, :n_rows] -= np.diag(program.add_up(self.bend))
        own = self.ends.copy()
        own[sets] += program.add_up(self.give)
        signs = np.repeat([1.0, -1.0], [n_long, n_rows])
        matrix = np.zeros((n_long + n_rows + 1,) * 2)
        matrix[:-1, :-1] = (signs[:, None] * self.side / self.weight) @ self.side.T
        matrix[:n_long, n_long:] += tail
        matrix[n_long:, :n_long] -= tail.T
        matrix += np.diag(np.concatenate([own, program.add_up(hold), [0.0]]) + TINY)
        *self.factors, failed = linalg.lapack.dgetrf(matrix)
        self.signs = signs
        return not failed

    def solve(self, force: Table, ends: Table) -> tuple[Table, Table]:
        """Return the unknowns and the prices of long rows that balance forces."""
        program, n_free = self.program, len(self.weight)
        n_pairs, n_rows, n_long = len(program.row), program.n_rows, len(ends)
        pairs, chance, tail = np.split(force, [n_pairs, n_pairs + n_free])
        bent, ends, tail = self.bend * pairs, ends.copy(), tail.copy()
        ends[n_long - n_rows :] += program.add_up(self.give * pairs)
        tail[:-1] += program.add_up(bent)
        chance = chance - np.bincount(program.column, bent, n_free + 1)[:-1]
        right = np.append(ends, tail)
        right[:-1] -= self.signs * (self.side @ (chance / self.weight))
        solution, _ = linalg.lapack.dgetrs(*self.factors, right)
        chance = np.append((chance + self.side.T @ solution[:-1]) / self.weight, 0.0)
        prices, thresholds = solution[:n_long], solution[n_long:]
        row, sets = program.row, prices[n_long - n_rows :]
        distance = self.give * (pairs - sets[row])
        distance -= self.bend * (chance[program.column] - thresholds[row])
        return np.concatenate([distance, chance[:-1], thresholds]), prices

    def direction(self, products: Table) -> _Point:
        """Return the step that lessens the products of room and price by so much."""
        program, (_, room, prices) = self.program, self.point
        short, long = slice(self.n_short), slice(self.n_short, None)
        pull = products[short] / room[short] + self.stiffness * self.off_rows[short]
        force = -self.off_gain - program.rows[short].T @ pull
        ends = -products / np.where(program.within, prices, 1.0) - self.off_rows
        unknowns, multipliers = np.zeros(len(force)), np.zeros(len(self.ends))
        for _ in range(REFINED):
            sums = program.rows @ unknowns
            pulls = np.append(self.stiffness * sums[short], -multipliers)
            off = force - program.curvature * unknowns - program.rows.T @ pulls
            parts = self.solve(off, ends[long] - sums[long] - self.ends * multipliers)
            unknowns, multipliers = unknowns + parts[0], multipliers + parts[1]
        rooms = program.rows @ unknowns + self.off_rows
        tight = -(products[short] + prices[short] * rooms[short]) / room[short]
        return _Point(unknowns, rooms * program.within, np.append(tight, multipliers))

    def step(self) -> _Point:
        """Go towards the optimum, and to the middle so far as that helps."""
        point, products = self.point, self.point.room * self.point.prices
        ahead = self.direction(products)
        there = point.move(ahead, point.longest(ahead, self.program.within))
        shrunk = float(there.room @ there.prices) / self.program.within.sum() / self.gap
        products += self.program.within * (
            ahead.room * ahead.prices - shrunk**3 * self.gap
        )
        step = self.direction(products)
        return point.move(step, EDGE * point.longest(step, self.program.within))


def _search(field: Field, target: Table, *, worst_first: bool) -> Table:
    """Return the chances nearest to a target, or of those with the best worst case."""
    if not worst_first:
        return _polish(field, target, _solve_with(field, set(), target, 1.0, 0.0), [])
    if not field.quotas and field.fixed is None:
        inside, outside = split_certain(*_intervals(field))
        field = dataclasses.replace(field, fixed=inside.astype(np.int64) - outside)
    firsts = set(np.linspace(0, field.places, JOINING).astype(int).tolist())
    chances = _solve_with(field, firsts, target, 0.0, 1.0)
    goal = worst_case(chances, *_intervals(field)) - CLOSE * field.places
    price = 10 * (1 + float(np.ptp(target)))
    while price < DEAREST:
        chances = _solve_with(field, firsts, target, 1.0, price)
        chances = _polish(field, target, chances, _worst_sets(field, chances))
        if worst_case(chances, *_intervals(field)) >= goal:
            return chances
        price *= 10
    raise ConvergenceError(
        "The chances of the lottery did not converge. Try another rule: cut."
    )


def _solve_with(
    field: Field, firsts: set[int], target: Table, curvature: float, price: float
) -> Table:
    """Solve a program with few of the constraints, and add those that fail."""
    chances, free = (
        (_fixed_codes(field) > 0).astype(np.float64),
        _fixed_codes(field) == 0,
    )
    while free.any():
        program = _program(field, firsts, target, curvature, price)
        unknowns = _solve(program, field.places / len(target))
        chances[free] = unknowns[len(program.row) :][: free.sum()]
        if not price:
            break
        sums = _least_sums(chances, *_intervals(field))
        bound = unknowns[-1] - CLOSE * field.places
        failing = sorted(sums.keys() - firsts, key=lambda first: sums[first])
        joining = [first for first in failing[:JOINING] if sums[first] < bound]
        if not joining:
            break
        firsts.update(joining)
    return chances


def _worst_sets(field: Field, chances: Table) -> list[Table]:
    """Return the sets that have the least sum of chances, as rows of flags."""
    rows: list[Table] = []
    sums = _least_sums(chances, *_intervals(field))
    for first, inside, later, count in _reach(*_intervals(field)):
        if sums[first] < min(sums.values()) + NEAR:
            rows.append(np.zeros(len(chances)))
            rows[-1][inside] = 1
            rows[-1][later[np.argsort(chances[later])[:count]]] = 1
    return rows


def _polish(
    field: Field, target: Table, chances: Table, worst_sets: list[Table]
) -> Table:
    """Solve exactly among chances with the same ties and the same tight limits."""
    free = (chances > 10 * NEAR) & (chances < 1 - 10 * NEAR)
    chances = np.where(free, chances, chances.round())
    order = np.argsort(chances[free])
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(np.diff(chances[free][order], prepend=0) > NEAR) - 1
    rows, ends = _tight_limits(field, chances)
    rows, ends = (
        np.vstack([rows, *worst_sets]),
        np.append(ends, [0.0] * len(worst_sets)),
    )
    if not len(order):
        return chances
    size = np.bincount(group)
    centre = np.bincount(group, target[free]) / size
    members = sparse.csr_array((np.ones(len(order)), (np.arange(len(order)), group)))
    counts = rows[:, free] @ members
    gaps = ends - rows[:, ~free] @ chances[~free] - counts @ centre
    # The worst case is one more unknown.
    worst = np.arange(len(ends)) >= len(ends) - len(worst_sets)
    system = np.column_stack([counts / size @ counts.T, -1.0 * worst])
    multipliers = linalg.lstsq(system, gaps, cond=1e-10)[0][:-1]
    polished = chances.copy()
    polished[free] = (centre + counts.T @ multipliers / size)[group]
    return polished if np.abs(polished - chances).max() < 20 * NEAR else chances


def _tight_limits(field: Field, chances: Table) -> tuple[Table, Table]:
    """Return weights and limits of the sums that are at their limits."""
    _, weights, least, most = _limits(field)
    sums, is_equal = weights @ chances, least == most
    at_least = (np.abs(sums - least) < NEAR) | is_equal
    at_most = (np.abs(sums - most) < NEAR) & ~is_equal
    rows = np.vstack([weights[at_least], weights[at_most]])
    return rows, np.append(least[at_least], most[at_most])


def _as_fractions(field: Field, chances: Table) -> tuple[Fraction, ...]:
    """Return exact chances that keep all limits, equal ones for equal items."""
    exact = np.array([_simple(chance) for chance in np.clip(chances, 0, 1).tolist()])
    weights, ends = _tight_limits(field, chances)
    rows = map_exact(Fraction, weights.astype(object))
    gaps = map_exact(Fraction, ends.astype(object)) - rows @ exact
    rows = rows * np.where((exact > 0) & (exact < 1), 1, 0).astype(object)
    # The least move that closes the gaps, by exact elimination.
    table = np.column_stack([rows @ rows.T, gaps])
    for k in range(len(rows)):
        if table[k, k]:
            table[k] = table[k] / table[k, k]
            others = np.arange(len(rows)) != k
            table[others] -= np.outer(table[others, k], table[k])
    moved: tuple[Fraction, ...] = tuple(exact + table[:, -1] @ rows)
    return moved


def _simple(chance: float) -> Fraction:
    simple = Fraction(chance).limit_denominator(SIMPLE)
    near = abs(simple - Fraction(chance)) < SAME
    return simple if near else Fraction(round(chance * UNIT), UNIT)
