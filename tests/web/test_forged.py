"""Bundles whose hashes all fit, but which tell of what the app never allows."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from evenhand.cli import cli
from evenhand.records.bundle import (
    collect,
    ratings_csv,
    read_bundle,
    write_bundle,
)
from evenhand.records.canonical import canonical, text_hash
from evenhand.records.log import decision_seed, payload_hash
from evenhand.records.record import assignment_from, parse
from evenhand.web import jobs
from evenhand.web.jobs import compute
from evenhand.web.verify import verify_all
from tests.web.desk import Desk, bundle_of, decided, rate_all
from tests.web.world import FORM

Events = list[dict[str, Any]]
Files = dict[str, bytes]


@pytest.fixture(scope="module", autouse=True)
def _no_reports() -> Iterator[None]:
    """An audit does not look at the report, which takes longest to make."""
    with mock.patch.object(jobs, "_report", return_value="A report."):
        yield


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Files]:
    """A database with a published evaluation, and the files of its bundle."""
    folder = tmp_path_factory.mktemp("forged")
    desk = Desk(str(folder / "e.db"))
    path = bundle_of(desk, decided(desk), folder)
    desk.close()
    return folder / "e.db", read_bundle(path.read_bytes(), "bundle")


def audited(path: Path) -> tuple[int, str]:
    found = CliRunner().invoke(cli, ["audit", str(path)])
    assert found.exception is None or isinstance(found.exception, SystemExit)
    return found.exit_code, found.output


def linked(events: Events, files: Files) -> list[str]:
    """Write the lines of a log anew, so that every hash fits."""
    lines: list[str] = []
    head = events[0]["prev"]
    for n, event in enumerate(events, start=1):
        plain = {key: event[key] for key in event if key != "private"}
        plain |= {"n": n, "prev": head}
        if event.get("private"):
            private = event["private"]
            body = private.get("logged", private["body"])
            plain["payload"] = payload_hash(private["salt"], body)
        if event.get("kind") == "published":
            named = {k: hashlib.sha256(body).hexdigest() for k, body in files.items()}
            plain["says"] = {"files": named}
        lines.append(canonical(plain))
        head = text_hash(lines[-1])
    return lines


def decide(events: Events, files: Files, **other: object) -> None:
    """Collect and decide again from events, with the seed that follows from them."""
    lists = json.loads(files["lists.json"])
    records = [files[name].decode() for name in sorted(files, key=len) if "ass" in name]
    drawn = None
    for text in records:
        drawn = assignment_from(parse(text.encode(), "a"), "a", drawn)
    assert drawn is not None
    bodies = {n: e["private"]["body"] for n, e in enumerate(events, 1) if e["private"]}
    rows, _ = collect(events, bodies, drawn, keep_unfinished=False)
    text = ratings_csv(rows, {row[0]: row[1] for row in lists["items"]})
    files["ratings.csv"] = text.encode()
    lines = linked(events, {})
    closed = next(n for n, event in enumerate(events) if event["kind"] == "closed")
    secret = json.loads(files["secret.json"])["secret"]
    given = {"records": records, "secret": secret, "ratings": text, "kind": "decision"}
    given |= {"seal": json.loads(files["seal.json"])["seal"]}
    given |= {"seed": decision_seed(secret, text_hash(lines[closed]))}
    names = ("job", "method", "top", "distinct")
    made = compute({**given, **{name: lists[name] for name in names}, **other})
    assert "error" not in made
    files["decision-1.json"] = made["record"].encode()
    files["report-1.html"] = made["report"].encode()
    for event in events:
        if event["kind"] == "decided":
            event["says"] = {"number": 1, **json.loads(made["says"])}


def payloads(n: int, private: dict[str, Any] | None) -> Events:
    """Return the row of an event; a logged body that is not used, by a textual n."""
    if not private:
        return []
    plain = {"salt": private["salt"]}
    again = [{**plain, "n": str(n), "body": it} for it in [private.get("logged")] if it]
    return [{**plain, "n": n, "body": private["body"]}, *again]


def forge(good: Files, edit: Callable[[Events, Files], Events], path: Path) -> Path:
    """Change events and files, and make all hashes fit again."""
    made = ("manifest.json", "log.jsonl")
    files = {name: body for name, body in good.items() if name not in made}
    events = [json.loads(line) for line in good["log.jsonl"].splitlines()]
    rows = map(json.loads, files.get("payloads.jsonl", b"").splitlines())
    private = {row["n"]: row for row in rows}
    for n, event in enumerate(events, start=1):
        event["private"] = private.get(n)
    events = edit(events, files)
    if "payloads.jsonl" in files:
        files["payloads.jsonl"] = "".join(
            canonical(row) + "\n"
            for n, event in enumerate(events, start=1)
            for row in payloads(n, event.get("private"))
        ).encode()
    lines = linked(events, files)
    files["log.jsonl"] = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(write_bundle(files, text_hash(lines[-1])))
    return path


def first(events: Events, kind: str) -> dict[str, Any]:
    return next(event for event in events if event["kind"] == kind)


def scored(score: object, *, again: bool = False) -> Callable[..., Events]:
    def edit(events: Events, files: Files) -> Events:
        first(events, "rated")["private"]["body"]["score"] = score
        if again:
            decide(events, files)
        return events

    return edit


def twice(events: Events, files: Files) -> Events:
    """Use a score that is not the logged one, which follows as another row."""
    private = first(events, "rated")["private"]
    private["logged"] = private["body"]
    private["body"] = {**private["body"], "score": 100.0 - private["body"]["score"]}
    decide(events, files)
    return events


def late(events: Events, files: Files) -> Events:
    """Turn all ratings round after the close, when scores were seen."""
    new = []
    for event in events:
        if event["kind"] == "rated":
            body = event["private"]["body"]
            turned = {**body, "score": 100.0 - body["score"], "version": 2}
            new.append({**event, "private": {**event["private"], "body": turned}})
    place = events.index(first(events, "decided"))
    # Times are minutes: those of the ratings may be over.
    new = [{**event, "at": events[place]["at"]} for event in new]
    events = [*events[:place], *new, *events[place:]]
    decide(events, files)
    return events


def without(*kinds: str) -> Callable[[Events, Files], Events]:
    def edit(events: Events, files: Files) -> Events:
        kept = [event for event in events if event["kind"] not in kinds]
        if "closed" not in kinds:
            decide(kept, files)
        return kept

    return edit


def counts(events: Events, files: Files) -> Events:
    first(events, "closed")["says"]["never_began"] = 99
    decide(events, files)
    return events


def optioned(**other: object) -> Callable[[Events, Files], Events]:
    def edit(events: Events, files: Files) -> Events:
        decide(events, files, **other)
        return events

    return edit


def filed(name: str, body: bytes) -> Callable[[Events, Files], Events]:
    def edit(events: Events, files: Files) -> Events:
        files[name] = body
        return events

    return edit


def undecided(events: Events, files: Files) -> Events:
    del files["decision-1.json"], files["report-1.html"]
    return [event for event in events if event["kind"] != "decided"]


def added(kind: object, at: str = "") -> Callable[[Events, Files], Events]:
    def edit(events: Events, _: Files) -> Events:
        last = events[-1]
        new = {"schema": last["schema"], "at": at or last["at"], "kind": kind}
        return [*events[:-1], {**new, "private": None}, last]

    return edit


def after_the_end(events: Events, _: Files) -> Events:
    new = {**events[-1], "kind": "new link", "private": None}
    del new["says"]
    return [*events, new]


FORGED: dict[str, tuple[Callable[[Events, Files], Events], str]] = {
    "late": (late, '"rated" cannot be while the evaluation is closed.'),
    "logged twice": (twice, "The ratings are not those of the log."),
    "not on the scale": (scored(1e6, again=True), "1000000.0 is not on the scale"),
    "between steps": (scored(31.05, again=True), "31.05 is not on the scale"),
    "never began": (without("begun"), "The reviewer had not begun."),
    "never opened": (without("opened"), "while the evaluation is sealed."),
    "never looked": (without("looked"), "Nobody had looked at scores."),
    "never sealed": (without("sealed", "closed"), "anything was sealed"),
    "other counts": (counts, 'It says 99 for "never_began"; the log has 1.'),
    "other top": (optioned(top=2), "decision 1.top: expected 3, found 2"),
    "other method": (optioned(method="mean"), "other options than were sealed"),
    "ties allowed": (optioned(distinct=False), "other options than were sealed"),
    "another decision": (filed("decision-2.json", b"{}"), "names.decision-2.json"),
    "another file": (filed("winner.html", b"t1"), "tells of other files"),
    "no decision": (undecided, "while the evaluation is closed."),
    "nonsense": (added("nonsense"), 'no such kind as "nonsense"'),
    "a list": (added([1]), "no such kind as [1]"),
    "back in time": (added("new link", "1999-01-01T00:00Z"), "earlier than the event"),
    "no time": (added("new link", "1999"), "Its time is none."),
    "after the end": (after_the_end, "while the evaluation is published."),
    "a text": (scored("abc"), 'A score must be a number, got "abc".'),
    "a truth": (scored(score=True), "A score must be a number, got true."),
    "nothing": (scored(None), "A score must be a number, got null."),
}


@pytest.mark.parametrize("name", FORGED)
def test_what_the_app_never_allows_is_found(
    ran: tuple[Path, Files], name: str, tmp_path: Path
) -> None:
    edit, words = FORGED[name]
    code, told = audited(forge(ran[1], edit, tmp_path / "forged.zip"))
    assert code in (1, 2), told
    assert words in told


JUNK = {
    "seal.json": b"{}",
    "secret.json": b"[1]",
    "lists.json": b"null",
    "assignment.json": b'{"a":1}',
    "decision-1.json": b"\xff",
    "ratings.csv": b"\xff\xfe",
}
PYTHONS = ("out of range", "object is not", "has no attribute", "Error", "Traceback")


@pytest.mark.parametrize("name", JUNK)
def test_junk_is_refused_in_a_sentence(
    ran: tuple[Path, Files], name: str, tmp_path: Path
) -> None:
    path = forge(ran[1], filed(name, JUNK[name]), tmp_path / "forged.zip")
    code, told = audited(path)
    assert code in (1, 2), told
    assert not any(words in told for words in PYTHONS), told


@pytest.mark.parametrize("field", ["kind", "at"])
@pytest.mark.parametrize("place", [0, 1, 3, 8, -4, -2, -1])
def test_an_event_that_lacks_a_field_is_refused(
    ran: tuple[Path, Files], place: int, field: str, tmp_path: Path
) -> None:
    def edit(events: Events, _: Files) -> Events:
        del events[place][field]
        return events

    code, told = audited(forge(ran[1], edit, tmp_path / "forged.zip"))
    assert code in (1, 2), told
    assert not any(words in told for words in PYTHONS), told


@pytest.mark.parametrize("field", ["reviewer", "item", "score", "version"])
def test_a_rating_that_lacks_a_field_is_refused(
    ran: tuple[Path, Files], field: str, tmp_path: Path
) -> None:
    def edit(events: Events, _: Files) -> Events:
        body = first(events, "rated")["private"]["body"]
        body[field] = ["x"]
        return events

    code, told = audited(forge(ran[1], edit, tmp_path / "forged.zip"))
    assert code == 1, told
    assert not any(words in told for words in PYTHONS), told


def test_a_bundle_without_a_log_is_refused(
    ran: tuple[Path, Files], tmp_path: Path
) -> None:
    made = ("manifest.json", "log.jsonl")
    files = {name: body for name, body in ran[1].items() if name not in made}
    path = tmp_path / "forged.zip"
    for more in ({}, {"log.jsonl": b""}):
        path.write_bytes(write_bundle({**files, **more}, "0" * 64))
        code, told = audited(path)
        assert code == 2
        assert "log.jsonl is missing or empty." in told


def test_an_unchanged_forgery_passes(ran: tuple[Path, Files], tmp_path: Path) -> None:
    """What forges here must not be what is found."""

    def edit(events: Events, files: Files) -> Events:
        decide(events, files)
        return events

    code, told = audited(forge(ran[1], edit, tmp_path / "forged.zip"))
    assert code == 0, told


def test_a_draw_that_was_repaired_and_dropped_passes(tmp_path: Path) -> None:
    desk = Desk(str(tmp_path / "e.db"))
    slug = desk.sealed(title="Again")
    assert desk.post(f"/e/{slug}/reviewers/1/reserve").status_code == 303
    assert desk.post(f"/e/{slug}/unseal").status_code == 303
    again = {**FORM, "title": "Again"}
    assert desk.post("/e", does="seal", slug=slug, **again).status_code == 303
    guest = desk.guest()
    for link in desk.links(slug).values():
        rate_all(guest, link)
    assert desk.post(f"/e/{slug}/close").status_code == 303
    assert desk.post(f"/e/{slug}/jobs/decision").status_code == 303
    desk.wait(slug)
    assert desk.post(f"/e/{slug}/publish", ratings="yes").status_code == 303
    code, told = audited(bundle_of(desk, slug, tmp_path))
    desk.close()
    assert code == 0, told
    assert faults(tmp_path / "e.db") == []


def faults(path: Path) -> list[str]:
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        found = verify_all(connection)
    engine.dispose()
    return found


CHANGES = {
    "UPDATE evaluation SET closed_head = '00'": "the close that is kept",
    "UPDATE draw SET lists = '{}'": "the lists of draw 1, part 1",
    "UPDATE draw SET record = replace(record, 't1', 't2')": "the record of draw 1",
    "UPDATE draw SET seal = '00'": "the seal of draw 1",
    "DELETE FROM draw WHERE part = 2": "there are other draws",
    "UPDATE published SET body = 'x' WHERE name = 'report-1.html'": "report-1.html is",
    "UPDATE job SET record = 'x'": "decision 1 is not",
    "DELETE FROM job": "there are other decisions",
    "UPDATE evaluation SET scale = NULL": '"scale" is not what was sealed',
    "UPDATE evaluation SET title = 'x'": '"title" is not what was sealed',
    "UPDATE item SET title = 'x' WHERE id = 1": '"items" is not what was sealed',
    "UPDATE reviewer SET label = 'R99' WHERE id = 1": '"reviewers" is not',
    "UPDATE secret SET secret = hex(zeroblob(32))": "the secret of draw 1",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_table_is_found(
    ran: tuple[Path, Files], change: str, tmp_path: Path
) -> None:
    path = tmp_path / "e.db"
    shutil.copy(ran[0], path)
    assert faults(path) == []
    with sqlite3.connect(path) as connection:
        connection.execute(change)
    connection.close()
    assert any(CHANGES[change] in fault for fault in faults(path)), faults(path)
