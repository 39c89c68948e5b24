"""The canonical setting: closed forms against quadrature and golden numbers."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.ab.weights import as_weight, odd
from evenhand.errors import ConvergenceError, OptionError
from evenhand.lab._quadrature import integrate
from evenhand.lab.exact import uniform_success
from evenhand.lab.tradeoff import (
    SMALL,
    best_tradeoff,
    canonical_success,
    known_bias_frontier,
    tradeoff,
)

GOLDEN = json.loads(
    (Path(__file__).parent.parent / "golden" / "oracle_figures.json").read_text()
)


@pytest.mark.parametrize("row", GOLDEN["fig3"])
def test_closed_forms_agree_with_golden_numbers(row: dict[str, float]) -> None:
    point = tradeoff(row["gamma"])
    assert point.perfect == pytest.approx(row["perfect"], abs=1e-9)
    assert point.biased == pytest.approx(row["biased"], abs=1e-9)


@given(st.floats(-10, 10))
@settings(max_examples=30)
def test_closed_forms_agree_with_the_average_over_values(exponent: float) -> None:
    gamma = 2.0**exponent
    point = tradeoff(gamma)
    for shifts, known in (((0, 0), point.perfect), ((0, 1), point.biased)):
        found = uniform_success("votes", shifts, weight=f"rational:{gamma!r}")
        assert found.improvement == pytest.approx(known, rel=1e-9, abs=1e-9)


def test_series_and_closed_forms_meet() -> None:
    below, above = tradeoff(math.nextafter(SMALL, 0)), tradeoff(SMALL)
    assert below.perfect == pytest.approx(above.perfect, rel=1e-12)
    assert below.biased == pytest.approx(above.biased, rel=1e-11)


def test_a_tiny_gamma_keeps_all_its_digits() -> None:
    # The first terms of both power series are gamma / 3 - gamma**2 / 6 (7 / 6).
    gamma = 1e-9
    point = tradeoff(gamma)
    assert point.perfect == pytest.approx(100 * (gamma / 3 - gamma**2 / 6), rel=1e-15)
    assert point.perfect > point.biased > 0


def test_the_maximum_is_where_the_slope_changes_sign() -> None:
    best = best_tradeoff()
    assert best.biased == pytest.approx(GOLDEN["fig3_maximum"]["biased"], abs=1e-9)
    # A maximiser finds the place only to the root of the floats' precision.
    assert best.gamma == pytest.approx(GOLDEN["fig3_maximum"]["gamma"], abs=1e-6)
    for other in (best.gamma - 1e-3, best.gamma + 1e-3):
        assert tradeoff(other).biased < best.biased
    # Worked out to 60 digits from the derivative.
    assert best.gamma == pytest.approx(1.22989729101076916, rel=1e-13)
    assert best.perfect == pytest.approx(26.1716663158154779, rel=1e-12)


@given(
    st.sampled_from(
        ["rational:3", "sigmoid:0.2", "linear:2", "exponential:0.5", "offset:0.6"]
    )
)
@settings(max_examples=5)
def test_no_weight_is_beyond_the_frontier(weight: str) -> None:
    perfect = uniform_success("votes", (0, 0), weight=weight).improvement
    biased = uniform_success("votes", (0, 1), weight=weight).improvement
    assert biased < known_bias_frontier(perfect)


def test_a_step_at_the_bias_comes_close_to_the_frontier() -> None:
    def step(gap: float) -> float:
        slope = 1e-9 * gap / (1 + gap)
        return 0.3 + slope if gap <= 1 else 1 - 1e-9 + slope / 2

    perfect = uniform_success("votes", (0, 0), weight=step).improvement
    biased = uniform_success("votes", (0, 1), weight=step).improvement
    assert biased == pytest.approx(known_bias_frontier(perfect), abs=1e-5)


@pytest.mark.parametrize("weight", ["rational:1", "sigmoid:0.3", "rational:40"])
def test_any_two_scales_agree_with_another_quadrature(weight: str) -> None:
    chosen = as_weight(weight)
    nodes, shares = np.polynomial.legendre.leggauss(200)
    x = (1 + nodes[:, None]) / 2
    # For y < x the two scores x**2 and 3 y are equal at y = x**2 / 3 only.
    bend = x**2 / 3
    known = 0.0
    for low, high in ((0 * x, bend), (bend, x)):
        y = low + (high - low) * (1 + nodes) / 2
        chances = odd(chosen, x**2 - 3 * y) + odd(chosen, 3 * x - y**2)
        known += float((shares[:, None] * (high - low) * shares * chances).sum()) / 4
    found = canonical_success(lambda x: x**2, lambda x: 3 * x, weight=weight)
    assert found == pytest.approx(known, abs=1e-8)


def test_scales_that_add_agree_with_the_closed_form() -> None:
    found = canonical_success(lambda x: x + 1, lambda x: x, weight="rational:4")
    assert 100 * (2 * found - 1) == pytest.approx(tradeoff(4).biased, abs=1e-7)


def test_scales_far_apart_leave_almost_a_fair_coin_but_not_quite() -> None:
    found = canonical_success(lambda x: x, lambda x: 100 + x)
    assert 0.5 < found < 0.5001


def test_falling_scales_are_refused() -> None:
    with pytest.raises(OptionError, match=r"increasing on \[0, 1\]"):
        canonical_success(lambda x: x, lambda x: -x)


def test_gamma_and_per_cent_must_be_in_range() -> None:
    with pytest.raises(OptionError, match="gamma must be finite and above 0, got 0"):
        tradeoff(0)
    with pytest.raises(OptionError, match="between 0 and 100, got 101"):
        known_bias_frontier(101)


def test_an_integral_with_jumps_is_still_right() -> None:
    found = integrate(lambda x: np.floor(10 * x), [0.0, 1.0])
    assert found == pytest.approx(float(Fraction(45, 10)), abs=1e-8)


def test_an_integral_that_never_settles_is_refused() -> None:
    def wild(x: np.ndarray) -> np.ndarray:
        return np.asarray(np.sin(1 / np.maximum(x, 1e-9)) / np.maximum(x, 1e-9))

    with pytest.raises(ConvergenceError, match="panels"):
        integrate(wild, [0.0, 1.0])
