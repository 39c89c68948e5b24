"""Tail probabilities of a sum of scores drawn without replacement, by frequencies.

How many scores of each level the first item gets is binomial, given how many it gets in
all. The odds of each level are tilted until the observed sum is the mean; then sums far
from it do not count, and neither do frequencies at which the image of the law is below
exp(-SPARE), so that few are left however many scores there are, and the result is good
to some ten digits however small it is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.fft import next_fast_len
from scipy.special import expit, gammaln, logit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.ab._redraws import Counts

    Floats = NDArray[np.float64]

# Minus the logarithm of what may be left out.
SPARE = 40.0
# The most sums that a law may have; and numbers computed, about a second of work.
WIDEST = 1 << 22
WORK = 20_000_000
BLOCK = 500_000
STEPS = 200


class Tails(NamedTuple):
    """Probabilities of a sum that reaches its observed value from each side."""

    above: float
    below: float


def tail_chances(
    values: tuple[int, ...], sizes: Counts, ahead: int, low: int, high: int
) -> Tails | None:
    """Return P(sum >= low) and P(sum <= high), or None where that cannot be done.

    Args:
        values: Levels of scores, natural numbers in increasing order.
        sizes: How many scores of each there are.
        ahead: How many scores are drawn.
        low: The least sum of the one tail.
        high: The largest sum of the other, low or low - 1.

    Examples:
        >>> found = tail_chances((0, 1), np.array([200, 200]), 200, 110, 110)
        >>> round(found.above, 12), round(found.below, 12)
        (0.02864907227, 0.982201022029)
    """
    if values[-1] > WIDEST:
        return None
    levels = np.array(values, dtype=np.int64)
    turned = low * int(sizes.sum()) <= ahead * int(sizes @ levels)
    if turned:
        found = _upper(
            levels[-1] - levels[::-1], sizes[::-1], ahead, ahead * values[-1] - high
        )
    else:
        found = _upper(levels, sizes, ahead, low)
    if found is None:
        return None
    reached, passed = (min(max(chance, 0.0), 1.0) for chance in found)
    other = 1 - (passed if low == high else reached)
    return Tails(other, reached) if turned else Tails(reached, other)


def _upper(
    values: Counts, sizes: Counts, ahead: int, edge: int
) -> tuple[float, float] | None:
    """Return P(sum >= edge) and P(sum > edge), for an edge of at least the mean."""
    size = int(sizes.sum())
    top = np.clip(ahead - (sizes[::-1].cumsum() - sizes[::-1]), 0, sizes[::-1])[::-1]
    best = int(top @ values)
    if edge > best:
        return 0.0, 0.0
    if edge == best:
        return math.exp(_log_ways(sizes, top).sum() - _log_ways(size, ahead)), 0.0
    odds = _tilted_odds(values, sizes, ahead, edge)
    if odds is None:
        return None
    start, slope = odds
    shares = expit(start + slope * values)
    law = _law(values, sizes, shares, slope, best - edge)
    share = ahead / size
    none = _point(np.array([float(size)]), np.array([share]))
    if law is None:
        return None
    # Minus the entropy of the tilted law relative to that of the design.
    moved = shares - share
    rate = sizes @ (
        shares * np.log1p(moved / share) + (1 - shares) * np.log1p(-moved / (1 - share))
    )
    scale = math.exp(-rate) / none
    return scale * law[0], scale * (law[0] - law[1])


def _log_ways(
    sizes: NDArray[np.generic] | int, taken: NDArray[np.generic] | int
) -> Floats:
    left = np.subtract(sizes, taken)
    parts = (np.add(count, 1.0) for count in (sizes, taken, left))
    whole, one, two = map(gammaln, parts)
    return np.asarray(whole - one - two)


def _tilted_odds(
    values: Counts, sizes: Counts, ahead: int, edge: int
) -> tuple[float, float] | None:
    """Return a and b with odds exp(a + b value) of which ahead and edge are the means.

    Newton's method for a convex function, in steps that change no odds much.
    """
    centre = float(sizes @ values) / float(sizes.sum())
    scale = math.sqrt(float(sizes @ (values - centre) ** 2) / float(sizes.sum()))
    places = (values - centre) / scale
    aim = np.array([ahead, (edge - ahead * centre) / scale])
    start = np.array([logit(ahead / float(sizes.sum())), 0.0])
    for _ in range(STEPS):
        shares = expit(start[0] + start[1] * places)
        weights = sizes * shares * (1 - shares)
        means = np.array([sizes @ shares, (sizes * shares) @ places])
        cross = float(weights @ places)
        curve = np.array([[weights.sum(), cross], [cross, weights @ places**2]])
        if not np.isfinite(curve).all() or np.linalg.det(curve) <= 0:
            return None
        step = np.linalg.solve(curve, aim - means)
        change = float(np.abs(step[0] + step[1] * places).max())
        start = start + step * min(1.0, 1 / max(change, 1e-300))
        if change < 1e-13:  # noqa: PLR2004 - rounding
            return float(start[0] - start[1] * centre / scale), float(start[1] / scale)
    return None


def _law(
    values: Counts, sizes: Counts, shares: Floats, slope: float, room: int
) -> tuple[float, float] | None:
    """Return the sum over j >= 0 of exp(-slope j) P(ahead, edge + j), and P at j = 0.

    All under the tilted law, of which ahead and edge are the means.
    """
    weights = sizes * shares * (1 - shares)
    whole, centre = float(weights.sum()), float(weights @ values / weights.sum())
    places = values - centre
    reach = math.ceil(_reach(float(weights @ places**2), float(np.abs(places).max())))
    number = min(reach, room) + 1
    if reach + number > WIDEST:
        return None
    period = next_fast_len(max(reach + number, int(values[-1]) + 1), real=True)
    # At any turn, an image is below exp(abs(sum of weights exp(i angle value)) - their
    # sum).
    images = np.conj(np.fft.rfft(np.bincount(values, weights, period)))
    seen = np.flatnonzero(whole - np.abs(images) < SPARE)
    turns = _turns(whole)
    if len(seen) * len(turns) * len(values) > WORK:
        return None
    # Every wave but the first and, of an even period, the last has a mirror image.
    twice = np.where(2 * seen % period == 0, 1, 2)
    angles = 2 * math.pi * seen / period
    leans = np.angle(images[seen]) - angles * centre
    sums, numbers = np.empty(len(angles), np.complex128), sizes.astype(np.float64)
    block = max(1, BLOCK // (len(turns) * len(values)))
    for first in range(0, len(angles), block):
        some = slice(first, first + block)
        leaning = angles[some, None] * places - leans[some, None]
        images = _image(numbers, shares, turns[:, None] + leaning[:, None, :])
        sums[some] = images.sum(axis=1)
    steps = slope + 1j * angles
    with np.errstate(divide="ignore", invalid="ignore"):
        series = np.expm1(-steps * number) / np.expm1(-steps)
    series = np.where(steps == 0, number, series)
    cells = period * _period(whole)
    tail = float((twice * (sums * series).real).sum()) / cells
    return tail, float((twice * sums.real).sum()) / cells


def _point(sizes: Floats, shares: Floats) -> float:
    """Return the probability that a binomial number is its mean, which is whole."""
    whole = float(sizes @ (shares * (1 - shares)))
    image = _image(sizes, shares, _turns(whole)[:, None])
    return float(image.sum().real) / _period(whole)


def _image(sizes: Floats, shares: Floats, angles: Floats) -> NDArray[np.complex128]:
    """Return images of binomial numbers less their means, multiplied over levels."""
    with np.errstate(divide="ignore"):
        size = np.log1p(-4 * shares * (1 - shares) * np.sin(angles / 2) ** 2) / 2
    across = np.arctan2(shares * np.sin(angles), 1 - shares + shares * np.cos(angles))
    # Whole turns of a factor, where the arc jumps, do not change its power.
    return np.asarray(np.exp(size @ sizes + 1j * ((across - shares * angles) @ sizes)))


def _period(whole: float) -> int:
    return 2 * (math.ceil(_reach(whole, 1.0)) // 2) + 1


def _turns(whole: float) -> Floats:
    """Return the angles that single out one number of scores, those that count."""
    period = _period(whole)
    most = period // 2
    if whole > SPARE:
        furthest = math.acos(1 - SPARE / whole)
        most = min(most, int(furthest * period / (2 * math.pi)) + 1)
    return 2 * math.pi * np.arange(-most, most + 1) / period


def _reach(spread: float, largest: float) -> float:
    """Bernstein: a sum of bounded numbers is within this of its mean, but for SPARE."""
    part = SPARE * largest / 3
    return part + math.sqrt(part**2 + 2 * SPARE * spread)
