"""`rank`: order many items, by name of the method."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand._labels import shown
from evenhand._randomness import RNGLike, seed_from, stream
from evenhand._results import Json, Notice
from evenhand.ab.weights import GapWeight, as_weight
from evenhand.calibration.mean import mean, mean_order, spread
from evenhand.designs import RANKING_DESIGNS
from evenhand.errors import OptionError, RatingsError, listing, unknown
from evenhand.posets.comparisons import (
    Comparisons,
    comparisons,
    is_ordering,
    require_consistent,
)
from evenhand.posets.orderings import topological_order
from evenhand.posets.sampling import uniform_order
from evenhand.ranking.flips import SCANS, Coin, flip_neighbours, scan_from
from evenhand.ranking.mean_rank import MeanRankOrder, by_lot, mean_rank_order
from evenhand.ranking.notices import flip_notices, group_notices
from evenhand.ranking.results import Draw, RankedItem, Ranking
from evenhand.ranking.twins import BYS, PAIRS, By, settle_twins
from evenhand.ratings import Ratings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike, NDArray

    Codes = NDArray[np.int64]
    Start = str | Callable[[Comparisons, np.random.Generator], ArrayLike]
    Weight = GapWeight | Callable[[float], float] | str

__all__ = ["METHODS", "STARTS", "Draw", "RankedItem", "Ranking", "rank"]

METHODS: tuple[str, ...] = (
    "topological",
    "uniform",
    "mean-rank",
    "flips",
    "flips-uniform",
    "twins",
    "mean",
)
STARTS = ("topological", "uniform", "mean-rank")
USED_BY: Mapping[str, tuple[str, ...]] = {
    "start": ("flips", "twins"),
    "scan": ("flips-uniform",),
    "twins": ("twins",),
    "by": ("twins",),
    "weight": ("flips", "flips-uniform", "twins"),
}
CARDINAL = USED_BY["weight"]


def rank(
    ratings: Ratings,
    *,
    method: str = "flips",
    start: Start | None = None,
    scan: str | None = None,
    twins: str | None = None,
    by: str | None = None,
    weight: Weight | None = None,
    design: str | None = None,
    rng: RNGLike = None,
) -> Ranking:
    """Order items, from reviewers who each saw a few of them.

    Args:
        ratings: Who gave what to which item.
        method: "topological": the ordering that respects every comparison, smallest
            labels first. "uniform": any such ordering, all equally likely.
            "mean-rank": by rank averaged over all such orderings. "flips":
            an ordering whose free neighbours are settled by coins on their scores
            (Algorithm 1). "flips-uniform": the same from a uniform ordering
            (Appendix C). "twins": any ranking, with items that the comparisons cannot
            tell apart settled by coins (Algorithm 3). "mean": by plain mean score.
        start: For flips and twins, what they start from: "topological" (default),
            "uniform", "mean-rank", or a function that is given the comparisons and a
            Generator and returns item codes, best first. It never sees a score. For
            flips its ranking must respect every comparison.
        scan: For flips-uniform, "parity" (default), which holds for every set of
            comparisons, or "paper", which holds on average over random ones.
        twins: For twins, settle "all" disjoint pairs (default) or the first "one", as
            printed.
        by: For twins, by the "closure" of the comparisons (default) or by "direct"
            ones, as printed.
        weight: For flips, flips-uniform and twins, how a gap in scores weighs; see
            `evenhand.weights`. rational(1) by default.
        design: How items were assigned to reviewers, "pairs" or "balanced", as far as
            it was so; goes into the record.
        rng: Seed, generator or None.

    Returns:
        The ranking, with every coin that was flipped.

    Raises:
        RatingsError: If the method needs scores and there are none.
        ContradictionError: If the comparisons contradict each other; not for mean.
        OptionError: If a name is unknown, or the method does not use an option.

    References:
        Wang and Shah (2019), Section 3.3 and Appendices B and C.

    Examples:
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "y", "z"], [9, 7, 3, 2])
        >>> rank(ratings, method="topological").order
        ('x', 'y', 'z')
        >>> rank(ratings, rng=7).draws
        ()
    """
    given = {"start": start, "scan": scan, "twins": twins, "by": by, "weight": weight}
    _check(ratings, method, given, design)
    task = _Task(ratings, comparisons(ratings), seed_from(rng))
    if method == "mean":
        answer = _by_mean(task)
    else:
        require_consistent(ratings, task.graph, method=method)
        if method in STARTS:
            answer = _start(task, method)
        elif method == "flips":
            answer = _flips(task, start or "topological", as_weight(weight))
        elif method == "flips-uniform":
            answer = _flips_uniform(task, scan or "parity", as_weight(weight))
        else:
            options = (twins or "all", by or "closure")
            answer = _twins(task, start or "topological", options, as_weight(weight))
    return _ranking(task, method, answer, design)


@dataclass(frozen=True, slots=True)
class _Task:
    ratings: Ratings
    graph: Comparisons
    seed: int


@dataclass(frozen=True, slots=True)
class _Answer:
    order: Codes
    parameters: dict[str, Json]
    coins: tuple[Coin, ...] = ()
    notices: tuple[Notice, ...] = ()
    mean_ranks: MeanRankOrder | None = None


def _check(
    ratings: Ratings, method: str, given: Mapping[str, object], design: str | None
) -> None:
    if not isinstance(ratings, Ratings):
        raise RatingsError(f"ratings must be a Ratings, got {type(ratings).__name__}.")
    if method not in METHODS:
        raise OptionError(unknown("method", method, METHODS))
    for option, value in given.items():
        users = USED_BY[option]
        if value is not None and method not in users:
            raise OptionError(
                f"{option} is an option of {_series(users)}, not of {method}."
            )
    choices: dict[str, tuple[str, ...]] = {"scan": SCANS, "twins": PAIRS, "by": BYS}
    for option, known in choices.items():
        if given[option] is not None and given[option] not in known:
            raise OptionError(
                f"{option} must be one of {listing(known)}, got {shown(given[option])}."
            )
    start = given["start"]
    if not (start is None or callable(start) or start in STARTS):
        raise OptionError(unknown("start", start, STARTS))
    if design is not None and design not in RANKING_DESIGNS:
        raise OptionError(unknown("design", design, RANKING_DESIGNS))
    if method in CARDINAL:
        ratings.scores  # noqa: B018 - refuses ranks and comparisons in words


def _start(task: _Task, start: Start) -> _Answer:
    source = stream(task.seed, "start")
    if start == "topological":
        return _Answer(topological_order(task.graph), {})
    if start == "mean-rank":
        return _by_mean_rank(task)
    if isinstance(start, str):
        return _Answer(uniform_order(task.graph, source), {})
    answer = start(task.graph, np.random.Generator(source))
    try:
        order = np.asarray(answer)
    except ValueError:
        order = np.empty(0)
    whole = order.dtype.kind in "iu" and order.ndim == 1
    if not whole or not np.array_equal(np.sort(order), np.arange(task.graph.n_items)):
        raise OptionError(
            f"start must return the code of each of the {task.graph.n_items} items "
            f"once, best first, got {shown(answer)}."
        )
    return _Answer(order.astype(np.int64), {})


def _by_mean_rank(task: _Task) -> _Answer:
    found = mean_rank_order(task.graph, task.seed)
    return _Answer(
        found.order,
        {"samples": found.averages.samples},
        notices=found.notices(task.ratings.item_labels),
        mean_ranks=found,
    )


def _start_notices(begun: _Answer) -> tuple[Notice, ...]:
    """Keep what is still true after coins have settled what a lot ordered first."""
    return tuple(told for told in begun.notices if told.code != "tied_mean_ranks")


def _flips(task: _Task, start: Start, weight: GapWeight) -> _Answer:
    begun = _start(task, start)
    if not is_ordering(task.graph, begun.order):
        raise OptionError(
            "start must respect every comparison for method 'flips', got a ranking "
            "that does not. Method 'twins' takes any ranking."
        )
    after, coins = flip_neighbours(
        task.ratings, begun.order, weight, stream(task.seed, "flips")
    )
    parameters: dict[str, Json] = {"start": _name(start), **begun.parameters}
    parameters["weight"] = weight.to_dict()
    notices = _start_notices(begun) + flip_notices(task.ratings, coins, weight)
    return _Answer(after, parameters, coins, notices)


def _flips_uniform(task: _Task, scan: str, weight: GapWeight) -> _Answer:
    order = _start(task, "uniform").order
    after, coins = flip_neighbours(
        task.ratings,
        order,
        weight,
        stream(task.seed, "flips"),
        scan=scan_from(scan, stream(task.seed, "scan")),
    )
    parameters: dict[str, Json] = {"scan": scan, "weight": weight.to_dict()}
    return _Answer(after, parameters, coins, flip_notices(task.ratings, coins, weight))


def _twins(
    task: _Task, start: Start, options: tuple[str, str], weight: GapWeight
) -> _Answer:
    pairs = options[0]
    by: By = "direct" if options[1] == "direct" else "closure"
    begun = _start(task, start)
    after, coins = settle_twins(
        task.ratings,
        task.graph,
        begun.order,
        weight,
        stream(task.seed, "twins"),
        pairs=pairs,
        by=by,
    )
    parameters: dict[str, Json] = {
        "start": _name(start),
        **begun.parameters,
        "twins": pairs,
        "by": by,
        "weight": weight.to_dict(),
    }
    notices = _start_notices(begun) + flip_notices(task.ratings, coins, weight)
    return _Answer(after, parameters, coins, notices)


def _by_mean(task: _Task) -> _Answer:
    found = mean_order(task.ratings, stream(task.seed, "mean"))
    notices = []
    if found.ties:
        labels = task.ratings.item_labels
        notices.append(Notice("tied_means", by_lot("means", found.ties, labels)))
    order = np.array(found.order, dtype=np.int64)
    return _Answer(order, {}, notices=tuple(notices))


def _name(start: Start) -> str:
    if isinstance(start, str):
        return start
    return str(getattr(start, "__name__", type(start).__name__))


def _ranking(task: _Task, method: str, answer: _Answer, design: str | None) -> Ranking:
    ratings = task.ratings
    order = answer.order.tolist()
    rows = _item_rows(ratings)
    found = answer.mean_ranks
    ranks = None if found is None else found.averages.mean_rank.tolist()
    return Ranking(
        order=tuple(ratings.item_labels[item] for item in order),
        items=tuple(
            RankedItem(
                item=ratings.item_labels[item],
                rank=place,
                bucket=None if found is None else found.buckets[place - 1],
                mean_rank=None if ranks is None else ranks[item],
                reviews=rows[item][0],
                rank_low=None,
                rank_high=None,
                p_top=None,
                mean_score=rows[item][1],
                spread=rows[item][2],
            )
            for place, item in enumerate(order, start=1)
        ),
        draws=tuple(_draw(ratings, coin) for coin in answer.coins),
        method=method,
        parameters={**answer.parameters, "design": design},
        seed=task.seed,
        data=ratings.summary(),
        notices=(*ratings.notices, *group_notices(task.graph), *answer.notices),
        places=None if found is None else found.places,
    )


def _item_rows(ratings: Ratings) -> list[tuple[int, float | None, float | None]]:
    starts, rows = ratings.by_item()
    values = ratings.preference[rows].tolist()
    summary = []
    for first, last in itertools.pairwise(starts.tolist()):
        scores = values[first:last] if ratings.kind == "scores" else []
        centre = mean(scores) if scores else None
        summary.append((last - first, centre, spread(scores)))
    return summary


def _draw(ratings: Ratings, coin: Coin) -> Draw:
    one, other = (ratings.item_labels[item] for item in coin.items)
    by_one, by_other = (ratings.reviewer_labels[who] for who in coin.reviewers)
    return Draw(
        items=(one, other),
        p_first=coin.p_first,
        first=one if coin.kept else other,
        reviewers=(by_one, by_other),
    )


def _series(names: tuple[str, ...]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
