"""Hostile input: scripts in every label, forms of any kind, lists too large."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import io
import os
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import OptionError
from evenhand.web import guard
from evenhand.web.lists import MOST_BYTES, lines_from_file, read_items
from evenhand.web.store import link_token
from tests.web.desk import Desk, rate, words
from tests.web.world import FORM

NASTY = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'onmouseover='alert(1)",
    "{{ 7*7 }}{% raw %}",
    "javascript:alert(1)",
    "=cmd|' /C calc'!A0",
    "@SUM(1+1)",
    "../../etc/passwd",
    "a\u202eb\u0000c",
    "Robert'); DROP TABLE event;--",
]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = Desk(str(tmp_path_factory.mktemp("db") / "e.db"))
    yield made
    made.close()


def items(words_: list[str]) -> str:
    return "\n".join(re.sub(r"[\r\n\0\u202e]", " ", it) for it in words_)


@pytest.fixture(scope="module")
def nasty(desk: Desk) -> str:
    return desk.sealed(
        title=NASTY[0],
        instructions=NASTY[1],
        items=items([f"{it} {n}" for n, it in enumerate(NASTY)]),
        reviewers=items([f"{it} {n}" for n, it in enumerate(NASTY)]),
        reserves="",
    )


def harmless(text: str) -> bool:
    """Say whether no payload got into a page as markup."""
    found = ("<script>alert", "<img src=x", "'onmouseover='alert", ">49<")
    return not any(it in text for it in found)


def test_nothing_that_people_typed_becomes_markup(desk: Desk, nasty: str) -> None:
    pages = [
        desk.client.get(path)
        for path in (
            "/",
            f"/e/{nasty}",
            f"/e/{nasty}/links",
            f"/e/{nasty}/links/print",
            f"/e/{nasty}/reviewers/1",
            f"/p/{nasty}",
        )
    ]
    guest = desk.guest()
    key = desk.served.store.key
    link = f"/r/{guard.base32(link_token(key, nasty, 1, 1))}"
    pages.append(guest.get(link))
    guest.post(f"{link}/begin")
    pages.append(guest.get(link))
    guest.post(
        f"{link}/items/1",
        data={"score": NASTY[1], "base": "0", "key": "0" * 32, "note": NASTY[0]},
    )
    wrong = guest.post(
        f"{link}/items/1", data={"score": NASTY[1], "base": "0", "key": "0" * 32}
    )
    assert wrong.status_code == 422
    pages.append(wrong)
    answer = rate(guest, link, 1, 50)
    assert answer.status_code == 201
    guest.post(
        f"{link}/items/2",
        data={"score": "5", "base": "0", "key": "1" * 32, "note": NASTY[1]},
    )
    pages.append(guest.get(link))
    assert all(page.status_code in (200, 422) for page in pages)
    for page in pages:
        assert harmless(page.text), page.url
    assert all("&lt;script&gt;" in page.text for page in pages)


def test_csv_files_are_safe_to_open(desk: Desk, nasty: str) -> None:
    text = desk.client.get(f"/e/{nasty}/links.csv").text
    rows = list(csv.reader(io.StringIO(text)))
    # The links of those who have begun are not in it.
    assert len(rows) in (len(NASTY), len(NASTY) + 1)
    for row in rows:
        for cell in row:
            assert not cell.startswith(("=", "+", "@")), cell


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("list.csv", b"x" * (MOST_BYTES + 1), "at most 5 MB"),
        ("list.exe", b"MZ\x00\x00", ""),
        ("list.csv", b"", "empty"),
        ("list.xlsx", b"PK\x03\x04 not a workbook", ""),
        ("list.csv", b"\xff\xfe\xfa", ""),
        ("list.csv", b"a\n" * 20_050, "at most 20,000"),
        ("list.json", b"[[[[", ""),
    ],
)
def test_bad_uploads_are_refused_in_words(
    desk: Desk, name: str, data: bytes, says: str
) -> None:
    answer = desk.client.post(
        "/e",
        data={"csrf": desk.csrf(), "does": "save", **FORM},
        files={"items_file": (name, data)},
    )
    if data:
        assert answer.status_code in (413, 422), answer.text[:300]
        assert says in words(answer)
        assert "Traceback" not in answer.text


def test_a_workbook_that_unpacks_to_too_much_is_refused(desk: Desk) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * 200_000_000)
        archive.writestr("[Content_Types].xml", b"<Types/>")
    assert len(made.getvalue()) < MOST_BYTES
    answer = desk.client.post(
        "/e",
        data={"csrf": desk.csrf(), "does": "save", **FORM},
        files={"items_file": ("bomb.xlsx", made.getvalue())},
    )
    assert answer.status_code == 422


def test_an_upload_is_shown_before_it_is_used(desk: Desk) -> None:
    answer = desk.client.post(
        "/e/preview",
        data={"csrf": desk.csrf(), **FORM},
        files={
            "items_file": ("list.csv", b"\xef\xbb\xbfitem;title\nt1;Talk 1\nnew;One\n")
        },
    )
    assert answer.status_code == 200
    assert "items: 2 new, 8 gone, 0 the same." in answer.text
    assert "t1\tTalk 1\nnew\tOne" in answer.text
    assert lines_from_file("x.csv", b"a,b\nc,d\n") == "a\tb\nc\td"


def test_too_much_is_refused_before_it_is_read(desk: Desk) -> None:
    link = next(iter(desk.links(desk.sealed()).values()))
    guest = desk.guest()
    big = guest.post(f"{link}/items/1", content=b"x" * 70_000)
    assert big.status_code == 413
    many = guest.post(
        f"{link}/begin",
        content=b"&".join(b"a=b" for _ in range(1000)),
        headers={"content-type": "application/x-www-form-urlencoded"},
    )
    assert many.status_code == 400
    other = guest.post(
        f"{link}/begin", content=b"x", headers={"content-type": "text/x"}
    )
    assert other.status_code == 415
    huge = desk.client.post(
        "/e",
        content=b"x" * (7 * 2**20),
        headers={"content-type": "multipart/form-data"},
    )
    assert huge.status_code in (400, 413)


def test_wrong_links_are_refused_and_tell_nothing(desk: Desk) -> None:
    guest = desk.guest()
    for text in ("x", "0" * 26, "%00", "' or 1=1", "é" * 26, "0" * 5000):
        for answer in (guest.get(f"/r/{text}"), guest.post(f"/r/{text}/begin")):
            assert answer.status_code in (400, 404, 405), text
    for number in range(200):
        assert guest.get(f"/r/{os.urandom(13).hex()}").status_code == 404, number


@given(st.text(max_size=200))
def test_lists_are_read_or_refused(text: str) -> None:
    found = []
    with contextlib.suppress(OptionError):
        found = read_items(text)
    assert len({it.label for it in found}) == len(found)
    assert all(it.label.isprintable() for it in found)


@pytest.mark.parametrize(
    ("hosts", "status"),
    [
        (["127.0.0.1:18101"], 200),
        (["LOCALHOST"], 200),
        (["[::1]:8000"], 200),
        (["127.0.0.1:18101@evil.org"], 400),
        (["127.0.0.1:x"], 400),
        (["127.0.0.1:80:80"], 400),
        (["127.0.0.1/evil"], 400),
        (["evil.org#127.0.0.1:80"], 400),
        (["[127.0.0.1"], 400),
        (["::1"], 400),
        (["evil.org"], 400),
        ([""], 400),
        ([], 400),
        (["evil.org", "127.0.0.1"], 400),
    ],
)
def test_a_host_is_a_name_and_maybe_a_port(
    desk: Desk, hosts: list[str], status: int
) -> None:
    app, told = desk.served.app, []

    async def ask() -> None:
        async def send(part: Any) -> None:
            told.append(part)

        headers = [(b"host", host.encode()) for host in hosts]
        scope = {"type": "http", "method": "GET", "path": "/static/app.css"}
        more = {"headers": headers, "query_string": b"", "server": ("127.0.0.1", 80)}
        await app({**scope, **more}, None, send)  # type: ignore[arg-type]  # no body

    asyncio.run(ask())
    assert told[0]["status"] == status
