"""`evenhand check`: what ratings can support."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli import _extras, _shared
from evenhand.cli._shared import deciding

if TYPE_CHECKING:
    from evenhand.diagnosis.check import Check
    from evenhand.words.tables import Table

# Reviewers shown, and what is told of them.
SHOWN, CLEAR = 10, {"strict", "lenient", "wide", "narrow"}
TABLE = "(table)"
"""Stands in the sentences for the next table."""


@click.command("check", cls=_shared.Grouped)
@deciding(
    "--top",
    "Ask how many more reviews would separate the best K items from the others.",
    int,
    metavar="K",
)
@_extras.extra_options
@_shared.result_options
@_shared.reading_options()
def command(**options: Any) -> None:  # noqa: ANN401 - click's values
    """Find out what ratings can support, before deciding on them.

    FILE has a row for each score with a reviewer, an item and the score, or a rank, or
    a winner and a loser (CSV, TSV, JSON, Parquet, Excel), or is an export of HotCRP,
    OpenReview, CMT, EasyChair, Moodle, Canvas or Gavel; - is standard input.
    The answer says which assumption about reviewers' scales the ratings bear out,
    which items can be ordered at all, where reviewers contradict each other and how
    strict each of them is. It refuses nothing that can be read.

    \b
    Example:
      evenhand check examples/conference.csv --top 5
    """
    _shared.check_output(options["output"])
    job = _extras.Job("check", options)
    from evenhand.diagnosis.check import TOLD, check

    with _shared.working("Checking") as say:
        found = check(job.ratings, **options, rng=job.seed, progress=say)
    text = json.dumps(found.to_dict(), indent=2) if job.as_json else explain(found)
    told = () if job.as_json else TOLD
    job.deliver(found, text, [one for one in found.notices if one.code not in told])


def explain(found: Check) -> str:
    """Tell a check to people: the sentences of its template, with tables between them.

    Examples:
        >>> from evenhand.diagnosis.check import check
        >>> from evenhand.ratings import Ratings
        >>> found = check(Ratings(["a", "a"], ["x", "y"], [1, 2]), rng=7)
        >>> print(explain(found).splitlines()[0])
        2 scores of 2 items by 1 reviewer: a reviewer rated 2, an item has 1.
    """
    from evenhand.diagnosis import check, ladder
    from evenhand.words import tables
    from evenhand.words.text import sentences

    clear = [one for one in found.reviewers if {one.strictness, one.spread} & CLEAR]
    clear.sort(key=lambda one: -abs(one.offset or 0.0))
    used: list[Table] = []

    def table(made: Table) -> str:
        used.append(made)
        return TABLE

    facts = {
        "check": found,
        "clear": clear[:SHOWN],
        "hidden": len(clear[SHOWN:]),
        "said": lambda *codes: [one for one in found.findings if one.code in codes],
        "codes": {one.code for one in found.notices},
        "share_text": check.share_text,
        "ladder": ladder,
        "table": table,
        "tables": tables,
    }
    lines = sentences("check", "sections", facts, html=False)
    rest = iter(used)
    return _shared.rendered(
        *(
            _shared.table_of(next(rest))
            if line == TABLE
            else f"\n{line}"
            if line.isupper()
            else line
            for line in lines
        )
    )
