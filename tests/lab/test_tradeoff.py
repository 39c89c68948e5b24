"""The canonical setting: closed forms against quadrature and golden numbers."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.lab.curves import best_tradeoff, known_bias_frontier, tradeoff
from evenhand.lab.exact import uniform_success

GOLDEN = json.loads(
    (Path(__file__).parent.parent / "golden" / "oracle_figures.json").read_text()
)


@pytest.mark.parametrize("row", GOLDEN["fig3"])
def test_points_agree_with_golden_numbers(row: dict[str, float]) -> None:
    point = tradeoff(row["gamma"])
    assert point.perfect == pytest.approx(row["perfect"], abs=1e-9)
    assert point.biased == pytest.approx(row["biased"], abs=1e-9)


@given(st.floats(-10, 10))
@settings(max_examples=30)
def test_the_average_over_values_agrees_with_closed_forms(exponent: float) -> None:
    gamma = 2.0**exponent
    point = tradeoff(gamma)
    one, two = math.log1p(gamma), math.log1p(gamma / (1 + gamma))
    perfect = 1 - 2 / gamma * ((1 + 1 / gamma) * one - 1)
    biased = 2 / gamma - one / gamma**2 - (2 / gamma + 1 / gamma**2) * two
    # At a small gamma the closed forms cancel.
    assert point.perfect == pytest.approx(100 * perfect, abs=1e-7)
    assert point.biased == pytest.approx(100 * biased, abs=1e-7)


def test_a_tiny_gamma_keeps_its_digits() -> None:
    # The first terms of the power series are gamma / 3 - gamma**2 / 6.
    gamma = 1e-6
    point = tradeoff(gamma)
    assert point.perfect == pytest.approx(100 * (gamma / 3 - gamma**2 / 6), rel=1e-8)
    assert point.perfect > point.biased > 0


def test_the_maximum_is_where_the_slope_changes_sign() -> None:
    best = best_tradeoff()
    assert best.biased == pytest.approx(GOLDEN["fig3_maximum"]["biased"], abs=1e-9)
    # A maximiser finds the place only to the root of the floats' precision.
    assert best.gamma == pytest.approx(GOLDEN["fig3_maximum"]["gamma"], abs=1e-6)
    for other in (best.gamma - 1e-3, best.gamma + 1e-3):
        assert tradeoff(other).biased < best.biased
    # Worked out to 60 digits from the derivative.
    assert best.gamma == pytest.approx(1.22989729101076916, rel=1e-6)
    assert best.perfect == pytest.approx(26.1716663158154779, rel=1e-6)


@given(
    st.sampled_from(
        ["rational(3)", "sigmoid(0.2)", "linear(2)", "exponential(0.5)", "offset(0.6)"]
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
