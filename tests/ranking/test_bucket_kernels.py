"""Compiled cuts against the plain ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evenhand._kernels.buckets import normal_cuts
from evenhand.ranking import _buckets

if TYPE_CHECKING:
    import pytest

numbers = st.floats(-1, 1, allow_subnormal=False)
sizes = st.floats(0, 1, allow_subnormal=False)


@given(st.lists(st.tuples(numbers, sizes), min_size=1, max_size=30), sizes)
def test_the_kernel_cuts_as_the_plain_loop_does_or_says_that_it_is_not_sure(
    pairs: list[tuple[float, float]], reach: float
) -> None:
    values, errors = np.array(pairs).T
    order = np.argsort(-values, kind="stable")
    found, sure = normal_cuts(values[order], errors[order], 3 * reach)
    wanted = _buckets._plain_cuts(order, values, errors, 3 * reach)  # noqa: SLF001 - the twin
    if sure:
        assert tuple(found.tolist()) == wanted


def test_a_gap_on_the_bound_is_left_to_the_plain_loop() -> None:
    values, errors = np.array([5.0, 0.0]), np.array([3.0, 4.0])
    assert normal_cuts(values, errors, 1.0)[1] is False
    assert normal_cuts(values, errors, 1.1)[1] is True
    assert normal_cuts(values, errors, 0.9)[0].tolist() == [1, 2]


def test_unsure_cuts_are_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def unsure(*_: object) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], bool]:
        return np.zeros(3, dtype=np.int64), False

    monkeypatch.setattr(_buckets, "normal_cuts", unsure)
    values, errors = np.array([2.0, 1.9, 0.0]), np.full(3, 0.5)
    assert _buckets.normal_buckets(np.arange(3), values, errors, 0.95) == (1, 1, 2)


def test_many_random_items_are_cut_by_the_kernel_alone() -> None:
    source = np.random.default_rng(4)
    values = np.sort(source.normal(size=2000))[::-1]
    errors = source.uniform(0.05, 0.2, 2000)
    found, sure = normal_cuts(values, errors, 1.64)
    assert sure
    wanted = _buckets._plain_cuts(np.arange(2000), values, errors, 1.64)  # noqa: SLF001 - the twin
    assert tuple(found.tolist()) == wanted
