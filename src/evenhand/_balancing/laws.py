"""Draw one of all ways to fill a grid.

Where all ways can be counted, each is drawn with the same probability; where they are
too many, a random walk over all of them is run for long.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from evenhand._randomness import Stream, uniforms
from evenhand.errors import DesignError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand._balancing.grids import Bundles, Grid
    from evenhand._outcomes import Chance

    Group = tuple[int, int]
    State = tuple[tuple[Group, int], ...]
    Choice = tuple[tuple[Group, int], ...]
    Step = tuple[int, Choice, State]

Card = TypeVar("Card")

BUDGET = 200_000
"""Kinds of columns looked at while counting, at most; about half a second."""
MOST_KINDS = 40
LAPS = 8
BLOCK = 4096


def deal(n_items: int, n_reviewers: int, per_reviewer: int, chance: Chance) -> Bundles:
    """Deal items like cards, bundle after bundle from shuffled decks."""
    deck: list[int] = []
    bundles = []
    for _ in range(n_reviewers):
        held: list[int] = []
        if len(deck) < per_reviewer:
            held = deck
            # Cards that the bundle holds already lie at the end, out of reach.
            deck = [card for card in range(n_items) if card not in held] + held
        reach = len(deck) - len(held)
        while len(held) < per_reviewer:
            held.append(_take(deck, reach, chance))
            reach -= 1
        bundles.append(tuple(sorted(held)))
    return tuple(_take(bundles, left, chance) for left in range(n_reviewers, 0, -1))


def _take(cards: list[Card], reach: int, chance: Chance) -> Card:
    index = chance.pick(reach)
    cards[index], cards[reach - 1] = cards[reach - 1], cards[index]
    return cards.pop(reach - 1)


class Tables:
    """How many ways there are to fill the rows that are left, from every state.

    A state says how many columns of each kind there are; columns are of one kind if the
    rows that are left may or may not take both, and if both have as much room.
    """

    def __init__(self, grid: Grid) -> None:
        """Prepare the kinds of columns; rows with most conflicts go first."""
        self.grid = grid
        self.order = sorted(
            range(len(grid.sizes)), key=lambda row: (-len(grid.barred[row]), row)
        )
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
        self.ways: list[dict[State, int]] = []
        self.steps: list[dict[State, list[Step]]] = []

    def state(self, depth: int, room: Sequence[int]) -> State:
        """Return the state before the row at this depth."""
        return tuple(sorted(Counter(zip(self.kinds[depth], room, strict=True)).items()))

    def count(self) -> bool:
        """Count from the last row back; False if there are too many states."""
        left = BUDGET
        layer = {self.state(0, [self.grid.load] * self.grid.columns)}
        for depth in range(len(self.order)):
            table: dict[State, list[Step]] = {}
            for state in sorted(layer):
                table[state] = []
                if len(state) > MOST_KINDS:
                    return False
                for choice in self._choices(depth, state):
                    left -= len(state)
                    if left < 0:
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
        row = self.order[depth]
        barred = {self.kinds[depth][column] for column in self.grid.barred[row]}
        open_to = [
            (group, number)
            for group, number in state
            if group[1] and group[0] not in barred
        ]
        return _choices(open_to, self.grid.sizes[row])

    def _step(self, depth: int, state: State, choice: Choice) -> list[Step]:
        after = self.after[depth]
        ways = 1
        taken = dict(choice)
        found: Counter[Group] = Counter()
        for (kind, room), number in state:
            some = taken.get((kind, room), 0)
            ways *= math.comb(number, some)
            found[after[kind], room - 1] += some
            found[after[kind], room] += number - some
        found = +found
        if max(room for _, room in found) > len(self.order) - depth - 1:
            return []
        return [(ways, choice, tuple(sorted(found.items())))]

    def draw(self, chance: Chance) -> Bundles:
        """Draw one of all ways to fill the grid, each with the same probability."""
        room = [self.grid.load] * self.grid.columns
        filled: list[tuple[int, ...]] = [()] * len(self.order)
        for depth, row in enumerate(self.order):
            state = self.state(depth, room)
            mine = zip(self.kinds[depth], room, strict=True)
            kinds = list(enumerate(mine))
            chosen: list[int] = []
            for group, number in self._choice(depth, state, chance):
                of_kind = [column for column, kind in kinds if kind == group]
                chosen += _some(of_kind, number, chance)
            for column in chosen:
                room[column] -= 1
            filled[row] = tuple(sorted(chosen))
        return tuple(filled)

    def _choice(self, depth: int, state: State, chance: Chance) -> Choice:
        left = self.ways[depth][state]
        for ways, choice, after in self.steps[depth][state]:
            mass = ways * self.ways[depth + 1][after]
            if mass and chance.coin(Fraction(mass, left)):
                return choice
            left -= mass
        raise DesignError("No assignment is left.")


def _choices(groups: Sequence[tuple[Group, int]], size: int) -> Iterator[Choice]:
    if size == 0:
        yield ()
        return
    if not groups:
        return
    (group, number), *rest = groups
    for some in range(min(size, number) + 1):
        for others in _choices(rest, size - some):
            yield ((group, some), *others) if some else others


def _some(columns: list[int], number: int, chance: Chance) -> list[int]:
    chosen = []
    for place, column in enumerate(columns):
        left = len(columns) - place
        if number and chance.coin(Fraction(number, left)):
            chosen.append(column)
            number -= 1
    return chosen


@functools.lru_cache(maxsize=4)
def tables(grid: Grid) -> Tables | None:
    """Return the counts of a grid, or None if there are too many to count.

    Examples:
        >>> from evenhand._balancing.grids import grid_of
        >>> derangements = grid_of(4, 4, 1, [frozenset([row]) for row in range(4)])
        >>> found = tables(derangements)
        >>> list(found.ways[0].values())
        [9]
    """
    found = Tables(grid)
    return found if found.count() else None


def walk(grid: Grid, start: Bundles, source: Stream) -> Bundles:
    """Move from one way to fill the grid to a random other one.

    Each lap opens one random place and exchanges places along a random path until the
    open place can be filled again. A lap goes from any filling to any other with the
    same probability as back, so that it keeps the uniform law; and laps can undo any
    cycle of exchanges, so that they reach every filling. A lap that gets too long is
    undone, which changes neither. Lap after lap the law comes close to uniform.
    """
    held = [set(columns) for columns in start]
    holders: list[list[int]] = [[] for _ in range(grid.columns)]
    for row, columns in enumerate(start):
        for column in columns:
            holders[column].append(row)
    chances = _chances(source)
    places = grid.columns * grid.load
    for _ in range(math.ceil(LAPS * grid.load * math.log(places + 1)) + LAPS):
        _lap(grid, held, holders, chances)
    return tuple(tuple(sorted(columns)) for columns in held)


def _lap(
    grid: Grid, held: list[set[int]], holders: list[list[int]], chances: Iterator[float]
) -> None:
    n, load, barred = grid.columns, grid.load, grid.barred
    hole = int(next(chances) * n)
    first = holders[hole].pop(int(next(chances) * load))
    held[first].discard(hole)
    row = first
    moves: list[tuple[int, int, int]] = []
    for _ in range(64 * n + BLOCK):
        column = int(next(chances) * n)
        index = int(next(chances) * load)
        if column in held[row] or column in barred[row]:
            continue
        held[row].add(column)
        if column == hole:
            holders[hole].append(row)
            return
        other = holders[column][index]
        holders[column][index] = row
        held[other].discard(column)
        moves.append((column, index, other))
        row = other
    for column, index, other in reversed(moves):
        row = holders[column][index]
        holders[column][index] = other
        held[other].add(column)
        held[row].discard(column)
    held[first].add(hole)
    holders[hole].append(first)


def _chances(source: Stream) -> Iterator[float]:
    while True:
        yield from uniforms(source, BLOCK).tolist()
