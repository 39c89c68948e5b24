"""Coverage of rank intervals and of the chances of being among the best.

    python bench/intervals.py [FOLDER] [--repeats 200] [--seed 7]

Ratings are simulated: normal values of items (standard deviation 1), offsets of
reviewers (.5) and noise (1), as they are and rounded to five points. With FOLDER, real
ratings as well, by the designs of bench/real.py. Printed for each world and method: how
often the 90 % interval holds the true rank; the same if an end of the interval counts
with the share that brings the stated probability to 90 % exactly (ranks are whole, so
intervals hold more); the mean width; the largest gap in ten bins between the stated
chance of the best quarter and what happened.

With --criteria instead: the total of three criteria, and each, by adaptive.

With --at-once instead: how often the ranks of all items hold together (95 %), and how
many places they span, beside sets from Holm's adjustment of the same pairwise p-values;
of 20 models whose values are equal, in four groups or all different, judged by three
judges on each of 100 or 1,000 prompts, on all of them or by a third of the judgments.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np
import polars as pl
import real
from scipy.stats import norm

import evenhand as eh
from evenhand.randomness import stream
from evenhand.ranking import simultaneous

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

METHODS = ("adaptive", "bradley-terry", "additive", "mean")
OFFSET, NOISE, TAIL = 0.5, 1.0, 0.05
# Bins with fewer chances than this, whose error may exceed .016, are left out.
FEWEST = 1000
# Worlds with more reviews an item take long and are repeated a fifth as often.
MANY = 1000


class World(NamedTuple):
    """Items, ratings of each, items of each reviewer, and whether on five points."""

    items: int
    reviews: int
    load: int
    points: bool = False


WORLDS = (
    World(20, 5, 5),
    World(20, 100, 5),
    World(20, 2500, 5),
    World(120, 3, 4),
    World(4, 3, 4),
    World(4, 3, 2),
    World(20, 5, 5, points=True),
    World(20, 100, 5, points=True),
    World(120, 3, 4, points=True),
    World(4, 3, 4, points=True),
)


def simulate(world: World, seed: int) -> tuple[Floats, eh.Ratings]:
    """Draw values and ratings; each round of reviewers sees every item once."""
    rng = np.random.default_rng([seed, *world])
    values = rng.normal(size=world.items)
    rounds = [rng.permutation(world.items) for _ in range(world.reviews)]
    items = np.concatenate(rounds)
    reviewers = np.arange(len(items)) // world.load
    scores = values[items] + NOISE * rng.normal(size=len(items))
    scores += OFFSET * rng.normal(size=reviewers[-1] + 1)[reviewers]
    if world.points:
        scores = np.clip(np.round(3 + scores / 1.5), 1, 5)
    return values, eh.Ratings(reviewers, items, scores)


class Tally:
    """What one method said and what was true."""

    def __init__(self) -> None:
        """Start empty."""
        self.inside: list[float] = []
        self.even: list[float] = []
        self.widths: list[float] = []
        self.said: list[Floats] = []
        self.came: list[Floats] = []

    def add(self, found: eh.Ranking, truth: Floats) -> None:
        """Count all items, if the truth of all is known."""
        sure = found.uncertainty
        if sure is None or np.isnan(truth).any():
            return
        order = np.argsort(-truth, kind="stable")
        true = np.empty(len(truth), dtype=np.int64)
        true[order] = np.arange(1, len(truth) + 1)
        low, high = sure.rank_low, sure.rank_high
        self.inside.append(float(np.mean((low <= true) & (true <= high))))
        self.widths.append(float(np.mean(high - low + 1)))
        law = np.stack([sure.p_top(k) for k in range(1, len(truth) + 1)])
        law = np.concatenate([np.zeros((1, len(truth))), law])
        at = np.arange(len(truth))
        under, upto = law[true - 1, at], law[true, at]
        held = np.minimum(upto, 1 - TAIL) - np.maximum(under, TAIL)
        mass = np.where(upto > under, upto - under, 1)
        self.even.append(float(np.mean(np.maximum(held, 0) / mass)))
        best = max(len(truth) // 4, 1)
        self.said.append(law[best])
        self.came.append((true <= best).astype(float))

    def line(self) -> str:
        """Lay the figures out."""
        said, came = np.concatenate(self.said), np.concatenate(self.came)
        bins = np.minimum((said * 10).astype(int), 9)
        gaps = [
            (abs(said[bins == b].mean() - came[bins == b].mean()), b)
            for b in range(10)
            if (bins == b).sum() >= FEWEST
        ]
        gap, place = max(gaps, default=(float("nan"), 0))
        error = np.std(self.inside) / max(len(self.inside) - 1, 1) ** 0.5
        return (
            f"| {np.mean(self.inside):.3f} ± {error:.3f} | {np.mean(self.even):.3f} "
            f"| {np.mean(self.widths):.2f} | {gap:.3f} (.{place}) |"
        )


def simulated(repeats: int, seed: int, only: str) -> Iterator[str]:
    """Yield a line for each world and method."""
    for world in WORLDS:
        name = f"{world.items} items, {world.reviews} each, {world.load} a reviewer"
        name += ", five points" if world.points else ""
        if only and only not in name:
            continue
        number = max(repeats // 5, 1) if world.reviews > MANY else repeats
        tallies = {method: Tally() for method in METHODS}
        for trial in range(number):
            values, ratings = simulate(world, seed + trial)
            for method, tally in tallies.items():
                found = eh.rank(ratings, method=method, rng=trial)
                tally.add(found, values)
        for method, tally in tallies.items():
            yield f"| {name} | {method} {tally.line()}"


def _correlated(rng: np.random.Generator, size: int) -> Floats:
    """Draw normals by three criteria that correlate by .5."""
    return 0.5**0.5 * (rng.normal(size=(size, 1)) + rng.normal(size=(size, 3)))


def by_criteria(repeats: int, seed: int) -> Iterator[str]:
    """Yield a line for the total of three criteria and for each of them.

    Values of an item by two criteria correlate by .5, and so does a reviewer's noise
    (halo); the first criterion counts twice.
    """
    weights = np.array([2.0, 1.0, 1.0])
    names = ["novelty", "soundness", "clarity"]
    for world in WORLDS[:2]:
        tallies = {name: Tally() for name in ["total", *names]}
        for trial in range(repeats):
            rng = np.random.default_rng([seed, trial, *world])
            values = _correlated(rng, world.items)
            rounds = [rng.permutation(world.items) for _ in range(world.reviews)]
            items = np.concatenate(rounds)
            reviewers = np.arange(len(items)) // world.load
            scores = values[items] + NOISE * _correlated(rng, len(items))
            scores += OFFSET * _correlated(rng, reviewers[-1] + 1)[reviewers]
            columns = dict(zip(names, scores.T, strict=True))
            frame = pl.DataFrame({"reviewer": reviewers, "item": items, **columns})
            by = dict(zip(names, weights.tolist(), strict=True))
            found = eh.rank(frame, score=by, rng=trial)
            tallies["total"].add(found, values @ weights / weights.sum())
            for place, name in enumerate(names):
                tallies[name].add(found.criteria[name], values[:, place])
        for name, tally in tallies.items():
            called = f"{world.items} items, {world.reviews} each, three criteria"
            yield f"| {called} | {name} {tally.line()}"


def _kinds(data: real.Data) -> dict[str, real.Data]:
    """Hold intervals against ratings that were not drawn, and against a truth."""
    unknown = np.full_like(data.truth, np.nan)
    kinds = {"other reviewers": data._replace(truth=unknown)}
    # Ranks of all items mean nothing where the truth is about those of a group.
    grouped = any(data.name.startswith(name) for name in real.GROUPS)
    if not (grouped or np.isnan(data.truth).any()):
        kinds["outside truth"] = data
    return kinds


def measured(folder: Path, repeats: int, seed: int) -> Iterator[str]:
    """Yield a line for each real data set, kind of truth and method."""
    for data in real.read(folder):
        kinds = _kinds(data)
        tallies = {(kind, method): Tally() for kind in kinds for method in METHODS}
        for cell in real.cells(data):
            if not cell.load and "outside truth" not in kinds:
                continue
            for trial in range(repeats if cell.load else 1):
                name = f"{cell.data}/{cell.load}/{cell.reviews}/{trial}/design"
                rows = real.draw(data, cell, stream(seed, name))
                codes, place = np.unique(data.items[rows], return_inverse=True)
                ratings = eh.Ratings(data.reviewers[rows], place, data.scores[rows])
                for method in METHODS:
                    found = eh.rank(ratings, method=method, rng=trial)
                    for kind, known in kinds.items():
                        truth = real._target(known, rows)[codes]  # noqa: SLF001 - its protocol
                        tallies[kind, method].add(found, truth)
        for (kind, method), tally in tallies.items():
            if tally.inside:
                yield f"| {data.name}, {kind} | {method} {tally.line()}"


AT_ONCE = {
    "equal": np.zeros(20),
    "four groups": np.repeat([0.0, 0.5, 1.0, 1.5], 5),
    "different": np.linspace(0, 2, 20),
    "drawn": None,
}


def judged(
    prompts: int, values: Floats | None, seed: list[int]
) -> tuple[Floats, Floats]:
    """Draw values if none are given, and 0 to 10 by three judges on each prompt."""
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 0.5, 20) if values is None else values
    scores = values + 0.7 * rng.normal(size=(prompts, 1, 20))
    scores = scores + rng.normal(size=(prompts, 3, 20))
    scores += rng.normal(size=(prompts, 1, 1)) + 0.5 * rng.normal(size=(1, 3, 1))
    return values, np.clip(np.round(5 + 1.5 * scores), 0, 10)


def holm_sets(signs: Floats) -> float:
    """Return how many places an item spans on average, from a row a prompt."""
    statistics = signs.sum(axis=0) / np.sqrt((signs**2).sum(axis=0))
    p_values = np.sort(norm.sf(np.concatenate([statistics, -statistics])))
    kept = p_values <= 0.05 / np.arange(len(p_values), 0, -1)
    return float(20 - 2 * (len(kept) if kept.all() else kept.argmin()) / 20)


def at_once(repeats: int, seed: int, only: str) -> Iterator[str]:
    """Yield a line for each world of 20 models."""
    people, models = np.divmod(np.arange(20 * 3), 20)
    first, second = np.triu_indices(20, 1)
    for name, design, number in itertools.product(
        AT_ONCE, ("all", "a third"), (100, 1000)
    ):
        label = f"{name}, {number} prompts, {design}"
        if only not in label:
            continue
        trials = repeats if number == 100 else max(repeats // 5, 1)
        right, widths, holm = [], [], []
        for trial in range(trials):
            values, scores = judged(number, AT_ONCE[name], [seed, number, trial])
            rng = np.random.default_rng([seed, trial])
            kept = rng.permuted(np.tile(np.arange(20), (number * 3, 1)), axis=1)
            kept = (kept < (20 if design == "all" else 7)).ravel()
            reviewers = np.add.outer(3 * np.arange(number), people).ravel()
            items = np.tile(models, number)
            data = eh.Ratings(reviewers[kept], items[kept], scores.ravel()[kept])
            prompts = np.arange(3 * number) // 3
            if design == "all":
                codes = prompts[data.reviewer_codes]
                above = simultaneous.from_signs(data, codes, trial)
            else:
                more: Any = {"cluster": dict(enumerate(prompts.tolist()))}
                more |= {"method": "centred", "simultaneous": True}
                sure: Any = eh.rank(data, rng=trial, **more).uncertainty
                above = sure.at_once
            right.append(not (above & (values[:, None] <= values)).any())
            widths.append(20 - 2 * above.sum() / 20)
            if design == "all":
                signs = np.sign(scores[..., first] - scores[..., second]).sum(axis=1)
                holm.append(holm_sets(signs))
        error = np.std(right) / max(trials - 1, 1) ** 0.5
        beside = f"{np.mean(holm):.2f}" if holm else ""
        yield (
            f"| {label} | {np.mean(right):.3f} ± {error:.3f} "
            f"| {np.mean(widths):.2f} | {beside} |"
        )


@click.command()
@click.argument("folder", required=False, type=click.Path(exists=True, path_type=Path))
@click.option("--repeats", default=200, show_default=True, type=click.IntRange(1))
@click.option("--seed", default=7, show_default=True, type=click.IntRange(0))
@click.option("--only", default="", help="Only worlds with these words in their name.")
@click.option("--at-once", "together", is_flag=True, help="Ranks of all at once.")
@click.option("--criteria", is_flag=True, help="A total of criteria, and each of them.")
def main(
    folder: Path | None,
    repeats: int,
    seed: int,
    only: str,
    *,
    together: bool,
    criteria: bool,
) -> None:
    """Print the table."""
    if together:
        click.echo("| models | all ranks hold | places | Holm |\n|---|---|---|---|")
        for line in at_once(repeats, seed, only):
            click.echo(line)
        return
    click.echo("| ratings | method | covered | at 90 % exactly | width | chances |")
    click.echo("|---|---|---|---|---|---|")
    lines = by_criteria(repeats, seed) if criteria else simulated(repeats, seed, only)
    for line in lines:
        click.echo(line)
    if folder is not None:
        for line in measured(folder, max(repeats // 10, 1), seed):
            click.echo(line)


if __name__ == "__main__":
    main()
