"""Pictures of the report: axes, and a comparison."""

from __future__ import annotations

import json

import numpy as np
import pytest

import evenhand as eh
from evenhand.words.lines import score_shares
from evenhand.words.page import Replay, report
from evenhand.words.pictures import axis, gap, score_strips

STARS = ([5, 5, 4, 4, 3, 3, 2], [4, 3, 3, 2, 2, 1, 1])


def page(result: eh.Comparison, ratings: eh.Ratings) -> str:
    return report(ratings, result, replay=Replay("evenhand compare r.csv"))


def rated(first: list[float], second: list[float]) -> eh.Ratings:
    items = ["new"] * len(first) + ["old"] * len(second)
    return eh.Ratings(range(len(items)), items, [*first, *second])


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([0, 10], ["0", "2", "4", "6", "8", "10"]),
        ([0, 1.15], ["0", "0.25", "0.5", "0.75", "1"]),
        ([-30, 12], ["-30", "-20", "-10", "0", "10"]),
        ([3, 3], ["3"]),
        ([0, 0], ["0"]),
    ],
)
def test_an_axis_has_round_numbers(values: list[float], ticks: list[str]) -> None:
    found = axis(values)
    assert [text for _, text in found.ticks] == ticks
    assert all(0 < place < 100 for place, _ in found.ticks)


def test_an_axis_of_huge_or_tiny_numbers_is_finite() -> None:
    for values in ([-1e308, 1e308], [1e-300, 3e-300], [1e15, 1e15 + 1]):
        found = axis(values)
        json.dumps([found.place(one) for one in values], allow_nan=False)
        assert len(found.ticks) <= 12


def test_levels_have_the_shares_of_the_result() -> None:
    result = eh.compare(*STARS, design="halves", rng=7)
    levels = score_shares(result)
    assert [score for score, _ in levels] == ["1", "2", "3", "4", "5"]
    assert levels[2][1] == pytest.approx((2 / 7, 2 / 7))


def test_many_different_scores_are_dots_and_few_are_bars() -> None:
    few = rated(*STARS)  # type: ignore[arg-type]  # whole numbers are numbers
    made = page(eh.compare(few, rng=7), few)
    assert 'class="levels"' in made
    assert "<circle" not in made
    rng = np.random.default_rng(7)
    many = rated(rng.normal(size=30).tolist(), rng.normal(size=20).tolist())
    made = page(eh.compare(many, rng=7), many)
    assert made.count("<circle") == 50
    assert 'class="levels"' not in made


def test_thousands_of_scores_are_some_hundred_dots() -> None:
    rng = np.random.default_rng(7)
    many = rated(rng.normal(size=5000).tolist(), rng.normal(size=5000).tolist())
    result = eh.compare(many, rng=7)
    found = score_strips(many, result)
    assert found is not None
    assert [len(strip.dots) for strip in found[1]] == [238, 238]
    assert "a dot stands for 21 scores" in page(result, many)


def test_the_difference_has_its_interval_on_a_line_with_zero() -> None:
    result = eh.compare(*STARS, design="halves", rng=7)
    found, turned = gap(result), gap(eh.compare(*STARS[::-1], design="halves", rng=7))
    assert found is not None
    line, (estimate, low, high) = found
    assert low < estimate < high
    assert 0 < line.place(min(low, 0)) < line.place(max(high, 0)) < 100
    assert estimate == pytest.approx(10 / 7)
    # It is the item that came out less the other, whichever was named first.
    assert turned is not None
    assert turned[1] == pytest.approx([estimate, low, high])


def test_the_page_says_numbers_and_what_they_suppose() -> None:
    ratings = rated(*STARS)  # type: ignore[arg-type]  # whole numbers are numbers
    made = page(eh.compare(ratings, design="halves", rng=7), ratings)
    assert "new</bdi> comes out ahead of <bdi>old" in made
    assert "<b>3.71</b>" in made
    assert "7 scores" in made
    assert "That is not the probability that it is better" in made
    assert "if one item adds the same to every score" in made
    undeclared = page(eh.compare(ratings, rng=7), ratings)
    assert "if assigned at random and answering did not" in undeclared


def test_votes_stand_where_there_are_no_scores() -> None:
    ratings = eh.Ratings.from_ranks(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 2, 1, 2])
    result = eh.compare(ratings, both="decide", rng=7)
    assert gap(result) is None
    assert score_shares(result) == []
    assert score_strips(ratings, result) is None
    assert "comes out ahead of" in page(result, ratings)


def test_reviewers_of_both_items_that_were_dropped_are_not_drawn() -> None:
    ratings = eh.Ratings(["a", "a", "b", "c"], ["x", "y", "x", "y"], [3, 8, 4, 5])
    result = eh.compare(ratings, method="votes", both="drop", rng=7)
    found = score_strips(ratings, result)
    assert found is not None
    assert [len(strip.dots) for strip in found[1]] == [1, 1]
