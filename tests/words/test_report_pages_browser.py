"""Pages of comparisons and checks in a browser, with the network off."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

import evenhand as eh
from evenhand.words.page import Replay, report
from tests.words.test_report_browser import (
    CHROMIUM,
    DESK,
    FLAGS,
    NASTY,
    OPEN_ALL,
    OPEN_PARTS,
    PHONE,
    WORDS,
    Opened,
    pages,
    pages_of,
)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is missing.")
HEBREW = "שלום עולם " * 8


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    yield from pages(browser)


def stars(first: object, second: object, size: int) -> str:
    """Compare two items by stars, few different ones."""
    rng = np.random.default_rng(7)
    items = [str(first)] * size + [str(second)] * size
    scores = np.clip(rng.integers(1, 6, 2 * size) + [1, 0] * size, 1, 5)
    ratings = eh.Ratings(range(2 * size), items, scores)
    return _page(ratings, eh.compare(ratings, design="halves", rng=7))


def scores(first: object, second: object, size: int) -> str:
    """Compare two items by scores that are all different."""
    rng = np.random.default_rng(7)
    items = [str(first)] * size + [str(second)] * size
    ratings = eh.Ratings(range(2 * size), items, rng.normal(size=2 * size))
    return _page(ratings, eh.compare(ratings, rng=7))


def conference() -> str:
    """Check 120 papers, with reviewers who differ and one who goes against them."""
    rng = np.random.default_rng(7)
    values, offsets = rng.normal(size=120), rng.normal(size=40)
    people = np.repeat(np.arange(40), 10)
    items = np.concatenate([rng.permutation(120) for _ in range(4)])[:400]
    kept = [*dict.fromkeys(zip(people.tolist(), items.tolist(), strict=True))]
    who, what = map(np.array, zip(*kept, strict=True))
    given = values[what] * np.where(who == 0, -2, 1) + offsets[who]
    scored = np.round(5 + given + rng.normal(size=len(who)) / 2, 1)
    ratings = eh.Ratings([f"R{one}" for one in who], [f"P{it}" for it in what], scored)
    return _page(ratings, eh.check(ratings, top=30, rng=7))


def hostile() -> str:
    """Check a few items with names that are hard to show."""
    names = [NASTY, "</script>", "x" * 300, HEBREW]
    ratings = eh.Ratings(names * 3, [it for it in names[:3] for _ in names], range(12))
    return _page(ratings, eh.check(ratings, top=1, rng=7))


def marks() -> str:
    """Mark items with names that are hard to show, with a pass mark."""
    rng = np.random.default_rng(7)
    items = [NASTY, "x" * 300, HEBREW, *"defghij"]
    people = np.repeat(np.arange(8), 10).tolist()
    ratings = eh.Ratings(people, items * 8, rng.integers(0, 100, 80))
    return _page(ratings, eh.grade(ratings, passing=50, rng=7))


def _page(ratings: eh.Ratings, result: eh.Comparison | eh.Check | eh.Grades) -> str:
    return report(ratings, result, replay=Replay("evenhand", None, "r.csv"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages")
    made = {
        "stars": stars("new", "old", 60),
        "scores": scores("new", "old", 300),
        "hard-stars": stars(NASTY, "x" * 300, 20),
        "hard-scores": scores("</script>" * 9, HEBREW, 60),
        "conference": conference(),
        "hostile": hostile(),
        "marks": marks(),
    }
    for name, page in made.items():
        (path / f"{name}.html").write_text(page, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "name", ["hard-stars", "hard-scores", "conference", "hostile", "marks"]
)
def test_a_page_asks_for_nothing_fits_and_is_accessible(
    tab: Page, folder: Path, name: str
) -> None:
    opened = Opened(tab, folder / f"{name}.html")
    page, title = opened.page, opened.page.title()
    opened.fits(PHONE, DESK)
    if name == "conference":
        # Its findings; the rest has many more rows than that of a small check.
        opened.accessible("closed", "article")
    page.locator("#theme").click()
    page.evaluate(OPEN_PARTS if name == "marks" else OPEN_ALL)
    if name != "conference":
        opened.accessible("open, dark")
    page.evaluate(OPEN_ALL)
    opened.fits(PHONE, DESK)
    opened.asks_for_nothing()
    assert page.title() == title


@pytest.mark.parametrize("name", ["stars", "scores", "conference"])
def test_the_first_screen_answers_in_few_words(
    tab: Page, folder: Path, name: str
) -> None:
    page = Opened(tab, folder / f"{name}.html").page
    words = re.findall(r"\w*[^\W\d_]\w*", page.evaluate(WORDS))
    # A check is short enough for one screen, its closed parts and all.
    assert 20 < len(words) <= (190 if name == "conference" else 120)
    assert page.evaluate("document.documentElement.scrollHeight") <= 2 * 900
    assert pages_of(page) <= 2


def test_the_picture_of_a_comparison_is_on_the_first_screen(
    tab: Page, folder: Path
) -> None:
    for name, picture in {"stars": ".levels", "scores": ".strips"}.items():
        page = Opened(tab, folder / f"{name}.html").page
        for size in (DESK, PHONE):
            page.set_viewport_size(size)
            box = page.locator(picture).bounding_box()
            assert box is not None
            assert box["y"] + box["height"] < size["height"]


def test_bars_are_as_high_as_their_shares(tab: Page, folder: Path) -> None:
    page = Opened(tab, folder / "stars.html").page
    heights = page.locator(".pair i.in").evaluate_all(
        "(all) => all.map((one) => one.getBoundingClientRect().height)"
    )
    told = [
        float(text)
        for text in page.locator(".levels tbody tr")
        .first.locator("td")
        .all_inner_texts()
    ]
    assert np.corrcoef(heights, told)[0, 1] > 0.99


def test_three_findings_and_without_a_script_all_of_them(
    browser: Browser, folder: Path
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((folder / "conference.html").as_uri())
    assert page.locator("article").count() == 3
    assert all(one.is_visible() for one in page.locator("article").all())
    page.get_by_text("All findings").click()
    assert page.locator("#findings dt").count() >= 5
    assert page.locator("#findings dt").first.is_visible()
    context.close()


def test_marks_are_filtered_by_the_pass_mark(tab: Page, folder: Path) -> None:
    opened = Opened(tab, folder / "marks.html")
    assert len(opened.items()) == 10
    opened.page.locator("button.open").click()
    shown = opened.page.locator("#decision li.row:not([hidden]) .word")
    assert {*shown.all_inner_texts()} == {"too close"}


def test_a_link_opens_a_part(tab: Page, folder: Path) -> None:
    tab.goto(f"{(folder / 'stars.html').as_uri()}#chance")
    assert tab.locator("#chance").is_visible()
    assert not tab.locator("#assumptions").is_visible()
