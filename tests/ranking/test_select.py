"""Selections: chances by a rule, exact draws, and what they must keep to."""

import itertools
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from evenhand import Ratings, select
from evenhand.errors import EvenhandError, OptionError
from evenhand.ranking.lineup import cost_range, draw_items, number_blocks
from evenhand.ranking.lotteries import Field, Quota
from evenhand.ranking.selection import Selection, possible_sets

RARE = 1e-6
RULES = ("maximin", "cut", "smooth", "shares", "top")
CHANCES = [Fraction(1, 2), Fraction(1, 3), Fraction(2, 3), Fraction(1, 2), Fraction(1)]
ZEROS = np.zeros(5)
EVEN = Field(ZEROS, ZEROS, ZEROS, ZEROS, 3)
COSTS = {f"i{item}": 1 for item in range(9)}
INTERVALS = pl.DataFrame(
    {"item": list("pqrst"), "low": [4, 2, 1, 0, -3], "high": [6, 5, 4, 3, -1]}
)


def panel(items: int = 9, reviewers: int = 12) -> Ratings:
    """Return ratings of five items by each reviewer, with values 0, 1, 2, ..."""
    rng = np.random.default_rng(3)
    rows = [
        (f"r{who}", f"i{item}", round(item + rng.normal(who % 3, 1.5)))
        for who in range(reviewers)
        for item in rng.permutation(items)[:5]
    ]
    return Ratings(*(list(column) for column in zip(*rows, strict=True)))


def orders() -> Ratings:
    reviewers, items = list("aaabbbcc"), list("xyzwvzux")
    return Ratings(reviewers, items, [3, 2, 1, 5, 4, 1, 9, 8])


SOURCES: dict[str, dict[str, Any]] = {
    "model": {"ratings": panel()},
    "file": {"intervals": INTERVALS},
    "comparisons": {"ratings": orders(), "noise_free": True},
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("rule", RULES)
def test_chances_add_up_and_groups_follow_them(source: str, rule: str) -> None:
    chosen = select(**SOURCES[source], places=3, rule=rule)
    assert chosen.intervals == source
    assert sum(row.chance for row in chosen.rows) == 3
    assert chosen.draw is None
    assert {row.drawn for row in chosen.rows} == {None}
    for row in chosen.rows:
        group = "in" if row.chance == 1 else "lottery" if row.chance else "out"
        assert (row.group, row.low <= row.estimate <= row.high) == (group, True)
    by_rule = {cost.rule: cost.worst_case or 0 for cost in chosen.rules}
    assert set(by_rule) == set(RULES)
    assert by_rule["maximin"] >= max(by_rule.values()) - 1e-6


@pytest.mark.parametrize("source", SOURCES)
def test_a_seed_draws_so_many_and_changes_no_chance(source: str) -> None:
    before = select(**SOURCES[source], places=2, rule="cut")
    sets = set()
    for seed in range(3):
        drawn = select(**SOURCES[source], places=2, rule="cut", rng=seed)
        assert [row[:6] for row in drawn.rows] == [row[:6] for row in before.rows]
        chosen = [row for row in drawn.rows if row.drawn]
        assert len(chosen) == 2
        assert all(row.chance for row in chosen)
        sets.add(tuple(row.item for row in chosen))
    assert len(sets) > 1


def law_of_sets(groups: list[list[int]]) -> dict[frozenset[int], Fraction]:
    """Follow every order within groups, and every start of the marks."""
    law: Counter[frozenset[int]] = Counter()
    orders = [*itertools.product(*map(itertools.permutations, groups))]
    for order, start in itertools.product(orders, range(6)):
        end, chosen = Fraction(0), {4}
        for item in itertools.chain(*order):
            begin, end = end, end + CHANCES[item]
            marks = (Fraction(start, 6) + number for number in range(3))
            chosen |= {item} if any(begin <= mark < end for mark in marks) else set()
        law[frozenset(chosen)] += Fraction(1, 6 * len(orders))  # type: ignore[assignment]  # shares
    return law  # type: ignore[return-value]  # of Fractions


@pytest.mark.parametrize("groups", [[[0, 1, 2, 3]], [[0, 3], [1, 2]]])
def test_sets_are_drawn_as_often_as_the_law_says(groups: list[list[int]]) -> None:
    law = law_of_sets(groups)
    for item, chance in enumerate(CHANCES):
        assert sum(p for chosen, p in law.items() if item in chosen) == chance
    quotas = tuple(
        Quota("q", np.isin(np.arange(5), group), 0, 5) for group in groups[:-1]
    )
    field = replace(EVEN, quotas=quotas)
    draws = 3000
    seen = Counter(
        frozenset(np.flatnonzero(draw_items(CHANCES, field, seed)).tolist())
        for seed in range(draws)
    )
    assert set(seen) <= set(law)
    expected = [float(p) * draws for p in law.values()]
    assert stats.chisquare([seen[chosen] for chosen in law], expected).pvalue > RARE


@st.composite
def priced_lotteries(draw: st.DrawFn) -> tuple[list[Fraction], Field]:
    """Return chances that add up to a whole number, with costs and up to two quotas."""
    shares = st.sampled_from([Fraction(n, d) for d in (2, 3, 4) for n in range(1, d)])
    chances = draw(st.lists(shares, min_size=1, max_size=4))
    last = -sum(chances, Fraction(0)) % 1
    chances += [last] if last else []
    size, total = len(chances), int(sum(chances))
    costs = draw(st.lists(st.integers(1, 4), min_size=size, max_size=size))
    quota = np.array(draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)))
    quotas = [
        Quota(str(n), quota == n, 0, total) for n in range(draw(st.integers(0, 2)))
    ]
    exact = tuple(Fraction(cost, 10) for cost in costs)
    zeros = np.zeros(size)
    fields = zeros, zeros, zeros, zeros, total, tuple(quotas)
    return chances, Field(*fields, costs=exact)


@settings(max_examples=60)
@given(priced_lotteries())
def test_no_order_and_no_start_costs_more_or_moves_a_chance(
    lottery: tuple[list[Fraction], Field],
) -> None:
    chances, field = lottery
    codes, none = range(len(chances)), len(field.quotas)
    quotas = [
        next((n for n, quota in enumerate(field.quotas) if quota.members[code]), none)
        for code in codes
    ]
    blocks = number_blocks(quotas, field.costs)
    unit = math.lcm(*(chance.denominator for chance in chances))
    for order in itertools.permutations(codes):
        if sorted(order, key=blocks.__getitem__) != list(order):
            continue
        drawn, costs = Counter[int](), set[Fraction]()
        for start in range(unit):
            ends = [Fraction(0), *itertools.accumulate(chances[code] for code in order)]
            marks = [Fraction(start, unit) + n for n in range(field.places)]
            chosen = [
                code
                for code, begin, end in zip(order, ends, ends[1:], strict=False)
                if any(begin <= mark < end for mark in marks)
            ]
            assert len(chosen) == field.places
            for quota in field.quotas:
                taken = sum(quota.members[code] for code in chosen)
                expected = sum(chances[code] for code in codes if quota.members[code])
                assert abs(taken - expected) < 1
            drawn.update(chosen)
            costs.add(sum((field.costs[code] for code in chosen), Fraction(0)))
        assert [Fraction(drawn[code], unit) for code in codes] == chances
        assert (min(costs), max(costs)) == cost_range(chances, field)


@pytest.mark.parametrize("source", ["model", "file"])
@pytest.mark.parametrize("rule", RULES)
def test_a_budget_is_kept_whatever_is_drawn(source: str, rule: str) -> None:
    labels = [row.item for row in select(**SOURCES[source], places=1).rows]
    costs = {label: 1.1 + (7 * n) % 5 for n, label in enumerate(labels)}
    budget = 0.6 * sum(costs.values())
    options = {**SOURCES[source], "rule": rule}
    paid = [select(**options, budget=budget, costs=costs, rng=n) for n in range(12)]
    again = select(**options, places=paid[0].places)
    assert [row.chance for row in again.rows] == [row.chance for row in paid[0].rows]
    assert again.worst_case == paid[0].worst_case
    for chosen in paid:
        assert chosen.costs is not None
        spent = sum(costs[row.item] for row in chosen.rows if row.drawn)
        assert chosen.costs.spent == pytest.approx(spent)
        assert chosen.costs.least <= spent + 1e-9 <= chosen.costs.most + 2e-9
        assert chosen.costs.most <= budget
        assert chosen.costs.unspent == pytest.approx(budget - spent)
        average = sum(float(row.chance) * costs[row.item] for row in chosen.rows)
        assert chosen.costs.expected == pytest.approx(average)
    rows = select(**options, places=again.places + 1).rows
    prices = tuple(Fraction(str(costs[row.item])) for row in rows)
    field = replace(EVEN, places=again.places + 1, costs=prices)
    assert cost_range([row.chance for row in rows], field)[1] > budget


def test_costs_add_up_as_they_are_written() -> None:
    """Three times 0.1 is 0.30000000000000004 in binary numbers."""
    frame = pl.DataFrame(
        {"item": list("abcd"), "low": [9, 8, 7, 0], "high": [9, 8, 7, 6]}
    )
    costs = dict.fromkeys("abcd", 0.1)
    chosen = select(intervals=frame, budget=0.3, costs=costs, rule="top", rng=1)
    assert chosen.costs is not None
    assert (chosen.places, chosen.costs.spent, chosen.costs.unspent) == (3, 0.3, 0)


def test_listed_sets_are_all_sets_that_the_comparisons_allow() -> None:
    rng = np.random.default_rng(5)
    for _ in range(40):
        size = int(rng.integers(3, 7))
        beats = np.triu(rng.random((size, size)) < 0.3, 1)
        for _ in range(size):
            beats |= beats @ beats
        shuffled = rng.permutation(size)
        beats = beats[np.ix_(shuffled, shuffled)]
        for places in range(1, size):
            sets = possible_sets(beats, places)
            assert sets is not None
            expected = {
                chosen
                for chosen in itertools.combinations(range(size), places)
                if not any(
                    beats[a, b] for a in set(range(size)) - {*chosen} for b in chosen
                )
            }
            assert {tuple(np.flatnonzero(row).tolist()) for row in sets} == expected
            assert len(sets) == len(expected)


def test_maximin_by_comparisons_has_the_best_worst_case_and_is_valid() -> None:
    for places in range(1, 5):
        chosen = select(orders(), places=places, noise_free=True)
        above = {"x": "u", "y": "ux", "z": "uxywv", "v": "w"}
        codes = sorted(str(row.item) for row in chosen.rows)
        sets = [
            [item in chosen for item in codes]
            for chosen in itertools.combinations(codes, places)
            if all(set(above.get(item, "")) <= {*chosen} for item in chosen)
        ]
        best = optimize.linprog(
            [0] * 6 + [-1],
            np.column_stack([-1.0 * np.array(sets), np.ones(len(sets))]),
            np.zeros(len(sets)),
            [[1] * 6 + [0]],
            [places],
            [(0, 1)] * 6 + [(0, None)],
        )
        assert chosen.worst_case == pytest.approx(-best.fun, abs=1e-6)
        chances = {str(row.item): row.chance for row in chosen.rows}
        for item, beaters in above.items():
            assert chances[item] == 0 or all(chances[other] == 1 for other in beaters)


def test_too_many_possible_sets_void_the_claim_and_refuse_maximin() -> None:
    ratings = Ratings(list(range(40)), list(range(40)), [1] * 40)
    chosen = select(ratings, places=20, rule="cut", noise_free=True)
    assert chosen.worst_case is None
    assert chosen.certificate.theorem == "none"
    assert {row.chance for row in chosen.rows} == {Fraction(1, 2)}
    with pytest.raises(OptionError, match="such as cut"):
        select(ratings, places=20, noise_free=True)


def test_quotas_and_fixed_items_are_kept() -> None:
    ratings = panel()
    low, fixed = ["i0", "i1", "i2"], {"i8": ("out", "withdrawn")}
    for seed in range(2):
        chosen = select(ratings, places=4, quotas={"low": (low, 2, None)}, rng=seed)
        drawn = {row.item for row in chosen.rows if row.drawn}
        assert (len(drawn), len(drawn & {*low}) >= 2) == (4, True)
    chosen = select(ratings, places=4, fixed=fixed, rng=1)
    assert "i8" not in {row.item for row in chosen.rows if row.drawn}
    reasons = {row.item: row.reason for row in chosen.rows if row.reason}
    assert reasons == {"i8": "withdrawn"}


def test_one_score_moves_chances_by_so_much() -> None:
    chosen = select(panel(), places=3, rule="shares", sensitivity=4)
    assert chosen.sensitivity is not None
    assert chosen.sensitivity[:2] == (4, 1.0)
    assert 0 < chosen.sensitivity.largest < 0.5


def test_a_selection_shows_itself() -> None:
    chosen = select(panel(), places=3, rng=1)
    assert "lottery" in repr(chosen).casefold()
    assert "<table" in chosen._repr_html_()
    frame = chosen.to_frame()
    assert frame["chance"].sum() == pytest.approx(3)
    assert sum(map(Fraction, frame["chance_exact"])) == 3


def refusal(tmp_path: Path, options: dict[str, Any]) -> str:
    if isinstance(options.get("intervals"), str):
        path = tmp_path / "i.csv"
        path.write_text(options["intervals"], encoding="utf-8")
        options["intervals"] = str(path)
    else:
        options.setdefault("ratings", panel())
    with pytest.raises(EvenhandError) as error:
        select(**options)
    return str(error.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"places": 9}, "places must be a whole number from 1 to 8, fewer than"),
        ({}, "places must be a whole number"),
        ({"places": 3, "rule": "maximum"}, "unknown rule 'maximum', did you mean 'max"),
        ({"places": 3, "rng": 1, "secret": "0" * 64}, "two ways to draw"),
        ({"places": 3, "draw": True}, "draw must come with a seed or a secret"),
        ({"places": 3, "secret": "0"}, "secret must be 64 hexadecimal digits"),
        ({"places": 3, "sealed_before": "scores"}, "with a secret"),
        ({"places": 3, "method": "isotonic"}, "method must be a model with standard"),
        ({"places": 3, "method": "mean", "noise_free": True}, "Give one of method"),
        ({"places": 3, "fixed": {"i1": ("in", " ")}}, "with a reason"),
        ({"places": 3, "fixed": {"i99": ("in", "won")}}, "unknown item 'i99'"),
        ({"places": 1, "fixed": {f"i{n}": ("in", "w") for n in (1, 2)}}, "the items"),
        ({"places": 3, "quotas": {"top": (["i1"], 2, 3)}}, "'top' with 1 instead of 2"),
        (
            {"places": 3, "quotas": {"a": (["i1"], 0, 1), "b": (["i1"], 0, 1)}},
            "quotas must not share items",
        ),
        ({"budget": 3}, "budget must come with costs"),
        ({"budget": 3, "costs": {"i1": 1}}, "cost of 'i0' must be a number, got None"),
        ({"budget": 0.5, "costs": COSTS}, "budget must be enough for a place whatever"),
        ({"budget": 9, "costs": COSTS}, "budget must be less than all items cost"),
        ({"budget": 3, "costs": COSTS, "places": 2}, "left out with a budget"),
        (
            {"budget": 3, "costs": COSTS, "quotas": {"a": (["i1"], 2, 3)}},
            "'a' with 1 instead of 2",
        ),
        ({"places": 1, "intervals": "item,low,high\nx,1,2\ny,3,2\n"}, "i.csv:3: low"),
        ({"places": 1, "intervals": "item,low,high\nx,1,2\nx,1,2\n"}, "i.csv:3: 'x' m"),
        ({"places": 1, "intervals": "item,low,high\nx,1,\ny,1,2\n"}, "i.csv:2: high"),
        ({"places": 1, "intervals": "item,low\nx,1\n"}, "i.csv: "),
        ({"places": 1, "intervals": INTERVALS}, "either ratings or intervals"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(
    options: dict[str, Any], words: str, tmp_path: Path
) -> None:
    text = refusal(tmp_path, dict(options))
    assert words in text
    assert "\n" not in text


def test_joint_intervals_hold_the_drawn_values_at_once() -> None:
    chosen: Selection = select(panel(), places=3, method="mean")
    assert chosen.level == 0.95
    wide = [row.high - row.low for row in chosen.rows]
    assert min(wide) > 0
    assert "95%" in chosen.certificate.sentence
