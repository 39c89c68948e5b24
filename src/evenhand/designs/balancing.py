"""Balanced assignments as grids: rows take columns, every column equally often.

Loads that differ by one are made equal by a spare row, which takes each column that has
one place left over. A grid can be filled or there is a reason why not. Where all ways
to fill it can be counted, each is drawn with the same probability; where they are too
many, a random walk over all of them is run for long.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from evenhand.designs.design import Bundles, choose
from evenhand.errors import DesignError, listing, must_be, plural, require_whole
from evenhand.randomness import Stream, uniforms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evenhand.randomness import Chance

    Group = tuple[int, int]
    State = tuple[tuple[Group, int], ...]
    Choice = tuple[int, ...]
    Step = tuple[int, Choice, State]

Card = TypeVar("Card")

BUDGET = 200_000
"""Kinds of columns looked at while counting, at most; about half a second."""
MOST_KINDS = 40
LAPS = 8
BLOCK = 4096


@dataclass(frozen=True, slots=True)
class Grid:
    """What is to be filled: reviewers by items; turned round, items by reviewers.

    Attributes:
        sizes: How many columns each row takes; the spare row, if any, is the last.
        columns: Number of columns.
        load: How many rows take each column.
        barred: The columns that each row may not take.
        spare: Size of the spare row, 0 if there is none.
        turned: Whether rows are items.
    """

    sizes: tuple[int, ...]
    columns: int
    load: int
    barred: tuple[frozenset[int], ...]
    spare: int
    turned: bool = False

    @classmethod
    def of(
        cls,
        n_items: int,
        n_reviewers: int,
        per_reviewer: int | None,
        per_item: int | None,
        conflicts: Iterable[tuple[int, int]],
    ) -> Grid:
        """Check that the numbers fit.

        Examples:
            >>> Grid.of(3, 2, 2, None, [(0, 1)])  # doctest: +ELLIPSIS
            Grid(sizes=(2, 2, 2), columns=3, load=2, barred=(frozenset({1}), ...
        """
        each = items_each(n_items, n_reviewers, per_reviewer, per_item)
        turned = per_reviewer is None
        rows, columns = (n_items, n_reviewers) if turned else (n_reviewers, n_items)
        load = -(-rows * each // columns)
        spare = columns * load - rows * each
        sizes = (each,) * rows + (spare,) * bool(spare)
        barred: list[set[int]] = [set() for _ in sizes]
        for reviewer, item in conflicts:
            if not (0 <= reviewer < n_reviewers and 0 <= item < n_items):
                rule = f"of reviewers below {n_reviewers} and items below {n_items}"
                raise must_be("conflicts", rule, (reviewer, item))
            barred[item if turned else reviewer].add(reviewer if turned else item)
        return cls(sizes, columns, load, tuple(map(frozenset, barred)), spare, turned)

    @property
    def rows(self) -> int:
        """Number of rows without the spare one."""
        return len(self.sizes) - bool(self.spare)

    def bundles(self, filled: Bundles) -> Bundles:
        """Return the items of each reviewer."""
        rows = filled[: self.rows]
        if not self.turned:
            return rows
        return tuple(
            tuple(item for item, reviewers in enumerate(rows) if reviewer in reviewers)
            for reviewer in range(self.columns)
        )


class InfeasibleError(DesignError):
    """No assignment meets all constraints."""

    def __init__(self, grid: Grid, rows: Iterable[int], columns: Iterable[int]) -> None:
        """Keep what cannot be met, and say why with numbers for names.

        Args:
            grid: What cannot be filled.
            rows: Rows that cannot take enough, all together.
            columns: The columns that have too little room for them.
        """
        self.grid, self.rows, self.columns = grid, sorted(rows), frozenset(columns)
        most = range(max(len(grid.sizes), grid.columns))
        super().__init__(self.reason(most, most))

    def reason(self, reviewers: Sequence[object], items: Sequence[object]) -> str:
        """Say why, with the names of reviewers and items."""
        grid = self.grid
        barred, need = grid.barred[: grid.rows], grid.load - bool(grid.spare)
        sides = (("reviewer", reviewers), ("item", items))
        (row, rows), (column, columns) = sides[::-1] if grid.turned else sides
        columns = columns[: grid.columns]
        alone = [
            (row, label, column, grid.sizes[0], grid.columns - len(own))
            for label, own in zip(rows, barred, strict=False)
        ]
        alone += [
            (column, what, row, need, sum(code not in own for own in barred))
            for code, what in enumerate(columns)
        ]
        for kind, name, unit, least, free in alone:
            if free < least:
                return (
                    f"{kind} {name!r} must get {plural(least, unit)}, got only "
                    f"{free} without a conflict. Drop a conflict, or ask for fewer."
                )
        few, many = column, row
        names = [rows[index] for index in self.rows if index < grid.rows]
        if grid.spare and grid.rows in self.rows:
            # What they may take beside is needed elsewhere: other columns get too few.
            few, many = row, column
            names = [
                column_label
                for code, column_label in enumerate(columns)
                if code not in self.columns
            ]
        return (
            f"Conflicts leave too few {few}s for the {many}s {listing(names)} "
            "together. Drop a conflict, or ask for fewer."
        )


def items_each(
    n_items: int, n_reviewers: int, per_reviewer: int | None, per_item: int | None
) -> int:
    """Return how many each reviewer gets, or each item if that alone is given.

    Raises:
        DesignError: If neither is given, one is too large, or the two do not fit.

    Examples:
        >>> items_each(4, 2, 2, 1), items_each(4, 2, None, 1)
        (2, 1)
    """
    if per_reviewer is not None:
        require_whole("per_reviewer", per_reviewer, 1, n_items, "the number of items")
    if per_item is not None:
        require_whole("per_item", per_item, 1, n_reviewers, "that of reviewers")
    each = per_item if per_reviewer is None else per_reviewer
    if each is None:
        raise DesignError("per_reviewer or per_item must be given, got neither.")
    places, reviews = n_reviewers * each, n_items * (per_item or 0)
    if per_reviewer is not None and per_item is not None and places != reviews:
        raise DesignError(
            f"per_reviewer and per_item must fit, got {n_reviewers} reviewers x "
            f"{per_reviewer} = {places} places for {n_items} items x {per_item} = "
            f"{reviews} reviews. Give one of the two: then loads on the other side "
            "differ by at most one."
        )
    return each


def fill(grid: Grid) -> Bundles:
    """Fill a grid in one fixed way.

    Raises:
        InfeasibleError: If it cannot be filled.
    """
    filled: list[set[int]] = [set() for _ in grid.sizes]
    room = [grid.load] * grid.columns
    for row, size in enumerate(grid.sizes):
        free = [c for c in range(grid.columns) if room[c] and c not in grid.barred[row]]
        filled[row] = set(heapq.nsmallest(size, free, key=lambda c: (-room[c], c)))
        for column in filled[row]:
            room[column] -= 1
    for row, size in enumerate(grid.sizes):
        while len(filled[row]) < size:
            short = _augment(grid, filled, room, row)
            if short is not None:
                raise InfeasibleError(grid, *short)
    return tuple(tuple(sorted(columns)) for columns in filled)


def _augment(
    grid: Grid, filled: list[set[int]], room: list[int], row: int
) -> tuple[Iterable[int], Iterable[int]] | None:
    """Give a row one column more along a shortest path of exchanges.

    Returns:
        None, or the rows and columns that were reached if there is no such path.
    """
    came: dict[int, int] = {}
    through = {row: -1}
    queue = [row]
    for current in queue:
        for column in range(grid.columns):
            if (
                column in came
                or column in filled[current]
                or column in grid.barred[current]
            ):
                continue
            came[column] = current
            if room[column]:
                room[column] -= 1
                while column >= 0:
                    current = came[column]  # noqa: PLW2901 - the search ends here
                    filled[current].add(column)
                    column = through[current]  # noqa: PLW2901 - the same
                    filled[current].discard(column)
                return None
            for next_row, columns in enumerate(filled):
                if column in columns and next_row not in through:
                    through[next_row] = column
                    queue.append(next_row)
    return through, came


def deal(n_items: int, n_reviewers: int, per_reviewer: int, chance: Chance) -> Bundles:
    """Deal items like cards, bundle after bundle from shuffled decks.

    Examples:
        >>> from evenhand.randomness import outcomes
        >>> len(outcomes(lambda chance: deal(3, 2, 2, chance)))
        6
    """
    deck: list[int] = []
    bundles = []
    for _ in range(n_reviewers):
        hand: list[int] = []
        if len(deck) < per_reviewer:
            hand = deck
            # Cards that the bundle holds already lie at the end, out of reach.
            deck = [card for card in range(n_items) if card not in hand] + hand
        reach = len(deck) - len(hand)
        while len(hand) < per_reviewer:
            hand.append(_take(deck, reach, chance))
            reach -= 1
        bundles.append(tuple(sorted(hand)))
    return tuple(
        _take(bundles, remaining, chance) for remaining in range(n_reviewers, 0, -1)
    )


def _take(cards: list[Card], reach: int, chance: Chance) -> Card:
    index = chance.pick(reach)
    cards[index], cards[reach - 1] = cards[reach - 1], cards[index]
    return cards.pop(reach - 1)


class FillingCounts:
    """How many ways there are to fill the rows that are left, from every state.

    A state says how many columns of each kind there are; columns are of one kind if the
    rows that are left may or may not take both, and if both have as much room.

    Examples:
        >>> grid = Grid.of(4, 4, 1, None, [(i, i) for i in range(4)])
        >>> derangements = FillingCounts(grid)
        >>> derangements.count(), list(derangements.ways[0].values())
        (True, [9])
    """

    def __init__(self, grid: Grid) -> None:
        """Prepare the kinds of columns; rows with most conflicts go first."""
        self.grid = grid
        rows = range(len(grid.sizes))
        self.order = sorted(rows, key=lambda row: -len(grid.barred[row]))
        self.kinds = [[0] * grid.columns]
        for row in reversed(self.order):
            later = self.kinds[0]
            keys = [(c in grid.barred[row], later[c]) for c in range(grid.columns)]
            codes = {key: code for code, key in enumerate(sorted(set(keys)))}
            self.kinds.insert(0, [codes[key] for key in keys])
        self.after = [
            dict(zip(kinds, later, strict=True))
            for kinds, later in itertools.pairwise(self.kinds)
        ]
        # For each row: from a state to its steps, and to the ways to fill what is left.
        self.steps: list[dict[State, list[Step]]] = []
        self.ways: list[dict[State, int]] = []

    def count(self) -> bool:
        """Count from the last row back; False if there are too many states."""
        remaining = BUDGET
        kinds = zip(self.kinds[0], [self.grid.load] * self.grid.columns, strict=True)
        layer = {_state(kinds)}
        for depth in range(len(self.order)):
            table: dict[State, list[Step]] = {}
            for state in layer:
                table[state] = []
                if len(state) > MOST_KINDS:
                    return False
                for choice in self._choices(depth, state):
                    remaining -= len(state)
                    if remaining < 0:
                        return False
                    table[state] += self._step(depth, state, choice)
            self.steps.append(table)
            layer = {after for steps in table.values() for _, _, after in steps}
        self.ways = [dict.fromkeys(layer, 1)]
        for table in reversed(self.steps):
            later = self.ways[0]
            sums = {
                state: sum(ways * later[after] for ways, _, after in steps)
                for state, steps in table.items()
            }
            self.ways.insert(0, sums)
        return True

    def _choices(self, depth: int, state: State) -> Iterator[Choice]:
        """List how many columns of each kind the row may take."""
        row = self.order[depth]
        barred = {self.kinds[depth][column] for column in self.grid.barred[row]}
        free = [
            number * (kind not in barred and room > 0) for (kind, room), number in state
        ]
        return _summing(free, self.grid.sizes[row])

    def _step(self, depth: int, state: State, choice: Choice) -> list[Step]:
        after, ways = self.after[depth], 1
        groups: Counter[Group] = Counter()
        for ((kind, room), number), n_chosen in zip(state, choice, strict=True):
            ways *= math.comb(number, n_chosen)
            groups[after[kind], room - 1] += n_chosen
            groups[after[kind], room] += number - n_chosen
        groups = +groups
        if max(room for _, room in groups) > len(self.order) - depth - 1:
            return []
        return [(ways, choice, tuple(sorted(groups.items())))]

    def draw(self, chance: Chance) -> Bundles:
        """Draw one of all ways to fill the grid, each with the same probability."""
        room = [self.grid.load] * self.grid.columns
        filled: list[tuple[int, ...]] = [()] * len(self.order)
        for depth, row in enumerate(self.order):
            kinds = list(zip(self.kinds[depth], room, strict=True))
            state, chosen = _state(kinds), []
            choice = self._choice(depth, state, chance)
            for (group, _), number in zip(state, choice, strict=True):
                of_kind = [column for column, kind in enumerate(kinds) if kind == group]
                picks = choose(len(of_kind), number, chance)
                chosen += list(itertools.compress(of_kind, picks))
            for column in chosen:
                room[column] -= 1
            filled[row] = tuple(sorted(chosen))
        return tuple(filled)

    def _choice(self, depth: int, state: State, chance: Chance) -> Choice:
        remaining = self.ways[depth][state]
        for ways, choice, after in self.steps[depth][state]:
            mass = ways * self.ways[depth + 1][after]
            if chance.coin(Fraction(mass, remaining)):
                return choice
            remaining -= mass
        raise DesignError("No assignment is left.")


def _state(kinds: Iterable[Group]) -> State:
    return tuple(sorted(Counter(kinds).items()))


def _summing(most: Sequence[int], total: int) -> Iterator[Choice]:
    """List numbers from 0 to each of some bounds with a given sum."""
    if total > sum(most):
        return
    if not most:
        yield ()
        return
    for number in range(min(most[0], total) + 1):
        for others in _summing(most[1:], total - number):
            yield (number, *others)


def fair_start(grid: Grid, chance: Chance) -> Bundles:
    """Deal a grid without conflicts: a walk from there favours no name.

    Examples:
        >>> from evenhand.randomness import outcomes
        >>> grid = Grid.of(2, 2, 1, None, ())
        >>> len(outcomes(lambda chance: fair_start(grid, chance)))
        2
    """
    start = deal(grid.columns, grid.rows, grid.sizes[0], chance)
    counts = Counter(column for row in start for column in row)
    spare = (c for c in range(grid.columns) if counts[c] < grid.load)
    return start + (tuple(spare),) * bool(grid.spare)


def walk(grid: Grid, start: Bundles, source: Stream) -> Bundles:
    """Move from one way to fill the grid to a random other one.

    Each lap opens one random place and exchanges places along a random path until the
    open place can be filled again. A lap goes from any filling to any other with the
    same probability as back, so that it keeps the uniform law; and laps can undo any
    cycle of exchanges, so that they reach every filling. A lap that gets too long is
    undone, which changes neither. Lap after lap the law comes close to uniform.

    Examples:
        >>> from evenhand.randomness import stream
        >>> grid = Grid.of(3, 3, 1, None, ())
        >>> sorted(walk(grid, fill(grid), stream(7, "walk")))
        [(0,), (1,), (2,)]
    """
    filled = [set(columns) for columns in start]
    holders: list[list[int]] = [[] for _ in range(grid.columns)]
    for row, columns in enumerate(start):
        for column in columns:
            holders[column].append(row)
    chances = _chances(source)
    places = grid.columns * grid.load
    for _ in range(math.ceil(LAPS * grid.load * math.log(places + 1)) + LAPS):
        _lap(grid, filled, holders, chances)
    return tuple(tuple(sorted(columns)) for columns in filled)


def _lap(
    grid: Grid,
    filled: list[set[int]],
    holders: list[list[int]],
    chances: Iterator[float],
) -> None:
    n, load, barred = grid.columns, grid.load, grid.barred
    hole = int(next(chances) * n)
    first = holders[hole].pop(int(next(chances) * load))
    filled[first].discard(hole)
    row = first
    moves: list[tuple[int, int, int]] = []
    for _ in range(64 * n + BLOCK):
        column = int(next(chances) * n)
        index = int(next(chances) * load)
        if column in filled[row] or column in barred[row]:
            continue
        filled[row].add(column)
        if column == hole:
            holders[hole].append(row)
            return
        holder = holders[column][index]
        holders[column][index] = row
        filled[holder].discard(column)
        moves.append((column, index, holder))
        row = holder
    for column, index, holder in reversed(moves):
        row = holders[column][index]
        holders[column][index] = holder
        filled[holder].add(column)
        filled[row].discard(column)
    filled[first].add(hole)
    holders[hole].append(first)


def _chances(source: Stream) -> Iterator[float]:
    while True:
        yield from uniforms(source, BLOCK).tolist()
