from __future__ import annotations

import copy
import datetime as dt
import enum
import hashlib
import json
import math
import pickle
import struct
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.columns import Columns, Source
from evenhand.errors import EvenhandError, RatingsError
from evenhand.ratings import Ratings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROWS: dict[str, Any] = {
    "reviewer": ["bo", "anna", "bo", "cy"],
    "item": [10, 9, 9, 10],
    "score": [3.5, 8.0, -1.0, 0.0],
}


class Grade(str, enum.Enum):  # noqa: UP042 - prints its name, unlike a StrEnum
    GOOD = "good"


def refused(*columns: Any, **options: Any) -> str:  # noqa: ANN401 - whatever is given
    with pytest.raises(RatingsError) as caught:
        Ratings(*columns, **options)
    return str(caught.value)


def state(ratings: Ratings) -> tuple[object, ...]:
    pairs = ratings.pair_codes
    return (
        ratings.kind,
        ratings.reviewer_labels,
        ratings.item_labels,
        ratings.reviewer_codes.tolist(),
        ratings.item_codes.tolist(),
        ratings.preference.tolist(),
        ratings.pair_labels,
        None if pairs is None else pairs.tolist(),
        ratings.notices,
        ratings.sha256,
    )


def test_comparisons_of_one_person_are_numbered_alike_from_text_and_integers() -> None:
    winners, losers = [10, 9, 2, 10], [9, 2, 1, 1]
    people = ["a"] * 4
    whole = Ratings.from_comparisons(winners, losers, reviewers=people)
    text = Ratings.from_comparisons(
        [str(one) for one in winners], [str(one) for one in losers], reviewers=people
    )
    assert text.sha256 == whole.sha256
    assert whole.reviewer_labels == ("a#1", "a#2", "a#3", "a#4")


def test_rows_are_sorted_by_reviewer_and_item_whatever_their_order() -> None:
    ratings = Ratings(**{f"{name}s": values for name, values in ROWS.items()})
    assert ratings.reviewer_labels == ("anna", "bo", "cy")
    assert ratings.item_labels == (9, 10)
    assert ratings.reviewer_codes.tolist() == [0, 1, 1, 2]
    assert ratings.item_codes.tolist() == [0, 0, 1, 1]
    assert ratings.scores.tolist() == [8.0, -1.0, 3.5, 0.0]
    assert (ratings.n_reviewers, ratings.n_items, ratings.n_ratings) == (3, 2, 4)


def test_the_hash_is_that_of_the_sorted_ratings() -> None:
    # Records keep this hash, so the bytes that are hashed may not change.
    ratings = Ratings(["é", "a"], [2, 1], [-3, 0.5])
    head = (
        '{"schema": "evenhand.ratings/1", "kind": "scores", '
        '"reviewers": ["a", "\\u00e9"], "items": [1, 2], "pairs": []}'
    )
    body = struct.pack("<4q2d", 0, 1, 0, 1, 0.5, -3.0)
    assert ratings.sha256 == hashlib.sha256(head.encode() + body).hexdigest()


@settings(max_examples=40)
@given(st.permutations(range(6)))
def test_row_order_changes_nothing(order: list[int]) -> None:
    reviewers = ["b", "a", "c", "a", "b", "c"]
    items = ["y", "x", "x", "y", "x", "z"]
    scores = [1, 2, 3, 4, 5, None]
    pairs = [1, 2, 1, 2, 1, 1]

    def frame(rows: Sequence[int]) -> pl.DataFrame:
        columns = {"reviewer": reviewers, "item": items, "score": scores, "pair": pairs}
        return pl.DataFrame(columns)[list(rows)]

    shuffled = Ratings.from_frame(frame(order))
    assert state(shuffled) == state(Ratings.from_frame(frame(range(6))))
    assert (
        shuffled.notices[0].message
        == "1 row without a score was left out: item z by c."
    )


@settings(max_examples=40)
@given(st.permutations(range(5)))
def test_row_order_changes_nothing_in_comparisons(order: list[int]) -> None:
    winners, losers = ["x", "y", "x", "z", "x"], ["y", "x", "y", "x", "z"]
    people = ["a", "a", "b", "b", "a"]

    def take(rows: Sequence[int]) -> Ratings:
        return Ratings.from_comparisons(
            [winners[row] for row in rows],
            [losers[row] for row in rows],
            reviewers=[people[row] for row in rows],
        )

    assert state(take(order)) == state(take(range(5)))


@pytest.mark.parametrize(
    "changed",
    [
        Ratings(["a", "b"], ["x", "y"], [1, 2]),
        Ratings(["a", "a"], ["x", "y"], [1, 3]),
        Ratings(["a", "a"], ["x", "z"], [1, 2]),
        Ratings(["a", "a"], ["x", "y"], [1, 2], pairs=[1, 1]),
        Ratings(["a", "a"], ["x", "y"], [1, 2], all_items=["w", "x", "y"]),
        Ratings.from_ranks(["a", "a"], ["x", "y"], [-1, -2]),
    ],
)
def test_the_hash_tells_different_ratings_apart(changed: Ratings) -> None:
    assert changed.sha256 != Ratings(["a", "a"], ["x", "y"], [1, 2]).sha256


def test_negative_zero_is_zero() -> None:
    signed = Ratings(["a", "a"], ["x", "y"], [-0.0, 1])
    assert signed.sha256 == Ratings(["a", "a"], ["x", "y"], [0, 1]).sha256
    ranked = Ratings.from_ranks(["a"], ["x"], [0])
    assert math.copysign(1, ranked.preference[0]) == 1


def test_a_second_rating_of_an_item_is_refused_with_both_places() -> None:
    assert refused(["a", "b", "a "], ["x", "x", "x"], [1, 2, 3]) == (
        "reviewer 'a' rated item 'x' twice (first: index 0) at index 2."
    )


def test_the_places_of_a_second_rating_count_rows_without_a_score() -> None:
    columns: dict[str, object] = {
        "reviewer": ["a", "b", "a", "a"],
        "item": ["y", "x", "x", "x"],
        "score": [None, None, 1, 2],
    }
    with pytest.raises(RatingsError) as caught:
        Ratings.from_columns(columns, Columns(), Source("a.csv", lambda row: row + 2))
    assert str(caught.value) == (
        "a.csv:5: reviewer 'a' rated item 'x' twice (first: line 4). Say which count "
        "with repeats= or --repeats last, mean or all."
    )


def test_columns_must_be_of_one_length() -> None:
    assert refused(["a"], ["x", "y"], [1, 2]) == (
        "Columns must be of one length, got 1 of reviewer, 2 of item, 2 of score."
    )
    assert "1 of pair" in refused(["a", "b"], ["x", "y"], [1, 2], pairs=[1])
    with pytest.raises(RatingsError, match="2 of winner, 1 of loser"):
        Ratings.from_comparisons(["x", "y"], ["z"])


def test_there_must_be_a_rating() -> None:
    text = "There is no rating. Give at least one row with a score."
    assert refused([], [], []) == text
    with pytest.raises(RatingsError, match="There is no rating"):
        Ratings.from_frame(
            pl.DataFrame({"reviewer": [1], "item": [1], "score": [None]})
        )
    with pytest.raises(RatingsError, match="There is no rating"):
        Ratings.from_comparisons([], [])


def test_a_missing_score_in_a_frame_is_left_out_and_said() -> None:
    frame = pl.DataFrame(
        {
            "reviewer": ["a"] * 8,
            "item": [str(n) for n in range(1, 8)] + ["10"],
            "score": [None] * 7 + [1],
        }
    )
    first, second = Ratings.from_frame(frame, all_items=[10, "7"]).notices
    assert first.code == "missing_scores"
    assert first.message == (
        "7 rows without a score were left out: "
        "item 1 by a, item 2 by a, item 3 by a, item 4 by a, item 5 by a and 2 more."
    )
    assert second.code == "unrated_items"
    assert second.message == (
        "Items without any score are not in the result: 1, 2, 3, 4, 5, 6."
    )


def test_a_missing_rank_is_left_out_and_said() -> None:
    frame = pl.DataFrame({"judge": ["a", "a"], "entry": ["x", "y"], "rank": [1, None]})
    ratings = Ratings.from_frame(frame)
    assert [notice.code for notice in ratings.notices] == [
        "missing_ranks",
        "unrated_items",
    ]
    assert repr(ratings) == "Ratings(1 rank by 1 reviewer of 1 item)"


def test_items_without_a_rating_can_be_named() -> None:
    ratings = Ratings(["a"], [9], [1], all_items=["10", "9", "8"])
    assert ratings.item_labels == (8, 9, 10)
    assert ratings.item_codes.tolist() == [1]
    assert ratings.by_item()[0].tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("wrong", ["abc", 5, {"a": 1}])
def test_all_items_must_be_a_sequence(wrong: object) -> None:
    text = refused(["a"], ["b"], [1], all_items=wrong)
    assert text.startswith("items must be a sequence, got ")


def test_a_rank_is_never_a_score() -> None:
    ranks = Ratings.from_ranks(["a", "a"], ["x", "y"], [1, 2])
    assert ranks.preference.tolist() == [-1.0, -2.0]
    with pytest.raises(RatingsError, match="a rank is never used as a score"):
        _ = ranks.scores


def test_every_comparison_is_a_reviewer_of_its_own() -> None:
    ratings = Ratings.from_comparisons(
        ["x", "y", "x"], ["y", "x", "y"], reviewers=["a", "a", "b"]
    )
    assert ratings.reviewer_labels == ("a#1", "a#2", "b#1")
    assert repr(ratings) == "Ratings(3 comparisons of 2 items)"
    assert ratings.rows()[:2] == [
        {"reviewer": "a#1", "item": "x", "preference": 1.0},
        {"reviewer": "a#1", "item": "y", "preference": 0.0},
    ]
    assert Ratings.from_comparisons(["x", "x"], ["y", "y"]).reviewer_labels == (1, 2)


def test_an_item_is_not_compared_with_itself() -> None:
    with pytest.raises(RatingsError, match=r"must differ, got '7' twice at index 1\."):
        Ratings.from_comparisons(["x", "7"], ["y", "7 "])
    with pytest.raises(RatingsError, match=r"must differ, got 7 twice at index 0\."):
        Ratings.from_comparisons([7], ["7"])


def test_an_item_is_found_by_its_label_or_its_text() -> None:
    ratings = Ratings(["a", "a"], [9, 10], [1, 2])
    assert ratings.item_code(10) == ratings.item_code("10") == 1
    with pytest.raises(RatingsError, match=r"unknown item '11'.*Known items: 9, 10\."):
        ratings.item_code("11")
    for odd in ([10], ([10],)):
        with pytest.raises(RatingsError, match=r"unknown item .*\[10\]"):
            ratings.item_code(odd)  # type: ignore[arg-type]  # no label at all


def test_arrays_cannot_be_changed() -> None:
    ratings = Ratings(["a"], ["x"], [1], pairs=[1])
    for array in (
        ratings.reviewer_codes,
        ratings.item_codes,
        ratings.preference,
        ratings.pair_codes,
    ):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5


def test_a_given_array_is_not_touched() -> None:
    scores = np.array([2.0, 1.0])
    Ratings(["b", "a"], ["x", "x"], scores)
    assert scores.tolist() == [2.0, 1.0]
    scores[0] = 7


def test_a_frame_of_the_ratings_gives_the_same_ratings() -> None:
    big = 10**18
    ratings = Ratings([1, 2, 2], [big, 7, big], [0.1, 0.2, 0.3])
    frame = ratings.to_frame()
    assert frame.columns == ["reviewer", "item", "score"]
    assert state(Ratings.from_frame(frame)) == state(ratings)
    assert ratings.rows()[0] == {"reviewer": 1, "item": big, "score": 0.1}


def test_the_summary_is_plain_data() -> None:
    ratings = Ratings(["a"], ["x"], [1])
    summary = json.loads(json.dumps(ratings.summary()))
    assert summary == {
        "reviewers": 1,
        "items": 1,
        "ratings": 1,
        "sha256": ratings.sha256,
    }


FRAMES: dict[str, object] = {
    "pandas": pd.DataFrame(ROWS),
    "pandas-object": pd.DataFrame(ROWS).astype(object),
    "pandas-category": pd.DataFrame(ROWS).astype(
        {"reviewer": "category", "item": "category"}
    ),
    "pandas-nullable": pd.DataFrame(ROWS).convert_dtypes(),
    "pandas-arrow": pd.DataFrame(ROWS).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame(ROWS),
    "polars-lazy": pl.LazyFrame(ROWS),
    "polars-enum": pl.DataFrame(ROWS).cast(
        {"reviewer": pl.Enum(["cy", "bo", "anna"]), "item": pl.UInt64}
    ),
    "polars-category": pl.DataFrame(ROWS).cast({"reviewer": pl.Categorical}),
    "pyarrow": pa.table(ROWS),
    "pyarrow-dictionary": pa.table(
        {
            name: pa.array(values).dictionary_encode() if name != "score" else values
            for name, values in ROWS.items()
        }
    ),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_every_dataframe_gives_the_same_ratings(frame: Any) -> None:  # noqa: ANN401 - any dataframe
    sequences = Ratings(ROWS["reviewer"], ROWS["item"], ROWS["score"])
    assert state(Ratings.from_frame(frame)) == state(sequences)


def test_a_missing_score_is_the_same_in_every_dataframe() -> None:
    rows = {"reviewer": ["a", "b"], "item": ["x", "x"], "score": [1.5, None]}
    frames: list[Any] = [
        pd.DataFrame(rows),
        pd.DataFrame(rows).astype(object),
        pd.DataFrame(rows).convert_dtypes(),
        pl.DataFrame(rows),
        pa.table(rows),
    ]
    states = {repr(state(Ratings.from_frame(frame))) for frame in frames}
    assert len(states) == 1
    (warning,) = Ratings.from_frame(frames[0]).notices
    assert warning.message == "1 row without a score was left out: item x by b."


def test_columns_that_are_not_used_may_hold_anything() -> None:
    frame = pd.DataFrame(
        {**ROWS, "odd": [1j] * 4, "span": pd.interval_range(0, 4), "when": dt.date.max}
    )
    assert Ratings.from_frame(frame).n_ratings == 4


def test_numbered_columns_of_a_frame_are_found_by_their_number() -> None:
    frame = pd.DataFrame([["a", "x", 1], ["a", "y", 2]])
    ratings = Ratings.from_frame(frame, reviewer="0", item="1", score="2")
    assert ratings.n_ratings == 2


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pd.DataFrame([[1, 2]], columns=[1, "1"]),
    ],
)
def test_columns_of_a_frame_must_differ(frame: pd.DataFrame) -> None:
    with pytest.raises(RatingsError, match=r"^Column names must differ"):
        Ratings.from_frame(frame)


@pytest.mark.parametrize("wrong", [5, "a.csv", [1], {"a": [1]}, None, pl.Series([1])])
def test_what_is_no_dataframe_is_refused(wrong: Any) -> None:  # noqa: ANN401 - anything
    with pytest.raises(RatingsError, match=r"^ratings must be a Ratings or a"):
        Ratings.from_frame(wrong)


def check_invariants(ratings: Ratings) -> None:
    for labels, codes in (
        (ratings.reviewer_labels, ratings.reviewer_codes),
        (ratings.item_labels, ratings.item_codes),
    ):
        assert len({type(label) for label in labels}) == 1
        assert list(labels) == sorted(set(labels), key=lambda label: label)
        assert codes.min() >= 0
        assert codes.max() < len(labels)
    keys = list(zip(ratings.reviewer_codes, ratings.item_codes, strict=True))
    assert keys == sorted(set(keys))
    assert np.isfinite(ratings.preference).all()
    assert json.loads(json.dumps(ratings.summary()))["ratings"] == ratings.n_ratings
    assert ratings.to_frame().height == ratings.n_ratings


odd_values = st.one_of(
    st.integers(),
    st.integers(-3, 3),
    st.floats(),
    st.text(),
    st.text("0123456789-+. e", max_size=4),
    st.none(),
    st.booleans(),
    st.lists(st.integers(), max_size=2),
    st.decimals(),
    st.fractions(),
    st.binary(max_size=2),
    st.dates(),
    st.datetimes(),
    st.sampled_from(
        [
            10**5000,
            -(10**700),
            "9" * 5000,
            "\ud800",
            "a\udfff",
            "\ufeffx",
            "007",
            " 7 ",
            np.float64(2),
            np.float32("nan"),
            np.int8(3),
            np.uint64(2**64 - 1),
            np.True_,
            np.str_("x"),
            np.datetime64("2024-01-01"),
            np.array([1, 2]),
            np.array(5),
            1 + 2j,
            object,
            ...,
            NotImplemented,
            pd.NA,
            pd.NaT,
            pl.Series([1]),
            Decimal("sNaN"),
            Grade.GOOD,
            {"a": 1},
            {1, 2},
        ]
    ),
)
mild_values = st.one_of(
    st.integers(-3, 3), st.text("ab7 ", max_size=2), st.sampled_from([1.0, -0.0, "3"])
)
any_columns = st.one_of(
    st.tuples(*[st.lists(odd_values, max_size=3) | odd_values] * 3),
    st.lists(st.tuples(*[odd_values] * 3), min_size=1, max_size=4).map(
        lambda rows: tuple(list(column) for column in zip(*rows, strict=True))
    ),
    st.lists(st.tuples(*[mild_values] * 3), min_size=1, max_size=4).map(
        lambda rows: tuple(list(column) for column in zip(*rows, strict=True))
    ),
)


def attempt(read: Callable[[], Ratings]) -> None:
    try:
        ratings = read()
    except EvenhandError as error:
        message = str(error)
    else:
        check_invariants(ratings)
        return
    assert message.endswith((".", "?"))
    assert message.count("\n") == message.count("\n  ")


@settings(max_examples=150)
@given(any_columns)
def test_any_objects_give_ratings_or_one_of_our_errors(columns: Any) -> None:  # noqa: ANN401 - whatever is given
    attempt(lambda: Ratings(*columns))


@settings(max_examples=100)
@given(any_columns)
def test_any_objects_give_comparisons_or_one_of_our_errors(columns: Any) -> None:  # noqa: ANN401 - whatever is given
    winners, losers, people = columns
    attempt(
        lambda: Ratings.from_comparisons(
            winners, losers, reviewers=people, all_items=winners
        )
    )


@settings(max_examples=100)
@given(st.lists(st.tuples(*[odd_values | mild_values] * 3), min_size=1, max_size=4))
def test_any_object_frame_gives_ratings_or_one_of_our_errors(
    rows: list[tuple[object, ...]],
) -> None:
    frame = pd.DataFrame(index=range(len(rows)))
    for place, name in enumerate(["reviewer", "item", "score"]):
        column = np.empty(len(rows), dtype=object)
        for row, values in enumerate(rows):
            column[row] = values[place]
        frame[name] = pd.Series(column, dtype=object)
    attempt(lambda: Ratings.from_frame(frame))


def test_copies_hold_the_same_ratings() -> None:
    ratings = Ratings(*ROWS.values())
    for other in (copy.copy(ratings), pickle.loads(pickle.dumps(ratings))):  # noqa: S301 - our own
        assert other.rows() == ratings.rows()
        assert other.sha256 == ratings.sha256
        assert other.by_item()[1].tolist() == ratings.by_item()[1].tolist()


def test_a_second_rating_among_many_is_found() -> None:
    n = 30_000
    rows = pl.DataFrame({"n": range(n)})
    frame = rows.select(
        reviewer=pl.format("r{}", pl.col("n") // 2),
        item=pl.format("p{}", pl.col("n") % 3),
        score=1.0,
    )
    twice = pl.concat([frame, frame[5:6]])
    text = f"reviewer 'r2' rated item 'p2' twice (first: index 5) at index {n}."
    with pytest.raises(RatingsError) as caught:
        Ratings.from_frame(twice)
    assert str(caught.value) == text


def test_weights_follow_their_scores_into_any_row_order_and_into_the_hash() -> None:
    one = Ratings(["b", "a"], ["x", "y"], [1, 2], weights=[3, 0.5])
    two = Ratings(["a", "b"], ["y", "x"], [2, 1], weights=[0.5, 3])
    assert one.weights is not None
    assert one.weights.tolist() == [0.5, 3.0]
    assert one.sha256 == two.sha256 != Ratings(["a", "b"], ["y", "x"], [2, 1]).sha256
    again = Ratings.from_frame(one.to_frame(), weight="weight")
    assert again.sha256 == one.sha256
    assert one.rows()[0] == {"reviewer": "a", "item": "y", "score": 2, "weight": 0.5}


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, 0], r"^weight must be above 0, got 0.0 at index 1\."),
        ([1, None], r"^weight must be above 0, got None at index 1\."),
        ([1], "2 of score, 1 of weight"),
        (["much", 1], "^weight must be a number, got 'much' at index 0"),
    ],
)
def test_weights_are_positive_numbers(weights: list[object], words: str) -> None:
    with pytest.raises(RatingsError, match=words):
        Ratings(["a", "b"], ["x", "x"], [1, 2], weights=weights)  # type: ignore[arg-type]  # wrong
