"""`evenhand assign`: from lists to a sealed assignment, as a stranger would use it."""

import csv
import io
import json
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from evenhand import read_ratings
from evenhand.cli import cli
from evenhand.designs.drawing import seal_of
from evenhand.records.record import load_assignment, read_hex, read_record


@pytest.fixture(autouse=True)
def _desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("items.txt").write_text("p1\np2\np3\np4\n")
    Path("two.txt").write_text("x\ny\n")
    Path("people.csv").write_text(
        "name,reviewer,pair,panel\nA,Anna,1,n\nB,Bo,2,n\nC,Cy,2,s\nD,Di,1,s\n"
    )
    Path("conflicts.csv").write_text("reviewer,item\nBo,p1\nBo,p2\n")


def run(*words: str, given: str | None = None) -> Result:
    return CliRunner().invoke(cli, ["assign", *words], input=given)


def refused(*words: str) -> str:
    before = sorted(Path().iterdir())
    result = run(*words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("evenhand: ")
    assert result.stderr.count("\n") == 1
    assert sorted(Path().iterdir()) == before
    return result.stderr


LISTS = ("--items", "items.txt", "--reviewers", "people.csv")
TWO = ("--items", "two.txt", "--reviewers", "people.csv")
BALANCED = (*LISTS, "--design", "balanced", "--per-reviewer", "2")


def rows(result: Result) -> list[dict[str, str]]:
    assert result.exit_code == 0, result.stderr
    return list(csv.DictReader(io.StringIO(result.stdout)))


def test_prints_rows_and_the_seed_that_repeats_them() -> None:
    first = run(*BALANCED, "--conflicts", "conflicts.csv")
    seed = first.stderr.split("seed ")[1].strip()
    again = run(*BALANCED, "--conflicts", "conflicts.csv", "--seed", seed)
    assert rows(first) == rows(again)
    assert {"reviewer": "Bo", "item": "p3"} in rows(first)
    assert {"reviewer": "Bo", "item": "p4"} in rows(first)
    assert len(rows(first)) == 8
    assert "Every feasible assignment was equally likely." in first.stderr


def test_the_order_of_lines_does_not_matter() -> None:
    first = rows(run(*BALANCED, "--seed", "7"))
    Path("items.txt").write_text("p4\np2\np1\np3\n")
    lines = Path("people.csv").read_text().splitlines()
    Path("people.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]))
    assert rows(run(*BALANCED, "--seed", "7")) == first


@pytest.mark.parametrize(
    ("design", "column"), [("matched", "pair"), ("panels", "panel")]
)
def test_pairs_and_panels_are_found_and_go_with_the_rows(
    design: str, column: str
) -> None:
    found = rows(run(*TWO, "--design", design, "--seed", "3"))
    item = {row["reviewer"]: row["item"] for row in found}
    assert {row["reviewer"]: row[column] for row in found}["Cy"] in ("2", "s")
    assert (item["Bo"] == item["Cy"]) == (
        design == "panels" and item["Anna"] == item["Cy"]
    )
    named = rows(run(*TWO, "--design", design, "--group", column, "--seed", "3"))
    assert named == found


def test_items_come_from_standard_input() -> None:
    result = run(
        "--items",
        "-",
        "--reviewers",
        "people.csv",
        "--design",
        "halves",
        "--seed",
        "1",
        given="x\ny\n",
    )
    assert {row["item"] for row in rows(result)} == {"x", "y"}


def test_json_is_the_record() -> None:
    result = run(*BALANCED, "--seed", "7", "--json", "--record", "a.json")
    assert json.loads(result.stdout) == read_record("a.json")
    assert json.loads(result.stdout)["seed"] == 7


def test_a_secret_is_sealed_first_and_drawn_with_later() -> None:
    result = run("--seal", "seal.json", "--secret", "secret.json")
    assert result.exit_code == 0
    secret = read_hex("secret.json", "secret")
    assert read_hex("seal.json", "seal") == seal_of(secret)
    assert stat.S_IMODE(Path("secret.json").stat().st_mode) == 0o600
    drawn = run(
        *BALANCED, "--secret", "secret.json", "--record", "a.json", "-o", "o.csv"
    )
    assert drawn.exit_code == 0
    assert load_assignment("a.json", secret=secret).backing == "revealed"
    shown = "".join(
        [
            result.output,
            drawn.output,
            Path("a.json").read_text(),
            Path("seal.json").read_text(),
            Path("o.csv").read_text(),
        ]
    )
    assert secret not in shown
    assert str(int(secret, 16)) not in shown


def test_seal_and_draw_can_be_one_step() -> None:
    result = run(
        *BALANCED,
        "--seal",
        "seal.json",
        "--secret",
        "secret.json",
        "--record",
        "a.json",
    )
    assert len(rows(result)) == 8
    secret = read_hex("secret.json", "secret")
    seal = read_hex("seal.json", "seal")
    assert load_assignment("a.json", secret=secret, seal=seal).verified
    assert "publish it before any rating exists" in result.stderr
    assert "seed" not in result.stderr


def test_a_secret_is_never_written_over() -> None:
    Path("secret.json").write_text("precious")
    assert "there already" in refused("--seal", "seal.json", "--secret", "secret.json")
    assert Path("secret.json").read_text() == "precious"


def test_nothing_is_written_if_one_file_cannot_be() -> None:
    words = refused(
        *BALANCED,
        "--seal",
        "seal.json",
        "--secret",
        "secret.json",
        "--record",
        "none/a.json",
        "-o",
        "o.csv",
    )
    assert "none/a.json" in words


def test_labels_that_look_like_formulas_are_safe_and_come_back() -> None:
    Path("items.txt").write_text("=1+1\n-5\n+x\n")
    Path("people.csv").write_text("reviewer\n@anna\n=cmd()\n'tis\n")
    result = run(
        *LISTS, "--design", "pairs", "--seed", "1", "-o", "o.csv", "--record", "a.json"
    )
    assert result.exit_code == 0
    text = io.StringIO(Path("o.csv").read_text())
    cells = {cell for row in csv.reader(text) for cell in row}
    assert {"'=1+1", "-5", "'+x", "'@anna", "'=cmd()", "'tis"} <= cells
    lines = Path("o.csv").read_text().splitlines()
    scored = [f"{lines[0]},score", *(f"{line},1" for line in lines[1:])]
    Path("ratings.csv").write_text("\n".join(scored))
    assert load_assignment("a.json").holds(read_ratings("ratings.csv"))


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ((), "--items, --reviewers and --design must be given, got no --items."),
        (LISTS, "got no --design."),
        (("--seal", "s.json"), "--seal must come with --secret"),
        (
            ("--seal", "s", "--secret", "k", "-o", "x"),
            "--output must come with --items",
        ),
        ((*BALANCED, "--secret", "none"), "none: The file cannot be read"),
        ((*BALANCED, "--secret", "k", "--seed", "1"), "--seed must be left out"),
        ((*LISTS, "--design", "balansed"), "did you mean 'balanced'?"),
        ((*LISTS, "--design", "balanced"), "per_reviewer or per_item must be given"),
        (
            (*LISTS, "--design", "halves"),
            "items must be two for design 'halves', got 4",
        ),
        ((*LISTS, "--design", "pairs", "--group", "pair"), "--group must be left out"),
        ((*BALANCED, "-o", "items.txt"), "must not replace --items"),
        ((*BALANCED, "-o", "x", "--record", "x"), "must not replace --output"),
        ((*BALANCED, "--conflicts", "items.txt"), "one column for the reviewer"),
        ((*BALANCED, "--reviewer-column", "nam"), "unknown column 'nam', did you mean"),
        (
            ("--items", "-", "--reviewers", "-", "--design", "pairs"),
            "Only one file can be read from standard input",
        ),
        (
            (
                *LISTS,
                "--design",
                "balanced",
                "--per-reviewer",
                "3",
                "--conflicts",
                "conflicts.csv",
            ),
            "reviewer 'Bo' must get 3 items, got only 2 without a conflict",
        ),
    ],
)
def test_refuses_in_one_sentence(words: tuple[str, ...], reason: str) -> None:
    assert reason in refused(*words)
