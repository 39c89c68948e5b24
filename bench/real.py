"""Accuracy of rankings on real ratings.

    python bench/real.py DIR [--draws 200] [--seed 7] [--workers 2] [--out FOLDER]

DIR holds NAME.csv (reviewer,item,score) and, where an outside order is known,
NAME_truth.csv (item,value). From a dense set, sparse designs are drawn at random: 2, 3
or 5 items a reviewer and 2, 3 or 5 ratings an item, at most 40 items; a sparse set is
taken as it is. Agreement is Kendall's, over pairs that the truth tells apart (without a
truth: the mean of the ratings that were not drawn). Each design is ranked three times:
on the real scores, and with each reviewer's scores put through a random increasing
function, mild or extreme.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import altair as alt
import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.special import ndtri

from evenhand import _charts as charts
from evenhand._randomness import Stream, permutation, stream, uniforms
from evenhand.calibration._design import design
from evenhand.calibration._ranks import rank_shares
from evenhand.calibration.adaptive import adaptive
from evenhand.calibration.additive import Equations, additive
from evenhand.calibration.affine import affine
from evenhand.calibration.borda import borda
from evenhand.calibration.bradley_terry import bradley_terry
from evenhand.calibration.centring import centred, z
from evenhand.calibration.isotonic import isotonic
from evenhand.ratings import Ratings

Scores = NDArray[np.float64]
Codes = NDArray[np.int64]
Method = Callable[[Ratings], Scores]

LOADS = (2, 3, 5)
MOST_ITEMS, FEWEST_ITEMS = 40, 5
DENSE = 0.5
WARPS = ("real", "mild", "extreme")
# Which part of an item's name, between underscores, holds what can be compared.
GROUPS = {"video": 1, "skating": 0, "wine": 0}
# Real sparse sets have one design; its warps are drawn as often as this.
SPARSE_DRAWS = 20
SETTLED = 1e-8


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
    """Mean agreement of one method in one cell, and all its draws."""

    cell: Cell
    warp: str
    method: str
    draws: tuple[float, ...]


def mean(ratings: Ratings) -> Scores:
    """Return plain means."""
    counts = np.bincount(ratings.item_codes)
    return np.asarray(np.bincount(ratings.item_codes, ratings.scores) / counts)


def rank_effects(ratings: Ratings) -> Scores:
    """Fit random effects to pooled ranks."""
    shares = rank_shares(ratings.scores)
    made = design(ratings)
    return Equations(made).fit(shares - shares.mean()).items


def p910(ratings: Ratings) -> Scores:
    """Fit a bias and an inconsistency for each reviewer, as ITU-T P.910 does.

    With few ratings a reviewer both are drawn to those of all: the bias as a random
    effect, the squared inconsistency as if four ratings of the common one were known.
    """
    made = design(ratings)
    mixed = Equations(made).fit(made.scores)
    parts = mixed.variances
    rest = max(parts.rest, 1e-12)
    noise = np.full(made.n_reviewers, rest)
    values, bias = mixed.items, mixed.reviewers
    for _ in range(100):
        before = values
        weights = (1 / noise)[made.reviewers]
        prior = rest / max(parts.item, 1e-9 * rest) / rest
        left = made.scores - bias[made.reviewers]
        values = made.by_item(weights * left) / (made.by_item(weights) + prior)
        left = made.scores - values[made.items]
        ridge = noise / max(parts.reviewer, 1e-9 * rest)
        bias = made.by_reviewer(left) / (made.loads + ridge)
        squares = made.by_reviewer((left - bias[made.reviewers]) ** 2)
        noise = (squares + 4 * rest) / (made.loads + 4)
        if float(np.abs(values - before).max()) < SETTLED:
            break
    return values


METHODS: dict[str, Method] = {
    "adaptive": lambda ratings: adaptive(ratings).estimates,
    "rank effects": rank_effects,
    "additive REML": lambda ratings: additive(ratings, shrink=True).estimates,
    "P.910 style": p910,
    "affine": lambda ratings: affine(ratings).estimates,
    "isotonic": lambda ratings: isotonic(ratings).estimates,
    "mean": mean,
    "bradley-terry": lambda ratings: bradley_terry(ratings).estimates,
    "centred": lambda ratings: centred(ratings).estimates,
    "additive": lambda ratings: additive(ratings).estimates,
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
    for load in LOADS:
        for reviews in LOADS:
            items = min(MOST_ITEMS, n_items, n_reviewers * load // reviews)
            if items >= FEWEST_ITEMS:
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


def warped(data: Data, rows: Codes, warp: str, source: Stream) -> Scores:
    """Put each reviewer's scores through an increasing function of their own."""
    scores = data.scores[rows]
    if warp == "real":
        return scores
    low, high = float(data.scores.min()), float(data.scores.max())
    unit = (scores - low) / (high - low)
    reviewers = data.reviewers[rows]
    size = int(data.reviewers.max()) + 1
    chance = np.maximum(uniforms(source, (3, size)), 2.0**-53)
    normal = ndtri(chance)[:, reviewers]
    if warp == "mild":
        bent = unit ** np.exp(0.5 * normal[2])
        return np.asarray(0.2 * normal[0] + np.exp(0.3 * normal[1]) * bent)
    spread = 10 ** (3 * chance[1][reviewers] - 1.5)
    return np.asarray(100 * normal[0] + spread * unit ** np.exp(normal[2]))


def agreement(estimates: Scores, truth: Scores, groups: Codes) -> float:
    """Kendall's agreement over pairs of one group that the truth tells apart."""
    if len(np.unique(groups)) > MOST_ITEMS:
        parts = [groups == group for group in np.unique(groups)]
        sums = [
            _agreement(estimates[part], truth[part], groups[part]) for part in parts
        ]
    else:
        sums = [_agreement(estimates, truth, groups)]
    total, pairs = np.sum(sums, axis=0)
    return float(total / pairs) if pairs else math.nan


def _agreement(estimates: Scores, truth: Scores, groups: Codes) -> tuple[float, float]:
    known = ~np.isnan(truth)
    one, other = np.triu_indices(int(known.sum()), 1)
    estimates, truth, groups = estimates[known], truth[known], groups[known]
    order = np.sign(truth[one] - truth[other]) * (groups[one] == groups[other])
    found = np.sign(estimates[one] - estimates[other])
    return float(order @ found), float(np.abs(order).sum())


def run(
    data: Data, cell: Cell, draws: int, seed: int, methods: Sequence[str]
) -> list[Row]:
    """Draw one cell's designs and rank each by the methods."""
    found: dict[tuple[str, str], list[float]] = {}
    draws = draws if cell.load else min(draws, SPARSE_DRAWS)
    for number in range(draws):
        name = f"{cell.data}/{cell.load}/{cell.reviews}/{number}"
        rows = draw(data, cell, stream(seed, f"{name}/design"))
        truth, groups = _target(data, rows), data.groups
        for warp in WARPS:
            if warp == "real" and cell.load == 0 and number > 0:
                continue
            scores = warped(data, rows, warp, stream(seed, f"{name}/{warp}"))
            codes, place = np.unique(data.items[rows], return_inverse=True)
            ratings = Ratings(data.reviewers[rows], place, scores)
            for method in methods:
                estimates = METHODS[method](ratings)
                value = agreement(estimates, truth[codes], groups[codes])
                found.setdefault((warp, method), []).append(value)
    return [
        Row(cell, warp, method, tuple(values))
        for (warp, method), values in found.items()
    ]


def _target(data: Data, rows: Codes) -> Scores:
    if not np.isnan(data.truth).all():
        return data.truth
    left = np.ones(len(data.scores), dtype=bool)
    left[rows] = False
    counts = np.bincount(data.items[left], minlength=len(data.truth))
    sums = np.bincount(data.items[left], data.scores[left], len(data.truth))
    unknown = np.full(len(sums), np.nan)
    return np.asarray(np.divide(sums, counts, out=unknown, where=counts > 0))


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
    """Summarise every method: by warp, and its worst data set against the mean."""
    table = {(row.cell, row.warp, row.method): np.array(row.draws) for row in rows}
    names = sorted({row.cell.data for row in rows})
    lines = []
    for method in dict.fromkeys(row.method for row in rows):
        line: dict[str, float | str] = {"method": method}
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
    """Lay the summary out as a table."""
    table = Table(title="Kendall agreement; lead over adaptive with paired error")
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
        writer.writerow([*Cell._fields, "warp", "method", "kendall", "draws"])
        for row in rows:
            value = float(np.nanmean(row.draws))
            writer.writerow([*row.cell, row.warp, row.method, value, len(row.draws)])
    with (folder / "summary.csv").open("w", newline="") as out:
        writer_of_lines = csv.DictWriter(out, list(lines[0]))
        writer_of_lines.writeheader()
        writer_of_lines.writerows(lines)
    (folder / "real.svg").write_text(charts.svg(chart(lines)))


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--draws", default=200, show_default=True, type=click.IntRange(1))
@click.option("--seed", default=7, show_default=True, type=click.IntRange(0))
@click.option("--workers", default=2, show_default=True, type=click.IntRange(1))
@click.option(
    "--method",
    "methods",
    multiple=True,
    type=click.Choice(list(METHODS)),
    help="Only this method, beside adaptive and mean; repeat for more.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder for CSV and chart."
)
def main(
    folder: Path,
    draws: int,
    seed: int,
    workers: int,
    methods: tuple[str, ...],
    out: Path | None,
) -> None:
    """Rank real ratings by every method and print how well each agrees."""
    wanted = {"adaptive", "mean", *(methods or METHODS)}
    chosen = [name for name in METHODS if name in wanted]
    sets = {data.name: data for data in read(folder)}
    tasks = [cell for data in sets.values() for cell in cells(data)]
    # The largest first, so that no worker is left with one at the end.
    queue = sorted(tasks, key=lambda cell: cell.load > 0)
    # Fresh processes: threads of the reader do not survive a copy of this one.
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        work = partial(run, draws=draws, seed=seed, methods=chosen)
        parts = pool.map(work, [sets[cell.data] for cell in queue], queue)
        screen = Console(stderr=True)
        done = track(parts, "cells", total=len(queue), console=screen)
        found = [row for part in done for row in part]
    rows = sorted(found, key=lambda row: (*row[:2], chosen.index(row.method)))
    lines = report(rows)
    Console(width=150).print(shown(lines))
    if out is not None:
        write(rows, lines, out)


if __name__ == "__main__":
    main()
