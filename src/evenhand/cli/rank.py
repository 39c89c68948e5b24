"""`evenhand rank`: order many items."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import click

from evenhand.catalogue import methods
from evenhand.cli import _extras, _shared
from evenhand.cli._shared import option
from evenhand.errors import printable

if TYPE_CHECKING:
    from rich.table import Table

    from evenhand._results import Label
    from evenhand.diagnosis.check import Check
    from evenhand.diagnosis.warp import Warp
    from evenhand.ranking.ranking import Ranking
    from evenhand.ratings import Ratings

NAMES = [method.name for method in methods("rank")]
SMALL = 0.001
SOURCES = {
    "posterior over orderings": "in 90 % of all orderings that respect the comparisons",
    "model": "with probability 90 % or more if the model is right, in the order that "
    "more such reviewers would give",
    "bootstrap over reviewers": "in 90 % of repeats with reviewers drawn again",
    "ranks that the comparisons allow": "all that the comparisons allow",
}
LOT = " It settles part of its order by lot, so another seed may choose otherwise."
# Rankings with more items are printed without a frame.
LONG = 1000
WARPS = 200
# What a warp test takes as it is: the method, and what is declared or chosen.
DECLARED = ("method", "top", "design", "distinct")
# Methods of which a warp test is quick enough to be part of every report.
MODELS = ("adaptive", "additive", "affine", "bradley-terry", "centred", "mean", "z")


@click.command("rank")
@_shared.reading_options()
@option("--method", "Rule.", NAMES, default="adaptive", show_default=True)
@option(
    "--start",
    "Ordinal ranking that flips, twins and ties start from.  [default: topological; "
    "mean-rank for ties]",
    ["topological", "uniform", "mean-rank"],
)
@option(
    "--scan",
    "How flips-uniform goes through the ordering.  [default: parity]",
    ["paper", "parity"],
)
@option(
    "--twins", "How many pairs of twins are settled.  [default: all]", ["one", "all"]
)
@option(
    "--by",
    "Twins by direct comparisons or by all they imply.  [default: closure]",
    ["direct", "closure"],
)
@_shared.weight_option
@option(
    "--score-pairs",
    "Pairs of scores, an odd number, that settle two items by majority, for flips and "
    "sorter.  [default: 1]",
    click.IntRange(min=1),
)
@option(
    "--noise",
    "Noise on mean scores, for ties and safe, in score points.  [default: 0.3]",
    float,
)
@option(
    "--anchored/--raw",
    "Take scores relative to items that reviewers share, or as they are, for sorter, "
    "ties and safe.  [default: anchored]",
    default=None,
)
@option(
    "--eta",
    "For safe, let scores settle items whose order is as open as 1/2 + ETA; the price "
    "is shown.  [default: 0]",
    float,
)
@option(
    "--split",
    "For safe, split the reviewers where they contradict each other, or always; always "
    "keeps the guarantee with errors in scores, if chosen before scores are seen.  "
    "[default: auto]",
    ["auto", "always"],
)
@option(
    "--mean-ranks",
    "How mean-rank and safe work out mean ranks.  [default: auto]",
    ["auto", "exact", "sampled", "proxy"],
)
@option(
    "--shrink/--no-shrink",
    "Draw values to the middle as far as ratings are few or noisy, for additive.  "
    "[default: shrink]",
    default=None,
)
@option(
    "--top",
    "How many are to be chosen: shows who is in and with what probability; with "
    "--design or --assignment, also where adaptive and safe disagree.",
    click.IntRange(min=1),
    metavar="K",
)
@option(
    "--warp warped",
    "Redraw every reviewer's scale many times, and show what of the ranking survives, "
    "beside the plain mean.",
    is_flag=True,
)
@option(
    "--design",
    "How items were assigned to reviewers; the guarantees rest on it.",
    ["pairs", "balanced"],
)
@option(
    "--distinct",
    "Declare that no reviewer would give two items the same score; the guarantees rest "
    "on it.",
    is_flag=True,
)
@_shared.evidence_options
@_extras.extra_options
@_shared.result_options
def command(**options: Any) -> None:  # noqa: ANN401 - click's values
    """Order items, from reviewers who each saw a few of them.

    FILE is an export of HotCRP, OpenReview, CMT, EasyChair, Moodle, Canvas or Gavel, or
    has a row for each score with a reviewer, an item and the score (or a rank, or a
    winner and a loser): CSV,
    TSV, JSON, Parquet or Excel; - is standard input. What it was taken for is said.
    The default method, adaptive, compares scores across reviewers as far as their
    offsets are small; method safe is the one with a guarantee. Items between two lines
    of the table cannot be told apart, and each item has an interval of ranks.

    \b
    Example:
      evenhand rank examples/conference.csv --seed 7
    """
    job = _extras.Job("rank", options)
    warped = options.pop("warped")
    from evenhand.ranking.ranking import rank

    with _shared.working("Ranking"):
        result = rank(job.ratings, **options, assignment=job.assignment, rng=job.seed)
    survived = _survived(job, result, asked=warped)
    found = _checked(job.ratings, result) if job.extras.needs_check else None
    if job.as_json:
        more = {"warp": survived.to_dict()} if warped and survived else {}
        text = json.dumps({**result.to_dict(), **more}, indent=2)
    else:
        text = explain(result)
        if warped:
            text = f"{text.rstrip()}\n\n{survived!r}"
    job.deliver(result, text, result.notices, check=found, warp=survived)


def _checked(ratings: Ratings, result: Ranking) -> Check:
    from evenhand.diagnosis.check import check

    k = None if result.top is None else result.top.k
    cut = k if k is not None and k < ratings.n_items else None
    with _shared.working("Checking"):
        return check(ratings, top=cut, order=result.order, rng=result.seed)


def _survived(job: _extras.Job, result: Ranking, *, asked: bool) -> Warp | None:
    """Run the warp test if it was asked for, or a report has the time for it."""
    ratings = job.ratings
    asked_for = {
        name: value
        for name, value in job.options.items()
        if value is not None and name not in DECLARED
    }
    draws = WARPS
    if not asked:
        draws = _extras.report_draws(ratings) if job.extras.draws else 0
        rated = ratings.kind == "scores" and len({*ratings.item_codes.tolist()})
        quick = result.method in MODELS and not asked_for
        if not (draws and quick and rated == ratings.n_items > 1):
            return None
    from evenhand.diagnosis.warp import warp
    from evenhand.ranking.ranking import rank

    def again(warped: Ratings) -> list[int]:
        found = rank(warped, method=result.method, rng=result.seed, **asked_for)
        return [warped.item_code(item) for item in found.order]

    again.__name__ = result.method
    with _shared.working("Redrawing scales"):
        return warp(
            ratings,
            method=again if asked_for else result.method,
            draws=draws,
            top=None if result.top is None else result.top.k,
            rng=result.seed,
        )


def explain(result: Ranking) -> str:
    """Tell a ranking to people.

    Examples:
        >>> from evenhand.ranking.ranking import rank
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> "y" in explain(rank(ratings, method="topological", rng=7))
        True
    """
    long = len(result.items) > LONG
    parts: list[str | Table] = [] if long else [ranking_table(result)]
    if result.draws:
        pairs = "pair was" if len(result.draws) == 1 else "pairs were"
        parts.append(
            f"{len(result.draws)} {pairs} settled by chance and scores; the "
            "probabilities are those of the draw, not chances of being right."
        )
    parts += _sure(result)
    parts.append(_shared.claim(result.certificate))
    text = _shared.rendered(*parts)
    return f"{plain_rows(result)}\n{text}" if long else text


def _sure(result: Ranking) -> list[str]:
    lines = []
    sure, top = result.uncertainty, result.top
    if sure is not None:
        lines.append(f"Ranks from and to: {SOURCES.get(sure.source, sure.source)}.")
    if top is not None:
        chosen, here, there = (
            ", ".join(printable(item) for item in items)
            for items in (top.items, top.only_here, top.only_there)
        )
        lines.append(f"The best {top.k}: {chosen}.")
        if top.other is not None and not here:
            lines.append(f"Method {top.other} chooses the same.")
        elif top.other is not None:
            lot = LOT if top.other == "safe" else ""
            lines.append(f"Method {top.other} has {there} instead of {here}.{lot}")
    return lines


def plain_rows(result: Ranking) -> str:
    """Lay out a long ranking in plain columns, which takes no time.

    Examples:
        >>> from evenhand.ranking.ranking import rank
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> print(plain_rows(rank(ratings, method="mean", rng=7)).splitlines()[1])
        1     1   2      y
    """
    width = len(str(len(result.items)))
    lines = [f"{'rank':<{width + 4}} reviews mean score  item"]
    lines += [
        f"{row.rank:<{width + 4}} {row.reviews:<7} "
        f"{'' if row.mean_score is None else f'{row.mean_score:.3g}':<11} "
        f"{printable(row.item)}"
        for row in result.items
    ]
    return "\n".join(lines)


def ranking_table(result: Ranking) -> Table:
    """Lay out a ranking as a table, with a line between groups."""
    rows, top, settled = result.items, result.top, _settled(result)
    columns = {
        "rank": [str(row.rank) for row in rows],
        "item": [printable(row.item) for row in rows],
        "from": ["" if row.rank_low is None else str(row.rank_low) for row in rows],
        "to": ["" if row.rank_high is None else str(row.rank_high) for row in rows],
        "mean rank": [_number(row.mean_rank) for row in rows],
        "reviews": [str(row.reviews) for row in rows],
        "mean score": [_number(row.mean_score) for row in rows],
        "spread": [_number(row.spread) for row in rows],
    }
    if top is not None:
        drawn = result.uncertainty is not None and result.uncertainty.draws > 0
        shares = [_share(row.p_top, certain=not drawn) for row in rows]
        columns[f"in top {top.k}"] = shares
    columns["settled by chance"] = [settled.get(row.item, "") for row in rows]
    always = ("rank", "item", "reviews", "mean score", "spread")
    shown = {
        name: cells for name, cells in columns.items() if name in always or any(cells)
    }
    steps = [one.bucket != two.bucket for one, two in itertools.pairwise(rows)]
    lines = {place for place, apart in enumerate(steps, start=1) if apart}
    return _shared.table(shown, left=("item", "settled by chance"), lines=lines)


def _settled(result: Ranking) -> dict[Label, str]:
    coins: dict[Label, list[str]] = {}
    for draw in result.draws:
        (one, two), share = draw.items, draw.p_first
        for item, other, chance in ((one, two, share), (two, one, 1 - share)):
            odds = f"{_share(chance, certain=False)} to be above {printable(other)}"
            coins.setdefault(item, []).append(odds)
    return {item: "; ".join(odds) for item, odds in coins.items()}


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _share(value: float | None, *, certain: bool = True) -> str:
    """Show a probability without calling it certain because it is rounded, or drawn.

    Examples:
        >>> _share(0.9999), _share(1.0), _share(1e-9), _share(0.25)
        ('> 0.999', '1', '< 0.001', '0.25')
    """
    if value is None:
        return ""
    if certain and value in (0, 1):
        return f"{value:g}"
    if value < SMALL:
        return f"< {SMALL:g}"
    return f"> {1 - SMALL:g}" if value > 1 - SMALL else f"{value:.3g}"
