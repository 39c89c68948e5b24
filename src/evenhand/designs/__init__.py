"""Random assignments: which reviewer gets which items.

The guarantees rest on a random assignment. Each design here is one procedure that asks
for its random choices; a seed makes it draw one assignment, and `law` follows every
choice and gives the exact law of the very same code.

For two items an assignment is a read-only array with the item, 0 or 1, of each
reviewer; for many items, with a row of increasing item codes for each reviewer.
"""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.arrays import frozen
from evenhand.errors import DesignError, as_whole
from evenhand.randomness import HALF, Drawn, RNGLike, outcomes, seed_from, stream

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from evenhand.arrays import Codes
    from evenhand.designs.balancing import Bundles
    from evenhand.randomness import Chance, Stream

    Assignment = Codes
    # What draws, and whether all that it may draw are exactly as likely; dealing counts
    # as such, since its law is exact, if not uniform. A walk has a stream of its own.
    Plan = tuple[Callable[[Chance, Stream], "Sides | Bundles"], bool]

Sides = tuple[int, ...]

AB_DESIGNS = ("halves", "coins", "matched", "panels")
GROUPED = {"matched": "pair", "panels": "panel"}
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
    return draw("halves", seed_from(rng), n_reviewers)[0]


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
    return draw("coins", seed_from(rng), n_reviewers)[0]


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
    return draw("matched", seed_from(rng), pairs)[0]


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
    return draw("panels", seed_from(rng), panel)[0]


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
    return draw("pairs", seed_from(rng), n_items, n_reviewers)[0]


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
    sizes = n_items, n_reviewers, per_reviewer, per_item, conflicts
    return draw("balanced", seed_from(rng), *sizes)[0]


def draw(design: str, seed: int, *sizes: object) -> tuple[Assignment, bool]:
    """Draw an assignment, and say whether all were exactly as likely.

    Args:
        design: Name of the design.
        seed: The seed.
        sizes: What the design's own function takes, in its order.

    Examples:
        >>> draw("balanced", 7, 2, 2, 1, None, [(0, 0)])
        (array([[1],
               [0]]), True)
    """
    procedure, uniform = PLANS[design](*sizes)
    walk = stream(seed, "design balanced walk")
    drawn: Any = procedure(Drawn(stream(seed, f"design {design}")), walk)
    if design in RANKING_DESIGNS:
        width = max(map(len, drawn))
        drawn = [row + (-1,) * (width - len(row)) for row in drawn]
    return frozen(np.array(drawn, dtype=np.int64)), uniform


def law(
    design: str, *sizes: object, **options: object
) -> dict[tuple[Any, ...], Fraction]:
    """Return every assignment of a design with its exact probability.

    Args:
        design: Name of the design.
        sizes: What the design's own function takes, in its order.
        options: The same, by name.

    Raises:
        DesignError: If there is none, or too many to count.

    Examples:
        >>> law("halves", 2)
        {(0, 1): Fraction(1, 2), (1, 0): Fraction(1, 2)}
        >>> law("balanced", 2, 2, 1, None, [(0, 0)])
        {((1,), (0,)): Fraction(1, 1)}
    """
    procedure, uniform = PLANS[design](*sizes, **options)
    if not uniform:
        rule = "n_items and n_reviewers must be small enough to count all assignments"
        raise DesignError(f"{rule}, got {sizes[0]} and {sizes[1]}.")
    unused = stream(0, "design balanced walk")
    return outcomes(lambda chance: procedure(chance, unused))


def _halves(n_reviewers: int) -> Plan:
    reviewers = range(as_whole("n_reviewers", n_reviewers, 1))
    return _split_each([[[reviewer] for reviewer in reviewers]])


def _coins(n_reviewers: int) -> Plan:
    reviewers = range(as_whole("n_reviewers", n_reviewers, 1))
    return _split_each([[[reviewer]] for reviewer in reviewers])


def _matched(pairs: Sequence[Hashable]) -> Plan:
    groups = _groups("pairs", pairs)
    for group in groups:
        if len(group) != PAIR:
            raise DesignError(
                f"pairs must name every pair for two reviewers, got {len(group)} for "
                f"{pairs[group[0]]!r}."
            )
    return _split_each([[[reviewer] for reviewer in group] for group in groups])


def _split_each(strata: Sequence[Sequence[Sequence[int]]]) -> Plan:
    """Split the units of each stratum into halves; reviewers of a unit stay together.

    A coin for an odd unit is all that there is in a stratum of one.
    """

    def procedure(chance: Chance, _: Stream) -> Sides:
        sides: dict[int, int] = {}
        for units in strata:
            count = len(units)
            firsts = count // 2 + (count % 2 == 1 and chance.coin(HALF))
            for first, unit in zip(choose(count, firsts, chance), units, strict=True):
                sides |= dict.fromkeys(unit, 0 if first else 1)
        return tuple(sides[reviewer] for reviewer in sorted(sides))

    return procedure, True


def choose(count: int, number: int, chance: Chance) -> list[bool]:
    """Say of each of so many things whether it is chosen; all choices are as likely.

    Examples:
        >>> set(outcomes(lambda chance: tuple(choose(4, 2, chance))).values())
        {Fraction(1, 6)}
    """
    chosen = []
    for remaining in range(count, 0, -1):
        chosen.append(chance.coin(Fraction(number, remaining)))
        number -= chosen[-1]
    return chosen


def _groups(name: str, labels: Sequence[Hashable]) -> list[list[int]]:
    groups: dict[Hashable, list[int]] = defaultdict(list)
    try:
        for reviewer, label in enumerate(labels):
            groups[label].append(reviewer)
    except TypeError:
        groups.clear()
    if not groups:
        raise DesignError(
            f"{name} must be a sequence with a label for each reviewer, got "
            f"{labels!r:.80}."
        )
    return list(groups.values())


def _pairs(n_items: int, n_reviewers: int) -> Plan:
    items = as_whole("n_items", n_items, 2)
    reviewers = as_whole("n_reviewers", n_reviewers, 1)
    most = math.comb(items, 2)
    if reviewers > most:
        raise DesignError(
            f"n_reviewers must be at most {most}, the number of pairs of {items} "
            f"items, got {reviewers}. Use 'balanced', which may repeat a pair."
        )

    def procedure(chance: Chance, _: Stream) -> Bundles:
        # A shuffle of all pairs cut short; only entries that moved are kept in memory.
        moved: dict[int, int] = {}
        drawn = []
        for place in range(reviewers):
            slot = place + chance.pick(most - place)
            index = moved.get(slot, slot)
            high = (1 + math.isqrt(8 * index + 1)) // 2
            drawn.append((index - math.comb(high, 2), high))
            moved[slot] = moved.get(place, place)
        return tuple(drawn)

    return procedure, True


def _balanced(
    n_items: int,
    n_reviewers: int,
    per_reviewer: int | None = None,
    per_item: int | None = None,
    conflicts: Iterable[tuple[int, int]] | None = None,
) -> Plan:
    from evenhand.designs import balancing  # noqa: PLC0415 - for this design alone

    items = as_whole("n_items", n_items, 1)
    reviewers = as_whole("n_reviewers", n_reviewers, 1)
    sizes = items, reviewers, per_reviewer, per_item
    if per_item is None and conflicts is None:
        each = balancing.fitting(*sizes)
        return lambda chance, _: balancing.deal(items, reviewers, each, chance), True
    grid = balancing.Grid.of(*sizes, conflicts or ())
    filled, counts = balancing.fill(grid), balancing.Tables(grid)
    if counts.count():
        return lambda chance, _: grid.bundles(counts.draw(chance)), True

    def procedure(chance: Chance, source: Stream) -> Bundles:
        start = filled if any(grid.barred) else balancing.fair_start(grid, chance)
        return grid.bundles(balancing.walk(grid, start, source))

    return procedure, False


PLANS: dict[str, Callable[..., Plan]] = {
    "halves": _halves,
    "coins": _coins,
    "matched": _matched,
    "panels": lambda panel: _split_each([_groups("panel", panel)]),
    "pairs": _pairs,
    "balanced": _balanced,
}
"""From each design to what checks its sizes and plans its draw."""
