"""`evenhand simulate`: methods against each other on a scenario."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from evenhand.cli import _shared
from evenhand.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.table import Table

    from evenhand.lab.results import Row, Simulation
    from evenhand.lab.scenario import Scenario

METHODS = {
    "compare": ("guarded", "votes", "mean", "median", "sign"),
    "rank": ("flips", "mean-rank", "safe"),
}
BASELINES = {"compare": "coin", "rank": "topological"}
NONE = "none"
COUNT = click.IntRange(min=1)


class Options(TypedDict):
    """What the command was told, apart from the scenario's file."""

    job: str | None
    items: int | None
    reviewers: int | None
    values: str | None
    scales: str | None
    noise: str | None
    design: str | None
    per_reviewer: int | None
    panels: int | None
    truth: str | None
    order: str | None
    method: tuple[str, ...]
    baseline: str | None
    loss: tuple[str, ...]
    weight: str | None
    trials: int
    error: float | None
    levels: str | None
    workers: int | None
    batch: int
    export: str | None
    chart: str | None
    seed: int | None
    as_json: bool
    output: str | None


@click.command("simulate")
@click.argument("scenario", metavar="[SCENARIO.toml]", required=False)
@click.option(
    "--job",
    type=_shared.Known(["compare", "rank"]),
    help="Two items or many.  [default: compare]",
)
@click.option("--items", type=COUNT, help="Number of items.")
@click.option("--reviewers", type=COUNT, help="Number of reviewers.")
@click.option(
    "--values",
    metavar="SPEC",
    help="uniform:LOW:HIGH, normal:MEAN:SD or given:1,2,3.",
)
@click.option(
    "--scales",
    metavar="SPEC",
    help="identity, one-biased, incremental, incremental-one-biased, affine, power, "
    "exponential, threshold, disjoint, piecewise, levels:K, adversary; several "
    "joined by '>'.  [default: affine]",
)
@click.option(
    "--noise",
    metavar="SPEC",
    help="none, normal:SD, discrete:V1,V2:P1,P2 or per-reviewer:LOW:HIGH.",
)
@click.option(
    "--design",
    metavar="NAME",
    help="halves, coins, matched or panels; to rank: pairs, balanced or everything.",
)
@click.option("--per-reviewer", type=COUNT, help="Items for each (balanced).")
@click.option("--panels", type=COUNT, help="Number of panels (panels).")
@click.option(
    "--truth",
    type=_shared.Known(["uniform", "arbitrary"]),
    help="All true rankings equally likely, or always the same.  [default: uniform]",
)
@click.option(
    "--order", metavar="3,1,2", help="The arbitrary true ranking, best first."
)
@click.option(
    "--method",
    multiple=True,
    metavar="NAME",
    help="A method, with options after a colon: median:lower, guarded:0.2 (eps); "
    "flips:3 and sorter:3 (score pairs), ties:0.5 (noise), safe:0.1 (eta), ties:raw "
    "(no anchors); repeatable.",
)
@click.option(
    "--baseline",
    metavar="NAME",
    help="Method to measure against, or none.  [default: coin or topological]",
)
@click.option(
    "--loss",
    multiple=True,
    metavar="NAME",
    help="zero-one, kendall, footrule or top-K; repeatable.",
)
@click.option("--weight", metavar="SPEC", help="How a gap in scores weighs.")
@click.option("--trials", type=int, default=10_000, show_default=True, help="At most.")
@click.option(
    "--error",
    type=float,
    help="Stop when no improvement has a larger standard error, in per cent.",
)
@click.option(
    "--levels",
    metavar="2,3,5",
    help="Repeat with scores on forms of so many marks.",
)
@click.option("--workers", type=COUNT, help="Processes.  [default: one for each core]")
@click.option(
    "--batch",
    type=COUNT,
    default=8,
    show_default=True,
    help="Blocks of 64 trials that a process takes at a time.",
)
@click.option(
    "--export",
    metavar="PATH",
    help="Write the ratings of one trial there as CSV, and the true values beside "
    "them.",
)
@click.option("--chart", metavar="PATH", help="Draw the result there, .png or .svg.")
@_shared.result_options
def command(scenario: str | None, **options: Unpack[Options]) -> None:
    """Try methods on a scenario, and show how far each beats a baseline.

    The scenario is given by options or by a TOML file with the same names as keys;
    options go first. All methods see the same data, and coins on pairs of items
    are averaged out exactly. The result does not depend on --workers or --batch.

    \b
    Example:
      evenhand simulate --reviewers 10 --scales one-biased --trials 1000 --seed 7
    """
    from evenhand._cores import cores
    from evenhand._randomness import seed_from
    from evenhand.lab.results import require_picture
    from evenhand.lab.simulation import simulate

    case = _scenario(scenario, options)
    seed = seed_from(options["seed"])
    if options["chart"] is not None:
        # Refused before the work, not after it.
        require_picture(Path(options["chart"]))
    _shared.check_output(options["output"])
    if options["export"] is not None:
        export(case, seed, options["export"])
    baseline = options["baseline"] or BASELINES[case.job]
    with _progress() as progress:
        result = simulate(
            case,
            options["method"] or METHODS[case.job],
            losses=options["loss"] or None,
            baseline=None if baseline == NONE else baseline,
            trials=options["trials"],
            error=options["error"],
            levels=_integers("levels", options["levels"]),
            weight=options["weight"],
            workers=options["workers"] or cores(),
            batch=options["batch"],
            rng=seed,
            progress=progress,
        )
    chart = options["chart"]
    files = [] if chart is None else [result.chart_output(chart)]
    as_json = options["as_json"]
    text = json.dumps(result.to_dict(), indent=2) if as_json else explain(result)
    _shared.deliver(text, options["output"], files)
    _shared.note(result.notices, result.seed)


def explain(result: Simulation) -> str:
    """Tell a simulation to people.

    Examples:
        >>> from evenhand.lab.scenario import Scenario
        >>> from evenhand.lab.simulation import simulate
        >>> print(explain(simulate(Scenario(), "mean", trials=64, rng=7)))
        ... # doctest: +ELLIPSIS
        ┏━...
    """
    baseline = result.parameters["baseline"]
    words = f"{result.trials:,} trials; ± is one standard error."
    if baseline is not None:
        words += f" Improvement is the share of {baseline}'s risk that is saved."
    if any(row.levels for row in result.rows):
        words += (
            " Ties: share of trials in which a reviewer gives equal scores to unequal "
            "items; they void guarantees of rankings, and strictness for two items."
        )
    return _shared.rendered(_table(result), words)


def export(scenario: Scenario, seed: int, path: str) -> None:
    """Write the ratings of the first trial, and the true values beside them."""
    import polars as pl

    from evenhand._outputs import Output
    from evenhand.lab.simulation import draw_ratings

    if not Path(path).name:
        raise OptionError(f"export must be the path of a file, got {path!r}.")
    ratings, truth = draw_ratings(scenario, rng=seed)
    file = Path(path)
    beside = str(file.with_name(f"{file.stem}_truth.csv"))
    values = pl.DataFrame({"item": list(truth), "value": list(truth.values())})
    written = ratings.to_frame().write_csv()
    _shared.deliver(written, path, [Output(beside, values.write_csv())])


def _scenario(file: str | None, options: Options) -> Scenario:
    from evenhand.lab.scenario import FIELDS, Scenario

    given: dict[str, object] = {
        name: value
        for name, value in options.items()
        if name in FIELDS and name not in ("order", "levels")
    }
    given["order"] = _integers("order", options["order"]) or None
    if file is None:
        return Scenario.from_options(**given)
    return Scenario.from_toml(file, **given)


def _integers(name: str, text: str | None) -> tuple[int, ...]:
    if text is None:
        return ()
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise OptionError(
            f"{name} must be integers joined by commas, got {text!r}."
        ) from None


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[int, int, float | None], None]]:
    """Show on a terminal how many trials are done, and the error so far."""
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} trials"),
        BarColumn(),
        TextColumn("{task.description}"),
        TimeRemainingColumn(),
    )
    with _shared.progress_on(*columns) as bar:
        task = bar.add_task("error ?", total=1)

        def show(done: int, wanted: int, error: float | None) -> None:
            words = "error ?" if error is None else f"error {error:.2g}"
            bar.update(task, completed=done, total=wanted, description=words)

        yield show


def _table(result: Simulation) -> Table:
    from rich.table import Table

    levels = any(row.levels for row in result.rows)
    baseline = result.parameters["baseline"] is not None
    table = Table()
    if levels:
        table.add_column("levels", justify="right")
    table.add_column("method", overflow="fold")
    table.add_column("loss")
    table.add_column("risk", justify="right")
    if baseline:
        table.add_column("improvement", justify="right")
    if levels:
        table.add_column("ties", justify="right")
        table.add_column("guarantee", overflow="fold")
    for row in result.rows:
        cells = [row.method, row.loss, _plus_minus(row.risk, row.se)]
        if baseline:
            cells.append(_gain(row))
        if levels:
            ties = f"{100 * row.ties:.3g} %"
            cells = [str(row.levels or ""), *cells, ties, row.certificate]
        table.add_row(*cells)
    return table


def _gain(row: Row) -> str:
    if row.improvement is None or row.improvement_se is None:
        return ""
    return f"{_plus_minus(row.improvement, row.improvement_se)} %"


def _plus_minus(value: float, error: float) -> str:
    """Show a number to the digits that its error leaves."""
    if error == 0:
        return f"{value:.4g}"
    places = max(0, 1 - int(f"{error:e}".partition("e")[2]))
    return f"{value:.{places}f} ± {error:.{places}f}"
