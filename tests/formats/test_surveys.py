"""Surveys: respondents, questions about items, ranks and words, other questions."""

from __future__ import annotations

import pytest

from evenhand.errors import EvenhandError
from tests.formats import lookalikes
from tests.formats.lookalikes import FILES, PEOPLE, TALKS
from tests.formats.reader import Reader, notices, scores

READER = Reader("t.csv", EvenhandError)
read, refused = READER.read, READER.refused
SURVEYS = [name for name in FILES if name not in ("matrix.csv", "numbered.tsv")]


@pytest.mark.parametrize("name", SURVEYS)
def test_a_survey_is_read_at_once(name: str) -> None:
    data, options = FILES[name]
    ratings = read(data, name, **options)
    codes = ("SQ001", "SQ002", "SQ003", "SQ004")
    items = codes if name == "limesurvey.csv" else TALKS
    assert set(ratings.item_labels) == set(items)
    assert ratings.n_ratings == (4 if "rank" in options else 3) * PEOPLE
    single = name == "single-item.csv"
    assert ratings.n_reviewers == (ratings.n_ratings if single else PEOPLE)
    assert ratings.read_as.startswith("responses to a ")


def test_other_look_alikes_are_read_at_once() -> None:
    data, options = FILES["matrix.csv"]
    assert read(data, **options).item_labels == tuple(range(1, PEOPLE + 2))
    data, options = FILES["numbered.tsv"]
    assert read(data, **options).n_items == 120


def test_answers_go_to_the_right_person_and_item() -> None:
    drawn = lookalikes.answers()
    expected = {
        (f"R_{person}", talk): float(mark)
        for person, row in enumerate(drawn)
        for talk, mark in zip(TALKS, row, strict=True)
        if mark
    }
    ratings = read(FILES["qualtrics.csv"].data)
    assert scores(ratings) == expected
    assert notices(ratings) == {
        "other_columns": "2 other columns left out: 'Start Date', 'Your age'."
    }
    bad = FILES["qualtrics.csv"].data.replace(b"R_2,", b"R_2,oops", 1)
    assert refused(bad).startswith("t.csv:6: Please rate the talks must be a number")


def test_ranks_and_words_are_asked_for_once_with_the_option_to_type() -> None:
    data = FILES["surveymonkey.csv"].data
    said = refused(data)
    shown = "'Please rank the talks, 1 being the best.'"
    assert said == (
        f"t.csv: Answers to {shown} look like ranks. If 1 is best, say rank= or "
        f"--column rank={shown}; if the highest is best, say lower_is_better=False or "
        "--higher-is-better."
    )
    best = read(data, rank="Please rank")
    assert best.n_ratings == 4 * PEOPLE
    assert notices(best)["other_columns"] == (
        "6 other columns left out: 'Collector ID', 'Which talks have you heard?', "
        "'Age'."
    )
    assert "encoding" in notices(best)
    high = read(data, lower_is_better=False)
    assert high.n_ratings == 4 * PEOPLE
    usual = lookalikes.grid_of_words()
    assert "words_as_steps" in notices(read(usual))
    assert refused(usual.replace("good", "joy")) == (
        "t.csv: Answers to 'Q6' are words: 'fair', 'joy', 'poor'. Say their order, "
        "from worst to best, with scale= or --scale 'worst<...<best'."
    )


def test_several_questions_are_shown_with_their_text() -> None:
    head, *rows = lookalikes.item_first().splitlines()
    more = ",".join(f"{talk} - Was it new?" for talk in TALKS)
    lines = [f"{head},{more}", *(f"{row},{row[-1]},2,3,4" for row in rows)]
    text = "\n".join(lines)
    said = refused(text)
    assert said.startswith("t.csv: Several questions are about items. Choose one: ")
    assert "--score 'How good was it?' (4 items)" in said
    ratings = read(text, score="How good was it?")
    assert scores(ratings) == scores(read(lookalikes.item_first()))


def test_a_question_for_the_item_beside_a_grid_is_not_guessed() -> None:
    text = (
        "Response ID,Whose work are you grading?,Rate [Style],Rate [Content]\n"
        "1,Bo,3,4\n2,Cy,4,5\n3,Bo,5,3\n"
    )
    assert refused(text) == (
        "t.csv: Responses may be about what 'Whose work are you grading?' names, or "
        "about the items of 'Rate'. For the first say item= or --item 'Whose work are "
        "you grading?' and which is the score, for the second exclude= or --exclude "
        "'Whose work are you grading?'."
    )
    first = read(text, item="Whose work are you grading?", score="Rate [Style]")
    assert first.item_labels == ("Bo", "Cy")
    second = read(text, exclude="Whose work are you grading?")
    assert second.item_labels == ("Content", "Style")
