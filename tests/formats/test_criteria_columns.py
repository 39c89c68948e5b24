"""Criteria of a file: columns, sheets and values of a column, by any layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest
import xlsxwriter

import evenhand as eh
from evenhand.errors import RatingsError
from tests.commands import run

if TYPE_CHECKING:
    from pathlib import Path

ROWS = [("a", "x", 3, 4), ("a", "y", 2, 5), ("b", "x", 3, 1), ("b", "y", 5, 5)]


def of_columns() -> eh.Ratings:
    frame = pl.DataFrame(ROWS, schema=["judge", "item", "taste", "looks"], orient="row")
    return eh.read_ratings(frame, score=["taste", "looks"])


def test_a_column_of_criteria_is_read_like_columns(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    lines = [
        f"{a},{x},{name},{score}"
        for a, x, *both in ROWS
        for name, score in zip(("taste", "looks"), both, strict=True)
    ]
    path.write_text("\n".join(["judge,item,criterion,score", *lines]))
    ratings = eh.read_ratings(path, score=["taste", "looks"])
    assert ratings.sha256 == of_columns().sha256
    assert ratings.read_as.endswith("score (taste + looks) / 2.")


def test_sheets_are_read_like_columns(tmp_path: Path) -> None:
    path = tmp_path / "sheets.xlsx"
    with xlsxwriter.Workbook(path) as book:
        for place, name in enumerate(("taste", "looks"), start=2):
            sheet = book.add_worksheet(name)
            sheet.write_row(0, 0, ["reviewer", "x", "y"])
            for line, person in enumerate("ab", start=1):
                cells = [row[place] for row in ROWS if row[0] == person]
                sheet.write_row(line, 0, [person, *cells])
    ratings = eh.read_ratings(path, score=["taste", "looks"], rows="reviewers")
    assert ratings.sha256 == of_columns().sha256
    with pytest.raises(RatingsError, match="Several sheets hold something"):
        eh.read_ratings(path, score=["taste", "smell"])


def test_a_grid_for_each_criterion_is_read_like_columns(tmp_path: Path) -> None:
    path = tmp_path / "form.csv"
    head = "Timestamp,Name,Taste [x],Taste [y],Looks [x],Looks [y]"
    path.write_text(
        f"{head}\n2026/05/01 9:30:00,a,3,2,4,5\n2026/05/01 9:31:00,b,3,5,1,5\n"
    )
    ratings = eh.read_ratings(path, score=["Taste", "Looks"])
    assert ratings.scores.tolist() == of_columns().scores.tolist()
    assert [each.code for each in ratings.notices] == ["total_of_criteria"]


def test_a_rating_that_stands_twice_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text(
        "judge,item,criterion,score\na,x,taste,3\na,x,looks,4\na,x,looks,2\n"
    )
    with pytest.raises(
        RatingsError, match=r"long.csv:4: reviewer 'a' rated item 'x' tw"
    ):
        eh.read_ratings(path, score=["taste", "looks"])


def test_the_command_line_takes_weights_and_codes(tmp_path: Path) -> None:
    path, record = tmp_path / "r.csv", tmp_path / "record.json"
    lines = [",".join(map(str, row)) for row in ROWS]
    path.write_text("\n".join(["judge,item,taste,looks", *lines]))
    options = [str(path), "--score", "taste=2", "--score", "looks"]
    options += ["--anonymise", str(tmp_path / "key.csv")]
    ranked = run("rank", *options, "--seed", "7", "--record", str(record))
    assert ranked.exit_code == 0, ranked.stderr
    assert "score (2 taste + looks) / 3" in ranked.stderr
    audited = run("audit", str(record), *options)
    assert audited.exit_code == 0, audited.stderr
    wrong = run("audit", str(record), *options[:2], "taste=1", *options[3:])
    assert wrong.exit_code == 1
