"""Loops over the order ideals of a diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from evenhand._kernels import kernel

if TYPE_CHECKING:
    from evenhand._kernels.diagrams import Diagram

Codes = NDArray[np.int64]
Words = NDArray[np.uint64]
Growing = TypeVar("Growing", Codes, Words)


@kernel
def below_bits(diagram: Diagram) -> tuple[Words, Words]:
    """Return for each item the bits of all items below it, and of those next below it.

    An item is next below if no third item is between.
    """
    n_nodes = len(diagram.down_start) - 1
    n_words = (diagram.n_items + 63) >> 6
    # For a joint: all its lower items and what is below them; only what is below them.
    reach = np.zeros((n_nodes, n_words), dtype=np.uint64)
    beyond = np.zeros((n_nodes, n_words), dtype=np.uint64)
    for item in range(diagram.n_items - 1, -1, -1):
        for slot in range(diagram.down_start[item], diagram.down_start[item + 1]):
            lower = diagram.down[slot]
            reach[item] |= reach[lower]
            if lower < diagram.n_items:
                beyond[item] |= reach[lower]
                bit = np.uint64(1) << np.uint64(lower & 63)
                reach[item, lower >> 6] |= bit
            else:
                beyond[item] |= beyond[lower]
        for slot in range(diagram.up_start[item], diagram.up_start[item + 1]):
            joint = diagram.up[slot]
            if joint >= diagram.n_items:
                reach[joint] |= reach[item]
                beyond[joint] |= reach[item]
                reach[joint, item >> 6] |= np.uint64(1) << np.uint64(item & 63)
    below = reach[: diagram.n_items]
    return below, below & ~beyond[: diagram.n_items]


@kernel
def needed_edges(diagram: Diagram) -> NDArray[np.bool_]:
    """Say which edges, by upper end, are implied by no others.

    An edge from an item to a joint is implied if another upper item of the joint is
    below the item; one from a joint to an item, if another lower item of the joint is
    above the item.
    """
    n_items, n_nodes = diagram.n_items, len(diagram.down_start) - 1
    below, next_below = below_bits(diagram)
    needed = np.empty(len(diagram.down), dtype=np.bool_)
    members = np.zeros((n_nodes - n_items, below.shape[1]), dtype=np.uint64)
    under = np.zeros_like(members)
    for joint in range(n_items, n_nodes):
        for slot in range(diagram.up_start[joint], diagram.up_start[joint + 1]):
            item = diagram.up[slot]
            members[joint - n_items, item >> 6] |= np.uint64(1) << np.uint64(item & 63)
        for slot in range(diagram.down_start[joint], diagram.down_start[joint + 1]):
            under[joint - n_items] |= below[diagram.down[slot]]
    for node in range(n_nodes):
        for slot in range(diagram.down_start[node], diagram.down_start[node + 1]):
            lower = diagram.down[slot]
            if lower >= n_items:
                implied = False
                for word in range(below.shape[1]):
                    if below[node, word] & members[lower - n_items, word]:
                        implied = True
                        break
                needed[slot] = not implied
            else:
                bits = next_below[node] if node < n_items else ~under[node - n_items]
                bit = bits[lower >> 6] >> np.uint64(lower & 63)
                needed[slot] = bit & np.uint64(1) != 0
    return needed


@kernel
def bit_lists(bits: Words) -> tuple[Codes, Codes]:
    """List the set bits of each row: starts, and places in the row."""
    starts = np.zeros(len(bits) + 1, dtype=np.int64)
    places = np.empty(0, dtype=np.int64)
    for fill in (False, True):
        count = 0
        for row in range(len(bits)):
            for word in range(bits.shape[1]):
                left = bits[row, word]
                place = word << 6
                while left != 0:
                    if left & np.uint64(1):
                        if fill:
                            places[count] = place
                        count += 1
                    left >>= np.uint64(1)
                    place += 1
            starts[row + 1] = count
        if not fill:
            places = np.empty(count, dtype=np.int64)
    return starts, places


@kernel
def _free_first(below: Words, out: Codes) -> int:
    """Write the items that are below none, and return their number."""
    size = 0
    for item in range(len(below)):
        bit = np.uint64(item & 63)
        if not np.any((below[:item, item >> 6] >> bit) & np.uint64(1)):
            out[size] = item
            size += 1
    return size


@kernel
def _free_after(
    below: Words, next_below: tuple[Codes, Codes], free: Codes, taken: int, out: Codes
) -> int:
    """Write the items that are free once one is taken, sorted; return their number.

    An item next below the taken one becomes free if it is below no other free item.
    """
    starts, lower = next_below
    size = 0
    for item in free:
        if item != taken:
            out[size] = item
            size += 1
    for slot in range(starts[taken], starts[taken + 1]):
        item = lower[slot]
        word, bit = item >> 6, np.uint64(item & 63)
        blocked = False
        for other in free:
            if other != taken and (below[other, word] >> bit) & np.uint64(1):
                blocked = True
        if blocked:
            continue
        place = size
        while place > 0 and out[place - 1] > item:
            out[place] = out[place - 1]
            place -= 1
        out[place] = item
        size += 1
    return size


@kernel
def _find(
    table: Codes,
    hashes: Words,
    first: Codes,
    items: Codes,
    free: Codes,
    mixed: np.uint64,
) -> int:
    """Return the slot of the table that holds an ideal, or where it belongs."""
    last = len(table) - 1
    slot = np.int64(mixed & np.uint64(last))
    while table[slot] >= 0:
        ideal = table[slot]
        same = hashes[ideal] == mixed and first[ideal + 1] - first[ideal] == len(free)
        for place in range(len(free)):
            same = same and items[first[ideal] + place] == free[place]
        if same:
            break
        slot = (slot + 1) & last
    return int(slot)


@kernel
def _rehashed(hashes: Words, count: int) -> Codes:
    size = 64
    while size < 4 * count:
        size *= 2
    table = np.full(size, -1, dtype=np.int64)
    for ideal in range(count):
        slot = np.int64(hashes[ideal] & np.uint64(size - 1))
        while table[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        table[slot] = ideal
    return table


@kernel
def _mixed(item: int) -> np.uint64:
    word = np.uint64(item + 1) * np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@kernel
def _grown(values: Growing, needed: int) -> Growing:
    if needed <= len(values):
        return values
    longer = np.empty(2 * needed, dtype=values.dtype)
    longer[: len(values)] = values
    return longer


@kernel
def order_ideals(
    below: Words, next_below: tuple[Codes, Codes], limit: int
) -> tuple[Codes, Codes, Codes]:
    """List the ideals (sets that hold all items above their items) by size.

    An ideal is kept as the items that are free to be added to it, which determine it.
    Stops as soon as there are certainly more than `limit`: a free set of f items alone
    makes 2**f ideals.

    Returns:
        For ideal i, items[first[i]:first[i + 1]] are free, and adding one leads to the
        ideal at the same place in `to`. If it stopped, `first` is empty.
    """
    stopped = np.empty(0, dtype=np.int64)
    widest = 0
    while 2 << widest <= limit:
        widest += 1
    free = np.empty(len(below) + 1, dtype=np.int64)
    size = _free_first(below, free)
    first = np.array([0, size], dtype=np.int64)
    items = free[:size].copy()
    to = items.copy()
    hashes = np.zeros(1, dtype=np.uint64)
    count, done = 1, 0
    table = _rehashed(hashes, count)
    while done < count:
        begin, end = first[done], first[done + 1]
        if count > limit or end - begin > widest:
            return stopped, stopped, stopped
        for at in range(begin, end):
            size = _free_after(below, next_below, items[begin:end], items[at], free)
            mixed = hashes[done] + _mixed(items[at])
            slot = _find(table, hashes, first, items, free[:size], mixed)
            if table[slot] < 0:
                used = first[count]
                first = _grown(first, count + 2)
                hashes = _grown(hashes, count + 1)
                items = _grown(items, used + size)
                to = _grown(to, used + size)
                items[used : used + size] = free[:size]
                hashes[count] = mixed
                first[count + 1] = used + size
                table[slot] = count
                count += 1
                to[at] = count - 1
                if 2 * count > len(table):
                    table = _rehashed(hashes, count)
            else:
                to[at] = table[slot]
        done += 1
    return first[: count + 1], items[: first[count]], to[: first[count]]
