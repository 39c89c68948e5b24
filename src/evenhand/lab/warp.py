"""The warp test: what is left of a ranking when every reviewer had another scale.

Each reviewer's scores are put through an increasing function of the reviewer's own,
drawn at random, many times; the items are ranked again each time. Order and ties within
a reviewer stay as they are, so a method that uses nothing else does not move at all. A
method that compares scores across reviewers moves as far as it leans on that.

A warp takes a score to u = (score - low) / (high - low), where low and high are the
5 % and 95 % quantiles of all scores, so that no outlier sets the unit. It gives back
low + (high - low) v, where for each reviewer

- mild: v = 0.2 A + exp(0.3 B) f(u), with exponent exp(0.5 C) and A, B, C standard
  normal: a shift of about a fifth of the range, slope and bend near the identity's;
- extreme: v = 100 A + 10^(3 D - 1.5) f(u), with exponent exp(C) and D uniform between 0
  and 1: shifts of many ranges, slopes over three orders of magnitude, wild bends.

f(u) is u to the power of the exponent between 0 and 1, and u itself outside.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evenhand._kernels.losses import inversions
from evenhand._labels import require_function, require_sequence, shown
from evenhand._randomness import (
    RNGLike,
    Stream,
    permutation,
    seed_from,
    stream,
    uniforms,
)
from evenhand.calibration.adaptive import adaptive, adaptive_again
from evenhand.calibration.additive import additive
from evenhand.calibration.affine import affine
from evenhand.calibration.borda import borda
from evenhand.calibration.bradley_terry import bradley_terry
from evenhand.calibration.centring import centred, z
from evenhand.calibration.isotonic import isotonic
from evenhand.calibration.mean import mean_order
from evenhand.errors import OptionError, RatingsError, unknown
from evenhand.lab._laws import standard_normal
from evenhand.lab._warp_results import Survival, Warp, WarpedItem
from evenhand.ranking.ranking import METHODS, rank
from evenhand.ratings import Ratings, require_ratings

if TYPE_CHECKING:
    from evenhand.calibration.results import Fit

__all__ = [
    "STRENGTHS",
    "Survival",
    "Warp",
    "WarpedItem",
    "extreme_warp",
    "mild_warp",
    "warp",
]

Scores: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int64]
Order: TypeAlias = Callable[[Ratings], Sequence[int] | Codes]
Reorder: TypeAlias = Callable[[Scores], Sequence[int] | Codes]
Span: TypeAlias = tuple[float, float]

DRAWS = 200
MOST_DRAWS = 1_000_000
# Wider ranges are cut down to this one, or a shift would leave the floats.
WIDEST = 1e300
# Scores further out than so many ranges only keep their order.
FARTHEST = 1e6
TAILS = (0.05, 0.95)
MODELS: Mapping[str, Callable[[Ratings], Fit]] = {
    "adaptive": adaptive,
    "additive": additive,
    "affine": affine,
    "borda": borda,
    "bradley-terry": bradley_terry,
    "centred": centred,
    "isotonic": isotonic,
    "z": z,
}


def mild_warp(
    scores: Scores, reviewer_codes: Codes, source: Stream, *, span: Span | None = None
) -> Scores:
    """Put each reviewer's scores through a random scale near the identity.

    Args:
        scores: Finite scores.
        reviewer_codes: Who gave them, from 0.
        source: Where the scales come from; three uniforms for each code up to the
            largest.
        span: Low and high; the 5 % and 95 % quantiles of the scores, if not given.

    Returns:
        The warped scores: finite, and for each reviewer in the same order, with the
        same ties.

    Examples:
        >>> scores, people = np.array([1.0, 2.0, 2.0, 5.0]), np.array([0, 0, 0, 1])
        >>> warped = mild_warp(scores, people, stream(7, "warp"))
        >>> bool(warped[0] < warped[1] == warped[2])
        True
    """
    units, width, low = _units(scores, span)
    chance = _chances(reviewer_codes, source)
    shift, slope, bend = standard_normal(chance)[:, reviewer_codes]
    values = 0.2 * shift + np.exp(0.3 * slope) * _bent(units, np.exp(0.5 * bend))
    return _kept_apart(low + width * values, scores, reviewer_codes)


def extreme_warp(
    scores: Scores, reviewer_codes: Codes, source: Stream, *, span: Span | None = None
) -> Scores:
    """Put each reviewer's scores through a wild increasing scale.

    Args:
        scores: Finite scores.
        reviewer_codes: Who gave them, from 0.
        source: Where the scales come from; three uniforms for each code up to the
            largest.
        span: Low and high; the 5 % and 95 % quantiles of the scores, if not given.

    Returns:
        The warped scores: finite, and for each reviewer in the same order, with the
        same ties.

    Examples:
        >>> scores, people = np.array([1.0, 2.0, 2.0, 5.0]), np.array([0, 0, 0, 1])
        >>> warped = extreme_warp(scores, people, stream(7, "warp"))
        >>> bool(warped[0] < warped[1] == warped[2])
        True
    """
    units, width, low = _units(scores, span)
    chance = _chances(reviewer_codes, source)
    shift, _, bend = standard_normal(chance)[:, reviewer_codes]
    slope = 10 ** (3 * chance[1][reviewer_codes] - 1.5)
    values = 100 * shift + slope * _bent(units, np.exp(bend))
    return _kept_apart(low + width * values, scores, reviewer_codes)


WARPS: Mapping[str, Callable[[Scores, Codes, Stream], Scores]] = {
    "mild": mild_warp,
    "extreme": extreme_warp,
}
STRENGTHS = tuple(WARPS)


def warp(
    ratings: Ratings,
    *,
    method: str | Order = "adaptive",
    draws: int = DRAWS,
    strength: str | Sequence[str] = STRENGTHS,
    top: int | None = None,
    rng: RNGLike = None,
) -> Warp:
    """Redraw every reviewer's scale many times, and see what of a ranking survives.

    Args:
        ratings: Scores.
        method: A method of `rank`, or a function from ratings to item codes, best
            first. The plain mean is shown beside it.
        draws: How many times the scales are drawn.
        strength: "mild", "extreme" or both.
        top: How many of the best are to be chosen; a quarter of the items, rounded up,
            if not given.
        rng: Seed, generator or None.

    Returns:
        For each strength, for the method and for the mean: how often the best stay the
        best, the ranks that items got, and agreement with the ranking of the real
        scores.

    Raises:
        RatingsError: If there are no scores, an item has none, or the method refuses
            the ratings.
        OptionError: If an option is unknown or out of range.

    Examples:
        >>> ratings = Ratings(
        ...     [0, 0, 1, 1, 2, 2], ["x", "y", "y", "z", "x", "z"], [9, 7, 3, 2, 8, 1])
        >>> found = warp(ratings, method="bradley-terry", draws=20, top=1, rng=7)
        >>> [(row.method, row.strength, row.top_kept) for row in found.survivals][:2]
        [('bradley-terry', 'mild', 1.0), ('mean', 'mild', 0.95)]
    """
    seed = seed_from(rng)
    if not isinstance(method, str):
        require_function("method", method, "the ratings")
    require_sequence("names", strength=strength)
    strengths = (strength,) if isinstance(strength, str) else tuple(strength)
    k = _checked(ratings, draws, strengths, top)
    name = _name(method)
    methods: dict[str, str | Order] = {name: method}
    if name != "mean":
        methods["mean"] = "mean"
    start = {
        label: _ranks(_order_of(one, seed)(ratings), ratings)
        for label, one in methods.items()
    }
    orders = {label: _reorder(one, ratings, seed) for label, one in methods.items()}
    survivals = []
    for one in strengths:
        ranks = _warped_ranks(ratings, orders, one, draws, seed)
        survivals += [
            _survival(ratings, label, one, start[label], ranks[label], k)
            for label in orders
        ]
    return Warp(
        survivals=tuple(survivals),
        top=k,
        draws=draws,
        method=name,
        seed=seed,
        data=ratings.summary(),
        notices=ratings.notices,
    )


def _warped_ranks(
    ratings: Ratings,
    orders: Mapping[str, Reorder],
    strength: str,
    draws: int,
    seed: int,
) -> dict[str, Codes]:
    """Rank warped scores by each method; a row of ranks for each draw."""
    table = {
        label: np.empty((draws, ratings.n_items), dtype=np.int64) for label in orders
    }
    for draw in range(draws):
        source = stream(seed, f"warp {strength} {draw}")
        scores = WARPS[strength](ratings.scores, ratings.reviewer_codes, source)
        for label, order in orders.items():
            table[label][draw] = _ranks(order(scores), ratings)
    return table


def _survival(
    ratings: Ratings, method: str, strength: str, start: Codes, ranks: Codes, k: int
) -> Survival:
    chosen = start <= k
    still = ranks <= k
    agreements = [_agreement(start, row) for row in ranks]
    order = np.argsort(start)
    shares, lows, highs = still.mean(axis=0), ranks.min(axis=0), ranks.max(axis=0)
    return Survival(
        method=method,
        strength=strength,
        agreement=float(np.mean(agreements)),
        lowest=float(np.min(agreements)),
        top_kept=float((still == chosen).all(axis=1).mean()),
        unchanged=float((ranks == start).all(axis=1).mean()),
        items=tuple(
            WarpedItem(
                item=ratings.item_labels[item],
                rank=int(start[item]),
                p_top=float(shares[item]),
                kept=float(shares[item] if chosen[item] else 1 - shares[item]),
                rank_low=int(lows[item]),
                rank_high=int(highs[item]),
            )
            for item in order.tolist()
        ),
    )


def _agreement(start: Codes, ranks: Codes) -> float:
    """Kendall's: 1 if no pair changed, -1 if all did."""
    pairs = len(start) * (len(start) - 1) / 2
    moved = int(inversions(ranks[np.argsort(start)]))
    return 1 - 2 * moved / pairs if pairs else 1.0


def _ranks(order: Sequence[int] | Codes, ratings: Ratings) -> Codes:
    codes = np.asarray(order)
    whole = codes.dtype.kind in "iu" and codes.ndim == 1
    if not whole or not np.array_equal(np.sort(codes), np.arange(ratings.n_items)):
        raise OptionError(
            f"method must return the code of each of the {ratings.n_items} items once, "
            f"best first, got {shown(order)}."
        )
    ranks = np.empty(ratings.n_items, dtype=np.int64)
    ranks[codes] = np.arange(1, ratings.n_items + 1)
    return ranks


def _order_of(method: str | Order, seed: int) -> Order:
    """Return a function from ratings to item codes."""
    if not isinstance(method, str):
        return method
    if method == "mean":
        return lambda ratings: mean_order(ratings, stream(seed, "mean")).order
    if method in MODELS:
        # As `rank` runs it without options.
        model = MODELS[method]
        if method == "additive":
            model = functools.partial(additive, shrink=True)
        return lambda ratings: _by_value(model(ratings).estimates, seed)
    known = tuple(dict.fromkeys((*METHODS, *MODELS)))
    if method not in known:
        raise OptionError(unknown("method", method, known))

    def ranked(ratings: Ratings) -> list[int]:
        code = {label: number for number, label in enumerate(ratings.item_labels)}
        found = rank(ratings, method=method, rng=seed)
        return [code[label] for label in found.order]

    return ranked


def _reorder(method: str | Order, ratings: Ratings, seed: int) -> Reorder:
    """Return a function from warped scores to item codes.

    Warps keep who rated what, and each reviewer's order; where that is most of the
    work, it is done once.
    """
    if method == "mean":
        return lambda scores: (
            mean_order(ratings, stream(seed, "mean"), scores=scores).order
        )
    if method == "adaptive":
        again = adaptive_again(ratings)
        return lambda scores: _by_value(again(scores), seed)
    order = _order_of(method, seed)
    return lambda scores: order(_again(ratings, scores))


def _by_value(values: Scores, seed: int) -> Codes:
    lots = permutation(stream(seed, "estimates"), len(values))
    return np.lexsort((lots, -values)).astype(np.int64)


def _name(method: str | Order) -> str:
    if isinstance(method, str):
        return method
    return str(getattr(method, "__name__", type(method).__name__))


def _again(ratings: Ratings, scores: Scores) -> Ratings:
    """Take other scores; codes do for labels, and keep their order."""
    return Ratings(
        ratings.reviewer_codes,
        ratings.item_codes,
        scores,
        all_items=range(ratings.n_items),
    )


def _units(scores: Scores, span: Span | None) -> tuple[Scores, float, float]:
    # Halves, as the range of large scores may be beyond floats.
    halves = scores / 2
    low, high = np.quantile(halves, TAILS) if span is None else np.divide(span, 2)
    if low == high:
        low, high = halves.min(), halves.max()
    width = float(high - low)
    if width == 0:
        return np.full(len(scores), 0.5), 1.0, float(2 * low)
    with np.errstate(over="ignore"):
        units = np.clip((halves - low) / width, -FARTHEST, FARTHEST)
    low = min(max(2 * float(low), -WIDEST), WIDEST)
    return units, min(2 * width, WIDEST), low


def _bent(units: Scores, exponents: Scores) -> Scores:
    """Raise what lies between 0 and 1 to a power."""
    inner = np.clip(units, 0.0, 1.0)
    return np.asarray(inner**exponents + (units - inner))


def _chances(reviewer_codes: Codes, source: Stream) -> Scores:
    return uniforms(source, (3, int(reviewer_codes.max()) + 1))


def _kept_apart(warped: Scores, scores: Scores, reviewer_codes: Codes) -> Scores:
    """Keep the order and the ties of a reviewer's scores where rounding has not."""
    order = np.lexsort((scores, reviewer_codes))
    same = np.diff(reviewer_codes[order]) == 0
    apart = same & (np.diff(scores[order]) != 0)
    steps = np.diff(warped[order])
    if (steps[apart] > 0).all() and (steps[same & ~apart] == 0).all():
        return warped
    values = warped[order].tolist()
    for place, (own, higher) in enumerate(zip(same, apart, strict=True), start=1):
        before = values[place - 1]
        if higher and values[place] <= before:
            values[place] = float(np.nextafter(before, np.inf))
        elif own and not higher:
            values[place] = before
    result = np.empty_like(warped)
    result[order] = values
    return result


def _checked(
    ratings: Ratings, draws: int, strengths: Sequence[str], top: int | None
) -> int:
    require_ratings(ratings)
    if ratings.kind != "scores":
        raise RatingsError(
            f"warp needs scores, but the data holds only {ratings.kind}, which have no "
            "scale to redraw."
        )
    for name in strengths:
        if not isinstance(name, str) or name not in WARPS:
            raise OptionError(unknown("strength", name, WARPS))
    if not strengths:
        raise OptionError("strength must be 'mild', 'extreme' or both, got none.")
    n_items = ratings.n_items
    for name, value, most in (("draws", draws, MOST_DRAWS), ("top", top, n_items)):
        if name == "top" and value is None:
            continue
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not 1 <= value <= most:  # type: ignore[operator]  # an int
            rule = f"from 1 to {most:,}" + ", the number of items" * (name == "top")
            raise OptionError(
                f"{name} must be a whole number {rule}, got {shown(value)}."
            )
    return -(-n_items // 4) if top is None else top
