"""Moodle's workshop: what is read from its tables, and what is refused."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from evenhand.formats.reading import read_ratings
from examples.exports_teaching import HERE
from tests.formats.reader import Reader, notices

FIRST, SECOND = HERE / "moodle-assessments.csv", HERE / "moodle-submissions.csv"
HEADER = "id,submissionid,reviewerid,weight,grade\n"
ROWS = "1,10,301,1,80.00000\n2,11,301,1,60\n3,10,302,1,NULL\n4,11,300,1,40\n"
SUBMISSIONS = "id,authorid,title,example\n10,300,Tea,0\n11,303,Milk,0\n12,7,Start,1\n"


FILE = Reader("assessments.csv", second="submissions.csv")
read, refused = FILE.read, FILE.refused


def rows(path: Any) -> list[dict[str, str]]:  # noqa: ANN401 - a path
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def test_the_sample_is_read_with_its_submissions() -> None:
    ratings = read_ratings(FIRST, companion=SECOND)
    assert (ratings.n_reviewers, ratings.n_items, ratings.n_ratings) == (12, 12, 34)
    assert ratings.titles[503] == 'Bridges of "soft" steel'
    assert notices(ratings) == {
        "example_submissions": "12 assessments of example submissions left out.",
        "self_assessments": "2 assessments of the reviewer's own work left out.",
        "missing_scores": "2 rows without a score were left out: item 511 by 302, item "
        "512 by 307.",
    }
    assert ratings.read_as == (
        "a workshop of Moodle, by columns 'submissionid', 'reviewerid', 'weight' and "
        "'grade': item from 'submissionid', reviewer from 'reviewerid', score from "
        "'grade'."
    )
    authors = {row["id"]: row["authorid"] for row in rows(SECOND)}
    peers = [
        float(row["grade"])
        for row in rows(FIRST)
        if row["grade"] != "NULL"
        and row["submissionid"] != "501"
        and authors[row["submissionid"]] != row["reviewerid"]
    ]
    assert sorted(ratings.scores.tolist()) == sorted(peers)


def test_assessments_alone_say_what_cannot_be_told() -> None:
    ratings = read(HEADER + ROWS)
    assert ratings.n_ratings == 3
    assert notices(ratings)["submissions_unknown"] == (
        "Without the table of submissions and its columns 'authorid' and 'example', "
        "assessments of example submissions and of one's own work cannot be "
        "recognised. Give it with companion= or --with."
    )


def test_submissions_alone_ask_for_the_assessments() -> None:
    assert refused(SUBMISSIONS) == (
        "assessments.csv: No column for the reviewer among 'id', 'authorid', 'title', "
        "'example'. Say which it is with reviewer= or --reviewer."
    )


@pytest.mark.parametrize("word", ["NULL", "null", "\\N", ""])
def test_no_grade_is_no_score(word: str) -> None:
    ratings = read(HEADER + ROWS.replace("NULL", word), second=SUBMISSIONS)
    assert ratings.n_ratings == 3
    assert "item 10 by 302" in notices(ratings)["missing_scores"]


def test_weight_zero_is_left_out_and_other_weights_are_not_used() -> None:
    text = HEADER + ROWS + "5,10,303,0,90\n6,10,304,3,50\n"
    found = notices(read(text, second=SUBMISSIONS))
    assert found["zero_weights"] == "1 assessment of weight 0 left out, as Moodle does."
    assert found["weights_unused"] == (
        "Weights of assessments differ, but are not used: each counts once."
    )


def test_submissions_that_are_not_listed_are_left_out_and_counted() -> None:
    ratings = read(HEADER + ROWS + "5,77,301,1,90\n", second=SUBMISSIONS)
    assert ratings.item_labels == (10, 11)
    assert notices(ratings)["unlisted_submissions"] == (
        "1 assessment of submissions that are not in the other file left out."
    )


def test_submissions_that_do_not_mark_examples_say_so() -> None:
    second = SUBMISSIONS.replace("example", "sample")
    assert (
        "'example'"
        in notices(read(HEADER + ROWS, second=second))["submissions_unknown"]
    )


@pytest.mark.parametrize("grade", ["-1", "100.5"])
def test_a_grade_beyond_the_scale_is_refused_with_its_line(grade: str) -> None:
    assert refused(HEADER + ROWS.replace("60", grade), second=SUBMISSIONS) == (
        f"assessments.csv:3: grade must be from 0 to 100, got {grade}. Leave it empty "
        "where there is no grade."
    )


def test_a_second_file_of_something_else_is_refused() -> None:
    assert refused(HEADER + ROWS, second="id,name\n1,x\n") == (
        "submissions.csv: The second file must have the columns 'id', 'authorid', got "
        "'id', 'name'."
    )


def test_only_assessments_that_are_no_peers_leave_nothing() -> None:
    assert refused(HEADER + "1,12,301,1,80\n2,10,300,1,80\n", second=SUBMISSIONS) == (
        "assessments.csv: There is no assessment left. 1 assessment of example "
        "submissions left out. 1 assessment of the reviewer's own work left out."
    )


def test_lines_are_right_after_rows_were_left_out() -> None:
    text = HEADER + "9,12,301,1,50\n" + ROWS.replace("60", "sixty")
    assert refused(text, second=SUBMISSIONS).startswith("assessments.csv:4: grade must")


def test_another_platforms_file_is_no_workshop() -> None:
    text = "paper,who,score\n1,anna,3\n"
    assert refused(text, format="moodle") == (
        "assessments.csv: No column for the reviewer among 'paper', 'who', 'score'. "
        "Say which it is with reviewer= or --reviewer."
    )


def test_named_columns_win() -> None:
    text = HEADER.replace("grade", "grade,gradinggrade") + "1,10,301,1,80,55\n"
    assert read(text, score="gradinggrade").scores.tolist() == [55.0]
