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
from dataclasses import dataclass
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
from evenhand.web.scale import RatingScale
from evenhand.web.states import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.web.store import Store

    Change = Callable[[sa.Connection, datetime], Any]

Result = TypeVar("Result")
FAILURES = (sa.exc.DBAPIError, sa.exc.TimeoutError)
"""What a database that is full, restarting or away raises."""
MOST = 400
DONE = (
    t.submission.c.evaluation_id,
    t.submission.c.reviewer_id,
    t.submission.c.key,
    t.submission.c.task_id,
    t.submission.c.place,
    t.submission.c.version,
    t.submission.c.kind,
    t.submission.c.score,
    t.submission.c.note,
    t.submission.c.body_sha256,
    t.submission.c.n,
    t.submission.c.receipt,
)
"""In the order of the fields of Done."""
TASK_STATEMENT = (
    t.task.update()
    .where(
        t.task.c.evaluation_id == sa.bindparam("e"), t.task.c.id == sa.bindparam("i")
    )
    .values(
        state=sa.bindparam("s"),
        version=sa.bindparam("v"),
        score=sa.bindparam("x"),
        note=sa.bindparam("o"),
    )
)
HEAD_STATEMENT = (
    t.evaluation.update()
    .where(t.evaluation.c.id == sa.bindparam("e"))
    .values(head_n=sa.bindparam("h"), head_hash=sa.bindparam("x"))
)
ACTIVE_STATEMENT = (
    t.reviewer.update()
    .where(
        t.reviewer.c.evaluation_id == sa.bindparam("e"),
        t.reviewer.c.id == sa.bindparam("r"),
    )
    .values(active_at=sa.bindparam("x"))
)


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
    """A rating or a change that waits, and who waits for it."""

    what: Sending | Change | None
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Any]

    def tell(self, result: object, error: Exception | None = None) -> None:
        def give() -> None:
            if not self.answer.done():
                if error is None:
                    self.answer.set_result(result)
                else:
                    self.answer.set_exception(error)

        self.loop.call_soon_threadsafe(give)


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
        answer: ReviewAnswer = await self._wait(sending)
        return answer

    async def change(
        self, change: Callable[[sa.Connection, datetime], Result]
    ) -> Result:
        """Run a change in a transaction of its own.

        Raises:
            RefusedError: If it is not allowed.
            UnsavedError: If the database fails.
        """
        result: Result = await self._wait(change)
        return result

    async def tidy(self) -> None:
        """Give up the space of what was deleted."""
        await self._wait(None)

    def stop(self) -> None:
        """Finish what was handed over, then end."""
        self._jobs.put(None)
        self.join()

    async def _wait(self, what: Sending | Change | None) -> Any:  # noqa: ANN401 - of either kind
        loop = asyncio.get_running_loop()
        job = _Job(what, loop, loop.create_future())
        self._jobs.put(job)
        return await job.answer

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
        except FAILURES as error:
            job.tell(None, _failure(error))
        except Exception as error:  # noqa: BLE001 - whoever waits gets it
            job.tell(None, error)
        else:
            job.tell(result)

    def _rate(self, batch: Sequence[_Job]) -> None:
        if not batch:
            return
        sendings = [job.what for job in batch if isinstance(job.what, Sending)]
        try:
            with self._store.writing.begin() as connection:
                answers = write_batch(connection, sendings, self._clock())
        except FAILURES as error:
            for job in batch:
                job.tell(None, _failure(error))
            return
        except Exception as error:  # noqa: BLE001 - whoever waits gets it
            if len(batch) > 1:
                # One of them cannot be written; the others must not suffer.
                for job in batch:
                    self._rate([job])
            else:
                batch[0].tell(None, error)
            return
        # Only now, after the commit.
        for job, answer in zip(batch, answers, strict=True):
            job.tell(answer)


def reason_of(error: Exception) -> str:
    """Return what a database says of its failure, in a line."""
    return " ".join(str(getattr(error, "orig", error)).split())


def _failure(error: Exception) -> UnsavedError:
    text = f"The database fails, so nothing was saved: {reason_of(error)}."
    return UnsavedError(text, 503)


def write_batch(
    connection: sa.Connection, batch: Sequence[Sending], now: datetime
) -> list[ReviewAnswer]:
    """Answer a batch, and write what it changes, in the transaction of a connection."""
    snapshot = read_snapshot(connection, batch)
    answers, writes = accept(batch, snapshot, now, lambda: secrets.token_hex(32))
    if writes.done:
        _write(connection, writes, now)
    return answers


def stage_of(row: Any, n_begun: int = 0) -> Stage:  # noqa: ANN401 - a row
    """Return what the rules need to know of a row of the table of evaluations."""
    return Stage(
        state=row.state,
        paused=bool(row.paused),
        closes_at=t.moment(row.closes_at),
        grace=row.grace,
        begun=n_begun,
        looked=row.looked_at is not None,
    )


def scale_of(row: Any) -> RatingScale:  # noqa: ANN401 - a row
    """Return the scale of a row of the table of evaluations."""
    return RatingScale.from_dict(json.loads(row.scale)) if row.scale else RatingScale()


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
    ).all()
    heads = reads.heads(connection, rows)
    evaluations = {
        row.id: Open(stage_of(row), scale_of(row), heads[row.id]) for row in rows
    }
    rater_rows = connection.execute(
        sa.select(
            t.link.c.token_sha256,
            t.link.c.revoked_at,
            t.reviewer.c.evaluation_id,
            t.reviewer.c.id,
            t.reviewer.c.label,
            t.reviewer.c.state,
        )
        .join_from(t.link, t.reviewer)
        .where(by_token)
    )
    raters = {
        row.token_sha256: Rater(
            row.evaluation_id,
            row.id,
            row.label,
            row.state,
            revoked=row.revoked_at is not None,
        )
        for row in rater_rows
    }
    ids = list(evaluations)
    people = {(rater.evaluation, rater.reviewer) for rater in raters.values()}
    done = _done(connection, ids, batch)
    return Snapshot(raters, evaluations, _tasks(connection, people), done)


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
            row.id, row.label, row.version, row.state, row.score, row.note
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
    """Write a batch in six statements whatever its size."""
    at = t.stamp(now)
    connection.execute(
        t.event.insert(),
        [
            {
                "evaluation_id": evaluation_id,
                "n": event.n,
                "line": event.line,
                "hash": event.hash,
            }
            for evaluation_id, event in writes.events
        ],
    )
    connection.execute(
        t.payload.insert(),
        [
            {
                "evaluation_id": evaluation_id,
                "n": n,
                "salt": salt,
                "body": json.dumps(body),
            }
            for evaluation_id, n, salt, body in writes.payloads
        ],
    )
    names = [column.name for column in DONE]
    own = ["evaluation", "reviewer", "key", "task", *names[4:]]
    connection.execute(
        t.submission.insert(),
        [
            {
                **dict(zip(names, map(submission.__getattribute__, own), strict=True)),
                "at": at,
            }
            for submission in writes.done
        ],
    )
    connection.execute(
        TASK_STATEMENT,
        [
            {
                "e": place[0],
                "i": task.id,
                "s": task.state,
                "v": task.version,
                "x": task.score,
                "o": task.note,
            }
            for place, task in writes.tasks.items()
        ],
    )
    heads = [
        {"e": evaluation_id, "h": head.n, "x": head.hash}
        for evaluation_id, head in writes.heads.items()
    ]
    connection.execute(HEAD_STATEMENT, heads)
    active = sorted({place[:2] for place in writes.tasks})
    connection.execute(ACTIVE_STATEMENT, [{"e": e, "r": r, "x": at} for e, r in active])
