"""Long work in parts: the same result anywhere, whatever happens to a worker."""

from __future__ import annotations

import functools
import json
import os
import signal
import socket
import sys
import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from evenhand.cli import cli
from evenhand.diagnosis.warp import warp
from evenhand.engines import executors
from evenhand.engines.executors import cores, dask, processes, run_parts, workers
from evenhand.errors import OptionError
from evenhand.lab import simulation
from evenhand.lab.scenario import Scenario
from evenhand.lab.simulation import BLOCK, TIMED, TrialPlan, draw_ratings, simulate
from evenhand.lab.theorems import check_theorems
from evenhand.ranking.ranking import rank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evenhand.arrays import Codes, Floats

distributed = pytest.importorskip("distributed")
SCENARIO = Scenario(scales="power", reviewers=7)
TRIALS = BLOCK * (TIMED + 20) + 10
RATINGS, _ = draw_ratings(
    Scenario(job="rank", items=5, reviewers=8, design="balanced", per_reviewer=3), rng=7
)


class Watched(Executor):
    """Somebody's executor: it notes what is sent, and may not be shut down."""

    def __init__(self, inner: Executor) -> None:
        self.inner = inner
        self.sent: list[Future[Any]] = []

    def submit(
        self, fn: Callable[..., Any], /, *args: object, **more: object
    ) -> Future[Any]:
        self.sent.append(self.inner.submit(fn, *args, **more))
        return self.sent[-1]

    def shutdown(self, *_: object, **__: object) -> None:
        raise AssertionError


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Start a cluster of two processes."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(autouse=True)
def far(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let even short runs go to other processes, some blocks at a time."""
    monkeypatch.setattr(simulation, "WORTH_SECONDS", -1.0)


def simulated(executor: Executor | None) -> str:
    result = simulate(
        SCENARIO,
        ["votes", "mean"],
        baseline="coin",
        trials=TRIALS,
        executor=executor,
        rng=7,
    )
    return json.dumps(result.to_dict())


def test_simulations_are_the_same_anywhere_in_batches_of_any_size(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = simulated(None)
    with ThreadPoolExecutor(3) as threads, workers(2) as pool, dask(address) as far:
        for seconds, most in ((0.0, 20), (1e9, 1)):
            monkeypatch.setattr(simulation, "BATCH_SECONDS", seconds)
            for place in (threads, pool, far):
                assert place is not None
                seen = Watched(place)
                assert simulated(seen) == alone
                assert 1 <= len(seen.sent) <= most + 1
        assert pool is not None
        assert pool.submit(os.getppid).result() == os.getpid()
        with pytest.raises(OptionError, match="must be defined in a module"):
            list(run_parts(lambda part: part, [1], pool))


def test_everything_else_is_the_same_anywhere(address: str) -> None:
    def found(executor: Executor | None) -> list[object]:
        clusters = {name: int(name) % 6 for name in RATINGS.reviewer_labels}
        options: dict[str, Any] = {"rng": 7, "executor": executor}
        claims = check_theorems(only=("Theorem 1", "Can fail: sign"), **options)
        return [
            warp(RATINGS, draws=20, **options).to_dict(),
            warp(RATINGS, method="additive", draws=12, **options).to_dict(),
            rank(RATINGS, method="centred", cluster=clusters, **options).to_dict(),
            [(row.name, row.margin, row.holds) for row in claims.rows],
        ]

    alone = found(None)
    with dask(address) as far:
        place = Watched(far)
        assert found(place) == alone
        assert len(place.sent) > 200


def mortal_block(folder: str, plan: TrialPlan, number: int) -> tuple[Floats, Codes]:
    """Run a block; the first time that block 20 is at work, its process is killed."""
    with Path(folder, "begun").open("a") as log:
        log.write(f"{number} {os.getpid()}\n")
    if number == 20 and not Path(folder, "killed").exists():
        Path(folder, "killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return BLOCKS(plan, number)


BLOCKS = simulation.run_block


def test_a_worker_killed_inside_a_batch_changes_nothing(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = simulated(None)
    mortal = functools.partial(mortal_block, str(tmp_path))
    monkeypatch.setattr(simulation, "run_block", mortal)
    with dask(address) as far:
        assert simulated(far) == alone
    begun = [line.split() for line in (tmp_path / "begun").read_text().splitlines()]
    killed = [process for number, process in begun if number == "20"]
    assert len(killed) == 2
    assert killed[0] != killed[1]


# The process ends when it has sent a part of its answer.
HALF_AN_ANSWER = """
import os
from multiprocessing.connection import Connection
def send(line, answer):
    os.write(line.fileno(), answer[:9])
    os._exit(1)
Connection._send = send
"""


def test_a_process_that_is_lost_is_said_in_words_and_made_good() -> None:
    losses: list[tuple[Callable[[Any], None], object]]
    losses = [(os._exit, 1), (exec, HALF_AN_ANSWER)]
    with processes(2) as pool:
        for work, part in losses:
            with pytest.raises(OptionError, match="memory ran out"):
                list(run_parts(work, [part], pool))
        with pytest.raises(ValueError, match="'x'") as found:
            list(run_parts(int, ["x"], pool))
        assert "run_batch" in found.value.__notes__[0]
        # What cannot be sent back is said, too.
        assert pool is not None
        with pytest.raises(ValueError, match="not to be sent"):
            pool.submit(Unsendable).result()
        with pytest.raises(RuntimeError, match="OddError: of its own"):
            pool.submit(raise_odd).result()


class Unsendable:
    def __reduce__(self) -> str:
        raise ValueError("not to be sent")


class OddError(Exception):
    """One that is not made again from what it says."""

    def __init__(self, *, why: str) -> None:
        super().__init__(why)


def raise_odd() -> None:
    raise OddError(why="of its own")


def slow_block(plan: TrialPlan, number: int) -> tuple[Floats, Codes]:
    time.sleep(0.5 if number > TIMED else 0.0)
    return BLOCKS(plan, number)


def test_an_interrupt_cancels_our_work_and_leaves_the_pool(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulation, "run_block", slow_block)
    monkeypatch.setattr(simulation, "BATCH_SECONDS", 0.0)

    def interrupt(_: str, done: int, __: int) -> None:
        if done > BLOCK * TIMED:
            raise KeyboardInterrupt

    monkeypatch.setattr(simulation, "say", interrupt)

    with ThreadPoolExecutor(1) as threads, dask(address) as far:
        for place in (threads, far):
            seen = Watched(place)
            with pytest.raises(KeyboardInterrupt):
                simulated(seen)
            assert seen.sent[-1].cancelled()
            assert place.submit(abs, -3).result() == 3


def test_an_interrupt_does_not_wait_for_the_next_result() -> None:
    # A shell that starts tests in the background lets them ignore interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    over = threading.Event()
    late = threading.Timer(20, over.set)
    soon = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    with ThreadPoolExecutor(1) as threads:
        late.start()
        soon.start()
        with pytest.raises(KeyboardInterrupt):
            list(run_parts(lambda _: over.wait(), [1], threads))
        assert not over.is_set()
        over.set()
        late.cancel()
    signal.signal(signal.SIGINT, before)


def test_the_first_parts_do_not_wait_for_the_last() -> None:
    with ThreadPoolExecutor(1) as threads:
        seen = Watched(threads)
        found = run_parts(abs, iter(range(10**12)), seen, batch=2)
        assert [next(found) for _ in range(3)] == [0, 1, 2]
        assert len(seen.sent) == executors.AHEAD + 1
        found.close()


def missing(_: int) -> int:
    raise ModuleNotFoundError("No module named 'evenhand'", name="evenhand")


def wrong(_: int) -> int:
    raise TypeError("of one's own")


def test_errors_of_a_part_are_its_own() -> None:
    with ThreadPoolExecutor(1) as threads:
        with pytest.raises(OptionError, match=r"must have evenhand .* No module named"):
            list(run_parts(missing, [1], threads))
        with pytest.raises(TypeError, match="of one's own"):
            list(run_parts(wrong, [1], threads))


def test_a_worker_of_another_version_refuses() -> None:
    with pytest.raises(OptionError, match=r"must have evenhand 9\.9, got 0\."):
        executors.run_batch("9.9", abs, [1])


@pytest.mark.parametrize("there", ["0.0.1", None])
def test_a_cluster_with_another_evenhand_or_none_is_refused(
    address: str, there: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A function of the standard library, as evenhand's own might not be there.
    asked = functools.partial(str, there) if there else functools.partial(int, base=3)
    monkeypatch.setattr(metadata, "version", asked)
    monkeypatch.setattr(executors, "version", lambda: "0.2.0")
    sentence = r"workers must have evenhand 0\.2\.0, got .* at tcp://"
    with pytest.raises(OptionError, match=sentence), dask(address):
        pass


def test_no_answer_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "ANSWER", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        for place in (f"tcp://127.0.0.1:{port}", "foo://bar:1", "nowhere"):
            with pytest.raises(OptionError, match=f"got '{place}'"), dask(place):
                pass


def test_a_cluster_without_workers_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(executors, "ANSWER", 2)
    options = {"n_workers": 0, "processes": False, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(**options, protocol="tcp") as bare,
        pytest.raises(OptionError, match="answers and has workers"),
        dask(bare.scheduler_address),
    ):
        pass


def test_without_distributed_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    sentence = r"pip install 'evenhand\[dask\]'"
    with pytest.raises(OptionError, match=sentence), dask("tcp://127.0.0.1:1"):
        pass


def test_workers_are_processes_here_or_those_of_a_cluster() -> None:
    assert cores() >= 1
    with pytest.raises(OptionError, match="must not be given with dask"):
        workers(2, "tcp://127.0.0.1:1")


def test_commands_run_on_a_cluster(address: str) -> None:
    words = ["simulate", "--reviewers", "5", "--trials", "1200", "--json"]

    def run(*more: str) -> str:
        result = CliRunner().invoke(cli, [*words, "--seed", "7", *more])
        assert result.exit_code == 0, result.output
        return result.stdout

    assert run("--dask", address) == run()
