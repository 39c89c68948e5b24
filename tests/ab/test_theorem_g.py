"""Theorem G beyond its rows in `evenhand theorems`: more rules, reviewers, designs."""

import functools
import itertools
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand import designs
from evenhand.ab import weights
from evenhand.ab.checker import check_rule
from evenhand.ab.law import sign_over_pairings, votes_over_pairings
from evenhand.arrays import Floats
from tests import plain_rules

HALF = Fraction(1, 2)
Scale = tuple[Fraction, Fraction]
"""A reviewer's score for the better item and that for the worse one."""
Rule = Callable[[Floats, Floats], Floats]
Law = Mapping[tuple[int, ...], Fraction]
RowRule = Callable[[list[Fraction], list[Fraction]], Fraction]


def laws(m: int) -> dict[str, Law]:
    pairs = [j // 2 for j in range(m)]
    return {
        "halves": designs.law("halves", m),
        "coins": designs.law("coins", m),
        "matched": designs.law("matched", pairs),
        "panels": designs.law("panels", pairs if m > 2 else [0, 1]),
        "two panels": designs.law("panels", [2 * j // m for j in range(m)]),
    }


def p_correct(rule: Rule, scales: Sequence[Scale], law: Law) -> Fraction:
    """Average over assignments, item 0 being better; pairs in the reviewers' order."""
    batches: dict[int, list[tuple[list[Fraction], list[Fraction], Fraction]]]
    batches = defaultdict(list)
    for sides, chance in law.items():
        given_by = list(zip(sides, scales, strict=True))
        first = [better for side, (better, _) in given_by if side == 0]
        second = [worse for side, (_, worse) in given_by if side == 1]
        batches[len(first)].append((first, second, chance))
    total = Fraction(0)
    for rows in batches.values():
        one, two = (np.array([row[i] for row in rows], dtype=object) for i in (0, 1))
        found = np.asarray(rule(one, two)).tolist()
        for (_, _, chance), p_first in zip(rows, found, strict=True):
            assert isinstance(p_first, Fraction)
            total += chance * p_first
    return total


def in_pairs(rule: Rule) -> Rule:
    """Take as many scores of each item as the other has."""

    def paired(first: Floats, second: Floats) -> Floats:
        count = min(first.shape[-1], second.shape[-1])
        return rule(first[..., :count], second[..., :count])

    return paired


def kernel(first: Floats, second: Floats) -> Floats:
    """The sign of a U-statistic, with the kernel d / (1 + |d|) of each pair."""
    gaps = first[..., :, None] - second[..., None, :]
    total = (gaps / (1 + np.abs(gaps))).sum(axis=(-2, -1))
    return np.asarray((total > 0) * HALF + (total >= 0) * HALF)


def mixture(parts: Sequence[tuple[Fraction, Rule]]) -> Rule:
    def rule(first: Floats, second: Floats) -> Floats:
        found = [np.asarray(share) * part(first, second) for share, part in parts]
        return np.asarray(sum(found))

    return rule


def votes(weight: weights.GapWeight) -> Rule:
    return in_pairs(functools.partial(plain_rules.votes, weight=weight))


FIFTH = Fraction(1, 5)
SAFE: dict[str, Rule] = {
    "coin": plain_rules.coin,
    "sign": in_pairs(plain_rules.sign),
    "mean": plain_rules.mean,
    "trimmed": plain_rules.trimmed,
    "trimmed by a third": functools.partial(plain_rules.trimmed, trim=0.34),
    "upper median": plain_rules.median,
    "lower median": functools.partial(plain_rules.median, median="lower"),
    "middle median": functools.partial(plain_rules.median, median="middle"),
    "midrank": plain_rules.midrank,
    "U-statistic": kernel,
    "mean and median": mixture(
        [(FIFTH, plain_rules.mean), (1 - FIFTH, plain_rules.median)]
    ),
}
STRICT: dict[str, Rule] = {
    "votes": votes(weights.rational()),
    "votes, slow weight": votes(weights.rational(Fraction(1, 40))),
    "votes, linear": votes(weights.linear(60)),
    "votes, offset": votes(weights.offset(HALF)),
    "guarded": plain_rules.guarded,
    "guarded, eps 1": functools.partial(plain_rules.guarded, eps=1),
    "guarded mean": functools.partial(
        plain_rules.guarded, eps=Fraction(1, 1000), statistic="mean"
    ),
    "guarded median": functools.partial(plain_rules.guarded, statistic="median:middle"),
    "guarded midrank": functools.partial(
        plain_rules.guarded, eps=HALF, statistic="midrank", weight="linear(60)"
    ),
    "guarded sign": functools.partial(plain_rules.guarded, eps=0.05, statistic="sign"),
    "guarded U-statistic": mixture(
        [(1 - FIFTH, kernel), (FIFTH, votes(weights.rational()))]
    ),
    "mean and votes": mixture(
        [(1 - FIFTH, plain_rules.mean), (FIFTH, votes(weights.rational()))]
    ),
}


def scales(m: int, *, ties: bool) -> st.SearchStrategy[list[Scale]]:
    score = st.fractions(min_value=-30, max_value=30, max_denominator=3)
    # Few levels, so that scores of different reviewers often tie.
    level = st.integers(-2, 2).map(Fraction)
    pair = st.one_of(*(st.lists(s, min_size=2, max_size=2) for s in (score, level)))
    if not ties:
        pair = pair.filter(lambda two: two[0] != two[1])
    one = pair.map(lambda two: (max(two), min(two)))
    return st.lists(one, min_size=m, max_size=m)


class TestEveryRule:
    """Never below one half, whatever the scales, in every symmetric design."""

    def holds(self, scales: Sequence[Scale]) -> None:
        strict = any(better > worse for better, worse in scales)
        for law in laws(len(scales)).values():
            for rule in SAFE.values():
                assert p_correct(rule, scales, law) >= HALF
            for rule in STRICT.values():
                right = p_correct(rule, scales, law)
                assert right > HALF if strict else right == HALF

    @settings(max_examples=5)
    @given(scales=scales(6, ties=False))
    def test_with_six_reviewers(self, scales: list[Scale]) -> None:
        self.holds(scales)

    def test_guarding_with_little_still_counts(self) -> None:
        apart = [(Fraction(10**j + 1), Fraction(10**j)) for j in (1, 3, 5, 7)]
        tiny = functools.partial(plain_rules.guarded, eps=Fraction(1, 10**6))
        right = p_correct(tiny, apart, designs.law("halves", 4))
        assert HALF < right < HALF + Fraction(1, 10**6)


def over_pairings(rule: Rule) -> Rule:
    """Pair the scores in every order alike, as many of each item as the other has."""

    def average(first: Floats, second: Floats) -> Floats:
        turned = first.shape[-1] > second.shape[-1]
        short, long = (second, first) if turned else (first, second)
        found = [
            in_pairs(rule)(*((mixed, short) if turned else (short, mixed)))
            for order in itertools.permutations(range(long.shape[-1]), short.shape[-1])
            for mixed in (long[..., list(order)],)
        ]
        return np.asarray(sum(found)) / len(found)

    return average


class TestWhoMustDistinguish:
    """Strictness asks that one reviewer would score the better item higher."""

    LEVELS = tuple(map(Fraction, (1, 2, 5)))
    RULES = (
        over_pairings(plain_rules.votes),
        mixture(
            [
                (1 - FIFTH, plain_rules.trimmed),
                (FIFTH, over_pairings(plain_rules.votes)),
            ]
        ),
    )

    def laws(self, m: int) -> list[Law]:
        if m > 3:
            # Neighbours are both of two panels too.
            return [law for name, law in laws(m).items() if name != "two panels"]
        # Three reviewers, one against two: the votes have it given the counts too.
        return [designs.law("halves", m), designs.law("coins", m)]

    @pytest.mark.parametrize(("m", "place"), [(2, 0), (3, 0), (3, 2), (4, 1)])
    def test_one_reviewer_is_enough_in_every_design(self, m: int, place: int) -> None:
        """All scales on three levels on which only one reviewer does, or on two."""
        for constants in itertools.product(self.LEVELS[m > 3 :], repeat=m - 1):
            for worse, better in itertools.combinations(self.LEVELS, 2):
                scales = [(level, level) for level in constants]
                scales.insert(place, (better, worse))
                for law in self.laws(m):
                    for rule in self.RULES:
                        assert p_correct(rule, scales, law) > HALF

    def test_one_reviewer_is_enough_for_votes_given_one_against_two(self) -> None:
        law: Law = {(0, 1, 1): FIFTH, (1, 0, 1): FIFTH, (1, 1, 0): FIFTH}
        for level in itertools.product(self.LEVELS, repeat=2):
            scales = [(level[0],) * 2, (level[1],) * 2, (Fraction(2), Fraction(1))]
            right = p_correct(self.RULES[0], scales, law)
            assert right > HALF * sum(law.values())

    @pytest.mark.parametrize("m", [3, 4])
    def test_if_no_reviewer_would_it_is_exactly_a_coin(self, m: int) -> None:
        for constants in itertools.product(self.LEVELS[m - 3 :], repeat=m):
            scales = [(level, level) for level in constants]
            for law in self.laws(m):
                for rule in (*self.RULES, plain_rules.mean, plain_rules.midrank):
                    assert p_correct(rule, scales, law) == HALF

    def test_votes_that_can_be_certain_ask_it_of_every_reviewer(self) -> None:
        """Two panels, and a linear weight that the other panels' gaps fill."""
        filled = [Fraction(60), Fraction(60), Fraction(0), Fraction(0), Fraction(0)]
        scales = [(Fraction(30), Fraction(20)), *((level, level) for level in filled)]
        law = designs.law("panels", [0, 0, 0, 1, 1, 1])
        certain = over_pairings(
            functools.partial(plain_rules.votes, weight="linear(60)")
        )
        assert p_correct(certain, scales, law) == HALF
        assert p_correct(self.RULES[0], scales, law) > HALF


class TestOneSidedPanels:
    def test_a_design_that_gives_all_reviewers_one_item_leaves_a_coin(self) -> None:
        law = designs.law("panels", [0, 0])
        scales = [(Fraction(2), Fraction(1))] * 2
        assert p_correct(plain_rules.guarded, scales, law) == HALF


class TestUnequalCounts:
    """On average over the design it holds; given the counts it need not."""

    SCALES = tuple((b + Fraction(2, 3), b + FIFTH) for b in (0, 0, 100))

    def test_mean_and_median_can_be_right_a_third_of_the_time(self) -> None:
        one_against_two = ((0, 1, 1), (1, 0, 1), (1, 1, 0))
        law: Law = dict.fromkeys(one_against_two, Fraction(1, 3))
        for rule in (plain_rules.mean, plain_rules.median):
            assert p_correct(rule, self.SCALES, law) == Fraction(1, 3)
        assert p_correct(over_pairings(plain_rules.votes), self.SCALES, law) > HALF

    def test_guarded_mean_can_be_worse_than_a_coin_given_one_against_two(self) -> None:
        law = {
            sides: Fraction(1, 3)
            for sides in designs.law("halves", 3)
            if sum(sides) == 2
        }
        rule = functools.partial(plain_rules.guarded, statistic="mean")
        assert len(law) == 3
        assert p_correct(rule, self.SCALES, law) < HALF

    def test_it_is_better_on_average_over_the_counts(self) -> None:
        for law in (designs.law("halves", 3), designs.law("coins", 3)):
            rule = functools.partial(plain_rules.guarded, statistic="mean")
            assert p_correct(rule, self.SCALES, law) > HALF


def p_correct_by_counts(
    rule: RowRule, scales: Sequence[Scale], law: Law, silent: Sequence[int]
) -> dict[tuple[int, int], tuple[Fraction, Fraction]]:
    """Return P(right) and P(counts), by how many scored each item; item 0 is better."""
    right: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    mass: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    for sides, chance in law.items():
        speaking = [j for j in range(len(scales)) if j not in silent]
        one = [scales[j][0] for j in speaking if sides[j] == 0]
        two = [scales[j][1] for j in speaking if sides[j] == 1]
        right[len(one), len(two)] += chance * (rule(one, two) if one and two else HALF)
        mass[len(one), len(two)] += chance
    return {counts: (right[counts] / mass[counts], mass[counts]) for counts in mass}


def over_votes(one: list[Fraction], two: list[Fraction]) -> Fraction:
    return Fraction(votes_over_pairings(one, two).probability)


def over_signs(one: list[Fraction], two: list[Fraction]) -> Fraction:
    return Fraction(sign_over_pairings(one, two).probability)


def guarded_mean(one: list[Fraction], two: list[Fraction]) -> Fraction:
    return (9 * means(one, two) + over_votes(one, two)) / 10


def means(one: list[Fraction], two: list[Fraction]) -> Fraction:
    found = plain_rules.mean(one, two)
    assert isinstance(found, Fraction)
    return found


class TestMissingPartners:
    """Silent reviewers of pairs and panels: what holds is the average over swaps."""

    SCALES = tuple((b + Fraction(1), Fraction(b)) for b in (0, 3, -1000, 0))
    ROWS = (over_votes, over_signs, means, guarded_mean)

    def test_a_panel_with_a_silent_member_leaves_the_average_only(self) -> None:
        panels = designs.law("panels", [0, 0, 1, 1])
        found = p_correct_by_counts(over_votes, self.SCALES, panels, silent=[3])
        assert min(p for p, _ in found.values()) < Fraction(1, 1000)
        assert sum(p * mass for p, mass in found.values()) > HALF

    @settings(max_examples=12)
    @given(scales=scales(6, ties=False), silent=st.sets(st.integers(0, 5), max_size=3))
    def test_it_holds_given_the_counts_up_to_a_swap_and_so_given_equal_counts(
        self, scales: list[Scale], silent: set[int]
    ) -> None:
        groups = [0, 0, 1, 1, 2, 2]
        for design in ("matched", "panels"):
            for rule in self.ROWS:
                law = designs.law(design, groups)
                found = p_correct_by_counts(rule, scales, law, list(silent))
                for (one, two), (p, _) in found.items():
                    either = (p + found[two, one][0]) / 2
                    strict = rule in (over_votes, guarded_mean) and one and two
                    assert either > HALF if strict else either >= HALF


def spread(scores: Sequence[Fraction]) -> Fraction:
    """Median absolute deviation."""
    middle = statistics.median(scores)
    return statistics.median([abs(score - middle) for score in scores])


def mad_votes(first: list[Fraction], second: list[Fraction]) -> Fraction:
    """Votes on scores divided by the MAD of the same scores, over all pairings."""
    by = spread([*first, *second])
    if by == 0:
        gaps = [(a > b) - (a < b) for a in first for b in second]
        return HALF + Fraction(sum(gaps), 2 * len(gaps))
    chances = [
        weights.odd(weights.rational(), (a - b) / by) for a in first for b in second
    ]
    # With two pairs a majority, ties by a coin, is right as often as one vote.
    return Fraction(np.sum(chances)) / len(chances)


def squared_sd_votes(first: list[Fraction], second: list[Fraction]) -> Fraction:
    """Votes with w(g) = g^2 / (1 + g^2), g the gap in pooled standard deviations."""
    sides = [first, second]
    middles = [sum(side) / Fraction(len(side)) for side in sides]
    square = sum(
        (score - middle) ** 2
        for side, middle in zip(sides, middles, strict=True)
        for score in side
    ) / Fraction(len(first) + len(second) - 2)
    signed = [(a - b) * abs(a - b) for a, b in zip(first, second, strict=True)]
    if square == 0:
        return plain_rules.sign(first, second)  # type: ignore[return-value]  # of Fractions
    return plain_rules.votes(
        [gap / square for gap in signed], [Fraction(0)] * len(signed)
    )  # type: ignore[return-value]  # of Fractions


def without_outliers(first: list[Fraction], second: list[Fraction]) -> Fraction:
    """Higher mean after scores beyond 2 MAD of all scores are deleted."""
    scores = [*first, *second]
    middle, reach = statistics.median(scores), 2 * spread(scores)
    kept = [[s for s in side if abs(s - middle) <= reach] for side in (first, second)]
    if not all(kept):
        return HALF
    gap = sum(kept[0]) / Fraction(len(kept[0])) - sum(kept[1]) / Fraction(len(kept[1]))
    return Fraction(1 + (gap > 0) - (gap < 0), 2)


def paired(
    better: Sequence[int | Fraction], worse: Sequence[int | Fraction]
) -> list[Scale]:
    return [(Fraction(u), Fraction(v)) for u, v in zip(better, worse, strict=True)]


class TestWhatBreaksIt:
    """Scaling and cleaning by the same data, which `evenhand theorems` fails."""

    SMALL = Fraction(1, 1000)
    MAD = paired([-(10**6), 10**6 + 4, SMALL, SMALL], [-(10**6) - SMALL, 4, 0, 0])
    OUTLIERS = paired([9, 16, 1, 18], [5, 15, 0, 17])
    PANELS = paired([21, 39, 14, 14], [20, 20, 13, 0])

    @pytest.mark.parametrize(
        ("rule", "scales"),
        [(mad_votes, MAD), (without_outliers, OUTLIERS), (squared_sd_votes, PANELS)],
    )
    @pytest.mark.parametrize("sides", [(0, 0, 1, 1), (1, 0, 0, 1), (1, 0, 1, 0)])
    def test_the_checker_refuses_them_on_such_data(
        self,
        rule: Callable[[list[float], list[float]], object],
        scales: list[Scale],
        sides: tuple[int, ...],
    ) -> None:
        def on_floats(first: Floats, second: Floats) -> float:
            exact = ([Fraction(s) for s in side.tolist()] for side in (first, second))
            return float(rule(*exact))  # type: ignore[arg-type]  # Fractions

        scores = [
            [
                float(s[item])
                for s, side in zip(scales, sides, strict=True)
                if side == item
            ]
            for item in (0, 1)
        ]
        check = check_rule(on_floats, *scores, rng=1)
        assert check.failure is not None
        assert "must not fall" in check.sentence
