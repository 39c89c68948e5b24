"""Ranks without one review, against ranking again without it."""

from __future__ import annotations

import numpy as np
import pytest

import evenhand as eh
from evenhand.method import as_method
from evenhand.ranking.methods import RankMethod, Task


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


def left_out(ratings: eh.Ratings, method: str) -> tuple[str, list[int | None]]:
    kind = as_method(method, RankMethod)
    return kind.how_left_out(ratings), kind.leave_one_out(ratings, 7)


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


SMALL = ["mean", "centred", "z", "borda", "adaptive", "additive"]


@pytest.mark.parametrize(
    ("method", "size"),
    [*((method, (10, 6, 3)) for method in SMALL), ("mean", (105, 60, 4)),
     ("centred", (105, 60, 4))],
)  # fmt: skip
def test_what_is_ranked_again_is_exact(method: str, size: tuple[int, int, int]) -> None:
    ratings = generated(*size, seed=3)
    how, ranks = left_out(ratings, method)
    rows = [*range(0, ratings.n_ratings, size[0] // 3)]
    assert how == "again"
    assert [ranks[row] for row in rows] == ranks_again(ratings, method, rows)


@pytest.mark.parametrize(
    ("method", "strict"), [("adaptive", 0.2), ("adaptive", 2.0), ("additive", 0.2)]
)
def test_a_model_that_is_held_ranks_nearly_as_one_fitted_again(
    method: str, strict: float
) -> None:
    """Of these 20 reviews, one may be two ranks off, while some move items by 5."""
    ratings = generated(60, 30, 3, seed=5, strict=strict)
    how, ranks = left_out(ratings, method)
    assert how == "held"
    rows = [*range(0, ratings.n_ratings, 9)]
    again = np.array(ranks_again(ratings, method, rows))
    away = np.abs(np.array([ranks[row] for row in rows], dtype=float) - again)
    order = as_method(method, RankMethod).answer(Task(ratings, 7)).order
    place = np.argsort(order)[ratings.item_codes[rows]] + 1
    assert (away <= 1).sum() >= len(away) - 1
    assert away.max() <= 2
    assert np.abs(place - again).max() >= 5


def test_weights_are_taken_out_with_their_ratings() -> None:
    plain = generated(60, 30, 3, seed=6)
    codes = plain.reviewer_codes.tolist(), plain.item_codes.tolist()
    weights = np.where(np.arange(plain.n_ratings) % 5, 1.0, 4.0)
    heavy = eh.Ratings(*codes, plain.scores, weights=weights)
    _, ranks = left_out(heavy, "additive")
    for row in range(0, heavy.n_ratings, 15):
        again = eh.rank(heavy.without(row), method="additive", rng=7).order
        assert abs((ranks[row] or 0) - again.index(codes[1][row]) - 1) <= 1
    assert ranks != left_out(plain, "additive")[1]


def test_the_only_review_of_an_item_cannot_be_left_out() -> None:
    ratings = eh.Ratings(["a", "a", "b"], ["x", "y", "y"], [1, 2, 3])
    assert left_out(ratings, "mean")[1][0] is None


@pytest.mark.parametrize(
    ("method", "code"),
    [("flips", "no_values"), ("safe", "no_values"), ("topological", "no_values"),
     ("mean-rank", "no_values"), ("isotonic", "too_long")],
)  # fmt: skip
def test_some_methods_say_why_there_are_none(method: str, code: str) -> None:
    ratings = generated(30, 20, 4, seed=2)
    assert left_out(ratings, method) == (code, [None] * 120)


def test_ranks_alone_are_left_out_by_order() -> None:
    ratings = eh.Ratings.from_ranks(
        [*"aaabbbcc"], [*"xyzxzyyx"], [1, 2, 3, 1, 2, 3, 1, 2]
    )
    assert {*left_out(ratings, "adaptive")[1]} <= {1, 2, 3}


def test_a_reviewer_of_one_item_goes_with_the_review() -> None:
    ratings = eh.Ratings(["a", "b", "c", "c"], ["x", "x", "x", "y"], [1, 9, 4, 5])
    remaining = ratings.without(1)
    assert remaining.reviewer_labels == ("a", "c")
    assert remaining.reviewer_codes.tolist() == [0, 1, 1]
    assert remaining.sha256 == without(ratings, 1).sha256
