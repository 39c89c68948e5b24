"""Where an item would stand without one of its reviews.

Small data are ranked again without each review. Of larger ones `adaptive`, `additive`
and `bradley-terry` take the review out of the fitted equations, with everything that
all ratings decide together held. Other methods, and those that draw at random, say why
they have none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from evenhand.arrays import Table
from evenhand.calibration.adaptive import adaptive_without_each
from evenhand.calibration.additive import additive_without_each
from evenhand.calibration.bradley_terry import orders_without_each
from evenhand.calibration.results import settled
from evenhand.ranking.methods import Mean, Model, Task, by_estimates
from evenhand.ratings import Ratings

if TYPE_CHECKING:
    from evenhand.ranking.methods import RankMethod

AGAIN = "The ranking was made again without each review."
HELD = (
    "Each review was taken out of the fitted model, with everything else in the model "
    "held: how much reviewers and items differ, and where each score stands among all."
)
STEP = (
    "Each review was taken out of the fitted values by one step, which may be off by a "
    "rank or two."
)
RANDOM = (
    "Method {!r} decides by comparisons or at random, so one review's part in a rank "
    "is not worked out."
)
LONG = (
    "Where items would stand without single reviews is not worked out: that takes too "
    "long by method {!r} for so many ratings."
)
# Ratings up to which ranking again for each of them takes a second or so, by method.
AGAIN_RATINGS = {"borda": 500, "centred": 1500, "mean": 1500, "z": 1000}
SLOW_RATINGS = 60
# Ratings times items, and reviewers or items, whichever are fewer, that fit.
HELD_CELLS, HELD_LEVELS = 6_000_000, 1000


Known = Mapping[str, tuple[Callable[[Ratings], Table], str]]
HELD_BY: Known = {
    "adaptive": (adaptive_without_each, HELD),
    "additive": (additive_without_each, HELD),
    "bradley-terry": (orders_without_each, STEP),
}


def how_left_out(ratings: Ratings, method: RankMethod) -> str:
    """Say how ranks without a review are found, or why they are not.

    Examples:
        >>> from evenhand.ranking.methods import Flips
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [3, 2])
        >>> how_left_out(ratings, Mean())
        'The ranking was made again without each review.'
        >>> how_left_out(ratings, Flips())[:45]
        "Method 'flips' decides by comparisons or at r"
    """
    if not isinstance(method, Mean | Model) or ratings.kind == "comparisons":
        return RANDOM.format(method.called)
    if ratings.n_ratings <= AGAIN_RATINGS.get(method.name, SLOW_RATINGS):
        return AGAIN
    if str(method) in HELD_BY and _fits(ratings):
        return HELD_BY[str(method)][1]
    return LONG.format(method.called)


def leave_one_out(
    ratings: Ratings, method: RankMethod, seed: int
) -> tuple[int | None, ...]:
    """Find the rank of each item without each of its ratings.

    Args:
        ratings: Scores or ranks.
        method: How they were ranked.
        seed: With which seed, for items that are equal.

    Returns:
        For each rating, in the order of the ratings, the rank that its item would have
        without it; None if it is the item's only one, and for all if ranks are not
        worked out, see `how_left_out`.

    Examples:
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y"] * 2, [3, 2.2, 1, 2.5])
        >>> leave_one_out(ratings, Mean(), 7)
        (2, 1, 1, 1)
    """
    how = how_left_out(ratings, method)
    counts = np.bincount(ratings.item_codes, minlength=ratings.n_items)
    several = counts[ratings.item_codes] > 1
    found: list[int | None] = [None] * ratings.n_ratings
    if how not in (AGAIN, HELD, STEP):
        return tuple(found)
    held = None if how == AGAIN else HELD_BY[str(method)][0](ratings)
    for row in np.flatnonzero(several).tolist():
        if held is None:
            task = Task(ratings.without(row), seed, intervals=False)
            order = method.answer(task).order
        else:
            order = by_estimates(settled(held[row]), seed)
        found[row] = int(np.flatnonzero(order == ratings.item_codes[row])[0]) + 1
    return tuple(found)


def _fits(ratings: Ratings) -> bool:
    least = min(ratings.n_reviewers, ratings.n_items)
    cells = ratings.n_ratings * ratings.n_items
    return least <= HELD_LEVELS and cells <= HELD_CELLS
