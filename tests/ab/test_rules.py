"""The rules for two items: definitions, symmetries, exact ties, refusals."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import OptionError, RatingsError
from evenhand.ab import rules
from evenhand.arrays import Numbers
from tests import plain_rules

scores = st.floats(min_value=-1e6, max_value=1e6)
tenths = st.integers(0, 50).map(lambda number: number / 10)
RULES: list[Callable[[Numbers, Numbers], object]] = [
    plain_rules.coin,
    plain_rules.sign,
    plain_rules.mean,
    plain_rules.trimmed,
    plain_rules.median,
    plain_rules.midrank,
    plain_rules.votes,
    plain_rules.guarded,
]


def number(value: object) -> float:
    assert isinstance(value, float | Fraction)
    return float(value)


def decimal_mean(values: list[float]) -> Fraction:
    return sum((Fraction(repr(value)) for value in values), Fraction(0)) / len(values)


def test_coin_is_a_half_whatever_the_scores() -> None:
    assert plain_rules.coin([9.0], [1.0, 2.0]) == 0.5
    assert plain_rules.coin(np.ones((3, 2)), np.zeros((3, 5))).tolist() == [0.5] * 3


def test_sign_counts_pairwise_wins() -> None:
    assert plain_rules.sign([3, 3, 0], [2, 2, 9]) == 1
    assert plain_rules.sign([3, 0, 0], [2, 2, 9]) == 0
    assert plain_rules.sign([3, 0, 5], [2, 2, 5]) == 0.5


def test_mean_compares_means_of_unequal_counts() -> None:
    assert plain_rules.mean([5.0], [1.0, 8.0]) == 1
    assert plain_rules.mean([4.5], [1.0, 8.0]) == 0.5
    assert plain_rules.mean([4.0], [1.0, 8.0]) == 0


def test_trimmed_cuts_a_fixed_share_at_each_end() -> None:
    """By hand: of ten scores a share of 0.2 cuts two at each end."""
    first = [0, 0, 5, 5, 5, 5, 5, 5, 100, 100]
    assert plain_rules.trimmed(first, [5.1] * 10) == 0
    assert plain_rules.trimmed(first, [5.1] * 10, trim=0.1) == 1
    assert plain_rules.trimmed(first, [5] * 3) == 0.5


def test_trimmed_cuts_as_many_as_the_share_says_not_its_float() -> None:
    assert 0.29 * 100 < 29
    first = [0.0] * 29 + [1.0] * 42 + [2.0] * 28 + [9.0]
    assert plain_rules.trimmed(first, [1.0], trim=0.29) == 0.5
    assert plain_rules.trimmed([1.0] * 71 + [9.0] * 29, [1.0], trim=0.29) == 0.5
    assert plain_rules.trimmed([1.0] * 70 + [9.0] * 30, [1.0], trim=0.29) == 1


def test_trim_of_nothing_is_the_mean() -> None:
    assert plain_rules.trimmed([0, 0, 9], [2, 2, 2], trim=0) == 1


@pytest.mark.parametrize(
    ("which", "middle_of_four", "middle_of_five"),
    [("upper", 3.0, 3.0), ("lower", 2.0, 3.0), ("middle", 2.5, 3.0)],
)
def test_medians_follow_the_papers_footnote(
    which: str, middle_of_four: float, middle_of_five: float
) -> None:
    for ordered, middle in (
        ([4.0, 1.0, 3.0, 2.0], middle_of_four),
        ([5.0, 4.0, 1.0, 3.0, 2.0], middle_of_five),
    ):
        assert plain_rules.median(ordered, [middle], median=which) == 0.5
        assert plain_rules.median(ordered, [middle + 0.1], median=which) == 0
        assert plain_rules.median(ordered, [middle - 0.1], median=which) == 1


def test_votes_golden_number() -> None:
    """By hand: gaps 1, 6, -1 give votes of 3/4, 13/14, 1/4 and a majority of 43/56."""
    exact = plain_rules.votes(
        *([Fraction(x) for x in side] for side in ([7, 9, 4], [6, 3, 5]))
    )
    assert isinstance(exact, Fraction)
    assert exact == Fraction(43, 56)
    assert plain_rules.votes([7, 9, 4], [6, 3, 5]) == pytest.approx(43 / 56, abs=1e-15)


def test_votes_of_two_pairs_break_ties_by_a_coin() -> None:
    """By hand: votes of 3/4 and 1/2: 3/8 + (3/8 + 1/8) / 2 = 5/8."""
    assert plain_rules.votes([3, 2], [2, 2]) == 0.625


def test_votes_use_the_weight() -> None:
    assert plain_rules.votes([3], [2], weight="linear(4)") == 0.625
    assert plain_rules.votes([3], [2], weight="offset(0.5, linear(4))") == 0.8125


@pytest.mark.parametrize("rule", RULES)
def test_rules_work_along_leading_axes(
    rule: Callable[[Numbers, Numbers], object],
) -> None:
    table = np.random.default_rng(5).integers(0, 4, (2, 3, 4, 5)).astype(float)
    together = np.asarray(rule(table[0], table[1]))
    assert together.shape == (3, 4)
    for row, column in np.ndindex(3, 4):
        single = rule(table[0, row, column], table[1, row, column])
        assert together[row, column] == single


@pytest.mark.parametrize("rule", RULES)
def test_fractions_give_exact_results_equal_to_those_of_floats(
    rule: Callable[[Numbers, Numbers], object],
) -> None:
    rows = np.random.default_rng(6).integers(0, 4, (40, 2, 3)).tolist()
    for first, second in rows:
        exact = rule([Fraction(x) for x in first], [Fraction(x) for x in second])
        assert isinstance(exact, Fraction)
        assert number(rule(first, second)) == pytest.approx(float(exact), abs=1e-15)


def test_object_tables_of_fractions_are_exact_too() -> None:
    one = np.array([[Fraction(1, 3), Fraction(2, 3)], [Fraction(1), Fraction(0)]])
    two = np.array([[Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 3), Fraction(1, 3)]])
    assert plain_rules.mean(one, two).tolist() == [Fraction(1, 2), Fraction(1)]


@pytest.mark.parametrize("rule", RULES)
@given(pairs=st.lists(st.tuples(tenths, tenths), min_size=1, max_size=7))
def test_swapping_the_items_turns_the_probability_round(
    rule: Callable[[Numbers, Numbers], object], pairs: list[tuple[float, float]]
) -> None:
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    turned = 1 - number(rule(second, first))
    assert number(rule(first, second)) == pytest.approx(turned, abs=1e-12)


@given(
    values=st.lists(scores, min_size=1, max_size=9),
    other=st.lists(scores, min_size=1, max_size=9),
    order=st.randoms(use_true_random=False),
)
def test_order_of_the_scores_does_not_matter_to_mean_and_median(
    values: list[float], other: list[float], order: object
) -> None:
    shuffled = values.copy()
    order.shuffle(shuffled)  # type: ignore[attr-defined]  # a random.Random of hypothesis
    for rule in (plain_rules.mean, plain_rules.trimmed, plain_rules.median):
        assert rule(values, other) == rule(shuffled, other)
        assert rule(values, shuffled) == 0.5


@given(
    values=st.lists(tenths, min_size=1, max_size=6),
    other=st.lists(tenths, min_size=1, max_size=6),
)
def test_means_are_compared_as_exact_decimals(
    values: list[float], other: list[float]
) -> None:
    gap = decimal_mean(values) - decimal_mean(other)
    assert plain_rules.mean(values, other) == (1 + (gap > 0) - (gap < 0)) / 2


def test_means_tie_in_spite_of_rounding() -> None:
    assert sum([0.1] * 3) / 3 != 0.1
    assert plain_rules.mean([0.1] * 3, [0.1]) == 0.5
    assert 0.1 + 0.2 != 0.3
    assert plain_rules.mean([0.1, 0.2], [0.3, 0.0]) == 0.5
    assert plain_rules.median([0.1, 0.2], [0.3, 0.0], median="middle") == 0.5


def test_means_of_extreme_scores_neither_overflow_nor_vanish() -> None:
    assert plain_rules.mean([1e308, 1e308], [1e308, 1.1e308]) == 0
    assert plain_rules.mean([1e308] * 3, [1e308]) == 0.5
    assert plain_rules.mean([1e308, 5e-324], [1e308, 0.0]) == 1
    assert plain_rules.mean([1e308, -1e308, 1e-300], [0.0]) == 1


def test_a_side_without_scores_is_a_coin() -> None:
    for rule in (
        plain_rules.mean,
        plain_rules.trimmed,
        plain_rules.median,
        plain_rules.coin,
    ):
        assert rule([], [1.0]) == 0.5
        assert rule([1.0], []) == 0.5
    assert plain_rules.median([1.0], [], median="lower") == 0.5
    assert plain_rules.votes([], []) == 0.5
    assert plain_rules.sign([], []) == 0.5


def test_scores_without_a_partner_do_not_vote() -> None:
    assert plain_rules.votes([1, 2], [3]) == plain_rules.votes([1], [3])
    assert plain_rules.sign([5], [3, 9]) == 1


def test_refusals_name_the_place_and_the_value() -> None:
    with pytest.raises(RatingsError, match=r"second score must be finite, got inf at"):
        plain_rules.mean([1.0], [math.inf])
    with pytest.raises(ValueError, match=r"shape mismatch"):
        plain_rules.mean(np.ones((2, 1)), np.ones((3, 1)))
    with pytest.raises(
        OptionError, match=r"unknown statistic 'median:uper', did you mean"
    ):
        plain_rules.median([1], [2], median="uper")
    with pytest.raises(OptionError, match=r"trim must be at least 0 .* got 0\.5"):
        plain_rules.trimmed([1], [2], trim=0.5)
    with pytest.raises(OptionError, match=r"below 0\.5, got -0\.1"):
        plain_rules.trimmed([1], [2], trim=-0.1)
    with pytest.raises(OptionError, match=r"trim must be at least 0 .* got '0\.1'"):
        plain_rules.trimmed([1], [2], trim="0.1")  # type: ignore[arg-type]  # a user's mistake


@pytest.mark.parametrize(
    ("share", "count", "cut"),
    [(0.29, 100, 29), (0.29, 94_000_000, 27_260_000), (0.2, 4, 0), (0.49, 3, 1)],
)
def test_the_share_that_is_cut_is_the_decimal_that_was_given(
    share: float, count: int, cut: int
) -> None:
    """By hand: 0.29 of 94,000,000 is 27,260,000, and floats lose one of them."""
    assert rules.central_places("trimmed", share)(count) == (cut, count - cut)
