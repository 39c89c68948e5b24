"""Ranking methods on one trial after the other, coins integrated out.

A text names a method, with its options after a colon; `_told` says which there are. A
user's own method is a function from Ratings and a Generator to item codes, best first.
"""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from evenhand._labels import require_function, shown
from evenhand._randomness import Stream, stream
from evenhand.calibration.mean import mean_order
from evenhand.calibration.models import MODELS
from evenhand.errors import OptionError, RatingsError
from evenhand.lab._losses import Arranged, Loss, Outcome, Questioned
from evenhand.lab._told import AUTO, Told, options_of
from evenhand.lab._trial import Trial, by_lot, by_scores, by_values, draw_seed, ranked
from evenhand.posets.comparisons import chain_edges, from_edges
from evenhand.posets.orderings import topological_order
from evenhand.ranking.eta import near_ties, safe_order
from evenhand.ranking.flips import flip_neighbours, scan_from
from evenhand.ranking.ranking import rank
from evenhand.ranking.sorter import follow_truth, sort_free_pairs
from evenhand.ranking.split import split_order
from evenhand.ranking.ties import break_ties, twin_buckets
from evenhand.ranking.twins import settle_twins
from evenhand.ratings import Ratings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.ab.weights import GapWeight
    from evenhand.lab._draws import Block
    from evenhand.lab.scenario import Scenario
    from evenhand.posets.comparisons import Comparisons
    from evenhand.ranking.flips import Coin
    from evenhand.ranking.ties import Buckets, TieBreak

    Codes = NDArray[np.int64]

OwnRanking: TypeAlias = Callable[[Ratings, np.random.Generator], object]


@dataclass(frozen=True, slots=True)
class Method:
    """A method to be tried.

    Attributes:
        name: What the user called it.
        purpose: What its chance is for; methods of one purpose see the same draws.
        run: From a trial and a source of chance to what came out.
    """

    name: str
    purpose: str
    run: Callable[[Trial, Stream], Outcome]


def ranking_method(method: str | OwnRanking, weight: GapWeight) -> Method:
    """Return the method that a text names, or a user's own.

    Raises:
        OptionError: If there is no such method or option.

    Examples:
        >>> from evenhand.ab.weights import rational
        >>> ranking_method("flips-uniform:paper", rational()).purpose
        'flips-uniform'
    """
    if not isinstance(method, str):
        return _own(method)
    told = options_of(method, weight)
    run = RUNS.get(told.name, _other)
    return Method(method, told.name, functools.partial(run, told))


def ranking_losses(
    scenario: Scenario,
    block: Block,
    tried: Sequence[Method],
    losses: Sequence[Loss],
    seed: int,
    number: int,
) -> NDArray[np.float64]:
    """Return the expected losses of methods, shape (trials, methods, losses).

    Args:
        scenario: What was drawn from.
        block: The trials.
        tried: The methods.
        losses: The losses.
        seed: Seed of the simulation.
        number: Number of the block, which its streams are named by.

    Returns:
        The losses, averaged over coins.

    Raises:
        OptionError: If a method cannot be used in a trial.

    Examples:
        >>> from evenhand.ab.weights import rational
        >>> from evenhand.lab._draws import draw_block
        >>> from evenhand.lab._losses import loss
        >>> from evenhand.lab.scenario import Scenario
        >>> scenario = Scenario(job="rank", items=4, design="everything")
        >>> block = draw_block(scenario, 7, 0, 3)
        >>> tried = [ranking_method("flips", rational())]
        >>> ranking_losses(scenario, block, tried, [loss("kendall", 4)], 7, 0).sum()
        np.float64(0.0)
    """

    def source(purpose: str) -> Stream:
        return stream(seed, f"simulate block {number} method {purpose}")

    sources = [source(method.purpose) for method in tried]
    start, lots = source("start"), source("lots")
    truth = block.places()
    result = np.empty((len(truth), len(tried), len(losses)))
    for row, ratings in enumerate(_ratings(scenario, block)):
        trial = Trial(ratings, start, lots)
        for column, method in enumerate(tried):
            try:
                found = method.run(trial, sources[column])
                result[row, column] = found.average(truth[row], losses)
            except RatingsError as error:
                raise _refusal(method.name, trial, error) from error
    return result


def _ratings(scenario: Scenario, block: Block) -> list[Ratings]:
    """Make the Ratings of each trial.

    All labels are codes already, so only one is made from labels and the others are
    copies with other items and scores: a fortieth of the time.
    """
    reviewers = np.repeat(np.arange(scenario.reviewers), block.assigned.shape[-1])
    items = block.assigned.reshape(len(block.assigned), -1)
    scores = block.scores.reshape(items.shape)
    every = range(scenario.items)
    first = Ratings(reviewers, items[0], scores[0], all_items=every)
    made = []
    for row in range(len(items)):
        ratings = copy.copy(first)
        ratings.item_codes = items[row]
        ratings.preference = scores[row]
        made.append(ratings)
    return made


def _topological(_: Told, trial: Trial, __: Stream) -> Outcome:
    return Arranged(trial.smallest)


def _uniform(_: Told, trial: Trial, __: Stream) -> Outcome:
    return Arranged(trial.drawn)


def _mean_rank(told: Told, trial: Trial, _: Stream) -> Outcome:
    how = told.words[0]
    plain = how == AUTO
    found = trial.mean_ranks if plain else ranked(trial.graph, trial.lot, how)
    return by_lot(found.order, found.ties)


def _flips(told: Told, trial: Trial, source: Stream) -> Outcome:
    _, coins = flip_neighbours(
        trial.ratings,
        trial.smallest,
        told.weight,
        source,
        score_pairs=told.score_pairs,
    )
    return Arranged(trial.smallest, coins)


def _flips_uniform(told: Told, trial: Trial, source: Stream) -> Outcome:
    _, coins = flip_neighbours(
        trial.ratings,
        trial.drawn,
        told.weight,
        source,
        scan=scan_from(told.words[0], source),
        score_pairs=told.score_pairs,
    )
    return Arranged(trial.drawn, coins)


def _twins(told: Told, trial: Trial, source: Stream) -> Outcome:
    after, coins = settle_twins(
        trial.ratings,
        trial.graph,
        trial.smallest,
        told.weight,
        source,
        pairs=told.words[0],
        by="direct" if told.words[1] == "direct" else "closure",
    )
    order = after.copy()
    for coin in coins:
        if not coin.kept:
            places = [int(np.flatnonzero(after == item)[0]) for item in coin.items]
            order[places[0]], order[places[1]] = after[places[1]], after[places[0]]
    return Arranged(order, coins)


def _sorter(told: Told, trial: Trial, source: Stream) -> Outcome:
    seed = draw_seed(source)

    def right(truth: Codes) -> float:
        order = np.argsort(truth)
        coins = follow_truth(
            trial.ratings,
            trial.graph,
            order.tolist(),
            told.weight,
            stream(seed, "sorter"),
            score_pairs=told.score_pairs,
            anchors=told.anchored,
        )
        # What stays open is put in order by codes, and may be wrong for that.
        if not np.array_equal(_smallest(trial.graph, coins), order):
            return 0.0
        return math.prod(
            coin.p_first if coin.kept else 1 - coin.p_first for coin in coins
        )

    def drawn() -> Codes:
        order, _ = sort_free_pairs(
            trial.ratings,
            trial.graph,
            told.weight,
            stream(seed, "sorter"),
            score_pairs=told.score_pairs,
            anchors=told.anchored,
        )
        return order

    return Questioned(right, drawn)


def _smallest(graph: Comparisons, coins: Sequence[Coin]) -> Codes:
    """Return the smallest ordering that respects comparisons and answers."""
    answers = [coin.items if coin.kept else coin.items[::-1] for coin in coins]
    added = np.array(answers, dtype=np.int64).reshape(-1, 2).T
    above, below = (
        np.concatenate([known, new])
        for known, new in zip(chain_edges(graph), added, strict=True)
    )
    return topological_order(from_edges(graph.n_items, above, below))


def _ties(told: Told, trial: Trial, source: Stream) -> Outcome:
    found = trial.mean_ranks
    # Twins have equal mean ranks.
    alone = found.exact and not found.ties
    buckets = () if alone else twin_buckets(found.order, trial.graph)
    broken = _broken(told, trial, buckets, source)
    twins = {item for bucket in buckets for item in bucket}
    # A lot among twins and others says where the twins are, so it is kept as drawn.
    lots = tuple(tied for tied in found.ties if twins.isdisjoint(tied))
    return by_scores(found.order, buckets, broken, lots)


def _safe(told: Told, trial: Trial, source: Stream) -> Outcome:
    if "always" in told.words or not trial.consistent:
        return _split(told, trial, source)
    found, buckets, eta = trial.mean_ranks, trial.equals, told.numbers["eta"]
    above = found.above
    if eta > 0 and above is None:
        # Sampled orderings are not kept for others, so this does all its work again.
        safe = safe_order(
            trial.ratings,
            trial.graph,
            draw_seed(source),
            noise=told.numbers["noise"],
            anchored=told.anchored,
            eta=eta,
        )
        return by_scores(safe.mean_ranks.order, safe.buckets, safe.ties)
    if eta > 0 and above is not None:
        scored = np.diff(trial.ratings.by_item()[0]) > 0
        near = near_ties(found.order, buckets, above, eta, scored=scored)
        buckets = near.buckets
    return by_scores(found.order, buckets, _broken(told, trial, buckets, source))


def _split(told: Told, trial: Trial, source: Stream) -> Outcome:
    """Break ties by other reviewers than those who made them, as `rank` does."""
    if told.numbers["eta"] > 0:
        raise OptionError(
            "eta must be 0 where reviewers are split, got "
            f"{told.numbers['eta']}. Choose noise 'none' or method 'safe'."
        )
    found = split_order(
        trial.ratings,
        draw_seed(source),
        noise=told.numbers["noise"],
        anchored=told.anchored,
    )
    return by_scores(found.order, found.buckets, found.ties)


def _broken(told: Told, trial: Trial, buckets: Buckets, source: Stream) -> TieBreak:
    return break_ties(
        trial.ratings,
        trial.mean_ranks.order,
        buckets,
        source,
        noise=told.numbers["noise"],
        anchored=told.anchored,
    )


def _mean(_: Told, trial: Trial, source: Stream) -> Outcome:
    order = mean_order(trial.ratings, source).order
    return Arranged(np.array(order, dtype=np.int64))


def _model(told: Told, trial: Trial, source: Stream) -> Outcome:
    # Not by `rank`, which works out intervals too, at a hundred times the cost.
    return by_values(MODELS[told.name](trial.ratings).estimates, source)


def _other(told: Told, trial: Trial, source: Stream) -> Outcome:
    # Labels are codes, so the ranking's labels are what is wanted.
    found = rank(trial.ratings, method=told.name, rng=draw_seed(source))
    return Arranged(np.array(found.order, dtype=np.int64))


RUNS: dict[str, Callable[[Told, Trial, Stream], Outcome]] = {
    "topological": _topological,
    "uniform": _uniform,
    "mean-rank": _mean_rank,
    "flips": _flips,
    "flips-uniform": _flips_uniform,
    "twins": _twins,
    "sorter": _sorter,
    "ties": _ties,
    "safe": _safe,
    "mean": _mean,
    **dict.fromkeys(MODELS, _model),
}


def _own(function: OwnRanking) -> Method:
    name = str(getattr(function, "__name__", type(function).__name__))
    if not callable(function):
        raise OptionError(
            f"method must be a name or a function, got {shown(function)}."
        )
    require_function("method", function, "the ratings", "a Generator")

    def run(trial: Trial, source: Stream) -> Outcome:
        answer = function(trial.ratings, np.random.Generator(source))
        order = np.asarray(answer)
        n_items = trial.ratings.n_items
        if order.dtype.kind not in "iu" or not np.array_equal(
            np.sort(order), np.arange(n_items)
        ):
            raise OptionError(
                f"method {name} must return the code of each of the {n_items} items "
                f"once, best first, got {shown(answer)}."
            )
        return Arranged(order.astype(np.int64))

    return Method(name, name, run)


def _refusal(name: str, trial: Trial, error: RatingsError) -> OptionError:
    if trial.consistent:
        return OptionError(f"method {name!r} cannot be tried here: {error}")
    return OptionError(
        f"method {name!r} must have comparisons that are consistent, got a "
        "contradiction. Choose noise 'none' or method 'safe'."
    )
