"""Exact laws of the vote against enumeration, permanents and plain twins."""

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import hypergeom

from evenhand import OptionError, RatingsError
from evenhand.ab import law, weights
from evenhand.ab.law import (
    majority_probability,
    sign_over_pairings,
    votes_over_pairings,
)

chances = st.fractions(min_value=0, max_value=1, max_denominator=40)
whole = st.integers(0, 6).map(Fraction)
sides = st.lists(whole, min_size=1, max_size=4)


def exact(value: object) -> Fraction:
    assert isinstance(value, Fraction)
    return value


def count_law(probabilities: Sequence[Fraction]) -> list[Fraction]:
    """The law of the number of votes, by going through all outcomes."""
    counts = [Fraction(0)] * (len(probabilities) + 1)
    for outcome in itertools.product((0, 1), repeat=len(probabilities)):
        terms = [
            p if vote else 1 - p for p, vote in zip(probabilities, outcome, strict=True)
        ]
        counts[sum(outcome)] += math.prod(terms)
    return counts


def majority(probabilities: Sequence[Fraction]) -> Fraction:
    half = Fraction(len(probabilities), 2)
    counts = count_law(probabilities)
    above = sum((p for count, p in enumerate(counts) if count > half), Fraction(0))
    tie = sum((p for count, p in enumerate(counts) if count == half), Fraction(0))
    return above + tie / 2


def product_law(probabilities: Sequence[Fraction]) -> list[Fraction]:
    """The same law as a product of polynomials, for many votes."""
    counts = [Fraction(1)]
    for p in probabilities:
        padded = [Fraction(0), *counts, Fraction(0)]
        counts = [
            padded[i] * p + padded[i + 1] * (1 - p) for i in range(len(padded) - 1)
        ]
    return counts


def all_pairings(
    first: Sequence[Fraction], second: Sequence[Fraction]
) -> list[list[tuple[Fraction, Fraction]]]:
    if len(first) > len(second):
        chosen = itertools.permutations(first, len(second))
        return [list(zip(side, second, strict=True)) for side in chosen]
    return [
        list(zip(first, side, strict=True))
        for side in itertools.permutations(second, len(first))
    ]


def canonical(first: Fraction, second: Fraction) -> Fraction:
    gap = first - second
    return (1 + gap / (1 + abs(gap))) / 2


def enumerated_votes(first: Sequence[Fraction], second: Sequence[Fraction]) -> Fraction:
    found = [
        majority([canonical(*pair) for pair in pairing])
        for pairing in all_pairings(first, second)
    ]
    return sum(found, Fraction(0)) / len(found)


def enumerated_sign(first: Sequence[Fraction], second: Sequence[Fraction]) -> Fraction:
    found = []
    for pairing in all_pairings(first, second):
        wins = sum((a > b) - (a < b) for a, b in pairing)
        found.append(Fraction(1 + (wins > 0) - (wins < 0), 2))
    return sum(found, Fraction(0)) / len(found)


def divided(chances: NDArray[np.float64]) -> float:
    """Divide and conquer in long floats, leaving out what is below 1e-26."""
    laws = [np.array([1 - p, p]) for p in chances.astype(np.longdouble)]
    starts = [0] * len(laws)
    while len(laws) > 1:
        joined, moved = [], []
        for place in range(0, len(laws) - 1, 2):
            law_of_both = np.convolve(laws[place], laws[place + 1])
            kept = np.flatnonzero(law_of_both > 1e-26)
            joined.append(law_of_both[kept[0] : kept[-1] + 1])
            moved.append(starts[place] + starts[place + 1] + int(kept[0]))
        if len(laws) % 2:
            joined.append(laws[-1])
            moved.append(starts[-1])
        laws, starts = joined, moved
    leads = 2 * (starts[0] + np.arange(len(laws[0]))) - len(chances)
    shares = laws[0] / laws[0].sum()
    return float(shares[leads > 0].sum() + shares[leads == 0].sum() / 2)


KINDS = ["any", "even", "near sure", "leaning", "nearly sure", "alike", "few"]


def of_kind(kind: str, votes: int) -> NDArray[np.float64]:
    """Many votes of one kind; of the last, most are sure."""
    rng = np.random.default_rng(votes)
    units = rng.random(votes)
    sure = (units > 0.5).astype(np.float64)
    return {
        "any": units,
        "even": 0.5 + (units - 0.5) / 50,
        "near sure": np.where(units < 0.5, units / 500, 1 - (1 - units) / 500),
        "leaning": np.clip(0.5 + (units - 0.2) / math.sqrt(votes), 0, 1),
        "nearly sure": np.abs(sure - units * 1e-9),
        "alike": np.where(np.arange(votes) < votes // 2 - 8, 1.0, 16 / votes),
        "few": np.where(rng.random(votes) < 0.02, units, sure),
    }[kind]


class TestMajority:
    @settings(max_examples=60)
    @given(probabilities=st.lists(chances, max_size=6))
    def test_is_exact_on_fractions(self, probabilities: list[Fraction]) -> None:
        table = np.array(probabilities, dtype=object)
        assert exact(majority_probability(table)) == majority(probabilities)

    @settings(max_examples=60)
    @given(probabilities=st.lists(chances, max_size=6))
    def test_is_right_on_floats(self, probabilities: list[Fraction]) -> None:
        found = majority_probability([float(p) for p in probabilities])
        assert found == pytest.approx(float(majority(probabilities)), abs=1e-15)

    @pytest.mark.parametrize("votes", [63, 64, 65, 66, 151])
    @pytest.mark.parametrize("spread", [(480, 520), (0, 1000), (0, 20), (0, 1)])
    def test_many_votes_are_right_to_fourteen_digits(
        self, votes: int, spread: tuple[int, int]
    ) -> None:
        rng = np.random.default_rng(votes)
        drawn = rng.integers(spread[0], spread[1], votes, endpoint=True)
        scale = 1 if spread == (0, 1) else 1000
        probabilities = [Fraction(int(p), scale) for p in drawn]
        counts = product_law(probabilities)
        above = sum(counts[votes // 2 + 1 :], Fraction(0))
        tie = counts[votes // 2] if votes % 2 == 0 else Fraction(0)
        found = majority_probability([float(p) for p in probabilities])
        assert abs(found - float(above + tie / 2)) < 1e-14

    @pytest.mark.parametrize(
        ("votes", "drawn"), [(300, 1), (300, 11), (10_000, 40), (1_000_001, 11)]
    )
    def test_a_few_open_votes_among_many_sure_ones_are_right(
        self, votes: int, drawn: int
    ) -> None:
        """What is sure shifts the law of the others, which is exact in Fractions."""
        rng = np.random.default_rng(votes)
        open_votes = [Fraction(int(p), 64) for p in rng.integers(0, 64, drawn)]
        sure = (votes - drawn) // 2
        counts = product_law(open_votes)
        double = [2 * (sure + count) - votes for count in range(drawn + 1)]
        above = sum(p for p, lead in zip(counts, double, strict=True) if lead > 0)
        tie = sum(p for p, lead in zip(counts, double, strict=True) if lead == 0)
        chances = np.zeros(votes)
        chances[:sure] = 1
        chances[sure : sure + drawn] = [float(p) for p in open_votes]
        found = majority_probability(rng.permutation(chances))
        assert abs(found - float(above + Fraction(tie) / 2)) < 1e-10

    @pytest.mark.parametrize("votes", [257, 1000, 20_000])
    @pytest.mark.parametrize("kind", KINDS)
    def test_many_open_votes_are_right(self, votes: int, kind: str) -> None:
        chances = of_kind(kind, votes)
        assert abs(majority_probability(chances) - divided(chances)) < 1e-11

    @pytest.mark.parametrize(
        ("votes", "kind"),
        [*itertools.product([257, 20_000], KINDS), (300_001, "leaning")],
    )
    def test_many_votes_may_be_turned_round_and_shuffled(
        self, votes: int, kind: str
    ) -> None:
        # Turned round once, so that turning them again gives back every bit.
        chances = 1 - of_kind(kind, votes)
        found = majority_probability(chances)
        turned = majority_probability(1 - chances)
        assert turned == pytest.approx(1 - found, abs=1e-10)
        shuffled = np.random.default_rng(1).permutation(chances)
        assert majority_probability(shuffled) == pytest.approx(found, abs=1e-10)

    @pytest.mark.parametrize("middle", [0, 1])
    def test_many_votes_that_do_not_lean_may_be_turned_round(self, middle: int) -> None:
        """One vote of 1 and two of 1/4: each way round half of the votes on average."""
        chances = np.array([1.0, 0.25, 0.25] * 200 + [0.5] * middle)
        found = majority_probability(chances)
        assert abs(found - divided(chances)) < 1e-13
        assert found != 0.5
        turned = majority_probability(1 - chances)
        assert turned == pytest.approx(1 - found, abs=1e-12)

    def test_strong_votes_alone_may_decide_which_way_round(self) -> None:
        """Sure votes balance, as do one of 3/4 and two of 3/8; there is no other."""
        chances = np.array([0.0, 1.0] * 200 + [0.75, 0.375, 0.375])
        found = majority_probability(chances)
        assert abs(found - divided(chances)) < 1e-13
        assert found != 0.5
        turned = majority_probability(1 - chances)
        assert turned == pytest.approx(1 - found, abs=1e-12)

    @pytest.mark.parametrize("votes", [400, 5000])
    def test_many_balanced_votes_are_a_half_exactly(self, votes: int) -> None:
        gaps = np.random.default_rng(2).normal(size=votes)
        chances = weights.odd(weights.rational(), np.concatenate([gaps, -gaps]))
        assert majority_probability(chances) == pytest.approx(0.5, abs=1e-12)
        sure = np.array([0.0, 0.5, 1.0] * votes)
        assert majority_probability(sure) == pytest.approx(0.5, abs=1e-12)

    @pytest.mark.parametrize("votes", [5, 100, 1000])
    def test_an_array_is_left_as_it_was_whatever_its_form(self, votes: int) -> None:
        chances = np.random.default_rng(3).random((4, votes))
        kept = chances.copy()
        found = majority_probability(chances)
        np.testing.assert_array_equal(chances, kept)
        chances.flags.writeable = False
        for form in (chances, np.asfortranarray(chances), chances.astype(">f8")):
            np.testing.assert_allclose(majority_probability(form), found, atol=1e-14)
        alone = majority_probability(chances[0].tolist())
        assert alone == pytest.approx(found[0], abs=1e-14)

    def test_a_hundred_thousand_votes_are_near_their_normal_limit(self) -> None:
        # Berry and Esseen: the error is below 0.56 / sqrt(n / 4), here 0.004.
        votes, lean = 100_000, 0.502
        found = majority_probability(np.full(votes, lean))
        z = votes * (lean - 0.5) / math.sqrt(votes * lean * (1 - lean))
        assert found == pytest.approx(0.5 * math.erfc(-z / math.sqrt(2)), abs=0.004)

    @pytest.mark.parametrize("votes", [1, 2, 9, 64, 65, 300])
    def test_turning_votes_round_and_shuffling_them(self, votes: int) -> None:
        rng = np.random.default_rng(votes)
        gaps = rng.normal(0.05, 1, (20, votes))
        weight = weights.rational()
        found = majority_probability(weights.odd(weight, gaps))
        turned = majority_probability(weights.odd(weight, -gaps))
        np.testing.assert_allclose(turned, 1 - found, atol=1e-13)
        shuffled = weights.odd(weight, rng.permuted(gaps, axis=1))
        np.testing.assert_allclose(majority_probability(shuffled), found, atol=1e-13)

    def test_few_votes_of_simple_chances_are_exact(self) -> None:
        """By hand: three votes of 3/4 give 54/64, four give (81 + 108 + 27) / 256."""
        assert majority_probability([0.75] * 3) == 27 / 32
        assert majority_probability([0.75] * 4) == 216 / 256

    def test_balanced_votes_are_a_half_exactly(self) -> None:
        gaps = np.random.default_rng(2).normal(size=50)
        votes = weights.odd(weights.rational(), np.concatenate([gaps, -gaps]))
        assert majority_probability(votes) == pytest.approx(0.5, abs=1e-14)

    def test_leading_axes_and_no_votes(self) -> None:
        assert majority_probability(np.full((2, 3, 5), 1.0)).tolist() == [[1.0] * 3] * 2
        assert majority_probability([]) == 0.5
        assert majority_probability(np.zeros((4, 0))).tolist() == [0.5] * 4
        assert majority_probability(np.zeros((0, 4))).shape == (0,)

    def test_what_is_no_number_is_refused(self) -> None:
        with pytest.raises(RatingsError, match=r"must be finite, got nan at index"):
            majority_probability(np.array([0.2, np.nan]))


def over_two_levels(
    chances: NDArray[np.float64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
) -> float:
    """The margin over all pairings of two levels with one or two, by going through."""
    if len(first) > 1 == len(second):
        return -over_two_levels(1 - chances.T, second, first)
    size, total = int(first[0]), 0.0
    most = min(size, int(second[0]))
    for low in range(max(0, size - int(second[1])), most + 1):
        share = hypergeom.pmf(low, second.sum(), second[0], size)
        if share > 1e-12:
            rows = [np.array([low, size - low])]
            rows += [second - rows[0]] if len(first) > 1 else []
            votes = np.repeat(chances.ravel(), np.concatenate(rows))
            total += share * (2 * float(majority_probability(votes)) - 1)
    return total


class TestOverPairings:
    @settings(max_examples=60)
    @given(first=sides, second=sides)
    def test_exact_average_is_that_of_all_pairings(
        self, first: list[Fraction], second: list[Fraction]
    ) -> None:
        voted = votes_over_pairings(first, second)
        signed = sign_over_pairings(first, second)
        assert exact(voted.probability) == enumerated_votes(first, second)
        assert exact(signed.probability) == enumerated_sign(first, second)
        assert voted.se == signed.se == voted.pairings == signed.pairings == 0

    @settings(max_examples=60)
    @given(first=sides, second=sides)
    def test_float_average_is_the_exact_one(
        self, first: list[Fraction], second: list[Fraction]
    ) -> None:
        one, two = [float(x) for x in first], [float(x) for x in second]
        voted = votes_over_pairings(one, two)
        signed = sign_over_pairings(one, two)
        expected = float(enumerated_votes(first, second))
        assert voted.probability == pytest.approx(expected, abs=1e-14)
        expected = float(enumerated_sign(first, second))
        assert signed.probability == pytest.approx(expected, abs=1e-14)

    def test_golden_number(self) -> None:
        """By hand: pairings (3,2),(1,0): 3/4; (3,0),(1,2): 9/16; mean 21/32."""
        first, second = [Fraction(3), Fraction(1)], [Fraction(2), Fraction(0)]
        assert exact(votes_over_pairings(first, second).probability) == Fraction(21, 32)

    def test_larger_cases_agree_between_floats_and_fractions(self) -> None:
        rng = np.random.default_rng(11)
        first, second = rng.integers(1, 6, 14), rng.integers(1, 6, 9)
        exactly = votes_over_pairings(
            [Fraction(int(x)) for x in first], [Fraction(int(x)) for x in second]
        )
        found = votes_over_pairings(first, second)
        assert found.probability == pytest.approx(float(exactly.probability), abs=1e-13)

    def test_one_against_many_is_the_mean_of_its_votes(self) -> None:
        many = np.random.default_rng(3).random(5000)
        found = votes_over_pairings([0.7], many)
        votes = weights.odd(weights.rational(), 0.7 - many)
        assert found.probability == pytest.approx(float(votes.mean()), abs=1e-13)
        assert found.se == 0

    @pytest.mark.parametrize("average", [votes_over_pairings, sign_over_pairings])
    @pytest.mark.parametrize("sizes", [(6, 6), (3, 8), (9, 4), (30, 30), (25, 40)])
    def test_swapping_the_items_is_exact(
        self, average: Callable[..., law.Averaged], sizes: tuple[int, int]
    ) -> None:
        rng = np.random.default_rng(sizes)
        first, second = rng.random(sizes[0]), rng.random(sizes[1])
        there, back = average(first, second, rng=5), average(second, first, rng=5)
        assert back.probability == 1 - there.probability
        assert back.se == there.se
        shuffled = average(rng.permutation(first), rng.permutation(second), rng=5)
        assert shuffled == there

    def test_equal_multisets_are_a_half_exactly(self) -> None:
        scores = np.random.default_rng(4).random(40)
        assert votes_over_pairings(scores, scores[::-1]) == (0.5, 0.0, 0)

    def test_no_scores_on_a_side_is_a_coin(self) -> None:
        assert votes_over_pairings([], [1.0]) == (0.5, 0.0, 0)

    def test_sampled_average_is_within_its_error_of_the_exact_one(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rng = np.random.default_rng(8)
        first, second = rng.integers(1, 6, 12), rng.integers(0, 6, 15)
        for average in (votes_over_pairings, sign_over_pairings):
            exactly = average(first, second)
            assert exactly.pairings == 0
            with monkeypatch.context() as patch:
                patch.setattr(law, "WORK", 0)
                sampled = average(first, second, rng=1)
            assert sampled.pairings == 4000
            assert 0 < sampled.se < 0.01
            # Five standard errors: a correct build fails for one seed in 1.7 million.
            gap = abs(sampled.probability - exactly.probability)
            assert gap < 5 * sampled.se

    def test_pairings_are_sampled_only_beyond_the_bounds(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # Three scores of two levels: 2 x 3 states of 4 cells, and 2 moves from each.
        first, second = [1.0, 1.0, 2.0], [3.0, 4.0, 5.0]
        for name, bound in (("WORK", 48), ("CELLS", 24)):
            with monkeypatch.context() as patch:
                patch.setattr(law, name, bound)
                assert votes_over_pairings(first, second, rng=1).pairings == 0
                patch.setattr(law, name, bound - 1)
                assert votes_over_pairings(first, second, rng=1).pairings == 4000

    def test_standard_error_is_the_spread_of_the_sampled_means(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(law, "WORK", 0)
        rng = np.random.default_rng(9)
        first, second = rng.random(6) * 9, rng.random(6) * 9
        found = [votes_over_pairings(first, second, rng=seed) for seed in range(300)]
        spread = np.std([average.probability for average in found], ddof=1)
        stated = np.mean([average.se for average in found])
        # A sample spread of 300 is within 21% (five of its standard errors of 4.1%)
        # with chance 1 - 6e-7; four pairings that nobody drew add 2%.
        assert spread == pytest.approx(stated, rel=0.23)

    def test_a_unanimous_sample_still_has_an_error(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(law, "WORK", 0)
        average = sign_over_pairings([5.0, 6.0], [1.0, 2.0, 3.0], rng=1)
        assert average[::2] == (1.0, 4000)
        assert 1 / 4000 < average.se < 1 / 2000

    def test_sampled_tables_and_sampled_orders_agree(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(law, "WORK", 0)
        rng, size = np.random.default_rng(10), 300
        first, second = rng.integers(1, 4, size), rng.integers(1, 4, size + 9)
        tables = votes_over_pairings(first, second, rng=3)
        # Scores a hair apart are as many levels as there are scores.
        apart = votes_over_pairings(
            first + 1e-9 * np.arange(size), second + 1e-9 * np.arange(size + 9), rng=3
        )
        spread = math.hypot(tables.se, apart.se)
        assert abs(tables.probability - apart.probability) < 5 * spread + 1e-6

    @pytest.mark.parametrize("kind", KINDS)
    def test_tosses_of_many_votes_have_their_law(self, kind: str) -> None:
        rng, ones = np.random.default_rng(1), np.ones((1, 1000), np.int64)
        chances = of_kind(kind, 1000)
        points = np.stack([1 - chances, chances], axis=-1)[None]
        tossed = np.mean([law._margins(points, ones, rng) for _ in range(50)])  # noqa: SLF001 - no public way leads to it alone
        exactly = 2 * float(majority_probability(chances)) - 1
        # Hoeffding, of 400 tosses: one false alarm in a million.
        assert abs(tossed - exactly) < math.sqrt(2 * math.log(2e6) / 400)

    @pytest.mark.parametrize("away", [-3.0, -1.5, 0.0, 1.5, 3.0])
    @pytest.mark.parametrize("chance", [0.002, 0.05, 0.5, 0.998])
    def test_the_normal_limit_is_off_by_no_more_than_it_says(
        self, chance: float, away: float
    ) -> None:
        # The least variance for which it is used; sure votes bring the mean near half,
        # and so many standard deviations away from it.
        votes = math.ceil(law.OPEN / (chance * (1 - chance)))
        lead = round(votes * (1 - 2 * chance) + away * math.sqrt(law.OPEN))
        counts = np.array([votes, max(lead, 0), max(-lead, 0)])
        chances = np.array([chance, 1.0, 0.0])
        points = np.stack([1 - chances, chances], axis=-1)[None]
        rng = np.random.default_rng(1)
        found = law._margins(points, counts[None], rng)[0]  # noqa: SLF001 - as above
        exactly = 2 * float(majority_probability(np.repeat(chances, counts))) - 1
        assert abs(found - exactly) <= law.OFF

    @pytest.mark.parametrize(
        ("chances", "first", "second"),
        [
            ([[0.99, 0.03], [0.99, 0.23]], [1800, 2200], [1700, 2300]),
            ([[0.9, 0.02], [0.95, 0.03]], [2500, 3500], [3160, 2840]),
            ([[0.55, 0.36], [0.67, 0.5]], [300, 350], [345, 305]),
            ([[0.86, 0.05]], [1750], [2000, 1650]),
            ([[0.55], [0.15]], [2100, 400], [850]),
        ],
    )
    def test_the_limit_over_pairings_is_off_by_no_more_than_it_says(
        self, chances: list[list[float]], first: list[int], second: list[int]
    ) -> None:
        # Near the least variance of coins for which it is used.
        table, sides = np.array(chances), (np.array(first), np.array(second))
        found = law._limit_over(table, *sides)  # noqa: SLF001 - as above
        turned = law._limit_over(1 - table.T, *sides[::-1])  # noqa: SLF001 - as above
        assert found is not None
        assert turned == pytest.approx(-found, abs=1e-12)
        assert abs(found - over_two_levels(table, *sides)) <= law.OFF
        few = [side // 8 for side in sides]
        assert law._limit_over(table, *few) is None  # noqa: SLF001 - as above

    def test_very_many_pairs_have_the_limit_of_sampled_ones(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        levels = np.arange(5.0)
        one = law.ScoreCounts(levels, 10**6 * np.ones(5, np.int64))
        two = law.ScoreCounts(
            levels, one.counts + np.array([500_900, 0, 0, 0, 500_000])
        )
        limit = votes_over_pairings(one, two)
        assert limit.pairings == 0
        assert limit.se == law.OFF / 2
        back = votes_over_pairings(two, one).probability
        assert back == 1 - limit.probability
        monkeypatch.setattr(law, "_limit_over", lambda *_: None)
        sampled = votes_over_pairings(one, two, rng=1)
        assert sampled.pairings == 4000
        # Five standard errors: a correct build fails for one seed in 1.7 million.
        assert abs(sampled.probability - limit.probability) < 5 * sampled.se

    @pytest.mark.parametrize(
        ("lead", "pairings", "pooled"), [(80, 8, 400), (0, 60, 400), (80, 60, 0)]
    )
    def test_few_pairings_state_an_error_that_holds(
        self, lead: int, pairings: int, pooled: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # Coins are nearly sure: few pairings may agree though others would not.
        monkeypatch.setattr(law, "PAIRINGS", pairings)
        monkeypatch.setattr(law, "POOLED", pooled)
        monkeypatch.setattr(law, "_limit_over", lambda *_: None)
        one = law.ScoreCounts(np.array([1.0, 3.0]), np.array([7000, 3000]))
        two = law.ScoreCounts(
            np.array([0.0, 2.0]), np.array([2857 - lead, 7143 + lead])
        )
        steep = weights.rational(30)
        table = weights.odd(steep, one.levels[:, None] - two.levels)
        exactly = (1 + over_two_levels(table, one.counts, two.counts)) / 2
        found = [
            votes_over_pairings(one, two, weight=steep, rng=at) for at in range(100)
        ]
        assert {average.pairings for average in found} == {pairings}
        beyond = sum(abs(it.probability - exactly) > 3 * it.se for it in found)
        # If one in 20 is so far off, this fails once in a million.
        assert beyond <= 18

    @pytest.mark.filterwarnings("error")
    def test_pairings_that_cannot_differ_have_no_spread(self) -> None:
        # Half of the scores are below the one level of the other item, and half above.
        size = 20_000
        found = sign_over_pairings(np.full(size, size / 2 - 0.5), np.arange(size))
        assert found.probability == 0.5
        assert 0 < found.se < 0.05

    def test_a_clear_lead_of_very_many_is_certain(self) -> None:
        levels, size = np.array([1.0, 2.0, 3.0]), 10**9
        one = law.ScoreCounts(levels, np.array([300, 300, 400]) * 10**6)
        two = law.ScoreCounts(levels, np.array([310, 290, 400]) * 10**6)
        ahead = votes_over_pairings(one, two, rng=1)
        assert one.size == two.size == size
        assert ahead == (1.0, 0.0, 0)
        assert sign_over_pairings(two, one, rng=1) == (0.0, 0.0, 0)

    def test_weights_without_exact_form_turn_fractions_into_floats(self) -> None:
        pair = [Fraction(3), Fraction(1)], [Fraction(2), Fraction(0)]
        found = votes_over_pairings(*pair, weight="sigmoid").probability
        floats = votes_over_pairings([3, 1], [2, 0], weight="sigmoid").probability
        assert found == floats

    def test_refusals(self) -> None:
        with pytest.raises(RatingsError, match=r"first scores must be one list, got"):
            votes_over_pairings(np.ones((2, 2)), [1.0])
        with pytest.raises(RatingsError, match=r"second score must be finite, got nan"):
            sign_over_pairings([1.0], [math.nan])
        with pytest.raises(OptionError, match=r"within the range 1 .* got 4\.0"):
            votes_over_pairings([5.0, 1.0], [1.0, 1.0], weight="linear(1)")
