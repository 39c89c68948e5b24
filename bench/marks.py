"""Coverage of the intervals of marks.

    python bench/marks.py [--repeats 100] [--seed 7]

Ratings are simulated: normal values of items and noise (standard deviation 1 each) and
offsets of reviewers, by the additive model, which nearly all marks come from. Printed
for each world: how often the 90 % interval of a mark holds the item's value, which is
what reviewers of this kind would give on average; how often it holds what the reviewers
at hand would; its mean width, in standard deviations of the noise; and how wide it is
beside one that leaves out that reviewers of this kind might be stricter on the whole.

In the last worlds the model is wrong. Clusters: reviewers come in four clusters of one
offset each, half of the variance, and each item is read within one cluster. Lenient:
the better half of the items goes to the more lenient half of the reviewers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click
import numpy as np

import evenhand as eh
from evenhand.grading import adjusted_means, t_far

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]

OFFSETS = (0.0, 0.3, 0.6, 1.0, 2.0)
CLUSTERS = 4


class World(NamedTuple):
    """Items, reviewers, reviews of each item, and what is wrong with the model."""

    items: int
    reviewers: int
    reviews: int
    wrong: str = ""


WORLDS = (
    World(12, 6, 2),
    World(30, 8, 2),
    World(30, 15, 2),
    World(60, 8, 2),
    World(60, 20, 2),
    World(60, 30, 2),
    World(40, 12, 3),
    World(60, 20, 4),
    World(150, 20, 2),
    World(60, 20, 2, "clusters"),
    World(60, 20, 2, "lenient"),
)


def simulate(
    world: World, offset: float, seed: int
) -> tuple[Floats, Floats, eh.Ratings]:
    """Draw values of items, offsets of those who rated, and ratings."""
    rng = np.random.default_rng([seed, *world[:3], int(10 * offset), len(world.wrong)])
    values = rng.normal(size=world.items)
    offsets = rng.normal(size=world.reviewers)
    groups, reads = np.zeros(world.reviewers, int), np.zeros(world.items, int)
    if world.wrong == "clusters":
        groups = np.arange(world.reviewers) % CLUSTERS
        reads = rng.integers(CLUSTERS, size=world.items)
        offsets = (offsets + rng.normal(size=CLUSTERS)[groups]) / np.sqrt(2)
    if world.wrong == "lenient":
        groups = (offsets > np.median(offsets)).astype(int)
        reads = (values > np.median(values)).astype(int)
    offsets *= offset
    who = _dealt(groups, reads, world.reviews, rng)
    what = np.repeat(np.arange(world.items), world.reviews)
    scores = values[what] + offsets[who] + rng.normal(size=len(who))
    return values, offsets[np.unique(who)], eh.Ratings(who, what, scores)


def _dealt(
    groups: Places, reads: Places, reviews: int, rng: np.random.Generator
) -> Places:
    """Deal each item to those of its group who have the fewest so far."""
    loads, who = np.zeros(len(groups)), []
    for group in reads:
        order = loads + rng.random(len(loads)) + 1e9 * (groups != group)
        chosen = np.argsort(order)[:reviews]
        loads[chosen] += 1
        who.append(chosen)
    return np.concatenate(who)


def line(world: World, offset: float, repeats: int, seed: int) -> str:
    """Measure one world."""
    kind, hand, widths, ratios = [], [], [], []
    for trial in range(repeats):
        values, offsets, ratings = simulate(world, offset, seed + trial)
        means = adjusted_means(ratings)
        half = float(t_far(means.freedom)) * np.sqrt(means.whole)
        kind.append(np.mean(np.abs(means.values - values) <= half))
        hand.append(np.mean(np.abs(means.values - values - offsets.mean()) <= half))
        widths.append(2 * half.mean())
        ratios.append(np.mean(np.sqrt(means.whole / means.squares)))
    error = np.std(kind) / max(repeats - 1, 1) ** 0.5
    name = f"{world.items} items, {world.reviewers} reviewers, {world.reviews} each"
    name += f", {world.wrong}" if world.wrong else ""
    return (
        f"| {name} | {offset:g} | {np.mean(kind):.3f} ± {error:.3f} "
        f"| {np.mean(hand):.3f} | {np.mean(widths):.2f} | {np.mean(ratios):.2f} |"
    )


@click.command()
@click.option("--repeats", default=100, show_default=True, type=click.IntRange(2))
@click.option("--seed", default=7, show_default=True, type=click.IntRange(0))
@click.option("--only", default="", help="Only worlds with this word in their name.")
def main(repeats: int, seed: int, only: str) -> None:
    """Print the table."""
    click.echo("| ratings | offsets | of the kind | at hand | width | wider |")
    click.echo("|---|---:|---:|---:|---:|---:|")
    for world in WORLDS:
        if only in (world.wrong or "right"):
            for offset in OFFSETS:
                click.echo(line(world, offset, repeats, seed))


if __name__ == "__main__":
    main()
