"""How often compare's p-values find a difference, beside the usual tests.

    python -m bench.power [--trials 150] [--seed 7] [--size 20 --size 1000]

All reviewers share one scale here, which is what the usual tests are made for; on other
scales only redrawn assignments keep their level. Prints the table of docs/benchmark.md:
the share of trials with a two-sided p-value of at most 0.05.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click
import numpy as np
from scipy import stats

from evenhand.ab.pvalues import p_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Scores = NDArray[np.float64]
    Test = Callable[[Scores, Scores], float]

ALPHA = 0.05
# Standard errors of a difference of means between the items.
SHIFTS = (0, 2.5)
# Cuts that make most ratings fours and fives; normal around 65; Student's t.
SCALES: dict[str, Callable[[Scores], Scores]] = {
    "five stars": lambda x: np.digitize(x, [-1.9, -1.4, -0.8, 0.1]) + np.float64(1),
    "0 to 100": lambda x: np.clip(np.round(65 + 15 * x), 0, 100),
    "heavy tails": lambda x: x,
}


def _redrawn(statistic: str) -> Test:
    # Redraws, where not all are counted, enough for the power if not for a p-value.
    return lambda first, second: (
        p_values(first, second, statistic=statistic, design="halves", rng=1).p_value
    )


TESTS: dict[str, Test] = {
    "midrank (default)": _redrawn("midrank"),
    "trimmed": _redrawn("trimmed"),
    "Welch": lambda a, b: float(stats.ttest_ind(a, b, equal_var=False).pvalue),
    "Mann-Whitney": lambda a, b: float(stats.mannwhitneyu(a, b).pvalue),
}


def power(scale: str, size: int, shift: float, trials: int, seed: int) -> list[float]:
    """Return each test's share of trials with a p-value of at most ALPHA."""
    rng = np.random.default_rng([seed, size, round(shift * 1000)])
    found = np.zeros(len(TESTS))
    for _ in range(trials):
        heavy = scale == "heavy tails"
        shape = 2, size
        drawn = rng.standard_t(2, shape) if heavy else rng.standard_normal(shape)
        drawn[0] += shift
        one, two = SCALES[scale](drawn)
        found += [test(one, two) <= ALPHA for test in TESTS.values()]
    return list(found / trials)


@click.command(help=__doc__)
@click.option("--trials", type=int, default=150, show_default=True)
@click.option("--seed", type=int, default=7, show_default=True)
@click.option("--size", "sizes", type=int, multiple=True, default=(20, 1000))
def main(trials: int, seed: int, sizes: tuple[int, ...]) -> None:
    """Print the table."""
    click.echo(f"| scores | of each item | shift | {' | '.join(TESTS)} |")
    click.echo("|---|" + "---|" * (len(TESTS) + 2))
    for scale in SCALES:
        for size in sizes:
            for shift in (errors * math.sqrt(2 / size) for errors in SHIFTS):
                found = power(scale, size, shift, trials, seed)
                cells = " | ".join(f"{share:.2f}" for share in found)
                click.echo(f"| {scale} | {size} | {shift:.2f} | {cells} |")


if __name__ == "__main__":
    main()
