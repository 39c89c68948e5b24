"""The study commands: `evenhand simulate`, `reproduce`, `theorems` and `methods`."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli import _options, _shared
from evenhand.cli._options import COUNT, option
from evenhand.errors import OptionError, printable, unknown

if TYPE_CHECKING:
    from rich.console import RenderableType

    from evenhand._outputs import Output
    from evenhand.lab.figures import Figure
    from evenhand.lab.scenario import Scenario
    from evenhand.lab.simulation import Simulation
    from evenhand.lab.theorems import Theorems
    from evenhand.method import Method
    from evenhand.words.tables import Table

METHODS = {
    "compare": ("guarded", "votes", "mean", "median", "sign"),
    "rank": ("flips", "mean-rank", "safe"),
}
BASELINES = {"compare": "coin", "rank": "topological"}
NONE = "none"
FIGURES = ("fig1", "fig2", "fig3", "all")
KEYS = {"fig2": "pooled losses (mean over trials)", "fig3": "exact"}
TITLES = {"compare": "Two items", "rank": "Many items"}


@click.command("simulate")
@option("--job", "Two items or many.  [default: compare]", ["compare", "rank"])
@option("--items", "Number of items.", COUNT)
@option("--reviewers", "Number of reviewers.", COUNT)
@option("--values SPEC", "uniform:LOW:HIGH or normal:MEAN:SD.")
@option(
    "--scales SPEC",
    "identity, one-biased, incremental, incremental-one-biased, bias, affine, power, "
    "disjoint, levels:K:LOW:HIGH, adversary; several joined by '>'.  "
    "[default: affine]",
)
@option("--noise SPEC", "none, normal:SD or per-reviewer:LOW:HIGH.")
@option(
    "--design NAME",
    "halves, coins, matched or panels; to rank: pairs, balanced or everything.",
)
@option("--per-reviewer", "Items for each (balanced).", COUNT)
@option("--panels", "Number of panels (panels).", COUNT)
@option(
    "--method TEXT...",
    "A method, with its own options in brackets, such as 'guarded(eps=0.2)' or "
    "'safe(noise=1)'; `evenhand methods` lists them.",
)
@option(
    "--baseline NAME",
    "Method to measure against, or none.  [default: coin or topological]",
)
@option("--loss NAME...", "zero-one, kendall, footrule or top-K.")
@option("--trials", "How many.", default=10_000, show_default=True)
@_options.cluster_options
@option(
    "--export PATH",
    "Write the ratings of one trial there as CSV, and the true values beside them.",
)
@_options.result_options
def simulate(**options: Any) -> None:  # noqa: ANN401 - click's values
    """Try methods on a scenario, and show how far each beats a baseline.

    All methods see the same data; coins between two items are averaged out exactly. The
    result does not depend on --workers.

    \b
    Example:
      evenhand simulate --reviewers 10 --scales one-biased --trials 1000 --seed 7
    """
    from evenhand.engines.executors import workers
    from evenhand.lab import simulation
    from evenhand.lab.scenario import FIELDS, Scenario
    from evenhand.randomness import seed_from

    given = {name: options.get(name) for name in FIELDS}
    case = Scenario(**{name: one for name, one in given.items() if one is not None})
    seed = seed_from(options["seed"])
    _shared.check_paths({f"--{it}": options[it] for it in ("output", "export")}, {})
    files = [] if options["export"] is None else _trial(case, seed, options["export"])
    baseline = options["baseline"] or BASELINES[case.job]
    with workers(options["workers"], options["dask"]) as executor:
        result = simulation.simulate(
            case,
            options["method"] or METHODS[case.job],
            losses=options["loss"] or None,
            baseline=None if baseline == NONE else baseline,
            trials=options["trials"],
            executor=executor,
            rng=seed,
        )
    _shared.show(result.to_dict(), lambda: _improvements(result), options, files)
    _shared.note(result.notices, result.seed)


def _improvements(result: Simulation) -> str:
    """Tell a simulation to people."""
    rows, baseline = result.rows, result.parameters["baseline"]
    columns = {
        "method": [row.method for row in rows],
        "loss": [row.loss for row in rows],
        "risk": [_plus_minus(row.risk, row.se) for row in rows],
    }
    words = f"{result.trials:,} trials; ± is one standard error."
    if baseline is not None:
        words += f" Improvement is the share of {baseline}'s risk that is saved."
        gains = [_plus_minus(row.improvement, row.improvement_se) for row in rows]
        columns["improvement"] = [f"{gain} %" if gain else "" for gain in gains]
    return _shared.rendered(_shared.columns(columns, left=("method", "loss")), words)


def _plus_minus(value: float | None, error: float | None) -> str:
    """Show a number to the digits that its error leaves."""
    if value is None or error is None:
        return ""
    if error == 0:
        return f"{value:.4g}"
    places = max(0, 1 - int(f"{error:e}".partition("e")[2]))
    return f"{value:.{places}f} ± {error:.{places}f}"


def _trial(scenario: Scenario, seed: int, path: str) -> list[Output]:
    """Return the ratings of the first trial, and the true values beside them."""
    import polars as pl

    from evenhand._outputs import Output
    from evenhand.lab.simulation import draw_ratings

    ratings, truth = draw_ratings(scenario, rng=seed)
    beside = Path(path).with_name(f"{Path(path).stem}_truth.csv")
    values = pl.DataFrame({"item": list(truth), "value": list(truth.values())})
    written = ratings.to_frame().write_csv()
    return [Output(path, written), Output(str(beside), values.write_csv())]


@click.command("reproduce")
@click.argument("figure", nargs=-1, type=_options.Known(FIGURES), metavar="[FIGURE]...")
@option(
    "-o --output DIRECTORY",
    "Where to write JSON, CSV, PNG and SVG files; made if it is not there.",
    default="figures",
    show_default=True,
)
@_options.seed_option
@option("--quick", "A small run, to see whether all works.")
def reproduce(
    figure: tuple[str, ...], output: str, seed: int | None, *, quick: bool
) -> None:
    """Reproduce the paper's figures: fig1, fig2, fig3 or all.

    Runs are as large as the paper's, with coins averaged out. Beside the curve of
    Figure 2 stand fair coins on the same pairs. Figure 3 is exact.

    \b
    Example:
      evenhand reproduce all -o out/ --seed 7
    """
    from evenhand.lab import figures
    from evenhand.randomness import seed_from

    seed = seed_from(seed)
    size = figures.QUICK if quick else figures.FULL
    with _shared.working("figures"):
        made = figures.reproduce(figure or ("all",), output, size=size, rng=seed)
    _shared.deliver("\n".join(map(_numbers, made)), None)
    click.echo(f"Numbers and charts are in {printable(output)}.", err=True)
    _shared.note((), seed)


def _numbers(figure: Figure) -> str:
    """Tell the numbers of a figure to people."""
    columns: dict[str, list[str]] = defaultdict(list)
    for row in figure.rows:
        if figure.name == "fig3":
            for name in ("gamma", "perfect", "biased"):
                columns[name].append(f"{row[name]:.6g}")
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
    return _shared.rendered(head, _shared.columns(columns, left=()), *notes)


@click.command("theorems")
@option(
    "--quick/--full",
    "A small search of half a minute at most, or one of some minutes.  [default: full]",
    default=False,
)
@_options.cluster_options
@_options.result_options
def theorems(*, quick: bool, **options: Any) -> None:  # noqa: ANN401 - click's values
    """Check every theorem and lemma of the paper.

    Each row says what was checked, how, and the smallest margin found: how much more
    often the method is right, or how much closer it is, than what it must beat. Rows
    that begin with "Can fail" show that the search finds failures where there are
    some. Exit code 1 if a claim does not hold.

    \b
    Example:
      evenhand theorems --quick --seed 7
    """
    from evenhand.engines.executors import workers
    from evenhand.lab.theorems import check_theorems

    _shared.check_paths({"--output": options["output"]}, {})
    chosen, seed = workers(options["workers"], options["dask"]), options["seed"]
    with _shared.working("theorems"), chosen as executor:
        found = check_theorems(quick=quick, executor=executor, rng=seed)
    _shared.show(found.to_dict(), lambda: _claims(found), options)
    _shared.note((), found.seed)
    if not found.holds:
        sys.exit(1)


def _claims(found: Theorems) -> str:
    """Tell what was checked to people."""
    rows = found.rows
    columns = {
        "": ["✓" if row.holds else "✗" for row in rows],
        "claim": [fill(row.name, 18) for row in rows],
        "what was checked": [row.check for row in rows],
        "how": [fill(row.how, 14) for row in rows],
        "smallest margin": [f"{float(row.margin):.3g}" for row in rows],
    }
    failing = [row.name for row in rows if not row.holds]
    verdict = f"All {len(rows)} claims hold."
    if failing:
        verdict = f"{len(failing)} of {len(rows)} claims fail: {', '.join(failing)}."
    made = _shared.columns(columns, left=list(columns)[:-1])
    lined = [row._replace(line="edge") for row in made.rows]
    return _shared.rendered(made._replace(rows=tuple(lined)), verdict)


@click.command("methods")
@click.argument("name", metavar="[NAME]", required=False)
@option("--json as_json", "Print JSON.")
def methods(name: str | None, *, as_json: bool) -> None:
    """List the methods, or show one with its options, assumptions and best claim.

    \b
    Example:
      evenhand methods
      evenhand methods flips
    """
    from evenhand import method

    known = method.methods()
    chosen = [one for one in known if name in (None, one.name)]
    if not chosen:
        raise OptionError(unknown("method", name, {one.name: 1 for one in known}))
    rows = [one.describe() for one in chosen]
    document = {"schema": "evenhand.methods/1", "methods": rows}
    shown = _overview if name is None else lambda them: "\n".join(map(_page, them))
    _shared.show(document, lambda: shown(chosen), {"as_json": as_json, "output": None})


def _overview(chosen: list[type[Method]]) -> str:
    """List methods by their job."""
    parts: list[str | Table] = []
    for job, title in TITLES.items():
        ours = [one for one in chosen if one.job == job]
        columns = {
            "method": [f"{one.name}{' (default)' * one.default}" for one in ours],
            "what it does": [one.summary() for one in ours],
            "best claim": [one.best.sentence() for one in ours],
        }
        parts += [title, _shared.columns(columns, left=columns)]
    return _shared.rendered(*parts)


def _page(method: type[Method]) -> str:
    """Show one method."""
    from rich.padding import Padding

    from evenhand.method import as_json

    default = ", the default" if method.default else ""
    lines: list[RenderableType] = [
        f"{method.name} ({TITLES[method.job].lower()}{default})",
        *(" ".join(part.split()) for part in (method.__doc__ or "").split("\n\n")),
        f"Assumes: {method.assumes}.",
        f"Best claim: {method.best.sentence()}",
    ]
    if method.reference:
        lines.append(f"Reference: {method.reference}.")
    lines += ["Options:"] if method.options() else ["It has no options."]
    for name, field in method.options().items():
        usual = field.default if not callable(field.default) else str(field.default)
        shown = usual if isinstance(usual, str) else as_json(usual)
        lines.append(Padding(f"{name}={shown}: {field.metadata['says']}", (0, 0, 0, 2)))
    return _shared.rendered(*lines)
