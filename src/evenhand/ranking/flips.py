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

import itertools
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from evenhand.ab.weights import GapWeight, odd
from evenhand.posets.graph import Comparisons, compared
from evenhand.posets.orderings import closure
from evenhand.posets.orderings import twins as twin_classes
from evenhand.randomness import HALF, Stream, below, uniforms

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.arrays import Codes
    from evenhand.randomness import Chance
    from evenhand.ratings import Ratings


Score = TypeVar("Score", float, Fraction)
Pick = Callable[[int], int]
Pair = tuple[int, int]


class Coin(NamedTuple):
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


def scan_from(scan: str, source: Stream) -> tuple[int, int]:
    """Return where a scan begins and how it moves on from neighbours not free.

    "paper" looks at every position in turn. "parity" looks at the first and second, the
    third and fourth, ... items only, or leaves out the first item, by a fair coin; so
    which neighbours are looked at does not depend on the ordering.

    Examples:
        >>> from evenhand.randomness import stream
        >>> scan_from("paper", stream(7, "scan"))
        (0, 1)
    """
    return (0, 1) if scan == "paper" else (below(source, 2), 2)


def flip_neighbours(
    ratings: Ratings,
    order: Codes,
    weight: GapWeight,
    source: Stream,
    *,
    scan: tuple[int, int] = (0, 1),
) -> tuple[Codes, tuple[Coin, ...]]:
    """Settle the free neighbours of an ordering by coins on their scores.

    Args:
        ratings: Scores.
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
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 4])
        >>> _, coins = flip_neighbours(
        ...     ratings, np.array([0, 1]), rational(), stream(7, "flips"))
        >>> coins[0].items, coins[0].p_first
        ((0, 1), 0.125)
    """
    ratings.scores  # noqa: B018 - refuses ranks and comparisons in words
    units = uniforms(source, (len(order), 2))
    chosen = choose_flips(
        _free_neighbours(ratings, order),
        people_of(ratings),
        order.tolist(),
        scan,
        lambda position: pick_by(units[position, 0]),
    )
    positions = np.array([position for position, _ in chosen], dtype=np.int64)
    items = np.stack([order[positions], order[positions + 1]], axis=1)
    crews = [crew for _, crew in chosen]
    coins = flip_coins(ratings, items, crews, weight, units[positions, 1])
    return _swapped(order, items, coins), coins


def pick_by(unit: float) -> Pick:
    """Return what picks one of several by a uniform.

    Examples:
        >>> pick_by(0.5)(3)
        1
    """
    return lambda count: int(unit * count)


def clipped(value: Fraction, most: float = sys.float_info.max) -> float:
    """Return a fraction, which may be beyond all floats, as a float.

    Examples:
        >>> clipped(Fraction(5, 2)), clipped(Fraction(5), 2.0)
        (2.5, 2.0)
    """
    return float(min(max(value, Fraction(-most)), Fraction(most)))


def _swapped(order: Codes, items: Codes, coins: tuple[Coin, ...]) -> Codes:
    """Change the places of each two items that a coin did not keep."""
    moved = items[[not coin.kept for coin in coins]]
    after = order.copy()
    after[np.argsort(order)[moved]] = moved[:, ::-1]
    return after


def people_of(ratings: Ratings) -> list[list[int]]:
    """List the reviewers of each item, increasing.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> people_of(Ratings(["a", "a", "b"], [1, 2, 1], [5, 4, 3]))
        [[0, 1], [0]]
    """
    starts, rows = ratings.by_item()
    people = ratings.reviewer_codes[rows].tolist()
    return [people[one:end] for one, end in itertools.pairwise(starts.tolist())]


def rows_of(ratings: Ratings) -> Iterator[tuple[int, int, float]]:
    """Yield the reviewer, the item and the score of each rating.

    Raises:
        RatingsError: If there are no scores.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> list(rows_of(Ratings(["a", "b"], ["y", "x"], [5, 4])))
        [(0, 1, 5.0), (1, 0, 4.0)]
    """
    columns = (ratings.reviewer_codes, ratings.item_codes, ratings.scores)
    return zip(*(column.tolist() for column in columns), strict=True)


def bundles_of(rows: Iterable[tuple[int, int, Score]]) -> dict[int, dict[int, Score]]:
    """Collect what each reviewer gave to which item.

    Examples:
        >>> bundles_of([(0, 1, 5.0), (0, 2, 4.0)])
        {0: {1: 5.0, 2: 4.0}}
    """
    bundles: dict[int, dict[int, Score]] = {}
    for reviewer, item, score in rows:
        bundles.setdefault(reviewer, {})[item] = score
    return bundles


def _free_neighbours(ratings: Ratings, order: Codes) -> list[bool]:
    """Say for each two neighbours of an order whether nobody put them in order."""
    places = np.argsort(order)[ratings.item_codes]
    # No reviewer's last place is next to the first one of the reviewer after.
    keys = ratings.reviewer_codes * (ratings.n_items + 1) + places
    rows = np.argsort(keys)
    near = np.flatnonzero(np.diff(keys[rows]) == 1)
    values = ratings.preference[rows]
    ordered = near[values[near] != values[near + 1]]
    free = np.ones(len(order), dtype=np.bool_)
    free[places[rows[ordered]]] = False
    return free.tolist()


def flip_coins(
    ratings: Ratings,
    items: Codes,
    crews: Sequence[Pair],
    weight: GapWeight,
    units: NDArray[np.float64],
) -> tuple[Coin, ...]:
    """Flip a coin for each pair of items.

    Args:
        ratings: Scores.
        items: Two item codes a row, in their order.
        crews: The reviewer of the first item and that of the second, for each pair.
        weight: How a gap in scores weighs.
        units: A uniform for each pair.

    Examples:
        >>> from evenhand.ab.weights import rational
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 4])
        >>> flip_coins(ratings, np.array([[0, 1]]), [(0, 1)], rational(), [0.2])
        (Coin(items=(0, 1), gap=-3.0, p_first=0.125, kept=False, reviewers=(0, 1), \
anchors=()),)
    """
    _, rows = ratings.by_item()
    keys = ratings.item_codes[rows] * ratings.n_reviewers + ratings.reviewer_codes[rows]
    people = np.array(crews, dtype=np.int64).reshape(-1, 2)
    found = np.searchsorted(keys, items * ratings.n_reviewers + people)
    scores = ratings.scores[rows[found]]
    with np.errstate(over="ignore"):
        gaps = scores[:, 0] - scores[:, 1]
    chances = odd(weight, gaps)
    kept = (units < chances).tolist()
    columns = items.tolist(), gaps.tolist(), chances.tolist(), kept, crews
    return tuple(
        Coin((pair[0], pair[1]), *rest) for pair, *rest in zip(*columns, strict=True)
    )


def flips_program(
    comparisons: Comparisons,
    scores: Mapping[tuple[int, int], Score],
    order: Sequence[int],
    first: Callable[[Score], Fraction],
    *,
    scan: str = "paper",
) -> Callable[[Chance], tuple[int, ...]]:
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
    people = reviewers_of(scores, comparisons.n_items)
    free = [not compared(comparisons, *pair) for pair in itertools.pairwise(order)]

    def program(chance: Chance) -> tuple[int, ...]:
        start, step = 0, 1
        if scan == "parity":
            start, step = (0 if chance.coin(HALF) else 1), 2
        scanned = (start, step)
        chosen = choose_flips(free, people, order, scanned, lambda _: chance.pick)
        after = list(order)
        for position, (r, s) in chosen:
            a, b = order[position], order[position + 1]
            if not chance.coin(first(scores[r, a] - scores[s, b])):
                after[position], after[position + 1] = b, a
        return tuple(after)

    return program


def choose_flips(
    free: Sequence[bool],
    people: Sequence[Sequence[int]],
    order: Sequence[int],
    scan: tuple[int, int],
    picks: Callable[[int], Pick],
) -> list[tuple[int, Pair]]:
    """Choose the neighbours that a coin will settle, and whose scores it uses.

    Args:
        free: For each position whether nobody put its item and the next in order.
        people: Reviewers of each item, increasing.
        order: A topological ordering, item codes best first.
        scan: Position of the first two neighbours, and how far to go on from two that
            are not free.
        picks: From a position to what picks one of several there.

    Returns:
        Position of the first of each two neighbours, its reviewer and that of the
        second.

    Examples:
        >>> choose_flips([True], [[4, 5], [5]], [0, 1], (0, 1), lambda _: lambda _: 0)
        [(0, (4, 5))]
    """
    retired: set[int] = set()
    chosen = []
    position, step = scan
    while position + 1 < len(order):
        crew = None
        if free[position]:
            pair = order[position : position + 2]
            sides = [without(people[item], retired) for item in pair]
            crew = pick_pair(picks(position), *sides)
        if crew:
            retired.update(crew)
            chosen.append((position, crew))
        position += 2 if crew else step
    return chosen


def pick_pair(pick: Pick, ones: Sequence[int], others: Sequence[int]) -> Pair | None:
    """Pick one pair of different reviewers, all equally likely; None if there is none.

    Pairs are numbered by the first reviewer, then by the second.

    Examples:
        >>> pick_pair(lambda count: count - 1, [1, 2], [2, 3])
        (2, 3)
    """
    both = set(ones).intersection(others)
    count = len(ones) * len(others) - len(both)
    if count == 0:
        return None
    number = pick(count)
    for one in ones:
        partners = len(others) - (one in both)
        if number < partners:
            break
        number -= partners
    return one, without(others, (one,))[number]


def without(people: Sequence[int], some: Collection[int]) -> list[int]:
    """List the reviewers who are not among some.

    Examples:
        >>> without([1, 2, 3], {2})
        [1, 3]
    """
    return [who for who in people if who not in some]


def reviewers_of(
    scores: Mapping[tuple[int, int], object], n_items: int
) -> list[list[int]]:
    """List the reviewers of each item, increasing.

    Examples:
        >>> reviewers_of({(3, 0): 1.0, (2, 0): 5.0}, 2)
        [[2, 3], []]
    """
    reviewers: list[list[int]] = [[] for _ in range(n_items)]
    for reviewer, item in sorted(scores):
        reviewers[item].append(reviewer)
    return reviewers


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
                if pick_pair(pick_by(0), reviewers[one], reviewers[other]):
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
    by: str = "closure",
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
    codes = np.array(chosen, dtype=np.int64)
    first = np.argsort(np.argsort(after)[codes], axis=1)
    items = np.take_along_axis(codes, first, axis=1)
    # Twins are chosen so that there are two reviewers.
    crews = [
        crew
        for (one, other), unit in zip(
            items.tolist(), units[codes[:, 0], 0], strict=True
        )
        if (crew := pick_pair(pick_by(unit), people[one], people[other]))
    ]
    coins = flip_coins(ratings, items, crews, weight, units[codes[:, 0], 1])
    return _swapped(after, items, coins), coins


def twins_program(
    comparisons: Comparisons,
    scores: Mapping[tuple[int, int], Score],
    order: Sequence[int],
    first: Callable[[Score], Fraction],
    *,
    pairs: str = "all",
    by: str = "closure",
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
