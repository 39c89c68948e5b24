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

from evenhand.errors import quote
from evenhand.formats import layouts, roles
from evenhand.formats.documents import entries, flatten
from evenhand.formats.scale import may_be_scores
from evenhand.formats.tables import Table, as_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
PER_PAPER = re.compile(r"[^/]*[0-9]/[^/]+$")
PAPER_NUMBER = re.compile(r"(?im)(?:paper|submission)([0-9]+)(?:/|$)")


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
    def kinds(self) -> list[str]:
        """What a note may be: the ends of the invitations that it was written by."""
        return [text.rsplit("/", 1)[-1].casefold() for text in self.invitations]

    @property
    def is_gone(self) -> bool:
        """Whether a submission was deleted, withdrawn or rejected without review."""
        venue = _text(self.content.get("venueid")).rsplit("/", 1)[-1].casefold()
        ends = " ".join([*self.kinds, venue])
        return bool(self.raw.get("ddate")) or any(word in ends for word in GONE)

    @property
    def signature(self) -> tuple[str, str]:
        """The person who signed a note, or else a name for this paper only."""
        people = [
            signature
            for signature in self.signatures
            if signature.startswith("~") or "@" in signature
        ]
        if len(people) == 1:
            return people[0], ""
        alone = self.signatures[0] if len(self.signatures) == 1 else ""
        match = PER_PAPER.search(alone)
        # A group such as ".../Reviewers" is nobody: the note itself tells them apart.
        return "", match[0] if match else self.name

    @property
    def paper(self) -> str:
        """The number of its paper in its invitations or signatures, or empty."""
        match = PAPER_NUMBER.search("\n".join([*self.invitations, *self.signatures]))
        return match[1] if match else ""


def _text(value: object) -> str:
    return as_text(value) if isinstance(value, str | int | float) else ""


def _several(value: object) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [text.strip() for text in values if isinstance(text, str) and text.strip()]


def recognise(table: Table, _: layouts.ReadOptions) -> str:
    """Say why a table is an export of OpenReview: the keys of its notes.

    Examples:
        >>> from evenhand.columns import Source
        >>> note = {"forum": "x", "invitation": "V/-/Submission", "content": {}}
        >>> recognise(Table({}, Source(), document=[note]), layouts.ReadOptions())
        "keys 'forum', 'content' and 'invitation'"
    """
    if console := table.why(*CONSOLE):
        return console
    notes = entries(table.document, table.source)
    keys = [
        key for note in notes for key in INVITATIONS if {*NOTES, key} <= note.keys()
    ]
    return f"keys 'forum', 'content' and {keys[0]!r}" if keys else ""


def read(table: Table, options: layouts.ReadOptions) -> layouts.LongForm:
    """Take the official reviews among the notes.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import ReadOptions
        >>> note = {"id": "r", "forum": "x", "signatures": ["~Ada1"],
        ...         "invitation": "V/Paper3/-/Official_Review",
        ...         "content": {"rating": "6: Weak accept"}}
        >>> long = read(Table({}, Source(), document=[note]), ReadOptions())
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
    source = table.source.keep([note.row for note in replies])
    reasons = _left_out(replies, submissions)
    columns = flatten([note.raw for note in replies], source)
    raw = Table.of(columns, source).leave_out("note", reasons)
    out = zip(*reasons.values(), strict=True)
    reviews = [note for note, no in zip(replies, out, strict=True) if not any(no)]
    item = _items(reviews, submissions)
    if options.columns.item:
        name = raw.column_for("item", options.columns.item)
        item = repr(name), raw.columns[name]
    papers = [submissions.get(note.forum, _Note(0, {})) for note in reviews]
    called = [_text(paper.content.get("title")) for paper in papers]
    titles = roles.titles_by_item(map(_text, item[1]), called)
    choose = partial(_field, reviews, raw.source)
    return roles.long_form(
        raw, options, choose, item, partial(_writers, reviews), titles
    )


def _writers(reviews: Sequence[_Note], raw: Table) -> roles.Writers:
    """Return who signed each review, and a notice of those with a pseudonym."""
    hidden = sum(not note.signature[0] for note in reviews)
    papers = Counter(
        name for name, _ in {(note.signature[1], note.forum) for note in reviews}
    )
    # A name that stands at several papers by chance is not one person.
    people = [
        person or (name if papers[name] == 1 else f"{note.forum}/{name}")
        for note in reviews
        for person, name in [note.signature]
    ]
    return ("'signatures'", people), roles.pseudonyms(raw, hidden, "openreview")


def _notes(table: Table) -> list[_Note]:
    """Return every note once, also those inside a submission's details."""
    notes: dict[object, _Note] = {}
    for row, note in enumerate(entries(table.document, table.source)):
        details = note.get("details")
        inside = details if isinstance(details, dict) else {}
        replies = [reply for key in REPLIES for reply in inside.get(key) or ()]
        if not all(isinstance(reply, dict) for reply in replies):
            raise table.source.at(row, f"replies must be objects, got {quote(replies)}")
        for raw in (note, *replies):
            # A note without an id is like no other.
            name = _text(raw.get("id"))
            first = notes.setdefault(name or id(raw), _Note(row, raw)).raw
            if any(raw.get(key) != first.get(key) for key in ("content", "ddate")):
                text = f"note must stand once, got another version of {quote(name)}"
                raise table.source.at(row, text)
    return list(notes.values())


def _left_out(
    replies: Sequence[_Note], submissions: Mapping[str, _Note]
) -> dict[str, list[bool]]:
    """Return the notes that are no review of a submission that stands, by the reason.

    Where no note is an official review, the venue calls its reviews otherwise.
    """
    official = any(REVIEW in note.kinds for note in replies)
    gone = {forum for forum, note in submissions.items() if note.is_gone}

    def is_review(kind: str) -> bool:
        named = kind.endswith("review") and not any(no in kind for no in NOT_REVIEWS)
        return kind == REVIEW if official else named

    unrelated = [not any(map(is_review, note.kinds)) for note in replies]
    deleted = [bool(note.raw.get("ddate")) for note in replies]
    return {
        "other_notes": unrelated,
        "deleted_notes": deleted,
        "withdrawn_items": [note.forum in gone for note in replies],
    }


def _field(reviews: Sequence[_Note], source: Source, wanted: str) -> roles.Place:
    """Choose a field of the reviews' content that may hold scores."""
    names = dict.fromkeys(name for note in reviews for name in note.content)
    fields = {
        name: [note.content.get(name) for note in reviews]
        for name in names
        if not PROSE.fullmatch(name)
        and may_be_scores([note.content.get(name) for note in reviews], least=2)
    }
    wanted = wanted.removeprefix("content.").removesuffix(".value")
    return roles.among(fields, source)(wanted)


def _items(reviews: Sequence[_Note], submissions: Mapping[str, _Note]) -> roles.Place:
    """Return where submissions were found, and each review's."""
    numbers = {
        forum: _text(note.raw.get("number")) for forum, note in submissions.items()
    }
    of_forum = {note.forum: numbers.get(note.forum) or note.paper for note in reviews}
    # Numbers start again for each venue, forums do not.
    if len(set(of_forum.values())) == len(of_forum) and all(of_forum.values()):
        return "the submission's number", [of_forum[note.forum] for note in reviews]
    return "'forum'", [note.forum for note in reviews]


OPENREVIEW = layouts.Layout("openreview", "OpenReview", recognise, read)
