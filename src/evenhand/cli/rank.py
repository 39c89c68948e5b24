"""`evenhand rank`: order many items."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from evenhand.catalogue import methods
from evenhand.cli import _shared
from evenhand.errors import printable

if TYPE_CHECKING:
    from rich.table import Table

    from evenhand._results import Label
    from evenhand.ranking.ranking import Ranking

NAMES = [method.name for method in methods("rank")]
# Rankings with more items are printed without a frame.
LONG = 1000


@click.command("rank")
@_shared.reading_options
@click.option(
    "--method",
    type=_shared.Known(NAMES),
    default="flips",
    show_default=True,
    help="Rule.",
)
@click.option(
    "--start",
    type=_shared.Known(["topological", "uniform", "mean-rank"]),
    help="Ordinal ranking that flips, twins and ties start from.  [default: "
    "topological; mean-rank for ties]",
)
@click.option(
    "--scan",
    type=_shared.Known(["paper", "parity"]),
    help="How flips-uniform goes through the ordering.  [default: parity]",
)
@click.option(
    "--twins",
    type=_shared.Known(["one", "all"]),
    help="How many pairs of twins are settled.  [default: all]",
)
@click.option(
    "--by",
    type=_shared.Known(["direct", "closure"]),
    help="Twins by direct comparisons or by all they imply.  [default: closure]",
)
@_shared.weight_option
@click.option(
    "--score-pairs",
    type=click.IntRange(min=1),
    help="Pairs of scores, an odd number, that settle two items by majority, for flips "
    "and sorter.  [default: 1]",
)
@click.option(
    "--noise",
    type=float,
    help="Noise on mean scores, for ties and safe, in score points.  [default: 0.3]",
)
@click.option(
    "--anchored/--raw",
    default=None,
    help="Take scores relative to items that reviewers share, or as they are, for "
    "sorter, ties and safe.  [default: anchored]",
)
@click.option(
    "--eta",
    type=float,
    help="For safe, let scores settle items whose order is as open as 1/2 + ETA; the "
    "price is shown.  [default: 0]",
)
@click.option(
    "--mean-ranks",
    type=_shared.Known(["auto", "exact", "sampled", "proxy"]),
    help="How mean-rank and safe work out mean ranks.  [default: auto]",
)
@click.option(
    "--design",
    type=_shared.Known(["pairs", "balanced"]),
    help="How items were assigned to reviewers; the guarantees rest on it.",
)
@_shared.evidence_options
@_shared.result_options
def command(  # noqa: PLR0913 - a parameter for each option
    file: str,
    file_format: str | None,
    *,
    method: str,
    start: str | None,
    scan: str | None,
    twins: str | None,
    by: str | None,
    weight: str | None,
    score_pairs: int | None,
    noise: float | None,
    anchored: bool | None,
    eta: float | None,
    mean_ranks: str | None,
    design: str | None,
    assignment_path: str | None,
    secret: str | None,
    record: str | None,
    seed: int | None,
    as_json: bool,
    output: str | None,
    **columns: str | None,
) -> None:
    """Order items, from reviewers who each saw a few of them.

    FILE has a row for each score with a reviewer, an item and the score (or a rank, or
    a winner and a loser): CSV, TSV, Parquet, JSON lines or Excel; - is standard input.
    Neighbours that no reviewer compared are settled by biased coins on their scores;
    each coin is shown with its exact probability, and the seed repeats it.

    \b
    Example:
      evenhand rank examples/conference.csv --seed 7
    """
    from evenhand.ranking.ranking import rank

    ratings = _shared.read(file, file_format, columns)
    assignment = _shared.read_assignment(assignment_path, secret)
    with _shared.working(
        "Ranking (the first run after installing compiles for a while)"
    ):
        result = rank(
            ratings,
            method=method,
            start=start,
            scan=scan,
            twins=twins,
            by=by,
            weight=weight,
            score_pairs=score_pairs,
            noise=noise,
            anchored=anchored,
            eta=eta,
            mean_ranks=mean_ranks,
            design=design,
            assignment=assignment,
            rng=seed,
        )
    text = json.dumps(result.to_dict(), indent=2) if as_json else explain(result)
    _shared.deliver_decision(text, output, result, record, assignment)


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
    parts.append(_shared.claim(result.certificate))
    text = _shared.rendered(*parts)
    return f"{plain_rows(result)}\n{text}" if long else text


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
    """Lay out a ranking as a table."""
    from rich.table import Table

    table = Table()
    table.add_column("rank", justify="right")
    table.add_column("item", overflow="fold")
    averaged = any(row.mean_rank is not None for row in result.items)
    if averaged:
        table.add_column("mean rank", justify="right")
    table.add_column("reviews", justify="right")
    table.add_column("mean score", justify="right")
    table.add_column("spread", justify="right")
    coins: dict[Label, str] = {}
    for draw in result.draws:
        for item in draw.items:
            share = draw.p_first if item == draw.items[0] else 1 - draw.p_first
            other = draw.items[1] if item == draw.items[0] else draw.items[0]
            told = f"{share:.3g} to be above {printable(other)}"
            coins[item] = f"{coins[item]}; {told}" if item in coins else told
    if coins:
        table.add_column("settled by chance", overflow="fold")
    for row in result.items:
        cells = [
            str(row.rank),
            printable(row.item),
            *([f"{row.mean_rank:.3g}"] if averaged else []),
            str(row.reviews),
            "" if row.mean_score is None else f"{row.mean_score:.3g}",
            "" if row.spread is None else f"{row.spread:.3g}",
        ]
        table.add_row(*cells, *([coins.get(row.item, "")] if coins else []))
    return table
