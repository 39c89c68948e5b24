"""Whether a row or column of a wide table is a summary of the others.

Names of summaries differ between languages; their numbers do not. A reviewer may agree
with the mean by chance, so only cells count in which the summary is a value that nobody
else gave.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

EDGE = 6
"""So many lines at either end are tried; summaries do not stand in the middle."""
SCREEN = 20
LEAST_OTHERS = 2
LEAST_MATCHES = 3
LEAST_MEDIANS = 6
MATCHED_SHARE = 0.25
MOST_CELLS = 1000
SLACK = 1e-9
LARGE = 1_000_000
"""Medians of more cells are not worth their time."""


def numbers_of(cells: pl.Series) -> FloatArray:
    """Return texts as numbers, NaN where there is none.

    Examples:
        >>> numbers_of(pl.Series(["1.5", "", "B"])).tolist()
        [1.5, nan, nan]
    """
    return cells.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()


def find_summary(
    table: FloatArray, text_of: Callable[[int], pl.Series]
) -> tuple[int, str] | None:
    """Find a line that is the mean, sum, median or deviation of other lines.

    Args:
        table: Numbers by line and cell, NaN where there is none.
        text_of: From a line to its cells as they were written, for their decimals.

    Returns:
        The line and what it is, or None.

    Examples:
        >>> table = np.array([[1.0, 4, 2], [3, 2, 5], [2, 3, 3.5]])
        >>> cells = [pl.Series(map(str, line)) for line in table.tolist()]
        >>> find_summary(table, cells.__getitem__)
        (2, 'mean')
        >>> find_summary(table[:2], cells.__getitem__) is None
        True
    """
    count = len(table)
    edges = [*range(min(EDGE, count)), *range(max(EDGE, count - EDGE), count)]
    for place in reversed(edges):
        given = np.flatnonzero(np.isfinite(table[place]))
        slack = _rounding(text_of(place))
        for others in _others(table, place):
            name = _name(table[place], others, given, slack)
            if name:
                return place, name
    return None


def _others(table: FloatArray, place: int) -> Sequence[FloatArray]:
    """Return the lines before, those after and all others, where there are several."""
    before, after = table[:place], table[place + 1 :]
    sets = [before, after]
    if len(before) and len(after):
        sets.append(np.concatenate([before, after]))
    return [one for one in sets if len(one) >= LEAST_OTHERS]


def _rounding(cells: pl.Series) -> float:
    """Return how far rounding may have moved a line's numbers; whole ones are exact."""
    decimals = cells.str.extract(r"\.([0-9]+)$").str.len_chars().max()
    return 0.5 * 10.0**-decimals if isinstance(decimals, int) else 0.0


def _name(
    line: FloatArray, others: FloatArray, given: NDArray[np.int64], slack: float
) -> str:
    large = others.size > LARGE
    for name, statistic in STATISTICS.items():
        if name == "median" and large:
            continue
        # A few cells tell most tables, which may be large.
        for cells in (given[:1], given[:SCREEN], given):
            values, rest = line[cells], others[:, cells]
            expected = statistic(rest)
            near = np.abs(expected - values) <= slack + SLACK * (1 + np.abs(values))
            if not near.all():
                break
        else:
            if _is_telling(name, line[given], others[:, given]):
                return name
    return ""


def _is_telling(name: str, values: FloatArray, others: FloatArray) -> bool:
    """Return whether so many matches are more than agreement."""
    # Where reviewers agree, one cell says what its like say again.
    cells = np.unique(np.vstack([values, others])[:, :MOST_CELLS], axis=1)
    values, others = cells[0], cells[1:]
    new = (others != values).all(axis=0)
    # Nobody gives fractions where all others give whole numbers.
    fractions = new & (values % 1 != 0) & ((others % 1 == 0) | np.isnan(others)).all(0)
    matches = int(new.sum()) + int(fractions.sum())
    if matches >= max(LEAST_MATCHES, MATCHED_SHARE * len(values)):
        return True
    inside = (others < values).any(axis=0) & (others > values).any(axis=0)
    least = max(LEAST_MEDIANS, len(values) / 2)
    return name == "median" and int(inside.sum()) >= least


def _sums(others: FloatArray) -> FloatArray:
    sums: FloatArray = np.nansum(others, axis=0)
    return sums


def _means(others: FloatArray) -> FloatArray:
    counts = (~np.isnan(others)).sum(axis=0)
    return _sums(others) / np.where(counts, counts, np.nan)


def _squares(others: FloatArray) -> FloatArray:
    return _sums((others - _means(others)) ** 2)


def _sample_deviations(others: FloatArray) -> FloatArray:
    degrees = (~np.isnan(others)).sum(axis=0) - 1
    return np.sqrt(_squares(others) / np.where(degrees > 0, degrees, np.nan))


def _deviations(others: FloatArray) -> FloatArray:
    counts = (~np.isnan(others)).sum(axis=0)
    return np.sqrt(_squares(others) / np.where(counts, counts, np.nan))


def _medians(others: FloatArray) -> FloatArray:
    # NaN is sorted to the end; the middle of the others is looked up by their count.
    counts = (~np.isnan(others)).sum(axis=0)
    ordered = np.sort(others, axis=0)
    cells = np.arange(others.shape[1])
    low = ordered[np.maximum(counts - 1, 0) // 2, cells]
    high = ordered[np.minimum(counts // 2, len(others) - 1), cells]
    middle: FloatArray = (low + high) / 2
    return middle


STATISTICS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "mean": _means,
    "sum": _sums,
    "median": _medians,
    "standard deviation": _sample_deviations,
    "standard deviation of all": _deviations,
}
