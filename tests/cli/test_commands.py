"""The command line, as a stranger would use it."""

import json
import random
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from evenhand.ab.comparison import METHODS as COMPARE_METHODS
from evenhand.cli import cli
from evenhand.cli._shared import printable
from evenhand.ranking.ranking import METHODS as RANK_METHODS

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
CONFERENCE = str(EXAMPLES / "conference.csv")
DESIGNS = str(EXAMPLES / "designs.csv")

COMPARE_FIELDS = [
    "schema",
    "items",
    "winner",
    "p_first",
    "p_first_se",
    "votes",
    "p_value",
    "p_value_first",
    "p_value_second",
    "method",
    "parameters",
    "seed",
    "certificate",
    "data",
    "warnings",
    "version",
]
RANK_FIELDS = [
    "schema",
    "order",
    "items",
    "rho",
    "eta_price",
    "draws",
    "method",
    "parameters",
    "seed",
    "certificate",
    "data",
    "warnings",
    "version",
]
ITEM_FIELDS = [
    "item",
    "rank",
    "bucket",
    "mean_rank",
    "reviews",
    "rank_low",
    "rank_high",
    "p_top",
    "mean_score",
    "spread",
]


def run(*words: str, given: str | None = None) -> Result:
    return CliRunner().invoke(cli, list(words), input=given)


def refused(result: Result) -> str:
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("evenhand: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def test_compare_prints_the_documented_fields() -> None:
    result = json.loads(run("compare", DESIGNS, "--json", "--seed", "7").stdout)
    assert list(result) == COMPARE_FIELDS
    assert result["schema"] == "evenhand.compare/1"
    assert result["items"] == ["new design", "old design"]
    assert result["winner"] in result["items"]
    assert 0 < result["p_first"] < 1
    assert sum(result["votes"]) == 6
    assert result["data"]["ratings"] == 12


def test_rank_prints_the_documented_fields() -> None:
    result = json.loads(run("rank", CONFERENCE, "--json", "--seed", "7").stdout)
    assert list(result) == RANK_FIELDS
    assert result["schema"] == "evenhand.rank/1"
    assert [list(row) for row in result["items"]] == [ITEM_FIELDS] * 12
    assert [row["item"] for row in result["items"]] == result["order"]
    assert result["draws"]
    for draw in result["draws"]:
        assert list(draw) == ["items", "p_first", "first", "reviewers"]


@pytest.mark.parametrize("command", ["compare", "rank"])
def test_shuffled_rows_give_the_same_bytes(command: str, tmp_path: Path) -> None:
    source = Path(DESIGNS if command == "compare" else CONFERENCE)
    header, *rows = source.read_text().splitlines()
    shuffled = tmp_path / source.name
    random.Random(2019).shuffle(rows)
    shuffled.write_text("\n".join([header, *rows]) + "\n")
    words = ("--json", "--seed", "2019")
    first, second = (
        run(command, str(source), *words),
        run(command, str(shuffled), *words),
    )
    assert first.exit_code == 0
    assert first.stdout_bytes == second.stdout_bytes


def test_a_drawn_seed_is_printed_and_repeats_the_run() -> None:
    drawn = run("rank", CONFERENCE, "--json")
    seed = json.loads(drawn.stdout)["seed"]
    assert f"seed {seed}\n" in drawn.stderr
    assert 0 <= seed < 2**53
    again = run("rank", CONFERENCE, "--json", "--seed", str(seed))
    assert again.stdout == drawn.stdout


def test_standard_input_is_a_file_called_dash() -> None:
    text = Path(CONFERENCE).read_text()
    piped = run("rank", "-", "--json", "--seed", "1", given=text)
    assert piped.stdout == run("rank", CONFERENCE, "--json", "--seed", "1").stdout


def test_output_goes_to_a_file_whole(tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    result = run("rank", CONFERENCE, "--json", "--seed", "1", "-o", str(target))
    assert result.stdout == ""
    assert json.loads(target.read_text())["schema"] == "evenhand.rank/1"
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


def test_output_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "no such folder" / "result.json"
    message = refused(run("rank", CONFERENCE, "-o", str(target)))
    assert "output must be a path that can be written" in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("rank", "nowhere.csv"), "nowhere.csv"),
        (("rank", CONFERENCE, "--method", "flip"), "did you mean 'flips'?"),
        (("rank", CONFERENCE, "--metod", "flips"), "Did you mean --method?"),
        (("rank", CONFERENCE, "--seed", "-1"), "--seed"),
        (("rank", CONFERENCE, "--score", "mark"), "unknown column 'mark'"),
        (("rank", CONFERENCE, "--scan", "paper"), "scan is an option of"),
        (("rank", CONFERENCE, "--weight", "ratonal"), "did you mean 'rational'?"),
        (("rank", CONFERENCE, "--weight", "rational:-1"), "gamma must be"),
        (("rank", "-"), "<stdin>: The file is empty."),
        (("compare", CONFERENCE), "12"),
        (("compare", CONFERENCE, "--items", "A", "Z"), "unknown item 'Z'"),
        (
            ("compare", DESIGNS, "--trim", "0.3"),
            "trim must be left out for method 'votes'",
        ),
        (("rnk", CONFERENCE), "did you mean 'rank'?"),
        (("--no-such",), "There is no option --no-such."),
        (("rank",), "Missing argument 'FILE'"),
    ],
)
def test_bad_usage_is_one_sentence_and_exit_code_2(
    words: tuple[str, ...], message: str
) -> None:
    assert message.casefold() in refused(run(*words)).casefold()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("reviewer,item,score\na,x,7/10\n", "ratings.csv:2: score must be a number"),
        ("reviewer,item,score\na,x,1\na,x,2\n", "ratings.csv:3: "),
        ("reviewer,item,score\na,x,inf\n", "got 'inf'"),
        ("reviewer,item\na,x\n", "No column for the score"),
        ("", "ratings.csv"),
        ("reviewer,item,score\n", "ratings.csv"),
        ('reviewer,item,score\na,"x,1\n', "ratings.csv:2"),
        ("reviewer,item,score\na,x,1,9\n", "ratings.csv:2"),
        ("reviewer,item,score\na,x,1\na,y,2\nb,y,1\nb,x,2\n", "'x' above 'y'"),
    ],
)
def test_bad_files_are_one_sentence_with_the_place(
    text: str, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "ratings.csv"
    file.write_text(text)
    assert message in refused(run("rank", str(file)))


def test_ranks_are_refused_by_cardinal_methods_in_words(tmp_path: Path) -> None:
    file = tmp_path / "ranks.csv"
    file.write_text("reviewer,item,rank\na,x,1\na,y,2\n")
    assert "a rank is never used as a score" in refused(run("rank", str(file)))
    result = run("rank", str(file), "--method", "topological", "--json")
    assert json.loads(result.stdout)["order"] == ["x", "y"]


def test_demo_ranks_and_saves_what_it_ranked(tmp_path: Path) -> None:
    target = tmp_path / "conference.csv"
    shown = run("demo", "--seed", "7", "--save", str(target))
    assert shown.exit_code == 0
    assert "plain mean" in shown.stdout
    assert target.read_text() == Path(CONFERENCE).read_text()
    ranked = run("rank", str(target), "--seed", "7")
    table = [line for line in shown.stdout.splitlines() if line.startswith("│")]
    assert len(table) == 12
    assert all(line in ranked.stdout for line in table)


def test_methods_lists_what_compare_and_rank_take() -> None:
    rows = json.loads(run("methods", "--json").stdout)["methods"]
    by_job = {
        job: {row["name"] for row in rows if row["job"] == job}
        for job in ("compare", "rank")
    }
    assert by_job == {"compare": set(COMPARE_METHODS), "rank": set(RANK_METHODS)}
    assert sum(row["default"] for row in rows) == 2
    plain = run("methods").stdout
    assert all(row["name"] in plain for row in rows)


@pytest.mark.parametrize("method", COMPARE_METHODS)
def test_every_method_of_compare_decides(method: str) -> None:
    result = run("compare", DESIGNS, "--method", method, "--seed", "1")
    assert result.exit_code == 0
    assert "not a chance of being right" in result.stdout


@pytest.mark.parametrize("method", RANK_METHODS)
def test_every_method_of_rank_orders(method: str) -> None:
    result = run("rank", CONFERENCE, "--method", method, "--seed", "1", "--json")
    assert sorted(json.loads(result.stdout)["order"]) == list("ABCDEFGHIJKL")


def test_labels_with_control_characters_and_markup_are_shown_as_they_are() -> None:
    text = 'reviewer,item,score\na,"[red]x",2\na,"line\nbreak",1\n'
    shown = run("rank", "-", "--method", "mean", "--seed", "1", given=text).stdout
    assert "[red]x" in shown
    assert "line\\nbreak" in shown
    assert printable("\x1b[2J") == "\\x1b[2J"
