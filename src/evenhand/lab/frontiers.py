"""How good a gap weight can be: the best for declared biases, by linear programming.

Two items, two reviewers, one coin. What a weight gains over a fair coin is linear in
it, and every nondecreasing weight with values in [0, 1] is a mixture of steps. So the
best one for the worst of several scenarios, among those that keep a given improvement
under perfect calibration, is a matrix game between thresholds and scenarios, solved
here by HiGHS. The table found gives a lower bound, evaluated exactly; the solver's
prices give an upper bound over all weights, on no grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.ab import weights
from evenhand.errors import OptionError, unknown
from evenhand.lab._weight_game import (
    FAMILIES,
    PER_CENT,
    FamilyPoint,
    Game,
    as_game,
    best_of_families,
    best_step,
    solved,
    worst,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand._results import Json
    from evenhand.ab.weights import GapWeight
    from evenhand.lab.scenario import Scenario

__all__ = ["FamilyPoint", "Frontier", "FrontierPoint", "best_weight", "frontier"]

CELLS = 240
# Steps smaller than that are the solver's rounding.
DUST = 1e-12
CAUTION = (
    "The best weight steps up and is flat between, so it may tie with a coin; mixed "
    "with a strictly increasing one it strictly beats it on all scales."
)


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """The best that any weight can do, given what it must keep.

    Attributes:
        floor: Least improvement under perfect calibration, in per cent.
        perfect: That of the table found.
        worst: Its improvement in the worst scenario (or on average), in per cent.
        bound: No nondecreasing weight at all gets more than this.
        where: The worst scenario.
        at: Gaps at which the table steps up.
        shares: By how much; the last value is their sum.
        families: How far weights with one formula get, the best first.
    """

    floor: float
    perfect: float
    worst: float
    bound: float
    where: str
    at: tuple[float, ...]
    shares: tuple[float, ...]
    families: tuple[FamilyPoint, ...]

    def weight(
        self, *, mix: float = weights.MIX, base: GapWeight | str | None = None
    ) -> GapWeight:
        """Return the table as a weight, made strict by a share of another one.

        Args:
            mix: Share of the other weight, which costs at most as much.
            base: The other weight, rational(1) if None.

        Returns:
            The weight.

        Raises:
            OptionError: If mix is out of range.

        Examples:
            >>> frontier([1.0], perfect=30).points[0].weight()([0.5, 1.5]).round(2)
            array([0.3, 1. ])
        """
        return weights.steps(self.at, self.shares, mix=mix, base=base)

    def to_dict(self) -> dict[str, Json]:
        """Return the fields as plain values, weights by name and parameters."""
        return {
            "floor": self.floor,
            "perfect": self.perfect,
            "worst": self.worst,
            "bound": self.bound,
            "where": self.where,
            "at": list(self.at),
            "shares": list(self.shares),
            "families": [
                {**found._asdict(), "weight": found.weight.to_dict()}
                for found in self.families
            ],
        }


@dataclass(frozen=True, slots=True, repr=False)
class Frontier:
    """What can be had in the worst scenario for what is kept if all is well.

    Attributes:
        points: One for each floor asked for.
        scenarios: Names of the scenarios.
        between: The range of unknown biases, if one was given.
        prior: Probabilities of the scenarios, empty for the worst of them.
        cells: Number of cells of the first grid of thresholds, and of biases.
        exact: Whether all laws are formulas; otherwise worst and bound are those of
            laws averaged over points, which may be off by some 0.2 per cent.
    """

    points: tuple[FrontierPoint, ...]
    scenarios: tuple[str, ...]
    between: tuple[float, float] | None
    prior: tuple[float, ...]
    cells: int
    exact: bool

    @property
    def caution(self) -> str:
        """What to keep in mind when the table is used."""
        return CAUTION

    def rows(self) -> list[dict[str, Json]]:
        """Return a row for each point, and for each family at it.

        Examples:
            >>> [row["weight"] for row in frontier([1.0], perfect=30).rows()][:2]
            ['any', 'offset-linear']
        """
        return [
            {
                "floor": point.floor,
                "weight": family,
                "perfect": perfect,
                "worst": least,
                "bound": bound,
            }
            for point in self.points
            for family, perfect, least, bound in (
                ("any", point.perfect, point.worst, point.bound),
                *((*found[:3], None) for found in point.families),
            )
        ]

    def to_dict(self) -> dict[str, Json]:
        """Return the document for JSON."""
        return {
            "schema": "evenhand.frontier/1",
            "scenarios": list(self.scenarios),
            "between": None if self.between is None else list(self.between),
            "prior": list(self.prior),
            "cells": self.cells,
            "exact": self.exact,
            "points": [point.to_dict() for point in self.points],
            "caution": self.caution,
        }

    def __repr__(self) -> str:
        lines = []
        for point in self.points:
            best = f"any weight {_brief(point.worst)} (at most {_brief(point.bound)})"
            others = [f"{one.family} {_brief(one.worst)}" for one in point.families]
            told = ", ".join([best, *others])
            lines.append(f"perfect >= {point.floor:g} %: {told}")
        return "\n".join(lines)


def frontier(
    scenarios: Sequence[float | Scenario] = (),
    *,
    between: tuple[float, float] | None = None,
    perfect: float | Sequence[float] = 50.0,
    prior: Sequence[float] | None = None,
    cells: int = CELLS,
) -> Frontier:
    """Find how much a weight can gain at worst, for what it must gain if all is well.

    Args:
        scenarios: Known situations: a number is a bias that one of the two reviewers
            adds, values uniform on [0, 1]; a Scenario has two reviewers.
        between: Lowest and highest bias of a range in which an unknown bias lies.
        perfect: Least improvement under perfect calibration, in per cent, at least 0
            and below 100; or several.
        prior: Probability of each of the scenarios, to maximise the average improvement
            and not the worst.
        cells: Cells of the grid of thresholds, and of the range of biases. More of them
            bring `worst` and `bound` closer together.

    Returns:
        For each floor the best table of steps with its exact worst improvement, a bound
        that no weight exceeds, and the best weights of three families.

    Raises:
        OptionError: If there is no scenario, or an option is out of range.

    References:
        Wang and Shah (2019), Section 4.3 (Figure 3), for a known bias of 1 and the
        family "rational".

    Examples:
        >>> frontier([1.0], perfect=26)  # doctest: +ELLIPSIS
        perfect >= 26 %: any weight 37 % (at most 37 %), offset-linear 14.8 %, ...
        >>> frontier(between=(0, 4))  # doctest: +ELLIPSIS
        perfect >= 50 %: any weight 4.57 % (at most 4.58 %), offset-linear 3.57 %, ...
    """
    game = as_game(scenarios, between, prior, cells)
    floors = [float(floor) for floor in np.atleast_1d(perfect)]
    for floor in floors:
        if not 0 <= floor < PER_CENT:
            raise OptionError(
                f"perfect must be at least 0 and below 100 per cent, got {floor!r}."
            )
    names = [law.name for law in game.laws]
    if between is not None:
        names.append(f"bias between {between[0]:g} and {between[1]:g}")
    return Frontier(
        tuple(_point(game, floor) for floor in floors),
        tuple(names),
        game.between,
        tuple(game.prior or ()),
        cells,
        all(law.exact for law in (*game.laws, game.perfect)),
    )


def best_weight(
    scenarios: Sequence[float | Scenario] = (),
    *,
    between: tuple[float, float] | None = None,
    perfect: float = 50.0,
    prior: Sequence[float] | None = None,
    family: str | None = None,
) -> GapWeight:
    """Return the weight that gains most in the worst of the declared scenarios.

    Args:
        scenarios: What `frontier` takes.
        between: Range of an unknown bias.
        perfect: Least improvement under perfect calibration, in per cent.
        prior: Probabilities of the scenarios, for the best on average.
        family: "rational", "offset-rational", "offset-linear" or "steps", the table of
            steps mixed with one part in a hundred of rational(1); None for the best of
            the first three.

    Returns:
        The weight, which increases strictly.

    Raises:
        OptionError: If the family is unknown or does not reach the floor.

    Examples:
        >>> best_weight(between=(0, 4), perfect=50)
        offset(c=0.4642857142857143, base=linear(range=5.0))
    """
    known = (*FAMILIES, "steps")
    if family is not None and family not in known:
        raise OptionError(unknown("family", family, known))
    found = frontier(scenarios, between=between, perfect=perfect, prior=prior)
    (point,) = found.points
    if family == "steps":
        return point.weight()
    fitting = [one for one in point.families if family in (None, one.family)]
    if not fitting:
        raise OptionError(
            f"perfect must be within reach of the family {family!r}, got {perfect!r}. "
            "The linear one also needs scores with a known range."
        )
    return fitting[0].weight


def _point(game: Game, floor: float) -> FrontierPoint:
    at = game.thresholds()
    shares, prices, price = solved(game, at, floor / PER_CENT)
    kept = shares > DUST
    at, shares = at[kept], shares[kept]
    gained, where = worst(game, at, shares)
    return FrontierPoint(
        floor,
        PER_CENT * float(game.perfect.net(at) @ shares),
        PER_CENT * gained,
        PER_CENT * (best_step(game, prices, price) - price * floor / PER_CENT),
        where,
        tuple(at.tolist()),
        tuple(shares.tolist()),
        tuple(best_of_families(game, floor / PER_CENT)),
    )


def _brief(per_cent: float) -> str:
    return f"{per_cent:.3g} %"
