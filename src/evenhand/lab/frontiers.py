"""How good a gap weight can be: the best for declared biases, by linear programming.

Two items, two reviewers, one coin. What a weight gains over a fair coin is linear in
it, and every nondecreasing weight with values in [0, 1] is a mixture of steps. So all
there is to know of a scenario is what each step would gain, `net(t)` = P(gap >= t) -
P(gap <= -t), and the best weight for the worst of several scenarios, among those that
keep a given improvement under perfect calibration, is a matrix game between thresholds
and scenarios, solved here by HiGHS. The table found gives a lower bound, evaluated
exactly; the solver's prices give an upper bound over all weights, on no grid.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import brentq, linprog, minimize_scalar

from evenhand.ab import weights
from evenhand.errors import ConvergenceError, OptionError, shown, unknown
from evenhand.lab.exact import biases
from evenhand.lab.scenario import Scenario, noise_law, value_law

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.ab.numbers import Floats
    from evenhand.ab.weights import GapWeight
    from evenhand.claims import Json

__all__ = ["FamilyPoint", "Frontier", "FrontierPoint", "best_weight", "frontier"]

CELLS = 240
FEWEST_CELLS = 10
MOST_CELLS = 2000
TWO = 2
PER_CENT = 100.0
FAMILIES = ("rational", "offset-rational", "offset-linear")
SHIFTS = ("identity", "one-biased", "incremental", "incremental-one-biased", "disjoint")
# Steps smaller than that are the solver's rounding.
DUST = 1e-12
# Panels halve towards the gap 0, where weights may be steep: 2**-40 of a unit.
HALVINGS = 40
NODES = 12
POINTS = 65_536
# Steepness is tried in powers of two, in units of the largest gap, then refined.
LOWEST_POWER = -8
HIGHEST_POWER = 40
# An offset of 1 is a coin that is not flipped.
LARGEST_OFFSET = 1 - 1e-9
PLACES = 1e-9
CAUTION = (
    "The best weight steps up and is flat between, so it may tie with a coin; mixed "
    "with a strictly increasing one it strictly beats it on all scales."
)


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


class FrontierPoint(NamedTuple):
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
        families = [
            {**found._asdict(), "weight": found.weight.to_dict()}
            for found in self.families
        ]
        table = {"at": list(self.at), "shares": list(self.shares)}
        return {**self._asdict(), **table, "families": families}


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
            "caution": CAUTION,
        }

    def __repr__(self) -> str:
        lines = []
        for point in self.points:
            told = f"any weight {point.worst:.3g} % (at most {point.bound:.3g} %)"
            for found in point.families:
                told += f", {found.family} {found.worst:.3g} %"
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
    names = [law.name for law in game.known]
    if game.between is not None:
        names.append("bias between {:g} and {:g}".format(*game.between))
    return Frontier(
        tuple(_point(game, floor) for floor in floors),
        tuple(names),
        game.between,
        game.prior or (),
        cells,
        all(law.exact for law in (*game.known, game.perfect)),
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
    (point,) = frontier(scenarios, between=between, perfect=perfect, prior=prior).points
    if family == "steps":
        return point.weight()
    fitting = [one for one in point.families if family in (None, one.family)]
    if not fitting:
        raise OptionError(
            f"perfect must be within reach of the family {family!r}, got {perfect!r}. "
            "The linear one also needs scores with a known range."
        )
    return fitting[0].weight


class GapLaw(NamedTuple):
    """The law of the gap in one scenario: the better item's score minus the other's.

    Attributes:
        name: What the scenario is called.
        exact: Whether `net` is a formula, and not an average over points.
        largest: Largest gap there is.
        net: From thresholds of at least 0 to the improvement of a step there.
        kinks: Thresholds between which `net` is a polynomial of degree two.
        gaps: Sizes of gaps at which a weight is evaluated.
        pushes: Probability of such a gap for the better item minus that against it.
    """

    name: str
    exact: bool
    largest: float
    net: Callable[[Floats], Floats]
    kinks: Floats
    gaps: Floats
    pushes: Floats

    def improvement(self, weight: GapWeight) -> float:
        """Return a weight's relative improvement over a fair coin, 1 at most."""
        return float(self.pushes @ weight.values(self.gaps))


def step_gain(bias: Floats | float, threshold: Floats | float) -> Floats:
    """Return the improvement of a step for values uniform on [0, 1] and one bias.

    Examples:
        >>> step_gain(1.0, np.array([0.0, 1.0, 2.0]))
        array([0. , 0.5, 0. ])
    """
    apart = np.maximum(1 - np.abs(np.subtract(threshold, bias)), 0)
    added = np.maximum(1 - np.add(threshold, bias), 0)
    return np.asarray((apart**2 + added**2) / 2)


def kinks_of(places: Sequence[float] | Floats) -> Floats:
    """Return where `step_gain` with these biases, or thresholds, changes its formula.

    Examples:
        >>> kinks_of([0.25])
        array([0.  , 0.25, 0.75, 1.25])
    """
    at = np.asarray(places, dtype=np.float64)
    ends = np.concatenate([[0.0], at, at - 1, at + 1, 1 - at])
    return np.asarray(np.unique(ends[ends >= 0]))


def bias_law(bias: float, *, width: float = 1.0, name: str = "") -> GapLaw:
    """Return the law, by formula, if one reviewer adds a bias and values are uniform.

    Args:
        bias: What one reviewer adds and the other does not; its sign does not matter.
        width: Of the range of the values.
        name: What to call it.

    Examples:
        >>> bias_law(1.0).net(np.array([1.0]))
        array([0.5])
    """
    b = abs(bias) / width
    # Nodes for gaps of values are finer where scores are equal.
    middle, halves = min(b, 1.0), 2.0 ** -np.arange(HALVINGS + 1)
    left, right = middle * (1 - halves), 1 - (1 - middle) * (1 - halves)
    edges = np.unique(np.concatenate([[0.0, middle, 1.0], left, right]))
    nodes, shares = np.polynomial.legendre.leggauss(NODES)
    half = np.diff(edges)[:, None] / 2
    gaps = edges[:-1, None] + half * (1 + nodes)
    chances = (half * shares * (1 - gaps)).ravel()
    signed = width * np.concatenate([gaps.ravel() + b, gaps.ravel() - b])
    return GapLaw(
        name or f"bias {bias:g}",
        exact=True,
        largest=width * (b + 1),
        net=lambda thresholds: step_gain(b, np.asarray(thresholds) / width),
        kinks=width * kinks_of([b]),
        gaps=np.abs(signed),
        pushes=np.sign(signed) * np.tile(chances, TWO),
    )


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
    fits = scenario.job == "compare" and scenario.reviewers == TWO
    if not fits or scenario.design not in ("halves", "matched") or scenario.levels:
        raise OptionError(
            "scenario must have 2 reviewers who each score one of 2 items, by design "
            f"'halves', and no levels (write '> levels:{scenario.levels or 5}' after "
            f"the scales), got job {scenario.job!r} with {scenario.reviewers} "
            f"reviewers, design {scenario.design!r} and {scenario.levels} levels."
        )
    adds = scenario.scales in SHIFTS and scenario.noise == "none"
    if not adds or not scenario.values.startswith("uniform"):
        return _spread(scenario)
    low, high = value_law(scenario.values, TWO).span
    one, two = biases(str(scenario.scales), TWO)
    far = 2 * (high - low) if scenario.scales == "disjoint" else float(two - one)
    return bias_law(far, width=high - low, name=str(scenario.scales))


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
    signed = scores[:, [0, 1], [0, 0]] - scores[:, [1, 0], [1, 1]]
    if not np.isfinite(signed).all():
        raise OptionError("scores must be finite, got one beyond floats.")
    sizes, places = np.unique(np.abs(signed), return_inverse=True)
    pushes = np.bincount(places.ravel(), weights=np.sign(signed).ravel()) / signed.size
    tails = np.append(np.cumsum(pushes[::-1])[::-1], 0.0)
    return GapLaw(
        family.name,
        exact=False,
        largest=float(sizes[-1]),
        net=lambda thresholds: tails[np.searchsorted(sizes, thresholds)],
        kinks=np.union1d(sizes, [0.0]),
        gaps=sizes,
        pushes=pushes,
    )


def _points(dimensions: int, count: int) -> Floats:
    """Return evenly spread points: multiples of irrational steps, modulo 1.

    The steps are powers of the root of x**(d + 1) = x + 1 (Roberts, 2018).
    """
    root = 1.5
    for _ in range(100):
        root = (1 + root) ** (1 / (dimensions + 1))
    steps = root ** -np.arange(1, dimensions + 1)
    return np.asarray((0.5 + np.arange(1, count + 1)[:, None] * steps) % 1)


class Game(NamedTuple):
    """Scenarios against thresholds.

    Attributes:
        known: Laws of the known scenarios.
        grid: Laws of biases within the range of an unknown one.
        perfect: Law under perfect calibration.
        between: The range.
        prior: Probabilities of the known scenarios.
        thresholds: Gaps at which the table may step up.
    """

    known: tuple[GapLaw, ...]
    grid: tuple[GapLaw, ...]
    perfect: GapLaw
    between: tuple[float, float] | None
    prior: tuple[float, ...] | None
    thresholds: Floats

    @property
    def laws(self) -> tuple[GapLaw, ...]:
        """All laws against which a weight has to do well."""
        return (*self.known, *self.grid)

    def overall(self, gains: Floats) -> float:
        """Return the worst of the improvements, or their average."""
        return float(gains.min() if self.prior is None else gains @ self.prior)


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
        >>> as_game([1.0], None, None, 10).known[0].name
        'bias 1'
    """
    if not len(scenarios) and between is None:
        raise OptionError("scenarios must have at least one, or give between=(0, 4).")
    if not FEWEST_CELLS <= cells <= MOST_CELLS:
        raise OptionError(
            f"cells must be from {FEWEST_CELLS} to {MOST_CELLS}, got {cells!r}."
        )
    known = tuple(map(_declared_law, scenarios))
    ends, grid = None, np.empty(0)
    if between is not None:
        low, high = ends = (float(between[0]), float(between[1]))
        if not 0 <= low <= high < math.inf:
            raise OptionError(
                "between must be a lowest bias of at least 0 and a highest one, got "
                f"{shown(between)}."
            )
        grid = np.linspace(low, high, 1 if low == high else cells + 1)
    perfect = _perfect_law(scenarios, bare=between is not None)
    laws = (*known, perfect)
    far = [law.largest for law in laws if law.exact] + [b + 1 for b in grid[-1:]]
    shares = np.linspace(0, 1, cells + 1)
    at = [law.kinks if law.exact else np.quantile(law.kinks, shares) for law in laws]
    at.append(np.linspace(0, max(far, default=0.0), cells + 1))
    return Game(
        known,
        tuple(map(bias_law, grid.tolist())),
        perfect,
        ends,
        _as_prior(prior, len(known), between),
        np.unique(np.concatenate(at)),
    )


def _perfect_law(scenarios: Sequence[float | Scenario], *, bare: bool) -> GapLaw:
    """Return the law if both reviewers report values as they are."""
    situations = [one for one in scenarios if isinstance(one, Scenario)]
    plain = situations[0] if situations else Scenario(reviewers=2)
    # Numbers are biases on values from 0 to 1.
    bare = bare or len(situations) < len(scenarios)
    wanted = Scenario().values if bare else plain.values
    for one in situations:
        if one.values != wanted:
            raise OptionError(
                f"values must be {wanted!r} in all scenarios, got {one.values!r}."
            )
    return scenario_law(
        dataclasses.replace(plain, scales="identity", noise="none", levels=0)
    )


def _as_prior(
    prior: Sequence[float] | None, count: int, between: object
) -> tuple[float, ...] | None:
    if prior is None:
        return None
    if between is not None:
        raise OptionError("prior must be for known scenarios, got between as well.")
    shares = tuple(map(float, prior))
    whole = math.isclose(math.fsum(shares), 1)
    if len(shares) != count or min(shares) < 0 or not whole:
        raise OptionError(
            f"prior must have a probability for each of the {count} scenarios and "
            f"add up to 1, got {shown(list(shares))}."
        )
    return shares


def _declared_law(one: object) -> GapLaw:
    if isinstance(one, Scenario):
        return scenario_law(one)
    if isinstance(one, int | float) and math.isfinite(one):
        return bias_law(float(one))
    raise OptionError(
        f"scenarios must be finite biases or Scenarios, got {shown(one)}."
    )


def _point(game: Game, floor: float) -> FrontierPoint:
    at = game.thresholds
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


def solved(game: Game, at: Floats, floor: float) -> tuple[Floats, Floats, float]:
    """Return the shares of the thresholds and the prices of scenarios and floor.

    Examples:
        >>> game = as_game([1.0], None, None, 10)
        >>> solved(game, np.array([0.0, 1.0]), 0.25)[0]
        array([0.25, 0.75])
    """
    gains = np.vstack([law.net(at) for law in game.laws])
    if game.prior is not None:
        gains = np.asarray(game.prior)[None, :] @ gains
    count = len(gains)
    # The unknowns are the shares and the value of the game, which is maximised.
    found = linprog(
        np.append(np.zeros(len(at)), -1.0),
        A_ub=np.vstack(
            [
                np.column_stack([-gains, np.ones(count)]),
                np.append(-game.perfect.net(at), 0.0),
                np.append(np.ones(len(at)), 0.0),
            ]
        ),
        b_ub=np.concatenate([np.zeros(count), [-floor, 1.0]]),
        bounds=[*[(0, None)] * len(at), (None, None)],
        method="highs",
    )
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
    gains = [(float(law.net(at) @ shares), law.name) for law in game.known]
    if game.prior is not None:
        return game.overall(np.array([gain for gain, _ in gains])), "on average"
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
    priced = [*zip(game.laws, prices, strict=True), (game.perfect, price)]
    ends = np.unique(np.concatenate([law.kinks for law, _ in priced]))

    def gain(thresholds: Floats) -> Floats:
        gains = [share * law.net(thresholds) for law, share in priced if share]
        return np.asarray(sum(gains, np.zeros_like(thresholds)))

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
    scale = max(law.largest for law in (*game.laws, game.perfect))

    def rational(power: float) -> GapWeight:
        return weights.rational(2.0**power / scale)

    def plain(power: float) -> FamilyPoint:
        weight = rational(power)
        return _family(game, "rational", _gains(game, weight), weight)

    def raised(power: float) -> FamilyPoint:
        return _offset(game, floor, rational(power))

    def kept(power: float) -> float:
        return game.perfect.improvement(rational(power)) - floor

    found = [raised(_argmax(lambda power: raised(power).worst, POWERS))]
    if kept(HIGHEST_POWER) >= 0:
        lowest = float(LOWEST_POWER)
        if kept(lowest) < 0:
            # From the side on which the floor is kept.
            lowest = brentq(kept, lowest, HIGHEST_POWER, xtol=PLACES) + 2 * PLACES
        steep = [lowest, *(power for power in POWERS if power > lowest)]
        found.append(plain(_argmax(lambda power: plain(power).worst, steep)))
    if all(law.exact for law in game.laws):
        found.append(_offset(game, floor, weights.linear(scale)))
    return sorted(found, key=lambda one: -one.worst)


POWERS = tuple(range(LOWEST_POWER, HIGHEST_POWER + 1))


def _gains(game: Game, weight: GapWeight) -> Floats:
    """Return what a weight gains against each law, under perfect calibration last."""
    laws = (*game.laws, game.perfect)
    return np.array([law.improvement(weight) for law in laws])


def _family(game: Game, name: str, gains: Floats, weight: GapWeight) -> FamilyPoint:
    kept, worst = float(gains[-1]), game.overall(gains[:-1])
    return FamilyPoint(name, PER_CENT * kept, PER_CENT * worst, weight)


def _offset(game: Game, floor: float, base: GapWeight) -> FamilyPoint:
    """Return the best offset of a base that keeps the floor."""
    gains = _gains(game, base)
    # A weight of 1 gains what a step at 0 does.
    sure = np.array([law.net(np.zeros(1))[0] for law in (*game.laws, game.perfect)])
    rises = sure - gains
    least = (floor - gains[-1]) / rises[-1] if rises[-1] > 0 else 0.0
    least = min(max(float(least), 0.0), LARGEST_OFFSET)

    def mixed(c: float) -> Floats:
        return c * sure + (1 - c) * gains

    ends = (least, LARGEST_OFFSET)
    c = _argmax(lambda c: game.overall(mixed(c)[:-1]), ends)
    return _family(game, f"offset-{base.name}", mixed(c), weights.offset(c, base))


def _argmax(function: Callable[[float], float], places: Sequence[float]) -> float:
    """Return where a function is largest: at one of the places, then beside it."""
    value = functools.cache(function)
    first = max(range(len(places)), key=lambda number: value(places[number]))
    ends = places[max(first - 1, 0)], places[min(first + 1, len(places) - 1)]
    if ends[0] == ends[1]:
        return float(places[first])
    found = minimize_scalar(
        lambda place: -value(place),
        bounds=ends,
        method="bounded",
        options={"xatol": PLACES},
    )
    return max((float(places[first]), float(found.x)), key=value)
