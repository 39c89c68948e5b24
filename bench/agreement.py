"""How often `check` calls reviewers against or unrelated to the others.

    python bench/agreement.py DIR [--repeats 40] [--seed 7]

First simulated reviewers: ordinary ones (with offsets, widths of scale and noise of
their own), and in each set some who are upside down, random or constant. Then each set
of DIR (NAME.csv with reviewer,item,score): its reviewers as they are, and with one of
them at a time turned upside down, shuffled or made constant.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click
import numpy as np

import evenhand as eh
from evenhand.diagnosis.reviewers import describe, fit_model

WORDS = ("against the others", "no relation to the others", "always gives")
SETTINGS = {
    "5 items a reviewer, 4 reviews": (60, 5, 48, 0.0, None),
    "6 items, 3 reviews": (100, 6, 200, 0.0, None),
    "10 items, 5 reviews": (60, 10, 120, 0.0, None),
    "10 items, 5 reviews, unequal widths and noise, 10 levels": (60, 10, 120, 0.4, 10),
    "20 items, 6 reviews": (30, 20, 100, 0.0, None),
    "20 items, 6 reviews, 5 levels": (30, 20, 100, 0.0, 5),
}
ODD = 3


def simulated(
    setting: tuple[int, int, int, float, int | None], rng: np.random.Generator
) -> tuple[eh.Ratings, list[str]]:
    """Draw ratings in which three reviewers each are upside down, random, constant."""
    reviewers, load, items, unequal, levels = setting
    given = np.array([rng.permutation(items)[:load] for _ in range(reviewers)])
    values = rng.normal(size=items)
    widths = np.maximum(0.1, 1 + unequal * rng.normal(size=(reviewers, 1)))
    noise = np.exp(unequal * rng.normal(size=(reviewers, 1)))
    kinds = ["upside down"] * ODD + ["random"] * ODD + ["constant"] * ODD
    kinds += ["ordinary"] * (reviewers - len(kinds))
    signs = np.array(
        [{"upside down": -1, "ordinary": 1}.get(kind, 0) for kind in kinds]
    )
    seen = signs[:, None] * values[given]
    seen[ODD : 2 * ODD] = rng.normal(size=(ODD, load))
    scores = widths * seen + 0.8 * noise * rng.normal(size=given.shape)
    scores[2 * ODD : 3 * ODD] = 0.0
    scores += rng.normal(size=(reviewers, 1))
    if levels is not None:
        scores = np.clip(np.round((levels + 1) / 2 + scores * levels / 6), 1, levels)
    names = np.repeat(np.arange(reviewers), load)
    return eh.Ratings(names, given.ravel(), scores.ravel()), kinds


def say(title: str, found: Counter[tuple[str, str]]) -> None:
    """Print how often each kind was called each name."""
    click.echo(title)
    for kind in dict.fromkeys(kind for kind, _ in found):
        total = sum(count for (one, _), count in found.items() if one == kind)
        shares = [100 * found[kind, word] / total for word in WORDS]
        parts = [
            f"{word} {share:5.1f} %" for word, share in zip(WORDS, shares, strict=True)
        ]
        click.echo(f"  {kind:<12} {total:>6}: {', '.join(parts)}")


def word_of(agreement: str) -> str:
    """Return the kind of what was said, without the score."""
    return next((word for word in WORDS if agreement.startswith(word)), "")


def changed(scores: np.ndarray, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Return one reviewer's scores upside down, shuffled or all alike."""
    if kind == "upside down":
        return scores.min() + scores.max() - scores
    return (
        rng.permutation(scores) if kind == "random" else np.full_like(scores, scores[0])
    )


def real(ratings: eh.Ratings, rng: np.random.Generator) -> Counter[tuple[str, str]]:
    """Check a set as it is, and with one of up to 30 reviewers changed."""
    found: Counter[tuple[str, str]] = Counter(
        ("as they are", word_of(one.agreement))
        for one in describe(ratings, fit_model(ratings))
    )
    some = rng.permutation(ratings.n_reviewers)[:30]
    for code in some.tolist():
        rows = ratings.reviewer_codes == code
        for kind in ("upside down", "random", "constant"):
            scores = ratings.scores.copy()
            scores[rows] = changed(scores[rows], kind, rng)
            made = eh.Ratings(ratings.reviewer_codes, ratings.item_codes, scores)
            one = describe(made, fit_model(made))[code]
            found[kind, word_of(one.agreement)] += 1
    return found


@click.command()
@click.argument("folder", type=click.Path(exists=True, path_type=Path))
@click.option("--repeats", default=40, show_default=True)
@click.option("--seed", default=7, show_default=True)
def main(folder: Path, repeats: int, seed: int) -> None:
    """Print both tables."""
    rng = np.random.default_rng(seed)
    for title, setting in SETTINGS.items():
        found: Counter[tuple[str, str]] = Counter()
        for _ in range(repeats):
            ratings, kinds = simulated(setting, rng)
            people = describe(ratings, fit_model(ratings))
            found.update(
                (kind, word_of(one.agreement))
                for kind, one in zip(kinds, people, strict=True)
            )
        say(title, found)
    for path in sorted(folder.glob("*.csv")):
        if not path.stem.endswith(("_truth", "_ranks")):
            say(path.stem, real(eh.read_ratings(path), rng))


if __name__ == "__main__":
    main()
