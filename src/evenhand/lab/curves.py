"""The numbers of the paper's figures, exact wherever they can be.

Beside the paper's curves stands what it leaves out: fair coins on the same pairs, the
order by posterior mean rank, the true maximum, the Pareto frontier.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

import numpy as np
from scipy.optimize import minimize_scalar

from evenhand.ab.canonical import first_probability
from evenhand.ab.weights import rational
from evenhand.claims import Json, Notice, version
from evenhand.lab import worlds
from evenhand.lab.exact import METHODS as RULES
from evenhand.lab.exact import biases, uniform_success
from evenhand.lab.scenario import Scenario
from evenhand.lab.simulation import simulate
from evenhand.lab.worlds import index_order, mean_rank_buckets
from evenhand.posets.graph import Comparisons, edges
from evenhand.randomness import HALF, outcomes, stream
from evenhand.ranking.flips import flips_program

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from evenhand.arrays import Floats
    from evenhand.lab.worlds import Order, Ordinal

    Codes = NDArray[np.int64]
    Flags = NDArray[np.bool_]

Progress: TypeAlias = Callable[[str, int, int], None]
Row: TypeAlias = dict[str, int | float | str]
Step = TypeVar("Step")

REVIEWERS = (2, 4, 6, 8, 10, 20, 30, 40, 50, 100)
ITEMS = (3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 30, 40, 50)
EXPONENTS = range(-10, 11)
PANELS = {
    "fig1a": ("one-biased", "one biased reviewer"),
    "fig1b": ("incremental", "incremental biases"),
    "fig1c": ("incremental-one-biased", "incremental biases, one biased reviewer"),
}
# Up to so many items the risk of methods that see no scores is enumerated.
ENUMERATED = 5
NO_THEOREM = "m = 1 is outside 1 < m < n(n-1)/2; no theorem applies"
FAIR_COIN = (
    "The start is the best ordinal ranking for exact recovery, not for Kendall tau: "
    "even fair coins on the same pairs improve it, so the gain of flips over fair-coin "
    "is what the scores bring."
)
# Mean ranks that differ less differ by rounding only.
DIGITS = 9


@dataclass(frozen=True, slots=True)
class Size:
    """How large a run is.

    Attributes:
        rounds: Figure 1: simulated trials beside the exact values.
        matchings: Figure 1: sampled matchings where no exact value exists.
        trials: Figure 2: draws of values and scales.
        samples: Figure 2: comparisons for each of them.
        coins: Figure 3: simulated trials beside the exact values.
        reviewers: Figure 1: numbers of reviewers.
        items: Figure 2: numbers of items.
    """

    rounds: int = 10_000
    matchings: int = 100_000
    trials: int = 100
    samples: int = 1000
    coins: int = 500_000
    reviewers: tuple[int, ...] = REVIEWERS
    items: tuple[int, ...] = ITEMS


FULL = Size()
QUICK = Size(
    1000, 4000, 20, 100, 20_000, (2, 4, 6, 8, 10, 50, 100), (3, 4, 8, 10, 20, 50)
)


@dataclass(frozen=True, slots=True)
class Figure:
    """The numbers of one figure.

    Attributes:
        name: "fig1a", ...
        title: What it shows.
        rows: The numbers; improvements in per cent.
        seed: The seed that repeats it.
        parameters: What it was run with.
        extra: Further fields of the JSON.
        notices: What the reader must know.
    """

    name: str
    title: str
    rows: tuple[Row, ...]
    seed: int
    parameters: Mapping[str, Json]
    extra: Mapping[str, Json] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()

    def to_dict(self) -> dict[str, Json]:
        """Return the figure as in the JSON.

        Examples:
            >>> Figure("fig3", "A title", (), 7, {}).to_dict()["schema"]
            'evenhand.figure/1'
        """
        return {
            "schema": "evenhand.figure/1",
            "figure": self.name,
            "title": self.title,
            "rows": [dict(row) for row in self.rows],
            **self.extra,
            "parameters": dict(self.parameters),
            "seed": self.seed,
            "warnings": [notice.to_dict() for notice in self.notices],
            "version": version(),
        }


def two_items(
    name: str, seed: int, *, size: Size = FULL, progress: Progress | None = None
) -> Figure:
    """Work out one panel of Figure 1: the rules for two items against a fair coin.

    Args:
        name: "fig1a", "fig1b" or "fig1c".
        seed: Where chance comes from.
        size: How large the run is.
        progress: Told the figure, the steps done and all steps.

    Returns:
        A row for each number of reviewers and rule.

    References:
        Wang and Shah (2019), Figure 1.

    Examples:
        >>> size = Size(rounds=10, reviewers=(2, 4))
        >>> two_items("fig1a", 7, size=size).rows[5]["improvement"]
        50.0
    """
    family, title = PANELS[name]
    rows: list[Row] = []
    for m in _followed(size.reviewers, name, progress):
        shifts, scenario = biases(family, m), Scenario(reviewers=m, scales=family)
        trials = _generator(seed, f"{name} {m} trials")
        tried = simulate(scenario, RULES, trials=size.rounds, rng=trials)
        for rule, row in zip(RULES, tried.rows, strict=True):
            matchings = _generator(seed, f"{name} {m} matchings")
            known = uniform_success(rule, shifts, samples=size.matchings, rng=matchings)
            rows.append(
                {
                    "m": m,
                    "method": rule,
                    "improvement": known.improvement,
                    "se": 200 * known.se,
                    "exact": known.exact,
                    "simulated": 100 * (1 - 2 * row.risk),
                    "simulated_se": 200 * row.se,
                }
            )
    parameters: dict[str, Json] = {
        "scales": family,
        "weight": rational().to_dict(),
        "trials": size.rounds,
        "matchings": size.matchings,
    }
    return Figure(name, f"Two items: {title}", tuple(rows), seed, parameters)


def many_items(
    name: str, seed: int, *, size: Size = FULL, progress: Progress | None = None
) -> Figure:
    """Work out Figure 2: Algorithm 1 in Kendall tau against its start.

    Two more methods are run on the same samples: "fair-coin" flips fair coins on the
    pairs that Algorithm 1 flips, and "mean-rank" orders by the posterior mean rank,
    from comparisons alone.

    Args:
        name: "fig2".
        seed: Where chance comes from.
        size: How large the run is.
        progress: Told the figure, the steps done and all steps.

    Returns:
        A row for each number of items and method, with both readings of the paper's
        average: of pooled losses, and of the improvements of the trials.

    References:
        Wang and Shah (2019), Figure 2.

    Examples:
        >>> size = Size(trials=2, samples=10, items=(3,))
        >>> many_items("fig2", 7, size=size).rows[0]["improvement"]
        0.0
    """
    steps = list(itertools.product(size.items, range(size.trials)))
    means: dict[int, list[Floats]] = {n: [] for n in size.items}
    for n, trial in _followed(steps, name, progress):
        rng = _generator(seed, f"fig2 {n} {trial}")
        m = math.comb(n, 2) // 2
        # Counted from 1, a slope is never 0.
        values, slopes, shifts = n * rng.random(n), 1 - rng.random(m), rng.random(m)
        found = kendall_samples(values, slopes, shifts, size.samples, rng)
        means[n].append(found.mean(axis=0))
    parameters: dict[str, Json] = {
        "values": "uniform from 0 to n",
        "scales": "affine:0:1:0:1",
        "reviewers": "m = floor(n(n-1)/4)",
        "weight": rational().to_dict(),
        "trials": size.trials,
        "samples": size.samples,
    }
    notices = (
        Notice("fair_coin", FAIR_COIN),
        Notice("no_theorem", f"n = 3: {NO_THEOREM}."),
    )
    title = "Many items: Kendall tau against the index order"
    rows = [row for n, found in means.items() for row in _compared(n, np.array(found))]
    return Figure(name, title, tuple(rows), seed, parameters, {}, notices)


class Samples(NamedTuple):
    """Samples of names and pairs.

    Attributes:
        values: Value of each item by its name, shape (samples, items).
        reviewers: Who has a pair of items, -1 for nobody; shape (samples, items,
            items).
        above: Whether the first item was put above the second, of the same shape.
    """

    values: Floats
    reviewers: Codes
    above: Flags


def draw_samples(
    values: Floats, n_reviewers: int, count: int, rng: Generator
) -> Samples:
    """Name items at random and draw distinct pairs of them.

    Examples:
        >>> rng = np.random.default_rng(7)
        >>> draw_samples(np.array([1.0, 2.0, 4.0]), 2, 5, rng).above.sum(axis=(1, 2))
        array([2, 2, 2, 2, 2])
    """
    n = len(values)
    named = rng.permuted(np.tile(values, (count, 1)), axis=1)
    first, second = np.triu_indices(n, 1)
    everybody = np.full(len(first), -1)
    everybody[:n_reviewers] = np.arange(n_reviewers)
    who = rng.permuted(np.tile(everybody, (count, 1)), axis=1)
    reviewers = np.full((count, n, n), -1)
    reviewers[:, first, second] = reviewers[:, second, first] = who
    above = (reviewers >= 0) & (named[:, :, None] > named[:, None, :])
    return Samples(named, reviewers, above)


def first_orderings(above: Flags) -> Codes:
    """Return the topological ordering with the smallest items first of each sample.

    Examples:
        >>> first_orderings(np.array([[[0, 0, 0], [0, 0, 0], [1, 0, 0]]], dtype=bool))
        array([[1, 2, 0]])
    """
    count, n, _ = above.shape
    rows, order = np.arange(count), np.empty((count, n), dtype=np.int64)
    waiting = above.sum(axis=1)
    for place in range(n):
        item = (waiting == 0).argmax(axis=1)
        order[:, place] = item
        waiting -= above[rows, item]
        waiting[rows, item] = -1
    return order


def wrong_pairs(order: Codes, values: Floats) -> Codes:
    """Count in each sample the pairs of an order that the values put the other way.

    Examples:
        >>> wrong_pairs(np.array([[0, 1, 2]]), np.array([[1.0, 3.0, 2.0]]))
        array([2])
    """
    placed = np.take_along_axis(values, order, axis=1)
    wrong = np.triu(placed[:, :, None] < placed[:, None, :])
    return np.asarray(wrong.sum(axis=(1, 2)))


def flip_gains(
    samples: Samples, order: Codes, slopes: Floats, shifts: Floats, rng: Generator
) -> tuple[Floats, Floats]:
    """Settle the free neighbours of orders by Algorithm 1, its coins averaged out.

    A coin on neighbours changes Kendall tau by one and no other pair.

    Args:
        samples: The samples.
        order: The ordering to begin with in each, shape (samples, items).
        slopes: Slope of each reviewer's scale.
        shifts: Shift of each reviewer's scale.
        rng: Where chance comes from that chooses reviewers.

    Returns:
        By how much Kendall tau grows on average in each sample, by coins on scores and
        by fair coins on the same neighbours.

    References:
        Wang and Shah (2019), Algorithm 1.

    Examples:
        >>> rng = np.random.default_rng(7)
        >>> samples = draw_samples(np.array([1.0, 2.0, 4.0]), 1, 5, rng)
        >>> order = first_orderings(samples.above)
        >>> flip_gains(samples, order, np.ones(1), np.zeros(1), rng)[1].tolist()
        [0.0, 0.0, 0.0, 0.0, 0.0]
    """
    count, n = order.shape
    by_scores, by_lot = np.zeros(count), np.zeros(count)
    compared = samples.reviewers >= 0
    # Pairs whose reviewer has not been used yet.
    fresh = compared.copy()
    free = np.ones(count, dtype=np.bool_)
    for place in range(n - 1):
        here, one, two = np.arange(count), order[:, place], order[:, place + 1]
        scored = fresh[here, one].any(axis=1) & fresh[here, two].any(axis=1)
        free &= scored & ~compared[here, one, two]
        here, one, two = here[free], one[free], two[free]
        scores = []
        for item in (one, two):
            rows = fresh[here, item]
            other = (rows * rng.random(rows.shape)).argmax(axis=1)
            fresh[here, item, other] = fresh[here, other, item] = False
            who = samples.reviewers[here, item, other]
            scores.append(slopes[who] * samples.values[here, item] + shifts[who])
        gap = scores[0] - scores[1]
        worse = np.sign(samples.values[here, one] - samples.values[here, two]) / 2
        by_scores[here] += worse * (1 - gap / (1 + np.abs(gap)))
        by_lot[here] += worse
        # Who was settled is not looked at again.
        free = ~free
    return by_scores, by_lot


def mean_ranks(above: Flags) -> Floats:
    """Average the rank of each item over all orderings that respect the comparisons.

    Orderings are paths through the order ideals: the sets of items that may come first,
    here as bits, those of one size in all samples after those of the size before. Ways
    to reach an ideal times ways to go on from it count the orderings.

    Args:
        above: Who was put above whom, shape (samples, items, items), at most 64 items.

    Returns:
        Mean ranks from 1, shape (samples, items).

    Examples:
        >>> mean_ranks(np.array([[[0, 1, 0], [0, 0, 0], [0, 0, 0]]], dtype=bool))
        array([[1.33333333, 2.66666667, 2.        ]])
    """
    count, n, _ = above.shape
    bits = np.uint64(1) << np.arange(n, dtype=np.uint64)
    needed = (above * bits[:, None]).sum(axis=1)
    sample, ideal = np.arange(count), np.zeros(count, dtype=np.uint64)
    ways = np.ones(count)
    steps = []
    for _ in range(n):
        missing = ~ideal[:, None]
        may_follow = (missing & bits != 0) & (missing & needed[sample] == 0)
        before, item = np.nonzero(may_follow)
        longer, owner = ideal[before] | bits[item], sample[before]
        order = np.lexsort((longer, owner))
        starts = np.append(
            True, (np.diff(longer[order]) != 0) | (np.diff(owner[order]) != 0)
        )
        after = np.empty(len(order), dtype=np.int64)
        after[order] = np.cumsum(starts) - 1
        steps.append((before, owner * n + item, after, ways))
        ways = _sums(after, ways[before], int(starts.sum()))
        sample, ideal = owner[order][starts], longer[order][starts]
    rest, ranks = np.ones(count), np.zeros(count * n)
    for size in range(n, 0, -1):
        before, cell, after, ways = steps[size - 1]
        onward = rest[after]
        ranks += size * _sums(cell, ways[before] * onward, count * n)
        rest = _sums(before, onward, len(ways))
    return ranks.reshape(count, n) / rest[:, None]


def _sums(places: Codes, weights: Floats, count: int) -> Floats:
    return np.asarray(np.bincount(places, weights, count), dtype=np.float64)


def kendall_samples(
    values: Floats, slopes: Floats, shifts: Floats, count: int, rng: Generator
) -> Floats:
    """Return Kendall tau of four ways to rank in each sample, coins averaged out.

    Args:
        values: Values of the items.
        slopes: Slope of each reviewer's scale.
        shifts: Shift of each reviewer's scale.
        count: Number of samples.
        rng: Where chance comes from.

    Returns:
        Of the start, of Algorithm 1, of fair coins on the same neighbours, and of the
        order by mean rank; shape (samples, 4).

    Examples:
        >>> rng = np.random.default_rng(7)
        >>> kendall_samples(np.arange(3.0), np.ones(1), np.zeros(1), 5, rng).shape
        (5, 4)
    """
    samples = draw_samples(values, len(slopes), count, rng)
    order = first_orderings(samples.above)
    start = wrong_pairs(order, samples.values)
    by_scores, by_lot = flip_gains(samples, order, slopes, shifts, rng)
    # Equal mean ranks are put in order by their names, which are drawn.
    ranked = np.argsort(mean_ranks(samples.above).round(DIGITS), axis=1, kind="stable")
    return np.stack(
        [start, start + by_scores, start + by_lot, wrong_pairs(ranked, samples.values)],
        axis=1,
    )


def _compared(n: int, means: Floats) -> Iterator[Row]:
    """Compare methods with the start, given their mean distances in each trial."""
    m = math.comb(n, 2) // 2
    base = means[:, 0]
    start = kendall_risk(index_order, n, m) if n <= ENUMERATED else None
    for ours, (method, ordinal) in zip(means.T[1:], RANKINGS.items(), strict=True):
        gain, gain_se = pooled(base, ours)
        each = 100 * (1 - ours / base)
        row: Row = {"improvement": gain, "se": gain_se, "exact": False}
        # With one reviewer no two items are scored by different people: no flips.
        counted = index_order if m == 1 and method == "flips" else ordinal
        if start is not None and counted is not None:
            known = float(100 * (1 - kendall_risk(counted, n, m) / start))
            row = {"improvement": known, "se": 0.0, "exact": True}
        yield {
            "n": n,
            "m": m,
            "method": method,
            **row,
            "improvement_mean_of_trials": float(each.mean()),
            "improvement_mean_of_trials_se": _se(each),
            "simulated": gain,
            "simulated_se": gain_se,
            "kendall": float(ours.mean()),
            "kendall_of_start": float(base.mean()),
            "note": NO_THEOREM if m == 1 and method == "flips" else "",
        }


def pooled(base: Floats, ours: Floats) -> tuple[float, float]:
    """Relative improvement of pooled losses, in per cent, with its standard error.

    Args:
        base: Mean loss of the baseline in each trial.
        ours: Mean loss of a method in the same trials.

    Returns:
        The improvement, and its standard error by the delta method.

    Examples:
        >>> pooled(np.array([2.0, 4.0]), np.array([1.0, 2.0]))
        (50.0, 0.0)
    """
    ratio = ours.mean() / base.mean()
    return float(100 * (1 - ratio)), 100 * _se(ours - ratio * base) / float(base.mean())


def kendall_risk(method: Ordinal, n_items: int, n_reviewers: int) -> Fraction:
    """Exact expected Kendall tau of an ordinal method, each reviewer with a pair.

    The true ranking is uniform and no pair comes twice; all of them are gone through.

    Examples:
        >>> kendall_risk(index_order, 3, 1)
        Fraction(17, 18)
    """
    where, loss = worlds.World(n_items, n_reviewers), worlds.loss_named("kendall")
    known = functools.cache(method)
    found = [worlds.ordinal_risk(known, where, loss, truth) for truth in where.truths()]
    return sum(found, Fraction(0)) / len(found)


def fair_coins(comparisons: Comparisons) -> dict[Order, Fraction]:
    """Return the law of Algorithm 1 if all its coins are fair.

    Examples:
        >>> from evenhand.lab.worlds import graph
        >>> fair_coins(graph(3, ((0, 1), (0, 2))))
        {(0, 1, 2): Fraction(1, 2), (0, 2, 1): Fraction(1, 2)}
    """
    pairs = zip(*(side.tolist() for side in edges(comparisons)), strict=True)
    scores = {(who, item): HALF for who, pair in enumerate(pairs) for item in pair}
    start = index_order(comparisons)
    return outcomes(flips_program(comparisons, scores, start, lambda _: HALF))


def mean_rank(comparisons: Comparisons) -> Order:
    """Order items by their mean rank over all orderings, ties by index.

    Examples:
        >>> from evenhand.lab.worlds import graph
        >>> mean_rank(graph(3, ((0, 1),)))
        (0, 2, 1)
    """
    return tuple(itertools.chain(*mean_rank_buckets(comparisons)))


RANKINGS: dict[str, Ordinal | None] = {
    "flips": None,
    "fair-coin": fair_coins,
    "mean-rank": mean_rank,
}
"""Methods of Figure 2; those that look at no score can be enumerated."""


def trade(
    name: str, seed: int, *, size: Size = FULL, progress: Progress | None = None
) -> Figure:
    """Work out Figure 3: perfect calibration against one biased reviewer.

    Args:
        name: "fig3".
        seed: Where chance comes from.
        size: How large the run is.
        progress: Told the figure, the steps done and all steps.

    Returns:
        A row for each gamma = 2**k, with the exact point, a simulated one and the
        Pareto frontier above it.

    References:
        Wang and Shah (2019), Figure 3.

    Examples:
        >>> figure = trade("fig3", 7, size=Size(coins=100))
        >>> max(figure.rows, key=lambda row: row["biased"])["gamma"]
        1.0
    """
    rows: list[Row] = []
    units = _generator(seed, "fig3 trials").random((size.coins, 3))
    for exponent in _followed(EXPONENTS, name, progress):
        point = tradeoff(2.0**exponent)
        row: Row = {**point._asdict(), "k": exponent, "se": 0.0, "exact": True}
        for side, bias in (("perfect", 0.0), ("biased", 1.0)):
            gains = _canonical_trials(point.gamma, bias, units)
            row |= {f"simulated_{side}": float(gains.mean())}
            row |= {f"simulated_{side}_se": _se(gains)}
        rows.append({**row, "frontier": known_bias_frontier(point.perfect)})
    best = best_tradeoff()
    on_grid = max((tradeoff(2.0**k) for k in EXPONENTS), key=lambda point: point.biased)
    extra: dict[str, Json] = {
        "maximum": best._asdict(),
        "maximum_on_grid": on_grid._asdict(),
        "frontier": "biased = (100 - perfect) / 2",
    }
    parameters: dict[str, Json] = {
        "weight": "gamma gap / (1 + gamma gap)",
        "trials": size.coins,
    }
    notice = Notice(
        "read_off_plot",
        "The paper's maximum, approximately (25 %, 9 %) at gamma = 1, was read off a "
        f"plot: at gamma = {on_grid.gamma:g} the point is ({on_grid.perfect:.2f} %, "
        f"{on_grid.biased:.2f} %), and over all gamma the maximum is at gamma = "
        f"{best.gamma:.4f}, ({best.perfect:.2f} %, {best.biased:.2f} %).",
    )
    title = "Perfect calibration against one biased reviewer"
    return Figure(name, title, tuple(rows), seed, parameters, extra, (notice,))


def _canonical_trials(gamma: float, bias: float, units: Floats) -> Floats:
    """Simulate the canonical estimator, its coin integrated out; gains in per cent."""
    values = np.sort(units[:, :2], axis=1)
    # A coin says which of the two reviewers, the second biased, has the better item.
    adds = np.where(units[:, 2] < float(HALF), bias, 0.0)
    scores = np.stack([values[:, 1] + adds, values[:, 0] + (bias - adds)], axis=1)
    return 200 * np.asarray(first_probability(scores, weight=rational(gamma))) - 100


class Tradeoff(NamedTuple):
    """Relative improvements over a fair coin, in per cent.

    Attributes:
        gamma: Parameter of the weight.
        perfect: If both reviewers report values as they are.
        biased: If one of them adds 1.
    """

    gamma: float
    perfect: float
    biased: float


def tradeoff(gamma: float) -> Tradeoff:
    """Return the point of the paper's Figure 3 for the weight rational(gamma).

    Two items of values uniform on [0, 1], two reviewers, one coin.

    Args:
        gamma: Above 0.

    Returns:
        The point, integrated to 1e-9 per cent.

    References:
        Wang and Shah (2019), Section 4.3. Its "(25 %, 9 %)" at gamma = 1 was read off
        the plot; the point is this one.

    Examples:
        >>> point = tradeoff(1)
        >>> round(point.perfect, 2), round(point.biased, 2)
        (22.74, 9.05)
    """
    weight = rational(gamma)
    found = (uniform_success("votes", (0, bias), weight=weight) for bias in (0, 1))
    return Tradeoff(float(gamma), *(success.improvement for success in found))


def best_tradeoff() -> Tradeoff:
    """Return the point of Figure 3 where the improvement under bias is largest.

    Examples:
        >>> best = best_tradeoff()
        >>> round(best.gamma, 4), round(best.perfect, 2), round(best.biased, 2)
        (1.2299, 26.17, 9.13)
    """
    found = minimize_scalar(
        lambda gamma: -tradeoff(gamma).biased,
        bounds=(0.5, 4.0),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return tradeoff(float(found.x))


def known_bias_frontier(perfect: float) -> float:
    """Return the largest improvement under a bias of 1 that any weight allows.

    It is approached by weights that are constant up to gaps of 1 and near 1 beyond,
    and presumes that the bias is known to be 1.

    Args:
        perfect: Improvement under perfect calibration, in per cent.

    Returns:
        Improvement under bias, in per cent.

    Examples:
        >>> known_bias_frontier(26.0)
        37.0
    """
    return (100 - perfect) / 2


def _se(numbers: Floats) -> float:
    return float(numbers.std(ddof=1)) / math.sqrt(len(numbers))


def _generator(seed: int, purpose: str) -> np.random.Generator:
    return np.random.Generator(stream(seed, purpose))


def _followed(
    steps: Sequence[Step], name: str, progress: Progress | None
) -> Iterator[Step]:
    """Go through the steps of a figure, and tell how many are done."""
    tell = progress or (lambda *_: None)
    for done, step in enumerate(steps):
        tell(name, done, len(steps))
        yield step
    tell(name, len(steps), len(steps))
