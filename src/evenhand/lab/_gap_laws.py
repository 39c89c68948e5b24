"""The law of the gap between two scores: the better item's minus the other's.

Two items, two reviewers, one fair coin that says who scores which. A weight's relative
improvement over a fair coin is linear in the weight, and an increasing weight is a
mixture of steps, so all there is to know of a scenario is what each step would gain:
`net(t)` = P(gap >= t) - P(gap <= -t).
"""

from __future__ import annotations

import dataclasses
import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.errors import OptionError
from evenhand.lab.exact import SHIFTS, biases
from evenhand.lab.scenario import noise_law, value_law

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.ab._numbers import Floats
    from evenhand.ab.weights import GapWeight
    from evenhand.lab.scenario import Scenario

TWO = 2
PERFECT = "identity"
# Panels halve towards the gap 0, where weights may be steep: 2**-40 of a unit.
HALVINGS = 40
NODES = 12
POINTS = 65_536


@dataclass(frozen=True, slots=True)
class GapLaw:
    """The law of the gap in one scenario.

    Attributes:
        name: What the scenario is called.
        exact: Whether `net` is a formula, and not an average over points.
        largest: Largest gap there can be, inf if the points do not tell.
        net: From thresholds of at least 0 to the improvement of a step there.
        kinks: Thresholds between which `net` is a polynomial of degree two.
        gaps: Signed gaps at which a weight is evaluated.
        chances: Their probabilities.
    """

    name: str
    exact: bool
    largest: float
    net: Callable[[Floats], Floats]
    kinks: Floats
    gaps: Floats
    chances: Floats

    def improvement(self, weight: GapWeight) -> float:
        """Return a weight's relative improvement over a fair coin, 1 at most."""
        signs = np.sign(self.gaps) * self.chances
        return float(signs @ weight.values(np.abs(self.gaps)))


def step_gain(bias: Floats | float, threshold: Floats | float) -> Floats:
    """Return the improvement of a step for values uniform on [0, 1] and one bias.

    Examples:
        >>> step_gain(1.0, np.array([0.0, 1.0, 2.0]))
        array([0. , 0.5, 0. ])
    """
    apart = np.maximum(1 - np.abs(np.subtract(threshold, bias)), 0)
    added = np.maximum(1 - np.add(threshold, bias), 0)
    return np.asarray((apart**2 + added**2) / 2)


def bias_law(bias: float, *, width: float = 1.0, name: str = "") -> GapLaw:
    """Return the law if one reviewer adds a bias and values are uniform.

    Args:
        bias: What one reviewer adds and the other does not; its sign does not matter.
        width: Of the range of the values.
        name: What to call it.

    Returns:
        The law, by formula.

    Examples:
        >>> bias_law(1.0).net(np.array([1.0]))
        array([0.5])
    """
    b = abs(bias) / width
    gap, share = _graded(b)
    return GapLaw(
        name or f"bias {bias:g}",
        exact=True,
        largest=width * (b + 1),
        net=lambda thresholds: step_gain(b, np.asarray(thresholds) / width),
        kinks=width * kinks_of([b]),
        gaps=width * np.concatenate([gap + b, gap - b]),
        chances=np.concatenate([share, share]) / 2,
    )


def kinks_of(places: Sequence[float] | Floats) -> Floats:
    """Return where `step_gain` with these biases, or thresholds, changes its formula.

    Examples:
        >>> kinks_of([0.25])
        array([0.  , 0.25, 0.75, 1.25])
    """
    at = np.asarray(places, dtype=np.float64)
    ends = np.concatenate([[0.0], at, at - 1, at + 1, 1 - at])
    return np.asarray(np.unique(ends[ends >= 0]))


def scenario_law(scenario: Scenario) -> GapLaw:
    """Return the law of a scenario with two reviewers.

    Scales that only add, on uniform values and without noise, are exact; all else is
    averaged over 65,536 evenly spread points.

    Raises:
        OptionError: If the scenario has not two items and two reviewers that each score
            one, or rounds to levels after noise.

    Examples:
        >>> from evenhand.lab.scenario import Scenario
        >>> law = scenario_law(Scenario(reviewers=2, scales="incremental"))
        >>> law.exact, law.largest
        (True, 2.0)
    """
    if scenario.job != "compare" or scenario.reviewers != TWO:
        raise OptionError(
            f"scenario must have 2 reviewers to compare 2 items, got job "
            f"{scenario.job!r} with {scenario.reviewers} reviewers."
        )
    if scenario.design not in ("halves", "matched"):
        raise OptionError(
            f"scenario must give each reviewer one of the items, by design 'halves', "
            f"got {scenario.design!r}."
        )
    if scenario.levels:
        raise OptionError(
            f"levels must be 0 for a frontier, got {scenario.levels}. Write "
            f"'> levels:{scenario.levels}' after the scales."
        )
    law = value_law(scenario.values, TWO)
    if (
        scenario.scales in SHIFTS
        and scenario.noise == "none"
        and scenario.values.startswith("uniform")
    ):
        width = law.span[1] - law.span[0]
        one, two = biases(str(scenario.scales), TWO)
        far = 2 * width if scenario.scales == "disjoint" else float(two - one)
        return bias_law(far, width=width, name=str(scenario.scales))
    return _spread(scenario)


def perfect_law(scenario: Scenario) -> GapLaw:
    """Return the law if the same values were reported as they are.

    Examples:
        >>> from evenhand.lab.scenario import Scenario
        >>> perfect_law(Scenario(reviewers=2)).net(np.array([0.0]))
        array([1.])
    """
    plain = dataclasses.replace(scenario, scales=PERFECT, noise="none", levels=0)
    return scenario_law(plain)


def _spread(scenario: Scenario) -> GapLaw:
    family = scenario.family()
    points = _points(2 * family.draws + 6, POINTS)
    values = value_law(scenario.values, TWO).quantile(points[:, :2])
    # Column 0 is for the better item.
    ordered = -np.sort(-values, axis=-1)
    wide = np.repeat(ordered[:, None, :], TWO, axis=1)
    drawn = points[:, 6:].reshape(POINTS, TWO, family.draws)
    scores = np.asarray(family.apply(wide, drawn), dtype=np.float64)
    noise = noise_law(scenario.noise)
    if noise is not None:
        # One for each reviewer, whichever item it is for.
        scores = scores + noise(points[:, 2:4, None], points[:, 4:6, None])
    gaps = np.concatenate([scores[:, 0, 0] - scores[:, 1, 1]])
    gaps = np.sort(np.concatenate([gaps, scores[:, 1, 0] - scores[:, 0, 1]]))
    if not np.isfinite(gaps).all():
        raise OptionError("scores must be finite, got one beyond floats.")
    kinks, places = np.unique(np.abs(gaps), return_inverse=True)
    chances = np.bincount(places, weights=np.sign(gaps)) / len(gaps)
    return GapLaw(
        family.name,
        exact=False,
        largest=math.inf,
        net=functools.partial(_stepped, kinks, np.append(_tails(chances), 0.0)),
        kinks=np.union1d(kinks, [0.0]),
        gaps=kinks,
        chances=chances,
    )


def _tails(chances: Floats) -> Floats:
    return np.asarray(np.cumsum(chances[::-1])[::-1])


def _stepped(kinks: Floats, tails: Floats, thresholds: Floats) -> Floats:
    return np.asarray(tails[np.searchsorted(kinks, thresholds, side="left")])


def _points(dimensions: int, count: int) -> Floats:
    """Return evenly spread points: multiples of irrational steps, modulo 1.

    The steps are powers of the root of x**(d + 1) = x + 1 (Roberts, 2018).
    """
    root = 1.5
    for _ in range(100):
        root = (1 + root) ** (1 / (dimensions + 1))
    steps = root ** -np.arange(1, dimensions + 1)
    return np.asarray((0.5 + np.arange(1, count + 1)[:, None] * steps) % 1)


def _graded(bias: float) -> tuple[Floats, Floats]:
    """Return nodes and weights for gaps of values, finer where scores are equal."""
    middle = min(bias, 1.0)
    halves = 2.0 ** -np.arange(HALVINGS + 1)
    left, right = middle * (1 - halves), 1 - (1 - middle) * (1 - halves)
    edges = np.unique(np.concatenate([[0.0], left, [middle], right, [1.0]]))
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    half = np.diff(edges)[:, None] / 2
    gaps = edges[:-1, None] + half * (1 + nodes)
    return gaps.ravel(), (half * weights * 2 * (1 - gaps)).ravel()
