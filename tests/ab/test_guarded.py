"""guarded, and rules of the user's own."""

import functools
import json
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenhand import OptionError, Ratings, Scenario, simulate
from evenhand.ab import law
from evenhand.ab._sides import sides_from_lists
from evenhand.ab.comparison import Comparison, compare
from evenhand.ab.methods import Guarded
from evenhand.arrays import Floats
from evenhand.randomness import permutation, stream, uniforms
from tests import plain_rules
from tests.ab.test_comparison import counted, drawn

tenths = st.integers(0, 60).map(lambda number: number / 10)
Options = dict[str, object]


def ratings_of(first: Sequence[float], second: Sequence[float]) -> Ratings:
    items = ["x"] * len(first) + ["y"] * len(second)
    return Ratings(list(range(len(items))), items, [*first, *second])


def codes(comparison: Comparison) -> list[str]:
    return [notice.code for notice in comparison.notices]


def higher_best(one: Floats, two: Floats) -> float:
    return (1 + float(np.sign(one.max() - two.max()))) / 2


def wins(one: Floats, two: Floats) -> float:
    """Pairwise wins, so that it looks at the pairing."""
    count = min(len(one), len(two))
    return float(plain_rules.sign(one[:count], two[:count]))


def logistic(one: Floats, two: Floats) -> float:
    return float(1 / (1 + np.exp(np.clip(two.mean() - one.mean(), -30, 30))))


class TestRule:
    def test_golden_number(self) -> None:
        """By hand: the trimmed means are 20/3 > 14/3, the votes 43/56."""
        sides = [[Fraction(s) for s in side] for side in ([7, 9, 4], [6, 3, 5])]
        expected = Fraction(9, 10) + Fraction(1, 10) * Fraction(43, 56)
        assert plain_rules.guarded(*sides) == expected
        assert plain_rules.guarded(*sides, eps=0.1) == expected
        assert isinstance(plain_rules.guarded(*sides), Fraction)
        assert plain_rules.guarded([7, 9, 4], [6, 3, 5]) == pytest.approx(
            float(expected)
        )

    def test_a_tied_statistic_is_half_for_each(self) -> None:
        """By hand: equal means; one vote of 3/4, one of 1/4: a half in all."""
        assert plain_rules.guarded([3, 1], [2, 2], statistic="mean") == 0.5
        third = plain_rules.guarded([3, 1], [2, 2], statistic="median", eps=0.5)
        assert third == 0.75

    @pytest.mark.parametrize(
        ("statistic", "same"),
        [
            ("trimmed", plain_rules.trimmed),
            ("mean", plain_rules.mean),
            ("median", plain_rules.median),
            ("median:upper", plain_rules.median),
            ("median:lower", functools.partial(plain_rules.median, median="lower")),
            ("median:middle", functools.partial(plain_rules.median, median="middle")),
            ("midrank", plain_rules.midrank),
            ("sign", plain_rules.sign),
        ],
    )
    def test_each_statistic_is_followed(
        self, statistic: str, same: Callable[[Floats, Floats], Floats]
    ) -> None:
        table = np.random.default_rng(4).integers(0, 6, (2, 50, 6)).astype(float)
        eps = 1e-3
        leaning, voted = same(table[0], table[1]), plain_rules.votes(table[0], table[1])
        assert len(np.unique(leaning)) == 3
        found = plain_rules.guarded(table[0], table[1], statistic=statistic, eps=eps)
        assert found == pytest.approx((1 - eps) * leaning + eps * voted, abs=1e-12)

    def test_trim_is_that_of_the_trimmed_mean(self) -> None:
        first, second = [0, 5, 5, 5, 90], [6, 6, 6, 6, 6]
        assert plain_rules.guarded(first, second) < 0.5
        assert plain_rules.guarded(first, second, trim=0) > 0.5

    def test_eps_of_one_is_the_votes(self) -> None:
        first, second = [7, 9, 4], [6, 3, 5]
        expected = plain_rules.votes(first, second, weight="rational(3)")
        assert (
            plain_rules.guarded(first, second, eps=1, weight="rational(3)") == expected
        )

    def test_only_the_first_of_unequal_counts_are_pairs(self) -> None:
        """By hand: means 3 > 1/2; the one pair votes 1/4."""
        assert plain_rules.guarded([3], [4, -3], eps=0.5, statistic="mean") == 0.625
        assert plain_rules.guarded([3], [4, -3], eps=0.5, statistic="sign") == 0.125
        assert plain_rules.guarded([], [1.0]) == 0.5

    def test_a_weight_without_exact_form_gives_floats(self) -> None:
        sides = [Fraction(3)], [Fraction(2)]
        found = plain_rules.guarded(*sides, weight="sigmoid")
        assert float(found) == pytest.approx(
            0.9 + 0.1 / 2 * (1 + 1 / (1 + math.exp(-1)))
        )

    @settings(max_examples=30)
    @given(pairs=st.lists(st.tuples(tenths, tenths), min_size=1, max_size=7))
    def test_swapping_the_items_turns_it_round(
        self, pairs: list[tuple[float, float]]
    ) -> None:
        first, second = ([pair[side] for pair in pairs] for side in (0, 1))
        for statistic in ("mean", "midrank", "sign"):
            for eps in (0.1, 0.37, Fraction(1, 3), 1):
                options: Options = {"eps": eps, "statistic": statistic}
                there = plain_rules.guarded(first, second, **options)
                back = plain_rules.guarded(second, first, **options)
                assert there == pytest.approx(1 - back, abs=1e-12)

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (
                {"eps": 0},
                r"eps must be at least 1e-06 and at most 1, got 0\. Without votes",
            ),
            ({"eps": 0.0}, r"use its own method"),
            ({"eps": 1.5}, r"eps must be at least 1e-06 and at most 1, got 1\.5"),
            ({"eps": -0.1}, r"eps must be at least 1e-06 and at most 1, got -0\.1"),
            ({"eps": math.nan}, r"eps must be finite, got nan"),
            ({"eps": "x"}, r"eps must be a number, got 'x'"),
            ({"eps": True}, r"eps must be a number, got True"),
            ({"statistic": "midrnk"}, r"unknown statistic 'midrnk', did you mean 'mid"),
            ({"statistic": "median:mid"}, r"unknown statistic 'median:mid'"),
            ({"statistic": 3}, r"unknown statistic 3\. Known statistics: 'trimmed'"),
            ({"trim": 0.5}, r"trim must be at least 0 and below 0\.5"),
        ],
    )
    def test_refusals(self, options: Options, words: str) -> None:
        with pytest.raises(OptionError, match=words):
            plain_rules.guarded([1], [2], **options)


def test_midrank_counts_wins_over_all_pairs() -> None:
    rng = np.random.default_rng(8)
    table = rng.integers(0, 5, (60, 7)).astype(float)
    one, two = table[:, :3], table[:, 3:]
    margin = np.sign(one[:, :, None] - two[:, None, :]).sum(axis=(1, 2))
    assert (
        plain_rules.midrank(one, two).tolist() == ((1 + np.sign(margin)) / 2).tolist()
    )
    assert set(np.sign(margin)) == {-1, 0, 1}
    exact = plain_rules.midrank(
        *([Fraction(s) for s in side] for side in ([3, 3], [2, 4]))
    )
    assert exact == Fraction(1, 2)
    assert plain_rules.midrank([], [1.0]) == 0.5


class TestCompare:
    FIRST, SECOND = [7.0, 9.0, 4.0], [6.0, 3.0, 5.0]

    def test_it_is_the_default(self) -> None:
        comparison = compare(self.FIRST, self.SECOND, rng=1)
        named = compare(self.FIRST, self.SECOND, method="guarded", rng=1)
        assert comparison.to_dict() == named.to_dict()
        assert comparison.p_first == pytest.approx(0.9 + 0.1 * 43 / 56, abs=1e-15)
        assert comparison.parameters == {
            "eps": 0.1,
            "statistic": "trimmed",
            "weight": {
                "name": "rational",
                "parameters": {"gamma": 1},
                "checked_on_grid": False,
            },
            "trim": 0.2,
            "pairing": "given",
            "design": None,
        }
        assert json.loads(json.dumps(comparison.to_dict())) == comparison.to_dict()

    def test_options_are_used(self) -> None:
        first, second = [0.0, 5.0, 5.0, 5.0, 90.0], [6.0] * 5
        for options in (
            {"trim": 0.1},
            {"statistic": "mean", "eps": 0.25},
            {"statistic": "median:lower", "weight": "rational(3)"},
            {"statistic": "midrank", "eps": Fraction(1, 3)},
            {"statistic": "sign", "eps": 1},
        ):
            expected = plain_rules.guarded(first, second, **options)
            method = Guarded(**options)
            comparison = compare(first, second, method=method, rng=1)
            assert comparison.p_first == expected

    def test_parameters_are_those_that_were_used(self) -> None:
        quarter = Guarded(statistic="mean", eps=Fraction(1, 4))
        used = compare([1], [2], method=quarter, rng=1).parameters
        assert "trim" not in used
        assert used["eps"] == 0.25

    def test_p_first_averages_the_votes_over_pairings(self) -> None:
        """By hand: the mean is for x; the votes are 21/32 on average."""
        comparison = compare(ratings_of([3, 1], [2, 0]), rng=1)
        assert comparison.p_first == pytest.approx(0.9 + 0.1 * 21 / 32, abs=1e-15)
        assert comparison.parameters["pairing"] == "random"

    def test_the_sign_is_averaged_over_pairings_too(self) -> None:
        first, second = [3.0, 1.0], [2.0, 0.0]
        comparison = compare(
            ratings_of(first, second), method="guarded(statistic=sign)", rng=1
        )
        sign = law.sign_over_pairings(first, second).probability
        assert sign == 0.75
        assert comparison.p_first == pytest.approx(0.9 * sign + 0.1 * 21 / 32)

    def test_pairs_that_the_data_name_are_kept(self) -> None:
        ratings = Ratings(
            list(range(6)), list("xxxyyy"), [7, 9, 4, 5, 6, 3], pairs=list("abccab")
        )
        comparison = compare(ratings, rng=1)
        assert comparison.parameters["pairing"] == "pairs"
        assert comparison.p_first == pytest.approx(0.9 + 0.1 * 43 / 56, abs=1e-15)
        own = compare(ratings, method=logistic, rng=1)
        assert own.parameters["pairing"] == "pairs"

    def test_sampling_error_is_that_of_the_votes_times_eps(self) -> None:
        rng = np.random.default_rng(1)
        ratings = ratings_of(rng.random(60).tolist(), rng.random(60).tolist())
        voted = compare(ratings, method="votes", rng=1)
        comparison = compare(ratings, method="guarded(eps=0.25)", rng=1)
        assert voted.p_first_se > 0
        assert comparison.p_first_se == pytest.approx(0.25 * voted.p_first_se)
        assert codes(comparison) == ["sampled_pairings"]
        assert f"error {comparison.p_first_se:.2g};" in comparison.notices[0].message
        both = compare(ratings, method="guarded(eps=0.25, statistic=sign)", rng=1)
        sign = compare(ratings, method="sign", rng=1)
        expected = 0.75 * sign.p_first_se + 0.25 * voted.p_first_se
        assert both.p_first_se == pytest.approx(expected)

    def test_one_uniform_decides_between_statistic_and_votes(self) -> None:
        half = Guarded(statistic="mean", eps=Fraction(1, 2))
        for seed in range(20):
            comparison = compare([7, 2, 2], [6, 3, 3], method=half, rng=seed)
            votes = compare([7, 2, 2], [6, 3, 3], method="votes", rng=seed)
            mean = compare([7, 2, 2], [6, 3, 3], method="mean", rng=seed)
            if uniforms(stream(seed, "guard"), 1)[0] < 0.5:
                assert comparison.votes == votes.votes
                assert comparison.winner == votes.winner
                assert comparison.decided_by == "votes" == votes.decided_by
            else:
                assert comparison.votes is None
                assert comparison.winner == mean.winner
                assert comparison.decided_by == mean.decided_by == "tie coin" or (
                    comparison.decided_by == "means"
                )

    @pytest.mark.parametrize(
        ("statistic", "word"),
        [
            ("trimmed", "trimmed means"),
            ("mean", "means"),
            ("median:lower", "medians"),
            ("midrank", "midranks"),
            ("sign", "pairwise wins"),
        ],
    )
    def test_the_result_says_what_decided(self, statistic: str, word: str) -> None:
        method = Guarded(statistic=statistic)
        comparison = compare([9, 8], [2, 1], method=method, rng=1)
        assert comparison.decided_by == word
        assert f" of B, by {word}; mean" in repr(comparison).splitlines()[0]
        assert comparison.to_dict()["decided_by"] == word
        tie = compare([9, 8], [9, 8], method=method, rng=1)
        assert tie.decided_by == "tie coin"
        assert ", by a coin after a tie;" in repr(tie)

    def test_other_methods_say_it_too(self) -> None:
        for method, word in (
            ("coin", "coin"),
            ("sign", "pairwise wins"),
            ("mean", "means"),
            ("median", "medians"),
            ("trimmed", "trimmed means"),
        ):
            assert compare([9], [1], method=method, rng=1).decided_by == word
            if method != "coin":
                tie = compare([9], [9], method=method, rng=1)
                assert tie.decided_by == "tie coin"
        seeds = range(20)
        found = {
            compare([3, 2], [2, 3], method="votes", rng=s).decided_by for s in seeds
        }
        assert found == {"votes", "tie coin"}

    def test_unequal_counts_say_what_holds_on_average_only(self) -> None:
        comparison = compare([3.0], [2.0, 0.0], rng=1)
        assert codes(comparison) == ["unequal_counts"]
        text = comparison.notices[0].message
        assert "votes pair 1 of each" in text
        assert (
            "on average over all counts that could have come out they are not" in text
        )
        own = compare([3.0], [2.0, 0.0], method=logistic, rng=1)
        assert "rules of your own can be worse" in own.notices[0].message

    def test_gaps_beyond_floats_are_told(self) -> None:
        assert codes(compare([1e300], [0], rng=1)) == ["gap_beyond_floats"]

    def test_trim_belongs_to_one_statistic(self) -> None:
        words = r"trim must be left out for 'mean'"
        with pytest.raises(OptionError, match=words):
            compare([1], [2], method="guarded(statistic=mean, trim=0.1)")
        for option in ("eps=0.1", "statistic=mean"):
            words = rf"unknown option '{option.split('=')[0]}' of votes"
            with pytest.raises(OptionError, match=words):
                compare([1], [2], method=f"votes({option})")
        with pytest.raises(
            OptionError, match=r"eps must be at least 1e-06 and at most 1"
        ):
            compare([1], [2], method="guarded(eps=0)")


class TestFrequencies:
    def test_guarded_wins_as_often_as_p_first_says(self) -> None:
        scores = [3.0, 1.0, 0.2, 2.0], [2.0, 0.0, 1.5]
        drawn("guarded(eps=0.6)", counted(*scores), ratings_of(*scores))

    def test_guarded_sign_wins_as_often_as_p_first_says(self) -> None:
        scores, text = ([3.0, 1.0], [2.0, 0.0]), "guarded(eps=0.3, statistic=sign)"
        found = drawn(text, counted(*scores), ratings_of(*scores))
        assert {outcome.decided_by for outcome in found} == {
            "votes",
            "tie coin",
            "pairwise wins",
        }


class TestTable:
    """Improvement over a coin with 10 reviewers, in per cent, as THEORY has it."""

    @pytest.mark.parametrize(
        ("scales", "expected"),
        [
            ("identity", 94.0),
            ("bias:0.5", 54.8),
            ("one-biased", 93.3),
            ("incremental", 9.1),
            ("incremental-one-biased", 9.0),
        ],
    )
    def test_simulation_reproduces_it(self, scales: str, expected: float) -> None:
        scenario = Scenario(reviewers=10, scales=scales)
        found = simulate(scenario, ["guarded"], baseline="coin", trials=4000, rng=7)
        row = found.rows[-1]
        assert row.method == "guarded"
        assert row.improvement is not None
        assert row.improvement_se is not None
        # Five standard errors, one seed in 1.7 million, and the rounding of the table.
        assert abs(row.improvement - expected) < 5 * row.improvement_se + 0.05

    def test_it_lies_between_the_statistic_and_the_votes(self) -> None:
        scenario = Scenario(reviewers=10, scales="bias:0.5")
        rows = simulate(
            scenario, ["guarded", "trimmed", "votes"], trials=500, rng=7
        ).rows
        guarded, trimmed, votes = (row.risk for row in rows)
        assert trimmed < guarded < votes
        assert guarded == pytest.approx(0.9 * trimmed + 0.1 * votes)


class TestOwnRules:
    def test_a_function_is_a_method_under_its_own_name(self) -> None:
        comparison = compare([7, 9], [6, 8], method=logistic, rng=1)
        assert comparison.method == "logistic"
        assert comparison.p_first == 1 / (1 + math.exp(-1))
        assert comparison.decided_by == "logistic"
        assert comparison.votes is None
        assert comparison.parameters == {
            "checked_on_data": True,
            "pairing": "given",
            "design": None,
        }
        assert json.loads(json.dumps(comparison.to_dict())) == comparison.to_dict()

    def test_it_wins_as_often_as_it_says(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("evenhand.ab.checker.LIMIT", 5)
        drawn(logistic, sides_from_lists([2], [1], None), [2], [1])

    def test_it_is_asked_in_the_pairing_given_or_drawn(self) -> None:
        asked: list[tuple[list[float], list[float]]] = []

        def watched(one: NDArray[np.float64], two: NDArray[np.float64]) -> float:
            asked.append((one.tolist(), two.tolist()))
            return logistic(one, two)

        compare([7, 9, 4], [6, 3, 5], method=watched, rng=1)
        assert asked[0] == ([7, 9, 4], [6, 3, 5])
        asked.clear()
        compare(ratings_of([7, 9, 4], [6, 3, 5, 8]), method=watched, rng=5)
        order = permutation(stream(5, "pairing"), 4)
        assert asked[0] == ([7, 9, 4], np.array([6.0, 3, 5, 8])[order].tolist())

    def test_a_function_that_changes_its_arrays_does_no_harm(self) -> None:
        def sorting(one: Floats, two: Floats) -> float:
            one.sort()
            two.sort()
            return (1 + float(np.sign(one[-1] - two[-1]))) / 2

        first = np.array([3.0, 1.0, 2.0])
        found, expected = (
            compare(first, [2.0, 0.0, 1.0], method=rule, rng=1)
            for rule in (sorting, higher_best)
        )
        assert found.p_first == expected.p_first
        assert first.tolist() == [3, 1, 2]

    def test_a_rule_that_looks_at_pairs_is_averaged_over_sampled_ones(self) -> None:
        rng = np.random.default_rng(2)
        ratings = ratings_of(rng.random(8).tolist(), rng.random(8).tolist())
        found = compare(ratings, method=wins, rng=1)
        assert 0 < found.p_first_se < 0.05
        assert codes(found) == ["sampled_pairings"]
        assert "from 200 sampled pairings" in found.notices[0].message
        exact = compare(ratings, method="sign", rng=1)
        # Five standard errors: a correct build fails for one seed in 1.7 million.
        assert abs(found.p_first - exact.p_first) < 5 * found.p_first_se

    def test_a_rule_that_does_not_is_exact(self) -> None:
        rng = np.random.default_rng(2)
        first, second = rng.random(8).tolist(), rng.random(9).tolist()
        found = compare(ratings_of(first, second), method=logistic, rng=1)
        expected = logistic(np.array(first), np.array(second))
        assert found.p_first == pytest.approx(expected, abs=1e-12)
        assert found.p_first_se == 0

    @pytest.mark.parametrize(
        "value", [1.5, -0.1, math.nan, "x", None, True, [0.5, 0.5]]
    )
    def test_what_is_not_a_probability_is_named(self, value: object) -> None:
        def bad(_one: Floats, _two: Floats) -> object:
            return value

        words = (
            r"bad must return a probability in \[0, 1\], got .* for first 1\.0, 2\.0"
        )
        with pytest.raises(OptionError, match=words):
            compare([1, 2], [3, 4], method=bad, rng=1)  # type: ignore[arg-type]  # a user's mistake

    def test_what_is_no_method_is_refused(self) -> None:
        with pytest.raises(OptionError, match=r"method must be a name or a function"):
            compare([1], [2], method=3, rng=1)  # type: ignore[arg-type]  # a user's mistake

    def test_a_function_is_never_taken_for_a_method_of_its_name(self) -> None:
        def coin(one: Floats, two: Floats) -> float:
            return logistic(one, two)

        both = Ratings(list("aab"), list("xyx"), [3, 1, 2])
        assert compare([7], [6], method=coin, rng=1).p_first > 0.7
        with pytest.raises(ValueError, match=r"1 who scored both"):
            compare(both, method=coin, rng=1)
        ranks = Ratings.from_ranks(["a", "b"], list("xy"), [1, 1])
        with pytest.raises(ValueError, match=r"method 'coin\(\)' needs scores"):
            compare(ranks, method=coin, rng=1)

    def test_rules_that_break_theorem_g_are_refused_with_what_was_seen(self) -> None:
        def clean(scores: Floats) -> Floats:
            spread = np.median(np.abs(scores - np.median(scores)))
            kept: Floats = scores[np.abs(scores - np.median(scores)) <= 2 * spread]
            return kept

        def deleting(one: Floats, two: Floats) -> float:
            return float(plain_rules.mean(clean(one), clean(two)))

        first, second = [7.0, 9.0, 4.0, 6.0, 8.0], [6.0, 3.0, 5.0, 4.0, 7.0]
        words = r"deleting must not fall when a (first|second) .* \(Theorem G\)\. Scale"
        with pytest.raises(OptionError, match=words):
            compare(first, second, method=deleting, rng=1)

        def scaled(one: Floats, two: Floats) -> float:
            spread = np.concatenate([one, two]).std()
            return (
                float(plain_rules.votes(one / spread, two / spread)) if spread else 0.5
            )

        with pytest.raises(OptionError, match=r"scaled must not fall when a"):
            compare(first, second, method=scaled, rng=1)

    @settings(max_examples=5)
    @given(pairs=st.lists(st.tuples(tenths, tenths), min_size=1, max_size=4))
    def test_swapping_the_items_turns_p_first_round(
        self, pairs: list[tuple[float, float]]
    ) -> None:
        first, second = ([pair[side] for pair in pairs] for side in (0, 1))
        there = compare(first, second, method=higher_best, rng=1)
        back = compare(second, first, method=higher_best, rng=1)
        assert back.p_first == 1 - there.p_first
