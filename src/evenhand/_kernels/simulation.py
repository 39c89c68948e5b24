"""Loops of the lab's simulations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
    Words = NDArray[np.uint64]

# A uniform is the upper 53 bits of a word.
SPARE = np.uint64(11)


@kernel
def expected_losses(
    place: NDArray[np.int64],
    mate: NDArray[np.int64],
    moved: NDArray[np.float64],
    truth: NDArray[np.int64],
    best: int,
) -> NDArray[np.float64]:
    """Average four losses of a ranking over independent coins on disjoint pairs.

    Args:
        place: Place of each item if no coin exchanges it, from 0.
        mate: The item that a coin may exchange it with; itself if there is none.
        moved: Probability of that exchange.
        truth: Place of each item in the true ranking.
        best: How many of the best items count for the last loss.

    Returns:
        Chance of not being exactly right, Kendall tau, footrule, and the number of the
        best items that are not among the best in the ranking.
    """
    losses = np.zeros(4)
    right = 1.0
    for item in range(len(place)):
        other = mate[item]
        stays, goes = place[item], place[other]
        chance = moved[item]
        if other == item:
            right *= stays == truth[item]
        elif item < other:
            kept = stays == truth[item] and goes == truth[other]
            turned = goes == truth[item] and stays == truth[other]
            right *= (1.0 - chance) * kept + chance * turned
        losses[2] += (1.0 - chance) * abs(stays - truth[item])
        losses[2] += chance * abs(goes - truth[item])
        if truth[item] < best:
            losses[3] += (1.0 - chance) * (stays >= best) + chance * (goes >= best)
        for rival in range(item):
            above = _chance_above(item, rival, place, mate, moved)
            losses[1] += 1.0 - above if truth[item] < truth[rival] else above
    losses[0] = 1.0 - right
    return losses


@kernel
def _chance_above(
    item: int,
    rival: int,
    place: NDArray[np.int64],
    mate: NDArray[np.int64],
    moved: NDArray[np.float64],
) -> float:
    """Chance that one item comes before another."""
    if mate[item] == rival:
        first = place[item] < place[rival]
        return float(1.0 - moved[item] if first else moved[item])
    stays, goes = place[item], place[mate[item]]
    still, gone = place[rival], place[mate[rival]]
    kept = (1.0 - moved[rival]) * (stays < still) + moved[rival] * (stays < gone)
    turned = (1.0 - moved[rival]) * (goes < still) + moved[rival] * (goes < gone)
    return float((1.0 - moved[item]) * kept + moved[item] * turned)


@kernel
def coin_losses(base: int, harms: Codes, kept: Codes, words: Words) -> Codes:
    """Flip the coins of a ranking again and again and count Kendall tau each time.

    Two neighbours that change places change the count by one and no other pair, so it
    is never counted anew.

    Args:
        base: Kendall tau if every coin keeps its items.
        harms: 1 for each coin that keeps two items in the right order, -1 for each that
            keeps them in the wrong one.
        kept: Which of the 2**53 values of the upper bits of a word keep the items of
            each coin: those below this.
        words: Random words, shape (samples, coins).

    Returns:
        Kendall tau of each sample.
    """
    found = np.empty(len(words), dtype=np.int64)
    for sample in range(len(words)):
        count = base
        for coin in range(len(kept)):
            unit = np.int64(words[sample, coin] >> SPARE)
            count += harms[coin] if unit >= kept[coin] else 0
        found[sample] = count
    return found
