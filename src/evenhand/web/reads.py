"""What pages read, as typed rows. Every function takes the evaluation it may read."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa

from evenhand.records.log import Head, says
from evenhand.records.people import by_code
from evenhand.records.people import draw_secret as secret_to_draw
from evenhand.records.record import assignment_from, parse
from evenhand.web import tables as t
from evenhand.web.lists import Item
from evenhand.web.scale import RatingScale
from evenhand.web.states import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evenhand.designs.assignment import Assignment

Kind = TypeVar("Kind")
Person = TypeVar("Person", bound="ReviewerRow")
RATED = sa.func.sum(sa.case((t.task.c.state == "rated", 1), else_=0))
RECUSED = sa.func.sum(sa.case((t.task.c.state == "recused", 1), else_=0))


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An evaluation: the columns of its table, in their order."""

    id: int
    slug: str
    title: str
    state: str
    paused: int
    form: str
    scale: str | None
    closes_at: str | None
    zone: str
    grace: int
    draw: int
    first_seal: str
    head_n: int
    head_hash: str
    closed_head: str | None
    closed_at: str | None
    looked_at: str | None
    retain_until: str | None
    created_at: str
    door_serial: int
    door_sha256: str | None

    def stage(self, n_begun: int = 0) -> Stage:
        """Return what the rules of states need to know."""
        return Stage(
            self.state,
            bool(self.paused),
            t.moment(self.closes_at),
            self.grace,
            n_begun,
            t.moment(self.closed_at),
            self.looked_at is not None,
        )

    @property
    def rating_scale(self) -> RatingScale:
        """What reviewers rate on."""
        if self.scale is None:
            return RatingScale()
        return RatingScale.from_dict(json.loads(self.scale))


@dataclass(frozen=True, slots=True)
class ReviewerRow:
    """A reviewer: the columns of their table, in their order."""

    evaluation_id: int
    id: int
    label: str
    name: str
    email: str
    role: str
    turn: int | None
    state: str
    begun_at: str | None
    done_at: str | None
    active_at: str | None
    stands_in_for: int | None
    ties_kept: int
    blind_n: int
    at_door: int
    taken_by: str
    contact: str

    @property
    def display_name(self) -> str:
        """What organisers call them; a place at the door by who took it."""
        return f"{self.name}: {self.taken_by}" if self.taken_by else self.name

    @property
    def is_free_place(self) -> bool:
        """Whether it is a place at the door that nobody took."""
        return bool(self.at_door) and not self.taken_by


@dataclass(frozen=True, slots=True)
class Progress(ReviewerRow):
    """How far a reviewer is: items given, rated and recused."""

    given: int
    rated: int
    recused: int

    @property
    def standing(self) -> str:
        """How far they are, in words that a reminder can go by."""
        if self.state in ("absent", "replaced"):
            return self.state
        if self.begun_at is None:
            return "not begun"
        return "not finished" if self.rated + self.recused < self.given else "all rated"


@dataclass(frozen=True, slots=True)
class LinkedReviewer(ReviewerRow):
    """A reviewer with a link."""

    serial: int
    token_sha256: str
    revoked_at: str | None


@dataclass(frozen=True, slots=True)
class TaskRow:
    """An item of a reviewer with its rating as it stands."""

    place: int
    state: str
    version: int
    score: float | None
    note: str
    n: int
    reviewer: str
    label: str
    title: str
    url: str

    def shown_to(self, blind_n: int) -> TaskRow:
        """Return what a link shows that is blind to all up to an event."""
        if self.n > blind_n or not self.n:
            return self
        state = self.state if self.state == "empty" else "hidden"
        return replace(self, state=state, score=None, note="")


@dataclass(frozen=True, slots=True)
class Submission:
    """What a reviewer sent about an item, with its line of the log."""

    place: int
    version: int
    kind: str
    score: float | None
    note: str
    at: str
    n: int
    receipt: str
    label: str
    line: str

    @property
    def nonce(self) -> str | None:
        """What the reviewer's device drew for it."""
        nonce: str | None = says(json.loads(self.line)).get("nonce")
        return nonce


@dataclass(frozen=True, slots=True)
class DrawRow:
    """A draw or one of its amendments."""

    number: int
    part: int
    seal: str
    lists: str
    record: str


@dataclass(frozen=True, slots=True)
class Organiser:
    """Somebody who organises, and how many evaluations."""

    id: int
    name: str
    evaluations: int


@dataclass(frozen=True, slots=True)
class Payload:
    """What is private about an event."""

    n: int
    salt: str
    body: str


@dataclass(frozen=True, slots=True)
class StoredJob:
    """A check or a decision that was asked for."""

    evaluation_id: int
    kind: str
    number: int
    state: str
    options: str
    record: str | None
    report: str | None
    error: str | None


def _read(
    connection: sa.Connection, kind: Callable[..., Kind], statement: sa.Select[Any]
) -> list[Kind]:
    return [kind(*row) for row in connection.execute(statement)]


def _select(table: sa.Table, kind: type, evaluation_id: int) -> sa.Select[Any]:
    """Select what a kind of rows holds of a table, of one evaluation."""
    columns = [table.c[name] for name in kind.__annotations__ if name in table.c]
    return sa.select(*columns).where(table.c.evaluation_id == evaluation_id)


def evaluation(connection: sa.Connection, slug: str) -> Evaluation | None:
    """Return an evaluation by its public name."""
    statement = sa.select(t.evaluation).where(t.evaluation.c.slug == slug)
    return next(iter(_read(connection, Evaluation, statement)), None)


def by_door(connection: sa.Connection, digest: str) -> Evaluation | None:
    """Return the evaluation to which a door leads, by the hash of its token."""
    statement = sa.select(t.evaluation).where(t.evaluation.c.door_sha256 == digest)
    return next(iter(_read(connection, Evaluation, statement)), None)


def by_id(
    connection: sa.Connection, evaluation_id: int, *, lock: bool = False
) -> Evaluation:
    """Return an evaluation by its id, locked until the commit if that is asked for."""
    statement = sa.select(t.evaluation).where(t.evaluation.c.id == evaluation_id)
    statement = statement.with_for_update() if lock else statement
    return Evaluation(*connection.execute(statement).one())


def evaluations(connection: sa.Connection, organiser: int) -> list[Evaluation]:
    """Return the evaluations of an organiser, the newest first."""
    statement = sa.select(t.evaluation).join_from(t.evaluation, t.member)
    statement = statement.where(t.member.c.organiser_id == organiser)
    newest = t.evaluation.c.id.desc()
    return _read(connection, Evaluation, statement.order_by(newest))


def is_member(connection: sa.Connection, evaluation_id: int, organiser: int) -> bool:
    """Say whether somebody organises an evaluation."""
    statement = sa.select(t.member.c.organiser_id).where(
        t.member.c.evaluation_id == evaluation_id, t.member.c.organiser_id == organiser
    )
    return connection.execute(statement).one_or_none() is not None


def organisers(
    connection: sa.Connection, evaluation_id: int | None = None
) -> list[Organiser]:
    """Return who organises an evaluation, or anything on this server."""
    is_member = t.member.c.organiser_id == t.organiser.c.id
    statement = (
        sa.select(
            t.organiser.c.id, t.organiser.c.name, sa.func.count(t.member.c.organiser_id)
        )
        .join_from(t.organiser, t.member, is_member, isouter=True)
        .group_by(t.organiser.c.id, t.organiser.c.name)
        .order_by(t.organiser.c.id)
    )
    if evaluation_id is not None:
        statement = statement.where(t.member.c.evaluation_id == evaluation_id)
    return _read(connection, Organiser, statement)


def organiser(connection: sa.Connection, digest: str, now: str) -> int | None:
    """Return whose session a token is, by the token's hash."""
    return connection.execute(
        sa.select(t.session.c.organiser_id).where(
            t.session.c.token_sha256 == digest, t.session.c.expires_at > now
        )
    ).scalar_one_or_none()


def can_sign_in(connection: sa.Connection, digest: str, now: str) -> bool:
    """Say whether a sign-in link can be used."""
    statement = sa.select(t.signin.c.token_sha256).where(
        t.signin.c.token_sha256 == digest,
        t.signin.c.used_at.is_(None),
        t.signin.c.expires_at > now,
    )
    return connection.execute(statement).one_or_none() is not None


LINKED = sa.select(
    t.reviewer, t.link.c.serial, t.link.c.token_sha256, t.link.c.revoked_at
).join_from(t.link, t.reviewer)


def rater(connection: sa.Connection, digest: str) -> LinkedReviewer | None:
    """Return the reviewer of a link, by the hash of its token."""
    statement = LINKED.where(t.link.c.token_sha256 == digest)
    return next(iter(_read(connection, LinkedReviewer, statement)), None)


def links(connection: sa.Connection, evaluation_id: int) -> list[LinkedReviewer]:
    """Return the newest working link of each reviewer, by the reviewer's id."""
    statement = LINKED.where(
        t.link.c.evaluation_id == evaluation_id,
        t.link.c.revoked_at.is_(None),
        t.link.c.serial > 0,
    ).order_by(t.reviewer.c.id, t.link.c.serial)
    rows = _read(connection, LinkedReviewer, statement)
    return list({row.id: row for row in rows}.values())


def people(connection: sa.Connection, evaluation_id: int) -> list[ReviewerRow]:
    """Return the reviewers of an evaluation, by id."""
    statement = _select(t.reviewer, ReviewerRow, evaluation_id)
    return _read(connection, ReviewerRow, statement.order_by(t.reviewer.c.id))


def free_reserves(people: Sequence[Person]) -> list[Person]:
    """Return the reserves who stand in for nobody yet, in their sealed order."""
    free = [row for row in people if row.role == "reserve" and not row.stands_in_for]
    return sorted(free, key=lambda person: person.turn or 0)


def items(connection: sa.Connection, evaluation_id: int) -> list[Item]:
    """Return the items of an evaluation, by id."""
    statement = sa.select(t.item.c.label, t.item.c.title, t.item.c.url)
    statement = statement.where(t.item.c.evaluation_id == evaluation_id)
    return _read(connection, Item, statement.order_by(t.item.c.id))


def ratings(connection: sa.Connection, evaluation_id: int) -> list[TaskRow]:
    """Return every item of every reviewer, by code and item; only after the close."""
    statement = _task_rows(evaluation_id).order_by(t.reviewer.c.label, t.item.c.id)
    return _read(connection, TaskRow, statement)


def tasks(
    connection: sa.Connection, evaluation_id: int, reviewer: int
) -> list[TaskRow]:
    """Return the items of one reviewer with their ratings, by place."""
    statement = _task_rows(evaluation_id).where(t.task.c.reviewer_id == reviewer)
    return _read(connection, TaskRow, statement.order_by(t.task.c.place))


def _task_rows(evaluation_id: int) -> sa.Select[Any]:
    labels = (t.reviewer.c.label, t.item.c.label, t.item.c.title, t.item.c.url)
    statement = _select(t.task, TaskRow, evaluation_id).add_columns(*labels)
    return statement.join_from(t.task, t.item).join(t.reviewer)


def history(
    connection: sa.Connection, evaluation_id: int, reviewer: int
) -> list[Submission]:
    """Return all that one reviewer sent, in order, each with its line of the log."""
    same_event = (t.event.c.evaluation_id == evaluation_id) & (
        t.event.c.n == t.submission.c.n
    )
    statement = (
        _select(t.submission, Submission, evaluation_id)
        .add_columns(t.item.c.label, t.event.c.line)
        .join_from(t.submission, t.task)
        .join(t.item)
        .join(t.event, same_event)
        .where(t.submission.c.reviewer_id == reviewer)
    )
    return _read(connection, Submission, statement.order_by(t.submission.c.n))


def progress(connection: sa.Connection, evaluation_id: int) -> list[Progress]:
    """Return how far each reviewer is, without a score and without items."""
    statement = (
        sa.select(t.reviewer, sa.func.count(t.task.c.id), RATED, RECUSED)
        .join_from(t.reviewer, t.task, isouter=True)
        .where(t.reviewer.c.evaluation_id == evaluation_id)
        .group_by(*t.reviewer.primary_key.columns)
    )
    return _read(connection, Progress, statement.order_by(t.reviewer.c.id))


def coverage(connection: sa.Connection, evaluation_id: int) -> list[tuple[int, int]]:
    """Return how many items have how many ratings; not which."""
    same_item = (t.task.c.evaluation_id == evaluation_id) & (
        t.task.c.item_id == t.item.c.id
    )
    rows = connection.execute(
        sa.select(RATED)
        .join_from(t.item, t.task, same_item, isouter=True)
        .where(t.item.c.evaluation_id == evaluation_id)
        .group_by(t.item.c.id)
    )
    counts = [int(count or 0) for count in rows.scalars()]
    return [(number, counts.count(number)) for number in sorted(set(counts))]


def items_without_reviewer(connection: sa.Connection, evaluation_id: int) -> int:
    """Return how many items nobody was given; not which, so that no draw is chosen."""
    same_item = (t.task.c.evaluation_id == evaluation_id) & (
        t.task.c.item_id == t.item.c.id
    )
    return connection.execute(
        sa.select(sa.func.count())
        .select_from(t.item)
        .where(t.item.c.evaluation_id == evaluation_id, ~sa.exists().where(same_item))
    ).scalar_one()


def draws(connection: sa.Connection, evaluation_id: int) -> list[DrawRow]:
    """Return every draw and amendment of an evaluation, in order."""
    statement = _select(t.draw, DrawRow, evaluation_id)
    return _read(
        connection, DrawRow, statement.order_by(t.draw.c.number, t.draw.c.part)
    )


def assignment(connection: sa.Connection, evaluation_id: int) -> Assignment:
    """Return the assignment that holds now, without its secret."""
    rows = draws(connection, evaluation_id)
    hidden = conflicts(connection, evaluation_id)
    current: Assignment | None = None
    for row in rows:
        if row.number == rows[-1].number:
            record = parse(row.record.encode(), "assignment")
            current = assignment_from(record, "assignment", current, hidden)
    if current is None:
        raise LookupError("nothing was drawn")
    return current


def secret(connection: sa.Connection, evaluation_id: int) -> str:
    """Return the secret of the present draw."""
    statement = sa.select(t.secret.c.secret).order_by(t.secret.c.number.desc()).limit(1)
    by_evaluation = t.secret.c.evaluation_id == evaluation_id
    return str(connection.execute(statement.where(by_evaluation)).scalar_one())


def _private(connection: sa.Connection, evaluation_id: int) -> tuple[str, str]:
    """Return key and conflicts of the present draw; nothing of one that was purged."""
    statement = sa.select(t.private.c.key, t.private.c.conflicts)
    by_evaluation = t.private.c.evaluation_id == evaluation_id
    last = statement.where(by_evaluation).order_by(t.private.c.number.desc()).limit(1)
    row = connection.execute(last).one_or_none()
    return ("", "[]") if row is None else (row.key, row.conflicts)


def key(connection: sa.Connection, evaluation_id: int) -> str:
    """Return the key of the present draw; nothing if it was deleted."""
    return _private(connection, evaluation_id)[0]


def draw_secret(connection: sa.Connection, evaluation_id: int) -> str:
    """Return what the present draw was made with."""
    hidden = bool(conflicts(connection, evaluation_id))
    return secret_to_draw(key(connection, evaluation_id), has_conflicts=hidden)


def conflicts(connection: sa.Connection, evaluation_id: int) -> list[tuple[str, str]]:
    """Return code and item of each conflict of the present draw."""
    pairs = json.loads(_private(connection, evaluation_id)[1])
    return [(code, item) for code, item in pairs]


def names_and_conflicts(
    connection: sa.Connection, evaluation_id: int
) -> list[tuple[str, str, list[str]]]:
    """Return code, name and conflicts of everybody."""
    own = by_code(conflicts(connection, evaluation_id))
    rows = people(connection, evaluation_id)
    return [(person.label, person.name, own.get(person.label, [])) for person in rows]


def lists(connection: sa.Connection, evaluation_id: int) -> Mapping[str, Any]:
    """Return the record of what was fixed at sealing; it must not be changed."""
    statement = sa.select(t.draw.c.lists).order_by(t.draw.c.number.desc()).limit(1)
    by_evaluation = t.draw.c.evaluation_id == evaluation_id
    return _lists(connection.execute(statement.where(by_evaluation)).scalar_one())


@functools.lru_cache(maxsize=64)
def _lists(text: str) -> Mapping[str, Any]:
    # Every page of a reviewer needs it, and it never changes.
    return MappingProxyType(json.loads(text))


def events(connection: sa.Connection, evaluation_id: int) -> list[dict[str, Any]]:
    """Return the events of an evaluation's log; that they follow is not checked."""
    return [json.loads(line) for line in log_lines(connection, evaluation_id)]


def log_lines(connection: sa.Connection, evaluation_id: int) -> list[str]:
    """Return the lines of an evaluation's log."""
    by_evaluation = t.event.c.evaluation_id == evaluation_id
    statement = sa.select(t.event.c.line).where(by_evaluation).order_by(t.event.c.n)
    return list(connection.execute(statement).scalars())


def heads(connection: sa.Connection, rows: Sequence[Evaluation]) -> dict[int, Head]:
    """Return where the logs of evaluations stand, whose rows are locked, by id."""
    last = [(row.id, row.head_n) for row in rows]
    lines = connection.execute(
        sa.select(t.event.c.evaluation_id, t.event.c.line).where(
            sa.tuple_(t.event.c.evaluation_id, t.event.c.n).in_(last)
        )
    )
    times = {
        evaluation_id: str(json.loads(line)["at"]) for evaluation_id, line in lines
    }
    return {
        row.id: Head(row.head_n, row.head_hash, times.get(row.id, "")) for row in rows
    }


def payloads(connection: sa.Connection, evaluation_id: int) -> list[Payload]:
    """Return what is private about events, by number."""
    statement = _select(t.payload, Payload, evaluation_id)
    return _read(connection, Payload, statement.order_by(t.payload.c.n))


def jobs(
    connection: sa.Connection, evaluation_id: int, kind: str = ""
) -> list[StoredJob]:
    """Return checks, decisions or all jobs, by number."""
    statement = _select(t.job, StoredJob, evaluation_id).order_by(t.job.c.number)
    rows = _read(connection, StoredJob, statement)
    return [job for job in rows if kind in ("", job.kind)]


def waiting(connection: sa.Connection) -> list[StoredJob]:
    """Return the jobs that were asked for and are not done."""
    columns = [t.job.c[name] for name in StoredJob.__annotations__]
    statement = sa.select(*columns).where(t.job.c.state == "waiting")
    return _read(connection, StoredJob, statement)


def published_files(connection: sa.Connection, evaluation_id: int) -> dict[str, bytes]:
    """Return the files that were published."""
    rows = connection.execute(
        sa.select(t.published.c.name, t.published.c.body)
        .where(t.published.c.evaluation_id == evaluation_id)
        .order_by(t.published.c.name)
    )
    return {row.name: bytes(row.body) for row in rows}


def with_receipt(
    connection: sa.Connection, evaluation_id: int, receipt: str
) -> tuple[int, str] | None:
    """Return number and line of the event with a hash, None if the log has none."""
    statement = sa.select(t.event.c.n, t.event.c.line).where(
        t.event.c.evaluation_id == evaluation_id, t.event.c.hash == receipt
    )
    row = connection.execute(statement).one_or_none()
    return None if row is None else (row.n, row.line)


def was_withdrawn(connection: sa.Connection, evaluation_id: int) -> bool:
    """Say whether something was published and taken back."""
    withdrawals = connection.execute(
        sa.select(t.event.c.n)
        .where(t.event.c.evaluation_id == evaluation_id)
        .where(t.event.c.line.contains('"kind":"withdrawn"'))
        .limit(1)
    )
    return withdrawals.one_or_none() is not None
