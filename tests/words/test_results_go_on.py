"""Results write the command line's report, draw its first figure and become frames."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import altair as alt
import pytest
from click.testing import CliRunner

import evenhand as eh
from evenhand.cli import cli

if TYPE_CHECKING:
    from pathlib import Path

PANEL = "examples/panel.csv"
DESIGNS = "examples/designs.csv"
WORKSHOP = "examples/workshop/ratings.csv"


def without_command(page: str) -> str:
    """Leave out what names the command, the file and its folder."""
    parts = re.split(r"(?s)<details[^>]*data-part=\"repeat\".*?</details>", page)
    file = r"(ratings|designs)\.csv: | · <bdi>(ratings|designs)\.csv</bdi>"
    return re.sub(file, "", "".join(parts))


@pytest.mark.parametrize(
    ("words", "file"),
    [
        ("rank --top 3 --seed 7", WORKSHOP),
        ("check --top 3 --seed 7", WORKSHOP),
        ("compare --design halves --seed 7", DESIGNS),
    ],
)
def test_the_report_is_the_command_lines(words: str, file: str, tmp_path: Path) -> None:
    ratings = eh.read_ratings(file)
    command, *options = words.split()
    if command == "rank":
        result: eh.Ranking | eh.Check | eh.Comparison = eh.rank(ratings, top=3, rng=7)
    elif command == "check":
        result = eh.check(ratings, top=3, rng=7)
    else:
        result = eh.compare(ratings, design="halves", rng=7)
    ours, theirs = tmp_path / "ours.html", tmp_path / "theirs.html"
    result.report(ours)
    done = CliRunner().invoke(cli, [command, file, *options, "--report", str(theirs)])
    assert done.exit_code == 0, done.stderr
    page = ours.read_text(encoding="utf-8")
    assert without_command(page) == without_command(theirs.read_text(encoding="utf-8"))
    assert f"evenhand.{command}(..." in page
    assert "rng=7)" in page
    assert "--record" not in page
    assert isinstance(result.plot(), alt.TopLevelMixin)


def test_two_lists_can_be_reported_and_drawn(tmp_path: Path) -> None:
    found = eh.compare([7, 9, 4], [6, 3, 5, 5], rng=7)
    found.report(tmp_path / "page.html")
    assert "Scores" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert found.plot().to_dict()["title"]["text"]


def test_marks_are_drawn_with_their_pass_mark() -> None:
    found = eh.grade(WORKSHOP, passing=4, rng=7)
    chart = found.plot().to_dict()
    assert "pass mark" in " ".join(chart["title"]["subtitle"])
    lines, dots, line = (
        [*chart["datasets"][layer["data"]["name"]]] for layer in chart["layer"]
    )
    drawn = {(row["low"], row["value"], row["high"]) for row in lines}
    assert drawn == {(row.low, row.mark, row.high) for row in found.items}
    assert [row["at"] for row in line] == [4]
    assert dots == lines


def test_what_is_kept_is_no_part_of_the_answer() -> None:
    one, two = (
        eh.Ratings(["a", "a"], items, [1, 2]) for items in (["x", "y"], ["x", "y"])
    )
    assert eh.rank(one, rng=7) == eh.rank(two, rng=7)
    assert "ratings" not in eh.rank(one, rng=7).to_dict()
    assert "ratings" not in eh.check(one, rng=7).to_dict()
    assert "ratings" not in eh.compare([1], [2], rng=7).to_dict()


@pytest.mark.parametrize("path", ["page.pdf", 7])
def test_a_report_goes_to_html(path: str) -> None:
    found = eh.compare([7], [6], rng=7)
    with pytest.raises(eh.OptionError, match=r"report must be a file .* \.html, got"):
        found.report(path)


def test_a_check_is_a_frame_of_its_reviewers() -> None:
    found = eh.check(eh.read_ratings(PANEL), rng=7)
    frame = found.to_frame()
    rows = found.to_dict()["reviewers"]
    assert frame.to_dicts() == list(rows)  # type: ignore[arg-type]  # dicts of fields
    orders = eh.Ratings.from_comparisons(["x"], ["y"])
    assert eh.check(orders, rng=7).to_frame().columns == frame.columns


def test_safe_on_contradictory_ratings_can_be_reported(tmp_path: Path) -> None:
    found = eh.rank(eh.read_ratings(PANEL), method="safe", design="balanced", rng=7)
    found.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "method=&#39;safe&#39;" in page
