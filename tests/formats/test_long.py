"""The long form, and which platform each sample is taken for."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import pytest

from evenhand.errors import OptionError
from evenhand.formats import PLATFORMS, tables
from evenhand.formats.files import fetch
from evenhand.formats.layouts import ReadOptions, layout_of, recognise
from evenhand.formats.reading import read_ratings
from evenhand.formats.tables import read_table
from examples.exports_teaching import FILES, HERE
from tests.formats.reader import Reader, decoded_here, stream

if TYPE_CHECKING:
    from pathlib import Path

WORDS = "strong reject<reject<weak reject<weak accept<accept<strong accept"
LONG: dict[str, dict[str, Any]] = {
    "words.csv": {"scale": WORDS},
    "letters.tsv": {"scale": "best=A"},
    "long.jsonl": {},
    "long.parquet": {},
    "long.csv.gz": {},
    "semicolons.csv": {},
}
ALL = sorted(
    path for path in [*HERE.iterdir(), *HERE.parent.glob("*.csv")] if path.is_file()
)


FILE = Reader("long.csv")
read, refused = FILE.read, FILE.refused


@pytest.fixture(autouse=True)
def _decoded_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decode workbooks in this process, which is quicker."""
    monkeypatch.setattr(tables, "_decode", decoded_here)


def sample(name: str) -> bytes:
    return (HERE / name).read_bytes()


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_each_sample_is_taken_for_its_platform_and_for_no_other(path: Path) -> None:
    table = read_table(fetch(path))
    known = {
        name for name in PLATFORMS if layout_of(name).recognise(table, ReadOptions())
    }
    platform = path.name.split("-")[0].split(".")[0]
    mine = {platform} & (set(PLATFORMS) - {"wide", "long"})
    # A survey is a general layout, as a wide table is.
    general = {"wide", "long", "forms"}
    assert known - general == mine - general
    # Modules that are not loaded for want of a column would not have known it either.
    assert {recognise(table, ReadOptions())[0].name} - {"wide", "long"} == mine


@pytest.mark.parametrize("name", FILES)
def test_samples_are_what_their_generator_makes(name: str) -> None:
    made, there = FILES[name](), sample(name)
    if not name.endswith((".xlsx", ".parquet", ".gz")):
        assert there == (made if isinstance(made, bytes) else made.encode())
        return
    # Other releases of the writers give other bytes, but the same table.
    assert isinstance(made, bytes)
    new, old = (read_table(fetch(stream(data, name))).columns for data in (made, there))
    assert {key: list(column) for key, column in new.items()} == {
        key: list(column) for key, column in old.items()
    }


@pytest.mark.parametrize("name", LONG)
def test_samples_in_long_form_are_read(name: str) -> None:
    ratings = read_ratings(HERE / name, **LONG[name])
    assert (ratings.n_reviewers, ratings.n_items) == (12, 10)
    assert ratings.n_ratings == (47 if name == "words.csv" else 48)
    plain = name in ("long.parquet", "long.csv.gz")
    assert plain or ratings.read_as.startswith("the long form: ")


def test_words_of_the_sample_keep_their_order() -> None:
    ratings = read_ratings(HERE / "words.csv", scale=WORDS)
    rows = csv.DictReader(io.StringIO(sample("words.csv").decode()))
    order = WORDS.split("<")
    expected = sorted(
        order.index(" ".join(row["rating"].casefold().split())) + 1.0
        for row in rows
        if row["rating"]
    )
    assert sorted(ratings.scores.tolist()) == expected
    assert ratings.titles[5] == 'Bridges of "soft" steel'
    assert [notice.code for notice in ratings.notices] == [
        "words_as_steps",
        "missing_scores",
    ]


def test_letters_of_the_sample_keep_their_order() -> None:
    ratings = read_ratings(HERE / "letters.tsv", scale="best=A")
    rows = csv.DictReader(io.StringIO(sample("letters.tsv").decode()), delimiter="\t")
    expected = sorted("EDCBA".index(row["grade"]) + 1.0 for row in rows)
    assert sorted(ratings.scores.tolist()) == expected


def test_titles_are_taken_from_a_column_of_that_name() -> None:
    text = "reviewer,item,title,score\nanna,1,,3\nbo,1,On tea,4\nbo,2,On milk,1\n"
    ratings = read(text)
    assert ratings.titles == {1: "On tea", 2: "On milk"}
    text = text.replace("1,,3", "1,On tea,3").replace("bo,1", "cy,1")
    assert read(text, item="title").titles == {}


def test_a_second_file_is_refused() -> None:
    text = "reviewer,item,score\nanna,1,3\n"
    with pytest.raises(OptionError) as caught:
        read(text, companion=stream(text))
    assert str(caught.value) == (
        "companion must be left out for the long form: one file is all there is."
    )


def test_columns_that_are_named_make_a_platforms_file_long() -> None:
    ratings = read_ratings(
        HERE / "canvas.csv",
        reviewer="Assessor",
        item="Assessee",
        score="Criteria #1 (10.0)",
    )
    assert ratings.read_as.startswith("the long form: reviewer from 'Assessor'")


def test_a_name_beside_an_id_is_the_title() -> None:
    text = "judge,project_id,project,score\nanna,7,Tea,3\nbo,7,Tea,4\nbo,9,Milk,1\n"
    assert read(text).titles == {7: "Tea", 9: "Milk"}
    assert read(text.replace("project,", "name,")).titles == {7: "Tea", 9: "Milk"}


def test_a_name_that_changes_within_an_item_is_not_its_title() -> None:
    text = "judge,paper,name,score\nanna,7,Ann,3\nbo,7,Bob,4\n"
    assert read(text).titles == {}


def test_a_row_without_a_score_needs_no_weight() -> None:
    text = "judge,paper,score,sure\nanna,7,3,2\nbo,7,,\nbo,8,4,1\n"
    weights = read(text, weight="sure").weights
    assert weights is not None
    assert weights.tolist() == [2.0, 1.0]
