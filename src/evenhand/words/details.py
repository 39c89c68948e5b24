"""What stands behind an item and a reviewer: their reviews, one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.calibration.design import steps
from evenhand.diagnosis.reviewers import NOT_ENOUGH, describe, fit_model
from evenhand.method import as_method
from evenhand.ranking.leave_one_out import RANDOM, how_left_out, leave_one_out
from evenhand.ranking.methods import Mean, Model, RankMethod
from evenhand.words.check_figures import consensus

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.arrays import Codes
    from evenhand.claims import Label
    from evenhand.diagnosis.check import Check
    from evenhand.diagnosis.reviewers import Reviewer
    from evenhand.grading import Grades
    from evenhand.ranking.results import Ranking
    from evenhand.ratings import Ratings

# An interval of 95 % reaches so many standard errors to either side.
SIDE = 1.959963984540054
# Models whose offsets are what scores are corrected by.
CORRECTING = ("additive", "centred")


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """One review of an item.

    Attributes:
        reviewer: Who.
        score: Their score; None if there are only ranks.
        place: Place of the item among those they rated, 1 is best; equal ones share
            the best.
        of: How many items they rated.
        offset: How many points above others they score; None if that is not known.
        offset_se: Its standard error.
        strictness: The same in words.
        corrected: The score as the method takes it: less the reviewer's offset, or as
            it is by plain means; None for methods that do neither.
        without: Rank that the item would have without this review; None if it is the
            only one, or not known.
    """

    reviewer: Label
    score: float | None
    place: int
    of: int
    offset: float | None
    offset_se: float | None
    strictness: str
    corrected: float | None
    without: int | None


@dataclass(frozen=True, slots=True)
class ScalePoint:
    """One score of a reviewer against the others' of the same item.

    Attributes:
        item: Which.
        score: What the reviewer gave; None if there are only ranks.
        others: Mean of the others' scores, less their offsets; None without others.
        place: Place of the item among those they rated, 1 is best.
    """

    item: Label
    score: float | None
    others: float | None
    place: int


@dataclass(frozen=True, slots=True)
class ReviewerRow:
    """How one reviewer rates, and what.

    Attributes:
        reviewer: Who.
        ratings: How many items they rated.
        offset: How many points above others they score; None if that is not known.
        low: Lower end of its 95 % interval.
        high: Upper end.
        strictness: The same in words.
        slope: How much wider than others they spread scores.
        agreement: Whether their order agrees with the others'.
        correlation: With the others' scores.
        points: Their scores, best first.
    """

    reviewer: Label
    ratings: int
    offset: float | None
    low: float | None
    high: float | None
    strictness: str
    slope: float | None
    agreement: str
    correlation: float | None
    points: tuple[ScalePoint, ...]


def item_details(
    ratings: Ratings, ranking: Ranking, check: Check | None = None
) -> Mapping[Label, Sequence[ReviewRow]]:
    """List the reviews of each item, and where it would stand without each of them.

    Args:
        ratings: What was ranked; of comparisons there are no reviews to list.
        ranking: The ranking.
        check: What the ratings can support, if that was found out already.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [3, 2.2, 1, 2.5])
        >>> found = item_details(ratings, rank(ratings, method="mean", rng=7))
        >>> [(row.reviewer, row.score, row.without) for row in found["x"]]
        [('a', 3.0, 2), ('b', 1.0, 1)]
    """
    method = method_of(ranking)
    people = _people(ratings, check)
    offsets = _offsets(ratings, method, people)
    ranks: Sequence[int | None] = (None,) * ratings.n_ratings
    if method is not None:
        ranks = leave_one_out(ratings, method, ranking.seed)
    return _review_rows(ratings, people, offsets, ranks)


def mark_details(
    ratings: Ratings, grades: Grades, check: Check | None = None
) -> Mapping[Label, Sequence[ReviewRow]]:
    """List the reviews of each item that has a mark.

    Examples:
        >>> from evenhand import Ratings, grade
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [3, 2.2, 1, 2.5])
        >>> [row.score for row in mark_details(ratings, grade(ratings, rng=7))["x"]]
        [3.0, 1.0]
    """
    people = _people(ratings, check)
    offsets: Sequence[float | None] = [None] * ratings.n_reviewers
    if grades.method == "mean":
        offsets = [0.0] * ratings.n_reviewers
    elif grades.method == "additive":
        offsets = [people[who].offset for who in ratings.reviewer_labels]
    return _review_rows(ratings, people, offsets, (None,) * ratings.n_ratings)


def _review_rows(
    ratings: Ratings,
    people: Mapping[Label, Reviewer],
    offsets: Sequence[float | None],
    ranks: Sequence[int | None],
) -> Mapping[Label, Sequence[ReviewRow]]:
    rows: dict[Label, list[ReviewRow]] = {item: [] for item in ratings.item_labels}
    if ratings.kind == "comparisons":
        return rows
    loads, places = np.bincount(ratings.reviewer_codes).tolist(), _places(ratings)
    scored = ratings.kind == "scores"
    columns = zip(
        ratings.reviewer_codes.tolist(),
        ratings.item_codes.tolist(),
        ratings.preference.tolist(),
        places.tolist(),
        ranks,
        strict=True,
    )
    for who, item, score, place, without in columns:
        one, offset = people.get(ratings.reviewer_labels[who]), offsets[who]
        row = ReviewRow(
            ratings.reviewer_labels[who],
            score if scored else None,
            place,
            loads[who],
            one.offset if one else None,
            one.offset_se if one else None,
            one.strictness if one else NOT_ENOUGH,
            score - offset if scored and offset is not None else None,
            without,
        )
        rows[ratings.item_labels[item]].append(row)
    return rows


def without_sentence(ratings: Ratings, ranking: Ranking) -> str:
    """Say how ranks without a review were found, or why they were not.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> without_sentence(ratings, rank(ratings, rng=7))
        'The ranking was made again without each review.'
    """
    method = method_of(ranking)
    if method is None:
        return RANDOM.format(ranking.method)
    return how_left_out(ratings, method)


def reviewer_details(
    ratings: Ratings, check: Check | None = None
) -> Mapping[Label, ReviewerRow]:
    """Say of each reviewer how strict they are, and list their items, best first.

    Args:
        ratings: The ratings; of comparisons there are no reviewers to list.
        check: What the ratings can support, if that was found out already.

    Examples:
        >>> from evenhand import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [3, 2, 1, 9])
        >>> found = reviewer_details(ratings)
        >>> [point.item for point in found["b"].points]
        ['y', 'x']
    """
    ratings = ratings.public
    if ratings.kind == "comparisons":
        return {}
    people, scored = _people(ratings, check), ratings.kind == "scores"
    others = np.full(ratings.n_ratings, np.nan)
    if scored:
        others = consensus(ratings, [*people.values()])
    places, found = _places(ratings), {}
    firsts = np.flatnonzero(np.diff(ratings.reviewer_codes)) + 1
    for who, rows in zip(
        ratings.reviewer_labels,
        np.split(np.arange(ratings.n_ratings), firsts),
        strict=True,
    ):
        points = tuple(
            ScalePoint(
                ratings.item_labels[ratings.item_codes[row]],
                float(ratings.preference[row]) if scored else None,
                float(others[row]) if np.isfinite(others[row]) else None,
                int(places[row]),
            )
            for row in rows[np.argsort(places[rows], kind="stable")].tolist()
        )
        found[who] = _reviewer(who, people.get(who), points)
    return found


def _reviewer(
    who: Label, one: Reviewer | None, points: tuple[ScalePoint, ...]
) -> ReviewerRow:
    if one is None:
        missing = (None, None, None, NOT_ENOUGH, None, NOT_ENOUGH, None)
        return ReviewerRow(who, len(points), *missing, points)
    low = high = None
    if one.offset is not None and one.offset_se is not None:
        slack = SIDE * one.offset_se
        low, high = one.offset - slack, one.offset + slack
    return ReviewerRow(
        who,
        one.ratings,
        one.offset,
        low,
        high,
        one.strictness,
        one.slope,
        one.agreement,
        one.correlation,
        points,
    )


def method_of(ranking: Ranking) -> RankMethod | None:
    """Make the method of a ranking again; None if it is a user's function.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> str(method_of(rank(ratings, method="safe(split=always)", rng=7)))
        'safe(split=always)'
    """
    if ranking.parameters.get("own_function"):
        return None
    kind = type(as_method(ranking.method, RankMethod))
    own = {name: ranking.parameters.get(name) for name in kind.options()}
    # What was done about contradictions is told with when it is to be done.
    if isinstance(split := own.get("split"), dict):
        own["split"] = split["when"]
    return kind.made({name: own[name] for name in own if name in ranking.parameters})


def _people(ratings: Ratings, check: Check | None) -> Mapping[Label, Reviewer]:
    if ratings.kind != "scores":
        return {}
    known = check.reviewers if check else describe(ratings, fit_model(ratings))
    return {one.reviewer: one for one in known}


def _offsets(
    ratings: Ratings, method: RankMethod | None, people: Mapping[Label, Reviewer]
) -> Sequence[float | None]:
    """Return by reviewer what the method takes off their scores."""
    if isinstance(method, Mean):
        return [0.0] * ratings.n_reviewers
    if method is not None and method.name == "adaptive" and people:
        return [people[who].offset for who in ratings.reviewer_labels]
    if isinstance(method, Model) and method.name in CORRECTING:
        offsets = method.fit(ratings).offsets
        if offsets is not None:
            return [float(one) for one in offsets]
    return [None] * ratings.n_reviewers


def _places(ratings: Ratings) -> Codes:
    """Return the place of each rating among its reviewer's, equal ones the best."""
    found = steps(ratings.reviewer_codes, ratings.preference)
    ends = np.cumsum(np.bincount(ratings.reviewer_codes))[found.reviewers]
    return np.asarray((ends - np.cumsum(found.sizes) + 1)[found.rows])
