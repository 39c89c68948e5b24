"""`evenhand reproduce`: the paper's figures, exact beside simulated."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import click

from evenhand.cli import _shared
from evenhand.errors import printable

if TYPE_CHECKING:
    from evenhand.lab.curves import Figure, Row

NAMES = ("fig1", "fig2", "fig3", "all")
KEYS = {"fig2": "pooled losses (mean over trials)", "fig3": "exact (simulated)"}
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

    Numbers are exact wherever they can be, with simulated ones beside them, in runs as
    large as the paper's. Beside its curves stand fair coins on the same pairs, the
    order by posterior mean rank, the true maximum and the Pareto frontier.

    \b
    Example:
      evenhand reproduce all -o out/ --seed 7
    """
    from evenhand.lab.figures import FULL, QUICK, reproduce
    from evenhand.randomness import seed_from

    seed = seed_from(seed)
    with _shared.working("figures") as say:
        figures = reproduce(
            figure or ("all",),
            output,
            size=QUICK if quick else FULL,
            progress=say,
            rng=seed,
        )
    _shared.deliver("\n".join(explain(one) for one in figures), None)
    click.echo(f"Numbers and charts are in {printable(output)}.", err=True)
    click.echo(f"seed {seed}", err=True)


def explain(figure: Figure) -> str:
    """Tell the numbers of a figure to people.

    Examples:
        >>> from evenhand.lab.figures import Size, reproduce
        >>> figure, = reproduce(["fig3"], size=Size(coins=100), rng=7)
        >>> "read off a plot" in explain(figure)
        True
    """
    columns: dict[str, list[str]] = defaultdict(list)
    for row in figure.rows:
        if figure.name == "fig3":
            columns["gamma"].append(f"2^{row['k']}")
            for heading, side in SIDES.items():
                trial, se = row[f"simulated_{side}"], row[f"simulated_{side}_se"]
                columns[heading].append(f"{row[side]:.4f} ({trial:.3f}\u00b1{se:.3f})")
            continue
        if row["method"] == figure.rows[0]["method"]:
            if "n" in row:
                columns["items"].append(str(row["n"]))
            columns["reviewers"].append(str(row["m"]))
        cell = _ranking if "n" in row else _rule
        columns[str(row["method"])].append(cell(row))
    key = KEYS.get(figure.name, "exact, or \u00b1 s.e. (simulated)")
    head = f"{figure.name}: {figure.title}\nImprovement in per cent: {key}"
    notes = [notice.message for notice in figure.notices]
    return _shared.rendered(head, _shared.table(columns, left=()), *notes)


def _rule(row: Row) -> str:
    known = f"{row['improvement']:.2f}"
    if not row["exact"]:
        known = f"{row['improvement']:.3f}\u00b1{row['se']:.3f}"
    return f"{known} ({row['simulated']:.1f}\u00b1{row['simulated_se']:.1f})"


def _ranking(row: Row) -> str:
    known = " exact" if row["exact"] else f"\u00b1{row['se']:.2f}"
    return f"{row['improvement']:.2f}{known} ({row['improvement_mean_of_trials']:.2f})"
