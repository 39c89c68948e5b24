"""What was once broken by somebody who tried to, and must stay mended."""

from __future__ import annotations

import asyncio
import json
import logging
import multiprocessing
import os
import re
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import OptionError
from evenhand.records.bundle import audit_bundle
from evenhand.records.log import seed_from
from evenhand.web import actions, guard, reads
from evenhand.web.accept import Entry, Sending
from evenhand.web.app import tick
from evenhand.web.clock import read_deadline
from evenhand.web.jobs import Workers, warm
from evenhand.web.states import Stage
from evenhand.web.verify import verify_all
from evenhand.web.writer import RefusedError
from tests.web.desk import Desk, rate_all, words
from tests.web.scene import decide, publish
from tests.web.world import FORM, Site

NAMES = ["Ada", "Bo", "Cy", "Dee", "Eli", "Fay", "Gus", "Hal"]
PEOPLE = "\n".join(NAMES)


def test_links_of_a_dropped_draw_never_work_again(desk: Desk) -> None:
    slug = desk.sealed(reviewers=PEOPLE)
    before = desk.links(slug)
    desk.do(slug, "unseal")
    turned = {**FORM, "reviewers": "\n".join(reversed(NAMES))}
    answer = desk.post("/e", does="seal", slug=slug, **turned)
    assert answer.status_code == 303, words(answer)
    after = desk.links(slug)
    assert len(after) == len(before) == 8
    assert not set(before.values()) & set(after.values())
    guest = desk.guest()
    for link in before.values():
        assert guest.get(link).status_code == 404
        assert guest.post(f"{link}/begin").status_code == 404
    assert "Ada" in guest.get(after["Ada"]).text


def test_the_seed_is_not_shown_before_a_look(desk: Desk) -> None:
    slug = desk.sealed()
    rate_all(desk.guest(), next(iter(desk.links(slug).values())))
    desk.do(slug, "close")
    with desk.served.store.read() as connection:
        row = reads.evaluation(connection, slug)
        assert row is not None
        events = reads.events(connection, row.id)
        seed = seed_from(reads.secret(connection, row.id), events)
    assert str(seed) not in desk.client.get(f"/e/{slug}").text
    desk.refuse(f"/e/{slug}/open", 409)
    desk.do(slug, "look")
    text = desk.client.get(f"/e/{slug}").text
    assert str(seed) in text
    assert "nobody chose it" not in text
    with desk.served.store.read() as connection:
        kinds = [json.loads(it)["kind"] for it in reads.log_lines(connection, row.id)]
    assert kinds.count("closed") == 1


def test_links_of_who_has_begun_are_neither_listed_nor_made_anew(desk: Desk) -> None:
    slug = desk.sealed(reviewers=PEOPLE)
    link = desk.links(slug)["Cy"]
    assert desk.guest().post(f"{link}/begin").status_code == 303
    assert sorted(desk.links(slug)) == sorted(set(NAMES) - {"Cy"})
    for path in ("links", "links.csv", "links/print"):
        assert link not in desk.client.get(f"/e/{slug}/{path}").text
    desk.refuse(f"/e/{slug}/reviewers/3/link", 409, "Cy has begun")
    assert desk.guest().get(link).status_code == 200
    told = desk.guest().get(desk.links(slug)["Bo"]).text
    assert "Anyone with this link can see and change your ratings" in told


def test_deadlines_that_cannot_be_meant_are_refused(desk: Desk) -> None:
    slug = desk.sealed(grace="10080")
    for closes in ("9999-12-31T23:59", "2200-01-01T00:00"):
        desk.refuse(f"/e/{slug}/extend", 422, "deadline must be", closes=closes)
        desk.refuse("/e", 422, does="seal", **{**FORM, "closes": closes})
    with pytest.raises(OptionError, match="before the year"):
        read_deadline("9999-12-31T23:59", "UTC")
    last = datetime.max.replace(tzinfo=UTC)
    assert Stage("open", closes_at=last, grace=9).ends_at == last
    soon = datetime.now(UTC) + timedelta(days=9)
    desk.do(slug, "extend", closes=f"{soon:%Y-%m-%dT%H:%M}")


def test_the_clock_goes_on_after_any_failure(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    asked: list[int] = []
    enough = asyncio.Event()

    async def sleep(_: float) -> None:
        asked.append(1)
        if len(asked) > 3:
            enough.set()
            raise asyncio.CancelledError

    def fails(*_: object) -> None:
        raise OverflowError("date value out of range")

    async def run() -> None:
        with pytest.raises(asyncio.CancelledError):
            await tick(desk.served.app.state.site)

    monkeypatch.setattr("evenhand.web.app.asyncio.sleep", sleep)
    monkeypatch.setattr("evenhand.web.app.HOUR", 1)
    monkeypatch.setattr("evenhand.web.app.actions.purge_due", fails)
    with caplog.at_level(logging.ERROR):
        asyncio.run(run())
    monkeypatch.undo()
    assert enough.is_set()
    assert caplog.text.count("deleting failed") == 3


def test_half_a_character_in_a_note_is_replaced(desk: Desk) -> None:
    link = next(iter(desk.links(desk.sealed()).values()))
    guest = desk.guest()
    guest.post(f"{link}/begin")
    for place, note in enumerate(("\\ud800", "\\u0000"), start=1):
        answer = guest.post(
            f"{link}/items/{place}",
            content=f'{{"score": 5, "base": 0, "note": "{note}"}}',
            headers={
                "content-type": "application/json",
                "accept": "application/json",
                "idempotency-key": os.urandom(16).hex(),
            },
        )
        assert answer.status_code == 201, answer.text


def test_one_bad_sending_does_not_harm_those_beside_it(desk: Desk) -> None:
    links = list(desk.links(desk.sealed()).values())[:3]
    for link in links:
        desk.guest().post(f"{link}/begin")
    tokens = [guard.digest(link.removeprefix("/r/")) for link in links]
    notes = ["fine", "\ud800", "fine"]
    writer = desk.served.app.state.site.writer
    sendings = [
        Sending(token, os.urandom(16).hex(), (Entry(1, 0, "score", 5.0, note),))
        for token, note in zip(tokens, notes, strict=True)
    ]

    async def all_at_once() -> list[Any]:
        go = threading.Event()
        held = asyncio.create_task(writer.change(lambda *_: go.wait(60)))
        waits = [asyncio.create_task(writer.rate(one)) for one in sendings]
        await asyncio.sleep(0)
        go.set()
        await held
        return await asyncio.gather(*waits, return_exceptions=True)

    first, bad, last = asyncio.run(all_at_once())
    assert (first.status, last.status) == (201, 201)
    assert isinstance(bad, Exception)


def test_only_the_sealed_method_decides(desk: Desk) -> None:
    slug = desk.sealed(method="safe")
    rate_all(desk.guest(), next(iter(desk.links(slug).values())))
    desk.do(slug, "close")
    said = "The method safe was sealed"
    desk.refuse(f"/e/{slug}/jobs/decision", 422, said, method="adaptive")
    assert "Decision 1" not in desk.client.get(f"/e/{slug}").text


def test_uploads_are_read_only_of_who_signed_in_and_counted(desk: Desk) -> None:
    def body() -> Iterator[bytes]:
        yield b'--x\r\ncontent-disposition: form-data; name="a"; filename="a"\r\n\r\n'
        for _ in range(1000):
            yield b"x" * 2**16

    kind = {"content-type": "multipart/form-data; boundary=x"}
    for path in ("/e", "/e/preview"):
        guest = desk.guest().post(path, content=body(), headers=kind)
        assert guest.status_code == 401
        large = desk.client.post(path, content=body(), headers=kind)
        assert large.status_code == 413


def test_what_answered_500_answers_in_words(desk: Desk) -> None:
    slug = desk.sealed()
    link = next(iter(desk.links(slug).values()))
    said = "is open, so you cannot check its ratings."
    desk.refuse(f"/e/{slug}/jobs/check", 409, said)
    odd = desk.guest().post(f"{link}/begin", headers={"origin": "http://["})
    assert odd.status_code == 403
    desk.refuse(f"/e/{slug}/reviewers/{10**20}/absent", 404)
    made = desk.post("/e", does="save", **{**FORM, "title": "Gone"})
    gone = made.headers["location"].split("/")[2]
    desk.do(gone, "purge", title="Gone")
    for path, status in ((f"/e/{gone}", 410), (f"/p/{gone}", 404), ("/", 200)):
        assert desk.client.get(path).status_code == status, path


def test_who_is_left_alone_can_still_be_closed(desk: Desk) -> None:
    slug = desk.sealed(reviewers=PEOPLE, reserves="")
    absent = [f"reviewers/{number}/absent" for number in range(1, 8)]
    desk.do(slug, *absent, "close", "look")


def test_who_began_and_rated_nothing_has_a_price(desk: Desk) -> None:
    slug = desk.sealed(reviewers=PEOPLE)
    links = desk.links(slug)
    rate_all(desk.guest(), links["Bo"])
    desk.guest().post(f"{links['Ada']}/begin")
    desk.do(slug, "close")
    text = desk.client.get(f"/e/{slug}").text
    assert re.search("1 reviewer started but did not finish: Ada", text)


def test_a_form_that_is_sent_twice_makes_one_evaluation(desk: Desk) -> None:
    page = desk.client.get("/e/new").text
    slug = page.partition('name="slug" value="')[2].partition('"')[0]
    form = {**FORM, "title": "Twice", "slug": slug}
    for _ in range(3):
        answer = desk.post("/e", does="seal", **form)
        assert answer.headers["location"] == f"/e/{slug}/links"
    assert desk.client.get("/").text.count("<bdi>Twice</bdi>") == 1
    with desk.served.store.read() as connection:
        row = reads.evaluation(connection, slug)
        assert row is not None
        assert len(reads.draws(connection, row.id)) == 1
    # Another form of the same name is not lost in silence.
    another = {**form, "title": "Another"}
    desk.refuse("/e", 409, "is open, so you cannot edit it.", does="seal", **another)
    for wrong in ("", "x", "0123456789aB", "é" * 12):
        other = desk.post("/e", does="save", **{**form, "slug": wrong})
        assert other.headers["location"].split("/")[2] not in (slug, wrong)


def test_a_reserve_takes_the_place_of_who_declined(site: Site, tmp_path: Path) -> None:
    site.now = datetime.now(UTC)
    which, slug = site.opened()
    tokens = site.tokens(which, slug)
    for name in ("Person 1", "Person 2"):
        site.do(actions.decline, guard.digest(tokens[name]))
    site.do(actions.repair, which, 1, "reserve", key=site.store.key)
    with pytest.raises(RefusedError, match="Person 1 has no items"):
        site.do(actions.repair, which, 1, "reserve", key=site.store.key)
    # Who was marked absent may come after all.
    site.do(actions.repair, which, 3, "absent", key=site.store.key)
    site.do(actions.new_link, which, 3, site.store.key)
    tokens = site.tokens(which, slug)
    assert len(tokens) == 8
    for name, token in tokens.items():
        if name != "Person 2":
            answers = site.rate_all(token, lambda label: 10.0 * int(label[1:]))
            assert [it.status for it in answers] == [201] * 3, name
    with pytest.raises(RefusedError, match="has begun and seen the items"):
        site.do(actions.repair, which, 3, "absent", key=site.store.key)
    site.do(actions.close, which)
    decide(site, which)
    bundle = tmp_path / "bundle.zip"
    bundle.write_bytes(publish(site, which))
    assert site.read(verify_all) == []
    assert audit_bundle(bundle).identical


def test_a_full_disk_is_said_and_nothing_is_lost(tmp_path: Path) -> None:
    desk = Desk(str(tmp_path / "e.db"))
    link = next(iter(desk.links(desk.sealed()).values()))
    guest, store = desk.guest(), desk.served.store
    guest.post(f"{link}/begin")

    def limit(pages: str) -> None:
        with store.writing.connect() as connection:
            most = connection.exec_driver_sql(f"PRAGMA {pages}").scalar()
            connection.exec_driver_sql(f"PRAGMA max_page_count={most}")
            connection.rollback()

    def log() -> list[str]:
        with store.read() as connection:
            return reads.log_lines(connection, 1)

    limit("page_count")
    # Notes fill what room is left in the last pages.
    for number in range(60):
        data = {"score": "5", "base": str(number), "note": "x" * 2000}
        data["key"], lines = f"{number:032x}", log()
        answer = guest.post(f"{link}/items/1", data=data)
        if answer.status_code != 303:
            break
    assert answer.status_code == 503
    assert "nothing was saved" in words(answer)
    assert log() == lines
    limit("max_page_count=1000000")
    assert guest.post(f"{link}/items/1", data=data).status_code == 303
    with store.read() as connection:
        assert verify_all(connection) == []
    desk.close()


def test_stopping_ends_work_at_once_and_leaves_it_to_be_done() -> None:
    async def run() -> None:
        before = set(multiprocessing.active_children())
        workers = Workers(1)
        await workers.run(warm)
        own = set(multiprocessing.active_children()) - before
        task = asyncio.create_task(workers.run(time.sleep, 60))
        await asyncio.sleep(0.2)
        began = time.monotonic()
        await asyncio.to_thread(workers.stop)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - began < 30
        assert own
        assert not own & set(multiprocessing.active_children())

    asyncio.run(run())
