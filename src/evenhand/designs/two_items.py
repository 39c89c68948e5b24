"""Designs for two items: each reviewer gets one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.designs.design import TwoItemDesign, members_of
from evenhand.errors import DesignError, as_whole
from evenhand.randomness import RNGLike, seed_from

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.random import Generator

    from evenhand.arrays import Codes
    from evenhand.designs.design import Strata


def _draw_halves(trials: int, count: int, rng: Generator) -> Codes:
    places = rng.permuted(np.tile(np.arange(count), (trials, 1)), axis=1)
    fewer = count // 2 + rng.integers(1 + count % 2, size=(trials, 1))
    return (places >= fewer).astype(np.int64)


class Halves(TwoItemDesign):
    """Give each of two items to half of the reviewers, uniformly at random.

    With an odd number of reviewers a fair coin decides which item gets the extra one.

    Examples:
        >>> from evenhand.designs import halves
        >>> int(halves(6, rng=7).sum())
        3
    """

    name = "halves"
    sentence = "Every split of the reviewers into halves was equally likely."
    symmetry = "reviewers"
    apart = 1
    unit = "reviewer"
    redrawn = "half of the reviewers to each item"

    def __call__(self, n_reviewers: int, *, rng: RNGLike = None) -> Codes:
        """Draw the item, 0 or 1, of each of at least one reviewer."""
        return self.draw(seed_from(rng), n_reviewers)[0]

    def strata(self, people: int) -> Strata:
        """Split all reviewers."""
        return [[[r] for r in range(as_whole("n_reviewers", people, 1))]]

    def draw_sides(self, trials: int, people: int, rng: Generator) -> Codes:
        """Draw many trials at once."""
        return _draw_halves(trials, people, rng)


class Coins(TwoItemDesign):
    """Give one of two items to each reviewer by a fair coin of its own.

    Counts may be unequal, and one item may get nobody.

    Examples:
        >>> from evenhand.designs import coins
        >>> coins(6, rng=7).shape
        (6,)
    """

    name = "coins"
    sentence = "Each reviewer's item was drawn by a fair coin of its own."
    symmetry = "reviewers"
    unit = "reviewer"
    any_number = True
    redrawn = "each reviewer to an item by a fair coin"

    def __call__(self, n_reviewers: int, *, rng: RNGLike = None) -> Codes:
        """Draw the item, 0 or 1, of each of at least one reviewer."""
        return self.draw(seed_from(rng), n_reviewers)[0]

    def strata(self, people: int) -> Strata:
        """Split each reviewer off."""
        return [[[r]] for r in range(as_whole("n_reviewers", people, 1))]

    def draw_sides(self, trials: int, people: int, rng: Generator) -> Codes:
        """Draw many trials at once."""
        return rng.integers(2, size=(trials, people))


class Matched(TwoItemDesign):
    """Within each pair of similar reviewers, give one item to each by a fair coin.

    Examples:
        >>> from evenhand.designs import matched
        >>> sides = matched(["old", "old", "new", "new"], rng=7)
        >>> int(sides[0] + sides[1]), int(sides[2] + sides[3])
        (1, 1)
    """

    name = "matched"
    sentence = "In each pair of reviewers a fair coin gave one item to each."
    options = ("groups",)
    group = "pair"
    symmetry = "partners"
    apart = 0
    unit = "pair"
    any_number = True
    redrawn = "one of each pair to each item by a fair coin"

    def __call__(self, pairs: Sequence[Hashable], *, rng: RNGLike = None) -> Codes:
        """Draw the item, 0 or 1, of each reviewer.

        Args:
            pairs: Label of the pair that each reviewer belongs to; every label twice.
            rng: Seed, generator or None.

        Raises:
            DesignError: If a pair does not have two reviewers.
        """
        return self.draw(seed_from(rng), pairs)[0]

    def strata(self, people: Sequence[Hashable]) -> Strata:
        """Split each pair."""
        pairs = members_of("pairs", people)
        for pair in pairs:
            if len(pair) != 2:
                raise DesignError(
                    f"pairs must name every pair for two reviewers, got {len(pair)} "
                    f"for {people[pair[0]]!r}."
                )
        return [[[reviewer] for reviewer in pair] for pair in pairs]

    def follow(self, firsts: int, seconds: int) -> str:
        """Allow one reviewer of each item; who is alone has lost the partner."""
        return "" if max(firsts, seconds) <= 1 else "pairs of one each"

    def misfit(self, _: int, n_reviewers: int) -> str:
        """Ask for an even number of reviewers."""
        if n_reviewers % 2 == 0:
            return ""
        return (
            f"reviewers must be even for design {self.name!r}, got {n_reviewers}. Use "
            f"{Halves.name!r}, where a coin decides which item gets the extra reviewer."
        )

    def draw_sides(self, trials: int, people: list[int], rng: Generator) -> Codes:
        """Draw many trials at once."""
        firsts = rng.integers(2, size=(trials, len(people) // 2))
        return np.stack([firsts, 1 - firsts], axis=-1).reshape(trials, -1)


class Panels(TwoItemDesign):
    """Give each of two items to half of the panels; a panel stays together.

    With an odd number of panels a fair coin decides which item gets the extra one.

    Examples:
        >>> from evenhand.designs import panels
        >>> sides = panels(["north", "north", "south"], rng=7)
        >>> bool(sides[0] == sides[1]), int(sides[0] + sides[2])
        (True, 1)
    """

    name = "panels"
    sentence = "Every split of the panels into halves was equally likely."
    options = ("groups",)
    group = "panel"
    unit = "group"
    redrawn = "half of the panels to each item"

    def __call__(self, panel: Sequence[Hashable], *, rng: RNGLike = None) -> Codes:
        """Draw the item, 0 or 1, of each reviewer.

        Args:
            panel: Label of the panel that each reviewer sits on.
            rng: Seed, generator or None.
        """
        return self.draw(seed_from(rng), panel)[0]

    def strata(self, people: Sequence[Hashable]) -> Strata:
        """Split all panels."""
        return [members_of("panel", people)]

    def follow(self, firsts: int, seconds: int) -> str:
        """Allow one item to a panel."""
        return "panels that stay together" if firsts and seconds else ""

    def draw_sides(self, trials: int, people: list[int], rng: Generator) -> Codes:
        """Draw many trials at once."""
        return _draw_halves(trials, max(people) + 1, rng)[:, people]
