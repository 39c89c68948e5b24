"""Which person is which code: bound at sealing, and told to nobody."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from click.testing import CliRunner

from evenhand.cli import cli
from evenhand.designs.drawing import redraw
from evenhand.records.bundle import read_bundle, write_bundle
from evenhand.records.canonical import canonical, finish, text_hash
from evenhand.records.people import (
    draw_secret,
    people_hashes,
    person_hash,
    salt_of,
    secret_of,
)
from evenhand.records.record import assignment_from, parse, text_of
from evenhand.web import jobs
from tests.web.desk import Desk, bundle_of, rate_all, words
from tests.web.test_forged import faults, first, forge
from tests.web.world import FORM

PEERS = 40
NAMES = [f"Student {n:02}" for n in range(1, PEERS + 1)]
PEER = {
    "title": "Essays",
    "items": "\n".join(f"t{n}, Essay of {name}" for n, name in enumerate(NAMES, 1)),
    "reviewers": "\n".join(NAMES),
    "reserves": "",
    "high": "1000",
    "conflicts": "\n".join(f"{name}, t{n}" for n, name in enumerate(NAMES, 1)),
}


@pytest.fixture(autouse=True)
def _no_reports() -> Iterator[None]:
    """An audit does not look at the report, which takes longest to make."""
    with mock.patch.object(jobs, "_report", return_value="A report."):
        yield


def run_to_the_end(desk: Desk, slug: str) -> dict[str, bytes]:
    """Let everybody rate, decide and publish; return what each kept of their page."""
    guest, kept = desk.guest(), {}
    for name, link in desk.links(slug).items():
        rate_all(guest, link)
        kept[name] = guest.get(f"{link}/mine.json").content
    for path in ("close", "jobs/decision"):
        assert desk.post(f"/e/{slug}/{path}").status_code == 303
    desk.wait(slug)
    answer = desk.post(f"/e/{slug}/publish", ratings="yes")
    assert answer.status_code == 303, words(answer)
    return kept


def audited(*words: object) -> tuple[int, str]:
    found = CliRunner().invoke(cli, ["audit", *map(str, words)])
    assert found.exception is None or isinstance(found.exception, SystemExit)
    return found.exit_code, found.output


def verified(path: Path) -> int:
    return CliRunner().invoke(cli, ["serve", "--db", str(path), "verify"]).exit_code


def saved(folder: Path, name: str, body: bytes) -> Path:
    path = folder / name
    path.write_bytes(body)
    return path


def names_of(desk: Desk, slug: str, folder: Path) -> Path:
    answer = desk.client.get(f"/e/{slug}/names.json")
    assert answer.status_code == 200
    return saved(folder, "names.json", answer.content)


def relabel(db: Path, change: str, *rows: tuple[object, ...]) -> None:
    with closing(sqlite3.connect(db)) as raw:
        raw.executemany(change, rows or [()])
        raw.commit()


def test_an_honest_run_passes_for_everybody(tmp_path: Path) -> None:
    desk = Desk(str(tmp_path / "e.db"))
    slug = desk.sealed(conflicts="Person 1, t1\nPerson 2, t5")
    assert desk.post(f"/e/{slug}/reviewers/3/reserve").status_code == 303
    given = {"name": "Sue", "email": ""}
    assert desk.post(f"/e/{slug}/reviewers/4/substitute", **given).status_code == 303
    kept = run_to_the_end(desk, slug)
    assert {"Sue", "Person 1"} < set(kept)
    bundle = bundle_of(desk, slug, tmp_path)
    names = names_of(desk, slug, tmp_path)
    desk.close()
    code, told = audited(bundle)
    assert code == 0, told
    assert "-- " in told
    assert "drawn with conflicts, which are not published" in told
    code, told = audited(bundle, "--names", names)
    assert code == 0, told
    assert "11 persons: names, codes and conflicts as sealed." in told
    assert "assignment: The seed draws this assignment again." in told
    for name, count in {"Sue": 0, "Person 1": 1, "Person 5": 0}.items():
        own = saved(tmp_path, "mine.json", kept[name])
        code, told = audited(bundle, "--receipts", own)
        assert code == 0, told
        assert f"{name} is {json.loads(kept[name])['code']}, with {count} con" in told
    assert verified(tmp_path / "e.db") == 0


def test_people_who_change_places_in_the_database_are_found(tmp_path: Path) -> None:
    """The seal was honest; whoever has the file chooses who is lenient to what."""
    db = tmp_path / "e.db"
    desk = Desk(str(db))
    slug = desk.sealed(begin="later")
    swap = "UPDATE reviewer SET name = ? WHERE id = ?"
    relabel(db, swap, ("x", 1), ("Person 1", 2), ("Person 2", 1))
    assert verified(db) == 1
    assert desk.post(f"/e/{slug}/open").status_code == 303
    kept = run_to_the_end(desk, slug)
    bundle, names = bundle_of(desk, slug, tmp_path), names_of(desk, slug, tmp_path)
    desk.close()
    for name in ("Person 1", "Person 2"):
        code, told = audited(bundle, "--receipts", saved(tmp_path, "m", kept[name]))
        assert code == 1, told
        assert f"{name} is not whom" in told
    code, told = audited(bundle, "--names", names)
    assert code == 1
    assert "The key gives these names other codes." in told
    assert audited(bundle, "--receipts", saved(tmp_path, "m", kept["Person 3"]))[0] == 0


CHANGES = {
    "UPDATE reviewer SET name = 'Max' WHERE id = 1": " is not the person",
    'UPDATE private SET conflicts = \'[["R01", "t1"]]\'': "R01 is not the person",
    "UPDATE private SET key = hex(zeroblob(32))": "the key of draw 1 does not match",
    "DELETE FROM private": "the codes are not those",
    "UPDATE reviewer SET name = 'Max' WHERE name = 'Sue'": "R11 is not the person",
}


@pytest.mark.parametrize("change", CHANGES)
def test_verify_finds_other_names_conflicts_and_keys(
    change: str, tmp_path: Path
) -> None:
    db = tmp_path / "e.db"
    desk = Desk(str(db))
    slug = desk.sealed()
    given = {"name": "Sue", "email": ""}
    assert desk.post(f"/e/{slug}/reviewers/4/substitute", **given).status_code == 303
    desk.close()
    assert verified(db) == 0
    relabel(db, change)
    assert any(CHANGES[change] in fault for fault in faults(db)), faults(db)
    assert verified(db) == 1


def forged(bundle: Path, names: Path, key: str, swap: Sequence[int]) -> Path:
    """Give two people each other's codes in lists and log; all hashes fit."""
    files = read_bundle(bundle.read_bytes(), "bundle")
    lists = json.loads(files["lists.json"])
    rows = json.loads(names.read_bytes())["people"]
    one, two = swap
    rows[one][0], rows[two][0] = rows[two][0], rows[one][0]
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
    told = {"schema": "evenhand.names/1", "key": key, "people": rows}
    path.with_name("forged.json").write_text(json.dumps(told))
    return path


@pytest.mark.parametrize("other", ["", "1" * 64])
def test_codes_that_were_chosen_before_the_sealing_are_found(
    other: str, tmp_path: Path
) -> None:
    """With a whole other log, who has the key and the names sees it."""
    desk = Desk(str(tmp_path / "e.db"))
    slug = desk.sealed(reserves="")
    run_to_the_end(desk, slug)
    bundle, names = bundle_of(desk, slug, tmp_path), names_of(desk, slug, tmp_path)
    desk.close()
    key = other or json.loads(names.read_bytes())["key"]
    path = forged(bundle, names, key, (0, 1))
    code, told = audited(path, "--names", path.with_name("forged.json"))
    assert code == 1
    says = "The key is not the one" if other else "gives these names other codes"
    assert says in told


def guessed(files: dict[str, bytes]) -> dict[str, str]:
    """Attack as nobody, who knows the class: find out who each code is."""
    lists = json.loads(files["lists.json"])
    record = json.loads(files["assignment.json"])
    owners = {f"t{n}": name for n, name in enumerate(NAMES, start=1)}
    pairs = [*lists.get("conflicts", []), *record["conflicts"]]
    found = {code: owners[item] for code, item in pairs}
    for key in (json.loads(files["secret.json"])["secret"], record["seal"], "0" * 64):
        for (label, name), code in itertools.product(owners.items(), lists["people"]):
            for salt, own in itertools.product(
                (key, salt_of(key, name)), ([], [label])
            ):
                if lists["people"][code] == person_hash(salt, code, name, own):
                    found[code] = name
    return found


def test_a_published_bundle_resolves_no_code_of_forty_peers(tmp_path: Path) -> None:
    desk = Desk(str(tmp_path / "e.db"))
    slug = desk.sealed(**PEER)
    kept = run_to_the_end(desk, slug)
    bundle, names = bundle_of(desk, slug, tmp_path), names_of(desk, slug, tmp_path)
    files = read_bundle(bundle.read_bytes(), "bundle")
    record = json.loads(files["assignment.json"])
    assert (record["conflicts"], record["conflicts_hidden"]) == ([], True)
    assert guessed(files) == {}
    rows: dict[str, set[str]] = {
        code: set() for code in json.loads(files["lists.json"])["people"]
    }
    for code, item in record["rows"]:
        rows[code].add(item)
    # Nobody has their own work, and each code could be of any of 37 people.
    truth = {code: own for code, _, own in json.loads(names.read_bytes())["people"]}
    assert all(not rows[code] & set(own) for code, own in truth.items())
    assert {PEERS - len(own) for own in rows.values()} == {PEERS - 3}
    code, told = audited(bundle, "--names", names)
    assert code == 0, told
    own = saved(tmp_path, "mine.json", kept["Student 07"])
    assert audited(bundle, "--receipts", own)[0] == 0
    # A reviewer who was not kept from their own work would see it.
    lie = {**json.loads(kept["Student 07"]), "conflicts": []}
    code, told = audited(
        bundle, "--receipts", saved(tmp_path, "mine.json", json.dumps(lie).encode())
    )
    assert code == 1, told
    desk.post(f"/e/{slug}/purge", title="Essays")
    after = read_bundle(bundle_of(desk, slug, tmp_path).read_bytes(), "bundle")
    desk.close()
    assert guessed(after) == {}
    assert not {"ratings.csv", "payloads.jsonl", "report-1.html"} & set(after)


def test_the_published_secret_does_not_help_to_guess_conflicts(tmp_path: Path) -> None:
    """In a class of five, all derangements can be tried.

    Another seed draws the same lists once in some hundred times, so of five classes
    all would be resolved once in more than 1e9 runs.
    """
    resolved = [_resolved_by_secret(tmp_path / str(n)) for n in range(5)]
    assert not all(resolved)


def _resolved_by_secret(folder: Path) -> bool:
    """Say whether the published secret fits the true conflicts of a class."""
    folder.mkdir()
    five = [f"P{n}" for n in range(1, 6)]
    desk = Desk(str(folder / "e.db"))
    own = "\n".join(f"{name}, t{n}" for n, name in enumerate(five, start=1))
    desk.sealed(
        items="\n".join(f"t{n}, T" for n in range(1, 6)),
        reviewers="\n".join(five),
        reserves="",
        conflicts=own,
        per_reviewer="2",
        top="2",
    )
    with closing(sqlite3.connect(folder / "e.db")) as raw:
        text, secret, key, private = raw.execute(
            "SELECT record, secret, key, conflicts FROM draw, secret, private"
        ).fetchone()
    desk.close()
    assert secret == secret_of(key)
    record = parse(text.encode(), "record")
    truth = [tuple(pair) for pair in json.loads(private)]
    assignment = assignment_from(record, "record", None, truth)

    def fits(seed: str) -> bool:
        return redraw(assignment, seed).rows == assignment.rows

    assert fits(draw_secret(key, has_conflicts=True))
    return fits(secret)


def test_what_was_published_can_be_taken_back(tmp_path: Path) -> None:
    desk = Desk(str(tmp_path / "e.db"))
    slug = desk.sealed()
    run_to_the_end(desk, slug)
    guest = desk.guest()
    assert "Take it back" in desk.client.get(f"/e/{slug}").text
    assert desk.post(f"/e/{slug}/withdraw").status_code == 303
    assert "published and taken back" in guest.get(f"/p/{slug}").text
    for name in ("bundle.zip", "ratings.csv", "log.jsonl"):
        assert guest.get(f"/p/{slug}/{name}").status_code == 404
    assert verified(tmp_path / "e.db") == 0
    answer = desk.post(f"/e/{slug}/withdraw")
    assert answer.status_code == 409
    assert "you cannot take back what is published" in words(answer)
    # Published again, the log tells all three.
    assert desk.post(f"/e/{slug}/publish", ratings="yes").status_code == 303
    bundle = bundle_of(desk, slug, tmp_path)
    desk.close()
    events = read_bundle(bundle.read_bytes(), "b")["log.jsonl"].splitlines()
    kinds: list[Any] = [json.loads(line)["kind"] for line in events]
    assert kinds[-3:] == ["published", "withdrawn", "published"]
    code, told = audited(bundle)
    assert code == 0, told


def test_a_purge_takes_single_ratings_out_of_what_is_published(tmp_path: Path) -> None:
    desk = Desk(str(tmp_path / "e.db"))
    slug = desk.sealed()
    run_to_the_end(desk, slug)
    answer = desk.post(f"/e/{slug}/purge", title="Autumn talks")
    assert answer.status_code == 303
    assert desk.guest().get(f"/p/{slug}/ratings.csv").status_code == 404
    code, told = audited(bundle_of(desk, slug, tmp_path))
    desk.close()
    assert code == 0, told
    assert "draw: assignment: The seed draws this assignment again." in told
    assert verified(tmp_path / "e.db") == 0
    with closing(sqlite3.connect(tmp_path / "e.db")) as raw:
        assert raw.execute("SELECT count(*) FROM private").fetchone() == (0,)


def test_a_bundle_of_another_version_is_refused_in_words(tmp_path: Path) -> None:
    desk = Desk(str(tmp_path / "e.db"))
    slug = desk.sealed()
    run_to_the_end(desk, slug)
    bundle, names = bundle_of(desk, slug, tmp_path), names_of(desk, slug, tmp_path)
    desk.close()
    with mock.patch("evenhand.records.bundle.LISTS_SCHEMA", "evenhand.lists/3"):
        code, told = audited(bundle)
    assert code == 2
    assert "lists.json: Another version of evenhand wrote it." in told
    code, told = audited(bundle, "--receipts", names)
    assert code == 2
    assert "must be a file of kind evenhand.receipts/1" in told
    code, told = audited(tmp_path / "x.json", "--names", names)
    assert code == 2
    assert "--names must come with a bundle, a file that ends in .zip." in told


JUNK: tuple[dict[str, object], ...] = (
    {},
    {"key": "x", "people": []},
    {"key": "00", "people": 5},
    {"key": "0" * 64, "people": [["R01"]]},
    {"code": [], "name": 1, "salt": None, "conflicts": 3, "sent": 4},
    {"code": "R01", "name": "x", "salt": "", "conflicts": [], "sent": [5]},
)


def test_junk_in_the_files_of_people_is_refused_in_words(tmp_path: Path) -> None:
    desk = Desk(str(tmp_path / "e.db"))
    slug = desk.sealed()
    run_to_the_end(desk, slug)
    bundle = bundle_of(desk, slug, tmp_path)
    desk.close()
    path = tmp_path / "junk.json"
    for kind, junk in itertools.product(("names", "receipts"), JUNK):
        path.write_text(json.dumps({"schema": f"evenhand.{kind}/1", **junk}))
        code, told = audited(bundle, f"--{kind}", path)
        assert code in (1, 2), told
        assert "Traceback" not in told
    path.write_text("{")
    assert audited(bundle, "--names", path)[0] == 2


def test_a_substitute_cannot_take_a_code_that_was_sealed(tmp_path: Path) -> None:
    desk = Desk(str(tmp_path / "e.db"))
    slug = desk.sealed()
    given = {"name": "Sue", "email": ""}
    assert desk.post(f"/e/{slug}/reviewers/4/substitute", **given).status_code == 303
    kept = run_to_the_end(desk, slug)
    bundle = bundle_of(desk, slug, tmp_path)
    desk.close()
    own = json.loads(kept["Person 1"])
    mine = {"name": "Max", "salt": "00"}

    def name_again(events: list[dict[str, Any]], _: object) -> list[dict[str, Any]]:
        new = {own["code"]: person_hash("00", own["code"], "Max", [])}
        first(events, "substitute")["says"]["people"] |= new
        return events

    files = read_bundle(bundle.read_bytes(), "bundle")
    path = forge(files, name_again, tmp_path / "forged.zip")
    receipt = saved(tmp_path, "m.json", json.dumps({**own, **mine}).encode())
    code, told = audited(path, "--receipts", receipt)
    assert code == 1, told
    assert "Max is not whom" in told


def test_the_seal_can_be_noted_before_the_lists_are_fixed(tmp_path: Path) -> None:
    desk = Desk(str(tmp_path / "e.db"))
    answer = desk.post("/e", does="save", title="Talks")
    slug = answer.headers["location"].split("/")[2]
    seal = re.search(
        r"<code>([0-9a-f]{64})</code>", desk.client.get(f"/e/{slug}/edit").text
    )
    assert seal is not None
    assert desk.post("/e", does="seal", slug=slug, **FORM).status_code == 303
    run_to_the_end(desk, slug)
    bundle = bundle_of(desk, slug, tmp_path)
    desk.close()
    noted = saved(tmp_path, "seal.txt", seal[1].encode())
    code, told = audited(bundle, "--seal", noted)
    assert code == 0, told
    assert "it is the one that you noted" in told


def test_ratings_under_another_code_are_found(tmp_path: Path) -> None:
    """The page names one code, and the log keeps what was sent by another."""
    desk = Desk(str(tmp_path / "e.db"))
    slug = desk.sealed()
    kept = run_to_the_end(desk, slug)
    bundle = bundle_of(desk, slug, tmp_path)
    desk.close()
    own, other = json.loads(kept["Person 1"]), json.loads(kept["Person 2"])
    mixed = json.dumps({**own, "sent": other["sent"]}).encode()
    code, told = audited(bundle, "--receipts", saved(tmp_path, "m.json", mixed))
    assert code == 1, told
    assert "What you sent stands under another code." in told


def test_without_the_ratings_no_file_tells_one(tmp_path: Path) -> None:
    desk = Desk(str(tmp_path / "e.db"))
    slug = desk.sealed()
    run_to_the_end(desk, slug)
    assert desk.post(f"/e/{slug}/publish").status_code == 303
    assert "report-1.html" not in desk.guest().get(f"/p/{slug}").text
    bundle = bundle_of(desk, slug, tmp_path)
    desk.close()
    names = {*read_bundle(bundle.read_bytes(), "bundle")}
    assert not {"ratings.csv", "payloads.jsonl", "report-1.html"} & names
    code, told = audited(bundle)
    assert code == 0, told
