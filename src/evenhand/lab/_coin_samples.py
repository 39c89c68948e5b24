"""How Kendall tau varies from one run of Algorithm 1 to the next.

`simulate` averages coins out, which is exact for means; the law of the loss, its spread
and its tails are seen only when the coins are flipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels.kendall import crossings
from evenhand._kernels.simulation import coin_losses
from evenhand._randomness import Stream, uniforms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.ranking.flips import Coin

# Uniforms held at a time: 8 MB.
CELLS = 1_000_000


def kendall_samples(
    order: NDArray[np.int64],
    coins: Sequence[Coin],
    truth: NDArray[np.int64],
    samples: int,
    source: Stream,
) -> NDArray[np.int64]:
    """Flip the coins of neighbours again and again, and count wrong pairs each time.

    Args:
        order: Item codes, best first, as they are if every coin keeps them.
        coins: Coins on disjoint pairs of neighbours in this order.
        truth: Place of each item in the true ranking, from 0.
        samples: How many times the coins are flipped.
        source: Where chance comes from; a uniform for each sample and coin.

    Returns:
        Kendall tau of each sample.

    Examples:
        >>> from evenhand._randomness import stream
        >>> from evenhand.ranking.flips import Coin
        >>> coin = Coin((1, 0), -1.0, 0.25, True, (0, 1))
        >>> start, truth = np.array([1, 0, 2]), np.arange(3)
        >>> kendall_samples(start, [coin], truth, 9, stream(7, "coins")).tolist()
        [0, 0, 0, 0, 1, 0, 0, 0, 0]
    """
    places = truth[order].astype(np.int32)
    kept = np.array([coin.p_first for coin in coins], dtype=np.float64)
    items = np.array([coin.items for coin in coins], dtype=np.int64).reshape(-1, 2)
    right = truth[items[:, 0]] < truth[items[:, 1]]
    harms = np.where(right, 1, -1)
    found = np.empty(samples, dtype=np.int64)
    rows = max(1, CELLS // max(1, len(coins)))
    base = crossings(places)
    for start in range(0, samples, rows):
        stop = min(samples, start + rows)
        units = uniforms(source, (stop - start, len(coins)))
        found[start:stop] = coin_losses(base, harms, kept, units)
    return found
