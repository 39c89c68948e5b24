"""Randomisation p-values that are valid whatever increasing scales reviewers use.

Let T not fall when a score of the first item rises and not rise when one of the second
does. If the first item is no better, a reviewer's score of it is at most what the same
reviewer would have given to the second. So, on the scores as they are, T of a redrawn
assignment is at least what it would have been had that assignment been drawn, and the
share of redraws that reach the observed T is at least T's own tail probability. This
holds for every law of the assignment, every number of scores, and with ties.

Scores are compared exactly: a float counts as the shortest decimal that stands for it.

The interval of the difference of means comes from the same redraws. Suppose that the
first item adds the same number d to every score. Take d off its scores again, and the
test of the means must not see a difference; the interval holds every d for which it
sees none at the level of 5 %. For one redrawn assignment the difference of means, less
the observed one, is c d - b with c >= 0. So each assignment has one shift, b / c, from
which on it speaks for the first item, and the ends of the interval are order statistics
of these shifts: nothing is searched for, and an end belongs to the interval.
"""

from __future__ import annotations

import math
import sys
from dataclasses import asdict, dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from evenhand.ab._redraws import (
    GIVEN,
    GIVEN_PANELS,
    Redraws,
    as_labels,
    natural,
    redraw_levels,
    redraw_units,
)
from evenhand.ab.law import Table, as_table
from evenhand.ab.rules import MEDIANS, TRIM, Kept, as_kept
from evenhand.arrays import Floats, Numbers, as_lists, is_exact
from evenhand.errors import (
    ConvergenceError,
    OptionError,
    RatingsError,
    as_whole,
    unknown,
)
from evenhand.randomness import RNGLike, seed_from, stream

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from evenhand.ab._redraws import Counts, Labels

    # Shares of the assignments with the statistic at its observed value or above, and
    # at it or below.
    Tails = tuple[float | Fraction, float | Fraction]

__all__ = [
    "LIMIT",
    "STATISTICS",
    "Difference",
    "PValues",
    "exact_p_values",
    "leading_item",
    "mean_difference",
    "mean_of",
    "p_values",
]

How = Literal["enumeration", "counting", "sampling"]

STATISTICS = ("mean", "median", "trimmed", "midrank", "pairs")
WHOLE = ("mean", "midrank", "pairs")
LIMIT = 200_000
# Numbers added in a recursion, about half a second: floats, or whole numbers; up to
# FEW_WORK they are whole in any case.
DENSE_WORK = 400_000_000
WHOLE_WORK = 10_000_000
FEW_WORK = 20_000
MOST_UNITS = 2_000
# Redraws: as many as have these cells, up to half a second of work, within bounds.
SAMPLED_CELLS = 1_000_000
FEWEST_SAMPLES = 1_000
MOST_SAMPLES = 100_000
# Reviewers times assignments, if all are gone through: a second or two of work.
ENUMERATED_CELLS = 50_000_000
MOST_SCORES = 2**53
ALPHA = 0.05
# A shift is rejected by each side's test if at most one assignment in so many is there.
ONE_IN = 40
# Up to so many assignments are gone through. Otherwise as many are drawn as have these
# cells, within bounds. Of so many scores the normal limit does as well.
FEW, CELLS, FEWEST, MOST = 20_000, 4_000_000, 1_000, 20_000
MANY_SCORES = 20_000
# Shifts closer to 0 than this share of their range are 0.
NEAR_ZERO = 1e-9
NORMAL = 1.959963984540054
HUGE = 1e200
_REDRAWN = {
    "halves": "half of the reviewers to each item",
    "coins": "each reviewer to an item by a fair coin",
    "matched": "one of each pair to each item by a fair coin",
    "panels": "half of the panels to each item",
    GIVEN: "any choice of as many reviewers for each item as there are",
    GIVEN_PANELS: "any choice of as many panels for each item as there are",
}


@dataclass(frozen=True, slots=True)
class PValues:
    """Randomisation p-values of two items, valid under any increasing scales.

    Attributes:
        p_value: Two-sided: twice the smaller of the other two, at most 1.
        p_value_first: Against "the first item is no better".
        p_value_second: Against "the second item is no better".
        exact: Whether every assignment was counted, up to the rounding of floats.
        samples: Number of sampled assignments, 0 if exact.
        se: Standard error of the one-sided values, the larger of the two; 0 if exact.
        how: "counting" (by a recursion), "enumeration" or "sampling".
        statistic: Name of the statistic.
        design: What was redrawn: a design, "given counts" or "given panel counts".
        seed: The seed that repeats the sampling, None if exact.

    Examples:
        >>> p_values([5, 6, 7, 9], [1, 2, 3, 4]).p_value_first == 1 / 70
        True
    """

    p_value: float
    p_value_first: float
    p_value_second: float
    exact: bool
    samples: int
    se: float
    how: How
    statistic: str
    design: str
    seed: int | None = None

    def to_dict(self) -> dict[str, str | float | int | bool | None]:
        """Return all fields.

        Examples:
            >>> p_values([3], [1]).to_dict()["p_value"]
            1.0
        """
        return asdict(self)

    def explanation(self) -> str:
        """Say in one paragraph what the numbers are, and what they are not.

        Examples:
            >>> print(p_values([3], [1]).explanation()[:65])
            The one-sided p-value of an item is the share of the assignments
        """
        sampling = ""
        if not self.exact:
            sampling = (
                f" It is estimated from {self.samples} redraws (standard error at most "
                f"{self.se:.1g}) with the observed assignment counted in, which keeps "
                "it valid."
            )
        return (
            "The one-sided p-value of an item is the share of the assignments that "
            f"could have been drawn ({_REDRAWN[self.design]}) in which the statistic "
            f"({self.statistic}) would have been at least as much in favour of that "
            f"item, with these scores.{sampling} If the assignment was drawn in this "
            "way, a p-value of at most alpha comes up with probability at most alpha "
            "when the item is no better, whatever increasing scales reviewers use. "
            "The two-sided p-value is twice the smaller one-sided one. None of them is "
            "the probability that an item is better. There are scales under which even "
            "a better item gets a p-value of at most alpha with probability at most "
            "alpha: a large p-value does not show that the items are equal."
        )


def p_values(
    first: Numbers | Table,
    second: Numbers | Table,
    *,
    statistic: str = "mean",
    design: str | None = None,
    groups: object = None,
    trim: float = TRIM,
    samples: int | None = None,
    limit: int = LIMIT,
    rng: RNGLike = None,
) -> PValues:
    """Test whether one of two items is better, whatever the reviewers' scales.

    Args:
        first: Scores of the first item; or a table of them, and of the second as well,
            where there are no pairs or panels.
        second: Scores of the second item.
        statistic: Difference of "mean", "median" (also "median:lower" and
            "median:middle") or "trimmed" means; "midrank", the share of pairs of
            scores won by the first item, ties half; "pairs", the sum of differences
            within matched pairs.
        design: How the items were assigned: "halves", "coins", "matched" or "panels";
            None redraws who scored what, given the numbers of scores.
        groups: For "matched" and "panels": two lists, with the pair or panel of each
            reviewer of the first item and of the second. For "matched" None pairs the
            scores in the order given.
        trim: For "trimmed": share cut at each end.
        samples: Redraws where not all can be counted; None for as many as take about
            half a second, 1,000 to 100,000.
        limit: Up to so many assignments are enumerated, where that takes seconds.
        rng: Seed for sampled redraws; not used where the result is exact.

    Returns:
        The p-values. They are 1 if an item has no score, since then there is nothing
        to compare. "halves" with numbers of scores that it cannot give, as after
        dropouts, becomes "given counts"; "panels" likewise; and whoever is left of a
        matched pair counts as sent by a coin. All this supposes that dropping out had
        nothing to do with the item.

    Raises:
        RatingsError: If a score is not finite, a side is not one list, both are empty,
            or there are 2**53 scores or more.
        OptionError: If an option is unknown, out of range or does not fit.
        DesignError: If the groups cannot come from the design.

    References:
        Fisher (1935), The Design of Experiments, chapter 2. Phipson and Smyth (2010),
        for counting the observed assignment among the sampled.

    Examples:
        >>> tested = p_values([7, 9, 4], [6, 3, 5], design="halves")
        >>> tested.p_value_first, tested.how
        (0.2, 'counting')
    """
    test = problem(first, second, statistic, trim, design, groups)
    redraws, seed = test.redraws, seed_from(rng)
    usual = max(SAMPLED_CELLS // len(redraws.values), FEWEST_SAMPLES)
    number = min(usual, MOST_SAMPLES)
    if samples is not None:
        number = as_whole("samples", samples, 1)
    most = min(as_whole("limit", limit, 0), ENUMERATED_CELLS // redraws.size)
    tails, how = test.shares(most)
    if tails is None:
        source = np.random.Generator(stream(seed, "redraws"))
        hits = test.tally(redraws.sampled(number, source))
        # With the observed assignment counted in, validity does not rest on the sample.
        tails = (1 + hits[0]) / (1 + number), (1 + hits[1]) / (1 + number)
    # The observed assignment is in both tails, so that no share is 0.
    shares = [max(float(share), sys.float_info.min) for share in tails]
    sampled = how == "sampling"
    return PValues(
        p_value=min(1.0, 2 * min(shares)),
        p_value_first=shares[test.swapped],
        p_value_second=shares[not test.swapped],
        exact=not sampled,
        samples=number if sampled else 0,
        se=math.sqrt(max(p * (1 - p) for p in shares) / number) if sampled else 0.0,
        how=how,
        statistic=statistic.partition(":")[0],
        design=redraws.name,
        seed=seed if sampled else None,
    )


def exact_p_values(
    first: Numbers,
    second: Numbers,
    *,
    statistic: str = "mean",
    design: str | None = None,
    groups: object = None,
    trim: float = TRIM,
    limit: int = LIMIT,
) -> tuple[Fraction, Fraction]:
    """Return the two one-sided p-values as Fractions.

    Args:
        first: Scores of the first item.
        second: Scores of the second item.
        statistic: As in `p_values`, and so are the other options.
        design: How the items were assigned.
        groups: Labels of pairs or panels.
        trim: For "trimmed".
        limit: Up to so many assignments are enumerated.

    Returns:
        The values against "the first item is no better" and "the second is no better".

    Raises:
        ConvergenceError: If there are too many assignments to count.

    Examples:
        >>> exact_p_values([3, 4], [1], design="halves")
        (Fraction(1, 6), Fraction(1, 1))
    """
    test = problem(first, second, statistic, trim, design, groups)
    tails, _ = test.shares(as_whole("limit", limit, 0), exact=True)
    if tails is None:
        raise ConvergenceError(
            f"limit must be larger to go through every assignment, got {limit}. Use "
            "p_values, which samples them."
        )
    one, two = (Fraction(share) for share in tails)
    return (two, one) if test.swapped else (one, two)


def leading_item(first: Table, second: Table, statistic: str, trim: float) -> int:
    """Say which item a statistic favours: 1 the first, -1 the second, 0 neither.

    Examples:
        >>> sides = as_table(np.array([0.1, 0.2])), as_table(np.array([0.3, 0.0]))
        >>> leading_item(*sides, "mean", 0.2)
        0
    """
    kept = as_kept(statistic, trim)
    values, one, two = _aligned(first, second, statistic)
    if not one.any() or not two.any():
        return 0
    means = [_central_mean(values, side, kept) for side in (one, two)]
    return (means[0] > means[1]) - (means[0] < means[1])


class Problem(NamedTuple):
    """What is redrawn and compared; the items swapped where that is simpler.

    The statistic is the difference of two central means: of all scores of an item (the
    mean), of those left when both ends are cut (the trimmed mean), or of the one or two
    in the middle (the median). Scores are natural numbers, so that no rounding can
    break a tie. With an item without scores the statistic is 0. The proof asks that,
    for each assignment by itself, it does not fall when a score of the first item rises
    and does not rise when one of the second does; a constant does neither.

    Attributes:
        redraws: The assignments that could have been drawn.
        kept: From a number of scores to the places, from and to, of those that count
            when they are in increasing order; never none of one or more scores.
        whole: Whether all scores count.
        swapped: Whether the items are swapped.
        observed: The observed value, None if an item has no score.
    """

    redraws: Redraws
    kept: Kept
    whole: bool
    swapped: bool
    observed: Fraction | None

    def shares(self, limit: int, *, exact: bool = False) -> tuple[Tails | None, How]:
        """Return the shares of both tails, or None if there are too many to count.

        Args:
            limit: Up to so many assignments are gone through.
            exact: Whether only Fractions will do.
        """
        found: Tails | None = None
        if self.observed is None:
            found = Fraction(1), Fraction(1)
        elif self.whole:
            found = self._count_sums(exact=exact)
        if found is not None:
            return found, "counting"
        if not self.redraws.at_most(limit):
            return None, "sampling"
        above, below = self.tally(self.redraws.enumerated())
        total = self.redraws.total
        return (Fraction(above, total), Fraction(below, total)), "enumeration"

    def tally(self, blocks: Iterable[Counts]) -> tuple[int, int]:
        """Count assignments in both tails, with exact comparisons.

        Args:
            blocks: Rows with how many scores of each level the first item has.
        """
        redraws, observed = self.redraws, self.observed or Fraction(0)
        found = np.zeros(2, np.int64)
        for rows in blocks:
            ahead, back = np.unique(rows.sum(axis=1), return_inverse=True)
            sums, numbers = [], []
            sides = (ahead, rows), (redraws.size - ahead, redraws.sizes - rows)
            for counts, side in sides:
                places = np.array([self.kept(count) for count in counts.tolist()])[back]
                sums.append(_central_sums(side, places, redraws.values))
                numbers.append((places[:, 1] - places[:, 0]).astype(object))
            gaps = (sums[0] * numbers[1] - sums[1] * numbers[0]) * observed.denominator
            edges = np.maximum(numbers[0] * numbers[1], 1) * observed.numerator
            found += (gaps >= edges).sum(), (gaps <= edges).sum()
        return int(found[0]), int(found[1])

    def _sum_edge(self, ahead: int) -> tuple[int, int]:
        """Return the observed value as a sum of the first item's scores, from and to.

        Only where all scores count: the second item has the rest of the total.
        """
        size, total = self.redraws.size, self.redraws.everything
        observed = self.observed or Fraction(0)
        if ahead in (0, size):
            here = total if ahead else 0
            return here + (observed > 0), here - (observed < 0)
        edge = (observed * (size - ahead) + total) * ahead / size
        return math.ceil(edge), math.floor(edge)

    def _count_sums(self, *, exact: bool) -> Tails | None:
        """Count where all scores count, one unit after the other.

        Returns:
            Shares of both tails, Fractions if exact, or None if that is too much work.
        """
        redraws = self.redraws
        n_units, counts = redraws.n_units, redraws.counts
        if n_units > MOST_UNITS:
            return None
        units = redraws.units()
        steps, least = units[:, 1] - units[:, 0], units[:, 0].sum(axis=0).tolist()
        sizes, sums = (steps.sum(axis=0) + 1).tolist()
        # How many units are on is how many scores the first item has, but for panels.
        ons = 1 if redraws.unit is None or counts is None else n_units + 1
        work = n_units * sums * sizes * ons // 3
        # To go through a few assignments is quicker than much work.
        if work > (WHOLE_WORK if exact or redraws.at_most(FEW_WORK) else DENSE_WORK):
            return None
        # A state is a sum, a number of scores and one of units in one index.
        shifts = (steps[:, 1] * sizes + steps[:, 0]) * ons + (ons > 1)
        whole = exact or work <= FEW_WORK
        law = _spread(sorted(shifts.tolist()), None if whole else redraws.share)
        law = np.append(law, np.zeros(-len(law) % (sizes * ons), dtype=law.dtype))
        table = law.reshape(-1, sizes, ons)
        if ons > 1 and counts is not None:
            table = table[:, :, list(counts)]
        parts = []
        for ahead, column in enumerate(table.sum(axis=2).T, least[0]):
            if ons > 1 or counts is None or ahead in counts:
                low, high = (edge - least[1] for edge in self._sum_edge(ahead))
                tails = column[max(low, 0) :], column[: max(high + 1, 0)], column
                parts.append([part.sum() for part in tails])
        above, below, total = map(sum, zip(*parts, strict=True))
        if whole:
            return Fraction(above, total), Fraction(below, total)
        return float(above / total), float(below / total)


def _spread(shifts: list[int], share: float | None) -> Floats:
    """Return the law of a sum of shifts, each with the same chance; ways if None."""
    on, off = (1, 1) if share is None else (share, 1 - share)
    law = np.ones(1, dtype=object if share is None else np.float64)
    for shift in shifts:
        wider = np.zeros(len(law) + shift, dtype=law.dtype)
        wider[: len(law)] = law * off
        wider[shift:] += law * on
        law = wider
    return law


def _central_mean(values: Counts, counts: Counts, kept: Kept) -> Fraction:
    places = np.array([kept(int(counts.sum()))])
    number = int(places[0, 1] - places[0, 0])
    return Fraction(int(_central_sums(counts[None, :], places, values)[0]), number)


def _central_sums(rows: Counts, places: Counts, values: Counts) -> NDArray[np.object_]:
    seen = np.clip(rows.cumsum(axis=1), places[:, :1], places[:, 1:])
    return np.asarray(np.diff(seen, prepend=places[:, :1]) @ values, dtype=object)


def problem(
    first: Numbers | Table,
    second: Numbers | Table,
    statistic: str,
    trim: float,
    design: str | None,
    groups: object,
) -> Problem:
    """Check everything, and make a test ready."""
    kept = as_kept(statistic, trim)
    if statistic not in {*STATISTICS, *(f"median:{which}" for which in MEDIANS)}:
        raise OptionError(unknown("statistic", statistic, STATISTICS))
    if isinstance(first, Table) and isinstance(second, Table):
        return _ready(first, second, statistic, kept, design)
    one, two = as_lists(first, second)
    if len(one) + len(two) == 0:
        raise RatingsError("There is no score. Give at least one of either item.")
    if len(one) and len(two) and is_exact(one) != is_exact(two):
        one, two = one.astype(np.float64), two.astype(np.float64)
    if statistic == "pairs" and design not in (None, "matched"):
        raise OptionError(
            f"statistic 'pairs' must come with design 'matched', got {design!r}."
        )
    design = "matched" if statistic == "pairs" else design
    labels = as_labels(design, groups, (len(one), len(two)))
    if statistic == "pairs" and labels is not None:
        one, two, labels = _complete(one, two, labels)
    ready = _ready(as_table(one), as_table(two), statistic, kept, design)
    if labels is None:
        return ready
    # The same scores, reviewer by reviewer.
    places = [np.searchsorted(np.union1d(one, two), side) for side in (one, two)]
    ahead, other = (ready.redraws.values[place].tolist() for place in places)
    if ready.swapped:
        ahead, other, labels = other, ahead, labels[::-1]
    return ready._replace(redraws=redraw_units(ahead, other, str(design), labels))


def _ready(
    first: Table, second: Table, statistic: str, kept: Kept, design: str | None
) -> Problem:
    """Make a test ready in which every reviewer is a unit.

    Of the two ways round always the same is computed, so that swapping the items swaps
    the p-values, sampled ones too; and the smaller side is quicker to count.
    """
    scores = sum(float(side.counts.sum(dtype=np.float64)) for side in (first, second))
    if scores >= MOST_SCORES:
        raise RatingsError(
            f"counts must add up to less than 2**53 for p-values, got {scores:.17g}."
        )
    values, *sides = _aligned(first, second, statistic)
    swapped = (sides[1].sum(), sides[1].tolist()) < (sides[0].sum(), sides[0].tolist())
    one, two = sides[::-1] if swapped else sides
    drawn, observed = redraw_levels(values, one, two, design), None
    if one.any() and two.any():
        observed = _central_mean(values, one, kept) - _central_mean(values, two, kept)
    return Problem(drawn, kept, statistic in WHOLE, bool(swapped), observed)


def _aligned(
    first: Table, second: Table, statistic: str
) -> tuple[Counts, Counts, Counts]:
    """Return levels as natural numbers, and how many scores of each both items have."""
    levels = np.union1d(first.levels, second.levels)
    one, two = np.zeros((2, len(levels)), np.int64)
    one[np.searchsorted(levels, first.levels)] = first.counts
    two[np.searchsorted(levels, second.levels)] = second.counts
    sizes = one + two
    places = 2 * np.cumsum(sizes) - sizes if statistic == "midrank" else levels
    return natural(as_integers(places), int(sizes.sum())), one, two


def as_integers(levels: Floats | Counts) -> list[int]:
    """Return natural numbers with the same ratios of differences as increasing levels.

    A float counts as the shortest decimal that stands for it.

    Examples:
        >>> as_integers(np.array([0.1, 0.2, 0.4]))
        [0, 1, 3]
    """
    exact = [
        Decimal(repr(level)).as_integer_ratio()
        if isinstance(level, float)
        else level.as_integer_ratio()
        for level in levels.tolist()
    ]
    common = math.lcm(*(below for _, below in exact))
    whole = [above * (common // below) for above, below in exact]
    divisor = math.gcd(*(number - whole[0] for number in whole)) or 1
    return [(number - whole[0]) // divisor for number in whole]


def _complete(
    one: Floats, two: Floats, labels: Labels
) -> tuple[Floats, Floats, Labels]:
    """Leave out reviewers whose partner has no score."""
    both = set(labels[0]) & set(labels[1])
    kept = [np.array([label in both for label in side], np.bool_) for side in labels]
    names = [[label for label in side if label in both] for side in labels]
    return one[kept[0]], two[kept[1]], (names[0], names[1])


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
    shifts[np.abs(shifts) < NEAR_ZERO * np.ptp(shifts)] = 0
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
