"""`evenhand theorems`: every theorem checked on this machine."""

from __future__ import annotations

import contextlib
import json
import sys
from typing import TYPE_CHECKING

import click

from evenhand.cli import _shared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.table import Table

    from evenhand.lab.theorems import Theorems

HOLDS, FAILS = "✓", "✗"
LONGEST = 24


@click.command("theorems")
@click.option(
    "--quick/--full",
    default=False,
    help="A small search of half a minute at most, or one of some minutes.  "
    "[default: full]",
)
@_shared.result_options
def command(
    *, quick: bool, seed: int | None, as_json: bool, output: str | None
) -> None:
    """Check every theorem and lemma of the paper.

    Each row says what was checked, how, and the smallest margin found: how much more
    often the method is right, or how much closer it is, than what it must beat. Rows
    that begin with "Can fail" show that the search finds failures where there are
    some. Exit code 1 if a claim does not hold.

    \b
    Example:
      evenhand theorems --quick --seed 7
    """
    from evenhand.lab import theorems

    _shared.check_output(output)
    with _bar() as progress:
        found = theorems.check_theorems(quick=quick, progress=progress, rng=seed)
    if as_json:
        text = json.dumps(found.to_dict(), indent=2)
    else:
        text = _shared.rendered(_table(found), _verdict(found))
    _shared.deliver(text, output)
    _shared.note((), found.seed)
    if not found.holds:
        sys.exit(1)


@contextlib.contextmanager
def _bar() -> Iterator[Callable[[int, int, str], None]]:
    """Show on a terminal how many claims are done, and which is next."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    words = TextColumn("{task.description}")
    with _shared.progress_on(*columns, words) as progress:
        task = progress.add_task("", total=None)

        def moved(done: int, total: int, name: str) -> None:
            progress.update(task, completed=done, total=total, description=name)

        yield moved


def _table(found: Theorems) -> Table:
    from rich.table import Table

    from evenhand.lab.polynomial import brief

    table = Table(show_lines=True)
    table.add_column("")
    table.add_column("claim", max_width=18)
    table.add_column("what was checked", overflow="fold")
    table.add_column("how", max_width=14)
    table.add_column("smallest margin", justify="right", no_wrap=True)
    for row in found.rows:
        fraction = str(brief(row.margin))
        decimal = f"{float(row.margin):.3g}"
        exact = brief(row.margin) == row.margin and len(fraction) <= LONGEST
        table.add_row(
            HOLDS if row.holds else FAILS,
            row.name,
            row.check,
            row.how,
            f"{fraction}\n{decimal}" if exact and fraction != decimal else decimal,
        )
    return table


def _verdict(found: Theorems) -> str:
    failing = [row.name for row in found.rows if not row.holds]
    if not failing:
        return f"All {len(found.rows)} claims hold."
    return f"{len(failing)} of {len(found.rows)} claims fail: {', '.join(failing)}."
