"""Votes that name sides are refused; comparisons of items are not."""

from __future__ import annotations

import io

import polars as pl
import pytest

import evenhand as eh
from evenhand.errors import RatingsError
from evenhand.ratings import Ratings
from tests.formats.reader import Reader

FILE = Reader("votes.csv")
read, refused = FILE.read, FILE.refused
FORM = (
    "Give each vote the better item in one column and the worse in another, without "
    "ties, and name them with --column winner=COLUMN --column loser=COLUMN."
)
VOTES = (
    "left,right,winner\nPizza,Sushi,left\nBurger,Pasta,right\nTacos,Pizza,left\n"
    "Sushi,Burger,tie\n"
)
SIDES = "'left', 'right', 'tie'"


def test_a_column_of_sides_cannot_be_the_winner() -> None:
    assert refused(VOTES, winner="winner", loser="left") == (
        f"votes.csv: Column 'winner' holds {SIDES}: sides, not items. {FORM}"
    )


@pytest.mark.parametrize("ends", [("left", "right"), ("right", "left")])
def test_a_column_that_says_who_won_is_not_ignored(ends: tuple[str, str]) -> None:
    assert refused(VOTES, winner=ends[0], loser=ends[1]) == (
        f"votes.csv: Column 'winner' says who won ({SIDES}), so {ends[0]!r} cannot be "
        f"the winner of each vote. {FORM}"
    )


def test_a_file_of_votes_is_recognised_in_its_refusal() -> None:
    text = f"votes.csv: Column 'winner' says which side won ({SIDES}), not which item."
    assert refused(VOTES) == refused(VOTES, winner="winner") == f"{text} {FORM}"


@pytest.mark.parametrize(
    ("names", "sides"),
    [
        (("model_a", "model_b"), ("model_a", "model_b", "tie (bothbad)")),
        (("model_a", "model_b"), ("Model A", "model b", "Tie")),
        (("model_a", "model_b"), ("a", "b", "tie")),
        (("model_x", "model_y"), ("1", "-1", "0")),
        (("system1", "system2"), ("first", "second", "")),
        (("one", "two"), ("gauche", "droite", "nul")),
        (("chosen", "other"), ("upper", "lower", "upper")),
    ],
)
def test_words_for_sides_are_known_by_their_place(
    names: tuple[str, str], sides: tuple[str, str, str]
) -> None:
    pairs = [("Pizza", "Sushi"), ("Burger", "Pizza"), ("Sushi", "Burger")]
    columns = {names[0]: [one for one, _ in pairs], names[1]: [two for _, two in pairs]}
    frame = pl.DataFrame({**columns, "winner": sides}).filter(pl.col("winner") != "")
    with pytest.raises(RatingsError, match="sides, not items"):
        Ratings.from_frame(frame, winner="winner", loser=names[1])


def test_a_flag_for_each_side_is_not_ignored() -> None:
    text = "model_a,model_b,winner_model_a,winner_model_b\np,q,1,0\nq,r,0,1\n"
    said = refused(text, winner="model_a", loser="model_b")
    assert "Column 'winner_model_a' says who won ('0', '1')" in said


def test_a_winner_by_name_is_not_ignored() -> None:
    text = "left,right,winner\np,q,q\nq,r,q\n"
    said = refused(text, winner="left", loser="right")
    assert "Column 'winner' says who won ('q'), so 'left' cannot be" in said
    same = "left,right,winner\np,q,p\nq,r,q\n"
    assert read(same, winner="left", loser="right").n_items == 3


@pytest.mark.parametrize(
    "text",
    [
        "winner,loser\na,b\n",
        "winner,loser\na,b\nb,a\n",
        "winner,loser\nleft,right\nright,left\nleft,right\n",
        "winner,loser\n1,2\n1,3\n",
        "winner,loser,id\n1,2,1\n1,3,2\n",
        "judge,winner,loser\n2,1,2\n3,1,3\n",
        "winner,loser,first\ntea,milk,tea\ntea,water,milk\n",
        "winner,loser,position\ntea,milk,left\nmilk,tea,right\n",
        "winner,loser,group\ntea,milk,a\nmilk,tea,b\n",
        "A,B,winner,loser\nlong text,other text,A,B\nmore,text,A,B\n",
    ],
)
def test_comparisons_of_items_are_read(text: str) -> None:
    assert read(text).n_items >= 2


@pytest.mark.parametrize(
    "verdicts",
    [
        ["tea", "milk", "tie", "tea"],
        ["0", "1", "0", "1"],
        ["L", "R", "L", "R"],
        ["True", "False", "True", "False"],
    ],
)
def test_a_column_called_winner_is_never_ignored(verdicts: list[str]) -> None:
    pairs = [("tea", "milk"), ("milk", "tea"), ("tea", "soup"), ("soup", "milk")]
    rows = [f"{a},{b},{won}" for (a, b), won in zip(pairs, verdicts, strict=True)]
    table = "\n".join(["left,right,winner", *rows])
    with pytest.raises(eh.RatingsError, match="Column 'winner' says who won"):
        eh.read_ratings(io.StringIO(table), winner="left", loser="right")
