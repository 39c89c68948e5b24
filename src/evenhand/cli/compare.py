"""`evenhand compare`: which of two items, or of several, is better."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evenhand.cli import _options, _shared
from evenhand.cli._options import deciding
from evenhand.lazy import lazy

if TYPE_CHECKING:
    from evenhand.ab import comparison as comparisons
    from evenhand.ab.comparison import Comparison
    from evenhand.words import cards
    from evenhand.words import lines as result_lines
else:
    comparisons = lazy("evenhand.ab.comparison")
    cards = lazy("evenhand.words.cards")
    result_lines = lazy("evenhand.words.lines")


@click.command("compare", cls=_options.Grouped)
@_options.method_option("guarded", "guarded(eps=0.05)")
@deciding("--items A B", "Two items, if FILE has more; A comes first.")
@deciding(
    "--control A",
    "Of several items, the one that all others are tested against.",
    hidden=True,
)
@deciding(
    "--design NAME",
    "How reviewers were assigned to the items: halves, coins, matched or panels. The "
    "guarantee and the p-values rest on it. For panels, --column pair=COLUMN names the "
    "panel.",
)
@_options.evidence_option
@deciding(
    "--test",
    "Statistic of the p-values.  [default: midrank, or the mean or median that the "
    "method follows]",
    ["mean", "median", "trimmed", "midrank", "pairs"],
)
@deciding(
    "--both",
    "Reviewers who scored both items: leave them out, or let them decide.",
    ["drop", "decide"],
    hidden=True,
)
@deciding(
    "--sequential",
    "Weigh the evidence after every score: look as often as you like, stop when it is "
    "settled. Needs --order COLUMN (when an item was assigned) and --design coins, or "
    "--probability COLUMN (with which the first item was to be assigned).",
)
@_options.watch_options
@_options.watch_terms
@_options.explain_option
@_options.extra_options()
@_options.record_option
@_options.result_options
@_options.reading_options(many=False)
def command(**options: Any) -> None:  # noqa: ANN401 - click's values
    """Decide which item is better, of two or several, from people who each scored one.

    FILE has a row for each score with a reviewer, an item and the score (CSV, TSV,
    JSON, Parquet, Excel), or is an export of HotCRP, OpenReview, CMT, EasyChair,
    Moodle, Canvas or Gavel; - is standard input. The rule is randomized; its
    probability is printed, and --seed repeats the draw.

    \b
    Example:
      evenhand compare examples/designs.csv --design halves --seed 1
    """
    job = _shared.Job("compare", options)

    result = comparisons.compare(
        job.ratings, **options, assignment=job.assignment, rng=job.seed
    )
    job.deliver(result, lambda: explain(result, more=job.explain))


def explain(result: Comparison, *, more: bool = False) -> str:
    """Tell a comparison to people, with all that explains it if there is to be more.

    Examples:
        >>> from evenhand.ab.comparison import compare
        >>> print(explain(compare([3], [2], method="mean", rng=7)).splitlines()[0])
        A comes out ahead of B, by means; mean 3 (n 1) against 2 (n 1).
    """
    lines = result_lines.comparison_lines(result, explained=more)
    if more:
        lines += cards.comparison_card(result, html=False).lines()
        if result.test is not None and not result.pairs:
            lines.append(result_lines.p_value_paragraph(result.test))
        lines += [*filter(None, [result_lines.interval_sentences(result)])]
    return _shared.render(*lines)
