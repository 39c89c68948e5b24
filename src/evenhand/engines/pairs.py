"""count_pairs: how each two items were scored by one reviewer, counted in the engine.

From these counts Bradley-Terry, additive offsets and means follow as from the ratings,
if there are far fewer pairs of items than ratings.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evenhand.arrays import frozen
from evenhand.claims import DataWarning
from evenhand.columns import Labels, Source, code_labels, label_series
from evenhand.engines import queries
from evenhand.engines.counts import missing_notices
from evenhand.errors import RatingsError, as_whole, plural
from evenhand.progress import announce, say, working

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame, IntoLazyFrame

    from evenhand.arrays import Codes, Scores
    from evenhand.claims import Json
    from evenhand.ratings import Names

# Pairs of ratings that an engine goes through: hours of one core.
MOST_PAIRS = 10**11
# Pairs of items that come back: 2 GB.
MOST_ANSWERS = 50_000_000
# Scores beyond would have no finite squares.
LARGEST = 1e140
# Squares of so many times the variance leave it nine digits.
UNCENTRED = 1e7
# Squares of so many times the variance are taken about another centre.
FAR = 16.0
LEFT_OUT = "reviewers' own orders, and all that is worked out from single ratings"


@dataclass(frozen=True, slots=True, eq=False)
class PairCounts:
    """How often one reviewer scored two items, and which one higher.

    Attributes:
        item_labels: Distinct items, sorted, as in Ratings.
        reviews: Number of scores of each item.
        totals: Sum of each item's scores, less `centre` each.
        squares: Sum of squares of the same.
        loads: Different numbers of scores by one reviewer, increasing.
        reviewers: How many reviewers gave so many.
        load_squares: Sum of squares of these reviewers' totals, less `centre` a score.
        first: Code of the first item of each pair, load by load.
        second: Code of the second item, larger.
        load: Place of the pair's load in `loads`.
        count: How many reviewers of that load scored both.
        above: How many of them scored the first item higher.
        below: How many scored it lower.
        first_total: Sum of their scores of the first item, less `centre` each.
        second_total: Sum of their scores of the second item.
        centre: What was taken from every score, so that sums lose nothing.
        notices: What the reader of a result must know.
    """

    item_labels: Labels
    reviews: Codes
    totals: Scores
    squares: Scores
    loads: Codes
    reviewers: Codes
    load_squares: Scores
    first: Codes
    second: Codes
    load: Codes
    count: Codes
    above: Codes
    below: Codes
    first_total: Scores
    second_total: Scores
    centre: float
    notices: tuple[DataWarning, ...]

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.item_labels)

    @property
    def n_ratings(self) -> int:
        """Number of scores."""
        return int(self.reviews.sum())

    @property
    def n_reviewers(self) -> int:
        """Number of reviewers."""
        return int(self.reviewers.sum())

    @property
    def contradictions(self) -> int:
        """Number of pairs of items that reviewers put both ways round."""
        codes = self.first * self.n_items + self.second
        directions = [
            np.bincount(np.unique(codes, return_inverse=True)[1], part) > 0
            for part in (self.above, self.below)
        ]
        return int((directions[0] & directions[1]).sum()) if len(codes) else 0

    @property
    def means(self) -> Scores:
        """Mean score of each item."""
        return self.centre + self.totals / self.reviews

    def scores_by_item(self) -> list[tuple[int, float, float | None]]:
        """Return the number, the mean and the spread of each item's scores."""
        away = np.maximum(self.squares - self.totals**2 / self.reviews, 0)
        spreads = np.sqrt(away / np.maximum(self.reviews - 1, 1))
        rows = np.stack([self.reviews, self.means, spreads], axis=1).tolist()
        return [
            (int(number), mean, spread if number > 1 else None)
            for number, mean, spread in rows
        ]

    def summary(self) -> dict[str, Json]:
        """Return the sizes and the hash, the `data` field of a result."""
        head = {"schema": "evenhand.pairs/1", "items": self.item_labels}
        hashed = hashlib.sha256(json.dumps(head, ensure_ascii=True).encode())
        whole = (self.reviews, self.loads, self.reviewers, self.first, self.second)
        for part in (*whole, self.load, self.count, self.above, self.below):
            hashed.update(part.astype("<i8", copy=False).tobytes())
        sums = (self.totals, self.squares, self.load_squares, self.first_total)
        for added in (*sums, self.second_total, np.array([self.centre])):
            hashed.update(_digits(added).astype("<i8").tobytes())
        return {
            "reviewers": self.n_reviewers,
            "items": self.n_items,
            "ratings": self.n_ratings,
            "sha256": hashed.hexdigest(),
        }

    def __repr__(self) -> str:
        size = len(np.unique(self.first * self.n_items + self.second))
        return (
            f"PairCounts({plural(size, 'pair')} of {plural(self.n_items, 'item')}, "
            f"from {plural(self.n_ratings, 'score')} by "
            f"{plural(self.n_reviewers, 'reviewer')})"
        )


def _digits(sums: Scores) -> Codes:
    """Return sums to ten digits of the largest, and its size.

    Engines add in any order, which changes the last digits.
    """
    largest = float(np.abs(sums).max(initial=0.0))
    power = math.frexp(largest)[1]
    return np.append(np.round(np.ldexp(sums, -power) * 1e10), power).astype(np.int64)


@working("Counting pairs")
def count_pairs(
    frame: IntoDataFrame | IntoLazyFrame,
    *,
    reviewer: Names | None = None,
    item: Names | None = None,
    score: str | None = None,
    most: int = MOST_PAIRS,
) -> PairCounts:
    """Count in the engine how each two items were scored by one reviewer.

    An engine pairs each score with all others of its reviewer, so the work is the sum
    over reviewers of their number of scores, squared. That sum is asked for first,
    printed to standard error, and refused above `most`.

    Args:
        frame: A lazy frame of polars, a relation of DuckDB, a dataframe of Spark, or a
            table of Ibis, one row per rating.
        reviewer: Column of the reviewer, or several that name one together; by default
            found by its name, as in files.
        item: Column of the item, or several.
        score: Column of the score.
        most: Largest sum that is not refused.

    Returns:
        The counts, for `rank` with method "bradley-terry", "additive" or "mean".

    Raises:
        RatingsError: If a column is missing, a score is not finite, a row has no item
            or no reviewer, a reviewer scored an item twice, or the sum is too large.

    Examples:
        >>> rows = {"judge": [1, 1, 2, 2], "item": [7, 8, 7, 8], "mark": [5, 4, 3, 3]}
        >>> count_pairs(pl.LazyFrame(rows))
        PairCounts(1 pair of 2 items, from 4 scores by 2 reviewers)
    """
    most = as_whole("most", most, 1)
    rows = queries.take_rows(frame, reviewer=reviewer, item=item, score=score)
    centre, missing = _centre(*queries.fetch_facts(rows))
    items = queries.fetch(queries.item_sums(rows, centre), what="items")
    queries.require_names(items, queries.ITEM, "reviews")
    say("Counting reviewers")
    people = queries.fetch(queries.reviewer_sums(rows, centre), what="loads")
    queries.require_reviewers(people)
    _require_affordable(people, items.height, most)
    query, what = queries.pairs(rows, centre), "pairs of items and loads"
    pairs = queries.fetch(query, most=MOST_ANSWERS, what=what)
    counts = pair_counts(items, people, pairs, centre=centre, missing=missing)
    if not missing:
        return counts
    lost = queries.fetch(queries.unrated_items(rows))[queries.ITEM]
    names, _ = code_labels(label_series(lost, queries.ITEM, Source()))
    notices = *missing_notices(missing, names), counts.notices[-1]
    return replace(counts, notices=notices)


def _centre(
    rows: int, scores: int, lowest: float, highest: float, total: float
) -> tuple[float, int]:
    """Return what to take from scores, and how many rows have none.

    It is the mean, rounded so that whole scores stay whole without it.
    """
    if max(abs(lowest), abs(highest)) > LARGEST:
        raise RatingsError(
            f"scores must lie between -{LARGEST:g} and {LARGEST:g} for pairs to be "
            f"counted, got {lowest:g} to {highest:g}. Divide them."
        )
    if lowest == highest:
        return lowest, int(rows - scores)
    unit = 2.0 ** math.floor(math.log2(highest - lowest))
    return unit * round(total / scores / unit), int(rows - scores)


def _require_affordable(people: pl.DataFrame, n_items: int, most: int) -> None:
    """Say what the pairs will cost, and refuse what is too much."""
    loads = people[queries.LOAD].cast(pl.Float64)
    number = people["reviewers"].cast(pl.Float64)
    work = float((loads * loads * number).sum())
    cost = (
        f"Pairs of scores to go through: {work:.3g} (reviewers' scores squared, added "
        f"up); pairs of items to come back: at most {n_items * (n_items - 1) // 2:,} "
        f"for each of {plural(people.height, 'load')}."
    )
    if work > most:
        raise RatingsError(
            f"{cost} That is more than most={most:.3g}. Take a part of the reviewers, "
            "or raise most if your engine can do it."
        )
    announce(cost)


def _require_once(people: pl.DataFrame, pairs: pl.DataFrame) -> None:
    """Refuse scores of one item by one reviewer, which make no pair."""
    loads = people[queries.LOAD].cast(pl.Int64)
    due = int((loads * (loads - 1) // 2 * people["reviewers"].cast(pl.Int64)).sum())
    seen = int(pairs["count"].cast(pl.Int64).sum())
    if seen != due:
        raise RatingsError(
            f"reviewers must score an item once, got {plural(due - seen, 'pair')} of "
            "scores of one item by one reviewer. Keep one of them."
        )


def pair_counts(
    items: pl.DataFrame,
    reviewers: pl.DataFrame,
    pairs: pl.DataFrame,
    *,
    centre: float = 0.0,
    missing: int = 0,
) -> PairCounts:
    """Put together the answers of the three queries of `evenhand query pairs`.

    Args:
        items: Scores by item: item, reviews, total, squares.
        reviewers: Reviewers by load: load, nobody, reviewers, squares.
        pairs: Pairs of items by load: item, other, load, count, above, below, total,
            other_total.
        centre: What the queries took from every score; 0 if printed.
        missing: How many rows have no score.

    Raises:
        RatingsError: If a row had no item or reviewer, a reviewer scored an item twice,
            a sum is not finite, or scores lie too far from 0 for their squares.
    """
    queries.require_names(items, queries.ITEM, "reviews")
    for answer, sums in (
        (items, ("total", "squares")),
        (reviewers, ("squares",)),
        (pairs, ("total", "other_total")),
    ):
        _require_finite(answer, sums)
    people = queries.require_reviewers(reviewers).sort(queries.LOAD)
    _require_once(people, pairs)
    labels, codes = queries.code_items(items[queries.ITEM])
    ranked = items.with_columns(code=pl.Series(codes)).sort("code")
    places = ranked.select(pl.col(queries.ITEM), pl.col("code"))
    coded = (
        pairs.join(places, on=queries.ITEM)
        .join(places.rename({queries.ITEM: "other", "code": "other_code"}), on="other")
        .with_columns(pl.col("above", "below", "count", queries.LOAD).cast(pl.Int64))
    )
    # The engine's order of labels may not be ours.
    turn = pl.col("code") > pl.col("other_code")

    def either(forward: str, turned: str) -> pl.Expr:
        return pl.when(turn).then(pl.col(turned)).otherwise(pl.col(forward))

    coded = coded.select(
        queries.LOAD,
        "count",
        first=either("code", "other_code"),
        second=either("other_code", "code"),
        above=either("above", "below"),
        below=either("below", "above"),
        first_total=either("total", "other_total"),
        second_total=either("other_total", "total"),
    ).sort(queries.LOAD, "first", "second")
    loads = people[queries.LOAD].cast(pl.Int64).to_numpy()
    reviews = ranked["reviews"].cast(pl.Int64).to_numpy()
    from_pairs = DataWarning("from_counts", {"case": "pairs"})
    warnings = [*missing_notices(missing, ()), from_pairs]
    columns: dict[str, Any] = {
        "reviews": reviews,
        "totals": ranked["total"].cast(pl.Float64).to_numpy(),
        "squares": ranked["squares"].cast(pl.Float64).to_numpy(),
        "loads": loads,
        "reviewers": people["reviewers"].cast(pl.Int64).to_numpy(),
        "load_squares": people["squares"].cast(pl.Float64).to_numpy(),
        "load": np.searchsorted(loads, coded[queries.LOAD].to_numpy()),
        **{
            name: coded[name].to_numpy()
            for name in coded.columns
            if name != queries.LOAD
        },
    }
    arrays = {name: frozen(np.array(part)) for name, part in columns.items()}
    counts = PairCounts(
        item_labels=labels, centre=float(centre), notices=tuple(warnings), **arrays
    )
    return _near_zero(counts)


def _require_finite(answer: pl.DataFrame, sums: tuple[str, ...]) -> None:
    for name in sums:
        numbers = answer[name].cast(pl.Float64)
        if not numbers.is_finite().fill_null(value=False).all():
            raise RatingsError(
                f"{name} must be finite in every row of an answer, got NaN, infinity "
                "or nothing. Make such scores NULL or leave them out in the query."
            )


def _near_zero(pairs: PairCounts) -> PairCounts:
    """Take equal scores from themselves, and refuse squares that hide the variance."""
    number, squares = pairs.n_ratings, float(pairs.squares.sum())
    mean = float(pairs.totals.sum()) / number
    variation = squares - number * mean**2
    rounding = number * np.finfo(np.float64).eps
    equal = (
        not (pairs.above.any() or pairs.below.any())
        and np.allclose(pairs.totals, mean * pairs.reviews, rounding, 0)
        and np.allclose(pairs.squares, mean**2 * pairs.reviews, 2 * rounding, 0)
    )
    if equal:
        sums = ("totals", "squares", "load_squares", "first_total", "second_total")
        zeros = {name: frozen(np.zeros_like(getattr(pairs, name))) for name in sums}
        return replace(pairs, centre=pairs.centre + mean, **zeros)
    if squares > UNCENTRED * variation:
        raise RatingsError(
            f"scores must lie near 0 for sums of their squares, got a mean of {mean:g} "
            f"that hides their differences. Take {mean:.3g} from every score in the "
            f"query, and give centre={mean:.3g}."
        )
    if squares <= FAR * variation:
        return pairs
    unit = 2.0 ** math.floor(math.log2(variation / number) / 2)
    return _move_centre(pairs, unit * round(mean / unit))


def _move_centre(pairs: PairCounts, away: float) -> PairCounts:
    """Take a number from every score."""
    loads, several = pairs.loads, pairs.loads > 1
    # Each score of a reviewer is in as many pairs as the reviewer has others.
    met = np.bincount(
        pairs.load, pairs.first_total + pairs.second_total, minlength=len(loads)
    )
    sums = np.where(several, met / np.maximum(loads - 1, 1), 0.0)
    sums[~several] = pairs.totals.sum() - sums.sum()
    people = loads**2 * pairs.reviewers
    moved = {
        "totals": pairs.totals - away * pairs.reviews,
        "squares": pairs.squares - 2 * away * pairs.totals + away**2 * pairs.reviews,
        "load_squares": pairs.load_squares - 2 * away * loads * sums + away**2 * people,
        "first_total": pairs.first_total - away * pairs.count,
        "second_total": pairs.second_total - away * pairs.count,
    }
    arrays = {name: frozen(part) for name, part in moved.items()}
    return replace(pairs, centre=pairs.centre + away, **arrays)
