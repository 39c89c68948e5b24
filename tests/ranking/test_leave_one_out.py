"""Ranks without one review, against ranking again without it."""

from __future__ import annotations

import numpy as np
import pytest

import evenhand as eh
from evenhand.method import as_method
from evenhand.ranking.methods import RankMethod, Task
from evenhand.ranking.uncertainty import how_left_out, leave_one_out


def generated(
    n_items: int, n_reviewers: int, reviews: int, seed: int, strict: float = 0.6
) -> eh.Ratings:
    rng = np.random.default_rng(seed)
    values, offsets = rng.normal(size=n_items), strict * rng.normal(size=n_reviewers)
    items = np.repeat(np.arange(n_items), reviews)
    people = np.concatenate(
        [rng.choice(n_reviewers, reviews, replace=False) for _ in range(n_items)]
    )
    noise = 0.8 * rng.normal(size=len(items))
    scores = np.round(5.5 + 1.6 * (values[items] + offsets[people] + noise))
    return eh.Ratings(people.tolist(), items.tolist(), np.clip(scores, 1, 10).tolist())


def without(ratings: eh.Ratings, row: int) -> eh.Ratings:
    rows = [place for place in range(ratings.n_ratings) if place != row]
    return eh.Ratings(
        [ratings.reviewer_labels[ratings.reviewer_codes[place]] for place in rows],
        [ratings.item_labels[ratings.item_codes[place]] for place in rows],
        ratings.scores[rows],
    )


def ranks_again(ratings: eh.Ratings, method: str, rows: list[int]) -> list[int]:
    """Rank without each of these ratings, from the ratings that are left.

    Every item has others, so it keeps its code.
    """
    kind = as_method(method, RankMethod)
    orders = [kind.answer(Task(without(ratings, row), 7)).order for row in rows]
    return [
        order.tolist().index(ratings.item_codes[row]) + 1
        for order, row in zip(orders, rows, strict=True)
    ]


@pytest.mark.parametrize(
    "method",
    ["mean", "centred", "z", "borda", "adaptive", "additive"],
)
def test_few_ratings_are_ranked_again_exactly(method: str) -> None:
    ratings = generated(10, 6, 3, seed=3)
    kind = as_method(method, RankMethod)
    assert "made again" in how_left_out(ratings, kind)
    found = leave_one_out(ratings, kind, 7)
    rows = [*range(0, ratings.n_ratings, 5)]
    assert [found[row] for row in rows] == ranks_again(ratings, method, rows)


@pytest.mark.parametrize(("method", "least"), [("mean", 420), ("centred", 420)])
def test_what_is_ranked_again_quickly_is_exact_for_a_conference(
    method: str, least: int
) -> None:
    ratings = generated(105, 60, 4, seed=4)
    assert ratings.n_ratings >= least
    found = leave_one_out(ratings, as_method(method, RankMethod), 7)
    rows = [*range(0, ratings.n_ratings, 30)]
    assert [found[row] for row in rows] == ranks_again(ratings, method, rows)


@pytest.mark.parametrize(
    ("method", "strict"), [("adaptive", 0.2), ("adaptive", 2.0), ("additive", 0.2)]
)
def test_a_model_that_is_held_ranks_nearly_as_one_fitted_again(
    method: str, strict: float
) -> None:
    """Of these 20 reviews, one may be two ranks off, while some move items by 5."""
    ratings = generated(60, 30, 3, seed=5, strict=strict)
    kind = as_method(method, RankMethod)
    assert "taken out of the fitted" in how_left_out(ratings, kind)
    found = leave_one_out(ratings, kind, 7)
    rows = [*range(0, ratings.n_ratings, 9)]
    again = ranks_again(ratings, method, rows)
    away = [
        abs((found[row] or 0) - rank) for row, rank in zip(rows, again, strict=True)
    ]
    base = eh.rank(ratings, method=method, rng=7).order
    moved = [
        abs(base.index(ratings.item_labels[ratings.item_codes[row]]) + 1 - rank)
        for row, rank in zip(rows, again, strict=True)
    ]
    assert sum(one <= 1 for one in away) >= len(away) - 1
    assert max(away) <= 2
    assert max(moved) >= 5


def test_weights_are_taken_out_with_their_ratings() -> None:
    plain = generated(60, 30, 3, seed=6)
    people = [plain.reviewer_labels[code] for code in plain.reviewer_codes]
    items = [plain.item_labels[code] for code in plain.item_codes]
    weights = np.where(np.arange(plain.n_ratings) % 5, 1.0, 4.0)
    heavy = eh.Ratings(people, items, plain.scores, weights=weights)
    kind = as_method("additive", RankMethod)
    found = leave_one_out(heavy, kind, 7)
    rows = [*range(0, heavy.n_ratings, 15)]
    again = [
        eh.rank(heavy.without(row), method=kind, rng=7).order.index(items[row]) + 1
        for row in rows
    ]
    away = [
        abs((found[row] or 0) - rank) for row, rank in zip(rows, again, strict=True)
    ]
    assert max(away) <= 1
    assert found != leave_one_out(plain, kind, 7)


def test_the_only_review_of_an_item_cannot_be_left_out() -> None:
    ratings = eh.Ratings(["a", "a", "b"], ["x", "y", "y"], [1, 2, 3])
    assert leave_one_out(ratings, as_method("mean", RankMethod), 7)[0] is None


@pytest.mark.parametrize("method", ["flips", "safe", "topological", "mean-rank"])
def test_methods_that_draw_or_compare_say_why_there_are_none(method: str) -> None:
    ratings = eh.Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 3, 2])
    kind = as_method(method, RankMethod)
    assert f"Method '{kind.display_name}' decides by comparisons" in how_left_out(
        ratings, kind
    )
    assert leave_one_out(ratings, kind, 7) == (None,) * 4


def test_slow_methods_say_that_it_takes_too_long() -> None:
    ratings = generated(30, 20, 4, seed=2)
    kind = as_method("isotonic", RankMethod)
    assert "takes too long by method 'isotonic'" in how_left_out(ratings, kind)
    assert {*leave_one_out(ratings, kind, 7)} == {None}


def test_ranks_alone_are_left_out_by_order() -> None:
    ratings = eh.Ratings.from_ranks(
        ["a", "a", "a", "b", "b", "b", "c", "c"],
        ["x", "y", "z", "x", "z", "y", "y", "x"],
        [1, 2, 3, 1, 2, 3, 1, 2],
    )
    found = leave_one_out(ratings, as_method("adaptive", RankMethod), 7)
    assert all(rank in (1, 2, 3) for rank in found)


def test_a_reviewer_of_one_item_goes_with_the_review() -> None:
    ratings = eh.Ratings(["a", "b", "c", "c"], ["x", "x", "x", "y"], [1, 9, 4, 5])
    left = ratings.without(1)
    assert left.reviewer_labels == ("a", "c")
    assert left.reviewer_codes.tolist() == [0, 1, 1]
    assert left.sha256 == without(ratings, 1).sha256
