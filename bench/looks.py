"""How often looking after every score names an item that is no better.

    python -m bench.looks [--runs 4000] [--scores 1000] [--seed 7]

Two equal items on twelve hostile streams, at 5%. Beside evenhand's e-value stands the
asymptotic confidence sequence of the difference of means (Waudby-Smith, Arbour, Sinha,
Kennedy and Ramdas, "Time-uniform central limit theory and asymptotic confidence
sequences", arXiv 2103.06476), which experimentation platforms use, from the tenth score
on; and the t-test looked at after every score. Prints the table of docs/benchmark.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from evenhand.lab.watching import evidence_paths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Scores = NDArray[np.float64]
    Firsts = NDArray[np.bool_]

ALPHA, TUNED_FOR, FIRST_LOOK, BLOCK = 0.05, 500, 10, 250


STREAMS = (
    *("equal", "drifting", "day of week", "disjoint scales", "five stars"),
    *("heavy tails", "sorted, rising", "sorted, falling", "one in a hundred"),
    *("reacts: follows who leads", "reacts: falls after a high score"),
    "ramp-up from 5% to 50%",
)


def next_scores(
    name: str, first: Firsts, past: Scores, rng: np.random.Generator
) -> Scores:
    """Return what the next reviewer of each run gives, whichever item it is."""
    runs, at = past.shape
    noise: Any = rng.normal(size=runs)
    leaning: Any = np.sign(first.sum(axis=1) - at / 2)
    scores: Any
    match name:
        case "drifting" | "ramp-up from 5% to 50%":
            scores = noise + at / 100
        case "day of week":
            scores = noise + 3 * math.sin(at * 2 * math.pi / 70)
        case "disjoint scales":
            scores = noise + 1000 * rng.integers(50, size=runs)
        case "five stars":
            scores = np.clip(np.round(4.4 + 1.2 * noise), 1, 5)
        case "heavy tails":
            scores = rng.standard_t(1, runs)
        case "sorted, rising" | "sorted, falling":
            scores = np.full(runs, float(at if name == "sorted, rising" else -at))
        case "one in a hundred":
            scores = 100.0 * (rng.random(runs) < 0.01)
        case "reacts: follows who leads":
            scores = noise + leaning * (1 + at)
        case "reacts: falls after a high score":
            scores = noise - 0.8 * past[:, -1] if at else noise
        case _:
            scores = noise
    return np.asarray(scores, np.float64)


def draw(
    name: str, runs: int, size: int, rng: np.random.Generator
) -> tuple[Firsts, Scores, Scores]:
    """Draw who got the first item, the scores, and the probabilities."""
    share = np.full((runs, size), 0.5)
    if name.startswith("ramp-up"):
        share[:] = np.linspace(0.05, 0.5, size)
    first, scores = rng.random((runs, size)) < share, np.zeros((runs, size))
    for at in range(size):
        scores[:, at] = next_scores(name, first[:, :at], scores[:, :at], rng)
    return first, scores, share


def sequence_alarms(first: Firsts, scores: Scores, share: Scores) -> Firsts:
    """Say of each run whether the asymptotic confidence sequence ever left out 0."""
    worth = np.where(first, scores / share, -scores / (1 - share))
    n = np.arange(1, scores.shape[1] + 1)
    mean = np.cumsum(worth, axis=1) / n
    spread = np.sqrt(np.maximum(np.cumsum(worth**2, axis=1) / n - mean**2, 0))
    log_alpha = -2 * math.log(ALPHA)
    rho = math.sqrt((log_alpha + math.log(log_alpha) + 1) / TUNED_FOR)
    grown = n * rho**2 + 1
    reach = spread * np.sqrt(
        2 * grown / (n * rho) ** 2 * np.log(np.sqrt(grown) / ALPHA)
    )
    left_out: Firsts = (np.abs(mean) > reach)[:, FIRST_LOOK - 1 :]
    return np.asarray(left_out.any(axis=1))


def t_test_alarms(first: Firsts, scores: Scores) -> Firsts:
    """Say of each run whether a Welch test at 5% ever finds a difference."""
    sums = []
    for side in (first, ~first):
        count = np.maximum(np.cumsum(side, axis=1), 1)
        mean = np.cumsum(scores * side, axis=1) / count
        square = np.cumsum(scores**2 * side, axis=1) / count
        variance = np.maximum(square - mean**2, 0) / np.maximum(count - 1, 1)
        sums.append((mean, variance, count))
    (one, var_one, n_one), (two, var_two, n_two) = sums
    seen = np.minimum(n_one, n_two) >= FIRST_LOOK // 2
    beyond = np.abs(one - two) > 1.96 * np.sqrt(var_one + var_two) + 1e-12
    return np.asarray((beyond & seen).any(axis=1))


def alarms(name: str, runs: int, size: int, seed: int) -> list[float]:
    """Return shares of runs with a false alarm: evenhand, sequence, t-test."""
    rng = np.random.default_rng([seed, STREAMS.index(name)])
    counts = np.zeros(3)
    for start in range(0, runs, BLOCK):
        first, scores, share = draw(name, min(BLOCK, runs - start), size, rng)
        logs = evidence_paths(first, scores, share)[..., 2]
        counts[0] += (logs.max(axis=1) >= -math.log(ALPHA)).sum()
        counts[1] += sequence_alarms(first, scores, share).sum()
        counts[2] += t_test_alarms(first, scores).sum()
    return list(counts / runs)


@click.command(help=__doc__)
@click.option("--runs", type=int, default=4000, show_default=True)
@click.option("--scores", type=int, default=1000, show_default=True)
@click.option("--seed", type=int, default=7, show_default=True)
def main(runs: int, scores: int, seed: int) -> None:
    """Print the table."""
    heads = "evenhand", "asymptotic sequence", "t-test at every look"
    click.echo(f"| stream | {' | '.join(heads)} |")
    click.echo("|---|---|---|---|")
    for name in STREAMS:
        shares = [f"{share:.4f}" for share in alarms(name, runs, scores, seed)]
        click.echo(f"| {name} | {' | '.join(shares)} |")


if __name__ == "__main__":
    main()
