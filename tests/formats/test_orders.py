"""Orders in columns, in rows and in cells are read as ranks, or refused."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import evenhand as eh
from tests.formats.reader import Reader, scores

FILE = Reader("orders.csv")
read, refused = FILE.read, FILE.refused
RANKS = {
    ("Anna", "milk"): -1.0,
    ("Anna", "soup"): -3.0,
    ("Anna", "tea"): -2.0,
    ("Bo", "milk"): -2.0,
    ("Bo", "soup"): -3.0,
    ("Bo", "tea"): -1.0,
}


@pytest.mark.parametrize(
    "text",
    [
        "rank,Anna,Bo\n1,milk,tea\n2,tea,milk\n3,soup,soup\n",
        "Name,Rank 1,Rank 2,Rank 3\nBo,tea,milk,soup\nAnna,milk,tea,soup\n",
        "Third choice,First choice,voter,Second choice\n"
        "soup,tea,Bo,milk\nsoup,milk,Anna,tea\n",
        ",1st,2nd,3rd\nBo,tea,milk,soup\nAnna,milk,tea,soup\n",
        "judge,ballot\nBo,tea > milk > soup\nAnna,milk>tea>soup\n",
        'judge,ranking\nBo,"tea, milk, soup"\nAnna,"milk,tea,soup"\n',
        "judge,list\nBo,tea > milk > soup\nAnna,milk>tea>soup\n",
    ],
)
def test_orders_are_read_as_ranks(text: str) -> None:
    ratings = read(text)
    assert (ratings.kind, scores(ratings)) == ("ranks", RANKS)
    assert ratings.read_as.endswith(": 2 orders of 3 items, best first.")


def test_equal_items_tie_and_short_orders_stay_short() -> None:
    ratings = read("judge,ranking\nBo,tea > milk = soup\nAnna,milk > tea\nCy,\n")
    assert scores(ratings) == {
        ("Anna", "milk"): -1.0,
        ("Anna", "tea"): -2.0,
        ("Bo", "milk"): -2.0,
        ("Bo", "soup"): -2.0,
        ("Bo", "tea"): -1.0,
    }
    assert ratings.tied_reviewers == 1
    rows = read("Rank 1,Rank 2,Rank 3\ntea,milk,soup\nmilk,tea,\n")
    assert rows.reviewer_labels == (1, 2)
    assert rows.n_ratings == 5


def test_a_column_each_of_many_people() -> None:
    chance = np.random.default_rng(5)
    items = [f"Restaurant {letter}" for letter in "ABCDEFGHIJKL"]
    frame = pl.DataFrame(
        {f"Participant {person}": chance.permutation(items) for person in range(1, 12)}
    )
    ratings = eh.read_ratings(frame)
    assert (ratings.n_reviewers, ratings.n_items) == (11, 12)
    assert ratings.read_as == (
        "orders, by 11 columns of the same items: 11 orders of 12 items, best first."
    )
    best = frame.row(0)[2]
    assert scores(ratings)["Participant 3", best] == -1.0
    assert len(eh.rank(ratings, rng=1).order) == 12


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (
            "Name,Rank 1,Rank 2\nBo,4,5\nAnna,5,4\n",
            {},
            "orders.csv: By columns 'Rank 1' and 'Rank 2' this may hold orders, best "
            "first, but their cells are numbers, as ranks and scores are. If it does, "
            "say --format orders.",
        ),
        (
            "Anna,Bo,Cy\ntea,milk,soup\nmilk,tea,tea\nsoup,soup,cake\n",
            {},
            "orders.csv: By 3 columns of the same items this may hold orders, best "
            "first, but not three columns hold every item. If it does, say --format "
            "orders.",
        ),
        (
            'judge,ranking\nBo,"tea, green; milk"\nAnna,"milk; tea, green"\n',
            {},
            "orders.csv: Column 'ranking' holds lists with ',', ';' in them. Write > "
            "between items, best first, and = between equal ones.",
        ),
        (
            "Anna,Bo\ntea,milk\nmilk,tea\ntea,soup\n",
            {"format": "orders"},
            "orders.csv:4: reviewer 'Anna' rated item 'tea' twice (first: line 2). "
            "Say which count with repeats= or --repeats last, mean or all.",
        ),
        (
            "Name,Rank 1,Rank 2\nBo,tea,tea\nAnna,milk,tea\n",
            {},
            "orders.csv:2: reviewer 'Bo' rated item 'tea' twice (first: line 2). "
            "Say which count with repeats= or --repeats last, mean or all.",
        ),
        (
            "p,q\n1,2\n",
            {"format": "orders"},
            "orders.csv: No orders among columns 'p', 'q'. Give a column for each "
            "reviewer, best item first; or columns Rank 1, Rank 2; or A > B = C.",
        ),
    ],
)
def test_doubtful_orders_are_refused(
    text: str, options: dict[str, str], words: str
) -> None:
    assert refused(text, **options) == words


def test_the_user_settles_what_is_doubtful() -> None:
    text = "Name,Rank 1,Rank 2\nBo,4,5\nAnna,5,4\n"
    assert scores(read(text, format="orders"))["Bo", 5] == -2.0
    text = "Anna,Bo,Cy\ntea,milk,soup\nmilk,tea,tea\nsoup,soup,cake\n"
    assert read(text, format="orders").n_items == 4


def test_other_tables_are_no_orders() -> None:
    assert read("judge,entry,ranking\na,x,1\na,y,2\n").n_ratings == 2
    assert "wide table" in refused("talk,Anna,Bo\nx,1,2\ny,2,1\n")
    assert "No column for the item" in refused("judge,rank\na,1\n")
