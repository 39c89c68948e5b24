"""How a job is measured: agreement first, then time, memory and growth.

A job has ours, its peers and a limit, which is something the machine cannot do without,
such as sorting as many numbers. All of them run by turns, so that what else the machine
does falls on all alike, and the best time of each counts.
"""

from __future__ import annotations

import gc
import importlib.util
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Data = SimpleNamespace
ROOT = Path(__file__).resolve().parent.parent
# Seconds after which a side gets no more rounds.
PATIENCE = 30.0
# Calls shorter than these seconds are repeated within their turn, so that they are as
# warm as the calls of a program that makes many; at most so many times.
TURN, MOST_CALLS = 0.05, 20
FEWEST_SIZES = 2


class Disagreement(Exception):  # noqa: N818 - no error: the row is left out.
    """Two sides have different answers."""


def agreed(note: str, *, right: bool) -> str:
    """Return the note if the sides agree.

    Raises:
        Disagreement: If they do not.
    """
    if not right:
        raise Disagreement(note)
    return note


@dataclass(frozen=True)
class Side:
    """Somebody else's way to do a job, or a limit.

    Attributes:
        name: What it is.
        run: Does the job.
        agree: Compares the answers, ours first; returns in words how far they agree.
        needs: The module without which it cannot run.
        most: The largest size that it is asked for.
        share: Which part of the job it runs; its time is divided by this.
    """

    name: str
    run: Callable[[Data], Any]
    agree: Callable[[Data, Any, Any], str] = lambda *_: ""
    needs: str = "numpy"
    most: float = float("inf")
    share: float = 1.0

    @property
    def missing(self) -> bool:
        """Whether it is not installed."""
        return importlib.util.find_spec(self.needs) is None


@dataclass(frozen=True)
class Job:
    """What is measured.

    Attributes:
        name: Short name.
        title: What is done.
        unit: What sizes count.
        sizes: Sizes for the growth.
        shown: Those of them that have a row in the table.
        quick: Sizes for a first look.
        prepare: Makes the data of a size; not measured.
        ours: Does the job.
        check: Tests our answer by itself; returns in words what was tested.
        limit: What the machine takes in any case.
        peers: Who else can do it.
        process: Whether a run is a process of its own.
        note: What one should know.
    """

    name: str
    title: str
    unit: str
    sizes: Sequence[int]
    shown: Sequence[int]
    quick: Sequence[int]
    prepare: Callable[[int], Data]
    ours: Callable[[Data], Any]
    check: Callable[[Data, Any], str]
    limit: Side
    peers: Sequence[Side] = ()
    process: bool = False
    note: str = ""

    def side(self, name: str) -> Callable[[Data], Any]:
        """Return what a side runs."""
        runs = {side.name: side.run for side in (*self.peers, self.limit)}
        return self.ours if name == "ours" else runs[name]


@dataclass
class Result:
    """What was measured of a job at one size.

    Attributes:
        seconds: Best time of each side.
        notes: How far each side's answer agrees; of ours, what was tested.
        wrong: Sides whose answer is another, and how; ours, if it failed its test.
        missing: Peers that are not installed.
        memory: Megabytes of each side.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    memory: dict[str, float] = field(default_factory=dict)


def warm_up(job: Job) -> None:
    """Load and compile what every side needs, on a small size."""
    data = job.prepare(job.quick[0])
    sides = [side for side in (*job.peers, job.limit) if not side.missing]
    for run in (job.ours, *(side.run for side in sides)):
        run(data)
        run(data)


def measure(job: Job, size: int, rounds: int) -> Result:
    """Compare the answers, then time those sides that agree, by turns."""
    data = job.prepare(size)
    result = Result(missing=[side.name for side in job.peers if side.missing])
    runs: dict[str, Callable[[], float]] = {}
    spent: dict[str, float] = {}
    for name, share, first in _first_runs(job, data, size, result):
        calls = min(max(int(TURN / first), 1), MOST_CALLS)
        runs[name] = _timed(job.side(name), data, share, calls)
        result.seconds[name], spent[name] = first / share, first
    for _ in range(rounds - 1):
        for name, run in runs.items():
            if spent[name] < PATIENCE:
                start = perf_counter()
                result.seconds[name] = min(result.seconds[name], run())
                spent[name] += perf_counter() - start
    return result


def _first_runs(
    job: Job, data: Data, size: int, result: Result
) -> Iterator[tuple[str, float, float]]:
    """Run each side once; yield name, share and seconds of those that agree."""
    start = perf_counter()
    ours = job.ours(data)
    first = perf_counter() - start
    try:
        result.notes["ours"] = job.check(data, ours)
    except Disagreement as found:
        result.wrong["ours"] = str(found)
        return
    yield "ours", 1.0, first
    for side in (*job.peers, job.limit):
        if side.missing or size > side.most:
            continue
        start = perf_counter()
        theirs = side.run(data)
        first = perf_counter() - start
        try:
            result.notes[side.name] = side.agree(data, ours, theirs)
        except Disagreement as found:
            result.wrong[side.name] = str(found)
        else:
            yield side.name, side.share, first
        del theirs


def _timed(
    run: Callable[[Data], Any], data: Data, share: float, calls: int
) -> Callable[[], float]:
    def seconds() -> float:
        gc.collect()
        best = float("inf")
        for _ in range(calls):
            start = perf_counter()
            run(data)
            best = min(best, perf_counter() - start)
        return best / share

    return seconds


def peak_memory(job: Job, size: int, side: str) -> float:
    """Return megabytes that a side takes, run once in a fresh process.

    Of a job that is a process of its own, all of it counts; otherwise what comes on top
    of the data and of the code, both loaded before.
    """
    command = [sys.executable, "-m", "bench.memory", job.name, str(size), side]
    done = subprocess.run(  # noqa: S603 - our own module.
        command, cwd=ROOT, check=True, capture_output=True, text=True
    )
    return float(done.stdout.split()[-1])


def exponent(seconds: Mapping[int, float]) -> float | None:
    """Fit seconds = constant * size ** exponent by least squares of logarithms."""
    if len(seconds) < FEWEST_SIZES:
        return None
    sizes, times = np.log([*seconds]), np.log([*seconds.values()])
    return float(np.polyfit(sizes, times, 1)[0])
