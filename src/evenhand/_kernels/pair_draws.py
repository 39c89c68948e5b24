"""Comparisons drawn at random, as sets of bits: pairs, an ordering, its wrong pairs.

All work for one draw is a few steps for each pair: nothing is allocated, cards are
laid out anew by one copy, and the ordering and its Kendall distance go through words of
64 items.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._kernels import kernel
from evenhand._kernels.kendall import ones

Words = NDArray[np.uint64]
Codes = NDArray[np.int64]

ONE = np.uint64(1)
NONE = np.uint64(0)
WORD = 6
LAST = 63
# A card holds the two items of a pair in halves of a word.
HALF_CARD = 16
LOW_ITEM = (1 << HALF_CARD) - 1


class Draw(NamedTuple):
    """One draw of names and comparisons, written over by the next.

    Items are known by their names, and in sets of bits by the ranks of their values, so
    that who is above whom of two that are compared needs no look at values.

    Attributes:
        fresh: All pairs of items, as cards.
        cards: The same, partly shuffled.
        named: Value of each item.
        ranks: Rank of each item's value from 0, of equal ones by name.
        floors: Number of values that are smaller than that of each item.
        items: Item of each rank.
        pairs: The two items of each reviewer.
        linked: For each rank the ranks that it is compared with, as bits.
        waiting: Room for the number of items, by rank, that must come before.
        bits: Room for two sets of items.
    """

    fresh: NDArray[np.int32]
    cards: NDArray[np.int32]
    named: NDArray[np.float64]
    ranks: Codes
    floors: Codes
    items: Codes
    pairs: Codes
    linked: Words
    waiting: Codes
    bits: Words


@kernel
def empty_draw(n_items: int, n_reviewers: int) -> Draw:
    """Return room for draws of up to 65,536 items."""
    fresh = np.empty(n_items * (n_items - 1) // 2, dtype=np.int32)
    card = 0
    for high in range(n_items):
        for low in range(high):
            fresh[card] = low | (high << HALF_CARD)
            card += 1
    words = ((n_items - 1) >> WORD) + 1
    return Draw(
        fresh,
        fresh.copy(),
        np.empty(n_items),
        np.empty(n_items, dtype=np.int64),
        np.empty(n_items, dtype=np.int64),
        np.empty(n_items, dtype=np.int64),
        np.empty((n_reviewers, 2), dtype=np.int64),
        np.zeros((n_items, words), dtype=np.uint64),
        np.zeros(n_items, dtype=np.int64),
        np.zeros((2, words), dtype=np.uint64),
    )


@kernel
def value_ranks(values: NDArray[np.float64]) -> tuple[Codes, Codes]:
    """Return the rank of each value, and the number of values smaller than it."""
    increasing = np.argsort(values)
    ranks = np.empty(len(values), dtype=np.int64)
    floors = np.empty(len(values), dtype=np.int64)
    floor = 0
    for rank in range(len(values)):
        if rank > 0 and values[increasing[rank]] > values[increasing[rank - 1]]:
            floor = rank
        ranks[increasing[rank]] = rank
        floors[increasing[rank]] = floor
    return ranks, floors


@kernel
def draw_pairs(
    values: NDArray[np.float64],
    ranked: tuple[Codes, Codes],
    units: NDArray[np.float64],
    draw: Draw,
) -> None:
    """Name the items at random and draw distinct pairs of them.

    Args:
        values: Values of the items.
        ranked: What `value_ranks` returns.
        units: Uniforms: n - 1 for the names, then one for each pair.
        draw: Written.
    """
    n_items = len(values)
    draw.named[:] = values
    draw.ranks[:], draw.floors[:] = ranked[0], ranked[1]
    for place in range(n_items - 1):
        other = place + int(units[place] * (n_items - place))
        named, rank, floor = draw.named[place], draw.ranks[place], draw.floors[place]
        draw.named[place], draw.named[other] = draw.named[other], named
        draw.ranks[place], draw.ranks[other] = draw.ranks[other], rank
        draw.floors[place], draw.floors[other] = draw.floors[other], floor
    _rank_by_name(draw)
    draw.cards[:] = draw.fresh
    draw.linked[:] = NONE
    cards, pairs, ranks, linked = draw.cards, draw.pairs, draw.ranks, draw.linked
    total = len(cards)
    for reviewer in range(len(pairs)):
        other = reviewer + int(units[n_items - 1 + reviewer] * (total - reviewer))
        card = cards[other]
        cards[other] = cards[reviewer]
        pairs[reviewer, 0], pairs[reviewer, 1] = card & LOW_ITEM, card >> HALF_CARD
    # A loop of its own, so that shuffling never waits for sets to be written.
    for reviewer in range(len(pairs)):
        one, two = ranks[pairs[reviewer, 0]], ranks[pairs[reviewer, 1]]
        linked[one, two >> WORD] |= ONE << np.uint64(two & LAST)
        linked[two, one >> WORD] |= ONE << np.uint64(one & LAST)


@kernel
def _rank_by_name(draw: Draw) -> None:
    """Give the ranks of equal values to their items by name; list items by rank."""
    tied = False
    for item in range(len(draw.ranks)):
        draw.items[draw.ranks[item]] = item
        tied |= draw.ranks[item] != draw.floors[item]
    if tied:
        draw.waiting[:] = draw.floors
        for item in range(len(draw.ranks)):
            # The next free rank of the group is kept at its first one.
            floor = draw.floors[item]
            rank = draw.waiting[draw.items[floor]]
            draw.waiting[draw.items[floor]] += 1
            draw.ranks[item] = rank
        for item in range(len(draw.ranks)):
            draw.items[draw.ranks[item]] = item


@kernel
def compared(one: int, two: int, draw: Draw) -> bool:
    """Say whether two items are compared."""
    rank = draw.ranks[two]
    bit = draw.linked[draw.ranks[one], rank >> WORD] >> np.uint64(rank & LAST)
    return bool(bit & ONE != NONE)


@kernel
def _below(rank: int, word: int) -> np.uint64:
    """Return the bits of a word that stand for lower ranks."""
    if word << WORD >= rank:
        return NONE
    if (word + 1) << WORD <= rank:
        return ~NONE
    return (ONE << np.uint64(rank & LAST)) - ONE


@kernel
def first_ordering(draw: Draw, order: Codes) -> None:
    """Write the topological ordering with the smallest items first."""
    ready = draw.bits[0]
    ready[:] = NONE
    words = len(ready)
    for rank in range(len(order)):
        draw.waiting[rank] = 0
        for word in range(words):
            higher = draw.linked[rank, word] & ~_below(rank, word)
            draw.waiting[rank] += ones(higher)
        if draw.waiting[rank] == 0:
            item = draw.items[rank]
            ready[item >> WORD] |= ONE << np.uint64(item & LAST)
    for place in range(len(order)):
        word = 0
        while ready[word] == NONE:
            word += 1
        item = (word << WORD) + lowest(ready[word])
        ready[word] &= ready[word] - ONE
        order[place] = item
        rank = draw.ranks[item]
        for group in range(words):
            rest = draw.linked[rank, group] & _below(rank, group)
            while rest != NONE:
                lower = (group << WORD) + lowest(rest)
                rest &= rest - ONE
                draw.waiting[lower] -= 1
                if draw.waiting[lower] == 0:
                    free = draw.items[lower]
                    ready[free >> WORD] |= ONE << np.uint64(free & LAST)


@kernel
def lowest(word: np.uint64) -> int:
    """Return the place of the lowest bit that is set."""
    return ones(~word & (word - ONE))


@kernel
def wrong_pairs(order: Codes, draw: Draw) -> int:
    """Count the pairs of an order, best first, that the values put the other way."""
    placed = draw.bits[1]
    placed[:] = NONE
    wrong = 0
    for item in order:
        for word in range(len(placed)):
            wrong += ones(placed[word] & _below(draw.floors[item], word))
        rank = draw.ranks[item]
        placed[rank >> WORD] |= ONE << np.uint64(rank & LAST)
    return wrong
