"""The whole way in a browser, at 360 x 640: Debian's chromium against a real server."""

from __future__ import annotations

import itertools
import re
import shutil
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2 as httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from evenhand.errors import RecordError
from evenhand.records.bundle import audit_bundle
from tests.web.desk import audited, rate_all, served_at, violations
from tests.web.world import FORM

if TYPE_CHECKING:
    from evenhand.web.running import Served

CHROMIUM = shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run"]
FLAGS += ["--disable-background-networking"]
PHONE: Any = {"width": 360, "height": 640}
LONG = 60_000
pytestmark = pytest.mark.skipif(
    CHROMIUM is None,
    reason="The app is not opened in a browser, because chromium is missing. On "
    "Debian: apt-get install chromium.",
)


class Room:
    """A server, a browser, and people in it."""

    def __init__(self, browser: Browser, base: str, served: Served) -> None:
        self.browser, self.base, self.served = browser, base, served
        self.contexts: list[BrowserContext] = []
        self.errors: list[str] = []
        self.faults: list[str] = []
        self.schemes = itertools.cycle(("light", "dark"))

    def person(self, **more: Any) -> Page:
        """Return the page of somebody with a browser of their own."""
        context = self.browser.new_context(viewport=PHONE, **more)
        context.set_default_timeout(LONG)
        self.contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", lambda dialog: dialog.accept())
        return page

    def look(self, page: Page, name: str) -> None:
        """Check a screen by axe, light and dark by turns; nothing sticks out."""
        scheme = next(self.schemes)
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # light or dark
        self.faults += [f"{name} {scheme}: {it}" for it in violations(page)]
        wide = page.evaluate("document.documentElement.scrollWidth")
        if wide > PHONE["width"]:
            self.faults.append(f"{name}: {wide} wide")


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    db = tmp_path_factory.mktemp("web") / "e.db"
    with sync_playwright() as play, served_at(db) as (base, served):
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        made = Room(browser, base, served)
        yield made
        for context in made.contexts:
            context.close()
        browser.close()


def fields(page: Page) -> list[Any]:
    return page.locator("form[data-place] input[type=text]").all()


def ready(page: Page) -> None:
    """Wait until the script is there."""
    page.wait_for_selector("#app[data-ready]")


def received(page: Page, count: int) -> None:
    """Wait until so many items are received."""
    expect(page.locator("[data-state]", has_text="● received")).to_have_count(
        count, timeout=LONG
    )


def seal(room: Room) -> tuple[Page, str, dict[str, str]]:
    """Sign in, paste two lists, seal; return the desk, its address and the links."""
    desk = room.person()
    visited: list[str] = []
    desk.on("framenavigated", lambda frame: visited.append(urlsplit(frame.url).path))
    # As evenhand serve opens it; without that end there is a button to press.
    desk.goto(f"{room.base}{room.served.signin()}#enter")
    desk.get_by_label("Title", exact=True).fill(FORM["title"])
    desk.get_by_label("Items", exact=True).fill(FORM["items"])
    desk.get_by_label("Reviewers", exact=True).fill(FORM["reviewers"])
    desk.get_by_text("Add reserves").click()
    desk.locator("#reserves").fill(FORM["reserves"])
    expect(desk.locator("#preview")).to_contain_text("Every feasible", timeout=LONG)
    room.look(desk, "new")
    # Twice, as some people do; it makes one evaluation.
    desk.get_by_role("button", name="Seal and draw").dblclick()
    desk.wait_for_url("**/links")
    slug = desk.url.split("/")[4]
    # Two screens, and two clicks (three if nobody opened the browser).
    shown = {it for it in visited if not it.startswith("/in/")}
    assert shown == {"/", f"/e/{slug}/links"}
    names = [
        it.inner_text()
        for it in desk.locator(".links li > span > bdi:first-child").all()
    ]
    fields = desk.locator(".links input[readonly]").all()
    addresses = [it.input_value() for it in fields]
    assert len(addresses) == 8
    people = [name for name in names if "@" not in name]
    return desk, slug, dict(zip(people, addresses, strict=True))


def ordinary(room: Room, link: str) -> Page:
    """Rate by slider and by field; tell two equal items apart."""
    page = room.person()
    page.goto(link)
    page.get_by_role("button", name="Begin").click()
    ready(page)
    slider = page.locator("[data-slider]").first
    assert slider.get_attribute("aria-valuetext") == "not rated"
    slider.click()
    received(page, 1)
    for field in fields(page)[1:]:
        field.fill("33.5")
    received(page, 3)
    expect(page.get_by_text("Is one of them better?")).to_be_visible(timeout=LONG)
    room.look(page, "items, tied")
    page.get_by_role("button", name="is better").first.click()
    page.get_by_role("button", name="I am done").click()
    expect(page.get_by_text("Thank you.")).to_be_visible()
    room.look(page, "done")
    # Also the tie, by a plain form, has a nonce of this device.
    receipts = page.locator(".receipts li code").all_text_contents()
    assert all(re.fullmatch("[0-9a-f]{64} [0-9a-f]{32}", it) for it in receipts)
    return page


def offline(room: Room, page: Page, link: str) -> None:
    """Rate without a network; all is sent when it is back."""
    page.goto(link)
    page.get_by_role("button", name="Begin").click()
    ready(page)
    page.context.set_offline(True)
    for number, field in enumerate(fields(page)):
        field.fill(str(20 + 7.5 * number))
    states = page.locator("[data-state]", has_text="○ on this device")
    expect(states).to_have_count(3, timeout=LONG)
    assert re.match(r"\([1-3] not sent\)", page.title())
    room.look(page, "items, offline")
    page.context.set_offline(False)
    received(page, 3)
    assert "not sent" not in page.title()
    page.reload()
    ready(page)
    assert [it.input_value() for it in fields(page)] == ["20", "27.5", "35"]
    other_receipts(room, page)


def other_receipts(room: Room, page: Page) -> None:
    """The device keeps receipts; it says so if the server has others."""
    alarm = page.locator("#other-receipts")
    expect(alarm).to_be_hidden()
    page.evaluate(
        """() => {
          const name = Object.keys(localStorage).find((it) => it.endsWith(":receipts"));
          const kept = JSON.parse(localStorage.getItem(name));
          kept[1].text = kept[1].text.replace(/.{32}$/, "0".repeat(32));
          localStorage.setItem(name, JSON.stringify(kept));
        }"""
    )
    page.reload()
    expect(alarm).to_contain_text("other receipts than this device kept", timeout=LONG)
    room.look(page, "items, other receipts")


def two_tabs(room: Room, one: Page, link: str) -> None:
    """Two tabs disagree; the person decides, nothing is overwritten."""
    one.goto(link)
    one.get_by_role("button", name="Begin").click()
    ready(one)
    two = one.context.new_page()
    two.goto(link)
    ready(two)
    fields(one)[0].fill("70")
    received(one, 1)
    fields(two)[0].fill("40")
    expect(two.locator(".conflict")).to_contain_text("saved 70", timeout=LONG)
    room.look(two, "items, two tabs")
    two.get_by_role("button", name="Use 40").click()
    received(two, 1)
    for number, field in enumerate(fields(two)[1:]):
        field.fill(str(50 + number))
    received(two, 3)


def without_script(room: Room, link: str) -> None:
    """Rate with JavaScript off, by plain forms."""
    page = room.person(java_script_enabled=False)
    page.goto(link)
    page.get_by_role("button", name="Begin").click()
    given = page.locator("form[data-place] input[type=text]")
    for number in range(3):
        given.nth(number).fill("710" if number == 0 else str(60 + number))
        page.get_by_role("button", name="Save").nth(number).click()
        if number == 0:
            expect(page.get_by_role("alert")).to_contain_text("from 0 to 100, got 710")
            given.first.fill("60")
            page.get_by_role("button", name="Save").first.click()
        expect(page.get_by_text(f"{number + 1} of 3 rated")).to_be_visible()
    page.get_by_role("button", name="I am done").click()
    expect(page.get_by_text("Thank you.")).to_be_visible()


def by_keyboard(page: Page, link: str) -> None:
    """Rate with keys alone."""
    page.goto(link)
    page.keyboard.press("Tab")
    for _ in range(10):
        if page.evaluate("document.activeElement.textContent.trim()") == "Begin":
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    ready(page)
    for _ in range(20):
        if page.evaluate("document.activeElement.name") == "score":
            break
        page.keyboard.press("Tab")
    for score in ("12", "24", "36"):
        page.keyboard.type(score)
        page.keyboard.press("Enter")
    received(page, 3)
    page.keyboard.press("ArrowUp")
    expect(page.locator("[data-state]").nth(2)).to_contain_text("36.1", timeout=LONG)


def quick(page: Page, link: str, start: float) -> None:
    """Rate, and leave the page in the moment in which the last rating is typed."""
    page.goto(link)
    page.get_by_role("button", name="Begin").click()
    ready(page)
    for number, field in enumerate(fields(page)):
        received(page, number)
        field.fill(str(start + 11 * number))
    # The browser stays open: with it would go what it was just given to send.
    page.goto("about:blank")
    # Another device knows nothing of what waited on that one.
    for _ in range(100):
        told = httpx.get(link).text
        if "3 of 3 rated" in told:
            break
        time.sleep(0.2)
    assert "3 of 3 rated" in told


def replace(room: Room, desk: Page, slug: str, name: str) -> str:
    """Let the next reserve take over from somebody who never began."""
    desk.goto(f"{room.base}/e/{slug}")
    row = desk.locator(".people li").filter(has=desk.get_by_text(name, exact=True))
    row.get_by_role("link").click()
    part = desk.locator("section", has_text="Use the next reserve")
    expect(part).to_contain_text("The guarantee then needs one more assumption.")
    part.get_by_role("button", name="Do it").click()
    desk.goto(f"{room.base}/e/{slug}/links")
    return desk.locator(".links input[readonly]").last.input_value()


def close(room: Room, desk: Page) -> None:
    """Close after typing the title."""
    desk.get_by_role("link", name="Close").click()
    room.look(desk, "close")
    desk.get_by_label("Type the title").fill(FORM["title"])
    desk.get_by_role("button", name="Close now").click()


def test_from_two_lists_to_an_audited_decision(room: Room, tmp_path: Path) -> None:
    desk, slug, links = seal(room)
    everybody = list(links.values())
    first = ordinary(room, everybody[0])
    # A device that goes round: what it kept for one person is not the next one's.
    shared = room.person()
    offline(room, shared, everybody[1])
    two_tabs(room, shared, everybody[2])
    without_script(room, everybody[3])
    by_keyboard(shared, everybody[4])
    quick(shared, everybody[5], 5)
    last = replace(room, desk, slug, list(links)[7])
    with httpx.Client() as client:
        for link in (everybody[6], last):
            rate_all(client, link)
        assert client.get(everybody[7]).status_code == 401
    desk.goto(room.base)
    assert desk.locator(".rows li").count() == 1
    desk.goto(f"{room.base}/e/{slug}")
    expect(desk.get_by_text("all are in")).to_be_visible()
    close(room, desk)
    first.reload()
    expect(first.get_by_text("This evaluation is closed.")).to_be_visible()
    desk.get_by_role("button", name="Decide").click()
    expect(desk.locator(".lead")).to_be_visible(timeout=LONG)
    desk.get_by_role("button", name="Publish").click()
    receipt = first.locator(".receipts li code").first.text_content()
    first.goto(f"{room.base}/p/{slug}")
    first.get_by_label("Find your receipt").fill(str(receipt))
    first.get_by_role("button", name="Find").click()
    expect(first.get_by_text("with the second number of your receipt.")).to_be_visible()
    with first.expect_download() as told:
        first.get_by_role("link", name="Download all").click()
    bundle = tmp_path / "bundle.zip"
    told.value.save_as(bundle)
    code, text = audited(bundle)
    assert code == 0, text
    assert "1 repair; nobody who was replaced had seen their items" in text
    assert "8 reviewers" in first.content()
    every_byte_counts(bundle)
    assert room.errors == []
    assert room.faults == []


def links_of(room: Room) -> list[str]:
    """Seal an evaluation without a browser; return the links."""
    with httpx.Client(base_url=room.base) as client:
        client.post(room.served.signin())
        page = client.get("/e/new").text
        csrf = page.partition('name="csrf" value="')[2].partition('"')[0]
        client.post("/e", data={**FORM, "csrf": csrf, "does": "seal"})
        slug = re.findall(r'href="/e/(\w{12})"', client.get("/").text)[0]
        lines = client.get(f"/e/{slug}/links.csv").text.splitlines()[1:]
        return [line.split(",")[2] for line in lines]


def begun(room: Room, link: str, **more: Any) -> Page:
    page = room.person(**more)
    page.goto(link)
    page.get_by_role("button", name="Begin").click()
    if more.get("java_script_enabled", True):
        ready(page)
    return page


def note(page: Page) -> Any:
    """Return the first note's field, which is opened."""
    page.get_by_text("Add a note").first.click()
    return page.locator("textarea").first


def kept(link: str, words: str) -> dict[str, Any]:
    """Wait until the server has a note; return what was sent with it."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        sent: list[dict[str, Any]] = httpx.get(f"{link}/mine.json").json()["sent"]
        if sent and sent[-1]["note"] == words:
            return sent[-1]
        time.sleep(0.2)
    raise AssertionError(sent)


def test_a_note_is_kept_when_the_tab_is_closed(room: Room) -> None:
    alone, behind, left, *_ = links_of(room)
    page = begun(room, alone)
    note(page).press_sequentially("No score yet.")
    page.wait_for_timeout(1500)
    page.close()
    assert kept(alone, "No score yet.")["kind"] == "clear"
    page = begun(room, behind)
    fields(page)[0].fill("70")
    received(page, 1)
    note(page).press_sequentially("Clear.")
    page.wait_for_timeout(1500)
    page.close()
    found = kept(behind, "Clear.")
    assert (found["kind"], found["score"]) == ("score", 70)
    assert len(found["receipt"]) == 64
    # At once, in the middle of a word.
    page = begun(room, left)
    note(page).press_sequentially("In the midd")
    page.goto("about:blank")
    assert kept(left, "In the midd")["kind"] == "clear"
    assert room.errors == []


def test_a_note_waits_is_sent_and_is_acknowledged_like_a_score(room: Room) -> None:
    away, tabs, wrong, plain, *_ = links_of(room)
    page = begun(room, away)
    page.context.set_offline(True)
    note(page).fill("Waits.")
    state = page.locator("[data-state]").first
    expect(state).to_contain_text("○ on this device", timeout=LONG)
    assert page.title().startswith("(1 not sent)")
    page.context.set_offline(False)
    expect(state).to_contain_text("not rated, with your note", timeout=LONG)
    room.look(page, "items, a note")
    page.reload()
    ready(page)
    expect(state).to_contain_text("● received: not rated, with your note")
    assert page.locator("textarea").first.input_value() == "Waits."
    fields(page)[0].fill("40")
    expect(state).to_contain_text("40, with your note", timeout=LONG)
    assert kept(away, "Waits.")["score"] == 40
    # One tab rates, another writes a note: both stay.
    one = begun(room, tabs)
    two = one.context.new_page()
    two.goto(tabs)
    ready(two)
    fields(one)[0].fill("70")
    received(one, 1)
    note(two).fill("From the other tab.")
    assert kept(tabs, "From the other tab.")["score"] == 70
    # Two notes: the person is asked.
    note(one).fill("Mine.")
    expect(one.locator(".conflict")).to_contain_text("From the other tab", timeout=LONG)
    one.get_by_role("button", name="Use this note").click()
    assert kept(tabs, "Mine.")["score"] == 70
    # A score that is not on the scale does not take its note with it.
    page = begun(room, wrong)
    note(page).fill("Too good.")
    fields(page)[0].fill("710")
    assert kept(wrong, "Too good.")["score"] is None
    page = begun(room, plain, java_script_enabled=False)
    note(page).fill("No script, two\nlines.")
    page.get_by_role("button", name="Save").first.click()
    assert kept(plain, "No script, two\nlines.")["kind"] == "clear"
    expect(page.locator("[data-state]").first).to_contain_text("with your note")
    assert room.errors == []
    assert room.faults == []


def every_byte_counts(bundle: Path, samples: int = 40) -> None:
    """Flip bytes, spread over the whole file: each is found."""
    data = bundle.read_bytes()
    unnoticed = []
    for number in range(samples):
        at = number * (len(data) - 1) // (samples - 1)
        bundle.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        try:
            if audit_bundle(bundle).identical:
                unnoticed.append(at)
        except RecordError:
            continue
    bundle.write_bytes(data)
    assert unnoticed == []
    assert zipfile.is_zipfile(bundle)
