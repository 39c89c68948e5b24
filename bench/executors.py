"""How much sooner a simulation is done on two processes, here or on a Dask cluster.

    python -m bench.executors [--seconds 70] [--workers 2] [--rounds 3]

The same simulation runs in this process, in a standard pool and on a Dask LocalCluster,
turn by turn; workers are started and warmed up before the clock. Prints the best wall
time of each, speed-up and overhead, and ends with exit code 1 if a result differs or a
limit does not hold. For a machine that does nothing else.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING

import click
from distributed import LocalCluster

from evenhand.engines.executors import dask, processes, run_parts
from evenhand.lab.scenario import Scenario
from evenhand.lab.simulation import simulate

if TYPE_CHECKING:
    from concurrent.futures import Executor

# Of two processes, and against the standard pool.
SPEED_UP, OVERHEAD = 1.7, 0.05
SCENARIO = Scenario(job="rank", items=8, reviewers=8)
METHODS = ("flips", "borda")
SAMPLE = 200


def run(trials: int, executor: Executor | None) -> tuple[float, str]:
    """Return the seconds of one simulation, and its JSON."""
    began = time.perf_counter()
    result = simulate(
        SCENARIO,
        METHODS,
        baseline="topological",
        trials=trials,
        executor=executor,
        rng=7,
    )
    return time.perf_counter() - began, json.dumps(result.to_dict())


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
    cluster = LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=":0"
    )
    with cluster, processes(workers) as pool, dask(cluster.scheduler_address) as far:
        places = {"one process": None, "standard pool": pool, "dask": far}
        for place in (pool, far):
            list(run_parts(warm_up, range(4 * workers), place))
        found = [
            (name, *run(trials, place))
            for _ in range(rounds)
            for name, place in places.items()
        ]
    best = {name: min(spent for it, spent, _ in found if it == name) for name in places}
    same = len({text for _, _, text in found}) == 1
    speed_up = best["one process"] / best["dask"]
    overhead = best["dask"] / best["standard pool"] - 1
    for name, spent in best.items():
        click.echo(f"{name:15} {spent:8.2f} s")
    click.echo(f"dask: {speed_up:.2f} times as fast as one process (limit {SPEED_UP})")
    click.echo(
        f"dask: {overhead:+.1%} against the standard pool (limit {OVERHEAD:.0%})"
    )
    click.echo(f"identical JSON: {'yes' if same else 'NO'}")
    sys.exit(0 if same and speed_up >= SPEED_UP and overhead <= OVERHEAD else 1)


if __name__ == "__main__":
    main()
