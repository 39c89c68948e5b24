"""Make the pictures of the walk-throughs anew: `python -m docs.make_pictures`.

Charts come from the command line's `--export charts=FOLDER`, screenshots from its
`--report`, opened in Debian's chromium. Commands and seeds are those of the pages.
The page on the report shows the cases of `docs/cases.py`.
"""

from __future__ import annotations

import contextlib
import csv
import shlex
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from click.testing import CliRunner
from playwright.sync_api import ViewportSize, sync_playwright

from docs import cases
from evenhand import compare, rank
from evenhand.cli import cli

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand import Comparison, Ranking

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "docs" / "pictures"
REVIEWS = "examples/exports/hotcrp-reviews.csv"
MARKS = "examples/exports/moodle-assessments.csv"
KEY = "who-is-who.csv"
# Of each page the command, and which of its charts the page shows.
COMMANDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "conference": (
        f"rank {REVIEWS} --scale best=A --top 4 --anonymise {KEY}",
        ("strictness",),
    ),
    "peer-grading": (
        f"rank {MARKS} --with examples/exports/moodle-submissions.csv",
        ("strictness",),
    ),
    "two-designs": ("compare examples/designs.csv --design halves", ("scores",)),
    "hackathon": (
        "rank examples/exports/gavel-decisions.csv --top 3",
        (),
    ),
    "criteria": (
        "rank examples/criteria.csv --score novelty=2 --score soundness --top 4",
        (),
    ),
    "judges": ("rank examples/judges-long.csv --top 2", ()),
    "select": (
        "select examples/panel.csv --places 4 --draw --sealed-before scores "
        "--secret examples/workshop/secret.json",
        (),
    ),
}
# Pages that show how a report opens.
SHOTS = (
    *("conference", "criteria", "peer-grading", "two-designs"),
    *("hackathon", "judges", "select"),
)
# Screens of the app.
SCREENS = ("new", "items", "public")
FLAGS = ["--no-sandbox", "--disable-gpu"]
# Cases of the page on the report, and the screens on which it shows them.
CASES: dict[str, Callable[[], Ranking | Comparison]] = {
    "conference": lambda: rank(cases.conference(), top=30, rng=7),
    "duel": lambda: compare(cases.duel(), design="halves", rng=7),
}
DESK = ViewportSize(width=1200, height=900)
PHONE = ViewportSize(width=390, height=844)
OPENED = (
    "document.querySelectorAll('#decision li.row')[28].querySelector('summary').click()"
)


def key() -> str:
    """Give codes to reviewers in their order; without a key they are drawn anew."""
    with Path(REVIEWS).open(encoding="utf-8", newline="") as file:
        people = sorted({row["email"] for row in csv.DictReader(file)})
    rows = [f"R{place:02d},{person}" for place, person in enumerate(people, start=1)]
    return "\n".join(["code,reviewer", *rows, ""])


def seed_of(command: str) -> list[str]:
    """Return the seed of a page's command, unless a secret is in its place."""
    return [] if "--secret" in command else ["--seed", "7"]


def draw(page: str) -> None:
    """Write the report of a page here, and its charts among the pictures."""
    command, charts = COMMANDS[page]
    extra = [*seed_of(command), "--report", f"{page}.html"]
    extra += ["--export", f"charts={page}"]
    result = CliRunner().invoke(cli, [*shlex.split(command), *extra])
    if result.exit_code:
        raise SystemExit(result.stderr)
    for chart in charts:
        shutil.copyfile(f"{page}/{chart}.svg", HERE / f"{page}-{chart}.svg")


def case_shots() -> list[str]:
    """Name the pictures of the page on the report."""
    sizes = [f"report-{case}-{width}.png" for case in CASES for width in (1200, 390)]
    return [*sizes, "report-conference-dark.png", "report-conference-item.png"]


def shoot() -> None:
    """Take a picture of how each report opens."""
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=FLAGS
        )

        def take(page: str, name: str, size: ViewportSize, reach: str = "0") -> None:
            scheme: Literal["dark", "light"] = "dark" if "dark" in name else "light"
            tab = browser.new_page(viewport=size, color_scheme=scheme)
            tab.goto(Path(f"{page}.html").resolve().as_uri())
            tab.evaluate(reach)
            tab.screenshot(path=HERE / name)
            tab.close()

        for page in SHOTS:
            take(page, f"{page}-report.png", ViewportSize(width=1000, height=760))
        for case in CASES:
            take(f"case-{case}", f"report-{case}-1200.png", DESK)
            take(f"case-{case}", f"report-{case}-390.png", PHONE)
        take("case-conference", "report-conference-dark.png", DESK)
        take("case-conference", "report-conference-item.png", DESK, OPENED)
        browser.close()


def shoot_app() -> None:
    """Run a small evaluation in the browser, and take pictures on the way."""
    from tests.web.desk import served_at  # noqa: PLC0415 - it needs test extras

    talks = ["Trees", "Lists", "Graphs", "Heaps", "Queues", "Sets"]
    with sync_playwright() as play, served_at(Path("app.db")) as (base, served):
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=FLAGS
        )
        desk = browser.new_page(viewport={"width": 1100, "height": 700})
        phone = browser.new_page(viewport={"width": 360, "height": 780})
        desk.goto(base + served.signin())
        desk.get_by_role("button", name="Sign in").click()
        desk.locator("#title").fill("Autumn talks")
        lines = [f"talk {n}, {name}" for n, name in enumerate(talks, start=1)]
        desk.locator("#items").fill("\n".join(lines))
        desk.locator("#reviewers").fill("Ada\nBo\nCy\nDee")
        desk.get_by_text("How good will it be?").wait_for(timeout=60_000)
        desk.screenshot(path=HERE / "web-new.png")
        desk.get_by_role("button", name="Seal and draw").click()
        desk.wait_for_url("**/links")
        slug = desk.url.split("/")[4]
        for link in [it.input_value() for it in desk.locator("input[readonly]").all()]:
            phone.goto(link)
            phone.get_by_role("button", name="Begin").click()
            fields = phone.locator("form[data-place] input[type=text]")
            for number, score in enumerate((71.5, 64, 30.5)):
                fields.nth(number).fill(str(score))
            done = phone.get_by_role("button", name="I am done")
            done.wait_for(timeout=60_000)
        phone.locator("h1").click()
        phone.screenshot(path=HERE / "web-items.png")
        desk.goto(f"{base}/e/{slug}")
        desk.get_by_role("button", name="Close").click()
        desk.get_by_role("button", name="Decide").click()
        desk.locator(".lead").wait_for(timeout=120_000)
        desk.get_by_role("button", name="Publish").click()
        desk.goto(f"{base}/p/{slug}")
        desk.screenshot(path=HERE / "web-public.png")
        browser.close()


def main() -> None:
    """Make all pictures, in a copy of the examples."""
    HERE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        shutil.copytree(ROOT / "examples", "examples")
        Path(KEY).write_text(key(), encoding="utf-8")
        for page in COMMANDS:
            draw(page)
        for case, make in CASES.items():
            make().report(f"case-{case}.html")
        shoot()
        shoot_app()


if __name__ == "__main__":
    main()
