"""The paper's theorems on two items, exactly, by enumeration on Fractions."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.ab import rules, weights
from evenhand.ab.canonical import first_probability, threshold_probability
from evenhand.ab.law import majority_probability

HALF = Fraction(1, 2)
Scale = tuple[Fraction, Fraction]
"""A reviewer's score for the better item, and the lower one for the worse item."""
Rule = Callable[[list[Fraction], list[Fraction]], object]


def increasing(low: int = -30, high: int = 30) -> st.SearchStrategy[Scale]:
    scores = st.fractions(min_value=low, max_value=high, max_denominator=12)
    pairs = st.lists(scores, min_size=2, max_size=2, unique=True)
    return pairs.map(lambda pair: (max(pair), min(pair)))


def exact(value: object) -> Fraction:
    assert isinstance(value, Fraction)
    return value


def one_minus_power_of_two() -> weights.GapWeight:
    def value(gap: Fraction) -> Fraction:
        return 1 - Fraction(1, 2 ** int(gap))

    return weights.GapWeight("power", {}, lambda gaps: 1 - 2**-gaps, exact=value)


WEIGHTS = [
    weights.rational(),
    weights.rational(Fraction(1, 40)),
    weights.linear(60),
    weights.offset(HALF, weights.rational(3)),
    weights.offset(Fraction(9, 10), weights.linear(60)),
]


class TestTheorem1:
    """No deterministic rule beats a fair coin: every one is fooled by some scales."""

    GRID = (0, 1, 2, 3)

    class Fooled(NamedTuple):
        better: int
        scales: tuple[tuple[int, int], tuple[int, int]]

    Deterministic = Callable[[int, int, int], int]

    def sign(self, _: int, y1: int, y2: int) -> int:
        return 1 if y1 > y2 else 2

    def fooling_scales(self, rule: Deterministic) -> Fooled:
        """Find the better item and two scales on which a rule is right half the time.

        A rule gets the item (1 or 2) that reviewer 1 had, the score of item 1 and that
        of item 2. A scale is the score for the better item and that for the other.
        """
        for had, y1, y2 in itertools.product((1, 2), self.GRID, self.GRID):
            if y1 != y2 and rule(had, y1, y2) != self.sign(had, y1, y2):
                scale = max(y1, y2), min(y1, y2)
                return self.Fooled(self.sign(had, y1, y2), (scale, scale))
        return self.Fooled(1, ((1, 0), (3, 2)))

    def p_correct(self, rule: Deterministic, fooled: Fooled) -> Fraction:
        right = 0
        for had in (1, 2):
            of_item = {had: fooled.scales[0], 3 - had: fooled.scales[1]}
            scores = [of_item[item][item != fooled.better] for item in (1, 2)]
            right += rule(had, *scores) == fooled.better
        return Fraction(right, 2)

    def test_sign_is_right_exactly_half_the_time_on_disjoint_ranges(self) -> None:
        fooled = self.fooling_scales(self.sign)
        (high1, low1), (high2, low2) = fooled.scales
        assert low1 < high1 < low2 < high2
        assert self.p_correct(self.sign, fooled) == HALF

    @settings(max_examples=300)
    @given(table=st.integers(0, 2**32 - 1))
    def test_every_rule_on_a_grid_is_fooled_by_increasing_scales(
        self, table: int
    ) -> None:
        def rule(had: int, y1: int, y2: int) -> int:
            return 1 + (table >> ((had - 1) * 16 + y1 * 4 + y2) & 1)

        fooled = self.fooling_scales(rule)
        assert all(high > low for high, low in fooled.scales)
        assert self.p_correct(rule, fooled) <= HALF

    @settings(max_examples=100)
    @given(ties=st.integers(0, 2**8 - 1))
    def test_rules_that_differ_from_sign_only_at_ties_are_fooled_too(
        self, ties: int
    ) -> None:
        def rule(had: int, y1: int, y2: int) -> int:
            at_tie = 1 + (ties >> ((had - 1) * 4 + y1) & 1)
            return at_tie if y1 == y2 else self.sign(had, y1, y2)

        assert self.p_correct(rule, self.fooling_scales(rule)) == HALF

    @pytest.mark.parametrize(
        "rule",
        [
            lambda _, _y1, _y2: 1,
            lambda had, _y1, _y2: had,
            lambda _, y1, y2: 1 if y1 > y2 + 1 else 2,
            lambda had, y1, y2: had if abs(y1 - y2) < 2 else 1 + (y1 < y2),
        ],
    )
    def test_named_rules_are_fooled(self, rule: Deterministic) -> None:
        assert self.p_correct(rule, self.fooling_scales(rule)) <= HALF


class TestTheorem2:
    """The canonical estimator beats a fair coin on all increasing scales."""

    @given(one=increasing(), two=increasing())
    def test_canonical_estimator_beats_a_coin(self, one: Scale, two: Scale) -> None:
        for weight in WEIGHTS:
            right = first_probability([one[0], two[1]], weight=weight)
            other = first_probability([two[0], one[1]], weight=weight)
            assert (exact(right) + exact(other)) / 2 > HALF

    @given(
        one=st.lists(st.integers(-99, 99), min_size=2, max_size=2, unique=True),
        two=st.lists(st.integers(-99, 99), min_size=2, max_size=2, unique=True),
    )
    def test_an_exponential_weight_beats_a_coin_on_whole_scores(
        self, one: list[int], two: list[int]
    ) -> None:
        (low1, high1), (low2, high2) = sorted(one), sorted(two)
        gaps = Fraction(high1 - low2), Fraction(high2 - low1)
        weight = one_minus_power_of_two()
        assert sum(exact(weights.odd(weight, gap)) for gap in gaps) > 1

    def test_margin_of_the_papers_example(self) -> None:
        """By hand: scales (9, 6) and (2, 1), gaps 8 and -4: (17/18 + 1/10) / 2."""
        right = first_probability([Fraction(9), Fraction(1)])
        other = first_probability([Fraction(2), Fraction(6)])
        assert (exact(right) + exact(other)) / 2 == Fraction(47, 90)

    @given(one=increasing(), two=increasing())
    def test_linear_weight_has_the_stated_margin(self, one: Scale, two: Scale) -> None:
        weight = weights.linear(60)
        right = first_probability([one[0], two[1]], weight=weight)
        other = first_probability([two[0], one[1]], weight=weight)
        effect = one[0] - one[1] + two[0] - two[1]
        assert (exact(right) + exact(other)) / 2 == HALF + effect / 240

    def skewed(self, z: float) -> Fraction:
        """A distribution function with 9/10 of Z above 7, increasing everywhere."""
        d = Fraction(z) - 7
        return 1 - 1 / (2 + d) * Fraction(9, 5) if d >= 0 else Fraction(1, 10) / (1 - d)

    @given(one=increasing(), two=increasing())
    def test_a_skewed_threshold_beats_a_coin_in_reviewer_order(
        self, one: Scale, two: Scale
    ) -> None:
        had_better = threshold_probability([one[0], two[1]], self.skewed)
        had_worse = threshold_probability([one[1], two[0]], self.skewed)
        assert (exact(had_better) + 1 - exact(had_worse)) / 2 > HALF

    def test_a_skewed_threshold_fails_in_item_order(self) -> None:
        scale = Fraction(1), Fraction(0)
        chance = threshold_probability(list(scale), self.skewed)
        assert exact(chance) < Fraction(1, 10)


def splits(m: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All ways to give the better item to half of the reviewers."""
    for better in itertools.combinations(range(m), m // 2):
        yield better, tuple(j for j in range(m) if j not in better)


def coin_flips(m: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    for flips in itertools.product((True, False), repeat=m):
        sides = [
            tuple(j for j in range(m) if flips[j] is side) for side in (True, False)
        ]
        yield sides[0], sides[1]


def matched(m: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All ways to give each of the pairs (0, 1), (2, 3), ... one item each."""
    for flips in itertools.product((0, 1), repeat=m // 2):
        better = tuple(2 * pair + flip for pair, flip in enumerate(flips))
        yield better, tuple(2 * pair + 1 - flip for pair, flip in enumerate(flips))


def pairings(
    better: Sequence[int], worse: Sequence[int]
) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
    """All ways to pair the smaller side with as many of the larger."""
    if len(better) > len(worse):
        for chosen in itertools.permutations(better, len(worse)):
            yield chosen, worse
    else:
        for chosen in itertools.permutations(worse, len(better)):
            yield better, chosen


def average(
    rule: Rule,
    scales: Sequence[Scale],
    sides: Iterator[tuple[Sequence[int], Sequence[int]]],
) -> Fraction:
    chances = [
        exact(rule([scales[j][0] for j in better], [scales[j][1] for j in worse]))
        for better, worse in sides
    ]
    return sum(chances, Fraction(0)) / len(chances)


def p_correct(
    rule: Rule,
    scales: Sequence[Scale],
    design: Callable[[int], Iterator[tuple[Sequence[int], Sequence[int]]]],
    *,
    paired: bool,
) -> Fraction:
    """Probability that a rule is right, over assignments and, if paired, pairings."""
    given_assignment = [
        average(rule, scales, pairings(*sides) if paired else iter([sides]))
        for sides in design(len(scales))
    ]
    return sum(given_assignment, Fraction(0)) / len(given_assignment)


BETTER, WORSE = Fraction(2, 3), Fraction(1, 5)


def biased(biases: Sequence[int]) -> list[Scale]:
    return [(BETTER + bias, WORSE + bias) for bias in biases]


def staircase(m: int) -> list[Scale]:
    """The paper's first family: biases 0, ..., m - 2 and one of m (m - 1) / 2."""
    return biased([*range(m - 1), m * (m - 1) // 2])


def doubling(m: int) -> list[Scale]:
    """The paper's second family: biases 2, 4, ..., 2**m."""
    return biased([2**j for j in range(1, m + 1)])


class TestTheorem3:
    """Sign, mean and medians are exactly a coin on the paper's two families."""

    @pytest.mark.parametrize("m", [2, 4, 6, 8])
    def test_sign_on_the_first_family(self, m: int) -> None:
        assert p_correct(rules.sign, staircase(m), splits, paired=True) == HALF

    @pytest.mark.parametrize("m", [2, 4, 6, 8])
    def test_mean_on_the_first_family(self, m: int) -> None:
        assert p_correct(rules.mean, staircase(m), splits, paired=False) == HALF

    @pytest.mark.parametrize("m", [2, 4, 6, 8])
    @pytest.mark.parametrize("which", ["upper", "lower"])
    def test_median_on_the_first_family(self, m: int, which: str) -> None:
        def rule(one: list[Fraction], two: list[Fraction]) -> object:
            return rules.median(one, two, median=which)

        assert p_correct(rule, staircase(m), splits, paired=False) == HALF

    @pytest.mark.parametrize("m", [2, 4, 6, 8])
    def test_middle_median_on_the_second_family(self, m: int) -> None:
        def rule(one: list[Fraction], two: list[Fraction]) -> object:
            return rules.median(one, two, median="middle")

        assert p_correct(rule, doubling(m), splits, paired=False) == HALF

    def test_the_same_rules_are_right_without_biases(self) -> None:
        for rule in (rules.sign, rules.mean, rules.median, rules.trimmed):
            assert p_correct(rule, biased([0] * 4), splits, paired=False) == 1


ADVERSARIAL: list[Callable[[int], list[Scale]]] = [
    staircase,
    doubling,
    lambda m: biased([0] * m),
    lambda m: biased([10**j for j in range(m)]),
    lambda m: [(Fraction(1, 10**j), Fraction(1, 10 ** (j + 1))) for j in range(m)],
    lambda m: [(j * j + Fraction(1, 3), Fraction(j * j)) for j in range(-m, 0)],
]


class TestTheorem4:
    """The majority of canonical votes beats a coin, in three designs."""

    def beats_a_coin(self, scales: Sequence[Scale]) -> None:
        for weight in (weights.rational(), weights.offset(HALF)):

            def rule(
                one: list[Fraction],
                two: list[Fraction],
                weight: weights.GapWeight = weight,
            ) -> object:
                return rules.votes(one, two, weight=weight) if one else HALF

            assert p_correct(rule, scales, splits, paired=True) > HALF
            assert p_correct(rule, scales, coin_flips, paired=True) > HALF
            assert p_correct(rule, scales, matched, paired=False) > HALF

    @settings(max_examples=60)
    @given(scales=st.lists(increasing(), min_size=2, max_size=2))
    def test_with_two_reviewers(self, scales: list[Scale]) -> None:
        self.beats_a_coin(scales)

    @settings(max_examples=30)
    @given(scales=st.lists(increasing(), min_size=4, max_size=4))
    def test_with_four_reviewers(self, scales: list[Scale]) -> None:
        self.beats_a_coin(scales)

    @settings(max_examples=5)
    @given(scales=st.lists(increasing(-3, 3), min_size=6, max_size=6))
    def test_with_six_reviewers(self, scales: list[Scale]) -> None:
        self.beats_a_coin(scales)

    @pytest.mark.parametrize("m", [2, 4])
    @pytest.mark.parametrize("family", ADVERSARIAL)
    def test_on_scales_made_to_fool(
        self, family: Callable[[int], list[Scale]], m: int
    ) -> None:
        self.beats_a_coin(family(m))

    @pytest.mark.parametrize("family", ADVERSARIAL[:2])
    def test_with_six_reviewers_on_the_papers_families(
        self, family: Callable[[int], list[Scale]]
    ) -> None:
        self.beats_a_coin(family(6))


class TestUnequalCounts:
    """Given one score against two, mean and median can be right a third of the time."""

    def right(self, rule: Rule, biases: list[int], *, better: int) -> Fraction:
        """Average over which reviewers get the item that has `better` scores."""
        cases = [
            (chosen, tuple(j for j in range(3) if j not in chosen))
            for chosen in itertools.combinations(range(3), better)
        ]
        return average(rule, biased(biases), iter(cases))

    def test_mean_is_right_a_third_of_the_time(self) -> None:
        assert self.right(rules.mean, [0, 0, 100], better=1) == Fraction(1, 3)

    def test_upper_median_is_right_a_third_of_the_time(self) -> None:
        assert self.right(rules.median, [0, 0, 100], better=1) == Fraction(1, 3)

    def test_lower_median_is_right_a_third_of_the_time(self) -> None:
        def lower(one: list[Fraction], two: list[Fraction]) -> object:
            return rules.median(one, two, median="lower")

        assert self.right(lower, [0, 100, 200], better=2) == Fraction(1, 3)

    def test_votes_on_random_pairs_still_beat_a_coin(self) -> None:
        cases = itertools.permutations(range(3), 2)
        sides = (((better,), (worse,)) for better, worse in cases)
        assert average(rules.votes, biased([0, 0, 100]), sides) > HALF


class TestTheorem6:
    """The canonical estimator survives noise that does not depend on the item."""

    noises = st.lists(
        st.tuples(
            st.fractions(min_value=-40, max_value=40, max_denominator=6),
            st.integers(1, 5),
        ),
        min_size=1,
        max_size=3,
    )

    def p_correct(
        self,
        scales: Sequence[Scale],
        better_noise: Sequence[tuple[Fraction, int]],
        worse_noise: Sequence[tuple[Fraction, int]],
    ) -> Fraction:
        total = Fraction(0)
        mass = sum(n for _, n in better_noise) * sum(n for _, n in worse_noise)
        for (shift1, n1), (shift2, n2) in itertools.product(better_noise, worse_noise):
            for one, two in (scales, scales[::-1]):
                chance = first_probability([one[0] + shift1, two[1] + shift2])
                total += exact(chance) * n1 * n2
        return total / (2 * mass)

    @settings(max_examples=60)
    @given(scales=st.tuples(increasing(), increasing()), noise=noises)
    def test_with_identically_distributed_noise(
        self, scales: tuple[Scale, Scale], noise: list[tuple[Fraction, int]]
    ) -> None:
        assert self.p_correct(scales, noise, noise) > HALF

    def test_noise_that_depends_on_the_item_breaks_it(self) -> None:
        calm, wild = [(Fraction(0), 1)], [(Fraction(32), 1)]
        scales = biased([0, 0])
        assert self.p_correct(scales, calm, wild) < Fraction(16, 1000)

    def test_rare_noise_of_mean_zero_on_the_better_item_leaves_little(self) -> None:
        calm, rare = [(Fraction(0), 1)], [(Fraction(-100), 99), (Fraction(9900), 1)]
        scales = [(Fraction(1), Fraction(0))] * 2
        right = Fraction(99, 100) / 200 + Fraction(1, 100) * Fraction(19803, 19804)
        assert self.p_correct(scales, rare, calm) == right
        assert round(float(right), 4) == 0.0149


def matchings(reviewers: tuple[int, ...]) -> Iterator[list[tuple[int, int]]]:
    if not reviewers:
        yield []
        return
    first, *others = reviewers
    for other in others:
        rest = tuple(j for j in others if j != other)
        for more in matchings(rest):
            yield [(first, other), *more]


FIGURE_1 = {
    "a": {2: 3.834149397654718, 4: 12.04538658698251, 8: 25.429376809438708},
    "b": {2: 9.045749511556123, 4: 6.154858322889778, 8: 5.725212625199516},
    "c": {2: 9.045749511556123, 4: 4.148919591113187, 8: 4.759001652842398},
}
"""Relative improvement in per cent, from the project's reference numbers."""


@pytest.mark.parametrize("m", [2, 4, 8])
@pytest.mark.parametrize("scenario", ["a", "b", "c"])
def test_figure_1_is_reproduced_by_quadrature(scenario: str, m: int) -> None:
    biases = {
        "a": [0] * (m - 1) + [m],
        "b": list(range(1, m + 1)),
        "c": [*range(m - 1), m * (m - 1) // 2],
    }[scenario]
    # The difference u of two uniform values has density 2 (1 - u) on [0, 1].
    nodes, shares = np.polynomial.legendre.leggauss(60)
    u = (nodes + 1) / 2
    chances = []
    for matching in matchings(tuple(range(m))):
        bias = np.array([biases[i] - biases[j] for i, j in matching])
        gaps = np.stack([u[:, None] + bias, u[:, None] - bias])
        zero = np.zeros_like(gaps)
        pair = first_probability(np.stack([gaps, zero], axis=-1)).mean(axis=0)
        chances.append(majority_probability(pair))
    p_correct = float((np.mean(chances, axis=0) * (1 - u) * shares).sum())
    assert math.isclose(100 * (2 * p_correct - 1), FIGURE_1[scenario][m], rel_tol=1e-11)
