"""Encodings, delimiters, no header, numbered columns, columns that do not belong."""

from __future__ import annotations

import csv
import io
import random

import pytest

from evenhand.errors import EvenhandError
from tests.commands import refused as refused_command
from tests.commands import run
from tests.formats.reader import Reader, notices, scores

READER = Reader("t.csv", EvenhandError)
read, refused = READER.read, READER.refused

LONG = "reviewer,item,score\nZo\xeb,Caf\xe9,3\nJos\xe9,Th\xe9,4\nJ\xf6rg,Caf\xe9,5\n"


@pytest.mark.parametrize(
    ("encoding", "title", "byte", "line"),
    [
        ("cp1252", "Windows-1252", "0xeb", 2),
        ("mac_roman", "Mac Roman", "0x91", 2),
        ("utf-16", "UTF-16", "0xff", 1),
        ("utf-16-le", "UTF-16", "0x00", 1),
        ("utf-16-be", "UTF-16", "0x00", 1),
    ],
)
def test_an_encoding_is_recognised_and_said(
    encoding: str, title: str, byte: str, line: int
) -> None:
    ratings = read(LONG.encode(encoding))
    assert scores(ratings) == scores(read(LONG))
    assert notices(ratings)["encoding"] == (
        f"The file is not UTF-8 (byte {byte} on line {line}); read as {title}. If "
        "names look wrong, say encoding= or --encoding."
    )
    named = read(LONG.encode(encoding), encoding=encoding)
    assert scores(named) == scores(ratings)
    assert "encoding" not in notices(named)


def test_a_named_encoding_must_fit() -> None:
    assert refused(LONG.encode("cp1252"), encoding="utf-8") == (
        "t.csv:2: text must be utf-8, got byte 0xeb. Save the file as UTF-8, or name "
        "its encoding with encoding= or --encoding."
    )
    assert "encoding must be an encoding, such as utf-8" in refused(LONG, encoding="x")
    assert "encoding must be an encoding" in refused(LONG, encoding="base64")
    json = '[{"reviewer": "Zo\xeb", "item": "x", "score": 3}]'
    assert read(json.encode("utf-16")).reviewer_labels == ("Zo\xeb",)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (
            "reviewer,item,score\twith a tab\na,x,3\nb,y,4\n",
            {"score": "score\twith a tab"},
        ),
        ("reviewer|item|score\na|x|3\nb|y|4\n", {}),
        ("reviewer:item:score\na:x:3\nb:y:4\n", {"delimiter": ":"}),
        ("reviewer\titem\tscore\na\tx\t3\nb\ty\t4\n", {"delimiter": "tab"}),
        ('reviewer\titem\tscore\tnote\na\tx\t3\t"so" and so\nb\ty\t4\t"\n', {}),
        (
            "a,x,3\nb,y,4\n",
            {"header": False, "reviewer": "1", "item": "2", "score": "3"},
        ),
        ("reviewer,item,score,kept\na,x,3,\nb,y,4,\n", {"exclude": "kept"}),
    ],
)
def test_fields_are_told_apart(text: str, options: dict[str, str]) -> None:
    ratings = read(text, **options)
    assert scores(ratings) == {("a", "x"): 3.0, ("b", "y"): 4.0}


def test_a_column_that_does_not_belong_is_left_out_by_name() -> None:
    text = "reviewer,item,rating,score\na,x,3,1\nb,y,4,2\n"
    assert "Several columns may be the score" in refused(text.replace("score", "grade"))
    ratings = read(text.replace("score", "grade"), exclude="grade")
    assert scores(ratings) == {("a", "x"): 3.0, ("b", "y"): 4.0}
    assert notices(ratings)["other_columns"] == "1 other column left out: 'grade'."


def matrix(rows: int = 12, columns: int = 5) -> str:
    chance = random.Random(7)
    lines = [[f"{chance.randint(1, 5)}.0" for _ in range(columns)] for _ in range(rows)]
    return "\n".join(",".join(line) for line in lines)


def test_a_matrix_without_labels_is_numbered() -> None:
    text = matrix()
    assert refused(text).startswith(
        "t.csv: The first line looks like scores, not names"
    )
    ratings = read(text, rows="items")
    assert (ratings.item_labels, ratings.reviewer_labels) == (
        tuple(range(1, 13)),
        tuple(range(1, 6)),
    )
    assert scores(ratings)[1, 1] == float(text.partition(",")[0])
    assert "rows and columns are numbered" in notices(ratings)["no_header"]
    assert ratings.read_as.startswith("a wide table: items in the rows (numbered)")
    told = read(text, rows="items", header=False)
    assert scores(told) == scores(ratings)
    assert "no_header" not in notices(told)
    assert "Say what its rows are" in refused(text, header=False)
    named = "0,1,2\n3,4,5\n4,4,5\n"
    assert "say header=True or --header" in refused(named, rows="items")
    assert read(named, rows="items", header=True).reviewer_labels == (0, 1, 2)
    assert read(named, rows="items", header=False).item_labels == (1, 2, 3)
    bad = refused(text.replace("\n", "\nx", 1), rows="reviewers")
    assert bad.startswith("t.csv:2: score must be a number, got 'x")
    ids = "".join(f"{100 + row},3,4\n" for row in range(5))
    assert "--item 1; else leave it out with exclude= or --exclude 1" in refused(
        ids, rows="items", header=False
    )


def reviews(more: str = "decision") -> str:
    """Rows of papers with two to five reviews, and a column that is no review."""
    chance = random.Random(1)
    lines = [["paper_id", *"01234", more]]
    for paper in range(60):
        number = chance.randint(2, 5)
        marks = [str(chance.randint(1, 10)) for _ in range(number)] + [""] * (
            5 - number
        )
        lines.append([f"p{paper}", *marks, chance.choice(["accept", "reject"])])
    file = io.StringIO()
    csv.writer(file, delimiter="\t").writerows(lines)
    return file.getvalue()


def test_numbered_columns_of_reviews_are_seats() -> None:
    ratings = read(reviews())
    assert ratings.n_items == 60
    assert set(notices(ratings)) == {"other_columns", "seats"}
    assert notices(ratings)["other_columns"] == "1 other column left out: 'decision'."
    said = refused(reviews(), rows="items")
    assert "Column 'decision' does not look like a reviewer" in said
    assert "--exclude decision" in said
    again = read(reviews(), rows="items", exclude="decision")
    assert again.n_ratings == ratings.n_ratings


def test_the_question_for_rows_names_a_count_too() -> None:
    rows = [f"w{row},{row * 7 % 40},{1 + row % 5},{1 + row % 3}" for row in range(9)]
    said = refused("\n".join(["WorkerId,Annotate_number,A,B", *rows]))
    assert "Say what its rows are" in said
    assert "Leave it out with exclude= or --exclude Annotate_number" in said


def test_the_command_line_says_the_same(tmp_path: object) -> None:
    path = f"{tmp_path}/t.csv"
    with open(path, "wb") as file:  # noqa: PTH123 - as a command's user
        file.write("a;Caf\xe9;3,5\nb;Th\xe9;4,5\n".encode("mac_roman"))
    names = ("--reviewer", "1", "--item", "2", "--score", "3")
    words = ("--encoding", "mac", "--delimiter=;", "--decimal", ",", "--no-header")
    ranked = run("rank", path, *names, *words, "--method", "mean", "--seed", "1")
    assert ranked.exit_code == 0, ranked.stderr
    assert "Th\xe9" in ranked.stdout
    assert "--table must be one of encoding" in refused_command(
        "rank", path, "--table", "size=3"
    )
    assert "--encoding must be given once" in refused_command(
        "rank", path, "--encoding", "mac", "--encoding", "utf-8"
    )
