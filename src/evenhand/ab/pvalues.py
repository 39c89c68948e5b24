"""Randomisation p-values that are valid whatever increasing scales reviewers use.

Let T not fall when a score of the first item rises and not rise when one of the second
does. If the first item is no better, a reviewer's score of it is at most what the same
reviewer would have given to the second. So, on the scores as they are, T of a redrawn
assignment is at least what it would have been had that assignment been drawn, and the
share of redraws that reach the observed T is at least T's own tail probability. This
holds for every law of the assignment, every number of scores, and with ties, if whoever
answered would have answered under every assignment.

Most designs are uniform over a set of assignments, and have one form: some units,
each on or off, and how many of them may be on. A unit is a reviewer (on: scores the
first item), a panel, or a pair (on: as it was observed, off: the other way round).
So a p-value is a count of assignments over their number. Where every reviewer is a
unit, only how many scores of each level an item gets is drawn. A design of another form
is drawn again as it is.

Scores are compared exactly: a float counts as the shortest decimal that stands for it.

The interval of the difference of means comes from the same redraws. Suppose that the
first item adds the same number d to every score. Take d off its scores again, and the
test of the means must not see a difference; the interval holds every d for which it
sees none at the level of 5%. For one redrawn assignment the difference of means, less
the observed one, is c d - b with c >= 0. So each assignment has one shift, b / c, from
which on it speaks for the first item, and the ends of the interval are order statistics
of these shifts: nothing is searched for, and an end belongs to the interval.
"""

from __future__ import annotations

import itertools
import math
import sys
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

import numpy as np

from evenhand.ab.law import ScoreCounts, count_sides, sample_subsets
from evenhand.ab.rules import TRIM, Kept, central_places
from evenhand.arrays import Floats, Numbers, as_lists
from evenhand.claims import CONFIDENCE
from evenhand.designs.design import Matched, TwoItemDesign, as_design
from evenhand.errors import DesignError, OptionError, quote, refuse_option, unknown
from evenhand.randomness import Drawn, RNGLike, seed_from, stream

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from evenhand.claims import Finding
    from evenhand.designs.design import Procedure
    from evenhand.randomness import Stream

    Counts = NDArray[np.int64]
    # Scores of a pair or panel, and whether they are of the first item.
    Unit = list[tuple[float, bool]]
    # Shares of the assignments with the statistic at its observed value or above, and
    # at it or below.
    Tails = tuple[float | Fraction, float | Fraction]

How = Literal["enumeration", "counting", "sampling"]

STATISTICS = ("mean", "median", "trimmed", "midrank", "pairs")
WHOLE = ("mean", "midrank", "pairs")
# Assignments that are gone through, and reviewers times assignments: a second or two.
LIMIT, ENUMERATED_CELLS = 200_000, 50_000_000
# Numbers added in a recursion, about half a second; fewer where few assignments could
# be gone through instead. Up to FEW_WORK they are whole, and floats otherwise.
DENSE_WORK, WHOLE_WORK, FEW_WORK, MOST_UNITS = 400_000_000, 10_000_000, 20_000, 2_000
# Redraws: as many as have these cells, up to half a second of work, within bounds.
SAMPLED_CELLS, FEWEST_SAMPLES, MOST_SAMPLES = 1_000_000, 1_000, 100_000
# Draws of a design that is drawn again as it is, one by one.
FEW_SAMPLES = 2_000
# Cells of a block of assignments; no result depends on it.
BLOCK = 2_000_000
# A shift is rejected by each side's test if at most one assignment in so many is there.
ONE_IN = round(2 / (1 - CONFIDENCE))
# Up to so many assignments are gone through for an interval. Otherwise as many are
# drawn as have these cells, within bounds. Of so many scores the normal limit does.
FEW, CELLS, FEWEST, MOST = 20_000, 4_000_000, 1_000, 20_000
MANY_SCORES = 20_000
# Shifts closer to 0 than this share of the range of scores are 0.
NEAR_ZERO = 1e-9
NORMAL = round(NormalDist().inv_cdf((1 + CONFIDENCE) / 2), 15)
HUGE, HALF = 1e200, 0.5
GIVEN, GIVEN_PANELS = "given counts", "given panel counts"


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
        assumes: What `compare` knows that they rest on, as in its certificate; their
            sentences are in the JSON.

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
    assumes: tuple[Finding, ...] = ()


def p_values(
    first: Numbers | ScoreCounts,
    second: Numbers | ScoreCounts,
    *,
    statistic: str = "mean",
    design: str | TwoItemDesign | None = None,
    groups: object = None,
    trim: float = TRIM,
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
        rng: Seed for sampled redraws; not used where the result is exact.

    Returns:
        The p-values. They are 1 if an item has no score, since then there is nothing
        to compare. "halves" with numbers of scores that it cannot give, as after
        dropouts, becomes "given counts"; "panels" likewise; and whoever is left of a
        matched pair counts as sent by a coin. All this supposes that dropping out had
        nothing to do with the item.

    Raises:
        RatingsError: If a score is not finite or a side is not one list.
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
    cells = max(len(redraws.scores), 1)
    number = min(max(SAMPLED_CELLS // cells, FEWEST_SAMPLES), redraws.most_samples)
    tails, how = test.shares()
    if tails is None:
        source = np.random.Generator(stream(seed, "redraws"))
        hits = test.tally(redraws.sample_blocks(number, source))
        # With the observed assignment counted in, validity does not rest on the sample.
        tails = (1 + hits[0]) / (1 + number), (1 + hits[1]) / (1 + number)
    # The observed assignment is in both tails, so that no share is 0.
    shares = [max(float(share), sys.float_info.min) for share in tails]
    sampled = how == "sampling"
    return PValues(
        p_value=min(1.0, 2 * min(shares)),
        p_value_first=shares[0],
        p_value_second=shares[1],
        exact=not sampled,
        samples=number if sampled else 0,
        se=math.sqrt(max(p * (1 - p) for p in shares) / number) if sampled else 0.0,
        how=how,
        statistic=statistic.partition(":")[0],
        design=redraws.name,
        seed=seed if sampled else None,
    )


def leading_item(
    first: ScoreCounts, second: ScoreCounts, statistic: str, trim: float
) -> int:
    """Say which item a statistic favours: 1 the first, -1 the second, 0 neither.

    Examples:
        >>> sides = count_sides([0.1, 0.2], [0.3, 0.0])
        >>> leading_item(*sides, "mean", 0.2)
        0
    """
    observed = problem(first, second, statistic, trim, None, None).observed_value
    return (observed > 0) - (observed < 0)


@dataclass(frozen=True, slots=True)
class Redraws:
    """The assignments that could have been drawn, all equally likely.

    Attributes:
        name: What is redrawn: a design, or GIVEN or GIVEN_PANELS.
        scores: The different scores of each item; of every reviewer by itself where
            there are units.
        sizes: How many there are of each.
        first: How many of them are of the first item, as observed.
        counts: How many units may be on; a range for any number.
        place: 2 u + 1 for a reviewer who scores the first item when unit u is on, 2 u
            for one who does when it is off; None if every reviewer is a unit.
        countable: Whether units are small enough to go through one after the other.
        procedure: What draws the design again, if it has no such form.
    """

    name: str
    scores: Floats
    sizes: Counts
    first: Counts
    counts: Sequence[int]
    place: Counts | None = None
    countable: bool = True
    procedure: Procedure | None = None

    @property
    def size(self) -> int:
        """Number of scores of both items."""
        return int(self.sizes.sum())

    @property
    def pool(self) -> Counts:
        """How many units there are of each kind."""
        if self.place is None:
            return self.sizes
        return np.ones(self.place.max(initial=-1) // 2 + 1, np.int64)

    @property
    def n_units(self) -> int:
        """Number of units."""
        return int(self.pool.sum())

    @property
    def total(self) -> int:
        """Number of assignments."""
        return sum(math.comb(self.n_units, count) for count in self.counts)

    @property
    def most_samples(self) -> int:
        """How many assignments are sampled at most."""
        return MOST_SAMPLES if self.procedure is None else FEW_SAMPLES

    def at_most(self, most: int) -> bool:
        """Say whether there are so many assignments at most, without a long number."""
        if self.procedure is not None:
            return False
        return self.n_units <= MOST_UNITS and self.total <= most

    def enumerate_blocks(self) -> Iterator[Counts]:
        """Give every assignment of units once: how many of each score are the first's.

        The rows come in blocks.
        """
        pool, units = self.pool, self.n_units
        rows = max(1, BLOCK // units)
        for count in self.counts:
            ways = itertools.combinations(range(units), count)
            while block := list(itertools.islice(ways, rows)):
                on = np.zeros((len(block), units), np.int64)
                np.put_along_axis(on, np.array(block, dtype=np.int64), 1, axis=1)
                yield self._sides(np.add.reduceat(on, np.cumsum(pool) - pool, axis=1))

    def sample_blocks(self, samples: int, rng: np.random.Generator) -> Iterator[Counts]:
        """Give independent draws of how many of each score are the first item's."""
        pool, block = self.pool, max(1, BLOCK // len(self.scores))
        for start in range(0, samples, block):
            rows = min(block, samples - start)
            if self.procedure is not None:
                source = cast("Stream", rng.bit_generator)
                sides = [self.procedure(Drawn(source), source) for _ in range(rows)]
                on = 1 - np.array(sides, np.int64)
            elif isinstance(self.counts, range):
                on = rng.binomial(pool, 0.5, (rows, len(pool)))
            else:
                on = sample_subsets(pool, self.counts[0], rows, rng)
                if len(self.counts) > 1:
                    # An odd number has two middle counts, as likely as each other.
                    on = np.where(rng.random((rows, 1)) < HALF, on, pool - on)
            yield self._sides(on)

    def _sides(self, on: Counts) -> Counts:
        if self.place is None:
            return on
        return np.asarray(on[:, self.place // 2] == self.place % 2, dtype=np.int64)


def redraw(
    first: Numbers | ScoreCounts,
    second: Numbers | ScoreCounts,
    design: str | TwoItemDesign | None,
    groups: object,
    *,
    complete: bool = False,
) -> Redraws:
    """Work out what could have been drawn.

    Args:
        first: Scores of the first item, one by one where there are pairs or panels.
        second: Scores of the second item.
        design: How the items were assigned, None for the observed counts; one that
            cannot have drawn these becomes GIVEN.
        groups: Labels of pairs or panels, two lists.
        complete: Whether reviewers whose partner has no score are left out.

    Examples:
        >>> one, two = np.array([3.0, 4.0]), np.array([1.0])
        >>> redraw(one, two, "halves", None).total
        6
        >>> redraw(one, two, "matched", (["a", "b"], ["a"])).total
        4
    """
    chosen = None if design is None else as_design(design, TwoItemDesign)
    if not isinstance(first, ScoreCounts) or not isinstance(second, ScoreCounts):
        lists = [side.tolist() for side in as_lists(first, second)]
        if chosen is not None and chosen.group:
            units = _members(lists, chosen, groups)
            units = [unit for unit in units if len(unit) > 1 or not complete]
            return _redraw_units(units, chosen)
        owners = " and ".join(
            repr(name) for name, owner in TwoItemDesign.registry.items() if owner.group
        )
        why = f"for design {design!r}: they belong to {owners}"
        refuse_option("groups", groups is not None, why)
    first, second = count_sides(first, second)
    scores = np.concatenate([first.levels, second.levels])
    sizes = np.concatenate([first.counts, second.counts])
    ahead = np.concatenate([first.counts, 0 * second.counts])
    if chosen is None:
        return Redraws(GIVEN, scores, sizes, ahead, (first.size,))
    if not chosen.unit:
        of = np.repeat(ahead > 0, sizes).tolist()
        rows = zip(np.repeat(scores, sizes).tolist(), of, strict=True)
        return _draw_again([[row] for row in rows], chosen)
    counts = chosen.counts_on(int(sizes.sum()), first.size)
    if counts is None:
        return Redraws(GIVEN, scores, sizes, ahead, (first.size,))
    return Redraws(chosen.name, scores, sizes, ahead, counts)


def _members(
    lists: Sequence[list[float]], design: TwoItemDesign, groups: object
) -> list[Unit]:
    """Return the members of each pair or panel, which must be what the design draws."""
    if groups is None and design.unit == "pair" and len(lists[0]) == len(lists[1]):
        groups = [range(len(scores)) for scores in lists]
    members: dict[Hashable, Unit] = {}
    try:
        for ahead, side, names in zip((True, False), lists, groups, strict=True):  # type: ignore[call-overload]  # or else
            for score, label in zip(side, names, strict=True):
                members.setdefault(label, []).append((score, ahead))
    except (TypeError, ValueError):
        raise DesignError(
            f"groups must name the {design.group} of each reviewer for design "
            f"{design.name!r}, got {quote(groups)}."
        ) from None
    for label, unit in members.items():
        firsts = sum(ahead for _, ahead in unit)
        if rule := design.follow(firsts, len(unit) - firsts):
            raise DesignError(
                f"groups must name {rule} for design {design.name!r}, got {firsts} of "
                f"the first item and {len(unit) - firsts} of the second for "
                f"{quote(label)}."
            )
    return list(members.values())


def _redraw_units(members: list[Unit], design: TwoItemDesign) -> Redraws:
    """Redraw groups, each with its scores and whether they are the first's."""
    if not design.unit:
        return _draw_again(members, design)
    # Equal units are interchangeable, so sorting them forgets the order of the rows
    # and nothing else.
    units = sorted(map(sorted, members))
    rows = sorted(
        (*member, index) for index, unit in enumerate(units) for member in unit
    )
    scores, of, unit_of = zip(*rows, strict=True) if rows else [()] * 3
    on = sum(ahead for (_, ahead), *_ in units)
    counts, name = design.counts_on(len(units), on), design.name
    if counts is None:
        name, counts = GIVEN_PANELS, (on,)
    first, ones = np.array(of, np.int64), np.ones(len(rows), np.int64)
    whole = design.unit == "group"
    place = 2 * np.array(unit_of, np.int64) + (ones if whole else first)
    return Redraws(name, np.array(scores), ones, first, counts, place, not whole)


def _draw_again(members: list[Unit], design: TwoItemDesign) -> Redraws:
    """Redraw a design as it is, reviewer by reviewer."""
    rows = [
        (*member, index)
        for index, unit in enumerate(sorted(map(sorted, members)))
        for member in unit
    ]
    scores, of, group_of = zip(*rows, strict=True)
    procedure, _ = design.plan(group_of if design.group else len(rows))
    ones, place = np.ones(len(rows), np.int64), 2 * np.arange(len(rows)) + 1
    first = np.array(of, np.int64)
    return Redraws(
        design.name, np.array(scores), ones, first, (), place, procedure=procedure
    )


class Problem(NamedTuple):
    """What is redrawn and compared.

    The statistic is the difference of two central means: of all scores of an item (the
    mean), of those left when both ends are cut (the trimmed mean), or of the one or two
    in the middle (the median). Scores are natural numbers, so that no rounding can
    break a tie. With an item without scores the statistic is 0. The proof asks that,
    for each assignment by itself, it does not fall when a score of the first item rises
    and does not rise when one of the second does; a constant does neither.

    Attributes:
        redraws: The assignments that could have been drawn.
        values: The scores as natural numbers.
        kept: From a number of scores to the places, from and to, of those that count
            when they are in increasing order; never none of one or more scores.
        whole: Whether all scores count.
    """

    redraws: Redraws
    values: Counts
    kept: Kept
    whole: bool

    @property
    def observed_value(self) -> Fraction:
        """The statistic as it was observed."""
        gaps, scales = self._differences(self.redraws.first[None, :])
        return Fraction(int(gaps[0]), int(scales[0]))

    def shares(self) -> tuple[Tails | None, How]:
        """Return the shares of both tails, or None if there are too many to count."""
        redraws = self.redraws
        tails: Tails | None = None
        if int(redraws.first.sum()) in (0, redraws.size):
            tails = Fraction(1), Fraction(1)
        elif self.whole and redraws.countable and redraws.procedure is None:
            tails = self._count_sums()
        if tails is not None:
            return tails, "counting"
        if not redraws.at_most(min(LIMIT, ENUMERATED_CELLS // redraws.size)):
            return None, "sampling"
        above, below = self.tally(redraws.enumerate_blocks())
        total = redraws.total
        return (Fraction(above, total), Fraction(below, total)), "enumeration"

    def tally(self, blocks: Iterable[Counts]) -> tuple[int, int]:
        """Count assignments in both tails, with exact comparisons.

        Args:
            blocks: Rows with how many scores of each level the first item has.
        """
        observed, counts = self.observed_value, np.zeros(2, np.int64)
        for rows in blocks:
            gaps, scales = self._differences(rows)
            gap_terms, observed_terms = (
                gaps * observed.denominator,
                scales * observed.numerator,
            )
            counts += (
                (gap_terms >= observed_terms).sum(),
                (gap_terms <= observed_terms).sum(),
            )
        return int(counts[0]), int(counts[1])

    def _differences(
        self, rows: Counts
    ) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
        """Return differences of central means, as whole numbers over whole numbers."""
        sums, numbers, order = [], [], np.argsort(self.values)
        for side in (rows, self.redraws.sizes - rows):
            sizes, back = np.unique(side.sum(axis=1), return_inverse=True)
            places = np.array([self.kept(size) for size in sizes.tolist()])[back]
            low, high = places[:, :1], places[:, 1:]
            if self.whole:
                total = side @ self.values
            else:
                seen = np.clip(side[:, order].cumsum(axis=1), low, high)
                total = np.diff(seen, prepend=low) @ self.values[order]
            sums.append(np.asarray(total, dtype=object))
            numbers.append((high - low)[:, 0].astype(object))
        gaps = sums[0] * numbers[1] - sums[1] * numbers[0]
        return gaps, np.maximum(numbers[0] * numbers[1], 1)

    def _units(self) -> NDArray[np.object_]:
        """Return what each unit adds to the first item's scores, off and on.

        Returns:
            Numbers of scores and their sums, the less first, shape (units, 2, 2).
        """
        redraws = self.redraws
        values = np.repeat(self.values, redraws.sizes)
        place = redraws.place
        if place is None:
            place = 2 * np.arange(len(values)) + 1
        sums = np.zeros((redraws.n_units, 2, 2), dtype=object)
        scores = np.column_stack([np.ones_like(values), values])
        np.add.at(sums.reshape(-1, 2), place, scores)
        return np.sort(sums, axis=1)

    def _count_sums(self) -> Tails | None:
        """Count where all scores count, one unit after the other.

        Returns:
            Shares of both tails, or None if that is too much work.
        """
        redraws = self.redraws
        n_units, counts, size = redraws.n_units, redraws.counts, redraws.size
        if n_units > MOST_UNITS:
            return None
        units = self._units()
        steps, least = units[:, 1] - units[:, 0], units[:, 0].sum(axis=0).tolist()
        sizes, sums = (steps.sum(axis=0) + 1).tolist()
        work = n_units * sums * sizes // 3
        # To go through a few assignments is quicker than much work.
        if work > (WHOLE_WORK if redraws.at_most(FEW_WORK) else DENSE_WORK):
            return None
        whole = work <= FEW_WORK
        share = sum(counts) / len(counts) / n_units
        # A state is a sum and a number of scores in one index.
        shifts = sorted((steps[:, 1] * sizes + steps[:, 0]).tolist())
        on, off = (1, 1) if whole else (share, 1 - share)
        law = np.ones(1, dtype=object if whole else np.float64)
        for shift in shifts:
            wider = np.zeros(len(law) + shift, dtype=law.dtype)
            wider[: len(law)] = law * off
            wider[shift:] += law * on
            law = wider
        law = np.append(law, np.zeros(-len(law) % sizes, dtype=law.dtype))
        observed, total = self.observed_value, int(units.sum(axis=(0, 1))[1])
        sign, parts = (observed > 0) - (observed < 0), []
        for ahead, column in enumerate(law.reshape(-1, sizes).T, least[0]):
            if ahead in counts:
                # The observed value as a sum of the first item's scores: the second
                # item has the rest of the total.
                edge = Fraction(total * (ahead > 0) + sign)
                if 0 < ahead < size:
                    edge = (observed * (size - ahead) + total) * ahead / size
                low, high = math.ceil(edge) - least[1], math.floor(edge) - least[1]
                tails = column[max(low, 0) :], column[: max(high + 1, 0)], column
                parts.append([part.sum() for part in tails])
        above, below, every = map(sum, zip(*parts, strict=True))
        if whole:
            return Fraction(above, every), Fraction(below, every)
        return float(above / every), float(below / every)


def problem(
    first: Numbers | ScoreCounts,
    second: Numbers | ScoreCounts,
    statistic: str,
    trim: float,
    design: str | TwoItemDesign | None,
    groups: object,
) -> Problem:
    """Check everything, and make a test ready."""
    kept, paired = central_places(statistic, trim), statistic == "pairs"
    if statistic.partition(":")[0] not in STATISTICS:
        raise OptionError(unknown("statistic", statistic, STATISTICS))
    chosen = None if design is None else as_design(design, TwoItemDesign)
    if paired and chosen is not None and chosen.unit != "pair":
        rule = f"come with design {Matched.name!r}, got {chosen.name!r}."
        raise OptionError(f"statistic 'pairs' must {rule}")
    redraws = redraw(
        first,
        second,
        chosen or (Matched() if paired else None),
        groups,
        complete=paired,
    )
    if redraws.place is None:
        scores, place = np.unique(redraws.scores, return_inverse=True)
        parts = redraws.sizes, redraws.first
        sizes, ahead = (np.bincount(place, part).astype(np.int64) for part in parts)
        redraws = replace(redraws, scores=scores, sizes=sizes, first=ahead)
    values = _naturals(redraws.scores, redraws.sizes, midranks=statistic == "midrank")
    return Problem(redraws, values, kept, statistic in WHOLE)


def _naturals(scores: Floats, sizes: Counts, *, midranks: bool) -> Counts:
    """Return scores, or their midranks, as natural numbers of which sums are exact."""
    levels, place = np.unique(scores, return_inverse=True)
    level_counts = np.bincount(place, sizes).astype(np.int64)
    whole = as_integers(
        2 * np.cumsum(level_counts) - level_counts if midranks else levels
    )
    fits = max(whole, default=0) * int(sizes.sum()) < 1 << 63
    return np.array(whole, dtype=np.int64 if fits else object)[place]


def as_integers(levels: Floats | Counts) -> list[int]:
    """Return natural numbers with the same ratios of differences as increasing levels.

    A float counts as the shortest decimal that stands for it.

    Examples:
        >>> as_integers(np.array([0.1, 0.2, 0.4]))
        [0, 1, 3]
    """
    exact = [
        (Decimal(repr(level)) if isinstance(level, float) else level).as_integer_ratio()
        for level in levels.tolist()
    ]
    common = math.lcm(*(below for _, below in exact))
    whole = [above * (common // below) for above, below in exact]
    divisor = math.gcd(*(number - whole[0] for number in whole)) or 1
    return [(number - whole[0]) // divisor for number in whole]


class Difference(NamedTuple):
    """The mean of the first item less that of the second, and its interval.

    Attributes:
        estimate: The difference.
        low: Lower end of the interval, which belongs to it; None if there is none.
        high: Upper end.
        p_value: Two-sided, of the same test for a shift of 0: the interval holds 0
            exactly if it is above 1 - CONFIDENCE. None without a test.
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


def mean_of(side: ScoreCounts) -> float | None:
    """Return the mean score, None if there is no score.

    Examples:
        >>> mean_of(count_sides([1.0, 2.0, 2.0, 3.0], [])[0])
        2.0
    """
    if not side.size:
        return None
    # A power of two rounds nothing, and keeps sums of huge scores within the floats.
    small = 2.0**-60 if np.abs(side.levels).max() > HUGE else 1.0
    return float((side.levels * small) @ side.counts / side.size / small)


def mean_difference(first: ScoreCounts, second: ScoreCounts) -> Difference | None:
    """Return the difference of means alone, None if it is not a finite number.

    Examples:
        >>> mean_difference(*count_sides([5.0], [1.0]))[0]
        4.0
    """
    first_mean, second_mean = mean_of(first), mean_of(second)
    if (
        first_mean is None
        or second_mean is None
        or not math.isfinite(first_mean - second_mean)
    ):
        return None
    return Difference(first_mean - second_mean)


def mean_interval(
    first: ScoreCounts | Floats,
    second: ScoreCounts | Floats,
    *,
    design: str | TwoItemDesign | None = None,
    groups: object = None,
    seed: int = 0,
) -> Difference | None:
    """Return the difference of means with the interval of shifts that fit the scores.

    Args:
        first: Scores of the first item, one by one where there are pairs or panels.
        second: Scores of the second item.
        design: How the items were assigned, as in `p_values`.
        groups: Labels of pairs or panels.
        seed: Repeats what is sampled.

    Returns:
        The difference; None if an item has no score or it leaves the floats. There is
        no interval if so few assignments are possible that no shift is rejected.

    Examples:
        >>> mean_interval(np.array([5.0, 6, 7, 9]), np.array([1.0, 2, 3, 4]))[:4]
        (4.25, 1.0, 8.0, 0.02857142857142857)
    """
    estimate = mean_difference(*count_sides(first, second))
    if estimate is None:
        return None
    drawn = redraw(first, second, design, groups)
    unit = float(np.abs(drawn.scores).max()) or 1.0
    how, samples = "sampling", min(max(CELLS // len(drawn.scores), FEWEST), MOST)
    samples = min(samples, drawn.most_samples)
    if drawn.place is None and drawn.size > MANY_SCORES:
        how, samples = "normal", 0
        shifts, place, p_value = _normal(drawn, drawn.scores / unit)
    else:
        if drawn.at_most(FEW):
            how, samples = "enumeration", 0
        shifts, place, p_value = _redrawn(drawn, drawn.scores / unit, samples, seed)
    estimate = estimate._replace(p_value=p_value, how=how, samples=samples)
    if 0 <= place < len(shifts):
        # Twelve digits: those behind them are rounding.
        ends = [float(f"{unit * shifts[end]:.12g}") for end in (place, -1 - place)]
        if all(map(math.isfinite, ends)):
            return estimate._replace(low=ends[0], high=ends[1])
    return estimate


def _redrawn(
    drawn: Redraws, scores: Floats, samples: int, seed: int
) -> tuple[Floats, int, float]:
    """Return the shifts of all or sampled assignments, in order.

    And how many of them are beyond each end of the interval, and the p-value.
    """
    rng = np.random.Generator(stream(seed, "shifts"))
    blocks = drawn.sample_blocks(samples, rng) if samples else drawn.enumerate_blocks()
    shifts = np.sort(np.concatenate([_shifts(rows, drawn, scores) for rows in blocks]))
    shifts[np.abs(shifts) < NEAR_ZERO * np.ptp(scores)] = 0
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
    is_first = drawn.first > 0
    kinds = np.column_stack([is_first, scores / drawn.size])
    kept, sums = (rows.astype(np.float64) @ kinds).T
    ahead, size, before = rows.sum(axis=1), drawn.size, int(drawn.first.sum())
    share, other_share = ahead / size, 1 - ahead / size
    whole = float(drawn.sizes @ kinds[:, 1])
    observed = float(drawn.first @ kinds[:, 1])
    observed = observed * size / before - (whole - observed) * size / (size - before)
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps = observed - (sums / share - (whole - sums) / other_share)
        slopes = 1 - kept / ahead + (before - kept) / (size - ahead)
        # With a side empty there is a difference of 0.
        empty = (ahead == 0) | (ahead == size)
        shifts = np.where(empty, observed, gaps / slopes)
    return np.asarray(shifts[(kept < before) | (ahead > before)])


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
    away = gap and abs(gap) / math.sqrt(variance + gap**2 / (size - 1))
    p_value = max(math.erfc(away / math.sqrt(2)), sys.float_info.min)
    return np.array([gap - reach, gap + reach]), 0, p_value
