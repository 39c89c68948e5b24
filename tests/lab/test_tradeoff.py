"""The canonical setting: closed forms against quadrature and golden numbers."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.lab.figures import tradeoff

GOLDEN = json.loads(
    (Path(__file__).parent.parent / "golden" / "oracle_figures.json").read_text()
)


@pytest.mark.parametrize("row", GOLDEN["fig3"])
def test_points_agree_with_golden_numbers(row: dict[str, float]) -> None:
    point = tradeoff(row["gamma"])
    assert float(point["perfect"]) == pytest.approx(row["perfect"], abs=1e-9)
    assert float(point["biased"]) == pytest.approx(row["biased"], abs=1e-9)


@given(st.floats(-10, 10))
@settings(max_examples=30)
def test_the_average_over_values_agrees_with_closed_forms(exponent: float) -> None:
    gamma = 2.0**exponent
    point = tradeoff(gamma)
    one, two = math.log1p(gamma), math.log1p(gamma / (1 + gamma))
    perfect = 1 - 2 / gamma * ((1 + 1 / gamma) * one - 1)
    biased = 2 / gamma - one / gamma**2 - (2 / gamma + 1 / gamma**2) * two
    # At a small gamma the closed forms cancel.
    assert float(point["perfect"]) == pytest.approx(100 * perfect, abs=1e-7)
    assert float(point["biased"]) == pytest.approx(100 * biased, abs=1e-7)


def test_a_tiny_gamma_keeps_its_digits() -> None:
    # The first terms of the power series are gamma / 3 - gamma**2 / 6.
    gamma = 1e-6
    point = tradeoff(gamma)
    assert float(point["perfect"]) == pytest.approx(
        100 * (gamma / 3 - gamma**2 / 6), rel=1e-8
    )
    assert float(point["perfect"]) > float(point["biased"]) > 0
