import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

from evenhand import grade, read_ratings
from evenhand.cli import cli
from evenhand.words.exports import table_of

PANEL = str(Path(__file__).parents[2] / "examples" / "panel.csv")


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["grade", *words])


def test_the_pass_mark_comes_first_then_marks_then_the_model() -> None:
    result = run(PANEL, "--onto", "0", "100", "--form", "0", "100", "--pass", "60")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "Pass mark 60: 5 safely above, 3 safely below, 4 open."
    text = " ".join(result.stdout.split())
    assert text.index("90 % interval") < text.index("Marks by the additive model")
    assert "Marks 0 to 100 stand for scores 0 to 100." in text
    assert "Claim: No guarantee: marks are right to the extent" in text
    assert "form_assumed" not in result.stderr


def test_json_exports_and_rounding(tmp_path: Path) -> None:
    out = tmp_path / "marks.csv"
    result = run(PANEL, "--round", "0.5", "--json", "--export", str(out), "--seed", "7")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert all(2 * row["mark"] == round(2 * row["mark"]) for row in found["grades"])
    frame = pl.read_csv(out)
    assert frame["item"].to_list() == [row["item"] for row in found["grades"]]
    assert frame["mark"].to_list() == [row["mark"] for row in found["grades"]]
    assert found["seed"] == 7


@pytest.mark.parametrize("header", ["item,mark", "Submission;Grade"])
def test_anchors_come_from_a_table(tmp_path: Path, header: str) -> None:
    sign = ";" if ";" in header else ","
    rows = [header, f"P05{sign}90", f"P06{sign}74", f"P12{sign}35"]
    path = tmp_path / "staff.csv"
    path.write_text("\n".join(rows) + "\n")
    result = run(PANEL, "--anchors", str(path), "--json")
    assert result.exit_code == 0, result.stderr
    found = {row["item"]: row for row in json.loads(result.stdout)["grades"]}
    assert found["P05"]["mark"] == 90
    assert found["P05"]["anchor"]
    assert 35 < found["P08"]["mark"] < 74
    if sign == ",":
        shown = run(PANEL, "--anchors", str(path)).stdout
        assert "given" in shown
        assert "The marks of 3 anchors fix their level and spread." in shown


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["item,mark", "P99,3"], "unknown item 'P99'"),
        (["item,mark", "P05,B"], "staff.csv:2: mark must be a number, got 'B'"),
        (["item,mark", "P05,x"], "staff.csv:2: mark must be a number, got nothing"),
        (["item,mark", "P05,"], "staff.csv:2: mark must be a number, got nothing"),
        (["item,mark", "P05,1", "P05,2"], "staff.csv:3: 'P05' must have one mark"),
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
    result = run(PANEL, "--anchors", str(path), "--export", str(out))
    assert result.exit_code == 2
    assert words in result.stderr
    assert not out.exists()


def test_explain_says_what_marks_may_not_claim() -> None:
    assert "What it may not claim:" in run(PANEL, "--explain").stdout


def test_an_output_must_not_replace_the_anchors(tmp_path: Path) -> None:
    path = tmp_path / "staff.csv"
    path.write_text("item,mark\nP05,90\n")
    result = run(PANEL, "--anchors", str(path), "--output", str(path))
    assert result.exit_code == 2
    assert "--output must not replace --anchors" in result.stderr
    assert path.read_text() == "item,mark\nP05,90\n"


def test_titles_stand_beside_items() -> None:
    folder = Path(PANEL).parent / "exports"
    files = [
        str(folder / "moodle-assessments.csv"),
        "--with",
        str(folder / "moodle-submissions.csv"),
    ]
    assert "502 Tea, and why it" in run(*files, "--seed", "7").stdout

    ratings = read_ratings(files[0], companion=files[2])
    frame = table_of("grades", ratings, grade(ratings, rng=7))
    assert frame.columns[:2] == ["item", "title"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["item;mark", "P05;90,5", "P12;35"], ()),
        (["item,mark", 'P05,"90,5"', "P12,35"], ("--decimal", ",")),
    ],
)
def test_anchors_may_have_decimal_commas(
    tmp_path: Path, rows: list[str], words: tuple[str, ...]
) -> None:
    path = tmp_path / "staff.csv"
    path.write_text("\n".join(rows) + "\n")
    result = run(PANEL, "--anchors", str(path), "--json", *words)
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["parameters"]["anchors"] == {
        "P05": 90.5,
        "P12": 35,
    }


def test_a_pass_mark_beyond_the_marks_is_refused() -> None:
    result = run(PANEL, "--onto", "0", "100", "--form", "0", "100", "--pass", "500")
    assert result.exit_code == 2
    assert "passing must be from 0 to 100, as marks are, got 500." in result.stderr
