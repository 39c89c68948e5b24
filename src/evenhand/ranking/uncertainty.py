"""How sure a ranking is: an interval of ranks for each item, and buckets.

Where the uncertainty comes from differs by method, and the result says so:

- ordinal methods: all orderings that respect the comparisons, equally likely;
- models: values of all items drawn together from what the model leaves open;
- clusters of reviewers, if they are named: the same method on clusters drawn from the
  same ones, as an error that a cluster shares is seen between clusters only.

An item's interval leaves out at most (1 - level) / 2 of the probability at either end.
It need not hold the place that the order gave the item: an item that is well known to
be good can have the highest estimate but one, and surely stand below some of the many
that are less known. The order by estimate has the highest values on average; of the
true best k the items with the largest shares hold most. Two items are told apart
if one is above the other with a probability of (1 + level) / 2 at least, so that the
intervals of two items by themselves overlap exactly if they are not. A bucket is a run
of the order in which no item is told apart from a later one; an item that is told apart
from one of the bucket begins the next. Items of different buckets need not be.

These probabilities rest on the model, or on the prior, of their source. They are about
the order that ever more reviewers of this kind would give: an error that all of them
share does not show. No guarantee under arbitrary scales comes with them.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from evenhand.arrays import frozen
from evenhand.claims import CONFIDENCE, LEVEL
from evenhand.errors import require_whole
from evenhand.lazy import lazy
from evenhand.posets.graph import spans
from evenhand.randomness import permutation, standard_normal, stream, uniforms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from concurrent.futures import Executor

    from numpy.typing import ArrayLike, NDArray

    from evenhand.arrays import Codes, Flags, Table
    from evenhand.engines import executors
    from evenhand.models.design import Fit
    from evenhand.ranking.methods import RankMethod
    from evenhand.ratings import Ratings

    Ranks = NDArray[np.int32]
    Refit = Callable[[Ratings], ArrayLike]
    Order = Sequence[int] | Codes
    Parts = Iterable[Table]
    Separates = Callable[[int, int], bool]
else:
    executors = lazy("evenhand.engines.executors")

ORDERINGS = "posterior over orderings"
MODEL = "model"
CLUSTERS = "bootstrap over clusters"
# What an interval may leave out at either end.
TAIL = (1 - LEVEL) / 2
# Probabilities are sums of rounded shares.
ROUNDING = 1e-9
# Probability with which two items are told apart.
LEAST = 1 - TAIL - ROUNDING
# Items of a bucket, from its first, that are looked at; those after them are lower.
LOOKED_AT = 200
# Items up to which values are drawn together; beyond, the common level is 1/200.
JOINT_ITEMS = 200
# Numbers drawn in all, and how many draws at least and at most.
MODEL_WORK, MODEL_DRAWS = 4_000_000, (200, 2000)
# Draws of clusters, and values of a model that are drawn and ranked at once.
CLUSTER_DRAWS, AT_ONCE = 200, 65_536


@dataclass(frozen=True, slots=True, eq=False)
class RankUncertainty:
    """How sure the places of items are.

    Attributes:
        order: Item codes, best first: the ranking that this is about.
        rank_low: Best rank in the interval of each item, by item code.
        rank_high: Worst rank in it.
        buckets: For each place of the order the number of its bucket, from 1.
        source: Where the uncertainty comes from.
        level: Probability that an interval has at least.
        draws: How many rankings were drawn; 0 if probabilities were worked out.
        clusters: How many clusters there are to draw from; 0 without them.
        values: Rows of estimates and of the lower and upper ends of their intervals, by
            item code; all intervals hold at once with a probability of 95%. None if
            values were not drawn by a model.
        at_once: Whether item a is surely above item b, by a and b: all of it holds with
            a probability of 95%. None if nobody asked.
        drawn: Rows of values of items that were drawn together, by item code.
    """

    order: Codes
    rank_low: Codes
    rank_high: Codes
    buckets: tuple[int, ...]
    source: str
    level: float
    draws: int
    _places: Table | None = field(default=None, repr=False)
    _above: Table | None = field(default=None, repr=False)
    _ranks: Ranks | None = field(default=None, repr=False)
    clusters: int = 0
    values: Table | None = field(default=None, repr=False)
    at_once: Flags | None = field(default=None, repr=False)
    drawn: Table | None = field(default=None, repr=False)

    @property
    def ranks_at_once(self) -> tuple[Codes, Codes] | None:
        """Best and worst rank of each item, all at once; None if nobody asked."""
        if self.at_once is None:
            return None
        number = len(self.order)
        return 1 + self.at_once.sum(axis=0), number - self.at_once.sum(axis=1)

    def hold_at_once(self, above: Flags) -> RankUncertainty:
        """Add which items are above which all at once; buckets are by that.

        Examples:
            >>> drawn = _from_ranks([0, 1], [np.array([[3.0, 2.0]])], 7, MODEL)
            >>> drawn.hold_at_once(np.zeros((2, 2), np.bool_)).buckets
            (1, 1)
        """
        rows, others = above[self.order], np.ones(len(above), np.bool_)
        others[self.order] = False
        above = above & ~others & ~others[:, None]

        def separates(begin: int, place: int) -> bool:
            return bool(rows[begin:place, self.order[place]].any())

        buckets = _buckets(len(self.order), separates)
        return replace(self, at_once=frozen(above), buckets=buckets)

    def p_top(self, k: int) -> Table:
        """Return the probability of each item, by code, to be among the best k.

        Raises:
            OptionError: If k is not from 1 to the number of items, or nothing is known
                but the ranks that the comparisons allow.

        Examples:
            >>> from_places([0, 1], np.array([[0.75, 0.25], [0.25, 0.75]])).p_top(1)
            array([0.75, 0.25])
        """
        require_whole("k", k, 1, len(self.order), "the number of items")
        if self._places is None:
            return np.asarray((np.asarray(self._ranks) <= k).mean(axis=0))
        best, others = self._places[:, :k].sum(axis=1), self._places[:, k:].sum(axis=1)
        # Certain answers come out as 0 and 1 whatever was rounded on the way.
        return np.asarray(best / (best + others))

    def among(self, order: Codes) -> RankUncertainty:
        """Rank only some items, in an order; the others are last in every draw.

        Examples:
            >>> drawn = _from_ranks([0, 1, 2], [np.array([[3.0, 2.0, 1.0]])], 7, MODEL)
            >>> drawn.among(np.array([1, 2])).rank_low.tolist()
            [3, 1, 2]
        """
        drawn = np.asarray(self._ranks)
        ranks = np.full_like(drawn, len(self.order))
        ranks[:, order] = 1 + drawn[:, order].argsort(axis=1).argsort(axis=1)
        again = _from_drawn_ranks(order, ranks.T, self.source)
        again = replace(again, clusters=self.clusters, values=self.values)
        return replace(again, drawn=self.drawn)

    def choose_by_share(self, k: int) -> RankUncertainty:
        """Put the k items first that are most often among the best k.

        The others follow in the order that they had.

        Examples:
            >>> found = from_places([0, 1], np.array([[0.25, 0.75], [0.75, 0.25]]))
            >>> found.choose_by_share(1).order.tolist()
            [1, 0]
        """
        first = _largest_first(self.p_top(k)[self.order])[:k]
        order = np.append(self.order[first], np.delete(self.order, first))
        if self._places is not None:
            again = from_places(order, self._places, above=self._above)
        else:
            again = _from_drawn_ranks(order, np.asarray(self._ranks).T, self.source)
        return replace(
            again, draws=self.draws, clusters=self.clusters, drawn=self.drawn
        )

    def expected_places(self, k: int) -> tuple[float, float]:
        """Return how many of the true best k two choices of k items hold on average.

        Returns:
            That of the first k of the order, and that of those with the largest shares.
            Of drawn rankings one half chooses these, and the other half counts.

        Examples:
            >>> found = from_places([0, 1], np.array([[0.25, 0.75], [0.75, 0.25]]))
            >>> found.expected_places(1)
            (0.25, 0.75)
        """
        shares = self.p_top(k)[self.order]
        halves = [shares, shares]
        if self._ranks is not None:
            among = self._ranks[:, self.order] <= k
            halves = [among[start::2].mean(axis=0) for start in range(2)]
        chosen = [_largest_first(half)[:k] for half in halves]
        best = (halves[1][chosen[0]].sum() + halves[0][chosen[1]].sum()) / 2
        return float(shares[:k].sum()), float(best)


def from_places(
    order: Order, places: Table, *, above: Table | None = None, draws: int = 0
) -> RankUncertainty:
    """Take the law of places over all orderings that respect the comparisons.

    Args:
        order: Item codes, best first.
        places: places[i, t] is the probability that t items are above item i; see
            `evenhand.posets.averaging`.
        above: above[a, b] is the probability that a is above b. Without it buckets come
            from the places alone, as if two items' places were independent, and an item
            is held against the first of its bucket only.
        draws: How many orderings were sampled, if they were.

    Examples:
        >>> from evenhand.posets import averages, from_edges
        >>> known = averages(from_edges(3, [0], [1]))
        >>> found = from_places([0, 2, 1], known.places, above=known.above)
        >>> found.rank_low.tolist(), found.rank_high.tolist(), found.buckets
        ([1, 2, 1], [2, 3, 3], (1, 1, 2))
    """
    codes, before = np.array(order, dtype=np.int64), np.cumsum(places, axis=1)
    after = np.cumsum(places[:, ::-1], axis=1)
    low = 1 + np.count_nonzero(before <= TAIL + ROUNDING, axis=1)
    high = len(places) - np.count_nonzero(after <= TAIL + ROUNDING, axis=1)

    def separates(begin: int, place: int) -> bool:
        first, item = codes[begin], codes[place]
        if above is not None:
            return bool(above[codes[begin:place], item].max() >= LEAST)
        # The first is above if its place is before the other's; equal places cannot be.
        wins = float(places[item] @ (before[first] - places[first]))
        same = float(places[item] @ places[first])
        return wins >= LEAST * max(1 - same, ROUNDING)

    return RankUncertainty(
        order=frozen(codes),
        rank_low=frozen(low),
        rank_high=frozen(high),
        buckets=_buckets(len(codes), separates),
        source=ORDERINGS,
        level=LEVEL,
        draws=draws,
        _places=places,
        _above=above,
    )


def from_fit(
    fit: Fit, seed: int, *, order: Order, errors: Table | None = None
) -> RankUncertainty:
    """Draw values of items from their estimates and standard errors.

    Errors of different items count as independent and normal. That is right for the
    predictions of a model with a prior: given the data, values lie about them.

    Args:
        fit: Estimates of a model.
        seed: Where the draws come from.
        order: Item codes, best first.
        errors: Standard errors, if not those of the fit.

    Examples:
        >>> from evenhand.models.bradley_terry import bradley_terry
        >>> from evenhand.ratings import Ratings
        >>> fit = bradley_terry(Ratings.from_comparisons(["x"] * 30, ["y"] * 30))
        >>> found = from_fit(fit, 7, order=[0, 1])
        >>> found.rank_low.tolist(), found.rank_high.tolist(), found.buckets
        ([1, 2], [1, 2], (1, 2))
    """
    source, values = stream(seed, "model draws"), fit.estimates
    spread = np.asarray(fit.errors if errors is None else errors, dtype=np.float64)
    number, step = _number_of_draws(order), max(AT_ONCE // len(values), 1)
    sizes = (min(step, number - begin) for begin in range(0, number, step))
    units = (uniforms(source, (size, len(values))) for size in sizes)
    draws = (values + spread * standard_normal(part) for part in units)
    # By Sidak's inequality this holds for normal errors that are correlated, too.
    reach = spread * ndtri((1 + CONFIDENCE ** (1 / len(values))) / 2)
    ends = frozen(np.stack([values, values - reach, values + reach]))
    return replace(_from_ranks(order, draws, seed, MODEL), values=ends)


def from_clusters(
    ratings: Ratings,
    clusters: Codes,
    refit: Refit,
    seed: int,
    *,
    order: Order,
    executor: Executor | None = None,
) -> RankUncertainty:
    """Rank again 200 times, with clusters of reviewers drawn from the same ones.

    Of n clusters n - 1 are drawn with replacement, so that the mean of a cluster's
    effects varies as much as it does between samples.

    Args:
        ratings: The ratings.
        clusters: Cluster of each rating, the same for all of a reviewer.
        refit: From ratings to a value for each item, by code, higher for better.
        seed: Where the draws come from.
        order: Item codes, best first: the ranking of all ratings.
        executor: What ranks again, None for here.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings([0, 0, 1, 1, 2, 2], ["x", "y"] * 3, [2, 1, 7, 5, 3, 2])
        >>> refit = lambda again: np.bincount(again.item_codes, again.scores)
        >>> from_clusters(ratings, np.arange(6) // 2, refit, 7, order=[0, 1]).clusters
        3
    """
    _, first = np.unique(ratings.reviewer_codes, return_index=True)
    codes = clusters[first]
    members = [np.flatnonzero(codes == cluster) for cluster in range(codes.max() + 1)]
    rng = np.random.Generator(stream(seed, "bootstrap"))
    lots = rng.integers(len(members), size=(CLUSTER_DRAWS, len(members) - 1))
    drawn = np.empty((CLUSTER_DRAWS, ratings.n_items))
    chosen = [np.concatenate([members[cluster] for cluster in lot]) for lot in lots]
    redraw = functools.partial(_refit_reviewers, ratings, refit)
    again = executors.run_parts(redraw, chosen, executor)
    for row, (seen, values) in zip(drawn, again, strict=True):
        # An item that no drawn reviewer rated gets the value of another, by lot.
        row[:] = rng.choice(values, ratings.n_items)
        row[seen] = values
    sure = _from_ranks(order, [drawn], seed, CLUSTERS)
    return replace(sure, clusters=len(members), drawn=drawn)


def from_model(
    method: RankMethod, ratings: Ratings, fit: Fit, seed: int, *, order: Order
) -> RankUncertainty | None:
    """Draw values by the model; None if it does not say how.

    Up to 200 items values are drawn together, see `evenhand.models.posterior`;
    beyond, errors of different items count as independent.

    Args:
        method: The model.
        ratings: The ratings.
        fit: What the model made of them.
        seed: Where the draws come from.
        order: Item codes, best first.

    Examples:
        >>> from evenhand.ranking.methods import Additive
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings([0, 0, 1, 1, 2, 2], ["x", "y"] * 3, [2, 1, 7, 5, 3, 9])
        >>> model = Additive()
        >>> from_model(model, ratings, model.fit(ratings), 7, order=[0, 1]).source
        'model'
    """
    if ratings.n_items <= JOINT_ITEMS:
        values = method.draw_values(ratings, fit, _number_of_draws(order), seed)
        if values is not None:
            ends = _joint_intervals(fit, np.bincount(ratings.item_codes), values)
            again = _from_ranks(order, [values], seed, MODEL)
            return replace(again, values=ends, drawn=values)
    errors = method.errors(ratings, fit)
    if errors is None:
        return None
    return from_fit(fit, seed, order=order, errors=errors)


def _joint_intervals(fit: Fit, counts: Codes, draws: Table) -> Table:
    """Return estimates and intervals that hold all at once, in units of the estimates.

    Items with equal estimates from equally many ratings share what chance leaves
    between their draws, so that they have equal intervals.
    """
    alike = np.stack([fit.estimates, counts])
    same = np.unique(alike, axis=1, return_inverse=True)[1].reshape(-1)
    sizes = np.bincount(same)
    centre, square = (
        (np.bincount(same, moment) / sizes)[same]
        for moment in (draws.mean(axis=0), draws.var(axis=0))
    )
    spread = np.maximum(np.sqrt(square), np.finfo(np.float64).tiny)
    farthest = (np.abs(draws - centre) / spread).max(axis=1)
    reach = spread * np.quantile(farthest, CONFIDENCE, method="higher")
    # Squares of the largest floats would overflow.
    size = float(np.abs(fit.estimates).max()) or 1.0
    values, ends = (
        fit.estimates / size,
        np.stack([centre, centre - reach, centre + reach]),
    )
    unit = values.std() / centre.std() if np.ptp(centre) else 1.0
    return frozen(size * (values.mean() + unit * (ends - centre.mean())))


def _number_of_draws(order: Order) -> int:
    return int(np.clip(MODEL_WORK // max(len(order), 1), *MODEL_DRAWS))


def _from_ranks(order: Order, draws: Parts, seed: int, source: str) -> RankUncertainty:
    return _from_drawn_ranks(order, _drawn_ranks(draws, seed), source)


def _from_drawn_ranks(order: Order, ranks: Ranks, source: str) -> RankUncertainty:
    """Leave out a share of the drawn rankings, a column for each, at either end.

    In a long bucket the first 200 items are looked at; those after them are lower.
    """
    codes = np.array(order, dtype=np.int64)
    out = math.floor(TAIL * (number := ranks.shape[1]) + ROUNDING)
    low, high = np.sort(ranks, axis=1)[:, [out, -1 - out]].T
    # Small numbers are compared faster.
    rows = ranks[codes].astype(np.min_scalar_type(len(codes)))

    def separates(begin: int, place: int) -> bool:
        ahead = rows[begin : min(place, begin + LOOKED_AT)] < rows[place]
        # Bits are counted several times as fast as flags.
        counts = np.bitwise_count(np.packbits(ahead, axis=1)).sum(axis=1)
        return bool(counts.max() >= LEAST * number)

    return RankUncertainty(
        order=frozen(codes),
        rank_low=frozen(low.astype(np.int64)),
        rank_high=frozen(high.astype(np.int64)),
        buckets=_buckets(len(codes), separates),
        source=source,
        level=LEVEL,
        draws=number,
        _ranks=frozen(ranks.T),
    )


def _buckets(size: int, separates: Separates) -> tuple[int, ...]:
    """Cut an order into buckets.

    Going down the order, a test says from the places where the bucket begins and where
    an item is whether it is surely below some item of the bucket so far; if so, it
    begins the next bucket.
    """
    begin, numbers = 0, [1]
    for place in range(1, size):
        begin = place if (new := separates(begin, place)) else begin
        numbers.append(numbers[-1] + new)
    return tuple(numbers)


def _largest_first(shares: Table) -> Codes:
    return np.argsort(-shares, kind="stable")


def _refit_reviewers(
    ratings: Ratings, refit: Refit, chosen: Codes
) -> tuple[Codes, Table]:
    """Return the items that chosen reviewers rated, and their values."""
    starts = np.searchsorted(ratings.reviewer_codes, np.arange(ratings.n_reviewers + 1))
    sizes = starts[chosen + 1] - starts[chosen]
    rows = spans(starts[chosen], sizes)
    seen, items = np.unique(ratings.item_codes[rows], return_inverse=True)
    people = np.repeat(np.arange(len(chosen)), sizes)
    # Codes do for labels.
    names = tuple(range(len(chosen)))
    again = ratings._take_rows(rows, names, ratings.reviewer_codes)  # noqa: SLF001 - our own
    again.reviewer_codes, again.item_codes = people, items
    again.item_labels = tuple(range(len(seen)))
    return seen, np.asarray(refit(again), dtype=np.float64)


def _drawn_ranks(parts: Parts, seed: int) -> Ranks:
    """Rank each row of values, 1 for the highest; equal values by lot.

    Returns:
        Ranks, a row for each item and a column for each row of values.

    Examples:
        >>> _drawn_ranks([np.array([[1.0, 5.0, 3.0]])], 7).tolist()
        [[3], [1], [2]]
    """
    source, ranks = stream(seed, "equal draws"), []
    for values in parts:
        order, ordered = np.argsort(values, axis=1), np.sort(values, axis=1)
        for row in np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1)):
            lot = permutation(source, values.shape[1])
            order[row] = np.lexsort((lot, -values[row]))[::-1]
        ranks.append(np.empty(order.T.shape, np.int32))
        np.put_along_axis(ranks[-1].T, order, np.arange(len(order.T), 0, -1), axis=1)
    return np.concatenate(ranks, axis=1)
