"""Tables as people have them: read as they mean it, or a question; never in silence.

A case is a header. Behind a column's name stands what it holds: one value of each item
or reviewer, few numbers, many, words; else the name tells.
"""

from __future__ import annotations

from itertools import permutations, product
from random import Random

import pytest

from tests.formats.reader import Reader

FILE = Reader("r.csv")
PEOPLE, ITEMS = (
    ("anna", "bo", "cy", "di", "ed", "flo"),
    tuple(f"p{n}" for n in range(8)),
)
ASKED = "No column for the score among"


def table(header: str, seed: int = 5) -> str:
    """Make the table of a header: a row for each person and item."""
    chance = Random(seed)
    names = [name.partition("=") for name in header.split()]
    lines = [",".join(name for name, *_ in names)]
    for number, (person, item) in enumerate(product(PEOPLE, ITEMS)):
        kinds = {
            "": chance.randint(1, 5),
            "person": person,
            "item": item,
            "of_person": 10115 + PEOPLE.index(person),
            "of_item": 1990 + ITEMS.index(item),
            "flag": chance.randint(0, 1),
            "many": 1000 + number * number,
            "word": chance.choice(["accept", "reject"]),
            "rank": (PEOPLE.index(person) + ITEMS.index(item)) % 8 + 1,
        }
        lines.append(",".join(str(kinds[kind]) for _, _, kind in names))
    return "\n".join([*lines, ""])


@pytest.mark.parametrize(
    ("header", "score"),
    [
        ("reviewer=person item=item age=of_person postcode=of_person score", "score"),
        ("reviewer=person item=item age=of_person liking", "liking"),
        ("reviewer=person item=item postcode=of_person", ""),
        ("paper=item reviewer=person confidence score", "score"),
        ("paper=item reviewer=person novelty confidence", "novelty"),
        ("paper=item reviewer=person novelty clarity impact", ""),
        ("paper=item reviewer=person novelty clarity total", "total"),
        ("paper=item reviewer=person score decision=word", "score"),
        ("id=many user_id=person item_id=item rating", "rating"),
        ("userId=person movieId=item rating timestamp=many", "rating"),
        ("user=person movie=item rank=rank stars", "stars"),
        ("judge=person entry=item rank=rank score", "score"),
        ("judge=person wine=item year=of_item points", "points"),
        ("judge=person wine=item price=of_item taste", "taste"),
        ("judge=person wine=item vintage=of_item", ""),
        ("judge=person wine=item bottles=of_item", ""),
        ("judge=person entry=item duration minutes", ""),
        ("judge=person entry=item shown=flag", ""),
        ("judge=person entry=item liked=flag score", "score"),
        ("reviewer=person product=item rating helpful_votes", "rating"),
        ("judge=person entry=item score normalized_score=many", "score"),
        ("judge=person entry=item score_before score_after", ""),
        *(
            (f"judge=person entry=item {name}", "")
            for name in (
                *("confidence", "expertise", "batch", "session", "quantity", "clicks"),
                *("behavior_type", "phone", "level", "difficulty", "response_time"),
            )
        ),
    ],
)
def test_the_score_is_taken_or_asked_for(header: str, score: str) -> None:
    if not score:
        assert ASKED in FILE.refused(table(header))
    else:
        ratings = FILE.read(table(header))
        assert (ratings.n_reviewers, ratings.n_items) == (6, 8)
        named = f"score from '{score}'" in ratings.read_as
        assert named or (score == "score" and not ratings.read_as)


@pytest.mark.parametrize(
    ("header", "question"),
    [
        ("user=person paper_id=item submission_id=of_item rating", "may be the item"),
        ("user=person judge=person paper=item rating", "may be the reviewer"),
        (
            "teacher=person student=item grade",
            "--reviewer student or --reviewer teacher --item student.",
        ),
        ("from=person to=item score", "--reviewer from --item to, or --reviewer to"),
        ("annotator=person system=item errors", "may be lower-is-better"),
        ("grader=person submission=item grade=word points", "'grade', 'points'"),
        ("user=person rating1 rating2", "wide table"),
    ],
)
def test_two_readings_are_a_question(header: str, question: str) -> None:
    assert question in FILE.refused(table(header))


def test_usual_words_and_titles_are_told() -> None:
    words = ("Strongly disagree", "Agree", "Neutral")
    rows = [
        f"{person},{item},Title of {item},{words[(len(person) + int(item[1])) % 3]}"
        for person, item in product(PEOPLE, ITEMS)
    ]
    ratings = FILE.read("\n".join(["judge,entry,about,score", *rows, ""]))
    assert {*ratings.scores.tolist()} == {1.0, 3.0, 4.0}
    assert [notice.code for notice in ratings.notices] == ["words_as_steps"]
    assert ratings.titles["p3"] == "Title of p3"


PAIRS = [*permutations(ITEMS[:4], 2)]


@pytest.mark.parametrize(
    ("header", "sides", "told"),
    [
        ("voter,left,right,winner,confidence", ["left,3", "right,2", "tie,1"], "voter"),
        ("annotator,text1,text2,choice", ["1", "2"], "annotator"),
        (
            "id,model_a,model_b,winner_model_a,winner_model_b,winner_tie",
            ["1,0,0", "0,1,0", "0,0,1"],
            "each vote its own",
        ),
    ],
)
def test_votes_are_read_with_their_voters(
    header: str, sides: list[str], told: str
) -> None:
    rows = [
        f"{PEOPLE[number % 3]},{first},{second},{sides[number % len(sides)]}"
        for number, (first, second) in enumerate(PAIRS)
    ]
    ratings = FILE.read("\n".join([header, *rows, ""]))
    assert (ratings.kind, ratings.n_items) == ("comparisons", 4)
    ties = 4 if len(sides) > 2 else 0
    assert f": {12 - ties} decided and {ties} ties" in ratings.read_as
    assert told in ratings.read_as


@pytest.mark.parametrize(
    "text",
    [
        "model_a,model_b,wins_a,wins_b\nx,y,3,4\ny,z,5,1\n",
        "home,away,home_goals,away_goals\nx,y,3,4\ny,z,5,1\n",
        "white,black,result\nx,y,1-0\ny,z,1/2-1/2\n",
        "a,option_a,option_b,confidence\nw,x,y,3\nv,y,z,4\n",
        "text_a,text_b,similarity\nx,y,3\ny,z,4\nz,x,1\n",
        "user,path\nanna,home > shop > cart\nbo,home > shop > cart\n",
        "plan,actual\njan,feb\nfeb,jan\nmar,mar\n",
        "model_a,model_b,winner_model_a,winner_model_b\nx,y,1,1\n",
        "paper,R1,R1 confidence,R2,R2 confidence\nx,1,2,3,4\ny,3,2,1,2\n",
        "paper,rating1,rating2,confidence1,confidence2\nx,1,2,3,4\ny,3,2,1,2\n",
        "person,income,x,y,z\na,2000,1,2,3\nb,2500,3,4,5\nc,3000,1,1,2\n",
    ],
)
def test_what_is_none_is_never_read(text: str) -> None:
    FILE.refused(text)
    if text.startswith("paper"):
        FILE.refused(text, rows="items")
