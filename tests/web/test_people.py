"""Which person is which code: bound at sealing, and told to nobody."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from evenhand.designs.drawing import redraw
from evenhand.records.bundle import write_bundle
from evenhand.records.canonical import canonical, finish, text_hash
from evenhand.records.people import (
    draw_secret,
    people_hashes,
    person_hash,
    salt_of,
    secret_of,
)
from evenhand.records.record import assignment_from, parse, text_of
from tests.commands import run
from tests.web.desk import Desk, audited, bundle_of
from tests.web.test_forged import faults, first, forge, unzip
from tests.web.world import FORM

PEERS = 20
NAMES = [f"Student {n:02}" for n in range(1, PEERS + 1)]
PEER = {
    "title": "Essays",
    "items": "\n".join(f"t{n}, Essay of {name}" for n, name in enumerate(NAMES, 1)),
    "reviewers": "\n".join(NAMES),
    "reserves": "",
    "high": "1000",
    "conflicts": "\n".join(f"{name}, t{n}" for n, name in enumerate(NAMES, 1)),
}

pytestmark = pytest.mark.usefixtures("no_reports")


@dataclass
class Finished:
    """A published evaluation in a folder, and what people kept of it."""

    desk: Desk
    slug: str
    folder: Path
    kept: dict[str, bytes]

    def __post_init__(self) -> None:
        self.db = self.folder / "e.db"
        self.bundle = bundle_of(self.desk, self.slug, self.folder)
        names = self.desk.client.get(f"/e/{self.slug}/names.json")
        self.names = self.save("names.json", names.content)

    def save(self, name: str, body: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(body)
        return path

    def receipt(self, of: str, /, **fields: object) -> tuple[str, Path]:
        """Return an option with what somebody kept, maybe changed."""
        own = {**json.loads(self.kept[of]), **fields}
        return "--receipts", self.save("mine.json", json.dumps(own).encode())


@pytest.fixture(scope="module")
def repaired(no_reports: None, tmp_path_factory: Any) -> Iterator[Finished]:  # noqa: ARG001 - while it runs
    """Conflicts, a reserve and a substitute, Sue."""
    folder = tmp_path_factory.mktemp("repaired")
    desk = Desk(str(folder / "e.db"))
    slug = desk.sealed(conflicts="Person 1, t1\nPerson 2, t5")
    desk.do(slug, "reviewers/3/reserve")
    desk.do(slug, "reviewers/4/substitute", name="Sue", email="")
    yield Finished(desk, slug, folder, desk.finish(slug))
    desk.close()


@pytest.fixture(scope="module")
def plain(no_reports: None, tmp_path_factory: Any) -> Iterator[Finished]:  # noqa: ARG001 - while it runs
    """Nothing special; the seal was noted before the lists were fixed."""
    folder = tmp_path_factory.mktemp("plain")
    desk = Desk(str(folder / "e.db"))
    draft = desk.post("/e", does="save", title="Talks")
    slug = draft.headers["location"].split("/")[2]
    page = desk.client.get(f"/e/{slug}/edit").text
    seal = re.search(r"<code>([0-9a-f]{64})</code>", page)
    assert seal is not None
    (folder / "seal.txt").write_text(seal[1])
    assert desk.post("/e", does="seal", slug=slug, **FORM).status_code == 303
    yield Finished(desk, slug, folder, desk.finish(slug))
    desk.close()


def check(status: int, sentence: str, *words: object) -> None:
    """Audit; the status is as said, and the sentence is there."""
    code, text = audited(*words)
    assert code == status, text
    assert sentence in text
    assert "Traceback" not in text


def verified(path: Path) -> int:
    return run("serve", "--db", str(path), "verify").exit_code


def change_rows(db: Path, change: str, *rows: tuple[object, ...]) -> None:
    with closing(sqlite3.connect(db)) as raw:
        raw.executemany(change, rows or [()])
        raw.commit()


def test_an_honest_run_passes_for_everybody(repaired: Finished) -> None:
    assert {"Sue", "Person 1"} < set(repaired.kept)
    bundle, names = repaired.bundle, ("--names", repaired.names)
    check(0, "drawn with conflicts, which are not published", bundle)
    check(0, "11 persons: names, codes and conflicts as sealed.", bundle, *names)
    check(0, "assignment: The seed draws this assignment again.", bundle, *names)
    for name, count in {"Sue": 0, "Person 1": 1, "Person 5": 0}.items():
        code = json.loads(repaired.kept[name])["code"]
        sentence = f"{name} is {code}, with {count} con"
        check(0, sentence, bundle, *repaired.receipt(name))
    assert verified(repaired.db) == 0


def test_people_who_change_places_in_the_database_are_found(tmp_path: Path) -> None:
    """The seal was honest; whoever has the file chooses who is lenient to what."""
    db = tmp_path / "e.db"
    desk = Desk(str(db))
    slug = desk.sealed(begin="later")
    swap = "UPDATE reviewer SET name = ? WHERE id = ?"
    change_rows(db, swap, ("x", 1), ("Person 1", 2), ("Person 2", 1))
    assert verified(db) == 1
    desk.do(slug, "open")
    done = Finished(desk, slug, tmp_path, desk.finish(slug))
    desk.close()
    for name in ("Person 1", "Person 2"):
        check(1, f"{name} is not whom", done.bundle, *done.receipt(name))
    sentence = "The key gives these names other codes."
    check(1, sentence, done.bundle, "--names", done.names)
    check(0, "Person 3 is", done.bundle, *done.receipt("Person 3"))


CHANGES = {
    "UPDATE reviewer SET name = 'Max' WHERE id = 1": " is not the person",
    'UPDATE private SET conflicts = \'[["R01", "t1"]]\'': "R01 is not the person",
    "UPDATE private SET key = hex(zeroblob(32))": "the key of draw 1 does not match",
    "DELETE FROM private": "the codes are not those",
    "UPDATE reviewer SET name = 'Max' WHERE name = 'Sue'": "R11 is not the person",
}


@pytest.mark.parametrize("change", CHANGES)
def test_verify_finds_other_names_conflicts_and_keys(
    repaired: Finished, change: str, tmp_path: Path
) -> None:
    db = tmp_path / "e.db"
    with (
        closing(sqlite3.connect(repaired.db)) as source,
        closing(sqlite3.connect(db)) as copy,
    ):
        source.backup(copy)
    shutil.copyfile(f"{repaired.db}.key", f"{db}.key")
    change_rows(db, change)
    assert any(CHANGES[change] in fault for fault in faults(db)), faults(db)
    assert verified(db) == 1


def swap_codes(bundle: Path, names: Path, key: str) -> Path:
    """Give two people each other's codes in lists and log; all hashes fit."""
    files = unzip(bundle)
    lists = json.loads(files["lists.json"])
    rows = json.loads(names.read_bytes())["people"]
    rows[0][0], rows[1][0] = rows[1][0], rows[0][0]
    lists["people"] = people_hashes(key, rows)
    fixed = finish({k: lists[k] for k in lists if k not in ("hashes", "sha256")})
    files["lists.json"] = text_of(fixed).encode()
    lines, head = [], ""
    for line in files["log.jsonl"].splitlines():
        event = json.loads(line) | ({"prev": head} if head else {})
        if event["kind"] == "sealed":
            event["says"]["lists_sha256"] = fixed["sha256"]
        if event["kind"] == "published":
            body = files["lists.json"]
            event["says"]["files"]["lists.json"] = hashlib.sha256(body).hexdigest()
        lines.append(canonical(event))
        head = text_hash(lines[-1])
    files["log.jsonl"] = "".join(f"{line}\n" for line in lines).encode()
    del files["manifest.json"]
    path = bundle.with_name("forged.zip")
    path.write_bytes(write_bundle(files, head))
    people = {"schema": "evenhand.names/1", "key": key, "people": rows}
    path.with_name("forged.json").write_text(json.dumps(people))
    return path


@pytest.mark.parametrize("other", ["", "1" * 64])
def test_codes_that_were_chosen_before_the_sealing_are_found(
    plain: Finished, other: str
) -> None:
    """With a whole other log, who has the key and the names sees it."""
    key = other or json.loads(plain.names.read_bytes())["key"]
    path = swap_codes(plain.bundle, plain.names, key)
    sentence = "The key is not the one" if other else "gives these names other codes"
    check(1, sentence, path, "--names", path.with_name("forged.json"))


def guess_names(files: dict[str, bytes]) -> dict[str, str]:
    """Attack as nobody, who knows the class: find out who each code is."""
    lists = json.loads(files["lists.json"])
    record = json.loads(files["assignment.json"])
    owners = {f"t{n}": name for n, name in enumerate(NAMES, start=1)}
    pairs = [*lists.get("conflicts", []), *record["conflicts"]]
    names = {code: owners[item] for code, item in pairs}
    for key in (json.loads(files["secret.json"])["secret"], record["seal"], "0" * 64):
        for (label, name), code in itertools.product(owners.items(), lists["people"]):
            for salt, own in itertools.product(
                (key, salt_of(key, name)), ([], [label])
            ):
                if lists["people"][code] == person_hash(salt, code, name, own):
                    names[code] = name
    return names


def test_a_published_bundle_resolves_no_code_of_many_peers(tmp_path: Path) -> None:
    desk = Desk(str(tmp_path / "e.db"))
    slug = desk.sealed(**PEER)
    done = Finished(desk, slug, tmp_path, desk.finish(slug))
    files = unzip(done.bundle)
    record = json.loads(files["assignment.json"])
    assert (record["conflicts"], record["conflicts_hidden"]) == ([], True)
    assert guess_names(files) == {}
    codes = json.loads(files["lists.json"])["people"]
    rows = {
        code: {item for who, item in record["rows"] if who == code} for code in codes
    }
    # Nobody has their own work, and each code could be of any of 17 people.
    people = json.loads(done.names.read_bytes())["people"]
    assert all(not rows[code] & set(own) for code, _, own in people)
    assert {PEERS - len(own) for own in rows.values()} == {PEERS - 3}
    check(0, "names, codes and conflicts as", done.bundle, "--names", done.names)
    check(0, "Student 07 is", done.bundle, *done.receipt("Student 07"))
    # A reviewer who was not kept from their own work would see it.
    check(1, "", done.bundle, *done.receipt("Student 07", conflicts=[]))
    desk.do(slug, "purge", title="Essays")
    after = unzip(bundle_of(desk, slug, tmp_path))
    desk.close()
    assert guess_names(after) == {}
    assert not {"ratings.csv", "payloads.jsonl", "report-1.html"} & set(after)


def test_the_published_secret_does_not_help_to_guess_conflicts(desk: Desk) -> None:
    """In a class of five, all derangements can be tried.

    Another seed draws the same lists once in some hundred times, so of five classes
    all would be resolved once in more than 1e9 runs.
    """
    resolved = [resolved_by_secret(desk) for _ in range(5)]
    assert not all(resolved)


def resolved_by_secret(desk: Desk) -> bool:
    """Say whether the published secret fits the true conflicts of a class."""
    five = [f"P{n}" for n in range(1, 6)]
    desk.sealed(
        items="\n".join(f"t{n}, T" for n in range(1, 6)),
        reviewers="\n".join(five),
        reserves="",
        conflicts="\n".join(f"{name}, t{n}" for n, name in enumerate(five, start=1)),
        per_reviewer="2",
        top="2",
    )
    with desk.served.store.read() as connection:
        (text, secret, key, private), *_ = connection.exec_driver_sql(
            "SELECT record, secret, key, private.conflicts FROM draw "
            "JOIN secret USING (evaluation_id) JOIN private USING (evaluation_id) "
            "ORDER BY evaluation_id DESC"
        )
    assert secret == secret_of(key)
    conflicts = [tuple(pair) for pair in json.loads(private)]
    record = parse(text.encode(), "record")
    assignment = assignment_from(record, "record", None, conflicts)

    def fits(seed: str) -> bool:
        return redraw(assignment, seed).rows == assignment.rows

    assert fits(draw_secret(key, has_conflicts=True))
    return fits(secret)


def test_what_was_published_can_be_taken_back_and_purged(tmp_path: Path) -> None:
    desk = Desk(str(tmp_path / "e.db"))
    slug = desk.sealed()
    desk.finish(slug)
    guest = desk.guest()
    assert "Take it back" in desk.client.get(f"/e/{slug}").text
    desk.do(slug, "withdraw")
    assert "published and taken back" in guest.get(f"/p/{slug}").text
    for name in ("bundle.zip", "ratings.csv", "log.jsonl"):
        assert guest.get(f"/p/{slug}/{name}").status_code == 404
    assert verified(tmp_path / "e.db") == 0
    sentence = "you cannot take back what is published"
    desk.refuse(f"/e/{slug}/withdraw", 409, sentence)
    # Published again, the log tells all three.
    desk.do(slug, "publish", ratings="yes")
    bundle = bundle_of(desk, slug, tmp_path)
    events = map(json.loads, unzip(bundle)["log.jsonl"].splitlines())
    kinds = [event["kind"] for event in events]
    assert kinds[-3:] == ["published", "withdrawn", "published"]
    check(0, "", bundle)
    # A purge takes single ratings out of what is published.
    desk.do(slug, "purge", title="Autumn talks")
    assert guest.get(f"/p/{slug}/ratings.csv").status_code == 404
    sentence = "draw: assignment: The seed draws this assignment again."
    check(0, sentence, bundle_of(desk, slug, tmp_path))
    desk.close()
    assert verified(tmp_path / "e.db") == 0
    with closing(sqlite3.connect(tmp_path / "e.db")) as raw:
        assert raw.execute("SELECT count(*) FROM private").fetchone() == (0,)


def test_without_the_ratings_no_file_tells_one(tmp_path: Path) -> None:
    desk = Desk(str(tmp_path / "e.db"))
    slug = desk.sealed()
    desk.finish(slug, most=7)
    desk.do(slug, "publish")
    assert "report-1.html" not in desk.guest().get(f"/p/{slug}").text
    bundle = bundle_of(desk, slug, tmp_path)
    desk.close()
    assert not {"ratings.csv", "payloads.jsonl", "report-1.html"} & {*unzip(bundle)}
    check(0, "ratings: The ratings were not published.", bundle)
    check(0, "No decision was replayed", bundle)


def test_a_bundle_of_another_version_is_refused_in_words(plain: Finished) -> None:
    with mock.patch("evenhand.records.bundle.LISTS_SCHEMA", "evenhand.lists/3"):
        check(2, "lists.json: Another version of evenhand wrote it.", plain.bundle)
    sentence = "must be a file of kind evenhand.receipts/1"
    check(2, sentence, plain.bundle, "--receipts", plain.names)
    sentence = "--names must come with a bundle, a file that ends in .zip."
    check(2, sentence, "x.json", "--names", plain.names)
    check(2, "", plain.bundle, "x.csv")


JUNK: tuple[dict[str, object], ...] = (
    {},
    {"key": "x", "people": []},
    {"key": "00", "people": 5},
    {"key": "0" * 64, "people": [["R01"]]},
    {"code": [], "name": 1, "salt": None, "conflicts": 3, "sent": 4},
    {"code": "R01", "name": "x", "salt": "", "conflicts": [], "sent": [5]},
    {"schema": None, "sent": [{}]},
)


def test_junk_in_the_files_of_people_is_refused_in_words(plain: Finished) -> None:
    path = plain.folder / "junk.json"
    for kind, junk in itertools.product(("names", "receipts"), JUNK):
        path.write_text(json.dumps({"schema": f"evenhand.{kind}/1", **junk}))
        code, text = audited(plain.bundle, f"--{kind}", path)
        assert code in (1, 2), text
        assert "Traceback" not in text
    for kind, text in itertools.product(("names", "receipts"), ("{", "[]", "x")):
        path.write_text(text)
        check(2, "", plain.bundle, f"--{kind}", path)


def test_a_substitute_cannot_take_a_code_that_was_sealed(repaired: Finished) -> None:
    code = json.loads(repaired.kept["Person 1"])["code"]

    def name_again(events: list[dict[str, Any]], _: object) -> None:
        new = {code: person_hash("00", code, "Max", [])}
        first(events, "substitute")["says"]["people"] |= new

    path = repaired.folder / "forged.zip"
    forge(unzip(repaired.bundle), name_again, path)
    receipt = repaired.receipt("Person 1", name="Max", salt="00", conflicts=[])
    check(1, "Max is not whom", path, *receipt)


def test_a_seal_that_was_noted_before_the_lists_were_fixed_is_compared(
    plain: Finished,
) -> None:
    seal = plain.folder / "seal.txt"
    check(0, "it is the one that you noted", plain.bundle, "--seal", seal)
    other = plain.save("other.txt", b"0" * 64)
    check(1, "You noted another one", plain.bundle, "--seal", other)


def test_ratings_under_another_code_are_found(plain: Finished) -> None:
    """The page names one code, and the log keeps what was sent by another."""
    sent = json.loads(plain.kept["Person 2"])["sent"]
    receipt = plain.receipt("Person 1", sent=sent)
    check(1, "What you sent stands under another code.", plain.bundle, *receipt)
