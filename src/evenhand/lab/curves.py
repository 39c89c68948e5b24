"""The numbers of the paper's figures, coins averaged out.

Beside the paper's curve of Figure 2 stand fair coins on the same pairs.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

import numpy as np
from scipy.integrate import quad

from evenhand.ab.weights import odd, rational
from evenhand.claims import Json, Notice, version
from evenhand.lab.scenario import Scenario
from evenhand.lab.simulation import simulate
from evenhand.progress import say
from evenhand.randomness import stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

    from evenhand.arrays import Floats

    Codes = NDArray[np.int64]
    Flags = NDArray[np.bool_]

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
RULES = ("votes", "sign", "mean", "median")
RANKINGS = ("flips", "fair-coin")
NO_THEOREM = "m = 1 is outside 1 < m < n(n-1)/2; no theorem applies"
FAIR_COIN = (
    "The start is the best ordinal ranking for exact recovery, not for Kendall tau: "
    "even fair coins on the same pairs improve it, so the gain of flips over fair-coin "
    "is what the scores bring."
)


@dataclass(frozen=True, slots=True)
class Size:
    """How large a run is.

    Attributes:
        rounds: Figure 1: simulated trials.
        trials: Figure 2: draws of values and scales.
        samples: Figure 2: comparisons for each of them.
        reviewers: Figure 1: numbers of reviewers.
        items: Figure 2: numbers of items.
    """

    rounds: int = 100_000
    trials: int = 100
    samples: int = 1000
    reviewers: tuple[int, ...] = REVIEWERS
    items: tuple[int, ...] = ITEMS


FULL = Size()
QUICK = Size(1000, 20, 100, (2, 4, 6, 8, 10, 50, 100), (3, 4, 8, 10, 20, 50))


@dataclass(frozen=True, slots=True)
class Figure:
    """The numbers of one figure.

    Attributes:
        name: "fig1a", ...
        title: What it shows.
        rows: The numbers; improvements in per cent.
        seed: The seed that repeats it.
        parameters: What it was run with.
        notices: What the reader must know.
    """

    name: str
    title: str
    rows: tuple[Row, ...]
    seed: int
    parameters: Mapping[str, Json]
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
            "parameters": dict(self.parameters),
            "seed": self.seed,
            "warnings": [notice.to_dict() for notice in self.notices],
            "version": version(),
        }


def two_items(name: str, seed: int, *, size: Size = FULL) -> Figure:
    """Work out one panel of Figure 1: the rules for two items against a fair coin.

    Args:
        name: "fig1a", "fig1b" or "fig1c".
        seed: Where chance comes from.
        size: How large the run is.

    Returns:
        A row for each number of reviewers and rule.

    References:
        Wang and Shah (2019), Figure 1.

    Examples:
        >>> size = Size(rounds=10, reviewers=(2, 4))
        >>> two_items("fig1a", 7, size=size).rows[2]["improvement"]
        0.0
    """
    family, title = PANELS[name]
    rows: list[Row] = []
    for m in _followed(size.reviewers, name):
        scenario = Scenario(reviewers=m, scales=family)
        trials = _generator(seed, f"{name} {m} trials")
        tried = simulate(scenario, RULES, trials=size.rounds, rng=trials)
        rows += [
            {
                "m": m,
                "method": row.method,
                "improvement": 100 * (1 - 2 * row.risk),
                "se": 200 * row.se,
            }
            for row in tried.rows
        ]
    parameters: dict[str, Json] = {
        "scales": family,
        "weight": rational().to_dict(),
        "trials": size.rounds,
    }
    return Figure(name, f"Two items: {title}", tuple(rows), seed, parameters)


def many_items(name: str, seed: int, *, size: Size = FULL) -> Figure:
    """Work out Figure 2: Algorithm 1 in Kendall tau against its start.

    Beside it "fair-coin" flips fair coins on the pairs that Algorithm 1 flips, on the
    same samples.

    Args:
        name: "fig2".
        seed: Where chance comes from.
        size: How large the run is.

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
    for n, trial in _followed(steps, name):
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
    return Figure(name, title, tuple(rows), seed, parameters, notices)


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


def kendall_samples(
    values: Floats, slopes: Floats, shifts: Floats, count: int, rng: Generator
) -> Floats:
    """Return Kendall tau of three ways to rank in each sample, coins averaged out.

    Args:
        values: Values of the items.
        slopes: Slope of each reviewer's scale.
        shifts: Shift of each reviewer's scale.
        count: Number of samples.
        rng: Where chance comes from.

    Returns:
        Of the start, of Algorithm 1 and of fair coins on the same neighbours; shape
        (samples, 3).

    Examples:
        >>> rng = np.random.default_rng(7)
        >>> kendall_samples(np.arange(3.0), np.ones(1), np.zeros(1), 5, rng).shape
        (5, 3)
    """
    samples = draw_samples(values, len(slopes), count, rng)
    order = first_orderings(samples.above)
    start = wrong_pairs(order, samples.values)
    by_scores, by_lot = flip_gains(samples, order, slopes, shifts, rng)
    return np.stack([start, start + by_scores, start + by_lot], axis=1)


def _compared(n: int, means: Floats) -> Iterator[Row]:
    """Compare methods with the start, given their mean distances in each trial."""
    m = math.comb(n, 2) // 2
    base = means[:, 0]
    for ours, method in zip(means.T[1:], RANKINGS, strict=True):
        gain, gain_se = pooled(base, ours)
        each = 100 * (1 - ours / base)
        yield {
            "n": n,
            "m": m,
            "method": method,
            "improvement": gain,
            "se": gain_se,
            "improvement_mean_of_trials": float(each.mean()),
            "improvement_mean_of_trials_se": _se(each),
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


def trade(name: str, seed: int, **_: object) -> Figure:
    """Work out Figure 3: perfect calibration against one biased reviewer.

    Args:
        name: "fig3".
        seed: Nothing is left to chance.

    Returns:
        A row for each gamma = 2**k, with the exact point.

    References:
        Wang and Shah (2019), Figure 3.

    Examples:
        >>> figure = trade("fig3", 7)
        >>> max(figure.rows, key=lambda row: row["biased"])["gamma"]
        1.0
    """
    rows: list[Row] = [
        {**tradeoff(2.0**exponent)._asdict(), "k": exponent} for exponent in EXPONENTS
    ]
    parameters: dict[str, Json] = {"weight": "gamma gap / (1 + gamma gap)"}
    one = tradeoff(1.0)
    notice = Notice(
        "read_off_plot",
        "The paper's maximum, approximately (25 %, 9 %) at gamma = 1, was read off a "
        f"plot: the point is ({one.perfect:.2f} %, {one.biased:.2f} %).",
    )
    title = "Perfect calibration against one biased reviewer"
    return Figure(name, title, tuple(rows), seed, parameters, (notice,))


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

    def gain(gap: float, bias: int) -> float:
        right = odd(weight, np.array([gap + bias, gap - bias])).sum() - 1
        # The larger of two uniform values minus the smaller has this density.
        return float(2 * (1 - gap) * right)

    sides = (100 * quad(gain, 0, 1, (bias,), epsabs=1e-12)[0] for bias in (0, 1))
    return Tradeoff(float(gamma), *sides)


def _se(numbers: Floats) -> float:
    return float(numbers.std(ddof=1)) / math.sqrt(len(numbers))


def _generator(seed: int, purpose: str) -> np.random.Generator:
    return np.random.Generator(stream(seed, purpose))


def _followed(steps: Sequence[Step], name: str) -> Iterator[Step]:
    """Go through the steps of a figure, and say how many are done."""
    for done, step in enumerate(steps):
        say(name, done, len(steps))
        yield step
