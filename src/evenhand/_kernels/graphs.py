"""Counting sorts in blocks, and the smallest order of a graph.

A plain counting sort writes to places all over memory. Here rows are first dealt out to
at most 512 blocks of neighbouring codes, and then sorted block by block, so that writes
stay near one another. Positions and codes inside are 32 bits wide: fewer than 2**31
rows and codes.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._cores import beside
from evenhand._kernels import kernel
from evenhand._kernels.memory import prefetch

Codes = NDArray[np.int64]
Nodes = NDArray[np.int32]
Ends = NDArray[np.int64] | NDArray[np.int32]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Words = NDArray[np.uint64]

BLOCKS = 512
# Up to so many codes one block is as quick: its counters stay in the nearest cache.
LEAST_SHIFT = 13
# Up to so many rows are sorted by insertion.
FEW = 24
# From so many edges on, all cores work on them, each on so many blocks at a time.
MANY = 1 << 20
AT_ONCE = 16
# Nodes that a line of the cache holds.
LINE = 16
ONE = np.uint64(1)
EMPTY, BYTE, FULL = np.uint8(0), np.uint8(1), np.uint8(255)

# The top six bits of this number times a power of two tell the power.
SEQUENCE = 0x03F79D71B4CB0A89
PLACES = np.zeros(64, dtype=np.int64)
for _place in range(64):
    PLACES[(SEQUENCE << _place & (2**64 - 1)) >> 58] = _place
SEQUENCE_BITS = np.uint64(SEQUENCE)
TOP_BITS = np.uint64(58)


class Graph(NamedTuple):
    """What is below each node, and how many nodes each one waits for.

    Attributes:
        start: Slices of down, one more than nodes.
        down: Nodes directly below, repeats included.
        waits: Number of edges from above, in 1 to 255 plus 255 times `more`; 0 if none.
        more: See waits.
        heavy: Whether `more` is anywhere other than 0.
    """

    start: Nodes
    down: Nodes
    waits: Bytes
    more: Nodes
    heavy: bool


class Queue(NamedTuple):
    """A set of codes whose smallest is found at once.

    A bit of each word says that the word below it is not empty.
    """

    codes: Words
    words: Words
    pages: Words
    books: Words


@kernel
def _shift(n_codes: int) -> int:
    shift = LEAST_SHIFT
    while (n_codes - 1) >> shift >= BLOCKS:
        shift += 1
    return shift


@kernel
def _block_starts(codes: Ends, n_codes: int, shift: int) -> Codes:
    starts = np.zeros((max(n_codes - 1, 0) >> shift) + 2, dtype=np.int64)
    for code in codes:
        starts[(code >> shift) + 1] += 1
    return np.cumsum(starts)


@kernel
def _deal(
    start: Ends,
    place: Nodes,
    codes: Nodes,
    rows: tuple[int, int],
    block: tuple[int, int],
) -> None:
    # Count the codes of one block, and set `start` and `place` to where each begins.
    first, last = block
    place[: last - first] = 0
    for at in range(rows[0], rows[1]):
        place[codes[at] - first] += 1
    total = np.int32(rows[0])
    for code in range(first, last):
        start[code] = total
        count = place[code - first]
        place[code - first] = total
        total += count


@kernel
def group_rows(codes: Codes, n_codes: int) -> tuple[Codes, Codes]:
    """Sort rows by code, those of one code in their order.

    Returns:
        Where each code's rows begin, and the end; then the rows.
    """
    shift = _shift(n_codes)
    firsts = _block_starts(codes, n_codes, shift)
    ends = firsts.copy()
    dealt = np.empty(len(codes), dtype=np.int32)
    numbers = np.empty(len(codes), dtype=np.int32)
    for row in range(len(codes)):
        block = codes[row] >> shift
        at = ends[block]
        ends[block] = at + 1
        dealt[at] = codes[row]
        numbers[at] = row
    start = np.empty(n_codes + 1, dtype=np.int64)
    start[n_codes] = len(codes)
    rows = np.empty(len(codes), dtype=np.int64)
    place = np.empty(1 << shift, dtype=np.int32)
    for block in range(len(firsts) - 1):
        first = block << shift
        span = (firsts[block], firsts[block + 1])
        _deal(start, place, dealt, span, (first, min(first + (1 << shift), n_codes)))
        for at in range(span[0], span[1]):
            code = dealt[at] - first
            rows[place[code]] = numbers[at]
            place[code] += 1
    return start, rows


@kernel
def _sort_up(keys: Codes, rows: Codes | Floats) -> None:
    # Sort by key, in place; equal keys stay in their order.
    if len(keys) > FEW:
        order = np.argsort(keys, kind="mergesort")
        keys[:], rows[:] = keys[order], rows[order]
        return
    for place in range(1, len(keys)):
        key, row = keys[place], rows[place]
        free = place
        while free > 0 and keys[free - 1] > key:
            keys[free], rows[free] = keys[free - 1], rows[free - 1]
            free -= 1
        keys[free], rows[free] = key, row


@kernel
def sort_rows(first: Codes, second: Codes, n_codes: int) -> tuple[Codes, Codes, Codes]:
    """Sort rows by a first code below n_codes, then by a second one, then by number.

    Returns:
        The first codes and the second ones, sorted, and the rows.
    """
    shift = _shift(n_codes)
    firsts = _block_starts(first, n_codes, shift)
    ends = firsts.copy()
    dealt = np.empty((len(first), 3), dtype=np.int32)
    for row in range(len(first)):
        block = first[row] >> shift
        at = ends[block]
        ends[block] = at + 1
        dealt[at, 0] = first[row]
        dealt[at, 1] = second[row]
        dealt[at, 2] = row
    start = np.empty(n_codes + 1, dtype=np.int64)
    start[n_codes] = len(first)
    ones, others = np.empty_like(first), np.empty_like(first)
    rows = np.empty_like(first)
    place = np.empty(1 << shift, dtype=np.int32)
    for block in range(len(firsts) - 1):
        low = block << shift
        high = min(low + (1 << shift), n_codes)
        span = (firsts[block], firsts[block + 1])
        _deal(start, place, dealt[:, 0], span, (low, high))
        for at in range(span[0], span[1]):
            code = dealt[at, 0] - low
            others[place[code]] = dealt[at, 1]
            rows[place[code]] = dealt[at, 2]
            place[code] += 1
        for code in range(low, high):
            begin, end = start[code], np.int64(place[code - low])
            ones[begin:end] = code
            _sort_up(others[begin:end], rows[begin:end])
    return ones, others, rows


@kernel
def all_within(codes: Ends, n_codes: int) -> bool:
    """Say whether all codes are among 0..n_codes-1."""
    every_bit = np.int64(0)
    for code in codes:
        every_bit |= code | (n_codes - 1 - code)
    return bool(every_bit >= 0)


@kernel
def sort_values(
    first: Ends, second: Ends, values: Floats, n_codes: int
) -> tuple[Codes, Codes, bool]:
    """Sort values by a first code below n_codes, then by a second one, where they are.

    Fresh memory takes as long as the work on it, so values are not moved to a place of
    their own.

    Returns:
        The first codes and the second ones, sorted; and whether two rows have both
        codes in common.
    """
    shift = _shift(n_codes)
    firsts = _block_starts(first, n_codes, shift)
    ends = firsts.copy()
    codes = np.empty((len(first), 2), dtype=np.int32)
    dealt = np.empty(len(first), dtype=np.float64)
    for row in range(len(first)):
        block = first[row] >> shift
        at = ends[block]
        ends[block] = at + 1
        codes[at, 0] = first[row]
        codes[at, 1] = second[row]
        dealt[at] = values[row]
    ones = np.empty(len(first), dtype=np.int64)
    others = np.empty(len(first), dtype=np.int64)
    start = np.empty(n_codes, dtype=np.int64)
    place = np.empty(1 << shift, dtype=np.int32)
    repeated = False
    for block in range(len(firsts) - 1):
        low = block << shift
        high = min(low + (1 << shift), n_codes)
        span = (firsts[block], firsts[block + 1])
        _deal(start, place, codes[:, 0], span, (low, high))
        for at in range(span[0], span[1]):
            code = codes[at, 0] - low
            others[place[code]] = codes[at, 1]
            values[place[code]] = dealt[at]
            place[code] += 1
        for code in range(low, high):
            begin, end = start[code], np.int64(place[code - low])
            ones[begin:end] = code
            _sort_up(others[begin:end], values[begin:end])
            for at in range(begin + 1, end):
                repeated |= others[at] == others[at - 1]
    return ones, others, repeated


def edge_lists(above: Ends, below: Ends, n_nodes: int) -> Graph:
    """List what is below each node, from the two ends of each edge.

    Time grows with the edges and nodes; memory is 8 bytes an edge, 9 a node, and 4 an
    edge of the block at hand. NumPy hands out large pages, which compiled code does
    not; later look-ups all over the arrays are quicker in them.
    """
    tails = np.empty(len(above), dtype=np.int32)
    heads = np.empty(len(above), dtype=np.int32)
    # Two in one array, since only a large one has large pages.
    both = np.empty(n_nodes + 1 + n_nodes // 4 + 1, dtype=np.int32)
    start, waits = both[: n_nodes + 1], both[n_nodes + 1 :].view(np.uint8)[:n_nodes]
    waits[:] = 0
    more = np.zeros(n_nodes, dtype=np.int32)
    shift = _shift(n_nodes)
    firsts, heavy = _count_edges(above, below, shift, waits, more)
    _deal_edges(above, below, firsts, shift, (tails, heads))
    many = len(above) >= MANY
    step = AT_ONCE if many else len(firsts)
    lists = [
        partial(_list_edges, (tails, heads), firsts, block, block + step, start)
        for block in range(0, len(firsts) - 1, step)
    ]
    beside(lists, worth=many)
    return Graph(start, heads, waits, more, bool(heavy))


@kernel
def _count_edges(
    above: Ends, below: Ends, shift: int, waits: Bytes, more: Nodes
) -> tuple[Codes, bool]:
    # Count the edges of each block of tails, and return where blocks begin, and the
    # end; and those of each head. Dealing them out in this loop would take twice as
    # long: writes to places just read would wait for one another.
    starts = np.zeros((max(len(waits) - 1, 0) >> shift) + 2, dtype=np.int64)
    heavy = False
    for edge in range(len(above)):
        starts[(above[edge] >> shift) + 1] += 1
        lower = below[edge]
        count = waits[lower]
        if count == FULL:
            count = EMPTY
            more[lower] += 1
            heavy = True
        waits[lower] = count + BYTE
    return np.cumsum(starts), heavy


@kernel
def _deal_edges(
    above: Ends, below: Ends, firsts: Codes, shift: int, into: tuple[Nodes, Nodes]
) -> None:
    # Deal edges out to blocks of tails.
    tails, heads = into
    ends = firsts.copy()
    for edge in range(len(above)):
        block = above[edge] >> shift
        at = ends[block]
        ends[block] = at + 1
        tails[at] = above[edge]
        heads[at] = below[edge]


@kernel
def _list_edges(
    edges: tuple[Nodes, Nodes], firsts: Codes, block: int, end: int, start: Nodes
) -> None:
    # Sort the heads of some blocks by tail, in place, and say where each tail's begin.
    tails, heads = edges
    n_nodes = len(start) - 1
    shift = _shift(n_nodes)
    place = np.empty(1 << shift, dtype=np.int32)
    for one in range(block, min(end, len(firsts) - 1)):
        low = one << shift
        span = (firsts[one], firsts[one + 1])
        _deal(start, place, tails, span, (low, min(low + (1 << shift), n_nodes)))
        unsorted = heads[span[0] : span[1]].copy()
        for at in range(span[0], span[1]):
            node = tails[at] - low
            heads[place[node]] = unsorted[at - span[0]]
            place[node] += 1
    start[n_nodes] = len(tails)


@kernel
def _lowest(word: np.uint64) -> int:
    return int(PLACES[((word & (~word + ONE)) * SEQUENCE_BITS) >> TOP_BITS])


@kernel
def _mark(words: Words, code: int) -> None:
    words[code >> 6] |= ONE << np.uint64(code & 63)


@kernel
def _queue(graph: Graph, n_items: int) -> Queue:
    sizes = np.empty(5, dtype=np.int64)
    sizes[0] = n_items
    for level in range(4):
        sizes[level + 1] = max(sizes[level] - 1, 0) // 64 + 1
    queue = Queue(
        np.zeros(sizes[1], dtype=np.uint64),
        np.zeros(sizes[2], dtype=np.uint64),
        np.zeros(sizes[3], dtype=np.uint64),
        np.zeros(sizes[4], dtype=np.uint64),
    )
    for item in range(n_items):
        if graph.waits[item] == 0:
            _push(queue, item)
    return queue


@kernel
def _push(queue: Queue, code: int) -> None:
    _mark(queue.codes, code)
    _mark(queue.words, code >> 6)
    _mark(queue.pages, code >> 12)
    _mark(queue.books, code >> 18)


@kernel
def _smallest(queue: Queue, none: int) -> int:
    shelf = 0
    while queue.books[shelf] == 0:
        shelf += 1
        if shelf == len(queue.books):
            return none
    book = shelf << 6 | _lowest(queue.books[shelf])
    page = book << 6 | _lowest(queue.pages[book])
    word = page << 6 | _lowest(queue.words[page])
    return word << 6 | _lowest(queue.codes[word])


@kernel
def _clear(words: Words, code: int) -> bool:
    # Take out one bit; say whether its word is empty now.
    words[code >> 6] &= ~(ONE << np.uint64(code & 63))
    return bool(words[code >> 6] == 0)


@kernel
def _take_out(queue: Queue, code: int) -> None:
    if (
        _clear(queue.codes, code)
        and _clear(queue.words, code >> 6)
        and _clear(queue.pages, code >> 12)
    ):
        _clear(queue.books, code >> 18)


@kernel
def _goes_on(waits: Bytes, more: Nodes, node: int) -> bool:
    # Go on to the next 255 edges from above, if there are any.
    if more[node] == 0:
        return False
    more[node] -= 1
    waits[node] = FULL
    return True


@kernel
def _is_last(waits: Bytes, more: Nodes, node: int) -> bool:
    # Take off one edge from above; say whether that was the last.
    waits[node] -= BYTE
    return bool(waits[node] == 0) and not _goes_on(waits, more, node)


@kernel
def _fetch(graph: Graph, node: int) -> None:
    # The first nodes below a node, which seldom begin where a line of the cache does.
    prefetch(graph.down, graph.start[node])
    prefetch(graph.down, graph.start[node] + LINE)


def pop_smallest(graph: Graph, n_items: int) -> tuple[Codes, Flags]:
    """Take out the smallest item that waits for nothing, again and again.

    Nodes from n_items on are joints: they stand for what is above them, and are passed
    as soon as they wait for nothing. The graph is used up.

    An item that comes right after one directly above it waited for that one, and became
    free only now. So it is the smallest of those that became free now; any other item
    is compared with the one before it by no edge.

    Returns:
        The items in order, fewer if there is a cycle, and for each two neighbours
        whether no edge, and no joint, leads from one to the other.
    """
    order = np.empty(n_items, dtype=np.int64)
    free = np.empty(n_items, dtype=np.bool_)
    if n_items == 0:
        return order, free
    done = _pop_all(graph, order, free)
    return order[:done], free[1 : max(done, 1)]


@kernel
def _pop_all(graph: Graph, order: Codes, free: Flags) -> int:
    n_items = len(order)
    start, down, waits = graph.start, graph.down, graph.waits
    queue = _queue(graph, n_items)
    done = 0
    item, freed = _smallest(queue, n_items), n_items
    while item < n_items:
        order[done] = item
        free[done] = item != freed
        done += 1
        _take_out(queue, item)
        ahead, freed = _smallest(queue, n_items), n_items
        # What is below the likely next item, while this one's edges are gone through.
        _fetch(graph, ahead)
        for at in range(start[item], start[item + 1]):
            node = down[at]
            # Whether it is needed turns out later than it could be there.
            prefetch(start, node)
            left = waits[node] - BYTE
            waits[node] = left
            if left > 0 or (graph.heavy and _goes_on(waits, graph.more, node)):
                continue
            if node < n_items:
                _push(queue, node)
                freed = min(freed, node)
                _fetch(graph, node)
                continue
            for slot in range(start[node], start[node + 1]):
                lower = down[slot]
                if _is_last(waits, graph.more, lower):
                    _push(queue, lower)
                    freed = min(freed, lower)
        item = min(ahead, freed)
    return done
