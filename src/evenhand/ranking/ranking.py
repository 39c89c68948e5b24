"""`rank`: order many items, by name of the method."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from evenhand._labels import require_function, require_text, shown
from evenhand._randomness import RNGLike, seed_from
from evenhand.ab.weights import GapWeight, as_weight
from evenhand.calibration.mean import mean, spread
from evenhand.calibration.models import MODELS, ORDINAL
from evenhand.designs import RANKING_DESIGNS
from evenhand.designs.assignment import declare
from evenhand.errors import OptionError, listing, unknown
from evenhand.posets.comparisons import Comparisons, comparisons
from evenhand.posets.contradictions import require_consistent
from evenhand.ranking.answers import (
    STARTS,
    WITH_SCORES,
    Answer,
    Options,
    Task,
    from_start,
)
from evenhand.ranking.claims import ranking_certificate
from evenhand.ranking.flips import SCANS, check_score_pairs
from evenhand.ranking.mean_rank import HOWS
from evenhand.ranking.models import by_model
from evenhand.ranking.notices import group_notices, information_notices
from evenhand.ranking.results import Draw, RankedItem, Ranking, topped
from evenhand.ranking.split import WHEN
from evenhand.ranking.twins import BYS, PAIRS
from evenhand.ranking.uncertainty import sureness
from evenhand.ratings import Ratings, require_ratings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from evenhand._results import Json
    from evenhand.certificate import Certificate
    from evenhand.designs.assignment import Assignment
    from evenhand.ranking.uncertainty import RankUncertainty

    Codes = NDArray[np.int64]
    Start = str | Callable[[Comparisons, np.random.Generator], ArrayLike]
    Weight = GapWeight | Callable[[float], float] | str

__all__ = ["METHODS", "STARTS", "Draw", "RankedItem", "Ranking", "rank"]

METHODS: tuple[str, ...] = (*STARTS, *WITH_SCORES, *MODELS)
DEFAULT = "adaptive"
# Methods that look at reviewers' contradictions as noise.
NOISY = ("mean", "safe", *MODELS)
OTHER = {"adaptive": "safe", "safe": "adaptive"}
COINS = ("flips", "flips-uniform", "sorter")
USED_BY: Mapping[str, tuple[str, ...]] = {
    "start": ("flips", "twins", "ties"),
    "scan": ("flips-uniform",),
    "twins": ("twins",),
    "by": ("twins",),
    "weight": (*COINS, "twins"),
    "score_pairs": COINS,
    "noise": ("ties", "safe"),
    "anchored": ("sorter", "ties", "safe"),
    "eta": ("safe",),
    "split": ("safe",),
    "shrink": ("additive",),
    "mean_ranks": ("mean-rank", "flips", "twins", "ties", "safe"),
}
CHOICES: Mapping[str, tuple[str, ...]] = {
    "scan": SCANS,
    "twins": PAIRS,
    "by": BYS,
    "mean_ranks": HOWS,
    "split": WHEN,
}


def rank(  # noqa: PLR0913 - a keyword for each option of a method
    ratings: Ratings,
    *,
    method: str = DEFAULT,
    start: Start | None = None,
    scan: str | None = None,
    twins: str | None = None,
    by: str | None = None,
    weight: Weight | None = None,
    score_pairs: int | None = None,
    noise: float | None = None,
    anchored: bool | None = None,
    eta: float | None = None,
    split: str | None = None,
    mean_ranks: str | None = None,
    shrink: bool | None = None,
    top: int | None = None,
    design: str | None = None,
    distinct: bool = False,
    assignment: Assignment | None = None,
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
            tell apart settled by coins (Algorithm 3). "sorter": free pairs sorted one
            by one, the most open first (Theorem K). "ties": any ranking, with such
            groups sorted by mean scores and noise (Theorem T). "safe": by mean rank,
            with equal ones sorted likewise; where reviewers contradict each other, some
            make groups and the others sort them. "mean": by plain mean score.
            "centred", "z", "additive", "affine", "isotonic", "bradley-terry", "borda":
            what people use instead. "adaptive": scores as far as reviewers' offsets are
            small, orders as far as they are not.
        start: For flips, twins and ties, what they start from: "topological" (default
            of flips and twins), "uniform", "mean-rank" (of ties), or a function that is
            given the comparisons and a Generator and returns item codes, best first. It
            never sees a score. For flips its ranking must respect every comparison.
        scan: For flips-uniform, "parity" (default), which holds for every set of
            comparisons, or "paper", which holds on average over random ones.
        twins: For twins, settle "all" disjoint pairs (default) or the first "one", as
            printed.
        by: For twins, by the "closure" of the comparisons (default) or by "direct"
            ones, as printed.
        weight: For flips, flips-uniform, twins and sorter, how a gap in scores weighs;
            see `evenhand.weights`. rational(1) by default.
        score_pairs: For flips, flips-uniform and sorter, how many pairs of scores, an
            odd number, have a majority over each pair of items; 1 by default.
        noise: For ties and safe, standard deviation of the normal noise on each mean,
            0.3 by default. It must not be chosen by a look at the scores.
        anchored: For sorter, ties and safe, whether scores are taken relative to those
            of items that the reviewers share (Theorem A); they are by default.
        eta: For safe, hold items for equal, too, whose order the comparisons leave as
            open as 1/2 + eta; the price is in the result. 0 by default.
        split: For safe, "always" to split the reviewers whatever they scored: the
            guarantee then holds with errors in scores too, if you chose this before you
            saw a score. "auto" (default) splits only where reviewers contradict each
            other, with a guarantee if those who make the groups do so themselves.
        mean_ranks: For mean-rank, safe and whatever starts from mean ranks: "exact",
            "sampled", or a "proxy" that takes no time; "auto" (default) takes the first
            that is not too much work.
        shrink: For additive, whether values and offsets are drawn to the middle as far
            as ratings are few or noisy (REML); they are by default.
        top: Number of items that matter, such as papers to accept: the result then has
            the probability of each to be among them. For safe, it says where adaptive
            disagrees; for adaptive, where safe does, if a design is declared.
        design: How items were assigned to reviewers, "pairs" or "balanced", as far as
            it was so; the certificate rests on it.
        distinct: Declare that no reviewer would give two items the same score, under
            any assignment. The ranking guarantees need it; the scores at hand cannot
            show it.
        assignment: The assignment that the ratings came through, which says it better.
        rng: Seed, generator or None.

    Returns:
        The ranking, with every coin that was flipped.

    Raises:
        RatingsError: If the method needs scores and there are none.
        ContradictionError: If the comparisons contradict each other, and the method is
            neither safe, mean nor a model.
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
    given = {name: value for name, value in locals().items() if name in USED_BY}
    _check(ratings, method, given)
    _check_choices({**given, "distinct": distinct})
    declared = declare(design, assignment, RANKING_DESIGNS, ratings)
    told: dict[str, Any] = {key: x for key, x in given.items() if x is not None}
    if method == "ties":
        told.setdefault("start", "mean-rank")
    options = Options(**{**told, "weight": as_weight(weight)})
    check_score_pairs(options.score_pairs)
    seed = seed_from(rng)
    _check_top(top, ratings)
    task = Task(ratings, comparisons(ratings), seed)
    if method not in NOISY:
        require_consistent(ratings, task.graph, method=method)
    answer = _answered(method, task, options)
    certificate = ranking_certificate(
        ratings, method, answer, declared, distinct=distinct
    )
    told_of = {"design": declared.design, "distinct": distinct}
    ranked = _ranking(task, method, answer, certificate, told_of)
    if top is None:
        return ranked
    other = OTHER.get(method)
    # Without a design, safe has no claim and its order is one of many random ones.
    claims = ratings.kind == "scores" and declared.design is not None
    if other is None or (other == "safe" and not claims):
        return topped(ranked, top, None)
    second = rank(
        ratings,
        method=other,
        design=design,
        distinct=distinct,
        assignment=assignment,
        rng=seed,
    )
    return topped(ranked, top, second)


def _answered(method: str, task: Task, options: Options) -> Answer:
    if method in STARTS:
        return from_start(task, method, options.mean_ranks)
    if method in MODELS:
        return by_model(method, task, options)
    return WITH_SCORES[method](task, options)


def _check(ratings: Ratings, method: str, given: Mapping[str, object]) -> None:
    require_ratings(ratings)
    require_text(method=method)
    if method not in METHODS:
        raise OptionError(unknown("method", method, METHODS))
    for option, value in given.items():
        users = USED_BY[option]
        if value is not None and method not in users:
            several = ", ".join(users[:-1])
            known = f"{several} and {users[-1]}" if several else users[-1]
            raise OptionError(f"{option} is an option of {known}, not of {method}.")
    start = given["start"]
    if callable(start):
        require_function("start", start, "the comparisons", "a Generator")
    elif not (start is None or (isinstance(start, str) and start in STARTS)):
        raise OptionError(unknown("start", start, STARTS))
    if method not in (*STARTS, "mean", *ORDINAL):
        ratings.scores  # noqa: B018 - refuses ranks and comparisons in words


def _check_choices(given: Mapping[str, object]) -> None:
    for option in ("anchored", "shrink", "distinct"):
        value = given[option]
        if not isinstance(value, bool | None):
            raise OptionError(f"{option} must be True or False, got {shown(value)}.")
    for option, known in CHOICES.items():
        value = given[option]
        if not (value is None or (isinstance(value, str) and value in known)):
            raise OptionError(
                f"{option} must be one of {listing(known)}, got {shown(value)}."
            )


def _check_top(top: int | None, ratings: Ratings) -> None:
    whole = isinstance(top, int) and not isinstance(top, bool)
    if not (top is None or (whole and 1 <= top <= ratings.n_items)):
        raise OptionError(
            f"top must be a whole number from 1 to {ratings.n_items}, the number of "
            f"items, got {shown(top)}."
        )


def _ranking(
    task: Task,
    method: str,
    answer: Answer,
    certificate: Certificate,
    declared: Mapping[str, Json],
) -> Ranking:
    ratings = task.ratings
    sure = sureness(method, task, answer)
    items = tuple(_items(ratings, answer, sure))
    # Models say themselves which items they cannot compare.
    groups = () if answer.fit is not None else group_notices(task.graph)
    notices = (
        *ratings.notices,
        *information_notices(ratings),
        *groups,
        *answer.notices,
    )
    first = {notice.code: notice for notice in reversed(notices)}
    return Ranking(
        order=tuple(row.item for row in items),
        items=items,
        draws=tuple(_draws(ratings, answer)),
        method=method,
        parameters={**answer.parameters, **declared},
        seed=task.seed,
        data=ratings.summary(),
        notices=tuple(first.values())[::-1],
        certificate=certificate,
        rho=None if answer.fit is None else answer.fit.rho,
        eta_price=certificate.eta_price,
        uncertainty=sure,
    )


def _items(
    ratings: Ratings, answer: Answer, sure: RankUncertainty | None
) -> Iterator[RankedItem]:
    """Make a row for each item, best first."""
    order, fit = answer.order, answer.fit
    known = answer.mean_ranks if sure is None else sure
    bucket = {}
    if known is not None:
        bucket = dict(zip(known.order.tolist(), known.buckets, strict=True))
    ranks = None if answer.mean_ranks is None else answer.mean_ranks.averages.mean_rank
    starts, rows = ratings.by_item()
    values = ratings.preference[rows].tolist()
    bounds = list(itertools.pairwise(starts.tolist()))
    columns = (
        _column(ranks, order),
        _column(None if sure is None else sure.rank_low, order),
        _column(None if sure is None else sure.rank_high, order),
        _column(None if fit is None else fit.estimates, order),
        _column(None if fit is None else fit.errors, order),
    )
    for place, (item, mean_rank, low, high, estimate, error) in enumerate(
        zip(order.tolist(), *columns, strict=True), start=1
    ):
        scores = values[slice(*bounds[item])]
        scored = ratings.kind == "scores" and scores
        yield RankedItem(
            item=ratings.item_labels[item],
            rank=place,
            bucket=bucket.get(item),
            mean_rank=mean_rank,
            reviews=len(scores),
            rank_low=low,
            rank_high=high,
            p_top=None,
            mean_score=mean(scores) if scored else None,
            spread=spread(scores) if scored else None,
            estimate=estimate,
            error=error,
        )


def _column(values: NDArray[Any] | None, order: Codes) -> Sequence[Any]:
    return [None] * len(order) if values is None else values[order].tolist()


def _draws(ratings: Ratings, found: Answer) -> Iterator[Draw]:
    people, items = ratings.reviewer_labels, ratings.item_labels
    for coin in found.coins if found.ties is None else found.ties.draws:
        one, other = (items[item] for item in coin.items)
        yield Draw(
            items=(one, other),
            p_first=coin.p_first,
            first=one if coin.kept else other,
            reviewers=tuple([people[who] for who in coin.reviewers]),
            anchors=tuple(
                [tuple([items[item] for item in group]) for group in coin.anchors]
            ),
        )
