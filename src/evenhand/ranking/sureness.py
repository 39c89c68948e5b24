"""How sure the places of a ranking are, by whatever its method knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.calibration.bradley_terry import bradley_terry
from evenhand.calibration.results import Fit
from evenhand.posets.averages import averages
from evenhand.ranking.uncertainty import (
    RankUncertainty,
    from_bounds,
    from_model,
    from_orderings,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.ranking.answers import Answer, Task
    from evenhand.ratings import Ratings

# Up to so many items all orderings are weighed in well under a second.
WEIGHED_ITEMS = 100
# Up to so many, what the comparisons allow is worked out.
BOUNDED_ITEMS = 5000


def sureness(method: str, task: Task, found: Answer) -> RankUncertainty | None:
    """Return how sure the places are, None for very many items by comparisons.

    Examples:
        >>> from evenhand.posets.comparisons import comparisons
        >>> from evenhand.ranking.answers import Task, from_start
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> task = Task(ratings, comparisons(ratings), 7)
        >>> sureness("topological", task, from_start(task, "topological")).source
        'posterior over orderings'
    """
    if found.fit is not None:
        return found.uncertainty
    if method == "mean":
        fit = Fit(
            "mean", _means(task.ratings), np.zeros(task.ratings.n_items, np.int64)
        )
        return from_model(task.ratings, fit, _means, task.seed, order=found.order)
    if found.split:
        fit = bradley_terry(task.ratings)
        return from_model(task.ratings, fit, _means, task.seed, order=found.order)
    if found.mean_ranks is None and task.graph.n_items > WEIGHED_ITEMS:
        few = task.graph.n_items <= BOUNDED_ITEMS
        return from_bounds(found.order, task.graph) if few else None
    known = (
        averages(task.graph, pairs=False, rng=task.seed)
        if found.mean_ranks is None
        else found.mean_ranks.averages
    )
    return from_orderings(found.order, task.graph, known)


def _means(ratings: Ratings) -> NDArray[np.float64]:
    counts = np.bincount(ratings.item_codes, minlength=ratings.n_items)
    sums = np.bincount(ratings.item_codes, ratings.scores, ratings.n_items)
    return np.asarray(sums / np.maximum(counts, 1))
