"""The rules of two items as plain functions of their scores."""

from typing import Any

from evenhand.ab.methods import Guarded
from evenhand.ab.rules import TRIM, coin, follow_statistic, votes
from evenhand.arrays import Floats, Numbers

__all__ = ["coin", "guarded", "mean", "median", "midrank", "sign", "trimmed", "votes"]


def sign(first: Numbers, second: Numbers) -> Floats:
    return follow_statistic("sign", first, second)


def mean(first: Numbers, second: Numbers) -> Floats:
    return follow_statistic("mean", first, second)


def trimmed(first: Numbers, second: Numbers, *, trim: float = TRIM) -> Floats:
    return follow_statistic("trimmed", first, second, trim=trim)


def median(first: Numbers, second: Numbers, *, median: str = "upper") -> Floats:
    return follow_statistic(f"median:{median}", first, second)


def midrank(first: Numbers, second: Numbers) -> Floats:
    return follow_statistic("midrank", first, second)


def guarded(first: Numbers, second: Numbers, **options: Any) -> Floats:  # noqa: ANN401 - of many kinds
    return Guarded(**options).chance(first, second)
