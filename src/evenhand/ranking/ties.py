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

Theorem A: reviewers of tied items are set against what they all scored. Tied items are
compared in layers. A layer has one reviewer for each item, and all of
them scored a set K of other items, the anchors of the layer. Each score is taken
relative to the same reviewer's scores of K: less their mean, and over their spread if K
has two items or more. K may be empty; then scores stay as they are.

Why this keeps Theorem T. Who scored which items is drawn first, and the reviewers are
then given these bundles at random. The layers are chosen by bundles and by chance, with
no look at a score or a name. So K is fixed when the reviewers of a layer change places,
and what reviewer r would make of value x is g_r(x) = (f_r(x) - mean) / spread, with a
mean and a spread of r's own scores of K, whichever item of the tie r was given: an
increasing scale again. Let a be better than b, and exchange their reviewers r, s in
every layer at once. The sum over layers of g_r(a) - g_s(b) and the same sum after the
exchange, of g_s(a) - g_r(b), add up to the sum of g_r(a) - g_r(b) + g_s(a) - g_s(b),
which is positive. Any rule that is increasing and antisymmetric in the difference is
hence right more often than not. That needs no reviewer twice, but layers may have
different anchors; with three items or more all reviewers of one layer must share them.

A mean over any other items, such as all items of each reviewer, moves with the bundle:
then g_r(a) and g_r(b) are on different scales, and the rule can be wrong nearly always.

The choice among reviewers with equal claims is by lot. By name it would not do: the
smaller name of two could go to the one item whenever the other has the third.

`safe` on contradictory data: some reviewers make the groups, the others break ties.
Noisy reviewers contradict each other, and groups of tied items that were read off the
same noisy scores that then settle them favour whoever was lucky once. So the reviewers
are split by lot, without a look at a score. One part makes a weak order: buckets of
items, best first. Scores of the other part sort each bucket.

Why Theorem T holds with noise. Let reviewer j give item i the score F_j(x_i, e),
nondecreasing in the value x_i, with a noise e whose law has nothing to do with the item
and which is exchangeable among the items of one reviewer. Let bundles of equal size be
given to reviewers at random. The split is drawn from the reviewers' codes alone. Fix
it, and all that the first part was given and scored: the weak order is now fixed,
whatever rule made it, and the second part's reviewers still have the remaining bundles
at random, with noise of their own. Take a better than b in one bucket. Which of the
second part's scores are used is chosen by bundles and chance. Exchange the reviewers
used for a with those used for b, one for one; each takes its noise along, and a
reviewer used for both stays and exchanges the two noises. Both cases are equally
likely. For r in place of s the differences of the scores before and after add up to

    F_r(a, e_r) - F_s(b, e_s) + F_s(a, e_s) - F_r(b, e_r) >= 0,

since each scale is nondecreasing with its noise held; anchors (Theorem A) are held with
theirs. So with normal noise of the tie-break, a stands before b with probability 1/2 at
least, and above 1/2 if scales increase strictly. An item without a score in the second
part goes before or after all others of its bucket, by a coin: exactly 1/2. Buckets are
runs of the order, so these pairs are all that tie-breaking can change: expected Kendall
tau is no higher than that of random tie-breaking, for every true ranking, all scales,
and every outcome of the first part. Ties within a reviewer cost strictness, no more.

Whether to split. The proof fixes the first part and averages over the second, so the
decision to split must not look at a score of the second. Two ways are blind to it: to
split always, declared beforehand; and to split because the first part contradicts
itself, which is settled once that part is fixed. A contradiction that takes a breaker
to see is neither: it tells which score went wrong. Let the breakers have {a, c} and
{b, d}, and let the others put a and b above c, and c above d, so that a and b are tied.
Then the reviewers contradict each other only if noise puts c above a, and the low score
of a sorts the two: with values 1.1, 1.05, 1, -10 and noise of -1, 0 or 1, a stands
before b with probability .297 given a split, and .517 over all data. There `safe`
claims nothing.

If nobody contradicts anybody there is no split, and the claim is that of reviewers who
order without error. Under that assumption it is the only case: nothing was selected.
"""

from __future__ import annotations

import itertools
import math
import statistics
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.models.bradley_terry import PRIOR_PRECISION, bradley_terry
from evenhand.posets.contradictions import find_contradiction
from evenhand.posets.graph import comparisons
from evenhand.posets.orderings import twins
from evenhand.randomness import Stream, below, permutation, stream, uniforms
from evenhand.ranking import flips
from evenhand.ranking.flips import Flip, Pick, clip_to_float, relative

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.arrays import Codes
    from evenhand.posets.averaging import MeanRankOrder
    from evenhand.posets.graph import Comparisons
    from evenhand.ratings import Ratings

    Buckets = tuple[tuple[int, ...], ...]

# Small beside the steps of usual forms, so that little of what scores know is lost; on
# forms of five marks still strict in floats.
NOISE = 0.3
TIED = 2
# Two errors drawn from uniforms of 53 bits differ by no more than this, and some, in
# standard deviations; a larger gap is all but never overturned.
FARTHEST_NOISE = 16
# The complementary error function is 0 in floats beyond 27.3.
FARTHEST = 28.0
_HALF_STEP = 2.0**-54
_NORMAL = statistics.NormalDist()
# Two anchors have a spread; one has only a place.
WITH_SPREAD = 2
# Measured on simulated noisy ratings: more for the order is better up to here.
SHARE = 0.8
NEAR = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class TieBreak:
    """An order whose ties were broken by scores.

    Attributes:
        order: Item codes, best first.
        draws: The neighbours within buckets, bucket by bucket, with the gap between the
            means that they were sorted by, before noise.
        noise: Standard deviation of the noise.
        settled: Number of buckets in which two items or more had scores.
        resolved: Whether every one of the draws is within reach of the noise, but for
            one time in 2**53. False without noise if there are draws.
        equal_loads: Whether reviewers who may change places scored equally many items.
    """

    order: Codes
    draws: tuple[Flip, ...]
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
    place = np.argsort(order).tolist()
    classes = (tuple(sorted(bucket, key=place.__getitem__)) for bucket in twins(c))
    return tuple(sorted(classes, key=lambda bucket: place[bucket[0]]))


def equal_mean_ranks(mean_ranks: MeanRankOrder, c: Comparisons) -> Buckets:
    """Return the groups of items with equal mean ranks, by place.

    A mean rank is an average over the orderings that respect the comparisons, so it is
    a function of these alone, and so is its being equal to another: Theorem T applies,
    and the lot of `mean_rank_order` is what it is compared with. All closure twins have
    equal mean ranks. The same holds for the proxy, which counts the items above and
    below. Mean ranks from sampled orderings are hardly ever equal, even those of twins;
    then the buckets are the closure twins.

    Args:
        mean_ranks: Items by mean rank.
        c: The comparisons that they came from.

    Examples:
        >>> from evenhand.posets.graph import from_edges
        >>> from evenhand.posets.averaging import mean_rank_order
        >>> c = from_edges(4, [0, 2], [1, 3])
        >>> [sorted(tied) for tied in equal_mean_ranks(mean_rank_order(c, 7), c)]
        [[0, 2], [1, 3]]
    """
    return (
        mean_ranks.ties
        if mean_ranks.averages.exact
        else twin_buckets(mean_ranks.order, c)
    )


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
    sheets = read_sheets(ratings)
    draws, layers, settled = list[Flip](), list[Layer](), 0
    for items in tied:
        ranked, chosen, coins = _sort_bucket(
            sheets, source, noise, items, anchored=anchored
        )
        after[place[items]] = ranked
        layers += chosen
        draws += coins
        settled += bool(coins)
    resolved = all(abs(draw.gap) <= FARTHEST_NOISE * noise for draw in draws)
    resolved = resolved and (noise > 0 or not draws)
    even = equal_loads(sheets, layers)
    return TieBreak(after, tuple(draws), noise, settled, resolved, even)


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
    return math.erfc(clip_to_float(size, FARTHEST)) / 2


def _sort_bucket(
    sheets: Sheets, source: Stream, noise: float, tie: Sequence[int], *, anchored: bool
) -> tuple[list[int], tuple[Layer, ...], list[Flip]]:
    """Return the items in their new order, who scored them, and the draws."""
    scored = [item for item in tie if sheets.people[item]]
    bare = [item for item in tie if not sheets.people[item]]
    # By lot: which places items without a score take, and who goes first if equal.
    places = permutation(source, len(tie)).tolist()
    lots = permutation(source, len(scored)).tolist()
    if len(scored) < TIED:
        return [tie[number] for number in places], (), []
    layers = choose_layers(sheets, scored, partial(below, source), anchored=anchored)
    values = mean_values(sheets, scored, layers)
    rows = zip(values, draw_errors(source, len(scored)), lots, strict=True)
    # Exact sums, so that no noise is lost beside a large mean.
    scale = Fraction(noise)
    keys = [(-value - scale * error, lot) for value, error, lot in rows]
    ranked = sorted(range(len(scored)), key=keys.__getitem__)
    order = [scored[number] for number in ranked]
    for number, item in sorted(zip(places, bare, strict=False)):
        order.insert(number, item)
    anchors = tuple(layer.anchors for layer in layers if layer.anchors)
    draws = []
    for pair in itertools.pairwise(ranked):
        first, second = sorted(pair)
        gap, items = values[first] - values[second], (scored[first], scored[second])
        crews = tuple(layer.reviewers[at] for layer in layers for at in (first, second))
        chance, kept = before(gap, noise), pair[0] == first
        draws.append(Flip(items, clip_to_float(gap), chance, kept, crews, anchors))
    return order, layers, draws


def draw_errors(source: Stream, size: int) -> list[Fraction]:
    """Draw normal errors; one in 2**53 may be any number, so that every gap can turn.

    Uniforms of 53 bits know no error beyond 8.3 standard deviations, and no larger gap
    would ever be overturned. Theorems T and M need noise of full support, which the
    rare draw has.

    Examples:
        >>> from evenhand.randomness import stream
        >>> round(float(draw_errors(stream(7, "noise"), 1)[0]), 3)
        -0.092
    """
    errors = []
    for unit in uniforms(source, size).tolist():
        # Middles of the steps of the grid: 0 and 1 themselves would be infinite.
        low = min(unit, 1 - unit - 2 * _HALF_STEP) + _HALF_STEP
        error = _NORMAL.inv_cdf(low)
        drawn = Fraction(error if unit < 1 - unit else -error)
        errors.append(drawn if unit else any_number(source))
    return errors


def any_number(source: Stream) -> Fraction:
    """Draw a whole number over a power of two, each of which has a chance.

    Examples:
        >>> any_number(stream(7, "ties"))
        Fraction(3, 2)
    """
    places = [1, 1]
    for place in range(len(places)):
        while below(source, 2):
            places[place] += 1
    size = Fraction(below(source, 2 ** places[0]), 2 ** places[1])
    return size if below(source, 2) else -size


class Sheets(NamedTuple):
    """What reviewers gave.

    Attributes:
        people: Reviewers of each item, increasing.
        marks: For each reviewer the scores of all items that they scored.
    """

    people: Mapping[int, Sequence[int]] | Sequence[Sequence[int]]
    marks: Mapping[int, Mapping[int, float | Fraction]]


class Layer(NamedTuple):
    """One reviewer for each of some tied items.

    Attributes:
        reviewers: Their codes, in the order of the items.
        anchors: Codes of other items that all of them scored, and that their scores are
            set against; none for scores as they are.
    """

    reviewers: tuple[int, ...]
    anchors: tuple[int, ...]


def read_sheets(ratings: Ratings) -> Sheets:
    """Collect the reviewers of all items, and what they scored.

    Raises:
        RatingsError: If there are no scores.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> read_sheets(Ratings(["a", "a", "b"], [1, 2, 2], [5, 4, 3]))
        Sheets(people=[[0], [0, 1]], marks={0: {0: 5.0, 1: 4.0}, 1: {1: 3.0}})
    """
    scores = flips.scores_of(ratings)
    people = flips.people_of(scores, ratings.n_items)
    return Sheets(people, flips.bundles_of(scores))


def choose_layers(
    sheets: Sheets, items: Sequence[int], pick: Pick, *, anchored: bool = True
) -> tuple[Layer, ...]:
    """Choose reviewers for tied items, and anchors, with no look at a score.

    Layers with two anchors or more are taken if there are any; else layers with one;
    else as many layers without anchors as the item with the fewest reviewers has.

    Args:
        sheets: Who scored what.
        items: The tied items, each with a reviewer.
        pick: From a number of choices to one of them, at random.
        anchored: Whether anchors are wanted.

    Returns:
        The layers, at least one; no reviewer has the same item in two of them.

    Examples:
        >>> marks = {0: {0: 5.0, 2: 4.0}, 1: {1: 9.0, 2: 7.0}, 2: {1: 1.0, 3: 0.0}}
        >>> sheets = Sheets({0: [0], 1: [1, 2]}, marks)
        >>> choose_layers(sheets, [0, 1], lambda _: 0)
        (Layer(reviewers=(0, 1), anchors=(2,)),)
        >>> choose_layers(sheets, [0, 1], lambda _: 0, anchored=False)
        (Layer(reviewers=(0, 1), anchors=()),)
    """
    people = [_shuffle(sheets.people[item], pick) for item in items]
    if anchored:
        inside = frozenset(items)
        crew = set(itertools.chain.from_iterable(people))
        seen = {
            reviewer: frozenset(sheets.marks[reviewer]) - inside for reviewer in crew
        }
        for least in (WITH_SPREAD, 1):
            layers = _anchor_layers(people, seen, least)
            if layers:
                return layers
    fewest = min(map(len, people))
    chosen = zip(*(several[:fewest] for several in people), strict=True)
    return tuple(Layer(reviewers, ()) for reviewers in chosen)


def _shuffle(people: Sequence[int], pick: Pick) -> list[int]:
    remaining = list(people)
    return [remaining.pop(pick(len(remaining))) for _ in people]


def _anchor_layers(
    people: Sequence[Sequence[int]], seen: Mapping[int, frozenset[int]], least: int
) -> tuple[Layer, ...]:
    """Go through the reviewers of the first item, and find the others their best."""
    used: set[int] = set()
    layers = []
    for first in people[0]:
        chosen, common = [first], seen[first]
        for several in people[1:]:
            free = [
                reviewer
                for reviewer in several
                if reviewer not in used and reviewer not in chosen
            ]
            if len(common) < least or not free or first in used:
                common = frozenset()
                break
            shared = {reviewer: common & seen[reviewer] for reviewer in free}
            chosen.append(max(free, key=lambda reviewer: len(shared[reviewer])))
            common = shared[chosen[-1]]
        if len(common) >= least:
            layers.append(Layer(tuple(chosen), tuple(sorted(common))))
            used.update(chosen)
    return tuple(layers)


def layer_values(sheets: Sheets, items: Sequence[int], layer: Layer) -> list[Fraction]:
    """Return what the reviewers of a layer make of its items, set against the anchors.

    With two anchors or more, scores are divided by the mean distance of the anchors
    from their mean, if that is positive for every reviewer of the layer.

    Examples:
        >>> marks = {0: {0: 5.0, 2: 4.0, 3: 2.0}, 1: {1: 9.0, 2: 7.0, 3: -1.0}}
        >>> sheets = Sheets({0: [0], 1: [1]}, marks)
        >>> [str(x) for x in layer_values(sheets, [0, 1], Layer((0, 1), (2,)))]
        ['1', '2']
        >>> [str(x) for x in layer_values(sheets, [0, 1], Layer((0, 1), (2, 3)))]
        ['2', '3/2']
    """
    anchors, marks = (
        layer.anchors,
        [sheets.marks[reviewer] for reviewer in layer.reviewers],
    )
    rows = zip(marks, items, strict=True)
    values = [relative(sheet, item, anchors) for sheet, item in rows]
    if not anchors:
        return values
    # The mean distance stays a fraction, as a standard deviation would not.
    away = (
        [abs(relative(sheet, anchor, anchors)) for anchor in anchors] for sheet in marks
    )
    spreads = [_mean(several) for several in away]
    if min(spreads) == 0:
        return values
    return [value / spread for value, spread in zip(values, spreads, strict=True)]


def mean_values(
    sheets: Sheets, items: Sequence[int], layers: Sequence[Layer]
) -> list[Fraction]:
    """Return the mean over layers of what reviewers make of each item.

    Examples:
        >>> sheets = Sheets({}, {0: {0: 5.0}, 1: {1: 9.0}, 2: {0: 3.0}, 3: {1: 2.0}})
        >>> layers = (Layer((0, 1), ()), Layer((2, 3), ()))
        >>> [str(value) for value in mean_values(sheets, [0, 1], layers)]
        ['4', '11/2']
    """
    rows = [layer_values(sheets, items, layer) for layer in layers]
    return [_mean(column) for column in zip(*rows, strict=True)]


def equal_loads(sheets: Sheets, layers: Sequence[Layer]) -> bool:
    """Say whether all reviewers of each layer scored equally many items.

    Examples:
        >>> sheets = Sheets({}, {0: {0: 5.0}, 1: {1: 9.0, 2: 1.0}})
        >>> equal_loads(sheets, [Layer((0, 1), ())])
        False
    """
    loads = (
        {len(sheets.marks[reviewer]) for reviewer in layer.reviewers}
        for layer in layers
    )
    return all(len(several) == 1 for several in loads)


def _mean(numbers: Sequence[Fraction]) -> Fraction:
    return sum(numbers, Fraction(0)) / len(numbers)


class SplitOrder(NamedTuple):
    """An order by some reviewers, with ties broken by the others.

    Attributes:
        weak: The weak order: all items in buckets, best first, items by code.
        ties: How ties were broken, with codes of reviewers as in the ratings.
        ordered: Codes of the reviewers who made the weak order.
        breakers: Codes of the reviewers whose scores broke its ties.
    """

    weak: Buckets
    ties: TieBreak
    ordered: tuple[int, ...]
    breakers: tuple[int, ...]


def split_order(
    ratings: Ratings,
    seed: int,
    *,
    noise: float = NOISE,
    anchored: bool = True,
    share: float = SHARE,
    near: float = NEAR,
) -> SplitOrder:
    """Order items by some reviewers and break its ties by the scores of the others.

    Args:
        ratings: Scores; they may contradict each other, and have ties.
        seed: Where all chance comes from.
        noise: As for `break_ties`.
        anchored: As for `break_ties`.
        share: Share of the reviewers that make the weak order, from 0 to below 1; at
            least one breaks ties.
        near: How many standard errors of their difference an item's value may be below
            the best of its bucket.

    Returns:
        The order, and how it came about.

    Raises:
        RatingsError: If there are no scores.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(
        ...     ["a", "a", "b", "b", "c", "c"], ["x", "y"] * 3, [2, 1, 7, 9, 3, 2])
        >>> found = split_order(ratings, 7)
        >>> len(found.ordered), len(found.breakers), found.weak
        (2, 1, ((0, 1),))
    """
    ratings.scores  # noqa: B018 - refuses ranks and comparisons in words
    first, second = split_reviewers(ratings.n_reviewers, seed, share=share)
    weak: Buckets = (tuple(range(ratings.n_items)),)
    if first:
        weak = weak_order(_part(ratings, first), near=near)
    breakers = _part(ratings, second)
    starts, _ = breakers.by_item()
    scored = (np.diff(starts) > 0).tolist()
    order, tied = _laid_out(weak, scored, stream(seed, "split lots"))
    ties = break_ties(
        breakers, order, tied, stream(seed, "ties"), noise=noise, anchored=anchored
    )
    # Reviewers get the codes that they have in the whole.
    draws = tuple(
        draw._replace(reviewers=tuple(second[reviewer] for reviewer in draw.reviewers))
        for draw in ties.draws
    )
    return SplitOrder(weak, replace(ties, draws=draws), first, second)


def split_reviewers(
    n_reviewers: int, seed: int, *, share: float = SHARE
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Split reviewers by lot, from their number alone.

    Args:
        n_reviewers: How many there are, at least 1.
        seed: Where the lot comes from.
        share: Share of the first part, rounded; the second has one at least.

    Returns:
        Codes of the reviewers who make the weak order, and of those who break its ties.

    Examples:
        >>> first, second = split_reviewers(5, 7)
        >>> len(first), sorted(first + second)
        (4, [0, 1, 2, 3, 4])
    """
    size = min(math.floor(share * n_reviewers + 0.5), n_reviewers - 1)
    lot = permutation(stream(seed, "split"), n_reviewers)
    return tuple(sorted(lot[:size].tolist())), tuple(sorted(lot[size:].tolist()))


def contradictory(ratings: Ratings, reviewers: Sequence[int]) -> bool:
    """Say whether some reviewers contradict each other, with no look at the rest.

    Args:
        ratings: What all reviewers gave.
        reviewers: Codes of those that count.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [2, 1, 7, 9])
        >>> contradictory(ratings, [0, 1]), contradictory(ratings, [0])
        (True, False)
    """
    return find_contradiction(comparisons(_part(ratings, reviewers))) is not None


def weak_order(part: Ratings, *, near: float = NEAR) -> Buckets:
    """Put items in buckets, from one part of the reviewers alone.

    Items are sorted by their Bradley-Terry values, and cut where one falls off from the
    first of its bucket.

    Args:
        part: What these reviewers gave, with all items.
        near: An item stays in a bucket while its value is at most so many standard
            errors of the difference below that of the first.

    Returns:
        All items in buckets, best first.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> part = Ratings.from_comparisons(["x", "y"], ["y", "z"])
        >>> weak_order(part), weak_order(part, near=2.0)
        (((0,), (1,), (2,)), ((0, 1, 2),))
    """
    fit = bradley_terry(part)
    values, own = fit.estimates.tolist(), np.zeros(part.n_items)
    if fit.errors is not None:
        # Each value's own error: with that of the common level.
        own = np.sqrt(fit.errors**2 + 1 / (PRIOR_PRECISION * part.n_items))
    first, *others = np.argsort(-fit.estimates, kind="stable").tolist()
    buckets = [[first]]
    for item in others:
        best = buckets[-1][0]
        if values[best] - values[item] <= near * math.hypot(own[best], own[item]):
            buckets[-1].append(item)
        else:
            buckets.append([item])
    return tuple(tuple(sorted(bucket)) for bucket in buckets)


def _laid_out(
    weak: Buckets, scored: Sequence[bool], source: Stream
) -> tuple[list[int], list[list[int]]]:
    """Order buckets by lot; items without a score go to one end of theirs, by a coin.

    Returns:
        The order, the items that scores are to sort, and those without.
    """
    order: list[int] = []
    tied: list[list[int]] = []
    for bucket in weak:
        if len(bucket) < TIED:
            order += bucket
            continue
        lot = [bucket[place] for place in permutation(source, len(bucket)).tolist()]
        bare = [item for item in lot if not scored[item]]
        rated = [item for item in lot if scored[item]]
        order += bare + rated if below(source, 2) else rated + bare
        if len(rated) >= TIED:
            tied.append(rated)
    return order, tied


def _part(ratings: Ratings, reviewers: Sequence[int]) -> Ratings:
    """Keep some reviewers, by codes, and all items, without weights."""
    others = ~np.isin(ratings.reviewer_codes, reviewers)
    part = ratings.without(np.flatnonzero(others))
    part.weights = None
    return part
