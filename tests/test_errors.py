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


@pytest.mark.parametrize(
    ("name", "names", "answer"),
    [
        ("VOTE", ["mean", "votes"], ", did you mean 'votes'? Known"),
        (12, [3, 4], ". Known methods: 3, 4."),
        ("ANNA", ["Anna", "anna"], ", did you mean 'Anna'? Known"),
        ("lottery", ["sorter", "votes"], ". Known methods: 'sorter', 'votes'."),
        ("sortr", ["sorter", "votes"], ", did you mean 'sorter'? Known methods: 's"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest_if_it_is_near(
    name: object, names: list[object], answer: str
) -> None:
    assert f"unknown method {name!r}{answer}" in unknown("method", name, names)
