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

import polars as pl

from evenhand.claims import Notice
from evenhand.errors import counted, listing, shown
from evenhand.formats import layouts
from evenhand.formats.scale import is_number, may_be_scores
from evenhand.formats.tables import Reasons, Table, plain

EXPORTS = {
    "workshop_assessments": ("submissionid", "reviewerid", "weight", "grade"),
    "workshop_submissions": ("id", "authorid", "title", "example"),
}
"""The columns that mark each table; prefixes of table names do not matter."""
MOST = 100.0
NO_SUBMISSIONS = (
    "Without the table of submissions, assessments of example submissions and of one's "
    "own work cannot be told from the others. Give it with companion= or --with."
)
NO_EXAMPLES = (
    "The table of submissions has no column 'example', so assessments of example "
    "submissions cannot be told from the others."
)
UNUSED = "Weights of assessments differ, but are not used: each counts once."
TRUE = ("1", "true", "yes", "t")
OWN_WORK = "of the reviewer's own work left out"
TOTAL = "total score"
POINTS = re.compile(r"\s*\([0-9]+(?:\.[0-9]+)?\)\s*$")
NOT_DONE = "assigned"


def take_moodle(table: Table, asked: layouts.Asked) -> layouts.Long:
    """Take one rating from each assessment by a peer.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import Asked
        >>> names = ("submissionid", "reviewerid", "weight", "grade")
        >>> table = Table.of({name: ["1"] for name in names}, Source())
        >>> take_moodle(table, Asked()).notices[0].code
        'submissions_unknown'
    """
    table, submissions = _sort_out(table, table.companion)
    reviewer = table.named("reviewer", asked.columns.reviewer, "reviewerid")
    item = table.named("item", asked.columns.item, "submissionid")
    score = table.named("score", asked.columns.score, "grade")
    for row, text in enumerate(table.texts(score) if plain(score) == "grade" else ()):
        if is_number(text) and not 0 <= float(text) <= MOST:
            rule = f"{score} must be from 0 to 100, got {shown(text)}"
            advice = "Leave it empty where there is no grade."
            raise table.source.at(row, rule, advice)
    others = _not_peers(table, item, reviewer, submissions)
    peers, notices = table.leave_out("assessment", others)
    if not peers.height:
        raise table.source.whole(
            "There is no assessment by a peer: each is of an example, of one's own "
            "work, without weight, or of a submission that is not in the other file."
        )
    titles = {}
    if submissions is None:
        notices.append(Notice("submissions_unknown", NO_SUBMISSIONS))
    else:
        titles = layouts.titled(submissions.texts("id"), submissions.texts("title"))
        if not submissions.find("example"):
            notices.append(Notice("submissions_unknown", NO_EXAMPLES))
    weights = {float(text) for text in peers.texts("weight") if is_number(text)}
    if len(weights) > 1 and not asked.columns.weight:
        notices.append(Notice("weights_unused", UNUSED))

    def choose(given: str) -> layouts.Place:
        name = peers.named("score", given, "grade")
        return name, peers.columns[name]

    return layouts.rated(
        peers,
        asked,
        choose,
        item=item,
        reviewer=reviewer,
        titles=titles,
        notices=notices,
    )


def _sort_out(table: Table, companion: Table | None) -> tuple[Table, Table | None]:
    """Tell assessments from submissions; the two may come in either order."""
    is_second = bool(table.find("authorid")) and not table.find("reviewerid")
    if companion is None:
        if is_second:
            raise table.source.whole(
                "These are submissions without their assessments. Give the table "
                "workshop_assessments, and this one with companion= or --with."
            )
        return table, None
    if is_second:
        table, companion = companion, table
    if not companion.why("id", "authorid"):
        raise companion.source.whole(
            "This is not the table workshop_submissions: it has no columns 'id' and "
            f"'authorid', only {listing(companion.columns)}."
        )
    return table, companion


def _not_peers(
    table: Table, item: str, reviewer: str, submissions: Table | None
) -> Reasons:
    """Return the assessments that are not a peer's, by the reason."""
    items, weights = table.cells(item), table.cells("weight")
    zero = weights.cast(pl.Float64, strict=False).fill_null(1.0) == 0
    found: Reasons = {}
    if submissions is not None:
        marked = submissions.cells("example").str.to_lowercase().is_in(TRUE)
        examples = submissions.cells("id").filter(marked)
        pairs = zip(submissions.texts("id"), submissions.texts("authorid"), strict=True)
        authors = dict(pairs)
        authors.pop("", None)
        own = items.replace_strict(authors, default=None) == table.cells(reviewer)
        unlisted = ~items.is_in(["", *authors])
        found = {
            "example_submissions": (
                "of example submissions left out",
                items.is_in(examples.implode()) & (items != ""),
            ),
            "self_assessments": (OWN_WORK, own.fill_null(value=False)),
            "unlisted_submissions": (
                "of submissions that are not in the other file left out",
                unlisted,
            ),
        }
    return {**found, "zero_weights": ("of weight 0 left out, as Moodle does", zero)}


def tell_canvas(table: Table) -> str:
    """Say why a table holds Canvas's peer reviews."""
    total = _total(table)
    return table.why("assessor", "assessee", total) if total else ""


def take_canvas(table: Table, asked: layouts.Asked) -> layouts.Long:
    """Take one rating from each review that was done.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import Asked
        >>> columns = {"Assessor": ["Bo"], "Assessee": ["Cy"], "Total Score (9)": [7]}
        >>> take_canvas(Table.of(columns, Source()), Asked()).said
        "item from 'Assessee', reviewer from 'Assessor', score from 'Total Score (9)'"
    """
    reviewer = table.named("reviewer", asked.columns.reviewer, "assessor")
    item = table.named("item", asked.columns.item, "assessee")
    score, _ = _criterion(table, asked.columns.score)
    done, notices = table.leave_out("review", _not_done(table, item, reviewer, score))
    if not done.height:
        raise table.source.whole("There is no review that was done by somebody else.")
    early = sum(plain(state) == NOT_DONE for state in done.texts("state"))
    if early:
        text = f"{counted(early, 'review')} scored but not marked as completed: kept."
        notices.append(Notice("unfinished_reviews", text))
    return layouts.rated(
        done,
        asked,
        partial(_criterion, done),
        item=item,
        reviewer=reviewer,
        notices=notices,
    )


def _total(table: Table) -> str:
    return next((name for name in table.columns if _bare(name) == TOTAL), "")


def _bare(name: str) -> str:
    """Return a column's name without the points in brackets."""
    return plain(POINTS.sub("", name))


def _criterion(table: Table, given: str) -> layouts.Place:
    """Choose the total, or the criterion that was named with or without its points."""
    fields = {
        name: values
        for name, values in table.columns.items()
        if _bare(name) == TOTAL or (POINTS.search(name) and may_be_scores(values))
    }
    near = [name for name in fields if _bare(name) == (plain(given) or TOTAL)]
    if len(near) == 1:
        return near[0], fields[near[0]]
    return layouts.among(fields, table.source)(given)


def _not_done(table: Table, item: str, reviewer: str, score: str) -> Reasons:
    """Return the reviews that nobody else did, by the reason."""
    points = [
        table.cells(name) != ""
        for name in table.columns
        if POINTS.search(name) and _bare(name) != TOTAL
    ]
    scores, people = table.cells(score), table.cells(reviewer)
    waiting = table.cells("state").str.to_lowercase() == NOT_DONE
    nothing = scores.str.contains(r"^0+(?:\.0*)?$")
    for given in points:
        nothing &= ~given
    return {
        "not_done": ("assigned but not done left out", (scores == "") & waiting),
        "self_assessments": (OWN_WORK, (people != "") & (people == table.cells(item))),
        "empty_reviews": (
            "with a total of 0 but no points at all left out",
            nothing & bool(points and _bare(score) == TOTAL),
        ),
    }


MOODLE = layouts.Layout(
    "moodle", "a workshop of Moodle", take_moodle, EXPORTS, one_file=False
)
CANVAS = layouts.Layout(
    "canvas", "peer reviews of Canvas", take_canvas, tell=tell_canvas
)
