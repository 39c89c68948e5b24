"""Run blocks of trials, in this process or in several, and add them up.

What a block gives depends on the seed and its number alone, and blocks are added in
the order of their numbers. So the sums are the same, to the last bit, however many
processes there are and however many blocks each takes at a time.
"""

from __future__ import annotations

import itertools
import math
import multiprocessing
import pickle
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evenhand.ab.weights import GapWeight, as_weight
from evenhand.errors import OptionError
from evenhand.lab._draws import draw_block
from evenhand.lab._losses import loss
from evenhand.lab._many_items import OwnRanking, ranking_losses, ranking_method
from evenhand.lab._two_items import OwnRule, rule, two_item_losses

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.lab.scenario import Scenario

    Floats = NDArray[np.float64]
    Run = Callable[[int, int], tuple[Floats, int]]

Weight = GapWeight | Callable[[float], float] | str
BLOCK = 64
# Other processes take about this many seconds to start.
WORTH_SECONDS = 3.0
AHEAD = 2


@dataclass(frozen=True, slots=True)
class Task:
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
    methods: tuple[str | OwnRule | OwnRanking, ...]
    losses: tuple[str, ...]
    baseline: int
    weight: Weight | None
    trials: int
    seed: int

    def blocks(self) -> range:
        """Return the numbers of all blocks."""
        return range(-(-self.trials // BLOCK))


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


def run_batch(task: Task, numbers: Sequence[int]) -> list[Tally]:
    """Run some blocks.

    Examples:
        >>> from evenhand.lab.scenario import Scenario
        >>> task = Task(Scenario(), ("coin",), ("zero-one",), 0, None, 100, 7)
        >>> [tally.trials for tally in run_batch(task, task.blocks())]
        [64, 36]
    """
    run = _runner(task)
    tallies = []
    for number in numbers:
        trials = min(BLOCK, task.trials - number * BLOCK)
        found, tied = run(number, trials)
        mean = _sums(found) / trials
        off = found - mean
        own = off[:, task.baseline, None]
        tallies.append(Tally(trials, tied, mean, _sums(off * off), _sums(off * own)))
    return tallies


def run_blocks(task: Task, *, workers: int, batch: int) -> Generator[Tally, None, None]:
    """Run all blocks in order, in several processes if that is worth it.

    Args:
        task: What is to be simulated.
        workers: Number of processes.
        batch: How many blocks a process takes at a time.

    Yields:
        The tally of each block.

    Raises:
        OptionError: If other processes cannot be started.

    Examples:
        >>> from evenhand.lab.scenario import Scenario
        >>> task = Task(Scenario(), ("coin",), ("zero-one",), 0, None, 100, 7)
        >>> [t.trials for t in run_blocks(task, workers=2, batch=1)]
        [64, 36]
    """
    blocks = task.blocks()
    # The first block may compile; the second tells how long the others will take.
    yield from run_batch(task, blocks[:1])
    begun = time.perf_counter()
    yield from run_batch(task, blocks[1:2])
    seconds = (time.perf_counter() - begun) * len(blocks[2:])
    batches = _batched(blocks[2:], batch)
    if workers > 1 and seconds > WORTH_SECONDS and _can_travel(task):
        yield from _in_processes(task, batches, workers)
        return
    for number in blocks[2:]:
        yield from run_batch(task, [number])


def _runner(task: Task) -> Run:
    scenario, seed = task.scenario, task.seed
    losses = [loss(name, scenario.items) for name in task.losses]
    weight = as_weight(task.weight)

    def two(number: int, trials: int) -> tuple[Floats, int]:
        block = draw_block(scenario, seed, number, trials)
        tied = int(block.tied.sum())
        return two_item_losses(scenario, block, rules, losses), tied

    def many(number: int, trials: int) -> tuple[Floats, int]:
        block = draw_block(scenario, seed, number, trials)
        found = ranking_losses(scenario, block, methods, losses, seed, number)
        return found, int(block.tied.sum())

    if scenario.job == "compare":
        rules = [rule(method, weight) for method in task.methods]  # type: ignore[arg-type]  # a function is as its job needs
        return two
    methods = [ranking_method(method, weight) for method in task.methods]  # type: ignore[arg-type]  # a function is as its job needs
    return many


def _sums(losses: Floats) -> Floats:
    """Sum over trials, rounding once, so that other columns never matter."""
    columns = losses.reshape(len(losses), -1).T.tolist()
    return np.array([math.fsum(column) for column in columns]).reshape(losses[0].shape)


def _batched(numbers: range, size: int) -> Iterator[list[int]]:
    left = iter(numbers)
    while batch := list(itertools.islice(left, size)):
        yield batch


def _can_travel(task: Task) -> bool:
    """Say whether a task can be sent to another process.

    A fresh process begins with this one's main file, which a program that is read from
    standard input does not have.
    """
    main = getattr(sys.modules["__main__"], "__file__", None)
    if main is not None and not Path(main).exists():
        return False
    try:
        pickle.dumps(task)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


def _in_processes(
    task: Task, batches: Iterator[list[int]], workers: int
) -> Iterator[Tally]:
    # Fresh processes: forking one that has threads, as polars has, may hang.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context)
    waiting = deque(
        pool.submit(run_batch, task, numbers)
        for numbers in itertools.islice(batches, AHEAD * workers)
    )
    try:
        while waiting:
            yield from waiting.popleft().result()
            for numbers in itertools.islice(batches, 1):
                waiting.append(pool.submit(run_batch, task, numbers))
    except BrokenProcessPool as error:
        raise OptionError(
            "workers must be 1 here, as other processes could not be started. In a "
            "script, put the call under `if __name__ == '__main__':`."
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
