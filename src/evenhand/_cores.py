"""How many cores there are to run on, and work done on all of them."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection

Result = TypeVar("Result")


def cores() -> int:
    """Return the number of cores that this process may use.

    Examples:
        >>> cores() >= 1
        True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def beside(work: Sequence[Callable[[], Result]], *, worth: bool = True) -> list[Result]:
    """Do pieces of work that do not need each other, on as many threads as cores.

    Args:
        work: The pieces.
        worth: Whether they are worth threads: a millisecond or more, spent in kernels.

    Returns:
        What each piece returns, in their order.

    Examples:
        >>> beside([lambda: "a", lambda: "b"])
        ['a', 'b']
    """
    threads = min(cores(), len(work)) if worth else 1
    if threads <= 1:
        return [piece() for piece in work]
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - only for much work

    with ThreadPoolExecutor(threads) as pool:
        return [done.result() for done in [pool.submit(piece) for piece in work]]


def end_with(parent: Connection) -> None:
    """Let a worker process end as soon as its parent closes its side, or is gone.

    It stands here, where little is imported, so that a worker can end while it starts.
    The keyboard interrupts all processes; workers leave that to their parent.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        with contextlib.suppress(EOFError, OSError):
            parent.recv_bytes()
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
