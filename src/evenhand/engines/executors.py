"""Where the parts of long work run: here, in other processes or on a cluster.

Parts do not depend on each other, so the result is the same for any executor, number of
workers and batch size. An engine that runs lost parts again, as Dask does, changes
nothing. A pool belongs to whoever made it: here it is never shut down, only our own
futures are cancelled.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections import deque
from concurrent.futures import BrokenExecutor, CancelledError, Executor, wait
from importlib import metadata
from importlib.util import find_spec
from pickle import PicklingError
from typing import TYPE_CHECKING, TypeVar

from evenhand.claims import version
from evenhand.errors import OptionError, quote
from evenhand.lazy import lazy

if TYPE_CHECKING:
    import asyncio
    from collections.abc import (
        Callable,
        Generator,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )
    from concurrent.futures import Future

    import distributed

    from evenhand.engines import pool
else:
    asyncio, distributed = lazy("asyncio"), lazy("distributed")
    pool = lazy("evenhand.engines.pool")

Part = TypeVar("Part")
Result = TypeVar("Result")

# Batches that are sent before the first has come back.
AHEAD = 256
# Seconds between looks at the keyboard during a wait: an interrupt that comes
# just before it begins, or reaches another thread, does not end it.
LISTEN = 0.5
# Seconds that a cluster has to answer, and again to show a worker.
ANSWER = 4
KILLED = (
    "A worker was killed, most likely because memory ran out. Use fewer workers, or a "
    "machine with more memory."
)


def require_executor(executor: object) -> None:
    """Refuse what is not an executor.

    Raises:
        OptionError: If it is neither None nor an Executor.

    Examples:
        >>> require_executor(None)
    """
    if executor is not None and not isinstance(executor, Executor):
        raise OptionError(f"executor must be an Executor, got {quote(executor)}.")


def run_parts(
    work: Callable[[Part], Result],
    parts: Iterable[Part],
    executor: Executor | None = None,
    *,
    batch: int = 1,
) -> Generator[Result]:
    """Yield the results of parts in their order.

    Args:
        work: What is done with a part.
        parts: The parts, in any number.
        executor: What runs them; None for here.
        batch: How many parts travel together.

    Raises:
        OptionError: If a worker was killed, has another version of evenhand, or cannot
            be sent the work.

    Examples:
        >>> list(run_parts(abs, [-1, 2, -3]))
        [1, 2, 3]
    """
    if executor is None:
        yield from map(work, parts)
        return
    remaining: Iterator[Part] = iter(parts)
    sent: deque[Future[list[Result]]] = deque()
    try:
        while portion := tuple(itertools.islice(remaining, batch)):
            sent.append(executor.submit(run_batch, version(), work, portion))
            if len(sent) == AHEAD:
                yield from _await_batch(sent[0])
                sent.popleft()
        while sent:
            yield from _await_batch(sent[0])
            sent.popleft()
    except BrokenExecutor as error:
        raise OptionError(KILLED) from error
    except (PicklingError, AttributeError, TypeError, ImportError) as error:
        raise _travel_error(error) from error
    finally:
        for future in sent:
            future.cancel()


def _await_batch(batch: Future[list[Result]]) -> list[Result]:
    while not wait([batch], timeout=LISTEN).done:
        pass
    return batch.result()


def run_batch(
    wanted: str, work: Callable[[Part], Result], parts: Sequence[Part]
) -> list[Result]:
    """Run some parts where the executor put them.

    Raises:
        OptionError: If there is another version of evenhand.

    Examples:
        >>> run_batch(version(), abs, [-1, 2])
        [1, 2]
    """
    if version() != wanted:
        raise OptionError(f"workers must have evenhand {wanted}, got {version()}.")
    return [work(part) for part in parts]


def _travel_error(error: Exception) -> Exception:
    """Say in words why work did not arrive; other errors stay as they are."""
    if isinstance(error, ImportError) and (error.name or "").startswith("evenhand"):
        return OptionError(f"workers must have evenhand {version()}, got {error}.")
    if "pickle" in str(error):
        return OptionError(
            f"functions must be defined in a module to run in other processes: {error}."
        )
    return error


def cores() -> int:
    """Return the number of cores that this process may use.

    Examples:
        >>> cores() >= 1
        True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def workers(
    count: int | None, address: str | None = None
) -> contextlib.AbstractContextManager[Executor | None]:
    """Choose an executor: a cluster by its address, or processes on this machine.

    Args:
        count: Number of processes, one for each core if None.
        address: Address of a Dask scheduler.

    Raises:
        OptionError: If both are given.

    Examples:
        >>> with workers(1) as executor:
        ...     print(executor)
        None
    """
    if address is None:
        return processes(count or cores())
    if count is not None:
        raise OptionError("workers must not be given with dask: the cluster has them.")
    return dask(address)


@contextlib.contextmanager
def processes(count: int) -> Iterator[Executor | None]:
    """Give some processes to run in, or None for one; they end with the block.

    Examples:
        >>> with processes(1) as executor:
        ...     print(executor)
        None
    """
    if count == 1:
        yield None
        return
    workers = pool.Pool(count)
    try:
        yield workers
    finally:
        workers.end()


@contextlib.contextmanager
def dask(address: str) -> Iterator[Executor]:
    """Give the workers of a Dask cluster; it stays as it is when the block ends.

    Args:
        address: Address of the scheduler, such as "tcp://10.0.0.7:8786".

    Raises:
        OptionError: If distributed is not installed, the cluster does not answer or has
            no workers, one of them has another evenhand or none, or work is lost.
    """
    if find_spec("distributed") is None:
        raise OptionError(
            "dask needs the package distributed: pip install 'evenhand[dask]'."
        )
    silent = OptionError(
        f"dask must be the address of a cluster that answers and has workers, got "
        f"{address!r}."
    )
    with contextlib.ExitStack() as stack:
        try:
            # A client would wait for ever for a server that is not a scheduler.
            asyncio.run(asyncio.wait_for(_identity(address), ANSWER))
            client = distributed.Client(address, timeout=ANSWER, set_as_default=False)
            stack.enter_context(client)
            client.wait_for_workers(1, timeout=ANSWER)
        except (OSError, TimeoutError, ValueError, TypeError) as error:
            raise silent from error
        versions = client.run(metadata.version, "evenhand", on_error="return")
        _require_version({place: str(answer) for place, answer in versions.items()})
        try:
            yield client.get_executor(pure=False)
        except distributed.KilledWorker as error:
            raise OptionError(KILLED) from error
        except CancelledError as error:
            raise silent from error


async def _identity(address: str) -> object:
    async with distributed.rpc(address) as server:
        return await server.identity()


def _require_version(versions: Mapping[str, str]) -> None:
    for place, installed in versions.items():
        if installed != version():
            raise OptionError(
                f"workers must have evenhand {version()}, got {installed!r} at {place}."
            )
