"""The bounds for planning, under a declared range, against exact errors."""

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import evenhand as eh
from evenhand import designs
from evenhand.ab.bounds import Scope, least_lean, of_means, of_trimmed_means, of_votes
from evenhand.ab.methods import Guarded, HigherMean, HigherTrimmedMean, Rule, Votes
from evenhand.ab.weights import GapWeight, exponential, linear, offset, rational
from evenhand.errors import OptionError
from evenhand.lab.scenario import Scenario
from evenhand.lab.simulation import simulate
from evenhand.randomness import below, stream

RANGE = 12
THIRD = 1 / 3
RULES: list[Rule] = [
    HigherMean(),
    HigherTrimmedMean(trim=THIRD),
    Votes(weight=linear(RANGE)),
    Votes(weight=rational(Fraction(1, 3))),
    Votes(weight=offset(Fraction(1, 4), linear(RANGE))),
    Guarded(eps=Fraction(1, 2), trim=THIRD, weight=linear(RANGE)),
    Guarded(eps=Fraction(1, 10), statistic="mean", weight=linear(RANGE)),
]


@functools.cache
def halves(n_reviewers: int) -> dict[tuple[int, ...], Fraction]:
    return designs.law("halves", n_reviewers)


def right(rule: Rule, better: list[int], worse: list[int]) -> Fraction:
    """Exact over balanced halves, and over all pairings of votes."""
    total = Fraction(0)
    for sides, chance in halves(len(better)).items():
        rows = zip(better, worse, sides, strict=True)
        first, second = list[Fraction](), list[Fraction]()
        for high, low, side in rows:
            (second if side else first).append(Fraction(low if side else high))
        orders = [*itertools.permutations(second)] if rule.weight else [tuple(second)]
        chances = [
            Fraction(np.asarray(rule.chance(np.array(first), np.array(order))).item())
            for order in orders
        ]
        total += chance * sum(chances, Fraction(0)) / len(chances)
    return total


def assert_bounded(rule: Rule, better: list[int], worse: list[int]) -> float:
    effects = [high - low for high, low in zip(better, worse, strict=True)]
    mean = sum(effects) / len(effects)
    scope = Scope(len(better) // 2, float(RANGE), float(min(effects)), mean)
    least = float(rule.right_at_least(scope))
    assert float(right(rule, better, worse)) >= least - 1e-12, (rule, better, worse)
    return least


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("per_item", [1, 2, 3])
def test_no_scales_are_right_less_often_than_the_bound(
    rule: Rule, per_item: int
) -> None:
    """Harsh and lenient reviewers at the ends of the range, and effects of any size."""
    least = list[float]()
    for harsh in range(2 * per_item + 1):
        for gaps in itertools.product([0, 5, RANGE], repeat=2):
            size = 2 * per_item - harsh
            worse = [0] * harsh + [RANGE - gaps[1]] * size
            added = [gaps[0]] * harsh + [gaps[1]] * size
            better = [low + gap for low, gap in zip(worse, added, strict=True)]
            least.append(assert_bounded(rule, better, worse))
    # The bounds say something, but those of means of one score each.
    assert max(least) > 0.5 or (per_item == 1 and rule.weight is None)
    assert min(least) == 0.5


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_no_random_scales_are_right_less_often(rule: Rule) -> None:
    source, close = stream(2019, "scales in a range"), Fraction(1)
    for _ in range(30):
        size = 2 * (1 + below(source, 3))
        worse = [below(source, RANGE) for _ in range(size)]
        better = [low + below(source, RANGE - low + 1) for low in worse]
        assert_bounded(rule, better, worse)
        close = min(close, right(rule, better, worse))
    # The errors are real: the rules are often wrong here.
    assert close <= Fraction(3, 5)


def test_bounds_by_hand() -> None:
    """Four reviewers each, half of the range: exp(-16/5 * 1/4)."""
    assert of_means(Scope(4, 10, 5, 5)) == max(0.5, 1 - math.exp(-0.8))
    assert of_means(Scope(4, 10, 0, 0)) == 0.5
    # Forty each, 8 cut at each end: exp(-24^2 / 41 * 1/4).
    assert of_trimmed_means(Scope(40, 1, 0.5, 0.5), 8) == 1 - math.exp(-(576 / 41) / 4)
    # One vote: 1/2 + t / (2 R). Three: 3 p^2 - 2 p^3. Two: p, as a tie is a coin.
    for k, chance in ((1, 0.625), (2, 0.625), (3, 3 * 0.625**2 - 2 * 0.625**3)):
        assert of_votes(Scope(k, 4, 1, 1), linear(4)) == pytest.approx(chance)
    assert eh.ab.bounds.right_at_least(
        "guarded(eps=0.5, weight=linear(4))", 1, score_range=4, effect=1
    ) == pytest.approx(0.5 * 0.5 + 0.5 * 0.625)


@pytest.mark.parametrize("weight", [linear(8), rational(2), exponential(3)], ids=str)
def test_the_least_lean_is_the_least_over_all_gaps(weight: GapWeight) -> None:
    """Two gaps that add up to 2 t, none beyond the range."""
    for effect in (0.5, 2, 4, 6, 8):
        gaps = np.linspace(max(2 * effect - 8, -8), 8, 4001)
        leans = eh.ab.weights.odd(weight, gaps) + eh.ab.weights.odd(
            weight, np.clip(2 * effect - gaps, -8, 8)
        )
        least = float(least_lean(Scope(1, 8.0, effect, effect), weight))
        assert least <= leans.min() / 2 + 1e-9
        assert least == pytest.approx(leans.min() / 2, abs=1e-3)


def test_the_means_bound_is_false_for_trimmed_means() -> None:
    """Of 2k reviewers some go from 0 to R, the others give R / 2 to both items.

    Of k = 40 and 12 movers the error is .4426 and the mean's bound .4156; of k = 120
    and 37 movers .4845 and .0591. The bound for trimmed means holds.
    """
    for k, movers, error, bound in (
        (40, 12, 0.4426, 0.4156),
        (120, 37, 0.4845, 0.0591),
    ):
        cut, all_ways = k // 5, math.comb(2 * k, k)
        wrong = Fraction(0)
        for firsts in range(movers + 1):
            ways = math.comb(movers, firsts) * math.comb(2 * k - movers, k - firsts)
            # Movers of the better item are at the top, of the worse at the bottom.
            ahead = max(firsts - cut, 0) + max(movers - firsts - cut, 0)
            wrong += Fraction(ways, all_ways) * (0 if ahead else Fraction(1, 2))
        share = movers / (2 * k)
        means = 1 - float(of_means(Scope(k, 1.0, 0.0, share)))
        trimmed = 1 - float(of_trimmed_means(Scope(k, 1.0, 0.0, share), cut))
        assert (round(float(wrong), 4), round(means, 4)) == (error, bound)
        assert means < wrong <= trimmed


def test_what_cannot_be_planned_with_is_refused() -> None:
    for change in ({"effect": 5}, {"effect": -1}, {"score_range": 0}):
        numbers = {"score_range": 4.0, "effect": 1.0, **change}
        with pytest.raises(OptionError):
            eh.ab.bounds.right_at_least("mean", 10, **numbers)
    with pytest.raises(OptionError, match="per_item"):
        eh.ab.bounds.right_at_least("mean", 0, score_range=4, effect=1)
    assert eh.ab.bounds.right_at_least("median", 10, score_range=4, effect=4) == 0.5


@pytest.mark.parametrize("scales", ["identity", "bias:0.3", "one-biased", "power"])
def test_simulated_risks_are_within_their_bounds(scales: str) -> None:
    """The bound is averaged over the same trials, so only halves vary: five errors."""
    methods = ["mean", "trimmed", "votes(weight=rational(3))", "guarded"]
    scenario = Scenario(reviewers=40, scales=scales)
    result = simulate(scenario, methods, trials=1000, rng=7)
    for row in result.rows:
        assert row.bound is not None
        assert row.risk <= row.bound + 5 * row.se
    for other in (
        Scenario(reviewers=40, design="coins"),
        Scenario(reviewers=41),
        Scenario(job="rank", items=4),
    ):
        names = ["borda" if other.job == "rank" else "mean"]
        rows = simulate(other, names, trials=64, rng=7).rows
        assert [row.bound for row in rows] == [None]
