"""Google Forms: grids, one response per item, the last response, and decimal commas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from evenhand.cli import cli
from evenhand.errors import EvenhandError
from examples.exports_teaching import HERE
from tests.formats.reader import Reader, notices, scores

if TYPE_CHECKING:
    from pathlib import Path


GRID = (
    "Timestamp,Email Address,Your name,How good was it? [Ana Silva],How good was it? "
    "[Bo Lee],How good was it? [Cy Wu],Any comments?\n"
    "2026/05/01 12:30:00 AM GMT+2,bo@uni.edu,Bo Lee,3,1,,so far\n"
    '2026/05/01 9:30:00 AM GMT+2,ana.silva@uni.edu,Ana Silva,5,3,4,"Great, really."\n'
    "2026/05/01 1:30:00 PM GMT+2,bo@uni.edu,Bo Lee,4,,2,\n"
)
EACH = (
    "Timestamp,Username,Team name,Rate it [Originality],Rate it [Overall],Comments\n"
    "5/1/2026 9:30:00,a@x,Red,3,4,Nice.\n"
    "5/1/2026 9:40:00,b@x,Red,3,5,\n"
    "5/13/2026 9:40:00,b@x,Red,1,1,\n"
    "5/13/2026 9:50:00,b@x,Blue,1,2,\n"
)


FILE = Reader("form.csv", EvenhandError)
read, refused = FILE.read, FILE.refused


def test_a_grid_has_its_items_in_brackets() -> None:
    ratings = read(GRID)
    # Half past midnight comes before half past one, but its other score stands.
    assert scores(ratings) == {
        ("ana.silva@uni.edu", "Ana Silva"): 5,
        ("ana.silva@uni.edu", "Bo Lee"): 3,
        ("ana.silva@uni.edu", "Cy Wu"): 4,
        ("bo@uni.edu", "Ana Silva"): 4,
        ("bo@uni.edu", "Bo Lee"): 1,
        ("bo@uni.edu", "Cy Wu"): 2,
    }
    assert ratings.read_as == (
        "responses to a form, by columns 'Timestamp' and 'How good was it? [Ana "
        "Silva]': item from the text in [...], reviewer from 'Email Address', score "
        "from 'How good was it?'."
    )
    assert notices(ratings) == {
        "earlier_responses": "1 earlier score of the same person for the same item "
        "left out: the last in the file counts.",
        "self_ratings": "2 ratings of the reviewer's own item kept: "
        "'ana.silva@uni.edu', 'bo@uni.edu'. Leave such ratings out with exclude= or "
        "--exclude self.",
    }


def test_a_response_may_be_about_one_item() -> None:
    ratings = read(EACH)
    assert scores(ratings) == {("a@x", "Red"): 4, ("b@x", "Red"): 1, ("b@x", "Blue"): 2}
    assert "item from 'Team name', reviewer from 'Username'" in ratings.read_as
    assert scores(read(EACH, score="Originality"))["a@x", "Red"] == 3
    weights = read(EACH, score="Overall", weight="Rate it [Originality]").weights
    assert weights is not None
    assert weights.tolist() == [3.0, 1.0, 1.0]


def test_a_form_in_european_notation_needs_no_option() -> None:
    text = (
        "Zeitstempel;Dein Name;Welches Projekt bewertest du?;Note (1-10);Kommentar\n"
        "02.04.2026 10:30:00;Bo;Tee;8,25;\n"
        "01.05.2026 09:30:00;Ana;Tee;7,5;gut\n"
        "01.05.2026 11:30:00;Bo;Milch;n/a;\n"
        "01.06.2026 11:30:00;Bo;Tee;9;\n"
    )
    ratings = read(text)
    assert scores(ratings) == {("Ana", "Tee"): 7.5, ("Bo", "Tee"): 9}
    told = notices(ratings)
    assert told["decimal_commas"] == "Commas in numbers are read as decimal points."
    assert told["missing_scores"].endswith("left out: item Milch by Bo.")
    assert told["earlier_responses"].endswith(
        "If two people share a name, give them labels of their own first."
    )


def test_a_form_without_names_has_a_reviewer_for_each_response() -> None:
    text = (
        "Timestamp,Which team is yours?,Rate them [Red],Rate them [Blue]\n"
        "5/1/2026 9:30:00,Red,3,4\n5/1/2026 9:40:00,Blue,3,5\n"
    )
    ratings = read(text)
    assert ratings.n_reviewers == 2
    assert {*notices(ratings)} == {"pseudonyms", "self_ratings"}
    left = read(text, exclude="self")
    assert left.scores.tolist() == [4.0, 3.0]
    assert "self_ratings" not in notices(left)


def test_questions_may_be_the_items() -> None:
    ask = "How do you rate the presentation by"
    text = (
        f"Timestamp,Name,{ask} Ana?,{ask} Bo?,Comment\n"
        "5/1/2026 9:30:00,Cy,3,4,well\n5/1/2026 9:40:00,Di,x,5/5,ok\n"
    )
    ratings = read(text, rows="reviewers")
    assert ratings.item_labels == ("Ana", "Bo")
    assert ratings.scores.tolist() == [3.0, 4.0, 5.0]
    assert "'...Ana?', '...Bo?'" in refused(text, format="forms")


def test_several_grids_need_a_question() -> None:
    text = GRID.replace("it? [Cy", "that? [Cy")
    assert "Choose one: --score 'How good was it?' (2 items), or --sc" in refused(text)
    assert read(text, score="How good was it?").n_items == 2


def test_other_files_with_times_are_what_they_were() -> None:
    text = "timestamp,reviewer,item,score\n1,a,x,3\n2,a,x,4\n"
    assert "rated item 'x' twice" in refused(text)


@pytest.mark.parametrize("command", ["rank", "check"])
def test_the_samples_are_read_on_the_command_line(command: str, tmp_path: Path) -> None:
    samples = ("forms-grid.csv", "forms.csv")
    for name in samples if command == "rank" else samples[:1]:
        done = CliRunner().invoke(
            cli, [command, str(HERE / name), "--seed", "1", "--exclude", "self"]
        )
        assert done.exit_code == 0, done.stderr
        assert "Read as responses to a form" in done.stderr
    path = tmp_path / "form.csv"
    path.write_text(GRID.replace("4,,2", "four,,2").replace("5,3,4", "5,three,4"))
    done = CliRunner().invoke(cli, [command, str(path)])
    assert done.exit_code == 2
    assert done.stderr.splitlines()[:3] == [
        f"evenhand: {path}: 2 problems:",
        "  line 3: How good was it? must be a number, got 'three'.",
        "  line 4: How good was it? must be a number, got 'four'.",
    ]
