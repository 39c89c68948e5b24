"""Coupling from the past on the order polytope: exactly uniform orderings.

The order polytope holds the values in [0, 1] of all items that put every item above
those below it. Sorted by value, a uniform point of it is a uniform ordering.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from evenhand.errors import ConvergenceError
from evenhand.posets.graph import spans
from evenhand.posets.orderings import depths
from evenhand.randomness import SEED_BITS, Stream, stream, uniforms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.arrays import Codes, Flags, Scores

# Sweeps are drawn so many at a time, or fewer of so many uniforms.
ROWS, CHUNK_WORDS = 32, 2**20
# How far rounding may move a value, in units of the last bit; see `Past`.
SLACK = 8
# Parts of a list that are joined together: more of them save calls, fewer save looks.
WAYS = 4
# Samples that are drawn from the past; all others follow one of them.
CHAINS = 100
# Steps between samples that follow, as a share of the sweeps that one draw takes.
APART = 16
# What a call of NumPy and a value in it take, in seconds.
CALL, VALUE = 1.2e-6, 1e-9


class Sweep:
    """Redraws the values of a piece, each uniformly between its neighbours.

    Items that are not neighbours do not see each other, so all of one colour are
    redrawn at once.

    Attributes:
        items: The items by colour, which is how values are held; after them come 1 and
            0, the limits of all.
        colours: For each colour where it begins and ends, and where to look for the
            lowest value above each of its items and for the highest below.
        sweeps: Estimate of the sweeps that a draw takes: 2 h max(h, w), for a longest
            chain of h items and a most of w neighbours. On random comparisons of 70 to
            20,000 items, in pairs and in tied levels, it took from half to twice that.
    """

    def __init__(self, below: list[list[int]]) -> None:
        """Plan for items that are numbered along an ordering, with those below each."""
        size = len(below)
        above: list[list[int]] = [[] for _ in below]
        colour: list[int] = []
        for item, lower in enumerate(below):
            taken = {colour[upper] for upper in above[item]}
            colour.append(min({*range(len(taken) + 1)} - taken))
            for other in lower:
                above[other].append(item)
        self.items = np.argsort(colour, kind="stable")
        place = np.append(np.argsort(self.items), [size, size + 1])

        def looks(lists: list[list[int]], limit: int, items: list[int]) -> list[Codes]:
            found = [[limit, *lists[item]] for item in items]
            sizes = np.array([len(nodes) for nodes in found])
            nodes = list(itertools.chain.from_iterable(found))
            return plan_folds(place[nodes], sizes)

        ends = np.cumsum(np.bincount(colour)).tolist()
        self.colours = []
        for begin, end in itertools.pairwise([0, *ends]):
            items = self.items[begin:end].tolist()
            both = looks(above, size, items), looks(below, size + 1, items)
            self.colours.append((begin, end, *both))
        longest = max(depths(below)) + 1
        widest = max(len(side) for side in (*above, *below))
        self.sweeps = 2 * longest * max(longest, widest)

    def start(self, chains: int, samples: int) -> Scores:
        """Return values of 0 for the first chain of each sample, 1 for the others."""
        values = np.ones((len(self.items) + 2, chains, samples))
        values[:-2, :1] = 0
        values[-1] = 0
        return values

    def run(self, values: Scores, words: Scores, slack: Scores) -> None:
        """Redraw all items once for each row of words.

        Args:
            values: By item, chain and sample; overwritten.
            words: Uniforms by row, item and sample.
            slack: What is added to each new value, by chain.
        """
        for row in words:
            for begin, end, above, below in self.colours:
                low = fold(np.maximum, values, below)
                share = fold(np.minimum, values, above)
                share -= low
                share *= row[begin:end, None]
                share += low
                share += slack[:, None]
                values[begin:end] = share

    def seconds(self, samples: int = 1) -> float:
        """Estimate the time that drawing takes, within a factor of three or so."""
        plans = [
            plan for _, _, *sides in self.colours for side in sides for plan in side
        ]
        calls = 2 * len(plans) + 8 * len(self.colours)
        looks = sum(plan.size for plan in plans) + 6 * len(self.items)
        drawn = min(samples, CHAINS)
        later = (samples - drawn) / APART
        values = looks * (4 * drawn + later)
        return self.sweeps * (CALL * calls * (2 + later / drawn) + VALUE * values)


def plan_folds(nodes: Codes, sizes: Codes) -> list[Codes]:
    """Plan to fold lists of nodes, one list after the other, to one value each.

    Each round joins four parts of every list; a list too short for that has its last
    node in several of them.

    Examples:
        >>> plan = plan_folds(np.array([0, 1, 2, 2, 3]), np.array([3, 2]))
        >>> fold(np.minimum, np.array([5, 1, 4, 3]), plan).tolist()
        [1, 3]
    """
    rounds: list[Codes] = []
    while not rounds or sizes.max() > 1:
        part = -(-sizes // WAYS)
        ends = np.cumsum(sizes)
        steps = np.arange(WAYS)[:, None] * np.repeat(part, part)
        places = spans(ends - sizes, part) + steps
        rounds.append(np.minimum(places, np.repeat(ends - 1, part)))
        sizes = part
    return [nodes[rounds[0]], *rounds[1:]]


def fold(join: np.ufunc, values: Scores, plan: list[Codes]) -> Scores:
    """Join the values of lists of nodes as planned.

    Examples:
        >>> plan = plan_folds(np.array([2, 0]), np.array([1, 1]))
        >>> fold(np.maximum, np.array([5, 1, 4]), plan).tolist()
        [4, 5]
    """
    for places in plan:
        values = join.reduce(np.take(values, places, axis=0), axis=0)
    return values


class Past:
    """Draws orderings of a piece, best first, exactly uniformly and independently.

    A sweep redraws the items one after another, each uniformly between its neighbours:
    x = low + u (high - low). That leaves the uniform law on the polytope as it is, and
    it is nondecreasing in all values. So a chain that has run from the infinite past
    with uniforms u(t) is, at any time, between the bottom chain started from zeros and
    the top chain started from ones some sweeps ago, if all use the same u(t); and its
    value at time 0 is exactly uniform. As soon as no two of the intervals [bottom, top]
    meet, they tell its ordering. That is a function of u(t) alone: starting earlier
    only narrows the intervals, so how the starting time is chosen does not matter, nor
    what happens to other samples, as long as every sample is taken to its end and has
    the same u(t) at the same time in each attempt.

    This holds in spite of rounding. Of the real number u(t) the first 53 bits are
    drawn, which leaves x open by less than 2**-53; subtracting, multiplying and adding
    floats round by at most 2**-53 each, and so does moving the result down by 2**-50
    for the bottom and up for the top. So the bottom stays below the true chain and the
    top above it, since (1 - u) low + u high is nondecreasing in both, even where
    rounding has put low above high. Intervals that still meet when starting earlier no
    longer narrows them, at 20,000 items once in some ten thousand draws, end in an
    error.

    Attributes:
        sweep: The piece.
        seed: Where all words come from.
        samples: How many are drawn side by side.
        rows: Sweeps in a chunk; chunks count back from time 0.
    """

    def __init__(self, sweep: Sweep, source: Stream, samples: int = 1) -> None:
        """Take the seed of so many samples out of a stream."""
        raw = source.random_raw(4).astype(">u8")
        self.sweep, self.seed = sweep, int.from_bytes(raw.tobytes())
        self.samples = samples
        words = len(sweep.items) * samples
        self.rows = min(max(CHUNK_WORDS // words, 1), ROWS)

    def words(self, name: str) -> Scores:
        """Draw uniforms by row, item and sample."""
        shape = (self.rows, len(self.sweep.items), self.samples)
        return uniforms(stream(self.seed, name), shape)

    def draw(self) -> tuple[Scores, int]:
        """Return the values at time 0 by item and sample, and the sweeps they took.

        Values are means of intervals that do not meet.

        Raises:
            ConvergenceError: If it takes far more sweeps than estimated.
        """
        found = np.empty((len(self.sweep.items), self.samples))
        left = np.arange(self.samples)
        chunks = 1
        while chunks * self.rows <= 64 * self.sweep.sweeps + ROWS:
            values = self._swept(chunks, left)
            settled = _apart(values)
            found[:, left[settled]] = values[:, :, settled].mean(axis=1)
            left, values = left[~settled], values[:, :, ~settled]
            if len(left) == 0:
                return found, chunks * self.rows
            width = float((values[:, 1] - values[:, 0]).max())
            chunks = _longer(chunks, width, 1 / (16.0 * len(found) ** 2))
        raise too_slow(len(found))

    def _swept(self, chunks: int, left: Codes) -> Scores:
        """Return both chains of some samples at time 0, from so many chunks before."""
        values = self.sweep.start(2, len(left))
        slack = np.array([-SLACK, SLACK]) * 2.0**-SEED_BITS
        for chunk in range(chunks - 1, -1, -1):
            self.sweep.run(values, self.words(f"sweeps {chunk}")[:, :, left], slack)
        return values[:-2]


def _apart(values: Scores) -> Flags:
    """Say of each sample whether no two intervals meet."""
    order = np.argsort(values[:, 0], axis=0)
    lows = np.take_along_axis(values[:, 0], order[1:], axis=0)
    tops = np.take_along_axis(values[:, 1], order[:-1], axis=0)
    return np.asarray((lows > tops).all(axis=0))


def _longer(chunks: int, width: float, wanted: float) -> int:
    """Guess how many chunks narrow the intervals so far, from how they have by now."""
    if width > 1 / 2:
        return 2 * chunks
    factor = math.log(wanted) / math.log(width)
    return math.ceil(chunks * min(max(factor, 1.25), 16.0))


def too_slow(n_items: int) -> ConvergenceError:
    """Refuse to draw in words.

    Examples:
        >>> str(too_slow(9))[:58]
        'A uniform ordering of 9 items that cannot be taken apart w'
    """
    return ConvergenceError(
        f"A uniform ordering of {n_items:,} items that cannot be taken apart would "
        "take too long to draw. Choose method 'topological', or compare more items."
    )


def settle(sweep: Sweep, source: Stream) -> Codes:
    """Draw an ordering of the items of a piece, best first, exactly uniformly.

    Raises:
        ConvergenceError: If it takes far more sweeps than estimated.

    Examples:
        >>> from evenhand.randomness import stream
        >>> chain = Sweep([[1], []])
        >>> settle(chain, stream(7, "order")).tolist()
        [0, 1]
    """
    values, _ = Past(sweep, source).draw()
    order: Codes = sweep.items[np.argsort(-values[:, 0])]
    return order


def settle_many(sweep: Sweep, source: Stream, samples: int) -> Iterator[Codes]:
    """Draw orderings that are each uniform, at most 100 at a time.

    The first 100 are independent, drawn as `settle` draws one. Each of them is then
    swept on, and again, for further samples. A sweep leaves the uniform law as it is,
    so all are uniform but for the rounding of floats; those that follow the same first
    one depend on each other a little, and their means are independent of those of
    others. How far apart they are is told by a draw of its own, as it must not depend
    on where they start.

    Yields:
        Some orderings, a row each; the same row follows the same first one.

    Raises:
        ConvergenceError: If it takes far more sweeps than estimated.

    Examples:
        >>> from evenhand.randomness import stream
        >>> letter_n = Sweep([[2, 3], [3], [], []])
        >>> [len(some) for some in settle_many(letter_n, stream(7, "orders"), 250)]
        [100, 100, 50]
    """
    _, sweeps = Past(sweep, source).draw()
    past = Past(sweep, source, min(samples, CHAINS))
    first, _ = past.draw()
    values = sweep.start(1, past.samples)
    values[:-2, 0] = first
    rows = _forward(past)
    for done in range(0, samples, past.samples):
        order = np.argsort(-values[:-2, 0], axis=0).T[: samples - done]
        yield sweep.items[order]
        for row in itertools.islice(rows, max(sweeps // APART, 1)):
            sweep.run(values, row[None], np.zeros(1))


def _forward(past: Past) -> Iterator[Scores]:
    """Yield the uniforms of one sweep after another, from time 0 on."""
    for chunk in itertools.count():
        yield from past.words(f"forward {chunk}")
