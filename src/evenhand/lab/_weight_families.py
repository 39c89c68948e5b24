"""The best weight of a family with one formula, for given laws of the gap."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from evenhand.ab import weights
from evenhand.ab._numbers import Floats

if TYPE_CHECKING:
    from evenhand.ab.weights import GapWeight
    from evenhand.lab._gap_laws import GapLaw

Curve: TypeAlias = Callable[[Floats], Floats]

FAMILIES = ("rational", "offset-rational", "offset-linear")
# Steepness is tried in powers of two, in units of the largest gap, then refined.
LOWEST_POWER = -8
HIGHEST_POWER = 40
# An offset of 1 is a coin that is not flipped.
LARGEST_OFFSET = 1 - 1e-9
PLACES = 1e-9


class Found(NamedTuple):
    """A weight with what it gains, as shares of 1."""

    family: str
    perfect: float
    worst: float
    weight: GapWeight


@dataclass(frozen=True, slots=True)
class Searched:
    """Families, ready to be searched above any floor.

    Attributes:
        laws: The scenarios.
        perfect: The law under perfect calibration.
        prior: Probabilities of the scenarios, or None for the worst of them.
        nodes: Gaps of all laws.
        chances: Their probabilities.
        starts: Where each law begins in them.
        scale: A gap that is large here.
    """

    laws: Sequence[GapLaw]
    perfect: GapLaw
    prior: Sequence[float] | None
    nodes: Floats
    chances: Floats
    starts: Sequence[int]
    scale: float

    def above(self, floor: float) -> list[Found]:
        """Return the best of each family that reaches the floor, the best first."""
        found = [self._rational(floor), self._offset_rational(floor)]
        if all(law.exact for law in self.laws):
            found.append(self._offset(floor, weights.linear(self.scale)))
        reached = [one for one in found if one is not None]
        return sorted(reached, key=lambda one: -one.worst)

    def gains(self, weight: GapWeight) -> tuple[Floats, float]:
        """Return a weight's improvement in each scenario and if all is well."""
        values = self.chances * weight.values(np.abs(self.nodes))
        sums = np.add.reduceat(values, self.starts)
        return sums[:-1], float(sums[-1])

    def overall(self, gains: Floats) -> float:
        """Return the worst of the improvements, or their average."""
        return float(gains.min() if self.prior is None else gains @ self.prior)

    def _rational(self, floor: float) -> Found | None:
        def gained(power: float) -> float:
            return self.gains(weights.rational(2.0**power / self.scale))[1]

        if gained(HIGHEST_POWER) < floor:
            return None
        lowest = float(LOWEST_POWER)
        if gained(lowest) < floor:
            from scipy.optimize import brentq  # noqa: PLC0415 - slow to load

            lowest = brentq(
                lambda power: gained(power) - floor, lowest, HIGHEST_POWER, xtol=PLACES
            )
            # From the side on which the floor is kept.
            lowest += 2 * PLACES

        def worst(power: float) -> float:
            return self.overall(
                self.gains(weights.rational(2.0**power / self.scale))[0]
            )

        power = _best(worst, lowest, HIGHEST_POWER)
        weight = weights.rational(2.0**power / self.scale)
        gains, perfect = self.gains(weight)
        return Found("rational", perfect, self.overall(gains), weight)

    def _offset_rational(self, floor: float) -> Found | None:
        def at(power: float) -> Found:
            return self._offset(floor, weights.rational(2.0**power / self.scale))

        power = _best(lambda power: at(power).worst, LOWEST_POWER, HIGHEST_POWER)
        return at(power)

    def _offset(self, floor: float, base: GapWeight) -> Found:
        """Return the best offset of a base that keeps the floor."""
        gains, perfect = self.gains(base)
        # A weight of 1 gains what a step at 0 does.
        sure = np.array([law.net(np.zeros(1))[0] for law in self.laws])
        most = float(self.perfect.net(np.zeros(1))[0])
        least = (floor - perfect) / (most - perfect) if perfect < most else 0.0
        least = min(max(least, 0.0), LARGEST_OFFSET)

        def worst(c: float) -> float:
            return self.overall(c * sure + (1 - c) * gains)

        # Concave in c, so thirds close in on the maximum.
        low, high = least, LARGEST_OFFSET
        while high - low > PLACES:
            one, two = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, two) if worst(one) >= worst(two) else (one, high)
        c = max((least, (low + high) / 2), key=worst)
        weight = weights.offset(c, base)
        return Found(
            f"offset-{base.name}", c * most + (1 - c) * perfect, worst(c), weight
        )


def searched(
    laws: Sequence[GapLaw], perfect: GapLaw, prior: Sequence[float] | None
) -> Searched:
    """Lay out the laws so that a weight is evaluated on all of them at once.

    Examples:
        >>> from evenhand.lab._gap_laws import bias_law
        >>> best = searched([bias_law(1.0)], bias_law(0.0), None).above(0.5)
        >>> best[-1].family, round(best[-1].worst, 4)
        ('rational', 0.0679)
    """
    all_laws = [*laws, perfect]
    lengths = [len(law.gaps) for law in all_laws]
    signs = [np.sign(law.gaps) * law.chances for law in all_laws]
    far = [
        law.largest if math.isfinite(law.largest) else float(np.abs(law.gaps).max())
        for law in all_laws
    ]
    return Searched(
        laws,
        perfect,
        prior,
        np.concatenate([law.gaps for law in all_laws]),
        np.concatenate(signs),
        np.cumsum([0, *lengths[:-1]]).tolist(),
        max(far),
    )


def _best(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function of the steepness is largest: on a grid, then between."""
    from scipy.optimize import minimize_scalar  # noqa: PLC0415 - slow to load

    value = functools.cache(function)
    places = np.unique([low, *range(math.ceil(low), math.floor(high) + 1), high])
    first = max(places.tolist(), key=value)
    ends = (max(first - 1, low), min(first + 1, high))
    if ends[0] == ends[1]:
        return float(first)
    found = minimize_scalar(
        lambda place: -value(place),
        bounds=ends,
        method="bounded",
        options={"xatol": 1e-7},
    )
    return max((float(first), float(found.x)), key=value)
