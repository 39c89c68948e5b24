"""`evenhand grade`: marks with their errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evenhand.cli import _options, _shared
from evenhand.cli._options import deciding
from evenhand.lazy import lazy

if TYPE_CHECKING:
    from evenhand import grading
    from evenhand.formats import lists
    from evenhand.words import cards, tables
    from evenhand.words import lines as result_lines
else:
    lists = lazy("evenhand.formats.lists")
    grading = lazy("evenhand.grading")
    cards = lazy("evenhand.words.cards")
    result_lines = lazy("evenhand.words.lines")
    tables = lazy("evenhand.words.tables")


DECLARED = "declared"


@click.command("grade", cls=_options.Grouped)
@deciding(
    "--onto LOW HIGH",
    "Lowest and highest mark; by default marks are on the scale of the scores.",
    float,
)
@deciding("--form LOW HIGH", "Lowest and highest score of the form, for --onto.", float)
@deciding(
    "--anchors FILE",
    "Marks that people gave: a table with an item and a mark in each row. The others' "
    "marks are predicted from these and from what judges say.",
)
@deciding(
    "--link NAME",
    "regression (default), regression(error=5) if a person's mark has that error, or "
    "line: anchors are exact, one fixes the level, several fix level and spread.",
)
@deciding(
    "--means COLUMN",
    "Mean mark of each model, say, with --item model+prompt: judges' scores corrected "
    "by people's marks of a random sample.",
)
@deciding(
    "--sample PATH",
    "What `assign --sample` drew for people to mark (a folder or a record), or "
    "'declared': they marked a random sample that you drew yourself.",
)
@deciding(
    "--shrink",
    "Best guesses for comparing and choosing, drawn to the middle; not for exam marks.",
)
@deciding(
    "--passing --pass passing MARK",
    "Pass mark: says who is safely above, safely below, or too close to call.",
    float,
)
@deciding("--pass-each", "Pass by each of several criteria as well as by the total.")
@deciding(
    "--rounding --round rounding STEP",
    "Round marks to a multiple of STEP, halves up.",
    float,
)
@_options.cluster_option
@_options.explain_option
@_options.extra_options(charts="")
@_options.result_options
@_options.reading_options()
def command(**options: Any) -> None:  # noqa: ANN401 - click's values
    """Give each item a mark, with its error, from reviewers who each scored a few.

    FILE is read as by rank. A mark is the mean of an item's scores, less how strict its
    reviewers are known to be: what reviewers of this kind would give on average. Marks
    are not shrunk toward the average.

    \b
    Example:
      evenhand grade examples/panel.csv --onto 0 100 --form 0 100 --pass 60
    """
    path, table, item = options.pop("anchors"), options["table"], options["item"]
    sample = options.pop("sample")
    record, *hidden = _shared.evidence_in(None if sample == DECLARED else sample)
    job = _shared.Job("grade", options, {"--anchors": path, "--sample": record})
    if path is not None:
        decimal = _shared.table_settings(table).get("decimal", "")
        # The file of marks may call an item otherwise, but for several columns.
        named = item if item and "+" in item else None
        options["anchors"] = lists.read_repeats(path, decimal, columns=(named, None))
    if options["means"] is not None:
        column = options["means"]
        options["means"] = grading.item_groups(job.ratings, column, item)
    drawn = record and _shared.read_assignment(record, *hidden)
    options |= {"sample": drawn or sample, "link": options["link"] or "regression"}
    result = grading.grade(job.ratings, **options, rng=job.seed)
    lines = result_lines.model_lines(result, explained=bool(job.explain))
    if job.explain:
        lines += cards.grades_card(result, html=False).lines()
    first, table = result_lines.pass_lines(result), tables.grades(result)
    if result.means is not None:
        table, lines = (
            tables.group_means(result.means),
            result_lines.means_lines(result),
        )
    job.deliver(result, lambda: _shared.render(*first, table, *lines))
