import math
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.arrays import mean, spread
from evenhand.errors import RatingsError
from evenhand.models.means import item_means
from evenhand.ranking.methods import by_estimates
from evenhand.ranking.ranking import rank
from evenhand.ratings import Ratings

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(finite, min_size=1, max_size=8), st.data())
def test_the_mean_never_depends_on_the_order_of_the_scores(
    scores: list[float], data: st.DataObject
) -> None:
    assert mean(data.draw(st.permutations(scores))) == mean(scores)


@given(st.lists(finite, min_size=1, max_size=8))
def test_the_mean_is_the_exact_one_to_the_last_bits(scores: list[float]) -> None:
    exact = sum(map(Fraction, scores)) / len(scores)
    # The sum and the quotient are each rounded once.
    slack = 2 * Fraction(math.ulp(float(exact)))
    assert exact - slack <= Fraction(mean(scores)) <= exact + slack


def test_means_beyond_the_largest_sum_are_still_finite() -> None:
    assert mean([1.7e308, 1.7e308]) == 1.7e308


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=8))
def test_the_spread_is_the_sample_standard_deviation(scores: list[int]) -> None:
    centre = Fraction(sum(scores), len(scores))
    variance = sum((score - centre) ** 2 for score in scores) / (len(scores) - 1)
    assert spread(scores) == pytest.approx(math.sqrt(variance), rel=1e-12, abs=1e-12)


def test_the_spread_of_one_score_or_beyond_any_float_is_none() -> None:
    assert spread([]) is None
    assert spread([3.0]) is None
    assert spread([1.7e308, -1.7e308]) is None
    assert spread([1e200, 3e200]) == pytest.approx(math.sqrt(2) * 1e200)


def test_the_highest_mean_comes_first_not_the_highest_score() -> None:
    ratings = Ratings(list("aabbc"), list("xyxzz"), [9, 5, 0, 4, 8])
    assert item_means(ratings).tolist() == [4.5, 5.0, 6.0]
    assert rank(ratings, method="mean", rng=7).order == ("z", "y", "x")


def test_equal_means_are_ordered_by_a_fair_lot() -> None:
    means, draws = item_means(Ratings(["a"] * 4, list("wxyz"), [2, 1, 1, 1])), 3000
    orders = (by_estimates(means, seed, "mean").tolist() for seed in range(draws))
    counts = Counter(tuple(order) for order in orders)
    assert all(order[0] == 0 for order in counts)
    assert len(counts) == 6
    # Chi-square with 5 degrees of freedom exceeds 36 less than once in a million.
    assert sum((count - draws / 6) ** 2 / (draws / 6) for count in counts.values()) < 36


def test_ranks_are_refused_in_words() -> None:
    ratings = Ratings.from_ranks(["a", "a"], ["x", "y"], [1, 2])
    with pytest.raises(RatingsError, match="a rank is never used as a score"):
        item_means(ratings)
