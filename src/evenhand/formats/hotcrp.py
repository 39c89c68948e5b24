"""HotCRP: reviews CSV, scores CSV, the batch script's CSV, and JSON.

Scores are symbols of the review form and may be letters; whether A is best or worst is
up to the form. Who wrote a review may be hidden, for some papers or for all.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from evenhand.formats import layouts
from evenhand.formats.tables import flatten, holds_objects, plain, texts

if TYPE_CHECKING:
    from evenhand.claims import Notice
    from evenhand.formats.layouts import Asked, Long
    from evenhand.formats.tables import Table, Values

EXPORTS: dict[str, tuple[str, ...]] = {
    "reviews or scores CSV": ("paper", "title", "reviewername", "email"),
    "reviews or scores CSV, names hidden": ("paper", "title", "review"),
    "batch CSV": ("pid", "review", "email", "round"),
    "JSON": ("object", "pid", "rid"),
    "older JSON": ("pid", "rid", "ordinal"),
}
"""What is recognised, and the columns that mark it."""
HIDDEN = "reviews or scores CSV, names hidden"
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
FINISHED = frozenset({"complete", "submitted"})
TRUE = ("true", "1")
META = frozenset({"5", "meta", "metareview"})
REVIEW_ID = re.compile(r"[0-9]+[A-Z]*")
KEYWORD = re.compile(r"(?:[A-Z][a-z]{2}){2,}[0-9]*")
ANONYMOUS = re.compile(r"anonymous[0-9]*", re.IGNORECASE)
LEFT_OUT = {
    "other_entries": "without a review left out",
    "meta_reviews": "with a metareview left out",
    "unfinished_reviews": "with a review that was not submitted left out",
}
UNSAID = (
    "Reviews do not say who wrote them. Each of these counts as a reviewer of its own, "
    "so no person's scores of several items are compared."
)


def tell(table: Table) -> str:
    """Say why a table is an export of HotCRP: its columns, or the ids of its reviews.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.tables import Table
        >>> columns = {"paper": ["1"], "title": ["On tea"], "review": ["1A"]}
        >>> tell(Table({**columns, "OveMer": ["4"]}, Source()))
        "columns 'paper', 'title' and 'review'"
    """
    table = _opened(table)
    for export, names in EXPORTS.items():
        reason = table.why(*names)
        if reason and (export != HIDDEN or _has_review_ids(table)):
            return reason
    keyword = next((name for name in table.columns if KEYWORD.fullmatch(name)), "")
    if keyword and not table.find("review", *EMAILS, *PEOPLE):
        return table.why("paper", "title", keyword)
    return ""


def take(table: Table, asked: Asked) -> Long:
    """Take the submitted reviews, with the field that was named as their score.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import Asked
        >>> from evenhand.formats.tables import Table
        >>> columns = {"paper": ["1"], "title": ["On tea"], "review": ["1A"]}
        >>> long = take(Table({**columns, "OveMer": ["4"]}, Source()), Asked())
        >>> long.said, long.notices[0].code
        ("item from 'paper', reviewer from 'review', score from 'OveMer'", 'pseudonyms')
    """
    table = _opened(table)
    reasons = _reasons(table)
    table, notices = layouts.leave_out(table, reasons, "row", LEFT_OUT)
    if not table.height:
        said = " ".join(notice.message for notice in notices)
        raise table.source.whole(f"There is no submitted review. {said}")
    item = table.named("item", asked.columns.item, "paper", "pid")
    reviewer, unsaid = _reviewers(table, asked.columns.reviewer)
    fields = [
        name
        for name, values in table.columns.items()
        if not NOT_SCORES.fullmatch(plain(name))
        and name not in (item, asked.columns.reviewer)
        and layouts.may_be_scores(values)
    ]
    score = layouts.choose_score(asked.columns.score, fields, table.source)
    weight = asked.columns.weight
    return layouts.rated(
        table.source,
        item=(repr(item), table.columns[item]),
        reviewer=reviewer,
        score=(score, table.columns[score]),
        weight=table.columns[table.named("weight", weight)] if weight else None,
        titles=layouts.titled(texts(table.columns[item]), table.texts("title")),
        notices=notices + unsaid,
    )


def _opened(table: Table) -> Table:
    """Look into the API's answer, which wraps the list of reviews."""
    document = table.document
    if isinstance(document, dict) and holds_objects(document.get("reviews")):
        return replace(table, columns=flatten(document["reviews"], table.source))
    return table


def _has_review_ids(table: Table) -> bool:
    given = [text for text in table.texts("review") if text]
    return all(map(REVIEW_ID.fullmatch, given)) and not all(map(str.isdecimal, given))


def _reasons(table: Table) -> list[str]:
    """Return why each entry is left out, empty where it is a submitted review."""
    # Only exports with a pid have a status; elsewhere it is a field of the form.
    if not table.find("pid"):
        return [""] * table.height
    kinds = _folded(table, "object") if table.find("object") else []
    status = table.find("status", "reviewstatus")
    columns = map(partial(_folded, table), ("rtype", status, "submitted", "draft"))
    reasons = []
    for row, (kind, stated, done, draft) in enumerate(zip(*columns, strict=True)):
        finished = stated in FINISHED if status else draft not in TRUE
        if not status and table.find("submitted"):
            finished = done in TRUE
        if kinds and kinds[row] != "review":
            reasons.append("other_entries")
        elif kind in META:
            reasons.append("meta_reviews")
        else:
            reasons.append("" if finished else "unfinished_reviews")
    return reasons


def _folded(table: Table, name: str) -> list[str]:
    return [text.casefold() for text in table.texts(name)]


def _reviewers(table: Table, given: str) -> tuple[tuple[str, Values], list[Notice]]:
    """Return where and who wrote each review, and a notice if some do not say."""
    own = _review_ids(table)
    if not (given or own[0] or table.find(*EMAILS, *PEOPLE)):
        raise table.source.whole(
            "Nothing tells who wrote a review: there is neither 'email' nor "
            "'reviewername' nor 'review'. Download it again as someone who may see "
            "the reviews' numbers."
        )
    # Reviews by token share accounts that are named so, whoever wrote them.
    return layouts.who_wrote(table, given, (EMAILS, PEOPLE), own, UNSAID, ANONYMOUS)


def _review_ids(table: Table) -> tuple[str, list[str]]:
    """Return where a label of each review's own is, and it, empty where it has none."""
    if name := table.find("review"):
        return name, table.texts(name)
    place = table.find("ordinal", "rid") if table.find("pid") else ""
    cells = zip(*map(table.texts, ("pid", "ordinal", "rid")), strict=True)
    ids = [
        f"{paper}{letter}" if letter else f"{paper} review {number}" if number else ""
        for paper, letter, number in cells
    ]
    return place, ids if place else [""] * table.height


LAYOUT = layouts.Layout("hotcrp", "HotCRP", take, tell=tell, only_scores=True)
