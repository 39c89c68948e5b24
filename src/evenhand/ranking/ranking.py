"""`rank`: order many items, by name of the method."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels.sums import centres_and_spreads
from evenhand._labels import require_function, require_text, shown
from evenhand._randomness import RNGLike, seed_from
from evenhand._results import many_objects
from evenhand.ab.weights import GapWeight, as_weight
from evenhand.assignments.declared import Declared, declare
from evenhand.calibration.mean import mean, spread
from evenhand.calibration.models import MODELS, ORDINAL
from evenhand.designs import RANKING_DESIGNS
from evenhand.errors import OptionError, listing, unknown
from evenhand.posets.comparisons import Comparisons, comparisons, require_consistent
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
from evenhand.ranking.sureness import sureness
from evenhand.ranking.twins import BYS, PAIRS
from evenhand.ratings import Ratings, require_ratings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from numpy.typing import ArrayLike, NDArray

    from evenhand._results import Label, Notice
    from evenhand.assignments.assignment import Assignment
    from evenhand.certificate import Certificate
    from evenhand.ranking.uncertainty import RankUncertainty

    Codes = NDArray[np.int64]
    Start = str | Callable[[Comparisons, np.random.Generator], ArrayLike]
    Summaries = tuple[list[int], list[float | None], list[float | None]]
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
    given = {
        "start": start,
        "scan": scan,
        "twins": twins,
        "by": by,
        "weight": weight,
        "score_pairs": score_pairs,
        "noise": noise,
        "anchored": anchored,
        "eta": eta,
        "split": split,
        "mean_ranks": mean_ranks,
        "shrink": shrink,
    }
    _check(ratings, method, given)
    _check_choices({**given, "distinct": distinct})
    declared = declare(design, assignment, RANKING_DESIGNS, ratings)
    options = Options(
        start=start or ("mean-rank" if method == "ties" else "topological"),
        scan=scan or "parity",
        twins=twins or "all",
        by=by or "closure",
        weight=as_weight(weight),
        score_pairs=1 if score_pairs is None else score_pairs,
        noise=noise,
        anchored=anchored is not False,
        eta=0.0 if eta is None else eta,
        split=split or "auto",
        mean_ranks=mean_ranks or "auto",
        shrink=shrink is not False,
    )
    check_score_pairs(options.score_pairs)
    seed = seed_from(rng)
    _check_top(top, ratings)
    task = Task(ratings, comparisons(ratings), seed)
    if method not in NOISY:
        require_consistent(ratings, task.graph, method=method)
    answer = _answered(method, task, options)
    facts = replace(
        answer.facts,
        design=declared.design,
        backing=declared.backing,
        missing=declared.missing,
        conflicts=declared.conflicts,
        distinct=distinct,
    )
    found = replace(answer, facts=facts)
    certificate = ranking_certificate(ratings, facts)
    ranked = _ranking(task, method, found, declared, certificate, _summaries(ratings))
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
        rng=task.seed,
    )
    return topped(ranked, top, second)


def _answered(method: str, task: Task, options: Options) -> Answer:
    if method in STARTS:
        return from_start(task, method, options.mean_ranks)
    if method in MODELS:
        return by_model(method, task, options)
    return WITH_SCORES[method](task, options)


def _check_top(top: object, ratings: Ratings) -> None:
    if top is None:
        return
    whole = isinstance(top, int) and not isinstance(top, bool)
    if not whole or not 1 <= top <= ratings.n_items:  # type: ignore[operator]  # an int
        raise OptionError(
            f"top must be a whole number from 1 to {ratings.n_items}, the number of "
            f"items, got {shown(top)}."
        )


def _check(ratings: Ratings, method: str, given: Mapping[str, object]) -> None:
    require_ratings(ratings)
    require_text(method=method)
    if method not in METHODS:
        raise OptionError(unknown("method", method, METHODS))
    for option, value in given.items():
        users = USED_BY[option]
        if value is not None and method not in users:
            raise OptionError(
                f"{option} is an option of {_series(users)}, not of {method}."
            )
    start = given["start"]
    if callable(start):
        require_function("start", start, "the comparisons", "a Generator")
    elif not (start is None or (isinstance(start, str) and start in STARTS)):
        raise OptionError(unknown("start", start, STARTS))
    if method in (*WITH_SCORES, *MODELS) and method not in ("mean", *ORDINAL):
        ratings.scores  # noqa: B018 - refuses ranks and comparisons in words


def _check_choices(given: Mapping[str, object]) -> None:
    choices: dict[str, tuple[str, ...]] = {
        "scan": SCANS,
        "twins": PAIRS,
        "by": BYS,
        "mean_ranks": HOWS,
        "split": WHEN,
    }
    for option in ("anchored", "shrink", "distinct"):
        if not isinstance(given[option], bool | None):
            raise OptionError(
                f"{option} must be True or False, got {shown(given[option])}."
            )
    for option, known in choices.items():
        value = given.get(option)
        if not (value is None or (isinstance(value, str) and value in known)):
            raise OptionError(
                f"{option} must be one of {listing(known)}, got {shown(value)}."
            )


def _ranking(
    task: Task,
    method: str,
    answer: Answer,
    declared: Declared,
    certificate: Certificate,
    summaries: Summaries,
) -> Ranking:
    ratings = task.ratings
    sure = sureness(method, task, answer)
    fit = answer.fit
    with many_objects():
        items = _items(ratings, answer, sure, summaries)
        draws = tuple(_draws(ratings, answer))
    return Ranking(
        order=tuple([row.item for row in items]),
        items=items,
        draws=draws,
        method=method,
        parameters={
            **answer.parameters,
            "design": declared.design,
            "distinct": answer.facts.distinct,
        },
        seed=task.seed,
        data=ratings.summary(),
        notices=_unique(
            (
                *ratings.notices,
                *information_notices(ratings),
                *_groups(task, answer),
                *answer.notices,
            )
        ),
        certificate=certificate,
        rho=None if fit is None else fit.rho,
        eta_price=certificate.eta_price,
        uncertainty=sure,
    )


def _groups(task: Task, answer: Answer) -> tuple[Notice, ...]:
    """Models say themselves which items they cannot compare."""
    return () if answer.fit is not None else group_notices(task.graph)


def _unique(notices: tuple[Notice, ...]) -> tuple[Notice, ...]:
    return tuple({notice.code: notice for notice in reversed(notices)}.values())[::-1]


def _items(
    ratings: Ratings,
    answer: Answer,
    sure: RankUncertainty | None,
    summaries: Summaries,
) -> tuple[RankedItem, ...]:
    """Make a row for each item, best first, column by column."""
    order = answer.order
    codes = order.tolist()
    ranks, fit = answer.mean_ranks, answer.fit
    counts, centres, spreads = summaries
    nothing = [None] * len(codes)
    errors = None if fit is None else fit.errors
    columns: tuple[Sequence[Any], ...] = (
        [ratings.item_labels[item] for item in codes],
        range(1, len(codes) + 1),
        _buckets(codes, answer, sure) or nothing,
        nothing if ranks is None else ranks.averages.mean_rank[order].tolist(),
        [counts[item] for item in codes],
        nothing if sure is None else sure.rank_low[order].tolist(),
        nothing if sure is None else sure.rank_high[order].tolist(),
        nothing,
        [centres[item] for item in codes],
        [spreads[item] for item in codes],
        nothing if fit is None else fit.estimates[order].tolist(),
        nothing if errors is None else errors[order].tolist(),
    )
    return tuple(map(RankedItem, *columns))


def _summaries(ratings: Ratings) -> Summaries:
    """Return the number of ratings of each item, and their mean and spread."""
    starts, rows = ratings.by_item()
    counts = np.diff(starts).tolist()
    if ratings.kind != "scores":
        return counts, [None] * len(counts), [None] * len(counts)
    values = ratings.preference[rows]
    found = centres_and_spreads(starts, values, 2.0)
    centres, spreads = (_or_none(column) for column in found)
    # Sums beyond any float are worked out in fractions.
    for item in np.flatnonzero(np.isnan(found[0]) & (np.diff(starts) > 0)).tolist():
        scores = values[starts[item] : starts[item + 1]].tolist()
        centres[item], spreads[item] = mean(scores), spread(scores)
    return counts, centres, spreads


def _or_none(numbers: NDArray[np.float64]) -> list[float | None]:
    plain: list[float | None] = numbers.tolist()
    for place in np.flatnonzero(np.isnan(numbers)).tolist():
        plain[place] = None
    return plain


def _buckets(
    codes: list[int], found: Answer, sure: RankUncertainty | None
) -> list[int] | None:
    """Number the groups that the data cannot tell apart."""
    known = found.mean_ranks if sure is None else sure
    if known is None:
        return None
    number = dict(zip(known.order.tolist(), known.buckets, strict=True))
    return [number[item] for item in codes]


def _draws(ratings: Ratings, found: Answer) -> Iterator[Draw]:
    people, items = ratings.reviewer_labels, ratings.item_labels
    for coin in found.coins:
        one, other = items[coin.items[0]], items[coin.items[1]]
        yield Draw(
            items=(one, other),
            p_first=coin.p_first,
            first=one if coin.kept else other,
            reviewers=tuple([people[who] for who in coin.reviewers]),
            anchors=_named(items, coin.anchors),
        )
    for draw in () if found.ties is None else found.ties.draws:
        turns = itertools.chain.from_iterable(zip(*draw.reviewers, strict=True))
        yield Draw(
            items=(items[draw.items[0]], items[draw.items[1]]),
            p_first=draw.p_first,
            first=items[draw.first],
            reviewers=tuple(people[who] for who in turns),
            anchors=_named(items, draw.anchors),
        )


def _named(
    labels: Sequence[Label], groups: Sequence[Sequence[int]]
) -> tuple[tuple[Label, ...], ...]:
    if not groups:
        return ()
    return tuple(tuple(labels[item] for item in group) for group in groups)


def _series(names: tuple[str, ...]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
