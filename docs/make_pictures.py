"""Make the pictures of the walk-throughs anew: `python docs/make_pictures.py`.

Charts come from the command line's `--export charts=FOLDER`, screenshots from its
`--report`, opened in Debian's chromium. Commands and seeds are those of the pages.
"""

from __future__ import annotations

import contextlib
import csv
import shlex
import shutil
import tempfile
from pathlib import Path

from click.testing import CliRunner

from evenhand.cli import cli

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "docs" / "pictures"
REVIEWS = "examples/exports/hotcrp-reviews.csv"
MARKS = "examples/exports/moodle-assessments.csv"
KEY = "who-is-who.csv"
# Of each page the command, and which of its charts the page shows.
COMMANDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "conference": (
        f"rank {REVIEWS} --scale best=A --top 4 --anonymise {KEY}",
        ("ranks", "strictness"),
    ),
    "peer-grading": (
        f"rank {MARKS} --with examples/exports/moodle-submissions.csv",
        ("strictness",),
    ),
    "two-designs": ("compare examples/designs.csv --design halves", ("scores",)),
    "hackathon": (
        "rank examples/exports/gavel-decisions.csv --top 3",
        ("ranks",),
    ),
    "judges": ("rank examples/judges-long.csv --top 2", ("scales", "warp")),
}
# Pages that show how a report opens.
SHOTS = ("conference", "peer-grading", "two-designs", "hackathon")
FLAGS = ["--no-sandbox", "--disable-gpu"]


def key() -> str:
    """Give codes to reviewers in their order; without a key they are drawn anew."""
    with Path(REVIEWS).open(encoding="utf-8", newline="") as file:
        people = sorted({row["email"] for row in csv.DictReader(file)})
    rows = [f"R{place:02d},{person}" for place, person in enumerate(people, start=1)]
    return "\n".join(["code,reviewer", *rows, ""])


def draw(page: str) -> None:
    """Write the report of a page here, and its charts among the pictures."""
    command, charts = COMMANDS[page]
    extra = ["--seed", "7", "--report", f"{page}.html", "--export", f"charts={page}"]
    result = CliRunner().invoke(cli, [*shlex.split(command), *extra])
    if result.exit_code:
        raise SystemExit(result.stderr)
    for chart in charts:
        shutil.copyfile(f"{page}/{chart}.svg", HERE / f"{page}-{chart}.svg")


def shoot() -> None:
    """Take a picture of how each report opens."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - a test extra

    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=FLAGS
        )
        for page in SHOTS:
            tab = browser.new_page(
                viewport={"width": 860, "height": 700}, color_scheme="light"
            )
            tab.goto(Path(f"{page}.html").resolve().as_uri())
            first = tab.locator("main section").first
            first.screenshot(path=HERE / f"{page}-report.png")
        browser.close()


def main() -> None:
    """Make all pictures, in a copy of the examples."""
    HERE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        shutil.copytree(ROOT / "examples", "examples")
        Path(KEY).write_text(key(), encoding="utf-8")
        for page in COMMANDS:
            draw(page)
        shoot()


if __name__ == "__main__":
    main()
