"""How sure a ranking is: ranks that an item may have, and items that cannot be told apart.

Where the uncertainty comes from differs by method, and the result says so:

- ordinal methods: all orderings that respect the comparisons, equally likely;
- models: the estimates with normal errors of the size that the model states;
- anything else: the same method on reviewers drawn again, with replacement.

An item's interval leaves out at most (1 - level) / 2 of the probability at either end,
and holds the place that the order gave the item in any case. A bucket is a run of the
order in which no item is above a later one with a probability of `level` or more; an
item that some item of the bucket is so sure to beat begins the next bucket.

These probabilities rest on the model, or on the prior, of their source. No guarantee
under arbitrary scales comes with them.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from evenhand._labels import shown
from evenhand._randomness import Stream, below, permutation, stream, uniforms
from evenhand.errors import OptionError
from evenhand.posets.averages import top_shares
from evenhand.posets.proxy import closure_counts
from evenhand.ratings import Ratings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from evenhand.calibration.results import Fit
    from evenhand.posets.comparisons import Comparisons

    Codes = NDArray[np.int64]
    Ranks = NDArray[np.int32]
    Table = NDArray[np.float64]
    Refit = Callable[[Ratings], ArrayLike]

ORDERINGS = "posterior over orderings"
MODEL = "model"
BOOTSTRAP = "bootstrap over reviewers"
BOUNDS = "ranks that the comparisons allow"
LEVEL = 0.9
# Probabilities are sums of rounded shares.
ROUNDING = 1e-9
# Numbers drawn in all, and how many draws at least and at most.
MODEL_WORK, MODEL_DRAWS = 4_000_000, (200, 2000)
REFIT_WORK, REFIT_DRAWS = 20_000_000, (20, 200)
# Middles of the steps of the grid of uniforms: 0 itself has no quantile.
HALF_STEP = 2.0**-54


@dataclass(frozen=True, slots=True, eq=False)
class RankUncertainty:
    """How sure the places of items are.

    Attributes:
        order: Item codes, best first: the ranking that this is about.
        rank_low: Best rank in the interval of each item, by item code.
        rank_high: Worst rank in it.
        buckets: For each place of the order the number of its bucket, from 1.
        source: Where the uncertainty comes from.
        level: Probability that an interval has at least, and that tells two items
            apart.
        draws: How many rankings were drawn; 0 if probabilities were worked out.
    """

    order: Codes
    rank_low: Codes
    rank_high: Codes
    buckets: tuple[int, ...]
    source: str
    level: float
    draws: int
    _places: Table | None = field(default=None, repr=False)
    _ranks: Ranks | None = field(default=None, repr=False)

    def p_top(self, k: int) -> Table:
        """Return the probability of each item, by code, to be among the best k.

        Raises:
            OptionError: If k is not from 1 to the number of items, or nothing is known
                but the ranks that the comparisons allow.

        Examples:
            >>> from_places([0, 1], np.array([[0.75, 0.25], [0.25, 0.75]])).p_top(1)
            array([0.75, 0.25])
        """
        if self._ranks is None:
            return top_shares(self._places, k)
        whole = isinstance(k, int | np.integer) and not isinstance(k, bool)
        if not whole or not 1 <= k <= len(self.order):
            raise OptionError(
                f"k must be a whole number from 1 to {len(self.order)}, the number of "
                f"items, got {shown(k)}."
            )
        return np.asarray((self._ranks <= k).mean(axis=0))

    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Return the items of each bucket, best first.

        Examples:
            >>> found = from_places([1, 0], np.array([[0.25, 0.75], [0.75, 0.25]]))
            >>> found.groups()
            ((1, 0),)
        """
        cuts = np.flatnonzero(np.diff(self.buckets)) + 1
        return tuple(tuple(part.tolist()) for part in np.split(self.order, cuts))


def from_places(
    order: Sequence[int] | Codes,
    places: Table,
    *,
    above: Table | None = None,
    level: float = LEVEL,
    draws: int = 0,
) -> RankUncertainty:
    """Take the law of places over all orderings that respect the comparisons.

    Args:
        order: Item codes, best first.
        places: places[i, t] is the probability that t items are above item i; see
            `evenhand.posets.averages`.
        above: above[a, b] is the probability that a is above b. Without it buckets come
            from the places alone, as if two items' places were independent, and an item
            is held against the first of its bucket only.
        level: Probability of intervals, and at which two items are told apart.
        draws: How many orderings were sampled, if they were.

    Raises:
        OptionError: If level is out of range.

    Examples:
        >>> from evenhand.posets import averages, from_edges
        >>> known = averages(from_edges(3, [0], [1]))
        >>> found = from_places([0, 2, 1], known.places, above=known.above)
        >>> found.rank_low.tolist(), found.rank_high.tolist(), found.buckets
        ([1, 2, 1], [2, 3, 3], (1, 1, 2))
    """
    tail = _tail(level)
    codes = np.asarray(order, dtype=np.int64)
    n_items = len(codes)
    before = np.cumsum(places, axis=1)
    after = np.cumsum(places[:, ::-1], axis=1)
    low = 1 + np.count_nonzero(before <= tail + ROUNDING, axis=1)
    high = n_items - np.count_nonzero(after <= tail + ROUNDING, axis=1)
    if above is None:
        earlier = before - places
        buckets = _cut(codes, _first_by_places(places, earlier, level))
    else:
        buckets = _cut(codes, _any_above(above, level))
    return _made(codes, low, high, buckets, ORDERINGS, level, draws, places=places)


def from_bounds(order: Sequence[int] | Codes, c: Comparisons) -> RankUncertainty:
    """Take all ranks that the comparisons allow, where orderings are too many to weigh.

    The intervals are certain if the comparisons are right; so is the order of items of
    different buckets, as every two neighbours of one bucket were left open.

    Args:
        order: Item codes, best first, as the comparisons have it.
        c: The comparisons, without a contradiction.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> found = from_bounds([0, 2, 1], from_edges(3, [0, 0], [1, 2]))
        >>> found.rank_low.tolist(), found.rank_high.tolist(), found.buckets
        ([1, 2, 2], [1, 3, 3], (1, 2, 2))
    """
    codes = np.asarray(order, dtype=np.int64)
    above, below_counts = closure_counts(c)
    low, high = 1 + above, c.n_items - below_counts
    # All before are above an item exactly if its best rank is its place.
    reach = np.maximum.accumulate(high[codes])
    begins = low[codes] > np.concatenate([[0], reach[:-1]])
    buckets = tuple(np.cumsum(begins).tolist())
    return _made(codes, low, high, buckets, BOUNDS, 1.0, 0)


def from_fit(
    fit: Fit,
    seed: int,
    *,
    order: Sequence[int] | Codes | None = None,
    errors: Table | None = None,
    shrink: bool = False,
    level: float = LEVEL,
    draws: int | None = None,
) -> RankUncertainty:
    """Draw values of items from their estimates and standard errors.

    Errors of different items count as independent and normal. That is right for the
    predictions of a model with a prior: given the data, values lie about them. Plain
    estimates stick out in part by luck, so they must be drawn to the middle first.

    Args:
        fit: Estimates of a model.
        seed: Where the draws come from.
        order: Item codes, best first; by estimate, equal ones by code, if not given.
        errors: Standard errors, if not those of the fit.
        shrink: Whether estimates are plain ones, without a prior; they are then drawn
            to their mean as far as errors explain their spread.
        level: Probability of intervals, and at which two items are told apart.
        draws: How many; from 200 to 2,000 by the number of items, if not given.

    Raises:
        OptionError: If the fit has no standard errors, or an option is out of range.

    Examples:
        >>> from evenhand.calibration.bradley_terry import bradley_terry
        >>> fit = bradley_terry(Ratings.from_comparisons(["x"] * 9, ["y"] * 9))
        >>> found = from_fit(fit, 7)
        >>> found.rank_low.tolist(), found.rank_high.tolist(), found.buckets
        ([1, 2], [1, 2], (1, 2))
    """
    tail = _tail(level)
    given = fit.errors if errors is None else errors
    if given is None:
        raise OptionError(
            f"fit must have standard errors, got none from method {fit.method!r}. Give "
            "errors, or use from_bootstrap."
        )
    values, spread = _scaled(fit.estimates, np.asarray(given, dtype=np.float64))
    if shrink:
        values, spread = _shrunk(values, spread)
    codes = (
        np.argsort(-fit.estimates, kind="stable") if order is None else np.array(order)
    ).astype(np.int64)
    number = _number(draws, len(codes), MODEL_WORK, MODEL_DRAWS)
    ranks = _drawn_ranks(_normal_draws(values, spread, number, seed), number, seed)
    low, high = _drawn_intervals(ranks, tail)
    buckets = _normal_buckets(codes, values, spread, level)
    return _made(codes, low, high, buckets, MODEL, level, number, ranks=ranks)


def from_bootstrap(
    ratings: Ratings,
    refit: Refit,
    seed: int,
    *,
    order: Sequence[int] | Codes,
    level: float = LEVEL,
    draws: int | None = None,
) -> RankUncertainty:
    """Rank again, with as many reviewers drawn from the same ones.

    An item that no drawn reviewer rated gets a place by lot. An item with one rating
    looks surer than it is, as its own noise is never seen.

    Args:
        ratings: The ratings.
        refit: From ratings to a value for each item, by code, higher for better.
        seed: Where the draws come from.
        order: Item codes, best first: the ranking of all ratings.
        level: Probability of intervals, and at which two items are told apart.
        draws: How many; from 20 to 200 by the number of ratings, if not given.

    Raises:
        OptionError: If an option is out of range.

    Examples:
        >>> from evenhand.calibration.borda import borda
        >>> ratings = Ratings([0, 0, 1, 1, 2, 2], ["x", "y"] * 3, [2, 1, 7, 5, 3, 9])
        >>> refit = lambda ratings: borda(ratings).estimates
        >>> from_bootstrap(ratings, refit, 7, order=[0, 1]).p_top(1).round(2).tolist()
        [0.74, 0.26]
    """
    tail = _tail(level)
    codes = np.array(order, dtype=np.int64)
    number = _number(draws, ratings.n_ratings, REFIT_WORK, REFIT_DRAWS)
    ranks = _drawn_ranks(_refits(ratings, refit, number, seed), number, seed)
    low, high = _drawn_intervals(ranks, tail)
    buckets = _cut(codes, _any_drawn_above(ranks, level))
    return _made(codes, low, high, buckets, BOOTSTRAP, level, number, ranks=ranks)


def _made(
    order: Codes,
    low: NDArray[np.integer],
    high: NDArray[np.integer],
    buckets: tuple[int, ...],
    source: str,
    level: float,
    draws: int,
    *,
    places: Table | None = None,
    ranks: Ranks | None = None,
) -> RankUncertainty:
    own = np.empty(len(order), dtype=np.int64)
    own[order] = np.arange(1, len(order) + 1)
    found = (order, np.minimum(low, own), np.maximum(high, own))
    for table in (*found, ranks):
        if table is not None:
            table.flags.writeable = False
    return RankUncertainty(*found, buckets, source, level, draws, places, ranks)


def _tail(level: float) -> float:
    number = isinstance(level, int | float) and not isinstance(level, bool)
    if not number or not 0.5 <= level < 1:  # noqa: PLR2004 - below it nothing is told
        raise OptionError(
            f"level must be a number from 0.5 to below 1, got {shown(level)}."
        )
    return (1 - level) / 2


def _number(draws: int | None, size: int, work: int, bounds: tuple[int, int]) -> int:
    if draws is None:
        return min(max(work // max(size, 1), bounds[0]), bounds[1])
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < 1:
        raise OptionError(
            f"draws must be a whole number of at least 1, got {shown(draws)}."
        )
    return draws


# Draws: one row of values at a time, so that memory holds ranks only.


def _normal_draws(
    values: Table, errors: Table, draws: int, seed: int
) -> Iterator[Table]:
    from scipy.special import ndtri  # noqa: PLC0415 - slow to load

    source = stream(seed, "model draws")
    for _ in range(draws):
        units = uniforms(source, len(values))
        yield values + errors * ndtri(units + HALF_STEP)


def _refits(ratings: Ratings, refit: Refit, draws: int, seed: int) -> Iterator[Table]:
    source = stream(seed, "bootstrap")
    starts = np.searchsorted(ratings.reviewer_codes, np.arange(ratings.n_reviewers + 1))
    for _ in range(draws):
        units = uniforms(source, ratings.n_reviewers)
        chosen = (units * ratings.n_reviewers).astype(np.int64)
        sizes = starts[chosen + 1] - starts[chosen]
        first = np.repeat(starts[chosen] - np.cumsum(sizes) + sizes, sizes)
        rows = first + np.arange(len(first))
        seen, items = np.unique(ratings.item_codes[rows], return_inverse=True)
        people = np.repeat(np.arange(len(chosen)), sizes)
        values = np.empty(ratings.n_items)
        again = _again(ratings, people, items, ratings.preference[rows])
        values[seen] = np.asarray(refit(again), dtype=np.float64)
        # By lot among the others: the value of one of them.
        bare = np.setdiff1d(np.arange(ratings.n_items), seen)
        values[bare] = values[seen[[below(source, len(seen)) for _ in bare]]]
        yield values


def _again(ratings: Ratings, people: Codes, items: Codes, scores: Table) -> Ratings:
    if ratings.kind == "scores":
        return Ratings(people, items, scores)
    # Ranks count from the best.
    return Ratings.from_ranks(people.tolist(), items.tolist(), (-scores).tolist())


def _drawn_ranks(draws: Iterator[Table], number: int, seed: int) -> Ranks:
    """Rank each row of values, 1 for the highest; equal values by lot."""
    source = stream(seed, "equal draws")
    ranks: Ranks | None = None
    for row, values in enumerate(draws):
        if ranks is None:
            ranks = np.empty((number, len(values)), dtype=np.int32)
        ranks[row, _by_value(values, source)] = np.arange(1, len(values) + 1)
    return np.empty((0, 0), dtype=np.int32) if ranks is None else ranks


def _by_value(values: Table, source: Stream) -> Codes:
    order = np.argsort(-values)
    if (np.diff(values[order]) == 0).any():
        order = np.lexsort((permutation(source, len(values)), -values))
    return order.astype(np.int64)


def _drawn_intervals(ranks: Ranks, tail: float) -> tuple[Codes, Codes]:
    ordered = np.sort(ranks, axis=0)
    out = math.floor(tail * len(ranks) + ROUNDING)
    low, high = ordered[out], ordered[len(ranks) - 1 - out]
    return low.astype(np.int64), high.astype(np.int64)


def _scaled(values: Table, errors: Table) -> tuple[Table, Table]:
    """Divide by the largest number, so that no sum leaves the floats."""
    largest = max(float(np.abs(values).max()), float(np.abs(errors).max()))
    if not 0 < largest < math.inf:
        return np.zeros_like(values), np.zeros_like(errors)
    return values / largest, errors / largest


def _shrunk(values: Table, errors: Table) -> tuple[Table, Table]:
    """Draw plain estimates to their mean: empirical Bayes with a normal prior."""
    prior = max(float(np.var(values)) - float(np.mean(errors**2)), 0.0)
    total = prior + errors**2
    kept = np.divide(prior, total, out=np.ones_like(total), where=total > 0)
    centre = float(values.mean())
    return centre + kept * (values - centre), np.sqrt(kept) * errors


# Buckets: a test tells whether an item is surely below one of the bucket so far.


def _cut(order: Codes, separated: Callable[[list[int], int], bool]) -> tuple[int, ...]:
    bucket: list[int] = []
    number = 1
    numbers = []
    for item in order.tolist():
        if bucket and separated(bucket, item):
            number += 1
            bucket = []
        bucket.append(item)
        numbers.append(number)
    return tuple(numbers)


def _any_above(above: Table, level: float) -> Callable[[list[int], int], bool]:
    def separated(bucket: list[int], item: int) -> bool:
        return bool(above[bucket, item].max() >= level - ROUNDING)

    return separated


def _first_by_places(
    places: Table, earlier: Table, level: float
) -> Callable[[list[int], int], bool]:
    def separated(bucket: list[int], item: int) -> bool:
        # The first is above if its place is before the other's; equal places cannot be.
        first = bucket[0]
        wins = float(places[item] @ earlier[first])
        same = float(places[item] @ places[first])
        return wins >= (level - ROUNDING) * max(1 - same, ROUNDING)

    return separated


def _any_drawn_above(ranks: Ranks, level: float) -> Callable[[list[int], int], bool]:
    def separated(bucket: list[int], item: int) -> bool:
        wins = np.count_nonzero(ranks[:, bucket] < ranks[:, [item]], axis=0)
        return bool(wins.max() >= (level - ROUNDING) * len(ranks))

    return separated


def _normal_buckets(
    order: Codes, values: Table, errors: Table, level: float
) -> tuple[int, ...]:
    """Cut by the normal probability that one value is above another."""
    reach = statistics.NormalDist().inv_cdf(level)
    value, error = values.tolist(), errors.tolist()
    # Only items that no other of the bucket beats in both value and error can be the
    # first to leave an item behind; there are few of them.
    leaders: list[int] = []
    number = 1
    numbers = []
    for item in order.tolist():
        if any(
            value[one] - value[item] > reach * math.hypot(error[one], error[item])
            for one in leaders
        ):
            number += 1
            leaders = []
        if not any(
            value[one] >= value[item] and error[one] <= error[item] for one in leaders
        ):
            leaders = [
                one
                for one in leaders
                if value[one] > value[item] or error[one] < error[item]
            ]
            leaders.append(item)
        numbers.append(number)
    return tuple(numbers)
