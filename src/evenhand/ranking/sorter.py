"""Theorem K's sorter: free pairs are asked one by one, each of fresh reviewers.

Answers join the comparisons, so that each one also settles what follows from it. A
question takes the free pair that is most open given all that is known. Its answer is
the majority of an odd number of coins, each on one score of either item by two
reviewers who have not been used, and who are retired then.

Which pair, and whose scores, depends on the comparisons, on past answers and on chance,
never on the size of a score that was not used. So every answer is right with a
probability above 1/2 whatever the scales, and a ranking that asks k questions on its
way to one of T / 2**k orderings is right more often than any ordinal one.

Where two reviewers share other items, their scores are taken relative to the mean that
each gave to these (Theorem A): that is an increasing scale again, and without offsets.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from evenhand._randomness import Stream, below, uniforms
from evenhand.ab.weights import GapWeight, odd
from evenhand.errors import OptionError
from evenhand.posets.comparisons import Comparisons, chain_edges, from_edges
from evenhand.posets.orderings import all_orderings, topological_order
from evenhand.posets.reach import closure
from evenhand.ranking.flips import (
    Coin,
    Pair,
    Pick,
    Score,
    check_score_pairs,
    choose_crew,
    majority,
    people_of,
    reviewers_of,
    without,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand._outcomes import Chance
    from evenhand.ratings import Ratings

    Codes = NDArray[np.int64]
    Bundle = Mapping[int, float] | Mapping[int, Fraction]
    Bundles = Sequence[Bundle] | Mapping[int, Bundle]

Order = tuple[int, ...]

# The sorter keeps a table of all pairs and may go through it for each question.
SORTER_ITEMS = 1_000
# Posteriors are exact up to here; a factorial of more items is too large for a float.
COUNTED_ITEMS = 150
COUNTED_IDEALS = 5_000
# Reviewers of an item among whom a question looks for two that share other items.
LOOKED_AT = 12
# Posteriors that differ by less may be equal but for rounding.
ROUNDING = 1e-12


def sort_free_pairs(
    ratings: Ratings,
    comparisons: Comparisons,
    weight: GapWeight,
    source: Stream,
    *,
    score_pairs: int = 1,
    anchors: bool = True,
) -> tuple[Codes, tuple[Coin, ...]]:
    """Sort items by asking free pairs, each of fresh reviewers.

    The pair asked is the one whose posterior is nearest 1/2, by the number of orderings
    that put the one or the other first, up to 150 items and 5,000 order ideals; beyond
    that it is the pair nearest in items below less items above. Equal ones go by item
    codes. The guarantee is the same for either.

    Args:
        ratings: Scores.
        comparisons: Who was put above whom by them.
        weight: How a gap in scores weighs.
        source: Where chance comes from.
        score_pairs: How many coins, on different reviewers' scores, have a majority
            over an answer; an odd number. A pair with fewer fresh reviewers gets the
            largest odd number that was drawn.
        anchors: Prefer reviewers who share other items, and take scores relative to
            their mean. A weight with a declared range leaves this out, because
            relative scores may differ by more than the range.

    Returns:
        The ordering that respects all comparisons and answers, smallest codes first;
        and the questions in turn, the smaller code first.

    Raises:
        RatingsError: If there are no scores, or the comparisons contradict each other.
        OptionError: If score_pairs is not odd, or there are more than 1,000 items.

    Examples:
        >>> from evenhand._randomness import stream
        >>> from evenhand.ab.weights import rational
        >>> from evenhand.posets.comparisons import comparisons
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 4])
        >>> order, coins = sort_free_pairs(
        ...     ratings, comparisons(ratings), rational(), stream(7, "sorter"))
        >>> order.tolist(), coins[0].p_first
        ([1, 0], 0.125)
    """
    check_score_pairs(score_pairs)
    # Relative scores may differ by more than a declared range.
    related = anchors and weight.limit is None
    table = begin_table(ratings, comparisons, weight, score_pairs, anchors=related)
    coins = ask_pairs(
        table, source, lambda coin: bool(uniforms(source, 1)[0] < coin.p_first)
    )
    return _smallest(comparisons, coins), coins


def ask_pairs(
    table: Table, source: Stream, answer: Callable[[Coin], bool]
) -> tuple[Coin, ...]:
    """Ask until nothing is open that fresh reviewers could settle.

    If the answers are those of a true ranking, the product over all coins of p_first
    where it was kept and 1 - p_first where not is the probability that the sorter goes
    this way. So an experiment need not wait until all coins happen to be right.

    Args:
        table: What is known, and who is fresh.
        source: Where the choice of reviewers comes from.
        answer: From a coin to whether its first item is put above its second.
    """
    coins = []
    while (pair := table.question()) is not None:
        coin = table.coin(pair, functools.partial(below, source))
        coins.append(coin._replace(kept=answer(coin)))
        table.learn(coins[-1])
    return tuple(coins)


@dataclass(frozen=True, slots=True)
class Table:
    """What is known, and who is fresh; both change with every answer.

    The height of an item is the number of items below it less those above.
    """

    reach: NDArray[np.bool_]
    heights: Codes
    fresh: list[list[int]]
    bundles: list[dict[int, float]]
    weight: GapWeight
    score_pairs: int
    anchors: bool

    def question(self) -> Pair | None:
        """Return the pair that is most open, None if none can be asked."""
        counts = pair_counts(self.reach, COUNTED_IDEALS)
        if counts is None:
            return self._nearest()
        share = np.abs(counts - counts.T) / max(counts[0, -1] + counts[-1, 0], 1)
        share[self.reach | self.reach.T | ~_two_reviewers(self.fresh)] = np.inf
        if share.min() == np.inf:
            return None
        one, other = np.argwhere(share <= share.min() + ROUNDING)[0].tolist()
        return one, other

    def _nearest(self) -> Pair | None:
        """Find the pair that is nearest in height, the highest among equals."""
        order = np.argsort(-self.heights, kind="stable").tolist()
        order = [item for item in order if self.fresh[item]]
        heights, best, found = self.heights.tolist(), math.inf, None
        for place, one in enumerate(order):
            for later in range(place + 1, len(order)):
                other = order[later]
                if heights[one] - heights[other] >= best:
                    break
                people = {*self.fresh[one], *self.fresh[other]}
                if not self.reach[one, other] and len(people) > 1:
                    best = heights[one] - heights[other]
                    found = min(one, other), max(one, other)
                    break
            if best == 0:
                break
        return found

    def coin(self, items: Pair, pick: Pick) -> Coin:
        """Choose who answers, and work out the coin that is still to be flipped."""
        crew = choose_reviewers(
            items,
            [self.fresh[item] for item in items],
            self.bundles,
            pick,
            score_pairs=self.score_pairs,
            anchors=self.anchors,
        )
        found = gaps_of(self.bundles, items, crew, anchors=self.anchors)
        gaps = [_rounded(gap) for gap, _ in found]
        bases = tuple(base for _, base in found)
        return Coin(
            items=items,
            gap=max(gaps, key=abs),
            p_first=majority(odd(self.weight, np.array(gaps)).tolist()),
            kept=False,
            reviewers=tuple(crew),
            anchors=bases if any(bases) else (),
        )

    def learn(self, coin: Coin) -> None:
        """Retire reviewers, and add an answer with all that follows from it."""
        for reviewer in coin.reviewers:
            for item in self.bundles[reviewer]:
                self.fresh[item].remove(reviewer)
        upper, lower = coin.items if coin.kept else coin.items[::-1]
        above, under = self.reach[:, upper].copy(), self.reach[lower].copy()
        above[upper] = under[lower] = True
        block = np.ix_(above, under)
        new = ~self.reach[block]
        self.heights[above] += new.sum(axis=1)
        self.heights[under] -= new.sum(axis=0)
        self.reach[block] = True


def begin_table(
    ratings: Ratings,
    comparisons: Comparisons,
    weight: GapWeight,
    score_pairs: int,
    *,
    anchors: bool,
) -> Table:
    """Know what the comparisons say, with every reviewer fresh.

    Raises:
        RatingsError: If there are no scores, or the comparisons contradict each other.
        OptionError: If there are more than 1,000 items.
    """
    if comparisons.n_items > SORTER_ITEMS:
        raise OptionError(
            f"The sorter must have at most {SORTER_ITEMS:,} items, got "
            f"{comparisons.n_items:,}. Choose method 'flips'."
        )
    topological_order(comparisons)
    bundles: list[dict[int, float]] = [{} for _ in range(ratings.n_reviewers)]
    columns = (ratings.reviewer_codes, ratings.item_codes, ratings.scores)
    for reviewer, item, score in zip(
        *(column.tolist() for column in columns), strict=True
    ):
        bundles[reviewer][item] = score
    reach = closure(comparisons)
    return Table(
        reach,
        reach.sum(axis=1) - reach.sum(axis=0),
        people_of(ratings),
        bundles,
        weight,
        score_pairs,
        anchors,
    )


def _two_reviewers(fresh: Sequence[Sequence[int]]) -> NDArray[np.bool_]:
    """Say for all pairs of items whether two different reviewers are fresh."""
    some = np.array([bool(people) for people in fresh])
    only = np.array(
        [people[0] if len(people) == 1 else ~item for item, people in enumerate(fresh)]
    )
    found: NDArray[np.bool_] = (only != only[:, np.newaxis]) & some
    found &= some[:, np.newaxis]
    return found


def pair_counts(reach: NDArray[np.bool_], limit: int) -> NDArray[np.float64] | None:
    """Count the orderings in which one item is above another, for all pairs.

    Orderings are built from the best item down, through sets that hold all that is
    above what they hold. Counts are sums of whole numbers, exact up to 2**53.

    Args:
        reach: Who is above whom, closed.
        limit: Most such sets to go through.

    Returns:
        The counts at [a, b]; None if there are more sets, or more than 150 items.

    Examples:
        >>> pair_counts(np.array([[False, True], [False, False]]), 10).tolist()
        [[0.0, 1.0], [0.0, 0.0]]
    """
    n_items = len(reach)
    if n_items > COUNTED_ITEMS:
        return None
    # Items of equal height are free of each other, so any of them make a set.
    _, alike = np.unique(reach.sum(axis=1) - reach.sum(axis=0), return_counts=True)
    if sum(2 ** int(number) - 1 for number in alike) >= limit:
        return None
    bits = [1 << item for item in range(n_items)]
    between = reach.astype(np.float64) @ reach.astype(np.float64) > 0
    lower = [np.flatnonzero(row).tolist() for row in reach & ~between]
    above = [sum(itertools.compress(bits, column)) for column in reach.T]
    sets, numbers = [0], {0: 0}
    following = [[item for item in range(n_items) if not above[item]]]
    for held, items in zip(sets, following, strict=True):
        # Any of the items that may come next make a set of their own.
        if 1 << len(items) > limit or len(sets) > limit:
            return None
        for item in items:
            more = held | bits[item]
            if more not in numbers:
                numbers[more] = len(sets)
                sets.append(more)
                freed = [other for other in lower[item] if not above[other] & ~more]
                following.append([other for other in items if other != item] + freed)
    steps = [
        (place, item, numbers[held | bits[item]])
        for place, held in enumerate(sets)
        for item in following[place]
    ]
    return _added_up(n_items, sets, steps)


def _added_up(
    n_items: int, sets: Sequence[int], steps: Sequence[tuple[int, int, int]]
) -> NDArray[np.float64]:
    """Count for each step the orderings that take it, and who is not in yet."""
    ways = [1] + [0] * (len(sets) - 1)
    for place, _, to in steps:
        ways[to] += ways[place]
    onward = [0] * (len(sets) - 1) + [1]
    for place, _, to in reversed(steps):
        onward[place] += onward[to]
    taken = np.zeros((n_items, len(sets)))
    for place, item, to in steps:
        taken[item, to] = ways[place] * onward[to]
    width = (n_items + 7) // 8
    held = b"".join(members.to_bytes(width, "little") for members in sets)
    table = np.frombuffer(held, dtype=np.uint8).reshape(len(sets), width)
    holds = np.unpackbits(table, axis=1, count=n_items, bitorder="little")
    counts: NDArray[np.float64] = taken @ (1.0 - holds)
    return counts


def choose_reviewers(
    items: Pair,
    people: Sequence[Sequence[int]],
    bundles: Bundles,
    pick: Pick,
    *,
    score_pairs: int,
    anchors: bool,
) -> list[int]:
    """Choose the reviewers of a question by what they scored, never by how.

    Two who share other items are preferred: each one's score, less the mean that they
    gave to the shared items, has lost its offset.

    Args:
        items: The two items.
        people: Fresh reviewers of the one item and of the other.
        bundles: The items of each reviewer.
        pick: From a number of choices to the number of one.
        score_pairs: How many score pairs are wanted.
        anchors: Whether reviewers who share other items are preferred.

    Returns:
        An odd number of pairs of reviewers, by turns of the one item and of the other.

    Examples:
        >>> bundles = [{0: 5, 2: 1}, {0: 7, 3: 2}, {1: 6, 3: 4}]
        >>> choose_reviewers((0, 1), [[0, 1], [2]], bundles, lambda count: 0,
        ...                  score_pairs=1, anchors=True)
        [1, 2]
    """

    def draw(ones: list[int], others: list[int]) -> Pair | None:
        sides = (_some(side, pick) for side in (ones, others))
        several = itertools.product(*sides)
        pairs = [(one, other) for one, other in several if one != other]
        if anchors:
            related = [pair for pair in pairs if shared_items(bundles, items, pair)]
            pairs = related or pairs
        return pairs[pick(len(pairs))] if pairs else None

    return choose_crew(people, score_pairs, draw)


def _some(people: list[int], pick: Pick) -> list[int]:
    """Draw as many reviewers as are looked at."""
    if len(people) > LOOKED_AT:
        for place in range(LOOKED_AT):
            drawn = place + pick(len(people) - place)
            people[place], people[drawn] = people[drawn], people[place]
    return people[:LOOKED_AT]


def shared_items(bundles: Bundles, items: Pair, reviewers: Pair) -> tuple[int, ...]:
    """List the other items that two reviewers both scored.

    Examples:
        >>> shared_items([{0: 5, 2: 1, 3: 4}, {1: 7, 2: 4, 3: 5}], (0, 1), (0, 1))
        (2, 3)
    """
    one, other = (bundles[reviewer].keys() for reviewer in reviewers)
    return tuple(sorted((one & other) - set(items)))


def gaps_of(
    bundles: Bundles, items: Pair, crew: Sequence[int], *, anchors: bool
) -> list[tuple[Fraction, tuple[int, ...]]]:
    """Return the gap of each score pair, and the items that it is relative to.

    Each score is taken less the mean score that its reviewer gave to the shared items,
    if there are any, and nothing is rounded.

    Examples:
        >>> gaps_of([{0: 5, 2: 1}, {1: 7, 2: 4}], (0, 1), [0, 1], anchors=True)
        [(Fraction(1, 1), (2,))]
    """
    found = []
    for pair in zip(crew[::2], crew[1::2], strict=True):
        shared = shared_items(bundles, items, pair) if anchors else ()
        one, other = (
            Fraction(bundles[who][item]) - _mean(bundles[who], shared)
            for who, item in zip(pair, items, strict=True)
        )
        found.append((one - other, shared))
    return found


def _mean(bundle: Bundle, items: Sequence[int]) -> Fraction:
    total = sum((Fraction(bundle[item]) for item in items), Fraction(0))
    return total / max(len(items), 1)


def _rounded(gap: Fraction) -> float:
    try:
        return float(gap)
    except OverflowError:
        return math.copysign(math.inf, gap)


def _smallest(comparisons: Comparisons, coins: Sequence[Coin]) -> Codes:
    """Return the smallest ordering that respects comparisons and answers."""
    above, below = (codes.tolist() for codes in chain_edges(comparisons))
    for coin in coins:
        upper, lower = coin.items if coin.kept else coin.items[::-1]
        above.append(upper)
        below.append(lower)
    return topological_order(from_edges(comparisons.n_items, above, below))


def sorter_program(
    comparisons: Comparisons,
    scores: Mapping[tuple[int, int], Score],
    first: Callable[[Fraction], Fraction],
    *,
    score_pairs: int = 1,
    anchors: bool = True,
) -> Callable[[Chance], Order]:
    """Return the sorter as a procedure whose exact law can be worked out.

    Args:
        comparisons: Who was put above whom; all their orderings are listed.
        scores: From (reviewer, item) to the score.
        first: From the gap in scores to the probability that a coin says the first of
            two items is above.
        score_pairs: How many coins have a majority over an answer.
        anchors: Whether scores are relative to items that reviewers share.

    Returns:
        A procedure for `outcomes`, with the ordering as its result.

    Examples:
        >>> from fractions import Fraction
        >>> from evenhand._outcomes import outcomes
        >>> scores = {(0, 0): Fraction(1), (1, 1): Fraction(3)}
        >>> outcomes(sorter_program(
        ...     from_edges(2, [], []), scores, lambda gap: (3 + gap) / 6))
        {(0, 1): Fraction(1, 6), (1, 0): Fraction(5, 6)}
    """
    reviewers = reviewers_of(scores, comparisons.n_items)
    bundles: dict[int, dict[int, Score]] = {}
    for (reviewer, item), score in scores.items():
        bundles.setdefault(reviewer, {})[item] = score
    orderings = tuple(all_orderings(comparisons))

    def program(chance: Chance) -> Order:
        left, retired = orderings, set[int]()
        while True:
            people = [without(crew, retired) for crew in reviewers]
            pair = _first_with_reviewers(open_pairs(left), people)
            if pair is None:
                return left[0]
            crew = choose_reviewers(
                pair,
                [people[item] for item in pair],
                bundles,
                chance.pick,
                score_pairs=score_pairs,
                anchors=anchors,
            )
            gaps = gaps_of(bundles, pair, crew, anchors=anchors)
            kept = chance.coin(majority([first(gap) for gap, _ in gaps]))
            retired.update(crew)
            left = tuple(order for order in left if _is_above(order, pair) == kept)

    return program


@functools.lru_cache(maxsize=10_000)
def open_pairs(orderings: tuple[Order, ...]) -> tuple[Pair, ...]:
    """List the pairs that orderings disagree on, the most open first, then by code.

    Examples:
        >>> open_pairs(((0, 1, 2), (0, 2, 1), (2, 0, 1)))
        ((0, 2), (1, 2))
    """
    odds = {
        pair: abs(
            2 * sum(_is_above(order, pair) for order in orderings) - len(orderings)
        )
        for pair in itertools.combinations(sorted(orderings[0]), 2)
    }
    free = [pair for pair, gap in odds.items() if gap < len(orderings)]
    return tuple(sorted(free, key=odds.__getitem__))


def _is_above(order: Order, pair: Pair) -> bool:
    return order.index(pair[0]) < order.index(pair[1])


def _first_with_reviewers(
    pairs: Sequence[Pair], people: Sequence[Sequence[int]]
) -> Pair | None:
    asked = _two_reviewers(people)
    return next((pair for pair in pairs if asked[pair]), None)
