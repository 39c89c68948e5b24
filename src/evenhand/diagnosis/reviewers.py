"""How much items and reviewers differ, and how strict and how wide each reviewer is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.calibration import affine
from evenhand.calibration.crossed import Equations, Mixed
from evenhand.calibration.design import Design, design, totals
from evenhand.calibration.redraws import fit_many
from evenhand.calibration.results import Variances
from evenhand.columns import place_of
from evenhand.randomness import Stream, standard_normal, uniforms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.arrays import Flags, Scores
    from evenhand.claims import Label
    from evenhand.ratings import Ratings


# A statement about a reviewer is made at so many standard errors.
SURE = 2.0
# With less of the prior variance removed, the prior says more than the ratings do.
KNOWN = 0.5
REPLICATES = 200
TAIL = 0.025
STEPS, TOLERANCE = 200, 1e-4
NORMAL_TAIL = 1.959963984540054
# Table sizes and ratings up to which 200 fits take some seconds at most.
BOOTSTRAP_LEVELS, BOOTSTRAP_RATINGS = 60, 4_000
# Reviewers and items up to which everything is inverted as one table.
CONTRASTS = 500
NOT_ENOUGH = "not enough ratings to say"
DISAGREES = "order does not agree with the others"
# Fewest items whose order can speak against a reviewer: of three, one in six random
# orders is upside down.
ORDERED = 4
BOOTSTRAP = "parametric bootstrap"
FORMULA = "large-sample formula"


@dataclass(frozen=True, slots=True)
class Share:
    """A share of variance with its 95 % interval.

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
        strictness: "strict", "lenient", "typical", "not enough ratings to say" or
            "order does not agree with the others", for whom offset and slope are None.
        slope: How much wider than others they spread their scores, drawn to 1.
        slope_se: Its standard error.
        spread: "wide", "narrow", "typical" or as strictness.
    """

    reviewer: Label
    ratings: int
    offset: float | None
    offset_se: float | None
    strictness: str
    slope: float | None
    slope_se: float | None
    spread: str


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """The random-effects model of the scores.

    Attributes:
        made: The scores in a safe unit.
        mixed: Offsets and values.
        free: Whether the variances of reviewers and of items can be told from the rest.
    """

    made: Design
    equations: Equations
    mixed: Mixed

    @property
    def free(self) -> tuple[bool, bool]:
        """Whether variances of reviewers and items can be told from the rest."""
        reviewers, items = self.equations.free.tolist()
        return bool(reviewers), bool(items)


def fit_model(ratings: Ratings) -> Model:
    """Fit offsets and values by restricted maximum likelihood.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> fit_model(Ratings(["a", "a"], ["x", "y"], [1, 2])).free
        (False, False)
    """
    made = design(ratings)
    equations = Equations(made)
    return Model(made, equations, equations.fit(made.scores))


def variance_shares(model: Model, parts: Variances, source: Stream) -> Shares | None:
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
        (1.0, 'parametric bootstrap')
    """
    reviewers, items = model.free
    if parts == Variances(0.0, 0.0, 0.0) or not (reviewers or items):
        return None
    made = model.made
    least = min(made.n_items, made.n_reviewers)
    shares = _three(parts.reviewer_share, parts.item_share, model.free)
    few = least <= BOOTSTRAP_LEVELS and len(made.scores) <= BOOTSTRAP_RATINGS
    if few:
        columns = [_redrawn(made, parts, source) for _ in range(REPLICATES)]
        found = fit_many(model.equations, np.stack(columns, axis=1)).shares
        draws = np.array([_three(one, other, model.free) for one, other in found.T])
        low, high = np.quantile(draws, [TAIL, 1 - TAIL], axis=0)
    else:
        slack = NORMAL_TAIL * _asymptotic(model, parts)
        low, high = shares - slack, shares + slack
    low = np.clip(np.minimum(low, shares), 0, 1).tolist()
    high = np.clip(np.maximum(high, shares), 0, 1).tolist()
    three = [Share(*one) for one in zip(shares.tolist(), low, high, strict=True)]
    return Shares(
        item=three[1] if items else None,
        reviewer=three[0] if reviewers else None,
        rest=three[2],
        method=BOOTSTRAP if few else FORMULA,
    )


def _three(reviewer: float, item: float, free: tuple[bool, bool]) -> Scores:
    known = reviewer * free[0], item * free[1]
    return np.array([*known, max(0.0, 1.0 - sum(known))])


def _redrawn(made: Design, parts: Variances, source: Stream) -> Scores:
    """Draw scores with these variances, of mean 0."""
    normal = standard_normal(
        uniforms(source, made.n_reviewers + made.n_items + len(made.scores))
    )
    offsets, values, rest = np.split(
        normal, [made.n_reviewers, made.n_reviewers + made.n_items]
    )
    scores = (
        np.sqrt(parts.reviewer) * offsets[made.reviewers]
        + np.sqrt(parts.item) * values[made.items]
        + np.sqrt(parts.rest / made.weighted(np.ones(len(rest)))) * rest
    )
    return np.asarray(scores - scores.mean())


def _asymptotic(model: Model, parts: Variances) -> Scores:
    """Return the standard errors of the three shares, by the delta method."""
    made = model.made
    reviewers, items = model.free
    rest = parts.rest + (0.0 if items else parts.item)
    values = np.array([parts.reviewer * reviewers, parts.item * items, rest])
    rated = made.counts[made.counts > 0]
    number = len(made.scores)
    left = max(number - made.n_reviewers - len(rated) + 1, 1)
    freedom = np.maximum([made.n_reviewers - 1, len(rated) - 1, left], 1)
    # The mean over a level of the rest adds to what is seen of its effect.
    fuzz = [float(np.mean(1 / made.loads)), float(np.mean(1 / rated)), 0.0]
    errors = np.sqrt(2 / freedom) * (values + np.array(fuzz) * parts.rest)
    total = float(values.sum())
    shares = values / total
    slopes = (np.eye(3) - shares[:, None]) / total
    return np.asarray(np.sqrt((slopes**2) @ errors**2))


def effect_errors(model: Model) -> tuple[Scores, Scores]:
    """Return the standard errors of offsets and of values, in the design's unit.

    Up to 500 reviewers and items together, they are those against the mean of the
    reviewers and of the items at hand, exactly. Beyond, that mean is taken for the
    population's; where the model is too large for a table, each rating counts with the
    rest's variance plus that of its item's prediction, as if these were independent.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> model = fit_model(Ratings(["a", "a", "b", "b"], [1, 2] * 2, [1, 2, 3, 5]))
        >>> [errors.shape for errors in effect_errors(model)]
        [(2,), (2,)]
    """
    mixed, made = model.mixed, model.made
    if mixed.ratios is not None and made.n_reviewers + made.n_items <= CONTRASTS:
        return _contrast_errors(model)
    offsets, values, _ = model.equations.errors(mixed)
    if offsets is not None:
        return offsets, values
    spread, rest = mixed.variances.reviewer, mixed.variances.rest
    if spread == 0:
        return np.zeros(made.n_reviewers), values
    loads = made.load_weights
    noise = made.by_reviewer(rest + values[made.items] ** 2) / loads
    return np.sqrt(1 / (1 / spread + loads / noise)), values


def _contrast_errors(model: Model) -> tuple[Scores, Scores]:
    """Invert the equations of the mean, the offsets and the values as one table."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to load

    made, parts = model.made, model.mixed.variances
    first, second = np.sqrt([parts.reviewer / parts.rest, parts.item / parts.rest])
    size, number = made.n_reviewers, len(made.scores)
    columns = [np.zeros(number), 1 + made.reviewers, 1 + size + made.items]
    places = np.tile(np.arange(number), 3), np.concatenate(columns)
    shape = (number, 1 + size + made.n_items)
    heavy = np.sqrt(made.weighted(np.ones(number)))
    filled = np.concatenate([heavy, first * heavy, second * heavy])
    effects = csr_array((filled, places), shape=shape)
    table = (effects.T @ effects).toarray() + np.diag([0.0] + [1.0] * (shape[1] - 1))
    inverse = np.linalg.inv(table)
    found = []
    for block in (slice(1, size + 1), slice(size + 1, None)):
        own = inverse[block, block]
        squared = np.diag(own) - 2 * own.mean(axis=0) + own.mean()
        found.append(np.sqrt(np.maximum(squared, 0) * parts.rest))
    return first * found[0], second * found[1]


def settle_slopes(
    made: Design, state: affine.State, *, spread: float | None = None
) -> None:
    """Fit slopes, offsets and values in turn until values stand, to three digits.

    Args:
        made: The scores.
        state: Where to start from, changed in place; `steps` stays 0 if values do not
            differ, as then there are no slopes.
        spread: Prior variance of slopes; None to estimate it.
    """
    least = affine.NEGLIGIBLE * state.rest
    if state.value_variance <= least or state.rest == 0 or made.loads.max() == 1:
        return
    scale = TOLERANCE * float(np.sqrt(state.value_variance))
    for state.steps in range(1, STEPS + 1):
        before = state.values
        state.spread = state.spread if spread is None else spread
        affine.update_reviewers(made, state)
        affine.update_values(made, state)
        affine.update_variances(made, state)
        if float(np.abs(state.values - before).max()) <= scale:
            break


def describe(ratings: Ratings, model: Model) -> tuple[Reviewer, ...]:
    """Say how strict and how wide each reviewer is, as far as can be said.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a"] * 4 + ["b"] * 4 + ["c"], [1, 2, 3, 4] * 2 + [1],
        ...                   [1, 2, 3, 4, 5, 6, 7.1, 8, 2])
        >>> found = describe(ratings, fit_model(ratings))
        >>> [one.strictness for one in found]
        ['strict', 'lenient', 'not enough ratings to say']
    """
    made, against = model.made, disagreeing(model)
    state = affine.start(made, model.mixed)
    settle_slopes(made, state)
    offsets, errors = model.mixed.reviewers, effect_errors(model)[0]
    if against.any() and not against.all():
        # Offsets are from the mean of those who have one.
        offsets = offsets - offsets[~against].mean()
    slopes, slope_errors = state.slopes, np.sqrt(state.slope_variances)
    prior = model.mixed.variances.reviewer
    strict = _words(offsets, errors, prior, ("strict", "lenient"))
    wide = _words(slopes - 1, slope_errors, state.spread, ("narrow", "wide"))
    known, sloped = ~against & model.free[0], ~against & (state.steps > 0)
    missing = np.where(against, DISAGREES, NOT_ENOUGH)
    several = made.loads > 1
    columns = zip(
        ratings.reviewer_labels,
        made.loads.tolist(),
        _where(known, made.in_units(offsets)),
        _where(known, made.in_units(errors)),
        np.where(known & several, strict, missing).tolist(),
        _where(sloped, slopes),
        _where(sloped, slope_errors),
        np.where(sloped & several, wide, missing).tolist(),
        strict=True,
    )
    found = [Reviewer(*row) for row in columns]
    return tuple(sorted(found, key=lambda one: place_of(one.reviewer)))


def _where(known: Flags, values: Scores) -> list[float | None]:
    return [
        one if has else None for has, one in zip(known, values.tolist(), strict=True)
    ]


def disagreeing(model: Model) -> Flags:
    """Find the reviewers whose order does not agree with the others'.

    A reviewer's scores are correlated with the mean of the others' for the same items,
    less their offsets. By chance this is 0 with a standard error of 1 / sqrt(k - 1) for
    k items. Reviewers are found who are not two such errors above 0, and two errors
    below the mean correlation of all. In simulations with 4 to 10 items each these are
    0.3 to 8 % of ordinary reviewers, 40 to 100 % of random ones and 87 to 100 % of
    upside-down ones, depending on how much reviewers agree.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> scores = [1, 2, 3, 4, 5] * 4 + [5, 4, 3, 2, 1]
        >>> who = [reviewer for reviewer in "abcde" for _ in range(5)]
        >>> ratings = Ratings(who, [1, 2, 3, 4, 5] * 5, scores)
        >>> disagreeing(fit_model(ratings)).tolist()
        [False, False, False, False, True]
    """
    made, number = model.made, model.made.n_reviewers
    level = made.scores - model.mixed.reviewers[made.reviewers]
    others = made.counts[made.items] - 1
    rows = others > 0
    who = made.reviewers[rows]
    sums = totals(made.items, level, made.n_items)
    means = (sums[made.items] - level)[rows] / others[rows]
    loads = np.bincount(who, minlength=number)

    def centred(values: Scores) -> Scores:
        sums = np.bincount(who, values, number)
        return np.asarray(values - (sums / np.maximum(loads, 1))[who])

    own, theirs = centred(made.scores[rows]), centred(means)
    squares = [np.bincount(who, part**2, number) for part in (own, theirs)]
    size = np.sqrt(squares[0] * squares[1])
    product = np.bincount(who, own * theirs, number)
    tested = (loads >= ORDERED) & (size > affine.NEGLIGIBLE * size.max(initial=0.0))
    if not tested.any():
        return np.zeros(number, dtype=np.bool_)
    usual = float(np.clip(product[tested].sum() / size[tested].sum(), 0, 1))
    found = np.zeros(number)
    found[tested] = product[tested] / size[tested] * np.sqrt(loads[tested] - 1)
    expected = usual * np.sqrt(np.maximum(loads - 1, 0))
    least = np.minimum(SURE, expected - SURE * np.sqrt(1 - usual**2))
    return np.asarray(tested & (found < least))


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
