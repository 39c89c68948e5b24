"""What a batch of ratings gets as answers, and what is to be written for it.

A pure function: what is known, the time and the salts come in; answers and rows come
out. Sending the same thing twice gives the same answer. A rating that was made from an
older version than the present one is not taken, so two tabs cannot overwrite each
other. Nothing is overwritten: each rating is a new version, with an event in the log.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from evenhand.records.canonical import canonical, text_hash
from evenhand.records.log import Event, Head, append, payload_hash
from evenhand.web.states import Stage, rating_refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from evenhand.claims import Json
    from evenhand.web.scale import RatingScale

RATING_KINDS = {"score": "rated", "recuse": "recused", "clear": "empty"}
STATE_KINDS = {state: kind for kind, state in RATING_KINDS.items()}
NOTE = "note"
CREATED, OK, GONE, NOT_FOUND = 201, 200, 401, 404
CONFLICT, WRONG, LOCKED = 409, 422, 423
Place = tuple[int, int, int]
"""Evaluation, reviewer, and place of the item in the reviewer's list."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a reviewer says about one item.

    Attributes:
        place: Place of the item in the reviewer's list.
        base: Version that the reviewer saw.
        kind: "score", "recuse" (cannot rate this), "clear", or "note" (all else stays).
        score: The score, for that kind.
        note: A note for the organisers; None leaves the one that is there.
    """

    place: int
    base: int
    kind: str = "score"
    score: float | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Sending:
    """What one request asks for: one item, or an order of all.

    Attributes:
        token: SHA-256 of the link's token.
        key: 32 hexadecimal digits that were made for it; a repeat has the same.
        entries: What is said; all of it is taken, or nothing.
        nonce: 32 hexadecimal digits that the reviewer's device drew; a repeat has the
            same. None without our script: the server draws none in its place.
    """

    token: str
    key: str
    entries: tuple[Entry, ...]
    nonce: str | None = None


@dataclass(frozen=True, slots=True)
class Rater:
    """The reviewer behind a link.

    Attributes:
        evaluation: Id of the evaluation.
        reviewer: Id of the reviewer.
        label: The reviewer's code.
        state: One of REVIEWER_STATES.
        revoked: Whether the link was withdrawn.
        blind_n: What they sent up to this event their link does not show.
    """

    evaluation: int
    reviewer: int
    label: str
    state: str
    revoked: bool = False
    blind_n: int = 0


@dataclass(frozen=True, slots=True)
class ReviewTask:
    """One item of one reviewer, as it stands.

    Attributes:
        id: Its id within the evaluation.
        item: Label of the item.
        version: How many versions there were.
        state: "empty", "rated" or "recused".
        score: The score, if it is rated.
        note: The note.
        n: Number of the event of its last version.
    """

    id: int
    item: str
    version: int = 0
    state: str = "empty"
    score: float | None = None
    note: str = ""
    n: int = 0

    def shown_to(self, blind_n: int) -> ReviewTask:
        """Return what a link shows that is blind to all up to an event."""
        if self.n > blind_n:
            return self
        return replace(self, score=None, note="")


@dataclass(frozen=True, slots=True)
class Open:
    """What is known of an evaluation: its stage, its scale and its log's head."""

    stage: Stage
    scale: RatingScale
    head: Head


@dataclass(frozen=True, slots=True)
class Done:
    """One entry that was taken: a row of the history."""

    evaluation_id: int
    reviewer_id: int
    key: str
    task_id: int
    place: int
    version: int
    kind: str
    score: float | None
    note: str
    body_sha256: str
    n: int
    receipt: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the database knows of a batch.

    Attributes:
        raters: By the hash of a link's token.
        evaluations: By id.
        tasks: By evaluation, reviewer and place.
        done: What was sent before with the same keys, by evaluation and key.
    """

    raters: Mapping[str, Rater]
    evaluations: Mapping[int, Open]
    tasks: Mapping[Place, ReviewTask]
    done: Mapping[tuple[int, str], tuple[Done, ...]]


@dataclass(frozen=True, slots=True)
class ReviewAnswer:
    """What a sending gets: a status and a body."""

    status: int
    body: dict[str, Json]


@dataclass(slots=True)
class Writes:
    """What is to be written for a batch, in one transaction.

    Attributes:
        events: Evaluation and event.
        payloads: Evaluation, number, salt and body of each event.
        done: Rows of the history.
        tasks: Tasks that changed, as they are now.
        heads: Where the logs stand now.
    """

    events: list[tuple[int, Event]] = field(default_factory=list)
    payloads: list[tuple[int, int, str, dict[str, Json]]] = field(default_factory=list)
    done: list[Done] = field(default_factory=list)
    tasks: dict[Place, ReviewTask] = field(default_factory=dict)
    heads: dict[int, Head] = field(default_factory=dict)


def accept(
    batch: Sequence[Sending], snapshot: Snapshot, now: datetime, salt: Callable[[], str]
) -> tuple[list[ReviewAnswer], Writes]:
    """Answer a batch of sendings, in their order.

    Args:
        batch: The sendings.
        snapshot: What the database knows of them.
        now: The time, by the server's clock.
        salt: Draws a salt of 64 hexadecimal digits.

    Returns:
        An answer for each sending, and what is to be written before any is given.
    """
    writes = Writes()
    sent = dict(snapshot.done)
    answers = []
    for sending in batch:
        rater = snapshot.raters.get(sending.token)
        if rater is None or rater.revoked:
            answers.append(_no_link(rater))
            continue
        refusal = _refusal(sending, rater, snapshot, sent, writes, now)
        if refusal is not None:
            answers.append(refusal)
            continue
        taken = _take(sending, rater, snapshot, writes, now, salt)
        sent[rater.evaluation, sending.key] = taken
        answers.append(ReviewAnswer(CREATED, receipts(taken, sending.nonce)))
    return answers, writes


def receipts(taken: Sequence[Done], nonce: str | None) -> dict[str, Json]:
    """Return what a reviewer is told of entries that were taken, with their nonce."""
    entries: list[Json] = [
        {
            "place": entry.place,
            "version": entry.version,
            "state": RATING_KINDS[entry.kind],
            "score": entry.score,
            "has_note": bool(entry.note),
            "n": entry.n,
            "receipt": entry.receipt,
            "nonce": nonce,
        }
        for entry in taken
    ]
    return {"code": "received", "entries": entries}


def body_hash(sending: Sending, rater: Rater) -> str:
    """Return the hash by which a repeat of a sending is recognised."""
    entries = [
        [entry.place, entry.base, entry.kind, entry.score, entry.note]
        for entry in sending.entries
    ]
    return text_hash(canonical([rater.reviewer, entries, sending.nonce]))


def _no_link(rater: Rater | None) -> ReviewAnswer:
    if rater is None:
        return _no(NOT_FOUND, "no_link", "There is no such link.")
    return _no(GONE, "revoked", "This link was withdrawn. Ask for a new one.")


def _no(status: int, code: str, message: str, **more: Json) -> ReviewAnswer:
    return ReviewAnswer(status, {"code": code, "message": message, **more})


def _refusal(
    sending: Sending,
    rater: Rater,
    snapshot: Snapshot,
    sent: Mapping[tuple[int, str], tuple[Done, ...]],
    writes: Writes,
    now: datetime,
) -> ReviewAnswer | None:
    """Return the answer to what is not taken, or was taken before."""
    earlier = sent.get((rater.evaluation, sending.key))
    if earlier is not None:
        if earlier[0].body_sha256 == body_hash(sending, rater):
            return ReviewAnswer(OK, receipts(earlier, sending.nonce))
        text = "This key was used for something else. Reload the page."
        return _no(CONFLICT, "key_reused", text)
    if rater.state == "invited":
        return _no(CONFLICT, "not_begun", "Press Begin first.")
    if rater.state not in ("begun", "done"):
        return _no(GONE, "left", "This place was given up.")
    evaluation = snapshot.evaluations[rater.evaluation]
    closed = rating_refusal(evaluation.stage, now)
    if closed is not None:
        return _no(LOCKED, *closed)
    wrong = (_wrong(entry, rater, snapshot, writes) for entry in sending.entries)
    return next(filter(None, wrong), None)


def _wrong(
    entry: Entry, rater: Rater, snapshot: Snapshot, writes: Writes
) -> ReviewAnswer | None:
    place = (rater.evaluation, rater.reviewer, entry.place)
    task = writes.tasks.get(place) or snapshot.tasks.get(place)
    if task is None:
        return _no(NOT_FOUND, "no_task", "This item is not on your list.")
    if entry.kind not in (*RATING_KINDS, NOTE):
        text = "The kind must be score, recuse, clear or note."
        return _no(WRONG, "not_known", text)
    unsaid = "note" if entry.kind == NOTE and entry.note is None else ""
    unsaid = "score" if (entry.kind == "score") != (entry.score is not None) else unsaid
    shown = task.shown_to(rater.blind_n)
    is_hidden = shown is not task and task.state != "empty"
    if is_hidden and entry.kind == NOTE:
        # The answer would tell the rating that stays.
        unsaid = "score"
    if unsaid:
        return _no(WRONG, f"no_{unsaid}", f"Give a {unsaid}.", place=entry.place)
    if entry.score is not None:
        size = sum(task_place[:2] == place[:2] for task_place in snapshot.tasks)
        scale = snapshot.evaluations[rater.evaluation].scale
        wrong = scale.problem(entry.score, size)
        if wrong is not None:
            return _no(WRONG, "not_on_scale", wrong, place=entry.place)
    if entry.base != task.version:
        return _no(
            CONFLICT,
            "changed",
            "Another tab or device saved something else for this item.",
            place=entry.place,
            version=task.version,
            state="hidden" if is_hidden else task.state,
            score=shown.score,
            note=shown.note,
        )
    return None


def _take(
    sending: Sending,
    rater: Rater,
    snapshot: Snapshot,
    writes: Writes,
    now: datetime,
    salt: Callable[[], str],
) -> tuple[Done, ...]:
    evaluation_id = rater.evaluation
    head = writes.heads.get(evaluation_id) or snapshot.evaluations[evaluation_id].head
    digest = body_hash(sending, rater)
    taken = []
    for entry in sending.entries:
        place = (evaluation_id, rater.reviewer, entry.place)
        task = writes.tasks.get(place) or snapshot.tasks[place]
        after = _after(task.shown_to(rater.blind_n), entry)
        drawn = salt()
        body = rating_body(rater.label, after)
        kind = "cleared" if after.state == "empty" else after.state
        says: dict[str, Json] = {"nonce": sending.nonce}
        event = append(head, kind, now, says=says, payload=payload_hash(drawn, body))
        head = Head(event.n, event.hash, event.at)
        writes.events.append((evaluation_id, event))
        writes.payloads.append((evaluation_id, event.n, drawn, body))
        writes.tasks[place] = replace(after, n=event.n)
        taken.append(
            Done(
                evaluation_id,
                rater.reviewer,
                sending.key,
                task.id,
                entry.place,
                after.version,
                STATE_KINDS[after.state],
                after.score,
                after.note,
                digest,
                event.n,
                event.hash,
            )
        )
    writes.heads[evaluation_id] = head
    writes.done += taken
    return tuple(taken)


def _after(task: ReviewTask, entry: Entry) -> ReviewTask:
    """Return a task as it is after an entry; a note leaves the rating as it is."""
    note = task.note if entry.note is None else entry.note
    after = replace(task, version=task.version + 1, note=note)
    if entry.kind == NOTE:
        return after
    return replace(after, state=RATING_KINDS[entry.kind], score=entry.score)


def rating_body(reviewer: str, task: ReviewTask) -> dict[str, Json]:
    """Return what the log keeps of a rating; the note is not in it."""
    return {
        "reviewer": reviewer,
        "item": task.item,
        "version": task.version,
        "score": task.score,
    }
