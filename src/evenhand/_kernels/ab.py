"""Loops for two items: the law of the votes, for one pairing and over all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Minus the logarithm of what may be left out of a sum of probabilities.
SPARE = 40.0


@kernel
def majority_margins(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return P(more votes for than against) - P(fewer) of many independent votes.

    The law of the number of votes is read off its characteristic function, the product
    of those of the votes. All but exp(-SPARE) of it lies within Bernstein's bound of
    the mean, so few frequencies are needed: about 30, however many votes there are.

    Args:
        chances: Chance of each vote, shape (rows, votes).

    Returns:
        Margins, shape (rows,).
    """
    rows, votes = chances.shape
    margins = np.empty(rows)
    for row in range(rows):
        mean = chances[row].sum()
        variance = (chances[row] * (1.0 - chances[row])).sum()
        reach = SPARE / 3 + np.sqrt(SPARE * SPARE / 9 + 2 * SPARE * variance)
        low = int(np.floor(mean - reach))
        period = int(np.ceil(mean + reach)) - low + 1
        # The image is at most exp(-variance (1 - cos angle)) in size.
        waves = period // 2 + 1
        if 2 * variance > SPARE:
            furthest = np.arccos(1 - SPARE / variance)
            waves = min(waves, int(furthest * period / (2 * np.pi)) + 2)
        angles = 2 * np.pi * np.arange(waves) / period
        real, imaginary = _images(chances[row], np.cos(angles) - 1, np.sin(angles))
        margin = 0.0
        for wave in range(waves):
            win = _swing(wave, max(low, votes // 2 + 1), low + period, period)
            loss = _swing(wave, low, min((votes + 1) // 2, low + period), period)
            share = real[wave] * (win[0] - loss[0])
            share += imaginary[wave] * (win[1] - loss[1])
            margin += share if wave == 0 or 2 * wave == period else 2 * share
        margins[row] = margin / period
    return margins


@kernel
def _images(
    chances: NDArray[np.float64],
    cosines: NDArray[np.float64],
    sines: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Multiply the votes' characteristic functions, 1 + p (cosine + i sine)."""
    real = np.ones(len(cosines))
    imaginary = np.zeros(len(cosines))
    for chance in chances:
        for wave in range(len(cosines)):
            along = 1.0 + chance * cosines[wave]
            across = chance * sines[wave]
            before = real[wave]
            real[wave] = before * along - imaginary[wave] * across
            imaginary[wave] = before * across + imaginary[wave] * along
    return real, imaginary


@kernel
def _swing(wave: int, start: int, stop: int, period: int) -> tuple[float, float]:
    """Sum cos and sin of 2 pi wave count / period over counts from start to stop."""
    number = max(0, stop - start)
    if wave == 0:
        return float(number), 0.0
    # A geometric sum; its angles are reduced in integers, where that is exact.
    unit = np.pi / period
    middle = unit * ((wave * (start + stop - 1)) % (2 * period))
    length = np.sin(unit * ((wave * number) % (2 * period))) / np.sin(unit * wave)
    return length * np.cos(middle), length * np.sin(middle)


@kernel
def pairing_counts(
    terms: NDArray[np.float64], sizes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the law of the summed points over a uniformly random pairing.

    One side of the pairing is taken one score after the other. The other side is held
    as levels of equal scores, and a state says how many of each level are used. The
    smaller side is paired completely. Every state holds the law of the points so far,
    in a sum of positive terms only, so nothing cancels.

    Args:
        terms: Shape (taken, levels, points + 1): chance that the pair of a taken score
            and one of a level adds 0, 1, ... points.
        sizes: How many scores each level holds.

    Returns:
        Chance of each sum of points, from 0 to points times the number of pairs.
    """
    taken, _, degrees = terms.shape
    held = sizes.sum()
    states = (sizes + 1).prod()
    pairs = min(taken, held)
    table = np.zeros((states, (degrees - 1) * pairs + 1))
    table[0, 0] = 1.0
    used = np.empty_like(sizes)
    for step in range(taken):
        left = taken - step
        most = min(step + 1, held)
        least = step + 1 if taken <= held else max(0, held - left + 1)
        used[:] = sizes
        total = held
        # Downwards, so that a state reads only states that this step has not written.
        for state in range(states - 1, -1, -1):
            if least <= total <= most:
                _absorb(table, state, used, sizes, terms[step], left)
            total += _count_down(used, sizes)
    used[:] = sizes
    total = held
    counts = np.zeros(table.shape[1])
    for state in range(states - 1, -1, -1):
        if total == pairs:
            counts += table[state]
        total += _count_down(used, sizes)
    return counts


@kernel
def _absorb(
    table: NDArray[np.float64],
    state: int,
    used: NDArray[np.int64],
    sizes: NDArray[np.int64],
    terms: NDArray[np.float64],
    left: int,
) -> None:
    """Take one score into a state's law; `left` are left, this one among them."""
    levels, degrees = terms.shape
    width = (degrees - 1) * used.sum() + 1
    free = sizes.sum() - used.sum()
    stay = 1.0 - free / max(left, free)
    for place in range(width):
        table[state, place] *= stay
    stride = 1
    for level in range(levels):
        if used[level] > 0:
            origin = state - stride
            chance = (sizes[level] - used[level] + 1) / max(left, free + 1)
            for point in range(degrees):
                factor = chance * terms[level, point]
                if factor > 0.0:
                    for place in range(width - degrees + 1):
                        table[state, place + point] += factor * table[origin, place]
        stride *= sizes[level] + 1


@kernel
def _count_down(used: NDArray[np.int64], sizes: NDArray[np.int64]) -> int:
    """Go to the state before in mixed radix; return the change of the digits' sum."""
    change = 0
    for level in range(len(used)):
        if used[level] > 0:
            used[level] -= 1
            return change - 1
        used[level] = sizes[level]
        change += sizes[level]
    return change
