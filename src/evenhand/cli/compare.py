"""`evenhand compare`: which of two items is better."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from evenhand.catalogue import methods
from evenhand.cli import _extras, _shared
from evenhand.cli._shared import option
from evenhand.errors import printable

if TYPE_CHECKING:
    from evenhand.ab.comparison import Comparison

TIE = "tie coin"
FOLLOWED = "what was followed"
NAMES = [method.name for method in methods("compare")]


@click.command("compare")
@_shared.reading_options(pairs=True)
@option("--items", "The two items, if FILE has more; A comes first.", "A B", nargs=2)
@option("--method", "Rule.", NAMES, default="guarded", show_default=True)
@_shared.weight_option
@option("--median", "Which median.", ["upper", "lower", "middle"])
@option(
    "--trim",
    "Share cut off at each end, for trimmed and guarded.  [default: 0.2]",
    float,
)
@option(
    "--eps",
    "For guarded, probability of following the votes.  [default: 0.1]",
    float,
)
@option(
    "--statistic",
    "For guarded, what is followed otherwise: trimmed (default), mean, median, "
    "median:lower, median:middle, midrank or sign.",
    "NAME",
)
@option(
    "--test",
    "Statistic of the p-values.  [default: midrank, or the mean or median that the "
    "method follows]",
    ["mean", "median", "trimmed", "midrank", "pairs"],
)
@option(
    "--range score_range",
    "For mean, lowest and highest score of the form: how small a difference can be "
    "trusted.",
    float,
    nargs=2,
    metavar="LOW HIGH",
)
@option(
    "--both",
    "Reviewers who scored both items: leave them out, or let them decide.",
    ["drop", "decide"],
)
@option(
    "--design",
    "How reviewers were assigned to the items; the guarantee and the p-values rest on "
    "it. With panels, --pair names the column of the panel.",
    ["halves", "coins", "matched", "panels"],
)
@_shared.evidence_options
@_extras.extra_options
@_shared.result_options
def command(**options: Any) -> None:  # noqa: ANN401 - click's values
    """Decide which of two items is better, from people who each scored one of them.

    FILE is an export of HotCRP, OpenReview, CMT, EasyChair, Moodle, Canvas or Gavel, or
    has a row for each score with a reviewer, an item and the score: CSV, TSV, JSON,
    Parquet or Excel; - is standard input. What it was taken for is said. The answer is
    drawn with a coin whose exact probability is shown; the seed repeats it.

    \b
    Example:
      evenhand compare examples/designs.csv --seed 1
    """
    job = _extras.Job("compare", options)
    from evenhand.ab.comparison import compare

    with _shared.working("Deciding"):
        result = compare(
            job.ratings, **options, assignment=job.assignment, rng=job.seed
        )
    text = json.dumps(result.to_dict(), indent=2) if job.as_json else explain(result)
    job.deliver(result, text, result.notices)


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
    elif result.method == "guarded":
        by = "A fair coin broke a tie of" if result.decided_by == TIE else "Decided by"
        what = FOLLOWED if result.decided_by == TIE else result.decided_by
        lines.append(f"{by} {what}.")
    about = "about " if result.p_first_se else ""
    lines.append(
        f"On these scores the rule outputs {first} with probability "
        f"{about}{result.p_first:.3g}; that is the coin's bias, not a chance of being "
        "right."
    )
    lines.append(_shared.claim(result.certificate))
    lines += _tested(result, first, second)
    return _shared.rendered(*lines)


def _tested(result: Comparison, first: str, second: str) -> list[str]:
    lines = []
    if result.test is not None:
        about = "" if result.test.exact else " (sampled)"
        lines.append(
            f"P-values under any increasing scales{about}: "
            f"{result.test.p_value_first:.3g} against the claim that {first} is no "
            f"better, {result.test.p_value_second:.3g} against the claim that {second} "
            f"is no better, {result.test.p_value:.3g} two-sided."
        )
        lines.append(result.test.explanation())
    if result.error_bound is not None:
        effect = result.error_bound["effect"]
        lines.append(
            "With so few scores and this range no difference is large enough for the "
            "mean's error to be bounded by 5 %."
            if effect is None
            else "The mean is wrong with probability at most 5 % if reviewers' scores "
            f"of the two differ by {effect:.3g} or more on average."
        )
    return lines
