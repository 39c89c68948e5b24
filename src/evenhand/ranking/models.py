"""Rankings by what people use instead: items sorted by a model's estimates."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from evenhand._randomness import permutation, stream
from evenhand._results import Json, Notice
from evenhand.calibration.adaptive import rho_sentence
from evenhand.calibration.additive import additive
from evenhand.calibration.models import MODELS
from evenhand.ranking.answers import Answer, Options, Task
from evenhand.ranking.mean_rank import by_lot
from evenhand.ranking.uncertainty import RankUncertainty, from_bootstrap, from_model

# A scale for each reviewer takes a hundred times as long to fit as an offset.
SLOW_DRAWS = 20
REFITTED_RATINGS = 2000

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.calibration.results import Fit
    from evenhand.ranking.uncertainty import Refit
    from evenhand.ratings import Ratings


def by_model(name: str, task: Task, options: Options) -> Answer:
    """Sort items by the estimates of a model, equal ones by lot.

    Args:
        name: Name of the model.
        task: What is to be ranked.
        options: What it was told.

    Returns:
        The answer, with intervals of ranks.

    Raises:
        RatingsError: If the model needs scores and there are none.

    Examples:
        >>> from evenhand.ab.weights import rational
        >>> from evenhand.posets.comparisons import comparisons
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 8, 2])
        >>> task = Task(ratings, comparisons(ratings), 7)
        >>> by_model("borda", task, Options(rational())).order.tolist()
        [0, 1, 2]
    """
    model = MODELS[name]
    parameters: dict[str, Json] = {}
    if name == "additive":
        model = functools.partial(additive, shrink=options.shrink)
        parameters["shrink"] = options.shrink

    def values(ratings: Ratings) -> NDArray[np.float64]:
        return model(ratings).estimates

    fit = model(task.ratings)
    order = by_estimates(fit.estimates, task.seed)
    ties = _ties(fit.estimates[order], order)
    sure, told = _sureness(name, task, fit, values, order)
    return Answer(
        order,
        parameters,
        notices=(*_told(fit, task.ratings), *_lots(ties, task.ratings), *told),
        fit=fit,
        uncertainty=sure,
    )


def _sureness(
    name: str, task: Task, fit: Fit, values: Refit, order: NDArray[np.int64]
) -> tuple[RankUncertainty | None, tuple[Notice, ...]]:
    if name != "isotonic":
        return from_model(task.ratings, fit, values, task.seed, order=order), ()
    if task.ratings.n_ratings <= REFITTED_RATINGS:
        return (
            from_bootstrap(
                task.ratings, values, task.seed, order=order, draws=SLOW_DRAWS
            ),
            (),
        )
    text = (
        "There are no intervals of ranks: method 'isotonic' has no standard errors, "
        "and fitting so many ratings again and again takes too long."
    )
    return None, (Notice("no_intervals", text),)


def by_estimates(estimates: NDArray[np.float64], seed: int) -> NDArray[np.int64]:
    """Sort items by estimate, highest first, equal ones at random.

    Examples:
        >>> by_estimates(np.array([1.0, 3.0, 2.0]), 7).tolist()
        [1, 2, 0]
    """
    lot = permutation(stream(seed, "estimates"), len(estimates))
    return np.lexsort((lot, -estimates)).astype(np.int64)


def _ties(values: NDArray[np.float64], order: NDArray[np.int64]) -> list[list[int]]:
    begins = np.flatnonzero(np.append([True], values[1:] != values[:-1]))
    ends = np.append(begins[1:], len(order))
    long = ends - begins > 1
    runs = zip(begins[long].tolist(), ends[long].tolist(), strict=True)
    return [sorted(order[begin:end].tolist()) for begin, end in runs]


def _lots(ties: list[list[int]], ratings: Ratings) -> tuple[Notice, ...]:
    if not ties:
        return ()
    return (Notice("tied_estimates", by_lot("estimates", ties, ratings.item_labels)),)


def _told(fit: Fit, ratings: Ratings) -> tuple[Notice, ...]:
    if fit.rho is None or any(told.code == "orders_only" for told in fit.notices):
        return fit.notices
    scores = ratings.scores
    single = np.bincount(ratings.reviewer_codes).max() == 1
    if single or ratings.n_reviewers == 1 or scores.min() == scores.max():
        text = (
            "Reviewer offsets cannot be told from the rest here; scores are compared "
            "as if there were none."
        )
    else:
        text = rho_sentence(fit.rho)
    return (Notice("reviewer_offsets", text), *fit.notices)
