"""What the reader of a ranking must know about its data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evenhand.ab import weights
from evenhand.claims import DataWarning, Json, Label, few
from evenhand.posets.graph import components

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.ab.weights import GapWeight
    from evenhand.arrays import Codes, Scores
    from evenhand.posets.graph import Comparisons
    from evenhand.ranking.flips import Flip
    from evenhand.ranking.results import RankedItem
    from evenhand.ratings import Ratings


# Agreement of reviewers that random ratings reach by chance once in twenty, is looked
# for in so many ratings, and needs a standard error of its correlation of 0.1 at most.
CHANCE, AGREEING, LARGEST_ERROR = 0.05, 10_000, 0.1
SHUFFLES, SMALLEST = 99, 1e-12
# Votes about so many items are also looked at by who met whom.
LINKED = 1000


GROUPS_SHOWN = 3
# By how much the items with the largest shares must hold more of the true best, as a
# share of what the chosen hold and in items, to be worth a sentence.
MORE, MORE_ITEMS = 1.1, 0.2


def by_lot(groups: Sequence[Sequence[int]], labels: Sequence[Label]) -> dict[str, Json]:
    """Return which items were ordered at random, as a fact of a warning.

    Examples:
        >>> by_lot([(0, 2)], ["x", "y", "z"])["groups"]["first"]
        [{'first': ['x', 'z'], 'number': 2}]
    """
    named = [few(labels[item] for item in group) for group in groups[:GROUPS_SHOWN]]
    return {"groups": {"first": named, "number": len(groups)}}


def lot_notices(
    what: str, values: Scores, order: Codes, labels: Sequence[Label]
) -> tuple[DataWarning, ...]:
    """Say which items were ordered at random, as their values are equal.

    Args:
        what: What the values are, "means" or "estimates".
        values: Value of each item, by code.
        order: Item codes, best first.
        labels: Labels of the items.

    Examples:
        >>> values, order = np.array([1.0, 1.0]), np.array([1, 0])
        >>> print(lot_notices("means", values, order, ["x", "y"])[0].message)
        Items with equal means are ordered at random: 'x', 'y'.
    """
    runs = np.split(order, np.flatnonzero(np.diff(values[order])) + 1)
    ties = [np.sort(run).tolist() for run in runs if len(run) > 1]
    return (DataWarning(f"tied_{what}", by_lot(ties, labels)),) if ties else ()


def interval_notices(
    rows: Sequence[RankedItem], level: float
) -> tuple[DataWarning, ...]:
    """Say that items have a rank outside their own interval, and which one most.

    Args:
        rows: All items.
        level: Probability that an interval has at least.

    Examples:
        >>> from evenhand.ranking.results import RankedItem
        >>> row = RankedItem("x", 2, rank_low=61, rank_high=198)
        >>> print(interval_notices([row], 0.9)[0].message[:80])
        1 of 1 items has a rank outside its 90% interval, most of all 'x' (rank 2, ranks
    """

    def distance(row: RankedItem) -> int:
        low, high = row.rank_low or row.rank, row.rank_high or row.rank
        return max(low - row.rank, row.rank - high)

    outside = [row for row in rows if distance(row) > 0]
    if not outside:
        return ()
    most = max(outside, key=distance)
    facts: dict[str, Json] = {"outside": len(outside), "items": len(rows)}
    facts |= {"level": level, "item": most.item, "rank": most.rank}
    facts |= {"low": most.rank_low, "high": most.rank_high}
    return (DataWarning("rank_outside_interval", facts),)


def share_notices(chosen: float, best: float, k: int) -> tuple[DataWarning, ...]:
    """Say that other items are likelier to be the best k than the first k by rank.

    Args:
        chosen: How many of the true best k the first k hold on average.
        best: How many the k items with the largest shares hold.
        k: How many are to be chosen.

    Examples:
        >>> print(share_notices(0.88, 1.7, 20)[0].message[:76])
        By rank these 20 hold 0.9 of the true best 20 on average; the 20 with the la
        >>> share_notices(3.5, 3.6, 4)
        ()
    """
    if best < max(MORE * chosen, chosen + MORE_ITEMS):
        return ()
    return (DataWarning("likelier_by_share", {"k": k, "chosen": chosen, "best": best}),)


def score_notices(
    ratings: Ratings, by: str, *, resolved: bool, settled: bool, split: bool = False
) -> Iterator[DataWarning]:
    """Say what stands in the way of the guarantees of rankings by scores.

    Args:
        ratings: The ratings.
        by: "coins" or "ties", which scores settled.
        resolved: Whether probabilities show that larger gaps weigh more.
        settled: Whether there was anything to settle.
        split: Whether some reviewers made groups that others sorted.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b"], ["x", "y", "x"], [1, 1, 2])
        >>> found = score_notices(ratings, "coins", resolved=True, settled=False)
        >>> [notice.code for notice in found]
        ['ties_within_reviewers', 'unequal_loads', 'no_free_pairs']
    """
    tied, loads = ratings.tied_reviewers, np.bincount(ratings.reviewer_codes)
    if tied:
        case = {"case": "split"} if split else {}
        yield DataWarning("ties_within_reviewers", {"reviewers": tied, **case})
    if loads.min() < loads.max():
        ends = {"least": int(loads.min()), "most": int(loads.max())}
        yield DataWarning("unequal_loads", ends)
    if not resolved:
        yield DataWarning("gap_beyond_floats", {"case": by})
    if not settled:
        yield DataWarning("no_free_pairs", {"case": by})


def floats_resolve_coins(
    ratings: Ratings, coins: tuple[Flip, ...], weight: GapWeight
) -> bool:
    """Say whether floats distinguish every coin from one on a slightly larger gap."""
    gaps, step = [coin.gap for coin in coins], weights.finest(ratings.preference)
    return not gaps or bool(np.all(weights.resolves(weight, gaps, step=step)))


def group_notices(graph: Comparisons) -> tuple[DataWarning, ...]:
    """Say that some items are connected by no comparison.

    Examples:
        >>> from evenhand.posets.graph import from_edges
        >>> [notice.code for notice in group_notices(from_edges(3, [0], [1]))]
        ['separate_groups']
    """
    return separate_groups(len(np.unique(components(graph))))


def separate_groups(groups: int) -> tuple[DataWarning, ...]:
    """Say how many groups of items comparisons leave, if there are several.

    Examples:
        >>> separate_groups(1)
        ()
    """
    return (DataWarning("separate_groups", {"groups": groups}),) if groups > 1 else ()


def _agree_by_links(reviewers: Codes, items: Codes, sums: Scores) -> bool:
    """Say whether votes differ from shuffled ones, each item held against whom it met.

    Args:
        reviewers: The voter of each score, sorted.
        items: The item of each score.
        sums: Sums of ranks of each item, as they are and then of shuffled votes.
    """
    first = np.flatnonzero(reviewers[1:] == reviewers[:-1])
    met = np.zeros((sums.shape[1],) * 2)
    np.add.at(met, (items[first], items[first + 1]), 1.0)
    met += met.T
    inverse = np.linalg.pinv(np.diag(met.sum(axis=1)) - met, hermitian=True)
    observed, *shuffled = ((sums @ inverse) * sums).sum(axis=1)
    reached = np.count_nonzero(np.array(shuffled) >= observed - SMALLEST)
    return bool((1 + reached) / (1 + SHUFFLES) <= CHANCE)


def information_notices(ratings: Ratings) -> tuple[DataWarning, ...]:
    """Say that ratings carry no information about the items, if that is seen.

    Random ratings are told so with probability 95%, if there are enough of them that
    a correlation of 0.3 between reviewers would be three standard errors from chance.
    What is counted is how far items' sums of ranks are from equal, beside the same with
    each reviewer's ranks shuffled; of votes also by who met whom, since an item that
    meets only its equals wins half of its votes wherever it stands. Of many
    ratings the first reviewers' will do.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> information_notices(Ratings(["a", "a"], ["x", "y"], [1, 2]))
        ()
    """
    reviewers, items = ratings.reviewer_codes[:AGREEING], ratings.item_codes[:AGREEING]
    values = pl.DataFrame(
        {"reviewer": reviewers, "value": ratings.preference[:AGREEING]}
    )
    ranked = values.select(pl.col("value").rank().over("reviewer"))["value"].to_numpy()
    loads = np.bincount(reviewers)
    ranks = (ranked - (loads[reviewers] + 1) / 2) / (loads[reviewers] + 1)
    power = (np.bincount(reviewers, ranks**2) / np.maximum(loads, 1))[reviewers]
    # What the sum of squares would be more by, if all orders were the same.
    same = np.bincount(items, power**0.5) ** 2 - np.bincount(items, power)
    # The same data get the same answer.
    rng = np.random.default_rng(ratings.n_ratings)
    orders = (
        np.argsort(reviewers + rng.random(len(reviewers))) for _ in range(SHUFFLES)
    )
    redrawn = (np.bincount(items, ranks[at]) for at in orders)
    sums = np.array([np.bincount(items, ranks), *redrawn])
    observed, *shuffled = (sums**2).sum(axis=1)
    above = observed - np.array(shuffled)
    p = (1 + int(np.count_nonzero(above <= SMALLEST))) / (1 + SHUFFLES)
    if np.std(shuffled) > LARGEST_ERROR * same.sum() - SMALLEST or p <= CHANCE:
        return ()
    votes = loads.max() == 2 and len(same) <= LINKED
    if votes and _agree_by_links(reviewers, items, sums):
        return ()
    correlation = float(above.mean() / same.sum())
    return (DataWarning("no_information", {"correlation": correlation, "p": p}),)
