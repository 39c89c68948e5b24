"""Algorithm 1: free neighbours of an ordering are settled by biased coins.

Two neighbours that no reviewer put in order may change places without breaking any
comparison. A coin on one score of each, by two different reviewers, decides, or the
majority of several such coins; then all scores of these reviewers are retired, so that
every coin is fresh.

Which neighbours and reviewers are used depends on the comparisons and on chance, never
on the size of a score. So they are chosen first, and all coins are flipped afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from evenhand._kernels.ranking import choose_flips
from evenhand._outcomes import HALF
from evenhand._randomness import Stream, below, uniforms
from evenhand._results import many_objects
from evenhand.ab.weights import GapWeight, odd
from evenhand.errors import OptionError
from evenhand.posets.comparisons import Comparisons, compared

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from fractions import Fraction

    from numpy.typing import NDArray

    from evenhand._outcomes import Chance
    from evenhand.ratings import Ratings

Score = TypeVar("Score", float, "Fraction")
Chances = TypeVar("Chances", "NDArray[np.float64]", "Fraction")
SCANS = ("paper", "parity")
NEXT = np.arange(2)


class Coin(NamedTuple):
    """One coin that settled the order of two items.

    Attributes:
        items: Codes of the two items, in the order they had before.
        gap: Score of the first minus score of the second; of several score pairs, the
            one largest in size.
        p_first: Probability that the first one stays first.
        kept: Whether it did.
        reviewers: Codes of the reviewers whose scores were used, by turns for the first
            and for the second.
        anchors: For each score pair the codes of the items that both reviewers scored
            and whose mean score was taken off first; empty if none was.
    """

    items: tuple[int, int]
    gap: float
    p_first: float
    kept: bool
    reviewers: tuple[int, ...]
    anchors: tuple[tuple[int, ...], ...] = ()


class Odds(NamedTuple):
    """Coins that are not flipped yet, as columns.

    Attributes:
        items: Codes of the two items of each, in their order, shape (coins, 2).
        rows: Ratings that are used for the first items and for the second ones, shape
            (coins, score pairs); -1 where a score pair is missing.
        gap: As of `Coin`.
        p_first: As of `Coin`.
    """

    items: NDArray[np.int64]
    rows: tuple[NDArray[np.int64], NDArray[np.int64]]
    gap: NDArray[np.float64]
    p_first: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Reviews:
    """Scores grouped by item, as the kernels take them.

    Attributes:
        starts: Where each item's ratings begin, and the end.
        reviewers: Reviewer of each rating, increasing within an item.
        scores: Score of each rating.
        n_reviewers: Number of reviewers.
    """

    starts: NDArray[np.int64]
    reviewers: NDArray[np.int64]
    scores: NDArray[np.float64]
    n_reviewers: int


def by_item(ratings: Ratings) -> Reviews:
    """Group scores by item.

    Raises:
        RatingsError: If there are no scores.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> by_item(Ratings(["a", "a", "b"], [1, 2, 1], [5, 4, 3])).reviewers.tolist()
        [0, 1, 0]
    """
    starts, rows = ratings.by_item()
    return Reviews(
        starts,
        ratings.reviewer_codes[rows],
        ratings.scores[rows],
        ratings.n_reviewers,
    )


def scan_from(scan: str, source: Stream) -> tuple[int, int]:
    """Return where a scan begins and how it moves on from neighbours not free.

    "paper" looks at every position in turn. "parity" looks at the first and second, the
    third and fourth, ... items only, or leaves out the first item, by a fair coin; so
    which neighbours are looked at does not depend on the ordering.

    Examples:
        >>> from evenhand._randomness import stream
        >>> scan_from("paper", stream(7, "scan"))
        (0, 1)
    """
    return (0, 1) if scan == "paper" else (below(source, 2), 2)


def majority(chances: Sequence[Chances]) -> Chances:
    """Return the probability that most of an odd number of coins fall on heads.

    Args:
        chances: Probability of heads for each coin, or an array of them.

    Examples:
        >>> from fractions import Fraction
        >>> majority([Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)])
        Fraction(7, 24)
    """
    heads = [1 - chances[0], chances[0]]
    for chance in chances[1:]:
        more = [share * chance for share in heads]
        heads = [share * (1 - chance) for share in heads] + more[-1:]
        for number, share in enumerate(more[:-1], start=1):
            heads[number] = heads[number] + share
    total = heads[-1]
    for share in heads[len(chances) // 2 + 1 : -1]:
        total = total + share
    return total


def check_score_pairs(score_pairs: int) -> None:
    """Refuse a number of score pairs that has no majority.

    Raises:
        OptionError: If it is not an odd number of at least 1.

    Examples:
        >>> check_score_pairs(3)
    """
    whole = isinstance(score_pairs, int | np.integer)
    if (
        not whole
        or isinstance(score_pairs, bool)
        or score_pairs < 1
        or (score_pairs % 2 == 0)
    ):
        raise OptionError(
            "score_pairs must be an odd whole number of at least 1, so that there is "
            f"always a majority, got {score_pairs!r}."
        )


def flip_neighbours(
    ratings: Ratings,
    order: NDArray[np.int64],
    weight: GapWeight,
    source: Stream,
    *,
    scan: tuple[int, int] = (0, 1),
    score_pairs: int = 1,
) -> tuple[NDArray[np.int64], tuple[Coin, ...]]:
    """Settle the free neighbours of an ordering by coins on their scores.

    Args:
        ratings: Scores.
        order: A topological ordering of the comparisons, item codes best first.
        weight: How a gap in scores weighs.
        source: Where chance comes from; for each position a uniform for each score pair
            and one more.
        scan: What `scan_from` returns.
        score_pairs: How many coins, on different reviewers' scores, have a majority
            over two neighbours; an odd number. Neighbours with fewer fresh reviewers
            are settled by the largest odd number that was drawn.

    Returns:
        The new ordering and the coins, by position.

    Raises:
        RatingsError: If there are no scores.
        OptionError: If score_pairs is not odd.

    References:
        Wang and Shah (2019), Algorithm 1 and Appendix C.

    Examples:
        >>> from evenhand._randomness import stream
        >>> from evenhand.ab.weights import rational
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 4])
        >>> _, coins = flip_neighbours(
        ...     ratings, np.array([0, 1]), rational(), stream(7, "flips"))
        >>> coins[0].items, coins[0].p_first
        ((0, 1), 0.125)
    """
    reviews = by_item(ratings)
    positions, odds, units = neighbour_odds(
        reviews, order, weight, source, scan=scan, score_pairs=score_pairs
    )
    coins = flipped(reviews, odds, units)
    after = order.copy()
    swapped = positions[[not coin.kept for coin in coins]]
    after[swapped], after[swapped + 1] = order[swapped + 1], order[swapped]
    return after, coins


def neighbour_odds(
    reviews: Reviews,
    order: NDArray[np.int64],
    weight: GapWeight,
    source: Stream,
    *,
    scan: tuple[int, int] = (0, 1),
    score_pairs: int = 1,
) -> tuple[NDArray[np.int64], Odds, NDArray[np.float64]]:
    """Choose the coins of `flip_neighbours`, without flipping them.

    Returns:
        Position of the first of each two neighbours; the coins, by position; and the
        uniform by which each is flipped.

    Raises:
        OptionError: If score_pairs is not odd.

    Examples:
        >>> from evenhand._randomness import stream
        >>> from evenhand.ab.weights import rational
        >>> from evenhand.ratings import Ratings
        >>> reviews = by_item(Ratings(["a", "b"], ["x", "y"], [1, 4]))
        >>> positions, odds, _ = neighbour_odds(
        ...     reviews, np.array([0, 1]), rational(), stream(7, "flips"))
        >>> positions.tolist(), odds.p_first.tolist()
        ([0], [0.125])
    """
    check_score_pairs(score_pairs)
    units = uniforms(source, (len(order), score_pairs + 1))
    positions, ones, others = choose_flips(
        order,
        scan,
        (reviews.starts, reviews.reviewers, reviews.scores),
        reviews.n_reviewers,
        units[:, :-1].copy(),
    )
    items = order[positions[:, np.newaxis] + NEXT]
    odds = odds_of(reviews, items, (ones, others), weight)
    return positions, odds, units[positions, -1]


def odds_of(
    reviews: Reviews,
    items: NDArray[np.int64],
    rows: tuple[NDArray[np.int64], NDArray[np.int64]],
    weight: GapWeight,
) -> Odds:
    """Work out the coin, or the majority of coins, for each pair of items.

    Args:
        reviews: Scores by item.
        items: Two item codes a row.
        rows: Ratings to be used for the first items and for the second ones, one for
            each pair or a row of an odd number of them; -1 at the end of a row that is
            shorter.
        weight: How a gap in scores weighs.

    Returns:
        The coins.

    Examples:
        >>> from evenhand.ab.weights import rational
        >>> reviews = Reviews(np.array([0, 1, 2]), np.array([0, 1]),
        ...                   np.array([1.0, 4.0]), 2)
        >>> rows = (np.array([0]), np.array([1]))
        >>> odds_of(reviews, np.array([[0, 1]]), rows, rational()).gap
        array([-3.])
    """
    ones, others = (side[:, np.newaxis] if side.ndim == 1 else side for side in rows)
    with np.errstate(over="ignore"):
        gaps = reviews.scores[ones] - reviews.scores[others]
    if ones.shape[1] == 1:
        gap = gaps[:, 0]
        return Odds(items, (ones, others), gap, odd(weight, gap))
    p_first, used = np.empty(len(items)), (ones >= 0).sum(axis=1)
    for number in np.unique(used).tolist():
        chosen = used == number
        p_first[chosen] = majority(list(odd(weight, gaps[chosen, :number]).T))
    gaps[ones < 0] = 0
    gap = gaps[np.arange(len(items)), np.abs(gaps).argmax(axis=1)]
    return Odds(items, (ones, others), gap, p_first)


def flipped(
    reviews: Reviews, odds: Odds, units: NDArray[np.float64]
) -> tuple[Coin, ...]:
    """Flip coins, each by one uniform.

    Examples:
        >>> reviews = Reviews(np.array([0, 1, 2]), np.array([0, 1]),
        ...                   np.array([1.0, 4.0]), 2)
        >>> rows = (np.array([[0]]), np.array([[1]]))
        >>> odds = Odds(np.array([[0, 1]]), rows, np.array([-3.0]), np.array([0.125]))
        >>> flipped(reviews, odds, np.array([0.2]))
        (Coin(items=(0, 1), gap=-3.0, p_first=0.125, kept=False, reviewers=(0, 1), \
anchors=()),)
    """
    ones, others = odds.rows
    people = np.stack([reviews.reviewers[ones], reviews.reviewers[others]], axis=2)
    columns = (
        odds.items,
        odds.gap,
        odds.p_first,
        units < odds.p_first,
        people.reshape(len(ones), 2 * ones.shape[1]),
        (ones >= 0).sum(axis=1),
    )
    with many_objects():
        return tuple(
            Coin((a, b), gap, p, kept, tuple(crew[: 2 * number]))
            for (a, b), gap, p, kept, crew, number in zip(
                *(column.tolist() for column in columns), strict=True
            )
        )


def flips_program(
    comparisons: Comparisons,
    scores: Mapping[tuple[int, int], Score],
    order: Sequence[int],
    first: Callable[[Score], Fraction],
    *,
    scan: str = "paper",
    score_pairs: int = 1,
) -> Callable[[Chance], tuple[int, ...]]:
    """Return Algorithm 1 as a procedure whose exact law can be worked out.

    Args:
        comparisons: Who was put above whom.
        scores: From (reviewer, item) to the score.
        order: A topological ordering, item codes best first.
        first: From the gap in scores to the probability that the first of two
            neighbours stays first.
        scan: "paper" or "parity".
        score_pairs: How many coins have a majority over two neighbours.

    Returns:
        A procedure for `outcomes`, with the new ordering as its result.

    Examples:
        >>> from fractions import Fraction
        >>> from evenhand._outcomes import outcomes
        >>> from evenhand.posets.comparisons import from_edges
        >>> scores = {(0, 0): Fraction(1), (1, 1): Fraction(3)}
        >>> outcomes(flips_program(
        ...     from_edges(2, [], []), scores, [0, 1], lambda gap: (3 + gap) / 6))
        {(0, 1): Fraction(1, 6), (1, 0): Fraction(5, 6)}
    """
    reviewers = reviewers_of(scores, comparisons.n_items)

    def program(chance: Chance) -> tuple[int, ...]:
        start, step = 0, 1
        if scan == "parity":
            start, step = (0 if chance.coin(HALF) else 1), 2
        chosen = choose_plainly(
            comparisons,
            reviewers,
            order,
            (start, step),
            lambda *asked: chance.pick(asked[-1]),
            score_pairs=score_pairs,
        )
        after = list(order)
        for position, *crew in chosen:
            a, b = order[position], order[position + 1]
            pairs = zip(crew[::2], crew[1::2], strict=True)
            chances = [first(scores[r, a] - scores[s, b]) for r, s in pairs]
            if not chance.coin(majority(chances)):
                after[position], after[position + 1] = b, a
        return tuple(after)

    return program


def choose_plainly(
    comparisons: Comparisons,
    reviewers: Sequence[Sequence[int]],
    order: Sequence[int],
    scan: tuple[int, int],
    pick: Callable[[int, int, int], int],
    *,
    score_pairs: int = 1,
) -> list[tuple[int, ...]]:
    """Choose neighbours and reviewers as the kernel does, but with any kind of chance.

    Args:
        comparisons: Who was put above whom.
        reviewers: Reviewers of each item, increasing.
        order: A topological ordering, item codes best first.
        scan: Position of the first two neighbours, and how far to go on from two that
            are not free.
        pick: From a position, the number of score pairs drawn there and a number of
            pairs to the number of one pair.
        score_pairs: How many score pairs are wanted.

    Returns:
        Position of the first of each two neighbours, then the reviewers, by turns for
        the first and for the second.

    Examples:
        >>> from evenhand.posets.comparisons import from_edges
        >>> choose_plainly(
        ...     from_edges(2, [], []), [[4, 5], [5]], [0, 1], (0, 1), lambda *_: 0)
        [(0, 4, 5)]
    """
    retired: set[int] = set()
    chosen = []
    position, step = scan
    while position + 1 < len(order):
        a, b = order[position], order[position + 1]
        crew: list[int] = []
        while not compared(comparisons, a, b) and len(crew) < 2 * score_pairs:
            pairs = fresh_pairs(reviewers[a], reviewers[b], retired.union(crew))
            if not pairs:
                break
            crew += pairs[pick(position, len(crew) // 2, len(pairs))]
        if not crew:
            position += step
            continue
        if len(crew) % 4 == 0:
            del crew[-2:]
        retired.update(crew)
        chosen.append((position, *crew))
        position += 2
    return chosen


def fresh_pairs(
    ones: Sequence[int], others: Sequence[int], retired: AbstractSet[int]
) -> list[tuple[int, int]]:
    """List the pairs of different reviewers of two items, neither of them retired.

    Examples:
        >>> fresh_pairs([1, 2], [2, 3], {1})
        [(2, 3)]
    """
    left = [one for one in ones if one not in retired]
    return [
        (one, other)
        for one in left
        for other in others
        if one != other and other not in retired
    ]


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
