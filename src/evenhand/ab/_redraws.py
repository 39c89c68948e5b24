"""Which assignments a design could have drawn, given who scored anything at all.

Every design here is uniform over a set of assignments, and all have one form: some
units, each on or off, and how many of them may be on. A unit is a reviewer (on: scores
the first item), a panel, or a pair (on: one of the two scores the first item, off: the
other). So a p-value is a count of assignments over their number.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand._kernels.redraws import subsets
from evenhand._labels import shown
from evenhand._randomness import Stream, uniforms
from evenhand.designs import AB_DESIGNS
from evenhand.errors import DesignError, OptionError, counted, unknown

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    Choices = NDArray[np.bool_ | np.int64]
    Labels = tuple[list[Hashable], list[Hashable]]
    Member = tuple[int, bool]
    Unit = list[Member]

GIVEN = "given counts"
GIVEN_PANELS = "given panel counts"
PAIR = 2
# Cells of a block of assignments; no result depends on it.
BLOCK = 2_000_000


@dataclass(frozen=True, slots=True)
class Redraws:
    """The assignments that could have been drawn, all equally likely.

    Attributes:
        name: What is redrawn: a design, or GIVEN or GIVEN_PANELS.
        values: Score of each reviewer, increasing.
        unit: The unit that each reviewer belongs to.
        when_on: Whether the reviewer scores the first item when that unit is on; or
            when it is off.
        n_units: Number of units.
        counts: How many units may be on, None for any number.
    """

    name: str
    values: tuple[int, ...]
    unit: tuple[int, ...]
    when_on: tuple[bool, ...]
    n_units: int
    counts: tuple[int, ...] | None

    @property
    def total(self) -> int:
        """Number of assignments."""
        if self.counts is None:
            return int(2**self.n_units)
        return sum(math.comb(self.n_units, count) for count in self.counts)

    @property
    def exchangeable(self) -> bool:
        """Whether every reviewer is a unit, so that only scores matter."""
        return self.n_units == len(self.values)

    def everything(self) -> Iterator[Choices]:
        """Give every assignment once, as blocks of rows; True is the first item."""
        rows = max(1, BLOCK // max(1, len(self.values)))
        if self.counts is None:
            for start in range(0, self.total, rows):
                codes = np.arange(start, min(start + rows, self.total))
                on = codes[:, None] >> np.arange(self.n_units) & 1
                yield self._sides(on.astype(np.bool_))
            return
        for count in self.counts:
            ways = itertools.combinations(range(self.n_units), count)
            while block := list(itertools.islice(ways, rows)):
                chosen = np.zeros((len(block), self.n_units), np.bool_)
                places = np.array(block, dtype=np.int64).reshape(len(block), count)
                np.put_along_axis(chosen, places, values=True, axis=1)
                yield self._sides(chosen)

    def sampled(self, samples: int, source: Stream) -> Iterator[Choices]:
        """Give independent draws, as blocks of rows; True is the first item."""
        rows = max(1, BLOCK // max(1, len(self.values)))
        for start in range(0, samples, rows):
            size = min(rows, samples - start)
            drawn = uniforms(source, (size, self.n_units + 1))
            if self.counts is None:
                yield self._sides(drawn[:, 1:] < 0.5)  # noqa: PLR2004 - a fair coin
                continue
            # An odd number has two middle counts, with as many assignments each.
            index = (drawn[:, 0] * len(self.counts)).astype(np.int64)
            counts = np.array(self.counts, dtype=np.int64)[index]
            yield self._sides(subsets(drawn[:, 1:], counts))

    def sampled_tables(
        self, sizes: Sequence[int], samples: int, source: Stream
    ) -> Iterator[Choices]:
        """Give independent draws of how many of each level score the first item.

        Only where reviewers are exchangeable: then no more is needed of them.

        Args:
            sizes: How many reviewers gave each level, of both items.
            samples: Number of draws.
            source: Where they come from.
        """
        rng, cells = np.random.Generator(source), BLOCK // len(sizes)
        for start in range(0, samples, cells):
            rows = min(cells, samples - start)
            if self.counts is None:
                yield rng.binomial(sizes, 0.5, (rows, len(sizes)))
                continue
            # An odd number has two middle counts, with as many assignments each.
            first = rng.binomial(rows, 0.5) if len(self.counts) > 1 else rows
            for count, drawn in zip(self.counts, (first, rows - first), strict=False):
                yield rng.multivariate_hypergeometric(
                    sizes, count, size=drawn, method="marginals"
                )

    def _sides(self, on: Choices) -> Choices:
        if self.exchangeable and all(self.when_on):
            return on
        return np.asarray(on[:, list(self.unit)] == np.array(self.when_on, np.bool_))


def redraws(
    first: Sequence[int],
    second: Sequence[int],
    design: str | None,
    labels: Labels | None,
) -> Redraws:
    """Work out what could have been drawn, whatever the order of the scores.

    Args:
        first: Scores of the first item, as integers.
        second: Scores of the second item.
        design: One of AB_DESIGNS, or None for the observed counts.
        labels: Pair or panel of each reviewer, for "matched" and "panels".

    Returns:
        The assignments. "halves" with counts that it cannot draw becomes GIVEN, and
        "panels" with such numbers of panels GIVEN_PANELS.

    Raises:
        DesignError: If a pair or panel is not one that the design could have drawn.

    Examples:
        >>> redraws([3, 4], [1], "halves", None).total
        6
    """
    if design == "matched" and labels is not None:
        return _from_units(design, _pairs(first, second, labels), None)
    if design == "panels" and labels is not None:
        units, ahead = _panels(first, second, labels)
        counts = _middle(len(units))
        fits = ahead in counts
        name = design if fits else GIVEN_PANELS
        return _from_units(name, units, counts if fits else (ahead,))
    units = [[(value, True)] for value in (*first, *second)]
    if design == "coins":
        return _from_units(design, units, None)
    counts = _middle(len(units))
    if design == "halves" and len(first) in counts:
        return _from_units(design, units, counts)
    return _from_units(GIVEN, units, (len(first),))


def as_labels(
    design: str | None, groups: object, counts: tuple[int, int]
) -> Labels | None:
    """Return the labels of both items' reviewers, or None where there are none to use.

    Args:
        design: One of AB_DESIGNS, or None.
        groups: Labels of the first item's reviewers, then of the second's, as one
            sequence or two; None pairs equally many in the order given.
        counts: Numbers of scores.

    Raises:
        OptionError: If the design is unknown, or groups do not belong to it.
        DesignError: If there is not one label for each reviewer.

    Examples:
        >>> as_labels("panels", ["x", "y", "y"], (1, 2))
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
    if groups is None:
        if design == "matched" and counts[0] == counts[1]:
            return list(range(counts[0])), list(range(counts[1]))
        what = "pair" if design == "matched" else "panel"
        raise DesignError(
            f"groups must name the {what} of each reviewer for design {design!r}, got "
            "None."
        )
    flat = _listed(groups)
    parts = [_listed(part) or [] for part in flat or []]
    if tuple(map(len, parts)) == counts:
        return _hashable(parts[0]), _hashable(parts[1])
    if flat is None or len(flat) != sum(counts):
        raise DesignError(
            f"groups must hold a label for each of {counted(sum(counts), 'reviewer')}, "
            f"got {shown(groups)}."
        )
    return _hashable(flat[: counts[0]]), _hashable(flat[counts[0] :])


def _from_units(
    name: str, units: list[Unit], counts: tuple[int, ...] | None
) -> Redraws:
    # Equal units are interchangeable, so sorting them forgets the order of the rows
    # and nothing else.
    members = sorted(
        (value, index, on)
        for index, unit in enumerate(sorted(map(sorted, units)))
        for value, on in unit
    )
    return Redraws(
        name=name,
        values=tuple(value for value, _, _ in members),
        unit=tuple(index for _, index, _ in members),
        when_on=tuple(on for _, _, on in members),
        n_units=len(units),
        counts=counts,
    )


def _middle(number: int) -> tuple[int, ...]:
    return (number // 2,) if number % 2 == 0 else (number // 2, number // 2 + 1)


def _pairs(first: Sequence[int], second: Sequence[int], labels: Labels) -> list[Unit]:
    """Return the pairs; whoever is left of one was still sent by a fair coin."""
    groups = _grouped(first, second, labels)
    units: list[Unit] = []
    for label, (ones, twos) in groups.items():
        if len(ones) > 1 or len(twos) > 1:
            raise DesignError(
                "groups must name pairs with one reviewer of each item for design "
                f"'matched', got {max(len(ones), len(twos))} of one item for "
                f"{shown(label)}."
            )
        low, *high = sorted(ones + twos)
        units.append([(low, False), *((value, True) for value in high)])
    return units


def _panels(
    first: Sequence[int], second: Sequence[int], labels: Labels
) -> tuple[list[Unit], int]:
    groups = _grouped(first, second, labels)
    for label, (ones, twos) in groups.items():
        if ones and twos:
            raise DesignError(
                "groups must name panels that stay together for design 'panels', got "
                f"reviewers of both items for {shown(label)}."
            )
    units = [[(value, True) for value in ones + twos] for ones, twos in groups.values()]
    return units, sum(1 for ones, _ in groups.values() if ones)


def _grouped(
    first: Sequence[int], second: Sequence[int], labels: Labels
) -> dict[Hashable, tuple[list[int], list[int]]]:
    groups: dict[Hashable, tuple[list[int], list[int]]] = {}
    for side, values in enumerate((first, second)):
        for label, value in zip(labels[side], values, strict=True):
            groups.setdefault(label, ([], []))[side].append(value)
    return groups


def _listed(values: object) -> list[object] | None:
    if isinstance(values, np.ndarray):
        return list(values.tolist())
    # Anything in order: lists, tuples, columns of a frame.
    if isinstance(values, Iterable) and not isinstance(
        values, str | bytes | Set | Mapping
    ):
        return list(values)
    return None


def _hashable(labels: list[object]) -> list[Hashable]:
    for label in labels:
        try:
            hash(label)
        except TypeError:
            raise DesignError(
                f"groups must hold a label for each reviewer, got {shown(label)}."
            ) from None
    return list(labels)
