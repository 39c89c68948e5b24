"""compare: data in, one decision with its probability out."""

import json
import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenhand import OptionError, Ratings, RatingsError
from evenhand.ab import law, weights
from evenhand.ab._sides import Sides, sides_from_counts, sides_from_lists
from evenhand.ab.checker import OwnRule
from evenhand.ab.comparison import Comparison, compare
from evenhand.ab.methods import Guarded, Outcome, Rule, Sign, Votes
from evenhand.claims import Label
from evenhand.engines.counts import Counts
from evenhand.method import as_method, methods

METHODS = [method.name for method in methods("compare")]
GOLDEN = Path(__file__).parents[1] / "golden" / "ab.json"
tenths = st.integers(0, 60).map(lambda number: number / 10)


def ratings_of(
    first: Sequence[float] | NDArray[np.float64],
    second: Sequence[float] | NDArray[np.float64],
    *,
    names: tuple[Label, Label] = ("x", "y"),
    pairs: Sequence[Label] | None = None,
) -> Ratings:
    total = len(first) + len(second)
    items = [names[0]] * len(first) + [names[1]] * len(second)
    return Ratings(
        list(range(total)), items, [*first, *second], pairs=pairs, all_items=names
    )


def codes(comparison: Comparison) -> list[str]:
    return [notice.code for notice in comparison.notices]


def load_golden() -> list[dict[str, object]]:
    cases: list[dict[str, object]] = json.loads(GOLDEN.read_text())["cases"]
    return cases


class TestLists:
    def test_scores_are_paired_in_the_order_given(self) -> None:
        straight = compare([7, 9, 4], [6, 3, 5], method="votes", rng=1)
        crossed = compare([7, 9, 4], [5, 6, 3], method="votes", rng=1)
        assert straight.p_first == pytest.approx(43 / 56, abs=1e-15)
        assert crossed.p_first != pytest.approx(straight.p_first, abs=1e-3)
        assert straight.parameters["pairing"] == "given"
        assert straight.p_first_se == 0

    def test_items_are_a_and_b_or_as_named(self) -> None:
        assert compare([1], [2], rng=1).items == ("A", "B")
        assert compare([1], [2], items=("new", "old"), rng=1).items == ("new", "old")
        assert compare([1], [2], items=(10, "9"), rng=1).items == (10, 9)

    def test_every_kind_of_sequence_gives_the_same_result(self) -> None:
        first, second = [7.0, 9.5, 4.0], [6.0, 3.0, 5.0]
        expected = compare(first, second, rng=3).to_dict()
        for kind in (tuple, np.array, pl.Series, lambda x: np.array(x, dtype="f4")):
            assert compare(kind(first), kind(second), rng=3).to_dict() == expected

    def test_unequal_lengths_are_paired_at_random(self) -> None:
        comparison = compare([3.0, 1.0], [2.0, 0.0, 5.0], method="votes", rng=1)
        expected = law.votes_over_pairings(
            [Fraction(3), Fraction(1)], [Fraction(2), Fraction(0), Fraction(5)]
        )
        assert comparison.p_first == pytest.approx(float(expected.probability))
        assert comparison.parameters["pairing"] == "random"
        assert codes(comparison) == ["unequal_counts"]
        assert "votes pair 2 of each" in comparison.notices[0].message
        assert comparison.votes is not None
        assert sum(comparison.votes) == 2

    def test_mean_of_unequal_counts_is_warned_about(self) -> None:
        comparison = compare([3.0], [2.0, 0.0], method="mean", rng=1)
        assert comparison.p_first == 1
        assert "can be worse than a coin" in comparison.notices[0].message

    @pytest.mark.parametrize("method", METHODS[1:])
    def test_both_items_need_a_score(self, method: str) -> None:
        for sides, empty in ((([], [1, 2]), "'A'"), (([5], []), "'B'")):
            text = f"There is no score of {empty} to compare. Both items need one."
            with pytest.raises(RatingsError, match=f"^{text}$"):
                compare(*sides, method=method, rng=1)

    def test_data_counts_scores_and_hashes_them(self) -> None:
        data = compare([7, 9], [6, 3], rng=1).data
        assert data["reviewers"] == data["ratings"] == 4
        assert data["items"] == 2
        other = compare([7, 9], [6, 4], rng=1).data
        moved = compare([7, 9, 6], [3], rng=1).data
        named = compare([7, 9], [6, 3], items=("x", "y"), rng=1).data
        hashes = {str(d["sha256"]) for d in (data, other, moved, named)}
        assert len(hashes) == 4
        assert all(len(text) == 64 for text in hashes)

    # Each example asks every method twice.
    @settings(max_examples=12)
    @given(pairs=st.lists(st.tuples(tenths, tenths), min_size=1, max_size=6))
    def test_swapping_the_lists_turns_p_first_round(
        self, pairs: list[tuple[float, float]]
    ) -> None:
        first, second = ([pair[side] for pair in pairs] for side in (0, 1))
        for method in METHODS:
            there = compare(first, second, method=method, rng=1)
            back = compare(second, first, method=method, rng=1)
            assert back.p_first == pytest.approx(1 - there.p_first, abs=1e-12)


class TestRatings:
    def test_p_first_averages_over_all_pairings(self) -> None:
        """By hand, as in the test of the law: 21/32."""
        comparison = compare(ratings_of([3, 1], [2, 0]), method="votes", rng=1)
        assert comparison.p_first == pytest.approx(21 / 32, abs=1e-15)
        assert comparison.p_first_se == 0
        assert comparison.parameters["pairing"] == "random"
        assert comparison.notices == ()

    def test_pairings_that_are_drawn_vary_with_the_seed(self) -> None:
        ratings = ratings_of([100, 300], [0, 200])
        found = {compare(ratings, method="sign", rng=seed).votes for seed in range(20)}
        assert found == {(2, 0), (1, 1)}

    def test_the_drawn_pairing_depends_on_the_counts_alone(self) -> None:
        """Lists in any order, ratings and counts: one pairing, one answer."""
        first, second = [4.0, 5.0, 5.0, 2.0, 4.0], [5.0, 1.0, 4.0, 4.0]
        items, scores = ["A"] * 5 + ["B"] * 4, [*first, *second]
        counts = sides_from_counts(Counts(items, scores, [1] * 9))
        both: tuple[Rule, ...] = Sign(), Votes()
        for method in both:
            for seed in range(10):
                drawn = compare(first, second, method=method, rng=seed)
                for other in (
                    compare(first[::-1], sorted(second), method=method, rng=seed),
                    compare(ratings_of(first, second), method=method, rng=seed),
                ):
                    assert (other.votes, other.p_first) == (drawn.votes, drawn.p_first)
                counted = method.run(counts, seed)
                assert counted.votes == drawn.votes
                assert counted.law.probability == drawn.p_first

    def test_row_order_does_not_matter(self) -> None:
        rng = np.random.default_rng(1)
        reviewers = [f"r{i}" for i in range(12)]
        items, scores = ["p", "q"] * 6, rng.random(12).tolist()
        expected = compare(Ratings(reviewers, items, scores), rng=5).to_dict()
        for seed in range(5):
            order = np.random.default_rng(seed).permutation(12)
            shuffled = Ratings(
                *([c[i] for i in order] for c in (reviewers, items, scores))
            )
            assert compare(shuffled, rng=5).to_dict() == expected

    @settings(max_examples=15)
    @given(
        first=st.lists(tenths, min_size=1, max_size=6),
        second=st.lists(tenths, min_size=1, max_size=6),
    )
    def test_swapping_the_items_turns_p_first_round(
        self, first: list[float], second: list[float]
    ) -> None:
        ratings = ratings_of(first, second)
        for method in METHODS:
            there = compare(ratings, method=method, items=("x", "y"), rng=1)
            back = compare(ratings, method=method, items=("y", "x"), rng=1)
            assert back.p_first == pytest.approx(1 - there.p_first, abs=1e-12)

    def test_relabelling_does_not_change_p_first(self) -> None:
        first, second = [3.5, 1.0, 2.0], [2.5, 4.0, 0.5]
        plain = compare(ratings_of(first, second), rng=1)
        turned = compare(ratings_of(first, second, names=("z", "a")), rng=1)
        assert turned.items == ("a", "z")
        assert turned.p_first == 1 - plain.p_first

    def test_two_of_more_items_are_chosen_by_label(self) -> None:
        ratings = Ratings([1, 2, 3], [7, 8, 9], [1.0, 5.0, 3.0])
        comparison = compare(ratings, items=("9", 8), method="mean", rng=1)
        assert comparison.items == (9, 8)
        assert comparison.winner == 8

    def test_a_test_on_pairs_is_refused_where_none_were_drawn(self) -> None:
        with pytest.raises(OptionError, match="must come with design 'matched'"):
            compare([7, 9, 4], [5, 6, 3], test="pairs", design="halves", rng=1)

    def test_pairs_that_are_named_are_kept(self) -> None:
        ratings = ratings_of([7, 9, 4], [5, 6, 3], pairs=["a", "b", "c", "c", "a", "b"])
        comparison = compare(ratings, method="votes", rng=1)
        assert comparison.parameters["pairing"] == "pairs"
        assert comparison.p_first == pytest.approx(43 / 56, abs=1e-15)
        assert comparison.p_first_se == 0

    def test_pairs_of_other_items_do_not_matter(self) -> None:
        ratings = Ratings(
            [1, 2, 3, 4], ["x", "y", "z", "z"], [3, 2, 9, 9], pairs=["a", "a", "b", "b"]
        )
        comparison = compare(ratings, items=("x", "y"), method="votes", rng=1)
        assert comparison.p_first == 0.75

    def test_a_rule_without_pairs_does_not_mind_the_pair_column(self) -> None:
        ratings = ratings_of([7, 9, 4], [5], pairs=["a", "b", "c", "c"])
        comparison = compare(ratings, method="mean", rng=1)
        assert comparison.p_first == 1
        assert "pairing" not in comparison.parameters

    @pytest.mark.parametrize(
        ("pairs", "words"),
        [
            (["a", "b", "a", "a"], r"pair 'a' must hold .* got 1 and 2\. Correct the"),
            (["a", "a", "b", "b"], r"pair 'a' must hold .* got 2 and 0"),
            (["a", "c", "a", "b"], r"pair 'b' must hold .* got 0 and 1"),
        ],
    )
    def test_pairs_must_hold_one_rating_of_each_item(
        self, pairs: list[Label], words: str
    ) -> None:
        with pytest.raises(RatingsError, match=words):
            compare(ratings_of([7, 9], [5, 6], pairs=pairs), rng=1)

    def test_an_item_without_scores_is_not_compared(self) -> None:
        with pytest.raises(RatingsError, match="no score of 'y' to compare"):
            compare(ratings_of([1, 2], []), rng=1)

    def test_notices_of_the_ratings_come_along(self) -> None:
        frame = pl.DataFrame(
            {"reviewer": [1, 2, 3], "item": ["x", "y", "y"], "score": [1, 2, None]}
        )
        comparison = compare(Ratings.from_frame(frame), rng=1)
        assert codes(comparison) == ["missing_scores"]

    def test_many_scores_are_averaged_over_sampled_pairings(self) -> None:
        rng = np.random.default_rng(1)
        ratings = ratings_of(rng.random(60).tolist(), rng.random(60).tolist())
        comparison = compare(ratings, method="votes", rng=1)
        assert 0 < comparison.p_first_se < 0.01
        assert codes(comparison) == ["sampled_pairings"]
        assert "from 4000 sampled pairings" in comparison.notices[0].message
        assert f"with probability about {comparison.p_first:.3g}." in repr(comparison)
        back = compare(ratings, items=("y", "x"), method="votes", rng=1)
        assert back.p_first == 1 - comparison.p_first


class TestReviewersOfBoth:
    MIXED = Ratings(list("aabbcd"), list("xyxyxy"), [5, 3, 4, 2, 1, 9])

    def test_they_are_an_error_unless_something_is_said(self) -> None:
        words = r"2 who scored both: 'a', 'b'\. Use both='drop'"
        with pytest.raises(RatingsError, match=words):
            compare(self.MIXED, rng=1)

    def test_drop_leaves_them_out(self) -> None:
        comparison = compare(self.MIXED, both="drop", method="mean", rng=1)
        assert comparison.winner == "y"
        assert codes(comparison) == ["both_dropped"]
        assert comparison.parameters["both"] == "drop"

    def test_decide_follows_them_if_they_agree(self) -> None:
        comparison = compare(self.MIXED, both="decide", rng=1)
        assert (comparison.winner, comparison.p_first) == ("x", 1.0)
        assert comparison.votes is None
        assert comparison.decided_by == "reviewers of both"
        assert codes(comparison) == ["both_decided"]
        assert "2 reviewers scored both items and put 'x' above 'y'" in (
            comparison.notices[0].message
        )
        assert "pairing" not in comparison.parameters
        turned = compare(self.MIXED, both="decide", items=("y", "x"), rng=1)
        assert (turned.winner, turned.p_first) == ("x", 0.0)

    def test_decide_refuses_when_they_do_not_agree(self) -> None:
        split = Ratings(list("aabb"), list("xyxy"), [5, 3, 1, 2])
        words = r"got 1 for 'x', 1 for 'y' and 0 ties\. Use both='drop'"
        with pytest.raises(RatingsError, match=words):
            compare(split, both="decide", rng=1)
        tied = Ratings(list("aabb"), list("xyxy"), [5, 3, 2, 2])
        with pytest.raises(RatingsError, match=r"got 1 for 'x', 0 for 'y' and 1 ties"):
            compare(tied, both="decide", rng=1)
        tied = Ratings(list("aabb"), list("xyxy"), [3, 5, 2, 2])
        with pytest.raises(RatingsError, match=r"got 0 for 'x', 1 for 'y' and 1 ties"):
            compare(tied, both="decide", rng=1)

    def test_decide_has_no_effect_where_nobody_scored_both(self) -> None:
        ratings = ratings_of([3, 1], [2, 0])
        comparison = compare(ratings, both="decide", rng=1)
        assert comparison.p_first == compare(ratings, rng=1).p_first

    def test_drop_refuses_to_leave_nothing(self) -> None:
        ratings = Ratings(list("aabb"), list("xyxy"), [5, 3, 4, 2])
        with pytest.raises(RatingsError, match=r"no score of 'x' .* left out: 'a'"):
            compare(ratings, both="drop", rng=1)

    def test_a_coin_does_not_look_at_the_reviewers(self) -> None:
        assert compare(self.MIXED, method="coin", rng=1).p_first == 0.5


class TestRanksAndComparisons:
    RANKS = Ratings.from_ranks(["a", "a", "b", "b"], list("xyxy"), [1, 2, 1, 2])
    DUELS = Ratings.from_comparisons(["y", "y"], ["x", "x"])

    @pytest.mark.parametrize("method", METHODS[1:])
    def test_rules_on_scores_refuse_them_in_words(self, method: str) -> None:
        words = rf"method '{method}' needs scores, but the data holds only ranks"
        with pytest.raises(RatingsError, match=words):
            compare(self.RANKS, method=method, rng=1)
        with pytest.raises(RatingsError, match=r"data holds only comparisons"):
            compare(self.DUELS, method=method, both="drop", rng=1)

    def test_a_coin_works(self) -> None:
        assert compare(self.RANKS, method="coin", rng=1).p_first == 0.5
        assert compare(self.DUELS, method="coin", rng=1).p_first == 0.5

    def test_reviewers_who_agree_can_decide(self) -> None:
        assert compare(self.RANKS, both="decide", rng=1).winner == "x"
        assert compare(self.DUELS, both="decide", rng=1).winner == "y"


class TestResult:
    def test_json_has_the_documented_fields_in_order(self) -> None:
        comparison = compare(
            [3, 1],
            [2, 0],
            method="votes(weight=rational(2))",
            design="halves",
            rng=9,
        )
        result = comparison.to_dict()
        assert list(result) == [
            "schema",
            "items",
            "winner",
            "p_first",
            "p_first_se",
            "decided_by",
            "votes",
            "scores",
            "difference",
            "p_value",
            "p_value_first",
            "p_value_second",
            "test",
            "method",
            "parameters",
            "seed",
            "certificate",
            "data",
            "warnings",
            "version",
        ]
        assert result["schema"] == "evenhand.compare/1"
        assert result["parameters"] == {
            "weight": {
                "name": "rational",
                "parameters": {"gamma": 2},
                "checked_on_grid": False,
            },
            "pairing": "given",
            "design": "halves",
        }
        assert json.loads(json.dumps(result)) == result

    @pytest.mark.parametrize(
        ("method", "options"),
        [
            ("median", {"median": "upper"}),
            ("trimmed", {"trim": 0.2}),
            ("mean", {}),
            ("coin", {}),
            ("sign", {"pairing": "given"}),
        ],
    )
    def test_parameters_are_those_that_were_used(
        self, method: str, options: dict[str, object]
    ) -> None:
        comparison = compare([3, 1], [2, 0], method=method, rng=9)
        assert comparison.parameters == {**options, "design": None}

    def test_votes_are_counted_where_they_decide_only(self) -> None:
        for method in METHODS:
            comparison = compare([3, 1, 4], [2, 0, 4], method=method, rng=9)
            counted = comparison.votes is not None
            assert counted == (method in ("votes", "sign"))
        assert compare([3, 1, 4], [2, 0, 4], method="sign", rng=9).votes == (2, 0)

    def test_frame_is_one_row(self) -> None:
        frame = compare([3, 1], [2, 0], method="sign", rng=2**80).to_frame()
        assert frame.rows(named=True) == [
            {
                "first": "A",
                "second": "B",
                "winner": "A",
                "p_first": 1.0,
                "p_first_se": 0.0,
                "decided_by": "pairwise wins",
                "votes_first": 2,
                "votes_second": 0,
                "n_first": 2,
                "n_second": 2,
                "mean_first": 2.0,
                "mean_second": 1.0,
                "shares_first": [0.0, 0.5, 0.0, 0.5],
                "shares_second": [0.5, 0.0, 0.5, 0.0],
                "levels": [0.0, 1.0, 2.0, 3.0],
                "difference": 1.0,
                "difference_low": None,
                "difference_high": None,
                "p_value": 2 / 3,
                "p_value_first": 1 / 3,
                "p_value_second": 5 / 6,
                "method": "sign",
                "seed": str(2**80),
            }
        ]
        without = compare([3], [2], method="mean", rng=1).to_frame()
        assert without.schema == frame.schema

    def test_print_says_what_the_probability_is_not(self) -> None:
        text = repr(compare([3, 1], [2, 0], method="sign", rng=7))
        assert text.splitlines() == [
            "A comes out ahead of B, by 2 votes to 0; mean 2 (n 2) against 1 (n 2).",
            "Difference 1.00, p = 0.667 (midrank test). It assumes random assignment "
            "(declare it with --design) and that nobody's decision to answer depended "
            "on the item they got.",
            "score    0    1    2    3",
            "A       0%  50%   0%  50%",
            "B      50%   0%  50%   0%",
            "method sign, seed 7",
        ]
        assert "confiden" not in text
        guarded = repr(compare([3, 1], [2, 0], rng=7))
        assert "That is not the probability that it is better." in guarded
        tie = repr(compare([3, 0], [2, 1], method="sign", rng=7))
        assert "by 1 vote to 1 and a fair coin;" in tie
        behind = repr(compare([3, 0, 0], [2, 1, 1], method="sign", rng=7))
        assert behind.startswith("B comes out ahead of A, by 2 votes to 1;")
        # Of the item that came out, whichever of the two it is.
        for sides in (([3, 1], [2, 0]), ([2, 0], [3, 1])):
            found = compare(*sides, method="votes", rng=1)
            chance = {"A": found.p_first, "B": 1 - found.p_first}[str(found.winner)]
            said = f"it picks {found.winner} with probability {chance:.3g}."
            assert said in repr(found)
        many = compare([2] * 3000, [1] * 3000, method="sign", rng=1)
        assert "by 3,000 votes to 0;" in repr(many)
        noticed = repr(compare([3], [2, 1], method="mean", rng=7))
        assert noticed.endswith("method mean, seed 7; notices: unequal_counts")

    def test_html_is_escaped(self) -> None:
        comparison = compare([3], [2], items=("<b>", "&"), method="mean", rng=7)
        page = comparison._repr_html_()
        assert "&lt;b&gt;" in page
        assert "<b>" not in page
        assert "&amp;" in page

    def test_no_seed_draws_one_that_repeats_the_result(self) -> None:
        comparison = compare([3, 1], [2, 0])
        again = compare([3, 1], [2, 0], rng=comparison.seed)
        assert again.to_dict() == comparison.to_dict()

    @pytest.mark.parametrize("case", load_golden(), ids=lambda case: str(case["name"]))
    def test_golden_results(self, case: dict[str, object]) -> None:
        # The cases were written when the paper's rule was the default, and when options
        # were not the method's.
        options: dict[str, Any] = {"method": "votes", **case["options"]}  # type: ignore[dict-item]  # a JSON object
        for name in ("weight", "median"):
            if name in options:
                kind, _, value = options.pop(name).partition(":")
                text = f"{kind}({value})" if value else kind
                options["method"] += f"({name}={text})"
        result = compare(case["first"], case["second"], **options).to_dict()  # type: ignore[arg-type]  # from JSON
        expected: dict[str, object] = dict(case["result"])  # type: ignore[call-overload]  # a JSON object
        p_first = expected.pop("p_first")
        assert result["p_first"] == pytest.approx(p_first, abs=1e-9)
        assert {key: result[key] for key in expected} == expected


def drawn(
    method: str | OwnRule,
    sides: Sides,
    *data: Any,  # noqa: ANN401 - of many kinds
) -> list[Outcome]:
    """Outcomes of a rule from 600 seeds, which must win as often as they say.

    The first of them must be what compare makes of the data; its p-values, which no
    seed changes, would be most of the work.
    """
    rule = as_method(method, Rule)
    found = [rule.run(sides, seed) for seed in range(600)]
    for seed, outcome in enumerate(found[:20]):
        comparison = compare(*data, method=method, rng=seed)
        assert comparison.winner == comparison.items[0 if outcome.first_wins else 1]
        assert comparison.p_first == outcome.law.probability
        assert comparison.votes == outcome.votes
    p = found[0].law.probability
    assert 0.05 < p < 0.95
    wins = sum(outcome.first_wins for outcome in found)
    # Five standard errors: a correct build fails for one seed in 1.7 million.
    assert abs(wins / len(found) - p) < 5 * math.sqrt(p * (1 - p) / len(found))
    return found


def counted(first: list[float], second: list[float]) -> Sides:
    """Scores that are paired at random."""
    items = ["x"] * len(first) + ["y"] * len(second)
    return sides_from_counts(Counts(items, [*first, *second], [1] * len(items)))


class TestFrequencies:
    def test_votes_on_a_random_pairing_win_as_often_as_p_first_says(self) -> None:
        scores = [3.0, 1.0, 0.2, 2.0], [2.0, 0.0, 1.5]
        drawn("votes", counted(*scores), ratings_of(*scores))

    def test_sign_on_a_random_pairing_wins_as_often_as_p_first_says(self) -> None:
        scores = [3.0, 1.0, 2.0], [2.0, 0.0, 2.5, 4.0]
        drawn("sign", counted(*scores), ratings_of(*scores))

    def test_votes_on_given_pairs_win_as_often_as_p_first_says(self) -> None:
        scores = [7, 9], [6, 9.5]
        found = drawn("votes", sides_from_lists(*scores, None), *scores)
        assert {outcome.votes for outcome in found} == {(2, 0), (1, 1), (0, 2)}

    @pytest.mark.parametrize("method", ["coin", "mean"])
    def test_ties_are_broken_by_a_fair_coin(self, method: str) -> None:
        scores = [1, 2], [2, 1]
        found = drawn(method, sides_from_lists(*scores, None), *scores)
        assert found[0].law.probability == 0.5


class TestCoins:
    """Uniform draws lie in [0, 1): 0 is possible, 1 is not."""

    def draw(self, patch: pytest.MonkeyPatch, value: float) -> None:
        def fixed(_: object, size: int) -> NDArray[np.float64]:
            return np.full(size, value)

        for module in ("methods", "law"):
            patch.setattr(f"evenhand.ab.{module}.uniforms", fixed)

    def test_what_has_no_chance_is_never_output(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.draw(monkeypatch, 0.0)
        assert compare([-1e308, 1], [1e308, 2], method="votes").votes == (1, 1)
        assert compare([1], [2], method="mean").winner == "B"

    @pytest.mark.parametrize("method", ["sign", "mean", "coin"])
    def test_half_of_the_draws_are_for_each_item(
        self, method: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.draw(monkeypatch, 0.5)
        assert compare([1], [1], method=method).winner == "B"
        self.draw(monkeypatch, np.nextafter(0.5, 0))
        assert compare([1], [1], method=method).winner == "A"


class TestRefusals:
    @pytest.mark.parametrize(
        ("first", "second", "words"),
        [
            ([1, math.inf], [1, 2], r"first score must be finite, got inf at index 1"),
            ([1, 2], ["B", 2], r"second score must be a number, got 'B' at index 0"),
            ([1, 2], 3, r"second scores must be a sequence, got 3"),
            ([1], None, r"second must be given when first is a list of scores"),
            (np.ones((1, 2)), [1, 2], r"first score must be a number, got"),
            ([], [], r"There is no score of 'A' or 'B'"),
            ([1, True], [1, 2], r"first score must be a number, got True at index 1"),
        ],
    )
    def test_bad_scores_are_named(
        self, first: list[float], second: list[float], words: str
    ) -> None:
        with pytest.raises(RatingsError, match=words):
            compare(first, second, rng=1)

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"method": "vote"}, r"unknown method 'vote', did you mean 'votes'\?"),
            ({"design": "half"}, r"unknown design 'half', did you mean 'halves'\?"),
            (
                {"method": "mean(weight=rational)"},
                "unknown option 'weight' of mean",
            ),
            (
                {"method": "guarded(median=upper)"},
                r"unknown option 'median' of guarded",
            ),
            (
                {"method": "votes(trim=0.1)"},
                r"unknown option 'trim' of votes\. Known options: 'weight'\.",
            ),
            ({"method": "coin(trim=0.1)"}, "unknown option 'trim' of coin"),
            ({"method": "median(mid)"}, r"median must be one of 'upper', .* got 'mid'"),
            ({"method": "trimmed(trim=0.5)"}, r"trim must be at least 0 and below"),
            (
                {"method": "guarded(weight=linear(0.5))"},
                r"within the range 0\.5 .* got 1\.0",
            ),
            (
                {"both": "drop"},
                r"both must be left out without a Ratings: counts and",
            ),
            ({"both": "keep"}, r"both must be one of 'drop', 'decide', got 'keep'"),
            ({"items": ("A",)}, r"items must be two labels, got \('A',\)"),
            ({"items": "AB"}, r"items must be two labels, got 'AB'"),
            ({"items": ("A", " A")}, r"items must be two different labels"),
            ({"rng": -1}, r"rng must be a Generator"),
        ],
    )
    def test_bad_options_are_named(
        self, options: dict[str, object], words: str
    ) -> None:
        with pytest.raises(OptionError, match=words):
            compare([1, 2], [2, 3], **options)  # type: ignore[arg-type]  # a user's mistake

    def test_items_of_ratings(self) -> None:
        three = Ratings([1, 2, 3], ["x", "y", "z"], [1, 2, 3])
        assert compare(three, rng=1).items == ("x", "y", "z")
        with pytest.raises(RatingsError, match=r"unknown item 'w'"):
            compare(three, items=("x", "w"), rng=1)
        with pytest.raises(OptionError, match=r"two different items, got \('x', 'x'\)"):
            compare(three, items=("x", "x"), rng=1)
        single = Ratings([1, 2], ["x", "x"], [1, 2])
        with pytest.raises(RatingsError, match=r"got 1: 'x'\. There is nothing"):
            compare(single, rng=1)
        with pytest.raises(RatingsError, match=r"second must be left out unless"):
            compare(three, [1, 2], rng=1)
        unrated = Ratings([1, 2], ["x", "y"], [1, 2], all_items=["v", "w", "x", "y"])
        with pytest.raises(RatingsError, match=r"There is no score of 'v' or 'w'"):
            compare(unrated, items=("v", "w"), rng=1)

    def test_a_custom_weight_is_recorded_as_checked_on_a_grid(self) -> None:
        own: Any = math.tanh
        comparison = compare([1, 2], [2, 3], method=Guarded(weight=own), rng=1)
        assert comparison.parameters["weight"] == {
            "name": "tanh",
            "parameters": {},
            "checked_on_grid": True,
        }
        read = Guarded(weight=weights.as_weight(math.tanh))
        same = compare([1, 2], [2, 3], method=read, rng=1)
        assert same.p_first == comparison.p_first


class TestStatisticOfThePValues:
    """Midranks, a fixed statistic, unless the user chose another."""

    @pytest.mark.parametrize(
        ("options", "tested"),
        [
            ({}, "midrank"),
            ({"method": "trimmed"}, "midrank"),
            ({"method": "votes"}, "midrank"),
            ({"method": "guarded(statistic=mean)"}, "mean"),
            ({"method": "median"}, "median"),
            ({"test": "trimmed"}, "trimmed"),
            ({"design": "matched"}, "midrank"),
            ({"method": "votes", "design": "matched"}, "pairs"),
        ],
    )
    def test_what_is_tested_by_default_is_midranks_but_a_choice_stays(
        self, options: dict[str, Any], tested: str
    ) -> None:
        found = compare([5, 4, 4, 3], [3, 2, 4, 1], rng=1, **options).test
        assert found is not None
        assert found.statistic == tested


def test_integers_that_floats_cannot_hold_are_refused() -> None:
    with pytest.raises(RatingsError, match="9007199254740993"):
        compare([2**53 + 1, 1], [2, 3], rng=7)
    with pytest.raises(RatingsError, match="got 9007199254740992"):
        Counts(["x", "y"], [1.0, 1.0], [2**53, 1])
