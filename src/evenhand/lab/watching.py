"""How long a watched comparison takes, beside a test that is looked at once."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from evenhand.ab.evidence import REMEMBERED, log_factors, mix
from evenhand.claims import version
from evenhand.errors import OptionError, as_finite, must_be, require_whole, unknown
from evenhand.progress import say, working
from evenhand.randomness import RNGLike, seed_as_rng, seed_from, stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.arrays import Flags, Floats
    from evenhand.claims import DataWarning, Json

# What latent scores with a spread of 1 become: most ratings fours and fives; marks.
SHAPES: dict[str, Callable[[Floats], Floats]] = {
    "normal": lambda x: x,
    "five-stars": lambda x: np.digitize(x, [-1.9, -1.4, -0.8, 0.1]) + np.float64(1),
    "0-100": lambda x: np.clip(np.round(65 + 15 * x), 0, 100),
    "heavy-tails": lambda x: x,
}
MOST, TRIALS = 1000, 1000
POWER, QUANTILES = 0.8, (0.1, 0.25, 0.5, 0.8, 0.9)
# Trials at once, and steps of the search for a fixed number.
BLOCK, STEPS = 250, 60


@dataclass(frozen=True, slots=True)
class WatchPlan:
    """How many reviewers a watched comparison needs.

    Attributes:
        effect: By how many spreads the better item's scores are higher.
        scale: What scores are: "normal", "five-stars", "0-100" or "heavy-tails".
        alpha: Chance of ever naming an item that is not better, at most.
        most: Reviewers after whom a watch ends.
        fixed: Reviewers with whom the midrank test, looked at once, finds the effect in
            80% of trials; None if most are too few.
        quantiles: Reviewers after whom so many of the trials are settled; None if most
            are too few.
        settled: Share of the trials that were settled.
        wrong: Share in which the other item was named.
        trials: How many trials.
        seed: The seed that repeats it.
        notices: What the reader must know.
    """

    effect: float
    scale: str
    alpha: float
    most: int
    fixed: int | None
    quantiles: dict[float, int | None]
    settled: float
    wrong: float
    trials: int
    seed: int
    notices: tuple[DataWarning, ...] = ()

    def to_dict(self) -> dict[str, Json]:
        """Return the result as in the JSON.

        Examples:
            >>> plan_watch(2.0, reviewers=60, trials=50, rng=1).to_dict()["settled"]
            1.0
        """
        fields = asdict(self)
        fields["quantiles"] = {f"{100 * q:g}%": n for q, n in self.quantiles.items()}
        footer = {"warnings": [*fields.pop("notices")], "version": version()}
        return {"schema": "evenhand.watch/1", **fields, **footer}

    def __repr__(self) -> str:
        def count(number: int | None) -> str:
            return f"more than {self.most:,}" if number is None else f"{number:,}"

        spans = [f"{100 * q:g}% by {count(n)}" for q, n in self.quantiles.items()]
        times = ""
        if self.fixed and self.quantiles[0.5]:
            times = f" ({self.quantiles[0.5] / self.fixed:.2f} times that)"
        return (
            f"One look at the end (midrank test, {100 * POWER:g}% power, "
            f"{100 * self.alpha:g}%): {count(self.fixed)} reviewers.\n"
            f"A look after every score: half of the trials are settled by "
            f"{count(self.quantiles[0.5])} reviewers{times}; {', '.join(spans)}.\n"
            f"Settled within {self.most:,} reviewers: {100 * self.settled:.3g}%; "
            f"wrongly: {100 * self.wrong:.2g}%. {self.trials:,} trials, seed "
            f"{self.seed}"
        )


@seed_as_rng
@working("Simulating")
def plan_watch(
    effect: float,
    *,
    scale: str = "normal",
    reviewers: int = MOST,
    alpha: float = 0.05,
    trials: int = TRIALS,
    rng: RNGLike = None,
) -> WatchPlan:
    """Simulate when a watched comparison is settled, with a fair coin for each.

    Args:
        effect: By how many spreads the better item's scores are higher.
        scale: "normal", "five-stars", "0-100" or "heavy-tails" (Student's t with two
            degrees of freedom).
        reviewers: After how many a watch ends.
        alpha: Chance of ever naming an item that is not better.
        trials: How many.
        rng: Seed, generator or None.

    Raises:
        OptionError: If a number is out of range, or there is no such scale.

    Examples:
        >>> plan_watch(1.0, reviewers=200, trials=200, rng=7)
        One look at the end (midrank test, 80% power, 5%): 37 reviewers.
        A look after every score: half of the trials are settled by 44 reviewers (1.19 \
times that); 10% by 21, 25% by 28, 50% by 44, 80% by 67, 90% by 80.
        Settled within 200 reviewers: 100%; wrongly: 0%. 200 trials, seed 7
    """
    as_finite("effect", effect)
    if scale not in SHAPES:
        raise OptionError(unknown("scale", scale, [*SHAPES]))
    if not 0 < alpha < 1:
        raise must_be("alpha", "between 0 and 1", alpha)
    require_whole("reviewers", reviewers, 4)
    require_whole("trials", trials, 1)
    seed = seed_from(rng)
    stops, named, z_values = [], [], []
    sizes = np.unique(np.linspace(4, reviewers, STEPS).astype(int))
    for start in range(0, trials, BLOCK):
        source = np.random.Generator(stream(seed, f"watch {start}"))
        shape = min(BLOCK, trials - start), reviewers
        first = source.random(shape) < 0.5
        heavy = scale == "heavy-tails"
        latent = source.standard_t(2, shape) if heavy else source.normal(size=shape)
        scores = SHAPES[scale](latent + effect * first)
        logs = evidence_paths(first, scores, np.full(shape, 0.5))
        stopped, leads = settle_times(logs, alpha)
        stops.append(stopped)
        named.append(leads)
        z_values.append([midrank_z(first[:, :n], scores[:, :n]) for n in sizes])
        say("Trials", start + shape[0], trials)
    stop = np.concatenate(stops)
    beyond = stats.norm.isf(alpha / 2)
    power = (np.abs(np.concatenate(z_values, axis=1)) >= beyond).mean(axis=1)
    enough = np.flatnonzero(power >= POWER)
    quantiles = {q: _quantile(stop, q, reviewers) for q in QUANTILES}
    better = 0 if effect >= 0 else 1
    wrong = np.isfinite(stop) & (np.concatenate(named) != better)
    return WatchPlan(
        effect=float(effect),
        scale=scale,
        alpha=alpha,
        most=reviewers,
        fixed=int(sizes[enough[0]]) if len(enough) else None,
        quantiles=quantiles,
        settled=float(np.isfinite(stop).mean()),
        wrong=float(wrong.mean()),
        trials=trials,
        seed=seed,
    )


def _quantile(stop: Floats, share: float, most: int) -> int | None:
    number = float(np.sort(stop)[max(math.ceil(share * len(stop)) - 1, 0)])
    return int(number) if number <= most else None


def past_places(scores: Floats) -> Floats:
    """Return the place of each score among earlier ones of its row, as a watch does.

    Examples:
        >>> past_places(np.array([[3.0, 5, 1, 3]])).tolist()
        [[0.0, 1.0, -1.0, 0.0]]
    """
    z = np.zeros(scores.shape)
    for at in range(1, scores.shape[1]):
        end = at if at < REMEMBERED else at // REMEMBERED * REMEMBERED
        past, score = scores[:, max(end - REMEMBERED, 0) : end], scores[:, at, None]
        below = np.count_nonzero(past < score, axis=1)
        below = below + np.count_nonzero(past <= score, axis=1)
        z[:, at] = below / past.shape[1] - 1
    return z


def evidence_paths(first: Flags, scores: Floats, probability: Floats) -> Floats:
    """Return the logarithms of the evidence after each score, shape (rows, n, 3)."""
    logs = log_factors(first, past_places(scores), probability)
    return mix(np.cumsum(logs, axis=1))


def settle_times(logs: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Return after how many scores each row is settled, and which item leads then.

    Examples:
        >>> settle_times(np.log([[[1, 1, 1], [40, 1, 20.5]]]), 0.05)
        (array([2.]), array([0.]))
    """
    reached = logs[..., 2] >= -math.log(alpha)
    at = np.where(reached.any(axis=1), reached.argmax(axis=1), -1)
    then = logs[np.arange(len(logs)), at]
    return np.where(at < 0, np.inf, at + 1.0), (then[:, 1] > then[:, 0]).astype(float)


def midrank_z(first: Flags, scores: Floats) -> Floats:
    """Return the first item's sum of midranks in standard errors, for each row.

    Examples:
        >>> midrank_z(np.array([[True, False]]), np.array([[2.0, 1]])).round(3).tolist()
        [1.0]
    """
    ranks = stats.rankdata(scores, axis=1)
    n, firsts = scores.shape[1], first.sum(axis=1)
    gap = (ranks * first).sum(axis=1) - firsts * (n + 1) / 2
    variance = firsts * (n - firsts) * ranks.var(axis=1) / (n - 1)
    return np.asarray(gap / np.sqrt(np.maximum(variance, 1e-12)))
