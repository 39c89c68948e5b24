"""Scores whose sums the form fixes: votes, ranks and budgets.

A reviewer who divides a fixed total among items cannot be strict or lenient: offsets
are 0 by construction, and an item's mean score depends on the items that it was scored
with. Levels then say nothing between reviewers, whatever the variance of the offsets.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import betaln

from evenhand.claims import DataWarning, Json
from evenhand.models.bradley_terry import rating_wins
from evenhand.models.design import totals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.arrays import Codes, Scores
    from evenhand.ratings import Ratings

# Sums closer than this share of the scores' standard deviation differ by rounding.
CLOSE = 0.05
# One reviewer may have slipped, or one in so many; of votes, one in so many may call
# both items good or bad with a score for each.
SLIPS, BOTH_ALIKE, VOTE_LEVELS = 50, 5, 3
# Probability with which scores without a fixed sum look like this, at most; estimated
# from at least so many reviewers with shuffled scores.
CHANCE, SHUFFLED = 1e-3, 1000


class Form(NamedTuple):
    """A form that fixes reviewers' sums.

    Attributes:
        totals: What the scores of each reviewer add up to.
        parameters: How many numbers of that were taken from the sums themselves.
        case: "votes", "budget", "by_number" or "ranks".
        total: What all scores of a reviewer add up to, of votes and budgets.
    """

    totals: Scores
    parameters: int
    case: str
    total: float = 0.0


def fixed_sums(ratings: Ratings) -> DataWarning | None:
    """Recognise scores of which each reviewer's sum is fixed by the form.

    All reviewers of several items, but for one or one in fifty (one in five of those
    who vote with two or three different scores, to call both items alike), give
    the ranks 1 to k, or have one sum, or one that their number of items fixes; and
    shuffled scores would do so with a probability of 1 in 1,000 at most. If all
    reviewers agree about every item, that explains equal sums, and nothing is
    recognised.

    Args:
        ratings: Any ratings; in those without scores there is nothing to recognise.

    Returns:
        What was recognised, as a notice, or None.

    Examples:
        >>> from evenhand.ratings import Ratings
        >>> voters = [voter for voter in range(20) for _ in range(2)]
        >>> votes = Ratings(voters, ["x", "y"] * 20, [1, 0] * 10 + [0.5, 0.5] * 10)
        >>> fixed_sums(votes).message[:72]
        'Each of 20 reviewers gave two items scores that add up to 1, as votes do'
    """
    if ratings.kind != "scores":
        return None
    loads = np.bincount(ratings.reviewer_codes)
    rows = loads[ratings.reviewer_codes] > 1
    if not rows.any():
        return None
    codes = ratings.reviewer_codes[rows]
    reviewers = np.cumsum(np.diff(codes, prepend=codes[:1]) > 0, dtype=np.int64)
    # In a unit in which no sum is too large for a float.
    unit = float(np.abs(ratings.scores).max()) or 1.0
    scores = ratings.scores[rows] / unit
    sums = totals(reviewers, scores, int(reviewers[-1]) + 1)
    close = CLOSE * float(scores.std())
    are_votes = loads.max() == 2 and len(np.unique(scores)) <= VOTE_LEVELS
    most = BOTH_ALIKE if are_votes else SLIPS
    for form in _forms(ratings, sums, loads[loads > 1], unit):
        kept = int((np.abs(sums - form.totals) <= close).sum())
        slips = len(sums) - kept
        if slips > max(1, len(sums) // most) or _agree(ratings):
            continue
        share = _shuffled_share(reviewers, scores, form.totals, close)
        # Which of them slipped, and that the others' sums are what they are.
        chance = -math.log(len(sums) + 1) - betaln(kept + 1, slips + 1)
        chance += (kept - form.parameters) * math.log(share)
        if chance <= math.log(CHANCE):
            facts: dict[str, Json] = {"case": form.case, "who": [kept, len(sums)]}
            return DataWarning("fixed_sums", {**facts, "total": form.total})
    return None


def _forms(ratings: Ratings, sums: Scores, loads: Codes, unit: float) -> Iterator[Form]:
    """Yield the forms that may fix the sums, those with fewest parameters first."""
    scores = ratings.scores
    from_one = scores.min() >= 1
    if from_one and np.mean(scores == rating_wins(ratings) + 1) > 1 - 1 / SLIPS:
        yield Form(loads * (loads + 1) / 2 / unit, 0, "ranks")
    middle = float(np.median(sums))
    # Rounded, as a sum of shares is 1 but for the last digits.
    total = round(middle * unit, 9) + 0.0
    case = "votes" if loads.max() == 2 else "budget"
    yield Form(np.full_like(sums, middle), 1, case, total)
    # The middle sum of each load, of sums sorted by load.
    _, place, counts = np.unique(loads, return_inverse=True, return_counts=True)
    middles = np.cumsum(counts) - (counts + 1) // 2
    totals_by_load = sums[np.lexsort((sums, loads))[middles]]
    yield Form(totals_by_load[place], len(counts), "by_number")


def _agree(ratings: Ratings) -> bool:
    """Return whether items have several scores, but none has two different ones."""
    low, high = np.full((2, ratings.n_items), ratings.scores[0])
    # The last score of an item against all.
    low[ratings.item_codes] = high[ratings.item_codes] = ratings.scores
    np.minimum.at(low, ratings.item_codes, ratings.scores)
    np.maximum.at(high, ratings.item_codes, ratings.scores)
    several = int(np.bincount(ratings.item_codes).max()) > 1
    return several and bool((low == high).all())


def _shuffled_share(
    reviewers: Codes, scores: Scores, aims: Scores, close: float
) -> float:
    """Return how often the sum of shuffled scores is a reviewer's total, but not 0."""
    # The same data get the same answer.
    rng, hits = np.random.default_rng(len(reviewers)), 0
    times = -(-SHUFFLED // len(aims))
    for _ in range(times):
        sums = totals(reviewers, rng.permutation(scores), len(aims))
        hits += int((np.abs(sums - aims) <= close).sum())
    return (hits + 1) / (times * len(aims) + 1)
