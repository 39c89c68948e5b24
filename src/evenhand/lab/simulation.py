"""Simulate: methods against each other on a scenario.

All methods see the same data in a trial. Coins on pairs of items are not flipped: each
trial counts with the exact expectation of the loss given its data and the choices that
came before the coins. What else is left to chance counts as it was drawn.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import math
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from evenhand.ab.methods import Rule
from evenhand.arrays import Floats
from evenhand.claims import Json, Label, Notice, version
from evenhand.engines.executors import require_executor, run_parts
from evenhand.errors import (
    ContradictionError,
    OptionError,
    RatingsError,
    counted,
    require_sequence,
    require_whole,
    shown,
)
from evenhand.lab.scenario import Scenario, Trials, draw_trials
from evenhand.losses import loss as named_loss
from evenhand.method import Method, as_method
from evenhand.progress import say, working
from evenhand.randomness import RNGLike, seed_from, stream
from evenhand.ranking.methods import RankMethod, Task
from evenhand.ratings import Ratings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from evenhand.ranking.flips import Coin

    Codes = NDArray[np.int64]

OwnRule: TypeAlias = Callable[[Floats, Floats], float]
OwnRanking: TypeAlias = Callable[[Ratings, np.random.Generator], object]
Tried: TypeAlias = str | Rule | RankMethod | OwnRule | OwnRanking
LOSSES = {"compare": "zero-one", "rank": "kendall"}
# What it costs to put two items in the wrong order.
OF_TWO = {"zero-one": 1.0, "kendall": 1.0, "footrule": 2.0, "top-1": 1.0}
# Trials are drawn in blocks, each with a stream of its own.
BLOCK = 64
MOST_TRIALS = 10**12

# Other processes take about this many seconds to start.
WORTH_SECONDS = 3.0
# Blocks that tell how long a run will take, and seconds of work that travel together.
TIMED, BATCH_SECONDS = 16, 0.5


@dataclass(frozen=True, slots=True)
class Row:
    """How one method did by one loss.

    Attributes:
        method: The method.
        loss: The loss.
        risk: Its mean over all trials.
        se: Standard error of the risk.
        improvement: How much lower the risk is than the baseline's, in per cent of it;
            None without a baseline, or if the baseline never errs.
        improvement_se: Standard error of the improvement, by the delta method.
    """

    method: str
    loss: str
    risk: float
    se: float
    improvement: float | None
    improvement_se: float | None


@dataclass(frozen=True, slots=True, repr=False)
class Simulation:
    """How methods did on a scenario.

    Attributes:
        rows: One row for each method and loss.
        trials: How many trials there were, at most 2**53.
        parameters: What was simulated.
        seed: The seed that repeats it.
        notices: What the reader must know.
    """

    rows: tuple[Row, ...]
    trials: int
    parameters: Mapping[str, Json]
    seed: int
    notices: tuple[Notice, ...] = ()

    def to_dict(self) -> dict[str, Json]:
        """Return the result as in the JSON.

        Examples:
            >>> simulate(Scenario(), "mean", trials=100, rng=7).to_dict()["schema"]
            'evenhand.simulate/1'
        """
        return {
            "schema": "evenhand.simulate/1",
            "rows": [asdict(row) for row in self.rows],
            "trials": self.trials,
            "parameters": dict(self.parameters),
            "seed": self.seed,
            "warnings": [notice.to_dict() for notice in self.notices],
            "version": version(),
        }

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
            gain = ""
            if row.improvement is not None:
                gain = f", improvement {row.improvement:.3g} %"
                gain += f" (se {row.improvement_se:.2g})"
            risk = f"{row.loss} {row.risk:.4g} (se {row.se:.2g})"
            lines.append(f"{row.method}: {risk}{gain}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Plan:
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


@dataclass(frozen=True, slots=True)
class Tally:
    """Means and squares of the losses of some trials.

    Attributes:
        trials: How many trials.
        tied: In how many of them a reviewer gave equal scores.
        mean: Mean losses, shape (methods, losses).
        squares: Sum of squared differences from the mean.
        products: Sum of products with the baseline's differences.
    """

    trials: int
    tied: int
    mean: Floats
    squares: Floats
    products: Floats

    def plus(self, other: Tally, baseline: int) -> Tally:
        """Add more trials.

        Sums are carried as differences from means, so that nothing cancels.
        """
        trials = self.trials + other.trials
        shift = other.mean - self.mean
        share = self.trials * other.trials / trials
        return Tally(
            trials,
            self.tied + other.tied,
            self.mean + shift * (other.trials / trials),
            self.squares + other.squares + shift * shift * share,
            self.products + other.products + shift * shift[baseline] * share,
        )

    def errors(self, baseline: int) -> tuple[Floats, Floats, Floats]:
        """Return standard errors, and improvements in per cent with theirs.

        A ratio of two means has about the variance of the mean of
        (loss - ratio x baseline's loss) / baseline's mean.
        """
        degrees = self.trials * (self.trials - 1)
        base = self.mean[baseline]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = self.mean / base
            spread = self.squares - 2 * ratio * self.products
            spread += ratio * ratio * self.squares[baseline]
            slack = np.sqrt(np.maximum(spread, 0.0) / degrees) / base
        slack[baseline] = np.where(base > 0, 0.0, np.nan)
        return np.sqrt(self.squares / degrees), 100 * (1 - ratio), 100 * slack


NOTHING = Tally(0, 0, *np.zeros((3, 1, 1)))
"""No trials."""


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
        coin: zero-one 0.5 (se 0), improvement 0 % (se 0)
        sign: zero-one 0 (se 0), improvement 100 % (se 0)
        mean: zero-one 0.48 (se 0.016), improvement 4 % (se 3.2)
    """
    plan = _plan(scenario, methods, losses, baseline, trials)
    plan = replace(plan, seed=seed_from(rng))
    require_executor(executor)
    tally = NOTHING
    # Closed on an interrupt, which cancels what has not begun.
    with contextlib.closing(_blocks(plan, executor)) as blocks:
        for block in blocks:
            tally = tally.plus(block, plan.baseline or 0)
            say(f"{tally.trials:,} of {trials:,} trials", tally.trials, trials)
    notices = _notices(scenario, tally.tied / trials)
    return Simulation(_rows(plan, tally), trials, _parameters(plan), plan.seed, notices)


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
        pairs=(reviewers + 1) // 2 if scenario.design == "matched" else None,
        all_items=range(1, scenario.items + 1),
    )
    return ratings, dict(enumerate(trial.values[0].tolist(), start=1))


def run_block(plan: Plan, number: int) -> Tally:
    """Run a block of trials; it depends on the plan and on its number alone.

    Examples:
        >>> from evenhand.ab.methods import Coin
        >>> plan = Plan(Scenario(), (Coin(),), ("zero-one",), 0, 100, 7)
        >>> run_block(plan, 0).trials, run_block(plan, 1).trials
        (64, 36)
    """
    rng = np.random.Generator(stream(plan.seed, f"simulate block {number}"))
    size = min(BLOCK, plan.trials - number * BLOCK)
    trials = draw_trials(plan.scenario, size, rng)
    compares = plan.scenario.job == "compare"
    losses_of = two_item_losses if compares else ranking_losses
    found = losses_of(plan.methods, plan.losses, trials, rng)
    mean = found.mean(axis=0)
    off = found - mean
    squares = (off * off).sum(axis=0)
    products = (off * off[:, plan.baseline or 0, None]).sum(axis=0)
    return Tally(size, int(trials.tied.sum()), mean, squares, products)


def _blocks(plan: Plan, executor: Executor | None) -> Generator[Tally]:
    """Run all blocks in their order, in other processes if that is worth it."""
    run, count = functools.partial(run_block, plan), -(-plan.trials // BLOCK)
    begun = time.perf_counter()
    yield from map(run, range(min(TIMED, count)))
    each = (time.perf_counter() - begun) / TIMED
    place = executor if each * count > WORTH_SECONDS else None
    batch = max(1, round(BATCH_SECONDS / each))
    yield from run_parts(run, range(TIMED, count), place, batch=batch)


def check_loss(name: str, items: int) -> None:
    """Refuse a loss that there is not, for so many items.

    Raises:
        OptionError: If there is no such loss.

    Examples:
        >>> check_loss("top-3", 10)
    """
    if not isinstance(name, str):
        raise OptionError(f"loss must be a name, got {shown(name)}.")
    named_loss(name)
    if _best(name) > items:
        raise OptionError(
            f"loss must be at most 'top-{items}' for {items} items, got {name!r}."
        )


def _best(loss: str) -> int:
    return int(loss.removeprefix("top-")) if loss.startswith("top-") else 0


def two_item_losses(
    tried: Sequence[Rule], losses: Sequence[str], trials: Trials, _: object = None
) -> Floats:
    """Return the expected losses of rules, shape (trials, rules, losses).

    Examples:
        >>> from evenhand.ab.methods import Mean
        >>> scenario = Scenario(reviewers=4, scales="identity")
        >>> trials = draw_trials(scenario, 3, np.random.default_rng(7))
        >>> float(two_item_losses([Mean()], ["zero-one"], trials).sum())
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
        one, two = scores[rows, :count], scores[rows, count:]
        pairs = min(count, two.shape[1])
        for column, rule in enumerate(tried):
            used = pairs if rule.pairs == "only" else None
            chances[rows, column] = rule.chance(one[:, :used], two[:, :used])
    better = trials.values[:, :1] > trials.values[:, 1:]
    wrong = np.where(better, 1 - chances, chances)
    return wrong[..., None] * [OF_TWO.get(loss, 0.0) for loss in losses]


def order_and_coins(method: RankMethod, task: Task) -> tuple[Codes, Sequence[Coin]]:
    """Return item codes, best first, as they are if every coin keeps them, and coins.

    Raises:
        OptionError: If the method cannot be used on these ratings.

    Examples:
        >>> from evenhand.ranking.methods import Borda
        >>> task = Task(Ratings(["a", "a"], [0, 1], [1, 2]), 7)
        >>> order_and_coins(Borda(), task)[0].tolist()
        [1, 0]
    """
    try:
        method.check(task)
        answer = method.answer(task)
    except ContradictionError as error:
        raise OptionError(
            f"method {method} must have comparisons that are consistent, got a "
            "contradiction. Choose noise 'none' or method 'safe'."
        ) from error
    except RatingsError as error:
        raise OptionError(f"method {method} cannot be tried here: {error}") from error
    if not method.disjoint:
        return answer.order, ()
    order = answer.order.copy()
    place = np.argsort(order)
    for coin in answer.coins:
        if not coin.kept:
            order[place[list(coin.items)]] = coin.items[::-1]
    return order, answer.coins


def ranking_losses(
    tried: Sequence[RankMethod],
    losses: Sequence[str],
    trials: Trials,
    rng: np.random.Generator,
) -> Floats:
    """Return the expected losses of ranking methods, shape (trials, methods, losses).

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
    truth = trials.places()
    seeds = rng.integers(2**53, size=len(truth)).tolist()
    result = np.empty((len(truth), len(tried), len(losses)))
    for row, ratings in enumerate(_ratings_of(trials)):
        task = Task(ratings, seeds[row], intervals=False)
        for column, method in enumerate(tried):
            drawn = order_and_coins(method, task)
            result[row, column] = expected_losses(*drawn, truth[row], losses)
    return result


def _ratings_of(trials: Trials) -> Iterator[Ratings]:
    """Make the Ratings of each trial.

    Labels are codes already, so only one is made from labels, and the others are copies
    with other items and scores: that takes a hundredth of the time.
    """
    count, n_reviewers, each = trials.assigned.shape
    reviewers = np.repeat(np.arange(n_reviewers), each)
    items, scores = (
        part.reshape(count, -1) for part in (trials.assigned, trials.scores)
    )
    every = range(trials.values.shape[1])
    first = Ratings(reviewers, items[0], scores[0], all_items=every)
    for row in range(count):
        ratings = copy.copy(first)
        ratings.item_codes, ratings.preference = items[row], scores[row]
        yield ratings


def expected_losses(
    order: Codes, coins: Sequence[Coin], truth: Codes, losses: Sequence[str]
) -> list[float]:
    """Average the losses of a ranking over independent coins on disjoint pairs.

    Args:
        order: Item codes, best first, as they are if every coin keeps them.
        coins: The coins; each keeps its first item first or exchanges the two.
        truth: Place of each item in the true ranking, from 0.
        losses: Which losses.

    Returns:
        The average of each.

    Examples:
        >>> from evenhand.ranking.flips import Coin
        >>> coin = Coin((1, 0), -1.0, 0.25, True, (0, 1))
        >>> order, truth = np.array([1, 0, 2]), np.arange(3)
        >>> expected_losses(order, [coin], truth, ["kendall", "zero-one"])
        [0.25, 0.25]
    """
    pairs = np.array([coin.items for coin in coins], dtype=np.int64).reshape(-1, 2)
    kept = np.array([coin.p_first for coin in coins])
    place = np.argsort(order)
    # Both places that an item may come to, and the chance of each.
    places, chances = np.stack([place, place]), np.zeros((2, len(order)))
    places[1, pairs] = place[pairs[:, ::-1]]
    chances[1, pairs] = 1 - kept[:, None]
    chances[0] = 1 - chances[1]

    def average(loss: str) -> float:
        if loss == "kendall":
            return _expected_kendall(places, chances, pairs, truth)
        if loss == "footrule":
            return float((chances * np.abs(places - truth)).sum())
        if loss == "zero-one":
            right = (chances * (places == truth)).sum(axis=0)
            # Of two exchanged items both come right or none.
            right[pairs[:, 0]], right[pairs[:, 1]] = right[pairs].min(axis=1), 1.0
            return float(1 - right.prod())
        missed = chances * (places >= _best(loss))
        return float(missed[:, truth < _best(loss)].sum())

    return [average(loss) for loss in losses]


def _expected_kendall(
    places: Codes, chances: Floats, pairs: Codes, truth: Codes
) -> float:
    above = np.zeros((len(truth), len(truth)))
    for one, p in zip(places, chances, strict=True):
        for two, q in zip(places, chances, strict=True):
            above += p[:, None] * q * (one[:, None] < two)
    # The two of a pair change places together.
    first, second = pairs.T
    above[first, second], above[second, first] = chances[0, first], chances[1, first]
    return float((1 - above)[truth[:, None] < truth].sum())


def _plan(
    scenario: Scenario,
    methods: Tried | Sequence[Tried],
    losses: str | Sequence[str] | None,
    baseline: Tried | None,
    trials: int,
) -> Plan:
    if not isinstance(scenario, Scenario):
        raise OptionError(f"scenario must be a Scenario, got {shown(scenario)}.")
    if isinstance(methods, str | Method) or callable(methods):
        methods = [methods]
    losses = LOSSES[scenario.job] if losses is None else losses
    require_sequence("names or functions", methods=methods)
    require_sequence("names", losses=losses)
    kind: Any = RankMethod if scenario.job == "rank" else Rule
    tried: list[Any] = [as_method(one, kind) for one in methods]
    names = (losses,) if isinstance(losses, str) else tuple(losses)
    for name in names:
        check_loss(name, scenario.items)
    if not names or not tried:
        raise OptionError("methods and losses must name at least one each.")
    base = None
    if baseline is not None:
        against = as_method(baseline, kind, "baseline")
        if against not in tried:
            tried.insert(0, against)
        base = tried.index(against)
    require_whole("trials", trials, 2, MOST_TRIALS)
    return Plan(scenario, tuple(tried), names, base, trials, 0)


def _rows(plan: Plan, tally: Tally) -> tuple[Row, ...]:
    errors, gains, slacks = tally.errors(plan.baseline or 0)
    rows = []
    for (i, j), risk in np.ndenumerate(tally.mean):
        known = plan.baseline is not None and math.isfinite(slacks[i, j])
        row = Row(
            method=_label(plan.methods[i]),
            loss=plan.losses[j],
            risk=float(risk),
            se=float(errors[i, j]),
            improvement=float(gains[i, j]) if known else None,
            improvement_se=float(slacks[i, j]) if known else None,
        )
        rows.append(row)
    return tuple(rows)


def _label(method: Rule | RankMethod) -> str:
    return method.called if method.own else str(method)


def _parameters(plan: Plan) -> dict[str, Json]:
    names = [_label(method) for method in plan.methods]
    return {
        "scenario": plan.scenario.to_dict(),
        "methods": names,
        "losses": list(plan.losses),
        "baseline": None if plan.baseline is None else names[plan.baseline],
        "trials": plan.trials,
    }


def _notices(scenario: Scenario, share: float) -> tuple[Notice, ...]:
    ranks = scenario.job == "rank"
    left = (
        "void the paper's ranking guarantees"
        if ranks
        else "leave 'never worse than a coin', not 'strictly better'"
    )
    notices = {
        "no_theorem": ranks
        and not scenario.pairs_left()
        and f"With {counted(scenario.items, 'item')} and "
        f"{counted(scenario.reviewers, 'reviewer')} no theorem of the paper applies: "
        "it takes more than 2 items, more than 1 reviewer and fewer reviewers than "
        "pairs of items.",
        "ties_within_reviewers": share > 0
        and f"In {100 * share:.3g} % of trials a reviewer gives equal scores to "
        f"unequal items; ties {left}.",
    }
    return tuple(Notice(code, text) for code, text in notices.items() if text)
