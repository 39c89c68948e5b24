"""What confidence is worth: rankings with equal, estimated and true weights.

    python bench/confidence.py [--repeats 100] [--seed 7]

Simulated reviews: normal values of items (standard deviation 1), offsets of reviewers
(0.5) and noise (1 on average, in the root of mean squares), whose standard deviation
falls with the reviewer's confidence, one of four levels drawn for each rating, or means
nothing. Printed for each world: Kendall agreement of `adaptive` with the values, with
weights all equal, estimated from the ratings and the true ones, and the differences to
equal weights, paired, with their standard errors.
"""

from __future__ import annotations

from typing import NamedTuple

import click
import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

import evenhand as eh
from evenhand.models.adaptive import adaptive

LEVELS = 4


Floats = NDArray[np.float64]


class World(NamedTuple):
    """Noise from the least confident on, items, reviews of each and of a reviewer."""

    noise: tuple[float, ...]
    items: int
    reviews: int
    load: int
    levels: int = 0


MEANS_NOTHING, FALLS = (1.0,) * LEVELS, (1.6, 1.2, 0.8, 0.5)
SIZES = (30, 3, 3), (60, 3, 5), (60, 3, 5, 5), (120, 4, 5)
WORLDS = [World(noise, *size) for noise in (MEANS_NOTHING, FALLS) for size in SIZES]


def draw(world: World, rng: np.random.Generator) -> tuple[eh.Ratings, Floats, Floats]:
    """Draw ratings with confidence and true weights, and the values."""
    items = np.concatenate([rng.permutation(world.items) for _ in range(world.reviews)])
    reviewers = np.arange(len(items)) // world.load
    keys = np.unique(reviewers * world.items + items)
    reviewers, items = np.divmod(keys, world.items)
    noise = np.array(world.noise) / np.sqrt(np.mean(np.square(world.noise)))
    levels = rng.integers(LEVELS, size=len(keys))
    values = rng.normal(size=world.items)
    scores = values[items] + 0.5 * rng.normal(size=reviewers.max() + 1)[reviewers]
    scores += noise[levels] * rng.normal(size=len(keys))
    if world.levels:
        middle = (world.levels + 1) / 2
        scores = np.clip(np.round(middle + 0.8 * scores), 1, world.levels)
    ratings = eh.Ratings(
        reviewers, items, scores, confidence=levels, all_items=range(world.items)
    )
    return ratings, noise[levels] ** -2.0, values


def agreements(world: World, rng: np.random.Generator) -> list[float]:
    """Return the agreement with equal, estimated and true weights."""
    ratings, true, values = draw(world, rng)
    weighed = (ratings.with_weights(None), ratings, ratings.with_weights(true))
    return [kendalltau(adaptive(each).estimates, values).statistic for each in weighed]


@click.command(help=__doc__)
@click.option("--repeats", default=100)
@click.option("--seed", default=7)
def main(repeats: int, seed: int) -> None:
    """Print the table."""
    click.echo(
        "| noise | items | reviews | load | marks | equal | estimated | true "
        "| estimated - equal | true - equal |"
    )
    for number, world in enumerate(WORLDS):
        rng = np.random.default_rng([seed, number, 0])
        found = np.array([agreements(world, rng) for _ in range(repeats)])
        cells = [f"{mean:.3f}" for mean in found.mean(axis=0)]
        for column in (1, 2):
            away = found[:, column] - found[:, 0]
            error = away.std(ddof=1) / np.sqrt(repeats)
            cells.append(f"{away.mean():+.4f} ± {error:.4f}")
        noise = ", ".join(map(str, world.noise))
        row = [noise, *map(str, world[1:-1]), str(world.levels or ""), *cells]
        click.echo(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
