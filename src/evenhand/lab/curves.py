"""The numbers of the paper's figures, exact wherever they can be.

Beside the paper's curves stands what it leaves out: fair coins on the same pairs, the
order by posterior mean rank, the true maximum, the Pareto frontier.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from evenhand._randomness import stream
from evenhand._results import Json, Notice, version
from evenhand.ab.canonical import first_probability
from evenhand.ab.weights import rational
from evenhand.lab.exact import biases, sampled_success, uniform_success
from evenhand.lab.exact_ranking import ranking_risk
from evenhand.lab.pair_samples import kendall_samples
from evenhand.lab.tradeoff import Tradeoff, best_tradeoff, known_bias_frontier, tradeoff

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Progress: TypeAlias = Callable[[str, int, int], None]
Row: TypeAlias = dict[str, int | float | str]

REVIEWERS = (2, 4, 6, 8, 10, 20, 30, 40, 50, 100)
ITEMS = (3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 30, 40, 50)
EXPONENTS = range(-10, 11)
RULES = ("votes", "sign", "mean", "median")
PANELS = {
    "fig1a": ("one-biased", "one biased reviewer"),
    "fig1b": ("incremental", "incremental biases"),
    "fig1c": ("incremental-one-biased", "incremental biases, one biased reviewer"),
}
# Up to so many items the risk of methods that see no scores is enumerated.
ENUMERATED = 5
NO_THEOREM = "m = 1 is outside 1 < m < n(n-1)/2; no theorem applies"


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
    rounds=1000,
    matchings=4000,
    trials=20,
    samples=100,
    coins=20_000,
    reviewers=(2, 4, 6, 8, 10, 50, 100),
    items=(3, 4, 8, 10, 20, 50),
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
    for step, m in enumerate(size.reviewers):
        _tell(progress, name, step, len(size.reviewers))
        shifts = biases(family, m)
        for rule in RULES:
            matchings = _generator(seed, f"{name} {m} matchings")
            chance = uniform_success(
                rule, shifts, samples=size.matchings, rng=matchings
            )
            trials = _generator(seed, f"{name} {m} trials")
            trial = sampled_success(rule, shifts, trials=size.rounds, rng=trials)
            rows.append(
                {
                    "m": m,
                    "method": rule,
                    "improvement": chance.improvement,
                    "se": chance.improvement_se,
                    "exact": chance.exact,
                    "simulated": trial.improvement,
                    "simulated_se": trial.improvement_se,
                }
            )
    _tell(progress, name, len(size.reviewers), len(size.reviewers))
    parameters: dict[str, Json] = {
        "scales": family,
        "weight": rational().to_dict(),
        "trials": size.rounds,
        "matchings": size.matchings,
    }
    return Figure(name, f"Two items: {title}", tuple(rows), seed, parameters)


def many_items(
    seed: int, *, size: Size = FULL, progress: Progress | None = None
) -> Figure:
    """Work out Figure 2: Algorithm 1 in Kendall tau against its start.

    Two more methods are run on the same samples: "fair-coin" flips fair coins on the
    pairs that Algorithm 1 flips, and "mean-rank" orders by the posterior mean rank,
    from comparisons alone.

    Args:
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
        >>> many_items(7, size=size).rows[0]["improvement"]
        0.0
    """
    rows: list[Row] = []
    done, total = 0, len(size.items) * size.trials
    for n in size.items:
        means = []
        for trial in range(size.trials):
            _tell(progress, "fig2", done, total)
            means.append(_trial(seed, n, trial, size.samples))
            done += 1
        rows += _compared(n, np.array(means))
    _tell(progress, "fig2", total, total)
    parameters: dict[str, Json] = {
        "values": "uniform from 0 to n",
        "scales": "affine:0:1:0:1",
        "reviewers": "m = floor(n(n-1)/4)",
        "weight": rational().to_dict(),
        "trials": size.trials,
        "samples": size.samples,
    }
    notices = (
        Notice(
            "fair_coin",
            "The start is the best ordinal ranking for exact recovery, not for Kendall "
            "tau: even fair coins on the same pairs improve it, so the gain of flips "
            "over fair-coin is what the scores bring.",
        ),
        Notice("no_theorem", f"n = 3: {NO_THEOREM}."),
    )
    title = "Many items: Kendall tau against the index order"
    return Figure("fig2", title, tuple(rows), seed, parameters, {}, notices)


def trade(seed: int, *, size: Size = FULL, progress: Progress | None = None) -> Figure:
    """Work out Figure 3: perfect calibration against one biased reviewer.

    Args:
        seed: Where chance comes from.
        size: How large the run is.
        progress: Told the figure, the steps done and all steps.

    Returns:
        A row for each gamma = 2**k, with the exact point, a simulated one and the
        Pareto frontier above it.

    References:
        Wang and Shah (2019), Figure 3.

    Examples:
        >>> figure = trade(7, size=Size(coins=100))
        >>> max(figure.rows, key=lambda row: row["biased"])["gamma"]
        1.0
    """
    rows: list[Row] = []
    units = _generator(seed, "fig3 trials").random((size.coins, 3))
    for step, exponent in enumerate(EXPONENTS):
        _tell(progress, "fig3", step, len(EXPONENTS))
        point = tradeoff(2.0**exponent)
        row: Row = {**point._asdict(), "k": exponent, "se": 0.0, "exact": True}
        for name, bias in (("perfect", 0.0), ("biased", 1.0)):
            gain, se = _canonical_trials(point.gamma, bias, units)
            row |= {f"simulated_{name}": gain, f"simulated_{name}_se": se}
        rows.append({**row, "frontier": known_bias_frontier(point.perfect)})
    _tell(progress, "fig3", len(EXPONENTS), len(EXPONENTS))
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
    title = "Perfect calibration against one biased reviewer"
    notices = (_read_off(on_grid, best),)
    return Figure("fig3", title, tuple(rows), seed, parameters, extra, notices)


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


def _read_off(on_grid: Tradeoff, best: Tradeoff) -> Notice:
    return Notice(
        "read_off_plot",
        "The paper's maximum, approximately (25 %, 9 %) at gamma = 1, was read off a "
        f"plot: at gamma = {on_grid.gamma:g} the point is ({on_grid.perfect:.2f} %, "
        f"{on_grid.biased:.2f} %), and over all gamma the maximum is at gamma = "
        f"{best.gamma:.4f}, ({best.perfect:.2f} %, {best.biased:.2f} %).",
    )


def _canonical_trials(gamma: float, bias: float, units: Floats) -> tuple[float, float]:
    """Simulate the canonical estimator, its coin integrated out; in per cent."""
    values = np.sort(units[:, :2], axis=1)
    # A coin says which of the two reviewers, the second biased, has the better item.
    adds = np.where(units[:, 2] < float(Fraction(1, 2)), bias, 0.0)
    scores = np.stack([values[:, 1] + adds, values[:, 0] + (bias - adds)], axis=1)
    gains = 200 * np.asarray(first_probability(scores, weight=rational(gamma))) - 100
    return float(gains.mean()), float(gains.std(ddof=1)) / math.sqrt(len(gains))


def _trial(seed: int, n: int, trial: int, samples: int) -> list[float]:
    """Mean Kendall distances of one trial: start, flips, fair coin, mean rank."""
    rng = _generator(seed, f"fig2 {n} {trial}")
    m = math.comb(n, 2) // 2
    # Counted from 1, a slope is never 0.
    values, slopes, shifts = n * rng.random(n), 1 - rng.random(m), rng.random(m)
    found = kendall_samples(values, slopes, shifts, samples, rng)
    means: list[float] = found.mean(axis=0).tolist()
    return means


def _compared(n: int, means: Floats) -> list[Row]:
    m = math.comb(n, 2) // 2
    base = means[:, 0]
    exact = _enumerated(n, m) if n <= ENUMERATED else {}
    rows: list[Row] = []
    for column, method in enumerate(("flips", "fair-coin", "mean-rank"), start=1):
        gain, gain_se = pooled(base, means[:, column])
        each = 100 * (1 - means[:, column] / base)
        row: Row = {"n": n, "m": m, "method": method}
        if method in exact:
            row |= {"improvement": exact[method], "se": 0.0, "exact": True}
        else:
            row |= {"improvement": gain, "se": gain_se, "exact": False}
        rows.append(
            {
                **row,
                "improvement_mean_of_trials": float(each.mean()),
                "improvement_mean_of_trials_se": _se(each),
                "simulated": gain,
                "simulated_se": gain_se,
                "kendall": float(means[:, column].mean()),
                "kendall_of_start": float(base.mean()),
                "note": NO_THEOREM if m == 1 and method == "flips" else "",
            }
        )
    return rows


def _se(numbers: Floats) -> float:
    return float(numbers.std(ddof=1)) / math.sqrt(len(numbers))


def _enumerated(n: int, m: int) -> dict[str, float]:
    """Improvements that do not depend on scores, exactly."""
    base = ranking_risk(n, m)
    methods = {"fair-coin": "fair-coins", "mean-rank": "mean-rank"}
    found = {
        name: float(100 * (1 - ranking_risk(n, m, method=method) / base))
        for name, method in methods.items()
    }
    # With one reviewer no two items are scored by different people, so nothing flips.
    return {"flips": 0.0, **found} if m == 1 else found


def _generator(seed: int, purpose: str) -> np.random.Generator:
    return np.random.Generator(stream(seed, purpose))


def _tell(progress: Progress | None, name: str, done: int, total: int) -> None:
    if progress is not None:
        progress(name, done, total)
