"""`safe` on contradictory data: some reviewers make the groups, the others break ties.

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

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand.calibration.bradley_terry import PRIOR_PRECISION, bradley_terry
from evenhand.posets.contradictions import find_contradiction
from evenhand.posets.graph import comparisons
from evenhand.randomness import Stream, below, permutation, stream
from evenhand.ranking.ties import NOISE, TIED, TieBreak, break_ties
from evenhand.ratings import Ratings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.arrays import Codes

    Buckets = tuple[tuple[int, ...], ...]

# Measured on simulated noisy ratings: more for the order is better up to here.
SHARE = 0.8
NEAR = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class SplitOrder:
    """An order by some reviewers, with ties broken by the others.

    Attributes:
        order: Item codes, best first.
        weak: The weak order: all items in buckets, best first, items by code.
        ties: How ties were broken, with codes of reviewers as in the ratings.
        ordered: Codes of the reviewers who made the weak order.
        breakers: Codes of the reviewers whose scores broke its ties.
    """

    order: Codes
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
        draw._replace(reviewers=tuple(second[who] for who in draw.reviewers))
        for draw in ties.draws
    )
    return SplitOrder(
        order=ties.order,
        weak=weak,
        ties=replace(ties, draws=draws),
        ordered=first,
        breakers=second,
    )


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
        >>> part = Ratings.from_comparisons(["x", "y"], ["y", "z"])
        >>> weak_order(part), weak_order(part, near=2.0)
        (((0,), (1,), (2,)), ((0, 1, 2),))
    """
    fit = bradley_terry(part)
    values = fit.estimates.tolist()
    own = np.zeros(len(values))
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
        rest = [item for item in lot if scored[item]]
        order += bare + rest if below(source, 2) else rest + bare
        if len(rest) >= TIED:
            tied.append(rest)
    return order, tied


def _part(ratings: Ratings, reviewers: Sequence[int]) -> Ratings:
    """Keep some reviewers, by codes, and all items."""
    rows = np.isin(ratings.reviewer_codes, reviewers)
    return Ratings(
        ratings.reviewer_codes[rows],
        ratings.item_codes[rows],
        ratings.preference[rows],
        all_items=range(ratings.n_items),
    )
