"""What long work is at, on a terminal or in a notebook, from two seconds on."""

from __future__ import annotations

import contextlib
import sys
import threading
from typing import TYPE_CHECKING

from evenhand.errors import printable
from evenhand.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich import console as consoles
    from rich import progress as bars

    Say = Callable[..., None]
else:
    consoles, bars = lazy("rich.console"), lazy("rich.progress")

AFTER = 2.0
# One display for a process, so that work within work is shown once.
_shown = threading.Lock()
_watching: list[Say] = []


def say(text: str, done: int | None = None, total: int | None = None) -> None:
    """Tell whoever watches what is being done and, if known, how much of it is.

    Examples:
        >>> say("Counting")
    """
    for tell in _watching:
        tell(text, done, total)


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
    last: tuple[str, int | None, int | None] = (what, None, None)
    displays: list[bars.Progress] = []

    def tell(text: str, done: int | None, total: int | None) -> None:
        nonlocal last
        last = (text, done, total)
        for display in displays:
            description = printable(text)
            display.update(
                display.task_ids[0],
                description=description,
                completed=done,
                total=total,
            )

    def start() -> None:
        if notebook:
            sys.stderr.write(f"{last[0]} ...\n")
        else:
            displays.append(_display())
            tell(*last)

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
        for display in displays:
            display.stop()
        _shown.release()


def _display() -> bars.Progress:
    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.TimeElapsedColumn(),
    )
    console = consoles.Console(stderr=True, markup=False, emoji=False, highlight=False)
    display = bars.Progress(*columns, console=console, transient=True)
    display.add_task("", total=None)
    display.start()
    return display
