"""The tables that a result holds, as dataframes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evenhand.ab.comparison import Comparison
from evenhand.errors import OptionError
from evenhand.lab.check import Check
from evenhand.ranking.results import Ranking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand._results import Label
    from evenhand.ratings import Ratings

    Maker = Callable[[], pl.DataFrame]

Result = Ranking | Comparison | Check
EXACT_WHOLE = 2.0**53
INT64 = 2**63


def makers(ratings: Ratings, result: Result, check: Check | None) -> dict[str, Maker]:
    """Return what makes each table of a result, by the table's name.

    Examples:
        >>> from evenhand import Ratings, compare
        >>> ratings = Ratings(["a", "b"], ["x", "y"], [1, 2])
        >>> [*makers(ratings, compare(ratings, rng=7), None)]
        ['comparison', 'ratings']
    """
    ratings = ratings.public
    if isinstance(result, Ranking):
        return {
            "ranking": partial(_ranking, ratings, result),
            "reviewers": partial(_reviewers, ratings, check),
            "draws": partial(_draws, result),
            "ratings": partial(_ratings, ratings),
        }
    if isinstance(result, Comparison):
        return {
            "comparison": partial(_comparison, ratings, result),
            "ratings": partial(_ratings, ratings),
        }
    return {
        "reviewers": partial(_reviewers, ratings, result),
        "contradictions": partial(_contradictions, ratings, result),
        "findings": partial(_findings, result),
        "ladder": partial(_ladder, result),
        "ratings": partial(_ratings, ratings),
    }


def _labels(labels: Sequence[Label]) -> pl.Series:
    small = all(isinstance(label, int) and -INT64 <= label < INT64 for label in labels)
    if small and labels:
        return pl.Series(labels, dtype=pl.Int64)
    return pl.Series([str(label) for label in labels], dtype=pl.String)


def _label_lists(lists: Sequence[Sequence[Label]]) -> pl.Series:
    flat = _labels([label for labels in lists for label in labels])
    return pl.Series(
        [
            [label if flat.dtype == pl.Int64 else str(label) for label in labels]
            for labels in lists
        ],
        dtype=pl.List(flat.dtype),
    )


def _titled(
    columns: dict[str, pl.Series],
    items: Mapping[str, Sequence[Label]],
    ratings: Ratings,
) -> pl.DataFrame:
    """Put items' titles, if any item has one, beside their labels."""
    found: dict[str, pl.Series] = {}
    for name, column in columns.items():
        found[name] = column
        if name in items and ratings.titles:
            titles = [ratings.titles.get(item, "") for item in items[name]]
            title = "title" if name == "item" else f"{name}_title"
            found[title] = pl.Series(titles, dtype=pl.String)
    return pl.DataFrame(found)


def _numbers(values: Iterable[float | None], dtype: type[pl.DataType]) -> pl.Series:
    return pl.Series(list(values), dtype=dtype)


def _ranking(ratings: Ratings, result: Ranking) -> pl.DataFrame:
    rows = result.items
    whole, real = pl.Int64, pl.Float64
    drawn = {item for draw in result.draws for item in draw.items}
    columns = {
        "rank": _numbers((row.rank for row in rows), whole),
        "item": _labels(result.order),
        "rank_low": _numbers((row.rank_low for row in rows), whole),
        "rank_high": _numbers((row.rank_high for row in rows), whole),
        "group": _numbers((row.bucket for row in rows), whole),
        "mean_rank": _numbers((row.mean_rank for row in rows), real),
        "reviews": _numbers((row.reviews for row in rows), whole),
        "mean_score": _numbers((row.mean_score for row in rows), real),
        "spread": _numbers((row.spread for row in rows), real),
        "estimate": _numbers((row.estimate for row in rows), real),
        "error": _numbers((row.error for row in rows), real),
        "p_top": _numbers((row.p_top for row in rows), real),
        "settled_by_chance": pl.Series([row.item in drawn for row in rows]),
    }
    if result.top is None:
        del columns["p_top"]
    return _titled(columns, {"item": result.order}, ratings)


def _reviewers(ratings: Ratings, check: Check | None) -> pl.DataFrame:
    if check is None:
        raise OptionError("The table 'reviewers' of a ranking needs a check.")
    loads = np.bincount(ratings.reviewer_codes, minlength=ratings.n_reviewers)
    means: list[float | None] = [None] * ratings.n_reviewers
    if ratings.kind == "scores":
        # A weighted sum could overflow where each score over its count does not.
        shares = ratings.preference / loads[ratings.reviewer_codes]
        means = np.bincount(ratings.reviewer_codes, weights=shares).tolist()
    rows = check.reviewers or [None] * ratings.n_reviewers
    real, words = pl.Float64, pl.String
    kinds = {
        "strictness": words,
        "offset": real,
        "offset_se": real,
        "spread": words,
        "slope": real,
        "slope_se": real,
    }
    columns = {
        "reviewer": _labels(ratings.reviewer_labels),
        "ratings": pl.Series(loads, dtype=pl.Int64),
        "mean_score": pl.Series(means, dtype=real),
    }
    for name, kind in kinds.items():
        values = [None if row is None else getattr(row, name) for row in rows]
        columns[name.replace("_se", "_error")] = pl.Series(values, dtype=kind)
    return pl.DataFrame(columns)


def _draws(result: Ranking) -> pl.DataFrame:
    draws = result.draws
    anchors = [[list(shared) for shared in draw.anchors] for draw in draws]
    label = _labels([it for draw in draws for it in draw.items]).dtype
    if label != pl.Int64:
        anchors = [[[str(it) for it in one] for one in shared] for shared in anchors]
    return pl.DataFrame(
        {
            "first_item": _labels([draw.items[0] for draw in draws]),
            "second_item": _labels([draw.items[1] for draw in draws]),
            "p_first": _numbers((draw.p_first for draw in draws), pl.Float64),
            "put_first": _labels([draw.first for draw in draws]),
            "reviewers": _label_lists([draw.reviewers for draw in draws]),
            "anchors": pl.Series(anchors, dtype=pl.List(pl.List(label))),
        }
    )


def _comparison(ratings: Ratings, result: Comparison) -> pl.DataFrame:
    votes = (None, None) if result.votes is None else result.votes
    first, second, winner = (_labels([it]) for it in (*result.items, result.winner))
    claim = None if result.certificate is None else result.certificate.sentence
    columns = {
        "first": first,
        "second": second,
        "winner": winner,
        "p_first": _numbers([result.p_first], pl.Float64),
        "p_first_error": _numbers([result.p_first_se], pl.Float64),
        "decided_by": pl.Series([result.decided_by]),
        "votes_first": _numbers([votes[0]], pl.Int64),
        "votes_second": _numbers([votes[1]], pl.Int64),
        "p_value": _numbers([result.p_value], pl.Float64),
        "p_value_first": _numbers([result.p_value_first], pl.Float64),
        "p_value_second": _numbers([result.p_value_second], pl.Float64),
        "method": pl.Series([result.method]),
        "seed": pl.Series([str(result.seed)]),
        "may_claim": pl.Series([claim], dtype=pl.String),
    }
    sides = {"first": [result.items[0]], "second": [result.items[1]]}
    return _titled(columns, sides, ratings)


def _contradictions(ratings: Ratings, found: Check) -> pl.DataFrame:
    worst = found.contradictions.worst
    items = {
        "first": [pair.items[0] for pair in worst],
        "second": [pair.items[1] for pair in worst],
    }
    columns = {name: _labels(labels) for name, labels in items.items()}
    columns["first_above"] = _numbers((pair.votes[0] for pair in worst), pl.Int64)
    columns["second_above"] = _numbers((pair.votes[1] for pair in worst), pl.Int64)
    return _titled(columns, items, ratings)


def _findings(found: Check) -> pl.DataFrame:
    texts = {
        "code": [one.code for one in found.findings],
        "finding": [one.message for one in found.findings],
    }
    return pl.DataFrame(texts, schema=dict.fromkeys(texts, pl.String))


def _ladder(found: Check) -> pl.DataFrame:
    rungs = () if found.ladder is None else found.ladder.rungs
    verdict = "" if found.ladder is None else found.ladder.verdict
    return pl.DataFrame(
        {
            "assumption": pl.Series([it.assumption for it in rungs], dtype=pl.String),
            "method": pl.Series([it.method for it in rungs], dtype=pl.String),
            "accuracy": _numbers((it.accuracy for it in rungs), pl.Float64),
            "accuracy_error": _numbers((it.se for it in rungs), pl.Float64),
            "behind": _numbers((it.behind for it in rungs), pl.Float64),
            "behind_error": _numbers((it.behind_se for it in rungs), pl.Float64),
            "verdict": pl.Series(
                [it.assumption == verdict for it in rungs], dtype=pl.Boolean
            ),
        }
    )


def _ratings(ratings: Ratings) -> pl.DataFrame:
    """Return what was read, so that reading it again gives the same ratings."""
    if ratings.kind == "comparisons":
        return _pairs(ratings)
    columns = {
        "reviewer": _labels(ratings.reviewer_labels).gather(ratings.reviewer_codes),
        "item": _labels(ratings.item_labels).gather(ratings.item_codes),
        "score" if ratings.kind == "scores" else "rank": _shortest(
            ratings.preference if ratings.kind == "scores" else 0.0 - ratings.preference
        ),
    }
    if ratings.pair_codes is not None:
        columns["pair"] = _labels(ratings.pair_labels).gather(ratings.pair_codes)
    return pl.DataFrame(columns)


def _pairs(ratings: Ratings) -> pl.DataFrame:
    # Each comparison is a reviewer with two rows, and rows go by reviewer.
    items = ratings.item_codes.reshape(-1, 2)
    above = ratings.preference.reshape(-1, 2).argmax(axis=1)
    labels = _labels(ratings.item_labels)
    row = np.arange(len(items))
    columns = {
        "winner": labels.gather(items[row, above]),
        "loser": labels.gather(items[row, 1 - above]),
    }
    people = ratings.reviewer_labels
    if isinstance(people[0], str):
        names = [str(label).rpartition("#")[0] for label in people]
        columns = {"reviewer": _labels(names), **columns}
    return pl.DataFrame(columns)


def _shortest(numbers: NDArray[np.float64]) -> pl.Series:
    whole = (np.round(numbers) == numbers) & (np.abs(numbers) < EXACT_WHOLE)
    return pl.Series(numbers, dtype=pl.Int64 if whole.all() else pl.Float64)
