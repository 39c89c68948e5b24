"""A model that one class defines has all that the built-in ones have."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import evenhand as eh
from evenhand.method import Method
from evenhand.models.design import Fit
from evenhand.ranking.methods import Model
from evenhand.ratings import Ratings


class Median(Model):
    """By median score."""

    name = "median-score"
    assumes = "one scale shared by all reviewers"

    def fit(self, ratings: Ratings) -> Fit:
        starts, rows = ratings.by_item()
        scores = np.split(ratings.scores[rows], starts[1:-1])
        values = np.array([np.median(part) for part in scores])
        errors = np.array([1.25 / np.sqrt(len(part)) for part in scores])
        return Fit(self.name, values, np.zeros(len(values), dtype=np.int64), errors)


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """Keep the model out of the lists that other tests see."""
    Method.registry["rank", Median.name] = Median
    yield
    del Method.registry["rank", Median.name]


del Method.registry["rank", Median.name]
RATINGS = Ratings([*"aaabbbcccddd"], [*"xyz" * 4], [9, 5, 1, 8, 6, 2, 9, 4, 3, 7, 6, 1])


def test_it_has_intervals() -> None:
    ranking = eh.rank(RATINGS, method=Median(), rng=7)
    assert ranking.order == ("x", "y", "z")
    assert [row.estimate for row in ranking.items] == [8.5, 5.5, 1.5]
    assert [(row.rank_low, row.rank_high) for row in ranking.items] == [
        (1, 1), (2, 2), (3, 3)
    ]  # fmt: skip


def test_it_leaves_ratings_out() -> None:
    assert Median().how_left_out(RATINGS) == "again"
    assert set(Median().leave_one_out(RATINGS, 7)) == {1, 2, 3}


def test_its_scales_are_warped() -> None:
    found = eh.warp(RATINGS, method=Median(), draws=20, top=1, rng=7)
    assert [row.method for row in found.survivals[:2]] == ["median-score", "mean"]


def test_its_report_has_all_of_it(tmp_path: Path) -> None:
    eh.rank(RATINGS, method="median-score", top=1, rng=7).report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "every reviewer's scale was replaced" in page
    assert "The ranking was made again without each review." in page
