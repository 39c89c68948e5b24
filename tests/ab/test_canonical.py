"""Two scores, one coin: both forms of the canonical estimator."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from evenhand import OptionError, RatingsError
from evenhand.ab import weights
from evenhand.ab.rules import (
    first_probability,
    threshold_probability,
)

numbers = st.fractions(min_value=-50, max_value=50, max_denominator=20)
EXACT = [
    weights.rational(Fraction(2, 3)),
    weights.linear(200),
    weights.offset(Fraction(1, 3), weights.rational(2)),
]


def exact(value: object) -> Fraction:
    assert isinstance(value, Fraction)
    return value


def test_higher_score_is_first_with_half_of_one_plus_the_weight() -> None:
    table = [[3.0, 2.0], [2.0, 3.0], [1.0, 1.0], [4.0, 1.0]]
    assert first_probability(table).tolist() == [0.75, 0.25, 0.5, 0.875]


def test_leading_axes_are_kept() -> None:
    assert first_probability(np.zeros((3, 4, 2))).shape == (3, 4)
    assert first_probability(np.zeros((0, 2))).shape == (0,)


def test_differences_beyond_floats_give_probability_one() -> None:
    assert first_probability([1e308, -1e308]) == 1.0
    assert first_probability([-1e308, 1e308], weight="exponential") == 0.0


@given(first=numbers, second=numbers)
def test_a_threshold_with_law_w_is_the_canonical_estimator_exactly(
    first: Fraction, second: Fraction
) -> None:
    for weight in EXACT:
        by_coin = exact(first_probability([first, second], weight=weight))
        by_threshold = exact(threshold_probability([first, second], weight))
        assert by_coin == by_threshold


def test_threshold_with_atoms_uses_a_fair_coin_at_equality() -> None:
    die = scipy.stats.randint(1, 7).cdf
    table = [[3.0, 0.0], [3.5, 0.0], [9.0, 0.0], [0.0, 1.0]]
    np.testing.assert_allclose(
        threshold_probability(table, die), [2.5 / 6, 3 / 6, 1, 0], atol=1e-15
    )


def test_a_step_function_is_its_own_left_limit_just_below() -> None:
    def step(z: float) -> float:
        return 1.0 if z >= 2 else 0.0

    table = [[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]
    assert threshold_probability(table, step).tolist() == [0.0, 0.5, 1.0]


def test_continuous_distributions_give_their_distribution_function() -> None:
    value = threshold_probability([0.3, 1.0], scipy.stats.norm(loc=1, scale=2).cdf)
    assert value == scipy.stats.norm(1, 2).cdf(-0.7)


def test_bad_scores_are_named() -> None:
    with pytest.raises(RatingsError, match=r"must be finite, got nan at index \(1,"):
        first_probability([3.0, math.nan])
    with pytest.raises(RatingsError, match=r"in the last axis, got shape \(3"):
        first_probability([1, 2, 3])
    with pytest.raises(RatingsError, match=r"last axis, got shape \(\)"):
        first_probability(1.0)


def test_bad_distributions_are_named() -> None:
    with pytest.raises(OptionError, match=r"a distribution function, got .*2\.0"):
        threshold_probability([1.0, 0.0], lambda _: 2.0)
    with pytest.raises(OptionError, match=r"got .*0\.2.* at 1\.0"):
        threshold_probability([1.0, 0.0], lambda z: 0.2 if z >= 1 else 0.9)
    with pytest.raises(
        OptionError, match=r"distribution must be a function .* got 3\."
    ):
        threshold_probability([1.0, 0.0], 3)  # type: ignore[arg-type]  # a user's mistake


def skewed(z: float) -> Fraction:
    """A distribution function with 9/10 of Z above 7, increasing everywhere."""
    d = Fraction(z) - 7
    return 1 - 1 / (2 + d) * Fraction(9, 5) if d >= 0 else Fraction(1, 10) / (1 - d)


scales = st.lists(numbers, min_size=2, max_size=2, unique=True).map(sorted)


@given(one=scales, two=scales)
def test_a_skewed_threshold_beats_a_coin_in_reviewer_order(
    one: list[Fraction], two: list[Fraction]
) -> None:
    had_better = threshold_probability([one[1], two[0]], skewed)
    had_worse = threshold_probability([one[0], two[1]], skewed)
    assert exact(had_better) + 1 - exact(had_worse) > 1


def test_a_skewed_threshold_fails_in_item_order() -> None:
    chance = threshold_probability([Fraction(1), Fraction(0)], skewed)
    assert exact(chance) < Fraction(1, 10)


def test_margin_of_the_papers_example() -> None:
    """By hand: scales (9, 6) and (2, 1), gaps 8 and -4: (17/18 + 1/10) / 2."""
    right = first_probability([[Fraction(9), Fraction(1)], [Fraction(2), Fraction(6)]])
    assert sum(right.tolist()) / 2 == Fraction(47, 90)
