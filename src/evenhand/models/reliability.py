"""How far each reviewer can be trusted: a slope and a noise of their own.

A reviewer's score of an item is held against what the others' scores say of it, so that
nobody vouches for themselves. Slopes are drawn to 1 and noises to the usual one; how
far is estimated from how much more they differ than chance makes them.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import digamma, polygamma

from evenhand.models.additive import Equations
from evenhand.models.design import build_matrix, normal_scores, totals

if TYPE_CHECKING:
    from evenhand.arrays import Codes, Flags, Scores, Table
    from evenhand.models.additive import Mixed
    from evenhand.models.design import RatingMatrix
    from evenhand.ratings import Ratings

# Rounds of slopes and noises in turn; they settle in two or three.
ROUNDS = 4
# No reviewer is taken to score better items lower, or to err by next to nothing.
LEAST_SLOPE, LEAST_NOISE = 0.05, 0.1
# Noises that differ no more than by chance: the usual one counts as so many ratings.
ALIKE, FEWEST = 1e6, 2.0
# Reviewers are held against others if they left so many ratings to see errors by, and
# so many did. Who is named errs in squares so many times as much, or has a slope below
# this, surely: ordinary logarithms of noises and slopes vary about so much, as if so
# many reviewers had shown it.
SEEN, FEWEST_COMPARED, NOISIER, FLATTER = 8, 3, 2.0, 0.5
SURE, USUAL_NOISE, USUAL_SLOPES, USUAL_REVIEWERS = 3.0, 0.25, 0.06, 4
TO_NORMAL = 1.4826
# Largest variance of slopes; and what stands for none, in divisions.
WIDEST, TINY = 0.25, 1e-12


class Reliability(NamedTuple):
    """Slopes and noises of reviewers, drawn to those of all.

    Attributes:
        slopes: How much wider than others each spreads values.
        noises: Variance of each reviewer's errors over the usual one.
        known: As how many ratings the usual noise counts.
        freedom: Ratings of each reviewer that are left to see errors by.
        squares: Mean squared errors over the usual ones, before they are drawn.
        steeper: Slopes before they are drawn, and their variances, as rows.
    """

    slopes: Scores
    noises: Scores
    known: float
    freedom: Scores
    squares: Scores
    steeper: Table


def find_reliability(matrix: RatingMatrix, mixed: Mixed) -> Reliability | None:
    """Estimate how reliable each reviewer is; None if nothing varies.

    Args:
        matrix: Scores.
        mixed: Their fit with offsets alone.

    References:
        Smyth (2004), Linear models and empirical Bayes methods, for the noises;
        DerSimonian and Laird (1986), Meta-analysis, for the slopes.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> items = np.arange(40)
        >>> scores = [items, items + 1, items * 7 % 40, items + items % 3]
        >>> people = np.repeat(["a", "b", "c", "d"], 40)
        >>> ratings = Ratings(people, [*items] * 4, np.concatenate(scores))
        >>> matrix = build_matrix(ratings)
        >>> fit = Equations(matrix).fit(matrix.scores)
        >>> int(find_reliability(matrix, fit).noises.argmax())
        2
    """
    parts, people, items = mixed.variances, matrix.reviewers, matrix.items
    if parts.item <= TINY * parts.rest or parts.rest <= 0:
        return None
    loads = np.maximum(matrix.load_weights, TINY)
    slopes, offsets = np.ones(matrix.n_reviewers), mixed.reviewers
    noises = np.full(matrix.n_reviewers, parts.rest)
    once, least = matrix.weigh(np.ones(len(people))), TINY * parts.rest
    for _ in range(ROUNDS):
        centred = matrix.scores - mixed.mean
        own = centred - offsets[people]
        weights = once * (slopes**2 / noises)[people]
        pulls = weights * own / slopes[people]
        sums, counts = (
            totals(items, part, matrix.n_items) for part in (pulls, weights)
        )
        # What the others alone say of the item, and how far that is unsure.
        unsure = 1 / np.maximum(counts[items] - weights + 1 / parts.item, TINY)
        values = unsure * (sums[items] - pulls)
        doubt = matrix.by_reviewer(unsure * slopes[people] ** 2) / loads
        total, steepness = noises + doubt, matrix.by_reviewer(values**2)
        steps = matrix.by_reviewer(values * (own - values))
        steady = total / _spread(steps, steepness / total, total)
        slopes = np.maximum(1 + steps / (steepness + steady), LEAST_SLOPE)
        level = total / max(parts.reviewer, least)
        sloped = centred - slopes[people] * values
        offsets = matrix.by_reviewer(sloped) / (loads + level)
        used = loads / (loads + level) + steepness / (steepness + steady)
        freedom, usual = np.maximum(matrix.loads - used, TINY), parts.rest + doubt
        squares = matrix.by_reviewer((sloped - offsets[people]) ** 2) * matrix.loads
        squares /= loads * freedom * usual
        count = _known_ratings(squares, freedom)
        drawn = (freedom * squares + count) / (freedom + count)
        noises = np.maximum(drawn * usual - doubt, LEAST_NOISE * parts.rest)
    wide = np.maximum(steepness, least)
    steeper = np.stack([1 + steps / wide, total / wide])
    return Reliability(slopes, noises / parts.rest, count, freedom, squares, steeper)


def find_unreliable(reliability: Reliability) -> Codes:
    """Return who surely errs much more than others, or hardly follows what they say.

    Each is held against the middle reviewer. How much ordinary ones differ is taken
    from the middle half, so that bad ones do not excuse each other, and is drawn to
    what is usual. Of ordinary reviewers one in 100 is named at most.

    Examples:
        >>> ones = np.ones(4)
        >>> known = Reliability(ones, ones, 9.0, 99 * ones, np.array([1.0, 1, 1, 30]),
        ...                     np.stack([ones, ones / 99]))
        >>> find_unreliable(known).tolist()
        [3]
    """
    half = np.maximum(reliability.freedom, 1.0) / 2
    seen = reliability.freedom >= SEEN
    logs = np.log(np.maximum(reliability.squares, TINY)) - digamma(half) + np.log(half)
    slopes, errors = reliability.steeper
    noisy = _stands_out(logs, polygamma(1, half), seen, USUAL_NOISE) & (
        logs - np.median(logs[seen] if seen.any() else logs) > math.log(NOISIER)
    )
    flat = _stands_out(-slopes, errors, seen, USUAL_SLOPES) & (slopes < FLATTER)
    return np.flatnonzero(noisy | flat)


def reliability_of(ratings: Ratings) -> Reliability | None:
    """Return slopes and noises in the normal quantiles of scores; None without any.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> reliability_of(Ratings(["a"], ["x"], [1]))
    """
    if ratings.kind != "scores":
        return None
    matrix = build_matrix(ratings, normal_scores(ratings.scores))
    return find_reliability(matrix, Equations(matrix).fit(matrix.scores))


def _stands_out(values: Scores, chance: Scores, seen: Flags, usual: float) -> Flags:
    """Say whose value is above the middle by more than chance and usual differences."""
    if seen.sum() < FEWEST_COMPARED:
        return np.zeros(len(values), dtype=bool)
    middle, number = np.median(values[seen]), int(seen.sum())
    width = TO_NORMAL * float(np.median(np.abs(values[seen] - middle)))
    spread = max(width**2 - float(np.median(chance[seen])), 0.0)
    spread = (number * spread + USUAL_REVIEWERS * usual) / (number + USUAL_REVIEWERS)
    return np.asarray(seen & (values - middle > SURE * np.sqrt(chance + spread)))


def _spread(steps: Scores, precision: Scores, total: Scores) -> float:
    """Estimate the variance of slopes by moments."""
    seen = precision > TINY
    away = steps[seen] / (precision[seen] * total[seen])
    excess = float(precision[seen] @ away**2) - float(seen.sum())
    return float(np.clip(excess / max(float(precision.sum()), TINY), TINY, WIDEST))


def _known_ratings(squares: Scores, freedom: Scores) -> float:
    """Estimate as how many ratings the usual noise counts, by moments of logarithms."""
    seen = (freedom >= 1) & (squares > 0)
    if seen.sum() < FEWEST:
        return ALIKE
    half = freedom[seen] / 2
    chance = polygamma(1, half)
    logs = np.log(squares[seen]) - digamma(half) + np.log(half)
    away = (logs - np.average(logs, weights=1 / chance)) ** 2
    excess = float(np.average(away - chance, weights=chance**-2.0))
    if excess <= polygamma(1, ALIKE / 2):
        return ALIKE
    # Newton's steps for the count whose noises differ as much.
    place = 0.5 + 1 / excess
    for _ in range(20):
        here = float(polygamma(1, place))
        place += here * (1 - here / excess) / float(polygamma(2, place))
    return float(np.clip(2 * place, FEWEST, ALIKE))


def reliable_matrix(
    ratings: Ratings, scores: Scores
) -> tuple[RatingMatrix, Scores | float]:
    """Weigh each rating by what it says of its item's value.

    Args:
        ratings: Who rated what.
        scores: One for each rating.

    Returns:
        Normal quantiles of the scores, each divided by its reviewer's slope and
        weighed, as a matrix; and the slope by rating.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> reliable_matrix(ratings, ratings.scores)[1].tolist()
        [1.0, 1.0]
    """
    matrix, slopes = reliable_scores(build_matrix(ratings, normal_scores(scores)))
    return replace(matrix, scores=matrix.scores / slopes), slopes


def reliable_scores(matrix: RatingMatrix) -> tuple[RatingMatrix, Scores | float]:
    """Weigh each rating of a matrix, and return the slope of each.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> reliable_scores(build_matrix(Ratings(["a"], ["x"], [1])))[1]
        1.0
    """
    mixed = Equations(matrix).fit(matrix.scores)
    reliability = find_reliability(matrix, mixed)
    if reliability is None:
        return matrix, 1.0
    slopes = reliability.slopes[matrix.reviewers]
    weights = matrix.weigh(slopes**2 / reliability.noises[matrix.reviewers])
    weights = weights / weights.mean()
    weighed = replace(
        matrix,
        weights=weights,
        load_weights=totals(matrix.reviewers, weights, matrix.n_reviewers),
        count_weights=totals(matrix.items, weights, matrix.n_items),
    )
    return weighed, slopes
