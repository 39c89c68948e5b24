"""Clocks that differ, are set back or are days ahead: what they may not break."""

import html
import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from evenhand.records import log
from evenhand.records.bundle import audit_bundle
from evenhand.records.events import minute
from evenhand.web import actions, guard, reads
from evenhand.web.accept import Entry, Sending
from evenhand.web.verify import verify_all
from evenhand.web.writer import RefusedError
from tests.web.desk import Desk
from tests.web.scene import decide, publish
from tests.web.world import NOON, Site


def events(site: Site, which: int) -> list[dict[str, Any]]:
    return [json.loads(line) for line in site.read(reads.log_lines, which)]


def rated_by_many(site: Site, which: int, slug: str, *apart: timedelta) -> None:
    """Everybody rates, by servers whose clocks are so far from the right one."""
    right = site.now
    for number, token in enumerate(site.tokens(which, slug).values()):
        site.now = right + timedelta(seconds=number) + apart[number % len(apart)]
        answers = site.rate_all(token, lambda label: 10.0 * int(label[1:]))
        assert {it.status for it in answers} == {201}
    site.now = right + timedelta(minutes=1)


@pytest.mark.parametrize("back", [timedelta(seconds=2), timedelta(days=1)])
def test_an_honest_run_by_clocks_that_differ_passes_the_audit(
    site: Site, tmp_path: Path, back: timedelta
) -> None:
    site.now = NOON - timedelta(seconds=4)
    which, slug = site.opened()
    rated_by_many(site, which, slug, timedelta(0), -back, timedelta(seconds=3))
    site.do(actions.close, which)
    decide(site, which)
    (tmp_path / "bundle.zip").write_bytes(publish(site, which))
    assert site.read(verify_all) == []
    assert audit_bundle(tmp_path / "bundle.zip").identical
    times = [event["at"] for event in events(site, which)]
    assert times == sorted(times)


def test_verify_says_what_an_audit_will_say(site: Site) -> None:
    which, slug = site.opened()

    def unordered(head: log.Head, *given: Any, **more: Any) -> log.Event:
        return log.append(log.Head(head.n, head.hash), *given, **more)

    with mock.patch("evenhand.web.accept.append", unordered):
        rated_by_many(site, which, slug, timedelta(0), -timedelta(hours=1))
    (said,) = site.read(verify_all)
    assert "an audit will fail: Event 9: It is earlier than the event before" in said


def test_verify_knows_drafts_dropped_draws_and_what_was_purged(site: Site) -> None:
    site.draft()
    which, slug = site.opened()
    site.do(actions.unseal, which)
    other, slug = site.opened()
    rated_by_many(site, other, slug, timedelta(0))
    site.do(actions.close, other)
    site.do(actions.purge, other)
    assert site.read(verify_all) == []


def sealed_until_tomorrow(site: Site) -> tuple[int, list[str]]:
    which, slug = site.draft()
    site.seal(which, NOON + timedelta(days=1))
    return which, [guard.digest(it) for it in site.tokens(which, slug).values()]


def rate(site: Site, token: str, base: int) -> int:
    entry = Entry(1, base, "score", 50.0 + base)
    (answer,) = site.rate(Sending(token, f"{base:032}", (entry,)))
    return answer.status


def test_a_clock_days_ahead_closes_nothing_for_good(site: Site) -> None:
    which, tokens = sealed_until_tomorrow(site)
    site.do(actions.begin, tokens[0])
    assert rate(site, tokens[0], 0) == 201
    site.now += timedelta(days=3)
    assert rate(site, tokens[0], 1) == 423
    with pytest.raises(RefusedError, match="is not open"):
        site.do(actions.begin, tokens[1])
    with pytest.raises(RefusedError, match="This evaluation is closed"):
        site.do(actions.pause, which, "pause")
    # The clock is set right: all goes on.
    site.now -= timedelta(days=3)
    assert rate(site, tokens[0], 1) == 201
    site.do(actions.begin, tokens[1])
    assert "closed" not in [event["kind"] for event in events(site, which)]
    assert site.read(verify_all) == []


def test_a_running_server_whose_clock_is_ahead_for_a_while(tmp_path: Path) -> None:
    desk = Desk(str(tmp_path / "e.db"))
    tomorrow = f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%dT%H:%M}"
    slug = desk.sealed(closes=tomorrow)
    link = next(iter(desk.links(slug).values()))
    ahead = lambda: datetime.now(UTC) + timedelta(days=3)  # noqa: E731 - a clock
    with mock.patch.object(desk.served.site.writer, "_clock", ahead):
        assert desk.guest().post(f"{link}/begin").status_code == 423
        time.sleep(1.5)
    assert desk.guest().post(f"{link}/begin").status_code == 303
    with mock.patch.object(desk.served.site, "now", ahead):
        text = desk.client.get(f"/e/{slug}").text
        assert "has passed by this server's clock, which says" in html.unescape(text)
    assert '<span class="state open">' in desk.client.get(f"/e/{slug}").text
    desk.close()


def test_events_by_a_clock_ahead_hold_up_no_deadline(site: Site) -> None:
    which, tokens = sealed_until_tomorrow(site)
    site.now += timedelta(hours=20)
    site.do(actions.begin, tokens[0])
    site.now -= timedelta(hours=20)
    assert rate(site, tokens[0], 0) == 201
    assert events(site, which)[-1]["at"] == minute(NOON + timedelta(hours=20))
    site.now = NOON + timedelta(hours=23)
    assert rate(site, tokens[0], 1) == 201
    site.now = NOON + timedelta(hours=24)
    assert rate(site, tokens[0], 2) == 423


def test_a_deadline_that_has_passed_can_be_moved_until_somebody_looks(
    site: Site,
) -> None:
    which, tokens = sealed_until_tomorrow(site)
    site.do(actions.begin, tokens[0])
    site.now += timedelta(days=2)
    site.do(actions.extend, which, NOON + timedelta(days=3))
    assert rate(site, tokens[0], 0) == 201
    site.now += timedelta(days=2)
    site.do(actions.look, which)
    with pytest.raises(RefusedError, match="is closed, so you cannot move"):
        site.do(actions.extend, which, NOON + timedelta(days=9))


def test_the_close_is_written_at_the_deadline_whenever_that_is_done(site: Site) -> None:
    which, tokens = sealed_until_tomorrow(site)
    site.do(actions.begin, tokens[0])
    rate(site, tokens[0], 0)
    lines = []
    for later in (timedelta(days=1), timedelta(days=5)):
        site.now = NOON + later
        with site.store.writing.connect() as connection:
            actions.look(connection, site.now, which)
            last = reads.log_lines(connection, which)
            row = reads.by_id(connection, which)
            connection.rollback()
        lines.append([line for line in last if '"kind":"closed"' in line])
        assert row.closed_at == row.closes_at
        assert row.looked_at is not None
    # So nobody chooses the seed by the moment at which they write it down.
    assert lines[0] == lines[1]
    assert json.loads(lines[0][0])["at"] == minute(NOON + timedelta(days=1))
