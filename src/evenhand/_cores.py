"""How many cores there are to run on, and workers that end with their parent."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


def cores() -> int:
    """Return the number of cores that this process may use.

    Examples:
        >>> cores() >= 1
        True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
