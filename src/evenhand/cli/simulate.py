"""`evenhand simulate`: methods against each other on a scenario."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli import _shared
from evenhand.cli._shared import COUNT, option
from evenhand.errors import OptionError

if TYPE_CHECKING:
    from rich.table import Table

    from evenhand.lab.scenario import Scenario
    from evenhand.lab.simulation import Row, Simulation

METHODS = {
    "compare": ("guarded", "votes", "mean", "median", "sign"),
    "rank": ("flips", "mean-rank", "safe"),
}
BASELINES = {"compare": "coin", "rank": "topological"}
NONE = "none"


@click.command("simulate")
@option("--job", "Two items or many.  [default: compare]", ["compare", "rank"])
@option("--items", "Number of items.", COUNT)
@option("--reviewers", "Number of reviewers.", COUNT)
@option("--values", "uniform:LOW:HIGH or normal:MEAN:SD.", "SPEC")
@option(
    "--scales",
    "identity, one-biased, incremental, incremental-one-biased, bias, affine, power, "
    "disjoint, levels:K:LOW:HIGH, adversary; several joined by '>'.  "
    "[default: affine]",
    "SPEC",
)
@option("--noise", "none, normal:SD or per-reviewer:LOW:HIGH.", "SPEC")
@option(
    "--design",
    "halves, coins, matched or panels; to rank: pairs, balanced or everything.",
    "NAME",
)
@option("--per-reviewer", "Items for each (balanced).", COUNT)
@option("--panels", "Number of panels (panels).", COUNT)
@option(
    "--method",
    "A method, with its own options in brackets, such as 'guarded(eps=0.2)' or "
    "'safe(noise=1)'; `evenhand methods` lists them; repeatable.",
    "TEXT",
    multiple=True,
)
@option(
    "--baseline",
    "Method to measure against, or none.  [default: coin or topological]",
    "NAME",
)
@option(
    "--loss", "zero-one, kendall, footrule or top-K; repeatable.", "NAME", multiple=True
)
@option("--trials", "How many.", default=10_000, show_default=True)
@_shared.workers_option
@_shared.dask_option
@option(
    "--export",
    "Write the ratings of one trial there as CSV, and the true values beside them.",
    "PATH",
)
@_shared.result_options
def command(**options: Any) -> None:  # noqa: ANN401 - click's values
    """Try methods on a scenario, and show how far each beats a baseline.

    All methods see the same data; coins between two items are averaged out exactly. The
    result does not depend on --workers.

    \b
    Example:
      evenhand simulate --reviewers 10 --scales one-biased --trials 1000 --seed 7
    """
    from evenhand.engines.executors import workers
    from evenhand.lab.scenario import FIELDS, Scenario
    from evenhand.lab.simulation import simulate
    from evenhand.randomness import seed_from

    given = {name: options.get(name) for name in FIELDS}
    case = Scenario(**{name: one for name, one in given.items() if one is not None})
    seed = seed_from(options["seed"])
    _shared.check_output(options["output"])
    if options["export"] is not None:
        export(case, seed, options["export"])
    baseline = options["baseline"] or BASELINES[case.job]
    with workers(options["workers"], options["dask"]) as executor:
        result = simulate(
            case,
            options["method"] or METHODS[case.job],
            losses=options["loss"] or None,
            baseline=None if baseline == NONE else baseline,
            trials=options["trials"],
            executor=executor,
            rng=seed,
        )
    document = json.dumps(result.to_dict(), indent=2) if options["as_json"] else None
    _shared.deliver(document or explain(result), options["output"])
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


def _table(result: Simulation) -> Table:
    rows = result.rows
    columns = {
        "method": [row.method for row in rows],
        "loss": [row.loss for row in rows],
        "risk": [_plus_minus(row.risk, row.se) for row in rows],
    }
    if result.parameters["baseline"] is not None:
        columns["improvement"] = [_gain(row) for row in rows]
    return _shared.table(columns, left=("method", "loss"))


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
