"""Averages over all orderings that respect the comparisons.

Given the comparisons, and no more, all these orderings are equally likely if all
rankings were beforehand, so the averages are posterior: mean rank, chance of each
place, chance that one item is above another. Pieces that cannot be taken apart are
counted along their order ideals, or sampled where those are too many; what holds inside
the pieces is then put together exactly.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evenhand._randomness import RNGLike, Stream, seed_from, stream
from evenhand.errors import ConvergenceError, OptionError
from evenhand.posets._composing import compose_ranks, interleave, stack
from evenhand.posets.comparisons import Comparisons, comparisons, require_consistent
from evenhand.posets.coupling import settle_many
from evenhand.posets.orderings import COUNTED_IDEALS, arrivals
from evenhand.posets.sampling import DEFAULT_IDEALS, Counted, Swept, plan_orders

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.posets.orderings import Ideals
    from evenhand.posets.sampling import Plan
    from evenhand.ratings import Ratings

Codes = NDArray[np.int64]
Table = NDArray[np.float64]

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

    def p_top(self, k: int) -> Table:
        """Return the probability of each item to be among the best k.

        Raises:
            OptionError: If k is not from 1 to the number of items, or there are more
                than 3,000 items.

        Examples:
            >>> from evenhand.posets import from_edges
            >>> averages(from_edges(3, [0], [1])).p_top(1).round(3).tolist()
            [0.667, 0.0, 0.333]
        """
        return top_shares(self.places, k)


def top_shares(places: Table | None, k: int) -> Table:
    """Add up the best k places.

    Examples:
        >>> top_shares(np.array([[0.25, 0.75], [0.75, 0.25]]), 1)
        array([0.25, 0.75])
    """
    if places is None:
        raise OptionError(
            f"p_top must be asked of at most {TABLE_ITEMS:,} items, got more. Take "
            "fewer items, or use the mean ranks."
        )
    whole = isinstance(k, int | np.integer) and not isinstance(k, bool)
    if not whole or not 1 <= k <= len(places):
        raise OptionError(
            f"k must be a whole number from 1 to {len(places)}, the number of items, "
            f"got {k!r}."
        )
    best, rest = places[:, :k].sum(axis=1), places[:, k:].sum(axis=1)
    # Certain answers come out as 0 and 1 whatever was rounded on the way.
    shares: Table = best / (best + rest)
    return shares


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
        ConvergenceError: If coupling from the past takes too many sweeps.

    Examples:
        >>> from evenhand import Ratings
        >>> found = averages(Ratings.from_comparisons(["x", "x"], ["y", "z"]))
        >>> found.mean_rank.tolist(), found.exact
        ([1.0, 2.5, 2.5], True)
        >>> found.above.tolist()
        [[0.0, 1.0, 1.0], [0.0, 0.0, 0.5], [0.0, 0.5, 0.0]]
    """
    _check("samples", samples, 2)
    _check("ideals", ideals, 0)
    if isinstance(data, Comparisons):
        c = data
    else:
        c = comparisons(data)
        require_consistent(data, c, method="averages")
    seed = seed_from(rng)
    source = stream(seed, "averages")
    plan = plan_orders(c, ideals=ideals)
    tables = c.n_items <= TABLE_ITEMS
    parts = [
        _counted(part, tables=tables, pairs=pairs and tables)
        if isinstance(part, Counted)
        else _sampled(part, samples, source, tables=tables, pairs=pairs and tables)
        for part in plan.parts
    ]
    swept = any(isinstance(part, Swept) for part in plan.parts)
    found = _composed(plan, parts, tables=tables, pairs=pairs and tables)
    return replace(found, samples=samples if swept else 0, seed=seed)


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
    plan = plan_orders(c, ideals=COUNTED_IDEALS)
    parts = []
    for part in plan.parts:
        if isinstance(part, Swept):
            raise ConvergenceError(
                f"The orderings of {len(part.items):,} items that cannot be taken "
                f"apart were not averaged within {COUNTED_IDEALS:,} order ideals. "
                "Sample them with averages instead."
            )
        parts.append(_counted(part, tables=False, pairs=False))
    return list(_composed(plan, parts, tables=False, pairs=False).fractions)


def _check(name: str, value: int, least: int) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least:
        raise OptionError(
            f"{name} must be a whole number of at least {least}, got {value!r}."
        )


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
    into = arrivals(part.ideals)
    sums = [0] * n_items
    places = np.zeros((n_items, n_items)) if tables else None
    above = np.zeros((n_items, n_items)) if pairs else None
    missing = np.ones((1, n_items), dtype=np.bool_)
    for place, (start, end) in enumerate(_sizes(part.ideals)):
        first = part.ideals.first[start : end + 1]
        item, to = (
            steps[first[0] : first[-1]] for steps in (part.ideals.item, part.ideals.to)
        )
        origin = np.repeat(np.arange(end - start), np.diff(first))
        ways = [
            into[start + one] * part.ways[other]
            for one, other in zip(origin.tolist(), to.tolist(), strict=True)
        ]
        here: Counter[int] = Counter()
        for code, number in zip(item.tolist(), ways, strict=True):
            here[code] += number
        for code, number in here.items():
            sums[code] += (place + 1) * number
            if places is not None:
                places[code, place] = number / total
        if above is not None:
            shares = np.array([number / total for number in ways])
            _add_pairs(above, shares, item, origin, missing)
            missing = _next_missing(missing, item, to - end, origin)
    if above is not None:
        above[(above.T == 0) & ~np.eye(n_items, dtype=np.bool_)] = 1
    ranks = [Fraction(number, total) for number in sums]
    return _Part(part.items, ranks, np.zeros(n_items), places, above)


def _sizes(ideals: Ideals) -> Iterator[tuple[int, int]]:
    """Yield the ideals of each size but the full one, first and past the last."""
    start, end = 0, 1
    while end < len(ideals):
        yield start, end
        steps = ideals.to[ideals.first[start] : ideals.first[end]]
        start, end = end, int(steps.max()) + 1


def _add_pairs(
    above: Table, shares: Table, item: Codes, origin: Codes, missing: NDArray[np.bool_]
) -> None:
    """Put each item that a step adds above all that its ideal has not yet."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

    weights = csr_array((shares, (item, origin)), shape=(len(above), len(missing)))
    above += weights @ missing
    # An item is missing from the ideal that it is added to.
    np.fill_diagonal(above, 0)


def _next_missing(
    missing: NDArray[np.bool_], item: Codes, to: Codes, origin: Codes
) -> NDArray[np.bool_]:
    after = np.empty((int(to.max()) + 1, missing.shape[1]), dtype=np.bool_)
    after[to] = missing[origin]
    after[to, item] = False
    return after


def _sampled(
    part: Swept, samples: int, source: Stream, *, tables: bool, pairs: bool
) -> _Part:
    """Average over orderings of a piece that are drawn exactly uniformly."""
    n_items = len(part.items)
    sums, squares = np.zeros((2, n_items), dtype=np.int64)
    drawn = np.empty((samples if tables else 0, n_items), dtype=np.int16)
    number = 0
    for orders in settle_many(part.diagram, source, samples):
        rank = np.empty_like(orders)
        np.put_along_axis(rank, orders, np.arange(1, n_items + 1)[None], axis=1)
        sums += rank.sum(axis=0)
        squares += (rank**2).sum(axis=0)
        if tables:
            drawn[number : number + len(rank)] = rank
        number += len(rank)
    mean = sums / samples
    variance = np.maximum(squares / samples - mean**2, 0) / (samples - 1)
    return _Part(
        part.items,
        [Fraction(number, samples) for number in sums.tolist()],
        np.sqrt(variance),
        _place_shares(drawn) if tables else None,
        _pair_shares(drawn) if pairs else None,
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
        compose_ranks(ranks, errors, split)
        if places is not None:
            stack(places, above, split)
            interleave(places, above, split)
    # Items were numbered along the topological ordering.
    code = np.argsort(plan.pieces.order)
    return Averages(
        mean_rank=_kept(np.array([float(ranks[place]) for place in code])),
        mean_rank_se=_kept(errors[code]),
        fractions=tuple(ranks[place] for place in code.tolist()),
        samples=0,
        places=None if places is None else _kept(places[code]),
        above=None if above is None else _kept(above[np.ix_(code, code)]),
        seed=0,
    )


def _kept(table: Table) -> Table:
    table.flags.writeable = False
    return table
