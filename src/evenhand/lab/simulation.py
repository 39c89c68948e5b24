"""Simulate: methods against each other on a scenario.

All methods see the same data in a trial. Coins on pairs of items are not flipped: each
trial counts with the exact expectation of the loss given its data and the choices that
came before the coins. What else is left to chance counts as it was drawn.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from evenhand._labels import require_function, require_sequence, shown
from evenhand._randomness import RNGLike, seed_from, stream
from evenhand._results import Json, Label, Notice
from evenhand.ab.weights import GapWeight, as_weight
from evenhand.errors import OptionError, counted
from evenhand.lab.contenders import (
    Tried,
    check_loss,
    ranking_losses,
    ranking_method,
    ranking_options,
    rule,
    tried_name,
    two_item_losses,
)
from evenhand.lab.results import Row, Simulation
from evenhand.lab.scenario import Scenario
from evenhand.lab.trials import draw_trials, score_range
from evenhand.lab.workers import in_order
from evenhand.ratings import Ratings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from evenhand.lab.trials import Trials

    Floats = NDArray[np.float64]

Weight = GapWeight | Callable[[float], float] | str
Progress: TypeAlias = Callable[[int, int, float | None], None]
LOSSES = {"compare": "zero-one", "rank": "kendall"}
NEVER_WORSE = ("sign", "mean", "median", "trimmed", "votes", "guarded")
STRICT = ("votes", "guarded")
# Theorems 5, 8, 7, K and T: which losses, and which true rankings. Theorem 8 with the
# parity scan only.
GUARANTEED: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "flips": (("zero-one",), ("uniform",)),
    "flips-uniform": (("zero-one",), ("uniform", "arbitrary")),
    "twins": (("kendall", "footrule"), ("uniform",)),
    "sorter": (("zero-one",), ("uniform",)),
    "ties": (("kendall",), ("uniform", "arbitrary")),
    "safe": (("kendall",), ("uniform", "arbitrary")),
}
KEPT = "kept"
# Theorem T compares a method with its own start, not with every ordinal method.
AGAINST = dict.fromkeys(("ties", "safe"), f"{KEPT} against random tie-breaking")
# Trials are drawn in blocks, each with a stream of its own.
BLOCK = 64
# A requested error is looked for after so many blocks each time.
CHECKED = 16
MOST_TRIALS = 10**12


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be simulated.

    Attributes:
        scenario: The scenario.
        methods: The methods, by name or as functions.
        losses: Names of the losses.
        baseline: Index of the method that others are measured against.
        weight: How a gap in scores weighs.
        trials: How many trials there are at most.
        seed: The seed.
    """

    scenario: Scenario
    methods: tuple[Tried, ...]
    losses: tuple[str, ...]
    baseline: int
    weight: Weight | None
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
            spread = (
                self.squares
                - 2 * ratio * self.products
                + ratio * ratio * self.squares[baseline]
            )
            slack = np.sqrt(np.maximum(spread, 0.0) / degrees) / base
        slack[baseline] = np.where(base > 0, 0.0, np.nan)
        return np.sqrt(self.squares / degrees), 100 * (1 - ratio), 100 * slack


def simulate(
    scenario: Scenario,
    methods: Tried | Sequence[Tried],
    *,
    losses: str | Sequence[str] | None = None,
    baseline: Tried | None = None,
    trials: int = 10_000,
    error: float | None = None,
    levels: Sequence[int] = (),
    weight: Weight | None = None,
    workers: int = 1,
    batch: int = 8,
    rng: RNGLike = None,
    progress: Progress | None = None,
) -> Simulation:
    """Try methods on a scenario.

    Args:
        scenario: The situation.
        methods: Names of methods, with options after a colon; or functions: for two
            items, from the scores of the first and of the second to the probability
            that the first is output; for many, from Ratings and a Generator to item
            codes, best first. Options for two items: "median:lower", "trimmed:0.1",
            "votes:rational:2", "guarded:0.2" (eps), "guarded:0.2:midrank". For many, in
            any order, a weight last: "flips:3" (score pairs), "sorter:3:rational:2",
            "flips-uniform:paper", "twins:one:direct", "mean-rank:proxy", "ties:0.5"
            (noise), "safe:0.1" (eta), "safe:0.1:0.5" (eta and noise), and "raw" for
            sorter, ties and safe without anchors; "safe:always" splits all reviewers.
        losses: "zero-one", "kendall", "footrule", "top-3" and so on; by default
            "zero-one" for two items and "kendall" for many.
        baseline: The method that the others are measured against; it gets rows too.
        trials: How many trials, at most if an error is given.
        error: Stop when the standard error of every improvement, in per cent (of every
            risk, without a baseline), is at most this.
        levels: Repeat everything for forms with so many marks each.
        weight: How a gap in scores weighs, for methods that flip coins; see
            `evenhand.weights`. rational(1) by default.
        workers: Number of processes. Short runs stay in this one, as do functions that
            cannot be sent to another. The result is the same for any number.
        batch: How many blocks of 64 trials a process takes at a time. The result is the
            same for any number.
        rng: Seed, generator or None.
        progress: Called with the number of trials done and wanted, and the largest
            standard error so far.

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
    plan, baselined = _plan(scenario, methods, losses, baseline, trials)
    plan = replace(plan, weight=weight, seed=seed_from(rng))
    _contenders(plan)
    for name, number in (("workers", workers), ("batch", batch)):
        _whole(name, number, 1)
    limit = _as_error(error)
    require_sequence("integers", levels=levels)
    if progress is not None:
        told = ("trials done", "trials wanted", "the error")
        require_function("progress", progress, *told)
    forms = [replace(scenario, levels=_whole("levels", k, 2)) for k in levels]
    rows: list[Row] = []
    short = 0.0
    for done, form in enumerate(forms or [scenario]):
        this = replace(plan, scenario=form)
        begun, wanted = done * trials, max(1, len(forms)) * trials
        work = functools.partial(run_blocks, this)
        numbers = range(-(-trials // BLOCK))
        blocks = in_order(work, numbers, workers=workers, batch=batch)
        with contextlib.closing(blocks):
            for tally, worst in _added(this, blocks, improving=baselined):
                if progress is not None:
                    progress(begun + tally.trials, wanted, worst)
                if limit is not None and worst <= limit:
                    break
        rows += _rows(this, tally, improving=baselined)
        if limit is not None and worst > limit:
            short = max(short, worst)
    return Simulation(
        tuple(rows),
        max(row.trials for row in rows),
        _parameters(plan, levels, error, baselined=baselined),
        plan.seed,
        _notices(scenario, rows, short),
    )


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


def run_blocks(plan: Plan, numbers: Sequence[int]) -> Iterator[Tally]:
    """Run blocks of trials; each depends on the plan and on its number alone.

    Examples:
        >>> plan = Plan(Scenario(), ("coin",), ("zero-one",), 0, None, 100, 7)
        >>> [tally.trials for tally in run_blocks(plan, range(2))]
        [64, 36]
    """
    scenario, losses_of = plan.scenario, _contenders(plan)
    for number in numbers:
        rng = np.random.Generator(stream(plan.seed, f"simulate block {number}"))
        trials = draw_trials(scenario, min(BLOCK, plan.trials - number * BLOCK), rng)
        found = losses_of(trials, rng)
        mean = found.mean(axis=0)
        off = found - mean
        squares = (off * off).sum(axis=0)
        products = (off * off[:, plan.baseline, None]).sum(axis=0)
        yield Tally(len(found), int(trials.tied.sum()), mean, squares, products)


def _contenders(plan: Plan) -> Callable[[Trials, np.random.Generator], Floats]:
    """Return what turns trials into losses; refuse what there is not."""
    weight = as_weight(plan.weight)
    for loss in plan.losses:
        check_loss(loss, plan.scenario.items)
    if plan.scenario.job == "compare":
        rules = [rule(method, weight) for method in plan.methods]
        return lambda trials, _: two_item_losses(trials, rules, plan.losses)
    tried = [ranking_method(method, weight) for method in plan.methods]
    return functools.partial(ranking_losses, tried, plan.losses)


def _plan(
    scenario: Scenario,
    methods: Tried | Sequence[Tried],
    losses: str | Sequence[str] | None,
    baseline: Tried | None,
    trials: int,
) -> tuple[Plan, bool]:
    if not isinstance(scenario, Scenario):
        raise OptionError(f"scenario must be a Scenario, got {shown(scenario)}.")
    if not callable(methods):
        require_sequence("names or functions", methods=methods)
    if losses is not None:
        require_sequence("names", losses=losses)
    tried: list[Tried] = (
        [methods] if isinstance(methods, str) or callable(methods) else list(methods)
    )
    names = [LOSSES[scenario.job]] if losses is None else losses
    names = [names] if isinstance(names, str) else list(names)
    if not names or not tried:
        raise OptionError("methods and losses must name at least one each.")
    if not (baseline is None or isinstance(baseline, str) or callable(baseline)):
        raise OptionError(
            f"baseline must be a name or a function, got {shown(baseline)}."
        )
    if baseline is not None and baseline not in tried:
        tried.insert(0, baseline)
    base = 0 if baseline is None else tried.index(baseline)
    if _whole("trials", trials, 2) > MOST_TRIALS:
        raise OptionError(
            f"trials must be at most {MOST_TRIALS:,}, got {shown(trials)}."
        )
    plan = Plan(scenario, tuple(tried), tuple(names), base, None, trials, 0)
    return plan, baseline is not None


def _added(
    plan: Plan, blocks: Iterable[Tally], *, improving: bool
) -> Iterator[tuple[Tally, float]]:
    """Add up blocks; give the sum and its largest standard error now and then."""
    tally = None
    for count, part in enumerate(blocks, start=1):
        tally = part if tally is None else tally.plus(part, plan.baseline)
        if count % CHECKED == 0 or tally.trials == plan.trials:
            errors, _, slacks = tally.errors(plan.baseline)
            # A baseline without error has no improvement on it.
            worst = (
                np.where(np.isfinite(slacks), slacks, errors) if improving else errors
            )
            yield tally, float(worst.max())


def _rows(plan: Plan, tally: Tally, *, improving: bool) -> list[Row]:
    errors, gains, slacks = tally.errors(plan.baseline)
    ties = tally.tied / tally.trials
    rows = []
    for i, method in enumerate(plan.methods):
        for j, loss in enumerate(plan.losses):
            known = improving and math.isfinite(slacks[i, j])
            row = Row(
                method=tried_name(method),
                loss=loss,
                risk=float(tally.mean[i, j]),
                se=float(errors[i, j]),
                improvement=float(gains[i, j]) if known else None,
                improvement_se=float(slacks[i, j]) if known else None,
                trials=tally.trials,
                levels=plan.scenario.levels or None,
                ties=ties,
                certificate=_certificate(plan.scenario, method, loss, ties),
            )
            rows.append(row)
    return rows


def _certificate(scenario: Scenario, method: Tried, loss: str, ties: float) -> str:
    """Say what the scenario, and ties within reviewers, leave of a guarantee.

    With eta nothing is left but a price that is known beforehand. Where every reviewer
    scores every item nothing is left to settle, so that no method is better.
    """
    name = method.partition(":")[0] if isinstance(method, str) else ""
    if scenario.job == "compare":
        if name in STRICT and ties == 0 and scenario.reviewers > 1:
            return "strictly better than a coin"
        return "never worse than a coin" if name in NEVER_WORSE else "none"
    losses, truths = GUARANTEED.get(name, ((), ()))
    # Comparisons made from noisy scores are no comparisons of values.
    if loss not in losses or scenario.truth not in truths or scenario.noise != "none":
        return "none"
    if scenario.reviewers == 1 or scenario.design == "everything":
        return "none"
    told = ranking_options(str(method))
    if told.scan == "paper" or told.eta > 0:
        return "none"
    return "void" if ties else AGAINST.get(name, KEPT)


def _parameters(
    plan: Plan, levels: Sequence[int], error: float | None, *, baselined: bool
) -> dict[str, Json]:
    form: dict[str, Json] = {}
    if levels or plan.scenario.levels:
        low, high = score_range(plan.scenario)
        form = {"levels": list(levels), "score_range": [low, high]}
    return {
        "scenario": plan.scenario.to_dict(),
        "methods": [tried_name(method) for method in plan.methods],
        "losses": list(plan.losses),
        "baseline": tried_name(plan.methods[plan.baseline]) if baselined else None,
        "weight": as_weight(plan.weight).to_dict(),
        "trials": plan.trials,
        "error": error,
        **form,
    }


def _notices(
    scenario: Scenario, rows: Sequence[Row], short: float
) -> tuple[Notice, ...]:
    notices = []
    if scenario.job == "rank" and not scenario.pairs_left():
        notices.append(
            Notice(
                "no_theorem",
                f"With {counted(scenario.items, 'item')} and "
                f"{counted(scenario.reviewers, 'reviewer')} no theorem of the paper "
                "applies: it takes more than 2 items, more than 1 reviewer and fewer "
                "reviewers than pairs of items.",
            )
        )
    share = max(row.ties for row in rows)
    if share:
        rest = (
            "ties void the paper's ranking guarantees."
            if scenario.job == "rank"
            else "ties leave 'never worse than a coin', not 'strictly better'."
        )
        notices.append(
            Notice(
                "ties_within_reviewers",
                f"In up to {100 * share:.3g} % of trials a reviewer gives equal scores "
                f"to unequal items; {rest}",
            )
        )
    if short:
        most = max(row.trials for row in rows)
        text = (
            f"The error asked for was not reached in {most:,} trials; the largest is "
            f"{short:.2g}."
        )
        notices.append(Notice("error_not_reached", text))
    return tuple(notices)


def _whole(name: str, value: int, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise OptionError(
            f"{name} must be an integer of at least {least}, got {shown(value)}."
        )
    return value


def _as_error(error: float | None) -> float | None:
    if error is not None and not (isinstance(error, int | float) and error > 0):
        raise OptionError(f"error must be a number above 0, got {shown(error)}.")
    return error
