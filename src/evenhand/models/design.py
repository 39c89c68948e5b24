"""What models take and return: ratings as arrays, and Fit.

A reviewer who divides a fixed total among items cannot be strict or lenient: offsets
are 0 by construction, and an item's mean score depends on the items that it was scored
with. Levels then say nothing between reviewers, whatever the variance of the offsets,
so that models ask `fixed_sums` first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.arrays import frozen
from evenhand.claims import DataWarning, Json
from evenhand.errors import RatingsError, listing
from evenhand.lazy import lazy
from evenhand.posets.graph import connected_groups

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scipy import special

    from evenhand.arrays import Codes, Scores
    from evenhand.models import bradley_terry
    from evenhand.ratings import Ratings
else:
    # Orders take this.
    bradley_terry = lazy("evenhand.models.bradley_terry")
    special = lazy("scipy.special")

# Estimates closer than this share of their spread are equal but for rounding.
SAME = 1e-9
ROUNDING = 1e-14
LARGEST = float(np.finfo(np.float64).max)
# Items up to which ratios of variances are drawn rather than fitted.
INTEGRATED = 40
# A score so many times as far out as the middle half is wide outweighs all others.
FAR = 1e6
EQUAL_SCORES = DataWarning("equal_scores")
NOT_CONVERGED = DataWarning("not_converged")
# Sums closer than this share of the scores' standard deviation differ by rounding.
CLOSE = 0.05
# One reviewer may have slipped, or one in so many; of votes, one in so many may call
# both items good or bad with a score for each.
SLIPS, BOTH_ALIKE, VOTE_LEVELS = 50, 5, 3
# Probability with which scores without a fixed sum look like this, at most; estimated
# from at least so many reviewers with shuffled scores.
CHANCE, SHUFFLED = 1e-3, 1000


@dataclass(frozen=True, slots=True)
class Variances:
    """Where the variance of scores comes from.

    Attributes:
        reviewer: Variance of the reviewers' offsets.
        item: Variance of the items' values.
        rest: Variance of what is left.
    """

    reviewer: float
    item: float
    rest: float

    @property
    def shares(self) -> tuple[float, float, float]:
        """Shares of the three; 0 if nothing varies."""
        three = self.reviewer, self.item, self.rest
        # Divided first, as a sum of large variances would overflow.
        largest = max(three) or 1.0
        parts = [variance / largest for variance in three]
        total = sum(parts) or 1.0
        return parts[0] / total, parts[1] / total, parts[2] / total


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Items on one common scale, as a model sees them.

    Attributes:
        method: Name of the model.
        estimates: Value of each item, by item code; higher is better. Values that are
            equal but for rounding are made equal.
        errors: Standard error of each estimate, or None.
        offsets: How much higher than others each reviewer scores, or None.
        slopes: How much wider than others each reviewer scores, or None.
        variances: Components of variance, or None.
        groups: Group of each item; estimates of different groups rest on no link
            between them but the model's prior.
        rho: For adaptive, the share of reviewers' offsets in the variance of ranks.
        converged: Whether the last step changed nothing that matters.
        notices: What the reader must know.
    """

    method: str
    estimates: Scores
    groups: Codes
    errors: Scores | None = None
    offsets: Scores | None = None
    slopes: Scores | None = None
    variances: Variances | None = None
    rho: float | None = None
    converged: bool = True
    notices: tuple[DataWarning, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class RatingMatrix:
    """Coded ratings with scores brought to a safe range.

    Attributes:
        reviewers: Reviewer code of each rating, ascending.
        items: Item code of each rating.
        scores: (score / unit - centre) of each rating, within [-2, 2].
        unit: A power of two; the scores' unit.
        centre: Mean of the scores in that unit.
        n_reviewers: Number of reviewers.
        n_items: Number of items.
        loads: Ratings by each reviewer.
        counts: Ratings of each item.
        weights: Precision of each rating, 1 on average; None if all are the same.
        load_weights: Sums of weights by reviewer: loads without weights.
        count_weights: Sums of weights by item.
    """

    reviewers: Codes
    items: Codes
    scores: Scores
    unit: float
    centre: float
    n_reviewers: int
    n_items: int
    loads: Codes
    counts: Codes
    weights: Scores | None
    load_weights: Codes | Scores
    count_weights: Codes | Scores

    def in_units(self, values: Scores) -> Scores:
        """Take differences back to the unit of the scores, as far as floats go."""
        with np.errstate(over="ignore"):
            return np.clip(values * self.unit, -LARGEST, LARGEST)

    def square_units(self, parts: Variances) -> Variances:
        """Take variances back to the unit of the scores, as far as floats go."""
        with np.errstate(over="ignore"):
            sizes = self.unit * np.sqrt([parts.reviewer, parts.item, parts.rest])
            return Variances(*np.minimum(sizes * sizes, LARGEST).tolist())

    def by_reviewer(self, values: Scores) -> Scores:
        """Add up values by reviewer, each times its weight."""
        return totals(self.reviewers, self.weigh(values), self.n_reviewers)

    def by_item(self, values: Scores) -> Scores:
        """Add up values by item, each times its weight."""
        return totals(self.items, self.weigh(values), self.n_items)

    def weigh(self, values: Scores) -> Scores:
        """Multiply values of ratings by their weights."""
        return values if self.weights is None else values * self.weights


def round_to_resolution(estimates: Scores, *, noise: float = ROUNDING) -> Scores:
    """Make values equal that differ only by rounding, and freeze them.

    Args:
        estimates: Finite values.
        noise: Rounding error of the computation, as a share of the largest value.

    Returns:
        The values; neighbours closer than a billionth of the middle half's width, or
        than the noise, take the lowest of their run.

    Examples:
        >>> round_to_resolution(np.array([1.0, 2.0, 1.0 + 1e-15])).tolist()
        [1.0, 2.0, 1.0]
    """
    order = np.argsort(estimates, kind="stable")
    values = estimates[order]
    low, high = np.quantile(values, [0.25, 0.75])
    largest = float(np.abs(values).max())
    least = max(SAME * float(min(high - low, largest)), noise * largest)
    begins = np.append([True], values[1:] - values[:-1] > least)
    merged = np.empty_like(values)
    merged[order] = values[np.flatnonzero(begins)][np.cumsum(begins) - 1]
    # A negative zero is a zero.
    return frozen(merged + 0.0)


def standardise(values: Scores) -> Scores:
    """Shift and scale rows to mean 0 and standard deviation 1; equal values become 0.

    Examples:
        >>> standardise(np.array([1.0, 3.0])).tolist()
        [-1.0, 1.0]
        >>> standardise(np.array([5.0, 5.0])).tolist()
        [0.0, 0.0]
    """
    centred = values - values.mean(axis=-1, keepdims=True)
    size = np.abs(centred).max(axis=-1, keepdims=True)
    flat = size <= ROUNDING * np.abs(values).max(axis=-1, keepdims=True)
    centred = np.where(flat, 0.0, centred / np.where(flat, 1.0, size))
    spread = centred.std(axis=-1, keepdims=True)
    return np.asarray(centred / np.where(flat, 1.0, spread))


def totals(codes: Codes, values: Scores, size: int) -> Scores:
    """Add up values by code.

    Examples:
        >>> totals(np.array([0, 2, 0]), np.array([1.0, 5.0, 2.0]), 3).tolist()
        [3.0, 0.0, 5.0]
    """
    return np.bincount(codes, values, size).astype(np.float64, copy=False)


def build_matrix(ratings: Ratings, scores: Scores | None = None) -> RatingMatrix:
    """Prepare ratings for a model; other scores may stand in for theirs.

    Dividing by a power of two changes no digit and keeps squares within floats.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> made = build_matrix(Ratings(["a", "a"], ["x", "y"], [1e300, 3e300]))
        >>> bool(np.abs(made.scores).max() <= 2), made.counts.tolist()
        (True, [1, 1])
    """
    values = ratings.scores if scores is None else scores
    _, exponent = np.frexp(np.abs(values).max())
    # The unit itself must be a float, so the very largest scores reach up to 2.
    unit = float(np.ldexp(1.0, min(max(int(exponent), -1000), 1023)))
    scaled = values / unit
    centre = float(scaled.mean())
    reviewers, items = ratings.reviewer_codes, ratings.item_codes
    n_reviewers, n_items = ratings.n_reviewers, ratings.n_items
    weights = precisions(ratings)
    return RatingMatrix(
        reviewers=reviewers,
        items=items,
        scores=scaled - centre,
        unit=unit,
        centre=centre,
        n_reviewers=n_reviewers,
        n_items=n_items,
        loads=np.bincount(reviewers, None, n_reviewers),
        counts=np.bincount(items, None, n_items),
        weights=weights,
        load_weights=np.bincount(reviewers, weights, n_reviewers),
        count_weights=np.bincount(items, weights, n_items),
    )


def precisions(ratings: Ratings) -> Scores | None:
    """Return the weights of ratings, 1 on average; None if all are the same.

    A score of weight 2 has half the error variance of one of weight 1. Only ratios of
    weights count, as how large errors are is estimated.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> precisions(Ratings(["a", "a"], ["x", "y"], [1, 2]))
    """
    weights = ratings.weights
    if weights is None or weights.min() == weights.max():
        return None
    # Divided first, as a sum of large weights would overflow.
    shares = weights / weights.max()
    return np.asarray(shares / shares.mean())


class Steps(NamedTuple):
    """Each reviewer's distinct scores in order.

    Attributes:
        rows: Step of each rating.
        sizes: Ratings of each step.
        reviewers: Reviewer of each step.
    """

    rows: Codes
    sizes: Codes
    reviewers: Codes


def steps(reviewers: Codes, scores: Scores) -> Steps:
    """Sort each reviewer's scores from low to high; equal ones make one step.

    Examples:
        >>> found = steps(np.array([0, 0, 0, 1]), np.array([5.0, 1.0, 5.0, 9.0]))
        >>> found.rows.tolist(), found.sizes.tolist()
        ([1, 0, 1, 2], [1, 2, 1])
    """
    order = np.lexsort((scores, reviewers))
    codes, values = reviewers[order], scores[order]
    fresh = np.append([True], (codes[1:] != codes[:-1]) | (values[1:] != values[:-1]))
    place = np.cumsum(fresh) - 1
    rows = np.empty(len(order), dtype=np.int64)
    rows[order] = place
    return Steps(rows, np.bincount(place), codes[fresh])


def rank_shares(scores: Scores) -> Scores:
    """Return (rank - 1/2) / N; equal scores share the mean of their ranks.

    Examples:
        >>> rank_shares(np.array([3.0, 9.0, 3.0, -1.0])).tolist()
        [0.5, 0.875, 0.5, 0.125]
    """
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    return np.asarray((ranks[place] - 0.5) / len(scores))


def normal_scores(scores: Scores) -> Scores:
    """Return the normal quantiles of the rank shares.

    Examples:
        >>> normal_scores(np.array([3.0, 9.0, -1.0])).round(3).tolist()
        [0.0, 0.967, -0.967]
    """
    shares, place = np.unique(rank_shares(scores), return_inverse=True)
    return np.array([*map(NormalDist().inv_cdf, shares.tolist())])[place]


def linked_groups(ratings: Ratings) -> Codes:
    """Label the groups of items that common reviewers connect, by their smallest code.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> linked_groups(Ratings([1, 1, 2], ["x", "z", "y"], [1, 1, 5])).tolist()
        [0, 1, 0]
    """
    n_items, people, items = ratings.n_items, ratings.reviewer_codes, ratings.item_codes
    return connected_groups(n_items + ratings.n_reviewers, items, n_items + people)[
        :n_items
    ]


def require_ratings(ratings: Ratings, method: str) -> None:
    """Refuse items without a rating, for models that have nothing to say about them.

    Raises:
        RatingsError: If an item has no rating.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> require_ratings(Ratings(["a"], ["x"], [1]), "centred")
    """
    bare = np.flatnonzero(
        np.bincount(ratings.item_codes, minlength=ratings.n_items) == 0
    )
    if len(bare):
        labels = [ratings.item_labels[code] for code in bare.tolist()]
        raise RatingsError(
            f"items must have at least one rating each for method {method!r}, got none "
            f"for {listing(labels)}. Leave them out, or choose another method."
        )


def one_rating_notices(single: int) -> list[DataWarning]:
    """Say how many reviewers gave one rating only, if any.

    Examples:
        >>> one_rating_notices(0)
        []
    """
    return (
        [DataWarning("one_rating_reviewers", {"reviewers": single})] if single else []
    )


def data_notices(ratings: Ratings, *, prior: bool = True) -> list[DataWarning]:
    """Say what in the data a model cannot make up for.

    Args:
        ratings: The ratings.
        prior: Whether the model has a value for items without a rating.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> found = data_notices(Ratings(["a", "b"], ["x", "x"], [1, 1]))
        >>> [notice.code for notice in found]
        ['one_rating_reviewers', 'equal_scores']
    """
    single = int((np.bincount(ratings.reviewer_codes) == 1).sum())
    notices = one_rating_notices(single)
    counts = np.bincount(ratings.item_codes, minlength=ratings.n_items)
    bare = int((counts == 0).sum())
    if bare and prior:
        facts: dict[str, Json] = {"case": "middle", "unrated": bare}
        notices.append(DataWarning("unrated_items", facts))
    if ratings.kind == "scores":
        notices += _score_notices(ratings.scores)
        fixed = fixed_sums(ratings)
        notices += [] if fixed is None else [fixed]
    return notices


def _score_notices(scores: Scores) -> list[DataWarning]:
    if scores.min() == scores.max():
        return [EQUAL_SCORES]
    low, middle, high = np.quantile(scores / 4, [0.25, 0.5, 0.75])
    away = np.abs(scores / 4 - middle)
    if low == high or float(away.max()) / float(high - low) <= FAR:
        return []
    return [DataWarning("extreme_score", {"score": float(scores[away.argmax()])})]


def fit_notices(
    warnings: Iterable[DataWarning],
    groups: Codes,
    *others: DataWarning,
    across: str = "prior",
    converged: bool = True,
) -> tuple[DataWarning, ...]:
    """Say what the reader of a fit must know.

    Args:
        warnings: What there is to say of the data, as by `data_notices`.
        groups: Group of each item.
        others: What else there is to say.
        across: How items of different groups compare under the model, a case of the
            warning.
        converged: Whether the fit settled.

    Examples:
        >>> [notice.code for notice in fit_notices([], np.array([0, 1]))]
        ['unlinked_groups']
    """
    number = int(groups.max()) + 1
    facts: dict[str, Json] = {"case": across, "groups": number}
    apart = [DataWarning("unlinked_groups", facts)] if number > 1 else []
    return *warnings, *apart, *others, *([] if converged else [NOT_CONVERGED])


def fit_of(
    ratings: Ratings,
    method: str,
    values: Scores,
    *others: DataWarning,
    groups: Codes | None = None,
    across: str = "prior",
    prior: bool = True,
    converged: bool = True,
) -> Fit:
    """Return a model's fit of values, with what its reader must know.

    Args:
        ratings: The ratings.
        method: The model.
        values: Its values of the items.
        others: What else there is to say.
        groups: Group of each item; those that common reviewers connect if None.
        across: How items of different groups compare under the model, a case of the
            warning.
        prior: Whether the model has a value for items without a rating.
        converged: Whether the fit settled.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "a"], ["x", "y", "z"], [1, 2, 3])
        >>> fit_of(ratings, "mine", ratings.scores).notices
        ()
    """
    groups = linked_groups(ratings) if groups is None else groups
    warnings = data_notices(ratings, prior=prior)
    notices = fit_notices(warnings, groups, *others, across=across, converged=converged)
    return Fit(
        method,
        round_to_resolution(values),
        groups,
        converged=converged,
        notices=notices,
    )


class Form(NamedTuple):
    """A form that fixes reviewers' sums.

    Attributes:
        totals: What the scores of each reviewer add up to.
        parameters: How many numbers of that were taken from the sums themselves.
        case: "votes", "budget", "by_number" or "ranks".
        total: What all scores of a reviewer add up to, of votes and budgets.
    """

    totals: Scores
    parameters: int
    case: str
    total: float = 0.0


def fixed_sums(ratings: Ratings) -> DataWarning | None:
    """Recognise scores of which each reviewer's sum is fixed by the form.

    All reviewers of several items, but for one or one in fifty (one in five of those
    who vote with two or three different scores, to call both items alike), give
    the ranks 1 to k, or have one sum, or one that their number of items fixes; and
    shuffled scores would do so with a probability of 1 in 1,000 at most. If all
    reviewers agree about every item, that explains equal sums, and nothing is
    recognised.

    Args:
        ratings: Any ratings; in those without scores there is nothing to recognise.

    Returns:
        What was recognised, as a notice, or None.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> voters = [voter for voter in range(20) for _ in range(2)]
        >>> votes = Ratings(voters, ["x", "y"] * 20, [1, 0] * 10 + [0.5, 0.5] * 10)
        >>> fixed_sums(votes).message[:72]
        'Each of 20 reviewers gave two items scores that add up to 1, as votes do'
    """
    if ratings.kind != "scores":
        return None
    loads = np.bincount(ratings.reviewer_codes)
    rows = loads[ratings.reviewer_codes] > 1
    if not rows.any():
        return None
    codes = ratings.reviewer_codes[rows]
    reviewers = np.cumsum(np.diff(codes, prepend=codes[:1]) > 0, dtype=np.int64)
    # In a unit in which no sum is too large for a float.
    unit = float(np.abs(ratings.scores).max()) or 1.0
    scores = ratings.scores[rows] / unit
    sums = totals(reviewers, scores, int(reviewers[-1]) + 1)
    close = CLOSE * float(scores.std())
    are_votes = loads.max() == 2 and len(np.unique(scores)) <= VOTE_LEVELS
    most = BOTH_ALIKE if are_votes else SLIPS
    for form in _forms(ratings, sums, loads[loads > 1], unit):
        kept = int((np.abs(sums - form.totals) <= close).sum())
        slips = len(sums) - kept
        if slips > max(1, len(sums) // most) or _agree(ratings):
            continue
        share = _shuffled_share(reviewers, scores, form.totals, close)
        # Which of them slipped, and that the others' sums are what they are.
        chance = -math.log(len(sums) + 1) - special.betaln(kept + 1, slips + 1)
        chance += (kept - form.parameters) * math.log(share)
        if chance <= math.log(CHANCE):
            facts: dict[str, Json] = {"case": form.case, "who": [kept, len(sums)]}
            return DataWarning("fixed_sums", {**facts, "total": form.total})
    return None


def _forms(ratings: Ratings, sums: Scores, loads: Codes, unit: float) -> Iterator[Form]:
    """Yield the forms that may fix the sums, those with fewest parameters first."""
    scores = ratings.scores
    from_one = scores.min() >= 1
    if (
        from_one
        and np.mean(scores == bradley_terry.rating_wins(ratings) + 1) > 1 - 1 / SLIPS
    ):
        yield Form(loads * (loads + 1) / 2 / unit, 0, "ranks")
    middle = float(np.median(sums))
    # Rounded, as a sum of shares is 1 but for the last digits.
    total = round(middle * unit, 9) + 0.0
    case = "votes" if loads.max() == 2 else "budget"
    yield Form(np.full_like(sums, middle), 1, case, total)
    # The middle sum of each load, of sums sorted by load.
    _, place, counts = np.unique(loads, return_inverse=True, return_counts=True)
    middles = np.cumsum(counts) - (counts + 1) // 2
    totals_by_load = sums[np.lexsort((sums, loads))[middles]]
    yield Form(totals_by_load[place], len(counts), "by_number")


def _agree(ratings: Ratings) -> bool:
    """Return whether items have several scores, but none has two different ones."""
    low, high = np.full((2, ratings.n_items), ratings.scores[0])
    # The last score of an item against all.
    low[ratings.item_codes] = high[ratings.item_codes] = ratings.scores
    np.minimum.at(low, ratings.item_codes, ratings.scores)
    np.maximum.at(high, ratings.item_codes, ratings.scores)
    several = int(np.bincount(ratings.item_codes).max()) > 1
    return several and bool((low == high).all())


def _shuffled_share(
    reviewers: Codes, scores: Scores, aims: Scores, close: float
) -> float:
    """Return how often the sum of shuffled scores is a reviewer's total, but not 0."""
    # The same data get the same answer.
    rng, hits = np.random.default_rng(len(reviewers)), 0
    times = -(-SHUFFLED // len(aims))
    for _ in range(times):
        sums = totals(reviewers, rng.permutation(scores), len(aims))
        hits += int((np.abs(sums - aims) <= close).sum())
    return (hits + 1) / (times * len(aims) + 1)
