"""`evenhand compare`: which of two items is better."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Literal

import click

from evenhand.catalogue import methods
from evenhand.cli import _shared
from evenhand.errors import printable

if TYPE_CHECKING:
    from evenhand.ab.comparison import Comparison

NAMES = [method.name for method in methods("compare")]


@click.command("compare")
@functools.partial(_shared.reading_options, pairs=True)
@click.option(
    "--items",
    nargs=2,
    metavar="A B",
    help="The two items, if FILE has more; A comes first.",
)
@click.option(
    "--method",
    type=_shared.Known(NAMES),
    default="votes",
    show_default=True,
    help="Rule.",
)
@_shared.weight_option
@click.option(
    "--median", type=_shared.Known(["upper", "lower", "middle"]), help="Which median."
)
@click.option("--trim", type=float, help="Share cut off at each end.  [default: 0.2]")
@click.option(
    "--both",
    type=_shared.Known(["drop", "decide"]),
    help="Reviewers who scored both items: leave them out, or let them decide.",
)
@click.option(
    "--design",
    type=_shared.Known(["halves", "coins", "matched", "panels"]),
    help="How reviewers were assigned to the items, for the record.",
)
@_shared.result_options
def command(
    file: str,
    file_format: str | None,
    items: tuple[str, str] | None,
    *,
    method: str,
    weight: str | None,
    median: str | None,
    trim: float | None,
    both: Literal["drop", "decide"] | None,
    design: str | None,
    seed: int | None,
    as_json: bool,
    output: str | None,
    **columns: str | None,
) -> None:
    """Decide which of two items is better, from people who each scored one of them.

    FILE has a row for each score with a reviewer, an item and the score: CSV, TSV,
    Parquet, JSON lines or Excel; - is standard input. The answer is drawn with a coin
    whose exact probability is shown; the seed repeats it.

    \b
    Example:
      evenhand compare examples/designs.csv --seed 1
    """
    from evenhand.ab.comparison import compare

    ratings = _shared.read(file, file_format, columns)
    with _shared.working("Deciding"):
        result = compare(
            ratings,
            items=items,
            method=method,
            weight=weight,
            median=median,
            trim=trim,
            both=both,
            design=design,
            rng=seed,
        )
    text = json.dumps(result.to_dict(), indent=2) if as_json else explain(result)
    _shared.deliver_result(text, output, result.notices, result.seed)


def explain(result: Comparison) -> str:
    """Tell a comparison to people.

    Examples:
        >>> from evenhand.ab.comparison import compare
        >>> print(explain(compare([3], [2], method="mean", rng=7)).splitlines()[0])
        A is put above B.
    """
    first, second = (printable(item) for item in result.items)
    winner = printable(result.winner)
    loser = second if winner == first else first
    lines = [f"{winner} is put above {loser}."]
    if result.votes is not None:
        ours, theirs = result.votes
        level = " A fair coin broke the tie." if ours == theirs else ""
        lines.append(f"Votes: {ours} for {first}, {theirs} for {second}.{level}")
    about = "about " if result.p_first_se else ""
    lines.append(
        f"On these scores the rule outputs {first} with probability "
        f"{about}{result.p_first:.3g}; that is the coin's bias, not a chance of being "
        "right."
    )
    lines.append(_shared.claim("compare", result.method, result.notices))
    return "\n".join(lines)
