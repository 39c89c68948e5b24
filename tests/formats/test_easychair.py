"""EasyChair's exports: what is read from each, and what is refused in which words."""

from __future__ import annotations

import csv
import io

import pytest

from evenhand.errors import OptionError, RatingsError
from evenhand.formats.reading import read_ratings
from examples.exports_teaching import HERE
from tests.formats.reader import Reader, notices, scores

REVIEWS = "easychair-review.csv"
HEADER = "#,submission #,member #,member name,number,version,scores\n"
ROWS = (
    '1,5,21,Anna,1,1,"Score: 2\nConfidence: 4"\n'
    '2,5,22,Bo,2,1,"Score: -1\nConfidence: 3"\n'
)


FILE = Reader("review.csv", second="second.csv")
read, refused = FILE.read, FILE.refused


def rows() -> list[dict[str, str]]:
    text = (HERE / REVIEWS).read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))


def expected() -> dict[tuple[object, object], float]:
    # In the sample a later row of the same number is the newer version.
    return {
        (row["reviewer email"] or row["member name"], int(row["submission #"])): float(
            row["total score"]
        )
        for row in rows()
        if row["scores"]
    }


def test_the_sample_is_read_by_its_field_of_scores() -> None:
    ratings = read_ratings(HERE / REVIEWS, score="Overall evaluation")
    assert (ratings.n_reviewers, ratings.n_items, ratings.n_ratings) == (13, 10, 47)
    assert scores(ratings) == expected()
    assert scores(ratings)["max@example.org", 3] == 0.0
    assert min(scores(ratings).values()) < 0
    assert notices(ratings) == {
        "older_versions": "2 reviews of an older version left out.",
        "subreviews": "3 reviews written by a subreviewer: the reviewer is who wrote "
        "it, not the member.",
        "missing_scores": "1 row without a score was left out: item 14 by Hal Iversen.",
    }
    assert ratings.read_as == (
        "reviews of EasyChair, by columns 'submission #', 'member #' and 'scores': "
        "item from 'submission #', reviewer from 'member name' (or who wrote it, where "
        "that is said), score from 'Overall evaluation'; to weigh scores by "
        '"Reviewer\'s confidence", say --confidence '
        """'Reviewer'"'"'s confidence'."""
    )


def test_the_total_is_a_field_like_the_others() -> None:
    total = read_ratings(HERE / REVIEWS, score="total score")
    assert scores(total) == expected()


def test_the_overall_evaluation_is_the_score_if_none_is_named() -> None:
    ratings = read_ratings(HERE / REVIEWS)
    assert "score from 'Overall evaluation';" in ratings.read_as


def test_a_second_file_that_is_not_the_submissions_is_refused() -> None:
    assert refused(HEADER + ROWS, second="a,b\n1,2\n", score="Score") == (
        "second.csv: The second file must have the columns '#', 'title', got 'a', 'b'."
    )


def test_only_the_newest_version_counts_whatever_the_order() -> None:
    newer = ROWS.replace("1,5,21,Anna,1,1,", "9,5,21,Anna,1,10,").replace(
        ": 2\n", ": 3\n"
    )
    older = '3,5,21,Anna,1,9,"Score: 1\nConfidence: 1"\n'
    for text in (newer + older, older + newer):
        ratings = read(HEADER + text, score="Score")
        assert scores(ratings) == {("Anna", 5): 3.0, ("Bo", 5): -1.0}
        assert notices(ratings) == {
            "older_versions": "1 review of an older version left out."
        }


def test_a_subreview_is_not_a_version_of_the_members_own() -> None:
    text = (
        "#,submission #,member #,member name,version,scores,reviewer email\n"
        "1,5,21,Anna,2,Score: 2,\n2,5,21,Anna,1,Score: 1,max@example.org\n"
    )
    ratings = read(text)
    assert scores(ratings) == {("Anna", 5): 2.0, ("max@example.org", 5): 1.0}


def test_two_reviews_by_one_member_are_refused_with_both_lines() -> None:
    text = HEADER + ROWS + '3,5,21,Anna,3,1,"Score: 0\nConfidence: 4"\n'
    message = refused(text, score="Score")
    assert "line 2" in message
    assert "review.csv:6:" in message
    assert "'Anna'" in message


def test_members_of_one_name_are_told_apart_by_number() -> None:
    text = ROWS.replace("22,Bo", "22,Anna").replace("2,5,22", "2,7,22")
    labels = read(HEADER + text, score="Score").reviewer_labels
    assert labels == ("Anna (member 21)", "Anna (member 22)")


def test_a_member_keeps_the_address_that_one_review_shows() -> None:
    header = "#,submission #,member #,member name,scores,reviewer first name,"
    header += "reviewer last name,reviewer email\n"
    text = "1,5,21,Anna Berg,Score: 2,Anna,Berg,anna@example.org\n"
    text += "2,6,21,Anna Berg,Score: 1,,,\n"
    ratings = read(header + text)
    assert ratings.reviewer_labels == ("anna@example.org",)
    assert notices(ratings) == {}


def test_reviews_without_names_are_reviewers_of_their_own() -> None:
    text = "#,submission #,scores\n1,5,Score: 2\n2,5,Score: 1\n"
    ratings = read(text)
    assert ratings.reviewer_labels == (1, 2)
    assert notices(ratings) == {
        "pseudonyms": "No reviewer is named: each review counts as a reviewer of its "
        "own, so no two scores can be compared as one person's."
    }


def test_submissions_give_titles_and_tell_what_was_deleted() -> None:
    second = '#,title,deleted?\n5,"Tea, and ""why""",no\n6,Milk,yes\n'
    text = HEADER + ROWS + '3,6,21,Anna,1,1,"Score: 0\nConfidence: 4"\n'
    ratings = read(text, second=second, score="Score")
    assert ratings.titles == {5: 'Tea, and "why"'}
    assert notices(ratings) == {
        "deleted_submissions": "1 review of deleted submissions left out."
    }


def test_a_version_must_be_a_number() -> None:
    text = HEADER + ROWS.replace("Bo,2,1,", "Bo,2,new,")
    assert refused(text, score="Score") == (
        "review.csv:4: version must be a whole number, got 'new'."
    )


@pytest.mark.parametrize("cell", ["2", "Score: 1\nScore: 2"])
def test_a_cell_that_is_no_list_of_scores_is_refused(cell: str) -> None:
    text = ROWS.replace("Score: 2\nConfidence: 4", cell)
    assert refused(HEADER + text, score="Score") == (
        "review.csv:2: scores must be lines such as 'Score: 2', each field once, got "
        f"{cell!r}."
    )


def test_letters_and_numbers_in_one_field_are_refused_with_the_line() -> None:
    text = HEADER + ROWS.replace("Score: -1", "Score: B")
    assert refused(text, score="Score").startswith(
        "review.csv:4: Score must be a number, got 'B'."
    )
    assert refused(text, score="Score", scale="best=A") == (
        "review.csv:2: Score must be on the scale B<A, got '2'. Add it to --scale or "
        "mend the file."
    )


def test_a_renamed_column_can_be_named() -> None:
    text = (HEADER + ROWS).replace("submission #", "paper")
    assert refused(text, format="easychair", score="Score").startswith(
        "review.csv: No column for the item among '#', 'paper',"
    )
    ratings = read(text, format="easychair", item="paper", score="Score")
    assert ratings.item_labels == (5,)
    with pytest.raises(RatingsError, match="Unknown column 'papre', did you mean"):
        read(text, format="easychair", item="papre", score="Score")


def test_named_columns_win() -> None:
    options = {"format": "easychair", "reviewer": "member #", "score": "Score"}
    ratings = read(HEADER + ROWS, **options)
    assert ratings.reviewer_labels == (21, 22)


def test_options_of_other_data_are_refused() -> None:
    with pytest.raises(OptionError, match="rank must be left out for EasyChair"):
        read(HEADER + ROWS, format="easychair", rank="number")
