"""The plain mean of scores, as most people do.

It takes every reviewer's scale for the same one. It is here to be compared with.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from evenhand.calibration.design import precisions
from evenhand.errors import RatingsError, listing
from evenhand.randomness import Stream, permutation

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from evenhand.ratings import Ratings


@dataclass(frozen=True, slots=True)
class MeanOrder:
    """Items by mean score.

    Attributes:
        order: Item codes, highest mean first.
        means: Mean score of each item, by item code.
        ties: Groups of items with equal means, each in the order it was given by lot.
    """

    order: tuple[int, ...]
    means: tuple[float, ...]
    ties: tuple[tuple[int, ...], ...]


def mean(scores: Sequence[float]) -> float:
    """Return the mean, whatever the order of the scores.

    Args:
        scores: At least one finite score.

    Returns:
        The exact sum, rounded once, over the number of scores.

    Examples:
        >>> mean([0.1, 0.2, 0.3]) == mean([0.3, 0.2, 0.1])
        True
    """
    try:
        return math.fsum(scores) / len(scores)
    except OverflowError:
        return float(sum(map(Fraction, scores)) / len(scores))


def spread(scores: Sequence[float]) -> float | None:
    """Return the sample standard deviation, whatever the order of the scores.

    Args:
        scores: Finite scores.

    Returns:
        The deviation; None for fewer than two scores, or if it is beyond any float.

    Examples:
        >>> spread([1.0, 2.0, 3.0]), spread([4.0])
        (1.0, None)
    """
    if len(scores) == 1 or not scores:
        return None
    centre = mean(scores)
    away = [abs(score - centre) for score in scores]
    # Squares are taken of shares, as those of large scores would overflow.
    largest = max(away) or 1.0
    squares = math.fsum((distance / largest) ** 2 for distance in away)
    result = largest * math.sqrt(squares / (len(scores) - 1))
    return result if math.isfinite(result) else None


def mean_order(
    ratings: Ratings, source: Stream, *, scores: NDArray[np.float64] | None = None
) -> MeanOrder:
    """Order items by mean score; equal means by lot.

    Args:
        ratings: Scores, at least one for each item.
        source: Where the lots come from.
        scores: Other scores to take in place of theirs, one for each rating.

    Returns:
        The order, the means and the ties.

    Raises:
        RatingsError: If there are no scores, or an item has none.

    Examples:
        >>> from evenhand.randomness import stream
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "b", "a"], ["x", "x", "y"], [1, 4, 3])
        >>> mean_order(ratings, stream(7, "lots"))
        MeanOrder(order=(1, 0), means=(2.5, 3.0), ties=())
    """
    starts, rows = ratings.by_item()
    given = (ratings.scores if scores is None else scores)[rows].tolist()
    bounds = list(itertools.pairwise(starts.tolist()))
    bare = [
        label
        for label, (first, last) in zip(ratings.item_labels, bounds, strict=True)
        if first == last
    ]
    if bare:
        raise RatingsError(
            f"items must have at least one score each to be ordered by mean, got none "
            f"for {listing(bare)}. Leave them out, or choose another method."
        )
    weights = precisions(ratings)
    if weights is None:
        means = tuple(mean(given[first:last]) for first, last in bounds)
    else:
        heavy = (weights[rows] * given).tolist(), weights[rows].tolist()
        means = tuple(
            mean(heavy[0][first:last]) / mean(heavy[1][first:last])
            for first, last in bounds
        )
    return order_of_means(means, source)


def order_of_means(means: tuple[float, ...], source: Stream) -> MeanOrder:
    """Order items by their means; equal ones by lot.

    Examples:
        >>> from evenhand.randomness import stream
        >>> order_of_means((2.5, 3.0), stream(7, "lots")).order
        (1, 0)
    """
    lots = permutation(source, len(means)).tolist()
    order = tuple(
        sorted(range(len(means)), key=lambda item: (-means[item], lots[item]))
    )
    groups = (tuple(group) for _, group in itertools.groupby(order, means.__getitem__))
    return MeanOrder(order, means, tuple(group for group in groups if len(group) > 1))
