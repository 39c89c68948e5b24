from __future__ import annotations

import datetime as dt
import enum
import math
import re
import unicodedata
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.columns import NUMBER, Source, code_labels, label_series, number_series
from evenhand.errors import RatingsError, quote
from evenhand.labels import alike
from evenhand.ratings import Ratings


class Colour(enum.StrEnum):
    RED = "red"


class OldColour(str, enum.Enum):  # noqa: UP042 - prints its name, unlike a StrEnum
    RED = "red"


def labels_of(values: object) -> tuple[str | int, ...]:
    return code_labels(label_series(values, "item", Source()))[0]


def label_error(values: object) -> str:
    with pytest.raises(RatingsError) as caught:
        label_series(values, "item", Source())
    return str(caught.value)


def numbers_of(values: object) -> list[float | None]:
    numbers, missing = number_series(values, "score", Source())
    pairs = zip(numbers.tolist(), missing.tolist(), strict=True)
    return [None if absent else number for number, absent in pairs]


def number_error(values: object) -> str:
    with pytest.raises(RatingsError) as caught:
        number_series(values, "score", Source())
    return str(caught.value)


def test_blanks_around_labels_are_told_of_where_they_merge() -> None:
    ratings = Ratings(["a", "b", "c ", "c"], ["x", "x ", " y", "x"], [1, 2, 3, 4])
    assert {notice.code: notice.message for notice in ratings.notices} == {
        "blanks_reviewers": "Blanks around labels do not count, so spellings of 1 "
        "reviewer were merged: 'c ' is 'c'.",
        "blanks_items": "Blanks around labels do not count, so spellings of 1 item "
        "were merged: 'x ' is 'x'.",
    }
    assert Ratings(["a ", "b "], ["x ", "x "], [1, 2]).notices == ()
    assert Ratings([1, 2], [7, 7], [1, 2]).notices == ()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["10", "9", "-3", "0"], (-3, 0, 9, 10)),
        ([10, 9, -3, 0], (-3, 0, 9, 10)),
        ([10, "9"], (9, 10)),
        (["10", "9", "007"], ("007", "10", "9")),
        (["10", "-0"], ("-0", "10")),
        (["10", "+9"], ("+9", "10")),
        (["10", "9.0"], ("10", "9.0")),
        (["10", "1e3"], ("10", "1e3")),
        (["10", "\u0663"], ("10", "\u0663")),
        (["10", "1_0"], ("10", "1_0")),
        (["10", "9 9"], ("10", "9 9")),
        ([10.0, 9.0], (9, 10)),
        ([10.0, "x"], ("10", "x")),
    ],
)
def test_only_canonical_integers_throughout_make_integers(
    values: list[object], expected: tuple[object, ...]
) -> None:
    labels = labels_of(values)
    assert labels == expected
    assert [type(label) for label in labels] == [type(label) for label in expected]


def test_integers_of_more_than_63_bits_are_text() -> None:
    edges = [2**63 - 1, -(2**63)]
    assert labels_of(edges) == labels_of(map(str, edges)) == tuple(sorted(edges))
    expected = tuple(sorted(map(str, [2**63, 5, 2**64 - 1])))
    assert labels_of([2**63, 5, 2**64 - 1]) == expected
    assert labels_of(pl.Series([2**63, 5, 2**64 - 1])) == expected
    assert labels_of(["7", "9" * 5000]) == ("7", "9" * 5000)
    text = "item must be text or an integer of at most 64 bits, got a very large int"
    assert label_error([7, 10**5000]) == f"{text} at index 1."


def test_text_is_sorted_by_code_point() -> None:
    ordered = ("B", "a", "é", "\uffff", "\U0001f600")
    assert labels_of(["\U0001f600", "é", "a", "\uffff", "B"]) == ordered


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_codes_lead_back_to_the_labels(values: list[str]) -> None:
    series = pl.Series(values, dtype=pl.String)
    labels, codes = code_labels(series)
    assert [str(labels[code]) for code in codes] == values
    assert list(labels) == sorted(set(labels), key=lambda label: label)


@given(st.lists(st.integers(-(2**62), 2**62) | st.integers(-3, 9), min_size=1))
def test_integers_are_coded_in_their_order(values: list[int]) -> None:
    labels, codes = code_labels(pl.Series(values, dtype=pl.Int64))
    assert labels == tuple(sorted(set(values)))
    assert [labels[code] for code in codes] == values


@given(st.lists(st.text("0123456789.eE+-_ infaNx,\t\u0663", max_size=6), min_size=1))
def test_polars_reads_as_numbers_what_we_call_numbers(values: list[str]) -> None:
    series = pl.Series([*values, "1e400", "-inf", "nan"], dtype=pl.String)
    numbers = series.cast(pl.Float64, strict=False)
    finite = numbers.is_finite().fill_null(value=False)
    ours = series.str.contains(NUMBER) & numbers.is_finite().fill_null(value=True)
    assert finite.to_list() == ours.to_list()


def test_white_space_around_a_label_is_not_part_of_it() -> None:
    assert labels_of([" x", "x\t", "\u00a0x\n", "x\u3000"]) == ("x",)
    assert labels_of([" 7", "7 "]) == (7,)


@pytest.mark.parametrize("nothing", [None, "", "  ", "\u00a0", math.nan])
def test_a_label_must_be_given(nothing: object) -> None:
    assert label_error(["x", nothing]) == "item must be given, got nothing at index 1."


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (1.5, "got 1.5"),
        (math.inf, "got inf"),
        (2.0**53, "got 9007199254740992.0"),
        (True, "got True"),
        (np.True_, "got np.True_"),
        (["x"], r"got ['x']"),
        (b"x", "got b'x'"),
        (Decimal(1), "got Decimal('1')"),
        (dt.date(2024, 1, 2), "got datetime.date(2024, 1, 2)"),
        (np.datetime64("2024-01-02"), "got np.datetime64('2024-01-02')"),
    ],
)
def test_a_label_must_be_text_or_an_integer(value: object, words: str) -> None:
    text = f"item must be text or an integer, {words} at index 1."
    assert label_error(["x", value]) == text


@pytest.mark.parametrize(
    "series",
    [
        pl.Series([None, dt.date(2024, 1, 2)]),
        pl.Series([None, Decimal("1.5")]),
        pl.Series([None, b"x"]),
        pl.Series([None, {"a": 1}]),
        pl.Series([None, 1.5]),
        pl.Series([0.0, 2.0**53]),
    ],
)
def test_a_typed_column_of_something_else_is_refused_at_its_first_value(
    series: pl.Series,
) -> None:
    assert "item must be text or an integer, got " in label_error(series)
    assert label_error(series).endswith(" at index 1.")


@pytest.mark.parametrize(
    "column",
    [
        pl.Series(["b", "a"], dtype=pl.Enum(["b", "a"])),
        pl.Series(["b", "a"], dtype=pl.Categorical),
        pl.Series(["b", "a"], dtype=pl.Object),
        pd.Series(["b", "a"]),
        pd.Series(["b", "a"], dtype=object),
        pd.Series(["b", "a"], dtype="string"),
        pd.Series(["b", "a"], dtype="category"),
        pd.Index(["b", "a"]),
        pa.chunked_array([["b"], ["a"]]),
        pa.chunked_array([pa.array(["b", "a"]).dictionary_encode()]),
        np.array(["b", "a"]),
        np.array(["b", "a"], dtype=object),
        ("b", "a"),
        (name for name in "ba"),
        [np.str_("b"), "a"],
    ],
)
def test_text_is_the_same_from_every_container(column: object) -> None:
    assert labels_of(column) == ("a", "b")


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([2, 1], dtype=pl.Int8),
        pl.Series([2, 1], dtype=pl.UInt64),
        pl.Series([2, 1], dtype=pl.Int128),
        pl.Series([2.0, 1.0], dtype=pl.Float32),
        pl.Series(["2", "1"], dtype=pl.Categorical),
        pd.Series([2, 1]),
        pd.Series([2, 1], dtype="Int64"),
        pd.Series([2, 1], dtype="category"),
        pd.Series([2, 1], dtype=object),
        pd.Series([2.0, 1.0]),
        pa.chunked_array([pa.array([2, 1]).dictionary_encode()]),
        np.array([2, 1], dtype=">i4"),
        np.array([2, 1], dtype=np.uint64),
        np.array([2, 1], dtype=np.float16),
        np.array([2, 1], dtype=np.longdouble),
        range(2, 0, -1),
        [np.int16(2), np.float32(1)],
    ],
)
def test_integers_are_the_same_from_every_container(column: object) -> None:
    assert labels_of(column) == (1, 2)


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([1, None]),
        pl.Series([1.0, math.nan]),
        pl.Series([None, None]),
        pd.Series([1, None], dtype="Int64"),
        pd.Series(["x", np.nan], dtype=object),
        pd.Series(["x", np.float32("nan")], dtype=object),
        pd.Series([1, pd.NA], dtype=object),
        pd.Series(["x", pd.NaT], dtype=object),
        pa.chunked_array([["x", None]]),
        np.ma.array([1, 2], mask=[False, True]),
        np.array([1, np.nan]),
    ],
)
def test_no_container_hides_a_missing_label(column: object) -> None:
    assert "item must be given, got nothing" in label_error(column)


@pytest.mark.parametrize(
    "values",
    [5, None, "abc", b"abc", {"a": 1}, {"a", "b"}, np.array(5), pl.DataFrame()],
)
def test_what_has_no_order_or_no_length_is_no_column(values: object) -> None:
    assert label_error(values).startswith("items must be a sequence, got ")


def test_rows_of_a_matrix_are_no_labels() -> None:
    assert "got ['a']" in label_error(np.array([["a"], ["b"]]))


def test_members_of_a_text_enum_are_their_values() -> None:
    assert labels_of([OldColour.RED, Colour.RED]) == ("red",)


def test_half_a_surrogate_pair_is_refused_with_its_place() -> None:
    text = r"item must be valid Unicode text, got '\ud800' at index 1."
    assert label_error(["x", "\ud800"]) == text
    assert label_error([7, "\ud800"]) == text
    assert label_error(pd.Series(["x", "\ud800"], dtype=object)) == text


ALIKE = "aAbB ß\t01.+'=\u200b"


@given(st.lists(st.text(ALIKE, max_size=4), max_size=8, unique=True))
def test_labels_look_alike_by_case_coding_space_and_zeros(labels: list[str]) -> None:
    first: dict[str, str] = {}
    pairs = []
    for label in labels:
        plain = unicodedata.normalize("NFKC", label).casefold().replace("\u200b", "")
        key = " ".join(plain.split())
        key = key.lstrip("'") if key.lstrip("'")[:1] in ("=", "+") else key
        if re.fullmatch(r"\+?[01]+(\.0*)?", key):
            key = str(int(float(key)))
        if first.setdefault(key, label) != label:
            pairs.append((first[key], label))
    assert alike(labels) == pairs


def test_labels_that_look_alike_are_found() -> None:
    composed, split = "Jos\u00e9", "Jose\u0301"
    assert alike(["ANNA", "Anna", "Bo", "anna"]) == [("ANNA", "Anna"), ("ANNA", "anna")]
    assert alike([split, composed]) == [(split, composed)]
    assert alike(["a  b", "a b"]) == [("a  b", "a b")]
    assert alike(["a b", "ab", "a1", "a2"]) == []
    assert alike([1, 2]) == []
    assert alike(["a", "a ", "b"]) == [("a", "a ")]
    assert alike(["01", "1", "1.0", "10", "2"]) == [("01", "1"), ("01", "1.0")]
    assert alike(["P01", "P1", "0.5", ".5", "0", "00x", "0x"]) == []
    assert alike(["=q", "'=q", "''=q", "'q"]) == [("=q", "'=q"), ("=q", "''=q")]


@pytest.mark.parametrize("code", [0x200B, 0x200D, 0xFEFF, 0xAD, 0xFE0F, 0x3164, 0x34F])
def test_a_character_that_nobody_sees_makes_labels_look_alike(code: int) -> None:
    hidden = f"x{chr(code)}"
    assert alike(["x", "y", hidden]) == [("x", hidden)]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7.0),
        (" 7 ", 7.0),
        ("5\u00a0", 5.0),
        ("-0.0", 0.0),
        ("+.5", 0.5),
        ("5.", 5.0),
        ("1e3", 1000.0),
        ("1E-3", 0.001),
        ("007", 7.0),
        ("0.1", 0.1),
    ],
)
def test_numbers_are_read_from_text(text: str, number: float) -> None:
    assert numbers_of([text]) == [number]
    assert math.copysign(1, numbers_of([text])[0] or 0) == 1


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_the_same_from_text_and_from_every_type(number: float) -> None:
    frame = pl.DataFrame({"score": [number]})
    sources = [
        [number],
        [repr(number)],
        [repr(number), number],
        [Fraction(number)],
        [Decimal(number)],
        np.array([number]),
        np.array([number], dtype=">f8"),
        frame["score"],
        pd.Series([number]),
        pa.chunked_array([[number]]),
        [f"{Decimal(number):f}"],
    ]
    assert {repr(numbers_of(source)[0]) for source in sources} == {repr(number + 0.0)}


def test_a_decimal_is_rounded_once() -> None:
    digits = "9007199254740993.0000000001"
    series = pl.Series([Decimal(digits)])
    assert series.dtype.is_decimal()
    assert numbers_of(series) == [float(digits)]


@pytest.mark.parametrize(
    "column",
    [
        [7, None],
        ["7", None],
        ["7", " "],
        pl.Series(["7", ""]),
        pl.Series([7, None]),
        pl.Series(["7", None], dtype=pl.Categorical),
        pd.Series([7, np.nan]),
        pd.Series([7, None], dtype="Int64"),
        pd.Series(["7", np.nan], dtype=object),
        pd.Series([7, pd.NA], dtype=object),
        pa.chunked_array([[7.0, None]]),
        np.ma.array([7, 8], mask=[False, True]),
    ],
)
def test_an_empty_cell_is_a_missing_number(column: object) -> None:
    assert numbers_of(column) == [7.0, None]


def test_a_column_of_nothing_is_all_missing() -> None:
    assert numbers_of([None, None]) == [None, None]
    assert numbers_of(pl.Series([None, None])) == [None, None]
    assert numbers_of([]) == []


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("seven", ""),
        ("7/10", ""),
        ("\u0663", ""),
        ("1_000", ""),
        ("0x10", ""),
        ("inf", ""),
        ("--1", ""),
        ("1e", ""),
        (".", ""),
        ("7 8", ""),
        ("7,5", " Write decimals with a point, and thousands without a comma."),
        ("1,234", " Write decimals with a point, and thousands without a comma."),
        ("1,234,567.8", " Write decimals with a point, and thousands without a comma."),
        ("#N/A", ""),
    ],
)
def test_text_that_is_no_number_is_refused(text: str, hint: str) -> None:
    message = f"score must be a number, got {text!r} at index 1.{hint}"
    assert number_error(["7", text]) == message
    assert number_error([7, text]) == message


@pytest.mark.parametrize("word", ["NaN", "n/a", " - ", "x", "None"])
def test_a_word_for_no_score_is_missing(word: str) -> None:
    for values in ["7", word], [7, word]:
        numbers, missing = number_series(values, "score", Source())
        assert (numbers[0], missing.tolist()) == (7, [False, True])


@pytest.mark.parametrize(
    "value", [True, np.False_, [7], b"7", 1j, dt.date(2024, 1, 2), object]
)
def test_what_is_no_number_is_refused(value: object) -> None:
    text = number_error([7, value])
    assert text.startswith("score must be a number, got ")
    assert text.endswith(" at index 1.")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (-math.inf, "-inf"),
        (np.float32("inf"), "np.float32(inf)"),
        ("1e999", "'1e999'"),
        (10**400, "1000"),
        (Fraction(10**400), "Fraction(1000"),
        (Decimal("sNaN"), "Decimal('sNaN')"),
        (Decimal("1e999"), "Decimal('1E+999')"),
    ],
)
def test_a_number_must_be_finite(value: object, words: str) -> None:
    text = number_error([7, value])
    assert text.startswith(f"score must be finite, got {words}")
    assert text.endswith(" at index 1.")


def test_a_number_too_large_to_print_is_refused() -> None:
    text = "score must be finite, got a very large int at index 1."
    assert number_error([7, 10**5000]) == text


@pytest.mark.parametrize("column", [np.array([1, np.inf]), pl.Series([1.0, math.inf])])
def test_arrays_must_be_finite_too(column: object) -> None:
    assert "score must be finite, got " in number_error(column)


@pytest.mark.parametrize(
    "series",
    [
        pl.Series([None, dt.date(2024, 1, 2)]),
        pl.Series([None, dt.timedelta(1)]),
        pl.Series([None, [7]]),
        pd.Series([None, 1j], dtype=object),
    ],
)
def test_a_typed_column_without_numbers_is_refused_at_its_first_value(
    series: object,
) -> None:
    text = number_error(series)
    assert text.startswith("score must be a number, got ")
    assert text.endswith(" at index 1.")


def test_places_are_lines_in_a_text_rows_in_a_sheet_and_indices_in_memory() -> None:
    def line(row: int) -> int:
        return row + 2

    assert str(Source().at(3, "bad")) == "bad at index 3."
    assert str(Source("a.csv", line).at(3, "bad")) == "a.csv:5: bad."
    assert str(Source("a.xlsx", line, "row").at(3, "bad")) == "a.xlsx: row 5: bad."
    assert Source().place(3) == "index 3"
    assert Source("a.csv", line).place(3) == "line 5"
    assert Source("a.xlsx", line, "row").place(3) == "row 5"
    assert str(Source().whole("Bad.")) == "Bad."
    assert str(Source("a.csv").whole("Bad.")) == "a.csv: Bad."


def test_values_are_shown_on_one_short_line() -> None:
    assert quote("a\nb") == "'a\\nb'"
    assert quote("a  b") == "'a  b'"
    assert quote("x" * 78) == repr("x" * 78)
    assert len(quote("x" * 79)) == 80
    assert "\n" not in quote(np.zeros((3, 3)))
    deep: list[object] = []
    for _ in range(10_000):
        deep = [deep]
    assert quote(deep) == "a very large list"


@pytest.mark.parametrize("values", [[2**53, 2**53 + 1], ["9", "9007199254740993"]])
def test_integers_that_a_double_would_change_are_refused(values: object) -> None:
    with pytest.raises(RatingsError, match=r"score must fit 53 bits exactly, got '?90"):
        number_series(values, "score", Source())


def test_large_integers_that_a_double_keeps_are_taken() -> None:
    numbers, _ = number_series([2**60, "00" + "1" + "0" * 22], "score", Source())
    assert numbers.tolist() == [2.0**60, 1e22]
