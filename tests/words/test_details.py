"""The reviews behind items and reviewers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.words.details import (
    consensus,
    group_reviews,
    reviews_behind,
    without_sentence,
)

PEOPLE = ["a"] * 5 + ["b"] * 5 + ["c"] * 5
ITEMS = [1, 2, 3, 4, 5] * 3
SCORES = [5, 4, 3, 2, 1, 7, 6.5, 5, 4, 3, 9, 7, 7, 6, 5]


def ratings() -> eh.Ratings:
    return eh.Ratings(PEOPLE, ITEMS, SCORES)


def reviews(data: eh.Ratings, method: Any = "adaptive") -> Any:  # noqa: ANN401 - a name or a function; rows
    result = eh.rank(data, method=method, rng=7)
    found = reviews_behind(data, eh.check(data, rng=7), result)
    return group_reviews(found, "item", data.item_labels)


def people(data: eh.Ratings) -> Any:  # noqa: ANN401 - rows
    found = reviews_behind(data, eh.check(data, rng=7))
    best_first = sorted(found, key=lambda one: one.place)
    return group_reviews(best_first, "reviewer", data.public.reviewer_labels)


@pytest.mark.parametrize("method", ["adaptive", "additive"])
def test_a_score_is_corrected_by_its_reviewers_offset(method: str) -> None:
    data = ratings()
    found = reviews(data, method)
    strict, _, lenient = found[1]
    assert (strict.reviewer, strict.score, strict.strictness) == ("a", 5.0, "strict")
    assert strict.offset is not None
    assert strict.corrected is not None
    assert strict.corrected == pytest.approx(5 - strict.offset, rel=1e-6)
    assert strict.corrected > 6
    assert lenient.corrected is not None
    assert lenient.corrected < 8


def test_means_take_scores_as_they_are_and_centred_takes_off_means() -> None:
    data = ratings()
    (row, *_) = reviews(data, "mean")[1]
    assert (row.corrected, row.score) == (None, 5)
    (row, *_) = reviews(data, "centred")[1]
    assert row.corrected == pytest.approx(5 - (3 - np.mean(SCORES)))


def test_orders_are_not_corrected_but_placed() -> None:
    data = ratings()
    rows = reviews(data, "borda")[3]
    assert [row.corrected for row in rows] == [None] * 3
    assert [(row.place, row.of) for row in rows] == [(3, 5), (3, 5), (2, 5)]


def test_each_review_says_where_the_item_would_stand_without_it() -> None:
    data = eh.Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [3, 2.2, 1, 2.5])
    result = eh.rank(data, method="mean", rng=7)
    assert [row.without for row in reviews(data, "mean")["x"]] == [2, 1]
    assert "made again" in without_sentence(data, result)


def test_own_functions_and_coins_have_no_ranks_without_a_review() -> None:
    data = ratings()

    def upside_down(scores: eh.Ratings, rng: object) -> list[int]:
        del rng
        return [*range(scores.n_items)][::-1]

    for method in (upside_down, "safe"):
        result = eh.rank(data, method=method, rng=7)
        assert [row.without for row in reviews(data, method)[1]] == [None] * 3
        assert "not worked out" in without_sentence(data, result)


def test_a_reviewers_items_come_best_first_beside_what_others_say() -> None:
    data = ratings()
    points = people(data)["a"]
    assert [point.item for point in points] == [1, 2, 3, 4, 5]
    assert [point.score for point in points] == [5, 4, 3, 2, 1]
    heard = [point.others for point in points]
    assert None not in heard
    assert heard == sorted(heard, key=lambda one: -(one or 0.0))


def test_the_consensus_leaves_out_the_reviewer_and_the_others_strictness() -> None:
    data = eh.Ratings(
        ["a"] * 3 + ["b"] * 3 + ["c"] * 3,
        ["x", "y", "z"] * 3,
        [1, 2, 3, 4, 5, 6.5, 3, 4, 5.2],
    )
    found = eh.check(data, rng=7)
    offsets = {one.reviewer: one.offset or 0.0 for one in found.reviewers}
    assert offsets["a"] < 0
    expected = ((4 - offsets["b"]) + (3 - offsets["c"])) / 2
    known = {one.reviewer: one for one in found.reviewers}
    assert consensus(data, known)[0] == pytest.approx(expected)


def test_ranks_have_places_and_comparisons_have_no_details() -> None:
    ranks = eh.Ratings.from_ranks(["a", "a", "b"], ["x", "y", "x"], [2, 1, 1])
    rows = reviews(ranks)["x"]
    assert [(row.score, row.place, row.of) for row in rows] == [
        (None, 2, 2),
        (None, 1, 1),
    ]
    (first, second) = people(ranks)["a"]
    assert (first.item, first.score, second.place) == ("y", None, 2)
    duels = eh.Ratings.from_comparisons(["x", "y"], ["y", "z"])
    assert not any(reviews(duels).values())
    assert not any(people(duels).values())


def test_codes_in_place_of_names_are_the_codes_of_the_check() -> None:
    coded = eh.Ratings(["R2", "R2", "R1", "R1"], ["x", "y"] * 2, [1, 2, 5, 9])
    data = coded.in_order_of({"R2": "Anna", "R1": "Bo"})
    assert [(row.reviewer, row.score) for row in reviews(data)["y"]] == [
        ("R2", 2.0),
        ("R1", 9.0),
    ]
    found = people(data)
    assert [*found] == ["R1", "R2"]
    assert found["R1"][0].score == 9
