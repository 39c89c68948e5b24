"""The designs: values that draw who reviews what, and say what that is worth.

A class that names itself is in the registry from then on: `assign`, `compare`, `rank`,
p-values, certificates, scenarios and records find it there, and ask it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

import numpy as np

from evenhand.arrays import frozen
from evenhand.claims import Finding
from evenhand.errors import DesignError, OptionError, as_whole, must_be, unknown
from evenhand.lazy import lazy
from evenhand.randomness import HALF, Drawn, RNGLike, outcomes, seed_from, stream

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from numpy.random import Generator

    from evenhand.arrays import Codes
    from evenhand.claims import Backing, Label
    from evenhand.designs import assignment as assignments
    from evenhand.designs import balancing
    from evenhand.designs import turnout as turnouts
    from evenhand.designs.assignment import Assignment
    from evenhand.designs.turnout import Turnout
    from evenhand.randomness import Chance, Stream
    from evenhand.ratings import Ratings

    # What draws, and whether all that it may draw are exactly as likely; dealing counts
    # as such, since its law is exact, if not uniform. A walk has a stream of its own.
    Procedure = Callable[[Chance, Stream], "Sides | Bundles"]
    Plan = tuple[Procedure, bool]
    Job = Literal["compare", "rank", "simulate"]
    # Units of each stratum, and reviewers of each unit.
    Strata = Sequence[Sequence[Sequence[int]]]
else:
    assignments = lazy("evenhand.designs.assignment")
    balancing = lazy("evenhand.designs.balancing")
    turnouts = lazy("evenhand.designs.turnout")

Sides = tuple[int, ...]
Bundles = tuple[tuple[int, ...], ...]
Value = TypeVar("Value", bound="RandomDesign")
# Reviewers in a scenario, if nobody says how many.
USUAL_REVIEWERS = 10
# Items for each reviewer in a scenario, if nobody says how many.
USUAL_PER_REVIEWER = 3
# Draws of pools that keep groups whole, and of reviews that fit together, at most.
TRIES = 100


class RandomDesign:
    """A law of random assignments; every subclass is a frozen dataclass.

    Attributes:
        name: What `design=` and `--design` take.
        job: "compare" if each reviewer gets one of two items, "rank" if some of many;
            "simulate" for what only scenarios have.
        sentence: How it draws, for the record of an assignment.
        options: Which options of `assign` belong to it.
        group: What it calls a group of reviewers that it looks at, or draws, "" if
            there are none.
        bars: Whether it keeps reviewers from some items by itself.
    """

    name: ClassVar[str] = ""
    job: ClassVar[Job]
    sentence: ClassVar[str] = ""
    options: ClassVar[tuple[str, ...]] = ()
    group: ClassVar[str] = ""
    bars: ClassVar[bool] = False
    registry: ClassVar[dict[str, RandomDesign]] = {}

    def __init_subclass__(cls) -> None:
        """Make it a frozen dataclass, and register it if it names itself."""
        dataclasses.dataclass(frozen=True)(cls)
        if "name" in vars(cls):
            cls.registry[cls.name] = cls()

    def plan(self, *sizes: Any, **options: Any) -> Plan:  # noqa: ANN401 - its own
        """Check its sizes, and return what draws."""
        raise NotImplementedError

    def draw(self, seed: int, *sizes: object) -> tuple[Codes, bool]:
        """Draw an assignment, and say whether all were exactly as likely.

        Args:
            seed: The seed.
            sizes: What `plan` takes.

        Returns:
            The item, 0 or 1, of each reviewer; or a row of increasing item codes for
            each reviewer, filled up with -1.
        """
        procedure, uniform = self.plan(*sizes)
        walk = stream(seed, "design balanced walk")
        rows: Any = procedure(Drawn(stream(seed, f"design {self.name}")), walk)
        if self.job != "compare":
            width = max(map(len, rows))
            rows = [row + (-1,) * (width - len(row)) for row in rows]
        return frozen(np.array(rows, dtype=np.int64)), uniform

    def draw_groups(self, _: int, groups: Sequence[Label]) -> Sequence[Label]:
        """Return the group that a seed gives each reviewer, or that each one has."""
        return groups

    def law(self, *sizes: object, **options: object) -> dict[tuple[Any, ...], Fraction]:
        """Return every assignment with its exact probability.

        Raises:
            DesignError: If there is none, or too many to count.
        """
        procedure, uniform = self.plan(*sizes, **options)
        if not uniform:
            rule = "n_items and n_reviewers must be small enough to count all"
            raise DesignError(f"{rule} assignments, got {sizes[0]} and {sizes[1]}.")
        unused = stream(0, "design balanced walk")
        return outcomes(lambda chance: procedure(chance, unused))

    def usual_sizes(self, n_items: int) -> tuple[int, int]:
        """Return numbers of reviewers, and of items for each, for a scenario."""
        return n_items, 0

    def misfit(self, _items: int, _reviewers: int) -> str:
        """Say why a scenario cannot have these numbers, "" if it can."""
        return ""


class TwoItemDesign(RandomDesign):
    """A law of assignments of reviewers to two items, the same if these swap names.

    Attributes:
        symmetry: Who else might as well have changed places: any two "reviewers"; the
            "partners" of a pair; or nobody, so that only the "items" might.
        apart: By how much the numbers of scores of the two items may differ.
        unit: What is drawn as one if all choices of so many units are as likely: a
            "reviewer"; a "group", which stays together; or a "pair", which may be
            turned round. "" if it is not of this form.
        any_number: Whether any number of units may be on, instead of half of them.
        redrawn: What could have been drawn, in a few words.
        probability: Of the first item, for each reviewer by itself; None if it depends
            on what others got.
    """

    job: ClassVar[Job] = "compare"
    symmetry: ClassVar[Literal["reviewers", "partners", "items"]] = "items"
    apart: ClassVar[float] = math.inf
    unit: ClassVar[Literal["reviewer", "group", "pair", ""]] = ""
    any_number: ClassVar[bool] = False
    redrawn: ClassVar[str] = "as the design draws"
    probability: ClassVar[float | None] = None

    def strata(self, people: Any) -> Strata:  # noqa: ANN401 - a number or labels
        """Return what is split into halves, each by itself.

        Args:
            people: Number of reviewers; or the label of each one's group, if the
                design has groups.

        Returns:
            Strata of units of reviewers, who stay together.
        """
        raise NotImplementedError

    def plan(self, *sizes: Any, **options: Any) -> Plan:  # noqa: ANN401 - its own
        """Split the units of each stratum into halves.

        A coin for an odd unit is all that there is in a stratum of one.
        """
        strata = self.strata(*sizes, **options)

        def procedure(chance: Chance, _: Stream) -> Sides:
            sides: dict[int, int] = {}
            for units in strata:
                count = len(units)
                firsts = count // 2 + (count % 2 == 1 and chance.coin(HALF))
                choices = choose(count, firsts, chance)
                for first, unit in zip(choices, units, strict=True):
                    sides |= dict.fromkeys(unit, 0 if first else 1)
            return tuple(sides[reviewer] for reviewer in sorted(sides))

        return procedure, True

    def follow(self, _firsts: int, _seconds: int) -> str:
        """Say what a group must be if it cannot come from this design, else "".

        It has so many reviewers of the first item, and so many of the second.
        """
        return ""

    def counts_on(self, n_units: int, n_on: int) -> Sequence[int] | None:
        """Return how many units may be on, all choices of them being as likely.

        A reviewer or group is on with the first item, a pair as it was observed.

        Args:
            n_units: How many units there are.
            n_on: How many were on.

        Returns:
            The numbers, a range for any; None if the design cannot have drawn `n_on`.
        """
        if self.any_number:
            return range(n_units + 1)
        middle = {n_units // 2, (n_units + 1) // 2}
        return sorted(middle) if n_on in middle else None

    def usual_sizes(self, _: int) -> tuple[int, int]:
        """Return ten reviewers."""
        return USUAL_REVIEWERS, 0

    def usual_people(self, n_reviewers: int, n_groups: int = 0) -> int | list[int]:
        """Return what `strata` takes if neighbours are a group, as in scenarios.

        Args:
            n_reviewers: Number of reviewers.
            n_groups: Number of groups, by default half as many.
        """
        n_groups = n_groups or (n_reviewers + 1) // 2
        groups = [place * n_groups // n_reviewers for place in range(n_reviewers)]
        return groups if self.group else n_reviewers

    def draw_sides(self, trials: int, people: Any, rng: Generator) -> Codes:  # noqa: ANN401 - as in `strata`
        """Draw for many trials of a scenario, shape (trials, reviewers)."""
        return np.stack([self.draw(seed_from(rng), people)[0] for _ in range(trials)])


class ManyItemDesign(RandomDesign):
    """A law of assignments of some of many items to each reviewer.

    Attributes:
        most_items: How many items a reviewer gets at most, if that is fixed.
        fewest_items: How many items a scenario needs.
    """

    job: ClassVar[Job] = "rank"
    most_items: ClassVar[int | None] = None
    fewest_items: ClassVar[int] = 2

    def follow(self, _: Ratings) -> bool:
        """Say whether ratings can come from this design."""
        return True

    def items_each(self, _items: int, per_reviewer: int) -> int:
        """Return how many items each reviewer gets in a scenario that asks for some."""
        return self.most_items or per_reviewer

    def draw_bundles(
        self, trials: int, n_items: int, n_reviewers: int, each: int, rng: Generator
    ) -> Codes:
        """Draw for many trials of a scenario, shape (trials, reviewers, each)."""
        sizes = (n_items, n_reviewers, each)[: 3 if self.options else 2]
        return np.stack([self.draw(seed_from(rng), *sizes)[0] for _ in range(trials)])


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
    probability = 0.5

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
    options = ("per_reviewer", "per_item", "conflicts", "common")

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


class TwoPools(ManyItemDesign):
    """Let applicants review each other's items in two pools, each the other's.

    The pools are drawn first: groups in a random order, cut at half, in another order
    if the cut goes through a group. If all of 100 orders do that, one group is split.
    Then the reviews by the first pool are drawn, which is the smaller one if the number
    is odd, as "balanced" draws them with conflicts; then those by the second, with the
    reverse of every review as a conflict. The law does not change when applicants of no
    group change names. It is not uniform over all assignments: some reviews by the
    first pool leave more for the second than others do.

    Examples:
        >>> from evenhand.designs.drawing import assign
        >>> own = {"Anna": "p1", "Bo": "p2", "Cy": "p3", "Di": "p4"}
        >>> drawn = assign([*own.values()], [*own], design="two-pools", per_reviewer=1,
        ...                own_items=own, rng=7)
        >>> drawn.groups
        (('Anna', 2), ('Bo', 1), ('Cy', 2), ('Di', 1))
        >>> drawn.rows
        (('Anna', 'p4'), ('Bo', 'p1'), ('Cy', 'p2'), ('Di', 'p3'))
    """

    name = "two-pools"
    sentence = "Two random pools review each other, and no two applicants each other."
    options = (*Balanced.options, "groups", "own_items")
    group = "pool"
    fewest_items = 4
    bars = True

    def plan(self, n_items: int, n_reviewers: int, *more: Any) -> Plan:  # noqa: ANN401 - below
        """Draw the pools, then the reviews by each.

        Args:
            n_items: Number of items.
            n_reviewers: Number of applicants, the same.
            more: Items for each applicant, reviewers for each item, pairs of applicant
                and item that must not meet, and item and group of each applicant.
        """
        per_reviewer, per_item, met, applicants, *_ = (*more, None, None, None, None)
        applicants = applicants or [(code, code) for code in range(n_reviewers)]
        author = {item: person for person, (item, _) in enumerate(applicants)}
        if sentence := self.misfit(min(n_items, len(author)), n_reviewers):
            raise DesignError(sentence)
        units = members_of("groups", [group for _, group in applicants])
        conflicts: list[tuple[int, int]] = met or []
        apart = {(reviewer, author[item]) for reviewer, item in conflicts}
        apart.update(*(itertools.permutations(unit, 2) for unit in units))

        def procedure(chance: Chance, walk: Stream) -> Bundles:
            def review(pool: list[int], authors: list[int], past: set[Any]) -> set[Any]:
                clashes = [
                    (row, column)
                    for row, reviewer in enumerate(pool)
                    for column, person in enumerate(authors)
                    if (reviewer, person) in apart or (person, reviewer) in past
                ]
                sizes = (len(authors), len(pool), per_reviewer, per_item, clashes)
                rows: Any = Balanced().plan(*sizes)[0](chance, walk)
                reviews = zip(pool, rows, strict=True)
                return {(name, authors[code]) for name, row in reviews for code in row}

            first, second = split_pools(units, chance)
            for _ in range(TRIES):
                with contextlib.suppress(balancing.InfeasibleError):
                    reviews = review(first, second, set())
                    reviews |= review(second, first, reviews)
                    return tuple(
                        tuple(i for i in sorted(author) if (code, author[i]) in reviews)
                        for code in range(n_reviewers)
                    )
            text = f"Two pools of {n_reviewers} leave too few reviews. Ask for fewer, "
            text += "drop a conflict, or split a group of more than half."
            raise DesignError(text)

        return procedure, False

    def draw_groups(self, seed: int, groups: Sequence[Label]) -> Sequence[Label]:
        """Return the pool, 1 or 2, of each applicant: what a seed draws first."""
        chance = Drawn(stream(seed, f"design {self.name}"))
        first, _ = split_pools(members_of("groups", groups), chance)
        return [1 if person in first else 2 for person in range(len(groups))]

    def misfit(self, n_items: int, n_reviewers: int) -> str:
        """Ask for an item by each of at least four applicants."""
        rule = f"Design {self.name!r} needs 4 or more reviewers and an item by each"
        more = "only common ones (--common) are nobody's"
        fits = n_items == n_reviewers >= self.fewest_items
        return "" if fits else f"{rule}, got {n_reviewers} and {n_items}; {more}."


def split_pools(units: Sequence[list[int]], chance: Chance) -> list[list[int]]:
    """Put groups in a random order and cut at half, if possible between two groups."""
    half = sum(map(len, units)) // 2
    for _ in range(TRIES):
        pile = list(units)
        order = [pile.pop(chance.pick(len(pile))) for _ in units]
        if half in itertools.accumulate(map(len, order)):
            break
    people = [person for unit in order for person in unit]
    return [people[:half], people[half:]]


def names_of(*jobs: Job) -> tuple[str, ...]:
    """Return the names of all designs for some jobs.

    Examples:
        >>> names_of("rank")
        ('pairs', 'balanced', 'two-pools')
    """
    return tuple(
        design.name for design in RandomDesign.registry.values() if design.job in jobs
    )


def as_design(design: object, kind: type[Value]) -> Value:
    """Return a design of a kind from its name, or as it is.

    Raises:
        OptionError: If there is none of this name and kind.

    Examples:
        >>> as_design("coins", TwoItemDesign)
        Coins()
    """
    value = RandomDesign.registry.get(design) if isinstance(design, str) else design
    if isinstance(value, kind) and value.job != "simulate":
        return value
    if not isinstance(design, str | RandomDesign):
        raise must_be("design", "text", design)
    job = getattr(kind, "job", None)
    names = names_of("compare", "rank") if job is None else names_of(job)
    raise OptionError(unknown("design", getattr(design, "name", design), names))


def choose(count: int, number: int, chance: Chance) -> list[bool]:
    """Say of each of so many things whether it is chosen; all choices are as likely.

    Examples:
        >>> set(outcomes(lambda chance: tuple(choose(4, 2, chance))).values())
        {Fraction(1, 6)}
    """
    chosen = []
    for remaining in range(count, 0, -1):
        chosen.append(chance.coin(Fraction(number, remaining)))
        number -= chosen[-1]
    return chosen


def members_of(name: str, labels: Sequence[Hashable]) -> list[list[int]]:
    """Return the reviewers of each group.

    Args:
        name: What the labels are called in a message.
        labels: Label of each reviewer's group.

    Raises:
        DesignError: If they are no labels, or none.

    Examples:
        >>> members_of("pairs", "abba")
        [[0, 3], [1, 2]]
    """
    groups: dict[Hashable, list[int]] = defaultdict(list)
    try:
        for reviewer, label in enumerate(labels):
            groups[label].append(reviewer)
    except TypeError:
        groups.clear()
    if not groups:
        raise DesignError(
            f"{name} must be a sequence with a label for each reviewer, got "
            f"{labels!r:.80}."
        )
    return list(groups.values())


@dataclasses.dataclass(frozen=True, slots=True)
class Declared(Generic[Value]):
    """How reviewers were assigned, as far as anybody said or showed.

    Attributes:
        design: The design, None if nobody said.
        assignment: The assignment itself, if there is a record of it.
        missing: Assigned ratings that are not there.
        whole: Whether all who rated anything rated all that they were given, in a draw
            that favours nobody. Then it is chance who has more items.
        turnout: Of two items, how many answered of those who were given each, if an
            assignment says so.
    """

    design: Value | None = None
    assignment: Assignment | None = None
    missing: int = 0
    whole: bool = False
    turnout: Turnout | None = None

    @property
    def design_name(self) -> str | None:
        """Name of the design, None if nobody said."""
        return None if self.design is None else self.design.name

    @property
    def backing(self) -> Backing:
        """What shows that it was drawn so."""
        return self.assignment.backing if self.assignment else "declared"

    @property
    def conflicts(self) -> bool:
        """Whether conflicts of interest kept reviewers from items."""
        bars = getattr(self.design, "bars", False)
        return bars or bool(self.assignment and self.assignment.has_conflicts)

    def departures(self) -> Iterator[Finding]:
        """What is declared of those who left and who stepped in.

        Who never opened their page may have been kept away because of their items, and
        no record shows that nobody was.

        Examples:
            >>> from evenhand.designs import Pairs
            >>> from evenhand.designs.drawing import assign
            >>> drawn = assign([1, 2, 3], ["a", "b"], design="pairs", rng=7)
            >>> amended = drawn.amend(["b"], add=["z"])
            >>> [one.text for one in Declared(Pairs(), amended).departures()]
            ['1 reviewer left for reasons that have nothing to do with items',
             '1 substitute called in without regard to items']
            >>> amended = drawn.amend(["b"], add=["z"], unseen=True)
            >>> [one.standing for one in Declared(Pairs(), amended).departures()]
            ['declared', 'declared']
        """
        amendments = self.assignment.amendments() if self.assignment else []
        unseen = [amendment.drop for amendment in amendments if amendment.unseen]
        seen = [amendment.drop for amendment in amendments if not amendment.unseen]
        groups = {"left_unseen": unseen, "left": seen}
        groups["substitutes"] = [amendment.add for amendment in amendments]
        for code, labels in groups.items():
            if number := sum(map(len, labels)):
                yield Finding(code, "declared", {"reviewers": number})


def declare(
    design: str | Value | None,
    assignment: Assignment | None,
    kind: type[Value],
    ratings: Ratings | None,
    items: Sequence[Label] | None = None,
) -> Declared[Value]:
    """Put together what the user declares and what a record shows.

    Args:
        design: The design or its name, or None.
        assignment: The assignment that the ratings came through, or None.
        kind: The kind of designs that may be declared for this job.
        ratings: The ratings, None if there are only lists of scores.
        items: The items that matter, None for all.

    Raises:
        OptionError: If a design is unknown, or the two contradict each other.
        DesignError: If a rating was never assigned.

    Examples:
        >>> declare("halves", None, TwoItemDesign, None)
        Declared(design=Halves(), assignment=None, missing=0, whole=False, turnout=None)
    """
    chosen = None if design is None else as_design(design, kind)
    if assignment is None:
        return Declared(chosen)
    if not isinstance(assignment, assignments.Assignment):
        raise must_be("assignment", "an Assignment", assignment)
    if ratings is None:
        raise OptionError(
            "assignment must come with a Ratings. Lists of scores do not say who "
            "scored what."
        )
    if chosen is not None and chosen.name != assignment.design:
        rule = f"left out, or {assignment.design!r} as drawn"
        raise must_be("design", rule, chosen.name)
    chosen = as_design(assignment.design, kind)
    assignment.require(ratings, items)
    missing = assignment.missing(ratings, items)
    halfway = {str(reviewer) for reviewer, _ in missing} | {
        *map(str, assignment.halfway_leavers)
    }
    whole = halfway.isdisjoint(map(str, ratings.reviewer_labels))
    whole = whole and not assignment.has_conflicts
    answers = None
    if isinstance(chosen, TwoItemDesign):
        first = assignment.chain[0]
        rated = set(first.rows).difference(first.missing(ratings))
        answers = turnouts.turnout(assignment, rated)
    return Declared(chosen, assignment, len(missing), whole, answers)
