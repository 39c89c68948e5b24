"""Gavel's decisions: what is read, and what is refused in which words."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest

from evenhand.errors import OptionError
from evenhand.formats.reading import read_ratings
from evenhand.ratings import Ratings
from examples.exports_teaching import HERE
from tests.formats.reader import Reader

SAMPLE = HERE / "gavel-decisions.csv"
HEADER = "Annotator ID,Winner ID,Loser ID,Time\n"
ROWS = "7,1,2,2026-03-14 13:00:00\n7,2,3,2026-03-14 13:02:00\n8,1,3,\n"

if TYPE_CHECKING:
    from collections.abc import Sequence


FILE = Reader("decisions.csv")
read, refused = FILE.read, FILE.refused


def rows() -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(SAMPLE.read_text(encoding="utf-8"))))


def column(name: str) -> Sequence[int]:
    return [int(row[name]) for row in rows()]


def test_each_decision_of_the_sample_is_a_reviewer_with_its_annotator() -> None:
    ratings = read_ratings(SAMPLE)
    assert ratings.kind == "comparisons"
    assert (ratings.n_reviewers, ratings.n_items) == (90, 10)
    assert ratings.reviewer_labels[0] == "1#1"
    expected = Ratings.from_comparisons(
        column("Winner ID"), column("Loser ID"), reviewers=column("Annotator ID")
    )
    assert ratings.sha256 == expected.sha256
    assert ratings.notices == ()
    assert ratings.read_as == (
        "decisions of Gavel, by columns 'Annotator ID', 'Winner ID' and 'Loser ID': "
        "reviewer from 'Annotator ID', winner from 'Winner ID', loser from 'Loser ID'."
    )


def test_one_annotator_may_judge_one_pair_twice_and_otherwise() -> None:
    ratings = read(HEADER + ROWS + "7,1,2,\n7,2,1,\n")
    assert ratings.reviewer_labels == ("7#1", "7#2", "7#3", "7#4", "8#1")


def test_skips_are_left_out_and_counted() -> None:
    ratings = read(HEADER + ROWS + "8,,3,\n8,2,,\n9, ,,\n")
    assert ratings.n_reviewers == 3
    (warning,) = ratings.notices
    assert warning.code == "skipped_decisions"
    assert warning.message == "3 decisions without a winner or a loser left out."


def test_only_skips_are_no_decisions() -> None:
    assert refused(HEADER + "8,,3,\n") == (
        "decisions.csv: There is no decision left. 1 decision without a winner or a "
        "loser left out."
    )


def test_lines_are_right_after_a_skip() -> None:
    assert refused(HEADER + "8,,3,\n" + ROWS + "8,4,4,\n") == (
        "decisions.csv:6: Winner ID and Loser ID must differ, got '4' twice."
    )
    assert refused(HEADER + "8,,3,\n,1,2,\n").startswith(
        "decisions.csv:3: Annotator ID must be given, got nothing"
    )


def test_other_names_of_the_columns_are_known() -> None:
    text = "id,annotator_id,winner_id,loser_id,notes\n1,7,1,2,\n2,8,2,1,good\n"
    assert read(text).read_as.startswith(
        "decisions of Gavel, by columns 'annotator_id'"
    )


def test_a_missing_column_is_asked_for_and_may_be_named() -> None:
    text = (HEADER + ROWS).replace("Loser ID", "Other")
    assert refused(text, format="gavel") == (
        "decisions.csv: No column for the loser among 'Annotator ID', 'Winner ID', "
        "'Other', 'Time'. Say which it is with loser= or --column "
        "loser=COLUMN."
    )
    assert read(text, format="gavel", loser="Other").n_items == 3


def test_decisions_without_annotators_are_read() -> None:
    text = "Winner ID,Loser ID\n1,2\n2,3\n"
    ratings = read(text, format="gavel")
    assert ratings.reviewer_labels == (1, 2)
    assert ratings.read_as.endswith("winner from 'Winner ID', loser from 'Loser ID'.")


@pytest.mark.parametrize("scale", ["a<b", "best=A", "/10"])
def test_score_words_have_no_place_here(scale: str) -> None:
    with pytest.raises(OptionError, match="must be left out for comparisons"):
        read(HEADER + ROWS, scale=scale)


def test_scores_cannot_be_asked_of_decisions() -> None:
    message = "Columns for loser and for score were both named"
    assert message in refused(HEADER + ROWS, score="Time")
