"""Exact laws of the vote: given a pairing, and averaged over all pairings.

Given a pairing the number of votes is Poisson-binomial. Over all pairings its law is a
permanent, which is summed here without cancellation by going through the scores of one
side and keeping how many of each distinct score of the other side are used: 2**k states
for k distinct scores, far fewer for scores on a few levels. Beyond that, pairings are
sampled and the standard error is returned.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

import numpy as np

from evenhand._kernels.ab import pairing_counts
from evenhand._kernels.trials import few_margins, turn_rows
from evenhand._kernels.votes import FEW, count_outside, majority_margins
from evenhand._randomness import RNGLike, Stream, permutation, seed_from, stream
from evenhand.ab._numbers import (
    Floats,
    Numbers,
    as_numbers,
    constant,
    difference,
    is_exact,
    magnitude,
)
from evenhand.ab.weights import GapWeight, as_weight, odd
from evenhand.errors import RatingsError

if TYPE_CHECKING:
    from numpy.typing import NDArray

# About a second of work and 200 MB: 20 distinct scores against 20, or 60 against 60 on
# a five-point scale.
WORK = 450_000_000
CELLS = 25_000_000
# Sampled pairings: so many, fewer if there are very many scores to draw.
PAIRINGS = 4000
FEWEST_PAIRINGS = 64
SAMPLED_SCORES = 4_000_000
CHUNK = 1_000_000
# Up to so many votes their law is multiplied out term by term.
FEW_VOTES = 64


class Averaged(NamedTuple):
    """A probability averaged over pairings.

    Attributes:
        probability: That the first item is output; a Fraction for Fractions.
        se: Standard error, 0 if the average is exact.
        pairings: Number of pairings sampled, 0 if the average is exact.
    """

    probability: float
    se: float
    pairings: int


Terms = Callable[[Floats, Floats], Floats]


def majority_probability(probabilities: Numbers) -> Floats:
    """Probability that the first item has the majority, ties by a fair coin.

    The order of the votes does not matter to the last bit, and turning every vote
    round turns the result p into 1 - p.

    Args:
        probabilities: Chance of each vote for the first item, shape (..., k).

    Returns:
        Probabilities, shape (...); 1/2 if there is no vote.

    Raises:
        RatingsError: If a probability is not in [0, 1].

    References:
        Wang and Shah (2019), Section 3.2.

    Examples:
        >>> majority_probability([[0.75, 0.75, 0.75], [1.0, 0.5, 0.0]])
        array([0.84375, 0.5    ])
    """
    chances = _as_probabilities(probabilities)
    shape = chances.shape[:-1]
    rows = np.ascontiguousarray(chances.reshape(math.prod(shape), chances.shape[-1]))
    if is_exact(rows) or rows.shape[1] > FEW:
        return _from_margin(_vote_margin(rows)).reshape(shape)[()]
    return majority_of_rows(rows.copy()).reshape(shape)[()]


def majority_of_rows(rows: Floats) -> Floats:
    """Do what `majority_probability` does on a table of floats, which may be changed.

    Args:
        rows: Chance of each vote, shape (rows, votes), known to be in [0, 1].

    Examples:
        >>> majority_of_rows(np.array([[0.75, 0.75, 0.75]]))
        array([0.84375])
    """
    if rows.shape[1] > FEW:
        return _from_margin(_vote_margin(rows))
    rows.sort(axis=-1)
    # Of the two ways round, always the same one is computed.
    side = turn_rows(rows)
    return _from_margin(_vote_margin(rows) * side)


def votes_over_pairings(
    first: Numbers,
    second: Numbers,
    *,
    weight: GapWeight | Callable[[float], float] | str | None = None,
    rng: RNGLike = None,
) -> Averaged:
    """Probability that the paper's vote outputs the first item, over all pairings.

    Scores of the smaller side are paired with a uniformly random choice of the larger.

    Args:
        first: Scores of the first item.
        second: Scores of the second item.
        weight: Increasing map from a gap to [0, 1), rational(1) if None.
        rng: Seed for sampled pairings; not used where the average is exact.

    Returns:
        The probability, its standard error and the number of sampled pairings. It is
        exact for Fractions; swapping the items turns p into 1 - p to the last bit.

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

    def terms(held: Floats, taken: Floats) -> Floats:
        chance = np.asarray(odd(chosen, difference(held, taken)))
        return np.stack([1 - chance, chance], axis=-1)

    def margins(held: Floats, taken: Floats) -> Floats:
        return _vote_margin(odd(chosen, difference(held, taken)))

    return _over_pairings(first, second, terms, margins, rng)


def sign_over_pairings(
    first: Numbers, second: Numbers, *, rng: RNGLike = None
) -> Averaged:
    """Probability that more pairwise wins go to the first item, over all pairings.

    Args:
        first: Scores of the first item.
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

    def terms(held: Floats, taken: Floats) -> Floats:
        zero = constant(Fraction(0), held)
        wins = [held < taken, held == taken, held > taken]
        return np.stack([zero + win * (zero + 1) for win in wins], axis=-1)

    def margins(held: Floats, taken: Floats) -> Floats:
        wins = (held > taken).sum(axis=-1) - (held < taken).sum(axis=-1)
        return np.asarray(np.sign(wins), dtype=np.float64)

    return _over_pairings(first, second, terms, margins, rng)


def _over_pairings(
    first: Numbers, second: Numbers, terms: Terms, margins: Terms, rng: RNGLike
) -> Averaged:
    seed = seed_from(rng)
    one, two = _as_side(first, "first"), _as_side(second, "second")
    if len(one) == 0 or len(two) == 0 or np.array_equal(one, two):
        return Averaged(constant(Fraction(1, 2), one).item(), 0.0, 0)
    trial = terms(one[:1], two[:1])
    points = trial.shape[-1] - 1
    if is_exact(one) != is_exact(two) or not is_exact(trial):
        one, two = one.astype(np.float64), two.astype(np.float64)
    # Which side is held as levels depends on the scores alone, never on their names.
    costs = [_cost(one, two, points), _cost(two, one, points)]
    ahead = (costs[0], tuple(one)) < (costs[1], tuple(two))
    side, held, taken = (1, one, two) if ahead else (-1, two, one)
    work, cells = min(costs)
    if not is_exact(held) and (work > WORK or cells > CELLS):
        mean, se, pairings = _sampled(held, taken, margins, stream(seed, "pairings"))
        return Averaged(_from_margin(np.array(side * mean)).item(), se / 2, pairings)
    levels, sizes = np.unique(held, return_counts=True)
    table = terms(levels[None, :], taken[:, None])
    count = _exact_counts if is_exact(held) else pairing_counts
    margin = side * _margin(count(table, sizes.astype(np.int64)))
    return Averaged(_from_margin(np.asarray(margin)).item(), 0.0, 0)


def _cost(held: Floats, taken: Floats, points: int) -> tuple[int, int]:
    sizes = np.unique(held, return_counts=True)[1].tolist()
    states = 1
    for size in sizes:
        states *= size + 1
        if states > CELLS:
            return WORK + 1, CELLS + 1
    cells = states * (points * min(len(held), len(taken)) + 1)
    rounds = max(0, len(taken) - len(held)) + 1
    return cells * rounds * len(sizes), cells


def _exact_counts(terms: Floats, sizes: NDArray[np.int64]) -> Floats:
    """Do on Fractions what the kernel does on floats."""
    taken, levels, degrees = terms.shape
    held = int(sizes.sum())
    width = (degrees - 1) * min(taken, held) + 1
    states = {(0,) * levels: [Fraction(1)] + [Fraction(0)] * (width - 1)}
    for step in range(taken):
        reached: dict[tuple[int, ...], list[Fraction]] = {}
        for used, law in states.items():
            free = held - sum(used)
            rest = max(taken - step, free)
            moves = [(used, Fraction(rest - free, rest), [Fraction(1)])]
            for level, size in enumerate(sizes.tolist()):
                after = (*used[:level], used[level] + 1, *used[level + 1 :])
                chance = Fraction(size - used[level], rest)
                moves.append((after, chance, terms[step, level].tolist()))
            for after, chance, points in moves:
                if chance == 0:
                    continue
                target = reached.setdefault(after, [Fraction(0)] * width)
                for point, share in enumerate(points):
                    for place in range(width - point):
                        target[place + point] += chance * share * law[place]
        states = reached
    return np.array([sum(column) for column in zip(*states.values(), strict=True)])


def _sampled(
    held: Floats, taken: Floats, margins: Terms, source: Stream
) -> tuple[float, float, int]:
    small, large = sorted((held, taken), key=len)
    total = min(PAIRINGS, max(FEWEST_PAIRINGS, SAMPLED_SCORES // len(large)))
    rows = max(1, CHUNK // len(large))
    found = []
    for start in range(0, total, rows):
        orders = [
            permutation(source, len(large))[: len(small)]
            for _ in range(min(rows, total - start))
        ]
        drawn = large[np.stack(orders)]
        known = np.broadcast_to(small, drawn.shape)
        pair = (known, drawn) if small is held else (drawn, known)
        found.append(margins(*pair))
    values = np.concatenate(found)
    # A sample in which all pairings agree is still a sample.
    se = float(values.std(ddof=1)) / math.sqrt(total) or 1 / total
    return float(values.mean()), se, total


def _vote_margin(rows: Floats) -> Floats:
    """Return P(more votes for than against) - P(fewer), by row."""
    if is_exact(rows):
        return _margin(_products(rows))
    few = rows.shape[1] <= FEW_VOTES
    return few_margins(rows) if few else majority_margins(rows)


def _products(rows: Floats) -> Floats:
    """Return the law of the number of votes, by row, of Fractions."""
    n_rows, votes = rows.shape
    laws = np.zeros((n_rows, votes + 1), dtype=rows.dtype) + constant(Fraction(0), rows)
    laws[:, 0] = constant(Fraction(1), rows)
    for vote in range(votes):
        chance = rows[:, vote : vote + 1]
        moved = laws[:, : vote + 1] * chance
        laws[:, : vote + 1] *= 1 - chance
        laws[:, 1 : vote + 2] += moved
    return laws


def _margin(counts: Floats) -> Floats:
    most = counts.shape[-1] - 1
    above = counts[..., most // 2 + 1 :].sum(axis=-1)
    below = counts[..., : (most + 1) // 2].sum(axis=-1)
    return np.asarray(above - below)


def _from_margin(margin: Floats) -> Floats:
    half = constant(Fraction(1, 2), margin)
    larger = np.minimum(half + half * magnitude(margin), 2 * half)
    return np.asarray(np.where(margin < 0, 1 - larger, larger))


def _as_probabilities(values: Numbers) -> Floats:
    if _are_plain(values) and count_outside(values.reshape(-1)) == 0:
        return values
    array = np.atleast_1d(as_numbers(values, "probability"))
    outside = (array < 0) | (array > 1)
    if outside.any():
        raise RatingsError(
            f"probability must be in [0, 1], got {array[outside].flat[0]}."
        )
    return array


def _are_plain(values: Numbers) -> TypeGuard[Floats]:
    """Say whether values are such floats as a kernel takes as they are."""
    return (
        type(values) is np.ndarray
        and values.dtype == np.float64
        and values.ndim > 0
        and values.flags.carray
    )


def _as_side(scores: Numbers, name: str) -> Floats:
    array = as_numbers(scores, f"{name} score")
    if array.ndim != 1:
        raise RatingsError(f"{name} scores must be one list, got shape {array.shape}.")
    return np.sort(array)
