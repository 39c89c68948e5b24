"""Theorem T: tied items are sorted by a few scores each, plus noise.

A weak order is an order with buckets of items that are held for equal. In each bucket
every item gets the mean of k scores, k the same for all of them, plus normal noise; the
places of the bucket are filled in that order, whether they are neighbours or not.

Why this helps. Let the buckets be a function of the comparisons alone, let reviewers be
assigned to bundles at random, and let scales be strictly increasing. Then neither the
buckets nor the choice of reviewers moves when reviewers change places. Take a better
than b in one bucket, and exchange their reviewers one for one; a reviewer used for both
stays. The difference of the means before the exchange, D, and after it, D', add up to
more than 0, and a stands before b with probability Phi(D / (sd sqrt 2)). So the two
probabilities add up to more than 1, and as both cases are equally likely, a stands
before b with probability above 1/2, for every true ranking and all scales. Expected
Kendall tau is hence below that of buckets ordered by lot. Without noise D > 0 is all
that counts, and the sum is at least 1: never worse, but not always better.

If other items stand between the places of a bucket, they count too. Let c be one, with
j places of the bucket before it, and let U be the items of the bucket that are better
than c. Raise no score of U and lower none of the others, but put all to what its
reviewers would give to an item as good as c; that cannot add to the items of U in the
first j places. Then scores say who scored, not what, and as reviewers were assigned at
random all items of the bucket are equally likely in each place. So U has its share of
the first j places at least. This needs that no reviewer scored two items of the bucket.
"""

from __future__ import annotations

import functools
import itertools
import math
import statistics
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from evenhand.errors import OptionError
from evenhand.posets.reach import twins
from evenhand.randomness import Stream, below, permutation, uniforms
from evenhand.ranking.anchors import (
    Layer,
    Sheets,
    choose_layers,
    equal_loads,
    mean_values,
    read_sheets,
)
from evenhand.ranking.flips import Coin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.arrays import Codes
    from evenhand.posets.graph import Comparisons
    from evenhand.ranking.mean_rank import MeanRankOrder
    from evenhand.ratings import Ratings

    Buckets = tuple[tuple[int, ...], ...]

# Small beside the steps of usual forms, so that little of what scores know is lost; on
# forms of five marks still strict in floats.
NOISE = 0.3
TIED = 2
# Two errors drawn from uniforms of 53 bits differ by no more than this, and some, in
# standard deviations; a larger gap is never overturned.
FARTHEST_NOISE = 16
# The complementary error function is 0 in floats beyond 27.3.
FARTHEST = 28.0
LARGEST = sys.float_info.max
_HALF_STEP = 2.0**-54
_NORMAL = statistics.NormalDist()


@dataclass(frozen=True, slots=True, eq=False)
class TieBreak:
    """An order whose ties were broken by scores.

    Attributes:
        order: Item codes, best first.
        draws: The neighbours within buckets, bucket by bucket, with the gap between the
            means that they were sorted by, before noise.
        noise: Standard deviation of the noise.
        settled: Number of buckets in which two items or more had scores.
        resolved: Whether the noise that can be drawn could have overturned every one of
            the draws. Where not, the draw is never worse than a fair coin, but no
            longer strictly better. False without noise if there are draws.
        equal_loads: Whether reviewers who may change places scored equally many items.
    """

    order: Codes
    draws: tuple[Coin, ...]
    noise: float
    settled: int
    resolved: bool
    equal_loads: bool


def twin_buckets(order: Sequence[int] | Codes, c: Comparisons) -> Buckets:
    """Return the closure twins, by place in an order.

    Twins have the same items above and below. Both sets are read off the comparisons
    without names of reviewers, so the classes are a function of the comparisons alone,
    as Theorem T asks. Exchanging two twins maps the orderings that respect the
    comparisons one to one onto each other, so either is above with probability 1/2.

    Args:
        order: Item codes, best first, made without a look at the scores.
        c: The comparisons.

    Examples:
        >>> from evenhand.posets.graph import from_edges
        >>> twin_buckets([3, 2, 1, 0], from_edges(4, [2, 2, 0], [0, 1, 3]))
        ()
        >>> twin_buckets([3, 2, 1, 0], from_edges(4, [2, 2, 2], [0, 1, 3]))
        ((3, 1, 0),)
    """
    place = {item: number for number, item in enumerate(np.asarray(order).tolist())}
    classes = (
        tuple(sorted(members, key=place.__getitem__))
        for members in twins(c, by="closure")
    )
    return tuple(sorted(classes, key=lambda members: place[members[0]]))


def equal_mean_ranks(found: MeanRankOrder, c: Comparisons) -> Buckets:
    """Return the groups of items with equal mean ranks, by place.

    A mean rank is an average over the orderings that respect the comparisons, so it is
    a function of these alone, and so is its being equal to another: Theorem T applies,
    and the lot of `mean_rank_order` is what it is compared with. All closure twins have
    equal mean ranks. The same holds for the proxy, which counts the items above and
    below. Mean ranks from sampled orderings are hardly ever equal, even those of twins;
    then the buckets are the closure twins.

    Args:
        found: Items by mean rank.
        c: The comparisons that they came from.

    Examples:
        >>> from evenhand.posets.graph import from_edges
        >>> from evenhand.ranking.mean_rank import mean_rank_order
        >>> c = from_edges(4, [0, 2], [1, 3])
        >>> [sorted(tied) for tied in equal_mean_ranks(mean_rank_order(c, 7), c)]
        [[0, 2], [1, 3]]
    """
    return found.ties if found.averages.exact else twin_buckets(found.order, c)


def break_ties(
    ratings: Ratings,
    order: Sequence[int] | Codes,
    buckets: Sequence[Sequence[int]],
    source: Stream,
    *,
    noise: float = NOISE,
    anchored: bool = True,
) -> TieBreak:
    """Sort each bucket of tied items by scores, within its own places.

    Args:
        ratings: Scores.
        order: Item codes, best first, made without a look at the scores.
        buckets: Disjoint groups of items that are held for equal, by comparisons alone.
        source: Where chance comes from.
        noise: Standard deviation of the noise on each mean, in score points, or in
            spreads of the anchors where there are two or more; 0.3 by default. It must
            not be taken from the scores themselves. 0 is never worse than a lot, but
            not always better.
        anchored: Set scores against those of items that all reviewers used scored.

    Returns:
        The new order, and how it came about. Items without a score are put in places of
        their bucket by lot.

    Raises:
        RatingsError: If there are no scores.
        OptionError: If an item is in two buckets.

    Examples:
        >>> from evenhand.randomness import stream
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 1.2])
        >>> found = break_ties(ratings, [0, 1], [(0, 1)], stream(7, "ties"))
        >>> [(draw.items, round(draw.p_first, 3)) for draw in found.draws]
        [((0, 1), 0.319)]
    """
    after = np.array(order, dtype=np.int64)
    place = np.argsort(after)
    tied = [sorted(bucket, key=place.__getitem__) for bucket in buckets]
    every = [item for bucket in tied for item in bucket]
    if len(set(every)) < len(every):
        raise OptionError("buckets must not overlap, got an item in two of them.")
    sheets = read_sheets(ratings, every)
    draws: list[Coin] = []
    sort = functools.partial(_sorted_bucket, sheets, source, noise, anchored=anchored)
    parts = [sort(items) for items in tied]
    for items, part in zip(tied, parts, strict=True):
        after[place[items]] = part.order
        draws += part.draws
    return TieBreak(
        order=after,
        draws=tuple(draws),
        noise=noise,
        settled=sum(bool(part.draws) for part in parts),
        resolved=all(abs(draw.gap) <= FARTHEST_NOISE * noise for draw in draws)
        and (noise > 0 or not draws),
        equal_loads=all(equal_loads(sheets, part.layers) for part in parts),
    )


def before(difference: Fraction, noise: float) -> float:
    """Return the probability that the first of two tied items comes out first.

    Args:
        difference: Its mean less the other's.
        noise: Standard deviation of the noise on each mean.

    Returns:
        Phi(difference / (noise sqrt 2)); without noise 0, 1/2 or 1.

    Examples:
        >>> round(before(Fraction(2), 1.0), 4), before(Fraction(-1), 0.0)
        (0.9214, 0.0)
    """
    if noise == 0:
        return 0.5 + 0.5 * ((difference > 0) - (difference < 0))
    size = -difference / (2 * Fraction(noise))
    return math.erfc(_clipped(size, FARTHEST)) / 2


@dataclass(frozen=True, slots=True)
class _Sorted:
    order: list[int]
    layers: tuple[Layer, ...]
    draws: list[Coin]


def _sorted_bucket(
    sheets: Sheets,
    source: Stream,
    noise: float,
    items: Sequence[int],
    *,
    anchored: bool,
) -> _Sorted:
    scored = [item for item in items if sheets.people[item]]
    bare = [item for item in items if not sheets.people[item]]
    # By lot: which places items without a score take, and who goes first if equal.
    places = permutation(source, len(items)).tolist()
    lots = permutation(source, len(scored)).tolist()
    if len(scored) < TIED:
        return _Sorted([items[number] for number in places], (), [])
    layers = choose_layers(
        sheets, scored, functools.partial(below, source), anchored=anchored
    )
    values = mean_values(sheets, scored, layers)
    errors = _normals(source, len(scored))
    # Exact sums, so that no noise is lost beside a large mean.
    keys = [
        (-value - Fraction(noise * error), lot)
        for value, error, lot in zip(values, errors, lots, strict=True)
    ]
    ranked = sorted(range(len(scored)), key=keys.__getitem__)
    filled = dict(zip(places[: len(bare)], bare, strict=True))
    rest = iter(ranked)
    order = [
        filled[number] if number in filled else scored[next(rest)]
        for number in range(len(items))
    ]
    draws = [
        _draw(scored, values, layers, pair, noise)
        for pair in itertools.pairwise(ranked)
    ]
    return _Sorted(order, layers, draws)


def _draw(
    items: Sequence[int],
    values: Sequence[Fraction],
    layers: Sequence[Layer],
    pair: tuple[int, int],
    noise: float,
) -> Coin:
    one, other = sorted(pair)
    difference = values[one] - values[other]
    turns = ((layer.reviewers[one], layer.reviewers[other]) for layer in layers)
    return Coin(
        items=(items[one], items[other]),
        gap=_clipped(difference, LARGEST),
        p_first=before(difference, noise),
        kept=pair[0] == one,
        reviewers=tuple(itertools.chain.from_iterable(turns)),
        anchors=tuple(layer.anchors for layer in layers if layer.anchors),
    )


def _normals(source: Stream, size: int) -> list[float]:
    """Draw normal errors, symmetric about 0 and finite."""
    errors = []
    for unit in uniforms(source, size).tolist():
        # Middles of the steps of the grid: 0 and 1 themselves would be infinite.
        low = min(unit, 1 - unit - 2 * _HALF_STEP) + _HALF_STEP
        error = _NORMAL.inv_cdf(low)
        errors.append(error if unit < 1 - unit else -error)
    return errors


def _clipped(value: Fraction, most: float) -> float:
    # Fractions may be beyond floats.
    return float(min(max(value, Fraction(-most)), Fraction(most)))
