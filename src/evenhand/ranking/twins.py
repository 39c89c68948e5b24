"""Algorithm 3: items that the comparisons cannot tell apart are settled by coins.

Twins stand above the same items and below the same items, so either order of them is
equally likely given the comparisons. Any ordinal ranking is first re-arranged so that
what is above a pair of twins stands before it and what is below stands after it, which
never makes it worse (Lemma 2); then a coin on one score of each twin, by two different
reviewers, decides which of them takes the better place.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Literal

import numpy as np

from evenhand.posets.reach import closure
from evenhand.posets.reach import twins as twin_classes
from evenhand.randomness import Stream, uniforms
from evenhand.ranking.flips import (
    Coin,
    Pair,
    Score,
    flip_coins,
    people_of,
    pick_pair,
    reviewers_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from fractions import Fraction

    from evenhand.ab.weights import GapWeight
    from evenhand.arrays import Codes
    from evenhand.posets.graph import Comparisons
    from evenhand.randomness import Chance
    from evenhand.ratings import Ratings


By = Literal["direct", "closure"]


def rearrange(
    order: Sequence[int] | Codes,
    above: Sequence[int] | Codes,
    pair: Sequence[int] | Codes,
    below: Sequence[int] | Codes,
) -> Codes:
    """Put what is above a pair before it and what is below after it.

    The items of the three groups share out the places that they have between them, and
    keep their order within each group; all other items stay where they are.

    Args:
        order: Any ranking of all items, best first.
        above: Items that the comparisons put above the pair.
        pair: The two twins.
        below: Items that the comparisons put below the pair.

    Returns:
        The new ranking.

    References:
        Wang and Shah (2019), Lemma 2.

    Examples:
        >>> rearrange([4, 0, 3, 1, 2], above=[2], pair=[0, 1], below=[4]).tolist()
        [2, 0, 3, 1, 4]
    """
    before = np.asarray(order, dtype=np.int64)
    group = np.full(len(before), -1)
    for number, members in enumerate((above, pair, below)):
        group[np.asarray(members, dtype=np.int64)] = number
    places = np.flatnonzero(group[before] >= 0)
    moved = before[places]
    after = before.copy()
    after[places] = moved[np.argsort(group[moved], kind="stable")]
    return after


def choose_twins(
    classes: Sequence[Sequence[int]],
    reviewers: Sequence[Sequence[int]],
    pairs: str,
) -> list[Pair]:
    """Choose disjoint pairs of twins that two different reviewers scored.

    Args:
        classes: Groups of items that are twins of each other, codes increasing.
        reviewers: Reviewers of each item.
        pairs: "one" for the first pair in index order, "all" for as many as are found
            by going through each group in index order.

    Returns:
        The pairs in index order, smaller code first.

    Examples:
        >>> choose_twins([(0, 1, 3), (2, 4)], [[7], [7], [8], [9], [9]], "all")
        [(0, 3), (2, 4)]
    """
    chosen = []
    for members in classes:
        left = list(members)
        while left:
            one = left.pop(0)
            for place, other in enumerate(left):
                if _two_reviewers(reviewers[one], reviewers[other]):
                    chosen.append((one, left.pop(place)))
                    break
    return sorted(chosen)[: 1 if pairs == "one" else None]


def settle_twins(
    ratings: Ratings,
    comparisons: Comparisons,
    order: Codes,
    weight: GapWeight,
    source: Stream,
    *,
    pairs: str = "all",
    by: By = "closure",
) -> tuple[Codes, tuple[Coin, ...]]:
    """Re-arrange any ranking around twins, and settle them by coins on their scores.

    Reviewers are not retired. Twins are chosen by comparisons alone, and pairs that
    share a reviewer who ordered them strictly are never interleaved, so that each coin
    counts by itself in Kendall tau and in footrule.

    Args:
        ratings: Scores.
        comparisons: Who was put above whom.
        order: Any ranking made without a look at the scores, item codes best first.
        weight: How a gap in scores weighs.
        source: Where chance comes from; two uniforms for each item.
        pairs: "one" pair of twins, as printed in the paper, or "all" disjoint ones.
        by: Twins by "direct" comparisons, as printed, or by their "closure".

    Returns:
        The new ranking and the coins; the ranking is `order` itself without twins.

    Raises:
        RatingsError: If there are no scores.

    References:
        Wang and Shah (2019), Algorithm 3 and Theorem 7.

    Examples:
        >>> from evenhand.randomness import stream
        >>> from evenhand.ab.weights import rational
        >>> from evenhand.posets.graph import comparisons
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 4])
        >>> _, coins = settle_twins(ratings, comparisons(ratings), np.array([1, 0]),
        ...                         rational(), stream(7, "twins"))
        >>> coins[0].items, coins[0].p_first
        ((1, 0), 0.875)
    """
    ratings.scores  # noqa: B018 - refuses ranks and comparisons in words
    people = people_of(ratings)
    chosen = choose_twins(twin_classes(comparisons, by=by), people, pairs)
    units = uniforms(source, (len(order), 2))
    if not chosen:
        return order, ()
    after = _rearranged(comparisons, order, chosen)
    place = np.argsort(after)
    codes = np.array(chosen, dtype=np.int64)
    items = np.take_along_axis(codes, np.argsort(place[codes], axis=1), axis=1)
    crews = []
    for (one, other), unit in zip(items.tolist(), units[codes[:, 0], 0], strict=True):
        pick = functools.partial(_scaled, unit)
        # Twins are chosen so that there are two reviewers.
        crews += [pair] if (pair := pick_pair(pick, people[one], people[other])) else []
    coins = flip_coins(ratings, items, crews, weight, units[codes[:, 0], 1])
    swapped = items[[not coin.kept for coin in coins]]
    after[place[swapped]] = swapped[:, ::-1]
    return after, coins


def twins_program(
    comparisons: Comparisons,
    scores: Mapping[tuple[int, int], Score],
    order: Sequence[int],
    first: Callable[[Score], Fraction],
    *,
    pairs: str = "all",
    by: By = "closure",
) -> Callable[[Chance], tuple[int, ...]]:
    """Return Algorithm 3 as a procedure whose exact law can be worked out.

    Args:
        comparisons: Who was put above whom.
        scores: From (reviewer, item) to the score.
        order: Any ranking, item codes best first.
        first: From the gap in scores to the probability that the first of two twins
            stays first.
        pairs: "one" or "all".
        by: "direct" or "closure".

    Returns:
        A procedure for `outcomes`, with the new ranking as its result.

    Examples:
        >>> from fractions import Fraction
        >>> from evenhand.randomness import outcomes
        >>> from evenhand.posets.graph import from_edges
        >>> scores = {(0, 0): Fraction(1), (1, 1): Fraction(3)}
        >>> outcomes(twins_program(
        ...     from_edges(2, [], []), scores, [0, 1], lambda gap: (3 + gap) / 6))
        {(0, 1): Fraction(1, 6), (1, 0): Fraction(5, 6)}
    """
    reviewers = reviewers_of(scores, comparisons.n_items)
    chosen = choose_twins(twin_classes(comparisons, by=by), reviewers, pairs)
    start = np.array(order, dtype=np.int64)
    arranged = tuple(_rearranged(comparisons, start, chosen).tolist())

    def program(chance: Chance) -> tuple[int, ...]:
        after = list(arranged)
        for pair in chosen:
            i, j = sorted(map(arranged.index, pair))
            a, b = arranged[i], arranged[j]
            crew = pick_pair(chance.pick, reviewers[a], reviewers[b])
            if crew and not chance.coin(first(scores[crew[0], a] - scores[crew[1], b])):
                after[i], after[j] = b, a
        return tuple(after)

    return program


def _scaled(unit: float, count: int) -> int:
    return int(unit * count)


def _two_reviewers(ones: Sequence[int], others: Sequence[int]) -> bool:
    return bool(ones) and bool(others) and len({*ones, *others}) > 1


def _rearranged(
    comparisons: Comparisons, order: Codes, chosen: Sequence[Pair]
) -> Codes:
    if not chosen:
        return order
    reach = closure(comparisons)
    for pair in chosen:
        above = np.flatnonzero(reach[:, pair[0]])
        order = rearrange(order, above, pair, np.flatnonzero(reach[pair[0]]))
    return order
