"""What the weights of several criteria decide: who is in the top for which weights.

An item's value is taken as the weighted mean of its estimates by each criterion. That
is the estimate of the total where a method is linear in the scores, as means are, and
every rating has every criterion; for other methods it stands for it. Along the weight
of one criterion, beside which the others keep their proportions, values are lines, and
the weights at which the best K change are worked out exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.randomness import stream, uniforms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.arrays import Floats, Scores, Table
    from evenhand.claims import Json, Label

    Ranges = tuple[tuple[float, float], ...]

WEIGHTINGS = 4_000
"""Weightings that are drawn: a share is known to .016, two standard errors at most."""


@dataclass(frozen=True, slots=True)
class Weightings:
    """Which items are among the best k for which weights of the criteria.

    Attributes:
        k: How many.
        names: The criteria that count.
        shares: Share of the weight that each has.
        ranges: For each of them, by item, the shares of the weight for which it is in,
            the others keeping their proportions; an item that is never in is left out.
        portion: By item, the part of all weightings for which it is in, as drawn.
        drawn: How many weightings were drawn, each as likely.
        agree: How many of the ranking's best k are in at the shares as they are.
        linear: Whether the ranking's own estimates are the weighted means used here.
    """

    k: int
    names: tuple[str, ...]
    shares: tuple[float, ...]
    ranges: Mapping[str, Mapping[Label, Ranges]]
    portion: Mapping[Label, float]
    drawn: int
    agree: int
    linear: bool

    @property
    def always(self) -> tuple[Label, ...]:
        """Items that are in for every weighting that was drawn or worked out."""
        whole = ((0.0, 1.0),)
        return tuple(
            item
            for item, portion in self.portion.items()
            if portion == 1 and all(by[item] == whole for by in self.ranges.values())
        )

    def now(self, name: str, item: Label) -> tuple[float, float] | None:
        """Return the range of a criterion's share in which an item is in as it is."""
        share = self.shares[self.names.index(name)]
        ranges = self.ranges[name].get(item, ())
        return next(((low, high) for low, high in ranges if low <= share <= high), None)

    def to_dict(self) -> dict[str, Json]:
        """Return all as plain values."""
        return {
            "k": self.k,
            "criteria": [
                {
                    "name": name,
                    "share": share,
                    "items": [
                        {"item": item, "in": [list(ends) for ends in ranges]}
                        for item, ranges in self.ranges[name].items()
                    ],
                }
                for name, share in zip(self.names, self.shares, strict=True)
            ],
            "always": list(self.always),
            "portions": [
                {"item": item, "portion": portion}
                for item, portion in self.portion.items()
            ],
            "weightings": self.drawn,
            "agree": self.agree,
            "linear": self.linear,
        }


def weigh_criteria(
    values: Table,
    weights: Scores,
    names: Sequence[str],
    items: Sequence[Label],
    k: int,
    seed: int,
    *,
    linear: bool,
) -> Weightings:
    """Work out which items are among the best k for which weights.

    Args:
        values: Estimates, a row for each item in the order of the ranking, which also
            orders equal values, and a column for each criterion.
        weights: Weight of each criterion, above 0.
        names: What criteria are called.
        items: What items are called.
        k: How many are in.
        seed: What repeats the draw of weightings.
        linear: Whether the ranking's estimates are the weighted means of these.

    Examples:
        >>> values = np.array([[3.0, 1.0], [1.0, 2.0]])
        >>> found = weigh_criteria(values, np.ones(2), ["a", "b"], "xy", 1, 7,
        ...                        linear=True)
        >>> found.ranges["a"]["y"]
        ((0.0, 0.3333333333333333),)
    """
    shares = weights / weights.sum()
    ranges: dict[str, dict[Label, Ranges]] = {}
    for place, name in enumerate(names):
        others = np.delete(shares, place)
        start = np.delete(values, place, axis=1) @ others / others.sum()
        ranges[name] = _by_item(top_ranges(start, values[:, place], k), items)
    counts = np.zeros(len(items))
    # Gaps between sorted uniforms: each weighting as likely.
    cuts = np.sort(
        uniforms(stream(seed, "weightings"), (WEIGHTINGS, len(names) - 1)), axis=1
    )
    ends = np.zeros((WEIGHTINGS, 1)), np.ones((WEIGHTINGS, 1))
    gaps = np.diff(np.hstack([ends[0], cuts, ends[1]]), axis=1)
    for block in np.array_split(gaps, max(len(items) * WEIGHTINGS // 10**7, 1)):
        inside = np.argsort(-(block @ values.T), axis=1, kind="stable")[:, :k]
        counts += np.bincount(inside.ravel(), minlength=len(items))
    present = np.argsort(-(values @ shares), kind="stable")[:k]
    portion = {
        item: count / WEIGHTINGS
        for item, count in zip(items, counts.tolist(), strict=True)
        if count
    }
    return Weightings(
        k,
        tuple(names),
        tuple(shares.tolist()),
        ranges,
        portion,
        WEIGHTINGS,
        int((present < k).sum()),
        linear,
    )


def top_ranges(
    start: Floats, end: Floats, k: int
) -> list[tuple[float, float, frozenset[int]]]:
    """Return which k lines are the highest, from 0 to 1, and where that changes.

    Args:
        start: Height of each line at 0; equal lines are in the order given.
        end: Height of each at 1.
        k: How many.

    Returns:
        Stretches and who is the highest inside of each; exact for Fractions.

    Examples:
        >>> from fractions import Fraction
        >>> lines = [[Fraction(3), Fraction(2)], [Fraction(1), Fraction(3)]]
        >>> [float(low) for low, _, _ in top_ranges(*np.array(lines), 1)]
        [0.0, 0.3333333333333333]
    """
    slope = end - start
    # Just after 0 the steeper of two equal lines is above.
    order = sorted(range(len(start)), key=lambda line: (-start[line], -slope[line]))
    inside = np.zeros(len(start), dtype=bool)
    inside[order[:k]] = True
    stretches: list[tuple[float, float, frozenset[int]]] = []
    now = start[0] * 0
    while True:
        crossing = _next_crossing(start, slope, inside, now)
        following = now * 0 + 1 if crossing is None else crossing[0]
        if following > now:
            stretches.append(
                (now, following, frozenset(np.flatnonzero(inside).tolist()))
            )
        if crossing is None:
            return stretches
        now, entering, leaving = crossing
        inside[entering], inside[leaving] = True, False


def _next_crossing(
    start: Floats, slope: Floats, inside: np.ndarray, now: float
) -> tuple[float, int, int] | None:
    """Return where a line outside next gets above one inside, and which two.

    The highest outside less the lowest inside is convex, so Newton's steps from the
    right end at the crossing, in as many steps as there are corners.
    """
    lines = np.flatnonzero(inside), np.flatnonzero(~inside)
    if not len(lines[1]):
        return None
    place, pair = now * 0 + 1, None
    while True:
        height = start + place * slope
        low = lines[0][np.argmin(height[lines[0]])]
        high = lines[1][np.argmax(height[lines[1]])]
        gain = slope[high] - slope[low]
        if height[high] > height[low] and gain > 0:
            crossing = (start[low] - start[high]) / gain
        else:
            crossing = place
        # Rounding must not lead back and forth where many lines cross in one place.
        if crossing >= place:
            return None if pair is None else (max(place, now), *pair)
        place, pair = crossing, (int(high), int(low))


def _by_item(
    stretches: Sequence[tuple[float, float, frozenset[int]]], items: Sequence[Label]
) -> dict[Label, Ranges]:
    """Join the stretches in which each item is in."""
    joined: dict[int, list[tuple[float, float]]] = {}
    for low, high, inside in stretches:
        for place in inside:
            ends = joined.setdefault(place, [])
            if ends and ends[-1][1] == float(low):
                ends[-1] = (ends[-1][0], float(high))
            else:
                ends.append((float(low), float(high)))
    return {items[place]: tuple(joined[place]) for place in sorted(joined)}
