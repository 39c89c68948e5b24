"""Hold tables, history and log of a database against each other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from evenhand.errors import RecordError
from evenhand.records.chain import follow, payload_hash
from evenhand.web import reads
from evenhand.web import tables as t

if TYPE_CHECKING:
    from collections.abc import Iterator

RATED = ("rated", "recused", "cleared")


def verify_all(connection: sa.Connection) -> list[str]:
    """Return what does not fit together, a sentence each; nothing if all does."""
    rows = connection.execute(sa.select(t.evaluation).order_by(t.evaluation.c.id))
    return [
        f"{row.title} ({row.slug}): {fault}"
        for row in rows.all()
        for fault in _faults(connection, row)
    ]


def _faults(connection: sa.Connection, row: Any) -> Iterator[str]:  # noqa: ANN401 - a row
    try:
        events, head = follow(reads.log_lines(connection, row.id), row.first_seal)
    except RecordError as error:
        yield f"the {error}"
        return
    if (row.head_n, row.head_hash) != (head.n, head.hash):
        yield "the head of the log is another than the one that is kept."
    if row.state == "purged":
        return
    found = {it.n: it for it in reads.payloads(connection, row.id)}
    told: dict[tuple[str, str], dict[str, Any]] = {}
    for n, event in enumerate(events, start=1):
        if "payload" not in event:
            continue
        kept = found.get(n)
        body: dict[str, Any] = {} if kept is None else json.loads(kept.body)
        if kept is None or event["payload"] != payload_hash(kept.salt, body):
            yield f"what is kept of event {n} is not what the log says."
        elif event["kind"] in RATED:
            told[body["reviewer"], body["item"]] = {**body, "n": n}
    yield from _tables(connection, row.id, told)


def _tables(
    connection: sa.Connection, which: int, told: dict[tuple[str, str], dict[str, Any]]
) -> Iterator[str]:
    last = {
        (it.reviewer, it.item): it
        for it in connection.execute(
            sa.select(
                t.submission,
                t.reviewer.c.label.label("reviewer"),
                t.item.c.label.label("item"),
                t.task.c.score.label("now"),
                t.task.c.version.label("last"),
            )
            .join_from(
                t.submission,
                t.task,
                (t.submission.c.evaluation_id == t.task.c.evaluation_id)
                & (t.submission.c.task_id == t.task.c.id),
            )
            .join(
                t.item,
                (t.item.c.evaluation_id == which) & (t.item.c.id == t.task.c.item_id),
            )
            .join(
                t.reviewer,
                (t.reviewer.c.evaluation_id == which)
                & (t.reviewer.c.id == t.submission.c.reviewer_id),
            )
            .where(t.submission.c.evaluation_id == which)
            .order_by(t.submission.c.version)
        )
    }
    if set(last) != set(told):
        yield "the history has other ratings than the log."
    for pair, body in told.items():
        row = last.get(pair)
        if row is None:
            continue
        if (row.version, row.score, row.n) != (
            body["version"],
            body["score"],
            body["n"],
        ):
            yield f"the history differs from the log in event {body['n']}."
        if (row.now, row.last) != (row.score, row.version):
            yield f"task {row.task_id} is not as the last rating says."
    loose = connection.execute(
        sa.select(sa.func.count())
        .select_from(t.task)
        .where(t.task.c.evaluation_id == which, t.task.c.version > 0)
    ).scalar_one()
    if loose != len(last):
        yield "there are ratings without a history."
