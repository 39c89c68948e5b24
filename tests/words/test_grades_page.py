"""The report of marks."""

from pathlib import Path

import pytest
from click.testing import CliRunner

import evenhand as eh
from evenhand.cli import cli
from evenhand.words.lines import grades_verdict
from evenhand.words.pictures import grade_rows

PANEL = "examples/panel.csv"


@pytest.fixture(scope="module")
def found() -> eh.Grades:
    return eh.grade(eh.read_ratings(PANEL), passing=60, rng=7)


def test_rows_have_the_marks_and_the_pass_mark_through_them(found: eh.Grades) -> None:
    rows = grade_rows(found)
    assert [row.label for row in rows.rows] == [row.item for row in found.items]
    assert rows.cut is not None
    assert rows.cut == (sum(row.mark >= 60 for row in found.items), "pass mark 60")
    assert rows.line is not None
    for row, mark in zip(rows.rows, found.items, strict=True):
        assert row.word == str(mark.standing).replace("open", "too close")
        assert row.ends is not None
        crosses = row.ends[0] < rows.line < row.ends[1]
        assert crosses == (mark.standing == "open")
    assert grades_verdict(found).startswith(
        "Pass mark 60: 5 safely above, 3 safely below, 4 too close to call."
    )


def test_without_a_pass_mark_there_is_no_line_and_anchors_are_given() -> None:
    ratings = eh.read_ratings(PANEL)
    rows = grade_rows(
        eh.grade(ratings, anchors={"P05": 90, "P12": 35}, link="line", rng=7)
    )
    assert rows.cut is None
    assert rows.line is None
    assert [row.label for row in rows.rows if row.word == "given"] == ["P05", "P12"]


def test_python_and_the_command_line_write_a_page(
    found: eh.Grades, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    found.report(page)
    text = page.read_text(encoding="utf-8")
    assert "Pass mark 60: 5 safely above, 3 safely below, 4 too close to call." in text
    assert "evenhand.grade(..., passing=60.0, rng=7)" in text
    assert text.count("<li class=") >= 12
    other = tmp_path / "other.html"
    arguments = ["grade", PANEL, "--pass", "60", "--seed", "7", "--report", str(other)]
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 0, result.stderr
    assert "Pass mark 60: 5 safely above" in other.read_text(encoding="utf-8")


def test_marks_have_no_charts() -> None:
    result = CliRunner().invoke(cli, ["grade", PANEL, "--export", "charts=there"])
    assert result.exit_code == 2
    assert "charts must be left out with grade" in result.stderr


@pytest.mark.parametrize("ratings", ["one", "ranks"])
def test_odd_ratings_have_a_page(ratings: str, tmp_path: Path) -> None:
    many = [who for who in range(12) for _ in "xyz"]
    odd = {
        "one": eh.Ratings(["a", "b"], ["x", "x"], [1, 2]),
        "ranks": eh.Ratings.from_ranks(many, ["x", "y", "z"] * 12, [1, 2, 3] * 12),
    }[ratings]
    anchors = {"x": 9.0, "z": 2.0} if ratings == "ranks" else None
    eh.grade(odd, anchors=anchors, link="line", rng=7).report(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<h1" in text
    assert "marked, from" in text


def test_a_rubric_has_a_column_of_rounded_marks_for_each_part() -> None:
    parts = {"Content": 2.0, "Method": 1.0, "Style": 1.0}
    by = {"form": (1, 5), "onto": (0, 100), "passing": 50, "rounding": 1, "rng": 7}
    path = "examples/exports/forms-rubric.xlsx"
    marks = eh.grade(path, score=parts, pass_each=True, **by)  # type: ignore[arg-type]  # any
    assert grades_verdict(marks).startswith("Pass mark 50 in total and by each criter")
    columns = grade_rows(marks).columns
    assert columns["mark"][1] == [str(int(row.mark)) for row in marks.items]
    for part in parts:
        alone = {row.item: row.mark for row in marks.criteria[part].items}
        cells = [f"{alone[row.item]:g}" for row in marks.items]
        assert columns[part][1] == cells
