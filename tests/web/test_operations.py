"""Running the app for others: organisers, access log, time-outs, backups, services."""

from __future__ import annotations

import configparser
import itertools
import json
import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2 as httpx
import pytest

from evenhand.web import site as sites
from evenhand.web.running import Address, Served
from evenhand.web.verify import verify_all
from tests.web.desk import Desk, rate, served_at
from tests.web.test_serve import run, serving, signin_link
from tests.web.world import FORM

ROOT = Path(__file__).parents[2]
CONTAINER = ROOT / "container"


Enter = Callable[[str, str], httpx.Client]


@pytest.fixture
def enter() -> Iterator[Enter]:
    """Sign in by a link; what was opened is closed at the end."""
    with ExitStack() as stack:

        def sign_in(base: str, link: str) -> httpx.Client:
            client = stack.enter_context(httpx.Client(base_url=base))
            assert client.post(link.removeprefix(base)).status_code == 303
            return client

        yield sign_in


def test_organisers_come_and_go_while_the_server_runs(
    tmp_path: Path, enter: Enter
) -> None:
    db = str(tmp_path / "e.db")
    with serving("--db", db) as (_, base, link):
        enter(base, link)
        again = enter(base, signin_link(db))
        greta = enter(base, signin_link(db, "Greta"))
        for client in (again, greta):
            assert client.get("/e/new").status_code == 200
        listed = run("--db", db, "organiser", "--list").output
        assert listed == "1 Organiser: 0 evaluations\n2 Greta: 0 evaluations\n"
        assert run("--db", db, "organiser", "Greta", "--remove").exit_code == 0
        assert greta.get("/e/new").status_code == 401
        assert again.get("/e/new").status_code == 200
        for name, sentence in (("Greta", "no organiser"), ("1", "no other organiser")):
            refused = run("--db", db, "organiser", name, "--remove")
            assert refused.exit_code == 2
            assert sentence in refused.output
    stopped = run("--db", db, "organiser")
    assert stopped.exit_code == 2
    assert "No server seems to run on this database." in stopped.output
    elsewhere = run("--db", db, "--public-url", "https://a.org/", "organiser")
    assert "https://a.org/in/" in elsewhere.output


def test_an_organiser_is_removed_with_open_invitations(desk: Desk) -> None:
    slug = desk.sealed(title="Shared")
    desk.refuse(f"/e/{slug}/organisers/1/remove", 409, "Nobody else organises Shared")
    desk.refuse(f"/e/{slug}/organisers/99/remove", 404)
    links = [
        re.findall(r'value="(http[^"]*/in/\w+)"', answer.text)[0]
        for answer in (desk.post(f"/e/{slug}/invite", name=name) for name in "EFG")
    ]
    eve, other = desk.guest(), desk.guest()
    desk.sign_in(eve, links[0])
    assert eve.get(f"/e/{slug}").status_code == 200
    page = desk.client.get(f"/e/{slug}").text
    number = re.findall(r"organisers/(\d+)/remove", page)[-1]
    desk.do(slug, f"organisers/{number}/remove")
    assert eve.get(f"/e/{slug}").status_code == 404
    # The invitations that somebody may have kept are over.
    assert other.post(links[1]).status_code == 403
    assert "Remove<" not in desk.client.get(f"/e/{slug}").text


def test_the_access_log_has_no_link(tmp_path: Path, enter: Enter) -> None:
    with serving("--db", str(tmp_path / "e.db"), "--access-log") as (
        process,
        base,
        link,
    ):
        client = enter(base, link)
        page = client.get("/e/new").text
        csrf = page.partition('name="csrf" value="')[2].partition('"')[0]
        client.post("/e", data={**FORM, "csrf": csrf, "does": "seal"})
        slug = re.findall(r'href="/e/(\w{12})"', client.get("/").text)[0]
        lines = client.get(f"/e/{slug}/links.csv").text.splitlines()[1:]
        tokens = [line.split(",")[2].rpartition("/")[2] for line in lines]
        assert client.post(f"/r/{tokens[0]}/begin").status_code == 303
        rate(client, f"/r/{tokens[0]}", 1, 50)
        for path in ("/R/{}", "/r/{}/nowhere", "/x/{}", "/p/x?receipt={}", "//{}"):
            client.get(path.format(tokens[1]))
        process.terminate()
        process.wait(30)
        assert process.stdout is not None
        text = process.stdout.read()
    assert re.search(r"127.0.0.1 POST /r/{token}/items/{place:int} 201 [\d.]+ ms", text)
    assert f"GET /e/{slug}/links.csv 200" in text
    assert len(text.splitlines()) >= 12
    secrets = [*tokens, link.rpartition("/")[2], csrf, *client.cookies.values()]
    assert not [secret for secret in secrets if secret.lower() in text.lower()]


def test_what_is_kept_in_a_journal_signs_nobody_in(tmp_path: Path) -> None:
    with serving("--db", str(tmp_path / "e.db"), JOURNAL_STREAM="8:1") as got:
        process, _, link = got
        assert link == ""
        assert "organiser" in process.told  # type: ignore[attr-defined]  # see serving


def test_the_key_of_links_can_be_elsewhere(tmp_path: Path) -> None:
    db, key = str(tmp_path / "e.db"), tmp_path / "keys" / "my.key"
    key.parent.mkdir()
    Served(db, Address(), key=str(key)).close()
    assert key.stat().st_mode & 0o777 == 0o600
    assert not Path(f"{db}.key").exists()


def test_a_body_that_does_not_come_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sites, "LONGEST_BODY", 0.5)
    with served_at(tmp_path / "e.db") as (base, served):
        link = served.signin()
        host, _, port = base.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), 30) as slow:
            head = f"POST {link} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 999\r\n"
            slow.sendall(f"{head}\r\n".encode())
            start = time.monotonic()
            answer = b""
            while part := slow.recv(4096):
                answer += part
            assert b"408" in answer.partition(b"\r\n")[0]
            assert time.monotonic() - start < 10
        # The link was not used up.
        assert httpx.post(f"{base}{link}").status_code == 303


def test_a_backup_under_load_is_restored_with_all_that_was_received(
    tmp_path: Path, enter: Enter
) -> None:
    db = tmp_path / "e.db"
    with served_at(db) as (base, served):
        served.site.limited = False
        client = enter(base, served.signin())
        page = client.get("/e/new").text
        csrf = page.partition('name="csrf" value="')[2].partition('"')[0]
        client.post("/e", data={**FORM, "csrf": csrf, "does": "seal"})
        slug = re.findall(r'href="/e/(\w{12})"', client.get("/").text)[0]
        lines = client.get(f"/e/{slug}/links.csv").text.splitlines()[1:]
        links = [line.split(",")[2].removeprefix(base) for line in lines]
        received: list[tuple[str, int, float]] = []
        stop = threading.Event()

        def load(link: str) -> None:
            with httpx.Client(base_url=base) as own:
                own.post(f"{link}/begin")
                version = 0
                while not stop.is_set():
                    score = float(version % 100)
                    answer = rate(own, link, 1, score, version)
                    assert answer.status_code == 201, answer.text
                    version += 1
                    received.append((link, version, score))

        people = [threading.Thread(target=load, args=(link,)) for link in links]
        for person in people:
            person.start()
        while len(received) < 50:
            time.sleep(0.01)
        for number in itertools.count():
            before, copy = list(received), tmp_path / f"copy-{number}.db"
            assert run("--db", str(db), "backup", str(copy)).exit_code == 0
            if len(received) > len(before):
                break  # ratings came while it was copied
        stop.set()
        for person in people:
            person.join()
    shutil.copyfile(f"{db}.key", f"{copy}.key")
    desk = Desk(str(copy))
    with desk.served.store.read() as connection:
        assert verify_all(connection) == []
    guest = desk.guest()
    sent = {
        (link, entry["version"], entry["score"])
        for link in links
        for entry in guest.get(f"{link}/mine.json").json()["sent"]
    }
    assert set(before) <= sent
    # It goes on from there.
    for link in links:
        version = max(version for name, version, _ in sent if name == link)
        assert rate(guest, link, 1, 50, version).status_code == 201
        for place in (2, 3):
            assert rate(guest, link, place, 10 * place).status_code == 201
    assert 'class="lead"' in desk.decide(slug)
    desk.close()


def test_links_to_this_machine_alone_are_warned_of(desk: Desk) -> None:
    sentence = "Nobody else can open these links"
    slug = desk.sealed(title="Local")
    assert sentence in desk.client.get(f"/e/{slug}/links").text
    site = desk.served.site
    site.public_url = "https://rate.example.org"
    assert sentence not in desk.client.get(f"/e/{slug}/links").text
    site.public_url = ""


def options_in(text: str) -> set[str]:
    return set(re.findall(r"(?<=[\"\s])--[a-z-]+", text))


def test_the_unit_of_systemd_starts_what_there_is() -> None:
    path = CONTAINER / "evenhand.service"
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # as systemd reads it
    unit.read_string(path.read_text("utf-8"))
    start = unit["Service"]["ExecStart"]
    known = options_in(run("--help").output)
    assert {"--db", "--proxy", "--access-log"} <= options_in(start) <= known
    assert "User" in unit["Service"]
    verify = shutil.which("systemd-analyze")
    if verify is not None:
        result = subprocess.run(
            [verify, "verify", path], capture_output=True, text=True, check=False
        )
        # The program and its user are not on this machine.
        lines = (line for line in result.stderr.splitlines() if "evenhand" in line)
        wrong = [line for line in lines if "not executable" not in line]
        assert not wrong, wrong


def builder() -> list[str]:
    """Return a program that builds containers here, if there is one that works."""
    for name in ("docker", "podman"):
        if shutil.which(name):
            check = subprocess.run([name, "info"], capture_output=True, check=False)
            if check.returncode == 0 and b"Server Version" in check.stdout:
                return [name, "build", "-f"]
    return [name, "bud", "-f"] if shutil.which(name := "buildah") else []


def test_the_container_is_built_or_read() -> None:
    path = CONTAINER / "Dockerfile"
    if command := builder():
        subprocess.run([*command, path, ROOT], check=True, capture_output=True)
        return
    text = path.read_text("utf-8").replace("\\\n", " ")
    steps = [line.split(None, 1) for line in text.splitlines() if line[:1].isupper()]
    known = {"FROM", "WORKDIR", "COPY", "RUN", "USER", "ENV", "VOLUME", "EXPOSE"}
    assert {word for word, _ in steps} <= known | {"HEALTHCHECK", "ENTRYPOINT", "CMD"}
    for word, rest in steps:
        if word == "COPY" and "--from" not in rest:
            assert all((ROOT / name).exists() for name in rest.split()[:-1])
        if word in ("ENTRYPOINT", "CMD"):
            assert options_in(" ".join(json.loads(rest))) <= options_in(
                run("--help").output
            )


def test_examples_of_proxies_keep_links_out_of_logs() -> None:
    text = (ROOT / "docs" / "deploy.md").read_text("utf-8")
    server = text.partition("server {")[2].partition("```")[0]
    assert "access_log off;" in server
    assert server.count("{") + 1 == server.count("}")
    assert all(line.strip()[-1:] in "{};" for line in server.splitlines())
    for header in ("Host $host", "X-Forwarded-For $remote_addr", "Proto $scheme"):
        assert header in server
