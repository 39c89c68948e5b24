from __future__ import annotations

import pytest

from evenhand.errors import (
    ContradictionError,
    ConvergenceError,
    DesignError,
    EvenhandError,
    OptionError,
    RatingsError,
    RecordError,
    listing,
    unknown,
)


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (RatingsError, ValueError),
        (ContradictionError, RatingsError),
        (OptionError, ValueError),
        (DesignError, ValueError),
        (RecordError, ValueError),
        (ConvergenceError, RuntimeError),
    ],
)
def test_every_error_is_ours_and_also_a_builtin(
    kind: type[Exception], builtin: type[Exception]
) -> None:
    assert issubclass(kind, EvenhandError)
    assert issubclass(kind, builtin)


def test_a_contradiction_keeps_its_cycle_and_reviewers() -> None:
    error = ContradictionError("They disagree.", cycle=["x", "y"], reviewers=["a", "b"])
    assert str(error) == "They disagree."
    assert error.cycle == ("x", "y")
    assert error.reviewers == ("a", "b")


def test_eight_values_are_listed_in_full_and_the_ninth_is_counted() -> None:
    assert listing(range(8)) == "0, 1, 2, 3, 4, 5, 6, 7"
    assert listing(range(9)) == "0, 1, 2, 3, 4, 5, 6, 7 and 1 more"
    assert listing([]) == ""


def test_an_unknown_name_is_answered_with_the_nearest_whatever_its_case() -> None:
    text = unknown("method", "VOTE", ["mean", "votes"])
    assert text == (
        "unknown method 'VOTE', did you mean 'votes'? Known methods: 'mean', 'votes'."
    )


def test_an_unknown_name_without_a_near_one_is_answered_with_the_list() -> None:
    assert unknown("item", 12, [3, 4]) == "unknown item 12. Known items: 3, 4."


def test_the_first_of_two_equally_near_names_is_suggested() -> None:
    assert "did you mean 'Anna'?" in unknown("reviewer", "ANNA", ["Anna", "anna"])


@pytest.mark.parametrize(
    ("name", "guess"), [("lottery", ""), ("sortr", ", did you mean 'sorter'?")]
)
def test_only_a_near_name_is_guessed(name: str, guess: str) -> None:
    text = unknown("method", name, ["sorter", "votes"])
    assert (
        text
        == f"unknown method {name!r}{guess or '.'} Known methods: 'sorter', 'votes'."
    )
