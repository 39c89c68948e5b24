"""Random assignments: which reviewer gets which items.

The guarantees rest on a random assignment. Each design here is one procedure that asks
for its random choices; a seed makes it draw one assignment, and its `enumerate_` twin
follows every choice and gives the exact law of the very same code.

For two items an assignment is a read-only array with the item, 0 or 1, of each
reviewer; for many items, with a row of increasing item codes for each reviewer.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from evenhand.arrays import frozen
from evenhand.errors import DesignError, as_whole
from evenhand.randomness import (
    HALF,
    Chance,
    Drawn,
    RNGLike,
    outcomes,
    seed_from,
    stream,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from evenhand.arrays import Codes
    from evenhand.designs.balancing import Bundles
    from evenhand.randomness import Stream

    Assignment = Codes
    # A walk draws from a stream of its own.
    Procedure = Callable[[Chance, Stream], Bundles]

Sides = tuple[int, ...]

AB_DESIGNS = ("halves", "coins", "matched", "panels")
RANKING_DESIGNS = ("pairs", "balanced")
PAIR = 2


def halves(n_reviewers: int, *, rng: RNGLike = None) -> Assignment:
    """Give each of two items to half of the reviewers, uniformly at random.

    With an odd number of reviewers a fair coin decides which item gets the extra one.

    Args:
        n_reviewers: Number of reviewers, at least 1.
        rng: Seed, generator or None.

    Returns:
        The item, 0 or 1, of each reviewer.

    Examples:
        >>> int(halves(6, rng=7).sum())
        3
    """
    return _fixed(_halves(_reviewers(n_reviewers), _drawn(rng, "halves")))


def enumerate_halves(n_reviewers: int) -> dict[Sides, Fraction]:
    """Return every assignment of `halves` with its exact probability.

    Examples:
        >>> enumerate_halves(2)
        {(0, 1): Fraction(1, 2), (1, 0): Fraction(1, 2)}
    """
    return outcomes(lambda chance: _halves(_reviewers(n_reviewers), chance))


def coins(n_reviewers: int, *, rng: RNGLike = None) -> Assignment:
    """Give one of two items to each reviewer by a fair coin of its own.

    Counts may be unequal, and one item may get nobody.

    Args:
        n_reviewers: Number of reviewers, at least 1.
        rng: Seed, generator or None.

    Returns:
        The item, 0 or 1, of each reviewer.

    Examples:
        >>> coins(6, rng=7).shape
        (6,)
    """
    return _fixed(_coins(_reviewers(n_reviewers), _drawn(rng, "coins")))


def enumerate_coins(n_reviewers: int) -> dict[Sides, Fraction]:
    """Return every assignment of `coins` with its exact probability.

    Examples:
        >>> set(enumerate_coins(3).values())
        {Fraction(1, 8)}
    """
    return outcomes(lambda chance: _coins(_reviewers(n_reviewers), chance))


def matched(pairs: Sequence[Hashable], *, rng: RNGLike = None) -> Assignment:
    """Within each pair of similar reviewers, give one item to each by a fair coin.

    Args:
        pairs: Label of the pair that each reviewer belongs to; every label twice.
        rng: Seed, generator or None.

    Returns:
        The item, 0 or 1, of each reviewer.

    Raises:
        DesignError: If a pair does not have two reviewers.

    Examples:
        >>> sides = matched(["old", "old", "new", "new"], rng=7)
        >>> int(sides[0] + sides[1]), int(sides[2] + sides[3])
        (1, 1)
    """
    return _fixed(_matched(_pairs_of(pairs), _drawn(rng, "matched")))


def enumerate_matched(pairs: Sequence[Hashable]) -> dict[Sides, Fraction]:
    """Return every assignment of `matched` with its exact probability.

    Examples:
        >>> enumerate_matched(["x", "x"])
        {(0, 1): Fraction(1, 2), (1, 0): Fraction(1, 2)}
    """
    groups = _pairs_of(pairs)
    return outcomes(lambda chance: _matched(groups, chance))


def panels(panel: Sequence[Hashable], *, rng: RNGLike = None) -> Assignment:
    """Give each of two items to half of the panels; a panel stays together.

    With an odd number of panels a fair coin decides which item gets the extra one.

    Args:
        panel: Label of the panel that each reviewer sits on.
        rng: Seed, generator or None.

    Returns:
        The item, 0 or 1, of each reviewer.

    Examples:
        >>> sides = panels(["north", "north", "south"], rng=7)
        >>> bool(sides[0] == sides[1]), int(sides[0] + sides[2])
        (True, 1)
    """
    return _fixed(_panels(_groups("panel", panel), _drawn(rng, "panels")))


def enumerate_panels(panel: Sequence[Hashable]) -> dict[Sides, Fraction]:
    """Return every assignment of `panels` with its exact probability.

    Examples:
        >>> enumerate_panels(["a", "a", "b"])
        {(0, 0, 1): Fraction(1, 2), (1, 1, 0): Fraction(1, 2)}
    """
    groups = _groups("panel", panel)
    return outcomes(lambda chance: _panels(groups, chance))


def pairs(n_items: int, n_reviewers: int, *, rng: RNGLike = None) -> Assignment:
    """Give each reviewer a pair of items, no pair twice: the paper's ranking design.

    Every assignment of distinct pairs to reviewers is equally likely. Time and memory
    grow with the number of reviewers, not with the number of pairs.

    Args:
        n_items: Number of items, at least 2.
        n_reviewers: Number of reviewers, at most the number of pairs of items.
        rng: Seed, generator or None.

    Returns:
        The two items of each reviewer, shape (n_reviewers, 2).

    Raises:
        DesignError: If there are more reviewers than pairs of items.

    References:
        Wang and Shah (2019), Section 3.3.

    Examples:
        >>> len({tuple(pair) for pair in pairs(4, 6, rng=7).tolist()})
        6
    """
    sizes = _pair_sizes(n_items, n_reviewers)
    return _fixed(_pairs(*sizes, _drawn(rng, "pairs")))


def enumerate_pairs(n_items: int, n_reviewers: int) -> dict[Bundles, Fraction]:
    """Return every assignment of `pairs` with its exact probability.

    Examples:
        >>> len(enumerate_pairs(3, 2)), enumerate_pairs(3, 2)[(0, 1), (1, 2)]
        (6, Fraction(1, 6))
    """
    sizes = _pair_sizes(n_items, n_reviewers)
    return outcomes(lambda chance: _pairs(*sizes, chance))


def balanced(
    n_items: int,
    n_reviewers: int,
    per_reviewer: int | None = None,
    *,
    per_item: int | None = None,
    conflicts: Iterable[tuple[int, int]] | None = None,
    rng: RNGLike = None,
) -> Assignment:
    """Give each reviewer the same number of items, and each item the same load.

    With per_reviewer alone, loads of two items differ by at most one; with per_item
    alone, those of two reviewers do. No reviewer gets an item twice.

    With per_reviewer and nothing else, items are dealt like cards: bundle after bundle
    from a shuffled deck, a fresh deck when one is used up, its first cards drawn among
    those that the bundle begun does not hold yet; then the bundles go to the reviewers
    in a random order. The law is unchanged when reviewers or items change names, which
    is what the guarantees ask for. It is not uniform over all balanced assignments: for
    instance, repeated bundles are somewhat more frequent than they would be under that
    law.

    With per_item or conflicts, even none, every feasible assignment is equally likely
    where they can be counted. Where they are too many, a random walk over all of them
    is run for long, which comes close; without conflicts its law is still unchanged
    when reviewers or items change names.

    Args:
        n_items: Number of items, at least 1.
        n_reviewers: Number of reviewers, at least 1.
        per_reviewer: Number of items for each reviewer, at most n_items.
        per_item: Number of reviewers for each item, at most n_reviewers.
        conflicts: Reviewer and item of each conflict of interest, never assigned.
        rng: Seed, generator or None.

    Returns:
        The items of each reviewer, shape (n_reviewers, largest number of items). Where
        per_item alone leaves a reviewer one item less, the row ends in -1.

    Raises:
        DesignError: If there is no such assignment; the message names a constraint that
            cannot be met.

    Examples:
        >>> dealt = balanced(5, 4, 3, rng=7)
        >>> dealt.shape, sorted(np.bincount(dealt.ravel()).tolist())
        ((4, 3), [2, 2, 2, 3, 3])
        >>> conflicts = [(0, 0), (1, 1), (2, 2)]
        >>> balanced(3, 3, 2, per_item=2, conflicts=conflicts, rng=7).tolist()
        [[1, 2], [0, 2], [0, 1]]
    """
    draw, _ = plan_balanced(n_items, n_reviewers, per_reviewer, per_item, conflicts)
    return draw_balanced(draw, seed_from(rng))


def draw_balanced(draw: Procedure, seed: int) -> Assignment:
    """Draw what `plan_balanced` planned, as `balanced` does.

    Examples:
        >>> draw, uniform = plan_balanced(2, 2, 1, None, [(0, 0)])
        >>> draw_balanced(draw, 7).tolist(), uniform
        ([[1], [0]], True)
    """
    drawn = draw(_drawn(seed, "balanced"), stream(seed, "design balanced walk"))
    width = max(map(len, drawn))
    return _fixed(tuple(row + (-1,) * (width - len(row)) for row in drawn))


def enumerate_balanced(
    n_items: int,
    n_reviewers: int,
    per_reviewer: int | None = None,
    *,
    per_item: int | None = None,
    conflicts: Iterable[tuple[int, int]] | None = None,
) -> dict[Bundles, Fraction]:
    """Return every assignment of `balanced` with its exact probability.

    Raises:
        DesignError: If there is none, or too many to count.

    Examples:
        >>> len(enumerate_balanced(3, 2, 2))
        6
        >>> enumerate_balanced(2, 2, 1, conflicts=[(0, 0)])
        {((1,), (0,)): Fraction(1, 1)}
    """
    sizes = n_items, n_reviewers, per_reviewer, per_item
    draw, uniform = plan_balanced(*sizes, conflicts)
    if not uniform:
        raise DesignError(
            f"n_items and n_reviewers must be small enough to count all assignments, "
            f"got {n_items} and {n_reviewers}."
        )
    # Only a walk draws from another stream.
    source = stream(0, "design balanced walk")
    return outcomes(lambda chance: draw(chance, source))


def _drawn(rng: RNGLike, design: str) -> Chance:
    return Drawn(stream(seed_from(rng), f"design {design}"))


def _halves(count: int, chance: Chance) -> Sides:
    firsts = count // 2
    if count % 2 and chance.coin(HALF):
        firsts += 1
    sides = []
    for left in range(count, 0, -1):
        # Taken with this probability, every choice of `firsts` reviewers is as likely.
        first = chance.coin(Fraction(firsts, left))
        firsts -= first
        sides.append(0 if first else 1)
    return tuple(sides)


def _coins(count: int, chance: Chance) -> Sides:
    return tuple(0 if chance.coin(HALF) else 1 for _ in range(count))


def _matched(groups: list[list[int]], chance: Chance) -> Sides:
    sides = [0] * (PAIR * len(groups))
    for one, other in groups:
        sides[other if chance.coin(HALF) else one] = 1
    return tuple(sides)


def _panels(groups: list[list[int]], chance: Chance) -> Sides:
    sides = [0] * sum(map(len, groups))
    for side, group in zip(_halves(len(groups), chance), groups, strict=True):
        for reviewer in group:
            sides[reviewer] = side
    return tuple(sides)


def _pairs(n_items: int, n_reviewers: int, chance: Chance) -> Bundles:
    # A shuffle of all pairs cut short; only entries that moved are kept in memory.
    total = math.comb(n_items, 2)
    moved: dict[int, int] = {}
    drawn = []
    for place in range(n_reviewers):
        other = place + chance.pick(total - place)
        drawn.append(_pair(moved.get(other, other)))
        moved[other] = moved.get(place, place)
    return tuple(drawn)


def _pair(index: int) -> tuple[int, int]:
    high = (1 + math.isqrt(8 * index + 1)) // 2
    return index - math.comb(high, 2), high


def _fixed(assignment: Sides | Bundles) -> Assignment:
    return frozen(np.array(assignment, dtype=np.int64))


def _reviewers(value: int) -> int:
    return as_whole("n_reviewers", value, 1)


def _pair_sizes(n_items: int, n_reviewers: int) -> tuple[int, int]:
    items = as_whole("n_items", n_items, 2)
    reviewers = _reviewers(n_reviewers)
    most = math.comb(items, 2)
    if reviewers > most:
        raise DesignError(
            f"n_reviewers must be at most {most}, the number of pairs of {items} "
            f"items, got {reviewers}. Use 'balanced', which may repeat a pair."
        )
    return items, reviewers


def plan_balanced(
    n_items: int,
    n_reviewers: int,
    per_reviewer: int | None,
    per_item: int | None,
    conflicts: Iterable[tuple[int, int]] | None,
) -> tuple[Procedure, bool]:
    """Return what draws an assignment, and whether all are exactly as likely.

    Dealing counts as such: its law is exact, if not uniform.

    Examples:
        >>> plan_balanced(4, 6, 2, None, None)[1]
        True
    """
    from evenhand.designs import balancing  # noqa: PLC0415 - for this design alone

    items, reviewers = as_whole("n_items", n_items, 1), _reviewers(n_reviewers)
    each = None if per_reviewer is None else as_whole("per_reviewer", per_reviewer, 1)
    load = None if per_item is None else as_whole("per_item", per_item, 1)
    if per_item is None and conflicts is None:
        dealt = balancing.fitting(items, reviewers, each, load)
        return lambda chance, _: balancing.deal(items, reviewers, dealt, chance), True
    grid = balancing.Grid.of(items, reviewers, each, load, conflicts or ())
    filled, counts = balancing.fill(grid), balancing.Tables(grid)
    if counts.count():
        return lambda chance, _: grid.bundles(counts.draw(chance)), True

    def walk(chance: Chance, source: Stream) -> Bundles:
        start = filled if any(grid.barred) else balancing.fair_start(grid, chance)
        return grid.bundles(balancing.walk(grid, start, source))

    return walk, False


def _groups(name: str, labels: Sequence[Hashable]) -> list[list[int]]:
    groups: dict[Hashable, list[int]] = {}
    try:
        for reviewer, label in enumerate(labels):
            groups.setdefault(label, []).append(reviewer)
    except TypeError:
        raise DesignError(
            f"{name} must be a sequence with a label for each reviewer, got "
            f"{labels!r:.80}."
        ) from None
    if not groups:
        raise DesignError(f"{name} must name a group for each reviewer, got none.")
    return list(groups.values())


def _pairs_of(labels: Sequence[Hashable]) -> list[list[int]]:
    groups = _groups("pairs", labels)
    for group in groups:
        if len(group) != PAIR:
            raise DesignError(
                f"pairs must name every pair for two reviewers, got {len(group)} for "
                f"{labels[group[0]]!r}."
            )
    return groups
