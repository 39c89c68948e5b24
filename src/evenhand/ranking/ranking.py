"""`rank`: order many items, by name of the method."""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand.calibration.means import mean, spread
from evenhand.claims import Notice, certify
from evenhand.designs import RANKING_DESIGNS
from evenhand.designs.assignment import declare
from evenhand.errors import OptionError, require_whole, shown
from evenhand.method import as_method
from evenhand.progress import working
from evenhand.randomness import RNGLike, seed_from
from evenhand.ranking.claims import ranking_certificate
from evenhand.ranking.methods import (
    Answer,
    BradleyTerry,
    Mean,
    RankMethod,
    Task,
    by_estimates,
    checked_order,
)
from evenhand.ranking.notices import (
    group_notices,
    information_notices,
    lot_notices,
    separate_groups,
)
from evenhand.ranking.results import Draw, RankedItem, Ranking, topped
from evenhand.ranking.uncertainty import (
    from_clusters,
    from_fit,
    sureness,
)
from evenhand.ratings import Ratings, as_ratings, cluster_codes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor

    from numpy.typing import ArrayLike

    from evenhand.arrays import Codes
    from evenhand.claims import Certificate, Json, Label
    from evenhand.designs.assignment import Assignment
    from evenhand.engines.pairs import PairCounts
    from evenhand.ranking.uncertainty import RankUncertainty
    from evenhand.ratings import Data, Names

    Scored = tuple[int, float | None, float | None]
    OwnMethod = Callable[[Ratings, np.random.Generator], ArrayLike]

__all__ = ["Draw", "RankedItem", "Ranking", "rank"]

DEFAULT = "adaptive"
DISTINCT = "(distinct)"
"""Stands behind a design if no reviewer would give two items the same score."""
APART = (
    "There are no intervals of ranks: no reviewer links some groups of items, and "
    "counts of pairs do not say how their errors go together. Take the ratings "
    "themselves."
)
UNSURE = (
    "There are no intervals of ranks: counts of pairs do not say how sure means are. "
    "Take the ratings themselves."
)
INDEPENDENT = (
    "Intervals of ranks take the errors of different items for independent, as "
    "reviewers were not seen."
)


@working("Ranking")
def rank(
    ratings: Data | PairCounts,
    *,
    reviewer: Names | None = None,
    item: Names | None = None,
    score: str | None = None,
    method: str | RankMethod | OwnMethod = DEFAULT,
    top: int | None = None,
    design: str | None = None,
    distinct: bool = False,
    assignment: Assignment | None = None,
    cluster: Names | Mapping[Label, Label] | None = None,
    executor: Executor | None = None,
    rng: RNGLike = None,
) -> Ranking:
    """Order items, from reviewers who each saw a few of them.

    Args:
        ratings: Who gave what to which item, in a Ratings or a dataframe; or what
            `count_pairs` counted, for "bradley-terry", "additive" and "mean".
        reviewer: Column of a dataframe that names the reviewer, or a list of columns
            that do together; by default found by its name, as in files.
        item: Column of the item, or a list of columns.
        score: Column of the score.
        method: A method by its name, "adaptive"; by its text form with options,
            "flips(weight=rational(2), start=uniform)"; a value of
            `evenhand.ranking.methods`; or a function of the ratings and a Generator
            that returns item codes, best first. `evenhand methods` lists them with
            their options.
        top: Number of items that matter, such as papers to accept: the result then says
            which are clearly in, open and out, with the probability of each to be among
            them.
        design: How items were assigned to reviewers, "pairs" or "balanced"; the
            certificate rests on it. "pairs(distinct)" declares distinct as well.
        distinct: Declare that no reviewer would give two items the same score, under
            any assignment. The ranking guarantees need it; the scores at hand cannot
            show it.
        assignment: The assignment that the ratings came through, which says it better.
        cluster: What reviewers share that may move their scores together, such as a
            prompt: column of a dataframe, or several; for a Ratings, the cluster of
            each reviewer. Intervals of ranks and probabilities of the best then come
            from clusters drawn again. For methods with values, such as "adaptive".
        executor: What ranks clusters that were drawn again, such as a
            ProcessPoolExecutor or Dask's `client.get_executor()`; for cluster= only.
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
    data, columns = ratings, {"reviewer": reviewer, "item": item, "score": score}
    if not isinstance(data, Ratings):
        from evenhand.engines.pairs import PairCounts  # noqa: PLC0415 - few have them

        if isinstance(data, PairCounts):
            more = {"design": design, "assignment": assignment, "cluster": cluster}
            chosen, seed = as_method(method, RankMethod), seed_from(rng)
            return _of_pairs(data, chosen, seed, top, {**columns, **more})
    ratings = as_ratings(data, nameless=False, **columns)
    if not isinstance(distinct, bool):
        raise OptionError(f"distinct must be True or False, got {shown(distinct)}.")
    if isinstance(design, str) and design.endswith(DISTINCT):
        design, distinct = design.removesuffix(DISTINCT), True
    chosen = as_method(method, RankMethod)
    declared = declare(design, assignment, RANKING_DESIGNS, ratings)
    seed = seed_from(rng)
    if top is not None:
        require_whole("top", top, 1, ratings.n_items, "the number of items")
    task = Task(ratings, seed, executor=executor)
    answer = _answered(task, chosen)
    if cluster is not None:
        answer = _by_cluster(
            task, chosen, answer, cluster_codes(data, ratings, cluster, **columns)
        )
    if declared.whole:
        known = (it for it in answer.notices if it.code != "unequal_loads")
        answer = replace(answer, notices=tuple(known))
    certificate = ranking_certificate(
        ratings, chosen, answer, declared, distinct=distinct
    )
    told_of = {"design": declared.design, "distinct": distinct}
    ranked = _ranking(task, chosen, answer, certificate, told_of)
    return ranked if top is None else topped(ranked, top)


def _of_pairs(
    pairs: PairCounts,
    method: RankMethod,
    seed: int,
    top: int | None,
    others: Mapping[str, object],
) -> Ranking:
    """Order items by counts of pairs."""
    for name, value in others.items():
        if value is not None:
            raise OptionError(f"{name} must be left out for counts of pairs.")
    if top is not None:
        require_whole("top", top, 1, pairs.n_items, "the number of items")
    answer = _answer_of_pairs(pairs, method, seed)
    counts, totals = pairs.reviews, pairs.totals
    away = np.maximum(pairs.squares - totals**2 / counts, 0)
    spreads = np.sqrt(away / np.maximum(counts - 1, 1)).tolist()
    means = (pairs.centre + totals / counts).tolist()
    scores = [
        (number, means[item], spreads[item] if number > 1 else None)
        for item, number in enumerate(counts.tolist())
    ]
    items = tuple(_items(pairs.item_labels, scores, answer, answer.uncertainty))
    ranked = Ranking(
        order=tuple(row.item for row in items),
        items=items,
        draws=(),
        method=method.called,
        parameters={**method.parameters(), "design": None, "distinct": False},
        seed=seed,
        data=pairs.summary(),
        notices=(*pairs.notices, *answer.notices),
        certificate=certify(method.best),
        uncertainty=answer.uncertainty,
    )
    return ranked if top is None else topped(ranked, top)


def _answer_of_pairs(pairs: PairCounts, method: RankMethod, seed: int) -> Answer:
    """Rank by a method that needs no more than counts of pairs."""
    from evenhand.calibration import bradley_terry as orders  # noqa: PLC0415 - few have them

    if isinstance(method, Mean):
        values = pairs.centre + pairs.totals / pairs.reviews
        order = by_estimates(values, seed, "mean")
        told = separate_groups(int(orders.ordered_groups(pairs).max()) + 1)
        told = (*told, *lot_notices("means", values, order, pairs.item_labels))
        return Answer(order, notices=(*told, Notice("no_intervals", UNSURE)))
    if not isinstance(method, BradleyTerry):
        raise OptionError(
            "method must be 'bradley-terry' or 'mean' for counts of pairs, got "
            f"{method.called!r}, which needs every rating. Take the ratings themselves."
        )
    fit = orders.bradley_terry_of_pairs(pairs)
    order = by_estimates(fit.estimates, seed)
    tied = lot_notices("estimates", fit.estimates, order, pairs.item_labels)
    sure, why = None, Notice("no_intervals", APART)
    if fit.groups.max() == 0:
        why = Notice("independent_errors", INDEPENDENT)
        sure = from_fit(fit, seed, order=order, errors=fit.errors)
    return Answer(order, notices=(*fit.notices, *tied, why), fit=fit, uncertainty=sure)


def _answered(task: Task, chosen: RankMethod) -> Answer:
    """Let a method order the items, and check what it gives."""
    if task.executor is not None:
        from evenhand.engines.executors import require_executor  # noqa: PLC0415 - for clusters only

        require_executor(task.executor)
    chosen.check(task)
    answer = chosen.answer(task)
    if not isinstance(answer, Answer):
        raise OptionError(
            f"method {chosen} must return an Answer, got {shown(answer)}."
        )
    checked_order(answer.order, task.ratings.n_items, f"method {chosen}")
    return answer


def _by_cluster(
    task: Task, method: RankMethod, answer: Answer, clusters: Codes
) -> Answer:
    """Say how sure places are by clusters, which share what a model does not know."""
    if not method.by_value:
        raise OptionError(
            "cluster must come with a method that gives items values, such as adaptive "
            f"or mean, got {method.called!r}."
        )
    sure = from_clusters(
        task.ratings,
        clusters,
        functools.partial(_values, method, task.seed),
        task.seed,
        order=answer.order,
        executor=task.executor,
    )
    text = (
        f"Intervals of ranks are by cluster ({sure.clusters:,} of them), as reviewers "
        "of one cluster may err together."
    )
    told = (*answer.notices, Notice("intervals_by_cluster", text))
    return replace(answer, uncertainty=sure, notices=told)


def _values(method: RankMethod, seed: int, ratings: Ratings) -> ArrayLike:
    found = method.answer(Task(ratings, seed, intervals=False))
    return -np.argsort(found.order) if found.fit is None else found.fit.estimates


def _ranking(
    task: Task,
    method: RankMethod,
    answer: Answer,
    certificate: Certificate,
    declared: Mapping[str, Json],
) -> Ranking:
    ratings = task.ratings
    sure = sureness(task, answer, noisy=method.noisy)
    scores = tuple(_scores(ratings))
    items = tuple(_items(ratings.item_labels, scores, answer, sure))
    # Models say themselves which items they cannot compare.
    groups = () if answer.fit is not None else group_notices(task.graph)
    told = (
        *ratings.notices,
        *information_notices(ratings),
        *ratings.weighing(method.called, used=method.weighs),
        *groups,
        *answer.notices,
    )
    first = {notice.code: notice for notice in reversed(told)}
    return Ranking(
        order=tuple(row.item for row in items),
        items=items,
        draws=tuple(_draws(ratings, answer)),
        method=method.called,
        parameters={**method.parameters(), **(answer.parameters or {}), **declared},
        seed=task.seed,
        data=ratings.summary(),
        notices=tuple(first.values())[::-1],
        certificate=certificate,
        rho=None if answer.fit is None else answer.fit.rho,
        uncertainty=sure,
        titles=ratings.titles,
        ratings=ratings,
    )


def _scores(ratings: Ratings) -> Iterator[Scored]:
    """Yield the number, the mean and the spread of each item's scores, by code."""
    starts, rows = ratings.by_item()
    values = ratings.preference[rows].tolist()
    for begin, end in itertools.pairwise(starts.tolist()):
        scores = values[begin:end]
        if ratings.kind == "scores" and scores:
            yield len(scores), mean(scores), spread(scores)
        else:
            yield len(scores), None, None


def _items(
    labels: Sequence[Label],
    scores: Sequence[Scored],
    answer: Answer,
    sure: RankUncertainty | None,
) -> Iterator[RankedItem]:
    """Make a row for each item, best first."""
    order, fit, by_rank = answer.order, answer.fit, answer.mean_ranks
    known = by_rank if sure is None else sure
    bucket = {}
    if known is not None:
        bucket = dict(zip(known.order.tolist(), known.buckets, strict=True))
    columns = (
        None if by_rank is None else by_rank.averages.mean_rank,
        None if sure is None else sure.rank_low,
        None if sure is None else sure.rank_high,
        None if fit is None else fit.estimates,
        None if fit is None else fit.errors,
    )
    for place, item in enumerate(order.tolist(), start=1):
        reviews, mean_score, score_spread = scores[item]
        mean_rank, low, high, estimate, error = (
            None if column is None else column[item].item() for column in columns
        )
        yield RankedItem(
            item=labels[item],
            rank=place,
            bucket=bucket.get(item),
            mean_rank=mean_rank,
            reviews=reviews,
            rank_low=low,
            rank_high=high,
            p_top=None,
            mean_score=mean_score,
            spread=score_spread,
            estimate=estimate,
            error=error,
        )


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
