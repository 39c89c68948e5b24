"""A selection in words, as a chart and as a page that draws again in a browser."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

import evenhand as eh
from docs import cases
from evenhand.words import selections
from evenhand.words.page import Replay, report
from tests.words.test_report_browser import (
    CHROMIUM,
    DESK,
    FLAGS,
    NASTY,
    OPEN_ALL,
    PHONE,
    Opened,
    pages,
)

PANEL = "examples/panel.csv"
SECRETS = ["0" * 64, "f" * 64, f"{7:064x}"]
SECRETS += [hashlib.sha256(bytes([number])).hexdigest() for number in range(3)]
QUOTAS = {"odd": ([f"P{number:02d}" for number in range(1, 12, 2)], 1, 2)}
# What a draw must never be called.
BETTER = ("better", "best", "winner", "merit")


def panel(secret: str | None = None, **options: object) -> eh.Selection:
    """Select 4 of 12 proposals."""
    return eh.select(PANEL, places=4, secret=secret, **options)  # type: ignore[arg-type]


def test_the_first_lines_decide_and_the_last_says_how_to_draw() -> None:
    chosen, drawn = panel(), panel(SECRETS[0])
    groups = [row.group for row in chosen.rows]
    sizes = [groups.count(group) for group in ("in", "lottery", "out")]
    first = f"In: {sizes[0]}. Lottery: {sizes[1]} items for {4 - sizes[0]} places. "
    lines = [repr(chosen).splitlines(), repr(drawn).splitlines()]
    assert lines[0][0] == lines[1][0] == f"{first}Out: {sizes[2]}."
    assert lines[0][-1].startswith("Nothing is drawn yet. To draw: ")
    seal = hashlib.sha256(f"evenhand.seal/1:{SECRETS[0]}".encode()).hexdigest()
    assert seal in lines[1][-1]
    assert any(line.startswith("Guarantee: at least ") for line in lines[0])
    whole = selections.parts(chosen, "evenhand select --draw", explained=True)
    assert whole[-1] == "Nothing is drawn yet. To draw: evenhand select --draw"
    for rule in chosen.rules:
        assert any(f"Rule {rule.rule}:" in str(part) for part in whole)


@pytest.mark.parametrize("rule", ["maximin", "cut", "smooth", "shares", "top"])
def test_every_rule_and_source_has_its_words(rule: str) -> None:
    for result in (panel(rule=rule), panel(SECRETS[1], rule=rule)):
        text = repr(result) + result._repr_html_()
        assert f"Rule {rule}" in text
        said = [row.drawn for row in result.rows if row.group == "lottery"]
        lottery = [line for line in repr(result).splitlines() if " drawn" in line]
        assert bool(said) >= bool(lottery)


def test_other_sources_of_intervals_have_their_words(tmp_path: Path) -> None:
    file = tmp_path / "intervals.csv"
    rows = [f"p{place},{9 - place},{11 - place}" for place in range(6)]
    file.write_text("\n".join(["item,low,high", *rows]))
    talks = eh.select("examples/talks.csv", places=2, noise_free=True)
    for result, words in (
        (eh.select(intervals=file, places=2, rng=7), "if all intervals hold at once."),
        (talks, "on any scales, if no reviewer orders two items wrongly."),
    ):
        assert words in repr(result)
        result.report(tmp_path / "page.html")
        assert words in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_drawn_item_is_never_called_better(tmp_path: Path) -> None:
    drawn = panel(SECRETS[2])
    drawn.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    fates = [line for line in page.splitlines() if 'class="fate"' in line]
    assert len(fates) == len(drawn.rows)
    for line in fates:
        sentence = line[line.index('class="fate"') :].casefold()
        assert not any(word in sentence for word in BETTER)
    row = next(row for row in drawn.rows if row.drawn is False and row.chance)
    chance = f"had a chance of {100 * float(row.chance):.3g}%; it was not drawn."
    assert f"<bdi>{row.item}</bdi> {chance}" in page


def test_the_chart_has_a_bar_for_each_item() -> None:
    chart = panel(SECRETS[0]).plot().to_dict()
    (bars,) = chart["datasets"].values()
    assert [bar["rank"] for bar in bars] == [*range(1, 13)]
    assert sum(bar["chance"] for bar in bars) == pytest.approx(4)
    assert "not a mark" in " ".join(chart["title"]["subtitle"])


needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="chromium is missing.")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    for page in pages(browser):
        page.emulate_media(reduced_motion="reduce")
        yield page


@needs_chromium
def test_the_page_draws_what_python_draws(tab: Page, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    results = [(secret, panel(secret)) for secret in SECRETS]
    results += [(secret, panel(secret, quotas=QUOTAS)) for secret in SECRETS[-2:]]
    costs = {f"P{number:02d}": 1 + number % 5 for number in range(1, 13)}
    for quotas in ({}, QUOTAS):
        more: dict[str, Any] = {"budget": 19, "costs": costs, "quotas": quotas}
        paid = eh.select(PANEL, rule="cut", secret=SECRETS[4], **more)
        assert paid.costs is not None
        text, spent = (
            repr(paid),
            sum(costs[str(row.item)] for row in paid.rows if row.drawn),
        )
        assert f"this one costs {spent} and leaves {19 - spent}. One more" in text
        results.append((SECRETS[4], paid))
    many = eh.select(cases.conference(), places=30, rule="shares", secret=SECRETS[3])
    for secret, result in [*results, (SECRETS[3], many)]:
        result.report(file)
        opened = Opened(tab, file)
        tab.locator("[data-part=draw] summary").click()
        tab.locator("#secret").fill("0123" * 16)
        tab.locator("#ceremony button").click()
        ceremony = tab.locator("#ceremony")
        assert "This is not the sealed secret" in ceremony.inner_text()
        tab.locator("#secret").fill(secret)
        tab.locator("#ceremony button").click()
        assert "The same as on this page." in ceremony.inner_text()
        assert ceremony.locator("svg rect").first.is_visible()
        lottery = [row for row in result.rows if row.group == "lottery"]
        drawn = sorted(str(row.item) for row in lottery if row.drawn)
        assert json.loads(ceremony.get_attribute("data-drawn") or "") == drawn
        opened.asks_for_nothing()
    opened.fits(PHONE, DESK)


@needs_chromium
def test_everybody_can_read_it_and_find_theirs(tab: Page, tmp_path: Path) -> None:
    file, odd = (
        tmp_path / "page.html",
        {"P05": NASTY, "P06": "</script>", "P01": "x" * 90},
    )
    hard = eh.read_ratings(PANEL).to_frame()
    hard = hard.with_columns(hard["item"].replace(odd))
    for result in (eh.select(hard, places=4, rng=7), panel(), panel(SECRETS[0])):
        result.report(file)
        opened = Opened(tab, file)
        tab.evaluate(OPEN_ALL)
        opened.accessible("open")
        tab.locator("#theme").click()
        opened.accessible("dark")
        opened.fits(PHONE, DESK)
        opened.asks_for_nothing()
    row = next(row for row in result.rows if row.drawn is False and row.chance)
    tab.get_by_label("Search items").fill(str(row.item))
    status = tab.locator(".list [role=status]").first.inner_text()
    assert status == (
        f"{row.item} had a chance of {100 * float(row.chance):.3g}%; it was not drawn."
    )


def test_a_public_page_names_no_folder_of_its_maker() -> None:
    typed = "evenhand select /srv/ada/panel.csv --places 4 --secret /srv/ada/s.json"
    replay = Replay(typed, "evenhand audit /srv/ada/r.json panel.csv")
    chosen = panel(SECRETS[0])
    text = report(chosen.ratings, chosen, replay=replay)  # type: ignore[arg-type]  # read
    assert "evenhand select panel.csv --places 4 --secret s.json" in text
    assert "evenhand audit r.json panel.csv" in text
    assert "/srv/ada" not in text
