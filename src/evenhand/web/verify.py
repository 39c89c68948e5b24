"""Hold tables, history and log of a database against each other, and its rules."""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from evenhand.designs.drawing import seal_of
from evenhand.errors import EvenhandError, RecordError
from evenhand.records.canonical import (
    MALFORMED,
    canonical,
    decode,
    fault,
    is_dict,
    text_hash,
)
from evenhand.records.log import (
    RATED,
    REPAIRS,
    Rules,
    follow,
    last_sealing,
    payload_hash,
    says,
)
from evenhand.records.people import codes_of, people_hashes, secret_of
from evenhand.records.record import assignment_from, parse
from evenhand.web import reads
from evenhand.web import tables as t

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.claims import Json
    from evenhand.designs.assignment import Assignment
    from evenhand.web.reads import Evaluation

    Events = Sequence[dict[str, Json]]

FIXED = ("sealed", "open", "closed", "decided", "published")


def verify_all(connection: sa.Connection) -> list[str]:
    """Return what does not fit together, a sentence each; nothing if all does."""
    ids = connection.execute(sa.select(t.evaluation.c.id).order_by(t.evaluation.c.id))
    rows = [reads.by_id(connection, evaluation_id) for evaluation_id in ids.scalars()]
    return [
        f"{row.title} ({row.slug}): {fault}"
        for row in rows
        for fault in _faults(connection, row)
    ]


def _faults(connection: sa.Connection, row: Evaluation) -> Iterator[str]:
    try:
        events, head = follow(reads.log_lines(connection, row.id), row.first_seal)
    except RecordError as error:
        yield f"the {error}"
        return
    if (row.head_n, row.head_hash) != (head.n, head.hash):
        yield "the head of the log is another than the one that is kept."
    yield from _draws(connection, row.id, events)
    yield from _close(row, events)
    yield from _files(connection, row.id, events)
    if row.state in FIXED:
        yield from _lists(connection, row, events)
    if row.state == "purged":
        yield from _rules(connection, row.id, events[:-1], None)
        return
    yield from _decisions(connection, row.id, events)
    payloads = {payload.n: payload for payload in reads.payloads(connection, row.id)}
    ratings: dict[tuple[str, str], dict[str, Any]] = {}
    bodies: dict[int, dict[str, Any]] = {}
    for n, event in enumerate(events, start=1):
        if "payload" not in event:
            continue
        kept = payloads.get(n)
        body: dict[str, Any] = {} if kept is None else json.loads(kept.body)
        if kept is None or event["payload"] != payload_hash(kept.salt, body):
            yield f"what is kept of event {n} is not what the log says."
            continue
        bodies[n] = body
        if event["kind"] in RATED:
            ratings[body["reviewer"], body["item"]] = {**body, "n": n}
    yield from _tables(connection, row.id, ratings)
    yield from _rules(connection, row.id, events, bodies)


def _rules(
    connection: sa.Connection,
    evaluation_id: int,
    events: Events,
    bodies: dict[int, dict[str, Any]] | None,
) -> Iterator[str]:
    """Hold every event against the rules that an audit of the bundle applies."""
    draws = reads.draws(connection, evaluation_id)
    drawn: list[Assignment] = []
    lists: dict[str, Any] = {"scale": {}}
    try:
        for draw in draws:
            if draw.number == draws[-1].number:
                before = drawn[-1] if drawn else None
                record = parse(draw.record.encode(), "draw")
                drawn.append(assignment_from(record, "draw", before))
                lists = dict(decode(draw.lists.encode(), "lists"))
        sealed = lists["scale"], lists.get("public_value")
        broken = Rules(events, bodies, drawn, *sealed).broken(published=False)
    except (EvenhandError, *MALFORMED) as error:
        broken = f"The draw cannot be read: {error}"
    if broken:
        yield f"an audit will fail: {broken}"


def _hash_of(text: str | None, what: str) -> Json:
    """Return the hash of a record that is kept, None if it does not fit itself."""
    try:
        record = decode((text or "").encode(), what)
    except RecordError:
        return None
    whole = is_dict(record) and fault(dict(record)) is None
    return record["sha256"] if is_dict(record) and whole else None


def _logged_draws(
    events: Events,
) -> tuple[dict[int, Json], dict[tuple[int, int], tuple[Json, Json, Json]]]:
    """Return the seal of each draw, and what the log says of each of its parts."""
    seals: dict[int, Json] = {}
    parts: dict[tuple[int, int], tuple[Json, Json, Json]] = {}
    lists: Json = None
    for event in events:
        statement = says(event)
        if event["kind"] in ("created", "unsealed"):
            seals[len(seals) + 1] = statement.get("seal")
        if event["kind"] == "sealed":
            lists = statement.get("lists_sha256")
        if event["kind"] in ("sealed", *REPAIRS):
            part = int(str(statement.get("part", 1)))
            seal = seals.get(len(seals))
            parts[len(seals), part] = (seal, lists, statement.get("record_sha256"))
    return seals, parts


def _draws(
    connection: sa.Connection, evaluation_id: int, events: Events
) -> Iterator[str]:
    """Hold every draw, its lists and its secret against the log."""
    seals, logged = _logged_draws(events)
    draws = {
        (row.number, row.part): row for row in reads.draws(connection, evaluation_id)
    }
    if set(draws) != set(logged):
        yield "there are other draws than in the log."
    for place in sorted(set(draws) & set(logged)):
        row = draws[place]
        kept = (row.seal, _hash_of(row.lists, "lists"), _hash_of(row.record, "draw"))
        named = zip(("seal", "lists", "record"), logged[place], kept, strict=True)
        for name in (name for name, expected, actual in named if expected != actual):
            where = f"draw {place[0]}, part {place[1]}"
            yield f"the {name} of {where} is not what the log says."
    for number, secret in _of(connection, evaluation_id, t.secret, "number", "secret"):
        if seal_of(secret) != seals.get(number):
            yield f"the secret of draw {number} does not match its seal."
    for number, key in _of(connection, evaluation_id, t.private, "number", "key"):
        if seal_of(secret_of(key)) != seals.get(number):
            yield f"the key of draw {number} does not match its seal."


def _of(
    connection: sa.Connection, evaluation_id: int, table: sa.Table, *names: str
) -> Sequence[tuple[Any, ...]]:
    columns = [table.c[name] for name in names]
    own = table.c.evaluation_id == evaluation_id
    return [tuple(row) for row in connection.execute(sa.select(*columns).where(own))]


def _close(row: Evaluation, events: Events) -> Iterator[str]:
    """Hold the close, from which the seed comes, against the log."""
    last = None
    for event in events:
        if event["kind"] == "closed":
            last = text_hash(canonical(event))
        if event["kind"] == "reopened":
            last = None
    if row.closed_head != last:
        yield "the close that is kept is not the one of the log."


def _sha256(body: bytes | str) -> str:
    # A file that was changed by hand may have become a text.
    return hashlib.sha256(body.encode() if isinstance(body, str) else body).hexdigest()


def _files(
    connection: sa.Connection, evaluation_id: int, events: Events
) -> Iterator[str]:
    """Hold the files that were published against the log."""
    stated: Json = {}
    for event in events:
        if event["kind"] in ("published", "withdrawn"):
            stated = says(event).get("files", {})
    logged = dict(stated) if is_dict(stated) else {}
    files = _of(connection, evaluation_id, t.published, "name", "body")
    hashes = {name: _sha256(body) for name, body in files}
    for name in sorted({*logged, *hashes}):
        if logged.get(name) != hashes.get(name):
            yield f"{name} is not the file that was published."


def _decisions(
    connection: sa.Connection, evaluation_id: int, events: Events
) -> Iterator[str]:
    """Hold every decision against the log."""
    logged = {
        says(event).get("number"): says(event).get("record_sha256")
        for event in events
        if event["kind"] == "decided"
    }
    kept: dict[Json, Json] = {
        job.number: _hash_of(job.record, "decision")
        for job in reads.jobs(connection, evaluation_id, "decision")
        if job.state == "done"
    }
    if set(logged) != set(kept):
        yield "there are other decisions than in the log."
    for number, stated in logged.items():
        if number in kept and kept[number] != stated:
            yield f"decision {number} is not what the log says."


def _lists(connection: sa.Connection, row: Evaluation, events: Events) -> Iterator[str]:
    """Hold what is used against the lists that were sealed."""
    draws = reads.draws(connection, row.id)
    text = draws[-1].lists if draws else None
    if _hash_of(text, "lists") is None:
        return
    fixed = json.loads(text or "")
    labels = {"regular": list[str](), "reserve": [], "substitute": []}
    for person in reads.people(connection, row.id):
        labels[person.role].append(person.label)
    now = {
        "title": row.title,
        "grace": row.grace,
        "scale": _plain(row.scale),
        "items": [list(astuple(item)) for item in reads.items(connection, row.id)],
        "reviewers": sorted(labels["regular"]),
        "reserves": sorted(labels["reserve"]),
    }
    for name, value in now.items():
        if value != fixed[name]:
            yield f'"{name}" is not what was sealed.'
    stated = dict(fixed.get("people", {}))
    for event in events[last_sealing(events) :]:
        stated = {**says(event).get("people", {}), **stated}
    if stated:
        yield from _people(connection, row.id, stated)


def _people(
    connection: sa.Connection, evaluation_id: int, stated: dict[str, Json]
) -> Iterator[str]:
    """Hold names, codes and conflicts against what lists and log have of them."""
    key = reads.key(connection, evaluation_id)
    rows = reads.people(connection, evaluation_id)
    codes = {row.name: row.label for row in rows if row.role != "substitute"}
    if codes_of(key, list(codes)) != codes:
        yield "the codes are not those that the key gives these names."
    now = people_hashes(key, reads.names_and_conflicts(connection, evaluation_id))
    for code in sorted({*stated, *now}):
        if stated.get(code) != now.get(code):
            yield f"{code} is not the person, or has not the conflicts, as sealed."


def _plain(text: str | None) -> Json:
    try:
        value: Json = decode((text or "").encode(), "scale")
    except RecordError:
        return None
    return value


def _tables(
    connection: sa.Connection,
    evaluation_id: int,
    ratings: dict[tuple[str, str], dict[str, Any]],
) -> Iterator[str]:
    current = {
        (task.reviewer, task.label): (task.version, task.score)
        for task in reads.ratings(connection, evaluation_id)
        if task.version
    }
    history: dict[tuple[str, str], tuple[int, float | None, int]] = {}
    for person in reads.people(connection, evaluation_id):
        for sent in reads.history(connection, evaluation_id, person.id):
            history[person.label, sent.label] = (sent.version, sent.score, sent.n)
    if set(history) != set(ratings):
        yield "the history has other ratings than the log."
    for pair in sorted(set(history) & set(ratings)):
        body = ratings[pair]
        if history[pair] != (body["version"], body["score"], body["n"]):
            yield f"the history differs from the log in event {body['n']}."
        if current.get(pair) != history[pair][:2]:
            yield f"task {pair[1]} of {pair[0]} is not as the last rating says."
    if set(current) != set(history):
        yield "there are ratings without a history."
