"""Votes with sides, items, ties and games are read as comparisons, or refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import evenhand as eh
from evenhand.errors import RatingsError
from evenhand.models.bradley_terry import PRIOR_PRECISION, borda, bradley_terry
from evenhand.ratings import Ratings
from evenhand.records import record
from evenhand.records.replay import audit
from evenhand.words import exports
from tests.formats.reader import Reader, notices

if TYPE_CHECKING:
    from pathlib import Path

FILE = Reader("votes.csv")
read, refused = FILE.read, FILE.refused
VOTES = (
    "left,right,winner\nPizza,Sushi,left\nBurger,Pasta,right\nTacos,Pizza,left\n"
    "Sushi,Burger,tie\n"
)


def outcomes(ratings: Ratings) -> dict[tuple[Any, Any], str]:
    """Return who won between each pair of items, of which none is voted on twice."""
    frame = exports.table_of(
        "ratings", ratings, eh.rank(ratings, method="borda", rng=1)
    )
    ties = frame["tie"] if "tie" in frame.columns else [False] * frame.height
    return {
        tuple(sorted((winner, loser))): "tie" if tie else winner
        for winner, loser, tie in zip(
            frame["winner"], frame["loser"], ties, strict=True
        )
    }


EXPECTED = {("milk", "tea"): "tea", ("milk", "soup"): "soup", ("soup", "tea"): "tie"}
PAIRS = [("tea", "milk"), ("milk", "soup"), ("soup", "tea")]


@pytest.mark.parametrize(
    ("names", "winners"),
    [
        (("left", "right", "winner"), ("left", "right", "tie")),
        (("model_a", "model_b", "winner"), ("model_a", "model_b", "tie (bothbad)")),
        (("model_a", "model_b", "winner"), ("Model A", "model b", "both_bad")),
        (("option_a", "option_b", "winner"), ("a", "B", "")),
        (("player1", "player2", "winner"), ("1", "2", "draw")),
        (("player1", "player2", "Winner"), ("tea", "soup", "draw")),
        (("modelA", "modelB", "vote"), ("A", "B", "Tie")),
        (("home_team", "away_team", "winner"), ("home", "away", "draw")),
        (("film", "rival", "winner"), ("tea", "soup", "no preference")),
        (("system1", "system2", "preference"), ("system1", "system2", "neither")),
    ],
)
def test_a_winner_is_named_by_side_or_item(
    names: tuple[str, str, str], winners: tuple[str, str, str]
) -> None:
    rows = [(*pair, won) for pair, won in zip(PAIRS, winners, strict=True)]
    ratings = read("\n".join(map(",".join, [names, *rows])))
    assert outcomes(ratings) == EXPECTED
    assert "2 decided and 1 tie" in ratings.read_as
    assert ratings.read_as.endswith("each vote its own reviewer.")
    assert ratings.kind == "comparisons"
    assert ratings.tied_reviewers == 1


def test_arena_votes_have_judges_and_texts() -> None:
    text = (
        "question_id,model_a,model_b,winner,judge,conversation_a,conversation_b\n"
        "1,gpt,claude,model_a,u1,hi,ho\n2,claude,llama,tie (bothbad),u2,x,y\n"
        "3,llama,gpt,model_b,u1,p,q\n4,gpt,llama,tie,u3,r,s\n"
    )
    ratings = read(text)
    assert ratings.read_as == (
        "votes, by columns 'model_a', 'model_b' and 'winner': 2 decided and 2 ties (1 "
        "both bad); reviewer from 'judge'; items from 'model_a', 'model_b', not "
        "'conversation_a', 'conversation_b'."
    )
    assert ratings.reviewer_labels == ("u1#1", "u1#2", "u2#1", "u3#1")


def test_games_that_differ_are_ties_and_errors_are_left_out() -> None:
    games = [
        ("gpt", "claude", "model_1", "model_1"),
        ("gpt", "llama", "model_1", "model_2"),
        ("gpt", "vicuna", "error", "model_2"),
        ("llama", "claude", "tie", "model_2"),
        ("vicuna", "claude", "model_1", "tie"),
    ]
    names = ("model_1", "model_2", "g1_winner", "g2_winner")
    rows = [
        dict(zip(names, game, strict=True)) | {"question_id": 81, "turn": 1}
        for game in games
    ]
    lines = "\n".join(json.dumps(row) for row in rows)
    ratings = read(lines, "pairs.jsonl")
    assert outcomes(ratings) == {
        ("claude", "gpt"): "gpt",
        ("gpt", "llama"): "tie",
        ("claude", "llama"): "tie",
        ("claude", "vicuna"): "tie",
    }
    assert notices(ratings)["failed_votes"] == "1 vote that failed left out."
    assert "1 decided and 3 ties (1 with votes that differ)" in ratings.read_as


def llmfao(size: int = 400) -> pl.DataFrame:
    """Make votes by workers on prompts, with names and ids of the items."""
    chance = np.random.default_rng(3)
    items = np.array(["GPT", "LLaMA", "Falcon", "Dolly", "Platypus"])
    first = chance.integers(0, 5, size)
    second = (first + chance.integers(1, 5, size)) % 5
    winner = chance.choice(["left", "right", "tie"], size, p=[0.4, 0.2, 0.4])
    return pl.DataFrame(
        {
            "id": np.arange(size),
            "prompt": chance.integers(0, 9, size),
            "model_x": first + 90,
            "model_y": second + 90,
            "worker": chance.integers(0, 30, size),
            "winner": winner,
            "left": items[first],
            "right": items[second],
        }
    )


def test_the_winner_tells_which_columns_are_the_items() -> None:
    frame = llmfao()
    ratings = eh.read_ratings(frame)
    ties = int((frame["winner"] == "tie").sum())
    assert ratings.read_as == (
        f"votes, by columns 'left', 'right' and 'winner': {400 - ties} decided and "
        f"{ties} ties; reviewer from 'worker'; items from 'left', 'right', not "
        "'model_x', 'model_y'."
    )
    shares = dict(zip(ratings.item_labels, borda(ratings).estimates, strict=True))
    for item in ratings.item_labels:
        of = frame.filter((pl.col("left") == item) | (pl.col("right") == item))
        own = pl.when(pl.col("left") == item).then(pl.lit("left"))
        won = (pl.col("winner") == own.otherwise(pl.lit("right"))).sum()
        tied = (pl.col("winner") == "tie").sum()
        assert shares[item] == pytest.approx(of.select(won + tied / 2).item() / len(of))


def test_ties_are_half_a_win_in_bradley_terry() -> None:
    frame = llmfao()
    ratings = eh.read_ratings(frame)
    codes = {label: code for code, label in enumerate(ratings.item_labels)}
    won = np.zeros((5, 5))
    for left, right, winner in frame.select("left", "right", "winner").rows():
        first, second = codes[left], codes[right]
        share = {"left": 1.0, "right": 0.0, "tie": 0.5}[winner]
        won[first, second] += share
        won[second, first] += 1 - share
    values = np.zeros(5)
    for _ in range(5000):
        chances = 1 / (1 + np.exp(values[None, :] - values[:, None]))
        slope = won.sum(axis=1) - ((won + won.T) * chances).sum(axis=1)
        values += (slope - PRIOR_PRECISION * values) / 200
    assert bradley_terry(ratings).estimates == pytest.approx(values, abs=1e-6)
    assert ratings.n_reviewers == 400


def test_votes_do_not_depend_on_rows_or_on_the_side_of_a_tie() -> None:
    frame = llmfao()
    ratings = eh.read_ratings(frame)
    swap = pl.col("winner") == "tie"
    turned = frame.with_columns(
        pl.when(swap).then("right").otherwise("left").alias("left"),
        pl.when(swap).then("left").otherwise("right").alias("right"),
    ).reverse()
    assert eh.read_ratings(turned).sha256 == ratings.sha256
    table = exports.table_of(
        "ratings", ratings, eh.rank(ratings, method="borda", rng=1)
    )
    assert eh.read_ratings(table).sha256 == ratings.sha256


def test_without_ties_nothing_changed() -> None:
    plain = Ratings.from_comparisons(["x", "y"], ["y", "z"], reviewers=["a", "a"])
    flagged = Ratings.from_comparisons(
        ["x", "y"], ["y", "z"], ties=[False, False], reviewers=["a", "a"]
    )
    assert plain.sha256 == flagged.sha256
    assert plain.sha256.startswith("bdae8b93be5e6a30")
    assert (
        "tie" not in exports.table_of("ratings", plain, eh.rank(plain, rng=1)).columns
    )


def test_decisions_from_ties_are_recorded_and_replayed(tmp_path: Path) -> None:
    ratings = eh.read_ratings(llmfao(60))
    result = eh.rank(ratings, rng=1)
    result.report(tmp_path / "page.html")
    assert "GPT" in (tmp_path / "page.html").read_text()
    path = tmp_path / "record.json"
    path.write_text(record.text_of(record.decision_record(result)))
    assert audit(path, ratings).verdict.startswith("Nothing differs")
    told = {note.code: note.message for note in eh.check(ratings, rng=1).findings}
    assert "of the comparisons are ties" in told["ties"]
    with pytest.raises(RatingsError, match=r"only comparisons: \d+ for 'GPT'"):
        eh.compare(ratings, items=("GPT", "Dolly"))


def test_a_tie_orders_nothing_and_voids_guarantees() -> None:
    ratings = Ratings.from_comparisons(["x", "y"], ["y", "z"], ties=[False, True])
    result = eh.rank(ratings, method="topological", rng=1)
    assert result.order.index("x") < result.order.index("y")
    ranks = {row.item: (row.rank_low, row.rank_high) for row in result.items}
    assert ranks["z"] == (1, 3)
    certificate = eh.rank(ratings, method="mean-rank", design="pairs").certificate
    assert certificate is not None
    assert "ties" in {finding.code for finding in certificate.findings}


def test_all_ties_say_nothing() -> None:
    ratings = read("left,right,winner\na,b,tie\nb,c,draw\n")
    assert ratings.tied_reviewers == ratings.n_reviewers == 2
    assert {row.rank_high for row in eh.rank(ratings, rng=1).items} == {3}


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (
            "left,right,winner\na,b,left\nb,c,middle\n",
            {},
            "votes.csv:3: winner must name 'left', 'right', their item or a tie, got "
            "'middle'. Write tie where neither won.",
        ),
        (
            "left,right,winner\na,b,a\nb,c,c\nc,a,b\n",
            {},
            "votes.csv:4: winner must name 'left', 'right', their item or a tie, got "
            "'b'. Write tie where neither won.",
        ),
        (
            "model_a,model_b,model_c,winner\np,q,r,model_a\nq,p,r,model_c\n",
            {},
            "votes.csv:3: winner must name 'model_a', 'model_b', their item or a tie, "
            "got 'model_c'. Write tie where neither won.",
        ),
        (
            "left,right,winner\na,b,left\nb,b,right\n",
            {},
            "votes.csv:3: winner and loser must differ, got 'b' twice.",
        ),
        (
            "player1,player2,winner\n1,2,1\n2,1,1\n",
            {},
            "votes.csv: Column 'winner' may say which of 'player1', 'player2' won, or "
            "name an item. Name the column, 'player1', where it won.",
        ),
        (
            "left,right,pick\na,b,left\nb,c,right\n",
            {},
            "votes.csv: Column 'pick' may say which of 'left', 'right' won. If it "
            "does, say --column winner=pick.",
        ),
        (
            "model_a,model_b,team_a,team_b,winner\np,q,s,t,a\nq,p,t,s,b\n",
            {},
            "votes.csv: Column 'winner' may say which of 'model_a', 'model_b' won, or "
            "of 'team_a', 'team_b'. Say which with --item model_a+model_b or --item "
            "team_a+team_b.",
        ),
        (
            "left,right,winner,worker,judge\na,b,left,1,2\n",
            {},
            "votes.csv: Several columns may be the reviewer: 'worker', 'judge'. Say "
            "which with reviewer= or --reviewer.",
        ),
        (
            "left,right,winner\na,b,error\nb,c,error\n",
            {},
            "votes.csv: There is no vote left. 2 votes that failed left out.",
        ),
        (
            "p,q\na,b\n",
            {"format": "votes"},
            "votes.csv: No column says which of two items won, among 'p', 'q'. Name it "
            "with --column winner=COLUMN, and the items with --item A+B.",
        ),
        (
            "winner,loser,tie\na,b,perhaps\n",
            {},
            "votes.csv:2: tie must be true or false, got 'perhaps'.",
        ),
    ],
)
def test_doubtful_votes_are_refused(
    text: str, options: dict[str, str], words: str
) -> None:
    assert refused(text, **options) == words


def test_options_settle_what_is_doubtful() -> None:
    text = "left,right,pick\na,b,left\nb,c,right\n"
    assert outcomes(read(text, winner="pick")) == {("a", "b"): "a", ("b", "c"): "c"}
    text = "model_a,model_b,team_a,team_b,winner\np,q,s,t,a\nq,p,t,s,b\n"
    assert read(text, item="team_a+team_b").item_labels == ("s", "t")


FORM = (
    "Without winner= and loser= read_ratings reads such votes, with ties, and so do "
    "the commands without --column."
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
    with pytest.raises(RatingsError, match="Column 'winner' says who won"):
        read(table, winner="left", loser="right")


def test_a_word_for_a_tie_is_asked_for() -> None:
    text = "left,right,winner\ntea,milk,left\nmilk,soup,{}\n"
    assert "1 decided and 1 tie" in read(text.format("S")).read_as
    assert "Write tie where neither won." in refused(text.format("q"))


def test_several_votes_a_row_are_all_counted() -> None:
    lines = ["question_id,model_1,model_2,winner1,winner2,winner3"]
    lines += ["1,tea,milk,model_1,tie,model_2", "2,milk,soup,model_2,model_2,"]
    ratings = read("\n".join(lines) + "\n")
    assert "'winner1 to winner3': 4 decided and 1 tie" in ratings.read_as
    assert ratings.n_ratings == 2 * 5
    chosen = read("\n".join(lines) + "\n", winner="winner1")
    assert "2 decided and 0 ties" in chosen.read_as
    refused(lines[0] + "\n1,tea,milk,model_1,tie,cocoa\n", "votes.csv:2: .*cocoa")
