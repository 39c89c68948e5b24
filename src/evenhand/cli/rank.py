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
    help="Ordinal ranking that flips and twins start from.  [default: topological]",
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
    "--design",
    type=_shared.Known(["pairs", "balanced"]),
    help="How items were assigned to reviewers, for the record.",
)
@_shared.result_options
def command(
    file: str,
    file_format: str | None,
    *,
    method: str,
    start: str | None,
    scan: str | None,
    twins: str | None,
    by: str | None,
    weight: str | None,
    design: str | None,
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
            design=design,
            rng=seed,
        )
    text = json.dumps(result.to_dict(), indent=2) if as_json else explain(result)
    _shared.deliver_result(text, output, result.notices, result.seed)


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
        coins = "coin was" if len(result.draws) == 1 else "coins were"
        parts.append(
            f"{len(result.draws)} {coins} flipped; the probabilities are the coins' "
            "biases, not chances of being right."
        )
    parts.append(_shared.claim("rank", result.method, result.notices))
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
    coins = {}
    for draw in result.draws:
        for item in draw.items:
            share = draw.p_first if item == draw.items[0] else 1 - draw.p_first
            other = draw.items[1] if item == draw.items[0] else draw.items[0]
            coins[item] = f"{share:.3g} to be above {printable(other)}"
    if coins:
        table.add_column("settled by a coin", overflow="fold")
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
