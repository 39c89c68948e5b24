"""`rank`: order many items, by name of the method."""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from evenhand.arrays import mean, spread
from evenhand.claims import DataWarning, certify, few
from evenhand.errors import EvenhandError, OptionError, must_be, quote
from evenhand.lazy import lazy
from evenhand.method import as_method
from evenhand.progress import working
from evenhand.randomness import RNGLike, seed_as_rng, seed_from
from evenhand.ranking.claims import BY_SHARE, ranking_certificate
from evenhand.ranking.methods import (
    Answer,
    BradleyTerry,
    RankMethod,
    Task,
    check_order,
)
from evenhand.ranking.notices import (
    group_notices,
    information_notices,
    interval_notices,
    share_notices,
)
from evenhand.ranking.results import Draw, RankedItem, Ranking, add_top, read_top
from evenhand.ranking.uncertainty import (
    JOINT_ITEMS,
    ORDERINGS,
    from_clusters,
    from_model,
    from_places,
)
from evenhand.ranking.weightings import weigh_criteria
from evenhand.ratings import Ratings, as_ratings, cluster_codes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor
    from typing import Any

    from numpy.typing import ArrayLike

    from evenhand.arrays import Codes
    from evenhand.claims import Json, Label
    from evenhand.designs import design as designs
    from evenhand.designs.assignment import Assignment
    from evenhand.designs.design import Declared, ManyItemDesign
    from evenhand.engines import executors
    from evenhand.engines import pairs as engine_pairs
    from evenhand.engines.pairs import PairCounts
    from evenhand.posets import averaging
    from evenhand.ranking import simultaneous as simultaneous_ranks
    from evenhand.ranking.uncertainty import RankUncertainty
    from evenhand.ratings import Data, Names, ReadingOptions

    Scored = tuple[int, float | None, float | None]
    OwnMethod = Callable[[Ratings, np.random.Generator], ArrayLike]
else:
    designs = lazy("evenhand.designs.design")
    executors = lazy("evenhand.engines.executors")
    engine_pairs = lazy("evenhand.engines.pairs")
    averaging = lazy("evenhand.posets.averaging")
    simultaneous_ranks = lazy("evenhand.ranking.simultaneous")

__all__ = ["Draw", "RankedItem", "Ranking", "rank"]

DEFAULT = "adaptive"
SCORED = ("reviews", "mean_score", "spread")
# Up to so many items all orderings are weighed in well under a second.
WEIGHED_ITEMS = 100
# What one item for each reviewer always brings about.
UNLINKED = {"one_rating_reviewers", "unlinked_groups", "separate_groups"}
DISTINCT = "(distinct)"
"""Stands behind a design if no reviewer would give two items the same score."""


@seed_as_rng
@working("Ranking")
def rank(
    ratings: Data | PairCounts,
    *,
    method: str | RankMethod | OwnMethod = DEFAULT,
    top: int | str | None = None,
    design: str | None = None,
    distinct: bool = False,
    assignment: Assignment | None = None,
    cluster: Names | Mapping[Label, Label] | None = None,
    simultaneous: bool = False,
    executor: Executor | None = None,
    rng: RNGLike = None,
    **reading: Unpack[ReadingOptions],
) -> Ranking:
    """Order items, from reviewers who each saw a few of them.

    Args:
        ratings: Who gave what to which item, in a Ratings or a dataframe; or what
            `count_pairs` counted, for "bradley-terry", "additive" and "mean".
        method: A method by its name, "adaptive"; by its text form with options,
            "flips(weight=rational(2), start=uniform)"; a value of
            `evenhand.ranking.methods`; or a function of the ratings and a Generator
            that returns item codes, best first. `evenhand methods` lists them with
            their options.
        top: Number of items that matter, such as papers to accept: the result then says
            which are clearly in, open and out, with the probability of each to be among
            them. The first 20 by estimate have the highest values on average;
            "share=20" puts the 20 with the largest probabilities first instead, which
            hold most of the true best 20. For models and "mean".
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
        simultaneous: Add ranks that hold for all items at once (95%), for up to 200
            items: for statements about several of them, such as who may be first.
            `rank_low` and `rank_high` are about one item by itself. If nearly every
            reviewer rated every item they are by signs, valid for any increasing
            scale of each reviewer; else by the method's draws of values.
        executor: What ranks clusters that were drawn again, such as a
            ProcessPoolExecutor or Dask's `client.get_executor()`.
        rng: Seed, generator or None.
        reading: How to read a file or a dataframe, with the names that `read_ratings`
            has: `reviewer`, `item`, `score`, `rows`, `scale`, ...

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
    data, design_text, strict = ratings, design, distinct
    chosen, seed = as_method(method, RankMethod), seed_from(rng)
    # Ratings are known without the counts' own module.
    if not isinstance(data, Ratings) and isinstance(data, engine_pairs.PairCounts):
        more = {"design": design, "assignment": assignment, "cluster": cluster}
        return _of_pairs(data, chosen, seed, top, {**reading, **more})
    ratings = as_ratings(data, rank, cluster=cluster, **reading)
    _require_flags(distinct=distinct, simultaneous=simultaneous)
    if isinstance(design, str) and design.endswith(DISTINCT):
        design, distinct = design.removesuffix(DISTINCT), True
    declared = None
    if design is not None or assignment is not None:
        kind = designs.ManyItemDesign
        declared = designs.declare(design, assignment, kind, ratings)
    if assignment is not None:
        lost = assignment.items_without_rating(ratings)
        ratings = ratings.with_unrated_items(lost, len(assignment.items))
    task = Task(ratings, seed)
    chosen.check(task)
    answer = chosen.answer(task)
    if not isinstance(answer, Answer):
        text = f"method {chosen} must return an Answer, got {quote(answer)}."
        raise OptionError(text)
    check_order(answer.order, ratings.n_items, f"method {chosen}")
    codes = cluster_codes(ratings, cluster)
    answer = _with_intervals(task, chosen, answer, codes, executor)
    if assignment is not None and assignment.common:
        answer = _set_apart(chosen, answer, ratings, assignment.common)
    k, by_share = read_top(top, len(answer.order))
    if by_share and k is not None:
        answer = _by_share(chosen, answer, k)
    if simultaneous:
        answer = _at_once(task, chosen, answer, codes)
    ranked = _of_ratings(task, chosen, answer, declared, distinct=distinct)
    ranked = _finish_top(ranked, k, by_share=by_share)
    again: Any = {"method": chosen, "assignment": assignment, "cluster": cluster}
    again |= {"distinct": strict, "design": design_text, "executor": executor}
    return _add_criteria(
        ranked, ratings, functools.partial(rank, **again, rng=seed), chosen
    )


def _add_criteria(
    ranking: Ranking,
    ratings: Ratings,
    again: Callable[[Ratings], Ranking],
    method: RankMethod,
) -> Ranking:
    """Rank the items by each criterion alone, and say what the weights decide."""
    criteria = ratings.criteria
    if criteria is None:
        return ranking
    rankings, warnings = dict[str, Ranking](), list[DataWarning]()
    for name in criteria.names:
        try:
            rankings[name] = again(ratings.with_criteria(name))
        except EvenhandError as error:
            facts: dict[str, Json] = {"criterion": name, "reason": str(error)}
            warnings.append(DataWarning("criterion_unranked", facts))
    values = {
        name: {
            row.item: row.mean_score if by_mean else row.estimate
            for row in ranked.items
            for by_mean in [method.by_value and row.estimate is None]
        }
        for name, ranked in rankings.items()
    }
    ranking = replace(
        ranking,
        items=tuple(
            row._replace(
                criteria={name: by.get(row.item) for name, by in values.items()}
            )
            for row in ranking.items
        ),
        criteria=rankings,
        notices=(*ranking.notices, *warnings),
    )
    used = [name for name, weight in criteria.counting if name in values]
    table = [[row.criteria[name] for name in used] for row in ranking.items]  # type: ignore[index]  # there are
    estimated = np.array(table, dtype=float)
    every = len(used) == len(criteria.counting) and np.isfinite(estimated).all()
    if ranking.top is None or len(used) < 2 or not every:
        return ranking
    weights = np.ones(len(used))
    if criteria.summed:
        estimated = estimated * [weight for _, weight in criteria.counting]
    else:
        weights = np.array([weight for _, weight in criteria.counting])
    complete = bool(np.isfinite(criteria.scores).all())
    data = estimated, weights, used, ranking.order, ranking.top.k, ranking.seed
    decided = weigh_criteria(*data, linear=method.linear and complete)
    return replace(ranking, weightings=decided)


def _require_flags(**flags: object) -> None:
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise must_be(name, "True or False", flag)


def _set_apart(
    method: RankMethod, answer: Answer, ratings: Ratings, common: Sequence[Label]
) -> Answer:
    """Leave common items out of an order by values, or say that they are in it."""
    names, labels = {*map(str, common)}, ratings.item_labels
    codes = [code for code, label in enumerate(labels) if str(label) in names]
    order, sure = answer.order[~np.isin(answer.order, codes)], answer.uncertainty
    if method.by_value:
        answer = replace(answer, order=order, uncertainty=sure and sure.among(order))
    facts = {"items": few(common), "case": "apart" if method.by_value else "ranked"}
    notices = (*answer.notices, DataWarning("common_items", facts))
    return replace(answer, notices=notices)


def _by_share(method: RankMethod, answer: Answer, k: int) -> Answer:
    """Choose the items that are most often among the best k."""
    if answer.uncertainty is None or not method.by_value:
        rule = "adaptive, additive, bradley-terry or mean to choose by share"
        raise must_be("method", rule, method.display_name)
    sure = answer.uncertainty.choose_by_share(k)
    findings = (*answer.findings, BY_SHARE)
    return replace(answer, order=sure.order, uncertainty=sure, findings=findings)


def _finish_top(ranking: Ranking, k: int | None, *, by_share: bool) -> Ranking:
    """Add what is known of the best k items, and whether others are likelier."""
    sure, warnings = ranking.uncertainty, tuple[DataWarning, ...]()
    # Only models can choose by share.
    models = sure is not None and sure.source != ORDERINGS
    if sure is not None and k is not None and models and not by_share:
        warnings = share_notices(*sure.expected_places(k), k)
    ranking = replace(ranking, notices=(*ranking.notices, *warnings))
    return add_top(ranking, k, by_share=by_share)


def _of_ratings(
    task: Task,
    method: RankMethod,
    answer: Answer,
    declared: Declared[ManyItemDesign] | None,
    *,
    distinct: bool,
) -> Ranking:
    ratings = task.ratings
    if declared is not None and declared.whole:
        kept = (
            warning for warning in answer.notices if warning.code != "unequal_loads"
        )
        answer = replace(answer, notices=tuple(kept))
    sure, options = answer.uncertainty, {"distinct": distinct}
    if sure is not None and sure.at_once is not None:
        options["simultaneous"] = True
    data = (ratings, method, answer, declared)
    return _ranking(
        method,
        answer,
        ratings,
        tuple(_scores(ratings)),
        {"design": declared.design_name if declared else None, **options},
        certificate=ranking_certificate(*data, distinct=distinct),
        draws=tuple(_draws(ratings, answer)),
        seed=task.seed,
        notices=_notices(task, method, answer),
        titles=ratings.titles,
        ratings=ratings,
    )


def _with_intervals(
    task: Task,
    method: RankMethod,
    answer: Answer,
    clusters: Codes | None,
    executor: Executor | None,
) -> Answer:
    """Add how sure the places are."""
    by_default = any(warning.code == "prompts" for warning in task.ratings.notices)
    if clusters is not None and (method.by_value or not by_default):
        return _by_cluster(task, method, answer, clusters, executor)
    return replace(answer, uncertainty=_uncertainty(task, method, answer))


def _uncertainty(
    task: Task, method: RankMethod, answer: Answer
) -> RankUncertainty | None:
    """Return how sure the places are, None for very many items by comparisons."""
    if answer.fit is not None or answer.uncertainty is not None:
        return answer.uncertainty
    if answer.split:
        model, ratings = BradleyTerry(), task.ratings
        fit = model.fit(ratings)
        return from_model(model, ratings, fit, task.seed, order=answer.order)
    if answer.mean_ranks is not None:
        mean_ranks = answer.mean_ranks.averages
    elif method.noisy or task.ratings.n_items > WEIGHED_ITEMS:
        return None
    else:
        mean_ranks = averaging.averages(task.graph, rng=task.seed)
    if mean_ranks.places is None:
        return None
    data = (answer.order, mean_ranks.places)
    return from_places(*data, above=mean_ranks.above, draws=mean_ranks.samples)


def _at_once(
    task: Task, method: RankMethod, answer: Answer, clusters: Codes | None
) -> Answer:
    """Add which items are above which, all statements at once."""
    ratings, sure = task.ratings, answer.uncertainty
    if sure is None or ratings.n_items > JOINT_ITEMS:
        rule = f"False for method {method.display_name} and this many items"
        raise must_be("simultaneous", rule, True)  # noqa: FBT003 - the value
    if simultaneous_ranks.nearly_complete(ratings):
        above = simultaneous_ranks.from_signs(ratings, clusters, task.seed)
    elif sure.drawn is None or (sure.clusters and answer.fit is None):
        rule = (
            "for a method that gives items values, such as adaptive, unless nearly "
            "every reviewer rated every item"
        )
        raise must_be("simultaneous", rule, method.display_name)
    elif sure.clusters and answer.fit is not None:
        data = (answer.fit.estimates, sure.drawn, sure.clusters)
        above = simultaneous_ranks.from_redraws(*data, task.seed)
    else:
        above = simultaneous_ranks.from_values(sure.drawn)
    return replace(answer, uncertainty=sure.hold_at_once(above))


def _of_pairs(
    pairs: PairCounts,
    method: RankMethod,
    seed: int,
    top: object,
    others: Mapping[str, object],
) -> Ranking:
    """Order items by counts of pairs."""
    for name, value in others.items():
        if value is not None:
            raise OptionError(f"{name} must be left out for counts of pairs.")
    answer = method.answer_pairs(pairs, seed)
    k, by_share = read_top(top, pairs.n_items)
    if by_share and k is not None:
        answer = _by_share(method, answer, k)
    ranked = _ranking(
        method,
        answer,
        pairs,
        pairs.scores_by_item(),
        {"design": None, "distinct": False},
        certificate=certify(method.undeclared),
        draws=(),
        seed=seed,
        notices=(*pairs.notices, *answer.notices),
    )
    return _finish_top(ranked, k, by_share=by_share)


def _by_cluster(
    task: Task,
    method: RankMethod,
    answer: Answer,
    clusters: Codes,
    executor: Executor | None,
) -> Answer:
    """Say how sure places are by clusters, which share what a model does not know."""
    if not method.by_value:
        rule = "for a method that gives items values, such as adaptive or mean"
        raise must_be("cluster", rule, method.display_name)
    executors.require_executor(executor)
    data = (task.ratings, clusters, functools.partial(_refit, method, task.seed))
    more: Any = {"order": answer.order, "executor": executor}
    sure = from_clusters(*data, task.seed, **more)
    by_cluster = DataWarning("intervals_by_cluster", {"clusters": sure.clusters})
    warnings = (*answer.notices, by_cluster)
    return replace(answer, uncertainty=sure, notices=warnings)


def _refit(method: RankMethod, seed: int, ratings: Ratings) -> ArrayLike:
    """Return values of the items of other ratings."""
    answer = method.answer(Task(ratings, seed, intervals=False))
    return -np.argsort(answer.order) if answer.fit is None else answer.fit.estimates


def _notices(task: Task, method: RankMethod, answer: Answer) -> tuple[DataWarning, ...]:
    """Say what the reader must know, once each."""
    ratings = task.ratings
    warnings = (
        *ratings.notices,
        *information_notices(ratings),
        *ratings.weighing(method.display_name, used=method.weighs),
        # Models say themselves which items they cannot compare.
        *(() if answer.fit is not None else group_notices(task.graph)),
        *answer.notices,
    )
    if ratings.n_reviewers == ratings.n_ratings and ratings.n_items > 1:
        # Nobody links items: of an experiment with several arms that is no news.
        kept = [notice for notice in warnings if notice.code not in UNLINKED]
        warnings = (*kept, DataWarning("one_item_each", {"items": ratings.n_items}))
    return tuple({notice.code: notice for notice in reversed(warnings)}.values())[::-1]


def _ranking(
    method: RankMethod,
    answer: Answer,
    data: Ratings | PairCounts,
    scores: Sequence[Scored],
    declared: Mapping[str, Json],
    **fields: Any,  # noqa: ANN401 - fields of the ranking
) -> Ranking:
    items = tuple(_items(data.item_labels, scores, answer))
    level = 0.0 if answer.uncertainty is None else answer.uncertainty.level
    fields["notices"] = (*fields["notices"], *interval_notices(items, level))
    return Ranking(
        order=tuple(row.item for row in items),
        items=items,
        method=method.display_name,
        parameters={**method.parameters(), **(answer.parameters or {}), **declared},
        rho=None if answer.fit is None else answer.fit.rho,
        uncertainty=answer.uncertainty,
        data=data.summary(),
        **fields,
    )


def _scores(ratings: Ratings) -> Iterator[Scored]:
    """Yield the number, the mean and the spread of each item's scores, by code."""
    starts, rows = ratings.by_item()
    values = ratings.preference[rows].tolist()
    for begin, end in itertools.pairwise(starts.tolist()):
        scores = values[begin:end] if ratings.kind == "scores" else []
        yield end - begin, mean(scores) if scores else None, spread(scores)


def _items(
    labels: Sequence[Label], scores: Sequence[Scored], answer: Answer
) -> Iterator[RankedItem]:
    """Make a row for each item, best first."""
    fit, sure, by_rank = answer.fit, answer.uncertainty, answer.mean_ranks
    source, bucket = sure or by_rank, dict[int, int]()
    if source is not None:
        bucket = dict(zip(source.order.tolist(), source.buckets, strict=True))
    low, high = (sure and sure.ranks_at_once) or (None, None)
    columns = {
        "rank_low_all": low,
        "rank_high_all": high,
        "mean_rank": None if by_rank is None else by_rank.averages.mean_rank,
        "rank_low": None if sure is None else sure.rank_low,
        "rank_high": None if sure is None else sure.rank_high,
        "estimate": None if fit is None else fit.estimates,
        "error": None if fit is None else fit.errors,
    }
    present = {name: column for name, column in columns.items() if column is not None}
    for place, item in enumerate(answer.order.tolist(), start=1):
        known_of = {name: column[item].item() for name, column in present.items()}
        known_of |= zip(SCORED, scores[item], strict=True)
        yield RankedItem(labels[item], place, bucket.get(item), **known_of)


def _draws(ratings: Ratings, answer: Answer) -> Iterator[Draw]:
    people, items = ratings.reviewer_labels, ratings.item_labels
    for coin in answer.coins if answer.ties is None else answer.ties.draws:
        first, second = (items[item] for item in coin.items)
        yield Draw(
            items=(first, second),
            p_first=coin.p_first,
            first=first if coin.kept else second,
            reviewers=tuple(people[reviewer] for reviewer in coin.reviewers),
            anchors=tuple(
                tuple(items[anchor] for anchor in layer) for layer in coin.anchors
            ),
        )
