"""Who is the reviewer, what the item and what the score, by names and by cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from evenhand.cli import cli
from evenhand.errors import OptionError
from evenhand.ratings import Ratings
from tests.formats.reader import Reader, notices, scores

FILE = Reader("r.csv")
read, refused = FILE.read, FILE.refused


def crossed(people: str, items: str, **columns: Any) -> pl.DataFrame:  # noqa: ANN401 - cells
    """Let each of four people rate each of six items, columns as functions of both."""
    pairs = [(person, item) for person in range(4) for item in range(6)]
    cells = {people: [f"p{p}" for p, _ in pairs], items: [f"i{i}" for _, i in pairs]}
    made = {name: [cell(p, i) for p, i in pairs] for name, cell in columns.items()}
    return pl.DataFrame({**cells, **made})


def score(person: int, item: int) -> int:
    return 1 + (2 * person + 3 * item) % 5


def panels(**more: Any) -> str:  # noqa: ANN401 - cells
    """Return a funder's panels: voters are numbered anew in each of three sections."""
    rows = [
        {
            "proposal": f"proposal{item}_{section}",
            "Fund": item % 2,
            "assessor": f"voter{voter}",
            "grade": "DCBA"[number],
            "num_grade": 1 + number,
            "section": ["one", "two", "three"][section],
        }
        for section in range(3)
        for item in range(5)
        for voter in range(1, 5)
        if (item + voter) % 5
        for number in [(item + voter * section) % 4]
    ]
    return pl.DataFrame(rows).with_columns(**more).write_csv()


@pytest.mark.parametrize(
    ("names", "more"),
    [
        (
            ("userId", "movieId", "rating"),
            {"timestamp": lambda p, i: 964982703 + p * i},
        ),
        (("listener", "WAV_PATH", "MOS"), {"duration": lambda p, i: p + i / 7}),
        (
            ("Reviewer Name", "Restaurants", "Overall"),
            {"Comments": lambda *_: "good"},
        ),
        (("PROLIFIC_PID", "stimulus_id", "stars"), {"age": lambda p, _: 20 + p}),
        (("worker", "system", "points"), {}),
        (("WorkerId", "Input.image", "Answer.rating"), {"HITId": lambda _, i: f"h{i}"}),
        (("annotator_id", "aspect_id", "score"), {"text": lambda p, i: f"t{p}{i}"}),
        (("Assessors", "Candidates", "enjoyment"), {"year": lambda p, _: 2020 + p}),
    ],
    ids=lambda names: names[1] if isinstance(names, tuple) else "",
)
def test_names_that_people_use_are_found(names: Any, more: Any) -> None:  # noqa: ANN401 - cells
    person, item, mark = names
    frame = crossed(person, item, **more, **{mark: score})
    ratings = read(frame.write_csv())
    origin = f"reviewer from {person!r}, item from {item!r}, score from {mark!r}."
    assert ratings.read_as.endswith(origin)
    assert scores(ratings)["p1", "i2"] == score(1, 2)
    turned = frame.select(reversed(frame.columns)).sample(fraction=1, shuffle=True)
    assert read(turned.write_csv()).sha256 == ratings.sha256


def test_criteria_beside_the_score_are_counted_and_named() -> None:
    criteria = dict.fromkeys(("ST", "WS", "FQ"), score)
    frame = crossed("Reviewer Name", "Restaurants", **criteria, Overall=score)
    assert notices(read(frame.write_csv()))["other_columns"] == (
        "3 other columns left out: 'ST', 'WS', 'FQ'."
    )


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        (
            crossed("who", "thing", score=score),
            "No column is called a reviewer or an item; 'who', 'thing' make rows "
            "unique together. Say --reviewer who --item thing, or --reviewer thing "
            "--item who.",
        ),
        (
            crossed("judge", "my thing", score=score),
            "No column is called an item; by what they hold it may be 'my thing'. Say "
            "--item 'my thing'.",
        ),
        (
            crossed("judge", "song uri", points_given=score),
            "No column is called an item; by what they hold it may be 'song uri'. Say "
            "--item 'song uri'.",
        ),
        (
            crossed("who", "film", score=score, kind=lambda _, i: f"k{i % 2}"),
            "No column is called a reviewer; by what they hold it may be 'who'. Say "
            "--reviewer who or --reviewer film --item who.",
        ),
        (
            crossed("judge", "WAV_PATH", MOS=score, system=lambda _, i: f"s{i % 2}"),
            "Several columns may be the item: 'WAV_PATH', 'system'. Say which with "
            "item= or --item.",
        ),
        (
            crossed("judge", "film", novelty=score, clarity=lambda p, i: p + i),
            "No column for the score among 'judge', 'film', 'novelty', 'clarity'. Say "
            "which it is with score= or --score.",
        ),
        (
            crossed("judge", "film", stars=score, MOS=score),
            "Several columns may be the score: 'stars', 'MOS'. Say which with score= "
            "or --score.",
        ),
    ],
)
def test_two_readings_are_shown_and_none_is_taken(
    frame: pl.DataFrame, sentence: str
) -> None:
    assert refused(frame.write_csv()) == f"r.csv: {sentence}"


def test_the_proposed_options_read_the_file() -> None:
    text = crossed("who", "thing", score=score).write_csv()
    assert scores(read(text, reviewer="who", item="thing"))["p0", "i3"] == score(0, 3)


def test_numbers_are_taken_before_letters_that_say_the_same() -> None:
    ratings = read(panels(), reviewer="section+assessor")
    assert (ratings.n_reviewers, ratings.n_items) == (12, 15)
    assert {*ratings.scores.tolist()} == {1.0, 2.0, 3.0, 4.0}
    assert notices(ratings)["numbers_for_words"] == (
        "Scores are the numbers of 'num_grade', which say the same as 'grade': D = 1, "
        "C = 2, B = 3, A = 4."
    )
    named = read(panels(), reviewer="section+assessor", score="grade", scale="best=A")
    assert named.scores.tolist() == ratings.scores.tolist()
    # Of numbers that do not say the same the letters are asked about, as before.
    differ = panels(num_grade=pl.int_range(pl.len()) % 4)
    assert "grade must be a number, got" in refused(differ, reviewer="section+assessor")


def test_letters_tell_that_the_lowest_number_may_be_the_best() -> None:
    text = panels(num_grade=5 - pl.col("num_grade"))
    options = {"reviewer": "section+assessor"}
    assert refused(text, **options) == (
        "r.csv: Column 'num_grade' may be lower-is-better. Say lower_is_better=True or "
        "--lower-is-better if it is, lower_is_better=False or --higher-is-better if "
        "not."
    )
    turned = read(text, **options, lower_is_better=True)
    order = np.argsort(read(panels(), **options).scores, kind="stable")
    assert np.diff(turned.scores[order]).min() >= 0


def test_numbers_that_start_again_in_every_section_are_asked_about() -> None:
    assert refused(panels()) == (
        "r.csv: The 4 labels of 'assessor' start again in each of the 3 values of "
        "'section': they are 12 people if each has its own, or 4 who rate in all. Say "
        "reviewer= or --reviewer section+assessor for 12, or --reviewer "
        "assessor+people for 4."
    )
    people = read(panels(), reviewer="assessor+people")
    assert people.n_reviewers == 4
    assert "pseudonyms" not in notices(people)
    assert notices(read(panels(), reviewer="assessor"))["pseudonyms"] == (
        "The 4 reviewers are taken for the same people in all 3 sections. If their "
        "numbers start again in each, they are 12 people: say --reviewer "
        "section+assessor."
    )


@pytest.mark.parametrize(
    "change",
    [
        {"assessor": pl.col("assessor").replace({"voter1": "Anna", "voter2": "Bo"})},
        {"section": pl.col("proposal")},
        {"section": pl.lit("one")},
        {"section": pl.col("assessor")},
        {"user_id": pl.col("assessor").str.slice(5), "assessor": pl.lit(0)},
    ],
    ids=["names", "a section an item", "one section", "not nested", "ids"],
)
def test_other_columns_are_no_sections(change: dict[str, pl.Expr]) -> None:
    assert read(panels(**change)).n_reviewers == 4


def test_a_table_of_numbers_alone_is_asked_about_too() -> None:
    text = "userId,movieId,mqm\n1,1,3\n1,2,2\n2,1,2\n"
    assert "Column 'mqm' may be lower-is-better." in refused(text)
    assert read(text, lower_is_better=True).scores.tolist() == [-3.0, -2.0, -2.0]


def test_a_criterion_is_not_proposed_as_a_reviewer() -> None:
    frame = crossed("criterion", "film", score=score)
    assert "No column for the reviewer among" in refused(frame.write_csv())


@pytest.mark.parametrize("name", ["error", "penalty", "MQM", "WER", "editDistance"])
def test_lower_is_better_is_a_question_with_one_option_either_way(name: str) -> None:
    text = crossed("judge", "system", **{name: score}).write_csv()
    sentence = (
        f"Column {name!r} may be lower-is-better. Say lower_is_better=True or "
        "--lower-is-better if it is, lower_is_better=False or --higher-is-better if "
        "not."
    )
    assert refused(text) == f"r.csv: {sentence}"
    kept, turned = (read(text, lower_is_better=lower) for lower in (False, True))
    assert turned.scores.tolist() == [-value for value in kept.scores.tolist()]
    assert notices(turned)["lower_is_better"] == (
        f"Lower is better in {name!r}, as you said: its scores are shown with a minus "
        "sign."
    )
    # Whoever names the score is taken at their word, and told.
    assert notices(read(text, score=name)).keys() == {"higher_is_better"}
    assert read(text, score=name).sha256 == kept.sha256


def test_the_direction_is_kept_by_the_audit(tmp_path: Any) -> None:  # noqa: ANN401 - a path
    path, record = tmp_path / "r.csv", tmp_path / "d.json"
    path.write_text(crossed("judge", "system", penalty=score).write_csv())
    run = CliRunner().invoke
    words = ["rank", str(path), "--seed", "1", "--record", str(record)]
    assert run(cli, words).exit_code == 2
    for flag in ("--lower-is-better", "--higher-is-better"):
        done = run(cli, [*words, flag])
        assert done.exit_code == 0, done.stderr
        line = done.stderr.split("Check it with: evenhand ")[1].splitlines()[0]
        assert line.split()[-1] == flag
        assert run(cli, line.split()).exit_code == 0
        if flag == "--lower-is-better":
            assert "Lower is better in 'penalty'" in done.stderr
    # Read the other way round, the ratings are not those of the record.
    assert run(cli, [*line.split()[:-1], "--lower-is-better"]).exit_code == 1


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        (
            "judge,item,rank\na,x,1\na,y,2\n",
            {"lower_is_better": True},
            "lower_is_better must be left out for ranks: it is of scores.",
        ),
        (
            "judge,item,score\na,x,1\n",
            {"lower_is_better": "yes"},
            "lower_is_better must be True, False or None, got 'yes'.",
        ),
        (
            "judge,item,score\na,x,1\n",
            {"repeats": "first"},
            "repeats must be 'last', 'mean' or 'all', got 'first'.",
        ),
        (
            "winner,loser\nx,y\n",
            {"repeats": "last"},
            "repeats must be left out for comparisons: all of them count.",
        ),
        (
            "judge,item,rank\na,x,1\na,x,2\n",
            {"repeats": "mean"},
            "repeats='mean' must be left out for ranks.",
        ),
    ],
)
def test_options_without_a_use_are_refused(
    text: str, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(OptionError) as caught:
        read(text, **options)
    assert str(caught.value) == sentence


TWICE = "judge,item,score\na,x,1\nb,x,5\na,y,4\na,x,2\na,x,\na,x,6\nb,y,3\n"


@pytest.mark.parametrize(
    ("way", "kept", "words"),
    [
        ("last", {("a", "x"): 6.0}, "2 earlier ratings of the same item"),
        ("mean", {("a", "x"): 3.0}, "2 repeated ratings of the same item"),
        (
            "all",
            {("a", "x"): 1.0, ("a#2", "x"): 2.0, ("a#3", "x"): 6.0},
            "each as that of a further reviewer",
        ),
    ],
)
def test_repeated_ratings_count_as_the_user_says(
    way: str, kept: dict[tuple[str, str], float], words: str
) -> None:
    assert "Say which count with repeats=" in refused(TWICE)
    ratings = read(TWICE, repeats=way)
    others = {("b", "x"): 5.0, ("a", "y"): 4.0, ("b", "y"): 3.0}
    assert scores(ratings) == others | kept
    assert words in notices(ratings)["repeats"]
    assert "1 row without a score" in notices(ratings)["missing_scores"]
    once = "judge,item,score\na,x,1\nb,x,5\n"
    assert "repeats" not in notices(read(once, repeats=way))


def test_repeats_of_coded_reviewers_keep_their_code(tmp_path: Any) -> None:  # noqa: ANN401 - a path
    text = f"{TWICE}c#2,x,1\n"
    ratings = read(text, repeats="all", anonymise=str(tmp_path / "key.csv"))
    codes = {*map(str, ratings.reviewer_labels)}
    assert len(codes) == 5
    assert len({code.partition("#")[0] for code in codes}) == 3
    assert "a##2" in read(text, repeats="all").reviewer_labels


def test_frames_in_memory_are_found_by_the_same_names() -> None:
    frame = crossed("userId", "movieId", stars=score)
    assert Ratings.from_frame(frame).n_items == 6


def test_of_several_criteria_none_is_taken_for_the_score() -> None:
    # Only impact repeats a number here, which says nothing of what the score is.
    rows = ("a,t1,4,5,3", "a,t2,2,3,3", "b,t1,5,4,4", "b,t3,1,2,2")
    text = "\n".join(("judge,team,novelty,design,impact", *rows))
    assert "No column for the score among" in refused(text)
