"""Closing: said before, undone while nobody saw a score, decided once."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from evenhand.web import actions, guard, reads
from evenhand.web.writer import RefusedError
from tests.web.desk import Desk, audited, bundle_of, rate, rate_all
from tests.web.test_forged import VALUE, Edit, Events, first, forge, unzip
from tests.web.world import NOON, Site

PEOPLE = "Ada\nBo\nCy\nDee\nEve"

pytestmark = pytest.mark.usefixtures("no_reports")


def test_the_page_says_what_closing_does_and_asks_for_the_title(desk: Desk) -> None:
    for rule, sentence in (
        ("keep", "It keeps 2 ratings of <bdi>Ada</bdi>"),
        ("leave-out", "drops 2 ratings of <bdi>Ada</bdi>"),
    ):
        slug = desk.sealed(
            reviewers=PEOPLE, title="To close", unfinished=rule, method="safe"
        )
        links, guest = desk.links(slug), desk.guest()
        for place in (1, 2):
            guest.post(f"{links['Ada']}/begin")
            assert rate(guest, links["Ada"], place, 10 * place).status_code == 201
        rate_all(guest, links["Bo"])
        text = desk.client.get(f"/e/{slug}/close").text
        assert sentence in text
        assert "3 reviewers never started: <bdi>Cy</bdi>, <bdi>Dee</bdi>" in text
        assert "items have no rating and cannot be chosen" in text
        for wrong in ("", "To clos"):
            desk.refuse(f"/e/{slug}/close", 422, "Type the title exactly", title=wrong)
        assert "Close …" in desk.client.get(f"/e/{slug}").text
        desk.decide(slug)
        desk.do(slug, "publish", ratings="yes")
        rows = desk.guest().get(f"/p/{slug}/ratings.csv").text.splitlines()[1:]
        assert len(rows) == {"keep": 5, "leave-out": 3}[rule]
        record = desk.guest().get(f"/p/{slug}/decision-1.json").text
        missing = {"keep": "1 assigned rating missing", "leave-out": "3 assigned rat"}
        assert missing[rule] in record


def test_a_close_that_was_too_early_is_undone_and_the_audit_passes(
    desk: Desk, tmp_path: Path
) -> None:
    slug, guest = desk.sealed(title="Too early"), desk.guest()
    links = list(desk.links(slug).values())
    rate_all(guest, links[0])
    guest.post(f"{links[1]}/begin")
    desk.do(slug, "close", "close")
    # A device that sends now keeps it, and sends it again.
    answer = rate(guest, links[1], 1, 5)
    assert (answer.status_code, answer.json()["code"]) == (423, "paused")
    assert "Undo the close" in desk.client.get(f"/e/{slug}").text
    desk.do(slug, "reopen")
    assert rate(guest, links[1], 1, 5).status_code == 201
    for link in links[2:]:
        rate_all(guest, link)
    desk.decide(slug)
    desk.refuse(f"/e/{slug}/reopen", 409, "so you cannot undo the close")
    desk.do(slug, "publish", ratings="yes")
    bundle = bundle_of(desk, slug, tmp_path)
    code, text = audited(bundle)
    assert code == 0, text
    kinds = [json.loads(it)["kind"] for it in unzip(bundle)["log.jsonl"].splitlines()]
    assert kinds.count("closed") == 2
    assert kinds.count("reopened") == 1


@pytest.mark.parametrize("seen", ["late", "looked", "decided", "valued", ""])
def test_a_close_stands_once_it_is_late_or_something_was_seen(
    site: Site, seen: str
) -> None:
    which, slug = site.opened(public_value=VALUE if seen == "valued" else "")
    token = next(iter(site.tokens(which, slug).values()))
    site.rate_all(token, lambda label: float(label[1:]))
    site.do(actions.close, which)
    if seen == "looked":
        site.do(actions.look, which)
    if seen == "decided":
        site.do(actions.ask_job, which, "decision", {})
    if seen == "valued":
        site.do(actions.put_value, which, "12")
    site.later(seconds=600 if seen == "late" else 599)
    if seen:
        with pytest.raises(RefusedError):
            site.do(actions.reopen, which)
        return
    site.do(actions.reopen, which)
    row = site.read(reads.by_id, which)
    assert (row.state, row.closed_at, row.closed_head) == ("open", None, None)


def test_a_close_by_the_deadline_is_moved_and_not_undone(site: Site) -> None:
    which, _ = site.draft()
    site.seal(which, closes_at=NOON + timedelta(minutes=5))
    site.later(minutes=6)
    with pytest.raises(RefusedError, match="is open, so you cannot undo the close"):
        site.do(actions.reopen, which)
    site.do(actions.extend, which, site.now + timedelta(minutes=5))
    assert site.read(reads.by_id, which).state == "open"


def reopened(at: int, after: str) -> Edit:
    """Put the undoing of a close after an event, so many minutes after the close."""

    def edit(events: Events, _: Any) -> None:
        closed = first(events, "closed")
        place = events.index(first(events, after))
        hour, minutes = divmod(12 * 60 + at, 60)
        day = closed["at"][:11]
        for event in events:
            event["at"] = f"{day}12:00Z"
        for event in events[place + 1 :]:
            event["at"] = f"{day}{hour:02}:{minutes:02}Z"
        undone = {**events[place], "kind": "reopened", "private": None}
        undone |= {"at": f"{day}{hour:02}:{minutes:02}Z"}
        undone = {key: undone[key] for key in undone if key not in ("says", "payload")}
        again = {**closed, "at": undone["at"]}
        events[place + 1 : place + 1] = [undone, again]

    return edit


@pytest.fixture(scope="module")
def files(desk: Desk, no_reports: None, tmp_path_factory: Any) -> dict[str, bytes]:  # noqa: ARG001 - while it runs
    slug = desk.sealed(title="Undone")
    desk.finish(slug)
    return unzip(bundle_of(desk, slug, tmp_path_factory.mktemp("undone")))


@pytest.mark.parametrize(
    ("minutes", "after", "sentence"),
    [
        (10, "closed", ""),
        (11, "closed", "A close can be undone for 10 minutes only."),
        (1, "looked", "once scores or the value were seen"),
    ],
)
def test_the_audit_holds_an_undone_close_against_the_rules(
    files: dict[str, bytes], minutes: int, after: str, sentence: str, tmp_path: Path
) -> None:
    path = forge(files, reopened(minutes, after), tmp_path / "forged.zip")
    code, text = audited(path)
    assert code == (1 if sentence else 0), text
    assert sentence in text


def test_a_second_click_shows_the_first_decision(desk: Desk) -> None:
    slug, site = desk.sealed(title="Clicked"), desk.served.site
    for link in desk.links(slug).values():
        rate_all(desk.guest(), link)
    desk.do(slug, "close")
    row = reads.evaluation

    async def at_once() -> list[int]:
        with site.store.read() as connection:
            evaluation = row(connection, slug)
        assert evaluation is not None
        asked = [
            site.writer.change(
                lambda c, now: actions.ask_job(c, now, evaluation.id, "decision", {})
            )
            for _ in range(3)
        ]
        return list(await asyncio.gather(*asked))

    assert asyncio.run(at_once()) == [1, 1, 1]
    desk.do(slug, "jobs/decision", "jobs/decision")
    desk.wait(slug)
    desk.do(slug, "jobs/decision", "jobs/check", "jobs/check")
    text = desk.wait(slug)
    assert "Decision 2" not in text
    assert "Check 2" not in text
    assert "Decide again" not in text
    with site.store.read() as connection:
        evaluation = row(connection, slug)
        assert evaluation is not None
        events = reads.events(connection, evaluation.id)
    assert sum(event["kind"] == "decided" for event in events) == 1


def test_a_decision_that_failed_can_be_asked_for_again(site: Site) -> None:
    which, slug = site.opened()
    token = next(iter(site.tokens(which, slug).values()))
    site.do(actions.begin, guard.digest(token))
    site.do(actions.close, which)
    for number in (1, 2):
        assert site.do(actions.ask_job, which, "decision", {}) == number
        failed = {"error": "There are no ratings that count."}
        site.do(actions.end_job, which, "decision", number, failed)
        # What ends twice is written down once.
        site.do(actions.end_job, which, "decision", number, {"says": "{}"})
    kinds = [event["kind"] for event in site.read(reads.events, which)]
    assert "decided" not in kinds
