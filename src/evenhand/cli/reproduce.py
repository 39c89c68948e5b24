"""`evenhand reproduce`: the paper's figures, exact beside simulated."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click

from evenhand.cli import _shared
from evenhand.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.table import Table

    from evenhand.lab.figures import Figure, Progress

NAMES = ("fig1", "fig2", "fig3", "all")
RULES = ("votes", "sign", "mean", "median")
RANKINGS = ("flips", "fair-coin", "mean-rank")


@click.command("reproduce")
@click.argument("figure", nargs=-1, type=_shared.Known(NAMES), metavar="[FIGURE]...")
@click.option(
    "-o",
    "--output",
    metavar="DIRECTORY",
    default="figures",
    show_default=True,
    help="Where to write JSON, CSV, PNG and SVG files; made if it is not there.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Repeat an earlier run. Without it a seed is drawn and printed.",
)
@click.option("--quick", is_flag=True, help="A small run, to see whether all works.")
def command(
    figure: tuple[str, ...], output: str, seed: int | None, *, quick: bool
) -> None:
    """Reproduce the paper's figures: fig1, fig2, fig3 or all.

    Numbers are exact wherever they can be, with simulated ones beside them, in runs as
    large as the paper's. Beside its curves stand fair coins on the same pairs, the
    order by posterior mean rank, the true maximum and the Pareto frontier.

    \b
    Example:
      evenhand reproduce all -o out/ --seed 7
    """
    from evenhand._randomness import seed_from
    from evenhand.lab.figures import FULL, QUICK, reproduce

    seed = seed_from(seed)
    with progress_bar() as progress:
        figures = reproduce(
            figure or ("all",),
            output,
            size=QUICK if quick else FULL,
            progress=progress,
            rng=seed,
        )
    _shared.deliver("\n".join(explain(one) for one in figures), None)
    click.echo(f"Numbers and charts are in {printable(output)}.", err=True)
    click.echo(f"seed {seed}", err=True)


@contextlib.contextmanager
def progress_bar() -> Iterator[Progress]:
    """Show on a terminal how far each figure is."""
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with _shared.progress_on(*columns) as bar:
        tasks = {}

        def tell(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=done)

        yield tell


def explain(figure: Figure) -> str:
    """Tell the numbers of a figure to people.

    Examples:
        >>> from evenhand.lab.figures import Size, reproduce
        >>> figure, = reproduce(["fig3"], size=Size(coins=100), rng=7)
        >>> "read off a plot" in explain(figure)
        True
    """
    if figure.name == "fig2":
        table, key = _ranking_table(figure), "pooled losses (mean over trials)"
    elif figure.name == "fig3":
        table, key = _trade_table(figure), "exact (simulated)"
    else:
        table, key = _rules_table(figure), "exact, or \u00b1 s.e. (simulated)"
    head = f"{figure.name}: {figure.title}\nImprovement in per cent: {key}"
    notes = [notice.message for notice in figure.notices]
    return _shared.rendered(head, table, *notes)


def _rules_table(figure: Figure) -> Table:
    table = _table(["reviewers", *RULES])
    for m in dict.fromkeys(row["m"] for row in figure.rows):
        rows = {row["method"]: row for row in figure.rows if row["m"] == m}
        cells = []
        for rule in RULES:
            row = rows[rule]
            known = f"{row['improvement']:.2f}"
            if not row["exact"]:
                known = f"{row['improvement']:.3f}\u00b1{row['se']:.3f}"
            cells.append(
                f"{known} ({row['simulated']:.1f}\u00b1{row['simulated_se']:.1f})"
            )
        table.add_row(str(m), *cells)
    return table


def _ranking_table(figure: Figure) -> Table:
    table = _table(["items", "reviewers", *RANKINGS])
    for n in dict.fromkeys(row["n"] for row in figure.rows):
        rows = {row["method"]: row for row in figure.rows if row["n"] == n}
        cells = []
        for method in RANKINGS:
            row = rows[method]
            known = " exact" if row["exact"] else f"\u00b1{row['se']:.2f}"
            each = row["improvement_mean_of_trials"]
            cells.append(f"{row['improvement']:.2f}{known} ({each:.2f})")
        table.add_row(str(n), str(rows["flips"]["m"]), *cells)
    return table


def _trade_table(figure: Figure) -> Table:
    table = _table(["gamma", "perfect calibration", "one biased reviewer"])
    for row in figure.rows:
        cells = [
            f"{row[name]:.4f} ({row[f'simulated_{name}']:.3f}"
            f"\u00b1{row[f'simulated_{name}_se']:.3f})"
            for name in ("perfect", "biased")
        ]
        table.add_row(f"2^{row['k']}", *cells)
    return table


def _table(columns: Sequence[str]) -> Table:
    from rich.table import Table

    table = Table()
    for column in columns:
        table.add_column(column, justify="right")
    return table
