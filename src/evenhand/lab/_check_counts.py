"""How many ratings, by whom, of what; ties and groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand._labels import place_of
from evenhand.calibration._design import linked_groups
from evenhand.posets.comparisons import components

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand._results import Json, Label
    from evenhand.posets.comparisons import Comparisons
    from evenhand.ratings import Ratings

    Codes = NDArray[np.int64]

# Bars of a histogram, labels named, and groups listed.
BARS, NAMED, LISTED = 12, 8, 20


@dataclass(frozen=True, slots=True)
class Distribution:
    """How a count is spread.

    Attributes:
        least: Smallest.
        median: Half are at most this, half at least.
        most: Largest.
        histogram: (from, to, how many), both ends included, none of them empty.
    """

    least: int
    median: float
    most: int
    histogram: tuple[tuple[int, int, int], ...]

    def to_dict(self) -> dict[str, Json]:
        """Return the fields."""
        return {
            "min": self.least,
            "median": self.median,
            "max": self.most,
            "histogram": [
                {"from": low, "to": high, "count": count}
                for low, high, count in self.histogram
            ],
        }


@dataclass(frozen=True, slots=True)
class Named:
    """Some reviewers or items.

    Attributes:
        count: How many.
        labels: The first few.
    """

    count: int
    labels: tuple[Label, ...]

    def to_dict(self, what: str) -> dict[str, Json]:
        """Return the count and the first few labels."""
        return {"count": self.count, what: list(self.labels)}


@dataclass(frozen=True, slots=True)
class Group:
    """Items that comparisons connect.

    Attributes:
        size: How many.
        items: The first few.
    """

    size: int
    items: tuple[Label, ...]

    def to_dict(self) -> dict[str, Json]:
        """Return the fields."""
        return {"size": self.size, "items": list(self.items)}


@dataclass(frozen=True, slots=True)
class Groups:
    """What can be ordered with what.

    Attributes:
        count: Groups of items that reviewers' orders connect.
        linked: Groups of items that common reviewers connect, ties included.
        listed: The largest groups.
    """

    count: int
    linked: int
    listed: tuple[Group, ...]

    def to_dict(self) -> dict[str, Json]:
        """Return the fields."""
        return {
            "count": self.count,
            "linked": self.linked,
            "listed": [group.to_dict() for group in self.listed],
        }


@dataclass(frozen=True, slots=True)
class Ties:
    """Items that a reviewer rated equal.

    Attributes:
        pairs: Pairs of items rated by one reviewer.
        tied: How many of them are tied.
        reviewers: How many reviewers tie.
    """

    pairs: int
    tied: int
    reviewers: int

    @property
    def share(self) -> float:
        """Share of pairs that are tied; 0 without pairs."""
        return self.tied / self.pairs if self.pairs else 0.0

    def to_dict(self) -> dict[str, Json]:
        """Return the fields."""
        return {
            "pairs": self.pairs,
            "tied": self.tied,
            "share": self.share,
            "reviewers": self.reviewers,
        }


def distribution(counts: Codes) -> Distribution:
    """Summarise counts.

    Examples:
        >>> distribution(np.array([3, 1, 3])).histogram
        ((1, 1, 1), (3, 3, 2))
    """
    values, numbers = np.unique(counts, return_counts=True)
    if len(values) <= BARS:
        bars = zip(values, values, numbers, strict=True)
        bins = tuple((int(low), int(high), int(count)) for low, high, count in bars)
    else:
        bins = _binned(counts)
    return Distribution(int(values[0]), float(np.median(counts)), int(values[-1]), bins)


def _binned(counts: Codes) -> tuple[tuple[int, int, int], ...]:
    low, high = int(counts.min()), int(counts.max())
    width = -(-(high - low + 1) // BARS)
    numbers = np.bincount((counts - low) // width, minlength=BARS).tolist()
    return tuple(
        (low + place * width, min(low + (place + 1) * width - 1, high), number)
        for place, number in enumerate(numbers)
        if number
    )


def named(labels: tuple[Label, ...], codes: Codes) -> Named:
    """Name the first few of some codes.

    Examples:
        >>> named(("a", "b"), np.array([1]))
        Named(count=1, labels=('b',))
    """
    known = sorted((labels[code] for code in codes.tolist()), key=place_of)
    return Named(len(codes), tuple(known[:NAMED]))


def find_groups(ratings: Ratings, graph: Comparisons) -> Groups:
    """Find what reviewers' orders connect, largest groups first.

    Examples:
        >>> from evenhand.posets.comparisons import comparisons
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b"], ["x", "y", "z"], [1, 2, 3])
        >>> find_groups(ratings, comparisons(ratings)).to_dict()["listed"]
        [{'size': 2, 'items': ['x', 'y']}, {'size': 1, 'items': ['z']}]
    """
    found = components(graph)
    sizes = np.bincount(found)
    largest = np.argsort(-sizes, kind="stable")[:LISTED].tolist()
    order = np.argsort(found, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)])
    listed = [
        Group(
            int(sizes[group]),
            tuple(
                ratings.item_labels[item]
                for item in order[starts[group] : starts[group + 1]][:NAMED].tolist()
            ),
        )
        for group in largest
    ]
    linked = int(linked_groups(ratings).max()) + 1
    return Groups(len(sizes), linked, tuple(listed))


def find_ties(ratings: Ratings, graph: Comparisons) -> tuple[Ties, Codes]:
    """Count ties, and find the reviewers of several items whose scores are all equal.

    Examples:
        >>> from evenhand.posets.comparisons import comparisons
        >>> from evenhand.ratings import Ratings
        >>> ratings = Ratings(["a", "a", "b", "b"], ["x", "y", "x", "y"], [1, 1, 2, 3])
        >>> find_ties(ratings, comparisons(ratings))
        (Ties(pairs=2, tied=1, reviewers=1), array([0]))
    """
    number = ratings.n_reviewers
    loads = np.bincount(ratings.reviewer_codes, minlength=number)
    sizes = np.diff(graph.level_start)
    steps = np.bincount(graph.level_reviewer, minlength=number)
    tying = np.unique(graph.level_reviewer[sizes > 1])
    ties = Ties(_pairs(loads), _pairs(sizes), len(tying))
    return ties, np.flatnonzero((loads > 1) & (steps == 1))


def _pairs(sizes: Codes) -> int:
    # Half of the product of two neighbours; products of large sizes still fit 64 bits.
    return int((sizes.astype(np.int64) * (sizes.astype(np.int64) - 1) // 2).sum())
