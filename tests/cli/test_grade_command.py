import json
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from tests import commands

PANEL = str(Path(__file__).parents[2] / "examples" / "panel.csv")


@pytest.fixture
def few(tmp_path: Path) -> str:
    """Two reviewers of four items, which take little time to grade."""
    path = tmp_path / "few.csv"
    rows = [f"{who},P{item:02},{score + who}" for who in (1, 2) for item, score in FEW]
    path.write_text("\n".join(["reviewer,item,score", *rows]) + "\n")
    return str(path)


FEW = [(5, 9.0), (6, 7.0), (8, 5.5), (12, 3.0)]


run = partial(commands.run, "grade")
refused = partial(commands.refused, "grade")


def test_the_pass_mark_comes_first_then_marks_then_the_model() -> None:
    result = run(PANEL, "--onto", "0", "100", "--form", "0", "100", "--pass", "60")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert (
        lines[0] == "Pass mark 60: 5 safely above, 3 safely below, 4 too close to call."
    )
    text = " ".join(result.stdout.split())
    assert text.index("90% interval") < text.index("Model: additive.")
    assert "Marks are on the scale of the scores." in text
    assert "Guarantee: none. Marks are right to the extent" in text
    assert "form_assumed" not in result.stderr


def test_json_exports_and_rounding(few: str, tmp_path: Path) -> None:
    out = tmp_path / "marks.csv"
    result = run(few, "--round", "0.5", "--json", "--export", str(out), "--seed", "7")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert all(2 * row["mark"] == round(2 * row["mark"]) for row in found["grades"])
    frame = pl.read_csv(out)
    assert frame["item"].to_list() == [row["item"] for row in found["grades"]]
    assert frame["mark"].to_list() == [row["mark"] for row in found["grades"]]
    assert found["seed"] == 7


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["item,mark", "P05,90", "P06,74", "P12,35"], ()),
        (["Submission;Grade", "P05;90,5", "P12;35"], ()),
        (["item,mark", 'P05,"90,5"', "P12,35"], ("--decimal", ",")),
    ],
)
def test_anchors_come_from_a_table_maybe_with_decimal_commas(
    few: str, tmp_path: Path, rows: list[str], words: tuple[str, ...]
) -> None:
    path = tmp_path / "staff.csv"
    path.write_text("\n".join(rows) + "\n")
    result = run(few, "--anchors", str(path), "--link", "line", "--json", *words)
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    mark = 90 if len(rows) > 3 else 90.5
    given = {"P05": mark, "P12": 35} | ({"P06": 74} if len(rows) > 3 else {})
    assert document["parameters"]["anchors"] == given
    assert document["parameters"]["link"] == "line"
    found = {row["item"]: row for row in document["grades"]}
    assert found["P05"]["mark"] == mark
    assert found["P05"]["anchor"]
    assert 35 < found["P08"]["mark"] < 74


def test_anchors_are_shown(few: str, tmp_path: Path) -> None:
    path = tmp_path / "staff.csv"
    path.write_text("item,mark\nP05,90\nP06,74\nP12,35\n")
    shown = run(few, "--anchors", str(path), "--link", "line", "--explain").stdout
    assert "given" in shown
    assert "The marks of 3 anchors fix their level and spread." in shown
    assert "What it may not claim:" in shown


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["item,mark", "P99,3"], "unknown item 'P99'"),
        (["item,mark", "P05,B"], "staff.csv:2: mark must be a number, got 'B'"),
        (["item,mark", "P05,x"], "staff.csv:2: mark must be a number, got nothing"),
        (["item,mark", "P05,"], "staff.csv:2: mark must be a number, got nothing"),
        (["item,mark", "P05,1", "P05,2"], "anchors must be at least 5 to predict"),
        (["a,b", "P05,1"], "Call it item, or"),
        (["item,mark", 'P05,"1,5"'], "staff.csv:2: mark must be a number, got '1,5'"),
    ],
)
def test_bad_anchors_get_a_sentence(
    tmp_path: Path, rows: list[str], words: str
) -> None:
    path = tmp_path / "staff.csv"
    path.write_text("\n".join(rows) + "\n")
    out = tmp_path / "marks.csv"
    assert words in refused(PANEL, "--anchors", str(path), "--export", str(out))
    assert not out.exists()


def test_an_output_must_not_replace_the_anchors(tmp_path: Path) -> None:
    path = tmp_path / "staff.csv"
    path.write_text("item,mark\nP05,90\n")
    message = refused(PANEL, "--anchors", str(path), "--output", str(path))
    assert "--output must not replace --anchors" in message
    assert path.read_text() == "item,mark\nP05,90\n"


def test_titles_stand_beside_items(tmp_path: Path) -> None:
    folder, out = Path(PANEL).parent / "exports", tmp_path / "marks.csv"
    result = run(
        str(folder / "moodle-assessments.csv"),
        *("--with", str(folder / "moodle-submissions.csv")),
        *("--export", str(out), "--seed", "7"),
    )
    assert "502 Tea, and why it" in result.stdout
    assert pl.read_csv(out).columns[:2] == ["item", "title"]


def test_a_pass_mark_beyond_the_marks_is_refused() -> None:
    words = ("--onto", "0", "100", "--form", "0", "100", "--pass", "500")
    message = "passing must be from 0 to 100, as marks are, got 500."
    assert message in refused(PANEL, *words)
