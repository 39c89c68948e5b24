"""What the pages say was decided: no more than the report, and about every item."""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from evenhand.records.bundle import audit_bundle
from evenhand.words.lines import p_value_text
from tests.web.desk import Desk, bundle_of, rate, rate_all

TEN = "\n".join(f"{letter}, Talk {letter.upper()}" for letter in "abcdefghij")


def plain(text: str) -> str:
    return " ".join(html.unescape(re.sub("<[^>]*>", "", text)).split())


def part(page: str, tag: str) -> str:
    """Return the text of the first element that begins with a tag."""
    name, _, _ = tag.partition(" ")
    found = re.search(rf"<{tag}[^>]*>(.*?)</{name}>", page, re.DOTALL)
    assert found is not None, page
    return plain(found[1])


def rated(desk: Desk, slug: str, score: Callable[[str, int], float]) -> None:
    """Let everybody rate, by the item's label and their own number."""
    guest = desk.guest()
    for number, link in enumerate(desk.links(slug).values()):
        assert guest.post(f"{link}/begin").status_code == 303
        page = guest.get(link).text
        labels = re.findall(r'id="label-(\d+)"><bdi>(\w+)', page)
        for place, label in labels:
            given = score(label, number)
            assert rate(guest, link, int(place), given).status_code == 201
        assert guest.post(f"{link}/done").status_code == 303


def decide(desk: Desk, slug: str) -> None:
    desk.decide(slug)
    desk.do(slug, "publish", ratings="yes")


def test_ratings_are_checked_before_anybody_decides(desk: Desk) -> None:
    slug = desk.sealed(title="Checked")
    for link in list(desk.links(slug).values())[:4]:
        rate_all(desk.guest(), link)
    desk.do(slug, "close", "jobs/check")
    desk.wait(slug)
    report = desk.client.get(f"/e/{slug}/check/1/report")
    assert report.status_code == 200
    assert "4 reviewers" in report.text


def test_pages_say_of_a_ranking_what_the_report_says(desk: Desk) -> None:
    slug = desk.sealed(items=TEN, per_reviewer="4")
    # Everybody disagrees, so that nobody can be sure.
    rated(desk, slug, lambda label, who: 10 * ((ord(label) * 7 + who * 3) % 10) + who)
    decide(desk, slug)
    public, own = desk.guest().get(f"/p/{slug}"), desk.client.get(f"/e/{slug}")
    report = desk.guest().get(f"/p/{slug}/report-1.html")
    headline = part(report.text, 'h1 id="verdict"')
    assert re.fullmatch(
        r"None of 10 is safely in; \d+ compete for .* places\.", headline
    )
    for page, tag in ((public, "h2"), (own, 'p class="lead"')):
        assert part(page.text, tag) == headline
        text = plain(page.text)
        assert "The best 3" not in text
        assert re.search(
            r"Too close to call \(\d+ items, 3 places\): \w Talk \w, ", text
        )
        assert "By rank alone, the" in text
        assert "rank interval crosses the cut" in text


def test_pages_say_of_a_comparison_what_the_report_says(desk: Desk) -> None:
    slug = desk.sealed(job="compare", items="A, Design A\nB, Design B")
    seen: Counter[str] = Counter()

    def score(label: str, _: int) -> float:
        # Whoever was drawn for which, the two have nearly the same scores.
        seen[label] += 1
        return 50.0 + 9 * seen[label] + (label == "A")

    rated(desk, slug, score)
    decide(desk, slug)
    public, own = desk.guest().get(f"/p/{slug}"), desk.client.get(f"/e/{slug}")
    report = desk.guest().get(f"/p/{slug}/report-1.html")
    headline = part(report.text, 'h1 id="verdict"')
    assert re.fullmatch(r"(A Design A|B Design B) comes out ahead of .*\.", headline)
    record = json.loads(desk.guest().get(f"/p/{slug}/decision-1.json").text)
    p_value = record["result"]["p_value"]
    assert p_value > 0.05
    for page, tag in ((public, "h2"), (own, 'p class="lead"')):
        assert f"{part(page.text, tag)}." == headline
        text = plain(page.text)
        assert "Better" not in text
        assert f", p = {p_value_text(p_value)} (midrank test). It assumes" in text


def test_items_that_nobody_rates_are_named_everywhere(
    desk: Desk, tmp_path: Path
) -> None:
    form = {"items": TEN, "reviewers": "Ada\nBo", "reserves": "", "top": "3"}
    seen = desk.post("/e/preview", title="Few", **form)
    assert "4 of 10 items will have no reviewer and get no rating." in seen.text
    slug = desk.sealed(**form)
    for page in ("/links", ""):
        text = plain(desk.client.get(f"/e/{slug}{page}").text)
        assert "4 of 10 items have no reviewer, so nobody will judge them." in text
    rated(desk, slug, lambda label, who: 10.0 * ord(label) % 97 + who)
    desk.do(slug, "close")
    closed = plain(desk.client.get(f"/e/{slug}").text)
    desk.do(slug, "jobs/decision")
    desk.wait(slug)
    desk.do(slug, "publish", ratings="yes")
    result = json.loads(desk.guest().get(f"/p/{slug}/decision-1.json").text)["result"]
    lost = sorted(set("abcdefghij") - set(result["order"]))
    assert len(lost) == 4
    assert f"Not judged (4): {', '.join(lost)}. No rating of them counts" in closed
    warnings = {it["code"]: it["message"] for it in result["warnings"]}
    told = "4 of 10 items were not judged and are not in the result: "
    assert warnings["unrated_items"] == f"{told}{', '.join(map(repr, lost))}."
    names = [f"{it} Talk {it.upper()}" for it in lost]
    named = f"Not judged (4): {', '.join(names[:3])} and {names[3]}."
    report = desk.guest().get(f"/p/{slug}/report-1.html")
    assert part(report.text, 'h1 id="verdict"').endswith("; 4 were not judged.")
    assert told in plain(report.text)
    for page_ in (desk.guest().get(f"/p/{slug}"), desk.client.get(f"/e/{slug}")):
        assert "; 4 were not judged." in plain(page_.text)
        assert named in plain(page_.text)
    assert audit_bundle(bundle_of(desk, slug, tmp_path)).identical
