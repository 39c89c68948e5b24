"""A randomisation test made ready: scores as integers, what is redrawn and compared."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from evenhand._labels import shown
from evenhand.ab._centres import (
    Centres,
    Kept,
    Levels,
    Tails,
    central_difference,
    tally,
)
from evenhand.ab._counting import (
    QUICK_WORK,
    packed_tails,
    sparse_tails,
    sum_chances,
    table_chances,
)
from evenhand.ab._numbers import Floats, Numbers, as_numbers, is_exact
from evenhand.ab._redraws import Redraws, as_labels, redraws
from evenhand.ab.rules import MEDIANS, as_share
from evenhand.errors import OptionError, RatingsError, unknown

if TYPE_CHECKING:
    from evenhand._randomness import Stream
    from evenhand.ab._redraws import Choices, Labels

Statistic = Callable[[Floats, Floats], object]
How = Literal["enumeration", "counting", "sampling"]

STATISTICS = ("mean", "median", "trimmed", "midrank", "pairs")
# Redraws of reviewers; of tables as many as have these cells, about a second of work.
SAMPLES = 20_000
MOST_SAMPLES = 1_000_000
SAMPLED_CELLS = 5_000_000
# Drawing a cell of a table takes about as long as so many reviewers; and NumPy's
# hypergeometric has this limit.
TABLE_CELL = 4
TABLE_MOST = 1_000_000_000
# Values of a caller's function closer than this share of the largest count as equal.
ROUNDING = 1e-12


class Problem(NamedTuple):
    """What is redrawn and compared; the items swapped where that is simpler."""

    statistic: str
    redraws: Redraws
    compared: Centres | Function
    swapped: bool
    nothing: bool

    def shares(self, limit: int) -> tuple[tuple[float, float], How] | None:
        """Return the shares of both tails, or None if there are too many to count."""
        found: tuple[Tails, How] | None = None
        if isinstance(self.compared, Centres) and not self.nothing:
            quick = packed_tails(self.redraws, self.compared, QUICK_WORK)
            if quick is None:
                floats = sum_chances(self.redraws, self.compared)
                if floats is None and self.levels is not None:
                    floats = table_chances(self.redraws, self.compared, self.levels)
                if floats is not None:
                    return floats, "counting"
            else:
                found = quick, "counting"
        found = found or self.exact_tails(limit)
        if found is None:
            return None
        # The observed assignment is in both tails, so that no share is 0.
        above, below = (
            max(count / self.redraws.total, sys.float_info.min) for count in found[0]
        )
        return (above, below), found[1]

    def exact_tails(self, limit: int) -> tuple[Tails, How] | None:
        """Return the sizes of both tails, or None if there are too many to count."""
        total = self.redraws.total
        if self.nothing:
            return Tails(total, total), "counting"
        if isinstance(self.compared, Centres):
            packed = packed_tails(self.redraws, self.compared)
            if packed is not None:
                return packed, "counting"
        if total <= limit:
            return self._tally(self.redraws.everything()), "enumeration"
        if isinstance(self.compared, Centres):
            sparse = sparse_tails(self.redraws, self.compared)
            if sparse is not None:
                return sparse, "counting"
        return None

    @property
    def levels(self) -> Levels | None:
        """The scores as a table, where redrawing one is quicker than each reviewer."""
        sizes = Counter(self.redraws.values)
        small = TABLE_CELL * len(sizes) <= len(self.redraws.values) < TABLE_MOST
        if isinstance(self.compared, Function) or not (
            small and self.redraws.exchangeable
        ):
            return None
        return Levels(tuple(sizes), tuple(sizes.values()))

    def n_samples(self) -> int:
        """Return how many redraws take about a second."""
        cells = 0 if self.levels is None else SAMPLED_CELLS // len(self.levels.sizes)
        return max(SAMPLES, min(cells, MOST_SAMPLES))

    def sampled_tails(self, samples: int, source: Stream) -> Tails:
        """Return how many of so many redraws are in each tail."""
        levels = self.levels
        if levels is None or isinstance(self.compared, Function):
            return self._tally(self.redraws.sampled(samples, source))
        tables = self.redraws.sampled_tables(levels.sizes, samples, source)
        return tally(tables, levels, self.compared)

    def _tally(self, blocks: Iterable[Choices]) -> Tails:
        if isinstance(self.compared, Function):
            return self.compared.tally(blocks)
        values = self.redraws.values
        return tally(blocks, Levels(values, (1,) * len(values)), self.compared)


class Function(NamedTuple):
    """A caller's own statistic on the scores in increasing order."""

    function: Statistic
    scores: Floats
    observed: int | float | Fraction

    def tally(self, blocks: Iterable[Choices]) -> Tails:
        found = [
            self.value(self.scores[row], self.scores[~row])
            for block in blocks
            for row in block
        ]
        middle, slack = Fraction(self.observed), Fraction(0)
        if any(isinstance(value, float) for value in (*found, self.observed)):
            # Rounding must not break a tie; a tie too many only raises a p-value.
            slack = Fraction(ROUNDING) * max(abs(Fraction(x)) for x in (*found, middle))
        low, high = middle - slack, middle + slack
        return Tails(sum(x >= low for x in found), sum(x <= high for x in found))

    def value(self, one: Floats, two: Floats) -> int | float | Fraction:
        # Nothing to compare: constant for such an assignment, so monotone.
        if len(one) == 0 or len(two) == 0:
            return 0
        answer = self.function(one, two)
        if isinstance(answer, int | Fraction):
            return answer
        if isinstance(answer, np.integer):
            return int(answer)
        try:
            number = float(answer)  # type: ignore[arg-type]  # tried
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise OptionError(
                f"statistic must return a finite number, got {shown(answer)}."
            )
        return number


def problem(
    first: Numbers,
    second: Numbers,
    *,
    statistic: str | Statistic,
    design: str | None,
    groups: object,
    trim: float,
    median: str,
) -> Problem:
    """Check everything, and make a test ready.

    Args:
        first: Scores of the first item.
        second: Scores of the second item.
        statistic: As in `p_values`, and so are the other options.
        design: How the items were assigned.
        groups: Labels of pairs or panels.
        trim: For "trimmed".
        median: For "median".

    Raises:
        RatingsError: If the scores cannot be used as they are.
        OptionError: If an option is unknown, out of range or does not fit.
        DesignError: If the groups cannot come from the design.

    Examples:
        >>> options = {"statistic": "mean", "trim": 0.2, "median": "upper"}
        >>> test = problem([0.1, 0.2], [0.3], design="halves", groups=None, **options)
        >>> test.redraws.values, test.redraws.total
        ((0, 1, 2), 6)
    """
    kept = _as_kept(statistic, trim, median)
    sides = _as_sides(first, second)
    if statistic == "pairs":
        if design not in (None, "matched"):
            raise OptionError(
                f"statistic 'pairs' must come with design 'matched', got {design!r}."
            )
        design = "matched"
    labels = as_labels(design, groups, (len(sides[0]), len(sides[1])))
    scaled = _as_integers(sides)
    one, two = ([scaled[score] for score in side.tolist()] for side in sides)
    if statistic == "pairs" and labels is not None:
        one, two, labels = _complete(one, two, labels)
    if statistic == "midrank":
        ranks = _doubled_midranks(one + two)
        one, two = ([ranks[value] for value in side] for side in (one, two))
    if callable(statistic):
        return _with_function(statistic, sides, (one, two), design, labels)
    # Of the two ways round always the same is computed, so that swapping the items
    # swaps the p-values, sampled ones too; and the smaller side is quicker to count.
    swapped = (len(two), sorted(two)) < (len(one), sorted(one))
    if swapped:
        one, two = two, one
        labels = None if labels is None else (labels[1], labels[0])
    observed = central_difference(one, two, kept)
    whole = statistic in ("mean", "midrank", "pairs")
    compared = Centres(kept, observed, whole)
    drawn = redraws(one, two, design, labels)
    return Problem(statistic, drawn, compared, swapped, not one or not two)


def _with_function(
    function: Statistic,
    sides: tuple[Floats, Floats],
    scaled: tuple[list[int], list[int]],
    design: str | None,
    labels: Labels | None,
) -> Problem:
    drawn = redraws(*scaled, design, labels)
    ordered = [np.sort(side) for side in (np.concatenate(sides), *sides)]
    compared = Function(function, ordered[0], 0)
    compared = compared._replace(observed=compared.value(*ordered[1:]))
    nothing = 0 in map(len, sides)
    return Problem("callable", drawn, compared, swapped=False, nothing=nothing)


def _as_kept(statistic: str | Statistic, trim: float, median: str) -> Kept:
    """Return which of a side's scores count, by their number."""
    if not callable(statistic) and statistic not in STATISTICS:
        raise OptionError(unknown("statistic", statistic, STATISTICS))
    if median not in MEDIANS:
        raise OptionError(unknown("median", median, MEDIANS))
    share = as_share(trim)

    def trimmed(count: int) -> tuple[int, int]:
        # As in rules.trimmed, so that a rule and its p-value cut the same scores.
        cut = min(math.floor(share * count + 1e-9), (count - 1) // 2)
        return cut, count - cut

    def central(count: int) -> tuple[int, int]:
        lower, upper = (count - 1) // 2, count // 2
        start = upper if median == "upper" else lower
        return start, (lower if median == "lower" else upper) + 1

    if statistic == "trimmed":
        return trimmed
    return central if statistic == "median" else lambda count: (0, count)


def _as_sides(first: Numbers, second: Numbers) -> tuple[Floats, Floats]:
    one, two = as_numbers(first, "first score"), as_numbers(second, "second score")
    for name, side in (("first", one), ("second", two)):
        if side.ndim != 1:
            raise RatingsError(
                f"{name} scores must be one list, got shape {side.shape}."
            )
    if len(one) + len(two) == 0:
        raise RatingsError("There is no score. Give at least one of either item.")
    if len(one) and len(two) and is_exact(one) != is_exact(two):
        one, two = one.astype(np.float64), two.astype(np.float64)
    return one, two


def _as_integers(sides: Sequence[Floats]) -> dict[float, int]:
    """Map scores to natural numbers with the same ratios of differences."""
    scores = {score for side in sides for score in side.tolist()}
    exact = {
        score: Fraction(repr(score)) if isinstance(score, float) else score
        for score in scores
    }
    base = min(exact.values())
    common = math.lcm(*(value.denominator for value in exact.values()))
    whole = {score: int((value - base) * common) for score, value in exact.items()}
    divisor = math.gcd(*whole.values()) or 1
    return {score: value // divisor for score, value in whole.items()}


def _doubled_midranks(values: list[int]) -> dict[int, int]:
    levels, sizes = np.unique(np.array(values, dtype=object), return_counts=True)
    ends = np.cumsum(sizes)
    doubled = 2 * ends - sizes
    least = int(doubled[0])
    whole = {
        level: int(rank) - least for level, rank in zip(levels, doubled, strict=True)
    }
    divisor = math.gcd(*whole.values()) or 1
    return {level: rank // divisor for level, rank in whole.items()}


def _complete(
    one: list[int], two: list[int], labels: Labels
) -> tuple[list[int], list[int], Labels]:
    """Leave out reviewers whose partner has no score."""
    both = set(labels[0]) & set(labels[1])
    kept = [
        [(value, label) for value, label in zip(side, names, strict=True)]
        for side, names in zip((one, two), labels, strict=True)
    ]
    left = [[pair for pair in side if pair[1] in both] for side in kept]
    values = [[value for value, _ in side] for side in left]
    names = [[label for _, label in side] for side in left]
    return values[0], values[1], (names[0], names[1])
