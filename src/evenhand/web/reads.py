"""What pages read. Every function takes the evaluation whose rows it may return."""

from __future__ import annotations

import functools
import json
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from evenhand.records.log import Head, says
from evenhand.records.people import by_code
from evenhand.records.people import draw_secret as secret_to_draw
from evenhand.records.record import assignment_from, parse
from evenhand.web import tables as t

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.designs.assignment import Assignment

    Row = Any


def evaluation(connection: sa.Connection, slug: str) -> Row | None:
    """Return an evaluation by its public name."""
    return connection.execute(
        sa.select(t.evaluation).where(t.evaluation.c.slug == slug)
    ).one_or_none()


def evaluations(connection: sa.Connection, organiser: int) -> Sequence[Row]:
    """Return the evaluations of an organiser, the newest first."""
    return connection.execute(
        sa.select(t.evaluation)
        .join_from(t.evaluation, t.member)
        .where(t.member.c.organiser_id == organiser)
        .order_by(t.evaluation.c.id.desc())
    ).all()


def is_member(connection: sa.Connection, evaluation_id: int, organiser: int) -> bool:
    """Say whether somebody organises an evaluation."""
    members = connection.execute(
        sa.select(t.member.c.organiser_id).where(
            t.member.c.evaluation_id == evaluation_id,
            t.member.c.organiser_id == organiser,
        )
    )
    return members.one_or_none() is not None


def organiser(connection: sa.Connection, digest: str, now: str) -> int | None:
    """Return whose session a token is, by the token's hash."""
    return connection.execute(
        sa.select(t.session.c.organiser_id).where(
            t.session.c.token_sha256 == digest, t.session.c.expires_at > now
        )
    ).scalar_one_or_none()


def can_sign_in(connection: sa.Connection, digest: str, now: str) -> bool:
    """Say whether a sign-in link can be used."""
    signins = connection.execute(
        sa.select(t.signin.c.token_sha256).where(
            t.signin.c.token_sha256 == digest,
            t.signin.c.used_at.is_(None),
            t.signin.c.expires_at > now,
        )
    )
    return signins.one_or_none() is not None


def rater(connection: sa.Connection, digest: str) -> Row | None:
    """Return link, reviewer and evaluation of a link's token, by its hash."""
    return connection.execute(
        sa.select(
            t.link.c.revoked_at,
            t.link.c.reviewer_id,
            t.evaluation.c.slug,
            *[column for column in t.reviewer.c if column.name != "email"],
        )
        .join_from(t.link, t.reviewer)
        .join(t.evaluation, t.evaluation.c.id == t.link.c.evaluation_id)
        .where(t.link.c.token_sha256 == digest)
    ).one_or_none()


def people(connection: sa.Connection, evaluation_id: int) -> Sequence[Row]:
    """Return the reviewers of an evaluation, by id."""
    return connection.execute(
        sa.select(t.reviewer)
        .where(t.reviewer.c.evaluation_id == evaluation_id)
        .order_by(t.reviewer.c.id)
    ).all()


def items(connection: sa.Connection, evaluation_id: int) -> Sequence[Row]:
    """Return the items of an evaluation, by id."""
    return connection.execute(
        sa.select(t.item)
        .where(t.item.c.evaluation_id == evaluation_id)
        .order_by(t.item.c.id)
    ).all()


def tasks(
    connection: sa.Connection, evaluation_id: int, reviewer: int
) -> Sequence[Row]:
    """Return the items of one reviewer with their ratings, by place."""
    return connection.execute(
        sa.select(t.task, t.item.c.label, t.item.c.title, t.item.c.url)
        .join_from(t.task, t.item)
        .where(
            t.task.c.evaluation_id == evaluation_id, t.task.c.reviewer_id == reviewer
        )
        .order_by(t.task.c.place)
    ).all()


def history(
    connection: sa.Connection, evaluation_id: int, reviewer: int
) -> Sequence[Row]:
    """Return all that one reviewer sent, in order, each with its line of the log."""
    same_event = (t.event.c.evaluation_id == evaluation_id) & (
        t.event.c.n == t.submission.c.n
    )
    return connection.execute(
        sa.select(t.submission, t.item.c.label, t.event.c.line)
        .join_from(t.submission, t.task)
        .join(t.item)
        .join(t.event, same_event)
        .where(
            t.submission.c.evaluation_id == evaluation_id,
            t.submission.c.reviewer_id == reviewer,
        )
        .order_by(t.submission.c.n)
    ).all()


def nonce_of(row: Row) -> str | None:
    """Return what a reviewer's device drew for something they sent."""
    nonce: str | None = says(json.loads(row.line)).get("nonce")
    return nonce


def progress(connection: sa.Connection, evaluation_id: int) -> Sequence[Row]:
    """Return how far each reviewer is, without a score and without items."""
    counts = {
        "given": sa.func.count(t.task.c.id),
        "rated": sa.func.sum(sa.case((t.task.c.state == "rated", 1), else_=0)),
        "recused": sa.func.sum(sa.case((t.task.c.state == "recused", 1), else_=0)),
    }
    return connection.execute(
        sa.select(t.reviewer, *[what.label(name) for name, what in counts.items()])
        .join_from(t.reviewer, t.task, isouter=True)
        .where(t.reviewer.c.evaluation_id == evaluation_id)
        .group_by(*t.reviewer.primary_key.columns)
        .order_by(t.reviewer.c.id)
    ).all()


def coverage(connection: sa.Connection, evaluation_id: int) -> list[tuple[int, int]]:
    """Return how many items have how many ratings; not which."""
    rated = sa.func.sum(sa.case((t.task.c.state == "rated", 1), else_=0))
    same_item = (t.task.c.evaluation_id == evaluation_id) & (
        t.task.c.item_id == t.item.c.id
    )
    rows = connection.execute(
        sa.select(rated)
        .join_from(t.item, t.task, same_item, isouter=True)
        .where(t.item.c.evaluation_id == evaluation_id)
        .group_by(t.item.c.id)
    )
    counts = [int(row[0] or 0) for row in rows]
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


def links(connection: sa.Connection, evaluation_id: int) -> Sequence[Row]:
    """Return the newest working link of each reviewer, by the reviewer's id."""
    newest = (
        sa.select(t.link.c.reviewer_id, sa.func.max(t.link.c.serial).label("serial"))
        .where(t.link.c.evaluation_id == evaluation_id, t.link.c.revoked_at.is_(None))
        .group_by(t.link.c.reviewer_id)
    ).subquery()
    return connection.execute(
        sa.select(t.reviewer, newest.c.serial, t.link.c.token_sha256)
        .join_from(t.reviewer, newest, newest.c.reviewer_id == t.reviewer.c.id)
        .join(
            t.link,
            (t.link.c.evaluation_id == evaluation_id)
            & (t.link.c.reviewer_id == t.reviewer.c.id)
            & (t.link.c.serial == newest.c.serial),
        )
        .where(t.reviewer.c.evaluation_id == evaluation_id)
        .order_by(t.reviewer.c.id)
    ).all()


def draws(connection: sa.Connection, evaluation_id: int) -> Sequence[Row]:
    """Return every draw and amendment of an evaluation, in order."""
    return connection.execute(
        sa.select(t.draw)
        .where(t.draw.c.evaluation_id == evaluation_id)
        .order_by(t.draw.c.number, t.draw.c.part)
    ).all()


def last_draw(connection: sa.Connection, evaluation_id: int) -> Row:
    """Return the draw or amendment that holds now."""
    return connection.execute(_last(t.draw, evaluation_id=evaluation_id)).one()


def _last(*columns: Any, evaluation_id: int) -> sa.Select[Any]:  # noqa: ANN401 - a table or columns
    return (
        sa.select(*columns)
        .where(t.draw.c.evaluation_id == evaluation_id)
        .order_by(t.draw.c.number.desc(), t.draw.c.part.desc())
        .limit(1)
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
    return str(
        connection.execute(
            sa.select(t.secret.c.secret)
            .where(t.secret.c.evaluation_id == evaluation_id)
            .order_by(t.secret.c.number.desc())
            .limit(1)
        ).scalar_one()
    )


def _private(connection: sa.Connection, evaluation_id: int) -> Row | None:
    return connection.execute(
        sa.select(t.private)
        .where(t.private.c.evaluation_id == evaluation_id)
        .order_by(t.private.c.number.desc())
        .limit(1)
    ).one_or_none()


def key(connection: sa.Connection, evaluation_id: int) -> str | None:
    """Return the key of the present draw; None if it was deleted."""
    row = _private(connection, evaluation_id)
    return None if row is None else str(row.key)


def draw_secret(connection: sa.Connection, evaluation_id: int) -> str:
    """Return what the present draw was made with."""
    private = key(connection, evaluation_id)
    if private is None:
        return secret(connection, evaluation_id)
    hidden = bool(conflicts(connection, evaluation_id))
    return secret_to_draw(private, has_conflicts=hidden)


def conflicts(connection: sa.Connection, evaluation_id: int) -> list[tuple[str, str]]:
    """Return code and item of each conflict of the present draw."""
    row = _private(connection, evaluation_id)
    return (
        []
        if row is None
        else [(pair[0], pair[1]) for pair in json.loads(row.conflicts)]
    )


def names_and_conflicts(
    connection: sa.Connection, evaluation_id: int
) -> list[tuple[str, str, list[str]]]:
    """Return code, name and conflicts of everybody."""
    own = by_code(conflicts(connection, evaluation_id))
    rows = people(connection, evaluation_id)
    return [(person.label, person.name, own.get(person.label, [])) for person in rows]


def lists(connection: sa.Connection, evaluation_id: int) -> Mapping[str, Any]:
    """Return the record of what was fixed at sealing; it must not be changed."""
    return _lists(
        connection.execute(
            _last(t.draw.c.lists, evaluation_id=evaluation_id)
        ).scalar_one()
    )


@functools.lru_cache(maxsize=64)
def _lists(text: str) -> Mapping[str, Any]:
    # Every page of a reviewer needs it, and it never changes.
    return MappingProxyType(json.loads(text))


def events(connection: sa.Connection, evaluation_id: int) -> list[dict[str, Any]]:
    """Return the events of an evaluation's log; that they follow is not checked."""
    return [json.loads(line) for line in log_lines(connection, evaluation_id)]


def log_lines(connection: sa.Connection, evaluation_id: int) -> list[str]:
    """Return the lines of an evaluation's log."""
    return list(
        connection.execute(
            sa.select(t.event.c.line)
            .where(t.event.c.evaluation_id == evaluation_id)
            .order_by(t.event.c.n)
        ).scalars()
    )


def heads(connection: sa.Connection, rows: Sequence[Row]) -> dict[int, Head]:
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
        evaluation.id: Head(
            evaluation.head_n, evaluation.head_hash, times.get(evaluation.id, "")
        )
        for evaluation in rows
    }


def payloads(connection: sa.Connection, evaluation_id: int) -> Sequence[Row]:
    """Return what is private about events, by number."""
    return connection.execute(
        sa.select(t.payload)
        .where(t.payload.c.evaluation_id == evaluation_id)
        .order_by(t.payload.c.n)
    ).all()


def jobs(connection: sa.Connection, evaluation_id: int, kind: str) -> Sequence[Row]:
    """Return checks or decisions, by number."""
    return connection.execute(
        sa.select(t.job)
        .where(t.job.c.evaluation_id == evaluation_id, t.job.c.kind == kind)
        .order_by(t.job.c.number)
    ).all()


def waiting(connection: sa.Connection) -> Sequence[Row]:
    """Return the jobs that were asked for and are not done."""
    return connection.execute(sa.select(t.job).where(t.job.c.state == "waiting")).all()


def published_files(connection: sa.Connection, evaluation_id: int) -> dict[str, bytes]:
    """Return the files that were published."""
    rows = connection.execute(
        sa.select(t.published.c.name, t.published.c.body)
        .where(t.published.c.evaluation_id == evaluation_id)
        .order_by(t.published.c.name)
    )
    return {row.name: bytes(row.body) for row in rows}


def ratings(connection: sa.Connection, evaluation_id: int) -> Sequence[Row]:
    """Return every rating with the codes of reviewer and item; only after the close."""
    return connection.execute(
        sa.select(
            t.reviewer.c.label.label("reviewer"),
            t.item.c.label.label("item"),
            t.item.c.title,
            t.task.c.state,
            t.task.c.score,
            t.task.c.note,
        )
        .join_from(t.task, t.item)
        .join(t.reviewer)
        .where(t.task.c.evaluation_id == evaluation_id)
        .order_by(t.reviewer.c.label, t.item.c.id)
    ).all()


def with_receipt(
    connection: sa.Connection, evaluation_id: int, receipt: str
) -> Row | None:
    """Return number and line of the event with a hash, None if the log has none."""
    return connection.execute(
        sa.select(t.event.c.n, t.event.c.line).where(
            t.event.c.evaluation_id == evaluation_id, t.event.c.hash == receipt
        )
    ).one_or_none()


def was_withdrawn(connection: sa.Connection, evaluation_id: int) -> bool:
    """Say whether something was published and taken back."""
    withdrawals = connection.execute(
        sa.select(t.event.c.n)
        .where(t.event.c.evaluation_id == evaluation_id)
        .where(t.event.c.line.contains('"kind":"withdrawn"'))
        .limit(1)
    )
    return withdrawals.one_or_none() is not None


def by_id(connection: sa.Connection, evaluation_id: int) -> Row:
    """Return an evaluation by its id."""
    return connection.execute(
        sa.select(t.evaluation).where(t.evaluation.c.id == evaluation_id)
    ).one()


def form(connection: sa.Connection, evaluation_id: int) -> str:
    """Return the text of a draft's form."""
    return str(by_id(connection, evaluation_id).form)
