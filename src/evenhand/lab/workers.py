"""Work that is done piece by piece, in this process or in several, in order."""

from __future__ import annotations

import itertools
import multiprocessing
import pickle
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TypeAlias, TypeVar

from evenhand._cores import end_with
from evenhand.errors import OptionError

Result = TypeVar("Result")
Work: TypeAlias = Callable[[Sequence[int]], Iterator[Result]]

# Other processes take about this many seconds to start.
WORTH_SECONDS = 3.0
# So many pieces tell how long a run will take, or one in so many of a short run.
TIMED, SHARE = 16, 8
AHEAD = 2
PAUSE = 0.2


def in_order(
    work: Work[Result], pieces: Sequence[int], *, workers: int, batch: int
) -> Generator[Result, None, None]:
    """Do all pieces, in several processes if that is worth it.

    Args:
        work: From numbers of pieces to the result of each.
        pieces: Numbers of the pieces.
        workers: Number of processes.
        batch: How many pieces a process takes at a time.

    Yields:
        The result of each piece, in their order.

    Raises:
        OptionError: If other processes cannot be started.

    Examples:
        >>> list(in_order(reversed, range(4), workers=1, batch=1))
        [3, 2, 1, 0]
    """
    if workers > 1:
        # The first piece may import; some others tell how long the rest will take.
        yield from work(pieces[:1])
        timed = pieces[1 : 2 + min(TIMED, len(pieces) // SHARE)]
        pieces = pieces[1 + len(timed) :]
        begun = time.perf_counter()
        yield from work(timed)
        seconds = (time.perf_counter() - begun) / max(1, len(timed)) * len(pieces)
        if seconds > WORTH_SECONDS and _can_travel(work):
            yield from _in_processes(work, pieces, workers, batch)
            return
    yield from work(pieces)


def _can_travel(work: Work[Result]) -> bool:
    """Say whether work can be sent to another process.

    A fresh process begins with this one's main file, which a program that is read from
    standard input does not have.
    """
    main = getattr(sys.modules["__main__"], "__file__", None)
    if main is not None and not Path(main).exists():
        return False
    try:
        pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


def _in_processes(
    work: Work[Result], pieces: Sequence[int], workers: int, batch: int
) -> Iterator[Result]:
    # Fresh processes: forking one that has threads, as polars has, may hang.
    context = multiprocessing.get_context("spawn")
    theirs, ours = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(
        workers, mp_context=context, initializer=end_with, initargs=(theirs,)
    )
    starts, waiting = iter(range(0, len(pieces), batch)), deque[Future[list[Result]]]()
    try:
        while True:
            for start in itertools.islice(starts, AHEAD * workers - len(waiting)):
                part = pieces[start : start + batch]
                waiting.append(pool.submit(_do_all, work, part))
            if not waiting:
                return
            # An interrupt is seen between waits: polars has waits themselves go on.
            while wait([waiting[0]], PAUSE).not_done:
                pass
            yield from waiting.popleft().result()
    except BrokenProcessPool as error:
        raise OptionError(
            "workers must be 1 here, as other processes could not be started. In a "
            "script, put the call under `if __name__ == '__main__':`."
        ) from error
    finally:
        ours.close()  # which ends them, whatever they are at
        pool.shutdown(wait=True, cancel_futures=True)
        theirs.close()


def _do_all(work: Work[Result], pieces: Sequence[int]) -> list[Result]:
    return list(work(pieces))
