"""HotCRP: reviews CSV, scores CSV, the batch script's CSV, and JSON.

Scores are symbols of the review form and may be letters; whether A is best or worst is
up to the form. Who wrote a review may be hidden, for some papers or for all.
"""

from __future__ import annotations

import re

from evenhand.formats import layouts, roles
from evenhand.formats.scale import may_be_scores
from evenhand.formats.tables import Reasons, Table, plain

HIDDEN = ("paper", "title", "review")
"""The columns of reviews and scores whose writers are hidden."""
EXPORTS = (
    ("paper", "title", "reviewername", "email"),
    HIDDEN,
    ("pid", "review", "email", "round"),
    *(("object", "pid", "rid"), ("pid", "rid", "ordinal")),
)
"""The columns that mark CSV of reviews or scores, CSV of the batch script, and JSON."""
NOT_SCORES = re.compile(
    "paper|title|decision|review|reviewername|reviewer name|name|email|e mail|pid|rid|"
    "round|submitted at|vtag|status|reviewstatus|sitename|siteclass|object|ordinal|"
    "rtype|reviewer|reviewer email|version|draft|ghost|subreview|blind|my review|"
    "my request|review token|modified at|modified at text|format|editable|ratings|"
    "user rating|message list|submitted|ready|approved|needs approval|tags"
)
"""Columns and keys of HotCRP's own, as opposed to fields of the review form."""
EMAILS = ("email", "reviewer email", "e mail")
PEOPLE = ("reviewername", "reviewer name", "reviewer", "name")
STATES = ("status", "reviewstatus", "submitted")
TRUE = ("true", "1")
FINISHED = ("complete", "submitted", *TRUE)
META = ("5", "meta", "metareview")
REVIEW_ID = re.compile(r"[0-9]+[A-Z]*")
ANONYMOUS = re.compile(r"anonymous[0-9]*", re.IGNORECASE)


def recognise(table: Table, _: layouts.ReadOptions) -> str:
    """Say why a table is an export of HotCRP: its columns, or the ids of its reviews.

    Examples:
        >>> from evenhand.columns import Source
        >>> columns = {"paper": ["1"], "title": ["On tea"], "review": ["1A"]}
        >>> table = Table.of({**columns, "OveMer": ["4"]}, Source())
        >>> recognise(table, layouts.ReadOptions())
        "columns 'paper', 'title' and 'review'"
    """
    for names in EXPORTS:
        reason = table.why(*names)
        if reason and (names != HIDDEN or _has_review_ids(table)):
            return reason
    return ""


def read(table: Table, options: layouts.ReadOptions) -> layouts.LongForm:
    """Take the submitted reviews, with the field that was named as their score.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import ReadOptions
        >>> columns = {"paper": ["1"], "title": ["On tea"], "review": ["1A"]}
        >>> long = read(Table.of({**columns, "OveMer": ["4"]}, Source()), ReadOptions())
        >>> long.origin, long.table.notices[0].code
        ("item from 'paper', reviewer from 'review', score from 'OveMer'", 'pseudonyms')
    """
    table = table.leave_out("row", _left_out(table))
    item = table.column_for("item", options.columns.item, "paper", "pid")
    fields = {
        name: values
        for name, values in table.columns.items()
        if not NOT_SCORES.fullmatch(plain(name))
        and name not in (item, options.columns.reviewer)
        and may_be_scores(values)
    }
    titles = roles.titles_by_item(table.texts(item), table.texts("title"))
    choose = roles.among(fields, table.source)
    return roles.long_form(table, options, choose, item, _reviewers, titles)


def _has_review_ids(table: Table) -> bool:
    ids = [text for text in table.texts("review") if text]
    return all(map(REVIEW_ID.fullmatch, ids)) and not all(map(str.isdecimal, ids))


def _left_out(table: Table) -> Reasons:
    """Return the entries that are no submitted review, by the reason."""
    # Only exports with a pid have a status; elsewhere it is a field of the form.
    if not table.find("pid"):
        return {}
    kind, rtype, draft, stated = (
        table.cells(*names).str.to_lowercase()
        for names in (["object"], ["rtype"], ["draft"], STATES)
    )
    states = bool(table.find(*STATES))
    finished = stated.is_in(FINISHED) if states else ~draft.is_in(TRUE)
    no_review = (kind != "review") & bool(table.find("object"))
    return {
        "other_entries": no_review,
        "meta_reviews": rtype.is_in(META),
        "unfinished_reviews": ~finished,
    }


def _reviewers(table: Table) -> roles.Writers:
    """Return where and who wrote each review, and a notice if some do not say."""
    place, own = table.find("review"), table.texts("review")
    if not place and table.find("pid"):
        place = table.find("ordinal", "rid")
        cells = zip(*map(table.texts, ("pid", "ordinal", "rid")), strict=True)
        own = [
            f"{paper}{letter}" if letter else f"{paper} review {number}" * bool(number)
            for paper, letter, number in cells
        ]
    if not (place or table.find(*EMAILS, *PEOPLE)):
        raise table.no_column("reviewer")
    # Reviews by token share accounts that are named so, whoever wrote them.
    places = (EMAILS, PEOPLE)
    return roles.who_wrote(table, places, (place, own), "hotcrp", ANONYMOUS)


HOTCRP = layouts.Layout("hotcrp", "HotCRP", recognise, read)
