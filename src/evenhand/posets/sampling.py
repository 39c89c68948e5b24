"""Uniformly random orderings that respect the comparisons, without approximation.

A poset is taken apart first. What is left is drawn by counting while its order ideals
are few, and otherwise by coupling from the past on the order polytope. That holds the
values in [0, 1] of all items that put every item above those below it. Sorted by value,
a uniform point of it is a uniform ordering.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.errors import ConvergenceError, require_whole
from evenhand.posets.contradictions import consistent
from evenhand.posets.graph import spans
from evenhand.posets.orderings import Ideals, order_ideals, places_within, take_apart
from evenhand.randomness import (
    SEED_BITS,
    RNGLike,
    Stream,
    as_stream,
    below,
    permutation,
    stream,
    uniforms,
)

if TYPE_CHECKING:
    from evenhand.arrays import Codes, Flags, Scores
    from evenhand.posets.graph import Comparisons
    from evenhand.posets.orderings import Piece, Round
    from evenhand.ratings import Ratings

# Listing this many takes a quarter of a second, for nothing if there are more.
DEFAULT_IDEALS = 50_000
# A step from ideal to ideal takes some 16 bytes, and there are some ten to an ideal.
COUNTED_IDEALS = 1_000_000
# How long a draw may take, as estimated.
MOST_SECONDS = 60.0
MOST_ORDERINGS = 10**7
# Sweeps are drawn so many at a time, or fewer of so many uniforms.
ROWS, CHUNK_WORDS = 32, 2**20
# How far rounding may move a value, in units of the last bit; see `Sweep.draw`.
SLACK = 8
# Parts of a list that are joined together: more of them save calls, fewer save looks.
WAYS = 4
# What a call of NumPy and a value in it take, in seconds.
CALL, VALUE = 1.2e-6, 1e-9


class Sweep:
    """Redraws the values of a piece, each uniformly between its neighbours.

    Items that are not neighbours do not see each other, so all of one colour are
    redrawn at once.

    Attributes:
        piece: The items of the piece, by their places in an ordering of all.
        items: The same, numbered along an ordering and by colour, which is how values
            are held; after them come 1 and 0, the limits of all.
        colours: For each colour where it begins and ends, and where to look for the
            lowest value above each of its items and for the highest below.
        sweeps: Estimate of the sweeps that a draw takes: 2 h max(h, w), for a longest
            chain of h items and a most of w neighbours. On random comparisons of 70 to
            20,000 items, in pairs and in tied levels, it took from half to twice that.
    """

    def __init__(self, piece: Piece) -> None:
        """Plan for the items of a piece."""
        self.piece, below = piece.items, piece.below or []
        size, colour = len(below), list[int]()
        above: list[list[int]] = [[] for _ in below]
        depth = [1] * size
        for item, lower in enumerate(below):
            taken = {colour[upper] for upper in above[item]}
            colour.append(min({*range(len(taken) + 1)} - taken))
            for lower_item in lower:
                above[lower_item].append(item)
                depth[lower_item] = max(depth[lower_item], depth[item] + 1)
        self.items = np.argsort(colour, kind="stable")
        place = np.append(np.argsort(self.items), [size, size + 1])

        def looks(lists: list[list[int]], limit: int, items: Codes) -> list[Codes]:
            groups = [[limit, *lists[item]] for item in items]
            nodes = list(itertools.chain.from_iterable(groups))
            return plan_folds(place[nodes], np.array([*map(len, groups)]))

        ends = np.cumsum(np.bincount(colour)).tolist()
        self.colours = []
        for begin, end in itertools.pairwise([0, *ends]):
            items = self.items[begin:end]
            limits = looks(above, size, items), looks(below, size + 1, items)
            self.colours.append((begin, end, *limits))
        longest = max(depth, default=math.inf)
        widest = max(map(len, above + below), default=0)
        self.sweeps = 2 * longest * max(longest, widest)

    def start(self, samples: int) -> Scores:
        """Return values by item, chain and sample: 0 at the bottom and 1 at the top."""
        values = np.ones((len(self.items) + 2, 2, samples))
        values[:-2, 0] = values[-1] = 0
        return values

    def run(self, values: Scores, words: Scores) -> None:
        """Redraw all items once for each row of words.

        Args:
            values: By item, chain and sample; overwritten.
            words: Uniforms by row, item and sample.
        """
        slack = np.array([[-SLACK], [SLACK]]) * 2.0**-SEED_BITS
        for row in words:
            for begin, end, upper, lower in self.colours:
                high = fold(np.minimum, values, upper)
                low = fold(np.maximum, values, lower)
                values[begin:end] = (high - low) * row[begin:end, None] + low + slack

    def draw(self, source: Stream, samples: int = 1) -> Codes:
        """Draw orderings of the piece, best first, exactly uniformly and independently.

        A sweep redraws the items one after another, each uniformly between its
        neighbours: x = low + u (high - low). That leaves the uniform law on the
        polytope as it is, and it is nondecreasing in all values. So a chain that has
        run from the infinite past with uniforms u(t) is, at any time, between the
        bottom chain started from zeros and the top chain started from ones some sweeps
        ago, if all use the same u(t); and its value at time 0 is exactly uniform. As
        soon as no two of the intervals [bottom, top] meet, they tell its ordering. That
        is a function of u(t) alone: starting earlier only narrows the intervals, so how
        the starting time is chosen does not matter, nor what happens to other samples,
        as long as every sample is taken to its end and has the same u(t) at the same
        time in each attempt. Uniforms are in chunks that count back from time 0.

        This holds in spite of rounding. Of the real number u(t) the first 53 bits are
        drawn, which leaves x open by less than 2**-53; subtracting, multiplying and
        adding floats round by at most 2**-53 each, and so does moving the result down
        by 2**-50 for the bottom and up for the top. So the bottom stays below the true
        chain and the top above it, since (1 - u) low + u high is nondecreasing in both,
        even where rounding has put low above high. Intervals that still meet when
        starting earlier no longer narrows them, at 20,000 items once in some ten
        thousand draws, end in an error.

        Returns:
            A row for each ordering.

        Raises:
            ConvergenceError: If it takes far more sweeps than estimated.

        Examples:
            >>> from evenhand.posets.orderings import Piece
            >>> from evenhand.randomness import stream
            >>> Sweep(Piece(np.arange(2), [[1], []])).draw(stream(7, "order")).tolist()
            [[0, 1]]
        """
        seed = int.from_bytes(source.random_raw(4).astype(">u8").tobytes())
        size = len(self.items)
        rows = min(max(CHUNK_WORDS // (size * samples), 1), ROWS)
        settled, remaining, chunks = np.empty((samples, size)), np.arange(samples), 1
        while chunks * rows <= 64 * self.sweeps + ROWS:
            values = self.start(len(remaining))
            for chunk in range(chunks - 1, -1, -1):
                chosen = stream(seed, f"sweeps {chunk}")
                self.run(
                    values, uniforms(chosen, (rows, size, samples))[..., remaining]
                )
            apart = _apart(values[:-2])
            settled[remaining[apart]] = values[:-2, 0, apart].T
            remaining = remaining[~apart]
            if len(remaining) == 0:
                return self.items[np.argsort(-settled, axis=1)]
            chunks *= 2
        raise _too_slow(self.piece)

    def seconds(self, samples: int = 1) -> float:
        """Estimate the time that drawing takes, within a factor of three or so."""
        plans = (plan for *_, up, low in self.colours for plan in (*up, *low))
        looks = sum(plan.size for plan in plans) + 6 * len(self.piece)
        calls = CALL * 24 * len(self.colours)
        return self.sweeps * (calls + VALUE * 4 * samples * looks)

    def require_quick(self, samples: int = 1) -> None:
        """Refuse in words to draw for minutes.

        Raises:
            ConvergenceError: If so many draws would take that long.
        """
        if not self.seconds(samples) <= MOST_SECONDS:
            raise _too_slow(self.piece)


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


def _apart(values: Scores) -> Flags:
    """Say of each sample whether no two intervals meet."""
    order = np.argsort(values[:, 0], axis=0)
    lows = np.take_along_axis(values[:, 0], order[1:], axis=0)
    tops = np.take_along_axis(values[:, 1], order[:-1], axis=0)
    return np.asarray((lows > tops).all(axis=0))


def _too_slow(piece: Codes) -> ConvergenceError:
    return ConvergenceError(
        f"A uniform ordering of {len(piece):,} items that cannot be taken apart would "
        "take too long to draw. Choose method 'topological', or compare more items."
    )


class Decomposition(NamedTuple):
    """All that drawing needs and that does not change from draw to draw.

    Attributes:
        order: Item code of each place of an ordering.
        rounds: How the poset was taken apart, outermost first; see `take_apart`.
        parts: The pieces that cannot be taken apart further.
    """

    order: Codes
    rounds: list[Round]
    parts: list[Ideals | Sweep]


def uniform_order(
    c: Comparisons, source: Stream | RNGLike = None, *, ideals: int = DEFAULT_IDEALS
) -> Codes:
    """Draw an ordering, best first, exactly uniformly among all that respect `c`.

    Picking a random free item at every step is not uniform: it would prefer orderings
    that run through narrow places.

    Args:
        c: The comparisons.
        source: Seed, generator, a stream of random bits, or None.
        ideals: Count along order ideals while there are at most this many in a piece.

    Raises:
        RatingsError: If the comparisons contradict each other.
        ConvergenceError: At once, if coupling from the past would take minutes.

    References:
        Propp and Wilson (1996), coupling from the past; Stanley (1986), the order
        polytope.

    Examples:
        >>> from evenhand.posets import from_edges, is_ordering
        >>> c = from_edges(4, [0, 2], [1, 3])
        >>> is_ordering(c, uniform_order(c, 7))
        True
    """
    return draw_order(plan_orders(c, ideals=ideals), source)


def sample(data: Ratings | Comparisons, n: int, *, rng: RNGLike = None) -> Codes:
    """Draw independent orderings, exactly uniformly among all that are possible.

    Args:
        data: Ratings, or comparisons taken from them.
        n: How many to draw.
        rng: Seed, generator or None.

    Returns:
        Item codes, best first; a row for each ordering.

    Raises:
        RatingsError: If the comparisons contradict each other.
        ConvergenceError: At once, if a draw would take minutes.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> sample(from_edges(3, [0, 1], [1, 2]), 2, rng=7).tolist()
        [[0, 1, 2], [0, 1, 2]]
    """
    require_whole("n", n, 1, MOST_ORDERINGS)
    plan = plan_orders(consistent(data, method="sample"))
    source = as_stream(rng, "orders")
    return np.stack([draw_order(plan, source) for _ in range(n)])


def plan_orders(c: Comparisons, *, ideals: int = DEFAULT_IDEALS) -> Decomposition:
    """Prepare for any number of draws with `draw_order`.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> len(plan_orders(from_edges(4, [0, 0, 1], [2, 3, 3])).parts)
        1
    """
    order, rounds, pieces = take_apart(c)
    parts = [order_ideals(piece, limit=ideals) or Sweep(piece) for piece in pieces]
    return Decomposition(order, rounds, parts)


def plan_counts(c: Comparisons) -> Decomposition:
    """Prepare to count all orderings, never to sample them.

    Raises:
        RatingsError: If the comparisons contradict each other.
        ConvergenceError: If a piece that cannot be taken apart has more than a million
            order ideals.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> plan_counts(from_edges(4, [0, 0, 1], [2, 3, 3])).parts[0].completions[0]
        5
    """
    plan = plan_orders(c, ideals=COUNTED_IDEALS)
    for part in plan.parts:
        if isinstance(part, Sweep):
            raise ConvergenceError(
                f"The orderings of {len(part.piece):,} items that cannot be taken "
                f"apart were not counted within {COUNTED_IDEALS:,} order ideals. Draw "
                "from them with uniform_order, or take the proxy of mean ranks."
            )
    return plan


def count_orderings(data: Ratings | Comparisons) -> int:
    """Count the orderings that respect all comparisons, exactly.

    Given the comparisons, and no more, each of them is as likely as any other if all
    rankings were beforehand; so no ordinal method finds the true ranking with a
    probability of more than one over this number.

    Args:
        data: Ratings, or comparisons taken from them.

    Raises:
        RatingsError: If the comparisons contradict each other.
        ConvergenceError: If a piece that cannot be taken apart has more than a million
            order ideals.

    References:
        Wang and Shah (2019), Lemma 1.

    Examples:
        >>> from evenhand import Ratings
        >>> count_orderings(Ratings.from_comparisons([1, 3], [2, 4]))
        6
    """
    plan = plan_counts(consistent(data, method="count_orderings"))
    number = 1
    for split in plan.rounds:
        number = number * _permutations(split.parent) // _permutations(split.group)
    for part in plan.parts:
        number *= part.completions[0]  # type: ignore[union-attr]  # all are counted
    return number


def _permutations(labels: Codes) -> int:
    """Count the orders of items with equal labels among themselves."""
    return math.prod(map(math.factorial, np.bincount(labels).tolist()))


def draw_order(plan: Decomposition, source: Stream | RNGLike = None) -> Codes:
    """Draw one ordering, best first, exactly uniformly.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> draw_order(plan_orders(from_edges(2, [1], [0])), 7).tolist()
        [1, 0]
    """
    source = as_stream(source, "order")
    rank = np.zeros(len(plan.order), dtype=np.int64)
    for part in plan.parts:
        if isinstance(part, Ideals):
            rank[part.items[_walk_ideals(part, source)]] = np.arange(len(part.items))
        else:
            part.require_quick()
            rank[part.piece[part.draw(source)[0]]] = np.arange(len(part.piece))
    for split in reversed(plan.rounds):
        rank = _ranks(split.group, split.segment, rank)
        if (split.group != split.group[0]).any():
            rank = _ranks(split.parent, _interleave_keys(split.group, rank, source))
    return plan.order[np.argsort(rank)]


def _ranks(within: Codes, *keys: Codes) -> Codes:
    """Rank items by the keys, the first most significant, within each class."""
    order = np.lexsort(keys[::-1])
    rank = np.empty_like(order)
    rank[order] = places_within(within[order])
    return rank


def _interleave_keys(group: Codes, rank: Codes, source: Stream) -> Codes:
    """Give random keys to items, increasing along each group's ranking.

    Every way to interleave the groups is equally likely, because the set of keys that a
    group gets does not depend on how its items are ranked.
    """
    keys = permutation(source, len(group))
    dealt = np.empty_like(keys)
    dealt[np.lexsort((rank, group))] = keys[np.lexsort((keys, group))]
    return dealt


def _walk_ideals(ideals: Ideals, source: Stream) -> Codes:
    """Number all orderings along the steps and walk to a random one."""
    ways = ideals.completions
    number = below(source, ways[0])
    ideal = 0
    order: list[int] = []
    while ideals.free[ideal]:
        steps = iter(zip(ideals.free[ideal], ideals.to[ideal], strict=True))
        item, ideal = next(steps)
        while number >= ways[ideal]:
            number -= ways[ideal]
            item, ideal = next(steps)
        order.append(item)
    return np.array(order, dtype=np.int64)
