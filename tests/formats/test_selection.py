"""Leaving out and keeping: items, reviewers, and ratings of one's own."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from evenhand.cli import cli
from evenhand.errors import EvenhandError
from evenhand.formats.reading import read_ratings
from evenhand.ratings import REPEATS

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.ratings import Ratings

LONG = "judge,paper,score\nAna,x,5\nAna,Cy,4\nBo,x,2\nBo,y,3\nCy,Cy,5\nCy,Bo,1\n"


def read(text: str = LONG, **options: Any) -> Ratings:  # noqa: ANN401 - options
    file = io.BytesIO(text.encode())
    file.name = "r.csv"
    return read_ratings(file, **options)


def refused(text: str = LONG, **options: Any) -> str:  # noqa: ANN401 - options
    with pytest.raises(EvenhandError) as caught:
        read(text, **options)
    return str(caught.value)


def pairs(ratings: Ratings) -> set[str]:
    return {f"{row['reviewer']} {row['item']}" for row in ratings.rows()}


def test_items_and_reviewers_are_left_out() -> None:
    assert pairs(read(exclude="Ana")) == {"Bo x", "Bo y", "Cy Cy", "Cy Bo"}
    assert pairs(read(exclude=["x", "item=Cy"])) == {"Bo y", "Cy Bo"}
    assert pairs(read(exclude=["reviewer=Cy", "y"])) == {"Ana x", "Ana Cy", "Bo x"}
    told = {one.code: one.message for one in read(exclude="Ana").notices}
    assert told["excluded"] == "2 ratings left out as you asked."
    numbers = "judge,paper,score\n7,1,5\n8,1,4\n8,2,4\n"
    assert read(numbers, exclude=[7]).reviewer_labels == (8,)


def test_only_some_items_or_reviewers_are_kept() -> None:
    assert pairs(read(only=["x", "y"])) == {"Ana x", "Bo x", "Bo y"}
    assert pairs(read(only=["x", "y", "reviewer=Bo"])) == {"Bo x", "Bo y"}
    assert pairs(read(only="x", exclude="Ana")) == {"Bo x"}
    duels = "winner,loser\na,b\nb,c\na,c\n"
    assert read(duels, only=["a", "b"]).item_labels == ("a", "b")
    assert read(duels, exclude="a").n_ratings == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"exclude": "Cy"}, "'Cy' is both an item and a reviewer. Write 'item=Cy' or"),
        (
            {"exclude": "Anna"},
            "unknown name 'Anna', did you mean 'Ana'? Known",
        ),
        ({"only": "item=z"}, "unknown item 'z'. Known items: 'Bo', 'Cy', 'x', 'y'."),
        ({"exclude": "x", "only": "x"}, "r.csv: There is no rating left."),
    ],
)
def test_what_cannot_be_left_out_is_said(options: dict[str, Any], message: str) -> None:
    assert refused(**options).startswith(message)


def test_ratings_of_ones_own_are_told_and_can_be_left_out() -> None:
    told = {one.code: one.message for one in read().notices}
    assert told == {
        "self_ratings": "1 rating of the reviewer's own item kept: 'Cy'. Leave such "
        "ratings out with exclude= or --exclude self."
    }
    left = read(exclude="self")
    assert pairs(left) == pairs(read()) - {"Cy Cy"}
    assert [one.code for one in left.notices] == ["excluded"]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("item,Ana Lee,Bo\nana  lee,3,4\nBo X,1,2\n", {"rows": "items"}),
        ("reviewer,item,authors,score\nbo@x,7,Ana; bo@x,3\nCy,7,Ana; bo@x,2\n", {}),
        ("reviewer,item,title,score\nBo,7,Bo,3\nCy,7,Bo,2\n", {}),
        (
            "judge,paper,Author Names,score\n"
            "ana.lee@x.org,7,Bo Yi and Ana Lee,3\ncy@x.org,7,Bo Yi and Ana Lee,2\n",
            {},
        ),
    ],
)
def test_ones_own_is_found_by_labels_titles_and_authors(
    text: str, options: dict[str, str]
) -> None:
    notices = [
        one for one in read(text, **options).notices if one.code == "self_ratings"
    ]
    assert [one.message[:8] for one in notices] == ["1 rating"]


def test_numbers_and_letters_that_agree_are_nobodys_own() -> None:
    assert read("judge,paper,score\n1,1,5\n2,1,4\n").notices == ()
    assert read("judge,paper,score\na,a,5\nb,a,4\n").notices == ()


def test_codes_are_not_betrayed_by_ratings_of_ones_own(tmp_path: Path) -> None:
    ratings = read(anonymise=str(tmp_path / "key.csv"))
    said = " ".join(one.message for one in ratings.notices)
    assert "1 rating of the reviewer's own item kept. Leave" in said


def test_decimal_commas_are_certain_in_files_with_semicolons() -> None:
    wide = "paper;Ana;Bo\nP1;7,5;8\nP2;6,25;x\n"
    assert read(wide, rows="items").scores.tolist() == [7.5, 6.25, 8.0]
    long = "judge;paper;mark\nAna;1,2;7,5\nBo;1,2;1,250\n"
    ratings = read(long)
    assert ratings.scores.tolist() == [7.5, 1.25]
    assert [one.code for one in ratings.notices] == ["decimal_commas"]
    assert ratings.item_labels == ("1,2",)
    # Three digits after every comma may be thousands.
    thousands = long.replace("7,5", "7,500")
    assert "got '7,500'" in refused(thousands)
    assert read(thousands, decimal=",").scores.tolist() == [7.5, 1.25]
    assert "got '7,5'" in refused(long, decimal=".")


def test_decimal_commas_are_declared_elsewhere() -> None:
    text = 'judge,paper,mark\nAna,x,"7,5/10"\nBo,x,8/10\n'
    assert read(text, decimal=",").scores.tolist() == [7.5, 8.0]
    assert "--decimal ','" in refused(text.replace("/10", ""))


def test_all_problems_of_a_file_come_at_once() -> None:
    rows = [f"r{it},x,{'bad' if it % 2 else it}" for it in range(60)]
    rows += [f"s{it},x,{it}" for it in range(20)]
    said = refused("reviewer,item,score\n" + "\n".join(rows) + "\n").splitlines()
    assert said[0] == "r.csv: 30 problems:"
    assert said[1] == "  line 3: score must be a number, got 'bad'."
    assert len(said) == 1 + 20 + 1 + 1
    assert said[21] == "  and 10 more."
    few = "reviewer,item,score\na,x,1\na,x,2\nb,x,2\na,x,3\nc,y,4\n"
    twice = "reviewer 'a' rated item 'x' twice (first: line 2)."
    again = [f"  line 3: {twice}", f"  line 5: {twice}", f"  {REPEATS}"]
    assert refused(few).splitlines()[1:] == again


def test_the_options_work_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(LONG)
    words = ("--exclude", "self", "--only", "x", "--only", "Bo", "--json")
    done = CliRunner().invoke(cli, ["rank", str(path), "--seed", "1", *words])
    assert done.exit_code == 2
    assert "'Bo' is both an item and a reviewer" in done.stderr
    more = ("--exclude", "self", "--exclude", "item=Bo")
    kept = ("--seed", "1", "--record", str(tmp_path / "d.json"))
    done = CliRunner().invoke(cli, ["rank", str(path), *more, *kept])
    assert done.exit_code == 0, done.stderr
    assert "2 ratings left out as you asked" in done.stderr
    audit = ["audit", str(tmp_path / "d.json"), str(path), *more]
    assert CliRunner().invoke(cli, audit).exit_code == 0
