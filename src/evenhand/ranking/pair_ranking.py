"""A ranking from counts of pairs, by the methods that need no more."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from evenhand.calibration.means import order_of_means
from evenhand.calibration.pair_models import (
    MOST_ITEMS,
    additive_of_pairs,
    bradley_terry_of_pairs,
    drawn_of_pairs,
    ordered_groups,
)
from evenhand.claims import Notice, certify
from evenhand.errors import OptionError, require_whole
from evenhand.randomness import stream
from evenhand.ranking.methods import (
    Additive,
    BradleyTerry,
    Mean,
    by_estimates,
    equal_runs,
)
from evenhand.ranking.notices import by_lot, separate_groups
from evenhand.ranking.results import RankedItem, Ranking, topped
from evenhand.ranking.uncertainty import (
    JOINT_ITEMS,
    from_fit,
    from_values,
    shrunk_means,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.arrays import Codes, Scores
    from evenhand.calibration.results import Fit
    from evenhand.engines.pairs import PairCounts
    from evenhand.ranking.methods import RankMethod
    from evenhand.ranking.uncertainty import RankUncertainty

APART = (
    "There are no intervals of ranks: no reviewer links some groups of items, and "
    "counts of pairs do not say how their errors go together. Take the ratings "
    "themselves."
)
LARGE = (
    "There are no intervals of ranks: counts of pairs of more than "
    f"{MOST_ITEMS:,} items do not say how sure means are. Take the ratings themselves."
)
INDEPENDENT = (
    "Intervals of ranks take the errors of different items for independent, as "
    "reviewers were not seen."
)


def rank_pairs(
    pairs: PairCounts, method: RankMethod, seed: int, top: int | None = None
) -> Ranking:
    """Order items by counts of pairs.

    Args:
        pairs: The counts.
        method: "bradley-terry", "additive" or "mean".
        seed: Where chance comes from.
        top: Number of items that matter, if there is one.

    Raises:
        OptionError: If the method needs every rating, or top is out of range.

    Examples:
        >>> import polars as pl
        >>> from evenhand.engines.pairs import count_pairs
        >>> rows = {"reviewer": [1, 1], "item": ["x", "y"], "score": [1, 2]}
        >>> rank_pairs(count_pairs(pl.LazyFrame(rows)), BradleyTerry(), 7).order
        ('y', 'x')
    """
    if top is not None:
        require_whole("top", top, 1, pairs.n_items, "the number of items")
    if isinstance(method, Mean):
        order, told, model = _by_means(pairs, seed)
        fit = None
    else:
        fit = _fitted(pairs, method)
        order = by_estimates(fit.estimates, seed)
        told = (*fit.notices, *_lots("estimates", fit.estimates, order, pairs))
        model = fit
    sure, more = (None, ()) if model is None else _sure(pairs, model, order, seed)
    notices = (*pairs.notices, *told, *more)
    ranked = Ranking(
        order=tuple(pairs.item_labels[code] for code in order.tolist()),
        items=tuple(_rows(pairs, order, fit, sure)),
        draws=(),
        method=method.called,
        parameters={**method.parameters(), "design": None, "distinct": False},
        seed=seed,
        data=pairs.summary(),
        notices=notices,
        certificate=certify(method.best),
        uncertainty=sure,
    )
    return ranked if top is None else topped(ranked, top)


def _fitted(pairs: PairCounts, method: RankMethod) -> Fit:
    if isinstance(method, BradleyTerry):
        return bradley_terry_of_pairs(pairs)
    if isinstance(method, Additive):
        return additive_of_pairs(pairs)
    raise OptionError(
        "method must be 'bradley-terry', 'additive' or 'mean' for counts of pairs, got "
        f"{method.called!r}, which needs every rating. Take the ratings themselves."
    )


def _sure(
    pairs: PairCounts, fit: Fit, order: Codes, seed: int
) -> tuple[RankUncertainty | None, tuple[Notice, ...]]:
    """Return how sure places are, and what to say of it.

    Where sums of the scores say how errors go together, it is as from the ratings.
    """
    scores = fit.method in ("additive", "mean")
    if scores and pairs.n_items <= JOINT_ITEMS:
        draw = partial(drawn_of_pairs, pairs, fit, seed=seed)
        return from_values(draw, seed, order=order), ()
    if fit.groups.max() > 0:
        return None, (Notice("no_intervals", APART),)
    errors = fit.errors
    if fit.method == "mean":
        fit, errors = shrunk_means(fit, pairs.reviews, fit.variances)
    sure = from_fit(fit, seed, order=order, errors=errors)
    return sure, (Notice("independent_errors", INDEPENDENT),)


def _by_means(
    pairs: PairCounts, seed: int
) -> tuple[Codes, tuple[Notice, ...], Fit | None]:
    means = pairs.centre + pairs.totals / pairs.reviews
    found = order_of_means(tuple(means.tolist()), stream(seed, "mean"))
    order = np.array(found.order, dtype=np.int64)
    groups = int(ordered_groups(pairs).max()) + 1
    told = (*separate_groups(groups), *_lots("means", means, order, pairs))
    if pairs.n_items > MOST_ITEMS:
        return order, (*told, Notice("no_intervals", LARGE)), None
    fit = additive_of_pairs(pairs)
    return order, told, replace(fit, method="mean", estimates=means)


def _lots(
    what: str, values: Scores, order: Codes, pairs: PairCounts
) -> tuple[Notice, ...]:
    ties = equal_runs(values[order], order)
    if not ties:
        return ()
    return (Notice(f"tied_{what}", by_lot(what, ties, pairs.item_labels)),)


def _rows(
    pairs: PairCounts, order: Codes, fit: Fit | None, sure: RankUncertainty | None
) -> Iterator[RankedItem]:
    for place, code in enumerate(order.tolist(), start=1):
        number, total = int(pairs.reviews[code]), float(pairs.totals[code])
        away = max(float(pairs.squares[code]) - total**2 / number, 0.0)
        row = RankedItem(
            item=pairs.item_labels[code],
            rank=place,
            bucket=None,
            mean_rank=None,
            reviews=number,
            rank_low=None,
            rank_high=None,
            p_top=None,
            mean_score=pairs.centre + total / number,
            spread=math.sqrt(away / (number - 1)) if number > 1 else None,
        )
        if fit is not None and fit.errors is not None:
            row = row._replace(error=float(fit.errors[code]))
        if fit is not None:
            row = row._replace(estimate=float(fit.estimates[code]))
        if sure is not None:
            low, high = int(sure.rank_low[code]), int(sure.rank_high[code])
            bucket = sure.buckets[place - 1]
            row = row._replace(rank_low=low, rank_high=high, bucket=bucket)
        yield row
