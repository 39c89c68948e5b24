"""Door mode: whoever comes takes the next sealed place by one code on the wall."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.web import actions, guard, reads
from evenhand.web.writer import RefusedError
from tests.web.desk import Desk, audited, bundle_of, rate, rate_all, words
from tests.web.test_forged import unzip
from tests.web.test_people import verified

pytestmark = pytest.mark.usefixtures("no_reports")
TWO = {"job": "compare", "items": "t1, One\nt2, Two", "reviewers": "", "reserves": ""}


def open_door(desk: Desk, slug: str) -> str:
    """Open the door; return its address."""
    desk.do(slug, "door/open")
    page = desk.client.get(f"/e/{slug}/door").text
    address = re.search(r"<code>http://[^/]+(/d/\w{26})</code>", page)
    assert address is not None
    return address[1]


def enter(desk: Desk, door: str, number: int) -> str:
    """Take a place with a device of one's own; return the link."""
    data = {"name": f"Visitor {number}", "contact": f"v{number}@example.org"}
    answer = desk.guest().post(door, data=data)
    assert answer.status_code == 303, words(answer)
    return answer.headers["location"]


def test_thirty_strangers_compare_two_and_nobody_is_named(
    desk: Desk, tmp_path: Path
) -> None:
    slug = desk.sealed(title="At the door", places="32", **TWO)
    assert desk.links(slug) == {}
    door = open_door(desk, slug)
    links = [enter(desk, door, number) for number in range(30)]
    assert len(set(links)) == 30
    page = desk.client.get(f"/e/{slug}/door").text
    assert "30 of 32 places taken" in page
    assert "Place 07: Visitor 6" in page
    assert "v6@example.org" in page
    assert "Hello <bdi>Visitor 6</bdi>" in desk.guest().get(links[6]).text
    desk_page = desk.client.get(f"/e/{slug}").text
    assert "0 of 30 ratings" in desk_page
    for number, link in enumerate(links):
        guest = desk.guest()
        assert guest.post(f"{link}/begin").status_code == 303
        label = re.search(r'id="label-1"><bdi>t(\d)', guest.get(link).text)
        assert label is not None
        assert rate(guest, link, 1, 10 * int(label[1]) + number).status_code == 201
    assert "Visitor" not in desk.client.get(f"/e/{slug}/close").text
    desk.decide(slug)
    desk.do(slug, "publish", ratings="yes")
    bundle = bundle_of(desk, slug, tmp_path)
    code, text = audited(bundle)
    assert code == 0, text
    names = tmp_path / "names.json"
    names.write_bytes(desk.client.get(f"/e/{slug}/names.json").content)
    code, text = audited(bundle, "--names", names)
    assert code == 0, text
    # Neither what is public nor the key of the codes has a visitor in it.
    public = [desk.guest().get(f"/p/{slug}").content, *unzip(bundle).values()]
    for body in (*public, names.read_bytes()):
        assert b"Visitor" not in body
        assert b"@example.org" not in body
    assert b"Visitor 6" in desk.client.get(f"/e/{slug}/who-is-who.csv").content
    path = desk.served.store.path
    assert path is not None
    assert verified(path) == 0
    desk.do(slug, "purge", title="At the door")
    with desk.served.store.read() as connection:
        row = reads.evaluation(connection, slug)
        assert row is not None
        people = reads.people(connection, row.id)
    assert {(it.taken_by, it.contact) for it in people} == {("", "")}


def test_one_place_for_each_person_and_each_device(desk: Desk) -> None:
    slug = desk.sealed(title="Once", places="3", reviewers="", reserves="", top="2")
    door = open_door(desk, slug)
    guest = desk.guest()
    assert "Take a place" in guest.get(door).text
    data = {"name": " Ana <b>", "contact": "Ana@Example.org"}
    first = guest.post(door, data=data)
    link = first.headers["location"]
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert f"Path={door}" in cookie
    guest.cookies.set("place", link[3:])
    for answer in (guest.get(door), guest.post(door, data={**data, "contact": "x"})):
        assert (answer.status_code, answer.headers["location"]) == (303, link)
    other = desk.guest().post(door, data={"name": "A", "contact": "ANA@example.ORG "})
    assert (other.status_code, "has a place" in words(other)) == (409, True)
    for wrong in ({"name": "", "contact": "x"}, {"name": "x"}, {"name": "x" * 201}):
        assert desk.guest().post(door, data=wrong).status_code == 422
    evil = {"origin": "https://evil.example"}
    assert desk.guest().post(door, data=data, headers=evil).status_code == 403
    page = desk.client.get(f"/e/{slug}/door").text
    assert "Ana &lt;b&gt;" in page
    assert "Ana <b>" not in page
    enter(desk, door, 2)
    enter(desk, door, 3)
    full = desk.guest().post(door, data={"name": "Z", "contact": "z"})
    assert "All places are taken." in words(full)
    # The organiser frees a place; the next one who comes takes it.
    desk.do(slug, "reviewers/1/link")
    assert desk.guest().get(link).status_code == 401
    assert "Take a place" in guest.get(door).text
    again = enter(desk, door, 4)
    assert again != link
    rate_all(desk.guest(), again)
    desk.refuse(f"/e/{slug}/reviewers/1/link", 409, "has begun")


def test_a_door_opens_and_closes_with_the_evaluation(desk: Desk) -> None:
    form = {"places": "4", "reviewers": "Ada", "reserves": ""}
    slug = desk.sealed(title="Hours", begin="later", **form)
    assert list(desk.links(slug)) == ["Ada"]
    door = open_door(desk, slug)
    closed = {"name": "A", "contact": "a"}
    assert "not open now" in desk.guest().get(door).text
    assert desk.guest().post(door, data=closed).status_code == 423
    desk.do(slug, "open")
    enter(desk, door, 1)
    another = open_door(desk, slug)
    assert another != door
    assert desk.guest().get(door).status_code == 404
    desk.do(slug, "pause")
    assert desk.guest().post(another, data=closed).status_code == 423
    desk.do(slug, "resume", "door/close")
    for path in (another, "/d/" + "0" * 26, "/d/x"):
        assert desk.guest().get(path).status_code == 404
        assert desk.guest().post(path, data=closed).status_code == 404
    plain = desk.sealed(title="No places")
    desk.refuse(f"/e/{plain}/door/open", 409, "No places for whoever comes")
    desk.refuse(f"/e/{plain}/door/shut", 404)


def test_who_comes_at_once_gets_different_places(desk: Desk) -> None:
    slug = desk.sealed(title="Rush", places="5", reviewers="", reserves="", top="2")
    digest = guard.digest(open_door(desk, slug)[3:])
    site = desk.served.site

    async def rush() -> list[object]:
        def come(number: int) -> Callable[..., int]:
            name = f"V{number}"
            return lambda c, now: actions.take_place(c, now, digest, name, name)

        coming = [site.writer.change(come(number)) for number in range(8)]
        return list(await asyncio.gather(*coming, return_exceptions=True))

    got = asyncio.run(rush())
    assert sorted(it for it in got if isinstance(it, int)) == [1, 2, 3, 4, 5]
    assert sum(isinstance(it, RefusedError) for it in got) == 3


def test_places_are_sealed_before_anybody_comes(desk: Desk) -> None:
    slug = desk.sealed(title="Sealed", places="12", reviewers="", reserves="")
    public = desk.guest().get(f"/p/{slug}").text
    assert "12 reviewers" in public
    with desk.served.store.read() as connection:
        row = reads.evaluation(connection, slug)
        assert row is not None
        before = [json.dumps(dict(reads.lists(connection, row.id)), default=str)]
        head = row.head_hash
    door = open_door(desk, slug)
    enter(desk, door, 1)
    with desk.served.store.read() as connection:
        row = reads.evaluation(connection, slug)
        assert row is not None
        assert [
            json.dumps(dict(reads.lists(connection, row.id)), default=str)
        ] == before
        # Who took which place is in no line of the log.
        assert row.head_hash == head
