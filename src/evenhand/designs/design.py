"""What a design is: a value that draws who reviews what, and says what that is worth.

A class that names itself is in the registry from then on: `assign`, `compare`, `rank`,
p-values, certificates, scenarios and records find it there, and ask it.
"""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import numpy as np

from evenhand.arrays import frozen
from evenhand.errors import DesignError, OptionError, must_be, unknown
from evenhand.randomness import HALF, Drawn, outcomes, seed_from, stream

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.random import Generator

    from evenhand.arrays import Codes
    from evenhand.randomness import Chance, Stream
    from evenhand.ratings import Ratings

    # What draws, and whether all that it may draw are exactly as likely; dealing counts
    # as such, since its law is exact, if not uniform. A walk has a stream of its own.
    Procedure = Callable[[Chance, Stream], "Sides | Bundles"]
    Plan = tuple[Procedure, bool]
    Job = Literal["compare", "rank", "simulate"]
    # Units of each stratum, and reviewers of each unit.
    Strata = Sequence[Sequence[Sequence[int]]]

Sides = tuple[int, ...]
Bundles = tuple[tuple[int, ...], ...]
Value = TypeVar("Value", bound="RandomDesign")
# Reviewers in a scenario, if nobody says how many.
USUAL_REVIEWERS = 10


class RandomDesign:
    """A law of random assignments; every subclass is a frozen dataclass.

    Attributes:
        name: What `design=` and `--design` take.
        job: "compare" if each reviewer gets one of two items, "rank" if some of many;
            "simulate" for what only scenarios have.
        sentence: How it draws, for the record of an assignment.
        options: Which options of `assign` belong to it.
        group: What it calls a group of reviewers that it looks at, "" if there are
            none.
    """

    name: ClassVar[str] = ""
    job: ClassVar[Job]
    sentence: ClassVar[str] = ""
    options: ClassVar[tuple[str, ...]] = ()
    group: ClassVar[str] = ""
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
    """

    job: ClassVar[Job] = "compare"
    symmetry: ClassVar[Literal["reviewers", "partners", "items"]] = "items"
    apart: ClassVar[float] = math.inf
    unit: ClassVar[Literal["reviewer", "group", "pair", ""]] = ""
    any_number: ClassVar[bool] = False
    redrawn: ClassVar[str] = "as the design draws"

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


def names_of(*jobs: Job) -> tuple[str, ...]:
    """Return the names of all designs for some jobs.

    Examples:
        >>> names_of("rank")
        ('pairs', 'balanced')
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
