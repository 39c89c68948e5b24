"""Select: places by the sealed seed, chances and draw in public; own work hidden."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from evenhand.web import jobs
from evenhand.web.lists import Item, Person
from evenhand.web.plan import take_out_own
from tests.web.desk import Desk, audited, bundle_of, rate, rate_all
from tests.web.test_forged import Events, Files, anew, decide, forge, unzip
from tests.web.test_people import verified
from tests.web.test_walk import level_all, order_all

pytestmark = pytest.mark.usefixtures("no_reports")
REPORT = jobs._report  # noqa: SLF001 - what no_reports takes away
NAMES = [f"Student {n:02}" for n in range(1, 13)]
OWN = {
    "items": "\n".join(f"t{n}, Essay {n}, {who}" for n, who in enumerate(NAMES, 1)),
    "reviewers": "\n".join(f"{who}, {who[-2:]}@example.org" for who in NAMES),
    "reserves": "",
    "own": "yes",
    "per_reviewer": "3",
    "high": "1000",
}


@pytest.fixture(scope="module")
def chosen(
    desk: Desk,
    no_reports: None,  # noqa: ARG001 - while it runs
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    slug = desk.sealed(title="Grants", job="select", top="3")
    guest = desk.guest()
    for number, link in enumerate(desk.links(slug).values()):
        guest.post(f"{link}/begin")
        for place in (1, 2, 3):
            assert rate(guest, link, place, (37 * number + 11 * place) % 100).is_success
    page = desk.decide(slug)
    assert re.search(r"3 places: \d without a draw, \d drawn by lot from \d\.", page)
    desk.do(slug, "publish", ratings="yes")
    return bundle_of(desk, slug, tmp_path_factory.mktemp("chosen"))


def test_places_are_drawn_by_the_sealed_seed_and_the_audit_draws_again(
    desk: Desk, chosen: Path
) -> None:
    code, text = audited(chosen)
    assert code == 0, text
    result = json.loads(unzip(chosen)["decision-1.json"])["result"]
    assert result["schema"] == "evenhand.select/1"
    assert sum(row["drawn"] for row in result["rows"]) == result["places"] == 3
    log = [json.loads(line) for line in unzip(chosen)["log.jsonl"].splitlines()]
    decided = [event for event in log if event["kind"] == "decided"]
    assert result["seed"] == result["draw"]["seed"] == decided[0]["says"]["seed"]
    # The public page has everybody's chance, and who was drawn.
    slug = re.findall(r'href="/e/(\w{12})"><bdi>Grants', desk.client.get("/").text)[0]
    page = desk.guest().get(f"/p/{slug}").text
    for row in result["rows"]:
        if row["group"] == "lottery":
            place = page.index(f"<bdi>{row['item']}</bdi>")
            assert f"(chance {row['chance_exact']})" in page[place : place + 120]


def another_seed(events: Events, files: Files) -> None:
    decide(events, files, seed=7)


def other_places(events: Events, files: Files) -> None:
    decide(events, files, top=2)


@pytest.mark.parametrize("edit", [another_seed, other_places])
def test_another_draw_or_number_of_places_is_found(
    chosen: Path, edit: object, tmp_path: Path
) -> None:
    code, _ = audited(forge(unzip(chosen), anew(), tmp_path / "same.zip"))
    assert code == 0
    path = forge(unzip(chosen), edit, tmp_path / "forged.zip")  # type: ignore[arg-type]  # an edit
    code, text = audited(path)
    assert code == 1, text


@pytest.mark.parametrize("job", ["rank", "select"])
def test_nobody_rates_their_own_and_nothing_public_names_anybody(
    desk: Desk, job: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_report", REPORT)
    slug = desk.sealed(title="Peers", job=job, **OWN)
    guest, owners = desk.guest(), dict(zip(NAMES, range(1, 13), strict=True))
    for name, link in desk.links(slug).items():
        rate_all(guest, link)
        page = guest.get(link).text
        labels = [int(n) for n in re.findall(r'id="label-\d"><bdi>t(\d+)', page)]
        assert len(labels) == 3
        assert owners[name] not in labels
        # Reviewers see titles without the names of who made them.
        assert "Student" not in page.replace(name, "")
    desk.decide(slug)
    desk.do(slug, "publish", ratings="yes")
    bundle = bundle_of(desk, slug, tmp_path)
    page = guest.get(f"/p/{slug}").text
    paths = set(re.findall(rf'href="(/p/{slug}/[^"]+)"', page))
    files = {name: body.decode() for name, body in unzip(bundle).items()}
    assert {f"/p/{slug}/{name}" for name in files if name != "manifest.json"} <= paths
    public = {path: guest.get(path).text for path in paths - {f"/p/{slug}/bundle.zip"}}
    assert len(public[f"/p/{slug}/report-1.html"]) > 10_000
    for name, text in (public | files | {"page": page}).items():
        assert not re.search(r"Student|example\.org", text), name
    names = tmp_path / "names.json"
    names.write_bytes(desk.client.get(f"/e/{slug}/names.json").content)
    code, text = audited(bundle, "--names", names)
    assert code == 0, text
    db = desk.served.store.path
    assert db is not None
    assert verified(db) == 0


def test_own_work_is_found_by_name_or_address_or_refused(desk: Desk) -> None:
    people = [Person("Ann Lee", "ann@x.org"), Person("Bo")]
    items = [
        Item("a", "On trees; ANN  LEE"),
        Item("b", "ann@x.org, Bo, On lists, and more"),
        Item("c", "Of nobody, here"),
    ]
    kept, conflicts = take_out_own(items, people)
    assert [item.title for item in kept] == [
        "On trees",
        "On lists, and more",
        "Of nobody, here",
    ]
    assert conflicts == [("Ann Lee", "a"), ("Ann Lee", "b"), ("Bo", "b")]
    answer = desk.post("/e", does="seal", **{**OWN, "title": "x", "items": "a\nb\nc"})
    assert answer.status_code == 422
    text = desk.post("/e/preview", **{**OWN, "title": "x", "items": "a\nb\nc"}).text
    assert "No item names a reviewer" in text


def test_the_preview_says_what_a_lottery_claims(desk: Desk) -> None:
    form = {**OWN, "title": "Lots", "job": "select", "top": "3"}
    text = desk.post("/e/preview", **form).text
    assert "all intervals hold at once" in text
    text = desk.post("/e/preview", **{**form, "top": "12"}).text
    assert "How many are chosen must be less than the 12 items." in text


@pytest.mark.parametrize("scale", ["order", "letters"])
def test_places_are_drawn_on_other_scales(
    desk: Desk, scale: str, tmp_path: Path
) -> None:
    slug = desk.sealed(title=scale, job="select", top="3", scale=scale)
    guest = desk.guest()
    for link in desk.links(slug).values():
        order_all(guest, link, 3) if scale == "order" else level_all(guest, link, 3)
    desk.decide(slug)
    desk.do(slug, "publish", ratings="yes")
    code, text = audited(bundle_of(desk, slug, tmp_path))
    assert code == 0, text
