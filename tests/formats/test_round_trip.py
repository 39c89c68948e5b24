"""The same rows give the same ratings, whatever they came through."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any
from unittest import mock

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.formats import tables
from evenhand.formats.reading import read_ratings
from evenhand.ratings import Ratings
from examples.exports_teaching import HERE
from tests.formats.reader import decoded_here

if TYPE_CHECKING:
    from collections.abc import Callable

Row = tuple[str | int, str | int, float]
NAMES = ["reviewer", "item", "score"]


def delimited(rows: list[Row], separator: str, end: str) -> bytes:
    file = io.StringIO()
    writer = csv.writer(file, delimiter=separator, lineterminator=end)
    writer.writerows([NAMES, *((r, i, repr(s)) for r, i, s in rows)])
    return file.getvalue().encode()


def frame(rows: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(dict(zip(NAMES, zip(*rows, strict=True), strict=True)))


def as_csv(rows: list[Row]) -> Ratings:
    return read_ratings(io.BytesIO(delimited(rows, ",", "\r\n")))


def as_polars_csv(rows: list[Row]) -> Ratings:
    return read_ratings(io.StringIO(frame(rows).write_csv(separator=";")))


def as_tsv(rows: list[Row]) -> Ratings:
    return read_ratings(io.BytesIO(delimited(rows, "\t", "\n")))


def as_json(rows: list[Row]) -> Ratings:
    lines = [json.dumps(dict(zip(NAMES, row, strict=True))) for row in rows]
    return read_ratings(io.StringIO("\n".join(lines)))


def as_parquet(rows: list[Row]) -> Ratings:
    file = io.BytesIO()
    frame(rows).write_parquet(file)
    file.seek(0)
    return read_ratings(file)


def as_excel(rows: list[Row]) -> Ratings:
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file)
    sheet = book.add_worksheet()
    for number, row in enumerate([tuple(NAMES), *rows]):
        for column, value in enumerate(row):
            if isinstance(value, str):
                sheet.write_string(number, column, value)
            else:
                sheet.write_number(number, column, value)
    book.close()
    file.seek(0)
    return read_ratings(file)


def as_sequences(rows: list[Row]) -> Ratings:
    reviewers, items, scores = zip(*rows, strict=True)
    return Ratings(reviewers, items, scores)


def as_polars(rows: list[Row]) -> Ratings:
    return Ratings.from_frame(frame(rows))


def as_pandas(rows: list[Row]) -> Ratings:
    return Ratings.from_frame(pd.DataFrame(rows, columns=NAMES))


def as_pyarrow(rows: list[Row]) -> Ratings:
    columns = dict(zip(NAMES, zip(*rows, strict=True), strict=True))
    return Ratings.from_frame(pa.table({n: list(v) for n, v in columns.items()}))


WAYS: list[Callable[[list[Row]], Ratings]] = [
    as_csv,
    as_polars_csv,
    as_tsv,
    as_json,
    as_parquet,
    as_excel,
    as_sequences,
    as_polars,
    as_pandas,
    as_pyarrow,
]


def state(ratings: Ratings) -> tuple[object, ...]:
    return (
        ratings.sha256,
        ratings.reviewer_labels,
        ratings.item_labels,
        ratings.reviewer_codes.tolist(),
        ratings.item_codes.tolist(),
        ratings.scores.tolist(),
        ratings.notices,
    )


# Files take an apostrophe before a formula for one that keeps it from running.
texts = st.text("aAé漢😀1 ,;\t\"'\n=+-@#.\u00a0\u2028", min_size=1, max_size=6).filter(
    lambda text: text.strip("\t\n \u00a0\u2028")[:1] not in ("", "'")
)
zeros = st.sampled_from(["007", "7", "0", "-0", "00", "10", "-7"])
numbers = st.integers(-(10**6), 10**6) | st.integers(-(2**52), 2**52)
big = (st.integers(10**15, 10**40) | st.integers(-(10**40), -(10**15))).map(str)
label_columns: list[st.SearchStrategy[Any]] = [
    texts,
    zeros,
    numbers,
    numbers.map(str),
    big | numbers.map(str),
]
# A workbook keeps 16 digits of a number; these scores need no more.
scores = st.integers(-(10**6), 10**6).map(lambda number: number / 64)


@st.composite
def tables_of_rows(draw: st.DrawFn) -> list[Row]:
    reviewers = draw(st.sampled_from(label_columns))
    items = draw(st.sampled_from(label_columns))
    return draw(
        st.lists(
            st.tuples(reviewers, items, scores),
            min_size=1,
            max_size=6,
            unique_by=lambda row: (str(row[0]).strip(), str(row[1]).strip()),
        )
    )


@settings(max_examples=12)
@given(tables_of_rows(), st.randoms(use_true_random=False))
def test_every_way_in_gives_the_same_ratings(rows: list[Row], chance: Any) -> None:  # noqa: ANN401 - hypothesis's own
    with mock.patch.object(tables, "_decode", decoded_here):
        states = {}
        for way in WAYS:
            chance.shuffle(rows)
            states[way.__name__] = state(way(rows))
    expected = states["as_sequences"]
    assert states == dict.fromkeys(states, expected)


@settings(max_examples=15)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_every_finite_float_comes_through_unchanged(values: list[float]) -> None:
    rows: list[Row] = [("a", number, value) for number, value in enumerate(values)]
    expected = [value + 0.0 for value in values]
    with mock.patch.object(tables, "_decode", decoded_here):
        for way in (as_csv, as_tsv, as_json, as_parquet, as_polars_csv):
            assert way(rows).scores.tolist() == expected


@pytest.mark.parametrize("way", [as_parquet, as_excel])
def test_a_process_of_its_own_decodes_the_same(
    way: Callable[[list[Row]], Ratings],
) -> None:
    rows: list[Row] = [("é,\n", 2**40, 1 / 3), ("007", -5, 1e22), ("x", 3, -0.0)]
    assert state(way(rows)) == state(as_sequences(rows))


@pytest.mark.parametrize("score", [1 / 3, 2 / 3 * 1e-12, 123456789.123, 5e-324, 1e300])
def test_a_number_in_a_sheet_keeps_all_its_digits(score: float) -> None:
    written = float(f"{score:.16G}")
    with mock.patch.object(tables, "_decode", decoded_here):
        assert as_excel([("a", "x", score)]).scores.tolist() == [written]


@pytest.mark.parametrize(
    ("file", "options"),
    [
        ("openreview-v2.json", {"score": "rating", "weight": "confidence"}),
        ("hotcrp-scores.csv", {"score": "OveMer", "weight": "RevExp"}),
        ("cmt.csv", {"score": "Overall Rating", "weight": "Confidence"}),
        (
            "easychair-review.csv",
            {"score": "Overall evaluation", "weight": "Reviewer's confidence"},
        ),
        ("moodle-assessments.csv", {"weight": "weight"}),
    ],
)
def test_platforms_deliver_weights(file: str, options: dict[str, Any]) -> None:
    weighted = read_ratings(HERE / file, **options)
    plain = read_ratings(HERE / file, **{**options, "weight": None})
    assert weighted.weights is not None
    assert len(weighted.weights) == weighted.n_ratings
    assert {*weighted.weights.tolist()} <= {1.0, 2.0, 3.0, 4.0, 5.0}
    assert weighted.scores.tolist() == plain.scores.tolist()
    assert plain.weights is None
