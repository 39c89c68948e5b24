"""Several items, each reviewer assigned to one of them: the best, and every pair.

Of k items the one that leads by a statistic of its own scores is chosen, or now and
then one of a random pair, by that pair's votes. Let the law of the assignment not
change when two items swap names. Exchange what the reviewers of a and of b give to the
two: the scores of the better one rise, those of the other fall, and no other score
moves. The chance of the better one then does not fall, so that it is chosen at least as
often as the other (Theorem G within the pair), and the best of k at least one time in
k.

The p-values of a pair come from the reviewers of the two alone. Those of all ordered
pairs are adjusted by Holm's rule, which needs nothing of how they hang together, and
counts a wrong direction as an error. An e-process that ever reached E counts as a
p-value of 1/E there. Whether there is any difference is tested at once, by the largest
difference of mean midranks of two items over all assignments.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.ab._sides import other_notices, scored_alone
from evenhand.ab.law import ScoreCounts, count_scores, thin_rows
from evenhand.ab.pvalues import (
    BLOCK,
    FEWEST_SAMPLES,
    MOST_SAMPLES,
    SAMPLED_CELLS,
)
from evenhand.claims import CONFIDENCE, DataWarning, few
from evenhand.engines.counts import Counts
from evenhand.errors import OptionError, RatingsError, listing, quote
from evenhand.randomness import stream, uniforms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evenhand.ab.methods import Rule
    from evenhand.ab.pvalues import How
    from evenhand.arrays import Codes, Flags, Floats
    from evenhand.claims import Finding, Json, Label
    from evenhand.engines.counts import Once
    from evenhand.ratings import Ratings

ALPHA = round(1 - CONFIDENCE, 12)
# Assignments that are gone through.
MOST_WAYS = 300_000
# Statistics closer than this are equal: they are sums of halves over numbers of scores.
NEAR = 1e-9


@dataclass(frozen=True, slots=True)
class ArmPair:
    """Two of several items.

    Attributes:
        first: Label of the one item.
        second: Label of the other.
        difference: The first item's mean less the second's, or None.
        low: Lower end of its interval, which is for this pair alone, or None.
        high: Upper end.
        p_value: Two-sided, of the reviewers of the two.
        p_adjusted: The same, adjusted for all directions of all pairs (Holm).
        better: The item that is better if p_adjusted is at most 0.05, or None.
        e_value: Evidence that the two differ, of a watched comparison, or None.
        p_watched: 1 over the largest e-value of a direction so far, adjusted (Holm):
            valid at every look.
        settled: The item that is better if p_watched is at most alpha, or None.
    """

    first: Label
    second: Label
    difference: float | None
    low: float | None
    high: float | None
    p_value: float
    p_adjusted: float
    better: Label | None
    e_value: float | None = None
    p_watched: float | None = None
    settled: Label | None = None


@dataclass(frozen=True, slots=True)
class ArmsTest:
    """The test that several items are all alike.

    Attributes:
        p_value: Share of the assignments with the statistic at its observed value or
            above.
        exact: Whether every assignment was counted.
        samples: Number of sampled assignments, 0 if exact.
        se: Standard error of the p-value; 0 if exact.
        how: "enumeration" or "sampling".
        design: What was redrawn: "coins" or "given counts".
        seed: The seed that repeats the sampling, None if exact.
        assumes: What it rests on, and the p-values of pairs as well.
        statistic: Name of the statistic.
    """

    p_value: float
    exact: bool
    samples: int
    se: float
    how: How
    design: str
    seed: int | None
    assumes: tuple[Finding, ...] = ()
    statistic: str = "max midrank"


@dataclass(frozen=True, slots=True)
class Arms:
    """The scores of several items, each reviewer's of one.

    Attributes:
        items: Labels of the items.
        tables: Scores of each.
        data: Sizes and hash of the data.
        notices: What the reader of a result must know.
        once: Of counts, how it is known that nobody gave two of the scores.
        out_of: How many items the data have.
        rows: Of ratings, those that count.
    """

    items: tuple[Label, ...]
    tables: tuple[ScoreCounts, ...]
    data: Mapping[str, Json]
    notices: tuple[DataWarning, ...]
    once: Once | None
    out_of: int
    rows: Flags | None = None

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of scores."""
        return tuple(table.size for table in self.tables)


def has_arms(data: Ratings | Counts, items: Sequence[Label] | None) -> bool:
    """Say whether more than two items are to be compared.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> has_arms(Ratings(["a", "b", "c"], ["x", "y", "z"], [1, 2, 3]), None)
        True
    """
    if items is not None:
        several = isinstance(items, Sequence) and not isinstance(items, str)
        return several and len(items) > 2
    return len({*data.item_labels, *data.unrated_labels}) > 2


def arms_from(
    data: Ratings | Counts, items: Sequence[Label] | None, scored_both: str | None
) -> Arms:
    """Take the scores of several items.

    Args:
        data: Ratings or counts.
        items: Labels of the items, None for all.
        scored_both: "drop" leaves out who scored several of them.

    Raises:
        RatingsError: If an item has no score, somebody scored several, or there are no
            scores.
        OptionError: If items are not different, or this is for two items only.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings([*"abcd"], [*"xyzx"], [1, 2, 3, 4])
        >>> arms_from(ratings, None, None).sizes
        (2, 1, 1)
    """
    labels = (*data.item_labels, *data.unrated_labels) if items is None else items
    bare = [label for label in labels if str(label) in map(str, data.unrated_labels)]
    if bare:
        text = f"There is no score of {listing(bare)} to compare. Leave it out: --items"
        raise RatingsError(f"{text} names those to compare.")
    codes = [data.item_code(label) for label in labels]
    if len({*codes}) < len(codes):
        raise OptionError(f"items must be different items, got {listing(labels)}.")
    chosen = tuple(data.item_labels[code] for code in codes)
    notices = other_notices(data, chosen)
    if isinstance(data, Counts):
        if data.once == "per item":
            raise RatingsError(
                "counts must say that nobody scored two of the items. Count these "
                "alone: count_ratings(..., items=(...)) or --items."
            )
        tables = tuple(ScoreCounts(*data.scores_of(code)) for code in codes)
        out_of = len(data.item_labels) + len(data.unrated_labels)
        return Arms(chosen, tables, data.summary(), notices, data.once, out_of)
    if data.kind != "scores":
        raise RatingsError(
            f"compare of several items needs scores, but the data holds only "
            f"{data.kind}. Use rank."
        )
    if scored_both == "decide":
        rule = "both='decide' is for two items, got"
        raise OptionError(f"{rule} {len(codes)}. Use both='drop', or rank.")
    rows, several = scored_alone(data, codes)
    if several and scored_both is None:
        raise RatingsError(
            f"reviewers must score one of the {len(codes)} items, got {len(several)} "
            f"who scored several: {listing(several)}. Use both='drop' (--both drop) to "
            "leave them out, or rank."
        )
    if several:
        dropped = DataWarning("both_dropped", {"reviewers": few(several)})
        notices = (*notices, dropped)
    tables = tuple(
        count_scores(data.preference[rows & (data.item_codes == code)])
        for code in codes
    )
    out_of = len({*data.item_labels, *data.unrated_labels})
    return Arms(chosen, tables, data.summary(), notices, None, out_of, rows)


class Choice(NamedTuple):
    """One of several items, drawn.

    Attributes:
        place: Which item.
        chances: Probability of each.
        se: Standard error of these, at most.
        decided_by: What the choice followed.
    """

    place: int
    chances: tuple[float, ...]
    se: float
    decided_by: str


def choose(rule: Rule, arms: Arms, seed: int) -> Choice:
    """Draw the best of several items.

    Raises:
        OptionError: If the rule is for two items only.
    """
    parts = rule.arm_parts(arms.tables, seed)
    shares = np.array([part.share for part in parts])
    chances = shares @ np.array([part.chances for part in parts])
    drawn = _pick(shares, _uniform(seed, "guard"))
    place = _pick(np.asarray(parts[drawn].chances), _uniform(seed, "tie"))
    error = float(sum(part.share * part.se for part in parts))
    decided_by = parts[drawn].decided_by
    return Choice(place, tuple(chances.tolist()), error, decided_by)


def _uniform(seed: int, purpose: str) -> float:
    return float(uniforms(stream(seed, purpose), 1)[0])


def _pick(chances: Floats, unit: float) -> int:
    """Return the place in which a uniform number falls; never one without a chance."""
    ends = np.cumsum(chances) / np.sum(chances)
    return int(np.flatnonzero(chances)[np.searchsorted(ends[chances > 0], unit)])


def pairs_of(items: Sequence[Label], control: Label | None) -> list[tuple[int, int]]:
    """Return the pairs to test: all, or every item with a control.

    Raises:
        OptionError: If the control is none of the items.

    Examples:
        >>> pairs_of("ABC", None), pairs_of("ABC", "A")
        ([(0, 1), (0, 2), (1, 2)], [(1, 0), (2, 0)])
    """
    if control is None:
        return list(itertools.combinations(range(len(items)), 2))
    names = [*map(str, items)]
    if str(control) not in names:
        rule = f"control must be one of {listing(items)}"
        raise OptionError(f"{rule}, got {quote(control)}.")
    base = names.index(str(control))
    return [(place, base) for place in range(len(items)) if place != base]


def holm(values: Sequence[float]) -> list[float]:
    """Adjust p-values for being several, whatever hangs together (Holm 1979).

    Examples:
        >>> holm([0.01, 0.5, 0.02])
        [0.03, 0.5, 0.04]
    """
    order = np.argsort(values, kind="stable")
    steps = np.asarray(values)[order] * np.arange(len(order), 0, -1)
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    values_adjusted: list[float] = adjusted.tolist()
    return values_adjusted


def adjust(
    directions: Sequence[tuple[float, float]], alpha: float
) -> Iterator[tuple[float, int | None]]:
    """Adjust the p-values of both directions of pairs, and say which are shown.

    Args:
        directions: For each pair, p-values against "the first is no better" and "the
            second is no better".
        alpha: Chance of any wrong direction, at most.

    Yields:
        The smaller adjusted p-value of each pair, and which item is better: 0, 1 or
        None.

    Examples:
        >>> list(adjust([(0.001, 1), (0.4, 0.7)], 0.05))
        [(0.004, 0), (1.0, None)]
    """
    flat = holm([value for pair in directions for value in pair])
    for one_sided in zip(flat[::2], flat[1::2], strict=True):
        least = min(one_sided)
        yield least, one_sided.index(least) if least <= alpha else None


def any_difference(arms: Arms, design: str | None, seed: int) -> ArmsTest:
    """Test that all items are alike: every reviewer would give them the same score.

    The statistic is the largest difference of mean midranks of two items, over the
    root of the sum of the inverse numbers of scores. Exact where few assignments are
    possible; otherwise sampled, with the observed one counted in.

    Args:
        arms: The scores.
        design: "coins", or else the numbers of scores are kept.
        seed: Repeats the sampling.
    """
    levels = np.unique(np.concatenate([table.levels for table in arms.tables]))
    observed = np.zeros((len(arms.tables), len(levels)), np.int64)
    for row, table in zip(observed, arms.tables, strict=True):
        row[np.searchsorted(levels, table.levels)] = table.counts
    pool, sizes = observed.sum(axis=0), observed.sum(axis=1)
    midranks = np.cumsum(pool) - (pool - 1) / 2
    coins, k, people = design == "coins", len(sizes), int(pool.sum())
    exact = people * math.log(k) < math.log(MOST_WAYS)
    if exact:
        people_ranks = np.repeat(midranks, pool)
        places = np.indices((k,) * people).reshape(people, -1)
        assigned = places[..., None] == np.arange(k)
        counts, sums = assigned.sum(axis=0), np.tensordot(people_ranks, assigned, 1)
        kept = coins | (counts == sizes).all(axis=1)
        values = _widest(sums[kept], counts[kept])
        number = len(values)
    else:
        rng = np.random.Generator(stream(seed, "arms"))
        samples = max(SAMPLED_CELLS // (k * len(levels)), FEWEST_SAMPLES)
        samples = number = min(samples, MOST_SAMPLES)
        block = max(1, BLOCK // (k * len(levels)))
        draw = partial(_redraw, pool, sizes, midranks, rng, coins=coins)
        starts = range(0, samples, block)
        parts = [_widest(*draw(min(block, samples - start))) for start in starts]
        values = np.concatenate(parts)
    seen = _widest((observed @ midranks)[None], sizes[None]) - NEAR
    reached = int((values >= seen).sum())
    p_value = reached / number if exact else (1 + reached) / (1 + number)
    return ArmsTest(
        p_value=p_value,
        exact=exact,
        samples=0 if exact else number,
        se=0.0 if exact else math.sqrt(p_value * (1 - p_value) / number),
        how="enumeration" if exact else "sampling",
        design="coins" if coins else "given counts",
        seed=None if exact else seed,
    )


def _redraw(
    pool: Codes,
    sizes: Codes,
    midranks: Floats,
    rng: np.random.Generator,
    rows: int,
    *,
    coins: bool,
) -> tuple[Floats, Codes]:
    """Draw assignments; return sums of midranks and numbers of scores of each item."""
    left_over = np.broadcast_to(pool, (rows, len(pool))).copy()
    sums, counts = np.empty((rows, len(sizes))), np.empty((rows, len(sizes)), np.int64)
    for arm, size in enumerate(sizes.tolist()):
        if arm == len(sizes) - 1:
            taken = left_over
        elif coins:
            taken = rng.binomial(left_over, 1 / (len(sizes) - arm))
        else:
            taken = thin_rows(left_over, np.full(rows, size), rng)
        sums[:, arm], counts[:, arm] = taken @ midranks, taken.sum(axis=1)
        left_over = left_over - taken
    return sums, counts


def _widest(sums: Floats, counts: Codes) -> Floats:
    """Return the largest difference of two means, in standard errors; 0 of none."""
    widest = np.zeros(len(sums))
    for at, against in itertools.combinations(range(sums.shape[1]), 2):
        sizes = np.maximum(counts[:, [at, against]], 1)
        gaps = np.abs(np.subtract(*(sums[:, [at, against]] / sizes).T))
        gaps[(counts[:, [at, against]] == 0).any(axis=1)] = 0
        np.maximum(widest, gaps / np.sqrt((1 / sizes).sum(axis=1)), out=widest)
    return widest
