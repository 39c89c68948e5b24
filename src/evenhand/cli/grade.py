"""`evenhand grade`: marks with their errors."""

from __future__ import annotations

from typing import Any

import click

from evenhand.cli import _options, _shared
from evenhand.cli._options import deciding


@click.command("grade", cls=_options.Grouped)
@deciding(
    "--onto LOW HIGH",
    "Lowest and highest mark; by default marks are on the scale of the scores.",
    float,
)
@deciding("--form LOW HIGH", "Lowest and highest score of the form, for --onto.", float)
@deciding(
    "--anchors FILE",
    "Marks that staff gave: a table with an item and a mark in each row. One fixes the "
    "level, several that differ fix level and spread.",
)
@deciding(
    "--pass passing MARK",
    "Pass mark: says who is safely above, safely below, or open.",
    float,
)
@deciding(
    "--round rounding STEP", "Round marks to a multiple of STEP, halves up.", float
)
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
    path, table = options.pop("anchors"), options["table"]
    job = _shared.Job("grade", options, {"--anchors": path})
    from evenhand.grading import grade
    from evenhand.words import tables
    from evenhand.words.lines import model_lines, pass_lines

    if path is not None:
        from evenhand.formats.lists import read_marks

        options["anchors"] = read_marks(
            path, _shared.table_settings(table).get("decimal", "")
        )
    result = grade(job.ratings, **options, rng=job.seed)
    lines = model_lines(result)
    if job.explain:
        from evenhand.words.cards import grades_card

        lines += grades_card(result, html=False).lines()
    first, table = pass_lines(result), tables.grades(result)
    job.deliver(result, lambda: _shared.render(*first, table, *lines))
