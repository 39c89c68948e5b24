"""Accuracy of rankings on real ratings.

    python bench/real.py DIR [--draws 200] [--seed 7] [--workers 2] [--out FOLDER]
    python bench/real.py DIR --dask ADDRESS
    python bench/real.py DIR --grades [--draws 20]

DIR holds NAME.csv (reviewer,item,score) and, where an outside order is known,
NAME_truth.csv (item,value). From a dense set, sparse designs are drawn at random: 2, 3
or 5 items a reviewer and 2, 3 or 5 ratings an item, at most 40 items; and, in a table
of their own, 2, 3, 5 or 10 items a reviewer and 10 ratings an item. A sparse set is
taken as it is. Agreement is Kendall's, over pairs that the truth orders (without a
truth: the mean of the ratings that were not drawn). Each design is ranked three times:
on the real scores, and with each reviewer's scores put through a random increasing
function, mild or extreme, as the warp test of the library draws it.

With --grades, marks by `grade` are held against the means of the ratings that were not
drawn, and against an outside truth that the items' means of all ratings are regressed
on, once for each set. Of a sparse set half of each item's ratings are drawn. Printed:
the root of the mean squared error over that of the plain mean (geometric mean over
designs), the same for values by REML, which are drawn to the middle, and how often the
90 % interval holds the mean of the others, where that mean's own error is added.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from evenhand import _charts as charts
from evenhand.diagnosis import warp as warps
from evenhand.engines import executors
from evenhand.grading import grade
from evenhand.models.adaptive import adaptive
from evenhand.models.additive import Equations, additive
from evenhand.models.affine import affine
from evenhand.models.bradley_terry import borda, bradley_terry
from evenhand.models.design import build_matrix
from evenhand.models.isotonic import isotonic
from evenhand.models.means import centred_means, z
from evenhand.randomness import Stream, permutation, stream
from evenhand.ratings import Ratings

Scores = NDArray[np.float64]
Codes = NDArray[np.int64]
Method = Callable[[Ratings], Scores]

LOADS = (2, 3, 5)
MANY = 10
MOST_ITEMS, FEWEST_ITEMS = 40, 5
DENSE = 0.5
WARPS = ("real", *warps.STRENGTHS)
# Which part of an item's name, between underscores, holds what can be compared.
GROUPS = {"video": 1, "skating": 0, "wine": 0}
# Real sparse sets have one design; its warps are drawn as often as this.
SPARSE_DRAWS = 20
SETTLED = 1e-8
# Of reviewers and items, declared: about what most sets have.
SHARES = 0.08, 0.5


class Data(NamedTuple):
    """A data set: ratings by codes, the truth or NaN, and the group of each item."""

    name: str
    reviewers: Codes
    items: Codes
    scores: Scores
    truth: Scores
    groups: Codes


class Cell(NamedTuple):
    """A design to draw; 0 items a reviewer means the set as it is."""

    data: str
    load: int
    reviews: int
    items: int


class Row(NamedTuple):
    """Agreement of one method in one cell: of each draw, or by item for a whole set."""

    cell: Cell
    warp: str
    method: str
    values: Scores


def mean(ratings: Ratings) -> Scores:
    """Return plain means."""
    counts = np.bincount(ratings.item_codes)
    return np.asarray(np.bincount(ratings.item_codes, ratings.scores) / counts)


def rank_effects(ratings: Ratings) -> Scores:
    """Fit random effects to pooled ranks."""
    from scipy.stats import rankdata  # noqa: PLC0415 - slow to load

    ranks = rankdata(ratings.scores)
    pooled = Ratings(ratings.reviewer_codes, ratings.item_codes, ranks)
    return additive(pooled).estimates


def p910(ratings: Ratings) -> Scores:
    """Fit a bias and an inconsistency for each reviewer, as ITU-T P.910 does.

    With few ratings a reviewer both are drawn to those of all: the bias as a random
    effect, the squared inconsistency as if four ratings of the common one were known.
    """
    reviewers, items = ratings.reviewer_codes, ratings.item_codes
    scores = ratings.scores - ratings.scores.mean()
    start = additive(ratings)
    if start.variances is None or start.offsets is None:
        return start.estimates
    size, rest = float(scores.std()), start.variances.rest
    rest = max(rest, 1e-12 * size**2)
    prior = 1 / max(start.variances.item, 1e-9 * rest)
    spread = max(start.variances.reviewer, 1e-9 * rest)
    loads, noise = np.bincount(reviewers), np.full(ratings.n_reviewers, rest)
    values, bias = start.estimates, start.offsets
    for _ in range(100):
        before = values
        weights = 1 / noise[reviewers]
        left = weights * (scores - bias[reviewers])
        values = np.bincount(items, left) / (np.bincount(items, weights) + prior)
        left = scores - values[items]
        bias = np.bincount(reviewers, left) / (loads + noise / spread)
        squares = np.bincount(reviewers, (left - bias[reviewers]) ** 2)
        noise = (squares + 4 * rest) / (loads + 4)
        if float(np.abs(values - before).max()) < SETTLED * size:
            break
    return values


METHODS: dict[str, Method] = {
    "adaptive": lambda ratings: adaptive(ratings).estimates,
    "reliabilities": lambda ratings: adaptive(ratings, reliabilities=True).estimates,
    "rank effects": rank_effects,
    "additive": lambda ratings: additive(ratings).estimates,
    "additive, declared": lambda ratings: additive(ratings, SHARES).estimates,
    "P.910 style": p910,
    "affine": lambda ratings: affine(ratings).estimates,
    "isotonic": lambda ratings: isotonic(ratings).estimates,
    "mean": mean,
    "bradley-terry": lambda ratings: bradley_terry(ratings).estimates,
    "centred": lambda ratings: centred_means(ratings).estimates,
    "z": lambda ratings: z(ratings).estimates,
    "borda": lambda ratings: borda(ratings).estimates,
}


def read(folder: Path) -> list[Data]:
    """Read all data sets of a folder."""
    found = []
    for path in sorted(folder.glob("*.csv")):
        with path.open(newline="") as lines:
            rows = list(csv.DictReader(lines))
        if rows and {"reviewer", "item", "score"} <= set(rows[0]):
            found.append(_data(path, rows))
    return found


def _data(path: Path, rows: list[dict[str, str]]) -> Data:
    reviewers = np.unique([row["reviewer"] for row in rows], return_inverse=True)[1]
    labels, items = np.unique([row["item"] for row in rows], return_inverse=True)
    truth = np.full(len(labels), np.nan)
    outside = path.with_name(f"{path.stem}_truth.csv")
    if outside.exists():
        with outside.open(newline="") as lines:
            known = {row["item"]: row["value"] for row in csv.DictReader(lines)}
        truth = np.array([float(known.get(label, "nan")) for label in labels.tolist()])
    part = next((at for name, at in GROUPS.items() if path.stem.startswith(name)), None)
    keys = ["" if part is None else label.split("_")[part] for label in labels.tolist()]
    groups = np.unique(keys, return_inverse=True)[1]
    scores = np.array([float(row["score"]) for row in rows])
    return Data(path.stem, reviewers, items, scores, truth, groups)


def cells(data: Data) -> Iterator[Cell]:
    """List the designs of a data set."""
    n_items, n_reviewers = len(data.truth), int(data.reviewers.max()) + 1
    if len(data.scores) < DENSE * n_items * n_reviewers:
        # All of it is drawn, so without a truth there is nothing to compare with.
        if not np.isnan(data.truth).all():
            yield Cell(data.name, 0, 0, n_items)
        return
    sizes = [(load, reviews) for load in LOADS for reviews in LOADS]
    for load, reviews in [*sizes, *((load, MANY) for load in (*LOADS, MANY))]:
        items = min(MOST_ITEMS, n_items, n_reviewers * load // reviews)
        if items >= max(FEWEST_ITEMS, reviews):
            yield Cell(data.name, load, reviews, items)


def draw(data: Data, cell: Cell, source: Stream) -> Codes:
    """Draw the rows of one sparse design.

    Reviewers come in random order; each takes the items that still need most ratings,
    of those that they rated, ties by lot.
    """
    if cell.load == 0:
        return np.arange(len(data.scores))
    chosen = permutation(source, len(data.truth))[: cell.items]
    need = np.zeros(len(data.truth), dtype=np.int64)
    need[chosen] = cell.reviews
    order = np.argsort(data.reviewers, kind="stable")
    start = np.searchsorted(data.reviewers[order], np.arange(data.reviewers.max() + 2))
    rows: list[int] = []
    for reviewer in permutation(source, len(start) - 1).tolist():
        own = order[start[reviewer] : start[reviewer + 1]]
        lots = permutation(source, len(own))
        wanted = need[data.items[own]]
        best = np.lexsort((lots, -wanted))[: cell.load]
        taken = own[best[wanted[best] > 0]]
        need[data.items[taken]] -= 1
        rows += taken.tolist()
        if not need.any():
            break
    return np.sort(np.array(rows, dtype=np.int64))


def warp_data(data: Data, rows: Codes, warp: str, source: Stream) -> Scores:
    """Put each reviewer's scores through an increasing function of their own."""
    scores = data.scores[rows]
    if warp == "real":
        return scores
    return warps.warp_scores(scores, data.reviewers[rows], source, warp)


def true_order(truth: Scores, groups: Codes) -> Scores:
    """Return 1 or -1 for pairs of one group that the truth orders, 0 for others."""
    order = np.nan_to_num(np.sign(truth[:, None] - truth))
    return np.asarray(order * (groups[:, None] == groups))


def agreement(estimates: Scores, order: Scores, *, whole: bool = False) -> Scores:
    """Kendall's agreement over pairs that the truth orders.

    Args:
        estimates: One for each item.
        order: The true one of each pair.
        whole: Whether one value for each item is wanted: their mean is the agreement,
            and the standard error of that mean is, to first order, the jackknife's,
            which leaves out each item in turn.
    """
    found = np.sign(estimates[:, None] - estimates)
    sums, pairs = (order * found).sum(axis=1), np.abs(order).sum(axis=1)
    total = float(pairs.sum())
    value = float(sums.sum()) / total if total else math.nan
    if not whole:
        return np.array([value])
    known = pairs > 0
    away = (sums - value * pairs)[known]
    return np.asarray(value + int(known.sum()) * away / (total / 2))


def run(
    data: Data, cell: Cell, draws: int, seed: int, methods: Sequence[str]
) -> list[Row]:
    """Draw one cell's designs and rank each by the methods."""
    found: dict[tuple[str, str], list[Scores]] = {}
    whole = cell.load == 0
    for number in range(min(draws, SPARSE_DRAWS) if whole else draws):
        name = f"{cell.data}/{cell.load}/{cell.reviews}/{number}"
        rows = draw(data, cell, stream(seed, f"{name}/design"))
        codes, place = np.unique(data.items[rows], return_inverse=True)
        order = true_order(_target(data, rows)[codes], data.groups[codes])
        for warp in WARPS:
            if warp == "real" and whole and number > 0:
                continue
            scores = warp_data(data, rows, warp, stream(seed, f"{name}/{warp}"))
            ratings = Ratings(data.reviewers[rows], place, scores)
            for method in methods:
                value = agreement(METHODS[method](ratings), order, whole=whole)
                found.setdefault((warp, method), []).append(value)
    return [
        Row(cell, *key, np.mean(values, axis=0) if whole else np.concatenate(values))
        for key, values in found.items()
    ]


def _target(data: Data, rows: Codes) -> Scores:
    """Return the outside truth, or means of the scores that were not drawn.

    Of few reviewers the rest lacks exactly those who were drawn, lenient or strict, so
    scores are z-scores of each reviewer's; and of one score a mean is mostly error, so
    it is no truth.
    """
    if not np.isnan(data.truth).all():
        return data.truth
    left = np.ones(len(data.scores), dtype=bool)
    left[rows] = False
    loads, scores = np.bincount(data.reviewers), _z_scores(data)
    left &= loads[data.reviewers] > 1
    counts = np.bincount(data.items[left], minlength=len(data.truth))
    sums = np.bincount(data.items[left], scores[left], len(data.truth))
    unknown = np.full(len(sums), np.nan)
    return np.asarray(np.divide(sums, counts, out=unknown, where=counts > 1))


def _z_scores(data: Data) -> Scores:
    loads = np.bincount(data.reviewers)
    away = (
        data.scores - (np.bincount(data.reviewers, data.scores) / loads)[data.reviewers]
    )
    spread = np.sqrt(np.bincount(data.reviewers, away**2) / loads)
    return np.asarray(away / np.where(spread > 0, spread, 1.0)[data.reviewers])


@dataclass(frozen=True)
class Summary:
    """One method under one warp: agreement, lead over another, error of the lead."""

    mean: float
    lead: float
    error: float


def compared(
    rows: dict[tuple[Cell, str, str], Scores],
    method: str,
    warp: str,
    other: str,
    only: str = "",
) -> Summary:
    """Average over cells, with the paired error of the lead over another method."""
    means, leads, squares = [], [], []
    for (cell, kind, name), values in rows.items():
        if kind != warp or name != method or (only and cell.data != only):
            continue
        gaps = values - rows[cell, warp, other]
        means.append(float(np.nanmean(values)))
        leads.append(float(np.nanmean(gaps)))
        number = int((~np.isnan(gaps)).sum())
        squares.append(float(np.nanvar(gaps)) / max(number - 1, 1))
    size = len(means)
    return Summary(
        float(np.mean(means)), float(np.mean(leads)), math.sqrt(sum(squares)) / size
    )


def report(rows: list[Row]) -> list[dict[str, float | str]]:
    """Summarise every method in two parts: cells of few ratings an item, and of ten."""
    few = [row for row in rows if row.cell.reviews < MANY]
    many = [row for row in rows if row.cell.reviews >= MANY]
    lines = _report(few, "2, 3 or 5 ratings an item, and whole sets") if few else []
    return lines + (_report(many, f"{MANY} ratings an item") if many else [])


def _report(rows: list[Row], part: str) -> list[dict[str, float | str]]:
    """Summarise every method: by warp, and its worst data set against the mean."""
    table = {(row.cell, row.warp, row.method): row.values for row in rows}
    names = sorted({row.cell.data for row in rows})
    size = len({row.cell for row in rows})
    lines = []
    for method in dict.fromkeys(row.method for row in rows):
        line: dict[str, float | str] = {"part": part, "cells": size, "method": method}
        for warp in WARPS:
            found = compared(table, method, warp, "adaptive")
            line[warp] = found.mean
            line[f"{warp} lead"], line[f"{warp} se"] = found.lead, found.error
        each = [(compared(table, method, "real", "mean", name), name) for name in names]
        worst, line["worst set"] = min(each, key=lambda pair: pair[0].lead)
        line["worst"], line["worst se"] = worst.lead, worst.error
        lines.append(line)
    return lines


def shown(lines: list[dict[str, float | str]]) -> Table:
    """Lay one part of the summary out as a table."""
    title = f"Kendall agreement in {lines[0]['cells']} cells: {lines[0]['part']}"
    table = Table(title=f"{title}\nlead over adaptive with paired error")
    table.add_column("method")
    for warp in WARPS:
        table.add_column(warp, justify="right")
        table.add_column("lead", justify="right")
    table.add_column("worst set against mean", justify="right")
    for line in lines:
        parts = [str(line["method"])]
        for warp in WARPS:
            parts.append(f"{line[warp]:.3f}")
            parts.append(f"{line[f'{warp} lead']:+.3f} ±{line[f'{warp} se']:.3f}")
        worst = f"{line['worst']:+.3f} ±{line['worst se']:.3f} {line['worst set']}"
        table.add_row(*parts, worst)
    return table


def chart(lines: list[dict[str, float | str]]) -> alt.HConcatChart:
    """Draw one panel for each warp, a dot for each method."""
    order = [str(line["method"]) for line in lines]
    panels = []
    for warp in WARPS:
        points = [
            {
                "method": line["method"],
                "tau": line[warp],
                "low": float(line[warp]) - 2 * float(line[f"{warp} se"]),
                "high": float(line[warp]) + 2 * float(line[f"{warp} se"]),
            }
            for line in lines
        ]
        base = alt.Chart(alt.InlineData(points), title=warp)
        up = alt.Y("method:N", sort=order, title=None)
        across = alt.X("tau:Q", title="Kendall agreement").scale(domain=[-0.1, 0.8])
        bars = base.mark_rule(strokeWidth=5, opacity=0.35).encode(
            x="low:Q", x2="high:Q", y=up
        )
        dots = base.mark_point(filled=True, size=60, color=charts.BLUE)
        panels.append((bars + dots.encode(x=across, y=up)).properties(width=220))
    return alt.HConcatChart(hconcat=panels)


def write(rows: list[Row], lines: list[dict[str, float | str]], folder: Path) -> None:
    """Write cells, summary and chart into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "cells.csv").open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow([*Cell._fields, "warp", "method", "kendall", "values"])
        for row in rows:
            value = float(np.nanmean(row.values))
            writer.writerow([*row.cell, row.warp, row.method, value, len(row.values)])
    with (folder / "summary.csv").open("w", newline="") as out:
        writer_of_lines = csv.DictWriter(out, list(lines[0]))
        writer_of_lines.writeheader()
        writer_of_lines.writerows(lines)
    drawn = [line for line in lines if line["part"] == lines[0]["part"]]
    (folder / "real.svg").write_text(charts.svg(chart(drawn).to_dict(validate=False)))


class Graded(NamedTuple):
    """Squared errors of means, marks and REML values in a design, and coverage."""

    cell: Cell
    kind: str
    method: str
    errors: list[float]
    covered: float


def grade_cells(data: Data) -> list[Cell]:
    """List the designs for marks; of a sparse set, half of the ratings."""
    n_items, dense = len(data.truth), [cell for cell in cells(data) if cell.load]
    return dense or [Cell(data.name, 0, 0, n_items)]


def half(data: Data, source: Stream) -> Codes:
    """Draw half of each item's ratings, rounded up."""
    order = np.lexsort((permutation(source, len(data.scores)), data.items))
    start = np.searchsorted(data.items[order], np.arange(len(data.truth) + 1))
    parts = [order[low : low + (high - low + 1) // 2] for low, high in pairwise(start)]
    return np.sort(np.concatenate(parts))


def run_grades(data: Data, cell: Cell, draws: int, seed: int) -> list[Graded]:
    """Draw one cell's designs and mark the items of each."""
    found = []
    outside = _on_scores(data)
    for number in range(draws):
        name = f"{cell.data}/{cell.load}/{cell.reviews}/{number}/design"
        source = stream(seed, name)
        rows = draw(data, cell, source) if cell.load else half(data, source)
        codes, place = np.unique(data.items[rows], return_inverse=True)
        ratings = Ratings(data.reviewers[rows], place, data.scores[rows])
        result = grade(ratings, rng=number)
        rows_by_code = sorted(result.items, key=lambda row: int(row.item))
        marks, low, high = np.array(
            [(row.mark, row.low, row.high) for row in rows_by_code]
        ).T
        made = build_matrix(ratings)
        mixed = Equations(made).fit(made.scores)
        shrunk = (mixed.items + mixed.mean + made.centre) * made.unit
        targets = {"other reviewers": _others(data, rows), "outside truth": outside}
        for kind, (truth, fuzz) in targets.items():
            known = ~np.isnan(truth[codes])
            if known.sum() < FEWEST_ITEMS:
                continue
            away = [
                float(np.mean((one - truth[codes])[known] ** 2))
                for one in (mean(ratings), marks, shrunk)
            ]
            # The t quantile of the interval is kept for the error of both.
            width = (high - low) / 2
            errors = np.array([row.error for row in rows_by_code])
            wide = width / np.maximum(errors, 1e-300) * np.hypot(errors, fuzz[codes])
            inside = np.abs(marks - truth[codes]) <= wide
            covered = float(np.mean(inside[known]))
            found.append(Graded(cell, kind, result.method, away, covered))
    return found


def _others(data: Data, rows: Codes) -> tuple[Scores, Scores]:
    """Return means of the ratings that were not drawn, and their errors."""
    left = np.ones(len(data.scores), dtype=bool)
    left[rows] = False
    items, scores, size = data.items[left], data.scores[left], len(data.truth)
    counts = np.bincount(items, minlength=size)
    means = np.bincount(items, scores, size) / np.where(counts > 0, counts, np.nan)
    squares = float(((scores - means[items]) ** 2).sum())
    rest = squares / max(int((counts - 1)[counts > 0].sum()), 1)
    return means, np.sqrt(rest / np.maximum(counts, 1))


def _on_scores(data: Data) -> tuple[Scores, Scores]:
    """Return an outside truth on the scale of the scores; all unknown without one."""
    truth, none = data.truth, np.zeros(len(data.truth))
    grouped = any(data.name.startswith(name) for name in GROUPS)
    if grouped or np.isnan(truth).any():
        return np.full(len(truth), np.nan), none
    means = np.bincount(data.items, data.scores) / np.bincount(data.items)
    slope, level = np.polyfit(truth, means, 1)
    return level + slope * truth, none


def grade_table(found: list[Graded]) -> Table:
    """Lay out the figures, a row for each set and kind of truth."""
    table = Table(title="Error of marks over that of plain means")
    for title in ("set", "truth", "designs", "mean's error", "marks", "REML"):
        table.add_column(title, justify="right")
    table.add_column("covered", justify="right")
    table.add_column("models")
    groups: dict[tuple[str, str], dict[Cell, list[Graded]]] = {}
    for one in found:
        group = groups.setdefault((one.cell.data, one.kind), {})
        group.setdefault(one.cell, []).append(one)
    ratios: dict[str, list[Scores]] = {}
    for (name, kind), by_cell in sorted(groups.items()):
        sizes = np.sqrt(
            [np.mean([one.errors for one in some], axis=0) for some in by_cell.values()]
        )
        share = np.exp(np.log(sizes / sizes[:, :1]).mean(axis=0))
        ratios.setdefault(kind, []).append(share)
        every = [one for some in by_cell.values() for one in some]
        covered = float(np.mean([one.covered for one in every]))
        used = Counter(one.method for one in every)
        table.add_row(
            name,
            kind,
            str(len(every)),
            f"{sizes[:, 0].mean():.3g}",
            f"{share[1]:.3f}",
            f"{share[2]:.3f}",
            f"{covered:.3f}" if kind == "other reviewers" else "",
            ", ".join(f"{method} {times}" for method, times in used.most_common()),
        )
    for kind, rows in ratios.items():
        share = np.mean(rows, axis=0)
        table.add_row("average", kind, "", "", f"{share[1]:.3f}", f"{share[2]:.3f}")
    return table


def apply(work: Callable[[Data, Cell], Any], task: tuple[Data, Cell]) -> Any:  # noqa: ANN401 - rows of either kind
    """Work on one cell of a set."""
    return work(*task)


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--draws", default=200, show_default=True, type=click.IntRange(1))
@click.option("--seed", default=7, show_default=True, type=click.IntRange(0))
@click.option("--workers", type=click.IntRange(1), help="Processes, one a core.")
@click.option("--dask", metavar="ADDRESS", help="Run on a Dask cluster.")
@click.option(
    "--method",
    "methods",
    multiple=True,
    type=click.Choice(list(METHODS)),
    help="Only this method, beside adaptive and mean; repeat for more.",
)
@click.option("--grades", is_flag=True, help="Hold marks against the others' means.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder for CSV and chart."
)
def main(
    folder: Path,
    *,
    draws: int,
    seed: int,
    workers: int | None,
    dask: str | None,
    methods: tuple[str, ...],
    out: Path | None,
    grades: bool,
) -> None:
    """Rank real ratings by every method and print how well each agrees."""
    wanted = {"adaptive", "mean", *(methods or METHODS)}
    chosen = [name for name in METHODS if name in wanted]
    sets = list(read(folder))
    pick = grade_cells if grades else cells
    tasks = [(data, cell) for data in sets for cell in pick(data)]
    # The largest first, so that no worker is left with one at the end.
    tasks.sort(key=lambda task: task[1].load > 0)
    work = (
        partial(run_grades, draws=draws, seed=seed)
        if grades
        else partial(run, draws=draws, seed=seed, methods=chosen)
    )
    with executors.workers(workers, dask) as executor:
        parts = executors.run_parts(partial(apply, work), tasks, executor)
        screen = Console(stderr=True)
        done = track(parts, "cells", total=len(tasks), console=screen)
        found = [row for part in done for row in part]
    if grades:
        Console(width=150).print(grade_table(found))
        return
    rows = sorted(found, key=lambda row: (*row[:2], chosen.index(row.method)))
    lines = report(rows)
    for _, part in groupby(lines, key=lambda line: line["part"]):
        Console(width=150).print(shown(list(part)))
    if out is not None:
        write(rows, lines, out)


if __name__ == "__main__":
    main()
