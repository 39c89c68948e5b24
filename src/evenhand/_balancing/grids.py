"""Grids: can every row get its columns, and if not, why."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import DesignError, counted, listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Bundles = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """What is to be filled.

    Attributes:
        sizes: How many columns each row takes; the spare row, if any, is the last.
        columns: Number of columns.
        load: How many rows take each column.
        barred: The columns that each row may not take.
        spare: Size of the spare row, 0 if there is none.
    """

    sizes: tuple[int, ...]
    columns: int
    load: int
    barred: tuple[frozenset[int], ...]
    spare: int

    @property
    def rows(self) -> int:
        """Number of rows without the spare one."""
        return len(self.sizes) - bool(self.spare)


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Why a grid cannot be filled.

    The rows cannot take enough: of the columns there is too little room, and of all
    others they may take only those that each is not barred from.
    """

    grid: Grid
    rows: frozenset[int]
    columns: frozenset[int]

    def sentence(
        self, row: str, column: str, rows: Sequence[object], columns: Sequence[object]
    ) -> str:
        """Name the constraint in words.

        Args:
            row: What a row is, "reviewer" or "item".
            column: What a column is.
            rows: Names of the rows.
            columns: Names of the columns.
        """
        grid = self.grid
        least = grid.load - bool(grid.spare)
        for who in range(grid.rows):
            free = grid.columns - len(grid.barred[who])
            if free < grid.sizes[who]:
                return _alone(row, rows[who], grid.sizes[who], column, free)
        for what in range(grid.columns):
            free = sum(what not in barred for barred in grid.barred[: grid.rows])
            if free < least:
                return _alone(column, columns[what], least, row, free)
        real = sorted(who for who in self.rows if who < grid.rows)
        others = [who for who in range(grid.rows) if who not in self.rows]
        far = [what for what in range(grid.columns) if what not in self.columns]
        if grid.spare and grid.rows in self.rows:
            places = sum(grid.sizes[who] for who in others)
            open_to = sum(len(set(far) - grid.barred[who]) for who in real)
            return _together(
                (column, [columns[what] for what in far], len(far) * least),
                (row, [rows[who] for who in others], places),
                open_to,
            )
        room = len(self.columns) * grid.load
        open_to = sum(len(set(far) - grid.barred[who]) for who in real)
        return _together(
            (row, [rows[who] for who in real], sum(grid.sizes[who] for who in real)),
            (column, [columns[what] for what in sorted(self.columns)], room),
            open_to,
        )


def _alone(what: str, name: object, need: int, other: str, free: int) -> str:
    return (
        f"{what} {name!r} must get {counted(need, other)}, got only {free} without a "
        f"conflict. Drop a conflict, or ask for fewer."
    )


def _together(
    needy: tuple[str, list[object], int],
    given: tuple[str, list[object], int],
    open_to: int,
) -> str:
    what, names, need = needy
    other, others, room = given
    plural = "s" if len(names) > 1 else ""
    places = f"{other}{'s' if len(others) > 1 else ''} {listing(others)}"
    return (
        f"{what}{plural} {listing(names)} must get {counted(need, other)} in all, got "
        f"only {room + open_to} places without a conflict: {room} of {places} and "
        f"{open_to} of all others. Drop a conflict, or ask for fewer."
    )


@dataclass(frozen=True, slots=True)
class Frame:
    """A grid of reviewers by items; turned round, of items by reviewers.

    Attributes:
        grid: The grid.
        turned: Whether rows are items.
        start: One way to fill it.
    """

    grid: Grid
    turned: bool
    start: Bundles

    @classmethod
    def of(
        cls,
        n_items: int,
        n_reviewers: int,
        per_reviewer: int | None,
        per_item: int | None,
        conflicts: Iterable[tuple[int, int]],
    ) -> Frame:
        """Check that the numbers fit, and that there is such an assignment."""
        each = _fitting(n_items, n_reviewers, per_reviewer, per_item)
        turned = per_reviewer is None
        barred: list[set[int]] = [set() for _ in range(max(n_items, n_reviewers))]
        for conflict in conflicts:
            reviewer, item = _conflict(conflict, n_items, n_reviewers)
            barred[item if turned else reviewer].add(reviewer if turned else item)
        rows, columns = (n_items, n_reviewers) if turned else (n_reviewers, n_items)
        grid = grid_of(rows, columns, each, [*map(frozenset, barred[:rows])])
        found = fill(grid)
        if isinstance(found, Shortfall):
            raise InfeasibleError(found, turned=turned)
        return cls(grid, turned, found)

    def bundles(self, filled: Bundles) -> Bundles:
        """Return the items of each reviewer."""
        rows = filled[: self.grid.rows]
        if not self.turned:
            return rows
        turned: list[list[int]] = [[] for _ in range(self.grid.columns)]
        for item, reviewers in enumerate(rows):
            for reviewer in reviewers:
                turned[reviewer].append(item)
        return tuple(map(tuple, turned))

    def spared(self, dealt: Bundles) -> Bundles:
        """Add the spare row to rows that were dealt."""
        if not self.grid.spare:
            return dealt
        counts = Counter(column for row in dealt for column in row)
        columns = range(self.grid.columns)
        return (*dealt, tuple(c for c in columns if counts[c] < self.grid.load))


class InfeasibleError(DesignError):
    """No assignment meets all constraints.

    Attributes:
        shortfall: Which constraint cannot be met.
        turned: Whether its rows are items.
    """

    def __init__(self, shortfall: Shortfall, *, turned: bool) -> None:
        """Say why, with numbers for names."""
        self.shortfall = shortfall
        self.turned = turned
        most = max(len(shortfall.grid.sizes), shortfall.grid.columns)
        super().__init__(self.named(range(most), range(most)))

    def named(self, reviewers: Sequence[object], items: Sequence[object]) -> str:
        """Say why, with the names of reviewers and items."""
        if self.turned:
            return self.shortfall.sentence("item", "reviewer", items, reviewers)
        return self.shortfall.sentence("reviewer", "item", reviewers, items)


def _fitting(
    n_items: int, n_reviewers: int, per_reviewer: int | None, per_item: int | None
) -> int:
    if per_reviewer is not None and per_reviewer > n_items:
        raise DesignError(
            f"per_reviewer must be at most n_items = {n_items}, got {per_reviewer}. No "
            "reviewer gets an item twice."
        )
    if per_item is not None and per_item > n_reviewers:
        raise DesignError(
            f"per_item must be at most n_reviewers = {n_reviewers}, got {per_item}. No "
            "reviewer gets an item twice."
        )
    if per_reviewer is None or per_item is None:
        each = per_item if per_reviewer is None else per_reviewer
        if each is None:
            raise DesignError("per_reviewer or per_item must be given, got neither.")
        return each
    places, reviews = n_reviewers * per_reviewer, n_items * per_item
    if places != reviews:
        raise DesignError(
            f"per_reviewer and per_item must fit, got {n_reviewers} reviewers x "
            f"{per_reviewer} = {places} places for {n_items} items x {per_item} = "
            f"{reviews} reviews. Give one of the two: then loads on the other side "
            "differ by at most one."
        )
    return per_reviewer


def _conflict(
    conflict: tuple[int, int], n_items: int, n_reviewers: int
) -> tuple[int, int]:
    reviewer, item = conflict
    if not (0 <= reviewer < n_reviewers and 0 <= item < n_items):
        raise DesignError(
            f"conflicts must hold the code of a reviewer below {n_reviewers} and of an "
            f"item below {n_items}, got {conflict!r}."
        )
    return reviewer, item


def grid_of(
    rows: int, columns: int, each: int, barred: Sequence[frozenset[int]]
) -> Grid:
    """Return the grid in which each row takes `each` columns.

    Examples:
        >>> grid_of(2, 3, 2, [frozenset()] * 2)  # doctest: +ELLIPSIS
        Grid(sizes=(2, 2, 2), columns=3, load=2, ...spare=2)
    """
    load = -(-rows * each // columns)
    spare = columns * load - rows * each
    sizes = (each,) * rows + (spare,) * bool(spare)
    bars = tuple(barred) + (frozenset(),) * bool(spare)
    return Grid(sizes, columns, load, bars, spare)


def fill(grid: Grid) -> Bundles | Shortfall:
    """Fill a grid in one fixed way, or say why it cannot be filled."""
    held: list[set[int]] = [set() for _ in grid.sizes]
    room = [grid.load] * grid.columns
    for row, size in enumerate(grid.sizes):
        free = [c for c in range(grid.columns) if room[c] and c not in grid.barred[row]]
        held[row] = set(heapq.nsmallest(size, free, key=lambda c: (-room[c], c)))
        for column in held[row]:
            room[column] -= 1
    for row, size in enumerate(grid.sizes):
        while len(held[row]) < size:
            shortfall = _augment(grid, held, room, row)
            if shortfall is not None:
                return shortfall
    return tuple(tuple(sorted(columns)) for columns in held)


def _augment(
    grid: Grid, held: list[set[int]], room: list[int], row: int
) -> Shortfall | None:
    """Give a row one column more along a shortest path of exchanges."""
    came: dict[int, int] = {}
    through = {row: -1}
    queue = [row]
    for who in queue:
        for column in range(grid.columns):
            if column in came or column in held[who] or column in grid.barred[who]:
                continue
            came[column] = who
            if room[column]:
                room[column] -= 1
                while column >= 0:
                    who = came[column]  # noqa: PLW2901 - the search ends here
                    held[who].add(column)
                    column = through[who]  # noqa: PLW2901 - the same
                    held[who].discard(column)
                return None
            for other, columns in enumerate(held):
                if column in columns and other not in through:
                    through[other] = column
                    queue.append(other)
    return Shortfall(grid, frozenset(through), frozenset(came))
