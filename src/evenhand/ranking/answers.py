"""One function for each way to rank, from a task and its options to an answer."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand._labels import shown
from evenhand._randomness import stream
from evenhand._results import Json, Notice
from evenhand.ab.claims import UNRESOLVED, weight_finding
from evenhand.calibration.mean import mean_order
from evenhand.certificate import Finding
from evenhand.errors import OptionError
from evenhand.posets.comparisons import Comparisons, is_ordering
from evenhand.posets.contradictions import find_contradiction
from evenhand.posets.orderings import topological_order
from evenhand.posets.sampling import uniform_order
from evenhand.ranking.claims import (
    BY_PROXY,
    BY_SAMPLE,
    NO_NOISE,
    NOTHING_SETTLED,
    ON_AVERAGE,
    OWN_START,
    SAMPLED_PRICE,
    served_again,
)
from evenhand.ranking.eta import check_eta, safe_buckets
from evenhand.ranking.flips import Coin, flip_neighbours, scan_from
from evenhand.ranking.mean_rank import MeanRankOrder, by_lot, mean_rank_order
from evenhand.ranking.notices import coins_resolved, score_notices
from evenhand.ranking.sorter import sort_free_pairs
from evenhand.ranking.split import contradictory, split_order
from evenhand.ranking.ties import TieBreak, break_ties, twin_buckets
from evenhand.ranking.twins import settle_twins

if TYPE_CHECKING:
    from collections.abc import Callable

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
        findings: What the certificate must know of how it came about.
        coins: Every coin that was flipped.
        retired: Number of reviewers that coins used up, None if they may serve again.
        ties: How ties were broken, if they were.
        eta_price: Price of neighbours put at risk, None without them.
        split: "always", if the reviewers were split whatever they scored; "first", if
            those who made the groups contradict each other; "all", if they do not, so
            that the scores of the others showed the contradiction; None if they were
            not split.
        notices: What the reader must know.
        mean_ranks: The mean ranks, if they were worked out.
        fit: What a model made of the ratings, if one did.
        uncertainty: How sure the places are, if that is known by now.
    """

    order: Codes
    parameters: dict[str, Json]
    findings: tuple[Finding, ...] = ()
    coins: tuple[Coin, ...] = ()
    retired: int | None = None
    ties: TieBreak | None = None
    eta_price: float | None = None
    split: str | None = None
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
        return Answer(topological_order(task.graph), {})
    if start == "mean-rank":
        return _by_mean_rank(task, mean_rank_order(task.graph, task.seed, how=how))
    if isinstance(start, str):
        return Answer(uniform_order(task.graph, source), {})
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
    return Answer(order.astype(np.int64), {})


def _by_mean_rank(task: Task, found: MeanRankOrder) -> Answer:
    used, findings = "exact", list[Finding]()
    if found.proxy:
        used, findings = "proxy", [BY_PROXY]
    elif not found.averages.exact:
        used, findings = "sampled", [BY_SAMPLE]
    return Answer(
        found.order,
        {"mean_ranks": used, "samples": found.averages.samples},
        tuple(findings),
        notices=found.notices(task.ratings.item_labels),
        mean_ranks=found,
    )


def _begun(task: Task, options: Options) -> Answer:
    """Rank by what a method starts from, which its parameters name."""
    begun = from_start(task, options.start, options.mean_ranks)
    start = options.start
    if isinstance(start, str):
        return _left_to_scores(begun, {"start": start, **begun.parameters})
    name = str(getattr(start, "__name__", type(start).__name__))
    return _left_to_scores(begun, {"start": name}, OWN_START)


def _left_to_scores(
    begun: Answer, parameters: dict[str, Json], *findings: Finding
) -> Answer:
    """Keep what is still true once scores settle what a lot ordered first."""
    kept = tuple(told for told in begun.notices if told.code != "tied_mean_ranks")
    return replace(begun, parameters=parameters, findings=findings, notices=kept)


def _used(options: Options, *names: str) -> dict[str, Json]:
    values = {name: getattr(options, name) for name in names}
    if "weight" in values:
        values["weight"] = options.weight.to_dict()
    return values


def _flips(task: Task, options: Options) -> Answer:
    begun = _begun(task, options)
    sure = options.start == "topological"
    if not (sure or is_ordering(task.graph, begun.order)):
        raise OptionError(
            "start must respect every comparison for method 'flips', got a ranking "
            "that does not. Method 'twins' takes any ranking."
        )
    found = flip_neighbours(
        task.ratings,
        begun.order,
        options.weight,
        stream(task.seed, "flips"),
        score_pairs=options.score_pairs,
    )
    parameters = {**begun.parameters, **_used(options, "weight", "score_pairs")}
    return _by_coins(task, options, found, parameters, begun)


def _flips_uniform(task: Task, options: Options) -> Answer:
    begun = from_start(task, "uniform")
    found = flip_neighbours(
        task.ratings,
        begun.order,
        options.weight,
        stream(task.seed, "flips"),
        scan=scan_from(options.scan, stream(task.seed, "scan")),
        score_pairs=options.score_pairs,
    )
    parameters = _used(options, "scan", "weight", "score_pairs")
    average = (ON_AVERAGE,) if options.scan == "paper" else ()
    return _by_coins(task, options, found, parameters, begun, *average)


def _sorter(task: Task, options: Options) -> Answer:
    found = sort_free_pairs(
        task.ratings,
        task.graph,
        options.weight,
        stream(task.seed, "sorter"),
        score_pairs=options.score_pairs,
        anchors=options.anchored,
    )
    parameters = _used(options, "weight", "score_pairs", "anchored")
    return _by_coins(task, options, found, parameters)


def _twins(task: Task, options: Options) -> Answer:
    begun = _begun(task, options)
    found = settle_twins(
        task.ratings,
        task.graph,
        begun.order,
        options.weight,
        stream(task.seed, "twins"),
        pairs=options.twins,
        by="direct" if options.by == "direct" else "closure",
    )
    parameters = {**begun.parameters, **_used(options, "twins", "by", "weight")}
    # Twins' reviewers may serve again.
    return replace(_by_coins(task, options, found, parameters, begun), retired=None)


def _by_coins(
    task: Task,
    options: Options,
    found: tuple[Codes, tuple[Coin, ...]],
    parameters: dict[str, Json],
    begun: Answer | None = None,
    *average: Finding,
) -> Answer:
    order, coins = found
    resolved = coins_resolved(task.ratings, coins, options.weight)
    told = score_notices(task.ratings, "coins", resolved=resolved, settled=bool(coins))
    return Answer(
        order,
        parameters,
        findings=(
            *(() if begun is None else begun.findings),
            weight_finding(options.weight),
            *(() if resolved else (UNRESOLVED,)),
            *average,
            *(() if coins else (NOTHING_SETTLED,)),
        ),
        coins=coins,
        retired=len({who for coin in coins for who in coin.reviewers}),
        notices=(*(() if begun is None else begun.notices), *told),
    )


def _ties(task: Task, options: Options) -> Answer:
    begun = _begun(task, options)
    buckets = twin_buckets(begun.order, task.graph)
    return _sorted_within(task, options, begun, buckets)


def _safe(task: Task, options: Options) -> Answer:
    check_eta(options.eta)
    if options.split == "always" or find_contradiction(task.graph) is not None:
        return _split(task, options)
    how = options.mean_ranks
    found = mean_rank_order(task.graph, task.seed, how)
    buckets, price = safe_buckets(
        task.ratings, task.graph, found, options.eta, task.seed, exact=how == "exact"
    )
    begun = replace(_by_mean_rank(task, found), eta_price=price)
    begun = _left_to_scores(begun, {**begun.parameters, "eta": options.eta})
    return _sorted_within(task, options, begun, buckets)


def _sorted_within(
    task: Task, options: Options, begun: Answer, buckets: tuple[tuple[int, ...], ...]
) -> Answer:
    found = break_ties(
        task.ratings,
        begun.order,
        buckets,
        stream(task.seed, "ties"),
        noise=options.noise,
        anchored=options.anchored,
    )
    return _tied(task, found, options, begun)


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
    ordered, breakers = len(found.ordered), len(found.breakers)
    parameters: dict[str, Json] = {
        "split": {"when": options.split, "ordered": ordered, "breakers": breakers},
        "eta": options.eta,
    }
    always = options.split == "always"
    why = "Reviewers are split always" if always else "Reviewers contradict each other"
    text = (
        f"{why}, so {ordered} of them, drawn at random, made {len(found.weak)} groups "
        f"of items, and the scores of the other {breakers} sorted each group."
    )
    torn = always or contradictory(task.ratings, found.ordered)
    begun = Answer(
        found.order,
        parameters,
        split="always" if always else "first" if torn else "all",
        notices=(Notice("split_reviewers", text),),
    )
    return _tied(task, found.ties, options, begun)


def _tied(
    task: Task,
    found: TieBreak,
    options: Options,
    begun: Answer,
) -> Answer:
    resolved = found.resolved or found.noise == 0
    told = score_notices(
        task.ratings,
        "ties",
        resolved=resolved,
        settled=found.settled > 0,
        split=begun.split is not None,
    )
    sampled = begun.mean_ranks is not None and not begun.mean_ranks.averages.exact
    reused = _served_twice(found)
    findings = (
        (not resolved, UNRESOLVED),
        (reused > 0, served_again(reused)),
        (begun.eta_price and sampled, SAMPLED_PRICE),
        (found.noise == 0, NO_NOISE),
        (not found.settled, NOTHING_SETTLED),
    )
    return replace(
        begun,
        order=found.order,
        parameters={
            **begun.parameters,
            "noise": found.noise,
            "anchored": options.anchored,
        },
        findings=(*begun.findings, *(one for holds, one in findings if holds)),
        ties=found,
        notices=(*begun.notices, *told),
    )


def _served_twice(found: TieBreak) -> int:
    """Count reviewers whose scores were used for two items."""
    served = {
        use
        for draw in found.draws
        for use in zip(itertools.cycle(draw.items), draw.reviewers, strict=False)
    }
    times = Counter(reviewer for _, reviewer in served)
    return sum(number > 1 for number in times.values())


def _by_mean(task: Task, _: Options) -> Answer:
    found = mean_order(task.ratings, stream(task.seed, "mean"))
    text = by_lot("means", found.ties, task.ratings.item_labels)
    notices = (Notice("tied_means", text),) if found.ties else ()
    return Answer(np.array(found.order, dtype=np.int64), {}, notices=notices)


WITH_SCORES: dict[str, Callable[[Task, Options], Answer]] = {
    "flips": _flips,
    "flips-uniform": _flips_uniform,
    "twins": _twins,
    "sorter": _sorter,
    "ties": _ties,
    "safe": _safe,
    "mean": _by_mean,
}
