"""The difference of two items' means, with the interval that the redraws give it.

Suppose that the first item adds the same number d to every score. Take d off its scores
again, and the randomisation test of the means must not see a difference; the interval
holds every d for which it sees none at the level of 5 %. For one redrawn assignment the
difference of means, less the observed one, is c d - b with c >= 0. So each assignment
has one shift, b / c, from which on it speaks for the first item, and the ends of the
interval are order statistics of these shifts: nothing is searched for, and an end
belongs to the interval.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.ab._redraws import as_labels, redraw_levels, redraw_units
from evenhand.ab.law import Table, as_table
from evenhand.randomness import stream

if TYPE_CHECKING:
    from evenhand.ab._redraws import Counts, Redraws
    from evenhand.ab.pvalues import PValues
    from evenhand.arrays import Floats

ALPHA = 0.05
# A shift is rejected by each side's test if at most one assignment in so many is there.
ONE_IN = 40
# Up to so many assignments are gone through. Otherwise as many are drawn as have these
# cells, within bounds. Of so many scores the normal limit does as well.
FEW, CELLS, FEWEST, MOST = 20_000, 4_000_000, 1_000, 20_000
MANY_SCORES = 20_000
NORMAL = 1.959963984540054
ROUNDING = 1e-9
HUGE = 1e200


class Difference(NamedTuple):
    """The mean of the first item less that of the second, and its 95 % interval.

    Attributes:
        estimate: The difference.
        low: Lower end of the interval, which belongs to it; None if there is none.
        high: Upper end.
        p_value: Two-sided, of the same test for a shift of 0: the interval holds 0
            exactly if it is above 0.05. None without a test.
        how: "enumeration" (of all assignments), "sampling", "normal" (the limit, for
            very many scores), or None without a test.
        samples: Number of sampled assignments, 0 if not sampled.
    """

    estimate: float
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    how: str | None = None
    samples: int = 0


def mean_of(side: Table) -> float | None:
    """Return the mean score, None if there is no score.

    Examples:
        >>> mean_of(as_table(np.array([1.0, 2.0, 2.0, 3.0])))
        2.0
    """
    if not side.size:
        return None
    # A power of two rounds nothing, and keeps sums of huge scores within the floats.
    small = 2.0**-60 if np.abs(side.levels).max() > HUGE else 1.0
    return float((side.levels * small) @ side.counts / side.size / small)


def mean_difference(
    first: Table | Floats,
    second: Table | Floats,
    tested: PValues | None = None,
    *,
    design: str | None = None,
    groups: object = None,
    seed: int = 0,
) -> Difference | None:
    """Return the difference of means with the interval of shifts that fit the scores.

    Args:
        first: Scores of the first item, one by one where there are pairs or panels.
        second: Scores of the second item.
        tested: The p-values of these scores, by any statistic; None for no interval.
            Those of means decide whether 0 is in the interval, sampled or not.
        design: How the items were assigned, as in `p_values`.
        groups: Labels of pairs or panels.
        seed: Repeats what is sampled.

    Returns:
        The difference; None if an item has no score or it leaves the floats. There is
        no interval if so few assignments are possible that no shift is rejected.

    Examples:
        >>> from evenhand.ab.pvalues import p_values
        >>> one, two = np.array([5.0, 6, 7, 9]), np.array([1.0, 2, 3, 4])
        >>> mean_difference(one, two, p_values(one, two))[:4]
        (4.25, 1.0, 8.0, 0.02857142857142857)
    """
    sides = [
        side if isinstance(side, Table) else as_table(side) for side in (first, second)
    ]
    means = [mean_of(side) for side in sides]
    if means[0] is None or means[1] is None or not math.isfinite(means[0] - means[1]):
        return None
    found = Difference(means[0] - means[1])
    if tested is None:
        return found
    if not isinstance(first, Table) and not isinstance(second, Table):
        labels = as_labels(design, groups, (len(first), len(second)))
        if labels is not None:
            levels, places = np.unique(
                np.concatenate([first, second]), return_inverse=True
            )
            ones, others = np.split(places, [len(first)])
            drawn = redraw_units(ones.tolist(), others.tolist(), str(design), labels)
            return _with_ends(found, drawn, levels[drawn.values], tested, seed)
    one, two = (side.counts for side in sides)
    held = np.concatenate([one, 0 * two]), np.concatenate([0 * one, two])
    scores = np.concatenate([side.levels for side in sides])
    drawn = redraw_levels(np.arange(len(scores)), *held, design)
    return _with_ends(found, drawn, scores, tested, seed)


def _with_ends(
    found: Difference, drawn: Redraws, scores: Floats, tested: PValues, seed: int
) -> Difference:
    """Add the interval, from scores each of which is of one item only."""
    unit = float(np.abs(scores).max()) or 1.0
    if drawn.unit is None and drawn.size > MANY_SCORES:
        shifts, place, p_value = _normal(drawn, scores / unit)
        found = found._replace(p_value=p_value, how="normal")
    else:
        samples = min(max(CELLS // len(scores), FEWEST), MOST)
        samples = 0 if drawn.at_most(FEW) else samples
        shifts, place, p_value = _redrawn(drawn, scores / unit, samples, seed)
        how = "sampling" if samples else "enumeration"
        found = found._replace(p_value=p_value, how=how, samples=samples)
    if not 0 <= place < len(shifts):
        return found
    ends = float(shifts[place]), float(shifts[-1 - place])
    pairs = tested.statistic == "pairs" and 2 * drawn.n_units == drawn.size
    if tested.statistic == "mean" or pairs:
        found = found._replace(p_value=tested.p_value)
        ends = _agreeing(shifts, *ends, tested)
    if not all(math.isfinite(unit * end) for end in ends):
        return found
    # Twelve digits: those behind them are rounding.
    low, high = (float(f"{unit * end:.12g}") for end in ends)
    return found._replace(low=low, high=high)


def _redrawn(
    drawn: Redraws, scores: Floats, samples: int, seed: int
) -> tuple[Floats, int, float]:
    """Return the shifts of all or sampled assignments, in order.

    And how many of them are beyond each end of the interval, and the p-value.
    """
    rng = np.random.Generator(stream(seed, "shifts"))
    blocks = drawn.sampled(samples, rng) if samples else drawn.enumerated()
    shifts = np.sort(np.concatenate([_shifts(rows, drawn, scores) for rows in blocks]))
    shifts[np.abs(shifts) < ROUNDING * np.ptp(shifts)] = 0
    # The observed assignment speaks for both items at any shift. Beside sampled ones
    # it is counted in, so that validity does not rest on the sample.
    total = samples + 1 if samples else drawn.total
    always = total - len(shifts)
    fewer = int(min((shifts <= 0).sum(), (shifts >= 0).sum()))
    return shifts, total // ONE_IN - always, min(1.0, 2 * (fewer + always) / total)


def _shifts(rows: Counts, drawn: Redraws, scores: Floats) -> Floats:
    """Return from which shift on each assignment speaks for the first item.

    The observed assignment, which has no such shift, is left out.
    """
    given = drawn.first > 0
    kinds = np.column_stack([given, scores / drawn.size])
    kept, sums = (rows.astype(np.float64) @ kinds).T
    ahead, size, before = rows.sum(axis=1), drawn.size, int(drawn.first.sum())
    share, rest = ahead / size, 1 - ahead / size
    whole = float(drawn.sizes @ kinds[:, 1])
    observed = float(drawn.first @ kinds[:, 1])
    observed = observed * size / before - (whole - observed) * size / (size - before)
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps = observed - (sums / share - (whole - sums) / rest)
        slopes = 1 - kept / ahead + (before - kept) / (size - ahead)
        # With a side empty there is a difference of 0.
        empty = (ahead == 0) | (ahead == size)
        found = np.where(empty, observed, gaps / slopes)
    return np.asarray(found[(kept < before) | (ahead > before)])


def _normal(drawn: Redraws, scores: Floats) -> tuple[Floats, int, float]:
    """Return what `_redrawn` does, by the normal limit of the same test.

    Less a shift, the scores vary by what they do within the items and by what is left
    of the difference, so that its square solves a linear equation.
    """
    size, before = drawn.size, int(drawn.first.sum())
    means, within = [], 0.0
    for counts in (drawn.first, drawn.sizes - drawn.first):
        means.append(float(counts @ scores / counts.sum()))
        within += float(counts @ (scores - means[-1]) ** 2)
    variance = within * size / (before * (size - before) * (size - 1))
    reach = NORMAL * math.sqrt(variance / (1 - NORMAL**2 / (size - 1)))
    gap = means[0] - means[1]
    away = abs(gap) / math.sqrt(variance + gap**2 / (size - 1))
    p_value = max(math.erfc(away / math.sqrt(2)), sys.float_info.min)
    return gap + reach * np.linspace(-1, 1, FEWEST), 0, p_value


def _agreeing(
    shifts: Floats, low: float, high: float, tested: PValues
) -> tuple[float, float]:
    """Let the p-value of the same test, which may be exact, decide on 0."""
    if tested.p_value > ALPHA:
        return min(low, 0.0), max(high, 0.0)
    if low <= 0 <= high and tested.p_value_first < tested.p_value_second:
        return float(shifts[shifts > 0].min(initial=math.inf)), high
    if low <= 0 <= high:
        return low, float(shifts[shifts < 0].max(initial=-math.inf))
    return low, high
