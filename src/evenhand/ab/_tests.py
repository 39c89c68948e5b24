"""Which randomisation test goes with a comparison, and the bound for a known range."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand._labels import shown
from evenhand._results import Notice
from evenhand.ab.bounds import effect_for_error
from evenhand.ab.pvalues import STATISTICS, p_values, table_p_values
from evenhand.errors import OptionError, RatingsError, unknown

if TYPE_CHECKING:
    from evenhand._results import Json
    from evenhand.ab._methods import Method
    from evenhand.ab._sides import Sides
    from evenhand.ab.checker import OwnRule
    from evenhand.ab.pvalues import PValues

GROUPED = ("matched", "panels")
ERROR = 0.05
TWO = 2


def tested(
    sides: Sides, chosen: Method, test: str | None, design: str | None, seed: int
) -> tuple[PValues | None, tuple[Notice, ...]]:
    """Test that neither item is better, by drawing the assignment again.

    Args:
        sides: The scores.
        chosen: The method. If no test is asked for, means, medians and a user's own
            function are tested themselves; the others by midranks.
        test: Name of a statistic, or None.
        design: What is drawn again; None for the counts as they are.
        seed: Where sampled assignments come from.

    Returns:
        The p-values, or None where there is nothing to test; and what the reader must
        know.

    Raises:
        OptionError: If there is no such statistic.
    """
    if test is not None and test not in STATISTICS:
        raise OptionError(unknown("test", test, STATISTICS))
    if sides.verdict is not None or (test is None and chosen.label == "coin"):
        return None, ()
    if design in GROUPED and sides.groups is None and not _in_order(sides, design):
        text = (
            f"There are no p-values: nothing says which {_group(design)} each reviewer "
            "belongs to. Name the column with --pair, or give the assignment."
        )
        return None, (Notice("groups_unknown", text),)
    statistic, median = _statistic(chosen, test, design)
    if design not in GROUPED and isinstance(statistic, str) and statistic != "pairs":
        found = table_p_values(
            sides.first,
            sides.second,
            statistic=statistic,
            design=design,
            trim=chosen.trim,
            median=median,
            seed=seed,
        )
        return found, ()
    found = p_values(
        *sides.one_by_one(f"test {test or chosen.name!r}"),
        statistic=statistic,
        design=design,
        groups=sides.groups if design in GROUPED else None,
        trim=chosen.trim,
        median=median,
        rng=seed,
    )
    return found, ()


def _in_order(sides: Sides, design: str | None) -> bool:
    return design == "matched" and sides.pairing == "given"


def _group(design: str | None) -> str:
    return "pair" if design == "matched" else "panel"


def _statistic(
    chosen: Method, test: str | None, design: str | None
) -> tuple[str | OwnRule, str]:
    if test is not None:
        return test, chosen.median
    if chosen.own is not None:
        return chosen.own, chosen.median
    followed = chosen.statistic if chosen.name == "guarded" else chosen.name
    if not isinstance(followed, str):
        return followed, chosen.median
    name, _, which = followed.partition(":")
    if name in ("sign", "votes"):
        return ("pairs" if design == "matched" else "midrank"), chosen.median
    # On few levels cutting ends costs power, and midranks stand outliers as well.
    return "midrank" if name == "trimmed" else name, which or chosen.median


def bound(
    sides: Sides,
    chosen: Method,
    score_range: tuple[float, float] | None,
    design: str | None,
) -> dict[str, Json] | None:
    """Say how small an effect the mean can be trusted with, on a declared range.

    Raises:
        OptionError: If the range is not two finite numbers in order, or the method is
            not the mean.
        RatingsError: If a score is outside.
    """
    if score_range is None:
        return None
    low, high = _as_range(score_range)
    if chosen.label != "mean":
        raise OptionError(
            f"score_range must be left out for method {chosen.name!r}, got "
            f"{score_range!r}. The error bound is proved for method 'mean'."
        )
    for label, side in zip(sides.items, (sides.first, sides.second), strict=True):
        outside = side.levels[(side.levels < low) | (side.levels > high)]
        if len(outside):
            raise RatingsError(
                f"scores must be within the declared range {low:g} to {high:g}, got "
                f"{outside[0]:g} of {label!r}. Declare the whole form's range."
            )
    count = sides.first.size
    if design != "halves" or count != sides.second.size or not count:
        return None
    effect = effect_for_error(count, score_range=high - low, error=ERROR)
    return {
        "score_range": [low, high],
        "per_item": count,
        "error": ERROR,
        "effect": effect if effect <= high - low else None,
    }


def _as_range(score_range: object) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in score_range)  # type: ignore[attr-defined]  # refused below
    except (TypeError, ValueError):
        low = high = math.nan
    if not (math.isfinite(high - low) and low < high):
        raise OptionError(
            "score_range must be two finite numbers, the lower first, got "
            f"{shown(score_range)}."
        )
    return low, high
