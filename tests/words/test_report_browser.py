"""The report in a browser: Debian's chromium, with the network off."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from evenhand import Ratings, compare, rank, read_ratings
from evenhand.diagnosis.check import check
from evenhand.diagnosis.warp import warp
from evenhand.words.page import (
    Replay,
    report,
)

CHROMIUM = shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run"]
FLAGS += ["--disable-background-networking"]
NASTY = '<img src=x onerror="document.title=1">'
pytestmark = pytest.mark.skipif(
    CHROMIUM is None,
    reason="The report is not opened in a browser, because chromium is missing. On "
    "Debian: apt-get install chromium.",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports of each kind, in files."""
    path = tmp_path_factory.mktemp("reports")
    ratings = read_ratings("examples/panel.csv")
    page = report(
        ratings,
        rank(ratings, top=4, rng=7),
        check=check(ratings, rng=7),
        warp=warp(ratings, method="adaptive", top=4, draws=5, rng=7),
        replay=Replay("evenhand rank examples/panel.csv", None, "", "panel.csv"),
    )
    (path / "ranking.html").write_text(page, encoding="utf-8")
    designs = read_ratings("examples/designs.csv")
    page = report(
        designs, compare(designs, design="halves", rng=1), replay=Replay("evenhand")
    )
    (path / "comparison.html").write_text(page, encoding="utf-8")
    labels = [NASTY, "</script>", "y", "z"]
    hard = Ratings(labels * 3, [*labels, *labels[1:], "w", "w", *labels[:3]], range(12))
    page = report(hard, check(hard, rng=7), replay=Replay("evenhand"))
    (path / "check.html").write_text(page, encoding="utf-8")
    return path


class Opened:
    """A page opened from a file without a network, and all that it did."""

    def __init__(self, context: BrowserContext, file: Path) -> None:
        context.set_offline(offline=True)
        self.page: Page = context.new_page()
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on(
            "console",
            lambda said: (
                self.errors.append(said.text) if said.type == "error" else None
            ),
        )
        self.address = file.as_uri()
        self.page.goto(self.address)

    def drawn(self) -> int:
        """Wait until every chart is there."""
        charts = self.page.locator(".chart")
        for place in range(charts.count()):
            expect(charts.nth(place)).to_have_attribute("data-state", "drawn")
        return charts.count()

    def items(self) -> list[str]:
        cells = self.page.locator("#ranking-table tbody tr:not([hidden]) th bdi")
        return [text for text in cells.all_text_contents() if text.startswith("P")]


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 1200, "height": 900})
    yield made
    made.close()


@pytest.mark.parametrize("name", ["ranking", "comparison", "check"])
def test_it_opens_without_a_network_asks_for_nothing_and_is_accessible(
    context: BrowserContext, folder: Path, name: str
) -> None:
    opened = Opened(context, folder / f"{name}.html")
    opened.drawn()
    title = opened.page.title()
    assert "by evenhand" in title
    # axe adds a style of its own; nothing of the page is changed.
    found = Axe().run(opened.page)
    assert found.violations_count == 0, found.generate_report()
    opened.page.locator("#theme").click()
    dark = Axe().run(opened.page)
    assert dark.violations_count == 0, dark.generate_report()
    assert set(opened.requests) == {opened.address}
    assert opened.errors == []
    assert opened.page.title() == title


def test_the_table_sorts_by_mouse_and_by_keyboard(
    context: BrowserContext, folder: Path
) -> None:
    opened = Opened(context, folder / "ranking.html")
    by_rank = opened.items()
    assert by_rank[:4] == ["P05", "P06", "P01", "P10"]
    table = opened.page.locator("#ranking-table")
    item = table.get_by_role("columnheader", name="item")
    item.get_by_role("button").click()
    assert opened.items() == sorted(by_rank)
    assert item.get_attribute("aria-sort") == "ascending"
    item.get_by_role("button").focus()
    opened.page.keyboard.press("Enter")
    assert opened.items() == sorted(by_rank, reverse=True)
    assert item.get_attribute("aria-sort") == "descending"
    score = table.get_by_role("columnheader", name="mean score")
    score.get_by_role("button").focus()
    opened.page.keyboard.press("Space")
    assert opened.items()[:3] == ["P05", "P06", "P01"]
    assert item.get_attribute("aria-sort") is None
    assert "resorted" in str(table.get_attribute("class"))
    rank_head = table.get_by_role("columnheader", name="rank", exact=True)
    rank_head.get_by_role("button").click()
    assert opened.items() == by_rank[::-1]
    rank_head.get_by_role("button").click()
    assert opened.items() == by_rank
    assert "resorted" not in str(table.get_attribute("class"))
    assert table.locator("tr.cut th bdi").all_text_contents() == ["P11"]


def test_searching_counts_what_is_left(context: BrowserContext, folder: Path) -> None:
    opened = Opened(context, folder / "ranking.html")
    opened.page.get_by_label("Search items").fill("p1")
    assert opened.items() == ["P10", "P11", "P12"]
    status = opened.page.locator('[data-count="ranking-table"]')
    assert status.text_content() == "3 of 12 items"
    assert status.get_attribute("role") == "status"
    opened.page.get_by_label("Search items").fill("")
    assert len(opened.items()) == 12


def test_hovering_a_chart_tells_its_numbers(
    context: BrowserContext, folder: Path
) -> None:
    opened = Opened(context, folder / "ranking.html")
    assert opened.drawn() > 3
    chart = opened.page.locator("#figure-ranks .chart")
    chart.scroll_into_view_if_needed()
    chart.locator("svg .mark-symbol path").first.hover(force=True)
    tooltip = opened.page.locator("#vg-tooltip-element")
    expect(tooltip).to_be_visible()
    assert "P05" in tooltip.inner_text()


def test_charts_can_be_saved_without_a_request(
    context: BrowserContext, folder: Path
) -> None:
    opened = Opened(context, folder / "comparison.html")
    opened.drawn()
    figure = opened.page.locator("figure").first
    for kind, first in (("svg", b"<svg"), ("png", b"\x89PNG")):
        with opened.page.expect_download() as saved:
            figure.get_by_role("button", name=f"Save as {kind.upper()}").click()
        assert saved.value.suggested_filename.endswith(f".{kind}")
        assert Path(saved.value.path()).read_bytes().startswith(first)
    assert not [
        one for one in opened.requests if not one.startswith(("file:", "data:"))
    ]


def test_the_keyboard_reaches_everything_in_order(
    context: BrowserContext, folder: Path
) -> None:
    opened = Opened(context, folder / "ranking.html")
    opened.drawn()
    page = opened.page
    page.keyboard.press("Tab")
    focused = page.locator(":focus")
    assert focused.text_content() == "Skip to the decision"
    box = focused.bounding_box()
    assert box is not None
    assert box["y"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    seen = []
    for _ in range(12):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate(
                "[document.activeElement.getBoundingClientRect().top + scrollY,"
                " getComputedStyle(document.activeElement).outlineStyle]"
            )
        )
    assert [height for height, _ in seen] == sorted(height for height, _ in seen)
    assert {outline for _, outline in seen} == {"solid"}


def test_dark_mode_follows_the_system_and_the_button(
    browser: Browser, folder: Path
) -> None:
    context = browser.new_context(color_scheme="dark")
    opened = Opened(context, folder / "comparison.html")
    opened.drawn()
    colour = "getComputedStyle(document.body).backgroundColor"
    text = "getComputedStyle(document.querySelector('.chart svg text')).fill"
    button = opened.page.get_by_role("button", name="Dark mode")
    assert button.get_attribute("aria-pressed") == "true"
    assert opened.page.evaluate(colour) == "rgb(18, 21, 23)"
    assert opened.page.evaluate(text) == "rgb(232, 234, 237)"
    button.focus()
    opened.page.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "false"
    assert opened.page.evaluate(colour) == "rgb(246, 247, 249)"
    assert opened.page.evaluate(text) == "rgb(27, 31, 36)"
    context.close()


def test_it_prints_light_with_everything_open(browser: Browser, folder: Path) -> None:
    context = browser.new_context(color_scheme="dark")
    opened = Opened(context, folder / "ranking.html")
    opened.drawn()
    page = opened.page
    page.evaluate(
        "window.addEventListener('beforeprint', () => { window.open_then ="
        " document.querySelectorAll('details.more:not([open])').length; })"
    )
    assert page.locator("details.more[open]").count() == 0
    assert page.pdf(format="A4").startswith(b"%PDF")
    assert page.evaluate("window.open_then") == 0
    assert page.locator("details.more[open]").count() == 0
    page.emulate_media(media="print", color_scheme="dark")
    colour = page.evaluate("getComputedStyle(document.body).color")
    assert colour == "rgb(0, 0, 0)"
    for selector in ("nav", "#theme", ".tools", ".save"):
        assert not page.locator(selector).first.is_visible()
    head = "getComputedStyle(document.querySelector('#ranking-table thead')).display"
    assert page.evaluate(head) == "table-header-group"
    context.close()


@pytest.mark.parametrize("name", ["ranking", "comparison", "check"])
def test_a_phone_scrolls_one_way_only(
    browser: Browser, folder: Path, name: str
) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740})
    opened = Opened(context, folder / f"{name}.html")
    opened.drawn()
    width = opened.page.evaluate("document.documentElement.scrollWidth")
    context.close()
    assert width == 360


def test_without_scripts_everything_but_the_charts_is_there(
    browser: Browser, folder: Path
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((folder / "ranking.html").as_uri())
    assert page.locator("#ranking-table tbody tr").count() == 12
    assert page.locator("#ranking-table tbody tr").first.is_visible()
    assert page.locator("thead button").count() == 0
    assert not page.locator("#theme").is_visible()
    page.locator("#figure-ranks summary").click()
    assert page.locator("#numbers-ranks").is_visible()
    assert page.get_by_text("The chart needs scripts").first.is_visible()
    context.close()
