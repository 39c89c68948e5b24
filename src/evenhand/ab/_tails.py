"""Which share of the assignments puts a statistic at or beyond its observed value.

A statistic is the difference of two central means: of all scores of a side (the mean),
of those left when both ends are cut (the trimmed mean), or of the one or two in the
middle (the median). Scores are natural numbers here, so that no rounding can break a
tie. Where all scores count, small designs are counted by a recursion over units, and
any number of reviewers who each are a unit by frequencies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.ab._redraws import Counts, Redraws
    from evenhand.ab.rules import Kept

    Floats = NDArray[np.float64]

# Numbers added in a recursion, about half a second: floats, or whole numbers; up to
# FEW_WORK they are whole in any case.
DENSE_WORK = 400_000_000
WHOLE_WORK = 10_000_000
FEW_WORK = 20_000
FEW = 1_000
MOST_UNITS = 2_000
# Minus the logarithm of what may be left out of a sum by frequencies.
SPARE = 40.0
# The most sums that a law may have; and numbers computed, about a second of work.
WIDEST = 1 << 22
WORK = 20_000_000
BLOCK = 500_000
STEPS = 200


class Tails(NamedTuple):
    """Shares of assignments.

    Attributes:
        above: With the statistic at its observed value or above.
        below: With the statistic at its observed value or below.
    """

    above: float | Fraction
    below: float | Fraction


@dataclass(frozen=True, slots=True)
class Centres:
    """The difference of two central means, and its observed value.

    Attributes:
        kept: From a number of scores to the places, from and to, of those that count
            when they are in increasing order; never none of one or more scores.
        observed: The observed value.
        whole: Whether all scores count.
    """

    kept: Kept
    observed: Fraction
    whole: bool

    def sum_edge(self, redraws: Redraws, ahead: int) -> tuple[int, int]:
        """Return the observed value as a sum of the first item's scores, from and to.

        Only where all scores count: the second item has the rest of the total. With a
        side empty the statistic is 0. The proof asks that, for each assignment by
        itself, it does not fall when a score of the first item rises and does not rise
        when one of the second does; a constant does neither.
        """
        size, total = redraws.size, redraws.everything
        if ahead in (0, size):
            here = total if ahead else 0
            return here + (self.observed > 0), here - (self.observed < 0)
        edge = (self.observed * (size - ahead) + total) * ahead / size
        return math.ceil(edge), math.floor(edge)


def central_mean(values: Counts, counts: Counts, kept: Kept) -> Fraction:
    """Return the mean of the scores that count, out of a table of scores.

    Examples:
        >>> levels, counts = np.array([1, 2, 9]), np.array([1, 3, 1])
        >>> central_mean(levels, counts, lambda n: (1, n - 1))
        Fraction(2, 1)
    """
    places = np.array([kept(int(counts.sum()))])
    number = int(places[0, 1] - places[0, 0])
    return Fraction(int(_central_sums(counts[None, :], places, values)[0]), number)


def _central_sums(rows: Counts, places: Counts, values: Counts) -> NDArray[np.object_]:
    seen = np.clip(rows.cumsum(axis=1), places[:, :1], places[:, 1:])
    return np.asarray(np.diff(seen, prepend=places[:, :1]) @ values, dtype=object)


def tally(rows: Counts, redraws: Redraws, centres: Centres) -> tuple[int, int]:
    """Count given assignments in both tails, with exact comparisons.

    Args:
        rows: Rows with how many scores of each level the first item has.
        redraws: The levels of scores, and how many scores of each both items have.
        centres: The statistic.
    """
    ahead, back = np.unique(rows.sum(axis=1), return_inverse=True)
    sums, numbers = [], []
    for counts, side in ((ahead, rows), (redraws.size - ahead, redraws.sizes - rows)):
        places = np.array([centres.kept(count) for count in counts.tolist()])[back]
        sums.append(_central_sums(side, places, redraws.values))
        numbers.append((places[:, 1] - places[:, 0]).astype(object))
    gaps = (sums[0] * numbers[1] - sums[1] * numbers[0]) * centres.observed.denominator
    # With a side empty there is a difference of 0.
    edges = np.maximum(numbers[0] * numbers[1], 1) * centres.observed.numerator
    return int((gaps >= edges).sum()), int((gaps <= edges).sum())


def count_sums(redraws: Redraws, centres: Centres, *, exact: bool) -> Tails | None:
    """Count where all scores count, one unit after the other.

    Args:
        redraws: The assignments.
        centres: The statistic.
        exact: Whether only Fractions will do.

    Returns:
        Shares of both tails, or None if that is too much work.
    """
    n_units, counts = redraws.n_units, redraws.counts
    if n_units > MOST_UNITS:
        return None
    units = redraws.units()
    steps, least = units[:, 1] - units[:, 0], units[:, 0].sum(axis=0).tolist()
    sizes, sums = (steps.sum(axis=0) + 1).tolist()
    # How many units are on is how many scores the first item has, but for panels.
    ons = 1 if redraws.unit is None or counts is None else n_units + 1
    work = n_units * sums * sizes * ons // 3
    if work > _most_work(redraws, exact=exact):
        return None
    # A state is a sum, a number of scores and one of units in one index.
    shifts = (steps[:, 1] * sizes + steps[:, 0]) * ons + (ons > 1)
    whole = exact or work <= FEW_WORK
    law = _spread(sorted(shifts.tolist()), None if whole else redraws.share)
    law = np.append(law, np.zeros(-len(law) % (sizes * ons), dtype=law.dtype))
    table = law.reshape(-1, sizes, ons)
    if ons > 1 and counts is not None:
        table = table[:, :, list(counts)]
    parts = []
    for ahead, column in enumerate(table.sum(axis=2).T, least[0]):
        if ons > 1 or counts is None or ahead in counts:
            low, high = (edge - least[1] for edge in centres.sum_edge(redraws, ahead))
            parts.append(_parts(column, low, high))
    return _shares(parts)


def _most_work(redraws: Redraws, *, exact: bool) -> int:
    """Return up to how much work a recursion is quicker than going through all."""
    if exact and redraws.at_most(FEW):
        return FEW_WORK
    return WHOLE_WORK if exact or redraws.at_most(FEW_WORK) else DENSE_WORK


def _spread(shifts: list[int], share: float | None) -> Floats:
    """Return the law of a sum of shifts, each with the same chance; ways if None."""
    on, off = (1, 1) if share is None else (share, 1 - share)
    law = np.ones(1, dtype=object if share is None else np.float64)
    for shift in shifts:
        wider = np.zeros(len(law) + shift, dtype=law.dtype)
        wider[: len(law)] = law * off
        wider[shift:] += law * on
        law = wider
    return law


def _parts(law: Floats, low: int, high: int) -> list[float]:
    """Return the parts of a law from one place on, up to another, and in all."""
    sides = law[max(low, 0) :], law[: max(high + 1, 0)], law
    return [side.sum() for side in sides]


def _shares(parts: list[list[float]]) -> Tails:
    above, below, total = map(sum, zip(*parts, strict=True))
    if isinstance(total, int):
        return Tails(Fraction(above, total), Fraction(below, total))
    return Tails(float(above / total), float(below / total))


def sum_tails(redraws: Redraws, centres: Centres) -> Tails | None:
    """Do what `count_sums` does for any number of reviewers, each of them a unit.

    How many scores of each level the first item gets is binomial, given how many it
    gets in all. The odds of each level are tilted until the observed sum is the mean;
    then sums far from it do not count, and neither do frequencies at which the image of
    the law is below exp(-SPARE), so that few are left however many scores there are,
    and the result is good to some ten digits however small it is.

    Returns:
        Shares of both tails, or None where that cannot be done.
    """
    if (
        redraws.unit is not None
        or redraws.counts is None
        or redraws.values[-1] > WIDEST
    ):
        return None
    found = [
        _tail_chances(redraws, ahead, *centres.sum_edge(redraws, ahead))
        for ahead in redraws.counts
    ]
    parts = [part for part in found if part is not None]
    if len(parts) < len(found):
        return None
    # As many assignments have the one of two middle counts as the other.
    return Tails(*np.mean(parts, axis=0).tolist())


def _tail_chances(
    redraws: Redraws, ahead: int, low: int, high: int
) -> tuple[float, float] | None:
    """Return P(sum >= low) and P(sum <= high); high is low or low - 1."""
    levels, sizes = redraws.values, redraws.sizes
    top = int(levels[-1])
    turned = low * redraws.size <= ahead * redraws.everything
    if turned:
        found = _upper(top - levels[::-1], sizes[::-1], ahead, ahead * top - high)
    else:
        found = _upper(levels, sizes, ahead, low)
    if found is None:
        return None
    reached, passed = (min(max(chance, 0.0), 1.0) for chance in found)
    other = 1 - (passed if low == high else reached)
    return (other, reached) if turned else (reached, other)


def _upper(
    values: Counts, sizes: Counts, ahead: int, edge: int
) -> tuple[float, float] | None:
    """Return P(sum >= edge) and P(sum > edge), for an edge of at least the mean."""
    from scipy.special import expit  # noqa: PLC0415 - slow to load

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
    if law is None:
        return None
    share = ahead / size
    none = _point(np.array([float(size)]), np.array([share]))
    # Minus the entropy of the tilted law relative to that of the design.
    moved = shares - share
    rate = sizes @ (
        shares * np.log1p(moved / share) + (1 - shares) * np.log1p(-moved / (1 - share))
    )
    scale = math.exp(-rate) / none
    return scale * law[0], scale * (law[0] - law[1])


def _log_ways(sizes: Counts | int, taken: Counts | int) -> Floats:
    from scipy.special import betaln  # noqa: PLC0415 - slow to load

    left = np.subtract(sizes, taken)
    return np.asarray(-np.log1p(sizes) - betaln(left + 1.0, np.add(taken, 1.0)))


def _tilted_odds(
    values: Counts, sizes: Counts, ahead: int, edge: int
) -> tuple[float, float] | None:
    """Return a and b with odds exp(a + b value) of which ahead and edge are the means.

    Newton's method for a convex function, in steps that change no odds much.
    """
    from scipy.special import expit, logit  # noqa: PLC0415 - slow to load

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
    from scipy.fft import next_fast_len  # noqa: PLC0415 - slow to load

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
