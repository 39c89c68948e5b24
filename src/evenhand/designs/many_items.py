"""Designs for many items: each reviewer gets some of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evenhand.designs import balancing
from evenhand.designs.design import ManyItemDesign
from evenhand.errors import DesignError, as_whole
from evenhand.randomness import RNGLike, seed_from

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.random import Generator

    from evenhand.arrays import Codes
    from evenhand.designs.design import Bundles, Plan
    from evenhand.randomness import Chance, Stream
    from evenhand.ratings import Ratings

# Items for each reviewer in a scenario, if nobody says how many.
USUAL_PER_REVIEWER = 3


class Pairs(ManyItemDesign):
    """Give each reviewer a pair of items, no pair twice: the paper's ranking design.

    Every assignment of distinct pairs to reviewers is equally likely. Time and memory
    grow with the number of reviewers, not with the number of pairs.

    References:
        Wang and Shah (2019), Section 3.3.

    Examples:
        >>> from evenhand.designs import pairs
        >>> len({tuple(pair) for pair in pairs(4, 6, rng=7).tolist()})
        6
    """

    name = "pairs"
    sentence = "Every choice of different pairs for the reviewers was equally likely."
    most_items = 2
    fewest_items = 3

    def __call__(self, n_items: int, n_reviewers: int, *, rng: RNGLike = None) -> Codes:
        """Draw the two items of each reviewer, shape (n_reviewers, 2).

        Args:
            n_items: Number of items, at least 2.
            n_reviewers: Number of reviewers, at most the number of pairs of items.
            rng: Seed, generator or None.

        Raises:
            DesignError: If there are more reviewers than pairs of items.
        """
        return self.draw(seed_from(rng), n_items, n_reviewers)[0]

    def plan(self, n_items: int, n_reviewers: int) -> Plan:
        """Shuffle all pairs, cut short; only entries that moved are kept in memory."""
        items = as_whole("n_items", n_items, 2)
        reviewers = as_whole("n_reviewers", n_reviewers, 1)
        most = math.comb(items, 2)
        if reviewers > most:
            raise DesignError(
                f"n_reviewers must be at most {most}, the number of pairs of {items} "
                f"items, got {reviewers}. Use {Balanced.name!r}, which may repeat a "
                "pair."
            )

        def procedure(chance: Chance, _: Stream) -> Bundles:
            moved: dict[int, int] = {}
            pairs = []
            for place in range(reviewers):
                slot = place + chance.pick(most - place)
                index = moved.get(slot, slot)
                high = (1 + math.isqrt(8 * index + 1)) // 2
                pairs.append((index - math.comb(high, 2), high))
                moved[slot] = moved.get(place, place)
            return tuple(pairs)

        return procedure, True

    def follow(self, ratings: Ratings) -> bool:
        """Say whether each reviewer rated two items, and no two reviewers the same."""
        if (np.bincount(ratings.reviewer_codes) != self.most_items).any():
            return False
        # Ratings come by reviewer and item.
        pairs = ratings.item_codes.reshape(-1, self.most_items)
        return len(np.unique(pairs, axis=0)) == len(pairs)

    def usual_sizes(self, n_items: int) -> tuple[int, int]:
        """Return half the number of pairs, as in the paper."""
        return math.comb(n_items, 2) // 2, self.most_items

    def misfit(self, n_items: int, n_reviewers: int) -> str:
        """Ask for fewer reviewers than pairs."""
        pairs = math.comb(n_items, 2)
        if n_reviewers < pairs:
            return ""
        return (
            f"reviewers must be fewer than {pairs}, the number of pairs of {n_items} "
            f"items, for design {self.name!r}, got {n_reviewers}. With every pair "
            f"compared no theorem applies; {Balanced.name!r} may repeat a pair."
        )

    def draw_bundles(
        self, trials: int, n_items: int, n_reviewers: int, _each: int, rng: Generator
    ) -> Codes:
        """Draw many trials at once."""
        pairs = np.stack(np.triu_indices(n_items, 1), axis=-1)
        choices = [
            rng.choice(len(pairs), n_reviewers, replace=False) for _ in range(trials)
        ]
        return pairs[np.stack(choices)]


class Balanced(ManyItemDesign):
    """Give each reviewer the same number of items, and each item the same load.

    With per_reviewer alone, loads of two items differ by at most one; with per_item
    alone, those of two reviewers do. No reviewer gets an item twice.

    With per_reviewer and nothing else, items are dealt like cards: bundle after bundle
    from a shuffled deck, a fresh deck when one is used up, its first cards drawn among
    those that the bundle begun does not hold yet; then the bundles go to the reviewers
    in a random order. The law is unchanged when reviewers or items change names, which
    is what the guarantees ask for. It is not uniform over all balanced assignments: for
    instance, repeated bundles are somewhat more frequent than they would be under that
    law.

    With per_item or conflicts, even none, every feasible assignment is equally likely
    where they can be counted. Where they are too many, a random walk over all of them
    is run for long, which comes close; without conflicts its law is still unchanged
    when reviewers or items change names.

    Examples:
        >>> from evenhand.designs import balanced
        >>> dealt = balanced(5, 4, 3, rng=7)
        >>> dealt.shape, sorted(np.bincount(dealt.ravel()).tolist())
        ((4, 3), [2, 2, 2, 3, 3])
        >>> conflicts = [(0, 0), (1, 1), (2, 2)]
        >>> balanced(3, 3, 2, per_item=2, conflicts=conflicts, rng=7).tolist()
        [[1, 2], [0, 2], [0, 1]]
    """

    name = "balanced"
    sentence = "Every feasible assignment was equally likely."
    options = ("per_reviewer", "per_item", "conflicts")

    def __call__(
        self,
        n_items: int,
        n_reviewers: int,
        per_reviewer: int | None = None,
        *,
        per_item: int | None = None,
        conflicts: Iterable[tuple[int, int]] | None = None,
        rng: RNGLike = None,
    ) -> Codes:
        """Draw the items of each reviewer.

        Args:
            n_items: Number of items, at least 1.
            n_reviewers: Number of reviewers, at least 1.
            per_reviewer: Number of items for each reviewer, at most n_items.
            per_item: Number of reviewers for each item, at most n_reviewers.
            conflicts: Reviewer and item of each conflict of interest, never assigned.
            rng: Seed, generator or None.

        Returns:
            Shape (n_reviewers, largest number of items). Where per_item alone leaves a
            reviewer one item less, the row ends in -1.

        Raises:
            DesignError: If there is no such assignment; the message names a constraint
                that cannot be met.
        """
        sizes = n_items, n_reviewers, per_reviewer, per_item, conflicts
        return self.draw(seed_from(rng), *sizes)[0]

    def plan(
        self,
        n_items: int,
        n_reviewers: int,
        per_reviewer: int | None = None,
        per_item: int | None = None,
        conflicts: Iterable[tuple[int, int]] | None = None,
    ) -> Plan:
        """Deal, draw from all that there are, or walk."""
        items = as_whole("n_items", n_items, 1)
        reviewers = as_whole("n_reviewers", n_reviewers, 1)
        sizes = items, reviewers, per_reviewer, per_item
        if per_item is None and conflicts is None:
            each = balancing.items_each(*sizes)
            return (
                lambda chance, _: balancing.deal(items, reviewers, each, chance)
            ), True
        grid = balancing.Grid.of(*sizes, conflicts or ())
        first, counts = balancing.fill(grid), balancing.FillingCounts(grid)
        if counts.count():
            return lambda chance, _: grid.bundles(counts.draw(chance)), True

        def procedure(chance: Chance, source: Stream) -> Bundles:
            start = first if any(grid.barred) else balancing.fair_start(grid, chance)
            return grid.bundles(balancing.walk(grid, start, source))

        return procedure, False

    def usual_sizes(self, n_items: int) -> tuple[int, int]:
        """Return as many reviewers as items."""
        return n_items, min(n_items, USUAL_PER_REVIEWER)
