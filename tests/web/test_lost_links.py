"""A link that is lost is found by a code, or given anew without what was rated."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

from tests.web.desk import Desk, audited, bundle_of, rate_all, words
from tests.web.test_forged import Edit, first, forge, insert, unzip
from tests.web.test_walk import order_all

if TYPE_CHECKING:
    import httpx2 as httpx

pytestmark = pytest.mark.usefixtures("no_reports")
TOLD = {"accept": "application/json"}


def code_of(guest: httpx.Client, link: str) -> str:
    code = re.search(
        r"by this code: <code>([0-9a-z-]{19})</code>", guest.get(link).text
    )
    assert code is not None
    return code[1]


def recover(guest: httpx.Client, code: str) -> httpx.Response:
    return guest.post("/r", data={"code": code})


def blind(desk: Desk, slug: str, number: int) -> str:
    """Make a new link for somebody who has begun."""
    answer = desk.post(f"/e/{slug}/reviewers/{number}/blind")
    assert answer.status_code == 200, words(answer)
    link = re.search(r'value="http://[^/]+(/r/\w{26})"', answer.text)
    assert link is not None
    return link[1]


def test_a_code_finds_the_page_again_and_nobody_else_sees_it(desk: Desk) -> None:
    slug, guest = desk.sealed(title="Codes"), desk.guest()
    links = desk.links(slug)
    mine = links["Person 1"]
    guest.post(f"{mine}/begin")
    code = code_of(guest, mine)
    assert guest.get(f"{mine}/mine.json").json()["recovery"] == code
    for typed in (code, code.replace("-", ""), f" {code.upper()} "):
        answer = recover(desk.guest(), typed)
        assert (answer.status_code, answer.headers["location"]) == (303, mine)
    for wrong in ("", "x", code[:-1] + ("0" if code[-1] != "0" else "1"), mine[3:]):
        answer = recover(guest, wrong)
        assert answer.status_code == 404
        assert "There is no such code." in answer.text
    other = guest.post("/r", data={"code": code}, headers={"origin": "http://evil"})
    assert other.status_code == 403
    for page in ("", "/links", "/links.csv", "/people.csv", "/reviewers/1"):
        assert code not in desk.client.get(f"/e/{slug}{page}").text
    # The page of a code is never a link, and a new link has another code.
    assert guest.get(f"/r/{code.replace('-', '')}").status_code == 404
    again = blind(desk, slug, 1)
    assert recover(guest, code).status_code == 404
    assert recover(guest, code_of(guest, again)).headers["location"] == again
    desk.do(slug, "close")
    assert guest.get(f"{again}/mine.json").json()["recovery"] is None


@pytest.fixture(scope="module")
def scene(desk: Desk, no_reports: None) -> tuple[str, str, str]:  # noqa: ARG001 - while it runs
    """Somebody rated three items with a note, and lost the link."""
    slug, guest = desk.sealed(title="Blind"), desk.guest()
    mine = desk.links(slug)["Person 1"]
    rate_all(guest, mine)
    key = os.urandom(16).hex()
    note = {"base": 1, "kind": "note", "note": "Secret words."}
    answer = guest.post(
        f"{mine}/items/1", json=note, headers={**TOLD, "idempotency-key": key}
    )
    assert answer.status_code == 201
    return slug, mine, blind(desk, slug, 1)


def scores(guest: httpx.Client, link: str) -> list[str]:
    page = guest.get(link).text
    return re.findall(r'name="score" value="([^"]*)"', page)


def test_a_new_link_shows_nothing_that_was_rated_before(
    desk: Desk, scene: tuple[str, str, str], tmp_path: Path
) -> None:
    slug, old, new = scene
    guest = desk.guest()
    assert guest.get(old).status_code == 401
    texts = [guest.get(new).text, guest.get(f"{new}/mine.json").text]
    assert scores(guest, new) == ["", "", ""]
    assert texts[0].count("● received: not shown here") == 3
    assert "3 of 3 rated" in texts[0]
    for text in texts:
        assert "Secret words" not in text
        assert not re.search(r"\b\d1\b(?!:)[^<]{0,3}</span>", text)
    assert json.loads(texts[1])["sent"] == []

    def send(place: int, base: int, kind: str, **more: object) -> httpx.Response:
        body = {"base": base, "kind": kind, **more}
        headers = {**TOLD, "idempotency-key": os.urandom(16).hex()}
        answer: httpx.Response = guest.post(
            f"{new}/items/{place}", json=body, headers=headers
        )
        return answer

    # Neither a note nor a wrong version makes the server tell the rating.
    refused = send(2, 1, "note", note="x")
    assert (refused.status_code, refused.json()["code"]) == (422, "no_score")
    stale = send(1, 0, "score", score=5)
    assert stale.status_code == 409
    body = stale.json()
    assert (body["state"], body["score"], body["note"]) == ("hidden", None, "")
    form = guest.post(
        f"{new}/items/1", data={"base": "0", "score": "5", "key": "0" * 32}
    )
    assert form.status_code == 409
    assert "Secret" not in form.text
    assert scores(guest, new)[1:] == ["", ""]
    # What is given again is shown; what was not goes on counting.
    assert send(1, 2, "score", score=77).json()["entries"][0]["has_note"] is False
    assert scores(guest, new) == ["77", "", ""]
    assert [it["score"] for it in guest.get(f"{new}/mine.json").json()["sent"]] == [77]
    for name, link in desk.links(slug).items():
        assert name != "Person 1"
        rate_all(guest, link)
    kept = guest.get(f"{new}/mine.json").content
    desk.decide(slug)
    desk.do(slug, "publish", ratings="yes")
    bundle, receipts = bundle_of(desk, slug, tmp_path), tmp_path / "mine.json"
    receipts.write_bytes(kept)
    code, text = audited(bundle, "--receipts", receipts)
    assert code == 0, text
    own = json.loads(kept)["code"]
    rows = unzip(bundle)["ratings.csv"].decode().splitlines()
    mine = [row.rpartition(",")[2] for row in rows if row.startswith(own)]
    assert len(mine) == 3
    assert "77" in mine
    # Everybody sees that a link was made, and who has the payloads for whom.
    log = [json.loads(line) for line in unzip(bundle)["log.jsonl"].splitlines()]
    assert [event["kind"] for event in log].count("blind link") == 1
    early: Edit = insert("begun", kind="blind link")
    bad = forge(unzip(bundle), early, tmp_path / "forged.zip")
    code, text = audited(bad)
    assert code == 1
    assert "The reviewer had not begun." in text
    assert first(log, "blind link")["kind"] == "blind link"


def test_an_order_is_not_told_by_where_items_stand(desk: Desk) -> None:
    slug, guest = desk.sealed(title="Orders", scale="order"), desk.guest()
    mine = desk.links(slug)["Person 1"]
    order_all(guest, mine, 3)
    places = r'<li data-place="(\d)"'
    new = blind(desk, slug, 1)
    assert re.findall(places, guest.get(new).text) == ["1", "2", "3"]


def test_only_who_has_begun_gets_a_link_without_ratings(desk: Desk) -> None:
    slug = desk.sealed(title="Not begun")
    desk.refuse(f"/e/{slug}/reviewers/1/blind", 409, "has not begun: make a new link")
    desk.refuse(f"/e/{slug}/reviewers/99/blind", 404)
    desk.guest().post(f"{desk.links(slug)['Person 1']}/begin")
    desk.do(slug, "close")
    desk.refuse(f"/e/{slug}/reviewers/1/blind", 409, "so you cannot make links")


def test_who_is_late_is_reminded_without_a_link(desk: Desk) -> None:
    slug, guest = desk.sealed(title="Late & <b>"), desk.guest()
    links = desk.links(slug)
    rate_all(guest, links["Person 1"])
    guest.post(f"{links['Person 2']}/begin")
    text = desk.client.get(f"/e/{slug}/people.csv").text
    rows = [line.split(",") for line in text.splitlines()]
    assert rows[0] == ["name", "email", "state", "rated", "items"]
    assert [row[2] for row in rows[1:4]] == ["all rated", "not finished", "not begun"]
    assert len(rows) == 9
    assert "/r/" not in text
    page = unquote(desk.client.get(f"/e/{slug}").text)
    assert "mailto:?bcc=p2@example.org&amp;subject=Late & <b>&amp;body=Hello," in page
    assert "Remind 6 not begun" in page
    assert not [link for link in links.values() if link[3:] in page + text]


def test_whoever_cannot_take_part_can_after_all_until_somebody_took_over(
    desk: Desk,
) -> None:
    slug, guest = desk.sealed(title="Declined"), desk.guest()
    links = desk.links(slug)
    one, two, three = (links[f"Person {n}"] for n in (1, 2, 3))
    assert "Yes, I cannot take part" in guest.get(one).text
    assert guest.post(f"{one}/return").status_code == 409
    for link in (one, two, three):
        assert guest.post(f"{link}/decline").status_code == 303
        assert "I can take part after all" in guest.get(link).text
    assert guest.post(f"{one}/return").status_code == 303
    rate_all(guest, one)
    desk.do(slug, "reviewers/2/reserve", "reviewers/3/absent")
    for link in (two, three):
        assert guest.post(f"{link}/return").status_code == 401
    desk.do(slug, "close")
    assert "I can take part after all" not in guest.get(links["Person 4"]).text
