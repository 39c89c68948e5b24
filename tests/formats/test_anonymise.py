"""Codes replace names, the key leads back, and nothing else does."""

from __future__ import annotations

import stat
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand._outputs import write_all
from evenhand.errors import OptionError, RatingsError
from evenhand.formats.anonymise import Key, open_key, recode
from evenhand.ranking.ranking import rank
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


def kept(path: Path, reviewers: list[object]) -> Key:
    """Draw a key and write it."""
    key = open_key(str(path), reviewers)
    write_all([key.output()])
    return key


def test_every_reviewer_has_a_code_of_their_own(tmp_path: Path) -> None:
    key = open_key(str(tmp_path / "key.csv"), [*NAMES, "Anna", " Anna "])
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


@settings(max_examples=200)
@given(
    st.lists(
        labels.filter(stripped) | st.integers(-(2**70), 2**70), min_size=1, max_size=8
    )
)
def test_any_name_survives_the_key(names: list[str | int]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "key"
        drawn = kept(path, [*names])
        read = open_key(str(path), names)
    assert read.codes == drawn.codes
    coded = recode(names, read)
    people = {stripped(str(name)) for name in names}
    assert [drawn.codes[stripped(str(name))] for name in names] == coded
    assert len(set(coded)) == len(people)


def test_integers_and_their_text_are_one_reviewer(tmp_path: Path) -> None:
    path = tmp_path / "key.csv"
    drawn = kept(path, [7, 2**70, 12])
    assert recode(["7", str(2**70), "12"], drawn) == recode([7, 2**70, 12], drawn)
    columns = pl.Series([7, 12], dtype=pl.Float64), pl.Series(["7", " 12"])
    read = open_key(str(path), columns[0])
    assert recode(columns[0], read) == recode(columns[1], read)


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
    key = open_key(str(tmp_path / "key.csv"), range(1, 1001))
    assert min(key.codes.values()) == "R0001"
    assert max(key.codes.values()) == "R1000"


def test_strangers_are_counted_and_not_named(tmp_path: Path) -> None:
    path = tmp_path / "key.csv"
    kept(path, ["Anna", "Bo"])
    with pytest.raises(RatingsError, match="2 reviewers are not in the key") as caught:
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
        ("code,reviewer\nR01,Anna\nR01,Bo\n", r":3: code must be in the key once"),
        (
            "code,reviewer\nR01,Anna\nR02,Anna\n",
            r":3: reviewer must be in the key once",
        ),
        ("code,reviewer\nAnna,R01\n", r":2: code must be R and two digits or more"),
        ("code,reviewer\nR01,R02\nR02,Bo\n", r":3: code must not be a reviewer's name"),
        ("code,reviewer\n,Anna\n", r":2: code must be given, got nothing"),
        ("code,reviewer\nR01,\n", r":2: reviewer must be given, got nothing"),
        ("code,reviewer\nR01,Anna,Bo\n", r":2: row must have 2 fields"),
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


def test_a_key_needs_a_file_and_somebody_to_hide(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="path of a key file, got '-'"):
        open_key("-", ["Anna"])
    with pytest.raises(OptionError, match="reviewers to give codes to, got none"):
        open_key(str(tmp_path / "key.csv"), [None, "", "  "])
    with pytest.raises(RatingsError, match="This is a folder"):
        open_key(str(tmp_path), ["Anna"])
    with pytest.raises(RatingsError, match="without NUL"):
        open_key(str(tmp_path / "key.csv"), ["An\0na"])


def test_what_cannot_be_a_label_stays_for_the_usual_error(tmp_path: Path) -> None:
    values = ["Anna", None, "", " ", 1.5, True, "\ud800", float("nan")]
    key = open_key(str(tmp_path / "key.csv"), values)
    assert sorted(key.codes) == ["Anna"]
    coded = recode(values, key)
    assert coded[0] == "R01"
    assert all(one is two for one, two in zip(coded[1:], values[1:], strict=True))
    with pytest.raises(RatingsError, match="reviewer must be given"):
        Ratings(recode(["Anna", ""], key), ["x", "y"], [1, 2])  # type: ignore[arg-type]  # the usual error is the point


def test_names_that_look_alike_are_told_by_codes_alone() -> None:
    key = Key(
        {"Anna": "R02", "anna": "R01", "Bo": "R03", "bo": "R04"}, "k", is_new=True
    )
    (notice,) = key.notices(["Anna", "anna", "Bo"])
    assert notice.code == "similar_reviewers"
    assert "'R01' and 'R02'" in notice.message
    assert "R03" not in notice.message
    assert "nna" not in notice.message
    assert key.notices(["Anna", "Bo"]) == ()


def test_one_key_gives_the_same_result_twice(tmp_path: Path) -> None:
    path = tmp_path / "key.csv"
    names = ["Anna", "Anna", "Bo", "Bo", "Cy", "Cy"]
    items = ["u", "v", "w", "x", "y", "z"]
    scores = [3, 2, 5, 4, 9, 1]
    results = []
    for order in (range(6), reversed(range(6))):
        rows = list(order)
        key = open_key(str(path), [names[row] for row in rows])
        if key.is_new:
            write_all([key.output()])
        coded = recode([names[row] for row in rows], key)
        ratings = Ratings(
            [str(code) for code in coded],
            [items[row] for row in rows],
            [scores[row] for row in rows],
        )
        assert not {"Anna", "Bo", "Cy"} & set(ratings.reviewer_labels)
        results.append(rank(ratings, method="flips", rng=7).to_dict())
    assert results[0] == results[1]
