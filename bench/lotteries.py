"""How many of the true best each rule of `select` chooses, on simulated panels.

    python bench/lotteries.py [--panels 100] [--seed 7]

60 proposals with normal values, each scored by three to five of 30 reviewers for 15
places. Scores are the value plus noise of the same spread, on one scale for all with
offsets of half that spread; or on wild ones, an increasing curve for each reviewer. The
number for each rule is the sum of the chances of the true best 15, so that no draw adds
to its error.
"""

from __future__ import annotations

import click
import numpy as np

from evenhand import Ratings, select

RULES = ("maximin", "cut", "smooth", "shares", "top")
ITEMS, REVIEWERS, PLACES = 60, 30, 15


def panel(rng: np.random.Generator, *, wild: bool) -> tuple[Ratings, np.ndarray]:
    """Simulate a panel; return its ratings and the true values."""
    values = rng.normal(size=ITEMS)
    offsets = rng.normal(0, 0.5, REVIEWERS)
    powers, stretches = rng.uniform(0.3, 3, (2, REVIEWERS))
    rows = []
    for item, value in enumerate(values):
        for reviewer in rng.choice(REVIEWERS, rng.integers(3, 6), replace=False):
            seen = value + rng.normal() + offsets[reviewer]
            if wild:
                grown = np.sign(seen) * np.abs(seen) ** powers[reviewer]
                seen = stretches[reviewer] * grown + 5 * offsets[reviewer]
            rows.append((int(reviewer), item, round(float(seen), 2)))
    return Ratings(*zip(*rows, strict=True)), values


@click.command()
@click.option("--panels", default=100)
@click.option("--seed", default=7)
def main(panels: int, seed: int) -> None:
    """Print a row for each kind of panel."""
    click.echo(f"| scales | {' | '.join(f'`{rule}`' for rule in RULES)} |")
    click.echo("|---" * (len(RULES) + 1) + "|")
    for wild in (False, True):
        rng = np.random.default_rng(seed)
        hits = np.zeros((panels, len(RULES)))
        for row in hits:
            ratings, values = panel(rng, wild=wild)
            best = set(np.argsort(-values)[:PLACES].tolist())
            for column, rule in enumerate(RULES):
                chosen = select(ratings, places=PLACES, rule=rule)
                row[column] = sum(
                    line.chance for line in chosen.rows if line.item in best
                )
        errors = hits.std(axis=0, ddof=1) / np.sqrt(panels)
        cells = (
            f"{m:.2f} ± {e:.2f}" for m, e in zip(hits.mean(axis=0), errors, strict=True)
        )
        click.echo(f"| {'wild' if wild else 'alike'} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
