"""The files that are published: by codes, with all that shows how they came about."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from evenhand.records.bundle import (
    LISTS,
    LOG,
    PAYLOADS,
    RATINGS,
    SEAL,
    SECRET,
    write_bundle,
)
from evenhand.records.canonical import canonical, text_hash
from evenhand.records.record import seal_record, secret_record, text_of
from evenhand.web import reads

if TYPE_CHECKING:
    from collections.abc import Mapping

    import sqlalchemy as sa

README = """{title}

This is all that was published of this evaluation. Check it offline with

    evenhand audit FILE.zip

which follows the log from the seal, draws again from the secret, replays every rating,
works out the seed and decides again.

seal.json       the seal, which was public before the first rating
secret.json     the secret behind it
lists.json      what was fixed at sealing; reviewers stand in it by codes
assignment.json who was given what; assignment-2.json and so on are repairs
ratings.csv     the ratings that count, if they were published
payloads.jsonl  what the log holds of each of them, if they were published
decision-1.json the decision, and report-1.html the report of it
log.jsonl       the log; the hash of a line is the receipt of its rating
manifest.json   the hash of every file
"""


def files_of(
    connection: sa.Connection,
    row: Any,  # noqa: ANN401 - a row
    ratings: str,
    *,
    with_ratings: bool,
) -> dict[str, bytes]:
    """Return what is to be published of an evaluation, but the log."""
    secret = reads.secret(connection, row.id)
    draws = reads.draws(connection, row.id)
    parts = [it for it in draws if it.number == draws[-1].number]
    texts = {
        "README.txt": README.format(title=row.title),
        SEAL: text_of(seal_record(secret)),
        SECRET: text_of(secret_record(secret)),
        LISTS: draws[-1].lists,
    }
    for it in parts:
        name = "assignment.json" if it.part == 1 else f"assignment-{it.part}.json"
        texts[name] = it.record
    done = [it for it in reads.jobs(connection, row.id, "decision") if it.record]
    for number, it in enumerate(done, start=1):
        texts[f"decision-{number}.json"] = it.record
        texts[f"report-{number}.html"] = it.report
    if with_ratings:
        texts[RATINGS] = ratings
        texts[PAYLOADS] = _payloads(connection, row.id)
    return {name: text.encode() for name, text in texts.items()}


def _payloads(connection: sa.Connection, which: int) -> str:
    rows = reads.payloads(connection, which)
    return "".join(
        canonical({"n": it.n, "salt": it.salt, "body": json.loads(it.body)}) + "\n"
        for it in rows
    )


def with_log(
    connection: sa.Connection, which: int, files: Mapping[str, bytes]
) -> bytes:
    """Return the bundle of published files, with the log up to their publication."""
    lines = reads.log_lines(connection, which)
    last = max(
        n for n, line in enumerate(lines) if json.loads(line)["kind"] == "published"
    )
    kept = lines[: last + 1]
    text = "".join(f"{line}\n" for line in kept)
    return write_bundle({**files, LOG: text.encode()}, text_hash(kept[-1]))
