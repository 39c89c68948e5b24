"""`evenhand check`: what ratings can support."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli import _options, _shared
from evenhand.cli._options import deciding
from evenhand.lazy import lazy

if TYPE_CHECKING:
    from evenhand import randomness
    from evenhand.diagnosis import check as checks
    from evenhand.diagnosis import ladder
    from evenhand.diagnosis import warp as warps
    from evenhand.diagnosis.check import Check
    from evenhand.diagnosis.warp import Warp
    from evenhand.ranking import ranking as rankings
    from evenhand.words import check_sentences, tables
    from evenhand.words import text as texts
    from evenhand.words.tables import TextTable
else:
    checks = lazy("evenhand.diagnosis.check")
    ladder = lazy("evenhand.diagnosis.ladder")
    warps = lazy("evenhand.diagnosis.warp")
    randomness = lazy("evenhand.randomness")
    rankings = lazy("evenhand.ranking.ranking")
    check_sentences = lazy("evenhand.words.check_sentences")
    tables = lazy("evenhand.words.tables")
    texts = lazy("evenhand.words.text")

# Reviewers shown, and what is told of them.
SHOWN, CLEAR = 10, {"strict", "lenient", "wide", "narrow"}
USUAL = ("agrees", "not enough ratings to say")
TABLE = "(table)"
"""Stands in the sentences for the next table."""


@click.command("check", cls=_options.Grouped)
@_options.method_option("adaptive", "safe(noise=1)")
@deciding(
    "--top K",
    "Ask how many more reviews would separate the best K items of that method from the "
    "others.",
    int,
)
@deciding(
    "--warp warped",
    "Redraw every reviewer's scale 200 times, and show how many of the best K stay, "
    "beside the plain mean.",
)
@_options.cluster_option
@_options.extra_options()
@_options.result_options
@_options.reading_options()
def command(**options: Any) -> None:  # noqa: ANN401 - click's values
    """Find out what ratings can support, before deciding on them.

    FILE has a row for each score with a reviewer, an item and the score, or a rank, or
    a winner and a loser (CSV, TSV, JSON, Parquet, Excel), or is an export of HotCRP,
    OpenReview, CMT, EasyChair, Moodle, Canvas or Gavel; - is standard input.
    The answer says which assumption about reviewers' scales the ratings bear out,
    which items can be ordered at all, where reviewers contradict each other and how
    strict each of them is. It accepts any file that can be read.

    \b
    Example:
      evenhand check examples/conference.csv --top 5
    """
    job = _shared.Job("check", options)

    method, top, seed = (
        options["method"],
        options["top"],
        randomness.seed_from(job.seed),
    )
    order, survived = None, None
    with _shared.working("Checking") as say:
        if top is not None and method != rankings.DEFAULT:
            order = rankings.rank(job.ratings, method=method, rng=seed).order
        result = checks.check(job.ratings, top=top, order=order, rng=seed)
        if options["warped"]:
            say("Redrawing scales")
            survived = warps.warp(job.ratings, method=method, top=top, rng=seed)
    more = {} if survived is None else {"warp": survived.to_dict()}
    job.deliver(result, lambda: explain(result, survived), checks.TOLD, **more)


def explain(result: Check, survived: Warp | None = None) -> str:
    """Tell a check to people: the sentences of its template, with tables between them.

    Examples:
        >>> from evenhand.diagnosis.check import check
        >>> from evenhand.ratings import Ratings
        >>> found = check(Ratings(["a", "a"], ["x", "y"], [1, 2]), rng=7)
        >>> print(explain(found).splitlines()[0])
        2 scores of 2 items by 1 reviewer: 2 per reviewer, 1 per item.
    """
    clear = [
        reviewer
        for reviewer in result.reviewers
        if {reviewer.strictness, reviewer.spread} & CLEAR
        or reviewer.agreement not in USUAL
    ]
    clear.sort(
        key=lambda reviewer: (
            reviewer.agreement in USUAL,
            -abs(reviewer.offset or 0.0),
        )
    )
    used: list[TextTable] = []

    def table(content: TextTable) -> str:
        used.append(content)
        return TABLE

    facts = {"check": result, "clear": clear[:SHOWN], "hidden": len(clear[SHOWN:])}
    facts |= {
        "share_text": check_sentences.share_text,
        "asdict": asdict,
        "ladder": ladder,
        "tables": tables,
    }
    facts |= {"codes": {warning.code for warning in result.notices}, "table": table}
    facts["said"] = lambda *codes: [
        finding for finding in result.findings if finding.code in codes
    ]
    lines = [*texts.sentences("check", "sections", facts, html=False)]
    if survived is not None:
        lines += ["WOULD OTHER SCALES CHANGE IT?", repr(survived)]
    remaining = iter(used)
    spaced = [f"\n{line}" if line.isupper() else line for line in lines]
    return _shared.render(
        *(next(remaining) if part == TABLE else part for part in spaced)
    )
