"""OpenReview: notes of the API, versions 1 and 2, as JSON or JSON lines.

A note is a submission, a review, a comment or a decision; the end of its invitation
tells which. Reviews may also stand inside their submission, under "details". The CSV of
the chairs' console has only averages and is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evenhand._columns import Columns
from evenhand._labels import NUMBER, shown
from evenhand._results import Notice
from evenhand.desk.formats.layouts import (
    Asked,
    Layout,
    Long,
    check_options,
    choose_score,
    looks_graded,
    pseudonyms,
)
from evenhand.desk.formats.tables import (
    as_text,
    entries,
    flatten,
    holds_objects,
    plain,
)
from evenhand.errors import listing, unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evenhand._labels import Source
    from evenhand.desk.formats.tables import Table, Values

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
PAPER_NUMBER = re.compile(r"(?:paper|submission)([0-9]+)(?:/|$)", re.IGNORECASE)
PAPER_PREFIX = re.compile(r"(?:paper|submission)[0-9]+/", re.IGNORECASE)
NUMBER_AND_WORDS = re.compile(r"([+-]?[0-9]+(?:\.[0-9]+)?)(?:\s*:|\s)\s*[^\W\d]")

ONE_PAPER = (
    "signed with a pseudonym for one paper only, so the same person cannot be "
    "recognised again. Each of these counts as a reviewer of its own, and no person's "
    "scores of several items are compared."
)

Note = dict[str, object]


@dataclass(slots=True)
class _Sorted:
    """Notes by what they are; a review with the row that it came from."""

    reviews: list[tuple[int, Note]] = field(default_factory=list)
    submissions: dict[str, Note] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)
    deleted: int = 0


def recognise(table: Table) -> str:
    """Say why a table is an export of OpenReview: the keys of its notes.

    Examples:
        >>> from evenhand._labels import Source
        >>> from evenhand.desk.formats.tables import Table
        >>> note = {"forum": "x", "invitation": "V/-/Submission", "content": {}}
        >>> recognise(Table({}, Source(), document=[note]))
        "keys 'forum', 'content' and 'invitation'"
    """
    if console := table.why(*CONSOLE):
        return console
    # A table's rows all have the same keys, so one tells of all.
    keys = [table.columns] if table.document is None else _notes(table)
    for note in keys:
        for key in INVITATIONS:
            if all(name in note for name in (*NOTES, key)):
                return f"keys 'forum', 'content' and {key!r}"
    return ""


def take(table: Table, asked: Asked) -> Long:
    """Take the official reviews among the notes.

    Examples:
        >>> from evenhand._labels import Source
        >>> from evenhand.desk.formats.tables import Table
        >>> note = {"id": "r", "forum": "x", "signatures": ["~Ada1"],
        ...         "invitation": "V/Paper3/-/Official_Review",
        ...         "content": {"rating": "6: Weak accept"}}
        >>> long = take(Table({}, Source(), document=[note]), Asked())
        >>> long.columns["item"], long.columns["rating"]
        (['3'], ['6'])
    """
    check_options(asked, "OpenReview")
    if table.why(*CONSOLE):
        raise table.source.whole(
            "The console's table has only the least, the greatest and the average "
            "rating of each submission: export the review notes of the API as JSON "
            "instead, as docs/formats.md shows."
        )
    notes = _sort_out(_notes(table), table.source)
    reviews, notices = _standing(notes, table.source)
    source = table.source.keep([row for row, _ in reviews])
    data = [note for _, note in reviews]
    score, scores = _scores(data, asked.columns.score, source)
    items, titles, item = _items(data, notes.submissions, asked.columns.item, source)
    reviewers, reviewer, hidden = _reviewers(data, asked.columns.reviewer, source)
    name = score if score not in ("reviewer", "item") else "score"
    return Long(
        {"reviewer": reviewers, "item": items, name: scores},
        Columns(reviewer="reviewer", item="item", score=name),
        source,
        f"item from {item}, reviewer from {reviewer}, score from {score!r}",
        titles,
        [
            *notices,
            *pseudonyms(hidden, len(data), ("Reviews are", "reviews are"), ONE_PAPER),
        ],
    )


def _notes(table: Table) -> list[Note]:
    """Return the notes of a document, or of a table with a row for each."""
    document = table.document
    if document is not None:
        if isinstance(document, dict) and holds_objects(document.get("notes")):
            document = document["notes"]
        return entries(document, table.source)
    if not all(name in table.columns for name in NOTES):
        return []
    columns = [
        values if isinstance(values, list) else values.to_list()
        for values in table.columns.values()
    ]
    names = list(table.columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _all(notes: Iterable[Note], source: Source) -> Iterator[tuple[int, Note]]:
    """Return every note with its row, also those inside a submission's details."""
    for row, note in enumerate(notes):
        yield row, note
        details = note.get("details")
        if isinstance(details, dict):
            for key in REPLIES:
                for reply in details.get(key) or ():
                    if not isinstance(reply, dict):
                        raise source.at(
                            row, f"{key} must be JSON objects, got {shown(reply)}"
                        )
                    yield row, reply


def _sort_out(notes: Iterable[Note], source: Source) -> _Sorted:
    found = _Sorted()
    seen: dict[str, Note] = {}
    waiting = []
    for row, note in _all(notes, source):
        name = _text(note.get("id"))
        if name and name in seen:
            if any(
                note.get(key) != seen[name].get(key) for key in ("content", "ddate")
            ):
                raise source.at(
                    row, f"note must stand once, got another version of {shown(name)}"
                )
            continue
        if name:
            seen[name] = note
        if name and _forum(note) in (name, ""):
            found.submissions[name] = note
        else:
            waiting.append((row, note, _kind(note)))
    wanted = _review_kind({kind for _, _, kind in waiting}, source)
    for row, note, kind in waiting:
        if kind.casefold() != wanted:
            found.others[kind or "note without invitation"] += 1
        elif note.get("ddate"):
            found.deleted += 1
        else:
            found.reviews.append((row, note))
    return found


def _kind(note: Note) -> str:
    """Return what a note is: the end of the invitation that it was written by."""
    ends = [
        PAPER_PREFIX.sub("", text.rsplit("/-/", 1)[-1]).replace("/", "_")
        for text in _invitations(note)
    ]
    reviews = [end for end in ends if end.casefold().endswith("review")]
    return (reviews or ends or [""])[0]


def _invitations(note: Note) -> list[str]:
    given = note.get("invitations") or note.get("invitation")
    values = given if isinstance(given, list) else [given]
    return [text for text in values if isinstance(text, str) and text]


def _review_kind(kinds: set[str], source: Source) -> str:
    """Tell which kind of note is a review; venues may name it otherwise."""
    folded = {kind.casefold() for kind in kinds}
    if REVIEW in folded:
        return REVIEW
    named = {
        kind
        for kind in folded
        if kind.endswith("review") and not any(no in kind for no in NOT_REVIEWS)
    }
    if len(named) == 1:
        return named.pop()
    if not any(folded):
        raise source.whole(
            "No note has an invitation, so reviews cannot be told from comments and "
            "decisions. Export the notes as the API gives them."
        )
    raise source.whole(
        "No note is an official review. Their invitations end in "
        f"{listing(sorted(filter(None, kinds)))}."
    )


def _standing(
    notes: _Sorted, source: Source
) -> tuple[list[tuple[int, Note]], list[Notice]]:
    """Leave out reviews of withdrawn submissions, and say all that is left out."""
    gone = {forum for forum, note in notes.submissions.items() if _is_gone(note)}
    reviews = [(row, note) for row, note in notes.reviews if _forum(note) not in gone]
    others = ", ".join(
        f"{count} {kind}" for kind, count in sorted(notes.others.items())
    )
    left = len(notes.reviews) - len(reviews)
    said = {
        "other_notes": ("Notes that are no reviews", others),
        "deleted_notes": ("Deleted reviews", notes.deleted),
        "withdrawn_items": ("Reviews of withdrawn or desk-rejected submissions", left),
    }
    notices = [
        Notice(code, f"{what} were left out: {count}.")
        for code, (what, count) in said.items()
        if count
    ]
    if not reviews:
        reasons = "".join(f" {notice.message}" for notice in notices)
        raise source.whole(f"There is no official review.{reasons}")
    return reviews, notices


def _is_gone(note: Note) -> bool:
    venue = _text(_content(note).get("venueid"))
    marks = [*_invitations(note), venue]
    return bool(note.get("ddate")) or any(
        word in mark.rsplit("/", 1)[-1].casefold() for mark in marks for word in GONE
    )


def _content(note: Note) -> dict[str, object]:
    """Return a note's fields; version 2 keeps each value inside an object."""
    content = note.get("content")
    if not isinstance(content, dict):
        return {}
    return {
        str(name): value.get("value") if isinstance(value, dict) else value
        for name, value in content.items()
    }


def _scores(reviews: Sequence[Note], given: str, source: Source) -> tuple[str, Values]:
    """Choose the field of the score, and return its numbers or words."""
    contents = [_content(note) for note in reviews]
    names = dict.fromkeys(name for content in contents for name in content)
    wanted = given.removeprefix("content.").removesuffix(".value")
    # Long texts of other fields need no look where the field is named.
    numeric, words = _fields(contents, [wanted] if wanted in names else [])
    if not (numeric or words):
        numeric, words = _fields(contents, names)
    score = choose_score(wanted, [*numeric, *words], source)
    if score not in numeric:
        return score, words[score]
    return score, [
        _number(value, score, row, source) for row, value in enumerate(numeric[score])
    ]


def _fields(
    contents: Sequence[Mapping[str, object]], names: Iterable[str]
) -> tuple[dict[str, Values], dict[str, Values]]:
    """Return the fields among these that hold numbers, and those of score words."""
    numeric: dict[str, Values] = {}
    words: dict[str, Values] = {}
    for name in names:
        values = [content.get(name) for content in contents]
        if _is_numeric(values):
            numeric[name] = values
        elif not PROSE.fullmatch(name) and _is_graded(values):
            words[name] = values
    return numeric, words


def _is_numeric(values: Sequence[object]) -> bool:
    counts = Counter(text for value in values if (text := _text(value)))
    numbers = sum(count for text, count in counts.items() if _leading(text))
    # One bad value must not hide the field: the others would then be guessed from.
    return numbers > 0 and 2 * numbers >= counts.total()


def _is_graded(values: Sequence[object]) -> bool:
    given = {value for value in values if isinstance(value, str) and value.strip()}
    plain_values = all(value is None or isinstance(value, str) for value in values)
    return plain_values and len(given) > 1 and looks_graded(list(given))


def _leading(value: object) -> str:
    """Return the number that a value is or begins with."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = _text(value)
    match = NUMBER_AND_WORDS.match(text)
    return match[1] if match else text if re.fullmatch(NUMBER, text) else ""


def _number(value: object, name: str, row: int, source: Source) -> object:
    if not _text(value) and not isinstance(value, list | dict):
        return None
    number = _leading(value)
    if not number:
        raise source.at(
            row, f"{name} must be a number, or begin with one, got {shown(value)}"
        )
    return number


def _items(
    reviews: Sequence[Note],
    submissions: Mapping[str, Note],
    given: str,
    source: Source,
) -> tuple[list[object], dict[str, str], str]:
    """Return each review's submission, their titles, and where they were found."""
    forums = [_forum(note) for note in reviews]
    if given:
        name, labels = _column(reviews, given, source)
        return labels, _titles(labels, forums, submissions), repr(name)
    for row, forum in enumerate(forums):
        if not forum:
            raise source.at(row, "forum must be given, got nothing")
    numbers = {
        forum: _paper_number(note, submissions.get(forum, {}))
        for forum, note in zip(forums, reviews, strict=True)
    }
    # Numbers start again for each venue, forums do not.
    distinct = len(set(numbers.values())) == len(numbers) and all(numbers.values())
    items: list[object] = [numbers[one] if distinct else one for one in forums]
    place = "the submission's number" if distinct else "'forum'"
    return items, _titles(items, forums, submissions), place


def _paper_number(review: Note, submission: Note) -> str:
    number = _text(submission.get("number"))
    if number:
        return number
    paths = [*_invitations(review), *_signatures(review)]
    found = (PAPER_NUMBER.search(path) for path in paths)
    return next((match[1] for match in found if match), "")


def _titles(
    items: Sequence[object], forums: Sequence[str], submissions: Mapping[str, Note]
) -> dict[str, str]:
    found: dict[str, str] = {}
    for item, forum in zip(items, forums, strict=True):
        title = _content(submissions.get(forum, {})).get("title")
        if isinstance(title, str) and title.strip():
            found.setdefault(_text(item), title.strip())
    return found


def _reviewers(
    reviews: Sequence[Note], given: str, source: Source
) -> tuple[list[object], str, int]:
    """Return who signed each review, and how many signed with a pseudonym."""
    if given:
        name, labels = _column(reviews, given, source)
        return labels, repr(name), 0
    labels = []
    hidden = 0
    for row, note in enumerate(reviews):
        person, pseudonym = _signed(note)
        if not (person or pseudonym):
            raise source.at(row, "signatures must name one reviewer, got nothing")
        labels.append(person or pseudonym)
        hidden += not person
    return labels, "'signatures'", hidden


def _column(
    reviews: Sequence[Note], given: str, source: Source
) -> tuple[str, list[object]]:
    """Return the key that the user named, and its value in each review."""
    rows = [flatten([note], source) for note in reviews]
    known = dict.fromkeys(name for row in rows for name in row)
    name = next((one for one in known if plain(one) == plain(given)), "")
    if not name:
        text = unknown("column", given, known)
        raise source.whole(text[:1].upper() + text[1:])
    return name, [row.get(name, [None])[0] for row in rows]


def _signed(note: Note) -> tuple[str, str]:
    """Return the person who signed a note, or else a name for this paper only."""
    signatures = _signatures(note)
    people = [one for one in signatures if one.startswith("~") or "@" in one]
    if len(people) == 1:
        return people[0], ""
    match = PER_PAPER.fullmatch(signatures[0]) if len(signatures) == 1 else None
    # A group such as ".../Reviewers" is nobody: the note itself tells them apart.
    return "", f"{match[1]}/{match[2]}" if match else _text(note.get("id"))


def _signatures(note: Note) -> list[str]:
    given = note.get("signatures")
    values = given if isinstance(given, list) else [given]
    return [one.strip() for one in values if isinstance(one, str) and one.strip()]


def _forum(note: Note) -> str:
    return _text(note.get("forum")) or _text(note.get("replyto"))


def _text(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    return as_text(value) if isinstance(value, int | float) else ""


LAYOUT = Layout("openreview", "OpenReview", recognise, take)
