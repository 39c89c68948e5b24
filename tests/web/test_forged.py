"""Bundles whose hashes all fit, but which tell of what the app never allows."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from evenhand.ab.comparison import compare
from evenhand.designs.drawing import verify
from evenhand.formats.reading import read_ratings
from evenhand.records.bundle import collect, ratings_csv, read_bundle, write_bundle
from evenhand.records.canonical import canonical, contents, finish, text_hash
from evenhand.records.log import payload_hash, seed_from
from evenhand.records.record import assignment_from, decision_record, parse, text_of
from evenhand.web.jobs import compute
from evenhand.web.verify import verify_all
from tests.web.desk import Desk, audited, bundle_of, rate_all
from tests.web.world import FORM

Events = list[dict[str, Any]]
Files = dict[str, bytes]
Edit = Callable[[Events, Files], object]
VALUE = "drand round 12345, in hex"

pytestmark = pytest.mark.usefixtures("no_reports")


@pytest.fixture(scope="module")
def database(desk: Desk, no_reports: None, tmp_path_factory: Any) -> Path:  # noqa: ARG001 - while it runs
    """A database with a published evaluation, beside its bundle and a receipt."""
    folder: Path = tmp_path_factory.mktemp("forged")
    slug = desk.sealed()
    *_, last = desk.finish(slug, most=7).values()
    (folder / "mine.json").write_bytes(last)
    bundle_of(desk, slug, folder)
    assert desk.served.store.path is not None
    with (
        closing(sqlite3.connect(desk.served.store.path)) as source,
        closing(sqlite3.connect(folder / "e.db")) as copy,
    ):
        source.backup(copy)
    return folder / "e.db"


@pytest.fixture(scope="module")
def ran(database: Path) -> Files:
    return unzip(database.with_name("bundle.zip"))


@pytest.fixture(scope="module")
def compared(desk: Desk, no_reports: None, tmp_path_factory: Any) -> Files:  # noqa: ARG001 - while it runs
    """The files of an evaluation of two items."""
    two = {"items": "t1, One\nt2, Two", "per_reviewer": "1", "reserves": ""}
    slug = desk.sealed(job="compare", **two)
    desk.finish(slug, 1)
    return unzip(bundle_of(desk, slug, tmp_path_factory.mktemp("compared")))


@pytest.fixture(scope="module")
def valued(desk: Desk, no_reports: None, tmp_path_factory: Any) -> Files:  # noqa: ARG001 - while it runs
    """The files of an evaluation for which a public value was named at sealing."""
    slug = desk.sealed(public_value=f"  {VALUE} ")
    assert VALUE in desk.guest().get(f"/p/{slug}").text
    for link in desk.links(slug).values():
        rate_all(desk.guest(), link)
    desk.refuse(f"/e/{slug}/value", 409, value="1")
    desk.do(slug, "close")
    for early in ("look", "jobs/decision"):
        desk.refuse(f"/e/{slug}/{early}", 409, f"the public value first: {VALUE}.")
    desk.refuse(f"/e/{slug}/value", 422, "The value must have digits", value="<b>")
    desk.do(slug, "value", value=" 0A 1b")
    desk.refuse(f"/e/{slug}/value", 409, value="2")
    desk.do(slug, "jobs/decision")
    assert "public value 0a1b" in desk.wait(slug)
    desk.refuse(f"/e/{slug}/value", 409, value="2")
    desk.do(slug, "publish", ratings="yes")
    return unzip(bundle_of(desk, slug, tmp_path_factory.mktemp("valued")))


def unzip(path: Path) -> Files:
    return read_bundle(path.read_bytes(), "bundle")


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
    rows, _ = collect(events, bodies, drawn, keep_unfinished=lists["keep_unfinished"])
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


def forge(good: Files, edit: Edit, path: Path) -> Path:
    """Change events and files, and make all hashes fit again."""
    made = ("manifest.json", "log.jsonl")
    files = {name: body for name, body in good.items() if name not in made}
    events = [json.loads(line) for line in good["log.jsonl"].splitlines()]
    rows = map(json.loads, files.get("payloads.jsonl", b"").splitlines())
    private = {row["n"]: row for row in rows}
    for n, event in enumerate(events, start=1):
        event["private"] = private.get(n)
    edit(events, files)
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


def last_rated(events: Events) -> dict[str, Any]:
    return [event for event in events if event["kind"] == "rated"][-1]


def keep(_events: Events, _files: Files) -> None:
    """Change nothing."""


def anew(edit: Edit = keep, **options: object) -> Edit:
    """Change something, then collect and decide by the new log."""

    def both(events: Events, files: Files) -> None:
        edit(events, files)
        decide(events, files, **options)

    return both


def body(kind: str, **fields: object) -> Edit:
    """Put fields into what is private of the first event of a kind."""
    return lambda events, _: first(events, kind)["private"]["body"].update(fields)


def line(kind: str, **fields: object) -> Edit:
    """Put fields beside those that a line of the log has."""
    return lambda events, _: first(events, kind).update(fields)


def says(kind: str, **fields: object) -> Edit:
    """Let the log say something else of an event; ... takes a field away."""

    def edit(events: Events, _: Files) -> None:
        event = first(events, kind)
        event["says"] = given({**event.get("says", {}), **fields})

    return edit


def given(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not ...}


def insert(before: str, **fields: object) -> Edit:
    """Put an event before another one, like it but for some fields."""

    def edit(events: Events, _: Files) -> None:
        place = events.index(first(events, before))
        events.insert(place, given({**events[place], **fields}))

    return edit


def add(kind: object, **fields: object) -> Edit:
    return insert("published", kind=kind, says=..., **fields)


def without(*kinds: str) -> Edit:
    def edit(events: Events, _: Files) -> None:
        events[:] = [event for event in events if event["kind"] not in kinds]

    return edit


def file(name: str, body: bytes) -> Edit:
    return lambda _, files: files.update({name: body})


def finish_again(name: str, **fields: Any) -> Edit:
    """Put fields into a record, with hashes that fit."""

    def edit(_: Events, files: Files) -> None:
        record = finish({**contents(json.loads(files[name])), **fields})
        files[name] = f"{canonical(record)}\n".encode()

    return edit


def log_twice(events: Events, _: Files) -> None:
    """Use a score that is not the logged one, which follows as another row."""
    private = first(events, "rated")["private"]
    private["logged"] = private["body"]
    private["body"] = {**private["body"], "score": 100.0 - private["body"]["score"]}


def turn_round(events: Events, _: Files) -> None:
    """Turn all ratings round after the close, when scores were seen."""
    place = events.index(first(events, "decided"))
    # Times are minutes: those of the ratings may be over.
    late = {"at": events[place]["at"]}
    turned = []
    for event in [event for event in events if event["kind"] == "rated"]:
        scored = event["private"]["body"]
        other = {**scored, "score": 100.0 - scored["score"], "version": 2}
        private = {**event["private"], "body": other}
        turned.append({**event, **late, "private": private})
    events[place:place] = turned


def leave_undecided(events: Events, files: Files) -> None:
    del files["decision-1.json"], files["report-1.html"]
    without("decided")(events, files)


def go_on(events: Events, _: Files) -> None:
    events.append(given({**events[-1], "kind": "new link", "says": ...}))


def salt(text: str) -> Edit:
    return lambda events, _: last_rated(events)["private"].update(salt=text)


def extend(closes_at: str) -> Edit:
    return insert("closed", kind="extended", says={"closes_at": closes_at})


FORGED: dict[str, tuple[Edit, str]] = {
    "late": (anew(turn_round), '"rated" cannot be while the evaluation is closed.'),
    "logged twice": (anew(log_twice), "belongs to no event, or to one that has anot"),
    "not on the scale": (anew(body("rated", score=1e6)), "1000000.0 is not on the sca"),
    "between steps": (anew(body("rated", score=31.05)), "31.05 is not on the scale"),
    "never began": (anew(without("begun")), "The reviewer had not begun."),
    "never opened": (anew(without("opened")), "while the evaluation is sealed."),
    "never looked": (anew(without("looked")), "Nobody had looked at scores."),
    "never sealed": (without("sealed", "closed"), "anything was sealed"),
    "other counts": (
        anew(says("closed", never_began=99)),
        'It says 99 for "never_began"; the log has 1.',
    ),
    "other top": (anew(top=2), "parameters.top: expected 3, found 2"),
    "other method": (anew(method="mean"), "other options than were sealed"),
    "ties allowed": (anew(distinct=False), "other options than were sealed"),
    "another decision": (file("decision-2.json", b"{}"), "names.decision-2.json"),
    "another file": (file("winner.html", b"t1"), "tells of other files"),
    "no decision": (leave_undecided, "while the evaluation is closed."),
    "nonsense": (add("nonsense"), 'no such kind as "nonsense"'),
    "a list": (add([1]), "no such kind as [1]"),
    "back in time": (add("new link", at="1999-01-01T00:00Z"), "earlier than the event"),
    "no time": (add("new link", at="1999"), '"at" cannot be "1999"'),
    "after the end": (go_on, "while the evaluation is published."),
    "a text": (body("rated", score="abc"), 'A score must be a number, got "abc".'),
    "a truth": (body("rated", score=True), "A score must be a number, got true."),
    "nothing": (body("rated", score=None), "A score must be a number, got null."),
    "one more field": (anew(says("closed", nonce=7)), 'must not have "says.nonce".'),
    "one less": (anew(says("closed", begun=...)), 'It lacks "says.begun".'),
    "of another type": (anew(says("sealed", draw="1")), '"says.draw" cannot be "1"'),
    "said for nothing": (anew(says("opened", by="me")), 'It must not have "says".'),
    "beside the line": (anew(line("closed", note="x")), 'It must not have "note".'),
    "no such minute": (anew(line("closed", at="2036-19-39T29:59Z")), '"at" cannot be'),
    "other digits": (anew(line("closed", at="٢٠٣٦-01-01T00:00Z")), '"at" cannot be'),
    "any deadline": (anew(extend("anything 123")), '"says.closes_at" cannot be'),
    "a deadline of ours": (anew(extend("2036-01-01")), '"says.closes_at" cannot be'),
    "a salt of words": (anew(salt("my own salt")), '"salt" cannot be "my own salt"'),
    "a salt in capitals": (anew(salt("AB" * 32)), '"salt" cannot be'),
    "more private": (anew(body("begun", note=1)), 'It must not have "body.note".'),
    "a nonce of words": (
        anew(says("rated", nonce="mine")),
        '"says.nonce" cannot be "mine"',
    ),
    "other people": (anew(says("absent", reviewers=4)), "another number of reviewers"),
    # A seed that somebody liked, as if it were that of the log.
    "another seed": (anew(seed=7), "Another seed was used."),
    "another read me": (
        file("README.txt", b"The winner is t2.\n"),
        'README.txt[0]: expected "Autumn talks", found "The winner is t2."',
    ),
    "more in the seal": (finish_again("seal.json", winner="t2"), "seal.json.winner"),
    "more in the secret": (finish_again("secret.json", x=1), "secret.json.x"),
    "a value that nobody named": (
        anew(insert("looked", kind="valued", says={"value": "7"})),
        "no public value",
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_what_the_app_never_allows_is_found(
    ran: Files, name: str, tmp_path: Path
) -> None:
    edit, sentence = FORGED[name]
    code, text = audited(forge(ran, edit, tmp_path / "forged.zip"))
    assert code in (1, 2), text
    assert code == 1 or "anything was sealed" in text
    assert sentence in text


def decide_by(sealed: str, used: str, left_out: tuple[str, ...] = ()) -> Edit:
    """Seal one method, and decide by another of the same name."""

    def edit(events: Events, files: Files) -> None:
        finish_again("lists.json", method=sealed)(events, files)
        lists = json.loads(files["lists.json"])
        first(events, "sealed")["says"]["lists_sha256"] = lists["sha256"]
        decide(events, files, method=used)
        first(events, "decided")["says"]["method"] = sealed
        for name in left_out:
            del files[name]

    return edit


OPTIONS = {
    "guarded(eps=1)": "parameters.eps: expected 0.1, found 1.0",
    "guarded(statistic=median(lower))": "parameters.statistic: expected",
    "guarded(weight=linear(1000))": "parameters.weight.name: expected",
    "votes(weight=linear(1000))": "parameters.weight.name: expected",
    "safe(noise=1000)": "parameters.noise: expected 0.3, found 1000.0",
    "safe(anchored=false)": "parameters.anchored: expected true, found false",
}


@pytest.mark.parametrize(
    "left_out", [(), ("ratings.csv", "payloads.jsonl", "report-1.html")]
)
@pytest.mark.parametrize("used", OPTIONS)
def test_other_options_of_the_sealed_method_are_found(
    ran: Files, compared: Files, used: str, left_out: tuple[str, ...], tmp_path: Path
) -> None:
    sealed = used.partition("(")[0]
    good = ran if sealed == "safe" else compared
    edit = decide_by(sealed, used, left_out)
    code, text = audited(forge(good, edit, tmp_path / "forged.zip"))
    assert code == 1, text
    assert OPTIONS[used] in text


def move(events: Events, files: Files) -> None:
    """Write all that an organiser may write, as they please: times, salts, events."""
    place = events.index(first(events, "closed"))
    for event in events:
        event["at"] = f"2036{event['at'][4:]}"
        if event.get("private"):
            event["private"]["salt"] = text_hash(str(event["n"]))
    plain = {key: events[place][key] for key in ("schema", "at", "prev", "private")}
    idle = [{**plain, "kind": kind} for kind in ("paused", "resumed", "new link") * 2]
    later = {"closes_at": "2036-12-24T18:00:00.000000+00:00"}
    events[place:place] = [*idle, {**plain, "kind": "extended", "says": later}]
    decide(events, files)


LINEAR = "votes(weight=linear(1000))"
HONEST: dict[str, tuple[str, Edit]] = {
    # What forges here must not be what is found.
    "unchanged": ("ran", anew()),
    "another method": ("ran", decide_by("safe", "safe")),
    "of two items": ("compared", decide_by("guarded", "guarded")),
    "with an option": ("compared", decide_by(LINEAR, LINEAR)),
    "with a public value": ("valued", keep),
    "moved": ("ran", move),
}


@pytest.mark.parametrize("name", HONEST)
def test_what_the_app_allows_passes_and_moves_no_seed(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    fixture, edit = HONEST[name]
    good = request.getfixturevalue(fixture)
    path = forge(good, edit, tmp_path / "forged.zip")
    code, text = audited(path)
    assert code == 0, text
    before, after = (
        json.loads(files["decision-1.json"])["result"] for files in (good, unzip(path))
    )
    assert before["seed"] == after["seed"]
    if name == "moved":
        assert before["items"] == after["items"]
    if name == "with a public value":
        assert f'0a1b was put in for "{VALUE}". It is not checked here: comp' in text


def swap(events: Events, files: Files) -> None:
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


def record_seal(files: Files) -> str:
    return str(json.loads(files["seal.json"])["seal"])


def test_items_in_another_order_are_found(compared: Files, tmp_path: Path) -> None:
    code, text = audited(forge(compared, swap, tmp_path / "forged.zip"))
    assert code == 1, text
    assert "result.items[0]" in text


def lack(place: int, field: str) -> Edit:
    return lambda events, _: events[place].pop(field)


JUNK: dict[str, Edit] = {
    "seal": file("seal.json", b"{}"),
    "secret": file("secret.json", b"[1]"),
    "lists": file("lists.json", b"null"),
    "assignment": file("assignment.json", b'{"a":1}'),
    "decision": file("decision-1.json", b"\xff"),
    "ratings": file("ratings.csv", b"\xff\xfe"),
    **{
        f"event {place} without {field}": lack(place, field)
        for place in (0, 1, 3, 8, -4, -2, -1)
        for field in ("kind", "at")
    },
    **{
        f"rating of a wrong {field}": body("rated", **{field: ["x"]})
        for field in ("reviewer", "item", "score", "version")
    },
}
PYTHONS = ("out of range", "object is not", "has no attribute", "Error", "Traceback")


@pytest.mark.parametrize("name", JUNK)
def test_junk_is_refused_in_a_sentence(ran: Files, name: str, tmp_path: Path) -> None:
    code, text = audited(forge(ran, JUNK[name], tmp_path / "forged.zip"))
    assert code == 1 or (code == 2 and "rating of" not in name), text
    assert not any(part in text for part in PYTHONS), text


TORN = {
    "ratings.csv": (b",81\n", b",80\n"),
    "lists.json": (b'"top":3', b'"top":2'),
    "payloads.jsonl": (b'"score":81', b'"score":80'),
    "log.jsonl": (b'"kind":"begun"', b'"kind":"tired"'),
    "report-1.html": (b"A report", b"B report"),
}


@pytest.mark.parametrize("name", TORN)
def test_a_file_that_does_not_fit_the_log_is_found(
    ran: Files, name: str, tmp_path: Path
) -> None:
    """Somebody changes a file and only makes the manifest fit again."""
    files = dict(ran)
    head = json.loads(files.pop("manifest.json"))["head"]
    old, new = TORN[name]
    assert old in files[name]
    files[name] = files[name].replace(old, new, 1)
    path = tmp_path / "forged.zip"
    path.write_bytes(write_bundle(files, head))
    assert audited(path)[0] in (1, 2)


def test_a_bundle_without_a_log_is_refused(ran: Files, tmp_path: Path) -> None:
    made = ("manifest.json", "log.jsonl")
    files = {name: body for name, body in ran.items() if name not in made}
    path = tmp_path / "forged.zip"
    for more in ({}, {"log.jsonl": b""}):
        path.write_bytes(write_bundle({**files, **more}, "0" * 64))
        code, text = audited(path)
        assert code == 2
        assert "log.jsonl is missing or empty." in text


def test_a_draw_that_was_repaired_and_dropped_passes(tmp_path: Path) -> None:
    desk = Desk(str(tmp_path / "e.db"))
    slug = desk.sealed(title="Again")
    desk.do(slug, "reviewers/1/reserve", "unseal")
    again = {**FORM, "title": "Again"}
    assert desk.post("/e", does="seal", slug=slug, **again).status_code == 303
    desk.finish(slug)
    code, text = audited(bundle_of(desk, slug, tmp_path))
    desk.close()
    assert code == 0, text
    assert faults(tmp_path / "e.db") == []


def faults(path: Path) -> list[str]:
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        found = verify_all(connection)
    engine.dispose()
    return found


def put_late(events: Events, _: Files) -> None:
    event = first(events, "valued")
    events.remove(event)
    events.insert(events.index(first(events, "looked")) + 1, event)


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (says("valued", value="0a1c"), "Another seed was used."),
        (anew(without("valued")), "public value"),
        (anew(put_late), "public value"),
        (anew(insert("valued", says={"value": "7"})), "public value"),
    ],
)
def test_a_public_value_enters_the_seed_once_and_before_a_look(
    valued: Files, edit: Edit, sentence: str, tmp_path: Path
) -> None:
    code, text = audited(forge(valued, edit, tmp_path / "forged.zip"))
    assert code == 1, text
    assert sentence in text


def draw_nonce(events: Events, _: Files) -> None:
    """Grind what the device of a reviewer drew, which changes the seed."""
    last_rated(events)["says"] = {"nonce": "0" * 32}


@pytest.mark.parametrize("edit", [draw_nonce, body("rated", score=50.0)])
def test_only_a_receipt_shows_what_write_access_can_still_do(
    database: Path, ran: Files, edit: Edit, tmp_path: Path
) -> None:
    """A changed nonce or rating has hashes that fit; who kept a receipt sees it."""
    kept = database.with_name("mine.json")
    honest = forge(ran, keep, tmp_path / "honest.zip")
    code, text = audited(honest, "--receipts", kept)
    assert code == 0, text
    assert "ok      receipts: 3 receipts that you kept, each in the log as" in text
    forged = forge(ran, anew(edit), tmp_path / "forged.zip")
    code, text = audited(forged)
    assert code == 0, text
    assert "--      receipts: That each nonce is its reviewer's own" in text
    code, text = audited(forged, "--receipts", kept)
    assert code == 1, text
    assert "The log has something else than this receipt." in text


CHANGES = {
    "UPDATE task SET score = 99 WHERE state = 'rated'": "task ",
    "UPDATE submission SET score = 99 WHERE n = 5": "event 5",
    "UPDATE payload SET body = '{}' WHERE n = 5": "event 5",
    "UPDATE evaluation SET head_hash = first_seal": "head",
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
def test_a_changed_table_is_found(database: Path, change: str, tmp_path: Path) -> None:
    path = tmp_path / "e.db"
    shutil.copy(database, path)
    assert faults(path) == []
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(change)
        connection.commit()
    assert any(CHANGES[change] in fault for fault in faults(path)), faults(path)
