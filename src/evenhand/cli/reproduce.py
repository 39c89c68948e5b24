"""`evenhand reproduce`: the paper's figures."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import click

from evenhand.cli import _shared
from evenhand.errors import printable

if TYPE_CHECKING:
    from evenhand.lab.figures import Figure

NAMES = ("fig1", "fig2", "fig3", "all")
KEYS = {"fig2": "pooled losses (mean over trials)", "fig3": "exact"}
SIDES = {"perfect calibration": "perfect", "one biased reviewer": "biased"}


@click.command("reproduce")
@click.argument("figure", nargs=-1, type=_shared.Known(NAMES), metavar="[FIGURE]...")
@_shared.option(
    "-o --output",
    "Where to write JSON, CSV, PNG and SVG files; made if it is not there.",
    "DIRECTORY",
    default="figures",
    show_default=True,
)
@_shared.seed_option
@_shared.option("--quick", "A small run, to see whether all works.", bool)
def command(
    figure: tuple[str, ...], output: str, seed: int | None, *, quick: bool
) -> None:
    """Reproduce the paper's figures: fig1, fig2, fig3 or all.

    Runs are as large as the paper's, with coins averaged out. Beside the curve of
    Figure 2 stand fair coins on the same pairs. Figure 3 is exact.

    \b
    Example:
      evenhand reproduce all -o out/ --seed 7
    """
    from evenhand.lab.figures import FULL, QUICK, reproduce
    from evenhand.randomness import seed_from

    seed = seed_from(seed)
    with _shared.working("figures"):
        figures = reproduce(
            figure or ("all",),
            output,
            size=QUICK if quick else FULL,
            rng=seed,
        )
    _shared.deliver("\n".join(explain(one) for one in figures), None)
    click.echo(f"Numbers and charts are in {printable(output)}.", err=True)
    click.echo(f"seed {seed}", err=True)


def explain(figure: Figure) -> str:
    """Tell the numbers of a figure to people.

    Examples:
        >>> from evenhand.lab.figures import reproduce
        >>> figure, = reproduce(["fig3"], rng=7)
        >>> "read off a plot" in explain(figure)
        True
    """
    columns: dict[str, list[str]] = defaultdict(list)
    for row in figure.rows:
        if figure.name == "fig3":
            columns["gamma"].append(f"2^{row['k']}")
            for heading, side in SIDES.items():
                columns[heading].append(f"{row[side]:.4f}")
            continue
        if row["method"] == figure.rows[0]["method"]:
            if "n" in row:
                columns["items"].append(str(row["n"]))
            columns["reviewers"].append(str(row["m"]))
        cell = f"{row['improvement']:.2f}\u00b1{row['se']:.2f}"
        if "n" in row:
            cell += f" ({row['improvement_mean_of_trials']:.2f})"
        columns[str(row["method"])].append(cell)
    key = KEYS.get(figure.name, "\u00b1 s.e.")
    head = f"{figure.name}: {figure.title}\nImprovement in per cent: {key}"
    notes = [notice.message for notice in figure.notices]
    return _shared.rendered(head, _shared.table(columns, left=()), *notes)
