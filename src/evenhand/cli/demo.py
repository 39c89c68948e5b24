"""`evenhand demo`: the main job on a generated conference, start to end."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from evenhand.cli import _options, _shared
from evenhand.cli._options import option

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.ratings import Ratings

N_PAPERS = 12
N_REVIEWERS = 16
PER_REVIEWER = 3
DECIMALS = 4
TOP = 3

SCALES: tuple[Callable[[float], float], ...] = (
    lambda value: 10 * value,
    lambda value: 6 + 4 * value,  # lenient
    lambda value: 4 * value,  # strict
    lambda value: 10 * math.sqrt(value),  # generous in the middle
    lambda value: 10 * value**3,  # hard to please
    lambda value: 10 / (1 + math.exp(6 - 12 * value)),  # all or nothing
)


@click.command("demo")
@_options.seed_option
@option("--save PATH", "Write the generated ratings there, as CSV.")
@option("--report PATH", "Write a self-contained HTML report.")
def command(seed: int | None, save: str | None, report: str | None) -> None:
    """Rank a small generated conference whose true order is known.

    Each reviewer scores a few papers on a scale of their own: lenient, strict, all or
    nothing. The demo shows the true order, evenhand's and the plain mean's.

    \b
    Example:
      evenhand demo --seed 7 --save conference.csv
    """
    from evenhand.losses import kendall_tau
    from evenhand.randomness import seed_from
    from evenhand.ranking.ranking import rank
    from evenhand.words import tables
    from evenhand.words.lines import cut_lines
    from evenhand.words.page import require_html

    if report is not None:
        require_html(report)
    _shared.check_paths({"--save": save, "--report": report}, {})
    seed = seed_from(seed)
    ratings, truth = conference(seed)
    if save is not None:
        _shared.deliver(as_csv(ratings), save)
    with _shared.working("Ranking"):
        ours = rank(ratings, top=TOP, rng=seed)
        safe = rank(ratings, method="safe", design="balanced", rng=seed)
        mean = rank(ratings, method="mean", rng=seed)
    pairs = math.comb(N_PAPERS, 2)
    wrong = [int(kendall_tau(truth, one.order)) for one in (ours, safe, mean)]
    click.echo(
        f"A small conference: {N_PAPERS} papers, {N_REVIEWERS} reviewers, "
        f"{PER_REVIEWER} papers each.\n"
        "Every reviewer scores on a scale of their own; the true order is "
        f"{' '.join(truth)}.\n"
    )
    _shared.deliver(_shared.rendered(*cut_lines(ours), tables.ranking(ours)), None)
    click.echo(
        f"Pairs in the wrong order, of {pairs}: evenhand's default {wrong[0]}, its "
        f"method safe {wrong[1]}, plain mean {wrong[2]}.\n"
        f"Method safe gives {' '.join(str(item) for item in safe.order)}.\n"
        f"The plain mean gives {' '.join(str(item) for item in mean.order)}.\n\n"
        "These ratings cannot distinguish items between two lines of the table.\n"
        "Method safe keeps every order that a reviewer gave and has a guarantee for\n"
        "all scales (docs/theory.md). One conference proves nothing.\n\n"
        "Try next:\n"
        f"  evenhand demo --seed {seed} --save conference.csv\n"
        f"  evenhand rank conference.csv --seed {seed} --top {TOP} --report r.html\n"
        "  evenhand check conference.csv\n"
        "  evenhand methods"
    )
    if report is not None:
        ours.report(report)
        click.echo(f"Open {report} in a browser.")
    _shared.note((), seed)


def conference(seed: int) -> tuple[Ratings, list[str]]:
    """Make a conference whose true order is known.

    Args:
        seed: Where all its chance comes from.

    Returns:
        The ratings, and the papers from best to worst.

    Examples:
        >>> ratings, truth = conference(7)
        >>> ratings
        Ratings(48 scores by 16 reviewers of 12 items)
    """
    from evenhand import designs
    from evenhand.randomness import below, stream, uniforms
    from evenhand.ratings import Ratings

    papers = [chr(ord("A") + number) for number in range(N_PAPERS)]
    values = uniforms(stream(seed, "demo values"), N_PAPERS)
    kinds = stream(seed, "demo scales")
    assignment = designs.balanced(
        N_PAPERS, N_REVIEWERS, per_reviewer=PER_REVIEWER, rng=seed
    )
    reviewers, items, scores = [], [], []
    for number, seen in enumerate(assignment):
        scale = SCALES[below(kinds, len(SCALES))]
        for paper in seen:
            reviewers.append(f"reviewer {number + 1:02d}")
            items.append(papers[paper])
            scores.append(round(scale(float(values[paper])), DECIMALS))
    truth = sorted(papers, key=lambda paper: -values[papers.index(paper)])
    return Ratings(reviewers, items, scores), truth


def as_csv(ratings: Ratings) -> str:
    """Write ratings as the text of a CSV file.

    Examples:
        >>> as_csv(conference(7)[0]).splitlines()[0]
        'reviewer,item,score'
    """
    return ratings.to_frame().write_csv()
