"""The files that are published: by codes, with all that shows how they came about."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from evenhand.records.bundle import (
    LISTS,
    LOG,
    PAYLOADS,
    RATINGS,
    README,
    SEAL,
    SECRET,
    read_me,
    write_bundle,
)
from evenhand.records.canonical import canonical, text_hash
from evenhand.records.record import seal_record, secret_record, text_of
from evenhand.web import reads

if TYPE_CHECKING:
    from collections.abc import Mapping

    import sqlalchemy as sa

    from evenhand.web.reads import Evaluation


def files_of(
    connection: sa.Connection,
    row: Evaluation,
    ratings: str,
    *,
    with_ratings: bool,
) -> dict[str, bytes]:
    """Return what is to be published of an evaluation, but the log."""
    secret = reads.secret(connection, row.id)
    draws = reads.draws(connection, row.id)
    parts = [draw for draw in draws if draw.number == draws[-1].number]
    texts = {
        README: read_me(row.title),
        SEAL: text_of(seal_record(secret)),
        SECRET: text_of(secret_record(secret)),
        LISTS: draws[-1].lists,
    }
    for draw in parts:
        name = "assignment.json" if draw.part == 1 else f"assignment-{draw.part}.json"
        texts[name] = draw.record
    jobs = reads.jobs(connection, row.id, "decision")
    done = [(job.record, job.report) for job in jobs if job.record and job.report]
    for number, (record, report) in enumerate(done, start=1):
        texts[f"decision-{number}.json"] = record
        if with_ratings:
            # A report lists every single rating.
            texts[f"report-{number}.html"] = report
    if with_ratings:
        texts[RATINGS] = ratings
        texts[PAYLOADS] = "".join(
            canonical({"n": kept.n, "salt": kept.salt, "body": json.loads(kept.body)})
            + "\n"
            for kept in reads.payloads(connection, row.id)
        )
    return {name: text.encode() for name, text in texts.items()}


def with_log(
    connection: sa.Connection, evaluation_id: int, files: Mapping[str, bytes]
) -> bytes:
    """Return the bundle of published files, with the log up to their publication."""
    lines = reads.log_lines(connection, evaluation_id)
    last = max(
        n for n, line in enumerate(lines) if json.loads(line)["kind"] == "published"
    )
    kept = lines[: last + 1]
    text = "".join(f"{line}\n" for line in kept)
    return write_bundle({**files, LOG: text.encode()}, text_hash(kept[-1]))
