"""Peer reviews of a course: Moodle's workshop, and Canvas.

Moodle: exports of two tables of its database. The assessments alone can be read; the
submissions give titles, and tell which assessments are not a peer's: those of example
submissions and of one's own work.

Canvas itself has no export of peer reviews. The scripts in use write one row for each
assigned review: state, assessor, assessee, total score, and the points for each
criterion with the most there are in brackets, as in "Criteria #1 (10.0)".
"""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import polars as pl

from evenhand.formats import layouts, roles
from evenhand.formats.scale import may_be_scores
from evenhand.formats.tables import Reasons, Table, plain

EXPORTS = layouts.has_columns(
    ("submissionid", "reviewerid", "weight", "grade"),
    ("id", "authorid", "title", "example"),
)
"""The columns that mark workshop_assessments and workshop_submissions."""
TRUE = ("1", "true", "yes", "t")
TOTAL = "total score"
POINTS = re.compile(r"\s*\([0-9]+(?:\.[0-9]+)?\)\s*$")


def read_moodle(table: Table, options: layouts.ReadOptions) -> layouts.LongForm:
    """Take one rating from each assessment by a peer.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import ReadOptions
        >>> names = ("submissionid", "reviewerid", "weight", "grade")
        >>> table = Table.of({name: ["1"] for name in names}, Source())
        >>> read_moodle(table, ReadOptions()).table.notices[0].code
        'submissions_unknown'
    """
    submissions = roles.companion(table, "id", "authorid")
    reviewer = table.column_for("reviewer", options.columns.reviewer, "reviewerid")
    item = table.column_for("item", options.columns.item, "submissionid")
    others = _not_peers(table, item, reviewer, submissions)
    peers = table.leave_out("assessment", others)
    grades = peers.cells("grade").cast(pl.Float64, strict=False)
    for row in (~grades.is_between(0, 100)).arg_true().to_list():
        text = f"grade must be from 0 to 100, got {grades[row]:g}"
        raise peers.source.at(row, text, "Leave it empty where there is no grade.")
    titles = {}
    if submissions is not None:
        titles = roles.titles_by_item(
            submissions.texts("id"), submissions.texts("title")
        )
    if submissions is None or not submissions.find("example"):
        peers = peers.warn("submissions_unknown")
    if peers.cells("weight").n_unique() > 1 and not options.columns.weight:
        peers = peers.warn("weights_unused", case="moodle")

    def choose(wanted: str) -> roles.Place:
        name = peers.column_for("score", wanted, "grade")
        return name, peers.columns[name]

    return roles.long_form(peers, options, choose, item, reviewer, titles)


def _not_peers(
    table: Table, item: str, reviewer: str, submissions: Table | None
) -> Reasons:
    """Return the assessments that are not a peer's, by the reason."""
    items, weights = table.cells(item), table.cells("weight")
    zero = weights.cast(pl.Float64, strict=False).fill_null(1.0) == 0
    reasons: Reasons = {"zero_weights": zero}
    if submissions is None:
        return reasons
    ids = submissions.cells("id")
    examples = submissions.cells("example").str.to_lowercase().is_in(TRUE)
    authors = dict(zip(ids, submissions.cells("authorid"), strict=True))
    own = items.replace_strict(authors, default=None) == table.cells(reviewer)
    example = items.is_in(ids.filter(examples).implode())
    unlisted = ~items.is_in(["", *ids])
    return {
        "example_submissions": example,
        "self_assessments": own.fill_null(value=False),
        "unlisted_submissions": unlisted,
        **reasons,
    }


def recognise_canvas(table: Table, _: layouts.ReadOptions) -> str:
    """Say why a table holds Canvas's peer reviews."""
    total = _total(table)
    return table.why("assessor", "assessee", total) if total else ""


def read_canvas(table: Table, options: layouts.ReadOptions) -> layouts.LongForm:
    """Take one rating from each review that was done.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import ReadOptions
        >>> columns = {"Assessor": ["Bo"], "Assessee": ["Cy"], "Total Score (9)": [7]}
        >>> read_canvas(Table.of(columns, Source()), ReadOptions()).origin
        "item from 'Assessee', reviewer from 'Assessor', score from 'Total Score (9)'"
    """
    reviewer = table.column_for("reviewer", options.columns.reviewer, "assessor")
    item = table.column_for("item", options.columns.item, "assessee")
    done = table.leave_out("review", _not_done(table, item, reviewer))
    return roles.long_form(done, options, partial(_criterion, done), item, reviewer)


def _total(table: Table) -> str:
    return next((name for name in table.columns if _bare(name) == TOTAL), "")


def _bare(name: str) -> str:
    """Return a column's name without the points in brackets."""
    return plain(POINTS.sub("", name))


def _criterion(table: Table, wanted: str) -> roles.Place:
    """Choose the total, or the criterion that was named with or without its points."""
    fields = {
        name: values
        for name, values in table.columns.items()
        if _bare(name) == TOTAL or (POINTS.search(name) and may_be_scores(values))
    }
    near = [name for name in fields if _bare(name) == (plain(wanted) or TOTAL)]
    if len(near) == 1:
        return near[0], fields[near[0]]
    return roles.among(fields, table.source)(wanted)


def _not_done(table: Table, item: str, reviewer: str) -> Reasons:
    """Return the reviews that nobody else did, by the reason."""
    blank = [
        table.cells(name) == ""
        for name in table.columns
        if POINTS.search(name) and _bare(name) != TOTAL
    ]
    # A total of 0 is a score, but not without any points.
    zero = table.cells(_total(table)).str.contains(r"^0*(?:\.0*)?$")
    undone = np.all([zero, *blank], axis=0) & bool(blank)
    people = table.cells(reviewer)
    return {
        "not_done": undone,
        "self_assessments": (people != "") & (people == table.cells(item)),
    }


MOODLE = layouts.Layout(
    "moodle", "a workshop of Moodle", EXPORTS, read_moodle, one_file=False
)
CANVAS = layouts.Layout(
    "canvas", "peer reviews of Canvas", recognise_canvas, read_canvas
)
