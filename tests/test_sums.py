"""Exact sums against math.fsum, and means and spreads against the plain ones."""

from __future__ import annotations

import itertools
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evenhand._kernels.sums import PARTS, centres_and_spreads, exact_sum
from evenhand.calibration.mean import mean, spread

finite = st.floats(allow_nan=False, allow_infinity=False)
moderate = st.floats(-1e9, 1e9) | st.integers(-9, 9).map(float)
groups = st.lists(st.lists(moderate | finite, max_size=6), max_size=5)


def plain_sum(values: list[float]) -> float | None:
    try:
        return math.fsum(values)
    except OverflowError:
        return None


@given(st.lists(finite | moderate, max_size=60))
def test_a_sum_is_rounded_once(values: list[float]) -> None:
    total = exact_sum(np.array(values, dtype=np.float64), np.empty(PARTS))
    plain = plain_sum(values)
    assert not math.isfinite(total) if plain is None else total == plain


def test_parts_of_every_size_have_room() -> None:
    values = [2.0**power for power in range(-1074, 1023)]
    values += [-(2.0**power) for power in range(1022, -1074, -54)]
    assert exact_sum(np.array(values), np.empty(PARTS)) == math.fsum(values)


@given(groups)
def test_means_and_spreads_are_those_of_each_group(groups: list[list[float]]) -> None:
    start = np.array([0, *itertools.accumulate(map(len, groups))], dtype=np.int64)
    values = np.array([*itertools.chain(*groups)], dtype=np.float64)
    means, spreads = centres_and_spreads(start, values, 2.0)
    for scores, centre, away in zip(
        groups, means.tolist(), spreads.tolist(), strict=True
    ):
        if not scores or plain_sum(scores) is None:
            assert math.isnan(centre)
            continue
        assert centre == mean(scores)
        plain = spread(scores)
        assert math.isnan(away) if plain is None else away == plain
