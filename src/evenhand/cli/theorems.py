"""`evenhand theorems`: every theorem checked on this machine."""

from __future__ import annotations

import json
import sys
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli import _shared

if TYPE_CHECKING:
    from fractions import Fraction

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
@_shared.workers_option
@_shared.dask_option
@_shared.result_options
def command(*, quick: bool, **options: Any) -> None:  # noqa: ANN401 - click's values
    """Check every theorem and lemma of the paper.

    Each row says what was checked, how, and the smallest margin found: how much more
    often the method is right, or how much closer it is, than what it must beat. Rows
    that begin with "Can fail" show that the search finds failures where there are
    some. Exit code 1 if a claim does not hold.

    \b
    Example:
      evenhand theorems --quick --seed 7
    """
    from evenhand.engines import executors
    from evenhand.lab import theorems

    _shared.check_output(options["output"])
    chosen = executors.workers(options["workers"], options["dask"])
    with _shared.working("theorems"), chosen as executor:
        found = theorems.check_theorems(
            quick=quick,
            executor=executor,
            rng=options["seed"],
        )
    if options["as_json"]:
        text = json.dumps(found.to_dict(), indent=2)
    else:
        text = _shared.rendered(_table(found), _verdict(found))
    _shared.deliver(text, options["output"])
    _shared.note((), found.seed)
    if not found.holds:
        sys.exit(1)


def _table(found: Theorems) -> Table:
    columns = {
        "": [HOLDS if row.holds else FAILS for row in found.rows],
        "claim": [fill(row.name, 18) for row in found.rows],
        "what was checked": [row.check for row in found.rows],
        "how": [fill(row.how, 14) for row in found.rows],
        "smallest margin": [_margin(row.margin) for row in found.rows],
    }
    lines = range(1, len(found.rows))
    return _shared.table(columns, left=list(columns)[:-1], lines=lines)


def _margin(margin: Fraction) -> str:
    from evenhand.lab.theorems import brief

    short, decimal = str(brief(margin)), f"{float(margin):.3g}"
    if brief(margin) != margin or len(short) > LONGEST or short == decimal:
        return decimal
    return f"{short}\n{decimal}"


def _verdict(found: Theorems) -> str:
    failing = [row.name for row in found.rows if not row.holds]
    if not failing:
        return f"All {len(found.rows)} claims hold."
    return f"{len(failing)} of {len(found.rows)} claims fail: {', '.join(failing)}."
