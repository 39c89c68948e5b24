"""Loops of the lab: samples of the ranking figure, and mean ranks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._kernels import kernel
from evenhand._kernels.pair_draws import (
    compared,
    draw_pairs,
    empty_draw,
    first_ordering,
    value_ranks,
    wrong_pairs,
)

Words = NDArray[np.uint64]

# Mean ranks closer than this differ by rounding only, and count as equal.
CLOSE = 1e-9
# A multiplicative hash: 2**64 over the golden ratio, odd.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
ONE = np.uint64(1)
NONE = np.uint64(0)


class Ideals(NamedTuple):
    """A table of order ideals: sets of at most 64 items, as bits, found by hashing.

    Attributes:
        slots: Number of the ideal in each slot, -1 if free; a power of two of them.
        sets: The ideals by number, half as many as slots.
        ways: Ways to reach each of them.
        places: Slot of each of them.
    """

    slots: NDArray[np.int64]
    sets: Words
    ways: NDArray[np.float64]
    places: NDArray[np.int64]


def empty_ideals(most: int) -> Ideals:
    """Return an empty table for at most so many ideals, a power of two.

    Examples:
        >>> len(empty_ideals(8).slots)
        16
    """
    return Ideals(
        np.full(2 * most, -1, dtype=np.int64),
        np.empty(most, dtype=np.uint64),
        np.empty(most),
        np.empty(most, dtype=np.int64),
    )


@kernel
def flip_samples(
    values: NDArray[np.float64],
    slopes: NDArray[np.float64],
    shifts: NDArray[np.float64],
    units: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Run Algorithm 1 on fresh comparisons again and again, coins integrated out.

    Each sample names the items at random, gives each reviewer a pair of items, no pair
    twice, takes the topological ordering with the smallest names first and settles its
    free neighbours. A coin on neighbours changes the Kendall distance by one or not at
    all, so it is counted once a sample.

    Args:
        values: Values of the items.
        slopes: Slope of each reviewer's scale.
        shifts: Shift of each reviewer's scale.
        units: Uniforms, shape (samples, (n - 1) + m + 2 (n - 1)) for n items and m
            reviewers: names, pairs, choice of reviewers.

    Returns:
        For each sample the Kendall distance of the start, the expected one after the
        coins, the expected one with fair coins, and the number of coins.
    """
    n_items, n_reviewers = len(values), len(slopes)
    samples = np.empty((len(units), 4))
    draw, ranked = empty_draw(n_items, n_reviewers), value_ranks(values)
    order = np.empty(n_items, dtype=np.int64)
    held = np.empty(n_items, dtype=np.int64)
    seen = np.empty((n_items, n_items), dtype=np.int32)
    for sample in range(len(units)):
        draw_pairs(values, ranked, units[sample], draw)
        first_ordering(draw, order)
        hand_out(draw.pairs, seen, held)
        samples[sample] = wrong_pairs(order, draw)
        samples[sample, 3] = 0.0
        choices = units[sample, n_items - 1 + n_reviewers :]
        position = 0
        while position < n_items - 1:
            a, b = order[position], order[position + 1]
            if compared(a, b, draw) or held[a] == 0 or held[b] == 0:
                held[a] = 0
                position += 1
                continue
            one = seen[a, int(choices[2 * position] * held[a])]
            other = seen[b, int(choices[2 * position + 1] * held[b])]
            gap = slopes[one] * draw.named[a] + shifts[one]
            gap -= slopes[other] * draw.named[b] + shifts[other]
            wrong = 1.0 if draw.named[a] > draw.named[b] else -1.0
            samples[sample, 1] += wrong * (1.0 - gap / (1.0 + abs(gap))) / 2
            samples[sample, 2] += wrong / 2
            samples[sample, 3] += 1
            # Nobody asks for the reviewers of items that the scan has left behind.
            held[a], held[b] = 0, 0
            retire(one, draw.pairs, seen, held)
            retire(other, draw.pairs, seen, held)
            position += 2
    return samples


@kernel
def hand_out(
    pairs: NDArray[np.int64], seen: NDArray[np.int32], held: NDArray[np.int64]
) -> None:
    """List the reviewers of each item, and how many they are."""
    held[:] = 0
    for reviewer in range(len(pairs)):
        for side in range(2):
            item = pairs[reviewer, side]
            seen[item, held[item]] = reviewer
            held[item] += 1


@kernel
def mean_rank_samples(
    values: NDArray[np.float64],
    n_reviewers: int,
    units: NDArray[np.float64],
    table: Ideals,
) -> NDArray[np.float64]:
    """Order by posterior mean rank on the comparisons that `flip_samples` draws.

    Args:
        values: Values of the items, at most 64.
        n_reviewers: Number of reviewers.
        units: Uniforms as for `flip_samples`; the last columns may be missing.
        table: An empty table of ideals.

    Returns:
        For each sample the Kendall distance of the topological ordering, that of the
        order by mean rank, and the number of order ideals, -1 if there are too many.
    """
    n_items = len(values)
    samples = np.empty((len(units), 3))
    draw, ranked = empty_draw(n_items, n_reviewers), value_ranks(values)
    above = np.empty(n_items, dtype=np.uint64)
    order = np.empty(n_items, dtype=np.int64)
    for sample in range(len(units)):
        draw_pairs(values, ranked, units[sample], draw)
        above[:] = NONE
        for lower in range(n_items):
            for upper in range(n_items):
                if draw.ranks[upper] > draw.ranks[lower]:
                    bound = np.uint64(compared(lower, upper, draw))
                    above[lower] |= bound << np.uint64(upper)
        first_ordering(draw, order)
        samples[sample, 0] = wrong_pairs(order, draw)
        ranks, ideals = mean_ranks(above, table)
        order_by(ranks, order)
        samples[sample, 1] = wrong_pairs(order, draw)
        samples[sample, 2] = ideals
    return samples


@kernel
def retire(
    reviewer: int,
    pairs: NDArray[np.int64],
    seen: NDArray[np.int32],
    held: NDArray[np.int64],
) -> None:
    """Take a reviewer off the lists of both its items; the last one takes its slot.

    A list of nobody is left as it is.
    """
    for side in range(2):
        item = pairs[reviewer, side]
        if held[item] == 0:
            continue
        slot = 0
        while seen[item, slot] != reviewer:
            slot += 1
        held[item] -= 1
        seen[item, slot] = seen[item, held[item]]


@kernel
def mean_ranks(above: Words, table: Ideals) -> tuple[NDArray[np.float64], int]:
    """Average the rank of each item over all orderings that respect the comparisons.

    Orderings are paths through the order ideals: the sets of items that may come
    first. Ways to reach an ideal times ways to go on from it count the orderings.

    Args:
        above: For each of at most 64 items the items put above it, as bits.
        table: An empty table of ideals; it is empty again afterwards.

    Returns:
        Mean ranks from 1, and the number of ideals; -1 if they do not fit.
    """
    n_items = len(above)
    ranks = np.zeros(n_items)
    starts = list_ideals(above, table)
    count = starts[n_items + 1]
    rest = np.zeros(max(count, 1))
    rest[-1] = 1.0
    for size in range(n_items - 1, -1, -1):
        for index in range(starts[size], starts[size + 1] if count > 0 else 0):
            for item in range(n_items):
                if may_follow(table.sets[index], item, above):
                    longer = table.sets[index] | ONE << np.uint64(item)
                    onward = rest[table.slots[find_slot(longer, table)]]
                    rest[index] += onward
                    ranks[item] += (size + 1) * table.ways[index] * onward
    # Clearing what was used is much cheaper than a new table for each sample.
    for index in range(count if count > 0 else len(table.sets)):
        table.slots[table.places[index]] = -1
    return ranks / rest[0], int(count)


@kernel
def list_ideals(above: Words, table: Ideals) -> NDArray[np.int64]:
    """Write the order ideals by size, and the ways to reach each of them.

    Returns:
        Where the ideals of each size begin, and the end; -1 as the end if there are
        more than fit.
    """
    n_items = len(above)
    starts = np.zeros(n_items + 2, dtype=np.int64)
    starts[1] = 1
    count = 1
    table.sets[0], table.ways[0], table.places[0] = NONE, 1.0, find_slot(NONE, table)
    table.slots[table.places[0]] = 0
    for size in range(n_items):
        for index in range(starts[size], starts[size + 1]):
            for item in range(n_items):
                if not may_follow(table.sets[index], item, above):
                    continue
                longer = table.sets[index] | ONE << np.uint64(item)
                slot = find_slot(longer, table)
                if table.slots[slot] < 0:
                    if count == len(table.sets):
                        starts[n_items + 1] = -1
                        return starts
                    table.sets[count], table.ways[count] = longer, 0.0
                    table.slots[slot], table.places[count] = count, slot
                    count += 1
                table.ways[table.slots[slot]] += table.ways[index]
        starts[size + 2] = count
    return starts


@kernel
def may_follow(ideal: np.uint64, item: int, above: Words) -> bool:
    """Say whether an item is not in an ideal, but all items above it are."""
    inside = (ideal >> np.uint64(item)) & ONE
    return bool(inside == NONE and above[item] & ~ideal == NONE)


@kernel
def find_slot(ideal: np.uint64, table: Ideals) -> int:
    """Return the slot that holds an ideal, or the free one where it belongs."""
    mask = np.uint64(len(table.slots) - 1)
    hashed = ideal * GOLDEN
    slot = np.int64((hashed ^ (hashed >> np.uint64(32))) & mask)
    while table.slots[slot] >= 0 and table.sets[table.slots[slot]] != ideal:
        slot = (slot + 1) % len(table.slots)
    return int(slot)


@kernel
def order_by(ranks: NDArray[np.float64], order: NDArray[np.int64]) -> None:
    """Write the items by increasing mean rank, equal ones by number."""
    for item in range(len(ranks)):
        place = item
        while place > 0 and ranks[order[place - 1]] > ranks[item] + CLOSE:
            order[place] = order[place - 1]
            place -= 1
        order[place] = item
