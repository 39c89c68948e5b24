"""Run blocks of trials, in this process or in several, and add them up.

What a block gives depends on the seed and its number alone, and blocks are added in
the order of their numbers. So the sums are the same, to the last bit, however many
processes there are and however many blocks each takes at a time. Blocks for two items
are drawn and judged in tables of many, and cut apart again before anything is added.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import multiprocessing
import pickle
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evenhand._cores import end_with
from evenhand.ab.weights import GapWeight, as_weight
from evenhand.errors import EvenhandError, OptionError
from evenhand.lab._draws import draw_block, draw_table
from evenhand.lab._losses import loss
from evenhand.lab._many_items import OwnRanking, ranking_losses, ranking_method
from evenhand.lab._memory import keep_freed_memory
from evenhand.lab._two_items import OwnRule, rule, two_item_losses

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.lab.scenario import Scenario

    Floats = NDArray[np.float64]
    Parts = Sequence[tuple[int, int]]
    Run = Callable[[Parts], tuple[Floats, NDArray[np.bool_]]]

Weight = GapWeight | Callable[[float], float] | str
BLOCK = 64
# Blocks of two items are judged in tables of so many scores, or of one block if that is
# more: about 30 MB in all, and some hundredths of a second.
TABLE_SCORES = 1 << 18
TABLE_BLOCKS = 256
# The first table ends where a requested error is looked for first, and each later one
# is at most twice as long, so that little is done in vain. A user's function may take
# its time, or fail where the run would have ended before; there, no table is longer.
FIRST_BLOCKS = 16
# Other processes take about this many seconds to start.
WORTH_SECONDS = 3.0
# At most the share of a run that tells how long it will take: one block in so many.
TIMED = 8
AHEAD = 2
PAUSE = 0.2


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
    tables = _batched(numbers, table_blocks(task))
    return [tally for table in tables for tally in _run_table(task, run, table)]


def table_blocks(task: Task) -> int:
    """Return how many blocks are drawn into one table at most.

    Examples:
        >>> from evenhand.lab.scenario import Scenario
        >>> scenario = Scenario(reviewers=100)
        >>> task = Task(scenario, ("sign",), ("zero-one",), 0, None, 100, 7)
        >>> table_blocks(task)
        40
    """
    if task.scenario.job != "compare":
        return 1
    fitting = TABLE_SCORES // (BLOCK * task.scenario.reviewers)
    named = all(isinstance(each, str) for each in (task.scenario.scales, *task.methods))
    own = not named or as_weight(task.weight).checked_on_grid
    return max(1, min(fitting, FIRST_BLOCKS if own else TABLE_BLOCKS))


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
    blocks, size = task.blocks(), table_blocks(task)
    run = _runner(task)
    keep_freed_memory()
    if workers > 1:
        # The first block may compile; some others tell how long the rest will take.
        yield from _run_blocks_of(task, run, blocks[:1])
        timed = blocks[1 : 1 + max(1, min(size, len(blocks) // TIMED))]
        blocks = blocks[1 + len(timed) :]
        begun = time.perf_counter()
        yield from _run_blocks_of(task, run, timed)
        seconds = (time.perf_counter() - begun) / max(1, len(timed)) * len(blocks)
        if seconds > WORTH_SECONDS and _can_travel(task):
            yield from _in_processes(task, _batched(blocks, batch), workers)
            return
    for table in _growing(blocks, size):
        yield from _run_blocks_of(task, run, table)


def _run_blocks_of(task: Task, run: Run, table: Sequence[int]) -> Iterator[Tally]:
    """Run the blocks of a table together, or each alone if one of them cannot be.

    So what comes before that one is given, and the run may end there.
    """
    tallies = None
    if len(table) > 1:
        with contextlib.suppress(EvenhandError):
            tallies = _run_table(task, run, table)
    if tallies is not None:
        yield from tallies
        return
    for number in table:
        yield from _run_table(task, run, [number])


def _run_table(task: Task, run: Run, numbers: Sequence[int]) -> list[Tally]:
    parts = [(number, min(BLOCK, task.trials - number * BLOCK)) for number in numbers]
    found, tied = run(parts)
    if len({trials for _, trials in parts}) == 1:
        return _tallies(found, tied, len(parts), task.baseline)
    # Only the last block of all is shorter.
    cut = len(found) - parts[-1][1]
    return [
        *_tallies(found[:cut], tied[:cut], len(parts) - 1, task.baseline),
        *_tallies(found[cut:], tied[cut:], 1, task.baseline),
    ]


def _tallies(
    found: Floats, tied: NDArray[np.bool_], blocks: int, baseline: int
) -> list[Tally]:
    """Add up the losses in blocks of equal size.

    Args:
        found: Losses, shape (trials, methods, losses).
        tied: Whether there is a tie in each trial.
        blocks: How many blocks.
        baseline: Index of the method that others are measured against.
    """
    trials = len(found) // blocks
    losses = found.reshape(blocks, trials, *found.shape[1:])
    means = _sums(losses) / trials
    off = losses - means[:, None]
    squares, products = _sums(off * off), _sums(off * off[:, :, baseline, None])
    ties = tied.reshape(blocks, trials).sum(axis=1).tolist()
    return [
        Tally(trials, *parts)
        for parts in zip(ties, means, squares, products, strict=True)
    ]


def _runner(task: Task) -> Run:
    """Return what turns blocks, with the trials of each, into losses and ties."""
    scenario, seed = task.scenario, task.seed
    losses = [loss(name, scenario.items) for name in task.losses]
    weight = as_weight(task.weight)

    def two(parts: Parts) -> tuple[Floats, NDArray[np.bool_]]:
        block = draw_table(scenario, seed, parts)
        return two_item_losses(scenario, block, rules, losses), block.tied

    def many(parts: Parts) -> tuple[Floats, NDArray[np.bool_]]:
        ((number, trials),) = parts
        block = draw_block(scenario, seed, number, trials)
        found = ranking_losses(scenario, block, methods, losses, seed, number)
        return found, block.tied

    if scenario.job == "compare":
        rules = [rule(method, weight) for method in task.methods]  # type: ignore[arg-type]  # a function is as its job needs
        return two
    methods = [ranking_method(method, weight) for method in task.methods]  # type: ignore[arg-type]  # a function is as its job needs
    return many


def _sums(losses: Floats) -> Floats:
    """Sum over the trials of each block, rounding once, so that no order matters.

    Args:
        losses: Shape (blocks, trials, methods, losses).
    """
    blocks, trials, *shape = losses.shape
    columns = losses.reshape(blocks, trials, -1).swapaxes(1, 2).reshape(-1, trials)
    sums = [math.fsum(column) for column in columns.tolist()]
    return np.array(sums).reshape(blocks, *shape)


def _batched(numbers: Sequence[int], size: int) -> Iterator[list[int]]:
    left = iter(numbers)
    while batch := list(itertools.islice(left, size)):
        yield batch


def _growing(numbers: Sequence[int], most: int) -> Iterator[Sequence[int]]:
    """Cut numbers into pieces of twice the size of the one before, up to a limit."""
    start, size = 0, min(FIRST_BLOCKS, most)
    while start < len(numbers):
        yield numbers[start : start + size]
        start, size = start + size, min(2 * size, most)


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
    theirs, ours = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(
        workers, mp_context=context, initializer=end_with, initargs=(theirs,)
    )
    try:
        waiting = deque(
            pool.submit(run_batch, task, numbers)
            for numbers in itertools.islice(batches, AHEAD * workers)
        )
        while waiting:
            # An interrupt is seen between waits: polars has waits themselves go on.
            while wait([waiting[0]], PAUSE).not_done:
                pass
            yield from waiting.popleft().result()
            for numbers in itertools.islice(batches, 1):
                waiting.append(pool.submit(run_batch, task, numbers))
    except BrokenProcessPool as error:
        raise OptionError(
            "workers must be 1 here, as other processes could not be started. In a "
            "script, put the call under `if __name__ == '__main__':`."
        ) from error
    finally:
        ours.close()  # which ends them, whatever they are at
        pool.shutdown(wait=True, cancel_futures=True)
        theirs.close()
