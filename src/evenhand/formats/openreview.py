"""OpenReview: notes of the API, versions 1 and 2, as JSON or JSON lines.

A note is a submission, a review, a comment or a decision; the end of its invitation
tells which. Reviews may also stand inside their submission, under "details". The CSV of
the chairs' console has only averages and is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from evenhand.claims import Notice
from evenhand.errors import listing, shown
from evenhand.formats import layouts
from evenhand.formats.scale import may_be_scores
from evenhand.formats.tables import Table, as_text, entries, flatten, holds_objects

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evenhand.columns import Source

CONSOLE = ("min rating", "max rating", "average rating")
"""Columns that mark the CSV of the chairs' console."""
NOTES = ("forum", "content")
"""Keys that mark a note, beside "invitation" (version 1) or "invitations" (2)."""
INVITATIONS = ("invitations", "invitation")
REPLIES = ("replies", "directReplies")
REVIEW = "official_review"
NOT_REVIEWS = ("meta", "ethic")
GONE = ("withdrawn", "desk_reject")
PROSE = re.compile(
    "title|review|summary|comment|strengths|weaknesses|questions|limitations|abstract|"
    "authors|authorids|keywords|venue|venueid|pdf"
)
"""Fields that are never scores, though few and short words may fill them."""
PER_PAPER = re.compile(r"(?:.*/)?([^/]*[0-9])/([^/]+)")
PAPER_NUMBER = re.compile(
    r"(?:paper|submission)([0-9]+)(?:/|$)", re.IGNORECASE | re.MULTILINE
)
PAPER_PREFIX = re.compile(r"(?:paper|submission)[0-9]+/", re.IGNORECASE)

LEFT_OUT = {
    "other_notes": "Notes that are no reviews",
    "deleted_notes": "Deleted reviews",
    "withdrawn_items": "Reviews of withdrawn or desk-rejected submissions",
}
ONE_PAPER = (
    "Reviews are signed with a pseudonym for one paper only, so the same person cannot "
    "be recognised again. Each of these counts as a reviewer of its own, and no "
    "person's scores of several items are compared."
)


Fields = dict[str, object]


class _Note:
    """A note.

    Attributes:
        row: The row that it came from.
        raw: All its keys.
        name: Its id.
        forum: The id of its submission.
        content: Its fields; version 2 keeps each value inside an object.
        invitations: What it was written by.
        signatures: Who signed it.
    """

    def __init__(self, row: int, raw: Fields) -> None:
        """Take the keys that matter."""
        self.row, self.raw = row, raw
        self.name = _text(raw.get("id"))
        self.forum = _text(raw.get("forum")) or _text(raw.get("replyto"))
        content = raw.get("content")
        self.content: Fields = {
            str(name): value.get("value") if isinstance(value, dict) else value
            for name, value in (content if isinstance(content, dict) else {}).items()
        }
        self.invitations = _several(raw.get("invitations") or raw.get("invitation"))
        self.signatures = _several(raw.get("signatures"))

    @property
    def kind(self) -> str:
        """What a note is: the end of the invitation that it was written by."""
        ends = [
            PAPER_PREFIX.sub("", text.rsplit("/-/", 1)[-1]).replace("/", "_")
            for text in self.invitations
        ]
        reviews = [end for end in ends if end.casefold().endswith("review")]
        return (reviews or ends or [""])[0]

    @property
    def is_gone(self) -> bool:
        """Whether a submission was deleted, withdrawn or rejected without review."""
        marks = [*self.invitations, _text(self.content.get("venueid"))]
        ends = " ".join(mark.rsplit("/", 1)[-1].casefold() for mark in marks)
        return bool(self.raw.get("ddate")) or any(word in ends for word in GONE)

    @property
    def signed(self) -> tuple[str, str]:
        """The person who signed a note, or else a name for this paper only."""
        people = [one for one in self.signatures if one.startswith("~") or "@" in one]
        if len(people) == 1:
            return people[0], ""
        alone = self.signatures[0] if len(self.signatures) == 1 else ""
        match = PER_PAPER.fullmatch(alone)
        # A group such as ".../Reviewers" is nobody: the note itself tells them apart.
        return "", f"{match[1]}/{match[2]}" if match else self.name

    @property
    def paper(self) -> str:
        """The number of its paper in its invitations or signatures, or empty."""
        match = PAPER_NUMBER.search("\n".join([*self.invitations, *self.signatures]))
        return match[1] if match else ""


def _text(value: object) -> str:
    return as_text(value) if isinstance(value, str | int | float) else ""


def _several(value: object) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [one.strip() for one in values if isinstance(one, str) and one.strip()]


def tell(table: Table) -> str:
    """Say why a table is an export of OpenReview: the keys of its notes.

    Examples:
        >>> from evenhand.columns import Source
        >>> note = {"forum": "x", "invitation": "V/-/Submission", "content": {}}
        >>> tell(Table({}, Source(), document=[note]))
        "keys 'forum', 'content' and 'invitation'"
    """
    if console := table.why(*CONSOLE):
        return console
    for note in _raw_notes(table):
        for key in INVITATIONS:
            if all(name in note for name in (*NOTES, key)):
                return f"keys 'forum', 'content' and {key!r}"
    return ""


def take(table: Table, asked: layouts.Asked) -> layouts.Long:
    """Take the official reviews among the notes.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import Asked
        >>> note = {"id": "r", "forum": "x", "signatures": ["~Ada1"],
        ...         "invitation": "V/Paper3/-/Official_Review",
        ...         "content": {"rating": "6: Weak accept"}}
        >>> long = take(Table({}, Source(), document=[note]), Asked())
        >>> long.table.texts("item"), long.table.texts("rating")
        (['3'], ['6: Weak accept'])
    """
    if table.why(*CONSOLE):
        raise table.source.whole(
            "The console's table has only the least, the greatest and the average "
            "rating of each submission: export the review notes of the API as JSON "
            "instead, as docs/formats.md shows."
        )
    notes = _notes(table)
    submissions = {
        note.name: note for note in notes if note.name and note.forum in (note.name, "")
    }
    replies = [note for note in notes if note.name not in submissions]
    reviews, notices = _standing(replies, submissions, table.source)
    source = table.source.keep([note.row for note in reviews])
    raw = flatten([note.raw for note in reviews], source)
    item = _items(reviews, submissions, source)
    if asked.columns.item:
        name = raw.named("item", asked.columns.item)
        item = repr(name), raw.columns[name]
    papers = [submissions.get(note.forum, _Note(0, {})) for note in reviews]
    titles = [_text(paper.content.get("title")) for paper in papers]
    return layouts.rated(
        raw,
        asked,
        partial(_field, reviews, source),
        item=item,
        reviewer=partial(_reviewers, reviews),
        titles=layouts.titled(map(_text, item[1]), titles),
        notices=notices,
    )


def _reviewers(reviews: Sequence[_Note], raw: Table) -> layouts.Writers:
    """Return who signed each review, and a notice of those with a pseudonym."""
    people = ["".join(note.signed) for note in reviews]
    if "" in people:
        text = "signatures must name one reviewer, got nothing"
        raise raw.source.at(people.index(""), text)
    hidden = sum(not note.signed[0] for note in reviews)
    unsaid = layouts.pseudonyms(hidden, len(reviews), ONE_PAPER)
    return ("'signatures'", people), unsaid


def _raw_notes(table: Table) -> list[Fields]:
    """Return the notes of a document."""
    document = table.document
    if isinstance(document, dict) and holds_objects(document.get("notes")):
        document = document["notes"]
    return entries(document, table.source)


def _notes(table: Table) -> list[_Note]:
    """Return every note once, also those inside a submission's details."""
    found: dict[object, _Note] = {}
    for row, fields in _with_replies(table):
        note = _Note(row, fields)
        # A note without an id is like no other.
        first = found.setdefault(note.name or id(fields), note)
        if any(fields.get(key) != first.raw.get(key) for key in ("content", "ddate")):
            raise table.source.at(
                row, f"note must stand once, got another version of {shown(note.name)}"
            )
    return list(found.values())


def _with_replies(table: Table) -> Iterator[tuple[int, Fields]]:
    for row, note in enumerate(_raw_notes(table)):
        yield row, note
        details = note.get("details")
        replies = details if isinstance(details, dict) else {}
        for key in REPLIES:
            for reply in replies.get(key) or ():
                if not isinstance(reply, dict):
                    raise table.source.at(
                        row, f"{key} must be JSON objects, got {shown(reply)}"
                    )
                yield row, reply


def _standing(
    replies: Sequence[_Note], submissions: Mapping[str, _Note], source: Source
) -> tuple[list[_Note], list[Notice]]:
    """Keep official reviews of submissions that stand, and say all that is left out."""
    wanted = _review_kind({note.kind for note in replies}, source)
    gone = {forum for forum, note in submissions.items() if note.is_gone}
    reviews = []
    left: dict[str, Counter[str]] = {code: Counter() for code in LEFT_OUT}
    for note in replies:
        if note.kind.casefold() != wanted:
            left["other_notes"][note.kind or "note without invitation"] += 1
        elif note.raw.get("ddate"):
            left["deleted_notes"][""] += 1
        elif note.forum in gone:
            left["withdrawn_items"][""] += 1
        else:
            reviews.append(note)
    notices = []
    for code, kinds in left.items():
        listed = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        text = f"{LEFT_OUT[code]} were left out: {listed.strip()}."
        notices += [Notice(code, text)] if kinds else []
    if not reviews:
        reasons = "".join(f" {notice.message}" for notice in notices)
        raise source.whole(f"There is no official review.{reasons}")
    return reviews, notices


def _review_kind(kinds: set[str], source: Source) -> str:
    """Tell which kind of note is a review; venues may name it otherwise."""
    folded = {kind.casefold() for kind in kinds}
    named = {
        kind
        for kind in folded
        if kind.endswith("review") and not any(no in kind for no in NOT_REVIEWS)
    }
    if REVIEW in folded or len(named) == 1:
        return REVIEW if REVIEW in folded else named.pop()
    ends = listing(sorted(filter(None, kinds)))
    raise source.whole(
        f"No note is an official review. Their invitations end in {ends or 'nothing'}."
    )


def _field(reviews: Sequence[_Note], source: Source, given: str) -> layouts.Place:
    """Choose a field of the reviews' content that may hold scores."""
    names = dict.fromkeys(name for note in reviews for name in note.content)
    fields = {
        name: [note.content.get(name) for note in reviews]
        for name in names
        if not PROSE.fullmatch(name)
        and may_be_scores([note.content.get(name) for note in reviews], least=2)
    }
    wanted = given.removeprefix("content.").removesuffix(".value")
    return layouts.among(fields, source)(wanted)


def _items(
    reviews: Sequence[_Note], submissions: Mapping[str, _Note], source: Source
) -> layouts.Place:
    """Return where submissions were found, and each review's."""
    numbers: dict[str, str] = {}
    for row, note in enumerate(reviews):
        if not note.forum:
            raise source.at(row, "forum must be given, got nothing")
        submission = submissions.get(note.forum)
        known = "" if submission is None else _text(submission.raw.get("number"))
        numbers[note.forum] = known or note.paper
    # Numbers start again for each venue, forums do not.
    if len(set(numbers.values())) == len(numbers) and all(numbers.values()):
        return "the submission's number", [numbers[note.forum] for note in reviews]
    return "'forum'", [note.forum for note in reviews]


OPENREVIEW = layouts.Layout("openreview", "OpenReview", take, tell=tell)
