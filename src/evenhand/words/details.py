"""What stands behind an item and a reviewer: their reviews, one by one, and drawn."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from evenhand.diagnosis.reviewers import DISAGREEING
from evenhand.method import Chosen, as_method
from evenhand.ranking.methods import RankMethod
from evenhand.ranking.results import Ranking
from evenhand.words.pictures import Axis, axis

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evenhand.ab.comparison import Comparison
    from evenhand.arrays import Floats
    from evenhand.claims import Label
    from evenhand.diagnosis.check import Check
    from evenhand.diagnosis.reviewers import Reviewer
    from evenhand.grading import Grades
    from evenhand.ratings import Ratings

    Pairs = Sequence[tuple[float, float]]

LARGEST = float(np.finfo(np.float64).max)
# How ranks without a review were found, or why they were not.
WITHOUT_REVIEW = {
    "again": "The ranking was made again without each review.",
    "held": "Each review was taken out of the fitted model, with everything else in "
    "the model held: how much reviewers and items differ, and where each score stands "
    "among all.",
    "no_values": "Method {!r} decides by comparisons or at random, so one review's "
    "part in a rank is not worked out.",
    "too_long": "Where items would stand without single reviews is not worked out: "
    "that takes too long by method {!r} for so many ratings.",
    "by_share": "The first items were chosen by share, so one review's part in a rank "
    "is not worked out.",
}
# Scores up to which each is drawn, shares of scores below and above a band, and scores
# of a reviewer that make a line.
DRAWN, BAND, FEWEST = 3_000, (0.1, 0.9), 3
# Decimals of scores at most.
DECIMALS = 3


class Review(NamedTuple):
    """One review of an item.

    Attributes:
        reviewer: Who.
        item: Of what.
        score: Their score; None if there are only ranks.
        place: Place of the item among those they rated, 1 is best; equal ones share
            the best.
        of: How many items they rated.
        offset: How many points above others they score; None if that is not known.
        strictness: The same in words.
        others: Mean of the others' scores, less their offsets; None without others.
        corrected: The score less the reviewer's offset, if the method takes it so.
        without: Rank that the item would have without this review; None if it is the
            only one, or not known.
    """

    reviewer: Label
    item: Label
    score: float | None
    place: int
    of: int
    offset: float | None
    strictness: str
    others: float | None
    corrected: float | None
    without: int | None


def reviews_behind(
    ratings: Ratings, check: Check, result: Ranking | Grades | None = None
) -> list[Review]:
    """List all reviews, and where their items would stand without each of them.

    Args:
        ratings: What was ranked; of comparisons there are no reviews to list.
        check: What the ratings can support.
        result: The ranking, or the marks, which are not made again without a review.

    Examples:
        >>> from evenhand import Ratings, check, rank
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [3, 2.2, 1, 2.5])
        >>> result = rank(ratings, method="mean", rng=7)
        >>> found = reviews_behind(ratings, check(ratings, rng=7), result)
        >>> [(one.reviewer, one.score, one.without) for one in found if one.item == "x"]
        [('a', 3.0, 2), ('b', 1.0, 1)]
    """
    if ratings.kind == "comparisons":
        return []
    people = {person.reviewer: person for person in check.reviewers}
    method = method_of(result, RankMethod) if isinstance(result, Ranking) else None
    taken_off = _offsets(ratings, result, method, people)
    ranks: Sequence[int | None] = [None] * ratings.n_ratings
    if isinstance(result, Ranking) and method is not None and not result.by_share:
        ranks = method.leave_one_out(ratings, result.seed)
    scores: list[float | None] = [None] * ratings.n_ratings
    others = scores
    if ratings.kind == "scores":
        scores, others = ratings.preference.tolist(), consensus(ratings, people)
    loads = np.bincount(ratings.reviewer_codes).tolist()
    codes = (ratings.reviewer_codes.tolist(), ratings.item_codes.tolist())
    columns = (*codes, scores, others, _places(ratings), ranks)
    reviews = []
    for reviewer, item, score, heard, place, without in zip(*columns, strict=True):
        label, named = ratings.reviewer_labels[reviewer], ratings.item_labels[item]
        person, off = people.get(label), taken_off[reviewer]
        leniency = (None, "") if person is None else (person.offset, person.strictness)
        taken = None if score is None or off is None else score - off
        row = (score, place, loads[reviewer], *leniency, heard, taken, without)
        reviews.append(Review(label, named, *row))
    return reviews


def group_reviews(
    reviews: Iterable[Review], by: str, labels: Iterable[Label]
) -> dict[Label, list[Review]]:
    """Group reviews by "item" or "reviewer"; whoever has none has an empty list.

    Examples:
        >>> group_reviews([], "item", ["x"])
        {'x': []}
    """
    groups: dict[Label, list[Review]] = {label: [] for label in labels}
    for review in reviews:
        groups[getattr(review, by)].append(review)
    return groups


def without_sentence(ratings: Ratings, ranking: Ranking) -> str:
    """Say how ranks without a review were found, or why they were not.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> without_sentence(ratings, rank(ratings, rng=7))
        'The ranking was made again without each review.'
    """
    method = method_of(ranking, RankMethod)
    code = "no_values" if method is None else method.how_left_out(ratings)
    code = "by_share" if ranking.by_share else code
    return WITHOUT_REVIEW[code].format(ranking.method)


def consensus(ratings: Ratings, people: Mapping[Label, Reviewer]) -> list[float | None]:
    """Return for each rating what the other reviewers say of the item.

    That is the mean of their scores, less their offsets; None if there are no others.
    Reviewers without an offset, whose order does not agree, are no others.

    Examples:
        >>> from evenhand import Ratings, check
        >>> ratings = Ratings([*"aabbb"], [*"xyxyz"], [1, 2, 2, 5, 3])
        >>> people = {one.reviewer: one for one in check(ratings, rng=7).reviewers}
        >>> consensus(ratings, people)[4] is None
        True
    """
    reviewers = [people[label] for label in ratings.reviewer_labels]
    # In a unit in which sums cannot leave the floats.
    unit = float(np.abs(ratings.scores).max()) or 1.0
    offsets = np.array([reviewer.offset or 0.0 for reviewer in reviewers]) / unit
    heard = np.array([reviewer.agreement not in DISAGREEING for reviewer in reviewers])
    counts = heard[ratings.reviewer_codes].astype(np.float64)
    level = counts * (ratings.scores / unit - offsets[ratings.reviewer_codes])

    def of_others(values: Floats) -> Floats:
        sums = np.bincount(ratings.item_codes, values, ratings.n_items)
        return np.asarray(sums[ratings.item_codes] - values)

    with np.errstate(all="ignore"):
        means = of_others(level) / of_others(counts)
        means = np.clip(means * unit, -LARGEST, LARGEST)
    return [None if math.isnan(mean) else mean for mean in means.tolist()]


def method_of(result: Ranking | Comparison, kind: type[Chosen]) -> Chosen | None:
    """Make the method of a result again; None if it is a user's function.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> result = rank(ratings, method="safe(split=always)", rng=7)
        >>> str(method_of(result, RankMethod))
        'safe(split=always)'
    """
    parameters = result.parameters
    if parameters.get("own_function"):
        return None
    chosen = type(as_method(result.method, kind))
    own = {name: parameters[name] for name in chosen.options() if name in parameters}
    # What was done about contradictions is told with when it is to be done.
    if isinstance(split := own.get("split"), dict):
        own["split"] = split["when"]
    return chosen.from_options(own)


def _offsets(
    ratings: Ratings,
    result: Ranking | Grades | None,
    method: RankMethod | None,
    people: Mapping[Label, Reviewer],
) -> Sequence[float | None]:
    """Return by reviewer what the method takes off their scores."""
    unknown = [None] * ratings.n_reviewers
    own_function = isinstance(result, Ranking) and method is None
    if result is None or own_function or ratings.kind != "scores":
        return unknown
    if not (method or as_method(result.method, RankMethod)).takes_offsets:
        return unknown
    offsets = None if method is None else method.reviewer_offsets(ratings)
    if offsets is None:
        return [people[reviewer].offset for reviewer in ratings.reviewer_labels]
    return [*offsets.tolist()]


def _places(ratings: Ratings) -> list[int]:
    """Return the place of each rating among its reviewer's, equal ones the best."""
    frame = pl.DataFrame({"who": ratings.reviewer_codes, "score": ratings.preference})
    place = pl.col("score").rank("min", descending=True).over("who")
    return frame.select(place)["score"].to_list()


def scales(
    people: Mapping[Label, Sequence[Review]], check: Check
) -> dict[Label, tuple[Pairs, Pairs, Pairs]]:
    """Draw each reviewer's scale over that of all; none without scores to compare.

    Returns:
        In a square, across and up in per cent: dots of the reviewer's scores against
        the others' of the same items, both ends of the reviewer's line, if there is
        one, and corners of where most scores of all reviewers are.

    Examples:
        >>> from evenhand import Ratings, check
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 2, 5, 4])
        >>> found = check(ratings, rng=7)
        >>> reviews = reviews_behind(ratings, found)
        >>> people = group_reviews(reviews, "reviewer", ["a", "b"])
        >>> dots, line, band = scales(people, found)["a"]
        >>> len(dots)
        2
    """
    pairs: dict[Label, list[tuple[float, float]]] = defaultdict(list)
    for review in itertools.chain(*people.values()):
        if review.others is not None and review.score is not None:
            pairs[review.reviewer].append((review.others, review.score))
    every = np.array([*itertools.chain(*pairs.values())])
    if not 0 < len(every) <= DRAWN:
        return {}
    square = axis(every.ravel().tolist(), margin=0.0)
    ends = (float(every.min()), float(every.max()))
    least, most = np.quantile(every[:, 1] - every[:, 0], BAND).tolist()
    band = [(end, end + least) for end in ends]
    band += [(end, end + most) for end in ends[::-1]]
    slopes = {person.reviewer: person.slope for person in check.reviewers}
    drawings = {}
    for label, own in pairs.items():
        dots, line = _place_dots(square, own), _line(slopes.get(label), own)
        drawings[label] = dots, _place_dots(square, line), _place_dots(square, band)
    return drawings


def _line(slope: float | None, own: Pairs) -> Pairs:
    """Return the ends of a reviewer's line: through their means, with their slope."""
    heard, own_mean = np.mean(own, axis=0).tolist()
    if slope is None or len(own) < FEWEST:
        return []
    across = [pair[0] for pair in own]
    return [
        (end, own_mean + slope * (end - heard)) for end in (min(across), max(across))
    ]


def _place_dots(square: Axis, points: Pairs) -> Pairs:
    return [
        (square.place(across), round(100 - square.place(up), 1))
        for across, up in points
    ]


def score_axis(reviews: Iterable[Review]) -> Axis | None:
    """Return the axis of all scores, as given and as the method takes them.

    None if there are no scores, or too many to be drawn one by one.

    Examples:
        >>> score_axis([]) is None
        True
    """
    scores = [value for review in reviews for value in (review.score, review.corrected)]
    every = [value for value in scores if value is not None]
    return axis(every, margin=0.0) if 0 < len(every) <= 2 * DRAWN else None


def decimals(ratings: Ratings) -> dict[str, str]:
    """Say how scores are written, with one decimal more for what is made of them.

    Returns:
        Formats of a "score" as given, one as it is "taken", and an "offset".

    Examples:
        >>> from evenhand import Ratings
        >>> decimals(Ratings(["a", "a"], ["x", "y"], [1, 2.5]))
        {'score': '%.1f', 'taken': '%.2f', 'offset': '%+.2f'}
    """
    values = np.unique(ratings.preference).tolist()
    decimals = (
        f"{value:.{DECIMALS}f}".rstrip("0").partition(".")[2] for value in values
    )
    needed = max(map(len, decimals))
    precision = needed + 1
    return {
        "score": f"%.{needed}f",
        "taken": f"%.{precision}f",
        "offset": f"%+.{precision}f",
    }
