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
from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels.ranking import (
    add_answer,
    most_open_pair,
    nearest_pair,
    pair_counts,
)
from evenhand._randomness import Stream, below, uniforms
from evenhand.ab.weights import GapWeight, odd
from evenhand.errors import OptionError
from evenhand.posets.comparisons import Comparisons, chain_edges, closure, from_edges
from evenhand.posets.orderings import all_orderings, topological_order
from evenhand.ranking.crews import Pair, choose_crew, gaps_of, without
from evenhand.ranking.flips import (
    Coin,
    Score,
    by_item,
    check_score_pairs,
    fresh_pairs,
    majority,
    reviewers_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from evenhand._outcomes import Chance
    from evenhand.ratings import Ratings

    Codes = NDArray[np.int64]

Order = tuple[int, ...]

# The sorter keeps a table of all pairs and may go through it for each question.
SORTER_ITEMS = 1_000
# Posteriors are exact up to here; a factorial of more items is too large for a float.
COUNTED_ITEMS = 150
COUNTED_IDEALS = 5_000


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
    table = _table(ratings, comparisons, anchors=anchors and weight.limit is None)
    coins: list[Coin] = []
    for pair, crew in _questions(table, source, score_pairs):
        coin = _ask(table, pair, crew, weight)
        coins.append(coin._replace(kept=bool(uniforms(source, 1)[0] < coin.p_first)))
        table.learn(coins[-1])
    return _smallest(comparisons, coins), tuple(coins)


def follow_truth(
    ratings: Ratings,
    comparisons: Comparisons,
    truth: Sequence[int],
    weight: GapWeight,
    source: Stream,
    *,
    score_pairs: int = 1,
    anchors: bool = True,
) -> tuple[Coin, ...]:
    """Ask as the sorter does, but take the answers from a true ranking.

    The probability that the sorter goes this way is the product over all coins of
    p_first where it was kept and 1 - p_first where not. So an experiment need not wait
    until all coins happen to be right.

    Args:
        ratings: Scores.
        comparisons: Who was put above whom by them.
        truth: The true ranking, item codes best first.
        weight: How a gap in scores weighs.
        source: Where the choice of reviewers comes from.
        score_pairs: As in `sort_free_pairs`.
        anchors: As in `sort_free_pairs`.

    Raises:
        RatingsError: If there are no scores, or the comparisons contradict each other.
        OptionError: If score_pairs is not odd, or there are more than 1,000 items.

    Examples:
        >>> from evenhand._randomness import stream
        >>> from evenhand.ab.weights import rational
        >>> from evenhand.posets.comparisons import comparisons
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 4])
        >>> coins = follow_truth(ratings, comparisons(ratings), [0, 1], rational(),
        ...                      stream(7, "sorter"))
        >>> coins[0].kept, coins[0].p_first
        (True, 0.125)
    """
    check_score_pairs(score_pairs)
    table = _table(ratings, comparisons, anchors=anchors and weight.limit is None)
    place = {item: number for number, item in enumerate(truth)}
    coins: list[Coin] = []
    for pair, crew in _questions(table, source, score_pairs):
        coin = _ask(table, pair, crew, weight)
        coins.append(coin._replace(kept=place[pair[0]] < place[pair[1]]))
        table.learn(coins[-1])
    return tuple(coins)


def _questions(
    table: _Table, source: Stream, score_pairs: int
) -> Iterator[tuple[Pair, list[int]]]:
    """Yield each pair that is asked and its reviewers; the table learns in between."""
    while (pair := table.question()) is not None:
        yield (
            pair,
            choose_crew(
                pair,
                [table.reviewers(item) for item in pair],
                table.bundles,
                lambda count: below(source, count),
                score_pairs=score_pairs,
                anchors=table.anchors,
            ),
        )


@dataclass(slots=True)
class _Table:
    """What is known, and who is fresh, as kernels take it."""

    reach: NDArray[np.bool_]
    heights: Codes
    reviews: tuple[Codes, Codes, NDArray[np.float64]]
    retired: NDArray[np.bool_]
    fresh: Codes
    bundles: list[dict[int, float]]
    anchors: bool

    def question(self) -> Pair | None:
        people = (self.reviews, self.retired, self.fresh)
        counts = np.empty((0, 0))
        if len(self.reach) <= COUNTED_ITEMS:
            counts = pair_counts(self.reach, self.heights, COUNTED_IDEALS)
        if len(counts):
            one, other = most_open_pair(self.reach, counts, *people)
        else:
            one, other = nearest_pair(self.reach, self.heights, *people)
        return None if one < 0 else (int(one), int(other))

    def reviewers(self, item: int) -> list[int]:
        starts, reviewers, _ = self.reviews
        found = reviewers[starts[item] : starts[item + 1]]
        fresh: list[int] = found[~self.retired[found]].tolist()
        return fresh

    def learn(self, coin: Coin) -> None:
        for reviewer in coin.reviewers:
            self.retired[reviewer] = True
            self.fresh[list(self.bundles[reviewer])] -= 1
        upper, lower = coin.items if coin.kept else coin.items[::-1]
        add_answer(self.reach, self.heights, upper, lower)


def _table(ratings: Ratings, comparisons: Comparisons, *, anchors: bool) -> _Table:
    if comparisons.n_items > SORTER_ITEMS:
        raise OptionError(
            f"The sorter must have at most {SORTER_ITEMS:,} items, got "
            f"{comparisons.n_items:,}. Choose method 'flips'."
        )
    topological_order(comparisons)
    reviews = by_item(ratings)
    reach = closure(comparisons)
    bundles: list[dict[int, float]] = [{} for _ in range(ratings.n_reviewers)]
    columns = (ratings.reviewer_codes, ratings.item_codes, ratings.scores)
    for reviewer, item, score in zip(
        *(column.tolist() for column in columns), strict=True
    ):
        bundles[reviewer][item] = score
    return _Table(
        reach,
        reach.sum(axis=1) - reach.sum(axis=0),
        (reviews.starts, reviews.reviewers, reviews.scores),
        np.zeros(ratings.n_reviewers, dtype=np.bool_),
        np.diff(reviews.starts),
        bundles,
        anchors,
    )


def _ask(table: _Table, items: Pair, crew: Sequence[int], weight: GapWeight) -> Coin:
    """Work out the coin of a question that has not been answered yet."""
    found = gaps_of(table.bundles, items, crew, anchors=table.anchors)
    gaps = np.array([_rounded(gap) for gap, _ in found])
    p_first = float(majority(list(odd(weight, gaps)[:, np.newaxis]))[0])
    bases = tuple(base for _, base in found)
    return Coin(
        items=items,
        gap=float(gaps[np.abs(gaps).argmax()]),
        p_first=p_first,
        kept=False,
        reviewers=tuple(crew),
        anchors=bases if any(bases) else (),
    )


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
            crew = choose_crew(
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
    for pair in pairs:
        if fresh_pairs(people[pair[0]], people[pair[1]], frozenset()):
            return pair
    return None
