"""The only thread that writes: all ratings that wait go into one transaction.

Whatever its size, a batch takes the same few statements and one commit; each rating is
acknowledged after that commit. Other changes run one by one between batches.
"""

from __future__ import annotations

import asyncio
import json
import queue
import secrets
import threading
from concurrent.futures import Future
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa

from evenhand.errors import EvenhandError
from evenhand.web import reads
from evenhand.web import tables as t
from evenhand.web.accept import (
    Done,
    Open,
    Rater,
    ReviewAnswer,
    ReviewTask,
    Sending,
    Snapshot,
    Writes,
    accept,
)
from evenhand.web.reads import Evaluation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.web.store import Store

    Change = Callable[[sa.Connection, datetime], Any]

Result = TypeVar("Result")
FAILURES = (sa.exc.DBAPIError, sa.exc.TimeoutError)
"""What a database that is full, restarting or away raises."""
MOST = 400
CHANGING = ("state", "version", "score", "note", "n")
TASK_STATEMENT = (
    t.task.update()
    .where(
        t.task.c.evaluation_id == sa.bindparam("of_evaluation"),
        t.task.c.id == sa.bindparam("of_task"),
    )
    .values({name: sa.bindparam(f"new_{name}") for name in CHANGING})
)
DONE = [t.submission.c[field.name] for field in fields(Done)]


class RefusedError(EvenhandError):
    """A change that is not made, with the status of its answer."""

    def __init__(self, message: str, status: int = 409) -> None:
        """Keep the status."""
        super().__init__(message)
        self.status = status


class UnsavedError(RefusedError):
    """The database failed; nothing was saved, and the sender may try again."""


@dataclass(frozen=True, slots=True)
class _Job:
    """A rating or a change that waits, and the answer that is waited for."""

    what: Sending | Change | None
    answer: Future[Any]


class Writer(threading.Thread):
    """Writes what others hand over."""

    def __init__(
        self, store: Store, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """Start to wait for work."""
        super().__init__(name="evenhand-writer", daemon=True)
        self._store, self._clock = store, clock
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self.start()

    async def rate(self, sending: Sending) -> ReviewAnswer:
        """Hand over a rating; the answer comes after the commit.

        Raises:
            UnsavedError: If the database fails.
        """
        return await self._hand_over(sending, Future[ReviewAnswer]())

    async def change(
        self, change: Callable[[sa.Connection, datetime], Result]
    ) -> Result:
        """Run a change in a transaction of its own.

        Raises:
            RefusedError: If it is not allowed.
            UnsavedError: If the database fails.
        """
        return await self._hand_over(change, Future[Result]())

    async def tidy(self) -> None:
        """Give up the space of what was deleted."""
        await self._hand_over(None, Future[None]())

    def stop(self) -> None:
        """Finish what was handed over, then end."""
        self._jobs.put(None)
        self.join()

    async def _hand_over(
        self, what: Sending | Change | None, answer: Future[Result]
    ) -> Result:
        self._jobs.put(_Job(what, answer))
        return await asyncio.wrap_future(answer)

    def run(self) -> None:
        """Take all that waits, again and again."""
        going = True
        while going:
            jobs = [self._jobs.get()]
            while len(jobs) < MOST and not self._jobs.empty():
                jobs.append(self._jobs.get())
            going = None not in jobs
            self._work([job for job in jobs if job is not None])

    def _work(self, jobs: Sequence[_Job]) -> None:
        batch: list[_Job] = []
        for job in jobs:
            if isinstance(job.what, Sending):
                batch.append(job)
                continue
            self._rate(batch)
            batch = []
            self._change(job)
        self._rate(batch)

    def _change(self, job: _Job) -> None:
        try:
            result: object = None
            if job.what is None:
                self._store.tidy()
            else:
                with self._store.writing.begin() as connection:
                    result = job.what(connection, self._clock())  # type: ignore[operator]  # a change
        except Exception as error:  # noqa: BLE001 - whoever waits gets it
            _fail(job, error)
        else:
            _tell(job, result)

    def _rate(self, batch: Sequence[_Job]) -> None:
        if not batch:
            return
        sendings = [job.what for job in batch if isinstance(job.what, Sending)]
        try:
            with self._store.writing.begin() as connection:
                answers = write_batch(connection, sendings, self._clock())
        except Exception as error:  # noqa: BLE001 - whoever waits gets it
            alone = len(batch) == 1 or isinstance(error, FAILURES)
            for job in batch:
                # One of them cannot be written; the others must not suffer.
                _fail(job, error) if alone else self._rate([job])
            return
        # Only now, after the commit.
        for job, answer in zip(batch, answers, strict=True):
            _tell(job, answer)


def _tell(job: _Job, result: object) -> None:
    if job.answer.set_running_or_notify_cancel():
        job.answer.set_result(result)


def _fail(job: _Job, error: Exception) -> None:
    if isinstance(error, FAILURES):
        text = f"The database fails, so nothing was saved: {reason_of(error)}."
        error = UnsavedError(text, 503)
    if job.answer.set_running_or_notify_cancel():
        job.answer.set_exception(error)


def reason_of(error: Exception) -> str:
    """Return what a database says of its failure, in a line."""
    return " ".join(str(getattr(error, "orig", error)).split())


def write_batch(
    connection: sa.Connection, batch: Sequence[Sending], now: datetime
) -> list[ReviewAnswer]:
    """Answer a batch, and write what it changes, in the transaction of a connection."""
    snapshot = read_snapshot(connection, batch)
    answers, writes = accept(batch, snapshot, now, lambda: secrets.token_hex(32))
    if writes.done:
        _write(connection, writes, now)
    return answers


def read_snapshot(connection: sa.Connection, batch: Sequence[Sending]) -> Snapshot:
    """Read what a batch needs to know, in five statements whatever its size.

    The evaluations come first, and on PostgreSQL are locked, so that what is read
    after them cannot change before the commit.
    """
    by_token = t.link.c.token_sha256.in_({sending.token for sending in batch})
    rows = connection.execute(
        sa.select(t.evaluation)
        .where(t.evaluation.c.id.in_(sa.select(t.link.c.evaluation_id).where(by_token)))
        .order_by(t.evaluation.c.id)
        .with_for_update()
    )
    evaluations = [Evaluation(*row) for row in rows]
    heads = reads.heads(connection, evaluations)
    opened = {
        row.id: Open(row.stage(), row.rating_scale, heads[row.id])
        for row in evaluations
    }
    columns = ("evaluation_id", "id", "label", "state")
    rater_rows = connection.execute(
        sa.select(
            t.link.c.token_sha256,
            *(t.reviewer.c[name] for name in columns),
            t.link.c.revoked_at.is_not(None),
            t.reviewer.c.blind_n,
        )
        .join_from(t.link, t.reviewer)
        .where(by_token)
    )
    raters = {token: Rater(*columns) for token, *columns in rater_rows}
    people = {(rater.evaluation, rater.reviewer) for rater in raters.values()}
    done = _done(connection, list(opened), batch)
    return Snapshot(raters, opened, _tasks(connection, people), done)


def _tasks(
    connection: sa.Connection, people: set[tuple[int, int]]
) -> dict[tuple[int, int, int], ReviewTask]:
    rows = connection.execute(
        sa.select(t.task, t.item.c.label)
        .join_from(t.task, t.item)
        .where(
            sa.tuple_(t.task.c.evaluation_id, t.task.c.reviewer_id).in_(sorted(people))
        )
    )
    return {
        (row.evaluation_id, row.reviewer_id, row.place): ReviewTask(
            row.id, row.label, row.version, row.state, row.score, row.note, row.n
        )
        for row in rows
    }


def _done(
    connection: sa.Connection, ids: Sequence[int], batch: Sequence[Sending]
) -> dict[tuple[int, str], tuple[Done, ...]]:
    rows = connection.execute(
        sa.select(*DONE)
        .where(
            t.submission.c.evaluation_id.in_(ids),
            t.submission.c.key.in_({sending.key for sending in batch}),
        )
        .order_by(t.submission.c.n)
    )
    done: dict[tuple[int, str], tuple[Done, ...]] = {}
    for row in rows:
        key = (row.evaluation_id, row.key)
        done[key] = (*done.get(key, ()), Done(*tuple(row)))
    return done


def _write(connection: sa.Connection, writes: Writes, now: datetime) -> None:
    """Write a batch in few statements: one for each table, and for each log's head."""
    at = t.stamp(now)
    events = [
        {
            "evaluation_id": evaluation_id,
            "n": event.n,
            "line": event.line,
            "hash": event.hash,
        }
        for evaluation_id, event in writes.events
    ]
    connection.execute(t.event.insert(), events)
    names = ("evaluation_id", "n", "salt", "body")
    payloads = [
        dict(zip(names, (*key, json.dumps(body)), strict=True))
        for *key, body in writes.payloads
    ]
    connection.execute(t.payload.insert(), payloads)
    done = [{**asdict(submission), "at": at} for submission in writes.done]
    connection.execute(t.submission.insert(), done)
    tasks = [
        {
            "of_evaluation": place[0],
            "of_task": task.id,
            **{f"new_{name}": getattr(task, name) for name in CHANGING},
        }
        for place, task in writes.tasks.items()
    ]
    connection.execute(TASK_STATEMENT, tasks)
    for evaluation_id, head in writes.heads.items():
        by_id = t.evaluation.c.id == evaluation_id
        values = {"head_n": head.n, "head_hash": head.hash}
        connection.execute(t.evaluation.update().where(by_id).values(values))
    active = sorted({place[:2] for place in writes.tasks})
    people = sa.tuple_(t.reviewer.c.evaluation_id, t.reviewer.c.id).in_(active)
    connection.execute(t.reviewer.update().where(people).values(active_at=at))
