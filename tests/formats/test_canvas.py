"""Canvas's peer reviews: what is read, and what is refused in which words."""

from __future__ import annotations

import csv
import io

import pytest

from evenhand.errors import OptionError
from evenhand.formats.reading import read_ratings
from examples.exports_teaching import HERE
from tests.formats.reader import Reader, notices, stream

SAMPLE = HERE / "canvas.csv"
HEADER = "State,Assessor,Assessee,Total Score (45.0),Criteria #1 (10.0),Clarity (35)\n"
ROWS = "completed,Anna,Bo,30.0,8,22\ncompleted,Anna,Cy,20,5,15\nassigned,Bo,Cy,,,\n"


FILE = Reader("canvas.csv")
read, refused = FILE.read, FILE.refused


def rows() -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(SAMPLE.read_text(encoding="utf-8"))))


def test_the_sample_is_read_by_its_total() -> None:
    ratings = read_ratings(SAMPLE)
    assert (ratings.n_reviewers, ratings.n_items, ratings.n_ratings) == (12, 12, 34)
    assert notices(ratings) == {"not_done": "2 reviews without any points left out."}
    assert ratings.read_as == (
        "peer reviews of Canvas, by columns 'Assessor', 'Assessee' and 'Total Score "
        "(45.0)': item from 'Assessee', reviewer from 'Assessor', score from 'Total "
        "Score (45.0)'."
    )
    totals = [
        float(row["Total Score (45.0)"]) for row in rows() if row["Criteria #1 (10.0)"]
    ]
    assert sorted(ratings.scores.tolist()) == sorted(totals)


@pytest.mark.parametrize("name", ["Criteria #2", "criteria #2", "Criteria #2 (15.0)"])
def test_a_criterion_is_named_with_or_without_its_points(name: str) -> None:
    ratings = read_ratings(SAMPLE, score=name)
    points = [
        float(row["Criteria #2 (15.0)"]) for row in rows() if row["Criteria #2 (15.0)"]
    ]
    assert sorted(ratings.scores.tolist()) == sorted(points)


def test_an_unknown_criterion_is_answered_with_those_there_are() -> None:
    assert refused(HEADER + ROWS, score="Criteria #7") == (
        "canvas.csv: Unknown score field 'Criteria #7', did you mean 'Criteria #1 "
        "(10.0)'? Known score fields: 'Total Score (45.0)', 'Criteria #1 (10.0)', "
        "'Clarity (35)'."
    )


def test_without_a_total_a_criterion_must_be_named() -> None:
    text = (HEADER + ROWS).replace("Total Score", "Points")
    assert refused(text, format="canvas") == (
        "canvas.csv: Several fields may be the score: 'Points (45.0)', 'Criteria #1 "
        "(10.0)', 'Clarity (35)'. Say which with score= or --score, "
        "once for each of several criteria."
    )


def test_reviews_without_a_state_are_read() -> None:
    text = "Assessee,Assessor,Total Score (45.0)\nBo,Anna,30\nCy,Anna,\nCy,Bo,9\n"
    ratings = read(text)
    assert ratings.n_ratings == 2
    assert "item Cy by Anna" in notices(ratings)["missing_scores"]


def test_what_is_not_a_peers_review_is_left_out_and_counted() -> None:
    extra = "completed,Cy,Cy,45,10,35\ncompleted,Cy,Anna,0.0,,\nassigned,Cy,Bo,11,5,6\n"
    ratings = read(HEADER + ROWS + extra)
    assert ratings.n_ratings == 3
    assert notices(ratings) == {
        "not_done": "2 reviews without any points left out.",
        "self_assessments": "1 review of the reviewer's own work left out.",
    }


def test_a_total_of_zero_with_points_is_a_score() -> None:
    ratings = read(HEADER + ROWS + "completed,Cy,Anna,0,0,0\n")
    assert sorted(ratings.scores.tolist()) == [0.0, 20.0, 30.0]


def test_nothing_done_is_refused() -> None:
    assert refused(HEADER + "assigned,Bo,Cy,,,\n") == (
        "canvas.csv: There is no review left. 1 review without any points left out."
    )


def test_the_overview_has_no_reviewers() -> None:
    text = (
        "Canvas User ID,Name,Num Assigned Peer Reviews,Num Completed Peer Reviews,"
        "Review: 1\n7,Anna,3,2,40\n"
    )
    assert "No column for the reviewer" in refused(text)


def test_a_renamed_column_is_asked_for() -> None:
    text = (HEADER + ROWS).replace("Assessee", "Author")
    assert refused(text, format="canvas").startswith(
        "canvas.csv: No column for the item among 'State', 'Assessor', 'Author',"
    )
    assert read(text, format="canvas", item="Author").item_labels == ("Bo", "Cy")


def test_a_second_file_is_refused() -> None:
    with pytest.raises(OptionError, match="companion must be left out for Canvas"):
        read(HEADER + ROWS, companion=stream(HEADER + ROWS))
