"""Coupling from the past on the order polytope: exactly uniform orderings.

The order polytope holds the values in [0, 1] of all items that put every item above
those below it. Sorted by value, a uniform point of it is a uniform ordering.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import coupling as kernels
from evenhand._randomness import WORD_BITS, Stream, stream
from evenhand.errors import ConvergenceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from evenhand._kernels.diagrams import Codes, Diagram

    Values = NDArray[np.int64] | NDArray[np.object_]
    Halves = NDArray[np.uint32]

# Values redrawn in one attempt: two or three minutes.
MOST_REDRAWN = 2**34
CHUNK_WORDS = 2**16
MOST_ROWS = 32
UNIT_BITS = 62

# With more items, 32 bits too often do not tell the nearest values apart.
LANE_ITEMS = 1024
# Items times samples that are swept side by side, in vectors of 16 samples.
LANE_VALUES = 2**16
VECTOR, MOST_VECTORS = 16, 16
LANE_WORDS = 2**18
HALF_BITS = 32
# Chunks of words, of one megabyte each, that are kept for the next attempt. Earlier
# ones, which few samples need, each sample draws for itself.
MOST_KEPT = 64
# Values redrawn in one attempt of a block, in all lanes: two or three minutes.
MOST_IN_LANES = 2**36


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
    n_items, seed = diagram.n_items, _seed(source)
    rows = min(max(CHUNK_WORDS // n_items, 1), MOST_ROWS)

    def words(chunk: int, digit: int) -> kernels.Words:
        return _words(seed, f"sweeps {chunk} digit {digit}", rows * n_items)

    return _settled(_Past(diagram, neighbours(diagram), rows, words))


def settle_many(diagram: Diagram, source: Stream, samples: int) -> Iterator[Codes]:
    """Draw independent orderings as `settle` draws one, some rows at a time.

    The samples of a block, 64 to 256 of them, are swept side by side, each in a lane of
    its own. They stay exactly uniform and independent for this reason: the uniforms
    u(t) of a sample are its own, and its ordering is a function of them alone, namely
    that of its chain from the infinite past. Sweeps only find it out. So any rule may
    say how far in the past a lane starts, even one that looks at other samples: it
    changes the work and nothing else, as long as every sample is taken to its end and
    has the same u(t) at the same time in each attempt. It has, since the words of a
    block for a chunk of sweeps are one named stream, in which each lane has its fixed
    places whether it is swept or not; for the chunks before the last 64, each lane has
    streams of its own. For the same reason no sample depends on how many are asked for.

    Of u(t) 32 bits are drawn, values are multiples of 2**-31, and both chains are
    rounded outwards as ever. A sample that this does not settle, because starting
    earlier no longer changes its intervals, goes on alone with the same 32 bits and
    more, from streams of its own, as in `settle`.

    Memory is linear in the diagram, and at most 70 megabytes beyond that for any number
    of samples. Diagrams of more than 1,024 items are drawn one sample after another.

    Raises:
        ConvergenceError: If more than 2**36 values would have to be redrawn at once,
            of all samples in a block.

    Examples:
        >>> from evenhand._randomness import stream
        >>> from evenhand.posets.pieces import as_diagram
        >>> letter_n = as_diagram(4, 4, np.array([0, 0, 1]), np.array([2, 3, 3]))
        >>> (many,) = settle_many(letter_n, stream(7, "orders"), 100)
        >>> (few,) = settle_many(letter_n, stream(7, "orders"), 2)
        >>> many.shape, bool((many[:2] == few).all())
        ((100, 4), True)
    """
    return _blocks(diagram, _seed(source), samples)


def _blocks(diagram: Diagram, seed: int, samples: int) -> Iterator[Codes]:
    n_items = diagram.n_items
    if n_items > LANE_ITEMS:
        for sample in range(samples):
            yield settle(diagram, stream(seed, f"sample {sample}"))[None]
        return
    vectors = min(max(LANE_VALUES // (VECTOR * n_items), 1), MOST_VECTORS)
    lanes = VECTOR * vectors
    rows = min(max(LANE_WORDS // (n_items * lanes), 1), MOST_ROWS)
    around = neighbours(diagram)
    room: dict[int, Halves] = {}
    chunks = 1
    for number, first in enumerate(range(0, samples, lanes)):
        block = _Block(diagram, around, seed, number, (rows, n_items, lanes), room)
        orders, chunks = _settled_lanes(block, min(samples - first, lanes), chunks)
        yield orders


def _seed(source: Stream) -> int:
    return int.from_bytes(source.random_raw(4).astype(">u8").tobytes())


def _words(seed: int, purpose: str, size: int) -> kernels.Words:
    return stream(seed, purpose).random_raw(size)


def _halves(seed: int, purpose: str, shape: tuple[int, ...]) -> Halves:
    size = math.prod(shape)
    raw = _words(seed, purpose, -(-size // 2))
    # The lower half of a word comes first, on every machine.
    halves = raw.astype("<u8", copy=False).view("<u4")[:size].reshape(shape)
    return halves.astype(np.uint32, copy=False)


@dataclass(frozen=True, slots=True, eq=False)
class _Past:
    """The sweeps of one sample, in chunks that count back from time 0.

    Attributes:
        diagram: The items.
        around: Their neighbours.
        rows: Sweeps in a chunk.
        words: Tells the words of a chunk; digit 0 has the first 64 bits of the
            uniforms, digit 1 the next 64.
    """

    diagram: Diagram
    around: kernels.Neighbours
    rows: int
    words: Callable[[int, int], kernels.Words]

    def swept(self, chunks: int, n_words: int) -> Values:
        """Return both chains at time 0, started `chunks` chunks of sweeps before."""
        if n_words > 1:
            return self._swept_wide(chunks, n_words)
        n_items = self.diagram.n_items
        values = np.zeros((self.around.n_places, 2), dtype=np.int64)
        values[:, 1] = kernels.ONE
        for chunk in range(chunks - 1, -1, -1):
            words = self.words(chunk, 0)
            kernels.sweep(self.around, values, words.reshape(self.rows, n_items))
        return values[:n_items]

    def _swept_wide(self, chunks: int, n_words: int) -> NDArray[np.object_]:
        """Do the same with whole numbers of any length: slow, and seldom needed."""
        n_items = self.diagram.n_items
        bits = WORD_BITS * n_words
        one = 1 << (UNIT_BITS + bits - WORD_BITS)
        above = _beside(n_items, self.diagram.up_start, self.diagram.up)
        below = _beside(n_items, self.diagram.down_start, self.diagram.down)
        bottom, top = [0] * n_items, [one] * n_items
        for chunk in range(chunks - 1, -1, -1):
            digits = [self.words(chunk, digit).tolist() for digit in range(n_words)]
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


def _settled(past: _Past) -> Codes:
    """Start one sample earlier and earlier, until its ordering is known."""
    n_items = past.diagram.n_items
    chunks, n_words = 1, 1
    before: Values | None = None
    while chunks * past.rows * n_items <= MOST_REDRAWN:
        values = past.swept(chunks, n_words)
        order = np.argsort(values[:, 0])[::-1]
        if (values[order[:-1], 0] > values[order[1:], 1]).all():
            return order.astype(np.int64)
        if before is not None and np.array_equal(before, values):
            n_words += 1
            before = None
        else:
            before = values
            widest = int((values[:, 1] - values[:, 0]).max())
            width = widest / 2 ** (UNIT_BITS + WORD_BITS * (n_words - 1))
            # Among n uniform values the two nearest are about 1 / n**2 apart.
            chunks = _longer(chunks, width, 1 / (16.0 * n_items**2), 16.0)
    raise _unsettled(n_items, chunks * past.rows)


def _longer(chunks: int, width: float, wanted: float, most: float) -> int:
    """Guess how many chunks narrow the intervals so far, from how they have by now."""
    if width > 1 / 2:
        return 2 * chunks
    factor = math.log(wanted) / math.log(max(width, 1e-300))
    return math.ceil(chunks * min(max(factor, 1.25), most))


def _unsettled(n_items: int, sweeps: int) -> ConvergenceError:
    return ConvergenceError(
        f"A uniform ordering of {n_items:,} connected items was not settled after "
        f"{sweeps:,} sweeps. Choose method 'topological', or compare more items."
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """The sweeps of many samples, in chunks that count back from time 0.

    Attributes:
        diagram: The items.
        around: Their neighbours.
        seed: Where all words come from.
        number: Which block of samples, from 0.
        shape: Sweeps in a chunk, items and samples.
        room: Where words are kept, by chunk; other blocks use it before and after.
        drawn: Chunks of which it has the words of this block.
    """

    diagram: Diagram
    around: kernels.Neighbours
    seed: int
    number: int
    shape: tuple[int, int, int]
    room: dict[int, Halves]
    drawn: set[int] = field(default_factory=set)

    def words(self, chunk: int) -> Halves:
        """Return the first 32 bits of the uniforms, by sweep, item and lane."""
        if chunk in self.drawn:
            return self.room[chunk]
        purpose = f"samples {self.number} sweeps {chunk}"
        if chunk not in self.room:
            self.room[chunk] = np.empty(self.shape, dtype=np.uint32)
        # New memory for each block would take longer than to copy.
        self.room[chunk][:] = _halves(self.seed, purpose, self.shape)
        self.drawn.add(chunk)
        return self.room[chunk]

    def words_of(self, chunk: int, lanes: Codes) -> Halves:
        """Return the same of some lanes."""
        if chunk < MOST_KEPT:
            words = self.words(chunk)
            whole = len(lanes) == self.shape[2]
            return words if whole else np.take(words, lanes, axis=2)
        rows, n_items, n_lanes = self.shape
        words = np.empty((rows, n_items, len(lanes)), dtype=np.uint32)
        for column, lane in enumerate(lanes.tolist()):
            purpose = f"sample {self.number * n_lanes + lane} sweeps {chunk}"
            words[:, :, column] = _halves(self.seed, purpose, (rows, n_items))
        return words

    def swept(self, lanes: Codes, chunks: int) -> Halves:
        """Return both chains of some lanes at time 0, by item, chain and lane."""
        values = np.zeros((self.around.n_places, 2, len(lanes)), dtype=np.uint32)
        values[:, 1] = kernels.HALF_ONE
        for chunk in range(chunks - 1, -1, -1):
            words = self.words_of(chunk, lanes)
            kernels.sweep_lanes(self.around, values, words)
        return values[: self.shape[1]]

    def alone(self, lane: int) -> _Past:
        """Return the same sweeps of one lane, with as many bits as are asked for."""
        rows, n_items, n_lanes = self.shape
        sample, size = self.number * n_lanes + lane, rows * n_items

        def words(chunk: int, digit: int) -> kernels.Words:
            purpose = f"sample {sample} sweeps {chunk} digit {digit}"
            own = _words(self.seed, purpose, size)
            if digit > 0:
                return own
            first = self.words_of(chunk, np.array([lane])).astype(np.uint64).ravel()
            half = np.uint64(HALF_BITS)
            return first << half | own >> half

        return _Past(self.diagram, self.around, rows, words)


def _settled_lanes(block: _Block, samples: int, chunks: int) -> tuple[Codes, int]:
    """Start lanes earlier and earlier, until all their orderings are known.

    Lanes that are left start earlier together. Returned as well is the number of chunks
    that most needed, for the next block to start with.
    """
    rows, n_items, _ = block.shape
    orders = np.empty((samples, n_items), dtype=np.int64)
    left = np.arange(samples)
    before: Halves | None = None
    enough = 0
    while chunks * rows * n_items * len(left) <= MOST_IN_LANES:
        values = block.swept(left, chunks)
        bottom, top = (np.ascontiguousarray(values[:, chain].T) for chain in (0, 1))
        order = np.argsort(bottom, axis=1)[:, ::-1]
        lows = np.take_along_axis(bottom, order[:, :-1], axis=1)
        known = (lows > np.take_along_axis(top, order[:, 1:], axis=1)).all(axis=1)
        orders[left[known]] = order[known]
        stuck = np.zeros_like(known)
        if before is not None:
            stuck = ~known & (before == values).all(axis=(0, 1))
            for lane in left[stuck].tolist():
                orders[lane] = _settled(block.alone(lane))
        going = ~(known | stuck)
        left, before = left[going], values[:, :, going]
        if not enough and 32 * len(left) <= samples:
            enough = chunks
        if len(left) == 0:
            return orders, enough
        widest = np.median((top[going] - bottom[going]).max(axis=1))
        # Steps are small, since later blocks start with what this one needs.
        chunks = _longer(chunks, widest / kernels.HALF_ONE, 1 / n_items**2, 2.0)
    raise _unsettled(n_items, chunks * rows)


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
