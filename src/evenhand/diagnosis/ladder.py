"""The ladder: which assumption about scales do the ratings bear out?

Reviewers are held out in turn. Each assumption's own model is fitted to everyone else's
ratings and says which of two items a held-out reviewer put higher; a reviewer's offset,
slope or scale drops out of that, so only the items' values count. The rungs assume
less and less. A model that assumes too much is misled by how reviewers differ; one
that assumes too little has more to estimate from the same ratings.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import stdtrit

from evenhand.lazy import lazy
from evenhand.models.additive import additive
from evenhand.models.affine import fit_affine, start
from evenhand.models.bradley_terry import order_values
from evenhand.models.design import build_matrix, round_to_resolution
from evenhand.models.isotonic import isotonic
from evenhand.progress import say
from evenhand.randomness import Stream, permutation, stream, uniforms

if TYPE_CHECKING:
    from evenhand.arrays import Codes, Scores, Table
    from evenhand.ratings import Ratings
    from evenhand.words import check_sentences
else:
    check_sentences = lazy("evenhand.words.check_sentences")

ASSUMPTIONS = ("none", "offset", "offset and slope", "monotone", "order only")
METHODS = ("mean", "additive", "affine", "isotonic", "bradley-terry")
CANNOT_TELL = "cannot tell"
# One assumption beats another if it predicts so much more rightly, and the difference
# is so sure, for each of the four others.
MATTERS, DOUBT = 0.02, 0.01 / 4
RULE = (
    "The verdict is the strongest assumption that no other beats, if it beats all "
    "stronger ones. To beat another, an assumption must predict more than 2 points "
    "better and pass a test at 1%, corrected for the four others."
)
# The rungs must not borrow what they do not assume: slopes may be any, within reason,
# and scales are drawn to straight lines only lightly.
SLOPE_VARIANCE = 1.0
STIFFNESS = 0.1
# Few reviewers are held out one by one.
ONE_BY_ONE = 30
FOLDS = 10
# Ratings up to which all ten folds, and five of five, are tried; beyond, one of five,
# and where both reviewers and items are many, whose models take seconds.
TEN_FOLDS, FIVE_FOLDS, MANY_LEVELS = 3_000, 60_000, 300
# Bradley-Terry goes through all pairs some thirty times.
MOST_COMPARISONS = 200_000_000
# Why so few reviewers who told items apart, and comparisons that were tried, say
# nothing; cases of the warning.
TOO_FEW = {0: "none_apart", 1: "one_apart"}
TOO_FEW_TRIED = {0: "none_tried", 1: "one_tried"}
# Standard errors by reviewer mean little with fewer reviewers.
FEWEST_JUDGED = 5
# Pairs are held as rows of a table: some 40 MB, and well under a second.
MOST_PAIRS = 1_000_000


class RatingPairs(NamedTuple):
    """Pairs of ratings by one reviewer.

    Attributes:
        reviewers: Reviewer code of each pair.
        first: Item code of the one rating, the smaller of the two.
        second: Item code of the other.
        signs: 1 if the first item was put above the second, -1 if below, 0 if tied.
        weights: 2 / k for a reviewer of k items, so that a reviewer without ties counts
            as k - 1 comparisons.
        sampled: Whether these are only some of them.
    """

    reviewers: Codes
    first: Codes
    second: Codes
    signs: Codes
    weights: Scores
    sampled: bool


def pairs_within(
    ratings: Ratings, source: Stream, *, most: int = MOST_PAIRS
) -> RatingPairs:
    """List the pairs; where they are too many, take some items of busy reviewers.

    Args:
        ratings: The ratings.
        source: Where the choice of items comes from.
        most: About how many pairs to list; one pair of each reviewer is listed at
            least.

    Returns:
        The pairs.

    Examples:
        >>> from evenhand.randomness import stream
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "a", "b"], ["x", "y", "z", "x"], [1, 2, 2, 5])
        >>> found = pairs_within(ratings, stream(7, "pairs"))
        >>> found.first.tolist(), found.second.tolist(), found.signs.tolist()
        ([0, 0, 1], [1, 2, 2], [-1, -1, 0])
    """
    reviewers = ratings.reviewer_codes
    loads = np.bincount(reviewers, minlength=ratings.n_reviewers)
    total = count_pairs(loads)
    rows, place = np.arange(ratings.n_ratings), _place_within(loads)
    if total > most:
        # Each busy reviewer keeps so many items, chosen by lot.
        every = range(3, int(loads.max()) + 1)
        load = 2 + bisect.bisect_right(
            every, most, key=lambda load: count_pairs(np.minimum(loads, load))
        )
        order = np.lexsort((uniforms(source, ratings.n_ratings), reviewers))
        rows = np.sort(order[place < load])
        loads = np.minimum(loads, load)
        place = _place_within(loads)
    # Each rating is paired with those of the same reviewer that come after it.
    later = np.repeat(loads, loads) - place - 1
    earlier = np.repeat(np.arange(len(rows)), later)
    partner = earlier + 1 + _place_within(later)
    first, second = rows[earlier], rows[partner]
    values = ratings.preference
    above, below = values[first] > values[second], values[first] < values[second]
    return RatingPairs(
        reviewers[first],
        ratings.item_codes[first],
        ratings.item_codes[second],
        above.astype(np.int64) - below,
        2 / loads[reviewers[first]],
        sampled=total > most,
    )


def count_pairs(sizes: Codes) -> int:
    """Count the pairs within groups of these sizes.

    Examples:
        >>> count_pairs(np.array([3, 1, 2]))
        4
    """
    return int((sizes * (sizes - 1) // 2).sum())


def _place_within(sizes: Codes) -> Codes:
    """Return 0, 1, 2, ... for each of some groups that stand one after the other."""
    starts = np.cumsum(sizes) - sizes
    return np.asarray(np.arange(sizes.sum()) - np.repeat(starts, sizes))


@dataclass(frozen=True, slots=True)
class Rung:
    """How well one assumption predicts.

    Attributes:
        assumption: What is assumed of reviewers' scales.
        method: The method of `rank` that assumes it.
        accuracy: Share of held-out comparisons predicted rightly; an undecided
            prediction is half right. A reviewer of k items counts as k - 1 comparisons.
        se: Its standard error, by reviewer.
        behind: How much lower it is than that of the best assumption.
        behind_se: Paired standard error of that, by reviewer.
    """

    assumption: str
    method: str
    accuracy: float
    se: float
    behind: float
    behind_se: float


@dataclass(frozen=True, slots=True)
class Ladder:
    """What held-out comparisons say about the assumptions.

    Attributes:
        rungs: The assumptions, from the strongest to the weakest.
        verdict: The strongest assumption that no other beats, if it beats all stronger
            ones ("none": if it beats "order only"). To beat takes more than 2 points
            and a test at 1%, by Student's t, corrected for the four others.
            Else, or if fewer than five reviewers made comparisons, "cannot tell".
        pairs: Number of held-out comparisons.
        reviewers: Number of reviewers who made them.
        folds: In how many parts reviewers were held out.
        tried: How many of the parts were tried.
        meaning: The verdict in words.
    """

    rungs: tuple[Rung, ...]
    verdict: str
    pairs: int
    reviewers: int
    folds: int
    tried: int
    meaning: str = ""


def why_no_ladder(ratings: Ratings) -> str:
    """Return why there is no ladder, a case of the warning; nothing if there is one.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> why_no_ladder(Ratings(["a", "b"], ["x", "x"], [1, 2]))
        'none_apart'
    """
    if ratings.kind != "scores":
        return ratings.kind
    if count_pairs(np.bincount(ratings.reviewer_codes)) > MOST_COMPARISONS:
        return "too_many"
    reviewers, values = ratings.reviewer_codes, ratings.preference
    # A difference of large scores could leave the floats.
    ordered = (reviewers[1:] == reviewers[:-1]) & (values[1:] != values[:-1])
    return TOO_FEW.get(len(np.unique(reviewers[1:][ordered])), "")


def ladder_or_why(ratings: Ratings) -> tuple[Ladder | None, str]:
    """Return the ladder, or why there is none.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ladder_or_why(Ratings(["a", "b"], ["x", "x"], [1, 2]))
        (None, 'none_apart')
    """
    if why := why_no_ladder(ratings):
        return None, why
    ladder = climb(ratings)
    few = TOO_FEW_TRIED.get(ladder.pairs, "")
    return (None, few) if few else (ladder, "")


def climb(ratings: Ratings, source: Stream | None = None) -> Ladder:
    """Try each assumption on held-out reviewers.

    Args:
        ratings: Scores for which `why_no_ladder` says nothing.
        source: Where the parts of reviewers come from; always the same if None, so that
            the verdict depends on nothing but the ratings.

    Returns:
        The ladder.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(list("aaabbbcccddd"), list("xyz") * 4,
        ...                   [1, 2, 3, 7, 8, 9, 2, 3, 4, 5, 6, 7])
        >>> found = climb(ratings)
        >>> found.verdict, [rung.accuracy for rung in found.rungs]
        ('cannot tell', [1.0, 1.0, 1.0, 1.0, 1.0])
    """
    number = ratings.n_reviewers
    source = stream(0, "check: ladder") if source is None else source
    folds, tried = _folds(ratings)
    part = np.empty(number, dtype=np.int64)
    part[permutation(source, number)] = np.arange(number) % folds
    pairs = pairs_within(ratings, source)
    right, total, n_pairs = np.zeros((len(ASSUMPTIONS), number)), np.zeros(number), 0
    for fold in range(tried):
        say(f"Holding out reviewers, part {fold + 1} of {tried}")
        held_out = np.flatnonzero((pairs.signs != 0) & (part[pairs.reviewers] == fold))
        if not len(held_out):
            continue
        n_pairs += len(held_out)
        reviewers, weights = pairs.reviewers[held_out], pairs.weights[held_out]
        out = np.flatnonzero(part[ratings.reviewer_codes] == fold)
        values = item_values(ratings.without(out))
        ahead = np.sign(
            values[:, pairs.first[held_out]] - values[:, pairs.second[held_out]]
        )
        total += np.bincount(reviewers, weights, number)
        for rung, hits in enumerate((1 + ahead * pairs.signs[held_out]) / 2):
            right[rung] += np.bincount(reviewers, weights * hits, number)
    judged = total > 0
    rungs: tuple[Rung, ...] = ()
    verdict = CANNOT_TELL
    if judged.any():
        rungs, verdict = judge(right[:, judged], total[judged])
    sizes = n_pairs, int(judged.sum()), folds, tried
    meaning = check_sentences.ladder_meaning(verdict)
    return Ladder(rungs, verdict, *sizes, meaning)


def gain_without(ratings: Ratings, dropped: int) -> tuple[float, float]:
    """Return how much better others' comparisons are predicted without a reviewer.

    Args:
        ratings: Scores for which `why_no_ladder` says nothing.
        dropped: Code of the reviewer.

    Returns:
        Share of held-out comparisons predicted rightly by the others' ratings, less
        that by all ratings but the held-out ones, and its standard error by reviewer.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> people, items = [*"aaabbbcccddd"], [*"xyz"] * 4
        >>> scores = [1, 2, 3, 2, 3, 4, 1, 3, 5, 30, 20, 10]
        >>> round(gain_without(Ratings(people, items, scores), 3)[0], 2)
        1.0
    """
    number, source = ratings.n_reviewers, stream(0, "check: ladder")
    folds, tried = _folds(ratings)
    part = np.empty(number, dtype=np.int64)
    part[permutation(source, number)] = np.arange(number) % folds
    pairs, codes = pairs_within(ratings, source), ratings.reviewer_codes
    right, total = np.zeros((2, number)), np.zeros(number)
    for fold in range(tried):
        judged = (pairs.signs != 0) & (part[pairs.reviewers] == fold)
        judged &= pairs.reviewers != dropped
        reviewers, weights = pairs.reviewers[judged], pairs.weights[judged]
        absent = part[codes] == fold
        for row, out in enumerate((absent, absent | (codes == dropped))):
            if out.all():
                continue
            values = additive(ratings.without(np.flatnonzero(out))).estimates
            ahead = np.sign(values[pairs.first[judged]] - values[pairs.second[judged]])
            hits = weights * (1 + ahead * pairs.signs[judged]) / 2
            right[row] += np.bincount(reviewers, hits, number)
        total += np.bincount(reviewers, weights, number)
    seen = total > 0
    return (
        _gap(right[1, seen], right[0, seen], total[seen]) if seen.any() else (0.0, 0.0)
    )


def _folds(ratings: Ratings) -> tuple[int, int]:
    """Return into how many parts reviewers fall, and how many parts are tried."""
    number = ratings.n_reviewers
    folds = FOLDS if ratings.n_ratings <= TEN_FOLDS else FOLDS // 2
    if number <= ONE_BY_ONE and ratings.n_ratings <= TEN_FOLDS:
        folds = number
    folds = min(folds, number)
    few = min(number, ratings.n_items) <= MANY_LEVELS
    quick = ratings.n_ratings <= (FIVE_FOLDS if few else TEN_FOLDS)
    return folds, folds if quick else 1


def item_values(ratings: Ratings) -> Table:
    """Fit each rung's model; items that nobody rated are in the middle.

    Returns:
        Values, one row for each assumption.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 3, 2])
        >>> np.argsort(-item_values(ratings), axis=1)[[0, 4]].tolist()
        [[0, 1, 2], [0, 1, 2]]
    """
    matrix = build_matrix(ratings)
    # The search for slopes starts from the additive model, which is the rung before.
    state = start(matrix)
    additive = state.values
    fit_affine(matrix, state, spread=SLOPE_VARIANCE, quick=True)
    fits = [
        matrix.by_item(matrix.scores)
        / np.where(matrix.counts > 0, matrix.count_weights, 1),
        additive,
        state.values,
        isotonic(ratings, stiffness=STIFFNESS).estimates,
        order_values(ratings),
    ]
    return np.stack([round_to_resolution(values.copy()) for values in fits])


def judge(right: Table, total: Table) -> tuple[tuple[Rung, ...], str]:
    """Compare the assumptions.

    Args:
        right: Right predictions, assumptions x reviewers.
        total: Predictions of each reviewer, positive.

    Returns:
        The rungs and the verdict.

    Examples:
        >>> right = np.array([[1.0] * 8, [3.0] * 8, [3.0] * 8, [3.0] * 8, [2.0] * 8])
        >>> judge(right, np.full(8, 3.0))[1]
        'offset'
    """
    best = right[int(np.argmax(right.sum(axis=1)))]
    rungs = tuple(
        Rung(assumption, method, *_gap(own, 0 * own, total), *_gap(best, own, total))
        for assumption, method, own in zip(ASSUMPTIONS, METHODS, right, strict=True)
    )
    if len(total) < FEWEST_JUDGED:
        return rungs, CANNOT_TELL
    sure = float(stdtrit(len(total) - 1, 1 - DOUBT))

    def beats(rung: int, rival: int) -> bool:
        gap, error = _gap(right[rung], right[rival], total)
        return gap > max(MATTERS, sure * error)

    every = range(len(right))
    chosen = next(
        rung for rung in every if not any(beats(rival, rung) for rival in every)
    )
    ahead = all(beats(chosen, rival) for rival in range(chosen) or every[-1:])
    return rungs, ASSUMPTIONS[chosen] if ahead else CANNOT_TELL


def _gap(first: Table, second: Table, total: Table) -> tuple[float, float]:
    """Return a difference of shares and its standard error, by reviewer."""
    number = len(total)
    whole = float(total.sum())
    gap = float((first - second).sum()) / whole
    residuals = first - second - gap * total
    squares = float(residuals @ residuals) * number / max(number - 1, 1)
    return gap, float(np.sqrt(squares)) / whole


def ladder_basis(ladder: Ladder) -> str:
    """Say what the ladder rests on.

    Examples:
        >>> ladder_basis(Ladder((), CANNOT_TELL, 24, 8, 5, 1))
        '24 comparisons by 8 reviewers, each predicted from other reviewers only; one of
        5 parts of the reviewers was tried.'
    """
    text = f"{ladder.pairs:,} comparisons by {ladder.reviewers:,} reviewers, each "
    text += "predicted from other reviewers only"
    if ladder.tried < ladder.folds:
        text += f"; one of {ladder.folds} parts of the reviewers was tried"
    return f"{text}."
