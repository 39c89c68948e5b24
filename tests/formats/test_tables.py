"""JSON documents: parsed with care, laid out as columns."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.columns import Source
from evenhand.errors import EvenhandError, RatingsError
from evenhand.formats.documents import entries, flatten, parse_json

FILE = Source("r.json", lambda row: row + 1, "entry")
documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
)


def refused(data: str) -> str:
    with pytest.raises(RatingsError) as caught:
        parse_json("r.json", data)
    return str(caught.value)


@given(documents)
def test_what_was_written_is_read(document: object) -> None:
    assert parse_json("r.json", json.dumps(document)) == document


def test_a_fault_is_named_by_its_line() -> None:
    assert refused('[\n{"a": 1},\n{"a" 2}]') == (
        "r.json:3: The file cannot be read as JSON: Expecting ':' delimiter."
    )


def test_a_key_stands_once_in_an_object() -> None:
    assert refused('[{"a": 1, "b": 2, "a": 3}]') == (
        "r.json: The file cannot be read as JSON: the key 'a' stands twice in one "
        "object."
    )


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_has_not_are_refused(word: str) -> None:
    assert refused(f'[{{"score": {word}}}]') == (
        f"r.json: The file cannot be read as JSON: {word} is not a number that JSON "
        "has."
    )


def test_a_very_deep_document_is_refused() -> None:
    depth = 200_000
    message = refused("[" * depth + "]" * depth)
    assert message.startswith("r.json: The file cannot be read as JSON: maximum recur")


@pytest.mark.parametrize(
    "data", ["1" * 5000, '{"a": "\\u12"}', '"\x01"', "", "[1,]", "{'a': 1}"]
)
def test_damage_is_refused_in_a_sentence(data: str) -> None:
    message = refused(data)
    assert message.startswith("r.json:")
    assert message.endswith(".")


def test_the_list_may_be_the_document_or_the_only_list_of_objects_in_it() -> None:
    one: dict[str, object] = {"id": "x"}
    assert entries([one], FILE) == [one]
    assert entries({"count": 1, "tags": ["a"], "notes": [one]}, FILE) == [one]
    assert entries(one, FILE) == [one]
    both: dict[str, object] = {"notes": [one], "reviews": [{"id": "y"}]}
    assert entries(both, FILE) == [one]
    assert entries({**both, "notes": one}, FILE) == [{"id": "y"}]


@pytest.mark.parametrize("document", [3, "x", None, []])
def test_a_document_without_objects_has_no_entries(document: object) -> None:
    assert entries(document, FILE) == []
    assert flatten(document, FILE) == {}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            [{"a": 1}, 3],
            "entry 2: entry must be a JSON object with named values, got 3",
        ),
        (
            [None, {"a": 1}],
            "entry 1: entry must be a JSON object with named values, got",
        ),
        (
            [[1, 2]],
            "entry 1: entry must be a JSON object with named values, got [1, 2]",
        ),
        ({"notes": [{"a": 1}, "x"]}, "entry 2: entry must be a JSON object with named"),
    ],
)
def test_an_entry_that_is_no_object_is_named(document: object, message: str) -> None:
    with pytest.raises(RatingsError) as caught:
        entries(document, FILE)
    assert str(caught.value).startswith(f"r.json: {message}")


def test_a_number_with_too_many_digits_is_no_advice_to_programmers() -> None:
    said = refused('[{"a": ' + "1" * 5000 + "}]")
    assert said.endswith("value has 5000 digits.")


def test_keys_inside_objects_are_named_with_dots() -> None:
    document = [{"id": 1, "content": {"rating": {"value": 8}, "title": "On tea"}}]
    assert flatten(document, FILE) == {
        "id": [1],
        "content.title": ["On tea"],
        "content.rating.value": [8],
    }


def test_a_list_of_one_plain_value_is_that_value_and_others_are_left_out() -> None:
    document = [{"a": ["x"], "b": ["x", "y"], "c": [{"d": 1}], "e": [], "f": [None]}]
    assert flatten(document, FILE) == {"a": ["x"]}


def test_entries_need_not_share_their_keys() -> None:
    assert flatten([{"a": 1}, {"b": 2}, {}], FILE) == {
        "a": [1, None, None],
        "b": [None, 2, None],
    }


def test_blanks_around_a_key_do_not_count_and_a_key_without_name_is_left_out() -> None:
    assert flatten([{" a ": 1, "": 2, " ": 3}], FILE) == {"a": [1]}


def test_the_outer_of_two_keys_that_meet_is_kept() -> None:
    assert flatten([{"a.b": 1, "a": {"b": 2}}], FILE) == {"a.b": [1]}


@given(documents)
def test_columns_are_of_one_length(document: object) -> None:
    try:
        rows = len(entries(document, FILE))
    except RatingsError:
        return
    assert all(len(column) == rows for column in flatten(document, FILE).values())


@given(st.binary(max_size=30))
def test_any_bytes_are_read_or_refused(data: str) -> None:
    try:
        parse_json("r.json", data)
    except EvenhandError as error:
        assert str(error).startswith("r.json")  # noqa: PT017 - both ends are good
