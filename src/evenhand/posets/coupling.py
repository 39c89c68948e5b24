"""Coupling from the past on the order polytope: one exactly uniform ordering.

The order polytope holds the values in [0, 1] of all items that put every item above
those below it. Sorted by value, a uniform point of it is a uniform ordering.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import coupling as kernels
from evenhand._randomness import WORD_BITS, Stream, stream
from evenhand.errors import ConvergenceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand._kernels.diagrams import Codes, Diagram

    Values = NDArray[np.int64] | NDArray[np.object_]

# Values redrawn in one attempt: two or three minutes.
MOST_REDRAWN = 2**34
CHUNK_WORDS = 2**16
MOST_ROWS = 32
UNIT_BITS = 62


def settle(diagram: Diagram, source: Stream) -> Codes:
    """Draw an ordering of the items of a diagram, best first, exactly uniformly.

    A sweep redraws the items one by one, each uniformly between its neighbours:
    x = low + u (high - low). That leaves the uniform law on the polytope as it is, and
    it is nondecreasing in all values and in u. So a chain that has run from the
    infinite past with uniforms u(t) is, at any time, between the bottom chain started
    from zeros and the top chain started from ones some sweeps ago, if all use the same
    u(t); and its value at time 0 is exactly uniform. As soon as no two of the intervals
    [bottom, top] meet, they tell its ordering. Starting earlier only narrows them, so
    how the starting time is chosen does not matter.

    This holds in spite of rounding: u(t) is a real number of which only the first 64
    bits are drawn, values are whole multiples of 2**-62, and every bottom value is
    rounded down from the smallest u(t) with these bits and every top value up from the
    largest. If intervals still meet when starting earlier no longer changes them, 64
    more bits of each u(t) are drawn.

    Memory stays linear in the diagram: sweeps go in chunks, and the words of a chunk
    are drawn again whenever it is swept.

    Raises:
        ConvergenceError: If more than 2**34 values would have to be redrawn at once.

    Examples:
        >>> from evenhand._randomness import stream
        >>> from evenhand.posets.pieces import as_diagram
        >>> chain = as_diagram(2, 2, np.array([0]), np.array([1]))
        >>> settle(chain, stream(7, "order")).tolist()
        [0, 1]
    """
    n_items = diagram.n_items
    seed = int.from_bytes(source.random_raw(4).astype(">u8").tobytes())
    rows = min(max(CHUNK_WORDS // n_items, 1), MOST_ROWS)
    chunks, n_words = 1, 1
    before: Values | None = None
    while chunks * rows * n_items <= MOST_REDRAWN:
        values = _swept(diagram, seed, rows, chunks, n_words)
        order = np.argsort(values[:, 0])[::-1]
        if (values[order[:-1], 0] > values[order[1:], 1]).all():
            return order.astype(np.int64)
        if before is not None and np.array_equal(before, values):
            n_words += 1
            before = None
        else:
            before = values
            chunks = _longer(chunks, values, n_words)
    raise ConvergenceError(
        f"A uniform ordering of {n_items:,} connected items was not settled after "
        f"{chunks * rows:,} sweeps. Choose method 'topological', or compare more items."
    )


def _longer(chunks: int, values: Values, n_words: int) -> int:
    """Guess how many chunks bring the intervals apart, from how they have narrowed."""
    widest = int((values[:, 1] - values[:, 0]).max())
    width = widest / 2 ** (UNIT_BITS + WORD_BITS * (n_words - 1))
    if width > 1 / 2:
        return 2 * chunks
    # Among n uniform values the two nearest are about 1 / n**2 apart.
    wanted = -math.log(16.0 * len(values) ** 2)
    factor = wanted / math.log(max(width, 1e-300))
    return math.ceil(chunks * min(max(factor, 1.25), 16.0))


def _swept(diagram: Diagram, seed: int, rows: int, chunks: int, n_words: int) -> Values:
    """Return both chains at time 0, started `chunks` chunks of sweeps before."""
    n_items = diagram.n_items
    if n_words > 1:
        return _swept_wide(diagram, seed, rows, chunks, n_words)
    around = neighbours(diagram)
    values = np.zeros((around.n_places, 2), dtype=np.int64)
    values[:, 1] = kernels.ONE
    for chunk in range(chunks - 1, -1, -1):
        words = _words(seed, chunk, 0, rows * n_items)
        kernels.sweep(around, values, words.reshape(rows, n_items))
    return values[:n_items]


def _words(seed: int, chunk: int, digit: int, size: int) -> NDArray[np.uint64]:
    return stream(seed, f"sweeps {chunk} digit {digit}").random_raw(size)


def neighbours(diagram: Diagram) -> kernels.Neighbours:
    """Tell each item where to look for the values around it.

    Examples:
        >>> from evenhand.posets.pieces import as_diagram
        >>> neighbours(as_diagram(2, 2, np.array([0]), np.array([1]))).down.tolist()
        [1]
    """
    n_items = diagram.n_items
    sides = []
    fed = []
    down, up = (diagram.down_start, diagram.down), (diagram.up_start, diagram.up)
    for kind, ((starts, nodes), (back_start, back)) in enumerate(
        ((down, up), (up, down))
    ):
        start = starts[: n_items + 1]
        found = nodes[: start[-1]]
        items = np.repeat(np.arange(n_items), np.diff(start))
        joint = found >= n_items
        # Upper items look at the joint's highest value, and feed its lowest one.
        sides += [start, np.where(joint, 2 * found - n_items + 1 - kind, found)]
        # The first item of a sweep that feeds a joint is the first on this side of it.
        first = back[back_start[found[joint]]] == items[joint]
        place = 2 * found[joint] - n_items + kind
        fed.append((items[joint], 4 * place + 2 * kind + first))
    owners, entries = (np.concatenate(parts) for parts in zip(*fed, strict=True))
    feed_start = np.concatenate(
        [[0], np.cumsum(np.bincount(owners, minlength=n_items))]
    )
    sides += [feed_start, entries[np.argsort(owners, kind="stable")]]
    n_joints = len(diagram.down_start) - 1 - n_items
    return kernels.Neighbours(
        n_items + 2 * n_joints, *(part.astype(np.uint32) for part in sides)
    )


def _swept_wide(
    diagram: Diagram, seed: int, rows: int, chunks: int, n_words: int
) -> NDArray[np.object_]:
    """Do the same with whole numbers of any length: slow, and hardly ever needed."""
    n_items = diagram.n_items
    bits = WORD_BITS * n_words
    one = 1 << (UNIT_BITS + bits - WORD_BITS)
    above = _beside(n_items, diagram.up_start, diagram.up)
    below = _beside(n_items, diagram.down_start, diagram.down)
    bottom, top = [0] * n_items, [one] * n_items
    for chunk in range(chunks - 1, -1, -1):
        digits = [
            _words(seed, chunk, digit, rows * n_items).tolist()
            for digit in range(n_words)
        ]
        for place, parts in enumerate(zip(*digits, strict=True)):
            item = place % n_items
            uniform = 0
            for part in parts:
                uniform = uniform << WORD_BITS | part
            low = max((bottom[other] for other in below[item]), default=0)
            gap = min((bottom[other] for other in above[item]), default=one) - low
            bottom[item] = low + (gap * uniform >> bits)
            low = max((top[other] for other in below[item]), default=0)
            gap = min((top[other] for other in above[item]), default=one) - low
            top[item] = low + min(gap, (gap * uniform >> bits) + 2)
    return np.array([bottom, top], dtype=np.object_).T


def _beside(n_items: int, start: Codes, nodes: Codes) -> list[list[int]]:
    """List the items above (below) each item, through joints too."""
    beside = [
        nodes[first:last].tolist()
        for first, last in zip(start[:-1].tolist(), start[1:].tolist(), strict=True)
    ]
    return [
        [
            item
            for node in found
            for item in ([node] if node < n_items else beside[node])
        ]
        for found in beside[:n_items]
    ]
