"""How much sooner a simulation is done on two processes, here or on a Dask cluster.

    python -m bench.executors [--seconds 70] [--workers 2] [--rounds 3]

The same simulation runs in this process, in a standard pool and on a Dask LocalCluster,
turn by turn; workers are started and warmed up before the clock. Dask's are set as
docs/scale.md advises. Speed-up and overhead are by wall time. Beside them stands the
CPU time of this process, its workers and the scheduler, and how much of it was not
spent inside the simulation itself. Ends with exit code 1 if a result differs or a limit
does not hold. For a machine that does nothing else.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import Executor, Future
from typing import Any

import click
import psutil
from dask import config
from distributed import LocalCluster

from evenhand.engines.executors import dask, processes, run_parts
from evenhand.lab.scenario import Scenario
from evenhand.lab.simulation import simulate

# Of two processes, and against the standard pool.
SPEED_UP, OVERHEAD = 1.7, 0.05
SCENARIO = Scenario(job="rank", items=8, reviewers=8)
METHODS = ("flips", "borda")
SAMPLE = 200
# As in docs/scale.md: one arena of memory, and less housekeeping beside the work.
SETTINGS = {
    "distributed.nanny.pre-spawn-environ.MALLOC_ARENA_MAX": "1",
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.memory.monitor-interval": "1s",
    "distributed.worker.profile.enabled": False,
}


class Timed(Executor):
    """An executor that adds up the CPU seconds of the work itself."""

    def __init__(self, inner: Executor) -> None:
        """Remember who does it."""
        self.inner, self.inside = inner, 0.0

    def submit(self, work: Any, /, *given: Any, **_: Any) -> Future[Any]:  # noqa: ANN401 - any work
        """Send work, and note what it took when it is back."""
        outer: Future[Any] = Future()
        outer.set_running_or_notify_cancel()

        def note(inner: Future[Any]) -> None:
            result, spent = inner.result()
            self.inside += spent
            outer.set_result(result)

        self.inner.submit(timed, work, given).add_done_callback(note)
        return outer


def timed(work: Any, given: tuple[Any, ...]) -> tuple[Any, float]:  # noqa: ANN401 - any work
    """Do some work; return its result and CPU seconds."""
    began = time.thread_time()
    return work(*given), time.thread_time() - began


def cpu() -> float:
    """Return the CPU seconds so far of this process and all that it started."""
    own = psutil.Process()
    spent = [one.cpu_times() for one in (own, *own.children(recursive=True))]
    return sum(times.user + times.system for times in spent)


def run(trials: int, executor: Executor | None) -> tuple[float, float, float, str]:
    """Return wall seconds, CPU seconds, overhead and JSON of one simulation."""
    place = None if executor is None else Timed(executor)
    began, before, here = time.perf_counter(), cpu(), time.thread_time()
    result = simulate(
        SCENARIO,
        METHODS,
        baseline="topological",
        trials=trials,
        executor=place,
        rng=7,
    )
    wall, spent = time.perf_counter() - began, cpu() - before
    inside = time.thread_time() - here if place is None else place.inside
    return wall, spent, spent / inside - 1, json.dumps(result.to_dict())


def warm_up(_: int) -> float:
    """Load what a simulation needs, and return the seconds of a small one."""
    return run(SAMPLE, None)[0]


@click.command()
@click.option("--seconds", default=70.0, show_default=True, help="Work of a run.")
@click.option("--workers", default=2, show_default=True, type=click.IntRange(2))
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(1))
def main(seconds: float, workers: int, rounds: int) -> None:
    """Measure, print and judge."""
    warm_up(0)
    trials = int(SAMPLE * seconds / warm_up(0))
    config.set(SETTINGS)
    cluster = LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=":0"
    )
    with cluster, processes(workers) as pool, dask(cluster.scheduler_address) as far:
        places = {"one process": None, "standard pool": pool, "dask": far}
        for place in (pool, far):
            list(run_parts(warm_up, range(4 * workers), place))
        runs = [
            (name, *run(trials, place))
            for _ in range(rounds)
            for name, place in places.items()
        ]
    best = [
        {name: min(run[at] for run in runs if run[0] == name) for name in places}
        for at in (1, 2, 3)
    ]
    wall, spent, outside = best
    same = len({text for *_, text in runs}) == 1
    speed_up = wall["one process"] / wall["dask"]
    overhead = wall["dask"] / wall["standard pool"] - 1
    for name in places:
        click.echo(
            f"{name:15} {wall[name]:8.2f} s wall {spent[name]:8.2f} s CPU, "
            f"{outside[name]:.1%} beside the work"
        )
    click.echo(f"dask: {speed_up:.2f} times as fast as one process (limit {SPEED_UP})")
    click.echo(
        f"dask: {overhead:+.1%} against the standard pool (limit {OVERHEAD:.0%})"
    )
    click.echo(f"identical JSON: {'yes' if same else 'NO'}")
    sys.exit(0 if same and speed_up >= SPEED_UP and overhead <= OVERHEAD else 1)


if __name__ == "__main__":
    # By its name, so that workers find what they are sent.
    from bench.executors import main as measure

    measure()
