"""Algorithms 1 and 3: what the comparisons leave open is settled by biased coins.

Algorithm 1. Two neighbours of an ordering that no reviewer put in order may change
places without breaking any comparison. A coin on one score of each, by two different
reviewers, decides; then all scores of these reviewers are retired, so that every coin
is fresh.

Algorithm 3. Twins stand above the same items and below the same items, so either order
of them is equally likely given the comparisons. Any ordinal ranking is first arranged
anew so that what is above a pair of twins stands before it and what is below stands
after it, which never makes it worse (Lemma 2); then a coin on one score of each twin,
by two different reviewers, decides which of them takes the better place.

Which items and reviewers are used depends on the comparisons and on chance, never on
the size of a score. So they are chosen first, and all coins are flipped afterwards.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from evenhand.ab.weights import GapWeight, odd, toss
from evenhand.posets.graph import Comparisons, neighbours
from evenhand.posets.orderings import closure
from evenhand.posets.orderings import twins as twin_classes
from evenhand.randomness import Stream, uniforms

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from evenhand.arrays import Codes
    from evenhand.randomness import Chance
    from evenhand.ratings import Ratings

    Items = Sequence[int] | Codes
    Groups = Sequence[Sequence[int]]
    # From a position, or a pair of items, to what picks one of several there.
    Picks = Callable[[Any], Callable[[int], int]]
    Program = Callable[[Chance], tuple[int, ...]]

Score = TypeVar("Score", float, Fraction)
Pick = Callable[[int], int]
Pair = tuple[int, int]
# Two items in their order, and the reviewer of the first and that of the second.
Duel = tuple[Pair, Pair]


class Flip(NamedTuple):
    """One coin that settled the order of two items.

    Attributes:
        items: Codes of the two items, in the order they had before.
        gap: Score of the first minus score of the second.
        p_first: Probability that the first one stays first.
        kept: Whether it did.
        reviewers: Codes of the reviewers whose scores were used, by turns for the first
            and for the second.
        anchors: For each score pair the codes of the items that both reviewers scored
            and whose mean score was taken off first; empty if none was.
    """

    items: Pair
    gap: float
    p_first: float
    kept: bool
    reviewers: tuple[int, ...]
    anchors: tuple[tuple[int, ...], ...] = ()


def scan_from(scan: str, pick: Pick) -> tuple[int, int]:
    """Return where a scan begins and how it moves on from neighbours not free.

    "paper" looks at every position in turn. "parity" looks at the first and second, the
    third and fourth, ... items only, or leaves out the first item, by a fair coin; so
    which neighbours are looked at does not depend on the ordering.

    Examples:
        >>> scan_from("paper", lambda count: 0)
        (0, 1)
    """
    return (0, 1) if scan == "paper" else (pick(2), 2)


def flip_neighbours(
    ratings: Ratings,
    comparisons: Comparisons,
    order: Codes,
    weight: GapWeight,
    source: Stream,
    *,
    scan: tuple[int, int] = (0, 1),
) -> tuple[Codes, tuple[Flip, ...]]:
    """Settle the free neighbours of an ordering by coins on their scores.

    Args:
        ratings: Scores.
        comparisons: Who was put above whom.
        order: A topological ordering of the comparisons, item codes best first.
        weight: How a gap in scores weighs.
        source: Where chance comes from; two uniforms for each position.
        scan: What `scan_from` returns.

    Returns:
        The new ordering and the coins, by position.

    Raises:
        RatingsError: If there are no scores.

    References:
        Wang and Shah (2019), Algorithm 1 and Appendix C.

    Examples:
        >>> from evenhand.randomness import stream
        >>> from evenhand.ab.weights import rational
        >>> from evenhand.posets.graph import comparisons
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 4])
        >>> _, coins = flip_neighbours(ratings, comparisons(ratings), np.array([0, 1]),
        ...                            rational(), stream(7, "flips"))
        >>> coins[0].items, coins[0].p_first
        ((0, 1), 0.125)
    """
    picks, coins = uniforms(source, (len(order), 2)).T
    free, before = _free(comparisons, order.tolist()), order.tolist()
    people = neighbours(len(order), ratings.item_codes, ratings.reviewer_codes)
    duels = choose_flips(free, people, before, scan, lambda at: pick_by(picks[at]))
    scores = scores_of(ratings, [reviewer for _, crew in duels for reviewer in crew])
    place = np.argsort(order)

    def keeps(pair: Pair, p: float, marks: tuple[float, float]) -> bool:
        return toss(weight, float(coins[place[pair[0]]]), p, marks, source)

    return settle(order, duels, scores, law_of(weight), keeps)


def _free(c: Comparisons, order: Sequence[int]) -> list[bool]:
    """Say for each two neighbours of an order whether nobody put them in order."""
    level = np.repeat(np.arange(len(c.level_reviewer)), np.diff(c.level_start))
    place = np.argsort(order)[c.level_items]
    # No reviewer's last place is next to the first one of the reviewer after.
    keys = c.level_reviewer[level] * (c.n_items + 1) + place
    rows = np.argsort(keys)
    near = (np.diff(keys[rows]) == 1) & (np.diff(level[rows]) != 0)
    free = np.ones(len(order), dtype=np.bool_)
    free[place[rows[:-1][near]]] = False
    return free.tolist()


def law_of(weight: GapWeight) -> Callable[[float], float]:
    """Return the probability of a coin on a gap in scores.

    Examples:
        >>> from evenhand.ab.weights import rational
        >>> law_of(rational())(-3.0)
        0.125
    """
    return cache(lambda gap: float(odd(weight, np.array([gap]))[0]))


def pick_by(unit: float) -> Pick:
    """Return what picks one of several by a uniform.

    Examples:
        >>> pick_by(0.5)(3)
        1
    """
    return lambda count: int(unit * count)


def clip_to_float(value: Fraction, most: float = sys.float_info.max) -> float:
    """Return a fraction, which may be beyond all floats, as a float.

    Examples:
        >>> clip_to_float(Fraction(5, 2)), clip_to_float(Fraction(5), 2.0)
        (2.5, 2.0)
    """
    return float(min(max(value, Fraction(-most)), Fraction(most)))


def relative(marks: Mapping[int, Any], item: int, anchors: Sequence[int]) -> Fraction:
    """Return a reviewer's score of an item less the mean that they gave to anchors.

    Examples:
        >>> relative({0: 5.0, 1: 4.0, 2: 1.0}, 0, [1, 2])
        Fraction(5, 2)
    """
    near = [Fraction(marks[anchor]) for anchor in anchors]
    return Fraction(marks[item]) - sum(near, Fraction(0)) / max(len(near), 1)


def scores_of(ratings: Ratings, by: Sequence[int] | None = None) -> dict[Pair, float]:
    """Return the score of each reviewer and item, or of these reviewers only.

    Raises:
        RatingsError: If there are no scores.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> scores_of(Ratings(["a", "b"], ["y", "x"], [5, 4]))
        {(0, 1): 5.0, (1, 0): 4.0}
    """
    reviewers, scores = ratings.reviewer_codes, ratings.scores
    kept = np.isin(reviewers, reviewers if by is None else by)
    rows = zip(reviewers[kept].tolist(), ratings.item_codes[kept].tolist(), strict=True)
    return dict(zip(rows, scores[kept].tolist(), strict=True))


def bundles_of(scores: Mapping[Pair, Score]) -> dict[int, dict[int, Score]]:
    """Collect what each reviewer gave to which item.

    Examples:
        >>> bundles_of({(0, 1): 5.0, (0, 2): 4.0})
        {0: {1: 5.0, 2: 4.0}}
    """
    bundles: dict[int, dict[int, Score]] = {}
    for (reviewer, item), score in scores.items():
        bundles.setdefault(reviewer, {})[item] = score
    return bundles


def settle(
    order: Items,
    duels: Iterable[Duel],
    scores: Mapping[Pair, Score],
    law: Callable[[Score], Any],
    keeps: Callable[[Pair, Any, tuple[Score, Score]], bool],
) -> tuple[Codes, tuple[Flip, ...]]:
    """Flip a coin for each pair of items, which change places unless it keeps them.

    Args:
        order: Item codes, best first.
        duels: Two items in their order, the reviewer of the first and of the second.
        scores: From (reviewer, item) to the score.
        law: From a gap in scores to the probability that the first stays first.
        keeps: Flips the coin of two items, with that probability and their scores.

    Returns:
        The new order, and the coins.

    Examples:
        >>> after, coins = settle(
        ...     [0, 1], [((0, 1), (0, 1))], {(0, 0): 1.0, (1, 1): 4.0},
        ...     lambda gap: 0.125, lambda pair, p, scores: 0.2 < p)
        >>> after.tolist(), coins[0].gap, coins[0].p_first
        ([1, 0], -3.0, 0.125)
    """
    after, coins = np.array(order, dtype=np.int64), list[Flip]()
    place = np.argsort(after)
    for (a, b), (r, s) in duels:
        marks = scores[r, a], scores[s, b]
        gap: Any = marks[0] - marks[1]
        p = law(gap)
        coins.append(Flip((a, b), gap, p, bool(keeps((a, b), p, marks)), (r, s)))
        if not coins[-1].kept:
            after[place[[a, b]]] = b, a
    return after, tuple(coins)


def flips_program(
    comparisons: Comparisons,
    scores: Mapping[Pair, Score],
    order: Sequence[int],
    first: Callable[[Score], Fraction],
    *,
    scan: str = "paper",
) -> Program:
    """Return Algorithm 1 as a procedure whose exact law can be worked out.

    Args:
        comparisons: Who was put above whom.
        scores: From (reviewer, item) to the score.
        order: A topological ordering, item codes best first.
        first: From the gap in scores to the probability that the first of two
            neighbours stays first.
        scan: "paper" or "parity".

    Returns:
        A procedure for `outcomes`, with the new ordering as its result.

    Examples:
        >>> from evenhand.randomness import outcomes
        >>> from evenhand.posets.graph import from_edges
        >>> scores = {(0, 0): Fraction(1), (1, 1): Fraction(3)}
        >>> outcomes(flips_program(
        ...     from_edges(2, [], []), scores, [0, 1], lambda gap: (3 + gap) / 6))
        {(0, 1): Fraction(1, 6), (1, 0): Fraction(5, 6)}
    """
    people, free = people_of(scores, comparisons.n_items), _free(comparisons, order)

    def program(chance: Chance) -> tuple[int, ...]:
        scanned = scan_from(scan, chance.pick)
        duels = choose_flips(free, people, order, scanned, lambda _: chance.pick)
        after, _ = settle(order, duels, scores, first, lambda _, p, __: chance.coin(p))
        return tuple(after.tolist())

    return program


def choose_flips(
    free: Sequence[bool], people: Groups, order: Sequence[int], scan: Pair, picks: Picks
) -> list[Duel]:
    """Choose the neighbours that a coin will settle, and whose scores it uses.

    Args:
        free: For each position whether nobody put its item and the next in order.
        people: Reviewers of each item, increasing.
        order: A topological ordering, item codes best first.
        scan: Position of the first two neighbours, and how far to go on from two that
            are not free.
        picks: From a position to what picks one of several there.

    Returns:
        Each two neighbours, with the reviewer of the first and that of the second.

    Examples:
        >>> choose_flips([True], [[4, 5], [5]], [0, 1], (0, 1), lambda _: lambda _: 0)
        [((0, 1), (4, 5))]
    """
    retired: set[int] = set()
    duels: list[Duel] = []
    position, step = scan
    while position + 1 < len(order):
        crew, (upper, lower) = None, order[position : position + 2]
        if free[position]:
            sides = (without(people[item], retired) for item in (upper, lower))
            crew = pick_pair(picks(position), *sides)
        if crew:
            retired.update(crew)
            duels.append(((upper, lower), crew))
        position += 2 if crew else step
    return duels


def pick_pair(pick: Pick, ones: Sequence[int], others: Sequence[int]) -> Pair | None:
    """Pick one pair of different reviewers, all equally likely; None if there is none.

    Pairs are numbered by the first reviewer, then by the second.

    Examples:
        >>> pick_pair(lambda count: count - 1, [1, 2], [2, 3])
        (2, 3)
    """
    common = set(ones).intersection(others)
    count = len(ones) * len(others) - len(common)
    if count == 0:
        return None
    number = pick(count)
    for first in ones:
        partners = len(others) - (first in common)
        if number < partners:
            break
        number -= partners
    return first, without(others, (first,))[number]


def without(people: Sequence[int], excluded: Collection[int]) -> list[int]:
    """List the reviewers who are not among some.

    Examples:
        >>> without([1, 2, 3], {2})
        [1, 3]
    """
    return [reviewer for reviewer in people if reviewer not in excluded]


def people_of(scores: Mapping[Pair, object], n_items: int) -> list[list[int]]:
    """List the reviewers of each item, increasing.

    Examples:
        >>> people_of({(3, 0): 1.0, (2, 0): 5.0}, 2)
        [[2, 3], []]
    """
    people: list[list[int]] = [[] for _ in range(n_items)]
    for reviewer, item in sorted(scores):
        people[item].append(reviewer)
    return people


def rearrange(order: Items, above: Items, pair: Items, below: Items) -> Codes:
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


def choose_twins(classes: Groups, reviewers: Groups, pairs: str) -> list[Pair]:
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
        remaining = list(members)
        while remaining:
            item = remaining.pop(0)
            for place, twin in enumerate(remaining):
                if pick_pair(pick_by(0), reviewers[item], reviewers[twin]):
                    chosen.append((item, remaining.pop(place)))
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
    by: str = "closure",
) -> tuple[Codes, tuple[Flip, ...]]:
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
        The new ranking and the coins.

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
    scores = scores_of(ratings)
    people = people_of(scores, len(order))
    chosen = choose_twins(twin_classes(comparisons, by=by), people, pairs)
    after = _rearrange(comparisons, order, chosen)
    picks, coins = uniforms(source, (len(order), 2)).T
    now = after.tolist()
    duels = _twin_duels(now, chosen, people, lambda pair: pick_by(picks[min(pair)]))

    def keeps(pair: Pair, p: float, marks: tuple[float, float]) -> bool:
        return toss(weight, float(coins[min(pair)]), p, marks, source)

    return settle(after, duels, scores, law_of(weight), keeps)


def _twin_duels(
    order: Sequence[int], chosen: Sequence[Pair], people: Groups, picks: Picks
) -> list[Duel]:
    """Put twins in their order, and choose whose scores settle them."""
    place = {item: at for at, item in enumerate(order)}
    duels: list[Duel] = []
    for pair in chosen:
        upper, lower = sorted(pair, key=place.__getitem__)
        # Twins are chosen so that there are two reviewers.
        crew = pick_pair(picks(pair), people[upper], people[lower])
        duels += [((upper, lower), crew)] if crew else []
    return duels


def twins_program(
    comparisons: Comparisons,
    scores: Mapping[Pair, Score],
    order: Sequence[int],
    first: Callable[[Score], Fraction],
    *,
    pairs: str = "all",
    by: str = "closure",
) -> Program:
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
    reviewers = people_of(scores, comparisons.n_items)
    chosen = choose_twins(twin_classes(comparisons, by=by), reviewers, pairs)
    start = np.array(order, dtype=np.int64)
    arranged = _rearrange(comparisons, start, chosen).tolist()

    def program(chance: Chance) -> tuple[int, ...]:
        duels = _twin_duels(arranged, chosen, reviewers, lambda _: chance.pick)
        after, _ = settle(
            arranged, duels, scores, first, lambda _, p, __: chance.coin(p)
        )
        return tuple(after.tolist())

    return program


def _rearrange(c: Comparisons, order: Codes, chosen: Sequence[Pair]) -> Codes:
    if not chosen:
        return order
    reach = closure(c)
    for pair in chosen:
        above = np.flatnonzero(reach[:, pair[0]])
        order = rearrange(order, above, pair, np.flatnonzero(reach[pair[0]]))
    return order
