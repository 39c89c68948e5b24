"""count_check: what ratings in an engine can support, as far as counts say."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from evenhand.claims import version
from evenhand.engines import queries
from evenhand.errors import plural
from evenhand.progress import say, working

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame, IntoLazyFrame

    from evenhand.arrays import Codes
    from evenhand.claims import Json
    from evenhand.ratings import Names

# Largest groups that are listed.
LISTED = 10
LEFT_OUT = (
    *("contradictions", "flat reviewers", "ladder", "needed", "no information"),
    *("strictness", "variance"),
)


@dataclass(frozen=True, slots=True, repr=False)
class CountedCheck:
    """What counts say of ratings; the rest of `check` needs every rating.

    Attributes:
        ratings: Number of scores.
        missing: Number of rows without a score.
        items: Number of items with a score.
        reviewers: Number of reviewers with a score.
        load: Least, median and most scores by a reviewer.
        reviews: Least, median and most scores of an item.
        single: Reviewers of one item, who compare nothing.
        pairs: Pairs of items scored by one reviewer.
        tied: How many of them are tied.
        groups: Number of groups of items that common reviewers link.
        listed: Items of the largest groups.
        left_out: What is not known from counts.
    """

    ratings: int
    missing: int
    items: int
    reviewers: int
    load: tuple[int, float, int]
    reviews: tuple[int, float, int]
    single: int
    pairs: int
    tied: int
    groups: int
    listed: tuple[int, ...]
    left_out: tuple[str, ...] = LEFT_OUT

    def to_dict(self) -> dict[str, Json]:
        """Return the fields as plain values, `evenhand.counted-check/1`."""
        fields = asdict(self)
        return {"schema": "evenhand.counted-check/1", **fields, "version": version()}

    def __repr__(self) -> str:
        rows = (
            f"{plural(self.missing, 'row')} without a score. " if self.missing else ""
        )
        linked, tied = "link all items", "No reviewer scored two items"
        if self.groups > 1:
            largest = ", ".join(f"{size:,}" for size in self.listed)
            linked = f"leave {self.groups:,} groups apart, the largest of {largest}"
        if self.pairs:
            pairs, share = plural(self.pairs, "pair"), 100 * self.tied / self.pairs
            tied = f"Of {pairs} of items scored by one reviewer, {share:.3g}% are tied"
        return (
            f"- {plural(self.ratings, 'score')} of {plural(self.items, 'item')} by "
            f"{plural(self.reviewers, 'reviewer')}: a reviewer scored "
            f"{_range(self.load)}, an item has {_range(self.reviews)}. {rows}"
            f"{plural(self.single, 'reviewer')} scored one item only.\n"
            f"- Common reviewers {linked}.\n- {tied}.\n"
            f"- Left out from counts: {', '.join(self.left_out)}."
        )


@working("Checking")
def count_check(
    frame: IntoDataFrame | IntoLazyFrame,
    *,
    reviewer: Names | None = None,
    item: Names | None = None,
    score: str | None = None,
) -> CountedCheck:
    """Find out what ratings can support, as far as an engine can count it.

    Args:
        frame: A lazy frame of polars, a relation of DuckDB, a dataframe of Spark, or a
            table of Ibis, one row per rating.
        reviewer: Column of the reviewer, or several that name one together; by default
            found by its name, as in files.
        item: Column of the item, or several.
        score: Column of the score.

    Returns:
        Loads, reviews, ties and groups; it names what is left out.

    Raises:
        RatingsError: If a column is missing, or a row has no item or no reviewer.

    Examples:
        >>> rows = {"judge": [1, 1, 2], "item": ["x", "y", "z"], "mark": [5, 5, 3]}
        >>> found = count_check(pl.LazyFrame(rows))
        >>> found.groups, found.tied, found.load
        (2, 1, (1, 1.5, 2))
    """
    rows = queries.take_rows(frame, reviewer=reviewer, item=item, score=score)
    whole, scored, *_ = queries.fetch_facts(rows)
    say("Counting reviews")
    items = queries.fetch(queries.reviews(rows), what="items")
    queries.require_names(items, queries.ITEM, "reviews")
    say("Counting reviewers")
    people = queries.require_reviewers(queries.fetch(queries.loads(rows)))
    loads, times = (
        people[name].cast(pl.Int64).to_numpy() for name in (queries.LOAD, "reviewers")
    )
    queries.require_once(rows)
    say("Counting ties")
    _, doubled = queries.fetch(queries.ties(rows)).row(0)
    say("Linking items")
    sizes = _groups(items[queries.ITEM], queries.fetch(queries.links(rows)))
    reviews = items["reviews"].cast(pl.Int64).to_numpy()
    return CountedCheck(
        ratings=int(scored),
        missing=int(whole - scored),
        items=items.height,
        reviewers=int(times.sum()),
        load=_spread(loads, times),
        reviews=_spread(reviews, np.ones_like(reviews)),
        single=int(times[loads == 1].sum()),
        pairs=int((loads * (loads - 1) // 2 * times).sum()),
        tied=int(doubled or 0) // 2,
        groups=len(sizes),
        listed=tuple(sizes[:LISTED].tolist()),
    )


def _spread(values: Codes, times: Codes) -> tuple[int, float, int]:
    """Return the least, the median and the largest of values that come up so often."""
    order = np.argsort(values)
    values, ends = values[order], np.cumsum(times[order])
    middle = values[np.searchsorted(ends, [(ends[-1] + 1) // 2, ends[-1] // 2 + 1])]
    return int(values[0]), float(middle.mean()), int(values[-1])


def _range(spread: tuple[int, float, int]) -> str:
    least, median, most = spread
    if least == most:
        return f"{most:,}"
    return f"{least:,} to {most:,} (median {median:g})"


def _groups(names: pl.Series, links: pl.DataFrame) -> Codes:
    """Return the sizes of groups of items that links connect, largest first."""
    labels, codes = queries.code_items(names)
    lookup = pl.DataFrame({"name": names, "code": codes})
    ends = [
        links.select(name=column).join(lookup, on="name", maintain_order="left")["code"]
        for column in (queries.ITEM, "other")
    ]
    graph = coo_array((np.ones(links.height), ends), (len(labels), len(labels)))
    groups = connected_components(graph, directed=False)[1]
    return np.sort(np.bincount(groups))[::-1]
