"""Pairings and coins that decide, drawn from counts of equal scores.

All draws are exact and are made from raw bits by whole numbers, so that a seed means
the same on every machine, and cost next to nothing however many scores are alike. Coins
that are all fair are bits to be counted; others are compared with a random number one
binary digit after the other. A random choice of a given size starts as coins, and as
many as are missing or too many are changed at random: given its size, every choice is
equally likely at any time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand._randomness import Stream

    Counts = NDArray[np.int64]
    Floats = NDArray[np.float64]

WORD = 64
# Words held at a time; no result depends on it.
BLOCK = 1 << 18
DIGITS = 1 << 14
# NumPy's hypergeometric has this limit; and with fewer scores of a level than this it
# is quicker to go through the scores.
NUMPY_MOST = 1_000_000_000
CROWDED = 8
# From so many pairs on, how many there are of each two levels is as good as normal.
CROWDS = 100_000_000


class Pairing(NamedTuple):
    """Which levels of two tables are paired, and how often.

    Attributes:
        first: Place of the first item's level in its table.
        second: Place of the second item's level.
        counts: How many pairs, more than none.
    """

    first: Counts
    second: Counts
    counts: Counts


def draw_pairing(first: Counts, second: Counts, source: Stream) -> Pairing:
    """Pair scores at random, all of the item that has fewer.

    Args:
        first: How many scores of each level the first item has.
        second: The same of the second item.
        source: Where chance comes from.

    Examples:
        >>> from evenhand._randomness import stream
        >>> drawn = draw_pairing(np.array([2, 1]), np.array([4]), stream(7, "pairing"))
        >>> drawn.first.tolist(), drawn.counts.tolist()
        ([0, 1], [2, 1])
    """
    pairs = np.array([min(first.sum(), second.sum())])
    one, two = (
        draw_subsets(side, np.zeros(len(side), np.int64), pairs, source)
        for side in (first, second)
    )
    ends = np.concatenate([[0], np.cumsum(one)])
    # Blocks of the first item's levels, cut into halves until each is one level.
    low, high = np.array([0]), np.array([len(one)])
    block, level, counts = np.zeros(len(two), np.int64), np.arange(len(two)), two
    while (high - low > 1).any():
        middle = (low + high + 1) // 2
        left = draw_subsets(counts, block, ends[middle] - ends[low], source)
        block = np.stack([2 * block, 2 * block + 1], axis=1).ravel()
        level, counts = (
            np.repeat(level, 2),
            np.stack([left, counts - left], axis=1).ravel(),
        )
        order = np.argsort(block, kind="stable")
        order = order[counts[order] > 0]
        block, level, counts = block[order], level[order], counts[order]
        low, high = (
            np.stack([low, middle], axis=1).ravel(),
            np.stack([middle, high], axis=1).ravel(),
        )
        used, block = np.unique(block, return_inverse=True)
        low, high = low[used], high[used]
    return Pairing(low[block], level, counts)


def draw_subsets(
    pools: Counts, block: Counts, wanted: Counts, source: Stream
) -> Counts:
    """Choose so many of each block of pools, every choice being as likely.

    Args:
        pools: How many there are of each kind.
        block: The block of each kind, increasing from 0.
        wanted: How many of each block to choose.
        source: Where chance comes from.

    Returns:
        How many of each kind are chosen.

    Examples:
        >>> from evenhand._randomness import stream
        >>> pools, block = np.array([5, 3]), np.array([0, 0])
        >>> draw_subsets(pools, block, np.array([8]), stream(7, "choice")).tolist()
        [5, 3]
    """
    # Any chance will do; of as many digits as this, few are left to be changed.
    shares = np.round(wanted / _sums(pools, block) * DIGITS) / DIGITS
    taken = draw_coins(pools, shares[block], source)
    while True:
        lack = wanted - _sums(taken, block)
        if not lack.any():
            return taken
        short = lack[block] > 0
        free = np.where(short, pools - taken, taken)
        ends, changed = np.cumsum(free), np.abs(lack)
        room = _sums(free, block)
        words = np.atleast_1d(source.random_raw(int(changed.sum())))
        places = words % np.repeat(room, changed).astype(np.uint64)
        starts = np.repeat(np.cumsum(room) - room, changed)
        # Whoever is drawn twice is changed once, and the rest in the next round.
        people = np.unique(places.astype(np.int64) + starts)
        kinds = np.searchsorted(ends, people, side="right")
        moved = np.bincount(kinds, minlength=len(pools))
        taken = taken + np.where(short, moved, -moved)


def draw_coins(tosses: Counts, chances: Floats, source: Stream) -> Counts:
    """Toss coins; return how many of each kind come up.

    Args:
        tosses: How often each kind is tossed.
        chances: Chance of each kind, in [0, 1].
        source: Where chance comes from.

    Examples:
        >>> from evenhand._randomness import stream
        >>> draw_coins(np.array([9, 9]), np.array([0.0, 1.0]), stream(7, "votes"))
        array([0, 9])
    """
    won = np.where(chances == 1, tosses, 0)
    kind = np.flatnonzero((chances > 0) & (chances < 1) & (tosses > 0))
    left, rest = tosses[kind], chances[kind]
    while len(kind):
        rest = 2 * rest
        digit = rest >= 1
        ones = _fair_coins(left, source)
        # A random number whose binary digit is lower is below the chance.
        won[kind] += np.where(digit, left - ones, 0)
        left = np.where(digit, ones, left - ones)
        rest = rest - digit
        open_ = (left > 0) & (rest > 0)
        kind, left, rest = kind[open_], left[open_], rest[open_]
    return won


def _fair_coins(tosses: Counts, source: Stream) -> Counts:
    """Count bits; none of the numbers of tosses is 0."""
    words = -(-tosses // WORD)
    ends = np.cumsum(words)
    starts, total = ends - words, int(ends[-1])
    # Bits of a last word that are no tosses.
    spare = (words * WORD - tosses).astype(np.uint64)
    ones = np.zeros_like(tosses)
    for start in range(0, total, BLOCK):
        stop = min(start + BLOCK, total)
        bits = np.atleast_1d(source.random_raw(stop - start))
        near, far = np.searchsorted(ends, [start, stop - 1], side="right")
        here = slice(near, far + 1)
        whole = ends[here] <= stop
        bits[ends[here][whole] - 1 - start] >>= spare[here][whole]
        seen = np.concatenate([[0], np.cumsum(np.bitwise_count(bits), dtype=np.int64)])
        before = np.maximum(starts[here] - start, 0)
        ones[here] += seen[np.minimum(ends[here], stop) - start] - seen[before]
    return ones


def _sums(counts: Counts, block: Counts) -> Counts:
    return np.add.reduceat(counts, np.searchsorted(block, np.arange(block[-1] + 1)))


def sample_tables(
    first: Counts, second: Counts, rows: int, rng: np.random.Generator
) -> Counts | Floats:
    """Sample pairings for an estimate, as tables of levels against levels.

    Args:
        first: How many scores of each level the first item has.
        second: The same of the second item.
        rows: How many pairings.
        rng: Where they come from; what decides is drawn by `draw_pairing`.

    Returns:
        How many pairs there are of each two levels, shape (rows, levels, levels). For
        CROWDS of scores they are normal, with the same means and covariances.
    """
    pairs = min(first.sum(), second.sum())
    if pairs >= CROWDS:
        return _normal_tables(first, second, rows, rng)
    one, two = (sample_subsets(side, pairs, rows, rng) for side in (first, second))
    tables = np.empty((rows, len(first), len(second)), np.int64)
    for level in range(len(first)):
        if rows >= len(second):
            tables[:, level] = _thinned(two, one[:, level], rng)
        else:
            for row, (pool, wanted) in enumerate(zip(two, one[:, level], strict=True)):
                tables[row, level] = sample_subsets(pool, int(wanted), 1, rng)[0]
        two = two - tables[:, level]
    return tables


def _normal_tables(
    first: Counts, second: Counts, rows: int, rng: np.random.Generator
) -> Floats:
    """Sample tables whose counts are so large that they are normal.

    Scores of the longer side that are left over are paired with blanks. Of a random
    pairing of m scores with shares p and q of each level, the counts have means m p q
    and covariances m**2 / (m - 1) times those of one draw of p times those of one of q.
    """
    most = max(first.sum(), second.sum())
    one, two = (np.append(side, most - side.sum()) / most for side in (first, second))
    noise = rng.standard_normal((rows, len(one), len(two)))
    noise -= np.sqrt(one)[:, None] * (np.sqrt(one) @ noise)[:, None, :]
    noise -= (noise @ np.sqrt(two))[:, :, None] * np.sqrt(two)
    means = most * np.outer(one, two)
    noise *= np.sqrt(means)
    noise += means
    return np.asarray(noise[:, :-1, :-1])


def sample_subsets(
    pool: Counts, wanted: int, rows: int, rng: np.random.Generator
) -> Counts:
    """Sample choices of so many out of a pool for an estimate, shape (rows, kinds)."""
    if wanted == pool.sum():
        return np.tile(pool, (rows, 1))
    if pool.sum() >= NUMPY_MOST:
        wide = np.broadcast_to(pool, (rows, len(pool)))
        return _thinned(wide, np.full(rows, wanted), rng)
    crowded = pool.sum() > CROWDED * len(pool)
    return rng.multivariate_hypergeometric(
        pool, wanted, size=rows, method="marginals" if crowded else "count"
    )


def _thinned(pools: Counts, wanted: Counts, rng: np.random.Generator) -> Counts:
    """Choose so many of each row, by coins that are then put right by coins."""
    taken, lack = np.zeros_like(pools), wanted
    while True:
        rows = np.flatnonzero(lack)
        if not len(rows):
            return taken
        short = lack[rows, None] > 0
        free = np.where(short, pools[rows] - taken[rows], taken[rows])
        shares = np.abs(lack[rows]) / free.sum(axis=1)
        moved = rng.binomial(free, shares[:, None])
        taken[rows] += np.where(short, moved, -moved)
        lack = wanted - taken.sum(axis=1)
