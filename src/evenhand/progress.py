"""What long work is at, on a terminal or in a notebook, from two seconds on."""

from __future__ import annotations

import contextlib
import sys
import threading
from typing import TYPE_CHECKING

from evenhand.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.status import Status

    Say = Callable[..., None]

AFTER = 2.0
# One display for a process, so that work within work is shown once.
_shown = threading.Lock()
_watching: list[Callable[[str], None]] = []


def say(text: str, done: int = 0, total: int | None = None) -> None:
    """Tell whoever watches what is being done and, if known, how much of it is.

    Examples:
        >>> say("Counting")
    """
    counted = "" if total is None else f" ({done:,} of {total:,})"
    for tell in _watching:
        tell(f"{text}{counted}")


def announce(text: str) -> None:
    """Print one line to standard error, whoever watches.

    Examples:
        >>> announce("Pairs to go through: 12")
    """
    sys.stderr.write(f"{printable(text)}\n")


@contextlib.contextmanager
def working(what: str, after: float = AFTER) -> Iterator[Say]:
    """Show what is being done if it takes long and somebody watches.

    Yields:
        `say`.

    Examples:
        >>> with working("Counting") as say:
        ...     say("Counting on")
    """
    notebook = "ipykernel" in sys.modules
    if not (notebook or sys.stderr.isatty()) or not _shown.acquire(blocking=False):
        yield say
        return
    last = what
    displays: list[Status] = []

    def tell(text: str) -> None:
        nonlocal last
        last = printable(text)
        for one in displays:
            one.update(last)

    def start() -> None:
        if notebook:
            sys.stderr.write(f"{last} ...\n")
            return
        from rich.console import Console  # noqa: PLC0415 - only for long work

        screen = Console(stderr=True, markup=False, emoji=False, highlight=False)
        displays.append(screen.status(last))
        displays[0].start()

    timer = threading.Timer(after, start)
    timer.daemon = True
    timer.start()
    _watching.append(tell)
    try:
        yield say
    finally:
        timer.cancel()
        timer.join()
        _watching.clear()
        for one in displays:
            one.stop()
        _shown.release()
