"""The canonical setting: closed forms against quadrature and golden numbers."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.ab.weights import rational
from evenhand.errors import OptionError
from evenhand.lab.curves import (
    SMALL,
    best_tradeoff,
    known_bias_frontier,
    tradeoff,
)
from evenhand.lab.exact import uniform_success

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
        found = uniform_success("votes", shifts, weight=rational(gamma))
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


def test_gamma_must_be_in_range() -> None:
    with pytest.raises(OptionError, match="gamma must be finite and above 0, got 0"):
        tradeoff(0)
