"""The error bound of the mean under a declared range, against exact errors."""

import functools
import itertools
import math
from fractions import Fraction

import pytest

from evenhand import designs
from evenhand.randomness import below, stream

RANGE = 12


def mean_error_bound(per_item: int, *, score_range: float, effect: float) -> float:
    """Bound the probability that the mean prefers the worse item.

    The difference of means is the mean effect plus what the reviewers of one item,
    drawn without replacement, are off the average of all in the sum of the two scores
    that each would give: Serfling (1974), Corollary 1.1.
    """
    share = effect / score_range
    return math.exp(-(per_item**2 / (per_item + 1)) * share**2)


@functools.cache
def halves(n_reviewers: int) -> dict[tuple[int, ...], Fraction]:
    return designs.law("halves", n_reviewers)


def error_of_the_mean(better: list[int], worse: list[int]) -> Fraction:
    """Exact over balanced halves, a tie counted as an error in full."""
    errors = Fraction(0)
    for sides, chance in halves(len(better)).items():
        rows = zip(better, worse, sides, strict=True)
        gap = sum(high if side == 0 else -low for high, low, side in rows)
        errors += chance if gap <= 0 else 0
    return errors


def assert_bounded(better: list[int], worse: list[int]) -> None:
    per_item = len(better) // 2
    effect = Fraction(sum(better) - sum(worse), len(better))
    bound = mean_error_bound(per_item, score_range=RANGE, effect=float(effect))
    assert error_of_the_mean(better, worse) <= Fraction(bound)


@pytest.mark.parametrize("per_item", [1, 2, 3, 4])
def test_no_scales_exceed_the_bound(per_item: int) -> None:
    """Harsh and lenient reviewers at the ends of the range, and effects of any size."""
    for harsh in range(2 * per_item + 1):
        for gaps in itertools.product([0, 1, 5, RANGE], repeat=2):
            worse = [0] * harsh + [RANGE - gaps[1]] * (2 * per_item - harsh)
            better = [
                low + gap
                for low, gap in zip(
                    worse,
                    [gaps[0]] * harsh + [gaps[1]] * (2 * per_item - harsh),
                    strict=True,
                )
            ]
            if sum(better) > sum(worse):
                assert_bounded(better, worse)


def test_no_random_scales_exceed_the_bound() -> None:
    source = stream(2019, "scales in a range")
    close = Fraction(0)
    for _ in range(200):
        size = 2 * (1 + below(source, 4))
        worse = [below(source, RANGE) for _ in range(size)]
        better = [low + below(source, RANGE - low + 1) for low in worse]
        if better != worse:
            assert_bounded(better, worse)
            close = max(close, error_of_the_mean(better, worse))
    # The errors are real: the means are often wrong here.
    assert close >= Fraction(1, 2)


def test_bound_by_hand() -> None:
    """Four reviewers each, half of the range: exp(-16/5 * 1/4)."""
    assert mean_error_bound(4, score_range=10, effect=5) == math.exp(-0.8)
    assert mean_error_bound(4, score_range=10, effect=0) == 1
