"""From two lists to an audited decision, in process."""

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2 as httpx
import pytest
from click.testing import CliRunner

from evenhand.cli import cli
from evenhand.records.bundle import read_bundle, write_bundle
from evenhand.web import jobs
from tests.web.desk import Desk, bundle_of, decided, rate_all, words


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = Desk(str(tmp_path_factory.mktemp("db") / "e.db"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def published(desk: Desk) -> str:
    return decided(desk)


def test_the_bundle_passes_the_audit(
    desk: Desk, published: str, tmp_path: Path
) -> None:
    path = bundle_of(desk, published, tmp_path)
    found = CliRunner().invoke(cli, ["audit", str(path)])
    assert found.exit_code == 0, found.output
    assert "Nothing differs; 3 things could not be checked." in found.output
    assert "Whether the page shows the decision was not checked." in found.output


def test_a_reviewer_finds_rating_and_nonce_in_what_was_published(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_report", lambda _: "A report.")
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
    assert desk.post(f"/e/{slug}/close").status_code == 303
    assert desk.post(f"/e/{slug}/jobs/decision").status_code == 303
    assert "21 nonces of reviewers" in desk.wait(slug)
    assert desk.post(f"/e/{slug}/publish").status_code == 303
    for asked, words_there in {
        receipt: "of the log.",
        f"{receipt} {nonce}": "with the nonce of your receipt.",
        f"{receipt} {'0' * 32}": "but without the nonce of your receipt.",
        "0" * 64: "The log has no such event.",
    }.items():
        page = guest.get(f"/p/{slug}", params={"receipt": asked}).text
        assert words_there in page
    mine = tmp_path / "my-ratings.json"
    mine.write_text(guest.get(f"{links[1]}/mine.json").text)
    path = str(bundle_of(desk, slug, tmp_path))
    found = CliRunner().invoke(cli, ["audit", path, "--receipts", str(mine)])
    assert found.exit_code == 0, found.output
    assert "3 receipts that you kept, each in the log" in found.output
    mine.write_text(mine.read_text().replace(nonce, "0" * 32))
    found = CliRunner().invoke(cli, ["audit", path, "--receipts", str(mine)])
    assert found.exit_code == 1, found.output


def test_ratings_are_checked_before_anybody_decides(desk: Desk) -> None:
    slug = desk.sealed(title="Checked")
    for link in list(desk.links(slug).values())[:4]:
        rate_all(desk.guest(), link)
    assert desk.post(f"/e/{slug}/close").status_code == 303
    assert desk.post(f"/e/{slug}/jobs/check").status_code == 303
    desk.wait(slug)
    report = desk.client.get(f"/e/{slug}/check/1/report")
    assert report.status_code == 200
    assert "4 reviewers" in report.text


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
def test_other_scales_and_methods_pass_the_audit(
    desk: Desk, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An audit does not look at the report, which takes longest to make.
    monkeypatch.setattr(jobs, "_report", lambda _: "A report.")
    form, rate_them, size = KINDS[kind]
    slug = desk.sealed(**form)
    guest = desk.guest()
    for link in desk.links(slug).values():
        rate_them(guest, link, size)
    assert desk.post(f"/e/{slug}/close").status_code == 303
    assert desk.post(f"/e/{slug}/jobs/decision").status_code == 303
    page = desk.wait(slug)
    assert "Report<span" in page, words(desk.client.get(f"/e/{slug}"))
    assert desk.post(f"/e/{slug}/publish", ratings="yes").status_code == 303
    assert desk.guest().get(f"/p/{slug}").status_code == 200
    found = CliRunner().invoke(cli, ["audit", str(bundle_of(desk, slug, tmp_path))])
    assert found.exit_code == 0, found.output


def test_a_bundle_without_ratings_is_checked_as_far_as_it_goes(
    desk: Desk, published: str, tmp_path: Path
) -> None:
    assert desk.post(f"/e/{published}/publish").status_code == 303
    path = bundle_of(desk, published, tmp_path)
    found = CliRunner().invoke(cli, ["audit", str(path)])
    assert found.exit_code == 0
    assert "ratings: The ratings were not published." in found.output
    assert "No decision was replayed" in found.output
    seal = tmp_path / "seal.txt"
    seal.write_text("0" * 64)
    other = CliRunner().invoke(cli, ["audit", str(path), "--seal", str(seal)])
    assert other.exit_code == 1
    assert "You noted another one" in other.output
    mixed = CliRunner().invoke(cli, ["audit", str(path), "x.csv"])
    assert mixed.exit_code == 2


def test_a_forged_bundle_is_found(desk: Desk, published: str, tmp_path: Path) -> None:
    """Somebody changes a rating and makes all plain hashes fit again."""
    assert desk.post(f"/e/{published}/publish", ratings="yes").status_code == 303
    path = bundle_of(desk, published, tmp_path)
    files = read_bundle(path.read_bytes(), "bundle")
    head = json.loads(files.pop("manifest.json"))["head"]
    for name, old, new in (
        ("ratings.csv", b",81\n", b",80\n"),
        ("lists.json", b'"top":3', b'"top":2'),
        ("payloads.jsonl", b'"score":81', b'"score":80'),
        ("log.jsonl", b'"kind":"begun"', b'"kind":"tired"'),
        ("report-1.html", b"<h1", b"<h2"),
    ):
        assert old in files[name], name
        forged = {**files, name: files[name].replace(old, new, 1)}
        path.write_bytes(write_bundle(forged, head))
        found = CliRunner().invoke(cli, ["audit", str(path)])
        assert found.exit_code in (1, 2), name
