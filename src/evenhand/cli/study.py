"""The study commands: `evenhand simulate`, `reproduce`, `theorems` and `methods`."""

from __future__ import annotations

import sys
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

from evenhand._outputs import Output
from evenhand.cli import _options, _shared
from evenhand.cli._options import COUNT, option
from evenhand.errors import OptionError, must_be, printable, unknown
from evenhand.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from evenhand import _charts as charts
    from evenhand import method as all_methods
    from evenhand import randomness
    from evenhand.ab import bounds
    from evenhand.ab import methods as rules
    from evenhand.engines import executors
    from evenhand.lab import figures, simulation, watching
    from evenhand.lab import scenario as scenarios
    from evenhand.lab import theorems as theorem_runs
    from evenhand.lab.figures import Figure
    from evenhand.lab.theorems import Theorems
    from evenhand.method import Method
    from evenhand.words.tables import TextTable
else:
    bounds = lazy("evenhand.ab.bounds")
    charts = lazy("evenhand._charts")
    executors = lazy("evenhand.engines.executors")
    figures = lazy("evenhand.lab.figures")
    scenarios = lazy("evenhand.lab.scenario")
    simulation = lazy("evenhand.lab.simulation")
    watching = lazy("evenhand.lab.watching")
    theorem_runs = lazy("evenhand.lab.theorems")
    all_methods = lazy("evenhand.method")
    randomness = lazy("evenhand.randomness")
    rules = lazy("evenhand.ab.methods")
    pl = lazy("polars")

METHODS = {
    "compare": ("guarded", "votes", "mean", "median", "sign"),
    "rank": ("flips", "mean-rank", "safe"),
}
BASELINES = {"compare": "coin", "rank": "topological"}
NONE, TRIALS = "none", 10_000
# Scores of each item, and points, for which bounds are shown; and a coin's share.
PLANNED, EFFECTS, EVEN = (10, 40, 160), (0.5, 1), 0.5005
FIGURES = ("fig1", "fig2", "fig3", "all")
TITLES = {"compare": "Two items", "rank": "Many items"}


@click.command("simulate", cls=_options.OnceEach)
@option(
    "--job",
    "Two items, many, or two that are watched (reviewers needed for --effect).  "
    "[default: compare]",
    ["compare", "rank", "sequential"],
)
@option(
    "--effect",
    "For sequential: by how many spreads the better item's scores are higher.",
    float,
)
@option("--items", "Number of items.", COUNT)
@option("--reviewers", "Number of reviewers.", COUNT)
@option("--values SPEC", "uniform:LOW:HIGH or normal:MEAN:SD.")
@option(
    "--scales SPEC",
    "identity, one-biased, incremental, incremental-one-biased, bias, affine, power, "
    "disjoint, levels:K:LOW:HIGH, adversary; several joined by '>'; for sequential "
    "normal, five-stars, 0-100 or heavy-tails.  [default: affine, or normal]",
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
@option(
    "--levels LIST",
    "Numbers of levels of the score, such as 2,3,5,7,10,100: accuracy with each, and "
    "how often ties take the guarantee away.  [scales: power]",
)
@option("--chart FILE", "With --levels: draw it, as .svg or .png.")
@option("--trials", "How many; 1000 for sequential.", default=TRIALS, show_default=True)
@_options.cluster_options
@_options.result_options
def simulate(**options: Any) -> None:  # noqa: ANN401 - click's values
    """Try methods on a scenario, and show how far each beats a baseline.

    All methods see the same data; coins between two items are averaged out exactly. The
    result does not depend on --workers.

    \b
    Example:
      evenhand simulate --reviewers 10 --scales one-biased --trials 1000 --seed 7
      evenhand simulate --job rank --levels 2,5,100 --trials 100 --seed 7
    """
    if options["job"] == "sequential":
        plan_watch(options)
        return
    if options["effect"] is not None:
        raise OptionError("effect must be left out unless the job is sequential.")
    if options["levels"] and not options["scales"]:
        options["scales"] = "power"
    settings = {name: options.get(name) for name in scenarios.FIELDS}
    case = scenarios.Scenario(
        **{name: value for name, value in settings.items() if value is not None}
    )
    seed = randomness.seed_from(options["seed"])
    chart = options["chart"]
    _shared.check_paths({"--output": options["output"], "--chart": chart}, {})
    if chart and not (options["levels"] and chart.endswith((".svg", ".png"))):
        raise OptionError(
            f"chart must be a .svg or .png, with --levels, got {chart!r}."
        )
    baseline = options["baseline"] or BASELINES[case.job]
    tried = options["method"] or METHODS[case.job]
    with executors.workers(options["workers"], options["dask"]) as executor:
        more: Any = {"executor": executor, "trials": options["trials"], "rng": seed}
        more["losses"] = options["loss"] or None
        if options["levels"]:
            figure = figures.try_levels(
                case, tried, _levels(options["levels"]), baseline=baseline, **more
            )
            files = [Output(chart, _picture(figure, chart))] if chart else []
            _shared.show(figure.to_dict(), lambda: _numbers(figure), options, files)
            _shared.note(figure.notices, seed)
            return
        base = None if baseline == NONE else baseline
        result = simulation.simulate(case, tried, baseline=base, **more)
    _shared.show(result.to_dict(), lambda: repr(result), options)
    _shared.note(result.notices, result.seed)


def plan_watch(options: Mapping[str, Any]) -> None:
    """Print how many reviewers a watched comparison needs."""
    if options["effect"] is None:
        rule = "effect must be given for a sequential job, such as --effect 0.3."
        raise OptionError(f"{rule} It is in spreads of the scores.")
    _shared.check_paths({"--output": options["output"]}, {})
    # What the other jobs simulate is a hundred times as quick.
    trials = options["trials"]
    result = watching.plan_watch(
        options["effect"],
        scale=options["scales"] or "normal",
        reviewers=options["reviewers"] or watching.MOST,
        trials=watching.TRIALS if trials == TRIALS else trials,
        rng=randomness.seed_from(options["seed"]),
    )
    _shared.show(result.to_dict(), lambda: repr(result), options)
    _shared.note((), result.seed)


def _picture(figure: Figure, path: str) -> str | bytes:
    """Draw what levels cost, as the name of the file says."""
    picture = charts.svg(figures.levels_chart(figure))
    return charts.png_from(picture) if path.endswith(".png") else picture


def _levels(text: str) -> list[int]:
    """Read numbers of levels."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        rule = "whole numbers with commas between them, such as 2,5,100"
        raise must_be("levels", rule, text) from None


@click.command("reproduce", cls=_options.OnceEach)
@click.argument("figure", nargs=-1, type=click.Choice(FIGURES), metavar="[FIGURE]...")
@option(
    "-o --output DIRECTORY",
    "Where to write JSON and CSV files, and with evenhand[charts] PNG and SVG files; "
    "made if it is not there.",
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
    seed = randomness.seed_from(seed)
    size = figures.QUICK if quick else figures.FULL
    with _shared.working("figures"):
        results = figures.reproduce(figure or ("all",), output, size=size, rng=seed)
    _shared.deliver("\n".join(map(_numbers, results)), None)
    where = f"Numbers and charts are in {printable(output)}."
    if not charts.can_render():
        where = f"Numbers are in {printable(output)}. {charts.NO_RENDERER}"
    click.echo(where, err=True)
    _shared.note((), seed)


def _numbers(figure: Figure) -> str:
    """Tell the numbers of a figure to people."""
    rows, error = pl.DataFrame(figure.rows), ""
    rows = rows.with_columns(pl.selectors.float().round(4))
    if "method" in rows.columns:
        error = ", \u00b1 standard error"
        numbers = pl.col("improvement", "se").round(2)
        cell = pl.concat_str(numbers, separator="\u00b1").alias("cell")
        sizes = [name for name in ("n", "m", *figures.LEVELS) if name in rows.columns]
        rows = rows.with_columns(cell).pivot("method", index=sizes, values="cell")
    columns = {name: [str(value) for value in rows[name]] for name in rows.columns}
    head = f"{figure.name}: {figure.title}\nImprovement in per cent{error}"
    notes = [notice.message for notice in figure.notices]
    return _shared.render(head, _shared.columns(columns, text_columns=()), *notes)


@click.command("theorems", cls=_options.OnceEach)
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
    _shared.check_paths({"--output": options["output"]}, {})
    chosen, seed = (
        executors.workers(options["workers"], options["dask"]),
        options["seed"],
    )
    with _shared.working("theorems"), chosen as executor:
        result = theorem_runs.check_theorems(quick=quick, executor=executor, rng=seed)
    _shared.show(result.to_dict(), lambda: _claims(result), options)
    _shared.note((), result.seed)
    if not result.holds:
        sys.exit(1)


def _claims(result: Theorems) -> str:
    """Tell what was checked to people."""
    rows = result.rows
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
    table = _shared.columns(columns, text_columns=list(columns)[:-1])
    lined = [row._replace(line="edge") for row in table.rows]
    return _shared.render(table._replace(rows=tuple(lined)), verdict)


@click.command("methods", cls=_options.OnceEach)
@click.argument("name", metavar="[NAME]", required=False)
@option("--json as_json", "Print JSON.")
def methods(name: str | None, *, as_json: bool) -> None:
    """List the methods, or show one with its options, assumptions and best claim.

    \b
    Example:
      evenhand methods
      evenhand methods flips
    """
    available = all_methods.methods()
    chosen = [kind for kind in available if name in (None, kind.name)]
    if not chosen:
        raise OptionError(unknown("method", name, {kind.name: 1 for kind in available}))
    rows = [kind.describe() for kind in chosen]
    document = {"schema": "evenhand.methods/1", "methods": rows}
    shown = _overview if name is None else lambda them: "\n".join(map(_page, them))
    _shared.show(document, lambda: shown(chosen), {"as_json": as_json, "output": None})


def _overview(chosen: list[type[Method]]) -> str:
    """List methods by their job."""
    parts: list[str | TextTable] = []
    for job, title in TITLES.items():
        ours = [method for method in chosen if method.job == job]
        columns = {
            "method": [
                f"{method.name}{' (default)' * method.default}" for method in ours
            ],
            "what it does": [method.summary() for method in ours],
            "best claim": [method.best.sentence() for method in ours],
        }
        parts += [title, _shared.columns(columns, text_columns=columns)]
    return _shared.render(*parts)


def _plan_lines(method: type[Method]) -> list[str]:
    """Say how often a rule of two items is right at least, for planning."""
    if not issubclass(method, rules.Rule):
        return []
    rows = []
    for per_item in PLANNED:
        least = [
            bounds.right_at_least(method(), per_item, score_range=4, effect=effect)
            for effect in EFFECTS
        ]
        shares = ", ".join(f"{100 * share:.1f}%" for share in least)
        rows += [f"  {per_item} scores of each item: {shares}"] * (max(least) > EVEN)
    effects = " or ".join(map(str, EFFECTS))
    head = (
        "For planning: on scores from 1 to 5, if each reviewer would score the better "
    )
    head += f"item {effects} points higher at least, it is right no less often than"
    return [f"{head}:", *rows] if rows else []


def _page(method: type[Method]) -> str:
    """Show one method."""
    default = ", the default" if method.default else ""
    lines = [
        f"{method.name} ({TITLES[method.job].lower()}{default})",
        *(" ".join(part.split()) for part in (method.__doc__ or "").split("\n\n")),
        f"Assumes: {method.assumes}.",
        f"Best claim: {method.best.sentence()}",
    ]
    if method.reference:
        lines.append(f"Reference: {method.reference}.")
    lines += _plan_lines(method)
    lines += ["Options:"] if method.options() else ["It has no options."]
    for name, field in method.options().items():
        usual = field.default if not callable(field.default) else str(field.default)
        shown = usual if isinstance(usual, str) else all_methods.as_json(usual)
        lines.append(f"  {name}={shown}: {field.metadata['says']}")
    return _shared.render(*lines)
