"""What fits have in common."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.models.design import Variances, round_to_resolution, standardise

values = st.lists(st.integers(-50, 50), min_size=1, max_size=8)


@given(values, st.integers(0, 2**32))
def test_rounding_makes_no_order_and_breaks_none(
    given_values: list[int], seed: int
) -> None:
    exact = np.array(given_values, dtype=np.float64)
    noise = np.random.default_rng(seed).uniform(-1, 1, len(exact))
    found = round_to_resolution(exact + 1e-15 * np.abs(exact).max() * noise)
    assert np.array_equal(
        np.sign(found[:, None] - found), np.sign(exact[:, None] - exact)
    )


def test_tiny_values_next_to_huge_ones_are_not_told_apart() -> None:
    assert round_to_resolution(np.array([1.0, 2.0, 1e300])).tolist() == [
        1.0,
        1.0,
        1e300,
    ]


@given(values)
def test_standardised_values_have_mean_0_and_deviation_1(
    given_values: list[int],
) -> None:
    found = standardise(np.array(given_values, dtype=np.float64))
    assert found.mean() == pytest.approx(0, abs=1e-12)
    wanted = 1.0 if len(set(given_values)) > 1 else 0.0
    assert found.std() == pytest.approx(wanted, abs=1e-12)


def test_shares_of_variance_hold_for_huge_variances() -> None:
    assert Variances(1e308, 1e308, 0.0).shares[0] == 0.5
    assert Variances(1.0, 2.0, 1.0).shares == (0.25, 0.5, 0.25)
    assert Variances(0.0, 0.0, 0.0).shares[0] == 0.0
