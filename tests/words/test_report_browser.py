"""The report in a browser: Debian's chromium, with the network off."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from docs import cases
from evenhand import Ratings, compare, rank, read_ratings
from evenhand.diagnosis.check import check
from evenhand.diagnosis.warp import warp
from evenhand.words.page import Replay, report
from tests.web.desk import violations

CHROMIUM = shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run"]
FLAGS += ["--disable-background-networking"]
NASTY = '<img src=x onerror="document.title=1">'
DESK: ViewportSize = {"width": 1200, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
WIDTH = "document.documentElement.scrollWidth"
OPEN_ALL = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
OPEN_PARTS = OPEN_ALL.replace("'details'", "'.part, .row:first-child details'")
# Text that can be seen without scrolling, each text once.
WORDS = """
() => {
  const words = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode, around = node.parentElement;
    if (around.closest("script, style, .skip, .hide, option")) continue;
    if (!around.checkVisibility({ contentVisibilityAuto: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    const list = around.closest(".boxed li") ? around.closest(".boxed") : null;
    const seen = list ? list.getBoundingClientRect() : { top: 0, bottom: innerHeight };
    const [top, bottom] = [Math.max(0, seen.top), Math.min(innerHeight, seen.bottom)];
    if (box.width && box.bottom > top && box.top < bottom) words.push(node.data);
  }
  return words.join(" ");
}
"""
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
    pages = {
        "ranking": report(
            ratings,
            rank(ratings, top=4, rng=7),
            check=check(ratings, top=4, rng=7),
            warp=warp(ratings, method="adaptive", top=4, draws=5, rng=7),
            replay=Replay("evenhand rank examples/panel.csv", None, "panel.csv"),
        )
    }
    designs = read_ratings("examples/designs.csv")
    result = compare(designs, design="halves", rng=1)
    pages["comparison"] = report(designs, result, replay=Replay("evenhand"))
    labels = [NASTY, "</script>", "y", "z"]
    hard = Ratings(labels * 3, [*labels, *labels[1:], "w", "w", *labels[:3]], range(12))
    hard.titles = {NASTY: f"{NASTY} " * 9, "y": "x" * 300, "z": "שלום עולם " * 30}
    found = check(hard, rng=7)
    pages["check"] = report(hard, found, replay=Replay("evenhand"))
    ranked = rank(hard, top=2, rng=7)
    warped = warp(hard, method="adaptive", top=2, draws=5, rng=7)
    pages["hard"] = report(
        hard, ranked, check=found, warp=warped, replay=Replay("evenhand")
    )
    papers, alone = cases.conference(), Ratings(["a"], ["x"], [1])
    for name, ratings, k in (
        ("conference", papers, 30),
        ("names", cases.hard_names(), 3),
        ("class", cases.course(), None),
        ("one", alone, None),
    ):
        ranked = rank(ratings, top=k, rng=7)
        found = check(ratings, rng=7)
        pages[name] = report(ratings, ranked, check=found, replay=Replay("evenhand"))
    many = cases.many_items()
    ranked, found = rank(many, method="mean", top=200, rng=7), check(many, rng=7)
    pages["thousand"] = report(many, ranked, check=found, replay=Replay("evenhand"))
    for name, page in pages.items():
        (path / f"{name}.html").write_text(page, encoding="utf-8")
    return path


class Opened:
    """A file in a page without a network, and all that it did."""

    def __init__(self, page: Page, file: Path, size: ViewportSize = DESK) -> None:
        self.page = page
        self.page.set_viewport_size(size)
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

    def items(self) -> list[str]:
        rows = self.page.locator("#decision li.row:not([hidden]) .who bdi:first-child")
        return rows.all_text_contents()

    def fits(self, *sizes: ViewportSize) -> None:
        """Hold that nothing is wider than the screen."""
        for size in sizes:
            self.page.set_viewport_size(size)
            assert self.page.evaluate(WIDTH) == size["width"]

    def accessible(self, state: str, part: str | None = None) -> None:
        """Hold that axe finds nothing wrong."""
        assert violations(self.page, part) == [], state

    def asks_for_nothing(self) -> None:
        assert set(self.requests) == {self.address}
        assert self.errors == []


def pages(browser: Browser, *, script: bool = True) -> Iterator[Page]:
    """Make a page without a network, for all tests of a file: a new one costs most."""
    context = browser.new_context(java_script_enabled=script, offline=True)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def scripted(browser: Browser) -> Iterator[Page]:
    yield from pages(browser)


@pytest.fixture(scope="module")
def unscripted(browser: Browser) -> Iterator[Page]:
    yield from pages(browser, script=False)


@pytest.fixture
def tab(scripted: Page) -> Iterator[Page]:
    yield scripted
    scripted.emulate_media(media="null", color_scheme="null")


@pytest.mark.parametrize("name", ["ranking", "comparison", "check", "hard"])
def test_it_asks_for_nothing_and_is_accessible_in_every_state(
    tab: Page, folder: Path, name: str
) -> None:
    opened = Opened(tab, folder / f"{name}.html")
    page, title = opened.page, opened.page.title()
    assert "by evenhand" in title
    opened.fits(PHONE, DESK)
    # What is open has all that is there when it is closed. Pages of comparisons and of
    # checks are dark in the tests of these pages.
    if name == "ranking":
        page.evaluate(OPEN_PARTS)
        opened.accessible("parts and first rows open")
        page.locator("button.open").click()
        opened.accessible("filtered", ".counts")
        page.locator("#theme").click()
        opened.accessible("filtered, dark", ".counts")
        page.evaluate(OPEN_ALL)
    else:
        page.evaluate(OPEN_ALL)
        if name == "hard":
            page.locator("#theme").click()
        opened.accessible("all open")
    opened.fits(PHONE, DESK)
    opened.asks_for_nothing()
    assert page.title() == title


def test_the_list_is_sorted_and_searched(tab: Page, folder: Path) -> None:
    opened = Opened(tab, folder / "ranking.html")
    by_rank = opened.items()
    assert by_rank[:4] == ["P05", "P06", "P01", "P10"]
    sort, cut = opened.page.locator("#decision select"), opened.page.locator("li.cut")
    sort.select_option(label="item")
    assert opened.items() == sorted(by_rank)
    assert not cut.is_visible()
    sort.select_option(label="mean")
    assert opened.items()[-3:] == ["P07", "P12", "P09"]
    sort.select_option(label="width of interval")
    assert opened.items()[-1] == "P05"
    sort.select_option(label="rank")
    assert opened.items() == by_rank
    assert cut.is_visible()
    assert cut.evaluate("(it) => it.nextElementSibling.dataset.item") == "P11"
    opened.page.get_by_label("Search items").fill("p1")
    assert opened.items() == ["P10", "P11", "P12"]
    status = opened.page.locator('#decision [role="status"]')
    assert status.text_content() == "3 of 12 shown"
    opened.page.get_by_label("Search items").fill("")
    assert len(opened.items()) == 12


def test_titles_are_searched_too(tab: Page, folder: Path) -> None:
    opened = Opened(tab, folder / "hard.html")
    opened.page.get_by_label("Search items").fill("שלום")
    assert opened.items() == ["z"]


def test_counts_are_filters(tab: Page, folder: Path) -> None:
    opened = Opened(tab, folder / "ranking.html")
    for word, items in {
        "2 in": ["P05", "P06"],
        # An agenda: nearest to the cut first.
        "4 too close to call": ["P10", "P11", "P01", "P08"],
        "6 out": ["P03", "P02", "P04", "P07", "P12", "P09"],
    }.items():
        button = opened.page.get_by_role("button", name=word)
        button.focus()
        opened.page.keyboard.press("Enter")
        assert button.get_attribute("aria-pressed") == "true"
        assert opened.items() == items
    assert opened.page.locator('[aria-pressed="true"]').count() == 1
    opened.page.keyboard.press("Enter")
    assert len(opened.items()) == 12


def test_the_list_opens_with_the_winners_and_a_link_leads_to_the_cut(
    tab: Page, folder: Path
) -> None:
    page = Opened(tab, folder / "conference.html").page
    assert page.locator("#decision .boxed").evaluate("(it) => it.scrollTop") == 0
    assert page.locator("#decision .place").nth(1).inner_text().split()[-1] == "1"
    page.locator("button.open").click()
    page.get_by_role("link", name="Go to the cut after 30").click()
    place = page.locator("li.cut").bounding_box()
    box = page.locator("#decision .boxed").bounding_box()
    assert place is not None
    assert box is not None
    assert box["y"] <= place["y"] < box["y"] + box["height"]


def test_a_phone_shows_the_interval_and_the_share(tab: Page, folder: Path) -> None:
    page = Opened(tab, folder / "conference.html", PHONE).page
    row = page.locator("#decision li.row").first
    seen = [cell.inner_text() for cell in row.locator(".n").all() if cell.is_visible()]
    assert [text.split()[0] for text in seen] == ["ranks", "top"]


def test_choosing_an_item_opens_it_and_marks_it_everywhere(
    tab: Page, folder: Path
) -> None:
    page = Opened(tab, folder / "ranking.html").page
    row = page.locator('#decision li[data-item="P10"]')
    row.locator("summary").click()
    details = row.locator(".inside")
    assert details.is_visible()
    assert details.locator("tbody tr").count() == 10
    assert "rank without it" in details.inner_text()
    links = page.locator('a[href="#item-P10"]')
    # Ten reviewers list it, and other pictures name it.
    assert links.count() > 10
    assert page.locator(".marked").count() == links.count() + 1
    page.locator('#decision li[data-item="P01"] summary').focus()
    assert page.locator(".marked").first.get_attribute("data-item") == "P01"
    page.keyboard.press("Enter")
    assert page.locator("#item-P01").is_visible()


def test_a_review_leads_to_its_reviewer_and_back(tab: Page, folder: Path) -> None:
    page = Opened(tab, folder / "ranking.html").page
    page.locator('#decision li[data-item="P10"] summary').click()
    link = page.locator("#item-P10 tbody a").first
    who = str(link.get_attribute("href"))
    link.click()
    person = page.locator(who)
    assert person.is_visible()
    assert page.locator(".row.marked").get_attribute("data-reviewer") == who[10:]
    assert person.locator("svg.scale circle").count() == 4
    assert person.locator("li").count() == 4
    person.locator('a[href="#item-P10"]').click()
    assert page.locator("#item-P10").is_visible()
    assert page.locator(".row.marked").get_attribute("data-item") == "P10"


@pytest.mark.parametrize("kind", ["scripted", "unscripted"])
def test_a_link_lands_at_what_it_names(
    request: pytest.FixtureRequest, folder: Path, kind: str
) -> None:
    page = request.getfixturevalue(kind)
    page.set_viewport_size(DESK)
    for part in ("repeat", "item-P09", "reviewer-reviewer-10"):
        # From another page, or nothing would be loaded.
        page.goto("about:blank")
        page.goto(f"{(folder / 'ranking.html').as_uri()}#{part}")
        place = page.locator(f"#{part}")
        assert place.is_visible()
        assert 0 <= place.bounding_box()["y"] < DESK["height"]


def test_the_keyboard_reaches_everything_in_order(tab: Page, folder: Path) -> None:
    page = Opened(tab, folder / "ranking.html").page
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


def test_dark_mode_follows_the_system_and_the_button(tab: Page, folder: Path) -> None:
    page = Opened(tab, folder / "comparison.html").page
    page.emulate_media(color_scheme="dark")
    page.reload()
    colour = "getComputedStyle(document.body).backgroundColor"
    button = page.get_by_role("button", name="Dark")
    assert button.get_attribute("aria-pressed") == "true"
    dark = page.evaluate(colour)
    assert max(map(int, re.findall(r"\d+", dark))) < 64
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "false"
    assert page.evaluate(colour) == "rgb(255, 255, 255)"


def test_it_prints_light_and_in_full(tab: Page, folder: Path) -> None:
    page = Opened(tab, folder / "ranking.html").page
    page.emulate_media(color_scheme="dark")
    page.reload()
    assert pages_of(page) <= 2
    page.emulate_media(media="print", color_scheme="dark")
    colour = page.evaluate("getComputedStyle(document.body).color")
    assert colour == "rgb(0, 0, 0)"
    for selector in ("#theme", ".tools"):
        assert not page.locator(selector).first.is_visible()
    assert page.locator("li.row").first.is_visible()
    assert page.locator("#repeat").is_visible()
    assert not page.locator("#people").is_visible()


def pages_of(page: Page) -> int:
    """Print a page on A4, and count the sheets."""
    return len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4")))


def test_without_scripts_everything_is_there(unscripted: Page, folder: Path) -> None:
    page = Opened(unscripted, folder / "ranking.html").page
    rows = page.locator("#decision li.row")
    assert rows.count() == 12
    assert all(row.is_visible() for row in rows.all())
    whole = "(it) => it.scrollHeight <= it.clientHeight"
    assert page.locator("#decision .boxed").evaluate(whole)
    for selector in ("#theme", ".tools", "button"):
        assert not page.locator(selector).first.is_visible()
    assert page.get_by_text("Too close to call (4)").first.is_visible()
    rows.first.locator("summary").click()
    assert page.locator("#item-P05").is_visible()
    page.get_by_text("Repeat it").click()
    assert page.locator("#repeat code").first.is_visible()


@pytest.mark.parametrize("name", ["ranking", "conference", "class"])
def test_the_first_screen_has_few_words_and_the_page_few_screens(
    tab: Page, folder: Path, name: str
) -> None:
    page = Opened(tab, folder / f"{name}.html").page
    # With labels and titles of all rows that can be seen, and without numbers.
    words = re.findall(r"\w*[^\W\d_]\w*", page.evaluate(WORDS))
    assert 20 < len(words) <= 120
    assert page.evaluate("document.documentElement.scrollHeight") <= 2 * 900


def test_a_click_into_the_picture_of_all_items_shows_that_item(
    tab: Page, folder: Path
) -> None:
    page = Opened(tab, folder / "conference.html").page
    picture = page.locator("#decision .field svg")
    box = picture.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 99.5 / 120 * box["width"], box["y"] + 20)
    row = page.locator("#decision li.row.marked")
    assert row.locator(".place").inner_text().split()[-1] == "100"
    frame = page.locator("#decision .boxed").bounding_box()
    place = row.bounding_box()
    assert frame is not None
    assert place is not None
    assert frame["y"] < place["y"] < frame["y"] + frame["height"]


@pytest.mark.parametrize("kind", ["scripted", "unscripted"])
def test_nothing_lies_over_a_long_list_that_is_shown_as_a_whole(
    request: pytest.FixtureRequest, folder: Path, kind: str
) -> None:
    page = Opened(request.getfixturevalue(kind), folder / "conference.html").page
    if kind == "scripted":
        page.emulate_media(media="print")
    last = page.locator("#decision li.row").last.bounding_box()
    parts = page.locator(".parts").bounding_box()
    assert last is not None
    assert parts is not None
    assert last["y"] + last["height"] <= parts["y"]
    # The page opens at the decision, not at the cut, which may be screens below it.
    decision = page.locator("#verdict").bounding_box()
    assert decision is not None
    assert 0 <= decision["y"] < DESK["height"]


def test_a_conference_is_small_and_prints_on_few_sheets(
    tab: Page, folder: Path
) -> None:
    file = folder / "conference.html"
    assert file.stat().st_size < 500_000
    page = Opened(tab, file).page
    assert pages_of(page) <= 5
    page.set_viewport_size(PHONE)
    for row in page.locator("#decision .row").all()[:3]:
        who = row.locator(".who")
        assert who.evaluate("(it) => it.clientHeight") <= 40


@pytest.mark.parametrize("name", ["thousand", "names", "class", "one"])
def test_nothing_overflows_and_nothing_is_asked_for(
    tab: Page, folder: Path, name: str
) -> None:
    file = folder / f"{name}.html"
    assert file.stat().st_size < 2_800_000
    opened = Opened(tab, file)
    # What is open now has all that was there when it was closed.
    opened.page.evaluate(OPEN_PARTS)
    opened.fits(DESK, PHONE)
    opened.asks_for_nothing()
