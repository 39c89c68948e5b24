"""Every screen in every state, by axe: at 360 and 1280, in light and in dark.

The suite opens each with an element of a new kind: axe looks at it dark on a phone or
light on a desk by turns, and at the first that is made of other templates in both. What
has only elements as screens before it is not opened.

`python -m tests.web.test_screens FOLDER` looks at all four of each, and keeps a
picture.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from evenhand.web import site
from tests.web.desk import served_at, violations
from tests.web.scene import Scene, make_scene

CHROMIUM = shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run"]
TEMPLATES = Path(site.__file__).parent / "templates"
SIZES = {360: 640, 1280: 800}
pytestmark = pytest.mark.skipif(
    CHROMIUM is None,
    reason="No screen is looked at, because chromium is missing. On Debian: apt-get "
    "install chromium.",
)
# Kinds of a page's elements: attributes, and tags, classes and roles up to the root.
KINDS = """
async (path) => {
  const told = await (await fetch(path, { headers: { accept: "text/html" } })).text();
  const page = new DOMParser().parseFromString(told, "text/html");
  return [...new Set([...page.querySelectorAll("body *")].map((it) => {
    const kind = it.getAttributeNames();
    for (let at = it; at; at = at.parentElement)
      kind.push(at.tagName, at.className, at.getAttribute("role"), at.type);
    return kind.join(" ");
  }))];
}
"""
Act = Callable[[Page], None]


def press(button: str, /, **fields: str) -> Act:
    """Fill fields in and press a button."""

    def act(page: Page) -> None:
        for field, value in fields.items():
            page.locator(f"#{field}").fill(value)
        page.get_by_role("button", name=button).first.click()
        page.wait_for_load_state()

    return act


def screens(scene: Scene) -> dict[str, tuple[str, str, Act | None]]:
    """Return for each screen who opens what address, and what they do there."""
    e = {state: f"/e/{slug}" for state, slug in scene.slugs.items()}
    p = {state: f"/p/{slug}" for state, slug in scene.slugs.items()}
    asked: dict[str, tuple[str, str, Act | None]] = {
        "home": ("nobody", "/", None),
        "sign in, too late": ("nobody", "/in/" + "0" * 26, None),
        "no such page": ("nobody", "/nowhere", None),
        "not signed in": ("nobody", "/e/new", None),
        "list": ("member", "/", None),
        "new": ("member", "/e/new", None),
        "new, refused": ("member", "/e/new", press("Seal and draw", title="Talks")),
        "draft": ("member", f"{e['draft']}/edit", None),
        "draft, preview": ("member", f"{e['draft']}/edit", press("Preview")),
        "close": ("member", f"{e['open']}/close", None),
        "links": ("member", f"{e['open']}/links", None),
        "links, too late": ("member", f"{e['closed']}/links", None),
        "door, none": ("member", f"{e['open']}/door", None),
        "door, open": ("member", f"/e/{scene.slugs['door']}/door", None),
        "enter": ("nobody", scene.link("door", "door"), None),
        "door, taken": (
            "nobody",
            scene.link("door", "door"),
            press("Take a place", name="Ana", contact="ana@example.org"),
        ),
        "link anew": ("member", f"{e['open']}/reviewers/2", press("Make a new link")),
        "code, wrong": ("nobody", "/", press("Find my page", code="x")),
        "sheet": ("member", f"{e['open']}/links/print", None),
        "person, not begun": ("member", f"{e['open']}/reviewers/5", None),
        "person, absent": ("member", f"{e['open']}/reviewers/3", None),
        "person, begun": ("member", f"{e['open']}/reviewers/1", None),
        "person, reserve": ("member", f"{e['open']}/reviewers/9", None),
        "person, closed": ("member", f"{e['closed']}/reviewers/5", None),
        "invitation": ("member", e["open"], press("Make a link", name="Eve")),
        "public, no receipt": ("nobody", f"{p['published']}?receipt={'0' * 64}", None),
        "no such link": ("nobody", "/r/" + "0" * 26, None),
    }
    for state in ("sealed", "open", "closed", "decided", "published", "purged"):
        asked[f"evaluation, {state}"] = ("member", e[state], None)
        asked[f"public, {state}"] = ("nobody", p[state], None)
    for state, who in product(scene.links, ("own", "waiting", "left", "revoked")):
        if who in scene.links[state]:
            asked[f"reviewer, {who}, {state}"] = (
                "nobody",
                scene.link(state, who),
                None,
            )
    return asked


@contextmanager
def opened() -> Iterator[tuple[Browser, str, str, Scene]]:
    """Serve a scene, and start a browser."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        scene = make_scene(Path(folder), scales=True)
        with served_at(scene.db) as (base, served):
            browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            yield browser, base, served.signin(), scene
            browser.close()


def is_new(page: Page, path: str, kinds: set[str]) -> bool:
    """Whether a screen has an element of a new kind; notes them."""
    here = set() if page.url == "about:blank" else set(page.evaluate(KINDS, path))
    new = not here or not here <= kinds
    kinds |= here
    return new


def look(
    at: tuple[Browser, str, str, Scene],
    sizes: list[tuple[int, str]],
    keep: Path | None = None,
    shown: list[str] | None = None,
) -> tuple[int, list[str]]:
    """Look at every screen; return how often, and what is wrong.

    If `shown` notes the templates that are used, axe looks at another screen of the
    same ones in one size only, and only those with elements of another kind are opened.
    """
    browser, base, signin, scene = at
    known: set[frozenset[str]] = set()
    kinds: set[str] = set()
    faults: list[str] = []
    pages = {who: browser.new_context().new_page() for who in ("nobody", "member")}
    pages["member"].goto(base + signin)
    count = 0

    def check(name: str, page: Page) -> None:
        nonlocal count
        made_of = frozenset(shown or ())
        turn = sizes[count % len(sizes)]
        new = not made_of or made_of not in known
        for width, scheme in sizes:
            page.set_viewport_size({"width": width, "height": SIZES[width]})
            if new or (width, scheme) == turn:
                page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # light or dark
                count += 1
                found = violations(page)
                faults.extend(f"{name} {width} {scheme}: {it}" for it in found)
            wide = page.evaluate("document.documentElement.scrollWidth")
            if wide > width:
                faults.append(f"{name}: {wide} wide at {width}")
            if keep is not None:
                file = re.sub(r"\W+", "-", f"{name} {width} {scheme}")
                page.screenshot(path=keep / f"{file}.png", full_page=True)
        known.add(made_of)

    check("sign in", pages["member"])
    press("Sign in")(pages["member"])
    for name, (who, path, act) in screens(scene).items():
        page = pages[who]
        if shown is not None:
            shown.clear()
            if act is None and not is_new(page, path, kinds):
                continue
        page.goto(base + path)
        if act is not None:
            act(page)
        check(name, page)
    return count, faults


def test_axe_finds_nothing_on_any_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    seen = set()
    find = site.TEMPLATES.get_template

    def noted(name: str, *more: Any) -> Any:
        seen.add(name)
        shown.append(name)
        return find(name, *more)

    monkeypatch.setattr(site.TEMPLATES, "get_template", noted)
    with opened() as at:
        count, faults = look(at, [(360, "dark"), (1280, "light")], shown=shown)
        assert count > len(screens(at[3])) / 2 + 5
    assert faults == []
    # A template that no screen shows is missing above.
    every = {path.name for path in TEMPLATES.iterdir()}
    assert every <= seen


if __name__ == "__main__":
    with opened() as told:
        pictures = Path(sys.argv[1])
        pictures.mkdir(exist_ok=True)
        both = list(product(SIZES, ("light", "dark")))
        many, wrong = look(told, both, pictures)
    print(f"{many} looked at, {len(wrong)} violations", *wrong, sep="\n")  # noqa: T201 - its result
