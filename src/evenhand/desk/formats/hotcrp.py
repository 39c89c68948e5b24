"""HotCRP: reviews CSV, scores CSV, the batch script's CSV, and JSON.

Scores are symbols of the review form and may be letters; whether A is best or worst is
up to the form. Who wrote a review may be hidden, for some papers or for all.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from evenhand._columns import Columns
from evenhand._results import Notice
from evenhand.desk.formats._people import identified
from evenhand.desk.formats.documents import flattened, holds_objects
from evenhand.desk.formats.layouts import (
    Asked,
    Layout,
    Long,
    cells_of,
    check_options,
    choose_score,
    find,
    kept,
    lined,
    may_be_scores,
    named,
    no_column,
    plain,
    texts,
    titled,
    why,
)
from evenhand.desk.formats.tables import Table

if TYPE_CHECKING:
    from evenhand.desk.formats.layouts import Values

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
META = frozenset({"5", "meta", "metareview"})
NO_ENTRY = ("n/a", "no entry")
REVIEW_ID = r"^[0-9]+[A-Z]*$"
LETTERED_ID = r"^[0-9]+[A-Z]+$"
KEYWORD = re.compile(r"(?:[A-Z][a-z]{2}){2,}[0-9]*")
ANONYMOUS = re.compile(r"anonymous[0-9]*", re.IGNORECASE)


def recognise(table: Table) -> str:
    """Say why a table is an export of HotCRP: its columns, or the ids of its reviews.

    Examples:
        >>> from evenhand._labels import Source
        >>> columns = {"paper": ["1"], "title": ["On tea"], "review": ["1A"]}
        >>> recognise(Table({**columns, "OveMer": ["4"]}, Source()))
        "columns 'paper', 'title' and 'review'"
    """
    table = _opened(table)
    for export, names in EXPORTS.items():
        reason = why(table, *names)
        if reason and (export != HIDDEN or _has_review_ids(table)):
            return reason
    keyword = next((name for name in table.columns if KEYWORD.fullmatch(name)), "")
    if keyword and not find(table, "review", *EMAILS, *PEOPLE):
        return why(table, "paper", "title", keyword)
    return ""


def take(table: Table, asked: Asked) -> Long:
    """Take the submitted reviews, with the field that was named as their score.

    Examples:
        >>> from evenhand._labels import Source
        >>> columns = {"paper": ["1"], "title": ["On tea"], "review": ["1A"]}
        >>> long = take(Table({**columns, "OveMer": ["4"]}, Source()), Asked())
        >>> long.said, long.notices[0].code
        ("item from 'paper', reviewer from 'review', score from 'OveMer'", 'pseudonyms')
    """
    check_options(asked, "HotCRP")
    table = _opened(table)
    if find(table, "field") and find(table, "data") and find(table, "pid"):
        raise table.source.whole(
            "This is HotCRP's narrow form, with a row for each field of a review. "
            "Export it again without -x."
        )
    table, notices = _submitted(table)
    item = named(table, asked.columns.item, "paper", "pid")
    if not item:
        raise no_column(table.source, "item", table.columns)
    reviewers, origin, hidden = _reviewers(table, asked.columns.reviewer)
    taken = (item, asked.columns.reviewer)
    fields = [name for name in table.columns if _may_score(table, name, taken)]
    score = choose_score(asked.columns.score, fields, table.source)
    items = texts(table.columns[item])
    title = find(table, "title")
    name = score if score not in ("reviewer", "item") else "score"
    return Long(
        {
            "reviewer": reviewers,
            "item": table.columns[item],
            name: _given(table.columns[score]),
        },
        Columns(reviewer="reviewer", item="item", score=name),
        table.source,
        f"item from {item!r}, reviewer from {origin}, score from {score!r}",
        titled(items, texts(table.columns[title])) if title else {},
        (*notices, *_pseudonyms(hidden, len(items))),
    )


def _opened(table: Table) -> Table:
    """Look into the API's answer, which wraps the list of reviews."""
    document = table.document
    if isinstance(document, dict) and holds_objects(document.get("reviews")):
        columns = flattened(document["reviews"], table.source)
        return replace(table, columns={**columns})
    return table


def _has_review_ids(table: Table) -> bool:
    values = pl.Series(texts(table.columns[find(table, "review")]), dtype=pl.String)
    given = values.filter(values != "")
    return bool(
        given.str.contains(REVIEW_ID).all() and given.str.contains(LETTERED_ID).any()
    )


def _submitted(table: Table) -> tuple[Table, list[Notice]]:
    """Leave out comments, metareviews, and reviews that nobody submitted."""
    height = len(next(iter(table.columns.values()), ()))
    rows = list(range(height))
    notices = []
    for code, what, kinds in _left_out(table):
        count = Counter(kinds[row] for row in rows if kinds[row])
        if count:
            listed = ", ".join(f"{count[kind]} {kind}" for kind in sorted(count))
            notices.append(Notice(code, f"{what} were left out: {listed}."))
            rows = [row for row in rows if not kinds[row]]
    if not rows:
        reasons = " ".join(notice.message for notice in notices)
        raise table.source.whole(f"There is no submitted review. {reasons}")
    if len(rows) == height:
        return table, notices
    source = lined(table.source, rows)
    return Table(kept(table.columns, rows), source), notices


def _left_out(table: Table) -> list[tuple[str, str, list[str]]]:
    """Return a notice's code and subject, and each row's kind if it is left out."""
    found = []
    # Only these two exports have a status; elsewhere it is a field of the form.
    if not find(table, "pid"):
        return []
    if name := find(table, "object"):
        kinds = _folded(table.columns[name])
        left = ["" if kind == "review" else kind for kind in kinds]
        found.append(("other_entries", "Entries that are no reviews", left))
    if name := find(table, "rtype"):
        kinds = _folded(table.columns[name])
        left = ["metareview" if kind in META else "" for kind in kinds]
        found.append(("meta_reviews", "Metareviews", left))
    left = ["" if kind in FINISHED else kind for kind in _statuses(table)]
    if left:
        found.append(("unfinished_reviews", "Unfinished reviews", left))
    return found


def _statuses(table: Table) -> list[str]:
    """Return how far each review is; empty if the export does not say."""
    if name := find(table, "status", "reviewstatus"):
        return [status or "without status" for status in _folded(table.columns[name])]
    if name := find(table, "submitted"):
        done = [value in ("true", "1") for value in _folded(table.columns[name])]
        return ["submitted" if one else "draft" for one in done]
    if name := find(table, "draft"):
        drafts = [value in ("true", "1") for value in _folded(table.columns[name])]
        return ["draft" if one else "submitted" for one in drafts]
    return []


def _folded(values: Values) -> list[str]:
    return [text.casefold() for text in texts(values)]


def _reviewers(table: Table, given: str) -> tuple[list[object], str, int]:
    """Return who wrote each review, where that was found, and how many do not say."""
    if given:
        name = named(table, given)
        return list(texts(table.columns[name])), repr(name), 0
    email = find(table, *EMAILS)
    person = find(table, *PEOPLE)
    ids, place = _review_ids(table)
    if not (email or person or ids):
        raise table.source.whole(
            "Nothing tells who wrote a review: there is neither 'email' nor "
            "'reviewername' nor 'review'. Download it again as someone who may see "
            "the reviews' numbers."
        )
    known = _people(table, email, person)
    hidden = known.count("")
    own = ids or [""] * len(known)
    reviewers: list[object] = [
        one or review for one, review in zip(known, own, strict=True)
    ]
    parts = [repr(name) for name in (email, person) if name][:1]
    if hidden and place:
        parts = [*parts, place] if hidden < len(reviewers) else [place]
    return reviewers, " or ".join(parts), hidden


def _people(table: Table, email: str, person: str) -> list[str]:
    """Return who each review says that it is by, empty where it does not."""
    pairs = [
        # Reviews by token share accounts that are named so, whoever wrote them.
        ("", "") if ANONYMOUS.fullmatch(one or two) else (one, two)
        for one, two in zip(
            cells_of(table, email), cells_of(table, person), strict=True
        )
    ]
    return identified(
        [one for one, _ in pairs], [two for _, two in pairs], table.source
    )


def _review_ids(table: Table) -> tuple[list[str], str]:
    if name := find(table, "review"):
        return texts(table.columns[name]), repr(name)
    paper, rid, ordinal = (find(table, key) for key in ("pid", "rid", "ordinal"))
    if not (paper and (rid or ordinal)):
        return [], ""
    empty = [""] * len(table.columns[paper])
    papers = texts(table.columns[paper])
    numbers = texts(table.columns[rid]) if rid else empty
    letters = texts(table.columns[ordinal]) if ordinal else empty
    ids = [
        f"{one}{letter}" if letter else f"{one} review {number}" if number else ""
        for one, letter, number in zip(papers, letters, numbers, strict=True)
    ]
    return ids, repr(ordinal or rid)


def _may_score(table: Table, name: str, taken: tuple[str, ...]) -> bool:
    if NOT_SCORES.fullmatch(plain(name)) or name in taken:
        return False
    values = table.columns[name]
    nested = isinstance(values, list) and any(
        isinstance(value, list | tuple | dict) for value in values
    )
    return not nested and may_be_scores(values)


def _given(values: Values) -> Values:
    """Clear what HotCRP writes where a field was left without an entry."""
    if isinstance(values, pl.Series):
        if values.dtype != pl.String:
            return values
        none = values.str.strip_chars().str.to_lowercase().is_in(NO_ENTRY)
        return values.set(none.fill_null(value=False), None)
    return [None if text.casefold() in NO_ENTRY else text for text in texts(values)]


def _pseudonyms(hidden: int, total: int) -> list[Notice]:
    if not hidden:
        return []
    which = "The reviews do" if hidden == total else f"{hidden} of {total} reviews do"
    return [
        Notice(
            "pseudonyms",
            f"{which} not say who wrote them. Each of these counts as a reviewer of "
            "its own, so no person's scores of several items are compared.",
        )
    ]


LAYOUT = Layout("hotcrp", "HotCRP", recognise, take)
