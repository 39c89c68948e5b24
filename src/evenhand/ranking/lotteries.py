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

Every rule takes the chances nearest to a target that keep quotas, budget and fixed
items: they are unique, and equal items have equal chances. In the target of `maximin`
an item that certainly beats another is at least 1 higher, so that nobody can be drawn
before an item that certainly beats them.

References:
    Goldberg, Fanti and Shah (2025), arXiv 2506.19083. Mehrotra (1992), On the
    implementation of a primal-dual interior point method.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from scipy import linalg, optimize, sparse

from evenhand.arrays import is_exact
from evenhand.claims import NONE, Claim
from evenhand.errors import ConvergenceError, OptionError
from evenhand.method import Method, number, option

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evenhand.arrays import Codes, Flags, Floats, Table

# A worst case within this share of the places is the best; how many constraints join at
# once; steps at most, and how many may bring nothing.
CLOSE, JOINING, STEPS, PATIENCE = 1e-9, 10, 200, 6
# Chances are whole billionths, or fractions with a small denominator if that near.
UNIT, SIMPLE, SAME = 10**9, 1000, 1e-11
DONE, ENOUGH, TINY, EDGE, NEAR, REFINED = 1e-13, 1e-6, 1e-13, 0.99, 1e-6, 2


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
        costs: Cost of each item.
        budget: What the chosen may cost on average.
    """

    low: Table
    high: Table
    estimate: Table
    shares: Table
    places: int
    quotas: tuple[Quota, ...] = ()
    fixed: Codes | None = None
    costs: Table | None = None
    budget: float | None = None


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
            OptionError: If quotas, budget and fixed items cannot be met at once.
        """
        _check_feasible(field)
        target = self.target(field)
        search = _search_best if self.worst_first else _search_nearest
        return _as_fractions(field, search(field, target))


class MaximinRule(SelectionRule):
    """Choose the most of the true best in the worst case that intervals allow."""

    name = "maximin"
    default = True
    worst_first = True
    reference = "Goldberg, Fanti and Shah (2025), arXiv 2506.19083"

    def target(self, field: Field) -> Table:
        """Return shares, the mean for equal intervals, plus what an item beats."""
        intervals = np.column_stack([field.low, field.high])
        groups = np.unique(intervals, axis=0, return_inverse=True)[1].reshape(-1)
        means = np.bincount(groups, field.shares) / np.bincount(groups)
        return np.asarray(means[groups] + count_certain(field.low, field.high)[0])


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
        """Return the rank of each estimate from below, equal ones together."""
        return np.unique(field.estimate, return_inverse=True)[1].astype(np.float64)


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
    sums = _least_sums(np.asarray(chances), low, high, places)
    least: float = min(sums.values())
    return least


def _reach(low: Table, high: Table, places: int) -> Iterable[tuple[int, Codes, Codes]]:
    """Yield how many are first, which, and which later ones may be better than next.

    Only numbers of first items that leave enough later ones for the places.
    """
    order = np.argsort(-low, kind="stable")
    tops = high[order]
    for first in range(min(places + 1, len(low))):
        later = order[first + 1 :][tops[first + 1 :] >= low[order[first]]]
        if first == places or len(later) >= places - first:
            yield first, order[:first], later


def _least_sums(
    chances: Floats, low: Table, high: Table, places: int
) -> dict[int, float]:
    """Return the least sum over possible sets for each number of first items."""
    sums: dict[int, float] = {}
    for first, inside, later in _reach(low, high, places):
        count, least = places - first, chances[later]
        if is_exact(chances):
            least = np.sort(least)
        elif 0 < count < len(least):
            least = np.partition(least, count - 1)
        sums[first] = chances[inside].sum() + least[:count].sum()
    return sums


class _Limits(NamedTuple):
    """Sums that must stay between two numbers: all places, quotas, the budget."""

    names: list[str]
    weights: Table
    least: Table
    most: Table


def _limits(field: Field) -> _Limits:
    size, places = len(field.low), float(field.places)
    rows: list[tuple[str, Table, float, float]]
    rows = [("the items", np.ones(size), places, places)]
    rows += [
        (
            repr(quota.name),
            quota.members.astype(np.float64),
            float(quota.least),
            float(quota.most),
        )
        for quota in field.quotas
    ]
    if field.costs is not None and field.budget is not None:
        rows.append(("the cost", field.costs, -np.inf, field.budget))
    names, weights, least, most = zip(*rows, strict=True)
    return _Limits(list(names), *map(np.array, (weights, least, most)))


def _bounds(field: Field) -> Table:
    """Return the least and the greatest chance of each item."""
    fixed = np.zeros(len(field.low)) if field.fixed is None else field.fixed
    return np.column_stack([fixed > 0, fixed >= 0]).astype(np.float64)


def _check_feasible(field: Field) -> None:
    """Refuse limits that cannot be met, and say which."""
    limits, (low, high) = _limits(field), _bounds(field).T
    count, size = limits.weights.shape
    excess = np.hstack([np.eye(count), -np.eye(count)])
    rows = np.hstack([limits.weights, excess])
    result = optimize.milp(
        np.repeat([0.0, 1.0], [size, 2 * count]),
        constraints=optimize.LinearConstraint(rows, limits.least, limits.most),
        bounds=optimize.Bounds(
            np.append(low, np.zeros(2 * count)),
            np.append(high, np.full(2 * count, np.inf)),
        ),
    )
    sums = limits.weights @ result.x[:size]
    is_broken = (sums < limits.least - CLOSE) | (sums > limits.most + CLOSE)
    if is_broken.any():
        row = int(np.flatnonzero(is_broken)[-1])
        rule = " to ".join(
            f"{bound:g}"
            for bound in sorted({limits.least[row], limits.most[row]})
            if np.isfinite(bound)
        )
        raise OptionError(
            f"quotas, budget and fixed items must leave chances that add up to "
            f"{field.places}, got {limits.names[row]} with {sums[row]:g} instead of "
            f"{rule}. Change one of them."
        )


class _Pairs(NamedTuple):
    """Constraints of the worst case, one for each number of first items.

    Attributes:
        surely: Whether an item is in the set for certain.
        number: How many of the others are.
        row: Constraint of each pair of a constraint and one of its others.
        item: The other.
    """

    surely: Table
    number: Table
    row: Codes
    item: Codes


def _pairs(field: Field, firsts: set[int]) -> _Pairs:
    size, places = len(field.low), field.places
    surely, counts = [np.zeros((0, size))], list[int]()
    others: list[Codes] = []
    for first, inside, later in _reach(field.low, field.high, places):
        if first not in firsts:
            continue
        sets_of_one = places - first in (0, len(later))
        certain = np.zeros((1, size))
        certain[0, inside] = 1
        certain[0, later[: len(later) * sets_of_one]] = places > first
        surely.append(certain)
        counts.append(0 if sets_of_one else places - first)
        others.append(later[: len(later) * (not sets_of_one)])
    row = np.repeat(np.arange(len(others)), [len(later) for later in others])
    item = np.concatenate([np.zeros(0, np.int64), *others])
    return _Pairs(np.vstack(surely), np.array(counts, dtype=np.float64), row, item)


class _Program(NamedTuple):
    """Least of half the curvature times squares, less gain times unknowns.

    The unknowns are distances below a threshold, chances, thresholds, the worst case.

    Attributes:
        curvature: Of each unknown.
        gain: Of each unknown.
        rows: Sums of unknowns: first those of few, then those of many.
        least: What the sums are at least.
        n_short: How many have few unknowns.
        within: Whether they may be more.
        settled: The value of each unknown that is settled, nan for the others.
        row: Threshold of each distance.
        column: Its chance, among those that are not settled; the last for others.
        n_rows: How many thresholds there are.
        dense: The rows of many without distances.
    """

    curvature: Table
    gain: Table
    rows: sparse.csr_array
    least: Table
    n_short: int
    within: Flags
    settled: Table
    row: Codes
    column: Codes
    n_rows: int
    dense: Table

    def add_up(self, values: Table) -> Table:
        """Add up values of distances for each threshold."""
        return np.bincount(self.row, values, self.n_rows).astype(np.float64)

    def of_free_unknowns(self) -> _Program:
        """Take out what is settled, and scale the gains."""
        free, scale = np.isnan(self.settled), max(1.0, float(np.abs(self.gain).max()))
        return self._replace(
            curvature=self.curvature[free] / scale,
            gain=self.gain[free] / scale,
            rows=self.rows[:, free],
            dense=self.rows[self.n_short :][:, free][:, len(self.row) :].toarray(),
            least=self.least - self.rows @ np.nan_to_num(self.settled),
        )


def _program(
    field: Field, pairs: _Pairs, target: Table, curvature: float, price: float
) -> _Program:
    sizes = n_pairs, size, n_rows = len(pairs.row), len(target), len(pairs.number)
    unknowns = sparse.eye_array(sum(sizes) + 1, format="csr")
    distance, chance, threshold, worst = (
        unknowns[part] for part in np.split(np.arange(sum(sizes) + 1), np.cumsum(sizes))
    )
    bounds, limits = _bounds(field), _limits(field)
    free, is_equal = bounds[:, 0] < bounds[:, 1], limits.least == limits.most
    from_below, from_above = np.isfinite([limits.least, limits.most]) & ~is_equal
    sums = sparse.csr_array(limits.weights) @ chance
    taken = sparse.csr_array(
        (np.ones(n_pairs), (pairs.row, np.arange(n_pairs))), (n_rows, n_pairs)
    )
    sets = sparse.csr_array(pairs.surely) @ chance - taken @ distance
    sets += sparse.diags_array(pairs.number) @ threshold
    sets -= sparse.csr_array(np.ones((n_rows, 1))) @ worst
    reach = distance + chance[pairs.item] - threshold[pairs.row]
    short = [chance[free], -chance[free], distance, reach]
    long = [sums[is_equal], sums[from_below], -sums[from_above], sets]
    lengths = [int(free.sum())] * 2 + [2 * n_pairs]
    ends = limits.least[is_equal], limits.least[from_below], -limits.most[from_above]
    least = np.concatenate([-np.repeat([0.0, 1, 0], lengths), *ends, np.zeros(n_rows)])
    n_equal, settled = int(is_equal.sum()), np.where(free, np.nan, bounds[:, 0])
    within = np.ones(len(least), dtype=bool)
    within[sum(lengths) : sum(lengths) + n_equal] = False
    gains = np.zeros(n_pairs), curvature * target, np.zeros(n_rows), [price]
    return _Program(
        curvature=np.repeat([0, curvature, 0], [n_pairs, size, n_rows + 1]),
        gain=np.concatenate(gains),
        rows=sparse.vstack(short + long, "csr"),
        least=least,
        n_short=sum(lengths),
        within=within,
        settled=np.pad(settled, (n_pairs, n_rows + 1), constant_values=np.nan),
        row=pairs.row,
        column=np.where(free, np.cumsum(free) - 1, free.sum())[pairs.item],
        n_rows=n_rows,
        dense=np.zeros((0, 0)),
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


def _solve(program: _Program, start: Table) -> tuple[Table, Flags]:
    """Follow the middle of the limits to the optimum (Mehrotra).

    Returns:
        The unknowns, and whether each row, short ones first, is at its least.
    """
    free, part = np.isnan(program.settled), program.of_free_unknowns()
    room = np.maximum(part.rows @ start[free] - part.least, 0.1) * part.within
    point = _Point(start[free], room, np.where(part.within, 0.1, 0.0))
    best, best_error, waits = point, np.inf, 0
    for _ in range(STEPS):
        newton = _Newton(part, point)
        waits = 0 if newton.error < 0.95 * best_error else waits + 1
        if newton.error < best_error:
            best, best_error = point, newton.error
        if waits > PATIENCE or best_error < DONE:
            break
        newton.factor()
        point = newton.step()
    if best_error > ENOUGH:
        raise ConvergenceError("The chances of the lottery did not converge.")
    unknowns = np.nan_to_num(program.settled)
    unknowns[free] = best.unknowns
    return unknowns, best.room < best.prices


class _Newton:
    """The equations of one step."""

    def __init__(self, program: _Program, point: _Point) -> None:
        self.program, self.point = program, point
        unknowns, room, prices = point
        self.off_rows = program.rows @ unknowns - program.least - room
        self.off_gain = program.curvature * unknowns - program.gain
        self.off_gain -= program.rows.T @ prices
        self.gap = float(room @ prices) / program.within.sum()
        offs = self.gap, np.abs(self.off_rows).max(), np.abs(self.off_gain).max()
        self.error = float(max(offs))

    def factor(self) -> None:
        """Eliminate distances and chances, and factor what is over.

        These are the equations of long rows, thresholds and the worst case.
        """
        program, (_, room, prices) = self.program, self.point
        n_short, n_pairs, n_rows = program.n_short, len(program.row), program.n_rows
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
        self.signs, self.factors = signs, linalg.lu_factor(matrix, check_finite=False)

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
        solution = linalg.lu_solve(self.factors, right, check_finite=False)
        chance = np.append((chance + self.side.T @ solution[:-1]) / self.weight, 0.0)
        prices, thresholds = solution[:n_long], solution[n_long:]
        row, sets = program.row, prices[n_long - n_rows :]
        distance = self.give * (pairs - sets[row])
        distance -= self.bend * (chance[program.column] - thresholds[row])
        return np.concatenate([distance, chance[:-1], thresholds]), prices

    def direction(self, products: Table) -> _Point:
        """Return the step that lessens the products of room and price by so much."""
        program, (_, room, prices) = self.program, self.point
        short, long = slice(program.n_short), slice(program.n_short, None)
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


def _search_nearest(field: Field, target: Table) -> Table:
    """Return the chances nearest to a target."""
    return _solve_with(field, set(), target, 1.0, 0.0)


def _search_best(field: Field, target: Table) -> Table:
    """Return the nearest of those with the best worst case."""
    if not (field.quotas or field.fixed is not None or field.costs is not None):
        inside, outside = split_certain(field.low, field.high, field.places)
        fixed = inside * np.int64(1) - outside
        field = dataclasses.replace(field, fixed=fixed)
    firsts = set(np.linspace(0, field.places, JOINING).astype(int).tolist())
    best = _solve_with(field, firsts, target, 0.0, 1.0)
    goal = worst_case(best, field.low, field.high, field.places)
    price = 10 * (1 + float(np.ptp(target)))
    while True:
        chances = _solve_with(field, firsts, target, 1.0, price)
        worst = worst_case(chances, field.low, field.high, field.places)
        if worst >= goal - CLOSE * field.places:
            return chances
        price *= 10


def _solve_with(
    field: Field, firsts: set[int], target: Table, curvature: float, price: float
) -> Table:
    """Solve a program with few of the constraints, and add those that fail."""
    size = len(target)
    if field.fixed is not None and field.fixed.all():
        return np.asarray(field.fixed > 0, dtype=np.float64)
    while True:
        pairs = _pairs(field, firsts)
        program = _program(field, pairs, target, curvature, price)
        start = np.full(len(program.gain), field.places / size)
        unknowns, _ = _solve(program, start)
        chances = unknowns[len(pairs.row) :][:size]
        if not price:
            return chances
        sums = _least_sums(chances, field.low, field.high, field.places)
        failing = sorted(
            (total, first)
            for first, total in sums.items()
            if total < unknowns[-1] - CLOSE * field.places and first not in firsts
        )
        if not failing:
            return chances
        firsts.update(first for _, first in failing[:JOINING])


def _as_fractions(field: Field, chances: Table) -> tuple[Fraction, ...]:
    """Return exact chances that keep all limits, equal ones for equal items."""
    parts = []
    for chance in np.clip(chances, 0, 1).tolist():
        simple = Fraction(chance).limit_denominator(SIMPLE)
        near = abs(simple - Fraction(chance)) < SAME
        parts.append(simple if near else Fraction(round(chance * UNIT), UNIT))
    limits, free = _limits(field), [0 < part < 1 for part in parts]
    rows, gaps = list[list[Fraction]](), list[Fraction]()
    for weights, *ends in zip(limits.weights, limits.least, limits.most, strict=True):
        exact = list(map(Fraction, weights.tolist()))
        total = sum(map(Fraction.__mul__, exact, parts), Fraction(0))
        for end in {float(end) for end in ends if abs(float(total) - end) < NEAR}:
            rows.append(exact)
            gaps.append(Fraction(end) - total)
    moves = [Fraction(0)] * len(parts)
    open_rows = [[w * f for w, f in zip(row, free, strict=True)] for row in rows]
    for row, multiplier in zip(open_rows, _least_move(open_rows, gaps), strict=True):
        moves = [move + multiplier * w for move, w in zip(moves, row, strict=True)]
    return tuple(map(Fraction.__add__, parts, moves))


def _least_move(rows: list[list[Fraction]], gaps: list[Fraction]) -> list[Fraction]:
    """Return multiples of rows that add up to the least move across gaps."""
    table = [
        [
            *(sum(map(Fraction.__mul__, row, column), Fraction(0)) for column in rows),
            gap,
        ]
        for row, gap in zip(rows, gaps, strict=True)
    ]
    multiples = [Fraction(0)] * len(rows)
    pivots: dict[int, int] = {}
    for column in range(len(rows)):
        free = (k for k, row in enumerate(table) if row[column] and k not in pivots)
        pivot = next(free, None)
        if pivot is None:
            continue
        pivots[pivot] = column
        table[pivot] = [part / table[pivot][column] for part in table[pivot]]
        for k, row in enumerate(table):
            if k != pivot:
                table[k] = [
                    part - row[column] * by
                    for part, by in zip(row, table[pivot], strict=True)
                ]
    for pivot, column in pivots.items():
        multiples[column] = table[pivot][-1]
    return multiples
