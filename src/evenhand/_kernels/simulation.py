"""Loops of the lab's simulations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
    Words = NDArray[np.uint64]

# A uniform has 53 bits.
UNIT_BITS = 53
LANES = 64
NONE, ONE, ALL = np.uint64(0), np.uint64(1), np.uint64(2**64 - 1)


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
def coin_losses(
    base: int, harms: Codes, kept: Codes, words: Words, found: Codes
) -> tuple[int, int]:
    """Flip the coins of a ranking again and again and count Kendall tau each time.

    Two neighbours that change places change the count by one and no other pair, so it
    is never counted anew.

    Samples are flipped 64 side by side, one in each bit. The uniform of a coin is made
    bit by bit from the first, one word for the bits of all samples, until each differs
    from the coin's number somewhere: after some seven words, not 64.

    Args:
        base: Kendall tau if every coin keeps its items.
        harms: 1 for each coin that keeps two items in the right order, -1 for each that
            keeps them in the wrong one.
        kept: Which of the 2**53 uniforms keep the items of each coin: those below this.
        words: Random words; the samples end where these might.
        found: Overwritten with Kendall tau of the samples.

    Returns:
        How many samples there are, and how many words were used.
    """
    counts = np.empty(LANES, dtype=np.int64)
    sample, used = 0, 0
    while sample < len(found) and used + UNIT_BITS * len(kept) <= len(words):
        counts[:] = base
        for coin in range(len(kept)):
            flips, used = _flip(kept[coin], words, used)
            for lane in range(LANES):
                turned = np.int64((flips >> np.uint64(lane)) & ONE)
                counts[lane] += harms[coin] * turned
        for lane in range(min(LANES, len(found) - sample)):
            found[sample + lane] = counts[lane]
        sample = min(sample + LANES, len(found))
    return sample, used


@kernel
def _flip(kept: int, words: Words, used: int) -> tuple[np.uint64, int]:
    # A bit for each of 64 uniforms: whether it is at least `kept`.
    if kept >> UNIT_BITS:
        return NONE, used
    flips, open_lanes = NONE, ALL
    place = UNIT_BITS - 1
    # Where only zeros follow, those that are equal so far are at least as large.
    while open_lanes != NONE and kept & ((2 << place) - 1):
        word = words[used]
        used += 1
        if (kept >> place) & 1:
            open_lanes &= word
        else:
            flips |= open_lanes & word
            open_lanes &= ~word
        place -= 1
    return flips | open_lanes, used
