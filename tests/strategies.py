"""Hypothesis strategies that several test files share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from hypothesis import strategies as st

from evenhand.posets.graph import Comparisons, from_edges
from evenhand.ratings import Ratings

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from hypothesis.strategies import DrawFn, SearchStrategy


class Poset(NamedTuple):
    """Comparisons without a contradiction; above[i] is put above below[i]."""

    n_items: int
    above: list[int]
    below: list[int]

    def comparisons(self) -> Comparisons:
        return from_edges(self.n_items, self.above, self.below)


def increasing_scales(size: int) -> SearchStrategy[list[Fraction]]:
    """A reviewer's scores for `size` items from worst to best, strictly increasing."""
    scores = st.fractions(min_value=-1000, max_value=1000, max_denominator=1000)
    return st.lists(scores, min_size=size, max_size=size, unique=True).map(sorted)


@st.composite
def posets(draw: DrawFn, max_items: int = 6, min_items: int = 1) -> Poset:
    """Any partial order of a few items, given by pairs that may imply each other."""
    n_items = draw(st.integers(min_items, max_items))
    order = draw(st.permutations(range(n_items)))
    pairs = [(i, j) for j in range(n_items) for i in range(j)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return Poset(n_items, [order[i] for i, _ in chosen], [order[j] for _, j in chosen])


@st.composite
def _ratings(
    draw: DrawFn,
    max_items: int,
    max_reviewers: int,
    scores: Callable[[list[int]], SearchStrategy[list[int]]],
) -> Ratings:
    n_items = draw(st.integers(1, max_items))
    truth = draw(st.permutations(range(n_items)))
    rows: list[tuple[int, int, int]] = []
    for reviewer in range(draw(st.integers(1, max_reviewers))):
        places = draw(
            st.lists(st.integers(0, n_items - 1), min_size=1, unique=True).map(sorted)
        )
        given = draw(scores(places))
        rows += [
            (reviewer, truth[place], score)
            for place, score in zip(places, given, strict=True)
        ]
    reviewers, items, given_scores = zip(*rows, strict=True)
    return Ratings(reviewers, items, given_scores, all_items=range(n_items))


def consistent_ratings(
    max_items: int = 6, max_reviewers: int = 4
) -> SearchStrategy[Ratings]:
    """Ratings by reviewers who agree with one true order, with ties of their own."""

    def scores(places: list[int]) -> SearchStrategy[list[int]]:
        steps = st.lists(st.integers(0, 1), min_size=len(places), max_size=len(places))
        return steps.map(lambda found: np.cumsum(found).tolist())

    return _ratings(max_items, max_reviewers, scores)


def any_ratings(max_items: int = 6, max_reviewers: int = 4) -> SearchStrategy[Ratings]:
    """Ratings by reviewers who may contradict each other and tie items."""

    def scores(places: list[int]) -> SearchStrategy[list[int]]:
        return st.lists(st.integers(0, 4), min_size=len(places), max_size=len(places))

    return _ratings(max_items, max_reviewers, scores)
