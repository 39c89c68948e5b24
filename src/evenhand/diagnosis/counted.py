"""count_check: what ratings in an engine can support, as far as counts say."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import polars as pl

from evenhand.claims import version
from evenhand.columns import Source, code_labels, label_series
from evenhand.diagnosis.check import (
    NAMED,
    Distribution,
    Group,
    Ties,
    distribution,
    largest_groups,
)
from evenhand.engines import queries
from evenhand.errors import RatingsError, counted
from evenhand.posets.graph import connected
from evenhand.progress import say, working

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame, IntoLazyFrame

    from evenhand.claims import Json
    from evenhand.ratings import Names

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
        load: Scores by a reviewer.
        reviews: Scores of an item.
        single: Reviewers of one item, who compare nothing.
        ties: Items that a reviewer scored equal.
        groups: Number of groups of items that common reviewers link.
        listed: The largest groups.
        left_out: What is not known from counts.
    """

    ratings: int
    missing: int
    items: int
    reviewers: int
    load: Distribution
    reviews: Distribution
    single: int
    ties: Ties
    groups: int
    listed: tuple[Group, ...]
    left_out: tuple[str, ...] = LEFT_OUT

    def to_dict(self) -> dict[str, Json]:
        """Return the fields as plain values, `evenhand.counted-check/1`."""
        told: dict[str, Json] = {"schema": "evenhand.counted-check/1", **asdict(self)}
        told["load"], told["reviews"] = self.load.to_dict(), self.reviews.to_dict()
        return {**told, "version": version()}

    def __repr__(self) -> str:
        lines = [
            f"{counted(self.ratings, 'score')} of {counted(self.items, 'item')} by "
            f"{counted(self.reviewers, 'reviewer')}: a reviewer scored {self.load}, an "
            f"item has {self.reviews}."
        ]
        if self.missing:
            lines.append(f"{counted(self.missing, 'row')} without a score.")
        linked, tied = (
            "Common reviewers link all items.",
            "No reviewer scored two items.",
        )
        if self.groups > 1:
            largest = ", ".join(f"{one.size:,}" for one in self.listed[:NAMED])
            linked = (
                f"The items fall into {self.groups:,} groups that no reviewer links; "
                f"the largest have {largest}."
            )
        if self.ties.pairs:
            tied = (
                f"Of {counted(self.ties.pairs, 'pair')} of items scored by one "
                f"reviewer, {100 * self.ties.share:.3g} % are tied."
            )
        single = f"{counted(self.single, 'reviewer')} scored one item only."
        left = f"Left out from counts: {', '.join(self.left_out)}."
        return "\n".join(f"- {line}" for line in [*lines, linked, single, tied, left])


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
        >>> found.groups, found.ties.tied, found.load.most
        (2, 1, 2)
    """
    rows = queries.take_rows(frame, reviewer=reviewer, item=item, score=score)
    whole, scored, *_, total = queries.fetch(queries.facts(rows)).row(0)
    if not scored:
        raise RatingsError("There is no rating. Give at least one row with a score.")
    if not math.isfinite(total):
        raise RatingsError(
            "scores must be finite, got NaN or infinity among them. Make them NULL or "
            "leave them out."
        )
    say("Counting reviews")
    items = queries.fetch(queries.reviews(rows), what="items")
    queries.require_named(items, queries.ITEM, "reviews")
    say("Counting reviewers")
    people = queries.require_reviewers(queries.fetch(queries.loads(rows)))
    loads, times = (
        people[name].cast(pl.Int64).to_numpy() for name in (queries.LOAD, "reviewers")
    )
    twice = queries.fetch(queries.repeated(rows))["repeated"].item()
    if twice:
        raise RatingsError(
            f"reviewers must score an item once, got {counted(int(twice), 'pair')} of "
            "reviewer and item with more scores. Keep one of them."
        )
    say("Counting ties")
    tying, doubled = (int(it or 0) for it in queries.fetch(queries.ties(rows)).row(0))
    pairs, tied = int((loads * (loads - 1) // 2 * times).sum()), doubled // 2
    say("Linking items")
    groups, listed = _groups(items[queries.ITEM], queries.fetch(queries.links(rows)))
    return CountedCheck(
        ratings=int(scored),
        missing=int(whole - scored),
        items=items.height,
        reviewers=int(times.sum()),
        load=distribution(loads, times),
        reviews=distribution(items["reviews"].cast(pl.Int64).to_numpy()),
        single=int(times[loads == 1].sum()),
        ties=Ties(pairs, tied, tying, tied / max(pairs, 1)),
        groups=groups,
        listed=listed,
    )


def _groups(names: pl.Series, links: pl.DataFrame) -> tuple[int, tuple[Group, ...]]:
    labels, codes = code_labels(label_series(names, queries.ITEM, Source()))
    if len(labels) < len(names):
        raise RatingsError(
            "items must differ by more than white space around their names. Trim them."
        )
    known = pl.DataFrame({"name": names, "code": codes})
    ends = [
        links.select(name=column).join(known, on="name", maintain_order="left")["code"]
        for column in (queries.ITEM, "other")
    ]
    found = connected(len(labels), *(end.to_numpy() for end in ends))
    return largest_groups(found, labels)
