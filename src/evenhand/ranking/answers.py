"""One function for each way to rank, from a task and its options to an answer."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand._labels import shown
from evenhand._randomness import stream
from evenhand._results import Json, Notice
from evenhand.calibration.mean import mean_order
from evenhand.errors import OptionError
from evenhand.posets.comparisons import (
    Comparisons,
    find_contradiction,
    is_ordering,
)
from evenhand.posets.orderings import topological_order
from evenhand.posets.sampling import uniform_order
from evenhand.ranking.claims import Facts
from evenhand.ranking.eta import safe_order
from evenhand.ranking.flips import Coin, flip_neighbours, scan_from
from evenhand.ranking.mean_rank import MeanRankOrder, by_lot, mean_rank_order
from evenhand.ranking.notices import coin_notices, coins_resolved, tie_notices
from evenhand.ranking.sorter import sort_free_pairs
from evenhand.ranking.split import contradictory, split_order
from evenhand.ranking.ties import TieBreak, break_ties, twin_buckets
from evenhand.ranking.twins import By, settle_twins

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from evenhand.ab.weights import GapWeight
    from evenhand.calibration.results import Fit
    from evenhand.ranking.uncertainty import RankUncertainty
    from evenhand.ratings import Ratings

    Codes = NDArray[np.int64]
    Start = str | Callable[[Comparisons, np.random.Generator], ArrayLike]

STARTS = ("topological", "uniform", "mean-rank")


@dataclass(frozen=True, slots=True)
class Options:
    """What a method was told, with defaults filled in."""

    weight: GapWeight
    start: Start = "topological"
    scan: str = "parity"
    twins: str = "all"
    by: str = "closure"
    score_pairs: int = 1
    noise: float | None = None
    anchored: bool = True
    eta: float = 0.0
    split: str = "auto"
    mean_ranks: str = "auto"
    shrink: bool = True


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be ranked."""

    ratings: Ratings
    graph: Comparisons
    seed: int


@dataclass(frozen=True, slots=True)
class Answer:
    """A ranking by codes.

    Attributes:
        order: Item codes, best first.
        parameters: The options that were used, as in the JSON.
        coins: Every coin that was flipped.
        ties: How ties were broken, if they were.
        notices: What the reader must know.
        mean_ranks: The mean ranks, if they were worked out.
        fit: What a model made of the ratings, if one did.
        uncertainty: How sure the places are, if that is known by now.
        facts: What the certificate must know, but for the design.
    """

    order: Codes
    parameters: dict[str, Json]
    facts: Facts
    coins: tuple[Coin, ...] = ()
    ties: TieBreak | None = None
    notices: tuple[Notice, ...] = ()
    mean_ranks: MeanRankOrder | None = None
    fit: Fit | None = None
    uncertainty: RankUncertainty | None = None


def from_start(task: Task, start: Start, how: str = "auto") -> Answer:
    """Rank by comparisons alone: a name of STARTS, or a user's function.

    Raises:
        OptionError: If the function does not return every item once.

    Examples:
        >>> from evenhand.posets.comparisons import comparisons
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a"], ["x", "y"], [1, 2])
        >>> task = Task(ratings, comparisons(ratings), 7)
        >>> from_start(task, "topological").order.tolist()
        [1, 0]
    """
    source = stream(task.seed, "start")
    if start == "topological":
        return Answer(topological_order(task.graph), {}, Facts("topological"))
    if start == "mean-rank":
        return _by_mean_rank(task, how)
    if isinstance(start, str):
        return Answer(uniform_order(task.graph, source), {}, Facts("uniform"))
    given = start(task.graph, np.random.Generator(source))
    try:
        order = np.asarray(given)
    except ValueError:
        order = np.empty(0)
    whole = order.dtype.kind in "iu" and order.ndim == 1
    if not whole or not np.array_equal(np.sort(order), np.arange(task.graph.n_items)):
        raise OptionError(
            f"start must return the code of each of the {task.graph.n_items} items "
            f"once, best first, got {shown(given)}."
        )
    return Answer(order.astype(np.int64), {}, Facts("", own_start=True))


def _by_mean_rank(task: Task, how: str) -> Answer:
    return _ranked(task, mean_rank_order(task.graph, task.seed, how=how))


def _ranked(task: Task, found: MeanRankOrder) -> Answer:
    sampled = not found.averages.exact
    used = "proxy" if found.proxy else "sampled" if sampled else "exact"
    return Answer(
        found.order,
        {"mean_ranks": used, "samples": found.averages.samples},
        Facts("mean-rank", sampled=sampled, proxy=found.proxy),
        notices=found.notices(task.ratings.item_labels),
        mean_ranks=found,
    )


def _kept_notices(notices: tuple[Notice, ...]) -> tuple[Notice, ...]:
    """Keep what is still true after scores have settled what a lot ordered first."""
    return tuple(told for told in notices if told.code != "tied_mean_ranks")


def _flips(task: Task, options: Options) -> Answer:
    begun = from_start(task, options.start, options.mean_ranks)
    sure = options.start == "topological"
    if not (sure or is_ordering(task.graph, begun.order)):
        raise OptionError(
            "start must respect every comparison for method 'flips', got a ranking "
            "that does not. Method 'twins' takes any ranking."
        )
    after, coins = flip_neighbours(
        task.ratings,
        begun.order,
        options.weight,
        stream(task.seed, "flips"),
        score_pairs=options.score_pairs,
    )
    parameters = {
        "start": _name(options.start),
        **begun.parameters,
        **_coin_parameters(options),
    }
    facts = _coin_facts(task, "flips", options, coins, own_start=begun.facts.own_start)
    notices = (
        *_kept_notices(begun.notices),
        *coin_notices(task.ratings, coins, options.weight),
    )
    return Answer(after, parameters, facts, coins, notices=notices)


def _flips_uniform(task: Task, options: Options) -> Answer:
    order = from_start(task, "uniform").order
    after, coins = flip_neighbours(
        task.ratings,
        order,
        options.weight,
        stream(task.seed, "flips"),
        scan=scan_from(options.scan, stream(task.seed, "scan")),
        score_pairs=options.score_pairs,
    )
    parameters = {"scan": options.scan, **_coin_parameters(options)}
    average = options.scan == "paper"
    facts = _coin_facts(task, "flips-uniform", options, coins, average=average)
    notices = coin_notices(task.ratings, coins, options.weight)
    return Answer(after, parameters, facts, coins, notices=notices)


def _sorter(task: Task, options: Options) -> Answer:
    order, coins = sort_free_pairs(
        task.ratings,
        task.graph,
        options.weight,
        stream(task.seed, "sorter"),
        score_pairs=options.score_pairs,
        anchors=options.anchored,
    )
    parameters = {**_coin_parameters(options), "anchored": options.anchored}
    facts = _coin_facts(
        task,
        "sorter",
        options,
        coins,
        anchored=any(any(coin.anchors) for coin in coins),
    )
    notices = coin_notices(task.ratings, coins, options.weight)
    return Answer(order, parameters, facts, coins, notices=notices)


def _twins(task: Task, options: Options) -> Answer:
    by: By = "direct" if options.by == "direct" else "closure"
    begun = from_start(task, options.start, options.mean_ranks)
    after, coins = settle_twins(
        task.ratings,
        task.graph,
        begun.order,
        options.weight,
        stream(task.seed, "twins"),
        pairs=options.twins,
        by=by,
    )
    parameters: dict[str, Json] = {
        "start": _name(options.start),
        **begun.parameters,
        "twins": options.twins,
        "by": by,
        "weight": options.weight.to_dict(),
    }
    facts = _coin_facts(
        task, "twins", options, coins, own_start=begun.facts.own_start, retiring=False
    )
    notices = (
        *_kept_notices(begun.notices),
        *coin_notices(task.ratings, coins, options.weight),
    )
    return Answer(after, parameters, facts, coins, notices=notices)


def _ties(task: Task, options: Options) -> Answer:
    begun = from_start(task, options.start, options.mean_ranks)
    found = break_ties(
        task.ratings,
        begun.order,
        twin_buckets(begun.order, task.graph),
        stream(task.seed, "ties"),
        noise=options.noise,
        anchored=options.anchored,
    )
    parameters: dict[str, Json] = {"start": _name(options.start), **begun.parameters}
    return _tied(task, "ties", found, options, parameters, begun)


def _safe(task: Task, options: Options) -> Answer:
    if options.split == "always" or find_contradiction(task.graph) is not None:
        return _split(task, options)
    found = safe_order(
        task.ratings,
        task.graph,
        task.seed,
        noise=options.noise,
        anchored=options.anchored,
        eta=options.eta,
        how=options.mean_ranks,
    )
    begun = _ranked(task, found.mean_ranks)
    parameters: dict[str, Json] = {**begun.parameters, "eta": options.eta}
    price = None if found.near is None else found.price
    return _tied(task, "safe", found.ties, options, parameters, begun, eta_price=price)


def _split(task: Task, options: Options) -> Answer:
    """Order by some reviewers, and break its ties by the scores of the others."""
    if options.eta > 0:
        raise OptionError(
            "eta must be 0 if reviewers contradict each other or split is 'always', "
            f"got {options.eta}. Its price is not known then."
        )
    found = split_order(
        task.ratings, task.seed, noise=options.noise, anchored=options.anchored
    )
    parameters: dict[str, Json] = {
        "split": {
            "when": options.split,
            "ordered": len(found.ordered),
            "breakers": len(found.breakers),
        },
        "eta": options.eta,
    }
    always = options.split == "always"
    why = "Reviewers are split always" if always else "Reviewers contradict each other"
    text = (
        f"{why}, so {len(found.ordered)} of them, drawn at random, made "
        f"{len(found.weak)} groups of items, and the scores of the other "
        f"{len(found.breakers)} sorted each group."
    )
    torn = always or contradictory(task.ratings, found.ordered)
    decided = "always" if always else "first" if torn else "all"
    begun = Answer(
        found.order, {}, Facts("safe"), notices=(Notice("split_reviewers", text),)
    )
    tied = _tied(task, "safe", found.ties, options, parameters, begun, split=True)
    return replace(tied, facts=replace(tied.facts, split=decided))


def _tied(
    task: Task,
    method: str,
    found: TieBreak,
    options: Options,
    parameters: Mapping[str, Json],
    begun: Answer,
    *,
    eta_price: float | None = None,
    split: bool = False,
) -> Answer:
    anchored = any(any(draw.anchors) for draw in found.draws)
    facts = Facts(
        method,
        settled=found.settled,
        resolved=found.resolved or found.noise == 0,
        own_start=begun.facts.own_start,
        anchored=anchored,
        equal_loads=found.equal_loads,
        reused=_served_twice(found),
        noiseless=found.noise == 0,
        sampled=begun.facts.sampled,
        eta_price=eta_price,
    )
    return Answer(
        found.order,
        {**parameters, "noise": found.noise, "anchored": options.anchored},
        facts,
        ties=found,
        notices=(
            *_kept_notices(begun.notices),
            *tie_notices(task.ratings, found, split=split),
        ),
        mean_ranks=begun.mean_ranks,
    )


def _served_twice(found: TieBreak) -> int:
    """Count reviewers whose scores were used for two items."""
    served = {
        (item, reviewer)
        for draw in found.draws
        for item, people in zip(draw.items, draw.reviewers, strict=True)
        for reviewer in people
    }
    times = Counter(reviewer for _, reviewer in served)
    return sum(number > 1 for number in times.values())


def _coin_parameters(options: Options) -> dict[str, Json]:
    return {"weight": options.weight.to_dict(), "score_pairs": options.score_pairs}


def _coin_facts(
    task: Task,
    method: str,
    options: Options,
    coins: tuple[Coin, ...],
    *,
    own_start: bool = False,
    average: bool = False,
    anchored: bool = False,
    retiring: bool = True,
) -> Facts:
    used = {who for coin in coins for who in coin.reviewers}
    return Facts(
        method,
        settled=len(coins),
        retired=len(used) if retiring else None,
        weight=options.weight,
        resolved=coins_resolved(task.ratings, coins, options.weight),
        own_start=own_start,
        average=average,
        anchored=anchored,
    )


def _by_mean(task: Task, _: Options) -> Answer:
    found = mean_order(task.ratings, stream(task.seed, "mean"))
    notices = []
    if found.ties:
        labels = task.ratings.item_labels
        notices.append(Notice("tied_means", by_lot("means", found.ties, labels)))
    order = np.array(found.order, dtype=np.int64)
    return Answer(order, {}, Facts("mean"), notices=tuple(notices))


def _name(start: Start) -> str:
    if isinstance(start, str):
        return start
    return str(getattr(start, "__name__", type(start).__name__))


WITH_SCORES: dict[str, Callable[[Task, Options], Answer]] = {
    "flips": _flips,
    "flips-uniform": _flips_uniform,
    "twins": _twins,
    "sorter": _sorter,
    "ties": _ties,
    "safe": _safe,
    "mean": _by_mean,
}
