"""How Kendall tau varies from one run of Algorithm 1 to the next.

`simulate` averages coins out, which is exact for means; the law of the loss, its spread
and its tails are seen only when the coins are flipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels.kendall import crossings
from evenhand._kernels.simulation import LANES, coin_losses
from evenhand._randomness import SEED_BITS, Stream
from evenhand.posets.comparisons import comparisons
from evenhand.posets.orderings import topological_order
from evenhand.ranking.flips import by_item, neighbour_odds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.ab.weights import GapWeight
    from evenhand.ratings import Ratings

    Codes = NDArray[np.int64]

# Words drawn at a time: what the nearest caches hold, and no more than are needed.
CELLS = 12_000
# Words that 64 samples of a coin take, seldom more; 53 at most.
USUAL = 8


def kendall_samples(
    ratings: Ratings,
    truth: Codes,
    weight: GapWeight,
    samples: int,
    sources: tuple[Stream, Stream],
) -> Codes:
    """Rank by Algorithm 1 again and again, and count wrong pairs each time.

    All that does not hang on the coins is done once: the smallest ordering, and which
    neighbours and reviewers are chosen.

    Args:
        ratings: Scores.
        truth: Place of each item in the true ranking, from 0.
        weight: How a gap in scores weighs.
        samples: How many times the coins are flipped.
        sources: Where chance comes from that chooses, and that flips.

    Returns:
        Kendall tau of each sample.

    Raises:
        RatingsError: If comparisons contradict each other, or there are no scores.

    Examples:
        >>> from evenhand._randomness import stream
        >>> from evenhand.ab.weights import rational
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [3, 4])
        >>> both = stream(7, "flips"), stream(7, "coins")
        >>> kendall_samples(ratings, np.array([1, 0]), rational(), 9, both).tolist()
        [1, 0, 0, 0, 0, 0, 1, 0, 0]
    """
    order = topological_order(comparisons(ratings))
    _, odds, _ = neighbour_odds(by_item(ratings), order, weight, sources[0])
    return flipped_losses(order, odds.items, odds.p_first, truth, samples, sources[1])


def flipped_losses(
    order: Codes,
    items: Codes,
    p_first: NDArray[np.float64],
    truth: Codes,
    samples: int,
    source: Stream,
) -> Codes:
    """Flip the coins of neighbours again and again, and count wrong pairs each time.

    Args:
        order: Item codes, best first, as they are if every coin keeps them.
        items: Disjoint pairs of neighbours in this order, shape (coins, 2).
        p_first: Probability that each coin keeps its items.
        truth: Place of each item in the true ranking, from 0.
        samples: How many times the coins are flipped.
        source: Where chance comes from.

    Returns:
        Kendall tau of each sample.

    Examples:
        >>> from evenhand._randomness import stream
        >>> pairs, start, truth = np.array([[1, 0]]), np.array([1, 0, 2]), np.arange(3)
        >>> p_first, source = np.array([0.25]), stream(7, "coins")
        >>> flipped_losses(start, pairs, p_first, truth, 9, source).tolist()
        [1, 0, 0, 0, 0, 0, 1, 0, 0]
    """
    places = truth[items]
    harms = np.where(places[:, 0] < places[:, 1], 1, -1)
    # A uniform u is a whole number of 2**-53, and u >= p where it is at least this.
    kept = np.ceil(p_first * 2.0**SEED_BITS).astype(np.int64)
    base = crossings(truth[order].astype(np.int32))
    found = np.empty(samples, dtype=np.int64)
    words, done = np.empty(0, dtype=np.uint64), 0
    while done < samples:
        usual = USUAL * -(-(samples - done) // LANES)
        number = len(items) * max(min(usual, CELLS // max(1, len(items))), SEED_BITS)
        words = np.concatenate([words, source.random_raw(number)])
        number, used = coin_losses(base, harms, kept, words, found[done:])
        words, done = words[used:], done + number
    return found
