"""Pairings and coins, drawn from counts of equal scores.

Those that decide are drawn one by one from raw bits, so that a seed means the same on
every machine and under every NumPy; of more than a million scores, and in estimates,
only how many pairs there are of each two levels is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.randomness import permutation, uniforms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.randomness import Stream

    Counts = NDArray[np.int64]
    Floats = NDArray[np.float64]

# Up to so many scores pairs and coins are drawn one by one, from raw bits.
LISTED = 1_000_000
# NumPy's hypergeometric has this limit; and with fewer scores of a level than this it
# is quicker to go through the scores.
NUMPY_MOST = 1_000_000_000
CROWDED = 8
# From so many pairs on, how many there are of each two levels is as good as normal.
CROWDS = 100_000_000


def draw_pairing(
    first: Counts, second: Counts, source: Stream
) -> tuple[Counts, Counts, Counts]:
    """Pair scores at random, all of the item that has fewer.

    Args:
        first: How many scores of each level the first item has.
        second: The same of the second item.
        source: Where chance comes from.

    Returns:
        Places of the levels that are paired, of the first item and of the second, and
        how many pairs there are of each two, more than none.

    Examples:
        >>> from evenhand.randomness import stream
        >>> drawn = draw_pairing(np.array([2, 1]), np.array([4]), stream(7, "pairing"))
        >>> [part.tolist() for part in drawn]
        [[0, 1], [0, 0], [2, 1]]
    """
    cells, size = len(first) * len(second), max(first.sum(), second.sum())
    if LISTED < size >= cells:
        table = _tables(first, second, 1, np.random.Generator(source))[0]
        one, two = np.nonzero(table)
        return one, two, table[one, two]
    # To put the longer side in a random order is enough.
    one, two = (np.repeat(np.arange(len(side)), side) for side in (first, second))
    order, pairs = permutation(source, int(size)), min(len(one), len(two))
    one, two = (one[order], two) if len(one) > pairs else (one, two[order])
    codes = one[:pairs] * len(second) + two[:pairs]
    used, counts = np.unique(codes, return_counts=True)
    return *np.divmod(used, len(second)), counts


def draw_coins(tosses: Counts, chances: Floats, source: Stream) -> int:
    """Toss coins; return how many come up.

    Args:
        tosses: How often each kind is tossed.
        chances: Chance of each kind, in [0, 1].
        source: Where chance comes from.

    Examples:
        >>> from evenhand.randomness import stream
        >>> draw_coins(np.array([9, 9]), np.array([0.0, 1.0]), stream(7, "votes"))
        9
    """
    total = int(tosses.sum())
    if total > LISTED:
        return int(np.random.Generator(source).binomial(tosses, chances).sum())
    return int((uniforms(source, total) < np.repeat(chances, tosses)).sum())


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
    return _tables(first, second, rows, rng)


def _tables(
    first: Counts, second: Counts, rows: int, rng: np.random.Generator
) -> Counts:
    pairs = min(first.sum(), second.sum())
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
