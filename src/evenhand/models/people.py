"""What people would say of items that only judges saw, from marks that people gave.

Two questions have two answers. The mark of one item comes from a regression of people's
marks on the judges' value; its interval needs the labelled items to be like the others.
The mean mark of a group of items comes from the difference estimator: with x the
judges' value of each of N items, y people's marks of n of them, drawn at random,

    mean(y) + b (mean of all x - mean of labelled x),

is the mean of people's marks of all N but for chance, whatever x is, as the draw knows
nothing of it. Its variance is (1 - n / N) var(y - b x) / n, where b is the slope within
groups, which makes that least.

References:
    Cochran (1977), Sampling Techniques, chapter 7.
    Angelopoulos, Duchi and Zrnic (2023), PPI++: efficient prediction-powered inference.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import fdtrc, ndtri, stdtrit

from evenhand.claims import CONFIDENCE
from evenhand.errors import OptionError

if TYPE_CHECKING:
    from evenhand.arrays import Codes, Scores, Table
    from evenhand.claims import Json, Label

# Fewest marks for a line with an error, and fewest labels of a group for its mean.
FEWEST, FEWEST_LABELS = 5, 3
# The line must rise at this level, one-sided.
RISING = 0.1
# Judges are trusted alone if errors do not differ between groups at this level, and
# beside people if they make intervals this much shorter.
ALIKE, SHORTER = 0.1, 0.95
# Probability with which further labels are to separate two groups.
POWER = 0.8
TAIL = round((1 - CONFIDENCE) / 2, 12)


class Line(NamedTuple):
    """A regression of people's marks on judges' values.

    Attributes:
        level: Mark at the mean value of the labelled items.
        slope: Marks for a unit of value.
        centre: Mean value of the labelled items.
        square: Variance of marks about the line.
        freedom: Its degrees of freedom.
        number: Labelled items.
        width: Sum of squares of their values about the mean.
        correlation: Of marks and values.
    """

    level: float
    slope: float
    centre: float
    square: float
    freedom: int
    number: int
    width: float
    correlation: float

    def predict(self, values: Scores) -> tuple[Scores, Scores]:
        """Return marks at values, and squared errors of the line there."""
        away = values - self.centre
        squares = self.square * (1 / self.number + away**2 / self.width)
        return self.level + self.slope * away, squares


def fit_line(values: Scores, marks: Scores, *, needed: bool = True) -> Line:
    """Regress marks on values.

    Args:
        values: What judges say of labelled items.
        marks: What people say of them.
        needed: Whether values without a relation are refused; otherwise they are not
            used, and the slope is 0.

    Raises:
        OptionError: If they are fewer than five, or have no relation to the values.

    Examples:
        >>> line = fit_line(np.array([1.0, 2, 3, 4, 5]), np.array([2.0, 4, 5, 8, 10]))
        >>> round(line.slope, 3), round(line.square, 3)
        (2.0, 0.267)
    """
    number = len(marks)
    if number < FEWEST:
        raise OptionError(
            f"anchors must be at least {FEWEST} to predict other marks from, got "
            f"{number}. Mark more items; or if these marks are exact, say --link line "
            "(link='line'), which takes level and spread from them."
        )
    away, up = values - values.mean(), marks - marks.mean()
    width, product = float(away @ away), float(away @ up)
    slope = product / width if width > 0 else 0.0
    square = max(float(up @ up) - slope * product, 0.0) / (number - 2)
    size = math.sqrt(width * float(up @ up))
    correlation = product / size if size > 0 else 0.0
    least = (
        stdtrit(number - 2, 1 - RISING) * math.sqrt(square / width) if width else 0.0
    )
    if not slope > least:
        if not needed:
            square = float(up @ up) / (number - 1)
            ends = float(marks.mean()), 0.0, float(values.mean()), square, number - 1
            return Line(*ends, number, max(width, 1.0), correlation)
        raise OptionError(
            "anchors must be higher where judges gave more, but the marks of these "
            f"{number} items have no clear relation to what judges say (correlation "
            f"{correlation:.2f}). Take the people's marks alone, or mark more items."
        )
    return Line(
        float(marks.mean()),
        slope,
        float(values.mean()),
        square,
        number - 2,
        number,
        width,
        correlation,
    )


class Estimate(NamedTuple):
    """A mean with its 95% interval.

    Attributes:
        mean: The estimate.
        low: Lower end.
        high: Upper end.
    """

    mean: float
    low: float
    high: float


class GroupMean(NamedTuple):
    """The mean mark that people would give a group of items, three ways.

    Attributes:
        group: Which.
        items: Its items.
        labels: Those that people marked.
        difference: By judges and people: the difference estimator.
        people: By the labels alone.
        judges: By the judges alone, as if they erred alike for all groups.
    """

    group: Label
    items: int
    labels: int
    difference: Estimate
    people: Estimate
    judges: Estimate


class GroupMeans(NamedTuple):
    """Means of all groups, highest first, and which way the labels support.

    Attributes:
        rows: The groups.
        sample: How labelled items were chosen: "drawn", by a record that was given, or
            "declared".
        slope: Weight of the judges' values.
        p_value: That judges' errors differ this much between groups by chance.
        supported: "judges", "difference" or "people".
        pair: The best two neighbours whose means are not apart at 95%, or None.
        further: Labels more for each of the two that would set them apart with a
            probability of 80%, if they differ as much as it seems; None if no number
            does.
    """

    rows: tuple[GroupMean, ...]
    sample: str
    slope: float
    p_value: float
    supported: str
    pair: tuple[Label, Label] | None
    further: int | None

    def to_dict(self) -> dict[str, Json]:
        """Return plain values, as in the JSON."""
        names = ("difference", "people", "judges")
        rows = [
            row._asdict() | {name: getattr(row, name)._asdict() for name in names}
            for row in self.rows
        ]
        return {**self._asdict(), "rows": rows}


def group_means(
    values: Scores, codes: Codes, marks: Scores, groups: Codes, names: list[Label]
) -> GroupMeans:
    """Estimate the mean mark of each group of items.

    Args:
        values: What judges say of each item.
        codes: Items that people marked, drawn at random.
        marks: Their marks.
        groups: Group of each item.
        names: Names of the groups.

    Raises:
        OptionError: If a group has too few labels.

    Examples:
        >>> values, groups = np.arange(20.0) % 10, np.arange(20) // 10
        >>> codes = np.array([0, 3, 5, 8, 9, 11, 14, 16, 17, 19])
        >>> marks = values[codes] + groups[codes] + np.arange(10) % 3
        >>> means = group_means(values, codes, marks, groups, ["a", "b"])
        >>> [(row.group, round(row.difference.mean, 1)) for row in means.rows]
        [('b', 6.5), ('a', 5.3)]
    """
    size, own = len(names), groups[codes]
    number, every = np.bincount(own, minlength=size), np.bincount(groups)
    if number.min() < FEWEST_LABELS:
        short = int(number.argmin())
        raise OptionError(
            f"anchors must mark at least {FEWEST_LABELS} items of each group, got "
            f"{number[short]} of {names[short]!r}. Have people mark more of it "
            "(evenhand assign --sample draws them), or leave out means= or --means."
        )
    labelled = values[codes]

    def average(numbers: Scores) -> Scores:
        return np.asarray(np.bincount(own, numbers, size) / number)

    x_mean, y_mean = average(labelled), average(marks)
    away, up = labelled - x_mean[own], marks - y_mean[own]
    width = float(away @ away)
    slope = float(away @ up) / width if width > 0 else 0.0
    whole = np.bincount(groups, values, size) / every
    unmarked = 1 - number / every

    def variances(errors: Scores, spent: int) -> Scores:
        inside = int(number.sum()) - size
        squares = np.bincount(own, errors**2, size) / (number - 1)
        return np.asarray(unmarked * squares / number * inside / max(inside - spent, 1))

    means = y_mean + slope * (whole - x_mean)
    squares = variances(up - slope * away, 1)
    reach = stdtrit(number - 1.0, 1 - TAIL)
    people = _ends(y_mean, reach * np.sqrt(variances(up, 0)))
    corrected = _ends(means, reach * np.sqrt(squares))
    alone, p_value = _judges_alone(labelled, marks, whole, every, up - slope * away)
    shorter = np.median(
        (corrected[2] - corrected[1]) / np.maximum(people[2] - people[1], 1e-300)
    )
    supported = "difference" if shorter < SHORTER else "people"
    order = np.argsort(-means, kind="stable").tolist()
    pair, further = _budget(order, means, squares, number, every)
    rows = (
        GroupMean(
            names[at],
            int(every[at]),
            int(number[at]),
            *(Estimate(*table[:, at].tolist()) for table in (corrected, people, alone)),
        )
        for at in order
    )
    return GroupMeans(
        tuple(rows),
        "declared",
        slope,
        p_value,
        "judges" if p_value > ALIKE and shorter < SHORTER else supported,
        pair and (names[pair[0]], names[pair[1]]),
        further,
    )


def _ends(means: Scores, reach: Scores) -> Table:
    return np.stack([means, means - reach, means + reach])


def _judges_alone(
    labelled: Scores, marks: Scores, whole: Scores, every: Codes, errors: Scores
) -> tuple[Table, float]:
    """Return means by one line for all groups, and whether one does (covariance F)."""
    away, up = labelled - labelled.mean(), marks - marks.mean()
    width = float(away @ away)
    slope = float(away @ up) / width if width > 0 else 0.0
    number, groups = len(marks), len(whole)
    residual = float(((up - slope * away) ** 2).sum())
    square = residual / max(number - 2, 1)
    gap = whole - labelled.mean()
    spread = square * (1 / number + gap**2 / max(width, 1e-300) + 1 / every)
    reach = stdtrit(max(number - 2, 1), 1 - TAIL) * np.sqrt(spread)
    inside, freedom = float(errors @ errors), number - groups - 1
    p_value = 1.0
    if groups > 1 and freedom > 0 and inside > 0:
        ratio = max(residual - inside, 0.0) / (groups - 1) / (inside / freedom)
        p_value = float(fdtrc(groups - 1, freedom, ratio))
    return _ends(marks.mean() + slope * gap, reach), p_value


def _budget(
    order: list[int], means: Scores, squares: Scores, number: Codes, every: Codes
) -> tuple[tuple[int, int] | None, int | None]:
    """Find the first two neighbours that are not apart, and what would part them."""
    one_label = squares * number / np.maximum(1 - number / every, 1e-300)
    for pair in itertools.pairwise(order):
        two = list(pair)
        gap = float(means[two[0]] - means[two[1]])
        sure = float(stdtrit(number[two].min() - 1.0, 1 - TAIL))
        if gap > sure * math.sqrt(squares[two].sum()):
            continue
        wanted = (gap / (ndtri(1 - TAIL) + ndtri(POWER))) ** 2
        for more in range(1, int((every - number)[two].max()) + 1):
            labels = np.minimum(number[two] + more, every[two])
            if (one_label[two] * (1 / labels - 1 / every[two])).sum() <= wanted:
                return pair, more
        return pair, None
    return None, None
