"""Hostile input: scripts in every label, forms of any kind, lists too large."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import gzip
import io
import os
import re
import zipfile
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import OptionError
from evenhand.web import guard
from evenhand.web.lists import MOST_BYTES, MOST_UNPACKED, read_items
from evenhand.web.store import link_token
from tests.web.desk import Desk, exchange, rate, scope_of, words
from tests.web.world import FORM

if TYPE_CHECKING:
    import httpx2 as httpx

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


def bomb() -> bytes:
    """Return a workbook that unpacks to 200 MB."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * 200_000_000)
        archive.writestr("[Content_Types].xml", b"<Types/>")
    return made.getvalue()


@cache
def lines() -> bytes:
    """Return a list that unpacks to more than may be."""
    return gzip.compress(b"a\n" * (MOST_UNPACKED // 2 + 1), 1)


UPLOADS: dict[str, tuple[str, bytes | Callable[[], bytes], str]] = {
    "too large": ("list.csv", b"x" * (MOST_BYTES + 1), "at most 5 MB"),
    "a program": ("list.exe", b"MZ\x00\x00", ""),
    "no workbook": ("list.xlsx", b"PK\x03\x04 not a workbook", ""),
    "no text": ("list.csv", b"\xff\xfe\xfa", ""),
    "too long": ("list.csv", b"a\n" * 20_050, "at most 20,000"),
    "half a list": ("list.json", b"[[[[", ""),
    "columns": ("list.parquet", b"PAR1 PAR1", "must be CSV"),
    "a bomb": ("list.csv.gz", lines, "unpacks to at least"),
    "a bomb in parts": (
        "list.csv.gz",
        lambda: gzip.compress(b"a\n") + lines(),
        "unpacks to at least",
    ),
    "a bomb of a workbook": ("bomb.xlsx", bomb, ""),
}


def upload(desk: Desk, path: str, name: str, data: bytes) -> httpx.Response:
    form = {"csrf": desk.csrf(), "does": "save", **FORM}
    return desk.client.post(path, data=form, files={"items_file": (name, data)})


@pytest.mark.parametrize("kind", UPLOADS)
def test_bad_uploads_are_refused_in_words(desk: Desk, kind: str) -> None:
    name, made, says = UPLOADS[kind]
    data = made if isinstance(made, bytes) else made()
    assert len(data) < MOST_BYTES or kind == "too large"
    answer = upload(desk, "/e", name, data)
    assert answer.status_code in (413, 422), answer.text[:300]
    assert says in words(answer)
    assert "Traceback" not in answer.text


def test_an_upload_is_shown_before_it_is_used(desk: Desk) -> None:
    table = b"\xef\xbb\xbfitem;title\nt1;Talk 1\nnew;One\n"
    for name, data in (("list.csv", table), ("list.csv.gz", gzip.compress(table))):
        answer = upload(desk, "/e/preview", name, data)
        assert answer.status_code == 200
        assert "items: 2 new, 8 gone, 0 the same." in answer.text
        assert "t1\tTalk 1\nnew\tOne" in answer.text
    refused = upload(desk, "/e/preview", "list.csv.gz", lines())
    assert refused.status_code == 200
    assert "unpacks to at least" in refused.text


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


OWN = [["127.0.0.1:18101"], ["LOCALHOST"], ["[::1]:8000"], ["localhost"]]
OTHERS = [
    *(["127.0.0.1:18101@evil.org"], ["127.0.0.1:x"], ["127.0.0.1:80:80"], ["[::2]"]),
    *(["127.0.0.1/evil"], ["evil.org#127.0.0.1:80"], ["[127.0.0.1"], ["::1"], [""]),
    *(["evil.org"], ["127.0.0.1.evil.org"], [], ["evil.org", "127.0.0.1"]),
]


@pytest.mark.parametrize("hosts", [*OWN, *OTHERS])
def test_a_host_is_a_name_and_maybe_a_port(desk: Desk, hosts: list[str]) -> None:
    headers = [(b"host", host.encode()) for host in hosts]
    scope = scope_of("GET", "/static/app.css", b"", headers)
    (head, body), _ = asyncio.run(exchange(desk.served.app, scope, b""))
    assert head["status"] == (200 if hosts in OWN else 400)
    assert hosts in OWN or b"not served here" in body["body"]
