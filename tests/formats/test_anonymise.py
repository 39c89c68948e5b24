"""Codes replace names, the key leads back, and nothing else does."""

from __future__ import annotations

import io
import stat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand._outputs import write_all
from evenhand.errors import OptionError, RatingsError
from evenhand.formats.anonymise import Key, open_key
from evenhand.formats.reading import read_ratings
from evenhand.ranking.ranking import rank

if TYPE_CHECKING:
    from evenhand.ratings import Ratings

NAMES = [
    "Anna",
    "anna",
    "=Bo",
    "-",
    "'=Cy",
    "Dee, E.",
    'the "judge"',
    "x\ny",
    "Zoë",
    "7",
]


def kept(path: Path, reviewers: list[str]) -> Key:
    """Draw a key and write it."""
    key = open_key(str(path), reviewers)
    write_all([key.output()])
    return key


def test_every_reviewer_has_a_code_of_their_own(tmp_path: Path) -> None:
    key = open_key(str(tmp_path / "key.csv"), NAMES)
    assert key.is_new
    assert sorted(key.codes) == sorted(NAMES)
    assert sorted(key.codes.values()) == [f"R{number:02}" for number in range(1, 11)]


def test_a_key_is_read_again_as_it_was_drawn(tmp_path: Path) -> None:
    path = tmp_path / "key.csv"
    drawn = kept(path, [*NAMES])
    again = open_key(str(path), ["Zoë", "anna"])
    assert not again.is_new
    assert again.codes == drawn.codes
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def stripped(text: str) -> str:
    """Take off white space as Ratings do; Python's own strip takes off more."""
    return str(pl.Series([text]).str.strip_chars()[0])


labels = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
people = st.sets(labels.map(stripped).filter(bool), min_size=1, max_size=8)


@settings(max_examples=100)
@given(people)
def test_any_name_survives_the_key(names: set[str]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "key"
        drawn = kept(path, [*names])
        read = open_key(str(path), [*names])
    assert read.codes == drawn.codes
    assert len({*read.codes.values()}) == len(names)


def test_codes_do_not_follow_the_alphabet_or_any_seed(tmp_path: Path) -> None:
    # Two keys of 40 reviewers are the same once in 40! draws.
    names = [f"reviewer {number:02}" for number in range(40)]
    first, second = (open_key(str(tmp_path / it), names).codes for it in ("a", "b"))
    alphabet = {name: f"R{place:02}" for place, name in enumerate(names, start=1)}
    assert first != second
    assert alphabet not in (first, second)


def test_codes_are_never_names(tmp_path: Path) -> None:
    names = ["R01", "r02", "R04", "Anna"]
    key = open_key(str(tmp_path / "key.csv"), names)
    assert sorted(key.codes.values()) == ["R03", "R05", "R06", "R07"]


def test_codes_are_as_long_as_the_number_of_reviewers(tmp_path: Path) -> None:
    key = open_key(str(tmp_path / "key.csv"), [str(it) for it in range(1, 1001)])
    assert min(key.codes.values()) == "R0001"
    assert max(key.codes.values()) == "R1000"


def test_strangers_are_counted_and_not_named(tmp_path: Path) -> None:
    path = tmp_path / "key.csv"
    kept(path, ["Anna", "Bo"])
    with pytest.raises(RatingsError, match="The key lacks 2 reviewers") as caught:
        open_key(str(path), ["Anna", "Cy", "anna"])
    assert "Cy" not in str(caught.value)
    assert "another file" in str(caught.value)
    assert "Cy" not in path.read_text()


def test_a_row_added_by_hand_is_used(tmp_path: Path) -> None:
    path = tmp_path / "key.csv"
    drawn = kept(path, ["Anna", "Bo"])
    path.write_text(path.read_text() + "R03,Cy\n")
    assert open_key(str(path), ["Cy", "Bo"]).codes == {**drawn.codes, "Cy": "R03"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The file is empty."),
        ("code,reviewer\n", "There is a header but no row below it."),
        ("code,name\nR01,Anna\n", "must have the columns 'code' and 'reviewer'"),
        ("reviewer,item,score\na,x,1\n", "Name a key file, or one that is not there"),
        ("code,reviewer\nR01,Anna\nR01,Bo\n", r":3: row must be a code of its own"),
        ("code,reviewer\nR01,Anna\nR02,Anna\n", r":3: row must be a code of its own"),
        ("code,reviewer\nAnna,R01\n", r":2: row must be a code of its own"),
        ("code,reviewer\nR01,R02\nR02,Bo\n", r":3: row must be a code of its own"),
        ("code,reviewer\n,Anna\n", r":2: code must be given, got nothing"),
        ("code,reviewer\nR01,\n", r":2: reviewer must be given, got nothing"),
        ("code,reviewer\nR01,Anna,Bo\n", r":2: the line has 3 fields, the header 2"),
        ('code,reviewer\nR01,"Anna\n', r":2: a quote is opened here and never closed"),
    ],
)
def test_a_damaged_key_is_one_sentence(
    tmp_path: Path, text: str, sentence: str
) -> None:
    path = tmp_path / "key.csv"
    path.write_text(text)
    with pytest.raises(RatingsError, match=sentence) as caught:
        open_key(str(path), ["Anna"])
    assert str(caught.value).startswith(str(path))
    assert path.read_text() == text


def test_a_key_needs_a_file_and_names_that_a_file_can_hold(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="path of a key file, got '-'"):
        open_key("-", ["Anna"])
    with pytest.raises(RatingsError, match="This is a folder"):
        open_key(str(tmp_path), ["Anna"])
    with pytest.raises(RatingsError, match="without NUL"):
        open_key(str(tmp_path / "key.csv"), ["An\0na"])


def read(path: Path, rows: list[str]) -> Ratings:
    text = "\n".join(["reviewer,item,score", *rows])
    return read_ratings(io.StringIO(text), anonymise=str(path / "key.csv"))


def test_what_cannot_be_a_label_has_the_usual_error(tmp_path: Path) -> None:
    with pytest.raises(RatingsError, match=":3: reviewer must be given, got nothing"):
        read(tmp_path, ["Anna,x,1", ",y,2"])


def test_pairs_are_refused_beside_codes(tmp_path: Path) -> None:
    text = "reviewer,item,score,pair\nAnna,x,1,p\nBo,y,2,p\n"
    with pytest.raises(OptionError, match="left out for pairs"):
        read_ratings(io.StringIO(text), anonymise=str(tmp_path / "key.csv"))


def test_names_that_look_alike_are_told_by_codes_alone(tmp_path: Path) -> None:
    (tmp_path / "key.csv").write_text("code,reviewer\nR02,Anna\nR01,anna\nR03,Bo\n")
    ratings = read(tmp_path, ["Anna,x,1", "anna,y,2", "Bo,x,2"])
    assert [notice.code for notice in ratings.notices] == [
        "coded_reviewers",
        "similar_reviewers",
    ]
    assert "'R01' and 'R02'" in ratings.notices[1].message
    assert "nna" not in ratings.notices[1].message


@pytest.mark.parametrize("method", ["flips", "uniform"])
def test_one_seed_gives_one_decision_with_any_key_or_none(
    tmp_path: Path, method: str
) -> None:
    rows = ["Anna,u,3", "Anna,v,2", "Bo,w,5", "Bo,x,4", "Cy,y,9", "Cy,z,1"]
    plain = read_ratings(io.StringIO("\n".join(["reviewer,item,score", *rows])))
    orders = [rank(plain, method=method, rng=7).order]
    for key in ("one", "one", "two"):
        folder = tmp_path / key
        folder.mkdir(exist_ok=True)
        ratings = read(folder, rows[:: -1 if len(orders) == 1 else 1])
        assert sorted(ratings.reviewer_labels) == ["R01", "R02", "R03"]
        orders.append(rank(ratings, method=method, rng=7).order)
    assert len(set(orders)) == 1
