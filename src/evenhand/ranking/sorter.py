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
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from evenhand.ab.weights import toss
from evenhand.errors import must_be
from evenhand.posets.averaging import pair_shares
from evenhand.posets.orderings import closure
from evenhand.randomness import Stream, below, uniforms
from evenhand.ranking import flips
from evenhand.ranking.flips import Flip, Pair, Pick, clip_to_float, relative

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from evenhand.ab.weights import GapWeight
    from evenhand.arrays import Codes, Flags, Scores
    from evenhand.posets.graph import Comparisons
    from evenhand.randomness import Chance
    from evenhand.ratings import Ratings

    Bundles = Sequence[Mapping[int, Any]] | Mapping[int, Mapping[int, Any]]
    Groups = Sequence[Sequence[int]]
    Exact = Mapping[Pair, Fraction]
    # From a gap to the probability of its coin, a float or a fraction.
    Law = Callable[[Fraction], Any]

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
    anchors: bool = True,
) -> tuple[Codes, tuple[Flip, ...]]:
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
        anchors: Prefer reviewers who share other items, and take scores relative to
            their mean. A weight with a declared range leaves this out, because
            relative scores may differ by more than the range.

    Returns:
        The ordering that respects all comparisons and answers, smallest codes first;
        and the questions in turn, the smaller code first.

    Raises:
        RatingsError: If there are no scores, or the comparisons contradict each other.
        OptionError: If there are more than 1,000 items.

    Examples:
        >>> from evenhand.randomness import stream
        >>> from evenhand.ab.weights import rational
        >>> from evenhand.posets.graph import comparisons
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 4])
        >>> order, coins = sort_free_pairs(
        ...     ratings, comparisons(ratings), rational(), stream(7, "sorter"))
        >>> order.tolist(), coins[0].p_first
        ([1, 0], 0.125)
    """
    # Relative scores may differ by more than a declared range.
    related = anchors and weight.limit is None
    scores, law = flips.scores_of(ratings), flips.law_of(weight)
    state = start_sorter(
        comparisons, scores, lambda gap: law(clip_to_float(gap)), anchors=related
    )

    def answer(coin: Flip) -> bool:
        unit, (first, second) = float(uniforms(source, 1)[0]), coin.reviewers
        gap, _ = gap_of(state.bundles, coin.items, (first, second), anchors=related)
        return toss(weight, unit, coin.p_first, (gap, Fraction(0)), source)

    coins = ask_pairs(state, functools.partial(below, source), answer)
    return state.smallest(), coins


def ask_pairs(
    state: SorterState, pick: Pick, answer: Callable[[Flip], bool]
) -> tuple[Flip, ...]:
    """Ask until nothing is open that fresh reviewers could settle.

    If the answers are those of a true ranking, the product over all coins of p_first
    where it was kept and 1 - p_first where not is the probability that the sorter goes
    this way. So an experiment need not wait until all coins happen to be right.

    Args:
        state: What is known, and who is fresh.
        pick: From a number of choices to the number of one.
        answer: From a coin to whether its first item is put above its second.
    """
    coins = []
    while (pair := state.question()) is not None:
        coin = state.coin(pair, pick)
        coins.append(coin._replace(kept=answer(coin)))
        state.learn(coins[-1])
    return tuple(coins)


@dataclass(frozen=True, slots=True)
class SorterState:
    """What is known, and who is fresh; both change with every answer."""

    reach: Flags
    fresh: list[list[int]]
    bundles: Bundles
    chance: Law
    anchors: bool

    def question(self) -> Pair | None:
        """Return the pair that is most open, None if none can be asked.

        Among pairs that are equally near in height, the highest is taken.
        """
        n_items, counted = len(self.reach), None
        if n_items <= COUNTED_ITEMS:
            counted = _shares(self.reach.tobytes(), n_items)
        if counted is None:
            heights = self.reach.sum(axis=1) - self.reach.sum(axis=0)
            order = np.argsort(-heights, kind="stable")
            apart = np.abs(np.subtract.outer(heights, heights)).astype(np.float64)
        else:
            order, apart = np.arange(n_items), np.abs(counted - counted.T)
        apart[self.reach | self.reach.T | ~_two_reviewers(self.fresh)] = np.inf
        apart = apart[np.ix_(order, order)]
        if not apart.min() < np.inf:
            return None
        first, second = order[np.argwhere(apart <= apart.min() + ROUNDING)[0]].tolist()
        return min(first, second), max(first, second)

    def coin(self, items: Pair, pick: Pick) -> Flip:
        """Choose who answers, and work out the coin that is still to be flipped."""
        people = [self.fresh[item] for item in items]
        pair = choose_reviewers(items, people, self.bundles, pick, anchors=self.anchors)
        gap, shared = gap_of(self.bundles, items, pair, anchors=self.anchors)
        anchors = (shared,) if shared else ()
        return Flip(items, clip_to_float(gap), self.chance(gap), False, pair, anchors)  # noqa: FBT003 - not yet

    def learn(self, coin: Flip) -> None:
        """Retire reviewers, and add an answer with all that follows from it."""
        for reviewer in coin.reviewers:
            for item in self.bundles[reviewer]:
                self.fresh[item].remove(reviewer)
        upper, lower = coin.items if coin.kept else coin.items[::-1]
        above, under = self.reach[:, upper].copy(), self.reach[lower].copy()
        above[upper] = under[lower] = True
        self.reach[np.ix_(above, under)] = True

    def smallest(self) -> Codes:
        """Return the smallest ordering that respects comparisons and answers."""
        waits = self.reach.sum(axis=0)
        order = []
        for _ in waits:
            order.append(int(np.argmin(waits)))
            waits -= self.reach[order[-1]]
            waits[order[-1]] = len(waits)
        return np.array(order, dtype=np.int64)


def start_sorter(
    comparisons: Comparisons, scores: Mapping[Pair, Any], law: Law, *, anchors: bool
) -> SorterState:
    """Know what the comparisons say, with every reviewer fresh.

    Raises:
        RatingsError: If the comparisons contradict each other.
        OptionError: If there are more than 1,000 items.
    """
    if comparisons.n_items > SORTER_ITEMS:
        rule = f"at most {SORTER_ITEMS:,} for method 'sorter' (use 'flips')"
        raise must_be("items", rule, comparisons.n_items)
    people = flips.people_of(scores, comparisons.n_items)
    bundles = flips.bundles_of(scores)
    return SorterState(closure(comparisons), people, bundles, law, anchors)


# All orders of four items are 219.
@functools.lru_cache(maxsize=256)
def _shares(reach: bytes, n_items: int) -> Scores | None:
    """Remember the shares of few items, which exact laws ask for again and again."""
    pairs = np.frombuffer(reach, dtype=np.bool_).reshape(n_items, n_items)
    return pair_shares(pairs, COUNTED_IDEALS)


def _two_reviewers(fresh: Groups) -> Flags:
    """Say for all pairs of items whether two different reviewers are fresh."""
    has_fresh = np.array([bool(people) for people in fresh])
    alone = (people[0] if len(people) == 1 else ~at for at, people in enumerate(fresh))
    only = np.array([*alone])
    return np.asarray((only != only[:, None]) & has_fresh & has_fresh[:, None])


def choose_reviewers(
    items: Pair, people: Groups, bundles: Bundles, pick: Pick, *, anchors: bool
) -> Pair:
    """Choose the reviewers of a question by what they scored, never by how.

    Two who share other items are preferred: each one's score, less the mean that they
    gave to the shared items, has lost its offset.

    Args:
        items: The two items.
        people: Fresh reviewers of the one item and of the other.
        bundles: The items of each reviewer.
        pick: From a number of choices to the number of one.
        anchors: Whether reviewers who share other items are preferred.

    Returns:
        The reviewer of the one item and that of the other.

    Examples:
        >>> bundles = [{0: 5, 2: 1}, {0: 7, 3: 2}, {1: 6, 3: 4}]
        >>> choose_reviewers((0, 1), [[0, 1], [2]], bundles, lambda count: 0,
        ...                  anchors=True)
        (1, 2)
    """
    sides = (_some([*side], pick) for side in people)
    pairs = [
        (first, second)
        for first, second in itertools.product(*sides)
        if first != second
    ]
    if anchors:
        related = [pair for pair in pairs if shared_items(bundles, items, pair)]
        pairs = related or pairs
    return pairs[pick(len(pairs))]


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
    first, second = (bundles[reviewer].keys() for reviewer in reviewers)
    return tuple(sorted((first & second) - set(items)))


def gap_of(
    bundles: Bundles, items: Pair, reviewers: Pair, *, anchors: bool
) -> tuple[Fraction, tuple[int, ...]]:
    """Return the gap of two scores, and the items that it is relative to.

    Each score is taken less the mean score that its reviewer gave to the shared items,
    if there are any, and nothing is rounded.

    Examples:
        >>> gap_of([{0: 5, 2: 1}, {1: 7, 2: 4}], (0, 1), (0, 1), anchors=True)
        (Fraction(1, 1), (2,))
    """
    shared = shared_items(bundles, items, reviewers) if anchors else ()
    rows = zip(reviewers, items, strict=True)
    first, second = (
        relative(bundles[reviewer], item, shared) for reviewer, item in rows
    )
    return first - second, shared


def sorter_program(
    comparisons: Comparisons, scores: Exact, first: Law, *, anchors: bool = True
) -> Callable[[Chance], Order]:
    """Return the sorter as a procedure whose exact law can be worked out.

    Args:
        comparisons: Who was put above whom.
        scores: From (reviewer, item) to the score.
        first: From the gap in scores to the probability that a coin says the first of
            two items is above.
        anchors: Whether scores are relative to items that reviewers share.

    Returns:
        A procedure for `outcomes`, with the ordering as its result.

    Examples:
        >>> from fractions import Fraction
        >>> from evenhand.randomness import outcomes
        >>> from evenhand.posets import from_edges
        >>> scores = {(0, 0): Fraction(1), (1, 1): Fraction(3)}
        >>> outcomes(sorter_program(
        ...     from_edges(2, [], []), scores, lambda gap: (3 + gap) / 6))
        {(0, 1): Fraction(1, 6), (1, 0): Fraction(5, 6)}
    """
    start = start_sorter(comparisons, scores, first, anchors=anchors)

    def program(chance: Chance) -> Order:
        fresh = [list(several) for several in start.fresh]
        state = replace(start, reach=start.reach.copy(), fresh=fresh)
        ask_pairs(state, chance.pick, lambda coin: chance.coin(coin.p_first))  # type: ignore[arg-type]  # a Fraction here
        return tuple(state.smallest().tolist())

    return program
