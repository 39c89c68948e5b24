"""`evenhand rank`: order many items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evenhand.cli import _options, _shared
from evenhand.cli._options import deciding
from evenhand.lazy import lazy

if TYPE_CHECKING:
    from evenhand.ranking import ranking as rankings
    from evenhand.ranking.ranking import Ranking
    from evenhand.words import cards, tables
    from evenhand.words import lines as result_lines
else:
    rankings = lazy("evenhand.ranking.ranking")
    cards = lazy("evenhand.words.cards")
    result_lines = lazy("evenhand.words.lines")
    tables = lazy("evenhand.words.tables")


@click.command("rank", cls=_options.Grouped)
@_options.method_option("adaptive", "safe(noise=1)")
@deciding(
    "--top K",
    "How many are to be chosen: says which are in, too close to call and out, "
    "with each item's share in the top K. share=K chooses the K items "
    "with the largest shares, not the K with the best estimates.",
)
@deciding(
    "--design NAME",
    "How items were assigned to reviewers: pairs, balanced or, if no reviewer would "
    "give two items the same score, 'pairs(distinct)' or 'balanced(distinct)'. The "
    "guarantees rest on it.",
)
@deciding(
    "--simultaneous",
    "Add ranks that hold for all items at once (95%), for statements about several "
    "of them, such as who may be first.",
)
@_options.evidence_option
@_options.cluster_option
@_options.all_option
@_options.extra_options()
@_options.record_option
@_options.result_options
@_options.reading_options()
def command(**options: Any) -> None:  # noqa: ANN401 - click's values
    """Order items, from reviewers who each saw a few of them.

    FILE has a row for each score with a reviewer, an item and the score, or a rank, or
    a winner and a loser (CSV, TSV, JSON, Parquet, Excel), or is an export of HotCRP,
    OpenReview, CMT, EasyChair, Moodle, Canvas or Gavel; - is standard input. The
    default method, adaptive, compares scores between reviewers to the extent that
    reviewers use similar levels; method safe has a guarantee. The ratings cannot
    distinguish items between two lines of the table.

    \b
    Example:
      evenhand rank examples/conference.csv --top 5 --seed 7
    """
    job = _shared.Job("rank", options)

    if (options["top"] or "").isdecimal():
        options["top"] = int(options["top"])
    result = rankings.rank(
        job.ratings, **options, assignment=job.assignment, rng=job.seed
    )
    job.deliver(result, lambda: explain(result, more=job.explain))


def explain(result: Ranking, *, more: bool = False) -> str:
    """Tell a ranking to people, with all that explains it if there is to be more.

    Examples:
        >>> from evenhand.ranking.ranking import rank
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> "y" in explain(rank(ratings, method="topological", rng=7))
        True
    """
    lines = [result_lines.claim(result.certificate, explained=more)]
    if more:
        lines += cards.ranking_card(result, html=False).lines()
    table = tables.ranking(result, None if more else tables.window(result))
    if len(table.rows) < len(result.items):
        lines.insert(0, f"{table.caption}: --all shows them.")
    first = (
        result_lines.cut_lines(result, len(result.items))
        if more
        else result_lines.cut_lines(result)
    )
    most = len(result.items) if more else result_lines.CLOSEST
    first += result_lines.weighting_lines(result, most)
    levels = [*result.data.get("confidence", ())] if more else []  # type: ignore[misc]  # of rows
    extra = [tables.confidence(levels)] if levels else []
    return _shared.render(*first, table, *lines, *extra)
