"""What stands behind an item and a reviewer: their reviews, one by one, and drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.calibration.design import steps
from evenhand.diagnosis.reviewers import AGAINST, NOT_ENOUGH, UNRELATED
from evenhand.method import Chosen, as_method
from evenhand.ranking.methods import Model, RankMethod
from evenhand.ranking.results import Ranking
from evenhand.ranking.uncertainty import RANDOM, how_left_out, leave_one_out
from evenhand.words.pictures import Axis, axis

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.ab.comparison import Comparison
    from evenhand.arrays import Codes, Floats
    from evenhand.claims import Label
    from evenhand.diagnosis.check import Check
    from evenhand.diagnosis.reviewers import Reviewer
    from evenhand.grading import Grades
    from evenhand.ratings import Ratings

    Pairs = Sequence[tuple[float, float]]
    Points = Mapping[Label, Sequence["ScalePoint"]]

LARGEST = float(np.finfo(np.float64).max)
# Scores up to which each is drawn, shares of scores below and above a band, and scores
# of a reviewer that make a line.
DRAWN, BAND, FEWEST = 3_000, (0.1, 0.9), 3
# Decimals of scores at most.
DECIMALS = 3


class ReviewRow(NamedTuple):
    """One review of an item.

    Attributes:
        reviewer: Who.
        score: Their score; None if there are only ranks.
        place: Place of the item among those they rated, 1 is best; equal ones share
            the best.
        of: How many items they rated.
        offset: How many points above others they score; None if that is not known.
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
    strictness: str
    corrected: float | None
    without: int | None


class ScalePoint(NamedTuple):
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


def item_details(
    ratings: Ratings, result: Ranking | Grades, check: Check
) -> Mapping[Label, Sequence[ReviewRow]]:
    """List the reviews of each item, and where it would stand without each of them.

    Args:
        ratings: What was ranked; of comparisons there are no reviews to list.
        result: The ranking, or the marks, which are not made again without a review.
        check: What the ratings can support.

    Examples:
        >>> from evenhand import Ratings, check, rank
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [3, 2.2, 1, 2.5])
        >>> result = rank(ratings, method="mean", rng=7)
        >>> found = item_details(ratings, result, check(ratings, rng=7))
        >>> [(row.reviewer, row.score, row.without) for row in found["x"]]
        [('a', 3.0, 2), ('b', 1.0, 1)]
    """
    rows: dict[Label, list[ReviewRow]] = {item: [] for item in ratings.item_labels}
    if ratings.kind == "comparisons":
        return rows
    method = method_of(result, RankMethod) if isinstance(result, Ranking) else None
    people = {one.reviewer: one for one in check.reviewers}
    offsets = _offsets(ratings, result, method, people)
    ranks: Sequence[int | None] = (None,) * ratings.n_ratings
    if method is not None:
        ranks = leave_one_out(ratings, method, result.seed)
    loads = np.bincount(ratings.reviewer_codes).tolist()
    columns = zip(
        ratings.reviewer_codes.tolist(),
        ratings.item_codes.tolist(),
        _scores(ratings),
        _places(ratings).tolist(),
        ranks,
        strict=True,
    )
    for who, item, score, place, without in columns:
        one, offset = people.get(ratings.reviewer_labels[who]), offsets[who]
        row = ReviewRow(
            ratings.reviewer_labels[who],
            score,
            place,
            loads[who],
            one.offset if one else None,
            one.strictness if one else NOT_ENOUGH,
            None if score is None or offset is None else score - offset,
            without,
        )
        rows[ratings.item_labels[item]].append(row)
    return rows


def _scores(ratings: Ratings) -> list[float | None]:
    """Return the scores; None of each rating if there are only orders."""
    scored = ratings.kind == "scores"
    return ratings.preference.tolist() if scored else [None] * ratings.n_ratings


def without_sentence(ratings: Ratings, ranking: Ranking) -> str:
    """Say how ranks without a review were found, or why they were not.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> without_sentence(ratings, rank(ratings, rng=7))
        'The ranking was made again without each review.'
    """
    method = method_of(ranking, RankMethod)
    if method is None:
        return RANDOM.format(ranking.method)
    return how_left_out(ratings, method)


def reviewer_details(ratings: Ratings, check: Check) -> Points:
    """List the items of each reviewer, best first, beside what others say of them.

    Args:
        ratings: The ratings; of comparisons there are no reviewers to list.
        check: What the ratings can support.

    Examples:
        >>> from evenhand import Ratings, check
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [3, 2, 1, 9])
        >>> found = reviewer_details(ratings, check(ratings, rng=7))
        >>> [point.item for point in found["b"]]
        ['y', 'x']
    """
    ratings = ratings.public
    if ratings.kind == "comparisons":
        return {}
    others: list[float | None] = [None] * ratings.n_ratings
    if ratings.kind == "scores":
        heard = consensus(ratings, check.reviewers).tolist()
        others = [one if np.isfinite(one) else None for one in heard]
    found: dict[Label, list[ScalePoint]] = {who: [] for who in ratings.reviewer_labels}
    places, scores = _places(ratings).tolist(), _scores(ratings)
    for row in np.argsort(places, kind="stable").tolist():
        item = ratings.item_labels[ratings.item_codes[row]]
        point = ScalePoint(item, scores[row], others[row], places[row])
        found[ratings.reviewer_labels[ratings.reviewer_codes[row]]].append(point)
    return found


def consensus(ratings: Ratings, people: Sequence[Reviewer]) -> Floats:
    """Return for each rating what the other reviewers say of the item.

    That is the mean of their scores, less their offsets; NaN if there are no others.
    Reviewers without an offset, whose order does not agree, are no others.

    Examples:
        >>> from evenhand.diagnosis.reviewers import describe, fit_model
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "b", "b"], ["x", "x", "y"], [1.0, 2.0, 5.0])
        >>> people = describe(ratings, fit_model(ratings))
        >>> consensus(ratings, people).tolist()[2]
        nan
    """
    # In a unit in which sums cannot leave the floats.
    unit = float(np.abs(ratings.scores).max()) or 1.0
    offsets = np.array([one.offset or 0.0 for one in people]) / unit
    heard = np.array([one.agreement not in (AGAINST, UNRELATED) for one in people])
    counts = heard[ratings.reviewer_codes].astype(np.float64)
    level = counts * (ratings.scores / unit - offsets[ratings.reviewer_codes])

    def of_others(values: Floats) -> Floats:
        sums = np.bincount(ratings.item_codes, values, ratings.n_items)
        return np.asarray(sums[ratings.item_codes] - values)

    left, sums = of_others(counts), of_others(level)
    found = np.divide(sums, left, where=left > 0, out=np.full(len(left), np.nan))
    with np.errstate(over="ignore"):
        return np.asarray(np.clip(found * unit, -LARGEST, LARGEST))


def method_of(result: Ranking | Comparison, kind: type[Chosen]) -> Chosen | None:
    """Make the method of a result again; None if it is a user's function.

    Examples:
        >>> from evenhand import Ratings, rank
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> result = rank(ratings, method="safe(split=always)", rng=7)
        >>> str(method_of(result, RankMethod))
        'safe(split=always)'
    """
    given = result.parameters
    if given.get("own_function"):
        return None
    chosen = type(as_method(result.method, kind))
    own = {name: given[name] for name in chosen.options() if name in given}
    # What was done about contradictions is told with when it is to be done.
    if isinstance(split := own.get("split"), dict):
        own["split"] = split["when"]
    return chosen.made(own)


def _offsets(
    ratings: Ratings,
    result: Ranking | Grades,
    method: RankMethod | None,
    people: Mapping[Label, Reviewer],
) -> Sequence[float | None]:
    """Return by reviewer what the method takes off their scores."""
    own_function = isinstance(result, Ranking) and method is None
    if own_function or ratings.kind != "scores":
        return [None] * ratings.n_reviewers
    if result.method == "mean":
        return [0.0] * ratings.n_reviewers
    if isinstance(method, Model) and result.method in ("additive", "centred"):
        offsets = method.fit(ratings).offsets
        if offsets is not None:
            return [float(one) for one in offsets]
    if result.method in ("adaptive", "additive"):
        return [people[who].offset for who in ratings.reviewer_labels]
    return [None] * ratings.n_reviewers


def _places(ratings: Ratings) -> Codes:
    """Return the place of each rating among its reviewer's, equal ones the best."""
    found = steps(ratings.reviewer_codes, ratings.preference)
    ends = np.cumsum(np.bincount(ratings.reviewer_codes))[found.reviewers]
    return np.asarray((ends - np.cumsum(found.sizes) + 1)[found.rows])


def scales(people: Points, check: Check) -> dict[Label, tuple[Pairs, Pairs, Pairs]]:
    """Draw each reviewer's scale over that of all; none without scores to compare.

    Returns:
        In a square, across and up in per cent: dots of the reviewer's scores against
        the others' of the same items, both ends of the reviewer's line, if there is
        one, and corners of where most scores of all reviewers are.

    Examples:
        >>> from evenhand import Ratings, check
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 2, 5, 4])
        >>> found = check(ratings, rng=7)
        >>> dots, line, band = scales(reviewer_details(ratings, found), found)["a"]
        >>> len(dots)
        2
    """
    pairs = {
        who: [
            (point.others, point.score)
            for point in points
            if point.others is not None and point.score is not None
        ]
        for who, points in people.items()
    }
    every = np.array([pair for own in pairs.values() for pair in own])
    if not 0 < len(every) <= DRAWN:
        return {}
    square = axis(every.ravel().tolist(), margin=0.0)
    ends = (float(every.min()), float(every.max()))
    least, most = np.quantile(every[:, 1] - every[:, 0], BAND).tolist()
    band = [(end, end + least) for end in ends]
    band += [(end, end + most) for end in ends[::-1]]
    slopes = {one.reviewer: one.slope for one in check.reviewers}
    return {
        who: (
            _placed(square, own),
            _placed(square, _line(slopes.get(who), own)),
            _placed(square, band),
        )
        for who, own in pairs.items()
        if own
    }


def _line(slope: float | None, own: Pairs) -> Pairs:
    """Return the ends of a reviewer's line: through their means, with their slope."""
    heard, given = np.mean(own, axis=0).tolist()
    if slope is None or len(own) < FEWEST:
        return []
    across = [pair[0] for pair in own]
    return [(end, given + slope * (end - heard)) for end in (min(across), max(across))]


def _placed(square: Axis, points: Pairs) -> Pairs:
    return [(square.place(one), round(100 - square.place(up), 1)) for one, up in points]


def score_axis(reviews: Mapping[Label, Sequence[ReviewRow]]) -> Axis | None:
    """Return the axis of all scores, as given and as the method takes them.

    None if there are no scores, or too many to be drawn one by one.

    Examples:
        >>> score_axis({}) is None
        True
    """
    every = [
        value
        for rows in reviews.values()
        for row in rows
        for value in (row.score, row.corrected)
        if value is not None
    ]
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
    decimals = (f"{one:.{DECIMALS}f}".rstrip("0").partition(".")[2] for one in values)
    needed = max(map(len, decimals))
    made = needed + 1
    return {"score": f"%.{needed}f", "taken": f"%.{made}f", "offset": f"%+.{made}f"}
