"""How much items and reviewers differ, how strict each reviewer is, and reviews needed.

All of it rests on the random-effects model of the scores. For reviews needed at a cut
it draws true values of the items as it sees them now, then what further reviews would
add. A further review of every item, by reviewers who rate as many items as those so
far, adds what Patterson and Thompson (1971) call the information within and between
blocks: with E = (1 - 1/k) / (1 - 1/n) for k of n items, E over the variance of the
rest, and 1 - E over that plus k times the variance of offsets.
"""

from __future__ import annotations

import bisect
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import nctdtr, ndtri, stdtr

from evenhand.claims import CONFIDENCE
from evenhand.columns import place_of
from evenhand.diagnosis import ladder
from evenhand.models import affine
from evenhand.models.additive import Equations, Mixed
from evenhand.models.design import (
    RatingMatrix,
    build_matrix,
    fixed_sums,
    steps,
    totals,
)
from evenhand.models.redraws import fit_many
from evenhand.models.reliability import find_unreliable, reliability_of
from evenhand.randomness import Stream, standard_normal, uniforms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.arrays import Codes, Flags, Scores, Table
    from evenhand.claims import Label
    from evenhand.models.design import Variances
    from evenhand.ratings import Ratings


# Unreliable reviewers that are named.
NAMED = 10
# A statement about a reviewer is made at so many standard errors.
SURE = 2.0
# With less of the prior variance removed, the prior says more than the ratings do.
KNOWN = 0.5
REPLICATES = 200
TAIL = round((1 - CONFIDENCE) / 2, 12)
NORMAL_TAIL = float(ndtri(1 - TAIL))
# Table sizes and ratings up to which 200 fits take some seconds at most.
BOOTSTRAP_LEVELS, BOOTSTRAP_RATINGS = 60, 4_000
# Ratio to the rest of the variance of what does not vary.
NOTHING = 1e-13
NOT_ENOUGH = "not enough ratings to say"
# What is said of a reviewer's agreement, but of at most one in so many ordinary ones.
AGREES, UNRELATED, AGAINST = "agrees", "no relation to the others", "against the others"
LITTLE = "little relation to the others"
DISAGREEING = (AGAINST, UNRELATED, LITTLE)
ACCUSED = 0.01
# A correlation is little if it is surely below this share of the median reviewer's.
LOW = 0.5
# A strictness is said unless an ordinary reviewer would seldom agree so little.
DOUBTED = 0.05
FEWEST_OTHERS = 2
# With so many items in common two reviewers' correlation is known to 0.2; it is looked
# at between all reviewers of up to so many.
MANY_ITEMS, FEW_REVIEWERS = 100, 30
# Prior variance of slopes beyond which those who go against the others make it.
WIDEST = 0.16
# Fewest items whose order can speak against a reviewer: of three, one in six random
# orders is upside down.
ORDERED = 4
TARGETS, MOST_REVIEWS, DRAWS = (0.8, 0.95), 100, 4000
# Only so many items on each side of the cut can change sides.
NEAR = 100
# Items whose chance to belong to the top lies between this and its complement.
DOUBT = 0.05
GRID = (0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100)
CURVE = ("reviews", "pair", "pair_se", "side", "side_se")
BOOTSTRAP = "parametric bootstrap"
FORMULA = "large-sample formula"


@dataclass(frozen=True, slots=True)
class Share:
    """A share of variance with its 95% interval.

    Attributes:
        share: The estimate.
        low: Lower end.
        high: Upper end.
    """

    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Shares:
    """Where the variance of scores comes from, as ranks among all scores.

    Attributes:
        item: The items' values; None if they cannot be told from the rest.
        reviewer: The reviewers' offsets, as `rho` of a ranking; None likewise.
        rest: What is left, with what cannot be told from it.
        method: How intervals were found.
    """

    item: Share | None
    reviewer: Share | None
    rest: Share
    method: str


@dataclass(frozen=True, slots=True)
class Reviewer:
    """How one reviewer scores.

    Attributes:
        reviewer: Who.
        ratings: How many items they rated.
        offset: How much higher than others they score, drawn to 0 as far as their
            ratings are few or noisy; None if offsets cannot be told from the rest.
        offset_se: Its standard error.
        strictness: "strict", "lenient", "typical", "not enough ratings to say", or as
            agreement of those who do not agree, for whom offset and slope are None.
        slope: How much wider than others they spread their scores, drawn to 1.
        slope_se: Its standard error.
        spread: "wide", "narrow", "typical" or as strictness.
        agreement: "agrees", "little relation to the others", "no relation to the
            others", "against the others", "always gives 8", or "not enough ratings to
            say".
        correlation: Of their scores with the mean of the others' for the same items,
            less the others' offsets; None if there is none.
    """

    reviewer: Label
    ratings: int
    offset: float | None
    offset_se: float | None
    strictness: str
    slope: float | None
    slope_se: float | None
    spread: str
    agreement: str
    correlation: float | None


@dataclass(frozen=True, slots=True)
class Unreliable:
    """A reviewer who surely errs much more than others, or hardly follows them.

    Attributes:
        reviewer: Who.
        slope: How widely they spread values, the usual one being 1; drawn to that.
        noise: Variance of their errors over the usual one; drawn to 1.
        gain: How much larger the share of others' held-out comparisons is that is
            predicted rightly without this reviewer; None if nothing can be held out.
        gain_se: Its standard error, by reviewer.
    """

    reviewer: Label
    slope: float
    noise: float
    gain: float | None
    gain_se: float | None


def name_unreliable(ratings: Ratings) -> tuple[Unreliable, ...]:
    """Name the unreliable reviewers, at most ten, worst first.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> name_unreliable(Ratings(["a"], ["x"], [1]))
        ()
    """
    reliability = reliability_of(ratings)
    if reliability is None:
        return ()
    codes = find_unreliable(reliability)
    trust = reliability.slopes[codes] ** 2 / reliability.noises[codes]
    worst = codes[np.argsort(trust, kind="stable")][:NAMED].tolist()
    tries = not ladder.why_no_ladder(ratings)
    return tuple(
        Unreliable(
            ratings.reviewer_labels[code],
            float(reliability.slopes[code]),
            float(reliability.noises[code]),
            *(ladder.gain_without(ratings, code) if tries else (None, None)),
        )
        for code in worst
    )


class OffsetModel(NamedTuple):
    """The random-effects model of the scores.

    Attributes:
        matrix: The scores in a safe unit.
        equations: What their offsets and values solve.
        mixed: Offsets and values.
        free: Whether the variances of reviewers and of items can be told from the rest.
    """

    matrix: RatingMatrix
    equations: Equations
    mixed: Mixed
    free: Flags


def fit_model(ratings: Ratings) -> OffsetModel:
    """Fit offsets and values by restricted maximum likelihood.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> fit_model(Ratings(["a", "a"], ["x", "y"], [1, 2])).free.tolist()
        [False, False]
    """
    matrix = build_matrix(ratings)
    equations = Equations(matrix)
    # Where the form fixes reviewers' sums, nothing says how strict they are.
    free = equations.free & [fixed_sums(ratings) is None, True]
    return OffsetModel(matrix, equations, equations.fit(matrix.scores), free)


def variance_shares(
    model: OffsetModel, parts: Variances | None, source: Stream
) -> Shares | None:
    """Give the shares intervals; None if nothing varies or nothing can be told apart.

    Intervals come from 200 data sets drawn from the fitted model on the same
    assignment, refitted; for large data, from the asymptotic errors of the three
    variances in a balanced design of the same size.

    Examples:
        >>> from evenhand.randomness import stream
        >>> from evenhand.ratings import Ratings
        >>> model = fit_model(Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 2] * 2))
        >>> parts = model.mixed.variances
        >>> found = variance_shares(model, parts, stream(7, "bootstrap"))
        >>> round(found.item.share, 3), found.method
        (0.999, 'parametric bootstrap')
    """
    if parts is None or not any(parts.shares) or not model.free.any():
        return None
    matrix, shares = model.matrix, _three(np.array(parts.shares[:2]), model.free)
    least = min(matrix.n_items, matrix.n_reviewers)
    few = least <= BOOTSTRAP_LEVELS and len(matrix.scores) <= BOOTSTRAP_RATINGS
    if few:
        columns = [_redraw(matrix, parts, source) for _ in range(REPLICATES)]
        _, redraws = fit_many(model.equations, np.stack(columns, axis=1))
        draws = [_three(column, model.free) for column in redraws.T]
        low, high = np.quantile(draws, [TAIL, 1 - TAIL], axis=0)
    else:
        slack = NORMAL_TAIL * _asymptotic(model, parts)
        low, high = shares - slack, shares + slack
    ends = [shares, np.minimum(low, shares), np.maximum(high, shares)]
    reviewer, item, residual = (
        Share(*column) for column in np.clip(ends, 0, 1).T.tolist()
    )
    return Shares(
        item=item if model.free[1] else None,
        reviewer=reviewer if model.free[0] else None,
        rest=residual,
        method=BOOTSTRAP if few else FORMULA,
    )


def _three(two: Scores, free: Flags) -> Scores:
    return np.append(two * free, max(0.0, 1.0 - float(two @ free)))


def _redraw(matrix: RatingMatrix, parts: Variances, source: Stream) -> Scores:
    """Draw scores with these variances, of mean 0."""
    ends = np.cumsum([matrix.n_reviewers, matrix.n_items, len(matrix.scores)])
    normal = standard_normal(uniforms(source, int(ends[-1])))
    offsets, values, errors = np.split(normal, ends[:-1])
    scores = (
        np.sqrt(parts.reviewer) * offsets[matrix.reviewers]
        + np.sqrt(parts.item) * values[matrix.items]
        + np.sqrt(parts.rest / matrix.weigh(np.ones(len(errors)))) * errors
    )
    return np.asarray(scores - scores.mean())


def _asymptotic(model: OffsetModel, parts: Variances) -> Scores:
    """Return the standard errors of the three shares, by the delta method."""
    matrix, rated = model.matrix, model.matrix.counts[model.matrix.counts > 0]
    values = np.array([parts.reviewer, parts.item]) * model.free
    # What cannot be told from the rest counts as rest, for items.
    values = np.append(values, parts.rest + parts.item * ~model.free[1])
    levels = np.array([matrix.n_reviewers - 1, len(rated) - 1])
    remaining = len(matrix.scores) - 1 - levels @ model.free
    freedom = np.maximum([*levels, remaining], 1)
    # The mean over a level of the rest adds to what is seen of its effect.
    fuzz = np.array([np.mean(1 / matrix.loads), np.mean(1 / rated), 0.0])
    errors = np.sqrt(2 / freedom) * (values + fuzz * parts.rest)
    errors[:2] *= model.free
    slopes = (np.eye(3) - (values / values.sum())[:, None]) / values.sum()
    return np.asarray(np.sqrt(slopes**2 @ errors**2))


def effect_errors(model: OffsetModel) -> tuple[Scores, Scores]:
    """Return the standard errors of offsets and of values, in the unit of the matrix.

    They are those against the mean of the reviewers and of the items at hand, exactly
    while the model fits into a table. Beyond, each rating counts with the rest's
    variance plus that of its item's prediction, as if these were independent.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> model = fit_model(Ratings(["a", "a", "b", "b"], [1, 2] * 2, [1, 2, 3, 5]))
        >>> [errors.shape for errors in effect_errors(model)]
        [(2,), (2,)]
    """
    matrix, parts = model.matrix, model.mixed.variances
    # What does not vary has no error, so the other effect's has no part of it.
    offsets, values = model.equations.errors(parts, NOTHING)
    if parts.reviewer == 0:
        return np.zeros_like(offsets), values
    if np.isnan(offsets).any():
        loads = matrix.load_weights
        noise = matrix.by_reviewer(parts.rest + values[matrix.items] ** 2) / loads
        offsets = np.sqrt(1 / (1 / parts.reviewer + loads / noise))
    return offsets, values


def describe(ratings: Ratings, model: OffsetModel) -> tuple[Reviewer, ...]:
    """Say how strict and how wide each reviewer is, as far as can be said.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a"] * 4 + ["b"] * 4 + ["c"], [1, 2, 3, 4] * 2 + [1],
        ...                   [1, 2, 3, 4, 5, 6, 7.1, 8, 2])
        >>> found = describe(ratings, fit_model(ratings))
        >>> [one.strictness for one in found]
        ['strict', 'lenient', 'not enough ratings to say']
    """
    matrix = model.matrix
    state = affine.fit_affine(matrix, affine.start(matrix, model.mixed), quick=True)
    agreement = compare_with_others(model, state.spread if state.steps else 0.0)
    constant = say_constant(ratings, matrix)
    words = np.where(constant == "", agreement.words, constant)
    offsets, errors = model.mixed.reviewers, effect_errors(model)[0]
    if agreement.doubtful.any() and not agreement.doubtful.all():
        # Offsets are from the mean of those who have one.
        offsets = offsets - offsets[~agreement.doubtful].mean()
    slopes, slope_errors = state.slopes, np.sqrt(state.slope_variances)
    prior = model.mixed.variances.reviewer
    strict = _words(offsets, errors, prior, ("strict", "lenient"))
    wide = _words(slopes - 1, slope_errors, state.spread, ("narrow", "wide"))
    has_offset, sloped = (
        ~agreement.doubtful & model.free[0],
        ~agreement.doubtful & (state.steps > 0),
    )
    missing = np.where(np.isin(words, DISAGREEING), words, NOT_ENOUGH)
    several, nothing = matrix.loads > 1, np.array(None)
    columns = zip(
        ratings.reviewer_labels,
        matrix.loads.tolist(),
        np.where(has_offset, matrix.in_units(offsets), nothing).tolist(),
        np.where(has_offset, matrix.in_units(errors), nothing).tolist(),
        np.where(has_offset & several, strict, missing).tolist(),
        np.where(sloped, slopes, nothing).tolist(),
        np.where(sloped, slope_errors, nothing).tolist(),
        np.where(sloped & several, wide, missing).tolist(),
        words.tolist(),
        np.where(agreement.tested, agreement.correlations, nothing).tolist(),
        strict=True,
    )
    people = [Reviewer(*row) for row in columns]
    return tuple(sorted(people, key=lambda reviewer: place_of(reviewer.reviewer)))


class Agreement(NamedTuple):
    """How each reviewer's scores go with the others'.

    Attributes:
        tested: Who has enough items in common with others.
        correlations: With what the others' scores predict.
        words: What may be said.
        doubtful: Whose order is not seen to agree, so that an offset means nothing.
    """

    tested: Flags
    correlations: Scores
    words: NDArray[np.str_]
    doubtful: Flags


def compare_with_others(model: OffsetModel, spread: float) -> Agreement:
    """Compare each reviewer's scores with what the others' scores predict for them.

    The prediction is the expected value of each item given the others' scores of it,
    less their offsets. For a reviewer of the fitted model the t-statistic of the
    correlation has a noncentral t distribution, averaged here over how widely reviewers
    spread their scores; for random scores, a central one. "no relation" is said if the
    first would be this low with a probability of at most 1%, "against" if the second
    would; so each is said of at most about 1 in 100 ordinary reviewers. "little
    relation" is said where many ratings show a correlation, but one that is also surely
    less than half of the median reviewer's.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> scores = [1, 2, 3, 4, 5, 6] * 4 + [6, 5, 4, 3, 2, 1]
        >>> who = [reviewer for reviewer in "abcde" for _ in range(6)]
        >>> ratings = Ratings(who, [1, 2, 3, 4, 5, 6] * 5, scores)
        >>> compare_with_others(fit_model(ratings), 0.0).words.tolist()[3:]
        ['agrees', 'against the others']
    """
    matrix, number, parts = (
        model.matrix,
        model.matrix.n_reviewers,
        model.mixed.variances,
    )
    level = matrix.scores - model.mixed.reviewers[matrix.reviewers]
    others = matrix.counts[matrix.items] - 1
    rows = others > 0
    reviewers, others = matrix.reviewers[rows], others[rows]
    sums = totals(matrix.items, level, matrix.n_items)
    means = (sums[matrix.items] - level)[rows] / others
    total = parts.item + parts.rest / others
    trust = np.divide(parts.item, total, out=np.zeros(len(reviewers)), where=total > 0)
    loads = np.bincount(reviewers, minlength=number)

    def average(values: Scores) -> Scores:
        return np.asarray(np.bincount(reviewers, values, number) / np.maximum(loads, 1))

    def centre(values: Scores) -> Scores:
        return np.asarray(values - average(values)[reviewers])

    own, theirs = centre(matrix.scores[rows]), centre(means)
    width = np.sqrt(average(theirs**2))
    size = np.sqrt(average(own**2)) * width
    tested = (loads >= ORDERED) & (size > affine.NEGLIGIBLE * size.max(initial=0.0))
    correlations = np.zeros(number)
    correlations[tested] = np.clip(average(own * theirs)[tested] / size[tested], -1, 1)
    freedom = np.maximum(loads - 2, 1)
    t = correlations * np.sqrt(
        freedom / np.maximum(1 - correlations**2, np.finfo(float).eps)
    )
    noise = np.sqrt(average(parts.item * (1 - trust)) + parts.rest)
    expected = np.sqrt(loads) * average(centre(trust * means) * theirs)
    floor = np.finfo(float).tiny
    strength = np.where(tested, expected / np.maximum(width * noise, floor), 0.0)
    usual, by_chance = _chance_of_less(t, freedom, strength, spread), stdtr(freedom, t)
    clear = by_chance >= 1 - TAIL
    # Of two, nobody can say who goes against whom.
    several = average(others.astype(float)) >= FEWEST_OTHERS
    heard = tested & (several | (_others_in_common(matrix) >= FEWEST_OTHERS))
    ordinary = float(np.median(correlations[tested])) if tested.any() else 0.0
    high = correlation_interval(correlations, loads)[1]
    low = high < LOW * ordinary
    little, unrelated = clear & low, (usual <= ACCUSED) | low
    cases = [~heard, by_chance <= ACCUSED, little, clear, unrelated]
    verdicts = [NOT_ENOUGH, AGAINST, LITTLE, AGREES, UNRELATED]
    words = np.select(cases, verdicts, NOT_ENOUGH)
    doubtful = tested & (little | ~clear & ((usual <= DOUBTED) | (correlations <= 0)))
    return Agreement(tested, correlations, words, doubtful)


def correlation_interval(correlations: Scores, numbers: Codes) -> tuple[Scores, Scores]:
    """Return the ends of 95% intervals of correlations, by Fisher's z.

    Examples:
        >>> low, high = correlation_interval(np.array([0.05]), np.array([3562]))
        >>> low.round(3).tolist(), high.round(3).tolist()
        ([0.017], [0.083])
    """
    most = 1 - np.finfo(float).eps
    middle = np.arctanh(np.clip(correlations, -most, most))
    reach = NORMAL_TAIL / np.sqrt(np.maximum(numbers - 3.0, 1.0))
    return np.tanh(middle - reach), np.tanh(middle + reach)


def common_items(ratings: Ratings) -> dict[Label, int]:
    """Count the items of each reviewer that others rated too.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> common_items(Ratings(["a", "a", "b"], ["x", "y", "x"], [1, 2, 3]))
        {'a': 1, 'b': 1}
    """
    shared = np.bincount(ratings.item_codes)[ratings.item_codes] > 1
    reviewers = ratings.reviewer_codes[shared]
    counts = np.bincount(reviewers, minlength=ratings.n_reviewers).tolist()
    return dict(zip(ratings.reviewer_labels, counts, strict=True))


def _others_in_common(matrix: RatingMatrix) -> Codes:
    """Count with how many others each reviewer has many items in common, if few are."""
    if matrix.n_reviewers > FEW_REVIEWERS:
        return np.zeros(matrix.n_reviewers, dtype=np.int64)
    ends, sizes = (matrix.reviewers, matrix.items), (matrix.n_reviewers, matrix.n_items)
    links = csr_array((np.ones(len(matrix.scores)), ends), sizes)
    common = (links @ links.T).toarray() >= MANY_ITEMS
    return np.asarray(common.sum(axis=1) - common.diagonal())


def _chance_of_less(
    t: Scores, freedom: Codes, strength: Scores, spread: float
) -> Scores:
    """Return how often an ordinary reviewer, of any width of scale, is as low as t."""
    nodes, shares = np.polynomial.hermite_e.hermegauss(9)
    widths = np.maximum(1 + np.sqrt(min(spread, WIDEST)) * nodes, 0.0)
    below = nctdtr(freedom[:, None], strength[:, None] * widths, t[:, None])
    return np.asarray(below @ (shares / shares.sum()))


def say_constant(ratings: Ratings, matrix: RatingMatrix) -> NDArray[np.str_]:
    """Say who gave one score to all their items, if that tells them from others.

    If two scores of one reviewer are equal with probability q, all k of them are with
    probability at most q ** (k / 2); this must be at most 1%.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> rows = Ratings(["a"] * 5 + ["b"] * 5, [1, 2, 3, 4, 5] * 2,
        ...                [8, 8, 8, 8, 8, 1, 2, 3, 5, 4])
        >>> say_constant(rows, build_matrix(rows)).tolist()
        ['always gives 8', '']
    """
    number, tiers = matrix.n_reviewers, steps(matrix.reviewers, ratings.scores)
    tied = totals(tiers.reviewers, tiers.sizes * (tiers.sizes - 1.0), number)
    pairs = matrix.loads * (matrix.loads - 1.0)
    rates = (tied.sum() - tied) / np.maximum(pairs.sum() - pairs, 1)
    flat = (pairs.sum() > pairs) & (matrix.loads > 1) & (tied == pairs)
    sure = flat & (rates ** (matrix.loads / 2) <= ACCUSED)
    scores = ratings.scores[np.searchsorted(matrix.reviewers, np.arange(number))]
    return np.where(sure, [f"always gives {score:g}" for score in scores], "")


def _words(
    effects: Scores, errors: Scores, prior: float, words: tuple[str, str]
) -> NDArray[np.str_]:
    """Put an effect in words: below, above, neither, or not enough to say."""
    if prior <= 0:
        return np.full(len(effects), "typical")
    sure = np.abs(effects) > SURE * errors
    doubtful = 1 - errors**2 / prior < KNOWN
    cases = [sure & (effects < 0), sure & (effects > 0), doubtful]
    return np.select(cases, [*words, NOT_ENOUGH], "typical")


@dataclass(frozen=True, slots=True)
class Target:
    """How many more reviews reach a probability.

    Attributes:
        probability: What is to be reached.
        reviews: Fewest further reviews of each item that reach it, by simulation; None
            if 100 do not.
        low: Fewest that reach it if the simulation erred by two standard errors for it.
        high: The same against it; None if 100 do not.
    """

    probability: float
    reviews: int | None
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class Needed:
    """What further reviews would do at a cut.

    Attributes:
        top: How many items are above the cut.
        above: The last item above it, by the order of `rank`.
        below: The first item below it.
        near: How many items may be on either side (5 to 95%).
        pair: For the two items at the cut to be put in their true order.
        side: For the share of items near the cut that are on their true side, averaged
            over draws; that all of them are is less likely.
        curve: For some numbers of further "reviews" the probability for the two items
            ("pair"), its standard error ("pair_se"), the average share of items near
            the cut ("side") and its standard error ("side_se"). Without further reviews
            it is the order of `rank` that is right or wrong.
        reviews_now: Median number of reviews of an item so far.
    """

    top: int
    above: Label
    below: Label
    near: int
    pair: tuple[Target, ...]
    side: tuple[Target, ...]
    curve: tuple[dict[str, float], ...]
    reviews_now: float


def information(model: OffsetModel) -> float:
    """Return what one further review of an item is worth: one over its variance.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a"] * 3 + ["b"] * 3, [1, 2, 3] * 2, [1, 2, 4, 3, 3, 6])
        >>> model = fit_model(ratings)
        >>> round(information(model) * model.mixed.variances.rest, 6)
        1.0
    """
    matrix, parts = model.matrix, model.mixed.variances
    load, items = float(np.median(matrix.loads)), matrix.n_items
    within = min(1.0, (1 - 1 / load) / (1 - 1 / items)) if items > 1 else 0.0
    return within / parts.rest + (1 - within) / (parts.rest + load * parts.reviewer)


def further_reviews(
    ratings: Ratings, model: OffsetModel | None, order: Codes, top: int, source: Stream
) -> tuple[Needed | None, str]:
    """Simulate further reviews.

    Args:
        ratings: Scores.
        model: Their random-effects model; None without scores.
        order: Items from best to worst, as `rank` has them.
        top: How many items are above the cut.
        source: Where the draws come from.

    Returns:
        What they would do, or None; and why the model has no answer, a case of the
            warning.

    Examples:
        >>> from evenhand.randomness import stream
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(list("aaabbb"), list("xyz") * 2, [1, 2, 4, 3, 3, 6])
        >>> model, order = fit_model(ratings), np.array([2, 0, 1])
        >>> found, _ = further_reviews(ratings, model, order, 1, stream(7, "needed"))
        >>> found.above, found.below
        ('z', 'x')
    """
    if model is None:
        return None, "no_scores"
    if not model.free[1]:
        return None, "rated_once"
    if fixed_sums(ratings):
        return None, "fixed_sums"
    parts = model.mixed.variances
    if parts.item == 0 or parts.rest == 0:
        return None, "no_spread"
    first = max(0, top - NEAR)
    window = order[first : top + NEAR]
    unit, names = float(np.sqrt(parts.item)), ratings.item_labels
    trial = _Trial(
        means=model.mixed.items[window] / unit,
        errors=np.maximum(effect_errors(model)[1][window] / unit, 1e-9),
        worth=information(model) * unit**2,
        cut=top - first,
        normal=standard_normal(uniforms(source, (2, DRAWS, len(window)))),
    )
    pair, side = (
        tuple(trial.target(probability, by) for probability in TARGETS) for by in (0, 1)
    )
    curve = ((more, *trial.chances(more)) for more in GRID)
    needed = Needed(
        top=int(top),
        above=names[int(order[top - 1])],
        below=names[int(order[top])],
        near=int(trial.near.sum()),
        pair=pair,
        side=side,
        curve=tuple(dict(zip(CURVE, row, strict=True)) for row in curve),
        reviews_now=float(np.median(model.matrix.counts)),
    )
    return needed, ""


class _Trial:
    """True values and further reviews of the items around a cut, best first."""

    def __init__(
        self, means: Table, errors: Table, worth: float, cut: int, normal: Table
    ) -> None:
        self.means, self.errors, self.worth, self.cut = means, errors, worth, cut
        self.truth, self.noise = means + errors * normal[0], normal[1]
        self.true_top = self._top(self.truth)
        chance = self.true_top.mean(axis=0)
        self.near = (chance > DOUBT) & (chance < 1 - DOUBT)
        # The two items at the cut are near it however sure the model is.
        self.near[[cut - 1, cut]] = True
        self.chances = functools.cache(self._chances)

    def _top(self, values: Table) -> Flags:
        """Say which items of each draw are among the first `cut`."""
        least = np.partition(values, -self.cut, axis=1)[:, -self.cut]
        return np.asarray(values >= least[:, None])

    def _chances(self, more: int) -> tuple[float, ...]:
        """Return both probabilities after so many more reviews, with their errors."""
        after = np.broadcast_to(-np.arange(float(len(self.means))), self.truth.shape)
        if more:
            now, added = self.errors**-2, self.worth * more
            seen = self.truth + self.noise / np.sqrt(added)
            after = (now * self.means + added * seen) / (now + added)
        cut = self.cut
        first, second = (
            values[:, cut - 1] >= values[:, cut] for values in (after, self.truth)
        )
        side = (self._top(after) == self.true_top)[:, self.near].mean(axis=1)
        root = float(np.sqrt(DRAWS))
        outcomes = first == second, side
        return tuple(
            float(number)
            for hits in outcomes
            for number in (hits.mean(), hits.std() / root)
        )

    def target(self, probability: float, by: int) -> Target:
        """Find the fewest reviews that reach a probability, and their error."""

        def fewest(shift: float) -> int | None:
            def suffices(more: int) -> bool:
                chance, error = self.chances(more)[2 * by : 2 * by + 2]
                return chance + shift * error >= probability

            # The same draws serve all numbers, so the chance hardly ever falls.
            number = bisect.bisect_left(range(MOST_REVIEWS), x=True, key=suffices)
            return number if suffices(number) else None

        return Target(probability, fewest(0.0), fewest(2.0), fewest(-2.0))
