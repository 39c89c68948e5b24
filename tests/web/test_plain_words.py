"""Words that nobody at a hackathon knows stand behind "Why", never before it."""

from __future__ import annotations

import re

import pytest

from tests.web.desk import Desk, rate_all

pytestmark = pytest.mark.usefixtures("no_reports")
JARGON = re.compile(
    r"Kendall|Theorem|increasing scales|\bhead\b|draw \d+ of|\d repairs?\b|\btau\b",
    re.I,
)


def open_words(text: str) -> str:
    """Return what a page shows before anybody opens a part of it."""
    text = re.sub(r"<head>.*?</head>", "", text, flags=re.DOTALL)
    text = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)
    return re.sub(r"<[^>]*>", " ", text)


def test_no_page_of_an_evaluation_begins_with_jargon(desk: Desk) -> None:
    slug, guest = desk.sealed(title="Words", method="safe"), desk.guest()
    desk.do(slug, "reviewers/8/reserve")
    pages = [desk.client.get("/e/new").text, desk.client.get(f"/e/{slug}").text]
    for link in desk.links(slug).values():
        pages.append(guest.get(link).text)
        rate_all(guest, link)
        pages.append(guest.get(link).text)
    pages += [desk.client.get(f"/e/{slug}/close").text, desk.decide(slug)]
    desk.do(slug, "publish", ratings="yes")
    pages += [desk.client.get(f"/e/{slug}").text, guest.get(f"/p/{slug}").text]
    assert not [word for page in pages for word in JARGON.findall(open_words(page))]
    # It is there for who asks.
    assert "Kendall" in pages[-1]
    assert "Since then 1 change for people who did not come" in open_words(pages[-1])


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"scale": "order"},
        {"job": "select"},
        {"job": "compare", "items": "a\nb"},
        {"conflicts": "Person 1, t1"},
    ],
)
def test_the_preview_says_one_plain_sentence_for_each_method(
    desk: Desk, more: dict[str, str]
) -> None:
    text = desk.post("/e/preview", **{**_form(), **more}).text
    part = text.partition('id="preview">')[2].partition("</section>")[0]
    assert not JARGON.findall(open_words(part))
    if more.get("job") == "select":
        assert "the chosen hold at least as many" in open_words(part)
    assert part.count("<summary>Why</summary>") == part.count("<dt>Method") >= 1


def _form() -> dict[str, str]:
    names = "\n".join(f"Person {n}" for n in range(1, 9))
    items = "\n".join(f"t{n}, Talk {n}" for n in range(1, 9))
    return {"title": "Words", "items": items, "reviewers": names}
