"""Averages over orderings, put together along the splits of a poset.

Segments lie one above the other, which moves places; groups lie side by side, which
spreads them by negative hypergeometric laws.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.posets.pieces import Round

Codes = NDArray[np.int64]
Table = NDArray[np.float64]


def compose_ranks(ranks: list[Fraction], errors: Table, split: Round) -> None:
    """Move ranks down by the segments above, and spread groups over their piece.

    Between the items of a group, above the first and below the last, each item from
    elsewhere is equally likely to fall into each of the gaps; so mean ranks scale.
    """
    over = _offsets(split)
    own, all_ = _class_sizes(split.group) + 1, _class_sizes(split.parent) + 1
    errors *= all_ / own
    changed = np.flatnonzero((over > 0) | (own < all_))
    for item in changed.tolist():
        spread = Fraction(int(all_[item]), int(own[item]))
        ranks[item] = (ranks[item] + int(over[item])) * spread


def _class_sizes(labels: Codes) -> Codes:
    """Return for each item the number of items with its label."""
    _, inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)
    sizes: Codes = counts[inverse]
    return sizes


def _offsets(split: Round) -> Codes:
    """Count for each item the items of its group in segments above its own."""
    order = np.lexsort((split.segment, split.group))
    group, segment = split.group[order], split.segment[order]
    place = np.arange(len(order))
    begins = np.diff(segment, prepend=-1) != 0
    first = np.maximum.accumulate(np.where(begins, place, 0))
    over = np.empty_like(first)
    over[order] = first - np.searchsorted(group, group)
    return over


def _runs(labels: Codes) -> Iterator[slice]:
    """Yield the stretches of equal neighbours."""
    bounds = np.flatnonzero(np.diff(labels)) + 1
    starts, ends = np.append(0, bounds), np.append(bounds, len(labels))
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        if end > start:
            yield slice(start, end)


def stack(places: Table, above: Table | None, split: Round) -> None:
    """Put the segments of each group one above the other."""
    over = _offsets(split)
    sizes = _class_sizes(split.group)
    order = np.lexsort((split.segment, split.group))
    for run in _runs(split.segment[order]):
        items = order[run]
        start, size = int(over[items[0]]), len(items)
        rest = int(sizes[items[0]]) - start - size
        if start:
            places[items, start : start + size] = places[items, :size]
            places[items, :start] = 0
        if above is not None and rest:
            above[np.ix_(items, order[run.stop : run.stop + rest])] = 1


def interleave(places: Table, above: Table | None, split: Round) -> None:
    """Put the groups of each piece side by side, all interleavings equally likely."""
    own, all_ = _class_sizes(split.group), _class_sizes(split.parent)
    order = np.lexsort((split.group, own, split.parent))
    order = order[(own < all_)[order]]
    for piece in _runs(split.parent[order]):
        inside = order[piece]
        # Groups of one size are treated alike, so that many small ones cost little.
        kinds = [inside[run] for run in _runs(own[inside])]
        if above is not None:
            for number, kind in enumerate(kinds):
                for other in kinds[: number + 1]:
                    _mix(places, above, own, split.group, (kind, other))
        for kind in kinds:
            size, among = int(own[kind[0]]), int(all_[kind[0]])
            places[kind, :among] = places[kind, :size] @ _moves(size, among)


def _mix(
    places: Table, above: Table, own: Codes, group: Codes, kinds: tuple[Codes, Codes]
) -> None:
    """Compare items of groups of one size with items of groups of another."""
    one, other = kinds
    size, size_other = int(own[one[0]]), int(own[other[0]])
    earlier = np.cumsum(_between(size, size_other), axis=1)[:, :-1]
    shares = places[one, :size] @ earlier @ places[other, :size_other].T
    same = group[one][:, None] == group[other]
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
