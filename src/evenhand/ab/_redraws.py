"""Which assignments a design could have drawn, given who scored anything at all.

Every design here is uniform over a set of assignments, and all have one form: some
units, each on or off, and how many of them may be on. A unit is a reviewer (on: scores
the first item), a panel, or a pair (on: one of the two scores the first item, off: the
other). So a p-value is a count of assignments over their number. Where every reviewer
is a unit, only how many scores of each level an item gets is drawn.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.ab.law import sample_subsets
from evenhand.designs import AB_DESIGNS
from evenhand.errors import DesignError, OptionError, shown, unknown

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Labels = tuple[list[Hashable], list[Hashable]]
    Groups = dict[Hashable, tuple[list[int], list[int]]]
    Unit = list[tuple[int, bool, bool]]

GIVEN = "given counts"
GIVEN_PANELS = "given panel counts"
# Cells of a block of assignments; no result depends on it.
BLOCK = 2_000_000


@dataclass(frozen=True, slots=True)
class Redraws:
    """The assignments that could have been drawn, all equally likely.

    Attributes:
        name: What is redrawn: a design, or GIVEN or GIVEN_PANELS.
        values: Levels of scores, natural numbers in increasing order; of every reviewer
            by itself where there are units.
        sizes: How many scores of each level both items have.
        first: How many of them are of the first item, as observed.
        counts: How many units may be on, None for any number.
        unit: The unit that each reviewer belongs to, None if each is one.
        when_on: Whether the reviewer scores the first item when that unit is on; or
            when it is off.
    """

    name: str
    values: Counts
    sizes: Counts
    first: Counts
    counts: tuple[int, ...] | None
    unit: Counts | None = None
    when_on: NDArray[np.bool_] | None = None

    @property
    def size(self) -> int:
        """Number of scores of both items."""
        return int(self.sizes.sum())

    @property
    def everything(self) -> int:
        """Sum of the scores of both items."""
        return int(self.sizes.astype(object) @ self.values.astype(object))

    @property
    def n_units(self) -> int:
        """Number of units."""
        return self.size if self.unit is None else int(self.unit.max(initial=-1)) + 1

    @property
    def share(self) -> float:
        """Share of the units that are on."""
        if self.counts is None:
            return 0.5
        return sum(self.counts) / len(self.counts) / self.n_units

    @property
    def total(self) -> int:
        """Number of assignments."""
        if self.counts is None:
            return int(2**self.n_units)
        return sum(math.comb(self.n_units, count) for count in self.counts)

    def units(self) -> NDArray[np.object_]:
        """Return what each unit adds to the first item's scores, off and on.

        Returns:
            Numbers of scores and their sums, the less first, shape (units, 2, 2).
        """
        found = np.zeros((self.n_units, 2, 2), dtype=object)
        if self.unit is None or self.when_on is None:
            found[:, 1, 0] = 1
            found[:, 1, 1] = np.repeat(self.values, self.sizes)
            return found
        scores = np.column_stack([self.sizes, self.values])
        np.add.at(found.reshape(-1, 2), 2 * self.unit + self.when_on, scores)
        return np.sort(found, axis=1)

    def at_most(self, most: int) -> bool:
        """Say whether there are so many assignments at most, without a long number."""
        units = self.n_units
        # With k units on and k or more off there are 2**k assignments at least.
        even = min(min(count, units - count) for count in self.counts or (units // 2,))
        return even <= most.bit_length() and self.total <= most

    def enumerated(self) -> Iterator[Counts]:
        """Give every assignment of units once: how many of each level score the first.

        The rows come in blocks.
        """
        rows = max(1, BLOCK // max(len(self.values), self.n_units))
        for count in range(self.n_units + 1) if self.counts is None else self.counts:
            ways = itertools.combinations(range(self.n_units), count)
            while block := list(itertools.islice(ways, rows)):
                on = np.zeros((len(block), self.n_units), np.bool_)
                np.put_along_axis(on, np.array(block, dtype=np.int64), 1, axis=1)
                yield self._sides(on)

    def sampled(self, samples: int, rng: np.random.Generator) -> Iterator[Counts]:
        """Give independent draws of how many of each level score the first item."""
        rows = max(1, BLOCK // len(self.values))
        for start in range(0, samples, rows):
            yield from self._drawn(min(rows, samples - start), rng)

    def _drawn(self, rows: int, rng: np.random.Generator) -> Iterator[Counts]:
        if self.counts is None:
            if self.unit is None:
                yield rng.binomial(self.sizes, 0.5, (rows, len(self.sizes)))
            else:
                yield self._sides(rng.integers(0, 2, (rows, self.n_units)) > 0)
            return
        # An odd number has two middle counts, with as many assignments each.
        first = rng.binomial(rows, 0.5) if len(self.counts) > 1 else rows
        for count, some in zip(self.counts, (first, rows - first), strict=False):
            if self.unit is None:
                yield sample_subsets(self.sizes, count, some, rng)
            else:
                orders = rng.random((some, self.n_units)).argsort(axis=1)
                yield self._sides(orders < count)

    def _sides(self, on: NDArray[np.bool_]) -> Counts:
        if self.unit is None:
            starts = np.cumsum(self.sizes) - self.sizes
            return np.add.reduceat(on, starts, axis=1, dtype=np.int64)
        return np.asarray(on[:, self.unit] == self.when_on, dtype=np.int64)


def redraw_levels(
    values: Counts, first: Counts, second: Counts, design: str | None
) -> Redraws:
    """Work out what could have been drawn where every reviewer is a unit.

    Args:
        values: Levels of scores, as natural numbers in increasing order.
        first: How many scores of each level the first item has.
        second: The same of the second item.
        design: "halves", "coins", or None for the observed counts.

    Returns:
        The assignments. "halves" with counts that it cannot draw becomes GIVEN.

    Examples:
        >>> one, two = np.array([0, 1, 1]), np.array([1, 0, 0])
        >>> redraw_levels(np.array([1, 3, 4]), one, two, "halves").total
        6
    """
    sizes, ahead = first + second, int(first.sum())
    name, counts = _fitting(design, int(sizes.sum()), ahead, GIVEN)
    return Redraws(name, values, sizes, first, counts)


def redraw_units(
    first: Sequence[int], second: Sequence[int], design: str, labels: Labels
) -> Redraws:
    """Work out what could have been drawn, pair by pair or panel by panel.

    Args:
        first: Scores of the first item, as natural numbers.
        second: Scores of the second item.
        design: "matched" or "panels".
        labels: Pair or panel of each reviewer.

    Raises:
        DesignError: If a pair or panel is not one that the design could have drawn.

    Examples:
        >>> redraw_units([3, 4], [1], "matched", (["a", "b"], ["a"])).total
        4
    """
    groups: Groups = {}
    for side, values in enumerate((first, second)):
        for label, value in zip(labels[side], values, strict=True):
            groups.setdefault(label, ([], []))[side].append(value)
    units = _pairs(groups) if design == "matched" else _panels(groups)
    ahead = sum(1 for ones, _ in groups.values() if ones)
    name, counts = _fitting(design, len(units), ahead, GIVEN_PANELS)
    # Equal units are interchangeable, so sorting them forgets the order of the rows
    # and nothing else.
    members = sorted(
        (value, index, on, side)
        for index, unit in enumerate(sorted(map(sorted, units)))
        for value, on, side in unit
    )
    values, unit, when_on, of = zip(*members, strict=True) if members else [()] * 4
    return Redraws(
        name,
        natural(list(values), len(values)),
        np.ones(len(values), np.int64),
        np.array(of, np.int64),
        counts,
        np.array(unit, np.int64),
        np.array(when_on, np.bool_),
    )


def natural(values: list[int], size: int) -> Counts:
    """Return natural numbers as an array in which so many of them can be added up.

    Examples:
        >>> natural([0, 2**62], 3).dtype
        dtype('O')
    """
    fits = max(values, default=0) * size < 1 << 63
    return np.array(values, dtype=np.int64 if fits else object)


def as_labels(
    design: str | None, groups: object, counts: tuple[int, int]
) -> Labels | None:
    """Return the labels of both items' reviewers, or None where there are none to use.

    Args:
        design: One of AB_DESIGNS, or None.
        groups: Labels of the first item's reviewers, and of the second's; None pairs
            equally many in the order given.
        counts: Numbers of scores.

    Raises:
        OptionError: If the design is unknown, or groups do not belong to it.
        DesignError: If there is not one label for each reviewer.

    Examples:
        >>> as_labels("panels", (["x"], ["y", "y"]), (1, 2))
        (['x'], ['y', 'y'])
    """
    if design is not None and design not in AB_DESIGNS:
        raise OptionError(unknown("design", design, AB_DESIGNS))
    if design not in ("matched", "panels"):
        if groups is not None:
            raise OptionError(
                f"groups must be left out for design {design!r}, got {shown(groups)}. "
                "They belong to 'matched' and 'panels'."
            )
        return None
    if groups is None and design == "matched" and counts[0] == counts[1]:
        return list(range(counts[0])), list(range(counts[1]))
    try:
        first, second = map(list, groups)  # type: ignore[call-overload]  # or else
        known = {*first, *second} if (len(first), len(second)) == counts else None
    except (TypeError, ValueError):
        known = None
    if known is None:
        what = "pair" if design == "matched" else "panel"
        raise DesignError(
            f"groups must name the {what} of each reviewer for design {design!r}, got "
            f"{shown(groups)}."
        )
    return first, second


def _fitting(
    design: str | None, units: int, ahead: int, instead: str
) -> tuple[str, tuple[int, ...] | None]:
    """Return what is redrawn, and how many units may be on."""
    if design in ("coins", "matched"):
        return design, None
    middle = tuple(sorted({units // 2, (units + 1) // 2}))
    if design is not None and ahead in middle:
        return design, middle
    return instead, (ahead,)


def _pairs(groups: Groups) -> list[Unit]:
    """Return the pairs; whoever is left of one was still sent by a fair coin."""
    units: list[Unit] = []
    for label, (ones, twos) in groups.items():
        if len(ones) > 1 or len(twos) > 1:
            raise DesignError(
                "groups must name pairs with one reviewer of each item for design "
                f"'matched', got {max(len(ones), len(twos))} of one item for "
                f"{shown(label)}."
            )
        low, *high = sorted([(v, True) for v in ones] + [(v, False) for v in twos])
        units.append([(low[0], False, low[1]), *((v, True, of) for v, of in high)])
    return units


def _panels(groups: Groups) -> list[Unit]:
    for label, (ones, twos) in groups.items():
        if ones and twos:
            raise DesignError(
                "groups must name panels that stay together for design 'panels', got "
                f"reviewers of both items for {shown(label)}."
            )
    return [
        [(value, True, bool(ones)) for value in ones + twos]
        for ones, twos in groups.values()
    ]
