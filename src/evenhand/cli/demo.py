"""`evenhand demo`: the main job on a generated conference, start to end."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from evenhand.cli import _options, _shared
from evenhand.cli._options import option
from evenhand.lazy import lazy

if TYPE_CHECKING:
    from evenhand import losses, randomness
    from evenhand.lab import scenario as scenarios
    from evenhand.lab import simulation
    from evenhand.ranking import ranking as rankings
    from evenhand.words import lines as result_lines
    from evenhand.words import page as pages
    from evenhand.words import tables
else:
    scenarios = lazy("evenhand.lab.scenario")
    simulation = lazy("evenhand.lab.simulation")
    losses = lazy("evenhand.losses")
    randomness = lazy("evenhand.randomness")
    rankings = lazy("evenhand.ranking.ranking")
    result_lines = lazy("evenhand.words.lines")
    pages = lazy("evenhand.words.page")
    tables = lazy("evenhand.words.tables")


TOP = 3
FOUND = """\
Pairs in the wrong order, of {pairs}: evenhand's default {}, its method safe {}, plain \
mean {}.
Method safe gives {}.
The plain mean gives {}.

These ratings cannot distinguish items between two lines of the table.
Method safe keeps every order that a reviewer gave and has a guarantee for
all scales (docs/theory.md). One conference proves nothing.

Try next:
  evenhand demo --seed {seed} --save conference.csv
  evenhand rank conference.csv --seed {seed} --top {top} --report r.html
  evenhand check conference.csv
  evenhand methods"""


@click.command("demo", cls=_options.OnceEach)
@_options.seed_option
@option("--save PATH", "Write the generated ratings there, as CSV.")
@option("--report PATH", "Write a self-contained HTML report.")
def command(seed: int | None, save: str | None, report: str | None) -> None:
    """Rank a small generated conference whose true order is known.

    Each reviewer scores a few papers on a scale of their own: lenient, strict, hard to
    please. The demo shows the true order, evenhand's and the plain mean's.

    \b
    Example:
      evenhand demo --seed 7 --save conference.csv
    """
    if report is not None:
        pages.require_html(report)
    _shared.check_paths({"--save": save, "--report": report}, {})
    seed = randomness.seed_from(seed)
    case = scenarios.Scenario(
        "rank", 12, 16, scales="power > affine", design="balanced", per_reviewer=3
    )
    ratings, values = simulation.draw_ratings(case, rng=seed)
    truth = sorted(values, key=lambda paper: -values[paper])
    if save is not None:
        _shared.deliver(ratings.to_frame().write_csv(), save)
    with _shared.working("Ranking"):
        ours = rankings.rank(ratings, top=TOP, rng=seed)
        safe = rankings.rank(ratings, method="safe", design="balanced", rng=seed)
        mean = rankings.rank(ratings, method="mean", rng=seed)
    wrong = [
        int(losses.kendall_tau(truth, ranking.order)) for ranking in (ours, safe, mean)
    ]
    orders = [" ".join(map(str, order)) for order in (truth, safe.order, mean.order)]
    click.echo(
        f"A small conference: {case.items} papers, {case.reviewers} reviewers, "
        f"{case.per_reviewer} papers each.\nEvery reviewer scores on a scale of their "
        f"own; the true order is {orders[0]}.\n"
    )
    _shared.deliver(
        _shared.render(*result_lines.cut_lines(ours), tables.ranking(ours)), None
    )
    pairs = math.comb(case.items, 2)
    click.echo(FOUND.format(*wrong, *orders[1:], pairs=pairs, seed=seed, top=TOP))
    if report is not None:
        ours.report(report)
        click.echo(f"Open {report} in a browser.")
    _shared.note((), seed)
