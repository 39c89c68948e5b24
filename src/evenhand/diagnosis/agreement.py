"""How far reviewers agree: Krippendorff's alpha and intraclass correlations.

Alpha is one less the observed disagreement of scores of one item over that of all
scores, by squared differences of the scores (interval) or of their places among all
(ordinal). ICC(1) is the share of items in the variance of one score and ICC(1, k) in
that of a mean of k; both count a reviewer's strictness as disagreement. Where everybody
rated everything there is ICC(A, 1), absolute agreement of one reviewer with another,
and ICC(C, 1), which leaves strictness out.

With clusters an item in a cluster is what reviewers agree on, such as the answer of a
model to a prompt. Intervals leave out one item, or one cluster, at a time: Student's t
of the jackknife, of the logarithm of the ratio of variances that a coefficient says.

References:
    Krippendorff (2019), Content Analysis, chapter 12; Shrout and Fleiss (1979);
    McGraw and Wong (1996).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import stdtrit
from scipy.stats import rankdata

from evenhand.claims import CONFIDENCE

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from numpy.typing import ArrayLike

    from evenhand.arrays import Codes, Scores, Table
    from evenhand.claims import Label
    from evenhand.ratings import Ratings

    # A number, or one for each draw.
    Number: TypeAlias = Any

TAIL = (1 - CONFIDENCE) / 2
EDGE = 1e-12
# Fewer items or clusters than this say little about how much they differ.
FEWEST = 6
# More are left out in this many groups.
MOST_BLOCKS = 1000
# Reviewers up to whom each pair is compared.
FEW_REVIEWERS = 10
ORDINAL, INTERVAL = "alpha, ordinal", "alpha, interval"
ONE, MEAN, ABSOLUTE, CONSISTENT = "ICC(1)", "ICC(1, k)", "ICC(A, 1)", "ICC(C, 1)"


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A measure of agreement.

    Attributes:
        name: "alpha, ordinal", "alpha, interval", "ICC(1)", "ICC(1, k)", "ICC(A, 1)" or
            "ICC(C, 1)".
        value: 1 is perfect, 0 is what chance gives.
        low: Lower end of its 95% interval; None with too few items to say.
        high: Upper end.
    """

    name: str
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """How far two reviewers agree.

    Attributes:
        first: A reviewer.
        second: Another, such as a person beside a judge.
        items: How many items both rated.
        value: Ordinal alpha of the two.
        low: Lower end of its 95% interval; None with too few items to say.
        high: Upper end.
    """

    first: Label
    second: Label
    items: int
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class ReviewerAgreement:
    """How far reviewers agree on items that several of them rated.

    Attributes:
        items: How many such items; with clusters, of items in a cluster.
        ratings: How many ratings they have.
        reviews: Ratings of an item on average: k of ICC(1, k).
        left_out: What intervals leave out one of, "items" or "clusters".
        coefficients: Alpha and intraclass correlations.
        pairs: Each pair of up to ten reviewers with enough items in common.
        criteria: The coefficients of each criterion, by its name.
    """

    items: int
    ratings: int
    reviews: float
    left_out: str
    coefficients: tuple[Coefficient, ...]
    pairs: tuple[PairAgreement, ...]
    criteria: dict[str, tuple[Coefficient, ...]]


class Judged(NamedTuple):
    """Scores of items that several reviewers rated, sorted by item.

    Attributes:
        units: The item of each score, from 0.
        blocks: What is left out at a time: the item or the cluster of each item.
        reviewers: The reviewer of each score.
        scores: The scores.
    """

    units: Codes
    blocks: Codes
    reviewers: Codes
    scores: Scores


def agreement(ratings: Ratings) -> ReviewerAgreement | None:
    """Measure how far reviewers agree; None if nothing varies or nobody shares items.

    Args:
        ratings: Scores.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(list("aabb"), list("xyxy"), [1, 5, 2, 5])
        >>> agreement(ratings).coefficients[1].name
        'alpha, interval'
    """
    judged = _take_common(ratings)
    counts = np.bincount(judged.units)
    if len(counts) < 2 or np.ptp(judged.scores) == 0:
        return None
    names = () if ratings.criteria is None else ratings.criteria.names
    criteria = {name: agreement(ratings.with_criteria(name)) for name in names}
    number, total = len(counts), int(counts.sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        return ReviewerAgreement(
            items=number,
            ratings=total,
            reviews=float(_mean_reviews(number, total, (counts**2).sum())),
            left_out="items" if ratings.cluster_codes is None else "clusters",
            coefficients=tuple(Coefficient(*row) for row in _measure(judged)),
            pairs=tuple(_pairs(ratings, judged)),
            criteria={
                name: part.coefficients for name, part in criteria.items() if part
            },
        )


def _take_common(ratings: Ratings) -> Judged:
    """Take the items that several reviewers rated."""
    items, clusters = ratings.item_codes, ratings.cluster_codes
    number = ratings.n_items
    keys = items if clusters is None else clusters * number + items
    names, units, counts = np.unique(keys, return_inverse=True, return_counts=True)
    several = counts > 1
    kept, blocks = several[units], names if clusters is None else names // number
    rows = np.flatnonzero(kept)[np.argsort(units[kept], kind="stable")]
    blocks = np.unique(blocks[several], return_inverse=True)[1]
    # The unit of scores says nothing, and squares of the largest would overflow.
    largest = np.abs(ratings.preference[rows]).max(initial=0.0) or 1.0
    return Judged(
        units=np.unique(units[rows], return_inverse=True)[1],
        blocks=blocks % MOST_BLOCKS,
        reviewers=ratings.reviewer_codes[rows],
        scores=ratings.preference[rows] / largest,
    )


def _measure(
    judged: Judged,
) -> list[tuple[str, float, float | None, float | None]]:
    """Return the name, the value and the interval of each coefficient."""
    number = int(judged.blocks.max()) + 1
    size = len(judged.units) / len(judged.blocks)
    without_each = np.eye(number)[: number if number >= FEWEST else 0]
    weights = 1 - np.concatenate([np.zeros((1, number)), without_each])
    far = float(-stdtrit(number - 1, TAIL)) * (number - 1) / np.sqrt(number)
    table = []
    for name, (value, *others) in _coefficients(judged, weights).items():
        if not np.isfinite(value):
            continue
        ends: tuple[float | None, float | None] = (None, None)
        # Of a mean's coefficient, which is at most 1, the distance to 1 is a ratio.
        extra = 0 if name == MEAN else size - 1
        if others and value < 1 and np.isfinite(others).all():
            scaled = np.log(np.maximum(1 + extra * np.array([value, *others]), EDGE))
            scaled -= np.log(np.maximum(1 - np.array([value, *others]), EDGE))
            reach = far * scaled[1:].std() * np.array([-1, 1])
            ratios = np.exp(scaled[0] + reach)
            low, high = ((ratios - 1) / (ratios + extra)).tolist()
            ends = (min(max(low, -1.0), value), max(high, value))
        table.append((name, value, *ends))
    return table


def _coefficients(judged: Judged, weights: Table) -> dict[str, list[float]]:
    """Return each coefficient once for each row of weights of blocks."""
    units, reviewers = judged.units, judged.reviewers
    counts = np.bincount(units).astype(np.float64)

    def add(values: ArrayLike) -> Table:
        return weights @ np.bincount(judged.blocks, values, weights.shape[1])

    scores = judged.scores - judged.scores.mean()
    places = rankdata(judged.scores)
    total, items = add(counts), add(np.ones(len(counts)))
    coefficients = {}
    for name, values in {ORDINAL: places - places.mean(), INTERVAL: scores}.items():
        inside = _squares_inside(values, units, counts)
        sums = np.bincount(units, values)
        spread = add(np.bincount(units, values**2)) - add(sums) ** 2 / total
        paired = add(counts * inside / (counts - 1))
        coefficients[name] = 1 - (total - 1) / total * paired / spread
    # Of the scores, which are the last.
    level = add(sums) ** 2 / total
    size = _mean_reviews(items, total, add(counts**2))
    between = (add(sums**2 / counts) - level) / (items - 1)
    within = add(inside) / (total - items)
    single = (between - within) / (between + (size - 1) * within)
    coefficients |= {ONE: single, MEAN: size * single / (1 + (size - 1) * single)}
    number = len(np.unique(reviewers))
    if len(units) == len(counts) * number:
        order = np.lexsort((reviewers, units))
        columns = scores[order].reshape(-1, number).T
        strict = (sum(add(column) ** 2 for column in columns) / items - level) / (
            number - 1
        )
        noise = (within * items - strict) / (items - 1)
        shared = between + (size - 1) * noise
        coefficients[CONSISTENT] = (between - noise) / shared
        shared = shared + size * (strict - noise) / items
        coefficients[ABSOLUTE] = (between - noise) / shared
    return {name: values.tolist() for name, values in coefficients.items()}


def _squares_inside(values: Scores, units: Codes, counts: Scores) -> Scores:
    """Return for each item the sum of squares of its scores about their mean."""
    away = values - (np.bincount(units, values) / counts)[units]
    squares: Scores = np.bincount(units, away**2).astype(np.float64)
    return squares


def _mean_reviews(items: Number, total: Number, squares: Number) -> Number:
    """Return the number of scores of an item that unequal ones amount to."""
    return (total - squares / total) / (items - 1)


def _pairs(ratings: Ratings, judged: Judged) -> list[PairAgreement]:
    """Compare each pair of few reviewers on the items that both rated."""
    people = np.unique(judged.reviewers)
    compared: list[PairAgreement] = []
    if not 2 < len(people) <= FEW_REVIEWERS:
        return compared
    for first, second in itertools.combinations(people.tolist(), 2):
        rows = np.isin(judged.reviewers, (first, second))
        units = judged.units[rows]
        common = (np.bincount(units, minlength=len(judged.blocks)) == 2)[units]
        names, units = np.unique(units[common], return_inverse=True)
        scores = judged.scores[rows][common]
        if len(names) < FEWEST or np.ptp(scores) == 0:
            continue
        blocks = np.unique(judged.blocks[names], return_inverse=True)[1]
        data = Judged(units, blocks, judged.reviewers[rows][common], scores)
        _, value, low, high = _measure(data)[0]
        labels = ratings.reviewer_labels
        pair = labels[first], labels[second]
        compared.append(PairAgreement(*pair, len(names), value, low, high))
    return compared
