"""From two lists to an audited decision, in process."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import httpx2 as httpx
import pytest

from tests.web.desk import Desk, audited, bundle_of, rate_all, words


def test_the_bundle_passes_the_audit(desk: Desk, tmp_path: Path) -> None:
    slug = desk.sealed()
    desk.finish(slug, most=7)
    code, text = audited(bundle_of(desk, slug, tmp_path))
    assert code == 0, text
    assert "Nothing differs; 3 things could not be checked." in text
    assert "Whether the page shows the decision was not checked." in text


@pytest.mark.usefixtures("no_reports")
def test_a_reviewer_finds_rating_and_nonce_in_what_was_published(
    desk: Desk, tmp_path: Path
) -> None:
    slug, guest = desk.sealed(title="Nonces"), desk.guest()
    links = list(desk.links(slug).values())
    level_all(guest, links[0], 3)
    for link in links[1:]:
        rate_all(guest, link)
    wrong = {"base": 1, "kind": "score", "score": 5, "nonce": "x" * 32}
    told = {"accept": "application/json", "idempotency-key": os.urandom(16).hex()}
    answer = guest.post(f"{links[1]}/items/1", json=wrong, headers=told)
    assert answer.status_code == 422
    assert answer.json()["message"] == "The nonce must be 32 hexadecimal digits."
    plain, own = (guest.get(f"{it}/mine.json").json()["sent"] for it in links[:2])
    # Without a script there is no nonce, and the server makes none up.
    assert [it["nonce"] for it in plain] == [None] * 3
    assert all(re.fullmatch("[0-9a-f]{32}", it["nonce"]) for it in own)
    receipt, nonce = own[0]["receipt"], own[0]["nonce"]
    assert f"{receipt} {nonce}" in guest.get(links[1]).text
    assert "21 random numbers from reviewers" in desk.decide(slug)
    desk.do(slug, "publish")
    for asked, words_there in {
        receipt: "of the log.",
        f"{receipt} {nonce}": "with the second number of your receipt.",
        f"{receipt} {'0' * 32}": "but without the second number of your receipt.",
        "0" * 64: "The log has no such event.",
    }.items():
        page = guest.get(f"/p/{slug}", params={"receipt": asked}).text
        assert words_there in page
    mine = tmp_path / "my-ratings.json"
    mine.write_text(guest.get(f"{links[1]}/mine.json").text)
    path = bundle_of(desk, slug, tmp_path)
    code, text = audited(path, "--receipts", mine)
    assert code == 0, text
    assert "3 receipts that you kept, each in the log" in text
    mine.write_text(mine.read_text().replace(nonce, "0" * 32))
    assert audited(path, "--receipts", mine)[0] == 1


def order_all(client: httpx.Client, link: str, size: int) -> None:
    """Begin and put the items in order, by a form without a script."""
    assert client.post(f"{link}/begin").status_code == 303
    page = client.get(link).text
    shown = re.findall(r'<li data-place="(\d+)"><span><strong><bdi>t(\d+)', page)
    best = sorted(shown, key=lambda pair: -int(pair[1]))
    data = {"order": ",".join(place for place, _ in best), "key": os.urandom(16).hex()}
    data |= {f"base_{place}": "0" for place in range(1, size + 1)}
    assert client.post(f"{link}/order", data=data).status_code == 303
    assert client.post(f"{link}/done").status_code == 303


def level_all(client: httpx.Client, link: str, size: int) -> None:
    """Begin and choose a level or give a number for every item, by forms."""
    assert client.post(f"{link}/begin").status_code == 303
    page = client.get(link).text
    for place in range(1, size + 1):
        label = re.search(rf'id="label-{place}"><bdi>t(\d+)', page)
        assert label is not None
        data = {"score": str(1 + int(label[1]) % 4), "base": "0", "note": "=1+1"}
        data["key"] = os.urandom(16).hex()
        answer = client.post(f"{link}/items/{place}", data=data)
        assert answer.status_code == 303, words(answer)
    client.post(f"{link}/equal")


KINDS: dict[
    str, tuple[dict[str, str], Callable[[httpx.Client, str, int], None], int]
] = {
    "order": ({"scale": "order"}, order_all, 3),
    "letters": ({"scale": "letters", "unfinished": "keep"}, level_all, 3),
    "compare": ({"job": "compare", "items": "t1, One\nt2, Two"}, level_all, 1),
    "safe": (
        {"method": "safe", "top": "2"},
        lambda client, link, _: rate_all(client, link),
        3,
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("no_reports")
def test_other_scales_and_methods_pass_the_audit(
    desk: Desk, kind: str, tmp_path: Path
) -> None:
    form, rate_them, size = KINDS[kind]
    slug = desk.sealed(**form)
    guest = desk.guest()
    for link in desk.links(slug).values():
        rate_them(guest, link, size)
    assert "Report<span" in desk.decide(slug)
    desk.do(slug, "publish", ratings="yes")
    assert guest.get(f"/p/{slug}").status_code == 200
    code, text = audited(bundle_of(desk, slug, tmp_path))
    assert code == 0, text
