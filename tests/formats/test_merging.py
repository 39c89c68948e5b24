"""Labels that look alike: merged if the user asks for it, and told of first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from evenhand.cli import cli
from evenhand.errors import OptionError
from tests.formats.reader import Reader, notices

if TYPE_CHECKING:
    from pathlib import Path

FILE = Reader("r.csv")
read, refused = FILE.read, FILE.refused
TEXT = (
    "reviewer,item,score\nAnna,Student08,5\nBo,student08,4\nCy,Student08,3\n"
    "Anna,Student09,2\nbo,Student09,1\n"
)


def test_labels_that_look_alike_are_merged_on_request() -> None:
    assert read(TEXT).item_labels == ("Student08", "Student09", "student08")
    ratings = read(TEXT, merge="item")
    assert ratings.item_labels == ("Student08", "Student09")
    assert ratings.n_reviewers == 4
    said = "1 label of items merged with others that look alike: 'student08' into "
    assert notices(ratings)["merged_items"] == f"{said}'Student08'."
    assert "similar_items" not in notices(ratings)
    both = read(TEXT, merge=["item", "reviewer"])
    assert (both.n_items, both.n_reviewers) == (2, 3)
    assert set(notices(both)) == {"merged_items", "merged_reviewers"}


def test_merged_labels_do_not_depend_on_the_order_of_rows() -> None:
    head, *rows = TEXT.splitlines()
    turned = "\n".join([head, *reversed(rows)])
    both = ["reviewer", "item"]
    assert read(turned, merge=both).sha256 == read(TEXT, merge=both).sha256


def test_whoever_rated_both_spellings_is_refused_with_the_line() -> None:
    assert refused(TEXT + "Anna,student08,4\n", merge="item") == (
        "r.csv:7: reviewer 'Anna' rated item 'Student08' twice (first: line 2). Say "
        "which count with repeats= or --repeats last, mean or all."
    )


def test_case_alone_is_merged_in_items_and_reviewers() -> None:
    text = f"{TEXT}Cy,Student 09,2\nAnna,Student  09,3\n"
    ratings = read(text, merge="case")
    items = ("Student  09", "Student 09", "Student08", "Student09")
    assert ratings.item_labels == items
    assert ratings.reviewer_labels == ("Anna", "Bo", "Cy")
    assert read(text, merge=["case", "item"]).n_reviewers == 4
    for form in (["--merge", "case"], ["--column", "merge=case"]):
        words = ["rank", "-", "--seed", "1", "--method", "mean", *form]
        done = CliRunner().invoke(cli, words, input=text)
        assert "1 label of items merged" in done.stderr


def test_comparisons_and_wide_tables_are_merged_too() -> None:
    votes = read("winner,loser\nTea,milk\nmilk,tea\nTea,Milk\n", merge="item")
    assert votes.item_labels == ("Tea", "milk")
    wide = "item,Anna,anna,Bo\nx,1,,2\nX,,3,\ny,2,1,3\n"
    assert read(wide, rows="items", merge="item").item_labels == ("x", "y")
    turned = "who,x,X,y\nAnna,1,,2\nBo,,3,1\n"
    assert read(turned, rows="reviewers", merge="item").n_items == 2


def test_other_words_are_refused() -> None:
    with pytest.raises(OptionError, match="merge must be 'item', 'reviewer' or 'case'"):
        read(TEXT, merge="blanks")
    counts = "item,score,count\nx,5,70\ny,4,2\n"
    words = ["compare", "-", "--column", "merge=item"]
    done = CliRunner().invoke(cli, words, input=counts)
    assert done.exit_code == 2
    assert "merge must be left out for counts of scores" in done.output


def test_names_of_coded_reviewers_are_not_told(tmp_path: Path) -> None:
    text = TEXT + "Dee ,Student09,4\nDee,Student08,4\n"
    ratings = read(text, merge="reviewer", anonymise=str(tmp_path / "key.csv"))
    said = notices(ratings)
    assert said["merged_reviewers"] == (
        "1 label of reviewers merged with others that look alike."
    )
    assert said["blanks_reviewers"] == (
        "Blanks around labels do not count, so spellings of 1 reviewer were merged."
    )
    assert ratings.n_reviewers == 4


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("reviewer,item,score\na,x,1\nb,x ,2\n", {}),
        ("item,Anna,Bo\nx,1,\nx ,,2\ny,3,4\n", {"rows": "items"}),
        ('[{"reviewer": "a", "item": "x", "score": 1}, '
         '{"reviewer": "b", "item": "x ", "score": 2}]', {}),
        ("Timestamp,Name,Which team?,Score\n1/2/2024 10:00:00,Ann,x,1\n"
         "1/2/2024 10:01:00,Bo,x ,2\n",
         {"reviewer": "Name", "item": "Which team?", "score": "Score"}),
    ],
)  # fmt: skip
def test_blanks_that_make_labels_one_are_told_of(
    text: str, options: dict[str, str]
) -> None:
    assert notices(read(text, **options))["blanks_items"] == (
        "Blanks around labels do not count, so spellings of 1 item were merged: 'x ' "
        "is 'x'."
    )


def test_the_note_on_labels_comes_before_the_table() -> None:
    for command in ("rank", "grade"):
        text = TEXT + "Cy,student08,2\n"
        done = CliRunner().invoke(cli, [command, "-", "--seed", "1"], input=text)
        assert done.exit_code == 0, done.output
        note = done.output.index("Note (similar_items): Labels that look alike")
        assert note < done.output.index("Student08 \u2502")
        merged = ["--column", "merge=item", "--column", "merge=reviewer"]
        done = CliRunner().invoke(cli, [command, "-", *merged], input=TEXT)
        assert done.exit_code == 0, done.output
        assert "student08 \u2502" not in done.output


def test_a_record_of_merged_labels_is_audited(tmp_path: Path) -> None:
    file, record = tmp_path / "r.csv", tmp_path / "d.json"
    file.write_text(TEXT)
    words = ["--column", "merge=item", "--record", str(record), "--seed", "1"]
    run = CliRunner().invoke(cli, ["rank", str(file), *words])
    assert "--column merge=item" in run.output
    audit = ["audit", str(record), str(file)]
    assert CliRunner().invoke(cli, [*audit, "--column", "merge=item"]).exit_code == 0
    assert CliRunner().invoke(cli, audit).exit_code == 1
