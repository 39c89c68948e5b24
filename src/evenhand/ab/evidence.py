"""Evidence that may be looked at after every score: e-processes (Theorem S).

Reviewers are taken in the order in which items were assigned to them. Each got the
first item with a known probability pi, given the past and whatever they would answer.
Before a score is seen, a bet q is chosen that never falls as the score rises; the
evidence is then multiplied by q/pi if the item was the first, else by (1 - q)/(1 - pi).
If nobody would score the first item higher, the mean of that factor is q(Y1) + 1 -
q(Y2), at most 1, whatever the scales. So the evidence ever reaches 1/alpha with
probability alpha at most, however often one looks and whenever one stops.

The bet follows the place z of the score among earlier ones, from -1 for the lowest to 1
for the highest: logit q = logit pi + s z, mixed over four steepnesses s. With -s it is
the evidence that the second item is better.
"""

from __future__ import annotations

import bisect
import copy
import math
import re
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import polars as pl

from evenhand.ab._sides import scored_alone
from evenhand.ab.law import ScoreCounts, count_sides
from evenhand.claims import DataWarning
from evenhand.engines.counts import Counts
from evenhand.errors import (
    OptionError,
    RatingsError,
    as_finite,
    must_be,
    quote,
    refuse_option,
    require_whole,
)
from evenhand.ratings import Ratings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from evenhand.arrays import Codes, Flags, Floats
    from evenhand.claims import Json, Label
    from evenhand.designs.design import Declared, TwoItemDesign

STEEPNESS = (0.4, 0.8, 1.6, 3.2)
SLOPES = np.array([*STEEPNESS, *(-slope for slope in STEEPNESS)])
# A score is held against the last full thousand before it, so that a watch of any
# length remembers two thousand numbers and follows a drift.
REMEMBERED = 1000
SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")
# Shares of a block's lead that are staked; the lead that counts as whole, in its
# standard errors.
STAKES = np.array([0.1, 0.3, 0.6, 0.9])
RATES, WHOLE_LEAD = np.array([*STAKES, *-STAKES]), 2.0
UNITS = {"": 1.0, "min": 6e7, "h": 3.6e9, "d": 8.64e10}
# Parts of time in which the share of the first item is shown.
PARTS = 5
# Points of the chart; scores above which no interval is worked out; its bisections.
POINTS, MOST_SCORES, HALVINGS = 500, 100_000, 50


class Look(NamedTuple):
    """The evidence after so many scores.

    Attributes:
        n: Number of scores.
        e_first: Evidence that the first item is better.
        e_second: Evidence that the second is.
        e_value: Their mean: evidence that they differ.
    """

    n: int
    e_first: float
    e_second: float
    e_value: float


@dataclass(frozen=True, slots=True)
class Sequential:
    """What a watched comparison says, at this look and at every earlier one.

    Attributes:
        e_first: Evidence that the first item is better, an e-value.
        e_second: Evidence that the second is.
        e_value: Their mean: evidence that one of them is better.
        p_value: 1 over the largest e_value so far: valid at every look.
        p_first: 1 over the largest e_first so far, likewise.
        p_second: 1 over the largest e_second so far.
        settled: Item that is better, or None as long as e_value never reached 1/alpha.
        settled_at: Number of scores at which it first did, or None.
        interval: Differences that no look has refuted if all reviewers' differences
            are the same; None with too few scores, or too many.
        alpha: Chance of ever naming an item that is not better, at most.
        looks: Evidence over time, at most 500 points.
    """

    e_first: float
    e_second: float
    e_value: float
    p_value: float
    p_first: float
    p_second: float
    settled: Label | None
    settled_at: int | None
    interval: tuple[float, float] | None
    alpha: float
    looks: tuple[Look, ...] = field(default=(), repr=False)


def places(scores: Floats, times: Floats | None = None) -> Floats:
    """Return the place of each score among earlier ones, from -1 to 1.

    Scores of the same time are held against those before it.

    Examples:
        >>> places(np.array([3.0, 5, 1, 3])).tolist()
        [0.0, 1.0, -1.0, 0.0]
        >>> places(np.array([3.0, 5, 1, 3]), np.array([0, 1, 1, 1])).tolist()
        [0.0, 1.0, -1.0, 0.0]
    """
    starts = np.arange(len(scores))
    if times is not None:
        starts = np.searchsorted(times, times)
    ends = np.where(starts < REMEMBERED, starts, starts // REMEMBERED * REMEMBERED)
    distinct, firsts = np.unique(ends, return_index=True)
    z = np.zeros(len(scores))
    bounds = pairwise([*firsts.tolist(), len(scores)])
    for end, (begin, stop) in zip(distinct.tolist(), bounds, strict=True):
        past = np.sort(scores[max(end - REMEMBERED, 0) : end])
        below = sum(np.searchsorted(past, scores[begin:stop], side) for side in SIDES)
        z[begin:stop] = below / max(end - max(end - REMEMBERED, 0), 1) - (end > 0)
    return z


def bets(place: Floats, probability: Floats) -> Floats:
    """Return q for each steepness, and for the second item's with a minus sign.

    Examples:
        >>> bets(np.array([0.0, 1.0]), np.array([0.5, 0.5]))[:, 0].round(3).tolist()
        [0.5, 0.599]
    """
    tilt = np.exp(np.multiply.outer(place, SLOPES))
    share = np.asarray(probability)[..., None]
    return np.asarray(share * tilt / (share * tilt + 1 - share))


def log_factors(first: Flags, place: Floats, probability: Floats) -> Floats:
    """Return the logarithms of the factors, a row for each score.

    A score whose item was certain to come says nothing: its factor is 1.
    """
    tilt = np.multiply.outer(place, SLOPES)
    share = np.asarray(probability)[..., None]
    first_item = np.log(share + (1 - share) * np.exp(-tilt))
    second_item = np.log(share * np.exp(tilt) + 1 - share)
    logs: Floats = np.where(np.asarray(first)[..., None], first_item, second_item)
    return -logs


def mix(logs: Floats) -> Floats:
    """Return the logarithms of the evidence for the first, the second, and either."""
    count = len(STEEPNESS)
    first = np.logaddexp.reduce(logs[..., :count], axis=-1)
    second = np.logaddexp.reduce(logs[..., count:], axis=-1)
    either = np.logaddexp(first, second) - math.log(2)
    stacked: Floats = np.stack([first, second, either], axis=-1)
    return stacked - math.log(count)


def watch(
    first: Flags,
    scores: Floats,
    probability: Floats,
    items: Sequence[Label],
    alpha: float = 0.05,
    times: Floats | None = None,
    *,
    interval: bool = True,
) -> Sequential:
    """Work out the evidence of scores in the order of assignment.

    Args:
        first: Whether a score is one of the first item.
        scores: The scores.
        probability: With which probability the item was to be the first one.
        items: Labels of the two items.
        alpha: Chance of ever naming an item that is not better.
        times: When items were assigned, increasing; by default one after the other. One
            looks after all of the same time, whose order is of no matter.
        interval: Whether to work out the interval, which takes most of the time.

    Examples:
        >>> first = np.arange(40) % 2 == 0
        >>> result = watch(first, np.where(first, 4.0, 2.0), np.full(40, 0.5), "AB")
        >>> result.settled, result.settled_at, round(result.p_value, 8)
        ('A', 10, 1e-08)
    """
    times = np.arange(len(scores), dtype=np.float64) if times is None else times
    ends = np.append(np.flatnonzero(np.diff(times)), len(scores) - 1)
    sums = np.cumsum(log_factors(first, places(scores, times), probability), axis=0)
    whole = _sum_up(mix(sums[ends]), ends + 1, items, alpha)
    if not interval:
        return whole
    span = _interval(first, scores, probability, alpha, times, ends)
    return replace(whole, interval=span)


def _sum_up(
    logs: Floats, numbers: Codes, items: Sequence[Label], alpha: float
) -> Sequential:
    """Say what the evidence shows, from its logarithms after so many scores."""
    reached = np.flatnonzero(logs[:, 2] >= -math.log(alpha))
    settled_at = int(reached[0]) if len(reached) else None
    shown = np.unique(np.linspace(0, len(logs) - 1, POINTS).astype(int))
    looks = (Look(int(numbers[at]), *_safe_exp(logs[at])) for at in shown.tolist())
    e_first, e_second, e_value = _safe_exp(logs[-1])
    return Sequential(
        e_first,
        e_second,
        e_value,
        **_p_values(logs.max(axis=0)),
        settled=None if settled_at is None else items[_second_leads(logs[settled_at])],
        settled_at=None if settled_at is None else int(numbers[settled_at]),
        interval=None,
        alpha=alpha,
        looks=tuple(looks),
    )


def lead(first: ScoreCounts, second: ScoreCounts) -> float:
    """Return the first item's lead in a block, from -1 to 1; 0 if an item has no score.

    It is the share of pairs won less the share lost, over two standard errors (that of
    equal items without ties), cut at 1. It never falls when a score of the first item
    rises or one of the second falls, and turns round when the two swap.

    Examples:
        >>> lead(*count_sides([3, 4], [1, 4])), lead(*count_sides([3], [1]))
        (0.25, 1.0)
    """
    sizes = first.size, second.size
    if not all(sizes):
        return 0.0
    below = np.concatenate([[0], np.cumsum(second.counts)])
    sides = (np.searchsorted(second.levels, first.levels, side) for side in SIDES)
    wins, ties_and_wins = (int(first.counts @ below[side]) for side in sides)
    share = (wins + ties_and_wins) / (sizes[0] * sizes[1]) - 1
    error = math.sqrt((sum(sizes) + 1) / (3 * sizes[0] * sizes[1]))
    return max(-1.0, min(1.0, share / min(1.0, WHOLE_LEAD * error)))


def watch_blocks(
    leads: Sequence[float],
    numbers: Sequence[int],
    items: Sequence[Label],
    alpha: float = 0.05,
) -> Sequential:
    """Work out the evidence of blocks, each assigned by itself, in their order.

    The law of a block's assignment, given the blocks before it, may not change when the
    two items swap: fair coins, or halves, pairs or panels drawn within the block.

    Args:
        leads: What `lead` is of each block.
        numbers: How many scores each block has.
        items: Labels of the two items.
        alpha: Chance of ever naming an item that is not better.

    Examples:
        >>> watch_blocks([1.0] * 9, [40] * 9, "AB").settled_at
        320
    """
    logs = np.log1p(np.multiply.outer(np.asarray(leads), RATES))
    return _sum_up(mix(np.cumsum(logs, axis=0)), np.cumsum(numbers), items, alpha)


def _watch_counts(
    counts: Counts,
    items: Sequence[Label],
    declared: Declared[TwoItemDesign],
    alpha: float,
) -> Sequential:
    """Watch counts by the day of assignment, each day a block."""
    if counts.by_time is None:
        raise RatingsError(
            "sequential must come with counts by the day of assignment. Count them so "
            "(evenhand count --by day), and name the column with order= or --order."
        )
    if declared.design_name != "coins":
        raise OptionError(
            "sequential must come with design 'coins' for counts by day: each day is a "
            "block that was drawn by itself, which a day of one draw of halves is not."
        )
    codes = [counts.item_labels.index(item) for item in items]
    leads, numbers = [], []
    rows = counts.by_time.filter(pl.col("item").is_in(codes))
    for _, block in rows.group_by("time", maintain_order=True):
        sides = (block.filter(pl.col("item") == code) for code in codes)
        tables = [
            ScoreCounts(side["score"].to_numpy(), side["count"].to_numpy())
            for side in sides
        ]
        leads.append(lead(*tables))
        numbers.append(sum(table.size for table in tables))
    return watch_blocks(leads, numbers, items, alpha)


def watch_ratings(
    ratings: object,
    items: tuple[Label, Label],
    declared: Declared[TwoItemDesign],
    alpha: float,
    among: Sequence[Label] = (),
    *,
    planned: Sequence[int] | None = None,
    window: float | str | None = None,
) -> Sequential:
    """Watch the scores of two items in the order of assignment.

    Reviewers of several items, of the two or among those of a comparison, are left out.

    Args:
        ratings: Ratings, or counts by time.
        items: Labels of the two items.
        declared: How they were assigned.
        alpha: Chance of ever naming an item that is not better.
        among: The items of a comparison of several.
        planned: For halves, how many reviewers each item was planned to have.
        window: How long an answer may take, such as "3d", "12h", "30min", or a number
            in the unit of the order. Later answers, and reviewers who still have time,
            do not count.

    Raises:
        RatingsError: If it is not known when items were assigned.
        OptionError: If the probabilities of the assignment are not known.
    """
    if not 0 < alpha < 1:
        raise must_be("alpha", "between 0 and 1", alpha)
    if isinstance(ratings, Counts):
        return _watch_counts(ratings, items, declared, alpha)
    times = assignment_times(ratings)
    if not isinstance(ratings, Ratings) or times is None:
        raise RatingsError(
            "sequential must come with the order in which items were assigned. Name "
            "its column with order= or --order."
        )
    _require_law(ratings, declared, planned, among)
    codes = [ratings.item_labels.index(item) for item in among or items]
    alone, _ = scored_alone(ratings, codes)
    codes = [ratings.item_labels.index(item) for item in items]
    rows = np.flatnonzero(alone & np.isin(ratings.item_codes, codes))
    rows = rows[np.argsort(times[rows], kind="stable")]
    first = ratings.item_codes[rows] == codes[0]
    design, shares = declared.design, ratings.probabilities
    if planned is not None:
        lost = any(notice.code == "missing_scores" for notice in ratings.notices)
        probability = planned_shares(first, planned, lost=lost)
    else:
        share = (design and design.probability) or 0.5
        probability = np.full(len(rows), share) if shares is None else shares[rows]
    if window is not None:
        # Who was late has given no answer, and took up a place.
        kept = in_time(ratings, rows, window)
        rows, first, probability = rows[kept], first[kept], probability[kept]
        if not len(rows):
            raise RatingsError(f"No score came within the window of {window}.")
    scores, times = ratings.preference[rows], times[rows]
    if shares is None and design and design.symmetry == "partners":
        return _watch_pairs(ratings, rows, times, first, items, alpha)
    several = len(among) > 2
    return watch(first, scores, probability, items, alpha, times, interval=not several)


def assignment_times(ratings: object) -> Floats | None:
    """Return the times of assignment, or those of the answers where they lack."""
    times = getattr(ratings, "order", None)
    return getattr(ratings, "answered", None) if times is None else times


def watch_notices(
    ratings: object, items: Sequence[Label], window: float | str | None
) -> Iterator[DataWarning]:
    """Say what a watch left out, and by what else than the assignment it is ordered."""
    if not isinstance(ratings, Ratings) or ratings.answered is None:
        return
    codes = [ratings.item_labels.index(item) for item in items]
    sides = [np.flatnonzero(ratings.item_codes == code) for code in codes]
    if ratings.order is None:
        times = ratings.answered
        order = np.argsort(times[np.concatenate(sides)], kind="stable")
        parts = np.array_split(order < len(sides[0]), PARTS)
        shares = ", ".join(f"{100 * part.mean():.0f}%" for part in parts if len(part))
        yield DataWarning("ordered_by_answers", {"item": items[0], "shares": shares})
    elif window is not None:
        kept = [int(in_time(ratings, rows, window).sum()) for rows in sides]
        lists: dict[str, Json] = {"in_time": kept, "scores": [*map(len, sides)]}
        yield DataWarning("outside_window", {"items": list(items), **lists})


def _require_law(
    ratings: Ratings,
    declared: Declared[TwoItemDesign],
    planned: Sequence[int] | None,
    among: Sequence[Label],
) -> None:
    """Refuse a watch of which the probabilities are not known."""
    design = declared.design
    by_plan = planned is not None and declared.design_name == "halves"
    if planned is not None and (not by_plan or len(planned) != 2 or len(among) > 2):
        rule = "the planned places of both items for halves, and for nothing else"
        raise must_be("planned", rule, planned)
    drawn_apart = design and (design.probability or design.symmetry == "partners")
    if ratings.probabilities is None and not (drawn_apart or by_plan):
        raise OptionError(
            "sequential must come with known probabilities of the assignment: declare "
            "design 'coins', or name their column with probability= or --probability. "
            "For halves say how many reviewers were planned for each item, with "
            "planned= or --planned."
        )
    if ratings.probabilities is not None and len(among) > 2:
        raise OptionError(
            "probability must be left out for several items: one number does not say "
            "how likely each was. Choose two with items=(a, b) or --items A B."
        )


def planned_shares(
    first: Flags, planned: Sequence[int], *, lost: bool = False
) -> Floats:
    """Return the probability of the first item by the places that are left.

    Raises:
        OptionError: If more reviewers than planned came, or some gave no answer.

    Examples:
        >>> planned_shares(np.array([True, False]), (2, 1)).tolist()
        [0.6666666666666666, 0.5]
    """
    for number in planned:
        require_whole("planned", number, 0)
    counts = int(first.sum()), int((~first).sum())
    if counts[0] > planned[0] or counts[1] > planned[1]:
        raise must_be("planned", f"at least {counts[0]} and {counts[1]}", planned)
    if lost:
        raise OptionError(
            "planned must come with an answer of everybody, as rows without a score "
            "take up places. Use evenhand.Monitor: add(item, None) for each of them."
        )
    before: Codes = np.cumsum(first) - first
    shares: Floats = (planned[0] - before) / (sum(planned) - np.arange(len(first)))
    return shares


def in_time(ratings: Ratings, rows: Codes, window: float | str) -> Flags:
    """Say which scores came within a window, of reviewers whose time is over.

    Raises:
        OptionError: If the window is not one, or nothing says when scores came.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(d|h|min|)\s*", str(window))
    if match is None or not float(match[1]):
        raise must_be("window", "a time such as 3d, 12h or 30min, or a number", window)
    if ratings.answered is None or ratings.order is None:
        raise OptionError(
            "window must come with the time of each answer. Name its column with "
            "answered= or --answered."
        )
    length = float(match[1]) * UNITS[match[2]]
    begun_at, came = ratings.order[rows], ratings.answered[rows]
    if not np.isfinite(came).all() or (came < begun_at).any():
        raise must_be("answered", "a time after the assignment, for every score", "one")
    now = max(float(came.max()), float(ratings.order.max()))
    kept: Flags = (came - begun_at <= length) & (begun_at <= now - length)
    return kept


def _watch_pairs(
    ratings: Ratings,
    rows: Codes,
    times: Floats,
    first: Flags,
    items: Sequence[Label],
    alpha: float,
) -> Sequential:
    """Watch matched pairs, each a block, in the order in which they were whole."""
    if ratings.pair_codes is None:
        raise RatingsError("sequential must come with the pairs: --column pair=COLUMN.")
    scores, blocks = ratings.preference, list[tuple[float, int, float]]()
    pairs = ratings.pair_codes[rows]
    for pair in np.unique(pairs):
        at = np.flatnonzero(pairs == pair)
        sides = scores[rows[at[first[at]]]], scores[rows[at[~first[at]]]]
        whole_at = float(times[at].max())
        blocks.append((whole_at, len(at), lead(*count_sides(*sides))))
    _, numbers, leads = zip(*sorted(blocks, key=itemgetter(0)), strict=True)
    return watch_blocks(leads, numbers, items, alpha)


def _second_leads(logs: Floats) -> int:
    return int(logs[1] > logs[0])


def _p_values(largest: Sequence[float] | Floats) -> dict[str, Any]:
    """Return 1 over the largest evidence so far, for the first, second and either."""
    values = np.exp(-np.maximum(largest, 0.0)).tolist()
    return dict(zip(("p_first", "p_second", "p_value"), values, strict=True))


def _safe_exp(logs: Floats) -> list[float]:
    values: list[float] = np.exp(np.minimum(logs, 700)).tolist()
    return values


def _interval(
    first: Flags,
    scores: Floats,
    probability: Floats,
    alpha: float,
    times: Floats,
    looks: Codes,
) -> tuple[float, float] | None:
    """Return the differences that neither side's evidence has ever refuted.

    As the difference that is taken off the first item's scores grows, the evidence for
    the first never grows. So each end is found by halving; the outer of the last two
    differences is taken, which was refuted.
    """
    if not first.any() or first.all() or len(scores) > MOST_SCORES:
        return None
    span = float(scores.max() - scores.min()) + 1

    def refutes(difference: float, side: int) -> bool:
        moved = places(scores - difference * first, times)
        logs = np.cumsum(log_factors(first, moved, probability), axis=0)[looks]
        return bool(mix(logs)[:, side].max() >= math.log(2 / alpha))

    ends = []
    for side, outer, inner in ((0, -span, span), (1, span, -span)):
        if not refutes(outer, side):
            return None
        ends.append(_halve(outer, inner, partial(refutes, side=side)))
    # The ends are differences of scores; halving leaves their last digits open.
    return round(ends[0], 9), round(ends[1], 9)


def _halve(outer: float, inner: float, refutes: Callable[[float], bool]) -> float:
    for _ in range(HALVINGS):
        middle = (outer + inner) / 2
        outer, inner = (middle, inner) if refutes(middle) else (outer, middle)
    return outer


class Monitor:
    """A comparison that is watched while scores come in.

    Args:
        items: Labels of the two items.
        design: "coins"; or "halves" with the places that were planned for each item.
        alpha: Chance of ever naming an item that is not better.
        planned: For halves, how many reviewers each item was planned to have.

    Examples:
        >>> monitor = Monitor(items=("A", "B"), design="coins")
        >>> for number in range(40):
        ...     monitor.add("AB"[number % 2], 4 - 2 * (number % 2))
        >>> monitor.state.settled, monitor.state.settled_at
        ('A', 10)
    """

    def __init__(
        self,
        items: Sequence[Label] = ("A", "B"),
        design: str = "coins",
        alpha: float = 0.05,
        planned: Sequence[int] | None = None,
    ) -> None:
        """Start a watch."""
        if len(items) != 2 or items[0] == items[1]:
            raise must_be("items", "two different labels", tuple(items))
        if not isinstance(alpha, float) or not 0 < alpha < 1:
            raise must_be("alpha", "between 0 and 1", alpha)
        if design not in {"coins", "halves"}:
            raise must_be("design", "'coins' or 'halves'", design)
        if (design == "halves") != (planned is not None):
            rule = "the planned places of each item for halves, and for nothing else"
            raise must_be("planned", rule, planned)
        if planned is not None and len(planned) != 2:
            raise must_be("planned", "two numbers of places", planned)
        for number in planned or ():
            require_whole("planned", number, 0)
        self.items, self.design, self.alpha = tuple(items), design, alpha
        self.places_left = None if planned is None else list(planned)
        self.logs, self.largest = np.zeros(len(SLOPES)), [0.0, 0.0, 0.0]
        self.n = 0
        self.settled: Label | None = None
        self.settled_at: int | None = None
        # Sorted scores that the next one is held against, and those since then.
        self.past: list[float] = []
        self.recent: list[float] = []

    def add(
        self, item: Label, score: float | None, probability: float | None = None
    ) -> None:
        """Take the next reviewer, in the order of assignment.

        Args:
            item: The item that was assigned.
            score: The score; None if there was no answer in time.
            probability: With which the first item was to be assigned, if not by design.

        Raises:
            RatingsError: If the item is another one, has no place left, or the score is
                not a finite number.
        """
        if item not in self.items:
            raise RatingsError(
                f"item must be {quote(self.items[0])} or {quote(self.items[1])}, got "
                f"{quote(item)}."
            )
        if score is not None:
            score = float(as_finite("score", score))
        first = item == self.items[0]
        share = self._probability(first, probability)
        if score is None:
            return
        parts = (np.asarray(part) for part in (first, self._place(score), share))
        self.logs += log_factors(*parts)
        self.n += 1
        logs = mix(self.logs)
        self.largest = np.maximum(self.largest, logs).tolist()
        if self.settled_at is None and logs[2] >= -math.log(self.alpha):
            self.settled, self.settled_at = self.items[_second_leads(logs)], self.n

    def _probability(self, first: bool, probability: float | None) -> float:  # noqa: FBT001 - inner
        """Return the probability of the first item, and take a planned place."""
        if probability is not None and not 0 < probability < 1:
            raise must_be("probability", "between 0 and 1", probability)
        refuse_option("probability", probability and self.places_left, "with halves")
        if self.places_left is None:
            return 0.5 if probability is None else probability
        share = self.places_left[0] / max(sum(self.places_left), 1)
        if self.places_left[not first] == 0:
            raise RatingsError("planned places must be enough, got one more reviewer.")
        self.places_left[not first] -= 1
        return share

    def _place(self, score: float) -> float:
        """Return the place of a score among earlier ones, and remember it."""
        past, count = self.past, len(self.past)
        below = bisect.bisect_left(past, score) + bisect.bisect_right(past, score)
        place = below / count - 1 if count else 0.0
        self.recent.append(score)
        if self.n < REMEMBERED - 1:
            bisect.insort(past, score)
        elif len(self.recent) >= REMEMBERED:
            self.past, self.recent = sorted(self.recent), []
        return place

    @property
    def state(self) -> Sequential:
        """What the scores so far say; an interval needs all scores, so it has none."""
        e_first, e_second, e_value = _safe_exp(mix(self.logs))
        return Sequential(
            e_first,
            e_second,
            e_value,
            **_p_values(self.largest),
            settled=self.settled,
            settled_at=self.settled_at,
            interval=None,
            alpha=self.alpha,
        )

    def to_dict(self) -> dict[str, Json]:
        """Return all that it holds, as JSON can keep it."""
        kept = vars(self) | {"items": list(self.items), "logs": self.logs.tolist()}
        return copy.deepcopy(kept)

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> Monitor:
        """Go on from what `to_dict` returned.

        Raises:
            OptionError: If it is something else.
        """
        monitor = cls.__new__(cls)
        names = vars(cls())
        if set(kept) != set(names):
            raise OptionError("A watch must be what Monitor.to_dict returned.")
        vars(monitor).update(copy.deepcopy(dict(kept)))
        monitor.items, monitor.logs = tuple(kept["items"]), np.array(kept["logs"])
        return monitor
