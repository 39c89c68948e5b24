"""Several items: the choice within every pair, Holm, and the test that all are alike.

The guarantee is gone through on Fractions; the family-wise error is exact on small
cases, and measured on larger ones.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import evenhand as eh
from evenhand.ab.arms import Arms, any_difference, choose, holm
from evenhand.ab.law import count_scores
from evenhand.ab.methods import Coin, Guarded, HigherMean, Rule
from evenhand.errors import EvenhandError
from tests.commands import run

if TYPE_CHECKING:
    from pathlib import Path

COINS: Any = {"item": "variant", "score": "stars", "design": "coins", "rng": 7}


def arms_frame(size: int = 160, lift: float = 1.6) -> pl.DataFrame:
    rng = np.random.default_rng(36)
    of = rng.integers(4, size=size)
    stars = np.clip(np.round(3 + rng.normal(size=size) + lift * (of == 2)), 1, 5)
    names = pl.Series([*"ABCD"]).gather(of)
    who = [f"v{number}" for number in range(size)]
    columns = {"who": who, "variant": names, "stars": stars, "time": np.arange(size)}
    return pl.DataFrame(columns)


def arms_of(*scores: list[float]) -> Arms:
    tables = tuple(count_scores(np.array(side, float)) for side in scores)
    return Arms((*"ABCDEF"[: len(scores)],), tables, {}, (), None, len(scores))


# Scales of three reviewers: what each would give to items worth 1, 2 and 3.
SCALES = [(1, 2, 3), (5, 5, 6), (9, 11, 30), (0, 4, 5), (2, 2, 2)]


@pytest.mark.parametrize("rule", [HigherMean(), Guarded(), Coin()])
def test_the_better_of_any_two_is_chosen_at_least_as_often(rule: Rule) -> None:
    for scales in itertools.combinations_with_replacement(SCALES, 3):
        chosen = [Fraction()] * 3
        for held in itertools.permutations(range(3)):
            scores: list[list[float]] = [[], [], []]
            for item, scale in zip(held, scales, strict=True):
                scores[item].append(scale[item])
            parts = rule.arm_parts(arms_of(*scores).tables, 1)
            for part in parts:
                share = Fraction(part.share).limit_denominator(100)
                for item, chance in enumerate(part.chances.tolist()):
                    chosen[item] += share * Fraction(chance).limit_denominator(10**6)
        assert chosen[0] <= chosen[1] <= chosen[2], (rule, scales)
        differ = any(scale[0] < scale[2] for scale in scales)
        if isinstance(rule, Guarded) and differ:
            assert chosen[0] < chosen[2], scales


def test_the_order_by_means_is_right_once_in_six_at_least() -> None:
    for scales in itertools.product([(1, 2, 3), (5, 5, 6), (100, 101, 102)], repeat=3):
        right = Fraction()
        for held in itertools.permutations(range(3)):
            scores = {
                item: scale[item] for item, scale in zip(held, scales, strict=True)
            }
            groups = [scores[item] for item in range(3)]
            # Ties are broken at random.
            ties = math.prod(math.factorial(groups.count(s)) for s in {*groups})
            right += Fraction(groups == sorted(groups), ties)
        assert right / 6 >= Fraction(1, 6), scales


def test_a_choice_is_drawn_with_its_chances() -> None:
    # Of 400 seeds, five standard errors: fails for one build in 1.7 million.
    arms = arms_of([3, 4], [3, 5], [1, 2])
    choice = choose(Guarded(eps=Fraction(1, 2)), arms, 0)
    assert sum(choice.chances) == pytest.approx(1)
    places = [
        choose(Guarded(eps=Fraction(1, 2)), arms, seed).place for seed in range(400)
    ]
    for item, chance in enumerate(choice.chances):
        error = 5 * math.sqrt(chance * (1 - chance) / 400)
        assert abs(places.count(item) / 400 - chance) <= error


def test_holm_is_stepwise() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == [0.03, 0.06, 0.06, 0.02]
    assert holm([0.9, 0.8]) == [1.0, 1.0]


@pytest.mark.parametrize("design", ["coins", None])
def test_all_alike_is_rejected_no_more_often_than_it_says_exactly(
    design: str | None,
) -> None:
    # Every assignment of seven reviewers with these scores to three equal items.
    scores = [1.0, 2, 2, 3, 5, 5, 5]
    found = []
    for places in itertools.product(range(3), repeat=7):
        sides = [
            [s for s, at in zip(scores, places, strict=True) if at == arm]
            for arm in range(3)
        ]
        if not all(sides) or (design is None and sorted(map(len, sides)) != [2, 2, 3]):
            continue
        test = any_difference(arms_of(*sides), design, 1)
        assert test.exact
        found.append(test.p_value)
    total = 3**7 if design else len(found)
    for level in {*found}:
        assert sum(p <= level for p in found) <= level * total + 1e-9


def test_a_sampled_test_agrees_with_the_exact_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arms = arms_of([1, 2, 5], [2, 3, 4], [4, 5, 5])
    for design in ("coins", None):
        monkeypatch.setattr("evenhand.ab.arms.MOST_WAYS", 300_000)
        exact = any_difference(arms, design, 1).p_value
        monkeypatch.setattr("evenhand.ab.arms.MOST_WAYS", 1)
        sampled = any_difference(arms, design, 1)
        assert not sampled.exact
        assert abs(sampled.p_value - exact) < 5 * sampled.se + 1e-4


def test_family_wise_error_of_pairs_is_at_most_the_level_exactly() -> None:
    # Every split of six reviewers among three equal items, two each, ties included.
    scores, least = [1.0, 2, 2, 4, 5, 9], []
    for places in {*itertools.permutations([0, 0, 1, 1, 2, 2])}:
        frame = pl.DataFrame({"variant": places, "stars": scores})
        more: Any = {"method": "mean", "test": "midrank", "design": "halves"}
        result = eh.compare(frame, **{**COINS, **more})
        least.append(min(pair.p_adjusted for pair in result.pairs))
    assert len(least) == 90
    for level in {*least}:
        assert sum(p <= level for p in least) <= level * 90 + 1e-9


def test_pairs_are_those_of_two_items() -> None:
    frame = arms_frame()
    result = eh.compare(frame, **COINS, reviewer="who")
    assert result.winner == "C"
    assert result.items == ("A", "B", "C", "D")
    assert sum(result.chances) == pytest.approx(1)
    assert result.p_first == result.chances[0]
    assert len(result.pairs) == 6
    for pair in result.pairs:
        items = (pair.first, pair.second)
        alone = eh.compare(frame, **COINS, reviewer="who", items=items)
        assert alone.difference is not None
        assert (pair.p_value, pair.difference) == (alone.p_value, alone.difference[0])
        assert (pair.low, pair.high) == alone.difference[1:3]
        assert "C" not in items or pair.better == "C"
        assert pair.p_value <= pair.p_adjusted


def test_a_control_is_compared_with_each_other_arm() -> None:
    result = eh.compare(arms_frame(), **COINS, reviewer="who", control="A")
    assert [(pair.first, pair.second) for pair in result.pairs] == [
        ("B", "A"),
        ("C", "A"),
        ("D", "A"),
    ]
    whole = eh.compare(arms_frame(), **COINS, reviewer="who")
    adjusted = {pair.first: pair.p_adjusted for pair in result.pairs}
    assert adjusted["C"] <= whole.pairs[1].p_adjusted


def test_e_values_of_pairs_are_those_of_two_items() -> None:
    watched: Any = {"sequential": True, "order": "time", "reviewer": "who", **COINS}
    frame = arms_frame()
    result = eh.compare(frame, **watched)
    p_values = []
    for pair in result.pairs:
        alone = eh.compare(frame, **watched, items=(pair.first, pair.second))
        assert alone.sequential is not None
        assert pair.e_value == alone.sequential.e_value
        p_values += [alone.sequential.p_first, alone.sequential.p_second]
    adjusted = holm(p_values)
    for place, pair in enumerate(result.pairs):
        sides = adjusted[2 * place : 2 * place + 2]
        assert pair.p_watched == min(sides)
        better = (pair.first, pair.second)[sides.index(min(sides))]
        assert pair.settled == (better if min(sides) <= 0.05 else None)
    assert "C" in {pair.settled for pair in result.pairs}


def test_counts_of_several_arms_decide_as_ratings() -> None:
    frame = arms_frame()
    counts = frame.group_by("variant", "stars").len("count")
    one = eh.compare(frame.drop("who", "time"), **COINS)
    two = eh.compare(counts, **COINS)
    assert (one.pairs, one.chances, one.p_value) == (
        two.pairs,
        two.chances,
        two.p_value,
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "votes"}, "compares two items. For several use guarded"),
        ({"method": "guarded(statistic=sign)"}, "compares two items"),
        ({"design": "matched"}, "design must be halves or coins for several items"),
        ({"control": "X"}, "control must be one of 'A', 'B', 'C', 'D'"),
        ({"items": ("A", "B", "A")}, "items must be different"),
        ({"items": ("A", "B", "E")}, "unknown item 'E'"),
        ({"items": ("A", "B"), "control": "A"}, "control must be left out for two"),
        ({"both": "decide"}, "both='decide' is for two items"),
        ({"test": "pairs"}, "test 'pairs' is for two items"),
        ({"sequential": True}, "Name its column with order= or --order"),
    ],
)
def test_what_several_arms_do_not_take(options: dict[str, Any], message: str) -> None:
    with pytest.raises(EvenhandError, match=message):
        eh.compare(arms_frame(), **{**COINS, "reviewer": "who", **options})


def test_reviewers_of_several_arms_are_left_out_if_asked() -> None:
    frame = arms_frame()
    again = frame.head(1).with_columns(variant=pl.lit("D"))
    again = (
        again if frame["variant"][0] != "D" else again.with_columns(variant=pl.lit("A"))
    )
    double = pl.concat([frame, again])
    with pytest.raises(EvenhandError, match="who scored several: 'v0'"):
        eh.compare(double, **COINS, reviewer="who")
    result = eh.compare(double, **COINS, reviewer="who", both="drop")
    assert result.pairs == eh.compare(frame[1:], **COINS, reviewer="who").pairs
    assert "both_dropped" in {notice.code for notice in result.notices}


def test_lopsided_arms_contradict_coins() -> None:
    frame = arms_frame()
    few = frame.filter((pl.col("variant") != "B") | (pl.col("time") < 30))
    result = eh.compare(few, **COINS, reviewer="who")
    assert result.certificate is not None
    assert result.certificate.theorem == "none"
    assert "counts_contradict_design" in {notice.code for notice in result.notices}
    assert min(pair.p_adjusted for pair in result.pairs) < 0.05
    assert {pair.better for pair in result.pairs} == {None}
    assert "is better than" not in repr(result)


def test_the_terminal_the_report_and_the_audit_of_several_arms(tmp_path: Path) -> None:
    table, record, page = (
        str(tmp_path / name) for name in ("a.csv", "r.json", "p.html")
    )
    arms_frame().write_csv(table)
    columns = ("--reviewer", "who", "--item", "variant", "--score", "stars")
    watched = ("--sequential", "--order", "time", "--design", "coins", "--seed", "1")
    files = ("--record", record, "--report", page)
    done = run("compare", table, *columns, *watched, *files)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("C comes out ahead of ")
    assert "C is better than" in done.stdout
    assert "Settled at 5%, however often you looked" in done.stdout
    audit = run("audit", record, table, *columns, "--order", "time")
    assert audit.exit_code == 0, audit.output
    html = (tmp_path / "p.html").read_text("utf-8")
    assert html.count('class="strip ') == 6
    result = eh.compare(table, **COINS, reviewer="who")
    assert result.to_frame().height == 6
    assert "C comes out ahead" in repr(result)
    assert "comes out ahead of" in result._repr_html_()
    assert result.to_dict()["pairs"][0]["first"] == "A"  # type: ignore[index,call-overload]


def test_rank_points_to_compare_where_each_reviewer_rated_one_item() -> None:
    ranking = eh.rank(
        arms_frame(), reviewer="who", item="variant", score="stars", rng=1
    )
    codes = {notice.code for notice in ranking.notices}
    assert "one_item_each" in codes
    assert not codes & {"unlinked_groups", "one_rating_reviewers", "separate_groups"}


def test_adjusted_p_values_are_never_rounded_to_nothing() -> None:
    assert holm([1e-30, 0.5]) == [2e-30, 0.5]
