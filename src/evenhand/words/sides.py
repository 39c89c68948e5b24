"""The picture of a comparison: two sets of scores side by side, and their difference.

Places are in per cent of an axis, as in `rows`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.words.rows import one_precision
from evenhand.words.tables import used

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.ab.comparison import Comparison
    from evenhand.claims import Label
    from evenhand.ratings import Ratings

# Steps between ticks that are easy to read, times a power of ten.
STEPS, TICKS = (1.0, 2.0, 2.5, 5.0, 10.0), 5
# Free space at either end of an axis, as a share of it.
MARGIN = 0.06
# Dots of one item; the golden section spreads them across, whatever their number.
DOTS, GOLDEN = 240, 0.6180339887498949


class Axis(NamedTuple):
    """A stretch of numbers.

    Attributes:
        low: Its lower end, in its unit.
        high: Its upper end.
        unit: Largest number on it, so that nothing leaves the floats.
        ticks: Places and what is written there.
    """

    low: float
    high: float
    unit: float
    ticks: tuple[tuple[float, str], ...] = ()

    def place(self, value: float) -> float:
        """Return where a number stands, in per cent."""
        share = (value / self.unit - self.low) / (self.high - self.low)
        return round(100 * share, 2)


def axis(values: Iterable[float], margin: float = MARGIN) -> Axis:
    """Span an axis over some numbers, with ticks at round ones.

    Examples:
        >>> found = axis([0, 10])
        >>> [text for _, text in found.ticks], found.place(5)
        (['0', '2', '4', '6', '8', '10'], 50.0)
    """
    known = [float(one) for one in values]
    unit = max(map(abs, known)) or 1.0
    low, high = min(known) / unit, max(known) / unit
    away = (high - low) * margin or 0.5
    found = Axis(low - away, high + away, unit)
    rough = (high - low) / TICKS or 0.5
    power = 10.0 ** math.floor(math.log10(rough * unit))
    step = power * next(one for one in STEPS if one * power >= rough * unit * 0.999)
    first = math.ceil(low * unit / step - 1e-9)
    last = math.floor(high * unit / step + 1e-9)
    steps = [number * step for number in range(first, last + 1)] or known[:1]
    texts = [f"{one:.10g}" for one in steps]
    whole = max((len(text.partition(".")[2]) for text in texts), default=0)
    if all("e" not in text for text in texts):
        texts = [f"{one + 0.0:.{whole}f}" for one in steps]
    places = (found.place(one) for one in steps)
    return found._replace(ticks=tuple(zip(places, texts, strict=True)))


class Level(NamedTuple):
    """One score, and the share of each item's scores that it has.

    Attributes:
        score: As text.
        told: Both shares in whole per cent, as text.
        heights: Both shares in per cent of the largest.
    """

    score: str
    told: tuple[str, str]
    heights: tuple[float, float]


def share_levels(result: Comparison) -> tuple[Level, ...]:
    """Return the share of each score; nothing if there are too many different ones.

    Examples:
        >>> from evenhand import compare
        >>> [one.told for one in share_levels(compare([3, 4, 4, 4], [3, 3, 4], rng=7))]
        [('25', '67'), ('75', '33')]
    """
    scores = result.scores
    if scores is None or scores.levels is None or scores.shares is None:
        return ()
    if min(scores.n) <= len(scores.levels):
        return ()
    most = max(map(max, scores.shares))
    return tuple(
        Level(
            f"{level:g}",
            (f"{100 * one:.0f}", f"{100 * other:.0f}"),
            (round(100 * one / most, 1), round(100 * other / most, 1)),
        )
        for level, one, other in zip(scores.levels, *scores.shares, strict=True)
    )


class Strip(NamedTuple):
    """The scores of one item as dots.

    Attributes:
        dots: Places along and across the strip, in per cent.
        mean: Place of the mean.
        each: How many scores a dot stands for, about.
    """

    dots: tuple[tuple[float, float], ...]
    mean: float
    each: int


def score_strips(
    ratings: Ratings, result: Comparison
) -> tuple[Axis, tuple[Strip, ...]] | None:
    """Place the scores of both items on one axis; None without scores of both.

    Examples:
        >>> from evenhand import Ratings, compare
        >>> ratings = Ratings(["a", "b", "c"], ["x", "y", "y"], [3, 8, 4])
        >>> found = score_strips(ratings, compare(ratings, rng=7))
        >>> [len(strip.dots) for strip in found[1]]
        [1, 2]
    """
    ratings = ratings.public
    sides = used(ratings, result)
    if ratings.kind != "scores" or min(map(len, sides)) == 0:
        return None
    given = [np.sort(ratings.scores[rows]) for rows in sides]
    shared = axis(np.concatenate(given).tolist())
    strips = []
    for scores in given:
        each = -(-len(scores) // DOTS)
        # Evenly spaced in the order of the scores, so that shares stay as they are.
        shown = scores[each // 2 :: each].tolist()
        across = [round(10 + 80 * (place * GOLDEN % 1)) for place in range(len(shown))]
        # Shares, so that large scores do not leave the floats.
        mean = float((scores / len(scores)).sum())
        dots = zip(map(shared.place, shown), across, strict=True)
        strips.append(Strip(tuple(dots), shared.place(mean), each))
    return shared, tuple(strips)


class Gap(NamedTuple):
    """The difference of means on a line.

    Attributes:
        axis: The line.
        zero: Where no difference is.
        dot: Where the difference is.
        low: Where its interval begins; None without one.
        high: Where it ends.
        loser: The item that did not come out.
        text: The difference and its interval in numbers.
    """

    axis: Axis
    zero: float
    dot: float
    low: float | None
    high: float | None
    loser: Label
    text: tuple[str, ...]


def gap(result: Comparison) -> Gap | None:
    """Place the difference of means, the item that came out less the other.

    Examples:
        >>> from evenhand import compare
        >>> found = gap(compare([3, 4, 5, 6], [1, 2, 2, 3], design="halves", rng=7))
        >>> found.text, found.zero < found.dot
        (('2.50', '0.00', '5.00'), True)
    """
    found = result.difference
    if found is None:
        return None
    way = 1 if result.winner == result.items[0] else -1
    ends = [way * one for one in (found.low, found.high) if one is not None]
    numbers = [way * found.estimate, *sorted(ends)]
    shared = axis([0.0, *numbers])
    low, high = map(shared.place, sorted(ends)) if ends else (None, None)
    return Gap(
        shared,
        shared.place(0.0),
        shared.place(numbers[0]),
        low,
        high,
        result.items[way > 0],
        tuple(one_precision(numbers)),
    )
