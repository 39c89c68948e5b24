"""Simulate: methods against each other on a scenario.

All methods see the same data in a trial. Coins between two items are not flipped: a
trial counts with the probability of the wrong output. Rankings count as they are drawn.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import math
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from evenhand.ab.bounds import Scope
from evenhand.ab.methods import Rule
from evenhand.arrays import Floats
from evenhand.claims import DataWarning, Json, Label, version
from evenhand.designs.design import Halves
from evenhand.engines.executors import require_executor, run_parts
from evenhand.errors import (
    OptionError,
    RatingsError,
    must_be,
    require_sequence,
    require_whole,
)
from evenhand.lab.scenario import Scenario, Trials, draw_trials
from evenhand.losses import loss as named_loss
from evenhand.method import Method, as_method
from evenhand.progress import say, working
from evenhand.randomness import RNGLike, seed_as_rng, seed_from, stream
from evenhand.ranking.methods import RankMethod, Task
from evenhand.ratings import Ratings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
    Block = tuple[Floats, Codes]

OwnRule: TypeAlias = Callable[[Floats, Floats], float]
OwnRanking: TypeAlias = Callable[[Ratings, np.random.Generator], object]
Tried: TypeAlias = str | Rule | RankMethod | OwnRule | OwnRanking
LOSSES = {"compare": "zero-one", "rank": "kendall"}
# A bound of a half says nothing.
BLIND = 0.4995
# Trials are drawn in blocks, each with a stream of its own.
BLOCK = 64
# Their losses are kept, eight bytes for each method and loss.
MOST_TRIALS = 10**8
# Other processes take about this many seconds to start.
WORTH_SECONDS = 3.0
# Blocks that tell how long a run will take, and seconds of work that travel together.
TIMED, BATCH_SECONDS = 16, 0.5


@dataclass(frozen=True, slots=True)
class RiskRow:
    """How one method did by one loss.

    Attributes:
        method: The method.
        loss: The loss.
        risk: Its mean over all trials.
        se: Standard error of the risk.
        improvement: How much lower the risk is than the baseline's, in per cent of it;
            None without a baseline, or if the baseline never errs.
        improvement_se: Standard error of the improvement, by the delta method.
        bound: What theory bounds the risk by on the scales drawn, on average; None if
            there is no bound (`evenhand.ab.bounds`).
    """

    method: str
    loss: str
    risk: float
    se: float
    improvement: float | None
    improvement_se: float | None
    bound: float | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Simulation:
    """How methods did on a scenario.

    Attributes:
        rows: One row for each method and loss.
        trials: How many trials there were.
        parameters: What was simulated.
        seed: The seed that repeats it.
        lost: Share of the trials in which ties take the guarantee away: to rank, if a
            reviewer ties two items; of two items, if every reviewer does.
        notices: What the reader must know.
    """

    rows: tuple[RiskRow, ...]
    trials: int
    parameters: Mapping[str, Json]
    seed: int
    lost: float = 0.0
    notices: tuple[DataWarning, ...] = ()

    def to_dict(self) -> dict[str, Json]:
        """Return the result as in the JSON.

        Examples:
            >>> simulate(Scenario(), "mean", trials=100, rng=7).to_dict()["schema"]
            'evenhand.simulate/1'
        """
        fields = {**asdict(self), "rows": [*map(asdict, self.rows)]}
        footer = {"warnings": [*fields.pop("notices")], "version": version()}
        return {"schema": "evenhand.simulate/1", **fields, **footer}

    def to_frame(self) -> pl.DataFrame:
        """Return the rows as a polars dataframe.

        Examples:
            >>> simulate(Scenario(), "mean", trials=100, rng=7).to_frame().columns[:3]
            ['method', 'loss', 'risk']
        """
        kinds = {"improvement": pl.Float64, "improvement_se": pl.Float64}
        return pl.DataFrame(list(map(asdict, self.rows)), schema_overrides=kinds)

    def __repr__(self) -> str:
        lines = [f"{self.trials} trials, seed {self.seed}"]
        for row in self.rows:
            line = f"{row.method}: {row.loss} {row.risk:.4g} (se {row.se:.2g})"
            if row.improvement is not None:
                line += f", improvement {row.improvement:.3g}%"
                line += f" (se {row.improvement_se:.2g})"
            if row.bound is not None and row.bound < BLIND:
                line += f", at most {row.bound:.4g} by theory"
            lines.append(line)
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class TrialPlan:
    """What is to be simulated.

    Attributes:
        scenario: The scenario.
        methods: The methods.
        losses: Names of the losses.
        baseline: Index of the method that others are measured against, if any.
        trials: How many trials there are at most.
        seed: The seed.
    """

    scenario: Scenario
    methods: tuple[Any, ...]
    losses: tuple[str, ...]
    baseline: int | None
    trials: int
    seed: int


@seed_as_rng
@working("Simulating")
def simulate(
    scenario: Scenario,
    methods: Tried | Sequence[Tried],
    *,
    losses: str | Sequence[str] | None = None,
    baseline: Tried | None = None,
    trials: int = 10_000,
    executor: Executor | None = None,
    rng: RNGLike = None,
) -> Simulation:
    """Try methods on a scenario.

    Args:
        scenario: The situation.
        methods: Methods by name, "guarded"; by text form, "safe(noise=1)"; values; or
            functions: for two items, from the scores of the first and of the second to
            the probability that the first is output; for many, from Ratings and a
            Generator to item codes, best first.
        losses: "zero-one", "kendall", "footrule", "top-3" and so on; by default
            "zero-one" for two items and "kendall" for many.
        baseline: The method that the others are measured against; it gets rows too.
        trials: How many trials.
        executor: What runs blocks of trials if they take more than some seconds, such
            as a ProcessPoolExecutor or Dask's `client.get_executor()`. The result is
            the same with any.
        rng: Seed, generator or None.

    Returns:
        Risks and improvements with standard errors.

    Raises:
        OptionError: If a name is unknown, a number is out of range, or a method cannot
            be tried on this scenario.

    Examples:
        >>> scenario = Scenario(reviewers=10, scales="one-biased")
        >>> simulate(scenario, ["sign", "mean"], baseline="coin", trials=1000, rng=7)
        1000 trials, seed 7
        coin: zero-one 0.5 (se 0), improvement 0% (se 0)
        sign: zero-one 0 (se 0), improvement 100% (se 0)
        mean: zero-one 0.48 (se 0.016), improvement 4% (se 3.2)
    """
    plan = _plan(scenario, methods, losses, baseline, trials, seed_from(rng))
    require_executor(executor)
    loss_blocks: list[Floats] = []
    ties, done = np.zeros(2, dtype=np.int64), 0
    # Closed on an interrupt, which cancels what has not begun.
    with contextlib.closing(_blocks(plan, executor)) as blocks:
        for part, tied in blocks:
            loss_blocks.append(part)
            ties, done = ties + tied, done + len(part)
            say("Trials", done, trials)
    rows = _rows(plan, np.concatenate(loss_blocks))
    share, lost = (ties / trials).tolist()
    notices = _notices(scenario, share)
    return Simulation(rows, trials, _parameters(plan), plan.seed, lost, notices)


def draw_ratings(
    scenario: Scenario, *, rng: RNGLike = None
) -> tuple[Ratings, dict[Label, float]]:
    """Draw the ratings of one trial, to try other tools on.

    Args:
        scenario: The situation.
        rng: Seed, generator or None.

    Returns:
        The ratings, of items and by reviewers numbered from 1, and the value of each
        item.

    Examples:
        >>> ratings, truth = draw_ratings(Scenario(reviewers=4), rng=7)
        >>> ratings
        Ratings(4 scores by 4 reviewers of 2 items)
        >>> sorted(truth)
        [1, 2]
    """
    source = np.random.Generator(stream(seed_from(rng), "one trial"))
    trial = draw_trials(scenario, 1, source)
    assigned = trial.assigned[0]
    reviewers = np.repeat(np.arange(1, scenario.reviewers + 1), assigned.shape[1])
    ratings = Ratings(
        reviewers,
        assigned.ravel() + 1,
        trial.scores[0].ravel(),
        pairs=scenario.partners(reviewers),
        all_items=range(1, scenario.items + 1),
    )
    return ratings, dict(enumerate(trial.values[0].tolist(), start=1))


def run_block(plan: TrialPlan, number: int) -> Block:
    """Run a block of trials; it depends on the plan and on its number alone.

    Returns:
        Losses, shape (trials, methods, losses), of two items with the bound of the
        zero-one loss behind them; and in how many trials a reviewer gave equal scores,
        and in how many ties took the guarantee away.

    Examples:
        >>> from evenhand.ab.methods import Coin
        >>> plan = TrialPlan(Scenario(), (Coin(),), ("zero-one",), 0, 100, 7)
        >>> len(run_block(plan, 0)[0]), len(run_block(plan, 1)[0])
        (64, 36)
    """
    rng = np.random.Generator(stream(plan.seed, f"simulate block {number}"))
    size = min(BLOCK, plan.trials - number * BLOCK)
    trials = draw_trials(plan.scenario, size, rng)
    losses_of = ranking_losses if plan.scenario.job == "rank" else two_item_losses
    losses = losses_of(plan.methods, plan.losses, trials, rng)
    lost, table = trials.tied, trials.potential
    if table is not None:
        lost = (table[..., 0] == table[..., 1]).all(axis=1)
        bounds = risk_bounds(plan.methods, trials, plan.scenario)
        losses = np.concatenate([losses, bounds[..., None]], axis=-1)
    return losses, np.array([trials.tied.sum(), lost.sum()])


def _blocks(plan: TrialPlan, executor: Executor | None) -> Generator[Block]:
    """Run all blocks in their order, in other processes if that is worth it."""
    run, count = functools.partial(run_block, plan), -(-plan.trials // BLOCK)
    started_at = time.perf_counter()
    yield from map(run, range(min(TIMED, count)))
    each = (time.perf_counter() - started_at) / TIMED
    place = executor if each * count > WORTH_SECONDS else None
    batch = max(1, round(BATCH_SECONDS / each))
    yield from run_parts(run, range(TIMED, count), place, batch=batch)


def two_item_losses(
    tried: Sequence[Rule], losses: Sequence[str], trials: Trials, _: object = None
) -> Floats:
    """Return the expected losses of rules, shape (trials, rules, losses).

    Examples:
        >>> from evenhand.ab.methods import HigherMean
        >>> scenario = Scenario(reviewers=4, scales="identity")
        >>> trials = draw_trials(scenario, 3, np.random.default_rng(7))
        >>> float(two_item_losses([HigherMean()], ["zero-one"], trials).sum())
        0.0
    """
    sides = trials.assigned[..., 0]
    # The first item's scores before the second's, in the order of the pairing.
    order = np.argsort(sides + trials.pairing, axis=-1)
    scores = np.take_along_axis(trials.scores[..., 0], order, axis=-1)
    firsts = sides.shape[1] - sides.sum(axis=-1)
    # A side without scores leaves a fair coin.
    chances = np.full((len(scores), len(tried)), 0.5)
    for count in set(firsts.tolist()) - {0, sides.shape[1]}:
        rows = firsts == count
        first_scores, second_scores = scores[rows, :count], scores[rows, count:]
        pairs = min(count, second_scores.shape[1])
        for column, rule in enumerate(tried):
            used = pairs if rule.pairs == "only" else None
            chances[rows, column] = rule.chance(
                first_scores[:, :used], second_scores[:, :used]
            )
    better = trials.values[:, :1] > trials.values[:, 1:]
    wrong = np.where(better, 1 - chances, chances)
    return wrong[..., None] * [named_loss(loss)([0, 1], [1, 0]) for loss in losses]


def risk_bounds(tried: Sequence[Rule], trials: Trials, scenario: Scenario) -> Floats:
    """Bound the zero-one risk of rules in each trial, shape (trials, rules).

    NaN for a design other than halves, or with an odd number of reviewers.

    Examples:
        >>> from evenhand.ab.methods import Coin, HigherMean
        >>> scenario = Scenario(reviewers=40, scales="identity")
        >>> trials = draw_trials(scenario, 3, np.random.default_rng(7))
        >>> risk_bounds([Coin(), HigherMean()], trials, scenario).shape
        (3, 2)
    """
    table = trials.potential
    if table is None or scenario.design != Halves.name or scenario.reviewers % 2:
        return np.full((len(trials.values), len(tried)), np.nan)
    better = np.sign(trials.values[:, :1] - trials.values[:, 1:])
    effects = better * (table[..., 0] - table[..., 1])
    spread = table.max(axis=(1, 2)) - table.min(axis=(1, 2))
    width = np.where(spread > 0, spread, 1.0)
    ends = effects.min(axis=1), effects.mean(axis=1)
    scope = Scope(scenario.reviewers // 2, width, *ends)
    return 1 - np.stack([rule.right_at_least(scope) for rule in tried], axis=1)


def ranking_losses(
    tried: Sequence[RankMethod],
    losses: Sequence[str],
    trials: Trials,
    rng: np.random.Generator,
) -> Floats:
    """Return the losses of ranking methods, shape (trials, methods, losses).

    All methods of a trial have the same seed, so that none depends on the others.

    Raises:
        OptionError: If a method cannot be used in a trial.

    Examples:
        >>> from evenhand.ranking.methods import Flips
        >>> scenario = Scenario(job="rank", items=4, design="everything")
        >>> rng = np.random.default_rng(7)
        >>> trials = draw_trials(scenario, 3, rng)
        >>> float(ranking_losses([Flips()], ["kendall"], trials, rng).sum())
        0.0
    """
    count, n_reviewers, each = trials.assigned.shape
    reviewers = np.repeat(np.arange(n_reviewers), each)
    items, scores = trials.assigned.reshape(count, -1), trials.scores.reshape(count, -1)
    every = range(trials.values.shape[1])
    first = Ratings(reviewers, items[0], scores[0], all_items=every)
    of = [named_loss(name) for name in losses]
    result = np.empty((count, len(tried), len(of)))
    seeds: list[int] = rng.integers(2**53, size=(count,)).tolist()
    for row, seed in enumerate(seeds):
        # Labels are codes already: a copy takes a hundredth of the time of new ones.
        ratings = copy.copy(first)
        ratings.item_codes, ratings.preference = items[row], scores[row]
        task = Task(ratings, seed, intervals=False)
        truth = np.argsort(-trials.values[row], kind="stable")
        for column, method in enumerate(tried):
            order = order_by(method, task)
            result[row, column] = [loss(truth, order) for loss in of]
    return result


def order_by(method: RankMethod, task: Task) -> Codes:
    """Return item codes, best first, as `rank` does.

    Raises:
        OptionError: If the method cannot be used on these ratings.

    Examples:
        >>> from evenhand.ranking.methods import Borda
        >>> order_by(Borda(), Task(Ratings(["a", "a"], [0, 1], [1, 2]), 7)).tolist()
        [1, 0]
    """
    try:
        method.check(task)
        return method.answer(task).order
    except RatingsError as error:
        raise OptionError(f"method {method} cannot be tried here: {error}") from error


def _plan(
    scenario: Scenario,
    methods: Tried | Sequence[Tried],
    losses: str | Sequence[str] | None,
    baseline: Tried | None,
    trials: int,
    seed: int,
) -> TrialPlan:
    if not isinstance(scenario, Scenario):
        raise must_be("scenario", "a Scenario", scenario)
    if isinstance(methods, str | Method) or callable(methods):
        methods = [methods]
    losses = LOSSES[scenario.job] if losses is None else losses
    require_sequence("names or functions", methods=methods)
    require_sequence("names", losses=losses)
    kind: Any = RankMethod if scenario.job == "rank" else Rule
    tried: list[Any] = [as_method(method, kind) for method in methods]
    names = (losses,) if isinstance(losses, str) else tuple(losses)
    for name in names:
        if not isinstance(name, str):
            raise must_be("loss", "a name", name)
        named_loss(name)
        if name.startswith("top-") and int(name[4:]) > scenario.items:
            raise must_be("loss", f"at most 'top-{scenario.items}' here", name)
    if not names or not tried:
        raise OptionError("methods and losses must name at least one each.")
    base = None
    if baseline is not None:
        against = as_method(baseline, kind, "baseline")
        if against not in tried:
            tried.insert(0, against)
        base = tried.index(against)
    require_whole("trials", trials, 2, MOST_TRIALS)
    return TrialPlan(scenario, tuple(tried), names, base, trials, seed)


def _rows(plan: TrialPlan, losses: Floats) -> tuple[RiskRow, ...]:
    rows = []
    for i, j in np.ndindex(len(plan.methods), len(plan.losses)):
        gain: tuple[float, float] | tuple[None, None] = (None, None)
        ours = losses[:, i, j]
        if plan.baseline is not None and (base := losses[:, plan.baseline, j]).any():
            gain = improvement(base, ours)
        risk, se = float(ours.mean()), standard_error(ours)
        row = RiskRow(_label(plan.methods[i]), plan.losses[j], risk, se, *gain)
        limit = math.nan
        if plan.scenario.job == "compare" and row.loss == "zero-one":
            limit = float(losses[:, i, -1].mean())
        rows.append(row if math.isnan(limit) else replace(row, bound=limit))
    return tuple(rows)


def improvement(base: Floats, ours: Floats) -> tuple[float, float]:
    """Return how much lower a mean loss is, in per cent, with its standard error.

    A ratio of two means has about the variance of the mean of (loss - ratio x
    baseline's loss) / baseline's mean.

    Args:
        base: Losses of the baseline in each trial, not all 0.
        ours: Losses of a method in the same trials.

    Examples:
        >>> improvement(np.array([2.0, 4.0]), np.array([1.0, 2.0]))
        (50.0, 0.0)
    """
    mean = float(base.mean())
    ratio = float(ours.mean()) / mean
    return 100 * (1 - ratio), 100 * standard_error(ours - ratio * base) / mean


def standard_error(numbers: Floats) -> float:
    """Return the standard error of the mean of some numbers.

    Examples:
        >>> standard_error(np.array([1.0, 3.0]))
        1.0
    """
    return float(numbers.std(ddof=1)) / math.sqrt(len(numbers))


def _label(method: Rule | RankMethod) -> str:
    return method.display_name if method.own else str(method)


def _parameters(plan: TrialPlan) -> dict[str, Json]:
    names = [_label(method) for method in plan.methods]
    return {
        "scenario": plan.scenario.to_dict(),
        "methods": names,
        "losses": list(plan.losses),
        "baseline": None if plan.baseline is None else names[plan.baseline],
        "trials": plan.trials,
    }


def _notices(scenario: Scenario, share: float) -> tuple[DataWarning, ...]:
    n, m, ranks = scenario.items, scenario.reviewers, scenario.job == "rank"
    warnings = []
    if ranks and (n == 2 or not 1 < m < math.comb(n, 2)):
        warnings.append(DataWarning("no_theorem", {"items": n, "reviewers": m}))
    if share > 0:
        case = "rank_trials" if ranks else "compare_trials"
        facts: dict[str, Json] = {"case": case, "percent": 100 * share}
        warnings.append(DataWarning("ties_within_reviewers", facts))
    return tuple(warnings)
