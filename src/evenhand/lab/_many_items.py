"""Ranking methods on one trial after the other, coins integrated out.

A text names a method, with its options after a colon: "flips:linear:10",
"flips-uniform:paper", "twins:one:direct". A user's own method is a function from
Ratings and a Generator to item codes, best first.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from evenhand._labels import shown
from evenhand._randomness import Stream, stream
from evenhand.ab.weights import GapWeight, as_weight
from evenhand.calibration.mean import mean_order
from evenhand.errors import OptionError, RatingsError, unknown
from evenhand.lab._losses import Loss, average_losses
from evenhand.posets.comparisons import comparisons, find_contradiction
from evenhand.posets.orderings import topological_order
from evenhand.posets.sampling import uniform_order
from evenhand.ranking.flips import SCANS, Coin, flip_neighbours, scan_from
from evenhand.ranking.ranking import METHODS, rank
from evenhand.ranking.twins import BYS, PAIRS, settle_twins
from evenhand.ratings import Ratings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.lab._draws import Block
    from evenhand.lab.scenario import Scenario
    from evenhand.posets.comparisons import Comparisons

    Codes = NDArray[np.int64]

OwnRanking: TypeAlias = Callable[[Ratings, np.random.Generator], object]
CHOICES = {"flips-uniform": (SCANS,), "twins": (PAIRS, BYS)}
WEIGHED = ("flips", "flips-uniform", "twins")
DISCARDED_BITS = 11


class Trial:
    """One trial: ratings, and what several methods need of them."""

    def __init__(self, ratings: Ratings, source: Stream) -> None:
        """Keep the ratings; a uniform ordering is drawn from the source if needed."""
        self.ratings = ratings
        self._source = source

    @functools.cached_property
    def graph(self) -> Comparisons:
        """Who was put above whom."""
        return comparisons(self.ratings)

    @functools.cached_property
    def smallest(self) -> Codes:
        """The ordering that respects every comparison, smallest codes first."""
        return topological_order(self.graph)

    @functools.cached_property
    def drawn(self) -> Codes:
        """An ordering that respects every comparison, uniformly at random."""
        return uniform_order(self.graph, self._source)


Outcome: TypeAlias = tuple["Codes", Sequence[Coin]]


@dataclass(frozen=True, slots=True)
class Method:
    """A method to be tried.

    Attributes:
        name: What the user called it.
        purpose: What its chance is for; methods of one purpose see the same draws.
        run: From a trial and a source of chance to the ordering if every coin keeps it,
            and the coins.
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
    name, *options = method.split(":")
    if name not in METHODS:
        raise OptionError(unknown("method", name, METHODS))
    chosen = []
    for known in CHOICES.get(name, ()):
        given = bool(options) and options[0] in known
        chosen.append(options.pop(0) if given else known[-1])
    if options and name not in WEIGHED:
        raise OptionError(f"method {name!r} must have no option, got {method!r}.")
    if name not in RUNS:
        return Method(method, name, functools.partial(_other, name))
    told = _Options(chosen, as_weight(":".join(options)) if options else weight)
    return Method(method, name, functools.partial(RUNS[name], told))


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
    start = source("start")
    truth = block.places()
    result = np.empty((len(truth), len(tried), len(losses)))
    for row, ratings in enumerate(_ratings(scenario, block)):
        trial = Trial(ratings, start)
        for column, method in enumerate(tried):
            try:
                order, coins = method.run(trial, sources[column])
            except RatingsError as error:
                raise _refusal(method.name, trial, error) from error
            result[row, column] = average_losses(order, coins, truth[row], losses)
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


@dataclass(frozen=True, slots=True)
class _Options:
    """What a method was told: the names it was given, and the weight."""

    names: Sequence[str]
    weight: GapWeight


def _topological(_: _Options, trial: Trial, __: Stream) -> Outcome:
    return trial.smallest, ()


def _uniform(_: _Options, trial: Trial, __: Stream) -> Outcome:
    return trial.drawn, ()


def _flips(options: _Options, trial: Trial, source: Stream) -> Outcome:
    _, coins = flip_neighbours(trial.ratings, trial.smallest, options.weight, source)
    return trial.smallest, coins


def _flips_uniform(options: _Options, trial: Trial, source: Stream) -> Outcome:
    scan = scan_from(options.names[0], source)
    _, coins = flip_neighbours(
        trial.ratings, trial.drawn, options.weight, source, scan=scan
    )
    return trial.drawn, coins


def _twins(options: _Options, trial: Trial, source: Stream) -> Outcome:
    after, coins = settle_twins(
        trial.ratings,
        trial.graph,
        trial.smallest,
        options.weight,
        source,
        pairs=options.names[0],
        by="direct" if options.names[1] == "direct" else "closure",
    )
    order = after.copy()
    for coin in coins:
        if not coin.kept:
            places = [int(np.flatnonzero(after == item)[0]) for item in coin.items]
            order[places[0]], order[places[1]] = after[places[1]], after[places[0]]
    return order, coins


def _mean(_: _Options, trial: Trial, source: Stream) -> Outcome:
    order = mean_order(trial.ratings, source).order
    return np.array(order, dtype=np.int64), ()


def _other(name: str, trial: Trial, source: Stream) -> Outcome:
    seed = int(source.random_raw()) >> DISCARDED_BITS
    # Labels are codes, so the ranking's labels are what is wanted.
    found = rank(trial.ratings, method=name, rng=seed)
    return np.array(found.order, dtype=np.int64), ()


RUNS: dict[str, Callable[[_Options, Trial, Stream], Outcome]] = {
    "topological": _topological,
    "uniform": _uniform,
    "flips": _flips,
    "flips-uniform": _flips_uniform,
    "twins": _twins,
    "mean": _mean,
}


def _own(function: OwnRanking) -> Method:
    name = str(getattr(function, "__name__", type(function).__name__))
    if not callable(function):
        raise OptionError(
            f"method must be a name or a function, got {shown(function)}."
        )

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
        return order.astype(np.int64), ()

    return Method(name, name, run)


def _refusal(name: str, trial: Trial, error: RatingsError) -> OptionError:
    if find_contradiction(trial.graph) is None:
        return OptionError(f"method {name!r} cannot be tried here: {error}")
    return OptionError(
        f"method {name!r} must have comparisons that are consistent, got a "
        "contradiction. Choose noise 'none' or method 'mean'."
    )
