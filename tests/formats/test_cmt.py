"""CMT's sheets: what is read from them, and what is refused in which words."""

from __future__ import annotations

import csv
import io

import pytest

from evenhand.formats import tables
from evenhand.formats.reading import read_ratings
from examples.exports_conference import HERE
from tests.formats.reader import Reader, decoded_here, notices, scores

HEADER = "Paper ID,Paper Title,Reviewer Name,Reviewer Email,Reviewer Number"
ONE = f"{HEADER},Q1 (Overall),Q1 (Overall - Value)\n"
ROWS = (
    "1,On tea,Anna A,anna@example.org,1,Weak accept,4\n"
    "1,On tea,Bo B,bo@example.org,2,Reject,1\n"
    "2,On milk,Bo B,bo@example.org,1,Accept,5\n"
)
EXPECTED = {
    ("anna@example.org", 1): 4.0,
    ("bo@example.org", 1): 1.0,
    ("bo@example.org", 2): 5.0,
}
OLDER = (
    "Example Conference 2013\n\n"
    "SubmissionId\tTitle\tEmail\tOverall\tOverall (Numeric)\n"
    "1\tOn tea\tanna@example.org\tWeak accept\t4\n"
    "1\tOn tea\tbo@example.org\tReject\t1\n"
    "2\tOn milk\tbo@example.org\tAccept\t5\n"
)


FILE = Reader("reviews.csv")
read, refused = FILE.read, FILE.refused


def test_the_current_sheet_is_read_with_its_numbers_and_titles() -> None:
    ratings = read_ratings(HERE / "cmt.csv", score="Overall Rating")
    rows = list(csv.DictReader(io.StringIO((HERE / "cmt.csv").read_text())))
    assert scores(ratings) == {
        (row["Reviewer Email"], int(row["Paper ID"])): float(row[value])
        for row in rows
        if row[value := "Q2 (Overall Rating - Value)"]
    }
    assert (ratings.n_ratings, ratings.n_reviewers, ratings.n_items) == (47, 16, 12)
    assert ratings.titles[1] == "Tea, measured twice"
    assert ratings.read_as == (
        "CMT, by columns 'Paper ID' and 'Reviewer Email': item from 'Paper ID', "
        "reviewer from 'Reviewer Email', score from 'Overall Rating'; to weigh "
        "scores by 'Confidence', say --confidence Confidence."
    )
    assert list(notices(ratings)) == ["missing_scores"]


def test_workbooks_agree_with_the_text_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_decode", decoded_here)
    expected = read_ratings(HERE / "cmt.csv", score="Q3")
    assert read_ratings(HERE / "cmt.xlsx", score="Q3").sha256 == expected.sha256
    older = read_ratings(HERE / "cmt-older.xlsx", score="Confidence")
    assert older.sha256 == expected.sha256
    assert older.titles == expected.titles
    # There the question that was left open in the current sheet is answered.
    assert read_ratings(HERE / "cmt-older.xlsx", score="overall rating").n_ratings == 48


@pytest.mark.parametrize(
    "name",
    ["Overall Rating", "overall_rating", "Q2", "q2", "Q2 (Overall Rating - Value)"],
)
def test_a_question_is_named_by_its_words_number_or_column(name: str) -> None:
    ratings = read_ratings(HERE / "cmt.csv", score=name)
    assert set(ratings.scores.tolist()) <= {1.0, 2.0, 3.0, 4.0, 5.0}
    assert "Overall Rating" in ratings.read_as


def test_the_words_of_an_answer_may_be_ordered_instead() -> None:
    options = {"score": "Q1 (Overall)", "scale": "reject<weak accept<accept"}
    ratings = read(ONE + ROWS, **options)
    assert sorted(ratings.scores.tolist()) == [1.0, 2.0, 3.0]
    no_numbers = ONE.replace(",Q1 (Overall - Value)", "")
    cut = "".join(f"{line.rpartition(',')[0]}\n" for line in ROWS.splitlines())
    assert read(no_numbers + cut, scale=options["scale"]).sha256 == ratings.sha256


def test_names_hidden_number_reviewers_within_a_paper() -> None:
    text = "Paper ID,Reviewer Number,Q1 (Overall - Value)\n1,1,4\n1,2,1\n2,1,5\n"
    ratings = read(text)
    assert ratings.reviewer_labels == ("1 reviewer 1", "1 reviewer 2", "2 reviewer 1")
    assert notices(ratings) == {
        "pseudonyms": "Reviewers are numbered anew for each paper. Each of these "
        "counts as a reviewer of its own, so no person's scores of several items are "
        "compared."
    }


def test_a_name_stands_in_for_a_hidden_address() -> None:
    text = "Paper ID,Reviewer Name,Q1 (Overall - Value)\n1,Anna,4\n1,Bo,1\n"
    assert read(text).reviewer_labels == ("Anna", "Bo")


def test_long_questions_over_several_lines_are_shown_short() -> None:
    words = 'Please provide an ""overall score"" for this submission, all considered.'
    text = (
        f'{HEADER},"Q10 ({words}\n)","Q10 ({words}\n - Value)",Q11 (Sure - Value)\n'
        "1,On tea,Anna,a@b,1,Accept,5,1\n1,On tea,Bo,b@b,2,Reject,1,2\n"
    )
    assert read(text, score="Q10").scores.tolist() == [5.0, 1.0]
    assert refused(text) == (
        "reviews.csv: Several fields may be the score: 'Please provide an \"overall "
        "score\" for this submission, al...', 'Sure'. Say which with score= or "
        "--score, once for each of several criteria."
    )


def test_questions_with_the_same_words_are_told_apart_by_number() -> None:
    header = f"{HEADER},Q1 (Score - Value),Q2 (Score - Value)\n"
    text = header + "1,a,Anna,a@b,1,5,1\n1,a,Bo,b@b,2,1,2\n"
    said = refused(text, score="Score")
    assert said.endswith("Known score fields: 'Q1: Score', 'Q2: Score'.")
    assert read(text, score="Q2").scores.tolist() == [1.0, 2.0]


def test_a_lone_number_is_not_taken_where_words_may_be_the_score() -> None:
    header = f"{HEADER},Q1 (Overall),Q2 (Confidence - Value)\n"
    text = header + "1,a,Anna,a@b,1,Accept,3\n1,a,Bo,b@b,2,Reject,2\n"
    assert refused(text).startswith("reviews.csv:2: Overall must be a number, got 'Acc")
    assert read(text, scale="reject<accept").scores.tolist() == [2.0, 1.0]


def test_a_bad_cell_does_not_hide_the_question_it_is_in() -> None:
    header = f"{HEADER},Q1 (Overall),Q2 (Confidence - Value)\n"
    row = "{0},a,Anna,a@b,1,{1},3\n"
    answers = ["Accept", "Reject", "Accept", "I could not decide, so I say this. " * 3]
    text = header + "".join(
        row.format(paper, answer.replace(",", ";"))
        for paper, answer in enumerate(answers)
    )
    assert refused(text).startswith("reviews.csv:2: Overall must be a number, got 'Acc")
    said = refused(text, score="Overall", scale="reject<accept")
    assert said.startswith("reviews.csv:5: Overall must be on the scale reject<accept")


def test_options_win_over_the_platforms_own_columns() -> None:
    ratings = read(ONE + ROWS, reviewer="Reviewer Name")
    assert ratings.reviewer_labels == ("Anna A", "Bo B")
    assert read(ONE + ROWS, item="paper title").item_labels == ("On milk", "On tea")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            ONE + ROWS,
            {"score": "Overal"},
            "reviews.csv: Unknown score field 'Overal', did you mean 'Overall'? Known "
            "score fields: 'Overall'.",
        ),
        (
            ONE + ROWS,
            {"reviewer": "Reviewer"},
            "reviews.csv: Unknown column 'Reviewer', did you mean 'Reviewer Name'? "
            "Known columns: 'Paper ID', 'Paper Title', 'Reviewer Name', 'Reviewer "
            "Email', 'Reviewer Number', 'Q1 (Overall)', 'Q1 (Overall - Value)'.",
        ),
        (
            ONE + ROWS.replace("Reject,1", "Reject,one"),
            {},
            "reviews.csv:3: Overall must be a number, got 'one'.",
        ),
        (
            ONE + ROWS.replace("2,On milk", "1,On tea"),
            {},
            "reviews.csv:4: reviewer 'bo@example.org' rated item 1 twice (first: line "
            "3).",
        ),
        (
            ONE.replace("Paper ID", "Nr") + ROWS,
            {"format": "cmt"},
            "reviews.csv: No column for the item among 'Nr', 'Paper Title', ",
        ),
        (
            "Paper ID,Q1 (Overall - Value)\n1,4\n",
            {"format": "cmt"},
            "reviews.csv: No column for the reviewer among 'Paper ID', 'Q1 (Overall - "
            "Value)'. Say which it is with reviewer= or --reviewer.",
        ),
        (
            f"{HEADER},Q1 (Summary)\n1,On tea,Anna,a@b,1,It is a text.\n",
            {},
            "reviews.csv: No field holds scores.",
        ),
        (
            f"{HEADER},Q1 (Overall - Value)\n1,On tea,,,,4\n",
            {},
            "reviews.csv:2: reviewer must be given, got nothing.",
        ),
    ],
)
def test_bad_sheets_are_refused_with_a_sentence(
    text: str, options: dict[str, str], message: str
) -> None:
    assert refused(text, **options).startswith(message)
