"""The game between thresholds and scenarios that gives the best gap weight.

A nondecreasing weight with values in [0, 1] is a mixture of steps: the shares are one
player's strategy, prices of the scenarios the other's. Both are checked beyond the grid
of the solver, where their gains are polynomials of degree two between known points.
Beside it, the best weights of families with one formula.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import brentq, linprog, minimize_scalar

from evenhand._labels import shown
from evenhand.ab import weights
from evenhand.errors import ConvergenceError, OptionError
from evenhand.lab._gap_laws import (
    GapLaw,
    bias_law,
    kinks_of,
    perfect_law,
    scenario_law,
    step_gain,
)
from evenhand.lab.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.ab._numbers import Floats
    from evenhand.ab.weights import GapWeight

FEWEST_CELLS = 10
MOST_CELLS = 2000
FAMILIES = ("rational", "offset-rational", "offset-linear")
# Biases at which the one-formula families are evaluated within a range of biases.
GRID = 160
# Steepness is tried in powers of two, in units of the largest gap, then refined.
LOWEST_POWER = -8
HIGHEST_POWER = 40
# An offset of 1 is a coin that is not flipped.
LARGEST_OFFSET = 1 - 1e-9
PLACES = 1e-9
PER_CENT = 100.0


class FamilyPoint(NamedTuple):
    """The best weight of a family with one formula.

    Attributes:
        family: "rational", "offset-rational" or "offset-linear".
        perfect: Its improvement under perfect calibration, in per cent.
        worst: Its improvement in the worst scenario (or on average), in per cent.
        weight: The weight.
    """

    family: str
    perfect: float
    worst: float
    weight: GapWeight


@dataclass(frozen=True)
class Game:
    """Scenarios against thresholds."""

    laws: tuple[GapLaw, ...]
    perfect: GapLaw
    between: tuple[float, float] | None
    prior: tuple[float, ...] | None
    cells: int

    @functools.cached_property
    def tried(self) -> list[GapLaw]:
        """The scenarios and biases within the range, for weights that are not steps."""
        ends = self.between
        grid = [] if ends is None else np.linspace(*ends, GRID + 1).tolist()
        return [*self.laws, *map(bias_law, grid)]

    def gains(self, weight: GapWeight) -> tuple[Floats, float]:
        """Return a weight's improvement in what is tried, and if all is well."""
        gaps, chances, starts = self._nodes
        sums = np.add.reduceat(chances * weight.values(np.abs(gaps)), starts)
        return sums[:-1], float(sums[-1])

    @functools.cached_property
    def _nodes(self) -> tuple[Floats, Floats, list[int]]:
        """Signed probabilities of the gaps of all laws, to be evaluated at once."""
        laws = [*self.tried, self.perfect]
        starts = np.cumsum([0, *(len(law.gaps) for law in laws[:-1])]).tolist()
        gaps = np.concatenate([law.gaps for law in laws])
        chances = np.concatenate([law.chances for law in laws])
        return gaps, np.sign(gaps) * chances, starts

    def thresholds(self) -> Floats:
        """Return the gaps at which the table may step up."""
        laws = (*self.laws, self.perfect)
        ends = [law.largest for law in laws if law.exact]
        if self.between is not None:
            ends.append(self.between[1] + 1)
        at = [np.linspace(0, max(ends, default=0.0), self.cells + 1)]
        shares = np.linspace(0, 1, self.cells + 1)
        at += [
            law.kinks if law.exact else np.quantile(law.kinks, shares) for law in laws
        ]
        return np.asarray(np.unique(np.concatenate(at)))

    def biases(self) -> Floats:
        """Return the biases within the range that the solver looks at."""
        if self.between is None:
            return np.empty(0)
        low, high = self.between
        return np.linspace(low, high, 1 if low == high else self.cells + 1)


def as_game(
    scenarios: Sequence[float | Scenario],
    between: tuple[float, float] | None,
    prior: Sequence[float] | None,
    cells: int,
) -> Game:
    """Check the declared scenarios, and lay out their laws.

    Raises:
        OptionError: If there is none, or an option is out of range.

    Examples:
        >>> as_game([1.0], None, None, 10).laws[0].name
        'bias 1'
    """
    if not len(scenarios) and between is None:
        raise OptionError("scenarios must have at least one, or give between=(0, 4).")
    if not FEWEST_CELLS <= cells <= MOST_CELLS:
        raise OptionError(
            f"cells must be from {FEWEST_CELLS} to {MOST_CELLS}, got {cells!r}."
        )
    situations = [one for one in scenarios if isinstance(one, Scenario)]
    laws = []
    for one in scenarios:
        if isinstance(one, Scenario):
            laws.append(scenario_law(one))
        elif isinstance(one, int | float) and math.isfinite(one):
            laws.append(bias_law(float(one)))
        else:
            raise OptionError(
                f"scenarios must be finite biases or Scenarios, got {shown(one)}."
            )
    plain = situations[0] if situations else Scenario(reviewers=2)
    # Numbers are biases on values from 0 to 1.
    bare = between is not None or len(situations) < len(scenarios)
    wanted = Scenario().values if bare else plain.values
    for one in situations:
        if one.values != wanted:
            raise OptionError(
                f"values must be {wanted!r} in all scenarios, got {one.values!r}."
            )
    return Game(
        tuple(laws),
        perfect_law(plain),
        _as_range(between),
        _as_prior(prior, len(laws), between),
        cells,
    )


def _as_range(between: tuple[float, float] | None) -> tuple[float, float] | None:
    if between is None:
        return None
    low, high = (float(end) for end in between)
    if not 0 <= low <= high < math.inf:
        raise OptionError(
            "between must be a lowest bias of at least 0 and a highest one, got "
            f"{shown(between)}."
        )
    return low, high


def _as_prior(
    prior: Sequence[float] | None, count: int, between: tuple[float, float] | None
) -> tuple[float, ...] | None:
    if prior is None:
        return None
    shares = tuple(float(share) for share in prior)
    total = math.fsum(shares)
    if between is not None:
        raise OptionError("prior must be for known scenarios, got between as well.")
    if len(shares) != count or min(shares) < 0 or not math.isclose(total, 1):
        raise OptionError(
            f"prior must have a probability for each of the {count} scenarios and add "
            f"up to 1, got {shown(list(prior))}."
        )
    return shares


def solved(game: Game, at: Floats, floor: float) -> tuple[Floats, Floats, float]:
    """Return the shares of the thresholds and the prices of scenarios and floor.

    Examples:
        >>> game = as_game([1.0], None, None, 10)
        >>> solved(game, np.array([0.0, 1.0]), 0.25)[0]
        array([0.25, 0.75])
    """
    known = [law.net(at) for law in game.laws]
    gains = np.vstack([*known, step_gain(game.biases()[:, None], at)])
    if game.prior is not None:
        gains = np.asarray(game.prior)[None, :] @ gains
    count = len(gains)
    # The unknowns are the shares and the value of the game, which is maximised.
    rows = np.vstack(
        [
            np.column_stack([-gains, np.ones(count)]),
            np.append(-game.perfect.net(at), 0.0),
            np.append(np.ones(len(at)), 0.0),
        ]
    )
    limits = np.concatenate([np.zeros(count), [-floor, 1.0]])
    target = np.append(np.zeros(len(at)), -1.0)
    bounds = [*[(0, None)] * len(at), (None, None)]
    found = linprog(target, A_ub=rows, b_ub=limits, bounds=bounds, method="highs")
    if found.status != 0:
        raise ConvergenceError(
            f"the linear programme must be solved, got: {found.message}"
        )
    duals = np.maximum(-found.ineqlin.marginals, 0.0)
    prices = duals[:count] / duals[:count].sum()
    if game.prior is not None:
        prices = np.asarray(game.prior)
    shares = np.maximum(found.x[:-1], 0.0)
    return shares / max(1.0, shares.sum()), prices, float(duals[count])


def worst(game: Game, at: Floats, shares: Floats) -> tuple[float, str]:
    """Return the table's improvement in the worst scenario, over the whole range.

    Examples:
        >>> game = as_game([1.0], None, None, 10)
        >>> worst(game, np.array([1.0]), np.array([1.0]))
        (0.5, 'bias 1')
    """
    gains = [(float(law.net(at) @ shares), law.name) for law in game.laws]
    if game.prior is not None:
        return math.fsum(
            share * gain for share, (gain, _) in zip(game.prior, gains, strict=True)
        ), "on average"
    if game.between is not None:
        low, high = game.between
        inside = np.clip(kinks_of(at), low, high)
        value, bias = _highest(
            lambda b: -(step_gain(b[:, None], at) @ shares),
            np.unique([low, *inside.tolist(), high]),
        )
        gains.append((-value, f"bias {bias:.3g}"))
    return min(gains)


def best_step(game: Game, prices: Floats, price: float) -> float:
    """Return the largest gain of a step at these prices, over all thresholds.

    Examples:
        >>> game = as_game([1.0], None, None, 10)
        >>> best_step(game, np.array([1.0]), 0.0)
        0.5
    """
    laws = (*game.laws, game.perfect)
    biases = game.biases()
    ends = np.unique(np.concatenate([*(law.kinks for law in laws), kinks_of(biases)]))
    known = prices[: len(game.laws)]
    active = prices[len(game.laws) :]
    biases, active = biases[active > 0], active[active > 0]

    def gain(thresholds: Floats) -> Floats:
        total = price * game.perfect.net(thresholds)
        for law, share in zip(game.laws, known, strict=True):
            total = total + share * law.net(thresholds)
        return np.asarray(total + active @ step_gain(biases[:, None], thresholds))

    # No step at all gains nothing.
    return max(0.0, _highest(gain, ends)[0])


def _highest(function: Callable[[Floats], Floats], ends: Floats) -> tuple[float, float]:
    """Maximise a function that is of degree two between the ends, exactly."""
    if len(ends) == 1:
        return float(function(ends)[0]), float(ends[0])
    low, high = np.nextafter(ends[:-1], np.inf), ends[1:]
    middle = (low + high) / 2
    one, two, three = function(low), function(middle), function(high)
    bend = one - 2 * two + three
    # The vertex, in half widths from the middle; the middle where there is none.
    with np.errstate(divide="ignore", invalid="ignore"):
        step = np.where(bend < 0, (one - three) / (2 * bend), 0.0)
    vertex = np.clip(middle + step * (high - low) / 2, low, high)
    points = np.concatenate([ends[:1], low, middle, high, vertex])
    values = function(points)
    best = int(np.argmax(values))
    return float(values[best]), float(points[best])


def best_of_families(game: Game, floor: float) -> list[FamilyPoint]:
    """Return the best weight of each family that reaches the floor, the best first.

    Examples:
        >>> best = best_of_families(as_game([1.0], None, None, 10), 0.5)
        >>> best[-1].family, round(best[-1].worst, 4)
        ('rational', 6.7881)
    """
    scale = max(_reach(law) for law in (*game.tried, game.perfect))
    found = [_best_offset(game, floor, scale)]
    if game.gains(weights.rational(2.0**HIGHEST_POWER / scale))[1] >= floor:
        found.insert(0, _best_rational(game, floor, scale))
    if all(law.exact for law in game.tried):
        found.append(_offset(game, floor, weights.linear(scale)))
    return [
        FamilyPoint(
            one.family, PER_CENT * one.perfect, PER_CENT * one.worst, one.weight
        )
        for one in sorted(found, key=lambda one: -one.worst)
    ]


def _reach(law: GapLaw) -> float:
    if math.isfinite(law.largest):
        return law.largest
    return float(np.abs(law.gaps).max())


def _overall(game: Game, gains: Floats) -> float:
    """Return the worst of the improvements, or their average."""
    return float(gains.min() if game.prior is None else gains @ game.prior)


def _best_rational(game: Game, floor: float, scale: float) -> FamilyPoint:
    def at(power: float) -> GapWeight:
        return weights.rational(2.0**power / scale)

    def kept(power: float) -> float:
        return game.gains(at(power))[1] - floor

    lowest = float(LOWEST_POWER)
    if kept(lowest) < 0:
        # From the side on which the floor is kept.
        lowest = brentq(kept, lowest, HIGHEST_POWER, xtol=PLACES) + 2 * PLACES

    def worst_at(power: float) -> float:
        return _overall(game, game.gains(at(power))[0])

    power = _steepest(worst_at, lowest, HIGHEST_POWER)
    kept_there = game.gains(at(power))[1]
    return FamilyPoint("rational", kept_there, worst_at(power), at(power))


def _best_offset(game: Game, floor: float, scale: float) -> FamilyPoint:
    def at(power: float) -> FamilyPoint:
        return _offset(game, floor, weights.rational(2.0**power / scale))

    return at(_steepest(lambda power: at(power).worst, LOWEST_POWER, HIGHEST_POWER))


def _offset(game: Game, floor: float, base: GapWeight) -> FamilyPoint:
    """Return the best offset of a base that keeps the floor."""
    gains, perfect = game.gains(base)
    # A weight of 1 gains what a step at 0 does.
    sure = np.array([law.net(np.zeros(1))[0] for law in game.tried])
    most = float(game.perfect.net(np.zeros(1))[0])
    least = (floor - perfect) / (most - perfect) if perfect < most else 0.0
    least = min(max(least, 0.0), LARGEST_OFFSET)

    def worst_at(c: float) -> float:
        return _overall(game, c * sure + (1 - c) * gains)

    # Concave in c, so thirds close in on the maximum.
    low, high = least, LARGEST_OFFSET
    while high - low > PLACES:
        one, two = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, two) if worst_at(one) >= worst_at(two) else (one, high)
    c = max((least, (low + high) / 2), key=worst_at)
    kept, weight = c * most + (1 - c) * perfect, weights.offset(c, base)
    return FamilyPoint(f"offset-{base.name}", kept, worst_at(c), weight)


def _steepest(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function of the steepness is largest: on a grid, then between."""
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
