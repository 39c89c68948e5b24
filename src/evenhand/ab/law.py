"""Laws of the vote: given a pairing, and averaged over all pairings.

Given a pairing the number of votes is Poisson-binomial. Over all pairings its law is a
permanent, which is summed here without cancellation by going through the scores of one
side and keeping how many of each distinct score of the other side are used: 2**k states
for k distinct scores, far fewer for scores on a few levels. Beyond that, pairings are
sampled and the standard error is returned; many votes on a few levels have their normal
limit over all pairings. Only counts of equal scores matter.

Pairings and coins that decide are drawn one by one from raw bits, so that a seed means
the same on every machine and under every NumPy; of more than a million scores, and in
estimates, only how many pairs there are of each two levels is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.ab.weights import NEAR, GapWeight, as_weight, odd
from evenhand.arrays import (
    Floats,
    Numbers,
    as_lists,
    as_numbers,
    constant,
    difference,
    is_exact,
    magnitude,
)
from evenhand.lazy import lazy
from evenhand.randomness import RNGLike, permutation, seed_from, stream, uniforms

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import signal, special

    from evenhand.randomness import Stream

    Counts = NDArray[np.int64]
else:
    signal, special = lazy("scipy.signal"), lazy("scipy.special")

# About half a second of work and 200 MB: 60 scores against 60 on five levels.
WORK, CELLS = 120_000_000, 25_000_000
# Sampled pairings: so many, fewer if there are many scores or levels to draw.
PAIRINGS, FEWEST_PAIRINGS, SAMPLED_CELLS = 4000, 8, 2_000_000
# Up to so many votes their law is multiplied out vote by vote. Of more in a sampled
# pairing the coins are tossed, so often; from so large a variance on they have their
# normal limit, corrected for skewness, which puts a margin off by no more than this.
FEW_VOTES, TOSSES, OPEN, OFF = 160, 8, 150.0, 3e-4
# So few pairings are not averaged: they tell the limit over all.
POOLED = 400
# A vote is worth no point or one; a pair's sign no point, one or two.
COINS = 2
# A mean lead d of k pairs errs with probability below 2 exp(-k d**2 / 18).
CLEAR = 18 * 40.0

# Up to so many scores pairs and coins are drawn one by one, from raw bits.
LISTED = 1_000_000
# NumPy's hypergeometric has this limit; and with fewer scores of a level than this it
# is quicker to go through the scores.
NUMPY_MOST, CROWDED = 1_000_000_000, 8


class Averaged(NamedTuple):
    """A probability averaged over pairings.

    Attributes:
        probability: That the first item is output; a Fraction for Fractions.
        se: Standard error, or how far off the limit may be; 0 if the average is exact.
        pairings: Number of pairings sampled, 0 if none were.
    """

    probability: float
    se: float
    pairings: int


class ScoreCounts(NamedTuple):
    """The scores of one item.

    Attributes:
        levels: Distinct scores, increasing.
        counts: How many there are of each, more than none.
    """

    levels: Floats
    counts: Counts

    @property
    def size(self) -> int:
        """Number of scores."""
        return int(self.counts.sum())


# From scores of the held item and of the other to the chance of 0, 1, ... points.
Terms = Callable[[Floats, Floats], Floats]


def count_scores(scores: Floats) -> ScoreCounts:
    """Count equal scores.

    Examples:
        >>> count_scores(np.array([3.0, 1.0, 3.0]))
        ScoreCounts(levels=array([1., 3.]), counts=array([1, 2]))
    """
    levels, counts = np.unique(scores, return_counts=True)
    return ScoreCounts(levels, counts.astype(np.int64))


def majority_probability(probabilities: Numbers) -> Floats:
    """Probability that the first item has the majority, ties by a fair coin.

    Args:
        probabilities: Chance in [0, 1] of each vote for the first item, shape (..., k).

    Returns:
        Probabilities, shape (...); 1/2 if there is no vote.

    References:
        Wang and Shah (2019), Section 3.2.

    Examples:
        >>> majority_probability([[0.75, 0.75, 0.75], [1.0, 0.5, 0.0]])
        array([0.84375, 0.5    ])
    """
    chances = np.atleast_1d(as_numbers(probabilities, "probability"))
    shape, votes = chances.shape[:-1], chances.shape[-1]
    rows = chances.reshape(math.prod(shape), votes)
    if is_exact(rows) or votes <= FEW_VOTES:
        laws = _products(rows)
    else:
        laws = np.array([_law_of_many(row) for row in rows])
    return from_margin(_margin(laws)).reshape(shape)[()]


def votes_over_pairings(
    first: Numbers | ScoreCounts,
    second: Numbers | ScoreCounts,
    *,
    weight: GapWeight | Callable[[float], float] | str | None = None,
    rng: RNGLike = None,
) -> Averaged:
    """Probability that the paper's vote outputs the first item, over all pairings.

    Scores of the smaller side are paired with a uniformly random choice of the larger.

    Args:
        first: Scores of the first item, or both items' as tables.
        second: Scores of the second item.
        weight: Increasing map from a gap to [0, 1), rational(1) if None.
        rng: Seed for sampled pairings; not used where the average is exact.

    Returns:
        The probability, its standard error and the number of sampled pairings. It is
        exact for Fractions, and a normal limit for many pairs of no more kinds. Where
        one item leads so clearly that the other wins with probability below 1e-16,
        whatever the pairing, it is 0 or 1.

    Raises:
        RatingsError: If a score is not finite or a side is not one list.
        OptionError: If the weight is not one, or a gap is beyond its range.

    References:
        Wang and Shah (2019), Theorem 4.

    Examples:
        >>> average = votes_over_pairings([3.0, 1.0], [2.0, 0.0])
        >>> round(average.probability, 10), average.se
        (0.65625, 0.0)
    """
    chosen = as_weight(weight)

    def terms(first_scores: Floats, second_scores: Floats) -> Floats:
        chance = np.asarray(odd(chosen, difference(first_scores, second_scores)))
        return np.stack([1 - chance, chance], axis=-1)

    return _average(*count_sides(first, second), terms, seed_from(rng))


def sign_over_pairings(
    first: Numbers | ScoreCounts, second: Numbers | ScoreCounts, *, rng: RNGLike = None
) -> Averaged:
    """Probability that more pairwise wins go to the first item, over all pairings.

    Args:
        first: Scores of the first item, or both items' as tables.
        second: Scores of the second item.
        rng: Seed for sampled pairings; not used where the average is exact.

    Returns:
        The probability, its standard error and the number of sampled pairings.

    Raises:
        RatingsError: If a score is not finite or a side is not one list.

    Examples:
        >>> sign_over_pairings([3, 1], [2, 0]).probability
        0.75
    """

    def terms(first_scores: Floats, second_scores: Floats) -> Floats:
        zero = constant(Fraction(0), first_scores)
        wins = [
            first_scores < second_scores,
            first_scores == second_scores,
            first_scores > second_scores,
        ]
        return np.stack([zero + win * (zero + 1) for win in wins], axis=-1)

    return _average(*count_sides(first, second), terms, seed_from(rng))


def count_sides(
    first: Numbers | ScoreCounts, second: Numbers | ScoreCounts
) -> tuple[ScoreCounts, ScoreCounts]:
    """Count equal scores of both items, if that is not done yet."""
    if isinstance(first, ScoreCounts) and isinstance(second, ScoreCounts):
        return first, second
    first_list, second_list = as_lists(first, second)
    return count_scores(first_list), count_scores(second_list)


def _average(
    first: ScoreCounts, second: ScoreCounts, terms: Terms, seed: int
) -> Averaged:
    same = all(map(np.array_equal, first, second))
    if same or not first.size or not second.size:
        half = constant(Fraction(1, 2), first.levels)
        return Averaged(half.item(), 0.0, 0)
    # The widest gaps, so that one beyond the range of a weight is always seen.
    trial = terms(first.levels[[0, -1]], second.levels[[-1, 0]])
    if is_exact(first.levels) != is_exact(second.levels) or not is_exact(trial):
        first, second = (
            ScoreCounts(side[0].astype(float), side[1]) for side in (first, second)
        )
    # Which side the states count depends on the scores alone, never on their names.
    ways = (first, second), (second, first)
    state_table, taken = min(ways, key=lambda pair: _cost(pair[0], pair[1], trial))
    turned = state_table is second
    work, cells, *_ = _cost(state_table, taken, trial)

    def points(state_scores: Floats, taken_scores: Floats) -> Floats:
        # The points of the states' side; those of the first item the other way round.
        return (
            terms(taken_scores, state_scores)[..., ::-1]
            if turned
            else terms(state_scores, taken_scores)
        )

    if is_exact(state_table.levels) or (work <= WORK and cells <= CELLS):
        margin, se, pairings = _margin(_pairing_law(state_table, taken, points)), 0.0, 0
    else:
        lead, se, pairings = _sample_margin(state_table, taken, points, seed)
        margin = np.asarray(lead)
    margin = np.asarray(-margin if turned else margin)
    return Averaged(from_margin(margin).item(), se / 2, pairings)


def _cost(
    state_table: ScoreCounts, taken: ScoreCounts, trial: Floats
) -> tuple[Any, ...]:
    """Return the work and the numbers held at a time of `_pairing_law`.

    And, for where these are the same, the scores of `state_table`.
    """
    points, scores = trial.shape[-1] - 1, [side.tolist() for side in state_table]
    states, blank = 1, max(0, taken.size - state_table.size)
    for size in (*state_table.counts.tolist(), blank):
        states *= size + 1
        if states > CELLS:
            return WORK + 1, CELLS + 1, *scores
    cells = states * (points * min(state_table.size, taken.size) + 1)
    return cells * (len(state_table.levels) + (blank > 0)), cells, *scores


def _pairing_law(state_table: ScoreCounts, taken: ScoreCounts, terms: Terms) -> Floats:
    """Return the chance of each sum of points over a uniformly random pairing.

    The taken side is gone through one score after the other. A state says how many of
    each level of `state_table` are used, and holds the law of the points so far, in a
    sum of positive terms only, so that nothing cancels. Scores of a longer taken side
    that are left over are paired with blanks, which are worth no points.
    """
    blank = max(0, taken.size - state_table.size)
    sizes = np.append(state_table.counts, [blank] if blank else []).astype(np.int64)
    table = terms(state_table.levels[None, :], taken.levels[:, None])
    zero, unit = (constant(Fraction(x), table) for x in (0, 1))
    if blank:
        none = np.full((len(table), 1, table.shape[-1]), zero.item(), dtype=table.dtype)
        none[..., 0] = unit
        table = np.concatenate([table, none], axis=1)
    degrees, total = table.shape[-1], int(sizes.sum())
    strides = np.concatenate([[1], np.cumprod(sizes + 1)[:-1]])
    codes = np.arange(int((sizes + 1).prod()))
    used = codes[:, None] // strides % (sizes + 1)
    layer = used.sum(axis=1)
    order = np.argsort(layer, kind="stable")
    starts = np.searchsorted(layer[order], np.arange(total + 2))
    # Place of a state among those with as many scores used.
    place = np.empty(len(codes), dtype=np.int64)
    place[order] = np.arange(len(codes)) - starts[layer[order]]
    law = np.full((1, 1), unit.item(), dtype=table.dtype)
    for step, score in enumerate(np.repeat(np.arange(len(table)), taken.counts)):
        states = order[starts[step + 1] : starts[step + 2]]
        most = (degrees - 1) * min(step + 1, state_table.size, taken.size) + 1
        after = np.full((len(states), most), zero.item(), dtype=table.dtype)
        for level, stride in enumerate(strides.tolist()):
            into = np.flatnonzero(used[states, level])
            before = law[place[states[into] - stride]]
            ways = sizes[level] - used[states[into], level] + 1
            chance = (unit * ways / (total - step))[:, None]
            for point in range(degrees):
                share = table[score, level, point]
                if share != 0:
                    moved = before[:, : most - point] * (chance * share)
                    after[into, point : point + moved.shape[1]] += moved
        law = after
    return np.asarray(law.sum(axis=0))


def _sample_margin(
    state_table: ScoreCounts, taken: ScoreCounts, terms: Terms, seed: int
) -> tuple[float, float, int]:
    """Return a margin averaged over sampled pairings, its error and their number."""
    pairs = min(state_table.size, taken.size)
    cells = len(state_table.levels) * len(taken.levels)
    if cells <= max(pairs, SAMPLED_CELLS // FEWEST_PAIRINGS):
        table = terms(state_table.levels[:, None], taken.levels[None, :])
        # Changing a pairing by one score moves the sum of the leads of all pairs by at
        # most 4, so that by Azuma's inequality the sum is off its mean by k s with
        # probability at most exp(-k s**2 / 8); coins by at most exp(-k s**2 / 2). With
        # shares of 2/3 and 1/3 of the lead, the other side wins with probability at
        # most 2 exp(-k lead**2 / 18).
        parts = [side.counts / side.size for side in (state_table, taken)]
        lead = float(parts[0] @ (table[..., -1] - table[..., 0]) @ parts[1])
        if pairs * lead * lead > CLEAR:
            return math.copysign(1.0, lead), 0.0, 0
    rng = np.random.Generator(stream(seed, "pairings"))
    many = FEW_VOTES < pairs >= cells
    if many and table.shape[-1] == COINS:
        limit = _limit_over(table[..., 1], state_table.counts, taken.counts)
        if limit is not None:
            return limit, OFF, 0
    many &= pairs >= CROWDED * cells
    total = _n_pairings(cells if many else pairs)

    def pairing_blocks() -> Iterator[tuple[Floats, Counts]]:
        if many:
            counts = sample_tables(state_table.counts, taken.counts, total, rng)
            yield table.reshape(1, cells, -1), counts.reshape(total, -1)
        else:
            for points in _sample_orders(state_table, taken, terms, rng):
                yield points, np.ones((1, pairs), np.int64)

    if pairs > FEW_VOTES and total <= POOLED:
        margin, se, variance = _pool_margin(
            [_cumulants(*part) for part in pairing_blocks()]
        )
        if variance >= OPEN:
            return margin, se + OFF, total
    values = np.concatenate([_margins(*part, rng) for part in pairing_blocks()])
    # A sample in which all pairings agree is still one: two more for either side.
    error = float(np.append(values, [1, 1, -1, -1]).std()) / math.sqrt(total)
    return float(values.mean()), error + OFF * (pairs > FEW_VOTES), total


def _sample_orders(
    state_table: ScoreCounts, taken: ScoreCounts, terms: Terms, rng: np.random.Generator
) -> Iterator[Floats]:
    """Give chances of points by pairing and pair, in blocks."""
    state_scores, taken_scores = (
        np.repeat(side.levels, side.counts) for side in (state_table, taken)
    )
    pairs = min(len(state_scores), len(taken_scores))
    # To put the longer side in a random order is enough.
    longer = state_scores if len(state_scores) > pairs else taken_scores
    rows, block = _n_pairings(pairs), max(1, SAMPLED_CELLS // len(longer))
    for start in range(0, rows, block):
        tiled = np.tile(longer, (min(block, rows - start), 1))
        drawn = rng.permuted(tiled, axis=1)[:, :pairs]
        yield (
            terms(drawn, taken_scores)
            if len(state_scores) > pairs
            else terms(state_scores, drawn)
        )


def _n_pairings(cells: int) -> int:
    return min(PAIRINGS, max(FEWEST_PAIRINGS, SAMPLED_CELLS // cells))


def _margins(points: Floats, counts: Counts, rng: np.random.Generator) -> Floats:
    """Return P(more votes for than against) - P(fewer) of sampled pairings.

    Args:
        points: Chances of 0, 1, ... points, by pairing, kind of pair and points.
        counts: How many pairs there are of each kind, by pairing and kind.
        rng: Tosses votes that are too many to multiply out, and nearly sure.
    """
    chances, (votes, mean, *others) = points[..., 1], _cumulants(points, counts)
    if points.shape[-1] != COINS:
        return np.sign(2 * mean - votes)
    if votes <= FEW_VOTES:
        return _margin(_products(chances))
    margins, sure = _limit(votes, mean, *others), others[0] < OPEN
    if sure.any():
        parts = [part[sure] for part in np.broadcast_arrays(counts, chances)]
        tosses = [rng.binomial(*parts).sum(axis=-1) for _ in range(TOSSES)]
        margins[sure] = np.sign(2 * np.array(tosses) - votes).mean(axis=0)
    return margins


def _cumulants(points: Floats, counts: Counts) -> tuple[int, Floats, Floats, Floats]:
    """Return the most points there can be, and the cumulants of points by pairing."""
    worth, numbers = np.arange(float(points.shape[-1])), counts.astype(np.float64)
    mean, square, cube = np.moveaxis(points @ worth[:, None] ** [1, 2, 3], -1, 0)
    scatter = square - mean**2
    parts = mean, scatter, cube - 3 * mean * scatter - mean**3
    cumulants = (np.einsum("...k,...k->...", part, numbers) for part in parts)
    return int(counts[0].sum() * worth[-1]), *cumulants


def _pool_margin(
    parts: Sequence[tuple[int, Floats, Floats, Floats]],
) -> tuple[float, ...]:
    """Return the margin over all pairings from few, its error, and the variance.

    Where coins are all but sure, few pairings may all agree though some would not. But
    over pairings the mean of the votes is all but normal (Hoeffding, 1951), and a few
    tell where it lies and how far it spreads, with the jackknife's error. The margin is
    not linear in that: its error is the largest move, by one or three of these errors,
    in a step. That the mean is a little skew is left out: with so few pairings, this is
    within half of the error even at the least variance.
    """
    votes, joined = parts[0][0], np.concatenate([part[1:] for part in parts], axis=1)
    # All pairings, and all but one of them.
    kept = np.vstack([np.ones(joined.shape[1]), 1 - np.eye(joined.shape[1])])
    number = kept.sum(axis=1)
    mean, coins, third = joined @ kept.T / number
    apart = (kept * (joined[0] - mean[:, None]) ** 2).sum(axis=1) / (number - 1)
    spread = np.sqrt(np.maximum(coins + apart, OPEN))
    error = ((mean - votes / 2) / spread)[1:].std() * math.sqrt(joined.shape[1] - 1)
    steps = np.array([0, 1, -1, 3, -3])
    limits = _limit(
        votes, mean[0] + steps * error * spread[0], spread[0] ** 2, third[0]
    )
    se = np.abs((limits[1:] - limits[0]) / steps[1:]).max()
    return float(limits[0]), float(se), float(coins[0] + apart[0])


def _limit(votes: int, mean: Floats, variance: Floats, third: Floats) -> Floats:
    """Return the margin of so many votes from the cumulants of those for an item."""
    spread = np.sqrt(np.maximum(variance, OPEN))
    ends = np.array([[votes // 2], [(votes + 1) // 2 - 1]]) + 0.5
    place = (ends - mean) / spread
    bell = (1 - place**2) * np.exp(-(place**2) / 2) / math.sqrt(72 * math.pi)
    margins = 1 - (special.ndtr(place) + third / spread**3 * bell).sum(axis=0)
    return np.asarray(np.clip(margins, -1, 1))


def _limit_over(chances: Floats, first: Counts, second: Counts) -> float | None:
    """Return the margin over all pairings of very many scores, without sampling.

    What a score adds to the votes by itself it adds in every pairing. The rest of a
    vote has mean 0 for each score, and so the sum of the rests over a random pairing
    has the cumulants of a sum of independent numbers, but for a share of one in the
    number of scores (Hoeffding, 1951, A combinatorial central limit theorem).

    Args:
        chances: Chance of a vote for the first item, by level of each item.
        first: How many scores of each level the first item has.
        second: The same of the second item.

    Returns:
        The margin; None if the coins are too sure for the limit.
    """
    votes, size = sorted([int(first.sum()), int(second.sum())])
    # Scores that are left over are paired with blanks, which are worth no vote.
    chances = np.pad(chances, (0, 1))
    first_shares, second_shares = (
        np.append(counts, size - counts.sum()) / size for counts in (first, second)
    )
    residuals = (
        chances
        - (chances @ second_shares)[:, None]
        - first_shares @ chances
        + first_shares @ chances @ second_shares
    )
    scatter = chances * (1 - chances)
    parts = (
        chances,
        scatter,
        residuals**2,
        scatter * (1 - 2 * chances + 3 * residuals) + residuals**3,
    )
    mean, coins, between, third = (
        size * (first_shares @ part @ second_shares) for part in parts
    )
    margin = _limit(votes, mean, coins + between, third).item()
    return margin if coins >= OPEN else None


def _law_of_many(chances: Floats) -> Floats:
    """Return the law of the number of votes, two and two multiplied together."""
    # Votes that never come make their number a power of two.
    lacking = (1 << (len(chances) - 1).bit_length()) - len(chances)
    padded = np.append(np.sort(chances), np.zeros(lacking))
    laws = np.stack([1 - padded, padded], axis=1)
    while len(laws) > 1:
        laws = signal.fftconvolve(laws[::2], laws[1::2], axes=1)
    return np.asarray(laws[0, : len(chances) + 1])


def _products(rows: Floats) -> Floats:
    """Return the law of the number of votes, by row."""
    n_rows, votes = rows.shape
    laws = np.zeros((n_rows, votes + 1), dtype=rows.dtype) + constant(Fraction(0), rows)
    laws[:, 0] = constant(Fraction(1), rows)
    for vote in range(votes):
        chance = rows[:, vote : vote + 1]
        moved = laws[:, : vote + 1] * chance
        laws[:, : vote + 1] -= moved
        laws[:, 1 : vote + 2] += moved
    return laws


def _margin(counts: Floats) -> Floats:
    most = counts.shape[-1] - 1
    above = counts[..., most // 2 + 1 :].sum(axis=-1)
    below = counts[..., : (most + 1) // 2].sum(axis=-1)
    return np.asarray(above - below)


def from_margin(margin: Floats) -> Floats:
    """Return (1 + margin) / 2 so that turning the margin round turns it round.

    Examples:
        >>> from_margin(np.array([-0.5, 0.5]))
        array([0.25, 0.75])
    """
    half = constant(Fraction(1, 2), margin)
    larger = np.minimum(half + half * magnitude(margin), 2 * half)
    return np.asarray(np.where(margin < 0, 1 - larger, larger))


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
        table = sample_tables(first, second, 1, np.random.Generator(source))[0]
        first_codes, second_codes = np.nonzero(table)
        return first_codes, second_codes, table[first_codes, second_codes]
    # To put the longer side in a random order is enough.
    first_codes, second_codes = (
        np.repeat(np.arange(len(side)), side) for side in (first, second)
    )
    order, pairs = (
        permutation(source, int(size)),
        min(len(first_codes), len(second_codes)),
    )
    first_codes, second_codes = (
        (first_codes[order], second_codes)
        if len(first_codes) > pairs
        else (first_codes, second_codes[order])
    )
    codes = first_codes[:pairs] * len(second) + second_codes[:pairs]
    used, counts = np.unique(codes, return_counts=True)
    return *np.divmod(used, len(second)), counts


def draw_coins(
    tosses: Counts,
    chances: Floats,
    source: Stream,
    toss: Callable[[int, float], bool] | None = None,
) -> int:
    """Toss coins; return how many come up.

    Args:
        tosses: How often each kind is tossed.
        chances: Chance of each kind, in [0, 1].
        source: Where chance comes from.
        toss: From a kind of coin, and the uniform that decides, to whether it comes up;
            asked where the uniform is all but equal to the chance. None: compare them.

    Examples:
        >>> from evenhand.randomness import stream
        >>> draw_coins(np.array([9, 9]), np.array([0.0, 1.0]), stream(7, "votes"))
        9
    """
    total = int(tosses.sum())
    if total > LISTED:
        return int(np.random.Generator(source).binomial(tosses, chances).sum())
    kinds = np.repeat(np.arange(len(tosses)), tosses)
    units = uniforms(source, total)
    up = units < chances[kinds]
    near = np.flatnonzero(np.abs(units - chances[kinds]) <= NEAR) if toss else ()
    for coin in near:
        up[coin] = toss(int(kinds[coin]), float(units[coin]))  # type: ignore[misc]  # none are near without
    return int(up.sum())


def sample_tables(
    first: Counts, second: Counts, rows: int, rng: np.random.Generator
) -> Counts:
    """Sample pairings for an estimate, as tables of levels against levels.

    Args:
        first: How many scores of each level the first item has.
        second: The same of the second item.
        rows: How many pairings.
        rng: Where they come from; what decides is drawn by `draw_pairing`.

    Returns:
        How many pairs there are of each two levels, shape (rows, levels, levels).
    """
    pairs = min(first.sum(), second.sum())
    first_subsets, second_subsets = (
        sample_subsets(side, pairs, rows, rng) for side in (first, second)
    )
    tables = np.empty((rows, len(first), len(second)), np.int64)
    for level in range(len(first)):
        if rows >= len(second):
            tables[:, level] = thin_rows(second_subsets, first_subsets[:, level], rng)
        else:
            each = zip(second_subsets, first_subsets[:, level].tolist(), strict=True)
            tables[:, level] = [sample_subsets(*row, 1, rng)[0] for row in each]
        second_subsets = second_subsets - tables[:, level]
    return tables


def sample_subsets(
    pool: Counts, wanted: int, rows: int, rng: np.random.Generator
) -> Counts:
    """Sample choices of so many out of a pool for an estimate, shape (rows, kinds)."""
    if pool.sum() >= NUMPY_MOST:
        wide = np.broadcast_to(pool, (rows, len(pool)))
        return thin_rows(wide, np.full(rows, wanted), rng)
    crowded = pool.sum() > CROWDED * len(pool)
    return rng.multivariate_hypergeometric(
        pool, wanted, size=rows, method="marginals" if crowded else "count"
    )


def thin_rows(pools: Counts, wanted: Counts, rng: np.random.Generator) -> Counts:
    """Choose so many of each row, by coins that are then put right by coins.

    Examples:
        >>> pools = np.array([[3, 2], [4, 1]])
        >>> thin_rows(pools, np.array([2, 5]), np.random.default_rng(7)).sum(axis=1)
        array([2, 5])
    """
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
