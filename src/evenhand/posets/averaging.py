"""Averages over all orderings that respect the comparisons.

Given the comparisons, and no more, all these orderings are equally likely if all
rankings were beforehand, so the averages are posterior: mean rank, chance of each
place, chance that one item is above another. Pieces that cannot be taken apart are
counted along their order ideals, or sampled where those are too many; what holds inside
the pieces is then put together exactly.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from evenhand.arrays import frozen
from evenhand.errors import ConvergenceError, require_whole
from evenhand.posets.contradictions import consistent
from evenhand.posets.coupling import CHAINS, settle_many
from evenhand.posets.orderings import COUNTED_IDEALS, Piece, order_ideals
from evenhand.posets.sampling import DEFAULT_IDEALS, Counted, Swept, plan_orders
from evenhand.randomness import RNGLike, Stream, seed_from, stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.arrays import Codes, Flags, Table
    from evenhand.posets.graph import Comparisons
    from evenhand.posets.orderings import Round
    from evenhand.posets.sampling import Plan
    from evenhand.ratings import Ratings


# Each of the two tables takes 72 megabytes for this many items.
TABLE_ITEMS = 3000
DEFAULT_SAMPLES = 2000


@dataclass(frozen=True, slots=True, eq=False)
class Averages:
    """Averages over all orderings; ranks and places count from the best.

    Attributes:
        mean_rank: Mean rank of each item, 1 is best.
        mean_rank_se: Standard errors of the mean ranks, 0 where nothing was sampled.
        fractions: The same mean ranks without rounding; of the sample, if sampled.
        samples: Orderings drawn of each piece that was not counted; 0 if none was.
        places: places[i, t] is the probability that t items are above item i; None for
            more than 3,000 items.
        above: above[a, b] is the probability that item a is above item b; None for more
            than 3,000 items, or if not asked for.
        seed: What repeats the sample.
    """

    mean_rank: Table
    mean_rank_se: Table
    fractions: tuple[Fraction, ...]
    samples: int
    places: Table | None
    above: Table | None
    seed: int

    @property
    def exact(self) -> bool:
        """Whether nothing was sampled."""
        return self.samples == 0


def averages(
    data: Ratings | Comparisons,
    *,
    samples: int = DEFAULT_SAMPLES,
    ideals: int = DEFAULT_IDEALS,
    pairs: bool = True,
    rng: RNGLike = None,
) -> Averages:
    """Average over all orderings that respect the comparisons.

    Sorting by mean rank has the least expected squared distance of ranks among all
    rankings, if all orderings are equally likely: E sum (r - R)^2 is sum (r - E R)^2
    and a constant, and by rearrangement the sum is least when r and E R are sorted
    alike.

    Args:
        data: Ratings, or comparisons taken from them.
        samples: Orderings to draw of each piece that is not counted.
        ideals: Count along order ideals while there are at most this many in a piece;
            0 samples everything.
        pairs: Work out the probability that one item is above another, too.
        rng: Seed, generator or None; of no effect if everything is counted.

    Raises:
        RatingsError: If the comparisons contradict each other.
        OptionError: If samples or ideals are out of range.
        ConvergenceError: At once, if sampling would take minutes.

    Examples:
        >>> from evenhand import Ratings
        >>> found = averages(Ratings.from_comparisons(["x", "x"], ["y", "z"]))
        >>> found.mean_rank.tolist(), found.exact
        ([1.0, 2.5, 2.5], True)
        >>> found.above.tolist()
        [[0.0, 1.0, 1.0], [0.0, 0.0, 0.5], [0.0, 0.5, 0.0]]
    """
    require_whole("samples", samples, 2)
    require_whole("ideals", ideals, 0)
    c = consistent(data, method="averages")
    plan = plan_orders(c, ideals=ideals)
    return _averaged(plan, samples, seed_from(rng), pairs=pairs)


def exact_averages(c: Comparisons, rng: RNGLike = None) -> Averages:
    """Average over all orderings, never over a sample of them.

    Raises:
        RatingsError: If the comparisons contradict each other.
        ConvergenceError: If a piece that cannot be taken apart has more than a million
            order ideals.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> exact_averages(from_edges(3, [0], [1])).mean_rank.round(3).tolist()
        [1.333, 2.667, 2.0]
    """
    plan = plan_orders(c, ideals=COUNTED_IDEALS)
    for part in plan.parts:
        if isinstance(part, Swept):
            raise ConvergenceError(
                f"The orderings of {len(part.items):,} items that cannot be taken "
                f"apart were not averaged within {COUNTED_IDEALS:,} order ideals. "
                "Sample them, or take the proxy."
            )
    return _averaged(plan, 0, seed_from(rng), pairs=False)


def mean_ranks_exact(c: Comparisons) -> list[Fraction]:
    """Return the mean rank of each item without rounding.

    Raises:
        RatingsError: If the comparisons contradict each other.
        ConvergenceError: If a piece that cannot be taken apart has more than a million
            order ideals.

    Examples:
        >>> from evenhand.posets import from_edges
        >>> [str(rank) for rank in mean_ranks_exact(from_edges(3, [0], [1]))]
        ['4/3', '8/3', '2']
    """
    return list(exact_averages(c).fractions)


def _averaged(plan: Plan, samples: int, seed: int, *, pairs: bool) -> Averages:
    tables = len(plan.pieces.order) <= TABLE_ITEMS
    wanted = {"tables": tables, "pairs": pairs and tables}
    source = stream(seed, "averages")
    parts = [
        _counted(part, **wanted)
        if isinstance(part, Counted)
        else _sampled(part, samples, source, **wanted)
        for part in plan.parts
    ]
    swept = any(isinstance(part, Swept) for part in plan.parts)
    found = _composed(plan, parts, **wanted)
    return replace(found, samples=samples if swept else 0, seed=seed)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """What holds inside one piece, its items numbered from 0."""

    items: Codes
    mean_rank: list[Fraction]
    mean_rank_se: Table
    places: Table | None
    above: Table | None


def _counted(part: Counted, *, tables: bool, pairs: bool) -> _Part:
    """Average over a piece by the ways into and out of each step between ideals."""
    n_items, total = len(part.items), part.ways[0]
    ideals, into = part.ideals, part.ideals.arrivals()
    sums = [0] * n_items
    counts: Counter[tuple[int, int]] = Counter()
    above = np.zeros((n_items, n_items))
    for ideal, held in enumerate(ideals.held):
        place = held.bit_count()
        shares = np.zeros(len(ideals.to[ideal]))
        for step, (item, after) in enumerate(
            zip(ideals.free[ideal], ideals.to[ideal], strict=True)
        ):
            number = into[ideal] * part.ways[after]
            sums[item] += (place + 1) * number
            counts[item, place] += number
            shares[step] = number / total
        if pairs:
            # Each item that a step adds is above all that its ideal has not yet.
            above[ideals.free[ideal]] += shares[:, None] * ~_has(held, n_items)
    places = None
    if tables:
        places = np.zeros((n_items, n_items))
        for at, number in counts.items():
            places[at] = number / total
    if pairs:
        np.fill_diagonal(above, 0)
        above[(above.T == 0) & ~np.eye(n_items, dtype=np.bool_)] = 1
    ranks = [Fraction(number, total) for number in sums]
    return _Part(part.items, ranks, np.zeros(n_items), places, above if pairs else None)


def pair_shares(reach: Flags, limit: int) -> Table | None:
    """Return the share of orderings with one item above another, for all pairs.

    Args:
        reach: Who is above whom, closed.
        limit: Most order ideals to go through.

    Returns:
        The shares at [a, b]; None if there are more ideals.

    Examples:
        >>> pair_shares(np.array([[False, True], [False, False]]), 10).tolist()
        [[0.0, 1.0], [0.0, 0.0]]
    """
    # The more items are below an item, and the fewer above, the earlier it may come.
    order = np.argsort(reach.sum(axis=0) - reach.sum(axis=1), kind="stable")
    lower = [np.flatnonzero(row).tolist() for row in reach[np.ix_(order, order)]]
    ideals = order_ideals(Piece(order, lower), limit=limit)
    if ideals is None:
        return None
    whole = Counted(order, ideals, ideals.completions())
    above = _counted(whole, tables=False, pairs=True).above
    place = np.argsort(order)
    return None if above is None else above[np.ix_(place, place)]


def _has(held: int, n_items: int) -> Flags:
    """Say which items an ideal holds."""
    packed = np.frombuffer(held.to_bytes(-(-n_items // 8), "little"), dtype=np.uint8)
    return np.unpackbits(packed, count=n_items, bitorder="little").view(np.bool_)


def _sampled(
    part: Swept, samples: int, source: Stream, *, tables: bool, pairs: bool
) -> _Part:
    """Average over sampled orderings of a piece.

    Ranks are added up by chain: chains are independent, samples of one are not.
    """
    n_items = len(part.items)
    sums = np.zeros((min(samples, CHAINS), n_items), dtype=np.int64)
    sizes = np.zeros(len(sums), dtype=np.int64)
    drawn: list[NDArray[np.int16]] = []
    for orders in settle_many(part.require_quick(samples), source, samples):
        rank = np.argsort(orders, axis=1) + 1
        sums[: len(rank)] += rank
        sizes[: len(rank)] += 1
        if tables:
            drawn.append(rank.astype(np.int16))
    total = sums.sum(axis=0)
    spread = ((sums - sizes[:, None] * (total / samples)) ** 2).sum(axis=0)
    return _Part(
        part.items,
        [Fraction(number, samples) for number in total.tolist()],
        np.sqrt(spread * len(sums) / (len(sums) - 1)) / samples,
        _place_shares(np.concatenate(drawn)) if tables else None,
        _pair_shares(np.concatenate(drawn)) if pairs else None,
    )


def _place_shares(drawn: NDArray[np.int16]) -> Table:
    samples, n_items = drawn.shape
    counts = [np.bincount(ranks, minlength=n_items + 1)[1:] for ranks in drawn.T]
    shares: Table = np.array(counts) / samples
    return shares


def _pair_shares(drawn: NDArray[np.int16]) -> Table:
    samples, n_items = drawn.shape
    above = np.zeros((n_items, n_items))
    for item in range(n_items):
        later = drawn[:, item + 1 :]
        wins = np.count_nonzero(drawn[:, item : item + 1] < later, axis=0)
        above[item, item + 1 :] = wins / samples
        above[item + 1 :, item] = (samples - wins) / samples
    return above


def _composed(plan: Plan, parts: list[_Part], *, tables: bool, pairs: bool) -> Averages:
    """Put together what holds inside the pieces, from the innermost splits out."""
    n_items = len(plan.pieces.order)
    ranks = [Fraction(1)] * n_items
    errors = np.zeros(n_items)
    places = np.zeros((n_items, n_items)) if tables else None
    above = np.zeros((n_items, n_items)) if pairs else None
    if places is not None:
        places[:, :1] = 1
    for part in parts:
        for item, rank in zip(part.items.tolist(), part.mean_rank, strict=True):
            ranks[item] = rank
        errors[part.items] = part.mean_rank_se
        if places is not None and part.places is not None:
            places[part.items, : len(part.items)] = part.places
        if above is not None and part.above is not None:
            above[np.ix_(part.items, part.items)] = part.above
    for split in reversed(plan.pieces.rounds):
        _compose(split, ranks, errors, places, above)
    # Items were numbered along the topological ordering.
    code = np.argsort(plan.pieces.order)
    return Averages(
        mean_rank=frozen(np.array([float(ranks[place]) for place in code])),
        mean_rank_se=frozen(errors[code]),
        fractions=tuple(ranks[place] for place in code.tolist()),
        samples=0,
        places=None if places is None else frozen(places[code]),
        above=None if above is None else frozen(above[np.ix_(code, code)]),
        seed=0,
    )


def _compose(
    split: Round,
    ranks: list[Fraction],
    errors: Table,
    places: Table | None,
    above: Table | None,
) -> None:
    """Put segments one above the other, and groups of a piece side by side.

    Between the items of a group, above the first and below the last, each item from
    elsewhere is equally likely to fall into each of the gaps; so mean ranks scale.
    """
    for piece in _classes(split.parent, np.arange(len(ranks))):
        groups = _classes(split.group, piece) if len(piece) > 1 else []
        for group in groups:
            segments = _classes(split.segment, group) if len(group) > 1 else [group]
            _stack(segments, ranks, places, above)
            spread = Fraction(len(piece) + 1, len(group) + 1)
            errors[group] *= float(spread)
            for item in group.tolist() if spread > 1 else []:
                ranks[item] *= spread
        if places is not None and len(groups) > 1:
            _interleave(groups, places, above)


def _classes(labels: Codes, items: Codes) -> list[Codes]:
    """Put items with equal labels together, smaller labels first."""
    items = items[np.argsort(labels[items], kind="stable")]
    return np.split(items, np.flatnonzero(np.diff(labels[items])) + 1)


def _stack(
    segments: list[Codes],
    ranks: list[Fraction],
    places: Table | None,
    above: Table | None,
) -> None:
    """Put the segments of a group one above the other."""
    start, size = 0, len(segments[0])
    for number, items in enumerate(segments[1:], start=1):
        start, size = start + size, len(items)
        for item in items.tolist():
            ranks[item] += start
        if places is not None:
            places[items, start : start + size] = places[items, :size]
            places[items, :start] = 0
        if above is not None:
            above[np.ix_(np.concatenate(segments[:number]), items)] = 1


def _interleave(groups: list[Codes], places: Table, above: Table | None) -> None:
    """Put the groups of a piece side by side, all interleavings equally likely."""
    among = sum(map(len, groups))
    groups = sorted(groups, key=len)
    # Groups of one size are treated alike, so that many small ones cost little.
    alike = [list(some) for _, some in itertools.groupby(groups, key=len)]
    if above is not None:
        for ones, others in itertools.combinations_with_replacement(alike[::-1], 2):
            _mix(ones, others, places, above)
    for some in alike:
        items, size = np.concatenate(some), len(some[0])
        places[items, :among] = places[items, :size] @ _moves(size, among)


def _mix(ones: list[Codes], others: list[Codes], places: Table, above: Table) -> None:
    """Compare items of groups of one size with items of groups of another."""
    one, other = np.concatenate(ones), np.concatenate(others)
    size, size_other = len(ones[0]), len(others[0])
    earlier = np.cumsum(_between(size, size_other), axis=1)[:, :-1]
    shares = places[one, :size] @ earlier @ places[other, :size_other].T
    group = np.arange(len(ones)).repeat(size)
    same = (group[:, None] == group) if ones is others else np.zeros(shares.shape, bool)
    block = np.ix_(one, other)
    above[block] = np.where(same, above[block], shares)
    if size != size_other:
        above[np.ix_(other, one)] = 1 - shares.T


def _between(size: int, others: int) -> Table:
    """Return the law of how many others come before the r-th item of a group.

    A row for each r; with j others, C(r-1+j, j) C(size-r+others-j, others-j) of the
    C(size+others, others) interleavings, the negative hypergeometric law.
    """
    logs = np.array([math.lgamma(k + 1) for k in range(size + others)])
    before, j = np.ogrid[:size, : others + 1]
    after, rest = size - 1 - before, others - j
    ways = logs[before + j] - logs[before] - logs[j]
    ways = ways + logs[after + rest] - logs[after] - logs[rest]
    law: Table = np.exp(ways - ways.max(axis=1, keepdims=True))
    law /= law.sum(axis=1, keepdims=True)
    return law


def _moves(size: int, among: int) -> Table:
    """Return the law of the place in a piece of each place in one of its groups."""
    moves = np.zeros((size, among))
    row, j = np.ogrid[:size, : among - size + 1]
    moves[row, row + j] = _between(size, among - size)
    return moves
