"""Shares of comparisons won."""

from fractions import Fraction

from hypothesis import given, settings

from evenhand.models.bradley_terry import borda
from evenhand.ratings import Ratings
from tests.strategies import any_ratings


@settings(max_examples=50)
@given(any_ratings())
def test_shares_are_comparisons_won_over_comparisons_made(ratings: Ratings) -> None:
    rows = list(
        zip(
            ratings.reviewer_codes.tolist(),
            ratings.item_codes.tolist(),
            ratings.preference.tolist(),
            strict=True,
        )
    )
    found = borda(ratings).estimates.tolist()
    for item in range(ratings.n_items):
        won, met = Fraction(0), 0
        for reviewer, own, score in rows:
            if own != item:
                continue
            for other_reviewer, other, other_score in rows:
                if other_reviewer == reviewer and other != item:
                    met += 1
                    won += Fraction((score > other_score) + (score >= other_score), 2)
        assert found[item] == (float(won / met) if met else 0.5)


def test_ranks_and_comparisons_are_enough() -> None:
    ranked = Ratings.from_ranks(["a"] * 3, ["x", "y", "z"], [1, 2, 3])
    assert borda(ranked).estimates.tolist() == [1.0, 0.5, 0.0]
    pairs = Ratings.from_comparisons(["x", "x", "y"], ["y", "z", "z"])
    assert borda(pairs).estimates.tolist() == [1.0, 0.5, 0.0]
