"""What the reader of a ranking must know about its data."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from evenhand.ab import weights
from evenhand.claims import Label, Notice
from evenhand.errors import counted, listing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.ab.weights import GapWeight
    from evenhand.arrays import Codes, Scores
    from evenhand.posets.graph import Comparisons
    from evenhand.ranking.flips import Coin
    from evenhand.ratings import Ratings


# Agreement of reviewers that random ratings reach by chance once in twenty, is looked
# for in so many ratings, and needs a standard error of its correlation of 0.1 at most.
CHANCE, AGREEING, LARGEST_ERROR = 0.05, 100_000, 0.1
PAIRED, SMALLEST = 10, 1e-12


BEYOND_FLOATS = {
    "coins": "Some gaps in scores are too large for floating point to distinguish from "
    "slightly larger ones under this weight; there a coin is never worse than a fair "
    "one, but no longer strictly better.",
    "ties": "Some differences of means are too large for noise that floating point can "
    "draw to overturn; there the order is never worse than a random one, but no longer "
    "strictly better. A larger noise, chosen before scores are seen, would mend that.",
}
NOTHING_FREE = {
    "coins": "No pair of items was free to be settled by a coin on its scores, so the "
    "ranking is an ordinal one.",
    "ties": "No items that the comparisons hold for equal had scores to settle them, "
    "so the ranking is an ordinal one.",
}


GROUPS_SHOWN = 3


def by_lot(what: str, groups: Sequence[Sequence[int]], labels: Sequence[Label]) -> str:
    """Say which items were ordered at random.

    Examples:
        >>> by_lot("means", [(0, 2)], ["x", "y", "z"])
        "Items with equal means are ordered at random: 'x', 'z'."
    """
    told = [listing(labels[item] for item in group) for group in groups[:GROUPS_SHOWN]]
    more = len(groups) - GROUPS_SHOWN
    if more > 0:
        told.append(f"and {more} group{'s' if more > 1 else ''} more")
    return f"Items with equal {what} are ordered at random: {'; '.join(told)}."


def lot_notices(
    what: str, values: Scores, order: Codes, labels: Sequence[Label]
) -> tuple[Notice, ...]:
    """Say which items were ordered at random, as their values are equal.

    Args:
        what: What the values are, "means" or "estimates".
        values: Value of each item, by code.
        order: Item codes, best first.
        labels: Labels of the items.

    Examples:
        >>> lot_notices("means", np.array([1.0, 1.0]), np.array([1, 0]), ["x", "y"])
        (Notice(code='tied_means', message="Items with equal means are ordered at \
random: 'x', 'y'."),)
    """
    runs = np.split(order, np.flatnonzero(np.diff(values[order])) + 1)
    ties = [np.sort(run).tolist() for run in runs if len(run) > 1]
    return (Notice(f"tied_{what}", by_lot(what, ties, labels)),) if ties else ()


def score_notices(
    ratings: Ratings, by: str, *, resolved: bool, settled: bool, split: bool = False
) -> Iterator[Notice]:
    """Say what stands in the way of the guarantees of rankings by scores.

    Args:
        ratings: The ratings.
        by: "coins" or "ties", which scores settled.
        resolved: Whether floating point tells every gap from a larger one.
        settled: Whether there was anything to settle.
        split: Whether some reviewers made groups that others sorted.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b"], ["x", "y", "x"], [1, 1, 2])
        >>> found = score_notices(ratings, "coins", resolved=True, settled=False)
        >>> [notice.code for notice in found]
        ['ties_within_reviewers', 'unequal_loads', 'no_free_pairs']
    """
    yield from _load_notices(ratings, split=split)
    if not resolved:
        yield Notice("gap_beyond_floats", BEYOND_FLOATS[by])
    if not settled:
        yield Notice("no_free_pairs", NOTHING_FREE[by])


def coins_resolved(
    ratings: Ratings, coins: tuple[Coin, ...], weight: GapWeight
) -> bool:
    """Say whether floats distinguish every coin from one on a slightly larger gap."""
    if not coins:
        return True
    step = weights.finest(ratings.preference)
    gaps = [coin.gap for coin in coins]
    return bool(np.all(weights.resolved(weight, gaps, step=step)))


def _load_notices(ratings: Ratings, *, split: bool) -> Iterator[Notice]:
    tied = ratings.tied_reviewers
    if tied:
        rest = (
            "the claim is no longer strict."
            if split
            else "ties within a reviewer void every ranking guarantee."
        )
        text = f"{counted(tied, 'reviewer')} gave equal scores to several items; {rest}"
        yield Notice("ties_within_reviewers", text)
    loads = np.bincount(ratings.reviewer_codes)
    if loads.min() < loads.max():
        most = counted(int(loads.max()), "item")
        text = (
            f"Reviewers scored from {loads.min()} to {most} each; the ranking "
            "guarantees need equal loads."
        )
        yield Notice("unequal_loads", text)


def group_notices(graph: Comparisons) -> tuple[Notice, ...]:
    """Say that some items are connected by no comparison.

    Examples:
        >>> from evenhand.posets.graph import from_edges
        >>> [notice.code for notice in group_notices(from_edges(3, [0], [1]))]
        ['separate_groups']
    """
    from evenhand.posets.graph import components  # noqa: PLC0415 - few methods compare

    return separate_groups(len(np.unique(components(graph))))


def separate_groups(groups: int) -> tuple[Notice, ...]:
    """Say how many groups of items comparisons leave, if there are several.

    Examples:
        >>> separate_groups(1)
        ()
    """
    if groups == 1:
        return ()
    return (
        Notice(
            "separate_groups",
            f"The comparisons leave {groups} separate groups of items; items of "
            "different groups cannot be ordered by comparisons.",
        ),
    )


class Agreement(NamedTuple):
    """How much reviewers agree about items, and what random orders would do.

    Attributes:
        squares: Sum over items of the square of their summed ranks, each reviewer's
            centred on 0.
        mean: Its mean if each reviewer's ranks fell on their items at random.
        variance: Its variance then.
        scale: How much more it would be if all orders were the same.
    """

    squares: float
    mean: float
    variance: float
    scale: float

    @property
    def correlation(self) -> float:
        """Mean correlation of two reviewers of the same items."""
        return (self.squares - self.mean) / self.scale

    @property
    def p(self) -> float:
        """Chance that random orders agree as much, by the scaled chi-squared law."""
        from scipy.special import chdtrc  # noqa: PLC0415 - slow to load

        twice = 2 * self.mean / self.variance
        return float(chdtrc(twice * self.mean, twice * self.squares))

    @property
    def is_known(self) -> bool:
        """Whether a correlation of 0.3 would be three standard errors from chance."""
        return self.variance <= (LARGEST_ERROR * self.scale) ** 2


def agreement(ratings: Ratings) -> Agreement | None:
    """Compare reviewers' orders with random ones; None if no two can be compared.

    Of very many ratings, the first reviewers' are looked at. Pairs of items that two
    reviewers share count in the variance for reviewers of up to ten items; beyond, they
    would add a tenth to it at most.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [1, 2, 5, 9])
        >>> agreement(ratings).correlation
        1.0
    """
    who, items = ratings.reviewer_codes[:AGREEING], ratings.item_codes[:AGREEING]
    values = pl.DataFrame({"who": who, "value": ratings.preference[:AGREEING]})
    ranked = values.select(pl.col("value").rank().over("who"))["value"].to_numpy()
    loads = np.bincount(who)
    size = loads[who]
    ranks = (ranked - (size + 1) / 2) / (size + 1)
    power = (np.bincount(who, ranks**2) / np.maximum(loads, 1))[who]
    sums, own, root, again = (
        np.bincount(items, part) for part in (ranks, power, power**0.5, power**2)
    )
    scale = float((root**2 - own).sum())
    if scale <= SMALLEST:
        return None
    shared = _shared(who, items, power / np.maximum(size - 1, 1), size)
    variance = 2 * (float((own**2 - again).sum()) + shared)
    return Agreement(float(sums @ sums), float(own.sum()), variance, scale)


def _shared(who: Codes, items: Codes, weights: Scores, size: Codes) -> float:
    """Add up products of reviewers' weights over pairs of items that both rated."""
    keys, parts = [], []
    width = int(items.max()) + 1
    for step in range(1, PAIRED):
        same = (who[step:] == who[:-step]) & (size[step:] <= PAIRED)
        one, other = items[step:][same], items[:-step][same]
        keys.append(np.minimum(one, other) * width + np.maximum(one, other))
        parts.append(weights[step:][same])
    weight = np.concatenate(parts)
    _, place = np.unique(np.concatenate(keys), return_inverse=True)
    sums = np.bincount(place, weight)
    return 2 * float(sums @ sums - weight @ weight)


def information_notices(ratings: Ratings) -> tuple[Notice, ...]:
    """Say that ratings carry no information about the items, if that is seen.

    Random ratings are told so with probability 95 %, if there are enough of them that
    a correlation of 0.3 between reviewers would show.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> information_notices(Ratings(["a", "a"], ["x", "y"], [1, 2]))
        ()
    """
    found = agreement(ratings)
    if found is None or not found.is_known or found.p <= CHANCE:
        return ()
    text = (
        "Reviewers agree about the items no more than random ratings would (mean "
        f"correlation of two reviewers {found.correlation:.2f}, p = {found.p:.2f}). "
        "These ratings carry no detectable information about the items, so any order "
        "of them may be chance."
    )
    return (Notice("no_information", text),)
