"""Bundles whose hashes all fit, but which tell of what the app never allows."""

from __future__ import annotations

import hashlib
import io
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

from evenhand.ab.comparison import compare
from evenhand.cli import cli
from evenhand.designs.drawing import verify
from evenhand.formats.reading import read_ratings
from evenhand.records.bundle import (
    collect,
    ratings_csv,
    read_bundle,
    write_bundle,
)
from evenhand.records.canonical import canonical, contents, finish, text_hash
from evenhand.records.log import payload_hash, seed_from
from evenhand.records.people import RECEIPT, salt_of
from evenhand.records.record import assignment_from, decision_record, parse, text_of
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


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The files of an evaluation of two items."""
    folder = tmp_path_factory.mktemp("compared")
    desk = Desk(str(folder / "e.db"))
    two = {"items": "t1, One\nt2, Two", "per_reviewer": "1", "reserves": ""}
    slug = desk.sealed(job="compare", **two)
    guest = desk.guest()
    for link in desk.links(slug).values():
        rate_all(guest, link, 1)
    assert desk.post(f"/e/{slug}/close").status_code == 303
    assert desk.post(f"/e/{slug}/jobs/decision").status_code == 303
    desk.wait(slug)
    assert desk.post(f"/e/{slug}/publish", ratings="yes").status_code == 303
    path = bundle_of(desk, slug, folder)
    desk.close()
    return read_bundle(path.read_bytes(), "bundle")


def audited(path: Path, *more: str) -> tuple[int, str]:
    found = CliRunner().invoke(cli, ["audit", str(path), *more])
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
    secret = json.loads(files["secret.json"])["secret"]
    given = {"records": records, "secret": secret, "ratings": text, "kind": "decision"}
    given |= {"seal": json.loads(files["seal.json"])["seal"]}
    given |= {"seed": seed_from(secret, events)}
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


def told(kind: str, **fields: object) -> Callable[[Events, Files], Events]:
    """Let the log say something else of an event, and decide by the new log."""

    def edit(events: Events, files: Files) -> Events:
        event = first(events, kind)
        says = {**event.get("says", {}), **fields}
        event["says"] = {key: it for key, it in says.items() if it is not Ellipsis}
        decide(events, files)
        return events

    return edit


def marked(**fields: object) -> Callable[[Events, Files], Events]:
    """Put fields beside those that a line of the log has."""

    def edit(events: Events, files: Files) -> Events:
        first(events, "closed").update(fields)
        decide(events, files)
        return events

    return edit


def extended(closes_at: object) -> Callable[[Events, Files], Events]:
    def edit(events: Events, files: Files) -> Events:
        place = events.index(first(events, "closed"))
        new = {**events[place], "kind": "extended", "says": {"closes_at": closes_at}}
        events = [*events[:place], new, *events[place:]]
        decide(events, files)
        return events

    return edit


def salted(salt: str) -> Callable[[Events, Files], Events]:
    def edit(events: Events, files: Files) -> Events:
        [it for it in events if it["kind"] == "rated"][-1]["private"]["salt"] = salt
        decide(events, files)
        return events

    return edit


def bodied(kind: str, **fields: object) -> Callable[[Events, Files], Events]:
    def edit(events: Events, files: Files) -> Events:
        first(events, kind)["private"]["body"].update(fields)
        decide(events, files)
        return events

    return edit


def seeded(events: Events, files: Files) -> Events:
    """Decide by a seed that somebody liked, as if it were that of the log."""
    decide(events, files, seed=7)
    return events


def refinished(name: str, **fields: Any) -> Callable[[Events, Files], Events]:
    """Put fields into a record, with hashes that fit."""

    def edit(events: Events, files: Files) -> Events:
        record = finish({**contents(json.loads(files[name])), **fields})
        files[name] = f"{canonical(record)}\n".encode()
        return events

    return edit


FORGED: dict[str, tuple[Callable[[Events, Files], Events], str]] = {
    "late": (late, '"rated" cannot be while the evaluation is closed.'),
    "logged twice": (twice, "A row belongs to no event, or to one that has another"),
    "not on the scale": (scored(1e6, again=True), "1000000.0 is not on the scale"),
    "between steps": (scored(31.05, again=True), "31.05 is not on the scale"),
    "never began": (without("begun"), "The reviewer had not begun."),
    "never opened": (without("opened"), "while the evaluation is sealed."),
    "never looked": (without("looked"), "Nobody had looked at scores."),
    "never sealed": (without("sealed", "closed"), "anything was sealed"),
    "other counts": (counts, 'It says 99 for "never_began"; the log has 1.'),
    "other top": (optioned(top=2), "parameters.top: expected 3, found 2"),
    "other method": (optioned(method="mean"), "other options than were sealed"),
    "ties allowed": (optioned(distinct=False), "other options than were sealed"),
    "another decision": (filed("decision-2.json", b"{}"), "names.decision-2.json"),
    "another file": (filed("winner.html", b"t1"), "tells of other files"),
    "no decision": (undecided, "while the evaluation is closed."),
    "nonsense": (added("nonsense"), 'no such kind as "nonsense"'),
    "a list": (added([1]), "no such kind as [1]"),
    "back in time": (added("new link", "1999-01-01T00:00Z"), "earlier than the event"),
    "no time": (added("new link", "1999"), '"at" cannot be "1999"'),
    "after the end": (after_the_end, "while the evaluation is published."),
    "a text": (scored("abc"), 'A score must be a number, got "abc".'),
    "a truth": (scored(score=True), "A score must be a number, got true."),
    "nothing": (scored(None), "A score must be a number, got null."),
    "one more field": (told("closed", nonce=7), 'It must not have "says.nonce".'),
    "one less": (told("closed", begun=...), 'It lacks "says.begun".'),
    "of another type": (told("sealed", draw="1"), '"says.draw" cannot be "1"'),
    "said for nothing": (told("opened", by="me"), 'It must not have "says".'),
    "beside the line": (marked(note="x"), 'It must not have "note".'),
    "no such minute": (marked(at="2036-19-39T29:59Z"), '"at" cannot be'),
    "other digits": (marked(at="٢٠٣٦-01-01T00:00Z"), '"at" cannot be'),
    "any deadline": (extended("anything 123"), '"says.closes_at" cannot be'),
    "a deadline of ours": (extended("2036-01-01"), '"says.closes_at" cannot be'),
    "a salt of words": (salted("my own salt"), '"salt" cannot be "my own salt"'),
    "a salt in capitals": (salted("AB" * 32), '"salt" cannot be'),
    "more private": (bodied("begun", note=1), 'It must not have "body.note".'),
    "a nonce of words": (told("rated", nonce="mine"), '"says.nonce" cannot be "mine"'),
    "other people": (told("absent", reviewers=4), "another number of reviewers"),
    "another seed": (seeded, "Another seed was used."),
    "another read me": (
        filed("README.txt", b"The winner is t2.\n"),
        'README.txt[0]: expected "Autumn talks", found "The winner is t2."',
    ),
    "more in the seal": (refinished("seal.json", winner="t2"), "seal.json.winner"),
    "more in the secret": (refinished("secret.json", x=1), "secret.json.x"),
}


@pytest.mark.parametrize("name", FORGED)
def test_what_the_app_never_allows_is_found(
    ran: tuple[Path, Files], name: str, tmp_path: Path
) -> None:
    edit, words = FORGED[name]
    code, said = audited(forge(ran[1], edit, tmp_path / "forged.zip"))
    assert code in (1, 2), said
    assert code == 1 or "anything was sealed" in said
    assert words in said


def decided_by(sealed: str, used: str) -> Callable[[Events, Files], Events]:
    """Seal one method, and decide by another of the same name."""

    def edit(events: Events, files: Files) -> Events:
        lists = contents(json.loads(files["lists.json"]))
        lists = finish({**lists, "method": sealed})
        files["lists.json"] = f"{canonical(lists)}\n".encode()
        first(events, "sealed")["says"]["lists_sha256"] = lists["sha256"]
        decide(events, files, method=used)
        first(events, "decided")["says"]["method"] = sealed
        return events

    return edit


OPTIONS = {
    "guarded(eps=1)": "parameters.eps: expected 0.1, found 1.0",
    "guarded(statistic=median(lower))": "parameters.statistic: expected",
    "guarded(weight=linear(1000))": "parameters.weight.name: expected",
    "votes(weight=linear(1000))": "parameters.weight.name: expected",
    "safe(noise=1000)": "parameters.noise: expected 0.3, found 1000.0",
    "safe(anchored=false)": "parameters.anchored: expected true, found false",
}


@pytest.mark.parametrize("published", ["with ratings", "without"])
@pytest.mark.parametrize("used", OPTIONS)
def test_other_options_of_the_sealed_method_are_found(
    ran: tuple[Path, Files], compared: Files, used: str, published: str, tmp_path: Path
) -> None:
    sealed = used.partition("(")[0]
    good = ran[1] if sealed == "safe" else compared

    def edit(events: Events, files: Files) -> Events:
        events = decided_by(sealed, used)(events, files)
        if published == "without":
            for name in ("ratings.csv", "payloads.jsonl", "report-1.html"):
                del files[name]
        return events

    code, said = audited(forge(good, edit, tmp_path / "forged.zip"))
    assert code == 1, said
    assert OPTIONS[used] in said


@pytest.mark.parametrize("sealed", ["guarded", "votes(weight=linear(1000))", "safe"])
def test_a_method_that_was_sealed_passes(
    ran: tuple[Path, Files], compared: Files, sealed: str, tmp_path: Path
) -> None:
    good = ran[1] if sealed == "safe" else compared
    path = forge(good, decided_by(sealed, sealed), tmp_path / "forged.zip")
    code, said = audited(path)
    assert code == 0, said


def swapped(events: Events, files: Files) -> Events:
    """Decide with the two items in the other order, for the other side of the coin."""
    record = json.loads(files["decision-1.json"])
    drawn = assignment_from(parse(files["assignment.json"], "a"), "a")
    secret = json.loads(files["secret.json"])["secret"]
    drawn = verify(drawn, secret, record_seal(files))
    ratings = read_ratings(io.StringIO(files["ratings.csv"].decode()))
    seed, items = record["result"]["seed"], record["result"]["items"][::-1]
    result = compare(ratings, items=items, assignment=drawn, rng=seed)
    made = decision_record(result, drawn)
    files["decision-1.json"] = text_of(made).encode()
    first(events, "decided")["says"]["record_sha256"] = made["sha256"]
    return events


def record_seal(files: Files) -> str:
    return str(json.loads(files["seal.json"])["seal"])


def test_items_in_another_order_are_found(compared: Files, tmp_path: Path) -> None:
    code, said = audited(forge(compared, swapped, tmp_path / "forged.zip"))
    assert code == 1, said
    assert "result.items[0]" in said


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
    code, said = audited(path)
    assert code in (1, 2), said
    assert not any(words in said for words in PYTHONS), said


@pytest.mark.parametrize("field", ["kind", "at"])
@pytest.mark.parametrize("place", [0, 1, 3, 8, -4, -2, -1])
def test_an_event_that_lacks_a_field_is_refused(
    ran: tuple[Path, Files], place: int, field: str, tmp_path: Path
) -> None:
    def edit(events: Events, _: Files) -> Events:
        del events[place][field]
        return events

    code, said = audited(forge(ran[1], edit, tmp_path / "forged.zip"))
    assert code in (1, 2), said
    assert not any(words in said for words in PYTHONS), said


@pytest.mark.parametrize("field", ["reviewer", "item", "score", "version"])
def test_a_rating_that_lacks_a_field_is_refused(
    ran: tuple[Path, Files], field: str, tmp_path: Path
) -> None:
    def edit(events: Events, _: Files) -> Events:
        body = first(events, "rated")["private"]["body"]
        body[field] = ["x"]
        return events

    code, said = audited(forge(ran[1], edit, tmp_path / "forged.zip"))
    assert code == 1, said
    assert not any(words in said for words in PYTHONS), said


def test_a_bundle_without_a_log_is_refused(
    ran: tuple[Path, Files], tmp_path: Path
) -> None:
    made = ("manifest.json", "log.jsonl")
    files = {name: body for name, body in ran[1].items() if name not in made}
    path = tmp_path / "forged.zip"
    for more in ({}, {"log.jsonl": b""}):
        path.write_bytes(write_bundle({**files, **more}, "0" * 64))
        code, said = audited(path)
        assert code == 2
        assert "log.jsonl is missing or empty." in said


def test_an_unchanged_forgery_passes(ran: tuple[Path, Files], tmp_path: Path) -> None:
    """What forges here must not be what is found."""

    def edit(events: Events, files: Files) -> Events:
        decide(events, files)
        return events

    code, said = audited(forge(ran[1], edit, tmp_path / "forged.zip"))
    assert code == 0, said


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
    code, said = audited(bundle_of(desk, slug, tmp_path))
    desk.close()
    assert code == 0, said
    assert faults(tmp_path / "e.db") == []


def faults(path: Path) -> list[str]:
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        found = verify_all(connection)
    engine.dispose()
    return found


def moved(events: Events, files: Files) -> Events:
    """Write all that an organiser may write, as they please: times, salts, events."""
    place = events.index(first(events, "closed"))
    for event in events:
        event["at"] = f"2036{event['at'][4:]}"
        if event.get("private"):
            event["private"]["salt"] = text_hash(str(event["n"]))
    plain = {key: events[place][key] for key in ("schema", "at", "prev", "private")}
    idle = [{**plain, "kind": kind} for kind in ("paused", "resumed", "new link") * 2]
    later = {"closes_at": "2036-12-24T18:00:00.000000+00:00"}
    idle.append({**plain, "kind": "extended", "says": later})
    events = [*events[:place], *idle, *events[place:]]
    decide(events, files)
    return events


def test_nothing_that_an_organiser_writes_moves_the_seed(
    ran: tuple[Path, Files], tmp_path: Path
) -> None:
    path = forge(ran[1], moved, tmp_path / "forged.zip")
    code, said = audited(path)
    assert code == 0, said
    made = [json.loads(it["decision-1.json"])["result"] for it in (ran[1], unzip(path))]
    assert made[0]["seed"] == made[1]["seed"]
    assert made[0]["items"] == made[1]["items"]


def unzip(path: Path) -> Files:
    return read_bundle(path.read_bytes(), "bundle")


def nonced(events: Events, files: Files) -> Events:
    """Grind what the device of a reviewer drew, which changes the seed."""
    last = [it for it in events if it["kind"] == "rated"][-1]
    last["says"] = {"nonce": "0" * 32}
    decide(events, files)
    return events


def receipts(database: Path, files: Files, path: Path) -> Path:
    """Write what the reviewer of the last rating kept, as their page hands it out."""
    lines = files["log.jsonl"].decode().splitlines()
    events = [json.loads(line) for line in lines]
    rows = map(json.loads, files["payloads.jsonl"].splitlines())
    bodies = {row["n"]: row["body"] for row in rows}
    last = max(it["n"] for it in events if it["kind"] == "rated")
    who = bodies[last]["reviewer"]
    sent = [
        {**bodies[n], "n": n, "receipt": text_hash(lines[n - 1]), **event["says"]}
        for n, event in enumerate(events, start=1)
        if event["kind"] == "rated" and bodies[n]["reviewer"] == who
    ]
    with sqlite3.connect(database) as connection:
        (name,) = connection.execute(
            "SELECT name FROM reviewer WHERE label = ?", (who,)
        ).fetchone()
        key, conflicts = connection.execute(
            "SELECT key, conflicts FROM private ORDER BY number DESC"
        ).fetchone()
    own = {
        "schema": RECEIPT,
        "code": who,
        "name": name,
        "salt": salt_of(key, name),
        "conflicts": [item for code, item in json.loads(conflicts) if code == who],
        "sent": sent,
    }
    path.write_text(json.dumps(own))
    return path


VALUE = "drand round 12345, in hex"


@pytest.fixture(scope="module")
def valued(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The files of an evaluation for which a public value was named at sealing."""
    folder = tmp_path_factory.mktemp("valued")
    desk = Desk(str(folder / "e.db"))
    slug = desk.sealed(public_value=f"  {VALUE} ")
    guest = desk.guest()
    assert VALUE in guest.get(f"/p/{slug}").text
    for link in desk.links(slug).values():
        rate_all(guest, link)
    assert desk.post(f"/e/{slug}/value", value="1").status_code == 409
    assert desk.post(f"/e/{slug}/close").status_code == 303
    for early in ("look", "jobs/decision"):
        answer = desk.post(f"/e/{slug}/{early}")
        assert answer.status_code == 409
        assert f"Put in the public value first: {VALUE}." in answer.text
    answer = desk.post(f"/e/{slug}/value", value="<b>")
    assert answer.status_code == 422
    assert "The value must have digits" in answer.text
    assert desk.post(f"/e/{slug}/value", value=" 0A 1b").status_code == 303
    assert desk.post(f"/e/{slug}/value", value="2").status_code == 409
    assert desk.post(f"/e/{slug}/jobs/decision").status_code == 303
    assert "public value 0a1b" in desk.wait(slug)
    assert desk.post(f"/e/{slug}/value", value="2").status_code == 409
    assert desk.post(f"/e/{slug}/publish", ratings="yes").status_code == 303
    path = bundle_of(desk, slug, folder)
    desk.close()
    return unzip(path)


def test_a_public_value_enters_the_seed_and_is_named(
    valued: Files, tmp_path: Path
) -> None:
    code, said = audited(forge(valued, lambda it, _: it, tmp_path / "same.zip"))
    assert code == 0, said
    assert f'0a1b was put in for "{VALUE}". It is not checked here: compare' in said

    def other(events: Events, _: Files) -> Events:
        first(events, "valued")["says"]["value"] = "0a1c"
        return events

    code, said = audited(forge(valued, other, tmp_path / "forged.zip"))
    assert code == 1, said
    assert "Another seed was used." in said


def late_value(events: Events, files: Files) -> Events:
    event = first(events, "valued")
    events.remove(event)
    events.insert(events.index(first(events, "looked")) + 1, event)
    decide(events, files)
    return events


def two_values(events: Events, files: Files) -> Events:
    place = events.index(first(events, "valued"))
    events.insert(place, {**events[place], "says": {"value": "7"}})
    decide(events, files)
    return events


@pytest.mark.parametrize("edit", [without("valued"), late_value, two_values])
def test_a_public_value_is_put_in_once_and_before_a_look(
    valued: Files, edit: Callable[..., Events], tmp_path: Path
) -> None:
    code, said = audited(forge(valued, edit, tmp_path / "forged.zip"))
    assert code == 1, said
    assert "public value" in said


def unnamed_value(events: Events, files: Files) -> Events:
    place = events.index(first(events, "looked"))
    new = {**events[place], "kind": "valued", "says": {"value": "7"}}
    events = [*events[:place], new, *events[place:]]
    decide(events, files)
    return events


def test_a_value_that_nobody_named_is_found(
    ran: tuple[Path, Files], tmp_path: Path
) -> None:
    code, said = audited(forge(ran[1], unnamed_value, tmp_path / "forged.zip"))
    assert code == 1, said
    assert "no public value" in said


@pytest.mark.parametrize("edit", [nonced, scored(50.0, again=True)])
def test_only_a_receipt_shows_what_write_access_can_still_do(
    ran: tuple[Path, Files], edit: Callable[..., Events], tmp_path: Path
) -> None:
    """A changed nonce or rating has hashes that fit; who kept a receipt sees it."""
    kept = receipts(*ran, tmp_path / "my-ratings.json")
    honest = forge(ran[1], lambda events, _: events, tmp_path / "honest.zip")
    code, said = audited(honest, "--receipts", str(kept))
    assert code == 0, said
    assert "ok      receipts: 3 receipts that you kept, each in the log as" in said
    forged = forge(ran[1], edit, tmp_path / "forged.zip")
    code, said = audited(forged)
    assert code == 0, said
    assert "--      receipts: That each nonce is its reviewer's own" in said
    code, said = audited(forged, "--receipts", str(kept))
    assert code == 1, said
    assert "The log has something else than this receipt." in said


def test_receipts_of_another_file_are_refused(
    ran: tuple[Path, Files], tmp_path: Path
) -> None:
    path = forge(ran[1], lambda events, _: events, tmp_path / "bundle.zip")
    for text in ("[]", '{"sent": [{}]}', "x"):
        (tmp_path / "mine.json").write_text(text)
        code, said = audited(path, "--receipts", str(tmp_path / "mine.json"))
        assert code == 2, said
        assert not any(words in said for words in PYTHONS), said


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
